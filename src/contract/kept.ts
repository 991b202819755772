/** A host that gives the same bytes object while a file's content is the same: what was parsed of it is then used again. */
import type { Host } from "./host.js";

export class KeptHost implements Host {
  readonly #host: Host;
  readonly #bytes = new Map<string, Uint8Array>();
  #changes = 0;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Rises whenever a read finds another content than the read before it (a first read is a change). */
  get changes(): number {
    return this.#changes;
  }

  read(path: string): Uint8Array | undefined {
    let now: Uint8Array | undefined;
    try {
      now = this.#host.read(path);
    } catch (error) {
      this.#forget(path);
      throw error;
    }
    const before = this.#bytes.get(path);
    if (now === undefined) {
      this.#forget(path);
      return undefined;
    }
    if (before !== undefined && same(before, now)) return before;
    this.#changes++;
    this.#bytes.set(path, now);
    return now;
  }

  stat(path: string): "file" | "directory" | undefined {
    return this.#host.stat(path);
  }

  list(path: string): ReturnType<Host["list"]> {
    return this.#host.list(path);
  }

  real(path: string): string | undefined {
    return this.#host.real === undefined ? path : this.#host.real(path);
  }

  #forget(path: string): void {
    if (this.#bytes.delete(path)) this.#changes++;
  }
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
