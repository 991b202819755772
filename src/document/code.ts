/**
 * Program code of two languages (Java, TypeScript with JavaScript) as one small tree: what a reader of constants, calls and
 * catalogs needs, with places, and plain enough to be kept as JSON beside the bundle. Types, annotations' arguments and
 * whatever computes more than a catalog does are `opaque`: their parts are still there to be walked.
 */

/** A change of the shape below makes kept trees useless. */
export const CODE_VERSION = 2;

/** UTF-16 offsets in the file. */
export interface CodeRange {
  readonly start: number;
  readonly end: number;
}

export interface CodeParameter extends CodeRange {
  readonly name: string;
  readonly rest?: true;
  readonly initial?: Code;
  /** The type as it is written, without its arguments. */
  readonly type?: string;
}

export interface CodeProperty extends CodeRange {
  /** undefined: `...value`. */
  readonly key: string | Code | undefined;
  readonly keyEnd: number;
  readonly value: Code;
}

export type Code = CodeRange &
  (
    | { readonly type: "string"; readonly value: string }
    | { readonly type: "number"; readonly value: number }
    | { readonly type: "boolean"; readonly value: boolean }
    | { readonly type: "null" }
    /** A template: texts and holes in turn. */
    | { readonly type: "template"; readonly parts: readonly (string | Code)[]; readonly tag?: Code }
    | { readonly type: "name"; readonly name: string }
    | { readonly type: "this" }
    | { readonly type: "member"; readonly object: Code; readonly name: string }
    | { readonly type: "index"; readonly object: Code; readonly index: Code }
    | { readonly type: "call"; readonly callee: Code; readonly args: readonly Code[] }
    | {
        readonly type: "new";
        readonly callee: Code;
        readonly args: readonly Code[];
        readonly members?: readonly CodeMember[];
      }
    | { readonly type: "object"; readonly properties: readonly CodeProperty[] }
    | { readonly type: "list"; readonly items: readonly Code[] }
    | { readonly type: "spread"; readonly value: Code }
    /** A chain of one operator: `a + b + c` is one node with three operands. */
    | { readonly type: "binary"; readonly op: string; readonly operands: readonly Code[] }
    | { readonly type: "unary"; readonly op: string; readonly operand: Code }
    | { readonly type: "choice"; readonly test: Code; readonly yes: Code; readonly no: Code }
    | { readonly type: "function"; readonly params: readonly CodeParameter[]; readonly body: readonly CodeStatement[] }
    | { readonly type: "assign"; readonly op: string; readonly target: Code; readonly value: Code }
    /** `Long.class`, a bare type where a value is expected. */
    | { readonly type: "class"; readonly name: string }
    | { readonly type: "await"; readonly value: Code }
    | { readonly type: "opaque"; readonly parts: readonly Code[] }
  );

export type CodeNode<T extends Code["type"]> = Extract<Code, { readonly type: T }>;

export type CodeStatement = CodeRange &
  (
    | {
        readonly type: "variable";
        readonly name: string;
        readonly value?: Code;
        readonly exported?: true;
        readonly valueType?: string;
      }
    | {
        readonly type: "function";
        readonly name: string;
        readonly params: readonly CodeParameter[];
        readonly body: readonly CodeStatement[];
        readonly exported?: true;
      }
    | CodeClass
    | { readonly type: "expression"; readonly value: Code }
    | { readonly type: "return"; readonly value?: Code }
    | { readonly type: "throw"; readonly value?: Code }
    /**
     * Statements that may not run, or run more than once. `test` is the condition, or what is run through: `each` is the name of
     * one of its items.
     */
    | {
        readonly type: "block";
        readonly each?: string;
        readonly kind: "plain" | "branch" | "loop" | "endless";
        readonly test?: Code;
        readonly body: readonly CodeStatement[];
        readonly otherwise?: readonly CodeStatement[];
      }
    | {
        readonly type: "try";
        readonly body: readonly CodeStatement[];
        readonly handlers: readonly {
          readonly name?: string;
          readonly types: readonly string[];
          readonly body: readonly CodeStatement[];
        }[];
        readonly last: readonly CodeStatement[];
      }
    | {
        readonly type: "import";
        /** A module's specifier, or a Java package or class. */
        readonly from: string;
        readonly names: readonly { readonly name: string; readonly as: string }[];
        /** Binds everything of the module to one name; Java: every name of the package. */
        readonly all?: string;
        readonly typeOnly?: true;
        /** Java: members of a class. */
        readonly members?: true;
      }
    | {
        readonly type: "export";
        readonly from?: string;
        readonly names: readonly { readonly name: string; readonly as: string }[];
        /** Everything of `from`; with a name, under that name. */
        readonly all?: true | string;
      }
    | { readonly type: "default"; readonly value: Code }
  );

export interface CodeClass extends CodeRange {
  readonly type: "class";
  readonly kind: "class" | "record" | "enum" | "interface";
  readonly name: string;
  /** Components of a record. */
  readonly params: readonly CodeParameter[];
  readonly members: readonly CodeMember[];
  readonly base?: string;
  readonly annotations: readonly string[];
  readonly exported?: true;
}

export type CodeMember = CodeRange &
  (
    | {
        readonly type: "field";
        readonly name: string;
        readonly static: boolean;
        readonly value?: Code;
        readonly valueType?: string;
      }
    | {
        readonly type: "method";
        readonly name: string;
        readonly static: boolean;
        readonly params: readonly CodeParameter[];
        readonly body: readonly CodeStatement[];
      }
    | {
        readonly type: "constructor";
        readonly params: readonly CodeParameter[];
        readonly body: readonly CodeStatement[];
      }
    | { readonly type: "constant"; readonly name: string; readonly args: readonly Code[]; readonly value?: Code }
    | { readonly type: "static"; readonly body: readonly CodeStatement[] }
    | CodeClass
  );

export interface CodeFile {
  readonly version: number;
  readonly language: "java" | "typescript";
  /** Java: the package, empty for none. */
  readonly package: string;
  readonly body: readonly CodeStatement[];
  /** Parts that could not be read, and why; what stands there is unknown. */
  readonly problems: readonly (CodeRange & { readonly message: string })[];
}

/** Longer files are not read (UTF-16 code units). */
export const MAX_CODE_LENGTH = 2 ** 21;
/** Deeper expressions and blocks are opaque. */
export const MAX_CODE_DEPTH = 150;

/** Longer chains of calls (`a.b().c()…`) are opaque. */
export const MAX_CODE_CHAIN = 1000;

/** A file of which nothing is known, and why. */
export function unreadCode(language: CodeFile["language"], text: string, message: string): CodeFile {
  const problems = [{ start: 0, end: Math.min(1, text.length), message }];
  return { version: CODE_VERSION, language, package: "", body: [], problems };
}

/**
 * The deepest nesting of brackets in a text, counted without regard to strings: never less than the true one. A parser that
 * recurses is not asked to read what would overflow its stack.
 */
export function bracketDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 40 || c === 91 || c === 123) {
      if (++depth > deepest) deepest = depth;
    } else if ((c === 41 || c === 93 || c === 125) && depth > 0) depth--;
  }
  return deepest;
}
