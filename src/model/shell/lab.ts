/** Facts about lifecycle scripts: what they destroy, download, install, lock, and which cluster they talk to. */
import { somePart, type Test, testOf } from "./conditions.js";
import { editsOf } from "./edits.js";
import { succeedsBefore } from "./order.js";
import type { Arg, Invocation, RedirectFact, ShellProgram } from "./program.js";
import { baseName, directoryOf, literal, makeText, runsOf, sameText, show, type Text } from "./text.js";

// ---- destruction

export interface Destruction {
  /** `purge`: `multipass purge`; `all`: `--all`; `wildcard`: a pattern; `listed`: whatever another command lists. */
  readonly kind: "purge" | "all" | "wildcard" | "listed";
  readonly arg: Arg;
  readonly invocation: Invocation;
}

/** Deletions of more than named virtual machines. */
export function destructions(program: ShellProgram): Destruction[] {
  const out: Destruction[] = [];
  for (const invocation of program.invocations) {
    if (invocation.name !== "multipass") continue;
    const args = invocation.command.slice(1);
    const verb = args.find((arg) => !(arg.known ?? "").startsWith("-"));
    const known = verb?.known;
    if (verb === undefined || known === undefined) continue;
    if (known === "purge") out.push({ kind: "purge", arg: verb, invocation });
    for (const arg of args) {
      if (arg === verb) continue;
      if (arg.known === "--all" && ["delete", "stop", "suspend", "restart", "recover"].includes(known))
        out.push({ kind: "all", arg, invocation });
      const glob =
        (arg.known !== undefined && /[*?]/.test(arg.known)) ||
        arg.pieces.some((piece) => typeof piece !== "string" && piece.kind === "glob");
      if (glob) out.push({ kind: "wildcard", arg, invocation });
      if (known === "delete" && runsOf(arg).some((run) => run.name === "multipass"))
        out.push({ kind: "listed", arg, invocation });
    }
  }
  // `multipass list | xargs multipass delete`
  for (const invocation of program.invocations) {
    if (invocation.name !== "multipass" || !invocation.wrappers.some((wrapper) => wrapper.name === "xargs")) continue;
    const verb = invocation.command[1];
    if (verb?.known === "delete") out.push({ kind: "listed", arg: verb, invocation });
  }
  return out;
}

// ---- downloads

export interface Download {
  readonly invocation: Invocation;
  readonly url: Text | undefined;
  /** The file that it makes; undefined: its output. */
  readonly output: Text | undefined;
  /** A shell that runs what was downloaded without keeping it: `curl … | sh`, `sh -c "$(curl …)"`, `bash <(curl …)`. */
  readonly runBy: Invocation | undefined;
}

const SHELL = /^(?:ba|da|a|z|k)?sh$/;

export function downloads(program: ShellProgram): Download[] {
  const out: Download[] = [];
  const users = new Map<Invocation, Invocation>();
  for (const invocation of program.invocations) {
    if (
      !SHELL.test(invocation.name ?? "") &&
      invocation.name !== "eval" &&
      invocation.name !== "." &&
      invocation.name !== "source"
    )
      continue;
    for (const arg of invocation.command) for (const run of runsOf(arg)) users.set(run, invocation);
  }
  for (const invocation of program.invocations) {
    const { name, command } = invocation;
    if (name !== "curl" && name !== "wget") continue;
    const args = command.slice(1);
    const url =
      args.find((arg) => /^(?:https?|ftp):\/\//.test(typeof arg.pieces[0] === "string" ? arg.pieces[0] : "")) ??
      args.find((arg) => variableUrl(arg));
    let output: Text | undefined = editsOf(invocation).find(
      (edit) => edit.kind === "write" || edit.kind === "append",
    )?.target;
    if (output === undefined && url?.known !== undefined) {
      const saved =
        name === "wget"
          ? !args.some((arg) => arg.known === "-" || arg.known === "-qO-" || arg.known === "-O-")
          : args.some((arg) => arg.known === "--remote-name" || /^-[a-zA-Z]*O$/.test(arg.known ?? ""));
      if (saved) output = literal(baseName(url.known));
    }
    let runBy: Invocation | undefined = users.get(invocation);
    const seen = new Set<Invocation>();
    for (
      let next = invocation.pipedTo;
      next !== undefined && !seen.has(next) && runBy === undefined;
      next = next.pipedTo
    ) {
      seen.add(next);
      if (SHELL.test(next.name ?? "")) runBy = next;
    }
    out.push({ invocation, url, output, runBy });
  }
  return out;
}

function variableUrl(arg: Arg): boolean {
  return arg.pieces.some(
    (piece) => typeof piece !== "string" && piece.kind === "variable" && /URL|URI/i.test(piece.name ?? ""),
  );
}

// ---- checks of digests

export interface DigestCheck {
  readonly invocation: Invocation;
  /** The file that is checked; undefined: the list that `-c` reads names it. */
  readonly file: Text | undefined;
}

const DIGEST = /^(?:sha256sum|shasum|sha512sum|openssl)$/;

/** Commands that fail when a file's digest is another: `sha256sum -c`, or a test that compares a digest. */
export function digestChecks(program: ShellProgram): DigestCheck[] {
  const out: DigestCheck[] = [];
  for (const invocation of program.invocations) {
    const { command, name } = invocation;
    if (
      name !== undefined &&
      DIGEST.test(name) &&
      command.some((arg) => /^-[a-z]*c$|^--check$/.test(arg.known ?? ""))
    ) {
      out.push({ invocation, file: listedFile(invocation) });
    }
    const test = testOf(invocation);
    if (test === undefined || !comparesEqual(test)) continue;
    for (const run of command.flatMap(runsOf)) {
      if (run.name === undefined || !DIGEST.test(run.name)) continue;
      const file = run.command
        .slice(1)
        .find((arg) => !(arg.known ?? "").startsWith("-") && arg.known !== "dgst" && arg.known !== "256");
      const input = run.redirects.find((redirect) => redirect.op === "<")?.target;
      out.push({ invocation, file: file ?? input });
    }
  }
  return out;
}

function comparesEqual(test: Test): boolean {
  return somePart(test, (part) => part.kind === "compare" && (part.op === "=" || part.op === "==" || part.op === "!="));
}

/** `echo "$SHA  file" | sha256sum -c -` */
function listedFile(invocation: Invocation): Text | undefined {
  const from = invocation.pipedFrom;
  const here = invocation.redirects.find((redirect) => redirect.op === "<<<")?.target;
  const line =
    here ??
    (from?.name === "echo" || from?.name === "printf"
      ? makeText(from.command.slice(1).flatMap((arg, i) => (i === 0 ? [...arg.pieces] : [" ", ...arg.pieces])))
      : undefined);
  if (line === undefined) return undefined;
  // The name stands behind the two characters between digest and name.
  for (let i = line.pieces.length - 1; i >= 0; i--) {
    const piece = line.pieces[i]!;
    if (typeof piece !== "string") continue;
    const match = /^(.*\s[ *]?)([^\s]*)\s*$/s.exec(piece.replace(/\\n$/, ""));
    if (match !== null) return makeText([match[2]!, ...line.pieces.slice(i + 1)]);
  }
  return undefined;
}

// ---- use of files

export interface Install {
  /** `install`: put into a place for programs; `execute`: run; `unpack`; `transfer`: given to another machine. */
  readonly kind: "install" | "execute" | "unpack" | "transfer";
  readonly file: Text;
  readonly invocation: Invocation;
}

const PROGRAM_DIRECTORY = /^(?:\/usr(?:\/local)?\/s?bin|\/opt|\/s?bin|.*\/\.local\/bin)(?:\/|$)/;

/** Commands that put a file to use. */
export function installs(program: ShellProgram): Install[] {
  const out: Install[] = [];
  for (const invocation of program.invocations) {
    const { name, command } = invocation;
    for (const edit of editsOf(invocation)) {
      const source = edit.sources[0];
      if (source === undefined) continue;
      if (name === "install" || PROGRAM_DIRECTORY.test(directoryOf(edit.target) ?? ""))
        out.push({ kind: "install", file: source, invocation });
    }
    if (name === "chmod" && command.some((arg) => /^(?:[ua]*\+x|0?[57]55)$/.test(arg.known ?? ""))) {
      for (const file of command.slice(2)) out.push({ kind: "install", file, invocation });
    }
    if (name === "tar" && /^-?[a-z]*x/.test(command[1]?.known ?? "")) {
      const at = command.findIndex((arg) => /^-?[a-z]*f$/.test(arg.known ?? ""));
      const file = command[at + 1];
      if (at >= 0 && file !== undefined) out.push({ kind: "unpack", file, invocation });
    }
    if (name === "unzip" || name === "gunzip") {
      const file = command.slice(1).find((arg) => !(arg.known ?? "").startsWith("-"));
      if (file !== undefined) out.push({ kind: "unpack", file, invocation });
    }
    if (name !== undefined && SHELL.test(name)) {
      const file = command.slice(1).find((arg) => !(arg.known ?? "").startsWith("-"));
      if (file !== undefined && !command.some((arg) => /^-[a-z]*c$/.test(arg.known ?? "")))
        out.push({ kind: "execute", file, invocation });
    }
    const first = command[0];
    if (first !== undefined && /^\.{0,2}\//.test(typeof first.pieces[0] === "string" ? first.pieces[0] : ""))
      out.push({ kind: "execute", file: first, invocation });
    if ((name === "multipass" && command[1]?.known === "transfer") || name === "scp") {
      for (const file of command.slice(name === "scp" ? 1 : 2, -1))
        if (!(file.known ?? "").startsWith("-")) out.push({ kind: "transfer", file, invocation });
    }
  }
  return out;
}

/**
 * Whether a digest check of the file stands before its use on every path, and its failure keeps the use from happening.
 * A check whose file is not known counts for every file.
 */
export function checkedBefore(
  program: ShellProgram,
  use: Install,
  checks: readonly DigestCheck[] = digestChecks(program),
): boolean | undefined {
  const fitting = checks
    .filter((check) => check.file === undefined || sameFile(check.file, use.file))
    .map((check) => check.invocation);
  if (fitting.length === 0) return program.complete ? false : undefined;
  return succeedsBefore(program, fitting, use.invocation);
}

function sameFile(a: Text, b: Text): boolean {
  return sameText(a, b) || baseName(show(a)) === baseName(show(b));
}

// ---- clusters

export interface ClusterCall {
  readonly invocation: Invocation;
  readonly tool: "kubectl" | "helm";
  /** `get`, `config view`, …; undefined: not known. */
  readonly verb: string | undefined;
  readonly kubeconfig: Text | undefined;
  readonly context: Text | undefined;
  /** Words that are not known stand among the options. */
  readonly uncertain: boolean;
}

const CLUSTER_VALUES = new Set(
  "--kubeconfig --context --kube-context --namespace -n --cluster --user --server -s --request-timeout --as --token --cache-dir -f --filename -o --output -l --selector --timeout --for -c --container".split(
    " ",
  ),
);

/** Calls of kubectl, `k3s kubectl` and helm. */
export function clusterCalls(program: ShellProgram): ClusterCall[] {
  const out: ClusterCall[] = [];
  for (const invocation of program.invocations) {
    let { command } = invocation;
    if (invocation.name === "k3s" && command[1]?.known === "kubectl") command = command.slice(1);
    else if (invocation.name !== "kubectl" && invocation.name !== "oc" && invocation.name !== "helm") continue;
    let kubeconfig: Text | undefined;
    let context: Text | undefined;
    let uncertain = false;
    const operands: Arg[] = [];
    for (let i = 1; i < command.length; i++) {
      const arg = command[i]!;
      const first = arg.pieces[0];
      if (arg.known === "--") break;
      if (typeof first !== "string" || !first.startsWith("-")) {
        if (
          arg.known === undefined &&
          arg.pieces.some((piece) => typeof piece !== "string" && (piece.split || piece.kind === "arguments"))
        )
          uncertain = true;
        operands.push(arg);
        continue;
      }
      const equals = first.indexOf("=");
      const option = equals < 0 ? first : first.slice(0, equals);
      const value =
        equals >= 0
          ? makeText([first.slice(equals + 1), ...arg.pieces.slice(1)])
          : CLUSTER_VALUES.has(option)
            ? command[++i]
            : undefined;
      if (option === "--kubeconfig") kubeconfig = value;
      if (option === "--context" || option === "--kube-context") context = value;
    }
    const environment =
      invocation.environment.find((fact) => fact.name === "KUBECONFIG")?.value ?? invocation.exported.get("KUBECONFIG");
    const [verb, sub] = operands;
    const compound = verb?.known === "config" || verb?.known === "auth" || verb?.known === "rollout";
    out.push({
      invocation,
      tool: invocation.name === "helm" ? "helm" : "kubectl",
      verb:
        verb?.known === undefined
          ? undefined
          : compound && sub?.known !== undefined
            ? `${verb.known} ${sub.known}`
            : verb.known,
      kubeconfig: kubeconfig ?? environment,
      context,
      uncertain,
    });
  }
  return out;
}

/** Writes to the user's own kubeconfig. */
export function kubeconfigWrites(program: ShellProgram): { readonly invocation: Invocation; readonly target: Text }[] {
  const out: { invocation: Invocation; target: Text }[] = [];
  for (const invocation of program.invocations) {
    for (const edit of editsOf(invocation)) {
      if (
        /(?:^|\/)\.kube\/config$/.test(show(edit.target)) ||
        /(?:^|\/)\.kube\/config$/.test(edit.inside === undefined ? "" : show(edit.inside))
      )
        out.push({ invocation, target: edit.target });
    }
  }
  return out;
}

// ---- time limits

/** Programs that may wait for another machine. */
const REMOTE = new Set(
  "kubectl oc helm k3s multipass curl wget ssh scp rsync docker podman redis-cli valkey-cli nc ncat ping git apt-get getent nslookup dig".split(
    " ",
  ),
);

/** Options that bound how long a program takes. */
const LIMITS: Readonly<Record<string, RegExp>> = {
  curl: /^(?:--max-time|-m)(?:=|$)/,
  wget: /^(?:--timeout|-T)(?:=|\d|$)/,
  kubectl: /^(?:--timeout|--request-timeout)(?:=|$)/,
  oc: /^(?:--timeout|--request-timeout)(?:=|$)/,
  helm: /^--timeout(?:=|$)/,
  multipass: /^(?:--timeout)(?:=|$)/,
  nc: /^-[a-z]*w\d*$/,
  ncat: /^-[a-z]*w\d*$/,
  ping: /^-[wW]\d*$/,
  "redis-cli": /^-t$/,
  "valkey-cli": /^-t$/,
  ssh: /^-oConnectTimeout|^ConnectTimeout=/,
  scp: /^-oConnectTimeout|^ConnectTimeout=/,
  dig: /^\+time=/,
};

/** Whether a command needs a time limit, and has one: by `timeout`, or by an option of its own. */
export function timeLimit(invocation: Invocation): "given" | "missing" | "not needed" {
  if (invocation.wrappers.some((wrapper) => wrapper.timeout !== undefined)) return "given";
  for (const frame of invocation.frames) {
    if (
      frame.flow.type === "run" &&
      frame.flow.invocation.wrappers.some((wrapper) => wrapper.timeout !== undefined) &&
      frame.slot === 1001
    )
      return "given";
  }
  const { name } = invocation;
  if (name === undefined || !REMOTE.has(name)) return "not needed";
  const limit = LIMITS[name];
  return limit !== undefined &&
    invocation.command.some((arg) => limit.test(typeof arg.pieces[0] === "string" ? arg.pieces[0] : ""))
    ? "given"
    : "missing";
}

// ---- locks, options, umask

export interface Lock {
  readonly invocation: Invocation;
  readonly nonBlocking: boolean;
  readonly exclusive: boolean;
  /** A descriptor number or a file. */
  readonly on: Text | undefined;
}

export function locks(program: ShellProgram): Lock[] {
  const out: Lock[] = [];
  for (const invocation of program.invocations) {
    const at = invocation.words.findIndex((word) => word.known !== undefined && baseName(word.known) === "flock");
    if (at < 0 || (at > 0 && invocation.wrappers.length === 0)) continue;
    const args = invocation.words.slice(at + 1);
    let i = 0;
    let nonBlocking = false;
    let exclusive = true;
    for (; i < args.length; i++) {
      const word = args[i]!.known;
      if (word === undefined || !word.startsWith("-")) break;
      if (/^-[a-z]*n|^--nonblock|^--nb/.test(word)) nonBlocking = true;
      if (/^-[a-z]*s|^--shared/.test(word)) exclusive = false;
      if (word === "-w" || word === "-E" || word === "--timeout" || word === "--conflict-exit-code") i++;
    }
    out.push({ invocation, nonBlocking, exclusive, on: args[i] });
  }
  return out;
}

/** Whether a command runs with a descriptor closed (`9>&-`). */
export function closesDescriptor(invocation: Invocation, fd: number): boolean {
  return invocation.redirects.some(
    (redirect: RedirectFact) => redirect.fd === fd && (redirect.op.endsWith("&-") || redirect.target?.known === "-"),
  );
}

export interface Strictness {
  readonly errexit: boolean;
  readonly nounset: boolean;
  readonly pipefail: boolean;
}

/** Options that are set for the whole script: by its first line, or by `set` before anything but assignments. */
export function strictness(program: ShellProgram): Strictness {
  let { errexit, pipefail } = program;
  let nounset = false;
  for (const invocation of program.invocations) {
    if (
      !invocation.reached ||
      invocation.frames.some(
        (frame) => frame.flow.type !== "seq" && frame.flow.type !== "run" && frame.flow.type !== "sub",
      )
    )
      break;
    const [first, ...rest] = invocation.command;
    if (first === undefined || first.known === "umask" || first.known === "export" || first.known === "readonly")
      continue;
    if (first.known !== "set") break;
    rest.forEach((arg, i) => {
      const word = arg.known ?? "";
      if (/^-[A-Za-z]+$/.test(word)) {
        if (word.includes("e")) errexit = true;
        if (word.includes("u")) nounset = true;
      }
      if (/^-[A-Za-z]*o$/.test(rest[i - 1]?.known ?? "")) {
        if (word === "errexit") errexit = true;
        if (word === "nounset") nounset = true;
        if (word === "pipefail") pipefail = true;
      }
    });
  }
  return { errexit, nounset, pipefail };
}

/** `umask` commands that set a mask, in order. */
export function umasks(program: ShellProgram): { readonly invocation: Invocation; readonly mask: Text }[] {
  return program.invocations.flatMap((invocation) => {
    const mask =
      invocation.name === "umask" ? invocation.command.slice(1).find((arg) => arg.known !== "-S") : undefined;
    return mask === undefined ? [] : [{ invocation, mask }];
  });
}
