import { defineRule } from "../../src/engine/rule.js";
import type { Place } from "../../src/model/place.js";
import { behaviourOf } from "../../src/model/redis/acl-behaviour.js";
import { valueAt } from "../../src/model/redis/conf-place.js";
import { configHome } from "../../src/model/redis/config-home.js";
import { resolveServer } from "../../src/model/redis/servers.js";
import { materialOf } from "../../src/model/redis/tls-material.js";
import type { Span } from "../../src/text/source.js";

export default defineRule({
  severity: "warning",
  inferred: "off",
  docs: {
    summary: "Where credentials are rotated in the running system, nothing keeps the old ones.",
    why: "A rotation that a pod never sees ends with two halves that do not know each other's password or certificate.",
    fix: "Plan the rotation with a restart of each pod and a rewrite of its configuration, or declare `policy.rotation: none`.",
    bad: "volumeMounts:\n  - { name: tls, mountPath: /tls/tls.crt, subPath: tls.crt }\n",
    good: "volumeMounts:\n  - { name: tls, mountPath: /tls }\n",
    source: {
      title: "Kubernetes: Secrets, updates of mounted Secrets",
      url: "https://kubernetes.io/docs/concepts/configuration/secret/#using-secrets-as-files-from-a-pod",
    },
    rows: ["C-R17"],
  },
  messages: {
    reload: {
      text: "`ACL LOAD` of {server} closes the connection of every user but `default`, changed or not",
      help: "Redis 7.4 and Valkey 8.0 keep the connections of users that did not change.",
    },
    frozen: {
      text: "{container} starts with a copy at {path} that outlives the pod: a new {what} never gets there",
      help: "Rotate it with SENTINEL SET or CONFIG SET and CONFIG REWRITE, pod by pod.",
    },
    pinned: {
      text: "{path} is mounted with subPath: the running pod never sees a new certificate",
      help: "Mount the whole volume.",
    },
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      if (load === undefined || contract.config.policy?.rotation !== "live") return;
      const { values, sentinel } = load;
      const { asked, id } = contract.redis.version;
      const version = resolveServer(asked ?? id);
      const aclAt = valueAt(values.get("aclfile"));
      if (aclAt !== undefined && version !== undefined && behaviourOf(version).loadDisconnects)
        report("reload", { server: `${version.flavour} ${version.version.slice(0, 2).join(".")}` }, aclAt);

      const { container, workload } = server.plane;
      if (container === undefined || workload === undefined) return;
      const home = configHome(server.plane, contract);
      if (home?.kind === "claim" || home?.kind === "shared") {
        const secrets: [string, Span | Place | undefined][] = [
          ["masterauth", valueAt(values.get("masterauth"))],
          ["sentinel-pass", sentinel?.sentinelPass?.at],
          ...[...(sentinel?.masters.values() ?? [])].map((m): [string, Span | undefined] => [
            "auth-pass",
            m.authPass?.at,
          ]),
        ];
        for (const [what, at] of secrets)
          if (at !== undefined)
            report("frozen", { container: container.title, path: home.path, what: `\`${what}\`` }, at);
      }
      for (const one of materialOf(contract, server, values).values()) {
        const mount = container.mountOf(one.path);
        if (mount?.subPath !== undefined)
          report("pinned", { path: one.path }, workload.at(...mount.path, "subPath"), {
            related: [{ at: one.at, message: `\`${one.directive}\`` }],
          });
      }
    },
  },
});
