/**
 * What kills a code mutant of a rule: the cases of its fixture, and both bases, where it must be silent. The contracts of one
 * rule's cases are read once and kept, since a mutant of a rule changes no contract; what a mutant reports is held against
 * what the fixture says, never against what the rule reported before.
 */
import { fixtures } from "../../fixtures/index.js";
import { prepareParsers } from "../../src/cli/parsers.js";
import { check } from "../../src/contract/check.js";
import { load } from "../../src/contract/load.js";
import { memoryHost } from "../../src/contract/memory.js";
import { type Diagnostic, settle } from "../../src/engine/diagnostic.js";
import { lintContract } from "../../src/engine/lint.js";
import type { Rule } from "../../src/engine/rule.js";
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

/** The cases of a rule: its mutants, its boundary cases, and the unchanged bases. */
export function casesOf(rule: string): Case[] {
  const fixture = fixtures.get(rule);
  const out: Case[] = [];
  const seen = new Map<string, number>();
  const add = (name: string, c: KilledCase | SilentCase): void => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    out.push({ id: `${rule}: ${name}${count > 1 ? ` (${count})` : ""}`, rule, case: c });
  };
  for (const c of fixture?.killed ?? []) add(c.mutant, c);
  for (const c of fixture?.silent ?? []) add(c.name, c);
  for (const base of ["redis-lab", "inferred"]) add(`the base ${base}`, { name: base, edit: [], base });
  return out;
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
  const { status, detail } = compareFindings(rule.id, c.case, found, (id) => id === rule.id);
  return GOOD.has(status) ? undefined : `${status}: ${detail}`;
}
