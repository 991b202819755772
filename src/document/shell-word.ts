/** Words: quoting and expansions, as the shell's token recognition reads them (XCU 2.2, 2.3, 2.6). */
import type { Part, Statement, TextPart, Word } from "./shell-ast.js";
import { closingOffset } from "./shell-scan.js";

/** What a word needs from its script: places, and the statements of the substitutions in it. */
export interface WordHost {
  readonly text: string;
  /** An offset of `text` as the offset that goes into the tree; `end` for the end of a range. */
  at(offset: number, end: boolean): number;
  /** The substitution that opens at `offset` (`$(`, a backtick, `<(`) and ends before `limit`. */
  substitution(offset: number, limit: number): { readonly end: number; readonly body: readonly Statement[] };
  /** A part of an outer script that stands here as a run of placeholders. */
  hole(offset: number): { readonly end: number; readonly part: Part } | undefined;
}

interface LexOptions {
  /** `*`, `?`, `[…]`, `{a,b}` and `~` mean something. */
  readonly globs: boolean;
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const BRACES = /\{[^{}'"\s$`]*(?:,|\.\.)[^{}'"\s$`]*\}/y;
const TILDE = /~[A-Za-z0-9_.-]*(?=\/|:|$)/y;
const ARRAY_START = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=$/;
const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  f: "\f",
  v: "\v",
};

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** Collects parts; adjacent characters of one quoting become one run. */
class Parts {
  readonly list: Part[] = [];
  readonly #host: WordHost;
  #from = -1;
  #quote: TextPart["quote"];

  constructor(host: WordHost) {
    this.#host = host;
  }

  /** `offset` stands for itself. */
  plain(offset: number, quote: TextPart["quote"]): void {
    if (this.#from >= 0 && this.#quote !== quote) this.close(offset);
    if (this.#from < 0) {
      this.#from = offset;
      this.#quote = quote;
    }
  }

  /** Ends the current run before `offset`. */
  close(offset: number): void {
    if (this.#from < 0) return;
    const start = this.#from;
    this.#from = -1;
    this.text(this.#host.text.slice(start, offset), start, offset, this.#quote);
  }

  text(text: string, start: number, end: number, quote: TextPart["quote"]): void {
    const at = this.#host.at(start, false);
    const part = { type: "text" as const, text, start: at, end: this.#host.at(end, true) };
    this.list.push(quote === undefined ? part : { type: "text", text, start: at, end: part.end, quote });
  }

  push(part: Part): void {
    this.list.push(part);
  }
}

/** Reads `$…` or a backtick at `i`; undefined when the character stands for itself. */
function expansion(host: WordHost, i: number, limit: number, quoted: boolean): { end: number; part: Part } | undefined {
  const { text } = host;
  const quote = quoted ? { quote: '"' as const } : {};
  const range = (end: number) => ({ start: host.at(i, false), end: host.at(end, true) });
  if (text[i] === "`") {
    const found = host.substitution(i, limit);
    return { end: found.end, part: { type: "command", body: found.body, ...range(found.end), ...quote } };
  }
  const next = text[i + 1];
  if (next === "(") {
    if (text[i + 2] === "(") {
      const close = closingOffset(text, i + 3, "arithmetic");
      if (close >= 0 && close <= limit && text[close - 2] === ")") {
        const body: Statement[] = [];
        for (let j = text.indexOf("$(", i + 3); j >= 0 && j < close - 2; ) {
          if (text[j + 2] === "(") {
            j = text.indexOf("$(", j + 3);
            continue;
          }
          const found = host.substitution(j, close);
          body.push(...found.body);
          j = text.indexOf("$(", Math.max(found.end, j + 2));
        }
        const inner = text.slice(i + 3, close - 2).trim();
        const part = { type: "arithmetic" as const, text: inner, ...range(close), ...quote };
        return { end: close, part: body.length > 0 ? { ...part, body } : part };
      }
    }
    const found = host.substitution(i, limit);
    return { end: found.end, part: { type: "command", body: found.body, ...range(found.end), ...quote } };
  }
  if (next === "{") return braceExpansion(host, i, limit, quoted);
  const name = matchAt(NAME, text, i + 1) ?? (next !== undefined && /[0-9@*#?$!-]/.test(next) ? next : undefined);
  if (name === undefined || i + 1 + name.length > limit) return undefined;
  const end = i + 1 + name.length;
  return { end, part: { type: "param", name, ...range(end), ...quote } };
}

function braceExpansion(
  host: WordHost,
  i: number,
  limit: number,
  quoted: boolean,
): { end: number; part: Part } | undefined {
  const { text } = host;
  const quote = quoted ? { quote: '"' as const } : {};
  const close = closingOffset(text, i + 2, "braces");
  if (close < 0 || close > limit) return undefined;
  const inner = text.slice(i + 2, close - 1);
  const head = /^([#!]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(\[[^\]]*\])?/.exec(inner);
  const range = { start: host.at(i, false), end: host.at(close, true) };
  if (head === null) return { end: close, part: { type: "param", name: "", op: "bad", ...range, ...quote } };
  const [whole, prefix, name, index] = head;
  const rest = inner.slice(whole.length);
  if (prefix === "#") return { end: close, part: { type: "param", name: name!, op: "length", ...range, ...quote } };
  if (prefix === "!") return { end: close, part: { type: "param", name: name!, op: "indirect", ...range, ...quote } };
  if (rest === "") {
    const part = { type: "param" as const, name: name!, ...range, ...quote };
    return { end: close, part: index === undefined ? part : { ...part, op: index } };
  }
  const op = /^(?::[-=?+]|[-=?+]|##?|%%?|\/[/#%]?|\^\^?|,,?|:|@)/.exec(rest)?.[0] ?? rest[0]!;
  const from = i + 2 + whole.length + op.length;
  const arg = lexRun(host, from, close - 1, quoted ? "quotes" : "braces", { globs: false });
  return { end: close, part: { type: "param", name: name!, op, arg, ...range, ...quote } };
}

/**
 * Lexes `[start, end)`. `word`: an unquoted word; `quotes`: the inside of double quotes; `heredoc`: the body of a
 * here-document; `braces`: the argument of an unquoted `${…}`.
 */
function lexRun(
  host: WordHost,
  start: number,
  end: number,
  mode: "word" | "quotes" | "heredoc" | "braces",
  options: LexOptions,
): Part[] {
  const { text } = host;
  const parts = new Parts(host);
  const soft = mode === "quotes" || mode === "heredoc";
  const quote = soft ? ('"' as const) : undefined;
  let i = start;
  while (i < end) {
    const c = text[i]!;
    const hole = host.hole(i);
    if (hole !== undefined) {
      parts.close(i);
      parts.push(soft && hole.part.type !== "text" ? ({ ...hole.part, quote: '"' } as Part) : hole.part);
      i = hole.end;
      continue;
    }
    if (c === "$" || c === "`") {
      if (!soft && c === "$" && text[i + 1] === "'") {
        parts.close(i);
        const [value, stop] = ansiString(text, i + 2, end);
        parts.text(value, i, stop, "'");
        i = stop;
        continue;
      }
      if (!soft && c === "$" && text[i + 1] === '"') {
        parts.close(i);
        i++;
        continue;
      }
      const found = expansion(host, i, end, soft);
      if (found === undefined) {
        parts.plain(i, quote);
        i++;
      } else {
        parts.close(i);
        parts.push(found.part);
        i = found.end;
      }
      continue;
    }
    if (c === "\\") {
      const next = text[i + 1];
      if (i + 1 >= end) {
        parts.plain(i, quote);
        i++;
      } else if (next === "\n") {
        parts.close(i);
        i += 2;
      } else if (soft && next !== "$" && next !== "`" && next !== "\\" && !(next === '"' && mode === "quotes")) {
        parts.plain(i, quote);
        i++;
      } else {
        parts.close(i);
        parts.text(next!, i, i + 2, soft ? '"' : "\\");
        i += 2;
      }
      continue;
    }
    if (soft) {
      parts.plain(i, quote);
      i++;
      continue;
    }
    if (c === "'") {
      parts.close(i);
      const close = text.indexOf("'", i + 1);
      const stop = close < 0 || close >= end ? end : close;
      singleQuoted(parts, host, i + 1, stop);
      i = Math.min(end, stop + 1);
      continue;
    }
    if (c === '"') {
      parts.close(i);
      const stop = closeQuotes(text, i + 1, end);
      const inner = lexRun(host, i + 1, stop, "quotes", options);
      if (inner.length === 0) parts.text("", i + 1, i + 1, '"');
      for (const part of inner) parts.push(part);
      i = Math.min(end, stop + 1);
      continue;
    }
    if ((c === "<" || c === ">") && text[i + 1] === "(") {
      parts.close(i);
      const found = host.substitution(i, end);
      parts.push({ type: "process", body: found.body, start: host.at(i, false), end: host.at(found.end, true) });
      i = found.end;
      continue;
    }
    if (c === "(" && mode === "word" && ARRAY_START.test(text.slice(start, i))) {
      parts.close(i);
      const close = closingOffset(text, i + 1, "parens");
      const stop = close < 0 || close > end ? end : close;
      const words = splitWords(host, i + 1, Math.max(i + 1, stop - 1));
      parts.push({ type: "array", words, start: host.at(i, false), end: host.at(stop, true) });
      i = stop;
      continue;
    }
    if (options.globs && "*?[{~".includes(c)) {
      let glob: string | undefined;
      if (c === "*" || c === "?") glob = c;
      else if (c === "{") glob = matchAt(BRACES, text, i);
      else if (c === "~") glob = i === start ? matchAt(TILDE, text.slice(0, end), i) : undefined;
      else {
        const close = text.indexOf("]", i + 2);
        if (close >= 0 && close < end && !/[\s'"$`\\]/.test(text.slice(i, close))) glob = text.slice(i, close + 1);
      }
      if (glob !== undefined && i + glob.length <= end) {
        parts.close(i);
        parts.push({ type: "glob", text: glob, start: host.at(i, false), end: host.at(i + glob.length, true) });
        i += glob.length;
        continue;
      }
    }
    parts.plain(i, undefined);
    i++;
  }
  parts.close(end);
  return parts.list;
}

function singleQuoted(parts: Parts, host: WordHost, start: number, end: number): void {
  let from = start;
  for (let i = start; i < end; i++) {
    const hole = host.hole(i);
    if (hole === undefined) continue;
    if (i > from) parts.text(host.text.slice(from, i), from, i, "'");
    parts.push(hole.part.type === "text" ? hole.part : ({ ...hole.part, quote: '"' } as Part));
    from = hole.end;
    i = hole.end - 1;
  }
  if (end > from || from === start) parts.text(host.text.slice(from, end), from, end, "'");
}

/** The offset of the `"` that ends a double-quoted string whose inside starts at `i`. */
function closeQuotes(text: string, i: number, end: number): number {
  while (i < end) {
    const c = text[i]!;
    if (c === '"') return i;
    if (c === "\\") i += 2;
    else if (c === "`") i = after(closingOffset(text, i + 1, "backtick"), end);
    else if (c === "$" && text[i + 1] === "{") i = after(closingOffset(text, i + 2, "braces"), end);
    else if (c === "$" && text[i + 1] === "(") {
      const arithmetic = text[i + 2] === "(";
      i = after(closingOffset(text, i + (arithmetic ? 3 : 2), arithmetic ? "arithmetic" : "parens"), end);
    } else i++;
  }
  return end;
}

function after(close: number, end: number): number {
  return close < 0 ? end : close;
}

/** The value of `$'…'` whose inside starts at `i`, and the offset behind it. */
function ansiString(text: string, i: number, end: number): [string, number] {
  let value = "";
  while (i < end && text[i] !== "'") {
    if (text[i] !== "\\") {
      value += text[i++];
      continue;
    }
    const next = text[i + 1] ?? "";
    const hex = /^x([0-9A-Fa-f]{1,2})|^u([0-9A-Fa-f]{1,4})|^([0-7]{1,3})/.exec(text.slice(i + 1, i + 6));
    if (hex !== null) {
      value += String.fromCharCode(
        hex[3] !== undefined ? Number.parseInt(hex[3], 8) : Number.parseInt((hex[1] ?? hex[2])!, 16),
      );
      i += 1 + hex[0].length;
    } else {
      value += ESCAPES[next] ?? next;
      i += 2;
    }
  }
  return [value, Math.min(end, i + 1)];
}

function makeWord(host: WordHost, start: number, end: number, parts: Part[]): Word {
  const range = { start: host.at(start, false), end: host.at(end, true) };
  let text: string | undefined = "";
  for (const part of parts) {
    if (part.type !== "text") {
      text = undefined;
      break;
    }
    text += part.text;
  }
  if (text === undefined) return { ...range, parts };
  const only = parts[0];
  if (
    parts.length === 0 ||
    (parts.length === 1 && only!.type === "text" && only!.quote === undefined && only!.start === range.start)
  ) {
    return { ...range, text };
  }
  return { ...range, text, parts };
}

/** The word that fills `[start, end)`. */
export function lexWord(host: WordHost, start: number, end: number, globs = true): Word {
  return makeWord(host, start, end, lexRun(host, start, end, "word", { globs }));
}

/** The parts of a here-document's body; `strip`: leading tabs of its lines are removed (`<<-`). */
export function lexHeredoc(host: WordHost, start: number, end: number, quoted: boolean, strip: boolean): Part[] {
  const { text } = host;
  const out: Part[] = [];
  const chunk = (from: number, to: number): void => {
    if (to <= from) return;
    if (quoted)
      out.push({
        type: "text",
        text: text.slice(from, to),
        start: host.at(from, false),
        end: host.at(to, true),
        quote: "'",
      });
    else for (const part of lexRun(host, from, to, "heredoc", { globs: false })) out.push(part);
  };
  if (!strip) {
    chunk(start, end);
    return out;
  }
  for (let line = start; line < end; ) {
    let content = line;
    while (content < end && text[content] === "\t") content++;
    // A substitution may go on over line ends; its own tabs are nobody's concern.
    let stop = content;
    while (stop < end && text[stop] !== "\n") stop++;
    stop = Math.min(end, stop + 1);
    chunk(content, stop);
    line = stop;
  }
  return out;
}

/** The offset behind the word that starts at `i`: words are separated by blanks, and by `;&|<>()` where `operators` is set. */
export function wordEnd(text: string, i: number, end: number, operators = false): number {
  while (i < end) {
    const c = text[i]!;
    if (c === " " || c === "\t" || c === "\n" || c === "\r") return i;
    if (operators && ";&|<>()".includes(c)) return i;
    if (c === "\\") i += 2;
    else if (c === "'") i = after(text.indexOf("'", i + 1), end) + 1;
    else if (c === '"') i = closeQuotes(text, i + 1, end) + 1;
    else if (c === "`") i = after(closingOffset(text, i + 1, "backtick"), end);
    else if (c === "$" && text[i + 1] === "'") {
      i += 2;
      while (i < end && text[i] !== "'") i += text[i] === "\\" ? 2 : 1;
      i++;
    } else if (c === "$" && text[i + 1] === "{") i = after(closingOffset(text, i + 2, "braces"), end);
    else if ((c === "$" || c === "<" || c === ">") && text[i + 1] === "(") {
      const arithmetic = c === "$" && text[i + 2] === "(";
      i = after(closingOffset(text, i + (arithmetic ? 3 : 2), arithmetic ? "arithmetic" : "parens"), end);
    } else i++;
  }
  return Math.min(i, end);
}

/** Blank-separated words, as between `[` and `]` or in an array. */
export function splitWords(host: WordHost, start: number, end: number, globs = true): Word[] {
  const { text } = host;
  const out: Word[] = [];
  let i = start;
  while (i < end) {
    const c = text[i]!;
    if (c === " " || c === "\t" || c === "\n" || c === "\r") {
      i++;
    } else if (c === "\\" && text[i + 1] === "\n") {
      i += 2;
    } else if (c === "#" && out.length > 0 && text[i - 1] === "\n") {
      while (i < end && text[i] !== "\n") i++;
    } else {
      const stop = wordEnd(text, i, end);
      out.push(lexWord(host, i, stop, globs));
      i = Math.max(stop, i + 1);
    }
  }
  return out;
}
