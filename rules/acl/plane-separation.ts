import { defineRule } from "../../src/engine/rule.js";
import { firstLine } from "../../src/model/redis/access.js";
import { aclErrors, isDataRule } from "../../src/model/redis/acl-verdict.js";
import { missingSomewhere, sharedWith, strangers } from "../../src/model/redis/planes.js";
import { ROLE_TITLE } from "../../src/model/redis/roles.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Data servers and Sentinels have ACLs of their own, and every server of a plane knows the same roles.",
    why: "A Sentinel refuses to start on a data command, a peer superuser in the data ACL may read and flush everything, and a user that one server lacks is missed only when that server is promoted.",
    fix: "Keep one ACL file per plane: application, replica and Sentinel-to-data users in the one, peer and discovery users in the other.",
    bad: "# sentinel-users.acl\nuser app on >${PASSWORD} ~app:* +get +set\n",
    good: "# sentinel-users.acl\nuser discovery on >${PASSWORD} -@all +ping +sentinel|sentinels\n",
    source: {
      title: "Redis Sentinel: access control list authentication",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#redis-access-control-list-authentication",
    },
    rows: ["C-A09", "C-A13"],
  },
  messages: {
    shared: {
      text: "data servers and Sentinels load the same ACL file {list}",
      help: "Give each plane a file of its own.",
      inferred: "warning",
    },
    "data-command": {
      text: "the Sentinel ACL gives {user} {rule}, which only data servers have: a Sentinel refuses to start on it",
      help: "Keep data users in the data servers' ACL.",
      inferred: "error",
    },
    "data-user": {
      text: "the {role} user {user} stands in the Sentinel ACL; it belongs to the data servers",
      inferred: "off",
    },
    "data-keys": {
      text: "the user {user} of the Sentinel ACL has key patterns ({rule}): Sentinels hold no keys",
      inferred: "off",
    },
    "peer-in-data": {
      text: "the {role} user {user} stands in the data servers' ACL; it belongs to the Sentinels",
      inferred: "warning",
    },
    missing: {
      text: "{list} {what} the {role} user {user}, which other servers of the plane have: it works until this server is promoted or asked",
      help: "Every server of a plane needs the same users, because each may become the primary.",
      inferred: "error",
    },
  },
  on: {
    Contract(contract, { report }) {
      const { redis } = contract;
      for (const list of redis.accessLists) {
        if (list.plane.role !== "sentinel") continue;
        if (sharedWith(redis, list) !== undefined) {
          const declared = contract.declaration("planes", "sentinel", "acl");
          report("shared", { list: list.title }, firstLine(list.view), {
            severity: list.load?.ok === false ? "error" : undefined,
            related: declared === undefined ? [] : [{ at: declared, message: "declared here" }],
          });
          // one cause: every data user in it is there because the file is shared
          continue;
        }
        const refused = new Set<string>();
        for (const error of list.acl === undefined ? [] : aclErrors(redis, list.acl, "sentinel")) {
          const user = error.user ?? "";
          if (refused.has(user) || !isDataRule(redis, error)) continue;
          refused.add(user);
          const at = list.load?.users.get(user)?.nameAt ?? error.at;
          report("data-command", { user, rule: error.at.source.slice(error.at) }, at, {
            related: [{ at: error.at, message: "this rule" }],
          });
        }
        const known = new Set(redis.roles.filter((r) => r.access === list).map((r) => r.name));
        for (const user of list.load?.users.values() ?? []) {
          if (refused.has(user.name)) continue;
          const pattern = user.keys.find((p) => p.text !== "*");
          if (pattern !== undefined && !known.has(user.name)) {
            report("data-keys", { user: user.name, rule: pattern.words[0]!.text }, user.nameAt);
            refused.add(user.name);
          }
        }
        for (const { user, role } of strangers(redis, list)) {
          if (!refused.has(user.name)) report("data-user", { role: ROLE_TITLE[role], user: user.name }, user.nameAt);
        }
      }
      for (const list of redis.accessLists) {
        if (list.plane.role !== "data" || sharedWith(redis, list) !== undefined) continue;
        for (const { user, role } of strangers(redis, list)) {
          report("peer-in-data", { role: ROLE_TITLE[role], user: user.name }, user.nameAt);
        }
      }
      for (const { role, list, user, other } of missingSomewhere(contract)) {
        const what = user === undefined ? "lacks" : "turns off";
        report(
          "missing",
          { list: list.title, what, role: ROLE_TITLE[role.role], user: role.name },
          user?.nameAt ?? firstLine(list.view),
          {
            related: [{ at: other.nameAt, message: "another server has it" }],
          },
        );
      }
    },
  },
});
