/** What the planes need of each other over the network, whatever anybody declared: the field rules behind `network/reachable`. */
import type { Contract } from "../contract.js";
import { PLANE_PORT, type Plane } from "../plane.js";
import { listenersOf } from "../redis/listeners.js";
import { ConnectionSet } from "./connections.js";
import type { Policy, Rule } from "./network-policy.js";
import { peerNamespaces } from "./network-standin.js";
import { hostMeaning, namespaceOf } from "./pod-name.js";
import { planeListeners } from "./pod-ports.js";
import type { Workload } from "./workload.js";

/** Pods of one plane open connections to pods of another, on one of these TCP ports. */
export interface PlaneNeed {
  readonly from: Workload;
  readonly to: Workload;
  /** Ports of which one must be reachable: several where the files do not say which is used. */
  readonly ports: readonly number[];
  /** What the connection is for: `replication`, `monitoring`, `agreement between Sentinels`. */
  readonly purpose: string;
  /** The files name the port; else it is the server's default, and nothing else may be open for it to be missed. */
  readonly certain: boolean;
  /** Something in the files shows that the connection is used. */
  readonly evident: boolean;
}

/** All needs of the contract's planes, each once. */
export function planeNeeds(contract: Contract): PlaneNeed[] {
  const planes = contract.planes.filter((p): p is Plane & { workload: Workload } => p.workload !== undefined);
  const data = planes.filter(({ role }) => role === "data");
  const sentinels = planes.filter(({ role }) => role === "sentinel");
  const out = new Map<string, PlaneNeed>();
  const add = (from: Workload, to: Workload, ports: PortGuess, purpose: string, evident = true): void => {
    const key = `${from.title} ${to.title} ${ports.ports.join()}`;
    if (ports.ports.length > 0 && !out.has(key))
      out.set(key, { from, to, ports: ports.ports, purpose, certain: ports.certain, evident });
  };
  const peers = new Set(contract.planes.filter(({ role }) => role === "sentinel").map(({ peer }) => peer));
  const planesOf = new Map<Workload, Plane[]>();
  for (const one of data) planesOf.set(one.workload, [...(planesOf.get(one.workload) ?? []), one]);
  for (const one of data) {
    const ports = servedPorts(contract, one);
    const watched = peers.has(one) || (data.length === 1 && peers.size > 0);
    if (one.workload.replicas !== 1) {
      const evident = watched || replicates(contract, one);
      if (evident || one.workload.kind === "StatefulSet")
        add(one.workload, one.workload, ports, "replication", evident);
    }
    for (const primary of primariesOf(contract, one)) {
      if (primary === one.workload) continue;
      const [other] = planesOf.get(primary) ?? [];
      if (other !== undefined) add(one.workload, primary, servedPorts(contract, other), "replication");
    }
  }
  const groups = new Map<string, Set<(typeof sentinels)[number]>>();
  for (const sentinel of sentinels) {
    for (const key of groupsOf(contract, sentinel)) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, new Set([sentinel]));
      else group.add(sentinel);
    }
  }
  for (const sentinel of sentinels) {
    const watched = new Set(monitored(contract, sentinel).flatMap((workload) => planesOf.get(workload) ?? []));
    for (const one of data.length === 1 ? data : []) watched.add(one);
    if (sentinel.peer?.workload !== undefined) watched.add(sentinel.peer);
    for (const one of watched) {
      add(sentinel.workload, one.workload!, servedPorts(contract, one), "monitoring");
    }
    if (sentinel.workload.replicas !== 1)
      add(sentinel.workload, sentinel.workload, servedPorts(contract, sentinel), "agreement between Sentinels");
    for (const other of new Set(groupsOf(contract, sentinel).flatMap((key) => [...groups.get(key)!]))) {
      if (other.workload !== sentinel.workload)
        add(sentinel.workload, other.workload, servedPorts(contract, other), "agreement between Sentinels");
    }
  }
  return [...out.values()];
}

interface PortGuess {
  readonly ports: readonly number[];
  readonly certain: boolean;
}

/** The ports at which other servers reach a plane's: by its configuration, else its command line and manifest, else the default. */
function servedPorts(contract: Contract, plane: Plane): PortGuess {
  const found = new Set<number>();
  let hidden = false;
  for (const server of plane.servers) {
    const load = contract.redis.load(server);
    if (load === undefined) continue;
    hidden = true;
    const announced =
      plane.role === "sentinel"
        ? load.sentinel?.announcePort?.number
        : (load.values.number("replica-announce-port") ?? undefined);
    const { open, known } = listenersOf(load.values);
    const links = load.values.flag("tls-replication");
    const linked = open.find(({ port }) => port === announced) ?? open.find(({ tls }) => tls === links);
    if (linked !== undefined) found.add(linked.port);
    else if (known) for (const { port } of open) found.add(port);
  }
  if (found.size > 0) return { ports: [...found], certain: true };
  const started = planeListeners(contract, plane);
  if (started.known && started.open.length > 0) return { ports: started.open.map(({ port }) => port), certain: true };
  const usual = PLANE_PORT[plane.role];
  const listed = (plane.container?.ports ?? []).filter(
    ({ protocol, port }) => protocol === "TCP" && port !== undefined,
  );
  const numbers = [...new Set(listed.map(({ port }) => port!))];
  // a configuration that hides its port may have another than the manifest tells
  if (numbers.includes(usual)) return { ports: [usual], certain: !hidden };
  if (numbers.length > 0) return { ports: numbers, certain: !hidden };
  return { ports: [usual], certain: false };
}

/** A configuration that shows replication or cluster links. */
function replicates(contract: Contract, plane: Plane): boolean {
  return plane.servers.some((server) => {
    const values = contract.redis.load(server)?.values;
    if (values === undefined) return false;
    return (
      ["replicaof", "masterauth", "masteruser", "replica-announce-ip"].some((name) => values.isSet(name) === true) ||
      values.flag("cluster-enabled") === true
    );
  });
}

function primariesOf(contract: Contract, plane: Plane): readonly Workload[] {
  return plane.servers.flatMap((server) => {
    const value = contract.redis.load(server)?.values.get("replicaof");
    const host = value?.state === "known" ? value.args[0]?.value : undefined;
    return host === undefined ? [] : workloadsOfHost(contract, host, plane.workload!);
  });
}

function monitored(contract: Contract, plane: Plane): readonly Workload[] {
  return masters(contract, plane).flatMap(({ host }) => workloadsOfHost(contract, host, plane.workload!));
}

function masters(contract: Contract, plane: Plane): { readonly name: string; readonly host: string }[] {
  return plane.servers.flatMap((server) =>
    [...(contract.redis.load(server)?.sentinel?.masters.values() ?? [])].map(({ name, host }) => ({
      name,
      host: host.value,
    })),
  );
}

/** Sentinels that watch the same primary under the same name find each other through it: these are the ones. */
function groupsOf(contract: Contract, plane: Plane): readonly string[] {
  return masters(contract, plane).map(({ name, host }) => `${name}\n${host}`);
}

/** The workloads behind a host name that a server looks up. */
function workloadsOfHost(contract: Contract, host: string, near: Workload): readonly Workload[] {
  const meaning = hostMeaning(contract, host, namespaceOf(contract, near));
  if (meaning.kind === "pod") return [meaning.workload];
  if (meaning.kind !== "service") return [];
  const { service } = meaning;
  return contract.podsMatchingMap(service.namespace, service.get("spec", "selector"));
}

// --------------------------------------------------------------------------------------------------------------- names

const PLACEHOLDER =
  /\$\{[^}]*\}|\$\([A-Za-z_]\w*\)|\$\w+|\{\{.*?\}\}|__[A-Z][A-Z0-9_]*__|@[A-Z][A-Z0-9_]*@|%[A-Z][A-Z0-9_]*%/g;

/** Whether a text is surely a host name, not an address: letters stay when its placeholders are taken out. */
function isHostName(text: string): boolean {
  const rest = text.replace(PLACEHOLDER, "");
  return /[g-z]/i.test(rest) && !rest.includes(":") && rest !== "localhost";
}

/** The first host name that a plane's servers have to resolve. */
export function resolvedName(contract: Contract, plane: Plane): string | undefined {
  for (const server of plane.servers) {
    const load = contract.redis.load(server);
    if (load === undefined) continue;
    for (const { host } of load.sentinel?.masters.values() ?? []) if (isHostName(host.value)) return host.value;
    if (plane.role === "sentinel") continue;
    // the primary's name, or the names that servers are told apart by: Sentinel hands them to replicas
    for (const name of ["replicaof", "replica-announce-ip"]) {
      const value = load.values.get(name);
      const host = value.state === "absent" ? undefined : value.args[0]?.value;
      if (host !== undefined && host.toLowerCase() !== "no" && isHostName(host)) return host;
    }
  }
  return undefined;
}

/** Whether some rule of a policy may let its pods ask a DNS server: UDP 53 (5353 on OpenShift) to whoever may be one. */
export function letsOutDns(policy: Policy): boolean {
  return policy.egress.some((rule) => {
    const ports = fixedPorts(rule);
    if (![53, 5353].some((port) => ports.has("UDP", port))) return false;
    return (
      rule.peers === undefined ||
      rule.peers.some(
        (peer) =>
          peer.kind === "addresses" ||
          peerNamespaces(policy, peer)?.every((name) => name === policy.info.namespace) !== true ||
          policy.info.namespace === "kube-system",
      )
    );
  });
}

/** The connections of a rule that no pod's port names decide; all for names, which may be anything. */
function fixedPorts(rule: Rule): ConnectionSet {
  if (rule.ports === undefined) return ConnectionSet.ALL;
  return rule.ports.reduce(
    (set, { fixed, named }) =>
      set.union(fixed ?? (named === undefined ? ConnectionSet.NONE : ConnectionSet.of(named.protocol))),
    ConnectionSet.NONE,
  );
}
