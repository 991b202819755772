import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { packTables, type RecordedTable, tableId } from "../../src/dev/redis-tables.js";
import {
  type Command,
  type CommandTable,
  channelsOf,
  databasesOf,
  keysOf,
  type PackedTables,
  readSpec,
} from "../../src/model/redis/commands.js";
import { commandTable, resolveServer, serverNames } from "../../src/model/redis/servers.js";
import { sha256 } from "../../src/model/redis/sha256.js";

const table = (id: string): CommandTable => commandTable(id)!;

describe("server names", () => {
  it("ship for every version of the interface, each with its Sentinel", () => {
    const wanted =
      "redis-6.2 redis-7.0 redis-7.0-debian redis-7.2 redis-7.4 redis-8.0 valkey-7.2 valkey-8.0 valkey-8.1 valkey-9.1";
    for (const name of wanted.split(" ")) {
      expect(serverNames).toContain(name);
      expect(commandTable(name)?.get("get")?.arity).toBe(2);
      const sentinel = commandTable(`${name}/sentinel`)!;
      expect(sentinel.get("get")).toBeUndefined();
      expect(sentinel.get("sentinel")).toBeDefined();
    }
    expect(commandTable("redis-1.0")).toBeUndefined();
  });

  it.each([
    ["7.2", "redis-7.2", undefined],
    ["redis-7.2", "redis-7.2", undefined],
    ["Redis 7.2.5", "redis-7.2", undefined],
    ["redis:7.4.1-alpine", "redis-7.4", undefined],
    ["v8.0", "redis-8.0", undefined],
    ["valkey-8.0", "valkey-8.0", undefined],
    ["valkey 8.0.1", "valkey-8.0", undefined],
    ["valkey/valkey:8.1", undefined, undefined],
    ["redis-7.0-debian", "redis-7.0-debian", undefined],
    ["7.0.15-1~deb12u5", "redis-7.0-debian", undefined],
    ["7.2/sentinel", "redis-7.2/sentinel", undefined],
    ["redis-7.0-debian/sentinel", "redis-7.0-debian/sentinel", undefined],
    ["redis-8.6", "redis-8.0", "no table for redis 8.6: judged as redis-8.0"],
    ["7", "redis-7.4", "no table for redis 7: judged as redis-7.4"],
    ["valkey-9.0", "valkey-8.1", "no table for valkey 9.0: judged as valkey-8.1"],
    ["5.0.3", "redis-6.0", "redis 5.0.3 is older than every table: judged as redis-6.0"],
    ["valkey 6.2", "valkey-7.2", "valkey 6.2 is older than every table: judged as valkey-7.2"],
    ["6.0/sentinel", "redis-6.2/sentinel", "no Sentinel table for redis 6.0: judged as redis-6.2/sentinel"],
    ["latest", undefined, undefined],
    ["", undefined, undefined],
  ])("%s", (name, id, note) => {
    const server = resolveServer(name);
    expect(server?.id).toBe(id);
    expect(server?.note).toBe(note);
  });

  it("keep a written patch level", () => {
    expect(resolveServer("7.2.9")!.version).toEqual([7, 2, 9]);
    expect(resolveServer("7.2")!.version).toEqual([7, 2, 6]);
    expect(resolveServer("8.9.1")!.version).toEqual([8, 0, 6]);
  });
});

describe("command tables", () => {
  it("hold what the servers print", () => {
    const t = table("redis-7.2");
    expect(t.get("CONFIG|get")).toMatchObject({
      name: "config|get",
      arity: -3,
      categories: ["admin", "slow", "dangerous"],
    });
    expect(t.get("set")).toMatchObject({ group: "string", since: "1.0.0", categories: ["write", "string", "slow"] });
    expect(t.get("georadius")!.deprecatedSince).toBe("6.2.0");
    expect(t.lookup(["Config", "GET", "x"])!.name).toBe("config|get");
    expect(t.lookup(["config"])!.name).toBe("config");
    expect(t.lookup(["config", "nosuch"])).toBeUndefined();
    expect(t.lookup(["config|get"])).toBeUndefined();
    expect(t.lookup([])).toBeUndefined();
    expect(table("redis-8.0").get("vadd")!.name).toBe("VADD");
    expect(table("redis-6.2").get("config|get")).toBeUndefined();
    expect(table("redis-7.4").get("hexpire")).toBeDefined();
    expect(table("redis-7.2").get("hexpire")).toBeUndefined();
  });

  it("touch a container's subcommands by the container's category", () => {
    const t = table("redis-7.2");
    const slow = t.touchedByCategory(t.categoryIndex("SLOW")).map((c) => c.name);
    expect(slow).toContain("config|set");
    expect(t.categoryIndex("nosuch")).toBe(-1);
  });

  it("unpack quickly", () => {
    const packed = JSON.parse(
      readFileSync(new URL("../../schemas/redis/commands.json", import.meta.url), "utf8"),
    ) as PackedTables;
    const started = process.cpuUsage();
    const { CommandTable: Table } = { CommandTable: table("redis-7.2").constructor as typeof CommandTable };
    for (const [id, server] of Object.entries(packed.servers)) Table.unpack(id, packed, server);
    const used = process.cpuUsage(started);
    // 22 tables; each of them has 5 ms, and a busy machine four times that
    expect((used.user + used.system) / 1000).toBeLessThan(22 * 20);
  });
});

const keys = (id: string, ...argv: string[]): string[] => {
  const t = table(id);
  const command: Command = t.modern ? t.lookup(argv)! : t.get(argv[0]!)!;
  return keysOf(command, argv, t.modern).map((k) => `${["", "R:", "W:", "RW:"][k.access]}${argv[k.index]}`);
};

describe("keys of a call", () => {
  it.each([
    ["GET a", "R:a"],
    ["SET a v", "W:a"],
    ["SET a v NX GET", "RW:a"],
    ["EXISTS a b", "a b"],
    ["MSET a 1 b 2", "W:a W:b"],
    ["BITFIELD a GET u8 0", "R:a"],
    ["BITFIELD a OVERFLOW SAT GET u8 0 INCRBY u8 0 1", "RW:a"],
    ["BITFIELD a", "R:a"],
    ["EVAL s 2 a b x", "RW:a RW:b"],
    ["EVAL s 0", ""],
    ["EVAL s 9 a", ""],
    ["EVAL s 01 a", "a"],
    ["EVAL_RO s 1 a", "R:a"],
    ["ZUNIONSTORE d 2 a b", "W:d R:a R:b"],
    ["SINTERCARD x a", ""],
    ["LMPOP 1 a LEFT", "RW:a"],
    ["BLMPOP 0 1 a LEFT", "RW:a"],
    ["SORT a BY w LIMIT 0 1 STORE d", "R:a W:d"],
    ["SORT a STORE d STORE e", "R:a W:e"],
    ["SORT a BY store", "R:a"],
    ["MIGRATE h 1 a 0 1", "RW:a"],
    ["GEORADIUS a 0 0 1 m STORE d", "R:a W:d"],
    ["GEORADIUS a 0 0 1 m STORE", "R:a"],
    ["XREAD COUNT 1 STREAMS a b 0 0", "R:a R:b"],
    ["XREAD STREAMS a", ""],
    ["XREADGROUP GROUP g c STREAMS a >", "R:a"],
    ["COPY a b", "R:a W:b"],
    ["RENAME a b", "RW:a W:b"],
    ["OBJECT FREQ a", "a"],
    ["SPUBLISH c m", ""],
    ["PING", ""],
  ])("%s", (call, wanted) => {
    expect(keys("redis-7.2", ...call.split(" ")).join(" ")).toBe(wanted);
  });

  it("depend on the version", () => {
    const migrate = ["MIGRATE", "h", "1", "", "0", "1", "KEYS", "a", "b"];
    expect(keys("redis-7.2", ...migrate)).toEqual(["RW:a", "RW:b"]);
    expect(keys("redis-6.2", ...migrate)).toEqual(["a", "b"]);
    expect(keys("redis-7.2", "MIGRATE", "h", "1", "k", "0", "1", "AUTH", "KEYS", "x")).toEqual(["RW:k"]);
    const twice = ["GEORADIUS", "a", "0", "0", "1", "m", "STORE", "d", "STORE", "e"];
    expect(keys("valkey-9.1", ...twice)).toEqual(["R:a", "W:d", "W:e"]);
    expect(keys("valkey-9.1", "MSETEX", "2", "a", "1", "b", "2", "EX", "9")).toEqual(["W:a", "W:b"]);
    expect(keys("redis-6.2", "SET", "a", "v", "GET")).toEqual(["a"]);
    expect(keys("redis-6.2", "MEMORY", "USAGE", "a")).toEqual(["a"]);
    expect(keys("redis-6.2", "MEMORY", "DOCTOR")).toEqual([]);
    expect(keys("redis-6.2", "OBJECT", "HELP")).toEqual([]);
    expect(keys("redis-6.2", "STRALGO", "LCS", "KEYS", "a", "b")).toEqual(["a", "b"]);
    expect(keys("redis-6.2", "STRALGO", "LCS", "STRINGS", "a", "b")).toEqual([]);
    expect(keys("redis-6.2", "BITOP", "AND", "d", "a", "b")).toEqual(["d", "a", "b"]);
    expect(keys("redis-6.2", "EVAL", "s", "1", "a")).toEqual(["a"]);
  });

  it("have channels and databases beside them", () => {
    const t = table("valkey-9.1");
    const of = (...argv: string[]): Command => t.lookup(argv)!;
    expect(channelsOf(of("PSUBSCRIBE", "a"), ["PSUBSCRIBE", "a*", "b"])).toEqual([
      { index: 1, pattern: true },
      { index: 2, pattern: true },
    ]);
    expect(channelsOf(of("PUBLISH"), ["PUBLISH", "a", "m"])).toEqual([{ index: 1, pattern: false }]);
    expect(channelsOf(of("UNSUBSCRIBE"), ["UNSUBSCRIBE", "a"])).toEqual([]);
    expect(databasesOf(of("COPY"), ["COPY", "a", "b", "DB", "3", "DB", "4"])).toEqual({
      positions: [4, 6],
      current: true,
      all: false,
    });
    expect(databasesOf(of("PING"), ["PING"])).toEqual({ positions: [], current: false, all: false });
    expect(databasesOf(of("FLUSHALL"), ["FLUSHALL"]).all).toBe(true);
  });

  it("read the packed form of key specs", () => {
    expect(readSpec("OW,update kSTORE:6 r0,1,0")).toMatchObject({
      begin: { keyword: "STORE", from: 6 },
      find: { last: 0, step: 1, limit: 0 },
      access: 2,
    });
    expect(readSpec("RO,access ? ?")).toMatchObject({ begin: undefined, find: undefined, access: 1 });
  });
});

describe("sha256", () => {
  it.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    ["a".repeat(55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"],
    ["a".repeat(56), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"],
    ["a".repeat(64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"],
    ["a".repeat(1000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"],
  ])("of %j", (text, hash) => {
    expect(sha256(text)).toBe(hash);
  });
});

const recorded = new URL("../../../shared/truth/tables/", import.meta.url);
describe.runIf(existsSync(recorded))("the packed tables", () => {
  it("are those that were recorded", async () => {
    const { readdirSync } = await import("node:fs");
    const tables = new Map<string, RecordedTable>();
    for (const file of readdirSync(recorded).sort()) {
      if (!file.endsWith(".json")) continue;
      const content = JSON.parse(readFileSync(new URL(file, recorded), "utf8")) as RecordedTable;
      if (content.format !== "redis-command-table/1" || Object.keys(content.commands ?? {}).length === 0) continue;
      tables.set(tableId(file, content), content);
    }
    tables.set("redis-7.0-debian/sentinel", tables.get("redis-7.0/sentinel")!);
    const packed = JSON.parse(
      readFileSync(new URL("../../schemas/redis/commands.json", import.meta.url), "utf8"),
    ) as PackedTables;
    expect(packTables(tables)).toEqual(packed);
    for (const [id, content] of tables) {
      const own = table(id);
      for (const [name, command] of Object.entries(content.commands ?? {})) {
        expect(own.get(name)).toMatchObject({ name, arity: command.arity });
        expect([...own.get(name)!.categories].sort()).toEqual(command.aclCategories);
        expect([...own.get(name)!.flags].sort()).toEqual([...command.flags].sort());
        expect(own.get(name)!.specs.length).toBe(command.keySpecs?.length ?? 0);
        for (const sub of Object.keys(command.subcommands ?? {})) expect(own.get(`${name}|${sub}`)).toBeDefined();
      }
    }
  });
});
