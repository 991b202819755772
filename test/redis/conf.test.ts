// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { describe, expect, it } from "vitest";
import { type ConfEdit, type ConfInput, type ConfLoad, editsOfText, loadConf } from "../../src/model/redis/conf.js";
import { commandWord, parseServerArguments } from "../../src/model/redis/conf-argv.js";
import { Source, TextView } from "../../src/text/source.js";
import { documentOf } from "./conf-cases.js";

type Options = Partial<Omit<ConfInput, "documents">> & { templates?: boolean };

function load(text: string, options: Options = {}): ConfLoad {
  const { templates, ...rest } = options;
  return loadConf({ server: "redis-7.2", mode: "data", ...rest, documents: documentOf("redis.conf", text, templates) });
}

/** `class code: the text at its place`. */
function said(result: ConfLoad): string[] {
  return result.findings.map((f) => `${f.class} ${f.code}: ${f.at.source.slice(f.at)}`);
}

const place = new Source("args", "").span(0, 0);
const argv = (...words: string[]) => words.map((w) => commandWord(w, place));

describe("findings", () => {
  it("a good configuration has none", () => {
    const text = [
      "# comment",
      "port 0",
      "tls-port 6379",
      "tls-cert-file /tls/tls.crt",
      "tls-key-file /tls/tls.key",
      "tls-ca-cert-file /tls/ca.crt",
      "tls-replication yes",
      'tls-protocols "TLSv1.2 TLSv1.3"',
      "appendonly yes",
      "save 900 1",
      "save 300 10",
      "client-output-buffer-limit replica 256mb 64mb 60",
      "client-output-buffer-limit pubsub 32mb 8mb 60",
      'rename-command DEBUG ""',
      "masteruser replica",
      "masterauth secret",
      "bind * -::*",
      "maxmemory 100mb",
      "aclfile /etc/redis/users.acl",
    ].join("\n");
    const result = load(text);
    expect(said(result)).toEqual([]);
    expect(result.loads).toBe(true);
  });

  it.each([
    ["timeout 5 # seconds", "fatal trailing-comment: # seconds"],
    ["save 900 1 # fifteen minutes", "fatal trailing-comment: # fifteen minutes"],
    ["bind 127.0.0.1 # local", "fatal trailing-comment: #"],
    ["user a on >p # x", "fatal trailing-comment: #"],
    ["loadmodule /m.so # x", "silent trailing-comment: # x"],
    ["requirepass #secret", undefined],
    ['requirepass "abc', 'fatal unbalanced-quotes: "abc'],
    ['requirepass "abc"def', 'fatal text-after-quote: "abc"def'],
    ["maxmemmory 1gb", "fatal unknown-directive: maxmemmory"],
    ["timeout=5", "fatal unknown-directive: timeout=5"],
    ["appendonly true", "fatal bad-value: true"],
    ["maxmemory 1.5gb", "fatal bad-value: 1.5gb"],
    ["port 70000", "fatal bad-value: 70000"],
    ["save 900", "fatal bad-value: 900"],
    ["requirepass a b", "fatal arity: requirepass a b"],
    ["port", "fatal arity: port"],
    ["rename-command NOSUCH x", "fatal unknown-command: NOSUCH"],
    ["rename-command CONFIG GET", "fatal command-exists: GET"],
    ["rename-command config|get x", "fatal unknown-command: config|get"],
    ["sentinel monitor m 127.0.0.1 6379 2", "fatal sentinel-in-data: sentinel monitor m 127.0.0.1 6379 2"],
    ["port 0", "fatal no-listener: port 0"],
    ['bind ""', 'fatal no-listener: bind ""'],
    ["port 7000\ntls-port 7000\ntls-cert-file c\ntls-key-file k\ntls-ca-cert-file a", "fatal same-port: tls-port 7000"],
    ["tls-replication yes\ntls-cert-file c\ntls-key-file k", "fatal tls-no-ca: tls-replication yes"],
    [
      "tls-protocols TLSv1.4\ntls-port 1\ntls-cert-file c\ntls-key-file k\ntls-auth-clients no",
      "fatal tls-protocols: TLSv1.4",
    ],
    [
      "tls-ciphers NOSUCH:x\ntls-port 1\ntls-cert-file c\ntls-key-file k\ntls-auth-clients no",
      "fatal tls-ciphers: NOSUCH:x",
    ],
    ["tls-ciphers HIGH:!aNULL\ntls-port 1\ntls-cert-file c\ntls-key-file k\ntls-auth-clients no", undefined],
    ["tls-cert-file c\ntls-key-file k", "useless tls-unused: tls-cert-file c"],
    ["aclfile /u.acl\nuser a on", "fatal acl-and-users: user a on"],
    ["user a on +nosuch", "fatal user-rule: +nosuch"],
    ["masteruser r", "useless user-without-password: masteruser r"],
    ["replicaof h 0", "silent replica-port: 0"],
    ['replica-announce-ip ""', 'useless empty-announce: replica-announce-ip ""'],
    ["cluster-enabled yes\nreplicaof h 1", "fatal replica-in-cluster: replicaof h 1"],
    ["maxmemory 100", "silent tiny-maxmemory: 100"],
    ["timeout 1\ntimeout 2", "repeat repeated: timeout 2"],
    [
      "client-output-buffer-limit slave 0 0 0\nclient-output-buffer-limit replica 0 0 0",
      "repeat repeated: client-output-buffer-limit replica 0 0 0",
    ],
    ["slave-read-only yes", "deprecated old-name: slave-read-only"],
    ["lua-replicate-commands yes", "useless no-op: lua-replicate-commands yes"],
    ["requirepass x\nuser default off", "useless password-ignored: requirepass x"],
    ["foo.bar 1", "fatal unknown-directive: foo.bar"],
    ["requirepass ${PASS}", "note literal-placeholder: ${PASS}"],
  ])("%s", (text, expected) => {
    const result = load(text);
    expect(said(result)).toEqual(expected === undefined ? [] : [expected]);
    expect(result.loads).toBe(expected?.startsWith("fatal") !== true);
  });

  it("an incomplete TLS setup says each file", () => {
    const codes = load("tls-port 7000").findings.map((f) => f.code);
    expect(codes).toEqual(["tls-incomplete", "tls-incomplete", "tls-no-ca"]);
  });

  it("a TLS port that is the default of the other is opened twice, unless a command line says otherwise", () => {
    const text = "tls-port 6379\ntls-cert-file c\ntls-key-file k\ntls-ca-cert-file a";
    const alone = load(text);
    expect(alone.findings.map((f) => [f.code, f.certain])).toEqual([["same-port", false]]);
    expect(alone.loads).toBe("unknown");
    expect(load(text, { arguments: argv("redis.conf") }).loads).toBe(false);
    expect(said(load(text, { arguments: argv("redis.conf", "--port", "0") }))).toEqual([]);
  });

  it("say what is right where it is certain", () => {
    const right = (text: string) => load(text).findings.map((f) => f.right);
    expect(right("appendonly true")).toEqual(["yes"]);
    expect(right("appendonly off")).toEqual(["no"]);
    expect(right("maxmemory-policy allkeys_lru")).toEqual(["allkeys-lru"]);
    expect(right("maxmemmory 1gb")).toEqual(["maxmemory"]);
    expect(right("timeout 5 # x")).toEqual([""]);
  });

  it("name the server's own error", () => {
    expect(load("port -1").findings[0]).toMatchObject({
      server: "argument must be between 0 and 65535 inclusive",
      line: 1,
      directive: "port",
    });
  });

  it("repeats that mean it are silent: an include, a script, an argument, a conditional", () => {
    const include = () => [documentOf("b.conf", "timeout 1\n")];
    expect(said(load("include b.conf\ntimeout 2", { include }))).toEqual([]);
    expect(said(load("timeout 1", { arguments: argv("redis.conf", "--timeout", "2") }))).toEqual([]);
    expect(said(load("{{ if x }}\ntimeout 1\n{{ else }}\ntimeout 2\n{{ end }}", { templates: true }))).toEqual([]);
  });
});

describe("versions", () => {
  it.each([
    ["redis-6.2", "enable-debug-command local", "fatal unknown-directive: enable-debug-command"],
    ["redis-7.0", "enable-debug-command local", undefined],
    ["redis-6.2", "include /etc/conf.d/*.conf", "fatal include-glob: /etc/conf.d/*.conf"],
    ["redis-6.2", "save 900", "silent ignored-arguments: save 900"],
    ["redis-6.2", "save 15m 1", "silent misread-value: 15m"],
    ["redis-6.2", "unixsocketperm 999", "silent misread-value: 999"],
    ["redis-6.2", "client-output-buffer-limit normal x 0 0", "silent misread-value: x"],
    ["redis-6.2", "bind", "fatal arity: bind"],
    ["redis-6.2", "foo.bar 1", "fatal unknown-directive: foo.bar"],
    ["redis-6.2", "user a on\nuser a off", undefined],
    ["redis-7.0", "user a on\nuser a off", "fatal user-rule: a"],
    ["valkey-9.1", 'requirepass "abc"def', undefined],
    ["redis-8.0", "nosuch 1", "fatal unknown-directive: nosuch"],
    ["redis-8.0", "search-timeout 500", undefined],
    ["valkey-8.0", 'cluster-config-file ""', 'fatal bad-value: ""'],
    ["redis-7.2", 'cluster-config-file ""', undefined],
    ["valkey-9.1", "primaryauth x", undefined],
    ["redis-7.2", "primaryauth x", "fatal unknown-directive: primaryauth"],
    ["redis-7.0-debian", "activedefrag yes", "fatal bad-value: yes"],
  ])("%s: %s", (server, text, expected) => {
    expect(said(load(text, { server }))).toEqual(expected === undefined ? [] : [expected]);
  });

  it("Redis 8 keeps an unknown directive for a module", () => {
    expect(load("nosuch 1", { server: "redis-8.0" }).findings[0]!.server).toMatch(/^Module Configuration detected/);
    const withModule = load("loadmodule /m.so\nnosuch 1", { server: "redis-8.0" });
    expect(withModule.findings).toEqual([]);
    expect(withModule.loads).toBe("unknown");
  });
});

describe("includes", () => {
  const files: Record<string, string> = {
    "b.conf": "timeout 9\nmaxmemory 2mb\n",
    "loop.conf": "include loop.conf\n",
    "c1.conf": "timeout 1",
    "c2.conf": "maxmemory 1mb\n",
  };
  const include = (path: string) =>
    path.includes("*")
      ? Object.keys(files)
          .filter((f) => /^c\d/.test(f) && path === "c*.conf")
          .map((f) => documentOf(f, files[f]!))
      : files[path] === undefined
        ? undefined
        : [documentOf(path, files[path])];

  it("act where they stand", () => {
    expect(load("include b.conf\ntimeout 3", { include }).values.get("timeout")).toMatchObject({ value: "3" });
    expect(load("timeout 3\ninclude b.conf", { include }).values.get("timeout")).toMatchObject({ value: "9" });
  });

  it("that are not known make absent values unknown, and set ones stay", () => {
    const { values, loads } = load("port 7000\ninclude /elsewhere.conf", { include });
    expect(values.get("port")).toMatchObject({ state: "known", value: "7000" });
    expect(values.get("timeout")).toMatchObject({ state: "unknown", why: "include", set: false });
    expect(values.get("masterauth").state).toBe("unknown");
    expect(loads).toBe(true);
  });

  it("that are known to be missing are fatal; a pattern without a match is fine", () => {
    const file = () => ({ exists: false });
    expect(said(load("include nofile.conf", { include, file }))).toEqual(["fatal include-missing: nofile.conf"]);
    expect(load("include d*.conf", { include, file }).loads).toBe(true);
  });

  it("of a pattern are glued where a file does not end its last line", () => {
    const result = load("include c*.conf", { include });
    expect(said(result)).toEqual(["silent glued-lines: timeout 1", "fatal arity: timeout 1"]);
    expect(result.findings[1]!.at.source.file).toBe("c1.conf");
  });

  it("that include themselves end", () => {
    const document = documentOf("loop.conf", "include loop.conf\n");
    const result = loadConf({ server: "redis-7.2", mode: "data", documents: document, include: () => [document] });
    expect(result.findings.map((f) => f.code)).toEqual(["include-loop"]);
    const again = loadConf({
      server: "redis-7.2",
      mode: "data",
      documents: document,
      include: () => [documentOf("loop.conf", "include loop.conf\ninclude loop.conf\n")],
    });
    expect(again.loads).not.toBe(true);
  });
});

describe("values", () => {
  it("are known, from their line or from the default", () => {
    const { values } = load("maxmemory 1gb\nslave-announce-ip h\nsave 900 1\nsave 60 5");
    expect(values.get("maxmemory")).toMatchObject({ state: "known", value: "1073741824", from: "file" });
    expect(values.get("replica-announce-ip")).toMatchObject({ state: "known", value: "h" });
    expect(values.get("save")).toMatchObject({ value: "900 1 60 5" });
    expect(values.get("port")).toMatchObject({ state: "known", value: "6379", from: "default", at: undefined });
    expect(values.get("masterauth")).toEqual({ state: "absent" });
    expect(values.get("nosuch")).toEqual({ state: "absent" });
    expect([values.flag("appendonly"), values.number("maxmemory"), values.isSet("requirepass")]).toEqual([
      false,
      1073741824,
      false,
    ]);
  });

  it("of a Sentinel have its own defaults", () => {
    const { values } = load("", { mode: "sentinel" });
    expect(values.get("port")).toMatchObject({ value: "26379" });
    expect(values.get("protected-mode")).toMatchObject({ value: "no" });
  });

  it("of a placeholder are set and unknown", () => {
    const { values, loads } = load("masterauth ${PASS}\nport ${PORT}\nsave ${SAVE}\nsave 60 5", { templates: true });
    expect(values.get("masterauth")).toMatchObject({ state: "unknown", why: "placeholder", set: true });
    expect(values.isSet("masterauth")).toBe(true);
    expect(values.number("port")).toBeUndefined();
    expect(values.get("save").state).toBe("unknown");
    expect(loads).toBe(true);
  });

  it("of a line that may not be there are unknown", () => {
    const { values } = load("{{ if .tls }}\ntls-port 6379\n{{ end }}\nport 0", { templates: true });
    expect(values.get("tls-port")).toMatchObject({ state: "unknown", why: "conditional" });
  });

  it("absent ones are unknown where a template has a gap", () => {
    const { values } = load("port 0\n{{ .Values.extra }}", { templates: true });
    expect(values.get("tls-port")).toMatchObject({ state: "unknown", why: "template" });
    expect(values.complete).toBe(false);
  });

  it("a template's gaps and placeholders raise no alarm", () => {
    const result = load("port 0\nmasteruser r\nrequirepass ${A} ${B}\nsave ${SAVE}\n${EXTRA}", { templates: true });
    expect(said(result)).toEqual([]);
  });

  it("but a comment behind a placeholder does", () => {
    expect(said(load("requirepass ${A} # x", { templates: true }))).toEqual(["fatal trailing-comment: # x"]);
  });
});

describe("scripts", () => {
  const at = new Source("start.sh", "echo").span(0, 4);
  const lines = (text: string) => documentOf("start.sh", text, true).lines;
  const withEdits = (text: string, ...edits: ConfEdit[]) => load(text, { edits });

  it("append", () => {
    const { values } = withEdits("port 1", { kind: "append", statements: lines("port 2\nmasterauth $PASS"), at });
    expect(values.get("port")).toMatchObject({ value: "2", from: "script" });
    expect(values.get("masterauth")).toMatchObject({ state: "unknown", set: true });
  });

  it("append perhaps", () => {
    const { values } = withEdits("port 1", { kind: "append", statements: lines("port 2"), at, conditional: true });
    expect(values.get("port")).toMatchObject({ state: "unknown", why: "conditional" });
  });

  it("put lines in the place of others", () => {
    const rewrite = (line: string) => (line.startsWith("slave-priority") ? lines("slave-priority 5") : undefined);
    const text = "slave-priority 1\nport 7";
    const { values } = withEdits(text, { kind: "lines", rewrite, at });
    expect(values.get("replica-priority")).toMatchObject({ value: "5", from: "script" });
    expect(values.get("port")).toMatchObject({ value: "7", from: "file" });
    const perhaps = withEdits(text, { kind: "lines", rewrite, at, conditional: true }).values;
    expect(perhaps.get("replica-priority")).toMatchObject({ state: "unknown", why: "conditional" });
    const gone = withEdits("bind 1.2.3.4", { kind: "lines", rewrite: () => [], at }).values;
    expect(gone.get("bind")).toMatchObject({ from: "default" });
  });

  it("fill placeholders in", () => {
    const known = withEdits("replica-announce-ip %IP%", { kind: "substitute", find: "%IP%", value: "1.2.3.4", at });
    expect(known.values.get("replica-announce-ip")).toMatchObject({ state: "known", value: "1.2.3.4" });
    const unknown = withEdits("replica-announce-ip %IP%", { kind: "substitute", find: "%IP%", at });
    expect(unknown.values.get("replica-announce-ip")).toMatchObject({ state: "unknown", set: true });
  });

  it("do something unknown: absent becomes unknown, set stays", () => {
    const { values } = withEdits("port 1", { kind: "unknown", at });
    expect(values.get("port")).toMatchObject({ state: "known", value: "1" });
    expect(values.get("masterauth")).toMatchObject({ state: "unknown", why: "script", at });
    const some = withEdits("port 1", { kind: "unknown", directives: ["port", "masterauth"], at }).values;
    expect(some.get("port").state).toBe("unknown");
    expect(some.get("requirepass").state).toBe("absent");
  });

  it("are read from the text that they write", () => {
    const source = new Source("start.sh", "port 3\n$EXTRA\n");
    const edits = editsOfText(new TextView(source), at);
    expect(edits.map((e) => e.kind)).toEqual(["append", "unknown"]);
    expect(load("", { edits }).values.get("port")).toMatchObject({ value: "3", from: "script" });
  });
});

describe("command lines", () => {
  const read = (server: string, ...words: string[]) =>
    parseServerArguments(argv(...words), server).statements.map((s) => [s.name, ...s.args.map((a) => a.value)]);

  it.each([
    [
      "redis-7.2",
      ["c.conf", "--port", "0", "--save", "900", "1"],
      [
        ["port", "0"],
        ["save", "900", "1"],
      ],
    ],
    [
      "redis-7.2",
      ["--save", "--port", "1"],
      [
        ["save", ""],
        ["port", "1"],
      ],
    ],
    [
      "redis-7.2",
      ["--port", "1", "--save"],
      [
        ["port", "1"],
        ["save", ""],
      ],
    ],
    ["redis-7.2", ["--requirepass", "--x"], [["requirepass", "--x"]]],
    ["redis-6.2", ["--requirepass", "--x"], [["requirepass"], ["x"]]],
    ["redis-7.2", ["c.conf", "--sentinel", "--port", "1"], [["sentinel"], ["port", "1"]]],
    ["redis-7.2", ["--port 6380"], [["port", "6380"]]],
    ["redis-7.2", ["c.conf", "port", "9"], [["port", "9"]]],
    ["redis-7.2", ["c.conf", "--bind", "a b"], [["bind", "a b"]]],
  ])("%s %j", (server, words, expected) => {
    expect(read(server, ...words)).toEqual(expected);
  });

  it("name the file and the mode", () => {
    const { file, sentinel, stdin, starts } = parseServerArguments(argv("/c.conf", "--sentinel", "-"), "redis-7.2");
    expect([file?.value, sentinel, stdin, starts]).toEqual(["/c.conf", true, true, true]);
    expect(parseServerArguments(argv("--version"), "redis-7.2").starts).toBe(false);
  });

  it("override the file", () => {
    const { values } = load("port 1\nappendonly yes", {
      arguments: argv("c.conf", "--port", "0", "--masterauth", "$(PASS)"),
    });
    expect(values.get("port")).toMatchObject({ value: "0", from: "argument" });
    expect(values.get("masterauth")).toMatchObject({ state: "unknown", set: true });
    expect(values.get("appendonly")).toMatchObject({ value: "yes", from: "file" });
  });

  it("are judged like lines", () => {
    expect(load("", { arguments: argv("--nosuch", "1") }).findings.map((f) => f.code)).toEqual(["unknown-directive"]);
  });
});

describe("users", () => {
  it("of an ACL file are loaded where its text is known", () => {
    const file = () => ({ exists: true, text: "user a on >p +ping\n" });
    const open = load("aclfile u.acl\nrequirepass x", { file });
    expect(said(open)).toEqual(["silent open-default-user: requirepass x"]);
    expect(open.users.source).toBe("file");
    const bad = load("aclfile u.acl", { file: () => ({ exists: true, text: "user a on +nosuch\n" }) });
    expect(bad.findings.map((f) => [f.code, f.class])).toEqual([["acl-file", "fatal"]]);
    expect(load("aclfile u.acl", { file: () => ({ exists: false }) }).loads).toBe(false);
    expect(load("aclfile u.acl").loads).toBe(true);
  });

  it("of lines are loaded with their places and placeholders", () => {
    const result = load("user a on >${PASS} ~* +get", { templates: true });
    expect(result.loads).toBe(true);
    expect([...(result.users.load?.users.keys() ?? [])].sort()).toEqual(["a", "default"]);
  });

  it("come from scripts and command lines too", () => {
    const result = load("", { arguments: argv("--user", "a on +nosuch") });
    expect(result.findings.map((f) => f.code)).toEqual(["user-rule"]);
  });
});
