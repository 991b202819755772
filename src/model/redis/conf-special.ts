import { type Parsed, parseMemory, parseMemory62, sameWord, strtol } from "./conf-types.js";
import type { Dialect } from "./directives.js";

/** Options with a parser of their own. Each gives the value as `CONFIG GET` prints it, or the server's error text. */

const ok = <T>(value: T): Parsed<T> => ({ ok: true, value });
const fail = <T>(error: string): Parsed<T> => ({ ok: false, error });

const WRONG_NUMBER = "wrong number of arguments";

/** Words that the server accepts and reads as something else, for a finding beside the value. */
export interface Misread {
  readonly index: number;
  readonly message: string;
  readonly right?: string | undefined;
}

export interface SpecialValue {
  readonly value: string;
  readonly misread?: readonly Misread[];
}

/** The classes of `client-output-buffer-limit`, as `CONFIG GET` names them. */
function bufferClass(word: string, dialect: Dialect): "normal" | "replica" | "pubsub" | "master" | undefined {
  const lower = word.toLowerCase();
  if (lower === "normal" || lower === "pubsub") return lower;
  if (lower === "slave" || lower === "replica") return "replica";
  return lower === "master" || (dialect.valkey8 && lower === "primary") ? "master" : undefined;
}

export interface BufferLimit {
  readonly class: string;
  readonly hard: string;
  readonly soft: string;
  readonly seconds: string;
}

/** `client-output-buffer-limit <class> <hard> <soft> <seconds>`, several of them from 7.0 on. */
export function parseBufferLimits(
  args: readonly string[],
  dialect: Dialect,
): Parsed<{ limits: readonly BufferLimit[]; misread: readonly Misread[] }> {
  const limits: BufferLimit[] = [];
  const misread: Misread[] = [];
  if (!dialect.v7) {
    if (args.length !== 4) return fail("Bad directive or wrong number of arguments");
    const name = bufferClass(args[0]!, dialect);
    if (name === undefined || name === "master") {
      return fail(
        "Unrecognized client limit class: the user specified an invalid one, or 'master' which has no buffer limits.",
      );
    }
    const [hard, soft] = [1, 2].map((index) => {
      const value = parseMemory62(args[index]!);
      if (value === undefined) misread.push({ index, message: "is no memory value and is read as 0: no limit" });
      return BigInt.asUintN(64, value ?? 0n).toString();
    }) as [string, string];
    const seconds = BigInt.asIntN(32, strtol(args[3]!).value);
    if (seconds < 0n) return fail("Negative number of seconds in soft limit is invalid");
    if (!/^\d+$/.test(args[3]!)) misread.push({ index: 3, message: `is read as ${seconds} seconds` });
    limits.push({ class: name, hard, soft, seconds: seconds.toString() });
    return ok({ limits, misread });
  }
  if (args.length % 4 !== 0) return fail("Wrong number of arguments in buffer limit configuration.");
  for (let i = 0; i < args.length; i += 4) {
    const name = bufferClass(args[i]!, dialect);
    if (name === undefined || name === "master") {
      return fail("Invalid client class specified in buffer limit configuration.");
    }
    const hard = parseMemory(args[i + 1]!);
    const soft = parseMemory(args[i + 2]!);
    const seconds = strtol(args[i + 3]!);
    // The number of seconds is an int.
    const kept = BigInt.asIntN(32, seconds.value);
    if (hard === undefined || soft === undefined || kept < 0n || !readsAll(seconds.read, args[i + 3]!)) {
      return fail("Error in hard, soft or soft_seconds setting in buffer limit configuration.");
    }
    limits.push({ class: name, hard: hard.toString(), soft: soft.toString(), seconds: kept.toString() });
  }
  return ok({ limits, misread });
}

/** `*eptr == '\0'`: everything was read, or there was nothing. */
function readsAll(read: number, text: string): boolean {
  return read === text.length;
}

/** The pairs of one `save` line; `reset`: forgets what was set before it. */
export interface SaveLine {
  readonly reset: boolean;
  readonly pairs: readonly string[];
  readonly misread: readonly Misread[];
}

export function parseSave(args: readonly string[], dialect: Dialect): Parsed<SaveLine> {
  if (!dialect.v7) {
    // 6.2 looks at two arguments and at an empty one; anything else is accepted and does nothing.
    if (args.length === 2) {
      const [seconds, changes] = args.map((a) => BigInt.asIntN(32, strtol(a).value)) as [bigint, bigint];
      if (seconds < 1n || changes < 0n) return fail("Invalid save parameters");
      const misread = args.flatMap((a, index) =>
        /^\d+$/.test(a) ? [] : [{ index, message: `is read as ${index === 0 ? seconds : changes}` }],
      );
      return ok({ reset: false, pairs: [seconds.toString(), changes.toString()], misread });
    }
    return ok({ reset: args.length === 1 && args[0] === "", pairs: [], misread: [] });
  }
  let reset = false;
  let rest = args;
  if (args.length === 1 && args[0] === "") {
    reset = true;
    rest = [];
  }
  if (rest.length % 2 !== 0) return fail("Invalid save parameters");
  const pairs: string[] = [];
  for (const [i, text] of rest.entries()) {
    const { value, read } = strtol(text);
    if (!readsAll(read, text) || value < (i % 2 === 0 ? 1n : 0n)) return fail("Invalid save parameters");
    pairs.push((i % 2 === 0 ? value : BigInt.asIntN(32, value)).toString());
  }
  return ok({ reset, pairs, misread: [] });
}

/** The most addresses of `bind`. */
const MAX_ADDRESSES = 16;

export function parseBind(args: readonly string[], dialect: Dialect): Parsed<readonly string[]> {
  if (!dialect.v7 && args.length === 0) return fail("Bad directive or wrong number of arguments");
  if (args.length > MAX_ADDRESSES) {
    return fail(dialect.v7 ? "Too many bind addresses specified." : "Too many bind addresses specified");
  }
  return ok(dialect.v7 && args.length === 1 && args[0] === "" ? [] : args);
}

/** A text that neither an address nor a host name can be. */
export function isImpossibleAddress(text: string): boolean {
  const address = text.startsWith("-") ? text.slice(1) : text;
  return address !== "*" && address !== "::*" && !/^[A-Za-z0-9._:%-]+$/.test(address) && !/[^\x00-\x7f]/.test(address);
}

/** The value of a `special` option; `save`, `client-output-buffer-limit` and `bind` have functions of their own. */
export function parseSpecial(name: string, args: readonly string[], dialect: Dialect): Parsed<SpecialValue> {
  switch (name) {
    case "oom-score-adj-values": {
      if (args.length !== 3) return fail(dialect.v7 ? WRONG_NUMBER : "Bad directive or wrong number of arguments");
      const values: string[] = [];
      for (const text of args) {
        const { value, read } = strtol(text);
        if (!readsAll(read, text) || value < -2000n || value > 2000n) {
          return fail("Invalid oom-score-adj-values, elements must be between -2000 and 2000.");
        }
        values.push(value.toString());
      }
      return ok({ value: values.join(" ") });
    }
    case "notify-keyspace-events": {
      if (args.length !== 1) return fail(WRONG_NUMBER);
      const allowed = dialect.v7 ? /^[Ag$lshzxeKEtmdn]*$/ : /^[Ag$lshzxeKEtmd]*$/;
      if (allowed.test(args[0]!)) return ok({ value: printEvents(args[0]!, dialect) });
      const hint = dialect.v7 ? "Ag$lshzxeKEtmdn" : "g$lshzxeA";
      return fail(`Invalid event class character. Use '${hint}'.`);
    }
    case "replicaof": {
      if (args.length !== 2) return fail(dialect.v7 ? WRONG_NUMBER : "Bad directive or wrong number of arguments");
      if (sameWord(args[0]!, "no") && sameWord(args[1]!, "one")) return ok({ value: "" });
      const { value, read } = strtol(args[1]!);
      // The port is an int: what does not fit wraps before it is compared.
      const port = BigInt.asIntN(32, value);
      if (port < 0n || port > 65535n || !readsAll(read, args[1]!)) {
        return fail(dialect.valkey8 ? "Invalid primary port" : "Invalid master port");
      }
      return ok({ value: `${args[0]} ${port}` });
    }
    case "latency-tracking-info-percentiles": {
      const rest = args.length === 1 && args[0] === "" ? [] : args;
      const values: string[] = [];
      for (const text of rest) {
        const value = parseDouble(text);
        if (value === undefined) return fail("Invalid latency-tracking-info-percentiles parameters");
        if (value > 100 || value < 0) {
          return fail("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]");
        }
        values.push(value.toFixed(6).replace(/\.?0+$/, ""));
      }
      return ok({ value: values.join(" ") });
    }
    case "unixsocketperm": {
      const { value, read } = strtol(args[0]!, 8);
      // A mode is unsigned: a negative number is a large one.
      if (BigInt.asUintN(32, value) > 0o777n) return fail("Invalid socket file permissions");
      const misread = readsAll(read, args[0]!) ? [] : [{ index: 0, message: `is read as mode ${value.toString(8)}` }];
      return ok({ value: value.toString(8), misread });
    }
    case "dir":
      if (args[0] !== "") return ok({ value: args[0]! });
      return fail(dialect.valkey8 ? "dir can't be empty" : "No such file or directory");
    case "rdma-bind": {
      const read = parseBind(args, dialect);
      return read.ok ? ok({ value: read.value.join(" ") }) : read;
    }
    default:
      return ok({ value: args.join(" ") });
  }
}

/** `strtod` over the whole text, without a leading blank and without NaN. */
function parseDouble(text: string): number | undefined {
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) && !(value === 0 && /[1-9]/.test(text.replace(/e.*$/i, ""))) ? value : undefined;
  }
  if (/^[+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?\d+)?$/i.test(text)) {
    const [, sign, whole, part = "", power = "0"] = /^([+-]?)0x([0-9a-f]*)\.?([0-9a-f]*)(?:p([+-]?\d+))?$/i.exec(text)!;
    const value = Number.parseInt((whole + part || "0").slice(0, 200), 16) * 2 ** (Number(power) - 4 * part.length);
    return Number.isFinite(value) ? (sign === "-" ? -value : value) : undefined;
  }
  return /^[+-]?inf(?:inity)?$/i.test(text) ? (text.startsWith("-") ? -Infinity : Infinity) : undefined;
}

/** The flags in the order in which `CONFIG GET notify-keyspace-events` prints them. */
function printEvents(text: string, dialect: Dialect): string {
  const all = "g$lshzxetd";
  const has = new Set(text.includes("A") ? text + all : text);
  // `A` stands for all but `n`, which is printed only where `A` is not.
  let out = [...all].every((c) => has.has(c))
    ? "A"
    : [...all, ...(dialect.v7 ? "n" : "")].filter((c) => has.has(c)).join("");
  for (const c of "KEm") if (has.has(c)) out += c;
  return out;
}
