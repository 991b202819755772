import { defineRule } from "../../src/engine/rule.js";
import type { Contract } from "../../src/model/contract.js";
import { lacksOf } from "../../src/model/program/access.js";
import { clientCommands } from "../../src/model/program/needs.js";
import { isFaulty } from "../../src/model/redis/access.js";
import type { AclUser } from "../../src/model/redis/acl.js";
import { commandWords } from "../../src/model/redis/commands.js";
import { joined, revoking } from "../../src/model/redis/role-check.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "What the contract declares that a user sends outside programs, its ACL allows.",
    why: "A client library that may not send PING or GET fails with NOPERM in production only: its tests run without an ACL.",
    fix: "Grant the command and the key pattern, or take the line out of policy.commands.",
    bad: "policy: { commands: { app: [PING] } }   # user app … -@all +get\n",
    good: "policy: { commands: { app: [PING] } }   # user app … -@all +ping +get\n",
    source: {
      title: "Redis: access control list",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/",
    },
    rows: ["C-A11"],
  },
  messages: {
    command: "the contract declares that {user} sends {commands}, and its ACL does not allow it",
    key: "the contract declares that {user} sends {commands}, and no key pattern gives it that on {key}",
    channel: "the contract declares that {user} uses the channel {channel}, and no channel pattern gives it that",
  },
  on: {
    Contract(contract, { report }) {
      for (const name of Object.keys(contract.config.policy?.commands ?? {})) {
        const place = contract.declaration("policy", "commands", name);
        const related = place === undefined ? [] : [{ at: place, message: "declared here" }];
        for (const user of usersOf(contract, name)) {
          const denied = new Map<ReturnType<typeof revoking>, string[]>();
          const keys = new Map<string, string[]>();
          const channels = new Set<string>();
          for (const sent of clientCommands(contract, name)) {
            const shown = commandWords(sent.name);
            // a command that the server does not have is no matter of its ACL
            if (user.table.get(sent.name) === undefined) continue;
            if (user.can(sent.name) === "no") add(denied, revoking(user, sent.name), shown);
            else {
              for (const { pattern, access, command } of sent.keys)
                if (user.covers({ declared: pattern }, access, command) === "no") add(keys, pattern, shown);
              for (const channel of sent.channels)
                if (user.coversChannel({ declared: channel }) === "no") channels.add(channel);
            }
          }
          // what a program needs as well is said there
          const lacks = denied.size + keys.size === 0 ? [] : lacksOf(contract.programs).filter((l) => l.user === user);
          const said = new Set(lacks.flatMap((l) => l.commands.map((c) => commandWords(c.command))));
          for (const [word, all] of denied) {
            const commands = all.filter((c) => !said.has(c));
            if (commands.length === 0) continue;
            report("command", { user: name, commands: joined(commands) }, word?.at ?? user.nameAt, { related });
          }
          if (lacks.some((l) => l.keyless)) keys.clear();
          for (const [key, commands] of keys)
            report("key", { user: name, commands: joined(commands), key }, user.nameAt, { related });
          for (const channel of channels) report("channel", { user: name, channel }, user.nameAt, { related });
        }
      }
    },
  },
});

/** A user of the data servers; of the Sentinels where those do not have it. */
function usersOf(contract: Contract, name: string): AclUser[] {
  const lists = contract.redis.accessLists.filter((l) => l.load?.users.has(name));
  const data = lists.filter((l) => l.plane.role === "data");
  return (data.length > 0 ? data : lists).flatMap(({ load }) => {
    const user = load?.users.get(name);
    return user?.certain && user.enabled && !isFaulty(load!, user) ? [user] : [];
  });
}

function add<K>(map: Map<K, string[]>, key: K, text: string): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [text]);
  else if (!list.includes(text)) list.push(text);
}
