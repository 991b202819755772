/** What a rule says, with its place. */
import type { Edit, Span } from "../text/source.js";

export type Severity = "error" | "warning" | "info";
export const SEVERITIES: readonly Severity[] = ["info", "warning", "error"];

export function severityRank(severity: Severity): number {
  return SEVERITIES.indexOf(severity);
}

export interface Related {
  readonly at: Span;
  readonly message: string;
}

/** Edits that together repair one finding; `description` is an imperative sentence. */
export interface Fix {
  readonly description: string;
  readonly edits: readonly Edit[];
}

/** Why a finding does not count. */
export interface SuppressionRecord {
  readonly kind: "inline" | "contract" | "baseline";
  readonly reason: string;
}

/**
 * One finding. `rule` is `pack/rule`, `messageId` the id of its message in the rule, `at` a real place, `pointer` the JSON
 * Pointer of the node in YAML/JSON files. `help` is one line that says what would be right.
 */
export interface Diagnostic {
  readonly rule: string;
  readonly messageId: string;
  readonly severity: Severity;
  readonly message: string;
  readonly help: string | undefined;
  readonly contract: string;
  readonly at: Span;
  readonly pointer: string | undefined;
  readonly related: readonly Related[];
  readonly fix: Fix | undefined;
  readonly suppressed?: SuppressionRecord | undefined;
}

/** Deterministic order: file, position, rule, message. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return (
    compareText(a.at.source.file, b.at.source.file) ||
    a.at.start - b.at.start ||
    a.at.end - b.at.end ||
    compareText(a.rule, b.rule) ||
    compareText(a.messageId, b.messageId) ||
    compareText(a.message, b.message) ||
    compareText(a.contract, b.contract)
  );
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sorted, with identical findings (same rule, place and message) kept once. */
export function settle(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const sorted = [...diagnostics].sort(compareDiagnostics);
  return sorted.filter((d, i) => {
    const before = sorted[i - 1];
    return before === undefined || compareDiagnostics(before, d) !== 0;
  });
}
