/** A redis-server process of our own on loopback, for ACL files: started in a temporary directory, stopped by its pid. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, dumpTable, type RecordedTable } from "../../src/dev/redis-tables.js";

/** Path of the server binary, or undefined where none is installed. */
export function serverBinary(): string | undefined {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
    return "redis-server";
  } catch {
    return undefined;
  }
}

/** The name of the table for an installed binary: `redis-7.0-debian`, `redis-7.2` … */
export function installedServer(binary: string): string {
  const version = /v=(\d+\.\d+)/.exec(execFileSync(binary, ["--version"], { encoding: "utf8" }))?.[1] ?? "7.0";
  let debian = false;
  try {
    debian =
      execFileSync("dpkg", ["-S", "/usr/bin/redis-server", "/usr/bin/redis-check-rdb"], { encoding: "utf8" }) !== "";
  } catch {
    // no Debian package
  }
  return `redis-${version}${debian && version === "7.0" ? "-debian" : ""}`;
}

const ADMIN = "zz-admin";

export interface Outcome {
  /** The error that ACL LOAD replied, with `<aclfile>` for the path. */
  error?: string;
  crash?: true;
  /** The file loads, and then ACL GETUSER or DRYRUN kills the server. */
  dies?: true;
  /** ACL GETUSER by name; without the test's own user. */
  users?: Map<string, Record<string, unknown>>;
  /** ACL DRYRUN's reply: OK, the denial, or `-ERR …`. */
  runs?: string[];
}

export class AclServer {
  readonly #binary: string;
  readonly #directory: string;
  readonly #file: string;
  #process: ChildProcess | undefined;
  #port = 0;

  constructor(binary: string) {
    this.#binary = binary;
    this.#directory = mkdtempSync(join(tmpdir(), "acl-"));
    this.#file = join(this.#directory, "users.acl");
  }

  async #start(): Promise<void> {
    this.#port = await freePort();
    writeFileSync(this.#file, `user ${ADMIN} on nopass ~* &* +@all\n`);
    const args = ["--port", `${this.#port}`, "--bind", "127.0.0.1", "--save", "", "--aclfile", this.#file];
    const child = spawn(this.#binary, args, { cwd: this.#directory, stdio: "ignore" });
    this.#process = child;
    child.on("exit", () => {
      if (this.#process === child) this.#process = undefined;
    });
    for (let tries = 0; ; tries++) {
      try {
        await ask(this.#port, [["PING"]]);
        return;
      } catch (error) {
        if (tries > 100) throw error;
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    }
  }

  /** The command table that the server tells of itself. */
  async table(): Promise<RecordedTable> {
    if (this.#process === undefined) await this.#start();
    return dumpTable(this.#port);
  }

  /** Loads a file and asks about its users; a server that the file kills is started anew for the next one. */
  async load(text: string | Buffer, calls: readonly (readonly [string, ...string[]])[]): Promise<Outcome> {
    if (this.#process === undefined) await this.#start();
    // A line of its own at the end keeps a way in; a file may end inside a line or in NUL bytes.
    const own = Buffer.from(`\nuser ${ADMIN} on nopass ~* &* +@all\n`);
    writeFileSync(this.#file, Buffer.concat([Buffer.from(text as string), own]));
    const login = ["AUTH", ADMIN, "x"];
    let loaded: string;
    try {
      loaded = String((await ask(this.#port, [login, ["ACL", "LOAD"]]))[1]);
    } catch {
      await this.#gone();
      return { crash: true };
    }
    if (loaded !== "OK") return { error: loaded.slice("-ERR ".length).replaceAll(this.#file, "<aclfile>") };
    try {
      const [, names] = await ask(this.#port, [login, ["ACL", "USERS"]]);
      const users = (names as string[]).filter((n) => n !== ADMIN);
      const asked = [login, ...users.map((n) => ["ACL", "GETUSER", n]), ...calls.map((c) => ["ACL", "DRYRUN", ...c])];
      const replies = (await ask(this.#port, asked)).slice(1);
      return {
        users: new Map(users.map((n, i) => [n, map(replies[i])])),
        runs: replies.slice(users.length).map(String),
      };
    } catch {
      await this.#gone();
      return { dies: true };
    }
  }

  async #gone(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    for (let tries = 0; this.#process !== undefined && tries < 100; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    if (this.#process !== undefined) throw new Error("the server does not answer but did not stop");
  }

  stop(): void {
    this.#process?.kill("SIGKILL");
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function map(reply: unknown): Record<string, unknown> {
  const list = reply as unknown[];
  const out: Record<string, unknown> = {};
  for (let i = 0; i + 1 < list.length; i += 2) {
    const name = String(list[i]);
    out[name] = name === "selectors" ? (list[i + 1] as unknown[]).map(map) : list[i + 1];
  }
  return out;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
