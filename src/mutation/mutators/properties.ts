/** Mutators of properties and env files. */
import { changesOf } from "./change.js";
import { copyLine, cutLine, linesOf } from "./lines.js";
import type { TextMutation } from "./text.js";

export function* propertiesMutations(text: string): Generator<TextMutation> {
  for (const line of linesOf(text)) {
    const m = /^(\s*(?:export\s+)?)([^\s=:#!][^\s=:]*)(\s*[=:]\s*)(.*?)\s*$/.exec(line.text);
    if (m === null) continue;
    const [, lead, key, separator, value] = m as unknown as [string, string, string, string, string];
    yield { mutator: "remove-line", field: key, newText: "", ...cutLine(text, line) };
    yield { mutator: "duplicate-line", field: key, ...copyLine(line) };
    const keyEnd = line.start + lead.length + key.length;
    yield { mutator: "rename-key", field: key, start: keyEnd, end: keyEnd, newText: "x" };
    const start = keyEnd + separator.length;
    if (value === "") continue;
    yield { mutator: "empty-value", field: key, start, end: start + value.length, newText: "" };
    for (const c of changesOf(value))
      yield { mutator: c.mutator, field: key, start, end: start + value.length, newText: c.text };
  }
}
