import { describe, expect, it } from "vitest";
import { buildNetwork, type NetworkEdge } from "../../src/model/kubernetes/network.js";
import { byGroup, condense } from "../../src/reporter/graph/condense.js";
import { diffEdges, diffGraphs, diffJson } from "../../src/reporter/graph/diff.js";
import { graphDot } from "../../src/reporter/graph/dot.js";
import { explainText } from "../../src/reporter/graph/explain.js";
import { graphJson, graphJsonChunks } from "../../src/reporter/graph/json.js";
import { graphMermaid } from "../../src/reporter/graph/mermaid.js";
import { graphSvg } from "../../src/reporter/graph/svg.js";
import { diffText, graphText } from "../../src/reporter/graph/text.js";
import { type EdgeStatus, graphView, parseId } from "../../src/reporter/graph/view.js";

const DATA = "lab/redis-data[StatefulSet]";
const SENTINEL = "lab/redis-sentinel[StatefulSet]";
const APP = "lab/app[Deployment]";
const ANY = "0.0.0.0-255.255.255.255[External]";
const ALL = (["SCTP", "TCP", "UDP"] as const).map((protocol) => ({ protocol, ports: "1-65535" }));

function edge(
  from: string,
  to: string,
  ports = "6379",
  status: EdgeStatus = "allowed",
): NetworkEdge & { status: EdgeStatus } {
  return { from, to, connections: ports === "all" ? ALL : [{ protocol: "TCP", ports }], status };
}

const view = graphView(
  [
    edge(SENTINEL, DATA),
    edge(DATA, DATA),
    edge(DATA, SENTINEL, "26379", "surplus"),
    edge(APP, SENTINEL, "26379", "missing"),
    edge(APP, ANY, "all"),
  ],
  { title: "Edges of lab", groups: new Map([[DATA, "data plane"]]), nodes: [APP, "lab/alone[Pod]"] },
);

/** Names as hostile as a YAML file can make them. */
const EVIL = 'lab/"><script>alert(1)</script>&\u0000\u001b[31m\ud800`]|-->x[Pod]';
const evil = graphView([edge(EVIL, DATA), edge(DATA, EVIL, "all", "surplus")], { title: '</title>"; }' });

describe("json", () => {
  it("is the fixed form, also in pieces", () => {
    const text = graphJson([edge(SENTINEL, DATA), edge(APP, ANY, "all")]);
    expect(JSON.parse(text)).toEqual({
      version: 1,
      edges: [
        { from: SENTINEL, to: DATA, connections: [{ protocol: "TCP", ports: "6379" }] },
        { from: APP, to: ANY, connections: ALL },
      ],
    });
    expect(JSON.parse(graphJson([]))).toEqual({ version: 1, edges: [] });
    const many = Array.from({ length: 2000 }, (_, i) => edge(`n/a${i}[Pod]`, DATA));
    const chunks = [...graphJsonChunks(many)];
    expect(chunks.length).toBeGreaterThan(1);
    expect(JSON.parse(chunks.join("")).edges).toHaveLength(2000);
    expect(JSON.parse(graphJson([edge(EVIL, DATA)])).edges[0].from).toBe(EVIL);
  });
});

describe("text", () => {
  it("lists edges by source, and who has none", () => {
    expect(graphText(view)).toBe(
      [
        "Edges of lab: 5 nodes, 5 edges, 1 surplus, 1 missing",
        "",
        APP,
        `  → ${ANY}  all connections`,
        `  → ${SENTINEL}    missing: TCP 26379`,
        "",
        DATA,
        `  → ${DATA}      TCP 6379`,
        `  → ${SENTINEL}  surplus: TCP 26379`,
        "",
        SENTINEL,
        `  → ${DATA}  TCP 6379`,
        "",
        "No edge at all:",
        "  lab/alone[Pod]",
        "",
      ].join("\n"),
    );
  });

  it("lets no control character through", () => {
    expect(graphText(evil)).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});

describe("dot and mermaid", () => {
  it("group, label and mark", () => {
    const dot = graphDot(view);
    expect(dot).toContain('label="data plane";');
    expect(dot).toContain(`"${SENTINEL}" -> "${DATA}" [label="TCP 6379"];`);
    expect(dot).toMatch(/surplus: TCP 26379", color="#c62828"/);
    expect(dot).toMatch(/missing: TCP 26379".*style=dashed/);
    const mermaid = graphMermaid(view);
    expect(mermaid).toMatch(/^---\ntitle: "Edges of lab"\n---\nflowchart LR\n/);
    expect(mermaid).toContain('subgraph g0["data plane"]');
    expect(mermaid).toMatch(/n\d+ -\.->\|"missing: TCP 26379"\| n\d+/);
    expect(mermaid.match(/linkStyle \d+ stroke:#c62828/g)).toHaveLength(1);
  });

  it("quote hostile names", () => {
    const dot = graphDot(evil);
    expect(dot.split("\n").filter((line) => / -> "/.test(line))).toHaveLength(2);
    for (const line of dot.split("\n"))
      expect(line.replace(/\\./g, "").match(/"/g)?.length ?? 0).toSatisfy((n: number) => n % 2 === 0);
    const mermaid = graphMermaid(evil);
    expect(mermaid).not.toContain("<script");
    for (const line of mermaid.split("\n").slice(3))
      expect(line.match(/"/g)?.length ?? 0).toSatisfy((n: number) => n % 2 === 0);
  });

  it("mermaid stays below the renderers' limit by merging twins", () => {
    const names = Array.from({ length: 40 }, (_, i) => `n/p${i}[Pod]`);
    const edges = names.flatMap((a) => names.filter((b) => a !== b).map((b) => edge(a, b, "all")));
    const text = graphMermaid(graphView(edges));
    expect(text).toContain("40 alike");
    expect(text.match(/-->/g)).toHaveLength(1);
  });
});

describe("svg", () => {
  it("is one self-contained picture with a text alternative", async () => {
    const svg = await graphSvg(view, { idPrefix: "a b" });
    expect(svg).toMatch(/^<svg class="qg" xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 \d+ \d+"/);
    expect(svg).toContain('role="img" aria-labelledby="a-b-title a-b-desc"');
    expect(svg).toContain('<title id="a-b-title">Edges of lab</title>');
    expect(svg).toMatch(/<desc id="a-b-desc">5 nodes, 5 edges, 1 surplus, 1 missing\./);
    expect(svg).toContain(`${SENTINEL} to ${DATA}: TCP 6379.`);
    expect(svg).toContain(">data plane<");
    expect(svg).toContain(">among themselves: TCP 6379<");
    expect(svg).toContain('<g class="edge surplus">');
    expect(svg).toContain('<g class="edge missing">');
    expect(svg).toContain("stroke-dasharray");
    expect(svg).toContain("prefers-color-scheme:dark");
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    expect(svg.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(/https?:|<script|href=/);
    expect(await graphSvg(view, { idPrefix: "a b" })).toBe(svg);
  });

  it("draws an edge and its equal opposite as one", async () => {
    const svg = await graphSvg(graphView([edge(DATA, SENTINEL), edge(SENTINEL, DATA)]));
    expect(svg.match(/class="edge/g)).toHaveLength(1);
    expect(svg).toContain("marker-start");
  });

  it("escapes everything", async () => {
    const svg = await graphSvg(evil);
    expect(svg).not.toContain("<script");
    expect(svg).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]|[\ud800-\udfff]/);
    expect(svg.match(/<title/g)!.length).toBe(svg.match(/<\/title>/g)!.length);
    expect(svg.match(/<desc/g)).toHaveLength(1);
  });

  it("an empty graph is a picture too", async () => {
    expect(await graphSvg(graphView([]))).toMatch(/0 nodes, 0 edges[\s\S]*<\/svg>/);
    expect(await graphSvg(graphView([], { nodes: [DATA] }))).toContain(">redis-data<");
  });

  it("stays small and quick however large the graph is", async () => {
    const full = Array.from({ length: 60 }, (_, i) => `n${i % 3}/p${i}[Pod]`);
    const complete = full.flatMap((a) => full.filter((b) => a !== b).map((b) => edge(a, b, "all")));
    const merged = await graphSvg(graphView(complete));
    expect(merged).toContain("20 alike");
    expect(merged).toContain("are drawn as one");
    const tangled = full.flatMap((a, i) =>
      full.filter((b) => a !== b).map((b, j) => edge(a, b, String(1 + ((i * 61 + j * 7) % 5)))),
    );
    expect(await graphSvg(graphView(tangled))).toContain("one box per group");
    const scattered = Array.from({ length: 300 }, (_, i) =>
      edge(`n${i}/a[Pod]`, `n${(i * 7 + 1) % 300}/a[Pod]`, String(i + 1)),
    );
    expect(await graphSvg(graphView(scattered))).toContain("Too large to draw");
  });
});

describe("condense", () => {
  it("merges only what behaves alike", () => {
    const twins = condense(
      graphView([edge("n/a[Pod]", DATA), edge("n/b[Pod]", DATA), edge("n/c[Pod]", DATA, "80"), edge("m/d[Pod]", DATA)]),
    );
    expect(twins.nodes.map(({ lines }) => lines)).toEqual([
      ["redis-data", "StatefulSet"],
      ["d", "Pod"],
      ["2 alike", "a", "b"],
      ["c", "Pod"],
    ]);
    expect(twins.edges).toHaveLength(3);
    const surplus = condense(graphView([edge("n/a[Pod]", DATA), edge("n/b[Pod]", DATA, "6379", "surplus")]));
    expect(surplus.nodes).toHaveLength(3);
    const chain = condense(graphView([edge("n/a[Pod]", "n/b[Pod]"), edge("n/b[Pod]", "n/c[Pod]")]));
    expect(chain.nodes).toHaveLength(3);
    const mutual = condense(graphView([edge("n/a[Pod]", "n/b[Pod]"), edge("n/b[Pod]", "n/a[Pod]")]));
    expect(mutual.nodes.map(({ members }) => members)).toEqual([["n/a[Pod]", "n/b[Pod]"]]);
    expect(mutual.edges).toHaveLength(1);
  });

  it("by group keeps what goes between groups", () => {
    const grouped = byGroup(
      graphView([edge("n/a[Pod]", "m/b[Pod]"), edge("n/c[Pod]", "m/b[Pod]"), edge("n/a[Pod]", "n/c[Pod]", "80")]),
    );
    expect(grouped.nodes.map(({ lines }) => lines)).toEqual([
      ["m", "1 workload"],
      ["n", "2 workloads"],
    ]);
    expect(grouped.edges.map(({ from, to }) => `${from} ${to}`).sort()).toEqual(["n m", "n n"]);
    const joined = byGroup(
      graphView([edge("n/a[Pod]", "m/b[Pod]"), edge("n/c[Pod]", "m/b[Pod]", "80"), edge("n/c[Pod]", ANY)]),
    );
    expect(joined.edges.map(({ to, connections }) => [to, connections[0]!.ports])).toEqual([
      ["m", "80,6379"],
      ["outside the cluster", "6379"],
    ]);
  });
});

describe("diff", () => {
  const external = (range: string, ports = "80"): NetworkEdge => edge(`${range}[External]`, DATA, ports);

  it("is by edge", () => {
    const diff = diffGraphs(
      [edge(SENTINEL, DATA), edge(APP, DATA, "80")],
      [edge(SENTINEL, DATA, "6379,80"), edge(DATA, APP)],
    );
    expect(diffText(diff)).toBe(
      `- ${APP} → ${DATA}  TCP 80\n+ ${DATA} → ${APP}  TCP 6379\n~ ${SENTINEL} → ${DATA}  TCP 6379 → TCP 6379,80\n`,
    );
    expect(diffEdges(diff).map(({ status, connections }) => [status, connections[0]!.ports])).toEqual([
      ["removed", "80"],
      ["added", "6379"],
      ["added", "80"],
    ]);
    expect(JSON.parse(diffJson(diff)).changes).toHaveLength(3);
    expect(diffText(diffGraphs([edge(APP, DATA)], [edge(APP, DATA)]))).toBe("No difference in the network edges.\n");
  });

  it("compares addresses, not the cuts between ranges", () => {
    const whole = [external("0.0.0.0-255.255.255.255")];
    const cut = [
      external("0.0.0.0-9.255.255.255"),
      external("10.0.0.0-10.255.255.255"),
      external("11.0.0.0-255.255.255.255"),
    ];
    expect(diffGraphs(whole, cut).changes).toEqual([]);
    const hole = [cut[0]!, external("11.0.0.0-127.255.255.255"), external("128.0.0.0-255.255.255.255")];
    expect(diffText(diffGraphs(whole, hole))).toBe(`- 10.0.0.0-10.255.255.255[External] → ${DATA}  TCP 80\n`);
    const other = [
      cut[0]!,
      external("10.0.0.0-10.255.255.255", "443"),
      cut[2]!,
      external("::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ];
    expect(diffText(diffGraphs(whole, other))).toBe(
      `~ 10.0.0.0-10.255.255.255[External] → ${DATA}  TCP 80 → TCP 443\n+ ::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff[External] → ${DATA}  TCP 80\n`,
    );
  });
});

describe("explain", () => {
  it("names verdict, policies, rules and places", () => {
    const pod = (name: string) => ({
      id: `n/${name}[Pod]`,
      owner: `n/${name}[Pod]`,
      namespace: "n",
      labels: { app: name },
      hostNetwork: false,
      ports: [],
    });
    const from = (app: string) => [{ podSelector: { matchLabels: { app } } }];
    const engine = buildNetwork({
      pods: [pod("a"), pod("b")],
      namespaces: [],
      policies: [
        {
          namespace: "n",
          name: "p",
          spec: {
            podSelector: { matchLabels: { app: "b" } },
            ingress: [
              { from: from("a"), ports: [{ port: 80 }] },
              { from: from("c"), ports: [{ port: 81 }] },
            ],
          },
        },
      ],
    });
    const place = (): string => "np.yaml:3:1";
    expect(explainText(engine.explain("a", "b", "TCP", 80), place)).toBe(
      [
        "n/a[Pod] → n/b[Pod], TCP 80: allowed",
        "  egress of n/a[Pod]: open (no policy selects it for egress)",
        "  ingress of n/b[Pod]: allowed",
        "    allowed by n/p ingress[0] (TCP 80) at np.yaml:3:1",
        "",
      ].join("\n"),
    );
    expect(explainText(engine.explain("a", "b", "TCP", 81), place)).toBe(
      [
        "n/a[Pod] → n/b[Pod], TCP 81: denied",
        "  allowed in all: TCP 80",
        "  egress of n/a[Pod]: open (no policy selects it for egress)",
        "  ingress of n/b[Pod]: denied",
        "    isolated by n/p at np.yaml:3:1",
        "    n/p ingress[0] matches the peer, but lets through TCP 80 only at np.yaml:3:1",
        "    n/p ingress[1] has the port, but is for pods with app=c of the policy's namespace at np.yaml:3:1",
        "",
      ].join("\n"),
    );
    expect(explainText(engine.explain("1.2.3.4", "b"))).toContain(
      "egress of 1.2.3.4-1.2.3.4[External]: open (outside the cluster)",
    );
  });
});

describe("ids", () => {
  it("are taken apart", () => {
    expect(parseId(DATA)).toEqual({ namespace: "lab", name: "redis-data", kind: "StatefulSet" });
    expect(parseId("x")).toEqual({ namespace: "", name: "x", kind: "" });
  });
});
