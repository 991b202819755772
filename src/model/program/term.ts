/**
 * What the abstract machine knows about a Lua value: an immutable symbolic term. A term stands for the value that the
 * expression had at one point of one run, so facts about it stay true on the whole path. Terms are shared: the same
 * expression over the same inputs is the same object.
 */

import type { LuaRange } from "../../document/lua.js";
import type { Span, TextView } from "../../text/source.js";
import type { Call } from "./call.js";
import type { Cell, Decl, Proto } from "./ir.js";
import { isLibrary } from "./library.js";

/** Where something stands; the span is made only when it is asked for. */
export class Site {
  readonly view: TextView;
  readonly range: LuaRange;
  constructor(view: TextView, range: LuaRange) {
    this.view = view;
    this.range = range;
  }
  get span(): Span {
    return this.view.span(this.range[0], this.range[1]);
  }
}

/** A string, number, boolean, or nil (as null). */
export interface Literal {
  readonly kind: "literal";
  readonly id: number;
  readonly value: string | number | boolean | null;
}
/** `KEYS[index]` or `ARGV[index]`. */
export interface Slot {
  readonly kind: "slot";
  readonly id: number;
  readonly table: "keys" | "argv";
  readonly index: Term;
}
/** The table `KEYS` or `ARGV` itself. */
export interface Slots {
  readonly kind: "slots";
  readonly id: number;
  readonly table: "keys" | "argv";
}
export interface Length {
  readonly kind: "length";
  readonly id: number;
  readonly of: Term;
}
/** `a .. b .. c`, also from string.format and table.concat. */
export interface Concat {
  readonly kind: "concat";
  readonly id: number;
  readonly parts: readonly Term[];
}
/** What a command answered. */
export interface Reply {
  readonly kind: "reply";
  readonly id: number;
  readonly call: Call;
}
/** `of[key]`, of a reply or of decoded data. */
export interface Item {
  readonly kind: "item";
  readonly id: number;
  readonly of: Term;
  readonly key: Term;
}
/** tonumber / tostring. */
export interface Convert {
  readonly kind: "convert";
  readonly id: number;
  readonly to: "number" | "string";
  readonly of: Term;
}
/** Arithmetic (`+ - * / % ^`) and functions without effects (`math.min`, `cjson.decode`, `string.sub`, `error_reply` …). */
export interface Compute {
  readonly kind: "compute";
  readonly id: number;
  readonly name: string;
  readonly args: readonly Term[];
}
/** `left == right`, `left < right`, `left <= right`; conversions are stripped from both sides. */
export interface Compare {
  readonly kind: "compare";
  readonly id: number;
  readonly op: "eq" | "lt" | "le";
  readonly left: Term;
  readonly right: Term;
}
export interface Not {
  readonly kind: "not";
  readonly id: number;
  readonly of: Term;
}
export interface Both {
  readonly kind: "and" | "or";
  readonly id: number;
  readonly left: Term;
  readonly right: Term;
  readonly at: Site;
}
export interface Alternative {
  readonly value: Term;
  /** What is known when this alternative is the value. */
  readonly facts: readonly Fact[];
}
/** One of several values: where paths meet, or what a loop made of it (then it may contain itself). */
export interface Choice {
  readonly kind: "choice";
  readonly id: number;
  readonly alternatives: Alternative[];
  readonly loop: boolean;
}
/** The variable of a numeric loop. */
export interface Range {
  readonly kind: "range";
  readonly id: number;
  readonly from: Term;
  readonly to: Term;
  readonly step: Term;
}
export interface Closure {
  readonly kind: "closure";
  readonly id: number;
  readonly proto: Proto;
  readonly captured: readonly (readonly [Decl, Cell])[];
}
/** A function or table of the server's library: `redis`, `redis.call`, `string.format` … */
export interface Native {
  readonly kind: "native";
  readonly id: number;
  readonly name: string;
  /** `redis.call` and its like. */
  readonly sends: boolean;
}
export interface TableRef {
  readonly kind: "table";
  readonly id: number;
  readonly cell: Cell;
}
/** Not known; `from` are the values that went into it. */
export interface Opaque {
  readonly kind: "opaque";
  readonly id: number;
  readonly what: string;
  readonly at: Site | undefined;
  readonly from: readonly Term[];
}
export type Term =
  | Literal
  | Slot
  | Slots
  | Length
  | Concat
  | Reply
  | Item
  | Convert
  | Compute
  | Compare
  | Not
  | Both
  | Choice
  | Range
  | Closure
  | Native
  | TableRef
  | Opaque;

/** Something that holds on a path: `term` is true (`holds`) or false there, in Lua's sense. */
export class Fact {
  readonly term: Term;
  readonly holds: boolean;
  at: Site;
  not!: Fact;
  /** Holds on the path that the machine follows now. */
  active = false;
  stamp = 0;
  constructor(term: Term, holds: boolean, at: Site) {
    this.term = term;
    this.holds = holds;
    this.at = at;
  }
}

/** The facts of a path, newest first. */
export interface Facts {
  readonly fact: Fact;
  readonly up: Facts | undefined;
  readonly depth: number;
  /** The newest fact here or before that leaves a choice open: `not (a and b)`, `a or b`. */
  readonly open: Facts | undefined;
}

/** What a table is known to hold. */
export interface TableState {
  /** Entries 1 … n. */
  readonly items: readonly Term[];
  readonly fields: ReadonlyMap<string, Term> | undefined;
  /** Further entries at unknown keys have this value. */
  readonly open: Term | undefined;
  readonly meta: Term | undefined;
}

export const EMPTY_TABLE: TableState = { items: [], fields: undefined, open: undefined, meta: undefined };
/** What the opaque term of an unfinished loop is called. */
export const PENDING = "a value that a loop changes";
const SENDERS: ReadonlySet<string> = new Set(["redis.call", "redis.pcall", "server.call", "server.pcall"]);
const NO_FACTS: readonly Fact[] = [];
const MAX_TEXT = 4096;
export const MAX_ALTERNATIVES = 48;

/** Makes terms and facts for one analysis; equal structure gives the same object. */
export class Terms {
  #next = 0;
  readonly #literals = new Map<string | number | boolean | null, Literal>();
  readonly #shared = new Map<string, Term>();
  readonly #pairs = new Map<number, Term>();
  readonly #facts = new Map<number, Fact>();
  readonly #slots: Record<"keys" | "argv", Slot[]> = { keys: [], argv: [] };
  readonly nil: Literal = this.literal(null);
  readonly true: Literal = this.literal(true);
  readonly false: Literal = this.literal(false);
  readonly zero: Literal = this.literal(0);
  readonly one: Literal = this.literal(1);
  readonly keys: Slots = { kind: "slots", id: this.#next++, table: "keys" };
  readonly argv: Slots = { kind: "slots", id: this.#next++, table: "argv" };

  literal(value: string | number | boolean | null): Literal {
    let term = this.#literals.get(value);
    if (term === undefined) {
      term = { kind: "literal", id: this.#next++, value };
      this.#literals.set(value, term);
    }
    return term;
  }

  slot(table: "keys" | "argv", index: Term): Term {
    if (index.kind === "literal") {
      if (typeof index.value !== "number") return this.nil;
      const known = this.#slots[table];
      const i = index.value;
      if (Number.isInteger(i) && i >= 0 && i < 1024) {
        let term = known[i];
        if (term === undefined) {
          term = { kind: "slot", id: this.#next++, table, index };
          known[i] = term;
        }
        return term;
      }
    }
    const key = pairKey(table === "keys" ? 1 : 2, index.id, 0);
    return this.#find(key) ?? this.#keep(key, { kind: "slot", id: this.#next++, table, index });
  }

  /** Shares terms made of one or two others; ids stay far below 2^24 because the machine's budget ends before. */
  #find(key: number): Term | undefined {
    return this.#pairs.get(key);
  }

  #keep(key: number, term: Term): Term {
    this.#pairs.set(key, term);
    return term;
  }

  length(of: Term): Term {
    if (of.kind === "literal" && typeof of.value === "string") return this.literal(of.value.length);
    const key = pairKey(3, of.id, 0);
    return this.#find(key) ?? this.#keep(key, { kind: "length", id: this.#next++, of });
  }

  item(of: Term, key: Term): Term {
    const pair = pairKey(4, of.id, key.id);
    return this.#find(pair) ?? this.#keep(pair, { kind: "item", id: this.#next++, of, key });
  }

  convert(to: "number" | "string", of: Term): Term {
    if (of.kind === "literal") {
      const { value } = of;
      if (to === "number") {
        if (typeof value === "number") return of;
        if (typeof value === "string") {
          const n = luaNumber(value);
          return n === undefined ? this.nil : this.literal(n);
        }
        return this.nil;
      }
      return typeof value === "string" ? of : this.literal(luaText(value));
    }
    if (of.kind === "convert" && of.to === to) return of;
    const key = pairKey(to === "number" ? 11 : 12, of.id, 0);
    return this.#find(key) ?? this.#keep(key, { kind: "convert", id: this.#next++, to, of });
  }

  concat(parts: readonly Term[]): Term {
    const flat: Term[] = [];
    for (let i = 0; i < parts.length; i++) {
      this.#addPart(flat, parts[i]!);
      if (flat.length > 256) return this.compute("..", flat.slice(0, 256));
    }
    if (flat.length === 0) return this.literal("");
    if (flat.length === 1) return flat[0]!.kind === "literal" ? flat[0]! : this.convert("string", flat[0]!);
    let key = ".";
    for (const part of flat) key += `,${part.id}`;
    return this.#shared.get(key) ?? this.#named(key, { kind: "concat", id: this.#next++, parts: flat });
  }

  #addPart(flat: Term[], part: Term): void {
    if (part.kind === "literal" && part.value !== null) {
      const last = flat[flat.length - 1];
      if (last?.kind === "literal" && last.value !== null) {
        const text = luaText(last.value) + luaText(part.value);
        if (text.length <= MAX_TEXT) {
          flat[flat.length - 1] = this.literal(text);
          return;
        }
      }
      if (part.value !== "") flat.push(typeof part.value === "string" ? part : this.literal(luaText(part.value)));
    } else if (part.kind === "concat") {
      for (let i = 0; i < part.parts.length; i++) this.#addPart(flat, part.parts[i]!);
    } else if (part.kind === "convert" && part.to === "string") this.#addPart(flat, part.of);
    else flat.push(part);
  }

  #named(key: string, term: Term): Term {
    this.#shared.set(key, term);
    return term;
  }

  compute(name: string, args: readonly Term[]): Term {
    let key = name;
    for (const arg of args) key += `,${arg.id}`;
    return this.#shared.get(key) ?? this.#named(key, { kind: "compute", id: this.#next++, name, args });
  }

  reply(call: Call): Reply {
    return { kind: "reply", id: this.#next++, call };
  }

  compare(op: "eq" | "lt" | "le", left: Term, right: Term): Term {
    const l = base(left);
    const r = base(right);
    const known = decide(op, l, r);
    if (known !== undefined) return known ? this.true : this.false;
    if (op === "eq") {
      // what a comparison gives is there, whatever it is
      if (isNil(r) && isBoolean(l)) return this.false;
      if (isNil(l) && isBoolean(r)) return this.false;
      // A missing value is false in a reply and nil in a table: both tests mean "not there".
      if (r.kind === "literal" && (r.value === null || r.value === false)) return this.not(l);
      if (l.kind === "literal" && (l.value === null || l.value === false)) return this.not(r);
      const typed = this.#typed(l, r) ?? this.#typed(r, l);
      if (typed !== undefined) return typed;
      if (r.kind === "literal" && r.value === true && isBoolean(l)) return l;
      if (l.kind === "literal" && l.value === true && isBoolean(r)) return r;
      if (l.kind === "literal" || (l.id > r.id && r.kind !== "literal")) return this.#compared(5, op, r, l);
    }
    return this.#compared(op === "eq" ? 5 : op === "lt" ? 6 : 7, op, l, r);
  }

  /** `type(x) == "string"` of what is a text or is not there asks whether it is there, `"boolean"` of a reply the opposite. */
  #typed(side: Term, name: Term): Term | undefined {
    const subject = side.kind === "compute" && side.name === "type" ? side.args[0] : undefined;
    if (subject === undefined || name.kind !== "literal") return undefined;
    const types = typesOf(subject);
    if (types === undefined) return undefined;
    if (name.value === types.there) return this.not(this.not(subject));
    return name.value === types.missing ? this.not(subject) : this.false;
  }

  #compared(tag: number, op: Compare["op"], left: Term, right: Term): Term {
    const key = pairKey(tag, left.id, right.id);
    return this.#find(key) ?? this.#keep(key, { kind: "compare", id: this.#next++, op, left, right });
  }

  not(of: Term): Term {
    if (of.kind === "not" && isBoolean(of.of)) return of.of;
    const known = truth(of);
    if (known !== undefined) return known ? this.false : this.true;
    const key = pairKey(8, of.id, 0);
    return this.#find(key) ?? this.#keep(key, { kind: "not", id: this.#next++, of });
  }

  both(kind: "and" | "or", left: Term, right: Term, at: () => Site): Term {
    const known = truth(left);
    if (known !== undefined) return known === (kind === "and") ? right : left;
    const key = pairKey(kind === "and" ? 9 : 10, left.id, right.id);
    return this.#find(key) ?? this.#keep(key, { kind, id: this.#next++, left, right, at: at() });
  }

  choice(alternatives: Alternative[], loop = false): Choice {
    return { kind: "choice", id: this.#next++, alternatives, loop };
  }

  /** The choice for what a loop may change: until the pass has ended, one alternative stands for what it will make. */
  loopChoice(value: Term | undefined, site: Site | undefined): Choice {
    const later = this.opaque(PENDING, site);
    const alternatives = value === undefined ? [] : [{ value, facts: NO_FACTS }];
    return this.choice([...alternatives, { value: later, facts: NO_FACTS }], true);
  }

  range(from: Term, to: Term, step: Term, nesting: number): Term {
    const key = `r${nesting},${from.id},${to.id},${step.id}`;
    return this.#shared.get(key) ?? this.#named(key, { kind: "range", id: this.#next++, from, to, step });
  }

  closure(proto: Proto, captured: readonly (readonly [Decl, Cell])[]): Closure {
    return { kind: "closure", id: this.#next++, proto, captured };
  }

  native(name: string): Term {
    const key = `n${name}`;
    return (
      this.#shared.get(key) ?? this.#named(key, { kind: "native", id: this.#next++, name, sends: SENDERS.has(name) })
    );
  }

  /** A member of a library table. */
  member(owner: Native, key: Literal, site: Site): Term {
    const pair = pairKey(13, owner.id, key.id);
    const known = this.#find(pair);
    if (known !== undefined) return known;
    const name = `${owner.name}.${String(key.value)}`;
    const id = this.#next++;
    if (isLibrary(name)) return this.#keep(pair, { kind: "native", id, name, sends: SENDERS.has(name) });
    return this.#keep(pair, { kind: "opaque", id, what: name, at: site, from: [] });
  }

  table(cell: Cell): TableRef {
    return { kind: "table", id: this.#next++, cell };
  }

  opaque(what: string, at: Site | undefined, from: readonly Term[] = []): Opaque {
    return { kind: "opaque", id: this.#next++, what, at, from };
  }

  /** The fact that `term` is true (or false); the first place that stated it is kept. */
  fact(term: Term, holds: boolean, at: Site): Fact {
    let key = term;
    let value = holds;
    while (key.kind === "not") {
      key = key.of;
      value = !value;
    }
    let fact = this.#facts.get(key.id);
    if (fact === undefined) {
      fact = new Fact(key, true, at);
      fact.not = new Fact(key, false, at);
      fact.not.not = fact;
      this.#facts.set(key.id, fact);
    }
    return value ? fact : fact.not;
  }

  /** The fact about a term that was stated before, if any. */
  known(term: Term): Fact | undefined {
    return this.#facts.get(term.id);
  }

  get size(): number {
    return this.#next;
  }

  /**
   * The values that a term may have, with what is known for each: choices and `and`/`or` opened, at most
   * `MAX_ALTERNATIVES`; undefined when there are more.
   */
  alternatives(term: Term): readonly Alternative[] | undefined {
    if (term.kind !== "choice" && term.kind !== "and" && term.kind !== "or") return [{ value: term, facts: NO_FACTS }];
    const out: Alternative[] = [];
    return this.#open(term, NO_FACTS, out, new Set(), 0) ? out : undefined;
  }

  #open(term: Term, facts: readonly Fact[], out: Alternative[], seen: Set<Term>, depth: number): boolean {
    if (out.length >= MAX_ALTERNATIVES || depth > 24) return false;
    switch (term.kind) {
      case "choice": {
        if (seen.has(term)) return true;
        seen.add(term);
        for (const a of term.alternatives) {
          if (!this.#open(a.value, joined(facts, a.facts), out, seen, depth + 1)) return false;
        }
        if (!term.loop) seen.delete(term);
        return true;
      }
      case "or": {
        const first = out.length;
        if (!this.#open(term.left, facts, out, seen, depth + 1)) return false;
        let kept = first;
        for (let i = first; i < out.length; i++) {
          const a = out[i]!;
          const known = truth(a.value);
          if (known === false) continue;
          out[kept++] =
            known === true ? a : { value: a.value, facts: joined(a.facts, [this.fact(a.value, true, term.at)]) };
        }
        out.length = kept;
        return this.#open(term.right, joined(facts, [this.fact(term.left, false, term.at)]), out, seen, depth + 1);
      }
      case "and": {
        if (truth(term.left) !== true) {
          out.push({ value: this.false, facts: joined(facts, [this.fact(term.left, false, term.at)]) });
        }
        return this.#open(term.right, joined(facts, [this.fact(term.left, true, term.at)]), out, seen, depth + 1);
      }
      default:
        out.push({ value: term, facts });
        return true;
    }
  }
}

function pairKey(tag: number, a: number, b: number): number {
  return tag * 281474976710656 + a * 16777216 + b;
}

function joined(a: readonly Fact[], b: readonly Fact[]): readonly Fact[] {
  return a.length === 0 ? b : b.length === 0 ? a : a.concat(b);
}

/** The term without tonumber/tostring around it. */
export function base(term: Term): Term {
  let at = term;
  while (at.kind === "convert") at = at.of;
  return at;
}

/** Commands whose answer is a text, or false where there is none. */
export const TEXT_REPLIES: ReadonlySet<string> = new Set("get hget getset getdel lindex lpop rpop zscore".split(" "));

/** The Lua types that a value has where it is there and where it is not; undefined: it may have others. */
function typesOf(term: Term): { readonly there: string; readonly missing: string } | undefined {
  switch (term.kind) {
    case "slot":
      return { there: "string", missing: "nil" };
    case "convert":
      return term.to === "number" ? { there: "number", missing: "nil" } : undefined;
    case "reply":
      return isTextReply(term.call) ? { there: "string", missing: "boolean" } : undefined;
    case "item": {
      const { of } = term;
      // beyond the end of the list it is nil
      const several = of.kind === "reply" && (of.call.command === "hmget" || of.call.command === "mget");
      const index = term.key.kind === "literal" ? Number(term.key.value) : 0;
      const first = several && of.call.command === "hmget" ? 2 : 1;
      const within = several && of.call.open === undefined && index >= 1 && index + first <= of.call.argv.length;
      return within && !of.call.guarded ? { there: "string", missing: "boolean" } : undefined;
    }
    default:
      return undefined;
  }
}

/** A call that answers one text or false for certain; a guarded one may answer an error, which is a table. */
function isTextReply(call: Call): boolean {
  return !call.guarded && call.open === undefined && TEXT_REPLIES.has(call.command ?? "") && call.argv.length <= 3;
}

export function isBoolean(term: Term): boolean {
  switch (term.kind) {
    case "compare":
    case "not":
      return true;
    case "literal":
      return typeof term.value === "boolean";
    case "and":
    case "or":
      return isBoolean(term.left) && isBoolean(term.right);
    case "choice":
      return !term.loop && term.alternatives.every((a) => a.value !== term && isBoolean(a.value));
    default:
      return false;
  }
}

function isNil(term: Term): boolean {
  return term.kind === "literal" && term.value === null;
}

/** Lua's truth of a term where it is certain. */
export function truth(term: Term): boolean | undefined {
  switch (term.kind) {
    case "literal":
      return term.value !== null && term.value !== false;
    case "closure":
    case "native":
    case "table":
    case "slots":
    case "length":
    case "concat":
    case "range":
      return true;
    case "convert":
      return term.to === "string" ? true : undefined;
    case "or":
      return truth(term.right) === true ? true : undefined;
    case "and":
      return truth(term.right) === false ? false : undefined;
    default:
      return undefined;
  }
}

/** Compares two terms where the result is certain; undefined: it depends. */
export function decide(op: "eq" | "lt" | "le", left: Term, right: Term): boolean | undefined {
  if (left === right && left.kind !== "choice") return op !== "lt";
  if (left.kind === "literal" && right.kind === "literal") {
    const a = left.value;
    const b = right.value;
    if (op === "eq") {
      // '1' and 1 differ in Lua; here conversions are stripped, so equal text decides nothing.
      if (typeof a === typeof b || a === null || b === null) return a === b;
      return typeof a === "boolean" || typeof b === "boolean" ? false : luaText(a) === luaText(b) ? undefined : false;
    }
    const m = typeof a === "string" ? luaNumber(a) : a;
    const n = typeof b === "string" ? luaNumber(b) : b;
    if (typeof m === "number" && typeof n === "number") return op === "lt" ? m < n : m <= n;
    return undefined;
  }
  if (op === "eq") {
    const nil = left.kind === "literal" ? left : right.kind === "literal" ? right : undefined;
    const other = nil === left ? right : left;
    if (nil !== undefined && (nil.value === null || nil.value === false) && truth(other) === true) return false;
  }
  return undefined;
}

/** A number as Lua 5.1 prints it ("%.14g"), booleans and nil by name. */
export function luaText(value: string | number | boolean | null): string {
  if (typeof value === "string") return value;
  if (typeof value !== "number") return value === null ? "nil" : String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e14) return String(value);
  return String(Number(value.toPrecision(14)));
}

export function luaNumber(text: string): number | undefined {
  const t = text.trim();
  if (!/^[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/.test(t)) return undefined;
  const n = Number(t.replace(/^\+/, ""));
  return Number.isNaN(n) ? undefined : n;
}

/** Whether `part` occurs in `term` (through a bounded number of its parts). */
export function mentions(term: Term, part: Term): boolean {
  let left = 200;
  const visit = (t: Term): boolean => {
    if (t === part) return true;
    if (--left < 0) return false;
    switch (t.kind) {
      case "slot":
        return visit(t.index);
      case "reply":
        return t.call.argv.some(visit);
      case "concat":
        return t.parts.some(visit);
      case "compute":
        return t.args.some(visit);
      case "item":
        return visit(t.of) || visit(t.key);
      case "convert":
      case "length":
      case "not":
        return visit(t.of);
      case "compare":
      case "and":
      case "or":
        return visit(t.left) || visit(t.right);
      case "choice":
        return t.alternatives.some((a) => visit(a.value));
      case "opaque":
        return t.from.some(visit);
      default:
        return false;
    }
  };
  return visit(term);
}
