import { defineRule } from "../../src/engine/rule.js";
import type { Call } from "../../src/model/program/call.js";
import {
  argumentNamed,
  isGuardedBy,
  isRemembered,
  keyOfTerm,
  mentionsArgument,
} from "../../src/model/program/judge.js";
import { testsOf } from "../../src/model/program/query.js";

const GENERATION = /generation|epoch/i;
const REVISION = /revision/i;
const COUNTS = /^(?:incr|incrby|hincrby)$/;

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
    Program({ entry, script, name: program }, { report }) {
      const effects = script?.effects;
      if (entry?.class?.value !== "cache" || effects === undefined) return;
      const { terms } = effects;
      const writes = effects.writes.filter((w) => w.command !== "getex");
      const nameOf = (call: Call): string => keyOfTerm(entry, call.argv[1])?.name.value ?? "a key";
      const bumps = writes.filter((w) => COUNTS.test(w.command ?? "") && GENERATION.test(nameOf(w)));
      const dropped = writes.find((w) => /^(?:del|unlink)$/.test(w.command ?? "") && !GENERATION.test(nameOf(w)));
      const revised = writes.find((w) => REVISION.test(nameOf(w)));
      for (const bump of bumps) {
        const entryOf = dropped ?? revised;
        if (entryOf !== undefined) {
          const related = [{ at: entryOf.at, message: "the single entry" }];
          report("invalidation", { program }, bump.commandAt, { related });
        } else if (!isRemembered(bump, effects)) report("bump", { program }, bump.commandAt);
      }
      for (const c of effects.comparisons) {
        if (c.op !== "less" && c.op !== "lessOrEqual") continue;
        const index = argumentNamed(entry, REVISION);
        const byArgument = index !== undefined && [c.left, c.right!].some((t) => mentionsArgument(t, index));
        const byKey = testsOf([c], undefined, terms).some((t) =>
          REVISION.test(keyOfTerm(entry, t.read.key)?.name.value ?? ""),
        );
        if (byArgument || byKey) report("ordered", { program }, c.at);
      }
      for (const [what, name] of [
        ["generation", GENERATION],
        ["revision", REVISION],
      ] as const) {
        const index = argumentNamed(entry, name);
        if (index === undefined) continue;
        const argument = entry.argv[index - 1]!;
        // a value that is stored under its own key is a new one, not a captured one
        const stores = writes.some(
          (w) => name.test(nameOf(w)) && w.argv.slice(2).some((t) => mentionsArgument(t, index)),
        );
        if (stores) continue;
        for (const write of writes) {
          if (isGuardedBy(write, terms, index)) continue;
          const related = [{ at: argument.name.at, message: "what was captured" }];
          report("unguarded", { program, key: nameOf(write), what, argument: argument.name.value }, write.commandAt, {
            related,
          });
          break;
        }
      }
    },
  },
});
