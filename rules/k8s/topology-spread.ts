import { defineRule } from "../../src/engine/rule.js";
import { antiAffinityTerms, spreadConstraints } from "../../src/model/kubernetes/scheduling.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "A hard topology spread over nodes holds for each plane.",
    why: "Spread is what keeps pods even when anti-affinity is relaxed or nodes come back: without it a node's loss can take more than one member.",
    fix: "Add a constraint on kubernetes.io/hostname with maxSkew: 1, whenUnsatisfiable: DoNotSchedule and a labelSelector that matches the pod's own labels.",
    bad: "topologySpreadConstraints:\n  - topologyKey: kubernetes.io/hostname\n    maxSkew: 1\n    whenUnsatisfiable: ScheduleAnyway\n",
    good: "topologySpreadConstraints:\n  - topologyKey: kubernetes.io/hostname\n    maxSkew: 1\n    whenUnsatisfiable: DoNotSchedule\n    labelSelector: { matchLabels: { app: redis-data } }\n",
    source: {
      title: "Kubernetes: pod topology spread constraints",
      url: "https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/",
    },
    rows: ["C-K10"],
  },
  messages: {
    missing: { text: "{object} has no topologySpreadConstraints", once: true },
    ineffective: {
      text: "no topologySpreadConstraint of {object} keeps its pods on different nodes: {reason}",
      once: true,
    },
  },
  on: {
    Plane({ workload }, { contract, report }) {
      if (
        workload === undefined ||
        (workload.replicas ?? 2) < 2 ||
        workload.kind === "DaemonSet" ||
        workload.kind === "Pod"
      )
        return;
      // without a promise, required anti-affinity already keeps the pods apart
      if (!contract.declared && antiAffinityTerms(workload).required.some((t) => t.reason === undefined)) return;
      const constraints = spreadConstraints(workload);
      if (constraints.length === 0) {
        report("missing", { object: workload.title }, workload.podMissing("topologySpreadConstraints"));
      } else if (constraints.every((c) => c.reason !== undefined)) {
        const first = constraints[0]!;
        report("ineffective", { object: workload.title, reason: first.reason ?? "" }, first.place, {
          related: constraints.slice(1).map((c) => ({ at: c.place, message: c.reason ?? "" })),
        });
      }
    },
  },
});
