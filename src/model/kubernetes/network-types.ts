/** What goes into the connectivity engine and what comes out of it. */

import type { Connection, ConnectionSet, Protocol } from "./connections.js";
import type { AddressRange } from "./ip.js";
import type { Direction, PodPeer, Policy, PolicyInfo, SpecPath } from "./network-policy.js";

/** A pod, or the pods that one template makes. */
export interface PodInfo {
  /** Unique; for a template the same as `owner`. */
  readonly id: string;
  /** The top-level owner, `namespace/name[Kind]`: the node of the graph. */
  readonly owner: string;
  readonly namespace: string;
  /** Raw or normalized labels of the pod. */
  readonly labels: unknown;
  readonly hostNetwork: boolean;
  /** A recorded address (`status.podIP`), where there is one. */
  readonly ip?: string | undefined;
  /** Ports of the containers and sidecars; `containerPort` undefined: not decided by the files. */
  readonly ports: readonly {
    readonly name?: string | undefined;
    readonly containerPort?: number | undefined;
    readonly protocol?: string | undefined;
  }[];
  /** Whether this entry can stand for several pods at once (a template with more than one replica). */
  readonly several?: boolean | undefined;
}

export interface NamespaceInfo {
  readonly name: string;
  readonly labels: unknown;
}

export interface NetworkInput {
  readonly pods: readonly PodInfo[];
  /** Namespaces that are not listed exist with their default label only. */
  readonly namespaces: readonly NamespaceInfo[];
  readonly policies: readonly PolicyInfo[];
}

export interface NetworkOptions {
  /** `policed` (default): policies hold for pods on the host network too; `exempt`: they are node traffic, never selected. */
  readonly hostNetwork?: "policed" | "exempt";
}

/** A node of the graph: all pods of one top-level owner. */
export interface WorkloadNode {
  readonly id: string;
  readonly pods: readonly PodInfo[];
  readonly namespace: string;
}

/** A range of addresses outside the cluster that no ipBlock of its direction cuts. */
export interface ExternalNode {
  /** `first-last[External]`. */
  readonly id: string;
  readonly range: AddressRange;
}

/** An edge of the graph as `graph --format json` prints it. */
export interface NetworkEdge {
  readonly from: string;
  readonly to: string;
  readonly connections: readonly Connection[];
}

/** One rule in one policy. */
export interface RuleRef {
  readonly policy: Policy;
  readonly direction: Direction;
  readonly rule: number;
}

/** What a rule lets through between two endpoints, and by which of its items. */
export interface RuleMatch extends RuleRef {
  /** Indexes in `from`/`to` that match; undefined: the rule names no peers. */
  readonly peers: readonly number[] | undefined;
  /** Indexes in `ports` that match what was asked; undefined: the rule names no ports. */
  readonly ports: readonly number[] | undefined;
  readonly connections: ConnectionSet;
  /** Where the rule stands in its object. */
  readonly path: SpecPath;
}

/** A rule that almost lets through what was asked. */
export interface NearMiss extends RuleMatch {
  readonly lacks: "peer" | "port";
}

/** One direction of an explanation. No isolating policy: the side is open. */
export interface Side {
  readonly direction: Direction;
  readonly isolating: readonly Policy[];
  readonly allowing: readonly RuleMatch[];
  readonly near: readonly NearMiss[];
  /** Rules that would let it through if the pod's address (unknown, or recorded) counts for their ipBlock. */
  readonly byAddress: readonly RuleMatch[];
  readonly connections: ConnectionSet;
  readonly allowed: boolean;
}

export interface Explanation {
  readonly from: string;
  readonly to: string;
  /** The pods looked at, where an endpoint is a workload. */
  readonly pods: { readonly from: PodInfo | undefined; readonly to: PodInfo | undefined };
  readonly asked: { readonly protocol: Protocol; readonly port: number } | undefined;
  /** Whether what was asked (without a port: anything at all) is allowed. */
  readonly allowed: boolean;
  /** Denied by policies with placeholders, or only as long as no ipBlock covers the pod: the files do not decide it. */
  readonly undecided: boolean;
  readonly connections: ConnectionSet;
  readonly egress: Side;
  readonly ingress: Side;
  readonly notes: readonly string[];
}

/** What one rule does to one edge. */
export interface RuleEffect {
  readonly from: string;
  readonly to: string;
  /** What the rule lets through and the other side does not stop. */
  readonly connections: ConnectionSet;
  /** The part of it that no other rule of the same side lets through: gone when the rule is removed. */
  readonly alone: ConnectionSet;
}

/** A peer of a rule that selects no pod of the input: somebody outside these files, or nobody. */
export interface UnmatchedPeer extends RuleRef {
  readonly peer: PodPeer;
  readonly connections: ConnectionSet;
  /** Pods that the policy selects. */
  readonly workloads: readonly string[];
  readonly path: SpecPath;
}
