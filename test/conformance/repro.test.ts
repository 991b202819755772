/** Bad/good pairs after public bug reports, with inference alone: the bad one is found at its place, the good one is silent. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { rules } from "../../rules/index.js";
import { checkTree, hasShared, readTree, shared } from "../support.js";

interface Expected {
  readonly accept: readonly string[];
  readonly file: string;
  readonly line: number;
  readonly severity: string;
}

const folder = join(shared, "repro");
const known = new Set(rules.map((r) => r.id));

describe.runIf(hasShared("repro"))("repro pairs", () => {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).sort()) {
    const file = join(folder, name, "expected.json");
    if (!existsSync(file)) continue;
    const expected = JSON.parse(readFileSync(file, "utf8")) as Expected;
    const accept = expected.accept.filter((id) => known.has(id));
    if (accept.length === 0) {
      console.log(`(${name} waits for its rules: ${expected.accept.join(", ")})`);
      continue;
    }

    it(`${name}: bad is found`, async () => {
      const run = await checkTree(readTree(join(folder, name, "bad")));
      expect(run.faults).toEqual([]);
      expect(run.result.crashes.map((c) => c.error.stack)).toEqual([]);
      const found = run.result.diagnostics.filter((d) => accept.includes(d.rule));
      const wanted = expected.file.replace(/^bad\//, "");
      const shown = run.result.diagnostics.map(
        (d) => `${d.rule} ${d.severity} ${d.at.source.file}:${d.at.source.position(d.at.start).line} ${d.message}`,
      );
      expect(found.some((d) => d.at.source.file === wanted) ? [] : shown).toEqual([]);
      const near = found.some((d) => {
        const lines = [d.at, ...d.related.map((r) => r.at)].map((at) => at.source.position(at.start).line);
        return d.at.source.file === wanted && lines.some((line) => Math.abs(line - expected.line) <= 12);
      });
      expect(near ? [] : shown).toEqual([]);
      const rank = ["info", "warning", "error"];
      expect(found.map((d) => d.severity).sort((a, b) => rank.indexOf(b) - rank.indexOf(a))[0]).toBe(expected.severity);
    });

    it(`${name}: good is silent`, async () => {
      const run = await checkTree(readTree(join(folder, name, "good")));
      expect(
        run.result.diagnostics
          .filter((d) => expected.accept.includes(d.rule))
          .map((d) => `${d.rule} ${d.at.source.file}:${d.at.source.position(d.at.start).line} ${d.message}`),
      ).toEqual([]);
    });
  }
});
