/** `quorumlint graph` as a process: any manifests, declared edges, explanations, differences. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { edit, goldenCopy, quorumlint, removeTemporary, temporary } from "./run.js";

afterAll(removeTemporary);

const POLICIES = "infra/redis-lab/k3s/network-policies.yaml";
const DATA = "redis-lab/redis-data[StatefulSet]";
const SENTINEL = "redis-lab/redis-sentinel[StatefulSet]";
const CLIENT = "redis-lab/redis-qualification[Deployment]";
const DNS = "kube-system/k8s-app=kube-dns[Unknown]";

interface Graph {
  readonly version: number;
  readonly edges: readonly { from: string; to: string; connections: { protocol: string; ports: string }[] }[];
}

function graph(args: readonly string[], options: Parameters<typeof quorumlint>[1] = {}): string {
  const run = quorumlint(["graph", ...args], options);
  expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
  return run.stdout;
}

function edges(args: readonly string[], options: Parameters<typeof quorumlint>[1] = {}): string[] {
  const { version, edges: list } = JSON.parse(graph([...args, "--format", "json"], options)) as Graph;
  expect(version).toBe(1);
  return list.map(
    ({ from, to, connections }) => `${from} ${to} ${connections.map((c) => `${c.protocol} ${c.ports}`).join()}`,
  );
}

/** A golden contract with an edge too many and one too few. */
function broken(): string {
  const folder = goldenCopy();
  edit(
    folder,
    POLICIES,
    "              app: qualification\n      ports:\n        - protocol: TCP\n          port: 6379\n",
    "              app: qualification\n        - ipBlock: { cidr: 10.0.0.0/8 }\n      ports:\n        - protocol: TCP\n          port: 6379\n",
  );
  edit(
    folder,
    POLICIES,
    "        - podSelector:\n            matchLabels:\n              app: redis-sentinel\n        - podSelector:\n            matchLabels:\n              app: qualification\n      ports:\n        - protocol: TCP\n          port: 26379\n",
    "        - podSelector:\n            matchLabels:\n              app: redis-sentinel\n      ports:\n        - protocol: TCP\n          port: 26379\n",
  );
  return folder;
}

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "nginx:1" }] }
---
apiVersion: v1
kind: Pod
metadata: { name: db, namespace: shop, labels: { app: db } }
spec: { containers: [{ name: db, image: "postgres:16", ports: [{ name: sql, containerPort: 5432 }] }] }
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: db, namespace: shop }
spec:
  podSelector: { matchLabels: { app: db } }
  policyTypes: [Ingress, Egress]
  ingress:
    - from: [{ podSelector: { matchLabels: { app: web } } }]
      ports: [{ port: sql }]
`;
const ANY = "0.0.0.0-255.255.255.255[External]";
const ALL = "SCTP 1-65535,TCP 1-65535,UDP 1-65535";
const WEB_EDGES = [
  `${ANY} shop/web[Deployment] ${ALL}`,
  `shop/web[Deployment] ${ANY} ${ALL}`,
  "shop/web[Deployment] shop/db[Pod] TCP 5432",
];

describe("a declared contract", () => {
  it("json: the workloads of the files", () => {
    expect(edges(["fixtures/redis-lab"])).toEqual([
      `${CLIENT} ${DATA} TCP 6379`,
      `${CLIENT} ${SENTINEL} TCP 26379`,
      `${SENTINEL} ${DATA} TCP 6379`,
    ]);
    expect(edges(["fixtures/redis-lab", "--self"])).toContain(`${DATA} ${DATA} TCP 6379`);
    // a file of the contract, or the contract file itself, stands for the whole
    expect(edges([`fixtures/redis-lab/${POLICIES}`])).toHaveLength(3);
    expect(edges(["fixtures/redis-lab/infra", "--config", "fixtures/redis-lab/quorumlint.yaml"])).toHaveLength(3);
    expect(edges(["fixtures/redis-lab/quorumlint.yaml"])).toHaveLength(3);
  });

  it("text: exactly the declared edges, DNS and the planes' own among them", () => {
    const text = graph(["fixtures/redis-lab"]);
    expect(text).toMatch(/^Network edges of redis-lab: 4 nodes, 8 edges\n/);
    expect(text).toContain(`${DNS}  TCP 53, UDP 53`);
    expect(text).not.toMatch(/surplus|missing/);
  });

  it("says what is surplus and what is missing, in every format", () => {
    const folder = broken();
    const text = graph([folder]);
    expect(text).toMatch(
      /10\.0\.0\.0-10\.255\.255\.255\[External\]\n {2}→ redis-lab\/redis-data\[StatefulSet\] {2}surplus: TCP 6379/,
    );
    expect(text).toMatch(/redis-sentinel\[StatefulSet\] +missing: TCP 26379/);
    expect(graph([folder, "--color"], { env: { FORCE_COLOR: "1", NO_COLOR: "" } })).toContain(
      "\u001b[31msurplus: TCP 6379\u001b[39m",
    );
    expect(graph([folder, "--format", "dot"])).toMatch(/label="surplus: TCP 6379", color="#c62828"/);
    expect(graph([folder, "--format", "mermaid"])).toMatch(/-\.->\|"missing: TCP 26379"\|/);
    const svg = graph([folder, "--format", "svg"]);
    expect(svg).toMatch(/<g class="edge surplus">/);
    expect(svg).toMatch(/<g class="edge missing">/);
  });

  it("svg: a picture with its content in words", () => {
    const svg = graph(["fixtures/redis-lab", "--format", "svg"]);
    expect(svg).toMatch(/^<svg [^>]*role="img" aria-labelledby="network-title network-desc">/);
    expect(svg).toContain('<title id="network-title">Network edges of redis-lab</title>');
    const words = /<desc id="network-desc">([\s\S]*?)<\/desc>/.exec(svg)![1]!;
    expect(words.split("\n")).toEqual([
      "4 nodes, 8 edges.",
      `${DATA} to ${DNS}: TCP 53, UDP 53.`,
      `${DATA} to ${DATA}: TCP 6379.`,
      `${CLIENT} to ${DNS}: TCP 53, UDP 53.`,
      `${CLIENT} to ${DATA}: TCP 6379.`,
      `${CLIENT} to ${SENTINEL}: TCP 26379.`,
      `${SENTINEL} to ${DNS}: TCP 53, UDP 53.`,
      `${SENTINEL} to ${DATA}: TCP 6379.`,
      `${SENTINEL} to ${SENTINEL}: TCP 26379.`,
    ]);
    for (const group of ["data plane", "Sentinel plane", "kube-system"]) expect(svg).toContain(`>${group}</text>`);
    expect(svg).not.toMatch(/<script|href=/);
  });

  it("the same bytes every time", () => {
    for (const format of ["text", "svg"]) {
      const args = ["fixtures/redis-lab", "--format", format];
      expect(graph(args)).toBe(graph(args));
    }
  });
});

describe("any manifests", () => {
  it("of a directory, a file, standard input", () => {
    const folder = temporary();
    mkdirSync(join(folder, "deep"));
    writeFileSync(join(folder, "deep/web.yaml"), WEB);
    expect(edges([folder])).toEqual(WEB_EDGES);
    expect(edges([join(folder, "deep/web.yaml")])).toEqual(WEB_EDGES);
    expect(edges(["-"], { input: WEB })).toEqual(WEB_EDGES);
    expect(edges([], { cwd: folder })).toEqual(WEB_EDGES);
    expect(edges([folder, "--self"])).toContain(`shop/web[Deployment] shop/web[Deployment] ${ALL}`);
  });

  it("as a List, and as JSON with tabs", () => {
    const items = WEB.split("---\n").map((text) => text.replace(/^/gm, "    ").replace(/^ {4}/, "  - "));
    expect(edges(["-"], { input: `apiVersion: v1\nkind: List\nitems:\n${items.join("\n")}` })).toEqual(WEB_EDGES);
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "n" }, spec: { containers: [] } };
    const list = { apiVersion: "v1", kind: "PodList", items: [pod] };
    expect(edges(["-", "--stdin-filename", "pods.json"], { input: JSON.stringify(list, undefined, "\t") })).toEqual([
      `${ANY} n/a[Pod] ${ALL}`,
      `n/a[Pod] ${ANY} ${ALL}`,
    ]);
  });

  it("Redis without a contract file: planes as groups, nothing is declared", () => {
    const dot = graph(["fixtures/inferred", "--format", "dot"]);
    expect(dot).toContain('label="data plane";');
    expect(dot).not.toMatch(/surplus|missing/);
  });

  it("a file that does not parse is named and left out; nothing at all is no error", () => {
    const folder = temporary();
    writeFileSync(join(folder, "bad.yaml"), "kind: [\n");
    writeFileSync(join(folder, "chart.yaml"), "{{- if .Values.x }}\nkind: Pod\n{{- end }}\n");
    writeFileSync(join(folder, "web.yaml"), WEB);
    const run = quorumlint(["graph", folder, "--format", "json"]);
    expect(run.code).toBe(0);
    expect(run.stderr).toMatch(/bad\.yaml is left out of the graph: \d+:\d+: /);
    expect(run.stderr).toMatch(/chart\.yaml is left out of the graph: template source/);
    expect((JSON.parse(run.stdout) as Graph).edges).toHaveLength(3);
    const none = quorumlint(["graph", temporary(), "--format", "json"]);
    expect({ code: none.code, edges: (JSON.parse(none.stdout) as Graph).edges }).toEqual({ code: 0, edges: [] });
    expect(none.stderr).toContain("no workload");
  });

  it("names as hostile as YAML allows", () => {
    const evil = WEB.replaceAll("name: web", 'name: "\\e[31m</title><script>\\n\\""');
    for (const format of ["text", "dot", "mermaid", "svg"]) {
      const out = graph(["-", "--format", format], { input: evil });
      expect(out).not.toContain("\u001b[31m");
      if (format === "svg") expect(out).not.toContain("<script");
    }
  });

  it("2,000 pods and 500 policies", () => {
    const documents: string[] = [];
    for (let i = 0; i < 2000; i++) {
      documents.push(
        `apiVersion: v1\nkind: Pod\nmetadata: { name: p${i}, namespace: n${i % 20}, labels: { app: a${i % 500}, tier: t${i % 7} } }\nspec: { containers: [{ name: c, image: x }] }\n`,
      );
    }
    for (let i = 0; i < 500; i++) {
      documents.push(
        `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: { name: p${i}, namespace: n${i % 20} }\nspec:\n  podSelector: { matchLabels: { app: a${i} } }\n  policyTypes: [Ingress, Egress]\n  ingress: [{ from: [{ podSelector: { matchLabels: { app: a${(i + 20) % 500} } } }], ports: [{ port: ${i + 1} }] }]\n  egress: [{ to: [{ namespaceSelector: {}, podSelector: { matchLabels: { tier: t${i % 7} } } }] }]\n`,
      );
    }
    const started = performance.now();
    const out = graph(["-", "--format", "svg"], { input: documents.join("---\n") });
    expect(out).toMatch(/^<svg/);
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});

describe("--explain", () => {
  it("names the rules that allow, with their places", () => {
    const text = graph(["fixtures/redis-lab", "--explain", "redis-qualification", "redis-data", "6379"]);
    expect(text).toMatch(
      /^redis-lab\/redis-qualification\[Deployment\] → redis-lab\/redis-data\[StatefulSet\], TCP 6379: allowed\n/,
    );
    expect(text).toContain(
      `allowed by redis-lab/redis-data ingress[0] (TCP 6379) at fixtures/redis-lab/${POLICIES}:44:7`,
    );
  });

  it("names what denies, and what nearly fits", () => {
    const text = graph(["fixtures/redis-lab", "--explain", "data", "sentinel", "tcp/26379"]);
    expect(text).toContain("TCP 26379: denied");
    expect(text).toContain("isolated by redis-lab/default-deny");
    expect(text).toContain("redis-lab/redis-sentinel ingress[0] has the port, but is for pods with app=redis-sentinel");
  });

  it("takes planes, dns, Kind/name and addresses, and PATH behind them", () => {
    expect(graph(["--explain", "StatefulSet/redis-data", "dns", "53/udp", "fixtures/redis-lab"])).toContain(
      "UDP 53: allowed",
    );
    expect(graph(["--explain", "10.1.2.3", "data", "fixtures/redis-lab"])).toContain("denied");
    expect(graph(["-", "--explain", "web", "db", "5432"], { input: WEB })).toContain(
      "allowed by shop/db ingress[0] (TCP 5432) at stdin.yaml:23:7",
    );
  });

  it("as data", () => {
    const run = graph(["fixtures/redis-lab", "--explain", "data", "sentinel", "26379", "--format", "json"]);
    expect(JSON.parse(run)).toMatchObject({
      version: 1,
      from: DATA,
      to: SENTINEL,
      asked: { protocol: "TCP", port: 26379 },
      verdict: "denied",
      egress: {
        allowed: false,
        isolating: [
          { policy: "redis-lab/default-deny" },
          { policy: "redis-lab/dns" },
          { policy: "redis-lab/redis-data" },
        ],
      },
      ingress: { near: [{ lacks: "peer", policy: "redis-lab/redis-sentinel", rule: 0 }] },
    });
  });
});

describe("--diff", () => {
  it("tells what changed from OTHER to PATH", () => {
    const folder = broken();
    expect(graph([folder, "--diff", "fixtures/redis-lab"])).toBe(
      `+ 10.0.0.0-10.255.255.255[External] → ${DATA}  TCP 6379\n- ${CLIENT} → ${SENTINEL}  TCP 26379\n`,
    );
    const changes = JSON.parse(graph([folder, "--diff", "fixtures/redis-lab", "--format", "json"])) as {
      changes: unknown[];
    };
    expect(changes.changes).toHaveLength(2);
    const svg = graph([folder, "--diff", "fixtures/redis-lab", "--format", "svg"]);
    expect(svg).toMatch(/<g class="edge added">/);
    expect(svg).toMatch(/<g class="edge removed">/);
    expect(graph(["fixtures/redis-lab", "--diff", "fixtures/redis-lab"])).toBe("No difference in the network edges.\n");
  });
});

describe("exit code 2", () => {
  it.each<[string, string[], string]>([
    ["a path that is not there", ["no/such/path"], "no/such/path"],
    ["a format that is not there", ["--format", "png"], "png"],
    ["an unknown end", ["fixtures/redis-lab", "--explain", "redis-dta", "dns"], 'did you mean "redis-data"'],
    ["one end", ["fixtures/redis-lab", "--explain", "data"], "FROM and TO"],
    ["a port out of range", ["fixtures/redis-lab", "--explain", "data", "dns", "70000"], "70000"],
    ["two ends outside", ["fixtures/redis-lab", "--explain", "10.0.0.1", "10.0.0.2"], "outside"],
    [
      "a picture of an explanation",
      ["fixtures/redis-lab", "--explain", "data", "dns", "--format", "svg"],
      "text or json",
    ],
    ["words too many", ["fixtures/redis-lab", "--explain", "data", "dns", "53", "more"], '"more"'],
    ["diff and explain", ["fixtures/redis-lab", "--diff", ".", "--explain", "a", "b"], "exclude"],
    ["standard input twice", ["-", "--diff", "-"], "once"],
  ])("%s", (_, args, text) => {
    const run = quorumlint(["graph", ...args], { input: "" });
    expect(run.stderr).toContain(text);
    expect(run.code).toBe(2);
    expect(run.stdout).toBe("");
  });

  it("a contract file that cannot be read", () => {
    const folder = goldenCopy();
    edit(folder, "quorumlint.yaml", "preset:", "prest:");
    const run = quorumlint(["graph", folder]);
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/quorumlint\.yaml:5:5: unknown key "prest"/);
  });
});
