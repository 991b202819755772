/** Questions that rules ask of terms and guards. */
import type { Call, Guard } from "./call.js";
import type { ScriptEffects } from "./effects.js";
import { READS } from "./knowledge.js";
import { base, type Term, type Terms } from "./term.js";

/** A value that was read from a key. */
export interface Read {
  readonly call: Call;
  readonly key: Term;
  /** The hash field, member or index; undefined: the whole value. */
  readonly field: Term | undefined;
  /** Names of the parts of a decoded value (`cjson.decode(v).owner` gives `["owner"]`). */
  readonly path: readonly string[];
}

/** Functions through which a value stays recognisable. */
const DECODERS: ReadonlySet<string> = new Set([
  "cjson.decode",
  "cmsgpack.unpack",
  "cmsgpack.unpack_one",
  "struct.unpack",
]);

/** What a term was read from: a reply, an entry of a list reply, a part of a decoded value, each with or without a default. */
export function readOf(term: Term, terms: Terms): Read | undefined {
  return find(term, terms, [], 0);
}

function find(term: Term, terms: Terms, path: readonly string[], depth: number): Read | undefined {
  if (depth > 12) return undefined;
  const t = base(term);
  switch (t.kind) {
    case "reply":
      return fromReply(t.call, undefined, path);
    case "item": {
      const of = base(t.of);
      if (of.kind === "reply") return fromReply(of.call, t.key, path);
      const name = t.key.kind === "literal" ? String(t.key.value) : "?";
      return find(of, terms, [name, ...path], depth + 1);
    }
    case "compute": {
      const inner = t.args[t.name === "struct.unpack" ? 1 : 0];
      return inner === undefined || (!DECODERS.has(t.name) && !t.name.startsWith("string."))
        ? undefined
        : find(inner, terms, path, depth + 1);
    }
    case "choice":
    case "or":
    case "and": {
      let found: Read | undefined;
      for (const { value } of terms.alternatives(t) ?? []) {
        if (base(value).kind === "literal") continue;
        const read = find(value, terms, path, depth + 1);
        if (read === undefined || (found !== undefined && found.call !== read.call)) return undefined;
        found = read;
      }
      return found;
    }
    default:
      return undefined;
  }
}

function fromReply(call: Call, key: Term | undefined, path: readonly string[]): Read | undefined {
  const { command, argv } = call;
  if (command === undefined || !READS.has(command)) return undefined;
  const index = key?.kind === "literal" && typeof key.value === "number" ? key.value : undefined;
  if (command === "mget") {
    const of = index === undefined ? undefined : argv[index];
    return of === undefined ? undefined : { call, key: of, field: undefined, path };
  }
  const of = argv[1];
  if (of === undefined) return undefined;
  if (command === "hmget") return { call, key: of, field: index === undefined ? undefined : argv[1 + index], path };
  const at = READS.get(command);
  if (key !== undefined && at === undefined) return { call, key: of, field: key, path };
  return { call, key: of, field: at === undefined ? undefined : argv[at], path };
}

/** An entry of KEYS or ARGV that a term is, or is a decoded part of. */
export interface Input {
  readonly table: "keys" | "argv";
  /** undefined: chosen at run time. */
  readonly index: number | undefined;
  readonly path: readonly string[];
}

export function inputOf(term: Term): Input | undefined {
  const path: string[] = [];
  let t = base(term);
  for (let depth = 0; depth < 12; depth++) {
    if (t.kind === "slot") {
      const { index } = t;
      const n = index.kind === "literal" && typeof index.value === "number" ? index.value : undefined;
      return { table: t.table, index: n, path: path.reverse() };
    }
    if (t.kind === "item") {
      path.push(t.key.kind === "literal" ? String(t.key.value) : "?");
      t = base(t.of);
    } else if (t.kind === "compute" && DECODERS.has(t.name) && t.args.length > 0) t = base(t.args[0]!);
    else return undefined;
  }
  return undefined;
}

/** The inputs that a term is joined or decoded from. */
export function inputsOf(term: Term): readonly Input[] {
  const one = inputOf(term);
  if (one !== undefined) return [one];
  const t = base(term);
  const parts = t.kind === "concat" ? t.parts : t.kind === "compute" ? t.args : [];
  return parts.flatMap((p) => inputOf(p) ?? []);
}

/** The same key name for certain. */
export function sameKey(a: Term | undefined, b: Term | undefined): boolean {
  return a !== undefined && b !== undefined && base(a) === base(b);
}

/** A comparison of something read from a key with something else. */
export interface KeyTest {
  readonly guard: Guard;
  readonly read: Read;
  readonly other: Term;
  /** The other side when it is an input. */
  readonly input: Input | undefined;
  /** The inputs that the other side is made of (`ARGV[1] .. ":" .. ARGV[2]`). */
  readonly inputs: readonly Input[];
  /** The value read is on the left of `guard`. */
  readonly left: boolean;
}

type Sides = readonly (readonly [side: Term, other: Term, left: boolean])[];

/** Both sides of a comparison; of two texts that are joined alike (`a .. ":" .. b`), those of their parts. */
function sidesOf(left: Term, right: Term): Sides {
  const [l, r] = [base(left), base(right)];
  const alike =
    l.kind === "concat" &&
    r.kind === "concat" &&
    l.parts.length === r.parts.length &&
    l.parts.every((p, i) => p.kind !== "literal" || base(r.parts[i]!) === p);
  const pairs = alike ? l.parts.map((p, i) => [p, r.parts[i]!] as const) : [[left, right] as const];
  return pairs.flatMap(
    ([a, b]): Sides => [
      [a, b, true],
      [b, a, false],
    ],
  );
}

// A script is analysed once, and asked by many rules.
const tests = new WeakMap<Guard, { readonly terms: Terms; readonly tests: readonly KeyTest[] }>();

/** Those of the guards that compare a value read from `key` (any key when undefined). */
export function testsOf(guards: readonly Guard[], key: Term | undefined, terms: Terms): readonly KeyTest[] {
  const out: KeyTest[] = [];
  for (const guard of guards) {
    if (guard.right === undefined) continue;
    let known = tests.get(guard);
    if (known?.terms !== terms) tests.set(guard, (known = { terms, tests: testsIn(guard, guard.right, terms) }));
    for (const test of known.tests) if (key === undefined || sameKey(test.read.key, key)) out.push(test);
  }
  return out;
}

function testsIn(guard: Guard, right: Term, terms: Terms): KeyTest[] {
  const out: KeyTest[] = [];
  for (const [side, other, left] of sidesOf(guard.left, right)) {
    const read = readOf(side, terms);
    if (read !== undefined) out.push({ guard, read, other, input: inputOf(other), inputs: inputsOf(other), left });
  }
  return out;
}

/**
 * Tests that make sure, whenever `call` is sent, that a value stored under its key (argv[1], or `key`) equals an input:
 * the owner compare of a lock, the compare of a generation.
 */
export function equalityTests(call: Call, terms: Terms, key: Term | undefined = call.argv[1]): readonly KeyTest[] {
  return testsOf(call.guards, key, terms).filter((t) => t.guard.op === "equal" && t.inputs.length > 0);
}

/** How a script takes a lock: the call that writes the owner into a key only if it is missing. */
export interface Acquisition {
  readonly call: Call;
  readonly key: Term;
  /** The input that is stored as the owner; undefined: something else. */
  readonly owner: Input | undefined;
  /** Owner and expiry in one command. */
  readonly atomic: boolean;
}

export function acquisitionsOf(effects: ScriptEffects): readonly Acquisition[] {
  const out: Acquisition[] = [];
  for (const call of effects.calls) {
    const [, key, value] = call.argv;
    if (key === undefined || value === undefined) continue;
    if (call.command === "set" && call.has("NX", 3)) {
      const atomic = ["PX", "EX", "PXAT", "EXAT"].some((o) => call.has(o, 3)) || call.open !== undefined;
      out.push({ call, key, owner: inputOf(value), atomic });
    } else if (call.command === "setnx") out.push({ call, key, owner: inputOf(value), atomic: false });
  }
  return out;
}

/** An input times a constant: `tonumber(ARGV[1]) * 1000`. */
export interface Scaled {
  readonly input: Input;
  readonly factor: number;
}

/**
 * The input that a number is made of and the factor between both, through rounding, clamping to constants and defaults;
 * undefined when it is made otherwise.
 */
export function scaledInput(term: Term, terms: Terms, depth = 0): Scaled | undefined {
  if (depth > 12) return undefined;
  const input = inputOf(term);
  if (input !== undefined) return { input, factor: 1 };
  const t = base(term);
  if (t.kind === "compute") {
    const [a, b] = t.args;
    if (a === undefined) return undefined;
    if (["math.floor", "math.ceil", "math.abs"].includes(t.name)) return scaledInput(a, terms, depth + 1);
    if (t.name === "math.min" || t.name === "math.max") return only(t.args, terms, depth);
    if ((t.name === "*" || t.name === "/") && b !== undefined) {
      const constant =
        b.kind === "literal" ? Number(b.value) : t.name === "*" && a.kind === "literal" ? Number(a.value) : Number.NaN;
      const inner = scaledInput(b.kind === "literal" ? a : b, terms, depth + 1);
      if (inner === undefined || !Number.isFinite(constant) || constant === 0) return undefined;
      return { input: inner.input, factor: t.name === "*" ? inner.factor * constant : inner.factor / constant };
    }
    return undefined;
  }
  if (t.kind === "choice" || t.kind === "or" || t.kind === "and") {
    return only(
      (terms.alternatives(t) ?? []).map((a) => a.value),
      terms,
      depth,
    );
  }
  return undefined;
}

/** The one scaled input among terms that are constants otherwise. */
function only(values: readonly Term[], terms: Terms, depth: number): Scaled | undefined {
  let found: Scaled | undefined;
  for (const value of values) {
    if (base(value).kind === "literal") continue;
    const one = scaledInput(value, terms, depth + 1);
    if (one === undefined) return undefined;
    if (found !== undefined && (found.factor !== one.factor || found.input.index !== one.input.index)) return undefined;
    found = one;
  }
  return found;
}
