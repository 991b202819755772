/**
 * Words of Redis ACL rules with their places: an ACL file as `ACLLoadFromFile` reads it, `user` lines of redis.conf, and the
 * rules inside a selector's parentheses. In templates, placeholders are opaque: they may hold blanks and stay in one word.
 */
import { bytesOf, textOf } from "../text/bytes.js";
import { type Segment, type Span, TextView } from "../text/source.js";

/** Stands in `AclWord.mask` for every code unit of a placeholder. */
export const OPAQUE = "\ue000";

/** What of a word is not plain text of the view. */
interface Special {
  readonly text: string;
  readonly mask: string | undefined;
}

/** One word: what the server sees as one argument. Files may have millions of them, so it holds no copy of its text. */
export class AclWord {
  readonly view: TextView;
  /** Offsets in `view.text`; with quotes or escapes the range is longer than the text. */
  readonly start: number;
  readonly end: number;
  readonly #special: Special | undefined;

  /** Without `text` the word is the text of its range; `mask` has `OPAQUE` for each code unit of a placeholder. */
  constructor(view: TextView, start: number, end: number, text?: string, mask?: string) {
    this.view = view;
    this.start = start;
    this.end = end;
    this.#special = text === undefined ? undefined : { text, mask };
  }

  get text(): string {
    return this.#special?.text ?? this.view.text.slice(this.start, this.end);
  }

  /** `text` with `OPAQUE` for each code unit of a placeholder; undefined: no placeholder in it. */
  get mask(): string | undefined {
    return this.#special?.mask;
  }

  get placeholder(): boolean {
    return this.mask !== undefined;
  }

  get at(): Span {
    return this.view.span(this.start, this.end);
  }

  /** The place of a part of the text; the whole word where quotes or escapes stand in between. */
  part(from: number, to: number): Span {
    return this.end - this.start === this.text.length
      ? this.view.span(this.start + from, this.start + to)
      : this.view.span(this.start, this.end);
  }

  /** The word without `before` code units at its start and `after` at its end. */
  trimmed(before: number, after: number): AclWord {
    const [start, end] = [this.start + before, this.end - after];
    const special = this.#special;
    if (special === undefined) return new AclWord(this.view, start, end);
    const to = special.text.length - after;
    return new AclWord(this.view, start, end, special.text.slice(before, to), special.mask?.slice(before, to));
  }
}

/** A line that is not blank, without its surrounding blanks. */
export interface AclLine {
  /** 1-based, as the server counts. */
  readonly line: number;
  readonly view: TextView;
  readonly start: number;
  readonly end: number;
  /** Template statements (`{{ if … }}`) on the line: what stands there may or may not be. */
  readonly statements: readonly Span[];
  /** The words, made anew at each call. */
  words(): Iterable<AclWord>;
}

export interface AclLexOptions {
  /** The text is a template: placeholders are opaque. */
  readonly placeholders?: boolean | undefined;
}

/**
 * The lines of an ACL file. The server reads chunks of at most 1023 bytes with `fgets` and appends them as C strings: a NUL
 * drops the rest of its chunk, the line feed included. Lines are trimmed and split on single spaces; there are no quotes,
 * escapes or comments, so two spaces enclose an empty word.
 */
export function* aclFileLines(view: TextView, options: AclLexOptions = {}): Generator<AclLine> {
  const read = view.text.includes("\0") ? withoutNul(view) : view;
  for (const { line, start, end, mask, statements } of linesOf(read, options)) {
    yield { line, view: read, start, end, statements, words: () => spaceSplit(read, mask, start, end) };
  }
}

/**
 * The `user` lines of a redis.conf text (the keyword in any case; every other line is skipped), split as configuration
 * lines are: quotes and escapes work. A line with unbalanced quotes has no words.
 */
export function* confUserLines(
  view: TextView,
  options: AclLexOptions & { lenient?: boolean } = {},
): Generator<AclLine> {
  const read = view.text.includes("\0") ? withoutNul(view) : view;
  for (const { line, start, end, mask, statements } of linesOf(read, options)) {
    if (read.text[start] === "#") continue;
    const words = splitArgs(read, start, end, mask, options.lenient);
    const meant =
      words === undefined
        ? /^user\s/i.test(read.text.slice(start, start + 5))
        : words[0]?.text.toLowerCase() === "user";
    if (meant) yield { line, view: read, start, end, statements, words: () => words ?? [] };
  }
}

interface RawLine {
  line: number;
  start: number;
  end: number;
  mask: string | undefined;
  statements: readonly Span[];
}

const NONE: readonly Span[] = [];

/** Of a line's template statements so many are named. */
const MOST_STATEMENTS = 100;

function* linesOf(view: TextView, options: AclLexOptions): Generator<RawLine> {
  const { text } = view;
  const found = options.placeholders === true ? maskPlaceholders(text) : undefined;
  const lexed = found?.mask ?? text;
  const mask = found?.found === true ? found.mask : undefined;
  let statement = 0;
  for (let line = 1, from = 0; from <= lexed.length; line++) {
    let to = lexed.indexOf("\n", from);
    if (to < 0) to = lexed.length;
    let start = from;
    let end = to;
    while (start < end && isLineBlank(lexed.charCodeAt(start))) start++;
    while (end > start && isLineBlank(lexed.charCodeAt(end - 1))) end--;
    let statements = NONE;
    if (found !== undefined) {
      for (; statement < found.statements.length && found.statements[statement]![0] < to; statement++) {
        const [a, b] = found.statements[statement]!;
        if (statements === NONE) statements = [];
        if (statements.length < MOST_STATEMENTS) (statements as Span[]).push(view.span(a, b));
      }
    }
    if (start < end) yield { line, start, end, mask, statements };
    from = to + 1;
  }
}

const isLineBlank = (c: number): boolean => c === 32 || c === 9 || c === 13 || c === 10;

/** Splits on each single space; the words hold placeholders whole. */
function* spaceSplit(view: TextView, mask: string | undefined, start: number, end: number): Generator<AclWord> {
  const lexed = mask ?? view.text;
  for (let from = start; from <= end; ) {
    // No indexOf: it would search beyond the line.
    let to = from;
    while (to < end && lexed.charCodeAt(to) !== 32) to++;
    yield word(view, mask, from, to);
    from = to + 1;
  }
}

function word(view: TextView, mask: string | undefined, from: number, to: number): AclWord {
  if (mask === undefined) return new AclWord(view, from, to);
  const part = mask.slice(from, to);
  return part.includes(OPAQUE)
    ? new AclWord(view, from, to, view.text.slice(from, to), part)
    : new AclWord(view, from, to);
}

/** The text that is left when the server has read a file with NUL bytes. */
function withoutNul(view: TextView): TextView {
  const { text } = view;
  let kept = "";
  const segments: Segment[] = [];
  let chunkStart = 0;
  let bytes = 0;
  const flush = (end: number): void => {
    let stop = text.indexOf("\0", chunkStart);
    if (stop < 0 || stop > end) stop = end;
    if (stop > chunkStart) {
      for (const s of view.sub(chunkStart, stop).segments ?? []) {
        segments.push({ inner: s.inner + kept.length, length: s.length, outer: s.outer, outerLength: s.outerLength });
      }
      kept += text.slice(chunkStart, stop);
    }
    chunkStart = end;
    bytes = 0;
  };
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code >= 0xd800 && code < 0xe000 ? surrogateBytes(text, i) : 3;
    if (code === 10 || bytes >= 1023) flush(i + 1);
  }
  flush(text.length);
  return new TextView(view.source, kept, segments);
}

function surrogateBytes(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const next = text.charCodeAt(at + 1);
  if (code < 0xdc00 && next >= 0xdc00 && next < 0xe000) return 4;
  const previous = text.charCodeAt(at - 1);
  if (code >= 0xdc00 && previous >= 0xd800 && previous < 0xdc00) return 0;
  return code >= 0xdc80 && code <= 0xdcff ? 1 : 3;
}

/**
 * Splits like `sdssplitargs`: blanks separate; `"…"` with `\n \r \t \b \a \xHH` and `'…'` with `\'` may stand anywhere in a
 * word. undefined when quotes are unbalanced. `lenient` (Valkey 9.1): text may follow a closing quote.
 */
export function splitArgs(
  view: TextView,
  start: number,
  end: number,
  mask?: string,
  lenient = false,
): AclWord[] | undefined {
  const lexed = mask ?? view.text;
  if (mask === undefined && !/["'\\\0]/.test(lexed.slice(start, end))) return blankSplit(view, start, end);
  const out: AclWord[] = [];
  let i = start;
  const at = (k: number): string => (k < end ? lexed[k]! : "\0");
  const isSpace = (c: string): boolean => c === " " || (c >= "\t" && c <= "\r");
  for (;;) {
    while (isSpace(at(i))) i++;
    if (at(i) === "\0") return out;
    const from = i;
    let text = "";
    let hidden = "";
    let opaque = false;
    let raw = false;
    let quote = "";
    const put = (c: string): void => {
      text += c;
      if (mask !== undefined) hidden += c;
    };
    for (;;) {
      const c = at(i);
      if (c === OPAQUE && mask !== undefined) {
        text += view.text[i];
        hidden += OPAQUE;
        opaque = true;
      } else if (quote === "") {
        if (c === " " || c === "\n" || c === "\r" || c === "\t" || c === "\0") break;
        if (c === '"' || c === "'") quote = c;
        else put(c);
      } else if (c === "\0") return undefined;
      else if (c === quote) {
        const next = at(i + 1);
        if (!lenient && next !== "\0" && !isSpace(next)) return undefined;
        quote = "";
        if (!lenient) {
          i++;
          break;
        }
      } else if (c === "\\" && quote === "'" && at(i + 1) === "'") {
        put("'");
        i++;
      } else if (c === "\\" && quote === '"' && at(i + 1) !== "\0") {
        const hex = at(i + 1) === "x" ? /^[0-9a-f]{2}/i.exec(lexed.slice(i + 2, Math.min(end, i + 4))) : null;
        if (hex !== null) {
          const byte = Number.parseInt(hex[0], 16);
          raw ||= byte >= 0x80;
          put(String.fromCharCode(byte < 0x80 ? byte : 0xdc00 | byte));
          i += 3;
        } else {
          const escaped = at(i + 1);
          put({ n: "\n", r: "\r", t: "\t", b: "\b", a: "\x07" }[escaped] ?? escaped);
          i++;
        }
      } else put(c);
      i++;
    }
    if (raw && !opaque) text = textOf(bytesOf(text));
    const plain = !opaque && text.length === i - from && !raw && text === view.text.slice(from, i);
    out.push(plain ? new AclWord(view, from, i) : new AclWord(view, from, i, text, opaque ? hidden : undefined));
  }
}

/** `splitArgs` where there are no quotes or escapes. */
function blankSplit(view: TextView, start: number, end: number): AclWord[] {
  const { text } = view;
  const out: AclWord[] = [];
  for (let i = start; i < end; ) {
    while (i < end && isBlank(text.charCodeAt(i))) i++;
    if (i === end) break;
    const from = i;
    // Vertical tabs and form feeds are skipped before a word but do not end one.
    while (i < end && !isLineBlank(text.charCodeAt(i))) i++;
    out.push(new AclWord(view, from, i));
  }
  return out;
}

const isBlank = (c: number): boolean => c === 32 || (c >= 9 && c <= 13);

/**
 * The rules inside a selector: `words` are the words from the one that starts with `(` to the one that ends with `)`; the
 * server joins them by spaces and splits the inside like a configuration line. undefined: unbalanced quotes.
 */
export function selectorWords(words: readonly AclWord[], lenient = false): AclWord[] | undefined {
  const first = words[0]!;
  const last = words.at(-1)!;
  const plain = words.every((w) => w.view === first.view && w.mask === undefined && w.end - w.start === w.text.length);
  if (plain) return splitArgs(first.view, first.start + 1, last.end - 1, undefined, lenient);
  // Words that were quoted or hold placeholders: split the joined text, then find the places word by word.
  let text = "";
  let mask = "";
  const starts: number[] = [];
  for (const w of words) {
    if (starts.length > 0) {
      text += " ";
      mask += " ";
    }
    starts.push(text.length);
    text += w.text;
    mask += w.mask ?? w.text;
  }
  const segments: Segment[] = words.map((w, i) => {
    const span = w.at;
    return { inner: starts[i]!, length: w.text.length, outer: span.start, outerLength: span.end - span.start };
  });
  const joined = new TextView(first.view.source, text, segments);
  return splitArgs(joined, 1, text.length - 1, mask.includes(OPAQUE) ? mask : undefined, lenient);
}

interface Placeholders {
  /** The text with placeholders opaque and template statements blank; same length. */
  readonly mask: string;
  readonly found: boolean;
  readonly statements: readonly [number, number][];
}

const OPENER =
  /\{[{%#]|\$[{(]|\$[A-Za-z_]\w*|__[A-Z][A-Z0-9_]*__|@[A-Z][A-Z0-9_]*@|%[A-Z][A-Z0-9_]*%|(?<=(?:^|[ \t(])[>#])<[A-Za-z][^<>\r\n]{0,200}>/gm;

const STATEMENT =
  /^[-+~]?\s*(?:(?:if|else|end|range|with|define|block|break|continue|for|set|endif|endfor|elif)\b|\/\*|\$?\w+\s*:?=(?!=))/;

/** Finds placeholders and template statements; linear in the text. */
function maskPlaceholders(text: string): Placeholders {
  const parts: string[] = [];
  const statements: [number, number][] = [];
  let done = 0;
  // Where each closer was last seen: an opener without closer must not search the whole text again and again.
  const seen = new Map<string, number>();
  const closer = (what: string, from: number): number => {
    let at = seen.get(what) ?? -2;
    if (at === -1) return -1;
    if (at < from) {
      at = text.indexOf(what, from);
      seen.set(what, at);
    }
    return at;
  };
  OPENER.lastIndex = 0;
  const opener = new RegExp(OPENER);
  for (let match = opener.exec(text); match !== null; match = opener.exec(text)) {
    const start = match.index;
    const head = match[0];
    let end = start + head.length;
    let statement = false;
    if (head[0] === "{") {
      const close = head === "{{" ? "}}" : head === "{%" ? "%}" : "#}";
      const to = closer(close, end);
      if (to < 0) continue;
      statement = head !== "{{" || STATEMENT.test(text.slice(end, Math.min(to, end + 200)));
      end = to + 2;
    } else if (head === "${" || head === "$(") {
      const to = closer(head === "${" ? "}" : ")", end);
      const line = closer("\n", end);
      if (to < 0 || (line >= 0 && line < to)) continue;
      end = to + 1;
    }
    parts.push(text.slice(done, start), (statement ? " " : OPAQUE).repeat(end - start));
    if (statement) statements.push([start, end]);
    done = end;
    opener.lastIndex = end;
  }
  parts.push(text.slice(done));
  return { mask: parts.join(""), found: parts.length > 1, statements };
}
