import { defineRule } from "../../src/engine/rule.js";
import { isOfficialImage } from "../../src/model/image.js";
import { podFile } from "../../src/model/kubernetes/pod-file.js";
import { findingsOf } from "../../src/model/redis/conf-owner.js";
import { clientCertificate, materialOf } from "../../src/model/redis/tls-material.js";

const SECRET = /-key-file$/;

export default defineRule({
  severity: "error",
  docs: {
    summary: "Certificate, key and CA are files of their own, mounted, valid, and good for both ends of a link.",
    why: "A server does not start without its files; a peer whose certificate is expired, or may not act as a client, is refused: no replication, no Sentinel.",
    fix: "Mount certificate, key and CA, and let the leaf carry serverAuth and clientAuth.",
    bad: "tls-cert-file /tls/tls.crt\ntls-ca-cert-file /tls/tls.crt\n",
    good: "tls-cert-file /tls/tls.crt\ntls-key-file /tls/tls.key\ntls-ca-cert-file /tls/ca.crt\n",
    source: {
      title: "Redis: TLS, certificate configuration; recordings of TLS deployments",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/encryption/#certificate-configuration",
    },
    rows: ["C-R13"],
  },
  messages: {
    leaf: {
      text: "the CA file is the server's own certificate: whoever a real CA signed is not trusted",
      help: "Name the CA's certificate, or a bundle; only a self-signed certificate may stand for itself.",
      severity: "warning",
    },
    same: {
      text: "`{directive}` and `{other}` name the same file {path}",
      help: "Keep the private key in a file of its own.",
    },
    unmounted: { text: "no volume of {container} holds {path} of `{directive}`: the server does not start without it" },
    lacks: { text: "the volume {volume} of {container} holds no {path}: the server does not start", inferred: "error" },
    half: { text: "{what}", severity: "warning" },
    expired: "the certificate {path} is valid until {until} only",
    server: {
      text: "the certificate {path} is for servers only: with `tls-auth-clients {clients}` a peer refuses it, and links between servers fail",
      help: "Issue it with clientAuth as well, or set tls-client-cert-file.",
      severity: "warning",
    },
    client: "the certificate {path} is for clients only: who connects to this server refuses it",
    undeclared: {
      text: "the contract says nothing of {path}, though it declares other TLS material",
      help: "Add the path below `tls:`, or correct the path.",
      severity: "warning",
    },
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      if (load === undefined) return;
      for (const f of findingsOf(load, "redis/tls-material", contract.declared))
        report("half", { what: f.message }, f.at);
      const material = materialOf(contract, server, load.values);
      const cert = material.get("tls-cert-file");
      const ca = material.get("tls-ca-cert-file");
      const clash = new Set<string>();
      for (const [directive, one] of material) {
        for (const [other, two] of material) {
          if (other >= directive || one.path !== two.path || !(SECRET.test(directive) !== SECRET.test(other))) continue;
          clash.add(one.path);
          report("same", { directive, other, path: one.path }, one.at, {
            related: [{ at: two.at, message: `\`${other}\`` }],
            // a key file with the certificate in it works; one that stands for the CA does not
            severity: other === "tls-ca-cert-file" ? "error" : undefined,
          });
        }
      }
      if (cert !== undefined && ca !== undefined && cert.path === ca.path && !clash.has(ca.path))
        report("leaf", {}, ca.at, { related: [{ at: cert.at, message: "the server's own certificate" }] });

      const { container } = server.plane;
      if (container !== undefined && (contract.declared || isOfficialImage(container.image))) {
        const bare = new Set<string>();
        for (const { directive, path, at } of material.values()) {
          if (!path.startsWith("/")) continue;
          const { state, mount } = podFile(contract, container, path);
          const data = { container: container.title, path };
          const related = [{ at: mount?.place ?? container.key("volumeMounts"), message: "the container's volumes" }];
          // one missing volume is one fault, whatever lies on it
          const directory = path.slice(0, path.lastIndexOf("/"));
          if (state === "unmounted" && !bare.has(directory)) {
            bare.add(directory);
            report("unmounted", { ...data, directive }, at, { related });
          } else if (state === "lacks") report("lacks", { ...data, volume: mount?.name ?? "" }, at, { related });
        }
      }

      const sides = new Set([cert, clientCertificate(material)]);
      for (const leaf of sides) {
        const until = leaf?.facts?.notAfter;
        if (leaf !== undefined && until !== undefined && until < contract.today)
          report("expired", { path: leaf.path, until }, leaf.at);
      }
      const dialing = clientCertificate(material);
      const clients = load.values.get("tls-auth-clients");
      if (dialing?.facts?.usage?.includes("client") === false && clients.state === "known" && clients.value !== "no")
        report("server", { path: dialing.path, clients: clients.value }, dialing.at);
      if (cert?.facts?.usage?.includes("server") === false) report("client", { path: cert.path }, cert.at);
      if (contract.config.tls !== undefined) {
        for (const one of material.values())
          if (!SECRET.test(one.directive) && one.facts === undefined) report("undeclared", { path: one.path }, one.at);
      }
    },
  },
});
