/** Files of a server as its configuration and its container name them. */
import type { Contract } from "../contract.js";
import type { Place } from "../place.js";
import type { Plane } from "../plane.js";
import { valueAt } from "./conf-place.js";

/** Working directory of the server: `dir` of its configuration, else the image's `/data`; undefined where it is not known. */
export function serverDirectory(
  contract: Contract,
  plane: Plane,
): { path: string; place: Place | undefined; persists: boolean; maxmemory: number | undefined } | undefined {
  const server = plane.servers.find((s) => s.conf !== undefined);
  const values = server === undefined ? undefined : contract.redis.load(server)?.values;
  const persists = values?.flag("appendonly") === true;
  const maxmemory = values?.number("maxmemory");
  const dir = values?.get("dir");
  if (dir === undefined || dir.state === "absent") return { path: "/data", place: undefined, persists, maxmemory };
  if (dir.state === "unknown") return undefined;
  const at = valueAt(dir);
  if (at === undefined) return { path: "/data", place: undefined, persists, maxmemory };
  // below the working directory of the image, which no file names
  if (!dir.value.startsWith("/")) return undefined;
  return { path: dir.value, place: at, persists, maxmemory };
}
