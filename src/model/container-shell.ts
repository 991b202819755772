/** What the commands of a contract's containers do: shell programs with the scripts that ConfigMaps mount. */
import type { TextView } from "../text/source.js";
import type { Contract } from "./contract.js";
import { normalizePath } from "./file-path.js";
import { isOfficialImage } from "./image.js";
import type { Command } from "./kubernetes/container-parts.js";
import { environmentOf, podNameVariables } from "./kubernetes/environment.js";
import type { Container } from "./kubernetes/workload.js";
import type { Plane } from "./plane.js";
import type { ConfigHome } from "./redis/config-home.js";
import { commandProgram, type Script, type ShellOptions, type ShellProgram, scriptProgram } from "./shell/index.js";
import type { ScriptText } from "./texts.js";
import { asArray, asObject, asString, hasToken } from "./value.js";

interface KeptProgram {
  readonly program: ShellProgram;
  readonly command: Command;
  /** What else of the container its values come from. */
  readonly given: readonly unknown[];
  /** Mounted scripts that were asked for. */
  readonly scripts: ReadonlyMap<string, TextView | undefined>;
}

/** Programs by the list of words in the document: contracts are built again and again from the same values. */
const programs = new WeakMap<readonly unknown[], KeptProgram>();

/** The same words at the same place of the same file. */
export function isSameCommand(a: Command, b: Command): boolean {
  if (a === b) return true;
  const [left, right] = [a.container, b.container];
  return (
    a.origin === b.origin &&
    a.lists.length === b.lists.length &&
    a.lists.every((list, i) => list === b.lists[i]) &&
    left.workload.input.file === right.workload.input.file &&
    left.workload.ref === right.workload.ref &&
    left.path.join("/") === right.path.join("/")
  );
}

type ReadOptions = Required<Pick<ShellOptions, "env" | "read" | "script">> & Pick<ShellOptions, "directory">;

/** Where a container's processes start. https://github.com/redis/docker-library-redis, https://github.com/valkey-io/valkey-container */
function workingDirectory({ image, spec }: Container): string | undefined {
  const directory = spec["workingDir"] ?? (isOfficialImage(image) ? "/data" : undefined);
  return typeof directory === "string" && directory.startsWith("/") && !hasToken(directory)
    ? normalizePath(directory)
    : undefined;
}

function givenTo({ container }: Command): readonly unknown[] {
  const { spec, workload } = container;
  return [spec["env"], spec["envFrom"], spec["workingDir"], spec["image"], workload.ownNamespace];
}

export class ContainerShell {
  /** Where servers' configurations live, as far as it was asked: see `configHome`. */
  readonly homes = new Map<Plane, ConfigHome | undefined>();
  readonly #contract: Contract;
  readonly #programs = new Map<Command, ShellProgram>();
  readonly #scripts = new Map<ScriptText, ShellProgram>();
  readonly #runs = new Map<ScriptText, Set<Command>>();
  #texts: ReadonlyMap<string, ScriptText> | undefined;

  constructor(contract: Contract) {
    this.#contract = contract;
  }

  /** The program of a command in a manifest, nested and mounted scripts included. */
  program(command: Command): ShellProgram {
    let program = this.#programs.get(command);
    if (program === undefined) {
      program = this.#kept(command) ?? this.#read(command);
      this.#programs.set(command, program);
    }
    return program;
  }

  /** The program as another contract read it, where every script that it asked for is still the same. */
  #kept(command: Command): ShellProgram | undefined {
    const kept = programs.get(command.lists[0]!);
    if (kept === undefined || !isSameCommand(kept.command, command)) return undefined;
    if (givenTo(command).some((value, i) => value !== kept.given[i])) return undefined;
    const found: ScriptText[] = [];
    for (const [path, view] of kept.scripts) {
      const script = this.mountedScript(command.container, path);
      if (script?.view !== view) return undefined;
      if (script !== undefined) found.push(script);
    }
    for (const script of found) this.#ran(script, command);
    return kept.program;
  }

  #read(command: Command): ShellProgram {
    const scripts = new Map<string, TextView | undefined>();
    let complete = true;
    const { env, directory, read, script } = this.#options(command.container, command);
    const program = commandProgram(command.words, {
      env,
      directory,
      read: (view) => {
        const ast = read(view);
        complete &&= ast !== undefined;
        return ast;
      },
      script: (path) => {
        const text = this.mountedScript(command.container, path);
        scripts.set(path, text?.view);
        complete &&= text === undefined || read(text.view) !== undefined;
        return script(path);
      },
    });
    // without the grammar a program is a guess
    if (complete) programs.set(command.lists[0]!, { program, command, given: givenTo(command), scripts });
    return program;
  }

  /** The program as it runs in one pod of a set: its name is known. */
  inPod(command: Command, pod: string): ShellProgram {
    const { container } = command;
    const { env, ...options } = this.#options(container, command);
    const named = podNameVariables(container);
    return commandProgram(command.words, { ...options, env: (name) => (named.has(name) ? pod : env(name)) });
  }

  #ran(script: ScriptText, command: Command): void {
    let runs = this.#runs.get(script);
    if (runs === undefined) this.#runs.set(script, (runs = new Set()));
    runs.add(command);
  }

  /** The program of a script file, or of a ConfigMap's script that no command runs. */
  scriptProgram(text: ScriptText): ShellProgram {
    let program = this.#scripts.get(text);
    if (program === undefined) {
      const ast = this.#contract.parsers.shellAst(text.view.text);
      program = ast === undefined ? EMPTY : scriptProgram({ view: text.view, ast });
      this.#scripts.set(text, program);
    }
    return program;
  }

  /** The commands that run a ConfigMap's script. */
  runsOf(text: ScriptText): readonly Command[] {
    for (const workload of this.#contract.workloads) {
      for (const container of workload.containers) for (const command of container.commands) this.program(command);
    }
    return [...(this.#runs.get(text) ?? [])];
  }

  /** Text of a file that a ConfigMap volume mounts at a path of a container. */
  mountedScript(container: Container, path: string): ScriptText | undefined {
    const mount = container.mountOf(path);
    if (mount?.volume === undefined) return undefined;
    const rest = mount.subPath ?? normalizePath(path).slice(mount.mountPath.length).replace(/^\//, "");
    const sources =
      mount.volume.type === "configMap"
        ? [mount.volume.spec]
        : mount.volume.type === "projected"
          ? asArray(mount.volume.spec["sources"]).map((s) => asObject(asObject(s)["configMap"]))
          : [];
    for (const source of sources) {
      const items = asArray(source["items"]).map(asObject);
      const item = items.find((i) => i["path"] === rest);
      const key = items.length === 0 ? rest : asString(item?.["key"]);
      const name = asString(source["name"]);
      if (name === undefined || key === undefined) continue;
      const found = this.#byKey().get(`${container.workload.namespace}/${name}#${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #byKey(): ReadonlyMap<string, ScriptText> {
    if (this.#texts === undefined) {
      const texts = new Map<string, ScriptText>();
      for (const script of this.#contract.scripts) {
        if (script.owner?.kind === "ConfigMap")
          texts.set(`${script.owner.namespace}/${script.owner.name}#${script.key}`, script);
      }
      this.#texts = texts;
    }
    return this.#texts;
  }

  #options(container: Container, command: Command): ReadOptions {
    const env = environmentOf(container);
    const read = (view: TextView) => this.#contract.parsers.shellAst(view.text);
    return {
      env: (name) => env.get(name),
      directory: workingDirectory(container),
      read,
      script: (path): Script | undefined => {
        const text = this.mountedScript(container, path);
        const ast = text === undefined ? undefined : read(text.view);
        if (text === undefined || ast === undefined) return undefined;
        this.#ran(text, command);
        return { view: text.view, ast };
      },
    };
  }
}

const EMPTY: ShellProgram = {
  flow: { type: "unknown", ends: undefined },
  invocations: [],
  traps: [],
  errexit: false,
  pipefail: false,
  complete: false,
};
