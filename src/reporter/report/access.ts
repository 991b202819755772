/** The ACL matrix: what every user may run, by command category and key pattern, after all rules. */
import type { Contract } from "../../model/contract.js";
import type { AccessList } from "../../model/redis/access.js";
import { isFaulty } from "../../model/redis/access.js";
import type { AclUser } from "../../model/redis/acl.js";
import type { AclPattern, AclSelector } from "../../model/redis/acl-selector.js";
import type { Command, CommandTable } from "../../model/redis/commands.js";
import { plural } from "../shared.js";
import { details, esc, leftOut, table, th } from "./html.js";

/** More users than this nobody reads. */
const MOST_USERS = 150;
/** Patterns that a cell lists. */
const MOST_PATTERNS = 200;
/** From here on they are folded. */
const FOLD = 4;

const PREFIX = ["%", "%R", "%W", ""] as const;
const ALLOWED = 1;
const UNSURE = 3;

/** The matrices of all access lists of a contract; a sentence where it has none. */
export function accessSection(contract: Contract): string {
  const lists = contract.redis.accessLists.filter((l) => l.load !== undefined);
  if (lists.length === 0) return `<p class="note">No file of this contract says which users there are.</p>`;
  return lists.map((list) => `<h3>${esc(titleOf(list))}</h3>${matrix(list)}`).join("\n");
}

function titleOf({ plane, title, servers }: AccessList): string {
  const role = plane.role === "data" ? "Data plane" : "Sentinel plane";
  return `${role}: ${title}${servers.length > 1 ? ` (${plural(servers.length, "server")})` : ""}`;
}

function matrix(list: AccessList): string {
  const load = list.load!;
  const users = [...load.users.values()];
  const shown = users.slice(0, MOST_USERS);
  const commands = shown[0] === undefined ? undefined : leaves(shown[0].table);
  if (commands === undefined) return `<p class="note">It has no user.</p>`;
  const categories = shown[0]!.table.categories.filter((_, i) => commands.some((c) => (c.categoryBits >>> i) & 1));
  const head = [
    th("User", "col", ' class="stick"'),
    th("Keys"),
    th("Channels"),
    th("Commands"),
    ...categories.map((c) => `<th scope="col" class="up"><span>@${esc(c)}</span></th>`),
  ];
  const rows = shown.flatMap((user) =>
    user.permissions.map((selector, i) => row(list, user, selector, i, commands, categories)),
  );
  const faults = load.ok
    ? ""
    : `<p class="note">The server refuses this ACL (${plural(load.errors.length, "error")}): what it would mean is shown.</p>`;
  const legend = `<p class="note">A cell counts the commands of a category that the user may run on the keys of its row: <b>all</b>, <b>some of how many</b>, or none (–); <b>?</b> where a placeholder hides it.</p>`;
  return (
    faults +
    table(`Permissions in ${list.title}`, head, rows, "matrix") +
    legend +
    leftOut(shown.length, users.length, "users") +
    details("The commands of each user", shown.map((u) => commandList(u, commands)).join("\n"))
  );
}

/** Commands that can be sent: a container is none where it has subcommands. */
function leaves(all: CommandTable): Command[] {
  return all.commands.filter((c) => c.subcommands === undefined);
}

function row(
  list: AccessList,
  user: AclUser,
  selector: AclSelector,
  index: number,
  commands: readonly Command[],
  categories: readonly string[],
): string {
  const { states } = selector;
  const cells = categories.map((category) => {
    const own = commands.filter((c) => c.categories.includes(category));
    return countCell(`${user.name} @${category}`, own, states);
  });
  const name =
    index === 0
      ? `<code>${esc(user.name)}</code> ${stateOf(list, user)}`
      : `<span class="sub">or by selector ${index}</span>`;
  return `<tr><th scope="row" class="stick">${name}</th><td class="wide">${patterns(selector.allKeys, selector.keys, "~", "every key")}</td><td class="wide">${patterns(selector.allChannels, selector.channels, "&", "every channel")}</td>${countCell(`${user.name}: all commands`, commands, states)}${cells.join("")}</tr>`;
}

function stateOf(list: AccessList, user: AclUser): string {
  const words: string[] = [];
  if (list.load !== undefined && isFaulty(list.load, user)) words.push("refused");
  else if (!user.certain) words.push("partly unknown");
  words.push(user.enabled ? "on" : "off");
  if (user.enabled && user.nopass) words.push("no password");
  if (user.implicit) words.push("made by the server");
  return words.map((w) => `<span class="tag">${w}</span>`).join(" ");
}

function countCell(label: string, commands: readonly Command[], states: Uint8Array): string {
  const allowed = commands.filter((c) => states[c.id] === ALLOWED).length;
  const unsure = commands.filter((c) => states[c.id] === UNSURE).length;
  const total = commands.length;
  const title = ` title="${esc(`${label}: ${allowed} of ${total}${unsure > 0 ? `, ${unsure} unknown` : ""}`)}"`;
  if (unsure > 0) return `<td class="unsure"${title}>${allowed > 0 ? `${allowed}+` : ""}?</td>`;
  if (allowed === 0) return `<td class="none"${title}>–</td>`;
  if (allowed === total) return `<td class="all"${title}>all</td>`;
  return `<td class="some"${title}>${allowed}<span class="of">/${total}</span></td>`;
}

function patterns(any: boolean, list: readonly AclPattern[], sign: string, every: string): string {
  if (any) return `<b>${every}</b>`;
  if (list.length === 0) return "none";
  const shown = list.slice(0, MOST_PATTERNS).map((p) => {
    const prefix = sign === "~" ? `${PREFIX[p.access]}~` : sign;
    return `<code>${esc(prefix + p.text)}</code>`;
  });
  const more = list.length - shown.length;
  const all = shown.join("<br>") + (more > 0 ? `<br>and ${more} more` : "");
  return shown.length > FOLD ? details(plural(list.length, "pattern"), all) : all;
}

function commandList(user: AclUser, commands: readonly Command[]): string {
  const allowed = user.commands;
  const names = commands.filter((c) => allowed.has(c.name)).map((c) => c.name);
  for (const { rules } of user.permissions)
    for (const r of rules) if (r.kind === "first-arg" && r.allow) names.push(`${r.command?.name}|${r.argument}`);
  const text =
    names.length === 0
      ? "none"
      : names.length === commands.length
        ? "all"
        : names.map((name) => `<code>${esc(name)}</code>`).join(" ");
  return `<p><b>${esc(user.name)}</b>: ${text}</p>`;
}
