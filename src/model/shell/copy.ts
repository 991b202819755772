/**
 * How a script treats a configuration file that a server will rewrite: is it copied there once, atomically, and does a
 * damaged file stop the start? Decided by running the script on every state that the file can be in, so it is the
 * behaviour that counts, not the spelling.
 *
 * Accepted shapes (each is a test in `test/shell/copy.test.ts`; D is the file, T a temporary file in D's directory):
 *
 *  1. `if [ ! -e D ]; then cp S T; mv T D; fi`, also with `-f`, `test`, `[[ ]]`, `! [ … ]`, or the branches exchanged
 *  2. `[ -f D ] || { cp S T && mv T D; }`, `[ -e D ] || cp S D` (not atomic), `cp -n S D` (not atomic)
 *  3. `if [ -f D ]; then CHECK; exit 0; fi; …copy…`, `[ -f D ] && exit 0; …copy…`
 *  4. `case` on whether the file is there, functions for any part, `sh -c '…'` around it, `trap … EXIT` for cleaning up
 *  5. copy: `cp`, `install`, `cat S > T`, `sed 's/TOKEN/…/' S > T`, `envsubst < S > T`, a here-document, `echo … >> T`
 *  6. atomic: T is written completely or the script stops (`set -e`, `&&`, `|| exit 1`), then `mv T D` (`mv -f`, `-n`, `-T`)
 *  7. CHECK of an existing file: `[ -s D ] || exit 1`, `test -s D`, `grep -q PATTERN D || exit 1`, `cat D | grep -q …`,
 *     `grep … < D`, `if ! grep …; then …; exit 1; fi`, several of them; under `set -e` a bare `[ -s D ]` or `grep` is one
 *
 * What cannot be decided — a path that may be D, a file sourced from elsewhere, a test of D's content by another tool — gives
 * `unknown`, or `undefined` for the single answer.
 */
import { grepOf, readsFile, somePart, type Test, testOf } from "./conditions.js";
import { editsOf, editsPath, type FileEdit } from "./edits.js";
import { type Domain, type End, interpret, type Step } from "./interpret.js";
import type { Invocation, ShellProgram } from "./program.js";
import {
  cleanPath,
  directoryOf,
  inDirectory,
  isPath,
  literal,
  type Piece,
  runsOf,
  SHELL,
  show,
  type Text,
} from "./text.js";

/** true, false, or undefined: not decided. */
export type Verdict = boolean | undefined;

export type CopyOnce =
  | {
      readonly kind: "copy-if-absent";
      /** The file appears complete or not at all: written beside, then renamed. */
      readonly atomic: boolean;
      /** Why it is not atomic. */
      readonly flaw: "in-place" | "partial" | "other-directory" | undefined;
      readonly sources: readonly Text[];
      /** What the copy is made of is known: nothing but `sources` and lines of the script. */
      readonly sourcesKnown: boolean;
      /** The command that makes the file appear. */
      readonly by: Invocation;
      /** An existing good file lets the script succeed (`[ ! -e D ] && cp S D` as its last command does not). */
      readonly goodPasses: Verdict;
      /** An existing empty file makes the script fail. */
      readonly emptyFails: Verdict;
      /** The script looks at what an existing file holds, and leaves an empty one as it is with success. */
      readonly emptyStays: boolean;
      /** An existing file that lacks one of `checks` makes the script fail. */
      readonly damagedFileFails: Verdict;
      /** Patterns without which an existing file is refused, as grep reads them. */
      readonly checks: readonly string[];
    }
  /** An existing good file is replaced or changed; `always`: on every path. */
  | { readonly kind: "overwrites"; readonly always: boolean; readonly by: Invocation }
  /** The script does not write the file. */
  | { readonly kind: "none" }
  | { readonly kind: "unknown"; readonly why: string };

/** What is at the path: before the script `absent`, `empty`, `damaged` or `good`; after it also `new` and `partial`. */
type Content = "absent" | "empty" | "damaged" | "good" | "new" | "partial";

interface State {
  readonly file: Content;
  /** The file that was there before has been replaced or changed. */
  readonly touched: boolean;
  /** Temporary files, by how the script writes their paths. */
  readonly temporary: ReadonlyMap<string, "full" | "partial">;
  /**
   * Decisions of this path that looked at the file in a way that is not understood: the command's order with `+` or `-`.
   * What happens on both outcomes of a decision does not depend on it.
   */
  readonly open: readonly string[];
  readonly why: string;
}

interface Events {
  readonly changed: { readonly by: Invocation; readonly state: State }[];
  readonly created: Map<
    number,
    { readonly edit: FileEdit; readonly flaw: "in-place" | "partial" | "other-directory" | undefined }
  >;
  unsure: string | undefined;
}

class Scenario implements Domain<State> {
  readonly events: Events = { changed: [], created: new Map(), unsure: undefined };
  readonly #path: string;
  /** In a damaged file this pattern is missing, others are there. */
  readonly #missing: string | undefined;

  constructor(path: string, missing?: string) {
    this.#path = path;
    this.#missing = missing;
  }

  key(state: State): string {
    let key = `${state.file}${state.touched ? "!" : ""}${state.open.join(" ")}`;
    for (const [name, content] of state.temporary) key += `;${name}=${content}`;
    return key;
  }

  run(invocation: Invocation, state: State, resolve: (text: Text) => Text): readonly Step<State>[] {
    const test = testOf(invocation);
    if (test !== undefined) return this.#test(invocation, test, state, resolve);
    const grep = grepOf(invocation);
    if (grep !== undefined) return this.#grep(invocation, state);
    const edits = editsOf(invocation).filter((edit) => edit.kind !== "remove" || invocation.name !== "mv");
    if (edits.length > 0) return this.#edit(invocation, edits, state);
    // The server takes over; what it does with the file is its own affair.
    if (invocation.replaces) return [{ state, ok: true }];
    switch (invocation.name) {
      case "cmp":
      case "diff":
      case "sha256sum":
      case "md5sum":
      case "find":
        return this.#unclear(invocation, state);
      case "awk":
        return invocation.command.some((arg) => arg.known === undefined || /\bexit\b/.test(arg.known))
          ? this.#unclear(invocation, state)
          : [{ state, ok: true }];
      case ".":
      case "source":
      case "eval":
        return this.#blind(`\`${invocation.name}\` runs something else`, state);
      case undefined:
        return invocation.command.length === 0
          ? [{ state, ok: true }]
          : this.#blind("a command whose name is not known", state);
      default:
        break;
    }
    if (SHELL.test(invocation.name) && invocation.command.length > 1) return this.#blind("another script runs", state);
    if (FALLIBLE.has(invocation.name)) return both(state);
    if (
      !HARMLESS.has(invocation.name) &&
      invocation.command.slice(1).some((arg) => isPath(inDirectory(arg, invocation.directory), this.#path) === "yes")
    ) {
      return SERVERS.test(invocation.name) ? both(state) : this.#blind(`\`${invocation.name}\` gets the file`, state);
    }
    if (HARMLESS.has(invocation.name)) return [{ state, ok: true }];
    return both(state);
  }

  /** Both outcomes; where the command looks at the file they depend on it in a way that is not understood. */
  #unclear(invocation: Invocation, state: State): Step<State>[] {
    const reads = readsFile(invocation, this.#path);
    return reads === "no" ? both(state) : either(state, invocation, `\`${invocation.name}\` looks at the file`);
  }

  #blind(why: string, state: State): Step<State>[] {
    this.events.unsure ??= why;
    return both(state);
  }

  #test(invocation: Invocation, test: Test, state: State, resolve: (text: Text) => Text): Step<State>[] {
    const answer = this.#decide(test, state, (text) => inDirectory(resolve(text), invocation.directory));
    if (typeof answer === "boolean") return [{ state, ok: answer }];
    if (answer === "open") return both(state);
    return either(
      state,
      invocation,
      `a test of ${invocation.command.slice(1).map(show).join(" ")} may be one of the file`,
    );
  }

  #decide(test: Test, state: State, resolve: (text: Text) => Text): boolean | "open" | "tainted" {
    switch (test.kind) {
      case "file": {
        const path = resolve(test.path);
        const found = isPath(path, this.#path);
        const { op } = test;
        const ofFiles = !/^-[dLhpSbc]$/.test(op);
        if (found === "maybe") return ofFiles ? "tainted" : "open";
        if (found === "no") {
          const temporary = state.temporary.get(show(path));
          if (temporary !== undefined && /^-[efrw]$/.test(op)) return true;
          if (temporary === "full" && op === "-s") return true;
          return "open";
        }
        const exists = state.file !== "absent";
        if (/^-[aefrw]$/.test(op)) return exists;
        if (op === "-s") return exists && state.file !== "empty";
        if (!ofFiles) return false;
        return exists ? "tainted" : false;
      }
      case "not": {
        const inner = this.#decide(test.test, state, resolve);
        return typeof inner === "boolean" ? !inner : inner;
      }
      case "and":
      case "or": {
        let all: boolean | "open" | "tainted" = test.kind === "and";
        for (const part of test.tests) {
          const inner = this.#decide(part, state, resolve);
          if (inner === (test.kind === "or")) return inner;
          if (inner === "tainted") all = "tainted";
          else if (inner === "open" && all !== "tainted") all = "open";
        }
        return all;
      }
      case "empty":
        return this.#looks(resolve(test.value)) ? "tainted" : "open";
      case "compare":
        return this.#looks(resolve(test.left)) || this.#looks(resolve(test.right)) ? "tainted" : "open";
      default:
        return "open";
    }
  }

  /** Whether a text comes from the file. */
  #looks(text: Text): boolean {
    if (
      text.pieces.some(
        (piece) => typeof piece !== "string" && piece.file !== undefined && isPath(piece.file, this.#path) !== "no",
      )
    )
      return true;
    return runsOf(text).some((invocation) => readsFile(invocation, this.#path) !== "no");
  }

  #grep(invocation: Invocation, state: State): Step<State>[] {
    const reads = readsFile(invocation, this.#path);
    if (reads === "no") return both(state);
    if (reads === "maybe") return either(state, invocation, "a grep may read the file");
    const grep = grepOf(invocation)!;
    if (state.file === "absent") return [{ state, ok: false }];
    if (state.file === "empty") return [{ state, ok: false }];
    if (grep.inverted || grep.patterns.length !== 1 || grep.patterns[0]!.known === undefined)
      return either(state, invocation, "a grep of the file is not understood");
    if (state.file === "damaged") return [{ state, ok: this.#missing !== grep.patterns[0]!.known }];
    return [{ state, ok: true }];
  }

  #edit(invocation: Invocation, edits: readonly FileEdit[], state: State): Step<State>[] {
    let good = state;
    let bad = state;
    let fails = false;
    for (const edit of edits) {
      const hit = editsPath(edit, this.#path);
      if (hit === "maybe" && !isTemporary(edit.target)) {
        this.events.unsure ??= `\`${invocation.name}\` may write the file (${show(edit.target)})`;
        fails = true;
        continue;
      }
      if (hit !== "yes") {
        const name = show(edit.target);
        if (edit.kind === "remove") {
          good = withTemporary(good, name, undefined);
          continue;
        }
        // A write can fail half-way (no space left): then the temporary file is not complete.
        fails = true;
        const before = state.temporary.get(name);
        const whole = edit.kind === "append" || edit.kind === "edit" ? (before ?? "full") : "full";
        good = withTemporary(good, name, whole);
        bad = withTemporary(bad, name, "partial");
        continue;
      }
      fails = true;
      const exists = state.file !== "absent";
      if (exists && edit.noClobber) continue;
      if (edit.kind === "touch") {
        if (!exists) good = { ...good, file: "empty" };
        continue;
      }
      if (state.file === "good" || state.file === "damaged" || state.file === "empty") {
        if (this.events.changed.length < MAX_CHANGES) this.events.changed.push({ by: invocation, state });
        good = { ...good, touched: true };
        bad = { ...bad, touched: true };
      }
      if (edit.kind === "remove") {
        good = { ...good, file: "absent" };
        continue;
      }
      if (edit.kind === "move") {
        const source = edit.sources[0]!;
        const content = state.temporary.get(show(source)) ?? "full";
        const beside = directoryOf(source) === directoryOf(literal(cleanPath(this.#path)));
        if (!exists)
          this.events.created.set(invocation.order, {
            edit,
            flaw: content === "partial" ? "partial" : beside ? undefined : "other-directory",
          });
        else if (content === "partial") this.events.created.set(invocation.order, { edit, flaw: "partial" });
        good = withTemporary({ ...good, file: content === "full" ? "new" : "partial" }, show(source), undefined);
        continue;
      }
      if (!exists) this.events.created.set(invocation.order, { edit, flaw: "in-place" });
      good = { ...good, file: exists && (edit.kind === "append" || edit.kind === "edit") ? state.file : "new" };
      bad = { ...bad, file: "partial" };
    }
    return fails
      ? [
          { state: good, ok: true },
          { state: bad, ok: false },
        ]
      : [{ state: good, ok: true }];
  }
}

/** Commands that are taken to succeed: their failure is no concern of the file. */
const HARMLESS = new Set(
  "echo printf cat sync sleep mkdir chmod chown chgrp umask cd export local readonly declare typeset unset shift set trap exec date hostname id env true : rm rmdir mktemp basename dirname touch tr cut sort uniq logger seq expr ulimit wc head tail stat ls sed od file wait alias getopts exit return".split(
    " ",
  ),
);
/** Commands whose failure is part of a script's logic. */
const FALLIBLE = new Set(
  "getent nslookup host dig ping nc redis-cli valkey-cli curl wget kubectl timeout command which type pgrep kill read false".split(
    " ",
  ),
);
const SERVERS = /^(?:redis|valkey|keydb)-(?:server|sentinel)$/;

function both(state: State): Step<State>[] {
  return [
    { state, ok: true },
    { state, ok: false },
  ];
}

/** Both outcomes of a decision that depends on the file in a way that is not understood. */
function either(state: State, invocation: Invocation, why: string): Step<State>[] {
  const decided = state.open.find((mark) => mark.slice(0, -1) === String(invocation.order));
  const outcome = (ok: boolean): Step<State> => {
    const mark = `${invocation.order}${ok ? "+" : "-"}`;
    // Asked again (in a loop), or too often: never decided.
    const open =
      decided !== undefined || state.open.length >= MAX_OPEN
        ? [...new Set([...state.open, "?"])]
        : [...state.open, mark];
    return { state: { ...state, open, why: state.why === "" ? why : state.why }, ok };
  };
  return [outcome(true), outcome(false)];
}

const MAX_OPEN = 6;
const MAX_CHANGES = 200;

/** Whether sets of decisions together cover every outcome: then what they lead to does not depend on them. */
function covers(sets: readonly (readonly string[])[]): boolean {
  if (sets.some((set) => set.length === 0)) return true;
  const all = new Map(sets.map((set) => [[...set].sort().join(" "), new Set(set)]));
  for (let grown = true; grown && all.size < 256; ) {
    grown = false;
    for (const set of [...all.values()]) {
      for (const mark of set) {
        if (mark.endsWith("?")) continue;
        const rest = new Set(set);
        rest.delete(mark);
        const key = [...rest].sort().join(" ");
        if (all.has(key)) continue;
        const other = mark.slice(0, -1) + (mark.endsWith("+") ? "-" : "+");
        const opposite = [...all.values()].some((one) => [...one].every((m) => m === other || rest.has(m)));
        if (opposite) {
          all.set(key, rest);
          grown = true;
        }
      }
    }
  }
  return all.has("");
}

function withTemporary(state: State, name: string, content: "full" | "partial" | undefined): State {
  if (state.temporary.get(name) === content) return state;
  const temporary = new Map(state.temporary);
  temporary.delete(name);
  if (content !== undefined && temporary.size < 8) temporary.set(name, content);
  return { ...state, temporary };
}

/** A name that `mktemp` made is no other file. */
function isTemporary(text: Text): boolean {
  const [piece] = text.pieces;
  return text.pieces.length === 1 && typeof piece === "object" && piece.kind === "command" && piece.name === "mktemp";
}

interface Outcome {
  readonly ends: readonly End<State>[];
  readonly events: Events;
  readonly incomplete: boolean;
}

function play(program: ShellProgram, path: string, file: Content, missing?: string): Outcome {
  const scenario = new Scenario(path, missing);
  const { ends, incomplete } = interpret(
    program,
    { file, touched: false, temporary: new Map(), open: [], why: "" },
    scenario,
  );
  return { ends, events: scenario.events, incomplete };
}

/** Whether an existing file of this kind makes the script fail on every path. */
function refuses(program: ShellProgram, path: string, file: Content, missing?: string): Verdict {
  const { ends, incomplete } = play(program, path, file, missing);
  const passes = ends.filter((end) => end.ok);
  if (covers(passes.map((end) => end.state.open))) return program.complete ? false : undefined;
  if (passes.length > 0 || incomplete) return undefined;
  return ends.length > 0;
}

const verdicts = new WeakMap<ShellProgram, Map<string, CopyOnce>>();

/** How the program treats the file at `path`. */
export function copyOnce(program: ShellProgram, path: string): CopyOnce {
  const target = cleanPath(path);
  let known = verdicts.get(program);
  if (known === undefined) verdicts.set(program, (known = new Map()));
  let verdict = known.get(target);
  if (verdict === undefined) known.set(target, (verdict = judgeCopy(program, target)));
  return verdict;
}

/** A short program of which no command can write the file, on any path, needs no run. */
function leavesAlone(program: ShellProgram, path: string): boolean {
  const { invocations, complete } = program;
  return complete && invocations.length <= 8 && invocations.every((invocation) => !mayWrite(invocation, path));
}

function mayWrite(invocation: Invocation, path: string): boolean {
  const { name, command } = invocation;
  if (editsOf(invocation).length > 0) return true;
  if (name === undefined) return command.length > 0;
  if (HARMLESS.has(name) || SERVERS.test(name)) return false;
  if (/^(?:\.|source|eval)$/.test(name) || SHELL.test(name)) return true;
  return command.some((arg) => isPath(inDirectory(arg, invocation.directory), path) === "yes");
}

function judgeCopy(program: ShellProgram, target: string): CopyOnce {
  if (leavesAlone(program, target)) return { kind: "none" };
  const good = play(program, target, "good");
  const [changed] = good.events.changed;
  if (changed !== undefined) {
    if (!covers(good.events.changed.map((one) => one.state.open))) return { kind: "unknown", why: changed.state.why };
    const passes = good.ends.filter((end) => end.ok);
    return {
      kind: "overwrites",
      always: passes.length > 0 && passes.every((end) => end.state.touched),
      by: changed.by,
    };
  }
  const absent = play(program, target, "absent");
  const unsure = good.events.unsure ?? absent.events.unsure;
  const created = [...absent.events.created.values()];
  if (unsure !== undefined) return { kind: "unknown", why: unsure };
  const [first] = created;
  if (first === undefined) {
    if (good.incomplete || absent.incomplete) return { kind: "unknown", why: "a part of the script is not understood" };
    return { kind: "none" };
  }
  if (good.incomplete || absent.incomplete) return { kind: "unknown", why: "a part of the script is not understood" };
  const flawed = created.find((one) => one.flaw !== undefined);
  const patterns = checkedPatterns(program, target);
  const checks = patterns.filter((pattern) => refuses(program, target, "damaged", pattern) === true);
  const whole = refuses(program, target, "damaged", undefined);
  const passes = good.ends.filter((end) => end.ok);
  return {
    kind: "copy-if-absent",
    atomic: flawed === undefined,
    flaw: flawed?.flaw,
    ...sourcesOf(
      created.map((one) => one.edit),
      program,
    ),
    by: (flawed ?? first).edit.invocation,
    goodPasses: covers(passes.map((end) => end.state.open)) ? true : passes.length > 0 ? undefined : false,
    emptyFails: refuses(program, target, "empty"),
    emptyStays: looksInside(program, target) && keepsEmpty(program, target),
    damagedFileFails:
      checks.length > 0
        ? true
        : whole === undefined || patterns.some((pattern) => refuses(program, target, "damaged", pattern) === undefined)
          ? undefined
          : false,
    checks,
  };
}

/** Patterns that the program greps for in the file. */
function checkedPatterns(program: ShellProgram, path: string): string[] {
  const out = new Set<string>();
  for (const invocation of program.invocations) {
    const grep = grepOf(invocation);
    if (grep === undefined || !invocation.reached || readsFile(invocation, path) !== "yes") continue;
    for (const pattern of grep.patterns) if (pattern.known !== undefined) out.add(pattern.known);
  }
  return [...out];
}

/** Whether the program tests what the file holds: `-s`, or a grep in it. */
function looksInside(program: ShellProgram, path: string): boolean {
  return program.invocations.some((invocation) => {
    const isSize = (part: Test): boolean =>
      part.kind === "file" && part.op === "-s" && isPath(inDirectory(part.path, invocation.directory), path) === "yes";
    const test = testOf(invocation);
    if (test !== undefined) return somePart(test, isSize);
    return grepOf(invocation) !== undefined && readsFile(invocation, path) === "yes";
  });
}

/** An empty file is still there, and empty, when the program ends well. */
function keepsEmpty(program: ShellProgram, path: string): boolean {
  const { ends, incomplete } = play(program, path, "empty");
  return !incomplete && ends.some((end) => end.ok && end.state.open.length === 0 && end.state.file === "empty");
}

function isWritten(piece: Piece): boolean {
  return typeof piece === "string" && piece.trim() !== "";
}

/** Files that the copy is made of, through temporary files. */
function sourcesOf(
  edits: readonly FileEdit[],
  program: ShellProgram,
): { readonly sources: Text[]; readonly sourcesKnown: boolean } {
  let known = program.complete;
  const out = new Map<string, Text>();
  const seen = new Set<string>();
  const all = program.invocations.flatMap(editsOf);
  const visit = (edit: FileEdit): void => {
    const files = [...edit.sources];
    if (edit.content === undefined && files.length === 0) known = false;
    for (const segment of edit.content ?? []) {
      if (segment.kind === "file") files.push(segment.path);
      // a line that is nothing but a variable or a substitution may be a whole file
      else if (segment.lines.some((line) => line.known === undefined && !line.pieces.some(isWritten))) known = false;
    }
    for (const file of files) {
      const name = show(file);
      if (seen.has(name)) continue;
      seen.add(name);
      const writers = all.filter((other) => other.kind !== "remove" && show(other.target) === name);
      if (writers.length === 0) out.set(name, file);
      if (
        all.some(
          (other) =>
            other.kind !== "remove" && file.known !== undefined && isPath(other.target, file.known) === "maybe",
        )
      )
        known = false;
      for (const writer of writers) visit(writer);
    }
  };
  for (const edit of edits) visit(edit);
  return { sources: [...out.values()], sourcesKnown: known };
}
