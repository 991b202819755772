import { defineRule } from "../../src/engine/rule.js";
import { isOfficialImage } from "../../src/model/image.js";
import { commandTitle } from "../../src/model/kubernetes/container-parts.js";
import { startProblem } from "../../src/model/kubernetes/start-command.js";
import { serverStarts } from "../../src/model/shell/index.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "What a container, a probe or a hook is told to run can be started.",
    why: "Kubernetes does not look at a command: a script that is not mounted, a shell without one or a file that may not be executed ends the container at once, over and over; a probe of this kind never succeeds.",
    fix: "Give the shell a script that a volume holds at that path, or `-c` and a text.",
    bad: "command: [sh, /scripts/boot.sh]   # the ConfigMap has bootstrap.sh\n",
    good: "command: [sh, /scripts/bootstrap.sh]\n",
    source: {
      title: "Kubernetes: define a command and arguments for a container",
      url: "https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/",
    },
    rows: ["C-K27"],
  },
  messages: {
    option: "{where} starts with the option {word}: there is no program of that name",
    illegal: { text: "{where} gives the shell the option {word}, which none has", help: "Write -c before a text." },
    text: "{where} gives the shell -c and no text",
    nothing: { text: "{where} is a shell with nothing to run: it ends at once", help: "Name the script." },
    untold: {
      text: "{where} has no -c: the shell takes the text for the name of a file, and there is none",
      help: "Write -c before it.",
    },
    absent: "{where} runs {word}, which is not there: {why}",
    permission: {
      text: "{where} executes {word}, and files of that volume may only be read",
      help: "Let sh run it, or set defaultMode: 0555.",
    },
    endless: {
      text: "{container} has no command: its image starts a Redis server, which never ends, and the pod never comes up",
      help: "Give it the command that it is there for.",
    },
    builtin: {
      text: "{container} has no command: its image starts a Redis server of its own, with no configuration, no password and no TLS",
      inferred: "off",
    },
    unused: {
      text: "{container} starts its server without a configuration file: {conf} is not in force",
      help: "Name the file on the command line.",
      inferred: "off",
    },
    mode: {
      text: "{container} starts a {started} with the configuration of a {wanted}",
      help: "redis-sentinel FILE, or redis-server FILE --sentinel, is a Sentinel.",
      inferred: "off",
    },
    data: { text: "{where} executes {word}, which is no program", help: "Name the program first." },
  },
  on: {
    Container(container, { contract, report }) {
      for (const command of container.commands) {
        const problem = startProblem(contract, command);
        if (problem === undefined) continue;
        const where = command.origin === "entrypoint" ? `the command of ${container.title}` : commandTitle(command);
        const { kind, word, why, place } = problem;
        if (kind === "absent") report(kind, { where, word, why }, place);
        else if (kind === "text" || kind === "nothing" || kind === "untold") report(kind, { where }, place);
        else report(kind, { where, word }, place);
      }
      if (container.entrypoint !== undefined || !isOfficialImage(container.image)) return;
      const data = { container: container.title };
      if (container.kind === "init" && !container.sidecar) report("endless", data, container.missing("command"));
      else if (
        container.kind === "container" &&
        !contract.planesOf(container.workload).some((p) => p.container === container)
      )
        report("builtin", data, container.missing("command"));
    },
    Plane(plane, { contract, report }) {
      const { container, role } = plane;
      const conf = plane.servers.find((s) => s.conf !== undefined)?.conf;
      if (container === undefined || conf === undefined) return;
      const unused = { container: container.title, conf: conf.name };
      const command = container.entrypoint;
      if (command === undefined) {
        if (isOfficialImage(container.image)) report("unused", unused, container.missing("command"));
        return;
      }
      const program = contract.shell.program(command);
      const starts = serverStarts(program, !command.explicit);
      const [first] = starts;
      if (first === undefined || !program.complete || starts.some((s) => s.uncertain)) return;
      const { place } = first.invocation;
      // `-` is a configuration from standard input
      const bare = starts.every(
        (s) => s.config === undefined && s.overrides.length === 0 && s.invocation.command.every((a) => a.known !== "-"),
      );
      if (bare) report("unused", unused, place);
      const title = { server: "data server", data: "data server", sentinel: "Sentinel" };
      if (starts.every((s) => (s.mode === "sentinel") !== (role === "sentinel")))
        report("mode", { container: container.title, started: title[first.mode], wanted: title[role] }, place);
    },
  },
});
