/** `quorumlint merge`: the results of all shards as one. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { severityRank } from "../engine/diagnostic.js";
import { MergeError, mergedText } from "../reporter/merge.js";
import { print } from "./output.js";
import { UsageError } from "./usage.js";

interface MergeFlags {
  readonly output?: string;
  readonly failOn: "error" | "warning" | "info" | "never";
}

/** The exit code is that of the run that was split. */
export async function mergeCommand(files: readonly string[], flags: MergeFlags): Promise<number> {
  const texts = new Map<string, string>();
  for (const file of files) {
    if (texts.has(file)) throw new UsageError(`${file} is named twice`);
    try {
      texts.set(file, readFileSync(file, "utf8"));
    } catch (error) {
      throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
    }
  }
  try {
    const { text, result } = mergedText(texts);
    if (flags.output === undefined) print(text);
    else {
      mkdirSync(dirname(resolve(flags.output)), { recursive: true });
      writeFileSync(flags.output, text);
    }
    if (result.faults !== undefined) return 3;
    const { failOn } = flags;
    if (failOn === "never") return 0;
    return result.diagnostics.some((d) => severityRank(d.severity) >= severityRank(failOn)) ? 1 : 0;
  } catch (error) {
    if (error instanceof MergeError) throw new UsageError(error.message);
    throw error;
  }
}
