/** The same findings at the same places come out of every format. */
import { describe, expect, it } from "vitest";
import { rules } from "../../rules/index.js";
import type { Tree } from "../../src/mutation/prove.js";
import { FORMATS, type Format, isFormat, render } from "../../src/reporter/index.js";
import type { JsonResult } from "../../src/reporter/json.js";
import type { toSarif } from "../../src/reporter/sarif.js";
import { ordered, rangeOf, visible } from "../../src/reporter/shared.js";
import type { Position } from "../../src/text/source.js";
import { checkTree, fixtureBase } from "../support.js";
import { clean, context, hard, result } from "./sample.js";
import { elements, parseXml } from "./xml.js";

interface Found {
  readonly rule: string;
  readonly severity: string;
  readonly message: string;
  readonly file: string;
  /** `line:column-line:column`; a format that has no end leaves it out. */
  readonly place: string;
}

interface Issue {
  readonly check_name: string;
  readonly severity: "critical" | "minor" | "info";
  readonly description: string;
  readonly location: {
    readonly path: string;
    readonly positions: { readonly begin: Position; readonly end: Position };
  };
}

interface Expectation {
  /** How the format writes texts. */
  readonly text: (text: string) => string;
  readonly place: (d: (typeof hard)[number]) => string;
  readonly parse: (output: string) => Found[];
}

const one = (text: string): string => visible(text.trim().replace(/\s+/g, " "));
const lone = (text: string): string => text.replace(/\p{Surrogate}/gu, "\ufffd");
const full = (d: (typeof hard)[number]): string => {
  const { start, end } = rangeOf(d.at);
  return `${start.line}:${start.column}-${end.line}:${end.column}`;
};
const startOf = (d: (typeof hard)[number]): string => full(d).split("-")[0]!;

const unescapeMarkdown = (text: string): string =>
  text
    .replaceAll("<!-- -->", "")
    .replace(/\\([!-/:-@[-`{-~])/g, "$1")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

const formats: Record<Format, Expectation> = {
  json: {
    text: (t) => t,
    place: full,
    parse: (output) =>
      (JSON.parse(output) as JsonResult).diagnostics.map(({ rule, severity, message, file, range }) => ({
        rule,
        severity,
        message,
        file,
        place: `${range.start.line}:${range.start.column}-${range.end.line}:${range.end.column}`,
      })),
  },
  sarif: {
    text: lone,
    place: full,
    parse: (output) => {
      const { artifacts, results, tool } = (JSON.parse(output) as ReturnType<typeof toSarif>).runs[0]!;
      return results
        .filter((r) => (r.suppressions?.length ?? 0) === 0)
        .map((r) => {
          const { artifactLocation, region } = r.locations[0]!.physicalLocation;
          expect(artifacts[artifactLocation.index]!.location.uri).toBe(artifactLocation.uri);
          expect(tool.driver.rules[r.ruleIndex]!.id).toBe(r.ruleId);
          return {
            rule: r.ruleId,
            severity: { error: "error", warning: "warning", note: "info" }[r.level]!,
            message: r.message.text.replaceAll("\\[", "["),
            file: decodeURIComponent(artifactLocation.uri).replace(/^\.\//, ""),
            place: `${region.startLine}:${region.startColumn}-${region.endLine}:${region.endColumn}`,
          };
        });
    },
  },
  github: {
    text: visible,
    // columns of a range over several lines are refused by GitHub
    place: (d) => {
      const { start, end } = rangeOf(d.at);
      return start.line === end.line ? full(d) : `${start.line}-${end.line}`;
    },
    parse: (output) => {
      const text = (s: string): string =>
        s.replace(/%(0A|0D|3A|2C|25)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
      return output
        .split("\n")
        .map((line) => /^::(error|warning|notice) (.*?)::(.*)$/.exec(line))
        .filter((m) => m !== null && m[2]!.startsWith("file="))
        .map((m) => {
          const p = Object.fromEntries(m![2]!.split(",").map((pair) => pair.split("=").map(text) as [string, string]));
          return {
            rule: p["title"]!,
            severity: m![1] === "notice" ? "info" : m![1]!,
            message: text(m![3]!).split("\n")[0]!,
            file: p["file"]!,
            place:
              "col" in p
                ? `${p["line"]}:${p["col"]}-${p["endLine"]}:${p["endColumn"]}`
                : `${p["line"]}-${p["endLine"]}`,
          };
        });
    },
  },
  gitlab: {
    text: (t) => t,
    place: full,
    parse: (output) =>
      (JSON.parse(output) as Issue[]).map(({ check_name, severity, description, location }) => {
        const { begin, end } = location.positions;
        return {
          rule: check_name,
          severity: { critical: "error", minor: "warning", info: "info" }[severity],
          message: description,
          file: location.path,
          place: `${begin.line}:${begin.column}-${end.line}:${end.column}`,
        };
      }),
  },
  junit: {
    text: visible,
    place: full,
    parse: (output) => {
      const found: Found[] = [];
      for (const test of elements(parseXml(output), "testcase")) {
        const outcome = test.children.find((c) => typeof c !== "string" && ["failure", "system-out"].includes(c.name));
        if (outcome === undefined || typeof outcome === "string") continue;
        const text = outcome.children.join("").split("\n")[0]!;
        const m = /^(.*?):(\d+:\d+-\d+:\d+): (error|warning|info): (.*)$/.exec(text)!;
        found.push({
          rule: test.attributes["name"]!.split(" at ")[0]!,
          severity: m[3]!,
          message: m[4]!,
          file: test.attributes["classname"]!,
          place: m[2]!,
        });
      }
      return found;
    },
  },
  markdown: {
    text: one,
    place: full,
    parse: (output) => {
      const found: Found[] = [];
      let file = "";
      for (const line of output.split("\n")) {
        const summary = /<summary><code>(.*)<\/code> — /.exec(line);
        if (summary !== null) file = unescapeMarkdown(summary[1]!);
        const cells = line.split(/(?<!\\)\|/).map((c) => c.trim());
        if (!line.startsWith("| ") || cells[1] === "") continue;
        found.push({
          rule: unescapeMarkdown(/^\[(.*)\]\(/.exec(cells[4]!)![1]!),
          severity: cells[1]!.split(" ")[1]!,
          message: unescapeMarkdown(cells[3]!.split("<br>")[0]!),
          file,
          place: unescapeMarkdown(cells[2]!.replace(/<\/?code>/g, "")).replace("–", "-"),
        });
      }
      return found;
    },
  },
  pretty: {
    text: one,
    place: startOf,
    parse: (output) => {
      const found: Found[] = [];
      const lines = output.split("\n");
      lines.forEach((line, i) => {
        const head = /^ {2}(error|warning|info) +(.*) {2}([a-z0-9-]+\/[a-z0-9-]+)$/.exec(line);
        if (head === null) return;
        const at = /^ +╭─ (.*):(\d+:\d+)$/.exec(lines[i + 1]!)!;
        found.push({ rule: head[3]!, severity: head[1]!, message: head[2]!, file: at[1]!, place: at[2]! });
      });
      return found;
    },
  },
};

describe.each(FORMATS)("%s", (format) => {
  const { text, place, parse } = formats[format];

  it("gives every finding at its place, in order, whatever is in its texts", async () => {
    const output = await render(format, result, context);
    expect(parse(output)).toEqual(
      ordered(hard).map((d) => ({
        rule: d.rule,
        severity: d.severity,
        message: text(d.message),
        file:
          format === "sarif" || format === "json" || format === "gitlab" ? d.at.source.file : visible(d.at.source.file),
        place: place(d),
      })),
    );
  });

  it("gives the same bytes for the same findings in another order", async () => {
    const other = { ...result, diagnostics: [...hard].reverse(), inputs: [...result.inputs].reverse() };
    expect(await render(format, other, context)).toBe(await render(format, result, context));
  });

  it("ends with one line break and holds no control character but line breaks", async () => {
    for (const r of [result, clean]) {
      const output = await render(format, r, context);
      expect(output).toMatch(/[^\n]\n$/);
      expect(output).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|\p{Surrogate}/u);
    }
  });

  it("has nothing to say of a clean result but that it is clean", async () => {
    expect(parse(await render(format, clean, context))).toEqual([]);
  });

  it("prints ten thousand findings in time", async () => {
    const many = {
      ...result,
      diagnostics: Array.from({ length: 2000 }, () => hard)
        .flat()
        .slice(0, 10_000),
    };
    const from = performance.now();
    await render(format, many, context);
    expect(performance.now() - from).toBeLessThan(30_000);
  });
});

describe("one broken contract", () => {
  const broken = (): Tree => {
    const tree = new Map(fixtureBase("redis-lab")!);
    const edit = (file: string, from: string, to: string): void => {
      const text = new TextDecoder().decode(tree.get(file));
      if (!text.includes(from)) throw new Error(`${file} has no "${from}"`);
      tree.set(file, new TextEncoder().encode(text.replace(from, () => to)));
    };
    edit("infra/redis-lab/config/redis-users.acl.tmpl", "+config|rewrite ", "");
    edit("infra/redis-lab/config/redis.conf.tmpl", "masterauth ${REPLICA_PASSWORD}", "masterauth s3cr3t-of-us");
    edit("infra/redis-lab/k3s/redis-data.yaml", "podManagementPolicy: ", "# podManagementPolicy: ");
    edit("infra/redis-lab/k3s/network-policies.yaml", "port: 6379", "port: 6380");
    return tree;
  };

  it("gives the same findings at the same places in every format", async () => {
    const { result: real } = await checkTree(broken());
    expect(new Set(real.diagnostics.map((d) => d.at.source.file)).size).toBeGreaterThanOrEqual(4);
    expect(real.diagnostics.some((d) => d.related.length > 0)).toBe(true);
    const plain = { ...context, rules: new Map(rules.map((r) => [r.id, r])) };
    const wanted = ordered(real.diagnostics);
    for (const format of FORMATS) {
      const { text, place, parse } = formats[format];
      expect(parse(await render(format, real, plain)), format).toEqual(
        wanted.map((d) => ({
          rule: d.rule,
          severity: d.severity,
          message: text(d.message),
          file: d.at.source.file,
          place: place(d),
        })),
      );
    }
  });
});

describe("formats", () => {
  it("are known by name", () => {
    expect(FORMATS.every(isFormat)).toBe(true);
    expect(isFormat("toString")).toBe(false);
  });
});
