/** The engine against a plain evaluation of the Kubernetes text: pod by pod, port by port, address by address. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConnectionSet, PROTOCOLS, type Protocol } from "../../src/model/kubernetes/connections.js";
import {
  buildNetwork,
  type NetworkEdge,
  type NetworkEngine,
  type NetworkInput,
  type PodInfo,
} from "../../src/model/kubernetes/network.js";

// --- the brute force: deliberately naive, sharing nothing with the engine ---------------------------------------------

type Dict = Record<string, string>;
type Expression = { key: string; operator: string; values?: string[] };
type RawSelector = { matchLabels?: Dict; matchExpressions?: Expression[] };
type RawPeer = {
  podSelector?: RawSelector;
  namespaceSelector?: RawSelector;
  ipBlock?: { cidr: string; except?: string[] };
};
type RawPort = { protocol?: string; port?: number | string; endPort?: number };
type RawRule = { from?: RawPeer[]; to?: RawPeer[]; ports?: RawPort[] };
type RawSpec = { podSelector?: RawSelector; policyTypes?: string[]; ingress?: RawRule[]; egress?: RawRule[] };
type Address = { ip: string };

function selects(selector: RawSelector, labels: Dict): boolean {
  for (const [k, v] of Object.entries(selector.matchLabels ?? {})) if (labels[k] !== v) return false;
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const has = key in labels;
    const inside = has && values.includes(labels[key]!);
    const ok =
      operator === "In"
        ? inside
        : operator === "NotIn"
          ? !inside
          : operator === "Exists"
            ? has
            : operator === "DoesNotExist" && !has;
    if (!ok) return false;
  }
  return true;
}

function bits(ip: string): string {
  return ip
    .split(".")
    .map((octet) => Number(octet).toString(2).padStart(8, "0"))
    .join("");
}

function inCidr(ip: string, cidr: string): boolean {
  const [base, length] = cidr.split("/");
  return bits(ip).slice(0, Number(length)) === bits(base!).slice(0, Number(length));
}

function peerMatches(
  peer: RawPeer,
  policyNamespace: string,
  other: PodInfo | Address,
  namespaces: Map<string, Dict>,
): boolean {
  if ("ip" in other && !("id" in other)) {
    const block = peer.ipBlock;
    return (
      block !== undefined && inCidr(other.ip, block.cidr) && !(block.except ?? []).some((e) => inCidr(other.ip, e))
    );
  }
  if (peer.ipBlock !== undefined) return false;
  const pod = other as PodInfo;
  if (
    peer.namespaceSelector === undefined
      ? pod.namespace !== policyNamespace
      : !selects(peer.namespaceSelector, namespaces.get(pod.namespace)!)
  ) {
    return false;
  }
  return peer.podSelector === undefined || selects(peer.podSelector, pod.labels as Dict);
}

function portMatches(raw: RawPort, destination: PodInfo | Address, protocol: Protocol, port: number): boolean {
  if ((raw.protocol ?? "TCP") !== protocol) return false;
  if (raw.port === undefined) return true;
  if (typeof raw.port === "number") return port >= raw.port && port <= (raw.endPort ?? raw.port);
  if (!("id" in destination)) return false;
  return destination.ports.some((p) => p.name === raw.port && p.protocol === protocol && p.containerPort === port);
}

function sideAllows(
  input: NetworkInput,
  direction: "ingress" | "egress",
  pod: PodInfo | Address,
  other: PodInfo | Address,
  destination: PodInfo | Address,
  protocol: Protocol,
  port: number,
): boolean {
  if (!("id" in pod)) return true;
  const namespaces = new Map(input.namespaces.map(({ name, labels }) => [name, labels as Dict]));
  let isolated = false;
  for (const { namespace, spec } of input.policies) {
    const raw = spec as RawSpec;
    if (namespace !== pod.namespace || !selects(raw.podSelector ?? {}, pod.labels as Dict)) continue;
    const types = raw.policyTypes ?? (raw.egress?.length ? ["Ingress", "Egress"] : ["Ingress"]);
    if (!types.includes(direction === "ingress" ? "Ingress" : "Egress")) continue;
    isolated = true;
    for (const rule of raw[direction] ?? []) {
      const peers = (direction === "ingress" ? rule.from : rule.to) ?? [];
      const ports = rule.ports ?? [];
      if (peers.length > 0 && !peers.some((peer) => peerMatches(peer, namespace, other, namespaces))) continue;
      if (ports.length > 0 && !ports.some((p) => portMatches(p, destination, protocol, port))) continue;
      return true;
    }
  }
  return !isolated;
}

function bruteForce(
  input: NetworkInput,
  from: PodInfo | Address,
  to: PodInfo | Address,
  protocol: Protocol,
  port: number,
): boolean {
  return (
    sideAllows(input, "egress", from, to, to, protocol, port) &&
    sideAllows(input, "ingress", to, from, to, protocol, port)
  );
}

// --- random clusters ---------------------------------------------------------------------------------------------------

const KEYS = ["app", "tier", "x"];
const VALUES = ["a", "b", "c"];
const NAMES = ["web", "db"];
const PORTS = [1, 79, 80, 81, 443, 6379, 65535];
const CIDRS = [
  "0.0.0.0/0",
  "10.0.0.0/8",
  "10.0.0.0/9",
  "10.128.0.0/9",
  "10.1.0.0/16",
  "192.168.7.0/24",
  "10.1.2.3/32",
  "128.0.0.0/1",
];
const ADDRESSES = [
  "0.0.0.0",
  "9.255.255.255",
  "10.0.0.0",
  "10.1.2.2",
  "10.1.2.3",
  "10.1.2.4",
  "10.127.255.255",
  "10.200.0.1",
  "11.0.0.0",
  "192.168.7.9",
  "255.255.255.255",
];

const labels = fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES), {
  maxKeys: 3,
  noNullPrototype: true,
});
const expression: fc.Arbitrary<Expression> = fc.oneof(
  fc.record({
    key: fc.constantFrom(...KEYS),
    operator: fc.constantFrom("In", "NotIn"),
    values: fc.uniqueArray(fc.constantFrom(...VALUES), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ key: fc.constantFrom(...KEYS), operator: fc.constantFrom("Exists", "DoesNotExist") }),
);
const selector: fc.Arbitrary<RawSelector> = fc.record(
  {
    matchLabels: fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES), {
      maxKeys: 1,
      noNullPrototype: true,
    }),
    matchExpressions: fc.array(expression, { maxLength: 1 }),
  },
  { requiredKeys: [] },
);
function inside(cidr: string): string[] {
  const length = (text: string): number => Number(text.split("/")[1]);
  return CIDRS.filter((one) => inCidr(one.split("/")[0]!, cidr) && length(one) > length(cidr));
}

const block = fc
  .constantFrom(...CIDRS)
  .chain((cidr) =>
    fc.record({ cidr: fc.constant(cidr), except: fc.subarray(inside(cidr)) }, { requiredKeys: ["cidr"] }),
  );
const peer: fc.Arbitrary<RawPeer> = fc.oneof(
  fc.record({ podSelector: selector }),
  fc.record({ namespaceSelector: selector }),
  fc.record({ podSelector: selector, namespaceSelector: selector }),
  fc.record({ ipBlock: block }),
);
const port: fc.Arbitrary<RawPort> = fc
  .record(
    {
      protocol: fc.constantFrom(...PROTOCOLS),
      port: fc.oneof(fc.constantFrom<number | string>(...PORTS), fc.constantFrom<number | string>(...NAMES)),
      endPort: fc.constantFrom(81, 443, 6380, 65535),
    },
    { requiredKeys: [] },
  )
  .map((p) => {
    const { endPort, ...rest } = p;
    return typeof rest.port === "number" && endPort !== undefined && endPort >= rest.port ? { ...rest, endPort } : rest;
  });
const rule = (key: "from" | "to"): fc.Arbitrary<RawRule> =>
  fc.record({ [key]: fc.array(peer, { maxLength: 3 }), ports: fc.array(port, { maxLength: 2 }) }, { requiredKeys: [] });
const spec: fc.Arbitrary<RawSpec> = fc.record(
  {
    podSelector: selector,
    policyTypes: fc.constantFrom(["Ingress"], ["Egress"], ["Ingress", "Egress"]),
    ingress: fc.array(rule("from"), { maxLength: 2 }),
    egress: fc.array(rule("to"), { maxLength: 2 }),
  },
  { requiredKeys: ["podSelector"] },
);
const cluster: fc.Arbitrary<NetworkInput> = fc.record({
  pods: fc
    .array(
      fc.record({
        namespace: fc.constantFrom("one", "two"),
        owner: fc.nat(4),
        labels,
        ports: fc.array(
          fc.record({
            name: fc.constantFrom(...NAMES),
            containerPort: fc.constantFrom(80, 443, 6379),
            protocol: fc.constantFrom<string>(...PROTOCOLS),
          }),
          { maxLength: 2 },
        ),
      }),
      { minLength: 1, maxLength: 6 },
    )
    .map((list) =>
      list.map(
        ({ namespace, owner, labels: own, ports }, i): PodInfo => ({
          id: `${namespace}/p${i}[Pod]`,
          owner: `${namespace}/w${owner}[ReplicaSet]`,
          namespace,
          labels: own,
          hostNetwork: false,
          ports,
        }),
      ),
    ),
  namespaces: fc.tuple(labels, labels).map(([a, b]) => [
    { name: "one", labels: { ...a, "kubernetes.io/metadata.name": "one" } },
    { name: "two", labels: { ...b, "kubernetes.io/metadata.name": "two" } },
  ]),
  policies: fc
    .array(fc.record({ namespace: fc.constantFrom("one", "two"), spec }), { maxLength: 4 })
    .map((list) => list.map(({ namespace, spec: raw }, i) => ({ namespace, name: `np${i}`, spec: raw }))),
});

function eachQuestion(visit: (protocol: Protocol, at: number) => void): void {
  for (const protocol of PROTOCOLS) for (const at of [...PORTS, 444, 6380]) visit(protocol, at);
}

/** A plain comparison: an `expect` for each of a million questions would take minutes. */
function same(engine: boolean, expected: boolean, ...question: unknown[]): void {
  if (engine !== expected) throw new Error(`engine says ${engine}, brute force ${expected}: ${question.join(" ")}`);
}

function edgeOf(edges: readonly NetworkEdge[], from: string, to: string): ConnectionSet {
  const found = edges.filter((edge) => edge.from === from && edge.to === to);
  expect(found.length).toBeLessThanOrEqual(1);
  return ConnectionSet.from(found[0]?.connections ?? []);
}

function rangeAt(nodes: NetworkEngine["externalSources"], ip: string): string {
  const value = Number.parseInt(bits(ip), 2);
  const found = nodes.filter(({ range }) => range.family === 4 && range.start <= value && value < range.end);
  expect(found).toHaveLength(1);
  return found[0]!.id;
}

describe("the engine equals a brute-force reading of the policies", () => {
  it("between workloads, and with sample addresses outside", { timeout: 240_000 }, () => {
    fc.assert(
      fc.property(cluster, (input) => {
        const engine = buildNetwork(input);
        const edges = engine.edges({ self: true });
        for (const from of engine.workloads) {
          for (const to of engine.workloads) {
            const set = edgeOf(edges, from.id, to.id);
            eachQuestion((protocol, at) => {
              const expected = from.pods.some((a) =>
                to.pods.some((b) => a !== b && bruteForce(input, a, b, protocol, at)),
              );
              same(set.has(protocol, at), expected, from.id, to.id, protocol, at);
            });
            if (from !== to || from.pods.length > 1) expect(engine.allowed(from.id, to.id).equals(set)).toBe(true);
          }
        }
        for (const { id, pods } of engine.workloads) {
          for (const ip of ADDRESSES) {
            const incoming = edgeOf(edges, rangeAt(engine.externalSources, ip), id);
            const outgoing = edgeOf(edges, id, rangeAt(engine.externalDestinations, ip));
            expect(engine.allowed(ip, id).equals(incoming)).toBe(true);
            expect(engine.allowed(id, ip).equals(outgoing)).toBe(true);
            eachQuestion((protocol, at) => {
              const into = pods.some((p) => bruteForce(input, { ip }, p, protocol, at));
              const out = pods.some((p) => bruteForce(input, p, { ip }, protocol, at));
              same(incoming.has(protocol, at), into, ip, id, protocol, at);
              same(outgoing.has(protocol, at), out, id, ip, protocol, at);
            });
          }
        }
      }),
      { numRuns: 400, seed: 6379 },
    );
  });

  it("in its explanations, rule by rule", { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(cluster, fc.constantFrom(...PROTOCOLS), fc.constantFrom(...PORTS), (input, protocol, at) => {
        const engine = buildNetwork(input);
        for (const from of engine.workloads) {
          for (const to of engine.workloads) {
            const why = engine.explain(from.id, to.id, protocol, at);
            const set = engine.allowed(from.id, to.id);
            expect(why.allowed).toBe(set.has(protocol, at));
            if (from === to && from.pods.length === 1) continue;
            for (const side of [why.egress, why.ingress]) {
              expect(side.allowed).toBe(side.isolating.length === 0 || side.allowing.length > 0);
            }
            expect(why.allowed).toBe(why.egress.allowed && why.ingress.allowed);
          }
          for (const ip of ADDRESSES) {
            expect(engine.explain(from.id, ip, protocol, at).allowed).toBe(
              engine.allowed(from.id, ip).has(protocol, at),
            );
            expect(engine.explain(ip, from.id, protocol, at).allowed).toBe(
              engine.allowed(ip, from.id).has(protocol, at),
            );
          }
        }
      }),
      { numRuns: 200, seed: 26379 },
    );
  });

  it("in what a rule contributes: exactly what is gone without it", { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(cluster, (input) => {
        const engine = buildNetwork(input);
        for (const policy of engine.policies) {
          for (const direction of ["ingress", "egress"] as const) {
            if (!policy.affects[direction]) continue;
            for (const { index } of policy[direction]) {
              const effects = engine.contributions(policy, direction, index);
              const without = buildNetwork({
                pods: input.pods,
                namespaces: input.namespaces,
                policies: input.policies.map((info) => {
                  if (info !== policy.info) return info;
                  const raw = info.spec as RawSpec;
                  const rules = raw[direction]!.map((r, i) =>
                    i === index ? { [direction === "ingress" ? "from" : "to"]: [{}] } : r,
                  );
                  // A rule that nobody matches keeps the addresses cut and the policy isolating as before.
                  const types = policy.affects.egress
                    ? policy.affects.ingress
                      ? ["Ingress", "Egress"]
                      : ["Egress"]
                    : ["Ingress"];
                  return { ...info, spec: { ...raw, [direction]: rules, policyTypes: types } };
                }),
              });
              const gone = new Map<string, string>();
              for (const edge of engine.edges({ self: true })) {
                const lost = ConnectionSet.from(edge.connections).subtract(without.allowed(edge.from, edge.to));
                if (!lost.isEmpty) gone.set(`${edge.from} ${edge.to}`, lost.toString());
              }
              const alone = effects
                .filter((effect) => !effect.alone.isEmpty)
                .map((effect) => [`${effect.from} ${effect.to}`, effect.alone.toString()] as const);
              expect(new Map(alone)).toEqual(gone);
              for (const effect of effects)
                expect(engine.allowed(effect.from, effect.to).covers(effect.connections)).toBe(true);
            }
          }
        }
      }),
      { numRuns: 200, seed: 53 },
    );
  });
});
