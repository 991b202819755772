import { defineRule } from "../../src/engine/rule.js";
import type { Place } from "../../src/model/place.js";
import { firstLine, lineOf } from "../../src/model/redis/access.js";
import type { Span } from "../../src/text/source.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "The default user is off in both planes, and a line says so.",
    why: "Every connection starts as the default user: an ACL file without `user default` leaves it on, without a password, with every command and key, whatever requirepass says.",
    fix: "Start the ACL with `user default off`.",
    bad: "requirepass ${PASSWORD}\naclfile /acl/users.acl\n# users.acl: user app on >${PASSWORD} ~app:* +@read\n",
    good: "user default off\nuser app on >${PASSWORD} ~app:* +@read\n",
    source: {
      title: "Redis: ACL, the default user",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/",
    },
    rows: ["C-A02"],
  },
  messages: {
    ignored: {
      text: "requirepass has no effect beside an ACL file: {list} has no `user default`, so everybody may log in without a password and do everything",
      help: "Put `user default off` into the ACL file and take requirepass out.",
      inferred: "error",
    },
    open: {
      text: "{list} has no `user default`: the server makes one that is on, without a password, with every command and key",
      help: "Add `user default off`.",
      inferred: "error",
    },
    passwordless: {
      text: "the default user is on without a password in {list}: whoever reaches the port is logged in",
      help: "Write `user default off`.",
      inferred: "warning",
    },
    on: {
      text: "the default user is on in {list}",
      help: "Write `user default off`, and a user for each role.",
      inferred: "info",
      once: true,
    },
    implied: {
      text: "the line of the default user in {list} does not say that it is off",
      help: "Write `user default off`.",
      inferred: "off",
    },
    unprotected: {
      text: "{list} has neither users nor requirepass: every connection is the default user, with every command and key",
      help: "Name an ACL file with `user default off`.",
      once: true,
      inferred: "warning",
    },
    "password-only": {
      text: "{list} has no users but the default one, and its password",
      help: "Name an ACL file with `user default off`.",
      inferred: "off",
    },
  },
  on: {
    Contract(contract, { report }) {
      const { redis } = contract;
      for (const list of redis.accessLists) {
        const { state, explicit, user } = redis.defaultUser(list);
        const { title } = list;
        const data = { list: title };
        const server = list.servers.find((s) => redis.load(s)?.values.isSet("requirepass") === true);
        const password = server === undefined ? undefined : lineOf(redis.load(server), "requirepass");
        const head = (): Span | Place => user?.nameAt ?? firstLine(list.view);
        if (user === undefined) {
          if (state === "open" && list.kind === "none") {
            // protected mode turns strangers away; a Sentinel without authentication is what most sets have
            const reachable =
              list.plane.role === "data" && redis.load(list.servers[0]!)?.values.flag("protected-mode") === false;
            if (contract.declared || reachable) report("unprotected", data, head());
          } else if (state === "open" && password !== undefined) {
            const aclfile = lineOf(redis.load(server!), "aclfile");
            report("ignored", data, password.at, {
              related: [
                ...(aclfile === undefined ? [] : [{ at: aclfile.at, message: "the ACL file is named here" }]),
                { at: firstLine(list.view), message: "it defines other users only" },
              ],
            });
          } else if (state === "open") report("open", data, head());
          else if (state === "password")
            report(list.kind === "none" ? "password-only" : "on", data, password?.at ?? head());
          continue;
        }
        const at = (): Span | Place => user.enabledWord?.at ?? head();
        if (state === "open" && password !== undefined && list.kind === "file") {
          report("passwordless", data, at(), {
            severity: "error",
            related: [{ at: password.at, message: "requirepass has no effect beside an ACL file" }],
          });
        } else if (state === "open") {
          // one that may run nothing lets a stranger do nothing but AUTH; a Sentinel writes this line itself at its first start
          const own = list.plane.role === "sentinel" && list.kind === "lines";
          if (contract.declared || (user.commands.size > 0 && !own)) report("passwordless", data, at());
        } else if (state === "password" || state === "locked") report("on", data, at());
        else if (state === "off" && !explicit) report("implied", data, head());
      }
    },
  },
});
