/**
 * What two ACLs allow differently – by effect, not by text.
 */
import { type AclPattern, covered } from "./acl-selector.js";
import type { AclUser } from "./acl-user.js";
import { READ, WRITE } from "./commands.js";

export interface UserDiff {
  readonly name: string;
  /** The user is in one ACL only. */
  readonly only?: "before" | "after";
  /** `[before, after]` where they differ. */
  readonly enabled?: readonly [boolean, boolean];
  readonly nopass?: readonly [boolean, boolean];
  /** Hashes of passwords. */
  readonly passwords: Change;
  /** Commands that some selector allows. */
  readonly commands: Change;
  /** `%R~p` / `%W~p` of keys whose access is not covered by the other side, as rules. */
  readonly keys: Change;
  readonly channels: Change;
  /** Commands that both allow, but on other keys or channels because of selectors. */
  readonly scoped: readonly string[];
}

export interface Change {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface AclDiff {
  /** Only the users that differ, in order of name. */
  readonly users: readonly UserDiff[];
}

/** Compares the users of two loaded ACLs. */
export function diffUsers(before: ReadonlyMap<string, AclUser>, after: ReadonlyMap<string, AclUser>): AclDiff {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  const users: UserDiff[] = [];
  for (const name of names) {
    const diff = effectiveDiff(before.get(name), after.get(name));
    if (diff !== undefined) users.push(diff);
  }
  return { users };
}

/** What differs between two states of a user; undefined when nothing does. */
export function effectiveDiff(before: AclUser | undefined, after: AclUser | undefined): UserDiff | undefined {
  const name = (after ?? before)?.name;
  if (name === undefined) return undefined;
  const commands = change(before?.commands, after?.commands);
  const keys = patternChange(before, after, "keys");
  const channels = patternChange(before, after, "channels");
  const passwords = change(
    before?.passwords.map((p) => p.hash),
    after?.passwords.map((p) => p.hash),
  );
  const base = { name, passwords, commands, keys, channels };
  if (before === undefined || after === undefined) {
    return { ...base, only: before === undefined ? "after" : "before", scoped: [] };
  }
  const diff: { -readonly [K in keyof UserDiff]: UserDiff[K] } = { ...base, scoped: scopedChanges(before, after) };
  if (before.enabled !== after.enabled) diff.enabled = [before.enabled, after.enabled];
  if (before.nopass !== after.nopass) diff.nopass = [before.nopass, after.nopass];
  const same =
    diff.enabled === undefined &&
    diff.nopass === undefined &&
    diff.scoped.length === 0 &&
    [passwords, commands, keys, channels].every((c) => c.added.length + c.removed.length === 0);
  return same ? undefined : diff;
}

function change(before: Iterable<string> = [], after: Iterable<string> = []): Change {
  const old = new Set(before);
  const now = new Set(after);
  return {
    added: [...now].filter((x) => !old.has(x)).sort(),
    removed: [...old].filter((x) => !now.has(x)).sort(),
  };
}

interface Scope {
  readonly all: boolean;
  readonly patterns: readonly AclPattern[];
}

function scope(user: AclUser | undefined, kind: "keys" | "channels"): Scope {
  if (user === undefined) return { all: false, patterns: [] };
  return kind === "keys"
    ? { all: user.allKeys, patterns: user.keys }
    : { all: user.allChannels, patterns: user.channels };
}

function patternChange(before: AclUser | undefined, after: AclUser | undefined, kind: "keys" | "channels"): Change {
  const old = scope(before, kind);
  const now = scope(after, kind);
  return { added: missing(now, old, kind), removed: missing(old, now, kind) };
}

/** The patterns of `of` that `from` does not cover, as rules. */
function missing(of: Scope, from: Scope, kind: "keys" | "channels"): string[] {
  if (from.all) return [];
  const all = kind === "keys" ? "~*" : "&*";
  const out = new Set<string>();
  if (of.all) return covered(from.patterns, "*") === "yes" ? [] : [all];
  for (const pattern of of.patterns) {
    if (kind === "channels") {
      if (covered(from.patterns, pattern.loose) !== "yes") out.add(`&${pattern.text}`);
      continue;
    }
    const lacks = [READ, WRITE].filter((bit) => {
      if ((pattern.access & bit) === 0) return false;
      return (
        covered(
          from.patterns.filter((p) => (p.access & bit) !== 0),
          pattern.loose,
        ) !== "yes"
      );
    });
    if (lacks.length === 2) out.add(`~${pattern.text}`);
    else if (lacks.length === 1) out.add(`%${lacks[0] === READ ? "R" : "W"}~${pattern.text}`);
  }
  return [...out].sort();
}

/** Commands that both allow, where the keys or channels of the selectors that grant them differ though the union does not. */
function scopedChanges(before: AclUser, after: AclUser): string[] {
  if (before.selectors.length === 0 && after.selectors.length === 0) return [];
  const out: string[] = [];
  const known = new Map<string, boolean>();
  const shared = after.commands;
  for (const command of before.commands) {
    if (!shared.has(command)) continue;
    const sides = [before, after].map((user) => {
      const id = user.table.get(command)!.id;
      return user.permissions.flatMap((s, index) => (s.states[id] === 1 ? [index] : []));
    });
    // Commands that the same selectors grant share one comparison.
    const id = sides.map((s) => s.join(",")).join(" ");
    let differs = known.get(id);
    if (differs === undefined) {
      differs = scopesDiffer(before, sides[0]!, after, sides[1]!);
      known.set(id, differs);
    }
    if (differs) out.push(command);
  }
  return out.sort();
}

function scopesDiffer(before: AclUser, old: readonly number[], after: AclUser, now: readonly number[]): boolean {
  for (const kind of ["keys", "channels"] as const) {
    const part = (user: AclUser, indexes: readonly number[]): Scope => {
      const selectors = indexes.map((i) => user.permissions[i]!);
      return kind === "keys"
        ? { all: selectors.some((s) => s.allKeys), patterns: selectors.flatMap((s) => s.keys) }
        : { all: selectors.some((s) => s.allChannels), patterns: selectors.flatMap((s) => s.channels) };
    };
    const a = part(before, old);
    const b = part(after, now);
    if (missing(a, b, kind).length > 0 || missing(b, a, kind).length > 0) return true;
  }
  return false;
}
