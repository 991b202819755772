/**
 * Runs the declared files as far as their texts decide it: constants over files, object and record literals, builders,
 * helpers that are called with constants. What a condition, an input or an undeclared file decides is unknown. Steps, calls
 * and texts are bounded.
 */
import type { Code, CodeClass, CodeMember, CodeNode, CodeParameter, CodeStatement } from "../../../document/code.js";
import { callLibrary, callMethod, makeUndeclared } from "./library.js";
import { type Binding, type Module, type Modules, Scope } from "./modules.js";
import {
  type ClassDecl,
  type Data,
  type FunctionData,
  type Place,
  type RecordData,
  unknown,
  type Value,
} from "./value.js";

const MAX_STEPS = 400_000;
const MAX_CALLS = 32;
/** Nesting of evaluations, which recurse. */
const MAX_DEPTH = 600;
export const MAX_TEXT = 2 ** 20;
const MAX_ITEMS = 5000;

/** A record that came into being, and the outermost call of a helper that made it. */
export interface Made {
  readonly data: RecordData;
  readonly at: Place;
  readonly call: Place | undefined;
  /** Made in a function that nobody called: its parameters are unknown. */
  readonly idle: boolean;
}

/** A call of a method or function by name, with its arguments. */
export interface Called {
  readonly name: string;
  readonly code: CodeNode<"call"> | CodeNode<"new">;
  readonly module: Module;
  readonly args: readonly Value[];
}

interface Outcome {
  returned?: Value;
  /** A condition decides whether it returned before. */
  maybe?: boolean;
}

export class Evaluator {
  readonly modules: Modules;
  readonly made: Made[] = [];
  readonly called: Called[] = [];
  /** True when the files are larger than the bounds: what is missing is unknown. */
  exhausted = false;
  #steps = 0;
  #depth = 0;
  #calls = 0;
  /** > 0: what runs may not run. */
  #doubt = 0;
  #idle = 0;
  #outermost: Place | undefined;
  readonly #ran = new Set<readonly CodeStatement[]>();
  readonly #loaded = new Set<Module>();
  /** Functions that came into being: those that nothing calls are run in the end. */
  readonly #pending: FunctionData[] = [];
  readonly #classes = new Map<CodeClass, ClassDecl>();
  readonly #probes = new Map<ClassDecl, Value>();

  constructor(modules: Modules) {
    this.modules = modules;
    for (const module of modules.all) {
      countAssignments(module);
      this.#declare(module.code.body, module.scope);
    }
  }

  /** Runs every file, then every function that nothing called. */
  run(): void {
    for (const module of this.modules.all) this.#load(module);
    this.#idle++;
    for (const module of this.modules.all) this.#idleStatements(module.code.body, module.scope);
    for (let f = this.#pending.pop(); f !== undefined; f = this.#pending.pop()) {
      this.#idleFunction(f.params, f.body, f.scope);
    }
    this.#idle--;
  }

  #load(module: Module): void {
    if (this.#loaded.has(module)) return;
    this.#loaded.add(module);
    this.exec(module.code.body, module.scope);
  }

  /** Constants of files and classes that have a value, with their names. */
  *constants(): Generator<{ readonly name: string; readonly value: Value }> {
    const scopes = [...this.modules.all.map((m) => m.scope), ...[...this.#classes.values()].map((d) => d.scope)];
    for (const scope of scopes) {
      for (const [name, { value, parameter }] of scope.names) {
        if (value !== undefined && parameter !== true) yield { name, value };
      }
    }
  }

  get doubtful(): boolean {
    return this.#doubt > 0;
  }

  place(scope: Scope, code: { readonly start: number; readonly end: number }): Place {
    return { module: scope.module, start: code.start, end: code.end };
  }

  // ---- declarations

  #declare(statements: readonly CodeStatement[], scope: Scope): void {
    for (const s of statements) {
      if (s.type === "function") {
        const data: FunctionData = { kind: "function", name: s.name, params: s.params, body: s.body, scope };
        if (scope.parent !== undefined) this.#pending.push(data);
        const at = this.place(scope, s);
        scope.names.set(s.name, { value: { data, at, origin: at }, state: "ready" });
      } else if (s.type === "class") {
        const decl = this.#declareClass(s, scope, scope.decl);
        const at = this.place(scope, s);
        scope.names.set(s.name, {
          value: { data: { kind: "class", name: s.name, decl }, at, origin: at },
          state: "ready",
        });
      } else if (s.type === "variable" && scope.parent === undefined) {
        const times = scope.module.assigned.get(s.name) ?? 0;
        if (s.value === undefined ? times === 1 : times === 0) {
          scope.names.set(s.name, s.value === undefined ? { state: "ready" } : { code: s.value, state: "lazy" });
        } else
          scope.names.set(s.name, { value: unknown("it is assigned again", this.place(scope, s)), state: "ready" });
      } else if (s.type === "default" && s.value.type !== "name") {
        scope.names.set("default", { code: s.value, state: "lazy" });
      }
    }
  }

  #declareClass(code: CodeClass, scope: Scope, outer: ClassDecl | undefined): ClassDecl {
    const known = this.#classes.get(code);
    if (known !== undefined) return known;
    const inner = new Scope(scope.module, scope);
    const decl: ClassDecl = {
      name: code.name,
      kind: code.kind,
      params: code.params,
      members: code.members,
      base: code.base,
      annotations: code.annotations,
      module: scope.module,
      at: this.place(scope, code),
      scope: inner,
      outer,
      state: "new",
    };
    inner.decl = decl;
    inner.self = undefined;
    this.#classes.set(code, decl);
    if (scope.module.code.language === "java") {
      const path: string[] = [];
      for (let d: ClassDecl | undefined = decl; d !== undefined; d = d.outer) path.unshift(d.name);
      const prefix = scope.module.code.package;
      this.modules.classes.set((prefix === "" ? path : [prefix, ...path]).join("."), decl);
    }
    for (const m of code.members) {
      if (m.type === "class") {
        const nested = this.#declareClass(m, inner, decl);
        const at = this.place(inner, m);
        inner.names.set(m.name, {
          value: { data: { kind: "class", name: m.name, decl: nested }, at, origin: at },
          state: "ready",
        });
      } else if (m.type === "field" && m.static) {
        const times = scope.module.assigned.get(m.name) ?? 0;
        if (m.value === undefined ? times === 1 : times === 0) {
          inner.names.set(m.name, m.value === undefined ? { state: "ready" } : { code: m.value, state: "lazy" });
        } else
          inner.names.set(m.name, { value: unknown("it is assigned again", this.place(inner, m)), state: "ready" });
      }
    }
    return decl;
  }

  /** Runs the static part of a class once. */
  ready(decl: ClassDecl): void {
    if (decl.state !== "new") return;
    decl.state = "running";
    const { scope } = decl;
    for (const m of decl.members) if (m.type === "constant") this.#constant(decl, m);
    for (const m of decl.members) {
      if (m.type === "field" && m.static) this.#force(scope, m.name);
      else if (m.type === "static") this.exec(m.body, new Scope(scope.module, scope));
      else if (m.type === "class") {
        const nested = scope.names.get(m.name)?.value?.data;
        if (nested?.kind === "class" && nested.decl !== undefined) this.ready(nested.decl);
      }
    }
    decl.state = "ready";
  }

  #constant(decl: ClassDecl, m: Extract<CodeMember, { type: "constant" }>): void {
    if (decl.scope.names.has(m.name)) return;
    const at = this.place(decl.scope, m);
    let value: Value;
    if (decl.module.code.language === "typescript") {
      const given = m.value === undefined ? undefined : this.eval(m.value, decl.scope);
      // a number says nothing, the name does
      const data: Data =
        given !== undefined && given.data.kind === "string"
          ? given.data
          : { kind: "symbol", name: m.name, owner: decl.name };
      value = { data, at, origin: given?.origin ?? at };
    } else {
      const args = m.args.map((a) => this.eval(a, decl.scope));
      const data = this.instantiate(decl, args, at, m.name);
      value = { data, at, origin: at };
    }
    decl.scope.names.set(m.name, { value, state: "ready" });
  }

  // ---- idle functions

  #idleStatements(statements: readonly CodeStatement[], scope: Scope): void {
    for (const s of statements) {
      if (s.type === "function") this.#idleFunction(s.params, s.body, scope);
      else if (s.type === "class") {
        const found = scope.names.get(s.name)?.value?.data;
        if (found?.kind === "class" && found.decl !== undefined) this.#idleClass(found.decl);
      }
    }
  }

  #idleClass(decl: ClassDecl): void {
    this.ready(decl);
    const self = this.#probe(decl);
    for (const m of decl.members) {
      if (m.type === "method") {
        const scope = new Scope(decl.module, decl.scope);
        if (!m.static) scope.self = self;
        const before = this.made.length;
        const returned = this.#idleFunction(m.params, m.body, scope);
        // `@Bean RedisScript<Long> rateLimit()`: the method names what it makes
        const data = returned?.data.kind === "unknown" ? returned.data.around : returned?.data;
        if (data?.kind === "record" && this.made.length > before) {
          if (data.hint?.strong !== true) data.hint = { text: m.name, at: this.place(scope, m), strong: false };
        }
      } else if (m.type === "class") {
        const nested = decl.scope.names.get(m.name)?.value?.data;
        if (nested?.kind === "class" && nested.decl !== undefined) this.#idleClass(nested.decl);
      }
    }
  }

  /** An object of a class that the files never make. */
  #probe(decl: ClassDecl): Value {
    const known = this.#probes.get(decl);
    if (known !== undefined) return known;
    const record: RecordData = emptyRecord(decl.name, decl);
    const probe: Value = { data: record, at: decl.at, origin: decl.at };
    this.#probes.set(decl, probe);
    record.consumed = true;
    if (decl.kind !== "record" && decl.kind !== "enum") {
      this.#fields(decl, probe);
      const made = decl.members.find((m) => m.type === "constructor");
      if (made?.type === "constructor" && !this.#ran.has(made.body)) {
        const scope = new Scope(decl.module, decl.scope);
        scope.self = probe;
        this.#idleFunction(made.params, made.body, scope);
      }
    }
    record.open = true;
    return probe;
  }

  #idleFunction(params: readonly CodeParameter[], body: readonly CodeStatement[], parent: Scope): Value | undefined {
    if (this.#ran.has(body)) return undefined;
    this.#ran.add(body);
    const scope = new Scope(parent.module, parent);
    for (const p of params) {
      scope.names.set(p.name, {
        value: unknown("it is a parameter", this.place(scope, p)),
        state: "ready",
        parameter: true,
      });
    }
    return this.exec(body, scope).returned;
  }

  // ---- names

  #force(scope: Scope, name: string): Value | undefined {
    const binding = scope.names.get(name);
    return binding === undefined ? undefined : this.#value(binding, scope, name);
  }

  #value(binding: Binding, scope: Scope, name: string): Value | undefined {
    if (binding.state === "running") return unknown("it is defined by itself", this.place(scope, binding.code!));
    if (binding.state === "lazy") {
      binding.state = "running";
      // a constant is evaluated for all its users: not as a part of the call that came first
      const [outermost, doubt, idle] = [this.#outermost, this.#doubt, this.#idle];
      this.#outermost = undefined;
      this.#doubt = 0;
      this.#idle = 0;
      const value = this.eval(binding.code!, scope);
      this.#outermost = outermost;
      this.#doubt = doubt;
      this.#idle = idle;
      binding.value = value;
      binding.state = "ready";
      hint(value, name, value.at, false);
    }
    return binding.value;
  }

  /** What a name means in a scope; undefined when nothing in the files says so. */
  lookup(name: string, scope: Scope): { value: Value; parameter: boolean } | undefined {
    for (let s: Scope | undefined = scope; s !== undefined; s = s.parent) {
      const binding = s.names.get(name);
      if (binding !== undefined) {
        const value = this.#value(binding, s, name);
        if (value !== undefined) return { value, parameter: binding.parameter === true };
        // it is declared and has no value yet
        return { value: unknown("it has no value here", { module: s.module, start: 0, end: 0 }), parameter: false };
      }
      const decl: ClassDecl | undefined = s.decl;
      if (decl !== undefined && (s === decl.scope || s.self !== undefined)) {
        const member = this.#inherited(decl, name, s.self);
        if (member !== undefined) return { value: member, parameter: false };
      }
    }
    const found =
      scope.module.code.language === "java" ? this.#javaName(name, scope.module) : this.#imported(name, scope.module);
    return found === undefined ? undefined : { value: found, parameter: false };
  }

  /** A field of the object, a static member or constant of the class or of one that it extends. */
  #inherited(decl: ClassDecl, name: string, self: Value | undefined): Value | undefined {
    if (decl.module.code.language === "java" && self?.data.kind === "record") {
      const field = self.data.fields.get(name);
      if (field !== undefined) return field.value;
    }
    let at: ClassDecl | undefined = decl;
    for (let i = 0; at !== undefined && i < 8; i++) {
      if (at.module.code.language === "java" || at !== decl) {
        const constant = at.members.find((m) => m.type === "constant" && m.name === name);
        if (constant !== undefined && !at.scope.names.has(name)) this.#constant(at, constant as never);
        const found = this.#force(at.scope, name);
        if (found !== undefined) return found;
      }
      at = at.base === undefined ? undefined : this.#classNamed(at.base, at.scope.parent ?? at.scope);
    }
    return undefined;
  }

  #classNamed(name: string, scope: Scope): ClassDecl | undefined {
    const found = this.lookup(name.split(".")[0]!, scope)?.value.data;
    return found?.kind === "class" ? found.decl : undefined;
  }

  #javaName(name: string, module: Module): Value | undefined {
    const asClass = (full: string): Value | undefined => {
      const decl = this.modules.classes.get(full);
      return decl && { data: { kind: "class", name, decl }, at: decl.at, origin: decl.at };
    };
    for (const s of module.code.body) {
      if (s.type !== "import") continue;
      for (const n of s.names) {
        if (n.as !== name) continue;
        if (s.members === true) {
          const decl = this.modules.classes.get(s.from);
          if (decl !== undefined) return this.member(decl, name);
        } else {
          const found = asClass(`${s.from}.${name}`);
          if (found !== undefined) return found;
        }
      }
    }
    const prefix = module.code.package;
    const near = asClass(prefix === "" ? name : `${prefix}.${name}`);
    if (near !== undefined) return near;
    for (const s of module.code.body) {
      if (s.type !== "import" || s.all === undefined) continue;
      const decl: ClassDecl | undefined = this.modules.classes.get(s.from);
      const found = s.members === true ? decl && this.member(decl, name) : asClass(`${s.from}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #imported(name: string, module: Module): Value | undefined {
    const source = module.imports.get(name);
    return source === undefined ? undefined : this.#exportOf(module, source.from, source.name, 0);
  }

  #exportOf(from: Module, specifier: string, name: string, depth: number): Value | undefined {
    const bare = specifier.replace(/[?#].*$/, "");
    if (/\.lua$/.test(bare)) {
      const at: Place = { module: from, start: 0, end: 0 };
      return { data: { kind: "file", path: bare }, at, origin: at };
    }
    const module = this.modules.find(from, specifier);
    if (module === undefined || depth > 20) return undefined;
    if (name === "*") {
      const at: Place = { module, start: 0, end: 0 };
      return { data: { kind: "module", module }, at, origin: at };
    }
    return this.exported(module, name, depth);
  }

  /** What a module exports under a name. */
  exported(module: Module, name: string, depth = 0): Value | undefined {
    const own = module.exports.get(name);
    if (own !== undefined) {
      if ("local" in own) return this.lookup(own.local, module.scope)?.value;
      return this.#exportOf(module, own.from, own.name, depth + 1);
    }
    if (name === "default" || depth > 20) return undefined;
    for (const from of module.stars) {
      const found = this.#exportOf(module, from, name, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** A static member of a class, a constant of an enum. */
  member(decl: ClassDecl, name: string): Value | undefined {
    this.ready(decl);
    const own = this.#force(decl.scope, name);
    if (own !== undefined) return own;
    const constant = decl.members.find((m) => m.type === "constant" && m.name === name);
    if (constant?.type === "constant") {
      this.#constant(decl, constant);
      return this.#force(decl.scope, name);
    }
    const method = decl.members.find((m) => m.type === "method" && m.name === name && m.static);
    if (method?.type === "method") return this.#function(method, decl.scope);
    return decl.base === undefined ? undefined : this.#inherited(decl, name, undefined);
  }

  #function(m: Extract<CodeMember, { type: "method" }>, scope: Scope): Value {
    const at = this.place(scope, m);
    return { data: { kind: "function", name: m.name, params: m.params, body: m.body, scope }, at, origin: at };
  }

  // ---- statements

  exec(statements: readonly CodeStatement[], scope: Scope): Outcome {
    if (scope.parent !== undefined) this.#declare(statements, scope);
    const outcome: Outcome = {};
    for (const s of statements) {
      if (!this.#step()) {
        outcome.maybe = true;
        break;
      }
      const inner = this.#statement(s, scope);
      if (inner.maybe === true) outcome.maybe = true;
      if (inner.returned !== undefined) {
        outcome.returned = inner.returned;
        break;
      }
    }
    return outcome;
  }

  #step(): boolean {
    if (++this.#steps <= MAX_STEPS) return true;
    this.exhausted = true;
    return false;
  }

  #statement(s: CodeStatement, scope: Scope): Outcome {
    switch (s.type) {
      case "variable": {
        if (scope.parent === undefined) {
          this.#force(scope, s.name);
          return {};
        }
        const value = s.value === undefined ? undefined : this.eval(s.value, scope);
        if (value !== undefined) hint(value, s.name, this.place(scope, s), false);
        scope.names.set(s.name, value === undefined ? { state: "ready" } : { value, state: "ready" });
        return {};
      }
      case "default":
        if (s.value.type !== "name") this.#force(scope, "default");
        return {};
      case "expression":
        this.eval(s.value, scope);
        return {};
      case "class": {
        const found = scope.names.get(s.name)?.value?.data;
        if (found?.kind === "class" && found.decl !== undefined) {
          this.ready(found.decl);
          if (scope.parent !== undefined) this.#idleClass(found.decl);
        }
        return {};
      }
      case "return": {
        const value = s.value === undefined ? undefined : this.eval(s.value, scope);
        const at = this.place(scope, s);
        return { returned: value ?? { data: { kind: "null" }, at, origin: at } };
      }
      case "throw":
        if (s.value !== undefined) this.eval(s.value, scope);
        return {};
      case "try": {
        const body = this.exec(s.body, new Scope(scope.module, scope));
        this.#doubt++;
        for (const h of s.handlers) {
          const inner = new Scope(scope.module, scope);
          if (h.name !== undefined)
            inner.names.set(h.name, { value: unknown("it is an exception", this.place(scope, s)), state: "ready" });
          this.exec(h.body, inner);
        }
        this.#doubt--;
        const last = this.exec(s.last, new Scope(scope.module, scope));
        return last.returned !== undefined ? last : body;
      }
      case "block":
        return this.#block(s, scope);
      default:
        return {};
    }
  }

  #block(s: Extract<CodeStatement, { type: "block" }>, scope: Scope): Outcome {
    const inner = (): Scope => new Scope(scope.module, scope);
    if (s.kind === "plain") return this.exec(s.body, inner());
    const test = s.test === undefined ? undefined : this.eval(s.test, scope);
    if (s.kind === "branch" && test?.data.kind === "boolean") {
      return this.exec(test.data.value ? s.body : (s.otherwise ?? []), inner());
    }
    if (s.each !== undefined && test?.data.kind === "list" && test.data.items.length <= MAX_ITEMS) {
      const { items, open } = test.data;
      let maybe = false;
      for (const item of [...items]) {
        const each = inner();
        each.names.set(s.each, { value: item, state: "ready", parameter: true });
        const done = this.exec(s.body, each);
        if (done.returned !== undefined) return { returned: done.returned };
        maybe ||= done.maybe === true;
        if (this.exhausted) break;
      }
      return maybe || open ? { maybe: true } : {};
    }
    this.#doubt++;
    const each = inner();
    if (s.each !== undefined) {
      each.names.set(s.each, { value: unknown("it is one of many", this.place(scope, s)), state: "ready" });
    }
    const yes = this.exec(s.body, each);
    const no = this.exec(s.otherwise ?? [], inner());
    this.#doubt--;
    const returns = [yes, no].some((o) => o.returned !== undefined || o.maybe === true);
    if (yes.returned !== undefined && no.returned !== undefined) {
      return { returned: unknown("a condition decides", this.place(scope, s)) };
    }
    return returns ? { maybe: true } : {};
  }

  // ---- calls

  /** Calls a function of the files. */
  call(f: FunctionData, args: readonly Value[], at: Place, self?: Value): Value {
    if (this.#calls >= MAX_CALLS) return unknown("calls are nested too deeply", at);
    const scope = new Scope(f.scope.module, f.scope);
    if (self !== undefined) scope.self = self;
    this.#bind(f.params, args, scope, at);
    this.#ran.add(f.body);
    const outer = this.#outermost;
    this.#outermost ??= at;
    this.#calls++;
    const outcome = this.exec(f.body, scope);
    this.#calls--;
    this.#outermost = outer;
    if (outcome.maybe === true) return unknown(`\`${f.name}\` decides it by a condition`, at);
    return outcome.returned ?? { data: { kind: "null" }, at, origin: at };
  }

  #bind(params: readonly CodeParameter[], args: readonly Value[], scope: Scope, at: Place): void {
    params.forEach((p, i) => {
      let value = args[i];
      if (p.rest === true) {
        const [only] = args.slice(i);
        // Java: an array may be given for the rest
        value =
          args.length === i + 1 && only?.data.kind === "list" && scope.module.code.language === "java"
            ? only
            : { data: { kind: "list", items: args.slice(i), open: false }, at, origin: at };
      } else if (value === undefined && p.initial !== undefined) value = this.eval(p.initial, scope);
      scope.names.set(p.name, {
        value: value ?? { data: { kind: "null" }, at, origin: at },
        state: "ready",
        parameter: true,
      });
    });
  }

  /** Fields of an object with their initial values. */
  #fields(decl: ClassDecl, self: Value): void {
    if (self.data.kind !== "record") return;
    const scope = new Scope(decl.module, decl.scope);
    scope.self = self;
    for (const m of decl.members) {
      if (m.type !== "field" || m.static || m.value === undefined) continue;
      const value = this.eval(m.value, scope);
      self.data.fields.set(m.name, { value, key: this.place(scope, m) });
    }
  }

  /** Makes an object of a class of the files. */
  instantiate(decl: ClassDecl, args: readonly Value[], at: Place, constant?: string): RecordData {
    const record: RecordData = emptyRecord(decl.name, decl, constant);
    const self: Value = { data: record, at, origin: at };
    if (constant !== undefined) record.hint = { text: constant, at, strong: false };
    this.#record(record, at);
    if (this.#calls >= MAX_CALLS) {
      record.open = true;
      return record;
    }
    this.ready(decl);
    const position = (names: readonly { readonly name: string; readonly rest?: true }[]): void => {
      names.forEach((p, i) => {
        const rest = p.rest === true && !(args.length === i + 1 && args[i]?.data.kind === "list");
        const value: Value | undefined = rest
          ? { data: { kind: "list", items: args.slice(i), open: false }, at, origin: at }
          : args[i];
        if (value !== undefined) record.fields.set(p.name, { value, key: value.at });
      });
    };
    const constructors = decl.members.filter((m) => m.type === "constructor");
    if (decl.kind === "record") {
      const own = constructors.find((c) => c.params.length > 0 && c.params.length === args.length);
      const canonical = decl.params.length === args.length || decl.params.at(-1)?.rest === true;
      if (own !== undefined && !canonical) this.#construct(own, decl, args, self, at);
      else position(decl.params);
      return record;
    }
    this.#fields(decl, self);
    const fitting =
      constructors.find((c) => c.params.length === args.length && fits(c.params, args)) ??
      constructors.find((c) => c.params.length === args.length) ??
      constructors.find((c) => c.params.at(-1)?.rest === true || c.params.some((p) => p.initial !== undefined));
    if (fitting !== undefined) this.#construct(fitting, decl, args, self, at);
    else if (args.length > 0) {
      // Lombok's constructors take the fields in their order
      const fields = decl.members.filter((m) => m.type === "field" && !m.static && m.value === undefined);
      if (fields.length === args.length) position(fields as readonly { readonly name: string }[]);
      else {
        record.open = true;
        record.args = args;
      }
    }
    if (decl.base !== undefined) record.open = true;
    return record;
  }

  #construct(
    c: Extract<CodeMember, { type: "constructor" }>,
    decl: ClassDecl,
    args: readonly Value[],
    self: Value,
    at: Place,
  ): void {
    const f: FunctionData = { kind: "function", name: decl.name, params: c.params, body: c.body, scope: decl.scope };
    this.call(f, args, at, self);
    const record = self.data as RecordData;
    // a parameter that the body puts nowhere under its own name is still what the caller gave
    c.params.forEach((p, i) => {
      const value = args[i];
      if (value !== undefined && p.rest !== true && !record.fields.has(p.name)) {
        record.fields.set(p.name, { value, key: value.at });
      }
    });
  }

  #record(data: RecordData, at: Place): void {
    this.made.push({ data, at, call: this.#outermost, idle: this.#idle > 0 });
  }

  // ---- expressions

  eval(code: Code, scope: Scope): Value {
    const at = this.place(scope, code);
    if (!this.#step() || this.#depth >= MAX_DEPTH) {
      this.exhausted = true;
      return unknown("it is too large to be read", at);
    }
    this.#depth++;
    const value = this.#eval(code, scope, at);
    this.#depth--;
    return value;
  }

  #eval(code: Code, scope: Scope, at: Place): Value {
    const made = (data: Data): Value => ({ data, at, origin: at });
    switch (code.type) {
      case "string":
        return made({ kind: "string", value: code.value });
      case "number":
        return made({ kind: "number", value: code.value });
      case "boolean":
        return made({ kind: "boolean", value: code.value });
      case "null":
        return made({ kind: "null" });
      case "class":
        return made({ kind: "class", name: code.name, decl: undefined });
      case "this":
        return scope.self === undefined ? unknown("`this` is not known here", at) : { ...scope.self, at };
      case "await":
        return this.eval(code.value, scope);
      case "template":
        return this.#template(code, scope, at);
      case "name":
        return this.#name(code.name, scope, at);
      case "member":
        return this.#memberOf(code, scope, at);
      case "index":
        return this.#index(code, scope, at);
      case "list": {
        const items: Value[] = [];
        let open = false;
        for (const item of code.items) {
          const value = this.eval(item.type === "spread" ? item.value : item, scope);
          if (item.type !== "spread") items.push(value);
          else if (value.data.kind === "list") {
            items.push(...value.data.items.slice(0, MAX_ITEMS));
            open ||= value.data.open;
          } else open = true;
        }
        return made({ kind: "list", items, open });
      }
      case "object":
        return this.#object(code, scope, at);
      case "spread":
        return this.eval(code.value, scope);
      case "unary":
        return this.#unary(code, scope, at);
      case "binary":
        return this.#binary(code, scope, at);
      case "choice": {
        const test = this.eval(code.test, scope);
        if (test.data.kind === "boolean") return this.eval(test.data.value ? code.yes : code.no, scope);
        this.#doubt++;
        this.eval(code.yes, scope);
        this.eval(code.no, scope);
        this.#doubt--;
        return unknown("a condition decides", at);
      }
      case "function": {
        const data: FunctionData = { kind: "function", name: "", params: code.params, body: code.body, scope };
        this.#pending.push(data);
        return made(data);
      }
      case "assign":
        return this.#assign(code, scope, at);
      case "call":
        return this.#call(code, scope, at);
      case "new":
        return this.#new(code, scope, at);
      case "opaque":
        this.#doubt++;
        for (const part of code.parts) {
          const value = this.eval(part, scope);
          if (value.data.kind === "function") this.#idleFunction(value.data.params, value.data.body, value.data.scope);
        }
        this.#doubt--;
        return unknown("it is computed", at);
    }
  }

  #name(name: string, scope: Scope, at: Place): Value {
    const found = this.lookup(name, scope);
    if (found !== undefined)
      return found.parameter ? found.value : { data: found.value.data, at, origin: found.value.origin };
    // a name in capitals whose declaration is not here may be a constant of an enum
    if (/^[A-Z]/.test(name)) {
      const data: Data = /^[A-Z][A-Z0-9_]*$/.test(name)
        ? { kind: "symbol", name, owner: undefined }
        : { kind: "class", name, decl: undefined };
      return { data, at, origin: at };
    }
    return unknown(`\`${name}\` is not declared in the files`, at);
  }

  #template(code: CodeNode<"template">, scope: Scope, at: Place): Value {
    if (code.tag !== undefined) {
      const raw =
        code.tag.type === "member" &&
        code.tag.name === "raw" &&
        code.tag.object.type === "name" &&
        code.tag.object.name === "String";
      if (!raw) {
        this.eval(code.tag, scope);
        for (const p of code.parts) if (typeof p !== "string") this.eval(p, scope);
        return unknown("a tag makes it", at);
      }
    }
    let text = "";
    let faulty: Value | undefined;
    for (const part of code.parts) {
      if (typeof part === "string") {
        text += part;
        continue;
      }
      const value = this.eval(part, scope);
      const word = textOf(value.data);
      if (word === undefined) faulty ??= value;
      else text += word;
      if (text.length > MAX_TEXT) return unknown("it is too long", at);
    }
    if (faulty !== undefined) return unknown(reasonOf(faulty), at);
    return { data: { kind: "string", value: text }, at, origin: at };
  }

  #memberOf(code: CodeNode<"member">, scope: Scope, at: Place): Value {
    const object = this.eval(code.object, scope);
    const found = this.property(object, code.name, at);
    return found.parameter ? found.value : { data: found.value.data, at, origin: found.value.origin };
  }

  property(object: Value, name: string, at: Place): { value: Value; parameter: boolean } {
    const { data } = object;
    const other = (value: Value): { value: Value; parameter: boolean } => ({ value, parameter: false });
    switch (data.kind) {
      case "record": {
        const field = data.fields.get(name);
        // an object that was bound to a parameter keeps its places
        if (field !== undefined) return other(field.value);
        if (data.decl !== undefined) {
          const method = data.decl.members.find((m) => m.type === "method" && m.name === name);
          if (method?.type === "method") {
            // a getter without arguments, or a function that is passed on
            const f = this.#function(method, data.decl.scope);
            if (data.decl.module.code.language === "typescript" && method.params.length === 0) {
              return other(unknown("it is computed", at));
            }
            return other(f);
          }
        }
        if (data.open || data.decl !== undefined || data.type !== undefined)
          return other(unknown(`\`${name}\` is not known`, at));
        return other({ data: { kind: "null" }, at, origin: at });
      }
      case "class": {
        if (data.decl !== undefined) {
          const found = this.member(data.decl, name);
          return other(found ?? unknown(`\`${data.name}.${name}\` is not known`, at));
        }
        if (/^[A-Z]/.test(name)) {
          const isClass = /[a-z]/.test(name) && !/^[A-Z][A-Z0-9_]*$/.test(name);
          // `Access.ReadWrite` is a constant as well as a class: its name is what is known
          if (isClass) return other({ data: { kind: "symbol", name, owner: data.name }, at, origin: at });
          return other({ data: { kind: "symbol", name, owner: data.name }, at, origin: at });
        }
        return other(unknown(`\`${data.name}\` is not declared in the files`, at));
      }
      case "module": {
        const found = this.exported(data.module, name);
        return other(found ?? unknown(`\`${name}\` is not exported there`, at));
      }
      case "string":
        if (name === "length") return other({ data: { kind: "number", value: data.value.length }, at, origin: at });
        break;
      case "list":
        if (name === "length" && !data.open)
          return other({ data: { kind: "number", value: data.items.length }, at, origin: at });
        break;
      case "symbol":
        // `pkg.Access.READ`
        if (/^[A-Z]/.test(name)) return other({ data: { kind: "symbol", name, owner: data.name }, at, origin: at });
        break;
    }
    return other(unknown(data.kind === "unknown" ? data.reason : `\`${name}\` is not known`, at));
  }

  #index(code: CodeNode<"index">, scope: Scope, at: Place): Value {
    const object = this.eval(code.object, scope);
    const index = this.eval(code.index, scope);
    if (object.data.kind === "list" && index.data.kind === "number" && !object.data.open) {
      const item = object.data.items[index.data.value];
      if (item !== undefined) return { data: item.data, at, origin: item.origin };
    } else if (index.data.kind === "string") {
      const found = this.property(object, index.data.value, at).value;
      return { data: found.data, at, origin: found.origin };
    }
    return unknown("which one is not known", at);
  }

  #object(code: CodeNode<"object">, scope: Scope, at: Place): Value {
    const data = emptyRecord(undefined, undefined);
    const value: Value = { data, at, origin: at };
    this.#record(data, at);
    for (const p of code.properties) {
      const key = this.place(scope, { start: p.start, end: p.keyEnd });
      if (p.key === undefined) {
        const spread = this.eval(p.value, scope);
        if (spread.data.kind === "record") {
          for (const [name, field] of spread.data.fields) data.fields.set(name, field);
          if (spread.data.open) data.open = true;
        } else if (spread.data.kind !== "null") data.open = true;
        continue;
      }
      const named = typeof p.key === "string" ? p.key : textOf(this.eval(p.key, scope).data);
      const inner = this.eval(p.value, scope);
      if (inner.data.kind === "function") this.#idleLater(inner.data);
      if (named === undefined) {
        data.open = true;
        continue;
      }
      hint(inner, named, key, true);
      data.fields.set(named, { value: inner, key });
    }
    return value;
  }

  /** Functions that are given away are run with unknown arguments: what they make is still there to be found. */
  #idleLater(f: FunctionData): void {
    this.#doubt++;
    this.#idle++;
    this.#idleFunction(f.params, f.body, f.scope);
    this.#idle--;
    this.#doubt--;
  }

  #unary(code: CodeNode<"unary">, scope: Scope, at: Place): Value {
    const { data } = this.eval(code.operand, scope);
    const made = (d: Data): Value => ({ data: d, at, origin: at });
    if (code.op === "char" && data.kind === "string") return made({ kind: "string", value: data.value, char: true });
    if (code.op === "!" && data.kind === "boolean") return made({ kind: "boolean", value: !data.value });
    if (data.kind === "number") {
      if (code.op === "-") return made({ kind: "number", value: -data.value });
      if (code.op === "+") return made(data);
    }
    return unknown(data.kind === "unknown" ? data.reason : "it is computed", at);
  }

  #binary(code: CodeNode<"binary">, scope: Scope, at: Place): Value {
    const java = scope.module.code.language === "java";
    const [first, ...rest] = code.operands.map((o) => this.eval(o, scope));
    let left = first!.data;
    for (const value of rest) {
      const right = value.data;
      const result = operate(code.op, left, right, java);
      if (result === undefined) {
        const faulty = [first!, ...rest].find((v) => textOf(v.data) === undefined);
        return unknown(faulty === undefined ? "it is computed" : reasonOf(faulty), at);
      }
      left = result;
      if (left.kind === "string" && left.value.length > MAX_TEXT) return unknown("it is too long", at);
    }
    return { data: left, at, origin: at };
  }

  #assign(code: CodeNode<"assign">, scope: Scope, at: Place): Value {
    const { target } = code;
    const old = code.op === "=" ? undefined : this.eval(target, scope);
    let value = code.value === target ? unknown("it is counted", at) : this.eval(code.value, scope);
    if (code.op === "+=" && old !== undefined) {
      const sum = operate("+", old.data, value.data, scope.module.code.language === "java");
      value = sum === undefined ? unknown("it is computed", at) : { data: sum, at, origin: at };
    } else if (code.op !== "=" && code.op !== "??=" && code.value !== target) value = unknown("it is computed", at);
    const sure = this.#doubt === 0;
    if (target.type === "name") {
      for (let s: Scope | undefined = scope; s !== undefined; s = s.parent) {
        const binding = s.names.get(target.name);
        if (binding !== undefined) {
          if (s.parent !== undefined || binding.value === undefined) {
            s.names.set(target.name, { value: sure ? value : unknown("a condition decides", at), state: "ready" });
          }
          return value;
        }
        if (s.self?.data.kind === "record" && s.decl !== undefined && s.module.code.language === "java") {
          if (s.decl.members.some((m) => m.type === "field" && m.name === target.name)) {
            this.#setField(s.self.data, target.name, value, at, sure);
            return value;
          }
        }
      }
      return value;
    }
    if (target.type === "member") {
      const object = this.eval(target.object, scope);
      const key = this.place(scope, { start: target.end - target.name.length, end: target.end });
      if (object.data.kind === "record") {
        this.#setField(object.data, target.name, value, key, sure);
        if (object.data.decl === undefined) hint(value, target.name, key, true);
      } else if (
        object.data.kind === "class" &&
        object.data.decl?.scope.names.get(target.name) !== undefined &&
        object.data.decl.scope.names.get(target.name)!.value === undefined
      ) {
        object.data.decl.scope.names.set(target.name, { value, state: "ready" });
      } else if (target.object.type === "name" && target.object.name === "module" && target.name === "exports") {
        this.#commonExports(value, scope);
      } else if (
        (target.object.type === "name" && target.object.name === "exports") ||
        (target.object.type === "member" && target.object.name === "exports")
      ) {
        scope.module.exports.set(target.name, { local: target.name });
        if (!scope.module.scope.names.has(target.name))
          scope.module.scope.names.set(target.name, { value, state: "ready" });
      }
      return value;
    }
    if (target.type === "index") {
      const object = this.eval(target.object, scope);
      const index = this.eval(target.index, scope);
      if (object.data.kind === "record") {
        const name = textOf(index.data);
        if (name === undefined) object.data.open = true;
        else {
          this.#setField(object.data, name, value, index.at, sure);
          hint(value, name, index.at, true);
        }
      } else if (object.data.kind === "list") object.data.open = true;
    }
    return value;
  }

  #setField(record: RecordData, name: string, value: Value, key: Place, sure: boolean): void {
    record.fields.set(name, { value: sure ? value : unknown("a condition decides", value.at), key });
  }

  /** `module.exports = { a, b }`, `module.exports = x`. */
  #commonExports(value: Value, scope: Scope): void {
    scope.module.exports.set("default", { local: "module.exports" });
    scope.module.scope.names.set("module.exports", { value, state: "ready" });
    if (value.data.kind !== "record") return;
    for (const [name, field] of value.data.fields) {
      const local = `module.exports.${name}`;
      scope.module.exports.set(name, { local });
      scope.module.scope.names.set(local, { value: field.value, state: "ready" });
    }
  }

  #args(codes: readonly Code[], scope: Scope): { args: Value[]; open: boolean } {
    const args: Value[] = [];
    let open = false;
    for (const code of codes) {
      const value = this.eval(code.type === "spread" ? code.value : code, scope);
      if (code.type !== "spread") args.push(value);
      else if (value.data.kind === "list" && !value.data.open) args.push(...value.data.items.slice(0, MAX_ITEMS));
      else open = true;
    }
    return { args, open };
  }

  #call(code: CodeNode<"call">, scope: Scope, at: Place): Value {
    const { callee } = code;
    // a chain of calls is run from its head, however long it is
    const links: CodeNode<"call">[] = [];
    let head: Code = code;
    while (head.type === "call" && head.callee.type === "member") {
      links.push(head);
      head = head.callee.object;
      if (head.type === "await") head = head.value;
    }
    if (links.length === 0) return this.#plainCall(code, callee, scope, at);
    let object = this.eval(head, scope);
    for (const link of links.reverse()) {
      const target = link.callee as CodeNode<"member">;
      const place = this.place(scope, link);
      const { args, open } = this.#args(link.args, scope);
      this.called.push({ name: target.name, code: link, module: scope.module, args });
      object = open
        ? unknown("how many arguments is not known", place)
        : this.#method(object, target, args, scope, place);
      if (!this.#step()) return unknown("it is too large to be read", at);
    }
    return object;
  }

  #plainCall(code: CodeNode<"call">, callee: Code, scope: Scope, at: Place): Value {
    const target: Value | undefined =
      callee.type === "name"
        ? this.#callable(callee.name, scope)
        : callee.type === "this"
          ? undefined
          : this.eval(callee, scope);
    const { args, open } = this.#args(code.args, scope);
    const name = callee.type === "name" ? callee.name : callee.type === "this" ? "this" : "";
    this.called.push({ name, code, module: scope.module, args });
    if (open) return unknown("how many arguments is not known", at);
    if (callee.type === "this" && scope.self?.data.kind === "record" && scope.decl !== undefined) {
      const { decl, self } = scope;
      const other = decl.members.find((m) => m.type === "constructor" && m.params.length === args.length);
      if (other?.type === "constructor") this.#construct(other, decl, args, self, at);
      else if (decl.kind === "record" && decl.params.length === args.length) {
        decl.params.forEach((p, i) => {
          (self.data as RecordData).fields.set(p.name, { value: args[i]!, key: args[i]!.at });
        });
      }
      return scope.self;
    }
    if (target?.data.kind === "function") return this.call(target.data, args, at, scope.self);
    if (name === "require" && args[0]?.data.kind === "string") {
      const module = this.modules.find(scope.module, args[0].data.value);
      if (module !== undefined) {
        this.#load(module);
        return this.exported(module, "default") ?? { data: { kind: "module", module }, at, origin: at };
      }
    }
    const known = callLibrary(this, undefined, name, args, at);
    this.#giveAway(args);
    return known ?? this.#foreign(name, args, at);
  }

  /** A function by its name: of the scope, or a method of the class (Java). */
  #callable(name: string, scope: Scope): Value | undefined {
    if (scope.module.code.language === "typescript") {
      const found = this.lookup(name, scope)?.value;
      return found?.data.kind === "function" ? found : undefined;
    }
    for (let decl = scope.decl; decl !== undefined; decl = decl.outer) {
      const method = decl.members.find((m) => m.type === "method" && m.name === name);
      if (method?.type === "method") return this.#function(method, decl.scope);
    }
    for (const s of scope.module.code.body) {
      if (s.type !== "import" || s.members !== true) continue;
      if (s.all === undefined && !s.names.some((n) => n.name === name)) continue;
      const decl = this.modules.classes.get(s.from);
      const found = decl?.members.find((m) => m.type === "method" && m.name === name && m.static);
      if (decl !== undefined && found?.type === "method") return this.#function(found, decl.scope);
    }
    return undefined;
  }

  #method(object: Value, target: CodeNode<"member">, args: readonly Value[], scope: Scope, at: Place): Value {
    const { name } = target;
    const { data } = object;
    if (data.kind === "class" && data.decl !== undefined) {
      const method = this.#overload(data.decl, name, args, true);
      if (method !== undefined) {
        this.ready(data.decl);
        return this.call(this.#function(method, data.decl.scope).data as FunctionData, args, at);
      }
      if (data.decl.kind === "enum" && name === "values") {
        this.ready(data.decl);
        const items = data.decl.members.flatMap((m) =>
          m.type === "constant" ? [this.member(data.decl!, m.name)!] : [],
        );
        return { data: { kind: "list", items, open: false }, at, origin: at };
      }
      if (name === "valueOf" && args[0]?.data.kind === "string") {
        return this.member(data.decl, args[0].data.value) ?? unknown("it is no constant of the enum", at);
      }
      if (args.length === 0 && /^(builder|newBuilder|create)$/.test(name)) {
        const record = emptyRecord(data.decl.name, data.decl);
        this.#record(record, at);
        return { data: record, at, origin: at };
      }
      const field = this.member(data.decl, name);
      if (field?.data.kind === "function") return this.call(field.data, args, at);
    }
    if (data.kind === "module") {
      const f = this.exported(data.module, name);
      if (f?.data.kind === "function") return this.call(f.data, args, at);
    }
    if (data.kind === "record") {
      const method = data.decl === undefined ? undefined : this.#overload(data.decl, name, args, false);
      if (method !== undefined && data.decl !== undefined && data !== this.#probes.get(data.decl)?.data) {
        data.calls.push({ name, args, at, sure: this.#doubt === 0 });
        const before = this.made.length;
        const scoped = this.#function(method, data.decl.scope).data as FunctionData;
        const returned = this.call(scoped, args, at, { data, at, origin: object.origin });
        // `build()` made the thing: the builder is none of its own
        if (
          returned.data.kind === "record" &&
          returned.data !== data &&
          this.made.slice(before).some((m) => m.data === returned.data)
        ) {
          data.consumed = true;
          returned.data.hint ??= data.hint!;
          if (returned.data.hint === undefined) delete returned.data.hint;
          return { data: returned.data, at, origin: at };
        }
        return returned;
      }
      if (method !== undefined && data.decl !== undefined) {
        return this.call(this.#function(method, data.decl.scope).data as FunctionData, args, at, object);
      }
      const field = data.fields.get(name);
      if (field?.value.data.kind === "function") return this.call(field.value.data, args, at, object);
    }
    const library =
      target.object.type === "name" && this.lookup(target.object.name, scope) === undefined
        ? target.object.name
        : undefined;
    const owner =
      data.kind === "class" && data.decl === undefined
        ? data.name
        : (library ?? (data.kind === "symbol" ? data.name : undefined));
    const known =
      (owner !== undefined ? callLibrary(this, owner, name, args, at) : undefined) ??
      callMethod(this, object, name, args, at);
    if (known !== undefined) return known;
    this.#giveAway(args);
    if (/^(?:define\w*|put|set|register\w*|add)$/.test(name) && args.length >= 2) this.#define(args);
    if (data.kind === "record" && data.type !== undefined) {
      data.calls.push({ name, args, at, sure: this.#doubt === 0 });
      // a builder of a class that is not here returns itself
      return { data, at, origin: object.origin };
    }
    if (owner !== undefined && /^(builder|newBuilder|create|of|define|program|descriptor|with|named)$/i.test(name)) {
      const record = emptyRecord(owner, undefined);
      record.args = args;
      const [first] = args;
      if (args.length === 1 && first?.data.kind === "string") {
        record.hint = { text: first.data.value, at: first.at, strong: true };
      }
      this.#record(record, at);
      return { data: record, at, origin: at };
    }
    return this.#foreign(name, args, at);
  }

  #overload(
    decl: ClassDecl,
    name: string,
    args: readonly Value[],
    isStatic: boolean,
  ): Extract<CodeMember, { type: "method" }> | undefined {
    const all = decl.members
      .filter((m) => m.type === "method")
      .filter((m) => m.name === name && (!isStatic || m.static));
    const found =
      all.find((m) => m.params.length === args.length && fits(m.params, args)) ??
      all.find((m) => m.params.length === args.length) ??
      all.find((m) => m.params.at(-1)?.rest === true || m.params.some((p) => p.initial !== undefined));
    return found ?? (decl.module.code.language === "typescript" ? all[0] : undefined);
  }

  /** `defineCommand(name, { … })`, `CATALOG.put(name, …)`. */
  #define(args: readonly Value[]): void {
    const [name, options] = args;
    if (name?.data.kind !== "string" || options === undefined) return;
    const data = options.data.kind === "unknown" ? options.data.around : options.data;
    if (data?.kind === "record" && data.hint?.strong !== true) {
      data.hint = { text: name.data.value, at: name.at, strong: true };
    }
  }

  #giveAway(args: readonly Value[]): void {
    for (const a of args) if (a.data.kind === "function") this.#idleLater(a.data);
  }

  /** A function that is not in the files: its answer is unknown, except what its argument says plainly. */
  #foreign(name: string, args: readonly Value[], at: Place): Value {
    const [only] = args;
    if (args.length === 1 && only?.data.kind === "string" && /^[^\s]+\.lua$/.test(only.data.value)) {
      return { data: { kind: "file", path: only.data.value }, at, origin: at };
    }
    if (args.length === 1 && only?.data.kind === "file") return { data: only.data, at, origin: at };
    const record = args.find((a) => a.data.kind === "record")?.data;
    return unknown(`\`${name}\` is not declared in the files`, at, record?.kind === "record" ? record : undefined);
  }

  #new(code: CodeNode<"new">, scope: Scope, at: Place): Value {
    const callee = this.eval(code.callee, scope);
    const { args, open } = this.#args(code.args, scope);
    const name =
      callee.data.kind === "class" || callee.data.kind === "symbol"
        ? callee.data.name
        : code.callee.type === "name"
          ? code.callee.name
          : code.callee.type === "member"
            ? code.callee.name
            : "";
    this.called.push({ name, code, module: scope.module, args });
    if (code.members !== undefined) {
      // an anonymous class: its methods are still code that runs
      for (const m of code.members) {
        if (m.type === "method")
          this.#idleLater({ kind: "function", name: m.name, params: m.params, body: m.body, scope });
      }
    }
    if (open) return unknown("how many arguments is not known", at);
    if (callee.data.kind === "class" && callee.data.decl !== undefined) {
      return { data: this.instantiate(callee.data.decl, args, at), at, origin: at };
    }
    this.#giveAway(args);
    const known = makeUndeclared(name, args, at);
    if (known !== undefined) return known;
    const data = emptyRecord(name, undefined);
    data.args = args;
    this.#record(data, at);
    return { data, at, origin: at };
  }
}

export function emptyRecord(type: string | undefined, decl: ClassDecl | undefined, constant?: string): RecordData {
  const base = { kind: "record" as const, type, decl, fields: new Map(), open: false, args: [], calls: [] };
  return constant === undefined ? base : { ...base, constant };
}

/** Names a record by who holds it; the first to do so counts, a key more than a variable. */
export function hint(value: Value, text: string, at: Place, strong: boolean): void {
  const data = value.data.kind === "unknown" ? value.data.around : value.data;
  if (data?.kind !== "record") return;
  if (data.hint === undefined || (strong && !data.hint.strong)) data.hint = { text, at, strong };
}

/** Whether arguments can be what the parameters' types want. */
function fits(params: readonly CodeParameter[], args: readonly Value[]): boolean {
  return params.every((p, i) => {
    const kind = args[i]?.data.kind;
    if (p.type === "String" && kind !== "string" && kind !== "unknown" && kind !== "null") return false;
    if (/^(int|long|Integer|Long)$/.test(p.type ?? "") && kind !== "number" && kind !== "unknown") return false;
    if (/^(List|Set|Collection)$/.test(p.type ?? "") && kind !== "list" && kind !== "unknown") return false;
    return true;
  });
}

export function textOf(data: Data): string | undefined {
  if (data.kind === "string") return data.value;
  if (data.kind === "number") return Number.isSafeInteger(data.value) ? String(data.value) : undefined;
  if (data.kind === "boolean") return String(data.value);
  if (data.kind === "text") return data.value;
  return undefined;
}

export function reasonOf(value: Value): string {
  return value.data.kind === "unknown" ? value.data.reason : "a part of it is not known";
}

function operate(op: string, left: Data, right: Data, java: boolean): Data | undefined {
  if (op === "+") {
    const words = left.kind === "string" || right.kind === "string";
    if (words) {
      if (left.kind === "string" && right.kind === "string" && left.char && right.char) return undefined;
      if (
        (left.kind === "string" && left.char && right.kind === "number") ||
        (right.kind === "string" && right.char && left.kind === "number")
      )
        return undefined;
      const [a, b] = [textOf(left), textOf(right)];
      return a === undefined || b === undefined ? undefined : { kind: "string", value: a + b };
    }
  }
  if (op === "??")
    return left.kind === "null" ? right : left.kind === "unknown" || left.kind === "symbol" ? undefined : left;
  if (op === "||" || op === "&&") {
    if (left.kind === "boolean") return left.value === (op === "||") ? left : right;
    return undefined;
  }
  if (/^[!=]==?$/.test(op)) {
    const a = primitive(left);
    const b = primitive(right);
    // Java compares references
    if (a === undefined || b === undefined || (java && typeof a === "string")) return undefined;
    return { kind: "boolean", value: (a === b) === op.startsWith("=") };
  }
  if (left.kind !== "number" || right.kind !== "number") return undefined;
  const [a, b] = [left.value, right.value];
  const compare = { "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b }[op];
  if (compare !== undefined) return { kind: "boolean", value: compare };
  let value: number | undefined;
  if (op === "+") value = a + b;
  else if (op === "-") value = a - b;
  else if (op === "*") value = a * b;
  else if (op === "/") value = java && Number.isInteger(a) && Number.isInteger(b) ? Math.trunc(a / b) : a / b;
  else if (op === "%") value = a % b;
  else if (op === "**") value = a ** b;
  else if (op === "<<" && b >= 0 && b < 31) value = a * 2 ** b;
  if (value === undefined || !Number.isFinite(value)) return undefined;
  // an int may have overflowed, a long not
  if ((java || op === "<<") && Math.abs(value) > 0x7fffffff) return undefined;
  return { kind: "number", value };
}

function primitive(data: Data): string | number | boolean | null | undefined {
  if (data.kind === "string" || data.kind === "number" || data.kind === "boolean") return data.value;
  return data.kind === "null" ? null : undefined;
}

/** Counts the assignments to each name of a module, without recursion. */
function countAssignments(module: Module): void {
  const java = module.code.language === "java";
  const stack: unknown[] = [module.code.body];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (Array.isArray(node)) {
      for (const n of node) if (typeof n === "object" && n !== null) stack.push(n);
      continue;
    }
    const code = node as Code;
    if (code.type === "assign") {
      const { target } = code;
      const ofClass = java && target.type === "member" && target.object.type === "name";
      const name = target.type === "name" || ofClass ? (target as { name: string }).name : undefined;
      if (name !== undefined) module.assigned.set(name, (module.assigned.get(name) ?? 0) + 1);
    }
    for (const value of Object.values(code)) if (typeof value === "object" && value !== null) stack.push(value);
  }
}
