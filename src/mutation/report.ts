/**
 * A sweep in the public report format of mutation testing tools (`mutation-testing-report-schema`, version 2), and as the
 * one-page report that its web component shows. Nothing in it depends on time, machine or thread count.
 */
import type { Rule } from "../engine/rule.js";
import type { Contract } from "../model/contract.js";
import type { FileKind } from "../model/input.js";
import type { Position } from "../text/source.js";
import type { Coverage } from "./coverage.js";
import { locationOf, type MutantStatus, readableDiff } from "./mutant.js";
import type { Sweep } from "./sweep.js";

export interface MutantReport {
  readonly id: string;
  readonly mutatorName: string;
  readonly description: string;
  readonly replacement: string;
  readonly location: { readonly start: Position; readonly end: Position };
  readonly status: MutantStatus;
  readonly statusReason?: string;
  readonly killedBy?: readonly string[];
  readonly coveredBy?: readonly string[];
}

export interface SweepReport {
  readonly schemaVersion: "2";
  readonly thresholds: { readonly high: number; readonly low: number };
  readonly framework: {
    readonly name: string;
    readonly version: string;
    readonly branding: { readonly homepageUrl: string };
  };
  readonly config: Readonly<Record<string, unknown>>;
  readonly files: Readonly<
    Record<string, { readonly language: string; readonly source: string; readonly mutants: readonly MutantReport[] }>
  >;
  readonly testFiles: Readonly<
    Record<string, { readonly tests: readonly { readonly id: string; readonly name: string }[] }>
  >;
}

const LANGUAGES: Readonly<Partial<Record<FileKind, string>>> = {
  kubernetes: "yaml",
  yaml: "yaml",
  json: "json",
  properties: "properties",
  env: "properties",
  lua: "lua",
  shell: "bash",
  java: "java",
  typescript: "typescript",
  markdown: "markdown",
};

export interface ReportOptions {
  readonly contracts: readonly Contract[];
  readonly rules: readonly Rule[];
  readonly coverage: Coverage;
  readonly version: string;
  readonly homepage: string;
  readonly minimum: number | undefined;
  /** Whether `killedBy` names all rules that report a mutant, or the first. */
  readonly allKillers: boolean;
}

export function sweepReport(sweep: Sweep, options: ReportOptions): SweepReport {
  const { coverage, rules, contracts } = options;
  const files: Record<string, { language: string; source: string; mutants: MutantReport[] }> = {};
  const inputs = contracts.flatMap((c) => c.files).sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
  for (const file of inputs) {
    files[file.file] ??= { language: LANGUAGES[file.kind] ?? "ini", source: file.source.text, mutants: [] };
  }
  for (const { mutant, status, killedBy, coveredBy, reason } of sweep.results) {
    const { before, after } = readableDiff(mutant);
    files[mutant.source.file]?.mutants.push({
      id: mutant.id,
      mutatorName: mutant.mutator,
      description: `${mutant.field}\n${marked("-", before)}\n${marked("+", after)}`,
      replacement: mutant.newText,
      location: locationOf(mutant),
      status,
      ...(reason === undefined ? {} : { statusReason: reason }),
      ...(killedBy.length === 0 ? {} : { killedBy }),
      ...(coveredBy.length === 0 ? {} : { coveredBy }),
    });
  }
  const { counts, score } = coverage;
  return {
    schemaVersion: "2",
    thresholds: { high: 80, low: 60 },
    framework: { name: "quorumlint", version: options.version, branding: { homepageUrl: options.homepage } },
    config: {
      contracts: contracts.map((c) => c.name),
      minimumScore: options.minimum ?? null,
      allKillers: options.allKillers,
      score: score === undefined ? null : Math.round(score * 100) / 100,
      counts,
      stale: sweep.stale.map(({ entry, mutant }) => ({
        file: entry.file,
        field: entry.field,
        mutators: entry.mutators,
        mutant: mutant?.id ?? null,
      })),
    },
    files,
    testFiles: {
      rules: { tests: rules.map((r) => ({ id: r.id, name: `${r.id}: ${r.docs.summary}` })) },
    },
  };
}

function marked(mark: string, text: string): string {
  return text
    .split("\n")
    .map((line) => `${mark} ${line}`)
    .join("\n");
}

/** The report as one page that needs nothing else. `element` is the script of `mutation-testing-elements`. */
export function htmlReport(report: SweepReport, element: string, title: string): string {
  const json = JSON.stringify(report)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
</head>
<body>
<mutation-test-report-app title-postfix="${escapeHtml(title)}">Your browser shows no custom elements.</mutation-test-report-app>
<script>${element.replaceAll("</script", "<\\/script")}</script>
<script>document.querySelector("mutation-test-report-app").report = ${json};</script>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
