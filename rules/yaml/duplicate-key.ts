import { defineRule } from "../../src/engine/rule.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "No mapping holds the same key twice.",
    why: "Parsers keep the last one: the first value, often a whole volume or security context, is dropped without a word.",
    fix: "Keep one of the two keys.",
    bad: "volumeMounts: [{ name: data, mountPath: /data }]\nvolumeMounts: [{ name: tls, mountPath: /tls }]\n",
    good: "volumeMounts:\n  - { name: data, mountPath: /data }\n  - { name: tls, mountPath: /tls }\n",
    source: {
      title: "YAML 1.2.2, 3.2.1.1: keys of a mapping are unique",
      url: "https://yaml.org/spec/1.2.2/#3211-nodes",
    },
    rows: ["C-K02"],
  },
  messages: {
    duplicate: 'the key "{key}" stands twice in this mapping; only the last one counts',
  },
  on: {
    File(file, { report }) {
      if ((file.kind !== "kubernetes" && file.kind !== "yaml") || file.fault !== undefined) return;
      for (const document of file.yaml.documents) {
        for (const d of document.duplicates) {
          report("duplicate", { key: d.key }, d.at, { related: [{ at: d.first, message: "the first one" }] });
        }
      }
    },
  },
});
