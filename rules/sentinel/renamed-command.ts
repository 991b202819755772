import { defineRule } from "../../src/engine/rule.js";
import type { SentinelMaster } from "../../src/model/redis/conf.js";
import { OF_REPLICATION, SENT_BY_SENTINEL } from "../../src/model/redis/renames.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "A command that the data servers renamed has the same new name in the Sentinels' configuration.",
    why: "Sentinel goes on sending the old name and gets `unknown command`: without INFO and PING every server is down, without SLAVEOF, CONFIG or MULTI a failover never completes.",
    fix: "Write `sentinel rename-command` with the same new name, or better: keep the names and use ACLs.",
    bad: "# redis.conf\nrename-command CONFIG cfg-3f\n",
    good: "# redis.conf\nrename-command CONFIG cfg-3f\n# sentinel.conf\nsentinel rename-command redis-lab CONFIG cfg-3f\n",
    source: {
      title: "sentinel.conf: SENTINEL rename-command",
      url: "https://raw.githubusercontent.com/redis/redis/7.2/sentinel.conf",
    },
    rows: ["C-R12"],
  },
  messages: {
    unmatched: {
      text: "`{command}` is called `{name}` here, and the Sentinels do not know that: {effect}",
      help: "Write `sentinel rename-command {master} {command} {name}`.",
    },
    removed: {
      text: "`{command}` is taken away from everyone, and Sentinel needs it: {effect}",
      help: "Deny it to users in the ACL.",
    },
    differs: { text: "the Sentinels call `{command}` `{name}`, the data servers call it {other}" },
    replication: {
      text: "replicas send `{command}` under its own name: without it none of them gets a link",
      help: "Deny it to users in the ACL.",
    },
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      if (load === undefined) return;
      const { peer } = server.plane;
      if (server.plane.role === "data") {
        const masters = (peer?.servers ?? []).flatMap((s): SentinelMaster[] => [
          ...(contract.redis.load(s)?.sentinel?.masters.values() ?? []),
        ]);
        const open = peer?.servers.some((s) => contract.redis.load(s)?.sentinel?.complete !== true) ?? false;
        const replicates = peer !== undefined || (server.plane.workload?.replicas ?? 1) > 1;
        for (const line of load.values.all("rename-command")) {
          const [from, to] = line.args;
          if (from === undefined || to === undefined || line.args.length !== 2 || from.placeholder !== "none") continue;
          const command = from.value.toLowerCase();
          if (OF_REPLICATION.has(command) && replicates) {
            report("replication", { command: command.toUpperCase() }, line.at);
            continue;
          }
          const effect = SENT_BY_SENTINEL.get(command);
          if (effect === undefined || masters.length === 0) continue;
          const data = { command: command.toUpperCase(), effect };
          if (to.placeholder === "none" && to.value === "") {
            report("removed", data, line.at);
            continue;
          }
          for (const master of masters) {
            const own = master.renames.find((r) => r.from.toLowerCase() === command);
            if (own === undefined && !open)
              report("unmatched", { ...data, name: to.value, master: master.name }, line.at, {
                related: [{ at: master.at, message: "the Sentinels' primary" }],
              });
          }
        }
        return;
      }
      const servers = (peer?.servers ?? []).flatMap((s) => contract.redis.load(s) ?? []);
      for (const master of load.sentinel?.masters.values() ?? []) {
        for (const own of master.renames) {
          if (own.placeholder) continue;
          const command = own.from.toLowerCase();
          for (const { values } of servers) {
            const line = values.all("rename-command").find((l) => l.args[0]?.value.toLowerCase() === command);
            const to = line?.args[1];
            if (
              line === undefined ? !values.complete : to === undefined || to.placeholder !== "none" || to.value === ""
            )
              continue;
            if (to !== undefined && to.value.toLowerCase() === own.to.toLowerCase()) continue;
            const data = {
              command: command.toUpperCase(),
              name: own.to,
              other: to === undefined ? "by its own name" : `\`${to.value}\``,
            };
            report("differs", data, own.at, {
              related: line === undefined ? [] : [{ at: line.at, message: "the data servers' name" }],
            });
            break;
          }
        }
      }
    },
  },
});
