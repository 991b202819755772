import { defineRule } from "../../src/engine/rule.js";
import { isCrossed } from "../../src/model/program/fields.js";
import { blindChanges } from "../../src/model/program/inferred-locks.js";
import { comparesInput, ENDS, EXTENDS, keyTitle, locksOf } from "../../src/model/program/locks.js";
import { ownershipOf, storesBefore, testedInLoops } from "../../src/model/program/ownership.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "A lock is ended, extended and inspected only for the owner (and operation) that took it.",
    why: "A holder whose lock ran out deletes or extends the lock of the next one: two run at once, and nobody is told.",
    fix: "Read the key, compare it with the owner and the operation of the call, and act only when they are equal.",
    bad: "return redis.call('DEL', KEYS[1])\n",
    good: "if redis.call('GET', KEYS[1]) == ARGV[1] then\n  return redis.call('DEL', KEYS[1])\nend\nreturn 0\n",
    source: {
      title: "Redis: Distributed locks – releasing the lock",
      url: "https://redis.io/docs/latest/develop/use/patterns/distributed-locks/",
    },
    rows: ["C-L01"],
  },
  messages: {
    blind: {
      text: "{command} {does} {key} without comparing what is stored there with the caller: it hits whoever holds the lock",
      help: "Act only when the stored value equals the owner that the call names.",
    },
    partial: {
      text: "{command} {does} {key} for any {missing}: only {compared} is compared",
      help: "Store and compare every part of who holds the lock.",
    },
    unread: {
      text: "{program} is asked about {missing} and compares it with nothing that is stored",
      help: "Compare the stored value with it, so that a former owner is not told that it still holds the lock.",
    },
  },
  on: {
    Program(program, { contract, report }) {
      const locks = locksOf(contract);
      const lock = locks.of(program);
      if (lock === undefined) return;
      const { effects, entry, identity } = lock;
      const name = (i: number): string => entry.argv[i - 1]?.name.value || `ARGV[${i}]`;
      for (const { call, use, key } of lock.changes) {
        if (locks.counters.has(key) || call.command === "persist") continue;
        if (EXTENDS.has(call.command ?? "") && storesBefore(effects, call, use.term)) continue;
        const own = locks.leases.has(key) || locks.leases.size === 0;
        const same = ownershipOf(call, own ? use.term : undefined, effects.terms);
        if (same.unclear || (!same.tested && testedInLoops(effects, use.term))) continue;
        const words = {
          command: (call.command ?? "").toUpperCase(),
          does: ENDS.has(call.command ?? "") ? "deletes" : "extends",
          key: keyTitle(program, use.origin),
        };
        if (!same.tested) report("blind", words, call.commandAt);
        else if (own) {
          const { argv, either } = ownershipOf(call, undefined, effects.terms, (t) =>
            isCrossed(t, entry, locks.fields),
          );
          const missing = identity.filter((i) => !argv.has(i));
          const compared = identity.filter((i) => argv.has(i)).map(name);
          if (missing.length > 0 && (argv.size > 0 || either || same.argv.size > 0)) {
            const rest = compared.length > 0 ? compared.join(" and ") : either ? "one of several" : "something else";
            report("partial", { ...words, missing: missing.map(name).join(" and "), compared: rest }, call.commandAt);
          }
        }
      }
      if (effects.writes.length > 0 || effects.keys.length === 0) return;
      const unread = identity.filter((i) => !comparesInput(effects, i));
      const first = unread[0];
      // Through a helper that is not understood it may still be compared.
      if (first === undefined || effects.unknowns.length > 0 || effects.inputs("argv").whole.length > 0) return;
      const used = effects.inputs("argv").uses.find((u) => u.index === first);
      if (used !== undefined && used.asKey.length + used.asValue.length > 0) return;
      const data = { program: program.name, missing: unread.map(name).join(" and ") };
      report("unread", data, entry.argv[first - 1]!.at, { related: [{ at: lock.script.head, message: "the script" }] });
    },
    ProgramSet(set, { report }) {
      for (const { call, index, acquisition } of blindChanges(set)) {
        const { command = "" } = call;
        const words = {
          command: command.toUpperCase(),
          does: ENDS.has(command) ? "deletes" : "extends",
          key: `KEYS[${index}]`,
        };
        report("blind", words, call.commandAt, {
          related: [{ at: acquisition.call.at, message: `${acquisition.script.name} stores the owner` }],
        });
      }
    },
  },
});
