// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text
import { beforeAll, describe, expect, it } from "vitest";
import {
  checkedBefore,
  closesDescriptor,
  clusterCalls,
  destructions,
  digestChecks,
  downloads,
  installs,
  kubeconfigWrites,
  locks,
  show,
  strictness,
  timeLimit,
  umasks,
} from "../../src/model/shell/index.js";
import { commandText, prepare, program } from "./facts.js";

beforeAll(prepare);

describe("destruction", () => {
  it.each<[string, string[]]>([
    ["multipass purge", ["purge purge"]],
    ["multipass delete --all", ["all --all"]],
    ["timeout 60 multipass delete --all --purge", ["all --all"]],
    ["multipass delete 'ca-*'", ["wildcard ca-*"]],
    ["multipass stop ca-*", ["wildcard ca-*"]],
    ["multipass delete $(multipass list --format csv)", ["listed $(multipass)"]],
    ["multipass list | xargs multipass delete", ["listed delete"]],
    ["f() { multipass purge; }", ["purge purge"]],
    ["multipass delete --purge ca-redis-lab-server", []],
    ['for vm in a b; do multipass delete --purge "$vm"; done', []],
    ["multipass list --all", []],
    ["echo multipass purge", []],
    ["multipass exec vm -- rm -rf /x/*", ["wildcard /x/*"]],
  ])("%s", (text, expected) => {
    expect(destructions(program(text)).map((d) => `${d.kind} ${show(d.arg)}`)).toEqual(expected);
  });
});

describe("downloads", () => {
  it.each<[string, string[]]>([
    ["curl -sfL https://get.k3s.io | sh -", ["https://get.k3s.io -> out run by sh -"]],
    [
      "curl -sfL https://get.k3s.io | INSTALL_K3S_EXEC=x sudo -E sh -s - server",
      ["https://get.k3s.io -> out run by sh -s - server"],
    ],
    ['sh -c "$(curl -fsSL https://h/x)"', ["https://h/x -> out run by sh -c $(curl)"]],
    ["bash <(curl -s https://h/x)", ["https://h/x -> out run by bash …"]],
    ['eval "$(wget -qO- https://h/x)"', ["https://h/x -> out run by eval $(wget)"]],
    ['curl -fL -o "$D/k3s" "$K3S_URL"', ["${K3S_URL} -> ${D}/k3s"]],
    ["curl -fLO https://h/k3s", ["https://h/k3s -> k3s"]],
    ["wget https://h/k3s", ["https://h/k3s -> k3s"]],
    ["wget -O /x https://h/k3s", ["https://h/k3s -> /x"]],
    ["curl https://h/k3s > /x", ["https://h/k3s -> /x"]],
    ["curl https://h/x | tar xz", ["https://h/x -> out"]],
    ["echo curl | sh", []],
  ])("%s", (text, expected) => {
    expect(
      downloads(program(text)).map(
        (d) =>
          `${d.url === undefined ? "?" : show(d.url)} -> ${d.output === undefined ? "out" : show(d.output)}${d.runBy === undefined ? "" : ` run by ${commandText(d.runBy)}`}`,
      ),
    ).toEqual(expected);
  });
});

describe("checks of digests", () => {
  it.each<[string, string[]]>([
    ['echo "$SHA  k3s" | sha256sum -c -', ["k3s"]],
    ['echo "$SHA  $D/k3s" | sha256sum -c', ["${D}/k3s"]],
    ["printf '%s  %s\\n' \"$SHA\" k3s | shasum -a 256 -c", ["k3s"]],
    ["sha256sum -c sums.txt", ["?"]],
    ['sha256sum -c <<< "$SHA *k3s"', ["k3s"]],
    ['[ "$(sha256sum k3s | cut -d\' \' -f1)" = "$SHA" ] || exit 1', ["k3s"]],
    ['A=$(sha256sum < k3s); [ "$A" = "$SHA" ]', ["k3s"]],
    ["sha256sum k3s", []],
  ])("%s", (text, expected) => {
    expect(digestChecks(program(text)).map((c) => (c.file === undefined ? "?" : show(c.file)))).toEqual(expected);
  });
  it.each<[string, [string, boolean | undefined][]]>([
    [
      'set -e; curl -o k3s $URL; echo "$SHA  k3s" | sha256sum -c -; install -m 755 k3s /usr/local/bin/k3s',
      [["install k3s", true]],
    ],
    ['curl -o k3s $URL; echo "$SHA  k3s" | sha256sum -c - || exit 1; chmod +x k3s', [["install k3s", true]]],
    ['curl -o k3s $URL; echo "$SHA  k3s" | sha256sum -c -; chmod +x k3s', [["install k3s", false]]],
    ['set -e; install k3s /usr/local/bin/k3s; echo "$SHA  k3s" | sha256sum -c -', [["install k3s", false]]],
    ["set -e; curl -o x $URL; sh x", [["execute x", false]]],
    ['set -e; [ -n "$SKIP" ] || echo "$SHA  x" | sha256sum -c; ./x', [["execute ./x", false]]],
    ['set -e; echo "$SHA  y" | sha256sum -c; ./x', [["execute ./x", false]]],
    ["set -e; sha256sum -c sums; tar xzf x.tgz", [["unpack x.tgz", true]]],
    ['set -e; echo "$SHA  k3s" | sha256sum -c; multipass transfer k3s vm:/tmp/k3s', [["transfer k3s", true]]],
    [
      'die() { exit 1; }; [ "$(sha256sum k3s | cut -c1-64)" = "$SHA" ] || die; cp k3s /usr/local/bin/',
      [["install k3s", true]],
    ],
    [". /lib.sh; sh x", [["execute x", undefined]]],
  ])("%s", (text, expected) => {
    const made = program(text);
    expect(installs(made).map((use) => [`${use.kind} ${show(use.file)}`, checkedBefore(made, use)])).toEqual(expected);
  });
});

describe("clusters", () => {
  it.each<[string, string]>([
    ['kubectl --kubeconfig "$KC" --context ca-redis-lab get pods', "get ${KC} ca-redis-lab"],
    ["kubectl --kubeconfig=/k --context=c apply -f x", "apply /k c"],
    ["kubectl get pods", "get - -"],
    ["KUBECONFIG=/k kubectl get pods", "get /k -"],
    ["export KUBECONFIG=/k; kubectl config view", "config view /k -"],
    ["kubectl config use-context c", "config use-context - -"],
    ["kubectl -n x get pods", "get - -"],
    ['K="kubectl --kubeconfig /k --context c"; $K get pods', "get /k c"],
    ['kc() { kubectl --kubeconfig /k --context c "$@"; }; kc rollout status sts/x', "rollout status /k c"],
    ["kubectl $ARGS get pods", "? - - uncertain"],
    ["k3s kubectl get nodes", "get - -"],
    ["helm --kube-context c upgrade x", "upgrade - c"],
  ])("%s", (text, expected) => {
    const [found] = clusterCalls(program(text));
    expect(
      `${found!.uncertain && found!.verb === undefined ? "?" : found!.verb} ${found!.kubeconfig === undefined ? "-" : show(found!.kubeconfig)} ${found!.context === undefined ? "-" : show(found!.context)}${found!.uncertain ? " uncertain" : ""}`,
    ).toBe(expected);
  });
  it("knows writes to the user's own kubeconfig", () => {
    expect(
      kubeconfigWrites(
        program('cp /k ~/.kube/config; kubectl config view > "$HOME/.kube/config"; cp /k /lab/.kube/config2'),
      ),
    ).toHaveLength(2);
  });
});

describe("limits, locks, options", () => {
  it.each<[string, string]>([
    ["timeout 5 kubectl get pods", "given"],
    ["kubectl wait --timeout=60s --for=condition=Ready pod/x", "given"],
    ["kubectl get pods", "missing"],
    ["curl --max-time 5 https://h", "given"],
    ["curl https://h", "missing"],
    ["multipass launch --timeout 600 x", "given"],
    ["echo x", "not needed"],
    ["redis-cli -t 5 ping", "given"],
    ["ssh -o ConnectTimeout=5 h x", "given"],
  ])("%s", (text, expected) => {
    expect(timeLimit(program(text).invocations[0]!)).toBe(expected);
  });
  it("counts a time limit around a script", () => {
    const made = program("timeout 60 sh -c 'kubectl get pods'");
    expect(timeLimit(made.invocations.find((i) => i.name === "kubectl")!)).toBe("given");
  });
  it("reads locks", () => {
    const made = program(
      "exec 9>/run/lab.lock; flock -n 9 || exit 1; flock -w 5 /l cmd; flock -s 8; kubectl get pods 9>&-",
    );
    expect(locks(made).map((l) => [l.nonBlocking, l.exclusive, l.on === undefined ? undefined : show(l.on)])).toEqual([
      [true, true, "9"],
      [false, true, "/l"],
      [false, false, "8"],
    ]);
    expect(made.invocations.filter((i) => closesDescriptor(i, 9)).map((i) => i.name)).toEqual(["kubectl"]);
  });
  it.each<[string, [boolean, boolean, boolean]]>([
    ["set -euo pipefail\nx", [true, true, true]],
    ["#!/bin/sh -eu\nx", [true, false, false]],
    ["umask 077; set -e; set -u; x", [true, true, false]],
    ["x; set -e", [false, false, false]],
    ["if x; then set -e; fi", [false, false, false]],
    ["set -o errexit -o nounset -o pipefail", [true, true, true]],
  ])("%s", (text, [errexit, nounset, pipefail]) => {
    expect(strictness(program(text))).toEqual({ errexit, nounset, pipefail });
  });
  it("reads umask", () => {
    expect(umasks(program("umask 077; umask; umask -S; (umask 022)")).map((u) => show(u.mask))).toEqual(["077", "022"]);
  });
});
