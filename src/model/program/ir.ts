/**
 * The tree that the abstract machine walks: names resolved to declarations, literals decoded, concatenations flattened,
 * so that a helper which is inlined many times costs little each time.
 */
import { type LuaExpression, type LuaRange, type LuaStatement, luaString } from "../../document/lua.js";
import type { TextView } from "../../text/source.js";
import type { Site, Term, Terms } from "./term.js";

/** A storage place of the abstract machine; `kind` says how two states of it are joined. */
export class Cell {
  value: unknown;
  readonly kind: "variable" | "table" | "key";
  stamp = 0;
  states: unknown[] | undefined;
  constructor(value: unknown, kind: "variable" | "table" | "key") {
    this.value = value;
    this.kind = kind;
  }
}

/** One declaration of a local; `cell` is its storage in the activation that runs now. */
export class Decl {
  readonly name: string;
  readonly owner: Proto;
  /** How many locals were visible before it. */
  readonly position: number;
  /** The local of the same name that it hides. */
  readonly hidden: Decl | undefined;
  cell: Cell | undefined;
  constructor(name: string, owner: Proto, position: number, hidden: Decl | undefined) {
    this.name = name;
    this.owner = owner;
    this.position = position;
    this.hidden = hidden;
    this.cell = undefined;
  }
}

export class Proto {
  readonly view: TextView;
  readonly range: LuaRange;
  readonly parent: Proto | undefined;
  name = "";
  params: Decl[] = [];
  vararg = false;
  body: Stat[] = [];
  /** Locals of enclosing functions (not of the main chunk) that the body mentions. */
  free: Decl[] = [];
  decls: Decl[] = [];
  /** Activations on the stack now. */
  active = 0;
  called = false;
  constructor(view: TextView, range: LuaRange, parent: Proto | undefined) {
    this.view = view;
    this.range = range;
    this.parent = parent;
  }
}

export const Op = {
  Const: 0,
  Local: 1,
  Global: 2,
  Index: 3,
  Call: 4,
  Method: 5,
  Function: 6,
  Concat: 7,
  Compare: 8,
  Arith: 9,
  And: 10,
  Or: 11,
  Not: 12,
  Length: 13,
  Table: 14,
  Vararg: 15,
  Opaque: 16,
} as const;

export interface CallExpr {
  readonly op: typeof Op.Call;
  readonly fn: Expr;
  readonly args: readonly Expr[];
  readonly range: LuaRange;
  site: Site | undefined;
}
export interface MethodExpr {
  readonly op: typeof Op.Method;
  readonly object: Expr;
  readonly name: Term;
  readonly args: readonly Expr[];
  readonly range: LuaRange;
  site: Site | undefined;
}
export interface IndexExpr {
  readonly op: typeof Op.Index;
  readonly object: Expr;
  readonly key: Expr;
  readonly range: LuaRange;
  site: Site | undefined;
}
export interface CompareExpr {
  readonly op: typeof Op.Compare;
  readonly operator: string;
  readonly left: Expr;
  readonly right: Expr;
  readonly range: LuaRange;
  site: Site | undefined;
}
export interface TableExpr {
  readonly op: typeof Op.Table;
  readonly items: readonly Expr[];
  readonly keys: readonly Expr[];
  readonly values: readonly Expr[];
  readonly range: LuaRange;
}
export type Expr =
  | { readonly op: typeof Op.Const; readonly value: Term; readonly range: LuaRange }
  | { readonly op: typeof Op.Local; readonly decl: Decl; readonly range: LuaRange }
  | { readonly op: typeof Op.Global; readonly name: string; readonly range: LuaRange }
  | IndexExpr
  | CallExpr
  | MethodExpr
  | { readonly op: typeof Op.Function; readonly proto: Proto; readonly range: LuaRange }
  | { readonly op: typeof Op.Concat; readonly parts: readonly Expr[]; readonly range: LuaRange }
  | CompareExpr
  | {
      readonly op: typeof Op.Arith;
      readonly operator: string;
      readonly left: Expr;
      readonly right: Expr;
      readonly range: LuaRange;
    }
  | {
      readonly op: typeof Op.And | typeof Op.Or;
      readonly left: Expr;
      readonly right: Expr;
      /** The right side calls something, so it is run under the left side's condition. */
      readonly effects: boolean;
      readonly range: LuaRange;
      site: Site | undefined;
    }
  | { readonly op: typeof Op.Not | typeof Op.Length; readonly of: Expr; readonly range: LuaRange }
  | TableExpr
  | { readonly op: typeof Op.Vararg; readonly range: LuaRange }
  | { readonly op: typeof Op.Opaque; readonly what: string; readonly range: LuaRange };

export const Do = {
  Local: 0,
  Assign: 1,
  Call: 2,
  If: 3,
  While: 4,
  Repeat: 5,
  ForNumber: 6,
  ForEach: 7,
  Return: 8,
  Break: 9,
  Block: 10,
  LocalFunction: 11,
  Include: 12,
} as const;

/** Locals declared outside a loop that its text assigns or whose tables it changes. */
export interface LoopWrites {
  readonly assigned: Decl[];
  readonly changed: Decl[];
}
export interface IfStat {
  readonly op: typeof Do.If;
  readonly conditions: readonly Expr[];
  readonly bodies: readonly (readonly Stat[])[];
  readonly otherwise: readonly Stat[] | undefined;
}
export interface LoopStat {
  readonly op: typeof Do.While | typeof Do.Repeat;
  readonly condition: Expr;
  readonly body: readonly Stat[];
  readonly writes: LoopWrites;
  readonly range: LuaRange;
}
export interface ForNumberStat {
  readonly op: typeof Do.ForNumber;
  readonly variable: Decl;
  readonly from: Expr;
  readonly to: Expr;
  readonly step: Expr | undefined;
  readonly body: readonly Stat[];
  readonly writes: LoopWrites;
  readonly range: LuaRange;
}
export interface ForEachStat {
  readonly op: typeof Do.ForEach;
  readonly variables: readonly Decl[];
  readonly iterators: readonly Expr[];
  readonly body: readonly Stat[];
  readonly writes: LoopWrites;
  readonly range: LuaRange;
}
export type Stat =
  | { readonly op: typeof Do.Local; readonly decls: readonly Decl[]; readonly values: readonly Expr[] }
  | { readonly op: typeof Do.Assign; readonly targets: readonly Expr[]; readonly values: readonly Expr[] }
  | { readonly op: typeof Do.Call; readonly call: Expr }
  | IfStat
  | LoopStat
  | ForNumberStat
  | ForEachStat
  | { readonly op: typeof Do.Return; readonly values: readonly Expr[]; readonly range: LuaRange }
  | { readonly op: typeof Do.Break }
  | { readonly op: typeof Do.Block; readonly body: readonly Stat[] }
  | { readonly op: typeof Do.LocalFunction; readonly decl: Decl; readonly proto: Proto }
  | { readonly op: typeof Do.Include; readonly view: TextView; readonly body: readonly Stat[] };

/** LUAI_MAXVARS of Lua 5.1. */
const MAX_LOCALS = 200;
/** Beyond this the rest of an expression is opaque: the machine recurses on expressions. */
const MAX_DEPTH = 250;

/** Resolves the statements of one chunk; several chunks (includes) can be compiled into one scope, in order. */
export class Compiler {
  readonly main: Proto;
  readonly #terms: Terms;
  #proto: Proto;
  readonly #names = new Map<string, Decl>();
  readonly #visible: Decl[] = [];
  #view: TextView;
  #depth = 0;
  /** Locals that were visible where the present function starts. */
  #start = 0;
  /** Functions with more locals than the server's compiler takes, by the declaration that is too many. */
  readonly tooManyLocals: { readonly view: TextView; readonly range: LuaRange }[] = [];
  /** Loops around the text that is compiled now, innermost last, with how many locals were visible outside each. */
  readonly #loops: { writes: LoopWrites; start: number }[] = [];
  #effects = false;

  constructor(view: TextView, terms: Terms) {
    this.#view = view;
    this.#terms = terms;
    this.main = new Proto(view, [0, view.text.length], undefined);
    this.main.vararg = true;
    this.#proto = this.main;
  }

  /** Compiles statements of `view` into the main chunk's scope. */
  chunk(view: TextView, body: readonly LuaStatement[]): Stat[] {
    this.#view = view;
    const out: Stat[] = [];
    for (const statement of body) this.#statement(statement, out);
    return out;
  }

  #block(body: readonly LuaStatement[]): Stat[] {
    const start = this.#visible.length;
    const out: Stat[] = [];
    for (const statement of body) this.#statement(statement, out);
    this.#leave(start);
    return out;
  }

  #leave(start: number): void {
    const visible = this.#visible;
    while (visible.length > start) {
      const { name, hidden } = visible.pop()!;
      if (hidden === undefined) this.#names.delete(name);
      else this.#names.set(name, hidden);
    }
  }

  #declare(name: string): Decl {
    const decl = new Decl(name, this.#proto, this.#visible.length, this.#names.get(name));
    this.#proto.decls.push(decl);
    this.#visible.push(decl);
    this.#names.set(name, decl);
    return decl;
  }

  #use(decl: Decl): void {
    if (decl.owner === this.#proto || decl.owner === this.main) return;
    for (let p: Proto | undefined = this.#proto; p !== undefined && p !== decl.owner; p = p.parent) {
      if (!p.free.includes(decl)) p.free.push(decl);
    }
  }

  #wrote(name: string, how: "assigned" | "changed"): void {
    if (this.#loops.length === 0) return;
    const decl = this.#names.get(name);
    if (decl === undefined) return;
    for (let i = this.#loops.length - 1; i >= 0; i--) {
      const { writes, start } = this.#loops[i]!;
      if (decl.position < start && !writes[how].includes(decl)) writes[how].push(decl);
    }
  }

  #loop(run: () => void): LoopWrites {
    const writes: LoopWrites = { assigned: [], changed: [] };
    const start = this.#visible.length;
    this.#loops.push({ writes, start });
    run();
    this.#leave(start);
    this.#loops.pop();
    return writes;
  }

  #statement(s: LuaStatement, out: Stat[]): void {
    switch (s.type) {
      case "LocalStatement": {
        const values = this.#exprs(s.init);
        if (values.length === 1 && values[0]!.op === Op.Function) values[0]!.proto.name = s.variables[0]!.name;
        out.push({ op: Do.Local, decls: s.variables.map((v) => this.#declare(v.name)), values });
        if (this.#visible.length - this.#start === MAX_LOCALS + 1) {
          this.tooManyLocals.push({ view: this.#view, range: s.range });
        }
        return;
      }
      case "AssignmentStatement": {
        const values = this.#exprs(s.init);
        out.push({ op: Do.Assign, targets: s.variables.map((v) => this.#target(v)), values });
        return;
      }
      case "CallStatement":
        out.push({ op: Do.Call, call: this.#expr(s.expression) });
        return;
      case "FunctionDeclaration":
        this.#functionStatement(s, out);
        return;
      case "IfStatement": {
        const conditions: Expr[] = [];
        const bodies: Stat[][] = [];
        let otherwise: Stat[] | undefined;
        for (const clause of s.clauses) {
          if (clause.condition === undefined) otherwise = this.#block(clause.body);
          else {
            conditions.push(this.#expr(clause.condition));
            bodies.push(this.#block(clause.body));
          }
        }
        out.push({ op: Do.If, conditions, bodies, otherwise });
        return;
      }
      case "WhileStatement": {
        let condition!: Expr;
        let body!: Stat[];
        const writes = this.#loop(() => {
          condition = this.#expr(s.condition);
          body = this.#block(s.body);
        });
        out.push({ op: Do.While, condition, body, writes, range: s.range });
        return;
      }
      case "RepeatStatement": {
        let condition!: Expr;
        const body: Stat[] = [];
        const writes = this.#loop(() => {
          for (const inner of s.body) this.#statement(inner, body);
          condition = this.#expr(s.condition);
        });
        out.push({ op: Do.Repeat, condition, body, writes, range: s.range });
        return;
      }
      case "ForNumericStatement": {
        const from = this.#expr(s.start);
        const to = this.#expr(s.end);
        const step = s.step === null ? undefined : this.#expr(s.step);
        let variable!: Decl;
        let body!: Stat[];
        const writes = this.#loop(() => {
          variable = this.#declare(s.variable.name);
          body = this.#block(s.body);
        });
        out.push({ op: Do.ForNumber, variable, from, to, step, body, writes, range: s.range });
        return;
      }
      case "ForGenericStatement": {
        const iterators = this.#exprs(s.iterators);
        let variables!: Decl[];
        let body!: Stat[];
        const writes = this.#loop(() => {
          variables = s.variables.map((v) => this.#declare(v.name));
          body = this.#block(s.body);
        });
        out.push({ op: Do.ForEach, variables, iterators, body, writes, range: s.range });
        return;
      }
      case "DoStatement":
        out.push({ op: Do.Block, body: this.#block(s.body) });
        return;
      case "ReturnStatement":
        out.push({ op: Do.Return, values: this.#exprs(s.arguments), range: s.range });
        return;
      case "BreakStatement":
        out.push({ op: Do.Break });
        return;
    }
  }

  #functionStatement(s: Extract<LuaStatement, { type: "FunctionDeclaration" }>, out: Stat[]): void {
    const name = s.identifier;
    if (s.isLocal && name?.type === "Identifier") {
      const decl = this.#declare(name.name);
      const proto = this.#function(s, false);
      proto.name = name.name;
      out.push({ op: Do.LocalFunction, decl, proto });
      return;
    }
    const method = name?.type === "MemberExpression" && name.indexer === ":";
    const proto = this.#function(s, method);
    if (name === null) return;
    proto.name = name.type === "Identifier" ? name.name : name.identifier.name;
    out.push({
      op: Do.Assign,
      targets: [this.#target(name)],
      values: [{ op: Op.Function, proto, range: s.range }],
    });
  }

  #function(s: Extract<LuaStatement, { type: "FunctionDeclaration" }>, method: boolean): Proto {
    const outer = this.#proto;
    const start = this.#visible.length;
    const outerStart = this.#start;
    this.#start = start;
    const effects = this.#effects;
    const proto = new Proto(this.#view, s.range, outer);
    this.#proto = proto;
    if (method) proto.params.push(this.#declare("self"));
    for (const p of s.parameters) {
      if (p.type === "Identifier") proto.params.push(this.#declare(p.name));
      else proto.vararg = true;
    }
    proto.body = this.#block(s.body);
    this.#proto = outer;
    this.#leave(start);
    this.#start = outerStart;
    this.#effects = effects;
    return proto;
  }

  #target(e: LuaExpression): Expr {
    if (e.type === "Identifier") this.#wrote(e.name, "assigned");
    else {
      const root = rootName(e);
      if (root !== undefined) this.#wrote(root, "changed");
    }
    return this.#expr(e);
  }

  #expr(e: LuaExpression): Expr {
    if (e.type === "Identifier") {
      const decl = this.#names.get(e.name);
      if (decl === undefined) return { op: Op.Global, name: e.name, range: e.range };
      this.#use(decl);
      return { op: Op.Local, decl, range: e.range };
    }
    if (this.#depth > MAX_DEPTH) {
      this.#effects = true;
      return { op: Op.Opaque, what: "an expression nested too deeply", range: e.range };
    }
    this.#depth++;
    const expr = this.#build(e);
    this.#depth--;
    return expr;
  }

  #exprs(list: readonly LuaExpression[]): Expr[] {
    const out: Expr[] = [];
    for (let i = 0; i < list.length; i++) out.push(this.#expr(list[i]!));
    return out;
  }

  #build(e: Exclude<LuaExpression, { type: "Identifier" }>): Expr {
    const { range } = e;
    switch (e.type) {
      case "StringLiteral":
        return { op: Op.Const, value: this.#terms.literal(luaString(e.raw)), range };
      case "NumericLiteral":
        return { op: Op.Const, value: this.#terms.literal(e.value as number), range };
      case "BooleanLiteral":
        return { op: Op.Const, value: this.#terms.literal(e.value as boolean), range };
      case "NilLiteral":
        return { op: Op.Const, value: this.#terms.nil, range };
      case "VarargLiteral":
        return { op: Op.Vararg, range };
      case "FunctionDeclaration":
        return { op: Op.Function, proto: this.#function(e, false), range };
      case "MemberExpression":
        return {
          op: Op.Index,
          object: this.#expr(e.base),
          key: { op: Op.Const, value: this.#terms.literal(e.identifier.name), range: e.identifier.range },
          range,
          site: undefined,
        };
      case "IndexExpression":
        return { op: Op.Index, object: this.#expr(e.base), key: this.#expr(e.index), range, site: undefined };
      case "CallExpression":
        return this.#call(e.base, e.arguments, range);
      case "StringCallExpression":
        return this.#call(e.base, [e.argument], range);
      case "TableCallExpression":
        return this.#call(e.base, [e.arguments], range);
      case "TableConstructorExpression": {
        const items: Expr[] = [];
        const keys: Expr[] = [];
        const values: Expr[] = [];
        for (const field of e.fields) {
          if (field.type === "TableValue") items.push(this.#expr(field.value));
          else {
            keys.push(
              field.type === "TableKey"
                ? this.#expr(field.key)
                : { op: Op.Const, value: this.#terms.literal(field.key.name), range: field.key.range },
            );
            values.push(this.#expr(field.value));
          }
        }
        return { op: Op.Table, items, keys, values, range };
      }
      case "UnaryExpression": {
        const of = this.#expr(e.argument);
        if (e.operator === "not") return { op: Op.Not, of, range };
        if (e.operator === "#") return { op: Op.Length, of, range };
        if (of.op === Op.Const && of.value.kind === "literal" && typeof of.value.value === "number") {
          return { op: Op.Const, value: this.#terms.literal(-of.value.value), range };
        }
        const zero: Expr = { op: Op.Const, value: this.#terms.literal(0), range };
        return { op: Op.Arith, operator: "-", left: zero, right: of, range };
      }
      case "LogicalExpression": {
        const left = this.#expr(e.left);
        const before = this.#effects;
        this.#effects = false;
        const right = this.#expr(e.right);
        const effects = this.#effects;
        this.#effects = before || effects;
        return { op: e.operator === "and" ? Op.And : Op.Or, left, right, effects, range, site: undefined };
      }
      case "BinaryExpression":
        return this.#binary(e, range);
    }
  }

  #binary(e: Extract<LuaExpression, { type: "BinaryExpression" | "LogicalExpression" }>, range: LuaRange): Expr {
    const { operator } = e;
    if (operator === "..") {
      const parts: Expr[] = [];
      let rest: LuaExpression = e;
      while (rest.type === "BinaryExpression" && rest.operator === "..") {
        parts.push(this.#expr(rest.left));
        rest = rest.right;
      }
      parts.push(this.#expr(rest));
      return { op: Op.Concat, parts, range };
    }
    const left = this.#expr(e.left);
    const right = this.#expr(e.right);
    switch (operator) {
      case "==":
      case "~=":
      case "<":
      case "<=":
      case ">":
      case ">=":
        return { op: Op.Compare, operator, left, right, range, site: undefined };
      default:
        return { op: Op.Arith, operator, left, right, range };
    }
  }

  #call(base: LuaExpression, args: readonly LuaExpression[], range: LuaRange): Expr {
    let call: Expr;
    if (base.type === "MemberExpression" && base.indexer === ":") {
      const object = this.#expr(base.base);
      const root = rootName(base.base);
      if (root !== undefined) this.#wrote(root, "changed");
      const name = this.#terms.literal(base.identifier.name);
      call = { op: Op.Method, object, name, args: this.#exprs(args), range, site: undefined };
    } else {
      const callee = base.type === "Identifier" ? base : base.type === "MemberExpression" ? base.identifier : undefined;
      const table = args[0];
      if (table?.type === "Identifier" && callee !== undefined && GROWS.test(callee.name)) {
        this.#wrote(table.name, "changed");
      }
      call = { op: Op.Call, fn: this.#expr(base), args: this.#exprs(args), range, site: undefined };
    }
    this.#effects = true;
    return call;
  }
}

/** Names of functions that change the table they are given first, as far as loops need to know beforehand. */
const GROWS = /insert|push|append|add|remove|set|sort/i;

function rootName(e: LuaExpression): string | undefined {
  let at = e;
  while (at.type === "MemberExpression" || at.type === "IndexExpression") at = at.base;
  return at.type === "Identifier" ? at.name : undefined;
}
