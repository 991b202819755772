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

/** Lines above the cursor that are looked at. */
const MAX_LINES = 20_000;
const KEY = /^((?:"[^"]*"|'[^']*'|[^\s:#,{}[\]"'][^:#,{}[\]]*))[ \t]*:(?=[ \t]|$)/;

export function cursorAt(text: string, offset: number): Cursor | undefined {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const line = text.slice(lineStart, offset);
  if (/(?:^|\s)#/.test(line)) return undefined;
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

/** The keys above a line that is indented by `indent`. */
function outerPath(text: string, lineStart: number, indent: number, item: boolean): string[] {
  const path: string[] = [];
  let limit = indent;
  // the items of a list may stand as far left as its key
  let orEqual = item;
  let end = lineStart - 1;
  for (let n = 0; end >= 0 && n < MAX_LINES && (limit > 0 || orEqual); n++) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    const line = text.slice(start, end).replace(/\r$/, "");
    end = start - 1;
    const lead = /^[ ]*(?:-[ ]+)*/.exec(line)![0];
    const content = line.slice(lead.length);
    if (content === "" || content.startsWith("#")) {
      if (end < 0) break;
      continue;
    }
    const dashes = [...lead].flatMap((c, i) => (c === "-" ? [i] : []));
    const key = KEY.exec(content);
    const column = lead.length;
    if (key !== null && (column < limit || (orEqual && dashes.length === 0 && column <= limit))) {
      path.unshift(bare(key[1]!));
      limit = column;
      orEqual = false;
    }
    // this line opens the item that the cursor is in
    for (const dash of dashes.reverse()) {
      if (dash < limit || (dash === limit && !orEqual && path.length === 0 && key === null)) {
        if (path.length > 0 || column <= indent) path.unshift("[]");
        limit = dash;
        orEqual = true;
      }
    }
    if (end < 0) break;
  }
  return path;
}

function bare(key: string): string {
  return key.trim().replace(/^(["'])(.*)\1$/, "$2");
}
