import { describe, expect, it } from "vitest";
import suppressionRule from "../../rules/quorumlint/suppression.js";
import unclaimedRule from "../../rules/quorumlint/unclaimed.js";
import type { Diagnostic } from "../../src/engine/diagnostic.js";
import { planFixes } from "../../src/engine/fix.js";
import { messageSpec, type Rule } from "../../src/engine/rule.js";
import {
  applySuppressions,
  type CommentedText,
  collectSuppressions,
  type DeclaredSuppression,
  type SuppressionOptions,
} from "../../src/engine/suppression.js";
import type { FileKind } from "../../src/model/input.js";
import { applyEdits, Source, TextView } from "../../src/text/source.js";

const rule: Rule = { ...suppressionRule, id: "quorumlint/suppression" };
const known = new Set([
  "acl/default-user",
  "k8s/exec-probe",
  "k8s/resources",
  "packet/links",
  "redis/port",
  "quorumlint/suppression",
  "quorumlint/unclaimed",
]);
const options: SuppressionOptions = { rule, known, today: "2026-12-01" };

/** A finding at the first `needle` in a text. */
function finding(source: Source, needle: string, id = "k8s/exec-probe", more: Partial<Diagnostic> = {}): Diagnostic {
  const start = source.text.indexOf(needle);
  if (start < 0) throw new Error(`no "${needle}"`);
  return {
    rule: id,
    messageId: "m",
    severity: "error",
    message: `a fault at ${needle}`,
    help: undefined,
    contract: "lab",
    at: source.span(start, start + needle.length),
    pointer: undefined,
    related: [],
    fix: undefined,
    ...more,
  };
}

const file = (source: Source, kind: FileKind, more: Partial<CommentedText> = {}): CommentedText => ({
  source,
  kind,
  contract: "lab",
  ...more,
});

function run(text: string, kind: FileKind, needles: readonly (string | [string, string])[] = [], name = "f") {
  const source = new Source(name, text);
  const found = needles.map((n) => (typeof n === "string" ? finding(source, n) : finding(source, n[0], n[1])));
  const result = applySuppressions(found, collectSuppressions([file(source, kind)]), options);
  return {
    source,
    result,
    active: result.active.map((d) => source.slice(d.at)),
    suppressed: result.suppressed.map((d) => [source.slice(d.at), d.suppressed?.reason]),
    problems: result.problems.map((d) => `${d.messageId}: ${source.slice(d.at)}`),
  };
}

describe("comments", () => {
  it("suppress on their own line and on the line below, in YAML", () => {
    const r = run(
      [
        "livenessProbe: # quorumlint: ignore[k8s/exec-probe] no shell in the image",
        "# quorumlint: ignore[k8s/exec-probe, k8s/resources] — two of them",
        "readinessProbe: {}",
        "startupProbe: {}",
      ].join("\n"),
      "kubernetes",
      ["livenessProbe", "readinessProbe", ["{}", "k8s/resources"], "startupProbe"],
    );
    expect(r.active).toEqual(["startupProbe"]);
    expect(r.suppressed).toEqual([
      ["livenessProbe", "no shell in the image"],
      ["readinessProbe", "two of them"],
      ["{}", "two of them"],
    ]);
    expect(r.problems).toEqual([]);
    expect(r.result.suppressed[0]?.suppressed?.kind).toBe("inline");
  });

  it("stack: several above one line, with other comments between", () => {
    const both = run(
      "# quorumlint: ignore[k8s/exec-probe] a\r\n# why: it is so\r\n# quorumlint: ignore[k8s/resources] b\r\nX: 1\r\n",
      "yaml",
      ["X", ["X: 1", "k8s/resources"]],
    );
    expect(both.active).toEqual([]);
    expect(both.problems).toEqual([]);
  });

  it("do not reach further than one line", () => {
    const r = run("# quorumlint: ignore[k8s/exec-probe] reason\n\nx: 1\n", "yaml", ["x"]);
    expect(r.active).toEqual(["x"]);
    expect(r.problems).toEqual(["unused: k8s/exec-probe"]);
  });

  it("accept all rules of a pack", () => {
    const r = run("# quorumlint: ignore[k8s/*] legacy\nx: 1\n", "yaml", ["x", ["1", "acl/default-user"]]);
    expect(r.active).toEqual(["1"]);
    expect(r.problems).toEqual([]);
  });

  it("are read in each language with its own marker", () => {
    const cases: [FileKind, string][] = [
      ["lua", "-- quorumlint: ignore[k8s/exec-probe] r\nX\n"],
      ["lua", "X --- quorumlint: ignore[k8s/exec-probe] r\n"],
      ["java", "X // quorumlint: ignore[k8s/exec-probe] r\n"],
      ["typescript", "  // quorumlint: ignore[k8s/exec-probe] r\n  X\n"],
      ["conf", "# quorumlint: ignore[k8s/exec-probe] r\nX\n"],
      ["properties", "! quorumlint: ignore[k8s/exec-probe] r\nX\n"],
      ["env", "#quorumlint: ignore[k8s/exec-probe] r\nX\n"],
      ["shell", "X # quorumlint: ignore[k8s/exec-probe] r\n"],
      ["markdown", "<!-- quorumlint: ignore[k8s/exec-probe] r -->\nX\n"],
      ["yaml", "\ufeff# quorumlint: ignore[k8s/exec-probe] r\nX: 1\n"],
    ];
    for (const [kind, text] of cases) {
      const r = run(text, kind, ["X"]);
      expect([kind, r.suppressed, r.problems]).toEqual([kind, [["X", "r"]], []]);
    }
  });

  it("are not read out of strings and block comments", () => {
    const cases: [FileKind, string][] = [
      ["yaml", 'a: "# quorumlint: ignore[k8s/exec-probe] r"\n'],
      ["yaml", "a: |\n  # quorumlint: ignore[k8s/exec-probe] r\n  b\n"],
      ["lua", 'local s = "-- quorumlint: ignore[k8s/exec-probe] r"\n'],
      ["lua", "--[==[\n-- quorumlint: ignore[k8s/exec-probe] r ]]\n]==]\n"],
      ["lua", "local s = [[\n-- quorumlint: ignore[k8s/exec-probe] r\n]]\n"],
      ["java", 'String s = "\\"// quorumlint: ignore[k8s/exec-probe] r";\n'],
      ["java", 'String s = """\n  // quorumlint: ignore[k8s/exec-probe] r\n  """;\n'],
      ["java", "/*\n // quorumlint: ignore[k8s/exec-probe] r\n*/\n"],
      ["typescript", "const s = `\n // quorumlint: ignore[k8s/exec-probe] r\n`;\n"],
      ["typescript", "const s = `$\u007b`// quorumlint: ignore[k8s/exec-probe] r` + {}}`;\n"],
      ["text", "# quorumlint: ignore[k8s/exec-probe] r\n"],
    ];
    for (const [kind, text] of cases) expect([kind, text, run(text, kind).problems]).toEqual([kind, text, []]);
    const after = run("const s = `$\u007b{ a: `x` }}`; // quorumlint: ignore[k8s/exec-probe] r\n", "typescript");
    expect(after.problems).toEqual(["unused: k8s/exec-probe"]);
  });

  it("that merely talk about the linter are no suppressions", () => {
    expect(run("# quorumlint: see docs/rules\n# quorumlint: \n", "yaml").problems).toEqual([]);
  });

  it("of an embedded document hold for its next line", () => {
    const text =
      "data:\n  redis.conf: |\n    # quorumlint: ignore[redis/port] plain on loopback\n    port 6379\n    port 7\n";
    const source = new Source("cm.yaml", text);
    const start = text.indexOf("# q");
    const mid = text.indexOf("port 6379");
    const last = text.indexOf("port 7");
    const view = new TextView(source, `${text.slice(start, mid - 4)}port 6379\nport 7\n`, [
      { inner: 0, length: mid - 4 - start, outer: start, outerLength: mid - 4 - start },
      { inner: mid - 4 - start, length: 10, outer: mid, outerLength: 10 },
      { inner: mid - 4 - start + 10, length: 7, outer: last, outerLength: 7 },
    ]);
    const files = [file(source, "kubernetes"), file(source, "conf", { view })];
    const found = [finding(source, "port 6379", "redis/port"), finding(source, "port 7", "redis/port")];
    const result = applySuppressions(found, collectSuppressions(files), options);
    expect(result.suppressed.map((d) => source.slice(d.at))).toEqual(["port 6379"]);
    expect(result.problems).toEqual([]);
    const unused = applySuppressions([], collectSuppressions(files), options).problems[0]!;
    expect(applyEdits(source, unused.fix!.edits)).toBe("data:\n  redis.conf: |\n    port 6379\n    port 7\n");
  });
});

describe("faulty suppressions", () => {
  it("without a reason count for nothing", () => {
    const r = run("x: 1 # quorumlint: ignore[k8s/exec-probe]\ny: 1 # quorumlint: ignore[k8s/exec-probe] --\n", "yaml", [
      "x",
    ]);
    expect(r.active).toEqual(["x"]);
    expect(r.problems).toEqual(["missingReason: k8s/exec-probe", "missingReason: k8s/exec-probe"]);
    expect(r.result.problems[0]).toMatchObject({ rule: "quorumlint/suppression", severity: "error", contract: "lab" });
  });

  it("with an unknown rule name the nearest", () => {
    const r = run("# quorumlint: ignore[k8s/exec-prob, pakcet/*, nonsense] reason\nx: 1\n", "yaml");
    expect(r.result.problems.map((d) => d.message)).toEqual([
      '"k8s/exec-prob" is no rule that can be suppressed; did you mean "k8s/exec-probe"?',
      '"pakcet/*" is no rule that can be suppressed; did you mean "packet/*"?',
      '"nonsense" is no rule that can be suppressed',
    ]);
    expect(r.problems).toEqual(["unknownRule: k8s/exec-prob", "unknownRule: pakcet/*", "unknownRule: nonsense"]);
  });

  it("cannot hide themselves", () => {
    const text = "# quorumlint: ignore[quorumlint/suppression] quiet\n# quorumlint: ignore[k8s/resources] old\nx: 1\n";
    expect(run(text, "yaml").problems).toEqual(["unknownRule: quorumlint/suppression", "unused: k8s/resources"]);
    const pack = run("# quorumlint: ignore[quorumlint/*] quiet\nx: 1\n", "yaml", [["x", "quorumlint/suppression"]]);
    expect(pack.active).toEqual(["x"]);
  });

  it("of another form are named", () => {
    const r = run(
      "# quorumlint: disable[k8s/resources] r\n# quorumlint: ignore k8s/resources\n# quorumlint: ignore[] r\nx: 1\n",
      "yaml",
    );
    expect(r.problems.map((p) => p.split(":")[0])).toEqual(["malformed", "malformed", "malformed"]);
    expect(r.result.problems[0]?.message).toContain('"quorumlint: disable[k8s/resources]"');
  });

  it("stand where they are no comments", () => {
    for (const [kind, text] of [
      ["conf", "port 0 # quorumlint: ignore[redis/port] r\n"],
      ["properties", "a=b # quorumlint: ignore[redis/port] r\n"],
      ["env", "A=b # quorumlint: ignore[redis/port] r\n"],
      ["acl", "# quorumlint: ignore[acl/default-user] r\nuser default on\n"],
      ["acl", "user default on # quorumlint: ignore[acl/default-user] r\n"],
      ["json", '{\n  // quorumlint: ignore[k8s/resources] r\n  "a": 1 }\n'],
    ] as [FileKind, string][]) {
      const r = run(text, kind, [[text[0]!, "acl/default-user"]]);
      expect([kind, r.active.length, r.problems.map((p) => p.split(":")[0])]).toEqual([kind, 1, ["misplaced"]]);
    }
    expect(run('{ "a": "# quorumlint: ignore[k8s/resources] r" }\n', "json").problems).toEqual([]);
  });

  it("that nothing needs are reported at their id, and their fix takes just them away", () => {
    const texts: [string, string][] = [
      ["a: 1 # quorumlint: ignore[k8s/resources] r\nb: 2\n", "a: 1\nb: 2\n"],
      ["a:\r\n  # quorumlint: ignore[k8s/resources] r\r\n  b: 2\r\n", "a:\r\n  b: 2\r\n"],
      ["# quorumlint: ignore[k8s/resources] r", ""],
      ["a: 1 # quorumlint: ignore[k8s/exec-probe, k8s/resources] r\n", "a: 1 # quorumlint: ignore[k8s/exec-probe] r\n"],
      [
        "a: 1 # quorumlint: ignore[k8s/resources , k8s/exec-probe] r\n",
        "a: 1 # quorumlint: ignore[k8s/exec-probe] r\n",
      ],
    ];
    for (const [before, after] of texts) {
      const r = run(before, "yaml", before.includes("exec-probe") ? ["a"] : []);
      expect(r.problems).toEqual(["unused: k8s/resources"]);
      expect(applyEdits(r.source, planFixes(r.result.problems).edits)).toBe(after);
    }
    const html = run("x <!-- quorumlint: ignore[k8s/resources] r --> y\n", "markdown");
    expect(applyEdits(html.source, planFixes(html.result.problems).edits)).toBe("x y\n");
  });

  it("are not called unused where their rule did not run", () => {
    const source = new Source("f", "# quorumlint: ignore[k8s/*, k8s/resources, packet/links] r\nx: 1\n");
    const result = applySuppressions([], collectSuppressions([file(source, "yaml")]), {
      ...options,
      ran: (id) => id !== "k8s/exec-probe",
    });
    expect(result.problems.map((d) => source.slice(d.at))).toEqual(["k8s/resources", "packet/links"]);
  });

  it("take the severity that the contract gives them", () => {
    const source = new Source("f", "# quorumlint: ignore[k8s/resources] r\nx: 1\n");
    const list = collectSuppressions([file(source, "yaml")]);
    expect(applySuppressions([], list, { ...options, severity: () => "warning" }).problems[0]?.severity).toBe(
      "warning",
    );
    expect(applySuppressions([], list, { ...options, severity: () => "off" }).problems).toEqual([]);
  });

  it("are read once where a file belongs to two contracts", () => {
    const source = new Source("f", "# quorumlint: ignore[k8s/resources] r\nx: 1\n");
    const list = collectSuppressions([file(source, "yaml"), file(source, "yaml", { contract: "other" })]);
    expect(list).toHaveLength(1);
    const found = finding(source, "x", "k8s/resources", { contract: "other" });
    expect(applySuppressions([found], list, options)).toMatchObject({ active: [], problems: [] });
  });
});

describe("entries of the contract file", () => {
  const config = new Source(
    "quorumlint.yaml",
    'suppress:\n  - { rule: k8s/exec-probe, file: a.yaml, until: "2026-12-01" }\n',
  );
  const entry = (more: Partial<DeclaredSuppression> = {}): DeclaredSuppression => ({
    rule: "k8s/exec-probe",
    file: "a.yaml",
    reason: "the sidecar has no shell",
    contract: "lab",
    at: config.span(config.text.indexOf("{"), config.text.indexOf("}") + 1),
    ruleAt: config.span(config.text.indexOf("k8s"), config.text.indexOf(", file")),
    untilAt: config.span(config.text.indexOf('"'), config.text.lastIndexOf('"') + 1),
    ...more,
  });
  const source = new Source("a.yaml", "x: 1\ny: 2\n");
  const apply = (e: Partial<DeclaredSuppression>, more: Partial<SuppressionOptions> = {}) =>
    applySuppressions([finding(source, "x"), finding(source, "y")], collectSuppressions([], [entry(e)]), {
      ...options,
      ...more,
    });

  it("suppress every finding of a rule in a file", () => {
    const result = apply({});
    expect(result.active).toEqual([]);
    expect(result.suppressed.map((d) => d.suppressed)).toEqual([
      { kind: "contract", reason: "the sidecar has no shell" },
      { kind: "contract", reason: "the sidecar has no shell" },
    ]);
  });

  it("can be narrowed to a message, by its id or its text", () => {
    expect(apply({ message: "fault at x" }).active.map((d) => source.slice(d.at))).toEqual(["y"]);
    expect(apply({ message: "m" }).active).toEqual([]);
  });

  it("take globs from the surface", () => {
    expect(apply({ file: "*.yaml" }).active).toHaveLength(2);
    expect(apply({ file: "*.yaml" }, { matches: (_, f) => f.endsWith(".yaml") }).active).toEqual([]);
    expect(apply({ file: undefined }).active).toEqual([]);
  });

  it("hold through their last day", () => {
    expect(apply({ until: "2026-12-01" }).problems).toEqual([]);
    const late = apply({ until: "2026-11-30" });
    expect(late.active).toHaveLength(2);
    expect(late.problems.map((d) => [d.messageId, config.slice(d.at)])).toEqual([["expired", '"2026-12-01"']]);
    expect(late.problems[0]?.message).toContain("ended on 2026-11-30");
    for (const until of ["2026-02-30", "2027", "next year", "2027-13-01", "2028-02-29"]) {
      expect([until, apply({ until }).problems.length]).toEqual([until, until === "2028-02-29" ? 0 : 1]);
    }
  });

  it("are reported like comments", () => {
    expect(apply({ reason: " " }).problems.map((d) => d.messageId)).toEqual(["missingReason"]);
    expect(apply({ reason: undefined }).problems.map((d) => d.messageId)).toEqual(["missingReason"]);
    const unknown = apply({ rule: "k8s/exec-probes" }).problems[0]!;
    expect(unknown.message).toContain('did you mean "k8s/exec-probe"?');
    expect(config.slice(unknown.at)).toBe("k8s/exec-probe");
    expect(apply({ file: "b.yaml" }).problems.map((d) => d.messageId)).toEqual(["unused"]);
  });
});

describe("hostile comments", () => {
  it("cost time in proportion", () => {
    const texts: [FileKind, string][] = [
      ["yaml", `a: ${"# quorumlint: ".repeat(200_000)}\n`],
      ["yaml", `a: ${"quorumlint: ".repeat(200_000)}\n`],
      ["conf", "# quorumlint: ignore[k8s/resources] r\n".repeat(20_000)],
      ["conf", `${" ".repeat(1_000_000)}# quorumlint: ignore[k8s/resources] r\n`],
      ["conf", `# quorumlint: ignore[${"k8s/resources,".repeat(20_000)}] r\n`],
      ["lua", "[[ -- quorumlint: [=[ ".repeat(50_000)],
      ["java", '"""\\ // quorumlint: " /* '.repeat(50_000)],
      ["typescript", "`$\u007b // quorumlint: ".repeat(50_000)],
    ];
    for (const [kind, text] of texts) {
      const from = performance.now();
      const source = new Source("f", text);
      applySuppressions([], collectSuppressions([file(source, kind)]), options);
      expect([kind, performance.now() - from < 10_000]).toEqual([kind, true]);
    }
  });
});

describe("metadata", () => {
  it("has a text for every message and every document line", () => {
    for (const r of [suppressionRule, unclaimedRule]) {
      for (const id of Object.keys(r.messages)) expect(messageSpec(r, id).text.length).toBeGreaterThan(10);
      for (const text of [r.docs.summary, r.docs.why, r.docs.fix, r.docs.bad, r.docs.good]) {
        expect(text.trim().length).toBeGreaterThan(10);
      }
      expect(r.docs.source.url).toMatch(/^https:/);
      expect(r.on).toEqual({});
    }
  });
});
