/** Makes the heavy parsers ready, only where a contract has documents for them. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LuaParser } from "../document/lua.js";
import { createShellParser, parseShells, type ShellAst, type ShellCache, type ShellParser } from "../document/shell.js";
import type { Contract } from "../model/contract.js";

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

/** Trees kept beside the bundle, by content: reading one costs less than loading the grammar. Every error is ignored. */
function diskCache(): ShellCache | undefined {
  if (!existsSync(join(HERE, "tree-sitter-bash.wasm"))) return undefined;
  const folder = join(HERE, ".cache", "shell");
  return {
    get(key) {
      try {
        return JSON.parse(readFileSync(join(folder, `${key}.json`), "utf8"));
      } catch {
        return undefined;
      }
    },
    set(key, value) {
      try {
        mkdirSync(folder, { recursive: true });
        if (readdirSync(folder).length > MAX_KEPT) return;
        const file = join(folder, `${key}.json`);
        writeFileSync(`${file}.${process.pid}`, JSON.stringify(value));
        renameSync(`${file}.${process.pid}`, file);
      } catch {}
    },
  };
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
  const wanted: string[] = [];
  for (const script of contract.scripts) {
    const { text } = script.view;
    const known = trees.get(text);
    if (known !== undefined) contract.parsers.shell.set(text, known);
    else if (contract.parsers.shellAst(text) === undefined) wanted.push(text);
  }
  if (wanted.length === 0) return;
  const parsed = await parseShells(wanted, {
    cache: passing ? undefined : diskCache(),
    hash: (text) => createHash("sha256").update(text).digest("hex"),
    load: shellParser,
  });
  for (const [text, tree] of parsed) {
    if (!passing) trees.set(text, tree);
    contract.parsers.shell.set(text, tree);
  }
}
