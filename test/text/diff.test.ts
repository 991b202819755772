import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines, unifiedDiff } from "../../src/text/diff.js";

const names = { from: "a/f", to: "b/f" };

/** Applies a unified diff as `patch` would, line by line. */
function patch(before: string, diff: string): string {
  const lines = before.split(/(?<=\n)/);
  let out = "";
  let at = 0;
  const rows = diff.split(/(?<=\n)/);
  for (let i = 2; i < rows.length; i++) {
    const row = rows[i]!;
    const header = /^@@ -(\d+)(?:,(\d+))? \+/.exec(row);
    if (header !== null) {
      const first = Number(header[1]) - (header[2] === "0" ? 0 : 1);
      out += lines.slice(at, first).join("");
      at = first;
      continue;
    }
    if (row.startsWith("\\")) continue;
    const bare = rows[i + 1]?.startsWith("\\") ? row.slice(0, -1) : row;
    if (row[0] === "+") out += bare.slice(1);
    else {
      expect(lines[at]).toBe(bare.slice(1));
      if (row[0] === " ") out += bare.slice(1);
      at++;
    }
  }
  return out + lines.slice(at).join("");
}

describe("unifiedDiff", () => {
  it("is empty for equal texts", () => {
    expect(unifiedDiff("a\nb\n", "a\nb\n", names)).toBe("");
    expect(unifiedDiff("", "", names)).toBe("");
  });

  it("shows three lines around a change and cuts distant changes into hunks", () => {
    const before = Array.from({ length: 20 }, (_, i) => `line ${i + 1}\n`).join("");
    const after = before.replace("line 3\n", "LINE 3\n").replace("line 18\n", "");
    expect(unifiedDiff(before, after, names)).toBe(
      [
        "--- a/f\n+++ b/f\n",
        "@@ -1,6 +1,6 @@\n line 1\n line 2\n-line 3\n+LINE 3\n line 4\n line 5\n line 6\n",
        "@@ -15,6 +15,5 @@\n line 15\n line 16\n line 17\n-line 18\n line 19\n line 20\n",
      ].join(""),
    );
  });

  it("says where the last line has no line break, and shows changed line ends", () => {
    expect(unifiedDiff("a\n", "a", names)).toBe(
      "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n",
    );
    expect(unifiedDiff("a\r\n", "a\n", names)).toContain("-a\r\n+a\n");
    expect(unifiedDiff("", "x\n", names)).toContain("@@ -0,0 +1 @@\n+x\n");
    expect(unifiedDiff("x\n", "", names)).toContain("@@ -1 +0,0 @@\n-x\n");
  });

  it("keeps a header on its line whatever the file is called", () => {
    expect(unifiedDiff("a", "b", { from: "a/x\ny", to: "b/x y" }).split("\n").slice(0, 2)).toEqual([
      "--- a/x?y",
      "+++ b/x y\t",
    ]);
  });

  it("gives back the new text when applied", () => {
    const line = fc.constantFrom("a\n", "b\n", "c\r\n", "\n", "d");
    const text = fc.array(line, { maxLength: 30 }).map((l) => l.join(""));
    fc.assert(
      fc.property(text, text, fc.integer({ min: 0, max: 4 }), (before, after, context) => {
        const diff = unifiedDiff(before, after, { from: "a/f", to: "b/f", context });
        expect(before === after ? before : patch(before, diff)).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  it("finds the shortest script", () => {
    const letters = (text: string): string[] => [...text];
    const size = (a: string, b: string): number =>
      diffLines(letters(a), letters(b)).reduce((n, c) => n + c.aEnd - c.aStart + c.bEnd - c.bStart, 0);
    expect(size("abcabba", "cbabac")).toBe(5);
    const lcs = (a: string, b: string): number => {
      const row = new Array<number>(b.length + 1).fill(0);
      for (const x of a) {
        let corner = 0;
        for (let j = 0; j < b.length; j++) {
          const up = row[j + 1]!;
          row[j + 1] = x === b[j] ? corner + 1 : Math.max(up, row[j]!);
          corner = up;
        }
      }
      return row[b.length]!;
    };
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 12 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(size(a, b)).toBe(a.length + b.length - 2 * lcs(a, b));
      }),
      { numRuns: 500 },
    );
  });

  it("is bounded where two large texts have nothing in common", () => {
    const text = (mark: string): string => Array.from({ length: 20_000 }, (_, i) => `${mark}${i}\n`).join("");
    const diff = unifiedDiff(text("a"), text("b"), names);
    expect(diff.split("\n").length).toBe(40_004);
  });

  it("is what git applies", () => {
    const folder = mkdtempSync(join(tmpdir(), "diff-"));
    try {
      const before = "user default on\r\nuser app on\nlast";
      const after = "user default off\r\nuser app on\nmore\nlast";
      writeFileSync(join(folder, "a file.acl"), before);
      writeFileSync(join(folder, "x.patch"), unifiedDiff(before, after, { from: "a/a file.acl", to: "b/a file.acl" }));
      execFileSync("git", ["apply", "x.patch"], { cwd: folder, stdio: "pipe" });
      expect(readFileSync(join(folder, "a file.acl"), "utf8")).toBe(after);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
