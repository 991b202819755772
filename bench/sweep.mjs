/**
 * The golden sweep on one core: against linting each mutant from its text, in one run.
 *
 *   node bench/sweep.mjs [--share N]     judge every Nth mutant from text for the ratio (default 40)
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { build } from "esbuild";
import { sources } from "../src/dev/bundle.mjs";
import { esbuildPlainLoops } from "../src/dev/plain-loops.mjs";

// as the launcher of the command does for a sweep
setFlagsFromString(
  "--no-incremental-marking --heap-growing-percent=50 --interrupt-budget=1000000 --no-allocation-site-pretenuring",
);

const root = fileURLToPath(new URL("..", import.meta.url));
const flag = process.argv.indexOf("--share");
const share = flag < 0 ? 40 : Number(process.argv[flag + 1]);

mkdirSync(join(root, "dist"), { recursive: true });
const file = join(root, "dist", "bench-sweep.cjs");
if (process.argv.includes("--build")) {
  await build({
    ...sources,
    plugins: [esbuildPlainLoops(), ...sources.plugins],
    stdin: {
      contents: `
        export { rules } from "./rules/index.js";
        export { equivalents } from "./fixtures/equivalent/redis-lab.js";
        export { sweep } from "./src/mutation/sweep.js";
        export { check } from "./src/contract/check.js";
        export { load } from "./src/contract/load.js";
        export { memoryHost } from "./src/contract/memory.js";
        export { prepareParsers } from "./src/cli/parsers.js";
      `,
      resolveDir: root,
    },
    outfile: file,
  });
  process.exit();
}
// in a process of its own: what the build holds in memory is none of the sweep's
const built = spawnSync(process.execPath, [fileURLToPath(import.meta.url), "--build"], { stdio: "inherit" });
if (built.status !== 0) process.exit(1);
const { rules, equivalents, sweep, check, load, memoryHost, prepareParsers } = createRequire(import.meta.url)(file);

const lab = join(root, "fixtures/redis-lab");
const tree = new Map();
for (const entry of readdirSync(lab, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const path = join(entry.parentPath, entry.name);
  tree.set(path.slice(lab.length + 1), readFileSync(path));
}
const today = "2026-11-29";
const loaded = load(memoryHost(tree), ["/tree"], { ruleIds: rules.map((r) => r.id), today });
const { contracts } = loaded.roots[0];
for (const contract of contracts) await prepareParsers(contract);

/** As a command of its own would: every file read and parsed. */
const relint = async (name, text) => {
  const fresh = new Map([...tree].map(([path, bytes]) => [path, new Uint8Array(bytes)]));
  fresh.set(name, new TextEncoder().encode(text));
  const run = await check(memoryHost(fresh), ["/tree"], { rules, today, version: "bench", prepare: prepareParsers });
  return { diagnostics: run.result.diagnostics, faults: run.faults, crashes: run.result.crashes };
};
const common = { rules, contracts, accepted: [], suppressing: false, equivalents, prepare: prepareParsers, relint };

async function timed(work) {
  const cpu = process.cpuUsage();
  const wall = performance.now();
  const result = await work();
  const used = process.cpuUsage(cpu);
  return { result, wall: performance.now() - wall, cpu: (used.user + used.system) / 1000 };
}

let judging;
const fast = await timed(() =>
  sweep({
    ...common,
    tick: async (done) => {
      judging ??= done === 0 ? process.cpuUsage() : undefined;
      return true;
    },
  }),
);
const judged = process.cpuUsage(judging);
/** The highest that it ever was, in MB: building the bundle and the sweep, before anything is compared. */
const peak = process.resourceUsage().maxRSS / 1024;
const { results } = fast.result;
const slow = await timed(() => sweep({ ...common, fromText: true, wanted: (_, i) => i % share === 0 }));

const per = (ms, n) => ms / n;
const fastEach = per(fast.cpu, results.length);
const slowEach = per(slow.cpu, slow.result.results.length);
const status = {};
for (const r of results) status[r.status] = (status[r.status] ?? 0) + 1;
console.log(`rules            ${rules.length}`);
console.log(`mutants          ${results.length} ${JSON.stringify(status)}`);
console.log(`sweep            ${(fast.cpu / 1000).toFixed(2)} s CPU, ${(fast.wall / 1000).toFixed(2)} s wall, of it judging ${((judged.user + judged.system) / 1e6).toFixed(2)} s`);
console.log(`each             ${fastEach.toFixed(3)} ms CPU; from text ${slowEach.toFixed(2)} ms CPU`);
console.log(`ratio            ${(slowEach / fastEach).toFixed(1)}`);
/** Rules that judge each document by itself: handlers of objects and files that take nothing of the contract. */
const OBJECTS = ["File", "Object", "Workload", "Container", "Service"];
const local = rules.filter((r) => {
  const handlers = Object.entries(r.on);
  return handlers.length > 0 && handlers.every(([on, run]) => OBJECTS.includes(on) && !/\bcontract\b/.test(String(run)));
});
console.log(`document-local   ${local.map((r) => r.id).join(", ")}`);
const isYaml = (m) => /\.ya?ml$/.test(m.source.file);
for (const [label, text, own, where] of [
  ["value mutants, document-local rules", false, local, () => true],
  ["of them in YAML, which they read", false, local, isYaml],
  ["text mutants, document-local rules", true, local, () => true],
  ["value mutants, all rules", false, rules, () => true],
  ["text mutants, all rules", true, rules, () => true],
]) {
  const chosen = new Set(
    results.filter((r) => (r.mutant.change === undefined) === text && where(r.mutant)).map((r) => r.mutant.id),
  );
  let start;
  let wall;
  const run = await sweep({
    ...common,
    rules: own,
    wanted: (m) => chosen.has(m.id),
    tick: async (done) => {
      if (done === 0) {
        start = process.cpuUsage();
        wall = performance.now();
      }
      return true;
    },
  });
  const elapsed = performance.now() - wall;
  const used = process.cpuUsage(start);
  const ms = (used.user + used.system) / 1000;
  const count = run.results.length;
  console.log(
    `${label.padEnd(36)} ${count}, ${Math.round((count / ms) * 1000)}/s of CPU, ${Math.round((count / elapsed) * 1000)}/s of time`,
  );
}
console.log(
  `memory           ${Math.round(peak)} MB at most until the sweep ended, ${Math.round(process.resourceUsage().maxRSS / 1024)} MB with all comparisons`,
);
