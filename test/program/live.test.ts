/**
 * The effects of foreign scripts against a real server: the commands that MONITOR shows are among the computed ones, each key
 * fits a computed origin, a user with exactly the computed permissions is never denied, and where every key is said to get
 * a time to live on every path, none is left without one.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { analyseScript, type KeyUse, type ScriptEffects } from "../../src/model/program/effects.js";
import { tableSpecs } from "../../src/model/program/keyspecs.js";
import { CONTAINERS } from "../../src/model/program/knowledge.js";
import { patternOf } from "../../src/model/program/origin.js";
import { compileGlob, globMatch } from "../../src/model/redis/glob.js";
import { commandTable } from "../../src/model/redis/servers.js";
import { bytesOf } from "../../src/text/bytes.js";
import { commandOf, ScriptServer } from "../live/script-server.js";
import { findServer, type RedisClient, ReplyError, type Server } from "../live/util.js";
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
  let live: ScriptServer;
  let client: RedisClient;
  let user: RedisClient;

  beforeAll(async () => {
    live = await ScriptServer.start(server as Server, "effects");
    client = live.admin;
    user = await live.connect();
  });

  afterAll(async () => {
    user?.close();
    await live?.stop();
  });

  /** Runs a script once; the commands that it sent. */
  async function run(script: ForeignScript, keys: readonly string[], args: readonly string[]) {
    const { result: reply, sent } = await live.watch(() =>
      user.command(["EVAL", script.text, String(keys.length), ...keys, ...args], 10_000),
    );
    return { reply, sent };
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
          const name = commandOf(argv);
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
