/** The program rules over whole trees: scripts that nobody here wrote, repairs, suppressions, what is loaded when. */
import { describe, expect, it } from "vitest";
import { rules } from "../../rules/index.js";
import { prepareParsers } from "../../src/cli/parsers.js";
import { check } from "../../src/contract/check.js";
import { memoryHost } from "../../src/contract/memory.js";
import type { Diagnostic } from "../../src/engine/diagnostic.js";
import { applyFixes } from "../../src/engine/fix.js";
import { rebuildContract } from "../../src/model/build.js";
import { checkTree, fixtureBase, TODAY, tree } from "../support.js";
import { collect, PACKAGES } from "./collect.js";

const scripts = collect();
const complete = new Set(scripts.map((s) => s.package)).size === PACKAGES.length;

function shown(d: Diagnostic): string {
  return `${d.severity} ${d.rule} ${d.messageId} ${d.at.source.file}:${d.at.source.position(d.at.start).line}`;
}

async function found(files: Readonly<Record<string, string>>): Promise<string[]> {
  const run = await checkTree(tree(files));
  expect(run.faults).toEqual([]);
  return run.result.diagnostics.map(shown);
}

describe.runIf(scripts.length > 0)("foreign scripts", () => {
  it("no rule warns of them; what is said for information is what the texts do", async () => {
    if (complete) expect(scripts.length).toBeGreaterThanOrEqual(190);
    const files = new Map(scripts.map((s, i) => [`s${i}/script.lua`, new TextEncoder().encode(s.text)]));
    const run = await checkTree(files);
    expect(run.result.crashes).toEqual([]);
    const name = (d: Diagnostic): string => {
      const script = scripts[Number(/^s(\d+)/.exec(d.at.source.file)![1])]!;
      return `${shown(d)} in ${script.package}/${script.file}`;
    };
    expect(run.result.diagnostics.filter((d) => d.severity !== "info").map(name)).toEqual([]);
    const kinds = new Set(run.result.diagnostics.map((d) => `${d.rule} ${d.messageId}`));
    for (const kind of kinds) expect(KINDS.has(kind), kind).toBe(true);
    // every key from ARGV stands in a text that reads ARGV, every whole collection in one that names its command
    for (const d of run.result.diagnostics) {
      const text = d.at.source.text;
      if (d.messageId === "argument") expect(text).toMatch(/\bARGV\b/);
      if (d.messageId === "unbounded") expect(d.message).toMatch(/^[A-Z]+/);
    }
  });
});

/** Read through by hand: bull, bullmq and groupmq build keys from a prefix in ARGV and from stored ids, and read whole sets. */
const KINDS: ReadonlySet<string> = new Set([
  "program/bounded unbounded",
  "program/declared-keys argument",
  "program/declared-keys data",
  "program/dynamic-source command",
]);

describe("repairs", () => {
  async function repaired(edit: (files: Map<string, string>) => void) {
    const texts = new Map([...fixtureBase("programs")!].map(([k, v]) => [k, new TextDecoder().decode(v)]));
    edit(texts);
    const lint = async (changed: ReadonlyMap<string, string>) => {
      const files = new Map([...texts, ...changed]);
      const run = await check(
        memoryHost(new Map([...files].map(([k, v]) => [k, new TextEncoder().encode(v)]))),
        ["/tree"],
        {
          rules,
          today: TODAY,
          version: "0.0.0",
          prepare: prepareParsers,
        },
      );
      return run.result.diagnostics;
    };
    return applyFixes(await lint(new Map()), lint);
  }

  it("digests are taken again", async () => {
    const run = await repaired((files) => {
      const file = "redis/rate-inspect-v1.lua";
      files.set(file, `${files.get(file)!}-- looked at\n`);
    });
    expect(run.diagnostics).toEqual([]);
    expect([...run.files.keys()]).toEqual(["redis/program-set.json"]);
  });

  it("a missing command is added at its place", async () => {
    for (const [before, after] of [
      ['["PEXPIRE"]', '["INCR", "PEXPIRE"]'],
      ['["INCR"]', '["INCR", "PEXPIRE"]'],
    ] as const) {
      const run = await repaired((files) => {
        const file = "redis/program-set.json";
        files.set(file, files.get(file)!.replace('["INCR", "PEXPIRE"]', before));
      });
      expect(run.diagnostics).toEqual([]);
      expect(run.files.get("redis/program-set.json")!.after).toContain(`"commands": ${after}`);
    }
  });
});

describe("contracts with programs", () => {
  const contract = (programs: string): string => `version: 1\ncontracts:\n  c:\n    programs:\n      - ${programs}\n`;
  const script = "return redis.call('GET', KEYS[1])\n";

  it("a pattern that matches no file is the user's mistake", async () => {
    for (const programs of [
      "{ scripts: lua/*.lua }",
      "{ manifest: set.json }",
      "{ descriptors: [{ file: A.java }] }",
    ]) {
      const run = await checkTree(tree({ "quorumlint.yaml": contract(programs), "a.lua": script }));
      expect(run.faults.length).toBe(1);
      expect(run.faults[0]).toMatch(/quorumlint\.yaml:5:\d+: .* matches no file/);
    }
  });

  it("scripts of a manifest need no pattern; inputs have kinds", async () => {
    const base = fixtureBase("programs")!;
    const files = new Map(base);
    const text = new TextDecoder().decode(base.get("quorumlint.yaml")).replace(", scripts: redis/*.lua", "");
    files.set("quorumlint.yaml", new TextEncoder().encode(text));
    const run = await checkTree(files);
    expect(run.result.diagnostics.map(shown)).toEqual([]);
    const kinds = new Map(run.result.inputs.map((i) => [i.file, i.kind]));
    expect(kinds.get("redis/program-set.json")).toBe("json");
    expect(kinds.get("redis/rate-inspect-v1.lua")).toBe("lua");
  });

  it("a comment in Lua accepts a finding", async () => {
    const file = "local n = redis.call('INCR', KEYS[1])\nif n > tonumber(ARGV[1]) then return 0 end\nreturn 1\n";
    expect(await found({ "hit.lua": file })).toEqual(["warning program/ttl missing hit.lua:1"]);
    const accepted = `-- quorumlint: ignore[program/ttl] the caller expires it\n${file}`;
    expect(await found({ "hit.lua": accepted })).toEqual([]);
  });

  it("included files are found, also in folders beside, and are no scripts of their own", async () => {
    const files = {
      "lua/hit-1.lua":
        '--- @include "includes/count"\nlocal n = count(KEYS[1])\nif n > 10 then return 0 end\nreturn 1\n',
      "lua/includes/count.lua": "local function count(key)\n  return redis.call('INCR', key)\nend\n",
    };
    expect(await found(files)).toEqual(["warning program/ttl missing lua/includes/count.lua:2"]);
  });

  it("the Lua parser is loaded only where there are scripts", async () => {
    const lab = await checkTree(fixtureBase("inferred")!);
    expect(lab.roots.flatMap((r) => r.contracts).every((c) => c.parsers.lua === undefined)).toBe(true);
    const programs = await checkTree(fixtureBase("programs")!);
    expect(programs.roots[0]!.contracts[0]!.parsers.lua).toBeDefined();
  });

  it("what did not change is not analysed again", async () => {
    const run = await checkTree(fixtureBase("programs")!);
    const before = run.roots[0]!.contracts[0]!;
    const file = before.files.find((f) => f.file === "redis/program-set.json")!;
    const after = rebuildContract(before, new Map([[file, file.withText(`${file.source.text}\n`)]]));
    const effects = before.programs.scripts.map((s) => s.effects);
    expect(effects.every((e) => e !== undefined)).toBe(true);
    expect(after.programs.scripts.map((s) => s.effects)).toEqual(effects);
    after.programs.scripts.forEach((s, i) => {
      expect(s.effects).toBe(effects[i]);
    });
  });

  it("hostile manifests are findings, not crashes", async () => {
    for (const text of [
      "",
      "[",
      "[".repeat(5000),
      '{"programs": [[["x"]]]}',
      '{"programs": {"a": 1}}',
      "null",
      '"x"',
      "\ufeff{}",
    ]) {
      const run = await checkTree(
        tree({
          "quorumlint.yaml": contract("{ manifest: set.json, scripts: a.lua }"),
          "set.json": text,
          "a.lua": script,
        }),
      );
      expect(run.result.crashes).toEqual([]);
      expect(run.result.diagnostics.length).toBeGreaterThan(0);
    }
  });

  it("JSON that names no script is none of ours", async () => {
    const run = await checkTree(
      tree({ "package-lock.json": '{"sha1": "0000000000000000000000000000000000000000", "programs": []}' }),
    );
    expect(run.roots.flatMap((r) => r.contracts)).toEqual([]);
    expect(run.notes.length).toBe(1);
  });
});
