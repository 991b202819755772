/** Files that certainly are not there when a container looks for them: nothing mounts them, and nothing in the pod writes them. */
import type { Contract } from "../contract.js";
import { normalizePath } from "../file-path.js";
import { isOfficialImage } from "../image.js";
import { pathIn } from "../redis/config-home.js";
import { editsOf, type Invocation, isPath, type ShellProgram, type Text } from "../shell/index.js";
import { hasToken } from "../value.js";
import type { Mount } from "./container-parts.js";
import { podFile } from "./pod-file.js";
import type { Container } from "./workload.js";

/** Why a file is not there that no volume holds. */
export const UNMOUNTED = "no volume is mounted there";

/** Directories that an image fills, or that are filled while it runs. */
const OF_THE_IMAGE =
  /^\/(?:bin|boot|data|dev|etc|home|lib\w*|media|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)(?:\/|$)/;

export interface When {
  /** A program renames it away each time: a claim of the pod holds none from before. */
  readonly fresh?: boolean;
  /** Before anything in the container ran. */
  readonly first?: boolean;
}

/** Why the file at an absolute path is certainly not there; undefined: it may be. */
export function missingFile(
  contract: Contract,
  container: Container,
  path: string,
  when: When = {},
): string | undefined {
  if (!path.startsWith("/") || hasToken(path)) return undefined;
  const file = normalizePath(path);
  const { state, mount } = podFile(contract, container, file);
  if (state === "lacks") return `the volume ${mount!.name} has no such file`;
  if (state === "unmounted") {
    // what stands in the file system of another image is not known
    if (!isOfficialImage(container.image) || OF_THE_IMAGE.test(file) || !/^\/[^/]+\//.test(file)) return undefined;
    const open = container.security("readOnlyRootFilesystem", false).value !== true && when.first !== true;
    return open && mayWrite(contract, container, file, undefined, false) ? undefined : UNMOUNTED;
  }
  const { volume } = mount!;
  if (volume === undefined || file === mount!.mountPath || mount!.subPath !== undefined) return undefined;
  // a volume that names no source is an emptyDir too
  if (volume.type !== "emptyDir" && !(when.fresh === true && volume.type === "claimTemplate")) return undefined;
  for (const other of container.workload.containers) {
    const own = pathIn(other, container, mount, file);
    if (own !== undefined && mayWrite(contract, other, own, mount!.name, when.fresh !== true)) return undefined;
  }
  return `nothing in the pod writes it`;
}

/** Whether something that runs before a container, or it itself, may write a file of one of its volumes. */
export function mayBeSeeded(contract: Contract, container: Container, mount: Mount, path: string): boolean {
  return container.workload.containers.some((other) => {
    if (other !== container && other.kind !== "init") return false;
    // the official images start a server, which makes no configuration
    if (other.entrypoint === undefined && isOfficialImage(other.image)) return false;
    const own = pathIn(other, container, mount, path);
    return own !== undefined && mayWrite(contract, other, own, mount.name, false);
  });
}

const answers = new WeakMap<ShellProgram, Map<string, boolean>>();

const SERVER = /^(?:redis|valkey|keydb)-(?:server|sentinel)$/;

/** Whether some program of a container may write the file, or one below it; `servers`: Redis itself too. */
function mayWrite(contract: Contract, container: Container, file: string, volume?: string, servers = true): boolean {
  if (volume !== undefined && container.mounts.every((m) => m.name !== volume || m.readOnly)) return false;
  const { commands } = container;
  if (container.entrypoint === undefined) return true;
  return commands.some((command) => {
    const program = contract.shell.program(command);
    let known = answers.get(program);
    if (known === undefined) answers.set(program, (known = new Map()));
    const key = `${servers ? "+" : "-"}${file}`;
    let answer = known.get(key);
    if (answer === undefined)
      known.set(
        key,
        (answer =
          !program.complete ||
          program.invocations.some((i) => (servers || !SERVER.test(i.name ?? "")) && writes(i, file))),
      );
    return answer;
  });
}

/** Commands that write no file but those that are read off their words. */
const QUIET = new Set(
  "[ [[ (( test : true false echo printf cat sync sleep chmod chown chgrp umask cd export local readonly declare typeset unset shift set trap exec date hostname id env rm rmdir basename dirname tr cut uniq seq expr ulimit wc head tail stat ls od wait return exit break continue eval . source read let kill pgrep grep egrep fgrep sed cp mv ln install touch truncate find getent nslookup host dig ping nc redis-cli valkey-cli command which type uname whoami nproc".split(
    " ",
  ),
);

function writes(invocation: Invocation, file: string): boolean {
  const { name, command } = invocation;
  // an assignment
  if (command.length > 0) {
    if (name === undefined) return true;
    const nested = invocation.nested !== undefined;
    if (!nested && !QUIET.has(name) && name !== "mkdir") return true;
    if (name === "find" && command.some((a) => /^-(?:exec|ok|fprint|fls|delete)/.test(a.known ?? ""))) return true;
    if ((name === "redis-cli" || name === "valkey-cli") && command.some((a) => /rdb$/.test(a.known ?? ""))) return true;
    if (name === "mkdir" && command.slice(1).some((a) => touches(a, file))) return true;
  }
  if (invocation.redirects.some((r) => r.op.includes(">") && r.target !== undefined && touches(r.target, file)))
    return true;
  return editsOf(invocation).some(
    (e) => e.kind !== "remove" && (touches(e.target, file) || (e.inside !== undefined && touches(e.inside, file))),
  );
}

/** Whether a text may name the file, or something below it. */
function touches(text: Text, file: string): boolean {
  const [start] = text.pieces;
  // where the script stands, or what a variable begins with, is not followed
  if (typeof start === "string" && !start.startsWith("/")) return !/^\d+$|^-$/.test(text.known ?? "");
  if (typeof start === "string" && start.startsWith(`${file}/`)) return true;
  return isPath(text, file) !== "no";
}
