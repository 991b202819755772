import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** JSON is compared by value: the formatter may lay it out otherwise. */
const normal = (name, text) => (name.endsWith(".json") ? JSON.stringify(JSON.parse(text)) : text);

/** Writes the files that differ, or only names them. */
export function writeOrCompare(files, checkOnly) {
  const stale = [];
  for (const [name, text] of files) {
    if (existsSync(name) && normal(name, readFileSync(name, "utf8")) === normal(name, text)) continue;
    stale.push(name);
    if (checkOnly) continue;
    mkdirSync(dirname(name), { recursive: true });
    writeFileSync(name, text);
  }
  return stale;
}
