/**
 * One call of one user, judged as ACL DRYRUN judges it (Redis 6: as the call itself is), and what only execution refuses.
 */
import type { AclWord } from "../../document/redis-acl.js";
import type { AclSelector } from "./acl-selector.js";
import type { AclUser } from "./acl-user.js";
import {
  asciiLower,
  type ChannelPosition,
  type Command,
  channelsOf,
  databasesOf,
  type KeyPosition,
  keysOf,
  READ,
  strictInteger,
} from "./commands.js";

export interface DryRun {
  readonly allowed: boolean;
  /** The server's words: why not. */
  readonly reason?: string;
  /**
   * The rule that decides: the one that grants or took the command, or for a denied key the pattern that matches it but lacks
   * the access. undefined when no rule does.
   */
  readonly token?: AclWord;
  /** A placeholder hides whether it is allowed; `allowed` is then false. */
  readonly unknown?: true;
  /** What was denied. `call`: no ACL verdict – the server does not know the command or its number of arguments. */
  readonly denied?: "command" | "key" | "channel" | "database" | "call" | "script" | "sort";
  /** Index in argv of the denied key, channel or database. */
  readonly argument?: number;
}

export interface CallOptions {
  /** `databases` of the configuration, 16 without it. Valkey 9.1 only. */
  readonly databases?: number;
  /** The database that the connection has selected, 0 without it. */
  readonly database?: number;
}

/** Denials in the order in which the server prefers to report them. */
const Code = { ok: 0, database: 1, command: 2, key: 3, channel: 4 } as const;
type Code = (typeof Code)[keyof typeof Code];

interface Verdict {
  code: Code;
  /** A placeholder hides the verdict. */
  unknown: boolean;
  index: number;
  token: AclWord | undefined;
}

interface Call {
  readonly command: Command;
  readonly argv: readonly string[];
  readonly keys: readonly KeyPosition[];
  readonly channels: readonly ChannelPosition[];
  /** AUTH, HELLO, QUIT, RESET: no ACL denies the command. */
  readonly always: boolean;
  readonly options: CallOptions;
}

function callOf(command: Command, argv: readonly string[], modern: boolean, options: CallOptions): Call {
  return {
    command,
    argv,
    keys: keysOf(command, argv, modern),
    channels: channelsOf(command, argv),
    always: command.flags.includes("no_auth"),
    options,
  };
}

/** Same verdict as `ACL DRYRUN user command…`. */
export function dryRun(user: AclUser, argv: readonly string[], options: CallOptions = {}): DryRun {
  const { table, behaviour } = user;
  const command = behaviour.modern ? table.lookup(argv) : table.get(argv[0] ?? "");
  if (command === undefined) return { allowed: false, denied: "call", reason: unknownCommand(user, argv) };
  const { arity } = command;
  if ((arity > 0 && arity !== argv.length) || argv.length < -arity) {
    return { allowed: false, denied: "call", reason: `ERR wrong number of arguments for '${command.name}' command` };
  }
  const call = callOf(command, argv, behaviour.modern, options);
  let relevant: Code = behaviour.databases ? Code.database : Code.command;
  let last = 0;
  let local = 0;
  let denied: Verdict | undefined;
  let unknown = !user.certain;
  for (const selector of user.permissions) {
    const verdict = check(selector, call);
    if (verdict.code === Code.ok && !verdict.unknown) {
      return verdict.token === undefined ? { allowed: true } : { allowed: true, token: verdict.token };
    }
    unknown ||= verdict.unknown;
    if (verdict.code === Code.ok) continue;
    if (verdict.index >= 0) local = verdict.index;
    if (denied === undefined) denied = verdict;
    if (verdict.code > relevant || (verdict.code === relevant && local > last)) {
      relevant = verdict.code;
      last = local;
      denied = verdict;
    }
  }
  const result: { -readonly [K in keyof DryRun]: DryRun[K] } = {
    allowed: false,
    reason: unknown ? "a placeholder hides whether this is allowed" : reason(user, command, relevant, argv[last] ?? ""),
    denied: (["command", "database", "command", "key", "channel"] as const)[relevant]!,
  };
  if (unknown) result.unknown = true;
  if (denied?.token !== undefined) result.token = denied.token;
  if (relevant !== Code.command) result.argument = last;
  return result;
}

/** One selector, in the server's order: databases, command, keys, channels. */
function check(selector: AclSelector, call: Call): Verdict {
  const { command, argv } = call;
  const { behaviour } = selector;
  if (behaviour.databases && !selector.allDatabases) {
    const index = deniedDatabase(selector, call);
    if (index >= 0) return { code: Code.database, unknown: false, index, token: selector.databasesWord };
  }
  let unknown = false;
  let token: AclWord | undefined;
  if (!call.always) {
    const { answer, rule } = selector.decideCall(command, argv);
    token = rule?.word;
    if (answer === "no") return { code: Code.command, unknown, index: -1, token };
    unknown = answer === "unknown";
  }
  if (!selector.allKeys) {
    for (const { index, access } of call.keys) {
      const key = argv[index]!;
      const answer = selector.mayKey(key, access);
      if (answer === "no") return { code: Code.key, unknown, index, token: selector.matching(key)[0]?.words.at(-1) };
      unknown ||= answer === "unknown";
    }
  }
  if (!selector.allChannels && behaviour.channels) {
    for (const { index, pattern } of call.channels) {
      const answer = selector.mayChannel(argv[index]!, pattern);
      if (answer === "no") return { code: Code.channel, unknown, index, token: undefined };
      unknown ||= answer === "unknown";
    }
  }
  return { code: Code.ok, unknown, index: -1, token };
}

/** Index of the argument that names a database which is not allowed; 0: the current one or all; -1: none. */
function deniedDatabase(selector: AclSelector, call: Call): number {
  const total = call.options.databases ?? 16;
  const use = databasesOf(call.command, call.argv);
  if (use.all) {
    for (let id = 0; id < total; id++) if (!selector.mayDatabase(id, total)) return 0;
    return -1;
  }
  for (const index of use.positions) {
    const id = strictInteger(call.argv[index] ?? "");
    if (id !== undefined && !selector.mayDatabase(id, total)) return index;
  }
  return use.current && !selector.mayDatabase(call.options.database ?? 0, total) ? 0 : -1;
}

function reason(user: AclUser, command: Command, code: Code, value: string): string {
  const { modern, namesUser } = user.behaviour;
  if (!modern) {
    const what =
      code === Code.command
        ? `run the '${command.name}' command or its subcommand`
        : `access one of the ${code === Code.key ? "keys" : "channels"} used as arguments`;
    return `NOPERM this user has no permissions to ${what}`;
  }
  const who = namesUser ? `User ${user.name}` : "This user";
  if (code === Code.command) return `${who} has no permissions to run the '${command.name}' command`;
  if (code === Code.database) return `${who} has no permissions to access database ${value}`;
  return `${who} has no permissions to access the '${value}' ${code === Code.key ? "key" : "channel"}`;
}

function unknownCommand(user: AclUser, argv: readonly string[]): string {
  const name = argv[0] ?? "";
  if (user.behaviour.modern) return `ERR Command '${name}' not found`;
  const args = argv.slice(1).map((a) => `\`${a}\`, `);
  return `ERR unknown command \`${name}\`, with args beginning with: ${args.join("")}`;
}

/**
 * The call as a client sends it: ACL DRYRUN's verdict, and SORT's BY and GET, which since 7.0 need to read every key of the
 * keyspace (DRYRUN does not look at them).
 */
export function execute(user: AclUser, argv: readonly string[], options: CallOptions = {}): DryRun {
  const verdict = dryRun(user, argv, options);
  if (!verdict.allowed || !user.behaviour.modern) return verdict;
  const command = user.table.lookup(argv)!;
  if (command.name !== "sort" && command.name !== "sort_ro") return verdict;
  const option = sortOption(argv);
  if (option === undefined) return verdict;
  const call = callOf(command, argv, true, options);
  const open = user.permissions.some((s) => {
    const { code, unknown } = check(s, call);
    return code === Code.ok && !unknown && s.everyKey(READ);
  });
  if (open) return verdict;
  const reason = `ERR ${option} option of SORT denied due to insufficient ACL permissions.`;
  const result: DryRun = { allowed: false, denied: "sort", reason };
  return user.certain ? result : { ...result, unknown: true };
}

/** The option of SORT that reads other keys: GET, or BY with a pattern that has a `*`. */
function sortOption(argv: readonly string[]): "BY" | "GET" | undefined {
  for (let i = 2; i < argv.length; i++) {
    const word = asciiLower(argv[i]!);
    const more = argv.length - i - 1;
    if (word === "by" && more >= 1) {
      if (argv[++i]!.includes("*")) return "BY";
    } else if (word === "get" && more >= 1) return "GET";
    else if (word === "limit" && more >= 2) i += 2;
    else if (word === "store" && more >= 1) i++;
    else if (word !== "asc" && word !== "desc" && word !== "alpha") return undefined;
  }
  return undefined;
}

/**
 * A call that a script makes: commands flagged `noscript` are refused before ACL, then each call is checked on its own, against
 * any selector, whether its keys were declared or not.
 */
export function scriptCall(user: AclUser, argv: readonly string[], options: CallOptions = {}): DryRun {
  const { behaviour, table } = user;
  const command = behaviour.modern ? table.lookup(argv) : table.get(argv[0] ?? "");
  if (command?.flags.includes("noscript") === true) {
    return { allowed: false, denied: "script", reason: "ERR This Redis command is not allowed from script" };
  }
  return execute(user, argv, options);
}

export interface ScriptRun extends DryRun {
  /** -1: the EVAL itself; else the index of the first call that is refused. */
  readonly call?: number;
}

/**
 * A script run: EVAL, EVALSHA or FCALL with its declared keys first (read and write on each, in the selector that grants the
 * command, used or not), then the calls that the script makes, in order. A refused call leaves the earlier ones done.
 */
export function checkScript(
  user: AclUser,
  evaluation: readonly string[],
  calls: readonly (readonly string[])[],
  options: CallOptions = {},
): ScriptRun {
  const whole = execute(user, evaluation, options);
  if (!whole.allowed) return { ...whole, call: -1 };
  for (let i = 0; i < calls.length; i++) {
    const verdict = scriptCall(user, calls[i]!, options);
    if (!verdict.allowed) return { ...verdict, call: i };
  }
  return whole;
}
