import { defineRule } from "../../src/engine/rule.js";
import { ignoredVariables } from "../../src/model/kubernetes/environment-use.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Each variable of a server's container is read by somebody.",
    why: "The official images take no password and no setting from the environment: the server starts open and with its defaults, while everybody believes it has a password.",
    fix: "Set the password in the configuration or the ACL file, or give the variable to a start script that uses it.",
    bad: "image: redis:7.4\nenv:\n  - name: REDIS_PASSWORD\n    valueFrom: { secretKeyRef: { name: redis, key: password } }\n",
    good: "image: redis:7.4\ncommand: [redis-server, /etc/redis/redis.conf]   # with requirepass or aclfile\n",
    source: {
      title: "Docker official image: redis, configuration",
      url: "https://hub.docker.com/_/redis",
    },
    rows: ["C-K29"],
  },
  messages: {
    ignored: {
      text: "the image of {container} does not read {name}: the server gets no password from it",
      help: "Set requirepass or an ACL in its configuration.",
    },
    setting: {
      text: "the image of {container} does not read {name}, and nothing else does",
      help: "That is a variable of another image: write the directive into the configuration.",
      severity: "warning",
      inferred: "info",
    },
  },
  on: {
    Plane(plane, { contract, report }) {
      const { container } = plane;
      for (const { kind, name, index } of ignoredVariables(contract, plane)) {
        if (container !== undefined)
          report(
            kind === "password" ? "ignored" : "setting",
            { container: container.title, name },
            container.at("env", index),
          );
      }
    },
  },
});
