/** What the planes need of each other and the policies stop: each fault once, at the policy that should let it through. */
import type { Contract } from "../contract.js";
import { hasToken } from "../value.js";
import { ConnectionSet } from "./connections.js";
import type { ContractNetwork } from "./contract-network.js";
import { mayMatchAtRunTime } from "./contract-network.js";
import { findGap, type Gap } from "./network-gap.js";
import type { Policy } from "./network-policy.js";
import type { Side } from "./network-types.js";
import { addUp, type EdgeSum } from "./network-words.js";
import { letsOutDns, type PlaneNeed, planeNeeds, resolvedName } from "./plane-needs.js";
import { labelsOf } from "./selector.js";
import type { Workload } from "./workload.js";

interface ReachFault {
  readonly gap: Gap;
  readonly edges: readonly EdgeSum[];
  readonly purposes: readonly string[];
  /** Something in the files shows that the connection is used. */
  readonly evident: boolean;
}

interface DnsFault {
  readonly workload: Workload;
  readonly host: string;
  readonly policy: Policy;
  /** The key of the policy that should hold the rule. */
  readonly path: readonly string[];
}

/** Pairs of pods looked at for one need: pods of one workload differ in few ways. */
const MOST_PAIRS = 400;

/** Connections between planes that the policies stop; those that the contract file declares are its edges' matter. */
export function reachFaults(contract: Contract): ReachFault[] {
  const { network } = contract;
  if (network.foreign.length > 0) return [];
  interface Group {
    readonly gap: Gap;
    readonly edges: EdgeSum[];
    readonly purposes: Set<string>;
    evident: boolean;
  }
  const groups = new Map<string, Group>();
  for (const need of planeNeeds(contract)) {
    for (const { from, to, sides } of stoppedPairs(network, need)) {
      for (const side of sides) {
        const gap = findGap(network, side, side.direction === "egress" ? from : to);
        if (gap === undefined) continue;
        const key = `${gap.policy.id}\n${gap.path.join("/")}`;
        let group = groups.get(key);
        if (group === undefined) groups.set(key, (group = { gap, edges: [], purposes: new Set(), evident: false }));
        group.edges.push({ from: network.idOf(need.from), to: network.idOf(need.to), connections: portsOf(need) });
        group.purposes.add(need.purpose);
        if (need.evident) group.evident = true;
      }
    }
  }
  return [...groups.values()].map(({ gap, edges, purposes, evident }) => ({
    gap,
    edges: addUp(edges),
    purposes: [...purposes],
    evident,
  }));
}

function portsOf({ ports }: PlaneNeed): ConnectionSet {
  return ports.reduce((set, port) => set.union(ConnectionSet.of("TCP", port)), ConnectionSet.NONE);
}

interface Stopped {
  readonly from: string;
  readonly to: string;
  readonly sides: readonly Side[];
}

/** Pairs of pods that a need connects and the policies surely do not. */
function stoppedPairs(network: ContractNetwork, need: PlaneNeed): Stopped[] {
  if ([need.from, need.to].some((w) => w.podSpec["hostNetwork"] === true || hasToken(JSON.stringify(w.podLabels))))
    return [];
  const out: Stopped[] = [];
  const { pods } = network;
  let looked = 0;
  for (const from of network.podsOf(need.from)) {
    for (const to of network.podsOf(need.to)) {
      const several = pods.find(from)?.pods[0]?.several === true;
      if ((from === to && !several) || looked++ > MOST_PAIRS) continue;
      const allowed = pods.allowed(from, to);
      if (need.ports.some((port) => allowed.has("TCP", port)) || (!need.certain && !allowed.isEmpty)) continue;
      if (need.ports.some((port) => network.declared?.expected(from, to).has("TCP", port))) continue;
      const explained = pods.explain(from, to, "TCP", need.ports[0]!);
      const sides = [explained.egress, explained.ingress].filter((side) => !side.allowed);
      const open = sides.some((side) =>
        maySideBeOpen(network, side, side.direction === "egress" ? need.to : need.from),
      );
      if (!explained.undecided && !open) out.push({ from, to, sides });
    }
  }
  return out;
}

/** A side that a rule may open once labels are set on running pods. */
function maySideBeOpen(network: ContractNetwork, side: Side, peer: Workload): boolean {
  const labels = labelsOf(peer.podLabels);
  const atRunTime = (policy: Policy): boolean =>
    policy[side.direction].some((rule) =>
      rule.peers?.some((item) => item.kind === "pods" && mayMatchAtRunTime(item.pods, labels)),
    );
  if (side.isolating.some(atRunTime)) return true;
  // a policy that may come to select the pod, and then adds what it allows
  return network.index.undecided(side.direction).some((policy) => !side.isolating.includes(policy));
}

/** Planes that use host names while their policies let no question to a DNS server out. */
export function dnsFaults(contract: Contract): DnsFault[] {
  const { network } = contract;
  if (network.foreign.length > 0) return [];
  const out = new Map<string, DnsFault>();
  for (const plane of contract.planes) {
    const { workload } = plane;
    if (workload === undefined || workload.podSpec["hostNetwork"] === true) continue;
    if (workload.podSpec["hostAliases"] !== undefined) continue;
    const host = resolvedName(contract, plane);
    if (host === undefined || isDeclaredDns(network, workload)) continue;
    for (const pod of network.podsOf(workload)) {
      const isolating = network.pods.isolating(pod, "egress");
      if (isolating.length === 0 || isolating.some((policy) => policy.undecided || letsOutDns(policy))) continue;
      if (network.maySelect(workload, "egress")) continue;
      const policy = isolating.find(({ selector }) => selector.kind !== "everything") ?? isolating[0]!;
      const path = network.has(policy, "spec", "egress")
        ? ["spec", "egress"]
        : network.has(policy, "spec", "policyTypes")
          ? ["spec", "policyTypes"]
          : ["spec"];
      const key = `${policy.id}\n${path.join("/")}`;
      if (!out.has(key)) out.set(key, { workload, host, policy, path });
    }
  }
  return [...out.values()];
}

/** The contract file declares how the pods reach DNS: exactly that is its edges' matter. */
function isDeclaredDns(network: ContractNetwork, workload: Workload): boolean {
  const { declared } = network;
  if (declared === undefined) return false;
  const [pod] = network.podsOf(workload);
  return network.full.pods.some(
    ({ id, namespace }) =>
      namespace === "kube-system" && pod !== undefined && declared.expected(pod, id).has("UDP", 53),
  );
}
