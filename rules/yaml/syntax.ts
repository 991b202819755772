import { defineRule } from "../../src/engine/rule.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "Every manifest parses.",
    why: "A file that does not parse is not applied, and every check of what it holds is blind.",
    fix: "Repair the syntax at this place; the other documents and files were still checked.",
    bad: "spec:\n  ports: [6379\n",
    good: "spec:\n  ports: [6379]\n",
    source: { title: "YAML 1.2.2", url: "https://yaml.org/spec/1.2.2/" },
    rows: ["C-K01"],
  },
  messages: {
    syntax: "the document does not parse: {reason}",
    limit: {
      text: "the document is refused: {reason}",
      help: "Keep manifests flat and free of aliases that multiply.",
    },
    unreadable: { text: "{reason}", help: "A file is UTF-8 text that the check may read, below its root." },
    empty: {
      text: "the manifest is empty",
      help: "Remove the file, or take it out of the contract's manifests.",
      inferred: "off",
    },
  },
  on: {
    File(file, { contract, report }) {
      if (file.kind !== "kubernetes" && file.kind !== "yaml") return;
      const { source } = file;
      if (file.fault !== undefined) {
        report("unreadable", { reason: file.fault }, source.span(0, 0));
        return;
      }
      for (const p of file.yaml.problems) {
        if (p.code === "syntax") report("syntax", { reason: p.message }, p.at);
        else if (p.code === "binary") report("unreadable", { reason: p.message }, p.at);
        else report("limit", { reason: p.message }, p.at);
      }
      if (contract.declared && file.yaml.documents.length === 0 && file.yaml.problems.length === 0) {
        report("empty", {}, source.span(0, 0));
      }
    },
  },
});
