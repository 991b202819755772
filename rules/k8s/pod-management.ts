import { defineRule } from "../../src/engine/rule.js";

export default defineRule({
  severity: "error",
  inferred: "info",
  docs: {
    summary: "Both planes start and stop their pods in parallel.",
    why: "With OrderedReady a restart of the whole set waits for ordinal 0: while that pod cannot become ready, the two others that could form a quorum never start.",
    fix: "Set podManagementPolicy: Parallel.",
    bad: "spec:\n  serviceName: redis-data\n  replicas: 3\n",
    good: "spec:\n  serviceName: redis-data\n  replicas: 3\n  podManagementPolicy: Parallel\n",
    source: {
      title: "Kubernetes: StatefulSets, pod management policies",
      url: "https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#pod-management-policies",
    },
    rows: ["C-K08"],
  },
  messages: {
    missing: "{object} has no podManagementPolicy: its pods start one after the other",
    ordered: "{object} starts its pods one after the other (podManagementPolicy: {policy})",
  },
  on: {
    Plane({ workload }, { report }) {
      if (workload?.kind !== "StatefulSet") return;
      const policy = workload.get("spec", "podManagementPolicy");
      if (policy === undefined || policy === null) {
        report("missing", { object: workload.title }, workload.missing("spec", "podManagementPolicy"));
      } else if (policy !== "Parallel") {
        report(
          "ordered",
          { object: workload.title, policy: String(policy) },
          workload.at("spec", "podManagementPolicy"),
        );
      }
    },
  },
});
