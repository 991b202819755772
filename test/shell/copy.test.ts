// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text
import { beforeAll, describe, expect, it } from "vitest";
import { type CopyOnce, copyOnce, show } from "../../src/model/shell/index.js";
import { commandText, prepare, program } from "./facts.js";

beforeAll(prepare);

const D = "/data/sentinel.conf";

function judge(text: string): CopyOnce {
  return copyOnce(
    program(text.replaceAll("@D", D).replaceAll("@T", `${D}.tmp`).replaceAll("@S", "/tpl/sentinel.conf")),
    D,
  );
}

/** `copy` with its facts, as one line. */
function line(text: string): string {
  const found = judge(text);
  switch (found.kind) {
    case "copy-if-absent": {
      const say = (v: boolean | undefined) => (v === undefined ? "?" : v ? "yes" : "no");
      return `copy ${found.atomic ? "atomic" : found.flaw} empty:${say(found.emptyFails)} damaged:${say(found.damagedFileFails)} [${found.checks.join(",")}] from ${found.sources.map(show).join()}`;
    }
    case "overwrites":
      return `overwrites ${found.always ? "always" : "sometimes"} by ${commandText(found.by)}`;
    case "unknown":
      return "unknown";
    default:
      return found.kind;
  }
}

const ATOMIC = "copy atomic empty:no damaged:no [] from /tpl/sentinel.conf";
const CHECKED = "copy atomic empty:yes damaged:yes [sentinel monitor] from /tpl/sentinel.conf";

describe("copied once, atomically", () => {
  it.each([
    "set -e\nif [ ! -e @D ]; then cp @S @T; mv @T @D; fi",
    "set -eu; if [ ! -f @D ]; then cp @S @T; mv -f @T @D; fi",
    "set -e; if ! [ -f @D ]; then cp @S @T; mv @T @D; fi",
    "set -e; if test ! -f @D; then cp @S @T; mv @T @D; fi",
    "set -e; if [[ ! -f @D ]]; then cp @S @T; mv @T @D; fi",
    "set -e; if [ -f @D ]; then echo there; else cp @S @T; mv @T @D; fi",
    "if [ ! -e @D ]; then cp @S @T && mv @T @D; fi",
    "if [ ! -e @D ]; then cp @S @T || exit 1; mv @T @D; fi",
    "[ -f @D ] || { cp @S @T && mv @T @D; }",
    "[ ! -f @D ] && cp @S @T && mv @T @D; true",
    "set -e; [ -f @D ] && exit 0; cp @S @T; mv @T @D",
    "set -e; if [ -f @D ]; then exit 0; fi; cat @S > @T; mv @T @D",
    'set -e; D=@D; T=$D.tmp; if [ ! -e "$D" ]; then cp @S "$T"; chmod 600 "$T"; sync; mv "$T" "$D"; fi',
    'set -e; once() { if [ ! -e "$2" ]; then cp "$1" "$2.tmp"; mv "$2.tmp" "$2"; fi; }; once @S @D',
    "set -e; exists() { [ -f @D ]; }; if ! exists; then cp @S @T; mv @T @D; fi",
    "sh -ec 'if [ ! -e @D ]; then cp @S @T; mv @T @D; fi'",
    "set -e; trap 'rm -f @T' EXIT; if [ ! -e @D ]; then cp @S @T; mv @T @D; fi",
    "set -e; T=$(mktemp /data/.sentinel.XXXXXX); if [ ! -e @D ]; then cp @S $T; mv $T @D; fi",
    'set -e; T="@D.$$"; if [ ! -e @D ]; then cp @S "$T"; mv "$T" @D; fi',
    "set -e; if [ ! -e @D ]; then install -m 600 @S @T; mv @T @D; fi",
    "set -e; [ -e @D ] || { cp @S @T; mv @T @D; }; exec redis-sentinel @D",
    "set -e; mkdir -p /data; if [ ! -e @D ]; then cp @S @T; mv @T /data/; fi".replace(
      "@T /data/",
      "@T /data/sentinel.conf",
    ),
    "set -e; case $(ls @D 2>/dev/null) in *) ;; esac; if [ ! -e @D ]; then cp @S @T; mv @T @D; fi",
  ])("%s", (text) => {
    expect(line(text)).toBe(ATOMIC);
  });

  it("from a rendered template", () => {
    expect(line('set -e; if [ ! -e @D ]; then sed "s/__POD__/$POD/" @S > @T; mv @T @D; fi')).toBe(ATOMIC);
    expect(line("set -e; if [ ! -e @D ]; then envsubst < @S > @T; mv @T @D; fi")).toBe(ATOMIC);
    expect(line('set -e; if [ ! -e @D ]; then { cat @S; echo "sentinel announce-ip $POD"; } > @T; mv @T @D; fi')).toBe(
      ATOMIC,
    );
    expect(line("set -e; if [ ! -e @D ]; then cp @S @T; echo x >> @T; mv @T @D; fi")).toBe(ATOMIC);
    expect(line("set -e; if [ ! -e @D ]; then cat > @T <<E\nport 0\nE\nmv @T @D; fi")).toBe(
      "copy atomic empty:no damaged:no [] from ",
    );
  });
});

describe("checked", () => {
  it.each([
    "set -e; if [ -e @D ]; then if [ ! -s @D ] || ! grep -q 'sentinel monitor' @D; then echo bad >&2; exit 1; fi; exit 0; fi; cp @S @T; mv @T @D",
    "set -e; if [ -f @D ]; then grep -q 'sentinel monitor' @D || { echo bad; exit 1; }; exit 0; fi; cp @S @T; mv @T @D",
    "set -e; if [ -f @D ]; then grep -q 'sentinel monitor' @D; else cp @S @T; mv @T @D; fi",
    "set -e; if [ ! -e @D ]; then cp @S @T; mv @T @D; fi; grep -q 'sentinel monitor' @D",
    "if [ ! -e @D ]; then cp @S @T && mv @T @D; fi; test -s @D && grep -q 'sentinel monitor' @D",
    "set -e; if [ -f @D ]; then if ! grep -q 'sentinel monitor' < @D; then exit 1; fi; exit 0; fi; cp @S @T; mv @T @D",
    "set -e; if [ -f @D ]; then cat @D | grep -q 'sentinel monitor' || exit 2; exit 0; fi; cp @S @T; mv @T @D",
    'set -e; check() { [ -s "$1" ] && grep -q \'sentinel monitor\' "$1"; }; die() { echo "$1" >&2; exit 1; }; if [ -e @D ]; then check @D || die bad; exit 0; fi; cp @S @T; mv @T @D',
    "set -e; ok=0; if [ -e @D ]; then if [ -s @D ] && grep -q 'sentinel monitor' @D; then ok=1; fi; [ $ok = 1 ] || exit 1; exit 0; fi; cp @S @T; mv @T @D",
  ])("%s", (text) => {
    expect(line(text)).toBe(CHECKED);
  });

  it("for several things", () => {
    expect(
      line("set -e; if [ -f @D ]; then grep -q a @D && grep -q b @D || exit 1; exit 0; fi; cp @S @T; mv @T @D"),
    ).toBe("copy atomic empty:yes damaged:yes [a,b] from /tpl/sentinel.conf");
    expect(
      line("set -e; if [ -f @D ]; then grep -q a @D || grep -q b @D || exit 1; exit 0; fi; cp @S @T; mv @T @D"),
    ).toBe("copy atomic empty:yes damaged:no [] from /tpl/sentinel.conf");
  });
  it("only for emptiness", () => {
    expect(line("set -e; if [ -f @D ]; then [ -s @D ] || exit 1; exit 0; fi; cp @S @T; mv @T @D")).toBe(
      "copy atomic empty:yes damaged:no [] from /tpl/sentinel.conf",
    );
  });
  it("without a consequence is no check", () => {
    expect(line("set -e; if [ -f @D ]; then grep -q a @D || echo bad; exit 0; fi; cp @S @T; mv @T @D")).toBe(ATOMIC);
    expect(line("set -e; if [ -f @D ]; then grep -q a @D || true; exit 0; fi; cp @S @T; mv @T @D")).toBe(ATOMIC);
    expect(line("if [ -f @D ]; then grep -q a @D; exit 0; fi; cp @S @T && mv @T @D")).toBe(ATOMIC);
  });
  it("with a tool that is not understood stays open", () => {
    expect(line('set -e; if [ -f @D ]; then [ "$(wc -c < @D)" -gt 0 ] || exit 1; exit 0; fi; cp @S @T; mv @T @D')).toBe(
      "copy atomic empty:? damaged:? [] from /tpl/sentinel.conf",
    );
    expect(
      line(
        "set -e; if [ -f @D ]; then awk '/monitor/ { f = 1 } END { exit !f }' @D || exit 1; exit 0; fi; cp @S @T; mv @T @D",
      ),
    ).toBe("copy atomic empty:? damaged:? [] from /tpl/sentinel.conf");
  });
});

describe("not atomic", () => {
  it.each([
    ["[ -f @D ] || cp @S @D", "in-place"],
    ["cp -n @S @D", "in-place"],
    ["set -e; if [ ! -f @D ]; then sed s/a/b/ @S > @D; fi", "in-place"],
    ["set -e; if [ ! -f @D ]; then cp @S @D; echo x >> @D; fi", "in-place"],
    ["[ -e @D ] || cp @S /data", "in-place"],
    ["[ -e @D ] || cp @S /data/", "in-place"],
    ["if [ ! -e @D ]; then cp @S @T; mv @T @D; fi", "partial"],
    ["set +e; if [ ! -e @D ]; then cat @S > @T; mv @T @D; fi", "partial"],
    ["set -e; if [ ! -e @D ]; then cp @S @T || true; mv @T @D; fi", "partial"],
    ["set -e; if [ ! -e @D ]; then cp @S /tmp/x; mv /tmp/x @D; fi", "other-directory"],
    ["set -e; T=$(mktemp); if [ ! -e @D ]; then cp @S $T; mv $T @D; fi", "other-directory"],
  ])("%s", (text, flaw) => {
    expect(judge(text)).toMatchObject({ kind: "copy-if-absent", atomic: false, flaw });
  });
  it("lets a script succeed on a good file, or not", () => {
    expect(judge("[ -f @D ] || cp @S @D")).toMatchObject({ goodPasses: true });
    expect(judge("[ ! -f @D ] && cp @S @D")).toMatchObject({ goodPasses: false });
    expect(judge("set -e; [ ! -f @D ] && cp @S @D; true")).toMatchObject({ goodPasses: true });
  });
  it("repairs an empty file", () => {
    expect(judge("set -e; if [ ! -s @D ]; then cp @S @T; mv @T @D; fi")).toMatchObject({
      kind: "copy-if-absent",
      atomic: true,
      emptyFails: false,
    });
  });
});

describe("overwritten", () => {
  it.each([
    ["cp @S @D", "always by cp /tpl/sentinel.conf /data/sentinel.conf"],
    ["set -e; cp @S @T; mv @T @D", "always by mv /data/sentinel.conf.tmp /data/sentinel.conf"],
    ["sed s/a/b/ @S > @D; exec redis-sentinel @D", "always by sed s/a/b/ /tpl/sentinel.conf"],
    ["[ -f @D ] || cp @S @D; echo x >> @D", "always by echo x"],
    ["[ -f @D ] || cp @S @D; sed -i s/a/b/ @D", "always by sed -i s/a/b/ /data/sentinel.conf"],
    ['if [ "$RESET" = 1 ] || [ ! -f @D ]; then cp @S @D; fi', "sometimes by cp /tpl/sentinel.conf /data/sentinel.conf"],
    ["rm -f @D; cp @S @D", "always by rm -f /data/sentinel.conf"],
    ["if [ -f @D ]; then cp @S @D; fi", "always by cp /tpl/sentinel.conf /data/sentinel.conf"],
    ["cp @S /data/", "always by cp /tpl/sentinel.conf /data/"],
    ["f() { cp @S @D; }; f", "always by cp /tpl/sentinel.conf /data/sentinel.conf"],
  ])("%s", (text, expected) => {
    expect(line(text)).toBe(`overwrites ${expected}`);
  });
});

describe("decisions that do not matter", () => {
  it.each([
    ['[ -f "$X" ] && export Y=1; cp @S @D', "overwrites always by cp /tpl/sentinel.conf /data/sentinel.conf"],
    [
      "if cmp -s @S @D; then cp @S @D; else cp /other @D; fi",
      "overwrites always by cp /tpl/sentinel.conf /data/sentinel.conf",
    ],
    ['[ -f "$X" ] && echo x; set -e; if [ ! -e @D ]; then cp @S @T; mv @T @D; fi', ATOMIC],
    ['[ -f "$X" ] && exit 0; cp @S @D', "unknown"],
    [
      'for i in 1 2 3; do [ -f "$X" ] && echo x; done; cp @S @D',
      "overwrites always by cp /tpl/sentinel.conf /data/sentinel.conf",
    ],
  ])("%s", (text, expected) => {
    expect(line(text)).toBe(expected);
  });
});

describe("none", () => {
  it.each([
    "redis-sentinel @D",
    "cp @S /other",
    "exec redis-server /c",
    "cat @D",
    "chown redis @D",
    "",
    "f() { cp @S @D; }",
  ])("%s", (text) => {
    expect(line(text)).toBe("none");
  });
});

describe("unknown", () => {
  it.each([
    "cp @S $TARGET",
    "cp /tpl/* /data/",
    "cp -r /tpl/. /data/",
    ". /lib.sh; copy",
    "[ -e @D ] || cp @S @D; )",
    "render --out @D",
    'eval "$X"',
    "sh /other.sh",
    "if cmp -s @S @D; then exit 0; fi; cp @S @D",
    "$COPY @S @D",
  ])("%s", (text) => {
    expect(line(text)).toBe("unknown");
  });
  it("says why", () => {
    expect(judge("cp @S $TARGET")).toMatchObject({ why: expect.stringContaining("${TARGET}") });
  });
});

describe("known by what the host knows", () => {
  it("variables of the container", () => {
    const made = program(`cp /s "$TARGET"`, { env: (name) => (name === "TARGET" ? D : undefined) });
    expect(copyOnce(made, D).kind).toBe("overwrites");
    expect(copyOnce(made, "/data/other").kind).toBe("none");
  });
});
