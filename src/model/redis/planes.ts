/** Users that stand in the wrong plane's ACL, or in some of a plane's ACLs only. */
import type { Contract } from "../contract.js";
import { type AccessList, isEnabled } from "./access.js";
import type { AclUser } from "./acl.js";
import type { RedisDeployment } from "./deployment.js";
import { ROLE_PLANE, type RoleName, type RoleUser } from "./roles.js";

/** The list of the other plane that is the same file. */
export function sharedWith(redis: RedisDeployment, list: AccessList): AccessList | undefined {
  if (list.acl === undefined) return undefined;
  return redis.accessLists.find((l) => l.plane.role !== list.plane.role && l.acl === list.acl);
}

/**
 * Users of a list whose name plays a role of the other plane, and none of this one. Without a contract file only a peer that may
 * do everything is certain: other names may be used on both sides.
 */
export function strangers(
  redis: RedisDeployment,
  list: AccessList,
): { readonly user: AclUser; readonly role: RoleName }[] {
  const out: { user: AclUser; role: RoleName }[] = [];
  const foreign = new Map<string, RoleUser>();
  for (const role of redis.roles) {
    if (role.role === "probe" || ROLE_PLANE[role.role] === list.plane.role || foreign.has(role.name)) continue;
    if (role.plane === list.plane || role.plane.peer === list.plane) foreign.set(role.name, role);
  }
  for (const user of list.load?.users.values() ?? []) {
    const role = foreign.get(user.name);
    if (role === undefined || user.name === "default" || plays(redis, list, user.name)) continue;
    if (!role.declared && !(role.role === "peer" && user.permissions.some((s) => s.allCommands))) continue;
    out.push({ user, role: role.role });
  }
  return out;
}

/** The contract file or a configuration gives the name a role in this list; that it is one of those left over does not count. */
function plays(redis: RedisDeployment, list: AccessList, name: string): boolean {
  return redis.roles.some((r) => r.access === list && r.name === name && (r.declared || r.wiredAt !== undefined));
}

export interface MissingRole {
  readonly role: RoleUser;
  /** The list that lacks the user, or has it turned off (`user`). */
  readonly list: AccessList;
  readonly user: AclUser | undefined;
  /** The user where it is. */
  readonly other: AclUser;
}

/** Roles whose user some servers of a plane have and others have not. */
export function missingSomewhere(contract: Contract): MissingRole[] {
  const out: MissingRole[] = [];
  const { roles } = contract.redis;
  for (const role of roles) {
    // a guess about who is an application says nothing about the other files
    if (role.role === "probe" || (!role.declared && role.wiredAt === undefined)) continue;
    const { access, user } = role;
    const certain =
      user === undefined ? access.complete && access.load?.ok === true : isEnabled(access, user) === false;
    if (!certain) continue;
    const other = roles.find(
      (r) =>
        r.role === role.role &&
        r.name === role.name &&
        r.plane === role.plane &&
        r.user !== undefined &&
        isEnabled(r.access, r.user) === true,
    );
    if (other !== undefined) out.push({ role, list: access, user, other: other.user! });
  }
  return out;
}
