import {
  type ConfArgument,
  type ConfDocument,
  type ConfLine,
  type ConfStatement,
  findPlaceholders,
} from "../../document/redis-conf.js";
import type { Span } from "../../text/source.js";
import { push } from "../multimap.js";
import type { ConfEdit, ConfInput, ConfLoad } from "./conf.js";
import { judgeUsers } from "./conf-acl.js";
import { ArgumentStatement, parseServerArguments } from "./conf-argv.js";
import { judgeStart } from "./conf-cross.js";
import { type ConfClass, type ConfCode, type ConfFinding, type ConfTopic, MAX_FINDINGS } from "./conf-finding.js";
import { glued } from "./conf-glue.js";
import { OptionReader } from "./conf-options.js";
import { type ConfOrigin, ConfValues, type Gap, type Setting } from "./conf-values.js";
import { arity, commentOf, reportArity } from "./conf-words.js";
import {
  type Dialect,
  dialect,
  directive,
  isIgnoredDirective,
  knownDirectives,
  nearest,
  serversWith,
} from "./directives.js";
import { judgeSentinel } from "./sentinel-conf.js";
import { commandTable } from "./servers.js";

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

/** What a script may do to the file; its place is made on demand, as the edit's own. */
class ScriptGap {
  readonly why = "script";
  readonly names: ReadonlySet<string> | undefined;
  readonly #edit: ConfEdit;

  constructor(edit: ConfEdit, names: ReadonlySet<string> | undefined) {
    this.#edit = edit;
    this.names = names;
  }

  get at(): Span {
    return this.#edit.at;
  }
}

/** Far more `user` or `sentinel` lines than any deployment has. */
const MAX_KEPT = 20_000;

/** How deep files include each other before it is taken for a loop. */
const MAX_DEPTH = 32;

/** Files that include each other many times over are read so often in all. */
const MAX_INCLUDES = 1000;

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
  readonly gaps: Gap[] = [];
  modules = false;
  loads: boolean | "unknown" = true;
  restarts: boolean | "unknown" = true;
  readonly #removed = new Set<string>();
  readonly #added = new Set<string>();
  readonly #options: OptionReader;
  readonly #literals: { loaded: Loaded; text: string; at: Span }[] = [];
  #stopped = false;
  #included = 0;
  readonly #chain: ConfDocument[] = [];

  constructor(input: ConfInput) {
    this.input = input;
    this.dialect = dialect(input.server);
    this.sentinelMode = input.mode === "sentinel";
    this.#options = new OptionReader(this);
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
    const sentinel = this.sentinelMode ? judgeSentinel(this) : undefined;
    this.#reportLiterals();
    return { loads: this.loads, restarts: this.restarts, findings: this.findings, values, sentinel, users };
  }

  /** No more findings are kept. */
  get full(): boolean {
    return this.findings.length >= MAX_FINDINGS;
  }

  /** Takes the finding down, and its consequence for the verdict. */
  report(loaded: Pick<Loaded, "statement"> & Partial<Loaded>, finding: FindingInput): void {
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
    const at = finding.at ?? statement.at;
    const literal = this.#literal(loaded, finding.class, at);
    this.findings.push({
      code: finding.code,
      class: literal === undefined ? finding.class : "note",
      topic: finding.topic,
      directive: directiveName(statement),
      message: clipped(
        literal === undefined ? finding.message : `${finding.message} (as long as \`${literal}\` stands there)`,
      ),
      server: finding.server === undefined ? undefined : clipped(finding.server),
      right: literal === undefined ? finding.right : undefined,
      at,
      line: statement.line,
      related: finding.related ?? [],
      certain,
    });
  }

  /**
   * A placeholder in a plain file: the server takes it literally, but something most likely fills it in before. It is worth
   * a note; the verdict stays that of the text.
   */
  #literal(loaded: Partial<Loaded>, kind: ConfClass, at: Span): string | undefined {
    const { document } = loaded;
    if (document === undefined || document.templates || kind === "note") return undefined;
    if (at.end - at.start > 10_000) return undefined;
    const text = at.source.slice(at);
    const [hole] = findPlaceholders(text);
    if (hole !== undefined) return text.slice(hole.start, hole.end);
    return /^"?<[A-Za-z_][^<>]*>"?$/.test(text) ? text : undefined;
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
      case "lines": {
        const out: Loaded[] = [];
        for (const line of loaded) {
          const statements = edit.rewrite(line.statement.text);
          // of an edit that may not happen the earlier line is known, the later one conditional
          if (statements === undefined || conditional) out.push(line);
          if (statements !== undefined) out.push(...made(statements));
        }
        return out;
      }
      case "substitute":
        if (edit.find === "") return loaded;
        return loaded.map((l) => substitute(l, edit.find, conditional ? undefined : edit.value));
      default: {
        const names = edit.directives?.map((name) => this.#canonical(name.toLowerCase()));
        this.gaps.push(new ScriptGap(edit, names && new Set(names)));
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
      push(this.statements, statement.name, statement);
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
      this.#options.read(loaded, known);
      return;
    }
    if (isIgnoredDirective(this.input.server, statement.name) && arity(loaded, (n) => n === 1) !== "wrong") {
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

  /** Said of each text of which nothing else is said. */
  #reportLiterals(): void {
    const said = new Set(this.findings.map((f) => `${f.at.source.file}\n${f.at.start}\n${f.at.end}`));
    for (const { loaded, text, at } of this.#literals) {
      if (said.has(`${at.source.file}\n${at.start}\n${at.end}`)) continue;
      this.report(loaded, {
        code: "literal-placeholder",
        class: "note",
        topic: "value",
        message: `\`${text}\` is taken literally: the server expands no variables`,
        at,
      });
    }
  }

  /** A plain file holds what only a template may: the server does not expand it. */
  #literalPlaceholders(loaded: Loaded): void {
    if (loaded.document === undefined || loaded.document.templates || !loaded.document.marks) return;
    for (const arg of loaded.args) {
      const { value } = arg;
      if (!value.includes("$") && !value.includes("{{")) continue;
      const found = /\$\{[A-Za-z_][^}]*\}|\{\{.*\}\}|^\$[A-Z_][A-Z0-9_]*$/.exec(value);
      if (found === null) continue;
      if (this.#literals.length < MAX_FINDINGS) this.#literals.push({ loaded, text: found[0], at: arg.at });
    }
  }

  #statement(loaded: Loaded): void {
    const { statement } = loaded;
    const { name } = statement;
    if (name === "include" && arity(loaded, (n) => n === 1) !== "wrong") {
      this.#include(loaded);
    } else if (name === "rename-command" && arity(loaded, (n) => n === 2) !== "wrong") {
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
      reportArity(this, loaded, "Bad directive or wrong number of arguments", expected);
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
    const documents = this.#included++ < MAX_INCLUDES ? include?.(path.value) : undefined;
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
    const comment = commentOf(args, 1);
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
function directiveName(statement: ConfStatement): string {
  if (statement.name !== "sentinel" || statement.args.length === 0) return statement.name;
  return `sentinel ${statement.args[0]!.value.toLowerCase()}`;
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
