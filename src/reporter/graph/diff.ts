/** What differs between the edges of two trees. */

import { type Connection, ConnectionSet } from "../../model/kubernetes/connections.js";
import { type AddressRange, formatRange, parseRange } from "../../model/kubernetes/ip.js";
import type { NetworkEdge } from "../../model/kubernetes/network.js";
import { push } from "../../model/multimap.js";
import { byText, type EdgeStatus, isExternal } from "./view.js";

export interface EdgeChange {
  readonly change: "added" | "removed" | "changed";
  readonly from: string;
  readonly to: string;
  readonly before: readonly Connection[];
  readonly after: readonly Connection[];
}

export interface GraphDiff {
  readonly version: 1;
  readonly changes: readonly EdgeChange[];
}

interface Piece {
  readonly range: AddressRange;
  readonly connections: readonly Connection[];
}

/**
 * Compares two edge lists. Ranges of outside addresses are compared by the addresses in them, however each side cuts
 * them; neighbours that changed alike come as one range.
 */
export function diffGraphs(before: Iterable<NetworkEdge>, after: Iterable<NetworkEdge>): GraphDiff {
  const sides = [split(before), split(after)] as const;
  const changes: EdgeChange[] = [];
  for (const key of new Set([...sides[0].plain.keys(), ...sides[1].plain.keys()])) {
    const [from, to] = key.split("\u0000") as [string, string];
    note(changes, from, to, sides[0].plain.get(key) ?? [], sides[1].plain.get(key) ?? []);
  }
  for (const key of new Set([...sides[0].outside.keys(), ...sides[1].outside.keys()])) {
    const way = key[0];
    const workload = key.slice(1);
    for (const { range, was, is } of align(sides[0].outside.get(key) ?? [], sides[1].outside.get(key) ?? [])) {
      const id = `${formatRange(range)}[External]`;
      if (way === ">") note(changes, workload, id, was, is);
      else note(changes, id, workload, was, is);
    }
  }
  changes.sort((a, b) => byText(a.from, b.from) || byText(a.to, b.to));
  return { version: 1, changes };
}

function note(
  changes: EdgeChange[],
  from: string,
  to: string,
  before: readonly Connection[],
  after: readonly Connection[],
): void {
  if (textOf(before) === textOf(after)) return;
  const change = before.length === 0 ? "added" : after.length === 0 ? "removed" : "changed";
  changes.push({ change, from, to, before, after });
}

function textOf(connections: readonly Connection[]): string {
  return connections.map(({ protocol, ports }) => `${protocol} ${ports}`).join();
}

/** Edges between workloads by their ends; edges with the outside by way and workload. */
function split(edges: Iterable<NetworkEdge>): {
  plain: Map<string, readonly Connection[]>;
  outside: Map<string, Piece[]>;
} {
  const plain = new Map<string, readonly Connection[]>();
  const outside = new Map<string, Piece[]>();
  for (const { from, to, connections } of edges) {
    const external = isExternal(to) ? to : isExternal(from) ? from : undefined;
    const range = external === undefined ? undefined : parseRange(external.slice(0, -"[External]".length));
    if (external === undefined || range === undefined) {
      plain.set(`${from}\u0000${to}`, connections);
      continue;
    }
    const key = external === to ? `>${from}` : `<${to}`;
    push(outside, key, { range, connections });
  }
  return { plain, outside };
}

/** Both sides cut at the bounds of either, equal neighbours joined again. */
function align(
  before: readonly Piece[],
  after: readonly Piece[],
): { range: AddressRange; was: readonly Connection[]; is: readonly Connection[] }[] {
  const out: { range: AddressRange; was: readonly Connection[]; is: readonly Connection[] }[] = [];
  for (const family of [4, 6] as const) {
    const sides = [before, after].map((list) =>
      list.filter(({ range }) => range.family === family).sort((a, b) => (a.range.start < b.range.start ? -1 : 1)),
    );
    const cuts = [...new Set(sides.flat().flatMap(({ range }) => [range.start, range.end]))].sort((a, b) =>
      a < b ? -1 : 1,
    );
    const at = [0, 0];
    for (let i = 0; i + 1 < cuts.length; i++) {
      const start = cuts[i]!;
      const [was, is] = sides.map((list, side) => {
        while (at[side]! < list.length && list[at[side]!]!.range.end <= start) at[side]!++;
        const piece = list[at[side]!];
        return piece !== undefined && piece.range.start <= start ? piece.connections : [];
      }) as [readonly Connection[], readonly Connection[]];
      const last = out.at(-1);
      if (
        last !== undefined &&
        last.range.family === family &&
        last.range.end === start &&
        textOf(last.was) === textOf(was) &&
        textOf(last.is) === textOf(is)
      ) {
        out[out.length - 1] = {
          range: { family, start: last.range.start, end: cuts[i + 1]! } as AddressRange,
          was,
          is,
        };
      } else {
        out.push({ range: { family, start, end: cuts[i + 1]! } as AddressRange, was, is });
      }
    }
  }
  return out;
}

/** The changes as edges to draw: what came is `added`, what went is `removed`. */
export function diffEdges(diff: GraphDiff): (NetworkEdge & { status: EdgeStatus })[] {
  return diff.changes.flatMap(({ from, to, before, after }) => {
    const was = ConnectionSet.from(before);
    const is = ConnectionSet.from(after);
    const edges: (NetworkEdge & { status: EdgeStatus })[] = [];
    const added = is.subtract(was);
    const removed = was.subtract(is);
    if (!added.isEmpty) edges.push({ from, to, connections: added.connections, status: "added" });
    if (!removed.isEmpty) edges.push({ from, to, connections: removed.connections, status: "removed" });
    return edges;
  });
}

/** `{ "version": 1, "changes": [{ "change", "from", "to", "before", "after" }] }` */
export function diffJson(diff: GraphDiff): string {
  return `${JSON.stringify(diff, undefined, 2)}\n`;
}
