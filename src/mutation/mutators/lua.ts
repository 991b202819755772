/** Mutators of Lua programs: statements, the two kinds of arguments, comparisons, commands. */
import { cutLine, linesOf } from "./lines.js";
import type { TextMutation } from "./text.js";

const TOKEN =
  /--\[(=*)\[[\s\S]*?\]\1\]|--[^\n]*|\[(=*)\[[\s\S]*?\]\2\]|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\b(KEYS|ARGV)\s*\[\s*(\d+)\s*\]|==|~=|<=|>=|<|>|\b(true|false)\b|\b\d+\b/g;

const COMPARISONS: Readonly<Record<string, string>> = {
  "==": "~=",
  "~=": "==",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
};

export function* luaMutations(text: string): Generator<TextMutation> {
  const comments: [number, number][] = [];
  const line = (offset: number): number => {
    let n = 1;
    for (let i = text.indexOf("\n"); i >= 0 && i < offset; i = text.indexOf("\n", i + 1)) n++;
    return n;
  };
  for (const m of text.matchAll(TOKEN)) {
    const [token, , , base, index, boolean] = m;
    const start = m.index;
    const end = start + token.length;
    const at = (mutator: string, newText: string): TextMutation => ({
      mutator,
      field: `${line(start)}: ${token.length > 40 ? `${token.slice(0, 40)}…` : token}`,
      start,
      end,
      newText,
    });
    if (token.startsWith("--")) comments.push([start, end]);
    else if (base !== undefined) {
      yield at("swap-arguments", `${base === "KEYS" ? "ARGV" : "KEYS"}[${index}]`);
      yield at("increment", `${base}[${Number(index) + 1}]`);
    } else if (COMPARISONS[token] !== undefined) yield at("flip-comparison", COMPARISONS[token]);
    else if (boolean !== undefined) yield at("flip-boolean", boolean === "true" ? "false" : "true");
    else if (/^\d+$/.test(token)) yield at("increment", String(Number(token) + 1));
    else if (/\bp?call\s*\(\s*$/.test(text.slice(Math.max(0, start - 24), start)) && /^["']\w+["']$/.test(token))
      yield at("other-command", `${token[0]}${/^.get/i.test(token) ? "set" : "get"}${token[0]}`);
  }
  const commented = (offset: number): boolean => comments.some(([a, b]) => offset >= a && offset < b);
  let number = 0;
  for (const l of linesOf(text)) {
    number++;
    const trimmed = l.text.trim();
    if (commented(l.start + l.text.indexOf(trimmed))) continue;
    // whole statements on one line: a call, an assignment, a return
    if (!/^(?:redis\.p?call\s*\(.*\)|[\w.]+\s*=\s*[^=].*|return\b.*)$/.test(trimmed) || !balanced(trimmed)) continue;
    yield {
      mutator: "remove-statement",
      field: `${number}: ${trimmed.slice(0, 40)}`,
      newText: "",
      ...cutLine(text, l),
    };
  }
}

function balanced(text: string): boolean {
  let depth = 0;
  for (const c of text) {
    if (c === "(" || c === "{" || c === "[") depth++;
    else if (c === ")" || c === "}" || c === "]") depth--;
  }
  return depth === 0;
}
