#!/usr/bin/env node
// Decides nothing: runs the bundle, with V8's code cache kept beside it so that starting costs little more than node itself.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

// A run of a tenth of a second gains nothing from optimised or baseline code, whose compilation costs a sixth of it, from native
// code of patterns that are matched a few times, from type feedback of what runs a few times, or from collecting and marking
// beside it, which take the same cores. Fresh memory costs more than collecting a small young generation once more. Where much
// is read, baseline code carries what is warm, and only what is truly hot pays to be optimised; the young generation grows; V8
// would keep three times what there is to keep. Collecting by many threads takes a twentieth more time of the processor than it
// saves anybody.
const setFlags = flagSetter();
setFlags("--no-incremental-marking --no-parallel-scavenge");
const SMALL =
  "--interrupt-budget=2000000 --no-sparkplug --semi-space-growth-factor=1 --interrupt-budget-factor-for-feedback-allocation=32 --regexp-tier-up-ticks=100 --no-regexp-peephole-optimization --heap-growing-percent=50";
const LARGE =
  "--interrupt-budget=1000000 --sparkplug --semi-space-growth-factor=2 --interrupt-budget-factor-for-feedback-allocation=8 --regexp-tier-up-ticks=1 --regexp-peephole-optimization";
let size;
resize(SMALL);
// What is made again and again does not live as long as what was made first: V8 must not learn from that where to put it.
// What is made once is hardly garbage when the heap has grown: it is marked half as often.
process.on("quorumlint:large", (often) => {
  resize(`${LARGE} ${often ? "--no-allocation-site-pretenuring" : "--heap-growing-percent=100"}`);
  buffer = Buffer.alloc(0);
});

function resize(flags) {
  if (size !== flags) setFlags(flags);
  size = flags;
}

/** `v8.setFlagsFromString` without the module, which loads all streams for its snapshots of the heap: a twentieth of a short run. */
function flagSetter() {
  const { noDeprecation } = process;
  let set;
  try {
    process.noDeprecation = true; // what it is deprecated for is the use of internals; without it there is the module
    set = process.binding("v8").setFlagsFromString;
  } catch {}
  process.noDeprecation = noDeprecation;
  return set ?? require("node:v8").setFlagsFromString;
}

const dist = path.join(__dirname, "..", "dist");

// one buffer for all that is read: fresh memory costs more than reading into it
let buffer = Buffer.alloc(0);
function read(file, stat) {
  if (buffer.length < stat.size) buffer = Buffer.allocUnsafeSlow(stat.size * 2);
  const descriptor = fs.openSync(file, "r");
  try {
    return buffer.subarray(0, fs.readSync(descriptor, buffer, 0, stat.size, 0));
  } finally {
    fs.closeSync(descriptor);
  }
}

/** The exports of a bundle in dist/, which is one function of the CommonJS names. */
function load(name) {
  const file = path.join(dist, name);
  const stat = fs.statSync(file);
  // the build writes ASCII only; Latin-1 is the fastest way to read it
  const source = read(file, stat).latin1Slice();
  // size and time of the bundle stand for its content: hashing it would cost more than it saves
  const key = `${name.slice(0, -".cjs".length)}-${stat.size.toString(36)}-${Math.trunc(stat.mtimeMs).toString(36)}`;
  const cacheFile = path.join(dist, ".cache", `${key}-${process.version}-${process.arch}.bin`);
  let cachedData;
  let again = false;
  try {
    const kept = read(cacheFile, fs.statSync(cacheFile));
    again = true;
    if (kept.length > 0) cachedData = kept;
  } catch {}
  // V8 takes a code cache only under the flags that it was made with
  const before = size;
  resize(SMALL);
  const script = new vm.Script(source, { filename: file, cachedData });
  resize(before);
  const loaded = { exports: {} };
  const resolve = (id) => (id.startsWith("./") ? load(id.slice(2)) : require(id));
  script.runInThisContext()(loaded.exports, resolve, loaded, file, dist);
  if (cachedData === undefined || script.cachedDataRejected) {
    // what a first run alone does, such as parsing shell whose trees are kept, is not worth reading at every start
    process.once("exit", () => keep(cacheFile, again ? script : undefined));
  }
  return loaded.exports;
}

/** Keeps the code cache, with what the run compiled, or that there was a run; a folder that cannot be written is no fault. */
function keep(cacheFile, script) {
  try {
    resize(SMALL);
    const data = script?.createCachedData() ?? "";
    fs.mkdirSync(path.dirname(cacheFile), { recursive: true });
    // V8 trusts what it reads back: it must be on the disk before it has its name
    fs.writeFileSync(`${cacheFile}.${process.pid}`, data, { flush: true });
    fs.renameSync(`${cacheFile}.${process.pid}`, cacheFile);
  } catch {}
}

let bundle;
try {
  bundle = load("quorumlint.cjs");
} catch (error) {
  if (error.code !== "ENOENT") throw error;
  process.stderr.write(`quorumlint is not built: ${error.path} is missing; run "npm run build" in its folder\n`);
  process.exit(3);
}
const argv = process.argv.slice(2);
bundle.run(argv).then((code) => {
  process.exitCode = code;
  // the system takes memory back faster than V8 takes it apart
  if (bundle.isOver(argv)) process.exit();
});
