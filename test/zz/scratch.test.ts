import { readdirSync, existsSync } from "node:fs";
import { join } from "node:path";
import { it } from "vitest";
import { checkTree, readTree, shared, fixtureBase } from "../support.js";
const MINE = /^(redis\/|sentinel\/|image\/minimum|k8s\/(port-|boot|ignored))/;
const only = process.env.ONLY;
it("shows", async () => {
  const trees: [string, any][] = [];
  for (const b of ["redis-lab", "inferred"]) trees.push([b, fixtureBase(b)]);
  trees.push(["peers-base", readTree(join(shared, "peers/mutants/base"))]);
  for (const n of readdirSync(join(shared, "repro")).sort()) for (const k of ["good", "bad"]) { const d = join(shared, "repro", n, k); if (existsSync(d)) trees.push([`${n}/${k}`, readTree(d)]); }
  for (const [n, t] of trees) {
    if (only && !n.includes(only)) continue;
    const run = await checkTree(t);
    for (const c of run.result.crashes) console.log(n, "CRASH", c.rule, c.error.stack);
    for (const d of run.result.diagnostics) if (MINE.test(d.rule)) console.log(`${n}: ${d.severity} ${d.rule} [${d.messageId}] ${d.at.source.file}:${d.at.source.position(d.at.start).line} "${d.at.source.slice(d.at).slice(0, 40)}" ${d.message}`);
  }
}, 60000);
