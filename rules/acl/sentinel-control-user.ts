import { defineRule } from "../../src/engine/rule.js";
import {
  alsoPlays,
  byPlace,
  isJudged,
  type Lack,
  lacking,
  matches,
  patternRules,
  permissionsFor,
  showLacks,
  surplus,
} from "../../src/model/redis/role-check.js";
import { CONTROL } from "../../src/model/redis/roles-data.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "The user that Sentinel authenticates as at the data servers may do exactly what a failover sends.",
    why: "Monitoring looks healthy with half of the permissions, and the failover never completes: one denied command inside MULTI throws away the SLAVEOF with it.",
    fix: "Give it the documented set, and the channel __sentinel__:hello alone.",
    bad: "user sentinel-control on >${PASSWORD} allchannels +ping +info +role\n",
    good: "user sentinel-control on >${PASSWORD} resetkeys resetchannels &__sentinel__:hello -@all +multi +slaveof +ping +exec +subscribe +config|rewrite +role +publish +info +client|setname +client|kill +script|kill\n",
    source: {
      title: "Redis Sentinel: access control list authentication",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#redis-access-control-list-authentication",
    },
    rows: ["C-A05"],
  },
  messages: {
    missing: { text: "the Sentinel-to-data user {user} lacks {commands}: {effect}", inferred: "error" },
    slaveof: {
      text: "the Sentinel-to-data user {user} has +replicaof and not +slaveof: Sentinel sends SLAVEOF, another command to the ACL, and the promotion never happens",
      help: "Write +slaveof.",
      inferred: "error",
    },
    channel: {
      text: "the Sentinel-to-data user {user} may not use the channel {channel}: {effect}",
      inferred: "error",
    },
    documented: {
      text: "the Sentinel-to-data user {user} lacks {commands} of the documented set: {effect}",
      inferred: "off",
    },
    recommended: { text: "the Sentinel-to-data user {user} lacks {commands}: {effect}", inferred: "warning" },
    coordinated: {
      text: "the Sentinel-to-data user {user} lacks {commands}: {effect}",
      severity: "info",
      inferred: "info",
    },
    surplus: {
      text: "the Sentinel-to-data user {user} has more than Sentinel sends: {commands} (by {tokens})",
      help: "The documented set is all that a Sentinel needs.",
    },
    keys: "the Sentinel-to-data user {user} may use keys ({token}): Sentinel needs none",
    channels: "the Sentinel-to-data user {user} may use the channel {token}: Sentinel needs __sentinel__:hello",
  },
  on: {
    Contract(contract, { report }) {
      for (const role of contract.redis.roleUsers("control")) {
        if (!isJudged(role)) continue;
        const { user, name } = role;
        const { flavour, version } = role.access.load!.server;
        const permissions = permissionsFor(CONTROL, flavour, version[0]);
        const replicaof = user.granting("replicaof");
        const instead = user.may("replicaof") && replicaof?.text.toLowerCase() === "+replicaof" ? replicaof : undefined;

        const transaction = user.can("multi") !== "no";
        const lacks = lacking(user, permissions);
        const lost = lacks.some((l) => l.permission.command === "slaveof");
        if (lost && instead !== undefined) report("slaveof", { user: name }, instead.at);
        const say = (id: "missing" | "documented" | "recommended" | "coordinated", of: readonly Lack[]): void => {
          for (const group of byPlace(user, of))
            report(id, { user: name, ...showLacks(group.lacks, !transaction) }, group.at);
        };
        const rest = instead === undefined ? lacks : lacks.filter((l) => l.permission.command !== "slaveof");
        const needed = rest.filter(
          ({ permission: p }) => p.necessity === "always" || (p.necessity === "with-multi" && transaction),
        );
        say("missing", needed);
        say(
          "recommended",
          rest.filter((l) => !needed.includes(l) && /with-multi|recommended/.test(l.permission.necessity)),
        );
        say(
          "documented",
          rest.filter((l) => l.permission.necessity === "harmless"),
        );
        say(
          "coordinated",
          rest.filter((l) => l.permission.necessity === "coordinated"),
        );

        for (const { name: channel, uses, effect } of CONTROL.channels) {
          const denied = uses.some((u) => user.can(u) !== "no" && user.mayChannel(channel, false, u) === "no");
          if (denied) report("channel", { user: name, channel, effect }, user.nameAt);
        }

        const allowed = new Set([...permissions.map((p) => p.command), ...alsoPlays(contract, role)]);
        if (lost && instead !== undefined) allowed.add("replicaof");
        const more = surplus(user, (c) => allowed.has(c));
        if (more !== undefined) report("surplus", { user: name, ...more }, more.at, more);
        const keys = patternRules(user, "keys").words;
        if (keys.length > 0) {
          report("keys", { user: name, token: keys[0]!.text }, keys[0]!.at, {
            related: keys.slice(1).map((w) => ({ at: w.at, message: "and this" })),
          });
        }
        const { words, all } = patternRules(
          user,
          "channels",
          (p) => p.placeholder || CONTROL.channels.some((c) => matches(p, c.name)),
        );
        // the documented set has every channel, so that is no surplus; single other channels are
        if (!all) for (const w of words) report("channels", { user: name, token: w.text }, w.at);
      }
    },
  },
});
