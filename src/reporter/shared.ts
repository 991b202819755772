/** What all reporters share: their input, places as lines and columns, texts made safe to show. */
import type { Diagnostic } from "../engine/diagnostic.js";
import { compareDiagnostics, compareText } from "../engine/diagnostic.js";
import type { RuleCrash } from "../engine/lint.js";
import type { Input, LintResult } from "../engine/result.js";
import type { Rule } from "../engine/rule.js";
import { secretSpans } from "../model/secret-spans.js";
import type { Position, Source, Span } from "../text/source.js";

type Style = (text: string) => string;

/** How texts are marked in a terminal; each gives its text back unchanged where colour is off. */
export interface Palette {
  readonly error: Style;
  readonly warning: Style;
  readonly info: Style;
  readonly success: Style;
  readonly strong: Style;
  readonly dim: Style;
  /** A text that leads to an address (OSC 8), where the terminal can. */
  readonly link: (text: string, url: string) => string;
}

const same: Style = (text) => text;

/** No colour, no links. */
export const PLAIN: Palette = {
  error: same,
  warning: same,
  info: same,
  success: same,
  strong: same,
  dim: same,
  link: same,
};

/** The part of chalk that is used. */
export interface ChalkLike {
  readonly red: Style;
  readonly yellow: Style;
  readonly cyan: Style;
  readonly green: Style;
  readonly bold: Style;
  readonly dim: Style;
}

/** A palette of chalk's colours; `hyperlinks` says whether the terminal understands OSC 8. */
export function paletteOf(chalk: ChalkLike, hyperlinks: boolean): Palette {
  return {
    error: (t) => chalk.bold(chalk.red(t)),
    warning: (t) => chalk.bold(chalk.yellow(t)),
    info: (t) => chalk.bold(chalk.cyan(t)),
    success: (t) => chalk.bold(chalk.green(t)),
    strong: (t) => chalk.bold(t),
    dim: (t) => chalk.dim(t),
    link: hyperlinks ? (text, url) => `\u001b]8;;${encodeControls(url)}\u001b\\${text}\u001b]8;;\u001b\\` : same,
  };
}

function encodeControls(url: string): string {
  return url.replace(/[\u0000-\u0020\u007f-\u{10ffff}]/gu, (c) => encodeURIComponent(wellFormed(c)));
}

export interface ReportContext {
  readonly rules: ReadonlyMap<string, Rule>;
  readonly color: Palette;
  /** Where a rule is documented; an absolute address. */
  readonly urlOf: (rule: string) => string;
  /** Columns of the terminal; undefined: output is not wrapped, code is cut at 120. */
  readonly width?: number | undefined;
  /** A file's path as the reader of this format needs it (from the working directory or the repository's root). */
  readonly pathOf?: ((file: string) => string) | undefined;
  /** The part of a run that the result is. */
  readonly shard?: { readonly index: number; readonly count: number } | undefined;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

export function rangeOf({ source, start, end }: Span): Range {
  return { start: source.position(start), end: source.position(end) };
}

export function pathOf(context: ReportContext, file: string): string {
  return context.pathOf === undefined ? file : context.pathOf(file);
}

/** What stands for the value of a secret, whatever its length. */
export const MASK = "••••••";

/** A quoted line of a message can be that of its places; a place of more lines is a whole object. */
const MASKED_LINES = 200;

/** The secrets of the lines of a place, as texts. */
function secretsAt({ source, start, end }: Span): string[] {
  const first = source.position(start).line;
  const last = Math.min(source.position(end).line, first + MASKED_LINES);
  const from = source.lineStarts[first - 1]!;
  const to = source.lineStarts[last] ?? source.text.length;
  return secretSpans(source)
    .filter((s) => s.start < to && s.end > from)
    .map((s) => source.slice(s).trim());
}

/** A finding whose texts quote no secret of the lines that they speak of. */
function masked(d: Diagnostic): Diagnostic {
  const secrets = [d.at, ...d.related.map((r) => r.at)].flatMap(secretsAt).filter((s) => s.length > 2);
  if (secrets.length === 0) return d;
  const hide = (text: string): string => {
    let out = text;
    for (const secret of secrets) {
      let i = out.indexOf(secret);
      while (i >= 0) {
        // inside a longer word it is another word
        const before = /\w/.test(out[i - 1] ?? "") && /\w/.test(secret[0]!);
        const after = /\w/.test(out[i + secret.length] ?? "") && /\w/.test(secret.at(-1)!);
        if (!before && !after) out = out.slice(0, i) + MASK + out.slice(i + secret.length);
        i = out.indexOf(secret, i + (before || after ? 1 : MASK.length));
      }
    }
    return out;
  };
  return Object.assign({}, d, {
    message: hide(d.message),
    help: d.help === undefined ? undefined : hide(d.help),
    related: d.related.map((r) => ({ at: r.at, message: hide(r.message) })),
  });
}

/** Findings in the one order that all formats print, whatever the order in which they were found; secrets masked. */
export function ordered(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...diagnostics].sort(compareDiagnostics).map(masked);
}

export function orderedInputs(inputs: readonly Input[]): Input[] {
  return [...inputs].sort(
    (a, b) =>
      compareText(a.file, b.file) || compareText(a.kind, b.kind) || compareText(a.contract ?? "", b.contract ?? ""),
  );
}

export function orderedCrashes(crashes: readonly RuleCrash[]): RuleCrash[] {
  return [...crashes].sort(
    (a, b) =>
      compareText(a.rule, b.rule) ||
      compareText(a.contract, b.contract) ||
      compareText(a.file, b.file) ||
      compareText(a.error.message, b.error.message),
  );
}

/** `rule k8s/x crashed on file.yaml: TypeError: …`; the same words in every format and on standard error. */
export function crashText(crash: RuleCrash): string {
  return `rule ${crash.rule} crashed on ${crash.file}: ${crash.error.name}: ${crash.error.message}`;
}

/** The text of a 1-based line, without its line break. */
export function lineText(source: Source, line: number): string {
  const starts = source.lineStarts;
  const from = starts[line - 1] ?? source.text.length;
  let to = starts[line] ?? source.text.length;
  if (to > from && source.text.charCodeAt(to - 1) === 10) to--;
  if (to > from && source.text.charCodeAt(to - 1) === 13) to--;
  return source.text.slice(from, to);
}

/** Lone surrogates as U+FFFD, so that a text can be written as UTF-8 or put in an address. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

// C0 and C1 controls, DEL, direction marks and overrides, line separators, what has no width, lone surrogates
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]|\p{Surrogate}/gu;

/**
 * A text that comes from a file, made safe for a terminal and a log: control characters as their pictures (`␛`, `␊`),
 * what turns the reading direction or hides itself as `�`. One character stays one character.
 */
export function visible(text: string): string {
  return text.replace(HIDDEN, (c) => {
    const code = c.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}

/** JSON of a value, indented, with a last line break; characters that a terminal would obey are escaped. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2);
  return `${text.replace(/[\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g, escapeUnit)}\n`;
}

function escapeUnit(c: string): string {
  return `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `2 errors, 1 warning`; without findings `no findings`. */
export function countText(counts: { errors: number; warnings: number; infos: number }): string {
  const parts: string[] = [];
  if (counts.errors > 0) parts.push(plural(counts.errors, "error"));
  if (counts.warnings > 0) parts.push(plural(counts.warnings, "warning"));
  if (counts.infos > 0) parts.push(plural(counts.infos, "info"));
  return parts.length === 0 ? "no findings" : parts.join(", ");
}

export function countOf(diagnostics: readonly Diagnostic[]): { errors: number; warnings: number; infos: number } {
  const counts = { errors: 0, warnings: 0, infos: 0 };
  for (const { severity } of diagnostics) {
    if (severity === "error") counts.errors++;
    else if (severity === "warning") counts.warnings++;
    else counts.infos++;
  }
  return counts;
}

/** `2 errors, 1 warning in 3 files`. */
export function headline(result: LintResult): string {
  const files = new Set(result.diagnostics.map((d) => d.at.source.file)).size;
  const text = countText(countOf(result.diagnostics));
  return files === 0 ? text : `${text} in ${plural(files, "file")}`;
}

/** What belongs to a summary beside the headline: suppressed, baselined, crashed, and how much was checked. */
export function asides(result: LintResult): string[] {
  const { summary, crashes } = result;
  const out: string[] = [];
  if (summary.suppressed > 0) out.push(`${summary.suppressed} suppressed`);
  if (summary.baselined > 0) out.push(`${summary.baselined} in the baseline`);
  const fixable = result.diagnostics.filter((d) => d.fix !== undefined).length;
  if (fixable > 0) out.push(`${fixable} fixable with --fix`);
  if (crashes.length > 0) out.push(plural(crashes.length, "rule crash", "rule crashes"));
  out.push(`${plural(summary.documents, "document")} of ${plural(summary.contracts, "contract")} checked`);
  return out;
}

/** Findings grouped by file, in order. */
export function byFile(diagnostics: readonly Diagnostic[]): Map<string, Diagnostic[]> {
  const groups = new Map<string, Diagnostic[]>();
  for (const d of ordered(diagnostics)) {
    const group = groups.get(d.at.source.file);
    if (group === undefined) groups.set(d.at.source.file, [d]);
    else group.push(d);
  }
  return groups;
}

/** The first sentence of a text, on one line. */
export function firstSentence(text: string): string {
  const line = oneLine(text);
  const end = /[.!?](?=\s+[\p{Lu}`"(])/u;
  let at = 0;
  for (;;) {
    const found = end.exec(line.slice(at));
    if (found === null) return line;
    const stop = at + found.index + 1;
    if (!/\b(?:e\.g|i\.e|etc|vs|cf|approx|no)\.$/i.test(line.slice(0, stop))) return line.slice(0, stop);
    at = stop;
  }
}

export function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

/** What would be right: the message's own help, else the rule's. */
export function helpOf(d: Diagnostic, context: ReportContext): string | undefined {
  return d.help ?? context.rules.get(d.rule)?.docs.fix;
}
