import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { json, toJson } from "../../src/reporter/json.js";
import { Source } from "../../src/text/source.js";
import { clean, context, diagnostic, result, resultOf } from "./sample.js";

const schema = JSON.parse(readFileSync(new URL("../../schemas/result.schema.json", import.meta.url), "utf8"));
const validate = new Ajv({ allErrors: true, strict: true }).compile(schema);

function check(value: unknown): unknown {
  validate(value);
  return validate.errors;
}

describe("the JSON result", () => {
  it("is what the schema describes", () => {
    expect(check(JSON.parse(json(result, context)))).toBeNull();
    expect(check(JSON.parse(json(clean, context)))).toBeNull();
  });

  it("has exactly the documented members, in their order", () => {
    const source = new Source("infra/users.acl", "user default on\n");
    const d = diagnostic(source, 0, 12, "acl/default-user", "open", {
      pointer: "/a~1b",
      help: "not part of the result",
      related: [{ at: source.span(13, 15), message: "here" }],
      fix: { description: "Close it", edits: [{ span: source.span(13, 15), newText: "off" }] },
    });
    const range = (a: number, b: number) => ({ start: { line: 1, column: a }, end: { line: 1, column: b } });
    expect(json(resultOf([d]), context)).toBe(
      `${JSON.stringify(
        {
          version: 1,
          tool: { name: "quorumlint", version: "0.1.0" },
          summary: {
            contracts: 1,
            files: 1,
            documents: 31,
            rules: 80,
            errors: 1,
            warnings: 0,
            infos: 0,
            suppressed: 0,
            baselined: 0,
          },
          inputs: [{ file: "infra/users.acl", kind: "yaml", contract: "redis-lab" }],
          diagnostics: [
            {
              rule: "acl/default-user",
              message: "open",
              severity: "error",
              contract: "redis-lab",
              file: "infra/users.acl",
              range: range(1, 13),
              path: "/a~1b",
              related: [{ file: "infra/users.acl", range: range(14, 16), message: "here" }],
              fix: {
                description: "Close it",
                edits: [{ file: "infra/users.acl", range: range(14, 16), newText: "off" }],
              },
              url: "https://quorumlint.example/rules/acl/default-user.md",
            },
          ],
        },
        undefined,
        2,
      )}\n`,
    );
  });

  it("has a path only where there is one, null where there is no fix, and the root's empty path", () => {
    const source = new Source("f", "x");
    const [bare, root] = toJson(
      resultOf([diagnostic(source, 0, 1, "a/b", "m"), diagnostic(source, 0, 1, "a/c", "m", { pointer: "" })]),
      context,
    ).diagnostics;
    expect(bare).not.toHaveProperty("path");
    expect(bare!.fix).toBeNull();
    expect(root!.path).toBe("");
  });

  it("counts by severity and tells suppressed from baselined", () => {
    expect(toJson(result, context).summary).toMatchObject({
      errors: 4,
      warnings: 2,
      infos: 1,
      suppressed: 2,
      baselined: 1,
    });
  });

  it("lists what was ignored, with the reason, and what crashed", () => {
    const { inputs, faults } = toJson(result, context);
    expect(inputs.map((i) => i.file)).toEqual([
      "clean.yaml",
      "config/redis-users.acl.tmpl",
      "k3s/redis data[1].yaml",
      "logo.png",
    ]);
    expect(inputs[3]).toEqual({ file: "logo.png", kind: "ignored", reason: "not a kind that is read" });
    expect(faults).toEqual([
      {
        rule: "k8s/resources",
        file: "k3s/long.json",
        contract: "redis-lab",
        message: "rule k8s/resources crashed on k3s/long.json: TypeError: x is undefined <&> \u001b[0m",
      },
    ]);
    expect(toJson(clean, context)).not.toHaveProperty("faults");
  });

  it("is refused by the schema when anything is off", () => {
    type Parsed = ReturnType<typeof JSON.parse>;
    const broken = (change: (r: Parsed) => void): unknown => {
      const r: Parsed = JSON.parse(json(result, context));
      change(r);
      return check(r);
    };
    const changes: ((r: Parsed) => void)[] = [
      (r) => Object.assign(r, { extra: 1 }),
      (r) => delete r.summary,
      (r) => Object.assign(r.summary, { errors: -1 }),
      (r) => Object.assign(r.diagnostics[0], { help: "x" }),
      (r) => Object.assign(r.diagnostics[0], { severity: "fatal" }),
      (r) => Object.assign(r.diagnostics[0], { path: "a" }),
      (r) => Object.assign(r.diagnostics[0], { path: "/~2" }),
      (r) => delete r.diagnostics[0].range,
      (r) => Object.assign(r.diagnostics[0].range.start, { line: 0 }),
      (r) => Object.assign(r.diagnostics[0], { fix: {} }),
      (r) => delete r.inputs[3].reason,
      (r) => Object.assign(r, { faults: [] }),
    ];
    for (const change of changes) expect([String(change), broken(change) !== null]).toEqual([String(change), true]);
  });
});
