/** Where a key name (or any word) of a script comes from. */
import {
  base,
  decide,
  type Fact,
  type Facts,
  luaText,
  MAX_ALTERNATIVES,
  type Site,
  type Term,
  type Terms,
  truth,
} from "./term.js";

export type Part =
  | { readonly kind: "text"; readonly text: string }
  /** `KEYS[index]`; undefined: at an index chosen at run time. */
  | { readonly kind: "keys"; readonly index: number | undefined }
  | { readonly kind: "argv"; readonly index: number | undefined }
  /** Made from replies, the clock or a counter. */
  | { readonly kind: "data" }
  | { readonly kind: "unknown"; readonly what: string; readonly at: Site | undefined };

/**
 * `keys`: an entry of KEYS as it is · `derived`: made from an entry of KEYS and more · `argv`: from ARGV, without KEYS ·
 * `data`: from stored data · `literal`: text of the script · `unknown`.
 */
export interface Origin {
  readonly kind: "keys" | "derived" | "argv" | "data" | "literal" | "unknown";
  readonly parts: readonly Part[];
  /** KEYS indexes that it is made of, in order; an index that is chosen at run time is left out. */
  readonly keys: readonly number[];
  /** ARGV indexes that it is made of. */
  readonly argv: readonly number[];
}

/**
 * The origins that a term may have: one, or one for each alternative. Alternatives that `facts` (what holds where the term
 * is used) rule out are left out.
 */
export function originsOf(term: Term, terms: Terms, facts?: Facts): readonly Origin[] {
  const of = base(term);
  // most keys are one entry of KEYS, whatever holds
  if (of.kind === "slot" || of.kind === "literal") return [originOf(of, terms)];
  const held = new Held(facts);
  const values = possible(of, terms, held);
  if (values === undefined) return [origin([{ kind: "unknown", what: "one of many values", at: undefined }])];
  if (values.length === 1) {
    const one = spread(values[0]!, terms, held);
    if (one.length === 1) return one;
  }
  const out: Origin[] = [];
  const seen = new Set<string>();
  for (const value of values) {
    if (value.kind === "literal" && value.value === null && values.length > 1) continue;
    for (const one of spread(value, terms, held)) {
      const key = JSON.stringify(one.parts, (k, v) => (k === "at" ? undefined : v));
      if (seen.has(key)) continue;
      seen.add(key);
      out.push(one);
    }
    if (out.length >= MAX_ALTERNATIVES) break;
  }
  return out;
}

/** The facts of a path as a set, made when somebody asks. */
class Held {
  readonly #facts: Facts | undefined;
  #set: Set<Fact> | undefined;

  constructor(facts: Facts | undefined) {
    this.#facts = facts;
  }

  get set(): ReadonlySet<Fact> {
    if (this.#set === undefined) {
      this.#set = new Set();
      for (let f = this.#facts; f !== undefined; f = f.up) this.#set.add(f.fact);
    }
    return this.#set;
  }
}

/** The values that a term can have where `held` holds. */
function possible(term: Term, terms: Terms, of: Held): readonly Term[] | undefined {
  const all = terms.alternatives(term);
  if (all === undefined) return undefined;
  if (all.length === 1) return [all[0]!.value];
  const held = of.set;
  const out: Term[] = [];
  for (const { value, facts } of all) {
    if (facts.some((f) => held.has(f.not))) continue;
    let fits = true;
    for (const fact of held) {
      const t = fact.term;
      if (t === term) fits = truth(value) !== !fact.holds;
      else if (t.kind === "compare" && t.left === term) fits = decide(t.op, base(value), t.right) !== !fact.holds;
      else if (t.kind === "compare" && t.right === term) fits = decide(t.op, t.left, base(value)) !== !fact.holds;
      if (!fits) break;
    }
    if (fits && !out.includes(value)) out.push(value);
  }
  // `x or ""`: the empty text stands for "none", a script does not name a key with it on purpose.
  return out.length > 1 ? out.filter((v) => v.kind !== "literal" || v.value !== "") : out;
}

const MAX_SPREAD = 24;

/** A joined text whose parts have alternatives gives one origin for each combination. */
function spread(term: Term, terms: Terms, held: Held): readonly Origin[] {
  const t = base(term);
  if (t.kind !== "concat") return [originOf(t, terms)];
  let rows: Part[][] = [[]];
  for (const part of t.parts) {
    const values = possible(base(part), terms, held);
    if (values === undefined || values.length * rows.length > MAX_SPREAD) return [originOf(t, terms)];
    const next: Part[][] = [];
    for (const value of values) {
      const inner = base(value);
      const parts = inner.kind === "concat" ? inner.parts : [inner];
      const walk = new Walk(terms);
      const made = parts.map((p) => walk.part(p));
      for (const row of rows) next.push([...row, ...made]);
    }
    rows = next;
  }
  return rows.map(origin);
}

export function originOf(term: Term, terms: Terms): Origin {
  const walk = new Walk(terms);
  const t = base(term);
  const parts = t.kind === "concat" ? t.parts.map((p) => walk.part(p)) : [walk.part(t)];
  return origin(parts);
}

function origin(parts: readonly Part[]): Origin {
  const keys: number[] = [];
  const argv: number[] = [];
  let hasKeys = false;
  let hasArgv = false;
  let data = false;
  let unknown = false;
  for (const part of parts) {
    if (part.kind === "keys") {
      hasKeys = true;
      if (part.index !== undefined) keys.push(part.index);
    } else if (part.kind === "argv") {
      hasArgv = true;
      if (part.index !== undefined) argv.push(part.index);
    } else if (part.kind === "data") data = true;
    else if (part.kind === "unknown") unknown = true;
  }
  let kind: Origin["kind"];
  if (hasKeys) kind = parts.length === 1 ? "keys" : "derived";
  else if (unknown) kind = "unknown";
  else if (hasArgv) kind = "argv";
  else kind = data ? "data" : "literal";
  return { kind, parts, keys, argv };
}

const DATA: Part = { kind: "data" };

class Walk {
  readonly #terms: Terms;
  readonly #seen = new Set<Term>();
  #left = 400;
  constructor(terms: Terms) {
    this.#terms = terms;
  }

  part(term: Term): Part {
    if (--this.#left < 0) return { kind: "unknown", what: "a value made in too many steps", at: undefined };
    switch (term.kind) {
      case "literal":
        return { kind: "text", text: luaText(term.value) };
      case "slot": {
        const { index } = term;
        const n = index.kind === "literal" && typeof index.value === "number" ? index.value : undefined;
        return { kind: term.table, index: n };
      }
      case "slots":
        return { kind: term.table, index: undefined };
      case "convert":
      case "length":
        return this.part(term.of);
      case "reply":
      case "range":
        return DATA;
      case "item":
        return this.#mix([term.of], "an element of a value");
      case "concat": {
        const keys = term.parts.map((p) => this.part(p)).find((p) => p.kind === "keys");
        return keys ?? this.#mix(term.parts, "a joined text");
      }
      case "compute":
        return term.args.length === 0 ? DATA : this.#mix(term.args, term.name);
      case "choice":
        if (this.#seen.has(term)) return { kind: "text", text: "" };
        this.#seen.add(term);
        return this.#mix(
          term.alternatives.map((a) => a.value),
          "one of several values",
        );
      case "and":
      case "or":
        return this.#mix(
          (this.#terms.alternatives(term) ?? []).map((a) => a.value),
          "one of several values",
        );
      case "compare":
      case "not":
        return DATA;
      case "opaque":
        if (term.from.length === 0) return { kind: "unknown", what: term.what, at: term.at };
        return this.#mix(term.from, term.what, term.at, true);
      case "table": {
        const state = term.cell.value as { items: readonly Term[]; open: Term | undefined };
        const all = state.open === undefined ? state.items : [...state.items, state.open];
        return all.length === 0 ? DATA : this.#mix(all, "an element of a table");
      }
      case "closure":
      case "native":
        return { kind: "unknown", what: "a function", at: undefined };
    }
  }

  /** One part for a value that is made of several: what all of them agree on, text aside. */
  #mix(values: readonly Term[], what: string, at?: Site, opaque = false): Part {
    let found: Part | undefined;
    for (const value of values) {
      const part = this.part(value);
      if (part.kind === "text") continue;
      if (part.kind === "unknown") return part;
      if (found === undefined || found.kind === "data") found = part;
      else if (found.kind !== part.kind) {
        if (part.kind === "data") continue;
        return { kind: "unknown", what: `${what} of several origins`, at };
      } else if ("index" in part && "index" in found && found.index !== part.index) {
        found = { kind: found.kind, index: undefined };
      }
    }
    if (opaque) return { kind: "unknown", what, at };
    return found ?? DATA;
  }
}

/**
 * The key pattern (shapes: key patterns) of an origin, given the patterns of the KEYS entries; undefined when an entry has
 * none. What comes from ARGV, data or is unknown varies.
 */
export function patternOf(of: Origin, keys: readonly (string | undefined)[]): string | undefined {
  let out = "";
  for (const part of of.parts) {
    if (part.kind === "text") out += part.text;
    else if (part.kind === "keys") {
      const pattern = part.index === undefined ? undefined : keys[part.index - 1];
      if (pattern === undefined) return undefined;
      out += pattern;
    } else if (!out.endsWith("*")) out += "*";
  }
  return out;
}
