/** Ports of servers that configurations name: what a server announces, whom it follows or watches. */
import type { Span } from "../../text/source.js";
import type { Contract } from "../contract.js";
import { hostMeaning, namespaceOf } from "../kubernetes/pod-name.js";
import { planeListeners } from "../kubernetes/pod-ports.js";
import type { Plane, Server } from "../plane.js";
import { firstFollows } from "./bootstrap-roles.js";

export interface NamedPort {
  readonly directive: string;
  readonly port: number;
  readonly at: Span;
  /** The plane that should serve it. */
  readonly plane: Plane;
  /** The link to it is TLS; undefined: not known. */
  readonly tls: boolean | undefined;
}

export function namedPorts(contract: Contract, server: Server): readonly NamedPort[] {
  const load = contract.redis.load(server);
  if (load === undefined) return [];
  const { plane } = server;
  const { values, sentinel } = load;
  const out: NamedPort[] = [];
  const links = values.flag("tls-replication");
  const add = (
    directive: string,
    port: number | undefined,
    at: Span | undefined,
    of: Plane | undefined,
    tls: boolean | undefined,
  ): void => {
    if (port !== undefined && port > 0 && port <= 65535 && at !== undefined && of !== undefined)
      out.push({ directive, port, at, plane: of, tls });
  };
  // outside of pods a port may be mapped to another one
  const own = plane.workload !== undefined || contract.declared ? plane : undefined;
  if (sentinel !== undefined) {
    add("sentinel announce-port", sentinel.announcePort?.number, sentinel.announcePort?.at, own, links);
    for (const { host, port } of sentinel.masters.values()) {
      const known = host.placeholder === "none" ? host.value : undefined;
      add("sentinel monitor", port.number, port.at, planeOf(contract, plane, known, plane.peer), links);
    }
    return out;
  }
  const announced = values.get("replica-announce-port");
  const at = announced.state === "known" ? announced.args[0]?.at : undefined;
  add("replica-announce-port", values.number("replica-announce-port"), at, own, links);
  const primary = values.get("replicaof");
  const [host, port] = primary.state === "known" ? primary.args : [];
  if (host !== undefined && port !== undefined && /^\d{1,5}$/.test(port.value))
    add("replicaof", Number(port.value), port.at, planeOf(contract, plane, host.value, plane), links);
  else if (host === undefined)
    for (const follow of new Set(firstFollows(contract, plane)?.values()))
      if (/^\d{1,5}$/.test(follow?.port ?? ""))
        add(
          "replicaof",
          Number(follow!.port),
          follow!.place.span,
          planeOf(contract, plane, follow!.host, plane),
          links,
        );
  return out;
}

/** The data plane that a host belongs to: that of the pod; what a contract file ties together where it is no pod's name. */
function planeOf(
  contract: Contract,
  from: Plane,
  host: string | undefined,
  fallback: Plane | undefined,
): Plane | undefined {
  const namespace = from.workload === undefined ? undefined : namespaceOf(contract, from.workload);
  const meaning = host === undefined ? undefined : hostMeaning(contract, host, namespace);
  if (meaning?.kind === "pod") return contract.planesOf(meaning.workload).find((p) => p.role === "data");
  return contract.declared ? fallback : undefined;
}

/** Whether a plane serves a named port: `unlinked` where it does, but not with the TLS of the link, or without. */
export function serves(contract: Contract, { plane, port, tls }: NamedPort): boolean | "unlinked" | undefined {
  const { open, known } = planeListeners(contract, plane);
  const declared = plane.container?.ports.some((p) => p.port === port) === true;
  const there = open.filter((l) => l.port === port);
  if (there.length > 0)
    return tls === undefined || there.some((l) => l.tls === tls) || !open.some((l) => l.tls === tls)
      ? true
      : "unlinked";
  return declared ? true : known ? false : undefined;
}
