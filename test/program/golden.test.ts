/** The program set of the golden contract: its manifests say what its scripts do, nothing more and nothing less. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { describe, expect, it } from "vitest";
import type { ScriptEffects } from "../../src/model/program/effects.js";
import { sameSlot } from "../../src/model/program/keypattern.js";
import type { ManifestProgram } from "../../src/model/program/manifest.js";
import { programs, sets } from "./golden.js";
import { analyse } from "./support.js";

/** What the script does to each of its keys, by the name in the manifest. */
function accessOf(program: ManifestProgram, effects: ScriptEffects): Record<string, string> {
  const out: Record<string, string> = {};
  for (const use of effects.keys) {
    expect(use.origin.kind).toBe("keys");
    const name = program.keys[use.origin.keys[0]! - 1]!.name.value;
    const all = new Set([...(out[name] ?? ""), ...use.access]);
    out[name] = ["R", "W"].filter((a) => all.has(a)).join("");
  }
  // Commands that need neither (EXISTS) read.
  return Object.fromEntries(Object.entries(out).map(([name, access]) => [name, access === "" ? "R" : access]));
}

describe("golden program sets", () => {
  it("are valid, catalogue every script once", () => {
    expect(sets.flatMap(({ set }) => set.problems.map((p) => p.message))).toEqual([]);
    for (const { file, set } of sets) {
      const scripts = readdirSync(dirname(file)).filter((f) => f.endsWith(".lua"));
      expect(set.programs.map((p) => p.file!.value).sort()).toEqual(scripts.sort());
    }
    expect(new Set(programs.map((p) => p.id)).size).toBe(programs.length);
    expect(programs.length).toBeGreaterThanOrEqual(27);
  });

  it.each(programs)("$id", ({ id, program, script }) => {
    const bytes = readFileSync(script);
    expect(program.sha1!.value).toBe(createHash("sha1").update(bytes).digest("hex"));
    expect(program.sha256!.value).toBe(createHash("sha256").update(bytes).digest("hex"));
    expect(basename(script)).toBe(`${id}-v${program.version!.value.split(".")[0]}.lua`);

    const effects = analyse(bytes.toString("utf8"));
    expect(effects.unknowns).toEqual([]);
    expect(effects.commandsComplete).toBe(true);
    expect([...effects.globals, ...effects.refused, ...effects.neverEqual, ...effects.dynamicSources]).toEqual([]);
    expect(effects.unbounded).toEqual([]);
    expect([...effects.commands.keys()].map((c) => c.toUpperCase()).sort()).toEqual(
      program.commands.map((c) => c.value),
    );
    expect(effects.inputs("keys").uses.map((u) => u.index)).toEqual(program.keys.map((_, i) => i + 1));
    expect(effects.inputs("argv").uses.map((u) => u.index)).toEqual(program.argv.map((_, i) => i + 1));
    expect(accessOf(program, effects)).toEqual(
      Object.fromEntries(program.keys.map((k) => [k.name.value, k.access.value])),
    );
    for (const key of program.keys) {
      expect(sameSlot(key.pattern.value, program.keys[0]!.pattern.value)).toBe(true);
    }

    const named = (index: number) => program.keys[index - 1]!.name.value;
    const durable = program.ttl.filter((t) => t.durable).map((t) => t.key.value);
    expect([...new Set(effects.missingTtl.flatMap((m) => m.origins.map((o) => named(o.keys[0]!))))]).toEqual(durable);
    const bounds: Record<string, number> = {};
    for (const set of effects.ttls) {
      expect(set.unit).toBe("milliseconds");
      const name = named(set.origins[0]!.keys[0]!);
      bounds[name] = Math.max(bounds[name] ?? 0, set.max ?? Number.POSITIVE_INFINITY);
      const declared = program.ttl.find((t) => t.key.value === name)?.argv?.value;
      for (const i of set.argv) expect(program.argv[i - 1]!.name.value).toBe(declared);
    }
    expect(bounds).toEqual(
      Object.fromEntries(program.ttl.filter((t) => !t.durable).map((t) => [t.key.value, (t.max ?? t.fixed)!.value])),
    );
  });
});
