import { getNodeValue, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import { readProgramSet } from "../../src/model/program/manifest.js";
import { Source, TextView } from "../../src/text/source.js";

const program = {
  id: "rate-fixed-window",
  version: "1.2.0",
  file: "rate-fixed-window-v1.lua",
  sha1: "a".repeat(40),
  sha256: "b".repeat(64),
  keys: [
    { name: "counter", pattern: "app:{tenant}:rate:counter:*", access: "RW", slotTag: "tenant", anchor: false },
    { name: "mark", pattern: "app:{tenant}:mark", access: "R", slotTag: "tenant" },
  ],
  argv: [{ name: "windowMs", type: "integer", unit: "milliseconds" }],
  result: { type: "integer", values: [0, 1] },
  slotRule: "same-hash-tag",
  ttl: { counter: { argv: "windowMs", unit: "milliseconds", max: 3600000 }, mark: "durable" },
  bounds: { maxItems: 100, maxBytes: 65536 },
  minimumRedisVersion: "7.2.0",
  retry: "unsafe",
  certainty: "definite",
  guarantee: "none",
  class: "rate",
  renewal: { maxTotalMs: 600000 },
  commands: ["GET", "INCR", "PEXPIRE", "XGROUP|CREATE"],
};

function read(text: string) {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true });
  const source = new Source("program-set.json", text);
  return readProgramSet(
    new TextView(source),
    root as Parameters<typeof readProgramSet>[1],
    errors.map((e) => ({ message: printParseErrorCode(e.error), offset: e.offset, length: e.length })),
  );
}

/** The set with one program, changed. */
function changed(change: (p: Record<string, unknown>) => void) {
  const copy = structuredClone(program) as unknown as Record<string, unknown>;
  change(copy);
  return read(JSON.stringify({ version: 1, name: "rate", programs: [copy] }, null, 2));
}

const problems = (set: ReturnType<typeof read>) =>
  set.problems.map((p) => `${p.kind} ${p.path} ${p.at.source.slice(p.at)}`.slice(0, 120));

describe("program sets", () => {
  it("a complete one is typed and has no problems", () => {
    const set = changed(() => {});
    expect(set.problems).toEqual([]);
    const [p] = set.programs;
    expect(p!.id?.value).toBe("rate-fixed-window");
    expect(p!.keys.map((k) => [k.name.value, k.access.value, k.slotTag.value, k.anchor])).toEqual([
      ["counter", "RW", "tenant", false],
      ["mark", "R", "tenant", false],
    ]);
    expect(p!.ttl.map((t) => [t.key.value, t.durable, t.max?.value, t.argv?.value, t.enforcedBy])).toEqual([
      ["counter", false, 3600000, "windowMs", "script"],
      ["mark", true, undefined, undefined, "script"],
    ]);
    expect(p!.commands.map((c) => c.value)).toEqual(program.commands);
    expect(p!.bounds?.maxItems?.value).toBe(100);
    expect(p!.renewal?.maxTotalMs?.value).toBe(600000);
    expect(p!.result?.values?.map((v) => v.value)).toEqual([0, 1]);
    const at = p!.place("keys/0/pattern")!;
    expect(at.source.slice(at)).toBe('"app:{tenant}:rate:counter:*"');
    expect(p!.sha1!.at.source.position(p!.sha1!.at.start).line).toBe(9);
  });

  it.each([
    [
      "an unknown field",
      (p: Record<string, unknown>) => void (p["sha512"] = "x"),
      ['unknown-field /programs/0/sha512 "sha512"'],
    ],
    ["a missing field", (p: Record<string, unknown>) => void delete p["retry"], ["missing-field /programs/0 {"]],
    [
      "a wrong type",
      (p: Record<string, unknown>) => void (p["commands"] = "GET"),
      ['wrong-type /programs/0/commands "GET"'],
    ],
    [
      "a value that is not allowed",
      (p: Record<string, unknown>) => void (p["retry"] = "maybe"),
      ['not-allowed /programs/0/retry "maybe"'],
    ],
    [
      "no semantic version",
      (p: Record<string, unknown>) => void (p["version"] = "1.2"),
      ['bad-format /programs/0/version "1.2"'],
    ],
    ["a short digest", (p: Record<string, unknown>) => void (p["sha1"] = "abc"), ['bad-format /programs/0/sha1 "abc"']],
    [
      "a path out of the set",
      (p: Record<string, unknown>) => void (p["file"] = "../x.lua"),
      ['bad-format /programs/0/file "../x.lua"'],
    ],
    [
      "a command twice",
      (p: Record<string, unknown>) => void (p["commands"] = ["GET", "GET"]),
      ['duplicate /programs/0/commands/1 "GET"'],
    ],
    [
      "two keys of one name",
      (p: Record<string, unknown>) => void ((p["keys"] as { name: string }[])[1]!.name = "counter"),
      ['duplicate /programs/0/keys/1/name "counter"', 'unknown-name /programs/0/ttl/mark "mark"'],
    ],
    [
      "a missing part of a key",
      (p: Record<string, unknown>) => void delete (p["keys"] as { access?: string }[])[0]!.access,
      ["missing-field /programs/0/keys/0 {"],
    ],
    [
      "a bound for a key that is not there",
      (p: Record<string, unknown>) => void (p["ttl"] = { other: "durable" }),
      ['unknown-name /programs/0/ttl/other "other"'],
    ],
    [
      "a bound from an argument that is not there",
      (p: Record<string, unknown>) => void (p["ttl"] = { counter: { argv: "w", unit: "seconds", max: 1 } }),
      ['unknown-name /programs/0/ttl/counter/argv "w"'],
    ],
    [
      "no bound",
      (p: Record<string, unknown>) => void (p["ttl"] = { counter: { argv: "windowMs", unit: "seconds" } }),
      ['missing-field /programs/0/ttl/counter "counter"'],
    ],
    [
      "another word than durable",
      (p: Record<string, unknown>) => void (p["ttl"] = { counter: "forever" }),
      ['not-allowed /programs/0/ttl/counter "forever"'],
    ],
    [
      "a unit that is not allowed",
      (p: Record<string, unknown>) => void (p["ttl"] = { counter: { fixed: 5, unit: "minutes" } }),
      ['not-allowed /programs/0/ttl/counter/unit "minutes"'],
    ],
    [
      "a tag that the pattern does not have",
      (p: Record<string, unknown>) => void ((p["keys"] as { slotTag: string }[])[0]!.slotTag = "region"),
      ['contradiction /programs/0/keys/0/slotTag "region"'],
    ],
    [
      "an open brace",
      (p: Record<string, unknown>) => void ((p["keys"] as { pattern: string }[])[0]!.pattern = "app:{tenant:x"),
      ['bad-format /programs/0/keys/0/pattern "app:{tenant:x"'],
    ],
    [
      "a result type that is not allowed",
      (p: Record<string, unknown>) => void (p["result"] = { type: "list" }),
      ['not-allowed /programs/0/result/type "list"'],
    ],
    [
      "a bound of nothing",
      (p: Record<string, unknown>) => void (p["bounds"] = { maxItems: 0 }),
      ["out-of-range /programs/0/bounds/maxItems 0"],
    ],
  ])("%s is found at its place", (_, change, expected) => {
    expect(problems(changed(change))).toEqual(expected);
  });

  it("optional parts may be absent", () => {
    const set = changed((p) => {
      for (const name of ["bounds", "certainty", "class", "renewal"]) delete p[name];
      (p["keys"] as { slotTag: string | null; pattern: string }[])[1] = {
        name: "mark",
        pattern: "app:mark",
        access: "R",
        slotTag: null,
      } as never;
      p["result"] = { type: "array", items: ["integer", "string"] };
    });
    expect(problems(set)).toEqual([]);
  });

  it("duplicate JSON keys, unknown version, missing name", () => {
    expect(problems(read('{ "version": 1, "name": "a", "name": "b", "programs": [] }'))).toEqual([
      'duplicate /name "name"',
    ]);
    expect(problems(read('{ "version": 2, "programs": [] }'))).toEqual(["missing-field  {", "not-allowed /version 2"]);
  });

  it("broken text is a syntax fault, and what is there is still read", () => {
    const set = read('{ "version": 1, "name": "a", "programs": [ { "id": "x", } ] ');
    expect(set.problems.every((p) => p.kind === "syntax")).toBe(true);
    expect(set.problems.length).toBeGreaterThan(0);
    expect(set.programs.map((p) => p.id?.value)).toEqual(["x"]);
    expect(read("").problems.map((p) => p.kind)).toEqual(["syntax"]);
    expect(read("[]").problems.map((p) => p.kind)).toEqual(["wrong-type"]);
  });

  it("deep nesting and odd shapes do not crash", () => {
    expect(
      read(`{"version":1,"name":"a","programs":${"[".repeat(300)}${"]".repeat(300)}}`).problems.map((p) => p.message),
    ).toEqual(["nested too deeply"]);
    for (const odd of [
      "null",
      "1",
      '"x"',
      '{"programs":[null,1,"x",[],{}]}',
      '{"programs":{"a":1}}',
      '{"programs":[{"keys":[1,null],"argv":{},"ttl":[],"result":[],"commands":[1]}]}',
      '{"__proto__":{"version":1}}',
    ]) {
      expect(read(odd).problems.length).toBeGreaterThan(0);
    }
  });

  it("reads what JSON.parse reads", () => {
    const text = JSON.stringify({ version: 1, name: "rate", programs: [program] });
    expect(getNodeValue(parseTree(text)!)).toEqual(JSON.parse(text));
  });
});
