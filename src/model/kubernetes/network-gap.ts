/** Where an edge that is not there should have been written: the policy that stops it, and the part of it to change. */
import type { ConnectionSet, Protocol } from "./connections.js";
import { PROTOCOLS } from "./connections.js";
import type { ContractNetwork } from "./contract-network.js";
import type { Direction, Policy, SpecPath } from "./network-policy.js";
import type { Explanation, NearMiss, Side } from "./network-types.js";
import { peersInWords } from "./open-rule.js";

export interface Gap {
  readonly policy: Policy;
  readonly direction: Direction;
  readonly path: SpecPath;
  /** The key at the path, or the directions that the policy holds for. */
  readonly at: "key" | "types";
  /** `lets in TCP 6379 only`; follows the policy's name. */
  readonly reason: string;
}

/** The lowest port of a set, to ask the engine about. */
export function somePort(set: ConnectionSet): { readonly protocol: Protocol; readonly port: number } | undefined {
  for (const protocol of [...PROTOCOLS].reverse()) {
    const first = set.ports(protocol)[0];
    if (first !== undefined) return { protocol, port: first };
  }
  return undefined;
}

/** Which sides of a connection lack some of what is wanted. */
export function lackingSides({ egress, ingress }: Explanation, wanted: ConnectionSet): Side[] {
  return [egress, ingress].filter((side) => !side.connections.covers(wanted));
}

/**
 * The gap on one side, for a pod that the policies of this side isolate: a rule that nearly fits, else the policy that
 * should have one. `shared`: policies that isolate every pod concerned, taken before others.
 */
export function findGap(
  network: ContractNetwork,
  side: Side,
  pod: string,
  shared?: ReadonlySet<Policy>,
): Gap | undefined {
  const { direction } = side;
  const dead = ignoredPolicy(network, pod, direction);
  if (dead !== undefined) {
    const type = direction === "ingress" ? "Ingress" : "Egress";
    const reason = `has ${direction} rules, but its policyTypes lack ${type}, so they count for nothing`;
    return { policy: dead, direction, path: ["spec", "policyTypes"], at: "types", reason };
  }
  const policies = [...side.isolating].sort((a, b) => breadth(a) - breadth(b));
  const near = (lacks: NearMiss["lacks"]): NearMiss | undefined => {
    for (const policy of policies) {
      const found = side.near.find((one) => one.policy === policy && one.lacks === lacks);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const verb = direction === "ingress" ? "lets in" : "lets out";
  const portless = near("port");
  if (portless !== undefined) {
    const { policy, path, rule, connections } = portless;
    const names = policy[direction]
      .find(({ index }) => index === rule)
      ?.ports?.some(({ named }) => named !== undefined);
    const reason = !connections.isEmpty
      ? `${verb} ${connections.toString()} only`
      : names === true
        ? "names a port that the pods do not have"
        : "names no port that can be read";
    return { policy, direction, path: [...path, "ports"], at: "key", reason };
  }
  const peerless = near("peer");
  if (peerless !== undefined) {
    const { policy, path, rule, connections } = peerless;
    const peers = policy[direction].find(({ index }) => index === rule)?.peers ?? [];
    const whom = peers.length === 0 ? "nobody" : peersInWords(peers);
    const key = direction === "ingress" ? "from" : "to";
    const reason =
      direction === "ingress"
        ? `lets ${whom} in on ${connections.toString()}, nobody else`
        : `lets its pods out to ${whom} on ${connections.toString()}, nobody else`;
    return { policy, direction, path: [...path, key], at: "key", reason };
  }
  const usable = policies.filter((one) => shared?.has(one) === true);
  const candidates = usable.length > 0 ? usable : policies;
  const has = (one: Policy): boolean => network.has(one, "spec", direction);
  const policy = candidates.find((one) => breadth(one) === breadth(candidates[0]!) && has(one)) ?? candidates[0];
  if (policy === undefined) return undefined;
  const path = has(policy) ? ["spec", direction] : ["spec", "podSelector"];
  return { policy, direction, path, at: "key", reason: `isolates ${direction} and has no rule for it` };
}

/** Policies for some pods before those for all. */
function breadth(policy: Policy): number {
  return policy.selector.kind === "everything" ? 1 : 0;
}

/** A policy that selects the pod and has rules of a direction which its types leave out. */
function ignoredPolicy(network: ContractNetwork, pod: string, direction: Direction): Policy | undefined {
  return network.index.inert(direction).find((policy) => network.pods.selects(policy).includes(pod));
}
