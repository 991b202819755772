import { defineRule } from "../../src/engine/rule.js";
import { cachingOf } from "../../src/model/program/caching.js";
import { isGuardedBy, isRemembered, remembersOperation } from "../../src/model/program/judge.js";
import { sameKey } from "../../src/model/program/query.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "A cached value is recorded only under the generation and the revision that it was computed with.",
    why: "A loader that was slow writes a value from before the invalidation, and every reader gets it until it expires.",
    fix: "Compare the captured generation and revision for equality before the write, in the same script; bump once per operation.",
    bad: "redis.call('SET', KEYS[3], ARGV[3])\n",
    good: "if redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('GET', KEYS[2]) == ARGV[2] then\n  redis.call('SET', KEYS[3], ARGV[3], 'PX', 60000)\nend\n",
    source: {
      title: "Redis: scripting with Lua, atomicity",
      url: "https://redis.io/docs/latest/develop/programmability/eval-intro/",
    },
    rows: ["C-P16"],
  },
  messages: {
    unguarded: "{program} writes {key} without having compared the stored {what} with {argument}",
    ordered: {
      text: "{program} compares the revision by its size: a revision is opaque, only equal or not",
    },
    bump: {
      text: "{program} counts the generation up without a remembered operation: a call that is sent again makes the region stale twice",
    },
    invalidation: "{program} drops single entries and moves the generation of the whole region",
  },
  on: {
    Program(self, { contract, report }) {
      const { entry, script, name: program } = self;
      const effects = script?.effects;
      if (entry?.class?.value !== "cache" || effects === undefined) return;
      const caching = cachingOf(contract);
      const { terms } = effects;
      const writes = effects.writes.filter((w) => w.command !== "getex");
      for (const bump of writes.filter((w) => caching.bumps(self, w))) {
        const entryOf = writes.find((w) => caching.isOfEntry(self, w) && !sameKey(w.argv[1], bump.argv[1]));
        if (entryOf !== undefined) {
          const related = [{ at: entryOf.at, message: "the single entry" }];
          report("invalidation", { program }, bump.commandAt, { related });
        } else if (!isRemembered(bump, effects) || !remembersOperation(bump, entry, effects.terms))
          report("bump", { program }, bump.commandAt);
      }
      for (const c of effects.comparisons) {
        if ((c.op === "less" || c.op === "lessOrEqual") && caching.isAbout(self, c, "revision"))
          report("ordered", { program }, c.at);
      }
      for (const what of ["generation", "revision"] as const) {
        const index = caching.captured(self, what);
        const bad = index === undefined ? undefined : writes.find((w) => !isGuardedBy(w, terms, index));
        if (index === undefined || bad === undefined) continue;
        const argument = entry.argv[index - 1]!;
        const related = [{ at: argument.name.at, message: "what was captured" }];
        const data = { program, key: caching.keyTitle(self, bad), what, argument: argument.name.value };
        report("unguarded", data, bad.commandAt, { related });
      }
    },
  },
});
