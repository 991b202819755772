/** Colours and streams of a terminal. */
import { Chalk, type ChalkInstance, supportsColor } from "chalk";

/** `--color`/`--no-color` win, then NO_COLOR and FORCE_COLOR, then what the terminal can do. */
export function palette(color: boolean | undefined): ChalkInstance {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (color === false || (color === undefined && NO_COLOR !== undefined && NO_COLOR !== ""))
    return new Chalk({ level: 0 });
  if (color === true || (FORCE_COLOR !== undefined && FORCE_COLOR !== "0")) {
    return new Chalk({ level: (supportsColor === false ? 1 : supportsColor.level) as 1 });
  }
  return new Chalk({ level: process.stdout.isTTY && supportsColor !== false ? supportsColor.level : 0 });
}

/** `--color` and `--no-color` as commander gives them: undefined where neither was typed. */
export function colorOption(options: { color?: boolean }, argv: readonly string[] = process.argv): boolean | undefined {
  return argv.includes("--no-color")
    ? false
    : argv.includes("--color")
      ? true
      : options.color === false
        ? false
        : undefined;
}

export function print(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(text.endsWith("\n") || text === "" ? text : `${text}\n`, () => resolve());
  });
}

export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Today's date in the time zone of the machine: the clock of this surface. */
export function clock(): string {
  const now = new Date();
  return `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, "0")}-${String(now.getDate()).padStart(2, "0")}`;
}
