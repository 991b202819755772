import { defineRule } from "../../src/engine/rule.js";
import { commandTitle, isProbe } from "../../src/model/kubernetes/container-parts.js";
import { portList } from "../../src/model/kubernetes/pod-ports.js";
import { mayNotRun } from "../../src/model/kubernetes/script-switch.js";
import { missingMaterial, portsFor, wrongHosts } from "../../src/model/redis/client-reach.js";
import { tlsFaults } from "../../src/model/redis/client-tls.js";
import { clientCalls } from "../../src/model/redis/clients.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "Scripts and hooks reach the servers that they call: host, port, TLS and certificate files fit.",
    why: "A client that speaks plaintext to a TLS port, or asks a port that nobody serves, fails on every call; a script that goes on after that does its work without Redis.",
    fix: "Call a pod or Service by its name, at the port of the configuration, with --tls, --cacert, --cert and --key from volumes of the container.",
    bad: "redis-cli -h redis-data-0.redis-data -p 6380 --tls --cacert /tls/ca.crt get app:1\n",
    good: "redis-cli -h redis-data-0.redis-data -p 6379 --tls --cacert /tls/ca.crt get app:1\n",
    source: {
      title: "Redis: TLS, getting started",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/encryption/",
    },
    rows: ["C-K27", "C-K24"],
  },
  messages: {
    plaintext: "{where} speaks plaintext to the {plane} servers, which only listen with TLS: it can never succeed",
    tls: "{where} speaks TLS to the {plane} servers, which have no TLS port: it can never succeed",
    ca: {
      text: "{where} has --tls and no CA: the server's certificate cannot be verified",
      help: "Add --cacert with the CA of the server's certificate.",
    },
    certificate: "{where} shows no client certificate, and the {plane} servers demand one (tls-auth-clients yes)",
    usage: {
      text: "{where} shows the certificate {path}, which is for servers only: the server refuses it as a client's",
      inferred: "warning",
    },
    port: "{where} calls port {port}; the {plane} servers are reached at {ports}",
    host: { text: "{where} calls {host}, which is nobody's name: {reason}", inferred: "warning" },
    file: "{where} gives redis-cli {path}, which is not there: {why}",
  },
  on: {
    Container(container, { contract, report }) {
      for (const command of container.commands) {
        const where = commandTitle(command);
        const probe = isProbe(command);
        for (const client of clientCalls(command, contract)) {
          const { call, target } = client;
          if (mayNotRun(call.invocation, container)) continue;
          const { place } = call.invocation;
          for (const { path, why, place } of missingMaterial(client, contract))
            report("file", { where, path, why }, place);
          const wrong = wrongHosts(client, contract);
          if (wrong.length > 0) {
            const host = wrong.map((w) => w.host).join(", ");
            report("host", { where, host, reason: wrong[0]!.reason }, call.host!.place);
          }
          // what probes ask their own server is the matter of k8s/probe-tls and k8s/port-agreement
          if (target === undefined || (probe && target.workload === container.workload)) continue;
          const plane = target.role;
          if (!probe) {
            for (const fault of tlsFaults(call, target, contract)) {
              if (fault === "usage") report("usage", { where, path: call.cert!.known! }, call.cert!.place);
              else if (fault === "ca") report("ca", { where }, place);
              else report(fault, { where, plane }, place);
            }
          }
          const ports = portsFor(client, contract);
          const port = call.port === undefined ? (call.uncertain ? undefined : "6379") : call.port.known;
          if (ports === undefined || port === undefined || call.socket !== undefined || call.uri !== undefined)
            continue;
          if (/^\d+$/.test(port) && !ports.has(Number(port)))
            report("port", { where, port, plane, ports: portList(ports) }, call.port?.place ?? place);
        }
      }
    },
  },
});
