/** Users against what their role needs: effective permissions, each difference with the rule that makes it. */
import type { AclWord } from "../../document/redis-acl.js";
import { bytesOf } from "../../text/bytes.js";
import type { Span } from "../../text/source.js";
import type { Contract } from "../contract.js";
import { isFaulty } from "./access.js";
import type { AclPattern, AclSelector, AclUser } from "./acl.js";
import { denies, MOST_SELECTORS } from "./acl-problems.js";
import { globMatch } from "./glob.js";
import type { RoleName, RoleUser } from "./roles.js";
import { CONTROL, PEER, type Permission, REPLICA, type RoleSpec } from "./roles-data.js";
import type { Flavour } from "./servers.js";

/** A user of a role whose line is there and is read by the server: what can be judged. */
export interface Judged extends RoleUser {
  readonly user: AclUser;
}

export function isJudged(user: RoleUser): user is Judged {
  const { access } = user;
  return user.user !== undefined && access.load !== undefined && !isFaulty(access.load, user.user);
}

/** Permissions that are surely missing, with the rule that takes them away (undefined: none ever gave them). */
export interface Lack {
  readonly permission: Permission;
  readonly word: AclWord | undefined;
}

/** The permissions of a role that mean something to a server. */
export function permissionsFor(spec: RoleSpec, flavour: Flavour, major: number): readonly Permission[] {
  return spec.commands.filter(
    ({ since }) => since === undefined || (since.flavour === flavour && major >= since.major),
  );
}

export function lacking(user: AclUser, permissions: readonly Permission[]): Lack[] {
  return permissions
    .filter((p) => isKnown(user, p.command) && user.can(p.command) === "no")
    .map((permission) => ({ permission, word: revoking(user, permission.command) }));
}

/** The server has the command; before 7.0 a subcommand is an argument of it. */
function isKnown({ table, behaviour }: AclUser, name: string): boolean {
  const bar = name.indexOf("|");
  return table.get(name) !== undefined || (!behaviour.modern && bar > 0 && table.get(name.slice(0, bar)) !== undefined);
}

/** The rule that took away a command which an earlier one of the same permissions gave. */
export function revoking(user: AclUser, name: string): AclWord | undefined {
  const wanted = name.toLowerCase();
  for (const selector of user.permissions.slice(0, MOST_SELECTORS)) {
    if (!denies(selector)) continue;
    let granted = false;
    let taken: AclWord | undefined;
    for (const { rule, changed } of selector.effects()) {
      if (rule.allow) {
        if (changed.some((c) => c.toLowerCase() === wanted)) granted = true;
      } else if (granted && (changed.includes(name) || rule.kind === "all")) {
        taken = rule.word;
        granted = false;
      }
    }
    if (taken !== undefined && !granted) return taken;
  }
  return undefined;
}

/** What one rule surely gives; `commands` are names, first arguments as `select|0`. */
export interface Grant {
  readonly word: AclWord;
  readonly commands: readonly string[];
}

/** What each granting rule still gives at the end, root and selectors alike. */
export function grants(user: AclUser): readonly Grant[] {
  let known = granted.get(user);
  if (known === undefined)
    granted.set(
      user,
      (known = user.permissions.slice(0, MOST_SELECTORS).flatMap((selector) => grantsOf(user, selector))),
    );
  return known;
}

const granted = new WeakMap<AclUser, readonly Grant[]>();

function grantsOf(user: AclUser, selector: AclSelector): Grant[] {
  const out: Grant[] = [];
  for (const { rule, standing } of selector.effects()) {
    if (!rule.allow || rule.kind === "unknown") continue;
    const commands = standing.filter((name) => {
      const command = user.table.get(name);
      // a first argument is no command: it stands unless something hidden may take it away
      if (command === undefined || rule.kind === "first-arg") return user.certain;
      return selector.states[command.id] === 1 && !command.flags.includes("no_auth");
    });
    if (commands.length > 0) out.push({ word: rule.word, commands });
  }
  return out;
}

/** All that a user has beyond a set of commands, as one: the rules that give it, and the commands. */
export interface Surplus {
  readonly at: Span;
  /** `+@all`, `+@read and +info`. */
  readonly tokens: string;
  /** For messages. */
  readonly commands: string;
  readonly related: readonly { readonly at: Span; readonly message: string }[];
}

/** undefined: nothing beyond it. */
export function surplus(user: AclUser, allowed: (command: string) => boolean): Surplus | undefined {
  const words: AclWord[] = [];
  const names: string[] = [];
  for (const { word, commands } of grants(user)) {
    const more = commands.filter((name) => !allowed(name));
    if (more.length === 0) continue;
    words.push(word);
    for (const name of more) names.push(name);
  }
  const [first, ...others] = words;
  if (first === undefined) return undefined;
  return {
    at: first.at,
    tokens: shorten(words.map((w) => w.text)),
    commands: showCommands(names),
    related: others.slice(0, SHOWN).map((w) => ({ at: w.at, message: "and this" })),
  };
}

/** The commands of the other roles that the same user plays: that it plays them is said once, elsewhere. */
export function alsoPlays(contract: Contract, role: RoleUser): ReadonlySet<string> {
  const out = new Set<string>();
  for (const other of contract.redis.roles) {
    if (other.access !== role.access || other.name !== role.name || other.role === role.role) continue;
    for (const { command } of SPECS[other.role]?.commands ?? []) out.add(command);
  }
  return out;
}

const SPECS: { readonly [R in RoleName]?: RoleSpec } = { replica: REPLICA, control: CONTROL, peer: PEER };

/** Keys or channels that a user may use: the rules that give them. `implied`: every channel by the default of Redis 6.2. */
export function patternRules(
  user: AclUser,
  kind: "keys" | "channels",
  accept: (pattern: AclPattern) => boolean = () => false,
): { readonly words: readonly AclWord[]; readonly all: boolean; readonly implied: boolean } {
  const words: AclWord[] = [];
  let all = false;
  let implied = false;
  // a placeholder may be what takes them away again
  if (!user.certain) return { words, all, implied };
  for (const selector of user.permissions) {
    const every = kind === "keys" ? selector.allKeys : selector.allChannels;
    const word = kind === "keys" ? selector.allKeysWord : selector.allChannelsWord;
    if (every) {
      all = true;
      if (word === undefined) implied = true;
      else words.push(word);
    }
    const patterns = kind === "keys" ? selector.keys : selector.channels;
    for (const pattern of patterns) if (!accept(pattern)) words.push(...pattern.words);
  }
  return { words, all, implied };
}

/** Whether a pattern without placeholders matches a channel or key. */
export function matches(pattern: AclPattern, name: string): boolean {
  return globMatch(pattern.glob, bytesOf(name));
}

const SHOWN = 4;

/** `+get, +set and 12 more`; containers stand for themselves only where no subcommand is listed. */
export function showCommands(names: readonly string[]): string {
  const inner = new Set(names.filter((n) => n.includes("|")).map((n) => n.slice(0, n.indexOf("|"))));
  const list = names.filter((n) => n.includes("|") || !inner.has(n));
  return shorten(list.map((n) => `+${n.toLowerCase()}`));
}

function shorten(list: readonly string[]): string {
  return list.length > SHOWN ? `${list.slice(0, SHOWN).join(", ")} and ${list.length - SHOWN} more` : joined(list);
}

export function joined(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** Where something that a user lacks is said: at the rule that takes it away, else at the user's name. */
export function placeOfLack(user: AclUser, word: AclWord | undefined): Span {
  return word?.at ?? user.nameAt;
}

/** Lacks of one place as one: what is said at the name of a user is one finding, not one per command. */
export function byPlace(
  user: AclUser,
  lacks: readonly Lack[],
): { readonly at: Span; readonly lacks: readonly Lack[] }[] {
  const groups = new Map<AclWord | undefined, Lack[]>();
  for (const lack of lacks) {
    const group = groups.get(lack.word);
    if (group === undefined) groups.set(lack.word, [lack]);
    else group.push(lack);
  }
  return [...groups].map(([word, group]) => ({ at: placeOfLack(user, word), lacks: group }));
}

/** The commands, and what is seen without them: the first effects. `alone`: where MULTI is not granted either. */
export function showLacks(
  lacks: readonly Lack[],
  alone = false,
): { readonly commands: string; readonly effect: string } {
  const commands = joined(lacks.map((l) => `+${l.permission.command}`));
  const effects = [...new Set(lacks.map(({ permission: p }) => (alone ? (p.alone ?? p.effect) : p.effect)))];
  return { commands, effect: effects.slice(0, 2).join("; ") };
}
