/** The shared recordings of ACL cases, with the words of each denial: run where they are. */
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { judgeAll, judgeScript, recordedCases, scriptCases } from "../redis/vectors.js";

const vectors = new URL("../../../shared/truth/vectors/", import.meta.url);
const here = existsSync(vectors);
if (!here) console.log("acl-vectors: the shared recordings are absent, only the carried ones are checked");

describe.runIf(here)("shared ACL recordings", () => {
  it("acl-vectors.jsonl: verdict, line, error text, users, dry runs and their reasons", () => {
    const { problems, compared } = judgeAll(recordedCases(new URL("acl-vectors.jsonl", vectors)));
    expect(problems).toEqual([]);
    expect(compared).toBeGreaterThan(50_000);
  });

  it("lua-vectors.jsonl: allowed or not", () => {
    const rows = scriptCases(new URL("lua-vectors.jsonl", vectors));
    const problems = rows.flatMap((row) => (judgeScript(row) ?? []).map((p) => `${row.version} ${row.id}: ${p}`));
    expect(problems).toEqual([]);
  });
});
