import { defineRule } from "../../src/engine/rule.js";
import type { Place } from "../../src/model/place.js";
import { asArray, asObject, asString } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Services stay inside the cluster, and no Ingress leads to a plane.",
    why: "A NodePort or load balancer opens Redis to every network that reaches a node, around the NetworkPolicies that the contract counts on.",
    fix: "Use a headless or ClusterIP Service.",
    bad: "spec:\n  type: NodePort\n",
    good: "spec:\n  clusterIP: None\n",
    source: {
      title: "Kubernetes: Service, publishing services",
      url: "https://kubernetes.io/docs/concepts/services-networking/service/#publishing-services-service-types",
    },
    rows: ["C-K18"],
  },
  messages: {
    type: { text: "{object} is of type {type}", once: true },
    external: { text: "{object} has externalIPs", once: true },
    ingress: "{object} leads from outside to {service}, a Service of the {plane} plane",
  },
  on: {
    Service(service, { report }) {
      const type = service.get("spec", "type");
      if (type === "NodePort" || type === "LoadBalancer")
        report("type", { object: service.title, type }, service.at("spec", "type"));
      if (asArray(service.get("spec", "externalIPs")).length > 0)
        report("external", { object: service.title }, service.key("spec", "externalIPs"));
    },
    Object(ingress, { contract, report }) {
      if (ingress.kind !== "Ingress") return;
      const judge = (backend: unknown, at: Place): void => {
        const name =
          asString(asObject(asObject(backend)["service"])["name"]) ?? asString(asObject(backend)["serviceName"]);
        const service = name === undefined ? undefined : contract.find("Service", ingress.namespace, name);
        if (service === undefined) return;
        for (const pod of contract.podsMatchingMap(service.namespace, service.get("spec", "selector"))) {
          const plane = contract.planesOf(pod)[0];
          if (plane !== undefined) {
            report("ingress", { object: ingress.title, service: service.name, plane: plane.role }, at);
            return;
          }
        }
      };
      judge(ingress.get("spec", "defaultBackend"), ingress.at("spec", "defaultBackend"));
      asArray(ingress.get("spec", "rules")).forEach((rule, i) => {
        asArray(asObject(asObject(rule)["http"])["paths"]).forEach((path, j) => {
          judge(asObject(path)["backend"], ingress.at("spec", "rules", i, "http", "paths", j, "backend"));
        });
      });
    },
  },
});
