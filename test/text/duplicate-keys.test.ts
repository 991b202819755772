/** The keys that stand twice in a map, told while values are made, against what a walk over the positions finds. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseYaml, type YamlNode } from "../../src/document/yaml.js";
import { Source } from "../../src/text/source.js";

type Found = readonly [key: string, at: string, first: string];

function told(text: string): Found[] {
  const { documents, problems } = parseYaml(new Source("a.yaml", text), "core");
  expect(problems).toEqual([]);
  return documents.flatMap((d) =>
    d.duplicates.map((one): Found => [one.key, `${one.at.start}-${one.at.end}`, `${one.first.start}`]),
  );
}

/** Every key of a map that one before it has, in the order of the text. */
function walked(text: string): Found[] {
  const out: Found[] = [];
  const walk = (node: YamlNode): void => {
    if (node.kind === "seq") node.items.forEach(walk);
    if (node.kind !== "map") return;
    const first = new Map<string, number>();
    for (const { key, value } of node.pairs) {
      if (key.kind === "scalar") {
        const before = first.get(key.text);
        if (before === undefined) first.set(key.text, key.start);
        else out.push([key.text, `${key.start}-${key.end}`, `${before}`]);
      }
      walk(value);
    }
  };
  for (const { root } of parseYaml(new Source("a.yaml", text), "core").documents) if (root !== undefined) walk(root);
  return out.sort((a, b) => Number.parseInt(a[1], 10) - Number.parseInt(b[1], 10));
}

describe("keys that stand twice", () => {
  it.each<[string, string, readonly string[]]>([
    ["plain", "a: 1\nb: 2\na: 3\n", ["a"]],
    ["three times: each further one", "a: 1\na: 2\na: 3\n", ["a", "a"]],
    ["two names", "a: 1\nb: 1\nb: 2\na: 2\n", ["b", "a"]],
    [
      "behind collections with the same names inside",
      "a: { a: 1, b: [a, { a: 2 }] }\nb: { a: 3 }\na: 4\nb: 5\n",
      ["a", "b"],
    ],
    ["a value is no key", "a: b\nb: a\n", []],
    ["without a value", "a:\nb:\na:\n", ["a"]],
    ["names that every object has", "constructor: 1\ntoString: 2\n__proto__: 3\nhasOwnProperty: 4\n", []],
    ["and those twice", "__proto__: 1\n__proto__: 2\nconstructor: 3\nconstructor: 4\n", ["__proto__", "constructor"]],
    ["merged keys are others", "x: &x { a: 1 }\ny:\n  <<: *x\n  a: 2\n", []],
    ["two merges", "x: &x { a: 1 }\ny:\n  <<: *x\n  <<: *x\n", ["<<"]],
    ["in JSON", '{"a": {"b": 1, "b": 2}, "a": []}\n', ["b", "a"]],
    ["a collection as a key", "? [a]\n: 1\n? [b]\n: 2\n'?': 3\n", []],
    ["behind an alias", "a: &a [1]\nb: *a\nc: *a\nb: 2\n", ["b"]],
  ])("%s", (_, text, keys) => {
    expect(told(text).map(([key]) => key)).toEqual(keys);
  });

  it("are where a walk finds them, first and again", () => {
    const name = fc.constantFrom("a", "b", "c", "'a'", '"b"', "toString", "");
    const { node } = fc.letrec<{ node: string }>((tie) => ({
      node: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.constantFrom("1", "a", "'a'", "~"),
        fc.array(tie("node"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
        fc
          .array(fc.tuple(name, tie("node")), { maxLength: 5 })
          .map((pairs) => `{${pairs.map(([key, value]) => `${key === "" ? "''" : key}: ${value}`).join(", ")}}`),
      ),
    }));
    fc.assert(
      fc.property(node, (text) => {
        const sorted = told(`${text}\n`).sort((a, b) => Number.parseInt(a[1], 10) - Number.parseInt(b[1], 10));
        expect(sorted).toEqual(walked(`${text}\n`));
      }),
      { numRuns: 500 },
    );
  });

  it("cost time in proportion, however many there are and however deep", () => {
    const many = (n: number): string =>
      `${Array.from({ length: n }, (_, i) => `k${i}: {x: {y: [1, 2]}}`).join("\n")}\n${"k0: 1\n".repeat(n)}`;
    expect(told(many(50_000))).toHaveLength(50_000);
    const deep = `${"{a: ".repeat(90)}[${"1, ".repeat(100_000)}1]${", a: 2}".repeat(90)}\n`;
    expect(told(deep)).toHaveLength(90);
  });
});
