/** What is left open in the rules of a NetworkPolicy, by its shape alone: an empty part means everyone, every pod, every port. */
import { ConnectionSet, PROTOCOLS } from "./connections.js";
import { type Bounds, equal, union } from "./intervals.js";
import { ALL_V4, ALL_V6 } from "./ip.js";
import type { Direction, PodPeer, Policy, Rule, RulePeer, SpecPath } from "./network-policy.js";
import { describeSelector, type Selector } from "./selector.js";

type OpenKind =
  /** No peers: whoever, inside the cluster and out. */
  | "anyone"
  /** Peers without ports in one item, ports without peers in another: `from`/`to` and `ports` of one rule, torn apart. */
  | "split"
  /** No ports: every port. */
  | "ports"
  /** Every pod of the policy's namespace. */
  | "pods"
  /** Every pod of all namespaces. */
  | "cluster"
  /** Named pods, but of all namespaces. */
  | "namespaces"
  /** Every pod of certain namespaces. */
  | "namespace"
  /** All addresses. */
  | "world"
  /** Labels that a pod must not have, or may have with any value: whoever comes later is let in too. */
  | "inexact";

interface OpenPart {
  readonly kind: OpenKind;
  readonly direction: Direction;
  readonly path: SpecPath;
  /** `anyone in`, `its pods out to every address`; follows "lets". */
  readonly whom: string;
  readonly ports: string;
  /** The other item of a split rule. */
  readonly other: SpecPath | undefined;
}

const DNS_PORTS = [53, 5353].flatMap((port) => [ConnectionSet.of("UDP", port), ConnectionSet.of("TCP", port)]);
const DNS = DNS_PORTS.reduce((set, one) => set.union(one), ConnectionSet.NONE);

/** Everything that is open in a policy's rules; rules of a direction that the policy does not hold for do nothing. */
export function openParts(policy: Policy): OpenPart[] {
  return (["ingress", "egress"] as const).flatMap((direction) =>
    policy.affects[direction] ? openRules(policy[direction], direction) : [],
  );
}

/** Rules that count for nothing: the policy's types leave their direction out. */
export function ignoredRules(policy: Policy): Direction[] {
  return (["ingress", "egress"] as const).filter((d) => !policy.affects[d] && policy[d].length > 0);
}

function openRules(rules: readonly Rule[], direction: Direction): OpenPart[] {
  const out: OpenPart[] = [];
  const split = splitRules(rules.filter((rule) => !isDns(rule, direction)));
  for (const rule of rules) {
    // a rule that is limited to DNS is the usual idiom, whatever its peers
    if (isDns(rule, direction)) continue;
    const path: SpecPath = ["spec", direction, rule.index];
    const peersKey = direction === "ingress" ? "from" : "to";
    const ports = portsInWords(rule);
    const add = (kind: OpenKind, at: SpecPath, who: string, other?: SpecPath): void => {
      const whom = direction === "ingress" ? `${who} in` : `its pods out to ${who}`;
      out.push({ kind, direction, path: at, whom, ports, other });
    };
    const torn = split.get(rule);
    if (torn !== undefined && rule.peers === undefined) add("split", path, "anyone", ["spec", direction, torn.index]);
    else if (rule.peers === undefined) add("anyone", [...path, peersKey], "anyone");
    if (torn === undefined && rule.peers !== undefined) {
      if (rule.ports === undefined) add("ports", [...path, "ports"], peersInWords(rule.peers ?? []));
      for (const { index, fixed } of rule.ports ?? []) {
        const whole = PROTOCOLS.some((protocol) => fixed?.covers(ConnectionSet.of(protocol)) === true);
        if (whole) add("ports", [...path, "ports", index], peersInWords(rule.peers ?? []));
      }
    }
    for (const peer of rule.peers ?? []) {
      const at = [...path, peersKey, peer.index];
      if (peer.kind === "pods") openPeer(peer, at, add);
    }
    const world = worldOf(rule);
    if (world !== undefined) add("world", [...path, peersKey, world, "ipBlock", "cidr"], "every address");
  }
  return out;
}

function openPeer(
  { namespaces, pods }: PodPeer,
  at: SpecPath,
  add: (kind: OpenKind, at: SpecPath, who: string) => void,
): void {
  const named = pods.kind === "everything" ? "every pod" : `pods with ${describeSelector(pods)}`;
  if (namespaces === undefined) {
    if (pods.kind === "everything") add("pods", [...at, "podSelector"], "every pod of the namespace");
  } else if (namespaces.kind === "everything") {
    if (pods.kind === "everything") add("cluster", [...at, "namespaceSelector"], "every pod of the cluster");
    else add("namespaces", [...at, "namespaceSelector"], `${named} of every namespace`);
  } else if (pods.kind === "everything") {
    add("namespace", [...at, "namespaceSelector"], `every pod of namespaces with ${describeSelector(namespaces)}`);
  }
  const where = namespaces === undefined ? "" : ` of namespaces with ${describeSelector(namespaces)}`;
  if (isInexact(pods)) add("inexact", [...at, "podSelector"], `${named}${where}`);
  else if (namespaces !== undefined && isInexact(namespaces))
    add("inexact", [...at, "namespaceSelector"], `${named}${where}`);
}

function isInexact(selector: Selector): boolean {
  return selector.kind === "some" && selector.requirements.some(({ operator }) => operator !== "In");
}

/** Egress limited to the ports of DNS. */
function isDns(rule: Rule, direction: Direction): boolean {
  if (direction !== "egress" || rule.ports === undefined || rule.ports.length === 0) return false;
  return rule.ports.every(({ fixed, named }) =>
    fixed === undefined ? /^dns/.test(named?.name ?? "") : DNS.covers(fixed),
  );
}

/** Items that look like the halves of one rule: the one with ports, and the one with peers nearest to it. */
function splitRules(rules: readonly Rule[]): ReadonlyMap<Rule, Rule> {
  const pairs = new Map<Rule, Rule>();
  const free = new Set(
    rules.filter(({ peers, ports }) => peers !== undefined && peers.length > 0 && ports === undefined),
  );
  for (const rule of rules) {
    if (rule.peers !== undefined || rule.ports === undefined || rule.ports.length === 0) continue;
    const [half] = [...free].sort((a, b) => Math.abs(a.index - rule.index) - Math.abs(b.index - rule.index));
    if (half === undefined) break;
    free.delete(half);
    pairs.set(rule, half).set(half, rule);
  }
  return pairs;
}

/** The first item by which a rule lets all addresses of a family through; holes do not make it narrow. */
function worldOf({ peers }: Rule): number | undefined {
  let v4: Bounds<number> = [];
  let v6: Bounds<bigint> = [];
  let first: number | undefined;
  for (const peer of peers ?? []) {
    if (peer.kind !== "addresses") continue;
    first ??= peer.index;
    if (/\/0+$/.test(peer.cidr)) return peer.index;
    v4 = union(v4, peer.v4);
    v6 = union(v6, peer.v6);
  }
  return equal(v4, ALL_V4) || equal(v6, ALL_V6) ? first : undefined;
}

function portsInWords(rule: Rule): string {
  if (rule.ports === undefined) return "every port";
  const fixed = rule.ports.reduce((set, port) => set.union(port.fixed ?? ConnectionSet.NONE), ConnectionSet.NONE);
  const names = rule.ports.flatMap(({ named }) => (named === undefined ? [] : [`${named.protocol} ${named.name}`]));
  return [...(fixed.isEmpty ? [] : [fixed.toString()]), ...names].join(", ") || "no port";
}

/** Peers of a rule for messages; those of the policy's own namespace without saying so. */
export function peersInWords(peers: readonly RulePeer[]): string {
  const names = peers.map((peer) => {
    if (peer.kind === "addresses") return `addresses of ${peer.cidr}`;
    const pods = peer.pods.kind === "everything" ? "every pod" : `pods with ${describeSelector(peer.pods)}`;
    if (peer.namespaces === undefined) return peer.pods.kind === "everything" ? `${pods} of the namespace` : pods;
    if (peer.namespaces.kind === "everything") return `${pods} of every namespace`;
    return `${pods} of namespaces with ${describeSelector(peer.namespaces)}`;
  });
  return names.length > 3 ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} more` : names.join(" and ");
}
