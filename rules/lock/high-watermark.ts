import { defineRule } from "../../src/engine/rule.js";
import { ENDS, keyOf, keyTitle, locksOf } from "../../src/model/program/locks.js";
import { isUnchecked, judgeWatermark, textOrders, unstored } from "../../src/model/program/watermark.js";

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
    early: {
      text: "{command} changes {key} before the token is compared with the highest seen: a stale holder has written there",
      help: "Compare the token before anything is written.",
    },
    text: {
      text: 'tokens are compared as texts: "10" comes before "9"',
      help: "Put tonumber() around both sides.",
    },
    stuck: {
      text: "{program} compares its token with {key} and stores it nowhere: the highest seen never grows",
      help: "Store the token when it is accepted.",
    },
    expires: {
      text: "{command} lets {key}, the high watermark of {program}, expire: every stale token is accepted again",
      help: 'Keep it without a time to live, and declare it "durable".',
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
      const effects = program.script?.effects;
      for (const { call, origins } of effects?.ttls ?? []) {
        const mark = origins.map((o) => patterns.get(keyOf(program, o))).find((m) => m !== undefined);
        if (mark === undefined) continue;
        const data = { command: (call.command ?? "").toUpperCase(), key: keyTitle(program, origins[0]!) };
        report("expires", { ...data, program: mark.lock.program.name }, call.commandAt, {
          related: [{ at: mark.mark.call.at, message: "the watermark is stored here" }],
        });
      }
      if (lock === undefined) return;
      for (const { at, key } of textOrders(lock)) if (!locks.leases.has(key)) report("text", {}, at);
      const stuck = unstored(lock, locks);
      if (stuck !== undefined && (stuck.field !== undefined || !patterns.has(stuck.key)))
        report("stuck", { program: program.name, key: stuck.title }, stuck.at);
      for (const mark of locks.watermarks(lock)) {
        const verdict = judgeWatermark(lock.effects, mark);
        const [use] = lock.effects.keysOf(mark.call) ?? [];
        for (const call of verdict === undefined ? lock.effects.writes : []) {
          const [other] = lock.effects.keysOf(call) ?? [];
          if (call === mark.call || other === undefined || !isUnchecked(lock.effects, mark, call)) continue;
          const data = { command: (call.command ?? "").toUpperCase(), key: keyTitle(program, other.origin) };
          report("early", data, call.commandAt, {
            related: [{ at: mark.call.at, message: "the watermark is stored here" }],
          });
        }
        if (verdict === undefined || use === undefined) continue;
        const data = { command: (mark.call.command ?? "").toUpperCase(), key: keyTitle(program, use.origin) };
        report(verdict, data, mark.call.commandAt);
      }
    },
  },
});
