import { defineRule } from "../../src/engine/rule.js";
import { isJudged, joined, patternRules, revoking, surplus } from "../../src/model/redis/role-check.js";
import { clientNeeds, DISCOVERY_ALLOWED, SENTINEL_CHANGES } from "../../src/model/redis/roles-data.js";

const CHANGES = new Set(SENTINEL_CHANGES);

export default defineRule({
  severity: "error",
  docs: {
    summary: "The user with which clients ask Sentinels for the primary may ask, and change nothing.",
    why: "Every application holds this password; with SENTINEL SET, REMOVE or FAILOVER each of them can take the deployment down, and a client that lacks a subcommand never finds the primary.",
    fix: "Allow the reading SENTINEL subcommands that the client library sends, and no other.",
    bad: "user discovery on >${PASSWORD} -@all +ping +sentinel\n",
    good: "user discovery on >${PASSWORD} resetkeys resetchannels &+switch-master -@all +ping +subscribe +sentinel|get-master-addr-by-name +sentinel|sentinels\n",
    source: {
      title: "Redis Sentinel: access control list authentication",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#redis-access-control-list-authentication",
    },
    rows: ["C-A07"],
  },
  messages: {
    changes: {
      text: "the discovery user {user} may change the Sentinels: {commands} (by {tokens})",
      help: "Name the reading subcommands one by one.",
    },
    surplus: {
      text: "the discovery user {user} has more than discovery needs: {commands} (by {tokens})",
      inferred: "off",
    },
    missing: {
      text: "the discovery user {user} lacks {commands}, which {client} sends to find the servers",
      inferred: "off",
    },
    channel: {
      text: "the discovery user {user} may not subscribe to {channel}, on which {client} waits for a failover",
      inferred: "off",
    },
    channels: {
      text: "{token} opens more than a single channel to the discovery user {user}",
      help: "Name the channels one by one, such as &+switch-master.",
      inferred: "off",
    },
    unrecorded: {
      text: "what {client} sends to Sentinels is not recorded: whether {user} may do all of it is not known",
      help: "Needs are recorded for ioredis and node-redis.",
      severity: "info",
      inferred: "off",
    },
  },
  on: {
    Contract(contract, { report }) {
      const client = contract.config.policy?.client;
      const needs = client === undefined ? [] : clientNeeds(client);
      const allowed = new Set([...DISCOVERY_ALLOWED, ...(needs ?? []).flatMap((n) => n.commands)]);
      const users = contract.redis.roleUsers("discovery");
      const declaration = contract.declaration("policy", "client");
      if (needs === undefined && users.length > 0 && declaration !== undefined) {
        report("unrecorded", { client: client!, user: joined([...new Set(users.map((u) => u.name))]) }, declaration);
      }
      for (const role of users) {
        if (!isJudged(role)) continue;
        const { user, name } = role;
        // since 7.0 a container alone answers nothing; before, it is all of its subcommands
        const container = (c: string): boolean => user.table.get(c)?.subcommands !== undefined;
        const changing = (c: string): boolean => CHANGES.has(c) || (c === "sentinel" && !container(c));
        const changes = surplus(user, (c) => !changing(c));
        const more = surplus(user, (c) => changing(c) || allowed.has(c) || container(c));
        if (changes !== undefined) report("changes", { user: name, ...changes }, changes.at, changes);
        // a rule that gives both is said once
        if (more !== undefined && more.tokens !== changes?.tokens)
          report("surplus", { user: name, ...more }, more.at, more);

        const sent = [...new Set((needs ?? []).flatMap((n) => n.commands))];
        const lost = sent.filter((c) => user.can(c) === "no");
        if (lost.length > 0) {
          const at = revoking(user, lost[0]!)?.at ?? user.nameAt;
          report("missing", { user: name, commands: joined(lost.map((c) => `+${c}`)), client: client! }, at);
        }
        const listens = user.may("subscribe");
        for (const channel of new Set((needs ?? []).flatMap((n) => n.channels))) {
          if (listens && user.mayChannel(channel, false, "subscribe") === "no") {
            report("channel", { user: name, channel, client: client! }, user.nameAt);
          }
        }
        // every channel at once is the least-privilege rule's matter
        const { words, all } = patternRules(user, "channels", (p) => p.placeholder || !/[*?[]/.test(p.text));
        if (!all && listens) for (const w of words) report("channels", { token: w.text, user: name }, w.at);
      }
    },
  },
});
