/** `node bench/run.mjs`: the promises about speed, each as a ratio or a bound in one run. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { interleaved, once } from "./measure.mjs";

delete process.env.NODE_EXTRA_CA_CERTS; // Node 20 loads it at every start, whatever runs
const node = process.execPath;
const root = join(import.meta.dirname, "..");
const golden = join(root, "fixtures/redis-lab");
const acl = join(golden, "infra/redis-lab/config/redis-users.acl.tmpl");
const rows = [];
const row = (what, measured, promise, ok) => rows.push({ what, measured, promise, ok: ok ? "yes" : "NO" });

const folder = mkdtempSync(join(tmpdir(), "quorumlint-bench-"));
// the deployment alone: manifests, configurations, ACLs, image; the whole contract has 27 programs with two catalogs on top
const deployment = join(folder, "deployment");
cpSync(golden, deployment, { recursive: true });
const contract = join(deployment, "quorumlint.yaml");
writeFileSync(contract, readFileSync(contract, "utf8").replace(/^ {4}programs:\n(?: {6}.*\n| *\n)*/m, ""));
/** A program of its own whose code cache its second run fills: what a team's contract has no use for is not in it. */
function installed(name, ...first) {
  const home = join(folder, name);
  for (const part of ["bin", "dist", "schemas", "package.json"]) {
    cpSync(join(root, part), join(home, part), { recursive: true, filter: (path) => !path.endsWith(".cache") });
  }
  symlinkSync(join(root, "node_modules"), join(home, "node_modules"));
  const bin = join(home, "bin/quorumlint.js");
  for (let i = 0; i < 3; i++) once(node, [bin, ...first]);
  return bin;
}
const bin = installed("for-deployment", "check", deployment);
const forWhole = installed("for-programs", "check", golden);
const kept = ["--cache-location", join(folder, "kept")];
for (let i = 0; i < 3; i++) {
  once(node, [forWhole, "check", golden, ...kept]);
  once(node, [bin, "acl", "can", acl, "--user", "app", "--", "GET", "app:{x}:cfg:y"]);
}
const start = interleaved(
  {
    node: [node, "-e", "0"],
    version: [node, bin, "--version"],
    check: [node, bin, "check", deployment],
    whole: [node, forWhole, "check", golden],
    kept: [node, forWhole, "check", golden, ...kept],
    can: [node, bin, "acl", "can", acl, "--user", "app", "--", "GET", "app:{x}:cfg:y"],
  },
  Number(process.env.ROUNDS ?? 25),
);
const ratio = (name) => start[name].least / start.node.least;
row("check of the golden deployment / node -e 0 (CPU)", ratio("check").toFixed(2), "<= 3", ratio("check") <= 3);
row("check of it with its 27 programs / node -e 0 (CPU)", ratio("whole").toFixed(2), "<= 8", ratio("whole") <= 8);
row("the same with --cache, nothing changed / node -e 0 (CPU)", ratio("kept").toFixed(2), "<= 3", ratio("kept") <= 3);
row("--version / node -e 0 (CPU)", ratio("version").toFixed(2), "<= 1.6", ratio("version") <= 1.6);
row("acl can / node -e 0 (CPU)", ratio("can").toFixed(2), "<= 2", ratio("can") <= 2);

const corpus = (count) => {
  const out = join(folder, String(count));
  spawnSync(node, [join(import.meta.dirname, "corpus.mjs"), out, String(count)], { stdio: "ignore" });
  return join(out, "multi");
};
const small = corpus(1_000);
const large = corpus(10_000);
const runs = interleaved({ small: [node, bin, "check", small, "--format", "json"], large: [node, bin, "check", large, "--format", "json"] }, 3, { memory: true });
rmSync(folder, { recursive: true, force: true });
row("10,000 documents, all rules: CPU seconds", runs.large.least.toFixed(2), "<= 6", runs.large.least <= 6);
row("10,000 documents: peak memory, MiB", (runs.large.memory / 1024).toFixed(0), "<= 350", runs.large.memory <= 350 * 1024);
const growth = (runs.large.least - start.node.least) / (runs.small.least - start.node.least);
row("10,000 / 1,000 documents (CPU above bare node)", growth.toFixed(2), "<= 11.5", growth <= 11.5);

console.table(rows);
