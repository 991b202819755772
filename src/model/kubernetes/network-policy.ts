/**
 * What one NetworkPolicy says, read from its raw `spec`.
 *
 * Source: Kubernetes `networking.k8s.io/v1` NetworkPolicySpec and its defaulting: `policyTypes` absent or empty means
 * Ingress, and Egress too when there is an egress rule; absent or empty `from`/`to`/`ports` means everyone / all ports;
 * an absent `podSelector` of the policy itself is the empty one. A part that the API server would refuse matches nothing
 * and is listed in `problems`, so that one bad item does not open or close more than itself.
 */

import { asArray, hasToken, isObject } from "../value.js";
import { ConnectionSet, type Protocol } from "./connections.js";
import { type Bounds, EMPTY, subtract, unionOf } from "./intervals.js";
import { parseCidr } from "./ip.js";
import { describeSelector, NOTHING, parseSelector, type Selector } from "./selector.js";

export type Direction = "ingress" | "egress";

export type SpecPath = readonly (string | number)[];

/** A NetworkPolicy as the engine gets it. `handle` is the caller's own and is never looked at. */
export interface PolicyInfo {
  readonly namespace: string;
  readonly name: string;
  /** The raw `spec`. */
  readonly spec: unknown;
  readonly handle?: unknown;
}

/** Something in a policy that the API server would refuse; `path` starts at the object (`spec`, `ingress`, 0, …). */
export interface PolicyProblem {
  readonly path: SpecPath;
  readonly message: string;
}

/** A named container port of the destination pod. */
interface NamedPort {
  readonly name: string;
  readonly protocol: Protocol;
}

/** One item of `ports`: fixed connections, or a name to be looked up in each destination pod. */
export interface RulePort {
  readonly index: number;
  readonly fixed: ConnectionSet | undefined;
  readonly named: NamedPort | undefined;
}

/** One item of `from`/`to` that selects pods. `namespaces` undefined: the policy's own namespace. */
export interface PodPeer {
  readonly kind: "pods";
  readonly index: number;
  readonly namespaces: Selector | undefined;
  readonly pods: Selector;
}

/** One item of `from`/`to` that selects addresses outside the cluster. */
export interface AddressPeer {
  readonly kind: "addresses";
  readonly index: number;
  readonly cidr: string;
  readonly v4: Bounds<number>;
  readonly v6: Bounds<bigint>;
}

export type RulePeer = PodPeer | AddressPeer;

export interface Rule {
  readonly index: number;
  /** undefined: everyone. Items that are invalid are left out. */
  readonly peers: readonly RulePeer[] | undefined;
  /** undefined: all ports. Items that are invalid are left out. */
  readonly ports: readonly RulePort[] | undefined;
}

export interface Policy {
  readonly info: PolicyInfo;
  /** `namespace/name`. */
  readonly id: string;
  readonly selector: Selector;
  readonly affects: Readonly<Record<Direction, boolean>>;
  readonly ingress: readonly Rule[];
  readonly egress: readonly Rule[];
  readonly problems: readonly PolicyProblem[];
  /** Some part is a placeholder: what the policy does is not decided by the files. */
  readonly undecided: boolean;
}

/** Reads a policy. Never throws. */
export function parsePolicy(info: PolicyInfo): Policy {
  const problems: PolicyProblem[] = [];
  const problem = (path: SpecPath, message: string): void => {
    problems.push({ path: ["spec", ...path], message });
  };
  const raw = info.spec ?? {};
  const spec = isObject(raw) ? raw : {};
  if (!isObject(raw)) problem([], "spec must be a mapping");
  const selector = isObject(raw) ? parseSelector(spec["podSelector"] ?? {}) : NOTHING;
  for (const { path, message } of selector.problems) problem(["podSelector", ...path], message);

  const affects = readTypes(spec["policyTypes"], asArray(spec["egress"]).length > 0, problem);
  const ingress = readRules(spec["ingress"], "ingress", "from", problem);
  const egress = readRules(spec["egress"], "egress", "to", problem);
  return {
    info,
    id: `${info.namespace}/${info.name}`,
    selector,
    affects,
    ingress,
    egress,
    problems,
    undecided: mentionsToken(raw),
  };
}

/** Whether some text below `raw` is a placeholder. Looks at a bounded number of nodes: aliases can multiply them. */
function mentionsToken(raw: unknown): boolean {
  const stack: unknown[] = [raw];
  for (let seen = 0; stack.length > 0 && seen < 20_000; seen++) {
    const value = stack.pop();
    if (typeof value === "string") {
      if (hasToken(value)) return true;
    } else if (Array.isArray(value)) {
      for (const item of value.slice(0, 20_000)) stack.push(item);
    } else if (isObject(value)) {
      for (const key of Object.keys(value)) stack.push(value[key], key);
    }
  }
  return false;
}

type Report = (path: SpecPath, message: string) => void;

function readTypes(raw: unknown, hasEgress: boolean, problem: Report): Record<Direction, boolean> {
  if (raw === undefined || raw === null || (Array.isArray(raw) && raw.length === 0)) {
    return { ingress: true, egress: hasEgress };
  }
  const affects = { ingress: false, egress: false };
  if (!Array.isArray(raw)) problem(["policyTypes"], "policyTypes must be a list");
  asArray(raw).forEach((type, i) => {
    if (type === "Ingress") affects.ingress = true;
    else if (type === "Egress") affects.egress = true;
    else problem(["policyTypes", i], "a policy type is Ingress or Egress");
  });
  return affects;
}

function readRules(raw: unknown, direction: Direction, peersKey: "from" | "to", problem: Report): Rule[] {
  if (raw === undefined || raw === null) return [];
  if (!Array.isArray(raw)) {
    problem([direction], `${direction} must be a list`);
    return [];
  }
  const rules: Rule[] = [];
  raw.forEach((item: unknown, index) => {
    const path = [direction, index];
    const rule = item ?? {};
    if (!isObject(rule)) {
      problem(path, "a rule must be a mapping");
      return;
    }
    const peers = readList(rule[peersKey], [...path, peersKey], problem, readPeer);
    const ports = readList(rule["ports"], [...path, "ports"], problem, readPort);
    rules.push({ index, peers, ports });
  });
  return rules;
}

function readList<T>(
  raw: unknown,
  path: SpecPath,
  problem: Report,
  read: (item: unknown, index: number, report: Report) => T | undefined,
): T[] | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (!Array.isArray(raw)) {
    problem(path, `${path.at(-1)} must be a list`);
    return [];
  }
  if (raw.length === 0) return undefined;
  const list: T[] = [];
  raw.forEach((item: unknown, index) => {
    const value = read(item, index, (at, message) => problem([...path, index, ...at], message));
    if (value !== undefined) list.push(value);
  });
  return list;
}

function readPeer(raw: unknown, index: number, problem: Report): RulePeer | undefined {
  const peer = raw ?? {};
  if (!isObject(peer)) {
    problem([], "a peer must be a mapping");
    return undefined;
  }
  const pods = parseSelector(peer["podSelector"]);
  const namespaces = parseSelector(peer["namespaceSelector"]);
  const block = peer["ipBlock"] ?? undefined;
  for (const { path, message } of pods.problems) problem(["podSelector", ...path], message);
  for (const { path, message } of namespaces.problems) problem(["namespaceSelector", ...path], message);
  const selects = pods.kind !== "nothing" || namespaces.kind !== "nothing";
  if (block !== undefined) {
    if (!selects) return readBlock(block, index, (path, message) => problem(["ipBlock", ...path], message));
    problem(["ipBlock"], "ipBlock cannot stand beside podSelector or namespaceSelector");
    return undefined;
  }
  if (!selects) {
    problem([], "a peer needs podSelector, namespaceSelector or ipBlock");
    return undefined;
  }
  return {
    kind: "pods",
    index,
    namespaces: namespaces.kind === "nothing" ? undefined : namespaces,
    pods: pods.kind === "nothing" ? parseSelector({}) : pods,
  };
}

function readBlock(raw: unknown, index: number, problem: Report): AddressPeer | undefined {
  const cidr = isObject(raw) && typeof raw["cidr"] === "string" ? raw["cidr"] : "";
  const range = parseCidr(cidr);
  if (!isObject(raw) || range === undefined) {
    problem(["cidr"], `not a CIDR block: ${JSON.stringify(cidr)}`);
    return undefined;
  }
  const holes4: [number, number][] = [];
  const holes6: [bigint, bigint][] = [];
  asArray(raw["except"]).forEach((item, i) => {
    const hole = typeof item === "string" ? parseCidr(item) : undefined;
    if (hole === undefined) {
      problem(["except", i], `not a CIDR block: ${JSON.stringify(typeof item === "string" ? item : "")}`);
    } else if (hole.family !== range.family || hole.start < range.start || hole.end > range.end) {
      problem(["except", i], `${item as string} is not inside ${cidr}`);
    } else if (hole.family === 4) {
      holes4.push([hole.start, hole.end]);
    } else {
      holes6.push([hole.start, hole.end]);
    }
  });
  const v4: Bounds<number> = range.family === 4 ? subtract([range.start, range.end], unionOf(holes4)) : EMPTY;
  const v6: Bounds<bigint> = range.family === 6 ? subtract([range.start, range.end], unionOf(holes6)) : EMPTY;
  return { kind: "addresses", index, cidr, v4, v6 };
}

const PORT_NAME = /^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$/;

function readPort(raw: unknown, index: number, problem: Report): RulePort | undefined {
  const item = raw ?? {};
  if (!isObject(item)) {
    problem([], "a port must be a mapping");
    return undefined;
  }
  const protocol = item["protocol"] ?? "TCP";
  if (protocol !== "TCP" && protocol !== "UDP" && protocol !== "SCTP") {
    problem(["protocol"], "a protocol is TCP, UDP or SCTP");
    return undefined;
  }
  const port = item["port"] ?? undefined;
  const last = item["endPort"] ?? undefined;
  if (port === undefined) {
    if (last === undefined) return { index, fixed: ConnectionSet.of(protocol), named: undefined };
    problem(["endPort"], "endPort needs port");
    return undefined;
  }
  if (typeof port === "string") {
    if (!PORT_NAME.test(port)) problem(["port"], `not a port name: ${JSON.stringify(port.slice(0, 40))}`);
    if (last === undefined) return { index, fixed: undefined, named: { name: port, protocol } };
    problem(["endPort"], "endPort needs a numeric port");
    return undefined;
  }
  if (!isPort(port)) {
    problem(["port"], "a port is a name or a number from 1 to 65535");
    return undefined;
  }
  if (last === undefined) return { index, fixed: ConnectionSet.of(protocol, port), named: undefined };
  if (!isPort(last) || last < port) {
    problem(["endPort"], "endPort is a number from port to 65535");
    return undefined;
  }
  return { index, fixed: ConnectionSet.of(protocol, port, last), named: undefined };
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 65535;
}

/** A peer in words: `pods app=redis in the same namespace`, `10.0.0.0/8 except …`. */
export function describePeer(peer: RulePeer): string {
  if (peer.kind === "addresses") return `addresses of ${peer.cidr}`;
  const pods = peer.pods.kind === "everything" ? "all pods" : `pods with ${describeSelector(peer.pods)}`;
  if (peer.namespaces === undefined) return `${pods} of the policy's namespace`;
  return peer.namespaces.kind === "everything"
    ? `${pods} of all namespaces`
    : `${pods} of namespaces with ${describeSelector(peer.namespaces)}`;
}
