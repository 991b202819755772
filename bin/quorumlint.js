#!/usr/bin/env node
// Decides nothing: runs the bundle, with V8's code cache kept beside it so that starting costs little more than node itself.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");
const Module = require("node:module");

const file = path.join(__dirname, "..", "dist", "quorumlint.cjs");
let source;
try {
  source = fs.readFileSync(file, "utf8");
} catch {
  process.stderr.write(`quorumlint is not built: ${file} is missing; run "npm run build" in its folder\n`);
  process.exit(3);
}
// size and time of the bundle stand for its content: hashing it would cost more than it saves
const stat = fs.statSync(file);
const key = `${stat.size.toString(36)}-${Math.trunc(stat.mtimeMs).toString(36)}-${process.version}-${process.arch}`;
const cacheFile = path.join(__dirname, "..", "dist", ".cache", `${key}.bin`);
let cachedData;
try {
  cachedData = fs.readFileSync(cacheFile);
} catch {}
const script = new vm.Script(Module.wrap(source), { filename: file, cachedData });
const loaded = new Module(file, module);
loaded.filename = file;
loaded.paths = Module._nodeModulePaths(path.dirname(file));
script
  .runInThisContext()
  .call(loaded.exports, loaded.exports, Module.createRequire(file), loaded, file, path.dirname(file));

if (cachedData === undefined || script.cachedDataRejected) {
  process.once("exit", () => {
    try {
      const data = script.createCachedData();
      fs.mkdirSync(path.dirname(cacheFile), { recursive: true });
      fs.writeFileSync(`${cacheFile}.${process.pid}`, data);
      fs.renameSync(`${cacheFile}.${process.pid}`, cacheFile);
    } catch {}
  });
}
loaded.exports.run(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
