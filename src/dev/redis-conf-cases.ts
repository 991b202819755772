/**
 * Recordings of configurations that real servers were started with, and the compact form in which the project carries
 * them (`test/data/conf-cases.json`).
 */

/** One row of a recording: a configuration, the servers that did the same with it, and what they did. */
export interface RecordedConf {
  readonly id: string;
  /** With the full version: `redis-7.0.15-debian`. */
  readonly servers: readonly string[];
  readonly conf: string;
  readonly kind: "redis" | "sentinel";
  readonly loads: boolean;
  readonly error?: string | undefined;
  /** Files beside the configuration. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** `CONFIG GET`; null: no such directive, an object: an error. */
  readonly configGet?: Readonly<Record<string, unknown>> | undefined;
  /** A second start on what a Sentinel wrote. */
  readonly restart?: { readonly loads: boolean } | undefined;
  readonly rewritten?: string | undefined;
}

/** One configuration and the outcomes of all servers. */
interface CarriedConf {
  readonly id: string;
  readonly conf: string;
  readonly sentinel?: 1;
  readonly files?: Readonly<Record<string, string>>;
  readonly outcomes: readonly {
    /** Numbers in `servers`. */
    readonly on: readonly number[];
    /** Why it does not start, without the words around it; absent: it starts. */
    readonly error?: string;
    readonly get?: Readonly<Record<string, string | null>>;
    /** 0: it does not start again. */
    readonly again?: 0 | 1;
    /** The `sentinel` lines that it wrote. */
    readonly wrote?: readonly string[];
  }[];
}

export interface CarriedConfs {
  readonly servers: readonly string[];
  readonly cases: readonly CarriedConf[];
}

/** The lines of a rewritten file that the configuration decides. */
export function sentinelLines(text: string): readonly string[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("sentinel ") && !/^sentinel (?:myid|current-epoch) /.test(line))
    .sort();
}

/** Longer reasons are cut. */
export const REASON_LENGTH = 320;

/** An error without its heading, its line number and the line that it quotes. */
function reasonOf(error: string): string {
  const parts = error.split(" / ");
  const own = parts.filter((part) => !/^(?:\*\*\*|Reading the configuration|>>>|Critical error)/.test(part));
  return (own.length === 0 ? parts : own).join(" / ").slice(0, REASON_LENGTH);
}

export function carryConfs(rows: readonly RecordedConf[]): CarriedConfs {
  const servers = [...new Set(rows.flatMap((r) => r.servers))].sort();
  const cases = new Map<string, CarriedConf & { outcomes: CarriedConf["outcomes"][number][] }>();
  for (const row of rows) {
    let own = cases.get(row.id);
    if (own === undefined) {
      own = { id: row.id, conf: row.conf, outcomes: [] };
      if (row.kind === "sentinel") own = { ...own, sentinel: 1 };
      if (row.files !== undefined) own = { ...own, files: row.files };
      cases.set(row.id, own);
    }
    const get = Object.entries(row.configGet ?? {}).filter(
      (entry): entry is [string, string | null] => entry[1] === null || typeof entry[1] === "string",
    );
    const outcome: CarriedConf["outcomes"][number] = {
      on: row.servers.map((s) => servers.indexOf(s)),
      ...(row.loads ? {} : { error: reasonOf(row.error ?? "") }),
      ...(get.length === 0 ? {} : { get: Object.fromEntries(get) }),
      ...(row.restart === undefined ? {} : { again: row.restart.loads ? 1 : 0 }),
      ...(row.rewritten === undefined ? {} : { wrote: sentinelLines(row.rewritten) }),
    };
    const same = own.outcomes.find((o) => JSON.stringify({ ...o, on: 0 }) === JSON.stringify({ ...outcome, on: 0 }));
    if (same === undefined) own.outcomes.push(outcome);
    else (same.on as number[]).push(...outcome.on);
  }
  return { servers, cases: [...cases.values()] };
}

/** The rows again, in the shape of a recording. */
export function recordedOf({ servers, cases }: CarriedConfs): readonly RecordedConf[] {
  return cases.flatMap(({ id, conf, sentinel, files, outcomes }) =>
    outcomes.map((o) => ({
      id,
      servers: o.on.map((n) => servers[n]!),
      conf,
      kind: sentinel === 1 ? ("sentinel" as const) : ("redis" as const),
      loads: o.error === undefined,
      error: o.error,
      files,
      configGet: o.get,
      restart: o.again === undefined ? undefined : { loads: o.again === 1 },
      rewritten: o.wrote?.join("\n"),
    })),
  );
}
