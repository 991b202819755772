/** `quorumlint prove --sweep` as a process: exit codes, formats, threads, baselines, changed lines, Ctrl-C. */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deploymentOf, fixtureBase, root, TODAY } from "../support.js";
import { quorumlint, removeTemporary, temporary } from "./run.js";

const DATA = "infra/redis-lab/k3s/redis-data.yaml";
let folder = "";
let LAB = "";

beforeAll(() => {
  LAB = join(temporary(), "golden");
  for (const [path, bytes] of deploymentOf(fixtureBase("redis-lab")!)) {
    mkdirSync(dirname(join(LAB, path)), { recursive: true });
    writeFileSync(join(LAB, path), bytes);
  }
  folder = join(temporary(), "lab");
  cpSync(LAB, folder, { recursive: true });
});
afterAll(removeTemporary);

function sweep(path: string, ...args: string[]): { code: number | null; stdout: string; stderr: string } {
  return quorumlint(["prove", path, "--sweep", "--today", TODAY, ...args], { cwd: root });
}

const git = (...args: string[]) =>
  execFileSync("git", ["-C", folder, "-c", "user.email=a@example.com", "-c", "user.name=a", ...args], {
    stdio: "pipe",
  });

// the golden contract without its programs, which have twice as many mutants as all the rest
describe("prove --sweep", { timeout: 120_000 }, () => {
  it("prints the same bytes for one and for two threads", () => {
    const one = sweep(LAB, "--rule", "k8s/s*", "--format", "json", "--threads", "1");
    const two = sweep(LAB, "--rule", "k8s/s*", "--format", "json", "--threads", "2");
    expect(one.code).toBe(1);
    expect(two.code).toBe(1);
    expect(JSON.parse(one.stdout)).toMatchObject({ schemaVersion: "2", framework: { name: "quorumlint" } });
    expect(two.stdout === one.stdout).toBe(true);
  });

  it("shows guarded and unguarded fields, and the gate of a score decides the exit code", () => {
    const low = sweep(LAB, "--rule", "k8s/schema", "--min-score", "5");
    expect(low.code).toBe(0);
    expect(low.stdout).toContain("Contract coverage by file");
    expect(low.stdout).toContain("Unguarded fields");
    expect(low.stdout).toMatch(/score \d+\.\d % \(wanted: at least 5 %\)/);
    expect(sweep(LAB, "--rule", "k8s/schema", "--min-score", "99.5").code).toBe(1);
  });

  it("writes one page of HTML, where the report element is installed", () => {
    const page = join(folder, "..", "report.html");
    const run = sweep(LAB, "--rule", "k8s/resources", "--format", `html=${page}`);
    const there =
      existsSync(join(root, "dist/mutation-test-elements.js")) ||
      existsSync(join(root, "node_modules/mutation-testing-elements"));
    if (!there) {
      expect(run.code).toBe(2);
      expect(run.stderr).toContain("mutation-test-elements.js");
      return;
    }
    const text = readFileSync(page, "utf8");
    expect(text).toContain("<mutation-test-report-app");
    expect(text).not.toMatch(/<script[^>]+src=/);
  });

  it("sweeps only what changed since a revision", () => {
    git("init", "-q");
    git("add", "-A");
    git("commit", "-q", "-m", "x");
    const none = quorumlint(["prove", folder, "--since", "HEAD", "--today", TODAY], { cwd: root });
    expect(none.code).toBe(0);
    expect(none.stdout).toContain("0 killed, 0 survived");
    const file = join(folder, DATA);
    writeFileSync(file, readFileSync(file, "utf8").replace("  replicas: 3\n", "  replicas: 3 # three\n"));
    const run = quorumlint(["prove", folder, "--since", "HEAD", "--format", "json", "--today", TODAY], { cwd: root });
    const report = JSON.parse(run.stdout) as {
      files: Record<string, { mutants: { location: { start: { line: number } } }[] }>;
    };
    const changed = Object.entries(report.files).filter(([, f]) => f.mutants.length > 0);
    expect(changed.map(([name]) => name)).toEqual([DATA]);
    const unknown = quorumlint(["prove", folder, "--since", "no-such-revision"], { cwd: root });
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain("git");
  });

  it("demands a clean contract, or a baseline", () => {
    const file = join(folder, DATA);
    const before = readFileSync(file, "utf8");
    writeFileSync(file, before.replace("clusterIP: None", "clusterIP: 10.0.0.1"));
    const dirty = sweep(folder, "--rule", "k8s/stable-identity");
    expect(dirty.code).toBe(1);
    expect(dirty.stdout).toBe("");
    expect(dirty.stderr).toContain("the contract is not clean");
    const baseline = join(folder, "..", "baseline.json");
    quorumlint(["check", folder, "--baseline", baseline, "--update-baseline", "--today", TODAY], { cwd: root });
    const accepted = sweep(folder, "--rule", "k8s/stable-identity", "--baseline", baseline, "--min-score", "0");
    expect(accepted.code).toBe(0);
    expect(accepted.stdout).toContain("killed");
    writeFileSync(file, before);
  });

  it("says what is wrong with its arguments", () => {
    for (const [args, message] of [
      [["--format", "yaml"], "there is no format"],
      [["--min-score", "120"], "between 0 and 100"],
      [["--baseline", "nowhere.json"], "there is no baseline"],
      [["--rule", "no/such"], "no rule matches"],
    ] as const) {
      const run = sweep(LAB, ...args);
      expect(run.code).toBe(2);
      expect(run.stderr).toContain(message);
    }
    expect(sweep(join(folder, "nowhere")).code).toBe(2);
  });

  it("prints what is done when it is interrupted", async () => {
    const child = spawn(
      process.execPath,
      [join(root, "bin/quorumlint.js"), "prove", LAB, "--sweep", "--threads", "1", "--today", TODAY],
      {
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
    const code = await new Promise<number | null>((resolve) => {
      child.on("close", (n) => resolve(n));
      setTimeout(() => child.kill("SIGINT"), 4000);
    });
    // a signal before the sweep began ends the process as ever
    if (code !== null) {
      expect(code).toBe(1);
      expect(out).toMatch(/killed, \d+ survived/);
    }
  });
});
