import { defineRule } from "../../src/engine/rule.js";
import { edgesInWords, listInWords } from "../../src/model/kubernetes/network-words.js";
import { dnsFaults, reachFaults } from "../../src/model/kubernetes/plane-reach.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "What the planes need of each other passes their policies: replication, monitoring, agreement, names.",
    why: "Replicas that cannot reach the primary lose their copy, Sentinels that cannot reach each other never agree on a failover.",
    fix: "Let the pods through on the port in both directions: ingress of the one, egress of the other.",
    bad: "ingress:\n  - from: [{ podSelector: { matchLabels: { app: cache } } }]\n    ports: [{ port: 6379 }]   # the pods serve Sentinel on 26379, too\n",
    good: "ingress:\n  - from: [{ podSelector: { matchLabels: { app: cache } } }]\n    ports: [{ port: 6379 }, { port: 26379 }]\n",
    source: {
      title: "bitnami/charts#12337: the policy of the chart did not open Sentinel's port",
      url: "https://github.com/bitnami/charts/issues/12337",
    },
    rows: ["C-N05"],
  },
  messages: {
    stopped: {
      text: "{edges}, which {purpose} needs: {policy} {reason}",
      help: "Both sides must let it through: egress of the source and ingress of the destination.",
    },
    names: {
      text: "{object} has to resolve {host}, but its policies let no question to a DNS server out on UDP 53",
      help: "Allow egress to kube-dns on UDP and TCP 53.",
    },
  },
  on: {
    Contract(contract, { report }) {
      const { network } = contract;
      for (const { gap, edges, purposes, evident } of reachFaults(contract)) {
        const words = edgesInWords(edges, "cannot reach", network.home);
        const data = { edges: words, purpose: listInWords(purposes), reason: gap.reason };
        report("stopped", { ...data, policy: network.objectOf(gap.policy).title }, network.gapPlace(gap), {
          severity: evident ? undefined : "warning",
        });
      }
      for (const { workload, host, policy, path } of dnsFaults(contract)) {
        report("names", { object: workload.title, host }, network.key(policy, ...path));
      }
    },
  },
});
