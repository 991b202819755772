/** Where pods may land: anti-affinity terms and spread constraints, judged against the workload's own pods. */
import type { Place } from "../place.js";
import { asArray, asObject, isObject, type Obj } from "../value.js";
import { describeSelector, matches, parseSelector } from "./selector.js";
import type { Workload } from "./workload.js";

export const HOSTNAME = "kubernetes.io/hostname";
const REVISION_LABELS = new Set(["pod-template-hash", "controller-revision-hash"]);

/** One required term; `reason` says why it does not keep the workload's own pods apart. */
export interface AntiAffinityTerm {
  readonly reason: string | undefined;
  /** The API server refuses the term. */
  readonly refused: boolean;
  readonly place: Place;
  readonly revisionKey: string | undefined;
  readonly keysPlace: Place;
}

/**
 * Required anti-affinity of a pod. Absent `namespaces` and `namespaceSelector` mean the pod's own namespace, an empty
 * `namespaceSelector` all; a null `labelSelector` selects nothing.
 * https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity
 */
export function antiAffinityTerms(workload: Workload): { required: readonly AntiAffinityTerm[]; preferred: boolean } {
  const spec = asObject(asObject(workload.podSpec["affinity"])["podAntiAffinity"]);
  const field = "requiredDuringSchedulingIgnoredDuringExecution";
  const required = asArray(spec[field]).map((raw, i): AntiAffinityTerm => {
    const term = asObject(raw);
    const path = ["affinity", "podAntiAffinity", field, i] as const;
    const [reason, at] = whyNot(workload, term);
    const keys = asArray(term["matchLabelKeys"]).map(String);
    return {
      reason,
      refused: at === "",
      place: at === "" ? workload.podMissing(...path, "topologyKey") : workload.podAt(...path, ...at.split("/")),
      revisionKey: keys.find((k) => REVISION_LABELS.has(k)),
      keysPlace: workload.podAt(...path, "matchLabelKeys"),
    };
  });
  return { required, preferred: asArray(spec["preferredDuringSchedulingIgnoredDuringExecution"]).length > 0 };
}

function whyNot(workload: Workload, term: Obj): [string | undefined, string] {
  const key = term["topologyKey"];
  if (key === undefined || key === null || key === "") return ["a term has no topologyKey", ""];
  if (key !== HOSTNAME) return [`topologyKey ${String(key)} is not ${HOSTNAME}`, "topologyKey"];
  const selector = term["labelSelector"];
  if (!matches(selector, workload.podLabels)) {
    const what =
      selector === undefined || selector === null
        ? "it has no labelSelector"
        : `its selector ${describeSelector(selector)} does not match the pod's own labels`;
    return [what, "labelSelector"];
  }
  const namespaces = asArray(term["namespaces"]).map(String);
  const namespaceSelector = term["namespaceSelector"];
  const ownByList =
    namespaces.includes(workload.namespace) || (workload.ownNamespace === undefined && namespaces.length > 0);
  if (namespaces.length > 0 && !ownByList && !isObject(namespaceSelector)) {
    return [`it looks only into the namespace ${namespaces.join(", ")}`, "namespaces"];
  }
  if (isObject(namespaceSelector) && !ownByList) {
    const read = parseSelector(namespaceSelector);
    const own =
      read.kind === "everything" || matches(namespaceSelector, { "kubernetes.io/metadata.name": workload.namespace });
    // labels of a namespace beyond its name are not always in the files: only a selector by name is decided
    const byName = read.requirements.every((r) => r.key === "kubernetes.io/metadata.name");
    if (!own && byName)
      return [
        `its namespaceSelector ${describeSelector(namespaceSelector)} leaves out the pod's own namespace`,
        "namespaceSelector",
      ];
  }
  const mismatch = asArray(term["mismatchLabelKeys"]).map(String);
  if (mismatch.some((k) => Object.hasOwn(workload.podLabels, k)))
    return ["mismatchLabelKeys leaves out the workload's own pods", "mismatchLabelKeys"];
  return [undefined, "topologyKey"];
}

/** One spread constraint on the hostname; `reason` says what makes it weaker than one pod per node. */
export interface SpreadConstraint {
  readonly reason: string | undefined;
  readonly place: Place;
}

/** https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/ */
export function spreadConstraints(workload: Workload): readonly SpreadConstraint[] {
  return asArray(workload.podSpec["topologySpreadConstraints"]).map((raw, i): SpreadConstraint => {
    const constraint = asObject(raw);
    const path = ["topologySpreadConstraints", i] as const;
    const at = (field: string): Place => workload.podAt(...path, field);
    const key = constraint["topologyKey"];
    if (key !== HOSTNAME) return { reason: `topologyKey ${String(key)} is not ${HOSTNAME}`, place: at("topologyKey") };
    const when = constraint["whenUnsatisfiable"];
    if (when !== "DoNotSchedule")
      return {
        reason: `whenUnsatisfiable is ${String(when ?? "absent")}, not DoNotSchedule`,
        place: at("whenUnsatisfiable"),
      };
    const skew = constraint["maxSkew"];
    if (skew !== 1) return { reason: `maxSkew is ${String(skew ?? "absent")}, not 1`, place: at("maxSkew") };
    const selector = constraint["labelSelector"];
    if (!matches(selector, workload.podLabels)) {
      const what =
        selector === undefined || selector === null
          ? "it has no labelSelector"
          : `its selector ${describeSelector(selector)} does not match the pod's own labels`;
      return { reason: what, place: at("labelSelector") };
    }
    return { reason: undefined, place: workload.podAt(...path) };
  });
}
