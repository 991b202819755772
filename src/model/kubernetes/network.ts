/**
 * Who may talk to whom, on which protocol and port, under all NetworkPolicies.
 *
 * Source: Kubernetes "Network Policies". A pod that no policy of a direction selects is open in that direction; else it
 * has what the rules of the selecting policies add up to. A connection needs the egress side of its source *and* the
 * ingress side of its destination. A pod always reaches itself.
 *
 * Settled readings: an `ipBlock` speaks of addresses outside the cluster (pod addresses are not in the files), so it
 * never selects a pod here; `explain` says where a recorded or unknown pod address might be covered. Pods on the host
 * network are judged like others unless `hostNetwork: "exempt"` (Kubernetes leaves them undefined).
 *
 * How: pods that no selector and no named port can tell apart form one class; policies with the same set form one
 * profile; a row (profile → every class and every range of outside addresses) is computed once, with interned sets of
 * connections. Addresses are ranges cut where some ipBlock begins or ends; nothing is enumerated.
 */

import { push } from "../multimap.js";
import { Bitset } from "./bitset.js";
import { Pool, Row } from "./connection-pool.js";
import { ConnectionSet, type Protocol } from "./connections.js";
import { type AddressRange, ALL_V4, ALL_V6, formatRange, parseRange } from "./ip.js";
import {
  coversAddress,
  fillAtoms,
  holdsRange,
  matchPorts,
  nearMiss,
  overlaps,
  portsKey,
  resolveNamed,
  withPeers,
} from "./network-match.js";
import { type Direction, type Policy, parsePolicy, type Rule, type RulePeer } from "./network-policy.js";
import type {
  Explanation,
  ExternalNode,
  NearMiss,
  NetworkEdge,
  NetworkInput,
  NetworkOptions,
  PodInfo,
  RuleEffect,
  RuleMatch,
  Side,
  UnmatchedPeer,
  WorkloadNode,
} from "./network-types.js";
import { LabelIndex, type Labels, labelsOf, type Selector } from "./selector.js";

export type * from "./network-types.js";

const NAME_LABEL = "kubernetes.io/metadata.name";

interface PodClass {
  readonly index: number;
  readonly sample: PodInfo;
  readonly hostExempt: boolean;
  /** Indexes of policies that isolate it, ascending. */
  readonly isolating: Record<Direction, readonly number[]>;
  readonly profile: Record<Direction, string>;
  readonly namedPorts: string;
}

interface Shape {
  /** Positions of its workloads among the workloads. */
  readonly nodes: number[];
  /** Classes of the workload, and how many pods of each (Infinity for a template with several). */
  readonly counts: ReadonlyMap<number, number>;
  readonly classes: readonly number[];
}

interface Node extends WorkloadNode {
  readonly shape: number;
}

/** Something that talks: a workload, or a range of outside addresses. */
type Endpoint = { readonly node: Node } | { readonly range: AddressRange; readonly id: string };

/** The connectivity of a set of pods under a set of policies. Immutable; everything is computed once, on first use. */
export class NetworkEngine {
  readonly policies: readonly Policy[];
  readonly #options: Required<NetworkOptions>;
  readonly #pool = new Pool();
  readonly #namespaceLabels = new Map<string, Labels>();
  readonly #nodes: Node[] = [];
  readonly #nodeById = new Map<string, Node>();
  readonly #classes: PodClass[] = [];
  readonly #classOfPod = new Map<PodInfo, number>();
  readonly #selected = new Map<string, Bitset>();
  readonly #shapes: Shape[] = [];
  #byClass: readonly (readonly number[])[] | undefined;
  /** Outside addresses as seen by a direction: sources for ingress, destinations for egress. */
  readonly #atoms: Record<Direction, readonly ExternalNode[]>;
  /** How many of them are nodes of the graph: IPv6 (which comes last) only where some policy names it. */
  readonly #visible: Record<Direction, number>;
  readonly #rows: Record<Direction, Map<string, Row>> = { ingress: new Map(), egress: new Map() };
  readonly #work: Partial<Record<Direction, Uint32Array>> = {};
  readonly #peers = new Map<Rule, Bitset>();
  readonly #resolved = new Map<Rule, Map<string, number>>();

  constructor(input: NetworkInput, options: NetworkOptions = {}) {
    this.#options = { hostNetwork: options.hostNetwork ?? "policed" };
    this.policies = input.policies.map(parsePolicy);
    for (const { name, labels } of input.namespaces) this.#addNamespace(name, labels);
    for (const { namespace } of input.pods) this.#addNamespace(namespace, undefined);
    for (const { namespace } of input.policies) this.#addNamespace(namespace, undefined);
    this.#classify(input.pods);
    this.#gather(input.pods);
    this.#atoms = { ingress: this.#cut("ingress"), egress: this.#cut("egress") };
    const dual = this.policies.some(({ ingress, egress }) => [...ingress, ...egress].some(namesV6));
    const v4 = (atoms: readonly ExternalNode[]): number => atoms.filter(({ range }) => range.family === 4).length;
    this.#visible = {
      ingress: dual ? this.#atoms.ingress.length : v4(this.#atoms.ingress),
      egress: dual ? this.#atoms.egress.length : v4(this.#atoms.egress),
    };
  }

  /** The workloads, by id. */
  get workloads(): readonly WorkloadNode[] {
    return this.#nodes;
  }

  /** Outside addresses as sources, ascending; cut by the ipBlocks of ingress rules. */
  get externalSources(): readonly ExternalNode[] {
    return this.#atoms.ingress.slice(0, this.#visible.ingress);
  }

  /** Outside addresses as destinations, ascending; cut by the ipBlocks of egress rules. */
  get externalDestinations(): readonly ExternalNode[] {
    return this.#atoms.egress.slice(0, this.#visible.egress);
  }

  // --- construction -------------------------------------------------------------------------------------------------

  /** The API server sets the name label itself, so it always tells the truth. */
  #addNamespace(name: string, raw: unknown): void {
    const known = this.#namespaceLabels.get(name);
    if (known !== undefined && raw === undefined) return;
    const labels = new Map(known);
    for (const [key, value] of labelsOf(raw)) labels.set(key, value);
    labels.set(NAME_LABEL, name);
    this.#namespaceLabels.set(name, labels);
  }

  /** Sorts pods into classes that policies cannot tell apart. */
  #classify(pods: readonly PodInfo[]): void {
    const names = new Set<string>();
    const keys = new Set<string>();
    for (const { selector, ingress, egress } of this.policies) {
      for (const { key } of selector.requirements) keys.add(key);
      for (const { ports, peers } of [...ingress, ...egress]) {
        for (const port of ports ?? []) if (port.named !== undefined) names.add(port.named.name);
        for (const peer of peers ?? [])
          if (peer.kind === "pods") for (const { key } of peer.pods.requirements) keys.add(key);
      }
    }
    interface Group {
      readonly sample: PodInfo;
      readonly labels: Labels;
      readonly hostExempt: boolean;
      readonly namedPorts: string;
      readonly pods: PodInfo[];
      readonly selectors: number[];
    }
    const groups = new Map<string, Group>();
    for (const pod of pods) {
      // labels that no selector asks for, like a pod's own name, tell nothing apart
      const labels = [...labelsOf(pod.labels)].filter(([key]) => keys.has(key)).sort(byKey);
      const namedPorts = portsKey(pod, names);
      const hostExempt = pod.hostNetwork && this.#options.hostNetwork === "exempt";
      const text = JSON.stringify([pod.namespace, hostExempt, namedPorts, labels]);
      const group = groups.get(text);
      if (group !== undefined) group.pods.push(pod);
      else
        groups.set(text, {
          sample: pod,
          labels: new Map(labels),
          hostExempt,
          namedPorts,
          pods: [pod],
          selectors: [],
        });
    }

    // Every distinct (namespaces, pods) selector once; a group collects the numbers of those that select it.
    const all = [...groups.values()].filter(({ hostExempt }) => !hostExempt);
    const everywhere = new LabelIndex(all, ({ labels }) => labels);
    const byNamespace = new Map<string, Group[]>();
    for (const group of all) {
      push(byNamespace, group.sample.namespace, group);
    }
    const indexes = new Map<string, LabelIndex<Group>>();
    for (const [name, list] of byNamespace) indexes.set(name, new LabelIndex(list, ({ labels }) => labels));
    const namespaces = new LabelIndex([...this.#namespaceLabels], ([, labels]) => labels);
    const select = (own: string, wanted: Selector | undefined, pods: Selector): readonly Group[] => {
      if (wanted === undefined) return indexes.get(own)?.select(pods) ?? [];
      if (wanted.kind === "everything") return everywhere.select(pods);
      const found = namespaces.select(wanted).map(([name]) => name);
      if (found.length <= 8) return found.flatMap((name) => indexes.get(name)?.select(pods) ?? []);
      const inside = new Set(found);
      return everywhere.select(pods).filter(({ sample }) => inside.has(sample.namespace));
    };
    const selections = new Map<string, readonly Group[]>();
    const note = (own: string, wanted: Selector | undefined, pods: Selector): void => {
      const key = selectionKey(own, wanted, pods);
      if (selections.has(key)) return;
      const found = select(own, wanted, pods);
      for (const group of found) group.selectors.push(selections.size);
      selections.set(key, found);
    };
    for (const policy of this.policies) {
      const own = policy.info.namespace;
      note(own, undefined, policy.selector);
      for (const rule of [...policy.ingress, ...policy.egress]) {
        for (const peer of rule.peers ?? []) if (peer.kind === "pods") note(own, peer.namespaces, peer.pods);
      }
    }

    const classes = new Map<string, number>();
    const classOfGroup = new Map<Group, number>();
    const samples: Group[] = [];
    for (const group of groups.values()) {
      const signature = `${group.selectors.join()}|${group.namedPorts}|${group.hostExempt}`;
      let index = classes.get(signature);
      if (index === undefined) {
        index = samples.length;
        classes.set(signature, index);
        samples.push(group);
      }
      classOfGroup.set(group, index);
      for (const pod of group.pods) this.#classOfPod.set(pod, index);
    }
    for (const [key, found] of selections) {
      const bits = new Bitset(samples.length);
      for (const group of found) bits.add(classOfGroup.get(group)!);
      this.#selected.set(key, bits);
    }

    const isolating = samples.map(() => ({ ingress: [] as number[], egress: [] as number[] }));
    this.policies.forEach((policy, p) => {
      const bits = this.#selection(policy);
      bits.forEach((c) => {
        if (policy.affects.ingress) isolating[c]!.ingress.push(p);
        if (policy.affects.egress) isolating[c]!.egress.push(p);
      });
    });
    samples.forEach(({ sample, hostExempt, namedPorts }, index) => {
      const own = isolating[index]!;
      this.#classes.push({
        index,
        sample,
        hostExempt,
        namedPorts,
        isolating: own,
        profile: { ingress: `${own.ingress.join()}|${namedPorts}`, egress: own.egress.join() },
      });
    });
  }

  /** Classes that the policy's own selector selects. */
  #selection(policy: Policy): Bitset {
    return this.#selected.get(selectionKey(policy.info.namespace, undefined, policy.selector))!;
  }

  /** Puts pods of one owner into one node. */
  #gather(pods: readonly PodInfo[]): void {
    const owners = new Map<string, PodInfo[]>();
    for (const pod of pods) {
      push(owners, pod.owner, pod);
    }
    const shapes = new Map<string, number>();
    for (const id of [...owners.keys()].sort(byText)) {
      const own = owners.get(id)!;
      const counts = new Map<number, number>();
      for (const pod of own) {
        const index = this.#classOfPod.get(pod)!;
        counts.set(index, (counts.get(index) ?? 0) + (pod.several === true ? Number.POSITIVE_INFINITY : 1));
      }
      const classes = [...counts.keys()].sort((a, b) => a - b);
      // More than one pod of a class is all that matters for its self-edge.
      const key = classes.map((c) => `${c}${counts.get(c)! > 1 ? "+" : ""}`).join();
      let shape = shapes.get(key);
      if (shape === undefined) {
        shape = this.#shapes.length;
        shapes.set(key, shape);
        this.#shapes.push({ nodes: [], counts, classes });
      }
      this.#shapes[shape]!.nodes.push(this.#nodes.length);
      const node: Node = { id, pods: own, namespace: own[0]!.namespace, shape };
      this.#nodes.push(node);
      this.#nodeById.set(id, node);
    }
  }

  /** The outside, cut into ranges that no ipBlock of the direction tells apart inside; IPv4 first. */
  #cut(direction: Direction): ExternalNode[] {
    const cuts4 = new Set<number>(ALL_V4);
    const cuts6 = new Set<bigint>(ALL_V6);
    for (const policy of this.policies) {
      for (const rule of policy[direction]) {
        for (const peer of rule.peers ?? []) {
          if (peer.kind !== "addresses") continue;
          for (const bound of peer.v4) cuts4.add(bound);
          for (const bound of peer.v6) cuts6.add(bound);
        }
      }
    }
    const atoms: ExternalNode[] = [];
    const add = (range: AddressRange): void => {
      atoms.push({ id: `${formatRange(range)}[External]`, range });
    };
    const v4 = [...cuts4].sort((a, b) => a - b);
    for (let i = 0; i + 1 < v4.length; i++) add({ family: 4, start: v4[i]!, end: v4[i + 1]! });
    const v6 = [...cuts6].sort((a, b) => (a < b ? -1 : 1));
    for (let i = 0; i + 1 < v6.length; i++) add({ family: 6, start: v6[i]!, end: v6[i + 1]! });
    return atoms;
  }

  // --- rows ---------------------------------------------------------------------------------------------------------

  /** Who a rule's peers are: bits of classes, then of the outside ranges of the direction. */
  #peerBits(policy: Policy, direction: Direction, rule: Rule): Bitset {
    let bits = this.#peers.get(rule);
    if (bits !== undefined) return bits;
    const atoms = this.#atoms[direction];
    const classes = this.#classes.length;
    bits = new Bitset(classes + atoms.length);
    if (rule.peers === undefined) bits.fill(0, classes + atoms.length);
    for (const peer of rule.peers ?? []) {
      if (peer.kind === "pods")
        bits.addAll(this.#selected.get(selectionKey(policy.info.namespace, peer.namespaces, peer.pods))!);
      else fillAtoms(bits, classes, atoms, peer);
    }
    this.#peers.set(rule, bits);
    return bits;
  }

  /** The connections of a rule towards a destination with these named ports, as a pool id. */
  #ports(rule: Rule, namedPorts: string): number {
    let known = this.#resolved.get(rule);
    if (known === undefined) this.#resolved.set(rule, (known = new Map()));
    let id = known.get(namedPorts);
    if (id === undefined) {
      id = rule.ports === undefined ? 1 : 0;
      for (const port of rule.ports ?? []) {
        id = this.#pool.union(id, this.#pool.id(port.fixed ?? resolveNamed(port, namedPorts)));
      }
      known.set(namedPorts, id);
    }
    return id;
  }

  /** What the profile's rules let through; undefined: the side is open. */
  #row(direction: Direction, of: PodClass): Row | undefined {
    const policies = of.isolating[direction];
    if (policies.length === 0) return undefined;
    const rows = this.#rows[direction];
    const known = rows.get(of.profile[direction]);
    if (known !== undefined) return known;
    const pool = this.#pool;
    const size = this.#classes.length + this.#atoms[direction].length;
    const work = (this.#work[direction] ??= new Uint32Array(size));
    const touched: number[] = [];
    const add = (index: number, id: number): void => {
      const before = work[index]!;
      if (before === 0 && id !== 0) touched.push(index);
      work[index] = pool.union(before, id);
    };
    let base = 0;
    // Rules with the same connections are one set of peers.
    const merged = new Map<number, Bitset[]>();
    for (const p of policies) {
      const policy = this.policies[p]!;
      for (const rule of policy[direction]) {
        if (direction === "egress" && rule.ports?.some(({ named }) => named !== undefined)) {
          this.#peerBits(policy, direction, rule).forEach((to) => {
            add(to, this.#ports(rule, this.#classes[to]?.namedPorts ?? ""));
          });
          continue;
        }
        const id = this.#ports(rule, direction === "ingress" ? of.namedPorts : "");
        if (rule.peers === undefined) base = pool.union(base, id);
        else if (id !== 0) {
          const bits = this.#peerBits(policy, direction, rule);
          push(merged, id, bits);
        }
      }
    }
    for (const [id, list] of merged) {
      const [first, ...others] = list;
      let bits = first!;
      if (others.length > 0) {
        bits = new Bitset(size);
        for (const one of list) bits.addAll(one);
      }
      bits.forEach((index) => {
        add(index, id);
      });
    }
    const row = new Row(base, touched, work, pool);
    rows.set(of.profile[direction], row);
    return row;
  }

  #between(from: PodClass, to: PodClass): number {
    const out = this.#row("egress", from)?.get(to.index) ?? 1;
    return out === 0 ? 0 : this.#pool.intersect(out, this.#row("ingress", to)?.get(from.index) ?? 1);
  }

  #toOutside(from: PodClass, atom: number): number {
    return this.#row("egress", from)?.get(this.#classes.length + atom) ?? 1;
  }

  #fromOutside(to: PodClass, atom: number): number {
    return this.#row("ingress", to)?.get(this.#classes.length + atom) ?? 1;
  }

  #overClasses(shape: Shape, value: (of: PodClass) => number): number {
    let id = 0;
    for (const index of shape.classes) id = this.#pool.union(id, value(this.#classes[index]!));
    return id;
  }

  /** Between different pods of two shapes; `own`: both are the same workload. */
  #betweenShapes(from: Shape, to: Shape, own: boolean): number {
    let id = 0;
    for (const a of from.classes) {
      for (const b of to.classes) {
        if (own && a === b && from.counts.get(a)! <= 1) continue;
        id = this.#pool.union(id, this.#between(this.#classes[a]!, this.#classes[b]!));
      }
    }
    return id;
  }

  // --- questions ----------------------------------------------------------------------------------------------------

  /**
   * All edges, sorted by `from` and `to`, produced one by one. `self`: also those between different pods of one
   * workload (a pod's traffic to itself is never an edge).
   */
  *eachEdge(options: { self?: boolean } = {}): Generator<NetworkEdge> {
    const { self = false } = options;
    const pool = this.#pool;
    const targets = mergeSorted(this.#nodes, this.externalDestinations);
    const nodeAt = new Int32Array(this.#nodes.length);
    const atomAt: number[] = [];
    targets.forEach(({ node, atom, index }, at) => {
      if (node === undefined) atomAt[atom] = at;
      else nodeAt[index] = at;
    });
    const into = this.#reverse();
    const shapesOf = this.#shapesOf;
    const fromAtom: (readonly [number, number])[][] = this.externalSources.map(() => []);
    for (const shape of this.#shapes) {
      for (const [atom, id] of this.#outside("ingress", shape)) {
        for (const n of shape.nodes) fromAtom[atom]?.push([n, id]);
      }
    }
    for (const { node, index, atom, id: from } of mergeSorted(this.#nodes, this.externalSources)) {
      if (node === undefined) {
        for (const [n, id] of fromAtom[atom]!.sort((x, y) => x[0] - y[0])) {
          yield { from, to: this.#nodes[n]!.id, connections: pool.set(id).connections };
        }
        continue;
      }
      const shape = this.#shapes[node.shape]!;
      const reached = new Map<number, number>();
      for (const a of shape.classes) {
        this.#eachTarget(this.#classes[a]!, into, (b, id) => {
          for (const t of shapesOf[b]!) reached.set(t, pool.union(reached.get(t) ?? 0, id));
        });
      }
      const found: (readonly [number, number])[] = [];
      for (const [t, id] of reached) {
        for (const n of this.#shapes[t]!.nodes) if (this.#nodes[n] !== node) found.push([nodeAt[n]!, id]);
      }
      const loop = self ? this.#betweenShapes(shape, shape, true) : 0;
      if (loop !== 0) found.push([nodeAt[index]!, loop]);
      for (const [i, id] of this.#outside("egress", shape)) if (i < atomAt.length) found.push([atomAt[i]!, id]);
      found.sort((x, y) => x[0] - y[0]);
      for (const [at, id] of found) yield { from, to: targets[at]!.id, connections: pool.set(id).connections };
    }
  }

  /** The outside ranges that a shape talks with, by index; looks only at those that a rule names. */
  #outside(direction: Direction, shape: Shape): ReadonlyMap<number, number> {
    const found = new Map<number, number>();
    const offset = this.#classes.length;
    for (const c of shape.classes) {
      const row = this.#row(direction, this.#classes[c]!);
      const add = (atom: number): void => {
        const id = row?.get(offset + atom) ?? 1;
        if (id !== 0) found.set(atom, this.#pool.union(found.get(atom) ?? 0, id));
      };
      if (row === undefined || row.base !== 0) for (let i = 0; i < this.#atoms[direction].length; i++) add(i);
      else for (const index of row.named) if (index >= offset) add(index - offset);
    }
    return found;
  }

  /** Who lets whom in: classes that are open to all, and per source class those whose rules name it. */
  #reverse(): { readonly open: readonly number[]; readonly named: readonly (readonly number[])[] } {
    const open: number[] = [];
    const named: number[][] = this.#classes.map(() => []);
    for (const to of this.#classes) {
      const row = this.#row("ingress", to);
      if (row === undefined || row.base !== 0) open.push(to.index);
      else for (const from of row.named) named[from]?.push(to.index);
    }
    return { open, named };
  }

  /** Every class that a class reaches, once, with what it may open there; looks only at those that one side names. */
  #eachTarget(
    from: PodClass,
    into: { readonly open: readonly number[]; readonly named: readonly (readonly number[])[] },
    visit: (to: number, id: number) => void,
  ): void {
    const row = this.#row("egress", from);
    const look = (to: number): void => {
      const target = this.#classes[to];
      const id = target === undefined ? 0 : this.#between(from, target);
      if (id !== 0) visit(to, id);
    };
    const named = into.named[from.index]!;
    if (row !== undefined && row.base === 0 && row.named.length <= into.open.length + named.length) {
      for (const to of row.named) look(to);
      return;
    }
    for (const to of into.open) look(to);
    for (const to of named) look(to);
  }

  /** All edges as a list; see `eachEdge`. */
  edges(options: { self?: boolean } = {}): NetworkEdge[] {
    return [...this.eachEdge(options)];
  }

  /** The workload with this id, or the only one that a short form (`name`, `namespace/name`) can mean. */
  find(text: string): WorkloadNode | undefined {
    const exact = this.#nodeById.get(text);
    if (exact !== undefined) return exact;
    const found = this.#nodes.filter(({ id }) => {
      const bracket = id.lastIndexOf("[");
      const name = bracket < 0 ? id : id.slice(0, bracket);
      return name === text || name.slice(name.indexOf("/") + 1) === text;
    });
    return found.length === 1 ? found[0] : undefined;
  }

  /** A workload by id or short form, a range `first-last[External]`, a CIDR block or an address. */
  #endpoint(text: string): Endpoint {
    const node = this.#nodeById.get(text) ?? (this.find(text) as Node | undefined);
    if (node !== undefined) return { node };
    const range = parseRange(text.endsWith("[External]") ? text.slice(0, -"[External]".length) : text);
    if (range === undefined) throw new RangeError(`no workload and no address: ${text}`);
    return { range, id: `${formatRange(range)}[External]` };
  }

  /**
   * What `from` may open towards `to` (workload ids or short forms, or outside addresses; for a range: what some address
   * of it may). Of a workload towards itself: between different pods; everything where it is a single pod.
   * Throws RangeError for an unknown endpoint and for two outside ones.
   */
  allowed(from: string, to: string): ConnectionSet {
    const a = this.#endpoint(from);
    const b = this.#endpoint(to);
    if ("node" in a && "node" in b) {
      const one = this.#shapes[a.node.shape]!;
      if (a.node !== b.node) return this.#pool.set(this.#betweenShapes(one, this.#shapes[b.node.shape]!, false));
      return isSingle(one) ? ConnectionSet.ALL : this.#pool.set(this.#betweenShapes(one, one, true));
    }
    if ("node" in a && "range" in b) {
      const shape = this.#shapes[a.node.shape]!;
      return this.#overAtoms("egress", b.range, (atom) => this.#overClasses(shape, (c) => this.#toOutside(c, atom)));
    }
    if ("range" in a && "node" in b) {
      const shape = this.#shapes[b.node.shape]!;
      return this.#overAtoms("ingress", a.range, (atom) => this.#overClasses(shape, (c) => this.#fromOutside(c, atom)));
    }
    throw new RangeError("both endpoints are outside the cluster");
  }

  #overAtoms(direction: Direction, range: AddressRange, value: (atom: number) => number): ConnectionSet {
    let id = 0;
    this.#atoms[direction].forEach((atom, i) => {
      if (overlaps(atom.range, range)) id = this.#pool.union(id, value(i));
    });
    return this.#pool.set(id);
  }

  /** Workloads of which the policy selects at least one pod. */
  selects(policy: Policy): readonly string[] {
    const found = new Set<number>();
    this.#selection(policy).forEach((c) => {
      for (const shape of this.#shapesOf[c]!) for (const node of this.#shapes[shape]!.nodes) found.add(node);
    });
    return [...found].sort((a, b) => a - b).map((node) => this.#nodes[node]!.id);
  }

  /** The shapes that have pods of a class. */
  get #shapesOf(): readonly (readonly number[])[] {
    if (this.#byClass === undefined) {
      const lists: number[][] = this.#classes.map(() => []);
      this.#shapes.forEach(({ classes }, shape) => {
        for (const c of classes) lists[c]!.push(shape);
      });
      this.#byClass = lists;
    }
    return this.#byClass;
  }

  /** Policies that isolate some pod of the workload in the direction, in input order. */
  isolating(workload: string, direction: Direction): readonly Policy[] {
    const endpoint = this.#endpoint(workload);
    if (!("node" in endpoint)) return [];
    const found = new Set<number>();
    for (const c of this.#shapes[endpoint.node.shape]!.classes) {
      for (const p of this.#classes[c]!.isolating[direction]) found.add(p);
    }
    return [...found].sort((a, b) => a - b).map((p) => this.policies[p]!);
  }

  /**
   * What a rule does, edge by edge (sorted; self-edges between different pods included): what it lets through that the
   * other side does not stop, and what of that would be gone without it. Empty: the rule adds no effective edge.
   * `rule` is the index in the policy's `ingress`/`egress`.
   */
  contributions(policy: Policy, direction: Direction, rule: number): RuleEffect[] {
    const p = this.policies.indexOf(policy);
    const own = policy[direction].find(({ index }) => index === rule);
    if (p < 0 || own === undefined || !policy.affects[direction]) return [];
    const selected = this.#selection(policy);
    const peers = this.#peerBits(policy, direction, own);
    const pool = this.#pool;

    /** What the rule lets through between a selected class and a peer (class or outside range), the other side included. */
    const effective = (at: PodClass, peer: number): number => {
      if (!selected.has(at.index) || !peers.has(peer)) return 0;
      return pool.intersect(this.#ports(own, this.#namedAt(direction, at, peer)), this.#opposite(direction, at, peer));
    };
    /** What would remain between them without the rule. */
    const remaining = (at: PodClass, peer: number): number => {
      if (!selected.has(at.index) || !peers.has(peer)) {
        return pool.intersect(this.#row(direction, at)?.get(peer) ?? 1, this.#opposite(direction, at, peer));
      }
      let id = 0;
      for (const q of at.isolating[direction]) {
        for (const other of this.policies[q]![direction]) {
          if (other === own || !this.#peerBits(this.policies[q]!, direction, other).has(peer)) continue;
          id = pool.union(id, this.#ports(other, this.#namedAt(direction, at, peer)));
        }
      }
      return pool.intersect(id, this.#opposite(direction, at, peer));
    };

    const effects: RuleEffect[] = [];
    const visible = direction === "ingress" ? this.externalSources : this.externalDestinations;
    const targets = mergeSorted(this.#nodes, visible);
    // Workloads of one shape behave alike.
    const known = new Map<string, readonly [number, ConnectionSet]>();
    for (const node of this.#nodes) {
      const shape = this.#shapes[node.shape]!;
      if (!shape.classes.some((c) => selected.has(c))) continue;
      for (const target of targets) {
        const self = target.node === node;
        const key = `${node.shape} ${target.node?.shape ?? "x"} ${target.atom} ${self}`;
        let answer = known.get(key);
        if (answer === undefined) {
          const theirs =
            target.node === undefined ? [this.#classes.length + target.atom] : this.#shapes[target.node.shape]!.classes;
          const over = (value: (at: PodClass, peer: number) => number): number => {
            let id = 0;
            for (const a of shape.classes) {
              for (const b of theirs) {
                if (!(self && a === b && shape.counts.get(a)! <= 1)) id = pool.union(id, value(this.#classes[a]!, b));
              }
            }
            return id;
          };
          const now = over(effective);
          const alone = now === 0 ? ConnectionSet.NONE : pool.set(now).subtract(pool.set(over(remaining)));
          known.set(key, (answer = [now, alone]));
        }
        const [now, alone] = answer;
        if (now === 0) continue;
        const [from, to] = direction === "ingress" ? [target.id, node.id] : [node.id, target.id];
        effects.push({ from, to, connections: pool.set(now), alone });
      }
    }
    return effects.sort((a, b) => byText(a.from, b.from) || byText(a.to, b.to));
  }

  /** The named ports that count between a class and its peer: those of the destination. */
  #namedAt(direction: Direction, at: PodClass, peer: number): string {
    return direction === "ingress" ? at.namedPorts : (this.#classes[peer]?.namedPorts ?? "");
  }

  /** What the other side of a connection between a class and its peer lets through. */
  #opposite(direction: Direction, at: PodClass, peer: number): number {
    const other = this.#classes[peer];
    if (other === undefined) return 1;
    return this.#row(direction === "ingress" ? "egress" : "ingress", other)?.get(at.index) ?? 1;
  }

  /** Peers by label that select no pod of the input (for `kube-dns` and the like: known only by the policy). */
  unmatchedPeers(): UnmatchedPeer[] {
    const found: UnmatchedPeer[] = [];
    for (const policy of this.policies) {
      for (const direction of ["ingress", "egress"] as const) {
        if (!policy.affects[direction]) continue;
        for (const rule of policy[direction]) {
          for (const peer of rule.peers ?? []) {
            if (peer.kind !== "pods") continue;
            const key = selectionKey(policy.info.namespace, peer.namespaces, peer.pods);
            if (!this.#selected.get(key)!.isEmpty) continue;
            found.push({
              policy,
              direction,
              rule: rule.index,
              peer,
              connections: this.#pool.set(this.#ports(rule, "")),
              workloads: this.selects(policy),
              path: ["spec", direction, rule.index, direction === "ingress" ? "from" : "to", peer.index],
            });
          }
        }
      }
    }
    return found;
  }

  // --- explanations -------------------------------------------------------------------------------------------------

  /**
   * Why `from` may or may not open a connection to `to`: by policy, rule and item. Without protocol and port: why
   * anything at all. Endpoints as in `allowed`; of a workload with unlike pods, a pair that is allowed if there is one.
   */
  explain(from: string, to: string, protocol?: Protocol, port?: number): Explanation {
    const a = this.#endpoint(from);
    const b = this.#endpoint(to);
    if ("range" in a && "range" in b) throw new RangeError("both endpoints are outside the cluster");
    const asked = protocol === undefined || port === undefined ? undefined : { protocol, port };
    const { pair, mixed } = this.#pair(a, b, asked);
    const best = this.#explainPair(pair[0], pair[1], asked);
    const name = (e: Endpoint): string => ("node" in e ? e.node.id : e.id);
    const notes = mixed ? [...best.notes, "holds for some pods of the workload only"] : best.notes;
    return {
      from: name(a),
      to: name(b),
      pods: best.pods,
      asked,
      allowed: best.allowed,
      undecided: best.undecided,
      connections: best.connections,
      egress: best.egress,
      ingress: best.ingress,
      notes,
    };
  }

  /**
   * The pods to look at: a pair that is allowed if there is one (different pods where a workload talks to itself and has
   * several), and whether other pairs would give another answer.
   */
  #pair(
    a: Endpoint,
    b: Endpoint,
    asked: Explanation["asked"],
  ): { pair: [PodInfo | AddressRange, PodInfo | AddressRange]; mixed: boolean } {
    const samples = (e: Endpoint): readonly PodInfo[] => {
      const byClass = new Map<number, PodInfo>();
      for (const pod of "node" in e ? e.node.pods : []) {
        const index = this.#classOfPod.get(pod)!;
        if (!byClass.has(index)) byClass.set(index, pod);
      }
      return [...byClass.values()];
    };
    const fits = (set: ConnectionSet): boolean =>
      asked === undefined ? !set.isEmpty : set.has(asked.protocol, asked.port);
    const classOf = (pod: PodInfo): PodClass => this.#classes[this.#classOfPod.get(pod)!]!;
    const candidates: [PodInfo | AddressRange, PodInfo | AddressRange, () => ConnectionSet][] = [];
    if ("node" in a && "node" in b) {
      const { counts } = this.#shapes[a.node.shape]!;
      const from = samples(a);
      const to = samples(b);
      for (const x of from) {
        for (const y of to) {
          if (a.node === b.node && x === y && counts.get(classOf(x).index)! <= 1 && from.length > 1) continue;
          candidates.push([x, y, () => this.#pool.set(this.#between(classOf(x), classOf(y)))]);
        }
      }
    } else if ("node" in a && "range" in b) {
      for (const x of samples(a)) {
        const set = (): ConnectionSet => this.#overAtoms("egress", b.range, (i) => this.#toOutside(classOf(x), i));
        candidates.push([x, b.range, set]);
      }
    } else if ("range" in a && "node" in b) {
      for (const y of samples(b)) {
        const set = (): ConnectionSet => this.#overAtoms("ingress", a.range, (i) => this.#fromOutside(classOf(y), i));
        candidates.push([a.range, y, set]);
      }
    }
    const verdicts = candidates.length > 1 ? candidates.map(([, , set]) => fits(set())) : [];
    const chosen = candidates[Math.max(0, verdicts.indexOf(true))]!;
    return { pair: [chosen[0], chosen[1]], mixed: verdicts.includes(true) && verdicts.includes(false) };
  }

  #explainPair(
    from: PodInfo | AddressRange,
    to: PodInfo | AddressRange,
    asked: Explanation["asked"],
  ): Omit<Explanation, "from" | "to"> {
    const source = "family" in from ? undefined : from;
    const target = "family" in to ? undefined : to;
    const notes: string[] = [];
    for (const pod of [source, target]) {
      if (pod?.hostNetwork === true)
        notes.push(`${pod.id} is on the host network: whether policies hold for it depends on the network plugin`);
    }
    const egress = this.#side("egress", source, to, target, asked);
    const ingress = this.#side("ingress", target, from, target, asked);
    const own = source !== undefined && source === target && source.several !== true && !this.#hasTwin(source);
    if (own) notes.push("a pod always reaches itself");
    const connections = own ? ConnectionSet.ALL : egress.connections.intersect(ingress.connections);
    const allowed = asked === undefined ? !connections.isEmpty : connections.has(asked.protocol, asked.port);
    const undecided =
      !allowed &&
      [egress, ingress].every(
        (side) => side.allowed || side.byAddress.length > 0 || side.isolating.some((policy) => policy.undecided),
      );
    return { pods: { from: source, to: target }, asked, allowed, undecided, connections, egress, ingress, notes };
  }

  #hasTwin(pod: PodInfo): boolean {
    const node = this.#nodeById.get(pod.owner);
    return node !== undefined && (this.#shapes[node.shape]!.counts.get(this.#classOfPod.get(pod)!) ?? 0) > 1;
  }

  /** One direction of one pair, rule by rule, straight from the selectors. */
  #side(
    direction: Direction,
    pod: PodInfo | undefined,
    peer: PodInfo | AddressRange,
    destination: PodInfo | undefined,
    asked: Explanation["asked"],
  ): Side {
    const at = pod === undefined ? undefined : this.#classes[this.#classOfPod.get(pod)!]!;
    const isolating = (at?.isolating[direction] ?? []).map((p) => this.policies[p]!);
    const open = isolating.length === 0;
    let connections = open ? ConnectionSet.ALL : ConnectionSet.NONE;
    const allowing: RuleMatch[] = [];
    const near: NearMiss[] = [];
    const byAddress: RuleMatch[] = [];
    for (const policy of isolating) {
      for (const rule of policy[direction]) {
        const peers = rule.peers?.filter((item) => this.#peerMatches(policy, item, peer)).map(({ index }) => index);
        const found = matchPorts(rule, destination, asked);
        const match: RuleMatch = {
          policy,
          direction,
          rule: rule.index,
          peers,
          ports: found.ports,
          connections: found.set,
          path: ["spec", direction, rule.index],
        };
        const peerFits = peers === undefined || peers.length > 0;
        const portFits = asked === undefined ? !found.set.isEmpty : found.set.has(asked.protocol, asked.port);
        if (peerFits) connections = connections.union(found.set);
        if (peerFits && portFits) allowing.push(match);
        else if (portFits) {
          near.push(nearMiss(match, "peer"));
          const covering = rule.peers?.filter((item) => coversAddress(item, peer)) ?? [];
          if (covering.length > 0) byAddress.push(withPeers(match, covering));
        } else if (peerFits) near.push(nearMiss(match, "port"));
      }
    }
    const allowed = asked === undefined ? !connections.isEmpty : connections.has(asked.protocol, asked.port);
    return { direction, isolating, allowing, near, byAddress, connections, allowed };
  }

  #peerMatches(policy: Policy, item: RulePeer, peer: PodInfo | AddressRange): boolean {
    if ("family" in peer) return item.kind === "addresses" && holdsRange(item, peer);
    if (item.kind === "addresses") return false;
    if (peer.hostNetwork && this.#options.hostNetwork === "exempt") return false;
    if (item.namespaces === undefined) {
      if (peer.namespace !== policy.info.namespace) return false;
    } else if (!item.namespaces.matches(this.#namespaceLabels.get(peer.namespace)!)) return false;
    return item.pods.matches(labelsOf(peer.labels));
  }
}

/** Computes the connectivity; see `NetworkEngine`. */
export function buildNetwork(input: NetworkInput, options?: NetworkOptions): NetworkEngine {
  return new NetworkEngine(input, options);
}

function namesV6({ peers }: Rule): boolean {
  return peers?.some((peer) => peer.kind === "addresses" && peer.v6.length > 0) ?? false;
}

function selectionKey(own: string, namespaces: Selector | undefined, pods: Selector): string {
  return namespaces === undefined ? `.${own}\u0004${pods.key}` : `*${namespaces.key}\u0004${pods.key}`;
}

function isSingle({ classes, counts }: Shape): boolean {
  return classes.length === 1 && counts.get(classes[0]!)! <= 1;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function byKey(a: readonly [string, string], b: readonly [string, string]): number {
  return byText(a[0], b[0]);
}

type Target = { readonly id: string; readonly node: Node | undefined; readonly index: number; readonly atom: number };

/** Workloads and outside ranges in the order of their ids. */
function mergeSorted(nodes: readonly Node[], atoms: readonly ExternalNode[]): Target[] {
  const all: Target[] = nodes.map((node, index) => ({ id: node.id, node, index, atom: -1 }));
  atoms.forEach(({ id }, atom) => {
    all.push({ id, node: undefined, index: -1, atom });
  });
  return all.sort((a, b) => byText(a.id, b.id));
}
