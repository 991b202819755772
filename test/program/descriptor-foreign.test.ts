/** Descriptors that nobody here wrote: packages' own catalogs, against what Node makes of the same files. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { evalshaCalls } from "../../src/model/program/descriptor/recovery.js";
import { sha1 } from "../../src/model/program/sha1.js";
import { bytesOf } from "../../src/text/bytes.js";
import { Source } from "../../src/text/source.js";
import { root } from "../support.js";
import { parse, read, reading } from "./code.js";

const modules = join(root, "node_modules");
const load = createRequire(import.meta.url);

function files(folder: string): [string, string][] {
  return readdirSync(join(modules, folder), { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile() && /\.[mc]?js$/.test(e.name))
    .map((e) => join(e.parentPath, e.name))
    .filter((path) => !path.slice(modules.length + folder.length + 2).includes("node_modules"))
    .map((path) => [path.slice(modules.length + 1), readFileSync(path, "utf8")]);
}

describe("bullmq", () => {
  const folder = "bullmq/dist/cjs/scripts";
  const scripts = files(folder).filter(([path]) => /-\d+\.js$/.test(path));

  it("has them", () => expect(scripts.length).toBeGreaterThan(50));

  it("each text is what Node makes of it, each number of keys that of the file's name", () => {
    for (const [path, text] of scripts) {
      const { descriptors } = read({ [path]: text });
      const [name, count] = /([^/]+)-(\d+)\.js$/.exec(path)!.slice(1) as [string, string];
      const own = (load(join(modules, path)) as Record<string, { content: string }>)[name]!;
      expect(descriptors.map((d) => [d.holder?.name, reading(d.numberOfKeys), reading(d.text)])).toEqual([
        [name, Number(count), own.content],
      ]);
    }
  });
});

describe("@upstash/ratelimit", () => {
  it("the digests beside the texts are those of the texts, evaluated", () => {
    const path = "@upstash/ratelimit/dist/index.mjs";
    const { descriptors } = read({ [path]: readFileSync(join(modules, path), "utf8") });
    const pairs = descriptors.filter((d) => d.text.state === "known" && d.sha1.state === "known");
    expect(pairs.length).toBeGreaterThanOrEqual(8);
    for (const d of pairs) expect(reading(d.sha1)).toBe(sha1(bytesOf(String(reading(d.text)))));
  });
});

const PACKAGES = [
  "bull/lib",
  "bullmq/dist/cjs",
  "groupmq/dist",
  "redis-semaphore/lib",
  "rate-limiter-flexible",
  "@upstash/ratelimit/dist",
  "@sesamecare-oss/redlock",
  "@fastify/rate-limit",
];

describe("whole packages", () => {
  it.each(PACKAGES)("%s is read without a crash, within its bounds", (name) => {
    const all = files(name);
    expect(all.length).toBeGreaterThan(0);
    const start = performance.now();
    const found = read(Object.fromEntries(all));
    expect(performance.now() - start).toBeLessThan(60_000);
    for (const d of found.descriptors) {
      const text = reading(d.text);
      if (text !== "unknown" && text !== "absent") expect(String(text)).toMatch(/redis|KEYS|ARGV|return/);
    }
    const calls = evalshaCalls(
      all.map(([path, text]) => ({ source: new Source(path, text), code: parse(path, text) })),
    );
    // libraries that call EVALSHA themselves also recover; one does not (it keeps the digest by client, for good)
    expect(calls.filter((c) => c.verdict !== "recovers").map((c) => [c.verdict, c.at.source.file])).toEqual(
      name === "groupmq/dist"
        ? [
            ["missing", "groupmq/dist/index.cjs"],
            ["missing", "groupmq/dist/index.js"],
          ]
        : [],
    );
  });
});
