/** What tests share: fixture trees in memory, and linting them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rules } from "../rules/index.js";
import { prepareParsers } from "../src/cli/parsers.js";
import { type CheckRun, check } from "../src/contract/check.js";
import { memoryHost } from "../src/contract/memory.js";
import type { Tree, TreeResult } from "../src/mutation/prove.js";

export const root = fileURLToPath(new URL("..", import.meta.url));
/** The handed-over material beside the checkout; a bare clone has none. */
export const shared = join(root, "..", "shared");

/** True where the shared material is there; says so in one line where it is not. */
export function hasShared(what: string): boolean {
  const there = existsSync(join(shared, what));
  if (!there) console.log(`(no shared material "${what}" beside this checkout: its tests do not run here)`);
  return there;
}

export const TODAY = "2026-11-29";

export function readTree(folder: string): Tree {
  const out = new Map<string, Uint8Array>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    out.set(path.slice(folder.length + 1).replaceAll("\\", "/"), readFileSync(path));
  }
  return out;
}

const bases = new Map<string, Tree>();

export function fixtureBase(name: string): Tree | undefined {
  let tree = bases.get(name);
  const folder = join(root, "fixtures", name);
  if (tree === undefined && existsSync(folder)) bases.set(name, (tree = readTree(folder)));
  return tree;
}

/** The golden contract without its programs: manifests, configurations, ACLs, image. */
export function deploymentOf(golden: Tree): Tree {
  const out = new Map([...golden].filter(([path]) => !path.startsWith("src/main/")));
  const text = new TextDecoder().decode(golden.get("quorumlint.yaml"));
  const rest = text.replace(/^ {4}programs:\n(?: {6}.*\n)*/m, "");
  if (rest === text) throw new Error("the golden contract has no programs to take out");
  return out.set("quorumlint.yaml", new TextEncoder().encode(rest));
}

export async function checkTree(tree: Tree, today = TODAY): Promise<CheckRun> {
  return check(memoryHost(tree), ["/tree"], { rules, today, version: "0.0.0", prepare: prepareParsers });
}

export async function lintTree(tree: Tree, today?: string): Promise<TreeResult> {
  const run = await checkTree(tree, today);
  return { diagnostics: run.result.diagnostics, faults: run.faults, crashes: run.result.crashes };
}

/** A tree from texts. */
export function tree(files: Readonly<Record<string, string>>): Tree {
  return new Map(Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)]));
}

const told = new Set<string>();

/**
 * True where a program is installed. Where it is not, one line says so and its tests pass without it; in the project's own
 * run (`.ci/run` sets CI and installs them) a program listed there must be there.
 */
export function hasTool(name: string, required = false): boolean {
  const there = (process.env["PATH"] ?? "")
    .split(":")
    .some((folder) => folder !== "" && existsSync(join(folder, name)));
  if (there) return true;
  if (required && process.env["CI"] !== undefined) throw new Error(`${name} is not installed; .ci/run installs it`);
  if (!told.has(name)) console.log(`(no ${name} on this machine: its tests do not run here)`);
  told.add(name);
  return false;
}
