/** What the short way reads of a manifest is what the whole grammar reads of it: values and positions. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Maker, readPlainYaml } from "../../src/document/plain-yaml.js";
import { parseYaml, slices } from "../../src/document/yaml.js";
import { Source } from "../../src/text/source.js";

const MANIFEST = `---
apiVersion: v1
# a comment
metadata: {name: "a-b", labels: {x: 'it''s', "y": [1, yes, ~]}, }
spec:
  empty:
  args: ["--a=b", -c, 'd: e', "f\\n"] # behind
  list:
  - name: one
    port: 0644
  -
    name: two
  - - nested
  - plain: a:b c#d
data:
  script.sh: |
    #!/bin/sh
      echo hi

    exit 0
  kept: |+
    text

  cut: |-
    text
`;

const SEEDS = [MANIFEST, '{"a": [1, {"b": null}],\n "c": "d"}\n', "- a\n- b: c\n", "a: b\n"];
const BITS = [..." \n-:#'\"[]{},|>&*!?%@`~\\a1é"].concat([
  "\n  ",
  "- ",
  ": ",
  " #",
  "|+",
  "''",
  "---",
  "<<: ",
  "yes",
  "\n\n",
  "&a ",
  "? ",
]);

const NOTHING: Maker<number> = {
  scalar: () => 0,
  empty: () => 0,
  map: () => 0,
  list: () => 0,
  key: () => 0,
  entry: () => undefined,
  item: () => undefined,
  close: () => undefined,
};

/** What a file holds; `shift`: how far its positions are moved. */
function read(text: string, shift = 0): string {
  const { documents, problems } = parseYaml(new Source("a.yaml", text));
  const moved = (key: string, value: unknown): unknown => {
    if (typeof value !== "number") return value;
    return /^(?:start|end|contentStart|contentEnd)$/.test(key) ? value - shift : String(value);
  };
  return JSON.stringify([documents.map((d) => [d.value, d.root]), problems.map((p) => p.code)], moved);
}

/** The same by the whole grammar: only it reads a tab. */
function byGrammar(text: string): string {
  return text.startsWith("---") ? read(`${text}#\t`) : read(`#\t\n${text}`, 3);
}

function isPlain(text: string): boolean {
  const alone = slices(text).length === 1 && (!text.startsWith("---") || text.endsWith("\n"));
  return alone && readPlainYaml(text, NOTHING) !== undefined;
}

describe("plain YAML", () => {
  test.each(SEEDS)("reads %j as the grammar does", (text) => {
    expect(isPlain(text)).toBe(true);
    expect(read(text)).toBe(byGrammar(text));
  });

  test.each(["a: &x b", "a: >\n  b\n", "a:\tb", "a: b\n  c", "a: 'b\n  c'", "a: [b", "a: b: c", "a:\n b: c\nd"])(
    "leaves %j to the grammar",
    (text) => {
      expect(readPlainYaml(text, NOTHING)).toBeUndefined();
    },
  );

  test.each(["a: b\na: c", "<<: {a: b}", "a: {b: 1, b: 2}"])("knows what the keys of %j mean", (text) => {
    expect(read(text)).toBe(byGrammar(text));
  });

  test("names a key that stands twice", () => {
    expect(parseYaml(new Source("a.yaml", "a: b\na: c\n")).documents[0]!.duplicates).toHaveLength(1);
  });

  test("reads changed manifests as the grammar does, where it reads them at all", () => {
    let plain = 0;
    const change = fc.record({ at: fc.nat(), drop: fc.nat({ max: 3 }), bit: fc.constantFrom("", ...BITS) });
    const changed = fc
      .tuple(fc.constantFrom(...SEEDS), fc.array(change, { minLength: 1, maxLength: 4 }))
      .map(([seed, changes]) =>
        changes.reduce((text, { at, drop, bit }) => {
          const from = at % (text.length + 1);
          return text.slice(0, from) + bit + text.slice(from + drop);
        }, seed),
      );
    fc.assert(
      fc.property(changed, (text) => {
        if (!isPlain(text)) return;
        plain++;
        expect(read(text)).toBe(byGrammar(text));
      }),
      { numRuns: 3000 },
    );
    expect(plain).toBeGreaterThan(300);
  });
});
