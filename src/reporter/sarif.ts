/** SARIF 2.1.0 (OASIS standard). Columns are UTF-16 code units; addresses are relative to %SRCROOT%. */
import type { Diagnostic, Fix, Severity, SuppressionRecord } from "../engine/diagnostic.js";
import { compareText } from "../engine/diagnostic.js";
import { FINGERPRINT_VERSION, uniqueFingerprints } from "../engine/fingerprint.js";
import type { LintResult } from "../engine/result.js";
import type { Rule } from "../engine/rule.js";
import { push } from "../model/multimap.js";
import type { Span } from "../text/source.js";
import {
  crashText,
  jsonText,
  oneLine,
  ordered,
  orderedCrashes,
  orderedInputs,
  pathOf,
  type ReportContext,
  rangeOf,
  wellFormed,
} from "./shared.js";

const SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const ROOT = "%SRCROOT%";
const LEVEL = { error: "error", warning: "warning", info: "note" } as const satisfies Record<Severity, string>;

/** Square brackets that would make a link of a message are escaped, as the standard's messages with links ask for. */
function messageText(text: string): string {
  return wellFormed(text).replace(/\[(?=[^\]]*\]\()/g, "\\[");
}

function isAddress(url: string): boolean {
  return /^[a-z][a-z0-9+.-]*:[^\s<>"\\^`{|}]+$/i.test(url);
}

/** `k8s/pod-anti-affinity` → `K8sPodAntiAffinity`: a friendly name that is not the id. */
function nameOf(id: string): string {
  return id.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, c: string) => c.toUpperCase());
}

/** A relative reference: each segment percent-encoded, `/` between them. */
function uriOf(path: string): string {
  const uri = wellFormed(path).split("/").map(encodeURIComponent).join("/");
  // a first segment with a colon would be a scheme
  return uri.replaceAll("%3A", ":").replace(/^([^/]*):/, "./$1:");
}

class Artifacts {
  readonly list: { location: { uri: string; uriBaseId: string }; roles: string[] }[] = [];
  readonly #index = new Map<string, number>();
  readonly #context: ReportContext;

  constructor(context: ReportContext) {
    this.#context = context;
  }

  location(file: string): { uri: string; uriBaseId: string; index: number } {
    let index = this.#index.get(file);
    if (index === undefined) {
      index = this.list.length;
      this.#index.set(file, index);
      const location = { uri: uriOf(pathOf(this.#context, file)), uriBaseId: ROOT };
      this.list.push({ location, roles: ["analysisTarget"] });
    }
    const { location } = this.list[index]!;
    return { uri: location.uri, uriBaseId: location.uriBaseId, index };
  }

  physical(at: Span) {
    return { artifactLocation: this.location(at.source.file), region: region(at) };
  }
}

function region(at: Span) {
  const { start, end } = rangeOf(at);
  return { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column };
}

export function sarif(result: LintResult, context: ReportContext): string {
  return jsonText(toSarif(result, context));
}

/** The log as plain data. */
export function toSarif(result: LintResult, context: ReportContext) {
  const active = ordered(result.diagnostics);
  const hidden = ordered(result.suppressed);
  const all = [...active, ...hidden];
  const artifacts = new Artifacts(context);
  for (const input of orderedInputs(result.inputs)) if (input.kind !== "ignored") artifacts.location(input.file);

  const ids = new Set([...context.rules.keys(), ...all.map((d) => d.rule), ...result.crashes.map((c) => c.rule)]);
  const rules = [...ids].sort(compareText);
  const ruleIndex = new Map(rules.map((id, i) => [id, i]));
  const fingerprints = uniqueFingerprints(all);
  const results = all.map((d, i) => ({
    ruleId: d.rule,
    ruleIndex: ruleIndex.get(d.rule)!,
    level: LEVEL[d.severity],
    message: { text: messageText(d.message) },
    locations: [{ physicalLocation: artifacts.physical(d.at) }],
    ...relatedOf(d, artifacts),
    partialFingerprints: { [`quorumlint/v${FINGERPRINT_VERSION}`]: fingerprints[i]! },
    // either all results of a run have this property or none has
    ...(hidden.length === 0 ? {} : { suppressions: d.suppressed === undefined ? [] : [suppressionOf(d.suppressed)] }),
    ...(d.fix === undefined || d.fix.edits.length === 0 ? {} : { fixes: [fixOf(d.fix, artifacts)] }),
    properties: {
      contract: wellFormed(d.contract),
      ...(d.pointer === undefined ? {} : { path: wellFormed(d.pointer) }),
      ...(d.help === undefined ? {} : { help: wellFormed(d.help) }),
    },
  }));
  const notifications = orderedCrashes(result.crashes).map((c) => ({
    level: "error",
    message: { text: messageText(crashText(c)) },
    associatedRule: { id: c.rule, index: ruleIndex.get(c.rule)! },
    locations: [{ physicalLocation: { artifactLocation: artifacts.location(c.file) } }],
    exception: { kind: c.error.name, message: wellFormed(c.error.message) },
  }));
  return {
    $schema: SCHEMA,
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: result.tool.name,
            version: result.tool.version,
            semanticVersion: result.tool.version,
            ...(isAddress(informationUri(rules, context)) ? { informationUri: informationUri(rules, context) } : {}),
            rules: rules.map((id) => descriptor(id, context)),
          },
        },
        invocations: [{ executionSuccessful: notifications.length === 0, toolExecutionNotifications: notifications }],
        originalUriBaseIds: { [ROOT]: { description: { text: "The directory that the paths are relative to." } } },
        columnKind: "utf16CodeUnits",
        artifacts: artifacts.list,
        results,
      },
    ],
  };
}

/** Where all rules are documented: the folder that their addresses share. */
function informationUri(rules: readonly string[], context: ReportContext): string {
  const first = rules[0] === undefined ? "" : context.urlOf(rules[0]);
  const root = rules[0] === undefined ? -1 : first.indexOf(rules[0]);
  return root < 0 ? first : first.slice(0, root);
}

function relatedOf(d: Diagnostic, artifacts: Artifacts) {
  if (d.related.length === 0) return {};
  return {
    relatedLocations: d.related.map((r, i) => ({
      id: i + 1,
      physicalLocation: artifacts.physical(r.at),
      message: { text: messageText(r.message) },
    })),
  };
}

function suppressionOf(record: SuppressionRecord) {
  return {
    kind: record.kind === "inline" ? "inSource" : "external",
    status: "accepted",
    justification: wellFormed(record.reason),
  };
}

function fixOf(fix: Fix, artifacts: Artifacts) {
  const files = new Map<string, { deletedRegion: ReturnType<typeof region>; insertedContent: { text: string } }[]>();
  for (const { span, newText } of fix.edits) {
    const replacement = { deletedRegion: region(span), insertedContent: { text: wellFormed(newText) } };
    push(files, span.source.file, replacement);
  }
  return {
    description: { text: messageText(fix.description) },
    artifactChanges: [...files].map(([file, replacements]) => ({
      artifactLocation: artifacts.location(file),
      replacements,
    })),
  };
}

function descriptor(id: string, context: ReportContext) {
  const rule = context.rules.get(id);
  const helpUri = context.urlOf(id);
  return {
    id,
    name: nameOf(id),
    ...(rule === undefined ? {} : details(rule)),
    ...(isAddress(helpUri) ? { helpUri } : {}),
  };
}

function details({ id, severity, docs }: Rule) {
  const fence = "```";
  const text = [
    docs.why,
    `Fix: ${docs.fix}`,
    `Bad:\n${docs.bad}`,
    `Good:\n${docs.good}`,
    `Source: ${docs.source.title} ${docs.source.url}`,
  ];
  const markdown = [
    docs.why,
    `**Fix.** ${docs.fix}`,
    `**Bad**\n\n${fence}\n${docs.bad}\n${fence}`,
    `**Good**\n\n${fence}\n${docs.good}\n${fence}`,
    `Source: [${docs.source.title}](${docs.source.url})`,
  ];
  return {
    shortDescription: { text: oneLine(docs.summary) },
    fullDescription: { text: docs.why },
    help: { text: text.join("\n\n"), markdown: markdown.join("\n\n") },
    defaultConfiguration: { level: LEVEL[severity] },
    properties: {
      tags: [id.slice(0, id.indexOf("/")), ...docs.rows],
      precision: "high",
      "problem.severity": severity === "info" ? "recommendation" : severity,
    },
  };
}
