/** What runs before what, on every path. */
import { type Domain, interpret, type Step } from "./interpret.js";
import type { Invocation, ShellProgram } from "./program.js";

/** true or false on every path; undefined: not decided, or `then` is never reached. */
type Verdict = boolean | undefined;

type Progress = "before" | "ran" | "failed";

function follow(
  program: ShellProgram,
  first: ReadonlySet<Invocation>,
  then: Invocation,
  enough: (progress: Progress) => boolean,
): Verdict {
  let reached = false;
  let violated = false;
  const domain: Domain<Progress> = {
    key: (state) => state,
    run(invocation, state): readonly Step<Progress>[] {
      if (invocation === then) {
        reached = true;
        if (!enough(state)) violated = true;
      }
      const found = first.has(invocation);
      return [
        { state: found ? "ran" : state, ok: true },
        { state: found ? "failed" : state, ok: false },
      ];
    },
  };
  const { incomplete } = interpret(program, "before", domain);
  if (incomplete || !reached) return undefined;
  return !violated;
}

/** Whether one of `first` ran before `then`, on every path that reaches `then`. */
export function runsBefore(program: ShellProgram, first: Iterable<Invocation>, then: Invocation): Verdict {
  return follow(program, new Set(first), then, (progress) => progress !== "before");
}

/** Whether the last of `first` to run before `then` succeeded, on every path: a failure keeps `then` from running. */
export function succeedsBefore(program: ShellProgram, first: Iterable<Invocation>, then: Invocation): Verdict {
  return follow(program, new Set(first), then, (progress) => progress === "ran");
}
