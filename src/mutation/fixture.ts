/** The hand-written proof of a rule: mutants that it must kill, and boundary cases where it must stay silent. */
import type { Severity } from "../engine/diagnostic.js";

/** One change of a tree. `find` must stand exactly once in the file (or `nth` says which, from 1). */
export type FileEdit =
  | { readonly file: string; readonly find: string; readonly with: string; readonly nth?: number }
  | { readonly file: string; readonly create: string | Uint8Array }
  | { readonly file: string; readonly remove: true };

export interface Expected {
  /** Default: the fixture's rule. */
  readonly rule?: string;
  readonly message: string;
  /** The text that the span starts with. */
  readonly at: string;
  /** Default: the file of the mutant's first edit. */
  readonly file?: string;
  readonly severity?: Severity;
  /** A part of the message. */
  readonly says?: string;
  /** The texts that its related places start with: all of them, in order. */
  readonly related?: readonly string[];
  /** The line that its fix leaves, without its indentation; false: it offers none. */
  readonly fix?: string | false;
}

interface Case {
  readonly edit: FileEdit | readonly FileEdit[];
  /** Findings of other rules (or further ones of this rule) that the same edit causes. */
  readonly also?: readonly Expected[];
  /** What other rules find of the edit is not asked: it is of one rule's matter, and careless of theirs. */
  readonly alone?: true;
  /** The tree that is edited: `redis-lab` (declared, the default), or another directory of `fixtures/`. */
  readonly base?: string;
  readonly today?: string;
}

export interface KilledCase extends Case, Omit<Expected, "rule" | "message"> {
  readonly mutant: string;
  /** The message of this rule that must report it. */
  readonly by: string;
}

export interface SilentCase extends Case {
  readonly name: string;
}

export interface RuleFixture {
  readonly killed: readonly KilledCase[];
  readonly silent: readonly SilentCase[];
}

export function defineFixture(fixture: RuleFixture): RuleFixture {
  return fixture;
}

export function replace(file: string, find: string, replacement: string, nth?: number): FileEdit {
  return nth === undefined ? { file, find, with: replacement } : { file, find, with: replacement, nth };
}

/** Deletes text. */
export function cut(file: string, find: string, nth?: number): FileEdit {
  return replace(file, find, "", nth);
}

/** Inserts text behind an anchor text. */
export function after(file: string, anchor: string, text: string, nth?: number): FileEdit {
  return replace(file, anchor, anchor + text, nth);
}

export function create(file: string, text: string | Uint8Array): FileEdit {
  return { file, create: text };
}

export function remove(file: string): FileEdit {
  return { file, remove: true };
}

export class EditError extends Error {}

/** The tree with the edits applied; unchanged files are the same objects. */
export function applyFileEdits(
  tree: ReadonlyMap<string, Uint8Array>,
  edits: readonly FileEdit[],
): Map<string, Uint8Array> {
  const out = new Map(tree);
  for (const edit of edits) {
    if ("create" in edit) {
      out.set(edit.file, typeof edit.create === "string" ? new TextEncoder().encode(edit.create) : edit.create);
      continue;
    }
    const bytes = out.get(edit.file);
    if (bytes === undefined) throw new EditError(`there is no file ${edit.file} to edit`);
    if ("remove" in edit) {
      out.delete(edit.file);
      continue;
    }
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    const places: number[] = [];
    for (let at = text.indexOf(edit.find); at >= 0; at = text.indexOf(edit.find, at + 1)) places.push(at);
    const wanted = edit.nth === undefined ? (places.length === 1 ? places[0] : undefined) : places[edit.nth - 1];
    if (wanted === undefined) {
      throw new EditError(
        `"${edit.find.slice(0, 80)}" stands ${places.length} times in ${edit.file}, not ${edit.nth === undefined ? "once" : `${edit.nth} times`}`,
      );
    }
    out.set(
      edit.file,
      new TextEncoder().encode(text.slice(0, wanted) + edit.with + text.slice(wanted + edit.find.length)),
    );
  }
  return out;
}

export function editsOf(edit: FileEdit | readonly FileEdit[]): readonly FileEdit[] {
  return Array.isArray(edit) ? edit : [edit as FileEdit];
}
