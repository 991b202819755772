import { defineRule } from "../../src/engine/rule.js";
import { asArray, asObject } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  docs: {
    summary:
      "Every container runs restricted: non-root, read-only, without capabilities, with the default seccomp profile.",
    why: "The restricted Pod Security Standard refuses pods without these settings, and a container that has them gives an intruder little to work with.",
    fix: "Set the field on the container, or on the pod where Kubernetes lets containers inherit it.",
    bad: "securityContext: {}\n",
    good: "securityContext:\n  runAsNonRoot: true\n  runAsUser: 999\n  readOnlyRootFilesystem: true\n  allowPrivilegeEscalation: false\n  capabilities: { drop: [ALL] }\n  seccompProfile: { type: RuntimeDefault }\n",
    source: {
      title: "Kubernetes: Pod Security Standards, restricted",
      url: "https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted",
    },
    rows: ["C-K15"],
  },
  messages: {
    runAsNonRoot: { text: "{container} may run as root: runAsNonRoot is {value}", once: true },
    root: {
      text: "{container} runs as user 0 although runAsNonRoot is true: the kubelet refuses to start it",
      inferred: "error",
    },
    runAsUser: {
      text: "{container} has no numeric runAsUser: an image whose USER is a name or root is refused",
      once: true,
    },
    readOnlyRootFilesystem: {
      text: "{container} can write to its root filesystem: readOnlyRootFilesystem is {value}",
      once: true,
    },
    allowPrivilegeEscalation: {
      text: "{container} may gain privileges: allowPrivilegeEscalation is {value}",
      once: true,
    },
    drop: { text: "{container} keeps Linux capabilities: capabilities.drop does not hold ALL", once: true },
    add: { text: "{container} adds the capability {capability}", once: true },
    seccomp: { text: "{container} has no RuntimeDefault seccomp profile: {value}", once: true },
    fsGroup: {
      text: "{object} has no fsGroup: its user {user} cannot write the volume {volume}",
      inferred: "info",
      once: true,
    },
    mode: {
      text: "the user of {object} cannot read the Secret volume {volume}: mode {mode} and no fsGroup",
      inferred: "warning",
    },
  },
  on: {
    Container(container, { report }) {
      const name = container.title;
      const shown = (value: unknown): string => (value === undefined ? "not set" : String(value));
      const nonRoot = container.security("runAsNonRoot");
      const user = container.security("runAsUser");
      if (nonRoot.value !== true)
        report("runAsNonRoot", { container: name, value: shown(nonRoot.value) }, nonRoot.place);
      if (user.value === 0) {
        if (nonRoot.value === true) report("root", { container: name }, user.place);
      } else if (typeof user.value !== "number") report("runAsUser", { container: name }, user.place);
      const readOnly = container.security("readOnlyRootFilesystem", false);
      if (readOnly.value !== true)
        report("readOnlyRootFilesystem", { container: name, value: shown(readOnly.value) }, readOnly.place);
      const escalation = container.security("allowPrivilegeEscalation", false);
      if (escalation.value !== false)
        report("allowPrivilegeEscalation", { container: name, value: shown(escalation.value) }, escalation.place);
      const capabilities = asObject(asObject(container.spec["securityContext"])["capabilities"]);
      const drop = asArray(capabilities["drop"]).map(String);
      if (!drop.some((c) => c.toUpperCase() === "ALL")) {
        const there = capabilities["drop"] !== undefined;
        report(
          "drop",
          { container: name },
          there
            ? container.at("securityContext", "capabilities", "drop")
            : container.missing("securityContext", "capabilities", "drop"),
        );
      }
      asArray(capabilities["add"]).forEach((capability, i) => {
        report(
          "add",
          { container: name, capability: String(capability) },
          container.at("securityContext", "capabilities", "add", i),
        );
      });
      const seccomp = container.security("seccompProfile");
      const type = asObject(seccomp.value)["type"];
      if (type !== "RuntimeDefault") report("seccomp", { container: name, value: shown(type) }, seccomp.place);
    },
    Workload(workload, { report }) {
      const security = asObject(workload.podSpec["securityContext"]);
      if (security["fsGroup"] !== undefined && security["fsGroup"] !== null) return;
      const users = workload.containers
        .map((c) => c.security("runAsUser").value)
        .filter((u) => typeof u === "number" && u !== 0);
      const place = workload.podMissing("securityContext", "fsGroup");
      const mounted = new Set(workload.containers.flatMap((c) => c.mounts.map((m) => m.name)));
      for (const volume of workload.volumes.values()) {
        if (!mounted.has(volume.name)) continue;
        if (volume.type === "claimTemplate" || volume.type === "persistentVolumeClaim") {
          if (users.length > 0)
            report("fsGroup", { object: workload.title, user: String(users[0]), volume: volume.name }, place);
        } else if (volume.type === "secret") {
          const mode = volume.spec["defaultMode"];
          // files belong to root: without a group of the pod only "other" may read them
          if (typeof mode === "number" && (mode & 0o004) === 0 && users.length > 0) {
            report(
              "mode",
              { object: workload.title, volume: volume.name, mode: `0${mode.toString(8)}` },
              workload.at(...volume.path, "secret", "defaultMode"),
              { related: [{ at: place, message: "fsGroup should stand here" }] },
            );
          }
        }
      }
    },
  },
});
