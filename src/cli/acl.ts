/** `quorumlint acl show|can|diff`: what the users of an ACL may do, without a server. */
import { readFileSync, statSync } from "node:fs";
import { isTemplateName } from "../model/input.js";
import {
  type AclLoad,
  type AclUser,
  type DryRun,
  describeUser,
  diffUsers,
  execute,
  loadView,
  type UserDiff,
} from "../model/redis/acl.js";
import type { Change } from "../model/redis/acl-diff.js";
import { resolveServer, serverNames } from "../model/redis/servers.js";
import { textOf } from "../text/bytes.js";
import { didYouMean } from "../text/similar.js";
import { Source, type Span, TextView } from "../text/source.js";
import { note, print } from "./output.js";
import { UsageError } from "./usage.js";

const SERVER = "7.2";
/** An ACL travels in a ConfigMap or Secret of at most 1 MiB. */
const MAX_BYTES = 2 * 1024 * 1024;

interface ShowFlags {
  readonly user?: string;
  readonly server?: string;
  readonly format: "pretty" | "json";
}

interface CanFlags extends ShowFlags {
  readonly user: string;
}

interface Loaded {
  readonly file: string;
  readonly server: string;
  readonly users: ReadonlyMap<string, AclUser>;
}

/** Reads an ACL file, or the `user` lines of a redis.conf. Placeholders are tokens in files whose name says template. */
function read(file: string, server = SERVER): Loaded {
  const resolved = resolveServer(server);
  if (resolved === undefined) {
    throw new UsageError(
      `--server ${server} is no version${didYouMean(server, serverNames)}; such as ${serverNames.join(", ")}`,
    );
  }
  if (resolved.note !== undefined) note(`quorumlint: ${resolved.note}`);
  let text: string;
  try {
    const stat = file === "-" ? undefined : statSync(file);
    if (stat?.isDirectory() === true) throw new UsageError(`${file} is a directory, not an ACL file`);
    if (stat !== undefined && stat.size > MAX_BYTES) throw new UsageError(`${file} is larger than 2 MiB`);
    text = textOf(readFileSync(file === "-" ? 0 : file).toString("latin1"));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(code === "ENOENT" ? `there is no file ${file}` : `${file} cannot be read: ${message}`);
  }
  const view = new TextView(new Source(file === "-" ? "stdin" : file, text));
  const options = { server, placeholders: isTemplateName(file) };
  const load = loadView(view, isConf(file, text) ? { ...options, origin: "conf" } : options);
  if (!load.ok) throw new UsageError(refusal(file, load));
  return { file, server: load.server.id, users: load.users };
}

/** A configuration with `user` lines, not an ACL file: some line starts with another directive. */
function isConf(file: string, text: string): boolean {
  if (/\.acl(\.\w+)?$/i.test(file)) return false;
  return /\.conf(\.\w+)?$/i.test(file) && !/^\s*(?:user\s[^\n]*\s*)*$/.test(text.slice(0, 20_000));
}

function refusal(file: string, load: AclLoad & { ok: false }): string {
  const shown = load.errors.slice(0, 10).map((e) => `\n  ${place(e.at)}: ${e.message}`);
  const more = load.errors.length > shown.length ? `\n  and ${load.errors.length - shown.length} more` : "";
  const what = load.crash === true ? "crashes on" : "does not load";
  return `${load.server.id} ${what} ${file}:${shown.join("")}${more}`;
}

function userOf({ users, file }: Loaded, name: string): AclUser {
  const user = users.get(name);
  if (user === undefined) throw new UsageError(`${file} has no user ${name}${didYouMean(name, users.keys())}`);
  return user;
}

function place(at: Span): string {
  const { line, column } = at.source.position(at.start);
  return `${at.source.file}:${line}:${column}`;
}

const json = (value: unknown): void => print(JSON.stringify(value, null, 2));

/** As ACL GETUSER prints it; a password that is still a placeholder stands as it is written. */
function described(user: AclUser): Record<string, unknown> {
  const description = describeUser(user) as unknown as Record<string, unknown>;
  if (!user.passwords.some((p) => p.placeholder)) return description;
  return { ...description, passwords: user.passwords.map((p) => (p.placeholder ? p.word.text : p.hash)) };
}

export async function aclShowCommand(file: string, flags: ShowFlags): Promise<number> {
  const loaded = read(file, flags.server);
  const users = flags.user === undefined ? [...loaded.users.values()] : [userOf(loaded, flags.user)];
  if (flags.format === "json") {
    const all = Object.fromEntries(users.map((u) => [u.name, described(u)]));
    json({ version: 1, file, server: loaded.server, users: all });
    return 0;
  }
  print(users.map(show).join("\n"));
  return 0;
}

function show(user: AclUser): string {
  const line = (name: string, value: unknown): string => {
    const text = Array.isArray(value) ? value.join(" ") : String(value ?? "");
    return `  ${name.padEnd(9)} ${text === "" ? "(none)" : text}\n`;
  };
  const { selectors, ...rest } = described(user);
  const note = user.implicit ? "  (no line defines it: the server makes it)" : "";
  let out = `user ${user.name}${note}\n`;
  for (const [name, value] of Object.entries(rest)) out += line(name, value);
  for (const selector of (selectors ?? []) as Record<string, string>[]) {
    out += `  selector  ${Object.values(selector)
      .filter((part) => part !== "")
      .join(" ")}\n`;
  }
  if (!user.certain) out += "  placeholders hide a part of it\n";
  return out;
}

export async function aclCanCommand(file: string, command: readonly string[], flags: CanFlags): Promise<number> {
  const loaded = read(file, flags.server);
  const user = userOf(loaded, flags.user);
  const verdict = execute(user, command);
  if (verdict.denied === "call") {
    const near = user.table.get(command[0]!) === undefined ? didYouMean(command[0]!, names(user)) : "";
    throw new UsageError(`${loaded.server}: ${verdict.reason?.replace(/^ERR /, "")}${near}`);
  }
  const { token } = verdict;
  if (flags.format === "json") {
    const { line, column } = token === undefined ? { line: 0, column: 0 } : token.at.source.position(token.at.start);
    json({
      version: 1,
      file,
      server: loaded.server,
      user: user.name,
      command,
      allowed: verdict.allowed,
      ...(verdict.unknown === true ? { unknown: true } : {}),
      ...(verdict.reason === undefined ? {} : { reason: verdict.reason, denied: verdict.denied }),
      ...(verdict.argument === undefined ? {} : { argument: verdict.argument }),
      token: token === undefined ? null : { text: token.text, line, column },
      ...(user.enabled ? {} : { enabled: false }),
    });
    return verdict.allowed ? 0 : 1;
  }
  const word = verdict.allowed ? "allowed" : verdict.unknown === true ? "unknown" : "denied";
  const by = token === undefined ? reasonWithout(verdict, user) : `decided by ${token.text} (${place(token.at)})`;
  const why = verdict.reason === undefined ? "" : `  ${verdict.reason}\n`;
  const off = user.enabled || !user.certain ? "" : `  note: ${user.name} is off, nobody can log in as it\n`;
  print(`${word}: ${command.join(" ")} as ${user.name}\n${why}  ${by}\n${off}`);
  return verdict.allowed ? 0 : 1;
}

function names(user: AclUser): string[] {
  return user.table.commands.filter((c) => c.parent === undefined).map((c) => c.name);
}

/** What stands in the place of a deciding rule. */
function reasonWithout(verdict: DryRun, user: AclUser): string {
  if (verdict.allowed) return "decided by the server: this command always passes";
  if (verdict.denied === "key") return "decided by the key patterns: none matches";
  if (verdict.denied === "channel") return "decided by the channel patterns: none matches";
  if (verdict.denied === "sort") return "decided by the key patterns: none covers every key";
  return user.implicit ? "decided by the server" : "decided by nothing: no rule grants it";
}

export async function aclDiffCommand(before: string, after: string, flags: ShowFlags): Promise<number> {
  const { users } = diffUsers(read(before, flags.server).users, read(after, flags.server).users);
  if (flags.format === "json") json({ version: 1, before, after, users });
  else if (users.length === 0) print("no effective difference");
  else print(users.map((u) => diffText(u)).join("\n"));
  return 0;
}

function diffText(diff: UserDiff): string {
  const sign = diff.only === "after" ? "+" : diff.only === "before" ? "-" : "~";
  let out = `${sign} user ${diff.name}\n`;
  const flag = (change: readonly [boolean, boolean] | undefined, on: string, off: string): void => {
    if (change !== undefined) out += `  ${change[0] ? on : off} → ${change[1] ? on : off}\n`;
  };
  flag(diff.enabled, "on", "off");
  flag(diff.nopass, "nopass", "with password");
  out += changeText("commands", diff.commands) + changeText("keys", diff.keys) + changeText("channels", diff.channels);
  const { added, removed } = diff.passwords;
  if (added.length + removed.length > 0) out += `  passwords: ${removed.length} removed, ${added.length} added\n`;
  if (diff.scoped.length > 0) out += `  on other keys or channels: ${few(diff.scoped)}\n`;
  return out;
}

function changeText(what: string, { added, removed }: Change): string {
  return (
    (added.length > 0 ? `  ${what} added: ${few(added)}\n` : "") +
    (removed.length > 0 ? `  ${what} removed: ${few(removed)}\n` : "")
  );
}

function few(list: readonly string[]): string {
  return list.length > 12 ? `${list.slice(0, 12).join(", ")} and ${list.length - 12} more` : list.join(", ");
}
