/** One-defect mutants of a clean base of other linters: each adds a finding at the mutated place. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Diagnostic } from "../../src/engine/diagnostic.js";
import { diffLines } from "../../src/text/diff.js";
import { checkTree, hasShared, readTree, shared } from "../support.js";

const folder = join(shared, "peers", "mutants");
const key = (d: Diagnostic): string => `${d.rule} ${d.messageId} ${d.at.source.file} ${d.message}`;
const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes ?? new Uint8Array());

describe.runIf(hasShared("peers/mutants"))("mutants of the peers' base", async () => {
  if (!hasShared("peers/mutants")) return;
  const base = readTree(join(folder, "base"));
  const before = new Set((await checkTree(base)).result.diagnostics.map(key));
  for (const name of readdirSync(folder).filter((n) => n !== "base")) {
    it(name, async () => {
      const tree = readTree(join(folder, name));
      const run = await checkTree(tree);
      expect(run.result.crashes).toEqual([]);
      const added = run.result.diagnostics.filter((d) => !before.has(key(d)));
      const shown = added.map(
        (d) => `${d.rule} ${d.at.source.file}:${d.at.source.position(d.at.start).line} ${d.message}`,
      );
      expect(added.length, shown.join("\n")).toBeGreaterThan(0);
      // the mutated files, and in each the lines around the change
      const changed = [...new Set([...tree.keys(), ...base.keys()])].filter(
        (f) => text(tree.get(f)) !== text(base.get(f)),
      );
      const near = added.some((d) => {
        const { file } = d.at.source;
        if (!changed.includes(file)) return !tree.has(changed[0] ?? "");
        const changes = diffLines(text(base.get(file)).split("\n"), text(tree.get(file)).split("\n"));
        const from = d.at.source.position(d.at.start).line - 1;
        const to = d.at.source.position(d.at.end).line - 1;
        return changes.some((c) => from <= c.bEnd + 30 && to >= c.bStart - 30);
      });
      expect(near ? "" : shown.join("\n")).toBe("");
    });
  }
});
