/** Makes a bare clone ready: dependencies from the lock file, then the bundle. Does nothing that is already done. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

function run(command, args) {
  const result = spawnSync(command, args, { stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
  if (result.status !== 0) {
    console.error(`${command} ${args.join(" ")} failed`);
    process.exit(result.status ?? 1);
  }
}

function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}

const installed = "node_modules/.package-lock.json";
if (!existsSync(installed) || statSync(installed).mtimeMs < statSync("package-lock.json").mtimeMs)
  run("npm", ["ci", "--ignore-scripts"]);
const built = "dist/quorumlint.cjs";
const sources = ["src", "rules", "schemas", "fixtures", "esbuild.config.mjs", "package-lock.json"].filter((p) =>
  existsSync(p),
);
if (!existsSync(built) || statSync(built).mtimeMs < Math.max(...sources.map(newest)))
  run("node", ["esbuild.config.mjs"]);
