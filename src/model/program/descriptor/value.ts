/** Values of program code as far as its text decides them. Lists and records are shared, as they are in the code. */
import type { CodeMember, CodeParameter, CodeStatement } from "../../../document/code.js";
import type { Module, Scope } from "./modules.js";

export interface Place {
  readonly module: Module;
  readonly start: number;
  readonly end: number;
}

export interface ListData {
  readonly kind: "list";
  readonly items: Value[];
  /** There may be more, in places that are not known. */
  open: boolean;
}

export interface Field {
  readonly value: Value;
  /** Where the field's name stands; its value's place for an argument that is bound by position. */
  readonly key: Place;
}

export interface RecordData {
  readonly kind: "record";
  /** The class, as it is called where the record is made; undefined for an object literal. */
  readonly type: string | undefined;
  readonly decl: ClassDecl | undefined;
  readonly fields: Map<string, Field>;
  /** Fields may be there that are not in `fields`, or differ. */
  open: boolean;
  /** Arguments of a constructor whose class is not declared in the files. */
  args: readonly Value[];
  /** Calls of methods on it, in order: a builder's parts. */
  readonly calls: {
    readonly name: string;
    readonly args: readonly Value[];
    readonly at: Place;
    readonly sure: boolean;
  }[];
  /** Name of an enum's constant. */
  readonly constant?: string;
  /** The name under which somebody holds it: a key of a map, the first argument of `defineCommand`. */
  hint?: { readonly text: string; readonly at: Place; readonly strong: boolean };
  /** Set on a builder whose product is a record of its own, and on parts of others. */
  consumed?: boolean;
}

export interface FunctionData {
  readonly kind: "function";
  readonly name: string;
  readonly params: readonly CodeParameter[];
  readonly body: readonly CodeStatement[];
  readonly scope: Scope;
}

/** A class of the files. */
export interface ClassDecl {
  readonly name: string;
  readonly kind: "class" | "record" | "enum" | "interface";
  readonly params: readonly CodeParameter[];
  readonly members: readonly CodeMember[];
  readonly base: string | undefined;
  readonly annotations: readonly string[];
  readonly module: Module;
  readonly at: Place;
  /** Where its static members live. */
  readonly scope: Scope;
  readonly outer: ClassDecl | undefined;
  state: "new" | "running" | "ready";
}

export type Data =
  | { readonly kind: "string"; readonly value: string; readonly char?: true }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "null" }
  /** A constant whose declaration is not in the files: only its name is known. */
  | { readonly kind: "symbol"; readonly name: string; readonly owner: string | undefined }
  /** A class: one of the files, or only a name. */
  | { readonly kind: "class"; readonly name: string; readonly decl: ClassDecl | undefined }
  /** What a file holds. */
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "duration"; readonly milliseconds: number }
  /** A string that is being put together. */
  | { readonly kind: "text"; value: string | undefined }
  | { readonly kind: "hash"; readonly algorithm: "sha1" | "sha256"; readonly of: Value | undefined }
  | { readonly kind: "module"; readonly module: Module }
  | ListData
  | RecordData
  | FunctionData
  | { readonly kind: "unknown"; readonly reason: string; readonly around?: RecordData };

/** `at`: where it stands for its reader (a use, an argument); `origin`: where it was written. */
export interface Value {
  readonly data: Data;
  readonly at: Place;
  readonly origin: Place;
}

export function unknown(reason: string, at: Place, around?: RecordData): Value {
  return {
    data: around === undefined ? { kind: "unknown", reason } : { kind: "unknown", reason, around },
    at,
    origin: at,
  };
}

/** The text of a string, of a number, of a boolean; undefined when it is none or not known. */
export function stringOf(value: Value | undefined): string | undefined {
  const data = value?.data;
  if (data?.kind === "string") return data.value;
  if (data?.kind === "text") return data.value;
  return undefined;
}
