/** The shared recordings of configurations: run where they are. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { buildDirectives, DIRECTIVE_SERVERS } from "../../src/dev/redis-directives.js";
import { confExceptions, differencesOf, isJudged, judgeRecorded, recordedConfs } from "../redis/conf-cases.js";

const vectors = new URL("../../../shared/truth/vectors/conf-vectors.jsonl", import.meta.url);
const here = existsSync(vectors);
if (!here) console.log("conf-vectors: the shared recordings are absent, only the carried ones are checked");

describe.runIf(here)("shared recordings of configurations", () => {
  const rows = here ? recordedConfs(vectors) : [];
  const pairs = rows.flatMap((row) => row.servers.filter(isJudged).map((server) => ({ row, server })));

  it("verdict, error text, CONFIG GET, second start and rewritten lines", () => {
    const exceptions = confExceptions();
    const found = pairs.flatMap(({ row, server }) =>
      differencesOf(row, server, exceptions).map((d) => `${server} ${row.id}: ${d}`),
    );
    expect(found).toEqual([]);
  });

  it("the verdict of the files alone is right in 99 of 100", () => {
    const right = pairs.filter(({ row, server }) => judgeRecorded(row, server, false).loads === row.loads);
    console.log(
      `conf-vectors: ${right.length} of ${pairs.length} verdicts are right without the recording's command line`,
    );
    expect(right.length / pairs.length).toBeGreaterThanOrEqual(0.99);
  });
});

describe.runIf(here)("what is carried", () => {
  it("directive tables are what the recorded tables say", () => {
    const tables = new URL("../tables", vectors);
    const shipped = readFileSync(new URL("../../schemas/redis/directives.json", import.meta.url), "utf8");
    expect(JSON.parse(shipped)).toEqual(buildDirectives(fileURLToPath(tables), DIRECTIVE_SERVERS));
  });
});
