/**
 * What commands do to the life of a key, what their answers say about it, and which are unbounded. From the command
 * pages of the Redis documentation; key positions for ACL and slot come from the server's own key specs instead.
 */

/** Commands whose second word is part of the name. */
export const CONTAINERS: ReadonlySet<string> = new Set(
  "acl client cluster command config debug function latency memory module object pubsub script sentinel slowlog xgroup xinfo".split(
    " ",
  ),
);

export type Effect =
  /** Creates the key when it is missing, else keeps its time to live. */
  | "keep"
  /** Replaces the key: a time to live is dropped. */
  | "replace"
  /** Writes only when the key is missing. */
  | "new"
  | "expire"
  | "persist"
  | "delete"
  | "rename"
  /** Creates `to` with the time to live of the source. */
  | "copy"
  /** `SET`, `GETEX`, `RESTORE`: decided by their options. */
  | "options";

export interface LifeEffect {
  readonly effect: Effect;
  /** Index in argv of the key written; -1: every word from 1; -2: every second word from 1. */
  readonly key: number;
  readonly unit?: TimeUnit;
  /** Index in argv of the time. */
  readonly time?: number;
}

export type TimeUnit = "seconds" | "milliseconds" | "unix-seconds" | "unix-milliseconds";

const life = new Map<string, LifeEffect>();
const add = (names: string, effect: LifeEffect): void => {
  for (const name of names.split(" ")) life.set(name, effect);
};
add(
  "append bitfield decr decrby incr incrby incrbyfloat geoadd hincrby hincrbyfloat hmset hset hsetex hsetnx lpush rpush pfadd pfmerge sadd setbit setrange xadd zadd zincrby",
  { effect: "keep", key: 1 },
);
add("smove rpoplpush lmove brpoplpush blmove", { effect: "keep", key: 2 });
add("getset sdiffstore sinterstore sunionstore zdiffstore zinterstore zunionstore zrangestore geosearchstore", {
  effect: "replace",
  key: 1,
});
add("bitop", { effect: "replace", key: 2 });
add("mset", { effect: "replace", key: -2 });
add("setnx", { effect: "new", key: 1 });
add("msetnx", { effect: "new", key: -2 });
add("set getex restore", { effect: "options", key: 1 });
add("del unlink", { effect: "delete", key: -1 });
add("getdel", { effect: "delete", key: 1 });
add("persist", { effect: "persist", key: 1 });
add("rename renamenx", { effect: "rename", key: 1 });
add("copy", { effect: "copy", key: 1 });
add("expire", { effect: "expire", key: 1, unit: "seconds", time: 2 });
add("pexpire", { effect: "expire", key: 1, unit: "milliseconds", time: 2 });
add("expireat", { effect: "expire", key: 1, unit: "unix-seconds", time: 2 });
add("pexpireat", { effect: "expire", key: 1, unit: "unix-milliseconds", time: 2 });
add("setex", { effect: "expire", key: 1, unit: "seconds", time: 2 });
add("psetex", { effect: "expire", key: 1, unit: "milliseconds", time: 2 });
export const LIFE: ReadonlyMap<string, LifeEffect> = life;

export const TIME_OPTIONS: Readonly<Record<string, TimeUnit>> = {
  EX: "seconds",
  PX: "milliseconds",
  EXAT: "unix-seconds",
  PXAT: "unix-milliseconds",
};

/** Writes that neither create a key nor touch its time to live. */
const OTHER_WRITES =
  "bzmpop bzpopmax bzpopmin blmpop blpop brpop flushall flushdb hdel hexpire hexpireat hgetdel hgetex hpersist hpexpire hpexpireat linsert lmpop lpop lpushx lrem lset ltrim migrate move rpop rpushx sort spop srem swapdb xack xackdel xautoclaim xclaim xdel xdelex xgroup xsetid xtrim zmpop zpopmax zpopmin zrem zremrangebylex zremrangebyrank zremrangebyscore delex";
const WRITES: ReadonlySet<string> = new Set([...life.keys(), ...OTHER_WRITES.split(" ")]);

/** Whether a command changes the data set; undefined for a command that is not in these tables (modules). */
export function isWrite(command: string): boolean | undefined {
  const name = head(command);
  if (WRITES.has(name)) return true;
  return KNOWN_READS.has(name) ? false : undefined;
}

export function head(command: string): string {
  const bar = command.indexOf("|");
  return bar < 0 ? command : command.slice(0, bar);
}

/** What an answer says about the key at argv[1]. */
export type Meaning =
  /** The value after adding: the key was there before unless it equals what was added (argv `amount`, else `one`). */
  | { readonly kind: "counter"; readonly amount?: number; readonly one?: number }
  /** Length after pushing: the key was there before unless it equals the number of pushed words. */
  | { readonly kind: "pushed" }
  /** 0: the member or field was there, so the key was. */
  | { readonly kind: "added" }
  /** 0 or nil: not written, the key was there. */
  | { readonly kind: "created" }
  | { readonly kind: "exists" }
  /** -2 missing, -1 without a time to live. */
  | { readonly kind: "ttl" }
  /** nil means that the key is missing; a value that it is there. */
  | { readonly kind: "value" }
  /** A value or a number other than 0 means that the key is there. */
  | { readonly kind: "part" }
  /** 1: the key is there and has a time to live. */
  | { readonly kind: "expired" };

const meanings = new Map<string, Meaning>();
const mean = (names: string, meaning: Meaning): void => {
  for (const name of names.split(" ")) meanings.set(name, meaning);
};
mean("incr", { kind: "counter", one: 1 });
mean("decr", { kind: "counter", one: -1 });
mean("incrby incrbyfloat decrby", { kind: "counter", amount: 2 });
mean("hincrby hincrbyfloat", { kind: "counter", amount: 3 });
mean("zincrby", { kind: "counter", amount: 2 });
mean("lpush rpush", { kind: "pushed" });
mean("sadd zadd hset pfadd geoadd", { kind: "added" });
mean("setnx hsetnx msetnx set", { kind: "created" });
mean("exists", { kind: "exists" });
mean("ttl pttl expiretime pexpiretime", { kind: "ttl" });
mean("get getrange dump", { kind: "value" });
mean(
  "hget hexists hlen hstrlen llen lindex scard sismember strlen zcard zcount zscore zrank zrevrank xlen getbit hmget hgetall smembers lrange zrange zrevrange zrangebyscore hkeys hvals",
  { kind: "part" },
);
mean("expire pexpire expireat pexpireat", { kind: "expired" });
export const MEANINGS: ReadonlyMap<string, Meaning> = meanings;

/** Commands that read a stored value, with the index in argv of the field, member or index (undefined: the whole key). */
export const READS: ReadonlyMap<string, number | undefined> = new Map<string, number | undefined>([
  ["get", undefined],
  ["getex", undefined],
  ["getdel", undefined],
  ["getset", undefined],
  ["getrange", undefined],
  ["hget", 2],
  ["hmget", 2],
  ["hgetall", undefined],
  ["hexists", 2],
  ["lindex", 2],
  ["lrange", undefined],
  ["smembers", undefined],
  ["sismember", 2],
  ["zscore", 2],
  ["zrank", 2],
  ["zrange", undefined],
  ["zrangebyscore", undefined],
  ["exists", undefined],
  ["ttl", undefined],
  ["pttl", undefined],
  ["mget", undefined],
]);

const KNOWN_READS: ReadonlySet<string> = new Set([
  ...READS.keys(),
  ...[...meanings.keys()].filter((c) => !WRITES.has(c)),
  ..."acl bitcount bitfield_ro bitpos cluster command config dbsize debug echo eval evalsha eval_ro evalsha_ro expiretime fcall fcall_ro geodist geohash geopos geosearch georadius_ro georadiusbymember_ro hgetall hkeys hrandfield hscan httl hpttl hvals info keys lastsave latency lcs lolwut lpos memory object pexpiretime pfcount ping publish spublish randomkey role scan script sdiff select sinter sintercard slowlog smismember sort_ro srandmember sscan substr sunion time touch type wait xinfo xpending xrange xread xreadgroup xrevrange zdiff zinter zintercard zlexcount zmscore zrandmember zrangebylex zrevrangebylex zrevrangebyscore zscan zunion".split(
    " ",
  ),
]);

export type Unbounded = "whole" | "index-range" | "score-range" | "stream-range" | "sort" | "keyspace" | "scan";

/** Commands that may return or touch any number of elements, and what would bound them. */
export const UNBOUNDED: ReadonlyMap<string, Unbounded> = new Map<string, Unbounded>([
  ..."hgetall hkeys hvals smembers sunion sinter sdiff zunion zinter zdiff sunionstore sinterstore sdiffstore zunionstore zinterstore zdiffstore"
    .split(" ")
    .map((c): [string, Unbounded] => [c, "whole"]),
  ["lrange", "index-range"],
  ["zrange", "index-range"],
  ["zrevrange", "index-range"],
  ["zrangebyscore", "score-range"],
  ["zrevrangebyscore", "score-range"],
  ["zrangebylex", "score-range"],
  ["zrevrangebylex", "score-range"],
  ["georadius", "score-range"],
  ["georadiusbymember", "score-range"],
  ["geosearch", "score-range"],
  ["xrange", "stream-range"],
  ["xrevrange", "stream-range"],
  ["xread", "stream-range"],
  ["xreadgroup", "stream-range"],
  ["sort", "sort"],
  ["sort_ro", "sort"],
  ["keys", "keyspace"],
  ["flushall", "keyspace"],
  ["flushdb", "keyspace"],
  ["scan", "scan"],
  ["hscan", "scan"],
  ["sscan", "scan"],
  ["zscan", "scan"],
]);

/** Commands whose answer is the size of the key at argv[1]. */
export const SIZES: ReadonlySet<string> = new Set(["hlen", "llen", "scard", "zcard", "xlen", "strlen"]);
/** Commands that cut the key at argv[1] down to a size. */
export const TRIMS: ReadonlySet<string> = new Set(["ltrim", "zremrangebyrank", "xtrim"]);
