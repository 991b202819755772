import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { describeConnections } from "../../src/model/kubernetes/connections.js";
import { buildNetwork, type NetworkEngine, type NetworkInput } from "../../src/model/kubernetes/network.js";
import { networkInputFromObjects, type PolicyHandle } from "../../src/model/kubernetes/network-input.js";
import { parsePolicy } from "../../src/model/kubernetes/network-policy.js";
import { isStandIn, knownEdges, peerNamespaces, withStandIns } from "../../src/model/kubernetes/network-standin.js";

function objects(yaml: string): { value: unknown }[] {
  return parseAllDocuments(yaml).map((document) => ({ value: document.toJS() as unknown }));
}

function input(yaml: string): NetworkInput {
  return networkInputFromObjects(objects(yaml));
}

function network(yaml: string): NetworkEngine {
  return buildNetwork(input(yaml));
}

function lines(engine: NetworkEngine, options?: { self?: boolean }): string[] {
  return engine
    .edges(options)
    .map(({ from, to, connections }) => `${from} > ${to}: ${describeConnections(connections)}`);
}

const pod = (name: string, labels = `app: ${name}`, spec = "{}", namespace = "default"): string =>
  `---\napiVersion: v1\nkind: Pod\nmetadata: { name: ${name}, namespace: ${namespace}, labels: { ${labels} } }\nspec: ${spec}\n`;
const policy = (spec: string, name = "np", namespace = "default"): string =>
  `---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: { name: ${name}, namespace: ${namespace} }\nspec: ${spec}\n`;
const ANY = "0.0.0.0-255.255.255.255[External]";
const port = (name: string, number: number, protocol = "TCP"): string =>
  `{ containers: [{ name: c, ports: [{ name: ${name}, containerPort: ${number}, protocol: ${protocol} }] }] }`;

describe("isolation", () => {
  it("a pod that no policy selects talks with everybody", () => {
    expect(lines(network(pod("a") + pod("b")))).toEqual([
      `${ANY} > default/a[Pod]: all connections`,
      `${ANY} > default/b[Pod]: all connections`,
      `default/a[Pod] > ${ANY}: all connections`,
      "default/a[Pod] > default/b[Pod]: all connections",
      `default/b[Pod] > ${ANY}: all connections`,
      "default/b[Pod] > default/a[Pod]: all connections",
    ]);
  });

  it.each([
    ["absent", "{ podSelector: {} }", true, false],
    ["empty", "{ podSelector: {}, policyTypes: [] }", true, false],
    ["absent, with an egress rule", "{ podSelector: {}, egress: [{}] }", true, true],
    ["absent, with an empty egress list", "{ podSelector: {}, egress: [] }", true, false],
    ["Egress only", "{ podSelector: {}, policyTypes: [Egress], ingress: [{}] }", false, true],
    ["both", "{ podSelector: {}, policyTypes: [Ingress, Egress] }", true, true],
    ["spelled wrong", "{ podSelector: {}, policyTypes: [ingress] }", false, false],
    ["no spec at all", "", true, false],
  ])("policyTypes %s", (_, spec, ingress, egress) => {
    const engine = network(pod("a") + policy(spec));
    expect([engine.isolating("a", "ingress").length > 0, engine.isolating("a", "egress").length > 0]).toEqual([
      ingress,
      egress,
    ]);
  });

  it("holds in its own namespace only, and an absent podSelector is the empty one", () => {
    const engine = network(pod("a") + pod("b", "app: b", "{}", "other") + policy("{ policyTypes: [Ingress] }"));
    expect(engine.isolating("default/a[Pod]", "ingress").map(({ id }) => id)).toEqual(["default/np"]);
    expect(engine.isolating("other/b[Pod]", "ingress")).toEqual([]);
    expect(engine.selects(engine.policies[0]!)).toEqual(["default/a[Pod]"]);
  });

  it("policies add up, and both sides must agree", () => {
    const engine = network(
      pod("a") +
        pod("b") +
        policy("{ podSelector: { matchLabels: { app: b } }, ingress: [{ ports: [{ port: 80 }] }] }", "one") +
        policy("{ podSelector: {}, policyTypes: [Ingress], ingress: [{ ports: [{ port: 443 }] }] }", "two") +
        policy(
          "{ podSelector: { matchLabels: { app: a } }, policyTypes: [Egress], egress: [{ ports: [{ port: 443, endPort: 500 }] }] }",
          "three",
        ),
    );
    expect(engine.allowed("a", "b").toString()).toBe("TCP 443");
    expect(engine.allowed("b", "a").toString()).toBe("TCP 443");
    expect(engine.allowed("1.2.3.4", "b").toString()).toBe("TCP 80,443");
    expect(engine.allowed("a", "1.2.3.4").toString()).toBe("TCP 443-500");
  });
});

describe("peers", () => {
  const cluster =
    "---\nkind: Namespace\nmetadata: { name: two, labels: { team: x } }\n" +
    pod("dst") +
    pod("a") +
    pod("b") +
    pod("a2", "app: a", "{}", "two") +
    pod("b2", "app: b", "{}", "two");
  const sources = (from: string): string[] =>
    network(cluster + policy(`{ podSelector: { matchLabels: { app: dst } }, ingress: [{ from: ${from} }] }`))
      .edges()
      .filter((edge) => edge.to === "default/dst[Pod]")
      .map((edge) => edge.from.replace("[Pod]", ""));

  it.each([
    ["[]", [ANY, "default/a", "default/b", "two/a2", "two/b2"]],
    ["null", [ANY, "default/a", "default/b", "two/a2", "two/b2"]],
    ["[{ podSelector: {} }]", ["default/a", "default/b"]],
    ["[{ podSelector: { matchLabels: { app: a } } }]", ["default/a"]],
    ["[{ namespaceSelector: {} }]", ["default/a", "default/b", "two/a2", "two/b2"]],
    ["[{ namespaceSelector: { matchLabels: { team: x } } }]", ["two/a2", "two/b2"]],
    ["[{ namespaceSelector: { matchLabels: { team: x } }, podSelector: { matchLabels: { app: a } } }]", ["two/a2"]],
    [
      "[{ namespaceSelector: { matchLabels: { team: x } } }, { podSelector: { matchLabels: { app: a } } }]",
      ["default/a", "two/a2", "two/b2"],
    ],
    [
      "[{ namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: two } }, podSelector: null }]",
      ["two/a2", "two/b2"],
    ],
    [
      "[{ namespaceSelector: { matchExpressions: [{ key: team, operator: DoesNotExist }] } }]",
      ["default/a", "default/b"],
    ],
    ["[{}]", []],
    ["[{ podSelector: {}, ipBlock: { cidr: 0.0.0.0/0 } }]", []],
    ["[{ podSelector: { matchExpressions: [{ key: app, operator: Like, values: [a] }] } }]", []],
    ["[{ ipBlock: { cidr: 0.0.0.0/0 } }]", [ANY]],
    ["[{ ipBlock: { cidr: nonsense } }]", []],
  ])("from: %s", (from, expected) => {
    expect(sources(from)).toEqual(expected);
  });

  it("the name label of a namespace cannot be overridden", () => {
    const yaml = `---\nkind: Namespace\nmetadata: { name: two, labels: { kubernetes.io/metadata.name: one } }\n${pod("x", "app: x", "{}", "two")}${pod("dst")}`;
    const rule =
      "{ podSelector: {}, ingress: [{ from: [{ namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: two } } }] }] }";
    expect(network(yaml + policy(rule)).allowed("x", "dst").isAll).toBe(true);
  });
});

describe("ports", () => {
  const to = (ports: string, spec: string): string =>
    network(
      pod("src") +
        pod("dst", "app: dst", spec) +
        policy(`{ podSelector: { matchLabels: { app: dst } }, ingress: [{ ports: ${ports} }] }`),
    )
      .allowed("src", "dst")
      .toString();

  it.each([
    ["[]", "all connections"],
    ["null", "all connections"],
    ["[{}]", "TCP any port"],
    ["[{ protocol: UDP }]", "UDP any port"],
    ["[{ port: 80 }, { port: 81 }, { port: 53, protocol: UDP }]", "TCP 80-81, UDP 53"],
    ["[{ port: 80, endPort: 90 }]", "TCP 80-90"],
    ["[{ protocol: SCTP, port: 1, endPort: 65535 }, { protocol: TCP }, { protocol: UDP }]", "all connections"],
    ["[{ port: web }]", "TCP 8080"],
    ["[{ port: web, protocol: UDP }]", "nothing"],
    ["[{ port: other }]", "nothing"],
    ["[{ port: 90, endPort: 80 }]", "nothing"],
    ["[{ port: web, endPort: 90 }]", "nothing"],
    ["[{ endPort: 90 }]", "nothing"],
    ["[{ port: 0 }]", "nothing"],
    ["[{ port: 65536 }]", "nothing"],
    ["[{ port: 80.5 }]", "nothing"],
    ['[{ port: "80" }]', "nothing"],
    ["[{ port: 80, protocol: ICMP }]", "nothing"],
    ["[80]", "nothing"],
    ["80", "nothing"],
  ])("%s", (ports, expected) => {
    expect(to(ports, port("web", 8080))).toBe(expected);
  });

  it("named ports are looked up in each destination, sidecars included", () => {
    const sidecar =
      "{ initContainers: [{ restartPolicy: Always, ports: [{ name: web, containerPort: 9 }] }, { ports: [{ name: web, containerPort: 10 }] }] }";
    const engine = network(
      pod("src") +
        pod("x", "app: x", port("web", 1000)) +
        pod("y", "app: y", port("web", 2000)) +
        pod("z", "app: z", sidecar) +
        policy(
          "{ podSelector: { matchLabels: { app: src } }, policyTypes: [Egress], egress: [{ ports: [{ port: web }] }] }",
        ),
    );
    expect(["x", "y", "z"].map((to) => engine.allowed("src", to).toString())).toEqual([
      "TCP 1000",
      "TCP 2000",
      "TCP 9",
    ]);
    expect(engine.allowed("src", "1.2.3.4").isEmpty).toBe(true);
  });
});

describe("addresses outside", () => {
  it("are cut where ipBlocks begin and end, by direction", () => {
    const engine = network(
      pod("a") +
        policy(
          "{ podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: 10.0.0.0/8, except: [10.1.0.0/16, 10.0.0.0/16] } }], ports: [{ port: 80 }] }] }",
        ),
    );
    expect(lines(engine)).toEqual([
      "10.2.0.0-10.255.255.255[External] > default/a[Pod]: TCP 80",
      `default/a[Pod] > ${ANY}: all connections`,
    ]);
    expect(engine.externalSources.map(({ id }) => id)).toEqual([
      "0.0.0.0-10.1.255.255[External]",
      "10.2.0.0-10.255.255.255[External]",
      "11.0.0.0-255.255.255.255[External]",
    ]);
    expect(engine.externalDestinations.map(({ id }) => id)).toEqual([ANY]);
    expect(engine.allowed("10.0.0.0/8", "a").toString()).toBe("TCP 80");
    expect(engine.allowed("10.0.0.0/15", "a").toString()).toBe("nothing");
    expect(engine.allowed("10.200.0.1", "a").toString()).toBe("TCP 80");
  });

  it("IPv6 is in the picture once a policy names it, and right even before", () => {
    const v4 = network(
      pod("a") + policy("{ podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: 0.0.0.0/0 } }] }] }"),
    );
    expect(v4.allowed("::1", "a").isEmpty).toBe(true);
    expect(v4.allowed("a", "::1").isAll).toBe(true);
    expect(v4.externalSources).toHaveLength(1);
    const v6 = network(
      pod("a") +
        policy(
          '{ podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "2001:db8::/32", except: ["2001:db8::/33"] } }] }] }',
        ),
    );
    expect(lines(v6)).toEqual([
      "2001:db8:8000::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff[External] > default/a[Pod]: all connections",
      `default/a[Pod] > ${ANY}: all connections`,
      "default/a[Pod] > ::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff[External]: all connections",
    ]);
    expect(v6.allowed("2001:db8::1", "a").isEmpty).toBe(true);
    expect(v6.allowed("2001:db8:ffff::1", "a").isAll).toBe(true);
  });

  it("never count for pods, but an explanation says where they might", () => {
    const egress = (spec: string): NetworkEngine =>
      network(`${pod("a") + pod("b")}  status: { podIP: 10.0.0.7 }\n`.replace("  status", "status") + policy(spec));
    const open =
      "{ podSelector: { matchLabels: { app: a } }, policyTypes: [Egress], egress: [{ to: [{ ipBlock: { cidr: CIDR } }] }] }";
    const inside = egress(open.replace("CIDR", "10.0.0.0/8"));
    expect(inside.allowed("a", "b").isEmpty).toBe(true);
    const why = inside.explain("a", "b", "TCP", 80);
    expect([why.allowed, why.undecided, why.egress.byAddress.length]).toEqual([false, true, 1]);
    const elsewhere = egress(open.replace("CIDR", "192.168.0.0/16")).explain("a", "b", "TCP", 80);
    expect([elsewhere.allowed, elsewhere.undecided]).toEqual([false, false]);
  });
});

describe("pods on the host network", () => {
  const yaml =
    pod("host", "app: host", "{ hostNetwork: true }") +
    pod("a") +
    policy(
      "{ podSelector: {}, policyTypes: [Ingress], ingress: [{ from: [{ podSelector: { matchLabels: { app: host } } }] }] }",
    );

  it("are judged like others, with a note, or taken out", () => {
    const engine = network(yaml);
    expect(engine.allowed("a", "host").isEmpty).toBe(true);
    expect(engine.allowed("host", "a").isAll).toBe(true);
    expect(engine.explain("a", "host").notes[0]).toMatch(/host network/);
    const exempt = buildNetwork(input(yaml), { hostNetwork: "exempt" });
    expect(exempt.allowed("a", "host").isAll).toBe(true);
    expect(exempt.allowed("host", "a").isEmpty).toBe(true);
    expect(exempt.explain("host", "a").allowed).toBe(false);
  });
});

describe("a workload and itself", () => {
  const set = (replicas: string): string =>
    `---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: { name: s }\nspec: { ${replicas} template: { metadata: { labels: { app: s } } } }\n`;
  const deny = policy(
    "{ podSelector: {}, policyTypes: [Ingress], ingress: [{ ports: [{ port: 6379 }], from: [{ podSelector: { matchLabels: { app: s } } }] }] }",
  );
  const own = "default/s[StatefulSet] > default/s[StatefulSet]: TCP 6379";

  it("has an edge between different pods, on demand", () => {
    expect(lines(network(set("replicas: 3,") + deny))).not.toContain(own);
    expect(lines(network(set("replicas: 3,") + deny), { self: true })).toContain(own);
    expect(lines(network(set("replicas: 300,") + deny), { self: true })).toContain(own);
    expect(lines(network(set('replicas: "__N__",') + deny), { self: true })).toContain(own);
    expect(lines(network(set("replicas: 1,") + deny), { self: true })).not.toContain(own);
    expect(
      network(set("replicas: 3,") + deny)
        .allowed("s", "s")
        .toString(),
    ).toBe("TCP 6379");
  });

  it("one pod always reaches itself", () => {
    const engine = network(set("") + policy("{ podSelector: {} }"));
    expect(engine.allowed("s", "s").isAll).toBe(true);
    const why = engine.explain("s", "s", "TCP", 1);
    expect([why.allowed, why.notes]).toEqual([true, ["a pod always reaches itself"]]);
  });

  it("a policy can select a single pod of a StatefulSet", () => {
    const engine = network(
      set("replicas: 2,") +
        pod("a") +
        policy(
          "{ podSelector: { matchLabels: { statefulset.kubernetes.io/pod-name: s-0 } }, policyTypes: [Ingress] }",
          "zero",
        ),
    );
    expect(engine.isolating("s", "ingress")).toHaveLength(1);
    expect(engine.allowed("a", "s").isAll).toBe(true);
    expect(engine.explain("a", "s", "TCP", 1).notes).toContain("holds for some pods of the workload only");
  });
});

describe("raw objects", () => {
  it("every workload kind is one node; foreign kinds and groups are none", () => {
    const template = "{ metadata: { labels: { app: x } }, spec: { containers: [] } }";
    const kinds = [
      ["apps/v1", "Deployment"],
      ["apps/v1", "StatefulSet"],
      ["apps/v1", "DaemonSet"],
      ["apps/v1", "ReplicaSet"],
      ["v1", "ReplicationController"],
      ["batch/v1", "Job"],
      ["extensions/v1beta1", "Deployment"],
    ];
    const yaml = kinds
      .map(
        ([v, k], i) =>
          `---\napiVersion: ${v}\nkind: ${k}\nmetadata: { name: w${i}, namespace: n }\nspec: { template: ${template} }\n`,
      )
      .join("");
    const cron = `---\napiVersion: batch/v1\nkind: CronJob\nmetadata: { name: c }\nspec: { jobTemplate: { spec: { template: ${template} } } }\n`;
    const foreign = `---\napiVersion: serving.example/v1\nkind: Deployment\nmetadata: { name: f }\n---\napiVersion: v1\nkind: Service\nmetadata: { name: s }\n---\njust text\n--- 5\n---\n[1]\n`;
    const ids = network(yaml + cron + foreign + pod("p")).workloads.map(({ id }) => id);
    expect(ids).toEqual(["default/c[CronJob]", "default/p[Pod]", ...kinds.map(([, k], i) => `n/w${i}[${k}]`)]);
  });

  it("pods gather under their top-level owner", () => {
    const owned = (name: string, kind: string, owner: string, ownerKind: string): string =>
      `---\napiVersion: ${kind === "Pod" ? "v1" : "apps/v1"}\nkind: ${kind}\nmetadata: { name: ${name}, ownerReferences: [{ name: other, kind: X }, { name: ${owner}, kind: ${ownerKind}, controller: true }] }\n`;
    const engine = network(
      "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: { name: d }\n" +
        owned("d-1", "ReplicaSet", "d", "Deployment") +
        owned("d-1-a", "Pod", "d-1", "ReplicaSet") +
        owned("e-1-a", "Pod", "e-1", "ReplicaSet") +
        owned("e-1-b", "Pod", "e-1", "ReplicaSet") +
        owned("etcd", "Pod", "node-1", "Node") +
        owned("l-1", "ReplicaSet", "l-2", "ReplicaSet") +
        owned("l-2", "ReplicaSet", "l-1", "ReplicaSet"),
    );
    expect(engine.workloads.map(({ id, pods }) => `${id} ${pods.length}`)).toEqual([
      "default/d[Deployment] 3",
      "default/e-1[ReplicaSet] 2",
      "default/etcd[Pod] 1",
      "default/l-1[ReplicaSet] 1",
      "default/l-2[ReplicaSet] 1",
    ]);
  });

  it("opens Lists, typed and nested, and remembers where a policy stood", () => {
    const found = input(
      `kind: List\nitems:\n- kind: PodList\n  apiVersion: v1\n  items: [{ metadata: { name: p } }]\n- apiVersion: networking.k8s.io/v1\n  kind: NetworkPolicyList\n  items: [{ metadata: { name: np }, spec: {} }]\n- { apiVersion: apps/v1, kind: Deployment, metadata: { name: d } }\n`,
    );
    expect(found.pods.map(({ owner }) => owner)).toEqual(["default/p[Pod]", "default/d[Deployment]"]);
    expect((found.policies[0]!.handle as PolicyHandle).path).toEqual(["items", 1, "items", 0]);
    const same = { kind: "List", items: [] as unknown[] };
    same.items.push(same, same, { kind: "Pod", metadata: { name: "p" } });
    expect(networkInputFromObjects([{ value: same }]).pods).toHaveLength(1);
  });

  it("a Calico NetworkPolicy is not read as one of Kubernetes", () => {
    const yaml = `${pod("a")}---\napiVersion: crd.projectcalico.org/v1\nkind: NetworkPolicy\nmetadata: { name: c }\nspec: { selector: all() }\n`;
    expect(input(yaml).policies).toEqual([]);
  });

  it("Job pods carry the label that their controller sets", () => {
    const job =
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: { name: j }\nspec: { template: { metadata: { labels: { a: b } } } }\n";
    const engine = network(job + policy("{ podSelector: { matchLabels: { job-name: j } } }"));
    expect(engine.isolating("j", "ingress")).toHaveLength(1);
  });
});

describe("questions about rules", () => {
  const lab =
    pod("data") +
    pod("sentinel") +
    pod("app") +
    policy("{ podSelector: {}, policyTypes: [Ingress, Egress] }", "deny") +
    policy(
      "{ podSelector: { matchLabels: { app: data } }, ingress: [{ from: [{ podSelector: { matchLabels: { app: sentinel } } }], ports: [{ port: 6379 }] }, { from: [{ podSelector: {} }], ports: [{ port: 6379 }] }] }",
      "data",
    ) +
    policy(
      "{ podSelector: { matchLabels: { app: sentinel } }, policyTypes: [Egress], egress: [{ to: [{ podSelector: { matchLabels: { app: data } } }], ports: [{ port: 6379 }, { port: 80 }] }, { to: [{ podSelector: { matchLabels: { app: nobody } } }] }] }",
      "sentinel",
    );
  const engine = network(lab);
  const [, data, sentinel] = engine.policies;

  it("explains what allows, item by item", () => {
    const why = engine.explain("sentinel", "data", "TCP", 6379);
    expect(why.allowed).toBe(true);
    expect(
      why.egress.allowing.map(({ policy: p, rule, peers, ports, path }) => [p.id, rule, peers, ports, path]),
    ).toEqual([["default/sentinel", 0, [0], [0], ["spec", "egress", 0]]]);
    expect(why.ingress.allowing.map(({ rule }) => rule)).toEqual([0, 1]);
    expect(why.ingress.isolating.map(({ id }) => id)).toEqual(["default/deny", "default/data"]);
  });

  it("explains what denies, and what nearly allows", () => {
    const wrongPort = engine.explain("sentinel", "data", "TCP", 80);
    expect([wrongPort.allowed, wrongPort.egress.allowed, wrongPort.ingress.allowed]).toEqual([false, true, false]);
    expect(wrongPort.ingress.near.map(({ rule, lacks }) => [rule, lacks])).toEqual([
      [0, "port"],
      [1, "port"],
    ]);
    const wrongPeer = engine.explain("app", "data", "TCP", 6379);
    expect([wrongPeer.egress.allowed, wrongPeer.egress.near, wrongPeer.ingress.allowed]).toEqual([false, [], true]);
    expect(wrongPeer.ingress.near.map(({ rule, lacks }) => [rule, lacks])).toEqual([[0, "peer"]]);
    expect(wrongPeer.undecided).toBe(false);
    expect(() => engine.explain("nobody", "data")).toThrow(RangeError);
    expect(() => engine.allowed("1.1.1.1", "2.2.2.2")).toThrow(RangeError);
  });

  it("tells what a rule opens, and what only it opens", () => {
    const effect = (...args: Parameters<NetworkEngine["contributions"]>): string[] =>
      engine
        .contributions(...args)
        .map(({ from, to, connections, alone }) => `${from} > ${to}: ${connections} (${alone})`);
    const edge = "default/sentinel[Pod] > default/data[Pod]: TCP 6379";
    expect(effect(data!, "ingress", 0)).toEqual([`${edge} (nothing)`]);
    expect(effect(data!, "ingress", 1)).toEqual([`${edge} (nothing)`]);
    expect(effect(sentinel!, "egress", 0)).toEqual([`${edge} (TCP 6379)`]);
    expect(effect(sentinel!, "egress", 1)).toEqual([]);
    expect(effect(sentinel!, "egress", 9)).toEqual([]);
    expect(effect(sentinel!, "ingress", 0)).toEqual([]);
  });

  it("names peers that select no pod, and can put stand-ins for them", () => {
    expect(
      engine.unmatchedPeers().map(({ path, connections, workloads }) => [path, connections.toString(), workloads]),
    ).toEqual([[["spec", "egress", 1, "to", 0], "all connections", ["default/sentinel[Pod]"]]]);
    const dns = `${lab}${policy("{ podSelector: {}, policyTypes: [Egress], egress: [{ to: [{ namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: kube-system } }, podSelector: { matchLabels: { k8s-app: kube-dns } } }], ports: [{ port: 53, protocol: UDP }] }, { to: [{ namespaceSelector: { matchLabels: { team: t } } }] }, { to: [{ namespaceSelector: {}, podSelector: { matchExpressions: [{ key: a, operator: In, values: [b] }, { key: a, operator: DoesNotExist }] } }] }] }", "dns")}`;
    const standIns = buildNetwork(withStandIns(input(dns)));
    const toStandIns = [...knownEdges(standIns.edges())].filter(({ to }) => isStandIn(to));
    expect([...new Set(toStandIns.map(({ to, connections }) => `${to}: ${describeConnections(connections)}`))]).toEqual(
      ["(team=t)/any pod[Unknown]: all connections", "kube-system/k8s-app=kube-dns[Unknown]: UDP 53"],
    );
    const { policies } = standIns;
    const peer = policies[3]!.egress[0]!.peers![0]!;
    expect(peer.kind === "pods" && peerNamespaces(policies[3]!, peer)).toEqual(["kube-system"]);
    const other = policies[3]!.egress[1]!.peers![0]!;
    expect(other.kind === "pods" && peerNamespaces(policies[3]!, other)).toBeUndefined();
  });

  it("finds workloads by a short name only where it is unique", () => {
    const two = network(pod("a") + pod("a", "app: a", "{}", "two"));
    expect(two.find("a")).toBeUndefined();
    expect(two.find("two/a")?.id).toBe("two/a[Pod]");
    expect(two.find("two/a[Pod]")?.id).toBe("two/a[Pod]");
  });
});

describe("what the API server would refuse", () => {
  it("is listed with its place and matches nothing", () => {
    const read = parsePolicy({
      namespace: "n",
      name: "p",
      spec: {
        podSelector: { matchExpressions: [{ key: "a", operator: "Is" }] },
        policyTypes: ["Both"],
        ingress: [
          {
            from: [{}, { ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/8", "x"] } }, 5],
            ports: [{ port: "Not A Name" }, { protocol: "tcp" }],
          },
          7,
        ],
        egress: "none",
      },
    });
    expect(read.problems.map(({ path }) => path.join("."))).toEqual([
      "spec.podSelector.matchExpressions.0.operator",
      "spec.policyTypes.0",
      "spec.ingress.0.from.0",
      "spec.ingress.0.from.1.ipBlock.except.0",
      "spec.ingress.0.from.1.ipBlock.except.1",
      "spec.ingress.0.from.2",
      "spec.ingress.0.ports.0.port",
      "spec.ingress.0.ports.1.protocol",
      "spec.ingress.1",
      "spec.egress",
    ]);
  });

  it("a placeholder makes a policy undecided", () => {
    const spec = (value: string) => ({ podSelector: {}, ingress: [{ ports: [{ port: value }] }] });
    expect(parsePolicy({ namespace: "n", name: "p", spec: spec("__REDIS_PORT__") }).undecided).toBe(true);
    expect(parsePolicy({ namespace: "n", name: "p", spec: "{{ .Values.spec }}" }).undecided).toBe(true);
    expect(parsePolicy({ namespace: "n", name: "p", spec: spec("redis") }).undecided).toBe(false);
    const engine = network(
      pod("a") + pod("b") + policy('{ podSelector: {}, ingress: [{ ports: [{ port: "__PORT__" }] }] }'),
    );
    const why = engine.explain("a", "b", "TCP", 6379);
    expect([why.allowed, why.undecided]).toEqual([false, true]);
  });

  it("hostile specs do not throw", () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    for (const spec of [
      null,
      5,
      "x",
      [],
      cyclic,
      { ingress: cyclic },
      { ingress: { a: 1 } },
      { podSelector: cyclic },
      { egress: [{ to: cyclic, ports: cyclic }] },
    ]) {
      const engine = buildNetwork({
        pods: [{ id: "n/a[Pod]", owner: "n/a[Pod]", namespace: "n", labels: cyclic, hostNetwork: false, ports: [] }],
        namespaces: [],
        policies: [{ namespace: "n", name: "p", spec }],
      });
      expect(engine.edges().length).toBeLessThanOrEqual(2);
    }
  });
});

describe("size", () => {
  function cluster(pods: number, policies: number): NetworkInput {
    return {
      namespaces: Array.from({ length: 10 }, (_, i) => ({ name: `ns${i}`, labels: { team: `t${i % 3}` } })),
      pods: Array.from({ length: pods }, (_, i) => ({
        id: `ns${i % 10}/p${i}[Pod]`,
        owner: `ns${i % 10}/p${i}[Pod]`,
        namespace: `ns${i % 10}`,
        labels: { app: `a${i % (policies * 2)}`, unique: `u${i}` },
        hostNetwork: false,
        ports: [{ name: "http", containerPort: 8080 + (i % 5), protocol: "TCP" }],
      })),
      policies: [
        ...Array.from({ length: 10 }, (_, i) => ({
          namespace: `ns${i}`,
          name: "deny",
          spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
        })),
        ...Array.from({ length: policies - 10 }, (_, i) => ({
          namespace: `ns${i % 10}`,
          name: `np${i}`,
          spec: {
            podSelector: { matchLabels: { app: `a${i}` } },
            policyTypes: ["Ingress", "Egress"],
            ingress: [
              {
                from: [
                  { podSelector: { matchLabels: { app: `a${i + 10}` } } },
                  { ipBlock: { cidr: `10.${i % 250}.0.0/16` } },
                ],
                ports: [{ port: "http" }],
              },
            ],
            egress: [{ to: [{ podSelector: {} }], ports: [{ port: 8080, endPort: 8084 }] }],
          },
        })),
      ],
    };
  }

  it("2,000 pods under 500 policies are whole and quick enough not to notice", () => {
    const engine = buildNetwork(cluster(2000, 500));
    const edges = engine.edges();
    expect(engine.workloads).toHaveLength(2000);
    for (const { from, to, connections } of edges.filter((_, i) => i % 97 === 0)) {
      expect(engine.allowed(from, to).connections).toEqual(connections);
    }
    const sorted = edges.map(({ from, to }) => `${from}\u0000${to}`);
    expect(sorted).toEqual([...sorted].sort());
  });
});
