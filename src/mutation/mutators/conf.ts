/** Mutators of redis.conf and sentinel.conf. */
import { aclLineMutations } from "./acl.js";
import { changesOf, isChosen } from "./change.js";
import { copyLine, cutLine, type Line, linesOf, wordsOf } from "./lines.js";
import type { TextMutation } from "./text.js";

export function* confMutations(text: string): Generator<TextMutation> {
  const lines = [...linesOf(text)].filter((l) => l.text.trim() !== "" && !l.text.trim().startsWith("#"));
  for (const [i, line] of lines.entries()) {
    const words = wordsOf(line);
    const [first, second] = words;
    if (first === undefined) continue;
    if (first.text.toLowerCase() === "user" && second !== undefined) {
      yield* aclLineMutations(text, line, second.text);
      continue;
    }
    const name = nameOf(line);
    const head = first.text.toLowerCase() === "sentinel" && second !== undefined ? 2 : 1;
    yield { mutator: "remove-line", field: name, newText: "", ...cutLine(text, line) };
    yield { mutator: "duplicate-line", field: name, ...copyLine(line) };
    const last = words[head - 1]!;
    yield { mutator: "rename-directive", field: name, start: last.end, end: last.end, newText: "x" };
    for (const [j, word] of words.entries()) {
      if (j < head) continue;
      if (/^[1-9]\d*$/.test(word.text) && isChosen(name)) {
        const field = `${name}[${j - head + 1}]`;
        yield { mutator: "zero", field, start: word.start, end: word.end, newText: "0" };
        continue;
      }
      for (const c of changesOf(word.text))
        yield {
          mutator: c.mutator,
          field: `${name}[${j - head + 1}]`,
          start: word.start,
          end: word.end,
          newText: c.text,
        };
    }
    const next = lines[i + 1];
    // Sentinel reads top down: a master must be named before its options
    if (next !== undefined && head === 2 && nameOf(next).startsWith("sentinel ")) yield swap(text, line, next, name);
  }
}

function nameOf(line: Line): string {
  const words = line.text.trim().split(/\s+/);
  const name = words[0]!.toLowerCase();
  return name === "sentinel" && words[1] !== undefined ? `sentinel ${words[1].toLowerCase()}` : name;
}

function swap(text: string, a: Line, b: Line, name: string): TextMutation {
  return {
    mutator: "swap-lines",
    field: name,
    start: a.start,
    end: b.end,
    newText: b.text + text.slice(a.end, b.start) + a.text,
  };
}
