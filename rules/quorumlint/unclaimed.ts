import { defineRule } from "../../src/engine/rule.js";

/** Its findings are made by the surface that discovers files (`--strict-discovery`). */
export default defineRule({
  severity: "error",
  inferred: "warning",
  docs: {
    summary: "With `--strict-discovery`, every file that looks like a contract file belongs to a contract.",
    why: "A manifest, configuration or ACL that no contract names is deployed without being checked. A new file beside the declared ones is the usual way for that to happen.",
    fix: "Name the file in the contract file, or list it under `ignore:`.",
    bad: [
      "# infra/redis-lab/k3s/redis-extra.yaml, named by no glob of quorumlint.yaml",
      "apiVersion: apps/v1",
      "kind: StatefulSet",
    ].join("\n"),
    good: ["# quorumlint.yaml", "kubernetes:", "  manifests: [infra/redis-lab/k3s/*.yaml]"].join("\n"),
    source: {
      title: "Kubernetes: objects are applied by directory",
      url: "https://kubernetes.io/docs/tasks/manage-kubernetes-objects/declarative-config/",
    },
    rows: ["C-Q02"],
  },
  messages: {
    unclaimed: {
      text: "{file} looks like {what} but belongs to no contract",
      help: "Name it in the contract file, or list it under `ignore:`.",
    },
  },
  on: {},
});
