import {
  type ConfArgument,
  type ConfDocument,
  type ConfLine,
  type ConfStatement,
  parseConf,
  splitArgs,
} from "../../document/redis-conf.js";
import { type Segment, type Span, TextView } from "../../text/source.js";
import { judgeUsers, type UserVerdict } from "./conf-acl.js";
import { ArgumentStatement, parseServerArguments } from "./conf-argv.js";
import { judgeStart } from "./conf-cross.js";
import { type ConfClass, type ConfCode, type ConfFinding, type ConfTopic, MAX_FINDINGS } from "./conf-finding.js";
import {
  type BufferLimit,
  type Misread,
  parseBind,
  parseBufferLimits,
  parseSave,
  parseSpecial,
} from "./conf-special.js";
import { parseEnum, parseValue } from "./conf-types.js";
import { type ConfOrigin, ConfValues, type Setting, type UnknownWhy } from "./conf-values.js";
import {
  type Dialect,
  type Directive,
  dialect,
  directive,
  isIgnoredDirective,
  knownDirectives,
  nearest,
  serversWith,
} from "./directives.js";
import { judgeSentinel, type SentinelFacts } from "./sentinel-conf.js";
import { commandTable } from "./servers.js";

export type { ConfFinding } from "./conf-finding.js";
export { type ConfValue, ConfValues } from "./conf-values.js";
export type { SentinelFacts, SentinelMaster, SentinelSetting } from "./sentinel-conf.js";

/**
 * What a server makes of its configuration: a simulation of its start over the lines of its file, of the files that it
 * includes, of what scripts do to the file, and of its command line.
 */

export interface FileFact {
  readonly exists: boolean;
  readonly text?: string | undefined;
  readonly executable?: boolean | undefined;
  /** Of a certificate or a key: equal for the two that belong together. */
  readonly pair?: string | undefined;
}

/** What a script does to the file before the server reads it. Applied in order. */
export type ConfEdit = (
  | {
      /** `echo … >>`, a heredoc: lines at the end. */
      readonly kind: "append";
      readonly statements: readonly ConfStatement[];
    }
  | {
      /** A `sed` that replaces lines: in place of every line of the same directive; appended where there is none. */
      readonly kind: "set";
      readonly statements: readonly ConfStatement[];
    }
  | {
      /** A `sed` that deletes: all lines of a directive go (`sentinel monitor` names one of Sentinel's). */
      readonly kind: "remove";
      readonly directive: string;
    }
  | {
      /** `sed 's/%MASTER%/$IP/g'`: a text inside the words becomes another; without `value` it is not known which. */
      readonly kind: "substitute";
      readonly find: string;
      readonly value?: string | undefined;
    }
  | {
      /** An edit that is not understood, or understood to touch just `directives`: what is absent becomes unknown. */
      readonly kind: "unknown";
      readonly directives?: readonly string[] | undefined;
    }
) & {
  readonly at: Span;
  /** Inside an `if`: it may not happen. */
  readonly conditional?: boolean | undefined;
};

export interface ConfInput {
  /** `redis-7.2`, `valkey-8.1` …: a server whose directive table ships. */
  readonly server: string;
  readonly mode: "data" | "sentinel";
  /** The main file; several texts where it is put together from several (`cat a b > c`). */
  readonly documents: ConfDocument | readonly ConfDocument[];
  readonly edits?: readonly ConfEdit[] | undefined;
  /** The words after the server's name on its command line. */
  readonly arguments?: readonly ConfArgument[] | undefined;
  /** The files of an `include`, in the order of their names (a glob may match none); undefined: not known. */
  readonly include?: ((path: string) => readonly ConfDocument[] | undefined) | undefined;
  /** What is known of a file that the configuration names; undefined: nothing. */
  readonly file?: ((path: string) => FileFact | undefined) | undefined;
}

export interface ConfLoad {
  /** Whether the server starts. "unknown": it depends on something that is not known here. */
  readonly loads: boolean | "unknown";
  /** Whether it starts again after it has rewritten its file (only Sentinel does so by itself). */
  readonly restarts: boolean | "unknown";
  readonly findings: readonly ConfFinding[];
  readonly values: ConfValues;
  /** undefined for a data server. */
  readonly sentinel: SentinelFacts | undefined;
  /** What `user` lines and the ACL file give, as far as their text is known. */
  readonly users: UserVerdict;
}

/** A statement and where it came from. */
export interface Loaded {
  readonly statement: ConfStatement;
  /** Those of the statement, split once. */
  readonly args: readonly ConfArgument[];
  readonly origin: ConfOrigin;
  readonly document: ConfDocument | undefined;
  /** Read through `include`: a rewrite of the main file does not touch it. */
  readonly included: boolean;
  readonly conditional: boolean;
}

/** Runs the whole: see ConfLoad. Never throws on any text; linear in its length. */
export function loadConf(input: ConfInput): ConfLoad {
  return new Loading(input).run();
}

/** One file as it stands, without scripts and command line. */
export function judgeConf(
  document: ConfDocument,
  options: Omit<ConfInput, "documents">,
): { loads: boolean | "unknown"; restarts: boolean | "unknown"; findings: readonly ConfFinding[] } {
  const { loads, restarts, findings } = loadConf({ ...options, documents: document });
  return { loads, restarts, findings };
}

/** The edits that a text written by a script stands for: its lines, and what is not known where it has gaps. */
export function editsOfText(view: TextView, at: Span, options: { conditional?: boolean } = {}): readonly ConfEdit[] {
  const { lines, gaps } = parseConf(view, { templates: true });
  const edits: ConfEdit[] = [{ kind: "append", statements: lines, at, conditional: options.conditional }];
  if (gaps.length > 0) edits.push({ kind: "unknown", at: gaps[0]!.at });
  return edits;
}

/** Far more `user` or `sentinel` lines than any deployment has. */
const MAX_KEPT = 20_000;

/** How deep files include each other before it is taken for a loop. */
const MAX_DEPTH = 32;

export interface FindingInput {
  readonly code: ConfCode;
  readonly class: ConfClass;
  readonly topic: ConfTopic;
  readonly message: string;
  readonly server?: string | undefined;
  readonly right?: string | undefined;
  readonly at?: Span | undefined;
  readonly related?: readonly { readonly at: Span; readonly message: string }[] | undefined;
  readonly certain?: boolean | undefined;
}

/** The running simulation; the parts in other files write into it. */
export class Loading {
  readonly input: ConfInput;
  readonly dialect: Dialect;
  readonly sentinelMode: boolean;
  readonly findings: ConfFinding[] = [];
  readonly settings = new Map<string, Setting>();
  readonly statements = new Map<string, ConfStatement[]>();
  readonly sentinelLines: Loaded[] = [];
  readonly users: Loaded[] = [];
  readonly moduleOptions: Loaded[] = [];
  readonly gaps: { why: UnknownWhy; at: Span | undefined; names: ReadonlySet<string> | undefined }[] = [];
  modules = false;
  loads: boolean | "unknown" = true;
  restarts: boolean | "unknown" = true;
  readonly #removed = new Set<string>();
  readonly #added = new Set<string>();
  readonly #buffers = new Map<string, BufferLimit>();
  readonly #bufferLines = new Map<string, Loaded>();
  readonly #repeats = new Map<string, number>();
  #saved: string[] | undefined;
  #stopped = false;
  readonly #chain: ConfDocument[] = [];

  constructor(input: ConfInput) {
    this.input = input;
    this.dialect = dialect(input.server);
    this.sentinelMode = input.mode === "sentinel";
  }

  /** Whether everything that the server will read is known. */
  get closed(): boolean {
    return this.gaps.length === 0;
  }

  run(): ConfLoad {
    const { input } = this;
    const documents = Array.isArray(input.documents) ? input.documents : [input.documents as ConfDocument];
    for (const document of documents) this.#openDocument(document);
    this.#chain.push(...documents);
    const edits = input.edits ?? [];
    let loaded: Loaded[] = [];
    // Without edits the lines are read one by one: a long file then costs no list of its own.
    for (const document of documents) {
      for (const line of document.lines) {
        if (edits.length === 0) this.#step(own(line, document));
        else loaded.push(own(line, document));
      }
    }
    for (const edit of edits) loaded = this.#edit(loaded, edit);
    if (input.arguments !== undefined) {
      const { statements, stdin } = parseServerArguments(input.arguments, input.server);
      if (stdin) this.gaps.push({ why: "argument", at: input.arguments.at(-1)?.at, names: undefined });
      for (const statement of statements) {
        loaded.push({
          statement,
          args: statement.args,
          origin: "argument",
          document: undefined,
          included: false,
          conditional: false,
        });
      }
    }
    for (const one of loaded) this.#step(one);
    const values = new ConfValues(input.server, input.mode, this.settings, this.statements, this.gaps);
    judgeStart(this, values);
    const users = judgeUsers(this, values);
    const sentinel = this.sentinelMode ? judgeSentinel(this, values) : undefined;
    return { loads: this.loads, restarts: this.restarts, findings: this.findings, values, sentinel, users };
  }

  /** No more findings are kept. */
  get full(): boolean {
    return this.findings.length >= MAX_FINDINGS;
  }

  /** Takes the finding down, and its consequence for the verdict. */
  report(loaded: { statement: ConfStatement; conditional?: boolean }, finding: FindingInput): void {
    const certain = (finding.certain ?? true) && loaded.conditional !== true;
    if (finding.class === "fatal") {
      if (certain) this.loads = false;
      else if (this.loads === true) this.loads = "unknown";
    } else if (finding.class === "restart") {
      if (certain) this.restarts = false;
      else if (this.restarts === true) this.restarts = "unknown";
    }
    if (this.full) return;
    const { statement } = loaded;
    this.findings.push({
      code: finding.code,
      class: finding.class,
      topic: finding.topic,
      directive: directiveName(statement),
      message: clipped(finding.message),
      server: finding.server === undefined ? undefined : clipped(finding.server),
      right: finding.right,
      at: finding.at ?? statement.at,
      line: statement.line,
      related: finding.related ?? [],
      certain,
    });
  }

  /** The verdict cannot be had: an include that is not known, a file of which nothing is known. */
  undecided(): void {
    if (this.loads === true) this.loads = "unknown";
  }

  restartUndecided(): void {
    if (this.restarts === true) this.restarts = "unknown";
  }

  #openDocument(document: ConfDocument): void {
    for (const gap of document.gaps) this.gaps.push({ why: "template", at: gap.at, names: undefined });
    const first = document.lines[0];
    for (const problem of document.problems) {
      const place = new ArgumentStatement("", problem.at, []);
      this.report({ statement: place }, { code: "nul", class: "silent", topic: "syntax", message: problem.message });
    }
    if (first !== undefined && first.start === 0 && first.text.startsWith("\uFEFF")) {
      this.report(
        { statement: first },
        {
          code: "bom",
          class: this.dialect.queuesUnknown && this.sentinelMode ? "silent" : "fatal",
          topic: "syntax",
          message: "the file starts with a byte order mark, which becomes a part of its first word",
          server: "Bad directive or wrong number of arguments",
        },
      );
    }
  }

  #edit(loaded: Loaded[], edit: ConfEdit): Loaded[] {
    const conditional = edit.conditional === true;
    const made = (statements: readonly ConfStatement[]): Loaded[] =>
      statements.map((statement) => ({
        statement,
        args: statement.args,
        origin: "script",
        document: undefined,
        included: false,
        conditional: conditional || statement.conditional,
      }));
    switch (edit.kind) {
      case "append":
        return [...loaded, ...made(edit.statements)];
      case "set": {
        // An edit that may not happen leaves both: the earlier line is known, the later one conditional.
        if (conditional) return [...loaded, ...made(edit.statements)];
        const keys = new Set(edit.statements.map((s) => this.#key(s)));
        return [...loaded.filter((l) => !keys.has(this.#key(l.statement))), ...made(edit.statements)];
      }
      case "remove": {
        const key = this.#canonical(edit.directive.toLowerCase());
        if (conditional) {
          return loaded.map((l) => (this.#key(l.statement) === key ? { ...l, conditional: true } : l));
        }
        return loaded.filter((l) => this.#key(l.statement) !== key);
      }
      case "substitute":
        if (edit.find === "") return loaded;
        return loaded.map((l) => substitute(l, edit.find, conditional ? undefined : edit.value));
      default: {
        const names = edit.directives?.map((name) => this.#canonical(name.toLowerCase()));
        this.gaps.push({ why: "script", at: edit.at, names: names && new Set(names) });
        if (names === undefined) return loaded;
        const touched = new Set(names);
        return loaded.map((l) => (touched.has(this.#key(l.statement)) ? { ...l, conditional: true } : l));
      }
    }
  }

  #key(statement: ConfStatement): string {
    if (statement.name === "sentinel") return directiveName(statement);
    return this.#canonical(statement.name);
  }

  #canonical(name: string): string {
    return directive(this.input.server, name)?.name ?? name;
  }

  #step(loaded: Loaded): void {
    if (this.full && this.loads === false) {
      // Nothing more can change the verdict, nothing more is said: what is not read is not known.
      if (!this.#stopped) this.gaps.push({ why: "invalid", at: loaded.statement.at, names: undefined });
      this.#stopped = true;
      return;
    }
    const { statement } = loaded;
    if (statement.name !== "") {
      const list = this.statements.get(statement.name);
      if (list === undefined) this.statements.set(statement.name, [statement]);
      else list.push(statement);
    }
    const { problem } = statement;
    if (problem !== undefined && !(problem.code === "text-after-quote" && this.dialect.valkey91)) {
      this.report(loaded, {
        code: problem.code,
        class: "fatal",
        topic: "syntax",
        message: problem.message,
        server: "Unbalanced quotes in configuration line",
        at: problem.at,
      });
      return;
    }
    if (statement.name.startsWith("\uFEFF")) return;
    if (statement.truncated) this.undecided();
    if (statement.namePlaceholder !== "none") {
      this.gaps.push({ why: "placeholder", at: statement.nameAt, names: undefined });
      return;
    }
    this.#literalPlaceholders(loaded);
    const known = directive(this.input.server, statement.name);
    if (known !== undefined) {
      this.#option(loaded, known);
      return;
    }
    if (isIgnoredDirective(this.input.server, statement.name) && this.#arity(loaded, (n) => n === 1) !== "wrong") {
      this.report(loaded, {
        code: "no-op",
        class: "useless",
        topic: "directive",
        message: `\`${statement.name}\` is accepted and does nothing in ${this.dialect.title} ${this.#version}`,
      });
      return;
    }
    this.#statement(loaded);
  }

  get #version(): string {
    return this.dialect.key.slice(this.dialect.key.indexOf("-") + 1);
  }

  /** A plain file holds what only a template may: the server does not expand it. */
  #literalPlaceholders(loaded: Loaded): void {
    if (loaded.document === undefined || loaded.document.templates || !loaded.document.marks) return;
    for (const arg of loaded.args) {
      const { value } = arg;
      if (!value.includes("$") && !value.includes("{{")) continue;
      const found = /\$\{[A-Za-z_][^}]*\}|\{\{.*\}\}|^\$[A-Z_][A-Z0-9_]*$/.exec(value);
      if (found === null) continue;
      this.report(loaded, {
        code: "literal-placeholder",
        class: "note",
        topic: "value",
        message: `\`${found[0]}\` is taken literally: the server expands no variables`,
        at: arg.at,
      });
    }
  }

  /** `wrong`: whatever placeholders stand for; `unknown`: it depends on how many words they make. */
  #arity(loaded: Loaded, wanted: (count: number) => boolean): "right" | "wrong" | "unknown" {
    const { args } = loaded;
    if (wanted(args.length)) return "right";
    const flexible = args.reduce((n, a) => n + (a.splits ? 1 : 0), 0);
    if (flexible === 0) return "wrong";
    for (let n = args.length - flexible; n < args.length + 16; n++) if (wanted(n)) return "unknown";
    return "wrong";
  }

  /** The words from the first `#` on: what was meant as a comment. */
  #comment(args: readonly ConfArgument[], from: number): Span | undefined {
    const index = args.findIndex((a, i) => i >= from && a.value.startsWith("#") && a.at.end > a.at.start);
    if (index < 0) return undefined;
    const first = args[index]!.at;
    const last = args.at(-1)!.at;
    if (first.source.text[first.start] !== "#" || last.source !== first.source) return undefined;
    return { source: first.source, start: first.start, end: Math.max(first.end, last.end) };
  }

  #fatalArity(loaded: Loaded, error: string, expected: string): void {
    const { statement } = loaded;
    const comment = this.#comment(loaded.args, 0);
    if (comment !== undefined) {
      this.#trailingComment(loaded, comment, error);
      return;
    }
    const n = loaded.args.length;
    this.report(loaded, {
      code: "arity",
      class: "fatal",
      topic: "directive",
      message: `\`${statement.name}\` takes ${expected}, not ${n === 0 ? "none" : n}`,
      server: error,
    });
  }

  #trailingComment(loaded: Loaded, at: Span, error: string): void {
    this.report(loaded, {
      code: "trailing-comment",
      class: "fatal",
      topic: "directive",
      message: `\`#\` starts a comment only at the start of a line: here it is read as an argument of \`${loaded.statement.name}\``,
      server: error,
      right: "",
      at,
    });
  }

  #option(loaded: Loaded, option: Directive): void {
    const { statement } = loaded;
    const v7 = this.dialect.v7;
    this.#repeat(loaded, option);
    this.#oldName(loaded, option);
    let args = loaded.args;
    const single =
      !option.multi &&
      (v7 ||
        option.kind !== "special" ||
        /^(?:dir|logfile|unixsocketperm|cluster-config-file|notify-keyspace-events)$/.test(option.name));
    if (single) {
      const arity = this.#arity(loaded, (n) => n === 1);
      if (arity === "wrong") {
        const byHand = !v7 && option.kind === "special";
        const error = byHand ? "Bad directive or wrong number of arguments" : "wrong number of arguments";
        this.#fatalArity(loaded, error, "one argument");
        this.#set(loaded, option, undefined, "invalid");
        return;
      }
      if (arity === "unknown" || args[0]!.placeholder !== "none") {
        this.#set(loaded, option, undefined, "placeholder");
        return;
      }
    } else {
      if (args.some((a) => a.placeholder !== "none")) {
        this.#opaqueMulti(loaded, option);
        return;
      }
      // One argument is split again: `save "900 1 300 10"`, `--bind "127.0.0.1 ::1"`.
      if (v7 && option.multi && args.length === 1 && args[0]!.value !== "") args = resplit(args[0]!);
    }
    const words = args.map((a) => a.value);
    switch (option.name) {
      case "save":
        this.#save(loaded, option, args, words);
        return;
      case "client-output-buffer-limit":
        this.#bufferLimit(loaded, option, args, words);
        return;
      case "bind":
        this.#bind(loaded, option, args, words);
        return;
    }
    const parsed =
      option.kind === "special"
        ? parseSpecial(option.name, words, this.dialect)
        : option.kind === "enum" && option.multi
          ? parseEnum(option, words, this.dialect)
          : parseValue(option, words[0]!, this.dialect);
    if (!parsed.ok) {
      this.#badValue(loaded, option, args, parsed.error);
      this.#set(loaded, option, undefined, "invalid");
      return;
    }
    const value = typeof parsed.value === "string" ? { value: parsed.value, misread: [] } : parsed.value;
    this.#misread(loaded, option, args, value.misread ?? []);
    this.#set(loaded, option, value.value);
  }

  /** A multi-argument option with placeholders: what is certain about it whatever they are. */
  #opaqueMulti(loaded: Loaded, option: Directive): void {
    const { args } = loaded;
    const comment = this.#comment(args, 1);
    if (comment !== undefined && option.name !== "bind") {
      this.#trailingComment(loaded, comment, this.#commentError(option));
    }
    if (option.name === "save") this.#saved ??= [];
    this.#set(loaded, option, undefined, "placeholder");
  }

  #commentError(option: Directive): string {
    const probe = ["#", "x"];
    if (option.name === "save") return "Invalid save parameters";
    const read =
      option.kind === "enum" ? parseEnum(option, probe, this.dialect) : parseSpecial(option.name, probe, this.dialect);
    return read.ok ? "wrong number of arguments" : read.error;
  }

  #badValue(loaded: Loaded, option: Directive, args: readonly ConfArgument[], error: string): void {
    const comment = this.#comment(args, 0);
    if (option.multi && comment !== undefined) {
      this.#trailingComment(loaded, comment, error);
      return;
    }
    const wrongNumber = /number of arguments/.test(error);
    const one = args.length === 1 ? args[0] : undefined;
    this.report(loaded, {
      code: wrongNumber ? "arity" : "bad-value",
      class: "fatal",
      topic: wrongNumber ? "directive" : "value",
      message: wrongNumber
        ? `\`${loaded.statement.name}\` has the wrong number of arguments (${args.length})`
        : one === undefined
          ? `\`${loaded.statement.name}\` does not take \`${args.map((a) => a.value).join(" ")}\`: ${error}`
          : `\`${loaded.statement.name}\` does not take \`${one.value}\`: ${error}`,
      server: error,
      right: one === undefined ? undefined : meant(option, one.value),
      at: one?.at,
    });
  }

  #misread(loaded: Loaded, option: Directive, args: readonly ConfArgument[], misread: readonly Misread[]): void {
    for (const { index, message, right } of misread) {
      this.report(loaded, {
        code: "misread-value",
        class: "silent",
        topic: "value",
        message: `\`${args[index]!.value}\` of \`${option.name}\` ${message}`,
        right,
        at: args[index]!.at,
      });
    }
  }

  #save(loaded: Loaded, option: Directive, args: readonly ConfArgument[], words: readonly string[]): void {
    const parsed = parseSave(words, this.dialect);
    if (!parsed.ok) {
      this.#badValue(loaded, option, args, parsed.error);
      this.#set(loaded, option, undefined, "invalid");
      return;
    }
    const { reset, pairs, misread } = parsed.value;
    this.#misread(loaded, option, args, misread);
    if (!this.dialect.v7 && pairs.length === 0 && !reset) {
      this.report(loaded, {
        code: "ignored-arguments",
        class: "silent",
        topic: "value",
        message:
          words.length === 0
            ? "`save` without arguments switches the default snapshots off"
            : `\`save ${words.join(" ")}\` is no pair of seconds and changes: Redis 6 ignores it, and the default snapshots are off`,
      });
    }
    if (this.dialect.v7 && words.length === 0 && !reset) {
      this.report(loaded, {
        code: "ignored-arguments",
        class: "silent",
        topic: "value",
        message: "`save` without arguments adds nothing, and the default snapshots are off",
      });
    }
    // The first line replaces the defaults, the others add to it.
    if (this.#saved === undefined || reset) this.#saved = [];
    this.#saved.push(...pairs);
    this.#set(loaded, option, this.#saved.join(" "));
  }

  #bufferLimit(loaded: Loaded, option: Directive, args: readonly ConfArgument[], words: readonly string[]): void {
    const parsed = parseBufferLimits(words, this.dialect);
    if (!parsed.ok) {
      this.#badValue(loaded, option, args, parsed.error);
      this.#set(loaded, option, undefined, "invalid");
      return;
    }
    this.#misread(loaded, option, args, parsed.value.misread);
    for (const limit of parsed.value.limits) {
      const before = this.#bufferLines.get(limit.class);
      if (before !== undefined) this.#repeated(loaded, before, `client-output-buffer-limit ${limit.class}`);
      this.#bufferLines.set(limit.class, loaded);
      this.#buffers.set(limit.class, limit);
    }
    const fallback = /(\S+) (\S+ \S+ \S+)/g;
    const parts: string[] = [];
    for (const [, name, rest] of option.default.matchAll(fallback)) {
      const own = this.#buffers.get(name === "slave" ? "replica" : name!);
      parts.push(`${name} ${own === undefined ? rest : `${own.hard} ${own.soft} ${own.seconds}`}`);
    }
    this.#set(loaded, option, parts.join(" "));
  }

  #bind(loaded: Loaded, option: Directive, args: readonly ConfArgument[], words: readonly string[]): void {
    const parsed = parseBind(words, this.dialect);
    if (!parsed.ok) {
      this.#badValue(loaded, option, args, parsed.error);
      this.#set(loaded, option, undefined, "invalid");
      return;
    }
    this.#set(loaded, option, parsed.value.join(" "));
  }

  #set(loaded: Loaded, option: Directive, value: string | undefined, why?: UnknownWhy): void {
    const before = this.settings.get(option.name);
    const { statement, origin } = loaded;
    const same = before !== undefined && before.value !== undefined && before.value === value;
    if (loaded.conditional && !same) {
      this.settings.set(option.name, { statement, origin, value: undefined, why: "conditional", loaded });
      return;
    }
    this.settings.set(option.name, { statement, origin, value, why, loaded });
  }

  /** Options of which several lines are meant to be. */
  #repeat(loaded: Loaded, option: Directive): void {
    const before = this.settings.get(option.name)?.loaded;
    if (before === undefined || option.name === "save" || option.name === "client-output-buffer-limit") return;
    this.#repeated(loaded, before, option.name);
  }

  /** Within one file; a file that overrides what it includes, and a script or an argument that overrides a file, mean it. */
  #repeated(loaded: Loaded, before: Loaded, name: string): void {
    if (loaded.origin !== "file" || before.document !== loaded.document || before.origin !== "file") return;
    if (loaded.conditional || before.conditional) return;
    const count = this.#repeats.get(name) ?? 0;
    this.#repeats.set(name, count + 1);
    if (count >= 8) return;
    const text = (l: Loaded): string => l.args.map((a) => a.value).join("\0");
    const same = text(before) === text(loaded);
    this.report(loaded, {
      code: "repeated",
      class: "repeat",
      topic: "directive",
      message: same
        ? `\`${name}\` is set twice to the same value`
        : `\`${name}\` is set again: the server keeps the last line only`,
      related: [{ at: before.statement.at, message: "overridden" }],
    });
  }

  #oldName(loaded: Loaded, option: Directive): void {
    const { name } = loaded.statement;
    if (name === option.name || !/slave|ziplist|lua-time-limit|_cpulist/.test(name)) return;
    this.report(loaded, {
      code: "old-name",
      class: "deprecated",
      topic: "directive",
      message: `\`${name}\` is an old name of \`${option.name}\``,
      right: option.name,
      at: loaded.statement.nameAt,
    });
  }

  #statement(loaded: Loaded): void {
    const { statement } = loaded;
    const { name } = statement;
    if (name === "include" && this.#arity(loaded, (n) => n === 1) !== "wrong") {
      this.#include(loaded);
    } else if (name === "rename-command" && this.#arity(loaded, (n) => n === 2) !== "wrong") {
      this.#rename(loaded);
    } else if (name === "user" && loaded.args.length >= 1) {
      this.#keep(this.users, loaded);
    } else if (name === "loadmodule" && loaded.args.length >= 1) {
      this.#module(loaded);
    } else if (name === "sentinel") {
      this.#sentinel(loaded);
    } else if (
      /^(?:include|rename-command|user|loadmodule)$/.test(name) &&
      !(this.dialect.queuesUnknown && loaded.args.length > 0)
    ) {
      const expected =
        name === "rename-command" ? "two arguments" : name === "include" ? "one argument" : "an argument";
      this.#fatalArity(loaded, "Bad directive or wrong number of arguments", expected);
    } else {
      this.#unknown(loaded);
    }
  }

  /** Users and Sentinel lines are judged together at the end; of a hostile number of them only the first are. */
  #keep(list: Loaded[], loaded: Loaded): void {
    if (list.length < MAX_KEPT && loaded.args.length < MAX_KEPT) list.push(loaded);
    else this.undecided();
  }

  #unknown(loaded: Loaded): void {
    const { statement } = loaded;
    const { name } = statement;
    const { queuesUnknown, v7 } = this.dialect;
    const dotted = v7 && name.includes(".");
    if (dotted && loaded.args.length === 0) {
      this.report(loaded, {
        code: "arity",
        class: "fatal",
        topic: "module",
        message: `\`${name}\` is read as a module's option and has no value`,
        server: "Module config specified without value",
      });
      return;
    }
    if (dotted || (queuesUnknown && loaded.args.length > 0)) {
      this.#keep(this.moduleOptions, loaded);
      return;
    }
    this.reportUnknown(loaded, "fatal", "Bad directive or wrong number of arguments");
  }

  /** A name that no table has; also used once it is known that no module takes it. */
  reportUnknown(loaded: Loaded, kind: "fatal" | "silent", error: string | undefined): void {
    if (this.full) {
      this.report(loaded, { code: "unknown-directive", class: kind, topic: "directive", message: "" });
      return;
    }
    const { statement } = loaded;
    const { name } = statement;
    const { server } = this.input;
    const pair = /^([a-z0-9_-]+)\s*[=:]/.exec(name);
    const known = knownDirectives(server);
    const near = pair !== null && known.includes(pair[1]!) ? pair[1] : nearest(name, known);
    const elsewhere = serversWith(name);
    const since = elsewhere.length > 0 ? elsewhere.map((s) => s.replace("-", " ")).join(", ") : undefined;
    const what = `${this.dialect.title} ${this.#version} has no directive \`${statement.name}\``;
    const hint =
      pair !== null && pair[1] === near
        ? ": name and value are separated by a blank"
        : since !== undefined
          ? ` (${since} ${elsewhere.length === 1 ? "does" : "do"})`
          : near !== undefined
            ? `; \`${near}\` is meant?`
            : "";
    this.report(loaded, {
      code: kind === "fatal" ? "unknown-directive" : "commented-out",
      class: kind,
      topic: "directive",
      message: kind === "fatal" ? what + hint : `${what}: Sentinel starts, ignores it and comments the line out${hint}`,
      server: error,
      right: since === undefined && pair === null ? near : undefined,
      at: statement.nameAt,
    });
  }

  #include(loaded: Loaded): void {
    const { statement } = loaded;
    const path = loaded.args[0]!;
    const { include } = this.input;
    const glob = /[*?[]/.test(path.value);
    if (path.placeholder !== "none" || loaded.args.length !== 1) {
      this.#unknownInclude(loaded);
      return;
    }
    if (glob && !this.dialect.v7) {
      this.report(loaded, {
        code: "include-glob",
        class: "fatal",
        topic: "include",
        message: `${this.dialect.title} ${this.#version} expands no pattern in \`include\`: it looks for a file of that very name`,
        server: `Fatal error, can't open config file '${path.value}': No such file or directory`,
        at: path.at,
      });
      return;
    }
    const documents = include?.(path.value);
    if (documents === undefined) {
      if (!glob && this.input.file?.(path.value)?.exists === false) {
        this.report(loaded, {
          code: "include-missing",
          class: "fatal",
          topic: "include",
          message: `\`include ${path.value}\` names no file`,
          server: `Fatal error, can't open config file '${path.value}': No such file or directory`,
          at: path.at,
        });
        return;
      }
      this.#unknownInclude(loaded);
      return;
    }
    if (this.#chain.length >= MAX_DEPTH || documents.some((d) => this.#chain.includes(d))) {
      this.report(loaded, {
        code: "include-loop",
        class: "fatal",
        topic: "include",
        message: `\`include ${path.value}\` includes the file that it stands in: the server reads on until it crashes`,
        at: path.at,
      });
      return;
    }
    for (const { document, lines } of glued(documents)) {
      this.#openDocument(document);
      this.#chain.push(document);
      for (const { line, glue } of lines) {
        const one: Loaded = {
          statement: line,
          args: line.args,
          origin: loaded.origin,
          document,
          included: true,
          conditional: loaded.conditional || line.conditional,
        };
        if (glue) {
          this.report(one, {
            code: "glued-lines",
            class: "silent",
            topic: "include",
            message: "the file does not end with a line end: the first line of the next included file is glued to it",
          });
        }
        this.#step(one);
      }
      this.#chain.pop();
    }
  }

  #unknownInclude(loaded: Loaded): void {
    this.gaps.push({ why: "include", at: loaded.statement.at, names: undefined });
  }

  #rename(loaded: Loaded): void {
    const [from, to] = loaded.args;
    if (from === undefined || to === undefined || from.placeholder !== "none") return;
    const commands = commandTable(this.sentinelMode ? `${this.dialect.key}/sentinel` : this.dialect.key);
    if (commands === undefined) return;
    const has = (name: string): boolean => {
      if (this.#added.has(name)) return true;
      const command = this.#removed.has(name) ? undefined : commands.get(name);
      // Commands of modules (written in capitals) come after the configuration is read; subcommands have no name of their own.
      return command !== undefined && command.parent === undefined && !/[A-Z]/.test(command.name);
    };
    const old = from.value.toLowerCase();
    if (this.dialect.v7 && old.includes("|") && commands.get(old) !== undefined) {
      this.report(loaded, {
        code: "unknown-command",
        class: "fatal",
        topic: "directive",
        message: `\`${from.value}\` is a subcommand: renaming one crashes the server`,
        server: "ASSERTION FAILED",
        at: from.at,
      });
      return;
    }
    if (!has(old)) {
      const already = this.#removed.has(old);
      this.report(loaded, {
        code: "unknown-command",
        class: "fatal",
        topic: "directive",
        message: already
          ? `\`${from.value}\` is renamed a second time: the name is gone after the first`
          : `\`${from.value}\` is no command of ${this.sentinelMode ? "a Sentinel" : "this server"}, so it cannot be renamed`,
        server: "No such command in rename-command",
        at: from.at,
      });
      return;
    }
    this.#added.delete(old);
    this.#removed.add(old);
    if (to.placeholder !== "none" || to.value === "") return;
    const name = to.value.toLowerCase();
    if (has(name)) {
      this.report(loaded, {
        code: "command-exists",
        class: "fatal",
        topic: "directive",
        message: `\`${from.value}\` cannot be renamed to \`${to.value}\`: there is a command of that name`,
        server: "Target command name already exists",
        at: to.at,
      });
      return;
    }
    this.#added.add(name);
  }

  #module(loaded: Loaded): void {
    this.modules = true;
    const { args } = loaded;
    const path = args[0]!;
    const comment = this.#comment(args, 1);
    if (comment !== undefined) {
      this.report(loaded, {
        code: "trailing-comment",
        class: "silent",
        topic: "directive",
        message: "`#` starts a comment only at the start of a line: the module gets these words as its arguments",
        right: "",
        at: comment,
      });
    }
    // A Sentinel loads no modules.
    if (this.sentinelMode || path.placeholder !== "none" || loaded.origin === "script") return;
    if (this.input.file?.(path.value)?.exists !== false) return;
    this.report(loaded, {
      code: "module-missing",
      class: "fatal",
      topic: "module",
      message: `the module \`${path.value}\` is not there`,
      server: `Can't load module from ${path.value}: server aborting`,
      at: path.at,
    });
  }

  #sentinel(loaded: Loaded): void {
    const { statement } = loaded;
    if (loaded.args.length === 0) {
      if (loaded.origin !== "argument") {
        this.report(loaded, {
          code: "sentinel-word",
          class: "useless",
          topic: "sentinel",
          message: "`sentinel` without an option does nothing",
        });
      }
      return;
    }
    if (!this.sentinelMode) {
      this.report(loaded, {
        code: "sentinel-in-data",
        class: "fatal",
        topic: "sentinel",
        message: "a data server does not take `sentinel` lines",
        server: "sentinel directive while not in sentinel mode",
      });
      return;
    }
    this.#keep(this.sentinelLines, loaded);
  }
}

function own(line: ConfLine, document: ConfDocument): Loaded {
  return { statement: line, args: line.args, origin: "file", document, included: false, conditional: line.conditional };
}

/** Messages quote what is written; of a hostile value a part will do. */
function clipped(text: string): string {
  return text.length > 1000 ? `${text.slice(0, 1000)}…` : text;
}

/** `port`, `sentinel monitor`. */
export function directiveName(statement: ConfStatement): string {
  if (statement.name !== "sentinel" || statement.args.length === 0) return statement.name;
  return `sentinel ${statement.args[0]!.value.toLowerCase()}`;
}

/** The words inside one argument of a multi-argument option. */
function resplit(arg: ConfArgument): readonly ConfArgument[] {
  const { words, problem } = splitArgs(arg.value);
  // Unbalanced quotes inside leave the server with no words at all.
  if (problem !== undefined) return [];
  return words.map((w) => ({ value: w.value, at: arg.at, placeholder: "none", splits: false }));
}

/** What a mistyped value certainly stands for. */
function meant(option: Directive, value: string): string | undefined {
  if (option.kind === "bool") {
    if (/^(?:true|on|1|enable|enabled|y)$/i.test(value)) return "yes";
    if (/^(?:false|off|0|disable|disabled|n)$/i.test(value)) return "no";
    return nearest(value.toLowerCase(), ["yes", "no"]);
  }
  if (option.kind === "enum") return nearest(value.toLowerCase(), option.values);
  return undefined;
}

function substitute(loaded: Loaded, find: string, value: string | undefined): Loaded {
  const { statement } = loaded;
  if (!loaded.args.some((a) => a.value.includes(find))) return loaded;
  const args = loaded.args.map((a): ConfArgument => {
    if (!a.value.includes(find)) return a;
    if (value !== undefined)
      return { ...plain(a), value: a.value.replaceAll(find, value), placeholder: "none", splits: false };
    return { ...plain(a), placeholder: a.value === find ? "whole" : "part", splits: false };
  });
  const made = new ArgumentStatement(statement.name, statement.nameAt, args, { conditional: statement.conditional });
  return { ...loaded, statement: made, args, origin: "script" };
}

function plain(a: ConfArgument): ConfArgument {
  return { value: a.value, at: a.at, placeholder: a.placeholder, splits: a.splits };
}

interface Piece {
  readonly document: ConfDocument;
  readonly lines: readonly { readonly line: ConfLine; readonly glue: boolean }[];
}

/** The files that a glob matched are one text to the server: without a line end, a file's last line runs into the next. */
function glued(documents: readonly ConfDocument[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let inside = false;
  for (const [i, document] of documents.entries()) {
    const { text } = document.view;
    // The first line of this file was read as the end of an earlier one.
    let lines = document.lines.map((line) => ({ line, glue: false })).filter(({ line }) => !inside || line.line > 1);
    const open = text !== "" && !text.endsWith("\n") && i < documents.length - 1;
    if (open && !(inside && !text.includes("\n"))) {
      const start = text.lastIndexOf("\n") + 1;
      let tail = "";
      for (const { view } of documents.slice(i + 1)) {
        const stop = view.text.indexOf("\n");
        tail += stop < 0 ? view.text : view.text.slice(0, stop);
        if (stop >= 0) break;
      }
      const view = joined(document.view, start, text.slice(start), tail);
      const { lines: made } = parseConf(view, { templates: document.templates });
      const glue = tail.trim() !== "";
      lines = [...lines.filter(({ line }) => line.start < start), ...made.map((line) => ({ line, glue }))];
    }
    if (text !== "") inside = open;
    pieces.push({ document, lines });
  }
  return pieces;
}

/** The last line of a file with the next file's first: places in the second part are the end of the first. */
function joined(view: TextView, start: number, head: string, tail: string): TextView {
  const base = view.sub(start, start + head.length);
  const end = view.outer(view.text.length, true);
  const segments: Segment[] = [
    ...(base.segments ?? []),
    { inner: head.length, length: tail.length, outer: end, outerLength: 0 },
  ];
  return new TextView(view.source, head + tail, segments);
}
