// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { describe, expect, it } from "vitest";
import { parseConf, splitArgs } from "../../src/document/redis-conf.js";
import { Source, TextView } from "../../src/text/source.js";
import { documentOf } from "./conf-cases.js";

const words = (line: string, templates = false): string[] => splitArgs(line, templates).words.map((w) => w.value);
const first = (text: string, templates = false) => documentOf("redis.conf", text, templates).lines[0]!;

describe("lines", () => {
  it("end at a line feed; blanks, comments and empty lines are none", () => {
    const { lines, comments } = documentOf("c", "\n  # one\n\t#two\r\ntimeout 5\r\n   \n  MaxMemory\t1mb  ");
    expect(lines.map((l) => [l.line, l.name, ...l.args.map((a) => a.value)])).toEqual([
      [4, "timeout", "5"],
      [6, "maxmemory", "1mb"],
    ]);
    expect(comments.map((c) => [c.line, c.text])).toEqual([
      [2, "# one"],
      [3, "#two"],
    ]);
  });

  it("have no trailing comment and no continuation", () => {
    expect(first("timeout 5 # x").args.map((a) => a.value)).toEqual(["5", "#", "x"]);
    expect(first("timeout \\\n 5").args.map((a) => a.value)).toEqual(["\\"]);
  });

  it("have places in the file, through the view that they are read in", () => {
    const source = new Source("cm.yaml", "data: |\n    port 0\n    save 900 1\n");
    const view = new TextView(source, "port 0\nsave 900 1\n", [
      { inner: 0, length: 7, outer: 12, outerLength: 7 },
      { inner: 7, length: 11, outer: 23, outerLength: 11 },
    ]);
    const [port, save] = parseConf(view, { templates: true }).lines;
    expect(source.slice(port!.args[0]!.at)).toBe("0");
    expect(source.slice(save!.at)).toBe("save 900 1");
    expect(source.slice(save!.args[1]!.at)).toBe("1");
    expect(source.slice(save!.nameAt)).toBe("save");
  });

  it("keep a byte order mark as a part of their first word", () => {
    expect(first("\uFEFFtimeout 5").name).toBe("\uFEFFtimeout");
  });

  it("are glued where a NUL hides their end, with their places", () => {
    const source = new Source("redis.conf", "maxmemory 1mb\0junk\ntimeout 5\n");
    const { lines, problems } = parseConf(new TextView(source), { templates: false });
    expect(lines.map((l) => l.text)).toEqual(["maxmemory 1mbtimeout 5"]);
    expect(source.slice(lines[0]!.args[1]!.at)).toBe("5");
    expect(problems.map((p) => [p.code, p.at.start])).toEqual([["nul", 13]]);
  });
});

describe("words", () => {
  it.each([
    ["a b\tc\r d", ["a", "b", "c", "d"]],
    ['x "a b"', ["x", "a b"]],
    ['x "a\\"b\\n\\x41\\q"', ["x", 'a"b\nAq']],
    ['x "\\xZZ"', ["x", "xZZ"]],
    ["x 'a\\'b\\n'", ["x", "a'b\\n"]],
    ['x abc"def"', ["x", "abcdef"]],
    ['x ""', ["x", ""]],
    ["x a\\b $HOME #c", ["x", "a\\b", "$HOME", "#c"]],
    ["x a\vb", ["x", "a\vb"]],
    ["\v x", ["x"]],
  ])("%s", (line, expected) => {
    expect(words(line)).toEqual(expected);
  });

  it.each(['x "abc', "x 'abc", 'x abc"def', 'x "abc\\"', '"'])("%s is unbalanced", (line) => {
    expect(splitArgs(line).problem?.code).toBe("unbalanced-quotes");
  });

  it("text after a closing quote is said, and read as Valkey 9.1 reads it", () => {
    const { words: read, problem } = splitArgs('requirepass "abc"def');
    expect(problem?.code).toBe("text-after-quote");
    expect(read.map((w) => w.value)).toEqual(["requirepass", "abcdef"]);
    expect(words(`x "a"'b'c`)).toEqual(["x", "abc"]);
  });
});

describe("placeholders of templates", () => {
  it.each([
    "${PASSWORD}",
    "${PASSWORD:-a b}",
    "${A:-${B}}",
    "$PASSWORD",
    '{{ .Values.password | default "a b" }}',
    "__PASSWORD__",
    "@PASSWORD@",
    "%PASSWORD%",
    "<PASSWORD>",
    "<your password>",
    "$(cat /secret)",
  ])("%s is one opaque word", (text) => {
    for (const written of [text, `"${text}"`].filter((t) => t === text || !text.includes('"'))) {
      const line = first(`requirepass ${written}`, true);
      expect(line.args.map((a) => [a.value, a.placeholder])).toEqual([[text, "whole"]]);
      expect(line.args[0]!.splits).toBe(written === text);
    }
  });

  it("may be a part of a word", () => {
    const line = first("replica-announce-ip ${POD}.redis.svc", true);
    expect(line.args.map((a) => [a.value, a.placeholder])).toEqual([["${POD}.redis.svc", "part"]]);
  });

  it.each(["a<b", "<", "50%", "a@b", "__init", "$", "{title}", "100%", "a_b__c"])("%s is none", (text) => {
    expect(first(`x ${text}`, true).args.map((a) => a.placeholder)).toEqual(["none"]);
  });

  it("are ordinary text in a plain file", () => {
    expect(first("requirepass {{ a }}").args.map((a) => [a.value, a.placeholder])).toEqual([
      ["{{", "none"],
      ["a", "none"],
      ["}}", "none"],
    ]);
  });

  it("a line that is only a placeholder, or whose name is one, is a gap", () => {
    const document = documentOf("c", "port 0\n${EXTRA}\n{{ .Values.more }}\n{{ $key }} {{ $value }}\n", true);
    expect(document.gaps.map((g) => g.line)).toEqual([2, 3, 4]);
    expect(document.lines.map((l) => l.name)).toEqual(["port"]);
  });

  it("what stands between conditions is conditional", () => {
    const text = [
      "port 0",
      "{{- if .Values.tls }}",
      "tls-port 6379",
      "{{- else }}",
      "timeout 1",
      "{{- end }}",
      "{# a comment #}",
      "{% for x in y %}",
      "user a on",
      "{% endfor %}",
      "{{/* a comment */}}",
      "appendonly yes",
    ].join("\n");
    const { lines, gaps } = documentOf("c", text, true);
    expect(lines.map((l) => [l.name, l.conditional])).toEqual([
      ["port", false],
      ["tls-port", true],
      ["timeout", true],
      ["user", true],
      ["appendonly", false],
    ]);
    expect(gaps).toEqual([]);
  });
});
