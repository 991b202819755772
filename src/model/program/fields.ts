/**
 * Which arguments the programs of a contract keep in which hash fields: an owner compared with the stored attempt is compared
 * with nothing.
 */
import { fieldPairs, literalText } from "./call.js";
import { argumentOf } from "./judge.js";
import type { ManifestProgram } from "./manifest.js";
import type { Program } from "./programs.js";
import { inputOf, type KeyTest } from "./query.js";
import { base } from "./term.js";

/** By field, the names of the arguments that some program stores there as they are. */
export type StoredFields = ReadonlyMap<string, ReadonlySet<string>>;

export function storedFields(programs: readonly Program[]): StoredFields {
  const out = new Map<string, Set<string>>();
  for (const { entry, script } of programs) {
    if (entry === undefined) continue;
    for (const call of script?.effects?.writes ?? []) {
      for (const { field, value } of fieldPairs(call)) {
        const input = inputOf(value);
        const text = literalText(base(field));
        if (input?.table !== "argv" || input.path.length > 0 || text === undefined) continue;
        const name = argumentOf(entry, input.index)?.name.value;
        if (name === undefined || name === "") continue;
        const known = out.get(text);
        if (known === undefined) out.set(text, new Set([name]));
        else known.add(name);
      }
    }
  }
  return out;
}

/**
 * A test of a field against an argument, where programs keep another argument of this program in that field, and never this one.
 */
export function isCrossed(test: KeyTest, entry: ManifestProgram, fields: StoredFields): boolean {
  const { field, path } = test.read;
  const text = field === undefined || path.length > 0 ? undefined : literalText(base(field));
  const stored = text === undefined ? undefined : fields.get(text);
  const [input, ...others] = test.inputs;
  if (stored === undefined || input?.table !== "argv" || others.length > 0) return false;
  const name = argumentOf(entry, input.index)?.name.value;
  return name !== undefined && !stored.has(name) && entry.argv.some((a) => stored.has(a.name.value));
}
