#!/usr/bin/env node
/**
 * Random Redis texts: nothing may throw, nothing may take more than two seconds, and where a redis-server is installed a part
 * of the ACL files must load, describe and decide as it does. `node bench/fuzz.mjs [CASES] [SEED]`; `VECTORS=directory` adds
 * mutants of recorded cases. Every case follows from the seed; what fails is printed with its number and its text.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { loadSources } from "../src/dev/bundle.mjs";

const CASES = Number(process.argv[2] ?? 200_000);
const SEED = Number(process.argv[3] ?? 20_261);
/** One ACL file in so many is loaded into a server as well. */
const COMPARED = 10;
const LIMIT = 2000;

const sources = await loadSources(`
      export * as acl from "./src/model/redis/acl.ts";
      export { grantProblems } from "./src/model/redis/acl-problems.ts";
      export { parseConf } from "./src/document/redis-conf.ts";
      export { loadConf } from "./src/model/redis/conf.ts";
      export { directiveServers } from "./src/model/redis/directives.ts";
      export { serverNames } from "./src/model/redis/servers.ts";
      export { Source, TextView } from "./src/text/source.ts";
      export { textOf } from "./src/text/bytes.ts";
      export { checkTree, tree } from "./test/support.ts";
      export { aclFile, calls } from "./test/live/acl-files.ts";
      export { AclServer, installedServer, serverBinary } from "./test/live/acl-server.ts";
      export { compare } from "./test/live/acl-compare.ts";
      export { ConfCases } from "./test/live/conf-cases.ts";`, {
  packages: "external",
  define: { "import.meta.url": JSON.stringify(new URL("../test/support.ts", import.meta.url).href) },
});
const { acl, grantProblems, parseConf, loadConf, directiveServers, serverNames, Source, TextView, textOf, checkTree, tree } = sources;
const { aclFile, calls, AclServer, installedServer, serverBinary, compare, ConfCases } = sources;

/** mulberry32: what is chosen here follows from the seed too. */
let state = SEED >>> 0;
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];

/** Values of an arbitrary, made in portions. */
function stream(arbitrary, seed) {
  let portion = [];
  let round = 0;
  return () => {
    if (portion.length === 0) portion = fc.sample(arbitrary, { numRuns: 500, seed: seed + round++ });
    return portion.pop();
  };
}

const nextAcl = stream(aclFile, SEED);
const nextCalls = stream(calls, SEED + 1_000_000);
const confs = new ConfCases(SEED);
const recorded = (name, field) => {
  const file = process.env.VECTORS === undefined ? "" : join(process.env.VECTORS, name);
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map((l) => JSON.parse(l)[field]).filter((t) => typeof t === "string") : [];
};
const golden = (name) => readFileSync(`fixtures/redis-lab/infra/redis-lab/config/${name}`, "utf8");
const aclSeeds = [...recorded("acl-vectors.jsonl", "aclfile"), golden("redis-users.acl.tmpl"), golden("sentinel-users.acl.tmpl")];
const confSeeds = [...recorded("conf-vectors.jsonl", "conf"), golden("redis.conf.tmpl"), golden("sentinel.conf.tmpl")];

const PIECES = ["", " ", "  ", "\t", "\0", "\n", "\r\n", "(", ")", "|", "+", "-", "~", "%", "&", ">", "#", '"', "'", "\\", "\\x", "${A}", "{{ if x }}", "{{ end }}", "{{ x }}", "<x>", "é", "\ufeff", "[", "*", "@", "reset", "on", "user ", "sentinel ", "include x\n", "-1", "99999999999999999999"];

function mutated(text) {
  for (let n = 1 + below(5); n > 0; n--) {
    const at = below(text.length + 1);
    const cut = random() < 0.5 ? 0 : below(12);
    const put = random() < 0.2 ? text.slice(below(text.length + 1)).slice(0, below(40)) : pick(PIECES);
    text = text.slice(0, at) + put + text.slice(at + cut);
    if (random() < 0.02) text = text.repeat(1 + below(20));
  }
  return text.slice(0, 200_000);
}

/** Bytes as a file may hold them, valid UTF-8 or not. */
function rawText() {
  const size = below(random() < 0.05 ? 20_000 : 300);
  let bytes = "";
  const high = random() < 0.5 ? 256 : 128;
  for (let i = 0; i < size; i++) bytes += random() < 0.15 ? pick(["user a on ", "+@all ", "~* ", "\n", " ", "sentinel monitor m ", "save ", '"']) : String.fromCharCode(below(high));
  return textOf(bytes);
}

const run = {
  acl(text, runs = nextCalls()) {
    const server = pick(serverNames);
    const loaded = acl.load(text, { server, placeholders: random() < 0.3, ...(random() < 0.2 ? { origin: "conf" } : {}) });
    const users = [...loaded.users.values()].slice(0, 20);
    for (const user of users) {
      user.describe();
      user.list();
      grantProblems(user);
      user.covers("app:*", "RW", "get");
    }
    for (const [name, ...argv] of runs) {
      const user = loaded.users.get(name) ?? users[0];
      if (user !== undefined) acl.execute(user, argv);
    }
    if (users.length > 1) acl.effectiveDiff(users[0], users[1]);
  },
  conf(text, mode = pick(["data", "sentinel"])) {
    const document = parseConf(new TextView(new Source("c", text)), { templates: random() < 0.5 });
    const loaded = loadConf({ server: pick(directiveServers()), mode, documents: document, include: () => undefined });
    for (const { at } of loaded.findings) if (at.start > at.end || at.end > text.length) throw new Error(`place ${at.start}-${at.end} outside of the text`);
    loaded.values.get("port");
  },
  async lint(aclText, confText, sentinelText) {
    const end = random() < 0.5 ? ".tmpl" : "";
    const { result } = await checkTree(tree({ [`redis.conf${end}`]: `aclfile /acl/users.acl\n${confText}`, [`sentinel.conf${end}`]: sentinelText, [`users.acl${end}`]: aclText }));
    if (result.crashes.length > 0) throw result.crashes[0].error;
  },
};

const KINDS = [
  ["ACL files", 40, () => { const text = nextAcl(); return { text, run: () => run.acl(text), compared: true }; }],
  ["mutated ACL files", 20, () => { const text = mutated(pick(aclSeeds)); return { text, run: () => run.acl(text), compared: true }; }],
  ["configurations", 15, () => { const { conf, args } = confs.next(); return { text: conf, run: () => run.conf(conf, args.includes("--sentinel") ? "sentinel" : "data") }; }],
  ["mutated configurations", 15, () => { const text = mutated(pick(confSeeds)); return { text, run: () => run.conf(text) }; }],
  ["bytes", 7, () => { const text = rawText(); return { text, run: () => (run.acl(text, []), run.conf(text)) }; }],
  ["whole lints", 3, () => { const parts = [mutated(pick(aclSeeds)), mutated(pick(confSeeds)), mutated(pick(confSeeds))]; return { text: parts.join("\n---\n"), run: () => run.lint(...parts) }; }],
];
const total = KINDS.reduce((sum, [, weight]) => sum + weight, 0);

const binary = serverBinary();
const server = binary === undefined ? undefined : new AclServer(binary);
const installed = binary === undefined ? undefined : installedServer(binary);
const tally = new Map(KINDS.map(([name]) => [name, { cases: 0, slowest: 0, at: 0 }]));
let faults = 0;
let compared = 0;
let turn = 0;
const fail = (number, kind, what, text) => {
  faults++;
  if (faults <= 50) console.log(`case ${number} (${kind}): ${what}\n  ${JSON.stringify(text.slice(0, 2000))}`);
};

const started = Date.now();
for (let number = 1; number <= CASES; number++) {
  let roll = random() * total;
  const [kind, , make] = KINDS.find(([, weight]) => (roll -= weight) < 0) ?? KINDS[0];
  const one = make();
  const from = process.cpuUsage();
  try {
    await one.run();
  } catch (error) {
    fail(number, kind, error.stack.split("\n").slice(0, 3).join(" "), one.text);
  }
  const { user, system } = process.cpuUsage(from);
  const spent = (user + system) / 1000;
  const entry = tally.get(kind);
  entry.cases++;
  if (spent > entry.slowest) Object.assign(entry, { slowest: spent, at: number });
  if (spent > LIMIT) fail(number, kind, `${spent.toFixed(0)} ms`, one.text);
  if (server !== undefined && one.compared && ++turn % COMPARED === 0) {
    const runs = nextCalls();
    const differences = compare(one.text, runs, await server.load(one.text, runs), installed);
    compared++;
    if (differences.length > 0) fail(number, kind, `differs from ${installed}: ${differences.slice(0, 3).join("; ")}`, one.text);
  }
  if (number % 20_000 === 0) console.error(`${number} cases, ${faults} faults, ${((Date.now() - started) / 1000).toFixed(0)} s`);
}
server?.stop();

console.log(`${CASES} cases, seed ${SEED}, ${((Date.now() - started) / 1000).toFixed(0)} s, ${faults} faults; ${compared} compared with ${installed ?? "no server"}`);
for (const [name, { cases, slowest, at }] of tally) console.log(`| ${name} | ${cases} | ${slowest.toFixed(0)} ms (case ${at}) |`);
process.exitCode = faults > 0 ? 1 : 0;
