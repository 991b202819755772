/** The network rules without a contract file: what breaks, what is weak, and what nobody can know. */
import { describe, expect, it } from "vitest";
import { rules } from "../../rules/index.js";
import { prepareParsers } from "../../src/cli/parsers.js";
import { check } from "../../src/contract/check.js";
import { memoryHost } from "../../src/contract/memory.js";
import type { Diagnostic } from "../../src/engine/diagnostic.js";
import { TODAY, tree } from "../support.js";

const workload = (
  extra: { labels?: string; pod?: string; replicas?: string; ports?: string } = {},
): string => `apiVersion: apps/v1
kind: StatefulSet
metadata: { name: redis, namespace: cache }
spec:
  serviceName: redis
  replicas: ${extra.replicas ?? "3"}
  selector: { matchLabels: { app: redis } }
  template:
    metadata: { labels: { ${extra.labels ?? "app: redis"} } }
    spec:
${extra.pod ?? ""}      containers:
        - name: redis
          image: redis:7.2.5
          args: [/etc/redis/redis.conf]
${extra.ports ?? "          ports: [{ name: redis, containerPort: 6379 }]\n"}        - name: sentinel
          image: redis:7.2.5
          command: [redis-sentinel, /etc/redis/sentinel.conf]
          ports: [{ name: sentinel, containerPort: 26379 }]
`;

const policy = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: redis
  namespace: cache
spec:
  podSelector:
    matchLabels:
      app: redis
  policyTypes: [Ingress, Egress]
  ingress:
    - from:
        - podSelector:
            matchLabels:
              app: redis
      ports:
        - port: 6379
        - port: 26379
  egress:
    - to:
        - podSelector:
            matchLabels:
              app: redis
      ports:
        - port: 6379
        - port: 26379
`;

function change(text: string, from: string | RegExp, to: string): string {
  const out = text.replace(from, to);
  expect(out).not.toBe(text);
  return out;
}

async function lint(files: Record<string, string>): Promise<string[]> {
  const run = await check(memoryHost(tree(files)), ["/tree"], {
    rules,
    today: TODAY,
    version: "0.0.0",
    prepare: prepareParsers,
    selected: (id) => id.startsWith("network/"),
  });
  expect(run.result.crashes.map((c) => c.error.stack)).toEqual([]);
  const show = (d: Diagnostic): string => {
    const { line } = d.at.source.position(d.at.start);
    return `${d.severity} ${d.rule.replace("network/", "")} ${d.messageId} ${d.at.source.file}:${line}`;
  };
  return run.result.diagnostics.map(show);
}

const withPolicy = (np: string, sts = workload()): Promise<string[]> => lint({ "np.yaml": np, "sts.yaml": sts });

describe("one defect in a sound set", () => {
  it("the set itself is silent", async () => expect(await withPolicy(policy)).toEqual([]));

  it.each<[string, string | RegExp, string, string[]]>([
    ["ingress removed", /ingress:\n[\s\S]*?egress:/, "ingress: []\n  egress:", ["error reachable stopped np.yaml:11"]],
    ["egress removed", /egress:\n[\s\S]*/, "egress: []\n", ["error reachable stopped np.yaml:19"]],
    ["Egress left out", "[Ingress, Egress]", "[Ingress]", ["warning open-rule ignored np.yaml:10"]],
    ["Ingress left out", "[Ingress, Egress]", "[Egress]", ["warning open-rule ignored np.yaml:10"]],
    [
      "everyone let in",
      /ingress:\n[\s\S]*?egress:/,
      "ingress:\n    - {}\n  egress:",
      ["warning open-rule anyone np.yaml:12"],
    ],
    ["an empty from", /- from:\n.*\n.*\n.*\n/, "- from: []\n", ["warning open-rule anyone np.yaml:12"]],
    [
      "the world let in",
      /- from:\n/,
      "- from:\n        - ipBlock: { cidr: 0.0.0.0/0 }\n",
      ["warning open-rule world np.yaml:13"],
    ],
    [
      "out to the world",
      /- to:\n/,
      "- to:\n        - ipBlock: { cidr: 0.0.0.0/0 }\n",
      ["warning open-rule world np.yaml:21"],
    ],
    ["a wrong port", "6379", "6380", ["error reachable stopped np.yaml:16"]],
    ["another protocol", "- port: 6379", "- { port: 6379, protocol: UDP }", ["error reachable stopped np.yaml:16"]],
    [
      "a port that ends before it starts",
      "- port: 6379",
      "- { port: 6379, endPort: 6000 }",
      ["error reachable stopped np.yaml:16"],
    ],
    ["no ports", /ports:\n.*\n.*\n {2}egress/, "\n  egress", ["warning open-rule ports np.yaml:12"]],
    [
      "a misspelled peer",
      /from:\n(.*\n.*\n) *app: redis\n/,
      "from:\n$1              app: redsi\n",
      ["error reachable stopped np.yaml:12"],
    ],
    [
      "every pod of the namespace",
      /from:\n *- podSelector:\n.*\n.*\n/,
      "from:\n        - podSelector: {}\n",
      ["warning open-rule pods np.yaml:13"],
    ],
    [
      "every pod of the cluster",
      /from:\n/,
      "from:\n        - namespaceSelector: {}\n",
      ["warning open-rule cluster np.yaml:13"],
    ],
    ["another namespace", "namespace: cache", "namespace: cash", ["warning default-deny open np.yaml:5"]],
    ["a misspelled selector", "app: redis", "app: redsi", ["warning default-deny open sts.yaml:3"]],
  ])("%s", async (_, from, to, expected) => expect(await withPolicy(change(policy, from, to))).toEqual(expected));

  it("the policy removed", async () => {
    expect(await lint({ "sts.yaml": workload() })).toEqual(["warning default-deny open sts.yaml:3"]);
  });

  it("policies for ingress only are a choice: said once, as information", async () => {
    const only = change(change(policy, "[Ingress, Egress]", "[Ingress]"), / {2}egress:\n[\s\S]*/, "");
    expect(await withPolicy(only)).toEqual(["info default-deny egress np.yaml:10"]);
    expect(await withPolicy(change(only, /.*policyTypes.*\n/, ""))).toEqual(["info default-deny egress np.yaml:6"]);
  });

  it("the halves of a rule in two items, in either order", async () => {
    const split = change(
      policy,
      "app: redis\n      ports:\n        - port: 6379\n        - port: 26379\n  egress",
      "app: redis\n    - ports:\n        - port: 6379\n        - port: 26379\n  egress",
    );
    expect(await withPolicy(split)).toEqual(["warning open-rule split np.yaml:16"]);
    const turned = change(policy, /- from:\n(.*\n.*\n.*\n) {6}(ports:\n.*\n.*\n)/, "- $2    - from:\n$1");
    expect(await withPolicy(turned)).toEqual(["warning open-rule split np.yaml:12"]);
  });
});

describe("ports", () => {
  const conf = (data: string, sentinel: string): string => `apiVersion: v1
kind: ConfigMap
metadata: { name: conf, namespace: cache }
data:
  redis.conf: |
    ${data}
  sentinel.conf: |
    ${sentinel}
`;
  const mounted = workload({ pod: "      volumes: [{ name: conf, configMap: { name: conf } }]\n" });
  const run = (data: string, sentinel: string, np = policy): Promise<string[]> =>
    lint({ "conf.yaml": conf(data, sentinel), "np.yaml": np, "sts.yaml": mounted });

  it("come from the configuration", async () => {
    expect(await run("port 6379", "port 26379")).toEqual([]);
    expect(await run("port 6380", "port 26379")).toEqual([
      "error reachable stopped np.yaml:16",
      "error reachable stopped np.yaml:24",
    ]);
    expect(await run("port 6380", "port 26379", policy.replaceAll("port: 6379", "port: 6380"))).toEqual([]);
  });

  it("TLS links use the TLS port", async () => {
    const tls = "port 6379\n    tls-port 6390\n    tls-replication yes";
    expect(await run(tls, "port 26379")).toEqual([
      "error reachable stopped np.yaml:16",
      "error reachable stopped np.yaml:24",
    ]);
    expect(await run(tls, "port 26379", policy.replaceAll("port: 6379", "port: 6390"))).toEqual([]);
  });

  it("one of two listeners will do where it is not known which is used", async () => {
    const both = "port 6379\n    tls-port 6390\n    tls-replication ${TLS}";
    expect(await run(both, "port 26379")).toEqual([]);
  });

  it("what a placeholder hides is not missed", async () => {
    expect(await run("port ${PORT}", "port 26379", policy.replaceAll("port: 6379", "port: 6390"))).toEqual([]);
    expect(
      await run("port ${PORT}", "port 26379", change(policy, /ingress:\n[\s\S]*?egress:/, "ingress: []\n  egress:")),
    ).toEqual(["error reachable stopped np.yaml:11"]);
  });

  it("a default port is only missed where nothing is open at all", async () => {
    const bare = workload({ ports: "" });
    const other = policy.replaceAll("port: 6379", "port: 6390");
    expect(await lint({ "np.yaml": other, "sts.yaml": bare })).toEqual([]);
  });
});

describe("what nobody can know", () => {
  const broken = change(policy, "- port: 6379\n", "");
  it("is told where it is certain", async () =>
    expect(await withPolicy(broken)).toEqual(["error reachable stopped np.yaml:16"]));

  it.each<[string, string, string]>([
    ["a port that is filled in later", change(policy, "- port: 6379", "- port: ${PORT}"), workload()],
    ["a peer that is filled in later", change(policy, /(from:\n.*\n.*\n.*app: )redis/, "$1${APP}"), workload()],
    ["pods whose labels are filled in later", broken, workload({ labels: "app: redis, tier: __TIER__" })],
    ["pods on the host network", broken, workload({ pod: "      hostNetwork: true\n" })],
    ["one replica", broken, workload({ replicas: "1" })],
    [
      "an ipBlock that may cover the pods",
      change(broken, "from:\n", "from:\n        - ipBlock: { cidr: 10.42.0.0/16 }\n").replaceAll(
        "        - port: 26379\n  egress",
        "        - port: 26379\n    - from: [{ ipBlock: { cidr: 10.42.0.0/16 } }]\n      ports: [{ port: 6379 }]\n  egress",
      ),
      workload(),
    ],
    [
      "peers by a role that is set on running pods",
      change(
        broken,
        "  egress:",
        "    - from: [{ podSelector: { matchLabels: { app: redis, role: slave } } }]\n      ports: [{ port: 6379 }]\n  egress:",
      ),
      workload(),
    ],
  ])("%s", async (_, np, sts) => {
    expect((await withPolicy(np, sts)).filter((line) => line.includes("reachable"))).toEqual([]);
  });

  it("a single server without Sentinel and replication may stand alone", async () => {
    const alone = workload()
      .replace(/ {8}- name: sentinel\n[\s\S]*/, "")
      .replace("StatefulSet", "Deployment")
      .replace("  serviceName: redis\n", "");
    expect(await withPolicy(broken, alone)).toEqual([]);
    // a set of named pods hints at replication
    const set = workload().replace(/ {8}- name: sentinel\n[\s\S]*/, "");
    expect(await withPolicy(broken, set)).toEqual(["warning reachable stopped np.yaml:16"]);
  });

  it("a policy without a namespace lands where its set is applied", async () => {
    expect(await withPolicy(change(policy, "  namespace: cache\n", ""))).toEqual([]);
  });

  it("policies of a plugin may allow and deny what is not judged here", async () => {
    const cilium =
      "---\napiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: { name: more, namespace: cache }\nspec: { endpointSelector: {} }\n";
    expect(await withPolicy(broken + cilium)).toEqual([]);
    expect(await lint({ "np.yaml": cilium.replace("---\n", ""), "sts.yaml": workload() })).toEqual([]);
  });

  it("operators, and clients that mention Sentinel, are no servers", async () => {
    const operator = `apiVersion: apps/v1
kind: Deployment
metadata: { name: redis-operator, namespace: cache }
spec:
  selector: { matchLabels: { app: operator } }
  template:
    metadata: { labels: { app: operator } }
    spec: { containers: [{ name: operator, image: "example/redis-operator:1", env: [{ name: SENTINEL_HOST, value: redis }] }] }
`;
    expect(await lint({ "np.yaml": policy, "op.yaml": operator, "sts.yaml": workload() })).toEqual([]);
  });
});

describe("separate workloads", () => {
  const server = (name: string, role: string, conf: string): string => `apiVersion: v1
kind: ConfigMap
metadata: { name: ${name} }
data:
  ${role}.conf: |
    ${conf}
---
apiVersion: v1
kind: Service
metadata: { name: ${name} }
spec: { clusterIP: None, selector: { app: ${name} }, ports: [{ port: 6379 }] }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: ${name} }
spec:
  serviceName: ${name}
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec:
      containers: [{ name: server, image: "redis:7.2.5", command: [${role === "sentinel" ? "redis-sentinel" : "redis-server"}, /c/${role}.conf], volumeMounts: [{ name: c, mountPath: /c }] }]
      volumes: [{ name: c, configMap: { name: ${name} } }]
---
`;
  const set =
    server("primary", "redis", "port 6379") +
    server("replica", "redis", "replicaof primary 6379") +
    server("s1", "sentinel", "sentinel monitor m primary 6379 2") +
    server("s2", "sentinel", "sentinel monitor m primary 6379 2");
  const np = (apps: string, more = ""): string => `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: all }
spec:
  podSelector: {}
  policyTypes: [Ingress, Egress]
  ingress:
    - from: [{ podSelector: { matchExpressions: [{ key: app, operator: In, values: [${apps}] }] } }]
      ports: [{ port: 6379 }, { port: 26379 }]
  egress:
    - to: [{ podSelector: { matchExpressions: [{ key: app, operator: In, values: [primary, replica, s1, s2] }] } }]
      ports: [{ port: 6379 }, { port: 26379 }]
${more}`;
  const dns = "    - ports: [{ port: 53, protocol: UDP }]\n";

  it("replicas reach their primary, Sentinels it and each other", async () => {
    expect(await lint({ "np.yaml": np("primary, replica, s1, s2", dns), "set.yaml": set })).toEqual([]);
    expect(await lint({ "np.yaml": np("primary, s1, s2", dns), "set.yaml": set })).toEqual([
      "error reachable stopped np.yaml:8",
    ]);
    expect(await lint({ "np.yaml": np("primary, replica, s1", dns), "set.yaml": set })).toEqual([
      "error reachable stopped np.yaml:8",
    ]);
  });

  it("names need DNS; without a policy for egress nothing is needed", async () => {
    const found = await lint({ "np.yaml": np("primary, replica, s1, s2"), "set.yaml": set });
    expect(found).toEqual(["error reachable names np.yaml:10"]);
    const open = change(np("primary, replica, s1, s2"), /, Egress\]\n/, "]\n").replace(/ {2}egress:\n[\s\S]*/, "");
    expect((await lint({ "np.yaml": open, "set.yaml": set })).filter((line) => line.includes("reachable"))).toEqual([]);
    const addresses = set.replaceAll("primary 6379", "10.0.0.1 6379");
    expect(
      (await lint({ "np.yaml": np("primary, replica, s1, s2"), "set.yaml": addresses })).filter((l) =>
        l.includes("names"),
      ),
    ).toEqual([]);
    const aliases = set.replaceAll(
      "      volumes:",
      "      hostAliases: [{ ip: 10.0.0.1, hostnames: [primary] }]\n      volumes:",
    );
    expect(
      (await lint({ "np.yaml": np("primary, replica, s1, s2"), "set.yaml": aliases })).filter((l) =>
        l.includes("names"),
      ),
    ).toEqual([]);
  });
});
