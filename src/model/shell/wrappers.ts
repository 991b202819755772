/** Commands that run the command in their arguments. */
import type { Arg, EnvironmentFact, Wrapper } from "./program.js";
import { baseName, makeText, type Text } from "./text.js";

export interface Stripped {
  readonly command: readonly Arg[];
  readonly wrappers: readonly Wrapper[];
  readonly environment: readonly EnvironmentFact[];
  /** `exec CMD`: the shell is gone. */
  readonly replaces: boolean;
}

/** Options that take a value, by wrapper; every other option is one word. `operands`: words between options and the command. */
const WRAPPERS: Readonly<Record<string, { readonly values: string; readonly operands: number }>> = {
  exec: { values: "a", operands: 0 },
  command: { values: "", operands: 0 },
  builtin: { values: "", operands: 0 },
  time: { values: "of", operands: 0 },
  nohup: { values: "", operands: 0 },
  setsid: { values: "", operands: 0 },
  nice: { values: "n", operands: 0 },
  ionice: { values: "cn", operands: 0 },
  stdbuf: { values: "", operands: 0 },
  timeout: { values: "sk", operands: 1 },
  env: { values: "uCS", operands: 0 },
  tini: { values: "pe", operands: 0 },
  "tini-static": { values: "pe", operands: 0 },
  "dumb-init": { values: "r", operands: 0 },
  catatonit: { values: "", operands: 0 },
  "su-exec": { values: "", operands: 1 },
  gosu: { values: "", operands: 1 },
  chroot: { values: "", operands: 1 },
  setpriv: { values: "", operands: 0 },
  sudo: { values: "ugCDhpRrTtU", operands: 0 },
  doas: { values: "uC", operands: 0 },
  runuser: { values: "ugGs", operands: 0 },
  xargs: { values: "adEILnPs", operands: 0 },
  busybox: { values: "", operands: 0 },
  flock: { values: "wEc", operands: 1 },
};

const LONG_VALUES: Readonly<Record<string, readonly string[]>> = {
  timeout: ["--signal", "--kill-after"],
  nice: ["--adjustment"],
  env: ["--unset", "--chdir"],
  setpriv: ["--reuid", "--regid", "--groups"],
  sudo: ["--user", "--group"],
  runuser: ["--user", "--group"],
  flock: ["--timeout", "--conflict-exit-code"],
  xargs: ["--max-args", "--max-procs", "--replace", "--delimiter"],
};

/** Removes wrappers from the front of a command. */
export function stripWrappers(words: readonly Arg[]): Stripped {
  let at = 0;
  const wrappers: Wrapper[] = [];
  const environment: EnvironmentFact[] = [];
  let replaces = false;
  while (at < words.length) {
    const known = words[at]!.known;
    if (known === undefined) break;
    const name = baseName(known);
    if (/entrypoint\.sh$/.test(name) && at + 1 < words.length) {
      wrappers.push({ name });
      at++;
      continue;
    }
    const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name]! : undefined;
    if (wrapper === undefined) break;
    let next = at + 1;
    let timeout: Text | undefined;
    let stop = false;
    for (; next < words.length; next++) {
      const option = words[next]!.known;
      if (option === undefined || !option.startsWith("-") || option === "-") break;
      if (option === "--") {
        next++;
        break;
      }
      if (name === "command" && /^-[vV]/.test(option)) stop = true;
      if (option.startsWith("--")) {
        if (LONG_VALUES[name]?.includes(option)) next++;
      } else if (name === "timeout" && option === "-t") {
        // BusyBox before 1.30
        timeout = words[++next];
      } else if (option.length === 2 && wrapper.values.includes(option[1]!)) next++;
    }
    if (stop) break;
    if (name === "env") {
      for (; next < words.length; next++) {
        const assignment = words[next]!;
        const first = assignment.pieces[0];
        const match = typeof first === "string" ? /^([A-Za-z_]\w*)=/.exec(first) : null;
        if (match === null) break;
        const value = makeText([(first as string).slice(match[0].length), ...assignment.pieces.slice(1)]);
        environment.push({ name: match[1]!, value, place: assignment.place });
      }
    }
    if (wrapper.operands > 0 && timeout === undefined) {
      if (name === "timeout") timeout = words[next];
      next += wrapper.operands;
    }
    if (next >= words.length) {
      // Nothing left to run: `exec 9>lock`, `flock -n 9`, `env`.
      break;
    }
    wrappers.push(timeout === undefined ? { name } : { name, timeout });
    if (name === "exec") replaces = true;
    at = next;
  }
  return { command: words.slice(at), wrappers, environment, replaces };
}

/** The command that another machine or container runs: `kubectl exec pod -- redis-cli ping`; undefined when this is none. */
export function remoteCommand(command: readonly Arg[]): readonly Arg[] | undefined {
  const name = command[0]?.known === undefined ? undefined : baseName(command[0].known);
  if (
    name === undefined ||
    !["kubectl", "oc", "k3s", "multipass", "docker", "podman", "nerdctl", "ssh", "crictl"].includes(name)
  )
    return undefined;
  if (!command.some((arg) => arg.known === "exec" || arg.known === "run" || arg.known === "shell") && name !== "ssh")
    return undefined;
  const dashes = command.findIndex((arg) => arg.known === "--");
  if (dashes >= 0) return dashes + 1 < command.length ? command.slice(dashes + 1) : undefined;
  return undefined;
}
