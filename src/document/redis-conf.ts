import { type Segment, Source, type Span, TextView } from "../text/source.js";

/**
 * redis.conf and sentinel.conf as the servers read them: lines, words, quotes; and, in templates, placeholders.
 *
 * Lines end at `\n` only; blanks at both ends go (space, tab, CR, LF); an empty line and one that starts with `#` is
 * skipped; there is no trailing comment, no continuation, no variable. Words follow `sdssplitargs`: `"…"` with
 * `\n \r \t \b \a \xHH \"`, `'…'` with `\'` only; a quote may start inside a word. Text after a closing quote is an
 * error except in Valkey ≥ 9.1: it is read as that server does and reported as a problem that a judge may pass over.
 */

export interface ConfOptions {
  /** Placeholders (`${NAME}`, `{{ .Values.x }}`, `__NAME__`, `@NAME@`, `%NAME%`, `<NAME>`) are opaque values. */
  readonly templates: boolean;
}

/** `whole`: nothing but one placeholder; `part`: some of the value is known. */
export type PlaceholderKind = "none" | "part" | "whole";

/** What stands at a place of a configuration: a word of a file, of a script, of a command line. */
export interface ConfArgument {
  /** As the server has it after unquoting. Of a word with a placeholder: with the placeholder's own text. */
  readonly value: string;
  readonly at: Span;
  readonly placeholder: PlaceholderKind;
  /** An unquoted placeholder: filling it in may make several words of it, or none. */
  readonly splits: boolean;
}

export class ConfWord implements ConfArgument {
  readonly #view: TextView;
  /** Offsets in the view's text, quotes included. */
  readonly start: number;
  readonly end: number;
  readonly value: string;
  readonly quoted: boolean;
  readonly placeholder: PlaceholderKind;

  constructor(
    view: TextView,
    start: number,
    end: number,
    value: string,
    quoted: boolean,
    placeholder: PlaceholderKind,
  ) {
    this.#view = view;
    this.start = start;
    this.end = end;
    this.value = value;
    this.quoted = quoted;
    this.placeholder = placeholder;
  }

  get splits(): boolean {
    return this.placeholder !== "none" && !this.quoted;
  }

  get raw(): string {
    return this.#view.text.slice(this.start, this.end);
  }

  get at(): Span {
    return this.#view.span(this.start, this.end);
  }
}

type ConfProblemCode =
  /** A quote that is never closed: fatal in every version. */
  | "unbalanced-quotes"
  /** `"abc"def`: fatal except in Valkey ≥ 9.1, which reads `abcdef`. */
  | "text-after-quote"
  /** A NUL byte: the server drops the rest of the line, the line end included. */
  | "nul";

export interface ConfProblem {
  readonly code: ConfProblemCode;
  readonly message: string;
  readonly at: Span;
}

/** One directive: a statement of a file, of a script's output, or of a command line. */
export interface ConfStatement {
  /** In lower case, as the server compares it. */
  readonly name: string;
  readonly nameAt: Span;
  readonly namePlaceholder: PlaceholderKind;
  readonly args: readonly ConfArgument[];
  /** The words, from the first to the last. */
  readonly at: Span;
  /** 1-based; the number that the server's error message names. */
  readonly line: number;
  /** The line as the server quotes it. */
  readonly text: string;
  readonly problem: ConfProblem | undefined;
  /** Stands between `{{ if }}` and `{{ end }}` (or the like): it may not be there after rendering. */
  readonly conditional: boolean;
  /** More words than are kept: see MAX_WORDS. */
  readonly truncated: boolean;
}

/** Lines of more words keep them; shorter ones are split again at each look, so that a million lines stay small. */
const KEPT_WORDS = 16;
const KEPT_LENGTH = 4096;

export class ConfLine implements ConfStatement {
  readonly #view: TextView;
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly name: string;
  readonly conditional: boolean;
  /** Placeholders in it are opaque. */
  readonly templates: boolean;
  readonly truncated: boolean;
  readonly #problem: RawProblem | undefined;
  #words: readonly ConfWord[] | undefined;

  constructor(
    view: TextView,
    start: number,
    end: number,
    line: number,
    name: string,
    flags: {
      readonly conditional: boolean;
      readonly templates: boolean;
      readonly truncated: boolean;
      readonly problem: RawProblem | undefined;
    },
  ) {
    this.#view = view;
    this.start = start;
    this.end = end;
    this.line = line;
    this.name = name;
    this.conditional = flags.conditional;
    this.templates = flags.templates;
    this.truncated = flags.truncated;
    this.#problem = flags.problem;
    this.#words = undefined;
  }

  /** The name and the arguments. */
  get words(): readonly ConfWord[] {
    if (this.#words !== undefined) return this.#words;
    const { words } = splitLine(this.#view, this.start, this.end, this.templates);
    if (words.length > KEPT_WORDS || this.end - this.start > KEPT_LENGTH) this.#words = words;
    return words;
  }

  get args(): readonly ConfWord[] {
    return this.words.slice(1);
  }

  get at(): Span {
    return this.#view.span(this.start, this.end);
  }

  /** The line alone, for parsers of what stands in it. */
  get view(): TextView {
    return this.#view.sub(this.start, this.end);
  }

  get nameAt(): Span {
    return this.words[0]?.at ?? this.#view.span(this.start, this.start);
  }

  get namePlaceholder(): PlaceholderKind {
    return "none";
  }

  get text(): string {
    return this.#view.text.slice(this.start, this.end);
  }

  get problem(): ConfProblem | undefined {
    const p = this.#problem;
    return p && { code: p.code, message: MESSAGES[p.code], at: this.#view.span(p.start, p.end) };
  }
}

class ConfComment {
  readonly #view: TextView;
  readonly start: number;
  readonly end: number;
  readonly line: number;

  constructor(view: TextView, start: number, end: number, line: number) {
    this.#view = view;
    this.start = start;
    this.end = end;
    this.line = line;
  }

  /** From the `#` on. */
  get text(): string {
    return this.#view.text.slice(this.start, this.end);
  }

  get at(): Span {
    return this.#view.span(this.start, this.end);
  }
}

/** A place where rendering a template puts lines that are not known here: `{{ .Values.extra }}`, `${EXTRA}`. */
interface ConfGap {
  readonly line: number;
  readonly at: Span;
}

export interface ConfDocument {
  readonly view: TextView;
  readonly templates: boolean;
  readonly lines: readonly ConfLine[];
  readonly comments: readonly ConfComment[];
  readonly gaps: readonly ConfGap[];
  /** NUL bytes of the file, at most a few: each makes the server read another text than the file shows. */
  readonly problems: readonly ConfProblem[];
  /** `$` or `{{` is somewhere in the text: it may hold what a template would. */
  readonly marks: boolean;
}

/** Lines beyond this number are not read: the rest of the text is a gap. */
const MAX_LINES = 1_000_000;

/** Words of one line beyond this number are counted, not kept. */
const MAX_WORDS = 100_000;

const MESSAGES: Record<ConfProblemCode, string> = {
  "unbalanced-quotes": "a quote is opened and not closed",
  "text-after-quote": "a closing quote is followed by text: only a blank may follow it",
  nul: "a NUL byte: the server drops the rest of the line with its end, so the next line is glued on",
};

interface RawProblem {
  readonly code: ConfProblemCode;
  readonly start: number;
  readonly end: number;
}

export interface Split {
  readonly words: readonly ConfWord[];
  readonly problem: RawProblem | undefined;
  readonly truncated: boolean;
}

/** ASCII lower case: what `tolower` does to a directive's name. */
function lower(text: string): string {
  // No directive is as long: such a text stays as it is.
  if (text.length > 256) return text;
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, (s) => s.toLowerCase()) : text;
}

function isSpace(c: number): boolean {
  return c === 32 || (c >= 9 && c <= 13);
}

function isTrimmed(c: number): boolean {
  return c === 32 || c === 9 || c === 10 || c === 13;
}

/** Reads a file's text, or a text inside one. Never throws; linear in the length of the text. */
export function parseConf(original: TextView, options: ConfOptions): ConfDocument {
  const { templates } = options;
  const problems: ConfProblem[] = [];
  const view = original.text.includes("\0") ? withoutNul(original, problems) : original;
  const { text } = view;
  const lines: ConfLine[] = [];
  const comments: ConfComment[] = [];
  const gaps: ConfGap[] = [];
  const names = new Map<string, string>();
  let depth = 0;
  let number = 0;
  let from = 0;
  while (from <= text.length) {
    number++;
    let to = text.indexOf("\n", from);
    if (to < 0) to = text.length;
    let start = from;
    let end = to;
    from = to + 1;
    while (start < end && isTrimmed(text.charCodeAt(start))) start++;
    while (end > start && isTrimmed(text.charCodeAt(end - 1))) end--;
    if (start === end) continue;
    if (lines.length + comments.length >= MAX_LINES) {
      gaps.push({ line: number, at: view.span(start, end) });
      break;
    }
    if (text.charCodeAt(start) === 35) {
      comments.push(new ConfComment(view, start, end, number));
      continue;
    }
    const placeholders = templates ? findPlaceholders(text, start, end) : NONE;
    if (placeholders.length > 0) {
      const control = templateLine(text, start, end, placeholders);
      if (control !== undefined) {
        depth = Math.max(0, depth + control.depth);
        if (control.inserts) gaps.push({ line: number, at: view.span(start, end) });
        continue;
      }
    }
    const flags = { conditional: depth > 0, templates, truncated: false, problem: undefined };
    // Without a quote nothing can be wrong with the words, and the first blank ends the name.
    let blank = start;
    let plain = placeholders.length === 0 && end - start < MAX_WORDS && !isSpace(text.charCodeAt(start));
    for (let p = start; plain && p < end; p++) {
      const c = text.charCodeAt(p);
      if (c === 34 || c === 39) plain = false;
      else if (blank === p && c !== 32 && c !== 9 && c !== 13) blank++;
    }
    if (plain && text.charCodeAt(start) !== 60) {
      lines.push(new ConfLine(view, start, end, number, interned(names, lower(text.slice(start, blank))), flags));
      continue;
    }
    const { words, problem, truncated } = splitLine(view, start, end, templates, placeholders);
    const first = words[0];
    if (first === undefined && problem === undefined) continue;
    // `{{ $key }} {{ $value }}`: which directive this will be is not known.
    if (first !== undefined && first.placeholder !== "none") {
      gaps.push({ line: number, at: view.span(start, end) });
      continue;
    }
    const name = interned(names, lower(first?.value ?? ""));
    lines.push(new ConfLine(view, start, end, number, name, { conditional: depth > 0, templates, truncated, problem }));
  }
  const marks = text.includes("$") || text.includes("{{");
  return { view, templates, lines, comments, gaps, problems, marks };
}

/** One string per name: a slice would keep the whole text alive. */
function interned(names: Map<string, string>, name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  if (names.size < 10_000) names.set(name, name);
  return name;
}

/** `sdssplitargs` over a text that stands nowhere. */
export function splitArgs(text: string, templates = false): Split {
  return splitLine(new TextView(new Source("", text)), 0, text.length, templates);
}

/**
 * `sdssplitargs` over `view.text[start, end)`. With `templates`, placeholders are copied as they stand, whatever they
 * hold, and a value that is `<NAME>` as a whole is one too.
 */
function splitLine(
  view: TextView,
  start: number,
  end: number,
  templates: boolean,
  placeholders: readonly Range[] = templates ? findPlaceholders(view.text, start, end) : NONE,
): Split {
  const { text } = view;
  const words: ConfWord[] = [];
  let count = 0;
  let problem: RawProblem | undefined;
  let next = 0;
  let p = start;
  while (p < end) {
    if (isSpace(text.charCodeAt(p))) {
      p++;
      continue;
    }
    const first = p;
    let value = "";
    let run = p;
    let quote = 0;
    let quoteAt = p;
    let quoted = false;
    let holes = 0;
    let closed = -1;
    while (next < placeholders.length && placeholders[next]!.start < p) next++;
    if (templates && text.charCodeAt(p) === 60) {
      const stop = angleEnd(text, p, end);
      if (stop > 0) {
        holes = 1;
        p = stop;
      }
    }
    for (; p < end; p++) {
      const hole = placeholders[next];
      if (hole !== undefined && hole.start === p) {
        holes++;
        next++;
        p = hole.end - 1;
        continue;
      }
      const c = text.charCodeAt(p);
      if (quote === 34) {
        if (c === 92 && p + 1 < end) {
          if (p > run) value += text.slice(run, p);
          const high = text.charCodeAt(p + 1) === 120 && p + 3 < end ? hex(text.charCodeAt(p + 2)) : -1;
          const low = high < 0 ? -1 : hex(text.charCodeAt(p + 3));
          if (low >= 0) {
            value += String.fromCharCode(high * 16 + low);
            p += 3;
          } else {
            p++;
            value += ESCAPES[text[p]!] ?? text[p]!;
          }
          run = p + 1;
        } else if (c === 34) {
          value += text.slice(run, p);
          run = p + 1;
          quote = 0;
          closed = p;
          if (p + 1 >= end || isSpace(text.charCodeAt(p + 1))) {
            p++;
            break;
          }
        }
      } else if (quote === 39) {
        if (c === 92 && text.charCodeAt(p + 1) === 39 && p + 1 < end) {
          value += text.slice(run, p) + "'";
          p++;
          run = p + 1;
        } else if (c === 39) {
          value += text.slice(run, p);
          run = p + 1;
          quote = 0;
          closed = p;
          if (p + 1 >= end || isSpace(text.charCodeAt(p + 1))) {
            p++;
            break;
          }
        }
      } else {
        if (closed === p - 1 && closed >= 0 && problem === undefined) {
          problem = { code: "text-after-quote", start: first, end: wordEnd(text, p, end) };
        }
        if (c === 32 || c === 9 || c === 10 || c === 13) break;
        if (c === 34 || c === 39) {
          value += text.slice(run, p);
          run = p + 1;
          quote = c;
          quoteAt = p;
          quoted = true;
        }
      }
    }
    if (quote !== 0) {
      problem = { code: "unbalanced-quotes", start: quoteAt, end };
      break;
    }
    value += text.slice(run, Math.max(run, p));
    count++;
    if (count <= MAX_WORDS) {
      const whole =
        (holes === 1 && isWhole(text, first, p, placeholders, next)) ||
        (templates && quoted && holes === 0 && value.charCodeAt(0) === 60 && angleEnd(value, 0, value.length) > 0);
      words.push(new ConfWord(view, first, p, value, quoted, whole ? "whole" : holes > 0 ? "part" : "none"));
    }
  }
  return { words, problem, truncated: count > MAX_WORDS };
}

/** The word is one placeholder, quotes aside. */
function isWhole(text: string, start: number, end: number, placeholders: readonly Range[], next: number): boolean {
  const hole = placeholders[next - 1];
  const c = text.charCodeAt(start);
  const inset = c === 34 || c === 39 ? 1 : 0;
  if (hole !== undefined && hole.start === start + inset && hole.end === end - inset) return true;
  return c === 60 && angleEnd(text, start, end) === end;
}

function wordEnd(text: string, from: number, end: number): number {
  let p = from;
  while (p < end && !isSpace(text.charCodeAt(p))) p++;
  return p;
}

/** The end of `<NAME>` or `<your password>` that starts at `p` and is followed by a blank or the end; 0: there is none. */
function angleEnd(text: string, p: number, end: number): number {
  const limit = Math.min(end, p + 128);
  for (let i = p + 1; i < limit; i++) {
    const c = text.charCodeAt(i);
    if (c === 62) {
      return i > p + 1 && /[A-Za-z_]/.test(text[p + 1]!) && (i + 1 === end || isSpace(text.charCodeAt(i + 1)))
        ? i + 1
        : 0;
    }
    if (c === 60 || c === 34 || c === 39 || c === 10) return 0;
  }
  return 0;
}

const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", a: "\x07" };

/** The value of a hexadecimal digit; -1: it is none. */
function hex(c: number): number {
  if (c >= 48 && c <= 57) return c - 48;
  const letter = c | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

export interface Range {
  readonly start: number;
  readonly end: number;
}

const NONE: readonly Range[] = [];

/** More placeholders of one line are not looked for. */
const MAX_PLACEHOLDERS = 10_000;

/** No placeholder is longer: bounds the search for its end. */
const MAX_PLACEHOLDER = 1024;

/** Placeholders in `text[start, end)`, in order, not overlapping; `<NAME>` is not among them. */
export function findPlaceholders(text: string, start = 0, end = text.length): readonly Range[] {
  let found: Range[] | undefined;
  for (let p = start; p < end; p++) {
    const c = text.charCodeAt(p);
    let stop = 0;
    if (c === 36) stop = dollar(text, p, end);
    else if (c === 123) {
      const d = text.charCodeAt(p + 1);
      if (d === 123) stop = closing(text, p + 2, end, 123, 125);
      else if (d === 37) stop = closing(text, p + 2, end, 37, 37);
      else if (d === 35) stop = closing(text, p + 2, end, 35, 35);
    } else if (c === 95 && text.charCodeAt(p + 1) === 95) stop = named(text, p, end, 2, UPPER);
    else if (c === 64) stop = named(text, p, end, 1, ANY);
    else if (c === 37) stop = named(text, p, end, 1, UPPER);
    if (stop > 0) {
      found ??= [];
      if (found.length === MAX_PLACEHOLDERS) break;
      found.push({ start: p, end: stop });
      p = stop - 1;
    }
  }
  return found ?? NONE;
}

/** Deeper nesting of marks is no placeholder; it also keeps the search linear on a text of nothing but opening marks. */
const MAX_NESTING = 8;

/** The end of `{{ … }}`, `{% … %}` or `{# … #}` whose inside starts at `from`. */
function closing(text: string, from: number, end: number, open: number, close: number): number {
  const limit = Math.min(end, from + MAX_PLACEHOLDER);
  let opened = 0;
  for (let p = from; p + 1 < limit; p++) {
    const c = text.charCodeAt(p);
    if (c === close && text.charCodeAt(p + 1) === 125) return p + 2;
    if (c === 123 && text.charCodeAt(p + 1) === open && ++opened > MAX_NESTING) return 0;
  }
  return 0;
}

/** `$NAME`, `${NAME:-…}`, `$(command)`. */
function dollar(text: string, p: number, end: number): number {
  const c = text.charCodeAt(p + 1);
  if (c === 123 || c === 40) {
    const close = c === 123 ? 125 : 41;
    const limit = Math.min(end, p + MAX_PLACEHOLDER);
    let depth = 0;
    for (let i = p + 1; i < limit; i++) {
      const d = text.charCodeAt(i);
      if (d === c && ++depth > MAX_NESTING) return 0;
      if (d === close && --depth === 0) return i + 1;
    }
    return 0;
  }
  if (p + 1 < end && (c === 95 || (c >= 65 && c <= 90) || (c >= 97 && c <= 122))) {
    let i = p + 2;
    while (i < end && isWordChar(text.charCodeAt(i))) i++;
    return i;
  }
  return 0;
}

const UPPER = (c: number): boolean => c === 95 || (c >= 65 && c <= 90) || (c >= 48 && c <= 57);
const ANY = isWordChar;

function isWordChar(c: number): boolean {
  return c === 95 || (c >= 48 && c <= 57) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122);
}

/** `__NAME__`, `@NAME@`, `%NAME%`: a mark of `marks` characters, a name that starts with a letter, the mark again. */
function named(text: string, p: number, end: number, marks: number, allowed: (c: number) => boolean): number {
  const mark = text.charCodeAt(p);
  let i = p + marks;
  const first = text.charCodeAt(i);
  if (i >= end || first === 95 || (first >= 48 && first <= 57) || !allowed(first)) return 0;
  const limit = Math.min(end, i + MAX_PLACEHOLDER);
  while (i < limit && allowed(text.charCodeAt(i))) {
    if (marks === 2 && text.charCodeAt(i) === 95 && text.charCodeAt(i + 1) === 95) break;
    i++;
  }
  if (i + marks > end) return 0;
  for (let k = 0; k < marks; k++) if (text.charCodeAt(i + k) !== mark) return 0;
  return i + marks;
}

const OPENS = /^[-~#\s]*(?:if|unless|range|with|for|block|define|macro|each)\b/;
const CLOSES = /^[-~/\s]*(?:end|endif|endfor|endwith|endblock|endmacro|if|unless|each|with)\b/;
const KEEPS = /^[-~\s]*(?:else|elif|set|include_vars|import|\/\*|#)/;

/**
 * A line that holds template blocks and nothing else: what it does to the nesting, and whether it inserts text.
 * undefined: an ordinary line.
 */
function templateLine(
  text: string,
  start: number,
  end: number,
  blocks: readonly Range[],
): { depth: number; inserts: boolean } | undefined {
  let p = start;
  let depth = 0;
  let inserts = false;
  for (const block of blocks) {
    while (p < block.start && isSpace(text.charCodeAt(p))) p++;
    if (p !== block.start) return undefined;
    p = block.end;
    const kind = text.slice(block.start, block.start + 2);
    if (kind === "{#") continue;
    if (kind !== "{{" && kind !== "{%") {
      inserts = true;
      continue;
    }
    const body = text.slice(block.start + 2, block.end - 2);
    if (/^[-~\s]*\//.test(body) ? CLOSES.test(body) && !KEEPS.test(body) : /^[-~\s]*end/.test(body)) depth--;
    else if (OPENS.test(body)) depth++;
    else if (!KEEPS.test(body) && kind === "{{" && !/^[-~\s]*\$\w*\s*:?=/.test(body)) inserts = true;
  }
  while (p < end && isSpace(text.charCodeAt(p))) p++;
  return p === end ? { depth, inserts } : undefined;
}

/** Bytes of a code unit in UTF-8; a half of a pair is 2, a lone U+DC80…U+DCFF (a raw byte) is taken for one as well. */
function utf8Length(c: number): number {
  return c < 0x80 ? 1 : c < 0x800 || (c >= 0xd800 && c < 0xe000) ? 2 : 3;
}

/** Bytes that the servers read at a time, line by line: a NUL hides the rest of such a piece. */
const PIECE = 1024;

/** The text as a server has it that reads pieces with `fgets` and appends each up to its first NUL. */
function withoutNul(view: TextView, problems: ConfProblem[]): TextView {
  const { text } = view;
  const parts: string[] = [];
  const segments: Segment[] = [];
  let inner = 0;
  let from = 0;
  while (from < text.length) {
    let bytes = 0;
    let to = from;
    let nul = -1;
    while (to < text.length && bytes < PIECE) {
      const c = text.charCodeAt(to);
      bytes += utf8Length(c);
      if (c === 0 && nul < 0) nul = to;
      to++;
      if (c === 10) break;
    }
    const stop = nul < 0 ? to : nul;
    if (nul >= 0 && problems.length < 20)
      problems.push({ code: "nul", message: MESSAGES.nul, at: view.span(nul, nul + 1) });
    if (stop > from) {
      const length = stop - from;
      if (view.segments === undefined) segments.push({ inner, length, outer: from, outerLength: length });
      else {
        for (const s of view.sub(from, stop).segments ?? []) {
          segments.push({ inner: inner + s.inner, length: s.length, outer: s.outer, outerLength: s.outerLength });
        }
      }
      parts.push(text.slice(from, stop));
      inner += length;
    }
    from = to;
  }
  return new TextView(view.source, parts.join(""), segments);
}
