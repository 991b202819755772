import directives from "../../../schemas/redis/directives.json?data";

/**
 * The directives of each server version: type, bounds, values, default, alias. The tables come from the servers' own
 * option tables, their defaults from `CONFIG GET *` of running servers (built by `src/dev/redis-directives.ts`).
 */

/** How a directive's value is read. `special`: by code of its own, see `conf-special.ts`. */
type DirectiveKind = "bool" | "string" | "enum" | "number" | "special";

export interface Directive {
  /** The canonical name in this version (`replica-priority`, `primaryauth` of Valkey 8). */
  readonly name: string;
  /** The other name that the server accepts for it. */
  readonly alias: string | undefined;
  readonly kind: DirectiveKind;
  /** Takes any number of arguments; one argument is split again at blanks. */
  readonly multi: boolean;
  /** Cannot be changed by CONFIG SET. */
  readonly immutable: boolean;
  /** Holds a secret. */
  readonly sensitive: boolean;
  readonly hidden: boolean;
  /** Of `enum`: the accepted words, compared without case. */
  readonly values: readonly string[];
  readonly number: NumberShape | undefined;
  /** As `CONFIG GET` prints it on a server without configuration; "" where there is none. */
  readonly default: string;
}

export interface NumberShape {
  readonly unsigned: boolean;
  /** `1gb`, `100k` … accepted. */
  readonly memory: boolean;
  readonly percent: boolean;
  readonly octal: boolean;
  /** A leading `-` is accepted before a memory value. */
  readonly signedMemory: boolean;
  readonly min: bigint;
  readonly max: bigint;
}

/** What differs between servers beside their tables. */
export interface Dialect {
  /** The key of the tables: `redis-7.2`, `valkey-8.1` … */
  readonly key: string;
  readonly title: "Redis" | "Valkey";
  /** Redis ≥ 7.0 and every Valkey: one option table, multi-argument options, globs in include, module options. */
  readonly v7: boolean;
  /** Redis ≥ 7.2 and every Valkey. */
  readonly v72: boolean;
  /** Redis ≥ 8.0: each unknown directive is kept for a module; a Sentinel never complains about it. */
  readonly queuesUnknown: boolean;
  readonly valkey8: boolean;
  /** Debian's build: no active defragmentation. */
  readonly debian: boolean;
  /** Valkey ≥ 9.1: text may follow a closing quote; Sentinel quotes what it writes back. */
  readonly valkey91: boolean;
}

interface Table {
  readonly dialect: Dialect;
  readonly byName: ReadonlyMap<string, Directive>;
  readonly names: readonly string[];
  readonly ignored: ReadonlySet<string>;
  readonly sentinel: ReadonlyMap<string, readonly number[]>;
}

type Packed = Record<string, { version: string; rows: string; ignored: string; sentinel: string }>;

/** Statements that are not options: they act where they stand and add up. */
const STATEMENTS: readonly string[] = ["include", "rename-command", "user", "loadmodule", "sentinel"];

const KINDS: Record<string, DirectiveKind> = {
  b: "bool",
  s: "string",
  e: "enum",
  x: "special",
  n: "number",
  u: "number",
};

function unpackRow(row: string): Directive {
  const [name, alias, type, flags, min, max, values, fallback] = row.split("\t") as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const kind = KINDS[type[0]!]!;
  return {
    name,
    alias: alias === "" ? undefined : alias,
    kind,
    multi: flags.includes("M"),
    immutable: flags.includes("I"),
    sensitive: flags.includes("S"),
    hidden: flags.includes("H"),
    values: values === "" ? [] : values.split(","),
    number:
      kind === "number"
        ? {
            unsigned: type[0] === "u",
            memory: type.includes("m"),
            percent: type.includes("p"),
            octal: type.includes("o"),
            signedMemory: type.includes("-"),
            min: BigInt(min),
            max: BigInt(max),
          }
        : undefined,
    default: fallback,
  };
}

function dialectOf(key: string, debian: boolean): Dialect {
  const [flavour, version] = key.split("-") as [string, string];
  const [major, minor] = version.split(".").map(Number) as [number, number];
  const valkey = flavour === "valkey";
  const number = major * 100 + minor;
  return {
    key,
    title: valkey && number >= 800 ? "Valkey" : "Redis",
    v7: number >= 700,
    v72: number >= 702,
    queuesUnknown: !valkey && number >= 800,
    valkey8: valkey && number >= 800,
    debian,
    valkey91: valkey && number >= 901,
  };
}

/** Unpacked from the text that ships, once and when first asked for: it never changes. */
class Tables {
  readonly #rows: readonly string[];
  readonly #servers: Packed;
  readonly #byServer = new Map<string, Table>();

  constructor() {
    const { rows, servers } = directives() as { rows: string; servers: Packed };
    this.#rows = rows.split("\n");
    this.#servers = servers;
  }

  get names(): readonly string[] {
    return Object.keys(this.#servers);
  }

  get(server: string): Table {
    const known = this.#byServer.get(server);
    if (known !== undefined) return known;
    const key = this.#key(server);
    // Debian's build reads the same table and differs in one check.
    const debian = /debian/.test(server);
    const id = debian ? `${key}-debian` : key;
    let own = this.#byServer.get(id);
    if (own === undefined) {
      own = this.#unpack(key, debian);
      this.#byServer.set(id, own);
    }
    if (this.#byServer.size < 1000) this.#byServer.set(server, own);
    return own;
  }

  /** `redis-7.0` of `redis-7.0`, `redis-7.0.15`, `debian-7.0`, `redis-7.0-debian`. */
  #key(server: string): string {
    if (this.#servers[server] !== undefined) return server;
    const found = /(\d+)\.(\d+)/.exec(server);
    const key = `${server.includes("valkey") ? "valkey" : "redis"}-${found?.[1]}.${found?.[2]}`;
    if (found === null || this.#servers[key] === undefined)
      throw new RangeError(`no directive table of server ${server}`);
    return key;
  }

  #unpack(key: string, debian: boolean): Table {
    const source = this.#servers[key]!;
    const byName = new Map<string, Directive>();
    const names: string[] = [];
    let row = 0;
    for (const step of source.rows.split(" ")) {
      row += Number.parseInt(step, 36);
      const directive = unpackRow(this.#rows[row]!);
      byName.set(directive.name, directive);
      names.push(directive.name);
      if (directive.alias !== undefined) {
        byName.set(directive.alias, directive);
        names.push(directive.alias);
      }
    }
    const sentinel = new Map<string, readonly number[]>();
    for (const entry of source.sentinel.split(" ")) {
      const [name, counts] = entry.split(":") as [string, string];
      sentinel.set(name, counts.split(",").map(Number));
    }
    const ignored = new Set(source.ignored.split(" "));
    return { dialect: dialectOf(key, debian), byName, names, ignored, sentinel };
  }
}

let tables: Tables | undefined;

function all(): Tables {
  tables ??= new Tables();
  return tables;
}

function table(server: string): Table {
  return all().get(server);
}

/** @throws RangeError where no table of the server ships */
export function dialect(server: string): Dialect {
  return table(server).dialect;
}

/** A directive by its name or alias in lower case; undefined: this version does not have it (or it is a statement). */
export function directive(server: string, name: string): Directive | undefined {
  return table(server).byName.get(name);
}

/** Accepted with one argument, and without any effect. */
export function isIgnoredDirective(server: string, name: string): boolean {
  return table(server).ignored.has(name);
}

/** Every name that may start a line of a configuration file: options, their aliases, no-ops, statements. */
export function knownDirectives(server: string): readonly string[] {
  const { names, ignored } = table(server);
  return [...names, ...ignored, ...STATEMENTS];
}

/** The numbers of arguments that `sentinel <option>` accepts; undefined: no such option in this version. */
export function sentinelOption(server: string, name: string): readonly number[] | undefined {
  return table(server).sentinel.get(name);
}

export function knownSentinelOptions(server: string): readonly string[] {
  return [...table(server).sentinel.keys()];
}

/** The servers whose tables ship, as `redis-7.2`. */
export function directiveServers(): readonly string[] {
  return all().names;
}

/** Versions of the flavour of `server` that do have a directive: for "since" and "removed in" messages. */
export function serversWith(name: string): readonly string[] {
  return directiveServers().filter((server) => table(server).byName.has(name) || table(server).ignored.has(name));
}

/** The name of `known` that is nearest to `name`, if it is near enough to be what was meant. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > 64) return undefined;
  const limit = Math.max(1, Math.floor(name.length / 4));
  let best: string | undefined;
  let least = limit + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const d = distance(name, candidate, least);
    if (d < least) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

/** Edit distance, given up (as `limit`) once it cannot be below `limit`. */
function distance(a: string, b: string, limit: number): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const cost = a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1;
      const d = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + cost);
      next.push(d);
      if (d < least) least = d;
    }
    if (least >= limit) return limit;
    row = next;
  }
  return row[b.length]!;
}
