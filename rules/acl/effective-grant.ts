import { defineRule } from "../../src/engine/rule.js";
import { isFaulty } from "../../src/model/redis/access.js";
import { grantProblems } from "../../src/model/redis/acl-problems.js";
import { commandWords } from "../../src/model/redis/commands.js";
import { joined } from "../../src/model/redis/role-check.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "No rule of a user cancels or repeats another, and an enabled user can do something.",
    why: "Rules apply from left to right: a -@all at the end takes back everything before it, and the server says nothing, neither when it starts nor in its log.",
    fix: "Start with -@all, then grant; write each grant once.",
    bad: "user app on >${PASSWORD} ~app:* +get +set -@all\n",
    good: "user app on >${PASSWORD} ~app:* -@all +get +set\n",
    source: {
      title: "Redis: ACL rules",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/#acl-rules",
    },
    rows: ["C-A12"],
  },
  messages: {
    revoked: {
      text: "{by} takes {words} away again from {user}",
      help: "Rules apply from left to right: what resets stands first.",
    },
    undone: { text: "{word} has no effect on {user}: {by} behind it gives everything back" },
    powerless: {
      text: "{word} in a selector takes nothing from {user}: the rules outside the parentheses give {command}",
    },
    configures: {
      text: "{word} gives {user} {commands} as well: the category holds every container command",
      help: "Name the commands that are needed instead of the category.",
    },
    swallowed: { text: "{word} adds nothing for {user}: {by} covers it", inferred: "info" },
    "empty-password": {
      text: 'the password of {user} is the empty text: AUTH {user} "" succeeds',
      help: "This is what a template with an unset variable leaves behind.",
      inferred: "error",
    },
    "no-keys": {
      text: "{user} may run {words} and has no key pattern: every call with a key is refused",
      help: "Give it the keys that it works on, such as ~app:*.",
    },
    "no-channels": {
      text: "{user} may run {words} and has no channel: every call is refused, because since 7.0 no channel is open by default",
      help: "Name its channels, such as &news.",
    },
    nothing: {
      text: "{user} is on and may run no command: every call is answered with NOPERM",
      help: "Grant its commands, or turn it off.",
    },
  },
  on: {
    Contract(contract, { report }) {
      const { roles } = contract.redis;
      const links = roles.filter((r) => r.role === "replica" || r.role === "control" || r.role === "peer");
      const wired = new Set(links.map((r) => `${r.user?.at.start} ${r.name}`));
      for (const { load } of contract.redis.accessLists) {
        for (const user of load?.users.values() ?? []) {
          if (user.implicit || isFaulty(load!, user)) continue;
          for (const problem of grantProblems(user)) {
            const { name } = user;
            switch (problem.kind) {
              case "revoked":
                report(
                  "revoked",
                  { by: problem.by.text, words: shown(problem.words.map((w) => w.text)), user: name },
                  problem.by.at,
                  {
                    related: problem.words.slice(0, 8).map((w) => ({ at: w.at, message: "given here" })),
                  },
                );
                break;
              case "undone":
              case "swallowed":
                report(problem.kind, { word: problem.word.text, by: problem.by.text, user: name }, problem.word.at, {
                  related: [{ at: problem.by.at, message: "here" }],
                });
                break;
              case "powerless":
                report("powerless", { word: problem.word.text, user: name, command: problem.command }, problem.word.at);
                break;
              case "configures": {
                const commands = joined(problem.commands.map(commandWords));
                report("configures", { word: problem.word.text, user: name, commands }, problem.word.at);
                break;
              }
              case "no-keys":
              case "no-channels": {
                // roles that wire the servers together have rules of their own
                const words = shown(problem.words.map((w) => w.text));
                if (!wired.has(`${user.at.start} ${name}`)) report(problem.kind, { user: name, words }, user.nameAt);
                break;
              }
              case "empty-password":
                if (user.enabled || !user.certain) report("empty-password", { user: name }, problem.word.at);
                break;
              case "nothing":
                // a default user that may do nothing is how some turn it off
                if (name !== "default") report("nothing", { user: name }, user.nameAt);
            }
          }
        }
      }
    },
  },
});

const SECRET = /^[>#]/;

/** At most four rules, passwords without their text. */
function shown(words: readonly string[]): string {
  const list = words.map((w) => (SECRET.test(w) ? `${w[0]}…` : w));
  return list.length > 4 ? `${list.slice(0, 3).join(", ")} and ${list.length - 3} more rules` : joined(list);
}
