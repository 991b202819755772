import { defineRule } from "../../src/engine/rule.js";
import { keyTitle, locksOf } from "../../src/model/program/locks.js";
import { guardsKey, isHeard, storedInputs, testedInLoops } from "../../src/model/program/ownership.js";

export default defineRule({
  severity: "error",
  inferred: "off",
  docs: {
    summary: "A lock is taken only when it is free, with its expiry in the same command.",
    why: "SETNX and EXPIRE are two steps: what fails between them leaves a lock that nobody can take again; a SET without NX takes it from its holder.",
    fix: "SET key owner NX PX milliseconds, and look at its answer.",
    bad: "if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end\n",
    good: "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])\n",
    source: { title: "Redis: SET, patterns", url: "https://redis.io/docs/latest/commands/set/" },
    rows: ["C-L04"],
  },
  messages: {
    steps: {
      text: "{command} takes {key} without an expiry in the same command",
      help: "Use SET with NX and PX: owner and expiry in one step.",
    },
    overwrites: {
      text: "{command} writes the caller into {key} whoever holds it",
      help: "Take the lock only when it is free: SET with NX, or after a test of what is stored there.",
    },
    unheard: {
      text: "the answer of {command} on {key} is not looked at: the caller is told that it holds a lock that another may hold",
      help: "SET with NX answers nothing when the key is there; decide by its answer.",
    },
  },
  on: {
    Program(program, { contract, report }) {
      const lock = locksOf(contract).of(program);
      if (lock === undefined) return;
      const { effects } = lock;
      const seen = new Set<number>();
      for (const { call, use } of lock.acquires) {
        const { command = "" } = call;
        if (seen.has(call.at.start)) continue;
        seen.add(call.at.start);
        const data = { command: command.toUpperCase(), key: keyTitle(program, use.origin) };
        const conditional = command === "setnx" || command === "hsetnx" || (command === "set" && call.has("NX", 3));
        const timed = ["PX", "EX", "PXAT", "EXAT"].some((o) => call.has(o, 3)) || call.open !== undefined;
        if (command === "setnx" || (command === "set" && conditional && !timed)) report("steps", data, call.commandAt);
        if (guardsKey(call, use.term) || testedInLoops(effects, use.term)) continue;
        if (!conditional) {
          if (!guardsKey(call, undefined) && storedInputs(call).length > 0) report("overwrites", data, call.commandAt);
        } else if (!isHeard(effects, call)) report("unheard", data, call.commandAt);
      }
    },
  },
});
