import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compileGlob,
  escapeGlob,
  type Glob,
  globIncludes,
  globMatch,
  keyPatternGlob,
} from "../../src/model/redis/glob.js";
import { bytesOf, textOf } from "../../src/text/bytes.js";

const match = (pattern: string, text: string): boolean => globMatch(compileGlob(bytesOf(pattern)), bytesOf(text));
const glob = (pattern: string): Glob => compileGlob(bytesOf(pattern));
const covers = (whole: string[], part: string): boolean | undefined => globIncludes(whole.map(glob), glob(part));

describe("matching as the servers do", () => {
  it.each([
    // pattern, texts that match, texts that do not
    ["app:*", ["app:", "app:1", "app:a/b:c"], ["app", "App:1", "xapp:1"]],
    ["*", ["a", "anything"], [""]],
    ["", [""], ["a"]],
    ["**", ["a"], [""]],
    ["?", ["a"], ["", "ab", "é"]],
    ["??", ["é", "ab"], ["a"]],
    ["a[bc]d", ["abd", "acd"], ["aed", "ad"]],
    ["[^x]", ["a", "^"], ["x", ""]],
    ["[!x]", ["!", "x"], ["a"]],
    ["[z-a]", ["a", "m", "z"], ["A", "-"]],
    ["[]", [], ["]", "a", "[]"]],
    ["[^]", ["a", "]"], ["", "ab"]],
    ["[]a]", [], ["a", "]a", "a]"]],
    ["[a-]x", ["a", "x", "]", "_"], ["b", "ax"]],
    ["[a-]]", ["a", "^", "_", "]"], ["a]"]],
    ["[abc", ["a", "b", "c"], ["[abc", "d"]],
    ["[a-", ["a", "-"], ["b"]],
    ["[", [], ["[", "a"]],
    ["[^", ["a"], [""]],
    ["\\*", ["*"], ["a", "\\*"]],
    ["a\\", ["a\\"], ["a"]],
    ["[\\]]", ["]"], ["\\", "["]],
    ["[a\\-c]", ["a", "-", "c"], ["b", "\\"]],
    ["*a*b*", ["ab", "xaxbx"], ["ba", "a"]],
    ["a*?", ["ab", "abc"], ["a"]],
    ["user:{*}", ["user:{1}", "user:{}"], ["user:1"]],
  ] as [string, string[], string[]][])("%s", (pattern, yes, no) => {
    for (const text of yes) expect(match(pattern, text), `${pattern} ~ ${text}`).toBe(true);
    for (const text of no) expect(match(pattern, text), `${pattern} !~ ${text}`).toBe(false);
  });

  it("compares range bounds as signed bytes", () => {
    // [a-\xff] is the range -1 … 97
    expect(globMatch(compileGlob("[a-\xff]"), "0")).toBe(true);
    expect(globMatch(compileGlob("[a-\xff]"), "b")).toBe(false);
    expect(globMatch(compileGlob("[\x80-\xff]"), "\x90")).toBe(true);
  });

  it("agrees with the obvious recursive reading on random patterns", () => {
    const part = fc.constantFrom("a", "b", "*", "?", "[ab]", "[^a]", "[a-b]", "[", "]", "^", "-", "\\");
    const text = fc.array(fc.constantFrom("a", "b", "c", "]", "-", "^", "\\", "["), { maxLength: 7 });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), text, (p, t) => {
        const [pattern, subject] = [p.join(""), t.join("")];
        expect(match(pattern, subject)).toBe(reference(pattern, subject));
      }),
      { numRuns: 20_000, seed: 7 },
    );
  });

  it("is not exponential, and gives up where the server does", () => {
    expect(match(`${"a*".repeat(60)}b`, "a".repeat(60))).toBe(false);
    expect(match(`${"*[ab]".repeat(300)}c`, "a".repeat(5000))).toBe(false);
    expect(match("*[a".repeat(300), "a".repeat(5000))).toBe(true);
    expect(match(`${"*a".repeat(1000)}`, "a".repeat(1000))).toBe(true);
    expect(match(`${"*a".repeat(1001)}`, "a".repeat(1001))).toBe(false);
    expect(match("[".repeat(1_000_000), "x")).toBe(false);
  });
});

/** The server's algorithm, without its bounds: the pattern is read anew at each step. */
function reference(p: string, s: string): boolean {
  if (s === "") return p === "";
  const step = (i: number, j: number): boolean => {
    if (i === p.length || j === s.length) return /^\**$/.test(p.slice(i)) && j === s.length;
    if (p[i] === "*") return step(i + 1, j) || step(i, j + 1);
    if (p[i] === "?") return step(i + 1, j + 1);
    if (p[i] === "[") {
      let k = i + 1;
      const not = p[k] === "^";
      if (not) k++;
      let hit = false;
      while (k < p.length && p[k] !== "]") {
        const left = p.length - k;
        if (p[k] === "\\" && left >= 2) {
          if (p[++k] === s[j]) hit = true;
        } else if (left >= 3 && p[k + 1] === "-") {
          const [low, high] = [p[k]!, p[k + 2]!].sort();
          if (s[j]! >= low! && s[j]! <= high!) hit = true;
          k += 2;
        } else if (p[k] === s[j]) hit = true;
        k++;
      }
      return hit !== not && step(Math.min(k + 1, p.length), j + 1);
    }
    const c = p[i] === "\\" && i + 1 < p.length ? i + 1 : i;
    return p[c] === s[j] && step(c + 1, j + 1);
  };
  return step(0, 0);
}

describe("inclusion", () => {
  it.each([
    [["app:*"], "app:1", true],
    [["app:*"], "app:*", true],
    [["app:*"], "app:*:lock", true],
    [["app:*"], "ap*", false],
    [["app:*:cfg"], "app:*", false],
    [["*"], "x*y", true],
    [["a*", "b*"], "[ab]*", true],
    [["a*", "b*"], "[abc]*", false],
    [["a?*", "a"], "a*", true],
    [["a?*"], "a*", false],
    [["?*"], "*", true],
    [["*a*", "[^a]*"], "?*", true],
    [["*a", "*b", "*[^ab]"], "*", true],
    [["*a", "*b"], "*", false],
    [["user:{*}:*"], "user:{*}:profile", true],
    [["user:*"], "user:{*}:profile", true],
    [["user:{*"], "user:{*}:profile", true],
    [["user:{a*}:*"], "user:{*}:profile", false],
    [[], "a", false],
    [["a"], "", false],
    [[""], "", true],
    [["*"], "", false],
    [["abc"], "abc", true],
    [["ab[cd]"], "ab[c-d]", true],
    [["ab[cd]"], "ab[c-e]", false],
    [["x"], "[]", true],
  ] as [string[], string, boolean][])("%j covers %s: %s", (whole, part, wanted) => {
    expect(covers(whole, part)).toBe(wanted);
  });

  it("never contradicts matching", () => {
    const piece = fc.constantFrom("a", "b", "*", "?", "[ab]", "[^a]");
    const pattern = fc.array(piece, { maxLength: 5 }).map((p) => p.join(""));
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 3 }), pattern, (whole, part) => {
        const verdict = covers(whole, part);
        expect(verdict).toBeDefined();
        const [globs, inner] = [whole.map(glob), glob(part)];
        const missing = (part === "" ? [""] : strings).find(
          (text) => globMatch(inner, text) && !globs.some((g) => globMatch(g, text)),
        );
        if (verdict === true) expect(missing).toBeUndefined();
        else expect(missing).toBeDefined();
      }),
      { numRuns: 3000, seed: 11 },
    );
  });

  it("bounds its cost", () => {
    const hard = `*a${"?".repeat(40)}`;
    expect(covers([hard], "*a*")).toBe(false);
    expect([true, false, undefined]).toContain(
      covers([hard, `*b${"?".repeat(39)}`, "*c*d*e*"], `*[ab]${"?".repeat(40)}`),
    );
    const many = Array.from({ length: 2000 }, (_, i) => `app:${i}:*`);
    expect(covers(many, "app:1999:x")).toBe(true);
    expect(covers(many, "app:*:x")).toBe(false);
  });

  it("reads declared key patterns: hash tags vary, other specials are literal", () => {
    expect(globIncludes([glob("app:*")], keyPatternGlob("app:{tenant}:cfg:*"))).toBe(true);
    expect(globIncludes([glob("app:{*}:cfg:*")], keyPatternGlob("app:{tenant}:cfg:*"))).toBe(true);
    expect(globIncludes([glob("app:{t*}:cfg:*")], keyPatternGlob("app:{tenant}:cfg:*"))).toBe(false);
    expect(globIncludes([glob("a[?]b")], keyPatternGlob("a?b"))).toBe(true);
    expect(globIncludes([glob("axb")], keyPatternGlob("a?b"))).toBe(false);
    expect(globIncludes([glob("open{*")], keyPatternGlob("open{x"))).toBe(true);
  });
});

/** All words over a small alphabet: long enough to tell patterns of five elements apart. */
const strings = ["a", "b", "c"].flatMap(function grow(s: string): string[] {
  return s.length === 6 ? [s] : [s, ...["a", "b", "c"].flatMap((c) => grow(s + c))];
});

describe("bytes", () => {
  it("go to text and back", () => {
    for (const text of ["", "abc", "é€😀", "\ufeff", "a\udc80b\udcff", "\u0000"])
      expect(textOf(bytesOf(text))).toBe(text);
    expect(bytesOf("é")).toBe("\xc3\xa9");
    expect(textOf("\xc3\xa9")).toBe("é");
    expect(textOf("\xc3")).toBe("\udcc3");
    expect(bytesOf("x".repeat(10_000) + "é")).toHaveLength(10_002);
  });

  it("escape every special character of a glob", () => {
    const text = "a*b?c[d]\\e^-";
    expect(match(escapeGlob(text), text)).toBe(true);
    expect(glob(escapeGlob(text)).literal).toBe(true);
  });
});
