/**
 * The field tables against strict JSON Schemas of Kubernetes that are handed to the project (not part of it): kinds,
 * fields, types, what is required. Each difference stands in `test/data/kubernetes/settled-differences.json` with its
 * reason.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { createSchemas, describeProblem, type KubernetesTables, validate } from "../../src/model/kubernetes/schema.js";
import type { FieldTable, TypeTable, VersionSchema } from "../../src/model/kubernetes/schema-tables.js";

const oracle = new URL("../../../shared/truth/kubernetes/strict/", import.meta.url);
const isThere = existsSync(oracle);
if (!isThere) console.log("kubernetes-schema: the handed schemas are absent, their comparison is left out");

const json = (url: URL): unknown => JSON.parse(readFileSync(url, "utf8"));
const tables = json(new URL("../../schemas/kubernetes/tables.json", import.meta.url)) as KubernetesTables;
const settled = json(new URL("../data/kubernetes/settled-differences.json", import.meta.url)) as Record<
  string,
  Record<string, readonly string[]>
>;

/** Bodies of requests and answers, registered in every API version: never manifests. */
const BODIES = ["DeleteOptions", "WatchEvent"];

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly enum?: readonly string[];
  readonly definitions?: Record<string, Schema>;
}

/** Letters of the tables that a scalar of the schemas may be. */
const LEAVES: Record<string, string> = { string: "sey", integer: "il", number: "d", boolean: "b", object: "o" };
const REFS: Record<string, string> = {
  "pkg.api.resource.Quantity": "q",
  "util.intstr.IntOrString": "x",
  "meta.v1.Time": "t",
  "meta.v1.MicroTime": "u",
  "runtime.RawExtension": "o",
  "meta.v1.FieldsV1": "o",
  "apiextensions.v1.CustomResourceSubresourceStatus": "o",
  BasicSchedulingPolicy: "o",
  StorageVersionSpec: "o",
  JSONSchemaPropsOrArray: "a",
  JSONSchemaPropsOrStringArray: "a",
  JSONSchemaPropsOrBool: "a",
  "apiextensions.v1.JSON": "a",
};

class Comparison {
  readonly found = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #schema: VersionSchema;
  #definitions: Record<string, Schema> = {};
  types = 0;
  fields = 0;

  constructor(schema: VersionSchema) {
    this.#schema = schema;
  }

  kind(schema: Schema, type: TypeTable, isList: boolean): void {
    this.#definitions = schema.definitions ?? {};
    this.#object(schema, type, isList ? ["apiVersion", "kind", "metadata"] : ["apiVersion", "kind"]);
  }

  #object(schema: Schema, type: TypeTable, implied: readonly string[] = []): void {
    if (this.#seen.has(type.name)) return;
    this.#seen.add(type.name);
    this.types++;
    const theirs = schema.properties ?? {};
    for (const name of Object.keys(theirs)) {
      const field = type.fields.get(name);
      if (field === undefined) this.found.add(`${type.name}.${name}: not in the tables`);
      else if (!this.#agrees(theirs[name]!, field, field.wraps)) {
        this.found.add(`${type.name}.${name}: ${field.wraps}${field.leaf} in the tables`);
      }
      this.fields++;
    }
    for (const name of type.fields.keys())
      if (theirs[name] === undefined) this.found.add(`${type.name}.${name}: only in the tables`);
    const required = new Set(schema.required ?? []);
    for (const field of type.fields.values()) {
      if (theirs[field.name] === undefined || implied.includes(field.name)) continue;
      if (field.required !== required.has(field.name)) {
        this.found.add(
          `${type.name}.${field.name}: ${field.required ? "required only in the tables" : "not required in the tables"}`,
        );
      }
    }
  }

  /** Whether a value of the schema is what the field is; types below are compared on the way. */
  #agrees(schema: Schema, field: FieldTable, wraps: string): boolean {
    if (wraps[0] === "[") return schema.items !== undefined && this.#agrees(schema.items, field, wraps.slice(1));
    if (wraps[0] === "{") {
      const { additionalProperties } = schema;
      return typeof additionalProperties === "object" && this.#agrees(additionalProperties, field, wraps.slice(1));
    }
    if (schema.$ref !== undefined) {
      const name = schema.$ref.replace("#/definitions/", "");
      const leaf = Object.entries(REFS).find(([end]) => name.endsWith(end))?.[1];
      if (leaf !== undefined) return field.leaf === leaf;
      if (field.leaf === "#") this.#object(this.#definitions[name]!, this.#schema.type(field.type));
      return field.leaf === "#";
    }
    return schema.type === undefined ? field.leaf === "a" : LEAVES[schema.type]?.includes(field.leaf) === true;
  }
}

describe.runIf(isThere)("the field tables agree with the handed schemas", () => {
  const schemas = createSchemas(tables);
  for (const version of ["1.35", "1.36"]) {
    it(`Kubernetes ${version}`, () => {
      const schema = schemas.schema(version)!;
      const comparison = new Comparison(schema);
      const kinds = new Set<string>();
      for (const file of readdirSync(oracle)) {
        const theirs = json(new URL(file, oracle)) as Schema;
        const apiVersion = theirs.properties?.["apiVersion"]?.enum?.[0];
        const kind = theirs.properties?.["kind"]?.enum?.[0];
        if (apiVersion === undefined || kind === undefined) {
          comparison.found.add(`${file}: has no kind`);
          continue;
        }
        if (BODIES.includes(kind)) continue;
        kinds.add(`${apiVersion} ${kind}`);
        const ours = schemas.kinds(apiVersion).get(kind);
        if (ours === undefined || !schema.serves(ours))
          comparison.found.add(`${apiVersion} ${kind}: not in the tables`);
        else comparison.kind(theirs, schema.type(ours.type), ours.scope === "list");
      }
      for (const apiVersion of schemas.apiVersions) {
        for (const kind of schemas.kinds(apiVersion).values()) {
          if (
            kind.type >= 0 &&
            !BODIES.includes(kind.kind) &&
            schema.serves(kind) &&
            !kinds.has(`${apiVersion} ${kind.kind}`)
          ) {
            comparison.found.add(`${apiVersion} ${kind.kind}: only in the tables`);
          }
        }
      }
      expect(kinds.size).toBeGreaterThan(150);
      expect(comparison.types).toBeGreaterThan(500);
      expect(comparison.fields).toBeGreaterThan(2500);
      expect([...comparison.found].sort()).toEqual(Object.values(settled[version]!).flat().sort());
    });
  }
});

const shared = new URL("../../../shared/", import.meta.url);
const corpus = new URL("bench/gen-corpus.mjs", shared);
const mutants = new URL("peers/mutants/", shared);
const pairs = new URL("repro/", shared);

/** The documents of all YAML and JSON files below a folder, without those that do not parse. */
function documents(folder: URL): { file: string; value: unknown }[] {
  const root = fileURLToPath(folder);
  return (readdirSync(root, { recursive: true }) as string[])
    .filter((file) => /\.(?:ya?ml|json)$/.test(file) && file !== "expected.json")
    .sort()
    .flatMap((file) => {
      try {
        return parseAllDocuments(readFileSync(join(root, file), "utf8"), { merge: true })
          .map((document) => ({ file, value: document.toJS() as unknown }))
          .filter(({ value }) => Object.hasOwn(Object(value), "apiVersion"));
      } catch {
        return [];
      }
    });
}

describe.runIf(existsSync(corpus) && existsSync(mutants) && existsSync(pairs))("handed documents", () => {
  const schemas = createSchemas(tables);
  const found = (folder: URL): string[] =>
    documents(folder).flatMap(({ file, value }) =>
      validate(value, "1.32", schemas).map((problem) => `${file} ${problem.code} ${problem.path.join(".")}`),
    );

  it("10,000 generated documents have no problem in any version", () => {
    const folder = mkdtempSync(join(tmpdir(), "schema-corpus-"));
    try {
      execFileSync(process.execPath, [fileURLToPath(corpus), folder, "10000"]);
      const multi = join(folder, "multi");
      const values = readdirSync(multi).flatMap((file) => loadAll(readFileSync(join(multi, file), "utf8")));
      expect(values.length).toBe(10_000);
      expect(values.flatMap((value) => validate(value, "1.32", schemas).map(describeProblem))).toEqual([]);
      for (const version of schemas.versions) {
        expect(values.slice(0, 70).flatMap((value) => validate(value, version, schemas))).toEqual([]);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("of the mutants of other linters only the ill-typed one has a problem", () => {
    const names = readdirSync(mutants).filter((name) => name !== "bad-yaml-syntax");
    const all = names.flatMap((name) => found(new URL(`${name}/`, mutants)).map((line) => `${name} ${line}`));
    expect(all).toEqual(["wrong-type-replicas sts.yaml wrong-type spec.replicas"]);
  });

  it("of the bad and good pairs only those about a schema have a problem, and no good twin", () => {
    for (const name of readdirSync(pairs)) {
      const folder = new URL(`${name}/`, pairs);
      const expected = new URL("expected.json", folder);
      if (!existsSync(expected)) continue;
      const { accept } = json(expected) as { accept: readonly string[] };
      expect({ name, good: found(new URL("good/", folder)) }).toEqual({ name, good: [] });
      const bad = found(new URL("bad/", folder));
      expect({ name, found: bad.length > 0 }).toEqual({ name, found: accept.includes("k8s/schema") });
    }
  });
});
