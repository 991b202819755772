/** The tasks of docs/editors.md: their problem matcher reads the real output, with a public parser of such matchers. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type IProblemMatcherJson, parseProblemMatchersJson } from "@rushstack/problem-matcher";
import { parse } from "jsonc-parser";
import { afterAll, describe, expect, it } from "vitest";
import { edit, goldenCopy, removeTemporary } from "../cli/run.js";
import { root } from "../support.js";
import { recipe } from "./recipe.js";

afterAll(removeTemporary);

interface Task {
  readonly label: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly isBackground?: boolean;
  readonly problemMatcher: {
    readonly owner: string;
    readonly severity: IProblemMatcherJson["severity"];
    readonly fileLocation: readonly string[];
    readonly pattern: IProblemMatcherJson["pattern"];
    readonly background?: {
      readonly activeOnStart: boolean;
      readonly beginsPattern: string;
      readonly endsPattern: string;
    };
  };
}

const { tasks } = parse(recipe("editors.md", "tasks")) as { tasks: Task[] };

function output(task: Task, folder: string): string {
  expect(task.command).toBe("npx");
  expect(task.args.slice(0, 2)).toEqual(["--no-install", "quorumlint"]);
  const args = task.args.slice(2).filter((a) => a !== "--watch");
  const made = spawnSync(process.execPath, [join(root, "bin/quorumlint.js"), ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(made.stderr).toBe("");
  return made.stdout;
}

function problems(task: Task, text: string) {
  const { owner, severity, pattern } = task.problemMatcher;
  const [matcher] = parseProblemMatchersJson([
    { name: owner, pattern, ...(severity === undefined ? {} : { severity }) },
  ]);
  return text.split("\n").flatMap((line) => {
    const found = matcher!.exec(`${line}\n`);
    return found === false ? [] : [found];
  });
}

describe.each(tasks.map((task) => [task.label, task] as const))("task %s", (_, task) => {
  it("finds every finding with its place, severity, rule and message", () => {
    const folder = goldenCopy();
    expect(problems(task, output(task, folder))).toEqual([]);
    edit(folder, "infra/redis-lab/k3s/redis-sentinel.yaml", "minAvailable: 2", "minAvailable: 3");
    edit(folder, "infra/redis-lab/config/redis-users.acl.tmpl", "+config|rewrite ", "");
    const found = problems(task, output(task, folder));
    expect(found.map(({ file, line, column, code, severity }) => ({ file, line, column, code, severity }))).toEqual([
      {
        file: "infra/redis-lab/config/redis-users.acl.tmpl",
        line: 4,
        column: 6,
        code: "acl/sentinel-control-user",
        severity: "error",
      },
      {
        file: "infra/redis-lab/k3s/redis-sentinel.yaml",
        line: 57,
        column: 17,
        code: "k8s/disruption-budget",
        severity: "error",
      },
    ]);
    expect(found[0]!.endColumn).toBe(22);
    expect(found[0]!.message).toMatch(/^the Sentinel-to-data user sentinel-control [^%]*config\|rewrite[^%]*$/);
    expect(task.problemMatcher.fileLocation).toEqual(["relative", "${workspaceFolder}"]);
  });

  it("a background task knows when a check begins and ends", () => {
    const background = task.problemMatcher.background;
    expect(background === undefined).toBe(task.isBackground !== true);
    if (background === undefined) return;
    const lines = output(task, goldenCopy()).split("\n");
    expect(lines.filter((line) => new RegExp(background.endsPattern).test(line))).toHaveLength(1);
    for (const note of ["quorumlint: watching for changes; Ctrl-C ends it", "quorumlint: something changed"])
      expect(note).toMatch(new RegExp(background.beginsPattern));
  });
});
