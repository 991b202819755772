/** The characters of Java's string literals (JLS 3.3, 3.10.5–3.10.7). */

/** Unicode escapes (`\u0041`, `\uu0041`), which come before everything else: a backslash counts when an even number stands before it. */
function unicode(raw: string): string | undefined {
  if (!raw.includes("\\u")) return raw;
  let out = "";
  for (let i = 0; i < raw.length; i++) {
    if (raw[i] !== "\\") {
      out += raw[i];
      continue;
    }
    if (raw[i + 1] !== "u") {
      out += raw[i]! + (raw[i + 1] ?? "");
      i++;
      continue;
    }
    let at = i + 1;
    while (raw[at] === "u") at++;
    const digits = raw.slice(at, at + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) return undefined;
    out += String.fromCharCode(Number.parseInt(digits, 16));
    i = at + 3;
  }
  return out;
}

const SIMPLE: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  s: " ",
  '"': '"',
  "'": "'",
  "\\": "\\",
};

/** Escapes: `\n`, `\101`, `\s`; a backslash at the end of a line takes the line break away. */
function escapes(text: string): string | undefined {
  if (!text.includes("\\")) return text;
  let out = "";
  for (let i = 0; i < text.length; i++) {
    if (text[i] !== "\\") {
      out += text[i];
      continue;
    }
    const next = text[++i];
    if (next === undefined) return undefined;
    if (next === "\n") continue;
    const simple = SIMPLE[next];
    if (simple !== undefined) {
      out += simple;
      continue;
    }
    const octal = /^(?:[0-3][0-7]{0,2}|[4-7][0-7]?)/.exec(text.slice(i, i + 3))?.[0];
    if (octal === undefined) return undefined;
    out += String.fromCharCode(Number.parseInt(octal, 8));
    i += octal.length - 1;
  }
  return out;
}

/** What a string or character literal's inside means; undefined: not a literal that compiles. */
export function javaCharacters(raw: string): string | undefined {
  const text = unicode(raw);
  return text === undefined ? undefined : escapes(text);
}

function isBlank(c: string): boolean {
  return /\s/.test(c) && c !== "\u00a0" && c !== "\u2007" && c !== "\u202f" && c !== "\ufeff";
}

function indentation(line: string): number {
  let n = 0;
  while (n < line.length && isBlank(line[n]!)) n++;
  return n;
}

function stripEnd(line: string): string {
  let end = line.length;
  while (end > 0 && isBlank(line[end - 1]!)) end--;
  return line.slice(0, end);
}

/** `String.stripIndent` on lines that end with `\n`. */
export function stripIndent(text: string): string {
  const lines = text.split("\n");
  let least = Number.POSITIVE_INFINITY;
  lines.forEach((line, i) => {
    const n = indentation(line);
    // the last line counts even when it is blank: it is where the closing delimiter stands
    if (n < line.length || i === lines.length - 1) least = Math.min(least, n);
  });
  return lines.map((line) => (indentation(line) === line.length ? "" : stripEnd(line.slice(least)))).join("\n");
}

/** What a text block with its delimiters means; undefined: not one that compiles. */
export function javaTextBlock(raw: string): string | undefined {
  const text = unicode(raw)?.replace(/\r\n?/g, "\n");
  const opening = text === undefined ? null : /^"""[ \t\f]*\n/.exec(text);
  if (text === undefined || opening === null || !text.endsWith('"""')) return undefined;
  return escapes(stripIndent(text.slice(opening[0].length, -3)));
}
