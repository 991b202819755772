/**
 * The shell syntax tree of the house: plain JSON (it is kept in a cache by content hash), offsets are UTF-16 offsets into
 * the script's own text. Grammar: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html, and what
 * scripts take from bash (`[[`, `((`, arrays, `<<<`, `&>`, `function`).
 */

/** Changes when the tree changes; part of a cache key. */
export const SHELL_AST_VERSION = 2;

export interface Ranged {
  readonly start: number;
  readonly end: number;
}

/**
 * What could not be read: `syntax` the grammar saw an error (which is not proof that a shell refuses the script),
 * `limit` the script is larger or deeper than a bound of the parser. Nothing that stands there is known.
 */
export interface ShellProblem extends Ranged {
  readonly kind: "syntax" | "limit";
  readonly message: string;
}

export interface ShellAst {
  readonly version: number;
  readonly body: readonly Statement[];
  readonly problems: readonly ShellProblem[];
  readonly comments: readonly Ranged[];
}

/** Characters that stand for themselves; a part is one run, so `text` maps to the source one to one unless it was escaped. */
export interface TextPart extends Ranged {
  readonly type: "text";
  readonly text: string;
  /** `'` or `"` or `\`: how it is quoted. */
  readonly quote?: "'" | '"' | "\\";
}

/** `$name`, `${name}`, `${name:-arg}`; `op` is `length` for `${#name}` and `indirect` for `${!name}`. */
export interface ParamPart extends Ranged {
  readonly type: "param";
  readonly name: string;
  readonly op?: string;
  readonly arg?: readonly Part[];
  readonly quote?: '"';
}

/** `$(…)` and backticks. */
export interface CommandPart extends Ranged {
  readonly type: "command";
  readonly body: readonly Statement[];
  readonly quote?: '"';
}

/** `$((…))`. */
export interface ArithmeticPart extends Ranged {
  readonly type: "arithmetic";
  readonly text: string;
  readonly body?: readonly Statement[];
  readonly quote?: '"';
}

/** Unquoted `*`, `?`, `[…]`, `{a,b}`, a leading `~`: the shell puts something else in its place. */
export interface GlobPart extends Ranged {
  readonly type: "glob";
  readonly text: string;
}

/** `<(…)`, `>(…)`. */
export interface ProcessPart extends Ranged {
  readonly type: "process";
  readonly body: readonly Statement[];
}

/** `name=(…)`. */
export interface ArrayPart extends Ranged {
  readonly type: "array";
  readonly words: readonly Word[];
}

export type Part = TextPart | ParamPart | CommandPart | ArithmeticPart | GlobPart | ProcessPart | ArrayPart;

export interface Word extends Ranged {
  /** The text after quote removal; absent when an expansion decides it. */
  readonly text?: string;
  /** Absent: one unquoted run that is `text`. */
  readonly parts?: readonly Part[];
}

export interface Assignment extends Ranged {
  readonly name: string;
  readonly append?: true;
  readonly value: Word;
}

export interface Heredoc extends Ranged {
  readonly delimiter: string;
  /** A quoted delimiter: nothing is expanded. */
  readonly quoted: boolean;
  readonly parts: readonly Part[];
}

export interface Redirect extends Ranged {
  /** `<` `>` `>>` `>|` `<>` `<&` `>&` `&>` `&>>` `<<` `<<-` `<<<` `<&-` `>&-`. */
  readonly op: string;
  readonly fd?: number;
  readonly target?: Word;
  readonly heredoc?: Heredoc;
}

interface Node extends Ranged {
  readonly redirects?: readonly Redirect[];
  /** Ends with `&`. */
  readonly background?: true;
}

/** A script in an argument: `sh -c '…'`, `trap '…' EXIT`, `eval "…"`; `word` is its index in `words`. */
export interface NestedScript {
  readonly word: number;
  readonly kind: "shell" | "trap" | "eval";
  readonly body: readonly Statement[];
}

export interface SimpleCommand extends Node {
  readonly type: "command";
  readonly assigns?: readonly Assignment[];
  /** Command name and arguments; `[`, `[[`, `export` … are commands like any other. */
  readonly words: readonly Word[];
  readonly script?: NestedScript;
}

export interface Pipeline extends Node {
  readonly type: "pipeline";
  readonly negated?: true;
  readonly commands: readonly Statement[];
}

/** `a && b || c`: `ops[i]` stands before `items[i + 1]`. */
export interface AndOr extends Node {
  readonly type: "andor";
  readonly items: readonly Statement[];
  readonly ops: readonly ("&&" | "||")[];
}

export interface If extends Node {
  readonly type: "if";
  readonly clauses: readonly { readonly test: readonly Statement[]; readonly body: readonly Statement[] }[];
  readonly otherwise?: readonly Statement[];
}

export interface Loop extends Node {
  readonly type: "loop";
  readonly until?: true;
  readonly test: readonly Statement[];
  readonly body: readonly Statement[];
}

export interface For extends Node {
  readonly type: "for";
  /** Empty for `for ((…))`. */
  readonly name: string;
  /** Absent: the positional parameters, or an arithmetic loop. */
  readonly words?: readonly Word[];
  readonly arithmetic?: string;
  readonly body: readonly Statement[];
}

export interface CaseItem extends Ranged {
  readonly patterns: readonly Word[];
  readonly body: readonly Statement[];
  readonly fallsThrough?: true;
}

export interface Case extends Node {
  readonly type: "case";
  readonly word: Word;
  readonly items: readonly CaseItem[];
}

export interface FunctionDefinition extends Node {
  readonly type: "function";
  readonly name: string;
  readonly body: Statement;
}

/** `( … )` and `{ …; }`. */
export interface Compound extends Node {
  readonly type: "subshell" | "group";
  readonly body: readonly Statement[];
}

/** `((…))`. */
export interface Arithmetic extends Node {
  readonly type: "arithmetic";
  readonly text: string;
}

/** Something that could not be read; a problem stands at its place. */
export interface Opaque extends Node {
  readonly type: "opaque";
}

export type Statement =
  | SimpleCommand
  | Pipeline
  | AndOr
  | If
  | Loop
  | For
  | Case
  | FunctionDefinition
  | Compound
  | Arithmetic
  | Opaque;

/** The parts of a word, also of one that is a single plain run. */
export function partsOf(word: Word): readonly Part[] {
  return word.parts ?? [{ type: "text", text: word.text ?? "", start: word.start, end: word.end }];
}
