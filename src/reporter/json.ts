/** The JSON result, described by `schemas/result.schema.json`. */
import type { Diagnostic } from "../engine/diagnostic.js";
import type { LintResult } from "../engine/result.js";
import type { Span } from "../text/source.js";
import {
  crashText,
  jsonText,
  ordered,
  orderedCrashes,
  orderedInputs,
  type Range,
  type ReportContext,
  rangeOf,
} from "./shared.js";

export interface JsonPlace {
  readonly file: string;
  readonly range: Range;
}

export interface JsonDiagnostic extends JsonPlace {
  readonly rule: string;
  readonly message: string;
  readonly severity: "error" | "warning" | "info";
  readonly contract: string;
  readonly path?: string;
  readonly related: readonly (JsonPlace & { readonly message: string })[];
  readonly fix: { readonly description: string; readonly edits: readonly (JsonPlace & { newText: string })[] } | null;
  readonly url: string;
}

/** A rule that crashed; there only when one did. */
export interface JsonFault {
  readonly rule: string;
  readonly file: string;
  readonly contract: string;
  readonly message: string;
}

export interface JsonInput {
  readonly file: string;
  readonly kind: string;
  readonly contract?: string;
  readonly reason?: string;
}

/** Which part of a run a result is. `order` has per finding what its order needs and its JSON does not tell. */
export interface JsonShard {
  readonly index: number;
  readonly count: number;
  readonly order: readonly (readonly [start: number, end: number, messageId: string])[];
}

export interface JsonResult {
  readonly version: 1;
  readonly tool: { readonly name: string; readonly version: string };
  readonly summary: LintResult["summary"];
  readonly inputs: readonly JsonInput[];
  readonly diagnostics: readonly JsonDiagnostic[];
  readonly faults?: readonly JsonFault[];
  /** There only with `check --shard`. */
  readonly shard?: JsonShard;
}

function placeOf(span: Span): JsonPlace {
  return { file: span.source.file, range: rangeOf(span) };
}

function diagnosticOf(d: Diagnostic, context: Pick<ReportContext, "urlOf">): JsonDiagnostic {
  const { file, range } = placeOf(d.at);
  return {
    rule: d.rule,
    message: d.message,
    severity: d.severity,
    contract: d.contract,
    file,
    range,
    ...(d.pointer === undefined ? {} : { path: d.pointer }),
    related: d.related.map((r) => ({ ...placeOf(r.at), message: r.message })),
    fix:
      d.fix === undefined
        ? null
        : {
            description: d.fix.description,
            edits: d.fix.edits.map((e) => ({ ...placeOf(e.span), newText: e.newText })),
          },
    url: context.urlOf(d.rule),
  };
}

/** The result as plain data; also what the library's `lint()` gives. */
export function toJson(result: LintResult, context: Pick<ReportContext, "urlOf">): JsonResult {
  const { tool, summary } = result;
  const crashes = orderedCrashes(result.crashes);
  return {
    version: 1,
    tool: { name: tool.name, version: tool.version },
    summary: {
      contracts: summary.contracts,
      files: summary.files,
      documents: summary.documents,
      rules: summary.rules,
      errors: summary.errors,
      warnings: summary.warnings,
      infos: summary.infos,
      suppressed: summary.suppressed,
      baselined: summary.baselined,
    },
    inputs: orderedInputs(result.inputs).map((i) => ({
      file: i.file,
      kind: i.kind,
      ...(i.contract === undefined ? {} : { contract: i.contract }),
      ...(i.reason === undefined ? {} : { reason: i.reason }),
    })),
    diagnostics: ordered(result.diagnostics).map((d) => diagnosticOf(d, context)),
    ...(crashes.length === 0
      ? {}
      : { faults: crashes.map((c) => ({ rule: c.rule, file: c.file, contract: c.contract, message: crashText(c) })) }),
  };
}

export function json(result: LintResult, context: ReportContext): string {
  const value = toJson(result, context);
  const { shard } = context;
  if (shard === undefined) return jsonText(value);
  const order = ordered(result.diagnostics).map((d) => [d.at.start, d.at.end, d.messageId] as const);
  return jsonText(Object.assign({}, value, { shard: { index: shard.index, count: shard.count, order } }));
}
