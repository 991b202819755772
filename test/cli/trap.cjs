// Preloaded by sandbox.test.ts: whatever starts a process, opens a connection or asks a name is told on standard error and refused.
"use strict";
const { writeSync } = require("node:fs");

function trap(owner, names, what) {
  for (const name of names) {
    if (typeof owner[name] !== "function") continue;
    owner[name] = () => {
      writeSync(2, `trapped: ${what}.${name}\n`);
      throw new Error(`trapped: ${what}.${name}`);
    };
  }
}

const lookups = (owner) => Object.keys(owner).filter((name) => /^(lookup|resolve|reverse)/.test(name));
const processes = ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"];
trap(require("node:child_process"), processes, "child_process");
trap(require("node:child_process").ChildProcess.prototype, ["spawn"], "ChildProcess");
trap(require("node:net"), ["connect", "createConnection", "createServer"], "net");
trap(require("node:net").Socket.prototype, ["connect"], "Socket");
trap(require("node:tls"), ["connect"], "tls");
for (const scheme of ["http", "https"]) trap(require(`node:${scheme}`), ["request", "get", "createServer"], scheme);
trap(require("node:http2"), ["connect"], "http2");
trap(require("node:dgram"), ["createSocket"], "dgram");
for (const dns of [require("node:dns"), require("node:dns").promises]) trap(dns, lookups(dns), "dns");
trap(require("node:inspector"), ["open"], "inspector");
trap(globalThis, ["fetch", "WebSocket", "EventSource"], "globalThis");
trap(process, ["dlopen"], "process");
require("node:module").syncBuiltinESMExports();
