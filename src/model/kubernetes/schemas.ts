/** The field tables of Kubernetes, decoded when first asked. */
import tables from "../../../schemas/kubernetes/tables.json?data";
import { createSchemas, type KubernetesSchemas, type KubernetesTables } from "./schema.js";

let schemas: KubernetesSchemas | undefined;

export function kubernetesSchemas(): KubernetesSchemas {
  schemas ??= createSchemas(tables() as KubernetesTables);
  return schemas;
}

/** The tables for a declared version; without one the newest, which knows most fields. */
export function schemaVersion(declared: string | number | undefined): {
  readonly version: string;
  readonly exact: boolean;
} {
  const all = kubernetesSchemas();
  const newest = all.versions[all.versions.length - 1]!;
  if (declared === undefined) return { version: newest, exact: true };
  return all.nearest(declared) ?? { version: newest, exact: false };
}
