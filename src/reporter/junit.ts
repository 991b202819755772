/**
 * JUnit XML: a suite per file, a case per finding; a file without findings is one case that passes, so that a report
 * shows what was checked. Errors and warnings fail, infos pass with their text as output, suppressed findings are skipped.
 */
import type { Diagnostic } from "../engine/diagnostic.js";
import type { LintResult } from "../engine/result.js";
import {
  byFile,
  crashText,
  helpOf,
  oneLine,
  orderedCrashes,
  orderedInputs,
  pathOf,
  type ReportContext,
  rangeOf,
  visible,
  wellFormed,
} from "./shared.js";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** XML 1.0 has no way to write most control characters: they become their pictures. */
function xml(text: string): string {
  return visible(text)
    .replace(/[\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"']/g, (c) => ENTITIES[c]!);
}

function lines(text: string): string {
  return text.split("\n").map(xml).join("\n");
}

export function junit(result: LintResult, context: ReportContext): string {
  const active = byFile(result.diagnostics);
  const hidden = byFile(result.suppressed);
  const files = new Set<string>([...active.keys(), ...hidden.keys()]);
  for (const input of orderedInputs(result.inputs)) if (input.kind !== "ignored") files.add(input.file);
  const crashes = orderedCrashes(result.crashes);
  const suites = [...files].sort().map((file) => {
    const found = active.get(file) ?? [];
    const skipped = hidden.get(file) ?? [];
    const path = pathOf(context, file);
    const cases = [...found.map((d) => findingCase(d, path, context)), ...skipped.map((d) => skippedCase(d, path))];
    if (found.length === 0) cases.unshift(`    <testcase classname="${xml(path)}" name="no findings" time="0"/>`);
    const failures = found.filter((d) => d.severity !== "info").length;
    return [
      `  <testsuite name="${xml(path)}" tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped.length}" time="0">`,
      ...cases,
      "  </testsuite>",
    ].join("\n");
  });
  if (crashes.length > 0) {
    suites.push(
      [
        `  <testsuite name="${xml(result.tool.name)}" tests="${crashes.length}" failures="0" errors="${crashes.length}" skipped="0" time="0">`,
        ...crashes.map(
          (c) =>
            `    <testcase classname="${xml(c.rule)}" name="${xml(c.file)}" time="0"><error type="crash" message="${xml(crashText(c))}"/></testcase>`,
        ),
        "  </testsuite>",
      ].join("\n"),
    );
  }
  const count = (attribute: string): number =>
    suites.reduce((n, s) => n + Number(new RegExp(`^  <testsuite [^>]*\\b${attribute}="(\\d+)"`).exec(s)![1]), 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${xml(result.tool.name)}" tests="${count("tests")}" failures="${count("failures")}" errors="${count("errors")}" time="0">`,
    ...suites,
    "</testsuites>",
    "",
  ].join("\n");
}

function opening(d: Diagnostic, path: string): string {
  const { start } = rangeOf(d.at);
  const name = `${d.rule} at ${start.line}:${start.column}`;
  return `    <testcase classname="${xml(path)}" name="${xml(name)}" file="${xml(path)}" line="${start.line}" time="0">`;
}

function findingCase(d: Diagnostic, path: string, context: ReportContext): string {
  const { start, end } = rangeOf(d.at);
  const message = oneLine(d.message);
  const text = [
    `${visible(path)}:${start.line}:${start.column}-${end.line}:${end.column}: ${d.severity}: ${visible(d.message)}`,
    ...d.related.map((r) => {
      const at = rangeOf(r.at).start;
      return `${visible(pathOf(context, r.at.source.file))}:${at.line}:${at.column}: ${visible(r.message)}`;
    }),
  ];
  const help = helpOf(d, context);
  if (help !== undefined) text.push(`fix: ${visible(oneLine(help))}`);
  text.push(wellFormed(context.urlOf(d.rule)));
  const body =
    d.severity === "info"
      ? `      <system-out>${lines(text.join("\n"))}</system-out>`
      : `      <failure type="${d.severity}" message="${xml(message)}">${lines(text.join("\n"))}</failure>`;
  return `${opening(d, path)}\n${body}\n    </testcase>`;
}

function skippedCase(d: Diagnostic, path: string): string {
  const reason = d.suppressed === undefined ? "suppressed" : d.suppressed.reason;
  return `${opening(d, path)}\n      <skipped message="${xml(oneLine(reason))}"/>\n    </testcase>`;
}
