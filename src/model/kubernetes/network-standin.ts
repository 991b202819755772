/**
 * Stand-ins for pods that only policies know: a rule that opens `kube-dns` is an edge although no file makes that pod.
 * They let exact edge lists and pictures name it; the plain graph of the manifests does without them.
 */

import {
  buildNetwork,
  type NamespaceInfo,
  type NetworkEdge,
  type NetworkEngine,
  type NetworkInput,
  type PodInfo,
} from "./network.js";
import type { PodPeer, Policy } from "./network-policy.js";
import { describeSelector, type Labels, labelsOf, type Selector } from "./selector.js";

const NAME_LABEL = "kubernetes.io/metadata.name";
/** A namespace that no file speaks of. */
const ANYWHERE = "(another namespace)";

/** The namespaces that a peer is tied to by name; undefined: any namespace with the right labels. */
export function peerNamespaces(policy: Policy, peer: PodPeer): readonly string[] | undefined {
  if (peer.namespaces === undefined) return [policy.info.namespace];
  return peer.namespaces.requirements.find(({ key, operator }) => key === NAME_LABEL && operator === "In")?.values;
}

/**
 * The input with one pod for every peer that selects none: `namespace/labels[Unknown]`, with the fewest labels that the
 * peer asks for. A peer that no pod can match gets none. With `home` (the namespaces whose pods are all known) every peer
 * that reaches beyond them gets its own pod, also where it selects a known one: who else it lets in is not in the files.
 * `engine`: of the same pods and policies, whatever its nodes. Where nobody is missing the input itself comes back.
 */
export function withStandIns(
  input: NetworkInput,
  options: { home?: ReadonlySet<string>; engine?: NetworkEngine } = {},
): NetworkInput {
  const pods = new Map<string, PodInfo>();
  const namespaces = new Map<string, NamespaceInfo>();
  const known = new Set(input.pods.map(({ id }) => id));
  const add = (policy: Policy, peer: PodPeer): void => {
    const labels = satisfy(peer.pods);
    if (labels === undefined) return;
    const place = namespaceFor(policy, peer, input, options.home);
    if (place === undefined) return;
    const id = `${place.name}/${standInTitle(peer.pods)}[Unknown]`;
    if (known.has(id)) return;
    pods.set(id, standIn(id, place.name, labels));
    if (!input.namespaces.some(({ name }) => name === place.name)) namespaces.set(place.name, place);
  };
  const engine = options.engine ?? buildNetwork(input);
  for (const { policy, peer } of engine.unmatchedPeers()) add(policy, peer);
  const { home } = options;
  if (home !== undefined) {
    const homes = [...home].map((name) => homeLabels(name, input));
    for (const policy of engine.policies) {
      for (const rule of [...policy.ingress, ...policy.egress]) {
        for (const peer of rule.peers ?? []) {
          if (peer.kind === "pods" && reachesBeyond(peer, home, homes)) add(policy, peer);
        }
      }
    }
  }
  if (pods.size === 0) return input;
  return {
    pods: [...input.pods, ...pods.values()],
    namespaces: [...input.namespaces, ...namespaces.values()],
    policies: input.policies,
  };
}

/** A pod that stands for pods in no file. */
export function standIn(id: string, namespace: string, labels: Readonly<Record<string, string>>): PodInfo {
  return { id, owner: id, namespace, labels, hostNetwork: false, ports: [], several: true };
}

/** `k8s-app=kube-dns`, `any pod`: how a stand-in is named after what selects it. */
export function standInTitle(selector: Selector): string {
  return selector.kind === "everything" ? "any pod" : describeSelector(selector);
}

function homeLabels(name: string, input: NetworkInput): Labels {
  const labels = new Map(labelsOf(input.namespaces.find((one) => one.name === name)?.labels));
  labels.set(NAME_LABEL, name);
  return labels;
}

function reachesBeyond({ namespaces }: PodPeer, home: ReadonlySet<string>, homes: readonly Labels[]): boolean {
  if (namespaces === undefined || namespaces.selectsNothing) return false;
  if (namespaces.kind === "everything") return true;
  const named = namespaces.requirements.find(({ key, operator }) => key === NAME_LABEL && operator === "In")?.values;
  if (named !== undefined) return named.some((name) => !home.has(name));
  return !homes.some((labels) => namespaces.matches(labels));
}

/** Whether a node is a stand-in. */
export function isStandIn(id: string): boolean {
  return id.endsWith("[Unknown]");
}

/** The edges with at least one end in the files: what a stand-in does elsewhere is not known. */
export function* knownEdges(edges: Iterable<NetworkEdge>): Generator<NetworkEdge> {
  const known = (id: string): boolean => !id.endsWith("[External]") && !isStandIn(id);
  for (const edge of edges) if (known(edge.from) || known(edge.to)) yield edge;
}

function namespaceFor(
  policy: Policy,
  peer: PodPeer,
  input: NetworkInput,
  home: ReadonlySet<string> | undefined,
): NamespaceInfo | undefined {
  const names = peerNamespaces(policy, peer);
  const { namespaces } = peer;
  if (namespaces === undefined) return { name: policy.info.namespace, labels: {} };
  const labels = satisfy(namespaces);
  if (labels === undefined) return undefined;
  const name =
    names?.find((one) => home?.has(one) !== true) ??
    names?.[0] ??
    (namespaces.kind === "everything" ? ANYWHERE : `(${describeSelector(namespaces)})`);
  const listed = input.namespaces.find((one) => one.name === name);
  if (listed !== undefined) return listed;
  const { [NAME_LABEL]: _, ...rest } = labels;
  return { name, labels: rest };
}

/** The fewest labels that a selector asks for; undefined: its requirements contradict each other. */
function satisfy(selector: Selector): Record<string, string> | undefined {
  if (selector.selectsNothing) return undefined;
  const labels = new Map<string, string>();
  for (const { key, operator, values } of selector.requirements) if (operator === "In") labels.set(key, values[0]!);
  for (const { key, operator } of selector.requirements)
    if (operator === "Exists" && !labels.has(key)) labels.set(key, "");
  return selector.matches(labels) ? Object.fromEntries(labels) : undefined;
}
