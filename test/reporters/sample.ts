/** One result that holds every hard case; all reporter tests print it. */
import type { Diagnostic, Severity } from "../../src/engine/diagnostic.js";
import { type LintResult, summarize } from "../../src/engine/result.js";
import type { Rule } from "../../src/engine/rule.js";
import { PLAIN, type ReportContext } from "../../src/reporter/shared.js";
import { Source } from "../../src/text/source.js";

export function ruleOf(id: string, severity: Severity = "error"): Rule {
  return {
    id,
    severity,
    docs: {
      summary: `What ${id} promises`,
      why: "Without it a failover stops, e.g. when a node is lost. The rest is history.",
      fix: "Write what is right.",
      bad: "a: 1",
      good: "a: 2",
      source: { title: "Kubernetes", url: "https://kubernetes.io/docs/" },
      rows: ["C-K01"],
    },
    messages: {},
    on: {},
  };
}

const IDS = [
  "acl/default-user",
  "k8s/resources",
  "k8s/exec-probe",
  "redis/port",
  "yaml/syntax",
  "secret/tracked-value",
];

export const context: ReportContext = {
  rules: new Map(IDS.map((id) => [id, ruleOf(id)])),
  color: PLAIN,
  urlOf: (id) => `https://quorumlint.example/rules/${id}.md`,
};

export function diagnostic(
  source: Source,
  start: number,
  end: number,
  rule: string,
  message: string,
  more: Partial<Diagnostic> = {},
): Diagnostic {
  return {
    rule,
    messageId: "m",
    severity: "error",
    message,
    help: undefined,
    contract: "redis-lab",
    at: source.span(start, end),
    pointer: undefined,
    related: [],
    fix: undefined,
    ...more,
  };
}

export function at(source: Source, needle: string): [number, number] {
  const start = source.text.indexOf(needle);
  if (start < 0) throw new Error(`no ${JSON.stringify(needle)} in ${source.file}`);
  return [start, start + needle.length];
}

export function resultOf(diagnostics: readonly Diagnostic[], more: Partial<LintResult> = {}): LintResult {
  const suppressed = more.suppressed ?? [];
  const files = new Set([...diagnostics, ...suppressed].map((d) => d.at.source.file));
  return {
    tool: { name: "quorumlint", version: "0.1.0" },
    summary: summarize({ contracts: 1, files: files.size, documents: 31, rules: 80 }, diagnostics, suppressed),
    inputs: [...files].map((file) => ({ file, kind: "yaml", contract: "redis-lab" })),
    diagnostics,
    suppressed,
    crashes: [],
    ...more,
  };
}

const acl = new Source(
  "config/redis-users.acl.tmpl",
  "user default on nopass ~* +@all\r\nuser app on >{{APP}} ~app:{t}:* +get\r\n",
);
const yaml = new Source(
  "k3s/redis data[1].yaml",
  [
    "apiVersion: apps/v1",
    "kind: StatefulSet",
    "metadata: { name: redis-data }",
    "spec:",
    "  template:",
    "    spec:",
    "      affinity:",
    "        podAntiAffinity:",
    "          preferred: []",
    "          weight: 1",
    "      containers: []",
    "",
  ].join("\n"),
);
const wide = new Source("k3s/넓은 파일.yaml", '\tname: "漢字 👩‍👩‍👧 é"\tvalue: x # \u202e\u0007\u001b[31m\n');
const long = new Source("k3s/long.json", `{"a": "${"x".repeat(20_000)}", "b": "here", "c": "${"y".repeat(20_000)}"}\n`);
const nasty = new Source("a:b,c%d/<script>&'\"|`.yaml", "key: <script>alert(1)</script>]]>\u0000x\n");
const empty = new Source("empty.conf", "");

/** Findings with every hard text and place, in no order. */
export const hard: readonly Diagnostic[] = [
  diagnostic(long, ...at(long, '"here"'), "k8s/resources", "m".repeat(300), { severity: "info", pointer: "/b" }),
  diagnostic(acl, 0, 12, "acl/default-user", 'the user "default" is on without a password', {
    help: "write `user default off`",
    related: [
      { at: acl.span(...at(acl, "+@all")), message: "this grants every command" },
      { at: yaml.span(...at(yaml, "StatefulSet")), message: "which loads it <b>&amp;</b>" },
    ],
    fix: {
      description: "Turn the user off",
      edits: [
        { span: acl.span(...at(acl, "on nopass")), newText: "off" },
        { span: yaml.span(yaml.text.length, yaml.text.length), newText: "# \u0000<x>]]>\n" },
      ],
    },
  }),
  diagnostic(
    yaml,
    yaml.text.indexOf("affinity"),
    yaml.text.indexOf("      containers"),
    "k8s/exec-probe",
    "spans | lines",
    {
      severity: "warning",
      pointer: "/spec/template/spec/affinity",
    },
  ),
  diagnostic(
    wide,
    ...at(wide, "👩‍👩‍👧"),
    "k8s/resources",
    "wide 漢字 👩‍👩‍👧 \u001b[31mred\u001b[0m \u202eltr\u0007 \ud800 lone",
    {
      pointer: "/name",
    },
  ),
  diagnostic(
    nasty,
    ...at(nasty, "<script>"),
    "secret/tracked-value",
    "<script>alert('x')</script> ]]> & \"q\" @user #12 [a](b)",
    {
      severity: "warning",
    },
  ),
  diagnostic(nasty, 0, 0, "yaml/syntax", "the file holds a NUL byte\r\nit is not\ttext: %0A,::error::", {}),
  diagnostic(empty, 0, 0, "redis/port", "the file is empty"),
];

export const suppressed: readonly Diagnostic[] = [
  diagnostic(yaml, ...at(yaml, "containers"), "k8s/exec-probe", "hidden by a comment", {
    suppressed: { kind: "inline", reason: "no shell <in> the image" },
  }),
  diagnostic(yaml, ...at(yaml, "weight: 1"), "k8s/resources", "hidden by the contract file", {
    suppressed: { kind: "contract", reason: "until the new nodes are there" },
  }),
  diagnostic(acl, ...at(acl, "user app"), "acl/default-user", "hidden by the baseline", {
    suppressed: { kind: "baseline", reason: "known" },
  }),
];

export const result: LintResult = resultOf(hard, {
  suppressed,
  inputs: [
    { file: "config/redis-users.acl.tmpl", kind: "acl", contract: "redis-lab" },
    { file: "clean.yaml", kind: "kubernetes", contract: "redis-lab" },
    { file: "logo.png", kind: "ignored", contract: undefined, reason: "not a kind that is read" },
    { file: "k3s/redis data[1].yaml", kind: "kubernetes", contract: "redis-lab" },
  ],
  crashes: [
    {
      rule: "k8s/resources",
      file: "k3s/long.json",
      contract: "redis-lab",
      error: new TypeError("x is undefined <&> \u001b[0m"),
    },
  ],
});

export const clean: LintResult = resultOf([], {
  inputs: [{ file: "clean.yaml", kind: "kubernetes", contract: "redis-lab" }],
});
