import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { didYouMean, editDistance, nearest, similar } from "../../src/text/similar.js";

const rules = ["acl/default-user", "acl/unknown-token", "k8s/pod-anti-affinity", "k8s/port-agreement", "k8s/resources"];

describe("editDistance", () => {
  it("counts insertions, deletions, replacements and swaps of neighbours", () => {
    expect(editDistance("", "abc")).toBe(3);
    expect(editDistance("kitten", "sitting")).toBe(3);
    expect(editDistance("namespace", "namepsace")).toBe(1);
    expect(editDistance("ab", "ba")).toBe(1);
  });

  it("stops at its limit", () => {
    expect(editDistance("aaaaaaaa", "bbbbbbbb", 2)).toBe(3);
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
    fc.assert(
      fc.property(word, word, fc.nat(8), (a, b, limit) => {
        const full = editDistance(a, b);
        expect(full).toBe(editDistance(b, a));
        expect(editDistance(a, b, limit)).toBe(Math.min(full, limit + 1));
      }),
      { numRuns: 500 },
    );
  });
});

describe("nearest", () => {
  it("finds a mistyped name", () => {
    expect(nearest("k8s/pod-antiafinity", rules)).toBe("k8s/pod-anti-affinity");
    expect(nearest("K8S/Resources", rules)).toBe("k8s/resources");
    expect(nearest("manifest", ["manifests", "namespace", "inventory"])).toBe("manifests");
    expect(nearest("contarcts", ["contracts", "rules", "ignore", "suppress", "version"])).toBe("contracts");
  });

  it("finds a rule whose pack is forgotten or mistaken", () => {
    expect(nearest("default-user", rules)).toBe("acl/default-user");
    expect(nearest("redis/default-user", rules)).toBe("acl/default-user");
    expect(nearest("resource", rules)).toBe("k8s/resources");
  });

  it("stays silent where a suggestion would be a guess", () => {
    expect(nearest("network", rules)).toBeUndefined();
    expect(nearest("tls", ["data", "dns", "all"])).toBeUndefined();
    expect(nearest("", rules)).toBeUndefined();
    expect(nearest("x".repeat(10_000), rules)).toBeUndefined();
    expect(nearest("ab", ["cd", "xy"])).toBeUndefined();
  });

  it("prefers the closest, then the first", () => {
    expect(similar("port", ["ports", "part", "port-name"])).toEqual(["ports", "part"]);
    expect(similar("edge", ["edges", "ledge"], 1)).toEqual(["edges"]);
  });

  it("makes the end of a message", () => {
    expect(didYouMean("aof", ["rdb", "aofs"])).toBe('; did you mean "aofs"?');
    expect(didYouMean("zzz", ["rdb"])).toBe("");
  });
});
