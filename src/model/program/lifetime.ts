/**
 * Which keys a script leaves without a time to live, path by path. The state of a key is a cell of the machine, so that
 * branches fork and join it like a variable.
 */
import type { Call } from "./call.js";
import { Cell } from "./ir.js";
import { head, LIFE, type LifeEffect, MEANINGS, type Meaning, TIME_OPTIONS, type TimeUnit } from "./knowledge.js";
import { base, type Fact, type Facts, luaNumber, mentions, type Term } from "./term.js";

/** The term that a fact says is zero or false: `not (0 < n)`, `n == 0`, `not any`. */
function emptied({ term, holds }: Fact): Term | undefined {
  if (term.kind !== "compare") return holds ? undefined : term;
  const { op, left, right } = term;
  const is = (t: Term, n: number): boolean => t.kind === "literal" && t.value === n;
  if (op === "eq") return holds ? (is(right, 0) ? left : is(left, 0) ? right : undefined) : undefined;
  // `n < 1`, `n <= 0` hold; `0 < n`, `1 <= n` do not
  if (holds) return is(right, op === "lt" ? 1 : 0) ? left : undefined;
  return is(left, op === "lt" ? 0 : 1) ? right : undefined;
}

/** What a loop counts up, sets or collects: a variable that it changes, the length of a list, or its first entry. */
function isTally(term: Term, depth: number): boolean {
  const t = base(term);
  if (t.kind === "length" || (t.kind === "compute" && t.name === "next")) return true;
  if (t.kind !== "choice" || depth > 4) return false;
  return t.loop || t.alternatives.some((a) => isTally(a.value, depth + 1));
}

/** A write that may have created the key (or dropped its time to live) and is not yet covered. */
export interface Pending {
  readonly call: Call;
  /** Drops an existing time to live, so that the key's having been there before does not cover it. */
  readonly replaces: boolean;
  /** Whether it sets a time to live cannot be told (options from data). */
  readonly unclear: boolean;
}

export interface KeyState {
  readonly pending: readonly Pending[];
  readonly exists: boolean | undefined;
  /** It has a time to live, if it is there at all. */
  readonly expires: boolean;
  /** Something unknown ran after the pending writes. */
  readonly unclear: boolean;
}

const UNTOUCHED: KeyState = { pending: [], exists: undefined, expires: false, unclear: false };
const MAX_PENDING = 8;
const CONDITIONS = ["XX", "GT", "LT", "NX"];

/** A time to live that a call sets. */
export interface TimeToLive {
  readonly call: Call;
  readonly key: Term;
  readonly unit: TimeUnit;
  /** undefined: given by words that are not known. */
  readonly time: Term | undefined;
  /** `NX`, `XX`, `GT`, `LT` of EXPIRE; `` when it is set in any case. */
  readonly condition: string;
}

/** A key left without a time to live on a path. */
export interface Immortal {
  readonly key: Term;
  readonly call: Call;
  /** Facts of the path at its end. */
  readonly facts: Facts | undefined;
  /** true: it could not be told. */
  readonly unclear: boolean;
}

export interface Tracker {
  set(cell: Cell, value: unknown): void;
  readonly facts: Facts | undefined;
}

export class Lifetimes {
  readonly times: TimeToLive[] = [];
  /** By the write; the first path on which it is certain, else the first. */
  readonly immortal = new Map<Call, Immortal>();
  readonly #cells = new Map<Term, Cell>();
  readonly #keys = new Map<Cell, Term>();
  readonly #tracker: Tracker;

  constructor(tracker: Tracker) {
    this.#tracker = tracker;
  }

  #cell(key: Term): Cell {
    const name = base(key);
    let cell = this.#cells.get(name);
    if (cell === undefined) {
      cell = new Cell(UNTOUCHED, "key");
      this.#cells.set(name, cell);
      this.#keys.set(cell, name);
    }
    return cell;
  }

  /** Whether the key of `cell` is named with `part`. */
  mentions(cell: Cell, part: Term): boolean {
    const key = this.#keys.get(cell);
    return key !== undefined && mentions(key, part);
  }

  /** Keys named with the entry of KEYS that a loop over them has, which end every pass with a time to live. */
  covered(entry: Term): readonly Term[] {
    const out: Term[] = [];
    for (const [key, cell] of this.#cells) {
      const { expires, pending } = cell.value as KeyState;
      if (expires && pending.length === 0 && mentions(key, entry)) out.push(key);
    }
    return out;
  }

  /** A loop has given every key like `like` a time to live: what was written before the call of that order is covered. */
  cover(like: Term, before: number): void {
    for (const [key, cell] of this.#cells) {
      if (!isEntryOf(key, like)) continue;
      const state = cell.value as KeyState;
      const pending = state.pending.filter((p) => p.call.order >= before);
      this.#tracker.set(cell, withState(state, { pending, expires: pending.length === 0 }));
    }
  }

  #update(key: Term, change: (state: KeyState) => KeyState): void {
    const cell = this.#cell(key);
    const before = cell.value as KeyState;
    const after = change(before);
    if (after !== before) this.#tracker.set(cell, after);
  }

  /** Something unknown ran: it may have covered what is pending. */
  unknown(): void {
    for (const cell of this.#cells.values()) {
      const state = cell.value as KeyState;
      if (state.pending.length > 0 && !state.unclear) {
        this.#tracker.set(cell, withState(state, { unclear: true }));
      }
    }
  }

  apply(call: Call): void {
    if (call.command === undefined) {
      this.unknown();
      return;
    }
    const name = head(call.command);
    const life = LIFE.get(name);
    if (life === undefined) {
      if (name === "xgroup" && call.has("MKSTREAM")) this.#write(call.argv[2], call, false, false);
      return;
    }
    this.#effect(name, life, call);
  }

  #effect(name: string, life: LifeEffect, call: Call): void {
    const { argv } = call;
    switch (life.effect) {
      case "keep": {
        if (name === "zadd" && call.has("XX", 2)) return;
        if (name === "bitfield" && !call.has("SET", 2) && !call.has("INCRBY", 2)) return;
        this.#write(argv[life.key], call, false, false);
        return;
      }
      case "replace":
        if (life.key === -2) for (let i = 1; i < argv.length; i += 2) this.#write(argv[i], call, true, false);
        else this.#write(argv[life.key], call, true, false);
        return;
      case "new":
        if (life.key === -2) for (let i = 1; i < argv.length; i += 2) this.#write(argv[i], call, false, false);
        else this.#write(argv[1], call, false, false);
        return;
      case "options":
        this.#options(name, call);
        return;
      case "expire": {
        const key = argv[life.key];
        const time = argv[life.time!];
        if (key === undefined) return;
        const creates = name === "setex" || name === "psetex";
        const condition = creates || call.argv.length < 4 ? "" : (CONDITIONS.find((o) => call.has(o, 3)) ?? "");
        this.#expire(call, key, life.unit!, time, condition, creates);
        return;
      }
      case "persist":
        if (argv[1] !== undefined) {
          this.#update(argv[1], (s) =>
            s.exists === false
              ? s
              : {
                  pending: [{ call, replaces: true, unclear: false }],
                  exists: s.exists,
                  expires: false,
                  unclear: false,
                },
          );
        }
        return;
      case "delete":
        for (let i = 1; i < argv.length; i++) {
          if (name === "getdel" && i > 1) break;
          this.#update(argv[i]!, () => ({ pending: [], exists: false, expires: false, unclear: false }));
        }
        return;
      case "rename":
      case "copy": {
        const [, from, to] = argv;
        if (from === undefined || to === undefined) return;
        const source = this.#cell(from).value as KeyState;
        this.#update(to, () => withState(source, { exists: true }));
        if (life.effect === "rename") {
          this.#update(from, () => ({ pending: [], exists: false, expires: false, unclear: false }));
        }
        return;
      }
    }
  }

  #options(name: string, call: Call): void {
    const { argv } = call;
    const key = argv[1];
    if (key === undefined) return;
    if (name === "restore") {
      const ttl = call.text(2);
      if (ttl === "0") this.#write(key, call, true, false);
      else this.#expire(call, key, "milliseconds", argv[2], "", true);
      return;
    }
    let unclear = call.open !== undefined;
    let keep = false;
    let only = call.has("NX", 3) ? "NX" : call.has("XX", 3) ? "XX" : "";
    if (name !== "set") only = "";
    for (let i = name === "getex" ? 2 : 3; i < argv.length; i++) {
      const word = call.text(i)?.toUpperCase();
      if (word === undefined) {
        unclear = true;
        continue;
      }
      const unit = TIME_OPTIONS[word];
      if (unit !== undefined) {
        this.#expire(call, key, unit, argv[i + 1], only, name === "set");
        return;
      }
      if (word === "KEEPTTL") keep = true;
      else if (word === "IFEQ") i++;
    }
    if (name === "getex") {
      if (call.has("PERSIST", 2)) this.#write(key, call, true, false);
      return;
    }
    this.#write(key, call, !keep && only !== "NX", unclear);
  }

  #write(key: Term | undefined, call: Call, replaces: boolean, unclear: boolean): void {
    if (key === undefined) return;
    this.#update(key, (s) => {
      if (!replaces && s.exists === true && s.pending.length === 0) return s;
      const entry: Pending = { call, replaces, unclear };
      const pending = replaces ? [entry] : s.pending.length < MAX_PENDING ? [...s.pending, entry] : s.pending;
      return { pending, exists: true, expires: false, unclear: false };
    });
  }

  #expire(call: Call, key: Term, unit: TimeUnit, time: Term | undefined, condition: string, creates: boolean): void {
    this.times.push({ call, key, unit, time, condition });
    // XX and GT do nothing to a key without a time to live.
    if (!creates && (condition === "XX" || condition === "GT")) return;
    const n = time?.kind === "literal" ? time.value : undefined;
    const seconds = typeof n === "string" ? luaNumber(n) : n;
    if (typeof seconds === "number" && seconds <= 0 && !creates) {
      this.#update(key, () => ({ pending: [], exists: false, expires: false, unclear: false }));
      return;
    }
    this.#update(key, (s) => ({
      pending: [],
      exists: creates ? true : s.exists,
      expires: true,
      unclear: false,
    }));
  }

  /** A path ends: what is still pending stays without a time to live. */
  end(): void {
    const { facts } = this.#tracker;
    for (const [key, cell] of this.#cells) {
      const state = cell.value as KeyState;
      for (const p of state.pending) {
        if (this.immortal.get(p.call)?.unclear === false || contradicted(p.call.facts)) continue;
        const unclear = state.unclear || p.unclear;
        const known = this.immortal.get(p.call);
        if (known === undefined || (known.unclear && !unclear)) {
          this.immortal.set(p.call, { key, call: p.call, facts, unclear });
        }
      }
    }
  }

  /** Uses what a newly known fact says about the key that was asked about. */
  learn(fact: Fact): void {
    const { term } = fact;
    const none = emptied(fact);
    if (none !== undefined && isTally(none, 0)) this.#loopedNever();
    if (term.kind !== "compare") {
      const subject = readSubject(term);
      if (subject !== undefined) this.#learn(subject.call, subject.part, fact, undefined);
      return;
    }
    const left = readSubject(term.left);
    if (left !== undefined) this.#learn(left.call, left.part, fact, term.right);
    const right = readSubject(term.right);
    if (right !== undefined) this.#learn(right.call, right.part, fact, term.left);
  }

  /** What the loops counted or collected is nothing: no write in them was made that counts. */
  #loopedNever(): void {
    for (const cell of this.#cells.values()) {
      const state = cell.value as KeyState;
      const pending = state.pending.filter((p) => p.call.loops.length === 0);
      if (pending.length < state.pending.length) this.#tracker.set(cell, withState(state, { pending }));
    }
  }

  #learn(call: Call, part: boolean, fact: Fact, other: Term | undefined): void {
    if (call.command === undefined) return;
    const meaning = MEANINGS.get(call.command);
    const key = call.argv[1];
    if (meaning === undefined || key === undefined) return;
    const known = answer(meaning, part, call, fact, other);
    if (known === undefined) return;
    this.#update(key, (s) => {
      if (known === "missing") {
        if (s.pending.length > 0 && s.pending.some((p) => p.call.order >= call.order)) return s;
        return withState(s, { exists: false, pending: [], expires: false });
      }
      if (known === "unwritten") {
        const pending = s.pending.filter((p) => p.call !== call);
        return pending.length === s.pending.length ? s : withState(s, { pending, exists: true });
      }
      if (known === "covered") {
        const pending = s.pending.filter((p) => p.call.order > call.order);
        return withState(s, { pending, expires: pending.length === 0, exists: true });
      }
      if (known === "expires-if-there") {
        // Asked after the writes, so the key was there and the answer covers them.
        const pending = s.pending.filter((p) => p.call.order > call.order);
        return withState(s, { pending, expires: pending.length === 0 });
      }
      // It was there before the answer: what did not replace it kept a time to live that an earlier run gave.
      const pending = s.pending.filter((p) => p.replaces || p.call.order < call.order);
      return withState(s, { pending, exists: true });
    });
  }
}

/** Whether a name is `like` with one entry of KEYS in the place of the one that a loop over all of them has. */
function isEntryOf(name: Term, like: Term): boolean {
  const [n, l] = [base(name), base(like)];
  if (n === l) return true;
  if (n.kind === "concat" && l.kind === "concat")
    return n.parts.length === l.parts.length && n.parts.every((p, i) => isEntryOf(p, l.parts[i]!));
  if (n.kind !== "slot" || l.kind !== "slot" || n.table !== l.table || l.index.kind !== "range") return false;
  const { from, to, step } = l.index;
  const all = to.kind === "length" && to.of.kind === "slots" && to.of.table === l.table;
  const one = step.kind === "literal" && step.value === 1;
  const index = n.index.kind === "literal" ? Number(n.index.value) : Number.NaN;
  if (!one || from.kind !== "literal" || !(index >= Number(from.value))) return false;
  return all || (to.kind === "literal" && index <= Number(to.value));
}

function withState(s: KeyState, part: Partial<KeyState>): KeyState {
  return {
    pending: part.pending ?? s.pending,
    exists: "exists" in part ? part.exists : s.exists,
    expires: part.expires ?? s.expires,
    unclear: part.unclear ?? s.unclear,
  };
}

/** States of one key on paths that meet: pending on any of them is pending. */
export function joinKeys(states: readonly KeyState[]): KeyState {
  let pending: Pending[] = [];
  const first = states[0]!;
  let { exists, expires, unclear } = first;
  for (const s of states) {
    for (const p of s.pending) if (!pending.includes(p)) pending.push(p);
    if (s.exists !== exists) exists = undefined;
    expires &&= s.expires;
    unclear ||= s.unclear;
  }
  if (pending.length > MAX_PENDING * 2) pending = pending.slice(0, MAX_PENDING * 2);
  return { pending, exists, expires, unclear };
}

function contradicted(facts: Facts | undefined): boolean {
  for (let f = facts; f !== undefined; f = f.up) if (f.fact.not.active) return true;
  return false;
}

function readSubject(term: Term): { call: Call; part: boolean } | undefined {
  const t = base(term);
  if (t.kind === "reply") return { call: t.call, part: false };
  if ((t.kind === "item" || t.kind === "length") && t.of.kind === "reply") return { call: t.of.call, part: true };
  return undefined;
}

/** Whether the fact alone rules out that the term (compared with `other`) is the number `n`. */
function excludes(fact: Fact, other: Term | undefined, n: number): boolean {
  if (other === undefined) return !fact.holds;
  const { term, holds } = fact;
  if (term.kind !== "compare") return false;
  const value = other.kind === "literal" ? other.value : undefined;
  const m = typeof value === "string" ? luaNumber(value) : value;
  if (typeof m !== "number") return false;
  if (term.op === "eq") return holds ? m !== n : m === n;
  const ours = term.right === other;
  const truth = ours ? (term.op === "lt" ? n < m : n <= m) : term.op === "lt" ? m < n : m <= n;
  return truth !== holds;
}

type Known = "before" | "covered" | "expires-if-there" | "missing" | "unwritten" | undefined;

function answer(meaning: Meaning, part: boolean, call: Call, fact: Fact, other: Term | undefined): Known {
  switch (meaning.kind) {
    case "counter": {
      if (meaning.amount === undefined) return excludes(fact, other, meaning.one!) ? "before" : undefined;
      const amount = call.argv[meaning.amount];
      if (amount === undefined) return undefined;
      const value = base(amount);
      if (value.kind === "literal") {
        const n = Number(value.value);
        return excludes(fact, other, call.command === "decrby" ? -n : n) ? "before" : undefined;
      }
      const same = other !== undefined && base(other) === value;
      return same && fact.term.kind === "compare" && fact.term.op === "eq" && !fact.holds ? "before" : undefined;
    }
    case "pushed":
      return call.open === undefined && excludes(fact, other, call.argv.length - 2) ? "before" : undefined;
    case "added":
      return other !== undefined && excludes(fact, other, 1) && !excludes(fact, other, 0) ? "before" : undefined;
    case "created":
      if (call.command === "set") {
        if (part || other !== undefined || fact.holds) return undefined;
        return call.has("NX", 3) ? "unwritten" : undefined;
      }
      if (other === undefined) return undefined;
      return excludes(fact, other, 1) && !excludes(fact, other, 0)
        ? call.command === "hsetnx"
          ? "before"
          : "unwritten"
        : undefined;
    case "exists":
      if (excludes(fact, other, 0)) return "before";
      return excludes(fact, other, 1) ? "missing" : undefined;
    case "ttl":
      if (excludes(fact, other, -1)) return excludes(fact, other, -2) ? "covered" : "expires-if-there";
      return excludes(fact, other, 0) && excludes(fact, other, 1) && excludes(fact, other, -1) ? "missing" : undefined;
    case "value":
      if (other === undefined) return fact.holds ? "before" : part ? undefined : "missing";
      return fact.holds || (fact.term.kind === "compare" && fact.term.op !== "eq") ? "before" : undefined;
    case "part":
      if (other === undefined) {
        // A number or list is true in Lua whatever it holds: only these answer nil for what is missing.
        return fact.holds && (part || NIL_WHEN_MISSING.has(call.command!)) ? "before" : undefined;
      }
      if (excludes(fact, other, 0)) return "before";
      return fact.holds && NIL_WHEN_MISSING.has(call.command!) && fact.term.kind === "compare" && fact.term.op === "eq"
        ? "before"
        : undefined;
    case "expired":
      return excludes(fact, other, 0) ? "before" : undefined;
  }
}

const NIL_WHEN_MISSING: ReadonlySet<string> = new Set(["hget", "lindex", "zscore", "zrank", "zrevrank"]);
