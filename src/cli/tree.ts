/** A directory as a map of files. */
import { Fence, join } from "../contract/host.js";
import { walk } from "../contract/load.js";
import type { Tree } from "../contract/memory.js";
import { disk } from "./disk.js";

/** Files below a folder by relative path; what links lead out of it is left out. */
export function readTree(folder: string): Tree {
  const out = new Map<string, Uint8Array>();
  const root = folder.replaceAll("\\", "/");
  const fence = new Fence(disk, root);
  for (const file of walk(disk, root)) {
    const path = join(root, file);
    const bytes = fence.leaves(path) ? undefined : disk.read(path);
    if (bytes !== undefined) out.set(file, bytes);
  }
  return out;
}
