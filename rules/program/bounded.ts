import { defineRule } from "../../src/engine/rule.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "No program reads or removes an unlimited number of elements.",
    why: "A script runs alone: while it walks through a large key, no other client is answered, and Sentinel may take the server for dead.",
    fix: "Read a limited range, or ask for the size first and refuse; declare the limit under bounds.",
    bad: "return redis.call('LRANGE', KEYS[1], 0, -1)\n",
    good: "return redis.call('LRANGE', KEYS[1], 0, 99)\n",
    source: {
      title: "Redis: latency, slow commands",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/optimization/latency/",
    },
    rows: ["C-P09"],
  },
  messages: {
    unbounded: {
      text: "{command} takes as many elements as there are: nothing in the script limits them",
      inferred: "info",
      once: true,
    },
    keyspace: { text: "{command} goes through every key of the server", inferred: "warning" },
    undeclared: {
      text: "{program} limits {command} by a check and declares no bound",
      help: "Declare it: bounds with maxItems.",
      inferred: "off",
    },
    above: {
      text: "{command} takes up to {count} elements, and {program} declares {max}",
      inferred: "off",
    },
    argument: {
      text: "how many elements {command} takes is whatever the caller passes",
      help: "Clamp the argument in the script, by math.min.",
      inferred: "off",
    },
  },
  on: {
    LuaScript(script, { contract, report }) {
      const { effects } = script;
      if (effects === undefined || script.fragment) return;
      const entry = script.programs.find((p) => p.entry !== undefined)?.entry;
      const max = entry?.bounds?.maxItems;
      for (const { call, max: count, at } of max === undefined ? [] : effects.limits) {
        if (count !== undefined && count <= max!.value) continue;
        const related = [{ at: max!.at, message: "what is declared" }];
        const command = (call.command ?? "").toUpperCase();
        if (count === undefined) report("argument", { command }, at, { related });
        else {
          const data = { command, count, program: script.programs[0]!.name, max: max!.value };
          report("above", data, at, { related });
        }
      }
      for (const { call, kind, wordAt, bound } of effects.unbounded) {
        const command = (call.command ?? "").toUpperCase();
        if (kind === "keyspace") report("keyspace", { command }, wordAt);
        else if (bound === undefined) report("unbounded", { command }, wordAt);
        else if (bound.kind === "argv") {
          if (contract.declared) report("argument", { command }, wordAt);
        } else if (entry !== undefined && entry.bounds === undefined && bound.kind !== "loop") {
          report("undeclared", { program: script.programs[0]!.name, command }, entry.id?.at ?? entry.at, {
            related: [
              { at: wordAt, message: "what is limited" },
              { at: bound.at, message: "the check" },
            ],
          });
        }
      }
    },
  },
});
