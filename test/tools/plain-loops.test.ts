import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, expect, test } from "vitest";
import { plainLoops } from "../../src/dev/plain-loops.mjs";

const folder = mkdtempSync(join(tmpdir(), "quorumlint-loops-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a function `run` of a source makes, as it is written and as the build writes it; with the text of the latter. */
function both(source: string): { written: unknown; built: unknown; text: string } {
  const file = join(folder, "source.ts");
  writeFileSync(file, source);
  const text = plainLoops([file]).get(file) ?? source;
  const value = (code: string): unknown => {
    const module = { exports: {} as { run?: () => unknown } };
    new Function(
      "module",
      "exports",
      ts.transpile(code, { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 }),
    )(module, module.exports);
    return module.exports.run?.();
  };
  return { written: value(source), built: value(text), text };
}

const ITERATED = /\bof\b/;

test.each<[string, string]>([
  ["a loop", "const out: number[] = []; for (const x of [1, 2, 3]) out.push(x * 2); return out;"],
  [
    "a loop that goes on and ends early",
    "const out: number[] = []; for (const x of [1, 2, 3, 4]) { if (x === 2) continue; if (x === 4) break; out.push(x); } return out;",
  ],
  [
    "a list that grows while it is read",
    "const list = [1]; for (const x of list) if (x < 5) list.push(x + 1); return list;",
  ],
  [
    "functions that keep what each step had",
    "const out: (() => number)[] = []; for (let x of [1, 2, 3]) { out.push(() => x); x += 10; } return out.map((f) => f());",
  ],
  [
    "a name that the body uses anew",
    "const out: string[] = []; for (const x of [1, 2]) { const y = x; { const x = `in${y}`; out.push(x); } } return out;",
  ],
  [
    "loops in loops with a label",
    "const out: string[] = []; outer: for (const a of ['x', 'y']) for (const b of [1, 2, 3]) { if (b === 3) continue outer; if (a === 'y' && b === 2) break outer; out.push(a + b); } return out;",
  ],
  [
    "what is made anew in the head",
    "let made = 0; const make = (): number[] => { made++; return [1, 2, 3]; }; let sum = 0; for (const x of make()) sum += x; return [made, sum];",
  ],
  [
    "a list by `in`",
    "const o: { a?: number[] } = { a: [4] }; let sum = 0; for (const x of 'a' in o ? o.a! : []) sum += x; return sum;",
  ],
  [
    "pairs taken apart",
    "const out: string[] = []; for (const [a, , b = 'none'] of [['x', 'y', 'z'], ['p', 'q']] as [string, string, string?][]) out.push(a + b); return out;",
  ],
  ["a tuple taken apart", "const [a, [b, c = 7]] = [1, [2]] as [number, [number, number?]]; return [a, b, c];"],
  ["parameters taken apart", "return [[1, 2], [3, 4]].map(([a, b]) => a! + b!);"],
  ["the groups of a match", "const [whole, group] = /a(b)?/.exec('xab')!; return [whole, group];"],
  [
    "lists joined",
    "const a = [1, 2], b: readonly number[] = [3]; return [[...a], [...a, 4], [...a, ...b, 5, 6, ...a], [...a, [7]]];",
  ],
])("%s needs no iterator and stays the same", (_, body) => {
  const { written, built, text } = both(`export function run(): unknown { ${body} }\n`);
  expect(built).toEqual(written);
  expect(text).not.toMatch(ITERATED);
  expect(text).not.toMatch(/\.\.\.|(?:const|let) \[|\(\[\w+, \w+\]\) =>/);
});

test.each<[string, string]>([
  [
    "a Set that grows while it is read",
    "const set = new Set([1]); for (const x of set) if (x < 5) set.add(x + 1); return [...set];",
  ],
  ["a Map", "const out: string[] = []; for (const [k, v] of new Map([['a', 1]])) out.push(k + v); return out;"],
  [
    "a generator that somebody leaves",
    "const seen: number[] = []; function* g() { try { yield 1; yield 2; } finally { seen.push(9); } } for (const x of g()) { seen.push(x); break; } return seen;",
  ],
  [
    "characters of a text",
    "const out: string[] = []; for (const c of 'a\\u{1f600}') out.push(c); return [out, [...'a\\u{1f600}'].length];",
  ],
  [
    "what may be another thing than a list",
    "const out: number[] = []; for (const x of (Math.min(1, 2) === 1 ? new Set([1, 2]) : [3]) as Set<number> | number[]) out.push(x); return out;",
  ],
  ["what has no type", "const out: number[] = []; for (const x of new Set([1]) as any) out.push(x); return out;"],
  ["the rest of a list", "const [first, ...rest] = [1, 2, 3]; return [first, rest];"],
  ["what is assigned", "let a = 1, b = 2; [a, b] = [b, a]; return [a, b];"],
  ["a Set among lists", "return [...[1], ...new Set([2, 3])];"],
])("%s stays as it is written", (_, body) => {
  const { written, built, text } = both(`export function run(): unknown { ${body} }\n`);
  expect(built).toEqual(written);
  expect(text).toMatch(/\bof\b|\.\.\.|\[a, b\] =/);
});
