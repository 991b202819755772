/** Whether one item of a rule matches one port, one address or one range: the small questions of the engine. */

import type { Bitset } from "./bitset.js";
import { ConnectionSet } from "./connections.js";
import { type Bounds, contains, intersect } from "./intervals.js";
import { type AddressRange, parseAddress } from "./ip.js";
import type { AddressPeer, Rule, RulePeer, RulePort } from "./network-policy.js";
import type { Explanation, ExternalNode, NearMiss, PodInfo, RuleMatch } from "./network-types.js";

/** The named ports of a pod that some rule asks for, as text: `name/protocol/number` sorted. */
export function portsKey(pod: PodInfo, wanted: ReadonlySet<string>): string {
  if (wanted.size === 0) return "";
  const found: string[] = [];
  for (const { name, containerPort, protocol } of pod.ports) {
    if (name === undefined || containerPort === undefined || !wanted.has(name)) continue;
    if (containerPort >= 1 && containerPort <= 65535) found.push(`${name}/${protocol ?? "TCP"}/${containerPort}`);
  }
  return found.length === 0 ? "" : [...new Set(found)].sort().join(" ");
}

export function resolveNamed({ named }: RulePort, namedPorts: string): ConnectionSet {
  let set = ConnectionSet.NONE;
  if (named === undefined || namedPorts === "") return set;
  for (const entry of namedPorts.split(" ")) {
    const [name, protocol, number] = entry.split("/");
    if (name === named.name && protocol === named.protocol)
      set = set.union(ConnectionSet.of(named.protocol, Number(number)));
  }
  return set;
}

/** The connections of a rule towards a destination, and the items that give (what was asked of) them. */
export function matchPorts(
  rule: Rule,
  destination: PodInfo | undefined,
  asked: Explanation["asked"],
): { set: ConnectionSet; ports: number[] | undefined } {
  if (rule.ports === undefined) return { set: ConnectionSet.ALL, ports: undefined };
  let set = ConnectionSet.NONE;
  const ports: number[] = [];
  for (const item of rule.ports) {
    let own = item.fixed ?? ConnectionSet.NONE;
    if (item.named !== undefined && destination !== undefined) {
      own = resolveNamed(item, portsKey(destination, new Set([item.named.name])));
    }
    if (asked === undefined ? !own.isEmpty : own.has(asked.protocol, asked.port)) ports.push(item.index);
    set = set.union(own);
  }
  return { set, ports };
}

export function nearMiss(match: RuleMatch, lacks: NearMiss["lacks"]): NearMiss {
  const { policy, direction, rule, peers, ports, connections, path } = match;
  return { policy, direction, rule, peers, ports, connections, path, lacks };
}

export function withPeers(match: RuleMatch, items: readonly RulePeer[]): RuleMatch {
  const { policy, direction, rule, ports, connections, path } = match;
  return { policy, direction, rule, peers: items.map(({ index }) => index), ports, connections, path };
}

/** Whether an ipBlock covers the recorded address of a pod, or any address where none is recorded. */
export function coversAddress(item: RulePeer, peer: PodInfo | AddressRange): boolean {
  if (item.kind !== "addresses" || "family" in peer) return false;
  const address = peer.ip === undefined ? undefined : parseAddress(peer.ip);
  return address === undefined ? item.v4.length > 0 || item.v6.length > 0 : holdsRange(item, address);
}

/** Whether some address of the range is in the block. */
export function holdsRange(item: AddressPeer, range: AddressRange): boolean {
  return range.family === 4
    ? contains(item.v4, range.start) || intersect(item.v4, [range.start, range.end]).length > 0
    : contains(item.v6, range.start) || intersect(item.v6, [range.start, range.end]).length > 0;
}

export function overlaps(a: AddressRange, b: AddressRange): boolean {
  return a.family === b.family && a.start < b.end && b.start < a.end;
}

/** Sets the bits of the ranges that a block consists of; ranges are cut at its bounds, so each is in or out as a whole. */
export function fillAtoms(bits: Bitset, offset: number, atoms: readonly ExternalNode[], peer: AddressPeer): void {
  const fill = <T extends number | bigint>(bounds: Bounds<T>, family: 4 | 6): void => {
    for (let i = 0; i < bounds.length; i += 2) {
      bits.fill(offset + firstAtom(atoms, family, bounds[i]!), offset + firstAtom(atoms, family, bounds[i + 1]!));
    }
  };
  fill(peer.v4, 4);
  fill(peer.v6, 6);
}

/** Index of the first range of a family that starts at or after an address; ranges of IPv4 come first. */
function firstAtom(atoms: readonly ExternalNode[], family: 4 | 6, address: number | bigint): number {
  let low = 0;
  let high = atoms.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const { range } = atoms[middle]!;
    if (range.family < family || (range.family === family && range.start < address)) low = middle + 1;
    else high = middle;
  }
  return low;
}
