/** Who follows whom at the first start, by what the scripts write under which condition. */
import type { Contract } from "../contract.js";
import { hostMeaning, namespaceOf } from "../kubernetes/pod-name.js";
import type { Place } from "../place.js";
import type { Plane } from "../plane.js";
import { contentOf, type Guard, type Text } from "../shell/index.js";
import { configHome } from "./config-home.js";

/** A `replicaof` line that is written in one pod only, and names that pod. */
export interface SelfFollower {
  readonly pod: string;
  readonly host: string;
  readonly place: Place;
}

export function selfFollowers(contract: Contract, plane: Plane): SelfFollower[] {
  const { workload } = plane;
  const home = workload === undefined ? undefined : configHome(plane, contract);
  const out: SelfFollower[] = [];
  for (const { command, container } of home?.seeds ?? []) {
    const from = namespaceOf(contract, container.workload);
    for (const variant of contentOf(contract.shell.program(command), home!.path).variants) {
      for (const segment of variant.content ?? []) {
        if (segment.kind !== "lines") continue;
        for (const line of segment.lines) {
          const host = /^(?:replicaof|slaveof)\s+(\S+)\s/.exec(line.known ?? "")?.[1];
          if (host === undefined) continue;
          const pods = [...variant.guards, ...segment.guards].flatMap(podOf);
          const meaning = hostMeaning(contract, host, from);
          if (meaning.kind !== "pod" || meaning.workload !== workload) continue;
          const pod = `${workload!.name}-${meaning.ordinal}`;
          if (pods.includes(pod)) out.push({ pod, host, place: line.place });
        }
      }
    }
  }
  return out;
}

/** The pod that a condition is true in alone: `[ "$POD_NAME" = redis-data-0 ]`. */
function podOf(guard: Guard): string[] {
  if (guard.kind === "case") {
    const [only] = guard.patterns;
    if (!guard.holds || !isPodName(guard.subject) || guard.patterns.length !== 1) return [];
    return only?.known === undefined || /[*?[]/.test(only.known) ? [] : [only.known];
  }
  if (guard.kind !== "test" || guard.test.kind !== "compare") return [];
  const { op, left, right } = guard.test;
  const same = op === "=" || op === "==" ? guard.holds : op === "!=" ? !guard.holds : false;
  if (!same) return [];
  if (isPodName(left) && right.known !== undefined) return [right.known];
  return isPodName(right) && left.known !== undefined ? [left.known] : [];
}

function isPodName({ pieces }: Text): boolean {
  const [piece] = pieces;
  if (pieces.length !== 1 || piece === undefined || typeof piece === "string" || piece.op !== undefined) return false;
  if (piece.kind === "variable") return /^(?:HOSTNAME|POD_NAME|MY_POD_NAME|PODNAME|NAME)$/.test(piece.name ?? "");
  return piece.kind === "command" && piece.name === "hostname";
}

const FOLLOWS = /\b(?:replicaof|slaveof)\b/i;

/** Several servers that Sentinels watch, and nothing in the contract makes one follow another: each stays a primary. */
export function followsNobody(contract: Contract, plane: Plane): boolean {
  const { workload, container } = plane;
  if (plane.role !== "data" || workload === undefined || (workload.replicas ?? 1) < 2) return false;
  if (plane.servers.length === 0 || container?.entrypoint === undefined) return false;
  const home = configHome(plane, contract);
  if (home === undefined || home.seeds.length === 0) return false;
  const alone = plane.servers.every((s) => contract.redis.load(s)?.values.get("replicaof").state === "absent");
  if (!alone) return false;
  const programs = workload.containers.flatMap((c) => c.commands.map((command) => contract.shell.program(command)));
  return programs.every((p) => p.complete) && !contract.scripts.some((s) => FOLLOWS.test(s.view.text));
}
