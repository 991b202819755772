import { defineRule } from "../../src/engine/rule.js";
import { mayBeSeeded } from "../../src/model/kubernetes/pod-writes.js";
import { configHome } from "../../src/model/redis/config-home.js";

export default defineRule({
  severity: "error",
  inferred: "off",
  docs: {
    summary: "Each data server owns its redis.conf: writable, on its own volume, never rendered over.",
    why: "A failover changes who replicates from whom by CONFIG REWRITE; where the file cannot be written or is rendered again on restart, a restarted old primary comes back as a second primary.",
    fix: "Copy the template once to the data volume in an init container and start redis-server from there.",
    bad: "args: [/etc/redis/redis.conf]   # mounted from a ConfigMap\n",
    good: "command: [redis-server, /data/redis.conf]   # copied there once\n",
    source: { title: "Redis: CONFIG REWRITE", url: "https://redis.io/docs/latest/commands/config-rewrite/" },
    rows: ["C-K31"],
  },
  messages: {
    readonly: {
      text: "{container} cannot rewrite {path}: the roles after a failover do not survive a restart",
      inferred: "info",
    },
    volatile: "{path} of {container} goes with the pod, and with it who replicates from whom",
    shared: { text: "{path} of {container} is on one claim that all pods share", inferred: "error" },
    overwritten: "{by} renders {path} again on every start: the roles after a failover are lost",
    partial: "{by} does not put {path} in place at once: a crash in between leaves half a file",
    unseeded: "nothing puts {path} on the volume of {container}: the server does not start without it",
    refused: {
      text: "{by} fails where {path} is there already: a restarted pod never comes up again",
      inferred: "error",
    },
    kept: "{by} sees that {path} is empty or damaged, and lets the server start with it",
    template: {
      text: "{by} makes {path} without any file: the configuration of the contract is not in it",
      help: "Copy the mounted template first.",
    },
    undecided: { text: "how {by} treats an existing {path} is not decided here: {why}", severity: "info" },
  },
  on: {
    Plane(plane, { contract, report }) {
      if (plane.role !== "data" || contract.plane("sentinel") === undefined) return;
      const home = configHome(plane, contract);
      if (home === undefined) return;
      const data = { path: home.path, container: home.container.title };
      const related = home.mount === undefined ? [] : [{ at: home.mount.place, message: "the mount" }];
      if (home.obstacle !== undefined) {
        report("readonly", data, home.place, { related });
        return;
      }
      if (home.kind === "volatile") report("volatile", data, home.mount?.place ?? home.place);
      else if (home.kind === "shared") report("shared", data, home.place, { related });
      if (home.seeds.length === 0 && home.kind !== "unknown" && home.kind !== "shared" && home.mount !== undefined) {
        if (!mayBeSeeded(contract, home.container, home.mount, home.path))
          report("unseeded", data, home.place, { related });
      }
      for (const { container, verdict } of home.seeds) {
        const by = container.title;
        if (verdict.kind === "overwrites") report("overwritten", { by, path: home.path }, verdict.by.place);
        else if (verdict.kind === "unknown")
          report("undecided", { by, path: home.path, why: verdict.why }, container.at("command"));
        if (verdict.kind !== "copy-if-absent") continue;
        const { place } = verdict.by;
        if (!verdict.atomic) report("partial", { by, path: home.path }, place);
        if (verdict.goodPasses === false) report("refused", { by, path: home.path }, place);
        else if (verdict.emptyStays) report("kept", { by, path: home.path }, place);
        const declared = plane.servers.some((s) => s.conf !== undefined);
        if (declared && verdict.sourcesKnown && verdict.sources.length === 0)
          report("template", { by, path: home.path }, place);
      }
    },
  },
});
