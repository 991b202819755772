/** Trees and proofs that reports are made of. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { edit, goldenCopy, quorumlint, temporary } from "../cli/run.js";
import { TODAY } from "../support.js";

export const IMG = "<img src=x onerror=document.title='owned'>";

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The golden contract with six breaches, two of them secrets. */
export const broken = once((): string => {
  const folder = goldenCopy();
  const acl = "infra/redis-lab/config/redis-users.acl.tmpl";
  edit(folder, acl, "+config|rewrite ", "");
  edit(folder, acl, ">${APP_PASSWORD}", ">hunter2");
  edit(folder, "infra/redis-lab/config/redis.conf.tmpl", "masterauth ${REPLICA_PASSWORD}", "masterauth s3cr3t-of-us");
  const data = "infra/redis-lab/k3s/redis-data.yaml";
  edit(
    folder,
    data,
    "      terminationGracePeriodSeconds: 60",
    "      hostNetwork: true\n      terminationGracePeriodSeconds: 60",
  );
  edit(folder, data, "podManagementPolicy: ", "# podManagementPolicy: ");
  return folder;
});

/** Names that want to be markup: of files, objects, users, the contract. */
export const hostileLab = once((): string => {
  const folder = temporary();
  const name = `a</script>${IMG}.yaml`;
  mkdirSync(join(folder, dirname(name)), { recursive: true });
  writeFileSync(
    join(folder, name),
    [
      "apiVersion: apps/v1",
      "kind: StatefulSet",
      `metadata: { name: "redis</script>${IMG}", labels: { x: "\\u202e<!--" } }`,
      "spec:",
      `  serviceName: "'\\"><svg onload=alert(1)>"`,
      "  selector: { matchLabels: { app: redis } }",
      "  template:",
      "    metadata: { labels: { app: redis } }",
      "    spec:",
      "      hostNetwork: true",
      "      containers:",
      `        - { name: "redis", image: "redis:7.2${IMG}", command: [redis-server, /conf/redis.conf] }`,
      "",
    ].join("\n"),
  );
  writeFileSync(join(folder, "redis.conf"), `port 6379\naclfile /acl/users.acl\n# </script>${IMG}\nbind <b>\n`);
  writeFileSync(
    join(folder, "users.acl"),
    `user default off\nuser </script><img/src=x/onerror=alert(1)> on nopass ~<b>* &<i>* +@all\n`,
  );
  return folder;
});

/** As many Secrets with values as are asked for, and more findings than that. */
export function large(count: number): string {
  const folder = goldenCopy();
  const secrets = Array.from(
    { length: count },
    (_, i) =>
      `---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: extra-${i}\n  namespace: redis-lab\nstringData:\n  password: hunter2-${i}\n`,
  );
  edit(folder, "infra/redis-lab/k3s/namespace.yaml", "warn: restricted\n", `warn: restricted\n${secrets.join("")}`);
  return folder;
}

/** The result of `prove --format json`, with what can go wrong. */
export const PROOF = once((): string => {
  const file = join(temporary(), "prove.json");
  const at = { file: `<b>${IMG}`, line: 1, column: 2 };
  const mutants = [
    {
      rule: "k8s/resources",
      name: `no limits ${IMG}`,
      kind: "mutant",
      status: "Killed",
      killedBy: ["k8s/resources", "k8s/schema"],
      at,
    },
    { rule: "k8s/schema", name: "a typo", kind: "mutant", status: "Survived", killedBy: [], at: null },
    { rule: "k8s/schema", name: "a comment", kind: "boundary", status: "Silent", killedBy: [], at: null },
    { rule: "acl/surplus", name: "one more", kind: "mutant", status: "Killed", killedBy: ["acl/surplus"], at: null },
  ];
  writeFileSync(file, JSON.stringify({ version: 1, mutants, unproven: [], unbounded: [] }));
  return file;
});

const swept = (mutatorName: string, status: string, killedBy: string[], line: number) => ({
  id: String(line),
  mutatorName,
  description: "spec.replicas\n- 3\n+ 2",
  status,
  killedBy,
  location: { start: { line, column: 5 }, end: { line, column: 6 } },
});

/** The result of `prove --sweep --format json`, in short. */
export const SWEEP = JSON.stringify({
  schemaVersion: "2",
  files: {
    "a.yaml": {
      mutants: [
        swept("number", "Killed", ["k8s/resources"], 1),
        swept("number", "Killed", ["k8s/resources"], 2),
        swept("drop", "Survived", [], 3),
        swept("drop", "Ignored", [], 4),
      ],
    },
  },
});

/** The path of a page that `quorumlint report` makes of a directory. */
export function report(folder: string, ...args: string[]): string {
  const out = join(temporary(), "report.html");
  const run = quorumlint(["report", folder, "-o", out, "--today", TODAY, ...args]);
  expect(run.code, run.stderr).toBe(0);
  return out;
}
