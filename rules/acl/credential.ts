import { defineRule } from "../../src/engine/rule.js";
import { isEnabled } from "../../src/model/redis/access.js";
import { isPlaceholder } from "../../src/model/secrets.js";
import { hasToken } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Passwords stand in an ACL as placeholders only, and no enabled user goes without one.",
    why: "A password that is tracked is known to everyone who ever reads the repository, and a tracked hash can be tried against word lists at leisure.",
    fix: "Write >${NAME} and fill it in where the file is rendered; then change the password, because this one is burnt.",
    bad: "user app on >hunter2 ~app:* +get\n",
    good: "user app on >${APP_PASSWORD} ~app:* +get\n",
    source: {
      title: "Redis: ACL, how passwords are stored",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/#how-passwords-are-stored-internally",
    },
    rows: ["C-A10"],
  },
  messages: {
    password: { text: "the password of {user} stands here in plain text", inferred: "warning", once: true },
    hash: {
      text: "the hash of a password of {user} is tracked: it can be cracked without asking the server",
      inferred: "info",
      once: true,
    },
    nopass: {
      text: "{user} is on and needs no password",
      help: "Give it a password, or turn it off.",
      inferred: "warning",
      once: true,
    },
    literal: {
      text: "{word} is taken literally: the server fills nothing in, so this text itself is {what} of {user}",
      help: "Where the file is rendered first, its name should say so: users.acl.tmpl.",
      severity: "info",
      inferred: "info",
      once: true,
    },
    locked: {
      text: "{user} is on and has no password: nobody can log in as it",
      severity: "warning",
      inferred: "info",
    },
  },
  on: {
    Contract(contract, { report }) {
      const { redis } = contract;
      for (const list of redis.accessLists) {
        for (const user of list.load?.users.values() ?? []) {
          if (user.implicit) continue;
          const { name } = user;
          for (const password of user.passwords) {
            if (password.placeholder || password.empty) continue;
            const text = password.text;
            if (password.kind === "hash") report("hash", { user: name }, password.at);
            else if (!isPlaceholder(text)) report("password", { user: name }, password.at);
            else if (list.acl?.templated === false) {
              report("literal", { word: password.word.text, what: "the password", user: name }, password.at);
            }
          }
          if (list.acl?.templated === false) {
            if (hasToken(name)) report("literal", { word: name, what: "the name", user: "the user" }, user.nameAt);
            for (const { text, at } of [...user.keys, ...user.channels]) {
              if (hasToken(text)) report("literal", { word: text, what: "a pattern", user: name }, at);
            }
          }
          // of the default user the rule about it speaks
          if (name === "default" || isEnabled(list, user) !== true) continue;
          if (user.nopass) report("nopass", { user: name }, user.nopassWord?.at ?? user.nameAt);
          else if (
            user.passwords.length === 0 &&
            list.complete &&
            !byCertificate(list.servers.map((s) => redis.load(s)))
          ) {
            report("locked", { user: name }, user.nameAt);
          }
        }
      }
    },
  },
});

type Load = { readonly values: { all(name: string): readonly unknown[] } } | undefined;

/** Users may log in by their certificate: they need no password. */
function byCertificate(loads: readonly Load[]): boolean {
  return loads.some((l) => l === undefined || l.values.all("tls-auth-clients-user").length > 0);
}
