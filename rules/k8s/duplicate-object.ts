import { defineRule } from "../../src/engine/rule.js";
import type { KubeObject } from "../../src/model/kubernetes/object.js";

export default defineRule({
  severity: "error",
  inferred: "warning",
  docs: {
    summary: "No two documents are the same object.",
    why: "The one that is applied last wins, and which one that is depends on the order of files.",
    fix: "Merge the two documents or rename one.",
    bad: "kind: Service\nmetadata: { name: redis-data }\n---\nkind: Service\nmetadata: { name: redis-data }\n",
    good: "kind: Service\nmetadata: { name: redis-data }\n",
    source: {
      title: "Kubernetes: object names and IDs",
      url: "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/",
    },
    rows: ["C-K03"],
  },
  messages: {
    duplicate: "{object} is defined twice",
  },
  on: {
    Contract(contract, { report }) {
      const seen = new Map<string, KubeObject>();
      for (const object of contract.objects) {
        if (object.name === "" || object.get("metadata", "name") === undefined) continue;
        const key = `${object.group}/${object.kind}/${object.namespace}/${object.name}`;
        const first = seen.get(key);
        if (first === undefined) seen.set(key, object);
        // without a declaration two files may be alternatives: only one and the same file, or one directory, is one set
        else if (contract.declared || directory(first) === directory(object)) {
          report("duplicate", { object: object.title }, object.here, {
            related: [{ at: first.here, message: "the first one" }],
          });
        }
      }
    },
  },
});

function directory(object: KubeObject): string {
  return object.input.file.slice(0, object.input.file.lastIndexOf("/") + 1);
}
