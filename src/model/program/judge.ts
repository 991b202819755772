/** What rules ask of a program beyond its effects: its manifest's names beside what the script does. */
import type { Span } from "../../text/source.js";
import { type Call, fieldPairs } from "./call.js";
import type { ScriptEffects, TtlSet } from "./effects.js";
import { head, isWrite, type TimeUnit } from "./knowledge.js";
import type { ManifestArgument, ManifestKey, ManifestProgram, ManifestTtl } from "./manifest.js";
import { type Origin, originOf } from "./origin.js";
import type { LuaScript } from "./programs.js";
import { type Input, inputOf, type KeyTest, readOf, testsOf } from "./query.js";
import { base, type Term, type Terms } from "./term.js";

const PROBABILISTIC =
  /^(?:pf(?:add|count|merge)|setbit|getbit|bitcount|bitop|bitpos|bitfield(?:_ro)?|geo(?:add|dist|hash|pos|radius\w*|search\w*))$/;

/** Bitmap, HyperLogLog and geo commands that a script calls. */
export function probabilisticCommands(
  script: LuaScript | undefined,
): readonly { readonly name: string; readonly at: Span }[] {
  const out: { name: string; at: Span }[] = [];
  for (const [name, call] of script?.effects?.commands ?? []) {
    if (PROBABILISTIC.test(head(name))) out.push({ name, at: call.commandAt });
  }
  return out;
}

/** The declared key that a key name is, or is made from; undefined for one that several or none stand for. */
export function declaredKey(entry: ManifestProgram, origin: Origin): ManifestKey | undefined {
  const [index, ...others] = origin.keys;
  return index === undefined || others.some((i) => i !== index) ? undefined : entry.keys[index - 1];
}

/** The declared key of a term that is one entry of KEYS. */
export function keyOfTerm(entry: ManifestProgram, term: Term | undefined): ManifestKey | undefined {
  const input = term === undefined ? undefined : inputOf(term);
  return input?.table === "keys" && input.index !== undefined && input.path.length === 0
    ? entry.keys[input.index - 1]
    : undefined;
}

export function argumentOf(entry: ManifestProgram, index: number | undefined): ManifestArgument | undefined {
  return index === undefined ? undefined : entry.argv[index - 1];
}

/** The index (from 1) of the first argument whose name fits. */
export function argumentNamed(entry: ManifestProgram, name: RegExp): number | undefined {
  const found = entry.argv.findIndex((a) => name.test(a.name.value));
  return found < 0 ? undefined : found + 1;
}

export function ttlOf(entry: ManifestProgram, key: ManifestKey): ManifestTtl | undefined {
  return entry.ttl.find((t) => t.key.value === key.name.value);
}

const MS: { readonly [U in TimeUnit]?: number } = { seconds: 1000, milliseconds: 1 };

/** Milliseconds of a time that a command takes; undefined for points in time. */
export function inMs(value: number, unit: TimeUnit): number | undefined {
  const factor = MS[unit];
  return factor === undefined ? undefined : value * factor;
}

/** The bound that a manifest declares, in milliseconds. */
export function boundOf(ttl: ManifestTtl): number | undefined {
  const value = (ttl.max ?? ttl.fixed)?.value;
  return value === undefined ? undefined : inMs(value, ttl.unit?.value ?? "milliseconds");
}

/** Where the time of a TTL is written. */
export function timeAt(set: TtlSet): Span {
  const index = set.time === undefined ? -1 : set.call.argv.indexOf(set.time);
  return index < 0 ? set.call.at : set.call.wordAt(index);
}

/** Whether a comparison of a stored value with argument `index`, other than a `crossed` one, holds whenever the call is sent. */
export function isGuardedBy(
  call: Call,
  terms: Terms,
  index: number,
  crossed: (test: KeyTest) => boolean = () => false,
): boolean {
  return testsOf(call.guards, undefined, terms).some(
    (t) => t.guard.op === "equal" && usesArgument(t, index) && !crossed(t),
  );
}

/** Lists of stored and given values are compared by an index that runs: which with which is not known. */
export function comparesByIndex(effects: ScriptEffects): boolean {
  const runs = (term: Term | undefined): boolean => {
    const t = term === undefined ? undefined : base(term);
    if (t?.kind === "opaque") return true;
    return (t?.kind === "item" && t.key.kind !== "literal") || (t?.kind === "slot" && t.index.kind !== "literal");
  };
  return effects.comparisons.some((c) => {
    if (c.op !== "equal" && c.op !== "different") return false;
    const other = (t: Term | undefined): boolean => runs(t) || t?.kind === "choice";
    return (runs(c.left) && other(c.right)) || (runs(c.right) && other(c.left));
  });
}

function usesArgument(test: KeyTest, index: number): boolean {
  return test.inputs.some((i) => i.table === "argv" && i.index === index);
}

/** Whether a term is made from argument `index` alone or among others. */
export function mentionsArgument(term: Term, index: number): boolean {
  const t = base(term);
  const input = inputOf(t);
  if (input !== undefined) return input.table === "argv" && input.index === index;
  if (t.kind === "concat") return t.parts.some((p) => mentionsArgument(p, index));
  if (t.kind === "compute") return t.args.some((a) => mentionsArgument(a, index));
  return false;
}

/** Writes that leave the same data when they are made twice with the same words. */
const SAME_TWICE =
  /^(?:set|hset|hmset|hdel|del|unlink|sadd|srem|zadd|zrem|mset|setex|psetex|expire|pexpire|expireat|pexpireat|persist|setbit|setrange|zremrangeby\w+|ltrim|lset|hexpire|hpexpire|pfadd|pfmerge|geoadd|copy|xtrim|xdel|getex|sinterstore|sunionstore|sdiffstore|zunionstore|zinterstore|zdiffstore|zrangestore)$/;

/** Whether sending a call again, with the same words, changes nothing more. */
export function isRepeatable(call: Call): boolean {
  const name = head(call.command ?? "");
  if (isWrite(name) === false) return true;
  if (!SAME_TWICE.test(name)) return false;
  // what is written only if missing answers something else the second time
  if (name === "set" && (call.has("NX", 3) || call.has("GET", 3))) return false;
  if (name === "zadd" && (call.has("INCR", 2) || call.has("NX", 2))) return false;
  return !moves(name, call);
}

/** What a write stores is other on the second run: counted on from what the key holds, or under a member of its own each time. */
function moves(name: string, call: Call): boolean {
  const { argv } = call;
  const key = argv[1];
  if (key === undefined) return false;
  const [values, members] = WORDS.get(name)?.(argv) ?? [[], []];
  return values.some((v) => countsOn(v, base(key), 0)) || members.some((m) => isFresh(m, 0));
}

type Words = readonly [values: readonly Term[], members: readonly Term[]];
const odd = (argv: readonly Term[], from: number): Term[] => argv.filter((_, i) => i >= from && (i - from) % 2 === 0);
const WORDS: ReadonlyMap<string, (argv: readonly Term[]) => Words> = new Map([
  ["set", (a: readonly Term[]): Words => [a.slice(2, 3), []]],
  ["setex", (a: readonly Term[]): Words => [a.slice(3, 4), []]],
  ["psetex", (a: readonly Term[]): Words => [a.slice(3, 4), []]],
  ["hset", (a: readonly Term[]): Words => [odd(a, 3), odd(a, 2)]],
  ["hmset", (a: readonly Term[]): Words => [odd(a, 3), odd(a, 2)]],
  ["zadd", (a: readonly Term[]): Words => [[], a.length % 2 === 0 ? odd(a, 3) : []]],
  ["sadd", (a: readonly Term[]): Words => [[], a.slice(2)]],
]);

/** A sum or difference with something read from the key. */
function countsOn(term: Term, key: Term, depth: number): boolean {
  const t = base(term);
  if (depth > 12) return false;
  if (t.kind === "compute") {
    const adds = t.name === "+" || t.name === "-";
    return t.args.some((a) => (adds && reads(a, key, 0)) || countsOn(a, key, depth + 1));
  }
  if (t.kind === "choice") return !t.loop && t.alternatives.some((a) => countsOn(a.value, key, depth + 1));
  return false;
}

function reads(term: Term, key: Term, depth: number): boolean {
  const t = base(term);
  if (depth > 12) return false;
  switch (t.kind) {
    case "reply":
      return t.call.argv[1] !== undefined && base(t.call.argv[1]) === key;
    case "item":
      return reads(t.of, key, depth + 1);
    case "compute":
      return t.args.some((a) => reads(a, key, depth + 1));
    case "or":
    case "and":
      return reads(t.left, key, depth + 1) || reads(t.right, key, depth + 1);
    case "choice":
      return t.alternatives.some((a) => a.value !== t && reads(a.value, key, depth + 1));
    default:
      return false;
  }
}

/** A name that is another one at every run: made with the clock or a counter. */
function isFresh(term: Term, depth: number): boolean {
  const t = base(term);
  if (depth > 12) return false;
  if (t.kind === "reply") return t.call.command === "time" || t.call.command === "incr";
  if (t.kind === "item") return isFresh(t.of, depth + 1);
  if (t.kind === "concat") return t.parts.some((p) => isFresh(p, depth + 1));
  return t.kind === "compute" && t.args.some((a) => isFresh(a, depth + 1));
}

/**
 * Whether a write is made at most once for one operation: something stored under an argument, or compared with one, is asked
 * before it, and decides. `effects` are those of its script.
 */
export function isRemembered(call: Call, effects: ScriptEffects): boolean {
  const { terms } = effects;
  const keys = new Set<Term>();
  for (const g of call.guards) {
    for (const side of [g.left, g.right]) {
      if (side === undefined) continue;
      if (asksForArgument(side) && !keepsOther(side, effects)) return true;
      const read = readOf(side, terms);
      if (read !== undefined) keys.add(base(read.key));
    }
  }
  if (asksOwnKey(call)) return true;
  const compared = comparedKeys(effects);
  if ([...keys].some((k) => compared.has(k)) && !asksInVain(call, effects)) return true;
  if (!call.has("NX", 3) && call.command !== "setnx") return false;
  // it writes once by itself: safe where its caller is told the same the second time
  if (compared.has(base(call.argv[1]!))) return true;
  return !effects.results.some(({ term, guards }) => answers(term, call) || guards.some((g) => answers(g.left, call)));
}

/**
 * Whether the one test before a call holds the second time as well: it asks for another value than the argument, and the script
 * stores another one under the key; or for the same value, and the script stores that.
 */
function asksInVain(call: Call, effects: ScriptEffects): boolean {
  const tests = testsOf(call.guards, undefined, effects.terms).filter(
    (t) => (t.guard.op === "equal" || t.guard.op === "different") && t.inputs.some((i) => i.table === "argv"),
  );
  const [test] = tests;
  if (test === undefined || tests.length > 1) return false;
  // another test of the same key may keep the second run out
  const reads = (side: Term | undefined): boolean => {
    const read = side === undefined ? undefined : readOf(side, effects.terms);
    return read !== undefined && base(read.key) === base(test.read.key);
  };
  if (call.guards.some((g) => g !== test.guard && (reads(g.left) || reads(g.right)))) return false;
  const given = test.inputs.filter((i) => i.table === "argv");
  const kept = effects.writes
    .filter((w) => puts(w, test.read.key))
    .map((w) => storedWords(w, test.read.field))
    .filter((words) => words.length > 0)
    .map((words) => holdsInput(words, given, effects.terms));
  return kept.length > 0 && kept.every((k) => k === (test.guard.op === "equal"));
}

/** A look-up by an argument in a key into which the script puts something, and never that argument. */
function keepsOther(term: Term, effects: ScriptEffects): boolean {
  let t = base(term);
  while (t.kind === "item" || t.kind === "not") t = base(t.of);
  if (t.kind !== "reply" || isWrite(t.call.command ?? "")) return false;
  const { argv } = t.call;
  const inputs = argv.slice(2).flatMap((word) => inputOf(base(word)) ?? []);
  const kept = effects.writes
    .filter((w) => puts(w, argv[1]!))
    .map((w) => holdsInput(w.argv.slice(2), inputs, effects.terms));
  return inputs.length > 0 && kept.length > 0 && kept.every((k) => k === false);
}

const PUTS = /^(?:set|setex|psetex|setnx|getset|hset|hmset|hsetnx|sadd|zadd)$/;

function puts(call: Call, key: Term): boolean {
  return PUTS.test(call.command ?? "") && call.open === undefined && base(call.argv[1]!) === base(key);
}

/** What a call stores: under a field of a hash, where that is known. */
function storedWords(call: Call, field: Term | undefined): readonly Term[] {
  const pairs = field?.kind === "literal" ? fieldPairs(call) : [];
  if (!pairs.every((pair) => pair.field.kind === "literal") || pairs.length === 0) return call.argv.slice(2);
  return pairs.filter((pair) => pair.field === field).map((pair) => pair.value);
}

/** Whether one of the inputs is among words as it is given; undefined: it cannot be told. */
function holdsInput(words: readonly Term[], inputs: readonly Input[], terms: Terms): boolean | undefined {
  let known = true;
  for (const word of words) {
    const input = inputOf(base(word));
    if (input !== undefined && inputs.some((i) => i.table === input.table && i.index === input.index)) return true;
    const { kind, argv } = originOf(word, terms);
    // a text that is made from the input may be what is compared
    if (kind === "unknown" || kind === "data" || inputs.some((i) => i.index === undefined || argv.includes(i.index)))
      known = false;
  }
  return known ? false : undefined;
}

const OPERATION = /operation|request|idempot|(?:^|[^a-z])op(?:$|[^a-z])|(?:^|[^a-z])op_?id/i;

/** Whether what decides on a call was asked under the operation that the caller names; true where the manifest names none. */
export function remembersOperation(call: Call, entry: ManifestProgram, terms: Terms): boolean {
  const ids = entry.argv.flatMap((a, i) => (a.unit.value === "token" || OPERATION.test(a.name.value) ? [i + 1] : []));
  const used = new Set<number>();
  const note = (term: Term): void => {
    for (const i of originOf(term, terms).argv) used.add(i);
  };
  for (const guard of call.guards) {
    for (const side of [guard.left, guard.right]) {
      let t = side === undefined ? undefined : base(side);
      for (let depth = 0; depth < 8 && (t?.kind === "item" || t?.kind === "not"); depth++) t = base(t.of);
      if (t?.kind === "reply") for (const word of t.call.argv.slice(1)) note(word);
      else if (t !== undefined) note(t);
    }
  }
  return ids.length === 0 || ids.some((i) => used.has(i));
}

/** Keys whose value the script compares with something made from arguments. */
function comparedKeys(effects: ScriptEffects): ReadonlySet<Term> {
  const out = new Set<Term>();
  for (const t of testsOf(effects.comparisons, undefined, effects.terms)) {
    // a limit is no memory
    if (t.guard.op !== "equal" && t.guard.op !== "different") continue;
    if (t.inputs.some((i) => i.table === "argv")) out.add(base(t.read.key));
  }
  return out;
}

function answers(term: Term, call: Call): boolean {
  const t = base(term);
  return (t.kind === "reply" && t.call === call) || (t.kind === "not" && answers(t.of, call));
}

/** A reply of a look-up by an argument: `HGET key ARGV[1]`, `SISMEMBER`, `ZSCORE`, or `SET key ARGV[1] NX`. */
function asksForArgument(term: Term): boolean {
  const t = base(term);
  if (t.kind === "item") return asksForArgument(t.of);
  if (t.kind === "not") return asksForArgument(t.of);
  if (t.kind !== "reply") return false;
  const { call } = t;
  const name = call.command ?? "";
  const words = call.argv.slice(2);
  if (asksOwnKey(call)) return true;
  if (/^(?:hget|hexists|hmget|sismember|smismember|zscore|zrank|hsetnx|sadd)$/.test(name))
    return words.some(isArgument);
  if (name === "set" && call.has("NX", 3)) return words[0] !== undefined && isArgument(words[0]);
  if (name === "setnx") return words[0] !== undefined && isArgument(words[0]);
  return false;
}

/** A look at, or the one writing of, a key that each operation has for itself (`KEYS[1] .. ":" .. ARGV[1]`). */
function asksOwnKey(call: Call): boolean {
  const { command = "", argv } = call;
  const key = argv[1] === undefined ? undefined : base(argv[1]);
  if (key?.kind !== "concat" || !key.parts.some(isArgument)) return false;
  return command === "setnx" || command === "get" || command === "exists" || (command === "set" && call.has("NX", 3));
}

function isArgument(term: Term): boolean {
  const t = base(term);
  if (t.kind === "concat") return t.parts.some(isArgument);
  return inputOf(t)?.table === "argv";
}
