import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { afterAll, expect, it } from "vitest";
import { latePart } from "../../src/dev/late-part.mjs";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** What the entry exports when it is built with a late part, and how often the part was read. */
async function built(files: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), "quorumlint-late-"));
  folders.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const part = latePart({ root, entry: "main.ts", modules: /^late\//, file: "late.cjs" });
  const [main, late] = await Promise.all(
    [part.bundle, part.inside].map(async ({ contents, plugin }) => {
      const { outputFiles } = await build({
        stdin: { contents, resolveDir: root },
        plugins: [plugin],
        bundle: true,
        format: "cjs",
        platform: "node",
        write: false,
        logLevel: "silent",
      });
      return outputFiles[0]!.text;
    }),
  );
  let reads = 0;
  const run = (text: string): Record<string, (...args: unknown[]) => unknown> => {
    const module = { exports: {} };
    new Function("module", "exports", "require", text)(module, module.exports, (id: string) => {
      expect(id).toBe("./late.cjs");
      reads++;
      return run(late!);
    });
    return module.exports;
  };
  return { exports: run(main!), reads: () => reads, part, main: main!, late: late! };
}

const FILES = {
  "main.ts": `
    import { Thing, count, seen } from "./early.js";
    import { analyse, later, numbers, type Unused } from "./late/analysis.js";
    import { helped } from "./late/helper.js";
    export const made = (): Thing => new Thing("main");
    export const run = (word: string) => analyse(new Thing(word));
    export const all = () => [...numbers(3)];
    export const wait = () => later();
    export const state = () => [count(), seen.size];
    export const helps = () => helped();`,
  "early.ts": `
    import { isThing } from "./late/analysis.js";
    export class Thing { constructor(readonly word: string) {} }
    export const seen = new Set<string>();
    let n = 0;
    export const count = () => ++n;
    export const judge = (value: unknown) => isThing(value);
    export default function shout(text: string) { return text.toUpperCase(); }`,
  "late/analysis.ts": `
    import shout, { Thing, count as counted, judge, seen } from "../early.js";
    import { inner } from "./inner.js";
    import { only } from "../only.js";
    export interface Unused { readonly a: string }
    export function analyse(thing: Thing) {
      if (!(thing instanceof Thing) || !judge(thing)) throw new Error("another Thing");
      seen.add(thing.word);
      return [shout(thing.word), counted(), inner(), only];
    }
    export function isThing(value: unknown) { return value instanceof Thing; }
    export function* numbers(n: number) { for (let i = 0; i < n; i++) yield i; }
    export async function later() { throw new Error("later"); }`,
  "late/inner.ts": `
    let calls = 0;
    export function inner() { return ++calls; }
    export class Inner {}`,
  "late/helper.ts": `
    import { inner } from "./inner.js";
    export function helped() { return inner(); }`,
  "only.ts": `export const only = "part";`,
};

it("the part is read at the first call and once, and there is one of each module", async () => {
  const { exports, reads, part, main, late } = await built(FILES);
  expect(exports["made"]!()).toEqual({ word: "main" });
  expect(exports["state"]!()).toEqual([1, 0]);
  expect(reads()).toBe(0);
  expect(exports["run"]!("word")).toEqual(["WORD", 2, 1, "part"]);
  expect(exports["helps"]!()).toBe(2);
  expect(exports["state"]!()).toEqual([3, 1]);
  expect(exports["all"]!()).toEqual([0, 1, 2]);
  await expect(exports["wait"]!()).rejects.toThrow("later");
  expect(reads()).toBe(1);
  expect(part.early.sort()).toEqual(["early.ts", "main.ts"]);
  expect(part.late.sort()).toEqual(["late/analysis.ts", "late/helper.ts", "late/inner.ts", "only.ts"]);
  expect(main).not.toContain("another Thing");
  expect(late).not.toContain("toUpperCase");
});

it.each<[string, Partial<typeof FILES>, RegExp]>([
  [
    "a class of it is used outside",
    { "only.ts": "", "main.ts": `export { Inner } from "./late/inner.js";` },
    /main\.ts uses Inner of late\/inner\.ts, which is late/,
  ],
  [
    "all of it is taken outside",
    { "main.ts": `export * from "./late/inner.js";` },
    /main\.ts uses \* of late\/inner\.ts/,
  ],
  [
    "it is loaded outside",
    { "main.ts": `export const load = () => import("./late/inner.js");` },
    /main\.ts uses \* of late\/inner\.ts/,
  ],
  [
    "it uses a variable that changes",
    {
      "late/helper.ts": `import { now } from "../early.js"; export function helped() { return now; }`,
      "early.ts": "export let now = 1;",
    },
    /early\.ts: a late module uses now of it/,
  ],
  [
    "it uses all of a module",
    {
      "late/analysis.ts": `import * as early from "../early.js"; export function analyse() { return early; }`,
      "main.ts": `import { analyse } from "./late/analysis.js"; import "./early.js"; export const run = () => analyse();`,
      "early.ts": "export const a = 1;",
    },
    /early\.ts: a late module uses all of it/,
  ],
])("refused: %s", async (_, files, message) => {
  await expect(built({ ...FILES, ...files })).rejects.toThrow(message);
});
