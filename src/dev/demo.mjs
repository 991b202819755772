/** `npm start`: the main job on the golden contract and on a broken twin of it. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const check = (path, cwd) =>
  spawnSync(process.execPath, [join(process.cwd(), "bin/quorumlint.js"), "check", path], { stdio: "inherit", cwd })
    .status;
const say = (text) => console.log(`\n$ ${text}`);

say("quorumlint check fixtures/redis-lab");
const clean = check("fixtures/redis-lab", process.cwd());

const twin = mkdtempSync(join(tmpdir(), "quorumlint-"));
cpSync("fixtures/redis-lab", join(twin, "redis-lab"), { recursive: true });
const edit = (file, from, to) => {
  const path = join(twin, "redis-lab", file);
  const text = readFileSync(path, "utf8");
  if (!text.includes(from)) throw new Error(`${file} has no "${from}"`);
  writeFileSync(path, text.replace(from, to));
};
edit("infra/redis-lab/config/redis-users.acl.tmpl", " +config|rewrite", "");
edit("infra/redis-lab/config/redis.conf.tmpl", "\nport 0\n", "\n");
edit(
  "infra/redis-lab/k3s/redis-data.yaml",
  "                matchLabels:\n                  app: redis-data\n",
  "                matchLabels:\n                  app: redis\n",
);
edit("infra/redis-lab/k3s/redis-sentinel.yaml", "  minAvailable: 2", "  minAvailable: 3");
say("quorumlint check redis-lab          # the same deployment with four mistakes");
const broken = check("redis-lab", twin);
rmSync(twin, { recursive: true, force: true });
console.log(`\nthe golden contract: exit ${clean}; its broken twin: exit ${broken}`);
process.exit(clean === 0 && broken === 1 ? 0 : 1);
