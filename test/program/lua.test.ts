import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { luaString, parseLua } from "../../src/document/lua.js";
import { Source, TextView } from "../../src/text/source.js";
import { document, luaparse, place } from "./support.js";

const fault = (text: string) => document(text).problems.map((p) => [p.message, place(p.at)]);

describe("Lua documents", () => {
  it("places are offsets of the file, also inside another file", () => {
    const source = new Source("catalog.ts", 'const s = "return 1 +";');
    const view = new TextView(source, "return 1 +", [{ inner: 0, length: 10, outer: 11, outerLength: 10 }]);
    const [problem] = parseLua(view, luaparse).problems;
    expect(source.position(problem!.at.start)).toEqual({ line: 1, column: 21 });
  });

  it.each([
    ["local x =", "script.lua:1:9"],
    ["if x then", "script.lua:1:6"],
    ["return 1\nx != 1", "script.lua:2:3"],
    ["return 1\nreturn 2", "script.lua:2:1"],
  ])("a fault has a place: %j", (text, expected) => {
    expect(fault(text).map((f) => f[1])).toEqual([expected]);
  });

  // Recorded with SCRIPT LOAD on Redis 7.0.15.
  it.each(
    [
      "for i=1,2 do break; end",
      "return 1;",
      "return;",
      "return '\\q'",
      "return '\\x41'",
      "return ...",
      "#!lua\nreturn 1",
      "#!lua flags=no-writes,allow-stale\nreturn 1",
      "return 0x10",
      "return 1e3 + .5 + 3.",
      "local goto_ = 1",
      "return [==[ ]] ]==]",
      "a.b.c[1] = 2",
      "local s = ('x'):rep(3)",
      "print 'x'",
      "f{ 1, 2; 3, a = 1, ['b'] = 2 }",
      `return ${"(".repeat(198)}1${")".repeat(198)}`,
      `return ${"{".repeat(199)}${"}".repeat(199)}`,
      `return ${"'a'..".repeat(198)}'a'`,
      `return ${"not ".repeat(198)}1`,
      `${"do ".repeat(199)}${" end".repeat(199)}`,
      `return ${"1+".repeat(4000)}1`,
      `if false then ${"elseif false then ".repeat(3000)} end`,
    ].map((text) => [text.slice(0, 40), text] as const),
  )("the server takes %j", (_, text) => {
    expect(fault(text)).toEqual([]);
  });

  it.each(
    [
      "local x <const> = 1",
      "goto a",
      "::a::",
      "return '\\300'",
      "f\n(1)",
      "\ufeffreturn 1",
      "return 1 //2",
      "return 0xg",
      "return 3..2",
      "if 1if then end",
      ";",
      "local a;;local b",
      "return é",
      "break",
      "local function f(...) return function() return ... end end",
      `return ${"(".repeat(220)}1${")".repeat(220)}`,
      `return ${"{".repeat(400)}${"}".repeat(400)}`,
      `return ${"'a'..".repeat(300)}'a'`,
      `return ${"- ".repeat(300)}1`,
      `${"do ".repeat(201)}${" end".repeat(201)}`,
      `${"if true then ".repeat(5000)}${" end".repeat(5000)}`,
      `local f; return ${"f(".repeat(100_000)}${")".repeat(100_000)}`,
    ].map((text) => [text.slice(0, 40), text] as const),
  )("the server refuses %j", (_, text) => {
    expect(fault(text).length).toBe(1);
  });

  it("include directives of both kinds", () => {
    const text =
      '--- @include "includes/a"\n-- @include <b>\n#include "c.lua"\nlocal s = \'--- @include "no"\'\nreturn 1 --- @include "d"';
    const { includes, problems } = document(text);
    expect(problems).toEqual([]);
    expect(includes.map((i) => [i.name, place(i.at)])).toEqual([
      ["includes/a", "script.lua:1:1"],
      ["b", "script.lua:2:1"],
      ["c.lua", "script.lua:3:1"],
      ["d", "script.lua:5:10"],
    ]);
  });

  it("the first line of a function library", () => {
    const { shebang } = document("#!lua name=lib flags=no-writes\nreturn 1");
    expect([shebang?.engine, shebang?.name, shebang?.flags]).toEqual(["lua", "lib", ["no-writes"]]);
  });

  it("comments have places", () => {
    expect(
      document("-- quorumlint: ignore[x] y\nreturn 1 --[[ z ]]").comments.map((c) => [c.value.trim(), c.range]),
    ).toEqual([
      ["quorumlint: ignore[x] y", [0, 26]],
      ["z", [36, 45]],
    ]);
  });

  it("strings are decoded", () => {
    expect(
      ["'a\\tb'", '"\\"\\\\"', "'\\65\\066'", "[[\nx]]", "[==[a]]b]==]", "'\\\nx'", "'\\q'"].map(luaString),
    ).toEqual(["a\tb", '"\\', "AB", "x", "a]]b", "\nx", "q"]);
  });

  it("any text gives a document", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            "end ",
            "(",
            ")",
            "{",
            "[[",
            "]]",
            "'",
            '"',
            "--",
            "--[[",
            "..",
            "=",
            "if ",
            "then ",
            "function ",
            "local x",
            "\n",
            "\\",
            '#include "',
            "0x",
            "1e",
            "é",
            "return ",
            "do ",
          ),
        ),
        (parts) => {
          const { body, problems } = document(parts.join(""));
          expect(body === undefined).toBe(problems.length > 0);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
