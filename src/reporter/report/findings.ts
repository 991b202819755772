/** The findings, grouped by file, with code frames and the places that belong to them. */
import type { Diagnostic } from "../../engine/diagnostic.js";
import type { LintResult } from "../../engine/result.js";
import type { Span } from "../../text/source.js";
import { frameOf, markedParts } from "../frame.js";
import {
  byFile,
  countOf,
  countText,
  crashText,
  helpOf,
  oneLine,
  ordered,
  orderedCrashes,
  pathOf,
  plural,
  type ReportContext,
} from "../shared.js";
import { details, esc, leftOut, table, th } from "./html.js";

const MOST = 3000;
const MOST_RELATED = 10;
const CODE_WIDTH = 140;

/** Everything about the findings of a run. Ids of findings are `f1`, `f2` … in the order of all formats. */
export function findingsSection(result: LintResult, context: ReportContext): string {
  const total = result.diagnostics.length;
  const groups = byFile(ordered(result.diagnostics).slice(0, MOST));
  let number = 0;
  let files = 0;
  const parts = [...groups].map(([file, diagnostics]) => {
    files++;
    const items = diagnostics.map((d) => finding(d, ++number, context));
    return `<section class="file" id="file${files}"><h3><code>${esc(pathOf(context, file))}</code> <span class="count">${countText(countOf(diagnostics))}</span></h3>${items.join("\n")}</section>`;
  });
  return [
    crashes(result),
    total === 0 ? `<p class="good">No findings.</p>` : filter(result.diagnostics),
    ...parts,
    leftOut(number, total, "findings"),
    suppressed(result, context),
  ].join("\n");
}

/** The filter is made by the script: without it every finding is shown, and nothing asks for input in vain. */
function filter(diagnostics: readonly Diagnostic[]): string {
  const counts = countOf(diagnostics);
  const box = (severity: string, count: number): string =>
    `<label><input type="checkbox" name="severity" value="${severity}" checked> ${severity} <span class="count">${count}</span></label>`;
  return `<form id="filter" role="search" aria-label="Filter findings" hidden><fieldset><legend>Severity</legend>${box("error", counts.errors)}${box("warning", counts.warnings)}${box("info", counts.infos)}</fieldset><label class="text">Text <input type="search" id="text" autocomplete="off" spellcheck="false" placeholder="rule, file, words"></label><output id="shown" for="text" aria-live="polite"></output></form>`;
}

function finding(d: Diagnostic, number: number, context: ReportContext): string {
  const rule = context.rules.get(d.rule);
  const related = d.related.slice(0, MOST_RELATED);
  const more = d.related.length - related.length;
  const help = helpOf(d, context);
  const lines = [
    `<article class="finding ${d.severity}" id="f${number}" data-severity="${d.severity}">`,
    `<h4><span class="badge ${d.severity}">${d.severity}</span> ${esc(oneLine(d.message))}</h4>`,
    `<p class="at"><a href="#f${number}"><code>${esc(place(d.at, context))}</code></a> <a class="rule" rel="noreferrer" href="${esc(context.urlOf(d.rule))}">${esc(d.rule)}</a></p>`,
    frame(d.at, 2),
    ...related.map(
      (r) =>
        `<div class="related"><p class="at"><code>${esc(place(r.at, context))}</code> ${esc(oneLine(r.message))}</p>${frame(r.at, 0)}</div>`,
    ),
    more > 0 ? `<p class="note">and ${plural(more, "more place")}</p>` : "",
    rule === undefined ? "" : `<p class="why"><b>Why</b> ${esc(oneLine(rule.docs.why))}</p>`,
    help === undefined ? "" : `<p class="fix"><b>Fix</b> ${esc(oneLine(help))}</p>`,
    "</article>",
  ];
  return lines.filter((l) => l !== "").join("\n");
}

function place(at: Span, context: ReportContext): string {
  const { line, column } = at.source.position(at.start);
  return `${pathOf(context, at.source.file)}:${line}:${column}`;
}

function frame(at: Span, context: number): string {
  const lines = frameOf(at, { context, width: CODE_WIDTH }).map((line) => {
    const number = `<span class="n">${line.number ?? ""}</span>`;
    if (line.mark === undefined) return `<span class="l">${number}${esc(line.text)}\n</span>`;
    const [before, marked, after] = markedParts(line);
    return `<span class="l hit">${number}${esc(before)}<mark>${esc(marked)}</mark>${esc(after)}\n</span>`;
  });
  return lines.length === 0 ? "" : `<pre class="frame">${lines.join("")}</pre>`;
}

function crashes(result: LintResult): string {
  if (result.crashes.length === 0) return "";
  const items = orderedCrashes(result.crashes).map((c) => `<li>${esc(crashText(c))}</li>`);
  return `<div class="crash"><p><b>Faults of the linter</b>: the findings of these rules are not complete.</p><ul>${items.join("")}</ul></div>`;
}

function suppressed(result: LintResult, context: ReportContext): string {
  const all = ordered(result.suppressed);
  if (all.length === 0) return "";
  const rows = all
    .slice(0, MOST)
    .map(
      (d) =>
        `<tr>${th(d.rule, "row")}<td><code>${esc(place(d.at, context))}</code></td><td>${esc(oneLine(d.message))}</td><td>${d.suppressed?.kind === "baseline" ? "baseline" : esc(oneLine(d.suppressed?.reason ?? ""))}</td></tr>`,
    );
  const body = table(
    "Findings that do not count",
    ["Rule", "Place", "Finding", "Reason"].map((t) => th(t)),
    rows,
  );
  return details(
    `${plural(all.length, "finding")} accepted with a reason`,
    body + leftOut(rows.length, all.length, "accepted findings"),
  );
}
