// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text
import { beforeAll, describe, expect, it } from "vitest";
import {
  contentOf,
  copyOnce,
  guardsOf,
  isDead,
  redisCallsOf,
  runsBefore,
  show,
  succeedsBefore,
  waitsOf,
} from "../../src/model/shell/index.js";
import { at, command, commands, commandText, prepare, program, scripts } from "./facts.js";

beforeAll(prepare);

describe("commands that never run", () => {
  it.each<[string, string]>([
    ["a; exit 0; b; c", "b|c"],
    ["a; exec server; b", "b"],
    ["exec 2>&1; a", ""],
    ["if x; then exit 1; fi; a", ""],
    ["if x; then exit 1; else exit 0; fi; a", "a"],
    ["if x; then a; exit 1; b; fi; c", "b"],
    ["case $x in a) exit;; *) exec server;; esac; a", "a"],
    ["case $x in a) exit;; esac; a", ""],
    ["x || exit 1; a", ""],
    ["x && exit; a", ""],
    ["(exit 1); a", ""],
    ["exit 1 & a", ""],
    ["exit 1 | a; b", ""],
    ["x=$(exit 1); a", ""],
    ["sh -c 'exit 1; a'; b", "a"],
    ["f() { a; return; b; }; f; c", "b"],
    ["f() { exit; }; f; a", "a"],
    ["while x; do a; break; b; done; c", "b"],
    ["{ a; exit 1; } >&2", ""],
    ['{ a; exit 1; b; } >"$(d)"; c', "b|c"],
    ["if x; then a; exit; fi >/dev/null; b", ""],
    ["trap 'a' EXIT; exit; b", "b"],
    ["if false; then a; fi; if [ 1 = 2 ]; then b; fi; case x in y) c;; esac", "a|b|c"],
  ])("%s", (text, dead) => {
    const names = program(text)
      .invocations.filter((i) => isDead(i))
      .map((i) => i.name);
    expect(names.join("|")).toBe(dead);
  });
});

describe("values of variables", () => {
  it.each([
    ["A=/data; cat $A/x", "cat /data/x"],
    ['A=/data\nB=$A/x\ncat "$B.tmp"', "cat /data/x.tmp"],
    ["A=1; if x; then A=1; fi; cat $A", "x|cat 1"],
    ["A=1; if x; then A=2; fi; cat $A", "x|cat ${A}"],
    ["A=1; if x; then A=2; exit 1; fi; cat $A", "x|exit 1|cat 1"],
    ["A=1; x && A=2; cat $A", "x|cat ${A}"],
    ["x || A=2; cat $A", "x|cat ${A}"],
    ["A=1; while x; do cat $A; A=2; done", "x|cat ${A}"],
    ["A=1; (A=2); cat $A", "cat 1"],
    ["A=1; A=2 | x; cat $A", "x|cat 1"],
    ["A=1; read A; cat $A", "read A|cat ${A}"],
    ["A=1; . /lib; cat $A", ". /lib|cat ${A}"],
    ["A=1; unset A; cat x$A", "unset A|cat x"],
    ["cat ${A:-b}", "cat ${A}"],
    ["A=; cat ${A:-b}", "cat b"],
    ["A=x; cat ${A:-b} ${A:+c}", "cat x c"],
    [": ${A:=b}; cat $A", ": ${A}|cat ${A}"],
    ["A=redis-0; cat ${A##*-} ${A%-*} ${#A}", "cat 0 redis 7"],
    ["A='a b'; cat $A \"$A\"", "cat a b a b"],
    ["A=$(echo x); cat $A", "echo x|cat x"],
    ["A=$(printf '%s' \"$B\"); cat $A", "printf %s ${B}|cat ${B}"],
    ['A=$(cat /f); cat "$A"', "cat /f|cat $(cat /f)"],
    ['A="$(</f)"; cat "$A"', "cat $(… /f)"],
    ["A=60; B=$((A / 5)); cat $B $((B + 1))", "cat 12 13"],
    ['A=(-h "$H"); A+=(-p 1); cat "${A[@]}" x', "cat -h ${H} -p 1 x"],
    ["for h in a b; do cat $h; done", "cat ${h}"],
    ["for h in a; do cat $h; done", "cat a"],
    ["export A=1; local B=2; readonly C; cat $A$B", "export A=1|local B=2|readonly C|cat 12"],
    ['set -- a b; cat $1 "$@"; shift; cat $1', "set -- a b|cat a a b|shift|cat b"],
    ["case $x in a) A=1;; *) A=1;; esac; cat $A", "cat 1"],
    ["case $x in a) A=1;; b) A=1;; esac; cat x$A", "cat x${A}"],
  ])("%s", (text, expected) => {
    expect(
      commands(program(text))
        .filter((line) => line !== "")
        .join("|"),
    ).toBe(expected);
  });

  it("splits an unquoted value and keeps a quoted one", () => {
    const made = program('CLI="redis-cli -p 1"; $CLI ping; "$CLI" ping');
    expect(made.invocations.filter((i) => i.words.length > 0).map((i) => i.command.length)).toEqual([4, 2]);
    expect(made.invocations.find((i) => i.words.length > 0)!.name).toBe("redis-cli");
  });

  it("keeps what a variable may hold", () => {
    const made = program('if x; then A=1; else A=2; fi; cat "$A"');
    const hole = made.invocations[made.invocations.length - 1]!.command[1]!.pieces[0];
    expect(typeof hole === "object" ? hole.options?.map(show) : undefined).toEqual(["1", "2"]);
  });

  it("asks the environment", () => {
    const env = (name: string) => (name === "A" ? "/data" : name === "B" ? null : undefined);
    expect(commands(program("cat $A/x$B ${B:-y} $C", { env }))).toEqual(["cat /data/x y ${C}"]);
  });
});

describe("functions", () => {
  it("are put in where they are called, with their arguments", () => {
    expect(commands(program('f() { cat "$1" $2; }\nf a b\nf c'))).toEqual(["cat a b", "cat c"]);
  });
  it("set variables of the script, and keep their locals", () => {
    expect(
      commands(program("A=1; B=1; f() { local A=2; B=3; }; f; cat $A $B")).filter((line) => line.startsWith("cat")),
    ).toEqual(["cat 1 3"]);
  });
  it("are listed when nobody calls them", () => {
    const made = program("f() { cat x; }\ny");
    expect(made.invocations.map((i) => [commandText(i), i.reached, i.inFunction])).toEqual([
      ["y", true, undefined],
      ["cat x", false, "f"],
    ]);
  });
  it("may call each other, not without end", () => {
    const made = program("f() { g; cat f; }; g() { f; }; f");
    expect(made.complete).toBe(false);
    expect(commands(made)).toEqual(["cat f"]);
  });
  it("with two definitions are not decided", () => {
    const made = program("if x; then f() { cat 1; }; else f() { cat 2; }; fi; f");
    expect(made.complete).toBe(false);
    expect(commands(made)).toEqual(["x", "f", "cat 1", "cat 2"]);
  });
  it("give their redirections to their commands", () => {
    const made = program("f() { echo a; }; f > /x");
    expect(made.invocations[0]!.redirects.map((r) => [r.op, show(r.target!)])).toEqual([[">", "/x"]]);
  });
});

describe("wrappers", () => {
  it.each([
    ["exec redis-server /c", "redis-server /c", "exec"],
    ["exec su-exec redis redis-server /c", "redis-server /c", "exec,su-exec"],
    ["gosu redis:redis redis-server", "redis-server", "gosu"],
    ["timeout 5 redis-cli ping", "redis-cli ping", "timeout"],
    ["timeout -s 3 -k 1 5 redis-cli ping", "redis-cli ping", "timeout"],
    ["timeout --signal=KILL 5s redis-cli ping", "redis-cli ping", "timeout"],
    ["timeout -t 5 redis-cli ping", "redis-cli ping", "timeout"],
    ['env A=1 B="$C" redis-cli ping', "redis-cli ping", "env"],
    ["nice -n 10 ionice -c3 redis-cli ping", "redis-cli ping", "nice,ionice"],
    ["tini -s -- /usr/bin/redis-sentinel /c", "/usr/bin/redis-sentinel /c", "tini"],
    ["/usr/local/bin/docker-entrypoint.sh redis-server /c", "redis-server /c", "docker-entrypoint.sh"],
    ["flock -n 9", "flock -n 9", ""],
    ["flock -n /lock cmd", "cmd", "flock"],
    ["exec 9>/lock", "exec", ""],
    ["command -v redis-cli", "command -v redis-cli", ""],
    ["xargs -n 1 redis-cli -h", "redis-cli -h", "xargs"],
    ["nohup redis-cli x", "redis-cli x", "nohup"],
    ["setpriv --reuid redis --clear-groups redis-cli", "redis-cli", "setpriv"],
  ])("%s", (text, inner, wrappers) => {
    const [invocation] = program(text).invocations;
    expect(commandText(invocation!)).toBe(inner);
    expect(invocation!.wrappers.map((w) => w.name).join()).toBe(wrappers);
  });
  it("have their time limit and their environment", () => {
    const [invocation] = program('timeout -s 3 $T env REDISCLI_AUTH="$P" redis-cli ping').invocations;
    expect(show(invocation!.wrappers[0]!.timeout!)).toBe("${T}");
    expect(invocation!.environment.map((e) => [e.name, show(e.value)])).toEqual([["REDISCLI_AUTH", "${P}"]]);
  });
  it("replace the shell with exec only", () => {
    expect(program("exec a; exec 9>b; c").invocations.map((i) => i.replaces)).toEqual([true, false, false]);
  });
});

describe("argument vectors", () => {
  it("without a shell are one command", () => {
    const made = command(["redis-server", "/c.conf", "--requirepass", "$(PW)", "$$(X)"]);
    expect(commands(made)).toEqual(["redis-server /c.conf --requirepass $(PW) $(X)"]);
    expect(at(made.invocations[0]!.command[3]!.place)).toBe("$(PW)");
  });
  it("with sh -c have the script, in the file's own places", () => {
    const made = command(["/bin/sh", "-ec", 'A=1\nredis-cli -a $(PW) ping | grep -q "$A"']);
    expect(commands(made)).toEqual([
      '/bin/sh -ec A=1\nredis-cli -a $(PW) ping | grep -q "$A"',
      "",
      "redis-cli -a $(PW) ping",
      "grep -q 1",
    ]);
    const call = made.invocations[2]!;
    expect(at(call.place)).toBe("redis-cli -a $(PW) ping");
    expect(at(call.command[2]!.place)).toBe("$(PW)");
    expect(call.command[2]!.pieces).toMatchObject([{ kind: "variable", name: "PW", kubelet: true }]);
  });
  it("leave a command substitution alone that the kubelet does not know", () => {
    const made = command(["sh", "-c", "x $(hostname) $(A)"], { kubelet: (name) => name === "A" });
    expect(commands(made)[2]).toBe("x $(hostname) $(A)");
  });
  it("pass their further words", () => {
    const made = command(["sh", "-c", 'exec "$@"', "_", "redis-server", "/c"]);
    expect(commands(made)[1]).toBe("redis-server /c");
  });
  it("run script files that the host knows", () => {
    const files = scripts({
      "/s/a.sh": "#!/bin/sh -e\n. /s/lib.sh\nsh /s/b.sh $1\nredis-cli $X",
      "/s/lib.sh": "X=ping",
      "/s/b.sh": "cat $1",
    });
    const made = command(["sh", "/s/a.sh", "q"], { script: files });
    expect(commands(made)).toEqual(["sh /s/a.sh q", ". /s/lib.sh", "", "sh /s/b.sh q", "cat q", "redis-cli ping"]);
    expect(made.complete).toBe(true);
    expect(at(made.invocations[5]!.place)).toBe("redis-cli $X");
  });
  it("say when the script is not there", () => {
    expect(command(["sh", "-c", "x"], { read: () => undefined }).complete).toBe(false);
  });
  it("may be empty", () => {
    expect(command([""]).invocations).toHaveLength(1);
    expect(command([])).toMatchObject({ invocations: [], complete: true });
  });
});

describe("structure", () => {
  it("links pipelines", () => {
    const [a, b, c] = program("a | b | c").invocations;
    expect([a!.pipedTo, b!.pipedFrom, b!.pipedTo, c!.pipedFrom]).toEqual([b, a, c, b]);
  });
  it("gives a group's redirection to its members, as one open file", () => {
    const [a, b, c] = program("{ a; b; c > y; } > x 2>&1").invocations;
    expect(a!.redirects[0]).toBe(b!.redirects[0]);
    expect(show(c!.redirects.find((r) => r.fd === 1)!.target!)).toBe("y");
  });
  it("has the lines of here-documents with their places", () => {
    const made = program("cat <<E > f\nport 0\n  tls-port $P # x\n\nE\n");
    const lines = made.invocations[0]!.redirects[0]!.heredoc!;
    expect(lines.map(show)).toEqual(["port 0", "  tls-port ${P} # x", ""]);
    expect(at(lines[1]!.place)).toBe("  tls-port $P # x");
  });
  it("keeps traps apart", () => {
    const made = program("trap 'rm -f \"$T\"' EXIT INT; trap - TERM; a");
    expect(made.traps.map((t) => t.signals)).toEqual([["EXIT", "INT"]]);
    expect(made.invocations.filter((i) => !i.reached).map(commandText)).toEqual(["rm -f ${T}"]);
  });
  it("follows eval and nested shells", () => {
    expect(commands(program('A=x; eval "cat $A"; sh -c \'dog\'; su-exec redis sh -c "cow $A"'))).toEqual([
      "",
      "eval cat x",
      "cat x",
      "sh -c dog",
      "dog",
      "sh -c cow x",
      "cow x",
    ]);
  });
  it("is not complete where the text is not understood", () => {
    expect(program("a; )").complete).toBe(false);
    expect(program("a").complete).toBe(true);
  });
});

describe("guards", () => {
  function guards(text: string, of = "x"): string[] {
    const made = program(text);
    const invocation = made.invocations.find((i) => i.name === of)!;
    return guardsOf(invocation).map((guard) => {
      switch (guard.kind) {
        case "test":
          return `${guard.holds ? "" : "!"}${guard.test.kind === "file" ? `${guard.test.op} ${show(guard.test.path)}` : guard.test.kind === "compare" ? `${show(guard.test.left)}${guard.test.op}${show(guard.test.right)}` : guard.test.kind === "empty" ? `${guard.test.negated ? "-n" : "-z"} ${show(guard.test.value)}` : guard.test.kind}`;
        case "command":
          return `${guard.holds ? "" : "!"}${commandText(guard.invocation)}`;
        case "case":
          return `${show(guard.subject)} in ${guard.patterns.map(show).join("|")}`;
        default:
          return guard.kind;
      }
    });
  }
  it.each([
    ["if [ ! -f /d ]; then x; fi", ["!-f /d"]],
    ["if [ -f /d ]; then y; else x; fi", ["!-f /d"]],
    ['if [ -f /d ]; then y; elif [ -n "$A" ]; then x; fi', ["!-f /d", "-n ${A}"]],
    ["[ -f /d ] || x", ["!-f /d"]],
    ["[ -f /d ] && [ -s /d ] && x", ["-f /d", "-s /d"]],
    ["[ -f /d -a ! -s /d ] && x", ["-f /d", "!-s /d"]],
    ["if [ -e /d ]; then exit 0; fi; x", ["!-e /d"]],
    ["[ -e /d ] && exit 0; x", ["!-e /d"]],
    ["[ -e /d ] || exit 1; x", ["-e /d"]],
    ["case $(hostname) in *-0) x;; esac", ["$(hostname) in *-0"]],
    ["while [ $n -lt 3 ]; do x; done", ["loop", "${n}-lt3"]],
    ["if ! grep -q a /d; then x; fi", ["!grep -q a /d"]],
    ['if [ "${HOSTNAME##*-}" = 0 ]; then x; fi', ["${HOSTNAME##*-}=0"]],
    ["a && b || x", ["unknown"]],
    ["f() { if [ -f /d ]; then x; fi; }; f", ["-f /d"]],
    ["[[ -f /d && $A == b* ]] && x", ["-f /d", "${A}==b*"]],
    ["test -s /d || x", ["!-s /d"]],
    ["x", []],
  ])("%s", (text, expected) => {
    expect(guards(text)).toEqual(expected);
  });
});

describe("order", () => {
  function order(text: string): [boolean | undefined, boolean | undefined] {
    const made = program(text);
    const first = made.invocations.filter((i) => i.name === "first");
    const last = made.invocations.find((i) => i.name === "last")!;
    return [runsBefore(made, first, last), succeedsBefore(made, first, last)];
  }
  it.each<[string, boolean | undefined, boolean | undefined]>([
    ["first; last", true, false],
    ["set -e; first; last", true, true],
    ["first && last", true, true],
    ["first || exit 1; last", true, true],
    ["first || { echo no >&2; exit 1; }; last", true, true],
    ["die() { echo no; exit 1; }; first || die; last", true, true],
    ["if ! first; then exit 1; fi; last", true, true],
    ["if first; then last; fi", true, true],
    ["if a; then first; fi; last", false, false],
    ["if a; then first; else first; fi; last", true, false],
    ["set -e; if a; then first; else first; fi; last", true, true],
    ["last; first", false, false],
    ["set -e; first | a; last", true, false],
    ["set -eo pipefail; first | a; last", true, true],
    ["set -e; a | first; last", true, true],
    ["set -e; x=$(first); last", true, true],
    ["set -e; export x=$(first); last", true, false],
    ["set -e; first && a; last", true, false],
    ["set -e; ! first; last", true, false],
    ["set -e; first || true; last", true, false],
    ["f() { a && return; first; }; f; last", false, false],
    ["set -e; f() { first; }; f; last", true, true],
    ["set -e; f() { first; }; if f; then a; fi; last", true, false],
    ["while a; do first; done; last", false, false],
    ["until first; do sleep 1; done; last", true, true],
    ["for i in 1 2; do first && break; done; last", true, false],
    ["set -e; (first); last", true, true],
    ["first &\nlast", false, false],
    ["set -e; set +e; first; last", true, false],
    ["case $a in x) first;; *) first;; esac; last", true, false],
    ["case $a in x) first;; esac; last", false, false],
    ["exit 0; first; last", undefined, undefined],
    ["ok=0; first && ok=1; [ $ok = 1 ] || exit 1; last", true, true],
    ["rc=0; first || rc=$?; if [ $rc -ne 0 ]; then exit $rc; fi; last", true, false],
  ])("%s", (text, runs, succeeds) => {
    expect(order(text)).toEqual([runs, succeeds]);
  });
});

describe("hostile scripts", () => {
  it.each([
    [
      "functions that double",
      Array.from({ length: 30 }, (_, i) => `f${i}() { f${i + 1}; f${i + 1}; }`).join("\n") + "\nf30() { a; }\nf0",
    ],
    ["wide calls", `${Array.from({ length: 12 }, (_, i) => `f${i}() { ${`f${i + 1}; `.repeat(40)}}`).join("\n")}\nf0`],
    [
      "many branches",
      Array.from({ length: 3000 }, (_, i) => `if [ "$a${i}" = 1 ]; then b${i}=1; else b${i}=2; fi`).join("\n"),
    ],
    ["many commands", "echo a >> /f\n".repeat(20_000)],
    ["nested loops", "while a; do ".repeat(60) + "b;" + " done;".repeat(60)],
    ["deep substitutions", 'x="$('.repeat(80) + "a" + ')"'.repeat(80)],
    ["growing text", Array.from({ length: 60 }, () => 'A="$A$A"').join("\n") + "\ncat $A"],
    ["growing holes", "A=$B\n" + Array.from({ length: 60 }, () => 'A="$A-$A"').join("\n") + "\ncat $A"],
    [
      "growing arrays",
      "A=(x)\n" + Array.from({ length: 60 }, () => 'A=("${A[@]}" "${A[@]}")').join("\n") + '\ncat "${A[@]}"',
    ],
    [
      "grow by parameters",
      "set -- a\n" + Array.from({ length: 60 }, () => 'set -- "$@" "$@"').join("\n") + '\ncat "$@"',
    ],
  ])("%s", (_, text) => {
    const started = process.cpuUsage();
    const made = program(text);
    runsBefore(made, [made.invocations[0]!], made.invocations[made.invocations.length - 1]!);
    copyOnce(made, "/f");
    contentOf(made, "/f");
    waitsOf(made);
    redisCallsOf(made);
    for (const invocation of made.invocations) guardsOf(invocation);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(15_000);
  });
});
