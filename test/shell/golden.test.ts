import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import {
  copyOnce,
  exposedSecrets,
  redisCallsOf,
  type ShellProgram,
  serverStarts,
  show,
  waitsOf,
} from "../../src/model/shell/index.js";
import { command, prepare, program, scripts } from "./facts.js";

const ROOT = new URL("../../fixtures/redis-lab", import.meta.url).pathname;

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

interface Found {
  readonly name: string;
  readonly text: string;
}

const texts: Found[] = [];
const vectors: { readonly name: string; readonly words: readonly string[] }[] = [];
for (const file of files(ROOT)) {
  if (file.endsWith(".sh")) texts.push({ name: file.slice(ROOT.length), text: readFileSync(file, "utf8") });
  if (!file.endsWith(".yaml") || !file.includes("k3s")) continue;
  for (const document of parseAllDocuments(readFileSync(file, "utf8"))) {
    const object = document.toJS() as { kind?: string; metadata?: { name?: string }; data?: Record<string, string> };
    if (object?.kind === "ConfigMap") {
      for (const [key, text] of Object.entries(object.data ?? {}))
        if (key.endsWith(".sh")) texts.push({ name: `${object.metadata?.name}/${key}`, text });
    }
    JSON.stringify(object, (key, value: unknown) => {
      if (key === "command" && Array.isArray(value))
        vectors.push({ name: `${object.kind} ${object.metadata?.name}`, words: value as string[] });
      return value;
    });
  }
}

beforeAll(prepare);

describe("the golden contract's scripts", () => {
  it("are there", () => {
    expect(texts.length).toBeGreaterThanOrEqual(4);
    expect(vectors.length).toBeGreaterThanOrEqual(8);
  });
  it("are understood completely, and show no secret", () => {
    const check = (name: string, made: ShellProgram): void => {
      expect(made.complete, name).toBe(true);
      expect(
        made.invocations.flatMap((i) => exposedSecrets(i)),
        name,
      ).toEqual([]);
      for (const call of redisCallsOf(made)) {
        expect(call.uncertain, name).toBe(false);
        expect(call.commands?.length, name).toBeGreaterThan(0);
        expect(call.tls, name).toBe(true);
      }
    };
    for (const { name, text } of texts) check(name, program(text));
    const mounted = scripts(
      Object.fromEntries(texts.map(({ name, text }) => [`/scripts/${name.split("/")[1]}`, text])),
    );
    for (const { name, words } of vectors) check(name, command(words, { script: mounted }));
  });
  it.each([
    ["redis-sentinel-scripts/bootstrap.sh", "/data/sentinel.conf", "^sentinel monitor "],
    ["redis-data-scripts/bootstrap.sh", "/data/redis.conf", "^tls-port 6379$"],
  ])("%s copies %s once", (name, path, check) => {
    const found = texts.find((text) => text.name === name);
    expect(copyOnce(program(found!.text), path)).toMatchObject({
      kind: "copy-if-absent",
      atomic: true,
      emptyFails: true,
      damagedFileFails: true,
      goodPasses: true,
      checks: expect.arrayContaining([check]),
    });
  });
  it("waits for the primary's name, not for ever", () => {
    const found = texts.find((text) => text.name === "redis-sentinel-scripts/bootstrap.sh");
    const [wait] = waitsOf(program(found!.text));
    expect(wait).toMatchObject({ bounded: true, onExpiry: "fails" });
    expect(wait!.hosts.map(show)).toEqual(["redis-data-0.redis-data.redis-lab.svc.cluster.local"]);
  });
  it("starts the servers that it should", () => {
    const starts = vectors.flatMap(({ words }) =>
      serverStarts(command(words)).map((s) => `${s.mode} ${s.config?.known}`),
    );
    expect(new Set(starts)).toEqual(new Set(["server /data/redis.conf", "sentinel /data/sentinel.conf"]));
  });
});
