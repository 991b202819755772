// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import {
  checkedBefore,
  closesDescriptor,
  clusterCalls,
  contentOf,
  copyOnce,
  destructions,
  downloads,
  exposedSecrets,
  installs,
  locks,
  redisCallsOf,
  type ShellProgram,
  serverStarts,
  show,
  strictness,
  timeLimit,
  waitsOf,
} from "../../src/model/shell/index.js";
import { prepare, program, scripts } from "./facts.js";

/** Scripts of our own in the shapes that public repositories have. */
function read(name: string): string {
  return readFileSync(new URL(`../data/shell/${name}.sh`, import.meta.url), "utf8");
}

function secrets(made: ShellProgram): string[] {
  return [
    ...new Set(made.invocations.flatMap((i) => exposedSecrets(i)).map((s) => `${s.form} ${s.what} ${show(s.value)}`)),
  ];
}

beforeAll(prepare);

describe("an init script in functions", () => {
  it("overwrites the configuration at every start", () => {
    const made = program(read("library-init"));
    expect(made.complete).toBe(true);
    expect(copyOnce(made, "/data/conf/sentinel.conf")).toMatchObject({ kind: "overwrites", always: true });
    expect(copyOnce(made, "/data/conf/redis.conf")).toMatchObject({ kind: "overwrites", always: true });
  });
  it("grows it by lines whose presence depends on conditions", () => {
    const made = program(read("library-init"));
    const { variants, complete } = contentOf(made, "/data/conf/redis.conf");
    expect(complete).toBe(true);
    expect(variants).toHaveLength(1);
    const [first, ...lines] = variants[0]!.content!;
    expect(first).toMatchObject({ kind: "file", guards: [] });
    expect(first!.edits.filter((e) => e.guards === undefined)).toEqual([]);
    expect(lines.map((s) => (s.kind === "lines" ? s.lines.map(show).join() : "?"))).toEqual([
      "replicaof ${found} 6379",
      "replicaof ${HOSTNAME} 6379",
      "replicaof cache-0 6379",
    ]);
    expect(lines.every((s) => s.guards.length > 0)).toBe(true);
  });
  it("asks with the password on the command line, in a bounded loop", () => {
    const made = program(read("library-init"));
    expect(secrets(made)).toEqual(["option -a ${SENTINELAUTH}", "argument AUTH s/replace-with-auth/$(…)/"]);
    expect(
      redisCallsOf(made).map((c) => [show(c.host!), c.port === undefined ? undefined : show(c.port), c.tls]),
    ).toEqual([
      ["cache", "${TLS_PORT}", true],
      ["cache", "26379", false],
    ]);
    expect(waitsOf(made)).toMatchObject([{ bounded: true, onExpiry: "continues" }]);
  });
});

describe("a start script with an argument array", () => {
  it("is not understood completely, as its library is not there", () => {
    const made = program(read("arguments-start"));
    expect(made.complete).toBe(false);
    expect(copyOnce(made, "/data/sentinel.conf").kind).toBe("unknown");
  });
  it("starts the server with what the array holds", () => {
    const made = program(read("arguments-start"), {
      script: scripts({ "/opt/lib/log.sh": 'error() { echo "$1" >&2; }' }),
    });
    expect(made.complete).toBe(true);
    const [start] = serverStarts(made);
    expect(start!.overrides.map((o) => [o.name, ...o.values.map(show)].join(" "))).toEqual([
      "port 0",
      "tls-port 6379",
      "tls-replication yes",
      "requirepass ${REDIS_PASSWORD}",
      "include /etc/redis/redis.conf",
    ]);
    expect(start).toMatchObject({ mode: "server", config: undefined, uncertain: false });
    expect(secrets(made)).toEqual(["option --requirepass ${REDIS_PASSWORD}"]);
    expect(waitsOf(made).map((w) => [w.hosts.map(show), w.bounded, w.seconds, w.onExpiry])).toEqual([
      [["${PRIMARY}"], true, 300, "fails"],
    ]);
    expect(copyOnce(made, "/etc/redis/redis.conf")).toMatchObject({ kind: "overwrites", always: false });
  });
});

describe("an entrypoint of groups", () => {
  it("appends its lines to the image's file", () => {
    const made = program(read("group-entrypoint"));
    const { variants, added, complete } = contentOf(made, "/etc/redis/sentinel.conf");
    expect(complete).toBe(true);
    expect(variants).toEqual([]);
    expect(added.flatMap((e) => e.content!.flatMap((s) => (s.kind === "lines" ? s.lines.map(show) : [])))).toEqual([
      "sentinel monitor ${GROUP} ${IP} ${PORT} 2",
      "sentinel down-after-milliseconds ${GROUP} 5000",
      "sentinel auth-pass ${GROUP} ${MASTER_PASSWORD}",
      "port 0",
      "tls-port 26379",
    ]);
    expect(serverStarts(made)).toMatchObject([{ mode: "sentinel", config: { known: "/etc/redis/sentinel.conf" } }]);
    expect(secrets(made)).toEqual([]);
  });
});

describe("a loop over nodes", () => {
  it("writes the Sentinel's file from a here-document", () => {
    const made = program(read("nodes-loop"));
    expect(made.complete).toBe(true);
    const { variants } = contentOf(made, "/etc/redis/sentinel.conf");
    expect(variants.map((v) => v.content!.flatMap((s) => (s.kind === "lines" ? s.lines.map(show) : [])))).toEqual([
      [
        "port 5000",
        "sentinel resolve-hostnames yes",
        "sentinel announce-hostnames yes",
        "$(cat /tmp/master)",
        "sentinel auth-pass mymaster ${REDIS_PASSWORD}",
      ],
    ]);
    expect(copyOnce(made, "/etc/redis/sentinel.conf")).toMatchObject({ kind: "overwrites", always: true });
    expect(secrets(made)).toEqual(["option -a ${REDIS_PASSWORD}"]);
  });
});

describe("a probe that compares its answer", () => {
  it("sends PING as nobody in particular, and looks at it", () => {
    const made = program(read("response-probe"));
    const [call] = redisCallsOf(made);
    expect(call).toMatchObject({ tls: false, auth: { source: "exported" }, input: "arguments" });
    expect(call!.commands!.map((c) => c.map(show))).toEqual([["ping"]]);
    expect(call!.consumers.map((c) => c.kind)).toEqual(["test"]);
    expect(secrets(made)).toEqual([]);
  });
});

describe("a lab's lifecycle script", () => {
  const made = (): ShellProgram => program(read("lab-up"), { script: scripts({}) });
  it("destroys nothing, and downloads with a check", () => {
    const lab = made();
    expect(destructions(lab)).toEqual([]);
    expect(downloads(lab).map((d) => [show(d.url!), show(d.output!), d.runBy])).toEqual([
      ["${K3S_URL}", "$(mktemp)/k3s", undefined],
    ]);
    expect(strictness(lab)).toEqual({ errexit: true, nounset: true, pipefail: true });
    expect(locks(lab)).toMatchObject([{ nonBlocking: true, exclusive: true }]);
    expect(lab.traps.map((t) => t.signals)).toEqual([["EXIT", "INT", "TERM"]]);
  });
  it("gives every remote call a limit, the cluster's name, and no lock", () => {
    const lab = made();
    expect(lab.invocations.filter((i) => timeLimit(i) === "missing")).toEqual([]);
    expect(clusterCalls(lab).map((c) => [c.verb, show(c.kubeconfig!), c.context?.known])).toEqual([
      ["apply", "$(mktemp)/kubeconfig", "ca-redis-lab"],
      ["rollout status", "$(mktemp)/kubeconfig", "ca-redis-lab"],
    ]);
    for (const name of ["kubectl", "curl", "multipass"]) {
      for (const invocation of lab.invocations.filter((i) => i.name === name))
        expect(closesDescriptor(invocation, 9), name).toBe(true);
    }
  });
  it("checks before it transfers and installs, where its settings are known", () => {
    const lab = program(read("lab-up").replace('. "$here/versions.env"\n', ""));
    expect(lab.complete).toBe(true);
    expect(installs(lab).map((use) => [use.kind, show(use.file), checkedBefore(lab, use)])).toEqual([
      ["transfer", "$(mktemp)/k3s", true],
      ["install", "/tmp/k3s", true],
    ]);
  });
});
