import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { carryConfs, type RecordedConf } from "./redis-conf-cases.js";

/**
 * Builds `schemas/redis/directives.json` from a folder of recorded tables: `directives.json` (name → type, bounds, values,
 * flags as each server's option table declares them) and `<server>-<version>.json` (what `CONFIG GET *` of the running
 * server printed: its defaults).
 *
 * The result is a list of distinct directive rows and, per server, which rows it has; see `src/model/redis/directives.ts`
 * for the reader.
 */

interface RawDirective {
  readonly type: string;
  readonly alias?: string;
  readonly flags: readonly string[];
  readonly min?: string;
  readonly max?: string;
  readonly enum?: readonly string[];
  readonly unit?: string;
  readonly default?: string;
}

interface RawServer {
  readonly directives: Record<string, RawDirective>;
  readonly special: readonly string[];
  readonly deprecatedIgnored: readonly string[];
  readonly sentinelDirectives: Record<string, { readonly args: readonly number[] }>;
}

/** The packed tables; every list is one string so that loading them costs one JSON.parse of a few strings. */
export interface PackedDirectives {
  readonly format: "quorumlint-directives/1";
  /** One directive a line: name, alias, type, flags, min, max, values, default; tab-separated. */
  readonly rows: string;
  readonly servers: Record<
    string,
    {
      /** The full version that was recorded. */
      readonly version: string;
      /** Row numbers in base 36, each as the distance from the one before. */
      readonly rows: string;
      /** Names that are accepted with one argument and do nothing. */
      readonly ignored: string;
      /** `name:count` or `name:count,count` of arguments. */
      readonly sentinel: string;
    }
  >;
}

const CONSTANTS: Record<string, bigint> = {
  INT_MAX: 2147483647n,
  INT_MIN: -2147483648n,
  UINT_MAX: 4294967295n,
  LONG_MAX: 9223372036854775807n,
  LLONG_MAX: 9223372036854775807n,
  SSIZE_MAX: 9223372036854775807n,
  ULONG_MAX: 18446744073709551615n,
  ULLONG_MAX: 18446744073709551615n,
  IO_THREADS_MAX_NUM: 256n,
};

/** The value of a C constant expression of the tables: numbers, named limits, `*` and `<<`. */
function constant(text: string): string {
  const term = (word: string): bigint => {
    const plain = word.trim().replace(/(?:ll|ull|l|u)$/i, "");
    const named = CONSTANTS[plain];
    if (named !== undefined) return named;
    if (/^-?0[0-7]+$/.test(plain)) return BigInt("0o" + plain.replace(/^0+/, ""));
    return BigInt(plain);
  };
  const product = (part: string): bigint => part.split("*").reduce((value, word) => value * term(word), 1n);
  const [first, ...shifts] = text.split("<<");
  return shifts.reduce((value, by) => value << product(by), product(first!)).toString();
}

/** Types whose bounds are compared without a sign; Valkey 8 added `ulong` to them. */
const UNSIGNED = new Set(["uint", "ulonglong", "sizet"]);
const isUnsigned = (type: string, key: string): boolean =>
  UNSIGNED.has(type) || (type === "ulong" && /^valkey-(?:8|9)/.test(key));

/** Values that the recording harness set on its own command line: the servers' own defaults stand here. */
const DEFAULTS: Record<string, string> = {
  port: "6379",
  unixsocket: "",
  dir: "",
  "enable-debug-command": "no",
  save: "3600 1 300 100 60 10000",
  bind: "* -::*",
  "protected-mode": "yes",
};

/** Defaults of directives that `CONFIG GET *` hides, where the table names them by a C identifier. */
function declaredDefault(text: string | undefined): string {
  if (text === undefined || text === "NULL") return "";
  if (text.startsWith('"')) return text.slice(1, -1);
  if (/^[a-z]/.test(text)) return text;
  try {
    return constant(text);
  } catch {
    return "";
  }
}

function typeOf(raw: RawDirective, key: string): string {
  switch (raw.type) {
    case "bool":
      return "b";
    case "string":
    case "sds":
      return "s";
    case "enum":
      return "e";
    case "special":
      return "x";
    default: {
      const unit = raw.unit ?? "";
      return (
        (isUnsigned(raw.type, key) ? "u" : "n") +
        (/\bMEMORY_CONFIG/.test(unit) ? "m" : "") +
        (/PERCENT_CONFIG/.test(unit) ? "p" : "") +
        (/OCTAL_CONFIG/.test(unit) ? "o" : "") +
        (/SIGNED_MEMORY_CONFIG/.test(unit) ? "-" : "")
      );
    }
  }
}

function flagsOf(raw: RawDirective): string {
  let flags = "";
  if (raw.flags.includes("MULTI_ARG_CONFIG")) flags += "M";
  if (raw.flags.includes("IMMUTABLE_CONFIG")) flags += "I";
  if (raw.flags.includes("SENSITIVE_CONFIG")) flags += "S";
  if (raw.flags.includes("HIDDEN_CONFIG")) flags += "H";
  return flags;
}

/** Directives that 6.2 parses by hand and its option table therefore lacks. */
const BY_HAND_62: Record<string, RawDirective> = {
  bind: { type: "special", flags: [] },
  unixsocketperm: { type: "special", flags: [] },
  save: { type: "special", flags: [] },
  dir: { type: "special", flags: [] },
  logfile: { type: "special", flags: [] },
  replicaof: { type: "special", alias: "slaveof", flags: [] },
  "cluster-config-file": { type: "special", flags: [] },
  "client-output-buffer-limit": { type: "special", flags: [] },
  "oom-score-adj-values": { type: "special", flags: [] },
  "notify-keyspace-events": { type: "special", flags: [] },
};

/**
 * @param folder holds `directives.json` and the per-server tables
 * @param versions the wanted servers, `redis-7.2` …; a server of the folder is taken when its version starts with one
 */
export function buildDirectives(folder: string, versions: readonly string[]): PackedDirectives {
  const raw = JSON.parse(readFileSync(join(folder, "directives.json"), "utf8")) as Record<string, RawServer>;
  const live = new Set(readdirSync(folder));
  const rows: string[] = [];
  const numbers = new Map<string, number>();
  const servers: PackedDirectives["servers"] = {};
  for (const key of versions) {
    const full = Object.keys(raw).find((name) => name.startsWith(`${key}.`));
    if (full === undefined || !live.has(`${full}.json`)) throw new RangeError(`no table of ${key} in ${folder}`);
    const table = raw[full]!;
    const values = (
      JSON.parse(readFileSync(join(folder, `${full}.json`), "utf8")) as { configDirectives: Record<string, string> }
    ).configDirectives;
    const entries = Object.entries(table.directives);
    if (key === "redis-6.2") for (const entry of Object.entries(BY_HAND_62)) entries.push(entry);
    const own = entries.map(([name, d]) => {
      const row = [
        name,
        d.alias ?? "",
        typeOf(d, key),
        flagsOf(d),
        d.min === undefined ? "" : constant(d.min),
        d.max === undefined ? "" : constant(d.max),
        (d.enum ?? []).join(","),
        DEFAULTS[name] ??
          values[name] ??
          (d.alias === undefined ? undefined : values[d.alias]) ??
          declaredDefault(d.default),
      ].join("\t");
      let number = numbers.get(row);
      if (number === undefined) {
        number = rows.push(row) - 1;
        numbers.set(row, number);
      }
      return number;
    });
    own.sort((a, b) => a - b);
    servers[key] = {
      version: full.slice(full.indexOf("-") + 1),
      rows: own.map((n, i) => (n - (i === 0 ? 0 : own[i - 1]!)).toString(36)).join(" "),
      ignored:
        key === "redis-6.2" ? "list-max-ziplist-entries list-max-ziplist-value" : table.deprecatedIgnored.join(" "),
      sentinel: Object.entries(table.sentinelDirectives)
        .map(([name, { args }]) => `${name}:${args.join(",")}`)
        .join(" "),
    };
  }
  return { format: "quorumlint-directives/1", rows: rows.join("\n"), servers };
}

/** The servers whose tables ship. */
export const DIRECTIVE_SERVERS: readonly string[] = [
  "redis-6.2",
  "redis-7.0",
  "redis-7.2",
  "redis-7.4",
  "redis-8.0",
  "valkey-7.2",
  "valkey-8.0",
  "valkey-8.1",
  "valkey-9.1",
];

/** Entry of the development bundle. */
export function redisDirectives(args: readonly string[]): void {
  const [action, from, to] = args;
  if (action === "build" && from !== undefined && to !== undefined) {
    writeFileSync(to, `${JSON.stringify(buildDirectives(from, DIRECTIVE_SERVERS), null, 1)}\n`);
  } else if (action === "carry" && from !== undefined && to !== undefined) {
    const rows = readFileSync(from, "utf8").trim().split("\n");
    const { servers, cases } = carryConfs(rows.map((row) => JSON.parse(row) as RecordedConf));
    const lines = cases.map((c) => JSON.stringify(c)).join(",\n");
    writeFileSync(to, `{"servers":${JSON.stringify(servers)},"cases":[\n${lines}\n]}\n`);
  } else
    throw new Error("usage: redis-directives build <directory of tables> <output> | carry <recorded cases> <output>");
}
