import { defineRule } from "../../src/engine/rule.js";
import { commandTitle } from "../../src/model/kubernetes/container-parts.js";
import { variableFaults } from "../../src/model/kubernetes/script-variables.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "Every variable that a script uses is set: by the script, by `env`, or by the image.",
    why: "Under `set -u` the script stops at the first variable that nobody set; an entry without a value is an empty text, and a pod name or password is then missing in what the script writes.",
    fix: "Set the variable in the script, or give the container an `env` entry with `value` or `valueFrom`.",
    bad: "env:\n  - name: POD_NAME\n",
    good: "env:\n  - name: POD_NAME\n    valueFrom: { fieldRef: { fieldPath: metadata.name } }\n",
    source: {
      title: "Kubernetes: expose pod information through environment variables",
      url: "https://kubernetes.io/docs/tasks/inject-data-application/environment-variable-expose-pod-information/",
    },
    rows: ["C-K27"],
  },
  messages: {
    unset: "{where} uses ${name}, which nobody sets: with `set -u` it stops here",
    empty: {
      text: "{where} uses ${name}, whose entry in env has neither value nor valueFrom: it is empty",
      inferred: "warning",
    },
  },
  on: {
    Container(container, { contract, report }) {
      for (const command of container.commands) {
        const where = commandTitle(command);
        for (const { kind, name, place } of variableFaults(contract, command)) report(kind, { where, name }, place);
      }
    },
  },
});
