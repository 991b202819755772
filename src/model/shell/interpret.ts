/**
 * Runs a program on sets of abstract states: every command may have several outcomes, every path is followed. Follows the
 * rules of `set -e` (XCU 2.8.1, `set`), of subshells, functions and loops. A domain says what a command does.
 */

import { apply, calculate } from "./arithmetic.js";
import { decide, patternOf, testOf } from "./conditions.js";
import { assignedInArithmetic, MOVING } from "./names.js";
import type { Flow, ForEach, Invocation, Run, ShellProgram } from "./program.js";
import { literal, makeText, type Piece, patternMatches, type Text } from "./text.js";

export interface Step<S> {
  readonly state: S;
  readonly ok: boolean;
}

export interface Domain<S> {
  /** Equal keys mean equal states. */
  key(state: S): string;
  /** What a command may do; `resolve` replaces variables that hold a known text on this path. */
  run(invocation: Invocation, state: S, resolve: (text: Text) => Text): readonly Step<S>[];
  /** Counters are followed, round by round: what a loop does in its last round is what comes of it. */
  readonly counts?: boolean;
  /** What a command prints, where that is known; with `counts`. */
  output?(invocation: Invocation): string | undefined;
  /** The state behind a `case` that its subject does not decide. */
  guess?(subject: Text, state: S): S;
}

/** How a path ends: the script's exit status, or the shell was replaced by a command (`exec`). */
export interface End<S> {
  readonly state: S;
  readonly ok: boolean;
  readonly replacedBy: Invocation | undefined;
}

export interface Result<S> {
  readonly ends: readonly End<S>[];
  /** Some part was not followed: unknown commands, too many states. */
  readonly incomplete: boolean;
}

/** A path's state: the domain's, the last status, options, and variables that hold one known text. */
interface Machine<S> {
  readonly state: S;
  readonly ok: boolean;
  readonly errexit: boolean;
  readonly pipefail: boolean;
  readonly variables: ReadonlyMap<string, string>;
}

interface Out<S> {
  normal: Machine<S>[];
  /** `exit`, or a failure under `set -e`. */
  exits: { machine: Machine<S>; replacedBy: Invocation | undefined }[];
  returns: Machine<S>[];
  breaks: { machine: Machine<S>; levels: number }[];
  continues: { machine: Machine<S>; levels: number }[];
}

const MAX_STATES = 400;
const MAX_STEPS = 200_000;
const MAX_ROUNDS = 24;
/** Half an hour of attempts, one in a second. */
const MAX_COUNTED_ROUNDS = 400;

export function interpret<S>(program: ShellProgram, initial: S, domain: Domain<S>): Result<S> {
  const machine = new Interpreter(program, domain);
  return machine.start(program, initial);
}

class Interpreter<S> {
  readonly #domain: Domain<S>;
  /** Variables that some test looks at and the script assigns. */
  readonly #tracked: ReadonlySet<string>;
  #steps = 0;
  #incomplete = false;

  constructor(program: ShellProgram, domain: Domain<S>) {
    this.#domain = domain;
    this.#tracked = domain.counts === true ? countedVariables(program) : trackedVariables(program);
  }

  start(program: ShellProgram, initial: S): Result<S> {
    const first: Machine<S> = {
      state: initial,
      ok: true,
      errexit: program.errexit,
      pipefail: program.pipefail,
      variables: new Map(),
    };
    const out = this.#flow(program.flow, [first], false);
    const ends = new Map<string, End<S>>();
    const add = (machine: Machine<S>, replacedBy: Invocation | undefined): void => {
      const ok = replacedBy === undefined ? machine.ok : true;
      ends.set(`${this.#domain.key(machine.state)}|${ok}|${replacedBy?.order ?? ""}`, {
        state: machine.state,
        ok,
        replacedBy,
      });
    };
    for (const machine of [...out.normal, ...out.returns]) add(machine, undefined);
    for (const { machine, replacedBy } of out.exits) add(machine, replacedBy);
    for (const { machine } of [...out.breaks, ...out.continues]) add(machine, undefined);
    return { ends: [...ends.values()], incomplete: this.#incomplete || !program.complete };
  }

  #key(machine: Machine<S>): string {
    let variables = "";
    for (const [name, value] of machine.variables) variables += `${name}=${value};`;
    return `${this.#domain.key(machine.state)}|${machine.ok}|${machine.errexit}|${machine.pipefail}|${variables}`;
  }

  #unique(machines: readonly Machine<S>[]): Machine<S>[] {
    if (machines.length < 2) return machines.slice();
    const seen = new Map<string, Machine<S>>();
    for (const machine of machines) seen.set(this.#key(machine), machine);
    if (seen.size > MAX_STATES) {
      this.#incomplete = true;
      return [...seen.values()].slice(0, MAX_STATES);
    }
    return [...seen.values()];
  }

  #flow(flow: Flow, machines: readonly Machine<S>[], exempt: boolean): Out<S> {
    const out: Out<S> = { normal: [], exits: [], returns: [], breaks: [], continues: [] };
    if (machines.length === 0) return out;
    this.#steps += machines.length;
    if (this.#steps > MAX_STEPS) {
      this.#incomplete = true;
      return out;
    }
    switch (flow.type) {
      case "run":
        for (const machine of machines) this.#run(flow, machine, exempt, out);
        break;
      case "seq":
        this.#sequence(flow.items, machines, exempt, out);
        break;
      case "andor":
        this.#chain(flow, machines, exempt, out);
        break;
      case "pipe":
        this.#pipe(flow, machines, exempt, out);
        break;
      case "if":
        this.#branch(flow, machines, exempt, out);
        break;
      case "loop":
        this.#loop(flow, machines, exempt, out);
        break;
      case "for":
        this.#for(flow, machines, exempt, out);
        break;
      case "case":
        this.#case(flow, machines, exempt, out);
        break;
      case "sub": {
        const made = this.#isolated(flow, machines, exempt);
        for (const machine of made) this.#finish(machine, exempt, out);
        break;
      }
      case "call": {
        const body = this.#flow(flow.body, machines, exempt);
        this.#pass(body, out);
        // `return 1` is a failed command to the caller.
        for (const machine of body.returns) this.#finish(machine, exempt, out);
        out.normal.push(...body.normal);
        break;
      }
      case "background": {
        const made = this.#isolated(
          { type: "sub", body: flow.body, shell: undefined, ends: undefined },
          machines,
          true,
        );
        out.normal.push(
          ...machines.map((machine) => withStatus(machine, true)),
          ...made.map((machine) => withStatus(machine, true)),
        );
        break;
      }
      case "unknown":
        this.#incomplete = true;
        out.normal.push(...machines.flatMap((machine) => [withStatus(machine, true), withStatus(machine, false)]));
        break;
    }
    out.normal = this.#unique(out.normal);
    return out;
  }

  /** Everything but the normal way on. */
  #pass(from: Out<S>, to: Out<S>, returns = false): void {
    to.exits.push(...from.exits);
    to.breaks.push(...from.breaks);
    to.continues.push(...from.continues);
    if (returns) to.returns.push(...from.returns);
  }

  /** A command is done: under `set -e` a failure ends the script where it counts. */
  #finish(machine: Machine<S>, exempt: boolean, out: Out<S>): void {
    if (!machine.ok && machine.errexit && !exempt) out.exits.push({ machine, replacedBy: undefined });
    else out.normal.push(machine);
  }

  #sequence(items: readonly Flow[], machines: readonly Machine<S>[], exempt: boolean, out: Out<S>): void {
    let current: readonly Machine<S>[] = machines;
    for (const item of items) {
      const step = this.#flow(item, current, exempt);
      this.#pass(step, out, true);
      current = step.normal;
    }
    out.normal.push(...current);
  }

  #chain(flow: Extract<Flow, { type: "andor" }>, machines: readonly Machine<S>[], exempt: boolean, out: Out<S>): void {
    let current: readonly Machine<S>[] = machines;
    const last = flow.items.length - 1;
    flow.items.forEach((item, i) => {
      const op = i === 0 ? undefined : flow.ops[i - 1];
      const enter = current.filter((machine) => op === undefined || machine.ok === (op === "&&"));
      const skip = current.filter((machine) => op !== undefined && machine.ok !== (op === "&&"));
      const step = this.#flow(item, enter, exempt || i < last);
      this.#pass(step, out, true);
      current = this.#unique([...skip, ...step.normal]);
    });
    out.normal.push(...current);
  }

  #pipe(flow: Extract<Flow, { type: "pipe" }>, machines: readonly Machine<S>[], exempt: boolean, out: Out<S>): void {
    const [only] = flow.items;
    if (flow.items.length === 1 && only !== undefined) {
      const step = this.#flow(only, machines, exempt || flow.negated);
      this.#pass(step, out, true);
      out.normal.push(...step.normal.map((machine) => (flow.negated ? withStatus(machine, !machine.ok) : machine)));
      return;
    }
    let current = machines.map((machine) => ({ machine, failed: false }));
    for (const item of flow.items) {
      const next = new Map<string, { machine: Machine<S>; failed: boolean }>();
      for (const { machine, failed } of current) {
        for (const made of this.#isolated(
          { type: "sub", body: item, shell: undefined, ends: undefined },
          [machine],
          true,
        )) {
          const fails = failed || !made.ok;
          next.set(`${this.#key(made)}|${fails}`, { machine: made, failed: fails });
        }
      }
      current = [...next.values()].slice(0, MAX_STATES);
    }
    for (const { machine, failed } of current) {
      const ok = machine.pipefail ? !failed : machine.ok;
      if (flow.negated) out.normal.push(withStatus(machine, !ok));
      else this.#finish({ ...machine, ok }, exempt, out);
    }
  }

  /** In a subshell: `exit` ends only that; options and variables do not come back. */
  #isolated(flow: Extract<Flow, { type: "sub" }>, machines: readonly Machine<S>[], exempt: boolean): Machine<S>[] {
    const made: Machine<S>[] = [];
    for (const machine of machines) {
      const start =
        flow.shell === undefined ? machine : { ...machine, errexit: flow.shell.errexit, pipefail: flow.shell.pipefail };
      const step = this.#flow(flow.body, [start], flow.shell === undefined && exempt);
      const back = (inner: Machine<S>, ok: boolean): Machine<S> => withState(machine, inner.state, ok);
      for (const inner of [...step.normal, ...step.returns]) made.push(back(inner, inner.ok));
      for (const { machine: inner, replacedBy } of step.exits) {
        if (replacedBy === undefined) made.push(back(inner, inner.ok));
        else made.push(back(inner, true), back(inner, false));
      }
      for (const { machine: inner } of [...step.breaks, ...step.continues]) made.push(back(inner, inner.ok));
    }
    return this.#unique(made);
  }

  #branch(flow: Extract<Flow, { type: "if" }>, machines: readonly Machine<S>[], exempt: boolean, out: Out<S>): void {
    let current: readonly Machine<S>[] = machines;
    flow.tests.forEach((test, k) => {
      const tested = this.#flow(test, current, true);
      this.#pass(tested, out, true);
      const body = this.#flow(
        flow.bodies[k]!,
        tested.normal.filter((machine) => machine.ok),
        exempt,
      );
      this.#pass(body, out, true);
      out.normal.push(...body.normal);
      current = tested.normal.filter((machine) => !machine.ok);
    });
    if (flow.otherwise === undefined) out.normal.push(...current.map((machine) => withStatus(machine, true)));
    else {
      const otherwise = this.#flow(flow.otherwise, current, exempt);
      this.#pass(otherwise, out, true);
      out.normal.push(...otherwise.normal);
    }
  }

  /** Rounds of a loop until no new state comes up. `step` returns the states that leave and those that go on. */
  #rounds(
    machines: readonly Machine<S>[],
    out: Out<S>,
    step: (machines: readonly Machine<S>[], round: number) => { leave: Machine<S>[]; body: Out<S> },
  ): void {
    const seen = new Set<string>();
    let current: readonly Machine<S>[] = machines;
    const limit = this.#domain.counts === true ? MAX_COUNTED_ROUNDS : 0;
    for (let round = 0; current.length > 0; round++) {
      if (round > limit + MAX_ROUNDS) {
        this.#incomplete = true;
        break;
      }
      // A counter without a limit in sight: from here on any number.
      if (limit > 0 && round > limit) current = this.#unique(current.map((m) => ({ ...m, variables: new Map() })));
      const { leave, body } = step(current, round);
      out.normal.push(...leave);
      current = this.#unique(this.#leaveRound(body, out)).filter((machine) => {
        const key = this.#key(machine);
        if (seen.has(key)) return false;
        seen.add(key);
        return true;
      });
    }
  }

  #loop(flow: Extract<Flow, { type: "loop" }>, machines: readonly Machine<S>[], exempt: boolean, out: Out<S>): void {
    this.#rounds(machines, out, (current) => {
      const tested = this.#flow(flow.test, current, true);
      const goesOn = (machine: Machine<S>): boolean => machine.ok !== flow.until;
      const body = this.#flow(flow.body, tested.normal.filter(goesOn), exempt);
      this.#pass(tested, body, true);
      return {
        leave: tested.normal.filter((machine) => !goesOn(machine)).map((machine) => withStatus(machine, true)),
        body,
      };
    });
  }

  #for(flow: Extract<Flow, { type: "for" }>, machines: readonly Machine<S>[], exempt: boolean, out: Out<S>): void {
    let current = machines;
    for (const before of flow.before) current = this.#flow(before, current, true).normal;
    if (this.#domain.counts === true) {
      const items = itemsOf(flow);
      if (items !== undefined) {
        this.#items(flow, items, current, exempt, out);
        return;
      }
      const [first, test, step, more] = (flow.arithmetic ?? "").split(";");
      if (step !== undefined && more === undefined) {
        this.#counted(flow, [first!, test!, step], current, exempt, out);
        return;
      }
    }
    const once = isNotEmpty(flow.list);
    const forget = (machine: Machine<S>): Machine<S> => withVariable(machine, flow.name, undefined);
    this.#rounds(current.map(forget), out, (round, n) => {
      const body = this.#flow(flow.body, round, exempt);
      // The list may end before each round; what comes out of a round may be the end as well.
      const leave = n === 0 && once ? [] : [...round];
      body.normal = this.#unique(body.normal);
      leave.push(...body.normal);
      for (const { machine, levels } of body.continues) if (levels <= 1) leave.push(machine);
      return { leave: leave.map((machine) => withStatus(machine, true)), body };
    });
  }

  /** One round for each item; behind the loop the variable holds the last. */
  #items(
    flow: Extract<Flow, { type: "for" }>,
    items: readonly string[],
    machines: readonly Machine<S>[],
    exempt: boolean,
    out: Out<S>,
  ): void {
    let current = machines;
    for (const item of items) {
      const body = this.#flow(
        flow.body,
        this.#tracked.has(flow.name) ? current.map((m) => withVariable(m, flow.name, item)) : current,
        exempt,
      );
      current = this.#unique(this.#leaveRound(body, out));
    }
    out.normal.push(...current.map((machine) => withStatus(machine, true)));
  }

  /** Takes the ways out of a round; returns the states that go on to the next. */
  #leaveRound(body: Out<S>, out: Out<S>): Machine<S>[] {
    out.exits.push(...body.exits);
    out.returns.push(...body.returns);
    const next = [...body.normal];
    for (const { machine, levels } of body.breaks) {
      if (levels > 1) out.breaks.push({ machine, levels: levels - 1 });
      else out.normal.push(withStatus(machine, true));
    }
    for (const { machine, levels } of body.continues) {
      if (levels > 1) out.continues.push({ machine, levels: levels - 1 });
      else next.push(machine);
    }
    return next;
  }

  /** `for ((first; test; step))` */
  #counted(
    flow: Extract<Flow, { type: "for" }>,
    [first, test, step]: readonly [string, string, string],
    machines: readonly Machine<S>[],
    exempt: boolean,
    out: Out<S>,
  ): void {
    const start = machines.map((machine) => this.#calculate(first, machine).machine);
    this.#rounds(start, out, (current) => {
      const tested = current.map((machine) => this.#calculate(test, machine));
      const enter = tested.filter(({ value }) => value !== 0).map(({ machine }) => machine);
      const body = this.#flow(flow.body, enter, exempt);
      const after = (machine: Machine<S>): Machine<S> => this.#calculate(step, machine).machine;
      body.normal = body.normal.map(after);
      body.continues = body.continues.map((way) => (way.levels > 1 ? way : { ...way, machine: after(way.machine) }));
      const leave = tested.filter(({ value }) => value === undefined || value === 0);
      return { leave: leave.map(({ machine }) => withStatus(machine, true)), body };
    });
  }

  /** Runs an arithmetic expression; what it assigns is unknown where the expression is. */
  #calculate(text: string, machine: Machine<S>): { machine: Machine<S>; value: number | undefined } {
    const made = this.#domain.counts === true ? calculate(text, (name) => this.#valueOf(name, machine)) : undefined;
    let next = machine;
    if (made === undefined) for (const name of assignedInArithmetic(text)) next = withVariable(next, name, undefined);
    else
      for (const [name, value] of made.sets)
        if (this.#tracked.has(name)) next = withVariable(next, name, String(value));
    return { machine: next, value: made?.value };
  }

  /** `$((n += 1))` in a word changes `n`; where the word is read from a variable, that was before. */
  #expand(texts: readonly Text[], machine: Machine<S>): Machine<S> {
    let next = machine;
    for (const text of texts) {
      if (text.known !== undefined) continue;
      for (const piece of text.pieces)
        if (typeof piece !== "string" && piece.kind === "arithmetic" && piece.held === undefined)
          next = this.#calculate(piece.name ?? "", next).machine;
    }
    return next;
  }

  #valueOf(name: string, machine: Machine<S>): string | undefined {
    return name === "?" ? (machine.ok ? "0" : "1") : machine.variables.get(name);
  }

  /** A text with what is known on this path put in. */
  #resolve(text: Text, machine: Machine<S>): Text {
    if (this.#domain.counts !== true) return resolveText(text, machine.variables);
    if (text.known !== undefined) return text;
    const value = (piece: Piece): string | undefined => {
      if (typeof piece === "string" || piece.op !== undefined) return undefined;
      if (piece.held !== undefined) return machine.variables.get(piece.held.name);
      if (piece.kind === "variable") return this.#valueOf(piece.name ?? "", machine);
      const [run, more] = piece.kind === "command" ? (piece.runs ?? []) : [];
      const output = run === undefined || more !== undefined ? undefined : this.#domain.output?.(run);
      if (output !== undefined) return output;
      const number =
        piece.kind === "arithmetic"
          ? calculate(piece.name ?? "", (name) => this.#valueOf(name, machine))?.value
          : piece.kind === "command" && piece.name === "expr"
            ? this.#expr(piece.runs ?? [], machine)
            : undefined;
      return number === undefined ? undefined : String(number);
    };
    const pieces = text.pieces.map((piece) => value(piece) ?? piece);
    return makeText(pieces);
  }

  /** `expr $n + 1` */
  #expr(runs: readonly Invocation[], machine: Machine<S>): number | undefined {
    const words = runs.length === 1 ? runs[0]!.command.slice(1).map((word) => this.#resolve(word, machine).known) : [];
    if (words.length !== 3) return undefined;
    const [a, operator, b] = words;
    if (!/^-?\d+$/.test(a ?? "") || !/^-?\d+$/.test(b ?? "")) return undefined;
    const value = apply(operator ?? "", Number(a), Number(b));
    return Number.isNaN(value) ? undefined : value;
  }

  #case(flow: Extract<Flow, { type: "case" }>, machines: readonly Machine<S>[], exempt: boolean, out: Out<S>): void {
    let current = machines;
    for (const before of flow.before) current = this.#flow(before, current, true).normal;
    for (const start of current) {
      const subject = this.#resolve(flow.subject, start).known;
      const machine =
        subject === undefined && this.#domain.guess !== undefined
          ? { ...start, state: this.#domain.guess(flow.subject, start.state) }
          : start;
      let open = true;
      let falls: Machine<S>[] = [];
      for (const { patterns, body, fallsThrough } of flow.items) {
        let match = false as boolean | undefined;
        for (const pattern of patterns) {
          const text = patternOf(this.#resolve(pattern, machine));
          if (text === "*") match = true;
          else if (text === undefined || subject === undefined) match = undefined;
          else if (patternMatches(text, subject)) match = true;
          if (match === true) break;
        }
        const enter = [...falls, ...(open && match !== false ? [withStatus(machine, true)] : [])];
        falls = [];
        if (enter.length > 0) {
          const step = this.#flow(body, enter, exempt);
          this.#pass(step, out, true);
          if (fallsThrough) falls = step.normal;
          else out.normal.push(...step.normal);
        }
        if (match === true) open = false;
      }
      out.normal.push(...falls);
      if (open) out.normal.push(withStatus(machine, true));
    }
  }

  #run(flow: Run, start: Machine<S>, exempt: boolean, out: Out<S>): void {
    const { invocation } = flow;
    let machines: Machine<S>[] = [start];
    for (const before of flow.before) {
      // The status of a substitution counts only where the command is nothing but assignments.
      machines = this.#flow(before, machines, true).normal;
    }
    for (const machine of machines) {
      if (invocation.words.length === 0)
        this.#assignment(invocation, machine, start, flow.before.length > 0, exempt, out);
      else this.#command(flow, machine, exempt, out);
    }
  }

  #assignment(
    invocation: Invocation,
    machine: Machine<S>,
    start: Machine<S>,
    substituted: boolean,
    exempt: boolean,
    out: Out<S>,
  ): void {
    let next: Machine<S> = { ...machine, ok: substituted ? machine.ok : true, errexit: start.errexit };
    for (const { name, value } of invocation.assigns) next = this.#keep(next, name, value, machine);
    if (invocation.redirects.length === 0) {
      this.#finish(next, exempt, out);
      return;
    }
    for (const step of this.#domain.run(invocation, next.state, (text) => this.#resolve(text, machine))) {
      this.#finish(withState(next, step.state, step.ok), exempt, out);
    }
  }

  /** `before`: with the status that `$?` is. */
  #keep(machine: Machine<S>, name: string, value: Text, before: Machine<S>): Machine<S> {
    const next = this.#expand([value], machine);
    if (!this.#tracked.has(name)) return next;
    const { known } = this.#resolve(value, withStatus(machine, before.ok));
    return withVariable(next, name, known !== undefined && known.length <= 64 ? known : undefined);
  }

  #command(flow: Run, machine: Machine<S>, exempt: boolean, out: Out<S>): void {
    const { invocation } = flow;
    const words = invocation.command;
    const resolve = (text: Text): Text => this.#resolve(text, machine);
    if (flow.script !== undefined) {
      const step = this.#flow(flow.script, [machine], exempt);
      this.#pass(step, out, invocation.nested !== "source");
      for (const inner of invocation.nested === "source" ? [...step.normal, ...step.returns] : step.normal) {
        if (invocation.replaces) out.exits.push({ machine: inner, replacedBy: undefined });
        else this.#finish(inner, exempt, out);
      }
      return;
    }
    const argument = words[1] === undefined ? undefined : resolve(words[1]).known;
    switch (words[0]?.known) {
      case "exit":
      case "return": {
        const leave =
          words[0].known === "exit"
            ? (m: Machine<S>) => out.exits.push({ machine: m, replacedBy: undefined })
            : (m: Machine<S>) => out.returns.push(m);
        if (words.length === 1) leave(machine);
        else if (argument !== undefined && /^\d+$/.test(argument))
          leave(withStatus(machine, Number(argument) % 256 === 0));
        else if (words[1]!.pieces.length === 1 && isStatus(words[1]!)) leave(machine);
        else {
          leave(withStatus(machine, true));
          leave(withStatus(machine, false));
        }
        return;
      }
      case "break":
        out.breaks.push({ machine, levels: Number(argument ?? 1) || 1 });
        return;
      case "continue":
        out.continues.push({ machine, levels: Number(argument ?? 1) || 1 });
        return;
      case ":":
      case "true":
      case "false":
        if (invocation.redirects.length === 0) {
          this.#finish({ ...this.#expand(words, machine), ok: words[0].known !== "false" }, exempt, out);
          return;
        }
        break;
      case "set":
        out.normal.push(
          withOptions(
            machine,
            words.map((word) => word.known),
          ),
        );
        return;
      default:
        break;
    }
    let next = machine.variables.size === 0 ? machine : forgetVariables(machine, words);
    next = this.#expand(words, next);
    for (const { name, value } of invocation.assigns) next = this.#keep(next, name, value, machine);
    if (words[0]?.known === "((" || words[0]?.known === "let") {
      let value: number | undefined;
      for (const word of words.slice(1)) ({ machine: next, value } = this.#calculate(word.known ?? "", next));
      if (value !== undefined) {
        this.#finish({ ...next, ok: value !== 0 }, exempt, out);
        return;
      }
    }
    if (this.#domain.counts === true && invocation.name === "expr") {
      const value = this.#expr([invocation], next);
      if (value !== undefined) {
        this.#finish({ ...next, ok: value !== 0 }, exempt, out);
        return;
      }
    }
    const test = testOf(invocation);
    const decided = test === undefined ? undefined : decide(test, resolve);
    const steps =
      decided === undefined ? this.#domain.run(invocation, next.state, resolve) : [{ state: next.state, ok: decided }];
    for (const { state, ok } of steps) {
      const made = withState(next, state, ok);
      if (invocation.replaces && words[0]?.known !== "exec") out.exits.push({ machine: made, replacedBy: invocation });
      else this.#finish(made, exempt, out);
    }
  }
}

function isStatus(text: Text): boolean {
  const piece = text.pieces[0];
  return piece !== undefined && typeof piece !== "string" && piece.kind === "variable" && piece.name === "?";
}

function isNotEmpty(list: readonly Text[] | undefined): boolean {
  if (list === undefined) return false;
  return list.some((text) => {
    if (text.known !== undefined || text.pieces.some((piece) => typeof piece === "string")) return true;
    const hole = text.pieces[0];
    if (hole === undefined || typeof hole === "string") return false;
    return hole.kind === "glob" || (hole.kind === "command" && hole.name === "seq");
  });
}

/** Written out: a machine is copied at every command. */
function withStatus<S>(machine: Machine<S>, ok: boolean): Machine<S> {
  if (machine.ok === ok) return machine;
  const { state, errexit, pipefail, variables } = machine;
  return { state, ok, errexit, pipefail, variables };
}

function withState<S>({ errexit, pipefail, variables }: Machine<S>, state: S, ok: boolean): Machine<S> {
  return { state, ok, errexit, pipefail, variables };
}

function withVariable<S>(machine: Machine<S>, name: string, value: string | undefined): Machine<S> {
  if (value === undefined && !machine.variables.has(name)) return machine;
  const variables = new Map(machine.variables);
  variables.delete(name);
  if (value !== undefined) variables.set(name, value);
  return { ...machine, variables };
}

/** Builtins that set variables to something unknown. */
function forgetVariables<S>(machine: Machine<S>, words: readonly Text[]): Machine<S> {
  switch (words[0]?.known) {
    case "read":
    case "unset":
    case "getopts":
    case "mapfile":
    case "readarray":
    case "printf":
      return words.reduce<Machine<S>>(
        (made, { known }) => (known === undefined ? made : withVariable(made, known, undefined)),
        machine,
      );
    case "eval":
    case ".":
    case "source":
      return { ...machine, variables: new Map() };
    default:
      return machine;
  }
}

function withOptions<S>(machine: Machine<S>, words: readonly (string | undefined)[]): Machine<S> {
  let { errexit, pipefail } = machine;
  words.forEach((word, i) => {
    if (word === undefined || i === 0) return;
    const on = word.startsWith("-");
    if (/^[-+][A-Za-z]+$/.test(word)) {
      if (word.includes("e")) errexit = on;
    } else if (/^[-+][A-Za-z]*o$/.test(words[i - 1] ?? "")) {
      const enable = words[i - 1]!.startsWith("-");
      if (word === "errexit") errexit = enable;
      if (word === "pipefail") pipefail = enable;
    }
  });
  return { ...machine, ok: true, errexit, pipefail };
}

/** A text with the variables of a path put in. */
function resolveText(text: Text, variables: ReadonlyMap<string, string>): Text {
  if (text.known !== undefined || variables.size === 0) return text;
  let changed = false;
  const pieces = text.pieces.map((piece): Piece => {
    if (typeof piece === "string" || piece.kind !== "variable" || piece.name === undefined || piece.op !== undefined)
      return piece;
    const value = variables.get(piece.name);
    if (value === undefined) return piece;
    changed = true;
    return value;
  });
  if (!changed) return text;
  const made = makeText(pieces);
  return made.known === undefined ? made : literal(made.known);
}

/** Variables that are assigned at all, loops' own included. */
function countedVariables(program: ShellProgram): Set<string> {
  const out = new Set<string>();
  const add = (name: string): void => {
    if (out.size < 40 && !MOVING.has(name)) out.add(name);
  };
  for (const invocation of program.invocations) {
    for (const { name } of invocation.assigns) add(name);
    for (const name of arithmeticNames(invocation)) add(name);
    for (const { flow } of invocation.frames) {
      if (flow.type !== "for") continue;
      if (flow.arithmetic === undefined) add(flow.name);
      else for (const name of assignedInArithmetic(flow.arithmetic)) add(name);
    }
  }
  return out;
}

/** Variables that the arithmetic of a command assigns: `((n++))`, `let n+=1`, `: $((n -= 1))`. */
export function arithmeticNames(invocation: Invocation): string[] {
  const { command } = invocation;
  const whole = command[0]?.known === "((" || command[0]?.known === "let";
  return [...command, ...invocation.assigns.map((assign) => assign.value)].flatMap((text) =>
    text.known !== undefined
      ? whole
        ? assignedInArithmetic(text.known)
        : []
      : text.pieces.flatMap((piece) =>
          typeof piece !== "string" && piece.kind === "arithmetic" && piece.held === undefined
            ? assignedInArithmetic(piece.name ?? "")
            : [],
        ),
  );
}

/** The words that a loop goes through, where all are known: written out, `{1..60}`, `$(seq 60)`. */
export function itemsOf(loop: ForEach): readonly string[] | undefined {
  const { list } = loop;
  if (list === undefined || loop.arithmetic !== undefined) return undefined;
  if (list.every((text) => text.known !== undefined)) return list.map((text) => text.known!);
  const [only] = list;
  const hole = only?.pieces[0];
  if (list.length !== 1 || only!.pieces.length !== 1 || hole === undefined || typeof hole === "string")
    return undefined;
  if (hole.kind === "glob") {
    const range = /^\{(\d+)\.\.(\d+)\}$/.exec(hole.name ?? "");
    return range === null ? undefined : numbers(Number(range[1]), Number(range[2]), undefined);
  }
  if (hole.kind !== "command" || hole.name !== "seq") return undefined;
  const bounds = hole.runs?.[hole.runs.length - 1]?.command.slice(1).map((word) => word.known) ?? [];
  if (bounds.length === 0 || bounds.length > 3 || bounds.some((bound) => !/^-?\d+$/.test(bound ?? "")))
    return undefined;
  const values = bounds.map(Number);
  return numbers(values.length > 1 ? values[0]! : 1, values[values.length - 1]!, values.length > 2 ? values[1]! : 1);
}

function numbers(first: number, last: number, step: number | undefined): readonly string[] | undefined {
  const by = step ?? (first <= last ? 1 : -1);
  const rounds = by === 0 ? Number.POSITIVE_INFINITY : Math.floor((last - first) / by) + 1;
  if (rounds > MAX_COUNTED_ROUNDS) return undefined;
  return Array.from({ length: Math.max(rounds, 0) }, (_, i) => String(first + i * by));
}

function trackedVariables(program: ShellProgram): Set<string> {
  const tested = new Set<string>();
  const assigned = new Set<string>();
  const see = (text: Text): void => {
    for (const piece of text.pieces)
      if (typeof piece !== "string" && piece.kind === "variable" && piece.name !== undefined) tested.add(piece.name);
  };
  for (const invocation of program.invocations) {
    for (const assign of invocation.assigns)
      if (assign.value.known !== undefined && !MOVING.has(assign.name)) assigned.add(assign.name);
    const first = invocation.command[0]?.known;
    if (testOf(invocation) !== undefined || first === "exit" || first === "return")
      for (const arg of invocation.command) see(arg);
  }
  const out = new Set<string>();
  for (const name of assigned) if (tested.has(name) && out.size < 12) out.add(name);
  return out;
}
