/** What the launcher keeps for the next start, and how it ends. */
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { root } from "../support.js";
import { goldenCopy, removeTemporary, temporary } from "./run.js";

afterAll(removeTemporary);

/** The program as it is installed, without what earlier runs kept. */
function installed(): { run: (...args: string[]) => string; kept: () => Record<string, number>; cache: string } {
  const home = temporary();
  for (const part of ["bin", "dist", "schemas", "package.json"])
    cpSync(join(root, part), join(home, part), { recursive: true, filter: (path) => !path.endsWith(".cache") });
  symlinkSync(join(root, "node_modules"), join(home, "node_modules"));
  const cache = join(home, "dist/.cache");
  return {
    run: (...args) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(home, "bin/quorumlint.js"), ...args], {
        encoding: "utf8",
        maxBuffer: 1 << 26,
      });
      return `${status}\n${stdout}${stderr}`;
    },
    kept: () =>
      Object.fromEntries(
        readdirSync(cache)
          .filter((file) => file.endsWith(".bin"))
          .map((file) => [file.replace(/-[a-z0-9]+-[a-z0-9]+-v.*$/, ""), statSync(join(cache, file)).size]),
      ),
    cache,
  };
}

function deployment(): string {
  const folder = goldenCopy();
  const contract = join(folder, "quorumlint.yaml");
  writeFileSync(contract, readFileSync(contract, "utf8").replace(/^ {4}programs:\n(?: {6}.*\n| *\n)*/m, ""));
  return folder;
}

it("code is kept from the second run on, and that of programs only where there are programs", () => {
  const { run, kept } = installed();
  const folder = deployment();
  const first = run("check", folder);
  expect(first).toMatch(/^0\n.*no findings/);
  expect(kept()).toEqual({ quorumlint: 0, "part-check": 0, "lazy-web-tree-sitter": 0 });
  expect(run("check", folder)).toBe(first);
  const { "part-check": size, ...others } = kept();
  expect(size).toBeGreaterThan(100_000);
  expect(others["lazy-web-tree-sitter"]).toBe(0);
  expect(run("check", folder)).toBe(first);
  expect(kept()).toEqual({ "part-check": size, ...others });
  for (let i = 0; i < 2; i++) expect(run("check", join(root, "fixtures/redis-lab"))).toMatch(/^0\n.*no findings/);
  expect(kept()["late-programs"]).toBeGreaterThan(10_000);
});

it("code that was damaged or made by another V8 is made anew", () => {
  const { run, kept, cache } = installed();
  const rules = ["rules", "--format", "json"];
  const first = run(...rules);
  expect(run(...rules)).toBe(first);
  const before = kept();
  for (const file of readdirSync(cache)) {
    const path = join(cache, file);
    if (!file.endsWith(".bin")) continue;
    const bytes = readFileSync(path);
    writeFileSync(path, Buffer.concat([Buffer.from("not code"), bytes.subarray(8, bytes.length / 2)]));
  }
  expect(run(...rules)).toBe(first);
  const after = kept();
  for (const [name, size] of Object.entries(before)) expect(after[name]).toBeGreaterThan(size * 0.9);
  expect(run(...rules)).toBe(first);
});

it("all is written before the process ends, however slow the reader", () => {
  const command = `"${process.execPath}" "${join(root, "bin/quorumlint.js")}" rules --format json`;
  const file = join(temporary(), "out.json");
  spawnSync("sh", ["-c", `${command} > "${file}"`]);
  const whole = readFileSync(file, "utf8");
  expect(whole.length).toBeGreaterThan(70_000); // more than a pipe holds
  const slow = spawnSync("sh", ["-c", `${command} | (sleep 1; cat)`], { encoding: "utf8", maxBuffer: 1 << 26 });
  expect(slow.stdout).toBe(whole);
});
