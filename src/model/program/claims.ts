/**
 * Programs of class idempotency: which of them takes an execution, which steps follow, and by which arguments a step says whose
 * execution it is. Told from what the scripts store and compare; names only help where scripts leave it open.
 */
import type { Contract } from "../contract.js";
import type { Call } from "./call.js";
import type { ScriptEffects } from "./effects.js";
import { type StoredFields, storedFields } from "./fields.js";
import { argumentOf, isGuardedBy } from "./judge.js";
import type { ManifestProgram } from "./manifest.js";
import { storedInputs } from "./ownership.js";
import type { ContractPrograms, Program } from "./programs.js";
import { readOf, testsOf } from "./query.js";

/** `claim`: takes an execution · `step`: goes on with one · `other`: reads, or cannot be told. */
export type ClaimRole = "claim" | "step" | "other";

const OWNER = /owner|holder/i;
const ATTEMPT = /attempt/i;
/** Steps that only the claim's owner may take. */
const STEP =
  /(?:^|[^a-z])(?:start|begin|renew|extend|heartbeat|complete|finish|commit|fail|release|abort)(?:$|[^a-z])/i;
const CLAIM = /(?:^|[^a-z])(?:claim|acquire)(?:$|[^a-z])/i;

/** What an argument that says whose execution it is stands for: `owner`, `attempt`, or the name that the team gave it. */
export function identityTitle(name: string): string {
  return OWNER.test(name) ? "owner" : ATTEMPT.test(name) ? "attempt" : name;
}

export class Claims {
  /** By title: a program that takes such an argument, for messages. */
  readonly identity: ReadonlyMap<string, Program>;
  readonly fields: StoredFields;
  readonly #roles = new Map<Program, ClaimRole>();

  constructor(all: ContractPrograms) {
    const programs = all.programs.filter((p) => p.entry?.class?.value === "idempotency");
    this.fields = storedFields(programs);
    const stored = new Set<string>();
    const compared = new Set<string>();
    for (const { entry, script } of programs) {
      const effects = script?.effects;
      if (entry === undefined || effects === undefined) continue;
      const taken = new Set(effects.writes.flatMap((w) => taking(w, effects, entry)));
      for (const name of taken) stored.add(name);
      for (const name of comparedArguments(effects, entry)) if (!taken.has(name)) compared.add(name);
    }
    const identity = new Map<string, Program>();
    for (const program of programs) {
      for (const { name } of program.entry?.argv ?? []) {
        const title = identityTitle(name.value);
        const byUse = stored.has(name.value) && compared.has(name.value);
        if ((byUse || title !== name.value || OWNER.test(title) || ATTEMPT.test(title)) && !identity.has(title)) {
          identity.set(title, program);
        }
      }
    }
    this.identity = identity;
    for (const program of programs) this.#roles.set(program, this.#judge(program));
  }

  roleOf(program: Program): ClaimRole {
    return this.#roles.get(program) ?? "other";
  }

  /** The index (from 1) of the argument of `entry` with that title; undefined: it has none. */
  argument(entry: ManifestProgram, title: string): number | undefined {
    const found = entry.argv.findIndex((a) => identityTitle(a.name.value) === title);
    return found < 0 ? undefined : found + 1;
  }

  #judge({ entry, script }: Program): ClaimRole {
    const effects = script?.effects;
    if (entry === undefined || effects === undefined || effects.writes.length === 0) return "other";
    const id = entry.id?.value ?? "";
    const takes = effects.writes.filter((w) =>
      taking(w, effects, entry).some((name) => this.identity.has(identityTitle(name))),
    );
    const [step, claim] = [STEP.test(id), CLAIM.test(id)];
    if (takes.some((w) => isFree(w, effects)) || (takes.length > 0 && (claim || !step))) return "claim";
    if (claim && !step && this.identity.size === 0) return "claim";
    const known = [...this.identity.keys()].some((title) => this.argument(entry, title) !== undefined);
    if (step || known) return "step";
    return claim ? "claim" : "other";
  }
}

/** Names of arguments that a write stores without having compared them with what is there. */
function taking(write: Call, effects: ScriptEffects, entry: ManifestProgram): readonly string[] {
  return storedInputs(write).flatMap((i) => {
    const name = argumentOf(entry, i)?.name.value;
    return name === undefined || name === "" || isGuardedBy(write, effects.terms, i) ? [] : [name];
  });
}

function comparedArguments(effects: ScriptEffects, entry: ManifestProgram): readonly string[] {
  return testsOf(effects.comparisons, undefined, effects.terms).flatMap((t) =>
    t.guard.op !== "equal" && t.guard.op !== "different"
      ? []
      : t.inputs.flatMap((i) => (i.table === "argv" ? (argumentOf(entry, i.index)?.name.value ?? []) : [])),
  );
}

/** A write is sent only where nothing is stored yet. */
export function isFree(write: Call, effects: ScriptEffects): boolean {
  if (write.has("NX", 3) || write.command === "setnx" || write.command === "hsetnx") return true;
  return write.guards.some((g) => {
    const read = readOf(g.left, effects.terms);
    if (g.op === "false") return read !== undefined;
    if (g.op !== "equal" || read === undefined || g.right?.kind !== "literal") return false;
    const { value } = g.right;
    if (/^(?:h?exists)$/.test(read.call.command ?? "")) return Number(value) === 0;
    return value === null || value === false;
  });
}

const made = new WeakMap<ContractPrograms, Claims>();

export function claimsOf(contract: Contract): Claims {
  let claims = made.get(contract.programs);
  if (claims === undefined) made.set(contract.programs, (claims = new Claims(contract.programs)));
  return claims;
}
