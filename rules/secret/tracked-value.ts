import { defineRule } from "../../src/engine/rule.js";
import {
  findConfSecrets,
  findSecrets,
  findShellSecrets,
  isPlaceholder,
  isSecretName,
  type SecretHit,
} from "../../src/model/secrets.js";
import { asObject } from "../../src/model/value.js";
import type { TextView } from "../../src/text/source.js";

export default defineRule({
  severity: "error",
  inferred: "warning",
  docs: {
    summary: "No file of the contract holds a secret.",
    why: "What is committed is known to everyone who ever reads the repository, and stays known after it is removed.",
    fix: "Keep the value in a Secret that is made outside the repository and refer to it, or leave a placeholder; then change the value, because this one is burnt.",
    bad: "kind: Secret\nstringData:\n  password: hunter2\n",
    good: "env:\n  - name: REDISCLI_AUTH\n    valueFrom: { secretKeyRef: { name: redis-probe, key: password } }\n",
    source: {
      title: "Kubernetes: good practices for Secrets",
      url: "https://kubernetes.io/docs/concepts/security/secrets-good-practices/",
    },
    rows: ["C-K19"],
  },
  messages: {
    secret: "{object} holds the value of {key}",
    password: "a password stands here in plain text: {name}",
    "private-key": { text: "a private key stands here", inferred: "error" },
    certificate: { text: "a certificate is tracked here", help: "Deliver TLS material as a Secret.", inferred: "info" },
    token: { text: "an access token stands here", inferred: "error" },
  },
  on: {
    Secret(secret, { report }) {
      for (const field of ["data", "stringData"]) {
        for (const [key, value] of Object.entries(asObject(secret.get(field)))) {
          if (typeof value !== "string" || isPlaceholder(value) || isPlaceholder(decode(field, value))) continue;
          report("secret", { object: secret.title, key }, secret.key(field, key));
        }
      }
    },
    ConfigMap(map, { contract, report }) {
      const texts = new Set(contract.textsIn(map).map((t) => t.key));
      for (const [key, value] of Object.entries(asObject(map.get("data")))) {
        if (typeof value !== "string") continue;
        if (isSecretName(key) && !value.includes("\n") && !isPlaceholder(value))
          report("password", { name: key }, map.at("data", key));
        if (texts.has(key)) continue;
        // an embedded text that nobody recognised may still be a configuration
        const view = /pass|auth/i.test(value) ? map.document.view([...map.base, "data", key]) : undefined;
        if (view !== undefined)
          for (const hit of findConfSecrets(value))
            report("password", { name: hit.name }, view.span(hit.start, hit.end));
      }
    },
    Container(container, { report }) {
      container.env.forEach(({ name, spec, path }) => {
        const { value } = spec;
        if (typeof value === "string" && isSecretName(name) && !isPlaceholder(value))
          report("password", { name }, container.workload.at(...path, "value"));
      });
    },
    Conf(conf, { report }) {
      for (const hit of findConfSecrets(conf.view.text))
        report("password", { name: hit.name }, conf.view.span(hit.start, hit.end));
    },
    Script(script, { report }) {
      for (const hit of findShellSecrets(script.view.text))
        report("password", { name: hit.name }, script.view.span(hit.start, hit.end));
    },
    File(file, { report }) {
      if (file.fault !== undefined) return;
      const say = (view: TextView, hits: readonly SecretHit[]): void => {
        for (const hit of hits) {
          const at = view.span(hit.start, hit.end);
          if (hit.kind === "password") report("password", { name: hit.name }, at);
          else report(hit.kind, {}, at);
        }
      };
      say(file.view, findSecrets(file.source.text));
      if (file.kind === "env" || file.kind === "properties") {
        for (const m of file.source.text.matchAll(
          /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*[=:][ \t]*([^\r\n]*?)[ \t]*$/gm,
        )) {
          const [, name, value] = m as unknown as [string, string, string];
          if (!isSecretName(name) || isPlaceholder(value)) continue;
          const end = m.index + m[0].trimEnd().length;
          report("password", { name }, file.source.span(end - value.length, end));
        }
      }
    },
  },
});

function decode(field: string, value: string): string {
  if (field !== "data" || !/^[A-Za-z0-9+/]+=*$/.test(value.trim())) return value;
  try {
    return atob(value.trim());
  } catch {
    return value;
  }
}
