/**
 * The sweep: every mutant of a contract judged by the rules. A mutant is killed when a rule reports, at warning or above,
 * what it did not report before.
 *
 * Judged without starting over: values are changed copy-on-write, texts parse one document again, and only those handlers
 * run again that read the changed place (recorded once on the unchanged contract). Where that cannot be known, because the
 * change touches what the model itself is built from, all rules run; where grouping or suppressions are concerned, the
 * files are linted from their text.
 */
import { type DuplicateKey, parseSlice, YamlDocument } from "../document/yaml.js";
import { type Diagnostic, severityRank } from "../engine/diagnostic.js";
import { morePlaces, type RuleCrash, severityOf } from "../engine/lint.js";
import { fill, messageSpec, type ReportExtra, type Rule, type RuleContext } from "../engine/rule.js";
import { isProgramFile, kubeObjects, rebuildContract } from "../model/build.js";
import { Contract, type EntityKind } from "../model/contract.js";
import { InputFile } from "../model/input.js";
import { KubeObject } from "../model/kubernetes/object.js";
import { Container, Workload } from "../model/kubernetes/workload.js";
import type { Place } from "../model/place.js";
import { rereadManifests } from "../model/program/programs.js";
import { Source, type Span } from "../text/source.js";
import { type Equivalent, Equivalents } from "./equivalent.js";
import { type Mutant, type MutantResult, type MutantStatus, mutantsOf, mutatedText } from "./mutant.js";
import { mutationsOf } from "./mutators/index.js";
import {
  applyChange,
  differentKeys,
  differentParts,
  parsedKey,
  ReadNames,
  type ReadSet,
  Recorder,
  touchedKeys,
} from "./recorder.js";

/** What a lint of the files as texts gives. */
export interface Relint {
  readonly diagnostics: readonly Diagnostic[];
  readonly faults: readonly string[];
  readonly crashes: readonly RuleCrash[];
}

export interface SweepOptions {
  readonly rules: readonly Rule[];
  /** Contracts that share a root; a file may belong to several. */
  readonly contracts: readonly Contract[];
  /** Findings of the unchanged contracts that count (after suppressions). */
  readonly accepted: readonly Diagnostic[];
  /** Whether comments or the contract file suppress findings. */
  readonly suppressing: boolean;
  readonly equivalents?: readonly Equivalent[] | undefined;
  /** Makes the parsers ready that a contract's documents need. */
  readonly prepare?: ((contract: Contract) => Promise<void>) | undefined;
  /** Lints everything with one file's text replaced. */
  readonly relint: (file: string, text: string) => Promise<Relint>;
  /** Which mutants are wanted (changed lines, one of several parts). */
  readonly wanted?: ((mutant: Mutant, index: number) => boolean) | undefined;
  /** Called now and then; false ends the sweep early. */
  readonly tick?: ((done: number, total: number) => Promise<boolean>) | undefined;
  /** Verdicts by mutant id, where others (worker threads) have judged. */
  readonly verdicts?: ReadonlyMap<string, Verdict> | undefined;
  /** Judges every mutant by `relint`: the slow truth that the fast way is compared with. */
  readonly fromText?: boolean | undefined;
  /** Whether all rules judge each mutant; otherwise those with the fewest reads begin, and the first that reports ends it. */
  readonly allKillers?: boolean | undefined;
}

export interface Sweep {
  readonly results: readonly MutantResult[];
  /** Files without mutators, or without anything to mutate. */
  readonly untouched: readonly string[];
  /** Declared equivalents that a rule reports, or that match no mutant. */
  readonly stale: readonly { readonly entry: Equivalent; readonly mutant: Mutant | undefined }[];
  /** Ended before all mutants were judged: the others are pending. */
  readonly stopped: boolean;
}

/** A verdict before equivalents are looked up. */
export interface Verdict {
  readonly status: MutantStatus;
  readonly killedBy: readonly string[];
  readonly coveredBy: readonly string[];
  readonly reason: string | undefined;
}

/** All mutants of some contracts, by file and place; and the files that have none. */
export function allMutants(contracts: readonly Contract[]): {
  readonly mutants: readonly Mutant[];
  readonly untouched: readonly string[];
} {
  const files = new Map<string, InputFile>();
  for (const contract of contracts) for (const file of contract.files) files.set(file.file, file);
  const untouched: string[] = [];
  const mutants: Mutant[] = [];
  for (const file of [...files.values()].sort((a, b) => (a.file < b.file ? -1 : 1))) {
    const own = [...mutantsOf(file.source, mutationsOf(file))];
    if (own.length === 0) untouched.push(file.file);
    own.sort((a, b) => a.start - b.start || a.end - b.end || (a.id < b.id ? -1 : 1));
    for (const mutant of own) mutants.push(mutant);
  }
  return { mutants, untouched };
}

export async function sweep(options: SweepOptions): Promise<Sweep> {
  const { mutants, untouched } = allMutants(options.contracts);
  const wanted = options.wanted === undefined ? mutants : mutants.filter(options.wanted);
  const judge = options.verdicts === undefined && wanted.length > 0 ? await Judge.create(options) : undefined;
  const equivalents = new Equivalents(options.equivalents ?? []);
  const results: MutantResult[] = [];
  const stale: { entry: Equivalent; mutant: Mutant | undefined }[] = [];
  let stopped = false;
  for (const mutant of wanted) {
    const due = options.tick !== undefined && results.length % 16 === 0;
    if (due && !(await options.tick!(results.length, wanted.length))) stopped = true;
    const verdict = options.verdicts?.get(mutant.id) ?? (stopped ? undefined : await judge?.verdict(mutant));
    if (verdict === undefined) {
      stopped = true;
      results.push({ mutant, status: "Pending", killedBy: [], coveredBy: [], reason: undefined });
      continue;
    }
    const entry = equivalents.find(mutant);
    if (entry !== undefined && (verdict.status === "Survived" || verdict.status === "NoCoverage")) {
      results.push({ mutant, status: "Ignored", killedBy: [], coveredBy: verdict.coveredBy, reason: entry.reason });
      continue;
    }
    if (entry !== undefined) stale.push({ entry, mutant });
    results.push({
      mutant,
      status: verdict.status,
      killedBy: verdict.killedBy,
      coveredBy: verdict.coveredBy,
      reason: verdict.reason,
    });
  }
  if (wanted.length === mutants.length && !stopped)
    for (const entry of equivalents.unused(mutants)) stale.push({ entry, mutant: undefined });
  if (options.tick !== undefined && !stopped) await options.tick(results.length, wanted.length);
  return { results, untouched, stale, stopped };
}

/** A finding as a verdict compares it: position plays no part, because a mutant may move what stands below it. */
interface Found {
  readonly rule: string;
  readonly key: string;
  readonly text: string;
}

function foundOf(d: Diagnostic): Found {
  return { rule: d.rule, key: keyOf(d.rule, d.messageId, d.at.source.file, d.message), text: d.message };
}

function keyOf(rule: string, id: string, file: string, message: string): string {
  return `${rule}\0${id}\0${file}\0${message}`;
}

/** One handler on one entity: what it read and said on the unchanged contract. */
interface Invocation {
  readonly rule: Rule;
  readonly kind: EntityKind;
  readonly index: number;
  /** The entity in the unchanged contract. */
  readonly entity: unknown;
  /** What it asked of the contract as a whole: see `watchContract`. */
  readonly queries: ReadonlySet<string>;
  /** Documents (`file\0index`) of which it reads nearly every field: it guards the form, not a meaning. */
  readonly blanket: ReadonlySet<string>;
  /** How much it reads: what it costs to run it, the same on every machine. */
  readonly weight: number;
  /** It asks the contract for nothing but what all changes of it share. */
  readonly alone: boolean;
}

interface Recorded {
  readonly invocation: Invocation;
  readonly reads: ReadSet;
}

class Judge {
  readonly #options: SweepOptions;
  readonly #engines: readonly Engine[];
  readonly #accepted: ReadonlySet<string>;

  private constructor(options: SweepOptions, engines: readonly Engine[]) {
    this.#options = options;
    this.#engines = engines;
    this.#accepted = new Set(options.accepted.filter(counts).map((d) => foundOf(d).key));
  }

  static async create(options: SweepOptions): Promise<Judge> {
    const engines: Engine[] = [];
    if (options.fromText !== true)
      for (const contract of options.contracts) engines.push(await Engine.create(contract, options));
    return new Judge(options, engines);
  }

  async verdict(mutant: Mutant): Promise<Verdict> {
    if (this.#options.fromText === true) return this.#fromText(mutant, [], true);
    const covered = new Set<string>();
    const found: Found[] = [];
    let reads = false;
    for (const engine of this.#engines) {
      const file = engine.contract.files.find((f) => f.source === mutant.source);
      if (file === undefined) continue;
      const outcome = await engine.judge(mutant, file, this.#options.suppressing);
      if (outcome === "invalid") return UNPARSED;
      for (const rule of outcome.coveredBy) covered.add(rule);
      reads ||= outcome.read;
      if (outcome.relint) return this.#fromText(mutant, [...covered].sort(), reads);
      if (outcome.crash !== undefined)
        return {
          status: "RuntimeError",
          killedBy: [],
          coveredBy: [...covered].sort(),
          reason: `${outcome.crash.rule} crashed: ${outcome.crash.error.message}`,
        };
      found.push(...outcome.found);
    }
    return settleVerdict(found, [...covered].sort(), reads);
  }

  #parses(mutant: Mutant): boolean {
    for (const contract of this.#options.contracts) {
      const file = contract.files.find((f) => f.source === mutant.source);
      if (file !== undefined) return changeFile(mutant, file) !== "invalid";
    }
    return true;
  }

  async #fromText(mutant: Mutant, coveredBy: readonly string[], read: boolean): Promise<Verdict> {
    const { source } = mutant;
    if (!this.#parses(mutant)) return UNPARSED;
    const run = await this.#options.relint(source.file, mutatedText(mutant, source.text));
    if (run.faults.length > 0) return { status: "CompileError", killedBy: [], coveredBy, reason: run.faults[0] };
    if (run.crashes.length > 0) {
      const { rule, error } = run.crashes[0]!;
      return { status: "RuntimeError", killedBy: [], coveredBy, reason: `${rule} crashed: ${error.message}` };
    }
    const found = run.diagnostics
      .filter(counts)
      .map(foundOf)
      .filter((f) => !this.#accepted.has(f.key));
    return settleVerdict(found, coveredBy, read);
  }
}

/** A document that no longer parses proves nothing about its fields. */
const UNPARSED: Verdict = { status: "CompileError", killedBy: [], coveredBy: [], reason: "it does not parse" };

function counts(d: Diagnostic): boolean {
  return severityRank(d.severity) >= severityRank("warning");
}

function settleVerdict(found: readonly Found[], coveredBy: readonly string[], read: boolean): Verdict {
  if (found.length > 0) {
    const texts = [...new Set(found.map((f) => `${f.rule}: ${f.text}`))].sort();
    const more = texts.length > 3 ? [`and ${texts.length - 3} more`] : [];
    return {
      status: "Killed",
      killedBy: [...new Set(found.map((f) => f.rule))].sort(),
      coveredBy,
      reason: [...texts.slice(0, 3), ...more].join("\n"),
    };
  }
  const status = read || coveredBy.length > 0 ? "Survived" : "NoCoverage";
  return { status, killedBy: [], coveredBy, reason: undefined };
}

interface Crash {
  readonly rule: string;
  readonly error: Error;
}

interface Outcome {
  readonly found: readonly Found[];
  readonly coveredBy: readonly string[];
  /** The model or a rule reads the place. */
  readonly read: boolean;
  /** The fast way cannot tell. */
  readonly relint: boolean;
  readonly crash: Crash | undefined;
}

/** Judges mutants of one contract. */
class Engine {
  readonly contract: Contract;
  readonly #options: SweepOptions;
  /** Those that read least first. */
  readonly #rules: readonly Rule[];
  /** What the objects of the model are made of: a change there may concern every rule. */
  readonly #hard: ReadSet;
  /** What else the build looks at: a change there concerns every rule only where it changes the shape. */
  readonly #soft: ReadSet;
  readonly #shape: string;
  readonly #programs: string;
  readonly #withPrograms: boolean;
  readonly #derived: readonly DerivedReads[];
  readonly #readers = new Map<string, Invocation[]>();
  /** Handlers by what they asked of the contract as a whole. */
  readonly #asking = new Map<string, Invocation[]>();
  /** Handlers by the object or file that they ran on. */
  readonly #of = new Map<unknown, Invocation[]>();
  /** Findings of the unchanged contract by rule. */
  readonly #base = new Map<Rule, ReadonlySet<string>>();
  readonly #byEntity = new Map<Rule, Map<unknown, Invocation>>();
  /** Node trees are kept by weak reference; a sweep asks for them again and again. */
  readonly #trees: unknown[] = [];

  static async create(contract: Contract, options: SweepOptions): Promise<Engine> {
    await options.prepare?.(contract);
    const rules = options.rules.filter((r) => contract.setting(r.id).severity !== "off");
    const known = new ReadNames();
    const recorder = new Recorder(known);
    const hard: ReadSet = new Set();
    const build: ReadSet = new Set();
    const watched = watchFiles(contract, recorder);
    recorder.during(hard, () => {
      for (const file of watched.values()) {
        if (file.kind !== "kubernetes" || file.fault !== undefined) continue;
        for (const document of file.yaml.documents) kubeObjects(file, document);
      }
    });
    recorder.during(build, () => {
      const made = rebuildContract(contract, watched);
      for (const kind of new Set(rules.flatMap((r) => Object.keys(r.on) as EntityKind[]))) {
        // which programs there are is compared after each change: see `programShape`
        if (ENTITY_QUERIES[kind]?.includes("programs") !== true) made.entities(kind);
      }
      shapeOf(made);
      // an inferred contract is held together by references
      if (!contract.declared) for (const o of made.objects) if (o instanceof Workload) void o.references;
    });
    const soft: ReadSet = new Set();
    for (const key of build) (isText(key) ? soft : hard).add(key);
    const derived = derivedOf(contract, known);
    // one after the other: what each has read is not kept beside the index
    const recorded = (function* (): Generator<Recorded> {
      for (const rule of rules)
        for (const kind of Object.keys(rule.on) as EntityKind[]) yield* record(contract, rule, kind, known, derived);
    })();
    return new Engine(contract, options, rules, hard, soft, recorded, derived);
  }

  private constructor(
    contract: Contract,
    options: SweepOptions,
    rules: readonly Rule[],
    hard: ReadSet,
    soft: ReadSet,
    recorded: Iterable<Recorded>,
    derived: readonly DerivedReads[],
  ) {
    this.contract = contract;
    this.#options = options;
    this.#hard = hard;
    this.#soft = soft;
    const index = <K>(map: Map<K, Invocation[]>, key: K, invocation: Invocation): void => {
      const list = map.get(key);
      if (list === undefined) map.set(key, [invocation]);
      else list.push(invocation);
    };
    const invocations: Invocation[] = [];
    for (const { invocation, reads } of recorded) {
      invocations.push(invocation);
      for (const key of reads) index(this.#readers, key, invocation);
      for (const query of invocation.queries) index(this.#asking, query, invocation);
      const { entity } = invocation;
      index(this.#of, entity instanceof Container ? entity.workload : entity, invocation);
    }
    const weights = new Map<Rule, number>();
    for (const { rule, weight } of invocations) weights.set(rule, (weights.get(rule) ?? 0) + weight);
    this.#rules = [...rules].sort((a, b) => (weights.get(a) ?? 0) - (weights.get(b) ?? 0));
    this.#derived = derived.filter((d) => this.#asking.has(d.name));
    this.#shape = shapeOf(contract);
    this.#programs = programShape(contract);
    this.#withPrograms = rules.some((r) =>
      Object.keys(r.on).some((k) => ENTITY_QUERIES[k as EntityKind]?.includes("programs") === true),
    );
    this.#withPrograms ||= invocations.some((i) => i.queries.has("programs") || i.queries.has("*"));
    const [first] = contract.files;
    for (const rule of first === undefined ? [] : rules) {
      const { found } = this.#run(new Changed(contract, first!, first!), rule);
      this.#base.set(rule, new Set(found.map((f) => f.key)));
    }
    for (const invocation of invocations) {
      let own = this.#byEntity.get(invocation.rule);
      if (own === undefined) this.#byEntity.set(invocation.rule, (own = new Map()));
      own.set(entityKey(invocation.kind, invocation.index, invocation.entity), invocation);
    }
    for (const file of contract.files) {
      if (file.fault !== undefined || !hasDocuments(file)) continue;
      for (const document of file.yaml.documents) this.#trees.push(document.root);
    }
  }

  async judge(mutant: Mutant, file: InputFile, suppressing: boolean): Promise<Outcome | "invalid"> {
    const changed = changeFile(mutant, file, this.#withPrograms);
    if (changed === "invalid") return "invalid";
    const { keys } = changed;
    const hard = keys === undefined || keys.some((k) => this.#hard.has(k));
    const soft = keys?.some((k) => this.#soft.has(k)) === true;
    const affected = new Set<Invocation>();
    const covering = new Set<string>();
    let read = hard;
    for (const key of keys ?? []) {
      const list = this.#readers.get(key);
      if (list === undefined) continue;
      for (const invocation of list) {
        affected.add(invocation);
        if (!isScan(key, file, invocation, mutant)) covering.add(invocation.rule.id);
      }
    }
    const moved = this.#derived.filter((d) => keys?.some((k) => d.reads.has(k)) === true);
    for (const { name, reads } of moved) {
      const asking = this.#asking.get(name) ?? [];
      for (const key of keys ?? []) {
        if (!reads.has(key)) continue;
        for (const i of asking) if (!isScan(key, file, i, mutant)) covering.add(i.rule.id);
      }
    }
    if (covering.size > 0) read = true;
    const coveredBy = [...covering].sort();
    const none: Outcome = { found: [], coveredBy, read, relint: false, crash: undefined };
    const { declared } = this.contract;
    const marked = suppressing && /quorumlint:/.test(mutant.source.text.slice(mutant.start, mutant.end));
    if (marked || (!declared && (hard || soft))) return { found: [], coveredBy, read, relint: true, crash: undefined };
    const regroups = file.kind === "json" && keys?.some((k) => REGROUPS.test(k)) === true;
    if (!hard && !soft && affected.size === 0 && !regroups && moved.length === 0) return none;

    const replaced = changed.make();
    const now = new Changed(this.contract, file, replaced);
    const first = this.#options.allKillers !== true && declared && !suppressing;
    // whoever asks for nothing but the changed object need not wait for the contract
    const ahead = first && (hard || soft) ? [...affected].filter((i) => i.alone && now.isLike(i.entity)) : [];
    if (ahead.length > 0) {
      const { found } = this.#first(now, lightest(ahead));
      if (found.length > 0) return { found, coveredBy, read, relint: false, crash: undefined };
    }
    // where no rule asks for anything but its own entity, nobody sees what the build makes of the change
    const alone = declared && this.#asking.size === 0;
    const parsed = (hard || soft || !hasDocuments(file)) && file.kind !== "json" && !alone;
    if (parsed && this.#options.prepare !== undefined) await this.#options.prepare(now.contract);
    const reshaped = !alone && (hard || soft) && shapeOf(now.contract) !== this.#shape;
    const regrouped = regroups && programShape(now.contract) !== this.#programs;
    const all = hard || reshaped || regrouped;
    const disturbed = all && declared ? disturbedBy(file, replaced, reshaped) : undefined;
    // the same entities as before: only those handlers run again that read the place, or asked for what is disturbed
    const steady = disturbed !== undefined && !reshaped && !regrouped && sameKinds(file, replaced);
    if (steady) {
      for (const query of disturbed) for (const i of this.#asking.get(query) ?? []) affected.add(i);
      // what an object is made of is read before any handler sees it
      for (const entity of entitiesThatDiffer(file, replaced))
        for (const i of this.#of.get(entity) ?? []) affected.add(i);
    }
    const known = first && (!all || steady);
    if (known) {
      const { found, crash } = this.#first(now, lightest([...affected].filter((i) => !ahead.includes(i))));
      if (found.length > 0 || crash !== undefined) return { found, coveredBy, read, relint: false, crash };
    }
    const woken: Invocation[] = [];
    for (const d of this.#derived) {
      // a plane that is another one has other servers
      const other =
        reshaped && d.name !== TABLE ? true : (hard || soft || moved.includes(d)) && d.ask(now.contract) !== d.answer;
      if (!other) continue;
      disturbed?.add(d.name);
      for (const i of this.#asking.get(d.name) ?? []) if (!affected.has(i)) woken.push(i);
    }
    if (known) {
      const { found, crash } = this.#first(now, lightest(woken));
      return { found, coveredBy, read, relint: false, crash };
    }
    for (const i of woken) affected.add(i);
    const found: Found[] = [];
    let different = false;
    const byRule = new Map<Rule, Invocation[]>();
    for (const invocation of affected) {
      const list = byRule.get(invocation.rule);
      if (list === undefined) byRule.set(invocation.rule, [invocation]);
      else list.push(invocation);
    }
    // those that read the place are the likeliest to report
    const rules = all && !steady ? new Set([...byRule.keys(), ...this.#rules]) : byRule.keys();
    for (const rule of rules) {
      const base = this.#base.get(rule)!;
      // findings that are folded into one are counted over the whole rule
      const own = (all && !steady) || !declared ? undefined : (byRule.get(rule) ?? []);
      const same = (kind: EntityKind, index: number, entity: unknown): boolean => {
        if (disturbed === undefined) return false;
        const before = this.#byEntity.get(rule)?.get(entityKey(kind, index, entity));
        return before !== undefined && !affected.has(before) && !meets(before.queries, disturbed);
      };
      const result = this.#run(now, rule, own, same);
      if (result.crash !== undefined) return { found: [], coveredBy, read, relint: false, crash: result.crash };
      for (const f of result.found) if (!base.has(f.key)) found.push(f);
      if (first && found.length > 0) break;
      if (suppressing && !different)
        different = own === undefined ? result.found.length !== base.size : own.length > 0 && base.size > 0;
    }
    const relint = suppressing && (found.length > 0 || different);
    return { found, coveredBy, read, relint, crash: undefined };
  }

  /** Runs handlers one after the other, until one reports what its rule did not report before. */
  #first(now: Changed, invocations: readonly Invocation[]): { found: Found[]; crash: Crash | undefined } {
    for (const invocation of invocations) {
      const { rule } = invocation;
      const base = this.#base.get(rule)!;
      const { found, crash } = this.#run(now, rule, [invocation]);
      const added = found.filter((f) => !base.has(f.key));
      if (crash !== undefined || added.length > 0) return { found: added, crash };
    }
    return { found: [], crash: undefined };
  }

  /** What a rule says of the changed contract, by all its handlers or by some. */
  #run(
    now: Changed,
    rule: Rule,
    only?: readonly Invocation[],
    same?: (kind: EntityKind, index: number, entity: unknown) => boolean,
  ): { found: Found[]; crash: Crash | undefined } {
    const context = new Hearing(rule, now);
    const { pending } = context;
    try {
      if (only === undefined) {
        for (const kind of Object.keys(rule.on) as EntityKind[]) {
          const handler = rule.on[kind] as unknown as (entity: unknown, context: unknown) => void;
          for (const [index, entity] of now.contract.entities(kind).entries()) {
            if (same?.(kind, index, entity) !== true) handler(entity, context);
          }
        }
      } else {
        for (const { kind, index, entity } of only) {
          const handler = rule.on[kind] as unknown as (entity: unknown, context: unknown) => void;
          handler(now.counterpart(kind, index, entity), context);
        }
      }
    } catch (cause) {
      return {
        found: [],
        crash: { rule: rule.id, error: cause instanceof Error ? cause : new Error(String(cause)) },
      };
    }
    const found: Found[] = [];
    const folded = new Map<string, { first: (typeof pending)[number]; count: number }>();
    for (const p of pending) {
      if (!p.once) {
        found.push({ rule: rule.id, key: keyOf(rule.id, p.id, p.file, p.text), text: p.text });
        continue;
      }
      const group = folded.get(p.id);
      if (group === undefined) folded.set(p.id, { first: p, count: 0 });
      else group.count++;
    }
    for (const { first, count } of folded.values()) {
      const text = first.text + morePlaces(count);
      found.push({ rule: rule.id, key: keyOf(rule.id, first.id, first.file, text), text });
    }
    return { found, crash: undefined };
  }
}

interface Said {
  readonly id: string;
  readonly file: string;
  readonly text: string;
  readonly once: boolean;
}

/** Hears what a rule reports of a changed contract, which is built when the rule asks for it. */
class Hearing implements RuleContext<Record<string, string>> {
  readonly pending: Said[] = [];
  readonly #rule: Rule;
  readonly #now: Changed;

  constructor(rule: Rule, now: Changed) {
    this.#rule = rule;
    this.#now = now;
  }

  get contract(): Contract {
    return this.#now.front;
  }

  get options(): Readonly<Record<string, unknown>> {
    return this.#now.base.setting(this.#rule.id).options;
  }

  readonly report = (id: string, data: unknown, at: Span | Place, extra?: ReportExtra): void => {
    const rule = this.#rule;
    const { base } = this.#now;
    const severity = severityOf(rule, id, base.declared, base.setting(rule.id).severity as never, extra?.severity);
    if (severity === "off" || severityRank(severity) < severityRank("warning")) return;
    const spec = messageSpec(rule, id);
    this.pending.push({
      id,
      file: fileOf(at),
      text: fill(spec.text, data as Readonly<Record<string, string | number>> | undefined),
      once: spec.once === true && !base.declared,
    });
  };
}

/** Those that read least first: the same order on every machine. */
function lightest(invocations: Invocation[]): Invocation[] {
  return invocations.sort((a, b) => a.weight - b.weight);
}

/** Entities that outlive a change of another file; the others are made anew by each build, in the same order. */
function entityKey(kind: EntityKind, index: number, entity: unknown): unknown {
  const lasting = entity instanceof InputFile || entity instanceof KubeObject || entity instanceof Container;
  return lasting ? entity : `${kind} ${index}`;
}

/** What an entity that a build makes anew stands for. */
const ENTITY_QUERIES: { readonly [K in EntityKind]?: readonly string[] } = {
  Plane: ["planes"],
  Server: ["planes", "texts"],
  Conf: ["texts"],
  Acl: ["texts"],
  Script: ["texts"],
  ImageRegistry: ["images"],
  ProgramSet: ["programs"],
  Program: ["programs"],
  LuaScript: ["programs"],
};

/** Members of a contract that no mutant changes, or that ask other members for what they say. */
const PASSED: ReadonlySet<string> = new Set([
  "constructor",
  "isProvided",
  "declaration",
  "entities",
  "fileOf",
  "budgetsOf",
  "podsIn",
  "shell",
  "redis",
  "network",
]);
const WORKLOADS: ReadonlySet<string> = new Set(["podsMatching", "podsMatchingMap"]);

const MEMBERS = Object.entries(Object.getOwnPropertyDescriptors(Contract.prototype));

/**
 * Notes what is asked of a contract's graph: `objects`, `kind:K`, `workloads`, `planes`, `texts`, `images`; `*` for a
 * question that is not known here.
 */
function watchContract(contract: Contract, query: (query: string) => void, asked: (member: string) => void): void {
  const note = (text: string): void => {
    asked(text);
    query(text);
  };
  const { objects, workloads, planes, confs, acls, scripts, imageRegistry } = contract;
  const field = (name: string, query: string, value: unknown): void => {
    Object.defineProperty(contract, name, {
      get: () => {
        note(query);
        return value;
      },
    });
  };
  field("objects", "objects", objects);
  field("workloads", "workloads", workloads);
  field("planes", "planes", planes);
  field("confs", "texts", confs);
  field("acls", "texts", acls);
  field("scripts", "texts", scripts);
  field("imageRegistry", "images", imageRegistry);
  for (const [name, { value, get }] of MEMBERS) {
    if (PASSED.has(name)) {
      if (get !== undefined)
        Object.defineProperty(contract, name, {
          get: () => {
            asked(name);
            return get.call(contract) as unknown;
          },
        });
      continue;
    }
    if (typeof value === "function") {
      Object.defineProperty(contract, name, {
        value: (...args: unknown[]): unknown => {
          if (name === "ofKind" || name === "find") note(`kind:${String(args[0])}`);
          else if (WORKLOADS.has(name)) note("workloads");
          else if (name === "plane" || name === "planesOf") note("planes");
          else if (name === "textsIn") note("texts");
          else note("*");
          return (value as (...args: unknown[]) => unknown).apply(contract, args);
        },
      });
    } else if (get !== undefined) {
      Object.defineProperty(contract, name, {
        get: () => {
          note(name === "programs" ? "programs" : "*");
          return get.call(contract) as unknown;
        },
      });
    }
  }
}

/** The questions that other objects in a file may answer differently. */
function disturbedBy(file: InputFile, changed: InputFile, reshaped: boolean): Set<string> {
  if (isOfPrograms(file) && !reshaped) return new Set(["*", "programs"]);
  const out = new Set<string>(["*", "objects"]);
  if (reshaped || !hasDocuments(file)) for (const q of ["planes", "texts", "images"]) out.add(q);
  // a contract file says which files are programs, whatever the others hold
  if (!hasDocuments(file)) out.add("programs");
  if (!hasDocuments(file)) return out;
  const before = new Set(file.yaml.documents);
  const after = new Set(changed.yaml.documents);
  const differ = [
    ...file.yaml.documents.filter((d) => !after.has(d)).flatMap((d) => kubeObjects(file, d)),
    ...changed.yaml.documents.filter((d) => !before.has(d)).flatMap((d) => kubeObjects(changed, d)),
  ];
  for (const object of differ) {
    out.add(`kind:${object.kind}`);
    if (object instanceof Workload) for (const q of ["workloads", "planes", "texts"]) out.add(q);
    if (object.kind === "ConfigMap") out.add("texts");
  }
  return out;
}

/** The file, and those objects of it that a change makes anew. */
function* entitiesThatDiffer(file: InputFile, changed: InputFile): Generator<unknown> {
  yield file;
  const kept = new Set(changed.yaml.documents);
  for (const document of file.yaml.documents) if (!kept.has(document)) yield* kubeObjects(file, document);
}

/** The documents hold objects of the same kinds as before, in the same order. */
function sameKinds(file: InputFile, changed: InputFile): boolean {
  const kinds = (f: InputFile): string =>
    f.yaml.documents.map((d) => kubeObjects(f, d).map((o) => `${o.kind} ${o instanceof Workload}`)).join("\n");
  const containers = (f: InputFile): string =>
    f.yaml.documents
      .map((d) => kubeObjects(f, d).map((o) => (o instanceof Workload ? o.containers.length : 0)))
      .join("\n");
  return hasDocuments(file) && kinds(file) === kinds(changed) && containers(file) === containers(changed);
}

function meets(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const item of a) if (b.has(item)) return true;
  return false;
}

/** Fields of a contract that come from its contract file and from the command line, or that all its changes share. */
const LASTING: ReadonlySet<string> = new Set(["name", "declared", "config", "today", "setting", "clean"]);

/** The contract with one file changed; built only when somebody asks for more than an object of it. */
class Changed {
  readonly base: Contract;
  readonly #file: InputFile;
  readonly #changed: InputFile;
  #contract: Contract | undefined;
  #front: Contract | undefined;

  constructor(base: Contract, file: InputFile, changed: InputFile) {
    this.base = base;
    this.#file = file;
    this.#changed = changed;
  }

  get contract(): Contract {
    this.#contract ??=
      this.#file === this.#changed ? this.base : rebuildContract(this.base, new Map([[this.#file, this.#changed]]));
    return this.#contract;
  }

  /** The contract for those who mostly ask for what no mutant changes: it is built when they ask for more. */
  get front(): Contract {
    if (this.#contract !== undefined || this.#file === this.#changed) return this.contract;
    this.#front ??= new Proxy(this.base, {
      get: (base, key) => {
        if (typeof key === "string" && LASTING.has(key)) return Reflect.get(base, key, base) as unknown;
        const { contract } = this;
        const value: unknown = Reflect.get(contract, key, contract);
        return typeof value === "function" ? (value.bind(contract) as unknown) : value;
      },
    });
    return this.#front;
  }

  /** Whether an entity that is known without building the contract is one of the same kind in it. */
  isLike(entity: unknown): boolean {
    if (!(entity instanceof InputFile || entity instanceof KubeObject || entity instanceof Container)) return false;
    return this.counterpart("File", 0, entity)?.constructor === entity.constructor;
  }

  /** What an entity of the unchanged contract has become. */
  counterpart(kind: EntityKind, index: number, entity: unknown): unknown {
    if (entity instanceof InputFile) return entity === this.#file ? this.#changed : entity;
    if (entity instanceof KubeObject) return this.#object(entity);
    if (entity instanceof Container) {
      const { workload } = entity;
      const now = this.#object(workload);
      return now === workload ? entity : (now as Workload).containers[workload.containers.indexOf(entity)];
    }
    return this.contract.entities(kind)[index];
  }

  #object(object: KubeObject): KubeObject {
    if (object.input !== this.#file) return object;
    const at = this.#file.yaml.documents.indexOf(object.document);
    const nth = kubeObjects(this.#file, object.document).indexOf(object);
    return kubeObjects(this.#changed, this.#changed.yaml.documents[at]!)[nth]!;
  }
}

function fileOf(at: Span | Place): string {
  if ("source" in at) return at.source.file;
  // the place of a node is found only when somebody reads it
  const { document } = at as { document?: YamlDocument };
  return document === undefined ? at.span.source.file : document.source.file;
}

function watchFiles(contract: Contract, recorder: Recorder): Map<InputFile, InputFile> {
  return new Map(contract.files.map((f) => [f, recorder.file(f)]));
}

/** Texts that the build only classifies: a whole file, a value of a ConfigMap, a word of a command. */
function isText(key: string): boolean {
  const [file, , pointer, name] = key.split("\0");
  if (pointer === undefined || name === undefined) return file !== undefined;
  if (name === "*" || name.startsWith("?")) return false;
  return pointer === "data" || /\/(?:data|command|args)$/.test(pointer);
}

/**
 * Records a rule's handlers, each on one entity. What a handler has read may be kept ready for the next one that asks, in
 * the object or in the contract; so those that share nothing but the contract's files run on one contract, and whoever
 * asked the contract itself runs once more on one of its own.
 */
function record(
  contract: Contract,
  rule: Rule,
  kind: EntityKind,
  known: ReadNames,
  derived: readonly Derived[],
): Recorded[] {
  const entities = contract.entities(kind);
  if (derived.some((d) => d.name === TABLE) && ENTITY_QUERIES[kind]?.includes("programs") === true) {
    return entities.map((entity, index) => {
      const small = new Recording(contract, known, derived, true);
      const made = small.run(rule, kind, index, entity);
      return small.deep ? new Recording(contract, known, derived).run(rule, kind, index, entity) : made;
    });
  }
  const out: (Recorded | undefined)[] = entities.map(() => undefined);
  for (const group of groupsOf(entities)) {
    const shared = new Recording(contract, known, derived);
    for (const index of group) {
      const made = shared.run(rule, kind, index, entities[index]);
      out[index] =
        group.length === 1 || !shared.asked
          ? made
          : new Recording(contract, known, derived).run(rule, kind, index, entities[index]);
      shared.asked = false;
    }
  }
  return out.filter((i) => i !== undefined);
}

/** Indices of entities that keep nothing in common: objects and files all; containers one of each workload; others none. */
function groupsOf(entities: readonly unknown[]): number[][] {
  const groups: number[][] = [];
  const seen = new Map<unknown, number>();
  entities.forEach((entity, index) => {
    const owner = entity instanceof Container ? entity.workload : entity;
    const lasting = owner instanceof InputFile || owner instanceof KubeObject;
    const nth = seen.get(owner) ?? 0;
    seen.set(owner, nth + 1);
    if (!lasting) groups.push([index]);
    else (groups[nth] ??= []).push(index);
  });
  return groups;
}

/**
 * A question whose answer is nearly always the same after a change of what it is found by: which commands the servers have,
 * what a server makes of its configuration and of its pod. Whoever wants the answer runs again only where it is another one.
 */
interface Derived {
  readonly name: string;
  readonly answer: unknown;
  readonly ask: (contract: Contract) => unknown;
  /** Answers the question on a copy of the contract. */
  readonly settle: (copy: Contract, asked: () => void) => void;
}

/** What finding the answer reads and asks. */
interface DerivedReads extends Derived {
  readonly reads: ReadSet;
  readonly queries: ReadonlySet<string>;
}

const TABLE = "=table";

function derivedOf(contract: Contract, known: ReadNames): readonly DerivedReads[] {
  // an inferred contract is linted again as a whole where its parts change
  if (!contract.declared) return [];
  const out: Derived[] = [];
  const { redis } = contract;
  if (contract.programs.sets.length > 0) {
    const answer = contract.programs.table;
    const settle = (copy: Contract, asked: () => void): void => answerBy(copy.programs, "table", asked, answer);
    out.push({ name: TABLE, answer, ask: (c) => c.programs.table, settle });
  }
  const answer = redis.scripted;
  const settle = (copy: Contract, asked: () => void): void => answerBy(copy.redis, "scripted", asked, answer);
  out.push({ name: "=scripted", answer, ask: (c) => c.redis.scripted, settle });
  contract.planes.forEach((plane, p) => {
    plane.servers.forEach((server, s) => {
      const load = redis.load(server);
      const ask = (c: Contract): unknown => c.redis.load(c.planes[p]!.servers[s]!);
      const settleLoad = (copy: Contract, asked: () => void): void => {
        const own = copy.planes[p]!.servers[s];
        const { redis: before } = copy;
        const { load: other } = before;
        before.load = (wanted) => {
          if (wanted !== own) return other.call(before, wanted);
          asked();
          return load;
        };
      };
      out.push({ name: `=load ${p} ${s}`, answer: load, ask, settle: settleLoad });
    });
  });
  return out.map((d) => {
    const reads: ReadSet = new Set();
    const queries = new Set<string>();
    new Recording(contract, known).during(reads, queries, d.ask);
    return { name: d.name, answer: d.answer, ask: d.ask, settle: d.settle, reads, queries };
  });
}

function answerBy(target: object, name: string, asked: () => void, answer: unknown): void {
  Object.defineProperty(target, name, {
    get: () => {
      asked();
      return answer;
    },
  });
}

class Recording {
  /** Whether the handlers so far asked the contract for anything that it may keep. */
  asked = false;
  /** A handler asked for more than programs. */
  deep = false;
  readonly #base: Contract;
  readonly #copy: Contract;
  readonly #recorder: Recorder;
  #queries: Set<string> | undefined;

  /** `small`: only files of programs are watched, and the reads are all where the run was not `deep`. */
  constructor(base: Contract, known: ReadNames, derived: readonly Derived[] = [], small = false) {
    this.#base = base;
    this.#recorder = new Recorder(known);
    const files = small ? base.files.filter(isProgramFile) : base.files;
    this.#copy = rebuildContract(base, new Map(files.map((f) => [f, this.#recorder.file(f)])));
    for (const { name, settle } of derived) {
      if (small && name !== TABLE) continue;
      settle(this.#copy, () => {
        this.#queries?.add(name);
      });
    }
    watchContract(
      this.#copy,
      (query) => {
        this.#queries?.add(query);
        if (query !== "programs") this.deep = true;
      },
      (member) => {
        this.asked = true;
        if (member !== "programs") this.deep = true;
      },
    );
  }

  during(reads: ReadSet, queries: Set<string>, work: (copy: Contract) => unknown): void {
    this.#queries = queries;
    this.#recorder.during(reads, () => void work(this.#copy));
  }

  run(rule: Rule, kind: EntityKind, index: number, own: unknown): Recorded {
    const entity = this.#copy.entities(kind)[index];
    this.deep = false;
    const reads: ReadSet = new Set();
    const queries = new Set<string>(ENTITY_QUERIES[kind]);
    this.#queries = queries;
    this.asked = false;
    const context = { contract: this.#copy, options: this.#copy.setting(rule.id).options, report: () => undefined };
    const handler = rule.on[kind] as unknown as (entity: unknown, context: unknown) => void;
    this.#recorder.during(reads, () => {
      try {
        handler(entity, context);
      } catch {
        // a crash is found where the unchanged contract is linted
      }
    });
    // finding the next entity is nobody's question
    this.#queries = undefined;
    const blanket = blankets(this.#base, reads);
    const invocation = {
      rule,
      kind,
      index,
      entity: own,
      queries,
      blanket,
      weight: weightOf(this.#base, reads),
      alone: !this.asked,
    };
    return { invocation, reads };
  }
}

/** Characters of a text that weigh as much as one field: where it is searched, and where it is parsed. */
const SEARCHED = 40;
const PARSED = 4;

/** Fields that are read, and whole texts by their length. */
function weightOf(contract: Contract, reads: ReadSet): number {
  let weight = reads.size;
  for (const { file, source } of contract.files) {
    if (reads.has(parsedKey(file))) weight += source.text.length / PARSED;
    else if (reads.has(file)) weight += source.text.length / SEARCHED;
  }
  return weight;
}

/** Part of a document's values that a handler must read to count as one that reads everything. */
const BLANKET = 0.8;
const leavesOf = new WeakMap<YamlDocument, readonly string[]>();

function blankets(contract: Contract, reads: ReadSet): ReadonlySet<string> {
  const out = new Set<string>();
  const touched = new Set<string>();
  for (const key of reads) {
    const second = key.indexOf("\0", key.indexOf("\0") + 1);
    if (second > 0) touched.add(key.slice(0, second));
  }
  for (const file of contract.files) {
    if (!hasDocuments(file)) continue;
    for (const [i, document] of file.yaml.documents.entries()) {
      const prefix = `${file.file}\0${i}`;
      if (!touched.has(prefix)) continue;
      let leaves = leavesOf.get(document);
      if (leaves === undefined) leavesOf.set(document, (leaves = leafKeys(document.value, prefix)));
      let read = 0;
      for (const leaf of leaves) if (reads.has(leaf)) read++;
      if (leaves.length >= 10 && read >= BLANKET * leaves.length) out.add(prefix);
    }
  }
  return out;
}

function leafKeys(value: unknown, prefix: string): string[] {
  const out: string[] = [];
  const walk = (at: unknown, pointer: string): void => {
    if (at === null || typeof at !== "object") return;
    for (const key of Object.keys(at)) {
      const child = (at as Record<string, unknown>)[key];
      if (child !== null && typeof child === "object") walk(child, pointer === "" ? key : `${pointer}/${key}`);
      else out.push(`${prefix}\0${pointer}\0${key}`);
    }
  };
  walk(value, "");
  return out;
}

/** Whether a read says nothing about a field: it looks at the whole text, or at every field alike. */
function isScan(key: string, file: InputFile, invocation: Invocation, mutant: Mutant): boolean {
  if (invocation.blanket.size > 0 && invocation.blanket.has(`${file.file}\0${mutant.document}`)) return true;
  if (key.includes("\0#\0")) return true;
  return !key.includes("\0") && (hasDocuments(file) || invocation.kind === "File");
}

function hasDocuments(file: InputFile): boolean {
  return (file.kind === "kubernetes" || file.kind === "yaml") && file.fault === undefined;
}

/** Scripts, manifests and code: what is made of them is kept by file, so that no reading of it can be recorded. */
function isOfPrograms(file: InputFile): boolean {
  return ["lua", "json", "java", "typescript"].includes(file.kind);
}

/** Reads of a manifest that decide which programs there are: the list, the files that entries name. */
const REGROUPS = /\0(?:\0(?:manifest|entries)|entries\0[^\0]*|entries\/\d+(?:\0file|\/file\0value))$/;

/** Which programs a contract has, each with its script. */
function programShape(contract: Contract): string {
  return contract.programs.sets
    .map(
      (s) =>
        `${s.input?.file}\0${s.manifest === undefined}\0${s.scripts.length}\0${s.programs.map((p) => p.script?.file).join("\0")}`,
    )
    .join("\n");
}

interface ChangedFile {
  /** Read keys that the change disturbs; undefined: it may disturb all. */
  readonly keys: readonly string[] | undefined;
  readonly make: () => InputFile;
}

/** `programs`: whether somebody looks at programs, so that what is read of manifests has to be compared. */
function changeFile(mutant: Mutant, file: InputFile, programs = false): ChangedFile | "invalid" {
  const { document: index, change } = mutant;
  const text = (): string => mutatedText(mutant, file.source.text);
  // where the mutator knows what it does to the value, the text parses
  if (file.kind === "json" && change !== undefined && !programs)
    return { keys: [file.file], make: () => file.withText(text()) };
  if (!hasDocuments(file) || index === undefined) {
    const changed = file.withText(text());
    if (hasDocuments(file) && changed.yaml.problems.length > 0) return "invalid";
    if (file.kind === "json" && change === undefined && changed.yaml.problems.length > 0) return "invalid";
    if (hasDocuments(file)) return { keys: undefined, make: () => changed };
    const keys = [file.file];
    if (file.kind === "json" && programs) {
      for (const { name, before, after } of rereadManifests(file, changed, mutant.start, mutant.end))
        for (const key of differentParts(file.file, name, before, after)) keys.push(key);
    }
    return { keys, make: () => changed };
  }
  const before = file.yaml.documents[index]!;
  const end = before.end + mutant.newText.length - (mutant.end - mutant.start);
  if (change !== undefined) {
    const keys = touchedKeys(file.file, index, before.value, change);
    keys.push(file.file);
    return {
      keys,
      make: () => {
        const source = new Source(file.file, text());
        const { duplicates } = before;
        const more: DuplicateKey[] =
          change.kind === "duplicate"
            ? [
                {
                  key: change.key,
                  at: source.span(change.at, change.at + change.key.length),
                  first: source.span(mutant.start, mutant.start),
                },
              ]
            : [];
        const value = applyChange(before.value, change);
        const document = new YamlDocument(
          source,
          before.start,
          end,
          before.meaning,
          value,
          more.length === 0 ? duplicates : [...duplicates, ...more],
        );
        return file.withDocuments(source, file.yaml.documents.with(index, document));
      },
    };
  }
  const source = new Source(file.file, text());
  const parsed = parseSlice(source, before.start, end, before.meaning);
  if (!(parsed instanceof YamlDocument)) return "invalid";
  if (parsed.value === null || parsed.value === undefined)
    return { keys: undefined, make: () => file.withDocuments(source, file.yaml.documents.toSpliced(index, 1)) };
  const keys = differentKeys(file.file, index, before.value, parsed.value);
  keys?.push(file.file);
  if (parsed.duplicates.length !== before.duplicates.length) keys?.push(`${file.file}\0${index}\0#\0duplicates`);
  return { keys, make: () => file.withDocuments(source, file.yaml.documents.with(index, parsed)) };
}

/**
 * What a build makes of texts: which are configurations, ACLs and scripts, which server has which, what the image registry
 * says. Two contracts of the same shape differ for a rule only in what it reads itself.
 */
function shapeOf(contract: Contract): string {
  const { confs, acls, scripts, planes, imageRegistry } = contract;
  const ref = (text: { input: InputFile; name: string; owner: { ref: string } | undefined }): string =>
    `${text.input.file} ${text.name} ${text.owner?.ref ?? ""}`;
  return JSON.stringify([
    confs.map((c) => [ref(c), c.mode, c.templated]),
    acls.map((a) => [ref(a), a.role, a.templated]),
    scripts.map(ref),
    planes.map((p) => [
      p.role,
      p.workload?.ref,
      p.container?.title,
      p.peer === undefined ? -1 : planes.indexOf(p.peer),
      p.servers.map((s) => [s.conf === undefined ? "" : ref(s.conf), s.acl === undefined ? "" : ref(s.acl)]),
    ]),
    contract.files.map((f) => [f.file, f.kind]),
    imageRegistry === undefined ? null : imageRegistry.properties.map((p) => [p.key, p.value]),
  ]);
}
