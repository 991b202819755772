/** Which files a TypeScript or JavaScript file imports by a relative path, by its text alone: before anything parses it. */
import type { InputFile } from "../../input.js";
import { joinPath } from "./modules.js";

const MAX_IMPORTED = 500;
const EXTENSIONS = ["ts", "mts", "cts", "js", "mjs", "cjs"];

/** The files that some import, and what those import; `find` gives a file by its path. */
export function importsOf(
  files: readonly InputFile[],
  find: (path: string) => InputFile | undefined,
): readonly InputFile[] {
  const open = files.filter((f) => f.kind === "typescript" && f.fault === undefined);
  const start = new Set(open);
  const found = new Set<InputFile>();
  for (let file = open.pop(); file !== undefined && found.size < MAX_IMPORTED; file = open.pop()) {
    for (const specifier of importNames(file.source.text)) {
      const input = first(candidates(file.file, specifier), find);
      if (input === undefined || input.kind !== "typescript" || start.has(input) || found.has(input)) continue;
      found.add(input);
      open.push(input);
    }
  }
  return [...found];
}

function first(paths: readonly string[], find: (path: string) => InputFile | undefined): InputFile | undefined {
  for (const path of paths) {
    const input = find(path);
    if (input !== undefined) return input;
  }
  return undefined;
}

function importNames(text: string): string[] {
  const found = text.matchAll(/(?:\bfrom|\bimport|\brequire\()[ \t\r\n]{0,20}["'](\.{1,2}\/[^"'\r\n]{1,200})["']/g);
  return [...found].map((m) => m[1]!);
}

/** The paths that a specifier may name, as Node and TypeScript look for them. */
function candidates(from: string, specifier: string): string[] {
  const path = joinPath(from.slice(0, Math.max(0, from.lastIndexOf("/"))), specifier);
  if (path === undefined) return [];
  const bare = path.replace(/\.[mc]?js$/, "");
  const out = /\.[mc]?[jt]s$/.test(path) ? [path] : [];
  if (bare !== path) out.push(...EXTENSIONS.map((e) => `${bare}.${e}`));
  else out.push(...EXTENSIONS.map((e) => `${path}.${e}`), ...EXTENSIONS.map((e) => `${path}/index.${e}`));
  return out;
}
