/** `check --fix` and `--fix-dry-run`: repairs on disk, or as a diff. */
import { writeFileSync } from "node:fs";
import { type CheckOptions, type CheckRun, check } from "../contract/check.js";
import { type Host, join } from "../contract/host.js";
import { overlayHost } from "../contract/overlay.js";
import type { Diagnostic } from "../engine/diagnostic.js";
import { applyFixes, fixDiff } from "../engine/fix.js";
import { visible } from "../reporter/shared.js";
import { fromHere } from "./check.js";
import { note, print } from "./output.js";
import { UsageError } from "./usage.js";

/** The run after the repairs; with `dry` nothing is written, and the run is the one before. */
export async function fix(
  run: CheckRun,
  host: Host,
  targets: readonly string[],
  options: CheckOptions,
  dry: boolean,
): Promise<CheckRun> {
  if (run.roots.length !== 1) throw new UsageError("--fix works on one contract file or directory at a time");
  const { root } = run.roots[0]!;
  if (root === "/stdin" && !dry) throw new UsageError("--fix needs files; for standard input there is --fix-dry-run");
  let last = run;
  const relint = async (changed: ReadonlyMap<string, string>): Promise<readonly Diagnostic[]> => {
    const texts = [...changed].map(([file, text]): [string, Uint8Array] => [join(root, file), encode(text)]);
    last = await check(overlayHost(host, new Map(texts)), targets, options);
    return last.result.diagnostics;
  };
  const fixes = await applyFixes(run.result.diagnostics, relint, (file) => roundTrips(host.read(join(root, file))));
  const say = (file: string, why: string): void => note(`quorumlint: ${visible(fromHere(root, file))} ${why}`);
  for (const file of fixes.refused)
    say(file, "is not repaired: it is not valid UTF-8, and other bytes would change with it");
  for (const file of fixes.reverted) say(file, "is not repaired: the repair would break its syntax");
  if (!fixes.converged) note("quorumlint: some repairs undo each other; what they cannot settle is left");
  const { size } = fixes.files;
  const amount = `${fixes.fixed} finding${fixes.fixed === 1 ? "" : "s"} in ${size} file${size === 1 ? "" : "s"}`;
  if (dry) {
    print(fixDiff(fixes, (file) => fromHere(root, file)));
    note(size === 0 ? "quorumlint: nothing to repair" : `quorumlint: --fix would repair ${amount}`);
    return run;
  }
  for (const [file, { after }] of fixes.files) writeFileSync(join(root, file), after);
  if (size > 0) note(`quorumlint: repaired ${amount}`);
  return last;
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Whether a text stands for all bytes of its file: one with replacement characters would change others when it is written. */
function roundTrips(bytes: Uint8Array | undefined): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return bytes !== undefined;
  } catch {
    return false;
  }
}
