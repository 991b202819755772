import { defineRule, type ReportExtra } from "../../src/engine/rule.js";
import type { Contract } from "../../src/model/contract.js";
import { hostMeaning, namespaceOf } from "../../src/model/kubernetes/pod-name.js";
import type { Place } from "../../src/model/place.js";
import type { Server } from "../../src/model/plane.js";
import { announcedFault, isCovered, type WrittenName } from "../../src/model/redis/announced-name.js";
import type { ConfLoad } from "../../src/model/redis/conf.js";
import { findingsOf, weightOf } from "../../src/model/redis/conf-owner.js";
import { isMisspelt, whereNeeded } from "../../src/model/redis/conf-place.js";
import { numericHost } from "../../src/model/redis/conf-types.js";
import { materialOf } from "../../src/model/redis/tls-material.js";
import { isBefore } from "../../src/model/version.js";
import type { Span } from "../../src/text/source.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Servers and Sentinels are known by the stable DNS names of their pods.",
    why: "A pod that is started again has another address: what Sentinel wrote down as an address is nobody, or somebody else.",
    fix: "Set `sentinel resolve-hostnames yes`, `sentinel announce-hostnames yes`, and announce each pod by its DNS name.",
    bad: "sentinel monitor redis-lab redis-data-0.redis-data 6379 2\n",
    good: "sentinel resolve-hostnames yes\nsentinel announce-hostnames yes\nsentinel monitor redis-lab redis-data-0.redis-data 6379 2\n",
    source: {
      title: "Redis Sentinel: IP addresses and DNS names",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#ip-addresses-and-dns-names",
    },
    rows: ["C-R04"],
  },
  messages: {
    host: {
      text: "{what}",
      help: "Set `sentinel resolve-hostnames yes` and `sentinel announce-hostnames yes`.",
      inferred: "error",
    },
    resolve: {
      text: "`sentinel resolve-hostnames yes` is not set: the Sentinel knows servers by address only",
      inferred: "off",
    },
    announce: {
      text: "`sentinel announce-hostnames yes` is not set: the Sentinel replaces names by the addresses of the moment",
    },
    useless: { text: "{what}", inferred: "info" },
    unannounced: {
      text: "`{directive}` is not set: {who} announces the address of its pod, which changes",
      help: "Announce the pod's DNS name.",
      inferred: "off",
    },
    address: { text: "`{directive}`: {reason}", help: "Announce the pod's DNS name.", inferred: "off" },
    same: { text: "`{directive}`: {reason}", help: "Fill in the name of each pod when it boots.", inferred: "error" },
    foreign: { text: "`{directive}`: {reason}" },
    san: { text: "no name of the certificate {path} covers {host}: clients that verify names refuse it" },
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      if (load === undefined) return;
      const found = findingsOf(load, "redis/stable-hostnames", contract.declared);
      // before 6.2 a name was looked up once, at start
      const old = isBefore(contract.redis.version.asked, "6.2");
      for (const f of found) {
        const extra: ReportExtra = { severity: weightOf(f, contract.declared) };
        if (f.code === "sentinel-hostname" && isMisspelt(load, "resolve-hostnames")) continue;
        if (f.code === "sentinel-hostname")
          report("host", { what: f.message }, f.at, old ? { severity: "warning" } : extra);
        else if (f.code === "empty-announce") report("useless", { what: f.message }, f.at, extra);
        else if (f.code === "sentinel-announce-hostnames" && !contract.declared)
          report("useless", { what: f.message }, f.at);
      }
      if (server.plane.role === "sentinel") {
        const { sentinel } = load;
        const monitor = [...(sentinel?.masters.values() ?? [])].find((m) => m.host.placeholder === "none");
        const named = monitor !== undefined && numericHost(monitor.host.value) === undefined;
        const at = sentinel?.announceHostnames?.at ?? monitor?.host.at ?? whereNeeded(server, load, "tls-port");
        const resolves = sentinel?.flag("resolve-hostnames");
        // addresses are right where there are no pods
        const wanted = named || (contract.declared && server.plane.workload !== undefined);
        if (isMisspelt(load, "resolve-hostnames") || isMisspelt(load, "announce-hostnames")) return;
        if (resolves === false && wanted && !found.some((f) => f.code === "sentinel-hostname")) {
          const place = sentinel?.resolveHostnames?.at ?? at;
          if (place !== undefined) report("resolve", {}, place);
        } else if (resolves === true && wanted && sentinel?.flag("announce-hostnames") === false && at !== undefined) {
          report("announce", {}, at);
        }
        if (monitor !== undefined && isPod(contract, server, monitor.host.value))
          san(monitor.host, server.plane.peer?.servers ?? []);
      }
      const own = announced(server, load);
      if (own.arg === undefined) {
        const who = server.plane.role === "data" ? "a data server" : "a Sentinel";
        const misspelt = isMisspelt(load, own.directive.replace("sentinel ", ""));
        if (own.missing !== undefined && server.plane.workload !== undefined && !misspelt)
          report("unannounced", { directive: own.directive, who }, own.missing);
        return;
      }
      const fault = announcedFault(contract, server, own.arg);
      if (fault?.kind === "address" && server.plane.workload === undefined) return;
      if (fault !== undefined) report(fault.kind, { directive: own.directive, reason: fault.reason }, own.arg.at);
      else san(own.arg, [server]);

      function san(name: WrittenName, servers: readonly Server[]): void {
        for (const s of servers) {
          const cert = certificateOf(contract, s);
          const names = cert?.facts?.names;
          if (cert === undefined || names === undefined || isCovered(names, name)) continue;
          report("san", { path: cert.path, host: name.value }, name.at, {
            related: [{ at: cert.at, message: "the certificate" }],
          });
          return;
        }
      }
    },
  },
});

/** What a server announces itself as; `missing`: where it should, when it certainly does not. */
function announced(
  server: Server,
  load: ConfLoad,
): { directive: string; arg: WrittenName | undefined; missing: Span | Place | undefined } {
  if (server.plane.role === "sentinel") {
    const { sentinel } = load;
    const directive = "sentinel announce-ip";
    const setting = sentinel?.announceIp;
    if (setting !== undefined) return { directive, arg: setting, missing: undefined };
    const missing =
      sentinel?.complete === true
        ? (sentinel.announceHostnames?.line ?? whereNeeded(server, load, "tls-port"))
        : undefined;
    return { directive, arg: undefined, missing };
  }
  const directive = "replica-announce-ip";
  const value = load.values.get(directive);
  const arg = value.state === "absent" ? undefined : value.args[0];
  const none =
    value.state === "absent" || (value.state === "known" && value.value === "" && value.statement === undefined);
  return { directive, arg, missing: none ? whereNeeded(server, load, "replica-announce-port", "tls-port") : undefined };
}

/** The name of a pod; another one is k8s/bootstrap-topology's matter. */
function isPod(contract: Contract, { plane }: Server, host: string): boolean {
  const from = plane.workload === undefined ? undefined : namespaceOf(contract, plane.workload);
  return hostMeaning(contract, host, from).kind === "pod";
}

function certificateOf(
  contract: Contract,
  server: Server,
): { path: string; facts: { names?: readonly string[] } | undefined; at: Span } | undefined {
  const load = contract.redis.load(server);
  return load === undefined ? undefined : materialOf(contract, server, load.values).get("tls-cert-file");
}
