import { defineRule } from "../../src/engine/rule.js";
import { whereSet } from "../../src/model/redis/conf-place.js";
import { serverDirectory } from "../../src/model/redis/server-files.js";
import { asObject, at, quantity } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Data lives on a claim of its own per pod, mounted at the server's dir, and is kept.",
    why: "On an emptyDir a rescheduled primary comes back empty, and its replicas copy that emptiness.",
    fix: "Mount a volumeClaimTemplates volume at the dir of redis.conf, with retention Retain.",
    bad: "volumes:\n  - { name: data, emptyDir: {} }\n",
    good: "volumeClaimTemplates:\n  - metadata: { name: data }\n",
    source: {
      title: "Kubernetes: StatefulSets, stable storage",
      url: "https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#stable-storage",
    },
    rows: ["C-K21", "C-K33"],
  },
  messages: {
    unmounted: { text: "no volume of {container} holds {dir}, where the server writes its data", inferred: "warning" },
    volatile: {
      text: "{dir} of {container} is on the {type} volume {volume}, which goes with the pod",
      inferred: "warning",
    },
    shared: {
      text: "{dir} of {container} is on the claim {volume}, which all pods share",
      help: "Use volumeClaimTemplates: each pod gets its own claim.",
    },
    readonly: { text: "{dir} of {container} is mounted read-only", inferred: "error" },
    small:
      "the claim {volume} of {object} holds {claim}, and the server up to {maxmemory} of data: the log cannot be written",
    retention: {
      text: "{object} deletes its claims when it is {when}",
      help: "Set persistentVolumeClaimRetentionPolicy to Retain.",
    },
    grace: {
      text: "pods of {object} are killed without time to stop: what the server has not written yet is lost",
      help: "Leave terminationGracePeriodSeconds at 30 or more.",
    },
    short: {
      text: "pods of {object} are killed {grace} s after they are told to stop, and the server may wait {timeout} s for its replicas (shutdown-timeout)",
      inferred: "warning",
      help: "Let terminationGracePeriodSeconds be longer than shutdown-timeout.",
    },
  },
  on: {
    Server(server, { contract, report }) {
      const { workload, role } = server.plane;
      const load = contract.redis.load(server);
      if (workload === undefined || load === undefined || role !== "data") return;
      const wait = load.values.get("shutdown-timeout");
      const path = [...workload.podPath, "spec", "terminationGracePeriodSeconds"];
      const grace = workload.get(...path) ?? 30;
      if (wait.state !== "known" || typeof grace !== "number" || grace === 0) return;
      const timeout = Number(wait.value);
      if (grace >= timeout) return;
      const said = whereSet(server, load, "shutdown-timeout");
      const place = workload.has(...path) ? workload.at(...path) : said;
      const related =
        said === undefined || said === place ? [] : [{ at: said, message: "how long the server may wait" }];
      if (place !== undefined) report("short", { object: workload.title, grace, timeout }, place, { related });
    },
    Plane(plane, { contract, report }) {
      const { workload, container } = plane;
      if (workload === undefined || container === undefined) return;
      const policy = ["spec", "persistentVolumeClaimRetentionPolicy"] as const;
      for (const [field, when] of [
        ["whenDeleted", "deleted"],
        ["whenScaled", "scaled down"],
      ] as const) {
        if (workload.get(...policy, field) === "Delete")
          report("retention", { object: workload.title, when }, workload.at(...policy, field));
      }
      const grace = ["spec", "template", "spec", "terminationGracePeriodSeconds"] as const;
      if (workload.get(...grace) === 0) report("grace", { object: workload.title }, workload.at(...grace));
      if (plane.role !== "data") return;
      const dir = serverDirectory(contract, plane);
      // without persistence nothing is lost that was promised
      if (dir === undefined || (!contract.declared && !dir.persists)) return;
      const mount = container.mountOf(dir.path);
      const data = { container: container.title, dir: dir.path };
      const related = dir.place === undefined ? [] : [{ at: dir.place, message: "the server's dir" }];
      if (mount === undefined)
        report(
          "unmounted",
          data,
          container.spec["volumeMounts"] !== undefined
            ? container.key("volumeMounts")
            : container.missing("volumeMounts"),
          { related },
        );
      else if (mount.readOnly) report("readonly", data, workload.at(...mount.path, "readOnly"), { related });
      else if (mount.volume !== undefined) {
        const { type, name, spec } = mount.volume;
        const claim = asObject(at(spec, ["spec", "resources", "requests"]))["storage"];
        const [size, most] = [quantity(claim), dir.maxmemory];
        if (type === "claimTemplate" && dir.persists && size !== undefined && most !== undefined && size < most) {
          const place = workload.at(...mount.volume.path, "spec", "resources", "requests", "storage");
          const said = { volume: name, object: workload.title, claim: String(claim), maxmemory: `${most} bytes` };
          report("small", said, place, { related });
        }
        const more = { related: [...related, { at: mount.volume.place, message: "the volume" }] };
        if (type === "persistentVolumeClaim" && (workload.replicas ?? 2) > 1)
          report("shared", { ...data, volume: name }, workload.at(...mount.path, "mountPath"), more);
        else if (!["claimTemplate", "persistentVolumeClaim", "ephemeral", "csi"].includes(type))
          report("volatile", { ...data, type, volume: name }, workload.at(...mount.path, "mountPath"), more);
      }
    },
  },
});
