/**
 * A script as it runs: commands with resolved arguments in the order of the text, functions put in where they are called,
 * nested scripts (`sh -c`, sourced files) put in where they run, and the control flow between them.
 */
import type { ShellAst } from "../../document/shell.js";
import type { TextView } from "../../text/source.js";
import type { Place } from "../place.js";
import type { Text } from "./text.js";

/** A script text with its tree. */
export interface Script {
  readonly view: TextView;
  readonly ast: ShellAst;
}

/** One word of an argument vector in a manifest. */
export interface CommandWord {
  readonly text: string;
  readonly place: Place;
  view(): TextView | undefined;
}

export interface ShellOptions {
  /** An environment variable at the start: its text, null when it is certainly not set, undefined when unknown. */
  readonly env?: (name: string) => string | null | undefined;
  /** The working directory at the start, an absolute path. */
  readonly directory?: string | undefined;
  /** Whether `$(NAME)` is a variable that the kubelet expands. Default: no name, in a script; any upper-case name, in a command. */
  readonly kubelet?: (name: string) => boolean;
  /** The script at a path in the container (a mounted ConfigMap), for `sh path` and `. path`. */
  readonly script?: (path: string) => Script | undefined;
  /** The tree of a script text inside an argument vector. */
  readonly read?: (view: TextView) => ShellAst | undefined;
}

/** A word of a command, after expansion. */
export interface Arg extends Text {
  readonly place: Place;
  /** Quoted at least in part. */
  readonly quoted: boolean;
}

export interface Wrapper {
  /** `exec`, `timeout`, `su-exec`, … */
  readonly name: string;
  /** `timeout 5` */
  readonly timeout?: Text;
}

export interface EnvironmentFact {
  readonly name: string;
  readonly value: Text;
  readonly place: Place;
}

export interface RedirectFact {
  readonly op: string;
  readonly fd: number;
  /** File, descriptor number, or here-string text. */
  readonly target?: Arg;
  /** Lines of a here-document. */
  readonly heredoc?: readonly Line[];
  readonly place: Place;
}

/** A line of text that a script writes, without its line end. */
export interface Line extends Text {
  readonly place: Place;
}

/** A command that runs. Assignments without a command have no words. */
export interface Invocation {
  /** Position in the program; commands in a substitution come before the command that uses them. */
  readonly order: number;
  /** The words as written, wrappers included. */
  readonly words: readonly Arg[];
  /** The command behind its wrappers: `timeout 5 su-exec redis redis-server /c` gives `redis-server /c`. */
  readonly command: readonly Arg[];
  /** Base name of the command; undefined when unknown, or when there is none. */
  readonly name: string | undefined;
  readonly wrappers: readonly Wrapper[];
  /** `NAME=value` before the command, and those of `env`. */
  readonly environment: readonly EnvironmentFact[];
  /** Assignments of a command without words, and of `export`, `local`, `readonly`, `declare`. */
  readonly assigns: readonly EnvironmentFact[];
  readonly redirects: readonly RedirectFact[];
  /** `REDISCLI_AUTH`, `VALKEYCLI_AUTH` and `KUBECONFIG`, where the script set them before. */
  readonly exported: ReadonlyMap<string, Text>;
  readonly place: Place;
  /** Where it runs, an absolute path: relative names are below it. undefined: not known. */
  readonly directory: string | undefined;
  /** From the outermost construct to the command. */
  readonly frames: readonly Frame[];
  /** The innermost function that it stands in. */
  readonly inFunction: string | undefined;
  /** false: it stands in a function that nobody calls, or in a trap. */
  readonly reached: boolean;
  /** The shell is replaced: nothing behind it runs. */
  readonly replaces: boolean;
  /** In a pipeline: the command whose output it reads, and the one that reads its output. */
  readonly pipedFrom: Invocation | undefined;
  readonly pipedTo: Invocation | undefined;
  /** Its script is nested: `sh -c`, `. file`, `eval`. */
  readonly nested: "shell" | "source" | "eval" | undefined;
}

/** One step of the way to a command: `slot` says which part of `flow` it is in. */
export interface Frame {
  readonly flow: Flow;
  readonly slot: number;
}

/** How control leaves a flow on every path; undefined: some path goes on. */
export type Ending = "exit" | "return" | "loop" | undefined;

interface Base {
  readonly ends: Ending;
}

export interface Run extends Base {
  readonly type: "run";
  readonly invocation: Invocation;
  /** Substitutions in its words, slot 0 …; the command itself is slot 1000, its script 1001. */
  readonly before: readonly Flow[];
  readonly script: Flow | undefined;
}
export interface Sequence extends Base {
  readonly type: "seq";
  readonly items: readonly Flow[];
}
export interface Chain extends Base {
  readonly type: "andor";
  readonly items: readonly Flow[];
  readonly ops: readonly ("&&" | "||")[];
}
export interface Pipe extends Base {
  readonly type: "pipe";
  readonly items: readonly Flow[];
  readonly negated: boolean;
}
/** Slots: test `2k`, body `2k + 1`; otherwise `2n`. */
export interface Branch extends Base {
  readonly type: "if";
  readonly tests: readonly Flow[];
  readonly bodies: readonly Flow[];
  readonly otherwise: Flow | undefined;
}
/** Slots: test 0, body 1. */
export interface While extends Base {
  readonly type: "loop";
  readonly until: boolean;
  readonly test: Flow;
  readonly body: Flow;
  readonly place: Place;
}
/** Slots: substitutions of the list 0, body 1. */
export interface ForEach extends Base {
  readonly type: "for";
  readonly name: string;
  readonly before: readonly Flow[];
  readonly list: readonly Text[] | undefined;
  /** `for ((…))` */
  readonly arithmetic: string | undefined;
  readonly body: Flow;
  readonly place: Place;
}
/** Slots: substitutions of the subject 0, item `i + 1`. */
export interface Choice extends Base {
  readonly type: "case";
  readonly before: readonly Flow[];
  readonly subject: Text;
  readonly items: readonly {
    readonly patterns: readonly Text[];
    readonly body: Flow;
    readonly fallsThrough: boolean;
  }[];
}
/** A subshell, a substitution, or a shell of its own (`strict`: the options it is started with). */
export interface Sub extends Base {
  readonly type: "sub";
  readonly body: Flow;
  readonly shell: { readonly errexit: boolean; readonly pipefail: boolean } | undefined;
}
/** A function's body where it is called; `return` ends here. */
export interface Call extends Base {
  readonly type: "call";
  readonly name: string;
  readonly body: Flow;
}
export interface Background extends Base {
  readonly type: "background";
  readonly body: Flow;
}
/** Something that was not understood. */
export interface Unknown extends Base {
  readonly type: "unknown";
}

export type Flow =
  | Run
  | Sequence
  | Chain
  | Pipe
  | Branch
  | While
  | ForEach
  | Choice
  | Sub
  | Call
  | Background
  | Unknown;

export interface Trap {
  /** `EXIT`, `TERM`, …, without `SIG`; `0` is `EXIT`. */
  readonly signals: readonly (string | undefined)[];
  readonly body: Flow;
  readonly invocation: Invocation;
}

export interface ShellProgram {
  readonly flow: Flow;
  readonly invocations: readonly Invocation[];
  readonly traps: readonly Trap[];
  /** Options at the start: the `#!` line, or `sh -e -c`. */
  readonly errexit: boolean;
  readonly pipefail: boolean;
  /** false: some part was not understood or left out, so what is not found may still be there. */
  readonly complete: boolean;
}
