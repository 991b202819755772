/**
 * Every part of the golden contract's policies counts: each item removed, and each item opened, is reported. What changes
 * nothing in effect stays silent.
 */
import { describe, expect, it } from "vitest";
import { Document, parseAllDocuments } from "yaml";
import { rules } from "../../rules/index.js";
import { prepareParsers } from "../../src/cli/parsers.js";
import { check } from "../../src/contract/check.js";
import { memoryHost } from "../../src/contract/memory.js";
import type { Diagnostic } from "../../src/engine/diagnostic.js";
import { fixtureBase, TODAY } from "../support.js";

const FILE = "infra/redis-lab/k3s/network-policies.yaml";
const base = fixtureBase("redis-lab")!;
// biome-ignore lint/suspicious/noExplicitAny: documents of any shape are changed at will
type Any = any;
const original = parseAllDocuments(new TextDecoder().decode(base.get(FILE)!)).map((d) => d.toJS() as Any);

async function lint(change: (policies: Any[]) => void): Promise<readonly Diagnostic[]> {
  const policies = structuredClone(original);
  change(policies);
  const text = policies.map((p) => new Document(p).toString()).join("---\n");
  const changed = new Map(base).set(FILE, new TextEncoder().encode(text));
  const run = await check(memoryHost(changed), ["/tree"], {
    rules,
    today: TODAY,
    version: "0.0.0",
    prepare: prepareParsers,
    selected: (id) => /^(?:network|k8s)\//.test(id),
  });
  expect(run.faults).toEqual([]);
  expect(run.result.crashes.map((c) => c.error.stack)).toEqual([]);
  return run.result.diagnostics;
}

const ids = (found: readonly Diagnostic[]): string[] => [...new Set(found.map((d) => d.rule))].sort();

interface Change {
  readonly name: string;
  readonly apply: (policies: Any[]) => void;
}

/** Every rule of every policy, as a way to reach it in a copy. */
const parts = original.flatMap((policy, p) =>
  (["ingress", "egress"] as const).flatMap((direction) =>
    ((policy.spec[direction] ?? []) as Any[]).map((rule, r) => ({
      name: `${policy.metadata.name} ${direction}[${r}]`,
      peers: direction === "ingress" ? "from" : "to",
      rule,
      of: (policies: Any[]): Any => policies[p].spec[direction][r],
      list: (policies: Any[]): Any[] => policies[p].spec[direction],
      index: r,
    })),
  ),
);

const removals: Change[] = [
  ...original.map((policy, p) => ({
    name: `policy ${policy.metadata.name}`,
    apply: (all: Any[]) => void all.splice(p, 1),
  })),
  ...original.flatMap((policy, p) =>
    (policy.spec.policyTypes as string[])
      // a list that becomes empty means what it meant: both directions where there are egress rules
      .filter(() => policy.spec.policyTypes.length > 1)
      .map((type, t) => ({
        name: `${type} of ${policy.metadata.name}`,
        apply: (all: Any[]) => void all[p].spec.policyTypes.splice(t, 1),
      })),
  ),
  ...parts.map(({ name, list, index }) => ({ name, apply: (all: Any[]) => void list(all).splice(index, 1) })),
  ...parts
    .filter(({ rule, peers }) => rule[peers].length > 1)
    .flatMap(({ name, rule, peers, of }) =>
      (rule[peers] as Any[]).map((_, i) => ({
        name: `${name} ${peers}[${i}]`,
        apply: (all: Any[]) => void of(all)[peers].splice(i, 1),
      })),
    ),
  ...parts
    .filter(({ rule }) => rule.ports.length > 1)
    .flatMap(({ name, rule, of }) =>
      (rule.ports as Any[]).map((_, i) => ({
        name: `${name} ports[${i}]`,
        apply: (all: Any[]) => void of(all).ports.splice(i, 1),
      })),
    ),
  ...parts.flatMap(({ name, rule, of }) =>
    (rule.ports as Any[]).map((_, i) => ({
      name: `${name} ports[${i}] is another`,
      apply: (all: Any[]) => void (of(all).ports[i].port += 1),
    })),
  ),
  ...parts.flatMap(({ name, rule, peers, of }) =>
    (rule[peers] as Any[]).map((_, i) => ({
      name: `${name} ${peers}[${i}] misspelled`,
      apply: (all: Any[]) => {
        const labels = of(all)[peers][i].podSelector.matchLabels;
        for (const key of Object.keys(labels)) labels[key] = `${labels[key]}x`;
      },
    })),
  ),
];

const openings: Change[] = [
  ...parts.map(({ name, of }) => ({ name: `${name} without ports`, apply: (all: Any[]) => void delete of(all).ports })),
  ...parts.map(({ name, of }) => ({
    name: `${name} with empty ports`,
    apply: (all: Any[]) => void (of(all).ports = []),
  })),
  ...parts.map(({ name, peers, of }) => ({
    name: `${name} without ${peers}`,
    apply: (all: Any[]) => void delete of(all)[peers],
  })),
  ...parts.map(({ name, peers, of }) => ({
    name: `${name} with empty ${peers}`,
    apply: (all: Any[]) => void (of(all)[peers] = []),
  })),
  ...parts.flatMap(({ name, rule, peers, of }) =>
    (rule[peers] as Any[]).flatMap((peer, i) => [
      {
        name: `${name} ${peers}[${i}] with an empty podSelector`,
        apply: (all: Any[]) => void (of(all)[peers][i].podSelector = {}),
      },
      {
        name: `${name} ${peers}[${i}] in every namespace`,
        apply: (all: Any[]) => void (of(all)[peers][i].namespaceSelector = {}),
      },
      ...(peer.namespaceSelector === undefined
        ? []
        : [
            {
              name: `${name} ${peers}[${i}] without podSelector`,
              apply: (all: Any[]) => void delete of(all)[peers][i].podSelector,
            },
          ]),
    ]),
  ),
  ...["0.0.0.0/0", "::/0"].flatMap((cidr) =>
    parts.map(({ name, peers, of }) => ({
      name: `${name} and ${cidr}`,
      apply: (all: Any[]) => void of(all)[peers].push({ ipBlock: { cidr } }),
    })),
  ),
  ...original.flatMap((policy, p) =>
    (policy.spec.policyTypes as string[]).map((type) => ({
      name: `a rule for everyone in ${type} of ${policy.metadata.name}`,
      apply: (all: Any[]) => void ((all[p].spec[type.toLowerCase()] ??= []) as Any[]).push({}),
    })),
  ),
  {
    name: "a client of another namespace, both ways open to it",
    apply: (all) =>
      void all[2].spec.ingress[0].from.push({
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "apps" } },
        podSelector: { matchLabels: { app: "web" } },
      }),
  },
  {
    name: "a range of ports, on both sides",
    apply: (all) => {
      all[2].spec.ingress[0].ports[0].endPort = 6400;
      all[4].spec.egress[0].ports[0].endPort = 6400;
    },
  },
];

/** What adds no effective edge. */
const idle: Change[] = [
  {
    name: "a port that only the destination opens",
    apply: (all) => void all[2].spec.ingress[0].ports.push({ port: 6380 }),
  },
  { name: "a range that only the source opens", apply: (all) => void (all[4].spec.egress[0].ports[0].endPort = 6400) },
  {
    name: "a peer of the namespace that no pod is, and that could not reach out",
    apply: (all) => void all[2].spec.ingress[0].from.push({ podSelector: { matchLabels: { app: "nobody" } } }),
  },
  {
    name: "a rule that says again what another says",
    apply: (all) => void all[2].spec.ingress.push(structuredClone(all[2].spec.ingress[0])),
  },
  {
    name: "an allowance of one policy in another that selects the same pods",
    apply: (all) => void all[1].spec.egress.push(structuredClone(all[2].spec.egress[0])),
  },
  {
    name: "a policy for more pods, whose rules open nothing there",
    apply: (all) => void (all[4].spec.podSelector = {}),
  },
  { name: "the protocol left out", apply: (all) => void delete all[2].spec.ingress[0].ports[0].protocol },
  { name: "types left out that the rules imply", apply: (all) => void delete all[2].spec.policyTypes },
  {
    name: "the port by its name",
    apply: (all) => void (all[2].spec.ingress[0].ports[0].port = "redis"),
  },
  {
    name: "the same labels by an expression",
    apply: (all) =>
      void (all[2].spec.ingress[0].from[0].podSelector = {
        matchExpressions: [{ key: "app", operator: "In", values: ["redis-data"] }],
      }),
  },
  {
    name: "one policy for both: default-deny with the rule for DNS",
    apply: (all) => {
      all[0].spec.egress = all[1].spec.egress;
    },
  },
];

describe("the golden policies", () => {
  it("are silent as they are, also printed anew", async () => expect(await lint(() => {})).toEqual([]));

  it.each(removals)("removed: $name", async ({ apply }) => {
    expect(ids(await lint(apply))).not.toEqual([]);
  });

  it.each(openings)("opened: $name", async ({ apply }) => {
    expect(ids(await lint(apply)).filter((id) => id.startsWith("network/"))).not.toEqual([]);
  });

  it.each(idle)("without effect: $name", async ({ apply }) => {
    expect((await lint(apply)).map((d) => `${d.rule} ${d.message}`)).toEqual([]);
  });
});
