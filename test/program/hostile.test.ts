import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyse, keys, line } from "./support.js";

/** Seconds of processor time that the analysis takes. */
function seconds(text: string): number {
  const start = process.cpuUsage();
  const effects = analyse(text);
  void [
    effects.keys,
    effects.results,
    effects.unknowns,
    effects.missingTtl,
    effects.ttls,
    effects.inputs("keys"),
    effects.unbounded,
  ];
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
}

describe("hostile scripts end, and what is cut off is reported", () => {
  it("a script of 1 MB", () => {
    const one = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1] .. 'x') end\n";
    expect(seconds(one.repeat(Math.ceil(1_000_000 / one.length)))).toBeLessThan(20);
    expect(seconds(`return '${"x".repeat(1_000_000)}'`)).toBeLessThan(5);
    expect(seconds(`return ${"1+".repeat(100_000)}1`)).toBeLessThan(10);
    expect(seconds(`local t = { ${"1, ".repeat(60_000)} }\nredis.call(unpack(t))`)).toBeLessThan(10);
    expect(seconds(`return f${".a".repeat(80_000)}`)).toBeLessThan(10);
    expect(seconds(`return f${"()".repeat(80_000)}`)).toBeLessThan(10);
    expect(seconds("local x = 1\n".repeat(20_000))).toBeLessThan(10);
  });

  it("helpers that double at each level", () => {
    let text = "local function f0() redis.call('GET', KEYS[1]) end\n";
    for (let i = 1; i <= 40; i++) text += `local function f${i}() f${i - 1}() f${i - 1}() end\n`;
    text += "f40()\n";
    const effects = analyse(text);
    expect(effects.unknowns.some((u) => u.kind === "budget" || u.kind === "depth")).toBe(true);
    expect(effects.commandsComplete).toBe(false);
    expect(seconds(text)).toBeLessThan(20);
  });

  it("mutual recursion and recursion with growing arguments", () => {
    const effects = analyse(
      "local a, b\na = function(k) redis.call('GET', k) return b(k .. 'x') end\nb = function(k) return a(k .. 'y') end\na(KEYS[1])",
    );
    expect(effects.calls.length).toBeLessThan(10);
    expect(keys(effects)[0]).toBe("get R keys:<keys1>");
    expect(seconds("local function f(t) t[#t + 1] = t return f(t) end\nf({})")).toBeLessThan(2);
  });

  it("text that grows: string.rep, doubling concatenation", () => {
    expect(seconds("local s = string.rep('x', 1e9)\nredis.call('SET', KEYS[1], s)")).toBeLessThan(1);
    expect(seconds(`local s = 'x'\n${"s = s .. s\n".repeat(150)}redis.call(s, KEYS[1])`)).toBeLessThan(2);
    expect(seconds("local s = KEYS[1]\nfor i = 1, 1e9 do s = s .. s end\nredis.call('GET', s)")).toBeLessThan(1);
  });

  it("many branches: alternatives and facts stay bounded", () => {
    let text = "local x = 0\n";
    for (let i = 0; i < 400; i++) text += `if ARGV[${i}] == 'a' then x = x + ${i} redis.call('GET', KEYS[${i}]) end\n`;
    expect(seconds(`${text}redis.call('SET', KEYS[1], x)\nreturn x`)).toBeLessThan(5);
    let nested = "local x = KEYS[1]\n";
    for (let i = 0; i < 150; i++) nested += `x = (ARGV[${i}] == 'a') and x .. '${i}' or x .. 'b'\n`;
    expect(seconds(`${nested}redis.call('GET', x)`)).toBeLessThan(5);
  });

  it("nested loops", () => {
    const open = "for i = 1, #KEYS do local t = {} while ARGV[1] do t[#t + 1] = i redis.call('GET', KEYS[i]) ";
    expect(seconds(`${open.repeat(40)}${"end end ".repeat(40)}`)).toBeLessThan(5);
  });

  it("a table that holds itself, a metatable that is its own index", () => {
    expect(
      seconds("local t = {}\nt.t = t\nt.__index = t\nsetmetatable(t, t)\nredis.call('GET', t.t.t.x)"),
    ).toBeLessThan(1);
    expect(
      seconds(
        "local t = {}\nt[1] = t\nredis.call(unpack(t))\nredis.call('GET', t)\nredis.call('GET', table.concat(t))",
      ),
    ).toBeLessThan(1);
  });

  it("long elseif chains and deep expressions inside the server's limits", () => {
    const chain = Array.from(
      { length: 3000 },
      (_, i) => `elseif ARGV[1] == '${i}' then redis.call('GET', KEYS[${i}])`,
    ).join("\n");
    expect(seconds(`if false then\n${chain}\nend`)).toBeLessThan(10);
    const deep = `${"if ARGV[1] == 'a' then local v = (((redis.call('GET', KEYS[1])))) ".repeat(190)}${"end ".repeat(190)}`;
    expect(seconds(deep)).toBeLessThan(5);
    const closures = `${"local function f() ".repeat(90)} redis.call('GET', KEYS[1]) ${"end f() ".repeat(90)}`;
    expect(seconds(closures)).toBeLessThan(5);
  });

  it("what is cut off has a place in the text", () => {
    const effects = analyse(`return f${".a".repeat(2000)}`);
    expect(effects.unknowns.map((u) => [u.kind, line(u.at)])).toEqual([["depth", 1]]);
  });

  it("any arrangement of statements is followed without a crash", () => {
    const word = fc.constantFrom(
      "KEYS[1]",
      "ARGV[1]",
      "x",
      "t",
      "t.a",
      "f(x)",
      "f",
      "redis.call('GET', x)",
      "redis.call(x, y)",
      "1",
      "'s'",
      "nil",
      "{}",
      "{ x, y, a = f }",
      "...",
      "#t",
      "not x",
      "function(a, ...) return a, ... end",
      "unpack(t)",
      "x .. y",
      "x == y",
      "x and y",
      "x or f()",
      "pcall(f, x)",
      "tonumber(x)",
      "-x",
    );
    const statement: fc.Arbitrary<string> = fc.letrec<{ s: string }>((tie) => ({
      s: fc.oneof(
        { depthSize: "small" },
        fc
          .tuple(
            fc.constantFrom(
              "x",
              "y",
              "t",
              "f",
              "local x",
              "local y",
              "local t",
              "local f",
              "t.a",
              "t[1]",
              "t[x]",
              "t[#t + 1]",
              "g",
            ),
            word,
          )
          .map(([a, b]) => `${a} = ${b}`),
        word.map((w) => `return ${w}`).map((r) => `do ${r} end`),
        word.map((w) => `redis.call('SET', ${w === "..." ? "x" : w}, 1)`),
        fc.constantFrom(
          "f(x, y)",
          "error(x)",
          "table.insert(t, x)",
          "assert(x)",
          "redis.call(unpack(t))",
          "setmetatable(t, t)",
          "table.sort(t, f)",
        ),
        fc.tuple(word, tie("s"), tie("s")).map(([w, a, b]) => `if ${w} then ${a} else ${b} end`),
        fc.tuple(word, tie("s")).map(([w, a]) => `while ${w} do ${a} end`),
        fc.tuple(word, tie("s")).map(([w, a]) => `repeat ${a} until ${w}`),
        fc.tuple(word, tie("s")).map(([w, a]) => `for x = 1, ${w} do ${a} if y then break end end`),
        fc.tuple(word, tie("s")).map(([w, a]) => `for x, y in pairs(${w}) do ${a} end`),
        tie("s").map((a) => `local function f(x, ...) ${a} return x end`),
        tie("s").map((a) => `f = function(x, ...) ${a} end`),
      ),
    })).s;
    fc.assert(
      fc.property(fc.array(statement, { minLength: 1, maxLength: 12 }), (parts) => {
        const effects = analyse(`local x, y, t, f\n${parts.join("\n")}`);
        expect(effects.document.problems).toEqual([]);
        void [effects.keys, effects.results, effects.unknowns, effects.missingTtl, effects.ttls, effects.unbounded];
        void [
          effects.inputs("keys"),
          effects.inputs("argv"),
          effects.dynamicCommands,
          effects.writeAfterTime,
          effects.unusedFunctions,
        ];
      }),
      { numRuns: 1000 },
    );
  });
});
