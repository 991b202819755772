/**
 * The baseline: findings that a team knows and has not repaired yet, counted by fingerprint. It hides them up to their
 * count and only shrinks: a first write records all findings, every later one takes away what is gone.
 */
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Source, Span } from "../text/source.js";
import { compareDiagnostics, compareText, type Diagnostic } from "./diagnostic.js";
import { fingerprintOf } from "./fingerprint.js";

/** `count` findings with one fingerprint; rule, file and message are for the reader and are those of the first. */
export interface BaselineEntry {
  readonly fingerprint: string;
  readonly count: number;
  readonly rule: string;
  readonly contract: string;
  readonly file: string;
  readonly message: string;
}

export interface Baseline {
  readonly entries: readonly BaselineEntry[];
}

/** A baseline file that cannot be read: the user's mistake, with its place. */
export class BaselineError extends Error {
  readonly at: Span;

  constructor(message: string, at: Span) {
    super(message);
    this.name = "BaselineError";
    this.at = at;
  }
}

export interface BaselineResult {
  readonly active: readonly Diagnostic[];
  /** Hidden findings, each with `.suppressed`. */
  readonly baselined: readonly Diagnostic[];
  /** Entries that no finding needs any more, each with the count that is too much. */
  readonly stale: readonly BaselineEntry[];
}

const VERSION = 1;

/** Reads a baseline file; throws a BaselineError for one that is not of this form. */
export function parseBaseline(source: Source): Baseline {
  const errors: ParseError[] = [];
  const text = source.text.charCodeAt(0) === 0xfeff ? ` ${source.text.slice(1)}` : source.text;
  const deep = tooDeep(text);
  if (deep !== undefined) throw new BaselineError("the baseline nests too deeply", source.span(deep, deep + 1));
  const root = parseTree(text, errors, { disallowComments: true });
  const error = errors[0];
  if (root === undefined || error !== undefined) {
    const from = error?.offset ?? 0;
    const why = error === undefined ? "it is empty" : printParseErrorCode(error.error);
    throw new BaselineError(`the baseline is not JSON: ${why}`, source.span(from, from + (error?.length ?? 0)));
  }
  const fail = (node: Node, message: string): never => {
    throw new BaselineError(message, source.span(node.offset, node.offset + node.length));
  };
  const member = (node: Node, name: string): Node | undefined =>
    node.children?.find((p) => p.children?.[0]?.value === name)?.children?.[1];
  if (root.type !== "object") fail(root, "the baseline is not a JSON object");
  const version = member(root, "version");
  if (version === undefined || version.value !== VERSION) {
    fail(version ?? root, `the baseline has no version that this release reads (it reads ${VERSION})`);
  }
  const findings = member(root, "findings");
  if (findings?.type !== "array") return fail(findings ?? root, "the baseline has no list of findings");
  const entries = new Map<string, BaselineEntry>();
  for (const item of findings.children ?? []) {
    if (item.type !== "object") fail(item, "an entry of the baseline is an object");
    const value = getNodeValue(item) as Record<string, unknown>;
    const word = (key: string): string => {
      const v = value[key];
      return typeof v === "string" ? v : fail(member(item, key) ?? item, `an entry needs "${key}", a text`);
    };
    const fingerprint = word("fingerprint");
    const count = value["count"] ?? 1;
    if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 1) {
      fail(member(item, "count") ?? item, '"count" is a whole number from 1 on');
    }
    const entry: BaselineEntry = {
      fingerprint,
      // a merge of two branches may leave an entry twice
      count: Math.max(count as number, entries.get(fingerprint)?.count ?? 0),
      rule: word("rule"),
      contract: word("contract"),
      file: word("file"),
      message: word("message"),
    };
    entries.set(fingerprint, entry);
  }
  return { entries: [...entries.values()] };
}

/** The offset of a bracket deeper than any baseline nests; the parser is recursive. */
function tooDeep(text: string): number | undefined {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (inString) {
      if (c === "\\") i++;
      else if (c === '"' || c === "\n") inString = false;
    } else if (c === '"') inString = true;
    else if (c === "{" || c === "[") {
      if (++depth > 20) return i;
    } else if (c === "}" || c === "]") depth--;
  }
  return undefined;
}

/** The file's text: sorted by file, rule, message, so that a change of it is readable in review. */
export function printBaseline(baseline: Baseline): string {
  const findings = [...baseline.entries].sort(compareEntries).map((e) => ({
    rule: e.rule,
    contract: e.contract,
    file: e.file,
    message: e.message,
    count: e.count,
    fingerprint: e.fingerprint,
  }));
  return `${JSON.stringify({ version: VERSION, findings }, undefined, 2)}\n`;
}

function compareEntries(a: BaselineEntry, b: BaselineEntry): number {
  return (
    compareText(a.file, b.file) ||
    compareText(a.rule, b.rule) ||
    compareText(a.message, b.message) ||
    compareText(a.fingerprint, b.fingerprint)
  );
}

/** Hides known findings, the first of equal ones first, up to their count. */
export function applyBaseline(
  diagnostics: readonly Diagnostic[],
  baseline: Baseline,
  options: { readonly covered?: (entry: BaselineEntry) => boolean } = {},
): BaselineResult {
  const left = new Map(baseline.entries.map((e) => [e.fingerprint, e.count]));
  const active: Diagnostic[] = [];
  const baselined: Diagnostic[] = [];
  for (const d of [...diagnostics].sort(compareDiagnostics)) {
    const fingerprint = left.size === 0 ? "" : fingerprintOf(d);
    const count = left.get(fingerprint) ?? 0;
    if (count === 0) {
      active.push(d);
      continue;
    }
    left.set(fingerprint, count - 1);
    baselined.push({ ...d, suppressed: { kind: "baseline", reason: "known: it is in the baseline" } });
  }
  const covered = options.covered ?? (() => true);
  const stale: BaselineEntry[] = [];
  for (const e of baseline.entries) {
    const count = left.get(e.fingerprint) ?? 0;
    if (count > 0 && covered(e)) stale.push({ ...e, count });
  }
  return { active, baselined, stale: stale.sort(compareEntries) };
}

/**
 * The baseline after a run. Without a previous one all findings are recorded; with one, entries shrink to what is still
 * found and nothing is added. `covered` tells which entries this run could have found at all (`--rule`, a shard, a part
 * of the contracts); the others stay as they are.
 */
export function updateBaseline(
  previous: Baseline | undefined,
  diagnostics: readonly Diagnostic[],
  options: { readonly covered?: (entry: BaselineEntry) => boolean } = {},
): Baseline {
  const found = new Map<string, BaselineEntry>();
  for (const d of [...diagnostics].sort(compareDiagnostics)) {
    const fingerprint = fingerprintOf(d);
    const known = found.get(fingerprint);
    found.set(fingerprint, {
      fingerprint,
      count: (known?.count ?? 0) + 1,
      rule: d.rule,
      contract: d.contract,
      file: d.at.source.file,
      message: known?.message ?? d.message,
    });
  }
  if (previous === undefined) return { entries: [...found.values()].sort(compareEntries) };
  const covered = options.covered ?? (() => true);
  const entries: BaselineEntry[] = [];
  for (const e of previous.entries) {
    const now = found.get(e.fingerprint);
    if (!covered(e)) entries.push(e);
    else if (now !== undefined) entries.push({ ...now, count: Math.min(now.count, e.count) });
  }
  return { entries: entries.sort(compareEntries) };
}
