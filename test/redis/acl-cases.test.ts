/** The recorded cases that the project carries: every file on every server, so that a bare clone proves the evaluator. */
import { describe, expect, it } from "vitest";
import { carriedCases, exceptions, judgeAll, judgeScript, scriptCases } from "./vectors.js";

const data = (name: string): URL => new URL(`../data/${name}`, import.meta.url);

describe("recorded ACL files", () => {
  const rows = carriedCases(data("acl-cases.jsonl.gz"));

  it("load, describe and allow as the servers do", () => {
    const { problems, compared } = judgeAll(rows);
    expect(problems).toEqual([]);
    expect(compared).toBeGreaterThan(50_000);
  });

  it("have few exceptions, each with its reason", () => {
    const known = exceptions();
    expect(known.size).toBeLessThanOrEqual(5);
    const recorded = new Set(rows.flatMap((r) => r.servers.map((s) => `${s} ${r.id}`)));
    for (const [key, reason] of known) {
      expect(recorded).toContain(key);
      expect(reason.length).toBeGreaterThan(40);
    }
  });
});

describe("recorded script runs", () => {
  it("are allowed or refused as the servers do", () => {
    const verdicts = scriptCases(data("acl-scripts.jsonl.gz")).map((row) => ({ row, problems: judgeScript(row) }));
    const problems = verdicts.flatMap(({ row, problems: p }) => (p ?? []).map((x) => `${row.version} ${row.id}: ${x}`));
    expect(problems).toEqual([]);
    expect(verdicts.filter((v) => v.problems !== undefined).length).toBeGreaterThan(400);
  });
});
