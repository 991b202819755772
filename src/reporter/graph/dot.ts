/** Graphviz text: https://graphviz.org/doc/info/lang.html */

import { printable } from "./text.js";
import { type EdgeStatus, edgeText, type GraphView, groupsOf } from "./view.js";

const STYLE: Readonly<Record<EdgeStatus, string>> = {
  allowed: "",
  surplus: ', color="#c62828", fontcolor="#c62828", penwidth=2',
  missing: ', color="#8a6d00", fontcolor="#8a6d00", style=dashed',
  added: ', color="#1b7f37", fontcolor="#1b7f37", penwidth=2',
  removed: ', color="#c62828", fontcolor="#c62828", style=dashed',
};

export function graphDot(view: GraphView): string {
  const lines = [
    "digraph network {",
    "  rankdir=LR;",
    `  label=${quote(view.title)};`,
    '  node [shape=box, style=rounded, fontname="sans-serif"];',
    '  edge [fontname="sans-serif", fontsize=10];',
  ];
  let cluster = 0;
  for (const [group, nodes] of groupsOf(view)) {
    lines.push(`  subgraph cluster_${cluster++} {`, `    label=${quote(group)};`);
    for (const { id, lines: text } of nodes) lines.push(`    ${quote(id)} [label=${quote(text.join("\n"))}];`);
    lines.push("  }");
  }
  for (const edge of view.edges) {
    lines.push(`  ${quote(edge.from)} -> ${quote(edge.to)} [label=${quote(edgeText(edge))}${STYLE[edge.status]}];`);
  }
  lines.push("}", "");
  return lines.join("\n");
}

/** A quoted id: only the quote and the backslash are special; a line break is written `\n`. */
function quote(text: string): string {
  const parts = text.split("\n").map((part) => printable(part).replace(/["\\]/g, "\\$&"));
  return `"${parts.join("\\n")}"`;
}
