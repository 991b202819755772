/** Parsers that are loaded only when a document needs them. A surface makes them ready; the model only asks. */
import type { CodeFile } from "../document/code.js";
import type { LuaParser } from "../document/lua.js";
import { type ShellAst, trivial } from "../document/shell.js";

export class Parsers {
  /** undefined: nobody loaded it. */
  lua: LuaParser | undefined;
  /** Trees of shell texts that are not trivial, by text. */
  readonly shell = new Map<string, ShellAst>();

  /** Trees of program code, by language and text. */
  readonly code = { java: new Map<string, CodeFile>(), typescript: new Map<string, CodeFile>() };

  /** Takes over what is known of another contract's texts. */
  adopt(other: Parsers): void {
    for (const [text, tree] of other.shell) this.shell.set(text, tree);
    this.lua ??= other.lua;
    for (const language of ["java", "typescript"] as const)
      for (const [text, tree] of other.code[language]) this.code[language].set(text, tree);
  }

  /** undefined: the grammar was needed and nobody loaded it. */
  shellAst(text: string): ShellAst | undefined {
    let ast = this.shell.get(text);
    if (ast === undefined) {
      ast = trivial(text);
      if (ast !== undefined) this.shell.set(text, ast);
    }
    return ast;
  }
}
