/** What a call in a script has to do with the owner of what it changes. */
import type { Span } from "../../text/source.js";
import type { Call, Guard } from "./call.js";
import type { ScriptEffects } from "./effects.js";
import { type KeyTest, testsOf } from "./query.js";
import { base, type Term, type Terms } from "./term.js";

/** Tests, on the way to a call, of what is stored under a key against inputs of the script. */
export interface Ownership {
  /** ARGV indexes that the stored value must fit for the call to be sent. */
  readonly argv: ReadonlySet<number>;
  /** The call is sent only when a stored value fits an input. */
  readonly tested: boolean;
  /** One of several tests suffices. */
  readonly either: boolean;
  /** A condition on the way is not known: nothing can be said. */
  readonly unclear: boolean;
}

/**
 * Looks at the guards of `call` that concern `key`; `undefined`: any key. A test that `crossed` says compares an input with a
 * field that is another's does not count for that input.
 */
export function ownershipOf(
  call: Call,
  key: Term | undefined,
  terms: Terms,
  crossed: (test: KeyTest) => boolean = () => false,
): Ownership {
  const argv = new Set<number>();
  let tested = false;
  let unclear = false;
  let oneSuffices = false;
  for (const guard of call.guards) {
    const [test] = testsOf([guard], key, terms).filter((t) => t.inputs.some((i) => i.table === "argv"));
    if (test !== undefined) {
      if (guard.op !== "equal") continue;
      tested = true;
      if (crossed(test)) continue;
      for (const i of test.inputs) if (i.table === "argv" && i.index !== undefined) argv.add(i.index);
      continue;
    }
    const either = oneOf(guard, key, terms);
    if (either !== undefined) {
      tested = true;
      oneSuffices = true;
      for (const i of either) argv.add(i);
      continue;
    }
    const seen = look(guard, key);
    if (seen.opaque) unclear = true;
    if (!seen.stored || !seen.input || denies(guard) || deniesAll(guard)) continue;
    tested = true;
    for (const i of seen.argv) argv.add(i);
  }
  return { argv, tested, either: oneSuffices, unclear };
}

/**
 * A condition of which one of several tests holds (`not (a ~= x and b ~= y)`): the inputs that all of them have, so none where
 * each has another. undefined: it is made otherwise.
 */
function oneOf(guard: Guard, key: Term | undefined, terms: Terms): readonly number[] | undefined {
  const sides = alternativesOf(guard.left, guard.op === "true" ? true : guard.op === "false" ? false : undefined);
  if (sides === undefined) return undefined;
  let common: Set<number> | undefined;
  const budget = { left: 100 };
  for (const { term, holds } of sides) {
    const inputs = testedBy(term, holds, (g) => testsOf([g], key, terms)[0], guard.at, budget);
    if (inputs === undefined) return undefined;
    common = new Set(common === undefined ? inputs : inputs.filter((i) => common!.has(i)));
  }
  return common === undefined ? undefined : [...common];
}

/** The inputs that stored values fit where a condition holds: of one comparison, or of several that all hold. */
function testedBy(
  term: Term,
  holds: boolean,
  testOf: (guard: Guard) => KeyTest | undefined,
  at: Span,
  budget: { left: number },
): readonly number[] | undefined {
  if (--budget.left < 0) return undefined;
  if (term.kind === "compare") {
    if (term.op !== "eq" || !holds) return undefined;
    const test = testOf({ op: "equal", left: term.left, right: term.right, at });
    const inputs = test?.inputs.flatMap((i) => (i.table === "argv" ? (i.index ?? []) : [])) ?? [];
    return inputs.length === 0 ? undefined : inputs;
  }
  // that all of them hold is that none of their opposites does
  const out: number[] = [];
  for (const side of alternativesOf(term, !holds) ?? []) {
    out.push(...(testedBy(side.term, !side.holds, testOf, at, budget) ?? []));
  }
  return out.length === 0 ? undefined : out;
}

/** The terms of which one holds; undefined where the condition is no choice of several. */
function alternativesOf(
  term: Term,
  holds: boolean | undefined,
): readonly { readonly term: Term; readonly holds: boolean }[] | undefined {
  if (holds === undefined || term.kind !== (holds ? "or" : "and")) return undefined;
  const out: { term: Term; holds: boolean }[] = [];
  const open: { term: Term; holds: boolean }[] = [{ term, holds }];
  for (let next = open.pop(); next !== undefined && out.length < 16; next = open.pop()) {
    const { term: t } = next;
    if (t.kind === "not") open.push({ term: t.of, holds: !next.holds });
    else if (t.kind === (next.holds ? "or" : "and") && (t.kind === "or" || t.kind === "and")) {
      open.push({ term: t.right, holds: next.holds }, { term: t.left, holds: next.holds });
    } else out.push(next);
  }
  return out;
}

/** `not there`, `no member`: a guard that holds when the owner is somebody else. */
function denies({ op, left, right }: Guard): boolean {
  if (op === "false") return left.kind === "reply" || left.kind === "item";
  return op === "equal" && right?.kind === "literal" && Number(right.value) === 0;
}

/** One of several compares fails (`not (a == x and b == y)`): a guard that holds when the owner is somebody else. */
function deniesAll({ op, left }: Guard): boolean {
  const sides = alternativesOf(left, op === "true" ? true : op === "false" ? false : undefined);
  return sides?.every(({ term, holds }) => term.kind === "compare" && term.op === "eq" && !holds) === true;
}

interface Look {
  stored: boolean;
  input: boolean;
  opaque: boolean;
  argv: Set<number>;
}

/** Whether a guard is about a reply for the key, and which inputs it has beside. */
function look(guard: Guard, key: Term | undefined): Look {
  const out: Look = { stored: false, input: false, opaque: false, argv: new Set() };
  const visit = (t: Term): void => {
    if (t.kind === "slot" && t.table === "argv") {
      out.input = true;
      if (t.index.kind === "literal") out.argv.add(Number(t.index.value));
    } else if (t.kind === "reply") {
      const of = t.call.argv[1];
      if (of !== undefined && (key === undefined || base(of) === base(key))) out.stored = true;
    } else if (t.kind === "opaque" && t.from.length === 0) out.opaque = true;
  };
  // that two texts are equally long says nothing of them
  walk(guard.left, visit, false);
  if (guard.right !== undefined) walk(guard.right, visit, false);
  return out;
}

/** Visits a term and what it is made of (words of a command, but not its key), as far as a bound allows. */
function walk(term: Term, visit: (t: Term) => void, lengths = true): void {
  let left = 300;
  const seen = new Set<Term>();
  const step = (t: Term): void => {
    if (--left < 0 || seen.has(t)) return;
    seen.add(t);
    visit(t);
    switch (t.kind) {
      case "reply":
        for (const a of t.call.argv.slice(2)) step(a);
        return;
      case "item":
        step(t.of);
        step(t.key);
        return;
      case "length":
        if (lengths) step(t.of);
        return;
      case "convert":
      case "not":
        step(t.of);
        return;
      case "compute":
        for (const a of t.args) step(a);
        return;
      case "concat":
        for (const p of t.parts) step(p);
        return;
      case "compare":
      case "and":
      case "or":
        step(t.left);
        step(t.right);
        return;
      case "choice":
        for (const a of t.alternatives) step(a.value);
        return;
      case "table": {
        const state = t.cell.value as { items: readonly Term[]; fields: ReadonlyMap<string, Term> | undefined };
        for (const v of state.items) step(v);
        for (const v of state.fields?.values() ?? []) step(v);
        return;
      }
      case "opaque":
        for (const f of t.from) step(f);
        return;
    }
  };
  step(term);
}

/** Whether a guard says something about a reply for `key` (any key when undefined), or cannot be known. */
export function guardsKeyOf(guard: Guard, key: Term | undefined): boolean {
  const seen = look(guard, key);
  return seen.stored || seen.opaque;
}

export function guardsKey(call: Call, key: Term | undefined): boolean {
  return call.guards.some((g) => guardsKeyOf(g, key));
}

/**
 * A key that is chosen in a loop over KEYS, in a script that tests stored values: the test may stand in a loop before, and
 * holds for every key.
 */
export function testedInLoops(effects: ScriptEffects, key: Term): boolean {
  const of = base(key);
  if (of.kind !== "slot" || of.index.kind === "literal") return false;
  return effects.comparisons.some((c) => guardsKeyOf(c, undefined));
}

/** Whether anything that the script decides or answers depends on the answer of a call. */
export function isHeard(effects: ScriptEffects, call: Call): boolean {
  const hears = (t: Term | undefined): boolean => t !== undefined && refersTo(t, call);
  const guarded = (guards: readonly Guard[]): boolean => guards.some((g) => hears(g.left) || hears(g.right));
  return (
    effects.results.some((r) => hears(r.term) || guarded(r.guards)) ||
    effects.calls.some((c) => guarded(c.guards) || c.argv.some(hears))
  );
}

function refersTo(term: Term, call: Call): boolean {
  let found = false;
  walk(term, (t) => {
    if (t.kind === "reply" && t.call === call) found = true;
  });
  return found;
}

/** Writes that store words of theirs: what a script calls when it takes something. */
const STORES: ReadonlySet<string> = new Set(
  "set setnx setex psetex getset hset hsetnx hmset hincrby zadd sadd lpush rpush".split(" "),
);

/** Calls before `call`, on every path to it, that store an input under the same key. */
export function storesBefore(effects: ScriptEffects, call: Call, key: Term): boolean {
  return effects.calls.some(
    (c) =>
      c.order < call.order &&
      STORES.has(c.command ?? "") &&
      base(c.argv[1] ?? effects.terms.nil) === base(key) &&
      c.guards.every((g) => call.guards.some((o) => o.left === g.left && o.right === g.right && o.op === g.op)) &&
      storedInputs(c).length > 0,
  );
}

/** ARGV indexes that a storing call puts under its key (fields and members too). */
export function storedInputs(call: Call): readonly number[] {
  const { command = "", argv } = call;
  if (!STORES.has(command)) return [];
  const out = new Set<number>();
  // The words that time and condition a SET are no part of the value.
  const first = command === "setex" || command === "psetex" ? 3 : 2;
  for (const word of argv.slice(first, command === "set" ? 3 : argv.length)) {
    walk(word, (t) => {
      if (t.kind === "slot" && t.table === "argv" && t.index.kind === "literal") out.add(Number(t.index.value));
    });
  }
  return [...out];
}
