/** The only door to files: surfaces give it (a disk, an editor's buffers, a test's map). Paths are absolute, with `/`. */
export interface Host {
  /** The bytes of a file; undefined where there is none. Throws a `HostError` where it cannot be read. */
  read(path: string): Uint8Array | undefined;
  /** What stands at a path; symbolic links are followed. */
  stat(path: string): "file" | "directory" | undefined;
  /** Names in a directory, sorted; undefined where it cannot be listed. */
  list(path: string): readonly { readonly name: string; readonly kind: "file" | "directory" | "other" }[] | undefined;
}

export class HostError extends Error {}

export function join(base: string, relative: string): string {
  if (relative.startsWith("/") || /^[A-Za-z]:\//.test(relative)) return clean(relative);
  return clean(`${base}/${relative}`);
}

export function clean(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return (path.startsWith("/") ? "/" : "") + parts.join("/");
}

export function dirname(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash <= 0 ? "/" : path.slice(0, slash);
}

export function basename(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** `path` relative to `root`; undefined where it lies outside. */
export function relativeTo(root: string, path: string): string | undefined {
  if (path === root) return "";
  const prefix = root === "/" ? "/" : `${root}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
}
