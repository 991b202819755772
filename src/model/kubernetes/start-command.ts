/** Whether what a container, probe or hook is told to run can be started at all. */
import type { Contract } from "../contract.js";
import { normalizePath } from "../file-path.js";
import { isOfficialImage } from "../image.js";
import type { Place } from "../place.js";
import { baseName, SHELL } from "../shell/index.js";
import { asArray, asObject, hasToken } from "../value.js";
import type { Command } from "./container-parts.js";
import { missingFile } from "./pod-writes.js";
import type { Container } from "./workload.js";

/**
 * `option`: the first word is an option. `illegal`: no shell has the option. `text`: `-c` without one. `nothing`: a shell
 * without a script. `untold`: a text that a shell takes for a file name, because `-c` is missing. `absent`: the script is
 * not there. `permission`: it is there and may not be executed. `data`: a configuration or key file, which is no program.
 */
export interface StartProblem {
  readonly kind: "option" | "illegal" | "text" | "nothing" | "untold" | "absent" | "permission" | "data";
  readonly word: string;
  /** For `absent`: why the file is not there. */
  readonly why: string;
  readonly place: Place;
}

/** Option letters of bash, dash and busybox together. */
const LETTERS = /^[abcefhiklmnopqrstuvxBCDEHIOPTV]+$/;
const DATA = /\.(?:conf|acl|ya?ml|json|pem|crt|key|properties|tmpl)$/;

/** undefined: nothing speaks against it, or the files do not say. https://pubs.opengroup.org/onlinepubs/9699919799/utilities/sh.html */
export function startProblem(contract: Contract, command: Command): StartProblem | undefined {
  const { container, words } = command;
  // before `args` alone stands the entrypoint of the image; that of the official ones runs them as a command
  if (!command.explicit && !isOfficialImage(container.image)) return undefined;
  const first = words[0];
  if (first === undefined || !isPlain(first)) return undefined;
  const problem = (kind: StartProblem["kind"], at: (typeof words)[number], why = ""): StartProblem => ({
    kind,
    word: at.text.length > 60 ? `${at.text.slice(0, 60)}…` : at.text,
    why,
    place: at.place,
  });
  const start = { first: command.origin === "entrypoint" };
  if (first.text.startsWith("-")) return command.explicit ? problem("option", first) : undefined;
  if (!SHELL.test(baseName(first.text))) {
    if (!first.text.startsWith("/")) return undefined;
    if (DATA.test(first.text) && command.explicit) return problem("data", first);
    const why = missingFile(contract, container, first.text, start);
    if (why !== undefined) return problem("absent", first, why);
    return notExecutable(container, first.text) ? problem("permission", first) : undefined;
  }
  let [runsText, readsInput] = [false, false];
  let i = 1;
  for (; i < words.length; i++) {
    const word = words[i]!;
    if (!isPlain(word)) return undefined;
    const { text } = word;
    if (text === "--") {
      i++;
      break;
    }
    if (text === "-" || text.startsWith("--")) return undefined;
    if (!/^[-+]/.test(text)) break;
    if (!/^[A-Za-z]+$/.test(text.slice(1))) return problem("illegal", word);
    if (!LETTERS.test(text.slice(1))) return undefined;
    runsText ||= text.includes("c");
    readsInput ||= text.includes("s");
    if (/o$/i.test(text)) i++;
  }
  const operand = words[i];
  if (operand === undefined) {
    if (runsText) return problem("text", words.at(-1)!);
    const { stdin, tty } = container.spec;
    return readsInput || stdin === true || tty === true ? undefined : problem("nothing", first);
  }
  if (runsText) {
    // a text that is nothing but a program; whether it is there is the matter of k8s/script-file
    const path = /^\s*(?:exec\s+)?(\/[\w./-]+)\s*$/.exec(operand.text)?.[1];
    return path !== undefined && operand.scalar && isUnrunnable(contract, container, path)
      ? { ...problem("permission", operand), word: path }
      : undefined;
  }
  if (!isPlain(operand)) return undefined;
  if (/[\s|;&<>]/.test(operand.text)) return problem("untold", operand);
  const why = missingFile(contract, container, operand.text, start);
  return why === undefined ? undefined : problem("absent", operand, why);
}

function isPlain(word: Command["words"][number]): boolean {
  return word.scalar && word.text !== "" && !hasToken(word.text) && !word.text.includes("$(");
}

/** The file may be there, and may not be run. */
function isUnrunnable(contract: Contract, container: Container, path: string): boolean {
  return notExecutable(container, path) && missingFile(contract, container, path) === undefined;
}

/** A file of a ConfigMap or Secret is 0644 unless its volume says otherwise: it can be read by a shell, not run. */
function notExecutable(container: Container, path: string): boolean {
  const mount = container.mountOf(path);
  const { volume } = mount ?? {};
  if (mount === undefined || volume === undefined || (volume.type !== "configMap" && volume.type !== "secret"))
    return false;
  const below = mount.subPath ?? normalizePath(path).slice(mount.mountPath.length + 1);
  const item = asArray(volume.spec["items"])
    .map(asObject)
    .find((one) => one["path"] === below);
  const mode = item?.["mode"] ?? volume.spec["defaultMode"] ?? 0o644;
  return typeof mode === "number" && (mode & 0o111) === 0;
}
