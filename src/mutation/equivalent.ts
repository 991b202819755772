/** Mutants that mean the same contract, or one that is as good: declared one by one, each with its reason. */
import type { Mutant } from "./mutant.js";

/** One field of one file, with the mutators whose result is accepted there. No wildcards. */
export interface Equivalent {
  readonly file: string;
  readonly field: string;
  readonly mutators: readonly string[];
  /** Only this replacement, where a mutator has several. */
  readonly to?: string;
  readonly reason: string;
}

/** Finds the declaration of a mutant, and remembers which were needed. */
export class Equivalents {
  readonly #byKey = new Map<string, Equivalent[]>();
  readonly #all: readonly Equivalent[];

  constructor(all: readonly Equivalent[]) {
    this.#all = all;
    for (const entry of all) {
      const key = `${entry.file}\0${entry.field}`;
      const known = this.#byKey.get(key);
      if (known === undefined) this.#byKey.set(key, [entry]);
      else known.push(entry);
    }
  }

  find(mutant: Mutant): Equivalent | undefined {
    return this.#byKey
      .get(`${mutant.source.file}\0${mutant.field}`)
      ?.find((e) => e.mutators.includes(mutant.mutator) && (e.to === undefined || e.to === mutant.newText));
  }

  /** Declarations, or single mutators of one, that match no mutant. */
  unused(mutants: Iterable<Mutant>): Equivalent[] {
    const used = new Map<Equivalent, Set<string>>();
    for (const mutant of mutants) {
      const entry = this.find(mutant);
      if (entry === undefined) continue;
      const set = used.get(entry);
      if (set === undefined) used.set(entry, new Set([mutant.mutator]));
      else set.add(mutant.mutator);
    }
    return this.#all.filter((e) => e.mutators.some((m) => used.get(e)?.has(m) !== true));
  }
}
