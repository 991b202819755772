import { defineRule } from "../../src/engine/rule.js";
import type { Contract } from "../../src/model/contract.js";
import type { Server } from "../../src/model/plane.js";
import { clientCertificate, type Material, type MaterialKind, materialOf } from "../../src/model/redis/tls-material.js";

export default defineRule({
  severity: "error",
  inferred: "off",
  docs: {
    summary: "The planes have certificates and authorities of their own, and trust each other by an explicit bundle.",
    why: "With one authority or one leaf for both, whoever holds a key of one plane passes for a server of the other; a bundle that lacks the other plane's authority cuts Sentinel off.",
    fix: "Issue each plane's leaf by its own CA and list in each trust bundle whom it trusts.",
    bad: "tls-cert-file /tls/data/tls.crt    # in sentinel.conf too\n",
    good: "tls-cert-file /tls/sentinel/tls.crt\ntls-ca-cert-file /tls/trust/sentinel-plane.pem\n",
    source: {
      title: "Redis: TLS; recordings of TLS deployments with three authorities",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/encryption/",
    },
    rows: ["C-R03"],
  },
  messages: {
    leaf: "both planes use the same {what} {path}",
    ca: {
      text: "both planes trust by the same CA file {path}",
      help: "Give each plane its own; a bundle for both is declared with `trusts` below `tls:`.",
    },
    issuer: "the certificates of both planes come from one authority, {issuer}",
    untrusted: {
      text: "{path} does not trust the authority {issuer}, which signed {whose}: {effect}",
      help: "Add that authority to the bundle.",
    },
  },
  on: {
    Plane(plane, { contract, report }) {
      const { peer } = plane;
      if (plane.role !== "sentinel" || peer === undefined) return;
      const sentinels = plane.servers.map((s) => sideOf(contract, s));
      const data = peer.servers.map((s) => sideOf(contract, s));
      for (const own of sentinels) {
        for (const kind of ["tls-cert-file", "tls-key-file"] as const) {
          const mine = own.material.get(kind);
          const theirs = find(data, kind, mine?.identity);
          if (mine === undefined || theirs === undefined) continue;
          const what = kind === "tls-cert-file" ? "certificate" : "key";
          report("leaf", { what, path: mine.path }, mine.at, {
            related: [{ at: theirs.at, message: "the data plane's" }],
          });
        }
        const bundle = own.material.get("tls-ca-cert-file");
        const theirs = find(data, "tls-ca-cert-file", bundle?.identity);
        if (bundle !== undefined && theirs !== undefined && bundle.facts?.trusts === undefined)
          report("ca", { path: bundle.path }, bundle.at, { related: [{ at: theirs.at, message: "the data plane's" }] });
        const leaf = own.material.get("tls-cert-file");
        const issuer = leaf?.facts?.issuer;
        const twin = data.map((d) => d.material.get("tls-cert-file")).find((m) => m?.facts?.issuer === issuer);
        if (leaf !== undefined && issuer !== undefined && twin !== undefined && twin.path !== leaf.path)
          report("issuer", { issuer }, leaf.at, { related: [{ at: twin.at, message: "the data plane's" }] });
      }
      for (const side of [...sentinels, ...data]) {
        const bundle = side.material.get("tls-ca-cert-file");
        const trusts = bundle?.facts?.trusts;
        if (bundle === undefined || trusts === undefined) continue;
        const needs = side.role === "sentinel" ? ofSentinel(sentinels, data) : ofData(side, sentinels, data);
        for (const [issuer, { whose, effect }] of needs)
          if (!trusts.includes(issuer)) report("untrusted", { path: bundle.path, issuer, whose, effect }, bundle.at);
      }
    },
  },
});

interface Side {
  readonly role: "data" | "sentinel";
  readonly material: ReadonlyMap<MaterialKind, Material>;
  /** Whether it verifies who connects; undefined: not known. */
  readonly verifies: boolean | undefined;
}

type Needs = ReadonlyMap<string, { readonly whose: string; readonly effect: string }>;

function sideOf(contract: Contract, server: Server): Side {
  const load = contract.redis.load(server);
  const { role } = server.plane;
  if (load === undefined) return { role, material: new Map(), verifies: undefined };
  const clients = load.values.get("tls-auth-clients");
  const verifies = clients.state === "known" ? clients.value !== "no" : undefined;
  return { role, material: materialOf(contract, server, load.values), verifies };
}

function find(sides: readonly Side[], kind: MaterialKind, identity: string | undefined): Material | undefined {
  return sides.map((s) => s.material.get(kind)).find((m) => m !== undefined && m.identity === identity);
}

function issuers(
  sides: readonly Side[],
  whose: string,
  effect: string,
  dialing: boolean,
): [string, { whose: string; effect: string }][] {
  return sides.flatMap(({ material }) => {
    const leaf = dialing ? clientCertificate(material) : material.get("tls-cert-file");
    const issuer = leaf?.facts?.issuer;
    return issuer === undefined ? [] : [[issuer, { whose, effect }] as [string, { whose: string; effect: string }]];
  });
}

/** A Sentinel verifies the data servers and the other Sentinels, whom it dials. */
function ofSentinel(sentinels: readonly Side[], data: readonly Side[]): Needs {
  return new Map([
    ...issuers(data, "the data servers' certificates", "the Sentinel sees every data server as down", false),
    ...issuers(sentinels, "the Sentinels' certificates", "Sentinels do not reach each other", false),
  ]);
}

/** A data server verifies its primary, and with `tls-auth-clients` also who dials it. */
function ofData(own: Side, sentinels: readonly Side[], data: readonly Side[]): Needs {
  return new Map([
    ...(own.verifies === true
      ? issuers(sentinels, "the Sentinels' certificates", "every Sentinel is cut off", true)
      : []),
    ...issuers(data, "the data servers' certificates", "replicas do not reach their primary", false),
  ]);
}
