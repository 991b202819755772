/** The edge list for people at a terminal. */

import { describeConnections } from "../../model/kubernetes/connections.js";
import type { GraphDiff } from "./diff.js";
import { edgeText, type GraphView, summary } from "./view.js";

/** Longer targets do not push the others' connections to the right. */
const WIDEST = 72;

/** One block per source; nodes without an edge are named at the end. */
export function* graphTextChunks(view: GraphView): Generator<string> {
  yield `${view.title}: ${summary(view)}\n`;
  const { edges } = view;
  const seen = new Set<string>();
  for (let i = 0; i < edges.length; ) {
    const { from } = edges[i]!;
    let end = i;
    let width = 0;
    while (end < edges.length && edges[end]!.from === from) {
      const { length } = edges[end]!.to;
      if (length <= WIDEST) width = Math.max(width, length);
      seen.add(edges[end]!.to);
      end++;
    }
    seen.add(from);
    let block = `\n${printable(from)}\n`;
    for (; i < end; i++) {
      const edge = edges[i]!;
      block += `  → ${printable(edge.to).padEnd(width)}  ${edgeText(edge)}\n`;
    }
    yield block;
  }
  const alone = view.nodes.filter(({ id }) => !seen.has(id));
  if (alone.length > 0) {
    yield "\nNo edge at all:\n";
    for (const { id } of alone) yield `  ${printable(id)}\n`;
  }
}

export function graphText(view: GraphView): string {
  return [...graphTextChunks(view)].join("");
}

/** `+` new, `-` gone, `~` other connections than before. */
export function diffText(diff: GraphDiff): string {
  if (diff.changes.length === 0) return "No difference in the network edges.\n";
  let text = "";
  for (const { change, from, to, before, after } of diff.changes) {
    const sign = change === "added" ? "+" : change === "removed" ? "-" : "~";
    const what =
      change === "changed"
        ? `${describeConnections(before)} → ${describeConnections(after)}`
        : describeConnections(change === "added" ? after : before);
    text += `${sign} ${printable(from)} → ${printable(to)}  ${what}\n`;
  }
  return text;
}

/** Names come from files: control characters must not reach a terminal. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu, "\ufffd");
}
