import { defineRule } from "../../src/engine/rule.js";
import { describeProblem, lookup, validate } from "../../src/model/kubernetes/schema.js";
import { kubernetesSchemas, schemaVersion } from "../../src/model/kubernetes/schemas.js";
import { NodePlace } from "../../src/model/place.js";
import { hasToken } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "Every document is valid for its kind in the declared Kubernetes version.",
    why: "The API server drops an unknown field without a word or refuses the whole document: either way the setting that somebody wrote does not hold.",
    fix: "Correct the field at this place.",
    bad: "spec:\n  repliacs: 3\n",
    good: "spec:\n  replicas: 3\n",
    source: { title: "Kubernetes API reference", url: "https://kubernetes.io/docs/reference/kubernetes-api/" },
    rows: ["C-K05", "C-K34"],
  },
  messages: {
    invalid: "{object}: {problem}",
    suspicious: { text: "{object}: {problem}", severity: "warning", inferred: "warning" },
    version: {
      text: "there are no field tables for Kubernetes {declared}: documents are checked against {used}",
      severity: "info",
      help: "Name a version from {first} to {last}.",
    },
  },
  on: {
    Contract(contract, { report }) {
      const declared = contract.config.kubernetes?.version;
      if (declared === undefined) return;
      const { version, exact } = schemaVersion(declared);
      const place = contract.declaration("kubernetes", "version");
      const { versions } = kubernetesSchemas();
      if (!exact && place !== undefined) {
        const first = versions[0]!;
        const last = versions[versions.length - 1]!;
        report("version", { declared: String(declared), used: version, first, last }, place);
      }
    },
    Object(object, { contract, report }) {
      const { version } = schemaVersion(contract.config.kubernetes?.version);
      const schemas = kubernetesSchemas();
      if (lookup(object.apiVersion, object.kind, version, schemas).status === "custom") return;
      for (const problem of validate(object.value, version, schemas, {
        opaque: hasToken,
        limit: 50,
        clean: contract.clean,
      })) {
        const path = [...object.base, ...problem.path];
        const place = new NodePlace(object.document, path, problem.at);
        const title = object.name === "" ? object.kind : object.title;
        report(
          problem.level === "error" ? "invalid" : "suspicious",
          { object: title, problem: describeProblem(problem) },
          place,
        );
      }
    },
  },
});
