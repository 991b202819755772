import { defineRule } from "../../src/engine/rule.js";
import { whereSet } from "../../src/model/redis/conf-place.js";

export default defineRule({
  severity: "error",
  inferred: "off",
  docs: {
    summary: "The data plane logs every write and syncs the log each second.",
    why: "Without the append-only file a primary that is started again comes back without its last minutes, and its replicas copy that.",
    fix: "Set `appendonly yes` and `appendfsync everysec`.",
    bad: "appendonly no\n",
    good: "appendonly yes\nappendfsync everysec\n",
    source: {
      title: "Redis: persistence, append-only file",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/",
    },
    rows: ["C-R05"],
  },
  messages: {
    log: "`appendonly` is `no`: writes since the last snapshot are lost when the server stops",
    sync: "`appendfsync` is `{value}`: the contract wants `everysec`",
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      if (load === undefined || server.plane.role !== "data") return;
      const { values } = load;
      const logged = values.flag("appendonly");
      const at = whereSet(server, load, "appendonly", "appendfsync");
      if (logged === false && at !== undefined) report("log", {}, at);
      const sync = values.get("appendfsync");
      const place = whereSet(server, load, "appendfsync", "appendonly");
      if (logged === true && sync.state === "known" && sync.value !== "everysec" && place !== undefined)
        report("sync", { value: sync.value }, place);
    },
  },
});
