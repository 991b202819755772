/** Random ACL files and calls, with the corners that servers treat in ways of their own. */
import fc from "fast-check";

type Text = fc.Arbitrary<string>;

const COMMANDS =
  "get set del mget mset getset config client acl object memory xgroup xinfo command select debug ping info eval evalsha fcall " +
  "sort sort_ro georadius xread xreadgroup migrate bitfield zunionstore sintercard lmpop bzmpop publish subscribe psubscribe " +
  "spublish auth hello quit reset flushall keys scan script function cluster latency slowlog module pubsub role wait " +
  "replicaof slaveof psync replconf shutdown multi exec watch lcs copy move swapdb blpop brpoplpush rename restore object|freq " +
  "config|get config|set config|rewrite client|kill client|setname client|no-evict acl|whoami acl|setuser script|kill " +
  "script|load memory|usage xgroup|create xinfo|stream command|count command|docs cluster|info function|load";
const CATEGORIES =
  "all keyspace read write set sortedset list hash string bitmap hyperloglog geo stream pubsub admin fast slow blocking " +
  "dangerous connection transaction scripting";
const HASH = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8";

/** One of the blank-separated words. */
const words = (text: string): Text => fc.constantFrom(...text.split(" "));
const mostly = (...parts: [number, Text][]): Text =>
  fc.oneof(...parts.map(([weight, arbitrary]) => ({ weight, arbitrary })));
/** Now and then in upper case. */
const cased = (text: Text): Text => fc.tuple(text, fc.nat(9)).map(([s, n]) => (n === 0 ? s.toUpperCase() : s));
const joined = (text: Text, maxLength: number, by = ""): Text => fc.array(text, { maxLength }).map((p) => p.join(by));

const command = cased(words(COMMANDS));
const category = cased(words(CATEGORIES));

const pattern = joined(
  mostly(
    [6, words("app: a k x y cache: user:{1} q: é 1 - ^ ] b z")],
    [5, words("* ? [a-c] [^x] [ab] [] [^] [!x] \\* \\[ \\ ** [a- [z-a] [\\]] [^a-c [ [^ [a-] ]")],
  ),
  4,
);

const key = mostly(
  [5, words("app:1 a k x cache:12 user:{1} q:1 abc ab b z é x* * [ ] \\ ^ - !")],
  [2, pattern],
  [1, fc.constant("")],
);

const selectorRule = mostly(
  [6, command.map((c) => `+${c}`)],
  [3, command.map((c) => `-${c}`)],
  [4, category.map((c) => `+@${c}`)],
  [3, category.map((c) => `-@${c}`)],
  [
    1,
    fc
      .tuple(words("get set select debug ping publish GET"), words("0 1 get k K app:1 a.b"))
      .map(([c, a]) => `+${c}|${a}`),
  ],
  [1, words("allcommands nocommands resetkeys resetchannels")],
  [4, pattern.map((p) => `~${p}`)],
  [3, fc.tuple(words("%R~ %W~ %RW~ %r~ %WR~ %w~"), pattern).map((p) => p.join(""))],
  [1, words("%R %RW %R~ ~ & %RW~* ~~ %W~")],
  [3, pattern.map((p) => `&${p}`)],
);

/** Refused, or refused after certain rules. */
const badRule = mostly(
  [
    3,
    words(
      '~* &* allkeys allchannels % %~x %RR~x %X~x %RWR~x foo @read # db=0 ) +@ + - +| +config| ++get #abc !abc "on" (',
    ),
  ],
  [
    3,
    words(
      "+nosuch -nosuch +@nosuch -@nosuch +config|nosuch -config|nosuch +get|x|y +config|get|x -select|0 +get| reset|x",
    ),
  ],
  [1, words(`<pw <password !${HASH} <é`)],
  [1, fc.tuple(command, words("0 get x|y")).map(([c, a]) => `+${c}|${a}`)],
  [1, fc.constantFrom('+get|"x', '+get|"x"', "+get|a'b", '+debug|"a"b', '("+get|a b")', '("+select|0 -@all")')],
);

const userRule = mostly(
  [12, selectorRule],
  [4, cased(words("on off nopass resetpass sanitize-payload skip-sanitize-payload"))],
  [1, cased(words("reset clearselectors"))],
  [2, words(`>pw >password > #${HASH} >p(w) >é () >x)`)],
);

const inner = joined(mostly([14, selectorRule], [1, words('"+get" ~"a*" ~\'k\' "~x on (~k "~\\x7ea"')]), 4, " ");
const selector = mostly(
  [9, inner.map((r) => `(${r})`)],
  [1, inner.map((r) => `( ${r} )`)],
  [1, fc.tuple(inner, inner).map(([a, b]) => `(${a} (${b}))`)],
  [1, fc.tuple(inner, inner).map(([a, b]) => `(${a} (${b})`)],
);

const separator = mostly([40, fc.constant(" ")], [1, fc.constantFrom("  ", "\t", " \t", "\t ", "\r ")]);
const rule = mostly([60, userRule], [9, selector], [2, badRule]);
const name = mostly([20, words("alice bob carol default")], [1, fc.constantFrom("é", "(x)", "123", "a\tb", "")]);
const userLine = fc
  .tuple(name, fc.array(fc.tuple(separator, rule), { maxLength: 9 }))
  .map(([n, rules]) => `user ${n}${rules.map((r) => r.join("")).join("")}`);
const line = mostly(
  [30, userLine],
  [
    1,
    fc.constantFrom(
      "",
      "#c",
      "user",
      "User x",
      "user ",
      "\tuser bob on",
      "hello",
      "\ufeffuser bob on",
      "  user carol on  ",
    ),
  ],
);

/** Deletes, doubles or replaces single characters. */
const mutation = fc.tuple(
  fc.nat(400),
  fc.constantFrom("", " ", "\t", "\0", "\n", "\r", "(", ")", "|", "+", "~", '"', "é", "x"),
  fc.nat(1),
);

export const aclFile: Text = fc
  .tuple(
    fc.array(line, { minLength: 1, maxLength: 3 }),
    fc.constantFrom("\n", "\n", "\n", "\r\n", "\n\n"),
    fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(mutation, { maxLength: 3 }) }),
  )
  .map(([lines, end, mutations]) => {
    let text = lines.join(end);
    for (const [at, put, cut] of mutations) {
      const i = text.length === 0 ? 0 : at % text.length;
      text = text.slice(0, i) + put + text.slice(i + cut);
    }
    return text;
  });

/** `name, fixed arguments, then up to `max` of the others`. */
const call = (head: string, rest: Text, min: number, max: number): fc.Arbitrary<string[]> =>
  fc.tuple(words(head), fc.array(rest, { minLength: min, maxLength: max })).map(([c, r]) => [c, ...r]);
const or = (text: string): Text => mostly([1, words(text)], [1, key]);
const after = (fixed: string[], rest: fc.Arbitrary<string[]>): fc.Arbitrary<string[]> =>
  rest.map(([c, ...r]) => [c!, ...fixed, ...r]);
const counts = words("0 1 2 3 99 x 01 1x -1");
const counted = (head: string, before: string[]): fc.Arbitrary<string[]> =>
  fc
    .tuple(words(head), counts, fc.array(key, { minLength: 1, maxLength: 3 }))
    .map(([c, n, k]) => [c, ...before, n, ...k]);

const FIXED =
  "PING|CONFIG GET port|CONFIG REWRITE|CONFIG|COMMAND|COMMAND COUNT|SELECT 0|SELECT 1|DEBUG x|GET|NOSUCH|CONFIG NOSUCH|CLIENT ID|" +
  "CLIENT KILL x|ACL WHOAMI|AUTH x|HELLO|RESET|QUIT|FLUSHALL|KEYS *|SCAN 0|MSET a 1 k 2|MSETNX a 1|COPY a k|LCS a b|ROLE|INFO|" +
  "OBJECT FREQ a|MEMORY USAGE k|BITOP AND a b k|RENAME a k|SMOVE a k x|XGROUP CREATE a g $|XINFO STREAM a|RESTORE a 0 x|" +
  "PFMERGE a k|BLPOP a k 0|GEOSEARCHSTORE a k x y z u v|DEBUG|get k|Config Get x";

const anyCall: fc.Arbitrary<string[]> = fc.oneof(
  { weight: 4, arbitrary: call("GET EXISTS INCR TYPE LPOP STRLEN DEL", key, 1, 1) },
  { weight: 3, arbitrary: call("SET APPEND LPUSH EXPIRE GETSET SADD", key, 2, 2) },
  { weight: 2, arbitrary: call("MGET DEL UNLINK SUNION PFCOUNT WATCH TOUCH", key, 1, 3) },
  { weight: 2, arbitrary: counted("EVAL EVALSHA FCALL EVAL_RO FCALL_RO", ["s"]) },
  { weight: 1, arbitrary: counted("ZUNIONSTORE ZINTERSTORE ZDIFFSTORE", ["a"]) },
  { weight: 1, arbitrary: counted("ZUNION ZINTER SINTERCARD ZINTERCARD ZDIFF LMPOP ZMPOP", []) },
  { weight: 1, arbitrary: counted("BLMPOP BZMPOP", ["0"]) },
  { weight: 1, arbitrary: call("SORT SORT_RO", or("BY GET STORE store LIMIT 0 1 ASC"), 1, 5) },
  { weight: 2, arbitrary: call("SET", or("GET NX EX 10 get"), 2, 5) },
  { weight: 1, arbitrary: call("BITFIELD", or("GET SET INCRBY OVERFLOW u8 0 1 SAT"), 1, 7) },
  {
    weight: 1,
    arbitrary: after(["a", "0", "0", "1", "m"], call("GEORADIUS", or("STORE STOREDIST COUNT 1 ASC"), 0, 4)),
  },
  {
    weight: 1,
    arbitrary: after(["k", "m", "1", "m"], call("GEORADIUSBYMEMBER", or("STORE STOREDIST COUNT 1 ASC"), 0, 4)),
  },
  { weight: 1, arbitrary: call("XREAD", or("STREAMS streams COUNT 1 BLOCK 0 $ GROUP NOACK"), 3, 7) },
  { weight: 1, arbitrary: after(["GROUP", "g", "c"], call("XREADGROUP", or("STREAMS COUNT 1 >"), 3, 6)) },
  { weight: 1, arbitrary: after(["h", "1", "", "0", "1"], call("MIGRATE", or("COPY AUTH AUTH2 KEYS keys"), 0, 5)) },
  { weight: 1, arbitrary: after(["h", "1", "k", "0", "1"], call("MIGRATE", or("COPY REPLACE KEYS"), 0, 3)) },
  { weight: 2, arbitrary: call("PUBLISH SPUBLISH", key, 2, 2) },
  { weight: 2, arbitrary: call("SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE", key, 1, 2) },
  { weight: 4, arbitrary: fc.constantFrom(...FIXED.split("|")).map((text) => text.split(" ")) },
);

/** A user and the call it makes. */
export const calls: fc.Arbitrary<[string, ...string[]][]> = fc.array(
  fc.tuple(words("alice bob carol default"), anyCall).map(([user, argv]): [string, ...string[]] => [user, ...argv]),
  { minLength: 6, maxLength: 14 },
);
