import { defineRule } from "../../src/engine/rule.js";
import { antiAffinityTerms } from "../../src/model/kubernetes/scheduling.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Required pod anti-affinity keeps two servers of a plane off one node.",
    why: "Without it the scheduler may put all replicas or Sentinels on one node, and losing that node loses data and quorum together.",
    fix: "Add a requiredDuringSchedulingIgnoredDuringExecution term on kubernetes.io/hostname whose labelSelector matches the pod's own labels.",
    bad: "podAntiAffinity:\n  preferredDuringSchedulingIgnoredDuringExecution: [...]\n",
    good: "podAntiAffinity:\n  requiredDuringSchedulingIgnoredDuringExecution:\n    - topologyKey: kubernetes.io/hostname\n      labelSelector: { matchLabels: { app: redis-data } }\n",
    source: {
      title: "Kubernetes: inter-pod affinity and anti-affinity",
      url: "https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity",
    },
    rows: ["C-K09"],
  },
  messages: {
    missing: { text: "{object} has no pod anti-affinity: all its pods may land on one node", once: true },
    preferred: {
      once: true,
      text: "{object} only prefers to spread: preferred anti-affinity is given up when nodes are short",
      help: "Move the term to requiredDuringSchedulingIgnoredDuringExecution.",
    },
    ineffective: { text: "no required anti-affinity term of {object} keeps its pods apart: {reason}", once: true },
    revision: {
      text: "matchLabelKeys with {key} lets old and new pods of {object} share a node during a rollout",
      severity: "warning",
    },
  },
  on: {
    Plane({ workload }, { report }) {
      if (
        workload === undefined ||
        (workload.replicas ?? 2) < 2 ||
        workload.kind === "DaemonSet" ||
        workload.kind === "Pod"
      )
        return;
      const object = workload.title;
      const { required, preferred } = antiAffinityTerms(workload);
      const affinity = ["affinity", "podAntiAffinity"] as const;
      if (required.length === 0) {
        if (preferred) {
          report(
            "preferred",
            { object },
            workload.podKey(...affinity, "preferredDuringSchedulingIgnoredDuringExecution"),
          );
        } else
          report(
            "missing",
            { object },
            workload.podMissing(...affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
          );
        return;
      }
      const good = required.find((t) => t.reason === undefined);
      if (good === undefined) {
        const term = required[0]!;
        // the API server refuses a term without topologyKey, whatever the deployment was meant to be
        const severity = term.refused ? "error" : undefined;
        report("ineffective", { object, reason: term.reason ?? "" }, term.place, {
          related: required.slice(1).map((t) => ({ at: t.place, message: t.reason ?? "" })),
          severity,
        });
      } else if (
        good.revisionKey !== undefined &&
        required.every((t) => t.reason !== undefined || t.revisionKey !== undefined)
      ) {
        report("revision", { object, key: good.revisionKey }, good.keysPlace);
      }
    },
  },
});
