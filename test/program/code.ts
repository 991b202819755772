/** Readers of code for tests: both parsers loaded once, files given as text. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CodeFile } from "../../src/document/code.js";
import { createJavaReader } from "../../src/document/java.js";
import { createTypescriptReader } from "../../src/document/typescript.js";
import type { Descriptor, Reading } from "../../src/model/program/descriptor/descriptor.js";
import { type CodeReading, readCode } from "../../src/model/program/descriptor/read.js";
import { Source } from "../../src/text/source.js";
import { root } from "../support.js";

const wasm = (name: string): Uint8Array => readFileSync(join(root, "node_modules", name));
export const java = await createJavaReader({
  runtimeWasm: wasm("web-tree-sitter/web-tree-sitter.wasm"),
  grammarWasm: wasm("tree-sitter-java/tree-sitter-java.wasm"),
});
export const typescript = await createTypescriptReader();

export function parse(file: string, text: string): CodeFile {
  return (file.endsWith(".java") ? java : typescript).read(text, file);
}

/** Reads files; those whose names begin with `_` only give constants. `map` is that of the first. */
export function read(files: Readonly<Record<string, string>>, map: Readonly<Record<string, string>> = {}): CodeReading {
  return readCode(
    Object.entries(files).map(([file, text]) => ({
      source: new Source(file, text),
      code: parse(file, text),
      describes: !/(^|\/)_/.test(file),
      map,
    })),
  );
}

/** The value of a reading; its state where it has none. */
export function reading(r: Reading<unknown>): unknown {
  return r.state === "known" ? r.value : r.state;
}

/** A descriptor as plain values; what is absent is left out. */
export function plain(d: Descriptor): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  const put = (name: string, value: unknown): void => {
    if (value !== "absent") out[name] = value;
  };
  for (const name of [
    "id",
    "version",
    "file",
    "sha1",
    "sha256",
    "text",
    "numberOfKeys",
    "minimumRedisVersion",
  ] as const) {
    put(name, reading(d[name]));
  }
  const list = <T>(r: Reading<readonly T[]>, each: (item: T) => unknown): unknown =>
    r.state === "known" ? r.value.map(each) : r.state;
  put(
    "keys",
    list(d.keys, (k) => [k.name, k.pattern, k.access].map(reading).join(" ")),
  );
  put(
    "argv",
    list(d.argv, (a) => [a.name, a.type, a.unit].map(reading).join(" ")),
  );
  put("commands", list(d.commands, reading));
  if (d.result.state === "known") {
    const { types, values, items } = d.result.value;
    out["result"] = [types, values, items].map(reading);
  } else put("result", d.result.state);
  for (const [name, r] of Object.entries(d.words)) put(name, reading(r));
  if (d.holder !== undefined) out["holder"] = d.holder.name;
  return out;
}
