import { defineRule } from "../../src/engine/rule.js";
import { evalshaCalls } from "../../src/model/program/descriptor/recovery.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Callers of EVALSHA recover from NOSCRIPT: they send the script's text again and try once more.",
    why: "A server's script cache is neither replicated nor kept over a restart. After a failover every EVALSHA answers NOSCRIPT until somebody loads the script again; without a bound on the tries, a server that refuses to load is asked forever.",
    fix: "Catch NOSCRIPT, load the script (or call EVAL once), and try again a bounded number of times.",
    bad: "export const hit = (sha: string) => redis.evalsha(sha, 1, key);\n",
    good: 'export const hit = (sha: string) => redis.evalsha(sha, 1, key).catch((e) => {\n  if (!e.message.startsWith("NOSCRIPT")) throw e;\n  return redis.eval(LUA, 1, key);\n});\n',
    source: {
      title: "Redis: Eval scripting, script cache",
      url: "https://redis.io/docs/latest/develop/programmability/eval-intro/",
    },
    rows: ["C-P14"],
  },
  messages: {
    missing: {
      text: "EVALSHA without recovery: after a restart or a failover the server answers NOSCRIPT, and nothing sends the script again",
    },
    unawaited: {
      text: "the promise of EVALSHA leaves the `try` before it fails: its handler never sees NOSCRIPT",
      help: "Write `return await`.",
    },
    unbounded: {
      text: "the call is tried again after NOSCRIPT without a bound",
      help: "Count the tries, or call EVAL once instead.",
    },
  },
  on: {
    Contract({ programs }, { report }) {
      const inputs = programs.sets.flatMap(({ source: s }) => [
        ...s.descriptors.map((d) => d.input),
        ...s.callers,
        ...s.sources,
      ]);
      const trees = programs.trees(inputs) ?? [];
      for (const { at, verdict, by } of evalshaCalls(trees.map((t) => ({ source: t.input.source, code: t.code })))) {
        if (verdict === "recovers") continue;
        report(verdict, {}, at, by === undefined ? {} : { related: [{ at: by, message: "tried again here" }] });
      }
    },
  },
});
