import { defineRule } from "../../src/engine/rule.js";
import { literalText } from "../../src/model/program/call.js";
import { keyOf, keyTitle, locksOf } from "../../src/model/program/locks.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "The counter that gives fencing tokens only grows and never expires.",
    why: "A counter that expires, is set or deleted starts again: a stale holder's token then equals or exceeds a new one, and its write is accepted.",
    fix: "Count in a key of its own with INCR alone, declared durable; let only the lease expire.",
    bad: "local token = redis.call('INCR', KEYS[2])\nredis.call('PEXPIRE', KEYS[2], ARGV[2])\n",
    good: "local token = redis.call('INCR', KEYS[2])\n",
    source: {
      title: "Martin Kleppmann: How to do distributed locking",
      url: "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html",
    },
    rows: ["C-L02"],
  },
  messages: {
    reset: {
      text: "{command} on {key}, the fencing counter of {counter}: a token may be given twice",
      help: "The counter only grows: nothing but INCR, or INCRBY with a positive number, touches it.",
    },
    expires: {
      text: "{command} lets {key}, the fencing counter of {counter}, expire: tokens start again",
      help: "The counter needs a key of its own that never expires; only the lease does.",
    },
    mortal: {
      text: "{key}, the fencing counter of {counter}, is declared with a time to live",
      help: 'Declare it "durable".',
    },
  },
  on: {
    Program(program, { contract, report }) {
      const { counters } = locksOf(contract);
      const effects = program.script?.effects;
      if (counters.size === 0 || effects === undefined) return;
      const seen = new Set<number>();
      for (const use of effects.keys) {
        const { call } = use;
        const { command = "" } = call;
        const counter = counters.get(keyOf(program, use.origin));
        if (counter === undefined || use.origin.kind === "unknown" || seen.has(call.at.start)) continue;
        const related = [{ at: counter.call.at, message: "tokens are counted here" }];
        const data = {
          command: command.toUpperCase(),
          key: keyTitle(program, use.origin),
          counter: counter.program.name,
        };
        if (EXPIRES.has(command)) report("expires", data, call.commandAt, { related });
        else if (RESETS.has(command) || lowers(literalText(call.argv[command === "hincrby" ? 3 : 2]), command)) {
          report("reset", data, call.commandAt, { related });
        } else continue;
        seen.add(call.at.start);
      }
      for (const ttl of program.entry?.ttl ?? []) {
        const key = program.entry?.keys.find((k) => k.name.value === ttl.key.value);
        const counter = key === undefined ? undefined : counters.get(key.pattern.value);
        if (counter === undefined || ttl.durable) continue;
        report("mortal", { key: ttl.key.value, counter: counter.program.name }, ttl.at, {
          related: [{ at: counter.call.at, message: "tokens are counted here" }],
        });
      }
    },
  },
});

const EXPIRES: ReadonlySet<string> = new Set("expire pexpire expireat pexpireat setex psetex getex".split(" "));
const RESETS: ReadonlySet<string> = new Set(
  "set getset mset del unlink getdel decr decrby rename renamenx restore copy hdel".split(" "),
);

/** INCRBY by a constant that is not positive. */
function lowers(amount: string | undefined, command: string): boolean {
  return (command === "incrby" || command === "hincrby") && amount !== undefined && !(Number(amount) > 0);
}
