import { Chalk } from "chalk";
import { describe, expect, it } from "vitest";
import { displayWidth, frameOf } from "../../src/reporter/frame.js";
import { pretty } from "../../src/reporter/pretty.js";
import { firstSentence, paletteOf, visible } from "../../src/reporter/shared.js";
import { Source } from "../../src/text/source.js";
import { at, clean, context, diagnostic, result, resultOf, ruleOf } from "./sample.js";

/** A frame as a person sees it. */
function show(text: string, needle: string | [number, number], width = 60, lines = 0): string[] {
  const source = new Source("f", text);
  const [start, end] = typeof needle === "string" ? at(source, needle) : needle;
  return frameOf(source.span(start, end), { context: lines, width }).flatMap((l) => {
    const row = [`${l.number ?? ""}|${l.text}`];
    if (l.mark !== undefined) {
      row.push(
        `${" ".repeat(String(l.number).length)}|${" ".repeat(l.mark.from)}${"^".repeat(Math.max(1, l.mark.to - l.mark.from))}`,
      );
    }
    return row;
  });
}

describe("code frames", () => {
  it("mark the exact span, with the lines around it", () => {
    expect(show("a: 1\nb: 22\nc: 3\n", "22", 60, 1)).toEqual(["1|a: 1", "2|b: 22", " |   ^^", "3|c: 3"]);
  });

  it("mark an empty span with one sign, at the end of a line too", () => {
    expect(show("abc\n", [1, 1])).toEqual(["1|abc", " | ^"]);
    expect(show("abc\n", [3, 3])).toEqual(["1|abc", " |   ^"]);
    expect(show("abc", [3, 3])).toEqual(["1|abc", " |   ^"]);
  });

  it("know every kind of line end", () => {
    expect(show("a\r\nbb\rcc\ndd", "bb", 60, 1)).toEqual(["1|a", "2|bb", " |^^", "3|cc"]);
    expect(show("a\r\nbb\r\n", [3, 7])).toEqual(["2|bb", " |^^"]);
  });

  it("align tabs and wide characters", () => {
    expect(show("\tx: y", "y")).toEqual(["1|    x: y", " |       ^"]);
    expect(show("ab\tc", "c")).toEqual(["1|ab  c", " |    ^"]);
    expect(show("漢字: y", "y")).toEqual(["1|漢字: y", " |      ^"]);
    expect(show("k: 漢字", "漢字")).toEqual(["1|k: 漢字", " |   ^^^^"]);
    expect(show("é: 👩‍👩‍👧 🇰🇷 y", "y")).toEqual(["1|é: 👩‍👩‍👧 🇰🇷 y", " |         ^"]);
    expect(show("e\u0301: y", "y")).toEqual(["1|e\u0301: y", " |   ^"]);
  });

  it("neutralise what a terminal would obey", () => {
    expect(show("a\u001b[2Jb\u0007 \u202ec \u009b1m \ud800 y", "y")).toEqual([
      "1|a␛[2Jb␇ �c �1m � y",
      " |                 ^",
    ]);
  });

  it("shorten spans of many lines", () => {
    const text = "a:\n  b:\n    c: 1\n\n    d: 2\n  e: 3\nf: 4\n";
    for (const end of [7, 8, 9, 12]) expect(show(text, [3, end])).toEqual(["2|  b:", " |^^^^"]);
    expect(show(text, [0, text.indexOf("f")])).toEqual([
      "1|a:",
      " |^^",
      "2|  b:",
      " |  ^^",
      "|… 3 more lines",
      "6|  e: 3",
      " |  ^^^^",
    ]);
    expect(show(text, [0, text.indexOf("    c")])).toEqual(["1|a:", " |^^", "2|  b:", " |  ^^"]);
  });

  it("cut long lines around the span", () => {
    const cut = show(`${"x".repeat(500)} here ${"y".repeat(500)}`, "here", 30);
    expect(cut[0]).toMatch(/^1\|…x+ here y+…$/);
    expect(displayWidth(cut[0]!.slice(2))).toBe(30);
    expect(cut[1]!.indexOf("^")).toBe(cut[0]!.indexOf("here"));
    expect(show(`here ${"y".repeat(500)}`, "here", 30)[0]).toMatch(/^1\|here y+…$/);
    expect(show(`${"x".repeat(500)} here`, "here", 30)[0]).toMatch(/^1\|…x+ here$/);
    const whole = show("z".repeat(500), [0, 500], 30);
    expect(whole).toEqual([`1|${"z".repeat(28)}…`, ` |${"^".repeat(28)}`]);
    const wide = show(`${"漢".repeat(300)}here${"字".repeat(300)}`, "here", 31);
    expect(displayWidth(wide[0]!.slice(2))).toBeLessThanOrEqual(31);
    expect(displayWidth(wide[0]!.slice(0, wide[0]!.indexOf("here")))).toBe(wide[1]!.indexOf("^"));
  });

  it("look at no more of an endless line than they show", () => {
    const source = new Source("f", `${"é".repeat(20_000_000)}x${"é".repeat(20_000_000)}`);
    const from = performance.now();
    frameOf(source.span(20_000_000, 20_000_001), { context: 1, width: 100 });
    frameOf(source.span(0, source.text.length), { context: 1, width: 100 });
    expect(performance.now() - from).toBeLessThan(5000);
  });

  it("are not there where there is no text", () => {
    expect(show("", [0, 0])).toEqual([]);
    expect(show("a\0b", [0, 0])).toEqual([]);
  });
});

describe("pretty", () => {
  const source = new Source("conf/redis.conf", "port 6379\nbind *\n");
  const finding = diagnostic(source, 5, 9, "redis/port", "the plain port is open");

  it("reads as it should", () => {
    const other = new Source("acl/users.acl", "user default on\n");
    const found = [
      { ...finding, help: "write `port 0`", related: [{ at: other.span(13, 15), message: "a user without TLS" }] },
      diagnostic(source, 10, 14, "k8s/resources", "bound everywhere", { severity: "warning" }),
    ];
    expect(pretty(resultOf(found), context)).toBe(
      [
        "conf/redis.conf  1 error, 1 warning",
        "",
        "  error    the plain port is open  redis/port",
        "       ╭─ conf/redis.conf:1:6",
        "     1 │ port 6379",
        "       │      ^^^^",
        "     2 │ bind *",
        "       ├─ acl/users.acl:1:14  a user without TLS",
        "     1 │ user default on",
        "       │              --",
        "       ╰─",
        "      why: Without it a failover stops, e.g. when a node is lost.",
        "      fix: write `port 0`",
        "",
        "  warning  bound everywhere  k8s/resources",
        "       ╭─ conf/redis.conf:2:1",
        "     1 │ port 6379",
        "     2 │ bind *",
        "       │ ^^^^",
        "       ╰─",
        "      why: Without it a failover stops, e.g. when a node is lost.",
        "      fix: Write what is right.",
        "",
        "✖ 1 error, 1 warning in 1 file · 31 documents of 1 contract checked",
        "",
      ].join("\n"),
    );
  });

  it("ends with one line for what was found, hidden and checked", () => {
    expect(pretty(clean, context)).toBe("✔ no findings · 31 documents of 1 contract checked\n");
    expect(pretty(result, context).trimEnd().split("\n").at(-1)).toBe(
      "✖ 4 errors, 2 warnings, 1 info in 6 files · 2 suppressed · 1 in the baseline · 1 fixable with --fix · 1 rule crash · 31 documents of 1 contract checked",
    );
    const two = { ...clean, summary: { ...clean.summary, contracts: 2, documents: 1 } };
    expect(pretty(two, context)).toBe("✔ no findings · 1 document of 2 contracts checked\n");
  });

  it("names the contract where there are several", () => {
    const r = resultOf([finding]);
    const two = { ...r, summary: { ...r.summary, contracts: 2 } };
    expect(pretty(two, context)).toContain("the plain port is open  redis/port  redis-lab\n");
  });

  it("colours and links only where it may", () => {
    const strip = (text: string): string => text.replace(/\u001b\[[0-9;]*m|\u001b\]8;;[^\u001b]*\u001b\\/g, "");
    const color = paletteOf(new Chalk({ level: 1 }), true);
    const output = pretty(result, { ...context, color });
    expect(output).toContain("\u001b]8;;https://quorumlint.example/rules/acl/default-user.md\u001b\\");
    expect(output).toContain("\u001b[31m");
    expect(strip(output)).toBe(pretty(result, context));
    const unlinked = pretty(result, { ...context, color: paletteOf(new Chalk({ level: 1 }), false) });
    expect(unlinked).not.toContain("\u001b]8");
    expect(pretty(result, { ...context, color: paletteOf(new Chalk({ level: 0 }), false) })).toBe(
      pretty(result, context),
    );
  });

  it("cannot be broken by an address", () => {
    const { link } = paletteOf(new Chalk({ level: 0 }), true);
    expect(link("x", "https://a/\u001b\\\u0007 \ud800é")).toBe(
      "\u001b]8;;https://a/%1B\\%07%20%EF%BF%BD%C3%A9\u001b\\x\u001b]8;;\u001b\\",
    );
  });

  it("wraps notes to the terminal, but never the line that tools read", () => {
    const long = diagnostic(source, 5, 9, "redis/port", "word ".repeat(40), { help: "word ".repeat(40) });
    const lines = pretty(resultOf([long]), { ...context, width: 60 }).split("\n");
    expect(lines.filter((l) => l.length > 60 && !l.startsWith("✖"))).toHaveLength(1);
    expect(lines.find((l) => l.startsWith("      fix: "))!.length).toBeLessThanOrEqual(60);
    expect(lines.some((l) => l.startsWith("           word"))).toBe(true);
  });

  it("shows the first related places and counts the others", () => {
    const related = Array.from({ length: 7 }, (_, i) => ({ at: source.span(5, 9), message: `place ${i}` }));
    const output = pretty(resultOf([{ ...finding, related }]), context);
    expect(output).toContain("place 4");
    expect(output).not.toContain("place 5");
    expect(output).toContain("├─ and 2 more places\n");
  });

  it("does without a rule that it does not know", () => {
    expect(pretty(resultOf([finding]), { ...context, rules: new Map() })).not.toContain("why:");
  });

  it("prints the path that the reader can follow", () => {
    expect(pretty(resultOf([finding]), { ...context, pathOf: (f) => `../lab/${f}` })).toContain(
      "╭─ ../lab/conf/redis.conf:1:6\n",
    );
  });
});

describe("texts", () => {
  it("keep one character for one", () => {
    const hostile = "\u0000\u001b\u007f\u0085\u200b\u202e\u2028\ufeff\ud800";
    expect(visible(hostile)).toHaveLength(hostile.length);
    expect(visible(hostile)).toBe("␀␛␡������");
    expect(visible("plain – 漢字 👩‍👩‍👧")).toBe("plain – 漢字 👩‍👩‍👧");
  });

  it("end a first sentence where it ends", () => {
    expect(firstSentence("Redis 7.2 stops. Then what?")).toBe("Redis 7.2 stops.");
    expect(firstSentence("It fails, e.g. Redis does.\nMore.")).toBe("It fails, e.g. Redis does.");
    expect(firstSentence("no end")).toBe("no end");
    expect(firstSentence(ruleOf("a/b").docs.why)).toBe("Without it a failover stops, e.g. when a node is lost.");
  });
});
