/** Recorded configurations: what the servers did, compared with what we say. */
import { readFileSync } from "node:fs";
import {
  type CarriedConfs,
  REASON_LENGTH,
  type RecordedConf,
  recordedOf,
  sentinelLines,
} from "../../src/dev/redis-conf-cases.js";
import { type ConfDocument, parseConf } from "../../src/document/redis-conf.js";
import { type ConfLoad, type FileFact, loadConf } from "../../src/model/redis/conf.js";
import { commandWord } from "../../src/model/redis/conf-argv.js";
import { Source, TextView } from "../../src/text/source.js";

export function recordedConfs(file: URL): readonly RecordedConf[] {
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as RecordedConf);
}

export function carriedConfs(file: URL): readonly RecordedConf[] {
  return recordedOf(JSON.parse(readFileSync(file, "utf8")) as CarriedConfs);
}

export function documentOf(name: string, text: string, templates = false): ConfDocument {
  return parseConf(new TextView(new Source(name, text)), { templates });
}

/**
 * The harness that made the recordings gave its servers a Unix socket and an address of its own, so that `port 0` and
 * `bind` did not matter, except in the cases that are about listening: they are known by their errors.
 */
const OWN_ARGUMENTS = ["main.conf", "--port", "0", "--bind", "127.0.0.1", "--unixsocket", "<dir>/s"];

/** The path of a file in the folder of the recording; undefined: it is elsewhere. */
function local(path: string): string | undefined {
  if (path.startsWith("<dir>/")) return path.slice(6);
  return path.startsWith("/") || path.startsWith("<") ? undefined : path;
}

function shape(glob: string): RegExp {
  const text = glob
    .replace(/[.+^$()|\\]/g, "\\$&")
    .replace(/\*/g, "[^/]*")
    .replace(/\?/g, "[^/]");
  return new RegExp(`^${text}$`);
}

/** What the harness had on its disk: the case's own files, and certificates under `<pki>`, each with its key. */
function fileFact(files: Readonly<Record<string, string>>, path: string): FileFact | undefined {
  if (path.startsWith("<pki>/")) return { exists: true, pair: path.slice(6).replace(/\.\w+$/, "") };
  const name = local(path);
  if (name === undefined) return /^\/no/.test(path) ? { exists: false } : undefined;
  const text = files[name];
  return text === undefined ? { exists: false } : { exists: true, text, executable: false };
}

/** @param harness judge with the harness's command line, not the file alone */
export function judgeRecorded(row: RecordedConf, server: string, harness: boolean): ConfLoad {
  const files = row.files ?? {};
  const listening = /listen/i.test(row.error ?? "");
  const place = new Source("argv", "").span(0, 0);
  return loadConf({
    server,
    mode: row.kind === "sentinel" ? "sentinel" : "data",
    documents: documentOf("main.conf", row.conf),
    arguments: harness && !listening ? OWN_ARGUMENTS.map((a) => commandWord(a, place, false)) : undefined,
    include: (path) => {
      const name = local(path);
      if (name === undefined) return undefined;
      const found = /[*?[]/.test(name)
        ? Object.keys(files).filter((f) => shape(name).test(f))
        : [name].filter((f) => files[f] !== undefined);
      if (found.length === 0 && !/[*?[]/.test(name)) return undefined;
      return found.sort().map((f) => documentOf(f, files[f]!));
    },
    file: (path) => fileFact(files, path),
  });
}

export interface ConfException {
  readonly id: string;
  /** The parts of the outcome that are not compared. */
  readonly of: readonly ("loads" | "restart" | "rewritten" | "get")[];
  readonly reason: string;
}

export function confExceptions(): readonly ConfException[] {
  return JSON.parse(readFileSync(new URL("../data/conf-exceptions.json", import.meta.url), "utf8")) as ConfException[];
}

/** How one server's outcome differs from what we say; empty: not at all. */
export function differencesOf(
  row: RecordedConf,
  server: string,
  exceptions: readonly ConfException[],
): readonly string[] {
  const spared = new Set(exceptions.filter((e) => e.id === row.id).flatMap((e) => e.of));
  const ours = judgeRecorded(row, server, true);
  const out: string[] = [];
  if (ours.loads !== row.loads && !spared.has("loads")) {
    const why = ours.findings.filter((f) => f.class === "fatal").map((f) => f.message);
    out.push(`the server ${row.loads ? "starts" : "exits"}, we say ${ours.loads} ${why.join(" | ")}`);
  }
  if (ours.loads !== row.loads) return out;
  if (!row.loads) {
    const texts = ours.findings.filter((f) => f.class === "fatal").flatMap((f) => (f.server ?? "").split(" / "));
    const said = texts.some(
      (t) => t !== "" && (row.error!.includes(t) || (row.error!.length === REASON_LENGTH && t.startsWith(row.error!))),
    );
    if (!said) out.push(`the error is ${row.error}, we say ${texts.join(" | ")}`);
    return out;
  }
  if (row.restart !== undefined && ours.restarts !== row.restart.loads && !spared.has("restart")) {
    out.push(`started again: ${row.restart.loads}, we say ${ours.restarts}`);
  }
  if (row.rewritten !== undefined && !spared.has("rewritten")) {
    const [wrote, said] = [sentinelLines(row.rewritten), sentinelLines(ours.sentinel!.rewritten.join("\n"))];
    // Before 7.2 `known-slave` stays; a reboot period of 0 is not written, and its line stays.
    const kept = wrote.filter((l) => !/^sentinel (?:known-slave|master-reboot-down-after-period) /.test(l));
    if (kept.join("\n") !== said.join("\n")) out.push(`it wrote ${kept.join("; ")}, we say ${said.join("; ")}`);
  }
  for (const [name, value] of spared.has("get") ? [] : Object.entries(row.configGet ?? {})) {
    if (value !== null && typeof value !== "string") continue;
    const own = ours.values.get(name);
    const said = own.state === "known" ? own.value : own.state === "absent" ? "" : undefined;
    if (said !== (value ?? "")) out.push(`${name} is ${value}, we say ${said}`);
  }
  return out;
}

/** Servers without a table of ours. */
export function isJudged(server: string): boolean {
  return !server.startsWith("redis-6.0");
}
