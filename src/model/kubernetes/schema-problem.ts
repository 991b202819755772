/** What a schema check finds, and the run that collects it. */

import type { Path } from "../../document/yaml.js";
import { isObject, type Obj } from "../value.js";

export type SchemaCode =
  /** `apiVersion` or `kind` is missing or no string: not a Kubernetes object. */
  | "no-kind"
  /** The API version has no such kind; `nearest` is a kind, `note` the API version that has it. */
  | "unknown-kind"
  /** The API group has no such version, or there is no such group; `nearest` is an API version. */
  | "unknown-version"
  /** No longer served; `expected` is the API version to use, `note` the Kubernetes version that removed it. */
  | "removed-api"
  /** Served by a later Kubernetes version only, which `note` names. */
  | "future-api"
  | "unknown-field"
  | "wrong-type"
  | "missing"
  | "enum"
  /** A string or number that its field does not take. */
  | "pattern"
  | "range"
  /** The same key twice in a list that is a map by that key. */
  | "duplicate"
  /** Fields that exclude or need each other. */
  | "conflict";

/** One problem, as parts of a message. Only what the code needs is set. */
export interface SchemaProblem {
  readonly code: SchemaCode;
  /** Path in the document; of a missing field the path that it should have. */
  readonly path: Path;
  readonly at: "key" | "value" | "missing";
  /** `warning`: the API server takes it, and it does not mean what it says. */
  readonly level: "error" | "warning";
  /** Last name in the path: the field. */
  readonly field: string;
  /** Type that the field belongs to, as the API reference calls it: `StatefulSetSpec`. */
  readonly of: string;
  readonly expected?: string;
  readonly got?: string;
  readonly nearest?: string;
  readonly note?: string;
}

export type Parts = Pick<SchemaProblem, "expected" | "got" | "nearest" | "note"> & { readonly level?: "warning" };

/** Where a check stands: a list from the leaf up, so that walking costs no copies of paths. */
export class Trail {
  readonly up: Trail | undefined;
  readonly key: string | number;
  /** What the object here is called: the title of its type. */
  readonly title: string;
  /** Names of the fields that the object here may have. */
  readonly fields: ReadonlyMap<string, unknown> | undefined;
  /** Fields that unknown ones here are taken for: they are not missing as well. */
  guessed: Set<string> | undefined;

  constructor(up: Trail | undefined, key: string | number, title: string, fields?: ReadonlyMap<string, unknown>) {
    this.up = up;
    this.key = key;
    this.title = title;
    this.fields = fields;
  }

  /** The path of the object here with `tail` added. The topmost trail stands for the document. */
  path(tail: Path): Path {
    const path = [...tail].reverse();
    for (let trail: Trail = this; trail.up !== undefined; trail = trail.up) path.push(trail.key);
    return path.reverse();
  }
}

/** `a string`, `the number 3`: what stands in a document, for messages. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "string":
      return `the string ${quote(value)}`;
    case "number":
    case "bigint":
      return `the number ${value}`;
    case "boolean":
      return `the boolean ${value}`;
    default:
      return "a map";
  }
}

/** A string in quotes, cut to a length that fits a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text);
}

export interface SchemaOptions {
  /** Whether a string holds a template token that is not expanded: its value is unknown, so nothing is said of it. */
  readonly opaque?: (text: string) => boolean;
  /** Problems per document after which checking stops. Default 1,000. */
  readonly limit?: number;
  /** Values that were found without a problem, where one document is judged again and again with little changed. */
  readonly clean?: CleanValues | undefined;
}

/** Values never change: of a document that differs in one place all others are as they were. */
export type CleanValues = WeakMap<object, CleanValue>;

/** A value that was found without a problem: as a type of one Kubernetes version, below a key, which rules of probes ask for. */
interface CleanValue {
  readonly type: object;
  readonly key: string | number;
}

/** Collects the problems of one document. */
export class Run {
  readonly problems: SchemaProblem[] = [];
  /** Minor version: 32 for Kubernetes 1.32. */
  readonly minor: number;
  readonly #limit: number;
  readonly #opaque: ((text: string) => boolean) | undefined;

  constructor(minor: number, options: SchemaOptions) {
    this.minor = minor;
    this.#opaque = options.opaque;
    this.#limit = options.limit ?? 1000;
  }

  get full(): boolean {
    return this.problems.length >= this.#limit;
  }

  isOpaque(value: unknown): boolean {
    return typeof value === "string" && this.#opaque !== undefined && this.#opaque(value);
  }

  /** Whether a template may add keys to an object or items to a list, so that nothing can be said to be missing. */
  isOpen(value: unknown): boolean {
    if (this.#opaque === undefined) return false;
    if (Array.isArray(value)) return value.some((item) => this.isOpaque(item));
    return isObject(value) ? Object.keys(value).some((key) => this.isOpaque(key)) : this.isOpaque(value);
  }

  report(code: SchemaCode, trail: Trail, tail: Path, at: SchemaProblem["at"], parts: Parts = {}): void {
    if (this.full) return;
    const path = trail.path(tail);
    this.problems.push({
      code,
      path,
      at,
      level: parts.level ?? "error",
      field: String(path.at(-1) ?? ""),
      of: trail.title,
      ...parts,
    });
  }

  /** Reports a field that the object at `trail` must have, unless a template may bring it. */
  missing(object: Obj, trail: Trail, field: string, note?: string): void {
    if (trail.guessed?.has(field) === true) return;
    if (!this.isOpen(object)) this.report("missing", trail, [field], "missing", note === undefined ? {} : { note });
  }

  conflict(trail: Trail, tail: Path, at: SchemaProblem["at"], note: string): void {
    this.report("conflict", trail, tail, at, { note });
  }
}
