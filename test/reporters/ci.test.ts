/** What is special about the formats of CI systems. */
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { github } from "../../src/reporter/github.js";
import { gitlab } from "../../src/reporter/gitlab.js";
import { junit } from "../../src/reporter/junit.js";
import { escapeMarkdown, markdown } from "../../src/reporter/markdown.js";
import { Source } from "../../src/text/source.js";
import { codeQualitySchema } from "./gitlab-schema.js";
import { clean, context, diagnostic, hard, result, resultOf } from "./sample.js";
import { elements, parseXml } from "./xml.js";

const source = new Source("conf/a,b:c%.conf", "port 6379\nbind *\nx 1\n");

describe("GitHub annotations", () => {
  it("escape what would end a property or a command", () => {
    const d = diagnostic(source, 0, 4, "redis/port", "50% off:\n::error::no", { help: "close, it" });
    expect(github(resultOf([d]), context).split("\n")[0]).toBe(
      "::error file=conf/a%2Cb%3Ac%25.conf,line=1,endLine=1,col=1,endColumn=5,title=redis/port::" +
        "50%25 off:␊::error::no%0Afix: close, it%0Ahttps://quorumlint.example/rules/redis/port.md",
    );
  });

  it("have three levels, and no columns over several lines", () => {
    const found = (["error", "warning", "info"] as const).map((severity, i) =>
      diagnostic(source, i, 14, "redis/port", severity, { severity }),
    );
    expect(github(resultOf(found), context).match(/^::\w+ [^:]*/gm)).toEqual([
      "::error file=conf/a%2Cb%3Ac%25.conf,line=1,endLine=2,title=redis/port",
      "::warning file=conf/a%2Cb%3Ac%25.conf,line=1,endLine=2,title=redis/port",
      "::notice file=conf/a%2Cb%3Ac%25.conf,line=1,endLine=2,title=redis/port",
    ]);
  });

  it("are one line each, with related places and crashes", () => {
    const output = github(result, context);
    expect(output.split("\n").filter((l) => l.startsWith("::"))).toHaveLength(hard.length + 1);
    expect(output).toContain("%0Aconfig/redis-users.acl.tmpl:1:27: this grants every command%0A");
    expect(output).toContain("::error title=k8s/resources::rule k8s/resources crashed on k3s/long.json: TypeError");
    expect(github(clean, context)).toBe("no findings · 31 documents of 1 contract checked\n");
  });
});

describe("GitLab code quality", () => {
  it("keeps to the documented shape", () => {
    const validate = new Ajv({ allErrors: true, strict: false }).compile(codeQualitySchema);
    for (const log of [gitlab(result, context), gitlab(clean, context)]) {
      validate(JSON.parse(log));
      expect(validate.errors).toBeNull();
    }
    const [issue] = JSON.parse(gitlab(result, context));
    expect(validate([{ ...issue, severity: "error" }])).toBe(false);
    expect(validate([{ ...issue, location: { ...issue.location, path: `./${issue.location.path}` } }])).toBe(false);
    expect(validate([{ ...issue, fingerprint: undefined }])).toBe(false);
  });

  it("has what GitLab asks for, and a fingerprint of its own for each finding", () => {
    const issues = JSON.parse(gitlab(result, context));
    expect(issues).toHaveLength(hard.length);
    for (const issue of issues) {
      expect(issue).toMatchObject({ type: "issue", description: expect.any(String), check_name: expect.any(String) });
      expect(["info", "minor", "major", "critical", "blocker"]).toContain(issue.severity);
      expect(issue.fingerprint).toMatch(/^[0-9a-f]{32}$/);
      expect(issue.location.positions.begin.line).toBeGreaterThan(0);
    }
    expect(new Set(issues.map((i: { fingerprint: string }) => i.fingerprint)).size).toBe(hard.length);
    expect(gitlab(clean, context)).toBe("[]\n");
  });

  it("gives paths from the repository's root without ./", () => {
    const d = diagnostic(source, 0, 4, "redis/port", "m", { related: [{ at: source.span(5, 9), message: "r" }] });
    const [issue] = JSON.parse(gitlab(resultOf([d]), { ...context, pathOf: () => "./infra/x.conf" }));
    expect(issue.location.path).toBe("infra/x.conf");
    expect(issue.other_locations).toEqual([
      { path: "infra/x.conf", positions: { begin: { line: 1, column: 6 }, end: { line: 1, column: 10 } } },
    ]);
  });
});

describe("JUnit", () => {
  const root = parseXml(junit(result, context));
  const number = (e: { attributes: Record<string, string> }, name: string): number => Number(e.attributes[name]);

  it("counts what it holds", () => {
    const suites = elements(root, "testsuite");
    for (const suite of suites) {
      expect(number(suite, "tests")).toBe(elements(suite, "testcase").length);
      expect(number(suite, "failures")).toBe(elements(suite, "failure").length);
      expect(number(suite, "errors")).toBe(elements(suite, "error").length);
      expect(number(suite, "skipped")).toBe(elements(suite, "skipped").length);
    }
    for (const name of ["tests", "failures", "errors"]) {
      expect(number(root, name)).toBe(suites.reduce((n, s) => n + number(s, name), 0));
    }
    expect(number(root, "failures")).toBe(6);
    expect(number(root, "errors")).toBe(1);
  });

  it("passes clean files, skips suppressed findings with their reason, lets infos pass", () => {
    const suite = elements(root, "testsuite").find((s) => s.attributes["name"] === "clean.yaml")!;
    expect(elements(suite, "testcase").map((c) => [c.attributes["name"], c.children.length])).toEqual([
      ["no findings", 0],
    ]);
    expect(elements(root, "skipped").map((s) => s.attributes["message"])).toEqual([
      "known",
      "until the new nodes are there",
      "no shell <in> the image",
    ]);
    expect(elements(root, "system-out")).toHaveLength(1);
    expect(elements(root, "testsuite").some((s) => s.attributes["name"] === "logo.png")).toBe(false);
  });
});

describe("Markdown", () => {
  it("means its texts literally", () => {
    expect(escapeMarkdown("a|b `c` *d* _e_ <f> &amp; [g](h) ![i] ~j~ \\ $k$")).toBe(
      "a\\|b \\`c\\` \\*d\\* \\_e\\_ &lt;f&gt; &amp;amp; \\[g\\]\\(h\\) !\\[i\\] \\~j\\~ \\\\ \\$k\\$",
    );
    expect(escapeMarkdown(":tada: 12:30")).toBe("\\:tada: 12:30");
    expect(escapeMarkdown("@user #1 www.x.y")).toBe("@<!-- -->user #<!-- -->1 www<!-- -->.x.y");
    expect(escapeMarkdown("a\nb\u0000")).toBe("a␊b␀");
  });

  it("keeps every finding in its row", () => {
    for (const line of markdown(result, context)
      .split("\n")
      .filter((l) => l.startsWith("| "))) {
      expect([line, line.match(/(?<!\\)\|/g)?.length]).toEqual([line, 5]);
    }
  });

  it("folds long reports and says what does not fit into a comment", () => {
    const many = Array.from({ length: 2000 }, (_, i) => diagnostic(source, 0, 4, "redis/port", `finding ${i}`));
    const output = markdown(resultOf(many), context);
    expect(output.length).toBeLessThan(65_536);
    expect(output).not.toContain("<details open>");
    const rows = output.split("\n").filter((l) => l.startsWith("| 🔴")).length;
    expect(rows).toBeGreaterThan(100);
    expect(output).toContain(`**${2000 - rows} more findings** do not fit here`);
    expect(output.match(/<details/g)).toHaveLength(output.match(/<\/details>/g)!.length);
  });

  it("says that all is well", () => {
    expect(markdown(clean, context)).toBe("## ✅ quorumlint: no findings\n\n31 documents of 1 contract checked\n");
  });
});
