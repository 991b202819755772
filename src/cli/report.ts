/** `quorumlint report`: one self-contained HTML page for people. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { rules } from "../../rules/index.js";
import { check } from "../contract/check.js";
import type { Contract } from "../model/contract.js";
import { graphSvg } from "../reporter/graph/svg.js";
import { type Mutants, MutantsError, readMutants } from "../reporter/report/mutants.js";
import { type ReportContract, reportPage } from "../reporter/report/page.js";
import { PLAIN, type ReportContext } from "../reporter/shared.js";
import { VERSION } from "../version.js";
import { absolute } from "./check.js";
import { disk } from "./disk.js";
import { contractGraph } from "./graph.js";
import { ruleUrl } from "./links.js";
import { clock, note, print } from "./output.js";
import { prepareParsers } from "./parsers.js";
import { UsageError } from "./usage.js";

interface ReportFlags {
  readonly output?: string;
  readonly prove?: string;
  readonly title?: string;
  readonly config?: string;
  readonly today?: string;
}

/** Contracts whose network is drawn; a picture is for people. */
const MOST_PICTURES = 40;

export async function reportCommand(path: string, flags: ReportFlags): Promise<number> {
  const mutants = flags.prove === undefined ? undefined : mutantsOf(flags.prove);
  const today = flags.today ?? clock();
  const run = await check(disk, [absolute(path)], {
    rules,
    today,
    version: VERSION,
    config: flags.config === undefined ? undefined : absolute(flags.config),
    prepare: prepareParsers,
  });
  if (run.faults.length > 0) {
    for (const fault of run.faults) note(`quorumlint: ${fault}`);
    return 2;
  }
  for (const text of run.notes) note(`quorumlint: ${text}`);
  const contracts: ReportContract[] = [];
  for (const { contracts: own, root } of run.roots)
    for (const contract of own)
      contracts.push({ contract, network: await pictureOf(contract, root, contracts.length) });
  const names = contracts.map((c) => c.contract.name);
  const title = flags.title ?? `quorumlint: ${names.length === 1 ? names[0] : basename(absolute(path))}`;
  const context: ReportContext = { rules: new Map(rules.map((r) => [r.id, r])), color: PLAIN, urlOf: ruleUrl };
  const page = reportPage({ title, today, result: run.result, contracts, rules, mutants }, context);
  if (flags.output === undefined) print(page);
  else {
    mkdirSync(dirname(resolve(flags.output)), { recursive: true });
    writeFileSync(flags.output, page);
  }
  for (const crash of run.result.crashes)
    note(
      `quorumlint: this is a bug of quorumlint: rule ${crash.rule} crashed on ${crash.file} (contract ${crash.contract}): ${crash.error.stack ?? crash.error.message}`,
    );
  return run.result.crashes.length > 0 ? 3 : 0;
}

function mutantsOf(file: string): Mutants {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return readMutants(text);
  } catch (error) {
    if (error instanceof MutantsError) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}

async function pictureOf(contract: Contract, root: string, index: number): Promise<ReportContract["network"]> {
  if (index >= MOST_PICTURES) return undefined;
  try {
    const view = contractGraph(contract, root);
    return { view, svg: await graphSvg(view, { idPrefix: `network-${index}` }) };
  } catch (error) {
    // more edges than anybody reads
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}
