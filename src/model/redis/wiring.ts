/** How servers authenticate at each other: what configurations name, against what the other side's ACL has. */
import type { ConfArgument } from "../../document/redis-conf.js";
import { bytesOf } from "../../text/bytes.js";
import { nearest } from "../../text/similar.js";
import type { Span } from "../../text/source.js";
import type { Contract } from "../contract.js";
import type { Place } from "../place.js";
import type { Plane, Server } from "../plane.js";
import { isPlaceholder } from "../secrets.js";
import { list } from "../settings.js";
import { type AccessList, type DefaultState, firstLine, isEnabled, lineOf } from "./access.js";
import type { AclPassword, AclUser } from "./acl.js";
import type { ConfLoad } from "./conf.js";
import { isMisspelt } from "./conf-place.js";
import { type RoleName, sentinelWires, type Wire } from "./roles.js";
import { sha256 } from "./sha256.js";

/** One direction of authentication as one server's configuration has it. */
export interface Link {
  readonly role: "replica" | "control" | "peer";
  readonly server: Server;
  readonly load: ConfLoad;
  /** `masteruser` and `masterauth`, `sentinel auth-user` and `sentinel auth-pass` … */
  readonly userDirective: string;
  readonly passDirective: string;
  /** The primary of `sentinel auth-*`. */
  readonly master: string | undefined;
  readonly user: Operand;
  readonly pass: Operand;
  /** The access lists of the servers that it authenticates at; empty where none is known. */
  readonly targets: readonly AccessList[];
  /** Where something that the configuration lacks is said. */
  readonly place: Span | Place;
}

/** An operand: set (to a text or to something unknown), surely not set, or unknown. */
interface Operand {
  readonly state: "set" | "absent" | "unknown";
  readonly value: ConfArgument | undefined;
  readonly line: Span | undefined;
}

const ABSENT: Operand = { state: "absent", value: undefined, line: undefined };
const UNKNOWN: Operand = { state: "unknown", value: undefined, line: undefined };

/** Every link that the configurations of a contract make, or that its planes need. */
function linksOf(contract: Contract): Link[] {
  const out: Link[] = [];
  for (const plane of contract.planes) {
    for (const server of plane.servers) {
      const load = contract.redis.load(server);
      if (load === undefined) continue;
      if (plane.role === "data") {
        if (hasReplicas(contract, plane, load)) out.push(replicaLink(contract, server, load));
      } else out.push(...controlLinks(contract, server, load), peerLink(contract, server, load));
    }
  }
  return out;
}

/** Somebody replicates from somebody: more than one server, a Sentinel, a `replicaof`, or a declared user for it. */
function hasReplicas(contract: Contract, plane: Plane, load: ConfLoad): boolean {
  const replicas = plane.workload?.replicas;
  return (
    (replicas ?? 1) > 1 ||
    plane.servers.length > 1 ||
    plane.peer !== undefined ||
    contract.plane("sentinel") !== undefined ||
    contract.config.roles?.replica !== undefined ||
    load.values.all("replicaof").length > 0
  );
}

function replicaLink(contract: Contract, server: Server, load: ConfLoad): Link {
  const line = lineOf(load, "aclfile") ?? lineOf(load, "requirepass");
  return {
    role: "replica",
    server,
    load,
    userDirective: "masteruser",
    passDirective: "masterauth",
    master: undefined,
    user: operand(load, "masteruser"),
    pass: operand(load, "masterauth"),
    targets: listsOf(contract, server.plane),
    place: line?.at ?? firstLine(server.conf!.view),
  };
}

function operand(load: ConfLoad, name: string): Operand {
  const value = load.values.get(name);
  if (value.state === "absent" || (value.state === "known" && value.value === ""))
    return isMisspelt(load, name) ? UNKNOWN : ABSENT;
  if (value.state === "unknown" && !value.set) return UNKNOWN;
  return { state: "set", value: value.args[0], line: value.at };
}

/** One link for each primary that a Sentinel monitors or has credentials for. */
function controlLinks(contract: Contract, server: Server, load: ConfLoad): Link[] {
  const wires = sentinelWires(load).filter((w) => w.master !== undefined);
  const masters = load.sentinel?.masters;
  const names = new Set([...(masters?.keys() ?? []), ...wires.map((w) => w.master!)]);
  const first = new Map<string, Wire>();
  const last = new Map<string, Wire>();
  for (const wire of wires) {
    if (!first.has(wire.master!)) first.set(wire.master!, wire);
    last.set(`${wire.directive} ${wire.master}`, wire);
  }
  // a line for a placeholder's primary may be the one for any of them, and the other way round
  const hidden = new Set(wires.filter((w) => w.masterPlaceholder).map((w) => w.directive));
  const any = new Set(wires.map((w) => w.directive));
  const { plane } = server;
  const data = plane.peer ?? contract.plane("data");
  return [...names].map((master): Link => {
    const own = masters?.get(master);
    const opaque = own === undefined ? first.get(master)!.masterPlaceholder : own.namePlaceholder !== "none";
    const others = opaque ? any : hidden;
    const of = (directive: string): Operand => {
      const wire = last.get(`${directive} ${master}`);
      return wire === undefined && others.has(directive) ? UNKNOWN : wired(wire, load, directive);
    };
    return {
      role: "control",
      server,
      load,
      userDirective: "sentinel auth-user",
      passDirective: "sentinel auth-pass",
      master,
      user: of("sentinel auth-user"),
      pass: of("sentinel auth-pass"),
      targets: data === undefined ? [] : listsOf(contract, data),
      place: own?.at ?? first.get(master)?.line ?? firstLine(server.conf!.view),
    };
  });
}

function peerLink(contract: Contract, server: Server, load: ConfLoad): Link {
  const wires = sentinelWires(load).filter((w) => w.master === undefined);
  const of = (directive: string): Operand =>
    wired(
      wires.findLast((w) => w.directive === directive),
      load,
      directive,
    );
  const line = lineOf(load, "aclfile") ?? lineOf(load, "requirepass");
  const monitor = [...(load.sentinel?.masters.values() ?? [])][0];
  return {
    role: "peer",
    server,
    load,
    userDirective: "sentinel sentinel-user",
    passDirective: "sentinel sentinel-pass",
    master: undefined,
    user: of("sentinel sentinel-user"),
    pass: of("sentinel sentinel-pass"),
    targets: listsOf(contract, server.plane),
    place: line?.at ?? monitor?.at ?? firstLine(server.conf!.view),
  };
}

function wired(wire: Wire | undefined, load: ConfLoad, directive: string): Operand {
  if (wire !== undefined) return { state: "set", value: wire.value, line: wire.line };
  return load.values.complete && !isMisspelt(load, directive.slice("sentinel ".length)) ? ABSENT : UNKNOWN;
}

function listsOf(contract: Contract, plane: Plane): AccessList[] {
  const lists = plane.servers.map((s) => contract.redis.access(s));
  return [...new Set(lists.filter((l) => l !== undefined))];
}

/** What the servers of a link's other end ask for: the strictest that is certain, `unknown` where none is. */
function defaultOf(contract: Contract, link: Link): DefaultState {
  const states = link.targets.map((t) => contract.redis.defaultUser(t).state);
  for (const state of ["off", "locked", "password"] as const) if (states.includes(state)) return state;
  return states.length > 0 && states.every((s) => s === "open") ? "open" : "unknown";
}

interface Target {
  readonly list: AccessList;
  readonly user: AclUser | undefined;
  /** Whether the list has it or not is certain. */
  readonly known: boolean;
}

/** The user that a link names, in each list of its other end. */
function targetUsers(link: Link): Target[] {
  const name = link.user.value;
  if (name === undefined || name.placeholder !== "none") return [];
  return link.targets
    .filter((t) => t.load !== undefined)
    .map((target) => {
      const user = target.load!.users.get(name.value);
      return { list: target, user, known: user !== undefined || (target.complete && target.load!.ok) };
    });
}

/**
 * Another user whose password stands in a configuration: both are the same placeholder (or text), and none of the named user's
 * own is. Placeholders of different names may still be filled with the same secret, so nothing else is certain.
 */
function foreignOwner(
  link: Link,
  targets: readonly Target[],
  lists: readonly AccessList[],
): { owner: AclUser; password: AclPassword } | undefined {
  const secret = link.pass.value;
  if (secret === undefined || secret.value === "" || secret.placeholder === "part") return undefined;
  for (const { list: target, user } of targets) {
    if (user === undefined || !user.certain || user.nopass || user.passwords.length === 0) continue;
    const same = (p: AclPassword): boolean => p.kind === "plain" && p.text === secret.value;
    if (user.passwords.some(same)) return undefined;
    // in another plane the same secret may stand as a hash
    const elsewhere = user.passwords.every((p) => p.kind === "plain") ? lists : [];
    for (const list of new Set([target, ...elsewhere])) {
      for (const other of list.load?.users.values() ?? []) {
        const password = other === user ? undefined : other.passwords.find(same);
        if (password !== undefined) return { owner: other, password };
      }
    }
  }
  return undefined;
}

/** What looks like a variable was meant to be filled in. */
const VARIABLE = /[${<%@]|__/;

/** The user none of whose passwords a secret can be, whatever its placeholders are filled with. */
function wrongPassword(link: Link, targets: readonly Target[]): AclUser | undefined {
  const secret = link.pass.value;
  if (secret === undefined) return undefined;
  for (const { user } of targets) {
    if (user?.certain !== true || !user.enabled || user.nopass || user.passwords.length === 0) continue;
    if (user.passwords.every((p) => differs(secret.value, p))) return user;
  }
  return undefined;
}

/** Two literals, or one text that continues the other by a literal. */
function differs(secret: string, password: AclPassword): boolean {
  if (password.kind === "hash")
    return !VARIABLE.test(secret) && !password.placeholder && password.hash !== sha256(bytesOf(secret));
  const { text } = password;
  if (!VARIABLE.test(secret) && !VARIABLE.test(text)) return secret !== text;
  const [short, long] = secret.length < text.length ? [secret, text] : [text, secret];
  const rest = long.startsWith(short)
    ? long.slice(short.length)
    : long.endsWith(short)
      ? long.slice(0, -short.length)
      : "";
  return short !== "" && rest !== "" && !VARIABLE.test(rest);
}

export type WiringKind =
  | "masterauth"
  | "no-user"
  | "no-credentials"
  | "undeclared"
  | "no-password"
  | "unknown-user"
  | "disabled-user"
  | "disabled"
  | "role"
  | "literal"
  | "other-password"
  | "wrong-password";

/** One fault of a link. The texts are those that its message needs; the rest are empty. */
export interface WiringProblem {
  readonly kind: WiringKind;
  readonly role: RoleName;
  /** undefined for a role that no configuration names. */
  readonly link: Link | undefined;
  readonly at: Span | Place;
  /** The access list that it fails at. */
  readonly list: string;
  readonly user: string;
  readonly wanted: string;
  readonly hint: string;
  readonly secret: string;
  readonly owner: string;
  readonly related: readonly { readonly at: Span | Place; readonly message: string }[];
}

export function wiringProblems(contract: Contract): WiringProblem[] {
  const links = linksOf(contract).flatMap((link) => [
    ...whatIsSet(contract, link),
    ...whoIsNamed(contract, link),
    ...whichSecret(contract, link),
  ]);
  return [...links, ...turnedOff(contract)];
}

const NONE = { list: "", user: "", wanted: "", hint: "", secret: "", owner: "", related: [] };

function problem(kind: WiringKind, link: Link, at: Span | Place, more: Partial<WiringProblem> = {}): WiringProblem {
  return Object.assign({ kind, role: link.role, link, at }, NONE, more);
}

/** Users that the contract file declares, that no configuration names, and that are off in every list. */
function turnedOff(contract: Contract): WiringProblem[] {
  const { roles } = contract.redis;
  const out: WiringProblem[] = [];
  for (const role of roles) {
    const { access, user, name } = role;
    if (user === undefined || !role.declared || role.wiredAt !== undefined || isEnabled(access, user) !== false)
      continue;
    const on = roles.some(
      (r) => r.role === role.role && r.name === name && r.user?.enabled === true && r.plane === role.plane,
    );
    if (on) continue;
    out.push(
      Object.assign({ kind: "disabled" as const, role: role.role, link: undefined, at: user.nameAt }, NONE, {
        user: name,
        list: access.title,
      }),
    );
  }
  return out;
}

function whatIsSet(contract: Contract, link: Link): WiringProblem[] {
  const { role, user, pass, targets, place } = link;
  const access = defaultOf(contract, link);
  const closed = access === "off" || access === "locked";
  const list = targets[0]?.title ?? "";
  const defaults = closed ? targets.flatMap((t) => t.load?.users.get("default") ?? []) : [];
  const related = defaults.slice(0, 3).map((user) => ({ at: user.namePlace, message: "the default user" }));
  const declared =
    contract.declared && (role !== "control" || targets.length > 0 || contract.config.roles?.control !== undefined);
  if (user.state === "absent" && pass.state === "absent") {
    if (closed) return [problem("no-credentials", link, place, { list, related })];
    // a Sentinel's own requirepass is what it sends to its peers
    const own = role === "peer" && link.load.values.isSet("requirepass") !== false;
    const plain = role === "replica" && targets[0]?.kind !== "file" && link.load.values.isSet("requirepass") === true;
    if (access === "password" && !own) return [problem(plain ? "masterauth" : "no-credentials", link, place, { list })];
    return declared ? [problem("undeclared", link, place)] : [];
  }
  if (user.state === "absent" && pass.state === "set") {
    const at = pass.line ?? place;
    if (closed) return [problem("no-user", link, at, { list, related })];
    return declared ? [problem("undeclared", link, at)] : [];
  }
  if (user.state === "set" && pass.state === "absent") {
    return [problem("no-password", link, user.value?.at ?? place, { user: user.value?.value ?? "" })];
  }
  return [];
}

function whoIsNamed(contract: Contract, link: Link): WiringProblem[] {
  const name = link.user.value;
  if (name === undefined || name.placeholder !== "none" || name.value === "") return [];
  const user = name.value;
  const own = contract.config.roles?.[link.role];
  const wanted = own === undefined ? undefined : list(own);
  if (wanted?.includes(user) === false) {
    const declaration = contract.declaration("roles", link.role);
    const related = declaration === undefined ? [] : [{ at: declaration, message: "declared here" }];
    return [problem("role", link, name.at, { user, wanted: wanted.join(", "), related })];
  }
  const targets = targetUsers(link);
  const [first] = targets;
  if (first === undefined) return [];
  if (targets.every((t) => t.known && t.user === undefined)) {
    const other = link.server.plane.peer?.servers.some((s) => {
      const access = contract.redis.access(s);
      return access !== undefined && !link.targets.includes(access) && access.load?.users.has(user) === true;
    });
    const near = nearest(
      user,
      targets.flatMap((t) => [...t.list.load!.users.keys()]),
    );
    const hint =
      other === true ? " (the other plane's ACL has it)" : near === undefined ? "" : ` (did you mean ${near}?)`;
    return [problem("unknown-user", link, name.at, { list: first.list.title, user, hint })];
  }
  // one that only some of the files lack is said at the file that lacks it
  if (!targets.every((t) => t.user !== undefined && isEnabled(t.list, t.user) === false)) return [];
  const related = [{ at: first.user!.enabledWord?.at ?? first.user!.nameAt, message: "it is off here" }];
  return [problem("disabled-user", link, name.at, { list: first.list.title, user, related })];
}

function whichSecret(contract: Contract, link: Link): WiringProblem[] {
  const secret = link.pass.value;
  if (secret === undefined) return [];
  const out: WiringProblem[] = [];
  const user = link.user.value?.value ?? "";
  const literal = secret.placeholder === "none" && !isPlaceholder(secret.value);
  const targets = targetUsers(link);
  const foreign = foreignOwner(link, targets, contract.redis.accessLists);
  if (foreign !== undefined) {
    const related = [{ at: foreign.password.at, message: "it is this one" }];
    const shown = literal ? "a password" : secret.value;
    out.push(problem("other-password", link, secret.at, { user, secret: shown, owner: foreign.owner.name, related }));
  } else {
    const wrong = wrongPassword(link, targets);
    if (wrong !== undefined) out.push(problem("wrong-password", link, secret.at, { user: wrong.name }));
  }
  if (literal) out.push(problem("literal", link, secret.at));
  return out;
}
