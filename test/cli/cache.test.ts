/** `--cache`: the same output without the work, never an old one, and nothing lost when it is damaged. */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { disk } from "../../src/cli/disk.js";
import { memoryHost } from "../../src/contract/memory.js";
import { RecordedHost } from "../../src/contract/recorded.js";
import { TODAY } from "../support.js";
import { edit, goldenCopy, quorumlint, removeTemporary, temporary } from "./run.js";

const ACL = "infra/redis-lab/config/redis-users.acl.tmpl";
let folder = "";
let cache = "";

beforeEach(() => {
  folder = goldenCopy();
  cache = join(temporary(), "cache");
});
afterAll(removeTemporary);

const run = (...args: string[]) => quorumlint(["check", folder, "--today", TODAY, ...args]);
const cached = (...args: string[]) => run("--cache", "--cache-location", cache, ...args);
const entries = () => readdirSync(cache).sort();

/** Marks the entries, so that a run that uses one shows it. */
function mark(): void {
  for (const name of entries()) {
    const path = join(cache, name);
    const { createHash } = process.getBuiltinModule("node:crypto");
    const body = readFileSync(path, "utf8").slice(65).replace("checked", "checked from the cache");
    writeFileSync(path, `${createHash("sha256").update(body).digest("hex")}\n${body}`);
  }
}

describe("check --cache", () => {
  it("prints the same bytes with and without it, also to files, with the same exit code", () => {
    edit(folder, ACL, "+config|rewrite ", "");
    const out = join(folder, "../out.sarif");
    const plain = run("--format", "pretty", "--format", `sarif=${out}`);
    expect(plain.code).toBe(1);
    const sarif = readFileSync(out, "utf8");
    for (let i = 0; i < 3; i++) {
      rmSync(out);
      expect(cached("--format", "pretty", "--format", `sarif=${out}`)).toEqual(plain);
      expect(readFileSync(out, "utf8")).toBe(sarif);
    }
    expect(entries()).toHaveLength(1);
  });

  it("uses what it kept, as long as nothing has changed", () => {
    expect(cached().code).toBe(0);
    mark();
    expect(cached().stdout).toContain("checked from the cache");
  });

  it.each<[string, () => void]>([
    ["a changed file", () => edit(folder, ACL, "+config|rewrite ", "")],
    [
      "a new file",
      () =>
        writeFileSync(
          join(folder, "infra/redis-lab/k3s/new.yaml"),
          "kind: ConfigMap\napiVersion: v1\nmetadata: { name: x, namespace: redis-lab }\n",
        ),
    ],
    ["a file that is gone", () => rmSync(join(folder, ACL))],
    [
      "a changed contract file",
      () => edit(folder, "quorumlint.yaml", "version: 1\n", "version: 1\nrules: { k8s/inventory: warning }\n"),
    ],
    [
      "a directory instead of a file",
      () => {
        rmSync(join(folder, ACL));
        mkdirSync(join(folder, ACL));
      },
    ],
    [
      "a link that leads elsewhere",
      () => {
        rmSync(join(folder, ACL));
        symlinkSync("/dev/null", join(folder, ACL));
      },
    ],
  ])("sees %s", (_, change) => {
    cached("--strict-discovery");
    mark();
    change();
    const now = cached("--strict-discovery");
    expect(now).toEqual(run("--strict-discovery"));
    expect(now.stdout).not.toContain("from the cache");
  });

  it.each([
    ["another day", ["--today", "2027-12-31"]],
    ["another format", ["--format", "json"]],
    ["other rules", ["--rule", "acl/*"]],
    ["another threshold", ["--fail-on", "never"]],
    ["a shard", ["--shard", "1/2"]],
    ["colours", ["--color"]],
  ])("is another run with %s", (_, args) => {
    cached();
    mark();
    expect(cached(...args)).toEqual(run(...args));
    expect(entries()).toHaveLength(2);
  });

  it("is another run with another baseline", () => {
    edit(folder, ACL, "+config|rewrite ", "");
    const baseline = join(temporary(), "baseline.json");
    run("--baseline", baseline, "--update-baseline");
    expect(cached("--baseline", baseline).code).toBe(0);
    writeFileSync(baseline, readFileSync(baseline, "utf8").replace(/"entries": \[[\s\S]*\]/, '"entries": []'));
    expect(cached("--baseline", baseline)).toEqual(run("--baseline", baseline));
  });

  it.each<[string, (path: string) => void]>([
    ["cut", (path) => writeFileSync(path, readFileSync(path, "utf8").slice(0, 500))],
    ["empty", (path) => writeFileSync(path, "")],
    ["changed", (path) => writeFileSync(path, readFileSync(path, "utf8").replace("documents", "docUments"))],
    [
      "a directory",
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ])("takes no notice of an entry that is %s", (_, damage) => {
    const plain = cached();
    damage(join(cache, entries()[0]!));
    expect(cached()).toEqual(plain);
    expect(cached()).toEqual(plain);
  });

  it("works where it cannot write, and where its folder is in the tree", () => {
    expect(run("--cache-location", join(folder, "quorumlint.yaml/cache"))).toEqual(run());
    cache = join(folder, "infra/.cache");
    const plain = run("--strict-discovery", "--format", "json");
    for (let i = 0; i < 2; i++) expect(cached("--strict-discovery", "--format", "json")).toEqual(plain);
    expect(entries()).toHaveLength(1);
  });

  it("keeps a hundred runs at most, and none that changes files", () => {
    mkdirSync(cache, { recursive: true });
    for (let i = 0; i < 150; i++) writeFileSync(join(cache, `${i.toString(16).padStart(64, "0")}.json`), "old");
    cached();
    expect(entries()).toHaveLength(100);
    rmSync(cache, { recursive: true });
    expect(cached("--fix").code).toBe(0);
    expect(() => entries()).toThrow(/ENOENT/);
  });
});

describe("a recorded host", () => {
  it("answers like the host under it, but for what is hidden", () => {
    const files = new Map([
      ["a/x.yaml", new Uint8Array([65])],
      ["cache/e.json", new Uint8Array([66])],
    ]);
    const host = new RecordedHost(memoryHost(files, "/t"), String, "/t/cache");
    expect(host.read("/t/a/x.yaml")).toEqual(new Uint8Array([65]));
    expect(host.read("/t/cache/e.json")).toBeUndefined();
    expect(host.stat("/t/cache")).toBeUndefined();
    expect(host.list("/t")!.map((e) => e.name)).toEqual(["a"]);
    expect(host.list("/t/cache")).toBeUndefined();
    expect(new RecordedHost(memoryHost(files, "/t"), String, "/t/cache").answers(host.questions)).toBe(true);
    files.set("a/y.yaml", new Uint8Array());
    const later = new RecordedHost(memoryHost(files, "/t"), String, "/t/cache");
    expect(host.list("/t/a")!.length).toBe(1);
    expect(later.answers(host.questions)).toBe(false);
  });

  it("keeps that a file cannot be read", () => {
    const host = new RecordedHost(disk, String);
    expect(host.read("/nowhere")).toBeUndefined();
    expect(host.questions).toEqual([["r", "/nowhere", ""]]);
  });
});
