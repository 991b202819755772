/** Files as the editor has them: open buffers over a disk that is remembered until something says that it changed. */
import { basename, dirname, type Host } from "../contract/host.js";
import { KeptHost } from "../contract/kept.js";

type Listing = ReturnType<Host["list"]>;

/** Where nobody tells of changes on the disk, what was read holds this long, in milliseconds. */
const TRUST = 1000;

export class EditorHost implements Host {
  readonly #disk: KeptHost;
  readonly #buffers = new Map<string, Uint8Array>();
  readonly #reads = new Map<string, Uint8Array | undefined>();
  readonly #stats = new Map<string, "file" | "directory" | undefined>();
  readonly #reals = new Map<string, string | undefined>();
  readonly #lists = new Map<string, Listing>();
  /** The client tells of files that change; without that the disk is looked at again after a while. */
  watched = false;
  #since = 0;

  constructor(disk: Host) {
    this.#disk = new KeptHost(disk);
  }

  /** The text of an open buffer; undefined: it was closed. */
  setBuffer(path: string, text: string | undefined): void {
    if (text === undefined) this.#buffers.delete(path);
    else this.#buffers.set(path, new TextEncoder().encode(text));
  }

  /** Something happened to a path on the disk: what is known of it, of all below it and of its directory is forgotten. */
  forget(path: string): void {
    for (const map of [this.#reads, this.#stats, this.#reals, this.#lists]) {
      map.delete(path);
      for (const key of map.keys()) if (key.startsWith(`${path}/`)) map.delete(key);
    }
    // a file in a new directory: every directory above may be new
    for (let at = dirname(path); ; at = dirname(at)) {
      this.#lists.delete(at);
      this.#stats.delete(at);
      if (at === "/" || at === dirname(at)) break;
    }
  }

  /** To be called before a run. `now` in milliseconds, from any origin. */
  begin(now: number): void {
    if (this.watched || now - this.#since < TRUST) return;
    this.#since = now;
    this.#reads.clear();
    this.#stats.clear();
    this.#reals.clear();
    this.#lists.clear();
  }

  read(path: string): Uint8Array | undefined {
    const buffer = this.#buffers.get(path);
    if (buffer !== undefined) return buffer;
    if (this.#reads.has(path)) return this.#reads.get(path);
    const bytes = this.#disk.read(path);
    this.#reads.set(path, bytes);
    return bytes;
  }

  stat(path: string): "file" | "directory" | undefined {
    if (this.#buffers.has(path)) return "file";
    if (this.#stats.has(path)) return this.#stats.get(path);
    const found = this.#disk.stat(path);
    this.#stats.set(path, found);
    return found;
  }

  real(path: string): string | undefined {
    // what the editor shows, it has read itself
    if (this.#buffers.has(path)) return path;
    if (this.#reals.has(path)) return this.#reals.get(path);
    const found = this.#disk.real(path);
    this.#reals.set(path, found);
    return found;
  }

  list(path: string): Listing {
    let listed: Listing;
    if (this.#lists.has(path)) listed = this.#lists.get(path);
    else this.#lists.set(path, (listed = this.#disk.list(path)));
    // a buffer that was never saved is a file all the same
    const more = [...this.#buffers.keys()].filter(
      (file) => dirname(file) === path && listed?.some((entry) => entry.name === basename(file)) !== true,
    );
    if (more.length === 0) return listed;
    return [...(listed ?? []), ...more.map((file) => ({ name: basename(file), kind: "file" as const }))].sort((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  }
}
