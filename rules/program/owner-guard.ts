import { defineRule } from "../../src/engine/rule.js";
import type { Call } from "../../src/model/program/call.js";
import { type Claims, claimsOf, isFree } from "../../src/model/program/claims.js";
import type { ScriptEffects } from "../../src/model/program/effects.js";
import { isCrossed } from "../../src/model/program/fields.js";
import { comparesByIndex, isGuardedBy } from "../../src/model/program/judge.js";
import type { ManifestProgram } from "../../src/model/program/manifest.js";
import { literalTexts } from "../../src/model/program/texts.js";

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
    Program(self, { contract, report }) {
      const { entry, script, name: program } = self;
      const effects = script?.effects;
      if (entry?.class?.value !== "idempotency" || effects === undefined) return;
      const { terms, writes } = effects;
      const id = entry.id?.value ?? "";
      const place = entry.id?.at ?? entry.at;
      const claims = claimsOf(contract);
      const role = claims.roleOf(self);
      for (const [what, other] of role === "step" && !comparesByIndex(effects) ? claims.identity : []) {
        const index = claims.argument(entry, what);
        if (index === undefined) {
          report("anonymous", { program, what }, place, {
            related: [{ at: other.at, message: `${other.name} takes it` }],
          });
          continue;
        }
        const bad = writes.find((w) => !isGuardedBy(w, terms, index, (t) => isCrossed(t, entry, claims.fields)));
        if (bad === undefined) continue;
        const argument = entry.argv[index - 1]!;
        report("unguarded", { program, what, argument: argument.name.value }, bad.commandAt, {
          related: [{ at: argument.name.at, message: "the argument" }],
        });
      }
      for (const ttl of entry.ttl) {
        const argument = ttl.argv?.value ?? "";
        const completes = /complete|finish|commit|fail/i.test(id);
        const begins = role === "claim" || /start|renew/i.test(id);
        const wrong = completes
          ? PROCESSING.test(argument) && !REPLAY.test(argument)
          : begins && REPLAY.test(argument) && !PROCESSING.test(argument);
        if (wrong) report("one-life", { argument }, ttl.argv!.at);
      }
      if (role !== "claim" || literalTexts(effects).has("RECOVERY_REQUIRED")) return;
      const claim = writes.find((w) => /^(?:hset|hmset|set)$/.test(w.command ?? "") && !isFree(w, effects));
      if (claim === undefined || isOwn(claim, entry, effects, claims)) return;
      report("silent-claim", { program }, place, { related: [{ at: claim.at, message: "the claim" }] });
    },
  },
});

/** Only whoever has the claim makes this write. */
function isOwn(write: Call, entry: ManifestProgram, effects: ScriptEffects, claims: Claims): boolean {
  const own = [...claims.identity.keys()].flatMap((title) => claims.argument(entry, title) ?? []);
  return own.length > 0 && own.every((i) => isGuardedBy(write, effects.terms, i));
}
