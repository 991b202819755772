/**
 * Stable DNS names of pods: `<set>-<ordinal>.<service>[.<namespace>[.svc[.<cluster domain>]]]`.
 * https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#stable-network-id
 */

import type { Contract } from "../contract.js";
import { push } from "../multimap.js";
import { asNumber, asString } from "../value.js";
import type { KubeObject } from "./object.js";
import type { Workload } from "./workload.js";

export type HostMeaning =
  | { readonly kind: "pod"; readonly workload: Workload; readonly ordinal: number }
  /** A name that can only be meant for a pod of the contract, and is not one's. `sure`: no file elsewhere can make it right. */
  | { readonly kind: "wrong"; readonly workload: Workload; readonly reason: string; readonly sure: boolean }
  | { readonly kind: "service"; readonly service: KubeObject }
  | { readonly kind: "other" };

const OTHER: HostMeaning = { kind: "other" };

/** The namespace where an object lands; undefined where the files do not say. */
export function namespaceOf(contract: Contract, object: KubeObject): string | undefined {
  return object.ownNamespace ?? contract.config.kubernetes?.namespace;
}

/** First ordinal and number of pods of a set; undefined where a placeholder or something else scales it. */
export function ordinalsOf(workload: Workload): { readonly start: number; readonly count: number | undefined } {
  return { start: asNumber(workload.get("spec", "ordinals", "start")) ?? 0, count: workload.replicas };
}

export function podNameOf(workload: Workload, ordinal: number): string {
  const service = asString(workload.get("spec", "serviceName"));
  return `${workload.name}-${ordinal}${service === undefined ? "" : `.${service}`}`;
}

interface Names {
  /** StatefulSets by name, and by the name of their Service. */
  readonly sets: ReadonlyMap<string, readonly Workload[]>;
  readonly governed: ReadonlyMap<string, readonly Workload[]>;
  readonly services: ReadonlyMap<string, readonly KubeObject[]>;
}

const known = new WeakMap<Contract, Names>();

function namesOf(contract: Contract): Names {
  let names = known.get(contract);
  if (names === undefined) {
    const sets = contract.workloads.filter((w) => w.kind === "StatefulSet");
    names = {
      sets: groupBy(sets, (w) => w.name),
      governed: groupBy(sets, (w) => asString(w.get("spec", "serviceName")) ?? ""),
      services: groupBy(contract.ofKind("Service"), (s) => s.name),
    };
    known.set(contract, names);
  }
  return names;
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const out = new Map<string, T[]>();
  for (const item of items) {
    push(out, key(item), item);
  }
  return out;
}

/** The StatefulSets whose pods have their names under a Service. */
export function governedBy(contract: Contract, service: KubeObject): readonly Workload[] {
  return (namesOf(contract).governed.get(service.name) ?? []).filter((w) => w.namespace === service.namespace);
}

/** What a host name means. `from`: the namespace in which it is looked up; undefined: not known. */
export function hostMeaning(contract: Contract, host: string, from: string | undefined): HostMeaning {
  const labels = host.toLowerCase().replace(/\.$/, "").split(".");
  const [first, service, namespace, svc] = labels as [string, ...string[]];
  if (labels.includes("") || labels.every((l) => /^\d+$/.test(l))) return OTHER;
  const pod = /^(.+)-(0|[1-9]\d{0,9})$/.exec(first);
  const names = namesOf(contract);
  const named = pod === null ? [] : (names.sets.get(pod[1]!) ?? []);
  const near = named.filter((w) => namespace === undefined || namespaceOf(contract, w) === namespace);
  const set = near.find((w) => w.get("spec", "serviceName") === service) ?? near[0] ?? named[0];
  if (set !== undefined && pod !== null) {
    if (service === undefined) {
      const own = names.services.get(first)?.[0];
      if (own !== undefined) return { kind: "service", service: own };
      // a Service of its own per pod may be made elsewhere
      return wrong(set, `the name of a pod resolves only with its Service: ${podNameOf(set, Number(pod[2]))}`, false);
    }
    return judge(contract, set, Number(pod[2]), { service, namespace, svc }, from);
  }
  if (pod !== null && service !== undefined) {
    const governed = names.governed
      .get(service)
      ?.find((w) => namespace === undefined || [undefined, namespace].includes(namespaceOf(contract, w)));
    if (governed !== undefined)
      return wrong(
        governed,
        `no StatefulSet ${pod[1]} is there; ${service} is the Service of ${governed.title}`,
        false,
      );
  }
  const found = names.services
    .get(first)
    ?.find((s) => service === undefined || [undefined, service].includes(namespaceOf(contract, s)));
  return found === undefined ? OTHER : { kind: "service", service: found };
}

/** Whether a name is that of a set's first pod, and all others are names of other pods. */
export function isOtherPod(
  contract: Contract,
  host: string,
  others: readonly string[],
  from: string | undefined,
): boolean {
  const own = hostMeaning(contract, host, from);
  return (
    own.kind === "pod" &&
    own.ordinal === ordinalsOf(own.workload).start &&
    others.length > 0 &&
    others.every((name) => {
      const other = hostMeaning(contract, name, from);
      return other.kind === "pod" && (other.workload !== own.workload || other.ordinal !== own.ordinal);
    })
  );
}

function wrong(workload: Workload, reason: string, sure: boolean): HostMeaning {
  return { kind: "wrong", workload, reason, sure };
}

function judge(
  contract: Contract,
  set: Workload,
  ordinal: number,
  name: { service: string; namespace: string | undefined; svc: string | undefined },
  from: string | undefined,
): HostMeaning {
  const { start, count } = ordinalsOf(set);
  if (count !== undefined && (ordinal < start || ordinal >= start + count)) {
    const range = count === 0 ? "it has none" : `they are ${start} to ${start + count - 1}`;
    return wrong(set, `${set.title} has no pod ${ordinal}: ${range}`, true);
  }
  const reason = whyNotOf(contract, set, name, from);
  return reason === undefined ? { kind: "pod", workload: set, ordinal } : wrong(set, reason, true);
}

/** Why the part behind a pod's own name is not that of its set; undefined: it is, or it is not known. */
export function whyNotOf(
  contract: Contract,
  set: Workload,
  name: { service: string | undefined; namespace: string | undefined; svc: string | undefined },
  from: string | undefined,
): string | undefined {
  const governing = asString(set.get("spec", "serviceName"));
  // a set without a Service of its own is k8s/stable-identity's matter
  if (governing === undefined || contract.find("Service", set.namespace, governing) === undefined) return undefined;
  if (name.service !== undefined && name.service !== governing)
    return `pods of ${set.title} have names under its Service ${governing}, not under ${name.service}`;
  const namespace = namespaceOf(contract, set);
  if (namespace !== undefined && name.namespace !== undefined && name.namespace !== namespace)
    return `${set.title} is in the namespace ${namespace}, not in ${name.namespace}`;
  if (namespace !== undefined && name.namespace === undefined && from !== undefined && from !== namespace)
    return `the short name is looked up in the namespace ${from}, and ${set.title} is in ${namespace}`;
  if (name.svc !== undefined && name.svc !== "svc")
    return `the name of a pod goes on with \`svc\` behind the namespace, not with \`${name.svc}\``;
  return undefined;
}
