/** The recorded configurations that the project carries: every one on every server, so that a bare clone proves the judge. */
import { describe, expect, it } from "vitest";
import { carriedConfs, confExceptions, differencesOf, isJudged, judgeRecorded } from "./conf-cases.js";

const rows = carriedConfs(new URL("../data/conf-cases.json", import.meta.url));
const pairs = rows.flatMap((row) => row.servers.filter(isJudged).map((server) => ({ row, server })));

describe("recorded configurations", () => {
  it("start or not, for the same reason, with the same values, again or not, as the servers did", () => {
    const exceptions = confExceptions();
    const found = pairs.flatMap(({ row, server }) =>
      differencesOf(row, server, exceptions).map((d) => `${server} ${row.id}: ${d}`),
    );
    expect(found).toEqual([]);
    expect(pairs.length).toBeGreaterThan(2000);
  });

  it("start or not also as plain files, apart from what the recording's own command line decided", () => {
    const wrong = pairs.filter(({ row, server }) => judgeRecorded(row, server, false).loads !== row.loads);
    // `port 0` and a `bind` without addresses: the harness's servers listened on its own socket.
    expect([...new Set(wrong.map(({ row }) => row.id))].sort()).toEqual([
      "redis/file/comment-indented",
      "redis/value/bind-none",
    ]);
    expect(wrong.length / pairs.length).toBeLessThan(0.01);
  });

  it("have few exceptions, each with its reason", () => {
    const ids = new Set(rows.map((r) => r.id));
    for (const { id, of, reason } of confExceptions()) {
      expect(ids).toContain(id);
      expect(of).not.toContain("loads");
      expect(reason.length).toBeGreaterThan(40);
    }
  });
});
