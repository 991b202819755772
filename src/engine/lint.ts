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
  /** Of the last one of its kind that is shown: how many more there are. */
  readonly tally: Tally | undefined;
}

/** How often a message was said. */
interface Tally {
  shown: number;
  more: number;
}

/** Of one message only so many findings are shown, the last one with the number of the others. */
const MOST_OF_A_KIND = 1000;

/** Runs every selected rule over one contract. */
export function lintContract(contract: Contract, options: LintOptions): LintRun {
  const pending: Pending[] = [];
  const crashes: RuleCrash[] = [];
  const tallies = new Map<string, Tally>();
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
        const once = spec.once === true && !contract.declared;
        const key = `${rule.id}\n${id}`;
        let tally = tallies.get(key);
        if (tally === undefined) tallies.set(key, (tally = { shown: 0, more: 0 }));
        if (!once && tally.shown++ >= MOST_OF_A_KIND) {
          tally.more++;
          return;
        }
        pending.push({
          rule,
          id,
          data: data as Pending["data"],
          at,
          extra,
          severity,
          once,
          tally: tally.shown === MOST_OF_A_KIND ? tally : undefined,
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
  return { diagnostics: settle(resolve(pending, contract, crashes)), crashes };
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
      const hidden = report.tally?.more ?? 0;
      const more = morePlaces(others.length) + (hidden > 0 ? ` (and ${hidden} more of this kind)` : "");
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
