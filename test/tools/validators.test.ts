/** Validators that the build makes of JSON Schemas say what ajv says of the schema as it is written. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import contract from "../../schemas/contract.schema.json?validate";
import programSet from "../../schemas/program-set.schema.json?validate";
import { root } from "../support.js";

interface Schema {
  readonly [keyword: string]: unknown;
}

/** Values that are nearly right: every field of the schema, of its own type or of another. */
function nearly(schema: Schema, whole: Schema, depth = 0): fc.Arbitrary<unknown> {
  const wrong = fc.constantFrom<unknown>(null, true, 3, "x", "", [], {}, [1], { a: 1 });
  if (depth > 8) return wrong;
  const ref = schema["$ref"] as string | undefined;
  if (ref !== undefined) {
    const steps = ref.slice(2).split("/");
    return nearly(
      steps.reduce<Schema>((at, step) => at[step] as Schema, whole),
      whole,
      depth + 1,
    );
  }
  const choices = (schema["anyOf"] ?? schema["oneOf"] ?? schema["allOf"]) as readonly Schema[] | undefined;
  if (choices !== undefined) return fc.oneof(...choices.map((s) => nearly(s, whole, depth + 1)), wrong);
  const words = (schema["enum"] ?? (schema["const"] === undefined ? undefined : [schema["const"]])) as unknown[];
  if (words !== undefined) return fc.oneof(fc.constantFrom(...words), wrong);
  const fields = schema["properties"] as Readonly<Record<string, Schema>> | undefined;
  if (fields !== undefined) {
    const of = Object.entries(fields).map(([name, s]) => [name, nearly(s, whole, depth + 1)] as const);
    const object = fc.record({ ...Object.fromEntries(of), other: fc.constant(1) }, { requiredKeys: [] });
    return fc.oneof({ weight: 9, arbitrary: object }, { weight: 1, arbitrary: wrong });
  }
  const items = schema["items"];
  if (items !== null && typeof items === "object" && !Array.isArray(items))
    return fc.oneof(fc.array(nearly(items as Schema, whole, depth + 1), { maxLength: 3 }), wrong);
  const more = schema["additionalProperties"];
  if (more !== null && typeof more === "object")
    return fc.oneof(fc.dictionary(fc.constantFrom("a", "b/c", "d~e"), nearly(more as Schema, whole, depth + 1)), wrong);
  return fc.oneof(wrong, fc.constantFrom<unknown>("2027-01-31", "60s", "a".repeat(40), 65_536, 0, -1, 1.5));
}

const offers = (keyword: string, path: string): boolean => keyword === "anyOf" && path.length > 0;

describe("validators of the build", () => {
  for (const [name, validate] of [
    ["contract", contract],
    ["program-set", programSet],
  ] as const) {
    it(`${name}: the errors of ajv`, () => {
      const schema = JSON.parse(readFileSync(join(root, `schemas/${name}.schema.json`), "utf8")) as Schema;
      const judge = new Ajv({ allErrors: true, strict: false }).compile(schema);
      let errors = 0;
      fc.assert(
        fc.property(nearly(schema, schema), (value) => {
          const right = judge(value);
          expect(validate(value)).toBe(right);
          // of a word that may be any, ajv also says that it is none of those that editors offer
          const said = (list: typeof validate.errors): unknown[] =>
            (list ?? [])
              .filter((e) => !offers(e.keyword, e.instancePath) && e.keyword !== "enum")
              .map(({ instancePath, keyword, params, message }) => ({ instancePath, keyword, params, message }));
          errors += judge.errors?.length ?? 0;
          expect(said(validate.errors)).toEqual(said(judge.errors));
          const words = (list: typeof validate.errors): unknown[] => (list ?? []).filter((e) => e.keyword === "enum");
          expect(words(validate.errors).length).toBeLessThanOrEqual(words(judge.errors).length);
        }),
        { numRuns: 400, seed: 7 },
      );
      expect(errors).toBeGreaterThan(500);
    });
  }
});
