/** Where in a YAML mapping a cursor is while one types: by indentation and brackets, because half-typed text does not parse. */

export interface Cursor {
  /** Keys of the mappings around the cursor; `[]` for an item of a list. */
  readonly path: readonly string[];
  /** The key whose value is being typed; undefined: a key is. */
  readonly key: string | undefined;
  /** What stands before the cursor of the word that is typed, and its start. */
  readonly typed: string;
  readonly start: number;
}

/** Lines above the cursor that are looked at, and how long they may be: nobody writes longer ones by hand. */
const MAX_LINES = 20_000;
const MAX_LENGTH = 2000;
const KEY = /^((?:"[^"]*"|'[^']*'|[^\s:#,{}[\]"'][^:#,{}[\]]*))[ \t]*:(?=[ \t]|$)/;

export function cursorAt(text: string, offset: number): Cursor | undefined {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const line = text.slice(lineStart, offset);
  if (line.length > MAX_LENGTH || /(?:^|\s)#/.test(line)) return undefined;
  const lead = /^[ ]*(?:-[ ]+)*/.exec(line)![0];
  const dashes = [...lead].flatMap((c, i) => (c === "-" ? [i] : []));
  const path = outerPath(text, lineStart, dashes[0] ?? lead.length, dashes.length > 0);
  for (let i = 0; i < dashes.length; i++) path.push("[]");
  let rest = line.slice(lead.length);
  let from = lineStart + lead.length;
  const key = KEY.exec(rest);
  if (key === null) return inFlow(path, undefined, rest, from);
  rest = rest.slice(key[0].length);
  from += key[0].length;
  return inFlow(path, bare(key[1]!), rest, from);
}

/** The rest of a line: a value, or brackets with what is in them. */
function inFlow(outer: readonly string[], first: string | undefined, rest: string, from: number): Cursor {
  const frames: { path: readonly string[]; key: string | undefined; list: boolean }[] = [
    { path: outer, key: first, list: false },
  ];
  let word = 0;
  for (let i = 0; i < rest.length; i++) {
    const c = rest[i]!;
    const frame = frames.at(-1)!;
    if (c === '"' || c === "'") {
      const end = rest.indexOf(c, i + 1);
      if (end < 0) break;
      i = end;
    } else if (c === "{" || c === "[") {
      const path = [...frame.path, ...(frame.key === undefined ? [] : [frame.key]), ...(frame.list ? ["[]"] : [])];
      frames.push({ path, key: undefined, list: c === "[" });
      word = i + 1;
    } else if (c === "}" || c === "]") {
      if (frames.length > 1) frames.pop();
      word = i + 1;
    } else if (c === ",") {
      if (frames.length > 1) frame.key = undefined;
      word = i + 1;
    } else if (c === ":" && /[\s]/.test(rest[i + 1] ?? " ") && frames.length > 1 && !frame.list) {
      frame.key = bare(rest.slice(word, i).trim());
      word = i + 1;
    }
  }
  const blank = /^\s*/.exec(rest.slice(word))![0].length;
  const { path, key, list } = frames.at(-1)!;
  const typed = rest.slice(word + blank);
  const start = from + word + blank;
  // an item of a list of words is a value of that list
  return list ? { path, key: "[]", typed, start } : { path, key, typed, start };
}

/** The keys above a line that begins with a key, or with the dash of an item, in a column. */
function outerPath(text: string, lineStart: number, column: number, item: boolean): string[] {
  const path: string[] = [];
  // what the parent is searched of: a mapping's key, or an item's dash
  let at = { column, item };
  let end = lineStart - 1;
  for (let n = 0; end >= 0 && n < MAX_LINES && (at.item || at.column > 0); n++) {
    const start = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
    const line = text.slice(start, Math.min(end, start + MAX_LENGTH)).replace(/\r$/, "");
    end = start - 1;
    const lead = /^[ ]*(?:-[ ]+)*/.exec(line)![0];
    const content = line.slice(lead.length);
    if (content === "" || content.startsWith("#")) continue;
    const dashes = [...lead].flatMap((c, i) => (c === "-" ? [i] : []));
    const key = KEY.exec(content);
    const outside = at.item ? lead.length <= at.column : lead.length < at.column;
    if (outside && key !== null) path.unshift(bare(key[1]!));
    else if (at.item) {
      // `- - a`: its inner list goes on with this item
      const before = dashes.indexOf(at.column);
      if (before <= 0) continue;
      dashes.length = before;
    } else if (key === null || lead.length !== at.column || dashes.length === 0) continue;
    for (const _ of dashes) path.unshift("[]");
    at = dashes.length > 0 ? { column: dashes[0]!, item: true } : { column: lead.length, item: false };
  }
  return path;
}

function bare(key: string): string {
  return key.trim().replace(/^(["'])(.*)\1$/, "$2");
}
