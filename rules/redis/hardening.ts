import { defineRule } from "../../src/engine/rule.js";
import type { ConfValues } from "../../src/model/redis/conf.js";
import { valueAt } from "../../src/model/redis/conf-place.js";
import { servesTlsOnly } from "../../src/model/redis/listeners.js";

const OPENED = {
  "enable-debug-command": "DEBUG can crash the server and read its memory",
  "enable-module-command": "MODULE LOAD runs any code in the server",
  "enable-protected-configs": "CONFIG SET can then move the files that the server writes",
} as const;

export default defineRule({
  severity: "error",
  docs: {
    summary: "Commands that own the server stay closed, and ACLs say who may do what.",
    why: "Whoever may call DEBUG, MODULE or a protected CONFIG SET owns the process; a renamed command is a secret that Sentinel, replicas and clients do not share.",
    fix: "Remove the line; take commands away from users in the ACL.",
    bad: 'enable-debug-command yes\nrename-command CONFIG ""\n',
    good: "user app on >${APP_PASSWORD} -@all +get +set\n",
    source: {
      title: "Redis: security",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/",
    },
    rows: ["C-R11"],
  },
  messages: {
    opened: { text: "`{directive} {value}`: {why}", help: "Remove the line: the default is `no`." },
    renamed: {
      text: "`rename-command {command}` hides a command from everyone instead of denying it to users",
      help: "Take the command away in the ACL.",
      inferred: "info",
      once: true,
    },
    unprotected: {
      text: "`protected-mode no`, and the server takes {how}",
      help: "Remove the line, or close the server with TLS and an ACL.",
      // a server without users and password is acl/default-user's matter
      inferred: "off",
    },
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      if (load === undefined) return;
      const { values } = load;
      for (const [directive, why] of Object.entries(OPENED)) {
        const value = values.get(directive);
        const at = valueAt(value);
        if (value.state !== "known" || value.value === "no" || at === undefined) continue;
        // `local` opens it to who is inside the pod already
        report("opened", { directive, value: value.value, why }, at, {
          severity: value.value === "local" && !contract.declared ? "info" : undefined,
        });
      }
      for (const line of values.all("rename-command")) {
        const command = line.args[0];
        if (command !== undefined && line.args.length === 2) report("renamed", { command: command.value }, line.at);
      }
      const mode = values.get("protected-mode");
      const at = valueAt(mode);
      if (mode.state !== "known" || mode.value !== "no" || at === undefined) return;
      const how = unguarded(values);
      if (how !== undefined) report("unprotected", { how }, at);
    },
  },
});

/** What a promise of TLS and ACL lacks; undefined: nothing, or it is not known. */
function unguarded(values: ConfValues): string | undefined {
  if (servesTlsOnly(values) === false) return "unencrypted connections";
  return values.isSet("aclfile") === false && values.all("user").length === 0
    ? "everybody who knows one password"
    : undefined;
}
