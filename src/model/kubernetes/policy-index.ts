/** Policies by the questions that rules ask of them, so that nobody looks at every policy for every pod. */

import { push } from "../multimap.js";
import type { NetworkEngine } from "./network.js";
import type { Direction, Policy } from "./network-policy.js";

const DIRECTIONS = ["ingress", "egress"] as const;

export class PolicyIndex {
  readonly #byNamespace = new Map<string, Policy[]>();
  readonly #order = new Map<Policy, number>();
  /** Policies with rules of a direction that their types leave out. */
  readonly #inert: Readonly<Record<Direction, Policy[]>> = { ingress: [], egress: [] };
  /** Policies of a direction that something not in the files may change. */
  readonly #undecided: Readonly<Record<Direction, Policy[]>> = { ingress: [], egress: [] };
  readonly #isUncertain: (policy: Policy) => boolean;
  #uncertain: Map<string, Policy[]> | undefined;

  /** `isUncertain`: the policy may select a pod whose labels it does not match. */
  constructor(engine: NetworkEngine, isUncertain: (policy: Policy) => boolean) {
    this.#isUncertain = isUncertain;
    for (const policy of engine.policies) {
      this.#order.set(policy, this.#order.size);
      push(this.#byNamespace, policy.info.namespace, policy);
      for (const direction of DIRECTIONS) {
        if (!policy.affects[direction] && policy[direction].length > 0) this.#inert[direction].push(policy);
        if (policy.affects[direction] && policy.undecided) this.#undecided[direction].push(policy);
      }
    }
  }

  of(namespace: string): readonly Policy[] {
    return this.#byNamespace.get(namespace) ?? [];
  }

  uncertain(namespace: string): readonly Policy[] {
    if (this.#uncertain === undefined) {
      this.#uncertain = new Map();
      for (const policy of this.#order.keys()) {
        if (this.#isUncertain(policy)) push(this.#uncertain, policy.info.namespace, policy);
      }
    }
    return this.#uncertain.get(namespace) ?? [];
  }

  inert(direction: Direction): readonly Policy[] {
    return this.#inert[direction];
  }

  undecided(direction: Direction): readonly Policy[] {
    return this.#undecided[direction];
  }

  /** The one that stands first in the files. */
  first(policies: Iterable<Policy | undefined>): Policy | undefined {
    let best: Policy | undefined;
    for (const policy of policies) {
      if (policy !== undefined && (best === undefined || this.#order.get(policy)! < this.#order.get(best)!))
        best = policy;
    }
    return best;
  }
}
