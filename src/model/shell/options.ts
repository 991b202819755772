/** Options and operands of a command, as most utilities take them (XBD 12.2). */
import type { Arg } from "./program.js";

export interface Options {
  readonly operands: readonly Arg[];
  /** Short options by their letter, long ones by name. */
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, Arg>;
}

/** Splits options from operands; `valued`: short options whose value is the next word. */
export function options(command: readonly Arg[], valued: string): Options {
  const operands: Arg[] = [];
  const flags = new Set<string>();
  const values = new Map<string, Arg>();
  let open = true;
  for (let i = 1; i < command.length; i++) {
    const arg = command[i]!;
    const word = arg.known;
    if (!open || word === undefined || !word.startsWith("-") || word === "-") {
      operands.push(arg);
      continue;
    }
    if (word === "--") open = false;
    else if (word.startsWith("--")) flags.add(word.split("=")[0]!);
    else {
      for (const letter of word.slice(1)) flags.add(letter);
      const last = word[word.length - 1]!;
      const next = command[i + 1];
      if (valued.includes(last) && next !== undefined) {
        values.set(last, next);
        i++;
      }
    }
  }
  return { operands, flags, values };
}
