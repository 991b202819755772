/** One result of the results of all shards: the same bytes as a run that was not split. */
import { compareText } from "../engine/diagnostic.js";
import type { JsonDiagnostic, JsonFault, JsonInput, JsonResult } from "./json.js";
import { jsonText } from "./shared.js";

/** Results that do not belong together, or are none. */
export class MergeError extends Error {}

interface Placed {
  readonly diagnostic: JsonDiagnostic;
  readonly start: number;
  readonly end: number;
  readonly messageId: string;
}

function parse(name: string, text: string): JsonResult {
  let value: JsonResult;
  try {
    value = JSON.parse(text) as JsonResult;
  } catch (error) {
    throw new MergeError(`${name} is no JSON: ${(error as Error).message}`);
  }
  const result =
    value !== null && typeof value === "object" && value.version === 1 && value.tool?.name === "quorumlint";
  if (!result || !Array.isArray(value.diagnostics) || !Array.isArray(value.inputs) || value.summary === undefined)
    throw new MergeError(`${name} is not the result of check --format json`);
  const { shard } = value;
  if (shard === undefined)
    throw new MergeError(`${name} is the result of a whole run: only those of --shard are merged`);
  if (!Array.isArray(shard.order) || shard.order.length !== value.diagnostics.length)
    throw new MergeError(`${name} does not say in which order its findings are`);
  return value;
}

/** Merges results by name; every shard once, all of one version. Throws a MergeError. */
export function mergeResults(files: ReadonlyMap<string, string>): JsonResult {
  const results = [...files].map(([name, text]) => ({ name, result: parse(name, text) }));
  const first = results[0];
  if (first === undefined) throw new MergeError("there is nothing to merge");
  const { tool } = first.result;
  const { count } = first.result.shard!;
  const seen = new Map<number, string>();
  for (const { name, result } of results) {
    if (result.tool.version !== tool.version)
      throw new MergeError(`${name} is of version ${result.tool.version}, ${first.name} of ${tool.version}`);
    const { index, count: own } = result.shard!;
    if (own !== count) throw new MergeError(`${name} is one of ${own} shards, ${first.name} one of ${count}`);
    const twice = seen.get(index);
    if (twice !== undefined) throw new MergeError(`${name} and ${twice} are both shard ${index}/${count}`);
    seen.set(index, name);
  }
  const missing = Array.from({ length: count }, (_, i) => i + 1).filter((i) => !seen.has(i));
  if (missing.length > 0) throw new MergeError(`shard ${missing.map((i) => `${i}/${count}`).join(", ")} is missing`);

  const all = results.map((r) => r.result);
  const placed = all
    .flatMap((r) =>
      r.diagnostics.map((diagnostic, i): Placed => {
        const [start, end, messageId] = r.shard!.order[i]!;
        return { diagnostic, start, end, messageId };
      }),
    )
    .sort(byPlace);
  // a whole run says the same finding once
  const again = placed.filter((p, i) => i > 0 && byPlace(placed[i - 1]!, p) === 0);
  const sum = (key: keyof JsonResult["summary"]): number => all.reduce((n, r) => n + r.summary[key], 0);
  const found = (key: "errors" | "warnings" | "infos"): number =>
    sum(key) - again.filter((p) => `${p.diagnostic.severity}s` === key).length;
  const faults = all.flatMap((r) => r.faults ?? []).sort(byFault);
  const merged: JsonResult = {
    version: 1,
    tool: { name: tool.name, version: tool.version },
    summary: {
      contracts: sum("contracts"),
      files: sum("files"),
      documents: sum("documents"),
      rules: first.result.summary.rules,
      errors: found("errors"),
      warnings: found("warnings"),
      infos: found("infos"),
      suppressed: sum("suppressed"),
      baselined: sum("baselined"),
    },
    inputs: all.flatMap((r) => r.inputs).sort(byInput),
    diagnostics: placed.filter((p) => !again.includes(p)).map((p) => p.diagnostic),
  };
  return faults.length === 0 ? merged : Object.assign({}, merged, { faults });
}

export function mergedText(files: ReadonlyMap<string, string>): { text: string; result: JsonResult } {
  const result = mergeResults(files);
  return { text: jsonText(result), result };
}

/** The order of `compareDiagnostics`. */
function byPlace(a: Placed, b: Placed): number {
  const [x, y] = [a.diagnostic, b.diagnostic];
  return (
    compareText(x.file, y.file) ||
    a.start - b.start ||
    a.end - b.end ||
    compareText(x.rule, y.rule) ||
    compareText(a.messageId, b.messageId) ||
    compareText(x.message, y.message) ||
    compareText(x.contract, y.contract)
  );
}

function byInput(a: JsonInput, b: JsonInput): number {
  return compareText(a.file, b.file) || compareText(a.kind, b.kind) || compareText(a.contract ?? "", b.contract ?? "");
}

function byFault(a: JsonFault, b: JsonFault): number {
  return (
    compareText(a.rule, b.rule) ||
    compareText(a.contract, b.contract) ||
    compareText(a.file, b.file) ||
    compareText(a.message, b.message)
  );
}
