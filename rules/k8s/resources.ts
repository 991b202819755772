import { defineRule } from "../../src/engine/rule.js";
import { asObject, hasToken, quantity } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Every container says how much cpu and memory it needs and may take.",
    why: "A server without a memory limit is the first that the kernel kills on a full node; one without requests is packed onto a node that cannot carry it.",
    fix: "Set resources.requests and resources.limits for cpu and memory, each request at most its limit.",
    bad: "resources: {}\n",
    good: "resources:\n  requests: { cpu: 100m, memory: 512Mi }\n  limits: { cpu: 500m, memory: 512Mi }\n",
    source: {
      title: "Kubernetes: resource management for pods and containers",
      url: "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/",
    },
    rows: ["C-K16"],
  },
  messages: {
    missing: { text: "{container} has no {kind} for {resource}", once: true },
    exceeds: {
      text: "the {resource} request {request} of {container} is above its limit {limit}",
      help: "Lower the request to the limit or raise the limit: the API server refuses this pod.",
      inferred: "error",
    },
  },
  on: {
    Container(container, { report }) {
      // the API does not accept resources of ephemeral containers
      if (container.kind === "ephemeral") return;
      const resources = asObject(container.spec["resources"]);
      for (const resource of ["cpu", "memory"]) {
        const request = asObject(resources["requests"])[resource];
        const limit = asObject(resources["limits"])[resource];
        for (const [kind, value] of [
          ["requests", request],
          ["limits", limit],
        ] as const) {
          if (value === undefined || value === null) {
            report(
              "missing",
              { container: container.title, kind: kind.slice(0, -1), resource },
              container.missing("resources", kind, resource),
            );
          }
        }
        const [low, high] = [quantity(request), quantity(limit)];
        if (low !== undefined && high !== undefined && low > high && !hasToken(String(request) + String(limit))) {
          report(
            "exceeds",
            { container: container.title, resource, request: String(request), limit: String(limit) },
            container.at("resources", "requests", resource),
            { related: [{ at: container.at("resources", "limits", resource), message: "the limit" }] },
          );
        }
      }
    },
  },
});
