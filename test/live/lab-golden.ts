/** The parts of the golden contract that a live run needs, read from its files as they are. */
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";

const root = new URL("../../fixtures/redis-lab/infra/redis-lab/", import.meta.url);

export type Plane = "data" | "sentinel";

/** The four templates; experiments edit these texts. */
export type TemplateName = "redis.conf" | "sentinel.conf" | "redis-users.acl" | "sentinel-users.acl";
export type Templates = Readonly<Record<TemplateName, string>>;

export const PORTS: Readonly<Record<Plane, number>> = { data: 6379, sentinel: 26379 };
export const MASTER = "redis-lab";
export const ORDINALS = [0, 1, 2] as const;

export const podName = (plane: Plane, ordinal: number): string => `redis-${plane}-${ordinal}`;
export const dnsName = (plane: Plane, ordinal: number): string =>
  `${podName(plane, ordinal)}.redis-${plane}.redis-lab.svc.cluster.local`;

const read = (path: string): string => readFileSync(new URL(path, root), "utf8");

/** The templates with their placeholders. */
export function goldenTemplates(): Templates {
  return {
    "redis.conf": read("config/redis.conf.tmpl"),
    "sentinel.conf": read("config/sentinel.conf.tmpl"),
    "redis-users.acl": read("config/redis-users.acl.tmpl"),
    "sentinel-users.acl": read("config/sentinel-users.acl.tmpl"),
  };
}

interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly [probe: `${string}Probe`]: { readonly exec: { readonly command: readonly string[] } } | undefined;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
}

function manifests(file: string): readonly Manifest[] {
  return parseAllDocuments(read(`k3s/${file}`)).map((document) => document.toJS() as Manifest);
}

/** A script of a ConfigMap, e.g. `("redis-data.yaml", "bootstrap.sh")`. */
export function goldenScript(file: string, key: string): string {
  const found = manifests(file).find((manifest) => manifest.data?.[key] !== undefined)?.data?.[key];
  if (found === undefined) throw new Error(`no ${key} in ${file}`);
  return found;
}

/** The server's command and the probe commands of a plane's workload. */
export function goldenCommands(plane: Plane): {
  server: readonly string[];
  probes: ReadonlyMap<string, readonly string[]>;
} {
  const workload = manifests(`redis-${plane}.yaml`).find((manifest) => manifest.kind === "StatefulSet");
  const container = workload?.spec?.template.spec.containers[0];
  if (!container) throw new Error(`no container in redis-${plane}.yaml`);
  const probes = new Map<string, readonly string[]>();
  for (const name of ["startupProbe", "readinessProbe", "livenessProbe"] as const) {
    const command = container[name]?.exec.command;
    if (command) probes.set(name, command);
  }
  return { server: container.command, probes };
}
