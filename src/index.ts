/**
 * quorumlint as a library: `import { lint, loadContract, prove, acl, graph } from "quorumlint"`.
 * `loadContract` reads files; everything else is pure.
 */
import { resolve } from "node:path";
import { fixtures } from "../fixtures/index.js";
import { rules } from "../rules/index.js";
import { disk } from "./cli/disk.js";
import { ruleUrl } from "./cli/links.js";
import { prepareParsers } from "./cli/parsers.js";
import { readTree } from "./cli/tree.js";
import { check } from "./contract/check.js";
import type { Host } from "./contract/host.js";
import { load } from "./contract/load.js";
import { memoryHost } from "./contract/memory.js";
import { lintContract } from "./engine/lint.js";
import { summarize } from "./engine/result.js";
import type { Contract } from "./model/contract.js";
import { buildNetwork } from "./model/kubernetes/network.js";
import { networkInputFromObjects } from "./model/kubernetes/network-input.js";
import { dryRun, load as loadAcl } from "./model/redis/acl.js";
import { type Proof, prove as proveRules } from "./mutation/prove.js";
import { type JsonResult, toJson } from "./reporter/json.js";
import { VERSION } from "./version.js";

export type { Contract } from "./model/contract.js";
export type { Proof } from "./mutation/prove.js";
export type { JsonResult } from "./reporter/json.js";

/** The user's mistake in a contract file or path: what the command line ends with exit 2 for. */
export class ContractError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.name = "ContractError";
    this.faults = faults;
  }
}

export interface LoadContractOptions {
  /** The contract file, where it is not found from the path. */
  readonly config?: string;
  /** `YYYY-MM-DD` for expiry dates; default: the clock of the machine. */
  readonly today?: string;
  /** Files by path instead of the disk. */
  readonly host?: Host;
}

const clock = (): string => new Date().toISOString().slice(0, 10);

/** The contracts that a directory or file stands for, parsed and ready for `lint`. Throws a ContractError. */
export async function loadContract(path: string, options: LoadContractOptions = {}): Promise<readonly Contract[]> {
  const target = resolve(path).replaceAll("\\", "/");
  const loaded = load(options.host ?? disk, [target], {
    ruleIds: rules.map((r) => r.id),
    today: options.today ?? clock(),
    config: options.config === undefined ? undefined : resolve(options.config).replaceAll("\\", "/"),
  });
  if (loaded.faults.length > 0) throw new ContractError(loaded.faults);
  const contracts = loaded.roots.flatMap((r) => r.contracts);
  for (const contract of contracts) await prepareParsers(contract);
  return contracts;
}

export interface LintOptions {
  /** Which rules run; default: all. */
  readonly rule?: (id: string) => boolean;
}

/** The findings of a contract in the shape of `--format json`. Pure. Suppressions and baselines are the command's matter. */
export function lint(contract: Contract, options: LintOptions = {}): JsonResult {
  const { diagnostics, crashes } = lintContract(contract, { rules, selected: options.rule });
  const files = contract.files.length;
  const documents = contract.files.reduce(
    (n, f) => n + (f.kind === "kubernetes" && f.fault === undefined ? f.yaml.documents.length : 1),
    0,
  );
  return toJson(
    {
      tool: { name: "quorumlint", version: VERSION },
      summary: summarize({ contracts: 1, files, documents, rules: rules.length }, diagnostics, []),
      inputs: contract.files.map((f) => ({ file: f.file, kind: f.kind, contract: contract.name })),
      diagnostics,
      suppressed: [],
      crashes,
    },
    { urlOf: ruleUrl },
  );
}

/** The named mutants of the rules on a copy of the golden contract in a directory. */
export function prove(path: string, options: { readonly today?: string } = {}): Promise<Proof> {
  const today = options.today ?? clock();
  return proveRules({
    rules,
    fixtures,
    base: (name) => (name === "redis-lab" ? readTree(resolve(path)) : readTree(resolve(path, "..", name))),
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
}

/** ACL files as the servers judge them: `acl.load(text, { server: "redis-7.2" })`, `acl.dryRun(user, ["GET", "k"])`. */
export const acl: { readonly load: typeof loadAcl; readonly dryRun: typeof dryRun } = { load: loadAcl, dryRun };

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly protocol: string;
  readonly ports: string;
}

/** The edges that a contract's network policies allow; an edge per protocol. */
export function graph(contract: Contract): { readonly edges: readonly GraphEdge[] } {
  const engine = buildNetwork(networkInputFromObjects(contract.objects.map((o) => ({ value: o.value }))));
  return {
    edges: engine
      .edges()
      .flatMap(({ from, to, connections }) =>
        connections.map(({ protocol, ports }) => ({ from, to, protocol, ports })),
      ),
  };
}
