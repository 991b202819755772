/** One run over paths: load, lint, settle. Surfaces (command line, editor, prover) are adapters over this. */
import { type Diagnostic, settle } from "../engine/diagnostic.js";
import { lintContract, type RuleCrash } from "../engine/lint.js";
import { type Input, type LintResult, summarize } from "../engine/result.js";
import { fill, messageSpec, type Rule } from "../engine/rule.js";
import {
  applySuppressions,
  type CommentedText,
  collectSuppressions,
  type DeclaredSuppression,
  SUPPRESSION_RULE,
} from "../engine/suppression.js";
import type { Contract } from "../model/contract.js";
import { Glob } from "./glob.js";
import type { Host } from "./host.js";
import { type LoadedRoot, load, type PlacedProblem } from "./load.js";
import { type Shard, shareOf } from "./shard.js";

export interface CheckOptions {
  readonly rules: readonly Rule[];
  readonly today: string;
  readonly version: string;
  readonly selected?: ((id: string) => boolean) | undefined;
  readonly config?: string | undefined;
  readonly strictDiscovery?: boolean | undefined;
  /** Only this part of the contracts. */
  readonly shard?: Shard | undefined;
  /** Makes the parsers ready that a contract's documents need (shell, Java, TypeScript). */
  readonly prepare?: ((contract: Contract) => Promise<void>) | undefined;
}

export interface CheckRun {
  readonly result: LintResult;
  readonly roots: readonly LoadedRoot[];
  readonly faults: readonly string[];
  readonly problems: readonly PlacedProblem[];
  readonly notes: readonly string[];
}

export async function check(host: Host, paths: readonly string[], options: CheckOptions): Promise<CheckRun> {
  const loaded = load(host, paths, {
    ruleIds: options.rules.map((r) => r.id),
    today: options.today,
    config: options.config,
    strictDiscovery: options.strictDiscovery,
  });
  const diagnostics: Diagnostic[] = [];
  const crashes: RuleCrash[] = [];
  const inputs: Input[] = [];
  let contracts = 0;
  let documents = 0;
  const files = new Set<string>();
  const suppressed: Diagnostic[] = [];
  const share = shareOf(loaded.roots, options.shard);
  for (const root of loaded.roots) {
    const found: Diagnostic[] = [];
    const own = share.contracts(root);
    for (const contract of own) {
      contracts++;
      if (options.prepare !== undefined) await options.prepare(contract);
      const run = lintContract(contract, { rules: options.rules, selected: options.selected });
      found.push(...run.diagnostics);
      crashes.push(...run.crashes);
      for (const file of contract.files) {
        if (share.counts(root, file.file)) files.add(`${root.root}/${file.file}`);
        documents += file.kind === "kubernetes" && file.fault === undefined ? file.yaml.documents.length : 1;
      }
    }
    const head = share.head(root);
    if (head) found.push(...unclaimedFindings(root, options));
    const settled = suppress(own === root.contracts ? root : withContracts(root, own), settle(found), options);
    diagnostics.push(...settled.active);
    suppressed.push(...settled.suppressed);
    const names = new Set(own.map((c) => c.name));
    inputs.push(...root.inputs.filter((i) => (i.contract === undefined ? head : names.has(i.contract))));
  }
  inputs.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
  const active = settle(diagnostics);
  return {
    result: {
      tool: { name: "quorumlint", version: options.version },
      summary: summarize({ contracts, files: files.size, documents, rules: options.rules.length }, active, suppressed),
      inputs,
      diagnostics: active,
      suppressed: settle(suppressed),
      crashes,
    },
    roots: loaded.roots,
    faults: loaded.faults,
    problems: loaded.problems,
    notes: loaded.notes,
  };
}

function withContracts(root: LoadedRoot, contracts: LoadedRoot["contracts"]): LoadedRoot {
  const { config } = root;
  return {
    root: root.root,
    // what is accepted there is accepted by the shard that has the root's contracts
    config: contracts.length === 0 ? undefined : config,
    contracts,
    inputs: root.inputs,
    unclaimed: root.unclaimed,
  };
}

/** Findings that a comment or the contract file accepts with a reason, taken out; faulty suppressions added. */
function suppress(
  root: LoadedRoot,
  found: readonly Diagnostic[],
  options: CheckOptions,
): { active: readonly Diagnostic[]; suppressed: readonly Diagnostic[] } {
  const rule = options.rules.find((r) => r.id === SUPPRESSION_RULE);
  if (rule === undefined) return { active: found, suppressed: [] };
  const texts: CommentedText[] = [];
  for (const contract of root.contracts) {
    for (const file of contract.files) {
      if (file.fault === undefined) texts.push({ source: file.source, kind: file.kind, contract: contract.name });
    }
    for (const text of [...contract.confs, ...contract.acls]) {
      if (text.owner !== undefined)
        texts.push({
          source: text.input.source,
          kind: "mode" in text ? "conf" : "acl",
          contract: contract.name,
          view: text.view,
        });
    }
  }
  const { config } = root;
  const declared = (config?.suppress ?? []).map((s): DeclaredSuppression => {
    const { source } = config!;
    return {
      rule: s.rule,
      file: s.file,
      reason: s.reason,
      until: s.until,
      message: s.message,
      contract: s.contract ?? root.contracts[0]?.name ?? source.file,
      at: s.at,
      ruleAt: s.at,
    };
  });
  const ran = (id: string): boolean => options.selected === undefined || options.selected(id);
  const result = applySuppressions(found, collectSuppressions(texts, declared), {
    rule,
    known: new Set(options.rules.map((r) => r.id)),
    today: options.today,
    ran,
    matches: (pattern, file) => new Glob(pattern).matches(file),
    severity: (name) =>
      root.contracts.find((c) => c.name === name)?.setting(SUPPRESSION_RULE).severity ?? rule.severity,
  });
  const problems = ran(SUPPRESSION_RULE) ? result.problems : [];
  return { active: [...result.active, ...problems], suppressed: result.suppressed };
}

const KINDS: Readonly<Record<string, string>> = {
  kubernetes: "a manifest",
  conf: "a Redis configuration",
  acl: "an ACL",
  lua: "a Lua program",
};

function unclaimedFindings(root: LoadedRoot, options: CheckOptions): Diagnostic[] {
  if (root.unclaimed.length === 0) return [];
  const rule = options.rules.find((r) => r.id === "quorumlint/unclaimed");
  if (rule === undefined || (options.selected !== undefined && !options.selected(rule.id))) return [];
  const spec = messageSpec(rule, "unclaimed");
  const severity = root.config?.setting(rule.id).severity ?? rule.severity;
  if (severity === "off") return [];
  return root.unclaimed.map((file) => {
    const end = file.source.text.search(/\r?\n|$/);
    return {
      rule: rule.id,
      messageId: "unclaimed",
      severity,
      message: fill(spec.text, { file: file.file, what: KINDS[file.kind] ?? "a contract file" }),
      help: spec.help,
      contract: root.contracts[0]?.name ?? root.config?.source.file ?? "",
      at: file.source.span(0, Math.max(0, end)),
      pointer: undefined,
      related: [],
      fix: undefined,
    };
  });
}
