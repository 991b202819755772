import { defineRule } from "../../src/engine/rule.js";
import type { Contract } from "../../src/model/contract.js";
import { type ClientCommand, clientCommands } from "../../src/model/program/needs.js";
import { isFaulty } from "../../src/model/redis/access.js";
import { revoking } from "../../src/model/redis/role-check.js";

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
    command: "the contract declares that {user} sends {command}, and its ACL does not allow it",
    key: "the contract declares that {user} sends {command}, and no key pattern gives it {access} on {key}",
    channel: "the contract declares that {user} sends {command}, and no channel pattern gives it {channel}",
  },
  on: {
    Contract(contract, { report }) {
      const declared = contract.config.policy?.commands ?? {};
      for (const name of Object.keys(declared)) {
        const place = contract.declaration("policy", "commands", name);
        const related = place === undefined ? [] : [{ at: place, message: "declared here" }];
        for (const { load } of contract.redis.accessLists) {
          const user = load?.users.get(name);
          if (load === undefined || user === undefined || !user.certain || !user.enabled || isFaulty(load, user))
            continue;
          for (const sent of commandsOf(contract, name)) {
            const data = { user: name, command: sent.name.replace("|", " ").toUpperCase() };
            // a command that the server does not have is no matter of its ACL
            if (user.table.get(sent.name) === undefined) continue;
            if (user.can(sent.name) === "no") {
              report("command", data, revoking(user, sent.name)?.at ?? user.nameAt, { related });
              continue;
            }
            for (const { pattern, access, command } of sent.keys) {
              if (user.covers({ declared: pattern }, access, command) === "no")
                report("key", { ...data, key: pattern, access: ACCESS[access] }, user.nameAt, { related });
            }
            for (const channel of sent.channels) {
              if (user.coversChannel({ declared: channel }) === "no")
                report("channel", { ...data, channel }, user.nameAt, { related });
            }
          }
        }
      }
    },
  },
});

const ACCESS = { "": "access", R: "read", W: "write", RW: "read and write" };

/** Each command once: several patterns of one are told apart by their keys. */
function commandsOf(contract: Contract, user: string): ClientCommand[] {
  const seen = new Set<string>();
  return clientCommands(contract, user).filter((c) => {
    const key = `${c.name}\n${c.keys.map((k) => k.question).join("\n")}\n${c.channels.join(" ")}`;
    return !seen.has(key) && seen.add(key) !== undefined;
  });
}
