/** Edges in words, for messages: `redis-qualification may reach redis-data on TCP 6380`. */
import type { ConnectionSet } from "./connections.js";
import { type AddressRange, formatRange, parseRange } from "./ip.js";

/** Connections between two nodes: workloads, stand-ins or ranges of addresses. */
export interface EdgeSum {
  readonly from: string;
  readonly to: string;
  readonly connections: ConnectionSet;
}

const SHOWN_NAMES = 4;
const SHOWN_SENTENCES = 3;

/** A node by the name that people have for it. `home`: namespaces that need not be said. */
function nodeInWords(id: string, home: ReadonlySet<string>): string {
  const bracket = id.lastIndexOf("[");
  const path = bracket < 0 ? id : id.slice(0, bracket);
  const kind = id.slice(bracket);
  if (kind === "[External]") return addressesInWords(parseRange(path));
  const slash = path.indexOf("/");
  const namespace = path.slice(0, slash);
  const name = path.slice(slash + 1);
  const where = home.has(namespace) ? "" : ` of ${namespace.replace(/^\((.*)\)$/, "$1")}`;
  if (kind !== "[Unknown]") return where === "" ? name : `${namespace}/${name}`;
  if (name === "k8s-app=kube-dns") return "kube-dns";
  return name === "any pod" ? `any pod${where}` : `pods with ${name}${where}`;
}

function addressesInWords(range: AddressRange | undefined): string {
  const text = range === undefined ? "" : formatRange(range);
  if (text === "0.0.0.0-255.255.255.255") return "any address";
  if (text === "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff") return "any IPv6 address";
  const [first, last] = text.split("-");
  return first === last ? `address ${first}` : `addresses ${text}`;
}

/** `a`, `a and b`, `a, b and 3 more`. */
export function listInWords(names: readonly string[]): string {
  const shown = names.length > SHOWN_NAMES ? names.slice(0, SHOWN_NAMES - 1) : names;
  const rest = names.length - shown.length;
  if (rest > 0) return `${shown.join(", ")} and ${rest} more`;
  return shown.length < 2 ? (shown[0] ?? "nobody") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)!}`;
}

/** Edges as sentences with one verb (`may reach`, `cannot reach`); edges that differ in one end only are told together. */
export function edgesInWords(edges: readonly EdgeSum[], verb: string, home: ReadonlySet<string>): string {
  const bySource = merge(
    edges.map(({ from, to, connections }) => ({ from: [from], to: [to], on: connections.toString() })),
    "from",
  );
  const sentences = merge(bySource, "to").map(({ from, to, on }) => {
    const own = from.length === 1 && to.length === 1 && from[0] === to[0] && !from[0]!.endsWith("[External]");
    const names = (ids: readonly string[]): string => listInWords(ids.map((id) => nodeInWords(id, home)).sort());
    if (own) return `the pods of ${names(from)} ${verb} each other on ${on}`;
    return `${names(from)} ${verb} ${names(to)} on ${on}`;
  });
  const shown = sentences.slice(0, SHOWN_SENTENCES);
  const rest = sentences.length - shown.length;
  return rest === 0 ? shown.join("; ") : `${shown.join("; ")}; and so on, ${rest} more`;
}

interface Merged {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly on: string;
}

function merge(list: readonly Merged[], end: "from" | "to"): Merged[] {
  const found = new Map<string, Merged>();
  for (const item of list) {
    const key = `${end === "from" ? item.to.join("\n") : item.from.join("\n")}\n\n${item.on}`;
    const before = found.get(key);
    if (before === undefined) found.set(key, item);
    else {
      const both = [...new Set([...before[end], ...item[end]])];
      found.set(
        key,
        end === "from" ? { from: both, to: item.to, on: item.on } : { from: item.from, to: both, on: item.on },
      );
    }
  }
  return [...found.values()];
}

/** Adds connections up by the ends of their edges. */
export function addUp(edges: Iterable<EdgeSum>): EdgeSum[] {
  const sums = new Map<string, EdgeSum>();
  for (const { from, to, connections } of edges) {
    const key = `${from}\n${to}`;
    const before = sums.get(key);
    sums.set(key, {
      from,
      to,
      connections: before === undefined ? connections : before.connections.union(connections),
    });
  }
  return [...sums.values()];
}
