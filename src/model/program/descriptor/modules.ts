/** The declared files as modules: which name means what of which file. */
import type { Code, CodeFile } from "../../../document/code.js";
import type { Source } from "../../../text/source.js";
import type { ClassDecl, Value } from "./value.js";

/** A name in a scope. Constants of files and classes are evaluated when first asked for. */
export interface Binding {
  value?: Value;
  readonly code?: Code | undefined;
  state: "lazy" | "running" | "ready";
  /** An argument: it keeps the place at which the caller wrote it. */
  readonly parameter?: true;
}

export class Scope {
  readonly parent: Scope | undefined;
  readonly module: Module;
  readonly names = new Map<string, Binding>();
  /** The object that `this` means, the class that it is in. */
  self: Value | undefined;
  decl: ClassDecl | undefined;

  constructor(module: Module, parent: Scope | undefined) {
    this.module = module;
    this.parent = parent;
    this.self = parent?.self;
    this.decl = parent?.decl;
  }
}

export interface Imported {
  readonly from: string;
  /** `*` for everything under one name. */
  readonly name: string;
}

export class Module {
  readonly source: Source;
  readonly code: CodeFile;
  readonly scope: Scope;
  /** TypeScript: name here → where it is from. */
  readonly imports = new Map<string, Imported>();
  /** TypeScript: exported name → name here, or in another module. */
  readonly exports = new Map<string, { readonly local: string } | Imported>();
  /** TypeScript: modules whose exports are exported as well. */
  readonly stars: string[] = [];
  /** How often each name is assigned, after its declaration. */
  readonly assigned = new Map<string, number>();

  constructor(source: Source, code: CodeFile) {
    this.source = source;
    this.code = code;
    this.scope = new Scope(this, undefined);
    for (const s of code.body) {
      if (s.type === "import") {
        if (s.all !== undefined && code.language === "typescript") this.imports.set(s.all, { from: s.from, name: "*" });
        if (code.language === "typescript")
          for (const n of s.names) this.imports.set(n.as, { from: s.from, name: n.name });
      } else if (s.type === "export") {
        if (s.all === true && s.from !== undefined) this.stars.push(s.from);
        else if (typeof s.all === "string" && s.from !== undefined)
          this.exports.set(s.all, { from: s.from, name: "*" });
        for (const n of s.names) {
          this.exports.set(n.as, s.from === undefined ? { local: n.name } : { from: s.from, name: n.name });
        }
      } else if ("exported" in s && s.exported === true) this.exports.set(s.name, { local: s.name });
      else if (s.type === "default") {
        this.exports.set("default", { local: s.value.type === "name" ? s.value.name : "default" });
      }
    }
  }

  get file(): string {
    return this.source.file;
  }
}

const EXTENSIONS = [".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"];

/** `a/b/../c` without `.` and `..`; undefined when it leaves the root. */
export function joinPath(...parts: readonly string[]): string | undefined {
  const out: string[] = [];
  for (const part of parts.join("/").split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") out.push(part);
    else if (out.pop() === undefined) return undefined;
  }
  return out.join("/");
}

export class Modules {
  readonly all: readonly Module[];
  readonly #byPath = new Map<string, Module>();
  /** Paths without their extension, from the end: `redis/keys` finds `src/redis/keys.ts`. */
  readonly #byTail = new Map<string, Module | undefined>();
  /** Java: classes by their full name, and by package. */
  readonly classes = new Map<string, ClassDecl>();

  constructor(files: readonly { readonly source: Source; readonly code: CodeFile }[]) {
    this.all = files.map((f) => new Module(f.source, f.code));
    for (const module of this.all) {
      this.#byPath.set(module.file, module);
      if (module.code.language !== "typescript") continue;
      const bare = module.file.replace(/\.[mc]?[jt]sx?$/, "").replace(/\/index$/, "");
      const parts = bare.split("/");
      for (let i = Math.max(0, parts.length - 12); i < parts.length; i++) {
        const tail = parts.slice(i).join("/");
        this.#byTail.set(tail, this.#byTail.has(tail) ? undefined : module);
      }
    }
  }

  /** The module that a specifier names; undefined when it is not one of the files. */
  find(from: Module, specifier: string): Module | undefined {
    if (!specifier.startsWith(".")) {
      // an alias of the build: `@/redis/keys`, `~/redis/keys`, `@app/redis/keys`, `#redis/keys`
      const tail = /^(?:[@~#][^/]*\/|src\/)(.+?)(?:\.[mc]?[jt]sx?)?$/.exec(specifier)?.[1];
      return tail === undefined ? undefined : this.#byTail.get(tail.replace(/\/index$/, ""));
    }
    const path = joinPath(from.file.slice(0, Math.max(0, from.file.lastIndexOf("/"))), specifier);
    if (path === undefined) return undefined;
    const bare = path.replace(/\.([mc]?)jsx?$/, "");
    const candidates = [path];
    if (bare !== path) for (const e of EXTENSIONS) candidates.push(bare + e);
    for (const e of EXTENSIONS) candidates.push(path + e);
    for (const e of EXTENSIONS) candidates.push(`${path}/index${e}`);
    for (const candidate of candidates) {
      const found = this.#byPath.get(candidate);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
