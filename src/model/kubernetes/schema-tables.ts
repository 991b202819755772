/**
 * The field tables of Kubernetes, decoded on demand.
 *
 * `schemas/kubernetes/tables.json` (made by `src/dev/kubernetes-tables.ts`) holds one short text per type and per API
 * version, so that loading it is one JSON parse of some 90 KB, and a document costs only the types that it touches:
 *
 * - `kinds["apps/v1"]` is a list of `Kind=<type><scope><range>`, scope `n` namespaced, `c` cluster-wide, `l` list, `v` never stored;
 * - `types[i]` is a name and a list of `field<":" optional | "!" required><wraps><leaf><range>`; wraps are `[` (list of) and `{` (map of),
 *   a leaf is the number of a type, `e<n>` one of `enumerations[n]`, or a letter: `s` string, `b` boolean, `i` int32, `l` int64,
 *   `d` number, `x` int-or-string, `q` quantity, `t` time, `u` time with microseconds, `y` base64 bytes, `o` any object, `a` anything;
 * - a range `~from-to` limits a token to versions by index; an empty end is open, no range is "always".
 */

import { FIELD_RULES, type FieldRule, KEY_RULES, REQUIRED_TOO, TYPE_RULES, type TypeRule } from "./schema-rules.js";

/** The generated file. */
export interface KubernetesTables {
  readonly versions: readonly string[];
  readonly enumerations: readonly string[];
  readonly kinds: Readonly<Record<string, string>>;
  readonly types: readonly string[];
}

type Scope = "namespaced" | "cluster" | "list" | "virtual";

/** Decoded field. `leaf` is the letter of the table, `#` for a type and `e` for an enumeration. */
export interface FieldTable {
  readonly name: string;
  readonly required: boolean;
  readonly wraps: string;
  readonly leaf: string;
  readonly type: number;
  readonly values: readonly string[];
  readonly rule: FieldRule | undefined;
  readonly keyRule: FieldRule | undefined;
}

/** Decoded type of one version. */
export interface TypeTable {
  readonly id: number;
  /** As client libraries call it: `V1StatefulSetSpec`. */
  readonly name: string;
  /** As the API reference calls it: `StatefulSetSpec`. */
  readonly title: string;
  readonly fields: ReadonlyMap<string, FieldTable>;
  readonly required: readonly string[];
  readonly rule: TypeRule | undefined;
}

export interface KindTable {
  readonly kind: string;
  readonly type: number;
  readonly scope: Scope;
  /** Indexes of the first and last version that serves it. */
  readonly first: number;
  readonly last: number;
}

const SCOPES: Readonly<Record<string, Scope>> = { n: "namespaced", c: "cluster", l: "list", v: "virtual" };

interface Range {
  readonly text: string;
  readonly first: number;
  readonly last: number;
}

/** A token and the versions that it holds for. */
function ranged(token: string): Range {
  const tilde = token.lastIndexOf("~");
  if (tilde < 0) return { text: token, first: 0, last: Number.POSITIVE_INFINITY };
  const dash = token.indexOf("-", tilde);
  const to = token.slice(dash + 1);
  return {
    text: token.slice(0, tilde),
    first: Number(token.slice(tilde + 1, dash)),
    last: to === "" ? Number.POSITIVE_INFINITY : Number(to),
  };
}

const titleOf = (name: string): string => name.replace(/^(?:[A-Z][a-z0-9]+)*?V\d+(?:(?:alpha|beta)\d+)?(?=[A-Z])/, "");

/** Everything that is known of one Kubernetes version. Types are decoded when first asked for. */
export class VersionSchema {
  readonly version: string;
  /** 32 for 1.32. */
  readonly minor: number;
  readonly #index: number;
  readonly #tables: KubernetesTables;
  readonly #types: (TypeTable | undefined)[] = [];

  constructor(tables: KubernetesTables, index: number) {
    this.#tables = tables;
    this.#index = index;
    this.version = tables.versions[index]!;
    this.minor = Number(this.version.slice(this.version.indexOf(".") + 1));
  }

  /** Whether the kind's versions include this one. */
  serves(kind: KindTable): boolean {
    return kind.first <= this.#index && this.#index <= kind.last;
  }

  isBefore(kind: KindTable): boolean {
    return this.#index < kind.first;
  }

  type(id: number): TypeTable {
    return (this.#types[id] ??= this.#decode(id));
  }

  /** First and last version that have a field which this version lacks; undefined when none has it. */
  fieldVersions(type: TypeTable, field: string): readonly [string, string] | undefined {
    const { types, versions } = this.#tables;
    for (const token of types[type.id]!.split(" ").slice(1)) {
      const { text, first, last } = ranged(token);
      if (text.slice(0, text.search(/[!:]/)) === field)
        return [versions[first]!, versions[Math.min(last, versions.length - 1)]!];
    }
    return undefined;
  }

  #decode(id: number): TypeTable {
    const { types, enumerations } = this.#tables;
    const tokens = types[id]!.split(" ");
    const name = tokens[0]!;
    const fields = new Map<string, FieldTable>();
    const required: string[] = [];
    for (let i = 1; i < tokens.length; i++) {
      const { text, first, last } = ranged(tokens[i]!);
      if (this.#index < first || this.#index > last) continue;
      const match = /^([^!:]+)([!:])([[{]*)(.+)$/.exec(text)!;
      const field = match[1]!;
      const leaf = match[4]!;
      const isType = leaf.charCodeAt(0) < 58;
      if (match[2] === "!") required.push(field);
      fields.set(field, {
        name: field,
        required: match[2] === "!",
        wraps: match[3]!,
        leaf: isType ? "#" : leaf[0]!,
        type: isType ? Number(leaf) : -1,
        values: leaf[0] === "e" ? enumerations[Number(leaf.slice(1))]!.split("|") : [],
        rule: FIELD_RULES[`${name}.${field}`],
        keyRule: KEY_RULES[`${name}.${field}`],
      });
    }
    for (const field of REQUIRED_TOO[name] ?? []) if (!required.includes(field)) required.push(field);
    return { id, name, title: titleOf(name), fields, required, rule: TYPE_RULES[name] };
  }
}

/** The kinds and field tables of all versions. Made once per process, from data that the caller loads. */
export class KubernetesSchemas {
  /** `["1.30", …]`, ascending. */
  readonly versions: readonly string[];
  readonly #tables: KubernetesTables;
  readonly #schemas: (VersionSchema | undefined)[] = [];
  readonly #kinds = new Map<string, ReadonlyMap<string, KindTable>>();

  constructor(tables: KubernetesTables) {
    this.#tables = tables;
    this.versions = tables.versions;
  }

  /** API versions with at least one kind in some version, such as `apps/v1`. */
  get apiVersions(): readonly string[] {
    return Object.keys(this.#tables.kinds);
  }

  /** The kinds of an API version in any Kubernetes version; empty for an unknown one. */
  kinds(apiVersion: string): ReadonlyMap<string, KindTable> {
    let kinds = this.#kinds.get(apiVersion);
    if (kinds === undefined) {
      const line = Object.hasOwn(this.#tables.kinds, apiVersion) ? this.#tables.kinds[apiVersion]! : "";
      const decoded = new Map<string, KindTable>();
      for (const token of line === "" ? [] : line.split(" ")) {
        const { text, first, last } = ranged(token);
        const equals = text.indexOf("=");
        const kind = text.slice(0, equals);
        const type = text.slice(equals + 1, -1);
        decoded.set(kind, { kind, type: type === "" ? -1 : Number(type), scope: SCOPES[text.at(-1)!]!, first, last });
      }
      kinds = decoded;
      // An unknown API version is not remembered: there is no end of them.
      if (line !== "") this.#kinds.set(apiVersion, kinds);
    }
    return kinds;
  }

  /** The schema of a version that `versions` names. */
  schema(version: string): VersionSchema | undefined {
    const index = this.versions.indexOf(version);
    if (index < 0) return undefined;
    return (this.#schemas[index] ??= new VersionSchema(this.#tables, index));
  }

  /**
   * The version whose tables serve for `version`: itself, or the nearest one.
   * @param version `1.32`, `v1.32.4`, `1.32.4+k3s1`, or a number that YAML made of `1.32`
   * @returns undefined when it is no version of Kubernetes 1
   */
  nearest(version: string | number): { readonly version: string; readonly exact: boolean } | undefined {
    // YAML reads 1.30 as the number 1.3: there is no other 1.3 whose tables anybody could mean.
    const text = version === 1.3 ? "1.30" : String(version);
    const match = /^v?1\.(\d{1,4})(?:[.+-].*)?$/.exec(text);
    if (match === null) return undefined;
    const minor = Number(match[1]);
    let best = this.versions[0]!;
    const minorOf = (name: string): number => Number(name.slice(2));
    for (const name of this.versions)
      if (Math.abs(minorOf(name) - minor) < Math.abs(minorOf(best) - minor)) best = name;
    return { version: best, exact: minorOf(best) === minor };
  }
}

/** Makes the schemas from the parsed content of `schemas/kubernetes/tables.json`. Cheap: nothing is decoded yet. */
export function createSchemas(tables: KubernetesTables): KubernetesSchemas {
  return new KubernetesSchemas(tables);
}
