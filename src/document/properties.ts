/**
 * Java `.properties` and `.env` files with positions.
 * https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/util/Properties.html#load(java.io.Reader)
 */
import type { Span, TextView } from "../text/source.js";

export interface Property {
  readonly key: string;
  readonly value: string;
  readonly at: Span;
  readonly keyAt: Span;
  readonly valueAt: Span;
}

export interface PropertiesProblem {
  readonly message: string;
  readonly at: Span;
}

/** `.properties`: `key = value`, `:` or blank as separator, `#`/`!` comments, continuation lines, escapes. */
export function parseProperties(view: TextView): Property[] {
  const { text } = view;
  const out: Property[] = [];
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < text.length) {
    let start = at;
    while (start < text.length && /[ \t\f]/.test(text[start]!)) start++;
    let end = lineEnd(text, start);
    if (start < end && text[start] !== "#" && text[start] !== "!") {
      // a line that ends in an odd number of backslashes goes on in the next one
      while (/(^|[^\\])(\\\\)*\\$/.test(text.slice(Math.max(start, end - 64), end)) && end < text.length) {
        end = lineEnd(text, end + (text.startsWith("\r\n", end) ? 2 : 1));
      }
      out.push(property(view, start, end));
    }
    at = end + (text.startsWith("\r\n", end) ? 2 : 1);
  }
  return out;
}

function lineEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && text[end] !== "\n" && text[end] !== "\r") end++;
  return end;
}

function property(view: TextView, start: number, end: number): Property {
  const { text } = view;
  let at = start;
  while (at < end && !/[=: \t\f]/.test(text[at]!)) at += text[at] === "\\" ? 2 : 1;
  const keyEnd = Math.min(at, end);
  while (at < end && /[ \t\f]/.test(text[at]!)) at++;
  if (at < end && (text[at] === "=" || text[at] === ":")) at++;
  while (at < end && /[ \t\f]/.test(text[at]!)) at++;
  return {
    key: unescaped(text.slice(start, keyEnd)),
    value: unescaped(text.slice(at, end)),
    at: view.span(start, end),
    keyAt: view.span(start, keyEnd),
    valueAt: view.span(at, end),
  };
}

function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(
    /\\(?:\r?\n[ \t\f]*|u([0-9a-fA-F]{4})|([\s\S]))/g,
    (_, hex: string | undefined, c: string | undefined) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      return c === undefined ? "" : ({ n: "\n", t: "\t", r: "\r", f: "\f" }[c] ?? c);
    },
  );
}

/** `.env`: `[export ]KEY=value`, quotes taken off, ` #` starts a comment only outside quotes. */
export function parseEnv(view: TextView): { entries: Property[]; problems: PropertiesProblem[] } {
  const { text } = view;
  const entries: Property[] = [];
  const problems: PropertiesProblem[] = [];
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < text.length) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end);
    const m = /^(\s*(?:export\s+)?)([A-Za-z_][\w.-]*)(\s*=\s*)/.exec(line);
    if (m !== null) {
      const keyStart = at + m[1]!.length;
      const valueStart = at + m[0].length;
      let raw = text.slice(valueStart, end);
      const quoted = /^(["'])((?:\\.|(?!\1).)*)\1/.exec(raw);
      if (quoted !== null) raw = quoted[0];
      else raw = raw.replace(/\s+#.*$/, "").replace(/\s+$/, "");
      const value = quoted === null ? raw : quoted[1] === '"' ? unescaped(quoted[2]!) : quoted[2]!;
      entries.push({
        key: m[2]!,
        value,
        at: view.span(keyStart, valueStart + raw.length),
        keyAt: view.span(keyStart, keyStart + m[2]!.length),
        valueAt: view.span(valueStart, valueStart + raw.length),
      });
    } else if (/^\s*[^#\s]/.test(line)) {
      problems.push({ message: "the line is no KEY=value", at: view.span(at, end) });
    }
    at = end + (text.startsWith("\r\n", end) ? 2 : 1);
  }
  return { entries, problems };
}
