/**
 * The golden programs on a real server, as the golden ACL user: what they answer, what they send, what the ACL line must have
 * for them, and what happens when two clients race.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { prepareParsers } from "../../src/cli/parsers.js";
import { load } from "../../src/contract/load.js";
import { memoryHost } from "../../src/contract/memory.js";
import { analyseScript } from "../../src/model/program/effects.js";
import { tableSpecs } from "../../src/model/program/keyspecs.js";
import { suggestedLine, suggestUser } from "../../src/model/program/suggest.js";
import { globMatch, keyPatternGlob } from "../../src/model/redis/glob.js";
import { commandTable } from "../../src/model/redis/servers.js";
import { ACL_FILE, programs } from "../program/golden.js";
import { document } from "../program/support.js";
import { fixtureBase, TODAY } from "../support.js";
import { scenario } from "./program-calls.js";
import { commandOf, ScriptServer } from "./script-server.js";
import { findServer, type RedisClient, type Reply, ReplyError, type Server, sleep, until } from "./util.js";

const server = findServer();
const modern = typeof server !== "string" && Number(server.version.split(".")[0]) >= 7;
if (!modern)
  console.log(`live programs: ${typeof server === "string" ? server : `redis ${server.version} is too old`}`);

const byId = new Map(programs.map((p) => [p.id, p]));
const RULES = readFileSync(ACL_FILE, "utf8")
  .split("\n")
  .find((l) => l.startsWith("user app "))!
  .split(" ")
  .slice(2)
  .map((rule) => (rule.startsWith(">") ? ">secret" : rule));
const DENIED = /^NOPERM|ACL failure|can't run this command|can't access/;
const denied = (reply: Reply): boolean => reply instanceof ReplyError && DENIED.test(reply.message);

/** As a client library does: EVALSHA, and SCRIPT LOAD when the server has forgotten the script. */
async function call(client: RedisClient, id: string, keys: readonly string[], args: readonly string[]): Promise<Reply> {
  const { program, text } = byId.get(id)!;
  const words = ["EVALSHA", program.sha1!.value, String(keys.length), ...keys, ...args];
  const reply = await client.command(words);
  if (!(reply instanceof ReplyError) || !reply.message.startsWith("NOSCRIPT")) return reply;
  const loaded = await client.command(["SCRIPT", "LOAD", text]);
  return loaded instanceof ReplyError ? loaded : client.command(words);
}

describe.runIf(modern)("golden programs on a live server", () => {
  let live: ScriptServer;
  let first: RedisClient;
  let second: RedisClient;

  async function grant(rules: readonly string[]): Promise<void> {
    expect(await live.admin.command(["ACL", "SETUSER", "app", "reset", ...rules])).toBe("OK");
  }

  beforeAll(async () => {
    live = await ScriptServer.start(server as Server, "programs");
    await grant(RULES);
    first = await live.connect();
    second = await live.connect();
    for (const client of [first, second]) expect(await client.command(["AUTH", "app", "secret"])).toBe("OK");
  });

  afterAll(async () => {
    first?.close();
    second?.close();
    await live?.stop();
  });

  beforeEach(async () => {
    await live.admin.command(["FLUSHALL"]);
    await live.admin.command(["SCRIPT", "FLUSH"]);
  });

  it("every program runs with the golden user, sends what was computed and touches what is declared", async () => {
    const specs = tableSpecs(commandTable("redis-7.0")!);
    const unused = new Map(programs.map((p) => [p.id, new Set(p.program.commands.map((c) => c.value.toLowerCase()))]));
    const wrong: string[] = [];
    await scenario(async (id, keys, args, expected) => {
      const { program, text } = byId.get(id)!;
      const effects = analyseScript(document(text), specs);
      keys.forEach((key, i) => {
        expect(globMatch(keyPatternGlob(program.keys[i]!.pattern.value), key), `${id} ${key}`).toBe(true);
      });
      const { result, sent } = await live.watch(() => call(first, id, keys, args));
      for (const argv of sent) {
        const name = commandOf(argv);
        unused.get(id)!.delete(name);
        if (!effects.commands.has(name)) wrong.push(`${id} sends ${name}`);
        for (const k of specs.keysOf(argv) ?? []) {
          if (!keys.includes(argv[k.index]!)) wrong.push(`${id} touches ${argv[k.index]}`);
        }
      }
      const shown = result instanceof ReplyError ? result.message : result;
      if (expected !== undefined) expect([id, args, shown]).toEqual([id, args, expected]);
      expect(result, `${id} ${args}`).not.toBeInstanceOf(ReplyError);
      return result;
    });
    expect(wrong).toEqual([]);
    // The declared commands are seen, so none is declared in vain.
    expect([...unused].flatMap(([id, names]) => [...names].map((n) => `${id}: ${n}`))).toEqual([]);
  });

  it("leaves nothing without a time to live but the counter and the watermark", async () => {
    await scenario((id, keys, args) => call(first, id, keys, args));
    const all = (await live.admin.command(["KEYS", "*"])) as string[];
    const immortal: string[] = [];
    for (const key of all) if ((await live.admin.command(["PTTL", key])) === -1) immortal.push(key);
    const durable = programs.flatMap(({ program }) =>
      program.ttl
        .filter((t) => t.durable)
        .map((t) => program.keys.find((k) => k.name.value === t.key.value)!.pattern.value),
    );
    expect(immortal.length).toBeGreaterThan(0);
    for (const key of immortal)
      expect(
        durable.some((d) => globMatch(keyPatternGlob(d), key)),
        key,
      ).toBe(true);
  });

  it("needs every rule of the golden line", { timeout: 120_000 }, async () => {
    const useless: string[] = [];
    for (const rule of RULES) {
      if (!/^[~+]/.test(rule)) continue;
      await live.admin.command(["FLUSHALL"]);
      await live.admin.command(["SCRIPT", "FLUSH"]);
      await grant(RULES.filter((r) => r !== rule));
      expect(await first.command(["AUTH", "app", "secret"])).toBe("OK");
      let needed = false;
      const note = (reply: Reply): Reply => {
        needed ||= denied(reply);
        return reply;
      };
      note(await first.command(["PING"]));
      note(await first.command(["SET", "app:{t1}:cfg:a", "1"]));
      note(await first.command(["GET", "app:{t1}:cfg:a"]));
      note(await first.command(["DEL", "app:{t1}:cfg:a"]));
      await scenario(async (id, keys, args) => note(await call(first, id, keys, args)));
      if (!needed) useless.push(rule);
    }
    await grant(RULES);
    expect(useless).toEqual([]);
  });

  it("the suggested line is enough", async () => {
    const { roots } = load(memoryHost(fixtureBase("redis-lab")!), ["/tree"], {
      ruleIds: [],
      today: TODAY,
      config: undefined,
    });
    const contract = roots[0]!.contracts[0]!;
    await prepareParsers(contract);
    await grant(suggestedLine(suggestUser(contract, "app"), [">secret"]).split(" ").slice(2));
    expect(await first.command(["AUTH", "app", "secret"])).toBe("OK");
    const refused: string[] = [];
    const note = (what: string, reply: Reply): Reply => {
      if (denied(reply)) refused.push(what);
      return reply;
    };
    for (const words of [
      ["PING"],
      ["SET", "app:{t1}:cfg:a", "1"],
      ["GET", "app:{t1}:cfg:a"],
      ["DEL", "app:{t1}:cfg:a"],
    ]) {
      note(words.join(" "), await first.command(words));
    }
    await scenario(async (id, keys, args) => note(id, await call(first, id, keys, args)));
    await grant(RULES);
    expect(refused).toEqual([]);
  });

  it("is denied what no program needs", async () => {
    for (const words of [
      ["EVAL", "return 1", "0"],
      ["SCRIPT", "FLUSH"],
      ["KEYS", "*"],
      ["GET", "other"],
      ["EXPIRE", "app:{t1}:cfg:a", "1"],
      ["SUBSCRIBE", "news"],
    ]) {
      expect(denied(await first.command(words)), words.join(" ")).toBe(true);
    }
  });

  const [lease, hold] = ["app:{t1}:lease:owner:job", "app:{t1}:lease:hold:job"];
  const [lock, counter, renewable] = ["app:{t1}:fence:lease:x", "app:{t1}:fence:counter:x", "app:{t1}:fence:hold:x"];
  const resource = "app:{t1}:fence:resource:x";
  const expired = (key: string) => until(async () => (await live.admin.command(["EXISTS", key])) === 0, 3_000, 5);

  it("two clients race for a lease: one holds it; what the other does harms nobody", async () => {
    const answers = await Promise.all([
      call(first, "lease-acquire", [lease, hold], ["a", "1", "60000"]),
      call(second, "lease-acquire", [lease, hold], ["b", "1", "60000"]),
    ]);
    expect([...answers].sort()).toEqual(["ACQUIRED", "HELD"]);
    const [winner, loser] = answers[0] === "ACQUIRED" ? (["a", "b"] as const) : (["b", "a"] as const);
    // A repeated acquire whose answer was lost is the same acquire; the same owner's other operation is not.
    expect(await call(first, "lease-acquire", [lease, hold], [winner, "1", "60000"])).toBe("ACQUIRED");
    expect(await call(first, "lease-acquire", [lease, hold], [winner, "2", "60000"])).toBe("HELD");
    for (const id of ["lease-renew", "lease-release"]) {
      const time = id === "lease-renew" ? ["60000"] : [];
      expect(await call(second, id, [lease, hold], [loser, "1", ...time])).toBe("LOST");
      expect(await call(second, id, [lease, hold], [winner, "2", ...time])).toBe("LOST");
    }
    expect(await call(first, "lease-renew", [lease, hold], [winner, "1", "60000"])).toBe("RENEWED");
    expect(await call(first, "lease-release", [lease, hold], [winner, "1"])).toBe("RELEASED");
    expect(await call(first, "lease-release", [lease, hold], [winner, "1"])).toBe("NOT_FOUND");
    expect(await call(second, "lease-acquire", [lease, hold], [loser, "1", "60000"])).toBe("ACQUIRED");
  });

  it("an expired owner cannot renew or release a lease, and is told that it lost it", async () => {
    expect(await call(first, "lease-acquire", [lease, hold], ["a", "1", "20"])).toBe("ACQUIRED");
    expect(await expired(lease)).toBe(true);
    expect(await call(first, "lease-inspect", [lease, hold], ["a", "1"])).toEqual(["LOST", 0]);
    expect(await call(first, "lease-renew", [lease, hold], ["a", "1", "60000"])).toBe("LOST");
    expect(await call(second, "lease-acquire", [lease, hold], ["b", "1", "60000"])).toBe("ACQUIRED");
    expect(await call(first, "lease-renew", [lease, hold], ["a", "1", "60000"])).toBe("LOST");
    expect(await call(first, "lease-release", [lease, hold], ["a", "1"])).toBe("LOST");
    expect(await call(second, "lease-inspect", [lease, hold], ["b", "1"])).toEqual(["HELD", expect.any(Number)]);
    expect(await call(second, "lease-inspect", [lease, hold], ["c", "1"])).toEqual(["LOST", 0]);
  });

  it("a lease is not renewed beyond its hold", async () => {
    expect(await call(first, "lease-acquire", [lease, hold], ["a", "1", "60000"])).toBe("ACQUIRED");
    await live.admin.command(["PEXPIRE", hold, "500"]);
    expect(await call(first, "lease-renew", [lease, hold], ["a", "1", "60000"])).toBe("RENEWED");
    expect(await live.admin.command(["PTTL", lease])).toBeLessThanOrEqual(500);
    await live.admin.command(["DEL", hold]);
    expect(await call(first, "lease-renew", [lease, hold], ["a", "1", "60000"])).toBe("EXHAUSTED");
  });

  it("fencing tokens only grow, and the resource refuses a stale one", async () => {
    const keys = [lock, counter, renewable];
    const tokens: number[] = [];
    for (let round = 0; round < 20; round++) {
      const answers = (await Promise.all([
        call(first, "fence-acquire", keys, ["a", `${round}`, "60000"]),
        call(second, "fence-acquire", keys, ["b", `${round}`, "60000"]),
      ])) as [string, string][];
      expect(answers.map((a) => a[0]).sort()).toEqual(["ACQUIRED", "HELD"]);
      const won = answers.findIndex((a) => a[0] === "ACQUIRED");
      const token = answers[won]![1];
      tokens.push(Number(token));
      expect(await call(first, "fence-release", [lock, renewable], [won === 0 ? "a" : "b", `${round}`, token])).toBe(
        "RELEASED",
      );
    }
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));

    // `a` pauses with token 21, its lease runs out, `b` takes over with 22 and writes; `a` wakes up.
    expect(await call(first, "fence-acquire", keys, ["a", "p", "20"])).toEqual(["ACQUIRED", "21"]);
    expect(await expired(lock)).toBe(true);
    expect(await call(second, "fence-acquire", keys, ["b", "p", "60000"])).toEqual(["ACQUIRED", "22"]);
    expect(await call(second, "fence-write", [resource], ["b", "22", "new"])).toEqual([1, "22"]);
    expect(await call(first, "fence-write", [resource], ["a", "21", "old"])).toEqual([0, "22"]);
    expect(await call(first, "fence-write", [resource], ["a", "22", "old"])).toEqual([0, "22"]);
    expect(await call(first, "fence-renew", keys, ["a", "p", "21", "60000"])).toBe("LOST");
    expect(await call(first, "fence-inspect", [lock, counter], ["a", "p", "21"])).toEqual(["LOST", 0]);
    expect(await call(first, "fence-inspect", [lock, counter], ["a", "p", "23"])).toEqual(["LOST", 0]);
    expect(await call(first, "fence-release", [lock, renewable], ["a", "p", "21"])).toBe("LOST");
    expect(await call(second, "fence-write", [resource], ["b", "22", "newer"])).toEqual([1, "22"]);
    expect(await call(second, "fence-release", [lock, renewable], ["b", "p", "22"])).toBe("RELEASED");
    expect(await call(second, "fence-release", [lock, renewable], ["b", "p", "22"])).toBe("NOT_HELD");
    expect(await call(second, "fence-inspect", [lock, counter], ["b", "p", "23"])).toEqual(["NOT_FOUND", 0]);
    for (const token of ["nan", "0x1f", "-1", "", "1e3", "9999999999999999"]) {
      expect(await call(second, "fence-write", [resource], ["b", token, "x"])).toBeInstanceOf(ReplyError);
    }
  });

  const record = "app:{t1}:idempotency:record:r";
  it("an executing claim that expired is RECOVERY_REQUIRED for everybody, never claimed again", async () => {
    const claim = (client: RedisClient, owner: string, attempt: string, fingerprint = "f", time = "300") =>
      call(client, "idempotency-claim", [record], [owner, attempt, fingerprint, time]);
    const answers = (await Promise.all([claim(first, "a", "1"), claim(second, "b", "1")])) as [string, string][];
    expect(answers.map((a) => a[0]).sort()).toEqual(["CLAIMED", "IN_PROGRESS"]);
    // Claimed and never started: nothing happened, another may have it.
    await sleep(320);
    expect(await claim(second, "b", "2", "f", "60000")).toEqual(["CLAIMED", ""]);
    expect(await claim(first, "a", "3", "other")).toEqual(["MISMATCH", ""]);
    expect(await call(first, "idempotency-start", [record], ["a", "1", "30"])).toBe("LOST");
    expect(await call(second, "idempotency-start", [record], ["b", "1", "30"])).toBe("LOST");
    expect(await call(second, "idempotency-start", [record], ["b", "2", "30"])).toBe("EXECUTING");
    await sleep(40);
    expect(await call(second, "idempotency-renew", [record], ["b", "2", "30"])).toBe("EXPIRED");
    expect(await claim(first, "a", "4")).toEqual(["RECOVERY_REQUIRED", ""]);
    expect(await claim(second, "b", "2")).toEqual(["RECOVERY_REQUIRED", ""]);
    expect(await call(second, "idempotency-complete", [record], ["b", "2", "done", "1000"])).toBe("RECOVERY_REQUIRED");
    expect(await call(second, "idempotency-release", [record], ["b", "2"])).toBe("RECOVERY_REQUIRED");
    expect(await call(first, "idempotency-inspect", [record], ["b", "2"])).toEqual(["RECOVERY_REQUIRED", ""]);
  });

  it("a bump counts once per operation, and a loader that captured before it records nothing", async () => {
    const generation = "app:{t1}:cache:generation:r";
    const entryKeys = [generation, "app:{t1}:cache:revision:e", "app:{t1}:cache:entry:e"];
    const bump = (client: RedisClient, operation: string) =>
      call(
        client,
        "cache-generation-bump",
        [generation, `app:{t1}:cache:operation:${operation}`],
        [operation, "60000", "60000"],
      );
    expect(await call(first, "cache-generation-init", [generation], ["100", "60000"])).toEqual([1, "100"]);
    expect(await call(second, "cache-read", entryKeys, [])).toEqual([0, "100", "", ""]);
    const both = (await Promise.all([bump(first, "o1"), bump(second, "o1")])) as [number, string][];
    expect(both.map((b) => b[1])).toEqual(["101", "101"]);
    expect(both.map((b) => b[0]).sort()).toEqual([0, 1]);
    expect(await bump(first, "o2")).toEqual([1, "102"]);
    expect(await call(second, "cache-record-if-generation", entryKeys, ["100", "", "old", "60000"])).toBe(0);
    expect(await call(second, "cache-record-if-generation", entryKeys, ["102", "", "new", "60000"])).toBe(1);
    expect(await call(first, "cache-read", entryKeys, [])).toEqual([1, "102", "", "new"]);
    expect(await call(first, "cache-invalidate", entryKeys.slice(1), ["r1", "60000"])).toBe(1);
    expect(await call(second, "cache-record-if-generation", entryKeys, ["102", "", "late", "60000"])).toBe(0);
    expect(await call(first, "cache-read", entryKeys, [])).toEqual([0, "102", "r1", ""]);
    expect(await live.admin.command(["GET", generation])).toBe("102");
  });

  it("a limit holds when two clients race, and a repeated operation is counted once", async () => {
    const state = "app:{t1}:rate:fixed:state:u";
    const hit = (client: RedisClient, operation: string) =>
      call(client, "rate-fixed-window", [state, `app:{t1}:rate:fixed:dedup:${operation}`], [operation, "5", "60000"]);
    const answers = (await Promise.all(
      Array.from({ length: 20 }, (_, i) => hit(i % 2 === 0 ? first : second, `o${Math.floor(i / 2)}`)),
    )) as number[][];
    expect(answers.filter((a) => a[0] === 1).length).toBe(10);
    expect(await live.admin.command(["GET", state])).toBe("10");
    const sliding = ["state", "dedup", "order"].map((k) => `app:{t1}:rate:sliding:${k}:u`);
    const slid = (await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        call(i % 2 === 0 ? first : second, "rate-sliding-counter", sliding, [`o${Math.floor(i / 2)}`, "5", "3600000"]),
      ),
    )) as number[][];
    expect(slid.filter((a) => a[0] === 1).length).toBe(10);
    const bucket = ["state", "dedup", "order"].map((k) => `app:{t1}:rate:bucket:${k}:u`);
    const taken = (await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        call(i % 2 === 0 ? first : second, "rate-token-bucket", bucket, [`o${i}`, "5", "1", "1", "60000"]),
      ),
    )) as number[][];
    expect(taken.filter((a) => a[0] === 1).length).toBe(5);
  });

  it("a revoked session stays revoked", async () => {
    const keys = ["app:{t1}:session:state:s", "app:{t1}:session:tombstone:s"];
    expect(await call(first, "session-open", keys, ["u", "60000", "3600000"])).toBe("OPENED");
    await Promise.all([
      call(first, "session-touch", keys, ["u", "60000"]),
      call(second, "session-revoke", keys, ["logout", "1"]),
    ]);
    expect(await call(first, "session-touch", keys, ["u", "60000"])).toBe("REVOKED");
    expect(await call(first, "session-open", keys, ["u", "60000", "3600000"])).toBe("REVOKED");
    expect(await live.admin.command(["EXISTS", keys[0]!])).toBe(0);
    expect(await live.admin.command(["PTTL", keys[1]!])).toBeGreaterThan(43_000_000);
  });
});
