/** The proof that judges code mutants (`npm run mutate`) tells a changed rule from the right one. */
import { describe, expect, it } from "vitest";
import stableIdentity from "../../rules/k8s/stable-identity.js";
import type { Rule } from "../../src/engine/rule.js";
import { allCases, concerns, judge, judgeWhole, loadCase } from "../stryker/proof.js";
import { fixtureBase } from "../support.js";

const right: Rule = Object.assign({ id: "k8s/stable-identity" }, stableIdentity);
const silent: Rule = Object.assign({}, right, { on: { Plane: () => {} } });
const throwing: Rule = Object.assign({}, right, {
  on: {
    Plane: () => {
      throw new TypeError("changed");
    },
  },
});
const cases = allCases();

async function verdicts(rule: Rule, ids: readonly string[]): Promise<(string | undefined)[]> {
  const out: (string | undefined)[] = [];
  for (const id of ids) {
    const found = cases.find((c) => c.id === id);
    if (found === undefined) throw new Error(`there is no case "${id}"`);
    out.push(await judge(rule, await loadCase(found, [rule.id], fixtureBase), [rule]));
  }
  return out;
}

describe("the proof of code mutants", () => {
  const own = "k8s/stable-identity: a Service with an address";
  const other = "every rule: the base redis-lab";

  it("has every case once", () => expect(new Set(cases.map((c) => c.id)).size).toBe(cases.length));

  it("lets the right rule pass", async () => {
    expect(await verdicts(right, [own, other])).toEqual([undefined, undefined]);
  });

  it("kills a rule that says nothing where its fixture expects a finding", async () => {
    expect(await verdicts(silent, [own, other])).toEqual([
      "Survived: nothing reported k8s/stable-identity (headed)",
      undefined,
    ]);
  });

  it("kills a rule that throws, on every base", async () => {
    expect(await verdicts(throwing, [other])).toEqual(["crashed: changed"]);
  });

  it("sees the same of a contract that is read anew, as for mutants of the model", async () => {
    const found = cases.find((c) => c.id === own)!;
    expect(await judgeWhole(found, [right], fixtureBase)).toBeUndefined();
    expect(await judgeWhole(found, [silent], fixtureBase)).toBe(
      "Survived: nothing reported k8s/stable-identity (headed)",
    );
  });

  it("asks a case about other rules than its own, unless it is alone", () => {
    const foreign: Rule = Object.assign({}, right, { id: "k8s/namespace" });
    const alone = cases.find((c) => c.case.alone === true && c.rule === right.id)!;
    expect(concerns(cases.find((c) => c.id === own)!, foreign)).toBe(true);
    expect(concerns(alone, foreign)).toBe(false);
    expect(concerns(alone, right)).toBe(true);
  });
});
