import { defineRule } from "../../src/engine/rule.js";
import { asString } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Pods that do not talk to the Kubernetes API carry no token for it.",
    why: "A token in a Redis pod is worth stealing and worth nothing to Redis.",
    fix: "Set automountServiceAccountToken: false on the pod or on its ServiceAccount.",
    bad: "spec:\n  serviceAccountName: redis-data\n",
    good: "spec:\n  serviceAccountName: redis-data\n  automountServiceAccountToken: false\n",
    source: {
      title: "Kubernetes: configure service accounts for pods",
      url: "https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#opt-out-of-api-credential-automounting",
    },
    rows: ["C-K26"],
  },
  messages: {
    mounted: { text: "{object} mounts a ServiceAccount token", once: true },
    unknown: {
      text: "{object} mounts a ServiceAccount token unless ServiceAccount {account}, which no file holds, turns it off",
      severity: "info",
      once: true,
    },
  },
  on: {
    Workload(workload, { contract, report }) {
      const own = workload.podSpec["automountServiceAccountToken"];
      if (own === false) return;
      const object = workload.title;
      if (own === true) {
        report("mounted", { object }, workload.podAt("automountServiceAccountToken"));
        return;
      }
      const account =
        asString(workload.podSpec["serviceAccountName"]) ?? asString(workload.podSpec["serviceAccount"]) ?? "default";
      const found = contract.find("ServiceAccount", workload.namespace, account);
      if (found?.value["automountServiceAccountToken"] === false) return;
      const place = workload.podMissing("automountServiceAccountToken");
      if (found === undefined && account !== "default") report("unknown", { object, account }, place);
      else report("mounted", { object }, place);
    },
  },
});
