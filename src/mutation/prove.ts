/** Proves rules by their named mutants: each must cause exactly the findings that its fixture expects. */
import type { Diagnostic } from "../engine/diagnostic.js";
import type { RuleCrash } from "../engine/lint.js";
import type { Rule } from "../engine/rule.js";
import {
  applyFileEdits,
  EditError,
  type Expected,
  editsOf,
  type KilledCase,
  type RuleFixture,
  type SilentCase,
} from "./fixture.js";

export type Tree = ReadonlyMap<string, Uint8Array>;

/** Lints a tree; given by the surface, because loading is not this layer's work. */
export type LintTree = (tree: Tree, today: string | undefined) => Promise<TreeResult> | TreeResult;

export interface TreeResult {
  readonly diagnostics: readonly Diagnostic[];
  readonly faults: readonly string[];
  readonly crashes: readonly RuleCrash[];
}

/**
 * `Killed`: exactly the expected findings. `Survived`: the primary finding is missing. `Surplus`: more findings than
 * expected. `WrongPlace`: the message came elsewhere; `WrongText`: with another text, related place or fix. `Missing`: an `also` finding is missing. `Invalid`: the edit does not
 * apply, or the tree cannot be loaded. `Silent`: a boundary case without findings; `Noisy`: one with.
 */
export type ProofStatus =
  | "Killed"
  | "Survived"
  | "Surplus"
  | "WrongPlace"
  | "WrongText"
  | "Missing"
  | "Invalid"
  | "Silent"
  | "Noisy";

export interface ProofResult {
  readonly rule: string;
  readonly name: string;
  readonly kind: "mutant" | "boundary";
  readonly status: ProofStatus;
  readonly message: string | undefined;
  /** Rules that reported. */
  readonly killedBy: readonly string[];
  readonly at: { readonly file: string; readonly line: number; readonly column: number } | undefined;
  /** One line for people where the status is bad. */
  readonly detail: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

export const GOOD: ReadonlySet<ProofStatus> = new Set(["Killed", "Silent"]);

export interface ProveOptions {
  readonly rules: readonly Rule[];
  readonly fixtures: ReadonlyMap<string, RuleFixture>;
  /** The tree of a base by name; undefined where it is not there. */
  readonly base: (name: string) => Tree | undefined;
  readonly lint: LintTree;
  readonly selected?: ((rule: string) => boolean) | undefined;
}

export interface Proof {
  readonly results: readonly ProofResult[];
  /** Findings of the unchanged bases: must be empty, or nothing that follows proves anything. */
  readonly dirty: readonly {
    readonly base: string;
    readonly diagnostics: readonly Diagnostic[];
    readonly faults: readonly string[];
  }[];
  /** Messages that are primary in no mutant. */
  readonly unproven: readonly { readonly rule: string; readonly message: string }[];
  /** Rules without a boundary case. */
  readonly unbounded: readonly string[];
}

export async function prove(options: ProveOptions): Promise<Proof> {
  const results: ProofResult[] = [];
  const dirty: Proof["dirty"][number][] = [];
  const bases = new Map<string, Tree | undefined>();
  const baseOf = async (name: string): Promise<Tree | undefined> => {
    if (bases.has(name)) return bases.get(name);
    const tree = options.base(name);
    bases.set(name, tree);
    if (tree !== undefined) {
      const clean = await options.lint(tree, undefined);
      if (clean.diagnostics.length > 0 || clean.faults.length > 0)
        dirty.push({ base: name, diagnostics: clean.diagnostics, faults: clean.faults });
    }
    return tree;
  };
  await baseOf("redis-lab");
  const unproven: Proof["unproven"][number][] = [];
  const unbounded: string[] = [];
  for (const rule of options.rules) {
    if (options.selected !== undefined && !options.selected(rule.id)) continue;
    if (Object.keys(rule.on).length === 0 && !options.fixtures.has(rule.id)) continue;
    const fixture = options.fixtures.get(rule.id) ?? { killed: [], silent: [] };
    const primary = new Set(fixture.killed.map((k) => k.by));
    for (const id of Object.keys(rule.messages)) if (!primary.has(id)) unproven.push({ rule: rule.id, message: id });
    if (fixture.silent.length === 0) unbounded.push(rule.id);
    for (const c of fixture.killed)
      results.push(await judge(rule, c, await baseOf(c.base ?? "redis-lab"), options.lint));
    for (const c of fixture.silent)
      results.push(await judge(rule, c, await baseOf(c.base ?? "redis-lab"), options.lint));
  }
  return { results, dirty, unproven, unbounded };
}

async function judge(
  rule: Rule,
  c: KilledCase | SilentCase,
  base: Tree | undefined,
  lint: LintTree,
): Promise<ProofResult> {
  const mutant = "mutant" in c ? c : undefined;
  const name = "mutant" in c ? c.mutant : c.name;
  const result = (
    status: ProofStatus,
    detail: string | undefined,
    diagnostics: readonly Diagnostic[] = [],
    at?: Diagnostic,
  ): ProofResult => ({
    rule: rule.id,
    name,
    kind: mutant === undefined ? "boundary" : "mutant",
    status,
    message: mutant?.by,
    killedBy: [...new Set(diagnostics.map((d) => d.rule))].sort(),
    at: at === undefined ? undefined : { file: at.at.source.file, ...at.at.source.position(at.at.start) },
    detail,
    diagnostics,
  });
  if (base === undefined) return result("Invalid", `there is no base "${c.base ?? "redis-lab"}"`);
  const edits = editsOf(c.edit);
  let tree: Tree;
  try {
    tree = applyFileEdits(base, edits);
  } catch (error) {
    if (error instanceof EditError) return result("Invalid", error.message);
    throw error;
  }
  const { diagnostics, faults, crashes } = await lint(tree, c.today);
  if (faults.length > 0) return result("Invalid", faults[0], diagnostics);
  if (crashes.length > 0)
    return result("Invalid", `${crashes[0]!.rule} crashed: ${crashes[0]!.error.stack}`, diagnostics);

  const { status, detail, primary } = compareFindings(rule.id, c, diagnostics);
  return result(status, detail, diagnostics, primary);
}

/**
 * What a case says of findings: exactly those that it expects, each at its place. `only`: of these rules. A case that is
 * `alone` says nothing of other rules than its own.
 */
export function compareFindings(
  rule: string,
  c: KilledCase | SilentCase,
  diagnostics: readonly Diagnostic[],
  only?: (rule: string) => boolean,
): { readonly status: ProofStatus; readonly detail: string | undefined; readonly primary: Diagnostic | undefined } {
  const file = editsOf(c.edit)[0]?.file ?? "";
  const mutant = "mutant" in c ? c : undefined;
  const wanted: Expected[] = [...(c.also ?? [])];
  if (mutant !== undefined) wanted.unshift(Object.assign({}, mutant, { message: mutant.by }));
  const left = diagnostics.filter((d) => (only?.(d.rule) ?? true) && (c.alone === undefined || d.rule === rule));
  let problem: { status: ProofStatus; detail: string } | undefined;
  let primary: Diagnostic | undefined;
  wanted.forEach((e, i) => {
    const id = e.rule ?? rule;
    if (only?.(id) === false) return;
    const where = e.file ?? file;
    const fits = (d: Diagnostic): boolean =>
      d.rule === id && d.messageId === e.message && (e.severity === undefined || d.severity === e.severity);
    const found = left.findIndex((d) => fits(d) && d.at.source.file === where && textAt(d).startsWith(e.at));
    if (found >= 0) {
      const d = left[found]!;
      if (i === 0 && mutant !== undefined) primary = d;
      left.splice(found, 1);
      const other = otherThan(e, d);
      if (other !== undefined) problem ??= { status: "WrongText", detail: `${id} (${e.message}) ${other}` };
      return;
    }
    const elsewhere = left.findIndex(fits);
    if (elsewhere >= 0) {
      const d = left[elsewhere]!;
      left.splice(elsewhere, 1);
      problem ??= {
        status: "WrongPlace",
        detail: `${id} (${e.message}) is at ${show(d)}, not at ${where} "${e.at}"`,
      };
    } else if (i === 0 && mutant !== undefined)
      problem = {
        status: "Survived",
        detail: `nothing reported ${id} (${e.message})${left.length > 0 ? `; reported were ${left.map(show).join(", ")}` : ""}`,
      };
    else problem ??= { status: "Missing", detail: `${id} (${e.message}) did not report` };
  });
  if (problem !== undefined) return { ...problem, primary };
  if (left.length > 0)
    return { status: mutant === undefined ? "Noisy" : "Surplus", detail: left.map(show).join("; "), primary };
  return { status: mutant === undefined ? "Silent" : "Killed", detail: undefined, primary };
}

/** What of a finding at the right place is not as expected. */
function otherThan(e: Expected, d: Diagnostic): string | undefined {
  if (e.says !== undefined && !d.message.includes(e.says)) return `says "${d.message}", not "${e.says}"`;
  if (e.related !== undefined) {
    const texts = d.related.map((r) => r.at.source.slice(r.at));
    const { related } = e;
    if (texts.length !== related.length || !related.every((text, i) => texts[i]!.startsWith(text)))
      return `relates to ${JSON.stringify(texts)}, not to ${JSON.stringify(related)}`;
  }
  const fixed = lineFixed(d);
  return e.fix === undefined || e.fix === fixed ? undefined : `leaves ${JSON.stringify(fixed)}, not "${e.fix}"`;
}

/** The line of a fix's first edit, once that is made. */
function lineFixed(d: Diagnostic): string | false {
  const [first] = d.fix?.edits ?? [];
  if (first === undefined) return false;
  const { source, start, end } = first.span;
  const { text } = source;
  const tail = text.slice(end).split("\n", 1)[0];
  return (text.slice(text.lastIndexOf("\n", start - 1) + 1, start) + first.newText + tail).trimStart();
}

/** The text that a finding's span covers. */
export function textAt(d: Diagnostic): string {
  return d.at.source.slice(d.at);
}

function show(d: Diagnostic): string {
  const { line, column } = d.at.source.position(d.at.start);
  const text = textAt(d);
  return `${d.rule} (${d.messageId}, ${d.severity}) at ${d.at.source.file}:${line}:${column} "${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`;
}
