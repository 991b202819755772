import { defineRule } from "../../src/engine/rule.js";
import type { Volume } from "../../src/model/kubernetes/workload.js";
import { asObject, hasToken } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  inferred: "warning",
  docs: {
    summary: "Everything that a pod names exists: Secrets, ConfigMaps, keys, claims, ServiceAccounts, volumes.",
    why: "A pod with a missing reference stays in CreateContainerConfigError or never mounts: the server does not start.",
    fix: "Add the object to the manifests, or list it under kubernetes.provided in quorumlint.yaml.",
    bad: "volumes:\n  - name: acl\n    secret: { secretName: redis-alc }\n",
    good: "volumes:\n  - name: acl\n    secret: { secretName: redis-acl }\n",
    source: {
      title: "Kubernetes: Secrets as files and environment",
      url: "https://kubernetes.io/docs/concepts/configuration/secret/#using-secrets",
    },
    rows: ["C-K20"],
  },
  messages: {
    missing: {
      text: "{object} names {kind} {name}, which no manifest holds and the contract does not provide",
      inferred: "info",
      once: true,
    },
    key: "{kind} {name} has no key {key}",
    source: {
      text: "the volume {volume} of {object} names no source: Kubernetes makes it an empty directory, and every container mounts it read-only",
      help: "Name the Secret, ConfigMap or claim that it holds.",
      inferred: "error",
    },
    volume: { text: "{container} mounts the volume {volume}, which {object} does not define", inferred: "error" },
  },
  on: {
    Workload(workload, { contract, report }) {
      for (const ref of workload.references) {
        if (hasToken(ref.name) || ref.optional) continue;
        const found = contract.find(ref.kind, workload.namespace, ref.name);
        if (found === undefined) {
          const known =
            contract.isProvided(ref.kind, ref.name) ||
            (ref.kind === "ServiceAccount" && ref.name === "default") ||
            contract.madeByControllers.has(ref.name);
          if (!known) report("missing", { object: workload.title, kind: ref.kind, name: ref.name }, ref.place);
        } else if (ref.key !== undefined && !hasKey(found.value, ref.key)) {
          report("key", { kind: ref.kind, name: ref.name, key: ref.key }, ref.place, {
            related: [{ at: found.here, message: "the object" }],
          });
        }
      }
      for (const volume of workload.volumes.values()) {
        if (!isSourceless(volume)) continue;
        const mounts = workload.containers.flatMap((c) => c.mounts.filter((m) => m.name === volume.name));
        if (mounts.length > 0 && mounts.every((m) => m.readOnly))
          report("source", { volume: volume.name, object: workload.title }, volume.place);
      }
      for (const container of workload.containers) {
        container.mounts.forEach((mount) => {
          if (mount.volume === undefined && mount.name !== "" && !hasToken(mount.name)) {
            report(
              "volume",
              { container: container.title, volume: mount.name, object: workload.title },
              workload.at(...mount.path, "name"),
            );
          }
        });
      }
    },
  },
});

/** Nothing but a name: what nobody writes into it, nobody reads. */
function isSourceless({ name, declared }: Volume): boolean {
  return !declared && !hasToken(name);
}

function hasKey(object: Readonly<Record<string, unknown>>, key: string): boolean {
  return ["data", "stringData", "binaryData"].some((field) => Object.hasOwn(asObject(object[field]), key));
}
