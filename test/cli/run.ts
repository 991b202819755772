/** Runs the built command as a user does. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../support.js";

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function quorumlint(
  args: readonly string[],
  options: { cwd?: string; input?: string | Buffer; env?: Record<string, string> } = {},
): Run {
  const result = spawnSync(process.execPath, [join(root, "bin/quorumlint.js"), ...args], {
    cwd: options.cwd ?? root,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    ...(options.input === undefined ? {} : { input: options.input }),
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", ...options.env },
  });
  return { code: result.status, stdout: result.stdout, stderr: result.stderr };
}

const made: string[] = [];

/** A copy of the golden contract that a test may break. */
export function goldenCopy(): string {
  const folder = temporary();
  cpSync(join(root, "fixtures/redis-lab"), folder, { recursive: true });
  return folder;
}

export function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "quorumlint-test-"));
  made.push(folder);
  return folder;
}

export function removeTemporary(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function edit(folder: string, file: string, from: string, to: string): void {
  const path = join(folder, file);
  const text = readFileSync(path, "utf8");
  if (!text.includes(from)) throw new Error(`${file} has no "${from}"`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
}
