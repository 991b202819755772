/**
 * The sweep: every mutant of a contract judged by the rules. A mutant is killed when a rule reports, at warning or above,
 * what it did not report before.
 *
 * Judged without starting over: values are changed copy-on-write, texts parse one document again, and only those handlers
 * run again that read the changed place (recorded once on the unchanged contract). Where that cannot be known, because the
 * change touches what the model itself is built from, all rules run; where grouping or suppressions are concerned, the
 * files are linted from their text.
 */
import { type Diagnostic, severityRank } from "../engine/diagnostic.js";
import type { RuleCrash } from "../engine/lint.js";
import type { Rule } from "../engine/rule.js";
import type { Contract } from "../model/contract.js";
import type { InputFile } from "../model/input.js";
import { changeFile } from "./changed.js";
import { Engine, type Found, foundOf } from "./engine.js";
import { type Equivalent, Equivalents } from "./equivalent.js";
import { type Mutant, type MutantResult, type MutantStatus, mutantsOf, mutatedText } from "./mutant.js";
import { mutationsOf } from "./mutators/index.js";

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
