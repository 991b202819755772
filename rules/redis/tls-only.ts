import { defineRule } from "../../src/engine/rule.js";
import { findingsOf } from "../../src/model/redis/conf-owner.js";
import { isMisspelt, valueAt, whereNeeded } from "../../src/model/redis/conf-place.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Both planes listen with TLS only: the plaintext port is off.",
    why: "Without `port 0` the server also takes unencrypted connections; who leaves the line out gets 6379, or 26379 for a Sentinel.",
    fix: "Write `port 0` and `tls-port` with the plane's port.",
    bad: "tls-port 6380\n",
    good: "port 0\ntls-port 6379\n",
    source: {
      title: "Redis: TLS",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/encryption/",
    },
    rows: ["C-R01"],
  },
  messages: {
    open: { text: "beside TLS the server listens unencrypted on {port}", help: "Set `port 0`.", once: true },
    default: {
      text: "no line sets `port`: beside TLS the server listens unencrypted on {port}",
      help: "Set `port 0`.",
      once: true,
    },
    missing: {
      text: "`tls-port` is not set: the server takes no TLS connection",
      help: "Set `tls-port` to the plane's port, and `port 0`.",
      inferred: "off",
    },
    same: { text: "{what}: the server does not start", help: "Set `port 0`.", inferred: "error" },
    closed: { text: "{what}; it does not start", help: "Set `tls-port`.", inferred: "error" },
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      if (load === undefined) return;
      const { values } = load;
      const plain = values.get("port");
      if (isMisspelt(load, "port") || isMisspelt(load, "tls-port")) return;
      const dead = findingsOf(load, "redis/tls-only", contract.declared);
      for (const f of dead) {
        if (f.code === "same-port")
          report("same", { what: f.message }, (plain.state === "known" && plain.args[0]?.at) || f.at);
        else report("closed", { what: f.message }, f.at);
      }
      const port = values.number("port");
      const tls = values.number("tls-port");
      if (dead.length > 0 || tls === undefined) return;
      if (tls === 0) {
        const at = whereNeeded(server, load, "tls-replication", "tls-cert-file", "port");
        if (at !== undefined) report("missing", {}, valueAt(values.get("tls-port")) ?? at);
      } else if (port !== undefined && port > 0) {
        const at = valueAt(plain);
        const needed = at ?? whereNeeded(server, load, "tls-port");
        if (needed !== undefined) report(at === undefined ? "default" : "open", { port }, needed);
      }
    },
  },
});
