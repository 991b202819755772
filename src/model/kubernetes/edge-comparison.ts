/** The edges that a contract file declares against the edges that its policies make, pod by pod. */

import { push } from "../multimap.js";
import type { EdgeConfig } from "../settings.js";
import { ConnectionSet } from "./connections.js";
import type { ContractNetwork } from "./contract-network.js";
import { DNS, type EndText, type NamedPort, parseEdgePorts, parseEnd } from "./declared-edges.js";
import { type AddressRange, formatRange, parseRange } from "./ip.js";
import type { NetworkInput, PodInfo, RuleMatch, Side } from "./network.js";
import { findGap, type Gap, lackingSides, somePort } from "./network-gap.js";
import { portsKey, resolveNamed } from "./network-match.js";
import type { Policy, SpecPath } from "./network-policy.js";
import { isStandIn, standIn, standInTitle } from "./network-standin.js";
import { addUp, type EdgeSum } from "./network-words.js";
import { labelsOf, parseSelector } from "./selector.js";

/** Something wrong with the declaration itself. */
interface DeclarationProblem {
  readonly index: number;
  readonly field: "from" | "to" | "port" | "endPort" | "protocol";
  readonly text: string;
  readonly reason: string;
  /** It can be read, and stands for no pod or port of the contract. */
  readonly empty: boolean;
}

/** Edges that no declaration covers, by the rule that opens them. */
interface Surplus {
  readonly policy: Policy;
  /** The rule, or the one item of it that is too much. */
  readonly path: SpecPath;
  readonly edges: readonly EdgeSum[];
  /** The rule of the other side that lets them through as well. */
  readonly other: RuleMatch | undefined;
}

/** Declared edges that a policy stops, all that one change of it would let through. */
interface Missing {
  /** Their places in the declaration. */
  readonly indexes: readonly number[];
  readonly gap: Gap;
  readonly edges: readonly EdgeSum[];
}

/** How an edge between two nodes of the graph stands to the declaration. */
interface EdgeStanding extends EdgeSum {
  readonly status: "allowed" | "surplus" | "missing";
}

interface End {
  readonly pods: ReadonlySet<string>;
  /** The pods that must be reached: those of the files; where there are none, one of the stand-ins. */
  readonly known: readonly string[];
  readonly range: AddressRange | undefined;
}

interface DeclaredEdge {
  readonly index: number;
  readonly from: End;
  readonly to: End;
  readonly fixed: ConnectionSet;
  readonly named: readonly NamedPort[];
}

/** Pairs that are explained one by one; a hostile contract must stay bounded. */
const MOST_EXPLAINED = 2000;

export class DeclaredNetwork {
  readonly problems: readonly DeclarationProblem[];
  readonly #network: ContractNetwork;
  readonly #edges: readonly DeclaredEdge[];
  readonly #pods = new Map<string, PodInfo>();
  readonly #owners = new Map<string, string>();
  readonly #fromEdges = new Map<string, DeclaredEdge[]>();
  readonly #toEdges = new Map<string, ReadonlySet<DeclaredEdge>>();
  #standings: readonly EdgeStanding[] | undefined;
  #surplus: readonly EdgeSum[] | undefined;

  constructor(network: ContractNetwork, edges: readonly EdgeConfig[]) {
    this.#network = network;
    for (const pod of network.full.pods) {
      this.#pods.set(pod.id, pod);
      this.#owners.set(pod.id, pod.owner);
    }
    const problems: DeclarationProblem[] = [];
    this.#edges = edges.flatMap((edge, index) => this.#read(edge, index, problems));
    this.problems = problems;
    const into = new Map<string, Set<DeclaredEdge>>();
    for (const edge of this.#edges) {
      for (const pod of edge.from.pods) {
        push(this.#fromEdges, pod, edge);
      }
      for (const pod of edge.to.pods) {
        const set = into.get(pod);
        if (set === undefined) into.set(pod, new Set([edge]));
        else set.add(edge);
      }
    }
    this.#toEdges = into;
  }

  /** The input with a stand-in for every pod that a declaration names outside the contract's namespaces. */
  static withNamed(input: NetworkInput, edges: readonly EdgeConfig[], home: ReadonlySet<string>): NetworkInput {
    const more = new Map<string, PodInfo>();
    for (const edge of edges) {
      for (const text of [edge.from, edge.to]) {
        const end = parseEnd(text);
        const where = end.kind === "dns" ? DNS.namespace : end.kind === "pods" ? end.namespace : undefined;
        if (where === undefined || home.has(where)) continue;
        const selector = end.kind === "pods" ? end.pods : parseSelector({ matchLabels: DNS.labels });
        const there = input.pods.some((p) => p.namespace === where && selector.matches(labelsOf(p.labels)));
        if (there) continue;
        const labels: Record<string, string> = {};
        for (const { key, operator, values } of selector.requirements) {
          if (operator === "In") labels[key] = values[0]!;
          else if (operator === "Exists") labels[key] ??= "";
        }
        const id = `${where}/${standInTitle(selector)}[Unknown]`;
        if (selector.matches(labelsOf(labels))) more.set(id, standIn(id, where, labels));
      }
    }
    return more.size === 0
      ? input
      : { pods: [...input.pods, ...more.values()], namespaces: input.namespaces, policies: input.policies };
  }

  // --- reading the declaration ----------------------------------------------------------------------------------------

  #read(edge: EdgeConfig, index: number, problems: DeclarationProblem[]): DeclaredEdge[] {
    const before = problems.length;
    const end = (field: "from" | "to"): End => {
      const text = edge[field];
      const read = parseEnd(text);
      if (read.kind === "wrong") problems.push({ index, field, text, reason: read.reason, empty: false });
      const found = this.#resolve(read);
      if (read.kind !== "wrong" && found.range === undefined && found.pods.size === 0)
        problems.push({ index, field, text, reason: this.#noPod(read), empty: true });
      return found;
    };
    const from = end("from");
    const to = end("to");
    if (from.range !== undefined && to.range !== undefined)
      problems.push({ index, field: "to", text: edge.to, reason: "both ends are outside the cluster", empty: false });
    const ports = parseEdgePorts(edge);
    if (ports.kind === "wrong")
      problems.push({ index, field: ports.field, text: String(edge[ports.field]), reason: ports.reason, empty: false });
    if (problems.length > before || ports.kind === "wrong") return [];
    const { fixed, named } = ports;
    for (const { name } of named) {
      const has = to.known.some((pod) => isStandIn(pod) || this.#pods.get(pod)!.ports.some((p) => p.name === name));
      if (!has)
        problems.push({
          index,
          field: "port",
          text: name,
          reason: "no pod there has a container port of this name",
          empty: true,
        });
    }
    return [{ index, from, to, fixed, named }];
  }

  #resolve(end: EndText): End {
    const { home } = this.#network;
    switch (end.kind) {
      case "plane": {
        const planes = this.#network.contract.planes.filter(({ role }) => role === end.role);
        return this.#end(
          planes.flatMap(({ workload }) => (workload === undefined ? [] : this.#network.podsOf(workload))),
        );
      }
      case "dns": {
        const dns = parseSelector({ matchLabels: DNS.labels });
        return this.#select((pod) => pod.namespace === DNS.namespace && dns.matches(labelsOf(pod.labels)));
      }
      case "pods": {
        const { namespace, pods } = end;
        return this.#select(
          (pod) =>
            (namespace === undefined ? home.has(pod.namespace) : pod.namespace === namespace) &&
            pods.matches(labelsOf(pod.labels)),
        );
      }
      case "workload": {
        const [kind, name] = end.ref.split("/") as [string, string];
        const { namespace } = end;
        return this.#select((pod) => {
          const inside = namespace === undefined ? home.has(pod.namespace) : pod.namespace === namespace;
          const id = `${pod.namespace}/${name}[${kind}]`;
          return inside && (pod.owner === id || pod.id === id);
        });
      }
      case "addresses":
        return { pods: new Set(), known: [], range: end.range };
      case "wrong":
        return this.#end([]);
    }
  }

  #select(wanted: (pod: PodInfo) => boolean): End {
    const found: string[] = [];
    for (const pod of this.#pods.values()) if (wanted(pod)) found.push(pod.id);
    return this.#end(found);
  }

  #end(pods: readonly string[]): End {
    const filed = pods.filter((id) => !isStandIn(id));
    // a stand-in of the contract's own namespaces stands for nobody: all pods there are known
    const others = pods.filter((id) => isStandIn(id) && !this.#network.home.has(this.#pods.get(id)!.namespace));
    const all = new Set([...filed, ...others]);
    return { pods: all, known: filed.length > 0 ? filed : others, range: undefined };
  }

  #noPod(end: EndText): string {
    switch (end.kind) {
      case "plane":
        return `the contract has no workload of the ${end.role} plane`;
      case "workload":
        return `no manifest of the contract has this ${end.ref.split("/")[0]}`;
      default:
        return "it selects no pod of the contract";
    }
  }

  #ports(edge: DeclaredEdge, to: string): ConnectionSet {
    if (edge.named.length === 0) return edge.fixed;
    const pod = this.#pods.get(to);
    if (pod === undefined) return edge.fixed;
    const names = portsKey(pod, new Set(edge.named.map(({ name }) => name)));
    return edge.named.reduce(
      (set, named) => set.union(resolveNamed({ index: 0, fixed: undefined, named }, names)),
      edge.fixed,
    );
  }

  // --- questions ----------------------------------------------------------------------------------------------------

  /** What the declaration lets one pod open towards another. */
  expected(from: string, to: string): ConnectionSet {
    const into = this.#toEdges.get(to);
    let set = ConnectionSet.NONE;
    if (into === undefined) return set;
    for (const edge of this.#fromEdges.get(from) ?? []) if (into.has(edge)) set = set.union(this.#ports(edge, to));
    return set;
  }

  /** The edges of the graph's nodes with their standing; sorted by ends. */
  get standings(): readonly EdgeStanding[] {
    if (this.#standings === undefined) {
      const { kept, extra } = this.#compare();
      const add = (status: EdgeStanding["status"], edges: Iterable<EdgeSum>): EdgeStanding[] =>
        addUp(edges).map(({ from, to, connections }) => ({ from, to, connections, status }));
      this.#standings = [
        ...add(
          "allowed",
          kept.map((edge) => this.#byOwner(edge)),
        ),
        ...add(
          "surplus",
          extra.map((edge) => this.#byOwner(edge)),
        ),
        ...add(
          "missing",
          this.#lacking().map(({ edge }) => this.#byOwner(edge)),
        ),
      ];
    }
    return this.#standings;
  }

  /** What the policies open and nobody declared, by the rule, or the item of it, that does it. */
  surplus(): Surplus[] {
    this.#surplus ??= this.#compare().extra;
    interface Group {
      readonly policy: Policy;
      readonly path: SpecPath;
      readonly other: RuleMatch | undefined;
      readonly edges: EdgeSum[];
    }
    const groups = new Map<string, Group>();
    for (const edge of this.#surplus.slice(0, MOST_EXPLAINED)) {
      const asked = somePort(edge.connections);
      if (asked === undefined) continue;
      const { egress, ingress } = this.#network.pods.explain(edge.from, edge.to, asked.protocol, asked.port);
      // the side that grants comes first; one that no policy isolates is the matter of default-deny
      const [rule, other] = [...ingress.allowing.slice(0, 1), ...egress.allowing.slice(0, 1)];
      if (rule === undefined || rule.policy.undecided) continue;
      const { policy } = rule;
      const path = this.#item(rule, edge.connections);
      const key = `${policy.id}\n${path.join("/")}`;
      let group = groups.get(key);
      if (group === undefined) groups.set(key, (group = { policy, path, other, edges: [] }));
      group.edges.push(this.#byOwner(edge));
    }
    return [...groups.values()].map(({ policy, path, other, edges }) => ({ policy, path, edges: addUp(edges), other }));
  }

  /** The part of a rule that is too much: a port item where some of its ports are right, else the peer. */
  #item({ policy, direction, rule, path, peers, ports, connections }: RuleMatch, extra: ConnectionSet): SpecPath {
    const own = policy[direction].find(({ index }) => index === rule);
    if (!extra.covers(connections)) return ports?.length === 1 ? [...path, "ports", ports[0]!] : path;
    const several = (own?.peers?.length ?? 0) > 1;
    if (several && peers?.length === 1) return [...path, direction === "ingress" ? "from" : "to", peers[0]!];
    return path;
  }

  /** Declared edges that policies stop, by the place where each should have been let through. */
  missing(): Missing[] {
    const { pods, foreign } = this.#network;
    if (foreign.length > 0) return [];
    interface Sided {
      readonly index: number;
      readonly edge: EdgeSum;
      readonly side: Side;
    }
    const stopped = new Map<string, Sided[]>();
    for (const { index, edge } of this.#lacking().slice(0, MOST_EXPLAINED)) {
      const asked = somePort(edge.connections)!;
      const explanation = pods.explain(edge.from, edge.to, asked.protocol, asked.port);
      if (explanation.undecided) continue;
      for (const side of lackingSides(explanation, edge.connections)) {
        const key = `${index} ${side.direction}`;
        push(stopped, key, { index, edge, side });
      }
    }
    interface Group {
      readonly gap: Gap;
      readonly indexes: Set<number>;
      readonly edges: EdgeSum[];
    }
    const groups = new Map<string, Group>();
    for (const list of stopped.values()) {
      const shared = common(list.map(({ side }) => side.isolating));
      for (const { index, edge, side } of list) {
        const gap = findGap(this.#network, side, side.direction === "egress" ? edge.from : edge.to, shared);
        if (gap === undefined) continue;
        const key = `${gap.policy.id}\n${gap.direction}\n${gap.path.join("/")}`;
        let group = groups.get(key);
        if (group === undefined) groups.set(key, (group = { gap, indexes: new Set(), edges: [] }));
        group.indexes.add(index);
        group.edges.push(this.#byOwner(edge));
      }
    }
    return [...groups.values()].map(({ gap, indexes, edges }) => ({ gap, indexes: [...indexes], edges: addUp(edges) }));
  }

  // --- comparing ----------------------------------------------------------------------------------------------------

  #byOwner({ from, to, connections }: EdgeSum): EdgeSum {
    return { from: this.#owners.get(from) ?? from, to: this.#owners.get(to) ?? to, connections };
  }

  /** Every edge that touches the contract's namespaces, split into what is declared and what is not. */
  #compare(): { kept: EdgeSum[]; extra: EdgeSum[] } {
    const kept: EdgeSum[] = [];
    const extra: EdgeSum[] = [];
    const isHome = (id: string): boolean => {
      const pod = this.#pods.get(id);
      return pod !== undefined && !isStandIn(id) && this.#network.home.has(pod.namespace);
    };
    const note = (from: string, to: string, is: ConnectionSet, wanted: ConnectionSet): void => {
      const good = is.intersect(wanted);
      const bad = is.subtract(wanted);
      if (!good.isEmpty) kept.push({ from, to, connections: good });
      if (!bad.isEmpty) extra.push({ from, to, connections: bad });
    };
    for (const { from, to, connections } of this.#network.pods.eachEdge({ self: true })) {
      if (!isHome(from) && !isHome(to)) continue;
      const is = ConnectionSet.from(connections);
      const target = externalRange(to);
      const source = externalRange(from);
      if (target !== undefined) {
        for (const [range, wanted] of this.#pieces("to", from, target)) note(from, externalId(range), is, wanted);
      } else if (source !== undefined) {
        for (const [range, wanted] of this.#pieces("from", to, source)) note(externalId(range), to, is, wanted);
      } else note(from, to, is, this.expected(from, to));
    }
    return { kept, extra };
  }

  /** A range of outside addresses cut where a declaration begins or ends, with what is declared for each piece. */
  #pieces(way: "from" | "to", pod: string, range: AddressRange): [AddressRange, ConnectionSet][] {
    const declared = this.#edges.filter(
      (edge) => edge[way].range !== undefined && edge[way === "to" ? "from" : "to"].pods.has(pod),
    );
    const bounds = declared.map((edge) => edge[way].range!);
    const out: [AddressRange, ConnectionSet][] = [];
    for (const piece of cut(range, bounds)) {
      let wanted = ConnectionSet.NONE;
      declared.forEach((edge, i) => {
        if (isInside(piece, bounds[i]!)) wanted = wanted.union(this.#ports(edge, pod));
      });
      const last = out.at(-1);
      if (last?.[1].equals(wanted) === true) out[out.length - 1] = [join(last[0], piece), wanted];
      else out.push([piece, wanted]);
    }
    return out;
  }

  /** Declared connections between pods, or pods and addresses, that the policies do not let through. */
  #lacking(): { readonly index: number; readonly edge: EdgeSum }[] {
    const { pods } = this.#network;
    const out: { index: number; edge: EdgeSum }[] = [];
    const note = (index: number, from: string, to: string, wanted: ConnectionSet, is: ConnectionSet): void => {
      const connections = wanted.subtract(is);
      if (!connections.isEmpty) out.push({ index, edge: { from, to, connections } });
    };
    for (const edge of this.#edges) {
      const { index, from, to } = edge;
      if (to.range !== undefined) {
        for (const a of from.known) {
          for (const piece of cut(
            to.range,
            pods.externalDestinations.map(({ range }) => range),
          )) {
            const id = externalId(piece);
            note(index, a, id, this.#ports(edge, id), pods.allowed(a, id));
          }
        }
      } else if (from.range !== undefined) {
        for (const b of to.known) {
          for (const piece of cut(
            from.range,
            pods.externalSources.map(({ range }) => range),
          )) {
            const id = externalId(piece);
            note(index, id, b, this.#ports(edge, b), pods.allowed(id, b));
          }
        }
      } else {
        const unknown = (end: End): boolean => end.known.every(isStandIn);
        for (const a of unknown(from) ? from.known.slice(0, 1) : from.known) {
          for (const b of unknown(to) ? to.known.slice(0, 1) : to.known) {
            if (a === b && this.#pods.get(a)!.several !== true) continue;
            // any one of several stand-ins will do: they are guesses at the same pods
            let is = ConnectionSet.NONE;
            for (const x of unknown(from) ? from.known : [a]) {
              for (const y of unknown(to) ? to.known : [b]) is = is.union(pods.allowed(x, y));
            }
            note(index, a, b, this.#ports(edge, b), is);
          }
        }
      }
    }
    return out;
  }
}

function common(lists: readonly (readonly Policy[])[]): ReadonlySet<Policy> {
  let all: Policy[] | undefined;
  for (const list of lists) all = all === undefined ? [...list] : all.filter((policy) => list.includes(policy));
  const specific = (all ?? []).filter(({ selector }) => selector.kind !== "everything");
  return new Set(specific.length > 0 ? specific : (all ?? []));
}

const EXTERNAL = "[External]";

function externalRange(id: string): AddressRange | undefined {
  return id.endsWith(EXTERNAL) ? parseRange(id.slice(0, -EXTERNAL.length)) : undefined;
}

function externalId(range: AddressRange): string {
  return `${formatRange(range)}${EXTERNAL}`;
}

/** A range cut at the bounds of others. */
function cut(range: AddressRange, others: readonly AddressRange[]): AddressRange[] {
  const bounds = new Set<number | bigint>([range.start, range.end]);
  for (const other of others) {
    if (other.family !== range.family) continue;
    for (const bound of [other.start, other.end]) if (bound > range.start && bound < range.end) bounds.add(bound);
  }
  const sorted = [...bounds].sort((a, b) => (a < b ? -1 : 1));
  return sorted.slice(0, -1).map((start, i) => ({ family: range.family, start, end: sorted[i + 1]! }) as AddressRange);
}

function isInside(piece: AddressRange, range: AddressRange): boolean {
  return piece.family === range.family && piece.start >= range.start && piece.end <= range.end;
}

function join(a: AddressRange, b: AddressRange): AddressRange {
  return { family: a.family, start: a.start, end: b.end } as AddressRange;
}
