/** From the grammar's concrete tree to the syntax tree of the house. */
import type {
  Assignment,
  CaseItem,
  NestedScript,
  Part,
  Redirect,
  ShellProblem,
  SimpleCommand,
  Statement,
  Word,
} from "./shell-ast.js";
import { closingOffset, type ShellScan } from "./shell-scan.js";
import { lexHeredoc, lexWord, splitWords, type WordHost } from "./shell-word.js";

/** A node of the grammar's tree. */
export interface Concrete {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly missing: boolean;
  readonly children: readonly Concrete[];
}

export const MAX_DEPTH = 100;
const MAX_NESTED_SCRIPTS = 4;

/** A parsed text, or why it was not parsed. */
export type Parsed = { readonly root: Concrete; readonly scan: ShellScan } | { readonly problem: string };

export interface TreeHost {
  parse(text: string): Parsed;
}

/** Where a nested script's characters stand in the outermost text. */
interface Mapping {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly holes: ReadonlyMap<number, { readonly end: number; readonly part: Part }>;
}

export interface Collected {
  readonly problems: ShellProblem[];
  readonly comments: { start: number; end: number }[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const WORD_BREAKS = new Set([";", "\n", "&", ";;", ";&", ";;&", "|", "||", "&&", "(", ")"]);
/** Words that only the grammar's error recovery, or a reading that it does not have, takes for a command's name. */
const MISREAD = new Set([
  "{",
  "}",
  "if",
  "then",
  "else",
  "elif",
  "fi",
  "do",
  "done",
  "while",
  "until",
  "for",
  "case",
  "esac",
]);
const SHELLS = new Set(["sh", "bash", "ash", "dash", "ksh", "zsh"]);
/** Commands that run the command in their arguments. */
const RUNNERS = new Set(
  "exec command env timeout nice ionice nohup setsid stdbuf time tini dumb-init catatonit su-exec gosu sudo doas setpriv runuser chroot xargs flock watch find busybox docker nerdctl podman kubectl oc k3s multipass ssh docker-entrypoint.sh".split(
    " ",
  ),
);

export class Converter implements WordHost {
  readonly text: string;
  readonly #scan: ShellScan;
  readonly #host: TreeHost;
  readonly #into: Collected;
  readonly #mapping: Mapping | undefined;
  readonly #nesting: number;
  readonly #substitutions = new Map<number, Concrete>();
  readonly #negated: Set<number>;
  readonly #reported = new Set<Concrete>();
  #depth: number;

  constructor(
    text: string,
    scan: ShellScan,
    host: TreeHost,
    into: Collected,
    mapping?: Mapping,
    nesting = 0,
    depth = 0,
  ) {
    this.text = text;
    this.#scan = scan;
    this.#host = host;
    this.#into = into;
    this.#mapping = mapping;
    this.#nesting = nesting;
    this.#negated = new Set(scan.negated);
    this.#depth = depth;
  }

  script(root: Concrete): Statement[] {
    const errors: Concrete[] = [];
    const stack = [root];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (node.type === "command_substitution" || node.type === "process_substitution") {
        this.#substitutions.set(node.start, node);
      }
      if (node.type === "ERROR") errors.push(node);
      for (const child of node.children) {
        // The grammar wants a name in `x=1 > file`.
        if (child.missing && !(node.type === "command_name" && node.end === node.start)) errors.push(child);
        stack.push(child);
      }
    }
    const body = this.#statements(root.children, 0, root.children.length);
    for (const node of errors) if (!this.#reported.has(node)) this.#unread(node);
    return body;
  }

  at(offset: number, end: boolean): number {
    const mapping = this.#mapping;
    if (mapping === undefined) return offset;
    if (end && offset > 0) return mapping.ends[offset - 1] ?? mapping.ends[mapping.ends.length - 1] ?? 0;
    return mapping.starts[offset] ?? mapping.ends[mapping.ends.length - 1] ?? 0;
  }

  hole(offset: number): { readonly end: number; readonly part: Part } | undefined {
    return this.#mapping?.holes.get(offset);
  }

  substitution(offset: number, limit: number): { end: number; body: readonly Statement[] } {
    const { text } = this;
    const node = this.#substitutions.get(offset);
    if (node !== undefined && node.end <= limit) {
      const skip = node.children[node.children.length - 1]!;
      const closed = skip.type === ")" || skip.type === "`";
      return {
        end: node.end,
        body: this.#nested(node, () => this.#statements(node.children, 1, node.children.length - (closed ? 1 : 0))),
      };
    }
    const opener = text[offset] === "`" ? 1 : 2;
    const close = closingOffset(text, offset + opener, opener === 1 ? "backtick" : "parens");
    if (close < 0 || close > limit) {
      this.#problem("syntax", "a substitution is not closed", offset, limit);
      return { end: limit, body: [] };
    }
    return { end: close, body: this.#inner(offset + opener, close - 1) };
  }

  #problem(kind: ShellProblem["kind"], message: string, start: number, end: number): void {
    this.#into.problems.push({ kind, message, start: this.at(start, false), end: this.at(end, end > start) });
  }

  #range(start: number, end: number): { start: number; end: number } {
    return { start: this.at(start, false), end: this.at(end, end > start) };
  }

  #nested<T>(node: { start: number; end: number }, make: () => T[]): T[] {
    if (this.#depth >= MAX_DEPTH) {
      this.#problem("limit", "nested too deeply", node.start, node.end);
      return [];
    }
    this.#depth++;
    const made = make();
    this.#depth--;
    return made;
  }

  /** Statements of a part of the text that the grammar did not read (the body of a here-document is not in its tree). */
  #inner(start: number, end: number): Statement[] {
    const { text } = this;
    const starts: number[] = [];
    const ends: number[] = [];
    const holes = new Map<number, { end: number; part: Part }>();
    for (let i = start; i < end; i++) {
      starts.push(this.at(i, false));
      ends.push(this.at(i + 1, true));
      const hole = this.hole(i);
      if (hole !== undefined) holes.set(i - start, { end: hole.end - start, part: hole.part });
    }
    return this.#sub({ text: text.slice(start, end), starts, ends, holes }, start, end, this.#nesting);
  }

  #sub(mapping: Mapping, start: number, end: number, nesting: number): Statement[] {
    const parsed = this.#host.parse(mapping.text);
    if ("problem" in parsed) {
      this.#problem("limit", parsed.problem, start, end);
      return [];
    }
    return this.#nested({ start, end }, () =>
      new Converter(mapping.text, parsed.scan, this.#host, this.#into, mapping, nesting, this.#depth).script(
        parsed.root,
      ),
    );
  }

  #statements(nodes: readonly Concrete[], from: number, to: number): Statement[] {
    const out: Statement[] = [];
    for (let i = from; i < to; i++) {
      const node = nodes[i]!;
      if (node.type === "comment") this.#into.comments.push(this.#range(node.start, node.end));
      else if (node.type === "&") {
        const last = out[out.length - 1] as Mutable<Statement> | undefined;
        if (last !== undefined) last.background = true;
      } else if (WORD_BREAKS.has(node.type)) continue;
      else if (node.type === "ERROR" || node.missing) out.push(this.#unread(node));
      else out.push(this.#statement(node));
    }
    return out;
  }

  #unread(node: Concrete): Statement {
    this.#reported.add(node);
    const near = this.text
      .slice(node.start, Math.min(node.end, node.start + 20))
      .trim()
      .split("\n")[0]!;
    const message = node.missing
      ? `\`${node.type}\` expected`
      : near === ""
        ? "not understood"
        : `not understood near \`${near}\``;
    this.#problem("syntax", message, node.start, node.end);
    return { type: "opaque", ...this.#range(node.start, node.end) };
  }

  #statement(node: Concrete): Statement {
    return isChain(node) ? this.#chain(node) : this.#operand(node);
  }

  /**
   * Pipelines and and-or lists. The grammar leans a long chain to the left, as deep as it is long, and sometimes puts a
   * list into a pipeline: so operands and operators are taken in the order of the text and put together again.
   */
  #chain(node: Concrete): Statement {
    const ops: string[] = [];
    const operands: Statement[] = [];
    const starts: number[] = [];
    const ends: number[] = [];
    const stack: Concrete[] = [node];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (isChain(next)) {
        for (let i = next.children.length - 1; i >= 0; i--) stack.push(next.children[i]!);
      } else if (next.type === "&&" || next.type === "||" || next.type === "|" || next.type === "|&") {
        ops.push(next.type);
      } else if (next.type.endsWith("_redirect") && operands.length > 0) {
        const redirects: Redirect[] = [];
        const words: Word[] = [];
        this.#redirect(next, redirects, words);
        const last = operands.length - 1;
        operands[last] = attach(operands[last]!, redirects, words, this.at(next.end, true));
        ends[last] = next.end;
      } else if (next.type !== "comment" && next.type !== "ERROR" && next.type !== "\n") {
        operands.push(this.#operand(next, false));
        starts.push(next.start);
        ends.push(next.end);
      }
    }
    if (operands.length !== ops.length + 1) return this.#unread(node);
    const items: Statement[] = [];
    const joins: ("&&" | "||")[] = [];
    for (let i = 0; i < operands.length; ) {
      let j = i;
      while (ops[j] === "|" || ops[j] === "|&") j++;
      const commands = operands.slice(i, j + 1);
      const negated = this.#negated.delete(starts[i]!);
      const range = this.#range(starts[i]!, ends[j]!);
      if (negated) items.push({ type: "pipeline", ...range, negated, commands });
      else items.push(commands.length === 1 ? commands[0]! : { type: "pipeline", ...range, commands });
      if (j < ops.length) joins.push(ops[j] as "&&" | "||");
      i = j + 1;
    }
    if (items.length === 1) return items[0]!;
    return { type: "andor", ...this.#range(starts[0]!, ends[ends.length - 1]!), items, ops: joins };
  }

  /** A statement that is no chain; `alone`: it may be a negated pipeline of its own. */
  #operand(node: Concrete, alone = true): Statement {
    if (alone && this.#negated.delete(node.start)) {
      return { type: "pipeline", ...this.#range(node.start, node.end), negated: true, commands: [this.#operand(node)] };
    }
    const [statement] = this.#nested(node, () => [
      node.type === "redirected_statement" ? this.#redirected(node) : this.#plain(node),
    ]);
    return statement ?? { type: "opaque", ...this.#range(node.start, node.end) };
  }

  #plain(node: Concrete): Statement {
    switch (node.type) {
      case "command":
      case "declaration_command":
      case "unset_command":
        return this.#command(node);
      case "variable_assignment":
        return this.#assignments([node], node);
      case "variable_assignments":
        return this.#assignments(node.children, node);
      case "test_command":
        return this.#test(node);
      case "if_statement":
        return this.#if(node);
      case "while_statement":
        return this.#loop(node);
      case "for_statement":
      case "c_style_for_statement":
        return this.#for(node);
      case "case_statement":
        return this.#case(node);
      case "function_definition":
        return this.#function(node);
      case "compound_statement":
      case "subshell": {
        const range = this.#range(node.start, node.end);
        const first = node.children[0]!;
        if (first.type === "((") {
          return { type: "arithmetic", ...range, text: this.text.slice(node.start + 2, node.end - 2).trim() };
        }
        const body = this.#statements(node.children, 1, node.children.length - 1);
        return { type: node.type === "subshell" ? "subshell" : "group", ...range, body };
      }
      case "file_redirect":
        // `$(< file)`
        return this.#redirected({ ...node, children: [node] });
      default:
        return this.#unread(node);
    }
  }

  #redirected(node: Concrete): Statement {
    const redirects: Redirect[] = [];
    const words: Word[] = [];
    let body: Statement | undefined;
    for (const child of node.children) {
      if (child.type.endsWith("_redirect")) this.#redirect(child, redirects, words);
      else if (child.type !== "comment" && child.type !== "ERROR" && body === undefined) body = this.#operand(child);
    }
    if (body === undefined) return { type: "command", ...this.#range(node.start, node.end), words, redirects };
    return attach(body, redirects, words, this.at(node.end, true));
  }

  #redirect(node: Concrete, into: Redirect[], words: Word[]): void {
    let fd: number | undefined;
    let op = "";
    let opStart = node.start;
    let target: { start: number; end: number } | undefined;
    let more: { start: number; end: number }[] = [];
    for (const child of node.children) {
      if (child.type === "file_descriptor") fd = Number(this.text.slice(child.start, child.end));
      else if (child.type === "ERROR") continue;
      else if (op === "" && /^[<>&|-]+$/.test(child.type)) {
        op = child.type;
        opStart = child.start;
      } else if (child.type !== "comment" && child.end > child.start) {
        if (target !== undefined && target.end === child.start && more.length === 0)
          target = { start: target.start, end: child.end };
        else if (target === undefined && !op.endsWith("-")) target = { start: child.start, end: child.end };
        else if (more.length > 0 && more[more.length - 1]!.end === child.start) {
          more = [...more.slice(0, -1), { start: more[more.length - 1]!.start, end: child.end }];
        } else more.push({ start: child.start, end: child.end });
      }
    }
    for (const word of more) words.push(lexWord(this, word.start, word.end));
    const heredoc = this.#scan.heredocs.get(opStart);
    const withFd = fd === undefined || Number.isNaN(fd) ? {} : { fd };
    if (heredoc !== undefined) {
      const { start, end, delimiter, quoted } = heredoc;
      const parts = this.#nested(heredoc, () => lexHeredoc(this, start, end, quoted, heredoc.op === "<<-"));
      into.push({
        op: heredoc.op,
        ...this.#range(node.start, heredoc.operatorEnd),
        ...withFd,
        heredoc: { ...this.#range(start, end), delimiter, quoted, parts },
      });
      return;
    }
    if (this.#scan.readWrite.has(opStart)) op = "<>";
    const end = target?.end ?? opStart + op.length;
    const redirect: Mutable<Redirect> = { op, ...this.#range(node.start, end), ...withFd };
    if (target !== undefined) redirect.target = lexWord(this, target.start, target.end);
    into.push(redirect);
  }

  #command(node: Concrete): Statement {
    const spans: { start: number; end: number }[] = [];
    const assigns: Assignment[] = [];
    const redirects: Redirect[] = [];
    const words: Word[] = [];
    const declaration = node.type !== "command";
    for (const child of node.children) {
      if (child.type === "comment") this.#into.comments.push(this.#range(child.start, child.end));
      else if (child.type === "subshell") this.#unread(child);
      else if (child.type === "ERROR") continue;
      else if (child.type.endsWith("_redirect")) this.#redirect(child, redirects, words);
      else if (child.type === "variable_assignment" && !declaration && spans.length === 0)
        assigns.push(this.#assignment(child));
      else if (child.end > child.start) {
        const last = spans[spans.length - 1];
        if (last !== undefined && last.end === child.start) last.end = child.end;
        else spans.push({ start: child.start, end: child.end });
      }
    }
    for (const span of spans) words.push(lexWord(this, span.start, span.end));
    words.sort((a, b) => a.start - b.start);
    const first = words[0];
    if (first !== undefined && first.text !== undefined && first.parts === undefined && MISREAD.has(first.text))
      return this.#unread(node);
    return this.#simple(node, assigns, words, redirects);
  }

  #simple(
    node: { start: number; end: number },
    assigns: Assignment[],
    words: Word[],
    redirects: Redirect[],
  ): Statement {
    const command: Mutable<SimpleCommand> = { type: "command", ...this.#range(node.start, node.end), words };
    if (assigns.length > 0) command.assigns = assigns;
    if (redirects.length > 0) command.redirects = redirects;
    const script = this.#nestedScript(words, node);
    if (script !== undefined) command.script = script;
    return command;
  }

  #assignments(nodes: readonly Concrete[], node: Concrete): Statement {
    const assigns = nodes
      .filter((child) => child.type === "variable_assignment")
      .map((child) => this.#assignment(child));
    return { type: "command", ...this.#range(node.start, node.end), assigns, words: [] };
  }

  #assignment(node: Concrete): Assignment {
    const match = /^([A-Za-z_]\w*)(\[[^\]]*\])?(\+?=)/.exec(this.text.slice(node.start, node.end));
    const name = match?.[1] ?? "";
    const valueStart = node.start + (match?.[0].length ?? 0);
    // An array is lexed with its name before it, which is what makes its parenthesis one.
    const array = this.text[valueStart] === "(";
    const lexed = lexWord(this, array ? node.start : valueStart, node.end, false);
    const value: Word = array
      ? {
          start: this.at(valueStart, false),
          end: lexed.end,
          parts: (lexed.parts ?? []).filter((p) => p.type === "array"),
        }
      : lexed;
    const range = this.#range(node.start, node.end);
    // An element of an array is no value of the name.
    const part = match === null || match[2] !== undefined || match[3] === "+=";
    return part ? { ...range, name, append: true, value } : { ...range, name, value };
  }

  #test(node: Concrete): Statement {
    const width = this.text.startsWith("[[", node.start) ? 2 : 1;
    const words = [
      lexWord(this, node.start, node.start + width, false),
      ...splitWords(this, node.start + width, node.end - width, width === 1),
      lexWord(this, node.end - width, node.end, false),
    ];
    return this.#simple(node, [], words, []);
  }

  #if(node: Concrete): Statement {
    const clauses: { test: Statement[]; body: Statement[] }[] = [];
    let otherwise: Statement[] | undefined;
    const clause = (nodes: readonly Concrete[], from: number, to: number): void => {
      let then = from;
      while (then < to && nodes[then]!.type !== "then") then++;
      clauses.push({
        test: this.#statements(nodes, from, then),
        body: this.#statements(nodes, Math.min(to, then + 1), to),
      });
    };
    const { children } = node;
    let end = children.length;
    const firstBranch = children.findIndex(
      (child) => child.type === "elif_clause" || child.type === "else_clause" || child.type === "fi",
    );
    if (firstBranch >= 0) end = firstBranch;
    clause(children, 1, end);
    for (let i = end; i < children.length; i++) {
      const child = children[i]!;
      if (child.type === "elif_clause") clause(child.children, 1, child.children.length);
      else if (child.type === "else_clause") otherwise = this.#statements(child.children, 1, child.children.length);
      else if (child.type === "comment") this.#into.comments.push(this.#range(child.start, child.end));
    }
    const range = this.#range(node.start, node.end);
    return otherwise === undefined ? { type: "if", ...range, clauses } : { type: "if", ...range, clauses, otherwise };
  }

  #doGroup(node: Concrete | undefined): Statement[] {
    if (node === undefined) return [];
    if (node.type === "compound_statement") return this.#statements(node.children, 1, node.children.length - 1);
    const { children } = node;
    const last = children[children.length - 1];
    return this.#statements(children, 1, last?.type === "done" ? children.length - 1 : children.length);
  }

  #loop(node: Concrete): Statement {
    const { children } = node;
    const bodyAt = children.findIndex((child) => child.type === "do_group");
    const test = this.#statements(children, 1, bodyAt < 0 ? children.length : bodyAt);
    const body = this.#doGroup(children[bodyAt]);
    const range = this.#range(node.start, node.end);
    return children[0]!.type === "until"
      ? { type: "loop", ...range, until: true, test, body }
      : { type: "loop", ...range, test, body };
  }

  #for(node: Concrete): Statement {
    const { children } = node;
    const range = this.#range(node.start, node.end);
    const body = this.#doGroup(
      children.find((child) => child.type === "do_group" || child.type === "compound_statement"),
    );
    if (node.type === "c_style_for_statement") {
      const open = children.find((child) => child.type === "((");
      const close = children.find((child) => child.type === "))");
      const arithmetic = this.text.slice((open ?? node).end, (close ?? node).start);
      return { type: "for", ...range, name: "", arithmetic, body };
    }
    const variable = children.find((child) => child.type === "variable_name");
    const name = variable === undefined ? "" : this.text.slice(variable.start, variable.end);
    const from = children.findIndex((child) => child.type === "in");
    if (from < 0) return { type: "for", ...range, name, body };
    const spans: { start: number; end: number }[] = [];
    for (const child of children.slice(from + 1)) {
      if (child.type === ";" || child.type === "\n" || child.type === "do_group") break;
      if (child.type === "ERROR" || child.type === "comment") continue;
      const last = spans[spans.length - 1];
      if (last !== undefined && last.end === child.start) last.end = child.end;
      else spans.push({ start: child.start, end: child.end });
    }
    return { type: "for", ...range, name, words: spans.map((span) => lexWord(this, span.start, span.end)), body };
  }

  #case(node: Concrete): Statement {
    const { children } = node;
    const inAt = children.findIndex((child) => child.type === "in");
    const subject = children
      .slice(1, inAt < 0 ? 2 : inAt)
      .filter((child) => child.end > child.start && !/^[\s;]*$/.test(child.type));
    const start = subject[0]?.start ?? node.start;
    const word = lexWord(this, start, subject[subject.length - 1]?.end ?? start, false);
    const items: CaseItem[] = [];
    for (const child of children) {
      if (child.type === "case_item") items.push(this.#caseItem(child));
      else if (child.type === "comment") this.#into.comments.push(this.#range(child.start, child.end));
    }
    return { type: "case", ...this.#range(node.start, node.end), word, items };
  }

  #caseItem(node: Concrete): CaseItem {
    const { children } = node;
    const close = children.findIndex((child) => child.type === ")");
    const spans: { start: number; end: number }[] = [];
    let open: { start: number; end: number } | undefined;
    for (const child of children.slice(0, Math.max(0, close))) {
      if (child.type === "(" || child.type === "|" || child.type === "comment") open = undefined;
      else if (child.end > child.start) {
        if (open !== undefined) open.end = child.end;
        else spans.push((open = { start: child.start, end: child.end }));
      }
    }
    const falls = children.some((child) => child.type === ";&" || child.type === ";;&");
    const body = this.#statements(children, close + 1, children.length);
    const item = {
      ...this.#range(node.start, node.end),
      patterns: spans.map((span) => lexWord(this, span.start, span.end)),
      body,
    };
    return falls ? { ...item, fallsThrough: true } : item;
  }

  #function(node: Concrete): Statement {
    const { children } = node;
    const nameNode = children.find((child) => child.type === "word");
    const name = nameNode === undefined ? "" : this.text.slice(nameNode.start, nameNode.end);
    const redirects: Redirect[] = [];
    const words: Word[] = [];
    let body: Statement = { type: "opaque", ...this.#range(node.end, node.end) };
    for (const child of children) {
      if (child.type.endsWith("_redirect")) this.#redirect(child, redirects, words);
      else if (["compound_statement", "subshell", "test_command", "if_statement"].includes(child.type))
        body = this.#statement(child);
    }
    return {
      type: "function",
      ...this.#range(node.start, node.end),
      name,
      body: attach(body, redirects, [], this.at(node.end, true)),
    };
  }

  /** `sh -c SCRIPT` anywhere in an argument vector (behind wrappers, `kubectl exec … --`), `trap SCRIPT …`, `eval SCRIPT`. */
  #nestedScript(words: readonly Word[], node: { start: number; end: number }): NestedScript | undefined {
    if (words.length < 2) return undefined;
    const name = words[0]!.text;
    let index = -1;
    let kind: NestedScript["kind"] = "shell";
    if (name === "trap" && words.length > 2 && words[1]!.text !== "-" && words[1]!.text !== "--") {
      index = 1;
      kind = "trap";
    } else if (name === "eval" && words.length === 2) {
      index = 1;
      kind = "eval";
    } else {
      index = scriptArgument(words.map((word) => word.text));
    }
    const word = words[index];
    if (word === undefined || (word.text === undefined && word.parts === undefined)) return undefined;
    if (this.#nesting >= MAX_NESTED_SCRIPTS) {
      this.#problem("limit", "scripts nested too deeply", node.start, node.end);
      return undefined;
    }
    const body = this.#sub(wordMapping(word), node.start, node.end, this.#nesting + 1);
    return { word: index, kind, body };
  }
}

/** A pipeline or list, also with redirections that belong to its last command. */
function isChain(node: Concrete): boolean {
  if (node.type !== "redirected_statement") return node.type === "list" || node.type === "pipeline";
  const body = node.children.find(
    (child) => !child.type.endsWith("_redirect") && child.type !== "comment" && child.type !== "ERROR",
  );
  return body !== undefined && isChain(body);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The index of the script in an argument vector that runs `sh -c SCRIPT`, or -1. */
export function scriptArgument(argv: readonly (string | undefined)[]): number {
  const runs = argv[0] !== undefined && RUNNERS.has(baseName(argv[0]));
  for (let i = 0; i < argv.length - 1; i++) {
    const word = argv[i];
    if (i > 0 && !runs && argv[i - 1] !== "--") continue;
    if (word === undefined || !SHELLS.has(baseName(word))) continue;
    let found = false;
    for (let j = i + 1; j < argv.length; j++) {
      const option = argv[j];
      if (option === undefined) return found ? j : -1;
      if (/^[-+][A-Za-z]+$/.test(option)) {
        if (option.startsWith("-") && option.includes("c")) found = true;
        if (option.endsWith("o") || option.endsWith("O")) j++;
      } else if (option.startsWith("--") && option.length > 2) continue;
      else if (option === "--" && found) continue;
      else return found ? j : -1;
    }
    return -1;
  }
  return -1;
}

/** The text of a word as a script of its own: expansions in it become runs of private-use characters. */
function wordMapping(word: Word): Mapping {
  const starts: number[] = [];
  const ends: number[] = [];
  const holes = new Map<number, { end: number; part: Part }>();
  let text = "";
  const parts: readonly Part[] = word.parts ?? [{ type: "text", text: word.text!, start: word.start, end: word.end }];
  for (const part of parts) {
    if (part.type === "text") {
      const plain = part.text.length === part.end - part.start;
      for (let i = 0; i < part.text.length; i++) {
        starts.push(plain ? part.start + i : part.start);
        ends.push(plain ? part.start + i + 1 : part.end);
      }
      text += part.text;
      continue;
    }
    const size = 2;
    holes.set(text.length, { end: text.length + size, part: unquoted(part) });
    for (let i = 0; i < size; i++) {
      starts.push(part.start);
      ends.push(part.end);
    }
    text += "\uE000".repeat(size);
  }
  return { text, starts, ends, holes };
}

/** The quotes around the outer word are gone when the inner shell reads it. */
function unquoted(part: Part): Part {
  if (!("quote" in part) || part.type === "text") return part;
  const { quote: _, ...rest } = part;
  return rest as Part;
}

/** Puts redirections, and words that stand behind them, on the statement that they belong to. */
function attach(body: Statement, redirects: readonly Redirect[], words: readonly Word[], end: number): Statement {
  if (redirects.length === 0 && words.length === 0) return body;
  const all = [...(body.redirects ?? []), ...redirects].sort((a, b) => a.start - b.start);
  if (body.type === "command" && words.length > 0) {
    return { ...body, end, redirects: all, words: [...body.words, ...words].sort((a, b) => a.start - b.start) };
  }
  return { ...body, end, redirects: all };
}
