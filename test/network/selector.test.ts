import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  describeSelector,
  LabelIndex,
  labelsOf,
  matches,
  matchesMap,
  parseSelector,
  selectorKey,
} from "../../src/model/kubernetes/selector.js";

describe("LabelSelector", () => {
  it("absent selects nothing, empty everything", () => {
    expect(matches(undefined, { a: "b" })).toBe(false);
    expect(matches(null, {})).toBe(false);
    expect(matches({}, {})).toBe(true);
    expect(matches({ matchLabels: {}, matchExpressions: [] }, { a: "b" })).toBe(true);
    expect(matches({ matchLabels: null }, undefined)).toBe(true);
  });

  it("ANDs labels and expressions", () => {
    const selector = {
      matchLabels: { app: "redis" },
      matchExpressions: [
        { key: "tier", operator: "In", values: ["a", "b"] },
        { key: "old", operator: "DoesNotExist" },
      ],
    };
    expect(matches(selector, { app: "redis", tier: "b" })).toBe(true);
    expect(matches(selector, { app: "redis", tier: "c" })).toBe(false);
    expect(matches(selector, { app: "redis" })).toBe(false);
    expect(matches(selector, { app: "redis", tier: "a", old: "" })).toBe(false);
    expect(matches(selector, { tier: "a" })).toBe(false);
  });

  it("NotIn and DoesNotExist hold when the key is absent; Exists accepts an empty value", () => {
    const one = (operator: string, values?: string[]) => ({ matchExpressions: [{ key: "k", operator, values }] });
    expect(matches(one("NotIn", ["x"]), {})).toBe(true);
    expect(matches(one("NotIn", ["x"]), { k: "x" })).toBe(false);
    expect(matches(one("DoesNotExist"), {})).toBe(true);
    expect(matches(one("Exists"), { k: "" })).toBe(true);
    expect(matches(one("Exists"), { toString: "x" })).toBe(false);
  });

  it.each([
    [{ matchExpressions: [{ key: "k", operator: "Is", values: ["x"] }] }, ["matchExpressions", 0, "operator"]],
    [{ matchExpressions: [{ key: "k", operator: "in", values: ["x"] }] }, ["matchExpressions", 0, "operator"]],
    [{ matchExpressions: [{ key: "k", operator: "In", values: [] }] }, ["matchExpressions", 0, "operator"]],
    [{ matchExpressions: [{ key: "k", operator: "Exists", values: ["x"] }] }, ["matchExpressions", 0, "values"]],
    [{ matchExpressions: [{ operator: "Exists" }] }, ["matchExpressions", 0, "key"]],
    [{ matchExpressions: ["k"] }, ["matchExpressions", 0]],
    [{ matchExpressions: {} }, ["matchExpressions"]],
    [{ matchLabels: ["k"] }, ["matchLabels"]],
    [{ matchLabels: { k: { v: 1 } } }, ["matchLabels", "k"]],
    ["app=redis", []],
  ])("%j is invalid: it matches nothing and says where", (selector, path) => {
    const read = parseSelector(selector);
    expect(read.kind).toBe("invalid");
    expect(read.problems[0]?.path).toEqual(path);
    expect(matches(selector, { k: "x", app: "redis" })).toBe(false);
    expect(describeSelector(selector)).toMatch(/^nothing \(invalid: /);
  });

  it("takes scalars that YAML did not read as text for their text", () => {
    expect(matches({ matchLabels: { v: 1, on: true } }, { v: "1", on: "true" })).toBe(true);
    expect(matches({ matchLabels: { v: "1" } }, { v: 1 })).toBe(true);
    expect(matches({ matchLabels: { v: null } }, { v: "" })).toBe(true);
    expect([...labelsOf({ a: 1, b: ["x"], c: "y" })]).toEqual([
      ["a", "1"],
      ["c", "y"],
    ]);
    expect(matches({ matchLabels: JSON.parse('{"__proto__":"x"}') }, { a: "x" })).toBe(false);
    expect(matches({ matchLabels: JSON.parse('{"__proto__":"x"}') }, JSON.parse('{"__proto__":"x"}'))).toBe(true);
  });

  it("has one key for what selects the same", () => {
    const a = { matchLabels: { a: "1", b: "2" } };
    const b = { matchExpressions: [{ key: "b", operator: "In", values: ["2"] }], matchLabels: { a: "1" } };
    expect(selectorKey(a)).toBe(selectorKey(b));
    expect(selectorKey({})).not.toBe(selectorKey(undefined));
    expect(selectorKey({ matchLabels: { a: "1" } })).not.toBe(selectorKey(a));
  });

  it("says itself in words", () => {
    expect(describeSelector({})).toBe("everything");
    expect(describeSelector(undefined)).toBe("nothing");
    expect(
      describeSelector({
        matchLabels: { app: "redis" },
        matchExpressions: [
          { key: "a", operator: "In", values: ["y", "x"] },
          { key: "b", operator: "NotIn", values: ["x"] },
          { key: "b", operator: "NotIn", values: ["x", "y"] },
          { key: "c", operator: "Exists" },
          { key: "d", operator: "DoesNotExist" },
        ],
      }),
    ).toBe("app=redis and a in (x, y) and b!=x and b not in (x, y) and has c and lacks d");
  });
});

describe("a Service's selector map", () => {
  it("selects nothing when empty or absent", () => {
    expect(matchesMap(undefined, { a: "b" })).toBe(false);
    expect(matchesMap({}, { a: "b" })).toBe(false);
    expect(matchesMap({ a: "b" }, { a: "b", c: "d" })).toBe(true);
    expect(matchesMap({ a: "b" }, { a: "c" })).toBe(false);
    expect(matchesMap(["a"], { a: "b" })).toBe(false);
  });
});

describe("LabelIndex", () => {
  const labels = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2", "3"), {
    noNullPrototype: true,
  });
  const expression = fc.oneof(
    fc.record({
      key: fc.constantFrom("a", "b", "c", "d"),
      operator: fc.constantFrom("In", "NotIn"),
      values: fc.uniqueArray(fc.constantFrom("1", "2", "3", "4"), { minLength: 1 }),
    }),
    fc.record({ key: fc.constantFrom("a", "b", "c", "d"), operator: fc.constantFrom("Exists", "DoesNotExist") }),
  );

  it("finds what a pass over all items finds, in their order", () => {
    fc.assert(
      fc.property(
        fc.array(labels, { maxLength: 12 }),
        fc.array(expression, { maxLength: 3 }),
        labels,
        (items, matchExpressions, map) => {
          const index = new LabelIndex(items, (item) => item);
          const selector = { matchExpressions };
          expect(index.select(selector)).toEqual(items.filter((item) => matches(selector, item)));
          expect(index.selectMap(map)).toEqual(items.filter((item) => matchesMap(map, item)));
          expect(index.select(undefined)).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });
});
