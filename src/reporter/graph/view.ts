/** What the graph reporters draw: nodes in groups, edges with a status. Pure data, made from the engine's edge list. */

import { describeConnections } from "../../model/kubernetes/connections.js";
import type { NetworkEdge } from "../../model/kubernetes/network.js";
import { push } from "../../model/multimap.js";

/**
 * `allowed`: as it should be, or nothing was declared; `surplus`: allowed but not declared; `missing`: declared but not
 * allowed; `added`, `removed`: between two trees.
 */
export type EdgeStatus = "allowed" | "surplus" | "missing" | "added" | "removed";

export const STATUSES: readonly EdgeStatus[] = ["allowed", "surplus", "missing", "added", "removed"];

export interface ViewEdge extends NetworkEdge {
  readonly status: EdgeStatus;
}

export interface ViewNode {
  readonly id: string;
  /** The group's name: a plane, or the namespace. */
  readonly group: string;
  /** Lines of text, the first is the name. */
  readonly lines: readonly string[];
  /** Ids of the nodes that this one stands for; empty: itself. */
  readonly members: readonly string[];
}

export interface GraphView {
  readonly title: string;
  /** In drawing order. */
  readonly nodes: readonly ViewNode[];
  readonly edges: readonly ViewEdge[];
}

export interface ViewOptions {
  readonly title?: string;
  /** Nodes to show even without an edge. */
  readonly nodes?: Iterable<string>;
  /** Group names of nodes by id; the namespace where there is none. */
  readonly groups?: ReadonlyMap<string, string>;
}

export const OUTSIDE = "outside the cluster";

const EXTERNAL = "[External]";

export function isExternal(id: string): boolean {
  return id.endsWith(EXTERNAL);
}

/** Parts of `namespace/name[Kind]`. */
export function parseId(id: string): { namespace: string; name: string; kind: string } {
  const bracket = id.endsWith("]") ? id.lastIndexOf("[") : -1;
  const path = bracket < 0 ? id : id.slice(0, bracket);
  const slash = path.indexOf("/");
  return {
    namespace: slash < 0 ? "" : path.slice(0, slash),
    name: path.slice(slash + 1),
    kind: bracket < 0 ? "" : id.slice(bracket + 1, -1),
  };
}

/** A node for people: `redis-data` / `StatefulSet`, `any address` / `outside, IPv4`, `10.0.0.0 – 10.255.255.255` / `outside`. */
function nodeLines(id: string): string[] {
  if (isExternal(id)) {
    const range = id.slice(0, -EXTERNAL.length);
    if (range === "0.0.0.0-255.255.255.255") return ["any address", "outside, IPv4"];
    if (range === "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff") return ["any address", "outside, IPv6"];
    const [first = "", last = ""] = range.split("-");
    return [first === last ? first : `${first} – ${last}`, "outside"];
  }
  const { name, kind } = parseId(id);
  if (kind === "") return [name];
  return [name, kind === "Unknown" ? "not in these files" : kind];
}

/** Makes the view of an edge list; edges without a status are `allowed`. */
export function graphView(
  edges: Iterable<NetworkEdge & { status?: EdgeStatus }>,
  options: ViewOptions = {},
): GraphView {
  const ids = new Set<string>(options.nodes ?? []);
  const list: ViewEdge[] = [];
  for (const { from, to, connections, status = "allowed" } of edges) {
    ids.add(from).add(to);
    list.push({ from, to, connections, status });
  }
  const nodes = [...ids].map((id): ViewNode => {
    const group = options.groups?.get(id) ?? (isExternal(id) ? OUTSIDE : parseId(id).namespace);
    return { id, group, lines: nodeLines(id), members: [] };
  });
  nodes.sort((a, b) => byText(a.group, b.group) || byText(a.id, b.id));
  return { title: options.title ?? "Network edges", nodes, edges: list.sort(byEnds) };
}

function byEnds(a: ViewEdge, b: ViewEdge): number {
  return byText(a.from, b.from) || byText(a.to, b.to) || STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status);
}

export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Nodes by group, groups in order of first appearance. */
export function groupsOf(view: GraphView): Map<string, ViewNode[]> {
  const groups = new Map<string, ViewNode[]>();
  for (const node of view.nodes) {
    push(groups, node.group, node);
  }
  return groups;
}

/** `surplus: TCP 6379`; the plain connections where nothing is special. */
export function edgeText(edge: ViewEdge): string {
  const text = describeConnections(edge.connections);
  return edge.status === "allowed" ? text : `${edge.status}: ${text}`;
}

/** One sentence about the size of the picture. */
export function summary(view: GraphView): string {
  const count = (n: number, one: string): string => `${n} ${one}${n === 1 ? "" : "s"}`;
  const parts = [count(view.nodes.length, "node"), count(view.edges.length, "edge")];
  for (const status of STATUSES.slice(1)) {
    const n = view.edges.filter((edge) => edge.status === status).length;
    if (n > 0) parts.push(`${n} ${status}`);
  }
  return parts.join(", ");
}
