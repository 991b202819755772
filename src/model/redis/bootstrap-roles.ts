/** Who follows whom at the first start, by what the scripts write in which pod. */
import type { Contract } from "../contract.js";
import { hostMeaning, namespaceOf, ordinalsOf } from "../kubernetes/pod-name.js";
import type { Workload } from "../kubernetes/workload.js";
import type { Place } from "../place.js";
import type { Plane } from "../plane.js";
import { editsOf, type Invocation, marksOfFirstRun, serverStart, show, type Text } from "../shell/index.js";
import { configHome, pathIn } from "./config-home.js";
import { confDocument } from "./deployment.js";

/** A line, or an option of a start, that makes a server follow another one. */
export interface Follow {
  readonly host: string;
  readonly port: string | undefined;
  readonly place: Place;
}

/** `itself`: a pod follows itself (`alone`: and no other follows anybody). `second`: one beside the first follows nobody. */
export interface RoleFault {
  readonly kind: "itself" | "second";
  readonly pod: string;
  /** Whom that pod, or others, follow. */
  readonly host: string;
  readonly alone: boolean;
  readonly place: Place;
}

/** The first fault of who follows whom: more have the same cause. */
export function roleFault(contract: Contract, plane: Plane): RoleFault | undefined {
  const { workload } = plane;
  const follows = workload === undefined ? undefined : firstFollows(contract, plane);
  if (workload === undefined || follows === undefined) return undefined;
  const from = namespaceOf(contract, workload);
  const alone = [...follows.values()].filter((follow) => follow !== undefined).length === 1;
  const { start } = ordinalsOf(workload);
  let second: RoleFault | undefined;
  for (const [ordinal, follow] of follows) {
    const pod = `${workload.name}-${ordinal}`;
    if (follow === undefined) {
      const other = [...follows.values()].find((one) => one !== undefined)!;
      if (ordinal !== start) second ??= { kind: "second", pod, alone, ...other };
      continue;
    }
    // that all follow another pod than the first is a fault of its own
    const meaning = ordinal === start ? hostMeaning(contract, follow.host, from) : undefined;
    if (meaning?.kind === "pod" && meaning.workload === workload && meaning.ordinal === start)
      return { kind: "itself", pod, alone, ...follow };
  }
  return second;
}

/** More pods are not run one by one. */
const MOST_PODS = 16;

const known = new WeakMap<Contract, Map<Plane, ReadonlyMap<number, Follow | undefined> | undefined>>();

/**
 * Whom each pod of a plane follows after its first start, by ordinal (undefined: nobody): its scripts are run with its name,
 * and with no configuration there yet. undefined: no script says it, or for some pod it is not decided.
 */
export function firstFollows(contract: Contract, plane: Plane): ReadonlyMap<number, Follow | undefined> | undefined {
  let planes = known.get(contract);
  if (planes === undefined) known.set(contract, (planes = new Map()));
  if (!planes.has(plane)) planes.set(plane, readFollows(contract, plane));
  return planes.get(plane);
}

function readFollows(contract: Contract, plane: Plane): ReadonlyMap<number, Follow | undefined> | undefined {
  const { workload, container } = plane;
  if (plane.role !== "data" || workload?.kind !== "StatefulSet" || container === undefined) return undefined;
  const { start, count } = ordinalsOf(workload);
  const home = count === undefined || count > MOST_PODS ? undefined : configHome(plane, contract);
  if (home === undefined || !mentionsFollowing(contract, workload)) return undefined;
  const confs = plane.servers.map((s) => (s.conf === undefined ? undefined : confDocument(s.conf)));
  if (!confs.every((conf) => conf?.gaps.length === 0 && !conf.lines.some((line) => FOLLOWS.test(line.name))))
    return undefined;
  const out = new Map<number, Follow | undefined>();
  const follows = followsOf();
  for (let ordinal = start; ordinal < start + count!; ordinal++) {
    let last: Follow | undefined;
    for (const other of workload.containers) {
      const command = other.entrypoint;
      if (command === undefined || (other.kind !== "init" && other !== container)) continue;
      const path = pathIn(other, container, home.mount, home.path);
      const pod = `${workload.name}-${ordinal}`;
      const found = marksOfFirstRun(contract.shell.inPod(command, pod), path ?? home.path, follows, pod);
      if (found === undefined || found.size > 1) return undefined;
      const [mark] = found;
      if (mark !== undefined) last = /^no$/i.test(mark.host) ? undefined : mark;
    }
    out.set(ordinal, last);
  }
  return [...out.values()].some((follow) => follow !== undefined) ? out : undefined;
}

function mentionsFollowing(contract: Contract, workload: Workload): boolean {
  return (
    workload.containers.some((c) => c.entrypoint?.words.some((word) => FOLLOWS.test(word.text))) ||
    contract.scripts.some((script) => FOLLOWS.test(script.view.text))
  );
}

/** What a command does to whom its pod follows; the same words are the same object. */
function followsOf(): (invocation: Invocation) => Follow | "unknown" | undefined {
  const made = new Map<string, Follow>();
  const follow = (host: string, port: string | undefined, place: Place): Follow => {
    const { source, start } = place.span;
    const key = `${source.file}:${start} ${host} ${port}`;
    let one = made.get(key);
    if (one === undefined) made.set(key, (one = { host, port, place }));
    return one;
  };
  const ofLine = (line: Text, place: Place): Follow | "unknown" | undefined => {
    const words = /^[ \t]*(?:replicaof|slaveof)[ \t]+(\S+)(?:[ \t]+(\S+))?/i.exec(line.known ?? "");
    if (words !== null) return follow(words[1]!, words[2], place);
    return line.known === undefined && FOLLOWS.test(show(line)) ? "unknown" : undefined;
  };
  return (invocation) => {
    let last: Follow | "unknown" | undefined;
    const option = serverStart(invocation)?.overrides.find((o) => /^(?:replicaof|slaveof)$/.test(o.name));
    if (option !== undefined) {
      const [host, port] = option.values.flatMap((value) => value.known?.split(/\s+/) ?? [undefined]);
      return host === undefined ? "unknown" : follow(host, port, option.arg.place);
    }
    if (
      /^(?:redis|valkey)-cli$/.test(invocation.name ?? "") &&
      invocation.command.some((w) => FOLLOWS.test(w.known ?? ""))
    )
      return "unknown";
    for (const edit of editsOf(invocation)) {
      if (edit.kind === "remove" || edit.kind === "touch" || edit.kind === "link") continue;
      if (edit.content === undefined && edit.kind !== "edit") return "unknown";
      for (const text of [...(edit.edits ?? []), ...(edit.content ?? []).flatMap((segment) => segment.edits)]) {
        if (text.kind === "envsubst") continue;
        if (text.mentions === undefined || text.mentions.some((word) => FOLLOWS.test(word))) return "unknown";
      }
      if (edit.kind === "edit" && edit.edits === undefined) return "unknown";
      for (const segment of edit.content ?? [])
        if (segment.kind === "lines") for (const line of segment.lines) last = ofLine(line, line.place) ?? last;
    }
    return last;
  };
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
