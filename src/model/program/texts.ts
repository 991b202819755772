/** The constant texts that a script answers or stores. */
import type { ScriptEffects } from "./effects.js";
import { base, type Term } from "./term.js";

export function literalTexts(effects: ScriptEffects): ReadonlySet<string> {
  const out = new Set<string>();
  const add = (term: Term): void => {
    for (const { value } of effects.terms.alternatives(base(term)) ?? []) {
      const t = base(value);
      if (t.kind === "literal" && typeof t.value === "string") out.add(t.value);
    }
  };
  for (const call of effects.calls) for (const word of call.argv) add(word);
  for (const { result, term } of effects.results) {
    if (result.kind === "list") for (const item of result.items) add(item);
    else if (result.kind === "status" || result.kind === "error") {
      if (result.text !== undefined) out.add(result.text);
    } else add(term);
  }
  return out;
}
