/** A directory as a map of files. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Tree } from "../contract/memory.js";

export function readTree(folder: string): Tree {
  const out = new Map<string, Uint8Array>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.parentPath.includes("node_modules")) continue;
    const path = join(entry.parentPath, entry.name);
    out.set(path.slice(folder.length + 1).replaceAll("\\", "/"), readFileSync(path));
  }
  return out;
}
