/** Files that the scripts of a container need and do not find, and files that they write where nothing can be written. */
import type { Contract } from "../contract.js";
import { normalizePath } from "../file-path.js";
import { isOfficialImage } from "../image.js";
import type { Place } from "../place.js";
import {
  editsOf,
  type Flow,
  type Guard,
  grepOf,
  guardsOf,
  type Invocation,
  SHELL,
  sedCall,
  somePart,
  type Test,
  type Text,
  testOf,
} from "../shell/index.js";
import { type Command, isProbe } from "./container-parts.js";
import { missingFile, UNMOUNTED } from "./pod-writes.js";
import { mayNotRun } from "./script-switch.js";
import type { Container } from "./workload.js";

export interface FileFault {
  /** `missing`: it reads a file that is not there. `never`: it asks for one that nothing makes. `readonly`: it cannot write it. */
  readonly kind: "missing" | "never" | "readonly";
  readonly path: string;
  readonly why: string;
  readonly place: Place;
}

export function fileFaults(contract: Contract, command: Command): FileFault[] {
  const { container } = command;
  const program = contract.shell.program(command);
  const out: FileFault[] = [];
  const probe = isProbe(command);
  const seen = new Set<string>();
  const add = (kind: FileFault["kind"], path: string, why: string | undefined, place: Place): void => {
    // a directory that is missing as a whole is said once
    const whole = why === UNMOUNTED || kind === "readonly";
    const key = whole ? path.slice(0, path.lastIndexOf("/")) : `${kind} ${path}`;
    if (why === undefined || seen.has(key)) return;
    seen.add(key);
    out.push({ kind, path, why, place });
  };
  for (const invocation of program.invocations) {
    if (mayNotRun(invocation, container)) continue;
    const asked = askedFor(invocation, probe);
    if (asked.length === 0 && !mayFault(invocation)) continue;
    for (const path of asked) add("never", path, missingFile(contract, container, path), invocation.place);
    if (isTolerated(invocation)) continue;
    const guards = guardsOf(invocation);
    for (const { path, fresh } of filesRead(invocation)) {
      if (guards.some((g) => speaksOf(g, path))) continue;
      add(probe ? "never" : "missing", path, missingFile(contract, container, path, { fresh }), invocation.place);
    }
    for (const path of filesWritten(invocation)) add("readonly", path, unwritable(container, path), invocation.place);
  }
  return out;
}

const READERS = new Set([
  "cat",
  "head",
  "tail",
  "wc",
  "sort",
  "cut",
  "uniq",
  "sha256sum",
  "md5sum",
  "stat",
  ".",
  "source",
]);

function mayFault(invocation: Invocation): boolean {
  return (
    (invocation.command.length > 0 && (READERS.has(invocation.name ?? "") || !SILENT.has(invocation.name ?? ""))) ||
    invocation.redirects.length > 0
  );
}

const SILENT = new Set(["echo", "printf", "sleep", "exit", "set", "export", "true", "false", ":", "date", "redis-cli"]);

/** In a script: what the manifest itself names is the matter of k8s/start-command. */
function isNested({ frames }: Invocation): boolean {
  return frames.some(({ flow }) => flow.type === "sub" && flow.shell !== undefined);
}

/** Known absolute paths that a command opens for reading; `fresh`: what it renames away is made anew each time. */
function filesRead(invocation: Invocation): { path: string; fresh: boolean }[] {
  const { name, command } = invocation;
  const texts: { text: Text; fresh: boolean }[] = [];
  const all = (list: readonly Text[], fresh = false): void => {
    for (const text of list) texts.push({ text, fresh });
  };
  for (const r of invocation.redirects) if (r.op === "<" && r.target !== undefined) all([r.target]);
  if (name === "find") {
    const end = command.findIndex((a, i) => i > 0 && /^[-(!]/.test(a.known ?? "x"));
    all(command.slice(1, end < 0 ? undefined : end));
  } else if (name === "." || name === "source") all(command.slice(1, 2));
  else if (isNested(invocation) && command[0]?.known?.startsWith("/") && !SHELL.test(name ?? "")) all([command[0]]);
  else if (isNested(invocation) && SHELL.test(name ?? "") && !(command[1]?.known ?? "-").startsWith("-"))
    all(command.slice(1, 2));
  else if (READERS.has(name ?? "")) all(command.slice(1).filter((a) => a.known?.startsWith("/")));
  else if (name === "sed") all(sedCall(command).files);
  else if (name === "cp" || name === "mv") {
    for (const edit of editsOf(invocation))
      if (edit.kind === "copy" || edit.kind === "move") all(edit.sources, name === "mv");
  } else {
    const grep = grepOf(invocation);
    if (grep !== undefined && !command.some((a) => /^-[A-Za-z]*[rs]/.test(a.known ?? ""))) all(grep.files);
  }
  return texts.flatMap(({ text, fresh }) =>
    text.known?.startsWith("/") && !/[*?[]/.test(text.known) ? [{ path: text.known, fresh }] : [],
  );
}

/**
 * Files whose presence decides what goes on, where only their being there makes sense: a probe's test, the test of a loop
 * that waits for one, and a test for content. A plain test for a file may be one for a flag that people set by hand.
 */
function askedFor(invocation: Invocation, probe: boolean): string[] {
  const test = testOf(invocation);
  if (test === undefined) return [];
  const loop = invocation.frames.findLast((f) => f.flow.type === "loop");
  const waits = loop?.slot === 0 && (loop.flow as Extract<Flow, { type: "loop" }>).until;
  const out: string[] = [];
  const visit = (one: Test): void => {
    if (one.kind === "and") for (const part of one.tests) visit(part);
    else if (one.kind === "file" && (one.op === "-s" || ((probe || waits) && /^-[efr]$/.test(one.op))))
      if (one.path.known?.startsWith("/")) out.push(one.path.known);
  };
  const negated = invocation.frames.some((f) => f.flow.type === "pipe" && f.flow.negated);
  if (!negated) visit(test);
  return out;
}

/** A failure of it is provided for: it is tested, `||` follows, or nobody sees what it says. */
function isTolerated(invocation: Invocation): boolean {
  if (invocation.redirects.some((r) => r.fd === 2 && r.target?.known === "/dev/null")) return true;
  return invocation.frames.some(({ flow, slot }) => {
    if (flow.type === "if") return slot % 2 === 0 && slot < 2 * flow.tests.length;
    if (flow.type === "loop") return slot === 0;
    if (flow.type === "andor") return flow.ops.slice(slot).includes("||");
    return flow.type === "pipe" && flow.negated;
  });
}

function speaksOf(guard: Guard, path: string): boolean {
  const clean = normalizePath(path);
  const isIt = (text: Text): boolean => text.known === undefined || normalizePath(text.known) === clean;
  if (guard.kind === "test")
    return somePart(guard.test, (part) => (part.kind === "file" ? isIt(part.path) : part.kind === "unknown"));
  return guard.kind === "command" && guard.invocation.command.slice(1).some((a) => a.known !== undefined && isIt(a));
}

function filesWritten(invocation: Invocation): string[] {
  const out: string[] = [];
  for (const edit of editsOf(invocation)) {
    const text = edit.inside ?? edit.target;
    if (edit.kind !== "remove" && edit.target.known?.startsWith("/") && text.known !== undefined)
      out.push(edit.target.known);
    else if (edit.kind !== "remove" && edit.inside === undefined && typeof edit.target.pieces[0] === "string")
      out.push(edit.target.pieces[0].slice(0, edit.target.pieces[0].lastIndexOf("/") + 1) + "…");
  }
  return out.filter((path) => path.startsWith("/"));
}

const READONLY = new Set(["configMap", "secret", "projected", "downwardAPI"]);

function unwritable(container: Container, path: string): string | undefined {
  if (/^\/(?:dev|proc|sys)\//.test(path)) return undefined;
  const mount = container.mountOf(path);
  if (mount !== undefined) {
    if (mount.readOnly) return `the volume ${mount.name} is mounted read-only`;
    if (mount.volume !== undefined && READONLY.has(mount.volume.type)) return `the volume ${mount.name} is read-only`;
    return undefined;
  }
  // /data is a volume of the official images; what others declare is not known
  if (!isOfficialImage(container.image) || path.startsWith("/data/")) return undefined;
  return container.security("readOnlyRootFilesystem", false).value === true
    ? "the root filesystem is read-only, and no volume is mounted there"
    : undefined;
}
