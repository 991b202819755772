/** What a script makes of the answer that a client printed: whether it succeeds on one text and fails on another. */
import { type Grep, grepOf, testOf } from "./conditions.js";
import { type Domain, interpret } from "./interpret.js";
import type { Invocation, ShellProgram } from "./program.js";
import { makeText, type Text } from "./text.js";

interface Asked {
  readonly asked: boolean;
  readonly ok: boolean;
}

/** Commands that succeed whatever was answered. */
const SUCCEEDS = new Set(["echo", "printf", "sleep", "exec"]);

/** Runs a program in which one command prints `answer`; `ok`: with which status. undefined: not decided. */
export function succeedsOn(program: ShellProgram, call: Invocation, answer: string, ok: boolean): boolean | undefined {
  const domain: Domain<Asked> = {
    counts: true,
    key: (state) => `${state.asked}${state.ok}`,
    output: (invocation) => (invocation === call ? answer : undefined),
    run(invocation, state, resolve) {
      if (invocation === call) return [{ state: { asked: true, ok }, ok }];
      const grep = grepOf(invocation);
      const input = grep === undefined || grep.files.length > 0 ? undefined : printed(invocation.pipedFrom, resolve);
      const found = input === undefined ? undefined : finds(grep!, input);
      if (found !== undefined) return [{ state, ok: found }];
      if (testOf(invocation) === undefined && SUCCEEDS.has(invocation.name ?? "")) return [{ state, ok: true }];
      return [
        { state, ok: true },
        { state, ok: false },
      ];
    },
  };
  const printed = (from: Invocation | undefined, resolve: (text: Text) => Text): string | undefined => {
    if (from === call) return answer;
    if (from !== undefined && passesOn(from)) return printed(from.pipedFrom, resolve);
    if (from?.name !== "echo" || from.command.length !== 2) return undefined;
    return resolve(makeText(from.command[1]!.pieces)).known;
  };
  const { ends, incomplete } = interpret(program, { asked: false, ok: false }, domain);
  const after = ends.filter((end) => end.state.asked);
  if (incomplete || after.length === 0) return undefined;
  const results = after.map((end) => {
    if (end.replacedBy === undefined) return end.ok;
    return end.replacedBy === call ? end.state.ok : undefined;
  });
  return results.every((result) => result === results[0]) ? results[0] : undefined;
}

/** Whether a filter leaves a line as it is: `cat`, `head -1`, `tr -d '\r'`. */
function passesOn({ name, command }: Invocation): boolean {
  if (name === "tr") return command[1]?.known === "-d" && /^(?:\\[rn])+$/.test(command[2]?.known ?? "");
  return (name === "cat" && command.length === 1) || name === "tee" || name === "head" || name === "tail";
}

/** Whether grep finds a line in a text of one line; a pattern with operators is not decided. */
export function finds(grep: Grep, line: string): boolean | undefined {
  const ignoresCase = grep.invocation.command.some((word) => /^-[A-Za-z]*i|^--ignore-case/.test(word.known ?? ""));
  const fold = (text: string): string => (ignoresCase ? text.toUpperCase() : text);
  let found = false;
  for (const { known } of grep.patterns) {
    if (known === undefined) return undefined;
    const start = !grep.fixed && known.startsWith("^");
    const end = !grep.fixed && known.endsWith("$");
    const plain = known.slice(start ? 1 : 0, end ? -1 : undefined);
    if (!grep.fixed && /[.[\]*\\|?+(){}]/.test(plain)) return undefined;
    const [text, part] = [fold(line), fold(plain)];
    const whole = grep.wholeLine || (start && end);
    found ||= whole ? text === part : start ? text.startsWith(part) : end ? text.endsWith(part) : text.includes(part);
  }
  return grep.patterns.length === 0 ? undefined : found !== grep.inverted;
}
