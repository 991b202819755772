// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text

import { beforeAll, describe, expect, it } from "vitest";
import {
  MAX_SCRIPT_LENGTH,
  type Part,
  parseShells,
  SHELL_AST_VERSION,
  type ShellAst,
  type ShellParser,
  type SimpleCommand,
  type Statement,
  scriptArgument,
  trivial,
} from "../../src/document/shell.js";
import { contentKey } from "../../src/text/hash.js";
import { loadParser, picture } from "./parser.js";

let parser: ShellParser;
beforeAll(async () => {
  parser = await loadParser();
});

function read(text: string): string {
  const ast = parser.parse(text);
  expect(ast.problems, text).toEqual([]);
  return picture(ast, text);
}

describe("statements", () => {
  it.each([
    ["redis-cli -h h ping", "redis-cli -h h ping"],
    ["a | b > f", "a | b >f"],
    ["a && b > f", "(a && b >f)"],
    ["a | b 2>&1 && c > f &", "(a | b 2>&1 && c >f) &"],
    ["a || b && c", "(a || b && c)"],
    ["! a | b", "! a | b"],
    ["! a | b > f && c", "(! a | b >f && c)"],
    ["! { a; } || b", "(! group {a} || b)"],
    ["! while a; do b; done", "! while {a} {b}"],
    ["if ! (a); then b; fi", "if {! sub {a}} then {b}"],
    ["a; b & c", "a; b &; c"],
    ["a 2>/dev/null x y >>f z", "a x y z 2>/dev/null >>f"],
    [">f cmd", "cmd >f"],
    ["> f", " >f"],
    ["x=1 y=$(a) cmd", "x=1 y=$(a) cmd"],
    ["x=1", "x=1"],
    ["x= y=2", "x= y=2"],
    ["x+=(a b) z[1]=2", "x+=(a b) z+=2"],
    ['export A=1 B "$C"', 'export A=1 B "$C"'],
    ['[ ! -f /x ] && [ "$(redis-cli ping)" = PONG ]', '([ ! -f /x ] && [ "$(redis-cli␣ping)" = PONG ])'],
    ["[[ $a == b* && ! -s y ]]", "[[ $a == b* && ! -s y ]]"],
    ["if a; then b; elif c; then d & else e; fi > f", "if {a} then {b} elif {c} then {d &} else {e} >f"],
    ["until a; do b; done < f", "until {a} {b} <f"],
    ["for i in $(seq 1 3) x; do a; done", "for i in $(seq 1 3),x {a}"],
    ["for x; do a; done", "for x in $@ {a}"],
    ["for ((i=0;i<3;i++)); do a; done", "for  in i=0;i<3;i++ {a}"],
    ['case $x in (a|b*) c;; "q r") ;; *) d; esac', 'case $x a|b* {c} "q r" {} * {d}'],
    ["f() { a; } > f", "fn f group {a} >f"],
    ["function f { a; }; f x", "fn f group {a}; f x"],
    ["f() ( a )", "fn f sub {a}"],
    ["((i++))", "((i++))"],
    ["{ a; b; } >> f 2>&1", "group {a; b} >>f 2>&1"],
    ["exec 9<>/lock; exec 3>&-", "exec 9<>/lock; exec 3>&-"],
    ["while :; do a; done &", "while {:} {a} &"],
    ['a <<< "x $y"', 'a <<<"x $y"'],
    ["a\r\nb\r\n", "a; b"],
    ["# c\na # d\n\n#e", "a"],
    ["a \\\n  b", "a b"],
    ["x=$(< f)", "x=$(< f)"],
  ])("%j", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it("keeps a long chain flat", () => {
    const text = "a && ".repeat(3000) + "b";
    const [chain] = parser.parse(text).body;
    expect(chain).toMatchObject({ type: "andor" });
    expect((chain as unknown as { items: unknown[] }).items).toHaveLength(3001);
  });
});

describe("here-documents", () => {
  it.each([
    ["cat <<EOF > f\nport 0\n$A\nEOF\nnext", 'cat <<"port 0\\n$A\\n" >f; next'],
    ["cat > f <<'E O' x\n$A\nE O\ny", 'cat x >f <<"$A\\n"; y'],
    ["cat <<-E >f 2>&1 | g > h\n\tx\n\tE\nn", 'cat <<-"\\tx\\n" >f 2>&1 | g >h; n'],
    ["cat <<A <<B; z\na\nA\nb\nB\nc", 'cat <<"a\\n" <<"b\\n"; z; c'],
    ["cat <<E && b || c\nx\nE\n", '(cat <<"x\\n" && b || c)'],
    ["if cat <<E\nx\nE\nthen y; fi", 'if {cat <<"x\\n"} then {y}'],
    ["while read l; do :; done <<E\nx\nE", 'while {read l} {:} <<"x\\n"'],
    ["cat <<E\nno end", 'cat <<"no end"'],
    ["cat <<E\nE\nx", 'cat <<""; x'],
    ["f() { cat <<E\n$1\nE\n}\nf a", 'fn f group {cat <<"$1\\n"}; f a'],
  ])("%j", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it("has the expansions of its body", () => {
    const text = 'cat <<E > "$d/f"\n\n  a \\$x $A "q" ${B:-$(c "d")}\n`e`\nE\n';
    const [command] = parser.parse(text).body as SimpleCommand[];
    const parts = command!.redirects![0]!.heredoc!.parts;
    expect(parts.map((part) => [part.type, text.slice(part.start, part.end)])).toEqual([
      ["text", "\n  a "],
      ["text", "\\$"],
      ["text", "x "],
      ["param", "$A"],
      ["text", ' "q" '],
      ["param", '${B:-$(c "d")}'],
      ["text", "\n"],
      ["command", "`e`"],
      ["text", "\n"],
    ]);
  });

  it("strips tabs for <<-, and nothing is expanded with a quoted delimiter", () => {
    const text = "cat <<-'E'\n\t\ta $b\n\tE\n";
    const [command] = parser.parse(text).body as SimpleCommand[];
    expect(command!.redirects![0]!.heredoc).toMatchObject({ quoted: true, parts: [{ type: "text", text: "a $b\n" }] });
  });

  it("does not see << in quotes, comments and arithmetic", () => {
    expect(read("echo '<<E' \"<<E\" # <<E\nx=$((1 << 2))\n((y = 1 << 2))\nz")).toBe(
      "echo '<<E' \"<<E\"; x=$((1␣<<␣2))".replaceAll("␣", " ") + "; ((y = 1 << 2)); z",
    );
  });
});

describe("words", () => {
  function word(text: string): { text?: string | undefined; parts: readonly Part[] } {
    const ast = parser.parse("x " + text);
    expect(ast.problems).toEqual([]);
    const found = (ast.body[0] as SimpleCommand).words[1]!;
    return { text: found.text, parts: found.parts ?? [] };
  }
  it.each([
    ['a\'b c\'"d\\"e"\\ f', 'ab cd"e f'],
    ["''", ""],
    ['"a\\nb"', "a\\nb"],
    ["$'a\\n\\x41\\101\\''", "a\nAA'"],
    ['$"a"', "a"],
    ["a\\\nb", "ab"],
    ["a#b", "a#b"],
    ["x{y", "x{y"],
    ['--opt="x y"', "--opt=x y"],
    ["'$A'", "$A"],
    ["a$", "a$"],
    ['"\\$x"', "$x"],
    ["[x", "[x"],
    ["50%", "50%"],
    ["=a", "=a"],
  ])("%s is static", (source, text) => {
    expect(word(source).text).toBe(text);
  });
  it.each([
    "$A",
    '"$A"',
    "${A:-b}",
    "$(a)",
    "`a`",
    "$((1))",
    "*",
    "a?b",
    "[ab]c",
    "{a,b}",
    "{1..3}",
    "~/x",
    "<(a)",
    "$@",
  ])("%s is not", (source) => {
    expect(word(source).text).toBeUndefined();
  });
  it("reads parameters", () => {
    const [a, b, c, d, e, f] = ["$A", "${A:-x y}", '"${A##*-}"', "${#A}", "${!A}", "${A[0]}"].map(
      (s) => word(s).parts[0],
    );
    expect(a).toMatchObject({ type: "param", name: "A" });
    expect(b).toMatchObject({ type: "param", name: "A", op: ":-", arg: [{ type: "text", text: "x y" }] });
    expect(c).toMatchObject({ type: "param", name: "A", op: "##", quote: '"', arg: [{ type: "text", text: "*-" }] });
    expect(d).toMatchObject({ name: "A", op: "length" });
    expect(e).toMatchObject({ name: "A", op: "indirect" });
    expect(f).toMatchObject({ name: "A", op: "[0]" });
  });
  it("finds commands everywhere", () => {
    const text = 'a "x$(b "c$(d)")" ${y:-$(e)} $((1 + $(f))) `g` <(h)';
    const ast = parser.parse(text);
    const names: string[] = [];
    JSON.stringify(ast.body, (key, value: unknown) => {
      if (key === "words") names.push((value as { text?: string }[])[0]!.text!);
      return value;
    });
    expect(names).toEqual(["a", "b", "d", "e", "f", "g", "h"]);
  });
});

describe("nested scripts", () => {
  function nested(text: string): SimpleCommand {
    const ast = parser.parse(text);
    expect(ast.problems).toEqual([]);
    return ast.body[0] as SimpleCommand;
  }
  it("reads the script of sh -c in the outer coordinates", () => {
    const text = "timeout 5 bash -euo pipefail -c 'a \"b\" | c' x";
    const { script } = nested(text);
    expect(script).toMatchObject({ word: 6, kind: "shell" });
    const pipeline = script!.body[0] as Extract<Statement, { type: "pipeline" }>;
    const words = (pipeline.commands[0] as SimpleCommand).words;
    expect(words.map((w) => text.slice(w.start, w.end))).toEqual(["a", '"b"']);
  });
  it("maps through escapes", () => {
    const text = 'sh -c "a \\"b c\\" d"';
    const words = (nested(text).script!.body[0] as SimpleCommand).words;
    expect(words.map((w) => w.text)).toEqual(["a", "b c", "d"]);
    expect(words.map((w) => text.slice(w.start, w.end))).toEqual(["a", '\\"b c\\"', "d"]);
  });
  it("keeps the outer script's expansions as parts", () => {
    const text = "sh -c \"redis-cli -a $P ping > '$f.x'\"";
    const command = nested(text).script!.body[0] as SimpleCommand;
    expect(command.words[2]!.parts).toMatchObject([{ type: "param", name: "P" }]);
    expect(command.redirects![0]!.target!.parts).toMatchObject([
      { type: "param", name: "f" },
      { type: "text", text: ".x" },
    ]);
    expect(text.slice(command.words[2]!.start, command.words[2]!.end)).toBe("$P");
  });
  it("reads traps and eval", () => {
    expect(nested("trap 'rm -f \"$t\"' EXIT").script).toMatchObject({ word: 1, kind: "trap" });
    expect(nested("trap - EXIT").script).toBeUndefined();
    expect(nested('eval "a b"').script).toMatchObject({ word: 1, kind: "eval" });
  });
  it.each([
    [["sh", "-c", "x"], 2],
    [["/bin/bash", "-ec", "x", "y"], 2],
    [["bash", "-o", "pipefail", "-c", "x"], 4],
    [["kubectl", "exec", "p", "--", "sh", "-c", "x"], 6],
    [["su-exec", "redis", "sh", "-c", "x"], 4],
    [["sh", "x.sh", "-c"], -1],
    [["grep", "sh", "-c", "f"], -1],
    [["redis-cli", "-c", "ping"], -1],
    [["sh", "-c"], -1],
  ])("%j", (argv, index) => {
    expect(scriptArgument(argv)).toBe(index);
  });
});

describe("places", () => {
  it("are UTF-16 offsets", () => {
    const text = "echo '😀é' \"$A\" 😀x\ncat <<E\n😀 $B\nE\nredis-cli ping";
    const ast = parser.parse(text);
    const words = (ast.body[0] as SimpleCommand).words.map((w) => text.slice(w.start, w.end));
    expect(words).toEqual(["echo", "'😀é'", '"$A"', "😀x"]);
    const last = ast.body[2] as SimpleCommand;
    expect(text.slice(last.start, last.end)).toBe("redis-cli ping");
  });
  it("enclose what they are made of", () => {
    for (const text of SAMPLES) {
      const check = (value: unknown, start: number, end: number): void => {
        if (value === null || typeof value !== "object") return;
        if (Array.isArray(value)) {
          for (const item of value) check(item, start, end);
          return;
        }
        const node = value as { start?: number; end?: number; heredoc?: unknown };
        if (typeof node.start === "number" && typeof node.end === "number") {
          expect(node.start, text).toBeLessThanOrEqual(node.end);
          expect(node.start, text).toBeGreaterThanOrEqual(0);
          expect(node.end, text).toBeLessThanOrEqual(text.length);
        }
        for (const item of Object.values(node)) check(item, start, end);
      };
      check(parser.parse(text).body, 0, text.length);
    }
  });
});

const SAMPLES = [
  "redis-cli ping",
  "redis-cli ping\n",
  "redis-cli -h 127.0.0.1 \\\n  --cert /c ping | grep -q PONG\n",
  "  redis-cli   -h  127.0.0.1 -p 6379   ping  ",
  "redis-cli ping | grep PONG",
  "redis-cli ping | grep -q PONG && exit 0",
  "redis-cli -a $REDIS_PASSWORD ping | grep PONG || exit 1;",
  "exec redis-server /etc/redis/redis.conf --port 0 --tls-port 6379",
  'exec redis-server "/etc/redis/redis.conf" --requirepass "$PW"',
  "echo 'a b' \"c d\" e\\ f",
  "redis-cli -h ${HOST} -u redis://:x@h:1/0 ping",
  "test -s /data/sentinel.conf && grep -q 'sentinel monitor' /data/sentinel.conf",
  "cp -n /src/a /dst/b && chown 999:999 /dst/b",
  "sleep 10",
  "/usr/bin/redis-sentinel /data/sentinel.conf",
  "a=b",
  "exit 1",
  "cp /tpl/* /etc/redis/",
  "echo a=b c+=d \"\" ''",
  "ls -la /x ; ",
  "redis-cli shutdown nosave;",
  "kill -TERM 1",
  "timeout 5 redis-cli ping",
  "find /shared/primary -mmin -1 | grep -q .",
  "sed -i s/a/$B/g /f && cat /f | tee /g",
  'echo "say \\"hi\\" $x ${y}z"',
  "redis-cli --tls --cacert /tls/ca.crt --cert /t/tls.crt --key /t/tls.key ping",
  "printf '%s\\n' a b | redis-cli",
  "echo 50% @x %M% x:y,z 😀",
  "",
  "  \n ",
];

describe("trivial", () => {
  it("equals the grammar's tree wherever it answers", () => {
    let answered = 0;
    for (const text of SAMPLES) {
      const quick = trivial(text);
      if (quick === undefined) continue;
      answered++;
      expect(quick, text).toEqual(parser.parse(text));
    }
    expect(answered).toBeGreaterThan(22);
  });
  it("equals it for generated scripts", () => {
    const words = [
      "a",
      "redis-cli",
      "-h",
      "--x=y",
      "'q r'",
      '"d e"',
      "$V",
      '"$V"',
      "${V}x",
      "1",
      "a.b/c",
      "x\\ y",
      "@",
      ":",
      "*",
      "a?b",
      "%p%",
      '"a\'b"',
      "''",
      "é😀",
      "+",
      "-",
      "=",
      "if",
      "a=b",
      "then",
      "!",
      "time",
      '"\\$"',
      '"\\\\"',
      "a,b",
      "^",
      "]",
      "x]",
      "1=2",
    ];
    const joins = [" ", " ", " ", "  ", " \\\n ", "\\\n", " \\\n", " | ", " && ", " || ", "|", ";", "\n", "\t"];
    let seed = 7;
    const pick = <T>(list: readonly T[]): T => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return list[(seed >> 8) % list.length]!;
    };
    let answered = 0;
    for (let n = 0; n < 3000; n++) {
      let text = pick(words);
      for (let k = (n % 6) + 1; k > 0; k--) text += pick(joins) + pick(words);
      const quick = trivial(text);
      if (quick === undefined) continue;
      answered++;
      expect(quick, JSON.stringify(text)).toEqual(parser.parse(text));
    }
    expect(answered).toBeGreaterThan(250);
  });
  it.each([
    "a > f",
    "a `b`",
    "x=1 a",
    "[ -f x ]",
    "if a; then b; fi",
    "a & b",
    "a; b",
    "a\nb",
    "sh -c 'a'",
    "a $(b)",
    "a 'b",
    "trap x EXIT",
    "a # b",
    "a && ",
    "| a",
    "~/x",
    "! a",
  ])("leaves %j to the grammar", (text) => {
    expect(trivial(text)).toBeUndefined();
  });
});

describe("problems", () => {
  it.each([
    "if a; then b",
    "a | | b",
    "echo 'x",
    "case x in",
    "while a; do b",
    "(a",
    "a && && b",
    'echo "$(a"',
    "f() {",
    "echo a )",
  ])("%j has one", (text) => {
    expect(parser.parse(text).problems.length).toBeGreaterThan(0);
  });
  it("keeps what stands around a problem", () => {
    const text = "redis-cli ping\n)\nredis-server /c\n";
    const ast = parser.parse(text);
    expect(ast.problems.length).toBeGreaterThan(0);
    expect(picture(ast, text)).toContain("redis-server /c");
  });
});

describe("hostile texts", () => {
  const hostile: Record<string, string> = {
    "$( x 10000": "$(".repeat(10000),
    "( x 10000": "(".repeat(10000),
    "closed $(": "$(".repeat(5000) + "a" + ")".repeat(5000),
    "closed (": "( ".repeat(5000) + "a" + " )".repeat(5000),
    "closed {": "{ ".repeat(5000) + "a;" + " };".repeat(5000),
    "closed if": "if a; then ".repeat(5000) + "b;" + " fi;".repeat(5000),
    "closed case": "case a in a) ".repeat(5000) + "b;;" + " esac".repeat(5000),
    "closed quotes": '"$('.repeat(5000) + "a" + ')"'.repeat(5000),
    "closed ${": "echo " + "${a:-".repeat(5000) + "}".repeat(5000),
    pipes: "a | ".repeat(10000) + "b",
    arrays: "a=(".repeat(10000),
    "( in [[": "[[ " + "( ".repeat(5000) + "a" + " )".repeat(5000) + " ]]",
    "! in [": "[ " + "! ".repeat(5000) + "a ]",
    heredocs: "cat <<E\n".repeat(5000),
    "heredoc operators": "a " + "<<E ".repeat(5000),
    less: "<".repeat(10000),
    greater: ">".repeat(10000),
    quotes: '"'.repeat(9999),
    backticks: "`".repeat(10001),
    dollars: "$".repeat(10000),
    "${": "${".repeat(10000),
    nul: "\0\uFFFF\uD800".repeat(1000),
    "long delimiter": `cat <<${"E".repeat(3000)}\nx\n${"E".repeat(3000)}\n`,
    "sh -c": "sh -c '".repeat(1000),
    "sh -c nested": Array.from({ length: 8 }).reduce<string>(
      (inner) => `sh -c "${inner.replace(/[\\"]/g, "\\$&")}"`,
      "a",
    ),
    words: "a ".repeat(200_000),
  };
  it.each(Object.keys(hostile))("%s", (name) => {
    const text = hostile[name]!;
    const started = process.cpuUsage();
    const ast = parser.parse(text);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(10_000);
    expect(() => JSON.stringify(ast)).not.toThrow();
  });
  it("says when a script is too large, and reads one that is just not", () => {
    const large = "echo hello world >> /etc/redis/redis.conf\n".repeat(30_000);
    expect(large.length).toBeGreaterThan(MAX_SCRIPT_LENGTH);
    expect(parser.parse(large).problems).toMatchObject([{ kind: "limit" }]);
    const fits = large.slice(0, MAX_SCRIPT_LENGTH - (MAX_SCRIPT_LENGTH % 42));
    const ast = parser.parse(fits);
    expect(ast.problems).toEqual([]);
    expect(ast.body.length).toBeGreaterThan(24_000);
  });
  it("still reads the next script", () => {
    expect(read("redis-cli ping | grep PONG")).toBe("redis-cli ping | grep PONG");
  });
});

describe("parseShells", () => {
  const complex = "if a; then b; fi";
  function host(kept: Map<string, unknown>) {
    let loads = 0;
    return {
      cache: {
        get: (key: string) => kept.get(key),
        set: (key: string, _text: string, value: ShellAst) => void kept.set(key, JSON.parse(JSON.stringify(value))),
      },
      load: () => {
        loads++;
        return loadParser();
      },
      loads: () => loads,
    };
  }
  it("does not load the grammar for trivial scripts", async () => {
    const h = host(new Map());
    const out = await parseShells(["redis-cli ping", "redis-cli ping"], h);
    expect(out.size).toBe(1);
    expect(h.loads()).toBe(0);
  });
  it("loads it once, and never with a warm cache", async () => {
    const kept = new Map<string, unknown>();
    const cold = host(kept);
    const first = await parseShells([complex, complex + ";"], cold);
    expect(cold.loads()).toBe(1);
    const warm = host(kept);
    const second = await parseShells([complex, complex + ";"], warm);
    expect(warm.loads()).toBe(0);
    expect(second.get(complex)).toEqual(first.get(complex));
    expect([...kept.keys()].every((key) => key.startsWith(`shell-${SHELL_AST_VERSION}-`))).toBe(true);
  });
  it("does not trust a damaged cache entry", async () => {
    const h = host(new Map<string, unknown>([[`shell-${SHELL_AST_VERSION}-${contentKey(complex)}`, { version: -1 }]]));
    const out = await parseShells([complex], h);
    expect(out.get(complex)).toMatchObject({ version: SHELL_AST_VERSION });
    expect(h.loads()).toBe(1);
  });
});
