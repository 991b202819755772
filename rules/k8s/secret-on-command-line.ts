import { defineRule } from "../../src/engine/rule.js";
import { commandTitle } from "../../src/model/kubernetes/container-parts.js";
import type { Place } from "../../src/model/place.js";
import type { ShellProgram } from "../../src/model/shell/index.js";
import { exposedSecrets, show } from "../../src/model/shell/index.js";

export default defineRule({
  severity: "error",
  inferred: "warning",
  docs: {
    summary: "No secret stands on a command line.",
    why: "The arguments of a process can be read by every process of its node's pod and end up in logs and crash reports, also when they come from a variable.",
    fix: "Give redis-cli its password by REDISCLI_AUTH from a secretKeyRef, and servers theirs in a file that the pod mounts.",
    bad: "command: [sh, -c, 'redis-cli -a $REDIS_PASSWORD ping']\n",
    good: "env:\n  - name: REDISCLI_AUTH\n    valueFrom: { secretKeyRef: { name: redis-probe, key: password } }\n",
    source: {
      title: "Redis: redis-cli, host, port, password and database",
      url: "https://redis.io/docs/latest/develop/tools/cli/#host-port-password-and-database",
    },
    rows: ["C-K13"],
  },
  messages: {
    option: "{where} passes a secret on the command line: {what} {value}",
    inline: {
      text: "{where} writes the secret {what} into its command",
      help: "Set the variable from a secretKeyRef in the container's env.",
    },
    argument: {
      text: "{where} puts the secret {what} into an argument of {program}",
      help: "Read it from the environment or a file inside the program.",
    },
  },
  on: {
    Container(container, { contract, report }) {
      for (const command of container.commands) {
        judge(contract.shell.program(command), commandTitle(command), report as never);
      }
    },
    Script(script, { contract, report }) {
      // scripts that a command runs are judged there, with the container's environment
      if (script.command !== undefined || contract.shell.runsOf(script).length > 0) return;
      judge(contract.shell.scriptProgram(script), `the script ${script.name}`, report as never);
    },
  },
});

type Report = (id: "option" | "inline" | "argument", data: Record<string, string>, at: Place) => void;

function judge(program: ShellProgram, where: string, report: Report): void {
  for (const invocation of program.invocations) {
    for (const secret of exposedSecrets(invocation)) {
      const shown = show(secret.value);
      const data = {
        where,
        what: secret.what,
        value: secret.value.known === undefined ? shown : "…",
        program: invocation.name ?? "a command",
      };
      report(secret.form, data, secret.arg.place);
    }
  }
}
