/** Debian's pre-commit, a plain git hook and lint-staged, each on a real repository: a broken contract does not get in. */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { edit, goldenCopy, removeTemporary, temporary } from "../cli/run.js";
import { hasTool, root } from "../support.js";
import { recipe } from "./recipe.js";

afterAll(removeTemporary);

interface Run {
  readonly code: number | null;
  readonly output: string;
}

function run(cwd: string, command: string, args: readonly string[], env: Record<string, string> = {}): Run {
  const result = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    timeout: 540_000,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", GIT_CONFIG_GLOBAL: "/dev/null", ...env },
  });
  return { code: result.status, output: `${result.stdout}${result.stderr}` };
}

function git(cwd: string, ...args: string[]): string {
  const made = run(cwd, "git", ["-c", "user.name=test", "-c", "user.email=test@example.org", ...args]);
  expect(made.code, made.output).toBe(0);
  return made.output;
}

/** A repository that holds the golden contract. */
function repository(): string {
  const folder = goldenCopy();
  git(folder, "init", "-q");
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "golden");
  return folder;
}

/** This project as a hook repository: what git would clone, with the changes that are not committed yet. */
function hookRepository(): { folder: string; rev: string } {
  const folder = temporary();
  const skipped = /^(?:\.git|node_modules|dist|coverage)$|\.tgz$/;
  cpSync(root, folder, {
    recursive: true,
    filter: (from) => !skipped.test(from.slice(root.length).replace(/\/$/, "")),
  });
  git(folder, "init", "-q");
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "as it is");
  return { folder, rev: git(folder, "rev-parse", "HEAD").trim() };
}

const DATA = "infra/redis-lab/k3s/redis-data.yaml";

/** A breach across files is refused with its place, its repair and what is none of ours pass. */
function commits(folder: string, commit: (message: string) => Run): void {
  // the ACL changes, and the finding stands where the contract breaks
  edit(folder, "infra/redis-lab/config/redis-users.acl.tmpl", "+config|rewrite ", "");
  git(folder, "add", "-A");
  const refused = commit("bad");
  expect(refused.code, refused.output).toBe(1);
  expect(refused.output).toMatch(/acl\/sentinel-control-user/);
  expect(refused.output).toMatch(/infra\/redis-lab\/config\/redis-users\.acl\.tmpl:4:6/);
  expect(git(folder, "log", "--oneline").trim().split("\n")).toHaveLength(1);

  edit(folder, "infra/redis-lab/config/redis-users.acl.tmpl", "+role ", "+config|rewrite +role ");
  edit(folder, DATA, "terminationGracePeriodSeconds: 60", "terminationGracePeriodSeconds: 61");
  git(folder, "add", "-A");
  const good = commit("good");
  expect(good.code, good.output).toBe(0);
  expect(git(folder, "log", "--oneline").trim().split("\n")).toHaveLength(2);

  writeFileSync(join(folder, "notes.md"), "# notes\n");
  git(folder, "add", "-A");
  const other = commit("notes");
  expect(other.code, other.output).toBe(0);
}

describe("pre-commit", () => {
  it("refuses a commit that breaks the contract, lets a good one pass", { timeout: 580_000 }, () => {
    if (!hasTool("pre-commit", true)) return;
    const env = { PRE_COMMIT_HOME: temporary(), npm_config_prefer_offline: "true" };
    const hooks = hookRepository();
    const valid = run(hooks.folder, "pre-commit", ["validate-manifest", ".pre-commit-hooks.yaml"], env);
    expect(valid.code, valid.output).toBe(0);

    const folder = repository();
    writeFileSync(
      join(folder, ".pre-commit-config.yaml"),
      `repos:\n  - repo: ${hooks.folder}\n    rev: ${hooks.rev}\n    hooks: [{ id: quorumlint }]\n`,
    );
    git(folder, "add", "-A");
    git(folder, "commit", "-q", "--amend", "-m", "golden");
    const installed = run(folder, "pre-commit", ["install", "--install-hooks"], env);
    expect(installed.code, installed.output).toBe(0);
    commits(folder, (message) =>
      run(folder, "git", ["-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "-m", message], env),
    );
  });

  it("its pattern takes what contracts are made of, and leaves the rest", () => {
    const manifest = readFileSync(join(root, ".pre-commit-hooks.yaml"), "utf8");
    const pattern = new RegExp(/files: '\(\?i\)(.*)'/.exec(manifest)![1]!, "i");
    for (const file of [
      "k8s/redis.yaml",
      "a.yml",
      "conf/redis.conf.tmpl",
      "users.acl",
      "lock.lua",
      "bin/start.sh",
      "images.properties",
      "quorumlint.yaml",
      ".env",
      "app/prod.env",
      "program-set.json",
      "redis",
      "src/Catalog.java",
      "docs/branch-notes/x.md",
    ])
      expect(pattern.test(file), file).toBe(true);
    for (const file of ["a.png", "main.go", "Dockerfile", "yaml", "conf.d/x.txt"])
      expect(pattern.test(file), file).toBe(false);
  });
});

/** `quorumlint` as npm installs it in a project. */
function install(folder: string): void {
  const own = join(folder, "node_modules");
  mkdirSync(join(own, ".bin"), { recursive: true });
  symlinkSync(root, join(own, "quorumlint"));
  symlinkSync("../quorumlint/bin/quorumlint.js", join(own, ".bin/quorumlint"));
  writeFileSync(join(folder, ".gitignore"), "node_modules\n");
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "--amend", "-m", "golden");
}

const commit = (folder: string, message: string): Run =>
  run(folder, "git", ["-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "-m", message]);

describe("recipes of docs/ci.md", () => {
  it("a plain git hook", () => {
    const folder = repository();
    install(folder);
    const hook = join(folder, ".git/hooks/pre-commit");
    writeFileSync(hook, recipe("ci.md", "git-hook"));
    chmodSync(hook, 0o755);
    commits(folder, (message) => commit(folder, message));
  });

  it("lint-staged", () => {
    const folder = repository();
    install(folder);
    writeFileSync(join(folder, ".lintstagedrc.json"), recipe("ci.md", "lint-staged"));
    git(folder, "add", "-A");
    git(folder, "commit", "-q", "--amend", "-m", "golden");
    const hook = join(folder, ".git/hooks/pre-commit");
    const staged = join(root, "node_modules/lint-staged/bin/lint-staged.js");
    expect(existsSync(staged)).toBe(true);
    writeFileSync(hook, `#!/bin/sh\nexec node '${staged}'\n`);
    chmodSync(hook, 0o755);
    commits(folder, (message) => commit(folder, message));
  });
});
