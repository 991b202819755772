import { defineRule } from "../../src/engine/rule.js";
import { listInWords } from "../../src/model/kubernetes/network-words.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "A default-deny policy for ingress and egress selects all pods of the namespace.",
    why: "A pod that no policy selects accepts every connection and may open every one: what the other policies allow is then no limit.",
    fix: "Add a NetworkPolicy with podSelector: {} and policyTypes: [Ingress, Egress] and no rules.",
    bad: "spec:\n  podSelector: {}\n  policyTypes: [Ingress]\n",
    good: "spec:\n  podSelector: {}\n  policyTypes: [Ingress, Egress]\n",
    source: {
      title: "Kubernetes: default deny all ingress and all egress traffic",
      url: "https://kubernetes.io/docs/concepts/services-networking/network-policies/#default-deny-all-ingress-and-all-egress-traffic",
    },
    rows: ["C-N01"],
  },
  messages: {
    missing: {
      text: "no policy of namespace {namespace} denies {directions} for all pods by default",
      inferred: "off",
    },
    open: {
      text: "no NetworkPolicy of this set isolates {object} for {directions}: {consequence}",
      inferred: "warning",
      once: true,
    },
    egress: {
      text: "{object} may open connections to anywhere: its policies hold for ingress only",
      inferred: "info",
      once: true,
    },
  },
  on: {
    Contract(contract, { report }) {
      const { network } = contract;
      if (contract.declared) {
        for (const { namespace, directions, at } of network.undenied()) {
          report("missing", { namespace, directions: listInWords(directions) }, at);
        }
        return;
      }
      const workloads = new Set(contract.planes.flatMap(({ workload }) => (workload === undefined ? [] : [workload])));
      for (const workload of workloads) {
        // rules that their policy's types leave out are told by open-rule
        const open = network.openDirections(workload).filter((d) => !network.hasIgnoredRules(workload, d));
        const object = workload.title;
        if (open.includes("ingress")) {
          const consequence = open.includes("egress")
            ? "every pod of the cluster may connect to it, and it to everything"
            : "every pod of the cluster may connect to it";
          report("open", { object, directions: listInWords(open), consequence }, network.isolatorOf(workload));
        } else if (open.includes("egress")) {
          report("egress", { object }, network.isolatorOf(workload));
        }
      }
    },
  },
});
