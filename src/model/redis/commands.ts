/**
 * Command tables of Redis and Valkey as the servers print them (COMMAND, COMMAND DOCS, ACL CAT), and where the keys and
 * channels of one call stand and what access they need.
 */

/** `schemas/redis/commands.json`: the rows of all tables once, and which rows each server has. */
export interface PackedTables {
  readonly format: string;
  /** Command flags; a row holds a bit mask of them in base 36. */
  readonly flags: readonly string[];
  /** ACL categories in the server's own order; a row holds a bit mask. */
  readonly categories: readonly string[];
  readonly groups: readonly string[];
  /** Key specs, see `readSpec`. */
  readonly specs: readonly string[];
  /** Rows, separated by line feeds: name, arity, flags, categories, specs, legacy keys, since, group, deprecated since. */
  readonly rows: string;
  readonly servers: { readonly [id: string]: { readonly version: string; readonly rows: string } };
}

/** Access to a key: the bits of `R` (1) and `W` (2); 0: any matching pattern does. */
export type AccessBits = 0 | 1 | 2 | 3;
export const READ = 1;
export const WRITE = 2;

type Begin = { readonly index: number } | { readonly keyword: string; readonly from: number } | undefined;
type Find =
  | { readonly last: number; readonly step: number; readonly limit: number }
  | { readonly count: number; readonly first: number; readonly step: number }
  | undefined;

/** Where keys stand (https://redis.io/docs/latest/develop/reference/key-specs/). undefined parts are "unknown". */
export interface KeySpec {
  readonly begin: Begin;
  readonly find: Find;
  readonly access: AccessBits;
  readonly flags: readonly string[];
  readonly notKey: boolean;
  readonly incomplete: boolean;
  readonly variable: boolean;
}

export interface Command {
  /** Dense number in its table: the bit of the server's bitmap. */
  readonly id: number;
  /** `get`, `config|get`; as the server writes it (the module commands of Redis 8 are upper-case). */
  readonly name: string;
  readonly arity: number;
  readonly flags: readonly string[];
  readonly categories: readonly string[];
  /** Bit mask over `CommandTable.categories`. */
  readonly categoryBits: number;
  readonly specs: readonly KeySpec[];
  /** First, last, step of the old COMMAND reply; all that Redis 6 knows. */
  readonly legacyKeys: readonly [number, number, number];
  readonly since: string;
  readonly group: string;
  /** Version that deprecated it, or empty. */
  readonly deprecatedSince: string;
  readonly parent: Command | undefined;
  /** Subcommands by lower-case name, undefined when it is no container. */
  readonly subcommands: ReadonlyMap<string, Command> | undefined;
}

/** A key in the arguments of a call. */
export interface KeyPosition {
  /** Index into argv; 0 is the command. */
  readonly index: number;
  readonly access: AccessBits;
}

/** One command as its row has it: most of a row is never asked for. */
class Row implements Command {
  readonly id: number;
  readonly name: string;
  readonly categoryBits: number;
  parent: Row | undefined = undefined;
  subcommands: Map<string, Command> | undefined = undefined;
  readonly #text: string;
  readonly #packing: Packing;
  #cells: readonly string[] | undefined;

  constructor(id: number, text: string, packing: Packing) {
    this.id = id;
    this.#text = text;
    this.#packing = packing;
    const name = text.indexOf("\t");
    const categories = text.indexOf("\t", text.indexOf("\t", name + 1) + 1) + 1;
    this.name = text.slice(0, name);
    // the mask may use more than 31 bits, so no bit operators
    this.categoryBits = Number.parseInt(text.slice(categories, text.indexOf("\t", categories)) || "0", 36);
  }

  #cell(index: number): string {
    this.#cells ??= this.#text.split("\t");
    return this.#cells[index] ?? "";
  }

  get arity(): number {
    return Number(this.#cell(1));
  }

  get flags(): readonly string[] {
    return this.#packing.flags(this.#cell(2) || "0");
  }

  get categories(): readonly string[] {
    return this.#packing.categories(this.#cell(3) || "0");
  }

  get specs(): readonly KeySpec[] {
    return this.#packing.specs(this.#cell(4));
  }

  get legacyKeys(): readonly [number, number, number] {
    const keys = this.#cell(5);
    return keys === "" ? [0, 0, 0] : (keys.split(",").map(Number) as [number, number, number]);
  }

  get since(): string {
    return this.#cell(6);
  }

  get group(): string {
    return this.#packing.tables.groups[Number.parseInt(this.#cell(7) || "0", 36)] ?? "";
  }

  get deprecatedSince(): string {
    return this.#cell(8);
  }
}

/** What rows share: what their masks and numbers mean, read once each. */
class Packing {
  readonly tables: PackedTables;
  readonly #flags = new Map<string, readonly string[]>();
  readonly #categories = new Map<string, readonly string[]>();
  readonly #specs = new Map<string, readonly KeySpec[]>();

  constructor(tables: PackedTables) {
    this.tables = tables;
  }

  flags(mask: string): readonly string[] {
    return picked(this.#flags, this.tables.flags, mask);
  }

  categories(mask: string): readonly string[] {
    return picked(this.#categories, this.tables.categories, mask);
  }

  specs(cell: string): readonly KeySpec[] {
    let list = this.#specs.get(cell);
    if (list === undefined) {
      list = cell === "" ? [] : cell.split(",").map((i) => readSpec(this.tables.specs[Number.parseInt(i, 36)]!));
      this.#specs.set(cell, list);
    }
    return list;
  }
}

/** The commands of one server in one mode. */
export class CommandTable {
  readonly id: string;
  readonly version: string;
  readonly categories: readonly string[];
  readonly commands: readonly Command[];
  /** Key specs exist (7.0 and later): subcommands are commands, keys have access flags. */
  readonly modern: boolean;
  readonly #byName: ReadonlyMap<string, Command>;
  readonly #members: (readonly Command[] | undefined)[] = [];
  readonly #touched: (readonly Command[] | undefined)[] = [];

  private constructor(
    id: string,
    version: string,
    categories: readonly string[],
    commands: readonly Command[],
    byName: ReadonlyMap<string, Command>,
    modern: boolean,
  ) {
    this.id = id;
    this.version = version;
    this.categories = categories;
    this.commands = commands;
    this.#byName = byName;
    this.modern = modern;
  }

  /** Reads one server's rows out of the packed tables. */
  static unpack(id: string, tables: PackedTables, server: { version: string; rows: string }): CommandTable {
    const rows = rowsOf(tables);
    const packing = new Packing(tables);
    const commands: Row[] = [];
    const byName = new Map<string, Row>();
    const modern = !/^6\./.test(server.version);
    let at = 0;
    for (const gap of server.rows.split(" ")) {
      at += Number.parseInt(gap, 36);
      const command = new Row(commands.length, rows[at]!, packing);
      commands.push(command);
      byName.set(asciiLower(command.name), command);
    }
    for (const command of commands) {
      const bar = command.name.indexOf("|");
      if (bar < 0) continue;
      const parent = byName.get(asciiLower(command.name.slice(0, bar)))!;
      command.parent = parent;
      parent.subcommands ??= new Map();
      parent.subcommands.set(asciiLower(command.name.slice(bar + 1)), command);
    }
    return new CommandTable(id, server.version, tables.categories, commands, byName, modern);
  }

  /** By full name (`get`, `config|get`), whatever the case. */
  get(name: string): Command | undefined {
    return this.#byName.get(asciiLower(name));
  }

  /**
   * The command that `argv` calls, as the server looks it up: the subcommand of a container when there is a second word, or
   * undefined when either is unknown.
   */
  lookup(argv: readonly string[]): Command | undefined {
    const base = this.#byName.get(asciiLower(argv[0] ?? ""));
    if (base?.parent !== undefined) return undefined;
    if (base?.subcommands === undefined || argv.length === 1) return base;
    return base.subcommands.get(asciiLower(argv[1]!));
  }

  /** Bit number of a category, or -1. */
  categoryIndex(name: string): number {
    return this.categories.indexOf(asciiLower(name));
  }

  /** The commands that carry the category themselves, in table order. */
  inCategory(index: number): readonly Command[] {
    let list = this.#members[index];
    if (list === undefined) {
      const bit = 2 ** index;
      list = this.commands.filter((c) => (c.categoryBits & bit) !== 0);
      this.#members[index] = list;
    }
    return list;
  }

  /** The commands that a rule over the category touches: those in it, and all subcommands of containers in it. */
  touchedByCategory(index: number): readonly Command[] {
    let list = this.#touched[index];
    if (list === undefined) {
      const bit = 2 ** index;
      list = this.commands.filter((c) => ((c.categoryBits | (c.parent?.categoryBits ?? 0)) & bit) !== 0);
      this.#touched[index] = list;
    }
    return list;
  }
}

/** A command as people write it: `config|get` is CONFIG GET. */
export function commandWords(name: string): string {
  return name.replace("|", " ").toUpperCase();
}

/** Lower-cases ASCII letters only, as the servers do. */
export function asciiLower(text: string): string {
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, (part) => part.toLowerCase()) : text;
}

/** The rows are the same for all servers. */
const splitRows = new WeakMap<PackedTables, readonly string[]>();

function rowsOf(tables: PackedTables): readonly string[] {
  let rows = splitRows.get(tables);
  if (rows === undefined) {
    rows = tables.rows.split("\n");
    splitRows.set(tables, rows);
  }
  return rows;
}

/** The names that a bit mask in base 36 picks. */
function picked(known: Map<string, readonly string[]>, names: readonly string[], mask: string): readonly string[] {
  let list = known.get(mask);
  if (list === undefined) {
    // Masks may use more than 31 bits, so no bit operators.
    const bits = Number.parseInt(mask, 36);
    list = names.filter((_, i) => Math.floor(bits / 2 ** i) % 2 === 1);
    known.set(mask, list);
  }
  return list;
}

/** `flags begin find`: `RW,access i1 r0,1,0` · `OW,update kSTORE:6 r0,1,0` · `RW i1 n0,1,1` · `?` is unknown. */
export function readSpec(text: string): KeySpec {
  const [flagText = "", begin = "?", find = "?"] = text.split(" ");
  const flags = flagText === "" ? [] : flagText.split(",");
  const read = flags.includes("access") ? READ : 0;
  const write = flags.some((f) => f === "insert" || f === "update" || f === "delete") ? WRITE : 0;
  return {
    begin: readBegin(begin),
    find: readFind(find),
    access: (read | write) as AccessBits,
    flags,
    notKey: flags.includes("not_key"),
    incomplete: flags.includes("incomplete"),
    variable: flags.includes("variable_flags"),
  };
}

function readBegin(text: string): Begin {
  if (text.startsWith("i")) return { index: Number(text.slice(1)) };
  if (!text.startsWith("k")) return undefined;
  const colon = text.lastIndexOf(":");
  return { keyword: text.slice(1, colon), from: Number(text.slice(colon + 1)) };
}

function readFind(text: string): Find {
  const [a = 0, b = 0, c = 0] = text.slice(1).split(",").map(Number);
  if (text.startsWith("r")) return { last: a, step: b, limit: c };
  return text.startsWith("n") ? { count: a, first: b, step: c } : undefined;
}

/**
 * The keys that the server checks ACLs for, in its order. Arguments that it cannot parse give no keys: the call is then
 * refused later, not by ACL.
 */
export function keysOf(command: Command, argv: readonly string[], modern: boolean): KeyPosition[] {
  if (!modern) return legacyKeys(command, argv);
  const { specs } = command;
  if (specs.some((s) => !s.notKey) && !specs.some((s) => s.variable)) {
    const found = bySpecs(command, argv);
    if (found !== undefined) return found;
  }
  const finder = finders.get(command.name);
  return finder === undefined ? [] : finder(argv, command);
}

/** undefined when a spec is unknown, incomplete or out of bounds: the server then asks the command's own function. */
function bySpecs(command: Command, argv: readonly string[]): KeyPosition[] | undefined {
  const argc = argv.length;
  const out: KeyPosition[] = [];
  for (const { begin, find, access, notKey, incomplete } of command.specs) {
    if (notKey) continue;
    let first = 0;
    if (begin === undefined || find === undefined) return undefined;
    if ("index" in begin) first = begin.index;
    else {
      first = afterKeyword(argv, begin.keyword, begin.from);
      if (first === 0) continue;
    }
    let last: number;
    if ("count" in find) {
      const keys = strictInteger(argv[first + find.count] ?? "");
      if (keys === undefined || keys < 0) return undefined;
      first += find.first;
      last = first + (keys - 1) * find.step;
    } else if (find.last >= 0) last = first + find.last;
    else if (find.limit === 0) last = argc + find.last;
    else last = first + (Math.floor((argc - first) / find.limit) + find.last);
    if (last >= argc || last < first || first >= argc) return undefined;
    for (let i = first; i <= last; i += Math.max(1, find.step)) out.push({ index: i, access });
    if (incomplete) return undefined;
  }
  return out;
}

/** Index after the keyword, searched forwards from a positive `from` or backwards from a negative one; 0: not found. */
function afterKeyword(argv: readonly string[], keyword: string, from: number): number {
  const argc = argv.length;
  const start = from > 0 ? from : argc + from;
  const end = from > 0 ? argc - 1 : 1;
  const wanted = asciiLower(keyword);
  for (let i = start; i !== end; i += start <= end ? 1 : -1) {
    if (i >= argc || i < 1) break;
    if (asciiLower(argv[i]!) === wanted) return i + 1;
  }
  return 0;
}

/** Redis 6: no access flags; the fixed positions, or the command's own function. */
function legacyKeys(command: Command, argv: readonly string[]): KeyPosition[] {
  const finder = legacyFinders.get(command.name) ?? finders.get(command.name);
  if (finder !== undefined) return finder(argv, command).map((k) => ({ index: k.index, access: 0 as const }));
  const [first, end, step] = command.legacyKeys;
  if (first === 0) return [];
  const last = end < 0 ? argv.length + end : end;
  const out: KeyPosition[] = [];
  for (let i = first; i <= last; i += Math.max(1, step)) {
    if (i >= argv.length) return [];
    out.push({ index: i, access: 0 });
  }
  return out;
}

type Finder = (argv: readonly string[], command: Command) => KeyPosition[];

const key = (index: number, access: AccessBits = 0): KeyPosition => ({ index, access });

/** `[destination] count key…`: `count` and `first` are positions; a bad count gives no keys. */
function counted(store: number, count: number, first: number, step = 1): Finder {
  return (argv) => {
    const keys = looseInteger(argv[count] ?? "");
    if (keys < 1 || keys > Math.trunc((argv.length - first) / step)) return [];
    const out: KeyPosition[] = [];
    for (let i = 0; i < keys; i++) out.push(key(first + i * step));
    if (store > 0) out.push(key(store));
    return out;
  };
}

const sort: Finder = (argv) => {
  const skips = [
    ["limit", 2],
    ["get", 1],
    ["by", 1],
  ] as const;
  let store = 0;
  for (let i = 2; i < argv.length; i++) {
    for (const [name, skip] of skips) {
      const word = asciiLower(argv[i] ?? "");
      if (word === name) {
        i += skip;
        break;
      }
      if (word === "store" && i + 1 < argv.length) {
        store = i + 1;
        break;
      }
    }
  }
  return store === 0 ? [key(1, READ)] : [key(1, READ), key(store, WRITE)];
};

const migrate: Finder = (argv) => {
  for (let i = 6; argv.length > 6 && i < argv.length; i++) {
    const word = asciiLower(argv[i]!);
    if (word === "keys") {
      if (argv[3] !== "") return [];
      return argv.slice(i + 1).map((_, k) => key(i + 1 + k, 3));
    }
    if (word === "auth") i += 1;
    else if (word === "auth2") i += 2;
  }
  return [key(3, 3)];
};

const legacyMigrate: Finder = (argv) => {
  for (let i = 6; argv.length > 6 && i < argv.length; i++) {
    if (asciiLower(argv[i]!) === "keys" && argv[3] === "") return argv.slice(i + 1).map((_, k) => key(i + 1 + k));
  }
  return [key(3)];
};

/** The last STORE wins, without access flags; servers whose table says `variable_flags` check every one of them. */
const georadius: Finder = (argv, command) => {
  const every = command.specs.some((s) => s.variable);
  const stores: KeyPosition[] = [];
  for (let i = 5; i + 1 < argv.length; i++) {
    const word = asciiLower(argv[i]!);
    if (word === "store" || word === "storedist") {
      i++;
      stores.push(key(i, every ? WRITE : 0));
    }
  }
  return every ? [key(1, READ), ...stores] : [key(1), ...stores.slice(-1)];
};

const xread: Finder = (argv) => {
  let streams = -1;
  for (let i = 1; i < argv.length; i++) {
    const word = asciiLower(argv[i]!);
    if (word === "block" || word === "count") i++;
    else if (word === "group") i += 2;
    else if (word === "streams") {
      streams = i;
      break;
    } else if (word !== "noack") break;
  }
  const rest = argv.length - streams - 1;
  if (streams < 0 || rest === 0 || rest % 2 !== 0) return [];
  return Array.from({ length: rest / 2 }, (_, k) => key(streams + 1 + k));
};

const set: Finder = (argv) => [key(1, argv.some((a, i) => i >= 3 && asciiLower(a) === "get") ? 3 : WRITE)];

const bitfield: Finder = (argv) => {
  let readOnly = true;
  for (let i = 2; readOnly && i < argv.length; i++) {
    const word = asciiLower(argv[i]!);
    const more = argv.length - i - 1;
    if (word === "get" && more >= 2) i += 2;
    else if (word === "overflow" && more >= 1) i += 1;
    else readOnly = false;
  }
  return [key(1, readOnly ? READ : 3)];
};

const stralgo: Finder = (argv) => {
  for (let i = 1; i < argv.length; i++) {
    const word = asciiLower(argv[i]!);
    if (word === "strings") return [];
    if (word === "keys" && argv.length - 1 - i >= 2) return [key(i + 1), key(i + 2)];
  }
  return [];
};

/** The servers' own key finders, asked where specs do not decide. */
const finders: ReadonlyMap<string, Finder> = new Map<string, Finder>([
  ...["eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro"].map((n) => [n, counted(0, 2, 3)] as const),
  ...["zunionstore", "zinterstore", "zdiffstore"].map((n) => [n, counted(1, 2, 3)] as const),
  ...["zunion", "zinter", "zdiff", "zintercard", "sintercard", "lmpop", "zmpop"].map(
    (n) => [n, counted(0, 1, 2)] as const,
  ),
  ...["blmpop", "bzmpop"].map((n) => [n, counted(0, 2, 3)] as const),
  ["msetex", counted(0, 1, 2, 2)],
  ["sort", sort],
  ["sort_ro", () => [key(1, READ)]],
  ["migrate", migrate],
  ["georadius", georadius],
  ["georadiusbymember", georadius],
  ["xread", xread],
  ["xreadgroup", xread],
  ["set", set],
  ["bitfield", bitfield],
]);

/** Where Redis 6 differs. `set` and `bitfield` have no function there. */
const legacyFinders: ReadonlyMap<string, Finder> = new Map<string, Finder>([
  ["migrate", legacyMigrate],
  ["set", () => [key(1)]],
  ["bitfield", () => [key(1)]],
  ["stralgo", stralgo],
  ["memory", (argv) => (argv.length >= 3 && asciiLower(argv[1]!) === "usage" ? [key(2)] : [])],
]);

/** A decimal 64-bit integer as `string2ll` reads it: no sign but `-`, no blanks, no leading zeros. */
export function strictInteger(text: string): number | undefined {
  return /^(?:0|-?[1-9]\d{0,18})$/.test(text) ? Number(text) : undefined;
}

/** `atoi`. */
function looseInteger(text: string): number {
  const match = /^[ \t\n\v\f\r]*([+-]?\d{1,18})/.exec(text);
  return match === null ? 0 : Number(match[1]) | 0;
}

/** How the server checks a channel argument. */
export interface ChannelPosition {
  readonly index: number;
  /** PSUBSCRIBE: compared with the ACL's patterns byte by byte. */
  readonly pattern: boolean;
}

/** The channels of a call that ACLs restrict (unsubscribing never is). */
export function channelsOf(command: Command, argv: readonly string[]): ChannelPosition[] {
  const { name } = command;
  if (name === "publish" || name === "spublish") return argv.length > 1 ? [{ index: 1, pattern: false }] : [];
  if (name !== "subscribe" && name !== "ssubscribe" && name !== "psubscribe") return [];
  const out: ChannelPosition[] = [];
  for (let i = 1; i < argv.length; i++) out.push({ index: i, pattern: name === "psubscribe" });
  return out;
}

/** What a call touches of the databases (Valkey 9.1). */
export interface DatabaseUse {
  /** Positions of arguments that name a database. */
  readonly positions: readonly number[];
  readonly current: boolean;
  readonly all: boolean;
}

/** Valkey's flag ALL_DBS is not in COMMAND's reply. https://valkey.io/topics/acl/#database-permissions */
const everyDatabase = new Set([
  "flushall",
  "cluster|flushslot",
  "cluster|migrateslots",
  "cluster|cancelslotmigrations",
]);

export function databasesOf(command: Command, argv: readonly string[]): DatabaseUse {
  if (everyDatabase.has(command.name)) return { positions: [], current: false, all: true };
  if (command.name === "select") return { positions: [1], current: false, all: false };
  if (command.name === "swapdb") return { positions: [1, 2], current: false, all: false };
  if (command.name === "move") return { positions: [2], current: true, all: false };
  const positions: number[] = [];
  if (command.name === "copy") {
    for (let i = 3; i + 1 < argv.length; i++) if (asciiLower(argv[i]!) === "db") positions.push(++i);
  }
  const keyspace = command.categories.some((c) => c === "keyspace" || c === "read" || c === "write");
  return { positions, current: keyspace, all: false };
}
