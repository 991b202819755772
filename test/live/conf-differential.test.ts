import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseConf } from "../../src/document/redis-conf.js";
import { type ConfLoad, loadConf } from "../../src/model/redis/conf.js";
import { commandWord } from "../../src/model/redis/conf-argv.js";
import { directive } from "../../src/model/redis/directives.js";
import { Source, TextView } from "../../src/text/source.js";
import { type ConfCase, ConfCases } from "./conf-cases.js";

/**
 * Seeded random configurations, each started for real on loopback: whether the server starts, the error that it names,
 * and what `CONFIG GET` answers must be what `loadConf` says. `CONF_CASES` and `CONF_SEED` make a longer run.
 */

const CASES = Number(process.env.CONF_CASES ?? 150);
const SEED = Number(process.env.CONF_SEED ?? 20261);

function serverVersion(): string | undefined {
  try {
    return /v=(\d+\.\d+)/.exec(execFileSync("redis-server", ["--version"], { encoding: "utf8" }))?.[1];
  } catch {
    return undefined;
  }
}

const version = serverVersion();
const wanted = process.env.CI !== undefined;
if (version === undefined && !wanted) console.log("conf-differential: no redis-server here, nothing is compared");

interface Outcome {
  readonly started: boolean;
  readonly output: string;
  readonly config: ReadonlyMap<string, string>;
  /** Of a Sentinel: what it wrote into its file, and whether it starts on that. */
  readonly rewritten: readonly string[];
  readonly again: boolean | undefined;
}

const scratch = mkdtempSync(join(tmpdir(), "quorumlint-conf-"));
const running = new Set<ChildProcess>();
let over = false;
afterAll(() => {
  over = true;
  for (const child of running) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
});

/** Starts the server in a folder of its own; a Sentinel that starts is started again on what it wrote. */
async function start(folder: string, test: ConfCase): Promise<Outcome> {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(test.files)) writeFileSync(join(folder, name), text);
  const main = join(folder, "main.conf");
  writeFileSync(main, test.conf);
  const first = await run(folder, test);
  let rewritten: readonly string[] = [];
  let again: boolean | undefined;
  if (first.started && test.args.includes("--sentinel")) {
    rewritten = readFileSync(main, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("sentinel "));
    again = (await run(folder, test)).started;
  }
  rmSync(folder, { recursive: true, force: true });
  return { ...first, rewritten, again };
}

/** Runs the server until it answers on its socket, or is gone. */
async function run(folder: string, test: ConfCase): Promise<Pick<Outcome, "started" | "output" | "config">> {
  if (over) return { started: false, output: "", config: new Map() };
  const socket = join(folder, "s");
  rmSync(socket, { force: true });
  const args = ["main.conf", ...test.args.map((a) => a.replaceAll("<dir>", folder))];
  const child = spawn("redis-server", args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  let output = "";
  child.stdout.on("data", (d) => (output += d));
  child.stderr.on("data", (d) => (output += d));
  let gone = false;
  const exit = new Promise<void>((done) => {
    child.on("close", () => {
      gone = true;
      running.delete(child);
      done();
    });
  });
  const config = new Map<string, string>();
  let started = false;
  for (let i = 0; i < 1000 && !gone && !started; i++) {
    const login = test.password === undefined ? [] : [["AUTH", test.password]];
    const reply = await ask(socket, [...login, ["CONFIG", "GET", "*"], ["PING"]]);
    if (reply !== undefined) {
      started = true;
      for (const [name, value] of pairs(reply)) config.set(name, value);
    } else await new Promise((r) => setTimeout(r, 8));
  }
  if (!gone) child.kill("SIGKILL");
  await exit;
  return { started, output, config };
}

/** The raw reply to some commands; undefined: nobody listens. */
function ask(socket: string, commands: readonly (readonly string[])[]): Promise<string | undefined> {
  return new Promise((done) => {
    const client = connect(socket);
    let reply = "";
    const end = (value: string | undefined): void => {
      client.destroy();
      done(value);
    };
    client.setTimeout(3000, () => end(reply));
    client.on("error", () => end(undefined));
    client.on("close", () => end(reply));
    client.on("data", (d) => {
      reply += d.toString("latin1");
      if (/(?:^|\n)(?:\+PONG|-[^\r]*)\r\n$/.test(reply) && count(reply) >= commands.length) end(reply);
    });
    client.write(
      commands.map((c) => `*${c.length}\r\n${c.map((w) => `$${Buffer.byteLength(w)}\r\n${w}\r\n`).join("")}`).join(""),
    );
  });
}

/** Top-level replies, as far as they are complete enough to be counted. */
function count(reply: string): number {
  let n = 0;
  for (const line of reply.split("\r\n")) if (/^[*+-]/.test(line)) n++;
  return n;
}

function pairs(reply: string): readonly (readonly [string, string])[] {
  const found = /\*(\d+)\r\n/.exec(reply);
  if (found === null) return [];
  const words: string[] = [];
  let p = found.index + found[0].length;
  for (let i = 0; i < Number(found[1]); i++) {
    const head = /\$(\d+)\r\n/y;
    head.lastIndex = p;
    const length = head.exec(reply);
    if (length === null) break;
    p = head.lastIndex;
    words.push(Buffer.from(reply.slice(p, p + Number(length[1])), "latin1").toString("utf8"));
    p += Number(length[1]) + 2;
  }
  const out: [string, string][] = [];
  for (let i = 0; i + 1 < words.length; i += 2) out.push([words[i]!, words[i + 1]!]);
  return out;
}

/** What we say of the same files and words. */
function judge(test: ConfCase, server: string): ConfLoad {
  const document = (name: string, text: string) =>
    parseConf(new TextView(new Source(name, text)), { templates: false });
  const place = new Source("argv", test.args.join(" ")).span(0, 0);
  return loadConf({
    server,
    mode: test.args.includes("--sentinel") ? "sentinel" : "data",
    documents: document("main.conf", test.conf),
    arguments: ["main.conf", ...test.args].map((a) => commandWord(a, place, false)),
    include: (path) => {
      const names = Object.keys(test.files).sort();
      if (!/[*?[]/.test(path)) return names.includes(path) ? [document(path, test.files[path]!)] : undefined;
      const shape = new RegExp(
        `^${path
          .replace(/[.+^$()|]/g, "\\$&")
          .replace(/\*/g, "[^/]*")
          .replace(/\?/g, "[^/]")}$`,
      );
      return names.filter((n) => shape.test(n)).map((n) => document(n, test.files[n]!));
    },
    file: (path) => {
      if (path.startsWith("/nope")) return { exists: false };
      if (path.includes("/") || path.startsWith("<dir>")) return undefined;
      const text = test.files[path];
      return text === undefined ? { exists: path === "" || path === "." } : { exists: true, text, executable: false };
    },
  });
}

const MADE_UP = /^sentinel (?:myid|current-epoch|config-epoch|leader-epoch) /;

/** Differences between a server and us; empty: none. */
function differences(test: ConfCase, real: Outcome, ours: ConfLoad, server: string): string[] {
  const out: string[] = [];
  if (ours.loads === "unknown") return out;
  if (ours.loads !== real.started) {
    const why = ours.findings.filter((f) => f.class === "fatal").map((f) => f.message);
    return [`the server ${real.started ? "starts" : "exits"}, we say ${ours.loads}: ${why.join(" | ")}`];
  }
  if (!real.started) {
    // The server names its first fault; which of ours that is depends on the order of its start.
    // What is a placeholder to us is a note; the server's words stand there all the same.
    const fatal = ours.findings.filter((f) => (f.class === "fatal" || f.class === "note") && f.certain);
    const named = fatal.filter((f) => (f.server ?? "").split(" / ").some((t) => t !== "" && real.output.includes(t)));
    if (named.length === 0) out.push(`error: we say ${fatal.map((f) => f.server).join(" | ")}`);
    // The files that a glob matched are one text to the server, which counts on from file to file.
    const line = /include\s+\S*[*?]/.test(test.conf) ? null : /at line (\d+)/.exec(real.output);
    if (line !== null && named.length > 0 && !named.some((f) => f.line === 0 || f.line === Number(line[1]))) {
      out.push(`line: the server says ${line[1]}, we say ${named.map((f) => f.line).join(", ")}`);
    }
    return out;
  }
  if (real.again !== undefined && ours.restarts !== "unknown" && ours.restarts !== real.again) {
    const why = ours.findings.filter((f) => f.class === "restart").map((f) => f.message);
    out.push(
      `started again: ${real.again}, we say ${ours.restarts}: ${why.join(" | ")}; it wrote\n${real.rewritten.join("\n")}`,
    );
  }
  if (
    ours.sentinel !== undefined &&
    ours.sentinel.myid === undefined &&
    ours.sentinel.flag("resolve-hostnames") !== true
  ) {
    const [said, wrote] = [ours.sentinel.rewritten, real.rewritten].map((l) =>
      l.filter((x) => !MADE_UP.test(x)).sort(),
    );
    // Lines of an option that the server does not write stay as they are.
    const missing = said!.filter((l) => !wrote!.includes(l) && !l.includes("\n"));
    if (missing.length > 0) out.push(`rewritten: we say ${JSON.stringify(missing)}, it wrote ${JSON.stringify(wrote)}`);
  }
  for (const [name, value] of real.config) {
    if (test.unstable.has(name) || directive(server, name) === undefined) continue;
    const own = ours.values.get(name);
    const said = own.state === "known" ? own.value : own.state === "absent" ? "" : undefined;
    if (said !== undefined && said !== value)
      out.push(`${name}: the server has ${JSON.stringify(value)}, we say ${JSON.stringify(said)}`);
  }
  return out;
}

describe.runIf(version !== undefined || wanted)("configurations against a real server", () => {
  it(`agrees on ${CASES} random configurations (seed ${SEED})`, { timeout: 60_000 + CASES * 2000 }, async ({
    signal,
  }) => {
    expect(version, "redis-server must be installed where CI is set").toBeDefined();
    const server = `redis-${version}-debian`;
    const cases = new ConfCases(SEED);
    const failures: string[] = [];
    let compared = 0;
    for (let i = 0; i < CASES && !signal.aborted; i++) {
      const test = cases.next();
      const ours = judge(test, server);
      const real = await start(join(scratch, `${i}`), test);
      if (ours.loads !== "unknown") compared++;
      const found = differences(test, real, ours, server);
      if (found.length > 0) {
        failures.push(
          [
            `case ${i}`,
            test.conf,
            JSON.stringify(test.files),
            test.args.join(" "),
            real.output.slice(0, 600),
            ...found,
          ].join("\n"),
        );
      }
    }
    if (failures.length > 0 && process.env.CONF_SHOW !== undefined)
      console.log(failures.slice(0, 40).join("\n=====\n"));
    console.log(`conf-differential: ${compared} of ${CASES} configurations compared with redis-server ${version}`);
    expect(failures.slice(0, 5)).toEqual([]);
    expect(compared).toBeGreaterThan(CASES * 0.8);
  });
});
