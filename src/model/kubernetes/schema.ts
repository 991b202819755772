/**
 * Strict, offline validation of Kubernetes objects for one Kubernetes version: kinds, fields, types, what is required,
 * enumerations, and the syntax and cross-field rules that the API server enforces. Custom resources are accepted and
 * not judged.
 *
 * Works on plain values (strings, numbers, booleans, null, lists, maps) as YAML or JSON gives them. A null counts as
 * "not set", as for the API server.
 */

import { nearest } from "../../text/similar.js";
import { isObject, type Obj } from "../value.js";
import { isBase64, isQuantity, isTime } from "./schema-formats.js";
import {
  type CleanValues,
  describeValue,
  quote,
  Run,
  type SchemaOptions,
  type SchemaProblem,
  Trail,
} from "./schema-problem.js";
import { REMOVED_GROUPS, removedApi } from "./schema-removed.js";
import { customResourceDefinition, nameRule } from "./schema-rules.js";
import type { FieldTable, KindTable, KubernetesSchemas, TypeTable, VersionSchema } from "./schema-tables.js";

export { describeProblem } from "./schema-message.js";
export type { SchemaOptions, SchemaProblem } from "./schema-problem.js";
export { createSchemas, type KubernetesSchemas, type KubernetesTables } from "./schema-tables.js";

/** What an `apiVersion` and `kind` are in a Kubernetes version. */
export type Lookup =
  | { readonly status: "builtin"; readonly kind: KindTable }
  /** A custom resource, or a file of a tool that looks like one. */
  | { readonly status: "custom" }
  | { readonly status: "removed"; readonly since: string; readonly replacement: string | undefined }
  | { readonly status: "future"; readonly since: string }
  | { readonly status: "unknown-kind"; readonly nearest: string | undefined; readonly elsewhere: string | undefined }
  | { readonly status: "unknown-version"; readonly nearest: string | undefined };

const groupOf = (apiVersion: string): string => {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
};

/** Files that share the form of Kubernetes objects and are none: kubeconfig, templates of OpenShift. */
const NO_OBJECTS: ReadonlySet<string> = new Set(["v1 Config", "v1 Template"]);

/** API versions that serve a kind in this version, best first: stable before beta before alpha. */
function servedIn(kind: string, schemas: KubernetesSchemas, schema: VersionSchema, only?: string): string[] {
  const found = schemas.apiVersions.filter((apiVersion) => {
    if (only !== undefined && groupOf(apiVersion) !== only) return false;
    const table = schemas.kinds(apiVersion).get(kind);
    return table !== undefined && schema.serves(table);
  });
  const rank = (apiVersion: string): number => (apiVersion.includes("alpha") ? 2 : apiVersion.includes("beta") ? 1 : 0);
  return found.sort((a, b) => rank(a) - rank(b) || (a < b ? 1 : -1));
}

/** Looks a kind up. `version` is one of `schemas.versions`. */
export function lookup(apiVersion: string, kind: string, version: string, schemas: KubernetesSchemas): Lookup {
  const schema = schemaOf(version, schemas);
  const kinds = schemas.kinds(apiVersion);
  const table = kinds.get(kind);
  if (table !== undefined) {
    if (schema.serves(table)) return { status: "builtin", kind: table };
    const { versions } = schemas;
    if (schema.isBefore(table)) return { status: "future", since: versions[table.first]! };
    return {
      status: "removed",
      since: versions[table.last + 1]!,
      replacement: servedIn(kind, schemas, schema, groupOf(apiVersion))[0],
    };
  }
  const removed = removedApi(apiVersion, kind);
  if (removed !== undefined)
    return { status: "removed", since: `1.${removed.since}`, replacement: removed.replacement };
  if (NO_OBJECTS.has(`${apiVersion} ${kind}`)) return { status: "custom" };

  const group = groupOf(apiVersion);
  const candidates = servedIn(kind, schemas, schema);
  const known = schemas.apiVersions.filter((name) => groupOf(name) === group);
  if (known.length > 0 || REMOVED_GROUPS.includes(group)) {
    const own = candidates.find((name) => groupOf(name) === group);
    if (group === "" && kinds.size === 0 && candidates.length === 0) return { status: "custom" };
    if (kinds.size === 0 || own !== undefined) {
      return { status: "unknown-version", nearest: own ?? candidates[0] ?? nearest(apiVersion, known) ?? known[0] };
    }
    const here = [...kinds.values()].filter((item) => schema.serves(item)).map((item) => item.kind);
    return { status: "unknown-kind", nearest: nearest(kind, here), elsewhere: candidates[0] };
  }
  // Groups of custom resources have a dot; without one it is a slip, or the file of a tool.
  if (!group.includes(".")) {
    const meant = candidates[0] ?? schemas.apiVersions.find((name) => nearest(group, [groupOf(name)]) !== undefined);
    return meant === undefined ? { status: "custom" } : { status: "unknown-version", nearest: meant };
  }
  // A slip in the name of a group that has the kind, or apps.k8s.io for apps; gateway.networking.k8s.io is a group of its own.
  if (group.endsWith(".k8s.io")) {
    const meant = candidates.find((name) => {
      const other = groupOf(name);
      if (!other.includes(".")) return other !== "" && group === `${other}.k8s.io`;
      return !group.endsWith(`.${other}`) && nearest(group, [other]) !== undefined;
    });
    if (meant !== undefined) return { status: "unknown-version", nearest: meant };
  }
  return { status: "custom" };
}

function schemaOf(version: string, schemas: KubernetesSchemas): VersionSchema {
  const schema = schemas.schema(version);
  if (schema === undefined) throw new RangeError(`no field tables for Kubernetes ${version}: ask nearest() first`);
  return schema;
}

const MAX_DEPTH = 200;
const MAX_HINTED = 100;

class Walker {
  readonly run: Run;
  readonly #clean: CleanValues | undefined;
  readonly #schemas: KubernetesSchemas;
  readonly #schema: VersionSchema;
  readonly #pending: (() => void)[] = [];

  constructor(schemas: KubernetesSchemas, schema: VersionSchema, options: SchemaOptions) {
    this.#schemas = schemas;
    this.#schema = schema;
    this.run = new Run(schema.minor, options);
    this.#clean = options.clean;
  }

  walk(value: unknown): readonly SchemaProblem[] {
    this.#document(value, new Trail(undefined, "", ""), undefined);
    // Deep structures are walked in slices so that no input can exhaust the stack.
    for (let next = this.#pending.pop(); next !== undefined && !this.run.full; next = this.#pending.pop()) next();
    return this.run.problems;
  }

  /** `inherited`: what an item of a typed list is without saying so. */
  #document(value: unknown, root: Trail, inherited: { apiVersion: string; kind: string } | undefined): void {
    const { run } = this;
    if (value === null || value === undefined || run.isOpaque(value)) return;
    if (!isObject(value)) {
      run.report("wrong-type", root, [], "value", { expected: "an object", got: describeValue(value) });
      return;
    }
    const apiVersion = value["apiVersion"] ?? inherited?.apiVersion;
    const kind = value["kind"] ?? inherited?.kind;
    for (const [field, part] of [
      ["apiVersion", apiVersion],
      ["kind", kind],
    ] as const) {
      if (typeof part === "string" && part !== "") continue;
      if (part === undefined || part === null || part === "") {
        if (!run.isOpen(value))
          run.report("no-kind", root, [field], part === undefined ? "missing" : "value", { expected: "a string" });
      } else run.report("no-kind", root, [field], "value", { expected: "a string", got: describeValue(part) });
    }
    if (typeof apiVersion !== "string" || typeof kind !== "string" || apiVersion === "" || kind === "") return;
    if (run.isOpaque(apiVersion) || run.isOpaque(kind)) return;
    const found = lookup(apiVersion, kind, this.#schema.version, this.#schemas);
    const parts = { got: apiVersion };
    switch (found.status) {
      case "custom":
        return;
      case "removed":
        run.report("removed-api", root, ["apiVersion"], "value", {
          ...parts,
          note: found.since,
          ...(found.replacement === undefined ? {} : { expected: found.replacement }),
        });
        return;
      case "future":
        run.report("future-api", root, ["apiVersion"], "value", { ...parts, note: found.since });
        return;
      case "unknown-version":
        run.report("unknown-version", root, ["apiVersion"], "value", {
          ...parts,
          ...(found.nearest === undefined ? {} : { nearest: found.nearest }),
        });
        return;
      case "unknown-kind":
        run.report("unknown-kind", root, ["kind"], "value", {
          got: kind,
          expected: `a kind of ${apiVersion}`,
          ...(found.nearest === undefined ? {} : { nearest: found.nearest }),
          ...(found.elsewhere === undefined ? {} : { note: found.elsewhere }),
        });
        return;
      case "builtin":
        this.#builtin(value, root, apiVersion, kind, found.kind);
    }
  }

  #builtin(value: Obj, root: Trail, apiVersion: string, kind: string, table: KindTable): void {
    const { run } = this;
    if (table.type < 0) {
      this.#list(value, root);
      return;
    }
    const type = this.#schema.type(table.type);
    const trail = new Trail(root.up, root.key, kind, type.fields);
    this.#object(value, type, trail, 0);
    if (table.scope !== "namespaced" && table.scope !== "cluster") return;
    const { metadata } = value;
    if (metadata === null || metadata === undefined) run.missing(value, trail, "metadata");
    if (!isObject(metadata)) return;
    const { name, generateName } = metadata;
    if ((name === null || name === undefined || name === "") && !generateName && !run.isOpen(metadata)) {
      run.report("missing", new Trail(trail, "metadata", "ObjectMeta"), ["name"], name === "" ? "value" : "missing");
    }
    if (typeof name === "string" && name !== "") {
      const expected = nameRule(apiVersion, kind, name, run.minor);
      if (expected !== undefined && !run.isOpaque(name)) {
        run.report("pattern", new Trail(trail, "metadata", "ObjectMeta"), ["name"], "value", {
          expected,
          got: quote(name),
        });
      }
    }
    if (kind === "CustomResourceDefinition") customResourceDefinition(value, run, trail);
  }

  /** `kind: List` of any objects. */
  #list(value: Obj, root: Trail): void {
    const { run } = this;
    const trail = new Trail(root.up, root.key, "List");
    for (const key of Object.keys(value)) {
      if (run.full) return;
      if (!LIST_FIELDS.includes(key) && !run.isOpaque(key)) {
        const best = nearest(key, LIST_FIELDS);
        run.report("unknown-field", trail, [key], "key", best === undefined ? {} : { nearest: best });
      }
    }
    const { items } = value;
    if (items === null || items === undefined || run.isOpaque(items)) return;
    if (!Array.isArray(items)) {
      run.report("wrong-type", trail, ["items"], "value", { expected: "a list", got: describeValue(items) });
      return;
    }
    const holder = new Trail(trail, "items", "List");
    items.forEach((item, index) => {
      if (item === null) run.report("wrong-type", holder, [index], "value", { expected: "an object", got: "null" });
      else this.#pending.push(() => this.#document(item, new Trail(holder, index, ""), undefined));
    });
  }

  #object(value: Obj, type: TypeTable, trail: Trail, depth: number): void {
    if (depth > MAX_DEPTH) {
      this.#pending.push(() => this.#object(value, type, trail, 0));
      return;
    }
    const { run } = this;
    if (run.full) return;
    const known = this.#clean?.get(value);
    if (known?.type === type && known.key === trail.key) return;
    const found = run.problems.length;
    const open = this.#pending.length;
    for (const key of Object.keys(value)) {
      if (run.full) return;
      const field = type.fields.get(key);
      const part = value[key];
      if (field === undefined) this.#unknown(value, type, trail, key);
      else if (part !== null && part !== undefined) this.#value(part, field, field.wraps, trail, key, depth);
    }
    for (const name of type.required) {
      const part = value[name];
      if (part === null || part === undefined) run.missing(value, trail, name);
    }
    type.rule?.(value, run, trail);
    if (run.problems.length === found && this.#pending.length === open)
      this.#clean?.set(value, { type, key: trail.key });
  }

  /** A value below `trail`, with the lists and maps around its type still to be opened. */
  #value(value: unknown, field: FieldTable, wraps: string, trail: Trail, key: string | number, depth: number): void {
    const { run } = this;
    if (wraps === "") {
      if (field.leaf === "#") {
        if (isObject(value)) {
          const type = this.#schema.type(field.type);
          this.#object(value, type, new Trail(trail, key, type.title, type.fields), depth + 1);
        } else if (!run.isOpaque(value))
          run.report("wrong-type", trail, [key], "value", { expected: "a map", got: describeValue(value) });
      } else this.#leaf(value, field, trail, key);
      return;
    }
    if (wraps[0] === "[") {
      if (!Array.isArray(value)) {
        if (!run.isOpaque(value))
          run.report("wrong-type", trail, [key], "value", { expected: "a list", got: describeValue(value) });
        return;
      }
      const holder = new Trail(trail, key, trail.title, trail.fields);
      const inner = wraps.slice(1);
      for (let i = 0; i < value.length && !run.full; i++) this.#value(value[i], field, inner, holder, i, depth);
      return;
    }
    if (!isObject(value)) {
      if (!run.isOpaque(value))
        run.report("wrong-type", trail, [key], "value", { expected: "a map", got: describeValue(value) });
      return;
    }
    const holder = new Trail(trail, key, trail.title, trail.fields);
    const inner = wraps.slice(1);
    const { keyRule } = field;
    for (const name of Object.keys(value)) {
      if (keyRule !== undefined) {
        const expected = keyRule(name, run.minor);
        if (expected !== undefined && !run.isOpaque(name))
          run.report("pattern", holder, [name], "key", { expected, got: quote(name) });
      }
      const part = value[name];
      if (part !== null && part !== undefined) this.#value(part, field, inner, holder, name, depth);
      if (run.full) return;
    }
  }

  #leaf(value: unknown, field: FieldTable, trail: Trail, key: string | number): void {
    const { run } = this;
    const expected = leafType(value, field.leaf);
    if (expected !== undefined) {
      if (!run.isOpaque(value))
        run.report(leafCode(value, field.leaf), trail, [key], "value", { expected, got: describeValue(value) });
      return;
    }
    if (field.leaf === "e" && value !== "" && !field.values.includes(value as string)) {
      if (run.isOpaque(value)) return;
      const best = nearest(value as string, field.values);
      run.report("enum", trail, [key], "value", {
        expected: field.values.filter((item) => item !== "").join(", "),
        got: quote(value as string),
        ...(best === undefined ? {} : { nearest: best }),
      });
    }
    if (field.rule === undefined || (typeof value !== "string" && typeof value !== "number")) return;
    const wanted = field.rule(value, run.minor);
    if (wanted === undefined || run.isOpaque(value)) return;
    const got = typeof value === "string" ? quote(value) : String(value);
    run.report(
      typeof value === "string" ? (wanted.startsWith("one of ") ? "enum" : "pattern") : "range",
      trail,
      [key],
      "value",
      {
        expected: wanted,
        got,
      },
    );
  }

  #unknown(value: Obj, type: TypeTable, trail: Trail, key: string): void {
    const { run } = this;
    if (run.isOpaque(key)) return;
    // A document with this many is something else: suggestions would only cost time.
    const isHinted = run.problems.length < MAX_HINTED;
    const note = isHinted ? this.#elsewhere(type, trail, key, value[key]) : undefined;
    const best = isHinted && note === undefined ? nearest(key, type.fields.keys()) : undefined;
    if (best !== undefined) (trail.guessed ??= new Set()).add(best);
    run.report("unknown-field", trail, [key], "key", {
      ...(best === undefined ? {} : { nearest: best }),
      ...(note === undefined ? {} : { note }),
    });
  }

  /** Where else the field would be right: in another version, one level deeper, or further up. */
  #elsewhere(type: TypeTable, trail: Trail, key: string, value: unknown): string | undefined {
    const versions = this.#schema.fieldVersions(type, key);
    if (versions !== undefined) {
      const [first, last] = versions;
      return Number(first.slice(2)) > this.run.minor
        ? `it exists since Kubernetes ${first}`
        : `it existed until Kubernetes ${last}`;
    }
    for (const field of type.fields.values()) {
      if (
        field.leaf === "#" &&
        field.wraps === "" &&
        field.name !== "metadata" &&
        this.#schema.type(field.type).fields.has(key)
      ) {
        return `it belongs under "${field.name}"`;
      }
    }
    if (value === null) return undefined;
    for (let up = trail.up; up !== undefined; up = up.up) {
      if (up.fields?.has(key) === true && up.title !== trail.title) return `it belongs to ${up.title}, further up`;
    }
    return undefined;
  }
}

const LIST_FIELDS = ["apiVersion", "kind", "metadata", "items"];

const INT32 = 2 ** 31;
const INT64 = 2 ** 63;

/** What a value should be, when it is not what a leaf takes. */
function leafType(value: unknown, leaf: string): string | undefined {
  switch (leaf) {
    case "s":
    case "e":
      return typeof value === "string" ? undefined : "a string";
    case "b":
      return typeof value === "boolean" ? undefined : "true or false";
    case "i":
      return isInteger(value, INT32) ? undefined : Number.isInteger(value) ? "a number of 32 bits" : "an integer";
    case "l":
      return isInteger(value, INT64)
        ? undefined
        : typeof value === "bigint" || Number.isInteger(value)
          ? "a number of 64 bits"
          : "an integer";
    case "d":
      return typeof value === "number" && Number.isFinite(value) ? undefined : "a number";
    case "x":
      if (typeof value === "string") return undefined;
      return isInteger(value, INT32) ? undefined : "an integer or a string";
    case "q":
      if (typeof value === "number" && Number.isFinite(value)) return undefined;
      if (typeof value !== "string") return "a quantity (500m, 1Gi)";
      return isQuantity(value) ? undefined : "a quantity (500m, 1Gi)";
    case "t":
    case "u":
      if (value instanceof Date) return undefined;
      return typeof value === "string" && isTime(value) ? undefined : "a time (2026-01-31T12:00:00Z)";
    case "y":
      if (typeof value !== "string") return "a base64 string";
      return isBase64(value) ? undefined : "a base64 string";
    case "o":
      return isObject(value) ? undefined : "a map";
    default:
      return undefined;
  }
}

function isInteger(value: unknown, bound: number): boolean {
  if (typeof value === "bigint") return value >= -BigInt(bound) && value < BigInt(bound);
  return typeof value === "number" && Number.isInteger(value) && value >= -bound && value < bound;
}

/** A string or number of the right type with the wrong content is not a wrong type. */
function leafCode(value: unknown, leaf: string): "wrong-type" | "pattern" | "range" {
  if (typeof value === "string" && "qtuy".includes(leaf)) return "pattern";
  if ((leaf === "i" || leaf === "l" || leaf === "x") && (typeof value === "bigint" || Number.isInteger(value)))
    return "range";
  return "wrong-type";
}

/**
 * The problems of one document, in no particular order; of a `kind: List` those of all its items.
 * @param value the parsed document; null (an empty document) has none
 * @param version one of `schemas.versions`, see {@link KubernetesSchemas.nearest}
 * @throws RangeError for a version without tables
 */
export function validate(
  value: unknown,
  version: string,
  schemas: KubernetesSchemas,
  options: SchemaOptions = {},
): readonly SchemaProblem[] {
  return new Walker(schemas, schemaOf(version, schemas), options).walk(value);
}
