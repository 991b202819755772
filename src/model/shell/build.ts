/** Builds the program of a script: walks its tree once, with the values of variables as far as they are known. */
import {
  type Assignment,
  type Part,
  partsOf,
  type Redirect,
  type SimpleCommand,
  type Statement,
  scriptArgument,
  type Word,
} from "../../document/shell.js";
import { TextView } from "../../text/source.js";
import { normalizePath } from "../file-path.js";
import { type Place, ViewPlace } from "../place.js";
import { Expander, type ExpansionHost, isStar } from "./expand.js";
import {
  ASSIGNING,
  assignedByBuiltin,
  assignedInArithmetic,
  assignmentName,
  eachStatement,
  evalAssigns,
  localNames,
  MOVING,
} from "./names.js";
import type {
  Arg,
  CommandWord,
  Ending,
  EnvironmentFact,
  Flow,
  Frame,
  Invocation,
  RedirectFact,
  Run,
  Script,
  ShellOptions,
  ShellProgram,
  Trap,
} from "./program.js";
import { MAX_OPTIONS, Scope, UNKNOWN } from "./scope.js";
import { baseName, EMPTY, heldBy, inDirectory, literal, makeText, SHELL, type Text } from "./text.js";
import { stripWrappers } from "./wrappers.js";

/** Bounds of a program; what lies beyond is left out and the program is not `complete`. */
const MAX_INVOCATIONS = 20_000;
const MAX_CALL_DEPTH = 12;
/** Words of an array, and of a parameter list. */
const MAX_LIST = 1000;
const MAX_STEPS = 100_000;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const INHERITED = ["REDISCLI_AUTH", "VALKEYCLI_AUTH", "KUBECONFIG"];
const NO_EXPORTS: ReadonlyMap<string, Text> = new Map();
/** Of a long substitution only the last commands are kept with its text. */
const MAX_RUNS = 64;

interface Definition {
  readonly body: Statement;
  readonly view: TextView;
  readonly kubelet: boolean;
  called: boolean;
}

class Builder implements ExpansionHost {
  readonly #options: ShellOptions;
  readonly #invocations: Invocation[] = [];
  readonly #traps: Trap[] = [];
  readonly #functions = new Map<string, Definition[]>();
  readonly #calls: string[] = [];
  #view: TextView;
  scope = new Scope();
  #frames: readonly Frame[] = [];
  #reached = true;
  #complete = true;
  /** The text went through the kubelet. */
  kubelet = false;
  #sources = 0;
  #steps = 0;
  readonly #groups: (readonly RedirectFact[])[] = [];
  /** What `exec 3> file` opened. */
  readonly #descriptors = new Map<number, RedirectFact>();
  readonly #outputs = new Map<RedirectFact, RedirectFact>();
  readonly #words: Expander;

  constructor(view: TextView, options: ShellOptions) {
    this.#view = view;
    this.#options = options;
    this.#words = new Expander(this, options);
    if (options.directory !== undefined) this.scope.set("PWD", { kind: "text", text: literal(options.directory) });
  }

  script(script: Script): ShellProgram {
    const flow = this.#whole(script);
    return this.#finish(flow, shebang(script.view.text));
  }

  command(words: readonly CommandWord[]): ShellProgram {
    const args = words.map((word): Arg => ({ ...this.#words.kubeletText(word.text), place: word.place, quoted: true }));
    const place = words[0]!.place;
    const index = scriptArgument(args.map((arg) => arg.known));
    const source = index < 0 ? undefined : words[index];
    const view = source?.view();
    const ast = view === undefined ? undefined : this.#options.read?.(view);
    const nested = view !== undefined && ast !== undefined ? { view, ast } : undefined;
    if (index >= 0 && nested === undefined) this.#complete = false;
    const flow = this.#run(args, [], [], [], place, (frames) => {
      if (nested === undefined) return index < 0 ? this.#scriptFile(args, frames) : undefined;
      this.kubelet = true;
      // `sh -c SCRIPT NAME ARG…`
      const flow = this.#shell(nested, args.slice(index + 2), frames, args.slice(0, index));
      this.kubelet = false;
      return { flow, kind: "shell" as const };
    });
    return this.#finish(flow, { errexit: false, pipefail: false });
  }

  #finish(flow: Flow, start: { errexit: boolean; pipefail: boolean }): ShellProgram {
    // Functions that nobody calls, and those whose definition at a call is not decided.
    this.#reached = false;
    for (const [name, definitions] of this.#functions) {
      for (const definition of definitions) {
        if (definition.called) continue;
        this.scope = new Scope();
        this.#call(name, definition, undefined);
      }
    }
    return {
      flow,
      invocations: this.#invocations,
      traps: this.#traps,
      errexit: start.errexit,
      pipefail: start.pipefail,
      complete: this.#complete,
    };
  }

  /** A script with its problems and its functions. */
  #whole(script: Script): Flow {
    if (script.ast.problems.length > 0) this.#complete = false;
    const outer = this.#view;
    this.#view = script.view;
    this.#collect(script.ast.body);
    const flow = this.#statements(script.ast.body);
    this.#view = outer;
    return flow;
  }

  #collect(statements: readonly Statement[]): void {
    eachStatement(statements, (statement) => {
      if (statement.type !== "function") return;
      const definition = { body: statement.body, view: this.#view, kubelet: this.kubelet, called: false };
      const known = this.#functions.get(statement.name);
      if (known === undefined) this.#functions.set(statement.name, [definition]);
      else known.push(definition);
    });
  }

  // ---- control flow

  #in<T>(flow: Flow, slot: number, make: () => T): T {
    const outer = this.#frames;
    this.#frames = [...outer, { flow, slot }];
    const made = make();
    this.#frames = outer;
    return made;
  }

  #statements(statements: readonly Statement[]): Flow {
    if (statements.length === 1) return this.#statement(statements[0]!);
    const items: Flow[] = [];
    const flow: Mutable<Extract<Flow, { type: "seq" }>> = { type: "seq", items, ends: undefined };
    for (let i = 0; i < statements.length; i++) {
      const item = this.#in(flow, i, () => this.#statement(statements[i]!));
      items.push(item);
      flow.ends ??= item.ends;
    }
    return flow;
  }

  #statement(statement: Statement): Flow {
    if (statement.background) {
      const flow: Mutable<Extract<Flow, { type: "background" }>> = {
        type: "background",
        body: undefined as never,
        ends: undefined,
      };
      flow.body = this.#in(flow, 0, () => this.#isolated(() => this.#plain(statement)));
      return flow;
    }
    return this.#plain(statement);
  }

  /** In a copy of the scope that is thrown away. */
  #isolated<T>(make: () => T): T {
    const outer = this.scope;
    this.scope = outer.copy();
    const made = make();
    this.scope = outer;
    return made;
  }

  #plain(statement: Statement): Flow {
    if (++this.#steps > MAX_STEPS) {
      this.#complete = false;
      return { type: "unknown", ends: undefined };
    }
    switch (statement.type) {
      case "command":
        return this.#simple(statement);
      case "pipeline":
        return this.#pipeline(statement);
      case "andor":
        return this.#chain(statement);
      case "if":
        return this.#withRedirects(statement, () => this.#branch(statement));
      case "loop":
        return this.#withRedirects(statement, () => this.#loop(statement));
      case "for":
        return this.#withRedirects(statement, () => this.#for(statement));
      case "case":
        return this.#withRedirects(statement, () => this.#case(statement));
      case "group":
        return this.#withRedirects(statement, () => this.#statements(statement.body));
      case "subshell":
        return this.#withRedirects(statement, () => {
          const flow: Mutable<Extract<Flow, { type: "sub" }>> = {
            type: "sub",
            body: undefined as never,
            shell: undefined,
            ends: undefined,
          };
          flow.body = this.#in(flow, 0, () => this.#isolated(() => this.#statements(statement.body)));
          return flow;
        });
      case "function":
        return { type: "seq", items: [], ends: undefined };
      case "arithmetic":
        for (const name of assignedInArithmetic(statement.text)) this.scope.set(name, UNKNOWN);
        return this.#arithmetic(statement.text, statement.start, statement.end);
      case "opaque":
        this.#complete = false;
        return { type: "unknown", ends: undefined };
    }
  }

  /** `((…))` is a command whose only argument is the expression. */
  #arithmetic(text: string, start: number, end: number): Flow {
    const place = this.place(start, end);
    const words: Arg[] = [
      { ...literal("(("), place, quoted: false },
      { ...literal(text), place, quoted: false },
    ];
    return this.#run(words, [], [], [], place, undefined);
  }

  /** A compound command's own redirections, as a command without words that stands before it. */
  #withRedirects(statement: Statement, make: () => Flow): Flow {
    if (statement.redirects === undefined || statement.redirects.length === 0) return make();
    const items: Flow[] = [];
    const flow: Mutable<Extract<Flow, { type: "seq" }>> = { type: "seq", items, ends: undefined };
    const before: Flow[] = [];
    const redirects = this.#redirects(statement.redirects, before);
    this.#groups.push(redirects);
    const body = this.#in(flow, before.length, make);
    this.#groups.pop();
    items.push(...before, body);
    flow.ends = body.ends;
    return flow;
  }

  #pipeline(statement: Extract<Statement, { type: "pipeline" }>): Flow {
    const items: Flow[] = [];
    const flow: Mutable<Extract<Flow, { type: "pipe" }>> = {
      type: "pipe",
      items,
      negated: statement.negated ?? false,
      ends: undefined,
    };
    const { commands } = statement;
    if (commands.length === 1) {
      const item = this.#in(flow, 0, () => this.#statement(commands[0]!));
      items.push(item);
      flow.ends = item.ends;
      return flow;
    }
    commands.forEach((command, i) => {
      items.push(this.#in(flow, i, () => this.#isolated(() => this.#statement(command))));
    });
    for (let i = 0; i + 1 < items.length; i++) {
      const from = invocationOf(items[i]!, "last");
      const to = invocationOf(items[i + 1]!, "first");
      if (from !== undefined && to !== undefined) {
        (from as Mutable<Invocation>).pipedTo = to;
        (to as Mutable<Invocation>).pipedFrom = from;
      }
    }
    return flow;
  }

  #chain(statement: Extract<Statement, { type: "andor" }>): Flow {
    const items: Flow[] = [];
    const flow: Mutable<Extract<Flow, { type: "andor" }>> = {
      type: "andor",
      items,
      ops: statement.ops,
      ends: undefined,
    };
    statement.items.forEach((item, i) => {
      if (i === 0) {
        const first = this.#in(flow, 0, () => this.#statement(item));
        items.push(first);
        flow.ends = first.ends;
        return;
      }
      const skipped = this.scope.copy();
      const made = this.#in(flow, i, () => this.#statement(item));
      items.push(made);
      if (made.ends !== undefined) this.scope = skipped;
      else this.scope.join([skipped, this.scope.copy()], this.#words.start);
    });
    return flow;
  }

  #branch(statement: Extract<Statement, { type: "if" }>): Flow {
    const tests: Flow[] = [];
    const bodies: Flow[] = [];
    const flow: Mutable<Extract<Flow, { type: "if" }>> = {
      type: "if",
      tests,
      bodies,
      otherwise: undefined,
      ends: undefined,
    };
    const ways: Scope[] = [];
    const endings: Ending[] = [];
    statement.clauses.forEach((clause, k) => {
      tests.push(this.#in(flow, 2 * k, () => this.#statements(clause.test)));
      const before = this.scope.copy();
      const body = this.#in(flow, 2 * k + 1, () => this.#statements(clause.body));
      bodies.push(body);
      endings.push(body.ends);
      if (body.ends === undefined) ways.push(this.scope);
      this.scope = before;
    });
    if (statement.otherwise === undefined) {
      ways.push(this.scope.copy());
      endings.push(undefined);
    } else {
      const otherwise = this.#in(flow, 2 * statement.clauses.length, () => this.#statements(statement.otherwise!));
      flow.otherwise = otherwise;
      endings.push(otherwise.ends);
      if (otherwise.ends === undefined) ways.push(this.scope.copy());
    }
    flow.ends = joinEndings(endings);
    if (ways.length > 0) this.scope.join(ways, this.#words.start);
    return flow;
  }

  #loop(statement: Extract<Statement, { type: "loop" }>): Flow {
    const flow: Mutable<Extract<Flow, { type: "loop" }>> = {
      type: "loop",
      until: statement.until ?? false,
      test: undefined as never,
      body: undefined as never,
      place: this.place(statement.start, statement.end),
      ends: undefined,
    };
    this.#forget([...statement.test, ...statement.body]);
    flow.test = this.#in(flow, 0, () => this.#statements(statement.test));
    const before = this.scope.copy();
    flow.body = this.#in(flow, 1, () => this.#statements(statement.body));
    this.scope.join([before, this.scope.copy()], this.#words.start);
    return flow;
  }

  #for(statement: Extract<Statement, { type: "for" }>): Flow {
    const before: Flow[] = [];
    const flow: Mutable<Extract<Flow, { type: "for" }>> = {
      type: "for",
      name: statement.name,
      before,
      list: undefined,
      arithmetic: statement.arithmetic,
      body: undefined as never,
      place: this.place(statement.start, statement.end),
      ends: undefined,
    };
    if (statement.words !== undefined) {
      flow.list = this.#in(flow, 0, () => statement.words!.flatMap((word) => this.#words.args(word, before)));
    } else if (statement.arithmetic === undefined) flow.list = this.scope.positional;
    this.#forget(statement.body);
    for (const name of assignedInArithmetic(statement.arithmetic ?? "")) this.scope.set(name, UNKNOWN);
    const out = this.scope.copy();
    if (statement.name !== "") {
      const { list } = flow;
      const known =
        list?.every((text) => text.known !== undefined || text.pieces.some((piece) => typeof piece === "string")) ??
        false;
      this.scope.set(
        statement.name,
        known && list!.length <= MAX_OPTIONS ? { kind: "unknown", options: list! } : UNKNOWN,
      );
      if (list?.length === 1 && known) this.scope.set(statement.name, { kind: "text", text: list[0]! });
    }
    flow.body = this.#in(flow, 1, () => this.#statements(statement.body));
    this.scope.join([out, this.scope.copy()], this.#words.start);
    return flow;
  }

  #case(statement: Extract<Statement, { type: "case" }>): Flow {
    const before: Flow[] = [];
    const items: { patterns: readonly Text[]; body: Flow; fallsThrough: boolean }[] = [];
    const flow: Mutable<Extract<Flow, { type: "case" }>> = {
      type: "case",
      before,
      subject: EMPTY,
      items,
      ends: undefined,
    };
    flow.subject = this.#in(flow, 0, () => this.#words.single(statement.word, before));
    const start = this.scope;
    const ways: Scope[] = [];
    const endings: Ending[] = [];
    let total = false;
    statement.items.forEach((item, i) => {
      this.scope = start.copy();
      const patterns = item.patterns.map((pattern) => this.#words.single(pattern, before));
      if (item.patterns.some((pattern) => isStar(pattern))) total = true;
      const body = this.#in(flow, i + 1, () => this.#statements(item.body));
      items.push({ patterns, body, fallsThrough: item.fallsThrough ?? false });
      endings.push(item.fallsThrough ? undefined : body.ends);
      if (body.ends === undefined) ways.push(this.scope);
    });
    this.scope = start;
    if (!total) {
      ways.push(start.copy());
      endings.push(undefined);
    }
    flow.ends = joinEndings(endings);
    if (ways.length > 0) this.scope.join(ways, this.#words.start);
    return flow;
  }

  /** What a loop assigns is unknown from its first round on. */
  #forget(statements: readonly Statement[]): void {
    const names = new Set<string>();
    const seen = new Set<string>();
    let all = false;
    /** `: $((n += 1))` */
    const counted = (word: Word): void => {
      for (const part of word.parts ?? [])
        if (part.type === "arithmetic") for (const name of assignedInArithmetic(part.text)) names.add(name);
    };
    const scan = (list: readonly Statement[]): void =>
      eachStatement(list, (statement) => {
        if (statement.type === "for" && statement.name !== "") names.add(statement.name);
        if (statement.type === "arithmetic") for (const name of assignedInArithmetic(statement.text)) names.add(name);
        if (statement.type !== "command") return;
        for (const assign of statement.assigns ?? []) {
          names.add(assign.name);
          counted(assign.value);
        }
        for (const word of statement.words) counted(word);
        const name = statement.words[0]?.text;
        if (name === undefined) return;
        if (name === "." || name === "source" || name === "eval") all = true;
        for (const assigned of assignedByBuiltin(name, statement.words)) names.add(assigned);
        const called = this.#functions.get(name);
        if (called !== undefined && !seen.has(name)) {
          seen.add(name);
          for (const definition of called) scan([definition.body]);
        }
      });
    scan(statements);
    if (all) this.scope.forgetAll();
    for (const name of names) this.scope.set(name, UNKNOWN);
  }

  // ---- commands

  #simple(statement: SimpleCommand): Flow {
    const place = this.place(statement.start, statement.end);
    if (this.#invocations.length >= MAX_INVOCATIONS) {
      this.#complete = false;
      return { type: "unknown", ends: undefined };
    }
    const before: Flow[] = [];
    // The frames of the substitutions name the run that they belong to; it is filled in at the end.
    const run = { type: "run" } as Mutable<Run>;
    const outer = this.#frames;
    this.#frames = [...outer, { flow: run, slot: 0 }];
    const outerMade = this.#words.made;
    if (statement.script !== undefined) this.#words.made ??= new Map();
    const declares = ASSIGNING.has(statement.words[0]?.text ?? "");
    const words: Arg[] = [];
    const assigns: EnvironmentFact[] = [];
    for (const word of statement.words) {
      if (declares && assignmentName(word) !== undefined) {
        const fact = this.#declared(word, before);
        assigns.push(fact);
        words.push({ ...makeText([fact.name + "=", ...fact.value.pieces]), place: fact.place, quoted: true });
        continue;
      }
      for (const arg of this.#words.args(word, before)) words.push(arg);
    }
    const environment: EnvironmentFact[] = [];
    for (const assign of statement.assigns ?? []) {
      const fact = this.#assign(assign, before, words.length === 0);
      if (words.length === 0) assigns.push(fact);
      else environment.push(fact);
    }
    const redirects = this.#redirects(statement.redirects ?? [], before);
    if (words.length === 1 && words[0]!.known === "exec") {
      for (const redirect of redirects) if (redirect.fd > 2) this.#descriptors.set(redirect.fd, redirect);
    }
    this.#frames = outer;
    const script = (frames: readonly Frame[], invocation: Invocation) =>
      this.#script(statement, words, frames, invocation);
    const made = this.#run(words, environment, assigns, redirects, place, script, before, run);
    this.#words.made = outerMade;
    this.#effects(words, declares);
    return made;
  }

  /** Records an invocation. `script` makes what it runs in a shell of its own. */
  #run(
    words: readonly Arg[],
    environment: readonly EnvironmentFact[],
    assigns: readonly EnvironmentFact[],
    redirects: readonly RedirectFact[],
    place: Place,
    script:
      | ((
          frames: readonly Frame[],
          invocation: Invocation,
        ) => { flow: Flow; kind: "shell" | "source" | "eval" } | undefined)
      | undefined,
    before: Flow[] = [],
    flow: Mutable<Run> = { type: "run" } as Mutable<Run>,
  ): Flow {
    const stripped = stripWrappers(words);
    const first = stripped.command[0];
    const name = first?.known === undefined ? undefined : baseName(first.known);
    flow.before = before;
    flow.script = undefined;
    flow.ends = undefined;
    const invocation: Mutable<Invocation> = {
      order: 0,
      words,
      command: stripped.command,
      name,
      wrappers: stripped.wrappers,
      environment: stripped.environment.length === 0 ? environment : [...environment, ...stripped.environment],
      assigns,
      redirects: this.#groups.length === 0 ? redirects : inheritRedirects(this.#groups, redirects),
      exported: this.#exported(),
      place,
      directory: this.#directory(),
      frames: [...this.#frames, { flow, slot: 1000 }],
      inFunction: this.#calls[this.#calls.length - 1],
      reached: this.#reached,
      replaces: stripped.replaces,
      pipedFrom: undefined,
      pipedTo: undefined,
      nested: undefined,
    };
    flow.invocation = invocation;
    // A called function is what it does; the call itself is no command.
    const definitions = stripped.wrappers.length > 0 ? undefined : this.#functions.get(words[0]?.known ?? "");
    if (definitions !== undefined && definitions.length > 1) this.#complete = false;
    if (definitions?.length === 1) {
      this.#groups.push(redirects);
      const body = this.#call(words[0]!.known!, definitions[0]!, words.slice(1));
      this.#groups.pop();
      if (before.length === 0) return body;
      return { type: "seq", items: [...before, body], ends: body.ends };
    }
    invocation.order = this.#invocations.length;
    this.#invocations.push(invocation);
    if (script !== undefined) {
      const made = script([...this.#frames, { flow, slot: 1001 }], invocation);
      if (made !== undefined) {
        flow.script = made.flow;
        invocation.nested = made.kind;
        if (made.kind !== "shell") flow.ends = made.flow.ends === "exit" ? "exit" : undefined;
      }
    }
    if (name === "exit" || invocation.replaces) flow.ends = "exit";
    else if (name === "return") flow.ends = "return";
    else if (name === "break" || name === "continue") flow.ends = "loop";
    return flow;
  }

  /** `PWD` is what `cd` makes it. */
  #directory(): string | undefined {
    const binding = this.scope.get("PWD");
    return binding?.kind === "text" && binding.text.known?.startsWith("/") ? binding.text.known : undefined;
  }

  /** An operand after options; no operand, and `-`, lead to what is not followed. */
  #changeDirectory(words: readonly Arg[]): void {
    const operands = words
      .slice(1)
      .filter((arg, i, all) => !/^-[LPe@]+$|^--$/.test(arg.known ?? "") || all[i - 1]?.known === "--");
    const to = operands.length === 1 ? inDirectory(operands[0]!, this.#directory()).known : undefined;
    const known = to?.startsWith("/") ? normalizePath(to) : undefined;
    this.scope.set("PWD", known === undefined ? UNKNOWN : { kind: "text", text: literal(known) });
  }

  #exported(): ReadonlyMap<string, Text> {
    let out: Map<string, Text> | undefined;
    for (const name of INHERITED) {
      const binding = this.scope.get(name);
      if (binding === undefined || binding.kind === "unset") continue;
      out ??= new Map();
      out.set(name, this.#words.variable(name));
    }
    return out ?? NO_EXPORTS;
  }

  #call(name: string, definition: Definition, args: readonly Text[] | undefined): Flow {
    definition.called = true;
    if (
      this.#calls.includes(name) ||
      this.#calls.length >= MAX_CALL_DEPTH ||
      this.#invocations.length >= MAX_INVOCATIONS
    ) {
      this.#complete = false;
      return { type: "unknown", ends: undefined };
    }
    const flow: Mutable<Extract<Flow, { type: "call" }>> = {
      type: "call",
      name,
      body: undefined as never,
      ends: undefined,
    };
    const positional = this.scope.positional;
    const view = this.#view;
    const kubelet = this.kubelet;
    const made = this.#words.made;
    this.#words.made = undefined;
    const locals = localNames(definition.body);
    const saved = locals.map((local) => [local, this.scope.get(local)] as const);
    this.scope.positional = args?.some((arg) =>
      arg.pieces.some((piece) => typeof piece !== "string" && (piece.split || piece.kind === "arguments")),
    )
      ? undefined
      : args;
    this.#view = definition.view;
    this.kubelet = definition.kubelet;
    this.#calls.push(name);
    flow.body = this.#in(flow, 0, () => this.#plain(definition.body));
    this.#calls.pop();
    this.#view = view;
    this.kubelet = kubelet;
    this.#words.made = made;
    this.scope.positional = positional;
    for (const [local, binding] of saved) {
      this.scope.set(local, binding);
    }
    flow.ends = flow.body.ends === "exit" ? "exit" : undefined;
    return flow;
  }

  /** What a command with a script in it runs. */
  #script(
    statement: SimpleCommand,
    words: readonly Arg[],
    frames: readonly Frame[],
    invocation: Invocation,
  ): { flow: Flow; kind: "shell" | "source" | "eval" } | undefined {
    const { script } = statement;
    if (script === undefined) return this.#scriptFile(words, frames);
    const outer = this.#frames;
    this.#frames = frames;
    if (script.kind === "trap") {
      const reached = this.#reached;
      this.#reached = false;
      const body = this.#isolated(() => this.#statements(script.body));
      this.#reached = reached;
      const signals = words.slice(2).map((arg) => arg.known?.toUpperCase().replace(/^SIG/, "").replace(/^0$/, "EXIT"));
      this.#traps.push({ signals, body, invocation });
      this.#frames = outer;
      return undefined;
    }
    if (script.kind === "eval") {
      const flow = this.#statements(script.body);
      this.#frames = outer;
      return { flow, kind: "eval" };
    }
    const scope = this.scope;
    this.scope = scope.copy();
    this.scope.positional = undefined;
    const flow: Mutable<Extract<Flow, { type: "sub" }>> = {
      type: "sub",
      body: undefined as never,
      shell: shellOptions(statement.words.slice(0, script.word).map((word) => word.text)),
      ends: undefined,
    };
    flow.body = this.#in(flow, 0, () => {
      this.#collect(script.body);
      return this.#statements(script.body);
    });
    this.scope = scope;
    this.#frames = outer;
    return { flow, kind: "shell" };
  }

  /** `sh path`, `. path`, or a path run as it is, where the host knows the script. */
  #scriptFile(words: readonly Arg[], frames: readonly Frame[]): { flow: Flow; kind: "shell" | "source" } | undefined {
    const { command } = stripWrappers(words);
    const name = command[0]?.known;
    if (name === undefined) return undefined;
    const source = name === "." || name === "source";
    let file: Arg | undefined;
    let args: readonly Arg[] = [];
    if (source) {
      file = command[1];
      args = command.slice(2);
    } else if (SHELL.test(baseName(name))) {
      const at = operandOfShell(command);
      if (at >= command.length) return undefined;
      file = command[at];
      args = command.slice(at + 1);
    } else if (name.includes("/")) {
      file = command[0];
      args = command.slice(1);
    }
    // a name without a slash is looked up in PATH by \`.\`
    const path =
      source && !file?.known?.includes("/") ? file?.known : file && inDirectory(file, this.#directory()).known;
    const found = path === undefined || this.#sources >= MAX_CALL_DEPTH ? undefined : this.#options.script?.(path);
    if (found === undefined) {
      if (source) {
        // Anything may be set, and defined, in there.
        this.#complete = false;
        this.scope.forgetAll();
      }
      return undefined;
    }
    this.#sources++;
    const kubelet = this.kubelet;
    this.kubelet = false;
    let flow: Flow;
    if (source) {
      const outer = this.#frames;
      this.#frames = frames;
      flow = this.#whole(found);
      this.#frames = outer;
    } else flow = this.#shell(found, args, frames, command.slice(0, command.length - args.length));
    this.kubelet = kubelet;
    this.#sources--;
    return { flow, kind: source ? "source" : "shell" };
  }

  #shell(script: Script, args: readonly Text[], frames: readonly Frame[], shell: readonly Arg[]): Flow {
    const outerFrames = this.#frames;
    const scope = this.scope;
    const options = shellOptions(shell.map((arg) => arg.known));
    const line = shebang(script.view.text);
    const flow: Mutable<Extract<Flow, { type: "sub" }>> = {
      type: "sub",
      body: undefined as never,
      shell: { errexit: options.errexit || line.errexit, pipefail: options.pipefail || line.pipefail },
      ends: undefined,
    };
    this.#frames = [...frames, { flow, slot: 0 }];
    this.scope = scope.copy();
    this.scope.positional = args;
    flow.body = this.#whole(script);
    this.scope = scope;
    this.#frames = outerFrames;
    return flow;
  }

  /** What a builtin does to variables and parameters. */
  #effects(words: readonly Arg[], declares: boolean): void {
    const name = words[0]?.known;
    if (name === undefined || declares) return;
    if (name === "unset") {
      for (const arg of words.slice(1)) if (arg.known !== undefined) this.scope.set(arg.known, { kind: "unset" });
      return;
    }
    if (name === "shift") this.scope.positional = words.length === 1 ? this.scope.positional?.slice(1) : undefined;
    if (name === "set") {
      const at = words.findIndex((arg, i) => i > 0 && (arg.known === "--" || !/^[-+]/.test(arg.known ?? "x")));
      if (at > 0 && words[at - 1]?.known !== "-o") {
        const rest = words.slice(words[at]!.known === "--" ? at + 1 : at);
        const open =
          rest.length > MAX_LIST ||
          rest.some((arg) =>
            arg.pieces.some((piece) => typeof piece !== "string" && (piece.split || piece.kind === "arguments")),
          );
        this.scope.positional = open ? undefined : rest;
      }
    }
    if (name === "eval") {
      const assigned = words.length === 2 ? evalAssigns(words[1]!) : undefined;
      if (assigned !== undefined) this.scope.set(assigned, UNKNOWN);
      else if (words.length !== 2 || (words[1]!.known ?? "=").includes("=")) this.scope.forgetAll();
    }
    if (name === "cd") {
      this.#changeDirectory(words);
      return;
    }
    for (const variable of assignedByBuiltin(
      name,
      words.map((arg) => ({ start: 0, end: 0, text: arg.known ?? "" })),
    ))
      this.scope.set(variable, UNKNOWN);
  }

  #declared(word: Word, before: Flow[]): EnvironmentFact {
    const name = assignmentName(word)!;
    const parts = [...partsOf(word)];
    const head = parts[0] as Extract<Part, { type: "text" }>;
    const append = head.text.startsWith(name + "+=");
    const skip = name.length + (append ? 2 : 1);
    const rest: Part = { ...head, text: head.text.slice(skip), start: Math.min(head.start + skip, head.end) };
    const value: Word = {
      start: rest.start,
      end: word.end,
      parts: rest.text === "" ? parts.slice(1) : [rest, ...parts.slice(1)],
    };
    const assignment: Assignment = append
      ? { start: word.start, end: word.end, name, append, value }
      : { start: word.start, end: word.end, name, value };
    return this.#assign(assignment, before, true);
  }

  #assign(assign: Assignment, before: Flow[], keep: boolean): EnvironmentFact {
    const place = this.place(assign.start, assign.end);
    const array = partsOf(assign.value).find((part) => part.type === "array");
    if (array !== undefined) {
      const items = array.words.flatMap((word) => this.#words.args(word, before));
      const old = assign.append ? this.scope.get(assign.name) : undefined;
      const kept = assign.append ? (old?.kind === "array" ? old.items : old?.kind === "unset" ? [] : undefined) : [];
      const whole = kept !== undefined && kept.length + items.length <= MAX_LIST;
      if (keep) this.scope.set(assign.name, whole ? { kind: "array", items: [...kept, ...items] } : UNKNOWN);
      return { name: assign.name, value: makeText([{ kind: "arguments", name: assign.name }]), place };
    }
    let text = this.#words.single(assign.value, before);
    if (MOVING.has(assign.name)) return { name: assign.name, value: text, place };
    if (assign.append) text = makeText([...this.#words.variable(assign.name).pieces, ...text.pieces]);
    if (keep) this.scope.set(assign.name, { kind: "text", text: heldBy(text, assign.name) });
    return { name: assign.name, value: text, place };
  }

  // ---- redirections

  #redirects(redirects: readonly Redirect[], before: Flow[]): RedirectFact[] {
    return redirects.map((redirect): RedirectFact => {
      const fd = redirect.fd ?? (redirect.op.startsWith("<") ? 0 : 1);
      const place = this.place(redirect.start, redirect.end);
      if (redirect.heredoc !== undefined)
        return { op: redirect.op, fd, heredoc: this.#words.heredoc(redirect.heredoc, before), place };
      if (redirect.target === undefined) return { op: redirect.op, fd, place };
      let target = this.#words.single(redirect.target, before);
      const open = redirect.op === ">&" && fd === 1 ? this.#opened(target.known) : undefined;
      if (open !== undefined) return open;
      // `>&3` and `<<<` name no file
      if (/^(?:[<>]|>>|>\||<>|&>>?)$/.test(redirect.op)) target = inDirectory(target, this.#directory());
      return {
        op: redirect.op,
        fd,
        target: { ...target, place: this.place(redirect.target.start, redirect.target.end), quoted: false },
        place,
      };
    });
  }

  /** The file behind a descriptor, as a redirection of the output: always the same object, which means one open file. */
  #opened(descriptor: string | undefined): RedirectFact | undefined {
    if (descriptor === undefined || !/^[3-9]$/.test(descriptor)) return undefined;
    const fd = Number(descriptor);
    const found = this.#groups.flat().findLast((r) => r.fd === fd) ?? this.#descriptors.get(fd);
    if (found === undefined) return undefined;
    let out = this.#outputs.get(found);
    if (out === undefined) this.#outputs.set(found, (out = { ...found, fd: 1 }));
    return out;
  }

  // ---- words

  place(start: number, end: number): Place {
    return new ViewPlace(this.#view, start, end);
  }

  captured(body: readonly Statement[], before: Flow[]): readonly Invocation[] {
    const from = this.#invocations.length;
    const flow: Mutable<Extract<Flow, { type: "sub" }>> = {
      type: "sub",
      body: undefined as never,
      shell: undefined,
      ends: undefined,
    };
    const groups = this.#groups.splice(0);
    const made = this.#words.made;
    this.#words.made = undefined;
    flow.body = this.#in(flow, 0, () => this.#isolated(() => this.#statements(body)));
    this.#words.made = made;
    this.#groups.push(...groups);
    before.push(flow);
    return this.#invocations.slice(Math.max(from, this.#invocations.length - MAX_RUNS));
  }
}

/**
 * A compound command's redirections hold for the commands in it, unless they redirect the same descriptor; the same object
 * on several commands means one open file.
 */
function inheritRedirects(
  groups: readonly (readonly RedirectFact[])[],
  own: readonly RedirectFact[],
): readonly RedirectFact[] {
  const out = [...own];
  for (let i = groups.length - 1; i >= 0; i--) {
    for (const redirect of groups[i]!) if (!out.some((other) => other.fd === redirect.fd)) out.unshift(redirect);
  }
  return out;
}

function joinEndings(endings: readonly Ending[]): Ending {
  if (endings.length === 0 || endings.includes(undefined)) return undefined;
  if (endings.every((ending) => ending === "exit")) return "exit";
  return endings.includes("loop") ? "loop" : "return";
}

function invocationOf(flow: Flow, which: "first" | "last"): Invocation | undefined {
  if (flow.type === "run") return flow.invocation;
  if (flow.type === "pipe") return flow.items.length === 1 ? invocationOf(flow.items[0]!, which) : undefined;
  if (flow.type === "seq" && flow.items.length === 1) return invocationOf(flow.items[0]!, which);
  if (flow.type === "sub" || flow.type === "call") return invocationOf(flow.body, which);
  return undefined;
}

/** The first word of a shell's command line that is no option, nor the value of `-o`. */
function operandOfShell(command: readonly Arg[]): number {
  let at = 1;
  for (; at < command.length; at++) {
    const word = command[at]!.known ?? "";
    if (!word.startsWith("-") && !/^\+[A-Za-z]+$/.test(word)) break;
    if (/^[-+][A-Za-z]*[oO]$/.test(word)) at++;
  }
  return at;
}

/** Options of `sh -euo pipefail -c …` */
function shellOptions(words: readonly (string | undefined)[]): { errexit: boolean; pipefail: boolean } {
  let errexit = false;
  let pipefail = false;
  words.forEach((word, i) => {
    if (word === undefined) return;
    if (/^-[A-Za-z]*e/.test(word)) errexit = true;
    if (word === "errexit" && /o$/.test(words[i - 1] ?? "")) errexit = true;
    if (word === "pipefail" && /o$/.test(words[i - 1] ?? "")) pipefail = true;
  });
  return { errexit, pipefail };
}

function shebang(text: string): { errexit: boolean; pipefail: boolean } {
  const line = /^#!([^\n]*)/.exec(text)?.[1];
  return line === undefined ? { errexit: false, pipefail: false } : shellOptions(line.trim().split(/\s+/).slice(1));
}

/** The program of a script text: a file, or a ConfigMap's value. */
export function scriptProgram(script: Script, options: ShellOptions = {}): ShellProgram {
  return new Builder(script.view, options).script(script);
}

/** The program of an argument vector in a manifest: `[sh, -c, …]`, `[redis-server, /c.conf]`, `[sh, /scripts/init.sh]`. */
export function commandProgram(words: readonly CommandWord[], options: ShellOptions = {}): ShellProgram {
  const [first] = words;
  if (first === undefined) {
    const flow: Flow = { type: "seq", items: [], ends: undefined };
    return { flow, invocations: [], traps: [], errexit: false, pipefail: false, complete: true };
  }
  const view = words.map((word) => word.view()).find((found) => found !== undefined);
  return new Builder(view ?? new TextView(first.place.span.source), options).command(words);
}
