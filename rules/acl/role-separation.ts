import { defineRule } from "../../src/engine/rule.js";
import { push } from "../../src/model/multimap.js";
import { firstLine } from "../../src/model/redis/access.js";
import { sharedWith } from "../../src/model/redis/planes.js";
import { ROLE_TITLE, type RoleUser } from "../../src/model/redis/roles.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Each role authenticates as a user of its own.",
    why: "One user for everything has the permissions of all roles together: whoever reads the password of a probe or an application can then promote a replica or copy the data set.",
    fix: "Make one user per role, each with a password of its own.",
    bad: "masteruser redis-user\nsentinel auth-user main redis-user\n",
    good: "masteruser replica\nsentinel auth-user main sentinel-control\n",
    source: {
      title: "Redis: ACL rules for Sentinel and replicas",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/#acl-rules-for-sentinel-and-replicas",
    },
    rows: ["C-A03"],
  },
  messages: {
    shared: {
      text: "{user} is the {one} user and the {other} user",
      help: "Give each role a user of its own.",
      once: true,
    },
    missing: {
      text: "{list} has no user {user}, which the contract declares as its {role} user",
      inferred: "off",
    },
  },
  on: {
    Contract(contract, { report }) {
      const { roles } = contract.redis;
      const byUser = new Map<RoleUser["access"], Map<string, RoleUser[]>>();
      for (const role of roles) {
        let names = byUser.get(role.access);
        if (names === undefined) byUser.set(role.access, (names = new Map()));
        push(names, role.name, role);
      }
      for (const [access, names] of byUser) {
        for (const [name, list] of names) {
          const [one, ...others] = list as [RoleUser, ...RoleUser[]];
          for (const other of others) {
            if (other.role === one.role) continue;
            const at = one.user?.nameAt ?? one.wiredAt ?? firstLine(access.view);
            const wired = [one, other].flatMap((r) =>
              r.wiredAt === undefined ? [] : [{ at: r.wiredAt, message: `named as the ${ROLE_TITLE[r.role]} user` }],
            );
            report("shared", { user: name, one: ROLE_TITLE[one.role], other: ROLE_TITLE[other.role] }, at, {
              related: wired,
            });
          }
          // one that a configuration names is missing there too, and said there
          const lost = list.find((r) => r.declared && r.user === undefined && r.wiredAt === undefined);
          if (lost === undefined || !access.complete || sharedWith(contract.redis, access) !== undefined) continue;
          const elsewhere = roles.some(
            (r) => r.role === lost.role && r.name === name && r.user !== undefined && r.plane === lost.plane,
          );
          if (elsewhere) continue;
          const declaration = contract.declaration("roles", lost.role);
          report("missing", { list: access.title, user: name, role: ROLE_TITLE[lost.role] }, firstLine(access.view), {
            related: declaration === undefined ? [] : [{ at: declaration, message: "declared here" }],
          });
        }
      }
    },
  },
});
