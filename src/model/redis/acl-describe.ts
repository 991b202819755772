/**
 * Users in the words of the server: ACL GETUSER and ACL LIST.
 */
import { splitArgs } from "../../document/redis-acl.js";
import { bytesOf, hasRawBytes, textOf } from "../../text/bytes.js";
import { Source, TextView } from "../../text/source.js";
import { type AclPattern, AclSelector } from "./acl-selector.js";
import type { AclUser } from "./acl-user.js";
import { asciiLower, type Command, type CommandTable } from "./commands.js";

export interface SelectorDescription {
  commands: string;
  keys: string;
  channels: string;
  /** Valkey 9.1: `alldbs`, `db=0,1`, or nothing. */
  databases?: string;
}

/** The reply of ACL GETUSER. Redis 6 gives lists of patterns without prefix and has no selectors. */
export interface UserDescription {
  /** Sorted: the server replies a set. */
  flags: string[];
  passwords: string[];
  commands: string;
  keys: string | string[];
  /** Not in Redis 6.0. */
  channels?: string | string[];
  databases?: string;
  selectors?: SelectorDescription[];
}

/** The server does not answer: it crashes (see `AclUser.crashes`). */
export interface CrashDescription {
  error: string;
}

/** What ACL GETUSER prints. Redis ≤ 7.0 prints commands in no fixed order: sorted here. */
export function describeUser(user: AclUser): UserDescription | CrashDescription {
  if (user.crashes) return { error: "CRASH in ACL GETUSER" };
  const { behaviour, root } = user;
  const passwords = user.passwords.map((p) => p.hash);
  const flags = userFlags(user);
  const commands = commandRules(root);
  if (!behaviour.modern) {
    const plain = (all: boolean, list: readonly AclPattern[]): string[] =>
      all ? ["*"] : list.map((p) => shown(p.text));
    const keys = plain(root.allKeys, root.keys);
    if (!behaviour.channels) return { flags, passwords, commands, keys };
    return { flags, passwords, commands, keys, channels: plain(root.allChannels, root.channels) };
  }
  const { keys, channels, databases } = describeSelector(root, commands);
  const description: UserDescription = { flags, passwords, commands, keys, channels };
  if (databases !== undefined) description.databases = databases;
  description.selectors = user.selectors.map((s) => describeSelector(s, commandRules(s)));
  return description;
}

function describeSelector(selector: AclSelector, commands: string): SelectorDescription {
  const keys = selector.allKeys ? "~*" : selector.keys.map(keyRule).join(" ");
  const channels = selector.allChannels ? "&*" : selector.channels.map((p) => `&${shown(p.text)}`).join(" ");
  const description: SelectorDescription = { commands, keys, channels };
  if (selector.behaviour.databases) {
    const list = selector.databases.length === 0 ? "" : `db=${selector.databases.join(",")}`;
    description.databases = selector.allDatabases ? "alldbs" : list;
  }
  return description;
}

/** The line of ACL LIST, which ACL SAVE writes. Redis ≤ 7.0: the commands are sorted. */
export function listUser(user: AclUser): string {
  const { behaviour } = user;
  const flags = userFlags(user, true);
  const parts = [...flags, ...user.passwords.map((p) => `#${p.hash}`)];
  const inner = (s: AclSelector): string[] => {
    const out = s.allKeys ? ["~*"] : s.keys.map(keyRule);
    if (behaviour.channels) {
      if (s.allChannels) out.push("&*");
      else out.push("resetchannels", ...s.channels.map((p) => `&${shown(p.text)}`));
    }
    if (!s.allDatabases) out.push(s.databases.length === 0 ? "resetdbs" : `db=${s.databases.join(",")}`);
    out.push(commandRules(s));
    return out;
  };
  parts.push(...inner(user.root), ...user.selectors.map((s) => `(${inner(s).join(" ")})`));
  return `user ${user.name} ${parts.join(" ")}`;
}

/** In the order of ACL LIST, or sorted with the flags that only GETUSER of Redis 6 prints. */
function userFlags(user: AclUser, list = false): string[] {
  const { behaviour, root } = user;
  const flags = [user.enabled ? "on" : "off"];
  if (!behaviour.modern && !list) {
    if (root.allKeys) flags.push("allkeys");
    if (behaviour.channels && root.allChannels) flags.push("allchannels");
    if (root.allCommands) flags.push("allcommands");
  }
  if (user.nopass) flags.push("nopass");
  if (behaviour.printsSanitize && user.sanitize !== "unset") {
    flags.push(user.sanitize === "skip" ? "skip-sanitize-payload" : "sanitize-payload");
  }
  return list ? flags : flags.sort();
}

function keyRule(pattern: AclPattern): string {
  const prefix = ["%~", "%R~", "%W~", "~"][pattern.access];
  return `${prefix}${shown(pattern.text)}`;
}

/** Escapes inside a selector may have made UTF-8 out of single bytes. */
const shown = (text: string): string => (hasRawBytes(text) ? textOf(bytesOf(text)) : text);

function commandRules(selector: AclSelector): string {
  return selector.behaviour.orderedRules ? writtenRules(selector) : derivedRules(selector);
}

/**
 * Since 7.2 the server reads the rules that it kept like a configuration line before it shows them, and aborts when they are not
 * the same again: quotes or blanks in a first argument (`+get|"x`) kill it.
 */
export function readsItself(selector: AclSelector): boolean {
  if (!selector.behaviour.orderedRules || !selector.oddArgument) return true;
  const text = writtenRules(selector);
  const words = splitArgs(
    new TextView(new Source("", text)),
    0,
    text.length,
    undefined,
    selector.behaviour.lenientQuotes,
  );
  if (words === undefined) return false;
  const again = new AclSelector(selector.table, selector.behaviour, false, []);
  if (words.some((w) => again.apply(w) !== undefined)) return false;
  return again.states.every((s, id) => s === selector.states[id]);
}

/** 7.2 and later keep the rules: a rule replaces an earlier one of the same name, a container those of its subcommands. */
function writtenRules(selector: AclSelector): string {
  const { rules } = selector;
  const start = rules.findLastIndex((r) => r.kind === "all") + 1;
  const kept = new Map<string, string>();
  /** Names with a bar, by what stands before it. */
  const inner = new Map<string, Set<string>>();
  for (const rule of rules.slice(start)) {
    const name = ruleName(selector.table, rule);
    if (name === undefined) continue;
    kept.delete(name);
    for (const sub of inner.get(name) ?? []) kept.delete(sub);
    inner.delete(name);
    kept.set(name, `${rule.allow ? "+" : "-"}${name}`);
    const bar = name.indexOf("|");
    if (bar > 0) {
      const outer = name.slice(0, bar);
      let set = inner.get(outer);
      if (set === undefined) {
        set = new Set();
        inner.set(outer, set);
      }
      set.add(name);
    }
  }
  return [selector.futureCommands ? "+@all" : "-@all", ...kept.values()].join(" ");
}

function ruleName(table: CommandTable, rule: AclSelector["rules"][number]): string | undefined {
  if (rule.kind === "category") return `@${table.categories[rule.category!]}`;
  if (rule.kind === "command") return asciiLower(rule.command!.name);
  if (rule.kind === "first-arg") return asciiLower(shown(`${rule.command!.name}|${rule.argument}`));
  return undefined;
}

/** 7.0 and earlier find categories that fit the command set best, then name the commands that differ. */
function derivedRules(selector: AclSelector): string {
  const { table, states } = selector;
  const { commands, categories } = table;
  const additive = !selector.futureCommands;
  const wanted = Uint8Array.from(states, (s) => (s === 1 ? 1 : 0));
  const left = wanted.slice();
  const made = new Uint8Array(wanted.length).fill(additive ? 0 : 1);
  const rules: string[] = [];
  const applied = new Set<number>();
  for (;;) {
    let best = -1;
    let fewest = Number.MAX_SAFE_INTEGER;
    let most = 0;
    for (let i = 0; i < categories.length; i++) {
      if (applied.has(i)) continue;
      const members = table.inCategory(i);
      let on = 0;
      for (const c of members) on += left[c.id]!;
      const same = additive ? on : members.length - on;
      const different = members.length - same;
      if (same > different && (different < fewest || (different === fewest && same > most))) {
        best = i;
        fewest = different;
        most = same;
      }
    }
    if (best < 0) break;
    for (const c of table.touchedByCategory(best)) {
      made[c.id] = additive ? 1 : 0;
      left[c.id] = additive ? 0 : 1;
    }
    rules.push(`${additive ? "+" : "-"}@${categories[best]}`);
    applied.add(best);
  }
  const differ = (command: Command): void => {
    const allowed = wanted[command.id]!;
    if (allowed !== made[command.id]) {
      rules.push(`${allowed === 1 ? "+" : "-"}${command.name}`);
      made[command.id] = allowed;
      for (const sub of command.subcommands?.values() ?? []) made[sub.id] = allowed;
    }
    for (const sub of command.subcommands?.values() ?? []) differ(sub);
    if (allowed === 1) return;
    const seen = new Set<string>();
    for (const { argument } of selector.firstArguments(command)) {
      const text = shown(argument!);
      if (seen.has(asciiLower(text))) continue;
      seen.add(asciiLower(text));
      rules.push(`+${command.name}|${text}`);
    }
  };
  for (const command of commands) if (command.parent === undefined) differ(command);
  return [additive ? "-@all" : "+@all", ...rules.sort()].join(" ");
}
