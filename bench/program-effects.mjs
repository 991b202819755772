/** 1,000 scripts analysed, against luaparse alone (with places) on the same texts: `npm run build`, then node bench/program-effects.mjs. */
import { createRequire } from "node:module";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadSources } from "../src/dev/bundle.mjs";

const require = createRequire(import.meta.url);
const luaparse = require("luaparse");
const { parseLua, analyseScript, tableSpecs, commandTable, Source, TextView } = await loadSources(`
  export { parseLua } from "./src/document/lua.ts";
  export { analyseScript } from "./src/model/program/effects.ts";
  export { tableSpecs } from "./src/model/program/keyspecs.ts";
  export { commandTable } from "./src/model/redis/servers.ts";
  export { Source, TextView } from "./src/text/source.ts";`);

const folders = ["fixtures/redis-lab/src/main/resources/redis", "node_modules/bullmq/dist/cjs/commands", "node_modules/bull/lib/commands", "node_modules/groupmq/dist/lua"];
const texts = folders.filter((f) => existsSync(f)).flatMap((folder) =>
  readdirSync(folder, { recursive: true }).filter((f) => f.endsWith(".lua")).map((f) => readFileSync(join(folder, f), "utf8")),
);
const all = Array.from({ length: 1000 }, (_, i) => texts[i % texts.length]);
const specs = tableSpecs(commandTable("redis-7.2"));
const cpu = (work) => { const before = process.cpuUsage(); work(); const { user, system } = process.cpuUsage(before); return (user + system) / 1000; };
const parse = () => { for (const t of all) luaparse.parse(t, { luaVersion: "5.1", ranges: true, comments: true }); };
const analyse = () => {
  for (const t of all) {
    const e = analyseScript(parseLua(new TextView(new Source("a.lua", t)), luaparse), specs);
    void [e.commands, e.keys, e.missingTtl, e.ttls, e.unbounded, e.results, e.unknowns];
  }
};
// once as a fresh process does it; then warm, both compiled by the time that they are compared
const first = cpu(analyse);
for (let i = 0; i < 5; i++) { parse(); analyse(); }
const runs = Array.from({ length: 9 }, () => [cpu(parse), cpu(analyse)]);
const median = (n) => runs.map((r) => r[n]).sort((a, b) => a - b)[4];
console.log(`${all.length} scripts (${new Set(texts).size} distinct), ${(all.join("").length / 1024).toFixed(0)} KiB: cold ${first.toFixed(0)} ms; warm: luaparse ${median(0).toFixed(0)} ms, effects ${median(1).toFixed(0)} ms, ratio ${(median(1) / median(0)).toFixed(2)}`);
