/**
 * The effects of foreign scripts against a real server: the commands that MONITOR shows are among the computed ones, each key
 * fits a computed origin, a user with exactly the computed permissions is never denied, and where every key is said to get
 * a time to live on every path, none is left without one.
 */
import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { analyseScript, type KeyUse, type ScriptEffects } from "../../src/model/program/effects.js";
import { tableSpecs } from "../../src/model/program/keyspecs.js";
import { CONTAINERS } from "../../src/model/program/knowledge.js";
import { patternOf } from "../../src/model/program/origin.js";
import { compileGlob, globMatch } from "../../src/model/redis/glob.js";
import { commandTable } from "../../src/model/redis/servers.js";
import { bytesOf } from "../../src/text/bytes.js";
import {
  Daemon,
  findServer,
  RedisClient,
  ReplyError,
  removeDirectory,
  temporaryDirectory,
  until,
} from "../live/util.js";
import { collect, type ForeignScript, includeOf } from "./collect.js";
import { document } from "./support.js";

const server = findServer();
const scripts = typeof server === "string" ? [] : collect();
if (typeof server === "string") console.log(`live effects: ${server}`);
const modern = typeof server !== "string" && Number(server.version.split(".")[0]) >= 7;
const specs = tableSpecs(commandTable("redis-7.0")!);

/** Words that make scripts take different ways. */
const ARGUMENTS: readonly (readonly string[])[] = [
  ["1", "1000", "5", "1700000000000", "2", "3", "4", "5", "6", "7"],
  ["a", "1", "b", "2", "c", "3", "d", "4", "e", "5"],
  ["0", "0", "0", "0", "0", "0", "0", "0", "0", "0"],
  ["k:{t}:", "id", "1700000000000", "10", "x", "1", "", "", "", ""],
  ["", "5", "true", "true", "1", "LPUSH", "wait", "0", "1", "1"],
];

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

/** The words of a MONITOR line that a script sent, else undefined. */
function scriptWords(line: string): string[] | undefined {
  const match = /^\+?[\d.]+ \[\d+ lua\] (.*)$/.exec(line);
  if (match === null) return undefined;
  return [...match[1]!.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((m) =>
    m[1]!.replace(/\\x([0-9a-f]{2})|\\(.)/gi, (_, hex: string | undefined, char: string) =>
      hex !== undefined ? String.fromCharCode(Number.parseInt(hex, 16)) : (ESCAPED[char] ?? char),
    ),
  );
}
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b" };

/** Globs of the keys that a use may name, for the given KEYS. */
function globsOf(use: KeyUse, keys: readonly string[]): readonly string[] {
  const any = use.origin.parts.some((p) => p.kind === "keys" && p.index === undefined);
  const escaped = keys.map((k) => k.replace(/[*?[\\]/g, "\\$&"));
  if (!any) return [patternOf(use.origin, escaped) ?? "*"];
  return escaped.map((key) =>
    use.origin.parts
      .map((p) =>
        p.kind === "text"
          ? p.text
          : p.kind === "keys"
            ? p.index === undefined
              ? key
              : (escaped[p.index - 1] ?? "")
            : "*",
      )
      .join(""),
  );
}

describe.runIf(modern && scripts.length > 0)("effects on a live server", () => {
  const directory = temporaryDirectory("effects");
  let daemon: Daemon;
  let client: RedisClient;
  let user: RedisClient;
  let monitor: Socket;
  let lines: string[] = [];
  let rest = "";

  beforeAll(async () => {
    const port = await freePort();
    const path = (server as { path: string }).path;
    daemon = new Daemon(
      [path, "--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", directory, "--loglevel", "warning"],
      join(directory, "log"),
    );
    const up = await until(
      async () => {
        try {
          client = await RedisClient.open({ host: "127.0.0.1", port });
          return true;
        } catch {
          return false;
        }
      },
      10_000,
      50,
    );
    if (!up) throw new Error(daemon.output());
    user = await RedisClient.open({ host: "127.0.0.1", port });
    monitor = createConnection({ host: "127.0.0.1", port });
    monitor.setEncoding("latin1");
    monitor.on("data", (chunk: string) => {
      const parts = (rest + chunk).split("\r\n");
      rest = parts.pop()!;
      lines.push(...parts);
    });
    monitor.write("MONITOR\r\n");
    await until(async () => lines.length > 0, 5_000, 20);
  });

  afterAll(async () => {
    monitor?.destroy();
    client?.close();
    user?.close();
    await daemon?.stop();
    removeDirectory(directory);
  });

  /** Runs a script once; the commands that it sent. */
  async function run(script: ForeignScript, keys: readonly string[], args: readonly string[]) {
    lines = [];
    const reply = await user.command(["EVAL", script.text, String(keys.length), ...keys, ...args], 10_000);
    const mark = `mark-${Math.random()}`;
    await client.command(["ECHO", mark]);
    await until(async () => lines.some((l) => l.includes(mark)), 5_000, 2);
    return { reply, sent: lines.flatMap((l) => [scriptWords(l)].filter((w) => w !== undefined)) };
  }

  async function permit(effects: ScriptEffects, keys: readonly string[]): Promise<void> {
    const rules = ["reset", "on", "nopass", "&*", "-@all", "+eval"];
    for (const command of effects.commands.keys()) {
      if (CONTAINERS.has(command) || commandTable("redis-7.0")!.get(command) !== undefined) rules.push(`+${command}`);
    }
    for (const key of keys) rules.push(`~${key}`);
    for (const use of effects.keys) {
      const access = use.access === "" ? "~" : `%${use.access}~`;
      for (const glob of globsOf(use, keys)) rules.push(`${access}${glob}`);
    }
    const all = rules.some((r) => r === "~*" || r === "%RW~*");
    const used = all ? [...rules.filter((r) => !/^[~%]/.test(r)), "allkeys"] : rules;
    const made = await client.command(["ACL", "SETUSER", "script", ...new Set(used)]);
    expect(made).toBe("OK");
    await user.command(["AUTH", "script", "x"]);
  }

  it("nothing is sent that was not computed, and nothing computed is denied", { timeout: 300_000 }, async () => {
    let judged = 0;
    let mortal = 0;
    for (const script of scripts) {
      if (script.text.includes("@include") || script.text.startsWith("#!")) continue;
      const effects = analyseScript(document(script.text, script.file), specs, { include: includeOf(script) });
      if (!effects.commandsComplete || effects.unknowns.length > 0 || effects.calls.length === 0) continue;
      const input = effects.inputs("keys");
      const keys = Array.from(
        { length: Math.max(input.max, input.dynamic.length + input.whole.length > 0 ? 3 : 0) },
        (_, i) => `k:{t}:${i + 1}`,
      );
      const words = effects.keys.map((use) => ({ use, globs: globsOf(use, keys).map((g) => compileGlob(bytesOf(g))) }));
      await client.command(["FLUSHALL"]);
      let ran = false;
      for (const args of ARGUMENTS) {
        await permit(effects, keys);
        const { reply, sent } = await run(script, keys, args);
        const denied =
          reply instanceof ReplyError && /NOPERM|ACL failure|can't run this command|can't access/.test(reply.message);
        expect([script.file, script.sha1, denied ? reply.message : ""]).toEqual([script.file, script.sha1, ""]);
        for (const argv of sent) {
          ran = true;
          let name = argv[0]!.toLowerCase();
          if (CONTAINERS.has(name)) name += `|${argv[1]!.toLowerCase()}`;
          expect([script.file, name, effects.commands.has(name)]).toEqual([script.file, name, true]);
          for (const k of specs.keysOf(argv) ?? []) {
            const key = argv[k.index]!;
            const known = words.some(
              (w) => w.use.call.command === name && w.globs.some((g) => key === "" || globMatch(g, key)),
            );
            expect([script.file, name, key, known]).toEqual([script.file, name, key, true]);
          }
        }
        // A command that fails ends the script between a write and its time to live.
        if (reply instanceof ReplyError) await client.command(["FLUSHALL"]);
        else if (effects.missingTtl.length === 0 && sent.length > 0) {
          for (const key of (await client.command(["KEYS", "*"])) as string[]) {
            mortal++;
            expect([script.file, script.sha1, key, (await client.command(["TTL", key])) === -1]).toEqual([
              script.file,
              script.sha1,
              key,
              false,
            ]);
          }
        }
      }
      if (ran) judged++;
    }
    expect(judged).toBeGreaterThanOrEqual(40);
    expect(mortal).toBeGreaterThan(20);
  });
});
