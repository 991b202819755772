import { defineRule } from "../../src/engine/rule.js";
import {
  alsoPlays,
  byPlace,
  isJudged,
  lacking,
  patternRules,
  permissionsFor,
  showLacks,
  surplus,
} from "../../src/model/redis/role-check.js";
import { REPLICA } from "../../src/model/redis/roles-data.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "The user that replicas authenticate as may do exactly PSYNC, REPLCONF and PING.",
    why: "Without PSYNC or REPLCONF Sentinel loses the replicas and no failover finds a candidate; anything more is a key to the data for whoever reads masterauth.",
    fix: "Give it -@all +psync +replconf +ping, no keys and no channels.",
    bad: "user replica on >${PASSWORD} ~* +psync +ping\n",
    good: "user replica on >${PASSWORD} resetkeys resetchannels -@all +psync +replconf +ping\n",
    source: {
      title: "Redis: ACL rules for Sentinel and replicas",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/#acl-rules-for-sentinel-and-replicas",
    },
    rows: ["C-A04"],
  },
  messages: {
    missing: { text: "the replica user {user} lacks {commands}: {effect}", inferred: "error" },
    sync: {
      text: "the replica user {user} has +sync and not +psync: the handshake falls back to the old SYNC, and every reconnect is a full resync",
      help: "Write +psync.",
      inferred: "warning",
    },
    ping: { text: "the replica user {user} lacks +ping: {effect}", inferred: "off" },
    surplus: {
      text: "the replica user {user} has more than replication needs: {commands} (by {tokens})",
      help: "PSYNC, REPLCONF and PING are all that a replica sends.",
    },
    keys: "the replica user {user} may use keys ({token}): replication needs none",
    channels: {
      text: "the replica user {user} may use channels ({token}): replication needs none",
      help: "Before 7.0 a new user has every channel: put resetchannels on its line.",
    },
  },
  on: {
    Contract(contract, { report }) {
      for (const role of contract.redis.roleUsers("replica")) {
        if (!isJudged(role)) continue;
        const { user, name } = role;
        const { flavour, version } = role.access.load!.server;
        const lacks = lacking(user, permissionsFor(REPLICA, flavour, version[0]));
        const sync = user.may("sync") ? user.granting("sync") : undefined;
        const legacy = sync?.text.toLowerCase() === "+sync" && lacks.some((l) => l.permission.command === "psync");
        if (legacy) report("sync", { user: name }, sync!.at);
        const needed = lacks.filter(
          (l) => l.permission.necessity === "always" && !(legacy && l.permission.command === "psync"),
        );
        for (const group of byPlace(user, needed)) {
          report("missing", { user: name, ...showLacks(group.lacks) }, group.at);
        }
        for (const { at, lacks: ping } of byPlace(
          user,
          lacks.filter((l) => l.permission.necessity === "harmless"),
        )) {
          report("ping", { user: name, effect: showLacks(ping).effect }, at);
        }
        const others = alsoPlays(contract, role);
        const allowed = new Set([...REPLICA.commands.map((c) => c.command), ...others]);
        if (legacy) allowed.add("sync");
        const more = surplus(user, (c) => allowed.has(c));
        if (more !== undefined) report("surplus", { user: name, ...more }, more.at, more);
        for (const kind of others.size > 0 ? [] : (["keys", "channels"] as const)) {
          const { words, implied } = patternRules(user, kind);
          if (words.length === 0 && !implied) continue;
          const token = words[0]?.text ?? "every channel by default";
          report(kind, { user: name, token }, words[0]?.at ?? user.nameAt, {
            related: words.slice(1).map((w) => ({ at: w.at, message: "and this" })),
          });
        }
      }
    },
  },
});
