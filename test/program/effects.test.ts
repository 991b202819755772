import { describe, expect, it } from "vitest";
import { analyse, calls, guards, keys, line, origin, place, show } from "./support.js";

describe("commands are found", () => {
  it.each([
    ["aliases", "local rcall = redis.call\nlocal again = rcall\nreturn again('GET', KEYS[1])", ["get KEYS[1]"]],
    ["an alias of the table", "local r = redis\nreturn r.pcall('get', KEYS[1])", ["get KEYS[1]"]],
    ["an index with a text", "return redis['call']('GeT', KEYS[1])", ["get KEYS[1]"]],
    ["Valkey's name", "return server.call('GET', KEYS[1])", ["get KEYS[1]"]],
    ["_G", "return _G['redis'].call('GET', KEYS[1])", ["get KEYS[1]"]],
    [
      "a table of functions",
      "local api = { get = function(k) return redis.call('GET', k) end }\nreturn api.get(KEYS[1])",
      ["get KEYS[1]"],
    ],
    [
      "methods",
      "local api = {}\nfunction api:get(k) return redis.call('HGET', self.key, k) end\napi.key = KEYS[1]\nreturn api:get(ARGV[1])",
      ["hget KEYS[1] ARGV[1]"],
    ],
    [
      "metatables",
      "local C = {}\nC.__index = C\nfunction C.get(o) return redis.call('GET', o.k) end\nlocal o = setmetatable({ k = KEYS[1] }, C)\nreturn o:get()",
      ["get KEYS[1]"],
    ],
    [
      "helpers with parameters",
      "local function put(k, v) redis.call('SET', k, v, 'EX', 5) end\nput(KEYS[1], ARGV[1])\nput(KEYS[2], ARGV[2])",
      ['set KEYS[1] ARGV[1] "EX" 5', 'set KEYS[2] ARGV[2] "EX" 5'],
    ],
    [
      "constants and joined names",
      "local H = 'H'\nreturn redis.call(H .. 'GET', KEYS[1], string.lower('A') .. 'b')",
      ['hget KEYS[1] "ab"'],
    ],
    [
      "string.format",
      "return redis.call(string.format('%s%s', 'HG', 'ET'), string.format('%s:%d', KEYS[1], 7), 'f')",
      ['hget KEYS[1]..":7" "f"'],
    ],
    [
      "containers",
      "redis.call('XGROUP', 'CREATE', KEYS[1], 'g', '$', 'MKSTREAM')",
      ['xgroup|create "CREATE" KEYS[1] "g" "$" "MKSTREAM"'],
    ],
    ["pcall", "local ok, v = pcall(redis.call, 'GET', KEYS[1])\nreturn v", ["get KEYS[1]"]],
    [
      "pcall of a helper",
      "local ok, v = pcall(function() return redis.call('GET', KEYS[1]) end)\nreturn v",
      ["get KEYS[1]"],
    ],
    [
      "unpack of a known list",
      "local a = { 'SET', KEYS[1], ARGV[1] }\na[#a + 1] = 'PX'\ntable.insert(a, 500)\nredis.call(unpack(a))",
      ['set KEYS[1] ARGV[1] "PX" 500'],
    ],
    [
      "table.unpack or unpack",
      "local unpack = table.unpack or unpack\nredis.call('DEL', unpack({ KEYS[1], KEYS[2] }))",
      ["del KEYS[1] KEYS[2]"],
    ],
    ["varargs", "local function call(...) return redis.call(...) end\ncall('GET', KEYS[1])", ["get KEYS[1]"]],
    [
      "select",
      "local function second(...) return (select(2, ...)) end\nredis.call('GET', second(KEYS[1], KEYS[2]))",
      ["get KEYS[2]"],
    ],
    [
      "a recursion",
      "local function down(n)\n  if n == 0 then return 0 end\n  redis.call('INCR', KEYS[1])\n  return down(n - 1)\nend\ndown(ARGV[1])",
      ["incr KEYS[1]", "incr KEYS[1]"],
    ],
    [
      "table.sort's function",
      "local t = { 1, 2 }\ntable.sort(t, function(a, b) return redis.call('GET', KEYS[1]) end)",
      ["get KEYS[1]"],
    ],
    [
      "a choice of names",
      "local cmd = ARGV[1] == 'l' and 'LPUSH' or 'RPUSH'\nredis.call(cmd, KEYS[1], ARGV[2])",
      ["lpush KEYS[1] ARGV[2]", "rpush KEYS[1] ARGV[2]"],
    ],
    [
      "a choice of functions",
      "local f = redis.call\nif ARGV[1] == '1' then f = redis.pcall end\nf('GET', KEYS[1])",
      ["get KEYS[1]", "get KEYS[1]"],
    ],
    [
      "code after a return is not run",
      "do return redis.call('GET', KEYS[1]) end\nredis.call('DEL', KEYS[1])",
      ["get KEYS[1]"],
    ],
    [
      "a constant condition",
      "local DEBUG = false\nif DEBUG then redis.call('FLUSHALL') end\nreturn redis.call('GET', KEYS[1])",
      ["get KEYS[1]"],
    ],
    [
      "a flag of a helper",
      "local function f(k, del) if del then redis.call('DEL', k) else redis.call('GET', k) end end\nf(KEYS[1], false)",
      ["get KEYS[1]"],
    ],
  ])("%s", (_, text, expected) => {
    const effects = analyse(text);
    expect(calls(effects)).toEqual(expected);
    expect(effects.unknowns).toEqual([]);
    expect(effects.commandsComplete).toBe(true);
  });

  it("names of containers carry the subcommand; an unknown one is reported", () => {
    const effects = analyse("redis.call('OBJECT', ARGV[1], KEYS[1])");
    expect([...effects.commands.keys()]).toEqual(["object"]);
    expect(effects.unknowns.map((u) => [u.kind, place(u.at)])).toEqual([
      ["key-positions", "script.lua:1:1"],
      ["subcommand", "script.lua:1:22"],
    ]);
    expect(effects.commandsComplete).toBe(false);
  });

  it("a name from ARGV is dynamic, with its origin", () => {
    const effects = analyse("local c = ARGV[1]\nredis.call(c, KEYS[1])\nredis.call(redis.call('GET', KEYS[2]))");
    expect(effects.dynamicCommands.map((d) => [d.origin.kind, place(d.at)])).toEqual([
      ["argv", "script.lua:2:12"],
      ["data", "script.lua:3:12"],
    ]);
    expect(effects.commandsComplete).toBe(false);
  });

  it("arbitrary source is reported", () => {
    const effects = analyse("local f = loadstring(ARGV[1])\nf()\nredis.call('EVAL', ARGV[1], 0)");
    expect(effects.dynamicSources.map((d) => [d.name, line(d.at)])).toEqual([
      ["loadstring", 1],
      ["eval", 3],
    ]);
  });

  it("includes of both kinds stand where they are written, once", () => {
    const effects = analyse('local rcall = redis.call\n--- @include "lib"\n--- @include "lib"\nput(KEYS[1])', {
      lib: "local function put(k) rcall('SET', k, 1, 'EX', 9) end",
    });
    expect(calls(effects)).toEqual(['set KEYS[1] 1 "EX" 9']);
    expect(place(effects.calls[0]!.at)).toBe("lib.lua:1:23");
    expect(effects.unknowns).toEqual([]);
    const hash = analyse('#include "lib"\nreturn get(KEYS[1])', {
      lib: "local function get(k) return redis.call('GET', k) end",
    });
    expect(calls(hash)).toEqual(["get KEYS[1]"]);
  });

  it("a missing include and the function from it are unknown", () => {
    const effects = analyse('--- @include "nowhere"\nlocal x = helper(KEYS[1])\nreturn x');
    expect(effects.unknowns.map((u) => [u.kind, line(u.at)])).toEqual([
      ["include", 1],
      ["callee", 2],
    ]);
  });

  it("function libraries: registered functions are entries", () => {
    const effects = analyse(
      "#!lua name=lib\nlocal function f(keys, args) return redis.call('SET', keys[1], args[1]) end\nredis.register_function('f', f)\nredis.register_function{ function_name = 'g', callback = function(keys) return redis.call('GET', keys[2]) end }",
    );
    expect(calls(effects)).toEqual(["set KEYS[1] ARGV[1]", "get KEYS[2]"]);
    expect(effects.document.shebang?.name).toBe("lib");
    expect(effects.inputs("keys").max).toBe(2);
  });
});

describe("keys and where they come from", () => {
  it("declared, derived, from ARGV, from data, literal", () => {
    const effects = analyse(`
      redis.call('GET', KEYS[1])
      redis.call('GET', KEYS[1] .. ':etag')
      redis.call('GET', 'p:' .. ARGV[1])
      local id = redis.call('INCR', 'seq')
      redis.call('DEL', 'job:' .. id)
      redis.call('HSET', KEYS[2] .. ':' .. ARGV[2], 'f', 'v')
      redis.call('SMEMBERS', cjson.decode(ARGV[3]).key)
    `);
    expect(keys(effects)).toEqual([
      "get R keys:<keys1>",
      "get R derived:<keys1>:etag",
      "get R argv:p:<argv1>",
      "incr RW literal:seq",
      "del W data:job:<data>",
      "hset W derived:<keys2>:<argv2>",
      "smembers R argv:<argv3>",
    ]);
  });

  it("access flags by options", () => {
    const effects = analyse(
      "redis.call('SET', KEYS[1], 'v', 'GET')\nredis.call('SET', KEYS[1], 'v')\nredis.call('EXISTS', KEYS[1])",
    );
    expect(keys(effects)).toEqual(["set RW keys:<keys1>", "set W keys:<keys1>", "exists  keys:<keys1>"]);
  });

  it("loops and whole tables", () => {
    const effects = analyse(
      "for i = 1, #KEYS do redis.call('DEL', KEYS[i]) end\nredis.call('UNLINK', unpack(KEYS))\nfor i = 1, 3 do redis.call('GET', KEYS[i]) end",
    );
    expect(keys(effects)).toEqual([
      "del W keys:<keys?>",
      "unlink W keys:<keys?>*",
      "get R keys:<keys1>",
      "get R keys:<keys2>",
      "get R keys:<keys3>",
    ]);
    const input = effects.inputs("keys");
    expect([input.max, input.dynamic.length, input.whole.length, input.length.length]).toEqual([3, 1, 1, 1]);
  });

  it("pairs of an unpacked list and counted keys", () => {
    expect(
      keys(
        analyse(
          "local kv = {}\nfor i, k in ipairs(KEYS) do kv[#kv + 1] = k; kv[#kv + 1] = ARGV[i] end\nredis.call('MSET', unpack(kv))",
        ),
      ),
    ).toEqual(["mset W keys:<keys?>*", "mset W argv:<argv?>*"]);
    expect(keys(analyse("redis.call('ZUNIONSTORE', KEYS[1], #KEYS - 1, unpack(KEYS, 2))"))).toEqual([
      "zunionstore W keys:<keys1>",
      "zunionstore R keys:<keys?>*",
    ]);
    expect(keys(analyse("redis.call('ZUNIONSTORE', KEYS[1], 2, KEYS[2], KEYS[3], 'WEIGHTS', 1, 2)"))).toEqual([
      "zunionstore W keys:<keys1>",
      "zunionstore R keys:<keys2>",
      "zunionstore R keys:<keys3>",
    ]);
  });

  it("an alternative that the path rules out is no key", () => {
    const effects = analyse("local k = ARGV[1] or ''\nif k ~= '' then redis.call('GET', k) end");
    expect(keys(effects)).toEqual(["get R argv:<argv1>"]);
  });

  it("KEYS where ARGV is meant, and unused positions", () => {
    const { uses, max } = analyse("return redis.call('HGET', KEYS[1], KEYS[2])").inputs("keys");
    expect(max).toBe(2);
    expect(uses.map((u) => [u.index, u.asKey.length, u.asValue.map((v) => place(v.at))])).toEqual([
      [1, 1, []],
      [2, 0, ["script.lua:1:36"]],
    ]);
    const both = analyse("redis.call('SADD', KEYS[1], KEYS[2])\nredis.call('DEL', KEYS[2])").inputs("keys");
    expect(both.uses.map((u) => u.asKey.length)).toEqual([1, 1]);
  });

  it("computed but bounded indexes are constants", () => {
    const { uses, dynamic } = analyse(
      "for i = 2, 4 do redis.call('GET', KEYS[i]) end\nlocal n = 1\nif ARGV[1] == 'b' then n = 5 end\nredis.call('GET', KEYS[n])",
    ).inputs("keys");
    expect(uses.map((u) => u.index)).toEqual([1, 2, 3, 4, 5]);
    expect(dynamic).toEqual([]);
  });

  it("commands that the table does not know have unknown key positions", () => {
    const effects = analyse("redis.call('JSON.SET', KEYS[1], '$', ARGV[1])");
    expect(effects.keys).toEqual([]);
    expect(effects.unknowns.map((u) => u.kind)).toEqual(["key-positions"]);
    expect(effects.commandsComplete).toBe(true);
  });
});

describe("guards", () => {
  const guardsOf = (text: string, command: string) => {
    const effects = analyse(text);
    return guards(effects.calls.find((c) => c.command === command)!.guards);
  };

  it.each([
    ["in a branch", "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end"],
    [
      "after an early return",
      "local v = redis.call('GET', KEYS[1])\nif v ~= ARGV[1] then return 0 end\nreturn redis.call('DEL', KEYS[1])",
    ],
    [
      "behind a local",
      "local mine = redis.call('GET', KEYS[1]) == ARGV[1]\nif mine then redis.call('DEL', KEYS[1]) end",
    ],
    [
      "behind a flag",
      "local mine = false\nif redis.call('GET', KEYS[1]) == ARGV[1] then mine = true end\nif mine then redis.call('DEL', KEYS[1]) end",
    ],
    [
      "behind a helper",
      "local function owns(k) return redis.call('GET', k) == ARGV[1] end\nif not owns(KEYS[1]) then return 0 end\nredis.call('DEL', KEYS[1])",
    ],
    [
      "behind a helper with several returns",
      "local function owns(k)\n  local v = redis.call('GET', k)\n  if v == ARGV[1] then return true end\n  return false\nend\nif owns(KEYS[1]) then redis.call('DEL', KEYS[1]) end",
    ],
    [
      "behind a code",
      "local function check(k)\n  local v = redis.call('GET', k)\n  if not v then return -1 end\n  if v ~= ARGV[1] then return -2 end\n  return 0\nend\nlocal code = check(KEYS[1])\nif code ~= 0 then return code end\nredis.call('DEL', KEYS[1])",
    ],
    [
      "behind error()",
      "if redis.call('GET', KEYS[1]) ~= ARGV[1] then error('not yours') end\nredis.call('DEL', KEYS[1])",
    ],
    ["behind assert", "assert(redis.call('GET', KEYS[1]) == ARGV[1])\nredis.call('DEL', KEYS[1])"],
    ["with and", "local v = redis.call('GET', KEYS[1])\nif v and v == ARGV[1] then redis.call('DEL', KEYS[1]) end"],
    [
      "with and as a statement value",
      "local done = redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1])\nreturn done",
    ],
    [
      "with or",
      "if redis.call('GET', KEYS[1]) ~= ARGV[1] or ARGV[2] == 'x' then return 0 end\nredis.call('DEL', KEYS[1])",
    ],
    ["in an else", "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 else redis.call('DEL', KEYS[1]) end"],
    ["with a default", "if (redis.call('GET', KEYS[1]) or '') == ARGV[1] then redis.call('DEL', KEYS[1]) end"],
    [
      "through tostring",
      "if tostring(redis.call('GET', KEYS[1])) == tostring(ARGV[1]) then redis.call('DEL', KEYS[1]) end",
    ],
  ])("the owner compare is seen %s", (name, text) => {
    const found = guardsOf(text, "del");
    const expected = name === "with a default" ? '(reply(get) or "") equal ARGV[1]' : "ARGV[1] equal reply(get)";
    expect(found).toContain(expected);
  });

  it.each([
    [
      "beside the branch",
      "local v = redis.call('GET', KEYS[1])\nif v == ARGV[1] then redis.call('HSET', KEYS[2], 'f', 1) end\nredis.call('DEL', KEYS[1])",
    ],
    ["in the wrong branch", "if redis.call('GET', KEYS[1]) == ARGV[1] then return 1 end\nredis.call('DEL', KEYS[1])"],
    [
      "on one of two ways",
      "local v = redis.call('GET', KEYS[1])\nif v == ARGV[1] or ARGV[2] == 'force' then redis.call('DEL', KEYS[1]) end",
    ],
  ])("no compare is made up %s", (_, text) => {
    expect(guardsOf(text, "del")).not.toContain("ARGV[1] equal reply(get)");
  });

  it("what is left of an alternative is known", () => {
    const text =
      "local o = redis.call('HGET', KEYS[1], 'owner')\nif o and o ~= ARGV[1] then return 'HELD' end\nif o == ARGV[1] then return 'MINE' end\nredis.call('HSET', KEYS[1], 'owner', ARGV[1])";
    expect(guardsOf(text, "hset")).toContain("false reply(hget)");
  });

  it("order is kept", () => {
    expect(
      guardsOf(
        "local seen = tonumber(redis.call('GET', KEYS[1]) or '0')\nif tonumber(ARGV[1]) < seen then return 0 end\nredis.call('SET', KEYS[1], ARGV[1])",
        "set",
      ),
    ).toEqual(['(reply(get) or "0") lessOrEqual ARGV[1]']);
  });

  it("what a loop checked for each key holds for each key after it", () => {
    const found = guardsOf(
      "for _, k in ipairs(KEYS) do\n  if redis.call('GET', k) ~= ARGV[1] then return 0 end\nend\nfor _, k in ipairs(KEYS) do redis.call('PEXPIRE', k, ARGV[2]) end",
      "pexpire",
    );
    expect(found).toEqual(["ARGV[1] equal reply(get)"]);
  });

  it.each([
    ["type(v) == 'string'", "true reply(get)"],
    ["type(v) ~= 'string'", "false reply(get)"],
    ["type(v) == 'boolean'", "false reply(get)"],
    ["type(ARGV[1]) == 'nil'", "false ARGV[1]"],
    ["type(tonumber(ARGV[1])) == 'number'", "true ARGV[1]"],
    ["type(redis.pcall('GET', KEYS[1])) == 'string'", '"string" equal type(reply(get))'],
  ])("types of what is there or not: %s", (condition, expected) => {
    const effects = analyse(
      `local v = redis.call('GET', KEYS[1])\nif ${condition} then redis.call('DEL', KEYS[1]) end`,
    );
    expect(guards(effects.calls.at(-1)!.guards)).toEqual([expected]);
  });

  it("what changes in a loop is not taken for constant", () => {
    const effects = analyse(
      "local n = 0\nwhile n < 5 do\n  if n == 0 then redis.call('GET', KEYS[1]) end\n  if n == 3 then redis.call('DEL', KEYS[1]) end\n  n = n + 1\nend\nif n == 0 then redis.call('HGETALL', KEYS[1]) end",
    );
    expect(effects.calls.map((c) => c.command)).toEqual(["get", "del", "hgetall"]);
  });
});

describe("results", () => {
  it("literal results by path, with what holds there", () => {
    const effects = analyse(
      "local v = redis.call('GET', KEYS[1])\nif not v then return 'NOT_FOUND' end\nif v ~= ARGV[1] then return 'LOST' end\nreturn redis.call('PEXPIRE', KEYS[1], ARGV[2])",
    );
    expect(
      effects.results.map((r) => [r.result.kind === "literal" ? r.result.value : r.result.kind, guards(r.guards)]),
    ).toEqual([
      ["NOT_FOUND", ["false reply(get)"]],
      ["LOST", ["true reply(get)", "ARGV[1] different reply(get)"]],
      ["reply", ["true reply(get)", "ARGV[1] equal reply(get)"]],
    ]);
  });

  it("alternatives of a variable and of and/or", () => {
    const effects = analyse("local r = 0\nif redis.call('DEL', KEYS[1]) == 1 then r = 1 end\nreturn r");
    expect(effects.results.map((r) => (r.result.kind === "literal" ? r.result.value : "?"))).toEqual([1, 0]);
    const or = analyse("return redis.call('EXISTS', KEYS[1]) == 1 and 'yes' or 'no'");
    expect(or.results.map((r) => (r.result.kind === "literal" ? r.result.value : "?"))).toEqual(["yes", "no"]);
  });

  it("status, error, list, nothing, error()", () => {
    const kinds = (text: string) => analyse(text).results.map((r) => [r.exit, r.result.kind]);
    expect(kinds("return redis.status_reply('OK')")).toEqual([["return", "status"]]);
    expect(kinds("return { err = 'BAD thing' }")).toEqual([["return", "error"]]);
    expect(kinds("return { 1, ARGV[1] }")).toEqual([["return", "list"]]);
    expect(kinds("redis.call('DEL', KEYS[1])")).toEqual([["end", "literal"]]);
    expect(kinds("error('x')")).toEqual([["error", "literal"]]);
    expect(kinds("return pcall(function() error('x') end)")).toEqual([["return", "literal"]]);
  });

  it("a list is what it holds when it is returned", () => {
    const text = "local t = {}\nif ARGV[1] == 'a' then\n  t[1] = 'x'\n  t[2] = KEYS[1]\n  return t\nend\nreturn t";
    const items = analyse(text).results.map((r) =>
      r.result.kind === "list" ? r.result.items.map((i) => show(i)) : [],
    );
    expect(items).toEqual([['"x"', "KEYS[1]"], []]);
  });

  it("the calls of a path", () => {
    const effects = analyse(
      "if ARGV[1] == 'a' then redis.call('GET', KEYS[1]) return 1 end\nredis.call('DEL', KEYS[1])\nreturn 2",
    );
    expect(effects.results.map((r) => r.calls.map((c) => c.command))).toEqual([["get"], ["del"]]);
  });
});

describe("time to live", () => {
  const missing = (text: string) =>
    analyse(text).missingTtl.map((m) => `${m.call.command}@${line(m.call.at)}${m.unclear ? "?" : ""}`);

  it.each([
    [
      "INCR with PEXPIRE on the first hit",
      "local n = redis.call('INCR', KEYS[1])\nif n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end\nreturn n",
    ],
    [
      "the same with tonumber",
      "local n = tonumber(redis.call('INCR', KEYS[1]))\nif n == 1 then redis.call('EXPIRE', KEYS[1], 60) end",
    ],
    ["n <= 1", "if redis.call('INCR', KEYS[1]) <= 1 then redis.call('EXPIRE', KEYS[1], 60) end"],
    [
      "the counted amount",
      "local n = redis.call('INCRBY', KEYS[1], ARGV[1])\nif n == tonumber(ARGV[1]) then redis.call('EXPIRE', KEYS[1], 60) end",
    ],
    ["HINCRBY", "if redis.call('HINCRBY', KEYS[1], 'f', 1) == 1 then redis.call('EXPIRE', KEYS[1], 60) end"],
    ["a first push", "if redis.call('RPUSH', KEYS[1], 'x') == 1 then redis.call('EXPIRE', KEYS[1], 60) end"],
    [
      "TTL asked afterwards",
      "redis.call('HSET', KEYS[1], 'f', 1)\nif redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], 60) end",
    ],
    [
      "TTL equal -1",
      "redis.call('ZADD', KEYS[1], 1, 'm')\nlocal t = redis.call('PTTL', KEYS[1])\nif t == -1 then redis.call('PEXPIRE', KEYS[1], 60) end",
    ],
    [
      "TTL asked before",
      "if redis.call('PTTL', KEYS[1]) <= 0 then redis.call('SET', KEYS[1], 1, 'PX', 5) return 1 end\nreturn redis.call('INCR', KEYS[1])",
    ],
    [
      "EXISTS asked before",
      "if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SETEX', KEYS[1], 60, 0) end\nredis.call('INCR', KEYS[1])",
    ],
    [
      "a value read before",
      "local v = redis.call('GET', KEYS[1])\nif v then redis.call('INCR', KEYS[1]) else redis.call('SET', KEYS[1], 1, 'EX', ARGV[1]) end",
    ],
    [
      "a value read before, by number",
      "local v = tonumber(redis.call('GET', KEYS[1]) or '0')\nif v > 0 then redis.call('INCR', KEYS[1]) else redis.call('SET', KEYS[1], 1, 'EX', ARGV[1]) end",
    ],
    [
      "KEEPTTL of what is there",
      "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL') end",
    ],
    ["SET NX EX and INCR", "redis.call('SET', KEYS[1], 0, 'EX', 60, 'NX')\nreturn redis.call('INCR', KEYS[1])"],
    [
      "SETNX that failed",
      "if redis.call('SETNX', KEYS[1], 1) == 1 then redis.call('EXPIRE', KEYS[1], 9) return 1 end\nreturn 0",
    ],
    [
      "a helper",
      "local function touch(k) redis.call('PEXPIRE', k, ARGV[1]) end\nredis.call('HSET', KEYS[1], 'f', 1)\ntouch(KEYS[1])",
    ],
    [
      "both branches",
      "redis.call('SADD', KEYS[1], 'm')\nif ARGV[1] == 'l' then redis.call('EXPIRE', KEYS[1], 9) else redis.call('EXPIRE', KEYS[1], 99) end",
    ],
    [
      "a written key that is deleted",
      "redis.call('ZUNIONSTORE', KEYS[1], 1, KEYS[2])\nlocal n = redis.call('ZCARD', KEYS[1])\nredis.call('DEL', KEYS[1])\nreturn n",
    ],
    ["a rename", "redis.call('SET', KEYS[1], 'v', 'EX', 9)\nredis.call('RENAME', KEYS[1], KEYS[2])"],
    [
      "a loop over KEYS",
      "for i = 1, #KEYS do redis.call('HSET', KEYS[i], 'f', 1) end\nfor i = 1, #KEYS do redis.call('EXPIRE', KEYS[i], 9) end",
    ],
    [
      "names made of each key",
      "redis.call('HSET', KEYS[1] .. ':x', 'f', 1)\nfor _, k in ipairs(KEYS) do redis.call('EXPIRE', k .. ':x', 9) end",
    ],
    [
      "the same name built twice",
      "redis.call('HSET', KEYS[1] .. ':x', 'f', 1)\nredis.call('EXPIRE', KEYS[1] .. ':x', 9)",
    ],
    [
      "a condition asked twice",
      "local new = redis.call('EXISTS', KEYS[1]) == 0\nredis.call('HSET', KEYS[1], 'f', 1)\nif new then redis.call('EXPIRE', KEYS[1], 9) end",
    ],
    ...["#out > 0", "next(out) ~= nil", "next(out)", "not (next(out) == nil)"].map((any): [string, string] => [
      any,
      `local out = {}\nwhile #out < 5 do\n  redis.call('ZADD', KEYS[1], 1, #out)\n  out[#out + 1] = 1\nend\nif ${any} then redis.call('EXPIRE', KEYS[1], 9) end`,
    ]),
    ["only reads", "return redis.call('GET', KEYS[1])"],
  ])("covered: %s", (_, text) => {
    expect(missing(text)).toEqual([]);
  });

  it.each([
    ["INCR alone", "return redis.call('INCR', KEYS[1])", ["incr@1"]],
    [
      "a path without",
      "local n = redis.call('INCR', KEYS[1])\nif ARGV[1] == 'x' then redis.call('EXPIRE', KEYS[1], 9) end",
      ["incr@1"],
    ],
    [
      "an early return before EXPIRE",
      "redis.call('HSET', KEYS[1], 'f', 1)\nif ARGV[1] == 'x' then return 0 end\nredis.call('EXPIRE', KEYS[1], 9)",
      ["hset@1"],
    ],
    ["SET drops the time to live", "redis.call('EXPIRE', KEYS[1], 9)\nredis.call('SET', KEYS[1], 'v')", ["set@2"]],
    ["PERSIST", "redis.call('SET', KEYS[1], 'v', 'EX', 9)\nredis.call('PERSIST', KEYS[1])", ["persist@2"]],
    ["EXPIRE on another key", "redis.call('HSET', KEYS[1], 'f', 1)\nredis.call('EXPIRE', KEYS[2], 9)", ["hset@1"]],
    [
      "EXPIRE before the key is there",
      "redis.call('EXPIRE', KEYS[1], 9)\nredis.call('HSET', KEYS[1], 'f', 1)",
      ["hset@2"],
    ],
    [
      "EXPIRE XX does nothing to a new key",
      "redis.call('HSET', KEYS[1], 'f', 1)\nredis.call('EXPIRE', KEYS[1], 9, 'XX')",
      ["hset@1"],
    ],
    [
      "the wrong first hit",
      "local n = redis.call('INCR', KEYS[1])\nif n == 2 then redis.call('EXPIRE', KEYS[1], 9) end",
      ["incr@1"],
    ],
    [
      "what is written after the expiry in a loop over KEYS",
      "for _, k in ipairs(KEYS) do redis.call('EXPIRE', k, 9) redis.call('SET', KEYS[1], 1) end",
      ["set@1"],
    ],
    ["options from ARGV are unclear", "redis.call('SET', KEYS[1], 'v', ARGV[1], ARGV[2])", ["set@1?"]],
    ["an unknown call is unclear", "redis.call('HSET', KEYS[1], 'f', 1)\nhelper(KEYS[1])", ["hset@1?"]],
  ])("missing: %s", (_, text, expected) => {
    expect(missing(text)).toEqual(expected);
  });

  it.each([
    "for _, k in ipairs(KEYS) do redis.call('EXPIRE', k, 9) end",
    "for i = 1, #KEYS do redis.call('EXPIRE', KEYS[i], 9) end",
    "for i = 1, 2 do redis.call('EXPIRE', KEYS[i], 9) end",
    "for i = 2, 1, -1 do redis.call('EXPIRE', KEYS[i], 9) end",
    "for _, k in ipairs({ KEYS[1], KEYS[2] }) do redis.call('EXPIRE', k, 9) end",
    "for _, k in pairs({ a = KEYS[1], b = KEYS[2] }) do redis.call('EXPIRE', k, 9) end",
    "local all = { KEYS[1], KEYS[2] }\nfor i = 1, #all do redis.call('EXPIRE', all[i], 9) end",
    "for i = 1, 12 do redis.call('EXPIRE', KEYS[i], 9) end",
  ])("covered by a loop: %s", (loop) => {
    expect(missing(`redis.call('HSET', KEYS[1], 'f', 1)\nredis.call('SADD', KEYS[2], 'm')\n${loop}`)).toEqual([]);
  });

  it.each([
    "for i = 2, #KEYS do redis.call('EXPIRE', KEYS[i], 9) end",
    "for i = 2, 3 do redis.call('EXPIRE', KEYS[i], 9) end",
    "for i = 2, 12 do redis.call('EXPIRE', KEYS[i], 9) end",
    "for i = 1, #ARGV do redis.call('EXPIRE', KEYS[i], 9) end",
    "for _, k in ipairs(KEYS) do if k == ARGV[1] then redis.call('EXPIRE', k, 9) end end",
    "for _, k in ipairs(KEYS) do if k == ARGV[1] then break end redis.call('EXPIRE', k, 9) end",
    "for i = 1, 3 do if ARGV[i] == 'x' then break end redis.call('EXPIRE', KEYS[i], 9) end",
    "for _, k in ipairs({ KEYS[2], KEYS[3] }) do redis.call('EXPIRE', k, 9) end",
    "for _, k in ipairs(KEYS) do redis.call('EXPIRE', k .. ':x', 9) end",
  ])("missing in a loop: %s", (loop) => {
    expect(missing(`redis.call('HSET', KEYS[1], 'f', 1)\n${loop}`)).toEqual(["hset@1"]);
  });

  it("a bound is what the script enforces", () => {
    const bound = (text: string) => analyse(text).ttls.map((t) => [t.unit, t.max, t.argv]);
    expect(bound("redis.call('EXPIRE', KEYS[1], 60)")).toEqual([["seconds", 60, []]]);
    expect(bound("redis.call('PEXPIRE', KEYS[1], math.min(tonumber(ARGV[1]), 5000))")).toEqual([
      ["milliseconds", 5000, [1]],
    ]);
    expect(
      bound("local t = tonumber(ARGV[2])\nif t > 1000 then t = 1000 end\nredis.call('SET', KEYS[1], 'v', 'PX', t)"),
    ).toEqual([["milliseconds", 1000, [2]]]);
    expect(
      bound(
        "local t = tonumber(ARGV[2])\nif t > 1000 then return redis.error_reply('TTL') end\nredis.call('SET', KEYS[1], 'v', 'PX', t)",
      ),
    ).toEqual([["milliseconds", 1000, [2]]]);
    expect(bound("local t = tonumber(ARGV[2]) * 1000\nredis.call('PEXPIRE', KEYS[1], t)")).toEqual([
      ["milliseconds", undefined, [2]],
    ]);
    expect(bound("local t = ARGV[2]\nif tonumber(t) < 10 then t = 10 end\nredis.call('PEXPIRE', KEYS[1], t)")).toEqual([
      ["milliseconds", undefined, [2]],
    ]);
  });

  it.each([
    ["if asked > left then asked = left end", "asked", 45000],
    ["local life = asked\nif left < life then life = left end", "life", 45000],
    ["local life = left\nif left >= asked then life = asked end", "life", 45000],
    ["if asked < left then asked = left end", "asked", undefined],
    ["", "asked > left and asked or left", undefined],
    ["if asked ~= left then asked = left end", "asked", undefined],
  ])("what is at most something bounded is bounded: %s %s", (before, time, expected) => {
    const text = `local asked = tonumber(ARGV[1]) or 0\nif asked > 45000 then return 0 end\nlocal left = redis.call('PTTL', KEYS[2])\n${before}\nredis.call('PEXPIRE', KEYS[1], ${time})`;
    expect(analyse(text).ttls.map((t) => t.max)).toEqual([expected]);
  });

  it("a window that restarts on each hit", () => {
    const restarts = (text: string) => analyse(text).ttls.map((t) => t.restarts);
    expect(restarts("local n = redis.call('INCR', KEYS[1])\nredis.call('EXPIRE', KEYS[1], 9)")).toEqual([true]);
    expect(
      restarts("local n = redis.call('INCR', KEYS[1])\nif n == 1 then redis.call('EXPIRE', KEYS[1], 9) end"),
    ).toEqual([false]);
    expect(restarts("redis.call('INCR', KEYS[1])\nredis.call('EXPIRE', KEYS[1], 9, 'NX')")).toEqual([false]);
    expect(
      restarts(
        "redis.call('INCR', KEYS[1])\nif redis.call('TTL', KEYS[1]) == -1 then redis.call('EXPIRE', KEYS[1], 9) end",
      ),
    ).toEqual([false]);
    expect(restarts("redis.call('HSET', KEYS[1], 'f', 1)\nredis.call('EXPIRE', KEYS[1], 9)")).toEqual([false]);
  });
});

describe("bounds", () => {
  const found = (text: string) =>
    analyse(text).unbounded.map((u) => `${u.call.command} ${u.kind} ${u.bound?.kind ?? "-"}`);
  it.each([
    ["HGETALL", "return redis.call('HGETALL', KEYS[1])", ["hgetall whole -"]],
    [
      "a size test",
      "if redis.call('HLEN', KEYS[1]) > 100 then return 0 end\nreturn redis.call('HGETALL', KEYS[1])",
      ["hgetall whole size"],
    ],
    [
      "a size test of another key",
      "if redis.call('HLEN', KEYS[2]) > 100 then return 0 end\nreturn redis.call('HGETALL', KEYS[1])",
      ["hgetall whole -"],
    ],
    ["LRANGE 0 -1", "return redis.call('LRANGE', KEYS[1], 0, -1)", ["lrange index-range -"]],
    ["LRANGE 0 99", "return redis.call('LRANGE', KEYS[1], 0, 99)", []],
    ["the last ten", "return redis.call('LRANGE', KEYS[1], -10, -1)", []],
    [
      "after LTRIM",
      "redis.call('LTRIM', KEYS[1], 0, 99)\nreturn redis.call('LRANGE', KEYS[1], 0, -1)",
      ["lrange index-range trim"],
    ],
    ["a limit from ARGV", "return redis.call('ZRANGE', KEYS[1], 0, ARGV[1])", ["zrange index-range argv"]],
    ["a clamped limit", "return redis.call('ZRANGE', KEYS[1], 0, math.min(tonumber(ARGV[1]), 50))", []],
    ["ZRANGEBYSCORE", "return redis.call('ZRANGEBYSCORE', KEYS[1], 0, ARGV[1])", ["zrangebyscore score-range -"]],
    [
      "ZRANGEBYSCORE LIMIT with a negative count",
      "redis.call('ZRANGEBYSCORE', KEYS[1], 0, 9, 'LIMIT', 0, -1)",
      ["zrangebyscore score-range -"],
    ],
    [
      "ZRANGE BYSCORE LIMIT with a negative count",
      "redis.call('ZRANGE', KEYS[1], 0, 9, 'BYSCORE', 'LIMIT', 0, -1)",
      ["zrange index-range -"],
    ],
    ["ZRANGE BYSCORE LIMIT", "redis.call('ZRANGE', KEYS[1], 0, 9, 'BYSCORE', 'LIMIT', 0, ARGV[1])", []],
    ["ZRANGEBYSCORE LIMIT", "return redis.call('ZRANGEBYSCORE', KEYS[1], 0, ARGV[1], 'LIMIT', 0, 10)", []],
    [
      "SCAN in a loop",
      "local c = '0'\nrepeat\n  local r = redis.call('SCAN', c)\n  c = r[1]\nuntil c == '0'",
      ["scan scan -"],
    ],
    ["one SCAN", "return redis.call('SCAN', ARGV[1])", []],
    ["KEYS", "return redis.call('KEYS', ARGV[1])", ["keys keyspace -"]],
    ["SORT", "return redis.call('SORT', KEYS[1])", ["sort sort -"]],
  ])("%s", (_, text, expected) => {
    expect(found(text)).toEqual(expected);
  });
});

describe("other facts", () => {
  it("TIME then a write", () => {
    const pair = analyse("local t = redis.call('TIME')\nredis.call('SET', KEYS[1], t[1])").writeAfterTime;
    expect([pair?.time.command, pair?.write.command]).toEqual(["time", "set"]);
    expect(analyse("redis.call('SET', KEYS[1], 1)\nreturn redis.call('TIME')").writeAfterTime).toBeUndefined();
  });

  it("globals, unused functions, versioned library members", () => {
    const effects = analyse("x = 1\nlocal function f() end\nredis.setresp(3)");
    expect(effects.globals.map(place)).toEqual(["script.lua:1:1"]);
    expect(effects.unusedFunctions).toEqual(["f"]);
    expect(effects.apis.map((a) => a.name)).toEqual(["redis.setresp"]);
  });

  it("a number and a text are never equal; too many locals are refused", () => {
    const never = (text: string) => analyse(text).neverEqual.map(place);
    expect(never("if redis.call('INCRBY', KEYS[1], ARGV[1]) == ARGV[1] then return 1 end")).toEqual(["script.lua:1:4"]);
    expect(never("if redis.call('GET', KEYS[1]) == 1 then return 1 end")).toEqual(["script.lua:1:4"]);
    expect(never("if redis.call('INCRBY', KEYS[1], ARGV[1]) == tonumber(ARGV[1]) then return 1 end")).toEqual([]);
    expect(never("if redis.call('GET', KEYS[1]) == ARGV[1] or #KEYS == 1 then return 1 end")).toEqual([]);
    const locals = (n: number) => Array.from({ length: n }, (_, i) => `local a${i} = ${i}`).join("\n");
    expect(analyse(locals(200)).refused).toEqual([]);
    expect(analyse(locals(201)).refused.map((r) => place(r.at))).toEqual(["script.lua:201:1"]);
  });

  it("a guarded call is marked", () => {
    const effects = analyse(
      "redis.pcall('GET', KEYS[1])\nredis.call('GET', KEYS[2])\npcall(redis.call, 'GET', KEYS[3])",
    );
    expect(effects.calls.map((c) => c.guarded)).toEqual([true, false, true]);
    expect(place(effects.calls[2]!.commandAt)).toBe("script.lua:3:19");
  });

  it("shows terms", () => {
    const effects = analyse("return KEYS[1] .. ARGV[1]");
    expect(effects.results.map((r) => show(r.term))).toEqual(["KEYS[1]..ARGV[1]"]);
    expect(effects.originsOf(effects.results[0]!.term).map(origin)).toEqual(["derived:<keys1><argv1>"]);
  });
});
