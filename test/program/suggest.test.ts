/** `acl suggest`: enough for every program and declared command, and no token of it too many. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { prepareParsers } from "../../src/cli/parsers.js";
import { load as loadContracts } from "../../src/contract/load.js";
import type { Tree } from "../../src/contract/memory.js";
import { memoryHost } from "../../src/contract/memory.js";
import type { Contract } from "../../src/model/contract.js";
import { clientCommands } from "../../src/model/program/needs.js";
import { applicationUsers, suggestedLine, suggestUser } from "../../src/model/program/suggest.js";
import { type AclUser, checkScript, dryRun, load } from "../../src/model/redis/acl.js";
import { applyFileEdits } from "../../src/mutation/fixture.js";
import { fixtureBase, TODAY, tree } from "../support.js";
import { ACL_FILE } from "./golden.js";

async function contractOf(files: Tree): Promise<Contract> {
  const { roots, faults } = loadContracts(memoryHost(files), ["/tree"], {
    ruleIds: [],
    today: TODAY,
    config: undefined,
  });
  expect(faults).toEqual([]);
  const contract = roots[0]!.contracts[0]!;
  await prepareParsers(contract);
  return contract;
}

const sample = (pattern: string): string => pattern.replace(/\{[^{}]*\}/g, "{t1}").replaceAll("*", "s1");

/** The first thing that a user is refused of what the contract says that it does. */
function refusal(contract: Contract, name: string, user: AclUser): string | undefined {
  for (const program of contract.programs.programs) {
    const effects = program.script!.effects!;
    const keys = (program.entry?.keys ?? []).map((k) => sample(k.pattern.value));
    const part = (p: (typeof effects.keys)[number]["origin"]["parts"][number]): string =>
      p.kind === "text" ? p.text : p.kind === "keys" ? (keys[(p.index ?? 1) - 1] ?? "") : "s2";
    const calls = effects.calls.map((call) => {
      const words = call.argv.map((_, i) => call.text(i) ?? "1");
      for (const use of effects.keysOf(call) ?? []) {
        const at = call.argv.indexOf(use.term);
        if (at > 0) words[at] = use.origin.parts.map(part).join("");
      }
      if (call.command === "publish") words[1] = effects.originsOf(call.argv[1]!)[0]!.parts.map(part).join("");
      return words;
    });
    if (!dryRun(user, ["SCRIPT", "LOAD", "x"]).allowed) return "SCRIPT LOAD";
    const verdict = checkScript(user, ["EVALSHA", "0".repeat(40), String(keys.length), ...keys], calls);
    if (!verdict.allowed) return `${program.name}: ${verdict.reason}`;
  }
  for (const text of contract.config.policy?.commands?.[name] ?? []) {
    const words = text.split(" ").map(sample);
    const arity = Math.abs(user.table.lookup(words)?.arity ?? 1);
    while (words.length < arity) words.push("1");
    const verdict = dryRun(user, words);
    if (!verdict.allowed) return `${text}: ${verdict.reason}`;
  }
  return undefined;
}

function userOf(line: string): AclUser {
  const loaded = load(`${line}\n`, { server: "7.2", placeholders: true });
  if (!loaded.ok) throw new Error(loaded.errors.map((e) => e.message).join());
  return loaded.users.get(line.split(" ")[1]!)!;
}

/** Every token that grants something is needed by somebody. */
function provesLeast(contract: Contract, name: string): string {
  const line = suggestedLine(suggestUser(contract, name), [">secret"]);
  expect(refusal(contract, name, userOf(line))).toBeUndefined();
  const words = line.split(" ");
  const useless = words.filter((word, i) => {
    if (!/^[~%&+]/.test(word)) return false;
    return refusal(contract, name, userOf(words.filter((_, j) => j !== i).join(" "))) === undefined;
  });
  expect(useless).toEqual([]);
  // Half of a pattern's access is not enough either.
  for (const [i, word] of words.entries()) {
    if (!word.startsWith("~")) continue;
    for (const half of ["%R", "%W"]) {
      const less = words.map((w, j) => (i === j ? half + w : w)).join(" ");
      expect([less, refusal(contract, name, userOf(less)) === undefined]).toEqual([less, false]);
    }
  }
  return line;
}

const PROGRAM = (file: string, keys: readonly (readonly [string, string])[]): Record<string, unknown> => ({
  id: file,
  version: "1.0.0",
  file: `${file}-v1.lua`,
  sha1: "0".repeat(40),
  sha256: "0".repeat(64),
  keys: keys.map(([pattern, access], i) => ({ name: `k${i}`, pattern, access, slotTag: "t" })),
  argv: [],
  result: { type: "integer" },
  slotRule: "same-hash-tag",
  ttl: {},
  minimumRedisVersion: "7.2.0",
  retry: "unsafe",
  guarantee: "none",
  commands: [],
});

async function small(
  scripts: Readonly<Record<string, { lua: string; keys: readonly (readonly [string, string])[] }>>,
  commands: readonly string[],
  version = "7.2",
): Promise<Contract> {
  const programs = Object.entries(scripts).map(([id, s]) => PROGRAM(id, s.keys));
  return contractOf(
    tree({
      "quorumlint.yaml": `version: 1\ncontracts:\n  small:\n    redis: { minimumVersion: "${version}" }\n    roles: { application: [web] }\n    policy: { commands: { web: ${JSON.stringify(commands)} } }\n${programs.length === 0 ? "" : "    programs: [{ manifest: p/set.json, scripts: p/*.lua, user: web }]\n"}`,
      "p/set.json": JSON.stringify({ version: 1, name: "small", programs }),
      ...Object.fromEntries(Object.entries(scripts).map(([id, s]) => [`p/${id}-v1.lua`, s.lua])),
    }),
  );
}

describe("acl suggest", () => {
  it("gives the golden contract the line that it has", async () => {
    const contract = await contractOf(fixtureBase("redis-lab")!);
    expect(applicationUsers(contract)).toEqual(["app"]);
    const line = provesLeast(contract, "app");
    const golden = readFileSync(ACL_FILE, "utf8")
      .split("\n")
      .find((l) => l.startsWith("user app "))!;
    const tokens = (text: string) =>
      text
        .split(" ")
        .filter((w) => /^[~%&+]/.test(w))
        .sort();
    expect(tokens(line)).toEqual(tokens(golden));
    expect(suggestUser(contract, "app").open).toEqual([]);
  });

  it("reads and writes apart, covers what is covered, names channels and subcommands", async () => {
    const contract = await small(
      {
        put: {
          lua: "redis.call('SET', KEYS[1], 1)\nredis.call('SET', KEYS[1] .. ':etag', 2)\nreturn redis.call('PUBLISH', 'news:' .. KEYS[1], 1)",
          keys: [["app:{t}:item:*", "W"]],
        },
        who: { lua: "return redis.call('GET', 'settings')", keys: [] },
      },
      ["GET app:{t}:view:*", "SET app:{t}:inbox:*", "CLIENT SETINFO", "SUBSCRIBE news:all", "EXISTS app:{t}:flag"],
    );
    expect(suggestUser(contract, "web")).toEqual({
      user: "web",
      keys: ["%R~app:{*}:flag", "%W~app:{*}:inbox:*", "~app:{*}:item:*", "%R~app:{*}:view:*", "%R~settings"],
      channels: ["&news:all", "&news:app:{*}:item:*"],
      commands: ["+evalsha", "+script|load", "+client|setinfo", "+exists", "+get", "+publish", "+set", "+subscribe"],
      programs: 2,
      open: [],
    });
    provesLeast(contract, "web");
  });

  it("a server before 7.0 has no patterns for one access", async () => {
    const contract = await small({}, ["GET app:{t}:view:*"], "6.2");
    expect(suggestUser(contract, "web").keys).toEqual(["~app:{*}:view:*"]);
  });

  it("says what cannot be known", async () => {
    const contract = await small(
      {
        any: { lua: "return redis.call(ARGV[1], KEYS[1])", keys: [["app:{t}:a", "R"]] },
        made: { lua: "return redis.call('GET', 'x:' .. ARGV[1])", keys: [] },
        told: { lua: "return redis.call('PUBLISH', ARGV[1], 1)", keys: [] },
      },
      ["GET"],
    );
    expect(suggestUser(contract, "web").open.map((o) => o.what)).toEqual([
      "policy.commands names no key for GET",
      "any may send commands that cannot be told; its declared commands are taken",
      "made uses a key whose pattern is not declared",
      "told publishes to a channel that cannot be told",
    ]);
  });

  it("escapes what an ACL reads as a wildcard", async () => {
    const contract = await small({}, ["GET a?b[c]:{t}:*"]);
    const [key] = suggestUser(contract, "web").keys;
    expect(key).toBe("%R~a\\?b\\[c\\]:{*}:*");
    const user = userOf(suggestedLine(suggestUser(contract, "web"), [">x"]));
    expect(dryRun(user, ["GET", "a?b[c]:{t}:1"]).allowed).toBe(true);
    expect(dryRun(user, ["GET", "aXbc:{t}:1"]).allowed).toBe(false);
  });

  it("clients are read from the contract file", async () => {
    const contract = await contractOf(applyFileEdits(fixtureBase("programs")!, []));
    expect(clientCommands(contract, "app").map((c) => c.name)).toContain("ping");
    provesLeast(contract, "app");
  });
});
