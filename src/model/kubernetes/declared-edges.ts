/**
 * The grammar of `network.edges` in a contract file. An end of an edge, `from` or `to`, is one of
 *
 * | text                            | means                                                                           |
 * |---------------------------------|---------------------------------------------------------------------------------|
 * | `data`, `sentinel`              | the pods of that plane                                                          |
 * | `all`                           | all pods of the contract's namespace                                            |
 * | `dns`                           | the cluster's DNS servers: pods `k8s-app=kube-dns` of `kube-system`             |
 * | `pods(app=web,tier in (a, b))`  | pods with these labels, in the notation of `kubectl get -l`; `pods()` is all    |
 * | `Kind/name`                     | the pods of a workload                                                          |
 * | `namespace/NAME`                | all pods of another namespace; `namespace/NAME/pods(…)`, `namespace/NAME/Kind/name` some of them |
 * | `10.0.0.0/8`, `2001:db8::1`     | addresses outside the cluster                                                   |
 *
 * `port` is a number, a list of numbers, a range `6379-6400`, the name of a container port, or several with commas;
 * `endPort` ends a range that `port` starts. `protocol` is TCP where a port is given; without both an edge has everything.
 */
import type { PlaneRole } from "../plane.js";
import type { EdgeConfig } from "../settings.js";
import { ConnectionSet, type Protocol } from "./connections.js";
import { type AddressRange, parseRange } from "./ip.js";
import { parseSelector, type Selector } from "./selector.js";

export type EndText =
  | { readonly kind: "plane"; readonly role: PlaneRole }
  | { readonly kind: "dns" }
  /** `namespace` undefined: the contract's own. */
  | { readonly kind: "pods"; readonly namespace: string | undefined; readonly pods: Selector }
  | { readonly kind: "workload"; readonly namespace: string | undefined; readonly ref: string }
  | { readonly kind: "addresses"; readonly range: AddressRange }
  | { readonly kind: "wrong"; readonly reason: string };

export interface NamedPort {
  readonly name: string;
  readonly protocol: Protocol;
}

type PortsText =
  | { readonly kind: "ports"; readonly fixed: ConnectionSet; readonly named: readonly NamedPort[] }
  | { readonly kind: "wrong"; readonly reason: string; readonly field: "port" | "endPort" | "protocol" };

/** The DNS servers of a cluster, as every distribution of Kubernetes labels them. */
export const DNS = { namespace: "kube-system", labels: { "k8s-app": "kube-dns" } } as const;

const FORMS = "data, sentinel, all, dns, pods(app=x), Kind/name, namespace/NAME, or a CIDR block";
const WORKLOAD = /^(?:StatefulSet|Deployment|DaemonSet|ReplicaSet|ReplicationController|Job|CronJob|Pod)\/([^/\s]+)$/;

/** Reads one end of an edge. Never throws. */
export function parseEnd(text: string): EndText {
  const end = text.trim();
  if (end === "data" || end === "sentinel") return { kind: "plane", role: end };
  if (end === "dns") return { kind: "dns" };
  if (end === "all") return { kind: "pods", namespace: undefined, pods: parseSelector({}) };
  const elsewhere = /^namespace\/([a-z0-9][a-z0-9-]{0,62})(?:\/(.*))?$/s.exec(end);
  if (elsewhere !== null) {
    const [, namespace, rest] = elsewhere;
    return rest === undefined || rest === "all"
      ? { kind: "pods", namespace, pods: parseSelector({}) }
      : podsOrWorkload(rest, namespace);
  }
  const range = parseRange(end);
  return range !== undefined ? { kind: "addresses", range } : podsOrWorkload(end, undefined);
}

function podsOrWorkload(text: string, namespace: string | undefined): EndText {
  if (text.startsWith("pods(") && text.endsWith(")")) {
    const pods = parseLabels(text.slice("pods(".length, -1));
    return typeof pods === "string" ? { kind: "wrong", reason: pods } : { kind: "pods", namespace, pods };
  }
  if (WORKLOAD.test(text)) return { kind: "workload", namespace, ref: text };
  return { kind: "wrong", reason: `it is none of ${FORMS}` };
}

const KEY = String.raw`([A-Za-z0-9][\w./-]*)`;
const VALUE = String.raw`[\w.-]*`;
const EQUALS = new RegExp(`^${KEY}\\s*==?\\s*(${VALUE})$`);
const DIFFERS = new RegExp(`^${KEY}\\s*!=\\s*(${VALUE})$`);
const AMONG = new RegExp(`^${KEY}\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const THERE = new RegExp(`^(!?)\\s*${KEY}$`);

/** A label selector as `kubectl get -l` takes it; a text says what is wrong with it. */
export function parseLabels(text: string): Selector | string {
  const matchExpressions: { key: string; operator: string; values?: string[] }[] = [];
  for (const part of splitOutside(text)) {
    const item = part.trim();
    if (item === "") continue;
    const equals = EQUALS.exec(item);
    const differs = DIFFERS.exec(item);
    const among = AMONG.exec(item);
    const there = THERE.exec(item);
    if (equals !== null) matchExpressions.push({ key: equals[1]!, operator: "In", values: [equals[2]!] });
    else if (differs !== null) matchExpressions.push({ key: differs[1]!, operator: "NotIn", values: [differs[2]!] });
    else if (among !== null) {
      const values = among[3]!.split(",").map((value) => value.trim());
      matchExpressions.push({ key: among[1]!, operator: among[2] === "in" ? "In" : "NotIn", values });
    } else if (there !== null)
      matchExpressions.push({ key: there[2]!, operator: there[1] === "!" ? "DoesNotExist" : "Exists" });
    else return `"${item.slice(0, 60)}" is no label requirement such as app=redis`;
  }
  return parseSelector({ matchExpressions });
}

/** Splits at commas that stand outside parentheses. */
function splitOutside(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(") depth++;
    else if (text[i] === ")") depth--;
    else if (text[i] === "," && depth === 0) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** Reads `port`, `endPort` and `protocol` of an edge. Never throws. */
export function parseEdgePorts({ port, endPort, protocol }: EdgeConfig): PortsText {
  const protocols = (
    protocol === undefined ? ["TCP"] : typeof protocol === "string" ? [protocol] : protocol
  ) as Protocol[];
  if (protocols.length === 0) return { kind: "wrong", reason: "an edge has at least one protocol", field: "protocol" };
  const over = (make: (of: Protocol) => ConnectionSet): ConnectionSet =>
    protocols.reduce((set, of) => set.union(make(of)), ConnectionSet.NONE);
  if (port === undefined) {
    if (endPort !== undefined)
      return { kind: "wrong", reason: "endPort ends the range that port starts", field: "endPort" };
    const fixed = protocol === undefined ? ConnectionSet.ALL : over((of) => ConnectionSet.of(of));
    return { kind: "ports", fixed, named: [] };
  }
  if (endPort !== undefined) {
    if (typeof port !== "number" || endPort < port)
      return { kind: "wrong", reason: "endPort ends the range that port starts", field: "endPort" };
    return { kind: "ports", fixed: over((of) => ConnectionSet.of(of, port, endPort)), named: [] };
  }
  let fixed = ConnectionSet.NONE;
  const named: NamedPort[] = [];
  const items = typeof port === "object" ? port.map(String) : String(port).split(",");
  for (const item of items.map((text) => text.trim())) {
    const range = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(item);
    const first = Number(range?.[1]);
    const last = Number(range?.[2] ?? range?.[1]);
    if (range !== null && first >= 1 && last <= 65535 && first <= last)
      fixed = fixed.union(over((of) => ConnectionSet.of(of, first, last)));
    else if (range === null && /^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$/.test(item))
      for (const of of protocols) named.push({ name: item, protocol: of });
    else return { kind: "wrong", reason: `"${item.slice(0, 40)}" is no port, range or port name`, field: "port" };
  }
  return { kind: "ports", fixed, named };
}
