import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { buildKubernetesTables, SOURCES } from "../../src/dev/kubernetes-tables.js";
import {
  createSchemas,
  describeProblem,
  type KubernetesTables,
  lookup,
  type SchemaProblem,
  validate,
} from "../../src/model/kubernetes/schema.js";
import {
  isBase64,
  isEnvName,
  isPortName,
  isQuantity,
  isSchedule,
  isTime,
} from "../../src/model/kubernetes/schema-formats.js";
import type { FieldTable, TypeTable, VersionSchema } from "../../src/model/kubernetes/schema-tables.js";

const file = new URL("../../schemas/kubernetes/tables.json", import.meta.url);
const text = readFileSync(file, "utf8");
const tables = JSON.parse(text) as KubernetesTables & { sources: object };
const schemas = createSchemas(tables);

type Path = readonly (string | number)[];
type Json = Record<string | number, unknown>;

/** A copy with another value at a path; the marker `GONE` takes the key away. */
const GONE = Symbol("gone");
function changed(value: unknown, path: Path, to: unknown): unknown {
  if (path.length === 0) return to;
  const [step, ...rest] = path;
  const copy = (Array.isArray(value) ? [...value] : Object.assign({}, value)) as Json;
  if (rest.length === 0 && to === GONE) delete copy[step!];
  else copy[step!] = changed(copy[step!] ?? {}, rest, to);
  return copy;
}

const brief = (problems: readonly SchemaProblem[]): string[] =>
  problems.map((problem) => `${problem.code} ${problem.at} /${problem.path.join("/")}`);

const check = (value: unknown, version = "1.32"): string[] => brief(validate(value, version, schemas));

const STATEFUL_SET = parse(`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: redis, namespace: lab}
spec:
  serviceName: redis
  replicas: 3
  selector: {matchLabels: {app: redis}}
  template:
    metadata: {labels: {app: redis}}
    spec:
      initContainers:
        - {name: init, image: redis}
      containers:
        - name: redis
          image: redis
          ports: [{name: redis, containerPort: 6379}]
          env: [{name: A, value: b}]
          volumeMounts: [{name: data, mountPath: /data}]
          resources: {requests: {cpu: 100m}, limits: {memory: 1Gi}}
          readinessProbe: {exec: {command: [redis-cli, ping]}}
      volumes: [{name: conf, configMap: {name: conf}}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`) as unknown;
const POD: Path = ["spec", "template", "spec"];
const CONTAINER: Path = [...POD, "containers", 0];

describe("the tables", () => {
  it("are small and name their sources", () => {
    expect(text.length).toBeLessThan(150_000);
    expect(tables.versions).toEqual(["1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36"]);
    expect(tables.sources).toEqual(SOURCES);
  });

  it("decode in every version, with no reference into the void", () => {
    for (const version of schemas.versions) {
      const schema = schemas.schema(version)!;
      for (const apiVersion of schemas.apiVersions) {
        for (const kind of schemas.kinds(apiVersion).values()) {
          if (kind.type >= 0 && schema.serves(kind)) expect(schema.type(kind.type).fields.size).toBeGreaterThan(0);
        }
      }
      for (let id = 0; id < tables.types.length; id++) {
        for (const field of schema.type(id).fields.values()) {
          if (field.leaf === "#") expect(tables.types[field.type]).toBeTypeOf("string");
          else expect("sbildxqtuyoae").toContain(field.leaf);
        }
      }
    }
  });

  it("are read by version, nearest where there is none", () => {
    expect(schemas.nearest("1.32")).toEqual({ version: "1.32", exact: true });
    expect(schemas.nearest("v1.33.4+k3s1")).toEqual({ version: "1.33", exact: true });
    expect(schemas.nearest(1.31)).toEqual({ version: "1.31", exact: true });
    expect(schemas.nearest(1.3)).toEqual({ version: "1.30", exact: true });
    expect(schemas.nearest("1.27")).toEqual({ version: "1.30", exact: false });
    expect(schemas.nearest("1.99")).toEqual({ version: "1.36", exact: false });
    expect(schemas.nearest("latest")).toBeUndefined();
    expect(schemas.nearest("2.1")).toBeUndefined();
    expect(() => validate({}, "1.29", schemas)).toThrow(RangeError);
  });

  it("say clearly which package the builder misses", () => {
    expect(() => buildKubernetesTables(fileURLToPath(new URL(".", import.meta.url)))).toThrow(
      /@kubernetes\/client-node@1\.0\.0-rc7 is not in/,
    );
  });
});

describe("valid documents", () => {
  const valid = parseAllDocuments(readFileSync(new URL("../data/kubernetes/valid.yaml", import.meta.url), "utf8"), {
    merge: true,
  });
  for (const version of schemas.versions) {
    it(`have no problem in ${version}`, () => {
      for (const document of valid)
        expect(validate(document.toJS(), version, schemas).map(describeProblem)).toEqual([]);
    });
  }

  it("may be empty", () => {
    expect(check(null)).toEqual([]);
    expect(check(STATEFUL_SET)).toEqual([]);
  });
});

describe("kinds", () => {
  const of = (apiVersion: string, kind: string, version = "1.32") => lookup(apiVersion, kind, version, schemas);

  it.each([
    ["apps/v1beta1", "StatefulSet", "1.16", "apps/v1"],
    ["extensions/v1beta1", "Ingress", "1.22", "networking.k8s.io/v1"],
    ["extensions/v1beta1", "NetworkPolicy", "1.16", "networking.k8s.io/v1"],
    ["networking.k8s.io/v1beta1", "IngressClass", "1.22", "networking.k8s.io/v1"],
    ["policy/v1beta1", "PodDisruptionBudget", "1.25", "policy/v1"],
    ["policy/v1beta1", "PodSecurityPolicy", "1.25", undefined],
    ["batch/v1beta1", "CronJob", "1.25", "batch/v1"],
    ["autoscaling/v2beta2", "HorizontalPodAutoscaler", "1.26", "autoscaling/v2"],
    ["storage.k8s.io/v1beta1", "CSIStorageCapacity", "1.27", "storage.k8s.io/v1"],
    ["flowcontrol.apiserver.k8s.io/v1beta2", "FlowSchema", "1.29", "flowcontrol.apiserver.k8s.io/v1"],
    ["flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema", "1.32", "flowcontrol.apiserver.k8s.io/v1"],
    ["rbac.authorization.k8s.io/v1beta1", "RoleBindingList", "1.22", "rbac.authorization.k8s.io/v1"],
  ])("%s %s was removed", (apiVersion, kind, since, replacement) => {
    expect(of(apiVersion, kind)).toEqual({ status: "removed", since, replacement });
  });

  it("come and go with versions", () => {
    expect(of("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema", "1.31").status).toBe("builtin");
    expect(of("networking.k8s.io/v1", "ServiceCIDR", "1.32")).toEqual({ status: "future", since: "1.33" });
    expect(of("networking.k8s.io/v1", "ServiceCIDR", "1.33").status).toBe("builtin");
    expect(of("scheduling.k8s.io/v1alpha1", "Workload", "1.35").status).toBe("builtin");
    expect(of("scheduling.k8s.io/v1alpha1", "Workload", "1.36")).toEqual({
      status: "removed",
      since: "1.36",
      replacement: "scheduling.k8s.io/v1alpha2",
    });
  });

  it("of builtin groups are known, with the nearest name", () => {
    expect(of("apps/v1", "StatefullSet")).toEqual({
      status: "unknown-kind",
      nearest: "StatefulSet",
      elsewhere: undefined,
    });
    expect(of("v1", "Deployment")).toMatchObject({ status: "unknown-kind", elsewhere: "apps/v1" });
    expect(of("apps/v2", "Deployment")).toEqual({ status: "unknown-version", nearest: "apps/v1" });
    expect(of("app/v1", "StatefullSet")).toEqual({ status: "unknown-version", nearest: "apps/v1" });
    expect(of("app/v1", "Deployment")).toEqual({ status: "unknown-version", nearest: "apps/v1" });
    expect(of("networking.k8s.io/v1beta1", "NetworkPolicy")).toEqual({
      status: "unknown-version",
      nearest: "networking.k8s.io/v1",
    });
    expect(of("rbac.authorisation.k8s.io/v1", "Role")).toEqual({
      status: "unknown-version",
      nearest: "rbac.authorization.k8s.io/v1",
    });
    expect(of("v2", "Pod")).toEqual({ status: "unknown-version", nearest: "v1" });
    expect(of("constructor", "Pod").status).toBe("unknown-version");
    expect(of("v1", "constructor").status).toBe("unknown-kind");
  });

  it.each([
    ["example.com/v1", "StatefulSet"],
    ["gateway.networking.k8s.io/v1", "Gateway"],
    ["snapshot.storage.k8s.io/v1", "VolumeSnapshot"],
    ["audit.k8s.io/v1", "Event"],
    ["networking.gke.io/v1", "Ingress"],
    ["networking.istio.io/v1", "Gateway"],
    ["policy.networking.k8s.io/v1alpha1", "NetworkPolicy"],
    ["monitoring.coreos.com/v1", "ServiceMonitor"],
    ["v1", "Config"],
    ["skaffold/v2beta29", "Config"],
    ["v2", "Chart"],
  ])("%s %s is a resource of its own", (apiVersion, kind) => {
    expect(of(apiVersion, kind)).toEqual({ status: "custom" });
  });

  it("are reported at their place", () => {
    const value = { apiVersion: "apps/v1", kind: "StatefullSet", metadata: { name: "a" } };
    expect(check(value)).toEqual(["unknown-kind value /kind"]);
    expect(check(changed(STATEFUL_SET, ["apiVersion"], "apps/v1beta2"))).toEqual(["removed-api value /apiVersion"]);
    expect(check(changed(STATEFUL_SET, ["apiVersion"], "apps/v3"))).toEqual(["unknown-version value /apiVersion"]);
    expect(check({ apiVersion: "networking.k8s.io/v1", kind: "ServiceCIDR", metadata: { name: "a" } })).toEqual([
      "future-api value /apiVersion",
    ]);
    expect(check(changed(STATEFUL_SET, ["kind"], GONE))).toEqual(["no-kind missing /kind"]);
    expect(check(changed(STATEFUL_SET, ["apiVersion"], 1))).toEqual(["no-kind value /apiVersion"]);
    expect(check("text")).toEqual(["wrong-type value /"]);
    expect(check([])).toEqual(["wrong-type value /"]);
  });

  it("are judged in each item of a list", () => {
    const bad = changed(STATEFUL_SET, ["spec", "replicas"], "3");
    expect(check({ apiVersion: "v1", kind: "List", items: [STATEFUL_SET, bad, null, { kind: "Pod" }] }).sort()).toEqual(
      ["no-kind missing /items/3/apiVersion", "wrong-type value /items/1/spec/replicas", "wrong-type value /items/2"],
    );
    expect(check({ apiVersion: "v1", kind: "List", item: [] })).toEqual(["unknown-field key /item"]);
    expect(check({ apiVersion: "apps/v1", kind: "StatefulSetList", items: [bad] })).toEqual([
      "wrong-type value /items/0/spec/replicas",
    ]);
  });
});

describe("fields", () => {
  const problem = (path: Path, to: unknown, version = "1.32"): SchemaProblem => {
    const found = validate(changed(STATEFUL_SET, path, to), version, schemas);
    expect(brief(found)).toHaveLength(1);
    return found[0]!;
  };

  it("get the nearest name", () => {
    expect(problem(["spec", "replica"], 1)).toMatchObject({
      code: "unknown-field",
      at: "key",
      nearest: "replicas",
      of: "StatefulSetSpec",
    });
    expect(problem([...CONTAINER, "imagePullpolicy"], "Always")).toMatchObject({ nearest: "imagePullPolicy" });
    expect(describeProblem(problem(["spec", "repliacs"], 1))).toBe(
      '"repliacs" is no field of StatefulSetSpec; did you mean "replicas"?',
    );
  });

  it("tell where they would be right", () => {
    expect(problem(["replicas"], 1).note).toBe('it belongs under "spec"');
    expect(problem([...CONTAINER, "volumes"], []).note).toBe("it belongs to PodSpec, further up");
    expect(problem([...POD, "hostnameOverride"], "a").note).toBe("it exists since Kubernetes 1.34");
    expect(problem([...POD, "workloadRef"], {}, "1.36").note).toBe("it existed until Kubernetes 1.35");
  });

  it("that are misspelled are not missing as well", () => {
    const { selector, template } = (STATEFUL_SET as { spec: Json }).spec;
    const spec = { serviceName: "redis", template, selectors: selector };
    expect(check(changed(STATEFUL_SET, ["spec"], spec))).toEqual(["unknown-field key /spec/selectors"]);
    const probe = { tcpsocket: { port: 6379 } };
    expect(check(changed(STATEFUL_SET, [...CONTAINER, "readinessProbe"], probe))).toEqual([
      `unknown-field key /${CONTAINER.join("/")}/readinessProbe/tcpsocket`,
    ]);
  });

  it("of prototypes are no fields", () => {
    for (const name of ["constructor", "toString", "__proto__"]) {
      const value = JSON.parse(
        JSON.stringify(STATEFUL_SET).replace('"serviceName"', `"${name}":1,"serviceName"`),
      ) as unknown;
      expect(check(value)).toEqual([`unknown-field key /spec/${name}`]);
    }
  });

  it("may be null when they are optional, not when they are required", () => {
    expect(check(changed(STATEFUL_SET, ["spec", "updateStrategy"], null))).toEqual([]);
    expect(check(changed(STATEFUL_SET, ["metadata", "annotations"], { a: null }))).toEqual([]);
    expect(check(changed(STATEFUL_SET, ["spec", "template"], null))).toEqual(["missing missing /spec/template"]);
    expect(check(changed(STATEFUL_SET, [...CONTAINER, "args"], [null]))).toEqual([
      `wrong-type value /${CONTAINER.join("/")}/args/0`,
    ]);
  });

  it("follow the version", () => {
    const nameless = changed(STATEFUL_SET, ["spec", "serviceName"], GONE);
    expect(check(nameless, "1.32")).toEqual(["missing missing /spec/serviceName"]);
    expect(check(nameless, "1.33")).toEqual([]);
    const toleration = changed(STATEFUL_SET, [...POD, "tolerations"], [{ key: "a", operator: "Gt", value: "1" }]);
    expect(check(toleration, "1.34")).toEqual(["enum value /spec/template/spec/tolerations/0/operator"]);
    expect(check(toleration, "1.35")).toEqual([]);
  });

  it("stop at a limit", () => {
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`field${i}`, 1]));
    expect(validate(changed(STATEFUL_SET, ["metadata"], { name: "a", ...wide }), "1.32", schemas)).toHaveLength(1000);
    expect(
      validate(changed(STATEFUL_SET, ["metadata"], { name: "a", ...wide }), "1.32", schemas, { limit: 3 }),
    ).toHaveLength(3);
  });
});

/** [what is changed, at which path, to what, the problem at that path or below it] */
type Case = readonly [path: Path, to: unknown, expected: string];

const BAD: readonly Case[] = [
  [["metadata"], GONE, "missing missing /metadata"],
  [["metadata", "name"], GONE, "missing missing /metadata/name"],
  [["metadata", "name"], "Redis", "pattern value /metadata/name"],
  [["metadata", "name"], 7, "wrong-type value /metadata/name"],
  [["metadata", "namespace"], "a.b", "pattern value /metadata/namespace"],
  [["metadata", "labels"], { "-a": "b" }, "pattern key /metadata/labels/-a"],
  [["metadata", "labels"], { a: "b c" }, "pattern value /metadata/labels/a"],
  [["metadata", "labels"], { a: true }, "wrong-type value /metadata/labels/a"],
  [["metadata", "labels"], { a: "x".repeat(64) }, "pattern value /metadata/labels/a"],
  [["metadata", "annotations"], { "a b": "" }, "pattern key /metadata/annotations/a b"],
  [["metadata", "annotations"], { a: 5432 }, "wrong-type value /metadata/annotations/a"],
  [["metadata", "creationTimestamp"], "yesterday", "pattern value /metadata/creationTimestamp"],
  [["spec"], GONE, "missing missing /spec"],
  [["spec"], [], "wrong-type value /spec"],
  [["spec", "replicas"], "3", "wrong-type value /spec/replicas"],
  [["spec", "replicas"], 1.5, "wrong-type value /spec/replicas"],
  [["spec", "replicas"], 2 ** 31, "range value /spec/replicas"],
  [["spec", "replicas"], -1, "range value /spec/replicas"],
  [["spec", "selector"], GONE, "missing missing /spec/selector"],
  [["spec", "selector"], {}, "missing value /spec/selector"],
  [
    ["spec", "selector", "matchExpressions"],
    [{ key: "a", operator: "in", values: ["b"] }],
    "enum value /spec/selector/matchExpressions/0/operator",
  ],
  [
    ["spec", "selector", "matchExpressions"],
    [{ key: "a", operator: "In" }],
    "missing missing /spec/selector/matchExpressions/0/values",
  ],
  [
    ["spec", "selector", "matchExpressions"],
    [{ key: "a", operator: "Exists", values: ["b"] }],
    "conflict key /spec/selector/matchExpressions/0/values",
  ],
  [
    ["spec", "selector", "matchExpressions"],
    [{ operator: "Exists" }],
    "missing missing /spec/selector/matchExpressions/0/key",
  ],
  [["spec", "podManagementPolicy"], "parallel", "enum value /spec/podManagementPolicy"],
  [
    ["spec", "updateStrategy"],
    { type: "OnDelete", rollingUpdate: {} },
    "conflict key /spec/updateStrategy/rollingUpdate",
  ],
  [
    ["spec", "persistentVolumeClaimRetentionPolicy"],
    { whenDeleted: "Keep" },
    "enum value /spec/persistentVolumeClaimRetentionPolicy/whenDeleted",
  ],
  [
    ["spec", "volumeClaimTemplates", 0, "spec", "accessModes"],
    GONE,
    "missing missing /spec/volumeClaimTemplates/0/spec/accessModes",
  ],
  [
    ["spec", "volumeClaimTemplates", 0, "spec", "accessModes"],
    ["ReadWriteOnly"],
    "enum value /spec/volumeClaimTemplates/0/spec/accessModes/0",
  ],
  [
    ["spec", "volumeClaimTemplates", 0, "spec", "resources"],
    { requests: { cpu: "1" } },
    "missing missing /spec/volumeClaimTemplates/0/spec/resources/requests/storage",
  ],
  [POD, GONE, "missing missing /spec/template/spec"],
  [[...POD, "restartPolicy"], "Never", "enum value /spec/template/spec/restartPolicy"],
  [[...POD, "activeDeadlineSeconds"], 5, "conflict key /spec/template/spec/activeDeadlineSeconds"],
  [[...POD, "containers"], [], "missing value /spec/template/spec/containers"],
  [[...POD, "containers"], { name: "a" }, "wrong-type value /spec/template/spec/containers"],
  [[...POD, "containers", 1], { name: "redis", image: "a" }, "duplicate value /spec/template/spec/containers/1/name"],
  [[...POD, "initContainers", 0, "name"], "redis", "duplicate value /spec/template/spec/initContainers/0/name"],
  [
    [...POD, "initContainers", 0, "readinessProbe"],
    { tcpSocket: { port: 1 } },
    "conflict key /spec/template/spec/initContainers/0/readinessProbe",
  ],
  [[...POD, "volumes", 1], { name: "conf" }, "duplicate value /spec/template/spec/volumes/1/name"],
  [[...POD, "volumes", 0, "emptyDir"], {}, "conflict key /spec/template/spec/volumes/0/emptyDir"],
  [[...POD, "volumes", 0, "name"], "my_conf", "pattern value /spec/template/spec/volumes/0/name"],
  [[...POD, "volumes", 0, "configMap"], {}, "missing missing /spec/template/spec/volumes/0/configMap/name"],
  [
    [...POD, "volumes", 0, "configMap", "defaultMode"],
    1000,
    "range value /spec/template/spec/volumes/0/configMap/defaultMode",
  ],
  [
    [...POD, "volumes", 0, "configMap", "items"],
    [{ key: "a", path: "../a" }],
    "pattern value /spec/template/spec/volumes/0/configMap/items/0/path",
  ],
  [[...POD, "dnsPolicy"], "None", "conflict value /spec/template/spec/dnsPolicy"],
  [
    [...POD, "terminationGracePeriodSeconds"],
    "30s",
    "wrong-type value /spec/template/spec/terminationGracePeriodSeconds",
  ],
  [
    [...POD, "tolerations"],
    [{ operator: "Exists", value: "a" }],
    "conflict key /spec/template/spec/tolerations/0/value",
  ],
  [[...POD, "tolerations"], [{ value: "a" }], "conflict missing /spec/template/spec/tolerations/0/key"],
  [
    [...POD, "tolerations"],
    [{ key: "a", effect: "NoSchedule", tolerationSeconds: 1 }],
    "conflict key /spec/template/spec/tolerations/0/tolerationSeconds",
  ],
  [
    [...POD, "topologySpreadConstraints"],
    [{ maxSkew: 0, topologyKey: "a", whenUnsatisfiable: "DoNotSchedule" }],
    "range value /spec/template/spec/topologySpreadConstraints/0/maxSkew",
  ],
  [
    [...POD, "topologySpreadConstraints"],
    [{ maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" }],
    "missing missing /spec/template/spec/topologySpreadConstraints/0/topologyKey",
  ],
  [
    [...POD, "topologySpreadConstraints"],
    [1, 2].map((maxSkew) => ({ maxSkew, topologyKey: "a", whenUnsatisfiable: "DoNotSchedule" })),
    "duplicate value /spec/template/spec/topologySpreadConstraints/1/topologyKey",
  ],
  [
    [...POD, "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"],
    [{ labelSelector: {} }],
    "missing missing /spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0/topologyKey",
  ],
  [
    [...POD, "affinity", "podAntiAffinity", "preferredDuringSchedulingIgnoredDuringExecution"],
    [{ weight: 0, podAffinityTerm: { topologyKey: "a" } }],
    "range value /spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/0/weight",
  ],
  [
    [...POD, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"],
    { nodeSelectorTerms: [] },
    "missing value /spec/template/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms",
  ],
  [
    [...POD, "securityContext"],
    { seccompProfile: { type: "Localhost" } },
    "missing missing /spec/template/spec/securityContext/seccompProfile/localhostProfile",
  ],
  [[...POD, "securityContext"], { runAsUser: -1 }, "range value /spec/template/spec/securityContext/runAsUser"],
  [[...POD, "securityContext"], { runAsUser: "999" }, "wrong-type value /spec/template/spec/securityContext/runAsUser"],
  [[...CONTAINER, "image"], GONE, "missing missing /spec/template/spec/containers/0/image"],
  [[...CONTAINER, "name"], "Redis_1", "pattern value /spec/template/spec/containers/0/name"],
  [[...CONTAINER, "restartPolicy"], "Always", "conflict key /spec/template/spec/containers/0/restartPolicy"],
  [[...CONTAINER, "imagePullPolicy"], "Allways", "enum value /spec/template/spec/containers/0/imagePullPolicy"],
  [[...CONTAINER, "command"], "redis-server", "wrong-type value /spec/template/spec/containers/0/command"],
  [[...CONTAINER, "args"], ["--port", 6379], "wrong-type value /spec/template/spec/containers/0/args/1"],
  [
    [...CONTAINER, "ports", 0, "containerPort"],
    65536,
    "range value /spec/template/spec/containers/0/ports/0/containerPort",
  ],
  [
    [...CONTAINER, "ports", 0, "containerPort"],
    "6379",
    "wrong-type value /spec/template/spec/containers/0/ports/0/containerPort",
  ],
  [
    [...CONTAINER, "ports", 0, "name"],
    "redis-tls-port-1",
    "pattern value /spec/template/spec/containers/0/ports/0/name",
  ],
  [
    [...CONTAINER, "ports", 1],
    { name: "redis", containerPort: 1 },
    "duplicate value /spec/template/spec/containers/0/ports/1/name",
  ],
  [[...CONTAINER, "env", 0, "value"], 5, "wrong-type value /spec/template/spec/containers/0/env/0/value"],
  [[...CONTAINER, "env", 0, "name"], "A=B", "pattern value /spec/template/spec/containers/0/env/0/name"],
  [
    [...CONTAINER, "env", 0, "valueFrom"],
    { secretKeyRef: { name: "a", key: "b" } },
    "conflict key /spec/template/spec/containers/0/env/0/valueFrom",
  ],
  [
    [...CONTAINER, "env", 0],
    { name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.nam" } } },
    "pattern value /spec/template/spec/containers/0/env/0/valueFrom/fieldRef/fieldPath",
  ],
  [
    [...CONTAINER, "env", 0],
    { name: "A", valueFrom: {} },
    "missing value /spec/template/spec/containers/0/env/0/valueFrom",
  ],
  [
    [...CONTAINER, "env", 0],
    { name: "A", valueFrom: { secretKeyRef: { key: "b" } } },
    "missing missing /spec/template/spec/containers/0/env/0/valueFrom/secretKeyRef/name",
  ],
  [[...CONTAINER, "env", 1], { name: "A" }, "duplicate value /spec/template/spec/containers/0/env/1/name"],
  [
    [...CONTAINER, "volumeMounts", 1],
    { name: "conf", mountPath: "/data" },
    "duplicate value /spec/template/spec/containers/0/volumeMounts/1/mountPath",
  ],
  [
    [...CONTAINER, "volumeMounts", 0, "mountPath"],
    GONE,
    "missing missing /spec/template/spec/containers/0/volumeMounts/0/mountPath",
  ],
  [
    [...CONTAINER, "volumeMounts", 0, "subPath"],
    "/abs",
    "pattern value /spec/template/spec/containers/0/volumeMounts/0/subPath",
  ],
  [
    [...CONTAINER, "resources", "requests", "cpu"],
    "100 m",
    "pattern value /spec/template/spec/containers/0/resources/requests/cpu",
  ],
  [
    [...CONTAINER, "resources", "requests", "memroy"],
    "1Gi",
    "pattern key /spec/template/spec/containers/0/resources/requests/memroy",
  ],
  [
    [...CONTAINER, "resources", "limits", "memory"],
    "512MB",
    "pattern value /spec/template/spec/containers/0/resources/limits/memory",
  ],
  [
    [...CONTAINER, "resources", "limits", "memory"],
    "-1Gi",
    "range value /spec/template/spec/containers/0/resources/limits/memory",
  ],
  [
    [...CONTAINER, "resources", "limits", "memory"],
    true,
    "wrong-type value /spec/template/spec/containers/0/resources/limits/memory",
  ],
  [
    [...CONTAINER, "readinessProbe"],
    { periodSeconds: 5 },
    "missing value /spec/template/spec/containers/0/readinessProbe",
  ],
  [
    [...CONTAINER, "readinessProbe", "tcpSocket"],
    { port: 1 },
    "conflict key /spec/template/spec/containers/0/readinessProbe/tcpSocket",
  ],
  [
    [...CONTAINER, "readinessProbe", "terminationGracePeriodSeconds"],
    1,
    "conflict key /spec/template/spec/containers/0/readinessProbe/terminationGracePeriodSeconds",
  ],
  [
    [...CONTAINER, "readinessProbe", "exec", "command"],
    "redis-cli ping",
    "wrong-type value /spec/template/spec/containers/0/readinessProbe/exec/command",
  ],
  [
    [...CONTAINER, "readinessProbe", "exec"],
    {},
    "missing missing /spec/template/spec/containers/0/readinessProbe/exec/command",
  ],
  [
    [...CONTAINER, "livenessProbe"],
    { tcpSocket: { port: 70000 } },
    "range value /spec/template/spec/containers/0/livenessProbe/tcpSocket/port",
  ],
  [
    [...CONTAINER, "livenessProbe"],
    { tcpSocket: { port: "6379" } },
    "pattern value /spec/template/spec/containers/0/livenessProbe/tcpSocket/port",
  ],
  [
    [...CONTAINER, "livenessProbe"],
    { tcpSocket: { port: 1 }, successThreshold: 2 },
    "range value /spec/template/spec/containers/0/livenessProbe/successThreshold",
  ],
  [[...CONTAINER, "lifecycle"], { preStop: {} }, "missing value /spec/template/spec/containers/0/lifecycle/preStop"],
];

const OTHER: readonly (readonly [yaml: string, expected: readonly string[]])[] = [
  ["{apiVersion: v1, kind: Namespace, metadata: {name: a.b}}", ["pattern value /metadata/name"]],
  ["{apiVersion: v1, kind: Service, metadata: {name: 1a}, spec: {clusterIP: None}}", ["pattern value /metadata/name"]],
  ["{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: ClusterIP}}", ["missing missing /spec/ports"]],
  [
    "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: Nodeport, ports: [{port: 1}]}}",
    ["enum value /spec/type"],
  ],
  [
    "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 1}, {port: 2, name: b}]}}",
    ["missing missing /spec/ports/0/name"],
  ],
  [
    "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 1, name: a}, {port: 1, name: b}]}}",
    ["duplicate value /spec/ports/1/port"],
  ],
  [
    "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 0}]}}",
    ["range value /spec/ports/0/port"],
  ],
  [
    "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {clusterIP: none, ports: [{port: 1}]}}",
    ["pattern value /spec/clusterIP"],
  ],
  [
    "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, ports: [{port: 1}]}}",
    ["wrong-type value /spec/selector/matchLabels"],
  ],
  [
    "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: ExternalName}}",
    ["missing missing /spec/externalName"],
  ],
  [
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 2, maxUnavailable: 1}}",
    ["conflict key /spec/maxUnavailable"],
  ],
  [
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: '2'}}",
    ["pattern value /spec/minAvailable"],
  ],
  [
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 101%}}",
    ["range value /spec/minAvailable"],
  ],
  [
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 1.5}}",
    ["wrong-type value /spec/minAvailable"],
  ],
  [
    "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {}, policyTypes: [ingress]}}",
    ["enum value /spec/policyTypes/0"],
  ],
  [
    "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {}, ingress: [{from: [{}]}]}}",
    ["missing value /spec/ingress/0/from/0"],
  ],
  [
    "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.0}}]}]}}",
    ["pattern value /spec/ingress/0/from/0/ipBlock/cidr"],
  ],
  [
    "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {}, ingress: [{from: [{podSelector: {}, ipBlock: {cidr: 10.0.0.0/8}}]}]}}",
    ["conflict key /spec/ingress/0/from/0/ipBlock"],
  ],
  [
    "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {}, ingress: [{ports: [{port: 10, endPort: 9}, {endPort: 5}, {port: a, endPort: 5}]}]}}",
    [
      "range value /spec/ingress/0/ports/0/endPort",
      "missing missing /spec/ingress/0/ports/1/port",
      "conflict key /spec/ingress/0/ports/2/endPort",
    ],
  ],
  [
    "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {}, ingress: [{ports: [{port: 6379, protocol: tcp}]}]}}",
    ["enum value /spec/ingress/0/ports/0/protocol"],
  ],
  ["{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: 'plain text'}}", ["pattern value /data/a"]],
  ["{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {'a b': YQ==}}", ["pattern key /data/a b"]],
  [
    "{apiVersion: v1, kind: Secret, metadata: {name: a}, type: kubernetes.io/tls, data: {tls.crt: YQ==}}",
    ["missing missing /data/tls.key"],
  ],
  [
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: 1, b: {c: d}}}",
    ["wrong-type value /data/a", "wrong-type value /data/b"],
  ],
  [
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}, binaryData: {a: YQ==}}",
    ["duplicate key /binaryData/a"],
  ],
  [
    "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: {containers: [{name: a, image: b}]}}}}",
    ["missing missing /spec/template/spec/restartPolicy"],
  ],
  [
    "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {schedule: '60 * * * *', jobTemplate: {spec: {template: {spec: {restartPolicy: Always, containers: [{name: a, image: b}]}}}}}}",
    ["pattern value /spec/schedule", "enum value /spec/jobTemplate/spec/template/spec/restartPolicy"],
  ],
  [
    `{apiVersion: batch/v1, kind: CronJob, metadata: {name: ${"a".repeat(53)}}, spec: {schedule: '@daily', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}}}}`,
    ["pattern value /metadata/name"],
  ],
  [
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rules: [{apiGroups: [''], resources: [pods]}, {verbs: [get], resources: [pods]}]}",
    ["missing missing /rules/0/verbs", "missing missing /rules/1/apiGroups"],
  ],
  [
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a/b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: role, name: a}, subjects: [{kind: ServiceAccount, name: a}]}",
    ["enum value /roleRef/kind", "missing missing /subjects/0/namespace", "pattern value /metadata/name"],
  ],
  [
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}, selector: {matchLabels: {a: b}}, template: {spec: {containers: [{name: a, image: b}]}}}}",
    ["conflict key /spec/strategy/rollingUpdate"],
  ],
  [
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {strategy: {rollingUpdate: {maxSurge: 0%, maxUnavailable: 0}}, selector: {matchLabels: {a: b}}, template: {spec: {containers: [{name: a, image: b}]}}}}",
    ["conflict value /spec/strategy/rollingUpdate/maxUnavailable"],
  ],
  [
    "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {scaleTargetRef: {kind: A, name: a}, minReplicas: 3, maxReplicas: 2, metrics: [{type: Resource}]}}",
    ["missing missing /spec/metrics/0/resource", "range value /spec/maxReplicas"],
  ],
  [
    "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, spec: {rules: [{http: {paths: [{pathType: prefix, path: a, backend: {}}]}}]}}",
    [
      "enum value /spec/rules/0/http/paths/0/pathType",
      "pattern value /spec/rules/0/http/paths/0/path",
      "missing value /spec/rules/0/http/paths/0/backend",
    ],
  ],
  [
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: a}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce]}}",
    ["missing value /spec"],
  ],
  [
    "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, spec: {group: x.y, scope: Cluster, names: {kind: A, plural: as}, versions: [{name: v1, served: true, storage: false}]}}",
    ["pattern value /metadata/name", "conflict key /spec/versions"],
  ],
];

describe("what the API server refuses", () => {
  it.each(BAD.map(([path, to, expected]) => [expected, path, to] as const))("%s", (expected, path, to) => {
    expect(check(changed(STATEFUL_SET, path, to))).toEqual([expected]);
  });

  it.each(OTHER.map(([yaml, expected]) => [expected.join(", "), yaml, expected] as const))(
    "%s",
    (_, yaml, expected) => {
      expect(check(parse(yaml)).sort()).toEqual([...expected].sort());
    },
  );

  it("is said in one line", () => {
    const lines = [
      ...BAD.map(([path, to]) => changed(STATEFUL_SET, path, to)),
      ...OTHER.map(([yaml]) => parse(yaml) as unknown),
    ]
      .flatMap((value) => validate(value, "1.32", schemas))
      .map(describeProblem);
    for (const line of lines) expect(line).toMatch(/^[^\n]{10,300}$/);
    expect(lines.filter((line) => /undefined|\[object|NaN/.test(line))).toEqual([]);
    expect(describeProblem(validate(changed(STATEFUL_SET, ["spec", "replicas"], "3"), "1.32", schemas)[0]!)).toBe(
      '"replicas" must be an integer, not the string "3"',
    );
  });

  it("is only a warning where the server takes it", () => {
    const problems = validate(changed(STATEFUL_SET, [...CONTAINER, "env", 1], { name: "A" }), "1.32", schemas);
    expect(problems.map((problem) => problem.level)).toEqual(["warning"]);
  });
});

describe("template tokens", () => {
  const opaque = (value: string): boolean => /\{\{|__[A-Z]+__/.test(value);
  const judge = (value: unknown): string[] => brief(validate(value, "1.32", schemas, { opaque }));

  it("stand for any value", () => {
    const paths: Path[] = [
      ["apiVersion"],
      ["kind"],
      ["metadata"],
      ["metadata", "name"],
      ["metadata", "labels"],
      ["spec"],
      ["spec", "replicas"],
      ["spec", "selector"],
      ["spec", "podManagementPolicy"],
      POD,
      [...POD, "containers"],
      CONTAINER,
      [...CONTAINER, "ports"],
      [...CONTAINER, "ports", 0, "containerPort"],
      [...CONTAINER, "resources", "requests", "cpu"],
      [...CONTAINER, "readinessProbe"],
      [...CONTAINER, "env", 0],
      [...POD, "volumes"],
      [...POD, "restartPolicy"],
    ];
    for (const path of paths)
      expect({ path, found: judge(changed(STATEFUL_SET, path, "{{ token }}")) }).toEqual({ path, found: [] });
  });

  it("as keys may bring what is missing", () => {
    expect(judge(changed(STATEFUL_SET, [...CONTAINER], { "{{ container }}": null }))).toEqual([]);
    expect(judge(changed(STATEFUL_SET, [...CONTAINER, "readinessProbe"], { __PROBE__: null }))).toEqual([]);
    expect(judge(changed(STATEFUL_SET, ["metadata", "labels"], { "{{ key }}": "a" }))).toEqual([]);
    expect(judge({ "{{ include }}": null })).toEqual([]);
  });

  it("are never equal to each other", () => {
    const twice = [
      { name: "{{ n }}", image: "a" },
      { name: "{{ n }}", image: "b" },
    ];
    expect(judge(changed(STATEFUL_SET, [...POD, "containers"], twice))).toEqual([]);
  });

  it("leave the rest of the document judged", () => {
    expect(
      judge(changed(changed(STATEFUL_SET, ["spec", "replicas"], "{{ n }}"), ["spec", "servicename"], "a")),
    ).toEqual(["unknown-field key /spec/servicename"]);
  });
});

/** Builds a document with every field of a kind, and the paths of one object and one field per type. */
class Filled {
  readonly objects: { path: Path; type: TypeTable }[] = [];
  readonly fields: { path: Path; field: FieldTable; wraps: string }[] = [];
  readonly #schema: VersionSchema;
  readonly #seen: Set<string>;

  constructor(schema: VersionSchema, seen: Set<string>) {
    this.#schema = schema;
    this.#seen = seen;
  }

  object(type: TypeTable, path: Path, open: readonly string[] = []): unknown {
    const isNew = !this.#seen.has(type.name);
    this.#seen.add(type.name);
    if (isNew) this.objects.push({ path, type });
    const result: Json = {};
    for (const field of type.fields.values()) {
      const inner = field.leaf === "#" ? this.#schema.type(field.type).name : "";
      if (open.includes(inner)) continue;
      const at = [...path, field.name];
      if (isNew) this.fields.push({ path: at, field, wraps: field.wraps });
      result[field.name] = this.#value(field, field.wraps, at, [...open, type.name]);
    }
    return result;
  }

  #value(field: FieldTable, wraps: string, path: Path, open: readonly string[]): unknown {
    if (wraps[0] === "[") return [this.#value(field, wraps.slice(1), [...path, 0], open)];
    if (wraps[0] === "{") return { key: this.#value(field, wraps.slice(1), [...path, "key"], open) };
    switch (field.leaf) {
      case "#":
        return this.object(this.#schema.type(field.type), path, open);
      case "e":
        return field.values.find((value) => value !== "");
      case "b":
        return true;
      case "i":
      case "l":
      case "x":
        return 1;
      case "d":
        return 1.5;
      case "t":
      case "u":
        return "2026-01-31T12:00:00.000001Z";
      case "y":
        return "YQ==";
      case "q":
        return "1";
      case "o":
        return {};
      default:
        return "a";
    }
  }
}

/** A value that a leaf or wrap does not take. */
function wrongFor(field: FieldTable, wraps: string): unknown {
  if (wraps !== "") return true;
  return "seyqtu".includes(field.leaf) ? false : field.leaf === "x" ? 1.5 : "not this";
}

describe("mutation of every kind", () => {
  /** Not of the rules between fields, which a document with every field must break. */
  const isStructural = ({ code, expected, note }: SchemaProblem): boolean =>
    code === "missing"
      ? expected === undefined && note === undefined
      : ["unknown-field", "wrong-type", "no-kind"].includes(code);

  it.each(["1.31", "1.35"])("finds each slip at its place in %s", (version) => {
    const schema = schemas.schema(version)!;
    const seen = new Set<string>();
    let tried = 0;
    for (const apiVersion of schemas.apiVersions) {
      for (const kind of schemas.kinds(apiVersion).values()) {
        if (kind.type < 0 || !schema.serves(kind)) continue;
        const filled = new Filled(schema, seen);
        const whole = filled.object(schema.type(kind.type), []) as Json;
        whole["apiVersion"] = apiVersion;
        whole["kind"] = kind.kind;
        const found = (value: unknown) => validate(value, version, schemas, { limit: 100_000 });
        const before = found(whole).filter((problem) => isStructural(problem));
        expect({ kind: kind.kind, before: brief(before) }).toEqual({ kind: kind.kind, before: [] });
        const expectNew = (value: unknown, line: string): void => {
          tried++;
          if (!brief(found(value)).includes(line))
            throw new Error(`${apiVersion} ${kind.kind} ${version}: not found: ${line}`);
        };
        for (const { path, type } of filled.objects) {
          expectNew(
            changed(whole, [...path, "noSuchField"], 1),
            `unknown-field key /${[...path, "noSuchField"].join("/")}`,
          );
          for (const name of type.required) {
            if (path.length === 0 && (name === "apiVersion" || name === "kind")) continue;
            expectNew(changed(whole, [...path, name], GONE), `missing missing /${[...path, name].join("/")}`);
          }
        }
        for (const { path, field, wraps } of filled.fields) {
          if (field.leaf === "a" || (path.length === 1 && (field.name === "apiVersion" || field.name === "kind")))
            continue;
          expectNew(changed(whole, path, wrongFor(field, wraps)), `wrong-type value /${path.join("/")}`);
          if (field.leaf === "e" && wraps === "")
            expectNew(changed(whole, path, "no such"), `enum value /${path.join("/")}`);
        }
      }
    }
    expect(tried).toBeGreaterThan(3400);
  });
});

describe("hostile input", () => {
  it("of any depth, width and shape is judged without a crash", () => {
    let deep: unknown = { type: "object" };
    for (let i = 0; i < 50_000; i++) deep = { properties: { a: deep } };
    const crd = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "as.x.y" },
      spec: {
        group: "x.y",
        scope: "Cluster",
        names: { kind: "A", plural: "as" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: deep } }],
      },
    };
    expect(check(crd)).toEqual([]);
    let list: unknown = STATEFUL_SET;
    for (let i = 0; i < 20_000; i++) list = { apiVersion: "v1", kind: "List", items: [list] };
    expect(check(list)).toEqual([]);
    const long = "a".repeat(1_000_000);
    expect(
      check(changed(STATEFUL_SET, ["metadata"], { name: `${long}!`, labels: { [long]: `${long}-` } })),
    ).toHaveLength(3);
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.constantFrom(...BAD.map(([path]) => path)), fc.anything(), (path, value) => {
        validate(changed(STATEFUL_SET, path, value), "1.34", schemas, { opaque: (text) => text.length > 3 });
      }),
      { numRuns: 500 },
    );
  });
});

describe("syntax of values", () => {
  it("quantities", () => {
    for (const good of ["1", "0", "1.5", ".5", "5.", "100m", "1Gi", "1e3", "1E3", "12E", "-1", "+1Ki", "1n", "1k"])
      expect([good, isQuantity(good)]).toEqual([good, true]);
    for (const bad of ["", "1 Gi", "1GB", "1K", "Gi", "1mi", "1e", "1.2.3", "0x10", "1Gi ", "٣"])
      expect([bad, isQuantity(bad)]).toEqual([bad, false]);
  });

  it("times", () => {
    for (const good of ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.123+02:00"]) expect(isTime(good)).toBe(true);
    for (const bad of ["2026-01-31", "2026-13-01T00:00:00Z", "2026-01-31 12:00:00Z", "2026-01-31T24:00:00Z", "now"])
      expect(isTime(bad)).toBe(false);
  });

  it("base64", () => {
    for (const good of ["", "YQ==", "YWI=", "YWJj", "YW\nJj\n"]) expect([good, isBase64(good)]).toEqual([good, true]);
    for (const bad of ["YQ", "Y===", "YQ=a", "a b=", "YW-_", "=YQ="])
      expect([bad, isBase64(bad)]).toEqual([bad, false]);
  });

  it("schedules", () => {
    for (const good of ["* * * * *", "*/15 1-5/2 ? * 0", "0 0 1,15 JAN sun-tue", "@hourly", "@every 1h30m"])
      expect([good, isSchedule(good)]).toEqual([good, true]);
    for (const bad of [
      "",
      "* * * *",
      "* * * * * *",
      "60 * * * *",
      "* * 0 * *",
      "* * * * 8",
      "5-1 * * * *",
      "*/0 * * * *",
      "@often",
      "TZ=UTC * * * * *",
      "a * * * *",
    ])
      expect([bad, isSchedule(bad)]).toEqual([bad, false]);
  });

  it("port and variable names", () => {
    for (const good of ["http", "a1", "redis-tls", "a".repeat(15)]) expect(isPortName(good)).toBe(true);
    for (const bad of ["", "-a", "a-", "a--b", "A", "123", "a_b", "a".repeat(16)]) expect(isPortName(bad)).toBe(false);
    expect(isEnvName("1 A", 31)).toBe(false);
    expect(isEnvName("1 A", 32)).toBe(true);
    expect(isEnvName("A=B", 36)).toBe(false);
  });
});

it("the generated file is where the package publishes it", () => {
  expect(existsSync(file)).toBe(true);
});
