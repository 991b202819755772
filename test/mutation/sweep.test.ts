/**
 * The sweep of the golden contract, and of another one of programs: the fast way says what a lint of the changed files says,
 * and no declared equivalent is reported. `SWEEP_ALL=1` compares every mutant instead of some.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import Ajv from "ajv";
import { describe, expect, it } from "vitest";
import { equivalents } from "../../fixtures/equivalent/redis-lab.js";
import { fixtures } from "../../fixtures/index.js";
import { rules } from "../../rules/index.js";
import { prepareParsers } from "../../src/cli/parsers.js";
import { check } from "../../src/contract/check.js";
import { memoryHost } from "../../src/contract/memory.js";
import { coverageOf } from "../../src/mutation/coverage.js";
import { applyFileEdits, editsOf } from "../../src/mutation/fixture.js";
import type { MutantResult } from "../../src/mutation/mutant.js";
import { htmlReport, sweepReport } from "../../src/mutation/report.js";
import { sweep } from "../../src/mutation/sweep.js";
import { fixtureBase, TODAY, tree } from "../support.js";
import { sweepOptions } from "./support.js";

const options = await sweepOptions(fixtureBase("redis-lab")!);
const fast = await sweep({ ...options, equivalents });
const all = process.env["SWEEP_ALL"] === "1";
/** Parts of the mutants that all rules judge, and that are judged from text. */
const [share, every] = all ? [1, 1] : [6, 36];
const complete = await sweep({ ...options, allKillers: true, wanted: (_, i) => i % share === 0 });

function verdict(r: MutantResult): string {
  const open = r.status === "Survived" || r.status === "NoCoverage" || r.status === "Ignored";
  return `${r.mutant.id} ${r.mutant.source.file} ${r.mutant.field} ${r.mutant.mutator}: ${open ? "silent" : r.status} ${r.killedBy.join(" ")} ${r.status === "Killed" ? r.reason : ""}`;
}

/** The golden sweep, against verdicts of all rules: the same states, the first killer one of the killers. */
function firstOfAll(complete: readonly MutantResult[]): void {
  const byId = new Map(fast.results.map((r) => [r.mutant.id, r]));
  for (const r of complete) {
    const first = byId.get(r.mutant.id)!;
    const found = first.killedBy.length === 1 && r.killedBy.includes(first.killedBy[0]!);
    if (r.status !== "Killed" || first.status !== "Killed" || !found) expect(verdict(first)).toBe(verdict(r));
  }
}

describe("the golden sweep", () => {
  it("has mutants of all kinds of files", () => {
    expect(fast.results.length).toBeGreaterThanOrEqual(3000);
    const kinds = new Set(fast.results.map((r) => r.mutant.source.file.replace(/\.tmpl$/, "").replace(/.*\./, "")));
    expect([...kinds].sort()).toEqual(["acl", "conf", "json", "lua", "properties", "yaml"]);
    expect(new Set(fast.results.map((r) => r.mutant.id)).size).toBe(fast.results.length);
  });

  it("crashes no rule", () => {
    expect(
      [...fast.results, ...complete.results]
        .filter((r) => r.status === "RuntimeError")
        .map((r) => `${r.mutant.field} ${r.mutant.mutator}: ${r.reason}`),
    ).toEqual([]);
  });

  it(`judges as a lint of the changed files does (every ${every === 1 ? "" : `${every}th `}mutant)`, {
    timeout: 3_600_000,
  }, async () => {
    const slow = await sweep({ ...options, fromText: true, wanted: (_, i) => i % every === 0 });
    const byId = new Map(complete.results.map((r) => [r.mutant.id, r]));
    expect(slow.results.length).toBeGreaterThan(200);
    expect(slow.results.map((r) => verdict(byId.get(r.mutant.id)!))).toEqual(slow.results.map(verdict));
  });

  it("ends with the first rule that reports a mutant, and says of the others what all rules say", () => {
    firstOfAll(complete.results);
    expect(complete.results.some((r) => r.killedBy.length > 1)).toBe(true);
  });

  it("judges a contract of programs as a lint of the changed files does", { timeout: 600_000 }, async () => {
    const programs = await sweepOptions(fixtureBase("programs")!);
    const [quick, slow] = [
      await sweep({ ...programs, allKillers: true }),
      await sweep({ ...programs, fromText: true, wanted: (_, i) => all || i % 5 === 0 }),
    ];
    const byId = new Map(quick.results.map((r) => [r.mutant.id, r]));
    expect(new Set(slow.results.map((r) => r.mutant.source.file.replace(/.*\./, "")))).toEqual(
      new Set(["tmpl", "json", "lua"]),
    );
    expect(slow.results.map((r) => verdict(byId.get(r.mutant.id)!))).toEqual(slow.results.map(verdict));
  });

  it("declares no equivalent that is none", () => {
    expect(
      fast.stale.map(
        ({ entry, mutant }) => `${entry.file} ${entry.field} ${mutant?.mutator ?? entry.mutators.join(" ")}`,
      ),
    ).toEqual([]);
    const ignored = fast.results.filter((r) => r.status === "Ignored").length;
    expect(ignored / fast.results.length).toBeLessThanOrEqual(0.2);
    for (const entry of equivalents) expect(`${entry.file}${entry.field}`).not.toMatch(/\*\*/);
  });

  it("leaves nothing unguarded", () => {
    const open = fast.results.filter((r) => r.status === "Survived" || r.status === "NoCoverage");
    expect(open.map((r) => `${r.mutant.source.file} ${r.mutant.field} ${r.mutant.mutator}`)).toEqual([]);
  });

  it("says the same twice, byte for byte", async () => {
    const part = { ...options, wanted: (_: unknown, i: number) => i % 16 === 0 };
    const text = async (): Promise<string> => {
      const result = await sweep(part);
      return JSON.stringify(
        sweepReport(result, {
          contracts: options.contracts,
          rules,
          coverage: coverageOf(
            result.results,
            rules.map((r) => r.id),
          ),
          version: "1",
          homepage: "https://example.com/",
          minimum: undefined,
          allKillers: false,
        }),
      );
    };
    expect(await text()).toBe(await text());
  });
});

describe("every rule counts", () => {
  const lint = async (
    files: ReadonlyMap<string, Uint8Array>,
    without: string | undefined,
    today: string | undefined,
  ) => {
    const run = await check(memoryHost(files), ["/tree"], {
      rules: rules.filter((r) => r.id !== without),
      today: today ?? TODAY,
      version: "0",
      prepare: prepareParsers,
    });
    return run.result.diagnostics.map((d) => `${d.rule} ${d.messageId} ${d.at.source.file} ${d.at.start}`).sort();
  };
  for (const rule of rules) {
    it(`without ${rule.id} a set of expected findings changes`, async () => {
      const changes: boolean[] = [];
      for (const c of fixtures.get(rule.id)?.killed ?? []) {
        const base = fixtureBase(c.base ?? "redis-lab");
        if (base === undefined) continue;
        const files = applyFileEdits(base, editsOf(c.edit));
        const [before, after] = [await lint(files, undefined, c.today), await lint(files, rule.id, c.today)];
        changes.push(JSON.stringify(before) !== JSON.stringify(after));
        if (changes.at(-1) === true) break;
      }
      expect(changes.includes(true) || Object.keys(rule.on).length === 0).toBe(true);
    });
  }
});

describe("reports", () => {
  const coverage = coverageOf(
    fast.results,
    rules.map((r) => r.id),
  );
  const report = sweepReport(fast, {
    contracts: options.contracts,
    rules,
    coverage,
    version: "0.1.0",
    homepage: "https://example.com/quorumlint",
    minimum: undefined,
    allKillers: false,
  });

  it("locates every mutant in its file", () => {
    for (const [file, { source, mutants }] of Object.entries(report.files)) {
      const lines = source.split("\n");
      for (const m of mutants) {
        const { start, end } = m.location;
        expect(start.line, file).toBeLessThanOrEqual(lines.length);
        expect(end.line > start.line || end.column >= start.column, `${file} ${m.description}`).toBe(true);
        expect(start.column).toBeLessThanOrEqual(lines[start.line - 1]!.length + 1);
      }
    }
    const known = new Set(report.testFiles["rules"]!.tests.map((t) => t.id));
    for (const { mutants } of Object.values(report.files))
      for (const m of mutants)
        for (const id of [...(m.killedBy ?? []), ...(m.coveredBy ?? [])]) expect(known.has(id)).toBe(true);
  });

  it("follows the public schema of mutation testing reports", () => {
    const path = "mutation-testing-report-schema/mutation-testing-report-schema.json";
    let file: string | undefined;
    try {
      file = createRequire(import.meta.url).resolve(path);
    } catch {}
    if (file === undefined || !existsSync(file))
      throw new Error("npm package mutation-testing-report-schema is missing");
    const ajv = new Ajv({ allErrors: true, strict: false, formats: { uri: true } });
    const validate = ajv.compile(JSON.parse(readFileSync(file, "utf8")) as object);
    validate(JSON.parse(JSON.stringify(report)));
    expect(validate.errors ?? []).toEqual([]);
  });

  it("is one page that needs nothing else", () => {
    const page = htmlReport(report, 'const a = "</script>";', 'x "<&');
    expect(page.match(/<\/script>/g)).toHaveLength(2);
    expect(page).not.toMatch(/\ssrc=|href=/);
    const json = /\.report = (.*);<\/script>/.exec(page)![1]!;
    expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(report)));
  });

  it("counts by file, by rule and by field", () => {
    const sum = (pick: (f: (typeof coverage.files)[number]) => number): number =>
      coverage.files.reduce((n, f) => n + pick(f), 0);
    expect(sum((f) => f.counts.Killed)).toBe(coverage.counts.Killed);
    expect(coverage.gaps.reduce((n, g) => n + g.survivors.length, 0)).toBe(
      coverage.counts.Survived + coverage.counts.NoCoverage,
    );
    for (const r of coverage.rules) expect(r.alone).toBeLessThanOrEqual(r.kills);
  });
});

describe("contracts of users", () => {
  const POD = (name: string): string =>
    `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name} }\nspec:\n  containers:\n    - name: redis\n      image: redis:7.2\n      command: [redis-server, /etc/redis.conf]\n`;

  const compare = async (files: Record<string, string>): Promise<number> => {
    const own = await sweepOptions(tree(files));
    const [quick, slow] = [await sweep({ ...own, allKillers: true }), await sweep({ ...own, fromText: true })];
    expect(quick.results.map(verdict)).toEqual(slow.results.map(verdict));
    return quick.results.length;
  };

  it("inferred: grouping and messages that are said once", async () => {
    expect(
      await compare({
        "a/redis.yaml": `${POD("a")}---\n${POD("b")}`,
        "a/redis.conf": "port 6379\nappendonly yes\nmaxmemory 100mb\n",
        "a/users.acl": "user default off\nuser app on >x ~app:* -@all +get\n",
      }),
    ).toBeGreaterThan(60);
  });

  it("with suppressions", async () => {
    expect(
      await compare({
        "redis.yaml": `${POD("a").replace("image: redis:7.2", "image: redis:7.2 # quorumlint: ignore[image/pinned] a sandbox")}`,
        "redis.conf": "# quorumlint: ignore[redis/hardening] a sandbox\nprotected-mode no\nport 6379\n",
      }),
    ).toBeGreaterThan(20);
  });

  it("with anchors, aliases and merge keys", async () => {
    expect(
      await compare({
        "redis.yaml": `${POD("a")}      resources: &r\n        limits: { memory: 64Mi }\n    - name: side\n      image: redis:7.2\n      resources:\n        <<: *r\n        requests: { cpu: 10m }\n`,
      }),
    ).toBeGreaterThan(30);
  });

  it("what no longer parses is invalid, not killed", async () => {
    const own = await sweepOptions(
      tree({
        "redis.yaml": `${POD("a")}      resources: &r\n        limits: { memory: 64Mi }\n    - name: b\n      resources: *r\n`,
      }),
    );
    const { results } = await sweep(own);
    expect(results.some((r) => r.status === "CompileError" && r.killedBy.length === 0)).toBe(true);
  });

  it("stops early when asked, and says what is left", async () => {
    const own = await sweepOptions(
      tree({ "redis.conf": "port 6379\nappendonly yes\nmaxmemory 100mb\ntimeout 5\ndatabases 4\nhz 10\n" }),
    );
    const result = await sweep({ ...own, tick: async (done) => done < 16 });
    expect(result.stopped).toBe(true);
    expect(result.results.at(-1)!.status).toBe("Pending");
  });
});
