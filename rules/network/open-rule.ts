import { defineRule } from "../../src/engine/rule.js";
import { ignoredRules, openParts } from "../../src/model/kubernetes/open-rule.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Rules of a NetworkPolicy name exactly whom they let through, and on which ports.",
    why: "What a rule leaves out is open: no from or to is anyone, no ports is every port, an empty selector is every pod.",
    fix: "Give each item its peers by matchLabels and its ports, both in the same list item.",
    bad: "ingress:\n  - from:\n      - podSelector: {}\n",
    good: "ingress:\n  - from:\n      - podSelector: { matchLabels: { app: redis-sentinel } }\n    ports:\n      - { protocol: TCP, port: 6379 }\n",
    source: {
      title: "Kubernetes: network policies",
      url: "https://kubernetes.io/docs/concepts/services-networking/network-policies/",
    },
    rows: ["C-N03", "C-N05"],
  },
  messages: {
    anyone: { text: "{policy} lets {whom} on {ports}: the rule names no peer", inferred: "warning", once: true },
    split: {
      text: "{policy} lets {whom} on {ports}, and the peers of the item beside it on every port: one rule was split into two list items",
      help: "Put the peers and the ports into the same item: no dash before ports.",
      inferred: "warning",
    },
    ports: { text: "{policy} lets {whom} on every port: the rule names none", inferred: "warning", once: true },
    pods: { text: "{policy} lets {whom} on {ports}: the peer's podSelector is empty", inferred: "warning", once: true },
    cluster: {
      text: "{policy} lets {whom} on {ports}: the peer's selectors are empty",
      inferred: "warning",
      once: true,
    },
    namespaces: {
      text: "{policy} lets {whom} on {ports}: whoever may create a pod anywhere may take that label",
      inferred: "info",
      once: true,
    },
    namespace: { text: "{policy} lets {whom} on {ports}: the peer names no pod", inferred: "off" },
    world: { text: "{policy} lets {whom} on {ports}", inferred: "warning", once: true },
    inexact: {
      text: "{policy} lets {whom} on {ports}: pods that come later match it too",
      help: "Name the peers by matchLabels.",
      inferred: "off",
    },
    ignored: {
      text: "{policy} has {direction} rules, but its policyTypes lack {type}: they count for nothing",
      help: "Add {type} to policyTypes.",
      inferred: "warning",
    },
  },
  on: {
    Contract(contract, { report }) {
      const { network } = contract;
      const servers = new Set(contract.planes.map(({ workload }) => workload));
      for (const policy of network.pods.policies) {
        const ours = contract.declared
          ? network.home.has(policy.info.namespace)
          : network.selected(policy).some((workload) => servers.has(workload));
        if (!ours) continue;
        const title = network.objectOf(policy).title;
        for (const { kind, path, whom, ports, other } of openParts(policy)) {
          const at = network.has(policy, ...path) ? network.at(policy, ...path) : network.open(policy, path);
          const related = other === undefined ? [] : [{ at: network.at(policy, ...other), message: "the other half" }];
          report(kind, { policy: title, whom, ports }, at, { related });
        }
        // where edges are declared, each that is lost by it is told
        if (contract.declared && network.declared !== undefined) continue;
        for (const direction of ignoredRules(policy)) {
          const type = direction === "ingress" ? "Ingress" : "Egress";
          report("ignored", { policy: title, direction, type }, network.types(policy), {
            related: [{ at: network.key(policy, "spec", direction), message: "these rules" }],
          });
        }
      }
    },
  },
});
