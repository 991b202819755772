/**
 * The report for people: one self-contained HTML page. It can be read without its script, asks for nothing from anywhere
 * (its policy forbids it), and shows no secret.
 */
import type { LintResult } from "../../engine/result.js";
import type { Rule } from "../../engine/rule.js";
import type { Contract } from "../../model/contract.js";
import { edgeText, type GraphView, summary } from "../graph/view.js";
import { asides, countOf, headline, ordered, plural, type ReportContext } from "../shared.js";
import { accessSection } from "./access.js";
import { fileTable, rulesOf, ruleTable } from "./coverage.js";
import { findingsSection } from "./findings.js";
import { cspHash, details, esc, leftOut, table, th, thNumber } from "./html.js";
import { type Mutants, mutantSection } from "./mutants.js";
import { SCRIPT } from "./script.js";
import { STYLE } from "./style.js";

export interface ReportContract {
  readonly contract: Contract;
  /** Who may talk to whom, and its picture; undefined: too large to be drawn. */
  readonly network: { readonly view: GraphView; readonly svg: string } | undefined;
}

export interface Report {
  readonly title: string;
  /** `YYYY-MM-DD`. */
  readonly today: string;
  readonly result: LintResult;
  readonly contracts: readonly ReportContract[];
  readonly rules: readonly Rule[];
  readonly mutants: Mutants | undefined;
}

const MOST_EDGES = 1000;
const MOST_RULES = 200;

interface Part {
  readonly id: string;
  readonly title: string;
  readonly body: string;
}

export function reportPage(report: Report, context: ReportContext): string {
  const parts: Part[] = [
    { id: "summary", title: "Summary", body: overview(report) },
    { id: "findings", title: "Findings", body: findingsSection(report.result, context) },
    { id: "access", title: "Who may do what", body: perContract(report, ({ contract }) => accessSection(contract)) },
    { id: "network", title: "Who may talk to whom", body: perContract(report, network) },
    { id: "coverage", title: "What was looked at", body: coverage(report, context) },
  ];
  if (report.mutants !== undefined)
    parts.push({ id: "mutants", title: "Rules and mutants", body: mutantSection(report.mutants) });
  const styles = [STYLE, ...report.contracts.flatMap((c) => inlineStyles(c.network?.svg ?? ""))];
  const policy = [
    "default-src 'none'",
    `style-src ${[...new Set(styles)].map(cspHash).join(" ")}`,
    `script-src ${cspHash(SCRIPT)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const { tool } = report.result;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${esc(policy)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${esc(report.title)}</title>
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#findings">To the findings</a>
<header>
<h1>${esc(report.title)}</h1>
<p class="sub">${esc(headline(report.result))} · ${esc(report.today)}</p>
<nav aria-label="Parts of this report"><ul>${parts.map((p) => `<li><a href="#${p.id}">${p.title}</a></li>`).join("")}</ul></nav>
</header>
<main>
${parts.map((p) => `<section id="${p.id}" aria-labelledby="${p.id}-title"><h2 id="${p.id}-title">${p.title}</h2>\n${p.body}\n</section>`).join("\n")}
</main>
<footer>${esc(tool.name)} ${esc(tool.version)}. Values of secrets are masked.</footer>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

function inlineStyles(svg: string): string[] {
  return [...svg.matchAll(/<style>([^<]*)<\/style>/g)].map((m) => m[1]!);
}

function perContract(report: Report, part: (c: ReportContract, index: number) => string): string {
  if (report.contracts.length === 0) return `<p class="note">Nothing here is a contract.</p>`;
  return report.contracts
    .map((c, i) => (report.contracts.length > 1 ? `<h3>${esc(c.contract.name)}</h3>` : "") + part(c, i))
    .join("\n");
}

function overview({ result, contracts }: Report): string {
  const counts = countOf(result.diagnostics);
  const tile = (label: string, n: number, style = ""): string =>
    `<div${style === "" ? "" : ` class="${style}"`}><dt>${label}</dt><dd>${n}</dd></div>`;
  const { summary: s } = result;
  const tiles = [
    tile("errors", counts.errors, counts.errors > 0 ? "error" : "ok"),
    tile("warnings", counts.warnings, counts.warnings > 0 ? "warning" : "ok"),
    tile("infos", counts.infos, counts.infos > 0 ? "info" : ""),
    tile("contracts", s.contracts),
    tile("files", s.files),
    tile("documents", s.documents),
    tile("rules", s.rules),
  ];
  const names = contracts.map(
    ({ contract }) => `<b>${esc(contract.name)}</b> (${contract.declared ? "declared" : "inferred"})`,
  );
  return [
    `<dl class="tiles">${tiles.join("")}</dl>`,
    `<p class="note">${names.length > 0 ? `${names.slice(0, 50).join(", ")} · ` : ""}${asides(result).map(esc).join(" · ")}</p>`,
    byRule(result),
  ].join("\n");
}

/** The rules that found something, each with a link to its first finding. */
function byRule(result: LintResult): string {
  const rules = new Map<string, { first: number; errors: number; warnings: number; infos: number }>();
  ordered(result.diagnostics).forEach((d, i) => {
    const entry = rules.get(d.rule) ?? { first: i + 1, errors: 0, warnings: 0, infos: 0 };
    rules.set(d.rule, entry);
    entry[`${d.severity}s`]++;
  });
  if (rules.size === 0) return "";
  const number = (n: number): string => `<td class="num">${n === 0 ? "" : n}</td>`;
  const rows = [...rules]
    .sort(([, a], [, b]) => b.errors - a.errors || b.warnings - a.warnings || b.infos - a.infos || a.first - b.first)
    .slice(0, MOST_RULES)
    .map(
      ([id, c]) =>
        `<tr><th scope="row"><a href="#f${c.first}"><code>${esc(id)}</code></a></th>${number(c.errors)}${number(c.warnings)}${number(c.infos)}</tr>`,
    );
  return table("Findings by rule", [th("Rule"), ...["Errors", "Warnings", "Infos"].map(thNumber)], rows, "narrow");
}

function network({ contract, network }: ReportContract): string {
  if (network === undefined)
    return `<p class="note">The network of ${esc(contract.name)} is too large to be drawn.</p>`;
  const { view, svg } = network;
  if (view.nodes.length === 0) return `<p class="note">No workload is in this contract.</p>`;
  const shown = view.edges.slice(0, MOST_EDGES);
  const rows = shown.map(
    (e) =>
      `<tr><th scope="row"><code>${esc(e.from)}</code></th><td><code>${esc(e.to)}</code></td><td>${esc(edgeText(e))}</td></tr>`,
  );
  const list = table(
    `Network edges of ${contract.name}`,
    ["From", "To", "Connections"].map((t) => th(t)),
    rows,
  );
  return (
    `<div class="graph" role="region" tabindex="0" aria-label="${esc(`Picture of the network of ${contract.name}`)}">${svg}</div>` +
    details(`${esc(summary(view))} as a table`, list + leftOut(shown.length, view.edges.length, "edges"))
  );
}

function coverage({ contracts, rules, result }: Report, context: ReportContext): string {
  const views = new Map(contracts.map(({ contract }) => [contract.name, rulesOf(contract, rules)]));
  const parts = contracts.map(({ contract }) => {
    const own = views.get(contract.name)!;
    const on = own.filter((v) => v.severity !== "off");
    const blind = on.filter((v) => [...v.kinds.values()].every((n) => n === 0)).length;
    const title = `${esc(contract.name)}: ${plural(on.length, "rule")} on${blind > 0 ? `, ${blind} of them with nothing to look at` : ""}`;
    return details(title, ruleTable(contract, own, result));
  });
  return fileTable(result, views, context) + parts.join("\n");
}
