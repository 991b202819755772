/**
 * Programs of class cache: where the generation and the revision of a region are kept, and which arguments are what a reader saw
 * of them. Told from names, and from what the programs of the contract count and compare.
 */
import type { Contract } from "../contract.js";
import { type Call, type Guard, literalText } from "./call.js";
import { normal } from "./descriptor/spelling.js";
import { argumentOf, keyOfTerm, mentionsArgument, ttlOf } from "./judge.js";
import { keyOf } from "./locks.js";
import type { ContractPrograms, Program } from "./programs.js";
import { inputOf, type KeyTest, testsOf } from "./query.js";
import { base, type Term } from "./term.js";

export type Stamp = "generation" | "revision";

const NAMES: Readonly<Record<Stamp, readonly RegExp[]>> = {
  generation: [/generation|epoch/i, /(?:^|[^A-Za-z])[gG]en(?:$|[^a-z])|[a-z]Gen(?:$|[^a-z])/],
  revision: [/revision/i, /(?:^|[^A-Za-z])[rR]ev(?:$|[^a-z])|[a-z]Rev(?:$|[^a-z])/],
};

function isNamed(stamp: Stamp, name: string): boolean {
  return NAMES[stamp].some((n) => n.test(name));
}

const COUNTS = /^(?:incr|incrby|hincrby)$/;
const SETS = /^(?:set|setex|psetex|hset|hmset|getset)$/;
/** Words before the name of what a caller saw. */
const SEEN = /^(?:expected|captured|seen|known|old|current)[_-]?/i;
const DROPS = /^(?:del|unlink)$/;

export class Caching {
  /** Patterns of keys that one program counts up and another compares with what its caller saw: the state of a region. */
  readonly #regions: ReadonlySet<string>;
  /** Patterns of keys that a program of the contract gives another value: counts up, or sets. */
  readonly #moved: ReadonlySet<string>;
  /** Names of arguments that a program compares for equality with what is stored in such a key. */
  readonly #seen: ReadonlySet<string>;

  constructor(all: ContractPrograms) {
    const programs = all.programs.filter((p) => p.entry?.class?.value === "cache");
    const counted = new Set<string>();
    const moved = new Set<string>();
    const compared = new Map<string, Set<string>>();
    for (const program of programs) {
      const effects = program.script?.effects;
      if (effects === undefined) continue;
      for (const call of effects.writes) {
        const counts = COUNTS.test(call.command ?? "");
        if (!counts && !SETS.test(call.command ?? "")) continue;
        const pattern = patternOf(program, call);
        if (pattern !== undefined) moved.add(pattern);
        if (counts) counted.add(pattern ?? "");
      }
      for (const test of testsOf(effects.comparisons, undefined, effects.terms)) {
        if (test.guard.op !== "equal" && test.guard.op !== "different") continue;
        const names = argumentsOf(program, test);
        const pattern = patternOf(program, test.read.call, test.read.key);
        if (names.length === 0 || pattern === undefined) continue;
        const known = compared.get(pattern) ?? new Set();
        for (const name of names) known.add(name);
        compared.set(pattern, known);
      }
    }
    counted.delete("");
    this.#moved = moved;
    this.#regions = new Set([...counted].filter((p) => compared.has(p)));
    this.#seen = new Set([...this.#regions].flatMap((p) => [...compared.get(p)!]));
  }

  /** The call changes the state of a region, not an entry: by its key, or by the names of key and field. */
  writesRegion(program: Program, call: Call): boolean {
    return this.#isRegion(program, call) || this.writes(program, call, "generation");
  }

  /** The key that a call writes is called a generation or revision; or the field is, of a key that lasts. */
  writes({ entry }: Program, call: Call, stamp: Stamp): boolean {
    const key = keyOfTerm(entry!, call.argv[1]);
    if (key === undefined) return false;
    if (isNamed(stamp, key.name.value)) return true;
    // an entry may note the generation that it was made in; it expires
    return ttlOf(entry!, key)?.durable === true && fieldsOf(call).some((f) => isNamed(stamp, f));
  }

  #isRegion(program: Program, call: Call): boolean {
    const pattern = patternOf(program, call);
    return pattern !== undefined && this.#regions.has(pattern);
  }

  /** The call moves the generation of a region on. */
  bumps(program: Program, call: Call): boolean {
    return COUNTS.test(call.command ?? "") && this.writesRegion(program, call);
  }

  /** The call is about one entry of a region: it removes it, or gives it another revision. */
  isOfEntry(program: Program, call: Call): boolean {
    if (this.writesRegion(program, call)) return false;
    return DROPS.test(call.command ?? "") || this.writes(program, call, "revision");
  }

  /** A comparison is about a stored or given revision (or generation). */
  isAbout(program: Program, c: Guard, stamp: Stamp): boolean {
    const { entry, script } = program;
    const effects = script?.effects;
    if (entry === undefined || effects === undefined) return false;
    const sides = c.right === undefined ? [c.left] : [c.left, c.right];
    const given = entry.argv.some(
      (a, i) => isNamed(stamp, a.name.value) && sides.some((t) => mentionsArgument(t, i + 1)),
    );
    const index = this.#sameAsKey(program, stamp);
    return (
      given ||
      (index !== undefined && sides.some((t) => mentionsArgument(t, index + 1))) ||
      testsOf([c], undefined, effects.terms).some(
        ({ read }) => isNamed(stamp, keyOfTerm(entry, read.key)?.name.value ?? "") || isNamed(stamp, text(read.field)),
      )
    );
  }

  /** The index (from 1) of the argument that says which generation or revision the caller saw; one that is stored as a new one is none. */
  captured(program: Program, stamp: Stamp): number | undefined {
    const { entry, script } = program;
    const effects = script?.effects;
    if (entry === undefined || effects === undefined) return undefined;
    const other = stamp === "generation" ? "revision" : "generation";
    let found = entry.argv.findIndex((a) => isNamed(stamp, a.name.value));
    if (found < 0 && stamp === "generation") {
      // called otherwise: what another program compares with the region's state
      found = entry.argv.findIndex((a) => this.#seen.has(a.name.value) && !isNamed(other, a.name.value));
    }
    if (found < 0) found = this.#sameAsKey(program, stamp) ?? -1;
    if (found < 0) return undefined;
    const stores = effects.writes.some(
      (w) =>
        // the whole value of a key: what a reader will see from now on
        isStoredAlone(w, found + 1) ||
        ((this.#isRegion(program, w) || this.writes(program, w, stamp)) &&
          w.argv.slice(2).some((t) => mentionsArgument(t, found + 1))),
    );
    return stores ? undefined : found + 1;
  }

  /**
   * The index (from 0) of the argument that is called like a key which the program only reads and another one moves: what the
   * caller saw of a revision, whatever it is called.
   */
  #sameAsKey({ entry }: Program, stamp: Stamp): number | undefined {
    if (stamp !== "revision" || entry === undefined) return undefined;
    const states = entry.keys.filter(
      ({ name, pattern, access }) =>
        access.value === "R" &&
        this.#moved.has(pattern.value) &&
        !this.#regions.has(pattern.value) &&
        !isNamed("generation", name.value),
    );
    const names = new Set(states.map((k) => normal(k.name.value)));
    const found = entry.argv.findIndex((a) => names.has(normal(a.name.value.replace(SEEN, ""))));
    return found < 0 ? undefined : found;
  }

  keyTitle({ entry }: Program, call: Call): string {
    return keyOfTerm(entry!, call.argv[1])?.name.value ?? "a key";
  }
}

function isStoredAlone({ command, argv }: Call, index: number): boolean {
  const value =
    command === "set" || command === "getset" ? argv[2] : /^p?setex$/.test(command ?? "") ? argv[3] : undefined;
  const input = value === undefined ? undefined : inputOf(value);
  return input?.table === "argv" && input.index === index;
}

function argumentsOf({ entry }: Program, test: KeyTest): readonly string[] {
  return test.inputs.flatMap((i) => {
    const name = i.table === "argv" && entry !== undefined ? argumentOf(entry, i.index)?.name.value : undefined;
    return name === undefined || name === "" ? [] : [name];
  });
}

/** The pattern of the key of a call (of its first, or of `key`); undefined where the manifest has none. */
function patternOf(program: Program, call: Call, key: Term | undefined = call.argv[1]): string | undefined {
  const use = program.script?.effects?.keysOf(call)?.find((u) => key !== undefined && base(u.term) === base(key));
  return use === undefined ? undefined : keyOf(program, use.origin);
}

/** Names of hash fields that a call writes. */
function fieldsOf({ command, argv }: Call): readonly string[] {
  if (command === "hincrby" || command === "hsetnx") return [text(argv[2])];
  if (command !== "hset" && command !== "hmset") return [];
  return argv.slice(2).flatMap((t, i) => (i % 2 === 0 ? [text(t)] : []));
}

function text(term: Term | undefined): string {
  return (term === undefined ? undefined : literalText(base(term))) ?? "";
}

const made = new WeakMap<ContractPrograms, Caching>();

export function cachingOf(contract: Contract): Caching {
  let caching = made.get(contract.programs);
  if (caching === undefined) made.set(contract.programs, (caching = new Caching(contract.programs)));
  return caching;
}
