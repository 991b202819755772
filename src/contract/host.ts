import { normalizePath } from "../model/file-path.js";

/** The only door to files: surfaces give it (a disk, an editor's buffers, a test's map). Paths are absolute, with `/`. */
export interface Host {
  /** The bytes of a file; undefined where there is none. Throws a `HostError` where it cannot be read. */
  read(path: string): Uint8Array | undefined;
  /** What stands at a path; symbolic links are followed. */
  stat(path: string): "file" | "directory" | undefined;
  /** Names in a directory, sorted; undefined where it cannot be listed. */
  list(path: string): readonly Entry[] | undefined;
  /** The path with every symbolic link resolved; undefined where nothing is there. A host without links leaves it out. */
  real?(path: string): string | undefined;
}

export interface Entry {
  readonly name: string;
  /** For a link: what it leads to. */
  readonly kind: "file" | "directory" | "other";
  readonly link?: true;
}

export class HostError extends Error {}

export function join(base: string, relative: string): string {
  if (relative.startsWith("/") || /^[A-Za-z]:\//.test(relative)) return normalizePath(relative);
  return normalizePath(`${base}/${relative}`);
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

export const LEADS_OUT = "it is not read: a symbolic link leads out of the directory that is checked";

/** Keeps a run under its root: a path leaves it where a symbolic link, in it or at its end, leads somewhere else. */
export class Fence {
  readonly #host: Host;
  readonly #root: string;
  #real: string | undefined;

  constructor(host: Host, root: string) {
    this.#host = host;
    this.#root = root;
  }

  /** Whether an absolute path below the root stands for something that is not; false where nothing is there. */
  leaves(path: string): boolean {
    if (this.#host.real === undefined) return false;
    const real = this.#host.real(path);
    this.#real ??= this.#host.real(this.#root) ?? this.#root;
    return real !== undefined && relativeTo(this.#real, real) === undefined;
  }
}
