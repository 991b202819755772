/** Shards and their merge: the same bytes as a run that was not split. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root, TODAY } from "../support.js";
import { edit, goldenCopy, quorumlint, removeTemporary, temporary } from "./run.js";

afterAll(removeTemporary);

const ACL = "user default on nopass ~* &* +@all\nuser app on >hunter2 ~* +@all\n";

/** A declared root with four contracts that share a file. */
function several(folder: string, suppress = ""): void {
  mkdirSync(folder, { recursive: true });
  let contracts = "";
  for (const name of ["a", "b", "c", "d"]) {
    writeFileSync(join(folder, `${name}.acl`), ACL);
    writeFileSync(join(folder, `${name}.conf`), `port 6379\nbogus ${name}\naclfile /x/${name}.acl\n`);
    contracts +=
      `  ${name}:\n    planes: { data: { config: [${name}.conf, shared.conf], acl: ${name}.acl } }\n`.replace(
        /\[(\S+), shared.conf\]/,
        "$1",
      );
    contracts += "    kubernetes: { manifests: [shared.yaml] }\n";
  }
  writeFileSync(
    join(folder, "shared.yaml"),
    "apiVersion: v1\nkind: Secret\nmetadata: { name: x }\nstringData: { p: hunter2 }\n",
  );
  writeFileSync(join(folder, "extra.acl"), ACL);
  writeFileSync(join(folder, "quorumlint.yaml"), `version: 1\ncontracts:\n${contracts}${suppress}`);
}

let tree = "";
beforeAll(() => {
  tree = temporary();
  several(join(tree, "one"));
  // the same names at other offsets: order is that of the whole run
  several(
    join(tree, "two"),
    'suppress:\n  - { rule: acl/credential, file: b.acl, reason: "known" }\n  - { rule: acl/surplus, file: d.acl, reason: "unused" }\n',
  );
  writeFileSync(join(tree, "two/a.acl"), `\n\n${ACL}`);
  mkdirSync(join(tree, "loose"));
  writeFileSync(join(tree, "loose/redis.conf"), "port 6379\nrequirepass hunter2\n");
  writeFileSync(join(tree, "logo.png"), "\0");
});

const run = (...args: string[]) =>
  quorumlint(["check", tree, "--format", "json", "--today", TODAY, "--strict-discovery", ...args]);

function shards(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const file = join(temporary(), `shard-${i + 1}.json`);
    const made = run("--shard", `${i + 1}/${count}`);
    expect(made.code, made.stderr).toBeLessThan(2);
    writeFileSync(file, made.stdout);
    return file;
  });
}

describe("check --shard and merge", () => {
  it.each([1, 2, 3, 5, 20])("give the bytes of one run, of %i parts in any order", (count) => {
    const whole = run();
    expect(whole.code).toBe(1);
    expect(JSON.parse(whole.stdout).diagnostics.length).toBeGreaterThan(20);
    const merged = quorumlint(["merge", ...shards(count).reverse()]);
    expect(merged.stdout).toBe(whole.stdout);
    expect(merged.code).toBe(1);
  });

  it("share the work: each contract is in one part", () => {
    const parts = shards(3).map((f) => JSON.parse(readFileSync(f, "utf8")));
    const contracts = parts.map((p) => p.summary.contracts as number);
    expect(Math.max(...contracts)).toBeLessThan(contracts.reduce((a, b) => a + b));
    const whole = JSON.parse(run().stdout);
    expect(contracts.reduce((a, b) => a + b)).toBe(whole.summary.contracts);
  });

  it("keep contracts together where a finding is accepted, so that what is unused is said once", () => {
    const said = (text: string) =>
      (JSON.parse(text).diagnostics as { rule: string; file: string }[]).filter(
        (d) => d.rule === "quorumlint/suppression",
      );
    expect(said(run().stdout)).toHaveLength(1);
    expect(said(quorumlint(["merge", ...shards(4)]).stdout)).toHaveLength(1);
  });

  it("print results of the shape that is described", () => {
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(
      JSON.parse(readFileSync(join(root, "schemas/result.schema.json"), "utf8")),
    );
    const files = shards(2);
    for (const text of [...files.map((f) => readFileSync(f, "utf8")), quorumlint(["merge", ...files]).stdout]) {
      validate(JSON.parse(text));
      expect(validate.errors).toBeNull();
    }
  });

  it("exit as the whole run would", () => {
    const files = shards(2);
    expect(quorumlint(["merge", ...files, "--fail-on", "never"]).code).toBe(0);
    const out = join(temporary(), "a/merged.json");
    expect(quorumlint(["merge", ...files, "-o", out])).toEqual({ code: 1, stdout: "", stderr: "" });
    expect(readFileSync(out, "utf8")).toBe(run().stdout);
    const golden = goldenCopy();
    const clean = join(temporary(), "clean.json");
    writeFileSync(clean, quorumlint(["check", golden, "--format", "json", "--shard", "1/1"]).stdout);
    expect(quorumlint(["merge", clean]).code).toBe(0);
  });

  it.each(["0/2", "3/2", "1", "a/b", "-1/2"])("refuse --shard %s", (shard) => {
    expect(run("--shard", shard).code).toBe(2);
  });

  it("refuse what changes files, and what does not belong together", () => {
    expect(run("--shard", "1/2", "--fix").code).toBe(2);
    const [one, two] = shards(2) as [string, string];
    const whole = join(temporary(), "whole.json");
    writeFileSync(whole, run().stdout);
    const refused = (...files: string[]) => {
      const made = quorumlint(["merge", ...files]);
      expect(made.code).toBe(2);
      expect(made.stdout).toBe("");
      return made.stderr;
    };
    expect(refused(one)).toMatch(/shard 2\/2 is missing/);
    expect(refused(one, one)).toMatch(/named twice/);
    expect(refused(whole)).toMatch(/whole run/);
    expect(refused(one, shards(3)[1]!)).toMatch(/one of 3 shards/);
    expect(refused(one, join(root, "package.json"))).toMatch(/is not the result/);
    expect(refused(one, join(root, "README.md"))).toMatch(/is no JSON/);
    expect(refused(one, "/nowhere.json")).toMatch(/cannot be read/);
    edit(join(two, ".."), "shard-2.json", `"count": 2`, `"count": 2, "index": 1`);
    expect(refused(one, two)).toMatch(/both shard/);
  });
});
