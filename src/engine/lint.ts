/** The pure core: contracts and rules in, findings out. No process, console, clock or file. */
import type { Contract, EntityKind } from "../model/contract.js";
import type { Place } from "../model/place.js";
import type { Span } from "../text/source.js";
import { type Diagnostic, type Related, type Severity, settle } from "./diagnostic.js";
import { fill, messageSpec, type ReportExtra, type Rule, type RuleContext } from "./rule.js";

/** A rule that threw: our bug, exit 3. The other rules' findings stand. */
export interface RuleCrash {
  readonly rule: string;
  readonly file: string;
  readonly contract: string;
  readonly error: Error;
}

export interface LintRun {
  readonly diagnostics: readonly Diagnostic[];
  readonly crashes: readonly RuleCrash[];
}

/** How a contract file sets a rule. */
export interface RuleSetting {
  readonly severity: Severity | "off" | undefined;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface LintOptions {
  readonly rules: readonly Rule[];
  /** Whether a rule runs (from `--rule`, `--skip`). */
  readonly selected?: ((id: string) => boolean) | undefined;
}

function spanOf(at: Span | Place): { span: Span; pointer: string | undefined } {
  if ("span" in at) return { span: at.span, pointer: at.pointer };
  return { span: at, pointer: undefined };
}

interface Pending {
  readonly rule: Rule;
  readonly id: string;
  readonly data: Readonly<Record<string, string | number>> | undefined;
  readonly at: Span | Place;
  readonly extra: ReportExtra | undefined;
  readonly severity: Severity;
  readonly once: boolean;
}

/** Of one message only so many findings are shown, the last one with the number of the others. */
const MOST_OF_A_KIND = 1000;

/** Runs every selected rule over one contract. */
export function lintContract(contract: Contract, options: LintOptions): LintRun {
  const pending: Pending[] = [];
  const crashes: RuleCrash[] = [];
  for (const rule of options.rules) {
    if (options.selected !== undefined && !options.selected(rule.id)) continue;
    const setting = contract.setting(rule.id);
    const override = setting.severity;
    if (override === "off") continue;
    const context: RuleContext<Record<string, string>> = {
      contract,
      options: setting.options,
      report: (id: string, data: unknown, at: Span | Place, extra?: ReportExtra) => {
        const spec = messageSpec(rule, id);
        const severity = severityOf(rule, id, contract.declared, override, extra?.severity);
        if (severity === "off") return;
        pending.push({
          rule,
          id,
          data: data as Pending["data"],
          at,
          extra,
          severity,
          once: spec.once === true && !contract.declared,
        });
      },
    };
    for (const kind of Object.keys(rule.on) as EntityKind[]) {
      const handler = rule.on[kind] as unknown as (entity: unknown, context: unknown) => void;
      for (const entity of contract.entities(kind)) {
        try {
          handler(entity, context);
        } catch (cause) {
          const error = cause instanceof Error ? cause : new Error(String(cause));
          crashes.push({ rule: rule.id, file: contract.fileOf(entity), contract: contract.name, error });
        }
      }
    }
  }
  return { diagnostics: bounded(settle(resolve(pending, contract, crashes))), crashes };
}

/** Takes out what is beyond the bound of its message, and says so. */
function bounded(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  if (diagnostics.length <= MOST_OF_A_KIND) return diagnostics;
  const counts = new Map<string, number>();
  const kindOf = (d: Diagnostic): string => `${d.rule}\n${d.messageId}`;
  for (const d of diagnostics) counts.set(kindOf(d), (counts.get(kindOf(d)) ?? 0) + 1);
  const seen = new Map<string, number>();
  const out: Diagnostic[] = [];
  for (const d of diagnostics) {
    const kind = kindOf(d);
    const number = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, number);
    const hidden = counts.get(kind)! - MOST_OF_A_KIND;
    if (number > MOST_OF_A_KIND) continue;
    const last = number === MOST_OF_A_KIND && hidden > 0;
    out.push(last ? Object.assign({}, d, { message: `${d.message} (and ${hidden} more of this kind)` }) : d);
  }
  return out;
}

/** The severity of a message in a contract; "off": it is not said there. */
export function severityOf(
  rule: Rule,
  id: string,
  declared: boolean,
  override: Severity | undefined,
  own: Severity | undefined,
): Severity | "off" {
  const spec = messageSpec(rule, id);
  const normal = declared
    ? (own ?? spec.severity ?? rule.severity)
    : spec.inferred === "off"
      ? "off"
      : (own ?? spec.inferred ?? inferredSeverity(rule, spec.severity));
  // what a rule cannot know is never raised to a failure by a setting
  if (override === undefined || normal === "info" || normal === "off") return normal;
  return override;
}

function inferredSeverity(rule: Rule, message: Severity | undefined): Severity | "off" {
  if (rule.inferred !== undefined) return rule.inferred;
  const declared = message ?? rule.severity;
  return declared === "error" ? "warning" : declared;
}

/** What the one finding of a `once` message says of its further places. */
export function morePlaces(count: number): string {
  return count > 0 ? ` (and at ${count} more place${count === 1 ? "" : "s"} of this set)` : "";
}

/** Makes places and texts, and folds the `once` messages of an inferred contract into their first place. */
function resolve(pending: readonly Pending[], contract: Contract, crashes: RuleCrash[]): Diagnostic[] {
  const out: Diagnostic[] = [];
  const groups = new Map<string, Pending[]>();
  for (const report of pending) {
    if (!report.once) {
      add(report, []);
      continue;
    }
    const key = `${report.rule.id}\n${report.id}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [report]);
    else group.push(report);
  }
  for (const group of groups.values()) add(group[0]!, group.slice(1));
  return out;

  function add(report: Pending, others: readonly Pending[]): void {
    try {
      const { rule, id, data, extra, severity } = report;
      const spec = messageSpec(rule, id);
      const { span, pointer } = spanOf(report.at);
      const related: Related[] = [];
      for (const r of extra?.related ?? []) related.push({ at: spanOf(r.at).span, message: r.message });
      for (const other of others.slice(0, 20)) {
        related.push({ at: spanOf(other.at).span, message: fill(spec.text, other.data) });
      }
      const more = morePlaces(others.length);
      out.push({
        rule: rule.id,
        messageId: id,
        severity,
        message: fill(spec.text, data) + more,
        help: spec.help === undefined ? undefined : fill(spec.help, data),
        contract: contract.name,
        at: span,
        pointer,
        related,
        fix: extra?.fix,
      });
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      crashes.push({ rule: report.rule.id, file: contract.name, contract: contract.name, error });
    }
  }
}
