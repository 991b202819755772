/** A host over a map of files: tests, mutants, standard input. */
import { normalizePath } from "../model/file-path.js";
import type { Host } from "./host.js";

export type Tree = ReadonlyMap<string, Uint8Array>;

/** Files by path relative to `root`. */
export function memoryHost(tree: Tree, root = "/tree"): Host {
  const files = new Map<string, Uint8Array>();
  const directories = new Map<string, Map<string, "file" | "directory">>();
  for (const [path, bytes] of tree) {
    const full = normalizePath(`${root}/${path}`);
    files.set(full, bytes);
    let child = full;
    let kind: "file" | "directory" = "file";
    while (child !== "/" && child !== "") {
      const slash = child.lastIndexOf("/");
      const parent = slash <= 0 ? "/" : child.slice(0, slash);
      let entries = directories.get(parent);
      if (entries === undefined) directories.set(parent, (entries = new Map()));
      if (entries.has(child.slice(slash + 1))) break;
      entries.set(child.slice(slash + 1), kind);
      child = parent;
      kind = "directory";
    }
  }
  return {
    read: (path) => files.get(path),
    stat: (path) => (files.has(path) ? "file" : directories.has(path) ? "directory" : undefined),
    list: (path) => {
      const entries = directories.get(path);
      if (entries === undefined) return undefined;
      return [...entries].map(([name, kind]) => ({ name, kind })).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
  };
}
