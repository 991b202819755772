/** Helpers of the live tests: a redis-server on loopback, started and stopped by pid, and a small RESP2 client. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type SecureContextOptions } from "node:tls";

/** The server that the live tests run: `LIVE_REDIS_SERVER` or `redis-server` on the PATH. */
export interface Server {
  readonly path: string;
  /** As the server prints it, e.g. `7.0.15`. */
  readonly version: string;
}

/** The server, or why there is none. Live tests use the whole 127/8 net, which only Linux answers on unasked. */
export function findServer(): Server | string {
  if (process.platform !== "linux") return "the live tests need Linux";
  const path = process.env["LIVE_REDIS_SERVER"] ?? "redis-server";
  const shown = spawnSync(path, ["--version"], { encoding: "utf8" });
  const version = /\bv=(\d+\.\d+\.\d+)/.exec(shown.stdout ?? "")?.[1];
  return version === undefined ? `no ${path} on this machine` : { path, version };
}

/** An error that the server answered with (`-NOPERM …`). */
export class ReplyError extends Error {}

export type Reply = string | number | null | ReplyError | Reply[];

interface Endpoint {
  readonly host: string;
  readonly port: number;
  /** Absent: plaintext. */
  readonly tls?: SecureContextOptions & { readonly servername?: string; readonly verify?: boolean };
}

/** One connection that sends commands in order and gets their replies. */
export class RedisClient {
  private pending = Buffer.alloc(0);
  private readonly waiting: { resolve(reply: Reply): void; reject(cause: Error): void }[] = [];
  private failure: Error | undefined;

  private constructor(private readonly socket: Socket) {
    socket.on("data", (chunk: Buffer) => {
      this.pending = Buffer.concat([this.pending, chunk]);
      this.drain();
    });
    socket.on("error", (cause) => this.fail(cause));
    socket.on("close", () => this.fail(new Error("connection closed")));
  }

  /** Connects within `timeout` milliseconds; rejects when the handshake is refused. */
  static open(endpoint: Endpoint, timeout = 3000): Promise<RedisClient> {
    return new Promise((resolve, reject) => {
      const { host, port, tls } = endpoint;
      const socket = tls
        ? connectTls({
            host,
            port,
            ...tls,
            rejectUnauthorized: tls.verify ?? false,
            ...(tls.verify ? {} : { checkServerIdentity: () => undefined }),
          })
        : createConnection({ host, port });
      const timer = setTimeout(() => socket.destroy(new Error("connect timed out")), timeout);
      socket.once(tls ? "secureConnect" : "connect", () => {
        clearTimeout(timer);
        socket.removeListener("error", reject);
        resolve(new RedisClient(socket));
      });
      socket.once("error", (cause) => {
        clearTimeout(timer);
        reject(cause);
      });
    });
  }

  /** Sends one command; an error reply is a value, a lost connection or `timeout` rejects. */
  command(words: readonly string[], timeout = 3000): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.failure) return reject(this.failure);
      const timer = setTimeout(() => this.fail(new Error(`no reply to ${words[0]}`)), timeout);
      this.waiting.push({
        resolve: (reply) => {
          clearTimeout(timer);
          resolve(reply);
        },
        reject: (cause) => {
          clearTimeout(timer);
          reject(cause);
        },
      });
      let out = `*${words.length}\r\n`;
      for (const word of words) out += `$${Buffer.byteLength(word)}\r\n${word}\r\n`;
      this.socket.write(out);
    });
  }

  close(): void {
    this.fail(new Error("closed"));
  }

  private fail(cause: Error): void {
    this.failure ??= cause;
    this.socket.destroy();
    for (const waiter of this.waiting.splice(0)) waiter.reject(this.failure);
  }

  private drain(): void {
    let read = parseReply(this.pending, 0);
    while (read) {
      this.pending = this.pending.subarray(read.end);
      this.waiting.shift()?.resolve(read.reply);
      read = parseReply(this.pending, 0);
    }
  }
}

function parseReply(bytes: Buffer, at: number): { reply: Reply; end: number } | undefined {
  const lineEnd = bytes.indexOf("\r\n", at);
  if (lineEnd < 0) return undefined;
  const kind = String.fromCharCode(bytes[at] ?? 0);
  const line = bytes.toString("utf8", at + 1, lineEnd);
  const next = lineEnd + 2;
  switch (kind) {
    case "+":
      return { reply: line, end: next };
    case "-":
      return { reply: new ReplyError(line), end: next };
    case ":":
      return { reply: Number(line), end: next };
    case "$": {
      const length = Number(line);
      if (length < 0) return { reply: null, end: next };
      if (bytes.length < next + length + 2) return undefined;
      return { reply: bytes.toString("utf8", next, next + length), end: next + length + 2 };
    }
    case "*": {
      const items: Reply[] = [];
      let end = next;
      for (let index = 0; index < Number(line); index++) {
        const item = parseReply(bytes, end);
        if (!item) return undefined;
        items.push(item.reply);
        end = item.end;
      }
      return { reply: Number(line) < 0 ? null : items, end };
    }
    default:
      throw new Error(`not a RESP2 reply: ${bytes.toString("utf8", at, Math.min(lineEnd, at + 80))}`);
  }
}

export const sleep = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/** Asks again and again until the answer is true or `limit` milliseconds are over; says which. */
export async function until(question: () => Promise<boolean>, limit: number, every = 250): Promise<boolean> {
  const end = Date.now() + limit;
  for (;;) {
    if (await question()) return true;
    if (Date.now() + every > end) return false;
    await sleep(every);
  }
}

/** A directory of its own under the system's temporary directory. */
export function temporaryDirectory(name: string): string {
  return mkdtempSync(join(tmpdir(), `quorumlint-${name}-`));
}

export function removeDirectory(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** A child process that cannot outlive the test; its output goes to `log`. */
export class Daemon {
  private readonly child: ChildProcess;
  private readonly ended: Promise<void>;

  constructor(
    command: readonly string[],
    readonly log: string,
    environment: NodeJS.ProcessEnv = process.env,
  ) {
    const out = openSync(log, "a", 0o600);
    this.child = spawn(command[0] ?? "", command.slice(1), { stdio: ["ignore", out, out], env: environment });
    closeSync(out);
    running.add(this.child);
    this.ended = new Promise((done) => {
      const end = (): void => {
        running.delete(this.child);
        done();
      };
      this.child.once("exit", end);
      this.child.once("error", end);
    });
  }

  get alive(): boolean {
    return running.has(this.child);
  }

  /** What the process wrote so far. */
  output(): string {
    return readFileSync(this.log, "utf8");
  }

  /** Sends the signal to this process alone and waits until it is gone. */
  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (this.alive) this.child.kill(signal);
    await this.ended;
  }
}
