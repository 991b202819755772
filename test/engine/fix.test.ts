import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Diagnostic } from "../../src/engine/diagnostic.js";
import { applyFixes, fixDiff, MAX_ROUNDS, planFixes } from "../../src/engine/fix.js";
import { applyEdits, Source } from "../../src/text/source.js";

type Range = [start: number, end: number, newText: string];

function fixable(source: Source, start: number, edits: readonly Range[], more: Partial<Diagnostic> = {}): Diagnostic {
  return {
    rule: "redis/port",
    messageId: "open",
    severity: "error",
    message: "open",
    help: undefined,
    contract: "lab",
    at: source.span(start, start + 1),
    pointer: undefined,
    related: [],
    fix: { description: "Close it", edits: edits.map(([a, b, newText]) => ({ span: source.span(a, b), newText })) },
    ...more,
  };
}

describe("planFixes", () => {
  const source = new Source("f", "0123456789");

  it("takes what does not overlap, in the order of the findings", () => {
    const plan = planFixes([
      fixable(source, 4, [[3, 6, "-"]]),
      fixable(source, 1, [[1, 4, "x"]]),
      fixable(source, 7, [[6, 8, "y"]]),
    ]);
    expect(plan.applied.map((d) => d.at.start)).toEqual([1, 7]);
    expect(plan.skipped.map((d) => d.at.start)).toEqual([4]);
    expect(applyEdits(source, plan.edits)).toBe("0x45y89");
  });

  it("takes a fix whole or not at all", () => {
    const plan = planFixes([
      fixable(source, 0, [[0, 2, "a"]]),
      fixable(source, 1, [
        [8, 9, "b"],
        [1, 3, "c"],
      ]),
    ]);
    expect(applyEdits(source, plan.edits)).toBe("a23456789");
  });

  it("makes an edit that two findings share once", () => {
    const plan = planFixes([fixable(source, 0, [[2, 2, "x"]]), fixable(source, 1, [[2, 2, "x"]])]);
    expect(plan.applied).toHaveLength(2);
    expect(applyEdits(source, plan.edits)).toBe("01x23456789");
  });

  it("leaves two insertions at one place to two rounds", () => {
    const plan = planFixes([fixable(source, 0, [[2, 2, "x"]]), fixable(source, 1, [[2, 2, "y"]])]);
    expect(plan.applied).toHaveLength(1);
  });

  it("refuses edits that overlap each other, leave the file or change nothing", () => {
    const bad = [
      fixable(source, 0, [
        [0, 3, "a"],
        [2, 4, "b"],
      ]),
      fixable(source, 1, [[9, 11, "a"]]),
      fixable(source, 2, [[3, 2, "a"]]),
      fixable(source, 3, [[3, 4, "3"]]),
    ];
    const plan = planFixes(bad);
    expect(plan.edits).toEqual([]);
    expect(plan.skipped).toHaveLength(4);
  });

  it("writes the line ends of the file", () => {
    const crlf = new Source("f", "a\r\nb\r\n");
    expect(applyEdits(crlf, planFixes([fixable(crlf, 0, [[3, 3, "x\ny\r\n"]])]).edits)).toBe("a\r\nx\r\ny\r\nb\r\n");
    const lf = new Source("f", "a\nb\r\n");
    expect(applyEdits(lf, planFixes([fixable(lf, 0, [[2, 2, "x\n"]])]).edits)).toBe("a\nx\nb\r\n");
  });

  it("always gives edits that can be applied, the same for every order", () => {
    const range = fc.tuple(fc.nat(10), fc.nat(10), fc.constantFrom("", "x", "yy"));
    const one = fc.tuple(fc.nat(9), fc.array(range, { minLength: 1, maxLength: 3 }));
    fc.assert(
      fc.property(fc.array(one, { maxLength: 8 }), (list) => {
        const found = list.map(([start, edits]) => fixable(source, start, edits, { message: JSON.stringify(edits) }));
        const plan = planFixes(found);
        expect(applyEdits(source, planFixes([...found].reverse()).edits)).toBe(applyEdits(source, plan.edits));
        expect(plan.applied.length + plan.skipped.length).toBe(found.length);
      }),
      { numRuns: 500 },
    );
  });
});

/** A linter whose rule wants every `on` to be `off`, and whose syntax rule knows `!`. */
function linter(files: Record<string, string>, fixOf: (text: string, at: number) => Range[]) {
  const lint = (changed: ReadonlyMap<string, string>): Diagnostic[] => {
    const out: Diagnostic[] = [];
    for (const [name, original] of Object.entries(files)) {
      const source = new Source(name, changed.get(name) ?? original);
      for (const m of source.text.matchAll(/\bon\b/g)) out.push(fixable(source, m.index, fixOf(source.text, m.index)));
      for (const m of source.text.matchAll(/!/g)) {
        out.push(fixable(source, m.index, [], { rule: "redis/syntax", fix: undefined }));
      }
    }
    return out;
  };
  return { lint, first: lint(new Map()) };
}

describe("applyFixes", () => {
  it("repairs, re-lints clean and leaves every other byte", async () => {
    const { lint, first } = linter(
      { "b.acl": "user a on  # keep\r\n\tuser b on\r\n", "a.acl": "x on", "c.acl": "nothing" },
      (_, at) => [[at, at + 2, "off"]],
    );
    const run = await applyFixes(first, lint);
    expect(run).toMatchObject({ fixed: 3, rounds: 1, diagnostics: [], converged: true, reverted: [] });
    expect([...run.files]).toEqual([
      ["a.acl", { before: "x on", after: "x off" }],
      ["b.acl", { before: "user a on  # keep\r\n\tuser b on\r\n", after: "user a off  # keep\r\n\tuser b off\r\n" }],
    ]);
    expect(fixDiff(run, (f) => `acl/${f}`)).toBe(
      [
        "--- a/acl/a.acl\n+++ b/acl/a.acl\n@@ -1 +1 @@\n-x on\n\\ No newline at end of file\n+x off\n\\ No newline at end of file\n",
        "--- a/acl/b.acl\n+++ b/acl/b.acl\n@@ -1,2 +1,2 @@\n-user a on  # keep\r\n-\tuser b on\r\n+user a off  # keep\r\n+\tuser b off\r\n",
      ].join(""),
    );
  });

  it("goes on in rounds where fixes overlap", async () => {
    const { lint, first } = linter({ f: "on on on on" }, (text, at) => [
      [0, text.length, `${text.slice(0, at)}off${text.slice(at + 2)}`],
    ]);
    const run = await applyFixes(first, lint);
    expect(run.files.get("f")?.after).toBe("off off off off");
    expect(run).toMatchObject({ rounds: 4, fixed: 4, converged: true });
  });

  it("stops where fixes chase each other, and says so", async () => {
    const { lint, first } = linter({ f: "on" }, (_, at) => [[at, at, "on "]]);
    const run = await applyFixes(first, lint);
    expect(run.rounds).toBe(MAX_ROUNDS);
    expect(run.converged).toBe(false);
    expect(run.diagnostics.length).toBeGreaterThan(0);
  });

  it("gives a file back that a fix broke, and repairs the others", async () => {
    const { lint, first } = linter({ bad: "a on\nb on", good: "on" }, (text, at) => [
      [at, at + 2, text.includes("a") ? "!" : "off"],
    ]);
    const run = await applyFixes(first, lint);
    expect([...run.files.keys()]).toEqual(["good"]);
    expect(run).toMatchObject({ reverted: ["bad"], fixed: 1, converged: true });
    expect(run.diagnostics.map((d) => d.at.source.file)).toEqual(["bad", "bad"]);
  });

  it("takes a fix over two files back whole", async () => {
    const files = { a: "on", b: "x" };
    const lint = (changed: ReadonlyMap<string, string>): Diagnostic[] => {
      const [a, b] = (["a", "b"] as const).map((f) => new Source(f, changed.get(f) ?? files[f])) as [Source, Source];
      if (b.text !== "x") return [fixable(b, 0, [], { rule: "redis/syntax", fix: undefined })];
      if (a.text !== "on") return [];
      const edits = [
        { span: a.span(0, 2), newText: "off" },
        { span: b.span(0, 1), newText: "!" },
      ];
      return [fixable(a, 0, [], { fix: { description: "Move it", edits } })];
    };
    const run = await applyFixes(lint(new Map()), lint);
    expect(run).toMatchObject({ fixed: 0, reverted: ["a", "b"], converged: true });
    expect(run.files.size).toBe(0);
    expect(run.diagnostics).toHaveLength(1);
  });

  it("leaves files alone that must not be changed, and names them", async () => {
    const { lint, first } = linter({ odd: "on", good: "on" }, (_, at) => [[at, at + 2, "off"]]);
    const run = await applyFixes(first, lint, (file) => file !== "odd");
    expect([...run.files.keys()]).toEqual(["good"]);
    expect(run).toMatchObject({ refused: ["odd"], reverted: [], fixed: 1, converged: true });
    expect(run.diagnostics.map((d) => d.at.source.file)).toEqual(["odd"]);
  });

  it("does nothing without fixes", async () => {
    const source = new Source("f", "x");
    const run = await applyFixes([fixable(source, 0, [], { fix: undefined })], () => {
      throw new Error("no reason to lint again");
    });
    expect(run).toMatchObject({ rounds: 0, fixed: 0, converged: true });
    expect(fixDiff(run)).toBe("");
  });

  it("plans many fixes of one file in time", async () => {
    const { lint, first } = linter({ f: "on\n".repeat(20_000) }, (_, at) => [[at, at + 2, "off"]]);
    const from = performance.now();
    expect((await applyFixes(first, lint)).fixed).toBe(20_000);
    expect(performance.now() - from).toBeLessThan(20_000);
  });
});
