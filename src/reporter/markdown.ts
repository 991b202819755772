/** A comment for a pull request or a job summary: a table per file, folded when long, cut below GitHub's limit. */
import type { Diagnostic, Severity } from "../engine/diagnostic.js";
import type { LintResult } from "../engine/result.js";
import type { Span } from "../text/source.js";
import {
  asides,
  byFile,
  countOf,
  countText,
  crashText,
  headline,
  helpOf,
  oneLine,
  orderedCrashes,
  pathOf,
  plural,
  type ReportContext,
  rangeOf,
  visible,
} from "./shared.js";

/** GitHub refuses comments of more than 65,536 characters. */
const MAX_LENGTH = 60_000;
/** Up to here files are unfolded. */
const OPEN = 20;
const BADGE: Readonly<Record<Severity, string>> = { error: "🔴 error", warning: "🟡 warning", info: "🔵 info" };

/** Text that means itself in HTML, and mentions or links nobody. */
function escapeHtml(text: string): string {
  return visible(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/([@#])(?=[\w-])/g, "$1<!-- -->")
    .replace(/\b(www)(?=\.)/gi, "$1<!-- -->");
}

/** Text inside a line that means itself in Markdown too; `:name:` is an emoji on GitHub and GitLab. */
export function escapeMarkdown(text: string): string {
  return escapeHtml(text).replace(/[\\`*_{}[\]()|~$^]|:(?=[\w+-]+:)/g, "\\$&");
}

/** `<code>`, because a code span of backticks cannot hold every text. */
function code(text: string): string {
  return `<code>${escapeMarkdown(text)}</code>`;
}

function placeText(at: Span, context: ReportContext): string {
  const { line, column } = rangeOf(at).start;
  return code(`${pathOf(context, at.source.file)}:${line}:${column}`);
}

function linkTo(url: string): string {
  return encodeURI(decodable(url)).replace(/[()|\\]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function decodable(url: string): string {
  const safe = visible(url);
  try {
    return decodeURI(safe);
  } catch {
    return safe;
  }
}

function row(d: Diagnostic, context: ReportContext): string {
  const { start, end } = rangeOf(d.at);
  const parts = [escapeMarkdown(oneLine(d.message))];
  for (const r of d.related.slice(0, 5)) {
    parts.push(`↳ ${placeText(r.at, context)} ${escapeMarkdown(oneLine(r.message))}`);
  }
  if (d.related.length > 5) parts.push(`↳ and ${plural(d.related.length - 5, "more place")}`);
  const help = helpOf(d, context);
  if (help !== undefined) parts.push(`**fix:** ${escapeMarkdown(oneLine(help))}`);
  const range = `<code>${start.line}:${start.column}–${end.line}:${end.column}</code>`;
  const rule = `[${escapeMarkdown(d.rule)}](${linkTo(context.urlOf(d.rule))})`;
  return `| ${BADGE[d.severity]} | ${range} | ${parts.join("<br>")} | ${rule} |`;
}

export function markdown(result: LintResult, context: ReportContext): string {
  const clean = result.diagnostics.length === 0 && result.crashes.length === 0;
  const out = [`## ${clean ? "✅" : "❌"} quorumlint: ${headline(result)}`, "", asides(result).join(" · "), ""];
  for (const crash of orderedCrashes(result.crashes)) {
    out.push(`**Fault of the linter:** ${escapeMarkdown(crashText(crash))}`, "");
  }
  let length = out.join("\n").length;
  let shown = 0;
  const total = result.diagnostics.length;
  const open = total <= OPEN ? " open" : "";
  outer: for (const [file, diagnostics] of byFile(result.diagnostics)) {
    // up to the blank line this is HTML, where Markdown's escapes mean nothing
    const head = [
      `<details${open}><summary><code>${escapeHtml(pathOf(context, file))}</code> — ${countText(countOf(diagnostics))}</summary>`,
      "",
      "| | Place | Finding | Rule |",
      "|---|---|---|---|",
    ];
    let opened = false;
    for (const d of diagnostics) {
      const text = row(d, context);
      const cost = text.length + 1 + (opened ? 0 : head.join("\n").length + 20);
      if (length + cost > MAX_LENGTH) {
        if (opened) out.push("", "</details>", "");
        break outer;
      }
      if (!opened) out.push(...head);
      opened = true;
      out.push(text);
      length += cost;
      shown++;
    }
    out.push("", "</details>", "");
  }
  if (shown < total) {
    out.push(`**${total - shown} more findings** do not fit here: see the whole report in the log.`, "");
  }
  return `${out.join("\n").trimEnd()}\n`;
}
