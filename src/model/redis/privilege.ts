/** What makes a user too mighty for an application: everything at once, or commands that are dangerous by category. */
import type { AclWord } from "../../document/redis-acl.js";
import type { Contract } from "../contract.js";
import type { AclUser } from "./acl.js";
import type { Command, CommandTable } from "./commands.js";
import type { RoleName } from "./roles.js";
import { commandTable } from "./servers.js";

export interface Everything {
  readonly kind: "commands" | "keys" | "channels";
  readonly what: string;
  /** The rule that gives it; undefined: the default of a new user (channels before 7.0). */
  readonly word: AclWord | undefined;
}

/**
 * `+@all` (also with exceptions, in a declared contract: the next release's commands are in it), every key, every channel.
 * Sentinel's own user has every channel in the documented set.
 */
export function everything(user: AclUser, role: RoleName, strict: boolean): Everything[] {
  const out: Everything[] = [];
  if (!user.certain) return out;
  const all = user.permissions.find((s) => (strict ? s.futureCommands : s.allCommands));
  if (all !== undefined) {
    const word = all.rules.findLast((r) => r.kind === "all" && r.allow)?.word;
    out.push({ kind: "commands", what: all.allCommands ? "every command" : "every command but some", word });
  }
  for (const selector of user.permissions) {
    const pattern = selector.keys.find((p) => /^\*+$/.test(p.text));
    if (!selector.allKeys && pattern === undefined) continue;
    out.push({ kind: "keys", what: "every key", word: selector.allKeysWord ?? pattern?.words[0] });
    break;
  }
  if (role !== "control") {
    for (const selector of user.permissions) {
      const pattern = selector.channels.find((p) => /^\*+$/.test(p.text));
      if (!selector.allChannels && pattern === undefined) continue;
      out.push({ kind: "channels", what: "every channel", word: selector.allChannelsWord ?? pattern?.words[0] });
      break;
    }
  }
  return out;
}

/** Commands of @dangerous that read: in an inferred contract a category that drags them in is no finding. */
const MILD: ReadonlySet<string> = new Set(["keys", "sort", "sort_ro", "info", "role", "lastsave"]);

/**
 * Whether a command of a table is of @dangerous or @admin. Before 7.0 the categories sit on the container: a subcommand is
 * judged by those of a later server.
 */
export function isDangerous(table: CommandTable, name: string, strict: boolean): boolean {
  if (!strict && MILD.has(name)) return false;
  const bar = name.indexOf("|");
  const command = table.get(name) ?? commandTable("redis-8.0")?.get(name) ?? table.get(name.slice(0, Math.max(0, bar)));
  if (command === undefined || command.subcommands !== undefined) return false;
  return command.categories.includes("dangerous") || command.categories.includes("admin");
}

const lists = new WeakMap<CommandTable, Map<boolean, readonly Command[]>>();

function dangerousOf(table: CommandTable, strict: boolean): readonly Command[] {
  let known = lists.get(table);
  if (known === undefined) {
    known = new Map();
    lists.set(table, known);
  }
  let list = known.get(strict);
  if (list === undefined) {
    list = table.commands.filter((c) => isDangerous(table, c.name, strict));
    known.set(strict, list);
  }
  return list;
}

/** Whether any dangerous command is surely allowed: a look at the states, before the rules that give it are searched for. */
export function hasDangerous(user: AclUser, strict: boolean): boolean {
  const dangerous = dangerousOf(user.table, strict);
  return user.permissions.some(
    (s) =>
      s.rules.some((r) => r.allow) &&
      (dangerous.some((c) => s.states[c.id] === 1) || s.rules.some((r) => r.kind === "first-arg")),
  );
}

/** Commands that the contract declares for a user outside programs: `PING`, `CLIENT SETINFO`, `GET app:{tenant}:*`. */
export function declaredCommands(contract: Contract, user: string): ReadonlySet<string> {
  const out = new Set<string>();
  for (const text of contract.config.policy?.commands?.[user] ?? []) {
    const [command = "", second = ""] = text
      .trim()
      .toLowerCase()
      .split(/[\s|]+/);
    out.add(command);
    out.add(`${command}|${second}`);
  }
  return out;
}
