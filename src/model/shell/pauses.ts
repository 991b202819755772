/** Loops that go round without a pause. */
import { decide, testOf } from "./conditions.js";
import type { Invocation, ShellProgram, While } from "./program.js";
import { redisCalls } from "./redis.js";

/** Commands that are done at once. */
const QUICK = new Set(
  ": true false [ [[ (( test echo printf cat cp mv rm touch mkdir chmod date head grep egrep fgrep sed cut tr wc find basename dirname set export local break continue exit return getent hostname id expr let sync".split(
    " ",
  ),
);
const BLOCKING = /^(?:b[lrz]\w+|x(?:read|readgroup)|p?subscribe|ssubscribe|monitor|wait|waitaof|psync|sync)$/i;

/** Whether no command of a loop takes time by itself: each is known, and done at once. */
export function hurries(program: ShellProgram, loop: While): boolean {
  const inside = program.invocations.filter((i) => i.frames.some((f) => f.flow === loop));
  return program.complete && inside.some((i) => i.command.length > 0) && inside.every(isQuick);
}

function isQuick(invocation: Invocation): boolean {
  const { name, command } = invocation;
  if (command.length === 0) return true;
  if (name === undefined || invocation.wrappers.length > 0 || invocation.nested !== undefined) return false;
  // what waits for its input is not decided
  if (invocation.redirects.some((r) => r.fd === 0)) return false;
  if (QUICK.has(name)) return true;
  return (
    (name === "redis-cli" || name === "valkey-cli") &&
    redisCalls(invocation).every(
      (c) =>
        c.mode === undefined &&
        c.input === "arguments" &&
        c.commands?.every((words) => words[0]?.known !== undefined && !BLOCKING.test(words[0].known)) === true &&
        !command.some((a) => a.known === "-i" || a.known === "-r"),
    )
  );
}

/** Loops without an end that hurry, the outer ones first. */
export function spinningLoops(program: ShellProgram): While[] {
  const seen = new Set<While>();
  const out: While[] = [];
  for (const { frames, reached } of program.invocations) {
    for (const { flow } of frames) {
      if (flow.type !== "loop" || seen.has(flow)) continue;
      seen.add(flow);
      if (reached && isEndless(program, flow) && hurries(program, flow)) out.push(flow);
    }
  }
  return out;
}

/** `while true`, `while :`, `until false`, `while [ 1 ]`. */
function isEndless(program: ShellProgram, loop: While): boolean {
  const tests = program.invocations.filter((i) => i.frames.some((f) => f.flow === loop && f.slot === 0));
  const [test] = tests;
  if (tests.length !== 1 || test === undefined) return false;
  const asked = testOf(test);
  if (asked !== undefined) return decide(asked) === !loop.until;
  return loop.until ? test.name === "false" : test.name === "true" || test.name === ":";
}
