/** Starts of servers and Sentinels. */
import type { Arg, Invocation, ShellProgram } from "./program.js";
import { isOpen } from "./redis.js";
import { inDirectory, literal } from "./text.js";

/** Base names of the server programs. */
export const SERVER = /^(?:redis|valkey|keydb)-(server|sentinel)$/;

export interface ServerOverride {
  /** Directive, in lower case, without its dashes. */
  readonly name: string;
  readonly values: readonly Arg[];
  readonly arg: Arg;
}

/** A start of a server, with what its command line says. */
export interface ServerStart {
  readonly invocation: Invocation;
  readonly mode: "server" | "sentinel";
  /** The configuration file; undefined: none is given. */
  readonly config: Arg | undefined;
  /** Directives on the command line; they override the file. https://redis.io/docs/latest/operate/oss_and_stack/management/config/ */
  readonly overrides: readonly ServerOverride[];
  /** Words that are not known stand on the command line. */
  readonly uncertain: boolean;
}

/**
 * The server that an invocation starts. Without a program name (`args: ["--port", "0"]`) the official images' entrypoint
 * puts `redis-server` before options and `*.conf` files. https://github.com/redis/docker-library-redis
 */
export function serverStart(invocation: Invocation, imagePrefix = false): ServerStart | undefined {
  let { command } = invocation;
  const name = invocation.name ?? "";
  let mode: ServerStart["mode"];
  const match = SERVER.exec(name);
  if (match !== null) {
    mode = match[1] as ServerStart["mode"];
    command = command.slice(1);
  } else {
    const behindEntrypoint = invocation.wrappers.some((wrapper) => /entrypoint\.sh$/.test(wrapper.name));
    if (!(imagePrefix || behindEntrypoint) || !(name.startsWith("-") || name.endsWith(".conf"))) return undefined;
    mode = "server";
  }
  let config: Arg | undefined;
  let at = 0;
  let uncertain = false;
  const first = command[0];
  if (first !== undefined && first.known === undefined && isOpen(first)) uncertain = true;
  else if (first !== undefined && !(first.known ?? "x").startsWith("-")) {
    config = inDirectory(first, invocation.directory);
    at = 1;
  } else if (first?.known === "-") at = 1;
  const overrides: { name: string; values: Arg[]; arg: Arg }[] = [];
  for (const arg of command.slice(at)) {
    const word = arg.known;
    if (word === undefined && isOpen(arg)) uncertain = true;
    const start = typeof arg.pieces[0] === "string" ? arg.pieces[0] : "";
    if (start.startsWith("--") && start.length > 2) {
      // A value may stand in the same word: `"--port 0"`.
      const [head, ...values] = (word ?? start).slice(2).split(/\s+/);
      if (head === "sentinel" && values.length === 0) {
        mode = "sentinel";
        overrides.push({ name: "sentinel", values: [], arg });
        continue;
      }
      overrides.push({
        name: head!.toLowerCase(),
        values: values.filter((value) => value !== "").map((value) => ({ ...arg, ...literal(value) })),
        arg,
      });
    } else overrides[overrides.length - 1]?.values.push(arg);
  }
  // `--sentinel monitor …` is a directive, `--sentinel` alone the mode.
  const directives = overrides.filter((override) => !(override.name === "sentinel" && override.values.length === 0));
  return { invocation, mode, config, overrides: directives, uncertain };
}

export function serverStarts(program: ShellProgram, imagePrefix = false): ServerStart[] {
  return program.invocations.flatMap((invocation) => serverStart(invocation, imagePrefix) ?? []);
}
