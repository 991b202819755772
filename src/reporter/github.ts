/**
 * GitHub Actions annotations (workflow commands `::error file=…::message`).
 * Source: "Workflow commands for GitHub Actions", and the escapes of actions/toolkit's `command.ts`.
 */
import type { Severity } from "../engine/diagnostic.js";
import type { LintResult } from "../engine/result.js";
import {
  asides,
  crashText,
  headline,
  helpOf,
  oneLine,
  ordered,
  orderedCrashes,
  pathOf,
  type ReportContext,
  rangeOf,
  visible,
  wellFormed,
} from "./shared.js";

const COMMAND: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "notice" };

function data(text: string): string {
  return wellFormed(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** One command per finding, then a summary line that the log shows. */
export function github(result: LintResult, context: ReportContext): string {
  const out: string[] = [];
  for (const d of ordered(result.diagnostics)) {
    const { start, end } = rangeOf(d.at);
    const properties: [string, string | number][] = [
      ["file", pathOf(context, d.at.source.file)],
      ["line", start.line],
      ["endLine", end.line],
    ];
    // columns of a range over several lines are refused
    if (start.line === end.line) properties.push(["col", start.column], ["endColumn", end.column]);
    properties.push(["title", d.rule]);
    const lines = [visible(d.message)];
    for (const r of d.related) {
      const at = rangeOf(r.at).start;
      lines.push(`${visible(pathOf(context, r.at.source.file))}:${at.line}:${at.column}: ${visible(r.message)}`);
    }
    const help = helpOf(d, context);
    if (help !== undefined) lines.push(`fix: ${visible(oneLine(help))}`);
    lines.push(context.urlOf(d.rule));
    const list = properties.map(([name, value]) => `${name}=${property(String(value))}`).join(",");
    out.push(`::${COMMAND[d.severity]} ${list}::${data(lines.join("\n"))}`);
  }
  for (const crash of orderedCrashes(result.crashes)) {
    out.push(`::error title=${property(crash.rule)}::${data(visible(crashText(crash)))}`);
  }
  out.push(`${headline(result)} · ${asides(result).join(" · ")}`);
  return `${out.join("\n")}\n`;
}
