/** Arguments that took each other's place: a field called `owner` gets or meets the attempt, and one called `attempt` the owner. */
import type { Span } from "../../text/source.js";
import { fieldPairs, literalText } from "./call.js";
import type { ScriptEffects } from "./effects.js";
import { keyOfTerm } from "./judge.js";
import type { ManifestProgram } from "./manifest.js";
import { inputOf, type Read, testsOf } from "./query.js";
import { base, type Term } from "./term.js";

export interface Crossing {
  /** The field, part or key whose name is another argument's. */
  readonly place: string;
  /** ARGV index (from 1) of the argument that it gets or meets, and of the one that it is named like. */
  readonly given: number;
  readonly meant: number;
  readonly at: Span;
}

/** Crossings that come in pairs, so that one name alone proves nothing (`version` may well meet `expectedVersion`). */
export function crossings(entry: ManifestProgram, effects: ScriptEffects): readonly Crossing[] {
  const found = new Map<string, Crossing>();
  const note = (place: string, given: number, at: Span): void => {
    const own = entry.argv[given - 1]?.name.value;
    const meant = entry.argv.findIndex((a) => isLike(place, a.name.value)) + 1;
    if (own === undefined || meant === 0 || meant === given || isLike(place, own)) return;
    const name = `${meant}:${given}`;
    if (!found.has(name)) found.set(name, { place, given, meant, at });
  };
  for (const call of effects.writes) {
    for (const { field, value, index } of fieldPairs(call)) {
      const input = inputOf(value);
      if (input?.table === "argv" && input.index !== undefined && input.path.length === 0)
        note(text(field), input.index, call.wordAt(index));
    }
  }
  for (const { guard, read, input } of testsOf(effects.comparisons, undefined, effects.terms)) {
    if (guard.op !== "equal" && guard.op !== "different") continue;
    if (input?.table === "argv" && input.index !== undefined && input.path.length === 0)
      note(nameOf(read, entry), input.index, guard.at);
  }
  return [...found.values()].filter((c) => found.has(`${c.given}:${c.meant}`)).slice(0, 1);
}

/** The same name, or one that is short for the other: `gen` for `generation`. */
function isLike(place: string, name: string): boolean {
  const [a, b] = [plain(place), plain(name)];
  return a !== "" && (a === b || (a.length >= 3 && b.startsWith(a)));
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

function nameOf(read: Read, entry: ManifestProgram): string {
  const part = read.path.at(-1);
  if (part !== undefined && part !== "?") return part;
  return read.field === undefined ? (keyOfTerm(entry, read.key)?.name.value ?? "") : text(read.field);
}

function text(term: Term): string {
  return literalText(base(term)) ?? "";
}
