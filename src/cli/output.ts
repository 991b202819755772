/** Colours and streams of a terminal. Node's streams and the colours are loaded only where a terminal shows them. */
import { fstatSync, writeSync } from "node:fs";
import type { ChalkLike } from "../reporter/shared.js";

/** Styles of words: chalk's, or none. */
export interface Colours extends ChalkLike {
  /** 0: no colour. */
  readonly level: number;
}

const same = (text: string): string => text;
export const NONE: Colours = { level: 0, red: same, yellow: same, cyan: same, green: same, bold: same, dim: same };

/** Whether a stream (1: output, 2: errors) is a terminal. */
export async function isTerminal(stream: 1 | 2): Promise<boolean> {
  // most streams are files or pipes, or the null device (1:3): no need to load what asks a terminal
  const stat = fstatSync(stream);
  if (!stat.isCharacterDevice() || stat.rdev === 0x103) return false;
  return (await import("node:tty")).isatty(stream);
}

/** `--color`/`--no-color` win, then NO_COLOR and FORCE_COLOR, then what the terminal can do. */
export async function palette(color: boolean | undefined): Promise<Colours> {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (color === false || (color === undefined && NO_COLOR !== undefined && NO_COLOR !== "")) return NONE;
  const asked = color === true || (FORCE_COLOR !== undefined && !/^(?:0|false)$/.test(FORCE_COLOR));
  if (!asked && !(await isTerminal(1))) return NONE;
  const { Chalk, supportsColor } = await import("chalk");
  if (!asked && supportsColor === false) return NONE;
  return new Chalk({ level: (supportsColor === false ? 1 : supportsColor.level) as 1 });
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

/** Writes all of a text; a reader that went away (`| head`) ends the output, not the program. */
export function writeTo(stream: 1 | 2, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(stream, bytes, done);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") return;
      // a pipe that its other end made non-blocking is full
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

export function print(text: string): void {
  writeTo(1, text.endsWith("\n") || text === "" ? text : `${text}\n`);
}

export function note(text: string): void {
  writeTo(2, `${text}\n`);
}

/** Today's date in the time zone of the machine: the clock of this surface. */
export function clock(): string {
  const now = new Date();
  return `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, "0")}-${String(now.getDate()).padStart(2, "0")}`;
}
