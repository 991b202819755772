import { defineRule } from "../../src/engine/rule.js";
import { podFile } from "../../src/model/kubernetes/pod-file.js";
import { findingsOf } from "../../src/model/redis/conf-owner.js";
import { isMisspelt, valueAt, whereNeeded } from "../../src/model/redis/conf-place.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Users come from an ACL file that the manifest mounts, and from nowhere else.",
    why: "The server does not start with `user` lines beside `aclfile`, nor without the file; a `requirepass` beside it has no effect.",
    fix: "Set `aclfile` to the path where the ACL is mounted; keep users and passwords in it alone.",
    bad: "aclfile /acl/users.acl\nrequirepass ${PASSWORD}\n",
    good: "aclfile /acl/users.acl\n",
    source: {
      title: "Redis: ACL, using an external ACL file",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/#use-an-external-acl-file",
    },
    rows: ["C-R07"],
  },
  messages: {
    missing: {
      text: "`aclfile` is not set: the server has no users but `default`",
      help: "Set `aclfile` to the path where the manifest mounts the ACL.",
      inferred: "off",
    },
    unmounted: {
      text: "no volume of {container} holds {path}: the server does not start without its ACL file",
      inferred: "warning",
    },
    lacks: { text: "the volume {volume} of {container} holds no {path}: the server does not start", inferred: "error" },
    users: { text: "{what}: the server does not start", inferred: "error" },
    requirepass: {
      text: "`requirepass` has no effect beside `aclfile`: the ACL file alone says who `default` is",
      help: "Remove the line.",
    },
    ignored: { text: "{what}", help: "Remove the line.", inferred: "info" },
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      if (load === undefined) return;
      const { values } = load;
      const found = findingsOf(load, "redis/acl-file", contract.declared);
      for (const f of found) {
        if (f.code === "password-ignored") report("ignored", { what: f.message }, f.at, { related: f.related });
        else report("users", { what: f.message }, f.at, { related: f.related });
      }
      const file = values.get("aclfile");
      if (file.state === "absent" || (file.state === "known" && file.value === "")) {
        const at = valueAt(file) ?? values.all("user")[0]?.at ?? whereNeeded(server, load, "requirepass", "masteruser");
        if (at !== undefined && !isMisspelt(load, "aclfile")) report("missing", {}, at);
        return;
      }
      const password = values.get("requirepass");
      const at = password.state === "absent" ? undefined : password.statement?.at;
      // where the ACL file has no `user default` line, the server is open: acl/default-user says that
      const open =
        server.acl !== undefined &&
        contract.redis.acl(server.acl, server.plane.role).users.get("default")?.implicit === true;
      if (at !== undefined && values.isSet("requirepass") === true && values.isSet("aclfile") === true && !open)
        report("requirepass", {}, at);

      const { container } = server.plane;
      if (container === undefined || file.state !== "known" || !file.value.startsWith("/")) return;
      const { state, mount } = podFile(contract, container, file.value);
      const place = valueAt(file);
      if (place === undefined) return;
      const data = { container: container.title, path: file.value };
      if (state === "unmounted")
        report("unmounted", data, place, {
          related: [{ at: container.key("volumeMounts"), message: "the container's volumes" }],
        });
      else if (state === "lacks" && mount !== undefined)
        report("lacks", { ...data, volume: mount.name }, place, {
          related: [{ at: mount.place, message: "the volume" }],
        });
    },
  },
});
