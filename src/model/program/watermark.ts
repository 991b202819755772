/** Whether a resource behind a fenced lock keeps stale tokens out. */

import type { Span } from "../../text/source.js";
import type { Call } from "./call.js";
import type { ScriptEffects } from "./effects.js";
import { ENDS, EXTENDS, keyOf, keyTitle, type LockProgram, type Locks, type Watermark } from "./locks.js";
import { guardsKeyOf, storedInputs } from "./ownership.js";
import { inputOf, inputsOf, readOf, sameKey, testsOf } from "./query.js";
import { holds, type Situation, type Truth } from "./situation.js";
import { base, type Term } from "./term.js";

/** How the token of a call compares with the stored one. */
type Order = "lower" | "equal" | "higher";

/**
 * `unchecked`: a token below the stored one is stored · `lowered`: only such a one · `equal`: an equal one from another
 * owner is. undefined: it is kept out, or it cannot be told.
 */
export function judgeWatermark(effects: ScriptEffects, mark: Watermark): "unchecked" | "lowered" | "equal" | undefined {
  const reach = (order: Order): Truth => reached(effects, mark, order);
  if (reach("lower") === true || reached(effects, mark, "lower", true) === true)
    return reach("higher") === false ? "lowered" : "unchecked";
  return reach("lower") === false && reach("equal") === true ? "equal" : undefined;
}

/** Whether a write beside the watermark is made whatever the token is: a stale one too. */
export function isUnchecked(effects: ScriptEffects, mark: Watermark, call: Call): boolean {
  const reach = (order: Order): Truth => reached(effects, Object.assign({}, mark, { call }), order);
  return reach("lower") === true && reach("higher") === true;
}

/** Whether the call is made in a situation; undefined: a condition about the watermark is not understood. */
function reached(effects: ScriptEffects, mark: Watermark, order: Order, sameOwner = false): Truth {
  const situation = new Stored(effects, mark, order, sameOwner);
  let result: Truth = true;
  for (const guard of mark.call.guards) {
    const answer = holds(guard, situation);
    if (answer === false) return false;
    if (answer === undefined && guardsKeyOf(guard, mark.key)) result = undefined;
  }
  return result;
}

class Stored implements Situation {
  readonly #effects: ScriptEffects;
  readonly #mark: Watermark;
  readonly #order: Order;
  readonly #sameOwner: boolean;

  constructor(effects: ScriptEffects, mark: Watermark, order: Order, sameOwner: boolean) {
    this.#effects = effects;
    this.#mark = mark;
    this.#order = order;
    this.#sameOwner = sameOwner;
  }

  truth(term: Term): Truth {
    return this.#reads(term) === undefined && this.#side(term) !== "token" ? undefined : true;
  }

  compare(op: "eq" | "lt" | "le", left: Term, right: Term): Truth {
    const [a, b] = [this.#place(left), this.#place(right)];
    if (a !== undefined && b !== undefined && a.side !== b.side) {
      const [x, y] = [a.value, b.value];
      return op === "eq" ? x === y : op === "lt" ? x < y : x <= y;
    }
    if (op !== "eq") return undefined;
    for (const [side, other] of [
      [left, right],
      [right, left],
    ] as const) {
      // the token and the stored one are there
      if (other.kind === "literal" && (other.value === null || other.value === false) && this.truth(side) === true)
        return false;
      // another field, or another key, compared with an input: the owner
      if (inputsOf(other).some((i) => i.table === "argv" && i.index !== this.#mark.token.index) && this.#isBeside(side))
        return this.#sameOwner;
    }
    return undefined;
  }

  /** As if the stored token were 0 and the other next to it; `top - 1` is one below it. */
  #place(term: Term): { readonly side: "token" | "stored"; readonly value: number } | undefined {
    const side = this.#side(term);
    if (side === "stored") return { side, value: 0 };
    if (side === "token") return { side, value: this.#order === "lower" ? -1 : this.#order === "equal" ? 0 : 1 };
    if (term.kind !== "compute" || (term.name !== "+" && term.name !== "-")) return undefined;
    const [of, by] = term.args;
    const inner = of === undefined ? undefined : this.#place(of);
    if (inner === undefined || by?.kind !== "literal" || typeof by.value !== "number") return undefined;
    return { side: inner.side, value: inner.value + (term.name === "+" ? by.value : -by.value) };
  }

  #side(term: Term): "token" | "stored" | undefined {
    const input = inputOf(term);
    if (input?.table === "argv") return input.index === this.#mark.token.index ? "token" : undefined;
    return this.#reads(term) === "mark" ? "stored" : undefined;
  }

  #isBeside(term: Term): boolean {
    return this.#reads(term) !== "mark" && readOf(term, this.#effects.terms) !== undefined;
  }

  /** Whether a term is the stored watermark, or something stored beside it. */
  #reads(term: Term): "mark" | "other" | undefined {
    const { key, field } = this.#mark;
    const read = readOf(term, this.#effects.terms);
    if (read === undefined || !sameKey(read.key, key)) return undefined;
    if (field === undefined || read.field === undefined) return "mark";
    return base(read.field) === base(field) ? "mark" : "other";
  }
}

/** A comparison by size of a token with something stored. */
interface TokenOrder {
  readonly at: Span;
  /** The pattern of the key that holds the other side, and how it is called in messages. */
  readonly key: string;
  readonly title: string;
  /** The field of a hash that holds it. */
  readonly field: Term | undefined;
}

function ordersOf({ effects, tokens, program }: LockProgram): readonly TokenOrder[] {
  const out: TokenOrder[] = [];
  for (const test of testsOf(effects.comparisons, undefined, effects.terms)) {
    if (test.guard.op !== "less" && test.guard.op !== "lessOrEqual") continue;
    const { input, read } = test;
    if (input?.table !== "argv" || input.index === undefined || !tokens.includes(input.index)) continue;
    const use = effects.keysOf(read.call)?.find((u) => sameKey(u.term, read.key));
    if (use === undefined) continue;
    const [key, title] = [keyOf(program, use.origin), keyTitle(program, use.origin)];
    out.push({ at: test.guard.at, key, title, field: read.field });
  }
  return out;
}

/** Tokens that are compared by size as the texts that they come as. */
export function textOrders(lock: LockProgram): readonly TokenOrder[] {
  const texts = lock.effects.textOrders;
  return ordersOf(lock).filter((o) => texts.some((t) => t.start === o.at.start && t.source === o.at.source));
}

/** The watermark of a program that compares its token with one field of a hash and stores it in another. */
function storedBeside(lock: LockProgram, locks: Locks): TokenOrder | undefined {
  const marks = locks.programs.flatMap((other) => locks.watermarks(other));
  return ordersOf(lock).find(({ key, field }) => {
    const own = marks.filter((mark) => mark.pattern === key);
    return (
      field?.kind === "literal" &&
      own.length > 0 &&
      own.every((mark) => mark.field?.kind === "literal" && mark.field.value !== field.value)
    );
  });
}

/** The watermark of a program that writes a resource under a token and never stores that; undefined: it is none, or does. */
export function unstored(lock: LockProgram, locks: Locks): TokenOrder | undefined {
  const { effects, fenced, acquires, tokens, program } = lock;
  if (!fenced || acquires.length > 0) return undefined;
  if (effects.writes.some((w) => storedInputs(w).some((i) => tokens.includes(i)))) return storedBeside(lock, locks);
  const isOfLock = (key: string): boolean => locks.leases.has(key) || locks.counters.has(key);
  const resource = effects.writes.some(
    (w) =>
      !ENDS.has(w.command ?? "") &&
      !EXTENDS.has(w.command ?? "") &&
      effects.keysOf(w)?.some((u) => !isOfLock(keyOf(program, u.origin))) === true,
  );
  return resource ? ordersOf(lock).find((o) => !isOfLock(o.key)) : undefined;
}
