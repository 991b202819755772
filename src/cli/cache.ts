/**
 * `--cache`: what a run printed, kept with everything that it asked of the disk. It is printed again only where each of those
 * answers is the same, byte for byte, and so are options, day and version: it cannot be stale. What is damaged is made anew.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Host } from "../contract/host.js";
import { type Question, RecordedHost } from "../contract/recorded.js";

/** One thing that a run put out: on a stream, or in a file. */
export interface Put {
  readonly to: 1 | 2 | string;
  readonly text: string;
}

export interface Kept {
  readonly code: number;
  readonly puts: readonly Put[];
}

interface Entry extends Kept {
  readonly questions: readonly Question[];
}

/** Runs that are kept at a location; older ones go. */
const MOST_ENTRIES = 100;
const digest = (data: Uint8Array | string): string => createHash("sha256").update(data).digest("hex");

/** `$XDG_CACHE_HOME/quorumlint`, else `~/.cache/quorumlint`. */
export function defaultLocation(): string {
  const base = process.env["XDG_CACHE_HOME"];
  return join(base === undefined || base === "" ? join(homedir(), ".cache") : base, "quorumlint");
}

export class RunCache {
  /** What a run that is to be kept reads from. */
  readonly host: RecordedHost;
  readonly #location: string;
  readonly #file: string;
  readonly #disk: Host;

  /** `key`: everything but files that a run hangs on. */
  constructor(location: string, key: unknown, disk: Host) {
    this.#location = location;
    this.#disk = disk;
    this.#file = join(location, `${digest(JSON.stringify([program(), key]))}.json`);
    this.host = new RecordedHost(disk, digest, location);
  }

  /** What the same run put out, where nothing that it asked has changed. */
  find(): Kept | undefined {
    let entry: Entry;
    try {
      const text = readFileSync(this.#file, "utf8");
      const body = text.slice(65);
      // a half-written or changed entry is none
      if (text.slice(0, 64) !== digest(body)) return undefined;
      entry = JSON.parse(body) as Entry;
    } catch {
      return undefined;
    }
    const now = new RecordedHost(this.#disk, digest, this.#location);
    return now.answers(entry.questions) ? entry : undefined;
  }

  /** Keeps a run; a location that cannot be written is no fault. */
  keep(kept: Kept): void {
    const entry: Entry = { code: kept.code, puts: kept.puts, questions: this.host.questions };
    const body = JSON.stringify(entry);
    try {
      mkdirSync(this.#location, { recursive: true });
      writeFileSync(`${this.#file}.${process.pid}`, `${digest(body)}\n${body}`);
      renameSync(`${this.#file}.${process.pid}`, this.#file);
      const names = readdirSync(this.#location).filter((n) => /^[0-9a-f]{64}\.json/.test(n));
      const aged = names.map((n) => ({ path: join(this.#location, n), at: statSync(join(this.#location, n)).mtimeMs }));
      for (const { path } of aged.sort((a, b) => b.at - a.at).slice(MOST_ENTRIES)) rmSync(path, { force: true });
    } catch {}
  }
}

/** Which program runs: another build is another one, whatever its version says. */
function program(): unknown {
  const { size, mtimeMs } = statSync(process.argv[1] ?? process.execPath);
  const dist = join(import.meta.dirname, "part-check.cjs");
  try {
    const built = statSync(dist);
    return [built.size, built.mtimeMs, size, mtimeMs, process.version];
  } catch {
    return [size, mtimeMs, process.version];
  }
}
