/** The golden contract, ready to be swept, and the slow truth that the sweep is compared with. */
import { rules } from "../../rules/index.js";
import { prepareParsers } from "../../src/cli/parsers.js";
import { load } from "../../src/contract/load.js";
import { memoryHost } from "../../src/contract/memory.js";
import type { Rule } from "../../src/engine/rule.js";
import { InputFile } from "../../src/model/input.js";
import { type Mutant, mutantsOf } from "../../src/mutation/mutant.js";
import { mutationsOf } from "../../src/mutation/mutators/index.js";
import type { Tree } from "../../src/mutation/prove.js";
import type { SweepOptions } from "../../src/mutation/sweep.js";
import { Source } from "../../src/text/source.js";
import { checkTree, TODAY } from "../support.js";

/** Options for the sweep of a tree whose unchanged contract is clean. */
export async function sweepOptions(tree: Tree, only: readonly Rule[] = rules): Promise<SweepOptions> {
  const run = load(memoryHost(tree), ["/tree"], { ruleIds: rules.map((r) => r.id), today: TODAY });
  const root = run.roots.find((r) => r.contracts.length > 0)!;
  const clean = await checkTree(tree);
  return {
    rules: only,
    contracts: root.contracts,
    accepted: clean.result.diagnostics,
    suppressing: [...tree.values()].some((bytes) => new TextDecoder().decode(bytes).includes("quorumlint:")),
    prepare: (contract) => prepareParsers(contract, true),
    relint: async (file, text) => {
      // other bytes than those of the last run: nothing may be remembered
      const fresh = new Map([...tree].map(([path, bytes]) => [path, new Uint8Array(bytes)]));
      fresh.set(file, new TextEncoder().encode(text));
      const again = await checkTree(fresh);
      const wanted = new Set(only.map((r) => r.id));
      return {
        diagnostics: again.result.diagnostics.filter((d) => wanted.has(d.rule)),
        faults: again.faults,
        crashes: again.result.crashes,
      };
    },
  };
}

export function mutants(name: string, kind: InputFile["kind"], text: string): Mutant[] {
  const source = new Source(name, text);
  return [...mutantsOf(source, mutationsOf(new InputFile(source, kind)))];
}

/** `mutator: replaced → replacement` of each mutant, for reading. */
export function shown(list: readonly Mutant[]): string[] {
  return list.map(
    (m) =>
      `${m.mutator} ${m.field}: ${JSON.stringify(m.source.text.slice(m.start, m.end))} → ${JSON.stringify(m.newText)}`,
  );
}
