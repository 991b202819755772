import { defineRule } from "../../src/engine/rule.js";

/** Its findings are made by the engine, which knows the suppressions and what they matched. */
export default defineRule({
  severity: "error",
  inferred: "warning",
  fixable: true,
  docs: {
    summary: "A suppression names a known rule and a reason, is needed, and is not out of date.",
    why: "A suppression that nobody can explain, or that hides nothing any more, will hide the next fault in its place. So one with a fault suppresses nothing until it is repaired.",
    fix: "Write `quorumlint: ignore[pack/rule] reason` where the finding is, or remove the suppression.",
    bad: ["# quorumlint: ignore[k8s/exec-prob]", "livenessProbe:", "  tcpSocket: { port: 6379 }"].join("\n"),
    good: [
      "# quorumlint: ignore[k8s/exec-probe] the sidecar has no shell; removed with OPS-214",
      "livenessProbe:",
      "  tcpSocket: { port: 6379 }",
    ].join("\n"),
    source: {
      title: "Redis: ACL files (comments in them stop the server)",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/",
    },
    rows: ["C-Q01"],
  },
  messages: {
    missingReason: {
      text: "the suppression of {rule} gives no reason, so it does not count",
      help: "Say behind the bracket why this finding of {rule} is accepted.",
    },
    unknownRule: {
      text: '"{rule}" is no rule that can be suppressed{hint}',
      help: "`quorumlint rules` lists the ids; `pack/*` stands for all rules of a pack.",
    },
    unused: {
      text: "{rule} reports nothing here: the suppression is not needed",
      help: "Remove it, so that it cannot hide the next fault.",
    },
    expired: {
      text: "the suppression of {rule} ended on {until}, so it does not count any more",
      help: "Repair the finding, or decide anew and move the date.",
    },
    malformed: {
      text: 'this comment suppresses nothing: "{detail}" is not of the form `quorumlint: ignore[pack/rule] reason`',
      help: "Write `quorumlint: ignore[pack/rule] reason`.",
    },
    misplaced: {
      text: "a suppression cannot be written in {detail}",
      help: "Write an entry in `suppress:` of the contract file; in conf, properties and env files a comment on the line above does too.",
    },
  },
  on: {},
});
