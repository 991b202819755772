import { defineRule } from "../../src/engine/rule.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "No pod reaches into its node.",
    why: "hostPath, host namespaces, host ports and privileged containers make a compromised pod a compromised node, and tie a server to one node's disk or port.",
    fix: "Remove the setting; use a volume claim for data and a Service for reachability.",
    bad: "spec:\n  hostNetwork: true\n",
    good: "spec:\n  containers: [...]\n",
    source: {
      title: "Kubernetes: Pod Security Standards, baseline",
      url: "https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline",
    },
    rows: ["C-K17"],
  },
  messages: {
    namespace: { text: "{object} sets {field}: true", once: true },
    hostPath: { text: "the volume {volume} of {object} is a hostPath", once: true },
    hostPort: { text: "{container} opens the host port {port}", once: true },
    privileged: { text: "{container} is privileged", once: true },
  },
  on: {
    Workload(workload, { report }) {
      const object = workload.title;
      for (const field of ["hostNetwork", "hostPID", "hostIPC"]) {
        if (workload.podSpec[field] === true) report("namespace", { object, field }, workload.podAt(field));
      }
      for (const volume of workload.volumes.values()) {
        if (volume.type === "hostPath")
          report("hostPath", { object, volume: volume.name }, workload.key(...volume.path, "hostPath"));
      }
      for (const container of workload.containers) {
        for (const port of container.ports) {
          if (port.hostPort !== undefined && port.hostPort !== null && port.hostPort !== 0) {
            report(
              "hostPort",
              { container: container.title, port: String(port.hostPort) },
              workload.at(...port.path, "hostPort"),
            );
          }
        }
        const privileged = container.security("privileged", false);
        if (privileged.value === true) report("privileged", { container: container.title }, privileged.place);
      }
    },
  },
});
