/** Whether a resource behind a fenced lock keeps stale tokens out. */
import type { ScriptEffects } from "./effects.js";
import type { Watermark } from "./locks.js";
import { guardsKeyOf } from "./ownership.js";
import { inputOf, inputsOf, readOf, sameKey } from "./query.js";
import { holds, type Situation, type Truth } from "./situation.js";
import { base, type Term } from "./term.js";

/** How the token of a call compares with the stored one, when another owner stored that. */
type Order = "lower" | "equal" | "higher";

/**
 * `unchecked`: a token below the stored one is stored · `lowered`: only such a one · `equal`: an equal one from another
 * owner is. undefined: it is kept out, or it cannot be told.
 */
export function judgeWatermark(effects: ScriptEffects, mark: Watermark): "unchecked" | "lowered" | "equal" | undefined {
  const reach = (order: Order): Truth => reached(effects, mark, order);
  if (reach("lower") === true) return reach("higher") === false ? "lowered" : "unchecked";
  return reach("lower") === false && reach("equal") === true ? "equal" : undefined;
}

/** Whether the call is made in a situation; undefined: a condition about the watermark is not understood. */
function reached(effects: ScriptEffects, mark: Watermark, order: Order): Truth {
  const situation = new Stored(effects, mark, order);
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

  constructor(effects: ScriptEffects, mark: Watermark, order: Order) {
    this.#effects = effects;
    this.#mark = mark;
    this.#order = order;
  }

  truth(term: Term): Truth {
    return this.#reads(term) === undefined ? undefined : true;
  }

  compare(op: "eq" | "lt" | "le", left: Term, right: Term): Truth {
    const [a, b] = [this.#side(left), this.#side(right)];
    if (a !== undefined && b !== undefined && a !== b) {
      // As if the stored token were 1.
      const token = this.#order === "lower" ? 0 : this.#order === "equal" ? 1 : 2;
      const [x, y] = a === "token" ? [token, 1] : [1, token];
      return op === "eq" ? x === y : op === "lt" ? x < y : x <= y;
    }
    if (op !== "eq") return undefined;
    // Another field, compared with an input: the owner, who is another one.
    for (const [side, other] of [
      [left, right],
      [right, left],
    ] as const) {
      if (this.#reads(side) === "other" && inputsOf(other).some((i) => i.table === "argv")) return false;
    }
    return undefined;
  }

  #side(term: Term): "token" | "stored" | undefined {
    const input = inputOf(term);
    if (input?.table === "argv") return input.index === this.#mark.token.index ? "token" : undefined;
    return this.#reads(term) === "mark" ? "stored" : undefined;
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
