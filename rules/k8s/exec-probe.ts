import { defineRule } from "../../src/engine/rule.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Liveness and readiness probes exist and are exec probes.",
    why: "Without probes a hung server stays in the Service; a network probe comes from the kubelet, whose address every NetworkPolicy would have to let in.",
    fix: "Probe with exec and redis-cli inside the container.",
    bad: "readinessProbe:\n  tcpSocket: { port: 6379 }\n",
    good: "readinessProbe:\n  exec:\n    command: [sh, -c, 'redis-cli --tls … ping | grep -q PONG']\n",
    source: {
      title: "Kubernetes: liveness, readiness and startup probes",
      url: "https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/",
    },
    rows: ["C-K12"],
  },
  messages: {
    missing: { text: "{container} has no {probe} probe", once: true },
    network: {
      text: "the {probe} probe of {container} is {handler}: it needs a NetworkPolicy exception for the kubelet",
      inferred: "info",
      once: true,
    },
    empty: { text: "the {probe} probe of {container} has no handler", help: "Give it an exec command." },
  },
  on: {
    Workload(workload, { contract, report }) {
      if (workload.kind === "Job" || workload.kind === "CronJob") return;
      const inPlane = contract.planesOf(workload).length > 0;
      for (const container of workload.containers) {
        if (container.kind === "ephemeral" || (container.kind === "init" && !container.sidecar)) continue;
        for (const type of ["liveness", "readiness"] as const) {
          if (!container.probes.some((p) => p.type === type)) {
            report("missing", { container: container.title, probe: type }, container.missing(`${type}Probe`));
          }
        }
        for (const probe of container.probes) {
          const data = { container: container.title, probe: probe.type };
          if (probe.handler === "none") report("empty", data, probe.place);
          else if (probe.handler !== "exec") {
            const severity = contract.declared && !inPlane ? "warning" : undefined;
            report("network", { ...data, handler: probe.handler }, container.key(`${probe.type}Probe`, probe.handler), {
              severity,
            });
          }
        }
      }
    },
  },
});
