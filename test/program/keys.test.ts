import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aclCovers, mayOverlap, readKeyPattern, sameSlot } from "../../src/model/program/keypattern.js";
import { patternOf } from "../../src/model/program/origin.js";
import { sha1 } from "../../src/model/program/sha1.js";
import { hashTag, keySlot } from "../../src/model/program/slot.js";
import { bytesOf } from "../../src/text/bytes.js";
import { analyse } from "./support.js";

describe("slots", () => {
  const recorded = JSON.parse(readFileSync(new URL("../data/lua/keyslots.json", import.meta.url), "utf8")) as [
    string,
    number,
  ][];

  it("agree with CLUSTER KEYSLOT", () => {
    expect(recorded.length).toBeGreaterThan(100);
    for (const [key, slot] of recorded) expect([key, keySlot(key)]).toEqual([key, slot]);
  });

  it("the tag is what stands in the first braces that hold something", () => {
    expect(["{a}b", "x{a}{b}", "foo{}{bar}", "foo{{bar}}zap", "foo{bar", "}{a}"].map(hashTag)).toEqual([
      "a",
      "a",
      "foo{}{bar}",
      "{bar",
      "foo{bar",
      "a",
    ]);
  });

  it("keys with the same tag share a slot", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), fc.string({ minLength: 1 }), (a, b, tag) => {
        fc.pre(!a.includes("{") && !tag.includes("}"));
        expect(keySlot(`${a}{${tag}}${b}`)).toBe(keySlot(`{${tag}}`));
      }),
    );
  });
});

describe("digests", () => {
  it("are those of the platform", () => {
    for (const text of [
      "",
      "a",
      "return 1",
      "x".repeat(55),
      "x".repeat(56),
      "x".repeat(64),
      "é키🙂",
      "x".repeat(100_000),
    ]) {
      expect(sha1(bytesOf(text))).toBe(createHash("sha1").update(text).digest("hex"));
    }
  });
});

describe("key patterns", () => {
  it("slots of patterns", () => {
    expect(sameSlot("app:{tenant}:a:*", "app:{tenant}:b")).toBe(true);
    expect(sameSlot("app:{tenant}:a", "app:{region}:a")).toBe(false);
    expect(sameSlot("app:{tenant}:a", "app:a")).toBe(false);
    expect(sameSlot("app:a:*", "app:b:*")).toBe(false);
    expect(sameSlot("app:a", "app:a")).toBe(true);
    expect(sameSlot("app:a", "app:b")).toBe(keySlot("app:a") === keySlot("app:b"));
  });

  it.each([
    [["app:*"], "app:{tenant}:rate:*", true],
    [["app:{*}:rate:*"], "app:{tenant}:rate:*", true],
    [["app:{*}:rate:counter:*"], "app:{tenant}:rate:*", false],
    [["*"], "anything:{x}", true],
    [["app:{*}:a", "app:{*}:b"], "app:{t}:b", true],
    [["app:{*}:a:?"], "app:{t}:a:*", false],
    [["app:{*}:a:*"], "app:{t}:a", false],
    [["app:[ab]*"], "app:a:*", true],
    [["app:[^a]*"], "app:a:*", false],
    [["APP:*"], "app:x", false],
    [[], "app:x", false],
  ] as const)("%j covers %s: %s", (acl, pattern, covered) => {
    expect(aclCovers([...acl], pattern)).toBe(covered);
  });

  it("intricate globs end", () => {
    const glob = `${"*a?".repeat(40)}*b`;
    const start = performance.now();
    aclCovers([glob], `${"*a".repeat(40)}{t}*b`);
    expect(performance.now() - start).toBeLessThan(5000);
  });

  it("faults", () => {
    expect(["a:{t}", "a:{t", "a:t}", "a:{{t}}", "a:{}", ""].map((p) => readKeyPattern(p).fault)).toEqual([
      undefined,
      "unbalanced-brace",
      "unbalanced-brace",
      "unbalanced-brace",
      "empty-tag",
      "empty",
    ]);
  });

  it("overlap", () => {
    expect(mayOverlap("lock:{r}:*", "lock:{r}:a")).toBe(true);
    expect(mayOverlap("lock:{r}:owner", "lock:{r}:fence")).toBe(false);
    expect(mayOverlap("a:*", "b:*")).toBe(false);
    expect(mayOverlap("a:x", "a:y")).toBe(false);
  });

  it("the pattern of a derived key", () => {
    const effects = analyse(
      "redis.call('GET', KEYS[1] .. ':etag')\nredis.call('GET', KEYS[2] .. ':' .. ARGV[1])\nredis.call('GET', KEYS[3])\nredis.call('GET', 'x' .. ARGV[1] .. ARGV[2])",
    );
    const patterns = ["app:{t}:a", "app:{t}:b"];
    expect(effects.keys.map((k) => patternOf(k.origin, patterns))).toEqual([
      "app:{t}:a:etag",
      "app:{t}:b:*",
      undefined,
      "x*",
    ]);
  });
});
