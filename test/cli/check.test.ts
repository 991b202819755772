/** `quorumlint check` as a process: exit codes, streams, formats, bad input. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv";
import { afterAll, describe, expect, it } from "vitest";
import { commandTree } from "../../src/cli/commands.js";
import { COMMANDS, PLAIN_CHECK } from "../../src/cli/usage.js";
import { root } from "../support.js";
import { edit, goldenCopy, quorumlint, removeTemporary, temporary } from "./run.js";

afterAll(removeTemporary);

const resultSchema = new Ajv({ strict: false }).compile(
  JSON.parse(readFileSync(join(root, "schemas/result.schema.json"), "utf8")),
);

interface Result {
  summary: Record<string, number>;
  inputs: { file: string; kind: string; reason?: string }[];
  diagnostics: {
    rule: string;
    file: string;
    severity: string;
    range: { start: { line: number; column: number } };
    message: string;
  }[];
}

function json(
  args: readonly string[],
  options: Parameters<typeof quorumlint>[1] = {},
): { code: number | null; result: Result; stderr: string } {
  const run = quorumlint([...args, "--format", "json"], options);
  const result = JSON.parse(run.stdout) as Result;
  expect(resultSchema(result), JSON.stringify(resultSchema.errors)).toBe(true);
  return { code: run.code, result, stderr: run.stderr };
}

describe("exit codes", () => {
  it("0: the golden contract has no finding", () => {
    const { code, result } = json(["check", "fixtures/redis-lab"]);
    expect(result.diagnostics).toEqual([]);
    expect(code).toBe(0);
    expect(result.summary["documents"]).toBeGreaterThan(20);
  });

  it("check is the default command", () => expect(quorumlint(["fixtures/redis-lab"]).code).toBe(0));

  it("1: a finding, on standard output", () => {
    const folder = goldenCopy();
    edit(folder, "infra/redis-lab/k3s/redis-sentinel.yaml", "minAvailable: 2", "minAvailable: 3");
    const run = quorumlint(["check", folder]);
    expect(run.code).toBe(1);
    expect(run.stdout).toContain("k8s/disruption-budget");
    expect(run.stdout).toMatch(/redis-sentinel\.yaml:57:17/);
    expect(quorumlint(["check", folder, "--fail-on", "never"]).code).toBe(0);
    expect(quorumlint(["check", folder, "--skip", "k8s/*"]).code).toBe(0);
    expect(quorumlint(["check", folder, "--rule", "image/*"]).code).toBe(0);
  });

  it("a file argument checks its whole contract; a file of no contract is nothing to check", () => {
    const folder = goldenCopy();
    edit(folder, "infra/redis-lab/k3s/redis-sentinel.yaml", "minAvailable: 2", "minAvailable: 3");
    writeFileSync(join(folder, "notes.txt"), "hello");
    const file = quorumlint(["check", join(folder, "infra/redis-lab/config/redis.conf.tmpl")]);
    expect(file.code).toBe(1);
    const other = quorumlint(["check", join(folder, "notes.txt")]);
    expect(other.code).toBe(0);
    expect(other.stderr).toContain("nothing to check");
  });

  it("many files of one contract, as a hook passes them, are one check of it, whichever comes first", () => {
    const folder = goldenCopy();
    edit(folder, "infra/redis-lab/k3s/redis-sentinel.yaml", "minAvailable: 2", "minAvailable: 3");
    writeFileSync(join(folder, "notes.md"), "hello");
    const files = [
      "notes.md",
      "quorumlint.yaml",
      "infra/redis-lab/config/redis.conf.tmpl",
      "infra/redis-lab/README.md",
    ];
    for (const names of [files, [...files].reverse()]) {
      const { code, result, stderr } = json(["check", ...names.map((f) => join(folder, f))]);
      expect(code).toBe(1);
      expect(stderr).toBe("");
      expect(result.summary["contracts"]).toBe(1);
      expect(result.diagnostics.map((d) => d.rule)).toEqual(["k8s/disruption-budget"]);
    }
    // without a contract file, what comes first may be none of ours
    const plain = temporary();
    writeFileSync(join(plain, "a.txt"), "hello");
    writeFileSync(join(plain, "users.acl"), "user default on nopass ~* &* +@all\n");
    const inferred = json(["check", join(plain, "a.txt"), join(plain, "users.acl")]);
    expect(inferred.result.diagnostics.map((d) => d.rule)).toContain("acl/default-user");
  });

  it.each([
    ["an option that is not there", ["check", "--fromat", "json"], "--fromat"],
    ["a format that is not there", ["check", "fixtures/redis-lab", "--format", "jsn"], 'did you mean "json"'],
    [
      "a rule pattern that matches nothing",
      ["check", "fixtures/redis-lab", "--rule", "k8s/exec-prob"],
      'did you mean "k8s/exec-probe"',
    ],
    ["a path that is not there", ["check", "no/such/path"], "no/such/path"],
    ["a rule to explain that is not there", ["explain", "k8s/exec-prob"], 'did you mean "k8s/exec-probe"'],
    ["a command that is not there", ["grpah", "fixtures/redis-lab"], 'did you mean "graph"'],
    ["a severity that is not there", ["check", "--fail-on", "fatal"], "fatal"],
  ])("2: %s", (_, args, text) => {
    const run = quorumlint(args as string[]);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(text);
    expect(run.stdout).toBe("");
  });

  it.each([
    [
      "an unknown key",
      "    preset: redis-sentinel",
      "    prest: redis-sentinel",
      /quorumlint\.yaml:5:5: unknown key "prest".*did you mean "preset"/,
    ],
    [
      "an unknown rule",
      "contracts:",
      "rules: { k8s/exec-prob: off }\ncontracts:",
      /quorumlint\.yaml:3:10: there is no rule "k8s\/exec-prob"; did you mean "k8s\/exec-probe"/,
    ],
    [
      "a glob that matches nothing",
      "[infra/redis-lab/k3s/*.yaml]",
      "[infra/redis-lab/k8s/*.yaml]",
      /quorumlint\.yaml:9:19: "infra\/redis-lab\/k8s\/\*\.yaml" matches no file/,
    ],
    ["a wrong enum", "rotation: none", "rotation: lively", /"lively" is not one of none, live; did you mean "live"/],
    [
      "a key twice",
      "    preset: redis-sentinel",
      "    preset: redis-sentinel\n    preset: redis-sentinel",
      /quorumlint\.yaml:6:5: the key "preset" stands twice/,
    ],
    ["a syntax error", "contracts:", "contracts: [", /quorumlint\.yaml:\d+:\d+: /],
    [
      "a path that leaves the root",
      "[infra/redis-lab/k3s/*.yaml]",
      "[../*.yaml]",
      /leaves the directory of the contract file/,
    ],
  ])("2: a contract file with %s", (_, from, to, message) => {
    const folder = goldenCopy();
    edit(folder, "quorumlint.yaml", from, to);
    const run = quorumlint(["check", folder]);
    expect(run.stderr).toMatch(message);
    expect(run.code).toBe(2);
  });

  it("the commands that a typing error is compared with are all there are", () => {
    const names = commandTree(() => async () => {}).commands.map((c) => c.name());
    expect([...COMMANDS].sort()).toEqual(names.sort());
  });

  it("a check without options is what the parser of options makes of it", async () => {
    const given: unknown[] = [];
    const tree = commandTree(
      () =>
        async (...args) => {
          given.push(args.slice(0, 2));
        },
      "check",
    );
    await tree.parseAsync(["check", "a", "b"], { from: "user" });
    expect(given).toEqual([[["a", "b"], PLAIN_CHECK]]);
  });

  it("0 with a note: a directory without anything to check", () => {
    const run = quorumlint(["check", temporary()]);
    expect(run.code).toBe(0);
    expect(run.stderr).toContain("nothing to check");
  });
});

describe("bad input", () => {
  const manifest = (extra: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: x }\ndata:\n  redis.conf: |\n    port 6379\n${extra}`;

  it.each<[string, string | Buffer, RegExp]>([
    ["unparseable", "apiVersion: v1\nkind: [\n", /yaml\/syntax/],
    ["binary", Buffer.from([0, 1, 2, 3, 0]), /binary|NUL/],
    ["not UTF-8", Buffer.concat([Buffer.from("apiVersion: v1\nkind: x\na: "), Buffer.from([0xff, 0xfe])]), /UTF-8/],
    ["10,000 levels deep", `apiVersion: v1\nkind: x\na: ${"[".repeat(10_000)}${"]".repeat(10_000)}\n`, /nest/],
    [
      "an alias bomb",
      `apiVersion: v1\nkind: x\n${Array.from(
        { length: 12 },
        (_, i) =>
          `x${i}: &x${i} [${
            i === 0
              ? "1"
              : Array(10)
                  .fill(`*x${i - 1}`)
                  .join(", ")
          }]`,
      ).join("\n")}\n`,
      /alias/,
    ],
  ])("%s: one finding, and the other files are still checked", (_, content, message) => {
    const folder = temporary();
    writeFileSync(join(folder, "bad.yaml"), content);
    writeFileSync(join(folder, "good.yaml"), manifest("    requirepass hunter2secret\n"));
    const { code, result } = json(["check", folder]);
    const of = result.diagnostics.filter((d) => d.file === "bad.yaml");
    const ignored = result.inputs.filter((i) => i.file === "bad.yaml" && i.kind === "ignored");
    expect(of.length + ignored.length).toBe(1);
    if (of.length === 1) expect(`${of[0]!.rule} ${of[0]!.message}`).toMatch(message);
    expect(result.diagnostics.some((d) => d.file === "good.yaml" && d.rule === "secret/tracked-value")).toBe(true);
    expect(code).toBe(1);
  });

  it("an empty file is listed", () => {
    const folder = temporary();
    writeFileSync(join(folder, "empty.yaml"), "");
    writeFileSync(join(folder, "good.yaml"), manifest(""));
    const { result } = json(["check", folder]);
    expect(result.inputs.find((i) => i.file === "empty.yaml")?.kind).toBe("ignored");
  });

  it("a file that may not be read is a finding", () => {
    if (process.getuid?.() === 0) return; // root may read everything
    const folder = goldenCopy();
    chmodSync(join(folder, "infra/redis-lab/k3s/namespace.yaml"), 0);
    const { result } = json(["check", folder]);
    expect(result.diagnostics.some((d) => d.message.includes("cannot be read"))).toBe(true);
  });

  it("50 MB of YAML: bounded", () => {
    const folder = temporary();
    const document = `---\n${manifest("    appendonly yes\n")}`;
    writeFileSync(join(folder, "big.yaml"), document.repeat(Math.ceil((50 * 1024 * 1024) / document.length)));
    const started = process.hrtime.bigint();
    const { result } = json(["check", folder, "--rule", "yaml/*"]);
    expect(result.inputs.find((i) => i.file === "big.yaml")?.reason).toMatch(
      /the file has 50\.1 MiB; at most 16 MiB are read/,
    );
    expect(Number(process.hrtime.bigint() - started) / 1e9).toBeLessThan(60);
  });

  it("globs that would take forever in a regular expression", () => {
    const folder = goldenCopy();
    edit(
      folder,
      "quorumlint.yaml",
      "contracts:",
      `ignore: ["${"**/*a".repeat(20)}b", "{${"a,".repeat(50)}b}{${"a,".repeat(50)}b}{${"a,".repeat(50)}b}"]\ncontracts:`,
    );
    expect(quorumlint(["check", folder]).code).toBe(0);
  });

  it("names with spaces, newlines and control characters do not break the output", () => {
    const folder = temporary();
    mkdirSync(join(folder, "a b\u001b[31m"));
    writeFileSync(join(folder, "a b\u001b[31m", "c\n.yaml"), manifest("    requirepass hunter2secret\n"));
    const { result } = json(["check", folder]);
    expect(result.diagnostics.length).toBeGreaterThan(0);
    expect(quorumlint(["check", folder]).stdout).not.toContain("\u001b[31m");
  });
});

describe("colours", () => {
  const ESCAPE = "\x1b[";
  const coloured = (args: readonly string[], env: Record<string, string>): boolean => {
    const folder = temporary();
    writeFileSync(join(folder, "users.acl"), "user default on nopass ~* &* +@all\n");
    return quorumlint(["check", folder, ...args], { env: { NO_COLOR: "", ...env } }).stdout.includes(ESCAPE);
  };

  it.each([
    [false, [], { FORCE_COLOR: "0" }],
    [false, [], { FORCE_COLOR: "false" }],
    [true, [], { FORCE_COLOR: "1" }],
    [true, [], { FORCE_COLOR: "true" }],
    [false, [], { FORCE_COLOR: "1", NO_COLOR: "1" }],
    [false, ["--no-color"], { FORCE_COLOR: "1" }],
    [true, ["--color"], { FORCE_COLOR: "0", NO_COLOR: "1" }],
  ] as const)("%s with %j and %j", (expected, args, env) => {
    expect(coloured(args, env)).toBe(expected);
  });

  it("never in a file, nor in a format that is data", () => {
    const folder = temporary();
    writeFileSync(join(folder, "users.acl"), "user default on nopass ~* &* +@all\n");
    const out = join(folder, "out.txt");
    const run = quorumlint(["check", folder, "--color", "--format", `pretty=${out}`, "--format", "json"]);
    expect(readFileSync(out, "utf8") + run.stdout).not.toContain(ESCAPE);
  });
});

describe("output", () => {
  it("is the same bytes for the same input", () => {
    const folder = goldenCopy();
    edit(folder, "infra/redis-lab/k3s/redis-data.yaml", "replicas: 3", "replicas: 2");
    const args = ["check", folder, "--format", "json"];
    expect(quorumlint(args).stdout).toBe(quorumlint(args).stdout);
  });

  it("several formats at once, some into files", () => {
    const folder = goldenCopy();
    edit(folder, "infra/redis-lab/k3s/redis-data.yaml", "replicas: 3", "replicas: 2");
    const file = join(temporary(), "out", "a.sarif");
    const run = quorumlint(["check", folder, "--format", "github", "--format", `sarif=${file}`]);
    expect(run.stdout).toContain("::error file=");
    expect(JSON.parse(readFileSync(file, "utf8")).version).toBe("2.1.0");
  });

  it("reads standard input", () => {
    const run = json(["check", "-", "--stdin-filename", "render.yaml"], { input: manifestOfSentinel });
    expect(run.result.inputs.map((i) => i.file)).toEqual(["render.yaml"]);
    expect(run.result.diagnostics.length).toBeGreaterThan(0);
  });

  it("suppresses with a reason, and says what is unused", () => {
    const folder = goldenCopy();
    edit(
      folder,
      "infra/redis-lab/k3s/redis-sentinel.yaml",
      "  minAvailable: 2",
      "  # quorumlint: ignore[k8s/disruption-budget] drains are manual here\n  minAvailable: 3",
    );
    const first = json(["check", folder]);
    expect(first.result.diagnostics).toEqual([]);
    expect(first.result.summary["suppressed"]).toBe(1);
    edit(folder, "infra/redis-lab/k3s/redis-sentinel.yaml", "minAvailable: 3", "minAvailable: 2");
    expect(json(["check", folder]).result.diagnostics.map((d) => d.rule)).toEqual(["quorumlint/suppression"]);
  });

  it("a baseline hides what is known, and only that", () => {
    const folder = goldenCopy();
    const baseline = join(folder, "baseline.json");
    edit(folder, "infra/redis-lab/k3s/redis-sentinel.yaml", "minAvailable: 2", "minAvailable: 3");
    expect(quorumlint(["check", folder, "--baseline", baseline, "--update-baseline"]).code).toBe(0);
    expect(quorumlint(["check", folder, "--baseline", baseline]).code).toBe(0);
    edit(folder, "infra/redis-lab/k3s/redis-data.yaml", "minAvailable: 2", "minAvailable: 3");
    expect(quorumlint(["check", folder, "--baseline", baseline]).code).toBe(1);
  });

  it("--strict-discovery names files that no contract claims", () => {
    const folder = goldenCopy();
    writeFileSync(join(folder, "infra/stray.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: stray }\n");
    expect(quorumlint(["check", folder]).code).toBe(0);
    const { code, result } = json(["check", folder, "--strict-discovery"]);
    expect(result.diagnostics.map((d) => [d.rule, d.file])).toEqual([["quorumlint/unclaimed", "infra/stray.yaml"]]);
    expect(code).toBe(1);
  });
});

const manifestOfSentinel = `apiVersion: apps/v1
kind: StatefulSet
metadata: { name: sentinel }
spec:
  serviceName: sentinel
  replicas: 3
  selector: { matchLabels: { app: s } }
  template:
    metadata: { labels: { app: s } }
    spec:
      containers:
        - { name: sentinel, image: "redis:7", command: [redis-sentinel, /etc/sentinel.conf] }
`;
