/**
 * The graph as one self-contained SVG picture, laid out here and now: no script, no font file, no reference outwards.
 * Colours follow the reader's light or dark scheme; a status is told by words and dashes too, never by colour alone.
 */

import { byGroup, condense } from "./condense.js";
import { printable } from "./text.js";
import {
  edgeText,
  type GraphView,
  groupsOf,
  OUTSIDE,
  STATUSES,
  summary,
  type ViewEdge,
  type ViewNode,
} from "./view.js";

export interface SvgOptions {
  /** Prefix of the ids in the picture; to be unique where several are put into one page. */
  readonly idPrefix?: string;
}

/** From here on nodes that behave alike are drawn as one; and beyond `MOST` each group as one. */
const CONDENSE = { nodes: 24, edges: 32 };
const MOST = { nodes: 60, edges: 140 };
/** Beyond this many edges nobody looks for what behaves alike. */
const MOST_TO_CONDENSE = 20_000;
/** Sentences in the text alternative. */
const MOST_SENTENCES = 400;

const FONT = 13;
const SMALL = 11;
const LINE = 16;

interface Box {
  readonly node: ViewNode;
  /** What its own pods may do among themselves. */
  readonly loops: readonly ViewEdge[];
  readonly width: number;
  readonly height: number;
  x: number;
  y: number;
}

interface Arrow {
  readonly edge: ViewEdge;
  /** The same the other way round too: drawn as one line with two heads. */
  readonly both: boolean;
  readonly lines: readonly string[];
  points: readonly { readonly x: number; readonly y: number }[];
  x: number;
  y: number;
}

/** Draws the view. Larger graphs are condensed, and the picture says so. */
export async function graphSvg(full: GraphView, options: SvgOptions = {}): Promise<string> {
  const { view, note } = shrink(full);
  const boxes = new Map<string, Box>();
  for (const node of view.nodes) boxes.set(node.id, makeBox(node, view.edges));
  const arrows = makeArrows(view.edges);
  const groups = groupsOf(view);
  const size = await layOut(boxes, arrows, groups);
  return draw(full, view, note, boxes, arrows, size, options.idPrefix ?? "network");
}

function shrink(full: GraphView): { view: GraphView; note: string | undefined } {
  const fits = (view: GraphView, limit: { nodes: number; edges: number }): boolean =>
    view.nodes.length <= limit.nodes && view.edges.length <= limit.edges;
  if (fits(full, CONDENSE)) return { view: full, note: undefined };
  const condensed = full.edges.length > MOST_TO_CONDENSE ? full : condense(full);
  const merged = condensed.nodes.length < full.nodes.length;
  if (fits(condensed, MOST)) {
    return {
      view: condensed,
      note: merged ? "Workloads that talk with the same others in the same way are drawn as one." : undefined,
    };
  }
  const grouped = byGroup(condensed);
  if (fits(grouped, MOST))
    return {
      view: grouped,
      note: "Too large to draw each workload: one box per group; an arrow has what at least one workload may open.",
    };
  const empty: GraphView = { title: full.title, nodes: [], edges: [] };
  return { view: empty, note: "Too large to draw. The text and JSON formats list every edge." };
}

// --- sizes --------------------------------------------------------------------------------------------------------------

/** An upper estimate of the width of a text in a common sans-serif font. */
function widthOf(text: string, size: number): number {
  let em = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (code > 0x2e80) em += 1.05;
    else if (/[iljtfr.,:;|'![\]() ]/.test(character)) em += 0.4;
    else if (/[mwMW@%]/.test(character)) em += 0.95;
    else if (code >= 65 && code <= 90) em += 0.72;
    else em += 0.62;
  }
  return em * size;
}

/** At most `most` characters, the middle left out: beginnings and ends tell names apart. */
function shorten(text: string, most: number): string {
  const characters = [...printable(text)];
  if (characters.length <= most) return characters.join("");
  const head = Math.ceil((most - 1) / 2);
  return `${characters.slice(0, head).join("")}…${characters.slice(characters.length - (most - 1 - head)).join("")}`;
}

function makeBox(node: ViewNode, edges: readonly ViewEdge[]): Box {
  const loops = edges.filter(({ from, to }) => from === node.id && to === node.id);
  const texts = [...node.lines.map((line) => shorten(line, 40)), ...loops.map(loopText)];
  const width = Math.max(90, ...texts.map((text, i) => widthOf(text, i === 0 ? FONT * 1.06 : SMALL))) + 24;
  return {
    node,
    loops,
    width,
    height: texts.length * LINE + 16,
    x: 0,
    y: 0,
  };
}

function loopText(edge: ViewEdge): string {
  return `among themselves: ${shorten(edgeText(edge), 34)}`;
}

function makeArrows(edges: readonly ViewEdge[]): Arrow[] {
  const key = (from: string, to: string, edge: ViewEdge): string => `${from}\u0000${to}\u0000${edgeText(edge)}`;
  const all = new Set(edges.map((edge) => key(edge.from, edge.to, edge)));
  const arrows: Arrow[] = [];
  for (const edge of edges) {
    if (edge.from === edge.to) continue;
    const both = all.has(key(edge.to, edge.from, edge));
    if (both && edge.from > edge.to) continue;
    const lines = edgeText(edge)
      .split(", ")
      .map((line) => shorten(line, 30));
    const shown = lines.length > 4 ? [...lines.slice(0, 3), "…"] : lines;
    arrows.push({ edge, both, lines: shown, points: [], x: 0, y: 0 });
  }
  return arrows;
}

// --- layout -------------------------------------------------------------------------------------------------------------

interface Cluster {
  readonly group: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

async function layOut(
  boxes: ReadonlyMap<string, Box>,
  arrows: readonly Arrow[],
  groups: ReadonlyMap<string, readonly ViewNode[]>,
): Promise<{ width: number; height: number; clusters: Cluster[] }> {
  if (boxes.size === 0) return { width: 480, height: 0, clusters: [] };
  const { Graph, layout } = await import("@dagrejs/dagre");
  const graph = new Graph({ directed: true, multigraph: true, compound: true });
  graph.setGraph({ rankdir: "LR", nodesep: 34, ranksep: 44, edgesep: 18, marginx: 24, marginy: 32 });
  // Plain names keep hostile ids out of the layout.
  const names = new Map<string, string>();
  [...groups.keys()].forEach((group, g) => {
    const clustered = group !== OUTSIDE;
    if (clustered) graph.setNode(`g${g}`, {});
    for (const { id } of groups.get(group)!) {
      const name = `n${names.size}`;
      names.set(id, name);
      const { width, height } = boxes.get(id)!;
      graph.setNode(name, { width, height });
      if (clustered) graph.setParent(name, `g${g}`);
    }
  });
  arrows.forEach(({ edge, lines }, i) => {
    const width = Math.max(...lines.map((line) => widthOf(line, SMALL))) + 10;
    const label = { width, height: lines.length * (LINE - 2) + 4, labelpos: "c" };
    graph.setEdge(names.get(edge.from)!, names.get(edge.to)!, label, `e${i}`);
  });
  layout(graph);
  for (const [id, name] of names) {
    const { x, y } = graph.node(name) as { x: number; y: number };
    const box = boxes.get(id)!;
    box.x = x;
    box.y = y;
  }
  arrows.forEach((arrow, i) => {
    const placed = graph.edge(names.get(arrow.edge.from)!, names.get(arrow.edge.to)!, `e${i}`) as {
      points: { x: number; y: number }[];
      x: number;
      y: number;
    };
    arrow.points = placed.points;
    arrow.x = placed.x;
    arrow.y = placed.y;
  });
  const clusters = [...groups.keys()].flatMap((group, g): Cluster[] => {
    if (group === OUTSIDE) return [];
    const { x, y, width, height } = graph.node(`g${g}`) as Cluster;
    return [{ group, x, y, width, height }];
  });
  const { width = 480, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { width, height, clusters };
}

// --- drawing ------------------------------------------------------------------------------------------------------------

const CSS = `
.qg{font-family:ui-sans-serif,system-ui,"Segoe UI","DejaVu Sans",Helvetica,Arial,sans-serif;font-size:${FONT}px}
.qg .paper{fill:#fff}.qg text{fill:#1f2328}.qg .small{font-size:${SMALL}px;fill:#57606a}.qg .title{font-size:16px;font-weight:600}
.qg .name{font-weight:600}.qg .box{fill:#fff;stroke:#57606a;stroke-width:1.2}
.qg .group{fill:#f3f5f8;stroke:#c3cad3}.qg .group-name{font-weight:600;fill:#57606a}
.qg .line{fill:none;stroke:#57606a;stroke-width:1.4}.qg .head{fill:#57606a}.qg .chip{fill:#fff;fill-opacity:.88}
.qg .label{font-size:${SMALL}px}
.qg .surplus .line,.qg .line.surplus{stroke:#c62828;stroke-width:2.2}.qg .head.surplus{fill:#c62828}.qg text.surplus{fill:#b71c1c;font-weight:600}
.qg .missing .line,.qg .line.missing{stroke:#8a6d00;stroke-width:1.8;stroke-dasharray:7 5}.qg .head.missing{fill:#8a6d00}.qg text.missing{fill:#735b00;font-weight:600}
.qg .added .line,.qg .line.added{stroke:#1b7f37;stroke-width:2.2}.qg .head.added{fill:#1b7f37}.qg text.added{fill:#146c2e;font-weight:600}
.qg .removed .line,.qg .line.removed{stroke:#c62828;stroke-width:1.8;stroke-dasharray:7 5}.qg .head.removed{fill:#c62828}.qg text.removed{fill:#b71c1c;font-weight:600}
@media (prefers-color-scheme:dark){
.qg .paper{fill:#0d1117}.qg text{fill:#e6edf3}.qg .small,.qg .group-name{fill:#9aa4b0}.qg .box{fill:#161b22;stroke:#9aa4b0}
.qg .group{fill:#12171e;stroke:#39424d}.qg .line{stroke:#9aa4b0}.qg .head{fill:#9aa4b0}.qg .chip{fill:#0d1117}
.qg .surplus .line,.qg .line.surplus,.qg .removed .line,.qg .line.removed{stroke:#ff7b72}.qg .head.surplus,.qg .head.removed,.qg text.surplus,.qg text.removed{fill:#ff7b72}
.qg .missing .line,.qg .line.missing{stroke:#e3b341}.qg .head.missing,.qg text.missing{fill:#e3b341}
.qg .added .line,.qg .line.added{stroke:#56d364}.qg .head.added,.qg text.added{fill:#56d364}}
`;

function draw(
  full: GraphView,
  view: GraphView,
  note: string | undefined,
  boxes: ReadonlyMap<string, Box>,
  arrows: readonly Arrow[],
  size: { width: number; height: number; clusters: readonly Cluster[] },
  prefix: string,
): string {
  const shown = STATUSES.filter((status) => view.edges.some((edge) => edge.status === status));
  const legend = shown.some((status) => status !== "allowed");
  const heading = note === undefined ? [summary(full)] : [summary(full), note];
  const top = 34 + heading.length * LINE;
  const texts = [full.title, ...heading];
  const width = Math.ceil(
    Math.max(
      size.width,
      ...texts.map((text, i) => widthOf(text, i === 0 ? 17 : SMALL) + 48),
      legend ? shown.length * 110 + 48 : 0,
    ),
  );
  const height = Math.ceil(top + size.height + (legend ? 36 : 8));
  const id = prefix.replace(/[^A-Za-z0-9_-]/g, "-");
  const out: string[] = [
    `<svg class="qg" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="${id}-title ${id}-desc">`,
    `<title id="${id}-title">${xml(full.title)}</title>`,
    `<desc id="${id}-desc">${xml(alternative(full))}</desc>`,
    `<style>${CSS}</style>`,
    "<defs>",
    ...shown.map(
      (status) =>
        `<marker id="${id}-${status}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path class="head ${status}" d="M0 0.5 10 5 0 9.5z"/></marker>`,
    ),
    "</defs>",
    `<rect class="paper" width="${width}" height="${height}" rx="8"/>`,
    `<text class="title" x="24" y="30">${xml(full.title)}</text>`,
    ...heading.map((text, i) => `<text class="small" x="24" y="${30 + (i + 1) * LINE}">${xml(text)}</text>`),
    `<g transform="translate(0 ${top})">`,
  ];
  for (const cluster of size.clusters) {
    const x = cluster.x - cluster.width / 2;
    // The layout leaves room for the name, and for a gap to the next group.
    const y = cluster.y - cluster.height / 2 - 8;
    const title = shorten(
      cluster.group === "" ? "(no namespace)" : cluster.group,
      Math.max(12, Math.floor(cluster.width / 8)),
    );
    out.push(
      `<rect class="group" x="${n(x)}" y="${n(y)}" width="${n(cluster.width)}" height="${n(cluster.height)}" rx="8"/>`,
      `<text class="group-name" x="${n(x + 12)}" y="${n(y + 18)}">${xml(title)}</text>`,
    );
  }
  for (const arrow of arrows) {
    const { edge, both } = arrow;
    const start = both ? ` marker-start="url(#${id}-${edge.status})"` : "";
    out.push(
      `<g class="edge ${edge.status}"><title>${xml(sentence(edge, both))}</title><path class="line" d="${curve(arrow.points)}" marker-end="url(#${id}-${edge.status})"${start}/></g>`,
    );
  }
  for (const arrow of arrows) out.push(...label(arrow));
  for (const box of boxes.values()) out.push(...drawBox(box));
  out.push("</g>");
  if (legend) {
    shown.forEach((status, i) => {
      const x = 24 + i * 110;
      const y = height - 18;
      out.push(
        `<path class="line ${status}" d="M${x} ${y}h34" marker-end="url(#${id}-${status})"/>`,
        `<text class="label ${status}" x="${x + 42}" y="${y + 4}">${status}</text>`,
      );
    });
  }
  out.push("</svg>", "");
  return out.join("\n");
}

function drawBox({ node, loops, width, height, x, y }: Box): string[] {
  const left = x - width / 2;
  const top = y - height / 2;
  const members = node.members.length > 0 ? node.members : [node.id];
  const title = members.slice(0, 200).map(printable).join("\n");
  const out = [
    `<g><title>${xml(title)}</title>`,
    `<rect class="box" x="${n(left)}" y="${n(top)}" width="${n(width)}" height="${n(height)}" rx="${node.group === OUTSIDE ? 20 : 6}"/>`,
  ];
  const lines = [
    ...node.lines.map((line) => ({ text: shorten(line, 40), status: "" })),
    ...loops.map((edge) => ({ text: loopText(edge), status: edge.status })),
  ];
  lines.forEach(({ text, status }, i) => {
    const style = i === 0 ? "name" : status === "" || status === "allowed" ? "small" : `small ${status}`;
    out.push(
      `<text class="${style}" x="${n(x)}" y="${n(top + 21 + i * LINE)}" text-anchor="middle">${xml(text)}</text>`,
    );
  });
  out.push("</g>");
  return out;
}

function label({ edge, lines, x, y }: Arrow): string[] {
  const step = LINE - 2;
  const width = Math.max(...lines.map((line) => widthOf(line, SMALL))) + 6;
  const top = y - (lines.length * step) / 2;
  return [
    `<rect class="chip" x="${n(x - width / 2)}" y="${n(top - 1)}" width="${n(width)}" height="${lines.length * step + 2}" rx="4"/>`,
    ...lines.map(
      (line, i) =>
        `<text class="label ${edge.status}" x="${n(x)}" y="${n(top + i * step + 11)}" text-anchor="middle">${xml(line)}</text>`,
    ),
  ];
}

/** A smooth line that starts at the first and ends at the last point and follows those between. */
function curve(points: readonly { readonly x: number; readonly y: number }[]): string {
  const [first, ...rest] = points;
  const last = rest.pop();
  if (first === undefined || last === undefined) return "";
  let path = `M${n(first.x)} ${n(first.y)}`;
  rest.forEach((point, i) => {
    const next = rest[i + 1] ?? last;
    const end = i + 1 < rest.length ? { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 } : last;
    path += `Q${n(point.x)} ${n(point.y)} ${n(end.x)} ${n(end.y)}`;
  });
  return rest.length === 0 ? `${path}L${n(last.x)} ${n(last.y)}` : path;
}

/** The same content as the picture, in words. */
function alternative(view: GraphView): string {
  const sentences = view.edges.slice(0, MOST_SENTENCES).map((edge) => sentence(edge, false));
  if (view.edges.length > sentences.length) {
    sentences.push(`And ${view.edges.length - sentences.length} more edges; the text format lists all.`);
  }
  return [`${summary(view)}.`, ...sentences].join("\n");
}

function sentence(edge: ViewEdge, both: boolean): string {
  const { from, to, status } = edge;
  return `${printable(from)} ${both ? "and" : "to"} ${printable(to)}${both ? " both ways" : ""}: ${edgeText({ ...edge, status })}.`;
}

/** Two decimals at most. */
function n(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Text for XML: markup escaped, characters that XML 1.0 forbids replaced. */
function xml(text: string): string {
  const clean = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd");
  return clean.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
