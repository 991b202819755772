/** Questions of the redis, sentinel and port rules that the model answers. */
import { describe, expect, it } from "vitest";
import { textKind } from "../../src/model/build.js";
import type { Contract } from "../../src/model/contract.js";
import { isOfficialImage } from "../../src/model/image.js";
import { hostUses } from "../../src/model/kubernetes/host-uses.js";
import { podFile } from "../../src/model/kubernetes/pod-file.js";
import { hostMeaning } from "../../src/model/kubernetes/pod-name.js";
import { planeListeners, podPorts } from "../../src/model/kubernetes/pod-ports.js";
import { isCovered, labelsOf } from "../../src/model/redis/announced-name.js";
import { firstAttemptMs, followMs, secondAttemptMs } from "../../src/model/redis/failover-time.js";
import { compareVersions, versionOf } from "../../src/model/version.js";
import { Source } from "../../src/text/source.js";
import { checkTree, tree } from "../support.js";

const set = (extra: string, container = ""): string => `apiVersion: apps/v1
kind: StatefulSet
metadata: { name: cache, namespace: ns }
spec:
  serviceName: cache-hl
  replicas: 3
${extra}  selector: { matchLabels: { app: cache } }
  template:
    metadata: { labels: { app: cache } }
    spec:
      containers:
        - name: redis
          image: redis:7.2.4
${container}`;
const service = `---
apiVersion: v1
kind: Service
metadata: { name: cache-hl, namespace: ns }
spec: { clusterIP: None, selector: { app: cache }, ports: [{ port: 6379 }] }
`;

async function contractOf(files: Readonly<Record<string, string>>): Promise<Contract> {
  const run = await checkTree(tree(files));
  expect(run.result.crashes.map((c) => c.error.stack)).toEqual([]);
  return run.roots[0]!.contracts[0]!;
}

describe("texts", () => {
  it.each([
    ["haproxy.cfg", "defaults\n  mode tcp\nfrontend redis\n  bind :6379\n", undefined],
    ["redis-haproxy.cfg", "defaults REDIS\n  timeout connect 4s\nlisten health\n  bind :8888\n", undefined],
    ["mosquitto.conf", "port 1883\npersistence true\n", undefined],
    ["redis.conf", "[program:redis]\ncommand=redis-server\nport 1\n", undefined],
    ["redis.conf", "upstream redis {\n  server redis:6379;\n}\n", undefined],
    ["cache.conf", "port 0\ntls-port 6379\n", "data"],
    ["cache.conf", "port 6379\nsave 900 1\n", "data"],
    ["redis.conf.tmpl", "port {{ .Port }}\n{{ if .Tls }}\ntls-port 1\n{{ end }}\n", "data"],
    ["master.conf", "sentinel monitor m 10.0.0.1 6379 2\n", "sentinel"],
  ])("%s is %s", (name, text, kind) => expect(textKind(name, text)).toBe(kind));
});

describe("names of pods", async () => {
  const contract = await contractOf({ "a.yaml": set("") + service });
  const of = (host: string, from = "ns"): string => {
    const meaning = hostMeaning(contract, host, from);
    return meaning.kind === "pod" ? `pod ${meaning.ordinal}` : meaning.kind;
  };
  it.each([
    ["cache-0.cache-hl", "pod 0"],
    ["cache-2.cache-hl.ns", "pod 2"],
    ["CACHE-0.cache-hl.ns.svc.", "pod 0"],
    ["cache-0.cache-hl.ns.svc.example.org", "pod 0"],
    ["cache-3.cache-hl", "wrong"],
    ["cache-00.cache-hl", "other"],
    ["cache-0.cache", "wrong"],
    ["cache-0.cache-hl.other", "wrong"],
    ["cache-0.cache-hl.ns.scv", "wrong"],
    ["redis-0.cache-hl", "wrong"],
    ["cache-0", "wrong"],
    ["cache-hl", "service"],
    ["cache-hl.ns.svc", "service"],
    ["10.0.0.1", "other"],
    ["redis.example.org", "other"],
    ["a..b", "other"],
  ])("%s: %s", (host, meaning) => expect(of(host)).toBe(meaning));
  it("a short name of another namespace", () => expect(of("cache-0.cache-hl", "app")).toBe("wrong"));
  it("ordinals that start later", async () => {
    const later = await contractOf({ "a.yaml": set("  ordinals: { start: 5 }\n") + service });
    expect(
      ["cache-4", "cache-5", "cache-7", "cache-8"].map((p) => hostMeaning(later, `${p}.cache-hl`, "ns").kind),
    ).toEqual(["wrong", "pod", "pod", "wrong"]);
  });
  it("a scale that is not known", async () => {
    const open = await contractOf({ "a.yaml": set("").replace("replicas: 3", "replicas: ${N}") + service });
    expect(hostMeaning(open, "cache-90.cache-hl", "ns").kind).toBe("pod");
  });
  it("are found in scripts and variables", async () => {
    const script =
      '# cache-9.cache-hl\necho "replicaof cache-1.cache-hl 6379"\nping cache-0.cache-hl.$NS.svc\nping $X-0.cache-hl cache-$I.cache-hl 7.2.4-1.x\n';
    const found = await contractOf({
      "a.yaml": set("", "          env: [{ name: HOST, value: 'redis://cache-2.cache-hl:6379' }]\n") + service,
      "start.sh": script,
    });
    expect(hostUses(found).map((u) => `${u.role} ${u.host}`)).toEqual([
      "primary cache-1.cache-hl",
      "mention cache-0.cache-hl",
      "mention cache-2.cache-hl",
    ]);
  });
});

describe("announced names", () => {
  const at = new Source("x", "").span(0, 0);
  const name = (value: string, placeholder: "none" | "part" | "whole" = "part") => ({ value, placeholder, at });
  it("keep placeholders apart", () => {
    expect(labelsOf(name("{{ .Values.a }}.b.c"))).toEqual(["\uFFFC", "b", "c"]);
    expect(labelsOf(name("${NAME}", "whole"))).toBeUndefined();
    expect(labelsOf(name("POD.b"))).toBeUndefined();
  });
  it.each([
    ["${POD}.b.example", true],
    ["${POD}.x.b.example", false],
    ["cache-${N}.b.example", true],
    ["${POD}.example", true],
    ["${POD}.c.example", false],
    ["${POD}", true],
  ])("*.b.example covers %s: %s", (value, covered) =>
    expect(isCovered(["*.b.example"], name(value, value === "${POD}" ? "whole" : "part"))).toBe(covered),
  );
});

describe("files of pods", async () => {
  const volumes = `          volumeMounts:
            - { name: tls, mountPath: /tls }
            - { name: conf, mountPath: /conf }
            - { name: one, mountPath: /one/ca.pem, subPath: ca.pem }
            - { name: both, mountPath: /both }
      volumes:
        - { name: tls, secret: { secretName: tls, items: [{ key: crt, path: tls.crt }] } }
        - { name: conf, configMap: { name: conf } }
        - { name: one, secret: { secretName: ca } }
        - { name: both, projected: { sources: [{ secret: { name: a, items: [{ key: k, path: a.pem }] } }, { configMap: { name: conf } }] } }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: conf, namespace: ns }
data: { users.acl: "user default off" }
`;
  const contract = await contractOf({ "a.yaml": set("", volumes) + service });
  const container = contract.workloads[0]!.containers[0]!;
  it.each([
    ["/tls/tls.crt", "mounted", "Secret/tls#crt"],
    ["/tls/tls.key", "lacks", undefined],
    ["/conf/users.acl", "mounted", "ConfigMap/conf#users.acl"],
    ["/conf/other.acl", "lacks", undefined],
    ["/one/ca.pem", "mounted", "Secret/ca#ca.pem"],
    ["/both/a.pem", "mounted", "Secret/a#k"],
    ["/both/b.pem", "lacks", undefined],
    ["/both/users.acl", "mounted", "ConfigMap/conf#users.acl"],
    ["/etc/x", "unmounted", undefined],
  ])("%s", (path, state, source) => expect(podFile(contract, container, path)).toMatchObject({ state, source }));
});

describe("ports of pods", () => {
  const ports = async (container: string): Promise<[readonly number[], boolean]> => {
    const contract = await contractOf({ "a.yaml": set("", container) + service });
    const { open, known } = planeListeners(contract, contract.planes[0]!);
    return [open.map((l) => l.port), known];
  };
  it("of the image", async () => expect(await ports("")).toEqual([[6379], true]));
  it("of the command line", async () =>
    expect(await ports('          args: ["--port", "0", "--tls-port", "6380"]\n')).toEqual([[6380], true]));
  it("of a shell", async () =>
    expect(await ports('          command: [sh, -c, "exec redis-server --port 7000"]\n')).toEqual([[7000], true]));
  it("of a file out of sight", async () =>
    expect(await ports("          command: [redis-server, /etc/redis.conf]\n")).toEqual([[], false]));
  it("of a variable", async () => expect((await ports('          args: ["--port", "$(PORT)"]\n'))[1]).toBe(false));
  it("a container that declares nothing may have any", async () => {
    const contract = await contractOf({
      "a.yaml": `${set("")}        - { name: exporter, image: example.org/exporter }\n${service}`,
    });
    expect(podPorts(contract, contract.workloads[0]!).complete).toBe(false);
  });
});

describe("numbers", () => {
  it("times of a failover", () => {
    expect(firstAttemptMs(5000)).toBe(8000);
    expect(secondAttemptMs(5000, 20000)).toBe(49000);
    expect([followMs(3, 1), followMs(5, 1), followMs(5, 2), followMs(1, 1)]).toEqual([10_000, 30_000, 20_000, 0]);
  });
  it("versions", () => {
    expect(versionOf("valkey 8.0.1")).toMatchObject({
      flavour: "valkey",
      major: 8,
      minor: 0,
      patch: 1,
      title: "Valkey 8.0.1",
    });
    expect(versionOf("latest")).toBeUndefined();
    expect(compareVersions(versionOf("7.2")!, versionOf("7.2.4")!)).toBeLessThan(0);
    expect(compareVersions(versionOf("7.10")!, versionOf("7.9")!)).toBeGreaterThan(0);
  });
  it("official images", () => {
    const images = ["redis:7", "docker.io/library/redis:7", "valkey/valkey:8", "public.ecr.aws/docker/library/redis:7"];
    expect(images.map(isOfficialImage)).toEqual([true, true, true, true]);
    expect(
      ["bitnami/redis:7", "registry.example/redis:7", "redis/redis-stack:7", undefined].map(isOfficialImage),
    ).toEqual([false, false, false, false]);
  });
});
