/** `check --watch`: checks again when something below the watched directories changes, until Ctrl-C. */

import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { dirname, join, relative } from "node:path";
import { SKIPPED } from "../contract/load.js";
import { expectMuch } from "./disk.js";
import { note } from "./output.js";

export interface WatchOptions {
  /** Absolute paths whose directories are watched, with all that is below. */
  readonly paths: readonly string[];
  /** Files that the check itself writes: their changes are its own. */
  readonly own: readonly string[];
  /** Checks once. Gives the paths to watch from now on (a contract file may have been found above). */
  readonly run: (first: boolean) => Promise<readonly string[]>;
}

/** Editors write a file in several steps: changes this near to each other are one, in milliseconds. */
const SETTLE = 80;

/** Checks at once and after every change; resolves to 0 when the user ends it. */
export async function watchAndRun(options: WatchOptions): Promise<number> {
  expectMuch(true);
  const tree = new TreeWatcher((path) => changed(path));
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  let again = false;
  let first = true;
  let finish: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    finish = resolve;
  });

  function changed(path: string): void {
    if (options.own.includes(path)) return;
    clearTimeout(timer);
    timer = setTimeout(() => void go(), SETTLE);
  }

  async function go(): Promise<void> {
    if (running) {
      again = true;
      return;
    }
    running = true;
    try {
      do {
        again = false;
        const paths = await options.run(first);
        first = false;
        for (const path of paths) tree.add(path);
      } while (again);
    } finally {
      running = false;
    }
  }

  const stop = (): void => finish();
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  try {
    // watch before reading: a change during the first check is not lost
    for (const path of options.paths) tree.add(path);
    note("quorumlint: watching for changes; Ctrl-C ends it");
    await go();
    await ended;
  } finally {
    clearTimeout(timer);
    tree.close();
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  }
  return 0;
}

/** Watches directories and everything below them, new directories too. */
class TreeWatcher {
  readonly #changed: (path: string) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #told = false;
  /** The one recursive watcher that macOS and Windows have; elsewhere each directory gets its own. */
  readonly #native = process.platform === "darwin" || process.platform === "win32";

  constructor(changed: (path: string) => void) {
    this.#changed = changed;
  }

  add(path: string): void {
    let directory = path;
    try {
      if (!statSync(path).isDirectory()) directory = dirname(path);
    } catch {
      return;
    }
    for (const known of this.#watchers.keys()) if (isBelow(known, directory) && this.#native) return;
    this.#watch(directory);
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #watch(root: string): void {
    const open = [root];
    for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
      if (this.#watchers.has(directory) || !this.#start(directory) || this.#native) continue;
      try {
        for (const entry of readdirSync(directory, { withFileTypes: true })) {
          if (entry.isDirectory() && !SKIPPED.has(entry.name)) open.push(join(directory, entry.name));
        }
      } catch {}
    }
  }

  #start(directory: string): boolean {
    try {
      const watcher = watch(directory, { recursive: this.#native, persistent: true }, (_, name) => {
        const path = name === null ? directory : join(directory, name);
        if (
          relative(directory, path)
            .split(/[\\/]/)
            .some((part) => SKIPPED.has(part))
        )
          return;
        if (!this.#native) this.#grow(path);
        this.#changed(path.replaceAll("\\", "/"));
      });
      watcher.on("error", () => this.#drop(directory));
      this.#watchers.set(directory, watcher);
      return true;
    } catch (error) {
      // too many watches, or a directory that may not be read: said once, because its changes will not be seen
      if (!this.#told) note(`quorumlint: ${directory} is not watched: ${(error as Error).message}`);
      this.#told = true;
      return false;
    }
  }

  /** A new directory is watched too; one that is gone, or was replaced under its name, no more. */
  #grow(path: string): void {
    try {
      if (statSync(path).isDirectory()) {
        this.#drop(path);
        this.#watch(path);
      }
    } catch {
      this.#drop(path);
    }
  }

  #drop(directory: string): void {
    for (const [known, watcher] of this.#watchers) {
      if (!isBelow(directory, known)) continue;
      watcher.close();
      this.#watchers.delete(known);
    }
  }
}

function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`);
}
