import { defineRule } from "../../src/engine/rule.js";
import type { Call } from "../../src/model/program/call.js";
import type { ScriptEffects } from "../../src/model/program/effects.js";
import { argumentNamed, isGuardedBy } from "../../src/model/program/judge.js";
import { readOf } from "../../src/model/program/query.js";
import { literalTexts } from "../../src/model/program/texts.js";

const OWNER = /owner|holder/i;
const ATTEMPT = /attempt/i;
/** Steps that only the claim's owner may take. */
const STEP =
  /(?:^|[^a-z])(?:start|begin|renew|extend|heartbeat|complete|finish|commit|fail|release|abort)(?:$|[^a-z])/i;
const CLAIM = /(?:^|[^a-z])(?:claim|acquire)(?:$|[^a-z])/i;
const PROCESSING = /process|claim|lease|executing/i;
const REPLAY = /replay|retention|result|response/i;

export default defineRule({
  severity: "error",
  docs: {
    summary:
      "Every step of an idempotent request is taken by the owner and the attempt that claimed it, and an expired execution is never claimed again in silence.",
    why: "An owner that was paused goes on after somebody else took over: both then write their results, or the work is done twice.",
    fix: "Compare the stored owner and attempt before each write; answer RECOVERY_REQUIRED for a claim that expired while executing.",
    bad: "redis.call('HSET', KEYS[1], 'status', 'COMPLETED')\n",
    good: "if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] and redis.call('HGET', KEYS[1], 'attempt') == ARGV[2] then\n  redis.call('HSET', KEYS[1], 'status', 'COMPLETED')\nend\n",
    source: {
      title: "Redis: scripting with Lua, atomicity",
      url: "https://redis.io/docs/latest/develop/programmability/eval-intro/",
    },
    rows: ["C-P17"],
  },
  messages: {
    unguarded: "{program} writes without having compared the stored {what} with {argument}",
    anonymous: { text: "{program} takes no {what}: it cannot tell who claimed the request" },
    "one-life": {
      text: "{argument} gives the processing time and the replay time of a request: a short claim then forgets the result early, a long one blocks the retry",
    },
    "silent-claim": {
      text: "{program} claims again without ever answering RECOVERY_REQUIRED: an execution that expired may have had its effects",
    },
  },
  on: {
    Program({ entry, script, set, name: program }, { report }) {
      const effects = script?.effects;
      if (entry?.class?.value !== "idempotency" || effects === undefined) return;
      const { terms, writes } = effects;
      const id = entry.id?.value ?? "";
      const place = entry.id?.at ?? entry.at;
      if (STEP.test(id) && !CLAIM.test(id)) {
        for (const [what, name] of [
          ["owner", OWNER],
          ["attempt", ATTEMPT],
        ] as const) {
          const index = argumentNamed(entry, name);
          if (index === undefined) {
            // a team may call its owner otherwise: what other programs of the set take is what this one lacks
            const other = set.programs.find(
              (p) => p.entry?.class?.value === "idempotency" && p.entry.argv.some((a) => name.test(a.name.value)),
            );
            if (other !== undefined && writes.length > 0)
              report("anonymous", { program, what }, place, {
                related: [{ at: other.at, message: `${other.name} takes it` }],
              });
            continue;
          }
          const bad = writes.find((w) => !isGuardedBy(w, terms, index));
          if (bad === undefined) continue;
          const argument = entry.argv[index - 1]!;
          report("unguarded", { program, what, argument: argument.name.value }, bad.commandAt, {
            related: [{ at: argument.name.at, message: "the argument" }],
          });
        }
      }
      for (const ttl of entry.ttl) {
        const argument = ttl.argv?.value ?? "";
        const completes = /complete|finish|commit|fail/i.test(id);
        const claims = CLAIM.test(id) || /start|renew/i.test(id);
        const wrong = completes
          ? PROCESSING.test(argument) && !REPLAY.test(argument)
          : claims && REPLAY.test(argument) && !PROCESSING.test(argument);
        if (wrong) report("one-life", { argument }, ttl.argv!.at);
      }
      if (CLAIM.test(id) && overwrites(writes, effects) && !literalTexts(effects).has("RECOVERY_REQUIRED")) {
        report("silent-claim", { program }, place, {
          related: [{ at: writes[0]!.at, message: "the claim" }],
        });
      }
    },
  },
});

/** Whether a claim may be written over another one: no NX and no look at what is stored stands in the way. */
function overwrites(writes: readonly Call[], effects: ScriptEffects): boolean {
  const claims = writes.filter((w) => /^(?:hset|hmset|set)$/.test(w.command ?? "") && !w.has("NX", 3));
  return claims.some((w) => !w.guards.some((g) => g.op === "false" && readOf(g.left, effects.terms) !== undefined));
}
