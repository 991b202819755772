/** Variables that a script uses and that nobody sets: under `set -u` it stops there. */
import type { Contract } from "../contract.js";
import { isOfficialImage } from "../image.js";
import type { Place } from "../place.js";
import { type Arg, type Hole, type Invocation, isDead, type ShellProgram, type Text, testOf } from "../shell/index.js";
import type { Command } from "./container-parts.js";
import type { Container } from "./workload.js";

/** `unset`: nobody sets it, and `set -u` is on. `empty`: its entry in `env` has no value. */
export interface VariableFault {
  readonly kind: "unset" | "empty";
  readonly name: string;
  readonly place: Place;
}

/** Set by shells, by Kubernetes, or by the official images. */
const GIVEN =
  /^(?:PATH|HOME|HOSTNAME|PWD|OLDPWD|IFS|PPID|UID|EUID|RANDOM|SECONDS|LINENO|SHLVL|TERM|SHELL|USER|LOGNAME|LANG|TZ|OPTARG|OPTIND|OPTERR|PS\d|REPLY|_|BASH\w*|EPOCH\w*|PIPESTATUS|FUNCNAME|DIRSTACK|GROUPS|HOSTTYPE|MACHTYPE|OSTYPE|COLUMNS|LINES|(?:REDIS|VALKEY)_(?:VERSION|DOWNLOAD\w*)|GOSU_\w+|LC_\w+|KUBERNETES_\w+|\w+_SERVICE_(?:HOST|PORT)(?:_\w+)?|\w+_PORT(?:_\w+)?)$/;

export function variableFaults(contract: Contract, command: Command): VariableFault[] {
  const { container } = command;
  const program = contract.shell.program(command);
  if (!program.complete) return [];
  const uses = usesOf(program);
  if (uses.length === 0) return [];
  const env = new Map(container.env.map((e) => [e.name, e.spec]));
  const open = container.spec["envFrom"] !== undefined && container.spec["envFrom"] !== null;
  const seen = new Set<string>();
  const out: VariableFault[] = [];
  for (const { name, place, strict, tested } of uses) {
    if (seen.has(name)) continue;
    const spec = env.get(name);
    let kind: VariableFault["kind"] | undefined;
    if (spec !== undefined) {
      const given = spec["valueFrom"] ?? spec["value"];
      if (!tested && (given === undefined || given === null) && !Object.hasOwn(spec, "value")) kind = "empty";
    } else if (strict && !open && isOwn(name, container)) kind = "unset";
    if (kind === undefined) continue;
    seen.add(name);
    out.push({ kind, name, place });
  }
  return out;
}

/** Nothing but the manifest and the script would set it: an image's own variables are in capitals. */
function isOwn(name: string, container: Container): boolean {
  if (GIVEN.test(name)) return false;
  return /^[a-z_][a-z0-9_]*$/.test(name)
    ? !/^(?:https?|no|ftp|all)_proxy$/.test(name)
    : isOfficialImage(container.image);
}

interface Use {
  readonly name: string;
  readonly place: Place;
  /** `set -u` is on there. */
  readonly strict: boolean;
  /** Only in a test, or under one of it. */
  readonly tested: boolean;
}

const kept = new WeakMap<ShellProgram, readonly Use[]>();

/** Uses of variables that no command of the program sets. */
function usesOf(program: ShellProgram): readonly Use[] {
  let uses = kept.get(program);
  if (uses === undefined) kept.set(program, (uses = readUses(program)));
  return uses;
}

function readUses(program: ShellProgram): Use[] {
  const set = new Set<string>();
  const strict: Invocation[] = [];
  for (const invocation of program.invocations) {
    for (const fact of [...invocation.assigns, ...invocation.environment]) set.add(fact.name);
    for (const { flow } of invocation.frames) {
      if (flow.type === "case") assignedInside(flow.subject, set);
      if (flow.type !== "for") continue;
      set.add(flow.name);
      for (const m of (flow.arithmetic ?? "").matchAll(/[A-Za-z_]\w*/g)) set.add(m[0]);
    }
    const { name, command } = invocation;
    if (namesUnknown(invocation)) return [];
    // read, getopts, let, eval, printf -v: any word may be a name, or hold one
    if (
      /^(?:read|mapfile|readarray|getopts|let|eval|printf|\(\(|export|local|declare|typeset|readonly|unset)$/.test(
        command[0]?.known ?? name ?? "",
      )
    )
      for (const arg of command.slice(1)) for (const m of (arg.known ?? "").matchAll(/[A-Za-z_]\w*/g)) set.add(m[0]);
    for (const text of texts(invocation)) assignedInside(text, set);
    if (name !== "set") continue;
    const words = command.slice(1).map((a) => a.known ?? "");
    if (switches(words, "+")) return collect(program, set, []);
    if (switches(words, "-")) strict.push(invocation);
  }
  return collect(program, set, strict);
}

/** `set -u`, `set -o nounset`; with `+` it is switched off. */
function switches(words: readonly string[], sign: "+" | "-"): boolean {
  const option = (word: string | undefined, letter: RegExp): boolean =>
    word?.startsWith(sign) === true && letter.test(word.slice(1));
  return words.some((word, i) => option(word, /^[a-z]*u/) || (word === "nounset" && option(words[i - 1], /^[a-z]*o$/)));
}

/** `eval "$(program)"`, `export "$name=$value"`, `read $names`: any variable may be set. */
function namesUnknown({ command }: Invocation): boolean {
  const name = command[0]?.known ?? "";
  const isOpen = (arg: Text): boolean =>
    arg.known === undefined && !(typeof arg.pieces[0] === "string" && /^[A-Za-z_]\w*\+?=/.test(arg.pieces[0]));
  if (name === "printf") return command[1]?.known === "-v" && command[2]?.known === undefined;
  return /^(?:read|mapfile|readarray|eval|export|local|declare|typeset|readonly)$/.test(name)
    ? command.slice(1).some(isOpen)
    : false;
}

function inEval({ frames }: Invocation): boolean {
  return frames.some(({ flow }) => flow.type === "run" && flow.invocation?.nested === "eval");
}

function collect(program: ShellProgram, set: ReadonlySet<string>, strict: readonly Invocation[]): Use[] {
  const out: Use[] = [];
  for (const invocation of program.invocations) {
    // in `eval "x=\$NAME_$n"` the name goes on where the text of the script ends
    if (!invocation.reached || inEval(invocation) || isDead(invocation)) continue;
    const on = strict.some((s) => s.order < invocation.order && holdsFor(s, invocation));
    const tested = testOf(invocation) !== undefined;
    for (const text of texts(invocation)) {
      for (const name of plain(text)) {
        if (set.has(name)) continue;
        out.push({ name, place: placeIn(text) ?? invocation.place, strict: on, tested });
      }
    }
  }
  return out;
}

function placeIn(text: Text): Place | undefined {
  return "place" in text ? (text as Arg).place : undefined;
}

function texts(invocation: Invocation): Text[] {
  const out: Text[] = [...invocation.words];
  for (const fact of [...invocation.assigns, ...invocation.environment]) out.push(fact.value);
  for (const { target, heredoc } of invocation.redirects) {
    if (target !== undefined) out.push(target);
    if (heredoc !== undefined) out.push(...heredoc);
  }
  return out;
}

/** Names of parameters in a text that have no operator: nothing stands in for them. */
function plain(text: Text): string[] {
  return text.pieces.flatMap((piece) => {
    if (typeof piece === "string" || piece.kind !== "variable" || piece.name === undefined) return [];
    const { name, op, fallback, kubelet, options }: Hole = piece;
    const bare = op === undefined || /^[#%]/.test(op);
    const open = bare && fallback === undefined && kubelet !== true && options === undefined;
    return open && /^[A-Za-z_]\w*$/.test(name) ? [name] : [];
  });
}

/** `${NAME:=value}`, arithmetic, and names that the script knows may be unset: `${NAME:-}`, `${NAME+x}`. */
function assignedInside(text: Text, set: Set<string>): void {
  for (const piece of text.pieces) {
    if (typeof piece === "string") continue;
    const optional = piece.fallback !== undefined || /^:?\+/.test(piece.op ?? "");
    if (optional && piece.name !== undefined) set.add(piece.name);
    if (piece.kind === "arithmetic")
      for (const m of (piece.name ?? "").matchAll(/([A-Za-z_]\w*)\s*[-+*/%]?=/g)) set.add(m[1]!);
  }
}

/** Whether an option set by one command holds for another: the same shell, and no condition around it. */
function holdsFor(setter: Invocation, other: Invocation): boolean {
  if (setter.frames.some(({ flow }) => !["seq", "run", "sub", "call"].includes(flow.type))) return false;
  const shells = (i: Invocation): unknown[] => i.frames.filter((f) => f.flow.type === "sub").map((f) => f.flow);
  const own = shells(setter);
  const theirs = shells(other);
  if (own.some((flow, i) => theirs[i] !== flow)) return false;
  return theirs.slice(own.length).every((flow) => (flow as { shell?: unknown }).shell === undefined);
}
