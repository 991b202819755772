/** Symbolic links: those inside the root are as good as files, those that lead out of it are named and not read. */
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonResult } from "../../src/reporter/json.js";
import { edit, goldenCopy, quorumlint, removeTemporary, temporary } from "./run.js";

afterEach(removeTemporary);

const SECRET = "do-not-show-me";
const ACL = "infra/redis-lab/config/redis-users.acl.tmpl";

/** Moves a path of a tree somewhere else and leaves a link. */
function linkAway(folder: string, path: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  renameSync(join(folder, path), to);
  symlinkSync(relative(dirname(join(folder, path)), to), join(folder, path));
}

function json(args: readonly string[], cwd?: string): { code: number | null; result: JsonResult; all: string } {
  const run = quorumlint([...args, "--format", "json"], cwd === undefined ? {} : { cwd });
  return { code: run.code, result: JSON.parse(run.stdout), all: run.stdout + run.stderr };
}

describe("a link inside the root", () => {
  it("is read as the file that it leads to: files, a directory, a chain", () => {
    const folder = goldenCopy();
    linkAway(folder, ACL, join(folder, "elsewhere/users.acl.tmpl"));
    linkAway(folder, "infra/redis-lab/k3s", join(folder, "manifests"));
    symlinkSync("users.acl.tmpl", join(folder, "elsewhere/again.acl.tmpl"));
    unlinkSync(join(folder, ACL));
    symlinkSync("../../../elsewhere/again.acl.tmpl", join(folder, ACL));
    expect(json([folder])).toMatchObject({ code: 0, result: { diagnostics: [] } });
    edit(folder, "manifests/redis-sentinel.yaml", "minAvailable: 2", "minAvailable: 3");
    const { code, result } = json([folder]);
    expect(code).toBe(1);
    expect(result.diagnostics.map((d) => [d.rule, d.file])).toEqual([
      ["k8s/disruption-budget", "infra/redis-lab/k3s/redis-sentinel.yaml"],
    ]);
  });

  it("works as Kubernetes mounts a ConfigMap: redis.conf -> ..data/redis.conf, ..data -> a dated directory", () => {
    const folder = temporary();
    const dated = join(folder, "..2026_11_29");
    mkdirSync(dated);
    writeFileSync(join(dated, "redis.conf"), "port 6379\nbinds 0.0.0.0\n");
    symlinkSync("..2026_11_29", join(folder, "..data"));
    symlinkSync("..data/redis.conf", join(folder, "redis.conf"));
    const { result } = json([folder]);
    expect(result.diagnostics.map((d) => [d.rule, d.file, d.range.start.line])).toContainEqual([
      "redis/directive",
      "redis.conf",
      2,
    ]);
    expect(result.inputs.find((i) => i.file === "..data")).toMatchObject({ kind: "ignored" });
  });

  it("and the root may be reached by a link itself", () => {
    const folder = goldenCopy();
    const link = join(temporary(), "here");
    symlinkSync(folder, link);
    expect(json([link])).toMatchObject({ code: 0, result: { diagnostics: [], summary: { contracts: 1 } } });
  });
});

describe("a link out of the root", () => {
  it("of a declared file is a finding in its place, and nothing of the target is shown", () => {
    const folder = goldenCopy();
    const outside = join(temporary(), "users.acl.tmpl");
    linkAway(folder, ACL, outside);
    writeFileSync(outside, `user default on >${SECRET} ~* &* +@all ${SECRET}\n`);
    const { code, result, all } = json([folder]);
    expect(code).toBe(1);
    expect(result.diagnostics.filter((d) => d.file === ACL).map((d) => [d.rule, d.message])).toEqual([
      ["acl/syntax", "it is not read: a symbolic link leads out of the directory that is checked"],
    ]);
    expect(result.inputs.find((i) => i.file === ACL)?.reason).toContain("leads out");
    expect(all).not.toContain(SECRET);
    // the same by a directory that is a link
    const other = goldenCopy();
    linkAway(other, "infra/redis-lab/config", join(temporary(), "config"));
    const second = json([other]);
    expect(second.code).toBe(1);
    expect(new Set(second.result.diagnostics.map((d) => d.rule))).toEqual(new Set(["acl/syntax", "redis/syntax"]));
  });

  it.each([
    ["properties", "src/gradle/redis-test-images.properties"],
    ["a script", "infra/redis-lab/k3s/redis-data.yaml"],
  ])("of %s is named too", (_, file) => {
    const folder = goldenCopy();
    linkAway(folder, file, join(temporary(), "file"));
    const { code, result } = json([folder]);
    expect(code).toBe(1);
    expect(result.inputs.find((i) => i.file === file)?.reason).toContain("leads out");
  });

  it("of a directory under a glob is the user's mistake, with its place", () => {
    const folder = goldenCopy();
    linkAway(folder, "infra/redis-lab/k3s", join(temporary(), "k3s"));
    const run = quorumlint(["check", folder]);
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(
      /quorumlint\.yaml:\d+:\d+: "infra\/redis-lab\/k3s\/\*\.yaml" leaves the directory of the contract file: "infra\/redis-lab\/k3s" is a symbolic link out of it/,
    );
  });

  it("of the contract file itself is refused, unless it was named", () => {
    const folder = goldenCopy();
    const outside = join(temporary(), "quorumlint.yaml");
    linkAway(folder, "quorumlint.yaml", outside);
    const run = quorumlint(["check", folder]);
    expect(run).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr).toContain("a symbolic link leads out of the directory");
    expect(quorumlint(["check", folder, "--config", join(folder, "quorumlint.yaml")]).code).toBe(0);
    // one that is shared inside the tree that is checked is found as before
    const tree = temporary();
    renameSync(folder, join(tree, "lab"));
    unlinkSync(join(tree, "lab/quorumlint.yaml"));
    renameSync(outside, join(tree, "shared.yaml"));
    symlinkSync("../shared.yaml", join(tree, "lab/quorumlint.yaml"));
    expect(json([tree])).toMatchObject({ code: 0, result: { summary: { contracts: 1 } } });
  });

  it("is listed where contracts are inferred: files that matter are findings, others are ignored with the reason", () => {
    const folder = temporary();
    const outside = temporary();
    writeFileSync(join(folder, "sentinel.conf"), "port 26379\n");
    writeFileSync(join(outside, "redis.conf"), `requirepass ${SECRET}\n`);
    writeFileSync(join(outside, "notes"), SECRET);
    symlinkSync(join(outside, "redis.conf"), join(folder, "redis.conf"));
    symlinkSync(join(outside, "notes"), join(folder, "redis-notes"));
    symlinkSync(outside, join(folder, "more"));
    const { result, all } = json([folder]);
    expect(result.diagnostics.filter((d) => d.file === "redis.conf").map((d) => d.rule)).toEqual(["redis/syntax"]);
    const reasons = Object.fromEntries(result.inputs.map((i) => [i.file, i.reason]));
    expect(reasons["more"]).toContain("leads out");
    expect(reasons["redis.conf"]).toContain("leads out");
    expect(all).not.toContain(SECRET);
  });

  it("is seen by every command and by the cache", () => {
    const folder = goldenCopy();
    const cache = join(temporary(), "cache");
    const args = [folder, "--cache", "--cache-location", cache];
    expect(json(args).code).toBe(0);
    const outside = join(temporary(), "users.acl.tmpl");
    linkAway(folder, ACL, outside);
    // the same text under the same name: only where it lies has changed
    expect(json(args).code).toBe(1);
    expect(json(args).code).toBe(1);
    rmSync(join(folder, ACL));
    renameSync(outside, join(folder, ACL));
    expect(json(args).code).toBe(0);
    expect(readdirSync(cache).length).toBeGreaterThan(0);

    const manifests = temporary();
    const secret = join(temporary(), "x.yaml");
    writeFileSync(secret, `apiVersion: v1\nkind: ${SECRET}\n`);
    symlinkSync(secret, join(manifests, "x.yaml"));
    const graph = quorumlint(["graph", manifests]);
    expect(graph.stderr).toContain("leads out of the directory");
    expect(graph.stdout + graph.stderr).not.toContain(SECRET);
    const init = quorumlint(["init", manifests, "--stdout"]);
    expect(init.stdout + init.stderr).not.toContain(SECRET);
  });
});
