import { describe, expect, it } from "vitest";
import {
  acquisitionsOf,
  equalityTests,
  inputOf,
  readOf,
  sameKey,
  scaledInput,
  testsOf,
} from "../../src/model/program/query.js";
import { analyse, show } from "./support.js";

/** What the first word after the key of the last SET was read from. */
function read(text: string): string {
  const effects = analyse(text);
  const call = effects.calls.findLast((c) => c.command === "set")!;
  const found = readOf(call.argv[2]!, effects.terms);
  if (found === undefined) return "-";
  return [found.call.command, show(found.key), found.field === undefined ? "" : show(found.field), ...found.path].join(
    " ",
  );
}

describe("what a value was read from", () => {
  it.each([
    ["GET", "local v = redis.call('GET', KEYS[1])\nredis.call('SET', KEYS[2], v)", "get KEYS[1] "],
    ["a field", "redis.call('SET', KEYS[2], redis.call('HGET', KEYS[1], 'owner'))", 'hget KEYS[1] "owner"'],
    [
      "an entry of HMGET",
      "local r = redis.call('HMGET', KEYS[1], 'a', 'b')\nredis.call('SET', KEYS[2], r[2])",
      'hmget KEYS[1] "b"',
    ],
    [
      "an entry of MGET",
      "local r = redis.call('MGET', KEYS[1], KEYS[2])\nredis.call('SET', KEYS[2], r[2])",
      "mget KEYS[2] ",
    ],
    [
      "a decoded part",
      "local d = cjson.decode(redis.call('GET', KEYS[1]))\nredis.call('SET', KEYS[2], d.lock.owner)",
      "get KEYS[1]  lock owner",
    ],
    [
      "with a default",
      "local v = tonumber(redis.call('GET', KEYS[1]) or '0')\nredis.call('SET', KEYS[2], v)",
      "get KEYS[1] ",
    ],
    [
      "a branch default",
      "local v = redis.call('GET', KEYS[1])\nif not v then v = 0 end\nredis.call('SET', KEYS[2], v)",
      "get KEYS[1] ",
    ],
    ["an input", "redis.call('SET', KEYS[2], ARGV[1])", "-"],
    [
      "two reads",
      "local v = redis.call('GET', KEYS[1])\nif ARGV[1] == 'x' then v = redis.call('GET', KEYS[2]) end\nredis.call('SET', KEYS[2], v)",
      "-",
    ],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toBe(expected);
  });
});

describe("inputs", () => {
  it("direct, converted, decoded", () => {
    const effects = analyse(
      "redis.call('SET', KEYS[1], ARGV[1])\nredis.call('SET', KEYS[1], tonumber(ARGV[2]))\nredis.call('SET', KEYS[1], cjson.decode(ARGV[3]).owner)\nredis.call('SET', KEYS[1], ARGV[4] .. 'x')",
    );
    expect(effects.calls.map((c) => inputOf(c.argv[2]!))).toEqual([
      { table: "argv", index: 1, path: [] },
      { table: "argv", index: 2, path: [] },
      { table: "argv", index: 3, path: ["owner"] },
      undefined,
    ]);
  });
});

describe("owner compares", () => {
  const compared = (text: string, command: string) => {
    const effects = analyse(text);
    return effects.calls
      .filter((c) => c.command === command)
      .map((c) =>
        equalityTests(c, effects.terms).map(
          (t) => `${t.read.field === undefined ? "" : show(t.read.field)}=${t.input!.index}`,
        ),
      );
  };

  it("found on the same key only", () => {
    expect(
      compared(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) redis.call('DEL', KEYS[2]) end",
        "del",
      ),
    ).toEqual([["=1"], []]);
    expect(compared("redis.call('DEL', KEYS[1])", "del")).toEqual([[]]);
  });

  it("owner and attempt", () => {
    const text = `
      local s = redis.call('HMGET', KEYS[1], 'owner', 'attempt', 'state')
      if not s[1] then return 'NOT_FOUND' end
      if s[1] ~= ARGV[1] or s[2] ~= ARGV[2] then return 'LOST' end
      redis.call('HSET', KEYS[1], 'state', 'done')
      redis.call('PEXPIRE', KEYS[1], ARGV[3])
      return 'OK'`;
    expect(compared(text, "hset")).toEqual([['"owner"=1', '"attempt"=2']]);
    expect(compared(text, "pexpire")).toEqual([['"owner"=1', '"attempt"=2']]);
    expect(analyse(text).results.map((r) => (r.result.kind === "literal" ? r.result.value : ""))).toEqual([
      "NOT_FOUND",
      "LOST",
      "OK",
    ]);
  });

  it("an owner that is joined with a token", () => {
    const effects = analyse(
      "if redis.call('GET', KEYS[1]) == ARGV[1] .. ':' .. ARGV[2] then redis.call('DEL', KEYS[1]) end",
    );
    const [test] = equalityTests(effects.calls.find((c) => c.command === "del")!, effects.terms);
    expect(test!.inputs.map((i) => i.index)).toEqual([1, 2]);
  });

  it("order compares of a watermark", () => {
    const effects = analyse(
      "local seen = tonumber(redis.call('HGET', KEYS[1], 'token') or 0)\nlocal mine = tonumber(ARGV[1])\nif mine < seen then return 'STALE' end\nredis.call('HSET', KEYS[1], 'token', mine)",
    );
    const set = effects.calls.find((c) => c.command === "hset")!;
    const [test] = testsOf(set.guards, set.argv[1], effects.terms);
    expect([test!.guard.op, test!.left, test!.input?.index]).toEqual(["lessOrEqual", true, 1]);
    expect(effects.comparisons.length).toBe(1);
  });
});

describe("acquisitions", () => {
  it("SET NX PX is atomic, SETNX is not", () => {
    const list = (text: string) => acquisitionsOf(analyse(text)).map((a) => [show(a.key), a.owner?.index, a.atomic]);
    expect(list("return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])")).toEqual([["KEYS[1]", 1, true]]);
    expect(list("if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then redis.call('EXPIRE', KEYS[1], 9) end")).toEqual([
      ["KEYS[1]", 1, false],
    ]);
    expect(list("redis.call('SET', KEYS[1], ARGV[1], 'EX', 9)")).toEqual([]);
  });

  it("the same key by another way", () => {
    const effects = analyse(
      "local k = KEYS[1]\nredis.call('GET', k)\nredis.call('GET', tostring(KEYS[1]))\nredis.call('GET', KEYS[1] .. '')",
    );
    const [a, b, c] = effects.calls;
    expect([sameKey(a!.argv[1], b!.argv[1]), sameKey(a!.argv[1], c!.argv[1]), sameKey(a!.argv[1], undefined)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe("scaled inputs", () => {
  it.each([
    ["ARGV[1]", [1, 1]],
    ["tonumber(ARGV[2]) * 1000", [2, 1000]],
    ["1000 * ARGV[1]", [1, 1000]],
    ["math.ceil(tonumber(ARGV[1]) / 1000)", [1, 0.001]],
    ["math.min(tonumber(ARGV[1]), 60000)", [1, 1]],
    ["(ARGV[1] or 5) * 1000", [1, 1000]],
    ["ARGV[1] + ARGV[2]", undefined],
    ["60", undefined],
  ])("%s", (text, expected) => {
    const effects = analyse(`redis.call('PEXPIRE', KEYS[1], ${text})`);
    const found = scaledInput(effects.calls[0]!.argv[2]!, effects.terms);
    expect(found === undefined ? undefined : [found.input.index, found.factor]).toEqual(expected);
  });
});
