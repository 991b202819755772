/** The GitHub action and the GitLab template: valid for their platforms, and their shell steps run as the platforms run them. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { validateAction, validateWorkflow } from "@action-validator/core";
import { Ajv } from "ajv";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { edit, goldenCopy, removeTemporary, temporary } from "../cli/run.js";
import { codeQualitySchema, gitlabJobSchema } from "../reporters/gitlab-schema.js";
import { root } from "../support.js";
import { recipe } from "./recipe.js";

afterAll(removeTemporary);

interface Step {
  readonly name: string;
  readonly id?: string;
  readonly if?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly shell?: string;
  readonly env?: Record<string, string>;
  readonly with?: Record<string, string>;
}

const actionText = readFileSync(join(root, "action.yml"), "utf8");
const action = parse(actionText) as {
  inputs: Record<string, { default?: string }>;
  outputs: Record<string, { value: string }>;
  runs: { steps: Step[] };
};

interface Job {
  /** Exit code of the first step that failed; 0 where none did. */
  readonly code: number;
  readonly log: string;
  readonly summary: string;
  readonly outputs: Readonly<Record<string, string>>;
  /** Steps that use another action, with their inputs. */
  readonly used: readonly Step[];
}

/**
 * The action's folder as a runner has it after the first run: what `setup.mjs` would install and build is there already, so
 * that a test changes nothing of this checkout.
 */
function actionFolder(): string {
  const folder = temporary();
  mkdirSync(join(folder, "src/dev"), { recursive: true });
  cpSync(join(root, "src/dev/setup.mjs"), join(folder, "src/dev/setup.mjs"));
  writeFileSync(join(folder, "package-lock.json"), "{}");
  for (const made of ["node_modules/.package-lock.json", "dist/quorumlint.cjs"]) {
    mkdirSync(dirname(join(folder, made)));
    writeFileSync(join(folder, made), "");
    utimesSync(join(folder, made), new Date(), new Date(Date.now() + 60_000));
  }
  symlinkSync(join(root, "bin"), join(folder, "bin"));
  return folder;
}

/** Runs the composite action as a runner does: expressions filled in, each step a file for `bash -eo pipefail`. */
function runAction(workspace: string, inputs: Record<string, string>): Job {
  const temp = temporary();
  const path = actionFolder();
  const given = (name: string): string => inputs[name] ?? action.inputs[name]!.default ?? "";
  const outputs: Record<string, Record<string, string>> = {};
  const value = (path: string): string => {
    const input = /^inputs\.([\w-]+)$/.exec(path);
    if (input !== null) return given(input[1]!);
    const output = /^steps\.([\w-]+)\.outputs\.([\w-]+)$/.exec(path);
    if (output === null) throw new Error(`no such expression: ${path}`);
    return outputs[output[1]!]?.[output[2]!] ?? "";
  };
  const fill = (text: string): string => text.replace(/\$\{\{\s*([\w.-]+)\s*\}\}/g, (_, path: string) => value(path));
  const holds = (condition: string): boolean =>
    condition.split("&&").every((part) => {
      const [, left, operator, right] = /^\s*([\w.-]+) (==|!=) '([^']*)'\s*$/.exec(part)!;
      return (value(left!) === right) === (operator === "==");
    });
  const summary = join(temp, "summary.md");
  writeFileSync(summary, "");
  let log = "";
  const used: Step[] = [];
  for (const [i, step] of action.runs.steps.entries()) {
    if (step.if !== undefined && !holds(step.if)) continue;
    if (step.run === undefined) {
      used.push({ ...step, with: Object.fromEntries(Object.entries(step.with ?? {}).map(([k, v]) => [k, fill(v)])) });
      continue;
    }
    const file = join(temp, `${i}.sh`);
    const output = join(temp, `${i}.out`);
    writeFileSync(file, fill(step.run));
    writeFileSync(output, "");
    const made = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", file], {
      cwd: workspace,
      encoding: "utf8",
      timeout: 120_000,
      env: {
        ...process.env,
        GITHUB_ACTION_PATH: path,
        RUNNER_TEMP: temp,
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summary,
        ...Object.fromEntries(Object.entries(step.env ?? {}).map(([k, v]) => [k, fill(v)])),
      },
    });
    log += made.stdout + made.stderr;
    if (step.id !== undefined)
      outputs[step.id] = Object.fromEntries(
        readFileSync(output, "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
      );
    if (made.status !== 0) return job(made.status ?? -1);
  }
  return job(0);

  function job(code: number): Job {
    const own = Object.fromEntries(Object.entries(action.outputs).map(([k, v]) => [k, fill(v.value)]));
    return { code, log, summary: readFileSync(summary, "utf8"), outputs: own, used };
  }
}

describe("GitHub action", () => {
  it("is valid, as is the workflow of the documentation", () => {
    expect(validateAction(actionText).errors).toEqual([]);
    expect(validateAction(actionText.replace("using: composite", "using: composit")).errors).not.toEqual([]);
    expect(validateWorkflow(recipe("ci.md", "github")).errors).toEqual([]);
    // nothing that a caller gives becomes text of a script
    for (const step of action.runs.steps) expect(step.run ?? "").not.toContain("${{");
  });

  it("a clean contract passes and uploads an empty run", () => {
    const job = runAction(goldenCopy(), {});
    expect(job.code, job.log).toBe(0);
    expect(job.outputs["exit-code"]).toBe("0");
    expect(job.used.map((s) => s.uses)).toEqual(["github/codeql-action/upload-sarif@v3"]);
    expect(JSON.parse(readFileSync(job.used[0]!.with!["sarif_file"]!, "utf8")).runs[0].results).toEqual([]);
    expect(job.summary).toMatch(/no findings/i);
  });

  it("a broken one fails after annotation, SARIF and summary; the twin after the repair passes", () => {
    const folder = goldenCopy();
    edit(folder, "infra/redis-lab/k3s/redis-sentinel.yaml", "minAvailable: 2", "minAvailable: 3");
    const job = runAction(folder, { paths: "infra/redis-lab\n" });
    expect(job.code).toBe(1);
    expect(job.log).toMatch(/^::error file=infra\/redis-lab\/k3s\/redis-sentinel\.yaml,line=57,/m);
    const sarif = JSON.parse(readFileSync(job.outputs["sarif"]!, "utf8"));
    expect(sarif.runs[0].results.map((r: { ruleId: string }) => r.ruleId)).toEqual(["k8s/disruption-budget"]);
    expect(sarif.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri).toBe(
      "infra/redis-lab/k3s/redis-sentinel.yaml",
    );
    expect(job.summary).toContain("k8s/disruption-budget");
    const other = runAction(folder, {
      args: "--skip\nk8s/disruption-budget",
      "upload-sarif": "false",
      summary: "false",
    });
    expect(other.code, other.log).toBe(0);
    expect(other.used).toEqual([]);
    expect(other.summary).toBe("");
    expect(runAction(folder, { "fail-on": "never" }).code).toBe(0);
  });

  it("a mistake is exit 2 and uploads nothing; input is data, not script", () => {
    const folder = goldenCopy();
    edit(folder, "quorumlint.yaml", "planes:", "plains:");
    const job = runAction(folder, {});
    expect(job.code).toBe(2);
    expect(job.outputs).toEqual({ sarif: "", "exit-code": "2" });
    expect(job.used).toEqual([]);
    expect(job.log).toContain('did you mean "planes"');
    const hostile = runAction(goldenCopy(), { paths: "$(touch owned); `touch owned` && touch owned" });
    expect(hostile.code).toBe(2);
    expect(hostile.log).toContain("there is no file or directory");
  });
});

describe("GitLab template", () => {
  const template = parse(readFileSync(join(root, "templates/gitlab-ci.yml"), "utf8")) as {
    quorumlint: {
      script: string[];
      variables: Record<string, string>;
      artifacts: { when: string; reports: Record<string, string> };
    };
  };
  const job = template.quorumlint;

  function runScript(workspace: string): number | null {
    // what `npm install --global` would put on the path
    const bin = temporary();
    mkdirSync(bin, { recursive: true });
    symlinkSync(join(root, "bin/quorumlint.js"), join(bin, "quorumlint"));
    expect(job.script[0]).toBe('npm install --global "$QUORUMLINT_PACKAGE"');
    const made = spawnSync("bash", ["-eo", "pipefail", "-c", job.script.slice(1).join("\n")], {
      cwd: workspace,
      encoding: "utf8",
      env: { ...process.env, ...job.variables, PATH: `${bin}:${process.env["PATH"]}` },
    });
    return made.status;
  }

  it("is a job as GitLab reads it", () => {
    const validate = new Ajv({ allErrors: true, strict: false }).compile(gitlabJobSchema);
    validate(template);
    expect(validate.errors).toBeNull();
    expect(validate({ quorumlint: { ...job, artifacts: { when: "ever" } } })).toBe(false);
    expect(validate({ quorumlint: { ...job, script: [] } })).toBe(false);
  });

  it("leaves the reports that it declares, and fails on a finding only", () => {
    expect(job.artifacts.when).toBe("always");
    const folder = goldenCopy();
    expect(runScript(folder)).toBe(0);
    for (const file of Object.values(job.artifacts.reports)) expect(existsSync(join(folder, file)), file).toBe(true);
    expect(JSON.parse(readFileSync(join(folder, job.artifacts.reports["codequality"]!), "utf8"))).toEqual([]);

    edit(folder, "infra/redis-lab/k3s/redis-sentinel.yaml", "minAvailable: 2", "minAvailable: 3");
    expect(runScript(folder)).toBe(1);
    const report = JSON.parse(readFileSync(join(folder, job.artifacts.reports["codequality"]!), "utf8"));
    expect(new Ajv({ strict: false }).validate(codeQualitySchema, report)).toBe(true);
    expect(report).toHaveLength(1);
    expect(report[0].check_name).toBe("k8s/disruption-budget");
    expect(report[0].location.path).toBe("infra/redis-lab/k3s/redis-sentinel.yaml");
    expect(readFileSync(join(folder, job.artifacts.reports["junit"]!), "utf8")).toContain("k8s/disruption-budget");
  });
});
