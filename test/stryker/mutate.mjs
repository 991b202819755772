/**
 * Code mutants of the rules by StrykerJS:
 *
 *   npm run mutate -- [--shard 1/4] [PACK | PACK/RULE]...
 *   npm run mutate -- --model 100      a sample of src/model: ten lines of every thousand
 *
 * Each run adds its files' results to coverage/mutation/; docs/mutation-score.md is written from all of them.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { filesBelow, ruleFiles, ruleId } from "./bundle.mjs";
import { page, tableOf } from "./summary.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const here = join(root, "test/stryker");
process.chdir(root);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shard: { type: "string" },
    model: { type: "string" },
    concurrency: { type: "string", default: "2" },
  },
});
const [part, parts] = (values.shard ?? "1/1").split("/").map(Number);
if (!(part >= 1 && part <= parts)) throw new Error(`--shard ${values.shard}: it is I/N, from 1/N to N/N`);
const wanted = (id) => positionals.length === 0 || positionals.some((p) => id === p || id.startsWith(`${p}/`));
const files = ruleFiles(root)
  .filter((f) => wanted(ruleId(f)))
  .filter((_, i) => i % parts === part - 1);
/** Every `share`th line of the model, in runs of ten lines. */
function sample(share) {
  const out = [];
  let before = 0;
  for (const file of filesBelow(root, "src/model")) {
    const count = readFileSync(file, "utf8").split("\n").length;
    for (let start = share * 5; start < before + count; start += share * 10) {
      if (start >= before) out.push(`${file}:${start - before + 1}-${start - before + 10}`);
    }
    before += count;
  }
  return out;
}
if (files.length === 0) throw new Error(`no rule is named ${positionals.join(" ")}`);

if (!existsSync(join(here, "node_modules/@stryker-mutator/core"))) {
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: here,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(1);
}

mkdirSync("coverage/mutation", { recursive: true });
const latest = "coverage/mutation/latest.json";
const { Stryker } = await import("@stryker-mutator/core");
await new Stryker({
  mutate: values.model === undefined ? files : sample(Number(values.model)),
  plugins: ["./test/stryker/runner.mjs"],
  testRunner: values.model === undefined ? "fixtures" : "model",
  ignorers: ["words"],
  coverageAnalysis: "perTest",
  concurrency: Number(values.concurrency),
  // reading the cases counts as time of a process' first mutants
  timeoutMS: 120_000,
  // only what the proof reads
  ignorePatterns: [
    "/*",
    "!/rules",
    "!/fixtures",
    "!/src",
    "!/schemas",
    "!/test",
    "/test/*",
    "!/test/stryker",
    "!/package.json",
  ],
  tempDirName: ".stryker-tmp",
  reporters: ["progress-append-only", "json"],
  jsonReporter: { fileName: latest },
  allowConsoleColors: false,
  logLevel: "warn",
  checkers: [],
}).runMutationTest();

const stores = { rules: "coverage/mutation/rules.json", model: "coverage/mutation/model.json" };
const read = (store) => (existsSync(store) ? JSON.parse(readFileSync(store, "utf8")) : {});
const all = read(stores.rules);
const model = values.model === undefined ? read(stores.model) : {};
const own = values.model === undefined ? all : model;
const { files: fresh } = JSON.parse(readFileSync(latest, "utf8"));
const date = new Date().toISOString().slice(0, 10);
for (const [file, { source, mutants }] of Object.entries(fresh)) {
  const lines = source.split("\n");
  own[file] = {
    date,
    ...(values.model === undefined ? {} : { share: Number(values.model) }),
    mutants: mutants.map((m) => ({
      status: m.status,
      mutator: m.mutatorName,
      line: m.location.start.line,
      column: m.location.start.column,
      text: textOf(lines, m.location),
      replacement: m.replacement,
      reason: m.status === "Killed" ? undefined : m.statusReason,
    })),
  };
}
const existing = new Set(ruleFiles(root));
for (const file of Object.keys(all)) if (!existing.has(file)) delete all[file];
const sorted = (results) => Object.fromEntries(Object.entries(results).sort(([a], [b]) => (a < b ? -1 : 1)));
if (values.model === undefined) writeFileSync(stores.rules, JSON.stringify(sorted(all)));
else writeFileSync(stores.model, JSON.stringify(sorted(model)));

/** The mutated text, its lines joined. */
function textOf(lines, { start, end }) {
  const own = lines.slice(start.line - 1, end.line);
  own[own.length - 1] = own.at(-1).slice(0, end.column - 1);
  own[0] = own[0].slice(start.column - 1);
  return own.map((l) => l.trim()).join(" ");
}

for (const file of Object.keys(fresh)) {
  for (const m of own[file].mutants) {
    if (m.status === "Killed" || m.status === "Ignored" || m.status === "Timeout") continue;
    const short = (text) => (text.length > 110 ? `${text.slice(0, 110)}…` : text);
    console.log(
      `${file}:${m.line}:${m.column} ${m.status} ${m.mutator}: ${short(m.text)} -> ${short(m.replacement ?? "")}${m.reason ? ` (${m.reason})` : ""}`,
    );
  }
}
console.log(tableOf(own, Object.keys(fresh)));
if (Object.keys(all).length === existing.size)
  writeFileSync("docs/mutation-score.md", page(sorted(all), sorted(model)));
