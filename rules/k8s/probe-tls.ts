import { defineRule } from "../../src/engine/rule.js";
import { hurriedCall, tlsFaults } from "../../src/model/redis/client-tls.js";
import { clientCalls } from "../../src/model/redis/clients.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "Probes speak TLS to a server that speaks nothing else.",
    why: "A plaintext probe of a TLS-only port gets no answer at all: the pod never becomes ready, or is restarted for ever.",
    fix: "Give redis-cli --tls with --cacert, and --cert and --key where the server asks for a client certificate.",
    bad: "redis-cli -p 6379 ping | grep -q PONG\n",
    good: "redis-cli -p 6379 --tls --cacert /tls/ca.crt --cert /tls/probe.crt --key /tls/probe.key ping | grep -q PONG\n",
    source: {
      title: "Redis: TLS, getting started",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/encryption/",
    },
    rows: ["C-K14", "C-K27", "C-K33"],
  },
  messages: {
    plaintext:
      "the {probe} probe of {container} speaks plaintext to a server that only listens with TLS: it can never succeed",
    tls: "the {probe} probe of {container} speaks TLS to a server that has no TLS port: it can never succeed",
    ca: {
      text: "the {probe} probe of {container} has --tls and no CA: the server's certificate cannot be verified",
      help: "Add --cacert with the CA of the server's certificate.",
    },
    certificate:
      "the {probe} probe of {container} shows no client certificate, and the server demands one (tls-auth-clients yes)",
    usage: {
      text: "the {probe} probe of {container} shows the certificate {path}, which is for servers only: the server refuses it as a client's",
      inferred: "warning",
    },
    timeout: {
      text: "the {probe} probe of {container} has {time} s to start a client, agree on TLS and get an answer: on a busy node, or with one packet lost, it fails",
      help: "Set timeoutSeconds to 2 or more.",
      inferred: "off",
    },
  },
  on: {
    Container(container, { contract, report }) {
      for (const probe of container.probes) {
        if (probe.command === undefined) continue;
        const calls = clientCalls(probe.command, contract);
        const hurried = hurriedCall(probe, calls);
        if (hurried !== undefined)
          report("timeout", { probe: probe.type, container: container.title, time: hurried.time }, hurried.at);
        for (const { call, target } of calls) {
          if (target === undefined) continue;
          const data = { probe: probe.type, container: container.title };
          for (const fault of tlsFaults(call, target, contract)) {
            if (fault === "usage") report("usage", { ...data, path: call.cert!.known! }, call.cert!.place);
            else report(fault, data, call.invocation.place);
          }
        }
      }
    },
  },
});
