/** Mermaid flowchart: https://mermaid.js.org/syntax/flowchart.html */

import { condense } from "./condense.js";
import { printable } from "./text.js";
import { type EdgeStatus, edgeText, type GraphView, groupsOf } from "./view.js";

/** The renderers' default limit is 500 edges. */
const MOST_EDGES = 400;

const COLOR: Readonly<Record<Exclude<EdgeStatus, "allowed">, string>> = {
  surplus: "#c62828",
  missing: "#8a6d00",
  added: "#1b7f37",
  removed: "#c62828",
};

/** Nodes that behave alike are drawn as one where the picture would be too large for a renderer. */
export function graphMermaid(full: GraphView): string {
  const view = full.edges.length > MOST_EDGES ? condense(full) : full;
  const lines = ["---", `title: ${JSON.stringify(printable(view.title))}`, "---", "flowchart LR"];
  const names = new Map<string, string>();
  let group = 0;
  for (const [title, nodes] of groupsOf(view)) {
    lines.push(`  subgraph g${group++}["${entities(title)}"]`);
    for (const { id, lines: text } of nodes) {
      const name = `n${names.size}`;
      names.set(id, name);
      lines.push(`    ${name}["${text.map(entities).join("<br>")}"]`);
    }
    lines.push("  end");
  }
  const styles: string[] = [];
  view.edges.forEach((edge, i) => {
    const dashed = edge.status === "missing" || edge.status === "removed";
    const arrow = dashed ? "-.->" : "-->";
    lines.push(`  ${names.get(edge.from)} ${arrow}|"${entities(edgeText(edge))}"| ${names.get(edge.to)}`);
    if (edge.status !== "allowed")
      styles.push(`  linkStyle ${i} stroke:${COLOR[edge.status]},color:${COLOR[edge.status]}`);
  });
  return [...lines, ...styles, ""].join("\n");
}

/** Everything that Mermaid, Markdown or HTML could read as syntax, as entity codes. */
function entities(text: string): string {
  return printable(text).replace(/["'`<>&#;|[\]{}()\\*_~]/g, (character) => `#${character.charCodeAt(0)};`);
}
