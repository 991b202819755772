/** SARIF against the official schema and Microsoft's validator, both of which the SARIF multitool package carries. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { sarif, toSarif } from "../../src/reporter/sarif.js";
import { Source } from "../../src/text/source.js";
import { clean, context, diagnostic, result, resultOf } from "./sample.js";

function multitool(): string | undefined {
  try {
    const found = createRequire(import.meta.url).resolve(`@microsoft/sarif-multitool-${process.platform}/package.json`);
    return dirname(found);
  } catch {
    // its binary comes with the package of the platform, by npm alone; the project's own run must have it
    if (process.env["CI"] !== undefined && process.platform === "linux" && process.arch === "x64")
      throw new Error("the SARIF multitool is not installed: npm ci brings it");
    console.log("the SARIF multitool is not installed here: its schema and its validator are not asked");
    return undefined;
  }
}

const tool = multitool();
/** Turns the one rule off that asks the network whether addresses are there. */
const OFFLINE = `<?xml version="1.0" encoding="utf-8"?>
<Properties>
  <Properties Key="SARIF2006.UrisShouldBeReachable.Options">
    <Property Key="RuleEnabled" Type="Sarif.Driver.RuleEnabledState" Value="Disabled" />
  </Properties>
</Properties>
`;
const logs = { broken: sarif(result, context), clean: sarif(clean, context) };

describe.runIf(tool !== undefined)("the standard", () => {
  it("is met: the official schema accepts every log", () => {
    const schema = JSON.parse(readFileSync(join(tool!, "sarif-2.1.0.json"), "utf8"));
    const validate = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
    for (const log of Object.values(logs)) {
      validate(JSON.parse(log));
      expect(validate.errors).toBeNull();
    }
    expect(validate({ version: "2.1.0", runs: [{}] })).toBe(false);
  });

  it("is met: the multitool's validator finds no error and no warning", { timeout: 300_000 }, () => {
    const binary = join(tool!, process.platform === "win32" ? "Sarif.Multitool.exe" : "Sarif.Multitool");
    // package managers that run no install scripts leave it without its bit
    if (existsSync(binary)) chmodSync(binary, 0o755);
    const folder = mkdtempSync(join(tmpdir(), "sarif-"));
    const validate = (log: string): string[] => {
      const [file, output] = [join(folder, "log.sarif"), join(folder, "findings.json")];
      const config = join(folder, "config.xml");
      writeFileSync(file, log);
      writeFileSync(config, OFFLINE);
      const args = ["--rule-kind", "Sarif;Ghas", "--level", "Error;Warning", "--quiet", "true", "--config", config];
      try {
        execFileSync(binary, ["validate", file, ...args, "--output", output, "--log", "ForceOverwrite"], {
          env: { ...process.env, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: "1" },
          stdio: "pipe",
        });
      } catch {
        // its exit code is 1 when it finds errors: what it found is in its output
      }
      const { results } = JSON.parse(readFileSync(output, "utf8")).runs[0];
      return results.map((r: { ruleId: string; message: unknown }) => `${r.ruleId} ${JSON.stringify(r.message)}`);
    };
    try {
      expect(validate(logs.broken)).toEqual([]);
      expect(validate(logs.clean.replace('"roles"', '"rolls"'))).not.toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("a SARIF log", () => {
  const run = toSarif(result, context).runs[0]!;

  it("describes its rules", () => {
    const rule = run.tool.driver.rules.find((r) => r.id === "k8s/exec-probe")!;
    expect(rule).toMatchObject({
      name: "K8sExecProbe",
      shortDescription: { text: "What k8s/exec-probe promises" },
      helpUri: "https://quorumlint.example/rules/k8s/exec-probe.md",
      defaultConfiguration: { level: "error" },
      properties: { tags: ["k8s", "C-K01"], precision: "high", "problem.severity": "error" },
    });
    expect(run.tool.driver.informationUri).toBe("https://quorumlint.example/rules/");
  });

  it("gives suppressed findings their justification, and all others none", () => {
    const hidden = run.results.filter((r) => r.suppressions?.length === 1);
    expect(hidden.map((r) => r.suppressions)).toEqual([
      [{ kind: "external", status: "accepted", justification: "known" }],
      [{ kind: "external", status: "accepted", justification: "until the new nodes are there" }],
      [{ kind: "inSource", status: "accepted", justification: "no shell <in> the image" }],
    ]);
    expect(run.results.filter((r) => r.suppressions?.length === 0)).toHaveLength(7);
    expect(toSarif({ ...result, suppressed: [] }, context).runs[0]!.results.every((r) => !("suppressions" in r))).toBe(
      true,
    );
  });

  it("carries fixes and related places", () => {
    const fixed = run.results.find((r) => r.fixes !== undefined)!;
    expect(fixed.fixes![0]!.artifactChanges.map((c) => c.artifactLocation.uri)).toEqual([
      "config/redis-users.acl.tmpl",
      "k3s/redis%20data%5B1%5D.yaml",
    ]);
    expect(fixed.relatedLocations![0]!.physicalLocation.region).toEqual({
      startLine: 1,
      startColumn: 27,
      endLine: 1,
      endColumn: 32,
    });
  });

  it("has a fingerprint of its own for every finding, which moved lines do not change", () => {
    const print = (text: string) => {
      const source = new Source("f.conf", text);
      const start = text.indexOf("port");
      const found = [start, text.lastIndexOf("port")].map((s) => diagnostic(source, s, s + 4, "redis/port", "open"));
      return toSarif(resultOf(found), context).runs[0]!.results.map((r) => r.partialFingerprints);
    };
    const before = print("port 1\nport 1\n");
    expect(new Set(before.map((p) => JSON.stringify(p))).size).toBe(2);
    expect(print("# x\n\nport 1\n\nport 1\n")).toEqual(before);
  });

  it("says that a rule crashed", () => {
    expect(run.invocations[0]).toMatchObject({
      executionSuccessful: false,
      toolExecutionNotifications: [{ level: "error", associatedRule: { id: "k8s/resources" } }],
    });
    expect(toSarif(clean, context).runs[0]!.invocations[0]!.executionSuccessful).toBe(true);
  });

  it("lists what was checked, and addresses it from the root", () => {
    expect(run.artifacts.map((a) => a.location.uri)).toContain("clean.yaml");
    expect(run.artifacts.map((a) => a.location.uri)).not.toContain("logo.png");
    const prefixed = toSarif(clean, { ...context, pathOf: (f) => `infra/${f}` }).runs[0]!;
    expect(prefixed.artifacts.map((a) => a.location)).toEqual([{ uri: "infra/clean.yaml", uriBaseId: "%SRCROOT%" }]);
  });

  it("leaves addresses out that are none", () => {
    const { driver } = toSarif(clean, { ...context, urlOf: (id) => `docs/${id}.md` }).runs[0]!.tool;
    expect("informationUri" in driver).toBe(false);
    expect(driver.rules.every((r) => !("helpUri" in r))).toBe(true);
  });
});
