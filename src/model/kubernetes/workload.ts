/** Workloads with the pod they make: containers, effective security, volumes, references, commands. */
import type { Path } from "../../document/yaml.js";
import { normalizePath } from "../file-path.js";
import type { Place } from "../place.js";
import { asArray, asObject, asString, isObject, type Obj, stringMap } from "../value.js";
import { Command, ContainerPort, Effective, EnvironmentVariable, Mount, Probe } from "./container-parts.js";
import { KubeObject } from "./object.js";

const POD_PATHS: Readonly<Record<string, Path>> = {
  Pod: [],
  PodTemplate: ["template"],
  StatefulSet: ["spec", "template"],
  Deployment: ["spec", "template"],
  DaemonSet: ["spec", "template"],
  ReplicaSet: ["spec", "template"],
  ReplicationController: ["spec", "template"],
  Job: ["spec", "template"],
  CronJob: ["spec", "jobTemplate", "spec", "template"],
};

export function isWorkloadKind(kind: string, group: string): boolean {
  return (
    Object.hasOwn(POD_PATHS, kind) && (group === "" || group === "apps" || group === "batch" || group === "extensions")
  );
}

export type ContainerKind = "container" | "init" | "ephemeral";

export interface Volume {
  readonly name: string;
  /** `emptyDir`, `configMap`, `secret`, `projected`, `persistentVolumeClaim`, `hostPath` …; `claimTemplate` for a StatefulSet's. */
  readonly type: string;
  readonly spec: Obj;
  /** false: the volume names no source, and is an emptyDir by default. */
  readonly declared: boolean;
  readonly place: Place;
  readonly path: Path;
}

export interface Reference {
  readonly kind: "Secret" | "ConfigMap" | "PersistentVolumeClaim" | "ServiceAccount";
  readonly name: string;
  readonly key: string | undefined;
  readonly optional: boolean;
  readonly place: Place;
  readonly workload: Workload;
}

export class Container {
  readonly workload: Workload;
  readonly kind: ContainerKind;
  /** Path inside the object. */
  readonly path: Path;
  readonly spec: Obj;
  readonly name: string;
  #mounts: readonly Mount[] | undefined;
  #ports: readonly ContainerPort[] | undefined;
  #env: readonly EnvironmentVariable[] | undefined;
  #commands: readonly Command[] | undefined;
  #entrypoint: { readonly command: Command | undefined } | undefined;
  #probes: readonly Probe[] | undefined;

  constructor(workload: Workload, kind: ContainerKind, path: Path, spec: Obj) {
    this.workload = workload;
    this.kind = kind;
    this.path = path;
    this.spec = spec;
    this.name = asString(spec["name"]) ?? "";
  }

  /** `container redis of StatefulSet redis-data` */
  get title(): string {
    const kind = this.kind === "container" ? "container" : `${this.kind} container`;
    return `${kind} ${this.name} of ${this.workload.title}`;
  }

  get image(): string | undefined {
    return asString(this.spec["image"]);
  }

  at(...path: Path): Place {
    return this.workload.at(...this.path, ...path);
  }

  key(...path: Path): Place {
    return this.workload.key(...this.path, ...path);
  }

  missing(...path: Path): Place {
    return this.workload.missing(...this.path, ...path);
  }

  /** A native sidecar: an init container that keeps running. */
  get sidecar(): boolean {
    return this.kind === "init" && this.spec["restartPolicy"] === "Always";
  }

  /**
   * A security setting as Kubernetes combines it: the container's value wins over the pod's.
   * https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
   */
  security(field: string, podLevel = true): Effective {
    const own = asObject(this.spec["securityContext"])[field];
    if (own !== undefined && own !== null) {
      return new Effective(own, "container", this, field);
    }
    const pod = this.workload.podSpec;
    const inherited = podLevel ? asObject(pod["securityContext"])[field] : undefined;
    if (inherited !== undefined && inherited !== null) {
      return new Effective(inherited, "pod", this, field);
    }
    return new Effective(undefined, "none", this, field);
  }

  /** The items of a list of mappings. */
  #items<T>(list: string, Item: new (container: Container, index: number, spec: Obj) => T): readonly T[] {
    return asArray(this.spec[list]).flatMap((item, i) => (isObject(item) ? [new Item(this, i, item)] : []));
  }

  get mounts(): readonly Mount[] {
    this.#mounts ??= this.#items("volumeMounts", Mount);
    return this.#mounts;
  }

  /** The mount that holds a file or directory: the longest mount path that is its prefix. */
  mountOf(file: string): Mount | undefined {
    const wanted = normalizePath(file);
    let best: Mount | undefined;
    for (const mount of this.mounts) {
      const { mountPath } = mount;
      const inside = wanted === mountPath || wanted.startsWith(mountPath === "/" ? "/" : mountPath + "/");
      if (inside && (best === undefined || mountPath.length > best.mountPath.length)) best = mount;
    }
    return best;
  }

  get ports(): readonly ContainerPort[] {
    this.#ports ??= this.#items("ports", ContainerPort);
    return this.#ports;
  }

  get env(): readonly EnvironmentVariable[] {
    this.#env ??= this.#items("env", EnvironmentVariable);
    return this.#env;
  }

  get probes(): readonly Probe[] {
    this.#probes ??= (["liveness", "readiness", "startup"] as const).flatMap((type): Probe[] => {
      const field = `${type}Probe`;
      const spec = this.spec[field];
      if (!isObject(spec)) return [];
      const handler = ["exec", "tcpSocket", "httpGet", "grpc"].find((h) => isObject(spec[h])) ?? "none";
      const command = handler === "exec" ? this.#command(type, [field, "exec", "command"]) : undefined;
      return [new Probe(type, this, spec, handler, command)];
    });
    return this.#probes;
  }

  /** The process that the container starts, as far as the manifest says. */
  get entrypoint(): Command | undefined {
    this.#entrypoint ??= { command: this.#started() };
    return this.#entrypoint.command;
  }

  #started(): Command | undefined {
    const hasCommand = asArray(this.spec["command"]).length > 0;
    const hasArgs = asArray(this.spec["args"]).length > 0;
    if (!hasCommand && !hasArgs) return undefined;
    return this.#command("entrypoint", ...(hasCommand ? [["command"]] : []), ...(hasArgs ? [["args"]] : []));
  }

  /** All commands of the container: entrypoint, exec probes, exec lifecycle hooks. */
  get commands(): readonly Command[] {
    if (this.#commands === undefined) {
      const out: Command[] = [];
      const { entrypoint } = this;
      if (entrypoint !== undefined) out.push(entrypoint);
      for (const probe of this.probes) if (probe.command !== undefined) out.push(probe.command);
      const lifecycle = asObject(this.spec["lifecycle"]);
      for (const hook of ["postStart", "preStop"] as const) {
        if (asArray(asObject(asObject(lifecycle[hook])["exec"])["command"]).length > 0) {
          out.push(this.#command(hook, ["lifecycle", hook, "exec", "command"]));
        }
      }
      this.#commands = out;
    }
    return this.#commands;
  }

  #command(origin: Command["origin"], ...paths: Path[]): Command {
    const lists = paths.map((path) =>
      asArray(path.reduce<unknown>((value, step) => asObject(value)[step as string], this.spec)),
    );
    return new Command(origin, this, paths, lists);
  }
}

export class Workload extends KubeObject {
  /** Path of the pod template inside the object (`[]` for a Pod). */
  readonly podPath: Path;
  readonly podSpec: Obj;
  readonly podLabels: Readonly<Record<string, string>>;
  /** `spec.replicas`; 1 where absent; undefined where it is no number (a placeholder, or set elsewhere). */
  readonly replicas: number | undefined;
  #containers: readonly Container[] | undefined;
  #volumes: ReadonlyMap<string, Volume> | undefined;
  #references: readonly Reference[] | undefined;

  constructor(...args: ConstructorParameters<typeof KubeObject>) {
    super(...args);
    this.podPath = POD_PATHS[this.kind] ?? [];
    const template = asObject(this.get(...this.podPath));
    this.podSpec = asObject(template["spec"]);
    this.podLabels = stringMap(asObject(template["metadata"])["labels"]);
    const replicas = this.get("spec", "replicas");
    const scales = this.kind !== "Pod" && this.kind !== "DaemonSet" && this.kind !== "Job" && this.kind !== "CronJob";
    this.replicas =
      !scales || replicas === undefined || replicas === null ? 1 : typeof replicas === "number" ? replicas : undefined;
  }

  /** `spec.selector` (undefined for a Pod, a Job: the controller makes its own). */
  get selector(): unknown {
    return this.get("spec", "selector");
  }

  podAt(...path: Path): Place {
    return this.at(...this.podPath, "spec", ...path);
  }

  podKey(...path: Path): Place {
    return this.key(...this.podPath, "spec", ...path);
  }

  podMissing(...path: Path): Place {
    return this.missing(...this.podPath, "spec", ...path);
  }

  get containers(): readonly Container[] {
    if (this.#containers === undefined) {
      const out: Container[] = [];
      for (const [field, kind] of [
        ["initContainers", "init"],
        ["containers", "container"],
        ["ephemeralContainers", "ephemeral"],
      ] as const) {
        asArray(this.podSpec[field]).forEach((item, i) => {
          if (isObject(item)) out.push(new Container(this, kind, [...this.podPath, "spec", field, i], item));
        });
      }
      this.#containers = out;
    }
    return this.#containers;
  }

  /** Volumes by name, a StatefulSet's claim templates included (they win over a volume of the same name). */
  get volumes(): ReadonlyMap<string, Volume> {
    if (this.#volumes === undefined) {
      const out = new Map<string, Volume>();
      asArray(this.podSpec["volumes"]).forEach((item, i) => {
        if (!isObject(item)) return;
        const name = asString(item["name"]) ?? "";
        const source = Object.keys(item).find((k) => k !== "name");
        const type = source ?? "emptyDir";
        const path = [...this.podPath, "spec", "volumes", i];
        if (!out.has(name))
          out.set(name, {
            name,
            type,
            spec: asObject(item[type]),
            declared: source !== undefined,
            place: this.at(...path, "name"),
            path,
          });
      });
      asArray(this.get("spec", "volumeClaimTemplates")).forEach((item, i) => {
        const name = asString(asObject(asObject(item)["metadata"])["name"]) ?? "";
        const path = ["spec", "volumeClaimTemplates", i];
        out.set(name, {
          name,
          type: "claimTemplate",
          spec: asObject(item),
          declared: true,
          place: this.at(...path, "metadata", "name"),
          path,
        });
      });
      this.#volumes = out;
    }
    return this.#volumes;
  }

  /** Every Secret, ConfigMap, claim and ServiceAccount that the pod names. */
  get references(): readonly Reference[] {
    this.#references ??= references(this);
    return this.#references;
  }
}

function references(workload: Workload): Reference[] {
  const out: Reference[] = [];
  const add = (kind: Reference["kind"], name: unknown, key: unknown, optional: unknown, place: Place): void => {
    if (typeof name === "string" && name !== "") {
      out.push({ kind, name, key: asString(key), optional: optional === true, place, workload });
    }
  };
  const pod = workload.podSpec;
  add(
    "ServiceAccount",
    pod["serviceAccountName"] ?? pod["serviceAccount"],
    undefined,
    false,
    workload.podAt(pod["serviceAccountName"] === undefined ? "serviceAccount" : "serviceAccountName"),
  );
  asArray(pod["imagePullSecrets"]).forEach((item, i) => {
    add("Secret", asObject(item)["name"], undefined, true, workload.podAt("imagePullSecrets", i, "name"));
  });
  for (const volume of workload.volumes.values()) {
    volumeReferences(workload, volume, add);
  }
  for (const container of workload.containers) {
    container.env.forEach(({ spec }, i) => {
      const from = asObject(spec["valueFrom"]);
      for (const [field, kind] of [
        ["secretKeyRef", "Secret"],
        ["configMapKeyRef", "ConfigMap"],
      ] as const) {
        const ref = from[field];
        if (isObject(ref))
          add(kind, ref["name"], ref["key"], ref["optional"], container.at("env", i, "valueFrom", field, "name"));
      }
    });
    asArray(container.spec["envFrom"]).forEach((item, i) => {
      for (const [field, kind] of [
        ["secretRef", "Secret"],
        ["configMapRef", "ConfigMap"],
      ] as const) {
        const ref = asObject(item)[field];
        if (isObject(ref))
          add(kind, ref["name"], undefined, ref["optional"], container.at("envFrom", i, field, "name"));
      }
    });
  }
  return out;
}

function volumeReferences(
  workload: Workload,
  volume: Volume,
  add: (kind: Reference["kind"], name: unknown, key: unknown, optional: unknown, place: Place) => void,
): void {
  const one = (type: string, spec: Obj, path: Path): void => {
    if (type === "secret" || type === "configMap") {
      const field = type === "secret" && spec["secretName"] !== undefined ? "secretName" : "name";
      const kind = type === "secret" ? "Secret" : "ConfigMap";
      add(kind, spec[field], undefined, spec["optional"], workload.at(...path, field));
      asArray(spec["items"]).forEach((item, i) => {
        add(kind, spec[field], asObject(item)["key"], spec["optional"], workload.at(...path, "items", i, "key"));
      });
    } else if (type === "persistentVolumeClaim") {
      add("PersistentVolumeClaim", spec["claimName"], undefined, false, workload.at(...path, "claimName"));
    } else if (type === "projected") {
      asArray(spec["sources"]).forEach((source, i) => {
        for (const inner of ["secret", "configMap"]) {
          const value = asObject(source)[inner];
          if (isObject(value)) one(inner, value, [...path, "sources", i, inner]);
        }
      });
    }
  };
  if (volume.type !== "claimTemplate") one(volume.type, volume.spec, [...volume.path, volume.type]);
}
