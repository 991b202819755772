/** Makes a large picture small without a lie: nodes that talk with the same others in the same way become one. */

import { ConnectionSet, describeConnections } from "../../model/kubernetes/connections.js";
import { type EdgeStatus, edgeText, type GraphView, groupsOf, OUTSIDE, type ViewEdge, type ViewNode } from "./view.js";

/** Lines of names that a merged node shows. */
const SHOWN = 4;

/**
 * Merges twins inside a group: nodes with the same edges to and from all others, and the same edge (or none) both ways
 * between each other. An edge between twins becomes an edge of the merged node to itself. Nodes with edges to
 * themselves stay alone.
 */
export function condense(view: GraphView): GraphView {
  const around = new Map<string, Map<string, string>>();
  const note = (id: string, other: string, way: string, text: string): void => {
    let own = around.get(id);
    if (own === undefined) around.set(id, (own = new Map()));
    const key = `${way}${other}`;
    const before = own.get(key);
    own.set(key, before === undefined ? text : `${before} / ${text}`);
  };
  for (const edge of view.edges) {
    const text = edgeText(edge);
    note(edge.from, edge.to, ">", text);
    note(edge.to, edge.from, "<", text);
  }
  const mergedInto = new Map<string, string>();
  const nodes: ViewNode[] = [];
  for (const [group, list] of groupsOf(view)) {
    for (const twins of twinsOf(list, around)) {
      const first = twins[0]!;
      if (twins.length === 1) {
        nodes.push(first);
        continue;
      }
      const id = `${first.id} and ${twins.length - 1} like it`;
      const names = twins.slice(0, twins.length > SHOWN ? SHOWN - 1 : SHOWN).map(({ lines }) => lines[0] ?? "");
      if (names.length < twins.length) names.push(`and ${twins.length - names.length} more`);
      nodes.push({ id, group, lines: [`${twins.length} alike`, ...names], members: twins.map((twin) => twin.id) });
      for (const twin of twins) mergedInto.set(twin.id, id);
    }
  }
  const edges = new Map<string, ViewEdge>();
  for (const edge of view.edges) {
    const from = mergedInto.get(edge.from) ?? edge.from;
    const to = mergedInto.get(edge.to) ?? edge.to;
    const key = `${from}\u0000${to}\u0000${edgeText(edge)}`;
    if (!edges.has(key)) edges.set(key, { from, to, connections: edge.connections, status: edge.status });
  }
  return { title: view.title, nodes, edges: [...edges.values()] };
}

/** Splits a group's nodes into sets of twins, in order. */
function twinsOf(list: readonly ViewNode[], around: ReadonlyMap<string, ReadonlyMap<string, string>>): ViewNode[][] {
  const result = new Map<string, ViewNode[]>();
  const left: ViewNode[] = [];
  const collect = (key: string, node: ViewNode): void => {
    const twins = result.get(key);
    if (twins === undefined) result.set(key, [node]);
    else twins.push(node);
  };
  // Twins without an edge between them have the same surroundings.
  for (const node of list) collect(signature(node.id, around, undefined), node);
  for (const [key, twins] of result) {
    if (twins.length === 1) {
      left.push(twins[0]!);
      result.delete(key);
    }
  }
  // Twins with an edge have them once each is thought to have that edge to itself; the edge differs between sets.
  for (const node of left) {
    const mutual = mostCommonMutual(node.id, list, around);
    collect(mutual === undefined ? `alone ${node.id}` : `${mutual} ${signature(node.id, around, mutual)}`, node);
  }
  const order = new Map(list.map((node, i) => [node, i]));
  return [...result.values()].sort((a, b) => order.get(a[0]!)! - order.get(b[0]!)!);
}

function signature(
  id: string,
  around: ReadonlyMap<string, ReadonlyMap<string, string>>,
  self: string | undefined,
): string {
  const own = around.get(id) ?? new Map<string, string>();
  if (own.has(`>${id}`)) return `loop ${id}`;
  const entries = [...own].map(([other, text]) => `${other}\u0001${text}`);
  if (self !== undefined) entries.push(`>${id}\u0001${self}`, `<${id}\u0001${self}`);
  return entries.sort().join("\u0002");
}

/** The text of the edge that a node has both ways with most nodes of its group. */
function mostCommonMutual(
  id: string,
  list: readonly ViewNode[],
  around: ReadonlyMap<string, ReadonlyMap<string, string>>,
): string | undefined {
  const own = around.get(id);
  const counts = new Map<string, number>();
  for (const other of list) {
    const out = own?.get(`>${other.id}`);
    if (out !== undefined && out === own?.get(`<${other.id}`)) counts.set(out, (counts.get(out) ?? 0) + 1);
  }
  let best: string | undefined;
  for (const [text, count] of counts) if (best === undefined || count > counts.get(best)!) best = text;
  return best;
}

/** One node per group; an edge has what at least one of its workloads has. */
export function byGroup(view: GraphView): GraphView {
  const groupOf = new Map<string, string>();
  const nodes: ViewNode[] = [];
  for (const [group, list] of groupsOf(view)) {
    const members = list.flatMap(({ id, members: own }) => (own.length > 0 ? own : [id]));
    const size = `${members.length} ${group === OUTSIDE ? "range" : "workload"}${members.length === 1 ? "" : "s"}`;
    nodes.push({ id: group, group, lines: [group, size], members });
    for (const { id } of list) groupOf.set(id, group);
  }
  interface Merged {
    readonly from: string;
    readonly to: string;
    readonly status: EdgeStatus;
    readonly texts: Set<string>;
    set: ConnectionSet;
  }
  const edges = new Map<string, Merged>();
  for (const { from: a, to: b, status, connections } of view.edges) {
    const from = groupOf.get(a)!;
    const to = groupOf.get(b)!;
    const key = `${from}\u0000${to}\u0000${status}`;
    let merged = edges.get(key);
    if (merged === undefined) {
      merged = { from, to, status, texts: new Set(), set: ConnectionSet.NONE };
      edges.set(key, merged);
    }
    const text = describeConnections(connections);
    if (merged.texts.has(text)) continue;
    merged.texts.add(text);
    merged.set = merged.set.union(ConnectionSet.from(connections));
  }
  const list = [...edges.values()].map(({ from, to, status, set }) => ({
    from,
    to,
    status,
    connections: set.connections,
  }));
  return { title: view.title, nodes, edges: list };
}
