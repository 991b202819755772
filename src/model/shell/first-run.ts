/** What the first run of a script comes to, when the file that it makes is not there yet. */
import { grepOf, readsFile, type Test, testOf } from "./conditions.js";
import { editsOf, editsPath } from "./edits.js";
import { type Domain, interpret } from "./interpret.js";
import type { Invocation, ShellProgram } from "./program.js";
import { inDirectory, isPath, type Text } from "./text.js";

interface Made<M> {
  /** The file is there. */
  readonly written: boolean;
  readonly mark: M | undefined;
}

/**
 * The last mark on each way to a good end (`undefined`: a way without one). `marks` says what a command leaves, "unknown" where
 * it may leave one. undefined: some way is not understood.
 */
export function marksOfFirstRun<M extends object>(
  program: ShellProgram,
  path: string,
  marks: (invocation: Invocation) => M | "unknown" | undefined,
  host?: string,
): ReadonlySet<M | undefined> | undefined {
  const numbers = new Map<M, number>();
  let unknown = false;
  const domain: Domain<Made<M>> = {
    counts: true,
    key: ({ written, mark }) => `${written}${mark === undefined ? "" : numbers.get(mark)}`,
    output: (invocation) => (invocation.name === "hostname" && invocation.command.length === 1 ? host : undefined),
    run(invocation, state, resolve) {
      const at = (text: Text) => inDirectory(resolve(text), invocation.directory);
      const test = testOf(invocation);
      const found = test === undefined ? undefined : isThere(test, (text) => isPath(at(text), path), state.written);
      if (found !== undefined) return [{ state, ok: found }];
      if (grepOf(invocation) !== undefined && !state.written && readsFile(invocation, path) === "yes")
        return [{ state, ok: false }];
      const mark = marks(invocation);
      if (mark === "unknown") unknown = true;
      else if (mark !== undefined && !numbers.has(mark)) numbers.set(mark, numbers.size);
      const edits = editsOf(invocation);
      const makes = edits.some((edit) => edit.kind !== "remove" && editsPath(edit, path) === "yes");
      const next = { written: state.written || makes, mark: typeof mark === "object" ? mark : state.mark };
      if (invocation.replaces) return [{ state: next, ok: true }];
      if (edits.length > 0 || mark !== undefined)
        return [
          { state: next, ok: true },
          { state, ok: false },
        ];
      return [
        { state, ok: true },
        { state, ok: false },
      ];
    },
  };
  const { ends, incomplete } = interpret<Made<M>>(program, { written: false, mark: undefined }, domain);
  if (incomplete || unknown) return undefined;
  return new Set(ends.filter((end) => end.ok).map((end) => end.state.mark));
}

/** Whether a test holds that looks at the file and at nothing else. */
function isThere(test: Test, named: (text: Text) => "yes" | "no" | "maybe", written: boolean): boolean | undefined {
  if (test.kind === "not") {
    const inner = isThere(test.test, named, written);
    return inner === undefined ? undefined : !inner;
  }
  if (test.kind === "and" || test.kind === "or") {
    const parts = test.tests.map((part) => isThere(part, named, written));
    const decides = test.kind === "or";
    if (parts.includes(decides)) return decides;
    return parts.includes(undefined) ? undefined : !decides;
  }
  if (test.kind !== "file" || !/^-[aefrsw]$/.test(test.op)) return undefined;
  return named(test.path) === "yes" ? written : undefined;
}
