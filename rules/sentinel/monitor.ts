import { defineRule } from "../../src/engine/rule.js";
import type { Contract } from "../../src/model/contract.js";
import { hostMeaning, namespaceOf, ordinalsOf, podNameOf } from "../../src/model/kubernetes/pod-name.js";
import { push } from "../../src/model/multimap.js";
import type { Server } from "../../src/model/plane.js";
import { firstLine } from "../../src/model/redis/access.js";
import type { SentinelMaster } from "../../src/model/redis/conf.js";
import type { ConfFinding } from "../../src/model/redis/conf-finding.js";
import { findingsOf, weightOf } from "../../src/model/redis/conf-owner.js";
import { isMisspelt } from "../../src/model/redis/conf-place.js";
import { majority, sentinelCount } from "../../src/model/redis/sentinel-count.js";
import { isBefore } from "../../src/model/version.js";

export default defineRule({
  severity: "error",
  docs: {
    summary:
      "Sentinels watch the bootstrap primary with a quorum that a majority can reach, and each option names what is watched.",
    why: "A quorum above the number of Sentinels is never reached: no failover, ever; one below the majority lets a minority call a healthy primary down.",
    fix: "Name the first pod of the data plane and a quorum of 2 of 3.",
    bad: "sentinel monitor redis-lab redis-data-0.redis-data 6379 4\n",
    good: "sentinel monitor redis-lab redis-data-0.redis-data 6379 2\n",
    source: {
      title: "Redis Sentinel: configuring Sentinel",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#configuring-sentinel",
    },
    rows: ["C-R09"],
  },
  messages: {
    over: {
      text: "a quorum of {quorum}, and there are {count} Sentinels: the primary is never agreed to be down",
      help: "The majority of {count} is {wanted}.",
      inferred: "error",
    },
    minority: {
      text: "a quorum of {quorum} of {count} Sentinels is no majority: {quorum} of them that lost the network call a healthy primary down",
      help: "The majority of {count} is {wanted}.",
    },
    all: {
      text: "a quorum of {quorum} needs every Sentinel: with one of them away there is no failover",
      help: "The majority of {count} is {wanted}.",
    },
    line: { text: "{what}", inferred: "error" },
    unmonitored: { text: "{what}; the Sentinel does not start", inferred: "error" },
    order: {
      text: "`sentinel {option} {name}` stands before its `monitor` line: Sentinels before 6.2 do not start on that",
      inferred: "error",
    },
    none: { text: "no line monitors a primary", inferred: "info" },
    primary: {
      text: "the Sentinels watch {host}, and the bootstrap primary is {first}",
      help: "The first pod starts as primary, the others replicate from it.",
      inferred: "warning",
    },
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      const sentinel = load?.sentinel;
      if (load === undefined || sentinel === undefined || server.conf === undefined) return;
      const found = findingsOf(load, "sentinel/monitor", contract.declared);
      const missing = new Map<string, ConfFinding[]>();
      const misspelt = isMisspelt(load, "monitor") || isMisspelt(load, "sentinel");
      for (const f of found) {
        const extra = { related: f.related, severity: weightOf(f, contract.declared) };
        if (f.code !== "sentinel-unmonitored") report("line", { what: f.message }, f.at, extra);
        // a script may write the line that is not here
        else if (f.certain && !misspelt) push(missing, f.at.source.slice(f.at), f);
      }
      // several options of one name are one fault
      for (const [first, ...others] of missing.values()) {
        const related = others.map((f) => ({ at: f.at, message: "and here" }));
        if (first !== undefined)
          report("unmonitored", { what: first.message }, first.at, {
            related,
            severity: weightOf(first, contract.declared),
          });
      }
      if (sentinel.masters.size === 0 && sentinel.complete && found.length === 0)
        report("none", {}, firstLine(server.conf.view));
      const count = sentinelCount(server.plane);
      for (const master of sentinel.masters.values()) {
        const quorum = master.quorum.number;
        if (quorum !== undefined && quorum > 0 && count !== undefined && count > 0) {
          const wanted = majority(count);
          const at = master.quorum.at;
          const replicas = server.plane.workload?.at("spec", "replicas");
          const related = replicas === undefined ? [] : [{ at: replicas, message: "the number of Sentinels" }];
          const data = { quorum, count, wanted };
          if (quorum > count) report("over", data, at, { related });
          else if (quorum < wanted) report("minority", data, at, { related });
          else if (quorum === count && quorum > wanted) report("all", data, at, { related });
        }
        const first = otherPrimary(contract, server, master);
        if (first !== undefined) report("primary", { host: master.host.value, first }, master.host.at);
      }
      // those servers read their file from top to bottom
      if (!isBefore(contract.redis.version.asked, "6.2")) return;
      const seen = new Set<string>();
      for (const line of load.values.all("sentinel")) {
        const [option, name] = line.args;
        if (option === undefined || name === undefined || !sentinel.masters.has(name.value)) continue;
        if (option.value.toLowerCase() === "monitor") seen.add(name.value);
        else if (!seen.has(name.value) && line.args.length > 2)
          report("order", { option: option.value, name: name.value }, line.at);
      }
    },
  },
});

/** The first pod of the data plane where the monitored host is another pod of it. */
function otherPrimary(contract: Contract, server: Server, master: SentinelMaster): string | undefined {
  const { host } = master;
  if (host.placeholder !== "none") return undefined;
  const { workload } = server.plane;
  const meaning = hostMeaning(contract, host.value, workload && namespaceOf(contract, workload));
  if (meaning.kind !== "pod") return undefined;
  const { start } = ordinalsOf(meaning.workload);
  return meaning.ordinal === start ? undefined : podNameOf(meaning.workload, start);
}
