/**
 * What a script can do: its commands with their keys and guards, the life of the keys it writes, its inputs and results.
 * Everything that cannot be known from the text is in `unknowns`, with its place; nothing is guessed.
 */
import type { LuaDocument } from "../../document/lua.js";
import type { Span, TextView } from "../../text/source.js";
import { type Call, type Guard, guard, guardsOf, type Loop, literalText } from "./call.js";
import type { Proto } from "./ir.js";
import { type Access, type KeySpecs, keyWords } from "./keyspecs.js";
import { head, isWrite, SIZES, type TimeUnit, TRIMS, UNBOUNDED, type Unbounded } from "./knowledge.js";
import type { Immortal, TimeToLive } from "./lifetime.js";
import { type Exit, Machine, type UnknownKind } from "./machine.js";
import { type Origin, originOf, originsOf } from "./origin.js";
import { base, type Fact, type Facts, type Term, type Terms, truth } from "./term.js";

export interface Unknown {
  readonly kind: UnknownKind | "key-positions";
  /** A short noun phrase for a message. */
  readonly what: string;
  readonly at: Span;
}

/** One key word of one call, for one of the origins that it may have. */
export interface KeyUse {
  readonly call: Call;
  readonly term: Term;
  /** The word. */
  readonly at: Span;
  readonly origin: Origin;
  /** What the server's key spec asks for. */
  readonly access: Access;
  /** An element of an unpacked list of unknown length. */
  readonly many: boolean;
}

/** How one entry of KEYS or ARGV is used. */
export interface InputUse {
  readonly index: number;
  /** Where the text mentions it. */
  readonly mentions: readonly Span[];
  /** Calls that have it, or a name made from it, as a key. */
  readonly asKey: readonly KeyUse[];
  /** Calls that have it (exactly) as a word that is certainly not a key. */
  readonly asValue: readonly { readonly call: Call; readonly at: Span }[];
}

export interface Inputs {
  /** The highest constant index; 0: none. */
  readonly max: number;
  /** Where the highest constant index is used. */
  readonly maxAt: Span | undefined;
  /** By constant index, ascending. */
  readonly uses: readonly InputUse[];
  /** Places where the index is computed (`KEYS[i]`): then any entry may be used. */
  readonly dynamic: readonly Span[];
  /** Places that use the table as a whole (`unpack(KEYS)`, `ipairs(ARGV)`, a call that is given it). */
  readonly whole: readonly Span[];
  /** Places that ask for `#KEYS`. */
  readonly length: readonly Span[];
}

/** A result of the script on one path. */
export type Result =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  | { readonly kind: "reply"; readonly call: Call }
  | { readonly kind: "status" | "error"; readonly text: string | undefined }
  | { readonly kind: "list"; readonly items: readonly Term[]; readonly open: boolean }
  | { readonly kind: "input"; readonly table: "keys" | "argv"; readonly index: number | undefined }
  | { readonly kind: "unknown"; readonly term: Term };

export interface ResultPath {
  readonly result: Result;
  readonly term: Term;
  /** The return statement, the failing call, or the end of the text. */
  readonly at: Span;
  readonly exit: "return" | "error" | "end";
  /** It ends without a value: at the end of the text, or by a bare `return`. */
  readonly empty: boolean;
  /** What holds when this is the result. Made when asked for. */
  readonly guards: readonly Guard[];
  /** Calls that may have been made on the way, in order. Made when asked for. */
  readonly calls: readonly Call[];
}

class PathOf implements ResultPath {
  readonly result: Result;
  readonly term: Term;
  readonly at: Span;
  readonly exit: ResultPath["exit"];
  readonly empty: boolean;
  readonly #from: Exit;
  readonly #own: readonly Fact[];
  readonly #all: readonly Call[];
  #guards: readonly Guard[] | undefined;
  #calls: readonly Call[] | undefined;

  constructor(term: Term, at: Span, from: Exit, own: readonly Fact[], all: readonly Call[]) {
    this.result = resultOf(term);
    this.term = term;
    this.at = at;
    this.exit = from.kind;
    this.empty = from.kind === "end" || (from.kind === "return" && isEmpty(from));
    this.#from = from;
    this.#own = own;
    this.#all = all;
  }

  get guards(): readonly Guard[] {
    if (this.#guards === undefined) {
      const outer = new Set<Fact>();
      for (let f = this.#from.facts; f !== undefined; f = f.up) outer.add(f.fact);
      this.#guards = [...guardsOf(this.#from.facts), ...this.#own.filter((f) => !outer.has(f)).map(guard)];
    }
    return this.#guards;
  }

  get calls(): readonly Call[] {
    if (this.#calls === undefined) {
      const held = new Set<Fact>(this.#own);
      for (let f = this.#from.facts; f !== undefined; f = f.up) held.add(f.fact);
      this.#calls = this.#all.filter((c) => c.order < this.#from.calls && !contradictAny(c.facts, held));
    }
    return this.#calls;
  }
}

class ImmortalOf implements MissingTtl {
  readonly call: Call;
  readonly term: Term;
  readonly origins: readonly Origin[];
  readonly unclear: boolean;
  readonly #facts: Facts | undefined;

  constructor({ call, key, facts, unclear }: Immortal, terms: Terms) {
    this.call = call;
    this.term = key;
    this.origins = originsOf(key, terms, call.facts);
    this.unclear = unclear;
    this.#facts = facts;
  }

  get guards(): readonly Guard[] {
    return guardsOf(this.#facts);
  }
}

/** A key that stays without a time to live on some path. */
export interface MissingTtl {
  readonly call: Call;
  readonly term: Term;
  readonly origins: readonly Origin[];
  /** What holds at the end of that path. */
  readonly guards: readonly Guard[];
  /** true: options or calls that are not known may have set one. */
  readonly unclear: boolean;
}

export interface TtlSet {
  readonly call: Call;
  readonly term: Term;
  readonly origins: readonly Origin[];
  readonly unit: TimeUnit;
  readonly time: Term | undefined;
  /** Upper bound in the unit, when the script enforces one (a constant, `math.min`, a clamp, a refusal). */
  readonly max: number | undefined;
  /** ARGV indexes that the time is made of. */
  readonly argv: readonly number[];
  /** `NX`, `XX`, `GT`, `LT` of EXPIRE, or empty. */
  readonly condition: string;
  /**
   * The time starts anew at every run: nothing that holds there depends on what the key was (no test of the counter's
   * answer, of TTL, EXISTS or the stored value, no `NX`), and the same run also counts in that key.
   */
  readonly restarts: boolean;
}

export interface UnboundedUse {
  readonly call: Call;
  readonly kind: Unbounded;
  readonly at: Span;
  /** The word that makes it unbounded (a `-1`), else the command's name. */
  readonly wordAt: Span;
  /** What bounds it after all: a size test or a trim that always comes before, a limit from ARGV. */
  readonly bound: { readonly kind: "size" | "trim" | "argv" | "loop"; readonly at: Span } | undefined;
}

/** How many elements a call takes at most, as far as the script limits it. */
export interface Limit {
  readonly call: Call;
  /** undefined: as many as the caller passes. */
  readonly max: number | undefined;
  /** The number comes from ARGV alone. */
  readonly argv: boolean;
  readonly at: Span;
}

export interface AnalysisOptions {
  /** Finds an included file by the name in the directive. */
  readonly include?: (name: string, from: TextView) => LuaDocument | undefined;
  /** Work limit in steps of the abstract machine. */
  readonly maxSteps?: number;
}

/** Analyses one script. Pure, bounded, never throws for any text. */
export function analyseScript(document: LuaDocument, specs: KeySpecs, options: AnalysisOptions = {}): ScriptEffects {
  const { view } = document;
  const machine = new Machine(view, options.maxSteps ?? 200_000 + 2 * view.text.length);
  let main: Proto | undefined;
  if (document.body !== undefined) {
    try {
      main = machine.run(document, options.include ?? (() => undefined));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      machine.unknown(
        "depth",
        "the script is nested too deeply to follow",
        machine.site([0, Math.min(1, view.text.length)]),
      );
    }
  }
  return new ScriptEffects(document, machine, main, specs);
}

export class ScriptEffects {
  readonly document: LuaDocument;
  readonly #machine: Machine;
  readonly #main: Proto | undefined;
  readonly #specs: KeySpecs;
  readonly #cache = new Map<string, unknown>();

  constructor(document: LuaDocument, machine: Machine, main: Proto | undefined, specs: KeySpecs) {
    this.document = document;
    this.#machine = machine;
    this.#main = main;
    this.#specs = specs;
  }

  #once<T>(name: string, make: () => T): T {
    if (this.#cache.has(name)) return this.#cache.get(name) as T;
    const value = make();
    this.#cache.set(name, value);
    return value;
  }

  get terms(): Terms {
    return this.#machine.terms;
  }

  /** Every command that can be sent, one entry per way to it (a helper called twice gives two). */
  get calls(): readonly Call[] {
    return this.#machine.calls;
  }

  /** Calls whose command is not known, by what the name is made of. */
  get dynamicCommands(): readonly { readonly call: Call; readonly at: Span; readonly origin: Origin }[] {
    return this.#once("dynamic", () =>
      this.calls
        .filter((c) => c.command === undefined)
        .map((call) => ({
          call,
          at: call.commandAt,
          origin: originOf(call.argv[0] ?? call.open ?? this.terms.nil, this.terms),
        })),
    );
  }

  /** Names of the commands that can be sent (`get`, `xgroup|create`), with the first call of each. */
  get commands(): ReadonlyMap<string, Call> {
    return this.#once("commands", () => {
      const out = new Map<string, Call>();
      for (const call of this.calls) {
        if (call.command !== undefined && !out.has(call.command)) out.set(call.command, call);
      }
      return out;
    });
  }

  /** false when commands may be missing from `commands`: something that can send any command is not known. */
  get commandsComplete(): boolean {
    return this.#once(
      "complete",
      () => this.document.body !== undefined && !this.unknowns.some((u) => HIDES.has(u.kind)),
    );
  }

  /** What could not be known, in the order of the text. */
  get unknowns(): readonly Unknown[] {
    return this.#once("unknowns", () => {
      const out: Unknown[] = this.#machine.unknowns.map((u) => ({ kind: u.kind, what: u.what, at: u.site.span }));
      const seen = new Set<string>();
      for (const call of this.calls) {
        if (call.command === undefined || this.#keyWords(call) !== undefined) continue;
        const key = `${call.at.start}:${call.command}`;
        if (seen.has(key)) continue;
        seen.add(key);
        out.push({ kind: "key-positions", what: `which words of ${call.command} are keys`, at: call.at });
      }
      return out.sort((a, b) => a.at.start - b.at.start);
    });
  }

  #keyWords(call: Call) {
    const cache = this.#once("words", () => new Map<Call, ReturnType<typeof keyWords>>());
    if (!cache.has(call)) cache.set(call, keyWords(call, this.#specs));
    return cache.get(call);
  }

  /** The key words of all calls. A word that may have several origins gives one entry for each. */
  get keys(): readonly KeyUse[] {
    return this.#once("keys", () => {
      const out: KeyUse[] = [];
      for (const call of this.calls) {
        for (const word of this.#keyWords(call) ?? []) {
          for (const origin of originsOf(word.term, this.terms, call.facts)) {
            out.push({
              call,
              term: word.term,
              at: call.wordAt(word.index),
              origin,
              access: word.access,
              many: word.many,
            });
          }
        }
      }
      return out;
    });
  }

  /** The key uses of one call; undefined when its key positions are not known. */
  keysOf(call: Call): readonly KeyUse[] | undefined {
    if (this.#keyWords(call) === undefined) return undefined;
    return this.keys.filter((k) => k.call === call);
  }

  /** How KEYS and ARGV are used. */
  inputs(table: "keys" | "argv"): Inputs {
    return this.#once(`inputs of ${table}`, () => this.#inputs(table));
  }

  #inputs(table: "keys" | "argv"): Inputs {
    const mentions = new Map<number, Span[]>();
    const dynamic: Span[] = [];
    const whole: Span[] = [];
    const length: Span[] = [];
    for (const use of this.#machine.slots) {
      if (use.table !== table) continue;
      const at = use.site.span;
      if (use.index === undefined) (use.length ? length : whole).push(at);
      else {
        const indexes = constants(use.index, this.terms);
        if (indexes === undefined) dynamic.push(at);
        else for (const i of indexes) list(mentions, i).push(at);
      }
    }
    const asKey = new Map<number, KeyUse[]>();
    for (const use of this.keys) for (const i of use.origin[table]) list(asKey, i).push(use);
    const asValue = new Map<number, { call: Call; at: Span }[]>();
    for (const call of this.calls) {
      const words = this.#keyWords(call);
      if (words === undefined) continue;
      for (let i = 1; i < call.argv.length; i++) {
        if (words.some((w) => w.index === i)) continue;
        const term = base(call.argv[i]!);
        if (term.kind !== "slot" || term.table !== table || term.index.kind !== "literal") continue;
        const n = Number(term.index.value);
        const at = call.wordAt(i);
        if (!list(asValue, n).some((v) => v.at.start === at.start)) list(asValue, n).push({ call, at });
      }
    }
    const uses: InputUse[] = [];
    let max = 0;
    for (const index of [...mentions.keys()].sort((a, b) => a - b)) {
      if (index > max) max = index;
      uses.push({
        index,
        mentions: mentions.get(index)!,
        asKey: asKey.get(index) ?? [],
        asValue: asValue.get(index) ?? [],
      });
    }
    return { max, maxAt: mentions.get(max)?.[0], uses, dynamic, whole, length };
  }

  /** All comparisons of the text that do not come out constant. */
  get comparisons(): readonly Guard[] {
    return this.#once("comparisons", () =>
      this.#machine.comparisons.map(({ term, site }) => guard(this.terms.fact(term, true, site))),
    );
  }

  /** What the script answers, one entry per path and alternative. */
  get results(): readonly ResultPath[] {
    return this.#once("results", () => this.#machine.exits.flatMap((exit) => this.#resultsOf(exit)));
  }

  #resultsOf(exit: Exit): ResultPath[] {
    const at = exit.site.span;
    const term = exit.values.values[0] ?? exit.values.open ?? this.terms.nil;
    const all = this.terms.alternatives(term) ?? [{ value: term, facts: [] }];
    if (all.length === 1) return [new PathOf(all[0]!.value, at, exit, all[0]!.facts, this.calls)];
    const outer = new Set<Fact>();
    for (let f = exit.facts; f !== undefined; f = f.up) outer.add(f.fact);
    return all
      .filter(({ facts }) => !facts.some((f) => outer.has(f.not)))
      .map(({ value, facts }) => new PathOf(value, at, exit, facts, this.calls));
  }

  /** Keys that are left without a time to live on some path; the first path of each write. */
  get missingTtl(): readonly MissingTtl[] {
    return this.#once("missing", () =>
      [...this.#machine.lifetimes.immortal.values()].map((i) => new ImmortalOf(i, this.terms)),
    );
  }

  /** Every setting of a time to live. */
  get ttls(): readonly TtlSet[] {
    return this.#once("ttls", () => this.#machine.lifetimes.times.map((t) => this.#ttl(t)));
  }

  #ttl(t: TimeToLive): TtlSet {
    const time = t.time;
    return {
      call: t.call,
      term: t.key,
      origins: originsOf(t.key, this.terms, t.call.facts),
      unit: t.unit,
      time,
      max: time === undefined ? undefined : upperBound(time, t.call.facts, this.terms),
      argv: time === undefined ? [] : [...new Set(originsOf(time, this.terms).flatMap((o) => o.argv))],
      condition: t.condition,
      restarts: this.#restarts(t),
    };
  }

  #restarts(t: TimeToLive): boolean {
    const name = t.call.command ?? "";
    if (t.condition !== "" || LIFE_STARTS.has(name) === false) return false;
    const key = base(t.key);
    const counts = this.calls.some(
      (c) =>
        COUNTERS.has(c.command ?? "") &&
        base(c.argv[1] ?? this.terms.nil) === key &&
        !contradict(c.facts, t.call.facts),
    );
    if (!counts) return false;
    return !t.call.guards.some((g) => dependsOn(g.left, key) || (g.right !== undefined && dependsOn(g.right, key)));
  }

  /** Calls that take elements up to a number: ranges by index, counts, options that limit, and single takings in a counted loop. */
  get limits(): readonly Limit[] {
    return this.#once("limits", () => this.calls.flatMap((call) => this.#rangeLimit(call) ?? this.#countLimit(call)));
  }

  #rangeLimit(call: Call): readonly Limit[] | undefined {
    const kind = call.command === undefined ? undefined : UNBOUNDED.get(head(call.command));
    const [, , from, to] = call.argv;
    if (kind !== "index-range" || from === undefined || to === undefined) return undefined;
    if (call.has("LIMIT", 4) || call.has("BYSCORE", 4) || call.has("BYLEX", 4)) return undefined;
    const [first, last] = [number(from), upperBound(to, call.facts, this.terms)];
    return first === undefined || last === undefined || first < 0 || last < first
      ? []
      : [{ call, max: last - first + 1, argv: false, at: call.wordAt(3) }];
  }

  #countLimit(call: Call): readonly Limit[] {
    const index = countIndex(call);
    if (index !== undefined) {
      const limit = this.#limitOf(call, call.argv[index]!, call.wordAt(index));
      return limit === undefined ? [] : [limit];
    }
    if (!TAKES_ONE.has(call.command ?? "")) return [];
    const loop = call.loops.at(-1);
    if (loop?.kind === "number" && loop.to !== undefined && number(loop.from) === 1) {
      const limit = this.#limitOf(call, loop.to, call.commandAt);
      return limit === undefined ? [] : [limit];
    }
    if (loop?.kind !== "while") return [];
    for (const g of call.guards) {
      // `while i <= n`: a counter of the loop on the left
      const counter = base(g.left);
      if ((g.op !== "less" && g.op !== "lessOrEqual") || counter.kind !== "choice" || !counter.loop) continue;
      const limit = this.#limitOf(call, g.right!, call.commandAt);
      if (limit !== undefined) return [limit];
    }
    return [];
  }

  #limitOf(call: Call, term: Term, at: Span): Limit | undefined {
    const max = upperBound(term, call.facts, this.terms);
    if (max !== undefined) return { call, max, argv: false, at };
    const from = originsOf(term, this.terms);
    const argv = from.length > 0 && from.every((o) => o.kind === "argv");
    return argv ? { call, max: undefined, argv, at } : undefined;
  }

  /** Commands that may return or touch any number of elements. */
  get unbounded(): readonly UnboundedUse[] {
    return this.#once("unbounded", () => {
      const out: UnboundedUse[] = [];
      for (const call of this.calls) {
        const use = this.#unbounded(call);
        if (use !== undefined) out.push(use);
      }
      return out;
    });
  }

  #unbounded(call: Call): UnboundedUse | undefined {
    const kind = call.command === undefined ? undefined : UNBOUNDED.get(head(call.command));
    if (kind === undefined) return undefined;
    let word = 0;
    let argv: Term | undefined;
    switch (kind) {
      case "index-range": {
        if (isLimited(call, 4)) return undefined;
        if (!call.has("BYSCORE", 4) && !call.has("BYLEX", 4)) {
          const [from, to] = [number(call.argv[2]), number(call.argv[3])];
          if (from !== undefined && to !== undefined && from < 0 === to < 0) return undefined;
          if (to === undefined) {
            argv = call.argv[3];
            if (argv === undefined) return undefined;
            if (upperBound(argv, call.facts, this.terms) !== undefined) return undefined;
          } else if (to >= 0) return undefined;
          word = 3;
        }
        break;
      }
      case "score-range":
        if (isLimited(call, 4) || call.has("COUNT", 2)) return undefined;
        if (call.open !== undefined) return undefined;
        break;
      case "stream-range":
        if (call.has("COUNT", 1) || call.open !== undefined) return undefined;
        break;
      case "sort":
        if (call.has("LIMIT", 2) || call.open !== undefined) return undefined;
        break;
      case "scan": {
        const loop = call.loops.findLast((l) => l.kind === "while" || l.kind === "repeat");
        if (loop === undefined) return undefined;
        break;
      }
    }
    return {
      call,
      kind,
      at: call.at,
      wordAt: call.wordAt(word),
      bound: this.#boundOf(call, argv),
    };
  }

  #boundOf(call: Call, limit: Term | undefined): UnboundedUse["bound"] {
    const key = base(call.argv[1] ?? this.terms.nil);
    for (const g of call.guards) {
      const { left, right } = g;
      if (right === undefined || (g.op !== "less" && g.op !== "lessOrEqual" && g.op !== "equal")) continue;
      const sized = base(left);
      if (sized.kind === "reply" && SIZES.has(sized.call.command ?? "") && base(sized.call.argv[1]!) === key) {
        return { kind: "size", at: g.at };
      }
    }
    const trim = this.calls.find(
      (c) =>
        c.order < call.order &&
        TRIMS.has(c.command ?? "") &&
        base(c.argv[1] ?? this.terms.nil) === key &&
        within(c.facts, call.facts),
    );
    if (trim !== undefined) return { kind: "trim", at: trim.at };
    if (limit !== undefined) {
      const from = originsOf(limit, this.terms);
      if (from.length > 0 && from.every((o) => o.kind === "argv")) return { kind: "argv", at: call.wordAt(3) };
    }
    return undefined;
  }

  /** Calls that change data; `undefined` commands and module commands are not among them. */
  get writes(): readonly Call[] {
    return this.#once("writes", () => this.calls.filter((c) => c.command !== undefined && isWrite(c.command) === true));
  }

  /** `loadstring`, `load`, `dofile` …, and EVAL-like commands from inside. */
  get dynamicSources(): readonly { readonly name: string; readonly at: Span }[] {
    return this.#once("sources", () => {
      const out = this.#machine.sources.map((s) => ({ name: s.name, at: s.site.span }));
      for (const call of this.calls) {
        if (call.command !== undefined && EVALS.has(call.command)) out.push({ name: call.command, at: call.commandAt });
      }
      return out;
    });
  }

  /** The first TIME (or random) call that a write may follow: servers before Redis 5 refuse that. */
  get writeAfterTime(): { readonly time: Call; readonly write: Call } | undefined {
    return this.#once("time", () => {
      for (const time of this.calls) {
        if (time.command !== "time") continue;
        const write = this.writes.find((w) => w.order > time.order && !contradict(w.facts, time.facts));
        if (write !== undefined) return { time, write };
      }
      return undefined;
    });
  }

  /** Library members that came with a server version (`redis.setresp` …), with their first use. */
  get apis(): readonly { readonly name: string; readonly at: Span }[] {
    return this.#once("apis", () => [...this.#machine.apis].map(([name, site]) => ({ name, at: site.span })));
  }

  /** Assignments to global names, which the server refuses ("Script attempted to create global variable"). */
  /** Reads of global variables that are not there, each place once. */
  get missingGlobals(): readonly Span[] {
    return this.#once("missing-globals", () => {
      const places = new Map(this.#machine.missingGlobals.map((s) => [s.span.start, s.span]));
      return [...places.values()];
    });
  }

  get globals(): readonly Span[] {
    return this.#once("globals", () => this.#machine.globals.map((s) => s.span));
  }

  /** What the server's compiler refuses although the syntax is right. */
  get refused(): readonly { readonly what: string; readonly at: Span }[] {
    return this.#once("refused", () => this.#machine.refused.map((r) => ({ what: r.what, at: r.site.span })));
  }

  /** Equality tests between a number and a text (`INCR … == ARGV[1]`): in Lua these are never equal. */
  get neverEqual(): readonly Span[] {
    return this.#once("never", () => this.#machine.neverEqual.map((s) => s.span));
  }

  /** Comparisons by size of two texts: ARGV, stored strings and fields that nothing made a number. */
  get textOrders(): readonly Span[] {
    return this.#once("texts", () => this.#machine.textOrders.map((s) => s.span));
  }

  /** Functions that are declared and never called on any path, by name. */
  get unusedFunctions(): readonly string[] {
    return this.#once("unused", () => {
      const out: string[] = [];
      const main = this.#main;
      if (main !== undefined) {
        for (const decl of main.decls) {
          const value = decl.cell?.value as Term | undefined;
          if (value?.kind === "closure" && !value.proto.called) out.push(decl.name);
        }
      }
      return out;
    });
  }

  /** Origins of a term. */
  originsOf(term: Term): readonly Origin[] {
    return originsOf(term, this.terms);
  }
}

/** A call has `LIMIT offset count`, and the count is no negative number: that asks for all. */
function isLimited(call: Call, from: number): boolean {
  if (!call.has("LIMIT", from)) return false;
  const count = countIndex(call);
  return count === undefined || !((number(call.argv[count]) ?? 0) < 0);
}

/** The index of the word that says how many elements a call takes; undefined: it has none. */
function countIndex(call: Call): number | undefined {
  const { command = "", argv } = call;
  if (COUNTED.has(command)) return argv.length > 2 ? 2 : undefined;
  if (command.endsWith("scan")) return undefined;
  const kind = UNBOUNDED.get(head(command));
  if (kind !== "index-range" && kind !== "score-range" && kind !== "stream-range" && kind !== "sort") return undefined;
  for (let i = 2; i + 1 < argv.length; i++) {
    const word = literalText(argv[i])?.toUpperCase();
    if (word === "LIMIT" && argv[i + 2] !== undefined) return i + 2;
    if (word === "COUNT") return i + 1;
  }
  return undefined;
}

/** Commands whose second argument is how many elements they take. */
const COUNTED: ReadonlySet<string> = new Set(
  "lpop rpop spop srandmember zpopmin zpopmax hrandfield zrandmember".split(" "),
);
/** Commands that take one element when no number is given. */
const TAKES_ONE: ReadonlySet<string> = new Set("lpop rpop spop zpopmin zpopmax rpoplpush lmove lindex".split(" "));

function isEmpty({ values }: Exit): boolean {
  return values.values.length === 0 && values.open === undefined;
}

/** Kinds of unknown that may hide a command. */
const HIDES: ReadonlySet<string> = new Set([
  "callee",
  "command",
  "subcommand",
  "include",
  "recursion",
  "budget",
  "depth",
  "coroutine",
  "environment",
]);
const EVALS: ReadonlySet<string> = new Set([
  "eval",
  "evalsha",
  "eval_ro",
  "evalsha_ro",
  "fcall",
  "fcall_ro",
  "script|load",
]);
const COUNTERS: ReadonlySet<string> = new Set([
  "incr",
  "incrby",
  "incrbyfloat",
  "decr",
  "decrby",
  "hincrby",
  "hincrbyfloat",
]);
const LIFE_STARTS: ReadonlySet<string> = new Set(["expire", "pexpire"]);

function list<K, V>(map: Map<K, V[]>, key: K): V[] {
  let found = map.get(key);
  if (found === undefined) {
    found = [];
    map.set(key, found);
  }
  return found;
}

/** The constants that an index may be; undefined when it is computed. */
function constants(index: Term, terms: Terms): readonly number[] | undefined {
  const all = terms.alternatives(index);
  if (all === undefined) return undefined;
  const out: number[] = [];
  for (const { value } of all) {
    if (value.kind === "literal" && typeof value.value === "number") out.push(value.value);
    else if (value.kind === "range" && value.from.kind === "literal" && value.to.kind === "literal") {
      const from = Number(value.from.value);
      const to = Number(value.to.value);
      const step = value.step.kind === "literal" ? Number(value.step.value) : Number.NaN;
      if (!Number.isInteger(step) || step === 0 || Math.abs((to - from) / step) > 64) return undefined;
      for (let i = from; step > 0 ? i <= to : i >= to; i += step) out.push(i);
    } else return undefined;
  }
  return out;
}

function number(term: Term | undefined): number | undefined {
  const text = literalText(term);
  if (text === undefined) return undefined;
  const n = Number(text);
  return Number.isNaN(n) ? undefined : n;
}

function resultOf(value: Term): Result {
  const t = value.kind === "convert" ? base(value) : value;
  switch (t.kind) {
    case "literal":
      return { kind: "literal", value: t.value };
    case "reply":
      return { kind: "reply", call: t.call };
    case "slot": {
      const n = t.index.kind === "literal" ? Number(t.index.value) : undefined;
      return { kind: "input", table: t.table, index: n };
    }
    case "compute":
      if (t.name === "status_reply") return { kind: "status", text: literalText(t.args[0]) };
      if (t.name === "error_reply") return { kind: "error", text: literalText(t.args[0]) };
      return { kind: "unknown", term: value };
    case "table": {
      const state = t.cell.value as {
        items: readonly Term[];
        fields: ReadonlyMap<string, Term> | undefined;
        open: Term | undefined;
      };
      const ok = state.fields?.get("ok");
      if (ok !== undefined) return { kind: "status", text: literalText(ok) };
      const err = state.fields?.get("err");
      if (err !== undefined) return { kind: "error", text: literalText(err) };
      return { kind: "list", items: state.items, open: state.open !== undefined };
    }
    default:
      return { kind: "unknown", term: value };
  }
}

/** The facts of two places cannot hold together. */
function contradict(a: Facts | undefined, b: Facts | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  const held = new Set<Fact>();
  for (let f: Facts | undefined = a; f !== undefined; f = f.up) held.add(f.fact);
  for (let f: Facts | undefined = b; f !== undefined; f = f.up) if (held.has(f.fact.not)) return true;
  return false;
}

function contradictAny(a: Facts | undefined, held: ReadonlySet<Fact>): boolean {
  for (let f = a; f !== undefined; f = f.up) if (held.has(f.fact.not)) return true;
  return false;
}

/** All facts of `a` hold wherever those of `b` hold. */
function within(a: Facts | undefined, b: Facts | undefined): boolean {
  const held = new Set<Fact>();
  for (let f = b; f !== undefined; f = f.up) held.add(f.fact);
  for (let f = a; f !== undefined; f = f.up) if (!held.has(f.fact)) return false;
  return true;
}

/** Whether a term is made from a reply about `key`. */
export function dependsOn(term: Term, key: Term): boolean {
  let left = 200;
  const seen = new Set<Term>();
  const visit = (t: Term): boolean => {
    if (--left < 0 || seen.has(t)) return false;
    seen.add(t);
    switch (t.kind) {
      case "reply":
        return t.call.argv.some((a) => base(a) === key);
      case "item":
        return visit(t.of);
      case "convert":
      case "length":
      case "not":
        return visit(t.of);
      case "compute":
        return t.args.some(visit);
      case "concat":
        return t.parts.some(visit);
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

/**
 * The largest number that a term can be, where the script makes sure of it: a constant, `math.min` with one, or a
 * comparison with one that holds there. undefined: no bound is enforced.
 */
export function upperBound(term: Term, facts: Facts | undefined, terms: Terms): number | undefined {
  const held: Fact[] = [];
  for (let f = facts; f !== undefined; f = f.up) held.push(f.fact);
  return bound(term, implied(held, terms), terms, 0);
}

/** The facts, with those that follow from a condition of several (`a > 9 and 9 or a` gives the last only where `a > 9` fails). */
function implied(facts: readonly Fact[], terms: Terms): readonly Fact[] {
  const out: Fact[] = [];
  const add = (fact: Fact, depth: number): void => {
    out.push(fact);
    const { term, holds } = fact;
    if (depth > 8) return;
    if (term.kind === "not") add(terms.fact(term.of, !holds, fact.at), depth + 1);
    if (term.kind !== "and" && term.kind !== "or") return;
    // both sides of an `and` that holds, of an `or` that does not; else the left one, where the right one is decided
    const all = holds === (term.kind === "and");
    if (all || truth(term.right) === (term.kind === "and")) add(terms.fact(term.left, holds, fact.at), depth + 1);
    if (all) add(terms.fact(term.right, holds, fact.at), depth + 1);
  };
  for (const fact of facts) add(fact, 0);
  return out;
}

function bound(term: Term, facts: readonly Fact[], terms: Terms, depth: number): number | undefined {
  if (depth > 12) return undefined;
  const t = base(term);
  if (t.kind === "literal") return number(t);
  const direct = factBound(t, facts, terms, depth);
  switch (t.kind) {
    case "choice":
    case "and":
    case "or": {
      // the alternatives as they are: what is known of one is known of it as a whole
      const all = t.kind === "choice" && !t.loop ? t.alternatives : terms.alternatives(t);
      if (all === undefined) return direct;
      let max = Number.NEGATIVE_INFINITY;
      for (const a of all) {
        if (a.facts.some((f) => facts.includes(f.not))) continue;
        const one = bound(
          a.value,
          a.facts.length === 0 ? facts : [...facts, ...implied(a.facts, terms)],
          terms,
          depth + 1,
        );
        if (one === undefined) return direct;
        max = Math.max(max, one);
      }
      return max === Number.NEGATIVE_INFINITY ? direct : smaller(direct, max);
    }
    case "compute": {
      const args = t.args.map((a) => bound(a, facts, terms, depth + 1));
      switch (t.name) {
        case "math.min":
          return args.reduce(smaller, direct);
        case "math.max":
          return args.some((a) => a === undefined) ? direct : smaller(direct, Math.max(...(args as number[])));
        case "math.floor":
        case "math.ceil":
        case "math.abs":
          return args[0] === undefined ? direct : smaller(direct, Math.ceil(args[0]));
        case "+":
          return args.length === 2 && args[0] !== undefined && args[1] !== undefined
            ? smaller(direct, args[0] + args[1])
            : direct;
        case "-": {
          const less = number(t.args[1]);
          return args[0] !== undefined && less !== undefined ? smaller(direct, args[0] - less) : direct;
        }
        case "*": {
          const factor = number(t.args[0]) ?? number(t.args[1]);
          const other = number(t.args[0]) === undefined ? args[0] : args[1];
          return factor !== undefined && factor >= 0 && other !== undefined ? smaller(direct, factor * other) : direct;
        }
        case "/": {
          const by = number(t.args[1]);
          return by !== undefined && by > 0 && args[0] !== undefined ? smaller(direct, args[0] / by) : direct;
        }
        case "%": {
          const by = number(t.args[1]);
          return by !== undefined && by > 0 ? smaller(direct, by) : direct;
        }
      }
      return direct;
    }
    default:
      return direct;
  }
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.min(a, b);
}

/** What facts say: the term is at most a number, or at most another term that has a bound. */
function factBound(term: Term, facts: readonly Fact[], terms: Terms, depth: number): number | undefined {
  let best: number | undefined;
  for (const { term: t, holds } of facts) {
    if (t.kind !== "compare" || (t.op === "eq" && !holds)) continue;
    const [left, right] = [base(t.left), base(t.right)];
    const other =
      t.op === "eq" && right === term ? left : (holds ? left : right) === term ? (holds ? right : left) : undefined;
    if (other === undefined) continue;
    // a chain of comparisons is short, and must not come back to where it began
    const rest = facts.filter((f) => f.term !== t);
    best = smaller(best, number(other) ?? (depth < 3 ? bound(other, rest, terms, depth + 3) : undefined));
  }
  return best;
}

export type { Call, Guard, Loop, Origin, Term, Terms };
