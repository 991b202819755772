import { defineRule } from "../../src/engine/rule.js";
import { isRemembered, isRepeatable } from "../../src/model/program/judge.js";

export default defineRule({
  severity: "error",
  inferred: "warning",
  docs: {
    summary: "A program is declared safe to send again only where a second run does no more than the first.",
    why: "After a lost answer a client sends a safe program again: a counter then counts twice, a message stands twice in the list.",
    fix: "Remember an operation id or compare the value that is replaced; otherwise declare unsafe.",
    bad: '"retry": "safe"   and in the script: redis.call("INCR", KEYS[1])\n',
    good: '"retry": "unsafe"\n',
    source: {
      title: "Redis: scripts are atomic, their delivery is not",
      url: "https://redis.io/docs/latest/develop/programmability/eval-intro/",
    },
    rows: ["C-P13"],
  },
  messages: {
    writes: "{program} is declared read-only and writes: {command}",
    repeats: {
      text: "{program} is declared safe to send again, and {command} does more when it is sent twice",
      help: "Ask for a remembered operation id or compare the stored value before it; NX alone does not tell the caller its own success.",
    },
    reads: { text: "{program} only reads, and is declared {retry}", severity: "warning" },
  },
  on: {
    Program({ entry, script, name: program }, { report }) {
      const effects = script?.effects;
      const retry = entry?.retry;
      if (retry === undefined || effects === undefined) return;
      const related = [{ at: retry.at, message: "what is declared" }];
      const { writes } = effects;
      if (retry.value === "read-only") {
        const [write] = writes;
        if (write !== undefined)
          report("writes", { program, command: write.command!.toUpperCase() }, write.commandAt, { related });
        return;
      }
      if (writes.length === 0 && effects.commandsComplete && effects.commands.size > 0) {
        report("reads", { program, retry: retry.value }, retry.at);
        return;
      }
      if (retry.value !== "safe") return;
      const bad = writes.find((w) => !isRepeatable(w) && !isRemembered(w, effects));
      if (bad !== undefined)
        report("repeats", { program, command: bad.command!.toUpperCase() }, bad.commandAt, { related });
    },
  },
});
