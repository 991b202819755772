/** Contract coverage: which rules looked at which files, and which had nothing to look at. */

import { severityOf } from "../../engine/lint.js";
import type { LintResult } from "../../engine/result.js";
import type { Rule } from "../../engine/rule.js";
import type { Contract, EntityKind } from "../../model/contract.js";
import { orderedInputs, pathOf, plural, type ReportContext } from "../shared.js";
import { esc, leftOut, table, th, thNumber } from "./html.js";

const MOST_FILES = 1000;

export interface RuleView {
  readonly rule: Rule;
  /** The highest severity that it may have here; "off": it does not run. */
  readonly severity: string;
  /** Entities per kind that it looked at. */
  readonly kinds: ReadonlyMap<EntityKind, number>;
  readonly files: ReadonlySet<string>;
}

/** What each rule was shown of a contract. */
export function rulesOf(contract: Contract, rules: readonly Rule[]): RuleView[] {
  const seen = new Map<EntityKind, { count: number; files: ReadonlySet<string> }>();
  const look = (kind: EntityKind) => {
    let known = seen.get(kind);
    if (known === undefined) {
      const entities: readonly unknown[] = contract.entities(kind);
      const files = new Set<string>();
      for (const entity of entities) {
        const file = fileOf(entity);
        if (file !== undefined) files.add(file);
      }
      seen.set(kind, (known = { count: entities.length, files }));
    }
    return known;
  };
  return rules.map((rule) => {
    const kinds = new Map<EntityKind, number>();
    const files = new Set<string>();
    for (const kind of Object.keys(rule.on) as EntityKind[]) {
      const { count, files: own } = look(kind);
      kinds.set(kind, count);
      for (const file of own) files.add(file);
    }
    return { rule, severity: severityIn(contract, rule), kinds, files };
  });
}

const RANK = ["off", "info", "warning", "error"];

function severityIn(contract: Contract, rule: Rule): string {
  const { severity } = contract.setting(rule.id);
  if (severity === "off") return "off";
  let highest = 0;
  for (const id of Object.keys(rule.messages)) {
    const own = severityOf(rule, id, contract.declared, severity, undefined);
    highest = Math.max(highest, RANK.indexOf(own));
  }
  return RANK[highest]!;
}

function fileOf(entity: unknown): string | undefined {
  const e = entity as {
    input?: { file: string };
    file?: unknown;
    workload?: { input: { file: string } };
    conf?: { input: { file: string } };
    acl?: { input: { file: string } };
  };
  const own = typeof e.file === "string" ? e.file : undefined;
  return e.input?.file ?? own ?? e.conf?.input?.file ?? e.acl?.input?.file ?? e.workload?.input?.file;
}

/** The rules of a contract: what each was shown. */
export function ruleTable(contract: Contract, views: readonly RuleView[], result: LintResult): string {
  const found = new Map<string, number>();
  for (const d of result.diagnostics) if (d.contract === contract.name) found.set(d.rule, (found.get(d.rule) ?? 0) + 1);
  const rows = views.map(({ rule, severity, kinds, files }) => {
    const blind = [...kinds.values()].every((n) => n === 0);
    const what = [...kinds]
      .map(([kind, n]) => (kind === "Contract" ? "the whole contract" : `${kind} ${n}`))
      .join(", ");
    const looked = severity === "off" ? "does not run" : blind ? `nothing to look at (${what})` : what;
    const count = found.get(rule.id) ?? 0;
    return `<tr${blind || severity === "off" ? ' class="blind"' : ""}><th scope="row"><code>${esc(rule.id)}</code></th><td>${severity}</td><td>${looked}</td><td class="num">${files.size === 0 ? "" : files.size}</td><td class="num">${count === 0 ? "" : count}</td></tr>`;
  });
  const head = [...["Rule", "Severity", "Looked at"].map((t) => th(t)), thNumber("Files"), thNumber("Findings")];
  return table(`What the rules looked at in ${contract.name}`, head, rows);
}

/** The files of a run: how each was read, and how many rules were shown something of it. */
export function fileTable(
  result: LintResult,
  views: ReadonlyMap<string, readonly RuleView[]>,
  context: ReportContext,
): string {
  const found = new Map<string, number>();
  for (const d of result.diagnostics) found.set(d.at.source.file, (found.get(d.at.source.file) ?? 0) + 1);
  const inputs = orderedInputs(result.inputs);
  const rows = inputs.slice(0, MOST_FILES).map((i) => {
    const rules = (i.contract === undefined ? undefined : views.get(i.contract)) ?? [];
    const looked = rules.filter((v) => v.severity !== "off" && v.files.has(i.file));
    const title = looked.map((v) => v.rule.id).join(", ");
    const cell =
      i.kind === "ignored"
        ? esc(i.reason ?? "")
        : `<span title="${esc(title)}">${plural(looked.length, "rule")}</span>`;
    const count = found.get(i.file) ?? 0;
    return `<tr><th scope="row"><code>${esc(pathOf(context, i.file))}</code></th><td>${esc(i.kind)}</td><td>${esc(i.contract ?? "")}</td><td>${cell}</td><td class="num">${count === 0 ? "" : count}</td></tr>`;
  });
  const head = [...["File", "Read as", "Contract", "Looked at by"].map((t) => th(t)), thNumber("Findings")];
  return table("The files of this run", head, rows) + leftOut(rows.length, inputs.length, "files");
}
