import { defineRule } from "../../src/engine/rule.js";
import { edgesInWords } from "../../src/model/kubernetes/network-words.js";
import type { Place } from "../../src/model/place.js";

export default defineRule({
  severity: "error",
  inferred: "off",
  docs: {
    summary: "The edges that the policies make are exactly those that the contract declares.",
    why: "A surplus edge is a way in that nobody decided on, a missing one cuts replication, monitoring or clients off.",
    fix: "Change the policy rule, or declare the edge in network.edges.",
    bad: "edges: [{ from: data, to: data, port: 6379 }]\n# and a policy that lets pods in on 6379 to 6400\n",
    good: "edges: [{ from: data, to: data, port: 6379 }]\n# and policies that let data pods, and only those, in and out on 6379\n",
    source: {
      title: "Kubernetes: network policies",
      url: "https://kubernetes.io/docs/concepts/services-networking/network-policies/",
    },
    rows: ["C-N02"],
  },
  messages: {
    surplus: { text: "{edges}, which no edge declares: {policy} lets it through", inferred: "off" },
    missing: { text: "{edges}, which the contract declares: {policy} {reason}", inferred: "off" },
    unreadable: { text: 'the edge\'s {field} "{text}" cannot be read: {reason}', inferred: "off" },
    nothing: { text: 'the edge\'s {field} "{text}" stands for nothing: {reason}', inferred: "off" },
  },
  on: {
    Contract(contract, { report }) {
      const { network } = contract;
      const { declared, home } = network;
      if (declared === undefined) return;
      const declaration = (index: number, field: string): Place =>
        contract.declaration("network", "edges", index, field)!;
      for (const { index, field, text, reason, empty } of declared.problems) {
        report(empty ? "nothing" : "unreadable", { field, text, reason }, declaration(index, field));
      }
      for (const { policy, path, edges, other } of declared.surplus()) {
        const related =
          other === undefined ? [] : [{ at: network.at(other.policy, ...other.path), message: "lets it through too" }];
        const words = edgesInWords(edges, "may reach", home);
        report("surplus", { edges: words, policy: network.objectOf(policy).title }, network.at(policy, ...path), {
          related,
        });
      }
      for (const { indexes, gap, edges } of declared.missing()) {
        const words = edgesInWords(edges, "cannot reach", home);
        const title = network.objectOf(gap.policy).title;
        report("missing", { edges: words, policy: title, reason: gap.reason }, network.gapPlace(gap), {
          related: indexes.map((index) => ({ at: declaration(index, "from"), message: "the declared edge" })),
        });
      }
    },
  },
});
