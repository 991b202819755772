import { defineRule } from "../../src/engine/rule.js";
import { isClusterScoped } from "../../src/model/kubernetes/scope.js";

export default defineRule({
  severity: "error",
  inferred: "off",
  docs: {
    summary: "The namespace is in the contract, restricted, and named by every document.",
    why: "A document without a namespace lands wherever the current context points; a namespace without pod-security labels admits any pod.",
    fix: "Declare the Namespace with pod-security.kubernetes.io/enforce: restricted and set metadata.namespace everywhere.",
    bad: "metadata:\n  name: redis-data\n",
    good: "metadata:\n  name: redis-data\n  namespace: redis-lab\n",
    source: {
      title: "Kubernetes: enforce Pod Security Standards with namespace labels",
      url: "https://kubernetes.io/docs/tasks/configure-pod-container/enforce-standards-namespace-labels/",
    },
    rows: ["C-K25"],
  },
  messages: {
    missing: "no manifest holds Namespace {namespace}",
    unrestricted: "Namespace {namespace} does not enforce the restricted Pod Security Standard",
    level: "Namespace {namespace} enforces {level}, not restricted",
    unnamed: "{object} names no namespace",
    other: "{object} is in namespace {other}, not in {namespace}",
  },
  on: {
    Contract(contract, { report }) {
      const namespace = contract.config.kubernetes?.namespace;
      if (namespace === undefined) return;
      const object = contract.ofKind("Namespace").find((n) => n.name === namespace);
      if (object === undefined) {
        const place = contract.declaration("kubernetes", "namespace");
        if (place !== undefined && !contract.isProvided("Namespace", namespace))
          report("missing", { namespace }, place);
      } else {
        const label = "pod-security.kubernetes.io/enforce";
        const level = object.labels[label];
        if (level === undefined) report("unrestricted", { namespace }, object.missing("metadata", "labels", label));
        else if (level !== "restricted") report("level", { namespace, level }, object.at("metadata", "labels", label));
      }
      for (const o of contract.objects) {
        if (isClusterScoped(o)) continue;
        if (o.ownNamespace === undefined) report("unnamed", { object: o.title }, o.missing("metadata", "namespace"));
        else if (o.ownNamespace !== namespace)
          report("other", { object: o.title, other: o.ownNamespace, namespace }, o.at("metadata", "namespace"));
      }
    },
  },
});
