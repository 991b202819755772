import { defineRule } from "../../src/engine/rule.js";
import { suggestRule } from "../../src/model/redis/acl-suggest.js";
import { aclErrors, clip, errorKind, isDataRule } from "../../src/model/redis/acl-verdict.js";

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
    unreadable: { text: "{reason}", help: "A file is UTF-8 text that the check may read, below its root." },
    line: {
      text: "{server} does not start: this line is no user definition",
      help: "An ACL file knows no comments, quotes or continued lines.",
    },
    comment: {
      text: "{server} does not start: an ACL file has no comments before Redis 8.8",
      help: "Move the comment to the place that renders or mounts the file.",
    },
    rule: { text: "{server} does not start: {rule} is no rule of an ACL ({message}){hint}" },
    command: { text: "{server} does not start: {rule} names no command or category that it has{hint}" },
    pattern: {
      text: "{server} does not start: {rule} stands after a pattern for everything",
      help: "Put resetkeys or resetchannels before it, or take the other pattern out.",
    },
    hash: {
      text: "{server} does not start: {rule} is no hash of 64 lower-case hexadecimal digits",
      help: "A # starts no comment here.",
    },
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
    File(file, { report }) {
      if (file.kind === "acl" && file.fault !== undefined)
        report("unreadable", { reason: file.fault }, file.source.span(0, 0));
    },
    Acl(acl, { contract, report }) {
      const { redis } = contract;
      const roles = redis.readersOf(acl).map(({ plane }) => plane.role);
      // what only Sentinels refuse in a file that both planes load is said as that
      const role = roles.includes("data") ? "data" : roles[0];
      const load = redis.acl(acl, role ?? "data");
      const server = role === "sentinel" ? "Sentinel" : load.server.flavour === "valkey" ? "Valkey" : "Redis";
      if (load.ok) {
        for (const user of load.users.values()) {
          if (user.crashes) report("getuser", { user: user.name, server }, user.nameAt);
        }
        return;
      }
      for (const error of aclErrors(redis, acl, role)) {
        const kind = errorKind(error, load.crash === true);
        if (kind === undefined) continue;
        const rule = clip(error.at.source.slice(error.at));
        const foreign = role === "sentinel" && isDataRule(redis, error);
        const hint = foreign ? ": only data servers have it" : suggestRule(load.server.table, rule);
        report(kind, { server, rule, hint, message: clip(error.message), user: clip(error.user ?? "") }, error.at);
      }
    },
  },
});
