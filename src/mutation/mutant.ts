/** Mutants: one change of one place of a contract, and what the rules made of it. */

import type { Path } from "../document/yaml.js";
import { hash128 } from "../engine/fingerprint.js";
import type { Position, Source } from "../text/source.js";

/**
 * What a change of text does to the value of its YAML document, where the mutator knows it: the engine then need not parse.
 * `duplicate`: the key at `path` stands twice; its value stays.
 */
export type ValueChange =
  | { readonly kind: "set"; readonly path: Path; readonly value: unknown }
  | { readonly kind: "remove"; readonly path: Path }
  | { readonly kind: "rename"; readonly path: Path; readonly to: string }
  | { readonly kind: "insert"; readonly path: Path; readonly index: number; readonly value: unknown }
  | { readonly kind: "swap"; readonly path: Path; readonly first: number; readonly second: number }
  | { readonly kind: "duplicate"; readonly path: Path; readonly key: string; readonly at: number };

/** What a mutator yields: a replacement of a range of a file (UTF-16 offsets), never an edit in place. */
export interface Mutation {
  readonly mutator: string;
  /** The changed field as people name it: `StatefulSet/redis-data:/spec/replicas`, `appendfsync[1]`, `user app: +get`. */
  readonly field: string;
  readonly start: number;
  readonly end: number;
  readonly newText: string;
  /** The YAML document that the range lies in (its index in the file); undefined: the change concerns the file as a whole. */
  readonly document?: number | undefined;
  readonly change?: ValueChange | undefined;
}

export interface Mutant extends Mutation {
  /** Stable as long as the field, the mutator and the replacement are. */
  readonly id: string;
  readonly source: Source;
}

/** The states of the mutation testing report schema that a sweep uses. */
export type MutantStatus =
  | "Killed"
  | "Survived"
  | "NoCoverage"
  | "CompileError"
  | "RuntimeError"
  | "Ignored"
  | "Pending";

export interface MutantResult {
  readonly mutant: Mutant;
  readonly status: MutantStatus;
  /** Rules that reported, sorted. */
  readonly killedBy: readonly string[];
  /** Rules that read the changed place, sorted; not those that read every field alike. */
  readonly coveredBy: readonly string[];
  /** The findings of a killed mutant, the reason of an ignored one, the fault of an invalid one. */
  readonly reason: string | undefined;
}

export interface Location {
  readonly start: Position;
  readonly end: Position;
}

export function locationOf(mutant: Mutant): Location {
  const { source, start, end } = mutant;
  return { start: source.position(start), end: source.position(end) };
}

/** The text of the file with the mutant in it. */
export function mutatedText(mutant: Mutation, text: string): string {
  return text.slice(0, mutant.start) + mutant.newText + text.slice(mutant.end);
}

/** Gives mutations of one file their ids; a repeated one (same field, mutator and replacement) is numbered. */
export function* mutantsOf(source: Source, mutations: Iterable<Mutation>): Generator<Mutant> {
  const seen = new Map<string, number>();
  for (const m of mutations) {
    if (source.text.slice(m.start, m.end) === m.newText) continue;
    const key = [source.file, m.field, m.mutator, m.newText].join("\0");
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    yield {
      id: hash128(count === 1 ? key : `${key}\0${count}`).slice(0, 12),
      source,
      mutator: m.mutator,
      field: m.field,
      start: m.start,
      end: m.end,
      newText: m.newText,
      document: m.document,
      change: m.change,
    };
  }
}

/** A field with the names of objects and items left out: survivors of like fields belong together. */
export function likeField(field: string): string {
  return field.replace(/^([A-Za-z]+)\/[^:]*:/, "$1:").replace(/\[[^\]]*\]/g, "[]");
}

/** One line each for what was and what is, in the manner of a diff; long texts are cut. */
export function readableDiff(mutant: Mutant): { readonly before: string; readonly after: string } {
  const { source, start, end, newText } = mutant;
  const { text } = source;
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const stop = text.indexOf("\n", Math.max(start, end - 1));
  const lineEnd = stop < 0 ? text.length : stop;
  return {
    before: clip(text.slice(lineStart, lineEnd)),
    after: clip(text.slice(lineStart, start) + newText + text.slice(end, Math.max(end, lineEnd))),
  };
}

function clip(text: string): string {
  const lines = text.replace(/\n$/, "").split("\n");
  const shown = lines.length > 4 ? [...lines.slice(0, 3), `… ${lines.length - 3} more lines`] : lines;
  return shown.map((l) => (l.length > 160 ? `${l.slice(0, 157)}…` : l)).join("\n");
}
