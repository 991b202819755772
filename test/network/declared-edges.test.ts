import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseEdgePorts, parseEnd, parseLabels } from "../../src/model/kubernetes/declared-edges.js";
import { describeSelector, type Selector } from "../../src/model/kubernetes/selector.js";

const labels = (text: string): string => {
  const selector = parseLabels(text);
  return typeof selector === "string" ? `wrong: ${selector}` : describeSelector(selector);
};

describe("the ends of an edge", () => {
  it.each([
    ["data", { kind: "plane", role: "data" }],
    [" sentinel ", { kind: "plane", role: "sentinel" }],
    ["dns", { kind: "dns" }],
    ["StatefulSet/redis-data", { kind: "workload", namespace: undefined, ref: "StatefulSet/redis-data" }],
    ["namespace/shop/Deployment/web", { kind: "workload", namespace: "shop", ref: "Deployment/web" }],
    ["10.1.2.3/8", { kind: "addresses", range: { family: 4, start: 167772160, end: 184549376 } }],
    ["10.0.0.1", { kind: "addresses", range: { family: 4, start: 167772161, end: 167772162 } }],
  ])("%s", (text, expected) => expect(parseEnd(text)).toEqual(expected));

  it.each([
    ["all", undefined, "everything"],
    ["pods()", undefined, "everything"],
    ["pods(app=web)", undefined, "app=web"],
    ["pods(app=web, tier in (a, b),!old)", undefined, "app=web and tier in (a, b) and lacks old"],
    ["namespace/kube-system", "kube-system", "everything"],
    ["namespace/kube-system/pods(k8s-app=kube-dns)", "kube-system", "k8s-app=kube-dns"],
  ])("%s", (text, namespace, words) => {
    const end = parseEnd(text);
    expect(end).toMatchObject({ kind: "pods", namespace });
    expect(describeSelector((end as { pods: Selector }).pods)).toBe(words);
  });

  it("an IPv6 block", () =>
    expect(parseEnd("2001:db8::/32")).toMatchObject({ kind: "addresses", range: { family: 6 } }));

  it.each([
    "",
    "redis",
    "Data",
    "pods(app=web",
    "pods(=web)",
    "Secret/x",
    "StatefulSet/",
    "namespace/",
    "namespace/Shop",
    "10.0.0.0/33",
  ])("%j is none", (text) => expect(parseEnd(text)).toMatchObject({ kind: "wrong" }));

  it("labels in every notation of kubectl", () => {
    expect(labels("a==b")).toBe("a=b");
    expect(labels("a!=b")).toBe("a!=b");
    expect(labels("a.io/b notin (x,y)")).toBe("a.io/b not in (x, y)");
    expect(labels("a")).toBe("has a");
    expect(labels("a=,b")).toBe("a= and has b");
    expect(labels("a in (")).toMatch(/^wrong: "a in \("/);
    expect(labels("a b")).toMatch(/^wrong/);
  });

  it("never throw, on whatever text, and stay fast", () => {
    fc.assert(
      fc.property(
        fc.string(),
        (text) => void [parseEnd(text), parseEnd(`pods(${text})`), parseEnd(`namespace/${text}`)],
      ),
    );
    const started = performance.now();
    parseEnd(`pods(${"a in (".repeat(20_000)})`);
    parseEnd(`pods(${"a,".repeat(50_000)})`);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe("the ports of an edge", () => {
  const ports = (edge: object): string => {
    const read = parseEdgePorts({ from: "data", to: "data", ...edge });
    if (read.kind === "wrong") return `wrong ${read.field}: ${read.reason}`;
    return [read.fixed.toString(), ...read.named.map(({ name, protocol }) => `${protocol} ${name}`)].join(" + ");
  };
  it.each([
    [{}, "all connections"],
    [{ protocol: "UDP" }, "UDP any port"],
    [{ port: 53, protocol: ["UDP", "TCP"] }, "TCP 53, UDP 53"],
    [{ port: [6379, 6380] }, "TCP 6379-6380"],
    [{ port: "6379-6400" }, "TCP 6379-6400"],
    [{ port: "80, 443" }, "TCP 80,443"],
    [{ port: 6379, endPort: 6400 }, "TCP 6379-6400"],
    [{ port: "redis" }, "nothing + TCP redis"],
    [{ port: "redis,6380", protocol: "TCP" }, "TCP 6380 + TCP redis"],
    [{ port: "6400-6379" }, /wrong port/],
    [{ port: "70000" }, /wrong port/],
    [{ port: "re dis" }, /wrong port/],
    [{ endPort: 3 }, /wrong endPort/],
    [{ port: 5, endPort: 3 }, /wrong endPort/],
    [{ port: "5", endPort: 9 }, /wrong endPort/],
    [{ protocol: [] }, /wrong protocol/],
  ])("%j", (edge, expected) =>
    expect(ports(edge)).toMatch(
      expected instanceof RegExp ? expected : new RegExp(`^${expected.replace(/[+]/g, "\\+")}$`),
    ),
  );
});
