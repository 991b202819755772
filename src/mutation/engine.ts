/** Judges mutants of one contract: only those handlers run again that read the changed place, or whose questions it disturbs. */
import type { YamlDocument } from "../document/yaml.js";
import { type Diagnostic, severityRank } from "../engine/diagnostic.js";
import { morePlaces, severityOf } from "../engine/lint.js";
import { fill, messageSpec, type ReportExtra, type Rule, type RuleContext } from "../engine/rule.js";
import { kubeObjects, rebuildContract } from "../model/build.js";
import type { Contract, EntityKind } from "../model/contract.js";
import type { InputFile } from "../model/input.js";
import { Container, Workload } from "../model/kubernetes/workload.js";
import { push } from "../model/multimap.js";
import type { Place } from "../model/place.js";
import type { Span } from "../text/source.js";
import {
  Changed,
  changeFile,
  disturbedBy,
  entitiesThatDiffer,
  hasDocuments,
  isLasting,
  meets,
  programShape,
  REGROUPS,
  sameKinds,
  shapeOf,
} from "./changed.js";
import type { Mutant } from "./mutant.js";
import { ReadNames, type ReadSet, Recorder } from "./recorder.js";
import {
  type DerivedReads,
  derivedOf,
  ENTITY_QUERIES,
  type Invocation,
  isScan,
  isText,
  type Recorded,
  record,
  TABLE,
  watchFiles,
} from "./recording.js";
import type { SweepOptions } from "./sweep.js";

/** A finding as a verdict compares it: position plays no part, because a mutant may move what stands below it. */
export interface Found {
  readonly rule: string;
  readonly key: string;
  readonly text: string;
}

export function foundOf(d: Diagnostic): Found {
  return { rule: d.rule, key: keyOf(d.rule, d.messageId, d.at.source.file, d.message), text: d.message };
}

function keyOf(rule: string, id: string, file: string, message: string): string {
  return `${rule}\0${id}\0${file}\0${message}`;
}

export interface Crash {
  readonly rule: string;
  readonly error: Error;
}

export interface Outcome {
  readonly found: readonly Found[];
  readonly coveredBy: readonly string[];
  /** The model or a rule reads the place. */
  readonly read: boolean;
  /** The fast way cannot tell. */
  readonly relint: boolean;
  readonly crash: Crash | undefined;
}

/** What handlers say of a changed contract. */
interface Heard {
  readonly found: readonly Found[];
  readonly crash: Crash | undefined;
}

const NOTHING: Heard = { found: [], crash: undefined };
/** Every question may have another answer. */
const ALL: ReadonlySet<string> = new Set();

interface Touched {
  /** What the model itself is built from. */
  readonly hard: boolean;
  /** What the build looks at besides. */
  readonly soft: boolean;
  readonly affected: Set<Invocation>;
  /** Answers that may be other ones. */
  readonly moved: readonly DerivedReads[];
  /** Rules that read the place, sorted; not those that read every field alike. */
  readonly coveredBy: readonly string[];
}

/** Judges mutants of one contract. */
export class Engine {
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
  /** Documents keep their node trees for a while only; a sweep asks for them again and again. */
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
        for (const document of file.yaml.documents) kubeObjects(file, document, contract);
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
    const invocations: Invocation[] = [];
    for (const { invocation, reads } of recorded) {
      invocations.push(invocation);
      for (const key of reads) push(this.#readers, key, invocation);
      for (const query of invocation.queries) push(this.#asking, query, invocation);
      const { entity } = invocation;
      push(this.#of, entity instanceof Container ? entity.workload : entity, invocation);
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
    const { hard, soft, affected, moved, coveredBy } = this.#touched(mutant, file, keys);
    const read = hard || coveredBy.length > 0;
    const outcome = ({ found, crash }: Heard, relint = false): Outcome => ({ found, coveredBy, read, relint, crash });
    const { declared } = this.contract;
    const marked = suppressing && /quorumlint:/.test(mutant.source.text.slice(mutant.start, mutant.end));
    if (marked || (!declared && (hard || soft))) return outcome(NOTHING, true);
    const regroups = file.kind === "json" && keys?.some((k) => REGROUPS.test(k)) === true;
    if (!hard && !soft && affected.size === 0 && !regroups && moved.length === 0) return outcome(NOTHING);

    const replaced = changed.make();
    const now = new Changed(this.contract, file, replaced);
    const first = this.#options.allKillers !== true && declared && !suppressing;
    // whoever asks for nothing but the changed object need not wait for the contract
    const ahead = first && (hard || soft) ? [...affected].filter((i) => i.alone && now.isLike(i.entity)) : [];
    const early = this.#first(now, ahead);
    if (early.found.length > 0 || early.crash !== undefined) return outcome(early);
    // where no rule asks for anything but its own entity, nobody sees what the build makes of the change
    const alone = declared && this.#asking.size === 0;
    const parsed = (hard || soft || !hasDocuments(file)) && file.kind !== "json" && !alone;
    if (parsed && this.#options.prepare !== undefined) await this.#options.prepare(now.contract);
    const reshaped = !alone && (hard || soft) && shapeOf(now.contract) !== this.#shape;
    const regrouped = regroups && programShape(now.contract) !== this.#programs;
    const all = hard || reshaped || regrouped;
    const disturbed = all && declared ? disturbedBy(this.contract, file, replaced, reshaped) : undefined;
    // the same entities as before: only those handlers run again that read the place, or asked for what is disturbed
    const steady = disturbed !== undefined && !reshaped && !regrouped && sameKinds(file, replaced);
    if (steady) {
      for (const query of disturbed) for (const i of this.#asking.get(query) ?? []) affected.add(i);
      // what an object is made of is read before any handler sees it
      for (const entity of entitiesThatDiffer(this.contract, file, replaced))
        for (const i of this.#of.get(entity) ?? []) affected.add(i);
    }
    const some = !all || steady;
    if (first && some) {
      const heard = this.#first(
        now,
        [...affected].filter((i) => !ahead.includes(i)),
      );
      if (heard.found.length > 0 || heard.crash !== undefined) return outcome(heard);
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
    if (first && some) return outcome(this.#first(now, woken));
    for (const i of woken) affected.add(i);
    const heard = this.#byRules(now, affected, some ? undefined : (disturbed ?? ALL), first);
    return outcome(heard, suppressing && heard.crash === undefined && (heard.found.length > 0 || heard.different));
  }

  /** Who reads what a change disturbs (`keys`; undefined: it may disturb all). */
  #touched(mutant: Mutant, file: InputFile, keys: readonly string[] | undefined): Touched {
    const hard = keys === undefined || keys.some((k) => this.#hard.has(k));
    const soft = keys?.some((k) => this.#soft.has(k)) === true;
    const affected = new Set<Invocation>();
    const covering = new Set<string>();
    for (const key of keys ?? []) {
      for (const invocation of this.#readers.get(key) ?? []) {
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
    return { hard, soft, affected, moved, coveredBy: [...covering].sort() };
  }

  /**
   * What rules say, each as a whole: the affected handlers of rules that have some, or – of a contract with other entities –
   * all handlers of all rules but those that asked for nothing that is `disturbed`.
   */
  #byRules(
    now: Changed,
    affected: ReadonlySet<Invocation>,
    disturbed: ReadonlySet<string> | undefined,
    first: boolean,
  ): Heard & { readonly different: boolean } {
    const found: Found[] = [];
    let different = false;
    const byRule = new Map<Rule, Invocation[]>();
    for (const invocation of affected) {
      push(byRule, invocation.rule, invocation);
    }
    // those that read the place are the likeliest to report
    const rules = disturbed === undefined ? byRule.keys() : new Set([...byRule.keys(), ...this.#rules]);
    for (const rule of rules) {
      const base = this.#base.get(rule)!;
      // findings that are folded into one are counted over the whole rule
      const own = disturbed !== undefined || !this.contract.declared ? undefined : byRule.get(rule)!;
      const same = (kind: EntityKind, index: number, entity: unknown): boolean => {
        if (disturbed === undefined || disturbed === ALL) return false;
        const before = this.#byEntity.get(rule)?.get(entityKey(kind, index, entity));
        return before !== undefined && !affected.has(before) && !meets(before.queries, disturbed);
      };
      const result = this.#run(now, rule, own, same);
      if (result.crash !== undefined) return { found: [], crash: result.crash, different };
      for (const f of result.found) if (!base.has(f.key)) found.push(f);
      if (first && found.length > 0) break;
      different ||= own === undefined ? result.found.length !== base.size : own.length > 0 && base.size > 0;
    }
    return { found, crash: undefined, different };
  }

  /** Runs handlers one after the other, until one reports what its rule did not report before. */
  #first(now: Changed, invocations: Invocation[]): Heard {
    for (const invocation of invocations.sort(byWeight)) {
      const { rule } = invocation;
      const base = this.#base.get(rule)!;
      const { found, crash } = this.#run(now, rule, [invocation]);
      const added = found.filter((f) => !base.has(f.key));
      if (crash !== undefined || added.length > 0) return { found: added, crash };
    }
    return NOTHING;
  }

  /** What a rule says of the changed contract, by all its handlers or by some. */
  #run(
    now: Changed,
    rule: Rule,
    only?: readonly Invocation[],
    same?: (kind: EntityKind, index: number, entity: unknown) => boolean,
  ): Heard {
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
function byWeight(a: Invocation, b: Invocation): number {
  return a.weight - b.weight;
}

function entityKey(kind: EntityKind, index: number, entity: unknown): unknown {
  return isLasting(entity) ? entity : `${kind} ${index}`;
}

function fileOf(at: Span | Place): string {
  if ("source" in at) return at.source.file;
  // the place of a node is found only when somebody reads it
  const { document } = at as { document?: YamlDocument };
  return document === undefined ? at.span.source.file : document.source.file;
}
