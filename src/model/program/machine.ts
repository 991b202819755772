/**
 * The abstract machine: runs a script once over symbolic terms. Branches are run one after the other from the same state
 * and joined; helpers are run in place at each call; a loop body is run once with what it assigns unknown-but-traced.
 * Everything is bounded: depth, steps, alternatives. What is cut off is reported as unknown.
 */
import type { LuaDocument, LuaRange } from "../../document/lua.js";
import type { TextView } from "../../text/source.js";
import { Call, type Loop, type Words, wordSite } from "./call.js";
import {
  type CallExpr,
  Cell,
  type CompareExpr,
  Compiler,
  type Decl,
  Do,
  type Expr,
  type ForEachStat,
  type ForNumberStat,
  type IfStat,
  type IndexExpr,
  type LoopStat,
  type LoopWrites,
  type MethodExpr,
  Op,
  type Proto,
  type Stat,
  type TableExpr,
} from "./ir.js";
import { CONTAINERS } from "./knowledge.js";
import { isLibrary, LIBRARY } from "./library.js";
import { joinKeys, type KeyState, Lifetimes } from "./lifetime.js";
import { native } from "./natives.js";
import {
  type Alternative,
  base,
  type Choice,
  type Closure,
  decide,
  EMPTY_TABLE,
  type Fact,
  type Facts,
  mentions,
  PENDING,
  Site,
  type TableRef,
  type TableState,
  TEXT_REPLIES,
  type Term,
  Terms,
  truth,
} from "./term.js";

/** A list of values whose length may be unknown: `open` stands for any number of further ones. */
export interface Multi {
  readonly values: readonly Term[];
  readonly open: Term | undefined;
  /** The values behind `values` are the elements of a list from an index (from 1) on: `unpack(list, from)`. */
  readonly rest?: { readonly list: Term; readonly from: number } | undefined;
}

interface Outcome {
  readonly cells: readonly Cell[];
  readonly values: readonly unknown[];
  readonly facts: Facts | undefined;
  readonly result: Multi;
}

interface Activation {
  readonly proto: Proto | undefined;
  readonly mark: number;
  readonly open: number;
  readonly facts: Facts | undefined;
  readonly returns: Outcome[];
  /** Set by a return on the straight path. */
  final: Multi | undefined;
  readonly varargs: Multi;
  readonly args: readonly Term[];
}

export type UnknownKind =
  | "callee"
  | "command"
  | "subcommand"
  | "include"
  | "recursion"
  | "budget"
  | "depth"
  | "coroutine"
  | "environment";

export interface UnknownPart {
  readonly kind: UnknownKind;
  readonly what: string;
  readonly site: Site;
}

/** How a script ends on one path. */
export interface Exit {
  readonly kind: "return" | "error" | "end";
  readonly values: Multi;
  readonly site: Site;
  readonly facts: Facts | undefined;
  /** Calls made before, by order number. */
  readonly calls: number;
}

export interface SlotUse {
  readonly table: "keys" | "argv";
  /** undefined: the whole table or its length. */
  readonly index: Term | undefined;
  readonly length: boolean;
  readonly site: Site;
}

export interface Comparison {
  readonly term: Term;
  readonly site: Site;
}

const NOTHING: Multi = { values: [], open: undefined };
const MAX_CALLS = 20_000;
const MAX_INLINE = 40;
const MAX_DEPTH = 420;
const MAX_ITEMS = 256;
const MAX_FACTS = 300;
/** So many facts of a branch are kept as what follows from its condition. */
const MAX_FOLLOWS = 4;
/** Loops of few known passes are run pass by pass; nested ones that make more passes together are not. */
const MAX_PASSES = 8;
const MAX_NESTED_PASSES = 24;

export class Machine {
  readonly terms = new Terms();
  readonly lifetimes = new Lifetimes(this);
  readonly calls: Call[] = [];
  readonly exits: Exit[] = [];
  readonly unknowns: UnknownPart[] = [];
  readonly slots: SlotUse[] = [];
  readonly comparisons: Comparison[] = [];
  readonly sources: { name: string; site: Site }[] = [];
  readonly apis = new Map<string, Site>();
  readonly globals: Site[] = [];
  /** Reads of globals that nothing sets: the server ends the script there. */
  readonly missingGlobals: Site[] = [];
  /** What the server refuses although it parses. */
  readonly refused: { what: string; site: Site }[] = [];
  /** Equality tests between a number and a text, which Lua never finds equal. */
  readonly neverEqual: Site[] = [];
  /** Comparisons by size of two texts. */
  readonly textOrders: Site[] = [];
  readonly registered: { name: Term; fn: Term; site: Site }[] = [];
  facts: Facts | undefined;
  readonly #trail: Cell[] = [];
  readonly #old: unknown[] = [];
  #stamp = 0;
  #open = 0;
  #dead = false;
  #view: TextView;
  #steps = 0;
  #depth = 0;
  #exhausted = false;
  #guarded = 0;
  /** Passes of the known loops around, multiplied. */
  #nested = 1;
  readonly #maxSteps: number;
  readonly #activations: Activation[] = [];
  readonly #protected: Activation[] = [];
  readonly #via: Site[] = [];
  readonly #loops: Loop[] = [];
  readonly #breaks: { outcomes: Outcome[]; mark: number }[] = [];
  readonly #globalCells = new Map<string, Cell>();
  readonly #noted = new Set<number>();

  constructor(view: TextView, maxSteps: number) {
    this.#view = view;
    this.#maxSteps = maxSteps;
  }

  // ---- state

  set(cell: Cell, value: unknown): void {
    if (cell.value === value) return;
    this.#trail.push(cell);
    this.#old.push(cell.value);
    cell.value = value;
  }

  #undo(mark: number): void {
    const trail = this.#trail;
    const old = this.#old;
    for (let i = trail.length - 1; i >= mark; i--) trail[i]!.value = old[i];
    trail.length = mark;
    old.length = mark;
    this.#dead = false;
  }

  #capture(mark: number, result: Multi): Outcome {
    const stamp = ++this.#stamp;
    const cells: Cell[] = [];
    const values: unknown[] = [];
    for (let i = mark; i < this.#trail.length; i++) {
      const cell = this.#trail[i]!;
      if (cell.stamp === stamp) continue;
      cell.stamp = stamp;
      cells.push(cell);
      values.push(cell.value);
    }
    return { cells, values, facts: this.facts, result };
  }

  /** Makes `facts` the path's facts; the two chains share their older part. */
  #setFacts(facts: Facts | undefined): void {
    let from = this.facts;
    let to = facts;
    if (from === to) return;
    const fresh: Fact[] = [];
    while (from !== to) {
      if (to === undefined || (from !== undefined && from.depth >= to.depth)) {
        from!.fact.active = false;
        from = from!.up;
      } else {
        fresh.push(to.fact);
        to = to.up;
      }
    }
    for (const fact of fresh) fact.active = true;
    this.facts = facts;
  }

  /** Adds a fact to the path; false when the path is impossible. */
  #push(fact: Fact): boolean {
    if (fact.active) return true;
    if (fact.not.active) return false;
    this.#hold(fact);
    this.lifetimes.learn(fact);
    return this.facts?.open === undefined || this.#settle(fact.at);
  }

  /** Draws what follows from `not (a and b)` and `a or b` once one side is known; false when they cannot hold. */
  #settle(site: Site): boolean {
    let left = 6;
    for (let d = this.facts?.open; d !== undefined && left > 0; d = d.up?.open, left--) {
      const { term, holds } = d.fact;
      if (term.kind !== "and" && term.kind !== "or") continue;
      // Both forms say that not both sides are `!holds`.
      const a = this.#certain(term.left);
      const b = this.#certain(term.right);
      if (a === !holds && b === !holds) return false;
      if (a === !holds && b === undefined) {
        if (!this.assume(term.right, holds, site)) return false;
      } else if (b === !holds && a === undefined) {
        if (!this.assume(term.left, holds, site)) return false;
      }
    }
    return true;
  }

  #hold(fact: Fact): void {
    if (fact.active || fact.not.active) return;
    const depth = (this.facts?.depth ?? 0) + 1;
    // Knowing less is safe; without a limit, thousands of early returns make every question about a path slow.
    if (depth > MAX_FACTS) return;
    fact.active = true;
    this.facts = new Link(fact, this.facts, depth);
  }

  /** Continues from several outcomes of paths that started at the present state. */
  #join(outcomes: readonly Outcome[]): Multi {
    if (outcomes.length === 0) {
      this.#dead = true;
      return NOTHING;
    }
    const start = this.facts;
    if (outcomes.length === 1) {
      const only = outcomes[0]!;
      for (let i = 0; i < only.cells.length; i++) this.set(only.cells[i]!, only.values[i]);
      this.#setFacts(only.facts);
      return only.result;
    }
    const stamp = ++this.#stamp;
    const cells: Cell[] = [];
    for (let k = 0; k < outcomes.length; k++) {
      const outcome = outcomes[k]!;
      for (let i = 0; i < outcome.cells.length; i++) {
        const cell = outcome.cells[i]!;
        if (cell.stamp !== stamp) {
          cell.stamp = stamp;
          cell.states = new Array(outcomes.length).fill(cell.value);
          cells.push(cell);
        }
        cell.states![k] = outcome.values[i];
      }
    }
    const own = outcomes.map((o) => since(o.facts, start));
    for (const cell of cells) {
      const states = cell.states!;
      cell.states = undefined;
      this.set(cell, this.#joinStates(cell, states, own));
    }
    this.#pushCommon(own);
    let width = 0;
    for (const o of outcomes) width = Math.max(width, o.result.values.length);
    const values: Term[] = [];
    for (let i = 0; i < width; i++) {
      values.push(
        this.#choose(
          outcomes.map((o) => o.result.values[i] ?? o.result.open ?? this.terms.nil),
          own,
        ),
      );
    }
    const opens = outcomes.filter((o) => o.result.open !== undefined);
    return { values, open: opens[0]?.result.open };
  }

  #pushCommon(own: readonly (readonly Fact[])[]): void {
    const stamp = ++this.#stamp;
    let shortest = own[0]!;
    for (const facts of own) if (facts.length < shortest.length) shortest = facts;
    if (shortest.length === 0) return;
    let n = 0;
    for (const facts of own) {
      if (facts === shortest) continue;
      n++;
      for (const fact of facts) if (n === 1 || fact.stamp === stamp + n - 1) fact.stamp = stamp + n;
    }
    for (const fact of shortest) {
      if (n === 0 || fact.stamp === stamp + n) this.#hold(fact);
    }
    this.#stamp = stamp + n;
  }

  #joinStates(cell: Cell, states: readonly unknown[], own: readonly (readonly Fact[])[]): unknown {
    const first = states[0];
    if (states.every((s) => s === first)) return first;
    if (cell.kind === "key") return joinKeys(states as readonly KeyState[]);
    if (cell.kind === "table") return this.#joinTables(states as readonly TableState[], own);
    return this.#choose(states as readonly Term[], own);
  }

  #choose(values: readonly Term[], own: readonly (readonly Fact[])[]): Term {
    const first = values[0]!;
    let same = true;
    for (const v of values) if (v !== first) same = false;
    if (same) return first;
    const out: Alternative[] = [];
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      const facts = own[i]!;
      const known = out.findIndex((a) => a.value === value);
      if (known < 0) out.push({ value, facts });
      else out[known] = { value, facts: out[known]!.facts.filter((f) => facts.includes(f)) };
    }
    return this.terms.choice(out);
  }

  #joinTables(states: readonly TableState[], own: readonly (readonly Fact[])[]): TableState {
    let length = Number.POSITIVE_INFINITY;
    let longest = 0;
    for (const s of states) {
      length = Math.min(length, s.items.length);
      longest = Math.max(longest, s.items.length);
    }
    const items: Term[] = [];
    for (let i = 0; i < length; i++)
      items.push(
        this.#choose(
          states.map((s) => s.items[i]!),
          own,
        ),
      );
    const rest: Term[] = [];
    for (const s of states) {
      for (let i = length; i < s.items.length; i++) if (!rest.includes(s.items[i]!)) rest.push(s.items[i]!);
      if (s.open !== undefined && !rest.includes(s.open)) rest.push(s.open);
    }
    let fields: Map<string, Term> | undefined;
    const names = new Set<string>();
    for (const s of states) if (s.fields !== undefined) for (const name of s.fields.keys()) names.add(name);
    if (names.size > 0) {
      fields = new Map();
      for (const name of names) {
        fields.set(
          name,
          this.#choose(
            states.map((s) => s.fields?.get(name) ?? this.terms.nil),
            own,
          ),
        );
      }
    }
    return { items, fields, open: this.anyOf(rest), meta: states[0]!.meta };
  }

  /** One of the given terms, nothing known about which. */
  anyOf(values: readonly Term[]): Term | undefined {
    if (values.length === 0) return undefined;
    if (values.length === 1) return values[0];
    if (values.length > 64) return this.terms.opaque("one of many values", undefined, values.slice(0, 64));
    return this.terms.choice(values.map((value) => ({ value, facts: [] })));
  }

  site(range: LuaRange): Site {
    return new Site(this.#view, range);
  }

  /** The place of a node: one object per node, so that places can be compared. */
  #at(e: { readonly range: LuaRange; site?: Site | undefined }): Site {
    e.site ??= new Site(this.#view, e.range);
    return e.site;
  }

  unknown(kind: UnknownKind, what: string, site: Site): void {
    if (this.#dead) return;
    if (this.unknowns.some((u) => u.kind === kind && u.site.range === site.range)) return;
    if (this.unknowns.length < 1000) this.unknowns.push({ kind, what, site });
  }

  /** Something ran of which nothing is known. */
  havoc(): void {
    this.lifetimes.unknown();
  }

  // ---- conditions

  /** Follows the path on which `term` has the given truth; false when there is none. */
  assume(term: Term, holds: boolean, site: Site): boolean {
    const known = truth(term);
    if (known !== undefined) return known === holds;
    switch (term.kind) {
      case "not":
        return this.assume(term.of, !holds, site);
      case "and":
        if (holds) return this.assume(term.left, true, site) && this.assume(term.right, true, site);
        if (this.#certain(term.left) === true) return this.assume(term.right, false, site);
        if (this.#certain(term.right) === true) return this.assume(term.left, false, site);
        break;
      case "or":
        if (!holds) return this.assume(term.left, false, site) && this.assume(term.right, false, site);
        if (this.#certain(term.left) === false) return this.assume(term.right, true, site);
        if (this.#certain(term.right) === false) return this.assume(term.left, true, site);
        break;
      case "choice":
        if (!this.#assumeOneOf(term, (v) => this.#certain(v) !== !holds)) return false;
        break;
      case "compare":
        return this.#assumeCompare(term, holds, site);
    }
    return this.#push(this.terms.fact(term, holds, site));
  }

  #certain(term: Term): boolean | undefined {
    const known = truth(term);
    if (known !== undefined) return known;
    if (term.kind === "not") {
      const inner = this.#certain(term.of);
      return inner === undefined ? undefined : !inner;
    }
    const fact = this.terms.known(term);
    if (fact === undefined) return undefined;
    return fact.active ? true : fact.not.active ? false : undefined;
  }

  /** Keeps the alternatives that are possible: what all of them know is known; a single one is followed. */
  #assumeOneOf(term: Term, possible: (value: Term) => boolean): boolean {
    const all = this.terms.alternatives(term);
    if (all === undefined) return true;
    const kept = all.filter((a) => possible(a.value) && !a.facts.some((f) => f.not.active));
    if (kept.length === 0) return false;
    let common = kept[0]!.facts;
    for (let i = 1; i < kept.length && common.length > 0; i++) {
      const facts = kept[i]!.facts;
      common = common.filter((f) => facts.includes(f));
    }
    for (const fact of common) if (!this.#push(fact)) return false;
    return true;
  }

  #assumeCompare(term: Extract<Term, { kind: "compare" }>, holds: boolean, site: Site): boolean {
    const { op, left, right } = term;
    const l = choosy(left);
    const r = choosy(right);
    if (l && !r) {
      if (!this.#assumeOneOf(left, (v) => decide(op, base(v), right) !== !holds)) return false;
      const only = this.#onlyPossible(left, (v) => decide(op, base(v), right) !== !holds);
      if (only !== undefined && !this.assume(this.terms.compare(op, only, right), holds, site)) return false;
    } else if (r && !l) {
      if (!this.#assumeOneOf(right, (v) => decide(op, left, base(v)) !== !holds)) return false;
      const only = this.#onlyPossible(right, (v) => decide(op, left, base(v)) !== !holds);
      if (only !== undefined && !this.assume(this.terms.compare(op, left, only), holds, site)) return false;
    }
    return this.#push(this.terms.fact(term, holds, site));
  }

  #onlyPossible(term: Term, possible: (value: Term) => boolean): Term | undefined {
    const all = this.terms.alternatives(term);
    const kept = all?.filter((a) => possible(a.value) && !a.facts.some((f) => f.not.active));
    return kept?.length === 1 ? kept[0]!.value : undefined;
  }

  // ---- running

  run(document: LuaDocument, resolve: (name: string, from: TextView) => LuaDocument | undefined): Proto {
    const compiler = new Compiler(document.view, this.terms);
    const body: Stat[] = [];
    this.#assemble(compiler, document, resolve, body, new Set(), 0);
    compiler.main.body = body;
    for (const { view, range } of compiler.tooManyLocals) {
      this.refused.push({ what: "more than 200 local variables in one function", site: new Site(view, range) });
    }
    this.#activations.push(this.#activation(undefined, NOTHING, []));
    if (this.#block(body)) {
      const end = document.view.text.length;
      this.#exit("end", NOTHING, this.site([end, end]));
    }
    this.#activations.pop();
    this.#functions();
    return compiler.main;
  }

  /** Runs what `redis.register_function` was given: each is an entry with its own KEYS and ARGV. */
  #functions(): void {
    for (const { fn, site } of this.registered.splice(0)) {
      this.#dead = false;
      this.#setFacts(undefined);
      this.#activations.push(this.#activation(undefined, NOTHING, []));
      const result = this.apply(fn, { values: [this.terms.keys, this.terms.argv], open: undefined }, site);
      if (!this.#dead) this.#exit("return", result, site);
      this.#activations.pop();
    }
  }

  #assemble(
    compiler: Compiler,
    document: LuaDocument,
    resolve: (name: string, from: TextView) => LuaDocument | undefined,
    out: Stat[],
    seen: Set<string>,
    depth: number,
  ): void {
    const body = document.body ?? [];
    let at = 0;
    const flush = (until: number) => {
      const from = at;
      while (at < body.length && body[at]!.range[0] < until) at++;
      if (at > from) {
        out.push({
          op: Do.Include,
          view: document.view,
          body: compiler.chunk(document.view, body.slice(from, at)),
        });
      }
    };
    for (const include of document.includes) {
      flush(include.range[0]);
      const site = new Site(document.view, include.range);
      const other = resolve(include.name, document.view);
      if (other?.body === undefined) {
        const why = other === undefined ? "is not among the scripts" : "does not parse";
        this.unknown("include", `the included file "${include.name}" ${why}`, site);
        continue;
      }
      const { file } = other.view.source;
      if (seen.has(file)) continue;
      seen.add(file);
      if (depth > 32) this.unknown("include", "includes nested too deeply", site);
      else this.#assemble(compiler, other, resolve, out, seen, depth + 1);
    }
    flush(Number.POSITIVE_INFINITY);
  }

  #activation(proto: Proto | undefined, varargs: Multi, args: readonly Term[]): Activation {
    return {
      proto,
      mark: this.#trail.length,
      open: this.#open,
      facts: this.facts,
      returns: [],
      final: undefined,
      varargs,
      args,
    };
  }

  #exit(kind: Exit["kind"], values: Multi, site: Site): void {
    if (this.#dead) return;
    if (this.exits.length < 10_000) {
      // Tables are taken as they are here: the machine goes on to change their cells.
      const kept = values.values.some((v) => v.kind === "table")
        ? values.values.map((v) => this.#frozen(v))
        : values.values;
      const calls = this.calls.length;
      this.exits.push({ kind, values: { values: kept, open: values.open }, site, facts: this.facts, calls });
      this.lifetimes.end();
    }
  }

  #frozen(term: Term): Term {
    return term.kind === "table" ? this.newTable(term.cell.value as TableState) : term;
  }

  /** Runs statements; false when no path reaches their end. */
  #block(body: readonly Stat[]): boolean {
    if (++this.#depth > MAX_DEPTH) {
      this.#depth--;
      this.#cut("depth", "statements nested too deeply", undefined);
      return true;
    }
    let live = true;
    for (const stat of body) {
      if (!this.#stat(stat) || this.#dead) {
        live = false;
        break;
      }
    }
    this.#depth--;
    return live;
  }

  #cut(kind: "depth" | "budget", what: string, range: LuaRange | undefined): void {
    this.unknown(kind, what, this.site(range ?? [0, Math.min(1, this.#view.text.length)]));
    this.havoc();
  }

  #stat(s: Stat): boolean {
    this.#steps++;
    switch (s.op) {
      case Do.Local: {
        if (s.decls.length === 1 && s.values.length === 1) {
          const value = this.eval(s.values[0]!);
          s.decls[0]!.cell = new Cell(value, "variable");
          return true;
        }
        const given = this.#list(s.values);
        const site = given.rest === undefined ? undefined : this.site(exprRange(s.values));
        for (let i = 0; i < s.decls.length; i++) {
          s.decls[i]!.cell = new Cell(this.#nth(given, i, site), "variable");
        }
        return true;
      }
      case Do.Assign: {
        if (s.targets.length === 1 && s.values.length === 1) {
          this.#assign(s.targets[0]!, this.eval(s.values[0]!));
          return true;
        }
        const given = this.#list(s.values);
        const site = given.rest === undefined ? undefined : this.site(exprRange(s.values));
        for (let i = 0; i < s.targets.length; i++) this.#assign(s.targets[i]!, this.#nth(given, i, site));
        return true;
      }
      case Do.Call:
        this.#multi(s.call);
        return true;
      case Do.If:
        return this.#if(s);
      case Do.While:
      case Do.Repeat:
        return this.#while(s);
      case Do.ForNumber:
        return this.#forNumber(s);
      case Do.ForEach:
        return this.#forEach(s);
      case Do.Return: {
        const values = this.#list(s.values);
        if (!this.#dead) this.#return(values, s.range);
        return false;
      }
      case Do.Break: {
        const loop = this.#breaks.at(-1);
        if (loop !== undefined && !this.#dead) loop.outcomes.push(this.#capture(loop.mark, NOTHING));
        return false;
      }
      case Do.Block:
        return this.#block(s.body);
      case Do.LocalFunction: {
        s.decl.cell = new Cell(this.terms.nil, "variable");
        s.decl.cell.value = this.#closure(s.proto);
        return true;
      }
      case Do.Include: {
        const view = this.#view;
        this.#view = s.view;
        const live = this.#block(s.body);
        this.#view = view;
        return live;
      }
    }
  }

  #return(values: Multi, range: LuaRange): void {
    const activation = this.#activations.at(-1)!;
    if (activation.proto === undefined) {
      this.#exit("return", values, this.site(range));
      return;
    }
    if (this.#open === activation.open && activation.returns.length === 0) activation.final = values;
    else activation.returns.push(this.#capture(activation.mark, values));
  }

  #if(s: IfStat): boolean {
    const start = this.facts;
    const first = this.#trail.length;
    const outcomes: Outcome[] = [];
    const left: [condition: Term, site: Site][] = [];
    /** None of the conditions so far. */
    let none: Term = this.terms.true;
    this.#open++;
    let rest = true;
    for (let i = 0; i < s.conditions.length; i++) {
      const condition = this.eval(s.conditions[i]!);
      if (this.#dead) {
        rest = false;
        break;
      }
      const site = this.site(s.conditions[i]!.range);
      const facts = this.facts;
      const mark = this.#trail.length;
      if (this.assume(condition, true, site)) {
        const entered = this.facts;
        const live = this.#block(s.bodies[i]!);
        if (live) outcomes.push(this.#capture(first, NOTHING));
        this.#leaves(
          this.terms.both("and", none, condition, () => site),
          site,
          live ? entered : null,
          left,
        );
      }
      none = this.terms.both("and", none, this.terms.not(condition), () => site);
      this.#undo(mark);
      this.#setFacts(facts);
      if (!this.assume(condition, false, site)) {
        rest = false;
        break;
      }
    }
    const entered = this.facts;
    const live = rest && (s.otherwise === undefined || this.#block(s.otherwise));
    if (rest) this.#leaves(none, this.site(s.conditions.at(-1)!.range), live ? entered : null, left);
    if (live) {
      if (outcomes.length === 0) {
        // The only way on is this one: the state stays as it is.
        this.#open--;
        return true;
      }
      outcomes.push(this.#capture(first, NOTHING));
    }
    this.#open--;
    this.#undo(first);
    this.#setFacts(start);
    this.#join(outcomes);
    if (this.#dead) return false;
    if (outcomes.length > 1) for (const [condition, site] of left) this.assume(condition, false, site);
    return true;
  }

  /**
   * Adds to `left` what holds on no path that goes on: the condition of a branch that ends, or, of one that goes on, that together
   * with the opposite of what the branch learned: `if a then if b then return end end` leaves `not (a and b)`.
   */
  #leaves(condition: Term, site: Site, entered: Facts | undefined | null, left: [condition: Term, site: Site][]): void {
    if (entered === null) {
      left.push([condition, site]);
      return;
    }
    for (const fact of since(this.facts, entered).slice(-MAX_FOLLOWS)) {
      const otherwise = fact.holds ? this.terms.not(fact.term) : fact.term;
      left.push([this.terms.both("and", condition, otherwise, () => site), site]);
    }
  }

  #loop(kind: Loop["kind"], range: LuaRange, from: Term | undefined, to: Term | undefined): void {
    this.#loops.push({ kind, site: this.site(range), from, to });
  }

  /** What the loop's text assigns becomes "any value that it has before or after a pass". */
  #enterLoop(writes: LoopWrites): { decl: Decl; cell: Cell; choice: Choice }[] {
    const entered: { decl: Decl; cell: Cell; choice: Choice }[] = [];
    for (const decl of writes.assigned) {
      const { cell } = decl;
      if (cell === undefined) continue;
      const choice = this.terms.loopChoice(cell.value as Term, undefined);
      this.set(cell, choice);
      entered.push({ decl, cell, choice });
    }
    for (const decl of writes.changed) {
      const value = decl.cell?.value as Term | undefined;
      if (value?.kind !== "table") continue;
      const state = value.cell.value as TableState;
      const choice = this.terms.loopChoice(state.open, undefined);
      this.set(value.cell, { items: state.items, fields: state.fields, open: choice, meta: state.meta });
      entered.push({ decl, cell: value.cell, choice });
    }
    return entered;
  }

  /** The end of a pass: what its variables are now is what they may be at its start. */
  #endPass(entered: readonly { cell: Cell; choice: Choice }[], live: boolean): void {
    for (const { cell, choice } of entered) {
      const { alternatives } = choice;
      const later = alternatives.findIndex((a) => a.value.kind === "opaque" && a.value.what === PENDING);
      if (later >= 0) alternatives.splice(later, 1);
      if (!live) continue;
      const value = cell.kind === "table" ? (cell.value as TableState).open : (cell.value as Term);
      if (value === undefined || value === choice || alternatives.some((a) => a.value === value)) continue;
      alternatives.push({ value, facts: [] });
    }
  }

  #while(s: LoopStat): boolean {
    const start = this.facts;
    const first = this.#trail.length;
    this.#loop(s.op === Do.While ? "while" : "repeat", s.range, undefined, undefined);
    const entered = this.#enterLoop(s.writes);
    const breaks: { outcomes: Outcome[]; mark: number } = { outcomes: [], mark: first };
    this.#open++;
    this.#breaks.push(breaks);
    const exits: Outcome[] = [];
    if (s.op === Do.While) {
      const condition = this.eval(s.condition);
      const site = this.site(s.condition.range);
      const facts = this.facts;
      const mark = this.#trail.length;
      const passes: Outcome[] = [];
      if (this.#dead) {
        this.#breaks.pop();
        this.#open--;
        this.#loops.pop();
        return false;
      }
      const live = this.assume(condition, true, site) && this.#block(s.body);
      this.#endPass(entered, live);
      if (live) passes.push(this.#capture(mark, NOTHING));
      this.#undo(mark);
      this.#setFacts(facts);
      passes.push(this.#capture(mark, NOTHING));
      this.#join(passes);
      for (const { cell, choice } of entered) this.#reset(cell, choice);
      if (!this.#dead && this.assume(condition, false, site)) exits.push(this.#capture(first, NOTHING));
    } else {
      const live = this.#block(s.body);
      const condition = live ? this.eval(s.condition) : this.terms.nil;
      this.#endPass(entered, live && !this.#dead);
      if (live && !this.#dead && this.assume(condition, true, this.site(s.condition.range))) {
        exits.push(this.#capture(first, NOTHING));
      }
    }
    this.#breaks.pop();
    this.#open--;
    this.#loops.pop();
    this.#undo(first);
    this.#setFacts(start);
    this.#join(exits.concat(breaks.outcomes));
    return !this.#dead;
  }

  #reset(cell: Cell, choice: Choice): void {
    if (cell.kind === "variable") this.set(cell, choice);
    else {
      const state = cell.value as TableState;
      this.set(cell, { items: state.items, fields: state.fields, open: choice, meta: state.meta });
    }
  }

  #forNumber(s: ForNumberStat): boolean {
    const from = this.eval(s.from);
    const to = this.eval(s.to);
    const step = s.step === undefined ? this.terms.one : this.eval(s.step);
    if (this.#dead) return false;
    const nesting = this.#loops.filter((l) => l.from === from && l.to === to).length;
    const variable = this.terms.range(from, to, step, nesting);
    const a = base(from);
    const b = base(to);
    const up = step.kind === "literal" && typeof step.value === "number" ? step.value > 0 : undefined;
    let runs: boolean | undefined;
    if (a.kind === "literal" && b.kind === "literal" && up !== undefined) {
      runs = up ? Number(a.value) <= Number(b.value) : Number(a.value) >= Number(b.value);
    }
    if (runs === false) return true;
    this.#loop("number", s.range, from, to);
    const by = step.kind === "literal" ? Number(step.value) : Number.NaN;
    const passes = runs ? Math.floor((literalNumber(b) - literalNumber(a)) / by) + 1 : Number.NaN;
    if (this.#isFew(passes)) {
      return this.#passes(s.body, passes, (i) => {
        s.variable.cell = new Cell(this.terms.literal(literalNumber(a) + i * by), "variable");
      });
    }
    s.variable.cell = new Cell(variable, "variable");
    return this.#each(s.writes, s.body, runs === true, variable);
  }

  #isFew(passes: number): boolean {
    return passes >= 1 && passes <= MAX_PASSES && passes * this.#nested <= MAX_NESTED_PASSES;
  }

  /** Runs a loop of known passes, one after the other. */
  #passes(body: readonly Stat[], passes: number, bind: (pass: number) => void): boolean {
    const start = this.facts;
    const first = this.#trail.length;
    const breaks: { outcomes: Outcome[]; mark: number } = { outcomes: [], mark: first };
    this.#open++;
    this.#breaks.push(breaks);
    this.#nested *= passes;
    let live = true;
    for (let i = 0; i < passes && live; i++) {
      bind(i);
      live = this.#block(body);
    }
    this.#nested /= passes;
    this.#breaks.pop();
    this.#open--;
    this.#loops.pop();
    const { outcomes } = breaks;
    if (live && outcomes.length === 0) return true;
    if (live) outcomes.unshift(this.#capture(first, NOTHING));
    this.#undo(first);
    this.#setFacts(start);
    this.#join(outcomes);
    return !this.#dead;
  }

  /** Runs a for loop's body once; a pass need not happen unless `runs`. */
  #each(writes: LoopWrites, body: readonly Stat[], runs: boolean, variable: Term): boolean {
    const start = this.facts;
    const first = this.#trail.length;
    const entered = this.#enterLoop(writes);
    const breaks: { outcomes: Outcome[]; mark: number } = { outcomes: [], mark: first };
    this.#open++;
    this.#breaks.push(breaks);
    const exits: Outcome[] = [];
    const mark = this.#trail.length;
    const before = this.#trail.length;
    const earlier = this.calls.length;
    let always: Fact[] = [];
    let covered: readonly Term[] = [];
    const ended = this.#block(body);
    this.#endPass(entered, ended);
    if (ended) {
      for (const { cell, choice } of entered) this.#reset(cell, choice);
      exits.push(this.#capture(first, NOTHING));
      // What holds at the end of a pass about its own element holds for all of them after the loop.
      if (breaks.outcomes.length === 0) {
        always = since(this.facts, start).filter((f) => mentions(f.term, variable)) as Fact[];
        covered = this.lifetimes.covered(variable);
      }
    }
    let untouched: Outcome | undefined;
    if (!runs) {
      // A key that is named with the loop's variable was touched only where a pass happened.
      const own: [Cell, unknown][] = [];
      for (let i = before; i < this.#trail.length; i++) {
        const cell = this.#trail[i]!;
        if (cell.kind === "key" && this.lifetimes.mentions(cell, variable)) own.push([cell, cell.value]);
      }
      const live = exits.length > 0;
      this.#undo(mark);
      this.#setFacts(start);
      if (live) for (const [cell, value] of own) this.set(cell, value);
      untouched = this.#capture(first, NOTHING);
    }
    this.#breaks.pop();
    this.#open--;
    this.#loops.pop();
    this.#undo(first);
    this.#setFacts(start);
    if (untouched !== undefined) exits.push(untouched);
    this.#join(exits.concat(breaks.outcomes));
    for (let i = always.length - 1; i >= 0; i--) this.#hold(always[i]!);
    for (const key of covered) this.lifetimes.cover(key, earlier);
    return !this.#dead;
  }

  #forEach(s: ForEachStat): boolean {
    const { values } = this.#list(s.iterators);
    if (this.#dead) return false;
    const site = this.site(s.range);
    const iterator = values[0];
    const subject = values[1];
    let key: Term | undefined;
    let value: Term | undefined;
    const { terms } = this;
    let known: readonly (readonly [string | number, Term])[] = [];
    if (subject?.kind === "table" && iterator?.kind === "native") {
      // The order of `pairs` is not known: a value that passes hand on may be of any of them.
      known = knownEntries(subject, iterator.name, s.writes.assigned.length === 0);
    }
    if (this.#isFew(known.length)) {
      this.#loop("each", s.range, undefined, terms.length(subject!));
      return this.#passes(s.body, known.length, (i) => {
        const [name, entry] = known[i]!;
        for (let k = 0; k < s.variables.length; k++) {
          const term = k === 0 ? terms.literal(name) : k === 1 ? entry : terms.nil;
          s.variables[k]!.cell = new Cell(term, "variable");
        }
      });
    }
    if (iterator?.kind === "native" && subject !== undefined && iterator.name !== "gmatch") {
      const index = terms.range(
        terms.one,
        terms.length(subject),
        terms.one,
        this.#loops.filter((l) => l.to === terms.length(subject)).length,
      );
      key = iterator.name === "ipairs" ? index : undefined;
      if (subject.kind === "table") {
        const state = subject.cell.value as TableState;
        const all = state.items.slice();
        if (iterator.name !== "ipairs" && state.fields !== undefined) {
          const names: Term[] = state.items.length > 0 || state.open !== undefined ? [index] : [];
          for (const [name, field] of state.fields) {
            names.push(terms.literal(name));
            all.push(field);
          }
          key = this.anyOf(names);
        }
        if (state.open !== undefined) all.push(state.open);
        value = this.anyOf(all) ?? terms.nil;
      } else value = subject.kind === "slots" ? terms.slot(subject.table, index) : this.index(subject, index, site);
      key ??= subject.kind === "table" ? index : terms.compute("key", [subject]);
    } else if (subject !== undefined) {
      key = terms.compute("gmatch", [subject]);
      value = terms.compute("gmatch", [subject]);
    }
    for (let i = 0; i < s.variables.length; i++) {
      const term = i === 0 ? key : i === 1 ? value : undefined;
      s.variables[i]!.cell = new Cell(term ?? terms.opaque("a loop variable", site, values), "variable");
    }
    this.#loop("each", s.range, undefined, subject === undefined ? undefined : terms.length(subject));
    return this.#each(s.writes, s.body, false, value ?? terms.nil);
  }

  // ---- expressions

  #list(exprs: readonly Expr[]): Multi {
    if (exprs.length === 0) return NOTHING;
    if (exprs.length === 1) return this.#multi(exprs[0]!);
    const values: Term[] = [];
    const last = exprs.length - 1;
    for (let i = 0; i < last; i++) values.push(this.eval(exprs[i]!));
    const tail = this.#multi(exprs[last]!);
    if (tail.values.length === 1 && tail.open === undefined) {
      values.push(tail.values[0]!);
      return { values, open: undefined };
    }
    return { values: values.concat(tail.values), open: tail.open, rest: tail.rest };
  }

  #multi(e: Expr): Multi {
    switch (e.op) {
      case Op.Call:
        return this.#call(e);
      case Op.Method:
        return this.#method(e);
      case Op.Vararg:
        return this.#activations.at(-1)!.varargs;
      default:
        return { values: [this.eval(e)], open: undefined };
    }
  }

  eval(e: Expr): Term {
    this.#steps++;
    switch (e.op) {
      case Op.Const:
        return e.value;
      case Op.Local:
        return (e.decl.cell?.value as Term | undefined) ?? this.terms.nil;
      case Op.Global:
        return this.#global(e.name, e.range);
      case Op.Index:
        return this.#index(e);
      case Op.Call: {
        const given = this.#call(e);
        return given.values[0] ?? (given.open === undefined ? this.terms.nil : this.#nth(given, 0, this.#at(e)));
      }
      case Op.Method: {
        const { values, open } = this.#method(e);
        return values[0] ?? open ?? this.terms.nil;
      }
      case Op.Function:
        return this.#closure(e.proto);
      case Op.Concat: {
        const parts: Term[] = [];
        for (const part of e.parts) parts.push(this.eval(part));
        return this.terms.concat(parts);
      }
      case Op.Compare:
        return this.#compare(e);
      case Op.Arith:
        return this.arithmetic(e.operator, this.eval(e.left), this.eval(e.right));
      case Op.And:
      case Op.Or:
        return this.#logical(e);
      case Op.Not:
        return this.terms.not(this.eval(e.of));
      case Op.Length:
        return this.#length(this.eval(e.of), e.range);
      case Op.Table:
        return this.#table(e);
      case Op.Vararg: {
        const { values, open } = this.#activations.at(-1)!.varargs;
        return values[0] ?? open ?? this.terms.nil;
      }
      case Op.Opaque:
        this.#cut("depth", e.what, e.range);
        return this.terms.opaque(e.what, this.site(e.range));
    }
  }

  /** Value `i` (from 0) of a list of values. */
  #nth({ values, open, rest }: Multi, i: number, site: Site | undefined): Term {
    const value = values[i];
    if (value !== undefined) return value;
    if (rest === undefined || site === undefined) return open ?? this.terms.nil;
    return this.index(rest.list, this.terms.literal(rest.from + i - values.length), site);
  }

  arithmetic(operator: string, left: Term, right: Term): Term {
    const l = base(left);
    const r = base(right);
    if (l.kind === "literal" && r.kind === "literal") {
      const a = Number(l.value);
      const b = Number(r.value);
      const n = operate(operator, a, b);
      if (n !== undefined && Number.isFinite(n)) return this.terms.literal(n);
    }
    return this.terms.compute(operator, [l, r]);
  }

  #compare(e: CompareExpr): Term {
    const left = this.eval(e.left);
    const right = this.eval(e.right);
    let term: Term;
    switch (e.operator) {
      case "==":
        term = this.terms.compare("eq", left, right);
        break;
      case "~=":
        term = this.terms.not(this.terms.compare("eq", left, right));
        break;
      case "<":
        term = this.terms.compare("lt", left, right);
        break;
      case "<=":
        term = this.terms.compare("le", left, right);
        break;
      case ">":
        term = this.terms.compare("lt", right, left);
        break;
      default:
        term = this.terms.compare("le", right, left);
    }
    if (term.kind !== "literal" && !this.#dead) {
      const key = term.kind === "not" ? term.of.id : term.id;
      if (!this.#noted.has(key)) {
        this.#noted.add(key);
        this.comparisons.push({ term, site: this.#at(e) });
        if (e.operator === "==" || e.operator === "~=") {
          const l = typeOf(left);
          const r = typeOf(right);
          if (l !== undefined && r !== undefined && l !== r) this.neverEqual.push(this.#at(e));
        } else if (isText(left) && isText(right)) this.textOrders.push(this.#at(e));
      }
    }
    return term;
  }

  #logical(e: Extract<Expr, { op: typeof Op.And | typeof Op.Or }>): Term {
    const left = this.eval(e.left);
    if (this.#dead) return this.terms.nil;
    const and = e.op === Op.And;
    const known = truth(left);
    if (known !== undefined && known !== and) return left;
    const place = () => this.#at(e);
    if (!e.effects || known !== undefined) {
      return this.terms.both(and ? "and" : "or", left, this.eval(e.right), place);
    }
    const start = this.facts;
    const mark = this.#trail.length;
    const site = this.site(e.left.range);
    const outcomes: Outcome[] = [];
    let right: Term | undefined;
    this.#open++;
    if (this.assume(left, and, site)) {
      right = this.eval(e.right);
      if (!this.#dead) outcomes.push(this.#capture(mark, NOTHING));
      else right = undefined;
    }
    this.#undo(mark);
    this.#setFacts(start);
    const skip = this.assume(left, !and, site);
    if (skip) outcomes.push(this.#capture(mark, NOTHING));
    this.#open--;
    this.#undo(mark);
    this.#setFacts(start);
    this.#join(outcomes);
    if (right === undefined) return left;
    return skip ? this.terms.both(and ? "and" : "or", left, right, place) : right;
  }

  #length(of: Term, range: LuaRange): Term {
    if (of.kind === "slots") this.#use(of.table, undefined, true, range);
    if (of.kind === "table") {
      const state = of.cell.value as TableState;
      if (state.open === undefined) return this.terms.literal(state.items.length);
    }
    return this.terms.length(of);
  }

  #table(e: TableExpr): Term {
    const { values, open } = this.#list(e.items);
    let fields: Map<string, Term> | undefined;
    let rest = open;
    let items = values;
    if (values.length > MAX_ITEMS) {
      items = values.slice(0, MAX_ITEMS);
      rest = this.anyOf([...values.slice(MAX_ITEMS, MAX_ITEMS + 32), ...(open === undefined ? [] : [open])]);
    }
    for (let i = 0; i < e.keys.length; i++) {
      const key = this.eval(e.keys[i]!);
      const value = this.eval(e.values[i]!);
      if (key.kind === "literal" && key.value !== null) {
        fields ??= new Map();
        fields.set(fieldName(key.value), value);
      } else rest = rest === undefined ? value : this.anyOf([rest, value]);
    }
    if (items.length === 0 && fields === undefined && rest === undefined) return this.newTable(EMPTY_TABLE);
    return this.newTable({ items, fields, open: rest, meta: undefined });
  }

  newTable(state: TableState): Term {
    return this.terms.table(new Cell(state, "table"));
  }

  /** `read`: where it is read as a value. */
  #global(name: string, read: LuaRange | undefined): Term {
    const cell = this.#globalCells.get(name);
    if (cell !== undefined) return cell.value as Term;
    if (name === "KEYS") return this.terms.keys;
    if (name === "ARGV") return this.terms.argv;
    if (LIBRARY.has(name)) return this.terms.native(name);
    // where a pcall catches the error the script goes on
    const site = read === undefined ? undefined : this.site(read);
    if (site !== undefined && !this.#dead && this.#guarded === 0 && this.missingGlobals.length < MAX_CALLS)
      this.missingGlobals.push(site);
    return this.terms.opaque(`global ${name}`, site);
  }

  #use(table: "keys" | "argv", index: Term | undefined, length: boolean, range: LuaRange): void {
    if (this.#dead) return;
    for (let i = this.slots.length - 1; i >= 0 && i >= this.slots.length - 40; i--) {
      const s = this.slots[i]!;
      if (s.site.range === range && s.index === index) return;
    }
    if (this.slots.length < 50_000) this.slots.push({ table, index, length, site: this.site(range) });
  }

  useWhole(term: Term, site: Site): void {
    if (term.kind === "slots") this.#use(term.table, undefined, false, site.range);
  }

  #index(e: IndexExpr): Term {
    const object = this.eval(e.object);
    const key = this.eval(e.key);
    if (object.kind === "slots") {
      const index = base(key);
      this.#use(object.table, index, false, e.range);
      return this.terms.slot(object.table, index);
    }
    return this.index(object, key, this.#at(e));
  }

  /** `rawget(object, key)`: nothing watches what is not there. */
  raw(object: Term, key: Term, site: Site): Term {
    this.#guarded++;
    const value = this.index(object, key, site);
    this.#guarded--;
    return value;
  }

  /** `object[key]`. */
  index(object: Term, key: Term, site: Site): Term {
    const { terms } = this;
    switch (object.kind) {
      case "slots":
        this.#use(object.table, base(key), false, site.range);
        return terms.slot(object.table, base(key));
      case "native": {
        if (key.kind !== "literal") {
          this.unknown("callee", `a member of ${object.name} chosen at run time`, site);
          return terms.opaque(`a member of ${object.name}`, site, [key]);
        }
        if (object.name === "_G") return this.#global(String(key.value), site.range);
        return terms.member(object, key, site);
      }
      case "table":
        return this.#field(object.cell.value as TableState, key, site, 0);
      case "choice": {
        const all = terms.alternatives(object);
        if (all === undefined || all.length > 16 || object.loop || !all.some((a) => a.value.kind === "table")) break;
        return terms.choice(all.map((a) => ({ value: this.index(a.value, key, site), facts: a.facts })));
      }
      case "literal":
        if (typeof object.value === "string" && key.kind === "literal") return terms.native(`string.${key.value}`);
        return terms.nil;
      case "and":
      case "or": {
        const all = terms.alternatives(object);
        const tables = all?.filter((a) => truth(a.value) !== false);
        if (tables?.length === 1 && tables[0]!.value !== object) return this.index(tables[0]!.value, key, site);
        if (tables !== undefined && tables.length <= 16 && tables.some((a) => a.value.kind === "table")) {
          return terms.choice(tables.map((a) => ({ value: this.index(a.value, key, site), facts: a.facts })));
        }
      }
    }
    return terms.item(base(object), key.kind === "convert" ? base(key) : key);
  }

  #field(state: TableState, key: Term, site: Site, depth: number): Term {
    const { terms } = this;
    const k = key.kind === "convert" ? base(key) : key;
    if (k.kind === "literal" && k.value !== null) {
      if (typeof k.value === "number" && Number.isInteger(k.value) && k.value >= 1 && k.value <= state.items.length) {
        return state.items[k.value - 1]!;
      }
      const named = state.fields?.get(fieldName(k.value));
      if (named !== undefined) {
        if (state.open === undefined || typeof k.value === "string") return named;
        return this.anyOf([named, state.open])!;
      }
      if (state.open !== undefined) return this.anyOf([state.open, terms.nil])!;
      if (state.meta?.kind === "table" && depth < 8) {
        const index = (state.meta.cell.value as TableState).fields?.get(fieldName("__index"));
        if (index?.kind === "table") return this.#field(index.cell.value as TableState, key, site, depth + 1);
      }
      return terms.nil;
    }
    const all: Term[] = state.items.slice(0, 48);
    if (state.fields !== undefined) for (const value of state.fields.values()) if (all.length < 60) all.push(value);
    if (state.open !== undefined) all.push(state.open);
    all.push(terms.nil);
    return this.anyOf(all)!;
  }

  #assign(target: Expr, value: Term): void {
    if (target.op === Op.Local) {
      const { cell } = target.decl;
      if (cell === undefined) target.decl.cell = new Cell(value, "variable");
      else this.set(cell, value);
      return;
    }
    if (target.op === Op.Global) {
      let cell = this.#globalCells.get(target.name);
      if (cell === undefined) {
        cell = new Cell(this.terms.nil, "variable");
        this.#globalCells.set(target.name, cell);
      }
      this.globals.push(this.site(target.range));
      this.set(cell, value);
      return;
    }
    if (target.op !== Op.Index) return;
    const object = this.eval(target.object);
    const key = this.eval(target.key);
    this.store(object, key, value);
  }

  /** `object[key] = value`. */
  store(object: Term, key: Term, value: Term): void {
    if (object.kind === "slots") {
      // Rare: a script that writes into KEYS or ARGV. What it reads there later is not told apart from the input.
      return;
    }
    if (object.kind !== "table") {
      if (object.kind === "choice" || object.kind === "and" || object.kind === "or") {
        for (const a of this.terms.alternatives(object) ?? []) {
          if (a.value.kind !== "table") continue;
          const { cell } = a.value;
          const state = cell.value as TableState;
          this.set(cell, { ...state, open: this.#more(state.open, value) });
        }
      }
      return;
    }
    const { cell } = object;
    const state = cell.value as TableState;
    const k = key.kind === "convert" ? base(key) : key;
    if (k.kind === "literal" && k.value !== null) {
      const n = k.value;
      if (typeof n === "number" && Number.isInteger(n) && n >= 1) {
        if (n <= state.items.length) {
          const items = state.items.slice();
          items[n - 1] = value;
          this.set(cell, { items, fields: state.fields, open: state.open, meta: state.meta });
          return;
        }
        if (n === state.items.length + 1 && state.open === undefined && n <= MAX_ITEMS) {
          this.set(cell, { items: [...state.items, value], fields: state.fields, open: undefined, meta: state.meta });
          return;
        }
        if (state.open !== undefined || n > MAX_ITEMS) {
          this.set(cell, {
            items: state.items,
            fields: state.fields,
            open: this.#more(state.open, value),
            meta: state.meta,
          });
          return;
        }
      }
      const fields = new Map(state.fields);
      if (fields.size < 4 * MAX_ITEMS) fields.set(fieldName(n), value);
      this.set(cell, { items: state.items, fields, open: state.open, meta: state.meta });
      return;
    }
    this.set(cell, { items: state.items, fields: state.fields, open: this.#more(state.open, value), meta: state.meta });
  }

  /** `table.insert(t, value)`. */
  append(object: Term, value: Term): void {
    if (object.kind !== "table") {
      this.store(object, this.terms.length(object), value);
      return;
    }
    const state = object.cell.value as TableState;
    if (state.open === undefined) this.store(object, this.terms.literal(state.items.length + 1), value);
    else this.store(object, this.terms.length(object), value);
  }

  #more(open: Term | undefined, value: Term): Term {
    if (open === undefined || open === value) return value;
    if (open.kind === "choice" && !open.loop) {
      if (open.alternatives.some((a) => a.value === value)) return open;
      if (open.alternatives.length >= 64) return open;
      return this.terms.choice([...open.alternatives, { value, facts: [] }]);
    }
    return this.terms.choice([
      { value: open, facts: [] },
      { value, facts: [] },
    ]);
  }

  #closure(proto: Proto): Closure {
    const captured: (readonly [Decl, Cell])[] = [];
    for (const decl of proto.free) if (decl.cell !== undefined) captured.push([decl, decl.cell]);
    return this.terms.closure(proto, captured);
  }

  // ---- calls

  #call(e: CallExpr): Multi {
    // what a function that nobody defines would do is asked for where it is called
    const fn = e.fn.op === Op.Global ? this.#global(e.fn.name, undefined) : this.eval(e.fn);
    const args = this.#list(e.args);
    if (this.#dead) return NOTHING;
    if (fn.kind === "native" && fn.sends) {
      return this.command(fn.name, args, this.#at(e), e.args, 0);
    }
    return this.apply(fn, args, this.#at(e), e.args);
  }

  #method(e: MethodExpr): Multi {
    const object = this.eval(e.object);
    const args = this.#list(e.args);
    if (this.#dead) return NOTHING;
    const all: Multi = { values: [object, ...args.values], open: args.open };
    const site = this.#at(e);
    if (object.kind === "table" || object.kind === "choice" || object.kind === "and" || object.kind === "or") {
      return this.apply(this.index(object, e.name, site), all, site);
    }
    const name = `string.${String((e.name as { value?: unknown }).value)}`;
    if (isLibrary(name)) return this.apply(this.terms.native(name), all, site);
    this.unknown("callee", "a method of a value that is not known", site);
    this.havoc();
    return { values: [this.terms.opaque("a method call", site, all.values)], open: undefined };
  }

  /** Calls a value. */
  apply(fn: Term, args: Multi, site: Site, exprs: readonly Expr[] = []): Multi {
    switch (fn.kind) {
      case "closure":
        return this.#invoke(fn, args, site);
      case "native":
        if (fn.sends) return this.command(fn.name, args, site, exprs, 0);
        return native(this, fn.name, args, site, exprs);
      case "choice":
      case "or":
      case "and": {
        const all = this.terms.alternatives(fn)?.filter((a) => truth(a.value) !== false);
        if (all !== undefined && all.length > 0 && all.length <= 16) return this.#applyOneOf(all, args, site, exprs);
        break;
      }
    }
    const name = fn.kind === "opaque" ? fn.what : "a value that is not known";
    this.unknown("callee", `a call of ${name}`, site);
    this.havoc();
    this.#expose(args.values);
    return { values: [], open: this.terms.opaque(`what ${name} returns`, site, args.values) };
  }

  #applyOneOf(all: readonly Alternative[], args: Multi, site: Site, exprs: readonly Expr[]): Multi {
    if (all.length === 1) return this.apply(all[0]!.value, args, site, exprs);
    const start = this.facts;
    const mark = this.#trail.length;
    const outcomes: Outcome[] = [];
    this.#open++;
    for (const a of all) {
      if (a.facts.every((f) => this.#push(f))) {
        const result = this.apply(a.value, args, site, exprs);
        if (!this.#dead) outcomes.push(this.#capture(mark, result));
      }
      this.#undo(mark);
      this.#setFacts(start);
    }
    this.#open--;
    return this.#join(outcomes);
  }

  /** Tables handed to something unknown may hold anything afterwards. */
  #expose(values: readonly Term[]): void {
    for (const value of values) {
      if (value.kind !== "table") continue;
      const state = value.cell.value as TableState;
      const open = this.#more(state.open, this.terms.opaque("a value that a call stored", undefined));
      this.set(value.cell, { items: state.items, fields: state.fields, open, meta: state.meta });
    }
  }

  #invoke(fn: Closure, args: Multi, site: Site): Multi {
    const { proto } = fn;
    if (proto.active >= 2) {
      const outer = this.#activations.findLast((a) => a.proto === proto);
      const same = outer?.args.every((a, i) => shape(a) === shape(args.values[i] ?? this.terms.nil)) ?? false;
      if (!same)
        this.unknown("recursion", `${proto.name || "a function"} calls itself with other kinds of values`, site);
      this.havoc();
      return { values: [], open: this.terms.opaque(`what ${proto.name || "a function"} returns`, site, args.values) };
    }
    if (this.#activations.length > MAX_INLINE || this.#depth > MAX_DEPTH - 20) {
      this.#cut("depth", `calls nested too deeply at ${proto.name || "a function"}`, site.range);
      return { values: [], open: this.terms.opaque("the result of a call", site, args.values) };
    }
    if (this.#exhausted || this.#steps > this.#maxSteps || this.calls.length > MAX_CALLS) {
      this.#exhausted = true;
      this.#cut("budget", `the script is too large to follow ${proto.name || "a function"} here`, site.range);
      return { values: [], open: this.terms.opaque("the result of a call", site, args.values) };
    }
    const saved: (Cell | undefined)[] = [];
    if (proto.active > 0) for (const decl of proto.decls) saved.push(decl.cell);
    const outside: (Cell | undefined)[] = [];
    for (const [decl, cell] of fn.captured) {
      outside.push(decl.cell);
      decl.cell = cell;
    }
    const { params } = proto;
    for (let i = 0; i < params.length; i++) {
      params[i]!.cell = new Cell(this.#nth(args, i, site), "variable");
    }
    const varargs: Multi = proto.vararg ? { values: args.values.slice(params.length), open: args.open } : NOTHING;
    const activation = this.#activation(proto, varargs, args.values);
    const breaks = this.#breaks.length;
    const view = this.#view;
    this.#view = proto.view;
    this.#activations.push(activation);
    this.#via.push(site);
    proto.active++;
    proto.called = true;
    const live = this.#block(proto.body);
    proto.active--;
    this.#via.pop();
    this.#activations.pop();
    this.#view = view;
    this.#breaks.length = breaks;
    const result = this.#finish(activation, live);
    for (let i = 0; i < outside.length; i++) fn.captured[i]![0].cell = outside[i];
    for (let i = 0; i < saved.length; i++) proto.decls[i]!.cell = saved[i];
    return result;
  }

  #finish(activation: Activation, live: boolean): Multi {
    if (activation.returns.length === 0) {
      if (activation.final !== undefined) {
        this.#dead = false;
        return activation.final;
      }
      if (live) return NOTHING;
      this.#dead = true;
      return NOTHING;
    }
    if (live) activation.returns.push(this.#capture(activation.mark, NOTHING));
    this.#undo(activation.mark);
    this.#setFacts(activation.facts);
    return this.#join(activation.returns);
  }

  /** `error(…)`, or an assertion that fails: the path ends here or at the nearest pcall. */
  fail(values: Multi, site: Site): void {
    if (this.#dead) return;
    const catcher = this.#protected.at(-1);
    if (catcher !== undefined) {
      catcher.returns.push(
        this.#capture(catcher.mark, {
          values: [this.terms.false, values.values[0] ?? this.terms.nil],
          open: undefined,
        }),
      );
    } else this.#exit("error", values, site);
    this.#dead = true;
  }

  /** `assert(term, message)`: the way on which it does not hold ends here. */
  assert(term: Term, message: Term, site: Site): void {
    if (this.#dead) return;
    const start = this.facts;
    const mark = this.#trail.length;
    const error: Multi = { values: [message], open: undefined };
    this.#open++;
    if (this.assume(term, false, site)) this.fail(error, site);
    this.#open--;
    this.#dead = false;
    this.#undo(mark);
    this.#setFacts(start);
    if (!this.assume(term, true, site)) this.fail(error, site);
  }

  /** `pcall(fn, …)`. */
  protect(fn: Term, args: Multi, site: Site, exprs: readonly Expr[]): Multi {
    this.#guarded++;
    let result: Multi;
    if (fn.kind === "native" && fn.sends) {
      result = this.command(fn.name, args, site, exprs, 1);
      this.#guarded--;
      return {
        values: [this.terms.opaque("whether it succeeded", site, result.values), ...result.values],
        open: result.open,
      };
    }
    const activation = this.#activation(undefined, NOTHING, []);
    this.#protected.push(activation);
    this.#open++;
    result = this.apply(fn, args, site);
    this.#open--;
    this.#protected.pop();
    this.#guarded--;
    if (!this.#dead) {
      const values = [this.terms.opaque("whether it succeeded", site, result.values), ...result.values];
      if (activation.returns.length === 0) return { values, open: result.open };
      activation.returns.push(this.#capture(activation.mark, { values, open: result.open }));
    }
    this.#undo(activation.mark);
    this.#setFacts(activation.facts);
    return this.#join(activation.returns);
  }

  /** `redis.call` and its like. `skip`: how many of the written words precede the command (1 in `pcall(redis.call, …)`). */
  command(api: string, args: Multi, site: Site, exprs: readonly Expr[], skip: number): Multi {
    const { terms } = this;
    if (this.#dead) return NOTHING;
    const word = args.values[0];
    const names = word === undefined ? undefined : terms.alternatives(word);
    const literal = names?.filter((a) => a.value.kind === "literal" && typeof a.value.value === "string");
    const words: Words = { view: this.#view, exprs, skip, given: args.values.length };
    if (word === undefined || literal === undefined || literal.length === 0 || literal.length < names!.length) {
      this.unknown("command", "a command whose name is not known", wordSite(words, 0) ?? site);
      const call = this.#record(undefined, args, site, words, api);
      if (literal === undefined || literal.length === 0 || call === undefined) {
        return { values: [call === undefined ? terms.nil : terms.reply(call)], open: undefined };
      }
    }
    if (literal!.length === 1) return this.#send(literal![0]!.value, args, site, words, api);
    const start = this.facts;
    const mark = this.#trail.length;
    const outcomes: Outcome[] = [];
    this.#open++;
    for (const a of literal!) {
      if (a.facts.every((f) => this.#push(f))) {
        outcomes.push(this.#capture(mark, this.#send(a.value, args, site, words, api)));
      }
      this.#undo(mark);
      this.#setFacts(start);
    }
    this.#open--;
    return this.#join(outcomes);
  }

  #send(name: Term, args: Multi, site: Site, words: Words, api: string): Multi {
    let command = String((name as { value?: unknown }).value).toLowerCase();
    if (CONTAINERS.has(command)) {
      const sub = args.values[1];
      const all = sub === undefined ? undefined : this.terms.alternatives(sub);
      if (all?.length === 1 && all[0]!.value.kind === "literal") {
        command = `${command}|${String(all[0]!.value.value).toLowerCase()}`;
      } else if (sub !== undefined || args.open !== undefined) {
        this.unknown("subcommand", `a subcommand of ${command} that is not known`, wordSite(words, 1) ?? site);
      }
    }
    const call = this.#record(command, args, site, words, api);
    return { values: [call === undefined ? this.terms.nil : this.terms.reply(call)], open: undefined };
  }

  #record(command: string | undefined, args: Multi, site: Site, words: Words, api: string): Call | undefined {
    if (this.calls.length > MAX_CALLS * 2) {
      this.#cut("budget", "too many commands to follow", site.range);
      return undefined;
    }
    const call = new Call({
      order: this.calls.length,
      site,
      words,
      command,
      argv: args.values,
      open: args.open,
      guarded: this.#guarded > 0 || api.endsWith("pcall"),
      facts: this.facts,
      via: this.#via.length === 0 ? NO_SITES : this.#via.slice(),
      loops: this.#loops.length === 0 ? NO_LOOPS : this.#loops.slice(),
    });
    this.calls.push(call);
    this.lifetimes.apply(call);
    return call;
  }

  /** Notes the use of a library function that came with a server version. */
  api(name: string, site: Site): void {
    if (!this.#dead && !this.apis.has(name)) this.apis.set(name, site);
  }

  source(name: string, site: Site): void {
    if (!this.#dead && !this.sources.some((s) => s.site.range === site.range)) this.sources.push({ name, site });
  }

  /** Calls a function value that a library function was given (`table.sort`, `string.gsub`). */
  callback(fn: Term | undefined, args: readonly Term[], site: Site): Term | undefined {
    if (fn?.kind !== "closure") return undefined;
    const start = this.facts;
    const mark = this.#trail.length;
    const outcomes: Outcome[] = [this.#capture(mark, NOTHING)];
    this.#open++;
    const result = this.apply(fn, { values: args, open: undefined }, site);
    if (!this.#dead) outcomes.push(this.#capture(mark, NOTHING));
    this.#open--;
    this.#undo(mark);
    this.#setFacts(start);
    this.#join(outcomes);
    return result.values[0] ?? result.open;
  }
}

class Link implements Facts {
  readonly fact: Fact;
  readonly up: Facts | undefined;
  readonly depth: number;
  readonly open: Facts | undefined;
  constructor(fact: Fact, up: Facts | undefined, depth: number) {
    this.fact = fact;
    this.up = up;
    this.depth = depth;
    const { kind } = fact.term;
    this.open = (kind === "and" && !fact.holds) || (kind === "or" && fact.holds) ? this : up?.open;
  }
}

const NO_SITES: readonly Site[] = [];
const NO_LOOPS: readonly Loop[] = [];

/** Commands that answer a script with a number. */
const NUMBERS: ReadonlySet<string> = new Set(
  "append decr decrby del exists expire hdel hexists hincrby hlen hset hsetnx incr incrby llen lpush persist pexpire pttl rpush sadd scard setnx sismember srem strlen ttl unlink zadd zcard zcount zrem".split(
    " ",
  ),
);

/** The Lua type that a value has for certain when it is there at all. */
function typeOf(term: Term): "number" | "string" | undefined {
  switch (term.kind) {
    case "literal":
      return typeof term.value === "number" || typeof term.value === "string"
        ? (typeof term.value as "number" | "string")
        : undefined;
    case "slot":
    case "concat":
      return "string";
    case "convert":
      return term.to;
    case "length":
    case "range":
      return "number";
    case "reply": {
      const { command, argv, open } = term.call;
      if (command === undefined || open !== undefined) return undefined;
      if (NUMBERS.has(command)) return command === "zadd" && term.call.has("INCR", 2) ? undefined : "number";
      return TEXT_REPLIES.has(command) && argv.length <= 3 ? "string" : undefined;
    }
    default:
      return undefined;
  }
}

/** A text for certain: what typeOf knows, and elements of replies of texts, each with a default that is one. */
function isText(term: Term, depth = 0): boolean {
  if (depth > 8) return false;
  if (term.kind === "item") {
    const { of } = term;
    return of.kind === "reply" && (of.call.command === "hmget" || of.call.command === "mget");
  }
  if (term.kind === "or" || term.kind === "and") return isText(term.left, depth + 1) && isText(term.right, depth + 1);
  if (term.kind === "choice") return !term.loop && term.alternatives.every((a) => isText(a.value, depth + 1));
  return typeOf(term) === "string";
}

function literalNumber(term: Term): number {
  return term.kind === "literal" ? Number(term.value) : Number.NaN;
}

/** What `ipairs` or `pairs` of a table gives, pass by pass; none where an entry is not known or may be nil, which ends it. */
function knownEntries(
  table: TableRef,
  iterator: string,
  anyOrder: boolean,
): readonly (readonly [string | number, Term])[] {
  const { items, fields, open } = table.cell.value as TableState;
  const whole = iterator === "pairs" && anyOrder;
  if (open !== undefined || (iterator !== "ipairs" && !whole)) return [];
  const out: (readonly [string | number, Term])[] = items.map((item, i) => [i + 1, item] as const);
  if (fields !== undefined && whole) {
    for (const [name, field] of fields) {
      if (name.startsWith("\0")) return [];
      out.push([name, field]);
    }
  }
  return out.every(([, entry]) => truth(entry) === true || entry.kind === "slot") ? out : [];
}

function choosy(term: Term): boolean {
  return term.kind === "choice" || term.kind === "and" || term.kind === "or";
}

/** From the first to the last of some expressions. */
function exprRange(exprs: readonly Expr[]): LuaRange {
  return [exprs[0]!.range[0], exprs.at(-1)!.range[1]];
}

function since(facts: Facts | undefined, start: Facts | undefined): readonly Fact[] {
  const out: Fact[] = [];
  for (let f = facts; f !== start && f !== undefined; f = f.up) out.push(f.fact);
  return out;
}

/** Field names: numbers and strings are different keys of a Lua table. */
export function fieldName(value: string | number | boolean): string {
  return typeof value === "string" ? value : `\0${String(value)}`;
}

function operate(operator: string, a: number, b: number): number | undefined {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      return a - Math.floor(a / b) * b;
    case "^":
      return a ** b;
    default:
      return undefined;
  }
}

/** A coarse class of a term: recursion whose arguments stay in their class adds nothing new. */
function shape(term: Term): string {
  switch (term.kind) {
    case "literal":
      return `=${String(term.value)}`;
    case "slot":
      return `${term.table}${term.index.id}`;
    case "concat":
      return term.parts.map(shape).join("");
    case "convert":
      return shape(term.of);
    case "reply":
    case "item":
    case "compute":
    case "length":
    case "range":
      return "#";
    case "choice":
      return "?";
    default:
      return term.kind;
  }
}
