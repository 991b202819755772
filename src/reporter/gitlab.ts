/** GitLab Code Quality report (the Code Climate issue format that GitLab documents). */
import type { Severity } from "../engine/diagnostic.js";
import { uniqueFingerprints } from "../engine/fingerprint.js";
import type { LintResult } from "../engine/result.js";
import type { Span } from "../text/source.js";
import { helpOf, jsonText, oneLine, ordered, pathOf, type ReportContext, rangeOf } from "./shared.js";

const SEVERITY: Readonly<Record<Severity, string>> = { error: "critical", warning: "minor", info: "info" };

export function gitlab(result: LintResult, context: ReportContext): string {
  const diagnostics = ordered(result.diagnostics);
  const fingerprints = uniqueFingerprints(diagnostics);
  const locationOf = (at: Span) => {
    const { start, end } = rangeOf(at);
    return {
      path: pathOf(context, at.source.file).replace(/^\.\//, ""),
      positions: {
        begin: { line: start.line, column: start.column },
        end: { line: end.line, column: end.column },
      },
    };
  };
  const issues = diagnostics.map((d, i) => {
    const why = context.rules.get(d.rule)?.docs.why;
    const help = helpOf(d, context);
    const body = [why, help, context.urlOf(d.rule)].filter((t) => t !== undefined).map(oneLine);
    return {
      type: "issue",
      check_name: d.rule,
      description: d.message,
      content: { body: body.join("\n\n") },
      categories: ["Bug Risk"],
      severity: SEVERITY[d.severity],
      fingerprint: fingerprints[i],
      location: locationOf(d.at),
      other_locations: d.related.map((r) => locationOf(r.at)),
    };
  });
  return jsonText(issues);
}
