/** Which parsers of code a run loads: none where no contract asks, and none again when the files were read before. */
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../support.js";
import { edit, goldenCopy, quorumlint, removeTemporary, temporary } from "./run.js";

let probe = "";
let seen = "";

beforeAll(() => {
  const folder = temporary();
  probe = join(folder, "probe.cjs");
  seen = join(folder, "seen.json");
  // the parsers that were loaded, and whether the wasm of one was read
  writeFileSync(
    probe,
    `const fs = require("node:fs");
const read = fs.readFileSync;
const files = new Set();
fs.readFileSync = function (path, ...rest) { files.add(String(path)); return read.call(this, path, ...rest); };
process.on("exit", () => {
  const all = [...Object.keys(require.cache), ...files];
  const found = ["ts-morph", "tree-sitter-java"].filter((name) => all.some((path) => path.includes(name)));
  fs.writeFileSync(${JSON.stringify(seen)}, JSON.stringify(found));
});
`,
  );
});
afterAll(removeTemporary);

function check(folder: string): { code: number | null; stdout: string; loaded: string[] } {
  const run = quorumlint(["check", folder, "--format", "json"], { env: { NODE_OPTIONS: `--require ${probe}` } });
  expect(run.stderr).toBe("");
  return { code: run.code, stdout: run.stdout, loaded: JSON.parse(readFileSync(seen, "utf8")) };
}

describe("parsers of code", () => {
  it("are not loaded for a contract without descriptors", () => {
    expect(check(join(root, "fixtures/programs"))).toMatchObject({ code: 0, loaded: [] });
  });

  it("are loaded where the contract has such files, and only for those", () => {
    const folder = goldenCopy();
    // a text that nobody read before
    const mark = `// ${process.pid} ${Date.now()}\n`;
    edit(folder, "src/main/ts/redis/programs.ts", "export const", `${mark}export const`);
    expect(check(folder)).toMatchObject({ code: 0, loaded: ["ts-morph"] });
    edit(folder, "src/main/java/example/redis/RedisProgramCatalog.java", "package", `${mark}package`);
    expect(check(folder)).toMatchObject({ code: 0, loaded: ["tree-sitter-java"] });
    expect(check(folder)).toMatchObject({ code: 0, loaded: [] });
  });

  it("say the same from what was kept", () => {
    const folder = goldenCopy();
    const mark = `// ${process.pid} ${Date.now()} drift\n`;
    edit(folder, "src/main/ts/redis/programs.ts", 'name: "memoryMs"', 'name: "keepMs"');
    edit(folder, "src/main/ts/redis/programs.ts", "export const", `${mark}export const`);
    const [first, second] = [check(folder), check(folder)];
    expect(first.loaded).toEqual(["ts-morph"]);
    expect(second.loaded).toEqual([]);
    expect(first.code).toBe(1);
    expect(JSON.parse(second.stdout).diagnostics).toEqual(JSON.parse(first.stdout).diagnostics);
    expect(second.stdout).toContain("program/descriptor-drift");
  });
});

describe("suppressions in code", () => {
  it("a comment of two slashes, in TypeScript and in Java", () => {
    const folder = goldenCopy();
    const ts = "src/main/ts/redis/programs.ts";
    const java = "src/main/java/example/redis/RedisProgramCatalog.java";
    edit(
      folder,
      ts,
      '{ name: "memoryMs"',
      '// quorumlint: ignore[program/descriptor-drift] renamed in the next release\n      { name: "keepMs"',
    );
    edit(
      folder,
      java,
      "CACHE_REVISION, Access.W),",
      "CACHE_REVISION, Access.R), // quorumlint: ignore[program/descriptor-drift] being widened",
    );
    expect(check(folder)).toMatchObject({ code: 0 });
    edit(folder, ts, "// quorumlint: ignore[program/descriptor-drift] renamed in the next release\n", "");
    expect(check(folder).code).toBe(1);
  });

  it("where the package of one is missing, that is one sentence and exit 2, not a bug", () => {
    const product = temporary();
    for (const part of ["bin", "dist", "package.json"])
      cpSync(join(root, part), join(product, part), { recursive: true, filter: (path) => !path.includes(".cache") });
    const folder = goldenCopy();
    edit(folder, "src/main/ts/redis/programs.ts", "export const", `// ${process.pid} alone\nexport const`);
    const run = spawnSync(process.execPath, [join(product, "bin/quorumlint.js"), "check", folder], {
      encoding: "utf8",
    });
    expect(run.stderr).toBe(
      "quorumlint: TypeScript and JavaScript are read with the package ts-morph, which is not installed: npm install ts-morph\n",
    );
    expect([run.status, run.stdout]).toEqual([2, ""]);
  });
});
