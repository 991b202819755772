/** `quorumlint init`: what it writes holds for the tree that it was written from, and breaks when that breaks. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { root } from "../support.js";
import { edit, quorumlint, removeTemporary, temporary } from "./run.js";

afterAll(removeTemporary);

function copyOf(fixture: string): string {
  const folder = temporary();
  cpSync(join(root, "fixtures", fixture), folder, { recursive: true });
  rmSync(join(folder, "quorumlint.yaml"), { force: true });
  return folder;
}

function written(folder: string): string {
  const run = quorumlint(["init", folder]);
  expect(run.code, run.stderr).toBe(0);
  expect(run.stdout).toBe("");
  return readFileSync(join(folder, "quorumlint.yaml"), "utf8");
}

describe("init", () => {
  it("the golden tree without its contract file: one contract that checks clean, and that every breach breaks", () => {
    const folder = copyOf("redis-lab");
    const text = written(folder);
    for (const line of [
      "  redis-lab:",
      "      manifests: [infra/redis-lab/k3s/*.yaml]",
      "      namespace: redis-lab",
      "        workload: StatefulSet/redis-data",
      "        config: infra/redis-lab/config/redis.conf.tmpl",
      "        acl: infra/redis-lab/config/sentinel-users.acl.tmpl",
      "      control: sentinel-control",
      "        - { from: sentinel, to: data, port: 6379 }",
      "        - { from: all, to: dns, port: 53, protocol: [TCP, UDP] }",
      "    images: { file: src/gradle/redis-test-images.properties }",
    ])
      expect(text).toContain(`${line}\n`);
    const clean = quorumlint(["check", folder, "--format", "json"]);
    expect(JSON.parse(clean.stdout).diagnostics).toEqual([]);
    expect(JSON.parse(clean.stdout).summary.contracts).toBe(1);

    // what was written is a promise: an edge, an object, a user less is a finding
    for (const [file, from, to, rule] of [
      ["infra/redis-lab/k3s/network-policies.yaml", "port: 26379", "port: 6379", "network/edges"],
      ["infra/redis-lab/k3s/serviceaccounts.yaml", "name: redis-sentinel", "name: other", "k8s/inventory"],
      ["infra/redis-lab/config/redis-users.acl.tmpl", "user replica ", "user replicant ", "acl/wiring"],
    ] as const) {
      const before = readFileSync(join(folder, file), "utf8");
      edit(folder, file, from, to);
      const run = quorumlint(["check", folder, "--format", "json"]);
      const found = JSON.parse(run.stdout).diagnostics.map((d: { rule: string }) => d.rule);
      expect(found).toContain(rule);
      writeFileSync(join(folder, file), before);
    }
  });

  it("an inferred tree with everything in ConfigMaps checks clean", () => {
    const folder = copyOf("inferred");
    const text = written(folder);
    expect(text).toContain("config: ConfigMap/redis-data-config#redis.conf\n");
    expect(text).toContain("- Namespace/cache\n");
    const clean = quorumlint(["check", folder, "--format", "json"]);
    expect(JSON.parse(clean.stdout).diagnostics).toEqual([]);
  });

  it("never writes over a contract file, whatever its name", () => {
    for (const name of ["quorumlint.yaml", "quorumlint.yml"]) {
      const folder = copyOf("inferred");
      writeFileSync(join(folder, name), "version: 1\n");
      const run = quorumlint(["init", folder]);
      expect(run.code).toBe(2);
      expect(run.stderr).toContain(`${name} is there already`);
      expect(readFileSync(join(folder, name), "utf8")).toBe("version: 1\n");
      expect(existsSync(join(folder, "quorumlint.yaml"))).toBe(name === "quorumlint.yaml");
    }
  });

  it("nothing to declare, no directory: your mistake, and nothing is written", () => {
    const folder = temporary();
    writeFileSync(join(folder, "values.yaml"), "a: 1\n");
    expect(quorumlint(["init", folder]).code).toBe(2);
    expect(existsSync(join(folder, "quorumlint.yaml"))).toBe(false);
    expect(quorumlint(["init", join(folder, "none")]).code).toBe(2);
  });

  it("servers in directories of their own become one glob, and odd names are quoted", () => {
    const folder = temporary();
    for (const n of ["a: b", "c, d"]) {
      mkdirSync(join(folder, n));
      writeFileSync(join(folder, n, "redis.conf"), "port 6379\nappendonly yes\ndir /data\n");
    }
    const run = quorumlint(["init", folder, "--stdout"]);
    expect(run.code, run.stderr).toBe(0);
    expect(existsSync(join(folder, "quorumlint.yaml"))).toBe(false);
    expect(run.stdout).toMatch(/config: "?(?:a: b|\*)\/redis\.conf"?/);
    writeFileSync(join(folder, "quorumlint.yaml"), run.stdout);
    expect(quorumlint(["check", folder, "--fail-on", "never"]).code).toBe(0);
  });
});
