/**
 * The lock programs of a contract: those whose manifest says `lease` or `fence`, or that promise mutual exclusion. What they
 * are (acquire, renew, release …) is told from what their scripts do, never from names of programs.
 */

import type { Span } from "../../text/source.js";
import type { Contract } from "../contract.js";
import { type Call, fieldPairs } from "./call.js";
import type { KeyUse, ScriptEffects } from "./effects.js";
import { type StoredFields, storedFields } from "./fields.js";
import type { ManifestProgram } from "./manifest.js";
import type { Origin } from "./origin.js";
import { patternOf } from "./origin.js";
import { ownershipOf, storedInputs } from "./ownership.js";
import type { ContractPrograms, LuaScript, Program } from "./programs.js";
import { acquisitionsOf, type Input, inputOf, sameKey, testsOf } from "./query.js";
import { base, type Term } from "./term.js";

export const ENDS: ReadonlySet<string> = new Set(["del", "unlink", "getdel"]);
export const EXTENDS: ReadonlySet<string> = new Set(["expire", "pexpire", "expireat", "pexpireat"]);

/** A change of a key by one call of a lock program. */
export interface KeyChange {
  readonly call: Call;
  readonly use: KeyUse;
  /** Its pattern, or `KEYS[i]` where the manifest has none. */
  readonly key: string;
}

export interface LockProgram {
  readonly program: Program;
  readonly entry: ManifestProgram;
  readonly script: LuaScript;
  readonly effects: ScriptEffects;
  /** It promises that a stale holder is kept out. */
  readonly fenced: boolean;
  /** ARGV indexes (from 1) of who calls: owner, operation, attempt, token. */
  readonly identity: readonly number[];
  /** ARGV indexes of fencing tokens. */
  tokens: readonly number[];
  /** Deletions, and settings of a time to live. */
  readonly changes: readonly KeyChange[];
  /** It takes the lock: stores the caller in a key. */
  acquires: readonly KeyChange[];
  /** It counts up in a key. */
  readonly counts: readonly KeyChange[];
}

const CLASSES: ReadonlySet<string> = new Set(["lease", "lock", "fence"]);
const COUNTS: ReadonlySet<string> = new Set(["incr", "incrby", "hincrby", "decr", "decrby"]);
const IDENTITY =
  /owner|holder|operation|attempt|token|nonce|fence|epoch|request.?id|client.?id|session.?id|worker|caller/i;
const TOKEN = /token|fenc|epoch/i;

export class Locks {
  readonly programs: readonly LockProgram[];
  /** Keys that hold the owner, by pattern. */
  readonly leases: ReadonlySet<string>;
  /** Keys whose count gives the tokens, with the call that counts. */
  readonly counters: ReadonlyMap<string, KeyChange & { readonly program: Program }>;
  readonly fields: StoredFields;
  readonly #by = new Map<Program, LockProgram>();
  readonly #marks = new Map<LockProgram, readonly Watermark[]>();

  constructor(all: ContractPrograms) {
    const programs = all.programs.flatMap((p) => lockProgram(p) ?? []);
    this.programs = programs;
    this.fields = storedFields(programs.map((p) => p.program));
    nameTokens(programs);
    for (const lock of programs) if (lock.acquires.length === 0) lock.acquires = takings(lock);
    const leases = new Set<string>();
    const counters = new Map<string, KeyChange & { readonly program: Program }>();
    for (const lock of programs) {
      this.#by.set(lock.program, lock);
      for (const { key } of lock.acquires) if (key !== UNKNOWN) leases.add(key);
      if (!lock.fenced) continue;
      for (const change of lock.counts) {
        if (change.key !== UNKNOWN && !counters.has(change.key))
          counters.set(change.key, { ...change, program: lock.program });
      }
    }
    this.leases = leases;
    this.counters = counters;
  }

  of(program: Program): LockProgram | undefined {
    return this.#by.get(program);
  }

  /** The key of a lock program that holds the owner: acquired somewhere, else the first whose value is compared with the caller. */
  leaseKey(lock: LockProgram): Term | undefined {
    const tested = comparedKeys(lock);
    return (tested.find((t) => this.leases.has(t.key)) ?? tested[0])?.term;
  }

  /** The calls of a lock program that only a resource guarded by a token makes: it stores the token that it was given. */
  watermarks(lock: LockProgram): readonly Watermark[] {
    let marks = this.#marks.get(lock);
    if (marks === undefined) this.#marks.set(lock, (marks = this.#watermarks(lock)));
    return marks;
  }

  #watermarks(lock: LockProgram): readonly Watermark[] {
    if (!lock.fenced || lock.acquires.length > 0) return [];
    const { effects } = lock;
    const out: Watermark[] = [];
    for (const call of effects.calls) {
      const [, key] = call.argv;
      if (key === undefined || !STORE_VALUES.has(call.command ?? "")) continue;
      const [use] = effects.keysOf(call) ?? [];
      if (use === undefined) continue;
      const pattern = keyOf(lock.program, use.origin);
      if (this.leases.has(pattern) || pattern === UNKNOWN) continue;
      for (const { field, value } of storedValues(call)) {
        const input = inputOf(value);
        if (input?.table !== "argv" || input.index === undefined || !lock.tokens.includes(input.index)) continue;
        out.push({ call, key, pattern, field, token: input });
      }
    }
    return out;
  }
}

/** A call that stores the token that it was given as the highest seen. */
export interface Watermark {
  readonly call: Call;
  readonly key: Term;
  readonly pattern: string;
  /** The field of a hash; undefined: the key as a whole. */
  readonly field: Term | undefined;
  readonly token: Input;
}

const STORE_VALUES: ReadonlySet<string> = new Set(["set", "hset", "hmset", "setex", "psetex", "getset"]);

/** The values that a call stores, each with its field. */
function storedValues(call: Call): readonly { readonly field: Term | undefined; readonly value: Term }[] {
  const { command = "", argv } = call;
  if (command === "hset" || command === "hmset") return fieldPairs(call);
  const value = argv[command === "setex" || command === "psetex" ? 3 : 2];
  return value === undefined ? [] : [{ field: undefined, value }];
}

const made = new WeakMap<ContractPrograms, Locks>();

export function locksOf(contract: Contract): Locks {
  let locks = made.get(contract.programs);
  if (locks === undefined) made.set(contract.programs, (locks = new Locks(contract.programs)));
  return locks;
}

/**
 * What the holder of a fenced lock got when it was taken is its token, whatever it is called: an argument of unit `token` that
 * no program needs to take the lock.
 */
function nameTokens(programs: readonly LockProgram[]): void {
  const takers = programs.filter(
    (p) => p.fenced && (p.acquires.length > 0 || (p.counts.length > 0 && takings(p).length > 0)),
  );
  if (takers.length === 0) return;
  const needed = new Set(takers.flatMap((p) => p.entry.argv.map((a) => a.name.value)));
  for (const lock of programs) {
    if (!lock.fenced || lock.acquires.length > 0 || lock.tokens.length > 0) continue;
    lock.tokens = lock.identity.filter((i) => {
      const { name, unit } = lock.entry.argv[i - 1]!;
      return unit.value === "token" && !needed.has(name.value);
    });
  }
}

/** Whether a manifest entry is of a lock: by its class, else by the guarantee that it gives. */
export function isLock(entry: ManifestProgram): boolean {
  const { value } = entry.class ?? { value: undefined };
  if (value !== undefined) return CLASSES.has(value);
  return entry.guarantee !== undefined && entry.guarantee.value !== "none";
}

function lockProgram(program: Program): LockProgram | undefined {
  const { entry, script } = program;
  const effects = script?.effects;
  if (entry === undefined || script === undefined || effects === undefined || !isLock(entry)) return undefined;
  if (!effects.commandsComplete) return undefined;
  const identity: number[] = [];
  const tokens: number[] = [];
  entry.argv.forEach((a, i) => {
    const { value: unit } = a.unit;
    if (unit === "milliseconds" || unit === "seconds" || unit === "bytes" || unit === "count") return;
    const name = a.name.value;
    if (unit === "token" || IDENTITY.test(name)) identity.push(i + 1);
    if (TOKEN.test(name) || (unit === "token" && a.type.value === "integer")) tokens.push(i + 1);
  });
  const changes: KeyChange[] = [];
  const counts: KeyChange[] = [];
  for (const call of effects.calls) {
    const { command = "" } = call;
    const ends = ENDS.has(command) || EXTENDS.has(command) || command === "persist" || extendsBySet(call);
    if (!ends && !COUNTS.has(command)) continue;
    // Counting how often a caller holds it gives no token.
    if (command === "hincrby" && storedInputs(call).length > 0) continue;
    for (const use of effects.keysOf(call) ?? []) {
      (ends ? changes : counts).push({ call, use, key: keyOf(program, use.origin) });
    }
  }
  return {
    program,
    entry,
    script,
    effects,
    fenced: entry.class?.value === "fence" || entry.guarantee?.value === "fenced",
    identity,
    tokens,
    changes,
    acquires: acquires(program, effects),
    counts,
  };
}

/** `SET key value XX PX …`: a renewal. */
function extendsBySet(call: Call): boolean {
  return call.command === "set" && call.has("XX", 3);
}

/** Keys in which the script puts its caller only if they are free (`NX`). */
function acquires(program: Program, effects: ScriptEffects): readonly KeyChange[] {
  const out: KeyChange[] = [];
  const add = (call: Call): void => {
    const use = effects.keysOf(call)?.[0];
    if (use !== undefined) out.push({ call, use, key: keyOf(program, use.origin) });
  };
  for (const { call } of acquisitionsOf(effects)) add(call);
  for (const call of effects.calls) {
    if (call.command === "hsetnx") add(call);
  }
  return out;
}

/** Keys in which the script puts its caller with conditions of its own. */
function takings({ program, effects, identity, tokens, counts }: LockProgram): readonly KeyChange[] {
  const out: KeyChange[] = [];
  // Whoever brings a token has taken the lock before.
  if (tokens.length > 0 && counts.length === 0) return out;
  for (const call of effects.calls) {
    if (extendsBySet(call)) continue;
    const stored = storedInputs(call);
    const owner = identity[0];
    if (owner === undefined || !stored.includes(owner)) continue;
    const key = call.argv[1]!;
    // What only the holder may write is no acquisition, and neither is what keeps no time.
    if (ownershipOf(call, key, effects.terms).tested && !mayBeFree(call, key, effects)) continue;
    const use = effects.ttls.some((t) => sameKey(t.term, key)) ? effects.keysOf(call)?.[0] : undefined;
    if (use !== undefined) out.push({ call, use, key: keyOf(program, use.origin) });
  }
  return out;
}

/** The way to the call is also open when nothing is stored under the key. */
function mayBeFree(call: Call, key: Term, effects: ScriptEffects): boolean {
  return !testsOf(call.guards, key, effects.terms).some((t) => t.guard.op === "equal" && t.inputs.length > 0);
}

/**
 * The comparison for which a release decodes what is stored without having looked whether anything is: `cjson.decode(false)`
 * ends the script. undefined: there is none.
 */
export function decodedUnseen({ effects, changes }: LockProgram): Span | undefined {
  for (const { call } of changes) {
    if (!ENDS.has(call.command ?? "")) continue;
    for (const { guard, read } of testsOf(call.guards, undefined, effects.terms)) {
      if (read.path.length === 0 || !TEXTS.has(read.call.command ?? "")) continue;
      const stored = [guard.left, guard.right!].map(decodedReply).find((r) => r?.call === read.call);
      if (stored !== undefined && !call.guards.some((g) => g.op === "true" && base(g.left) === stored)) return guard.at;
    }
  }
  return undefined;
}

const TEXTS: ReadonlySet<string> = new Set(["get", "hget", "getex"]);

/** The reply that a term is a part of, where it is decoded as it is. */
function decodedReply(term: Term): (Term & { readonly kind: "reply" }) | undefined {
  let t = base(term);
  for (let i = 0; i < 8 && t.kind === "item"; i++) t = base(t.of);
  if (t.kind !== "compute" || (t.name !== "cjson.decode" && t.name !== "cmsgpack.unpack")) return undefined;
  const inner = t.args[0] === undefined ? undefined : base(t.args[0]);
  return inner?.kind === "reply" ? inner : undefined;
}

interface ComparedKey {
  readonly term: Term;
  readonly key: string;
}

/** Keys whose stored value the script compares with its caller, in the order of KEYS. */
function comparedKeys(lock: LockProgram): readonly ComparedKey[] {
  const { effects, program, identity } = lock;
  const found = new Map<Term, ComparedKey>();
  for (const test of testsOf(effects.comparisons, undefined, effects.terms)) {
    if (!test.inputs.some((i) => i.table === "argv" && i.index !== undefined && identity.includes(i.index))) continue;
    if (test.guard.op !== "equal" && test.guard.op !== "different") continue;
    const term = base(test.read.key);
    const use = effects.keysOf(test.read.call)?.find((u) => base(u.term) === term);
    if (use !== undefined && !found.has(term)) found.set(term, { term, key: keyOf(program, use.origin) });
  }
  return [...found.values()].sort((a, b) => index(a.term) - index(b.term));
}

function index(term: Term): number {
  return term.kind === "slot" && term.index.kind === "literal" ? Number(term.index.value) : 1e6;
}

/** A key of which nothing is known: never the same as another one. */
const UNKNOWN = "KEYS[?]";

/** The pattern of a key of a program, for comparing keys of several programs; `KEYS[i]` where the manifest has none. */
export function keyOf(program: Program, origin: Origin): string {
  const patterns = program.entry?.keys.map((k) => k.pattern.value) ?? [];
  return patternOf(origin, patterns) ?? (origin.keys[0] === undefined ? UNKNOWN : `KEYS[${origin.keys[0]}]`);
}

/** How a key is called in messages: the manifest's name, else `KEYS[i]`, else its pattern. */
export function keyTitle(program: Program, origin: Origin): string {
  const [first] = origin.keys;
  if (first === undefined) return keyOf(program, origin);
  const name = program.entry?.keys[first - 1]?.name.value;
  return name === undefined || name === "" ? `KEYS[${first}]` : name;
}

/** Whether a script compares something stored with the given input at all. */
export function comparesInput(effects: ScriptEffects, argv: number): boolean {
  return testsOf(effects.comparisons, undefined, effects.terms).some((t) =>
    t.inputs.some((i) => i.table === "argv" && i.index === argv),
  );
}
