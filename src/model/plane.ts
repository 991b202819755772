/** The two planes of a deployment: the Redis servers and the Sentinels that watch them. */
import type { Container, Workload } from "./kubernetes/workload.js";
import type { AclText, ConfText } from "./texts.js";

export type PlaneRole = "data" | "sentinel";

/** The port that a plane serves by default. */
export const PLANE_PORT: Readonly<Record<PlaneRole, number>> = { data: 6379, sentinel: 26379 };

/** One server's configuration: a plane has one (a template for all pods), or one per file. */
export interface Server {
  readonly plane: Plane;
  readonly conf: ConfText | undefined;
  readonly acl: AclText | undefined;
}

export interface Plane {
  readonly role: PlaneRole;
  /** undefined where only configuration files are in the contract. */
  readonly workload: Workload | undefined;
  /** The container that runs the server. */
  readonly container: Container | undefined;
  readonly servers: readonly Server[];
  /** The plane of the other role that belongs to it. */
  readonly peer: Plane | undefined;
}
