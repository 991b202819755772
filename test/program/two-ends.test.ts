/** Drift between script, manifest and code is shown at both of its ends; what others' scripts use is what they declare. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Diagnostic } from "../../src/engine/diagnostic.js";
import { checkTree, fixtureBase, tree } from "../support.js";
import { collect, PACKAGES } from "./collect.js";

const LUA = "src/main/resources/redis/rate/rate-fixed-window-v1.lua";
const RATE = "src/main/resources/redis/rate/program-set.json";
const FOUNDATION = "src/main/resources/redis/foundation/program-set.json";
const JAVA = "src/main/java/example/redis/RedisProgramCatalog.java";
const TS = "src/main/ts/redis/programs.ts";

async function broken(edits: Readonly<Record<string, readonly [find: string, replacement: string]>>) {
  const files = new Map(fixtureBase("redis-lab")!);
  for (const [file, [find, replacement]] of Object.entries(edits)) {
    const text = new TextDecoder().decode(files.get(file));
    expect([file, text.includes(find)]).toEqual([file, true]);
    files.set(file, new TextEncoder().encode(text.replace(find, () => replacement)));
  }
  const run = await checkTree(files);
  expect(run.faults).toEqual([]);
  return run.result.diagnostics;
}

/** `rule file < related files`, without repetition. */
function ends(found: readonly Diagnostic[]): string[] {
  const file = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
  return [
    ...new Set(
      found.map(
        (d) => `${d.rule} ${file(d.at.source.file)} < ${d.related.map((r) => file(r.at.source.file)).join(" ")}`,
      ),
    ),
  ].sort();
}

describe("both ends", () => {
  it("one byte of a script: the manifest and the code are stale, each shows the script", async () => {
    expect(ends(await broken({ [LUA]: ["Counts", "counts"] }))).toEqual([
      "program/source-digest program-set.json < rate-fixed-window-v1.lua program-set.json",
      "program/source-digest programs.ts < rate-fixed-window-v1.lua program-set.json",
    ]);
  });

  it("KEYS that changed places in code, in Java and in TypeScript", async () => {
    const java = await broken({
      [JAVA]: [
        `              new Key("generation", CACHE_GENERATION, Access.RW),
              new Key("operation", CACHE_OPERATION, Access.RW)),`,
        `              new Key("operation", CACHE_OPERATION, Access.RW),
              new Key("generation", CACHE_GENERATION, Access.RW)),`,
      ],
    });
    expect(ends(java)).toEqual(["program/descriptor-drift RedisProgramCatalog.java < program-set.json"]);
    const state = '      { name: "state", pattern: `${TENANT}:rate:fixed:state:*`, access: "RW" },\n';
    const dedup = '      { name: "dedup", pattern: `${TENANT}:rate:fixed:dedup:*`, access: "RW" },\n';
    const typescript = await broken({ [TS]: [state + dedup, dedup + state] });
    expect(ends(typescript)).toEqual(["program/descriptor-drift programs.ts < program-set.json"]);
  });

  it("one renamed field, in Java and in TypeScript", async () => {
    const java = await broken({ [JAVA]: ['new Arg("replayMs"', 'new Arg("answerMs"'] });
    expect(ends(java)).toEqual(["program/descriptor-drift RedisProgramCatalog.java < program-set.json"]);
    const typescript = await broken({ [TS]: ['{ name: "memoryMs"', '{ name: "keepMs"'] });
    expect(ends(typescript)).toEqual(["program/descriptor-drift programs.ts < program-set.json"]);
  });

  it("the same in the manifest: the code is shown, and what it says there", async () => {
    const found = await broken({ [FOUNDATION]: ['{ "name": "replayMs"', '{ "name": "answerMs"'] });
    expect(ends(found)).toContain("program/descriptor-drift RedisProgramCatalog.java < program-set.json");
    expect(found.some((d) => d.message.includes("replayMs") && d.message.includes("answerMs"))).toBe(true);
    const order = await broken({
      [RATE]: [
        '"name": "state", "pattern": "app:{tenant}:rate:fixed:state:*"',
        '"name": "first", "pattern": "app:{tenant}:rate:fixed:state:*"',
      ],
    });
    expect(ends(order)).toContain("program/descriptor-drift programs.ts < program-set.json");
  });

  it("files of code are inputs by their language", async () => {
    const run = await checkTree(new Map(fixtureBase("redis-lab")!));
    const kinds = new Map(run.result.inputs.map((i) => [i.file, i.kind]));
    expect(kinds.get(JAVA)).toBe("java");
    expect(kinds.get(TS)).toBe("typescript");
    expect(kinds.get("src/main/ts/redis/constants.ts")).toBe("typescript");
  });
});

interface Sample {
  readonly sha1: string;
  readonly maxKey: number;
  readonly anyKey: boolean;
}

const sample = JSON.parse(
  readFileSync(new URL("../data/lua/sample.json", import.meta.url), "utf8"),
) as readonly Sample[];
const scripts = new Map(collect().map((s) => [s.sha1, s]));
const complete = new Set([...scripts.values()].map((s) => s.package)).size === PACKAGES.length;

describe.runIf(complete)("the sample that was read by hand, declared", () => {
  /** A catalog of the sample that declares as many keys as a reader found, and `less` fewer. */
  async function declared(less: number) {
    const files: Record<string, string> = {};
    const catalog: Record<string, unknown> = {};
    for (const [i, { sha1, maxKey }] of sample.entries()) {
      const { text } = scripts.get(sha1)!;
      if (text.includes("@include")) continue;
      files[`lua/s${i}.lua`] = text;
      const digest = createHash("sha1").update(text).digest("hex");
      catalog[`s${i}`] = { file: `s${i}.lua`, sha1: digest, numberOfKeys: Math.max(0, maxKey - less) };
    }
    files["lua/scripts.json"] = JSON.stringify(catalog);
    const run = await checkTree(tree(files));
    expect(run.result.crashes).toEqual([]);
    return run.result.diagnostics.filter((d) => d.rule === "program/arguments");
  }

  it("no false alarm with what they use", async () => {
    expect((await declared(0)).map((d) => d.message)).toEqual([]);
  });

  it("each one is found with one key less", async () => {
    const found = new Set((await declared(1)).map((d) => d.at.source.file));
    const expected = sample.flatMap(({ sha1, maxKey }, i) =>
      maxKey > 0 && !scripts.get(sha1)!.text.includes("@include") ? [`lua/s${i}.lua`] : [],
    );
    expect([...found].sort()).toEqual(expected.sort());
    expect(expected.length).toBeGreaterThan(40);
  });
});
