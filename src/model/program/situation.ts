/**
 * What a script does in a situation (a lock held by somebody else, a token that is too low): which conditions can hold there,
 * in three-valued logic. A condition about which the situation says nothing may hold or not.
 */
import type { Guard } from "./call.js";
import type { Result, ResultPath, ScriptEffects } from "./effects.js";
import { inputsOf, readOf } from "./query.js";
import { base, type Term, type Terms } from "./term.js";

export type Truth = boolean | undefined;

/** What is known of the terms that conditions are made of. */
export interface Situation {
  /** Lua's truth of a value that is no comparison. */
  truth(term: Term): Truth;
  compare(op: "eq" | "lt" | "le", left: Term, right: Term): Truth;
}

/** Whether a guard holds in a situation. */
export function holds({ op, left, right }: Guard, situation: Situation): Truth {
  if (op === "true") return truthOf(left, situation, 0);
  if (op === "false") return negate(truthOf(left, situation, 0));
  if (right === undefined) return undefined;
  if (op === "equal") return situation.compare("eq", left, right);
  if (op === "different") return negate(situation.compare("eq", left, right));
  return situation.compare(op === "less" ? "lt" : "le", left, right);
}

function truthOf(term: Term, situation: Situation, depth: number): Truth {
  if (depth > 24) return undefined;
  switch (term.kind) {
    case "literal":
      return term.value !== null && term.value !== false;
    case "not":
      return negate(truthOf(term.of, situation, depth + 1));
    case "and":
    case "or": {
      const stop = term.kind === "or";
      const left = truthOf(term.left, situation, depth + 1);
      if (left === stop) return stop;
      const right = truthOf(term.right, situation, depth + 1);
      if (right === stop) return stop;
      return left === undefined || right === undefined ? undefined : !stop;
    }
    case "compare":
      return situation.compare(term.op, term.left, term.right);
    case "convert":
      return truthOf(term.of, situation, depth + 1);
    case "choice":
      return undefined;
    default:
      return situation.truth(term);
  }
}

function negate(value: Truth): Truth {
  return value === undefined ? undefined : !value;
}

/** A lock's key: held by the caller, held by somebody else, or not there. */
export type Holder = "caller" | "other" | "nobody";

/** Answers of `effects` when `key` is held by `holder`. */
export function pathsWhen(effects: ScriptEffects, key: Term, holder: Holder): readonly ResultPath[] {
  const situation = new Held(effects.terms, base(key), holder);
  return effects.results.filter((path) => path.guards.every((g) => holds(g, situation) !== false));
}

/** Commands whose answer is a number, which Lua takes for true whatever it is. */
const NUMBERS: ReadonlySet<string> = new Set(["exists", "hexists", "sismember", "ttl", "pttl"]);

class Held implements Situation {
  readonly #terms: Terms;
  readonly #key: Term;
  readonly #holder: Holder;

  constructor(terms: Terms, key: Term, holder: Holder) {
    this.#terms = terms;
    this.#key = key;
    this.#holder = holder;
  }

  truth(term: Term): Truth {
    const read = readOf(term, this.#terms);
    if (read === undefined || base(read.key) !== this.#key || NUMBERS.has(read.call.command ?? "")) return undefined;
    if (this.#holder === "nobody") return false;
    // A field that is named by the caller is there only for the caller.
    if (read.field !== undefined && inputsOf(read.field).some((i) => i.table === "argv")) {
      return this.#holder === "caller";
    }
    return true;
  }

  compare(op: "eq" | "lt" | "le", left: Term, right: Term): Truth {
    return op === "eq" ? (this.#equal(left, right) ?? this.#equal(right, left)) : undefined;
  }

  #equal(side: Term, other: Term): Truth {
    const read = readOf(side, this.#terms);
    if (read === undefined || base(read.key) !== this.#key) return undefined;
    const { command = "" } = read.call;
    const number = other.kind === "literal" ? Number(other.value) : Number.NaN;
    const bit = number === 0 || number === 1;
    if (command === "exists") return bit ? (this.#holder !== "nobody") === (number === 1) : undefined;
    if (command === "hexists" || command === "sismember") {
      return bit ? (this.#holder === "caller") === (number === 1) : undefined;
    }
    if (command === "pttl" || command === "ttl") return number === -2 ? this.#holder === "nobody" : undefined;
    return inputsOf(other).some((i) => i.table === "argv") ? this.#holder === "caller" : undefined;
  }
}

/** The words of an answer, `…` for one that is not constant; undefined when nothing of it is known. */
export function answerOf(result: Result): readonly string[] | undefined {
  switch (result.kind) {
    case "literal":
      return [result.value === null || result.value === false ? "nil" : String(result.value)];
    case "status":
      return result.text === undefined ? undefined : [result.text];
    case "reply":
      return [`the answer of ${(result.call.command ?? "a command").toUpperCase()}`];
    case "list": {
      const words = result.items.map((t) => (t.kind === "literal" ? String(t.value) : "…"));
      return words.every((w) => w === "…") ? undefined : words;
    }
    default:
      return undefined;
  }
}

/** Whether two answers may be one and the same. */
export function sameAnswer(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, i) => word === b[i] || word === "…" || b[i] === "…");
}

/** An answer as it is shown in messages. */
export function answerText(answer: readonly string[]): string {
  return answer.length === 1 ? answer[0]! : `{ ${answer.join(", ")} }`;
}
