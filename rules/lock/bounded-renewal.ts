import { defineRule } from "../../src/engine/rule.js";
import { EXTENDS, keyTitle, locksOf } from "../../src/model/program/locks.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "The renewal of a lock is bounded in total.",
    why: "A watchdog that renews without end keeps a lock for a holder that hangs: the work stops, and no expiry helps.",
    fix: 'Declare "renewal": { "maxTotalMs": … } or { "maxCount": … } and let the program or its caller keep it; never PERSIST a lock.',
    bad: '{ "id": "lease-renew", "class": "lease", "commands": ["GET", "PEXPIRE"] }\n',
    good: '{ "id": "lease-renew", "class": "lease", "renewal": { "maxTotalMs": 600000 }, "commands": ["GET", "PEXPIRE"] }\n',
    source: {
      title: "Redis: Distributed locks – making the algorithm more reliable: extending the lock",
      url: "https://redis.io/docs/latest/develop/use/patterns/distributed-locks/",
    },
    rows: ["C-L08"],
  },
  messages: {
    unbounded: {
      text: "{program} extends {key} and declares no maximum total hold or number of renewals",
      help: 'Add "renewal" with "maxTotalMs" or "maxCount".',
    },
    persist: {
      text: "PERSIST on {key} takes the expiry away from a lock: it outlives a holder that is gone",
      help: "Extend it by a bounded time.",
    },
  },
  on: {
    Program(program, { contract, report }) {
      const locks = locksOf(contract);
      const lock = locks.of(program);
      if (lock === undefined) return;
      // the life of a watermark is no renewal
      const marks = new Set(locks.watermarks(lock).map((m) => m.pattern));
      let said = false;
      for (const { call, use, key } of lock.changes) {
        const data = { key: keyTitle(program, use.origin) };
        if (call.command === "persist") report("persist", data, call.commandAt);
        else if (said || lock.acquires.length > 0 || locks.counters.has(key) || marks.has(key)) continue;
        else if (EXTENDS.has(call.command ?? "") || call.command === "set") {
          const { renewal } = lock.entry;
          if (renewal?.maxTotalMs !== undefined || renewal?.maxCount !== undefined) continue;
          said = true;
          report("unbounded", { program: program.name, key: data.key }, lock.entry.id?.at ?? program.at, {
            related: [{ at: call.at, message: "it is extended here" }],
          });
        }
      }
    },
  },
});
