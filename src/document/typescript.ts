/**
 * TypeScript and JavaScript files as the small tree of `code.ts`. The parser is the compiler that `ts-morph` carries, loaded
 * by the host when the first such file is wanted: it costs more than a whole run, so hosts keep the trees by content.
 */
import type { ts as TS } from "ts-morph";
import {
  bracketDepth,
  CODE_VERSION,
  type Code,
  type CodeClass,
  type CodeFile,
  type CodeMember,
  type CodeParameter,
  type CodeProperty,
  type CodeStatement,
  MAX_CODE_CHAIN,
  MAX_CODE_DEPTH,
  MAX_CODE_LENGTH,
  unreadCode,
} from "./code.js";

export interface CodeReader {
  /** Never throws for any text; what could not be read is in `problems`. */
  read(text: string, file: string): CodeFile;
}

/** The compiler's parser recurses several frames for each bracket. */
const MAX_BRACKETS = 400;

/** The compiler is a package of its own, which somebody left out. */
export class MissingParser extends Error {
  override readonly name = "MissingParser";

  constructor() {
    super("TypeScript and JavaScript are read with the package ts-morph, which is not installed: npm install ts-morph");
  }
}

/** Loads the compiler. Throws a MissingParser where it is not there. */
export async function createTypescriptReader(): Promise<CodeReader> {
  const { ts } = await import("ts-morph").catch((error: unknown) => {
    if (!/MODULE_NOT_FOUND$/.test((error as { code?: string }).code ?? "")) throw error;
    throw new MissingParser();
  });
  return {
    read(text, file) {
      if (text.length > MAX_CODE_LENGTH) return unreadCode("typescript", text, "the file is too long");
      if (bracketDepth(text) > MAX_BRACKETS) return unreadCode("typescript", text, "nested too deeply");
      try {
        const kind = /\.[mc]?tsx?$/.test(file)
          ? /x$/.test(file)
            ? ts.ScriptKind.TSX
            : ts.ScriptKind.TS
          : ts.ScriptKind.JSX;
        const source = ts.createSourceFile("a.ts", text, ts.ScriptTarget.Latest, false, kind);
        return new Converter(ts, source).file();
      } catch (error) {
        // unary operators, types and the like nest without a bracket
        if (!(error instanceof RangeError)) throw error;
        return unreadCode("typescript", text, "nested too deeply");
      }
    },
  };
}

class Converter {
  readonly #ts: typeof TS;
  readonly #source: TS.SourceFile;
  readonly #problems: { start: number; end: number; message: string }[] = [];
  #depth = 0;

  constructor(ts: typeof TS, source: TS.SourceFile) {
    this.#ts = ts;
    this.#source = source;
  }

  file(): CodeFile {
    const faults =
      (this.#source as unknown as { parseDiagnostics?: readonly TS.DiagnosticWithLocation[] }).parseDiagnostics ?? [];
    for (const fault of faults.slice(0, 20)) {
      const message = this.#ts.flattenDiagnosticMessageText(fault.messageText, " ");
      this.#problems.push({ start: fault.start, end: fault.start + fault.length, message });
    }
    const body = this.#statements(this.#source.statements);
    return { version: CODE_VERSION, language: "typescript", package: "", body, problems: this.#problems };
  }

  #range(node: TS.Node): { start: number; end: number } {
    return { start: node.getStart(this.#source), end: node.end };
  }

  #deeper<T>(node: TS.Node, make: () => T, instead: () => T): T {
    if (this.#depth >= MAX_CODE_DEPTH) {
      if (this.#problems.length < 20) this.#problems.push({ ...this.#range(node), message: "nested too deeply" });
      return instead();
    }
    this.#depth++;
    const made = make();
    this.#depth--;
    return made;
  }

  #statements(nodes: readonly TS.Statement[]): CodeStatement[] {
    const out: CodeStatement[] = [];
    for (const node of nodes) {
      this.#deeper(
        node,
        () => this.#statement(node, out),
        () => {},
      );
    }
    return out;
  }

  #body(node: TS.Statement | undefined): CodeStatement[] {
    if (node === undefined) return [];
    return this.#statements(this.#ts.isBlock(node) ? node.statements : [node]);
  }

  #exported(node: TS.Node): { exported?: true; byDefault: boolean } {
    const modifiers = this.#ts.canHaveModifiers(node) ? (this.#ts.getModifiers(node) ?? []) : [];
    const has = (kind: TS.SyntaxKind): boolean => modifiers.some((m) => m.kind === kind);
    const byDefault = has(this.#ts.SyntaxKind.DefaultKeyword);
    return has(this.#ts.SyntaxKind.ExportKeyword) ? { exported: true, byDefault } : { byDefault };
  }

  #statement(node: TS.Statement, out: CodeStatement[]): void {
    const ts = this.#ts;
    const range = this.#range(node);
    if (ts.isVariableStatement(node)) {
      this.#variables(node.declarationList, this.#exported(node).exported, out);
    } else if (ts.isExpressionStatement(node)) {
      out.push({ type: "expression", ...range, value: this.#code(node.expression) });
    } else if (ts.isReturnStatement(node)) {
      out.push({ type: "return", ...range, ...(node.expression && { value: this.#code(node.expression) }) });
    } else if (ts.isThrowStatement(node)) {
      out.push({ type: "throw", ...range, value: this.#code(node.expression) });
    } else if (ts.isFunctionDeclaration(node)) {
      const { exported, byDefault } = this.#exported(node);
      const name = node.name?.text ?? "default";
      out.push({
        type: "function",
        ...range,
        name,
        params: this.#params(node.parameters),
        body: this.#body(node.body),
        ...(exported && { exported }),
      });
      if (byDefault) out.push({ type: "default", ...range, value: { type: "name", ...range, name } });
    } else if (ts.isClassDeclaration(node)) {
      const { byDefault } = this.#exported(node);
      const made = this.#class(node);
      out.push(made);
      if (byDefault) out.push({ type: "default", ...range, value: { type: "name", ...range, name: made.name } });
    } else if (ts.isEnumDeclaration(node)) {
      out.push(this.#enum(node));
    } else if (ts.isImportDeclaration(node)) {
      this.#import(node, out);
    } else if (ts.isImportEqualsDeclaration(node)) {
      const { moduleReference: from } = node;
      if (ts.isExternalModuleReference(from) && ts.isStringLiteralLike(from.expression)) {
        out.push({ type: "import", ...range, from: from.expression.text, names: [], all: node.name.text });
      }
    } else if (ts.isExportDeclaration(node)) {
      this.#export(node, out);
    } else if (ts.isExportAssignment(node)) {
      out.push({ type: "default", ...range, value: this.#code(node.expression) });
    } else if (ts.isTryStatement(node)) {
      const clause = node.catchClause;
      const name = clause?.variableDeclaration?.name;
      out.push({
        type: "try",
        ...range,
        body: this.#body(node.tryBlock),
        handlers:
          clause === undefined
            ? []
            : [
                {
                  ...(name && ts.isIdentifier(name) && { name: name.text }),
                  types: [],
                  body: this.#body(clause.block),
                },
              ],
        last: this.#body(node.finallyBlock),
      });
    } else if (ts.isIfStatement(node)) {
      out.push({
        type: "block",
        ...range,
        kind: "branch",
        test: this.#code(node.expression),
        body: this.#body(node.thenStatement),
        ...(node.elseStatement && { otherwise: this.#body(node.elseStatement) }),
      });
    } else if (ts.isBlock(node)) {
      out.push({ type: "block", ...range, kind: "plain", body: this.#statements(node.statements) });
    } else if (ts.isForStatement(node)) {
      const body: CodeStatement[] = [];
      if (node.initializer !== undefined) {
        if (ts.isVariableDeclarationList(node.initializer)) this.#variables(node.initializer, undefined, out);
        else out.push({ type: "expression", ...range, value: this.#code(node.initializer) });
      }
      body.push(...this.#body(node.statement));
      if (node.incrementor) body.push({ type: "expression", ...range, value: this.#code(node.incrementor) });
      out.push(this.#loop(node, node.condition, body, node.condition === undefined));
    } else if (ts.isForOfStatement(node) || ts.isForInStatement(node)) {
      const list = node.initializer;
      const declared = ts.isVariableDeclarationList(list) ? list.declarations[0]?.name : undefined;
      const body: CodeStatement[] = [];
      if (declared !== undefined && !ts.isIdentifier(declared)) {
        this.#pattern(declared, { type: "name", ...range, name: "#each" }, undefined, body);
      }
      body.push(...this.#body(node.statement));
      const each = declared === undefined || !ts.isIdentifier(declared) ? "#each" : declared.text;
      // `in` gives the keys
      const test: Code = ts.isForOfStatement(node)
        ? this.#code(node.expression)
        : { type: "opaque", ...range, parts: [this.#code(node.expression)] };
      out.push({ type: "block", ...range, kind: "loop", each, test, body });
    } else if (ts.isWhileStatement(node) || ts.isDoStatement(node)) {
      out.push(this.#loop(node, node.expression, this.#body(node.statement), false));
    } else if (ts.isSwitchStatement(node)) {
      const body = node.caseBlock.clauses.flatMap((c) => this.#statements(c.statements));
      out.push({ type: "block", ...range, kind: "branch", test: this.#code(node.expression), body });
    } else if (ts.isLabeledStatement(node)) {
      this.#statement(node.statement, out);
    } else if (ts.isModuleDeclaration(node)) {
      const body = node.body !== undefined && ts.isModuleBlock(node.body) ? node.body.statements : [];
      const members = this.#statements(body).flatMap((s): CodeMember[] =>
        s.type === "variable"
          ? [{ ...s, type: "field", static: true }]
          : s.type === "function"
            ? [{ ...s, type: "method", static: true }]
            : s.type === "class"
              ? [s]
              : [{ type: "static", start: s.start, end: s.end, body: [s] }],
      );
      const { exported } = this.#exported(node);
      out.push({
        type: "class",
        kind: "class",
        ...range,
        name: node.name.text,
        params: [],
        members,
        annotations: [],
        ...(exported && { exported }),
      });
    }
  }

  #loop(node: TS.Node, test: TS.Expression | undefined, body: CodeStatement[], endless: boolean): CodeStatement {
    const code = test === undefined ? undefined : this.#code(test);
    const always = endless || (code?.type === "boolean" && code.value) || (code?.type === "number" && code.value !== 0);
    return {
      type: "block",
      ...this.#range(node),
      kind: always ? "endless" : "loop",
      ...(code && { test: code }),
      body,
    };
  }

  #variables(list: TS.VariableDeclarationList, exported: true | undefined, out: CodeStatement[]): void {
    const ts = this.#ts;
    for (const d of list.declarations) {
      const value = d.initializer === undefined ? undefined : this.#code(d.initializer);
      const range = this.#range(d);
      if (ts.isIdentifier(d.name)) {
        const valueType = d.type === undefined ? undefined : this.#type(d.type);
        out.push({
          type: "variable",
          ...range,
          name: d.name.text,
          ...(value && { value }),
          ...(exported && { exported }),
          ...(valueType && { valueType }),
        });
        continue;
      }
      if (value !== undefined) this.#pattern(d.name, value, exported, out);
    }
  }

  /** `const { a, b: c } = value`, `const [a, b] = value`. */
  #pattern(pattern: TS.BindingPattern, value: Code, exported: true | undefined, out: CodeStatement[]): void {
    const ts = this.#ts;
    const isObject = ts.isObjectBindingPattern(pattern);
    pattern.elements.forEach((e, index) => {
      if (ts.isOmittedExpression(e)) return;
      const at = this.#range(e);
      const plain = e.propertyName ?? (ts.isIdentifier(e.name) ? e.name : undefined);
      const key = plain !== undefined && ts.isIdentifier(plain) ? plain.text : "";
      const part: Code =
        e.dotDotDotToken !== undefined || e.initializer !== undefined || (isObject && key === "")
          ? { type: "opaque", ...at, parts: [] }
          : isObject
            ? { type: "member", ...at, object: value, name: key }
            : { type: "index", ...at, object: value, index: { type: "number", ...at, value: index } };
      if (ts.isIdentifier(e.name)) {
        out.push({ type: "variable", ...at, name: e.name.text, value: part, ...(exported && { exported }) });
      } else if (this.#depth < MAX_CODE_DEPTH) {
        this.#depth++;
        this.#pattern(e.name, part, exported, out);
        this.#depth--;
      }
    });
  }

  #type(node: TS.TypeNode): string | undefined {
    const ts = this.#ts;
    if (ts.isTypeReferenceNode(node)) return node.typeName.getText(this.#source);
    return undefined;
  }

  #import(node: TS.ImportDeclaration, out: CodeStatement[]): void {
    const ts = this.#ts;
    if (!ts.isStringLiteralLike(node.moduleSpecifier)) return;
    const clause = node.importClause;
    const names: { name: string; as: string }[] = [];
    let all: string | undefined;
    if (clause?.name !== undefined) names.push({ name: "default", as: clause.name.text });
    const bindings = clause?.namedBindings;
    if (bindings !== undefined) {
      if (ts.isNamespaceImport(bindings)) all = bindings.name.text;
      else for (const e of bindings.elements) names.push({ name: (e.propertyName ?? e.name).text, as: e.name.text });
    }
    const typeOnly =
      clause?.isTypeOnly === true ||
      (clause?.name === undefined &&
        bindings !== undefined &&
        ts.isNamedImports(bindings) &&
        bindings.elements.length > 0 &&
        bindings.elements.every((e) => e.isTypeOnly));
    out.push({
      type: "import",
      ...this.#range(node),
      from: node.moduleSpecifier.text,
      names,
      ...(all !== undefined && { all }),
      ...(typeOnly && { typeOnly }),
    });
  }

  #export(node: TS.ExportDeclaration, out: CodeStatement[]): void {
    const ts = this.#ts;
    const from =
      node.moduleSpecifier !== undefined && ts.isStringLiteralLike(node.moduleSpecifier)
        ? node.moduleSpecifier.text
        : undefined;
    const clause = node.exportClause;
    const names: { name: string; as: string }[] = [];
    let all: true | string | undefined;
    if (clause === undefined) all = true;
    else if (ts.isNamespaceExport(clause)) all = clause.name.text;
    else for (const e of clause.elements) names.push({ name: (e.propertyName ?? e.name).text, as: e.name.text });
    out.push({
      type: "export",
      ...this.#range(node),
      names,
      ...(from !== undefined && { from }),
      ...(all !== undefined && { all }),
    });
  }

  #params(nodes: readonly TS.ParameterDeclaration[]): CodeParameter[] {
    const ts = this.#ts;
    return nodes.map((p, i) => {
      const type = p.type === undefined ? undefined : this.#type(p.type);
      return {
        ...this.#range(p),
        name: ts.isIdentifier(p.name) ? p.name.text : `#${i}`,
        ...(p.dotDotDotToken && { rest: true as const }),
        ...(p.initializer && { initial: this.#code(p.initializer) }),
        ...(type && { type }),
      };
    });
  }

  #class(node: TS.ClassLikeDeclaration): CodeClass {
    const ts = this.#ts;
    const members: CodeMember[] = [];
    const isStatic = (m: TS.ClassElement): boolean =>
      ts.canHaveModifiers(m) && (ts.getModifiers(m) ?? []).some((x) => x.kind === ts.SyntaxKind.StaticKeyword);
    for (const m of node.members) {
      const range = this.#range(m);
      const name = m.name === undefined ? undefined : this.#propertyName(m.name);
      if (ts.isPropertyDeclaration(m) && typeof name === "string") {
        members.push({
          type: "field",
          ...range,
          name,
          static: isStatic(m),
          ...(m.initializer && { value: this.#code(m.initializer) }),
          ...(m.type && { valueType: this.#type(m.type) ?? "" }),
        });
      } else if (ts.isConstructorDeclaration(m)) {
        const body = this.#body(m.body);
        // `constructor(readonly name: string)` declares and assigns a field
        const fields = m.parameters.flatMap((p): CodeStatement[] => {
          if (!ts.isIdentifier(p.name) || (ts.getModifiers(p) ?? []).length === 0) return [];
          const at = this.#range(p);
          const target: Code = { type: "member", ...at, object: { type: "this", ...at }, name: p.name.text };
          const value: Code = { type: "name", ...at, name: p.name.text };
          return [{ type: "expression", ...at, value: { type: "assign", ...at, op: "=", target, value } }];
        });
        members.push({
          type: "constructor",
          ...range,
          params: this.#params(m.parameters),
          body: [...fields, ...body],
        });
      } else if ((ts.isMethodDeclaration(m) || ts.isGetAccessor(m)) && typeof name === "string") {
        members.push({
          type: "method",
          ...range,
          name,
          static: isStatic(m),
          params: this.#params(m.parameters),
          body: this.#body(m.body),
        });
      } else if (ts.isClassStaticBlockDeclaration(m)) {
        members.push({ type: "static", ...range, body: this.#body(m.body) });
      }
    }
    const { exported } = ts.isClassDeclaration(node) ? this.#exported(node) : {};
    const base = node.heritageClauses?.find((h) => h.token === ts.SyntaxKind.ExtendsKeyword)?.types[0]?.expression;
    return {
      type: "class",
      kind: "class",
      ...this.#range(node),
      name: node.name?.text ?? "default",
      params: [],
      members,
      annotations: [],
      ...(base && ts.isIdentifier(base) && { base: base.text }),
      ...(exported && { exported }),
    };
  }

  #enum(node: TS.EnumDeclaration): CodeClass {
    const members = node.members.flatMap((m): CodeMember[] => {
      const name = this.#propertyName(m.name);
      if (typeof name !== "string") return [];
      return [
        {
          type: "constant",
          ...this.#range(m),
          name,
          args: [],
          ...(m.initializer && { value: this.#code(m.initializer) }),
        },
      ];
    });
    const { exported } = this.#exported(node);
    return {
      type: "class",
      kind: "enum",
      ...this.#range(node),
      name: node.name.text,
      params: [],
      members,
      annotations: [],
      ...(exported && { exported }),
    };
  }

  #propertyName(node: TS.PropertyName): string | Code {
    const ts = this.#ts;
    if (ts.isComputedPropertyName(node)) return this.#code(node.expression);
    return ts.isNumericLiteral(node) ? String(Number(node.text)) : node.text;
  }

  #code(node: TS.Expression): Code {
    return this.#deeper(
      node,
      () => this.#expression(node),
      () => ({ type: "opaque", ...this.#range(node), parts: [] }) as Code,
    );
  }

  /** What only says something about types, and parentheses, is not there. */
  #bare(node: TS.Expression): TS.Expression {
    const ts = this.#ts;
    let inner = node;
    while (
      ts.isParenthesizedExpression(inner) ||
      ts.isAsExpression(inner) ||
      ts.isSatisfiesExpression(inner) ||
      ts.isTypeAssertionExpression(inner) ||
      ts.isNonNullExpression(inner) ||
      ts.isExpressionWithTypeArguments(inner)
    ) {
      inner = inner.expression;
    }
    return inner;
  }

  #expression(outer: TS.Expression): Code {
    const ts = this.#ts;
    const node = this.#bare(outer);
    const range = this.#range(node);
    const opaque = (parts: readonly TS.Node[]): Code => ({
      type: "opaque",
      ...range,
      parts: parts.filter((p): p is TS.Expression => ts.isExpression(p)).map((p) => this.#code(p)),
    });
    if (ts.isStringLiteralLike(node)) return { type: "string", ...range, value: node.text };
    if (ts.isNumericLiteral(node)) return { type: "number", ...range, value: Number(node.text) };
    if (ts.isIdentifier(node)) {
      if (node.text === "undefined") return { type: "null", ...range };
      return { type: "name", ...range, name: node.text };
    }
    switch (node.kind) {
      case ts.SyntaxKind.TrueKeyword:
        return { type: "boolean", ...range, value: true };
      case ts.SyntaxKind.FalseKeyword:
        return { type: "boolean", ...range, value: false };
      case ts.SyntaxKind.NullKeyword:
        return { type: "null", ...range };
      case ts.SyntaxKind.ThisKeyword:
        return { type: "this", ...range };
    }
    if (ts.isTemplateExpression(node)) return { type: "template", ...range, parts: this.#template(node) };
    if (ts.isTaggedTemplateExpression(node)) {
      const { template } = node;
      const parts = ts.isTemplateExpression(template)
        ? this.#template(template, true)
        : [template.rawText ?? template.text];
      return { type: "template", ...range, parts, tag: this.#code(node.tag) };
    }
    if (ts.isPropertyAccessExpression(node)) {
      return { type: "member", ...range, object: this.#code(node.expression), name: node.name.text };
    }
    if (ts.isElementAccessExpression(node)) {
      return {
        type: "index",
        ...range,
        object: this.#code(node.expression),
        index: this.#code(node.argumentExpression),
      };
    }
    if (ts.isCallExpression(node)) {
      if (node.expression.kind === ts.SyntaxKind.ImportKeyword) {
        const callee: Code = { type: "name", ...this.#range(node.expression), name: "import" };
        return { type: "call", ...range, callee, args: this.#list(node.arguments) };
      }
      return this.#chain(node);
    }
    if (ts.isNewExpression(node)) {
      return {
        type: "new",
        ...range,
        callee: this.#code(node.expression),
        args: this.#list(node.arguments ?? []),
      };
    }
    if (ts.isObjectLiteralExpression(node)) {
      return { type: "object", ...range, properties: node.properties.flatMap((p) => this.#property(p)) };
    }
    if (ts.isArrayLiteralExpression(node)) return { type: "list", ...range, items: this.#list(node.elements) };
    if (ts.isSpreadElement(node)) return { type: "spread", ...range, value: this.#code(node.expression) };
    if (ts.isConditionalExpression(node)) {
      return {
        type: "choice",
        ...range,
        test: this.#code(node.condition),
        yes: this.#code(node.whenTrue),
        no: this.#code(node.whenFalse),
      };
    }
    if (ts.isBinaryExpression(node)) return this.#binary(node);
    if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
      const op = ts.tokenToString(node.operator) ?? "?";
      const operand = this.#code(node.operand);
      if (op !== "++" && op !== "--") return { type: "unary", ...range, op, operand };
      return { type: "assign", ...range, op, target: operand, value: operand };
    }
    if (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) {
      const body: CodeStatement[] = ts.isBlock(node.body)
        ? this.#statements(node.body.statements)
        : [{ type: "return", ...this.#range(node.body), value: this.#code(node.body) }];
      return { type: "function", ...range, params: this.#params(node.parameters), body };
    }
    if (ts.isAwaitExpression(node)) return { type: "await", ...range, value: this.#code(node.expression) };
    if (ts.isClassExpression(node)) {
      // its members are still walked
      const members = this.#class(node).members;
      return { type: "new", ...range, callee: { type: "opaque", ...range, parts: [] }, args: [], members };
    }
    if (ts.isTypeOfExpression(node) || ts.isVoidExpression(node) || ts.isDeleteExpression(node)) {
      return opaque([node.expression]);
    }
    if (ts.isYieldExpression(node)) return opaque(node.expression ? [node.expression] : []);
    return opaque([]);
  }

  /** A chain of calls leans to the left, as deep as it is long: it is put together from its head. */
  #chain(node: TS.CallExpression): Code {
    const ts = this.#ts;
    const links: TS.CallExpression[] = [];
    let head: TS.Expression = node;
    while (ts.isCallExpression(head) && ts.isPropertyAccessExpression(head.expression)) {
      if (links.length > MAX_CODE_CHAIN) return { type: "opaque", ...this.#range(node), parts: [] };
      links.push(head);
      head = this.#bare(head.expression.expression);
    }
    if (links.length === 0) {
      return {
        type: "call",
        ...this.#range(node),
        callee: this.#code(node.expression),
        args: this.#list(node.arguments),
      };
    }
    let object = this.#code(head);
    for (const link of links.reverse()) {
      const { name } = link.expression as TS.PropertyAccessExpression;
      const start = this.#range(link).start;
      const callee: Code = { type: "member", start, end: name.end, object, name: name.text };
      object = { type: "call", start, end: link.end, callee, args: this.#list(link.arguments) };
    }
    return object;
  }

  #list(nodes: readonly TS.Expression[]): Code[] {
    return nodes.map((n) => this.#code(n));
  }

  #template(node: TS.TemplateExpression, raw = false): (string | Code)[] {
    const text = (n: TS.TemplateLiteralLikeNode): string => (raw ? (n.rawText ?? n.text) : n.text);
    const parts: (string | Code)[] = [text(node.head)];
    for (const span of node.templateSpans) parts.push(this.#code(span.expression), text(span.literal));
    return parts;
  }

  #property(p: TS.ObjectLiteralElementLike): CodeProperty[] {
    const ts = this.#ts;
    const range = this.#range(p);
    if (ts.isSpreadAssignment(p)) {
      return [{ ...range, key: undefined, keyEnd: range.start, value: this.#code(p.expression) }];
    }
    const key = this.#propertyName(p.name);
    const keyEnd = p.name.end;
    if (ts.isShorthandPropertyAssignment(p)) {
      return [{ ...range, key, keyEnd, value: { type: "name", ...range, name: p.name.text } }];
    }
    if (ts.isPropertyAssignment(p)) return [{ ...range, key, keyEnd, value: this.#code(p.initializer) }];
    // a method; a getter is what it returns, which is not known here
    const params = this.#params(p.parameters);
    const value: Code = ts.isMethodDeclaration(p)
      ? { type: "function", ...range, params, body: this.#body(p.body) }
      : { type: "opaque", ...range, parts: [{ type: "function", ...range, params, body: this.#body(p.body) }] };
    return [{ ...range, key, keyEnd, value }];
  }

  /** Chains lean to the left, as deep as they are long: they are taken apart without recursion. */
  #binary(node: TS.BinaryExpression): Code {
    const ts = this.#ts;
    const op = node.operatorToken.kind;
    const range = this.#range(node);
    if (op >= ts.SyntaxKind.FirstAssignment && op <= ts.SyntaxKind.LastAssignment) {
      return {
        type: "assign",
        ...range,
        op: ts.tokenToString(op) ?? "=",
        target: this.#code(node.left),
        value: this.#code(node.right),
      };
    }
    const operands: TS.Expression[] = [node.right];
    let left: TS.Expression = node.left;
    // parentheses on the left change nothing: (a + b) + c
    for (let bare = this.#bare(left); ts.isBinaryExpression(bare) && bare.operatorToken.kind === op; ) {
      operands.push(bare.right);
      left = bare.left;
      bare = this.#bare(left);
    }
    operands.push(left);
    operands.reverse();
    return { type: "binary", ...range, op: ts.tokenToString(op) ?? "?", operands: this.#list(operands) };
  }
}
