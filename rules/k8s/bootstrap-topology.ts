import { defineRule } from "../../src/engine/rule.js";
import { followsItself, type HostUse, hostUses } from "../../src/model/kubernetes/host-uses.js";
import { hostMeaning, isOtherPod, namespaceOf, ordinalsOf, podNameOf } from "../../src/model/kubernetes/pod-name.js";
import type { Workload } from "../../src/model/kubernetes/workload.js";
import { followsNobody, roleFault } from "../../src/model/redis/bootstrap-roles.js";
import { startupWaits } from "../../src/model/redis/config-home.js";
import type { Span } from "../../src/text/source.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "The first pod starts as primary, the others follow it, and every name is that of a pod that exists.",
    why: "A name that never resolves leaves Sentinel without a primary and replicas without data, and nothing but the name is wrong.",
    fix: "Write the stable name: set, ordinal, governing Service, namespace.",
    bad: "sentinel monitor redis-lab redis-data-3.redis-data.redis-lab.svc.cluster.local 6379 2   # 3 replicas: 0 to 2\n",
    good: "sentinel monitor redis-lab redis-data-0.redis-data.redis-lab.svc.cluster.local 6379 2\n",
    source: {
      title: "Kubernetes: StatefulSets, stable network ID",
      url: "https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#stable-network-id",
    },
    rows: ["C-K23", "C-K33"],
  },
  messages: {
    host: { text: "{host} is nobody's name: {reason}", inferred: "error" },
    unstable: {
      text: "the Sentinels watch {host}, which is not the stable name of a pod",
      help: "Name the first pod of the data plane.",
      inferred: "off",
    },
    primary: {
      text: "replicas follow {host}, and the bootstrap primary is {first}",
      help: "The first pod starts as primary, the others replicate from it.",
      inferred: "warning",
    },
    self: {
      text: "every pod of {object} follows {host}, that pod itself too: there is no primary",
      help: "Add `replicaof` in the bootstrap script, for the other ordinals only.",
    },
    itself: {
      text: "{pod} follows {host}, which is itself{rest}",
      help: "Write `replicaof` for the other ordinals.",
      inferred: "error",
    },
    second: {
      text: "{pod} follows nobody, while others follow {host}: it starts as a second primary, which Sentinel does not know",
      help: "Write `replicaof` for all ordinals but the first.",
      inferred: "warning",
    },
    alone: {
      text: "none of the {count} servers of {object} follows another: each starts as a primary, and Sentinel knows only one",
      help: "Let the bootstrap script write `replicaof` for all ordinals but the first.",
      inferred: "off",
    },
    hasty: {
      text: "{container} asks for {host} without a pause: its attempts are over at once",
      help: "Sleep between two attempts.",
      inferred: "warning",
    },
    unawaited: {
      text: "{object} does not wait until {host} resolves: with its pods started in parallel the name may have no address yet, and the configuration that Sentinel then writes is fatal on restart",
      help: "Wait for the name in an init container, for a bounded time.",
      inferred: "info",
    },
    elsewhere: {
      text: "{container} waits for {other}, and the Sentinels watch {host}, which may have no address yet",
      help: "Wait for the name that they watch.",
      inferred: "info",
    },
    endless: {
      text: "{container} waits for {host} without an end",
      help: "Give up after a number of attempts, with a non-zero exit.",
      inferred: "info",
    },
    careless: {
      text: "{container} goes on although {host} never resolved",
      help: "Exit non-zero when the wait is over.",
      inferred: "info",
    },
    ordinals: { text: "{object} counts its pods from {start}, and the bootstrap names {host}", inferred: "error" },
  },
  on: {
    Plane(plane, { contract, report }) {
      const { workload } = plane;
      if (workload !== undefined && plane.role === "data") {
        const fault = roleFault(contract, plane);
        if (fault?.kind === "second") report("second", fault, fault.place);
        if (fault?.kind === "itself")
          report("itself", { ...fault, rest: fault.alone ? ", and the other pods follow nobody" : "" }, fault.place);
        const watched = plane.peer !== undefined && followsNobody(contract, plane);
        if (watched)
          report("alone", { count: workload.replicas!, object: workload.title }, workload.at("spec", "replicas"));
      }
      if (plane.role !== "sentinel" || workload === undefined) return;
      const hosts = new Map<string, Span>();
      for (const server of plane.servers) {
        for (const { host } of contract.redis.load(server)?.sentinel?.masters.values() ?? []) {
          if (host.placeholder === "none" && /[a-z]/i.test(host.value) && !host.value.includes(":"))
            hosts.set(host.value, host.at);
        }
      }
      const { waits, complete } = startupWaits(plane, contract);
      for (const [host, at] of hosts) {
        const own = waits.filter((w) => w.hosts.includes(host) || w.hosts.some((h) => h.includes("$")));
        const best = own.find((w) => w.wait.bounded !== false && w.wait.onExpiry === "fails") ?? own[0];
        if (best === undefined) {
          const other = waits.find((w) => isOtherPod(contract, host, w.hosts, namespaceOf(contract, workload)));
          if (complete && waits.length === 0) report("unawaited", { object: workload.title, host }, at);
          else if (complete && other !== undefined && waits.length === 1)
            report(
              "elsewhere",
              { container: other.container.title, other: other.hosts.join(", "), host },
              other.wait.loop.place,
            );
        } else if (best.wait.bounded === false) {
          report("endless", { container: best.container.title, host }, best.wait.loop.place);
        } else if (best.wait.onExpiry === "continues") {
          report("careless", { container: best.container.title, host }, best.wait.loop.place);
        } else if (best.hasty) {
          report("hasty", { container: best.container.title, host }, best.wait.loop.place);
        }
      }
    },
    Contract(contract, { report }) {
      const before = new Map<Workload, { readonly use: HostUse; readonly at: HostUse["at"][] }>();
      for (const use of hostUses(contract)) {
        const { host, at, role } = use;
        const meaning = hostMeaning(contract, host, use.from);
        if (meaning.kind === "wrong") {
          const { start } = ordinalsOf(meaning.workload);
          const ordinal = /-(\d+)(?:\.|$)/.exec(host)?.[1];
          if (host.startsWith(`${meaning.workload.name}-`) && Number(ordinal) < start) {
            const known = before.get(meaning.workload);
            if (known === undefined) before.set(meaning.workload, { use, at: [at] });
            else known.at.push(at);
          } else if (meaning.sure || contract.declared) {
            report("host", { host, reason: meaning.reason }, at, {
              related: [{ at: meaning.workload.here, message: meaning.workload.title }],
            });
          }
          continue;
        }
        if (meaning.kind !== "pod") {
          if (role === "monitor" && use.server?.plane.peer?.workload?.kind === "StatefulSet")
            report("unstable", { host }, at);
          continue;
        }
        if (role !== "primary") continue;
        const { start } = ordinalsOf(meaning.workload);
        if (followsItself(contract, use)) report("self", { object: meaning.workload.title, host }, at);
        else if (meaning.ordinal !== start) report("primary", { host, first: podNameOf(meaning.workload, start) }, at);
      }
      // one wrong number, said where it stands
      for (const [workload, { use, at }] of before) {
        const { start } = ordinalsOf(workload);
        report(
          "ordinals",
          { object: workload.title, start, host: use.host },
          workload.at("spec", "ordinals", "start"),
          {
            related: at.map((place) => ({ at: place, message: "named here" })),
          },
        );
      }
    },
  },
});
