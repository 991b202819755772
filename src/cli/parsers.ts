/** Makes the heavy parsers ready, only where a contract has documents for them. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CODE_VERSION, type CodeFile } from "../document/code.js";
import { createJavaReader } from "../document/java.js";
import type { LuaParser } from "../document/lua.js";
import { createShellParser, parseShells, type ShellAst, type ShellParser } from "../document/shell.js";
import { type CodeReader, createTypescriptReader } from "../document/typescript.js";
import type { Contract } from "../model/contract.js";
import type { InputFile } from "../model/input.js";
import { contentKey } from "../text/hash.js";

/** The program's own folder: where the bundle lives, or the source tree. */
const HERE = import.meta.dirname;

/** A file that ships beside the bundle; from sources it is taken from its package. */
function asset(name: string, packageName: string): Uint8Array {
  const own = join(HERE, name);
  return readFileSync(existsSync(own) ? own : join(HERE, "../../node_modules", packageName, name));
}

// One parser and one store of trees for the process: texts recur between contracts, runs of a watch, and mutants.
const trees = new Map<string, ShellAst>();
let shell: Promise<ShellParser> | undefined;

export function shellParser(): Promise<ShellParser> {
  shell ??= createShellParser({
    runtimeWasm: asset("web-tree-sitter.wasm", "web-tree-sitter"),
    grammarWasm: asset("tree-sitter-bash.wasm", "tree-sitter-bash"),
  });
  return shell;
}

const MAX_KEPT = 2000;
/** Trees of longer code files are read again: as text they are many times as long. */
const MAX_KEPT_TEXT = 2 ** 18;

/** Trees kept beside the bundle, by content: reading one costs less than loading a grammar. Every error is ignored. */
function diskCache<T>(
  name: string,
): { get(key: string, text: string): T | undefined; set(key: string, text: string, tree: T): void } | undefined {
  if (!existsSync(join(HERE, "tree-sitter-bash.wasm"))) return undefined;
  const folder = join(HERE, ".cache", name);
  return {
    get(key, text) {
      try {
        const kept = JSON.parse(readFileSync(join(folder, `${key}.json`), "utf8"));
        return kept.text === text ? kept.tree : undefined;
      } catch {
        return undefined;
      }
    },
    set(key, text, tree) {
      try {
        mkdirSync(folder, { recursive: true });
        if (readdirSync(folder).length > MAX_KEPT) return;
        const file = join(folder, `${key}.json`);
        writeFileSync(`${file}.${process.pid}`, JSON.stringify({ text, tree }));
        renameSync(`${file}.${process.pid}`, file);
      } catch {}
    },
  };
}

const readers: { java?: Promise<CodeReader>; typescript?: Promise<CodeReader> } = {};

/** The reader of a language, loaded once. */
export function codeReader(language: "java" | "typescript"): Promise<CodeReader> {
  if (language === "typescript") readers.typescript ??= createTypescriptReader();
  else {
    readers.java ??= createJavaReader({
      runtimeWasm: asset("web-tree-sitter.wasm", "web-tree-sitter"),
      grammarWasm: asset("tree-sitter-java.wasm", "tree-sitter-java"),
    });
  }
  return readers[language]!;
}

const codes = { java: new Map<string, CodeFile>(), typescript: new Map<string, CodeFile>() };

/** Trees of program code: of this process, kept on disk, else read, which loads the language's parser. */
async function prepareCode(contract: Contract, files: readonly InputFile[], passing: boolean): Promise<void> {
  const disk = passing ? undefined : diskCache<CodeFile>("code");
  for (const { kind, file, source } of files) {
    if (kind !== "java" && kind !== "typescript") continue;
    const { text } = source;
    if (contract.parsers.code[kind].has(text)) continue;
    let tree = codes[kind].get(text);
    if (tree === undefined) {
      const extension = file.slice(file.lastIndexOf("."));
      const key = `${CODE_VERSION}${extension}-${contentKey(text)}`;
      tree = disk?.get(key, text);
      if (tree?.version !== CODE_VERSION) {
        tree = (await codeReader(kind)).read(text, file);
        if (text.length <= MAX_KEPT_TEXT) disk?.set(key, text, tree);
      }
      if (!passing) codes[kind].set(text, tree);
    }
    contract.parsers.code[kind].set(text, tree);
  }
}

let lua: Promise<LuaParser> | undefined;

/** The Lua parser, loaded once. */
export function luaParser(): Promise<LuaParser> {
  lua ??= import("luaparse").then((loaded) => {
    const module: LuaParser & { readonly default?: LuaParser } = loaded;
    return module.default ?? module;
  });
  return lua;
}

/** `passing`: the contract is one of thousands of mutants, whose texts nobody asks for again. */
export async function prepareParsers(contract: Contract, passing = false): Promise<void> {
  if (contract.hasLua) contract.parsers.lua = await luaParser();
  const { codeFiles } = contract;
  if (codeFiles.length > 0) await prepareCode(contract, codeFiles, passing);
  const wanted: string[] = [];
  for (const script of contract.scripts) {
    const { text } = script.view;
    const known = trees.get(text);
    if (known !== undefined) contract.parsers.shell.set(text, known);
    else if (contract.parsers.shellAst(text) === undefined) wanted.push(text);
  }
  if (wanted.length === 0) return;
  const parsed = await parseShells(wanted, {
    cache: passing ? undefined : diskCache<ShellAst>("shell"),
    load: shellParser,
  });
  for (const [text, tree] of parsed) {
    if (!passing) trees.set(text, tree);
    contract.parsers.shell.set(text, tree);
  }
}
