import { defineRule } from "../../src/engine/rule.js";
import {
  ENDS,
  keyOf,
  keyTitle,
  type LockProgram,
  locksOf,
  readsWatermark,
  type Watermark,
} from "../../src/model/program/locks.js";
import { guardsKey } from "../../src/model/program/ownership.js";
import { inputOf, testsOf } from "../../src/model/program/query.js";
import { base, type Term } from "../../src/model/program/term.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "A resource behind a fenced lock refuses every token below the highest that it has seen.",
    why: "Without the compare a holder that slept past its lease overwrites what its successor wrote: the lock then promises what nobody keeps.",
    fix: "Compare the token with the stored one as numbers, refuse a lower one, take an equal one only from the same owner, then store it.",
    bad: "redis.call('HSET', KEYS[1], 'token', ARGV[2], 'value', ARGV[3])\n",
    good: "local high = tonumber(redis.call('HGET', KEYS[1], 'token') or '0')\nif tonumber(ARGV[2]) < high then return 0 end\n",
    source: {
      title: "Martin Kleppmann: How to do distributed locking",
      url: "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html",
    },
    rows: ["C-L03"],
  },
  messages: {
    unchecked: {
      text: "{command} stores the token in {key} without comparing it with the one that is there: a stale holder overwrites its successor",
      help: "Refuse a token that is lower than the stored one before anything is written.",
    },
    lowered: {
      text: "{command} stores a token in {key} that may be lower than the one that is there",
      help: "The comparison is the wrong way round: a token lower than the stored one must be refused.",
    },
    equal: {
      text: "{command} accepts a token equal to the highest seen in {key} from any owner",
      help: "Take an equal token only from the owner that is stored beside it, or refuse it.",
    },
    forgotten: {
      text: "{command} deletes {key}, the high watermark of {program}: every stale token is accepted again",
      help: "The watermark only grows; delete the value beside it, not the watermark.",
    },
  },
  on: {
    Program(program, { contract, report }) {
      const locks = locksOf(contract);
      const lock = locks.of(program);
      const patterns = new Map(
        locks.programs.flatMap((l) => locks.watermarks(l).map((m) => [m.pattern, { lock: l, mark: m }] as const)),
      );
      for (const use of program.script?.effects?.keys ?? []) {
        const mark = patterns.get(keyOf(program, use.origin));
        const { command = "" } = use.call;
        if (mark === undefined || !ENDS.has(command) || locks.leases.has(mark.mark.pattern)) continue;
        const data = { command: command.toUpperCase(), key: keyTitle(program, use.origin) };
        report("forgotten", { ...data, program: mark.lock.program.name }, use.call.commandAt, {
          related: [{ at: mark.mark.call.at, message: "the watermark is stored here" }],
        });
      }
      if (lock === undefined) return;
      for (const mark of locks.watermarks(lock)) {
        const verdict = judge(lock, mark);
        const [use] = lock.effects.keysOf(mark.call) ?? [];
        if (verdict === undefined || use === undefined) continue;
        const data = { command: (mark.call.command ?? "").toUpperCase(), key: keyTitle(program, use.origin) };
        report(verdict, data, mark.call.commandAt);
      }
    },
  },
});

function judge(lock: LockProgram, mark: Watermark): "unchecked" | "lowered" | "equal" | undefined {
  const { effects } = lock;
  const { terms } = effects;
  const isToken = (t: Term): boolean => {
    const input = inputOf(t);
    return input?.table === "argv" && input.index === mark.token.index;
  };
  let above = false;
  let strictly = false;
  let below = false;
  let free = false;
  for (const { op, left, right } of mark.call.guards) {
    if (right === undefined) {
      if (op === "false" && readsWatermark(left, mark, effects)) free = true;
      continue;
    }
    const up = readsWatermark(left, mark, effects) && isToken(right);
    const down = isToken(left) && readsWatermark(right, mark, effects);
    if (!up && !down) continue;
    if (op === "less" || op === "lessOrEqual") {
      if (up) above = true;
      else below = true;
      if (up && op === "less") strictly = true;
    } else if (op === "equal") above = true;
  }
  if (free || strictly) return undefined;
  if (!above) {
    if (below) return "lowered";
    // A condition that is made otherwise (a flag, a helper's answer) may well be the compare.
    const other = mark.call.guards.some((g) => g.right === undefined && base(g.left).kind !== "reply");
    return other && guardsKey(mark.call, mark.key) ? undefined : "unchecked";
  }
  const owners = testsOf(effects.comparisons, mark.key, terms).some(
    (t) =>
      !readsWatermark(t.guard.left, mark, effects) &&
      !readsWatermark(t.guard.right!, mark, effects) &&
      t.inputs.length > 0,
  );
  return owners ? undefined : "equal";
}
