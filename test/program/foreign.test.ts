/**
 * Scripts that nobody here wrote. `test/data/lua/sample.json` holds 60 of them whose expectations were checked by reading
 * the scripts: the highest constant KEYS and ARGV index, whether entries of KEYS are used by computed index or as a whole,
 * all commands, every key that is not made from KEYS, every KEYS entry that is only used as a value, every unknown.
 */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { analyseScript, type ScriptEffects } from "../../src/model/program/effects.js";
import { collect, type ForeignScript, includeOf, PACKAGES } from "./collect.js";
import { document, line, origin, specs } from "./support.js";

interface Expected {
  readonly package: string;
  readonly file: string;
  readonly sha1: string;
  readonly maxKey: number;
  readonly anyKey: boolean;
  readonly maxArg: number;
  readonly commands: readonly string[];
  readonly undeclared: readonly string[];
  readonly keyAsValue: readonly number[];
  readonly unknown: readonly string[];
}

const sample = JSON.parse(
  readFileSync(new URL("../data/lua/sample.json", import.meta.url), "utf8"),
) as readonly Expected[];
const scripts = collect();
const complete = new Set(scripts.map((s) => s.package)).size === PACKAGES.length;
const effects = new Map<string, ScriptEffects>();

function summary(e: ScriptEffects): Omit<Expected, "package" | "file" | "sha1"> {
  const keys = e.inputs("keys");
  const outside = e.keys.filter((k) => k.origin.kind !== "keys" && k.origin.kind !== "derived");
  return {
    maxKey: keys.max,
    anyKey: keys.dynamic.length + keys.whole.length > 0,
    maxArg: e.inputs("argv").max,
    commands: [...e.commands.keys()].sort(),
    undeclared: [...new Set(outside.map((k) => `${line(k.at)} ${k.call.command} ${origin(k.origin)}`))],
    keyAsValue: keys.uses.filter((u) => u.asKey.length === 0 && u.asValue.length > 0).map((u) => u.index),
    unknown: e.unknowns.map((u) => `${line(u.at)} ${u.kind}`),
  };
}

describe.runIf(scripts.length > 0)("foreign scripts", () => {
  beforeAll(() => {
    for (const script of scripts) {
      effects.set(
        script.sha1,
        analyseScript(document(script.text, script.file), specs, { include: includeOf(script) }),
      );
    }
  });

  it.runIf(complete)("there are at least 190, distinct by content", () => {
    expect(new Set(scripts.map((s) => s.sha1)).size).toBeGreaterThanOrEqual(190);
    expect(new Set(sample.map((s) => s.package)).size).toBeGreaterThanOrEqual(6);
  });

  it("each one parses and is followed to its end; every question has an answer", () => {
    for (const script of scripts) {
      const e = effects.get(script.sha1)!;
      expect([script.file, e.document.problems]).toEqual([script.file, []]);
      for (const unknown of e.unknowns) expect(unknown.at.end).toBeGreaterThan(unknown.at.start);
      expect(e.unknowns.filter((u) => u.kind === "budget" || u.kind === "depth")).toEqual([]);
      summary(e);
      void [e.results, e.missingTtl, e.ttls, e.unbounded, e.dynamicCommands, e.dynamicSources, e.writeAfterTime];
      void [e.comparisons, e.apis, e.globals, e.unusedFunctions, e.writes];
      for (const call of e.calls) void call.guards;
    }
  });

  it("the sample is judged as a reader judges it", () => {
    const present = new Map(scripts.map((s): [string, ForeignScript] => [s.sha1, s]));
    let checked = 0;
    for (const { package: name, file, sha1, ...expected } of sample) {
      if (!present.has(sha1) && !complete) continue;
      expect([name, file, present.has(sha1)]).toEqual([name, file, true]);
      expect({ name, file, ...summary(effects.get(sha1)!) }).toEqual({ name, file, ...expected });
      checked++;
    }
    if (complete) expect(checked).toBe(60);
  });

  it("every written command is found, unless it is in code that cannot run", () => {
    for (const script of scripts) {
      const e = effects.get(script.sha1)!;
      if (e.calls.length === 0 || e.unusedFunctions.length > 0 || UNREACHABLE.has(script.file)) continue;
      const code = script.text.replace(/--\[\[[\s\S]*?\]\]/g, " ").replace(/--[^\n]*/g, " ");
      const found = new Set([...e.commands.keys()].map((c) => c.split("|")[0]));
      for (const match of code.matchAll(/(?:call|rcall)\s*\(\s*["'](\w+)["']/g)) {
        expect([script.file, match[1]!.toLowerCase(), found.has(match[1]!.toLowerCase())]).toEqual([
          script.file,
          match[1]!.toLowerCase(),
          true,
        ]);
      }
    }
  });
});

/** Scripts with a branch that no caller of a helper ever takes (a flag parameter that is never given). */
const UNREACHABLE: ReadonlySet<string> = new Set(["dist/cjs/scripts/drain-5.js"]);
