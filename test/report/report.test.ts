/** `quorumlint report` as a process: what is on the page, what never is, and how it fails. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { markedParts } from "../../src/reporter/frame.js";
import { MutantsError, mutantSection, readMutants } from "../../src/reporter/report/mutants.js";
import { edit, goldenCopy, quorumlint, removeTemporary, temporary } from "../cli/run.js";
import { TODAY } from "../support.js";
import { broken, hostileLab, IMG, PROOF, report, SWEEP } from "./sample.js";

let page = "";
beforeAll(() => {
  page = readFileSync(report(broken(), "--prove", PROOF()), "utf8");
});
afterAll(removeTemporary);

describe("the page", () => {
  it("holds every part", () => {
    for (const id of ["summary", "findings", "access", "network", "coverage", "mutants"]) {
      expect(page).toContain(`<section id="${id}" aria-labelledby="${id}-title">`);
      expect(page).toContain(`href="#${id}"`);
    }
    expect(page).toContain("6 errors in 3 files");
  });

  it("has the findings of check, in its order, at its places", () => {
    const run = quorumlint(["check", broken(), "--format", "json", "--today", TODAY]);
    const { diagnostics } = JSON.parse(run.stdout) as {
      diagnostics: { rule: string; file: string; range: { start: { line: number; column: number } } }[];
    };
    const shown = [
      ...page.matchAll(
        /<article class="finding \w+" id="f\d+"[\s\S]*?<code>([^<]*)<\/code>[\s\S]*?<a class="rule"[^>]*>([^<]*)</g,
      ),
    ];
    expect(shown.map((m) => `${m[2]} ${m[1]}`)).toEqual(
      diagnostics.map((d) => `${d.rule} ${d.file}:${d.range.start.line}:${d.range.start.column}`),
    );
    expect(diagnostics.length).toBe(6);
  });

  it("shows what users may do after all rules", () => {
    const row = /<tr><th scope="row" class="stick"><code>sentinel-control<\/code>[\s\S]*?<\/tr>/.exec(page)![0];
    expect(row).toContain("&amp;__sentinel__:hello");
    // eleven of the documented twelve are left
    expect(row).toMatch(/title="sentinel-control: all commands: 11 of \d+"/);
    expect(row).toMatch(/title="sentinel-control @read: 0 of \d+"/);
    expect(page).toMatch(/<b>probe<\/b>: <code>ping<\/code>/);
  });

  it("draws the network, and says it in a table", () => {
    expect(page).toContain('<svg class="qg"');
    expect(page).toMatch(
      /<code>redis-lab\/redis-sentinel\[StatefulSet\]<\/code><\/th><td><code>redis-lab\/redis-data\[StatefulSet\]<\/code><\/td><td>TCP 6379</,
    );
  });

  it("says which rules looked at what", () => {
    expect(page).toMatch(
      /redis-data\.yaml<\/code><\/th><td>kubernetes<\/td><td>redis-lab<\/td><td><span title="[^"]*k8s\/security-context/,
    );
    expect(page).toMatch(/<code>k8s\/resources<\/code><\/th><td>error<\/td><td>(?:Workload|Container) \d/);
  });

  it("allows its own style and script and nothing else", () => {
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)![1]!.replaceAll("&#39;", "'");
    expect(policy).toMatch(
      /^default-src 'none'; style-src ('sha256-[^']+' ?)+; script-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'$/,
    );
    const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    for (const name of ["style", "script"]) {
      const texts = [...page.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, "g"))].map((m) => m[1]!);
      expect(texts.length).toBeGreaterThan(0);
      for (const text of texts) expect(policy).toContain(hash(text));
    }
    const tags = page.replace(/<(style|script)>[\s\S]*?<\/\1>/g, "").match(/<[a-z](?:"[^"]*"|[^">])*>/g)!;
    expect(tags.length).toBeGreaterThan(1000);
    for (const tag of tags) {
      expect(tag).toMatch(/^<(?!img|link|iframe|object|embed|base)/);
      expect(tag.replace(/"[^"]*"/g, '""')).not.toMatch(/\s(?:style|src|on\w+)=/);
    }
    expect(page).not.toMatch(/@import|url\((?!#)/);
  });

  it("names no address that a browser would ask by itself", () => {
    expect([...page.matchAll(/\b(?:src|srcset|data|poster|action)="/g)]).toEqual([]);
  });

  it("shows no secret", () => {
    expect(page).not.toMatch(/hunter2|s3cr3t-of-us/);
    expect(page).toContain("&gt;••••••");
  });

  it("is the same for the same files", () => {
    expect(readFileSync(report(broken(), "--prove", PROOF()), "utf8")).toBe(page);
  });
});

describe("hostile names", () => {
  it("stay text", () => {
    const text = readFileSync(report(hostileLab(), "--prove", PROOF(), "--title", `</title>${IMG}`), "utf8");
    expect(text).not.toContain("<img");
    expect(text.match(/<script/g)).toHaveLength(1);
    expect(text.match(/<title>/g)!.length).toBeGreaterThan(0);
    expect(text).toContain("&lt;img src=x onerror=");
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
  });
});

describe("the command", () => {
  it("prints the page where no file is named", () => {
    const run = quorumlint(["report", broken(), "--today", TODAY]);
    expect(run.code).toBe(0);
    expect(run.stdout).toMatch(/^<!doctype html>\n/);
    expect(run.stdout).not.toContain('id="mutants"');
  });

  it("makes the folder of its file", () => {
    const out = join(temporary(), "a/b/report.html");
    expect(quorumlint(["report", goldenCopy(), "-o", out, "--today", TODAY])).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
    expect(readFileSync(out, "utf8")).toContain("No findings.");
  });

  it("works on a directory without anything to check", () => {
    const folder = join(temporary(), "empty");
    mkdirSync(folder);
    expect(quorumlint(["report", folder]).code).toBe(0);
  });

  it("works without a contract file", () => {
    const folder = temporary();
    writeFileSync(join(folder, "users.acl"), "user default on nopass ~* &* +@all\nuser bad on >x (+get ~a\n");
    writeFileSync(join(folder, "redis.conf"), "port 6379\naclfile users.acl\n");
    const run = quorumlint(["report", folder]);
    expect(run.code).toBe(0);
    expect(run.stdout).toMatch(/<b>every key<\/b>/);
    expect(run.stdout).toContain("The server refuses this ACL");
  });

  it.each([
    ["no JSON", "{", /is no JSON/],
    ["another JSON", '{"version":1}', /neither the result of prove/],
  ])("refuses a proof that is %s", (_, text, message) => {
    const file = join(temporary(), "prove.json");
    writeFileSync(file, text);
    const run = quorumlint(["report", broken(), "--prove", file]);
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(message);
    expect(run.stdout).toBe("");
  });

  it("refuses a proof and a path that are not there", () => {
    expect(quorumlint(["report", broken(), "--prove", "/nowhere.json"]).code).toBe(2);
    expect(quorumlint(["report", "/nowhere"]).code).toBe(2);
  });

  it("says what is wrong with a contract file", () => {
    const folder = goldenCopy();
    edit(folder, "quorumlint.yaml", "version: 1", "version: 2");
    const run = quorumlint(["report", folder]);
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/quorumlint\.yaml:\d+:\d+/);
  });
});

describe("mutants", () => {
  it("are a matrix of rules and mutants", () => {
    const html = mutantSection(readMutants(readFileSync(PROOF(), "utf8")));
    expect(html).toContain("<b>1</b> survived");
    // a rule that reports its mutant, one that reports it too, and one that lets it pass
    for (const cell of ["●", "○", "✗"]) expect(html).toContain(`${cell}</td>`);
    expect(html).toMatch(/<details open><summary><b>k8s<\/b>/);
    expect(html).toContain("1 boundary case");
  });

  it("of a sweep are counted by rule and mutator, and those that nobody reports are listed", () => {
    const html = mutantSection(readMutants(SWEEP));
    expect(html).toContain('<code>k8s/resources</code></th><td></td><td class="some">2</td>');
    expect(html).toContain("1 mutant that nobody reports");
    expect(html).toContain("a.yaml:3:5");
  });

  it("of any other shape are refused", () => {
    for (const text of ["", "[]", "null", "1", '{"files":[]}']) expect(() => readMutants(text)).toThrow(MutantsError);
    expect(mutantSection(readMutants('{"mutants":[1,{"rule":2,"killedBy":3}]}'))).toContain("2 cases");
  });
});

describe("marks of a frame", () => {
  it("take their text out of the line, whatever its width", () => {
    const line = (text: string, from: number, to: number) => markedParts({ number: 1, text, mark: { from, to } });
    expect(line("abcd", 1, 3)).toEqual(["a", "bc", "d"]);
    expect(line("漢字 x", 2, 4)).toEqual(["漢", "字", " x"]);
    expect(line("abcd", 2, 2)).toEqual(["ab", "c", "d"]);
    expect(line("ab", 2, 2)).toEqual(["ab", " ", ""]);
    expect(markedParts({ number: 1, text: "ab", mark: undefined })).toEqual(["ab", "", ""]);
  });
});
