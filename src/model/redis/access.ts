/**
 * Who may log in at a server: its ACL file, the `user` lines of its configuration, or only `default` with its `requirepass`.
 */
import type { ConfStatement } from "../../document/redis-conf.js";
import type { TextView } from "../../text/source.js";
import type { Contract } from "../contract.js";
import { type Place, ViewPlace } from "../place.js";
import type { Plane, Server } from "../plane.js";
import type { AclText } from "../texts.js";
import type { AclLoad, AclUser } from "./acl.js";
import type { ConfLoad } from "./conf.js";
import type { RedisDeployment } from "./deployment.js";

/** The users of one or more servers of a plane. */
export interface AccessList {
  readonly plane: Plane;
  /** The servers that read it; more than one share an ACL file. */
  readonly servers: readonly Server[];
  readonly kind: "file" | "lines" | "none";
  /** The ACL file of `file`. */
  readonly acl: AclText | undefined;
  /** undefined for `none`. */
  readonly load: AclLoad | undefined;
  /** The text that holds the users, or the configuration that has none. */
  readonly view: TextView;
  /** Nothing that is not known here (a placeholder line, a script) may add users. */
  readonly complete: boolean;
  /** For messages: `the ACL file users.acl`, `redis.conf`. */
  readonly title: string;
}

/**
 * What the `default` user is. `open`: on without a password; `password`: on, with one; `locked`: on, and no password fits;
 * `unknown`: a placeholder or a script may change it.
 */
export type DefaultState = "off" | "open" | "password" | "locked" | "unknown";

export interface DefaultUser {
  readonly state: DefaultState;
  /** A line says so, with `off` or `on` on it. */
  readonly explicit: boolean;
  /** undefined where nothing but the server makes it. */
  readonly user: AclUser | undefined;
}

/** The access list of each server; undefined where the files do not say (an ACL file that is not in the contract). */
export function accessLists(contract: Contract, redis: RedisDeployment): Map<Server, AccessList | undefined> {
  const out = new Map<Server, AccessList | undefined>();
  const files = new Map<AclText, AccessList>();
  const { scripted } = redis;
  for (const plane of contract.planes) {
    files.clear();
    for (const server of plane.servers) {
      const list = server.acl === undefined ? undefined : files.get(server.acl);
      if (list === undefined) {
        const made = accessOf(server, redis, scripted);
        if (made?.acl !== undefined) files.set(made.acl, made);
        out.set(server, made);
      } else {
        (list.servers as Server[]).push(server);
        out.set(server, list);
      }
    }
  }
  return out;
}

function accessOf(server: Server, redis: RedisDeployment, scripted: boolean): AccessList | undefined {
  const { plane, conf, acl } = server;
  const own = redis.load(server);
  if (acl !== undefined) {
    const load = redis.acl(acl, plane.role);
    const open = load.unknownLines.length > 0 || [...load.users.values()].some((u) => u.namePlaceholder);
    const complete = !open && !scripted;
    return { plane, servers: [server], kind: "file", acl, load, view: acl.view, complete, title: short(acl.name) };
  }
  if (conf === undefined || own === undefined) return undefined;
  const file = own.values.get("aclfile");
  const { load } = own.users;
  // no server starts with `user` lines and an ACL file: where there are lines, there is no file
  if (file.state === "unknown" ? file.set || load === undefined : file.state === "known" && file.value !== "")
    return undefined;
  const base = { plane, servers: [server], acl: undefined, view: conf.view, title: short(conf.name) } as const;
  const complete = own.values.complete && !scripted;
  if (load === undefined) return own.values.complete ? { ...base, kind: "none", load, complete } : undefined;
  return { ...base, kind: "lines", load, complete };
}

/** Longer lines are data, not commands. */
const LONGEST_LINE = 4000;
const USER = String.raw`user[ \t]+\S+[ \t]+(?:on|off|reset|[>#~&+$-])`;
const ADDS_USERS = new RegExp(
  String.raw`\bACL[ \t"']+SETUSER\b|(?:>>|\btee[ \t]+(?:-a|--append)\b)[ \t]*["']?[^\s"'|;&]*\.acl\b|\b(?:echo|printf)\b[^|;&]*["' \t]${USER}|^[ \t]*${USER}`,
  "i",
);

/** A script that writes users, or sets them in a running server. */
export function addsUsers(text: string): boolean {
  return text.split("\n").some((line) => line.length <= LONGEST_LINE && ADDS_USERS.test(line));
}

export function defaultUser(list: AccessList, requirepass: boolean | undefined): DefaultUser {
  const byPassword = (): DefaultState => (requirepass === undefined ? "unknown" : requirepass ? "password" : "open");
  const user = list.load?.users.get("default");
  if (list.load === undefined)
    return { state: list.complete ? byPassword() : "unknown", explicit: false, user: undefined };
  if (user === undefined || user.implicit) {
    const known = list.complete && user !== undefined;
    return {
      state: !known ? "unknown" : list.kind === "lines" ? byPassword() : "open",
      explicit: false,
      user: undefined,
    };
  }
  const explicit = user.enabledWord !== undefined;
  if (!user.certain || isFaulty(list.load, user)) return { state: "unknown", explicit, user };
  if (!user.enabled) return { state: "off", explicit, user };
  return { state: user.nopass ? "open" : user.passwords.length > 0 ? "password" : "locked", explicit, user };
}

/** The server refuses the user's line: what it would allow is not decided. */
export function isFaulty(load: AclLoad, user: AclUser): boolean {
  if (load.ok) return false;
  let known = faulty.get(load);
  if (known === undefined) {
    known = new Set(load.errors.flatMap((e) => (e.user === undefined ? [e.line] : [e.line, e.user])));
    faulty.set(load, known);
  }
  return known.has(user.name) || known.has(user.line);
}

/** Names of users and lines that errors are about. */
const faulty = new WeakMap<AclLoad, ReadonlySet<string | number>>();

/** Whether a user may log in with some password; undefined: a placeholder or a refused line hides it. */
export function isEnabled(list: AccessList, user: AclUser): boolean | undefined {
  return !user.certain || (list.load !== undefined && isFaulty(list.load, user)) ? undefined : user.enabled;
}

/** The first line of a text that is not blank, for what the whole text lacks. */
export function firstLine(view: TextView): Place {
  const { text } = view;
  const found = /[^\s\ufeff][^\r\n]*/.exec(text);
  if (found === null) return new ViewPlace(view, 0, 0);
  return new ViewPlace(view, found.index, found.index + found[0].trimEnd().length);
}

/** The line of a directive that a server's configuration sets. */
export function lineOf(load: ConfLoad | undefined, name: string): ConfStatement | undefined {
  const value = load?.values.get(name);
  return value === undefined || value.state === "absent" ? undefined : value.statement;
}

function short(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
