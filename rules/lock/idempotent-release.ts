import { defineRule } from "../../src/engine/rule.js";
import { decodedUnseen, ENDS, locksOf } from "../../src/model/program/locks.js";
import { pathsWhen } from "../../src/model/program/situation.js";

export default defineRule({
  severity: "error",
  inferred: "off",
  docs: {
    summary: "Releasing a lock twice has a defined result.",
    why: "A release whose answer was lost is sent again: an error or an empty answer there turns a finished piece of work into a failed one.",
    fix: "Answer the second release with a value of its own, such as NOT_FOUND.",
    bad: "if not redis.call('GET', KEYS[1]) then return redis.error_reply('no lock') end\n",
    good: "if not redis.call('GET', KEYS[1]) then return 'NOT_FOUND' end\n",
    source: {
      title: "Redis: Distributed locks",
      url: "https://redis.io/docs/latest/develop/use/patterns/distributed-locks/",
    },
    rows: ["C-L05"],
  },
  messages: {
    error: {
      text: "{program} fails when the lock is already gone: a repeated release is an error",
      help: "Return a value that says that there was nothing to release.",
    },
    nothing: {
      text: "{program} ends without an answer when the lock is already gone",
      help: "Return a value that says that there was nothing to release.",
    },
  },
  on: {
    Program(program, { contract, report }) {
      const locks = locksOf(contract);
      const lock = locks.of(program);
      if (lock === undefined || !lock.changes.some((c) => ENDS.has(c.call.command ?? ""))) return;
      if (lock.acquires.length > 0) return;
      const key = locks.leaseKey(lock);
      if (key === undefined) return;
      const seen = new Set<number>();
      for (const { result, exit, empty, at, guards } of pathsWhen(lock.effects, key, "nobody")) {
        // What the script refuses before it looks at the lock (a malformed argument) is another matter.
        if (guards.every((g) => g.right === undefined && g.left.kind === "compute") || seen.has(at.start)) continue;
        if (result.kind === "error" || exit === "error") report("error", { program: program.name }, at);
        else if (empty && lock.entry.result?.type.value !== "nil") {
          report("nothing", { program: program.name }, lock.entry.result?.at ?? program.at, {
            related: [{ at: lock.script.head, message: "the script" }],
          });
        } else continue;
        seen.add(at.start);
      }
      const decoded = seen.size > 0 ? undefined : decodedUnseen(lock);
      if (decoded !== undefined) report("error", { program: program.name }, decoded);
    },
  },
});
