/** PodDisruptionBudgets as numbers. https://kubernetes.io/docs/tasks/run-application/configure-pdb/ */
import type { Place } from "../place.js";
import type { KubeObject } from "./object.js";

export interface Budget {
  readonly field: "minAvailable" | "maxUnavailable";
  /** As written: `2`, `50%`. */
  readonly text: string;
  /** Pods that stay whatever is evicted. */
  readonly keeps: number;
  readonly place: Place;
}

/** Percentages round up, for both fields (policy controller). undefined where the value or the replicas are not known. */
export function budgetOf(budget: KubeObject, replicas: number | undefined): Budget | undefined {
  for (const field of ["minAvailable", "maxUnavailable"] as const) {
    const value = budget.get("spec", field);
    if (value === undefined || value === null || replicas === undefined) continue;
    const percent = typeof value === "string" ? /^(\d+)%$/.exec(value) : null;
    const number =
      typeof value === "number"
        ? value
        : percent !== null
          ? Math.ceil((Number(percent[1]) * replicas) / 100)
          : undefined;
    if (number === undefined) return undefined;
    const keeps = field === "minAvailable" ? number : Math.max(0, replicas - number);
    return { field, text: String(value), keeps, place: budget.at("spec", field) };
  }
  return undefined;
}
