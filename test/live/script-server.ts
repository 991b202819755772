/** A plaintext redis-server on loopback for scripts, with an administrator's connection and a MONITOR beside it. */
import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { CONTAINERS } from "../../src/model/program/knowledge.js";
import { Daemon, RedisClient, removeDirectory, type Server, temporaryDirectory, until } from "./util.js";

export class ScriptServer {
  readonly #directory: string;
  readonly #daemon: Daemon;
  readonly port: number;
  /** The `default` user, which may do everything. */
  readonly admin: RedisClient;
  readonly #monitor: Socket;
  #lines: string[] = [];
  #rest = "";

  private constructor(directory: string, daemon: Daemon, port: number, admin: RedisClient, monitor: Socket) {
    this.#directory = directory;
    this.#daemon = daemon;
    this.port = port;
    this.admin = admin;
    this.#monitor = monitor;
    monitor.setEncoding("latin1");
    monitor.on("data", (chunk: string) => {
      const parts = (this.#rest + chunk).split("\r\n");
      this.#rest = parts.pop()!;
      this.#lines.push(...parts);
    });
    monitor.write("MONITOR\r\n");
  }

  static async start(server: Server, name: string): Promise<ScriptServer> {
    const directory = temporaryDirectory(name);
    const port = await freePort();
    const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", directory];
    const daemon = new Daemon([server.path, ...options, "--loglevel", "warning"], join(directory, "log"));
    let admin: RedisClient | undefined;
    await until(
      async () => {
        admin = await RedisClient.open({ host: "127.0.0.1", port }).catch(() => undefined);
        return admin !== undefined;
      },
      10_000,
      50,
    );
    if (admin === undefined) throw new Error(daemon.output());
    const made = new ScriptServer(directory, daemon, port, admin, createConnection({ host: "127.0.0.1", port }));
    await until(async () => made.#lines.length > 0, 5_000, 20);
    return made;
  }

  connect(): Promise<RedisClient> {
    return RedisClient.open({ host: "127.0.0.1", port: this.port });
  }

  /** Runs `act`; what scripts sent meanwhile, call by call. */
  async watch<T>(act: () => Promise<T>): Promise<{ readonly result: T; readonly sent: readonly string[][] }> {
    this.#lines = [];
    const result = await act();
    const mark = `mark-${Math.random()}`;
    await this.admin.command(["ECHO", mark]);
    await until(async () => this.#lines.some((l) => l.includes(mark)), 5_000, 2);
    return { result, sent: this.#lines.flatMap((l) => [scriptWords(l)].filter((w) => w !== undefined)) };
  }

  async stop(): Promise<void> {
    this.#monitor.destroy();
    this.admin.close();
    await this.#daemon.stop();
    removeDirectory(this.#directory);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

/** The words of a MONITOR line that a script sent, else undefined. */
function scriptWords(line: string): string[] | undefined {
  const match = /^\+?[\d.]+ \[\d+ lua\] (.*)$/.exec(line);
  if (match === null) return undefined;
  return [...match[1]!.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((m) =>
    m[1]!.replace(/\\x([0-9a-f]{2})|\\(.)/gi, (_, hex: string | undefined, char: string) =>
      hex !== undefined ? String.fromCharCode(Number.parseInt(hex, 16)) : (ESCAPED[char] ?? char),
    ),
  );
}
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b" };

/** The name of a command that was sent, as effects name it (`get`, `script|load`). */
export function commandOf(argv: readonly string[]): string {
  const name = argv[0]!.toLowerCase();
  return CONTAINERS.has(name) ? `${name}|${argv[1]!.toLowerCase()}` : name;
}
