/** How many Sentinels watch together. */
import type { Plane } from "../plane.js";

/** Pods of the plane's workload, else its configurations where there is one per Sentinel; undefined: not known. */
export function sentinelCount({ workload, servers }: Plane): number | undefined {
  if (workload !== undefined) return workload.replicas;
  return servers.length > 1 ? servers.length : undefined;
}

export function majority(count: number): number {
  return Math.floor(count / 2) + 1;
}
