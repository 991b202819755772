/**
 * Java files as the small tree of `code.ts`, by tree-sitter-java (wasm), loaded by the host when the first such file is
 * wanted. Strings are what `javac` makes of them: unicode escapes, escapes, text blocks with their indentation stripped.
 */
import {
  bracketDepth,
  CODE_VERSION,
  type Code,
  type CodeClass,
  type CodeFile,
  type CodeMember,
  type CodeParameter,
  type CodeStatement,
  MAX_CODE_CHAIN,
  MAX_CODE_DEPTH,
  MAX_CODE_LENGTH,
  unreadCode,
} from "./code.js";
import { type GrammarHost, loadGrammar, NO_CHILDREN } from "./grammar.js";
import { javaCharacters, javaTextBlock } from "./java-text.js";
import type { CodeReader } from "./typescript.js";

const MAX_BRACKETS = 1000;

/** Loads the grammar. Rejects when the bytes are no such modules. */
export async function createJavaReader(host: GrammarHost): Promise<CodeReader> {
  const parse = await loadGrammar<Concrete>(host, (cursor) => ({
    type: cursor.nodeType,
    start: cursor.startIndex,
    end: cursor.endIndex,
    field: cursor.currentFieldName,
    named: cursor.nodeIsNamed,
    children: NO_CHILDREN,
  }));
  return {
    read(text) {
      if (text.length > MAX_CODE_LENGTH) return unreadCode("java", text, "the file is too long");
      if (text.includes("\0")) return unreadCode("java", text, "not a text");
      if (bracketDepth(text) > MAX_BRACKETS) return unreadCode("java", text, "nested too deeply");
      const root = parse(text);
      if (root === "slow") return unreadCode("java", text, "takes too long to read");
      if (root === "large") return unreadCode("java", text, "the file is too long");
      return new Converter(text).file(root);
    },
  };
}

interface Concrete {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly field: string | null;
  readonly named: boolean;
  children: readonly Concrete[];
}

const COMMENTS = new Set(["line_comment", "block_comment"]);

class Converter {
  readonly #text: string;
  readonly #problems: { start: number; end: number; message: string }[] = [];
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  file(root: Concrete): CodeFile {
    const body: CodeStatement[] = [];
    let name = "";
    for (const node of this.#parts(root)) {
      if (node.type === "package_declaration") name = this.#words(this.#parts(node).at(-1)!);
      else if (node.type === "import_declaration") body.push(this.#import(node));
      else this.#statement(node, body);
    }
    return { version: CODE_VERSION, language: "java", package: name, body, problems: this.#problems };
  }

  #slice(node: Concrete): string {
    return this.#text.slice(node.start, node.end);
  }

  /** The text of a name, without blanks and comments in it. */
  #words(node: Concrete): string {
    return this.#slice(node)
      .replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "")
      .replace(/\s+/g, "");
  }

  /** Named children that are not comments. */
  #parts(node: Concrete): Concrete[] {
    return node.children.filter((c) => c.named && !COMMENTS.has(c.type));
  }

  #field(node: Concrete, name: string): Concrete | undefined {
    return node.children.find((c) => c.field === name && !COMMENTS.has(c.type));
  }

  #fault(node: Concrete, message: string): void {
    if (this.#problems.length < 20) this.#problems.push({ start: node.start, end: node.end, message });
  }

  #deeper<T>(node: Concrete, make: () => T, instead: () => T): T {
    if (this.#depth >= MAX_CODE_DEPTH) {
      this.#fault(node, "nested too deeply");
      return instead();
    }
    this.#depth++;
    const made = make();
    this.#depth--;
    return made;
  }

  #import(node: Concrete): CodeStatement {
    const { start, end } = node;
    const name = this.#words(this.#parts(node)[0]!);
    const members = node.children.some((c) => c.type === "static");
    const base = { type: "import" as const, start, end, ...(members && { members: true as const }) };
    if (node.children.some((c) => c.type === "asterisk")) return { ...base, from: name, names: [], all: "*" };
    const dot = name.lastIndexOf(".");
    const last = name.slice(dot + 1);
    return { ...base, from: name.slice(0, Math.max(0, dot)), names: [{ name: last, as: last }] };
  }

  #block(node: Concrete | undefined): CodeStatement[] {
    const out: CodeStatement[] = [];
    if (node === undefined) return out;
    const isBlock = /^(block|constructor_body|switch_block_statement_group)$/.test(node.type);
    for (const part of isBlock ? this.#parts(node) : [node]) this.#statement(part, out);
    return out;
  }

  #statement(node: Concrete, out: CodeStatement[]): void {
    this.#deeper(
      node,
      () => this.#plain(node, out),
      () => {},
    );
  }

  #plain(node: Concrete, out: CodeStatement[]): void {
    const { start, end } = node;
    const first = (): Concrete | undefined => this.#parts(node)[0];
    const optional = (part: Concrete | undefined): { value?: Code } => (part ? { value: this.#code(part) } : {});
    switch (node.type) {
      case "class_declaration":
      case "record_declaration":
      case "enum_declaration":
      case "interface_declaration":
      case "annotation_type_declaration":
        out.push(this.#class(node));
        return;
      case "local_variable_declaration":
        for (const { name, value, at } of this.#declarators(node)) {
          const type = this.#typeName(this.#field(node, "type"));
          out.push({ type: "variable", ...at, name, ...(value && { value }), ...(type && { valueType: type }) });
        }
        return;
      case "expression_statement":
        out.push({ type: "expression", start, end, value: this.#code(first()!) });
        return;
      case "explicit_constructor_invocation": {
        const callee = this.#field(node, "constructor");
        const args = this.#arguments(this.#field(node, "arguments"));
        if (callee === undefined) return;
        out.push({
          type: "expression",
          start,
          end,
          value: { type: "call", start, end, callee: this.#code(callee), args },
        });
        return;
      }
      case "return_statement":
        out.push({ type: "return", start, end, ...optional(first()) });
        return;
      case "throw_statement":
        out.push({ type: "throw", start, end, ...optional(first()) });
        return;
      case "block":
        out.push({ type: "block", start, end, kind: "plain", body: this.#block(node) });
        return;
      case "labeled_statement":
        this.#statement(this.#parts(node).at(-1)!, out);
        return;
      case "synchronized_statement":
        out.push(...this.#block(this.#field(node, "body")));
        return;
      case "if_statement": {
        const otherwise = this.#field(node, "alternative");
        out.push({
          type: "block",
          start,
          end,
          kind: "branch",
          ...this.#test(node),
          body: this.#block(this.#field(node, "consequence")),
          ...(otherwise && { otherwise: this.#block(otherwise) }),
        });
        return;
      }
      case "for_statement": {
        for (const c of node.children) {
          if (c.field === "init") {
            if (c.type === "local_variable_declaration") this.#statement(c, out);
            else out.push({ type: "expression", start: c.start, end: c.end, value: this.#code(c) });
          }
        }
        const body = this.#block(this.#field(node, "body"));
        for (const c of node.children) {
          if (c.field === "update") {
            body.push({ type: "expression", start: c.start, end: c.end, value: this.#code(c) });
          }
        }
        const kind = this.#field(node, "condition") === undefined ? "endless" : this.#loopKind(node);
        out.push({ type: "block", start, end, kind, ...this.#test(node), body });
        return;
      }
      case "enhanced_for_statement": {
        const name = this.#field(node, "name");
        const value = this.#field(node, "value");
        const body = this.#block(this.#field(node, "body"));
        if (name === undefined || value === undefined) return;
        out.push({ type: "block", start, end, kind: "loop", each: this.#slice(name), test: this.#code(value), body });
        return;
      }
      case "while_statement":
      case "do_statement":
        out.push({
          type: "block",
          start,
          end,
          kind: this.#loopKind(node),
          ...this.#test(node),
          body: this.#block(this.#field(node, "body")),
        });
        return;
      case "switch_expression": {
        const body: CodeStatement[] = [];
        for (const group of this.#parts(this.#field(node, "body") ?? node)) {
          for (const part of this.#parts(group)) if (part.type !== "switch_label") this.#statement(part, body);
        }
        out.push({ type: "block", start, end, kind: "branch", ...this.#test(node), body });
        return;
      }
      case "try_statement":
      case "try_with_resources_statement": {
        const resources: CodeStatement[] = [];
        for (const resource of this.#parts(this.#field(node, "resources") ?? { ...node, children: [] })) {
          const name = this.#field(resource, "name");
          const value = this.#field(resource, "value");
          const at = { start: resource.start, end: resource.end };
          if (name !== undefined)
            resources.push({ type: "variable", ...at, name: this.#slice(name), ...optional(value) });
        }
        const handlers = this.#parts(node)
          .filter((c) => c.type === "catch_clause")
          .map((clause) => {
            const parameter = this.#parts(clause).find((c) => c.type === "catch_formal_parameter");
            const types = parameter && this.#parts(parameter).find((c) => c.type === "catch_type");
            const name = parameter && this.#field(parameter, "name");
            return {
              ...(name && { name: this.#slice(name) }),
              types: types === undefined ? [] : this.#parts(types).map((t) => this.#words(t)),
              body: this.#block(this.#field(clause, "body")),
            };
          });
        const last = this.#parts(node).find((c) => c.type === "finally_clause");
        out.push({
          type: "try",
          start,
          end,
          body: [...resources, ...this.#block(this.#field(node, "body"))],
          handlers,
          last: last === undefined ? [] : this.#block(this.#parts(last)[0]),
        });
        return;
      }
      case "yield_statement":
        out.push({ type: "expression", start, end, value: this.#code(first()!) });
        return;
      case "ERROR":
        this.#fault(node, "not understood");
        return;
      default:
        // an expression where a statement is expected: the arm of a switch
        if (/expression|invocation/.test(node.type)) {
          out.push({ type: "expression", start, end, value: this.#code(node) });
        }
    }
  }

  #test(node: Concrete): { test?: Code } {
    const condition = this.#field(node, "condition");
    return condition === undefined ? {} : { test: this.#code(condition) };
  }

  #loopKind(node: Concrete): "loop" | "endless" {
    const { test } = this.#test(node);
    return test?.type === "boolean" && test.value ? "endless" : "loop";
  }

  #typeName(node: Concrete | undefined): string | undefined {
    if (node === undefined) return undefined;
    const generic = node.type === "generic_type" ? this.#parts(node)[0]! : node;
    return this.#words(generic);
  }

  #declarators(node: Concrete): { name: string; value: Code | undefined; at: { start: number; end: number } }[] {
    return this.#parts(node)
      .filter((c) => c.type === "variable_declarator")
      .map((d) => {
        const value = this.#field(d, "value");
        return {
          name: this.#slice(this.#field(d, "name")!),
          value: value && this.#code(value),
          at: { start: d.start, end: d.end },
        };
      });
  }

  #params(node: Concrete | undefined): CodeParameter[] {
    if (node === undefined) return [];
    const parts = /^(formal|inferred)_parameters$/.test(node.type) ? this.#parts(node) : [node];
    return parts.flatMap((p): CodeParameter[] => {
      const { start, end } = p;
      if (p.type === "identifier") return [{ start, end, name: this.#slice(p) }];
      const rest = p.type === "spread_parameter";
      const declared = this.#parts(p).find((c) => c.type === "variable_declarator") ?? p;
      const name = this.#field(declared, "name");
      if (name === undefined) return [];
      const type = this.#typeName(this.#field(p, "type"));
      return [
        { start, end, name: this.#slice(name), ...(rest && { rest: true as const }), ...(type && { type: type }) },
      ];
    });
  }

  #modifiers(node: Concrete): { isStatic: boolean; annotations: string[] } {
    const modifiers = node.children.find((c) => c.type === "modifiers");
    const parts = modifiers?.children ?? [];
    return {
      isStatic: parts.some((c) => c.type === "static"),
      annotations: parts
        .filter((c) => c.type.endsWith("annotation"))
        .map((c) => this.#words(this.#field(c, "name")!).replace(/^.*\./, "")),
    };
  }

  #class(node: Concrete): CodeClass {
    const name = this.#field(node, "name");
    const base = this.#field(node, "superclass");
    const kind = /^(record|enum|interface)/.exec(node.type)?.[1] as "record" | "enum" | "interface" | undefined;
    return {
      type: "class",
      kind: kind ?? "class",
      start: node.start,
      end: node.end,
      name: name === undefined ? "" : this.#slice(name),
      params: this.#params(this.#field(node, "parameters")),
      members: this.#members(this.#field(node, "body"), kind === "interface" || /^anno/.test(node.type)),
      annotations: this.#modifiers(node).annotations,
      ...(base && { base: this.#typeName(this.#parts(base)[0]) ?? "" }),
    };
  }

  #members(body: Concrete | undefined, constant = false): CodeMember[] {
    const out: CodeMember[] = [];
    for (const node of body === undefined ? [] : this.#parts(body)) {
      const { start, end } = node;
      const at = { start, end };
      switch (node.type) {
        case "field_declaration":
        case "constant_declaration": {
          const isStatic = constant || this.#modifiers(node).isStatic;
          const valueType = this.#typeName(this.#field(node, "type"));
          for (const d of this.#declarators(node)) {
            out.push({
              type: "field",
              ...d.at,
              name: d.name,
              static: isStatic,
              ...(d.value && { value: d.value }),
              ...(valueType && { valueType }),
            });
          }
          break;
        }
        case "method_declaration":
          out.push({
            type: "method",
            ...at,
            name: this.#slice(this.#field(node, "name")!),
            static: this.#modifiers(node).isStatic,
            params: this.#params(this.#field(node, "parameters")),
            body: this.#block(this.#field(node, "body")),
          });
          break;
        case "constructor_declaration":
          out.push({
            type: "constructor",
            ...at,
            params: this.#params(this.#field(node, "parameters")),
            body: this.#block(this.#field(node, "body")),
          });
          break;
        case "enum_constant": {
          const inner = this.#field(node, "body");
          out.push({
            type: "constant",
            ...at,
            name: this.#slice(this.#field(node, "name")!),
            args: this.#arguments(this.#field(node, "arguments")),
          });
          if (inner !== undefined) out.push(...this.#members(inner).filter((m) => m.type === "class"));
          break;
        }
        case "enum_body_declarations":
          out.push(...this.#members(node));
          break;
        case "static_initializer":
          out.push({ type: "static", ...at, body: this.#block(this.#parts(node)[0]) });
          break;
        case "block":
          // an instance initializer
          out.push({ type: "static", ...at, body: this.#block(node) });
          break;
        case "class_declaration":
        case "record_declaration":
        case "enum_declaration":
        case "interface_declaration":
          out.push(
            this.#deeper(
              node,
              () => this.#class(node),
              () => ({ type: "class", kind: "class", ...at, name: "", params: [], members: [], annotations: [] }),
            ),
          );
          break;
        case "ERROR":
          this.#fault(node, "not understood");
          break;
      }
    }
    return out;
  }

  #arguments(node: Concrete | undefined): Code[] {
    return node === undefined ? [] : this.#parts(node).map((p) => this.#code(p));
  }

  #code(node: Concrete): Code {
    return this.#deeper(
      node,
      () => this.#expression(node),
      () => ({ type: "opaque", start: node.start, end: node.end, parts: [] }) as Code,
    );
  }

  #expression(outer: Concrete): Code {
    let node = outer;
    while (node.type === "parenthesized_expression" || node.type === "cast_expression") {
      const inner = node.type === "cast_expression" ? this.#field(node, "value") : this.#parts(node)[0];
      if (inner === undefined) break;
      node = inner;
    }
    const { start, end } = node;
    const at = { start, end };
    const opaque = (): Code => ({
      type: "opaque",
      ...at,
      parts: this.#parts(node)
        .filter((p) => !/type|modifiers|dimensions|pattern/.test(p.type))
        .map((p) => this.#code(p)),
    });
    switch (node.type) {
      case "string_literal": {
        const raw = this.#slice(node);
        const value = raw.startsWith('"""') ? javaTextBlock(raw) : javaCharacters(raw.slice(1, -1));
        return value === undefined ? opaque() : { type: "string", ...at, value };
      }
      case "character_literal": {
        const value = javaCharacters(this.#slice(node).slice(1, -1));
        if (value === undefined) return opaque();
        return { type: "unary", ...at, op: "char", operand: { type: "string", ...at, value } };
      }
      case "decimal_integer_literal":
      case "hex_integer_literal":
      case "octal_integer_literal":
      case "binary_integer_literal":
      case "decimal_floating_point_literal":
        return this.#number(node);
      case "true":
      case "false":
        return { type: "boolean", ...at, value: node.type === "true" };
      case "null_literal":
        return { type: "null", ...at };
      case "this":
        return { type: "this", ...at };
      case "super":
      case "identifier":
      case "type_identifier":
        return { type: "name", ...at, name: this.#slice(node) };
      case "scoped_identifier":
      case "scoped_type_identifier":
      case "generic_type":
        return this.#typeReference(node);
      case "field_access": {
        const object = this.#field(node, "object");
        const name = this.#field(node, "field");
        if (object === undefined || name === undefined) return opaque();
        return { type: "member", ...at, object: this.#code(object), name: this.#slice(name) };
      }
      case "array_access":
        return {
          type: "index",
          ...at,
          object: this.#code(this.#field(node, "array")!),
          index: this.#code(this.#field(node, "index")!),
        };
      case "method_invocation":
        return this.#invocation(node);
      case "object_creation_expression": {
        const type = this.#field(node, "type");
        const body = this.#parts(node).find((c) => c.type === "class_body");
        const args = this.#arguments(this.#field(node, "arguments"));
        if (type === undefined) return opaque();
        const members = body === undefined ? undefined : this.#members(body);
        return { type: "new", ...at, callee: this.#typeReference(type), args, ...(members && { members }) };
      }
      case "array_creation_expression": {
        const value = this.#field(node, "value");
        return value === undefined ? opaque() : this.#code(value);
      }
      case "array_initializer":
        return { type: "list", ...at, items: this.#parts(node).map((p) => this.#code(p)) };
      case "element_value_array_initializer":
        return { type: "list", ...at, items: this.#parts(node).map((p) => this.#code(p)) };
      case "class_literal":
        return { type: "class", ...at, name: this.#words(this.#parts(node)[0]!).replace(/<.*$/, "") };
      case "ternary_expression":
        return {
          type: "choice",
          ...at,
          test: this.#code(this.#field(node, "condition")!),
          yes: this.#code(this.#field(node, "consequence")!),
          no: this.#code(this.#field(node, "alternative")!),
        };
      case "unary_expression": {
        const op = node.children.find((c) => c.field === "operator");
        const operand = this.#field(node, "operand");
        if (op === undefined || operand === undefined) return opaque();
        return { type: "unary", ...at, op: op.type, operand: this.#code(operand) };
      }
      case "update_expression": {
        const target = this.#code(this.#parts(node)[0]!);
        return { type: "assign", ...at, op: "++", target, value: target };
      }
      case "assignment_expression": {
        const target = this.#field(node, "left");
        const value = this.#field(node, "right");
        const op = node.children.find((c) => c.field === "operator")?.type ?? "=";
        if (target === undefined || value === undefined) return opaque();
        return { type: "assign", ...at, op, target: this.#code(target), value: this.#code(value) };
      }
      case "binary_expression":
        return this.#binary(node);
      case "lambda_expression": {
        const body = this.#field(node, "body")!;
        const statements: CodeStatement[] =
          body.type === "block"
            ? this.#block(body)
            : [{ type: "return", start: body.start, end: body.end, value: this.#code(body) }];
        return { type: "function", ...at, params: this.#params(this.#field(node, "parameters")), body: statements };
      }
      case "method_reference": {
        // as the function that it stands for: what it calls is there to be found
        const [object, name] = this.#parts(node);
        if (object === undefined || name === undefined) return opaque();
        const value: Code = {
          type: "call",
          ...at,
          callee: { type: "member", ...at, object: this.#code(object), name: this.#slice(name) },
          args: [{ type: "opaque", ...at, parts: [] }],
        };
        return { type: "function", ...at, params: [], body: [{ type: "return", ...at, value }] };
      }
      case "switch_expression": {
        const out: CodeStatement[] = [];
        this.#plain(node, out);
        return { type: "opaque", ...at, parts: [{ type: "function", ...at, params: [], body: out }] };
      }
      case "ERROR":
        this.#fault(node, "not understood");
        return opaque();
    }
    return opaque();
  }

  #number(node: Concrete): Code {
    const at = { start: node.start, end: node.end };
    const raw = this.#slice(node).replace(/_/g, "");
    const text = /^0[xXbB]/.test(raw) ? raw.replace(/[lL]$/, "") : raw.replace(/[lLfFdD]$/, "");
    const value = /^0[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number(text);
    return Number.isFinite(value) ? { type: "number", ...at, value } : { type: "opaque", ...at, parts: [] };
  }

  /** `a.b.C` as members of a name; arguments of types and annotations are left out. */
  #typeReference(node: Concrete): Code {
    const at = { start: node.start, end: node.end };
    const inner = node.type === "generic_type" ? this.#parts(node)[0]! : node;
    const [head = "", ...rest] = this.#words(inner)
      .replace(/<[^<>]*>/g, "")
      .split(".");
    let made: Code = { type: "name", ...at, name: head };
    for (const name of rest.slice(0, 50)) made = { type: "member", ...at, object: made, name };
    return made;
  }

  /** A chain of calls leans to the left, as deep as it is long: it is put together from its head. */
  #invocation(node: Concrete): Code {
    const links: Concrete[] = [];
    let head: Concrete | undefined = node;
    while (head !== undefined && head.type === "method_invocation") {
      if (links.length > MAX_CODE_CHAIN) return { type: "opaque", start: node.start, end: node.end, parts: [] };
      links.push(head);
      head = this.#field(head, "object");
    }
    let object = head === undefined ? undefined : this.#code(head);
    for (const link of links.reverse()) {
      const name = this.#field(link, "name")!;
      const at = { start: name.start, end: name.end };
      const text = this.#slice(name);
      const callee: Code =
        object === undefined
          ? { type: "name", ...at, name: text }
          : { type: "member", start: object.start, end: name.end, object, name: text };
      const args = this.#arguments(this.#field(link, "arguments"));
      object = { type: "call", start: link.start, end: link.end, callee, args };
    }
    return object!;
  }

  #binary(node: Concrete): Code {
    const at = { start: node.start, end: node.end };
    const operator = (n: Concrete): string => this.#field(n, "operator")?.type ?? "?";
    const bare = (n: Concrete): Concrete =>
      n.type === "parenthesized_expression" && this.#parts(n)[0]?.type === "binary_expression" ? this.#parts(n)[0]! : n;
    const op = operator(node);
    const operands: Concrete[] = [];
    let left: Concrete = node;
    for (;;) {
      const right = this.#field(left, "right");
      if (right !== undefined) operands.push(right);
      const next = this.#field(left, "left");
      if (next === undefined) break;
      left = bare(next);
      if (left.type !== "binary_expression" || operator(left) !== op) {
        operands.push(left);
        break;
      }
    }
    return { type: "binary", ...at, op, operands: operands.reverse().map((o) => this.#code(o)) };
  }
}
