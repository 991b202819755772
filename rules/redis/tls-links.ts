import { defineRule } from "../../src/engine/rule.js";
import type { Contract } from "../../src/model/contract.js";
import type { Server } from "../../src/model/plane.js";
import { findingsOf } from "../../src/model/redis/conf-owner.js";
import { isMisspelt, whereNeeded, whereSet } from "../../src/model/redis/conf-place.js";
import { servesTls, servesTlsOnly } from "../../src/model/redis/listeners.js";

const FILES = ["tls-cert-file", "tls-key-file", "tls-ca-cert-file", "tls-ca-cert-dir"];

export default defineRule({
  severity: "error",
  docs: {
    summary: "Links between servers use TLS too: tls-replication yes in both planes, with certificate, key and CA.",
    why: "`tls-port` is for incoming connections only: replicas, a demoted primary and Sentinels dial out in plain text unless `tls-replication yes`, and a TLS port answers them with a handshake error.",
    fix: "Set `tls-replication yes` in both configurations, with tls-cert-file, tls-key-file and tls-ca-cert-file.",
    bad: "port 0\ntls-port 6379\n",
    good: "port 0\ntls-port 6379\ntls-replication yes\n",
    source: {
      title: "Redis: TLS, replication and Sentinel",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/encryption/#replication",
    },
    rows: ["C-R02"],
  },
  messages: {
    plain: {
      text: "`tls-replication` is not `yes`: {who} in plain text, and {whom} TLS only",
      help: "Set `tls-replication yes`.",
      inferred: "error",
    },
    mismatch: {
      text: "`tls-replication yes`: {who} with TLS, but the data servers listen without it",
      help: "Open `tls-port` on the data servers, or leave `tls-replication` off.",
      inferred: "error",
    },
    incomplete: { text: "{what}; the server does not start", inferred: "error" },
    clients: {
      text: "`tls-auth-clients` is `{value}`: who connects need not show a certificate",
      help: "Set `tls-auth-clients yes`.",
      inferred: "off",
    },
    unused: { text: "{what}", help: "Set `tls-port` and `tls-replication yes`, or remove the lines." },
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      if (load === undefined) return;
      const { values } = load;
      const sentinel = server.plane.role === "sentinel";
      const who = sentinel ? "the Sentinel dials servers and other Sentinels" : "replicas dial their primary";
      for (const f of findingsOf(load, "redis/tls-links", contract.declared)) {
        if (f.code !== "tls-unused" && !FILES.some((name) => isMisspelt(load, name)))
          report("incomplete", { what: f.message }, f.at);
        // where TLS is promised, the missing port and `tls-replication` are said by themselves
        else if (f.code === "tls-unused" && !contract.declared) report("unused", { what: f.message }, f.at);
      }
      const links = values.flag("tls-replication");
      const at = whereSet(server, load, "tls-replication", "tls-port");
      if (links === false && at !== undefined && (contract.declared || cutOff(contract, server))) {
        const whom = sentinel ? "those take" : "the primary takes";
        report("plain", { who, whom }, at);
      } else if (links === true && at !== undefined && !contract.declared && dialsPlain(contract, server)) {
        report("mismatch", { who }, at);
      }
      const clients = values.get("tls-auth-clients");
      if (clients.state === "known" && clients.value !== "yes" && servesTls(values) === true) {
        const place = clients.args[0]?.at ?? whereNeeded(server, load, "tls-port");
        if (place !== undefined) report("clients", { value: clients.value }, place);
      }
    },
  },
});

/** Servers that this one dials take TLS only: those of its own plane, and the data servers for a Sentinel. */
function cutOff(contract: Contract, server: Server): boolean {
  const { plane } = server;
  const tlsOnly = (s: Server): boolean => {
    const load = contract.redis.load(s);
    return load !== undefined && servesTlsOnly(load.values) === true;
  };
  // a single server has nobody to dial
  if (plane.role === "data") return tlsOnly(server) && !(plane.workload?.replicas === 1 && plane.peer === undefined);
  return tlsOnly(server) || (plane.peer?.servers.some(tlsOnly) ?? false);
}

/** The data servers that this one dials are known to listen without TLS. */
function dialsPlain(contract: Contract, server: Server): boolean {
  const { plane } = server;
  const data = plane.role === "data" ? [server] : (plane.peer?.servers ?? []);
  return data.some((s) => {
    const load = contract.redis.load(s);
    return load !== undefined && servesTls(load.values) === false;
  });
}
