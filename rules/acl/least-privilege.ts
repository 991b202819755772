import { defineRule } from "../../src/engine/rule.js";
import { declaredCommands, everything, hasDangerous, isDangerous } from "../../src/model/redis/privilege.js";
import { isJudged, joined, surplus } from "../../src/model/redis/role-check.js";
import { ROLE_TITLE } from "../../src/model/redis/roles.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "No user of an application, of replication, of control or of discovery may do everything.",
    why: "With +@all, ~* or a dangerous command one leaked password is the whole data set: FLUSHALL, CONFIG SET and KEYS work for it, whatever the application itself sends.",
    fix: "Grant commands by name, keys by pattern, channels one by one.",
    bad: "user app on >${PASSWORD} ~* &* +@all -@dangerous\n",
    good: "user app on >${PASSWORD} resetkeys ~app:{*}:* resetchannels -@all +get +set +del\n",
    source: {
      title: "Redis: ACL, command categories",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/#command-categories",
    },
    rows: ["C-A08"],
  },
  messages: {
    open: {
      text: "the {role} user {user} may use {what}",
      help: "Start from -@all, resetkeys and resetchannels, and name what is needed.",
      once: true,
    },
    probe: {
      text: "the probe user {user} has more than a probe sends: {commands} (by {tokens})",
      help: "Give it -@all +ping.",
      inferred: "off",
    },
    dangerous: {
      text: "the {role} user {user} has commands of @dangerous or @admin: {commands} (by {tokens})",
      help: "Name the commands that are needed, or declare them in policy.commands.",
      once: true,
    },
  },
  on: {
    Contract(contract, { report }) {
      for (const role of contract.redis.roles) {
        // a peer may be a superuser, unless the contract says that it is not
        const peer = role.role === "peer";
        if ((peer && contract.config.policy?.peer !== "minimal") || !isJudged(role)) continue;
        // without a contract file the surplus of the other roles is said once, by the rules about them
        if (!contract.declared && role.role !== "application") continue;
        const { user, name } = role;
        const title = ROLE_TITLE[role.role];
        const all = everything(user, role.role, contract.declared);
        // its commands are acl/sentinel-peer-user's matter
        const open = peer ? all.filter((o) => o.kind !== "commands") : all;
        if (open.length > 0) {
          const what = joined(open.map((o) => o.what));
          const words = open.flatMap((o) => (o.word === undefined ? [] : [o.word]));
          report("open", { role: title, user: name, what }, words[0]?.at ?? user.nameAt, {
            related: words.slice(1).map((w) => ({ at: w.at, message: "and this" })),
          });
        }
        if (role.role === "probe") {
          const sent = declaredCommands(contract, name);
          const more = surplus(user, (c) => c === "ping" || sent.has(c));
          if (more !== undefined && open.length === 0) report("probe", { user: name, ...more }, more.at, more);
        }
        // what the other roles may have beyond their set is said by the rules about them
        if (role.role !== "application") continue;
        // without a contract file +@all is one finding, not two
        if (!contract.declared && open.some((o) => o.kind === "commands")) continue;
        if (!hasDangerous(user, contract.declared)) continue;
        const declared = declaredCommands(contract, name);
        const bad = surplus(user, (c) => declared.has(c) || !isDangerous(user.table, c, contract.declared));
        if (bad !== undefined) report("dangerous", { role: title, user: name, ...bad }, bad.at, bad);
      }
    },
  },
});
