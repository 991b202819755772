/**
 * Suppressions: comments `quorumlint: ignore[RULE, …] reason` in files and `suppress:` entries of the contract file.
 * One without a reason, with an unknown rule, out of date or in a wrong place suppresses nothing and is itself a finding
 * of `quorumlint/suppression`, as is one that nothing needs.
 */
import { parseYaml, type YamlDocument } from "../document/yaml.js";
import type { FileKind } from "../model/input.js";
import { didYouMean } from "../text/similar.js";
import { type Edit, type Source, type Span, TextView } from "../text/source.js";
import { compareText, type Diagnostic, type Fix, type Severity, settle } from "./diagnostic.js";
import { fill, messageSpec, type Rule } from "./rule.js";

/** The rule that reports faulty suppressions; it cannot be suppressed itself. */
export const SUPPRESSION_RULE = "quorumlint/suppression";

/** A text that may hold suppression comments: a file, or (with `view`) a document embedded in one. */
export interface CommentedText {
  readonly source: Source;
  readonly kind: FileKind;
  /** The contract under which faults of its comments are reported. */
  readonly contract: string;
  readonly view?: TextView | undefined;
  /** The parsed documents of a YAML file; parsed here on demand when absent. */
  readonly documents?: readonly YamlDocument[] | undefined;
}

/** An entry of `suppress:` in the contract file. `until` is `YYYY-MM-DD`, the last day on which it holds. */
export interface DeclaredSuppression {
  readonly rule: string;
  /** Path or glob of the files meant; undefined means every file. */
  readonly file: string | undefined;
  readonly reason: string | undefined;
  readonly until?: string | undefined;
  /** A message id, or a part of a message's text. */
  readonly message?: string | undefined;
  /** The contract under which faults of the entry are reported. */
  readonly contract: string;
  /** The entry, and its parts where faults of them are reported. */
  readonly at: Span;
  readonly ruleAt?: Span | undefined;
  readonly untilAt?: Span | undefined;
}

export interface Suppression {
  readonly kind: "inline" | "contract";
  /** A rule id, or `pack/*`. */
  readonly rule: string;
  readonly reason: string;
  /** The path (inline) or path glob (contract file) that it holds for; undefined: everywhere. */
  readonly file: string | undefined;
  /** Offsets of the line that an inline one holds for. */
  readonly line: { readonly start: number; readonly end: number } | undefined;
  readonly until: string | undefined;
  readonly message: string | undefined;
  readonly contract: string;
  /** Where faults are reported: the rule id, the date. */
  readonly at: Span;
  readonly untilAt: Span;
  /** A comment that is no suppression: wrong form, or in a place where it is not a comment. */
  readonly fault: { readonly message: "malformed" | "misplaced"; readonly detail: string } | undefined;
  /** Takes the comment (or its one rule id) away. */
  readonly removal: Fix | undefined;
}

export interface SuppressionOptions {
  /** `quorumlint/suppression` from the registry: its messages are the texts of the problems. */
  readonly rule: Rule;
  /** Every rule id that exists. */
  readonly known: ReadonlySet<string>;
  /** `YYYY-MM-DD`. */
  readonly today: string;
  /** Whether a rule ran in full: what did not run cannot show that its suppression is unused. Default: all did. */
  readonly ran?: ((rule: string) => boolean) | undefined;
  /** Severity of problems in a contract (settings, inferred contracts). Default: the rule's. */
  readonly severity?: ((contract: string) => Severity | "off") | undefined;
  /** Whether a `file:` glob names a file. Default: equality. */
  readonly matches?: ((pattern: string, file: string) => boolean) | undefined;
}

export interface SuppressionResult {
  readonly active: readonly Diagnostic[];
  readonly suppressed: readonly Diagnostic[];
  /** Findings of `quorumlint/suppression`, not part of `active`. */
  readonly problems: readonly Diagnostic[];
}

const KEYWORD = "quorumlint:";
/** After the keyword: `ignore[ids] reason`. */
const DIRECTIVE = /^[ \t]*([A-Za-z-]+)[ \t]*(?:\[([^\]\r\n]*)\])?/;
/** Comments that may stand between a suppression and its line. */
const MAX_STACKED = 20;
const VERBS: ReadonlySet<string> = new Set(["ignore", "disable", "suppress", "skip", "allow", "noqa", "nolint"]);

/** How a kind of file writes comments: by which marker, and whether one may follow content on its line. */
interface CommentStyle {
  readonly marker: RegExp;
  readonly trailing: boolean;
}
const HASH = /#+$/;
const SLASHES = /\/{2,}$/;
const DASHES = /-{2,}$/;
const STYLES: { readonly [K in FileKind]?: CommentStyle } = {
  kubernetes: { marker: HASH, trailing: true },
  yaml: { marker: HASH, trailing: true },
  shell: { marker: HASH, trailing: true },
  lua: { marker: DASHES, trailing: true },
  java: { marker: SLASHES, trailing: true },
  typescript: { marker: SLASHES, trailing: true },
  markdown: { marker: /<!--$/, trailing: true },
  conf: { marker: HASH, trailing: false },
  properties: { marker: /[#!]+$/, trailing: false },
  env: { marker: HASH, trailing: false },
};
const ANY_MARKER = /(?:#+|\/{2,}|-{2,})$/;

/** Where a suppression comment can never be: in an ACL file before Redis 8.8 it aborts the server, JSON has none. */
const FORBIDDEN: { readonly [K in FileKind]?: string } = { acl: "an ACL file", json: "JSON" };

/** Reads the suppressions of files and of the contract file; files without the keyword cost one search. */
export function collectSuppressions(
  files: Iterable<CommentedText>,
  declared: Iterable<DeclaredSuppression> = [],
): Suppression[] {
  const out: Suppression[] = [];
  const seen = new Set<string>();
  for (const file of files) {
    const view = file.view ?? new TextView(file.source);
    if (!view.text.includes(KEYWORD)) continue;
    for (const found of commentsOf(file, view)) {
      for (const s of readComment(file, view, found)) {
        // a file may belong to two contracts, and an embedded document to a file that was read already
        const key = `${s.at.source.file}\n${s.at.start}\n${s.at.end}`;
        if (seen.has(key)) continue;
        seen.add(key);
        out.push(s);
      }
    }
  }
  for (const entry of declared) {
    const at = entry.ruleAt ?? entry.at;
    out.push({
      kind: "contract",
      rule: entry.rule,
      reason: (entry.reason ?? "").trim(),
      file: entry.file,
      line: undefined,
      until: entry.until,
      message: entry.message,
      contract: entry.contract,
      at,
      untilAt: entry.untilAt ?? at,
      fault: undefined,
      removal: undefined,
    });
  }
  return out;
}

/** A comment that holds the keyword: inner offsets of its marker, of the text behind the keyword, and of its end. */
interface FoundComment {
  readonly start: number;
  readonly body: number;
  readonly end: number;
  readonly own: boolean;
  readonly misplaced: string | undefined;
}

function lineBounds(text: string, offset: number): { start: number; end: number; next: number } {
  let start = offset;
  while (start > 0 && !isBreak(text.charCodeAt(start - 1))) start--;
  let end = offset;
  while (end < text.length && !isBreak(text.charCodeAt(end))) end++;
  const crlf = text.charCodeAt(end) === 13 && text.charCodeAt(end + 1) === 10;
  return { start, end, next: end >= text.length ? text.length : end + (crlf ? 2 : 1) };
}

function isBreak(code: number): boolean {
  return code === 10 || code === 13;
}

function commentsOf(file: CommentedText, view: TextView): FoundComment[] {
  const { text } = view;
  const style = STYLES[file.kind];
  const forbidden = FORBIDDEN[file.kind];
  if (style === undefined && forbidden === undefined) return [];
  const isComment = commentTest(file, view);
  const out: FoundComment[] = [];
  let line = { start: 0, end: -1, next: 0 };
  let content = 0;
  let from = 0;
  for (let at = text.indexOf(KEYWORD); at >= 0; at = text.indexOf(KEYWORD, from)) {
    from = at + KEYWORD.length;
    if (at > line.end) {
      line = lineBounds(text, at);
      content = line.start;
      while (isBlank(text.charCodeAt(content))) content++;
    }
    let gap = at;
    while (gap > line.start && isBlank(text.charCodeAt(gap - 1))) gap--;
    const marker = (style?.marker ?? ANY_MARKER).exec(text.slice(Math.max(line.start, gap - 80), gap))?.[0];
    if (marker === undefined) continue;
    const start = gap - marker.length;
    const own = start === content;
    if (!own && /[#!]/.test(marker) && !isBlank(text.charCodeAt(start - 1))) continue;
    if (!isComment(start)) continue;
    let misplaced: string | undefined;
    if (forbidden !== undefined) {
      if (file.kind === "json" && !own) continue;
      misplaced = forbidden;
    } else if (!own && style?.trailing === false) misplaced = "the value of its line";
    const end = commentEnd(text, line.end, at, marker);
    out.push({ start, body: from, end, own, misplaced });
    from = end;
  }
  return out;
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 0xfeff;
}

function commentEnd(text: string, lineEnd: number, from: number, marker: string): number {
  if (marker !== "<!--") return lineEnd;
  const close = text.indexOf("-->", from);
  return close >= 0 && close < lineEnd ? close : lineEnd;
}

/** Tells real comments from strings that look like one. */
function commentTest(file: CommentedText, view: TextView): (offset: number) => boolean {
  const { kind } = file;
  if ((kind === "kubernetes" || kind === "yaml") && file.view === undefined) {
    const documents = file.documents ?? parseYaml(file.source).documents;
    const known = new Map<YamlDocument, Set<number>>();
    return (offset) => {
      const document = documents.find((d) => d.start <= offset && offset < d.end);
      if (document === undefined) return true;
      let starts = known.get(document);
      if (starts === undefined) {
        starts = new Set(document.comments().map((c) => c.at.start));
        known.set(document, starts);
      }
      return starts.has(offset);
    };
  }
  if (kind === "lua" || kind === "java" || kind === "typescript") {
    const starts = new Set(lineComments(view.text, kind));
    return (offset) => starts.has(offset);
  }
  return () => true;
}

/** Offsets at which line comments start, strings and block comments skipped. Broken text is read to its end. */
function lineComments(text: string, language: "lua" | "java" | "typescript"): number[] {
  const out: number[] = [];
  // depth of braces inside each `${` of a template literal that is still open
  const templates: number[] = [];
  let i = 0;
  while (i < text.length) {
    const c = text[i]!;
    if (language === "lua") {
      const long = c === "[" ? /^\[=*\[/.exec(text.slice(i, i + 64)) : null;
      if (c === "-" && text[i + 1] === "-") {
        const block = /^--\[(=*)\[/.exec(text.slice(i, i + 64));
        if (block !== null) i = behind(text, `]${block[1]}]`, i + 4);
        else {
          out.push(i);
          i = lineBounds(text, i).next;
        }
      } else if (long !== null) i = behind(text, `]${"=".repeat(long[0].length - 2)}]`, i + long[0].length);
      else if (c === '"' || c === "'") i = quoted(text, i, c);
      else i++;
      continue;
    }
    if (c === "/" && text[i + 1] === "/") {
      out.push(i);
      i = lineBounds(text, i).next;
    } else if (c === "/" && text[i + 1] === "*") i = behind(text, "*/", i + 2);
    else if (language === "java" && text.startsWith('"""', i)) i = textBlock(text, i + 3);
    else if (c === '"' || c === "'") i = quoted(text, i, c);
    else if (language === "typescript" && c === "`") i = template(text, i + 1, templates);
    else if (templates.length > 0 && c === "{") {
      templates[templates.length - 1]!++;
      i++;
    } else if (templates.length > 0 && c === "}") {
      if (templates[templates.length - 1] === 0) {
        templates.pop();
        i = template(text, i + 1, templates);
      } else {
        templates[templates.length - 1]!--;
        i++;
      }
    } else i++;
  }
  return out;
}

function behind(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at + mark.length;
}

function quoted(text: string, from: number, quote: string): number {
  let i = from + 1;
  while (i < text.length && text[i] !== quote) {
    if (isBreak(text.charCodeAt(i))) return i;
    i += text[i] === "\\" ? 2 : 1;
  }
  return i + 1;
}

function textBlock(text: string, from: number): number {
  let i = from;
  while (i < text.length && !text.startsWith('"""', i)) i += text[i] === "\\" ? 2 : 1;
  return i + 3;
}

function template(text: string, from: number, open: number[]): number {
  let i = from;
  while (i < text.length && text[i] !== "`") {
    if (text[i] === "$" && text[i + 1] === "{") {
      open.push(0);
      return i + 2;
    }
    i += text[i] === "\\" ? 2 : 1;
  }
  return i + 1;
}

function readComment(file: CommentedText, view: TextView, comment: FoundComment): Suppression[] {
  const { text } = view;
  const body = text.slice(comment.body, comment.end);
  const match = DIRECTIVE.exec(body);
  if (match === null) return [];
  const [all, verb, list] = match as unknown as [string, string, string | undefined];
  // prose about the linter is no directive
  if (list === undefined && !VERBS.has(verb.toLowerCase())) return [];
  const line = targetLine(file, view, comment);
  const at = view.span(comment.start, comment.end);
  const base = {
    kind: "inline" as const,
    file: file.source.file,
    line: { start: view.outer(line.start), end: view.outer(line.end, true) },
    until: undefined,
    message: undefined,
    contract: file.contract,
  };
  const faulty = (message: "malformed" | "misplaced", detail: string): Suppression[] => [
    { ...base, rule: "", reason: "", at, untilAt: at, fault: { message, detail }, removal: undefined },
  ];
  if (comment.misplaced !== undefined) return faulty("misplaced", comment.misplaced);
  const ids = [...(list ?? "").matchAll(/[^,\s]+/g)];
  if (verb !== "ignore" || ids.length === 0) return faulty("malformed", `${KEYWORD}${all}`.trimEnd());
  const reason = reasonOf(body.slice(all.length));
  const first = comment.body + body.indexOf("[") + 1;
  const ranges = ids.map((id) => ({ start: first + id.index, end: first + id.index + id[0].length }));
  return ids.map((id, index) => {
    const place = view.span(ranges[index]!.start, ranges[index]!.end);
    return {
      ...base,
      rule: id[0],
      reason,
      at: place,
      untilAt: place,
      fault: undefined,
      removal: removalOf(view, comment, ranges, index),
    };
  });
}

/** Whether a line that opens with these characters is a comment alone: its longest prefix that is a marker. */
function startsComment(opening: string, marker: RegExp): boolean {
  for (let length = opening.length; length > 0; length--)
    if (marker.exec(opening.slice(0, length))?.index === 0) return true;
  return false;
}

function reasonOf(text: string): string {
  const reason = text.replace(/^[\s:\u2013\u2014-]+/, "").trim();
  return /[\p{L}\p{N}]/u.test(reason) ? reason : "";
}

/** The line that a comment holds for: its own, or for a comment alone on its line the next that is no comment. */
function targetLine(file: CommentedText, view: TextView, comment: FoundComment): { start: number; end: number } {
  const { text } = view;
  let line = lineBounds(text, comment.start);
  if (!comment.own) return line;
  const marker = STYLES[file.kind]?.marker ?? ANY_MARKER;
  for (let skipped = 0; skipped <= MAX_STACKED && line.next < text.length; skipped++) {
    line = lineBounds(text, line.next);
    const opening = /^\S{1,4}/.exec(text.slice(line.start, line.end).trim())?.[0] ?? "";
    if (!startsComment(opening, marker)) return line;
  }
  return line;
}

function removalOf(
  view: TextView,
  comment: FoundComment,
  ids: readonly { readonly start: number; readonly end: number }[],
  index: number,
): Fix {
  const edit = (start: number, end: number): Edit[] => [{ span: view.span(start, end), newText: "" }];
  if (ids.length > 1) {
    const [from, to] = index === 0 ? [ids[0]!.start, ids[1]!.start] : [ids[index - 1]!.end, ids[index]!.end];
    return { description: "Remove the rule from the suppression", edits: edit(from, to) };
  }
  const description = "Remove the suppression";
  const { text } = view;
  if (comment.own && text.slice(comment.end, lineBounds(text, comment.end).end).trim() === "") {
    const line = lineBounds(text, comment.start);
    const from = view.outer(line.start);
    // indentation and line break of an embedded line belong to the file, not to the view
    const whole = lineBounds(view.source.text, from);
    return { description, edits: [{ span: view.source.span(whole.start, whole.next), newText: "" }] };
  }
  let from = comment.start;
  while (from > 0 && /[ \t]/.test(text[from - 1]!)) from--;
  const closed = text.startsWith("-->", comment.end) ? comment.end + 3 : comment.end;
  return { description, edits: edit(from, closed) };
}

/** Splits findings into those that count and those that a valid suppression names, and reports faulty suppressions. */
export function applySuppressions(
  diagnostics: readonly Diagnostic[],
  suppressions: readonly Suppression[],
  options: SuppressionOptions,
): SuppressionResult {
  const { rule, known, today } = options;
  const matches = options.matches ?? ((pattern, file) => pattern === file);
  const problems: Diagnostic[] = [];
  const ids = [...known].filter((id) => id !== SUPPRESSION_RULE).sort(compareText);
  const packs = new Set(ids.map((id) => id.slice(0, id.indexOf("/"))));
  const covers = (pattern: string, id: string): boolean =>
    pattern === id || (pattern.endsWith("/*") && id.startsWith(pattern.slice(0, -1)));
  const isKnown = (pattern: string): boolean =>
    pattern.endsWith("/*") ? packs.has(pattern.slice(0, -2)) : known.has(pattern) && pattern !== SUPPRESSION_RULE;

  const hints = new Map<string, string>();
  const hintFor = (name: string): string => {
    const known = hints.get(name);
    if (known !== undefined) return known;
    const hint = didYouMean(name, name.endsWith("/*") ? [...packs].map((p) => `${p}/*`) : ids);
    hints.set(name, hint);
    return hint;
  };

  const valid: Suppression[] = [];
  for (const s of suppressions) {
    if (s.fault !== undefined) problem(s, s.fault.message, { detail: s.fault.detail }, s.at);
    else if (!isKnown(s.rule)) {
      problem(s, "unknownRule", { rule: s.rule, hint: hintFor(s.rule) }, s.at);
    } else if (s.reason === "") problem(s, "missingReason", { rule: s.rule }, s.at);
    else if (s.until !== undefined && !(isDate(s.until) && today <= s.until)) {
      problem(s, "expired", { rule: s.rule, until: s.until }, s.untilAt, s.removal);
    } else valid.push(s);
  }

  const inline = new Map<string, Suppression[]>();
  const declared: Suppression[] = [];
  for (const s of valid) {
    if (s.kind === "contract") declared.push(s);
    else if (inline.has(s.file!)) inline.get(s.file!)!.push(s);
    else inline.set(s.file!, [s]);
  }
  const used = new Set<Suppression>();
  const active: Diagnostic[] = [];
  const suppressed: Diagnostic[] = [];
  for (const d of diagnostics) {
    let by: Suppression | undefined;
    if (d.rule !== SUPPRESSION_RULE) {
      for (const s of inline.get(d.at.source.file) ?? []) {
        const { start, end } = s.line!;
        if (d.at.start < start || d.at.start > end || !covers(s.rule, d.rule)) continue;
        used.add(s);
        by ??= s;
      }
      for (const s of declared) {
        if (!covers(s.rule, d.rule)) continue;
        if (s.message !== undefined && s.message !== d.messageId && !d.message.includes(s.message)) continue;
        if (s.file !== undefined && !matches(s.file, d.at.source.file)) continue;
        used.add(s);
        by ??= s;
      }
    }
    if (by === undefined) active.push(d);
    else suppressed.push({ ...d, suppressed: { kind: by.kind, reason: by.reason } });
  }

  const ran = options.ran ?? (() => true);
  for (const s of valid) {
    if (used.has(s) || !ids.every((id) => !covers(s.rule, id) || ran(id))) continue;
    problem(s, "unused", { rule: s.rule }, s.at, s.removal);
  }
  return { active, suppressed, problems: settle(problems) };

  function problem(s: Suppression, id: string, data: Record<string, string>, at: Span, fix?: Fix): void {
    const spec = messageSpec(rule, id);
    const severity = options.severity?.(s.contract) ?? spec.severity ?? rule.severity;
    if (severity === "off") return;
    problems.push({
      rule: rule.id,
      messageId: id,
      severity,
      message: fill(spec.text, data),
      help: spec.help === undefined ? undefined : fill(spec.help, data),
      contract: s.contract,
      at,
      pointer: undefined,
      related: [],
      fix,
    });
  }
}

/** A day that exists, as `YYYY-MM-DD`. */
function isDate(text: string): boolean {
  const m = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (m === null) return false;
  const [year, month, day] = [Number(m[1]), Number(m[2]), Number(m[3])];
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return days !== undefined && day >= 1 && day <= days;
}
