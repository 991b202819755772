/** Builds the engine's input from raw Kubernetes objects: workloads of every kind, bare Pods, Lists, Namespaces, policies. */

import { asArray, asObject, asString, isObject, type Obj } from "../value.js";
import type { NamespaceInfo, NetworkInput, PodInfo } from "./network.js";
import type { PolicyInfo, SpecPath } from "./network-policy.js";

/** A raw object or `List`; whatever else the caller keeps on it is found again in `PolicyInfo.handle`. */
export interface RawObject {
  readonly value: unknown;
}

/** Where a policy came from: the given entry, and the path of the object in it (`[]`, or `["items", 3]` in a List). */
export interface PolicyHandle<T extends RawObject = RawObject> {
  readonly object: T;
  readonly path: SpecPath;
}

interface Found {
  readonly kind: string;
  readonly value: Obj;
  readonly namespace: string;
  readonly name: string;
  readonly handle: PolicyHandle;
}

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Pod: [""],
  ReplicationController: [""],
  Namespace: [""],
  Deployment: ["apps", "extensions"],
  ReplicaSet: ["apps", "extensions"],
  DaemonSet: ["apps", "extensions"],
  StatefulSet: ["apps"],
  Job: ["batch"],
  CronJob: ["batch"],
  NetworkPolicy: ["networking.k8s.io", "extensions"],
};

/** A StatefulSet with at most this many replicas becomes one entry per pod, so that its per-pod labels count. */
const MOST_ORDINALS = 16;

/** Kinds that are not known, and kinds of foreign API groups, are left out. */
export function networkInputFromObjects(objects: Iterable<RawObject>): NetworkInput {
  const found = flatten(objects);
  const namespaces: NamespaceInfo[] = [];
  const policies: PolicyInfo[] = [];
  const owners = new Map<string, Found>();
  for (const item of found) owners.set(`${item.namespace}/${item.kind}/${item.name}`, item);
  const pods: PodInfo[] = [];
  for (const item of found) {
    const { kind, value, namespace, name, handle } = item;
    if (kind === "Namespace") namespaces.push({ name, labels: asObject(value["metadata"])["labels"] });
    else if (kind === "NetworkPolicy") policies.push({ namespace, name, spec: value["spec"], handle });
    else for (const pod of podsOf(item, ownerOf(item, owners))) pods.push(pod);
  }
  return { pods, namespaces, policies };
}

/** Opens Lists (of any depth, each List object once: aliases cannot multiply it) and reads identities. */
function flatten(objects: Iterable<RawObject>): Found[] {
  const found: Found[] = [];
  const opened = new Set<unknown>();
  for (const object of objects) {
    const stack: { value: unknown; path: SpecPath; kind: string | undefined; group: string | undefined }[] = [
      { value: object.value, path: [], kind: undefined, group: undefined },
    ];
    while (stack.length > 0) {
      const { value, path, kind: assumed, group: assumedGroup } = stack.pop()!;
      if (!isObject(value)) continue;
      const kind = asString(value["kind"]) ?? assumed ?? "";
      const apiVersion = asString(value["apiVersion"]);
      const group = apiVersion === undefined ? assumedGroup : groupOf(apiVersion);
      const items = value["items"];
      if (kind.endsWith("List") && Array.isArray(items)) {
        if (opened.has(items)) continue;
        opened.add(items);
        const typed = kind !== "List";
        const itemKind = typed ? kind.slice(0, -"List".length) : undefined;
        const itemGroup = typed ? group : undefined;
        for (let i = items.length - 1; i >= 0; i--) {
          stack.push({ value: items[i], path: [...path, "items", i], kind: itemKind, group: itemGroup });
        }
        continue;
      }
      const groups = Object.hasOwn(GROUPS, kind) ? GROUPS[kind] : undefined;
      if (groups === undefined || (group !== undefined && !groups.includes(group))) continue;
      const metadata = asObject(value["metadata"]);
      const name = asString(metadata["name"]) ?? asString(metadata["generateName"]) ?? "";
      const namespace = kind === "Namespace" ? "" : (asString(metadata["namespace"]) ?? "") || "default";
      found.push({ kind, value, namespace, name, handle: { object, path } });
    }
  }
  return found;
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

/**
 * `namespace/name[Kind]` of the top-level owner: controller references are followed as far as the objects go. A
 * reference to a Node (static pods) is no workload; one without a kind names a Pod.
 */
function ownerOf(item: Found, owners: ReadonlyMap<string, Found>): string {
  let { kind, name } = item;
  const { namespace } = item;
  let current: Found | undefined = item;
  const seen = new Set<Found>();
  while (current !== undefined && !seen.has(current)) {
    seen.add(current);
    const reference: Obj | undefined = asArray(asObject(current.value["metadata"])["ownerReferences"])
      .filter(isObject)
      .find((one) => one["controller"] === true);
    const ownerName = asString(reference?.["name"]);
    const ownerKind = asString(reference?.["kind"]) ?? "Pod";
    if (ownerName === undefined || ownerKind === "Node") break;
    name = ownerName;
    kind = ownerKind;
    current = owners.get(`${namespace}/${kind}/${name}`);
  }
  return `${namespace}/${name}[${kind}]`;
}

function podsOf({ kind, value, namespace, name }: Found, owner: string): PodInfo[] {
  const spec = asObject(value["spec"]);
  const job = kind === "CronJob" ? asObject(asObject(spec["jobTemplate"])["spec"]) : spec;
  const template = kind === "Pod" ? value : asObject(job["template"]);
  const podSpec = asObject(template["spec"]);
  const labels = asObject(asObject(template["metadata"])["labels"]);
  const ip = kind === "Pod" ? asString(asObject(value["status"])["podIP"]) : undefined;
  const pod = (id: string, own: Obj, several: boolean): PodInfo => ({
    id,
    owner,
    namespace,
    labels: own,
    hostNetwork: podSpec["hostNetwork"] === true,
    ip,
    ports: portsOf(podSpec),
    several,
  });
  const id = `${namespace}/${name}[${kind}]`;
  switch (kind) {
    case "Pod":
      return [pod(id, labels, false)];
    case "Job":
      // The Job controller sets these on its pods.
      return [
        pod(
          id,
          withLabels(labels, { "job-name": name, "batch.kubernetes.io/job-name": name }),
          isMany(job["parallelism"], 1),
        ),
      ];
    case "CronJob":
      return [pod(id, labels, isMany(job["parallelism"], 1))];
    case "StatefulSet": {
      const replicas = spec["replicas"] ?? 1;
      if (typeof replicas !== "number" || !(replicas >= 2 && replicas <= MOST_ORDINALS)) {
        return [pod(id, labels, isMany(replicas, 1))];
      }
      const start = asObject(spec["ordinals"])["start"];
      return Array.from({ length: Math.floor(replicas) }, (_, i) => {
        const ordinal = (typeof start === "number" ? start : 0) + i;
        const own = withLabels(labels, {
          "statefulset.kubernetes.io/pod-name": `${name}-${ordinal}`,
          "apps.kubernetes.io/pod-index": String(ordinal),
        });
        return pod(`${namespace}/${name}-${ordinal}[Pod]`, own, false);
      });
    }
    case "DaemonSet":
      return [pod(id, labels, true)];
    default:
      return [pod(id, labels, isMany(spec["replicas"], 1))];
  }
}

/** More than one; what is not a number (a placeholder) may be any. */
function isMany(value: unknown, absent: number): boolean {
  const count = value ?? absent;
  return typeof count !== "number" || count > 1;
}

function withLabels(labels: Obj, more: Obj): Obj {
  return Object.fromEntries([...Object.entries(more), ...Object.entries(labels)]);
}

/** Ports of containers and of sidecars (init containers that keep running). */
function portsOf(podSpec: Obj): PodInfo["ports"] {
  const sidecars = asArray(podSpec["initContainers"]).filter((c) => asObject(c)["restartPolicy"] === "Always");
  return [...asArray(podSpec["containers"]), ...sidecars].flatMap((container) =>
    asArray(asObject(container)["ports"]).flatMap((item): PodInfo["ports"] => {
      if (!isObject(item)) return [];
      const port = item["containerPort"];
      return [
        {
          name: asString(item["name"]),
          containerPort: typeof port === "number" && Number.isInteger(port) ? port : undefined,
          protocol: asString(item["protocol"]) ?? "TCP",
        },
      ];
    }),
  );
}
