// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text
import { beforeAll, describe, expect, it } from "vitest";
import { exposedSecrets, type RedisCall, redisCallsOf, serverStarts, show } from "../../src/model/shell/index.js";
import { at, command, prepare, program } from "./facts.js";

beforeAll(prepare);

function call(text: string): RedisCall {
  const calls = redisCallsOf(program(text));
  expect(calls, text).toHaveLength(1);
  return calls[0]!;
}

function sent(text: string): string[] | undefined {
  return call(text).commands?.map((words) => words.map(show).join(" "));
}

describe("redis-cli", () => {
  it("has its options by meaning", () => {
    const found = call(
      'timeout 5 redis-cli -h "$H" -p 6379 --tls --cacert /ca --cert /c --key /k --sni s --user probe --no-auth-warning -e ping',
    );
    expect([found.host, found.port, found.cacert, found.cert, found.key, found.sni].map((a) => show(a!))).toEqual([
      "${H}",
      "6379",
      "/ca",
      "/c",
      "/k",
      "s",
    ]);
    expect(found).toMatchObject({ tls: true, insecure: false, exitOnError: true, askpass: false, uncertain: false });
    expect(show(found.user!)).toBe("probe");
    expect(found.commands?.map((c) => c.map(show))).toEqual([["ping"]]);
  });
  it("is plain without --tls", () => {
    expect(call("redis-cli ping").tls).toBe(false);
    expect(call("redis-cli --tls --insecure ping")).toMatchObject({ tls: true, insecure: true });
  });
  it("does not decide what unknown words may say", () => {
    expect(call("redis-cli $OPTIONS ping")).toMatchObject({ tls: undefined, uncertain: true });
    expect(call('redis-cli -h "$H" ping')).toMatchObject({ tls: false, uncertain: false });
    expect(call("OPTIONS='--tls --cacert /ca'; redis-cli $OPTIONS ping")).toMatchObject({
      tls: true,
      uncertain: false,
    });
    expect(call('A=(-p 1); A+=(--tls); redis-cli "${A[@]}" ping')).toMatchObject({ tls: true, uncertain: false });
  });
  it.each<[string, string | undefined, string | undefined, string | undefined, string | undefined, boolean]>([
    ["redis://h:1/0", "h", "1", undefined, undefined, false],
    ["rediss://h", "h", undefined, undefined, undefined, true],
    ["redis://u:$P@h:1", "h", "1", "u", "${P}", false],
    ["redis://:secret@h", "h", undefined, undefined, "secret", false],
    ["redis://u@h", "h", undefined, "u", undefined, false],
    ["redis://$U:$P@$H", undefined, undefined, "${U}", "${P}", false],
  ])("-u %s", (uri, host, port, user, password, tls) => {
    const found = call(`redis-cli -u "${uri}" ping`);
    expect(found.host?.known).toBe(host);
    expect(found.port?.known).toBe(port);
    expect(found.user === undefined ? undefined : show(found.user)).toBe(user);
    expect(found.auth === undefined ? undefined : show(found.auth.value)).toBe(password);
    expect(found.tls).toBe(tls);
  });
  it.each<[string, string | undefined, string | undefined]>([
    ["redis-cli -a x ping", "argument", "x"],
    ['redis-cli --pass "$P" ping', "argument", "${P}"],
    ["redis-cli --pass=x ping", "argument", "x"],
    ['REDISCLI_AUTH="$P" redis-cli ping', "inline", "${P}"],
    ["REDISCLI_AUTH=$(cat /secret/p) redis-cli ping", "inline", "$(cat /secret/p)"],
    ["env REDISCLI_AUTH=x redis-cli ping", "inline", "x"],
    ['export REDISCLI_AUTH="$(cat /secret/p)"; redis-cli ping', "exported", "$(cat /secret/p)"],
    ['[ -n "$P" ] && export REDISCLI_AUTH=$P; redis-cli ping', "exported", "${REDISCLI_AUTH}"],
    ["redis-cli ping", undefined, undefined],
  ])("%s", (text, source, value) => {
    const { auth } = call(text);
    expect(auth?.source).toBe(source);
    expect(auth === undefined ? undefined : show(auth.value)).toBe(value);
  });
  it("knows a secret that comes from a file", () => {
    const { auth } = call("REDISCLI_AUTH=$(cat /secret/p) redis-cli ping");
    const hole = auth!.value.pieces[0];
    expect(typeof hole === "object" && hole.file !== undefined ? show(hole.file) : undefined).toBe("/secret/p");
  });
  it.each<[string, string[] | undefined]>([
    ["redis-cli ping", ["ping"]],
    ["redis-cli -h 127.0.0.1 | grep PONG", []],
    ["redis-cli", []],
    ["echo PING | redis-cli", ["PING"]],
    ["printf 'PING\\nINFO replication\\n' | redis-cli", ["PING", "INFO replication"]],
    ["redis-cli <<< PING", ["PING"]],
    ["redis-cli <<E\nAUTH u $P\nset a 'b c'\nE\n", ["AUTH u ${P}", "set a b c"]],
    ["redis-cli < /f", undefined],
    ["cat /f | redis-cli", undefined],
    ["x | redis-cli", undefined],
    ["echo v | redis-cli -x set k", ["set k …"]],
    ["redis-cli --scan --pattern 'a*'", ["SCAN"]],
    ["redis-cli --latency", ["PING"]],
    ["redis-cli --version", []],
    ["redis-cli $OPTS", undefined],
    ["redis-cli -n 1 config get 'a b'", ["config get a b"]],
    ["redis-cli sentinel get-master-addr-by-name $M", ["sentinel get-master-addr-by-name ${M}"]],
    ["redis-cli --cluster check h:1", undefined],
    ["/usr/local/bin/redis-cli ping", ["ping"]],
    ["valkey-cli ping", ["ping"]],
    ["kubectl exec redis-0 -c redis -- redis-cli ping", ["ping"]],
    ["sh -c 'redis-cli ping'", ["ping"]],
    ["su-exec redis redis-cli ping", ["ping"]],
  ])("%s sends", (text, expected) => {
    expect(sent(text)).toEqual(expected);
  });
  it("says where commands come from", () => {
    expect(call("redis-cli").input).toBe("interactive");
    expect(call("redis-cli | grep x").input).toBe("interactive");
    expect(call("x | redis-cli").input).toBe("stdin");
    expect(call("redis-cli ping").input).toBe("arguments");
  });
  it.each<[string, string[]]>([
    ["redis-cli ping | grep -q PONG", ["grep PONG"]],
    ["redis-cli ping | tr -d '\\r' | grep PONG", ["other tr", "grep PONG"]],
    ['[ "$(redis-cli ping)" = PONG ]', ["test compare"]],
    ['R=$(redis-cli ping); [ "$R" != PONG ] && exit 1', ["test compare"]],
    ['R=$(redis-cli ping) || R=; if [ -n "$R" ]; then x; fi', ["test empty"]],
    ['R=$(redis-cli ping); echo "$R" | grep -q PONG', ["grep PONG"]],
    ["redis-cli ping", []],
    ["redis-cli ping > /dev/null", []],
    ['f() { redis-cli ping; }; [ "$(f)" = PONG ]', ["test compare"]],
  ])("%s is looked at by", (text, expected) => {
    expect(
      call(text).consumers.map((c) =>
        c.kind === "grep"
          ? `grep ${c.grep.patterns.map(show).join()}`
          : c.kind === "test"
            ? `test ${c.test.kind}`
            : `other ${c.invocation.name}`,
      ),
    ).toEqual(expected);
  });
});

describe("servers", () => {
  function starts(text: string): unknown[] {
    return serverStarts(program(text)).map((s) => [
      s.mode,
      s.config === undefined ? undefined : show(s.config),
      s.overrides.map((o) => [o.name, ...o.values.map(show)].join(" ")),
      s.uncertain,
    ]);
  }
  it.each<[string, unknown[]]>([
    ["redis-server /c", [["server", "/c", [], false]]],
    [
      "exec redis-server /c --port 0 --tls-port 6379 --save ''",
      [["server", "/c", ["port 0", "tls-port 6379", "save "], false]],
    ],
    ["redis-server --port 0", [["server", undefined, ["port 0"], false]]],
    ["redis-server /c --sentinel", [["sentinel", "/c", [], false]]],
    ["redis-server /c --sentinel --port 26379", [["sentinel", "/c", ["port 26379"], false]]],
    ['redis-sentinel "$C"', [["sentinel", "${C}", [], false]]],
    ["exec docker-entrypoint.sh redis-server /c", [["server", "/c", [], false]]],
    ["exec docker-entrypoint.sh --port 0", [["server", undefined, ["port 0"], false]]],
    ['exec redis-server "${ARGS[@]}"', [["server", undefined, [], true]]],
    [
      'ARGS=(--port 0); ARGS+=(--requirepass "$P"); exec redis-server "${ARGS[@]}"',
      [["server", undefined, ["port 0", "requirepass ${P}"], false]],
    ],
    ["redis-server /c '--port 0'", [["server", "/c", ["port 0"], false]]],
    ["redis-server - < /c", [["server", undefined, [], false]]],
    [
      "valkey-sentinel /c; keydb-server /d",
      [
        ["sentinel", "/c", [], false],
        ["server", "/d", [], false],
      ],
    ],
    ["redis-server /c --user a on '>x' --replicaof h 1", [["server", "/c", ["user a on >x", "replicaof h 1"], false]]],
    ["redis-cli ping", []],
  ])("%s", (text, expected) => {
    expect(starts(text)).toEqual(expected);
  });
  it("starts the official image with arguments only", () => {
    const made = command(["/etc/redis.conf", "--port", "0"]);
    expect(serverStarts(made)).toEqual([]);
    expect(serverStarts(made, true)).toMatchObject([
      { mode: "server", config: { known: "/etc/redis.conf" }, overrides: [{ name: "port" }] },
    ]);
  });
});

describe("secrets on command lines", () => {
  function secrets(text: string): string[] {
    return program(text)
      .invocations.flatMap((i) => exposedSecrets(i))
      .map((s) => `${s.form} ${s.what} ${show(s.value)}`);
  }
  it.each<[string, string[]]>([
    ["redis-cli -a x ping", ["option -a x"]],
    ['redis-cli -a "$P" ping', ["option -a ${P}"]],
    ["redis-cli --pass $REDIS_PASSWORD ping", ["option -a ${REDIS_PASSWORD}"]],
    ["redis-cli --pass=x ping", ["option -a x"]],
    ["redis-cli -u redis://u:x@h ping", ["option -u x"]],
    ["redis-cli auth u x", ["option AUTH x"]],
    ["redis-cli config set requirepass x", ["option CONFIG SET requirepass x"]],
    ["redis-cli acl setuser u on '>x' '~*'", ["option ACL SETUSER >x"]],
    ["redis-cli sentinel set m auth-pass x", ["option SENTINEL SET auth-pass x"]],
    ['echo "auth u $P" | redis-cli', []],
    ["redis-server /c --requirepass x --masterauth $Y", ["option --requirepass x", "option --masterauth ${Y}"]],
    ["redis-server /c --user u on '>x'", ["option --user >x"]],
    ["redis-server /c '--requirepass x'", ["option --requirepass x"]],
    ["redis-server /c --sentinel auth-pass m x", ["option --sentinel auth-pass x"]],
    ["redis-server /c --requirepass ''", []],
    ["REDISCLI_AUTH=x redis-cli ping", ["inline REDISCLI_AUTH x"]],
    ['REDISCLI_AUTH="$P" redis-cli ping', []],
    ["REDISCLI_AUTH=$(cat /f) redis-cli ping", []],
    ['env REDISCLI_AUTH="$P" redis-cli ping', ["inline REDISCLI_AUTH ${P}"]],
    ["timeout 5 redis-cli -a x ping", ["option -a x"]],
    ['sh -c "redis-cli -a $P ping"', ["option -a ${P}"]],
    ["kubectl exec p -- redis-cli -a x ping", ["option -a x"]],
    ["f() { redis-cli -a $1 ping; }; f x", ["option -a x"]],
    ["f() { redis-cli -a $1 ping; }", ["option -a ${1}"]],
    ["x=$(redis-cli -a y ping)", ["option -a y"]],
    ['sed -i "s/__P__/$REDIS_PASSWORD/" /f', ["argument REDIS_PASSWORD s/__P__/${REDIS_PASSWORD}/"]],
    ["curl -u a:b https://h", ["option -u a:b"]],
    ['curl -H "Authorization: Bearer $T" https://h', ["option -H Authorization: Bearer ${T}"]],
    ["redis_exporter --redis.password=x", ["option --redis.password x"]],
    ['tool --token "$T"', ["option --token ${T}"]],
    ["kubectl create secret generic s --from-literal=password=x", ["option --from-literal --from-literal=password=x"]],
    ['P=$(echo "$REDIS_PASSWORD" | sed s/a/b/); sed -i "s/X/$P/" /f', ["argument REDIS_PASSWORD s/X/$(…)/"]],
    [
      'sed -i "s/X/$(cat /run/secrets/password)/" /f',
      ["argument /run/secrets/password s/X/$(cat /run/secrets/password)/"],
    ],
    // no secrets
    ['x=$(redis-cli get "$SESSION_TOKEN"); tool "$x"', ["argument SESSION_TOKEN ${SESSION_TOKEN}"]],
    ["grep -a x /f", []],
    ["ls -a", []],
    ["test -a /f", []],
    ["getopts a:b o -a x", []],
    ["curl -a x https://h", []],
    ['echo "requirepass $REDIS_PASSWORD" >> /f', []],
    ["printf '%s' \"$REDIS_PASSWORD\" > /f", []],
    ['[ -n "$REDIS_PASSWORD" ] && x', []],
    ['cat "$REDIS_PASSWORD_FILE"', []],
    ["redis-cli --no-auth-warning --user u ping", []],
    ["redis-cli --askpass ping", []],
    ["redis-cli --tls --key /k ping", []],
    ["redis-server /c --tls-auth-clients $TLS_AUTH_CLIENTS", []],
    ["grep -q token /f", []],
    ["grep --token x", []],
  ])("%s", (text, expected) => {
    expect(secrets(text)).toEqual(expected);
  });
  it("shows the place of the value", () => {
    const made = command(["redis-server", "/c", "--requirepass", "$(PW)"]);
    const [secret] = made.invocations.flatMap((i) => exposedSecrets(i));
    expect(at(secret!.arg.place)).toBe("$(PW)");
    expect(secret!.form).toBe("option");
  });
  it("counts what the kubelet puts into a script, whatever the script does with it", () => {
    const made = command(["sh", "-c", 'REDISCLI_AUTH="$(REDIS_PASSWORD)" redis-cli ping; echo $(USER_TOKEN)']);
    expect(made.invocations.flatMap((i) => exposedSecrets(i)).map((s) => `${s.form} ${s.what}`)).toEqual([
      "argument REDIS_PASSWORD",
      "argument USER_TOKEN",
    ]);
  });
  it("takes the host's word for which variables are secret", () => {
    const [invocation] = program('tool "$X" "$REDIS_PASSWORD"').invocations;
    expect(exposedSecrets(invocation!, (name) => name === "X").map((s) => s.what)).toEqual(["X"]);
  });
});
