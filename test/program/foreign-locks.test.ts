/** Lock scripts that nobody here wrote, declared as leases: owner compare, acquisition and release are understood as they are. */
import { describe, expect, it } from "vitest";
import { contract, type LockScript, lua, scripts } from "../../fixtures/lock/_scripts.js";
import { applyFileEdits } from "../../src/mutation/fixture.js";
import { fixtureBase, lintTree, tree } from "../support.js";
import { collect } from "./collect.js";

const found = collect();
const text = (name: string, file: RegExp, part: string): string => {
  const script = found.find((s) => s.package === name && file.test(s.file) && s.text.includes(part));
  if (script === undefined) throw new Error(`no script ${part} in ${name}`);
  return script.text;
};
const lease = (lua: string, keys: readonly string[], argv: readonly string[]): LockScript => ({
  lua,
  keys,
  argv,
  more: { renewal: { maxCount: 10 } },
});

/** Redisson's reentrant lock and unlock (RedissonLock.java), the owner being the field. */
const REDISSON = {
  lock: lease(
    "if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; return redis.call('pttl', KEYS[1]);",
    ["lock"],
    ["leaseMs", "owner"],
  ),
  unlock: lease(
    "if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then return nil; end; local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1); if (counter > 0) then redis.call('pexpire', KEYS[1], ARGV[2]); return 0; else redis.call('del', KEYS[1]); redis.call('publish', KEYS[2], ARGV[1]); return 1; end; return nil;",
    ["lock", "channel"],
    ["value", "leaseMs", "owner"],
  ),
};

const families: Readonly<Record<string, () => Readonly<Record<string, LockScript>>>> = {
  "redis-semaphore: mutex": () => ({
    refresh: lease(text("redis-semaphore", /mutex\/refresh/, "pexpire"), ["lock"], ["owner", "leaseMs"]),
    release: lease(text("redis-semaphore", /mutex\/release/, "del"), ["lock"], ["owner"]),
  }),
  "redis-semaphore: semaphore": () => {
    const argv = ["limit", "owner", "leaseMs", "nowMs"];
    const typed = { argv: argv.map((name) => ({ name, type: "string", unit: name === "owner" ? "token" : "none" })) };
    const semaphore = (file: RegExp, part: string): LockScript => ({
      ...lease(text("redis-semaphore", file, part), ["permits"], argv),
      more: { renewal: { maxCount: 10 }, ...typed },
    });
    return {
      acquire: semaphore(/[^i]semaphore\/acquire/i, "zcard"),
      refresh: semaphore(/[^i]semaphore\/refresh/i, "zscore"),
    };
  },
  "bull: lock of a job": () => ({
    take: lease(text("bull", /takeLock-1/, "NX"), ["lock"], ["token", "leaseMs"]),
    extend: lease(text("bull", /extendLock-2/, "SREM"), ["lock", "stalled"], ["token", "leaseMs", "jobMs"]),
    release: lease(text("bull", /releaseLock-1/, "DEL"), ["lock"], ["token", "lockMs"]),
  }),
  "bullmq: lock of a job": () => ({
    extend: lease(text("bullmq", /extendLock-2/, "SREM"), ["lock", "stalled"], ["token", "leaseMs", "jobMs"]),
    release: lease(text("bullmq", /releaseLock-1/, "DEL"), ["lock"], ["token", "lockMs"]),
  }),
  "redlock: several keys": () => ({
    acquire: lease(text("@sesamecare-oss/redlock", /./, "exists"), ["a", "b"], ["value", "owner", "leaseMs"]),
    extend: lease(text("@sesamecare-oss/redlock", /./, "different"), ["a", "b"], ["value", "owner", "leaseMs"]),
    release: lease(text("@sesamecare-oss/redlock", /./, '"del"'), ["a", "b"], ["value", "owner"]),
  }),
  "redisson: reentrant lock": () => REDISSON,
};

const RULES = ["lock/owner-compare", "lock/atomic-acquire", "lock/idempotent-release", "lock/bounded-renewal"];

describe("foreign locks, declared as leases", () => {
  it.each(Object.keys(families))("%s", async (name) => {
    const programs = families[name]!();
    const base = tree({});
    const result = await lintTree(applyFileEdits(base, contract(programs)));
    expect(result.diagnostics.filter((d) => RULES.includes(d.rule)).map((d) => [d.rule, d.message])).toEqual([]);
    // The same with its compares taken out is not understood as a lock that compares.
    const id = "release" in programs ? "release" : "unlock" in programs ? "unlock" : "refresh";
    const blind = { ...programs[id]!, lua: "return redis.call('DEL', KEYS[1])" };
    const broken = await lintTree(applyFileEdits(base, contract({ ...programs, [id]: blind })));
    expect(
      broken.diagnostics
        .filter((d) => d.rule === "lock/owner-compare")
        .map((d) => [d.at.source.file, d.message.slice(0, 11)]),
    ).toEqual([[lua(id), "DEL deletes"]]);
  });

  it("no finding of this pack without a manifest", async () => {
    const files = Object.fromEntries(
      found.map((s, i) => [`${s.package}/${s.file.replace(/\.[cm]?js$/, "")}-${i}.lua`, s.text]),
    );
    const result = await lintTree(applyFileEdits(fixtureBase("inferred")!, scripts(files)));
    expect(result.diagnostics.filter((d) => d.rule.startsWith("lock/"))).toEqual([]);
    expect(found.length).toBeGreaterThanOrEqual(190);
  });
});
