/** The one loop that proves every rule by its fixture. */
import { describe, expect, it } from "vitest";
import { fixtures } from "../fixtures/index.js";
import { rules } from "../rules/index.js";
import { GOOD, prove, textAt } from "../src/mutation/prove.js";
import { fixtureBase, lintTree } from "./support.js";

const proof = await prove({ rules, fixtures, base: fixtureBase, lint: lintTree });

describe("bases", () => {
  it("are clean under all rules", () => {
    expect(
      proof.dirty.map((d) => ({
        base: d.base,
        faults: d.faults,
        found: d.diagnostics.map(
          (x) => `${x.rule} ${x.messageId} ${x.at.source.file} "${textAt(x).slice(0, 60)}" ${x.message}`,
        ),
      })),
    ).toEqual([]);
  });
});

describe("proofs", () => {
  it("every message is primary in a mutant", () => expect(proof.unproven).toEqual([]));
  it("every rule has a boundary case", () => expect(proof.unbounded).toEqual([]));
  it("no fixture without its rule", () =>
    expect([...fixtures.keys()].filter((id) => !rules.some((r) => r.id === id))).toEqual([]));
  for (const r of proof.results) {
    it(`${r.rule} ${r.kind}: ${r.name}`, () => {
      expect(GOOD.has(r.status) ? "" : `${r.status}: ${r.detail}`).toBe("");
      for (const d of r.diagnostics) {
        // a real range: it covers text, unless the fault is of the file as a whole
        const whole = d.at.start === 0 && d.at.end === 0;
        if (!whole) expect(textAt(d).trim()).not.toBe("");
      }
    });
  }
});
