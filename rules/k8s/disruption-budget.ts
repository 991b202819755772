import { defineRule } from "../../src/engine/rule.js";
import { budgetOf } from "../../src/model/kubernetes/budget.js";
import type { KubeObject } from "../../src/model/kubernetes/object.js";
import { asObject } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "One disruption budget per plane lets one pod go at a time and keeps the quorum.",
    why: "A budget that allows nothing blocks every node drain; one that allows two evictions takes the quorum away; a pod under two budgets cannot be evicted at all.",
    fix: "Give each plane one PodDisruptionBudget with minAvailable: 2 of 3.",
    bad: "spec:\n  minAvailable: 3\n",
    good: "spec:\n  minAvailable: 2\n  unhealthyPodEvictionPolicy: AlwaysAllow\n",
    source: {
      title: "Kubernetes: specifying a disruption budget",
      url: "https://kubernetes.io/docs/tasks/run-application/configure-pdb/",
    },
    rows: ["C-K11"],
  },
  messages: {
    missing: { text: "no PodDisruptionBudget covers {object}", once: true },
    blocks: {
      text: "{budget} never allows an eviction: {bound} of {replicas} pods of {object}",
      help: "Leave one voluntary eviction: minAvailable below the number of replicas.",
      inferred: "error",
    },
    open: {
      text: "{budget} says neither minAvailable nor maxUnavailable: every pod of {object} may be evicted at once",
      help: "Set minAvailable: 2.",
    },
    quorum: {
      text: "{budget} lets {object} fall to {left} of {replicas} pods, below the {needed} that a quorum needs",
      inferred: "error",
    },
    value: { text: "{budget} keeps {bound}; the contract wants minAvailable {wanted}", inferred: "off" },
    several: {
      text: "pods of {object} are under two budgets, {first} and {second}: the eviction API refuses them",
      inferred: "error",
    },
    unhealthy: {
      text: "{budget} does not say unhealthyPodEvictionPolicy: AlwaysAllow, so a pod that never becomes ready blocks a drain",
      severity: "info",
      inferred: "off",
    },
  },
  on: {
    Workload(workload, { contract, report }) {
      const planes = contract.planesOf(workload);
      const plane = planes[0];
      if (plane === undefined || !["StatefulSet", "Deployment", "ReplicaSet"].includes(workload.kind)) return;
      const object = workload.title;
      const budgets = contract.budgetsOf(workload);
      const { replicas } = workload;
      if (budgets.length === 0) {
        if (replicas === undefined || replicas > 1) report("missing", { object }, workload.here);
        return;
      }
      if (budgets.length > 1) {
        const [first, second] = budgets as [KubeObject, KubeObject];
        report("several", { object, first: first.name, second: second.name }, second.key("spec", "selector"), {
          related: [{ at: first.key("spec", "selector"), message: "the other budget" }],
        });
      }
      for (const budget of budgets) {
        const bound = budgetOf(budget, replicas);
        if (budget.get("spec", "unhealthyPodEvictionPolicy") !== "AlwaysAllow") {
          const there = budget.has("spec", "unhealthyPodEvictionPolicy");
          report(
            "unhealthy",
            { budget: budget.title },
            there
              ? budget.at("spec", "unhealthyPodEvictionPolicy")
              : budget.missing("spec", "unhealthyPodEvictionPolicy"),
          );
        }
        if (!budget.has("spec", "minAvailable") && !budget.has("spec", "maxUnavailable"))
          report("open", { budget: budget.title, object }, budget.missing("spec", "minAvailable"));
        if (bound === undefined || replicas === undefined || replicas <= 1) continue;
        const shown = `${bound.field} ${bound.text}`;
        const data = { budget: budget.title, object, replicas };
        const quorum = contract.quorumOf(plane);
        const majority = Math.floor(replicas / 2) + 1;
        const needed = planes.some((p) => p.role === "sentinel") ? Math.max(quorum ?? 0, majority) : 1;
        const wanted = contract.config.policy?.minAvailable ?? 2;
        if (bound.keeps >= replicas) report("blocks", { ...data, bound: shown }, bound.place);
        else if (bound.keeps < needed) report("quorum", { ...data, left: bound.keeps, needed }, bound.place);
        else if (
          contract.declared &&
          !(bound.field === "minAvailable" && String(asObject(budget.get("spec"))["minAvailable"]) === String(wanted))
        ) {
          report("value", { budget: budget.title, bound: shown, wanted: String(wanted) }, bound.place);
        } else if (bound.keeps < majority && !contract.declared) {
          // two voluntary evictions at once leave no replica to promote
          report("quorum", { ...data, left: bound.keeps, needed: majority }, bound.place, {
            severity: bound.keeps < 1 ? "error" : "info",
          });
        }
      }
    },
  },
});
