import { defineRule } from "../../src/engine/rule.js";
import type { ResultPath } from "../../src/model/program/effects.js";
import { EXTENDS, locksOf } from "../../src/model/program/locks.js";
import { answerOf, answerText, pathsWhen, sameAnswer } from "../../src/model/program/situation.js";
import type { Span } from "../../src/text/source.js";

export default defineRule({
  severity: "error",
  inferred: "off",
  docs: {
    summary: "A renewal or inspection by an owner that lost its lock has a result of its own.",
    why: "An owner that cannot tell that it lost the lock goes on working beside the next holder.",
    fix: "Answer LOST when somebody else holds the lock, NOT_FOUND when there is none, and neither of both on success.",
    bad: "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 1 end\nreturn 0\n",
    good: "if current == ARGV[1] then … return 'RENEWED' end\nif current then return 'LOST' end\nreturn 'NOT_FOUND'\n",
    source: {
      title: "Redis: Distributed locks",
      url: "https://redis.io/docs/latest/develop/use/patterns/distributed-locks/",
    },
    rows: ["C-L07"],
  },
  messages: {
    success: {
      text: "{program} answers {answer} to an owner whose lock somebody else holds, as to one that holds it",
      help: "Give an owner that lost its lock a result of its own.",
    },
    missing: {
      text: "{program} answers {answer} when somebody else holds the lock and when there is none: a lost lock cannot be told",
      help: "Tell LOST (another holder) from NOT_FOUND (no such lock).",
    },
  },
  on: {
    Program(program, { contract, report }) {
      const locks = locksOf(contract);
      const lock = locks.of(program);
      if (lock === undefined || lock.identity.length === 0 || lock.acquires.length > 0) return;
      const { effects } = lock;
      const renews = lock.changes.some((c) => EXTENDS.has(c.call.command ?? "") || c.call.command === "set");
      const key = locks.leaseKey(lock);
      if ((!renews && effects.writes.length > 0) || key === undefined) return;
      const mine = answers(pathsWhen(effects, key, "caller"));
      const lost = answers(pathsWhen(effects, key, "other"));
      const none = answers(pathsWhen(effects, key, "nobody"));
      if (mine === undefined || lost === undefined || none === undefined) return;
      for (const path of lost) {
        if (!mine.some((m) => sameAnswer(m.answer, path.answer))) continue;
        report("success", { program: program.name, answer: answerText(path.answer) }, path.at);
        return;
      }
      const [first] = none;
      if (first === undefined || none.some((n) => !lost.some((l) => sameAnswer(n.answer, l.answer)))) return;
      report("missing", { program: program.name, answer: answerText(first.answer) }, first.at);
    },
  },
});

interface Answered {
  readonly answer: readonly string[];
  readonly at: Span;
}

/** The answers of paths, refusals aside; undefined when one is not known. */
function answers(paths: readonly ResultPath[]): readonly Answered[] | undefined {
  const out: Answered[] = [];
  for (const { result, at } of paths) {
    if (result.kind === "error") continue;
    const answer = answerOf(result);
    if (answer === undefined) return undefined;
    out.push({ answer, at });
  }
  return out;
}
