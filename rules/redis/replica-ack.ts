import { defineRule } from "../../src/engine/rule.js";
import type { Contract } from "../../src/model/contract.js";
import type { Plane } from "../../src/model/plane.js";
import { whereSet } from "../../src/model/redis/conf-place.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "A primary that has lost its replicas takes no writes, and one lost pod does not stop them.",
    why: "A primary cut off from everyone goes on taking writes, and they are lost when it comes back as a replica; asking for every replica stops writes with the first pod that is missing.",
    fix: "Set `min-replicas-to-write 1` of three servers and `min-replicas-max-lag 10`.",
    bad: "min-replicas-to-write 0\n",
    good: "min-replicas-to-write 1\nmin-replicas-max-lag 10\n",
    source: {
      title: "Redis: allow writes only with N attached replicas",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/replication/#allow-writes-only-with-n-attached-replicas",
    },
    rows: ["C-R06"],
  },
  messages: {
    none: {
      text: "`min-replicas-to-write` is 0: a primary that nobody replicates from goes on taking writes that will be lost",
      help: "Set `min-replicas-to-write 1`.",
      inferred: "off",
    },
    many: {
      text: "`min-replicas-to-write {wanted}` of {servers} servers: one lost pod stops all writes",
      help: "At most {most}: one replica may be away.",
    },
    never: {
      text: "`min-replicas-to-write {wanted}`, but {servers} servers make {replicas} replicas at most: no write is ever taken",
      inferred: "error",
    },
    off: {
      text: "`min-replicas-max-lag 0` switches `min-replicas-to-write` off",
      help: "Set it within 1 … {most} seconds.",
    },
    lag: {
      text: "`min-replicas-max-lag` is {lag} s: a replica counts that is up to {lag} s behind; the contract allows {most} s",
      inferred: "off",
    },
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      if (load === undefined || server.plane.role !== "data") return;
      const { values } = load;
      const wanted = values.number("min-replicas-to-write");
      const lag = values.number("min-replicas-max-lag");
      const at = whereSet(server, load, "min-replicas-to-write", "min-replicas-max-lag", "appendonly");
      const lagAt = whereSet(server, load, "min-replicas-max-lag", "min-replicas-to-write");
      if (wanted === undefined || at === undefined) return;
      if (wanted === 0) {
        report("none", {}, at);
        return;
      }
      const servers = serversOf(contract, server.plane);
      if (servers !== undefined && wanted > servers - 1)
        report("never", { wanted, servers, replicas: servers - 1 }, at);
      else if (servers !== undefined && wanted > servers - 2)
        report("many", { wanted, servers, most: Math.max(0, servers - 2) }, at);
      if (lag === undefined || lagAt === undefined) return;
      const most = contract.config.policy?.maxLag ?? 10;
      if (lag === 0) report("off", { most }, lagAt);
      else if (lag > most) report("lag", { lag, most }, lagAt);
    },
  },
});

/** Servers of the data plane: the pods of its workload, else its configurations where there is one per server. */
function serversOf(contract: Contract, plane: Plane): number | undefined {
  const { workload, servers } = plane;
  // a primary and its replicas may be workloads of their own
  if (contract.planes.some((p) => p.role === "data" && p !== plane)) return undefined;
  if (workload === undefined) return servers.length > 1 ? servers.length : undefined;
  return workload.replicas === 1 && !contract.declared ? undefined : workload.replicas;
}
