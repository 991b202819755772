import { describe, expect, it } from "vitest";
import {
  applyBaseline,
  BaselineError,
  parseBaseline,
  printBaseline,
  updateBaseline,
} from "../../src/engine/baseline.js";
import type { Diagnostic } from "../../src/engine/diagnostic.js";
import { fingerprintOf, hash128, uniqueFingerprints } from "../../src/engine/fingerprint.js";
import { Source } from "../../src/text/source.js";

function finding(source: Source, needle: string, more: Partial<Diagnostic> = {}): Diagnostic {
  const start = source.text.indexOf(needle);
  if (start < 0) throw new Error(`no "${needle}"`);
  return {
    rule: "k8s/resources",
    messageId: "missing",
    severity: "error",
    message: `no limits at ${needle}`,
    help: undefined,
    contract: "lab",
    at: source.span(start, start + needle.length),
    pointer: undefined,
    related: [],
    fix: undefined,
    ...more,
  };
}

const pod = (name: string, containers: string[]): string =>
  [
    "kind: Pod",
    `metadata: { name: ${name} }`,
    "spec:",
    "  containers:",
    ...containers.map((c) => `    - name: ${c}\n      image: ${c}:1`),
    "",
  ].join("\n");

describe("fingerprints", () => {
  const at = (text: string, needle: string, pointer?: string): string =>
    fingerprintOf(finding(new Source("f.yaml", text), needle, { pointer }));

  it("survive moved lines, another indentation and other line ends", () => {
    const before = at("port 6379\nuser app on\n", "user app");
    expect(at("# a\n\nport 6379\r\n  user   app on  \r\n", "user   app")).toBe(before);
    expect(at("port 6379\nuser app off\n", "user app")).not.toBe(before);
    expect(at("port 6379\nuser app on\n", "app on")).not.toBe(before);
  });

  it("follow a named item of a list to its new index", () => {
    const one = at(pod("a", ["redis", "probe"]), "probe:1", "/spec/containers/1/image");
    expect(at(pod("a", ["init", "probe"]), "probe:1", "/spec/containers/1/image")).toBe(one);
    expect(at(pod("a", ["probe", "redis"]), "probe:1", "/spec/containers/0/image")).toBe(one);
    expect(at(pod("b", ["redis", "probe"]), "probe:1", "/spec/containers/1/image")).not.toBe(one);
  });

  it("tell documents of one file apart, wherever they stand", () => {
    const [a, b] = [pod("a", ["x"]), pod("b", ["x"])];
    const source = new Source("f.yaml", `${a}---\n${b}`);
    const second = finding(source, "kind", { pointer: "/spec/containers/0/image" });
    const start = source.text.lastIndexOf("x:1");
    const moved = new Source("f.yaml", `${b}---\n${a}`);
    const there = finding(moved, "x:1", { pointer: "/spec/containers/0/image" });
    expect(fingerprintOf({ ...second, at: source.span(start, start + 3) })).toBe(fingerprintOf(there));
    expect(fingerprintOf(finding(source, "x:1", { pointer: "/spec/containers/0/image" }))).not.toBe(
      fingerprintOf(there),
    );
  });

  it("do not depend on the wording of the message", () => {
    const source = new Source("f", "x");
    expect(fingerprintOf(finding(source, "x", { message: "reworded" }))).toBe(fingerprintOf(finding(source, "x")));
    for (const more of [{ rule: "a/b" }, { messageId: "other" }, { contract: "other" }]) {
      expect(fingerprintOf(finding(source, "x", more))).not.toBe(fingerprintOf(finding(source, "x")));
    }
    expect(fingerprintOf(finding(new Source("g", "x"), "x"))).not.toBe(fingerprintOf(finding(source, "x")));
  });

  it("bear pointers that lead nowhere and files that are no YAML", () => {
    for (const text of ["a: [", "", "\0", "- - - x", "[1, 2]"]) {
      const source = new Source("f", text);
      const d = { ...finding(source, ""), pointer: "/a/0/~1x/__proto__/1/constructor" };
      expect(fingerprintOf(d)).toMatch(/^[0-9a-f]{32}$/);
    }
  });

  it("are told apart by number where findings are equal", () => {
    const source = new Source("f", "on\non\n");
    const list = [finding(source, "on"), { ...finding(source, "on"), at: source.span(3, 5) }];
    const first = list.map(fingerprintOf);
    expect(first[0]).toBe(first[1]);
    const unique = uniqueFingerprints(list);
    expect(unique[0]).toBe(first[0]);
    expect(new Set(unique).size).toBe(2);
  });

  it("spread: a hundred thousand texts, no collision", () => {
    const seen = new Set<string>();
    for (let i = 0; i < 100_000; i++) seen.add(hash128(`k8s/resources\0missing\0lab\0f${i}.yaml`));
    expect(seen.size).toBe(100_000);
  });
});

describe("baseline", () => {
  const source = new Source("b.conf", "port 1\nport 2\nport 2\nport 2\nport 3\n");
  const all = [0, 7, 14, 21, 28].map((start) => ({
    ...finding(source, "port"),
    at: source.span(start, start + 6),
    message: `open ${source.text.slice(start, start + 6)}`,
  }));
  const places = (list: readonly Diagnostic[]): number[] => list.map((d) => d.at.start);

  it("records every finding at first, sorted and counted", () => {
    const baseline = updateBaseline(undefined, [...all].reverse());
    expect(baseline.entries.map((e) => [e.message, e.count])).toEqual([
      ["open port 1", 1],
      ["open port 2", 3],
      ["open port 3", 1],
    ]);
    const text = printBaseline(baseline);
    expect(text).toContain('"rule": "k8s/resources",\n      "contract": "lab",\n      "file": "b.conf",');
    expect(printBaseline(parseBaseline(new Source("baseline.json", text)))).toBe(text);
    expect(printBaseline(updateBaseline(undefined, all))).toBe(text);
  });

  it("hides known findings up to their count", () => {
    const baseline = updateBaseline(undefined, all.slice(0, 3));
    const result = applyBaseline(all, baseline);
    expect(places(result.baselined)).toEqual([0, 7, 14]);
    expect(places(result.active)).toEqual([21, 28]);
    expect(result.baselined[0]?.suppressed?.kind).toBe("baseline");
    expect(result.stale).toEqual([]);
  });

  it("holds when lines move", () => {
    const baseline = updateBaseline(undefined, all);
    const moved = new Source("b.conf", `# new\r\n\r\n${source.text.replaceAll("\n", "\r\n")}`);
    const found = [...moved.text.matchAll(/port \d/g)].map((m) => ({
      ...all[0]!,
      at: moved.span(m.index, m.index + 6),
      message: "reworded",
    }));
    expect(applyBaseline(found, baseline)).toMatchObject({ active: [], stale: [] });
  });

  it("only shrinks", () => {
    const first = updateBaseline(undefined, all.slice(0, 4));
    const second = updateBaseline(first, [all[1]!, all[4]!]);
    expect(second.entries.map((e) => [e.message, e.count])).toEqual([["open port 2", 1]]);
    expect(updateBaseline(second, all).entries).toEqual(second.entries);
    expect(updateBaseline({ entries: [] }, all).entries).toEqual([]);
  });

  it("names entries that are no longer needed, and keeps what this run could not see", () => {
    const first = updateBaseline(undefined, all);
    const { stale } = applyBaseline([all[1]!], first);
    expect(stale.map((e) => [e.message, e.count])).toEqual([
      ["open port 1", 1],
      ["open port 2", 2],
      ["open port 3", 1],
    ]);
    const covered = { covered: () => false };
    expect(applyBaseline([], first, covered).stale).toEqual([]);
    expect(updateBaseline(first, [], covered).entries).toEqual(first.entries);
  });

  it("says where a baseline file is wrong", () => {
    const entry = '{"fingerprint":"f","rule":"r","contract":"c","file":"x","message":"m"';
    const cases: [string, string][] = [
      ["", "not JSON"],
      ["{", "not JSON"],
      ["{} // x", "not JSON"],
      ["[]", "not a JSON object"],
      ['{"version":2,"findings":[]}', "no version"],
      ['{"version":1}', "no list of findings"],
      ['{"version":1,"findings":[1]}', "is an object"],
      ['{"version":1,"findings":[{"fingerprint":1}]}', '"fingerprint"'],
      [`{"version":1,"findings":[${entry},"count":0}]}`, '"count"'],
    ];
    for (const [text, message] of cases) {
      let error: unknown;
      try {
        parseBaseline(new Source("baseline.json", text));
      } catch (e) {
        error = e;
      }
      expect([text, error instanceof BaselineError && error.message.includes(message)]).toEqual([text, true]);
    }
    try {
      parseBaseline(new Source("b", '{"version":1,\n"findings":[{"fingerprint":1}]}'));
    } catch (e) {
      const { at } = e as BaselineError;
      expect(at.source.position(at.start)).toEqual({ line: 2, column: 28 });
    }
    expect(
      parseBaseline(new Source("b", `\ufeff{"version":1,"findings":[${entry}},${entry},"count":2}]}`)).entries,
    ).toEqual([{ fingerprint: "f", count: 2, rule: "r", contract: "c", file: "x", message: "m" }]);
  });

  it("bears a deeply nested file", () => {
    expect(() => parseBaseline(new Source("b", "[".repeat(100_000)))).toThrow(BaselineError);
    expect(() => parseBaseline(new Source("b", `{"version":1,"findings":${"[".repeat(100_000)}`))).toThrow(
      BaselineError,
    );
  });
});
