import { defineRule } from "../../src/engine/rule.js";
import { aclErrors, isDataRule } from "../../src/model/redis/acl-verdict.js";
import { suggestRule } from "../../src/model/redis/acl-suggest.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "The servers can load the ACL file.",
    why: "One wrong word and the server does not start: an ACL file is loaded as a whole or not at all, without comments, quotes or tabs between rules.",
    fix: "Write one user per line: user NAME followed by rules, separated by single spaces.",
    bad: "# applications\nuser app on >${PASSWORD} +@sorted_set\n",
    good: "user app on >${PASSWORD} +@sortedset\n",
    source: {
      title: "Redis: ACL rules",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/#acl-rules",
    },
    rows: ["C-A01", "C-R18"],
  },
  messages: {
    line: {
      text: "{server} does not start: this line is no user definition",
      help: "An ACL file knows no comments, quotes or continued lines.",
    },
    comment: {
      text: "{server} does not start: an ACL file has no comments before Redis 8.8",
      help: "Move the comment to the place that renders or mounts the file.",
    },
    rule: { text: "{server} does not start: {rule} is no rule of an ACL ({message}){hint}" },
    command: { text: "{server} does not start: it has no command or category {rule}{hint}" },
    pattern: { text: "{server} does not start: {rule} stands after a pattern for everything", help: "Put resetkeys or resetchannels before it, or take the other pattern out." },
    hash: { text: "{server} does not start: {rule} is no hash of 64 lower-case hexadecimal digits", help: "A # starts no comment here." },
    duplicate: { text: "{server} does not start: the user {user} is defined twice" },
    name: { text: "{server} does not start: {message}" },
    parenthesis: { text: "{server} does not start: the parenthesis of this selector is not closed" },
    crash: { text: "{server} crashes while it reads this file: a parenthesis after other rules is not closed" },
    getuser: {
      text: "the user {user} crashes {server} as soon as somebody runs ACL LIST or ACL GETUSER: a key pattern has no access",
      help: "Write %R~, %W~ or ~ before the pattern.",
    },
  },
  on: {
    Acl(acl, { contract, report }) {
      const { redis } = contract;
      const roles = contract.planes.filter((p) => p.servers.some((s) => s.acl === acl)).map((p) => p.role);
      const seen = new Set<string>();
      for (const role of roles.length === 0 ? [undefined] : new Set(roles)) {
        const load = redis.acl(acl, role ?? "data");
        const server = role === "sentinel" ? "Sentinel" : load.server.flavour === "valkey" ? "Valkey" : "Redis";
        if (load.ok) {
          for (const user of load.users.values()) {
            if (user.crashes) report("getuser", { user: user.name, server }, user.nameAt);
          }
          continue;
        }
        for (const error of aclErrors(redis, acl, role)) {
          const key = `${error.start} ${error.kind}`;
          if (seen.has(key)) continue;
          seen.add(key);
          const { message, at, kind, fault, user = "" } = error;
          const rule = at.source.slice(at);
          const data = { server, rule };
          if (kind === "keyword") report(rule.trimStart().startsWith("#") ? "comment" : "line", { server }, at);
          else if (kind === "duplicate") report("duplicate", { server, user }, at);
          else if (kind === "name") report("name", { server, message }, at);
          else if (kind === "crash") report("crash", { server }, at);
          else if (kind === "parenthesis") {
            if (load.crash !== true) report("parenthesis", { server }, at);
          } else if (fault === "ENOENT") {
            const data7 = role === "sentinel" && isDataRule(redis, error) ? ": only a data server has it" : "";
            const name = rule.replace(/^[+-]/, "");
            report("command", { server, rule: name, hint: data7 === "" ? suggestRule(load.server.table, rule) : data7 }, at);
          } else if (fault === "EEXIST" || fault === "EISDIR") report("pattern", data, at);
          else if (fault === "EBADMSG") report("hash", data, at);
          else report("rule", { ...data, message, hint: suggestRule(load.server.table, rule) }, at);
        }
      }
    },
  },
});
