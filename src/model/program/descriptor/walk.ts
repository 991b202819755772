/** Walking the code of a file: every expression with what stands around it. Bounded as the trees are. */
import type { Code, CodeClass, CodeFile, CodeMember, CodeNode, CodeStatement } from "../../../document/code.js";
import type { Source } from "../../../text/source.js";

/** A function or method, or what a file or class runs when it is loaded (name ""). */
export interface CodeFunction {
  readonly name: string;
  readonly params: readonly { readonly name: string }[];
  readonly body: readonly CodeStatement[];
  readonly source: Source;
}

/** What stands around an expression, innermost last. */
export interface Context {
  readonly function: CodeFunction;
  readonly tries: readonly Extract<CodeStatement, { type: "try" }>[];
  /** Handlers that it stands in. */
  readonly handlers: readonly (readonly CodeStatement[])[];
  readonly loops: readonly Extract<CodeStatement, { type: "block" }>[];
  /** Calls that it is an argument or the head of: `f(x)`, `x.catch(…)`. */
  readonly calls: readonly (CodeNode<"call"> | CodeNode<"new">)[];
  readonly awaited: boolean;
  /** The statement gives it back as it is. */
  readonly returned: boolean;
  /** Nobody takes its answer. */
  readonly dropped: boolean;
}

export type Visit = (code: Code, context: Context) => void;

/** Visits every expression of a file, and of the functions in it. Gives the functions. */
export function walkFile(source: Source, file: CodeFile, visit: Visit): CodeFunction[] {
  const functions: CodeFunction[] = [];
  const start = (name: string, params: CodeFunction["params"], body: readonly CodeStatement[]): void => {
    const f: CodeFunction = { name, params, body, source };
    functions.push(f);
    statements(body, {
      function: f,
      tries: [],
      handlers: [],
      loops: [],
      calls: [],
      awaited: false,
      returned: false,
      dropped: false,
    });
  };

  const member = (m: CodeMember): void => {
    if (m.type === "class") classOf(m);
    else if (m.type === "method") start(m.name, m.params, m.body);
    else if (m.type === "constructor") start("constructor", m.params, m.body);
    else if (m.type === "static") start("", [], m.body);
    else if (m.type === "field") {
      if (m.value?.type === "function") start(m.name, m.value.params, m.value.body);
      else if (m.value !== undefined)
        start("", [], [{ type: "expression", start: m.start, end: m.end, value: m.value }]);
    } else {
      for (const a of m.args) start("", [], [{ type: "expression", start: m.start, end: m.end, value: a }]);
    }
  };
  const classOf = (c: CodeClass): void => {
    for (const m of c.members) member(m);
  };

  const statements = (list: readonly CodeStatement[], context: Context): void => {
    for (const s of list) statement(s, context);
  };
  const statement = (s: CodeStatement, context: Context): void => {
    switch (s.type) {
      case "variable":
        if (s.value?.type === "function") start(s.name, s.value.params, s.value.body);
        else if (s.value !== undefined) expression(s.value, context);
        return;
      case "function":
        start(s.name, s.params, s.body);
        return;
      case "class":
        classOf(s);
        return;
      case "default":
        expression(s.value, context);
        return;
      case "expression":
        expression(s.value, Object.assign({}, context, { dropped: true }));
        return;
      case "return":
        if (s.value !== undefined) expression(s.value, Object.assign({}, context, { returned: true }));
        return;
      case "throw":
        if (s.value !== undefined) expression(s.value, context);
        return;
      case "block": {
        const inner =
          s.kind === "loop" || s.kind === "endless"
            ? Object.assign({}, context, { loops: [...context.loops, s] })
            : context;
        if (s.test !== undefined) expression(s.test, inner);
        statements(s.body, inner);
        statements(s.otherwise ?? [], inner);
        return;
      }
      case "try":
        statements(s.body, Object.assign({}, context, { tries: [...context.tries, s] }));
        for (const h of s.handlers) {
          statements(h.body, Object.assign({}, context, { handlers: [...context.handlers, h.body] }));
        }
        statements(s.last, context);
    }
  };

  const expression = (code: Code, context: Context): void => {
    visit(code, context);
    const plain =
      context.returned || context.awaited || context.dropped
        ? Object.assign({}, context, { returned: false, awaited: false, dropped: false })
        : context;
    const all = (list: readonly Code[], c: Context): void => {
      for (const item of list) expression(item, c);
    };
    switch (code.type) {
      case "call": {
        // a chain from its end to its head, without recursion
        let link: Code = code;
        let outer = context;
        while (link.type === "call") {
          if (link !== code) visit(link, outer);
          const inside: Context = Object.assign({}, plain, { calls: [...outer.calls, link] });
          all(link.args, inside);
          if (link.callee.type !== "member") {
            if (link.callee.type !== "name") expression(link.callee, plain);
            return;
          }
          outer = Object.assign({}, inside, { awaited: outer.awaited, returned: outer.returned });
          link = link.callee.object;
        }
        expression(link, Object.assign({}, plain, { calls: outer.calls }));
        return;
      }
      case "new":
        all(code.args, Object.assign({}, plain, { calls: [...plain.calls, code] }));
        for (const m of code.members ?? []) member(m);
        return;
      case "function": {
        // what a callback does is judged where it stands
        const f: CodeFunction = { name: "", params: code.params, body: code.body, source };
        statements(
          code.body,
          Object.assign({}, plain, { function: context.function.name === "" ? f : context.function, calls: [] }),
        );
        return;
      }
      case "await":
        expression(code.value, Object.assign({}, context, { awaited: true, dropped: false }));
        return;
      case "template":
        all(
          code.parts.filter((p): p is Code => typeof p !== "string"),
          plain,
        );
        return;
      case "member":
        expression(code.object, plain);
        return;
      case "index":
        all([code.object, code.index], plain);
        return;
      case "object":
        for (const p of code.properties) {
          if (p.value.type === "function" && typeof p.key === "string") start(p.key, p.value.params, p.value.body);
          else expression(p.value, plain);
        }
        return;
      case "list":
        all(code.items, plain);
        return;
      case "spread":
        expression(code.value, plain);
        return;
      case "binary":
        all(code.operands, plain);
        return;
      case "unary":
        expression(code.operand, plain);
        return;
      case "choice":
        expression(code.test, plain);
        expression(code.yes, context);
        expression(code.no, context);
        return;
      case "assign":
        if (code.value !== code.target) expression(code.value, plain);
        return;
      case "opaque":
        all(code.parts, plain);
    }
  };

  start("", [], file.body);
  return functions;
}

/** The last name of what a call calls: `evalsha` of `this.redis.evalsha(…)`. */
export function calleeName(code: CodeNode<"call"> | CodeNode<"new">): string {
  const { callee } = code;
  return callee.type === "name" || callee.type === "member" ? callee.name : "";
}

/** The words in a call's first arguments: `"SCRIPT", "LOAD"`, `["EVALSHA", …]`, `CommandType.EVALSHA`. */
export function firstWords(code: CodeNode<"call"> | CodeNode<"new">): string[] {
  const out: string[] = [];
  const add = (c: Code | undefined): void => {
    if (c === undefined) return;
    if (c.type === "string") out.push(c.value.toUpperCase());
    else if (c.type === "member") out.push(c.name.toUpperCase());
    else if (c.type === "list") {
      add(c.items[0]);
      add(c.items[1]);
    }
  };
  add(code.args[0]);
  add(code.args[1]);
  return out;
}
