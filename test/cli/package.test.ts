/** The packed tarball, installed in an empty folder, works as a command and as a library. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { root } from "../support.js";
import { recipe } from "../tools/recipe.js";
import { removeTemporary, temporary } from "./run.js";

afterAll(removeTemporary);

function run(
  command: string,
  args: readonly string[],
  cwd: string,
): { code: number | null; stdout: string; stderr: string } {
  const result = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    shell: process.platform === "win32",
    env: { ...process.env, NO_COLOR: "1" },
  });
  return { code: result.status, stdout: result.stdout, stderr: result.stderr };
}

it("packs, installs, runs, and is imported with types", { timeout: 300_000 }, () => {
  const folder = temporary();
  const packed = run("npm", ["pack", "--pack-destination", folder, "--silent"], root);
  expect(packed.code, packed.stderr).toBe(0);
  const tarball = readdirSync(folder).find((f) => f.endsWith(".tgz"))!;
  const user = join(folder, "user");
  mkdirSync(user);
  writeFileSync(join(user, "package.json"), '{ "name": "user", "private": true, "type": "module" }');
  const installed = run("npm", ["install", "--no-audit", "--no-fund", join(folder, tarball)], user);
  expect(installed.code, installed.stderr).toBe(0);
  const own = join(user, "node_modules/quorumlint");

  // what a user needs and nothing else
  const tops = readdirSync(own).sort();
  expect(tops).toEqual([
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "bin",
    "dist",
    "docs",
    "man",
    "package.json",
    "schemas",
  ]);
  expect(existsSync(join(own, "dist/types/src/index.d.ts"))).toBe(true);
  // scripts that were checked here are nobody else's
  for (const made of [".cache", "dev.cjs", "bench-sweep.cjs"]) expect(existsSync(join(own, "dist", made))).toBe(false);

  const check = run(
    "npx",
    ["--no-install", "quorumlint", "check", join(root, "fixtures/redis-lab"), "--format", "json"],
    user,
  );
  expect(check.stderr).toBe("");
  expect(check.code).toBe(0);
  expect(JSON.parse(check.stdout).diagnostics).toEqual([]);

  writeFileSync(
    join(user, "use.mjs"),
    `import { acl, graph, lint, loadContract } from "quorumlint";
const [contract] = await loadContract(${JSON.stringify(join(root, "fixtures/redis-lab"))});
const result = lint(contract);
const users = acl.load("user a on nopass ~k:* +get", { server: "redis-7.2" }).users;
const allowed = acl.dryRun(users.get("a"), ["GET", "k:1"]).allowed && !acl.dryRun(users.get("a"), ["SET", "k:1", "v"]).allowed;
console.log(JSON.stringify({ findings: result.diagnostics.length, allowed, keys: users.get("a").describe().keys, edges: graph(contract).edges.length >= 3 }));`,
  );
  const used = run(process.execPath, ["use.mjs"], user);
  expect(used.stderr).toBe("");
  expect(JSON.parse(used.stdout)).toEqual({ findings: 0, allowed: true, keys: "~k:*", edges: true });

  writeFileSync(
    join(user, "use.ts"),
    'import { lint, loadContract } from "quorumlint";\nconst [c] = await loadContract(".");\nconst n: number = lint(c!).summary.errors;\nconsole.log(n);\n',
  );
  const types = run(
    process.execPath,
    [
      join(root, "node_modules/typescript/bin/tsc"),
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--module",
      "nodenext",
      "--target",
      "es2022",
      "use.ts",
    ],
    user,
  );
  expect(types.stdout).toBe("");

  // a newcomer's way of docs/getting-started.md: from the installation to a commit that is refused
  for (const part of ["infra", "src"])
    cpSync(join(root, "fixtures/redis-lab", part), join(user, part), { recursive: true });
  writeFileSync(join(user, ".gitignore"), "node_modules\n");
  const steps = (script: string): { code: number | null; stdout: string; stderr: string } =>
    run("sh", ["-ec", `export GIT_CONFIG_GLOBAL=/dev/null\n${script}`], user);
  const set = steps(
    "git init -q; git config user.name n; git config user.email n@example.org; npx --no-install quorumlint init",
  );
  expect(set.code, set.stderr).toBe(0);
  const first = steps(recipe("getting-started.md", "first-hook"));
  expect(first.code, first.stdout + first.stderr).toBe(0);
  const acl = join(user, "infra/redis-lab/config/redis-users.acl.tmpl");
  const right = readFileSync(acl, "utf8");
  writeFileSync(acl, right.replace("+config|rewrite ", ""));
  const refused = steps("git commit -qam broken");
  expect(refused.code).toBe(1);
  expect(refused.stdout + refused.stderr).toMatch(/redis-users\.acl\.tmpl:4:6/);
  writeFileSync(acl, `${right}\n`);
  expect(steps("git commit -qam repaired; git log --oneline").stdout.trim().split("\n")).toHaveLength(2);
  expect(readFileSync(join(own, "package.json"), "utf8")).not.toMatch(/"(?:file|link):/);
});
