/** `quorumlint prove`: the named mutants of the rules on a contract. */

import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fixtures } from "../../fixtures/index.js";
import { rules } from "../../rules/index.js";
import { check } from "../contract/check.js";
import { memoryHost } from "../contract/memory.js";
import { GOOD, type Proof, prove } from "../mutation/prove.js";
import { VERSION } from "../version.js";
import { absolute, selection } from "./check.js";
import { expectMuch } from "./disk.js";
import { type Colours, clock, colorOption, palette, print } from "./output.js";
import { prepareParsers } from "./parsers.js";
import type { SweepFlags } from "./sweep.js";
import { readTree } from "./tree.js";
import { UsageError } from "./usage.js";

export async function proveCommand(path: string, flags: SweepFlags): Promise<number> {
  expectMuch(true);
  if (flags.sweep === true || flags.since !== undefined) return (await import("./sweep.js")).sweepCommand(path, flags);
  if (flags.format !== "pretty" && flags.format !== "json")
    throw new UsageError(`there is no format "${flags.format}"; formats are pretty, json`);
  const folder = absolute(path);
  if (!existsSync(folder)) throw new UsageError(`there is no directory ${folder}`);
  const today = flags.today ?? clock();
  const proof = await prove({
    rules,
    fixtures,
    selected: selection(flags.rule, undefined),
    base: (name) => {
      const own = basename(folder) === name || name === "redis-lab" ? folder : join(dirname(folder), name);
      return existsSync(own) ? readTree(own) : undefined;
    },
    lint: async (tree, day) => {
      const run = await check(memoryHost(tree), ["/tree"], {
        rules,
        today: day ?? today,
        version: VERSION,
        prepare: prepareParsers,
      });
      return { diagnostics: run.result.diagnostics, faults: run.faults, crashes: run.result.crashes };
    },
  });
  await print(flags.format === "json" ? json(proof) : pretty(proof, await palette(colorOption(flags))));
  const bad =
    proof.results.some((r) => !GOOD.has(r.status)) ||
    proof.dirty.length > 0 ||
    proof.unproven.length > 0 ||
    proof.unbounded.length > 0;
  return bad ? 1 : 0;
}

function json(proof: Proof): string {
  const mutants = proof.results.map((r) => ({
    rule: r.rule,
    name: r.name,
    kind: r.kind,
    status: r.status,
    message: r.message ?? null,
    killedBy: r.kind === "mutant" ? r.killedBy : [],
    at: r.at ?? null,
    detail: r.detail ?? null,
  }));
  return `${JSON.stringify({ version: 1, mutants, unproven: proof.unproven, unbounded: proof.unbounded }, null, 2)}\n`;
}

function pretty(proof: Proof, c: Colours): string {
  const lines: string[] = [];
  for (const d of proof.dirty) {
    lines.push(c.red(`the unchanged contract ${d.base} is not clean, so its mutants prove nothing:`));
    for (const fault of d.faults) lines.push(`  ${fault}`);
    for (const x of d.diagnostics) lines.push(`  ${x.rule} at ${x.at.source.file}: ${x.message}`);
  }
  const width = Math.max(...proof.results.map((r) => r.rule.length), 4);
  for (const r of proof.results) {
    const mark = GOOD.has(r.status) ? c.green(r.status.padEnd(10)) : c.red(r.status.padEnd(10));
    const place = r.at === undefined ? "" : c.dim(`  ${r.at.file}:${r.at.line}:${r.at.column}`);
    lines.push(`${mark} ${r.rule.padEnd(width)}  ${r.name}${place}`);
    if (r.detail !== undefined) lines.push(`             ${c.yellow(r.detail)}`);
  }
  for (const u of proof.unproven)
    lines.push(c.red(`unproven   ${u.rule.padEnd(width)}  the message "${u.message}" is primary in no mutant`));
  for (const id of proof.unbounded) lines.push(c.red(`unbounded  ${id.padEnd(width)}  no boundary case`));
  const count = (status: string): number => proof.results.filter((r) => r.status === status).length;
  lines.push(
    "",
    `${count("Killed")} killed, ${count("Survived")} survived, ${count("Surplus") + count("Noisy") + count("Missing")} with surplus or missing findings, ${count("WrongPlace")} at a wrong place, ${count("Invalid")} invalid; ${count("Silent")} boundary cases silent`,
  );
  return lines.join("\n");
}
