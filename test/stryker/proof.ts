/**
 * What kills a code mutant of a rule: the cases of all fixtures, since each says of every rule what it reports, and both
 * bases, where all are silent. The contracts of the cases are read once and kept, since a mutant of a rule changes no
 * contract; what a mutant reports is held against what the fixture says, never against what the rule reported before.
 */
import { fixtures } from "../../fixtures/index.js";
import { prepareParsers } from "../../src/cli/parsers.js";
import { check } from "../../src/contract/check.js";
import { load } from "../../src/contract/load.js";
import { memoryHost } from "../../src/contract/memory.js";
import { type Diagnostic, settle } from "../../src/engine/diagnostic.js";
import { lintContract } from "../../src/engine/lint.js";
import type { Rule } from "../../src/engine/rule.js";
import { SUPPRESSION_RULE } from "../../src/engine/suppression.js";
import type { Contract } from "../../src/model/contract.js";
import { applyFileEdits, editsOf, type KilledCase, type SilentCase } from "../../src/mutation/fixture.js";
import { compareFindings, GOOD, type Tree } from "../../src/mutation/prove.js";

const TODAY = "2026-11-29";

/** A case of a rule's fixture with an id of its own. */
export interface Case {
  readonly id: string;
  readonly rule: string;
  readonly case: KilledCase | SilentCase;
}

/** A case with its tree and, by root, its contracts. */
export interface LoadedCase extends Case {
  readonly tree: Tree;
  readonly roots: readonly (readonly Contract[])[];
}

/** Every case of every fixture, and the unchanged bases. */
export function allCases(): Case[] {
  const out: Case[] = [];
  const seen = new Map<string, number>();
  const add = (rule: string, name: string, c: KilledCase | SilentCase): void => {
    const id = `${rule}: ${name}`;
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    out.push({ id: count > 1 ? `${id} (${count})` : id, rule, case: c });
  };
  for (const base of ["redis-lab", "inferred"]) add("every rule", `the base ${base}`, { name: base, edit: [], base });
  for (const [rule, fixture] of fixtures) {
    for (const c of fixture.killed) add(rule, c.mutant, c);
    for (const c of fixture.silent) add(rule, c.name, c);
  }
  return out;
}

/**
 * Whether a case is asked about a rule. What the engine itself reports needs a whole run, so only its own cases are; and
 * what a comment suppresses is not seen here.
 */
export function concerns(c: Case, rule: Rule): boolean {
  const all = c.case.alone === undefined && c.rule !== SUPPRESSION_RULE && Object.keys(rule.on).length > 0;
  return c.rule === rule.id || all;
}

export async function loadCase(
  c: Case,
  ruleIds: readonly string[],
  base: (name: string) => Tree | undefined,
): Promise<LoadedCase> {
  const name = c.case.base ?? "redis-lab";
  const files = base(name);
  if (files === undefined) throw new Error(`there is no base "${name}"`);
  const tree = applyFileEdits(files, editsOf(c.case.edit));
  const loaded = load(memoryHost(tree), ["/tree"], { ruleIds, today: c.case.today ?? TODAY });
  const roots = loaded.roots.map((r) => r.contracts);
  for (const contract of roots.flat()) await prepareParsers(contract);
  return { id: c.id, rule: c.rule, case: c.case, tree, roots };
}

/** Loads a case anew and runs all rules over it: what a code mutant of the model is held against. */
export async function judgeWhole(
  c: Case,
  rules: readonly Rule[],
  base: (name: string) => Tree | undefined,
): Promise<string | undefined> {
  const files = base(c.case.base ?? "redis-lab");
  if (files === undefined) throw new Error(`there is no base "${c.case.base}"`);
  const tree = applyFileEdits(files, editsOf(c.case.edit));
  const options = { rules, today: c.case.today ?? TODAY, version: "0.0.0", prepare: prepareParsers };
  const run = await check(memoryHost(tree), ["/tree"], options);
  if (run.faults.length > 0) return `fault: ${run.faults[0]}`;
  if (run.result.crashes.length > 0) return `crashed: ${run.result.crashes[0]!.error.message}`;
  const { status, detail } = compareFindings(c.rule, c.case, run.result.diagnostics);
  return GOOD.has(status) ? undefined : `${status}: ${detail}`;
}

/** Runs one rule over a case. Undefined where it reports exactly what the fixture says of it, else what is wrong. */
export async function judge(rule: Rule, c: LoadedCase, rules: readonly Rule[]): Promise<string | undefined> {
  const found: Diagnostic[] = [];
  if (Object.keys(rule.on).length > 0) {
    for (const contracts of c.roots) {
      const own: Diagnostic[] = [];
      for (const contract of contracts) {
        const run = lintContract(contract, { rules: [rule] });
        if (run.crashes.length > 0) return `crashed: ${run.crashes[0]!.error.message}`;
        own.push(...run.diagnostics);
      }
      found.push(...settle(own));
    }
  } else {
    // the engine itself reports its messages
    const all = rules.map((r) => (r.id === rule.id ? rule : r));
    const today = c.case.today ?? TODAY;
    const options = { rules: all, today, version: "0.0.0", prepare: prepareParsers };
    const run = await check(memoryHost(c.tree), ["/tree"], options);
    found.push(...run.result.diagnostics);
  }
  const { status, detail } = compareFindings(c.rule, c.case, found, (id) => id === rule.id);
  return GOOD.has(status) ? undefined : `${status}: ${detail}`;
}
