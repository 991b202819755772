/** The part of a run that one of several machines does: the same split on each, and together the whole run. */
import type { Contract } from "../model/contract.js";
import type { LoadedRoot } from "./load.js";

/** The `index`-th (from 1) of `count` parts. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** What belongs to a shard. */
export interface Share {
  /** The contracts of a root that this shard lints. */
  contracts(root: LoadedRoot): readonly Contract[];
  /** Whether it answers for what belongs to no contract: ignored files, the contract file, unclaimed files. */
  head(root: LoadedRoot): boolean;
  /** Whether it counts a file; one that several contracts read is counted once. */
  counts(root: LoadedRoot, file: string): boolean;
}

export const EVERYTHING: Share = { contracts: (root) => root.contracts, head: () => true, counts: () => true };

/** Whether an accepted finding could be one of any contract of the root: then its contracts stay together. */
function suppresses(root: LoadedRoot): boolean {
  return (
    (root.config?.suppress.length ?? 0) > 0 ||
    root.contracts.some((c) => c.files.some((f) => f.source.text.includes("quorumlint:")))
  );
}

export function shareOf(roots: readonly LoadedRoot[], shard: Shard | undefined): Share {
  if (shard === undefined) return EVERYTHING;
  let unit = 0;
  const own = new Map<LoadedRoot, readonly Contract[]>();
  const heads = new Set<LoadedRoot>();
  const counted = new Map<LoadedRoot, ReadonlySet<string>>();
  const mine = (): boolean => unit % shard.count === shard.index - 1;
  for (const root of roots) {
    const contracts: Contract[] = [];
    const files = new Set<string>();
    const seen = new Set<string>();
    const together = suppresses(root);
    if (mine()) heads.add(root);
    root.contracts.forEach((contract, i) => {
      if (!together && i > 0) unit++;
      if (mine()) contracts.push(contract);
      for (const { file } of contract.files) {
        if (!seen.has(file) && mine()) files.add(file);
        seen.add(file);
      }
    });
    unit++;
    // the root itself, where all of it is this shard's
    const whole = heads.has(root) && contracts.length === root.contracts.length;
    own.set(root, whole ? root.contracts : contracts);
    counted.set(root, files);
  }
  return {
    contracts: (root) => own.get(root) ?? [],
    head: (root) => heads.has(root),
    counts: (root, file) => counted.get(root)?.has(file) === true,
  };
}
