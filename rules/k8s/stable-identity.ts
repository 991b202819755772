import { defineRule } from "../../src/engine/rule.js";
import { asString, hasToken } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "Each plane is a StatefulSet of three with a headless Service, so that every pod has a stable DNS name.",
    why: "Sentinel and replicas name each other by host: without the governing Service those names never resolve, and without publishNotReadyAddresses not while the pods boot.",
    fix: "Point serviceName at a Service with clusterIP: None and publishNotReadyAddresses: true whose selector matches the pods.",
    bad: "spec:\n  serviceName: redis-headless   # no such Service\n",
    good: "spec:\n  serviceName: redis-data\n---\nkind: Service\nmetadata: { name: redis-data }\nspec:\n  clusterIP: None\n  publishNotReadyAddresses: true\n",
    source: {
      title: "Kubernetes: StatefulSets, stable network ID",
      url: "https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#stable-network-id",
    },
    rows: ["C-K07", "C-K28"],
  },
  messages: {
    kind: {
      once: true,
      text: "the {plane} plane is a {kind}, not a StatefulSet: its pods have no stable names",
      inferred: "info",
    },
    replicas: { text: "{object} has {replicas} replicas; a {plane} plane has 3", inferred: "off" },
    unnamed: { text: "{object} has no serviceName: its pods have no DNS names", inferred: "warning" },
    dangling: "{object} names the Service {service}, which no manifest holds",
    headed: {
      text: "the Service {service} of {object} is not headless: its pods have no DNS names of their own",
      help: "Set clusterIP: None.",
      inferred: "warning",
    },
    elsewhere: "the Service {service} of {object} does not select its pods",
    unready: {
      text: "the Service {service} hides pods that are not ready: while {object} boots, its members cannot resolve each other",
      inferred: "warning",
    },
  },
  on: {
    Plane({ role, workload }, { contract, report }) {
      if (workload === undefined) return;
      const object = workload.title;
      if (workload.kind !== "StatefulSet") {
        const several = workload.replicas !== 1 || contract.plane("sentinel") !== undefined;
        if (contract.declared || (several && workload.kind === "Deployment"))
          report("kind", { plane: role, kind: workload.kind }, workload.at("kind"));
        return;
      }
      if (workload.replicas !== undefined && workload.replicas !== 3) {
        report("replicas", { object, replicas: workload.replicas, plane: role }, workload.at("spec", "replicas"));
      }
      const service = asString(workload.get("spec", "serviceName"));
      if (service === undefined || service === "") {
        report("unnamed", { object }, workload.missing("spec", "serviceName"));
        return;
      }
      if (hasToken(service) || contract.isProvided("Service", service)) return;
      const found = contract.find("Service", workload.namespace, service);
      const place = workload.at("spec", "serviceName");
      if (found === undefined) {
        report("dangling", { object, service }, place);
        return;
      }
      const related = [{ at: place, message: `${object} names it here` }];
      if (found.get("spec", "clusterIP") !== "None")
        report(
          "headed",
          { object, service },
          found.has("spec", "clusterIP") ? found.at("spec", "clusterIP") : found.missing("spec", "clusterIP"),
          { related },
        );
      const selector = found.get("spec", "selector");
      if (
        !hasToken(JSON.stringify(selector ?? "")) &&
        !contract.podsMatchingMap(found.namespace, selector).includes(workload)
      ) {
        report(
          "elsewhere",
          { object, service },
          found.has("spec", "selector") ? found.key("spec", "selector") : found.missing("spec", "selector"),
          { related },
        );
      }
      // one server alone has no peers to wait for
      const discovers = contract.declared || workload.replicas !== 1;
      const unready = found.get("spec", "publishNotReadyAddresses");
      if (
        unready !== true &&
        discovers &&
        found.annotations["service.alpha.kubernetes.io/tolerate-unready-endpoints"] !== "true"
      ) {
        report(
          "unready",
          { object, service },
          unready === undefined
            ? found.missing("spec", "publishNotReadyAddresses")
            : found.at("spec", "publishNotReadyAddresses"),
          { related },
        );
      }
    },
  },
});
