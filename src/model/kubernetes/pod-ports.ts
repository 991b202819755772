/** The ports that pods have: what their containers declare, and what their servers listen on. */

import type { Contract } from "../contract.js";
import { isOfficialImage } from "../image.js";
import { push } from "../multimap.js";
import { PLANE_PORT, type Plane } from "../plane.js";
import type { Listener, Listeners } from "../redis/listeners.js";
import { listenersOf } from "../redis/listeners.js";
import { serverStarts } from "../shell/index.js";
import type { KubeObject } from "./object.js";
import type { Container, Workload } from "./workload.js";

const UNKNOWN: Listeners = { open: [], known: false };

const listening = new WeakMap<Plane, Listeners>();

/** What the servers of a plane listen on: by their configuration, else by the container's command line. */
export function planeListeners(contract: Contract, plane: Plane): Listeners {
  let known = listening.get(plane);
  if (known === undefined) listening.set(plane, (known = readListeners(contract, plane)));
  return known;
}

function readListeners(contract: Contract, plane: Plane): Listeners {
  const loads = plane.servers.flatMap((s) => contract.redis.load(s) ?? []);
  if (loads.length === 0) return byCommand(contract, plane);
  const open: Listener[] = [];
  let known = true;
  for (const { values } of loads) {
    const own = listenersOf(values);
    if (!own.known) known = false;
    for (const one of own.open) if (!open.some((o) => o.port === one.port && o.tls === one.tls)) open.push(one);
  }
  return { open, known };
}

function byCommand(contract: Contract, { container, role }: Plane): Listeners {
  if (container === undefined) return UNKNOWN;
  const command = container.entrypoint;
  const standard = (port: number): Listener => ({ directive: "port", tls: false, port, at: undefined });
  if (command === undefined) {
    // other images may have a configuration of their own
    return isOfficialImage(container.image) && role === "data"
      ? { open: [standard(PLANE_PORT.data)], known: true }
      : UNKNOWN;
  }
  const starts = serverStarts(contract.shell.program(command), !command.explicit);
  const start = starts[0];
  if (start === undefined || starts.length > 1) return UNKNOWN;
  const open: Listener[] = [];
  let known = start.config === undefined && !start.uncertain;
  for (const directive of ["port", "tls-port"] as const) {
    const override = start.overrides.findLast((o) => o.name === directive);
    const text = override === undefined ? undefined : (override.values[0]?.known ?? "");
    const port = text === undefined || !/^\d{1,5}$/.test(text) ? undefined : Number(text);
    if (override !== undefined && port === undefined) known = false;
    else if (port !== undefined && port > 0)
      open.push({ directive, tls: directive === "tls-port", port, at: override!.arg.place.span });
    else if (override === undefined && directive === "port" && known) open.push(standard(PLANE_PORT[role]));
  }
  return { open, known };
}

/** Containers that run as long as the pod. */
export function running(workload: Workload): readonly Container[] {
  return workload.containers.filter((c) => c.kind === "container" || c.sidecar);
}

export interface PodPorts {
  readonly numbers: ReadonlySet<number>;
  /** Every container says what it has: another number is certainly nobody's. */
  readonly complete: boolean;
}

const ported = new WeakMap<Contract, Map<Workload, PodPorts>>();

/** TCP ports of a workload's pods. */
export function podPorts(contract: Contract, workload: Workload): PodPorts {
  let known = ported.get(contract);
  if (known === undefined) ported.set(contract, (known = new Map()));
  let ports = known.get(workload);
  if (ports === undefined) known.set(workload, (ports = readPorts(contract, workload)));
  return ports;
}

function readPorts(contract: Contract, workload: Workload): PodPorts {
  const numbers = new Set<number>();
  let complete = true;
  const planes = contract.planesOf(workload);
  for (const container of running(workload)) {
    const plane = planes.find((p) => p.container === container);
    const listeners = plane === undefined ? UNKNOWN : planeListeners(contract, plane);
    for (const { port } of listeners.open) numbers.add(port);
    for (const { port, protocol } of container.ports) if (protocol === "TCP" && port !== undefined) numbers.add(port);
    if (!listeners.known && container.ports.length === 0) complete = false;
  }
  return { numbers, complete };
}

/** Whether some container of the pod has a port of that name. */
export function hasNamedPort(workload: Workload, name: string, protocol: string): boolean {
  return running(workload).some((c) => c.ports.some((p) => p.name === name && p.protocol === protocol));
}

/** `6379 and 16379` */
export function portList(ports: Iterable<number>): string {
  const sorted = [...new Set(ports)].sort((a, b) => a - b);
  return sorted.length === 0
    ? "none"
    : sorted.length === 1
      ? String(sorted[0])
      : `${sorted.slice(0, -1).join(", ")} and ${sorted.at(-1)}`;
}

const services = new WeakMap<Contract, ReadonlyMap<Workload, readonly KubeObject[]>>();

/** The Services that select a workload's pods. */
export function servicesOf(contract: Contract, workload: Workload): readonly KubeObject[] {
  let known = services.get(contract);
  if (known === undefined) {
    const found = new Map<Workload, KubeObject[]>();
    for (const service of contract.ofKind("Service")) {
      for (const pod of contract.podsMatchingMap(service.namespace, service.get("spec", "selector"))) {
        push(found, pod, service);
      }
    }
    services.set(contract, (known = found));
  }
  return known.get(workload) ?? [];
}
