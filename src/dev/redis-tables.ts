/**
 * Builds `schemas/redis/commands.json` from recorded tables, and records a table from a running server.
 *
 *   redis-tables build <directory of recorded tables> <output file>
 *   redis-tables dump <port> [host]
 *   redis-tables carry <recorded ACL cases> <recorded script cases> <directory>
 *
 * `carry` packs recordings for the tests: every case, call and verdict, without the words of each denial.
 * Development only: the product reads the packed file.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { PackedTables } from "../model/redis/commands.js";

/** One recorded command (format `redis-command-table/1`). */
export interface RecordedCommand {
  arity: number;
  flags: string[];
  aclCategories: string[];
  keys: number[];
  keySpecs?: RecordedSpec[];
  since?: string;
  group?: string;
  deprecatedSince?: string;
  subcommands?: Record<string, RecordedCommand>;
}

export interface RecordedSpec {
  flags: string[];
  begin: { type: string; index?: number; keyword?: string; startfrom?: number };
  find: { type: string; lastkey?: number; keystep?: number; limit?: number; keynumidx?: number; firstkey?: number };
}

export interface RecordedTable {
  format: "redis-command-table/1";
  server: string;
  version: string;
  mode: "data" | "sentinel";
  valkeyVersion?: string;
  commands?: Record<string, RecordedCommand>;
}

/** The servers' own order of categories: the rules that Redis ≤ 7.0 prints depend on it. */
const CATEGORIES = (
  "keyspace read write set sortedset list hash string bitmap hyperloglog geo stream pubsub admin fast slow blocking " +
  "dangerous connection transaction scripting"
).split(" ");

/** Packs tables by id (`redis-7.2`, `redis-7.2/sentinel`): every row that occurs is stored once. */
export function packTables(tables: ReadonlyMap<string, RecordedTable>): PackedTables {
  const flags = new Set<string>();
  const groups = new Set<string>([""]);
  const specs = new Set<string>();
  const all = [...tables].map(([id, table]) => ({ id, table, commands: flatten(table.commands ?? {}) }));
  for (const { commands } of all) {
    for (const [, command] of commands) {
      for (const flag of command.flags) flags.add(flag);
      groups.add(command.group ?? "");
      for (const spec of command.keySpecs ?? []) specs.add(specText(spec));
    }
  }
  const flagList = [...flags].sort();
  const groupList = [...groups].sort();
  const specList = [...specs].sort();
  const mask = (names: readonly string[], of: readonly string[]): string =>
    names
      .reduce((sum, name) => {
        const index = of.indexOf(name);
        if (index < 0) throw new Error(`unknown name ${name}`);
        return sum + 2 ** index;
      }, 0)
      .toString(36);
  const rowOf = (name: string, c: RecordedCommand): string => {
    const specIndexes = (c.keySpecs ?? []).map((s) => specList.indexOf(specText(s)).toString(36)).join(",");
    // Positions of the old COMMAND reply are needed only where there are no key specs.
    const keys = c.keySpecs === undefined && c.keys[0] !== 0 ? c.keys.join(",") : "";
    const group = groupList.indexOf(c.group ?? "").toString(36);
    return [
      name,
      c.arity,
      mask(c.flags, flagList),
      mask(c.aclCategories, CATEGORIES),
      specIndexes,
      keys,
      c.since ?? "",
      group,
      c.deprecatedSince ?? "",
    ].join("\t");
  };
  const rowSet = new Set<string>();
  for (const { commands } of all) for (const [name, command] of commands) rowSet.add(rowOf(name, command));
  const rows = [...rowSet].sort((a, b) => (a < b ? -1 : 1));
  const index = new Map(rows.map((row, i) => [row, i]));
  const servers: Record<string, { version: string; rows: string }> = {};
  for (const { id, table, commands } of all) {
    let at = 0;
    const gaps = commands
      .map(([name, command]) => index.get(rowOf(name, command))!)
      .sort((a, b) => a - b)
      .map((i) => {
        const gap = (i - at).toString(36);
        at = i;
        return gap;
      });
    servers[id] = { version: table.version, rows: gaps.join(" ") };
  }
  return {
    format: "quorumlint-redis-commands/1",
    flags: flagList,
    categories: CATEGORIES,
    groups: groupList,
    specs: specList,
    rows: rows.join("\n"),
    servers,
  };
}

function flatten(commands: Record<string, RecordedCommand>): [string, RecordedCommand][] {
  const out: [string, RecordedCommand][] = [];
  for (const [name, command] of Object.entries(commands)) {
    out.push([name, command]);
    for (const [sub, inner] of Object.entries(command.subcommands ?? {})) out.push([`${name}|${sub}`, inner]);
  }
  return out;
}

/** The text that `readSpec` of the model reads. */
function specText(spec: RecordedSpec): string {
  const { begin, find } = spec;
  const from =
    begin.type === "index"
      ? `i${begin.index}`
      : begin.type === "keyword"
        ? `k${begin.keyword}:${begin.startfrom}`
        : "?";
  const what =
    find.type === "range"
      ? `r${find.lastkey},${find.keystep},${find.limit}`
      : find.type === "keynum"
        ? `n${find.keynumidx},${find.firstkey},${find.keystep}`
        : "?";
  return `${[...spec.flags].sort().join(",")} ${from} ${what}`;
}

/** The id that a recorded file's table gets: `redis-7.2`, `redis-7.0-debian`, `valkey-8.0/sentinel`. */
export function tableId(file: string, table: RecordedTable): string {
  const debian = file.startsWith("debian");
  const name = `${debian ? "redis" : table.server}-${table.version.split(".").slice(0, 2).join(".")}`;
  return `${name}${debian ? "-debian" : ""}${table.mode === "sentinel" ? "/sentinel" : ""}`;
}

function build(directory: string, output: string): void {
  const tables = new Map<string, RecordedTable>();
  for (const file of readdirSync(directory).sort()) {
    if (!file.endsWith(".json")) continue;
    const table = JSON.parse(readFileSync(join(directory, file), "utf8")) as RecordedTable;
    if (table.format !== "redis-command-table/1" || Object.keys(table.commands ?? {}).length === 0) continue;
    tables.set(tableId(file, table), table);
  }
  // Debian's build has the Sentinel of its version.
  const debian = tables.get("redis-7.0/sentinel");
  if (debian !== undefined && tables.has("redis-7.0-debian")) tables.set("redis-7.0-debian/sentinel", debian);
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, `${JSON.stringify(packTables(tables), null, 2)}\n`);
}

type Reply = string | number | null | Reply[];

/** Sends commands to a server and gives its replies (RESP2). An error reply is a string that starts with `-`. */
export async function ask(
  port: number,
  commands: readonly (readonly string[])[],
  host = "127.0.0.1",
): Promise<Reply[]> {
  const socket = connect(port, host);
  const replies: Reply[] = [];
  let buffer = Buffer.alloc(0);
  try {
    return await new Promise<Reply[]>((resolve, reject) => {
      socket.setTimeout(10_000, () => reject(new Error(`no reply from ${host}:${port}`)));
      socket.on("error", reject);
      socket.on("close", () => reject(new Error(`${host}:${port} closed the connection`)));
      socket.on("data", (chunk) => {
        buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk]);
        for (;;) {
          const read = readReply(buffer, 0);
          if (read === undefined) return;
          replies.push(read.value);
          buffer = buffer.subarray(read.next);
          if (replies.length === commands.length) return resolve(replies);
        }
      });
      for (const words of commands) {
        const parts = words.map((w) => `$${Buffer.byteLength(w)}\r\n${w}\r\n`);
        socket.write(`*${words.length}\r\n${parts.join("")}`);
      }
    });
  } finally {
    socket.destroy();
  }
}

function readReply(buffer: Buffer, at: number): { value: Reply; next: number } | undefined {
  const end = buffer.indexOf("\r\n", at);
  if (end < 0) return undefined;
  const line = buffer.toString("utf8", at + 1, end);
  const kind = String.fromCharCode(buffer[at]!);
  if (kind === "+") return { value: line, next: end + 2 };
  if (kind === "-") return { value: `-${line}`, next: end + 2 };
  if (kind === ":") return { value: Number(line), next: end + 2 };
  const size = Number(line);
  if (size < 0) return { value: null, next: end + 2 };
  if (kind === "$") {
    if (buffer.length < end + 2 + size + 2) return undefined;
    return { value: buffer.toString("utf8", end + 2, end + 2 + size), next: end + 2 + size + 2 };
  }
  const items: Reply[] = [];
  let next = end + 2;
  for (let i = 0; i < size; i++) {
    const item = readReply(buffer, next);
    if (item === undefined) return undefined;
    items.push(item.value);
    next = item.next;
  }
  return { value: items, next };
}

/** Records the command table of a running server. */
export async function dumpTable(port: number, host = "127.0.0.1"): Promise<RecordedTable> {
  const [info, commands, docs] = await ask(port, [["INFO", "server"], ["COMMAND"], ["COMMAND", "DOCS"]], host);
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*)$`, "m").exec(String(info))?.[1]?.trim();
  const valkey = field("valkey_version");
  const described = pairs(docs);
  const out: RecordedTable = {
    format: "redis-command-table/1",
    server: valkey === undefined ? "redis" : "valkey",
    version: valkey ?? field("redis_version") ?? "",
    mode: field("redis_mode") === "sentinel" ? "sentinel" : "data",
    commands: {},
  };
  if (valkey !== undefined) out.valkeyVersion = valkey;
  for (const item of commands as Reply[][]) {
    const [name, command] = recorded(item, described);
    out.commands![name] = command;
  }
  return out;
}

function recorded(item: readonly Reply[], docs: ReadonlyMap<string, Reply>): [string, RecordedCommand] {
  const [name, arity, flags, first, last, step, categories, , specs, subcommands] = item;
  const doc = pairs(docs.get(String(name)) ?? []);
  const words = (reply: Reply | undefined): string[] => (Array.isArray(reply) ? reply.map(String) : []);
  const command: RecordedCommand = {
    arity: Number(arity),
    flags: words(flags),
    aclCategories: words(categories)
      .map((c) => c.replace(/^@/, ""))
      .sort(),
    keys: [Number(first), Number(last), Number(step)],
  };
  if (specs !== undefined) command.keySpecs = (specs as Reply[]).map(recordedSpec);
  for (const [from, to] of [
    ["since", "since"],
    ["group", "group"],
    ["deprecated_since", "deprecatedSince"],
  ] as const) {
    const value = doc.get(from);
    if (typeof value === "string") command[to] = value;
  }
  if (Array.isArray(subcommands) && subcommands.length > 0) {
    command.subcommands = {};
    const inner = pairs(doc.get("subcommands") ?? []);
    for (const sub of subcommands as Reply[][]) {
      const [full, value] = recorded(sub, inner);
      command.subcommands[full.slice(full.indexOf("|") + 1)] = value;
    }
  }
  return [String(name), command];
}

function recordedSpec(reply: Reply): RecordedSpec {
  const spec = pairs(reply);
  const part = (name: string): { type: string } & Record<string, number | string> => {
    const outer = pairs(spec.get(name) ?? []);
    const inner = pairs(outer.get("spec") ?? []);
    return { type: String(outer.get("type")), ...Object.fromEntries(inner) } as ReturnType<typeof part>;
  };
  return {
    flags: (spec.get("flags") as string[]) ?? [],
    begin: part("begin_search"),
    find: part("find_keys"),
  } as RecordedSpec;
}

function pairs(reply: Reply | undefined): Map<string, Reply> {
  const out = new Map<string, Reply>();
  if (!Array.isArray(reply)) return out;
  for (let i = 0; i + 1 < reply.length; i += 2) out.set(String(reply[i]), reply[i + 1]!);
  return out;
}

/** A recorded ACL case: one file on the servers that did the same with it. */
export interface RecordedCase {
  id: string;
  servers: string[];
  aclfile?: string;
  aclfileB64?: string;
  config?: Record<string, string>;
  loads: boolean;
  error?: string;
  crash?: boolean;
  users?: Record<string, Record<string, unknown>>;
  dryrun?: { user: string; argv: string[]; allowed: boolean | null; reason?: string }[];
}

/** One case in `acl-cases.jsonl.gz`; the first line of that file names the servers. */
export interface CarriedCase {
  id: string;
  acl?: string;
  /** Base64 of a file that is not UTF-8. */
  raw?: string;
  config?: Record<string, string>;
  /** User and argv. */
  calls: string[][];
  seen: {
    on: number[];
    crash?: 1;
    error?: string;
    users?: Record<string, Record<string, unknown>>;
    /** One character per call: 1 allowed, 0 denied, ? no ACL verdict, - not asked. */
    runs?: string;
  }[];
}

/** The end of every error text, left out of the carried ones. */
export const ERROR_END = " WARNING: ACL errors detected, no change to the previously active ACL rules was performed";

/** Packs recorded ACL cases: the cases of one id share their file and calls. */
export function carryCases(rows: readonly RecordedCase[]): string {
  const servers = [...new Set(rows.flatMap((r) => r.servers))].sort();
  const cases = new Map<string, CarriedCase>();
  const byId = new Map<string, RecordedCase[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.id, row.aclfile, row.aclfileB64, row.config]);
    byId.set(key, [...(byId.get(key) ?? []), row]);
  }
  for (const [key, group] of byId) {
    const first = group[0]!;
    const calls = new Map<string, string[]>();
    for (const row of group)
      for (const d of row.dryrun ?? []) calls.set(JSON.stringify([d.user, ...d.argv]), [d.user, ...d.argv]);
    const carried: CarriedCase = { id: first.id, calls: [...calls.values()], seen: [] };
    if (first.aclfileB64 !== undefined) carried.raw = first.aclfileB64;
    else carried.acl = first.aclfile ?? "";
    if (first.config !== undefined) carried.config = first.config;
    for (const row of group) {
      const seen: CarriedCase["seen"][number] = { on: row.servers.map((s) => servers.indexOf(s)) };
      if (row.crash === true) seen.crash = 1;
      if (row.error !== undefined) seen.error = row.error.replace(ERROR_END, "…");
      if (row.loads) {
        seen.users = row.users ?? {};
        const verdicts = new Map((row.dryrun ?? []).map((d) => [JSON.stringify([d.user, ...d.argv]), d.allowed]));
        seen.runs = [...calls.keys()]
          .map((call) => {
            const verdict = verdicts.get(call);
            return verdict === undefined ? "-" : verdict === null ? "?" : verdict ? "1" : "0";
          })
          .join("");
      }
      carried.seen.push(seen);
    }
    cases.set(key, carried);
  }
  return [{ servers }, ...cases.values()].map((c) => JSON.stringify(c)).join("\n");
}

function carry(aclFile: string, scriptFile: string, directory: string): void {
  const read = <T>(file: string): T[] =>
    readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((l) => JSON.parse(l) as T);
  const write = (name: string, text: string): void =>
    writeFileSync(join(directory, name), gzipSync(Buffer.from(text), { level: 9 }));
  mkdirSync(directory, { recursive: true });
  write("acl-cases.jsonl.gz", carryCases(read<RecordedCase>(aclFile)));
  write(
    "acl-scripts.jsonl.gz",
    read<unknown>(scriptFile)
      .map((r) => JSON.stringify(r))
      .join("\n"),
  );
}

/** Entry of the development bundle. */
export async function redisTables(args: readonly string[]): Promise<void> {
  const [action, a, b, c] = args;
  if (action === "build" && a !== undefined && b !== undefined) build(a, b);
  else if (action === "dump" && a !== undefined) {
    process.stdout.write(`${JSON.stringify(await dumpTable(Number(a), b), null, 1)}\n`);
  } else if (action === "carry" && a !== undefined && b !== undefined && c !== undefined) carry(a, b, c);
  else
    throw new Error(
      "usage: redis-tables build <directory> <output> | dump <port> [host] | carry <acl> <scripts> <directory>",
    );
}
