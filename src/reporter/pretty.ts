/** The report for people in a terminal. */
import type { Diagnostic, Severity } from "../engine/diagnostic.js";
import type { LintResult } from "../engine/result.js";
import type { Span } from "../text/source.js";
import { displayWidth, type FrameLine, frameOf } from "./frame.js";
import {
  asides,
  byFile,
  countOf,
  countText,
  firstSentence,
  headline,
  helpOf,
  oneLine,
  type Palette,
  pathOf,
  plural,
  type ReportContext,
  visible,
} from "./shared.js";

/** Related places that get a frame; further ones are counted. */
const MAX_RELATED = 5;
const CODE_WIDTH = 120;
const MIN_WIDTH = 40;
const LABEL: Readonly<Record<Severity, string>> = { error: "error  ", warning: "warning", info: "info   " };
/** Column at which messages and notes start. */
const INDENT = 11;

/** Findings grouped by file with code frames, then one summary line. */
export function pretty(result: LintResult, context: ReportContext): string {
  const { color } = context;
  const out: string[] = [];
  for (const [file, diagnostics] of byFile(result.diagnostics)) {
    out.push(`${color.strong(visible(pathOf(context, file)))}  ${color.dim(countText(countOf(diagnostics)))}`, "");
    for (const d of diagnostics) {
      findingLines(out, d, result, context);
      out.push("");
    }
  }
  out.push(summaryLine(result, color));
  return `${out.join("\n")}\n`;
}

/** `2 errors, 1 warning in 3 files · 1 suppressed · 31 documents of 1 contract checked`. */
function summaryLine(result: LintResult, color: Palette): string {
  const counts = countOf(result.diagnostics);
  const rest = asides(result).map((text) => color.dim(` · ${text}`));
  const mood =
    counts.errors > 0 || result.crashes.length > 0
      ? color.error
      : counts.warnings > 0
        ? color.warning
        : counts.infos > 0
          ? color.info
          : color.success;
  const mark = result.diagnostics.length > 0 || result.crashes.length > 0 ? "✖" : "✔";
  return `${mood(`${mark} ${headline(result)}`)}${rest.join("")}`;
}

function findingLines(out: string[], d: Diagnostic, result: LintResult, context: ReportContext): void {
  const { color } = context;
  const tone = color[d.severity];
  const message = visible(oneLine(d.message));
  const contract = result.summary.contracts > 1 ? color.dim(`  ${visible(d.contract)}`) : "";
  const rule = color.link(color.dim(d.rule), context.urlOf(d.rule));
  // one line however long: problem matchers and grep read it together with the place below
  out.push(`  ${tone(LABEL[d.severity])}  ${color.strong(message)}  ${rule}${contract}`);

  const related = d.related.slice(0, MAX_RELATED);
  const code = Math.max(MIN_WIDTH, context.width ?? CODE_WIDTH);
  const frames = [
    frameOf(d.at, { context: 1, width: code - 12 }),
    ...related.map((r) => frameOf(r.at, { context: 0, width: code - 12 })),
  ];
  const gutter = Math.max(5, ...frames.flat().map((l) => String(l.number ?? "").length));
  out.push(`${" ".repeat(gutter + 2)}${color.dim("╭─")} ${placeText(d.at, context)}`);
  frameLines(out, frames[0]!, gutter, "^", tone, color);
  related.forEach((r, i) => {
    const text = visible(oneLine(r.message));
    out.push(`${" ".repeat(gutter + 2)}${color.dim("├─")} ${placeText(r.at, context)}  ${text}`);
    frameLines(out, frames[i + 1]!, gutter, "-", color.info, color);
  });
  const more = d.related.length - related.length;
  if (more > 0) out.push(`${" ".repeat(gutter + 2)}${color.dim("├─")} and ${plural(more, "more place")}`);
  if (related.length > 0 || frames[0]!.length > 0) out.push(`${" ".repeat(gutter + 2)}${color.dim("╰─")}`);

  const why = context.rules.get(d.rule)?.docs.why;
  if (why !== undefined) note(out, "why", visible(firstSentence(why)), context);
  const help = helpOf(d, context);
  if (help !== undefined) note(out, "fix", visible(oneLine(help)), context);
}

function note(out: string[], label: string, text: string, context: ReportContext): void {
  const head = `${" ".repeat(INDENT - label.length - 2)}${context.color.dim(`${label}:`)} `;
  wrap(text, context.width).forEach((line, i) => {
    out.push((i === 0 ? head : " ".repeat(INDENT)) + line);
  });
}

function placeText(at: Span, context: ReportContext): string {
  const { line, column } = at.source.position(at.start);
  return `${visible(pathOf(context, at.source.file))}:${line}:${column}`;
}

function frameLines(
  out: string[],
  frame: readonly FrameLine[],
  gutter: number,
  sign: string,
  tone: (text: string) => string,
  color: Palette,
): void {
  for (const { number, text, mark } of frame) {
    const label = number === undefined ? "" : String(number);
    const head = `${" ".repeat(1 + gutter - label.length)}${color.dim(label)} ${color.dim("│")}`;
    const body = mark === undefined ? color.dim(text) : text;
    out.push(text === "" ? head : `${head} ${body}`);
    if (mark === undefined) continue;
    const run = sign.repeat(Math.max(1, mark.to - mark.from));
    out.push(`${" ".repeat(gutter + 2)}${color.dim("│")} ${" ".repeat(mark.from)}${tone(run)}`);
  }
}

/** Breaks a text at spaces; words longer than a line stay whole, so that an address in it can be followed. */
function wrap(text: string, width: number | undefined): string[] {
  if (width === undefined) return [text];
  const room = Math.max(MIN_WIDTH, width) - INDENT;
  const lines: string[] = [];
  let line = "";
  let used = 0;
  for (const word of text.split(" ")) {
    const size = displayWidth(word);
    if (line !== "" && used + 1 + size > room) {
      lines.push(line);
      line = word;
      used = size;
    } else {
      line = line === "" ? word : `${line} ${word}`;
      used += (used === 0 ? 0 : 1) + size;
    }
  }
  lines.push(line);
  return lines;
}
