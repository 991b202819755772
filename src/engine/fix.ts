/** Fixes: which of them go together, and the rounds of edit and re-lint until nothing more can be repaired. */
import { unifiedDiff } from "../text/diff.js";
import { applyEdits, type Edit } from "../text/source.js";
import { compareDiagnostics, compareText, type Diagnostic } from "./diagnostic.js";

/** Rounds after which fixes that still find work are taken to chase each other. */
export const MAX_ROUNDS = 10;

export interface FixPlan {
  readonly edits: readonly Edit[];
  readonly applied: readonly Diagnostic[];
  /** Findings whose fix collides with one that was taken, or is itself not well-formed. */
  readonly skipped: readonly Diagnostic[];
}

export interface FixRun {
  /** Changed files: their text before and after. */
  readonly files: ReadonlyMap<string, { readonly before: string; readonly after: string }>;
  /** How many findings were repaired by an edit. */
  readonly fixed: number;
  readonly rounds: number;
  /** Findings of the repaired state. */
  readonly diagnostics: readonly Diagnostic[];
  /** Files whose fixes were taken back because they broke the file's syntax. */
  readonly reverted: readonly string[];
  /** Files with fixes that must not be changed. */
  readonly refused: readonly string[];
  /** false: fixes were still found after the last round. */
  readonly converged: boolean;
}

/**
 * Chooses fixes that do not overlap, in the order of the findings: a fix is taken whole or not at all, an edit that two
 * fixes share is made once. Inserted line breaks take the form that the file uses.
 */
export function planFixes(diagnostics: readonly Diagnostic[]): FixPlan {
  const taken = new Map<string, Edit[]>();
  const applied: Diagnostic[] = [];
  const skipped: Diagnostic[] = [];
  for (const d of [...diagnostics].sort(compareDiagnostics)) {
    if (d.fix === undefined || d.fix.edits.length === 0) continue;
    const edits = d.fix.edits.map(withLineBreaks).filter((e) => e.span.source.slice(e.span) !== e.newText);
    if (edits.length === 0 || !wellFormed(edits) || !edits.every((e) => fits(taken.get(e.span.source.file), e))) {
      skipped.push(d);
      continue;
    }
    for (const e of edits) add(taken, e);
    applied.push(d);
  }
  const edits: Edit[] = [];
  for (const file of [...taken.keys()].sort(compareText)) edits.push(...taken.get(file)!);
  return { edits, applied, skipped };
}

function withLineBreaks(edit: Edit): Edit {
  const { span, newText } = edit;
  if (!newText.includes("\n")) return edit;
  const first = span.source.text.indexOf("\n");
  if (first < 1 || span.source.text.charCodeAt(first - 1) !== 13) return edit;
  return { span, newText: newText.replace(/\r?\n/g, "\r\n") };
}

function wellFormed(edits: readonly Edit[]): boolean {
  return edits.every(
    (e, i) =>
      e.span.start >= 0 &&
      e.span.start <= e.span.end &&
      e.span.end <= e.span.source.text.length &&
      edits.every((o, j) => j <= i || o.span.source.file !== e.span.source.file || !collide(e, o)),
  );
}

/** Overlap; an insertion also collides with what it touches, because their order would be a guess. */
function collide(a: Edit, b: Edit): boolean {
  const [s, t] = [a.span, b.span];
  if (s.start === s.end || t.start === t.end) return s.start <= t.end && t.start <= s.end;
  return s.start < t.end && t.start < s.end;
}

function same(a: Edit, b: Edit): boolean {
  return a.span.start === b.span.start && a.span.end === b.span.end && a.newText === b.newText;
}

/** Index of the first taken edit that starts at or behind `start`. */
function firstFrom(edits: readonly Edit[], start: number): number {
  let low = 0;
  let high = edits.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edits[middle]!.span.start < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

function fits(taken: readonly Edit[] | undefined, edit: Edit): boolean {
  if (taken === undefined) return true;
  // taken edits do not overlap, so only the one before and those that start inside can collide
  for (let i = Math.max(0, firstFrom(taken, edit.span.start) - 1); i < taken.length; i++) {
    const other = taken[i]!;
    if (other.span.start > edit.span.end) break;
    if (collide(other, edit) && !same(other, edit)) return false;
  }
  return true;
}

function add(taken: Map<string, Edit[]>, edit: Edit): void {
  const { file } = edit.span.source;
  const edits = taken.get(file);
  if (edits === undefined) taken.set(file, [edit]);
  else {
    const at = firstFrom(edits, edit.span.start);
    if (edits[at] !== undefined && same(edits[at], edit)) return;
    edits.splice(at, 0, edit);
  }
}

/**
 * Repairs until no fix is left: edits, re-lints, at most `MAX_ROUNDS` times. `relint` gets the new texts of all files
 * changed so far and gives the findings of that state. A file whose edits bring a new syntax error gets its text back. `may`:
 * whether a file may be changed at all.
 */
export async function applyFixes(
  diagnostics: readonly Diagnostic[],
  relint: (changed: ReadonlyMap<string, string>) => readonly Diagnostic[] | Promise<readonly Diagnostic[]>,
  may: (file: string) => boolean = () => true,
): Promise<FixRun> {
  const before = new Map<string, string>();
  const now = new Map<string, string>();
  const blocked = new Set<string>();
  let current = diagnostics;
  let fixed = 0;
  let rounds = 0;
  const refused = new Set<string>();
  const plannedOf = (found: readonly Diagnostic[]): FixPlan => {
    for (const { fix } of found)
      for (const { span } of fix?.edits ?? []) if (!may(span.source.file)) refused.add(span.source.file);
    return planOf(found, new Set([...blocked, ...refused]));
  };
  let plan = plannedOf(current);
  while (plan.edits.length > 0 && rounds < MAX_ROUNDS) {
    rounds++;
    const previous = new Map<string, string>();
    for (const { span } of plan.edits) {
      const { file, text } = span.source;
      if (previous.has(file)) continue;
      previous.set(file, text);
      if (!before.has(file)) before.set(file, text);
      now.set(file, applyEdits(span.source, plan.edits));
    }
    const faults = syntaxFaults(current);
    let next = await relint(now);
    let kept = plan.applied.length;
    const broken = [...syntaxFaults(next)].filter(([file, n]) => previous.has(file) && n > (faults.get(file) ?? 0));
    if (broken.length > 0) {
      const lost = together(
        plan.applied,
        broken.map(([file]) => file),
      );
      for (const file of lost) {
        now.set(file, previous.get(file)!);
        blocked.add(file);
      }
      kept = plan.applied.filter((d) => !touches(d, lost)).length;
      next = await relint(now);
    }
    fixed += kept;
    current = next;
    plan = plannedOf(current);
  }
  const files = new Map<string, { before: string; after: string }>();
  for (const file of [...now.keys()].sort(compareText)) {
    const change = { before: before.get(file)!, after: now.get(file)! };
    if (change.before !== change.after) files.set(file, change);
  }
  const reverted = [...blocked].sort(compareText);
  return {
    files,
    fixed,
    rounds,
    diagnostics: current,
    reverted,
    refused: [...refused].sort(compareText),
    converged: plan.edits.length === 0,
  };
}

function touches(d: Diagnostic, files: ReadonlySet<string>): boolean {
  return (d.fix?.edits ?? []).some((e) => files.has(e.span.source.file));
}

/** The given files and all that fixes change together with them: a fix is taken back whole. */
function together(applied: readonly Diagnostic[], files: readonly string[]): Set<string> {
  const out = new Set(files);
  for (let size = -1; size !== out.size; ) {
    size = out.size;
    for (const d of applied) if (touches(d, out)) for (const e of d.fix!.edits) out.add(e.span.source.file);
  }
  return out;
}

function planOf(diagnostics: readonly Diagnostic[], blocked: ReadonlySet<string>): FixPlan {
  return planFixes(blocked.size === 0 ? diagnostics : diagnostics.filter((d) => !touches(d, blocked)));
}

function syntaxFaults(diagnostics: readonly Diagnostic[]): Map<string, number> {
  const out = new Map<string, number>();
  for (const d of diagnostics) {
    if (!d.rule.endsWith("/syntax")) continue;
    const { file } = d.at.source;
    out.set(file, (out.get(file) ?? 0) + 1);
  }
  return out;
}

/** The unified diffs of all changed files, for `--fix-dry-run`. */
export function fixDiff(run: FixRun, pathOf: (file: string) => string = (file) => file): string {
  let out = "";
  for (const [file, { before, after }] of run.files) {
    out += unifiedDiff(before, after, { from: `a/${pathOf(file)}`, to: `b/${pathOf(file)}` });
  }
  return out;
}
