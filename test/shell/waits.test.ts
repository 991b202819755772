// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text
import { beforeAll, describe, expect, it } from "vitest";
import { runsBefore, show, waitsOf } from "../../src/model/shell/index.js";
import { command, prepare, program } from "./facts.js";

beforeAll(prepare);

function waits(text: string): string[] {
  return waitsOf(program(text)).map(
    (w) =>
      `${w.hosts.map(show).join()} ${w.probes.some((p) => p.resolves) ? "resolves" : "answers"} ${w.bounded} ${w.seconds ?? "-"} ${w.onExpiry}`,
  );
}

describe("waits", () => {
  it.each<[string, string[]]>([
    ["until getent hosts h; do sleep 1; done", ["h resolves false - never"]],
    ["until getent hosts h >/dev/null 2>&1; do sleep 1; done", ["h resolves false - never"]],
    ["while ! nslookup h; do sleep 2; done", ["h resolves false - never"]],
    ["while ! ping -c 1 redis-0.redis; do sleep 1; done", ["redis-0.redis answers false - never"]],
    ['until nc -z "$H" 6379; do sleep 1; done', ["${H} answers false - never"]],
    ["until redis-cli -h h ping | grep -q PONG; do sleep 1; done", ["h answers false - never"]],
    ['until [ "$(redis-cli -h h ping)" = PONG ]; do sleep 1; done', ["h answers false - never"]],
    ['until [ -n "$(getent hosts h)" ]; do sleep 1; done', ["h resolves false - never"]],
    ["while true; do getent hosts h && break; sleep 1; done", ["h resolves false - never"]],
    [
      "n=0; until getent hosts h; do n=$((n + 1)); if [ $n -ge 45 ]; then echo no >&2; exit 1; fi; sleep 2; done",
      ["h resolves true 90 fails"],
    ],
    [
      "n=0; until getent hosts h; do n=$((n + 1)); [ $n -lt 45 ] || exit 1; sleep 2; done",
      ["h resolves true 90 fails"],
    ],
    [
      "n=0; while ! getent hosts h; do [ $n -gt 30 ] && exit 1; n=$((n+1)); sleep 1; done",
      ["h resolves true 30 fails"],
    ],
    ["n=0; while ! getent hosts h && [ $n -lt 30 ]; do n=$((n+1)); sleep 1; done", ["h resolves true 30 continues"]],
    [
      "n=0; while ! getent hosts h; do ((n++)); if ((n > 30)); then exit 1; fi; sleep 1; done",
      ["h resolves true 30 fails"],
    ],
    [
      "n=0; until getent hosts h; do let n=n+1; if [ $n = 30 ]; then exit 1; fi; sleep 1; done",
      ["h resolves true 30 fails"],
    ],
    ["for i in $(seq 1 60); do getent hosts h && break; sleep 1; done", ["h resolves true 60 continues"]],
    ["for i in $(seq 60); do getent hosts h && exit 0; sleep 1; done; exit 1", ["h resolves true 60 fails"]],
    [
      // the environment may have an `ok`
      'for i in $(seq 1 60); do if getent hosts h; then ok=1; break; fi; sleep 1; done; [ "$ok" = 1 ] || exit 1',
      ["h resolves true 60 unknown"],
    ],
    [
      'ok=0; for i in $(seq 1 60); do if getent hosts h; then ok=1; break; fi; sleep 1; done; [ "$ok" = 1 ] || exit 1',
      ["h resolves true 60 fails"],
    ],
    [
      "for i in {1..30}; do getent hosts h && break; sleep 2; done; getent hosts h || exit 1",
      ["h resolves true 60 fails"],
    ],
    ["for i in 1 2 3; do getent hosts h && exit 0; sleep 5; done; exit 1", ["h resolves true 15 fails"]],
    ["for ((i=0; i<30; i++)); do getent hosts h && break; sleep 1; done", ["h resolves true 30 continues"]],
    [
      "end=$(( $(date +%s) + 60 )); until getent hosts h; do [ $(date +%s) -lt $end ] || exit 1; sleep 1; done",
      ["h resolves true - fails"],
    ],
    ["SECONDS=0; until getent hosts h; do [ $SECONDS -lt 60 ] || exit 1; sleep 1; done", ["h resolves true 60 fails"]],
    ["timeout 60 sh -c 'until getent hosts h; do sleep 1; done'", ["h resolves true 60 never"]],
    ['f() { getent hosts "$1" >/dev/null; }; until f h; do sleep 1; done', ["h resolves false - never"]],
    ['H=redis-0.redis; until getent hosts "$H"; do sleep 1; done', ["redis-0.redis resolves false - never"]],
    ["until getent ahostsv4 h && nc -z h 1; do sleep 1; done", ["h,h resolves false - never"]],
    [
      "until host h; do sleep 1; done; until dig +short h; do sleep 1; done",
      ["h resolves false - never", "h resolves false - never"],
    ],
    // the last round decides
    ...[
      "for i in $(seq 60); do getent hosts h && break; [ $i -lt 60 ] || exit 4; sleep 1; done",
      'for i in $(seq 1 60); do getent hosts h && break; [ "$i" -eq 60 ] && exit 4; sleep 1; done',
      'for i in {1..60}; do if getent hosts h; then break; fi; if [ "$i" -eq 60 ]; then exit 4; fi; sleep 1; done',
      "for i in $(seq 60 -1 1); do getent hosts h && break; [ $i -gt 1 ] || exit 4; sleep 1; done",
      "i=0; while [ $i -lt 60 ]; do getent hosts h && break; i=$((i+1)); sleep 1; done; [ $i -lt 60 ] || exit 4",
      "i=60; while [ $i -gt 0 ]; do getent hosts h && break; i=$((i-1)); sleep 1; done; [ $i -gt 0 ] || exit 4",
      "i=0; while [ $i -lt 60 ]; do getent hosts h && break; i=`expr $i + 1`; sleep 1; done; test $i -ne 60 || exit 4",
      "i=0; while [ $i -lt 60 ]; do getent hosts h; rc=$?; [ $rc -eq 0 ] && break; i=$((i+1)); sleep 1; done; [ $rc -eq 0 ]",
      "for ((i=0; i<60; i++)); do getent hosts h && break; sleep 1; done; ((i < 60)) || exit 4",
      "i=0; while ((i < 60)); do getent hosts h && break; ((i++)); sleep 1; done; if ((i == 60)); then exit 4; fi",
      "i=0; until getent hosts h; do : $((i += 1)); case $i in 60) exit 4;; esac; [ $i -lt 60 ]; sleep 1; done",
      "n=0; until getent hosts h; do n=$(expr $n + 1); test $n -lt 60 || exit 4; sleep 1; done",
      "n=60; while ! getent hosts h; do : $((n -= 1)); [ $n -gt 0 ] || exit 4; sleep 1; done",
      "n=60; while ! getent hosts h; do let n-=1 || :; [ $n -gt 0 ] || exit 4; sleep 1; done",
      'ok=; for i in $(seq 60); do if getent hosts h; then ok=1; break; fi; sleep 1; done; [ -n "$ok" ] || exit 4',
      'w() { n=0; until getent hosts "$1"; do n=$((n+1)); [ "$n" -le 60 ] || return 1; sleep 1; done; }; w h || exit 4',
    ].map((text): [string, string[]] => [text, [expect.stringMatching(/^h resolves true \S+ fails$/) as string]]),
    ...[
      "for i in $(seq 60); do getent hosts h && break; [ $i -lt 61 ] || exit 4; sleep 1; done",
      "for i in 1 2 3; do getent hosts h && break; [ $i = 4 ] && exit 4; sleep 1; done",
      "i=0; while [ $i -lt 60 ]; do getent hosts h && break; i=$((i+1)); sleep 1; done; [ $i -le 60 ] || exit 4",
      "i=0; while [ $i -lt 60 ]; do getent hosts h && break; i=$((i+1)); sleep 1; done; [ $i -lt 60 ] || echo late",
      "n=0; until getent hosts h; do n=$(expr $n + 1); test $n -lt 60 || break; sleep 1; done",
    ].map((text): [string, string[]] => [text, [expect.stringMatching(/^h resolves true \S+ continues$/) as string]]),
    // how often it goes round is not known
    ...[
      "for i in $(seq $N); do getent hosts h && break; [ $i -lt $N ] || exit 4; sleep 1; done",
      "i=0; while [ $i -lt $N ]; do getent hosts h && break; i=$((i+1)); sleep 1; done; [ $i -lt $N ] || exit 4",
      'i=0; while [ $i -lt 9 ]; do a=$(getent hosts h); [ -n "$a" ] && break; i=$((i+1)); sleep 1; done; [ -n "$a" ] || exit 4',
      "n=0; until getent hosts h; do n=$(echo $n + 1 | bc); test $n -lt 60 || exit 4; test $n -lt 70 || exit 0; sleep 1; done",
    ].map((text): [string, string[]] => [text, [expect.stringMatching(/^h resolves true \S+ unknown$/) as string]]),
    [
      "until getent hosts h; do [ -e /stop ] && exit 0; [ $# -lt 9 ] || exit 1; sleep 1; done",
      ["h resolves undefined 9 unknown"],
    ],
    ["until curl -fs http://h:1/x; do sleep 1; done", ["h answers false - never"]],
    // no waits
    ["getent hosts h", []],
    ["for h in a b; do getent hosts $h; done", []],
    ["while read l; do echo $l; done", []],
    ["until [ -f /x ]; do sleep 1; done", []],
    ["getent passwd root; until getent passwd h; do sleep 1; done", []],
  ])("%s", (text, expected) => {
    expect(waits(text)).toEqual(expected);
  });
  it("stand before what they wait for, or do not", () => {
    const made = program("until getent hosts h; do sleep 1; done; cp /a /b");
    const copy = made.invocations.find((i) => i.name === "cp")!;
    expect(
      runsBefore(
        made,
        waitsOf(made)[0]!.probes.map((p) => p.invocation),
        copy,
      ),
    ).toBe(true);
    const after = program('if [ -n "$W" ]; then until getent hosts h; do sleep 1; done; fi; cp /a /b');
    expect(
      runsBefore(
        after,
        waitsOf(after)[0]!.probes.map((p) => p.invocation),
        after.invocations.find((i) => i.name === "cp")!,
      ),
    ).toBe(false);
  });
  it("may be a command of their own", () => {
    const made = command(["sh", "-c", "until getent hosts $(MASTER).redis; do sleep 2; done"]);
    expect(waitsOf(made).map((w) => w.hosts.map(show))).toEqual([["$(MASTER).redis"]]);
  });
});
