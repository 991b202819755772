/** What a sweep says about a contract: which fields some rule guards, and which could change unseen. */

import { push } from "../model/multimap.js";
import { likeField, type MutantResult, type MutantStatus } from "./mutant.js";

export type Counts = Readonly<Record<MutantStatus, number>>;

export interface FileCoverage {
  readonly file: string;
  readonly counts: Counts;
  /** Per cent of the judged mutants that a rule reports; undefined where there are none. */
  readonly score: number | undefined;
}

export interface RuleCoverage {
  readonly rule: string;
  /** Mutants that it reports; those that it reports first, where only the first killer was asked for. */
  readonly kills: number;
  /** Mutants that nothing else reports, where all killers were asked for. */
  readonly alone: number;
  /** Mutants at places that it reads, and that nobody reports. */
  readonly missed: number;
}

/** Survivors at one kind of field. */
export interface Gap {
  readonly file: string;
  /** With the names of objects and items left out. */
  readonly field: string;
  readonly survivors: readonly MutantResult[];
  /** No rule reads the field. */
  readonly unread: boolean;
  /** The rule that could guard it: one that reads the field, else the one that guards its neighbours. */
  readonly nearest: string | undefined;
}

export interface Coverage {
  readonly counts: Counts;
  readonly score: number | undefined;
  readonly files: readonly FileCoverage[];
  readonly rules: readonly RuleCoverage[];
  readonly gaps: readonly Gap[];
}

const ZERO: Counts = {
  Killed: 0,
  Survived: 0,
  NoCoverage: 0,
  CompileError: 0,
  RuntimeError: 0,
  Ignored: 0,
  Pending: 0,
};

function count(results: readonly MutantResult[]): Counts {
  const counts: Record<MutantStatus, number> = Object.assign({}, ZERO);
  for (const r of results) counts[r.status]++;
  return counts;
}

/** Killed of killed and undetected, in per cent, as the mutation testing report computes it. */
export function scoreOf(counts: Counts): number | undefined {
  const valid = counts.Killed + counts.Survived + counts.NoCoverage;
  return valid === 0 ? undefined : (counts.Killed / valid) * 100;
}

/** Rules that kill by the form of a document, whatever the field: they are nobody's nearest guard. */
const FORM: ReadonlySet<string> = new Set(["yaml/duplicate-key", "yaml/syntax", "k8s/schema", "secret/tracked-value"]);

export function coverageOf(results: readonly MutantResult[], ruleIds: readonly string[]): Coverage {
  const counts = count(results);
  const byFile = new Map<string, MutantResult[]>();
  for (const r of results) push(byFile, r.mutant.source.file, r);
  const files = [...byFile].map(([file, own]) => {
    const ownCounts = count(own);
    return { file, counts: ownCounts, score: scoreOf(ownCounts) };
  });
  const rules = ruleIds.map((rule) => ({ rule, kills: 0, alone: 0, missed: 0 }));
  const byRule = new Map(rules.map((r) => [r.rule, r]));
  for (const r of results) {
    for (const id of r.killedBy) {
      const entry = byRule.get(id);
      if (entry === undefined) continue;
      entry.kills++;
      if (r.killedBy.length === 1) entry.alone++;
    }
    if (r.status === "Survived") {
      for (const id of r.coveredBy) {
        const entry = byRule.get(id);
        if (entry !== undefined) entry.missed++;
      }
    }
  }
  return { counts, score: scoreOf(counts), files, rules, gaps: gapsOf(byFile) };
}

function gapsOf(byFile: ReadonlyMap<string, readonly MutantResult[]>): Gap[] {
  const gaps: Gap[] = [];
  const breadth = new Map<string, number>();
  for (const results of byFile.values())
    for (const r of results) for (const id of r.coveredBy) breadth.set(id, (breadth.get(id) ?? 0) + 1);
  for (const [file, results] of byFile) {
    const groups = new Map<string, MutantResult[]>();
    for (const r of results)
      if (r.status === "Survived" || r.status === "NoCoverage") push(groups, likeField(r.mutant.field), r);
    for (const [field, survivors] of groups) {
      gaps.push({
        file,
        field,
        survivors,
        unread: survivors.every((r) => r.status === "NoCoverage"),
        nearest: nearest(field, survivors, results, breadth),
      });
    }
  }
  return gaps.sort(
    (a, b) => b.survivors.length - a.survivors.length || order(a.file, b.file) || order(a.field, b.field),
  );
}

/** The rule that reports other mutants of the field; else the most particular one that reads it; else its neighbours' guard. */
function nearest(
  field: string,
  survivors: readonly MutantResult[],
  all: readonly MutantResult[],
  breadth: ReadonlyMap<string, number>,
): string | undefined {
  let best: string[] = [];
  let length = 0;
  for (const r of all) {
    if (r.status !== "Killed") continue;
    const own = r.killedBy.filter((id) => !FORM.has(id));
    const like = likeField(r.mutant.field);
    const shared = like === field ? Number.POSITIVE_INFINITY : common(field, like);
    if (own.length === 0 || shared < length || shared === 0) continue;
    if (shared > length) best = [];
    length = shared;
    best.push(...own);
  }
  if (length === Number.POSITIVE_INFINITY) return most(best);
  const readers = [...new Set(survivors.flatMap((r) => r.coveredBy))].filter((id) => !FORM.has(id));
  readers.sort((a, b) => (breadth.get(a) ?? 0) - (breadth.get(b) ?? 0) || order(a, b));
  return readers[0] ?? most(best);
}

/** Steps of two field paths that are the same from the start. */
function common(a: string, b: string): number {
  const left = a.split(/[/ ]/);
  const right = b.split(/[/ ]/);
  let i = 0;
  while (i < left.length && i < right.length && left[i] === right[i]) i++;
  return i;
}

function most(ids: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const id of ids) if (!FORM.has(id)) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || order(a[0], b[0]))[0]?.[0];
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
