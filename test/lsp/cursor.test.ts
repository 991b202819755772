/** Where a cursor is, told from half a file, against what a parser says of the whole one. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseYaml, type YamlNode } from "../../src/document/yaml.js";
import { cursorAt } from "../../src/lsp/cursor.js";
import { Source } from "../../src/text/source.js";
import { root } from "../support.js";

interface Place {
  readonly path: readonly string[];
  readonly key: string | undefined;
  readonly offset: number;
}

/** Every key and every plain value of a document, with the path that it has by its parse. */
function places(text: string): Place[] {
  const out: Place[] = [];
  const walk = (node: YamlNode, path: readonly string[]): void => {
    if (node.kind === "map") {
      for (const pair of node.pairs) {
        const name = pair.name!;
        out.push({ path, key: undefined, offset: pair.key.start });
        if (pair.value.kind === "scalar" && pair.value.start > pair.key.end)
          out.push({ path, key: name, offset: pair.value.start });
        walk(pair.value, [...path, name]);
      }
    } else if (node.kind === "seq") for (const item of node.items) walk(item, [...path, "[]"]);
  };
  walk(parseYaml(new Source("q.yaml", text), "core").documents[0]!.root!, []);
  return out;
}

function agrees(text: string): number {
  const all = places(text);
  for (const { path, key, offset } of all) {
    // what follows the cursor is not there yet
    const found = cursorAt(text.slice(0, offset), offset);
    const shown = JSON.stringify(text.slice(Math.max(0, offset - 40), offset));
    expect(found?.path, shown).toEqual(path);
    expect(found?.key, shown).toBe(key);
  }
  return all.length;
}

describe("cursor", () => {
  it("agrees with the parse at every key and value of the golden contract file", () => {
    const text = readFileSync(join(root, "fixtures/redis-lab/quorumlint.yaml"), "utf8");
    expect(agrees(text)).toBeGreaterThan(200);
    expect(agrees(text.replaceAll("\n", "\r\n"))).toBeGreaterThan(200);
  });

  it("lists as far left as their key, items of several lines, nested lists, quoted keys, comments between", () => {
    agrees(`version: 1
contracts:
  "a b":
    kubernetes:
      inventory:
      - file: a.yaml
        kind: Service
        # between
        name: x
      - { file: b.yaml, kind: Secret, name: y }
      provided:
      - Secret/a
    network:
      edges:
        - from: data
          to: sentinel

          port: [1, 2]
    programs:
      - descriptors:
          - file: A.java
            map: { a: b, "c d": e }
          - B.java
        user: app
rules: { k8s/exec-probe: [warning, { a: 1 }], acl/wiring: off }
suppress:
  - rule: x
    reason: "a: b, {c"
`);
  });

  it("knows that a value of a list of words is one", () => {
    const text = "contracts:\n  a:\n    roles:\n      application: [app, ";
    expect(cursorAt(text, text.length)).toMatchObject({
      path: ["contracts", "a", "roles", "application"],
      key: "[]",
      typed: "",
    });
  });

  it("is silent in comments and very long lines, and takes no time over hostile text", () => {
    expect(cursorAt("# a: ", 5)).toBeUndefined();
    const long = `a${" ".repeat(200_000)}`;
    const started = performance.now();
    expect(cursorAt(long, long.length)).toBeUndefined();
    const deep = `${Array.from({ length: 30_000 }, (_, i) => `${" ".repeat(i % 900)}k${i}: ${" ".repeat(50)}`).join("\n")}\n  `;
    cursorAt(deep, deep.length);
    cursorAt(`${"- ".repeat(900)}a: `, 1803);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
