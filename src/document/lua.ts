/**
 * Lua 5.1 as Redis runs it: the syntax tree of a script with places, syntax faults as data.
 * The parser module (`luaparse`) is passed in, so that it is loaded only when a contract has a script.
 */
import type { Span, TextView } from "../text/source.js";

/** `[start, end)`: inner UTF-16 offsets of the document's view. */
export type LuaRange = readonly [number, number];

interface Ranged {
  readonly range: LuaRange;
}
export interface LuaIdentifier extends Ranged {
  readonly type: "Identifier";
  readonly name: string;
}
export interface LuaLiteral extends Ranged {
  readonly type: "StringLiteral" | "NumericLiteral" | "BooleanLiteral" | "NilLiteral" | "VarargLiteral";
  readonly value: unknown;
  readonly raw: string;
}
export interface LuaFunction extends Ranged {
  readonly type: "FunctionDeclaration";
  readonly identifier: LuaIdentifier | LuaMember | null;
  readonly isLocal: boolean;
  readonly parameters: readonly (LuaIdentifier | LuaLiteral)[];
  readonly body: readonly LuaStatement[];
}
export interface LuaMember extends Ranged {
  readonly type: "MemberExpression";
  readonly indexer: "." | ":";
  readonly identifier: LuaIdentifier;
  readonly base: LuaExpression;
}
export type LuaExpression =
  | LuaIdentifier
  | LuaLiteral
  | LuaFunction
  | LuaMember
  | (Ranged & { readonly type: "IndexExpression"; readonly base: LuaExpression; readonly index: LuaExpression })
  | (Ranged & {
      readonly type: "CallExpression";
      readonly base: LuaExpression;
      readonly arguments: readonly LuaExpression[];
    })
  | (Ranged & { readonly type: "TableCallExpression"; readonly base: LuaExpression; readonly arguments: LuaExpression })
  | (Ranged & {
      readonly type: "StringCallExpression";
      readonly base: LuaExpression;
      readonly argument: LuaExpression;
    })
  | (Ranged & {
      readonly type: "BinaryExpression" | "LogicalExpression";
      readonly operator: string;
      readonly left: LuaExpression;
      readonly right: LuaExpression;
    })
  | (Ranged & { readonly type: "UnaryExpression"; readonly operator: string; readonly argument: LuaExpression })
  | (Ranged & { readonly type: "TableConstructorExpression"; readonly fields: readonly LuaField[] });

export type LuaField =
  | (Ranged & { readonly type: "TableKey"; readonly key: LuaExpression; readonly value: LuaExpression })
  | (Ranged & { readonly type: "TableKeyString"; readonly key: LuaIdentifier; readonly value: LuaExpression })
  | (Ranged & { readonly type: "TableValue"; readonly value: LuaExpression });

export interface LuaClause extends Ranged {
  readonly type: "IfClause" | "ElseifClause" | "ElseClause";
  readonly condition?: LuaExpression;
  readonly body: readonly LuaStatement[];
}
export type LuaStatement =
  | LuaFunction
  | (Ranged & {
      readonly type: "LocalStatement";
      readonly variables: readonly LuaIdentifier[];
      readonly init: readonly LuaExpression[];
    })
  | (Ranged & {
      readonly type: "AssignmentStatement";
      readonly variables: readonly LuaExpression[];
      readonly init: readonly LuaExpression[];
    })
  | (Ranged & { readonly type: "CallStatement"; readonly expression: LuaExpression })
  | (Ranged & { readonly type: "IfStatement"; readonly clauses: readonly LuaClause[] })
  | (Ranged & {
      readonly type: "WhileStatement";
      readonly condition: LuaExpression;
      readonly body: readonly LuaStatement[];
    })
  | (Ranged & {
      readonly type: "RepeatStatement";
      readonly condition: LuaExpression;
      readonly body: readonly LuaStatement[];
    })
  | (Ranged & { readonly type: "DoStatement"; readonly body: readonly LuaStatement[] })
  | (Ranged & {
      readonly type: "ForNumericStatement";
      readonly variable: LuaIdentifier;
      readonly start: LuaExpression;
      readonly end: LuaExpression;
      readonly step: LuaExpression | null;
      readonly body: readonly LuaStatement[];
    })
  | (Ranged & {
      readonly type: "ForGenericStatement";
      readonly variables: readonly LuaIdentifier[];
      readonly iterators: readonly LuaExpression[];
      readonly body: readonly LuaStatement[];
    })
  | (Ranged & { readonly type: "ReturnStatement"; readonly arguments: readonly LuaExpression[] })
  | (Ranged & { readonly type: "BreakStatement" });

export interface LuaComment extends Ranged {
  readonly value: string;
  readonly raw: string;
}

/** `--- @include "x"` or `#include "x"`: the text of another file stands here. */
export interface LuaInclude {
  readonly name: string;
  readonly at: Span;
  readonly range: LuaRange;
}

/** `#!lua name=lib flags=no-writes,allow-stale` (Redis 7.0): the first line of a script or function library. */
export interface LuaShebang {
  readonly engine: string;
  readonly name: string | undefined;
  readonly flags: readonly string[];
  readonly at: Span;
}

export interface LuaProblem {
  readonly message: string;
  readonly at: Span;
}

export interface LuaDocument {
  readonly view: TextView;
  /** undefined: the text does not parse, `problems` says where. */
  readonly body: readonly LuaStatement[] | undefined;
  readonly comments: readonly LuaComment[];
  readonly includes: readonly LuaInclude[];
  readonly shebang: LuaShebang | undefined;
  readonly problems: readonly LuaProblem[];
}

/** The part of the `luaparse` module that is used. */
export interface LuaParser {
  parse(text: string, options: object): unknown;
}

/** LUAI_MAXCCALLS of Lua 5.1: deeper syntax is refused by the server ("chunk has too many syntax levels"). */
const MAX_LEVELS = 199;
const OPTIONS = { luaVersion: "5.1", ranges: true, comments: true };
const INCLUDE_COMMENT = /^-{2,3}[ \t]*@include[ \t]+(?:"([^"]+)"|'([^']+)'|<([^>]+)>)[; \t]*$/;
const INCLUDE_HASH = /^#include[ \t]+(?:"([^"]+)"|'([^']+)'|<([^>]+)>)[; \t]*$/;

interface Scan {
  /** A number that runs into a word (`1if`), which luaparse reads as two tokens: `[start, end)`. */
  number: LuaRange | undefined;
  /** Offset at which the nesting passes the limit, or -1. */
  deep: number;
  /** `[start, end)` to blank before parsing: `#include` lines and the `;` after `break`, which luaparse refuses. */
  blanks: number[];
  includes: LuaInclude[];
}

/** One pass over the tokens that looks only at nesting, include directives and what must be blanked. */
function scan(view: TextView): Scan {
  const { text } = view;
  const found: Scan = { number: undefined, deep: -1, blanks: [], includes: [] };
  const chains: number[] = [];
  let level = 0;
  let chain = 0;
  let unary = 0;
  let afterBreak = false;
  let lineStart = true;
  const length = text.length;
  const returns = text.includes("\r");
  let i = 0;
  if (text.startsWith("#!")) i = lineEnd(text, 0, true);
  while (i < length) {
    const c = text.charCodeAt(i);
    if (c === 10 || c === 13) {
      lineStart = true;
      i++;
      continue;
    }
    if (c === 32 || c === 9 || c === 11 || c === 12) {
      i++;
      continue;
    }
    if (c === 45 && text.charCodeAt(i + 1) === 45) {
      const long = text.charCodeAt(i + 2) === 91 ? longBracketEnd(text, i + 2) : -1;
      const end = long >= 0 ? long : lineEnd(text, i, returns);
      if (long < 0 && end - i > 12) note(INCLUDE_COMMENT, i, end);
      i = end;
      continue;
    }
    const first = lineStart;
    lineStart = false;
    if (first && c === 35 && text.startsWith("#include", i)) {
      const end = lineEnd(text, i, returns);
      if (note(INCLUDE_HASH, i, end)) {
        found.blanks.push(i, end);
        i = end;
        continue;
      }
    }
    if (afterBreak) {
      afterBreak = false;
      if (c === 59) found.blanks.push(i, i + 1);
    }
    if (isWordStart(c)) {
      const start = i;
      do i++;
      while (i < length && isWord(text.charCodeAt(i)));
      const size = i - start;
      if (size >= 2 && size <= 8 && KEYWORD_STARTS[size]!.includes(c)) {
        switch (text.slice(start, i)) {
          case "function":
          case "repeat":
          case "do":
          case "if":
            level++;
            chain = 0;
            break;
          case "end":
          case "until":
            level--;
            chain = 0;
            break;
          case "break":
            afterBreak = true;
            break;
          case "not":
            unary++;
            if (level + chain + unary > MAX_LEVELS && found.deep < 0) found.deep = start;
            continue;
          case "then":
          case "else":
          case "elseif":
          case "local":
          case "return":
          case "and":
          case "or":
            chain = 0;
            break;
        }
      }
      unary = 0;
    } else if (c === 34 || c === 39) {
      i = stringEnd(text, i);
      unary = 0;
    } else if (c >= 48 && c <= 57) {
      const end = numberEnd(text, i);
      if (end - i > 1 && found.number === undefined && !NUMBER.test(text.slice(i, end))) found.number = [i, end];
      i = end;
      unary = 0;
    } else if (c === 40 || c === 123 || c === 91) {
      const long = c === 91 ? longBracketEnd(text, i) : -1;
      if (long >= 0) {
        i = long;
        unary = 0;
        continue;
      }
      chains.push(chain + unary);
      level += 1 + chain + unary;
      chain = 0;
      unary = 0;
      i++;
    } else if (c === 41 || c === 125 || c === 93) {
      chain = chains.pop() ?? 0;
      level -= 1 + chain;
      unary = 0;
      i++;
    } else if (c === 46 && text.charCodeAt(i + 1) === 46) {
      if (text.charCodeAt(i + 2) === 46) i += 3;
      else {
        chain++;
        i += 2;
      }
      unary = 0;
    } else if (c === 94) {
      chain++;
      unary = 0;
      i++;
    } else if (c === 45 || c === 35) {
      unary++;
      i++;
    } else {
      if (c === 44 || c === 59 || c === 61 || c === 60 || c === 62 || c === 126) chain = 0;
      unary = 0;
      i++;
    }
    if (level + chain + unary > MAX_LEVELS && found.deep < 0) found.deep = i - 1;
  }
  return found;

  function note(form: RegExp, start: number, end: number): boolean {
    const match = form.exec(text.slice(start, end));
    const name = match?.[1] ?? match?.[2] ?? match?.[3];
    if (name === undefined) return false;
    found.includes.push({ name, at: view.span(start, end), range: [start, end] });
    return true;
  }
}

/** First letters of the keywords that matter, by length. */
const KEYWORD_STARTS: readonly (readonly number[])[] = [
  [],
  [],
  ["d", "i", "o"],
  ["e", "n", "a"],
  ["t", "e"],
  ["u", "b", "l"],
  ["r", "e"],
  [],
  ["f"],
].map((letters) => letters.map((l) => l.charCodeAt(0)));

function isWordStart(c: number): boolean {
  return (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95;
}

function isWord(c: number): boolean {
  return isWordStart(c) || (c >= 48 && c <= 57);
}

const NUMBER = /^(?:0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?(?:[pP][+-]?\d+)?|\d+\.?\d*(?:[eE][+-]?\d+)?)$/;

/** Where Lua's lexer ends a number: after all digits, dots, letters and the sign of an exponent. */
function numberEnd(text: string, from: number): number {
  let i = from;
  while (i < text.length) {
    const c = text.charCodeAt(i);
    if (!isWord(c) && c !== 46) break;
    i++;
    const sign = text.charCodeAt(i);
    if ((c === 101 || c === 69) && (sign === 43 || sign === 45) && text.charCodeAt(from + 1) !== 120) i++;
  }
  return i;
}

/** End of the line; `returns`: the text has carriage returns, so the fast search for `\n` alone would not do. */
function lineEnd(text: string, from: number, returns: boolean): number {
  if (!returns) {
    const end = text.indexOf("\n", from);
    return end < 0 ? text.length : end;
  }
  let i = from;
  for (; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 10 || c === 13) break;
  }
  return i;
}

function stringEnd(text: string, from: number): number {
  const quote = text.charCodeAt(from);
  let i = from + 1;
  for (; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 92) i++;
    else if (c === quote) return i + 1;
    else if (c === 10 || c === 13) return i;
  }
  return i;
}

/** End of `[==[ … ]==]` that starts at `from`; -1 when no long bracket starts there. */
function longBracketEnd(text: string, from: number): number {
  let i = from + 1;
  while (text.charCodeAt(i) === 61) i++;
  if (text.charCodeAt(i) !== 91) return -1;
  const close = `]${"=".repeat(i - from - 1)}]`;
  const end = text.indexOf(close, i + 1);
  return end < 0 ? text.length : end + close.length;
}

function blanked(text: string, blanks: readonly number[]): string {
  let out = "";
  let at = 0;
  for (let i = 0; i < blanks.length; i += 2) {
    const start = blanks[i]!;
    const end = blanks[i + 1]!;
    out += text.slice(at, start) + " ".repeat(end - start);
    at = end;
  }
  return out + text.slice(at);
}

function readShebang(view: TextView): LuaShebang | undefined {
  const { text } = view;
  if (!text.startsWith("#!")) return undefined;
  const end = lineEnd(text, 0, true);
  const words = text
    .slice(2, end)
    .trim()
    .split(/[ \t]+/);
  let name: string | undefined;
  let flags: readonly string[] = [];
  for (const word of words.slice(1)) {
    if (word.startsWith("name=")) name = word.slice(5);
    else if (word.startsWith("flags=")) flags = word.slice(6).split(",").filter(Boolean);
  }
  return { engine: words[0] ?? "", name, flags, at: view.span(0, end) };
}

/**
 * Parses one script. Never throws: what does not parse, or is nested deeper than the server's parser allows, gives
 * `body: undefined` and one problem. Sources: the Lua 5.1 manual §2, Redis documentation "Scripting with Lua".
 */
export function parseLua(view: TextView, luaparse: LuaParser): LuaDocument {
  const found = scan(view);
  const shebang = readShebang(view);
  const base = { view, includes: found.includes, shebang };
  const failed = (message: string, start: number, end: number): LuaDocument => ({
    ...base,
    body: undefined,
    comments: [],
    problems: [{ message, at: view.span(start, end) }],
  });
  if (found.deep >= 0) {
    return failed("more than 200 levels of nesting, which the server refuses", found.deep, found.deep + 1);
  }
  if (found.number !== undefined) {
    const [start, end] = found.number;
    return failed(`malformed number near '${view.text.slice(start, Math.min(end, start + 40))}'`, start, end);
  }
  const text = found.blanks.length === 0 ? view.text : blanked(view.text, found.blanks);
  try {
    const chunk = luaparse.parse(text, OPTIONS) as {
      body: readonly LuaStatement[];
      comments?: readonly LuaComment[];
    };
    return {
      view: base.view,
      body: chunk.body,
      comments: chunk.comments ?? [],
      includes: base.includes,
      shebang: base.shebang,
      problems: [],
    };
  } catch (error) {
    if (error instanceof RangeError) return failed("nested too deeply to be read", 0, Math.min(1, text.length));
    const { message, index } = error as { message?: unknown; index?: unknown };
    if (typeof message !== "string" || typeof index !== "number") throw error;
    let start = Math.max(0, Math.min(index, text.length));
    let end = Math.min(text.length, Math.max(start, wordEnd(text, start)));
    // an end that comes too early: behind the last token; an open string is told of behind its line
    if (text.slice(start, end).trim() === "" || message.includes("unfinished string"))
      [start, end] = lastToken(text, start) ?? [start, end];
    return failed(message.replace(/^\[\d+:\d+\] /, ""), start, end);
  }
}

function wordEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && isWord(text.charCodeAt(end))) end++;
  return end === start ? start + 1 : end;
}

/** The last token that starts before `before` (of one over several lines, its first); comments are none. */
function lastToken(text: string, before: number): [number, number] | undefined {
  let last: [number, number] | undefined;
  for (let i = 0; i < before; ) {
    const c = text.charCodeAt(i);
    if (c <= 32) i++;
    else if (c === 45 && text.charCodeAt(i + 1) === 45) {
      const long = text.charCodeAt(i + 2) === 91 ? longBracketEnd(text, i + 2) : -1;
      i = long >= 0 ? long : lineEnd(text, i, true);
    } else {
      const start = i;
      const long = c === 91 ? longBracketEnd(text, i) : -1;
      if (long >= 0) i = long;
      else if (c === 34 || c === 39) i = stringEnd(text, i);
      else if (isWord(c)) while (i < text.length && isWord(text.charCodeAt(i))) i++;
      else i++;
      last = [start, Math.min(i, lineEnd(text, start, true))];
    }
  }
  return last;
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** The value of a Lua string literal from its raw text; `\ddd` gives the code unit of that number. */
export function luaString(raw: string): string {
  if (raw.charCodeAt(0) === 91) {
    const open = raw.indexOf("[", 1) + 1;
    let start = open;
    if (raw[start] === "\r" && raw[start + 1] === "\n") start += 2;
    else if (raw[start] === "\n" || raw[start] === "\r") start++;
    return raw.slice(start, raw.length - open).replace(/\r\n?/g, "\n");
  }
  const inner = raw.slice(1, -1);
  if (!inner.includes("\\")) return inner;
  return inner.replace(/\\(\d{1,3}|\r\n|[\s\S])/g, (_, code: string) => {
    const c = code.charCodeAt(0);
    if (c >= 48 && c <= 57) return String.fromCharCode(Number(code));
    if (c === 13) return "\n";
    return ESCAPES[code] ?? code;
  });
}
