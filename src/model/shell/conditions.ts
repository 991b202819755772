/** What commands test: `[ … ]`, `[[ … ]]`, `test`, `((…))`, `grep`, and the conditions under which a command runs. */
import type { Arg, Flow, Frame, Invocation } from "./program.js";
import { inDirectory, isPath, literal, patternMatches, type Text } from "./text.js";

export type Test =
  /** `-f`, `-e`, `-s`, `-r`, … */
  | { readonly kind: "file"; readonly op: string; readonly path: Arg }
  /** `-z` and `-n`. */
  | { readonly kind: "empty"; readonly negated: boolean; readonly value: Arg }
  /** `=`, `==`, `!=`, `-eq`, `-ne`, `-lt`, `-le`, `-gt`, `-ge`, `=~`, `<`, `>`; `pattern`: the right side is a pattern (`[[`). */
  | {
      readonly kind: "compare";
      readonly op: string;
      readonly left: Arg;
      readonly right: Arg;
      readonly pattern: boolean;
    }
  | { readonly kind: "not"; readonly test: Test }
  | { readonly kind: "and" | "or"; readonly tests: readonly Test[] }
  | { readonly kind: "arithmetic"; readonly text: string }
  | { readonly kind: "unknown" };

const TESTS = new WeakMap<Invocation, Test | null>();

/** The test that an invocation makes (always the same object); undefined: it is another command. */
export function testOf(invocation: Invocation): Test | undefined {
  let test = TESTS.get(invocation);
  if (test === undefined) TESTS.set(invocation, (test = readTest(invocation) ?? null));
  return test ?? undefined;
}

function readTest(invocation: Invocation): Test | undefined {
  const { command } = invocation;
  switch (command[0]?.known) {
    case "[":
    case "[[": {
      const double = command[0].known === "[[";
      const close = double ? "]]" : "]";
      if (command[command.length - 1]?.known !== close) return { kind: "unknown" };
      return new TestReader(command.slice(1, -1), double).read();
    }
    case "test":
      return new TestReader(command.slice(1), false).read();
    case "((":
      return { kind: "arithmetic", text: command[1]?.known ?? "" };
    default:
      return undefined;
  }
}

const FILE = /^-[abcdefghkprstuwxGLNOS]$/;
const COMPARE = new Set([
  "=",
  "==",
  "!=",
  "-eq",
  "-ne",
  "-lt",
  "-le",
  "-gt",
  "-ge",
  "=~",
  "<",
  ">",
  "-nt",
  "-ot",
  "-ef",
]);
const MAX_TESTS = 64;

class TestReader {
  readonly #args: readonly Arg[];
  readonly #double: boolean;
  #at = 0;
  #depth = 0;

  constructor(args: readonly Arg[], double: boolean) {
    this.#args = args;
    this.#double = double;
  }

  read(): Test {
    if (this.#args.length === 0) return { kind: "unknown" };
    // An unquoted expansion may be any number of words.
    const vanishing =
      !this.#double &&
      this.#args.some(
        (arg) =>
          arg.pieces.some((piece) => typeof piece !== "string" && (piece.split || piece.kind === "arguments")) &&
          !arg.quoted,
      );
    const test = this.#or();
    if (this.#at < this.#args.length) return { kind: "unknown" };
    if (vanishing && this.#args.length > 3) return { kind: "unknown" };
    return test;
  }

  #word(offset = 0): string | undefined {
    const arg = this.#args[this.#at + offset];
    return arg?.quoted ? undefined : arg?.known;
  }

  #list(kind: "and" | "or", operator: string, double: string, next: () => Test): Test {
    const tests = [next()];
    while ((this.#word() === operator && !this.#double) || (this.#double && this.#word() === double)) {
      this.#at++;
      tests.push(next());
      if (tests.length > MAX_TESTS) return { kind: "unknown" };
    }
    return tests.length === 1 ? tests[0]! : { kind, tests };
  }

  #or(): Test {
    return this.#list("or", "-o", "||", () => this.#and());
  }

  #and(): Test {
    return this.#list("and", "-a", "&&", () => this.#not());
  }

  #not(): Test {
    let negated = false;
    while (this.#word() === "!" && this.#args.length - this.#at > 1) {
      negated = !negated;
      this.#at++;
    }
    const test = this.#primary();
    return negated ? { kind: "not", test } : test;
  }

  #primary(): Test {
    const word = this.#word();
    const operator = this.#word(1);
    const left = this.#args[this.#at];
    const right = this.#args[this.#at + 2];
    if (left === undefined) return { kind: "unknown" };
    if (operator !== undefined && COMPARE.has(operator) && right !== undefined) {
      this.#at += 3;
      return { kind: "compare", op: operator, left, right, pattern: this.#double && !right.quoted };
    }
    const operand = this.#args[this.#at + 1];
    if (word !== undefined && operand !== undefined) {
      if (word === "-z" || word === "-n") {
        this.#at += 2;
        return { kind: "empty", negated: word === "-n", value: operand };
      }
      if (FILE.test(word)) {
        this.#at += 2;
        return { kind: "file", op: word, path: operand };
      }
      if (word === "(" && this.#depth < 16) {
        this.#at++;
        this.#depth++;
        const inner = this.#or();
        this.#depth--;
        if (this.#word() !== ")") return { kind: "unknown" };
        this.#at++;
        return inner;
      }
    }
    if (word !== undefined && /^-[a-zA-Z]$/.test(word) && this.#args.length > 1) return { kind: "unknown" };
    this.#at++;
    return { kind: "empty", negated: true, value: left };
  }
}

/** A comparison or emptiness test of known texts; undefined: not decided. */
export function decide(test: Test, resolve: (text: Text) => Text = (text) => text): boolean | undefined {
  switch (test.kind) {
    case "empty": {
      const { known } = resolve(test.value);
      if (known !== undefined) return (known === "") !== test.negated;
      // Known characters beside a hole: not empty.
      return resolve(test.value).pieces.some((piece) => typeof piece === "string") ? test.negated : undefined;
    }
    case "compare": {
      const left = resolve(test.left).known;
      const right = resolve(test.right).known;
      const pattern = test.pattern ? patternOf(resolve(test.right)) : right;
      if (left === undefined || pattern === undefined) return undefined;
      switch (test.op) {
        case "=":
        case "==":
          return test.pattern ? patternMatches(pattern, left) : left === right;
        case "!=":
          return test.pattern ? !patternMatches(pattern, left) : left !== right;
        default:
          return compareNumbers(test.op, left, pattern);
      }
    }
    case "not": {
      const inner = decide(test.test, resolve);
      return inner === undefined ? undefined : !inner;
    }
    case "and":
    case "or": {
      let all: boolean | undefined = test.kind === "and";
      for (const part of test.tests) {
        const inner = decide(part, resolve);
        if (inner === (test.kind === "or")) return inner;
        if (inner === undefined) all = undefined;
      }
      return all;
    }
    default:
      return undefined;
  }
}

function compareNumbers(op: string, left: string, right: string): boolean | undefined {
  if (!/^\s*-?\d+\s*$/.test(left) || !/^\s*-?\d+\s*$/.test(right)) return undefined;
  const a = Number(left);
  const b = Number(right);
  const results: Readonly<Record<string, boolean>> = {
    "-eq": a === b,
    "-ne": a !== b,
    "-lt": a < b,
    "-le": a <= b,
    "-gt": a > b,
    "-ge": a >= b,
  };
  return results[op];
}

/** A text with globs as a shell pattern; undefined when it has other holes. */
export function patternOf(text: Text): string | undefined {
  let out = "";
  for (const piece of text.pieces) {
    if (typeof piece === "string") out += piece;
    else if (piece.kind === "glob") out += piece.name ?? "*";
    else return undefined;
  }
  return out;
}

/** A call of grep. */
export interface Grep {
  readonly invocation: Invocation;
  readonly patterns: readonly Arg[];
  /** Empty: it reads its input. */
  readonly files: readonly Arg[];
  readonly inverted: boolean;
  readonly fixed: boolean;
  readonly quiet: boolean;
  readonly wholeLine: boolean;
}

const GREP_VALUES = new Set([
  "-A",
  "-B",
  "-C",
  "-m",
  "-d",
  "-D",
  "--max-count",
  "--context",
  "--after-context",
  "--before-context",
  "--color",
  "--label",
]);

/** Reads `grep [options] PATTERN [file …]`; `-a` is an option of it without an operand. */
export function grepOf(invocation: Invocation): Grep | undefined {
  const { name, command } = invocation;
  if (name !== "grep" && name !== "egrep" && name !== "fgrep" && name !== "zgrep") return undefined;
  const patterns: Arg[] = [];
  const files: Arg[] = [];
  let inverted = false;
  let fixed = name === "fgrep";
  let quiet = false;
  let wholeLine = false;
  let options = true;
  for (let i = 1; i < command.length; i++) {
    const arg = command[i]!;
    const word = arg.known;
    if (options && word === "--") {
      options = false;
      continue;
    }
    if (options && word !== undefined && word.length > 1 && word.startsWith("-")) {
      if (word === "-e" || word === "--regexp") {
        const pattern = command[++i];
        if (pattern !== undefined) patterns.push(pattern);
      } else if (word === "-f" || word === "--file") {
        i++;
        patterns.push({ ...arg, pieces: [{ kind: "other" }], known: undefined });
      } else if (GREP_VALUES.has(word)) i++;
      else if (word.startsWith("--regexp=")) patterns.push({ ...arg, ...literal(word.slice(9)) });
      else if (word.startsWith("--")) {
        if (word === "--invert-match") inverted = true;
        if (word === "--fixed-strings") fixed = true;
        if (word === "--quiet" || word === "--silent") quiet = true;
        if (word === "--line-regexp") wholeLine = true;
      } else {
        if (word.includes("v")) inverted = true;
        if (word.includes("F")) fixed = true;
        if (word.includes("q")) quiet = true;
        if (word.includes("x")) wholeLine = true;
        if (word.endsWith("e")) {
          const pattern = command[++i];
          if (pattern !== undefined) patterns.push(pattern);
        }
      }
      continue;
    }
    files.push(arg);
  }
  if (patterns.length === 0) {
    const pattern = files.shift();
    if (pattern !== undefined) patterns.push(pattern);
  }
  return { invocation, patterns, files, inverted, fixed, quiet, wholeLine };
}

/** Commands whose arguments are no files. */
const NO_FILES = new Set(
  "echo printf getent nslookup host dig ping nc redis-cli valkey-cli curl wget hostname date seq sleep id expr tr kubectl export local readonly read exit return".split(
    " ",
  ),
);

/** The arguments of a command that may be files. */
function filesOf(invocation: Invocation): readonly Arg[] {
  const { name, command } = invocation;
  if (NO_FILES.has(name ?? "")) return [];
  const grep = grepOf(invocation);
  if (grep !== undefined) return grep.files;
  if (name !== "sed" && name !== "awk") return command.slice(1);
  // The first operand is the script, unless an option gave it.
  const given = command.some((arg) => arg.known === "-e" || arg.known === "-f");
  const script = given ? 0 : command.findIndex((arg, i) => i > 0 && !(arg.known ?? "x").startsWith("-"));
  return command.slice(script + 1);
}

/** Whether a command reads the file at `path`: as an argument, by `<`, or through `cat path |`. */
export function readsFile(invocation: Invocation, path: string): "yes" | "no" | "maybe" {
  let answer: "no" | "maybe" = "no";
  const see = (text: Text): boolean => {
    const found = isPath(text, path);
    if (found === "maybe") answer = "maybe";
    return found === "yes";
  };
  for (const arg of filesOf(invocation)) if (see(inDirectory(arg, invocation.directory))) return "yes";
  for (const redirect of invocation.redirects) {
    if (redirect.op === "<" && redirect.target !== undefined && see(redirect.target)) return "yes";
  }
  const from = invocation.pipedFrom;
  if (from !== undefined && from.order !== invocation.order) {
    const found = readsFile(from, path);
    if (found !== "no") return found;
  }
  return answer;
}

/** A condition under which a command runs. */
export type Guard =
  | { readonly kind: "test"; readonly test: Test; readonly holds: boolean; readonly invocation: Invocation }
  | { readonly kind: "command"; readonly invocation: Invocation; readonly holds: boolean }
  | { readonly kind: "case"; readonly subject: Text; readonly patterns: readonly Text[]; readonly holds: boolean }
  | { readonly kind: "loop" }
  | { readonly kind: "unknown" };

/** The conditions under which an invocation runs, outermost first: tests around it, and earlier ways out of the script. */
export function guardsOf(invocation: Invocation): Guard[] {
  const out: Guard[] = [];
  for (const { flow, slot } of invocation.frames) {
    switch (flow.type) {
      case "seq":
        for (const i of exitsOf(flow)) if (i < slot) earlierExit(flow.items[i]!, out);
        break;
      case "if": {
        const clause = slot % 2 === 1 ? (slot - 1) / 2 : slot / 2;
        for (let k = 0; k < Math.min(clause, flow.tests.length); k++) conditions(flow.tests[k]!, false, out);
        if (slot % 2 === 1) conditions(flow.tests[clause]!, true, out);
        break;
      }
      case "andor":
        if (slot > 0) {
          // `a && b || c`: c runs when the chain before it failed, which is one condition only behind a single item.
          const op = flow.ops[slot - 1]!;
          let from = slot - 1;
          while (from > 0 && flow.ops[from - 1] === op) from--;
          const uniform = from === 0;
          if (op === "&&") for (let i = uniform ? 0 : slot - 1; i < slot; i++) conditions(flow.items[i]!, true, out);
          else if (uniform) for (let i = 0; i < slot; i++) conditions(flow.items[i]!, false, out);
          else out.push({ kind: "unknown" });
        }
        break;
      case "loop":
        if (slot === 1) {
          out.push({ kind: "loop" });
          conditions(flow.test, !flow.until, out);
        }
        break;
      case "for":
        if (slot === 1) out.push({ kind: "loop" });
        break;
      case "case":
        if (slot > 0) {
          const item = flow.items[slot - 1];
          if (item !== undefined)
            out.push({ kind: "case", subject: flow.subject, patterns: item.patterns, holds: true });
        }
        break;
      default:
        break;
    }
  }
  return out;
}

/** Whether a part of a test that is no combination of others is so, whatever is negated around it. */
export function somePart(test: Test, is: (part: Test) => boolean): boolean {
  if (test.kind === "not") return somePart(test.test, is);
  return test.kind === "and" || test.kind === "or" ? test.tests.some((part) => somePart(part, is)) : is(test);
}

const DEAD = new WeakMap<Invocation, boolean>();

/** Whether a command never runs: the script ends before it, or a condition around it compares known texts and does not hold. */
export function isDead(invocation: Invocation): boolean {
  let dead = DEAD.get(invocation);
  if (dead === undefined) {
    dead = invocation.frames.some(isBehindEnd) || guardsOf(invocation).some(isNever);
    DEAD.set(invocation, dead);
  }
  return dead;
}

/** Whether a statement before this one always leaves: `exit`, `exec`, `return`, `break`, or a choice of them. */
function isBehindEnd({ flow, slot }: Frame): boolean {
  if (flow.type !== "seq" || flow.ends === undefined) return false;
  for (let i = 0; i < slot; i++) if (flow.items[i]?.ends !== undefined) return true;
  return false;
}

function isNever(guard: Guard): boolean {
  if (guard.kind === "test") return decide(guard.test) === !guard.holds;
  if (guard.kind === "command")
    return (guard.invocation.name === "false" && guard.holds) || (guard.invocation.name === "true" && !guard.holds);
  if (guard.kind !== "case") return false;
  const subject = guard.subject.known;
  const patterns = guard.patterns.map(patternOf);
  return subject !== undefined && patterns.every((p) => p !== undefined && !patternMatches(p, subject));
}

const EXITS = new WeakMap<Flow, readonly number[]>();

/** Which statements of a sequence may end it. */
function exitsOf(flow: Extract<Flow, { type: "seq" }>): readonly number[] {
  let exits = EXITS.get(flow);
  if (exits === undefined) {
    exits = flow.items.flatMap((item, i) => {
      const found: Guard[] = [];
      earlierExit(item, found);
      return found.length > 0 ? [i] : [];
    });
    EXITS.set(flow, exits);
  }
  return exits;
}

/** `if test; then exit; fi` and `test && exit`: what follows runs only when the test fails. */
function earlierExit(item: Flow, out: Guard[]): void {
  if (item.type === "if" && item.otherwise === undefined) {
    item.bodies.forEach((body, k) => {
      if (body.ends === "exit" || body.ends === "return") conditions(item.tests[k]!, false, out);
    });
  }
  if (item.type === "andor" && item.items.length === 2) {
    const last = item.items[1]!;
    if (last.ends === "exit" || last.ends === "return") conditions(item.items[0]!, item.ops[0] === "||", out);
  }
}

/** Adds what is known when a flow succeeded (`holds`) or failed. */
function conditions(flow: Flow, holds: boolean, out: Guard[]): void {
  switch (flow.type) {
    case "run": {
      const test = testOf(flow.invocation);
      if (test === undefined) out.push({ kind: "command", invocation: flow.invocation, holds });
      else spread(test, holds, flow.invocation, out);
      return;
    }
    case "seq": {
      const last = flow.items[flow.items.length - 1];
      if (last !== undefined) conditions(last, holds, out);
      return;
    }
    case "pipe": {
      const last = flow.items[flow.items.length - 1];
      if (last !== undefined) conditions(last, holds !== flow.negated, out);
      return;
    }
    case "sub":
    case "call":
      conditions(flow.body, holds, out);
      return;
    case "andor": {
      const every = holds ? "&&" : "||";
      if (flow.ops.every((op) => op === every)) for (const item of flow.items) conditions(item, holds, out);
      else out.push({ kind: "unknown" });
      return;
    }
    default:
      out.push({ kind: "unknown" });
  }
}

/** Takes conjunctions apart. */
function spread(test: Test, holds: boolean, invocation: Invocation, out: Guard[]): void {
  if (test.kind === "not") spread(test.test, !holds, invocation, out);
  else if (test.kind === (holds ? "and" : "or")) for (const part of test.tests) spread(part, holds, invocation, out);
  else out.push({ kind: "test", test, holds, invocation });
}
