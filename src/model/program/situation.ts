/**
 * What a script answers in a situation: its result paths whose conditions can hold there, in three-valued logic. A condition
 * about which the situation says nothing may hold or not.
 */
import type { Guard } from "./call.js";
import type { Result, ResultPath, ScriptEffects } from "./effects.js";
import { inputsOf, readOf } from "./query.js";
import { base, type Term, type Terms } from "./term.js";

/** A lock's key: held by the caller, held by somebody else, or not there. */
export type Holder = "caller" | "other" | "nobody";

export type Truth = boolean | undefined;

/** Answers of `effects` when `key` is held by `holder`. */
export function pathsWhen(effects: ScriptEffects, key: Term, holder: Holder): readonly ResultPath[] {
  const judge = new Judge(effects.terms, base(key), holder);
  return effects.results.filter((path) => path.guards.every((g) => judge.guard(g) !== false));
}

class Judge {
  readonly #terms: Terms;
  readonly #key: Term;
  readonly #holder: Holder;

  constructor(terms: Terms, key: Term, holder: Holder) {
    this.#terms = terms;
    this.#key = key;
    this.#holder = holder;
  }

  guard({ op, left, right }: Guard): Truth {
    if (op === "true") return this.#truth(left, 0);
    if (op === "false") return negate(this.#truth(left, 0));
    if (right === undefined) return undefined;
    if (op === "equal") return this.#equal(left, right);
    if (op === "different") return negate(this.#equal(left, right));
    return undefined;
  }

  #truth(term: Term, depth: number): Truth {
    if (depth > 24) return undefined;
    switch (term.kind) {
      case "literal":
        return term.value !== null && term.value !== false;
      case "not":
        return negate(this.#truth(term.of, depth + 1));
      case "and":
      case "or": {
        const stop = term.kind === "or";
        const left = this.#truth(term.left, depth + 1);
        if (left === stop) return stop;
        const right = this.#truth(term.right, depth + 1);
        if (right === stop) return stop;
        return left === undefined || right === undefined ? undefined : !stop;
      }
      case "compare":
        return term.op === "eq" ? this.#equal(term.left, term.right) : undefined;
      case "convert":
        return this.#truth(term.of, depth + 1);
      case "choice":
        return undefined;
      default: {
        const read = readOf(term, this.#terms);
        if (read === undefined || base(read.key) !== this.#key || NUMBERS.has(read.call.command ?? ""))
          return undefined;
        if (this.#holder === "nobody") return false;
        // A field that is named by the caller is there only for the caller.
        if (read.field !== undefined && inputsOf(read.field).some((i) => i.table === "argv")) {
          return this.#holder === "caller";
        }
        return true;
      }
    }
  }

  #equal(left: Term, right: Term): Truth {
    for (const [side, other] of [
      [left, right],
      [right, left],
    ] as const) {
      const read = readOf(side, this.#terms);
      if (read === undefined || base(read.key) !== this.#key) continue;
      const { command = "" } = read.call;
      const literal = other.kind === "literal" ? Number(other.value) : Number.NaN;
      if (command === "exists")
        return literal === 0 || literal === 1 ? (this.#holder !== "nobody") === (literal === 1) : undefined;
      if (command === "hexists" || command === "sismember") {
        return literal === 0 || literal === 1 ? (this.#holder === "caller") === (literal === 1) : undefined;
      }
      if (command === "pttl" || command === "ttl") return literal === -2 ? this.#holder === "nobody" : undefined;
      if (inputsOf(other).some((i) => i.table === "argv")) return this.#holder === "caller";
    }
    return undefined;
  }
}

/** Commands whose answer is a number, which Lua takes for true whatever it is. */
const NUMBERS: ReadonlySet<string> = new Set(["exists", "hexists", "sismember", "ttl", "pttl"]);

function negate(value: Truth): Truth {
  return value === undefined ? undefined : !value;
}

/** An answer as text, for comparing answers: what is not constant in it is `…`; undefined when nothing of it is. */
export function answerOf(result: Result): string | undefined {
  switch (result.kind) {
    case "literal":
      return result.value === null || result.value === false ? "nil" : String(result.value);
    case "status":
      return result.text;
    case "reply":
      return `the answer of ${(result.call.command ?? "a command").toUpperCase()}`;
    case "list": {
      const words = result.items.map((t) => (t.kind === "literal" ? String(t.value) : "…"));
      return words.every((w) => w === "…") ? undefined : `{ ${words.join(", ")} }`;
    }
    default:
      return undefined;
  }
}
