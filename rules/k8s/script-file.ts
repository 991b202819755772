import { defineRule } from "../../src/engine/rule.js";
import { commandTitle } from "../../src/model/kubernetes/container-parts.js";
import { fileFaults } from "../../src/model/kubernetes/script-files.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Scripts and probes find the files that they read, and can write those that they write.",
    why: "A file that no volume holds and nothing in the pod makes is never there: a script stops or waits for ever, a probe never succeeds. Nothing but the path is wrong.",
    fix: "Mount the volume at the path, or let the writer and the reader name the same one.",
    bad: "args: ['date > /shared/alive']\nlivenessProbe: { exec: { command: [cat, /shared/other-alive] } }\n",
    good: "args: ['date > /shared/alive']\nlivenessProbe: { exec: { command: [cat, /shared/alive] } }\n",
    source: { title: "Kubernetes: volumes", url: "https://kubernetes.io/docs/concepts/storage/volumes/" },
    rows: ["C-K27"],
  },
  messages: {
    missing: "{where} reads {path}, which is not there: {why}",
    never: "{where} asks for {path}, which is never there: {why}",
    readonly: "{where} cannot write {path}: {why}",
  },
  on: {
    Container(container, { contract, report }) {
      for (const command of container.commands) {
        const where = commandTitle(command);
        for (const { kind, path, why, place } of fileFaults(contract, command))
          report(kind, { where, path, why }, place);
      }
    },
  },
});
