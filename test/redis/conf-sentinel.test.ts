// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { describe, expect, it } from "vitest";
import { type ConfInput, type ConfLoad, loadConf } from "../../src/model/redis/conf.js";
import { documentOf } from "./conf-cases.js";

type Options = Partial<Omit<ConfInput, "documents" | "mode">> & { templates?: boolean };

function load(text: string, options: Options = {}): ConfLoad {
  const { templates, ...rest } = options;
  return loadConf({
    server: "redis-7.2",
    mode: "sentinel",
    ...rest,
    documents: documentOf("sentinel.conf", text, templates),
  });
}

const said = (result: ConfLoad): string[] =>
  result.findings.map((f) => `${f.class} ${f.code}: ${f.at.source.slice(f.at)}`);

const MONITOR = "sentinel monitor mymaster 127.0.0.1 6379 2\n";

describe("sentinel lines", () => {
  it("a good file has no findings, whatever the order of its lines", () => {
    const text = [
      "port 0",
      "tls-port 26379",
      "tls-cert-file /tls/tls.crt",
      "tls-key-file /tls/tls.key",
      "tls-ca-cert-file /tls/ca.crt",
      "tls-replication yes",
      "sentinel down-after-milliseconds mymaster 5000",
      "sentinel monitor mymaster redis-0.redis.svc 6379 2",
      "sentinel failover-timeout mymaster 60000",
      "sentinel parallel-syncs mymaster 1",
      "sentinel auth-user mymaster sentinel-control",
      "sentinel auth-pass mymaster secret",
      "sentinel sentinel-user peer",
      "sentinel sentinel-pass secret",
      "sentinel resolve-hostnames yes",
      "sentinel announce-hostnames yes",
      "sentinel announce-ip sentinel-0.sentinel.svc",
      "SENTINEL deny-scripts-reconfig yes",
    ].join("\n");
    const result = load(text);
    expect(said(result)).toEqual([]);
    expect(result.loads).toBe(true);
    expect(result.sentinel?.flag("resolve-hostnames")).toBe(true);
  });

  it.each([
    [`${MONITOR}sentinel down-after-milliseconds mymaster 5s`, "silent sentinel-misread: 5s"],
    [`${MONITOR}sentinel failover-timeout mymaster 1m`, "silent sentinel-misread: 1m"],
    [`${MONITOR}sentinel parallel-syncs mymaster 0`, "silent sentinel-misread: 0"],
    [`${MONITOR}sentinel parallel-syncs mymaster x`, "silent sentinel-misread: x"],
    [`${MONITOR}sentinel announce-port abc`, "silent sentinel-misread: abc"],
    ["sentinel monitor mymaster 127.0.0.1 abc 2", "silent sentinel-misread: abc"],
    ["sentinel monitor mymaster 127.0.0.1 0 2", "silent sentinel-misread: 0"],
    ["sentinel monitor mymaster 127.0.0.1 6379 2x", "silent sentinel-misread: 2x"],
    ["sentinel monitor mymaster 127.0.0.1 6379 two", "fatal sentinel-value: two"],
    ["sentinel monitor mymaster 127.0.0.1 70000 2", "fatal sentinel-value: 70000"],
    ["sentinel monitor mymaster 127.0.0.1 6379", "fatal sentinel-arity: sentinel monitor mymaster 127.0.0.1 6379"],
    ["sentinel monitor mymaster   2", "fatal sentinel-arity: sentinel monitor mymaster   2"],
    ["sentinel monitor mymaster redis-0 6379 2", "fatal sentinel-hostname: redis-0"],
    ["sentinel monitor mymaster [::1] 6379 2", "fatal sentinel-hostname: [::1]"],
    [`${MONITOR}${MONITOR}`, "fatal sentinel-duplicate: mymaster"],
    [`${MONITOR}sentinel auth-pass other p`, "fatal sentinel-unmonitored: other"],
    ["sentinel auth-pass mymaster p", "fatal sentinel-unmonitored: mymaster"],
    [`${MONITOR}sentinel auth-pass p`, "fatal sentinel-arity: sentinel auth-pass p"],
    [`${MONITOR}sentinel auth-pass mymaster p w`, "fatal sentinel-arity: sentinel auth-pass mymaster p w"],
    [`${MONITOR}sentinel down-after-milliseconds mymaster 5000 # x`, "fatal trailing-comment: # x"],
    [`${MONITOR}sentinel down-after-miliseconds mymaster 1`, "fatal sentinel-option: down-after-miliseconds"],
    [`${MONITOR}sentinel resolve-hostnames not`, "fatal sentinel-value: not"],
    [`${MONITOR}sentinel myid abc`, "fatal sentinel-value: abc"],
    [
      `${MONITOR}sentinel auth-user mymaster u`,
      "useless sentinel-user-without-password: sentinel auth-user mymaster u",
    ],
    [`${MONITOR}sentinel sentinel-user u`, "useless sentinel-user-without-password: sentinel sentinel-user u"],
    [
      `${MONITOR}sentinel announce-hostnames yes`,
      "useless sentinel-announce-hostnames: sentinel announce-hostnames yes",
    ],
    [`${MONITOR}sentinel config-epoch mymaster 5`, "runtime sentinel-runtime: sentinel config-epoch mymaster 5"],
    [
      `${MONITOR}sentinel known-sentinel mymaster 127.0.0.1 1`,
      "runtime sentinel-runtime: sentinel known-sentinel mymaster 127.0.0.1 1",
    ],
    [
      `${MONITOR}sentinel auth-pass mymaster a\nsentinel auth-pass mymaster b`,
      "repeat sentinel-repeated: sentinel auth-pass mymaster b",
    ],
    [
      `${MONITOR}sentinel rename-command mymaster CONFIG a\nsentinel rename-command mymaster config b`,
      "fatal sentinel-duplicate: sentinel rename-command mymaster config b",
    ],
    [`${MONITOR}sentinel`, "useless sentinel-word: sentinel"],
    [`${MONITOR}replicaof 127.0.0.1 1`, "silent replica-in-sentinel: replicaof 127.0.0.1 1"],
    [`${MONITOR}masterauth x`, "useless data-in-sentinel: masterauth x"],
    [`${MONITOR}maxmemory 1mb`, "useless data-in-sentinel: maxmemory 1mb"],
    [`${MONITOR}rename-command GET x`, "fatal unknown-command: GET"],
    [`${MONITOR}user peer on >p +get`, "fatal user-rule: +get"],
    [`${MONITOR}user peer on >p +ping`, undefined],
    [`${MONITOR}sentinel auth-pass mymaster "p w"`, 'restart rewrite-unquoted: "p w"'],
    [`${MONITOR}sentinel auth-pass mymaster ""`, 'restart rewrite-unquoted: ""'],
    [`${MONITOR}sentinel auth-pass mymaster 'a"b"'`, "silent rewrite-changed: 'a\"b\"'"],
    [`${MONITOR}sentinel sentinel-pass "p w"`, 'restart rewrite-unquoted: "p w"'],
    ['sentinel monitor "my master" 127.0.0.1 6379 2', 'restart rewrite-unquoted: "my master"'],
    [
      "sentinel resolve-hostnames yes\nsentinel monitor mymaster redis-0 6379 2",
      "note sentinel-pinned-hostname: redis-0",
    ],
  ])("%s", (text, expected) => {
    const result = load(text);
    expect(said(result)).toEqual(expected === undefined ? [] : [expected]);
    expect(result.loads).toBe(expected?.startsWith("fatal") !== true);
    if (expected?.startsWith("restart") === true) expect(result.restarts).toBe(false);
  });

  it("a duration with a unit is read as milliseconds, and what is meant is said", () => {
    const [finding] = load(`${MONITOR}sentinel down-after-milliseconds mymaster 5s`).findings;
    expect(finding).toMatchObject({
      message: "`5s` of `sentinel down-after-milliseconds` is read as 5 milliseconds, not as 5000",
      right: "5000",
      directive: "sentinel down-after-milliseconds",
    });
  });

  it("versions differ", () => {
    const codes = (text: string, server: string) => load(text, { server }).findings.map((f) => f.code);
    const slave = `${MONITOR}sentinel known-slave mymaster 127.0.0.1 6380`;
    expect(codes(slave, "redis-6.2")).toContain("rewrite-known-slave");
    expect(codes(slave, "redis-7.0")).toContain("rewrite-known-slave");
    expect(codes(slave, "redis-7.2")).not.toContain("rewrite-known-slave");
    const blank = `${MONITOR}sentinel auth-pass mymaster "p w"`;
    expect(codes(blank, "valkey-8.1")).toEqual(["rewrite-unquoted"]);
    expect(codes(blank, "valkey-9.1")).toEqual([]);
    expect(codes("nosuch 1", "redis-8.0")).toEqual(["commented-out"]);
    expect(load("nosuch 1", { server: "redis-8.0" }).loads).toBe(true);
    expect(codes("nosuch 1", "redis-7.4")).toEqual(["unknown-directive"]);
    const reboot = `${MONITOR}sentinel master-reboot-down-after-period mymaster 5`;
    expect(codes(reboot, "redis-6.2")).toEqual(["sentinel-option"]);
    expect(codes(reboot, "redis-7.0")).toEqual([]);
  });

  it("lines of an include come twice after the rewrite", () => {
    const include = () => [documentOf("m.conf", `${MONITOR}user a on +ping\n`)];
    const result = load("include m.conf", { include });
    expect(result.findings.map((f) => f.code).sort()).toEqual(["rewrite-include", "rewrite-users"]);
    expect([result.loads, result.restarts]).toEqual([true, false]);
    const own = load(`include m.conf\nsentinel myid ${"a".repeat(40)}`, { include });
    expect(own.restarts).toBe("unknown");
  });

  it("scripts are looked at where they are known", () => {
    const text = `${MONITOR}sentinel notification-script mymaster /n.sh`;
    expect(load(text).loads).toBe(true);
    expect(said(load(text, { file: () => ({ exists: false }) }))).toEqual(["fatal sentinel-script: /n.sh"]);
    expect(load(text, { file: () => ({ exists: true, executable: true }) }).loads).toBe(true);
  });
});

describe("templates", () => {
  it("placeholders raise no alarm", () => {
    const text = [
      "sentinel monitor ${MASTER} ${HOST} ${PORT} ${QUORUM}",
      "sentinel auth-pass ${MASTER} ${PASS}",
      "sentinel down-after-milliseconds mymaster ${DOWN}",
      "sentinel announce-ip ${IP}",
      "sentinel resolve-hostnames ${RESOLVE}",
    ].join("\n");
    const result = load(text, { templates: true });
    expect(said(result)).toEqual([]);
    expect([...result.sentinel!.masters.keys()]).toEqual(["${MASTER}"]);
    expect(result.sentinel!.masters.get("${MASTER}")).toMatchObject({
      namePlaceholder: "whole",
      quorum: { number: undefined, placeholder: "whole" },
      authPass: { value: "${PASS}", placeholder: "whole" },
    });
    expect(result.sentinel!.flag("resolve-hostnames")).toBeUndefined();
  });

  it("an unknown monitor line leaves names open", () => {
    const text = "sentinel monitor {{ .Values.monitor }}\nsentinel auth-pass mymaster p";
    const result = load(text, { templates: true });
    expect(said(result)).toEqual([]);
    expect(result.loads).toBe("unknown");
    const gap = load("${MONITOR}\nsentinel auth-pass mymaster p", { templates: true });
    expect(gap.findings.map((f) => [f.code, f.certain])).toEqual([["sentinel-unmonitored", false]]);
    expect(gap.sentinel!.complete).toBe(false);
  });

  it("a placeholder in a plain file is a note, whatever the server would say of it", () => {
    const result = load(`sentinel monitor mymaster \${HOST} 6379 __QUORUM__\nsentinel auth-pass mymaster \${PASS}`);
    expect(said(result)).toEqual([
      "note sentinel-value: __QUORUM__",
      "note sentinel-hostname: ${HOST}",
      "note literal-placeholder: ${PASS}",
    ]);
    expect(result.loads).toBe(false);
  });

  it("a host name may be resolved by something unknown", () => {
    const result = load("sentinel monitor m redis-0 6379 2\n{{ .Values.extra }}", { templates: true });
    expect(result.findings.map((f) => [f.code, f.certain])).toEqual([["sentinel-hostname", false]]);
    expect(result.loads).toBe("unknown");
  });
});

describe("facts", () => {
  it("are what the Sentinel runs with, each at its place", () => {
    const { sentinel } = load(
      `${MONITOR}sentinel down-after-milliseconds mymaster 5000\nsentinel rename-command mymaster CONFIG GUESSME\nsentinel sentinel-user u\nsentinel sentinel-pass p\nsentinel announce-port 26379`,
    );
    const master = sentinel!.masters.get("mymaster")!;
    expect(master).toMatchObject({
      host: { value: "127.0.0.1" },
      port: { number: 6379 },
      quorum: { number: 2 },
      downAfter: { number: 5000 },
      failoverTimeout: undefined,
      renames: [{ from: "CONFIG", to: "GUESSME" }],
    });
    expect(master.quorum.at.source.slice(master.quorum.at)).toBe("2");
    expect(sentinel).toMatchObject({ sentinelUser: { value: "u" }, announcePort: { number: 26379 }, complete: true });
    expect(sentinel!.flag("deny-scripts-reconfig")).toBe(true);
    expect(sentinel!.rewritten).toContain("sentinel rename-command mymaster CONFIG GUESSME");
  });

  it("a data server has none", () => {
    expect(loadConf({ server: "redis-7.2", mode: "data", documents: documentOf("c", "") }).sentinel).toBeUndefined();
  });
});
