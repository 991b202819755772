/** Who plays which role: by the contract file, else by what configurations name. */
import type { ConfArgument } from "../../document/redis-conf.js";
import type { Span } from "../../text/source.js";
import type { Contract } from "../contract.js";
import type { Plane, PlaneRole, Server } from "../plane.js";
import { list } from "../settings.js";
import type { AclText } from "../texts.js";
import type { AccessList } from "./access.js";
import type { AclUser } from "./acl.js";
import type { ConfLoad } from "./conf.js";
import type { RedisDeployment } from "./deployment.js";

export type RoleName = "application" | "replica" | "control" | "peer" | "discovery" | "probe";

/** On which plane's ACL a role's user lives. `probe` may live on both. */
export const ROLE_PLANE: Readonly<Record<RoleName, PlaneRole>> = {
  application: "data",
  replica: "data",
  control: "data",
  peer: "sentinel",
  discovery: "sentinel",
  probe: "data",
};

/** For messages. */
export const ROLE_TITLE: Readonly<Record<RoleName, string>> = {
  application: "application",
  replica: "replica",
  control: "Sentinel-to-data",
  peer: "Sentinel peer",
  discovery: "discovery",
  probe: "probe",
};

/** A user in a role, in one access list. `user` is undefined where it lacks it; `wiredAt` is where a configuration names it. */
export interface RoleUser {
  readonly role: RoleName;
  readonly name: string;
  readonly plane: Plane;
  /** The first server that reads the list. */
  readonly server: Server;
  readonly access: AccessList;
  /** The ACL file; undefined for `user` lines of a configuration. */
  readonly acl: AclText | undefined;
  readonly user: AclUser | undefined;
  readonly wiredAt: Span | undefined;
  /** The contract file says so. */
  readonly declared: boolean;
}

/** What a configuration names to authenticate with: a directive, its operand, its line. */
export interface Wire {
  readonly directive: string;
  /** The name of the primary of `sentinel auth-*`. */
  readonly master: string | undefined;
  readonly masterPlaceholder: boolean;
  readonly value: ConfArgument;
  /** The whole line. */
  readonly line: Span;
}

/** The Sentinel lines that carry identities, in file order, also those of a primary that no line monitors. */
export function sentinelWires(load: ConfLoad): readonly Wire[] {
  const out: Wire[] = [];
  for (const { args, at } of load.values.all("sentinel")) {
    const option = args[0]?.value.toLowerCase();
    const own = option === "sentinel-user" || option === "sentinel-pass";
    if (!own && option !== "auth-user" && option !== "auth-pass") continue;
    const value = own ? args[1] : args[2];
    if (value === undefined) continue;
    out.push({
      directive: `sentinel ${option}`,
      master: own ? undefined : args[1]!.value,
      masterPlaceholder: !own && args[1]!.placeholder !== "none",
      value,
      line: at,
    });
  }
  return out;
}

/** The users that the configurations of planes name for a role, each where it is named. */
function wired(redis: RedisDeployment, planes: readonly Plane[], role: RoleName): Map<string, Span> {
  const out = new Map<string, Span>();
  const add = (value: ConfArgument): void => {
    if (value.placeholder === "none" && value.value !== "" && !out.has(value.value)) out.set(value.value, value.at);
  };
  for (const plane of planes) {
    for (const server of plane.servers) {
      const load = redis.load(server);
      if (load === undefined) continue;
      if (role === "replica" && plane.role === "data") {
        const user = load.values.get("masteruser");
        if (user.state === "known" && user.args[0] !== undefined) add(user.args[0]);
      } else if (plane.role === "sentinel" && (role === "control" || role === "peer")) {
        const directive = role === "control" ? "sentinel auth-user" : "sentinel sentinel-user";
        for (const wire of sentinelWires(load)) if (wire.directive === directive) add(wire.value);
      }
    }
  }
  return out;
}

/** Commands that nobody else needs. */
const SIGNATURE = {
  replica: ["psync", "replconf"],
  control: ["slaveof", "publish"],
  peer: ["sentinel|is-master-down-by-addr"],
} as const;

/** Names that say that somebody operates or watches the servers with it: no role that could be inferred. */
const OPERATOR =
  /admin|root|super|operator|\bops\b|\bdba\b|backup|restore|export|metric|monitor|prometheus|grafana|datadog|insight|commander|debug|maint/i;

export function rolesOf(contract: Contract, redis: RedisDeployment): RoleUser[] {
  const declared = contract.config.roles;
  const out: RoleUser[] = [];
  const seen = new Set<AccessList>();
  for (const plane of contract.planes) {
    // planes that nothing ties together say nothing about each other's users
    const family = plane.peer === undefined ? [plane] : [plane, plane.peer];
    const names = new Map<RoleName, ReadonlyMap<string, Span>>();
    for (const role of ["replica", "control", "peer"] as const) names.set(role, wired(redis, family, role));
    for (const server of plane.servers) {
      const access = redis.access(server);
      if (access?.load === undefined || seen.has(access)) continue;
      seen.add(access);
      const { users } = access.load;
      const add = (role: RoleName, name: string): void => {
        const wiredAt = names.get(role)?.get(name);
        const user = users.get(name);
        out.push({
          role,
          name,
          plane,
          server,
          access,
          acl: access.acl,
          user,
          wiredAt,
          declared: declared?.[role] !== undefined,
        });
      };
      // `default` in a role is a deployment without ACL users; that it must be off is said elsewhere
      const taken = new Set<string>(["default"]);
      for (const role of ["replica", "control", "peer", "probe"] as const) {
        const own = declared?.[role] === undefined ? [...(names.get(role)?.keys() ?? [])] : list(declared[role]);
        for (const name of own) {
          if (declared?.[role] === undefined && name === "default") continue;
          if (ROLE_PLANE[role] === plane.role || role === "probe") {
            taken.add(name);
            if (role !== "probe" || users.has(name)) add(role, name);
          }
        }
      }
      const rest: RoleName = plane.role === "data" ? "application" : "discovery";
      // where nothing says who replicates or controls, a user that could may be the one
      const isUnwired = (user: AclUser): boolean =>
        (["replica", "control", "peer"] as const).some(
          (role) =>
            ROLE_PLANE[role] === plane.role &&
            declared?.[role] === undefined &&
            ![...names.get(role)!.keys()].some((name) => users.has(name)) &&
            SIGNATURE[role].every((command) => user.may(command)),
        );
      if (declared?.[rest] !== undefined) {
        for (const name of list(declared[rest])) add(rest, name);
        continue;
      }
      for (const user of users.values()) {
        if (taken.has(user.name) || !user.enabled || user.implicit || user.namePlaceholder) continue;
        if (isProbe(user)) add("probe", user.name);
        else if (!OPERATOR.test(user.name) && !isUnwired(user)) add(rest, user.name);
      }
    }
  }
  return out;
}

/** A user that may PING and next to nothing else is there for probes. */
function isProbe(user: AclUser): boolean {
  return /probe|health|liveness|readiness/i.test(user.name) || (user.may("ping") && user.commands.size <= 2);
}
