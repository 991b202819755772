/**
 * Program sets (`program-set.json`): typed entries with the place of every part, and what is wrong with them. The JSON tree
 * is parsed by the caller.
 */
import validate from "../../../schemas/program-set.schema.json?validate";
import type { JsonNode } from "../../document/json.js";
import type { Span, TextView } from "../../text/source.js";
import { readKeyPattern } from "./keypattern.js";
import type { Access } from "./keyspecs.js";

export type { JsonNode } from "../../document/json.js";

/** A value of the manifest and where it stands. */
export interface Located<T> {
  readonly value: T;
  readonly at: Span;
}

export interface ManifestKey {
  readonly name: Located<string>;
  readonly pattern: Located<string>;
  readonly access: Located<Exclude<Access, "">>;
  readonly slotTag: Located<string | null>;
  readonly anchor: boolean;
  readonly at: Span;
}

export interface ManifestArgument {
  readonly name: Located<string>;
  readonly type: Located<"integer" | "number" | "string" | "boolean">;
  readonly unit: Located<"none" | "count" | "milliseconds" | "seconds" | "bytes" | "token">;
  readonly at: Span;
}

export interface ManifestTtl {
  /** Name of the key. */
  readonly key: Located<string>;
  readonly durable: boolean;
  readonly argv: Located<string> | undefined;
  readonly unit: Located<"milliseconds" | "seconds"> | undefined;
  readonly max: Located<number> | undefined;
  readonly fixed: Located<number> | undefined;
  readonly enforcedBy: "script" | "caller";
  readonly at: Span;
}

/**
 * One program. A part that is missing or of the wrong type is undefined (or an empty list); `problems` of the set says so.
 */
export interface ManifestProgram {
  readonly id: Located<string> | undefined;
  readonly version: Located<string> | undefined;
  readonly file: Located<string> | undefined;
  readonly sha1: Located<string> | undefined;
  readonly sha256: Located<string> | undefined;
  readonly keys: readonly ManifestKey[];
  /** Where the list of keys stands; undefined: the entry has none. */
  readonly keysAt: Span | undefined;
  readonly argv: readonly ManifestArgument[];
  readonly result:
    | {
        readonly type: Located<"integer" | "string" | "boolean" | "array" | "map" | "nil">;
        readonly values: readonly Located<string | number | boolean | null>[] | undefined;
        readonly items: readonly Located<string>[] | undefined;
        readonly at: Span;
      }
    | undefined;
  readonly slotRule: Located<"single-key" | "same-hash-tag" | "none"> | undefined;
  readonly ttl: readonly ManifestTtl[];
  readonly bounds:
    | { readonly maxItems: Located<number> | undefined; readonly maxBytes: Located<number> | undefined }
    | undefined;
  readonly minimumRedisVersion: Located<string> | undefined;
  readonly retry: Located<"safe" | "unsafe" | "read-only"> | undefined;
  readonly certainty: Located<"definite" | "indeterminate-on-loss"> | undefined;
  readonly guarantee: Located<"none" | "efficiency" | "fenced"> | undefined;
  readonly class: Located<string> | undefined;
  readonly renewal:
    | { readonly maxTotalMs: Located<number> | undefined; readonly maxCount: Located<number> | undefined }
    | undefined;
  readonly rotation: Located<"fixed" | "dual-read-delete" | "cold-cutover"> | undefined;
  readonly commands: readonly Located<string>[];
  /** The whole entry. */
  readonly at: Span;
  /** The paths of all that is written in the entry: where `place` finds something. */
  readonly paths: Readonly<Record<string, true>>;
  /** Place of the value, or of the key, of a field by its path (`keys/0/pattern`); undefined when it is not there. */
  place(path: string, part?: "value" | "key"): Span | undefined;
}

export type ManifestProblemKind =
  | "syntax"
  | "unknown-field"
  | "missing-field"
  | "wrong-type"
  | "not-allowed"
  | "bad-format"
  | "out-of-range"
  | "duplicate"
  | "unknown-name"
  | "contradiction";

export interface ManifestProblem {
  readonly kind: ManifestProblemKind;
  readonly message: string;
  /** JSON Pointer of the value that is wrong (of the object, for a missing field). */
  readonly path: string;
  readonly at: Span;
}

export interface ProgramSet {
  readonly view: TextView;
  readonly name: Located<string> | undefined;
  readonly programs: readonly ManifestProgram[];
  readonly problems: readonly ManifestProblem[];
}

const MAX_DEPTH = 64;

/**
 * Reads one manifest. `root` is `parseTree` of the view's text (undefined when there is none), `errors` its syntax faults.
 * Never throws.
 */
export function readProgramSet(
  view: TextView,
  root: JsonNode | undefined,
  errors: readonly { readonly message: string; readonly offset: number; readonly length: number }[] = [],
  map: FieldMap = {},
): ProgramSet {
  const problems: ManifestProblem[] = errors.map((e) => ({
    kind: "syntax",
    message: e.message,
    path: "",
    at: view.span(e.offset, e.offset + Math.max(1, e.length)),
  }));
  const tree = root === undefined ? undefined : new Tree(view, root, map);
  if (tree === undefined || tree.tooDeep) {
    if (tree?.tooDeep) problems.push({ kind: "syntax", message: "nested too deeply", path: "", at: view.span(0, 1) });
    else if (errors.length === 0) {
      problems.push({ kind: "syntax", message: "the file is empty", path: "", at: view.span(0, 0) });
    }
    return { view, name: undefined, programs: [], problems };
  }
  // A broken text has parts that only look missing: only what is there is judged.
  if (errors.length === 0) {
    problems.push(...tree.duplicates);
    validate(tree.value);
    for (const error of validate.errors ?? []) {
      const problem = fromSchema(tree, error);
      if (problem !== undefined) problems.push(problem);
    }
  }
  const programs: ManifestProgram[] = [];
  const list = tree.node("/programs");
  const count = list?.type === "array" ? (list.children?.length ?? 0) : 0;
  for (let i = 0; i < count; i++) programs.push(new Entry(tree, `/programs/${i}`));
  if (errors.length === 0) {
    for (let i = 0; i < programs.length; i++) problems.push(...crossChecks(tree, programs[i]!, `/programs/${i}`));
  }
  problems.sort((a, b) => a.at.start - b.at.start);
  return { view, name: tree.located("/name", isString), programs, problems };
}

/**
 * Reads one program of a set again, from a view of its text alone; undefined where that needs the whole set. The other programs
 * have no problem. `before`: what it was.
 */
export function readProgramAgain(
  view: TextView,
  root: JsonNode,
  index: number,
  map: FieldMap,
  before: ManifestProgram,
): { readonly program: ManifestProgram; readonly problems: readonly ManifestProblem[] } | undefined {
  const path = `/programs/${index}`;
  const tree = new Tree(view, root, map, path);
  if (tree.tooDeep) return undefined;
  const problems: ManifestProblem[] = [...tree.duplicates];
  validate({ version: 1, name: "-", programs: [tree.value] });
  for (const error of validate.errors ?? []) {
    const { keyword, params, message } = error;
    const instancePath = error.instancePath.replace(/^\/programs\/0/, path);
    const problem = fromSchema(
      tree,
      message === undefined ? { instancePath, keyword, params } : { instancePath, keyword, params, message },
    );
    if (problem !== undefined) problems.push(problem);
  }
  const program = new Entry(tree, path, before);
  problems.push(...crossChecks(tree, program, path));
  problems.sort((a, b) => a.at.start - b.at.start);
  return { program, problems };
}

/** Our name of a field of a program (`retry`, `keys.access`) to the name that a team gave it. */
export type FieldMap = Readonly<Record<string, string>>;

/** Whose paths are asked for. */
interface PathsAsked {
  readonly tree: Tree;
  readonly path: string;
}

/** The tree by JSON Pointer, with fields under our names. */
class Tree {
  readonly view: TextView;
  readonly value: unknown;
  readonly duplicates: ManifestProblem[] = [];
  tooDeep = false;
  readonly #nodes = new Map<string, JsonNode>();
  readonly #keys = new Map<string, JsonNode>();
  readonly #paths = new Map<string, Readonly<Record<string, true>>>();
  readonly #lists = new Map<string, readonly string[]>();
  /** Our names, by the path of an object in a program (`` for the program) and the name that stands there. */
  readonly #ours = new Map<string, string>();

  /** `path`: where the root stands, if it is a part of the manifest. */
  constructor(view: TextView, root: JsonNode, map: FieldMap, path = "") {
    this.view = view;
    for (const [ours, theirs] of Object.entries(map)) {
      const parts = ours.split(".");
      const name = parts.pop()!;
      this.#ours.set(`${parts.join(".")}:${theirs.slice(theirs.lastIndexOf(".") + 1)}`, name);
    }
    this.value = this.#read(root, path, path.split("/").length - 1);
  }

  /** How we call the field `name` of the object at `path`. */
  #named(name: string, path: string): string {
    if (this.#ours.size === 0) return name;
    const inner = /^\/programs\/\d+(?<rest>.*)$/.exec(path)?.groups?.["rest"];
    const holder = inner
      ?.replace(/\/\d+(?=\/|$)/g, "")
      .slice(1)
      .replaceAll("/", ".");
    return (holder === undefined ? undefined : this.#ours.get(`${holder}:${name}`)) ?? name;
  }

  #read(node: JsonNode, path: string, depth: number): unknown {
    this.#nodes.set(path, node);
    if (depth > MAX_DEPTH) {
      this.tooDeep = true;
      return undefined;
    }
    if (node.type === "array") return (node.children ?? []).map((c, i) => this.#read(c, `${path}/${i}`, depth + 1));
    if (node.type !== "object") return node.value;
    const out: Record<string, unknown> = {};
    const seen = new Set<string>();
    for (const property of node.children ?? []) {
      const [key, value] = property.children ?? [];
      if (key === undefined) continue;
      const name = this.#named(String(key.value), path);
      const inner = `${path}/${escapePointer(name)}`;
      if (seen.has(name)) {
        this.duplicates.push({ kind: "duplicate", message: `"${name}" stands twice`, path: inner, at: this.span(key) });
      }
      seen.add(name);
      this.#keys.set(inner, key);
      if (value === undefined) continue;
      const read = this.#read(value, inner, depth + 1);
      if (name !== "__proto__") out[name] = read;
      else Object.defineProperty(out, name, { value: read, enumerable: true, configurable: true, writable: true });
    }
    return out;
  }

  span(node: JsonNode): Span {
    return this.view.span(node.offset, node.offset + node.length);
  }

  node(path: string): JsonNode | undefined {
    return this.#nodes.get(path);
  }

  keyAt(path: string): Span | undefined {
    const key = this.#keys.get(path);
    return key === undefined ? undefined : this.span(key);
  }

  valueAt(path: string): Span | undefined {
    const node = this.#nodes.get(path);
    return node === undefined ? undefined : this.span(node);
  }

  /** Where a thing that is missing in the object at `path` should stand: its key, or the brace that opens it. */
  holder(path: string): Span {
    const key = this.keyAt(path);
    if (key !== undefined) return key;
    const { offset } = this.#nodes.get(path)!;
    return this.view.span(offset, offset + 1);
  }

  located<T>(path: string, is: (value: unknown) => value is T): Located<T> | undefined {
    const node = this.#nodes.get(path);
    if (node === undefined || !is(node.value)) return undefined;
    return { value: node.value, at: this.span(node) };
  }

  /** The paths below a path; where the tree holds the same as another one below `like`, the same object as of that. */
  paths(path: string, like?: PathsAsked): Readonly<Record<string, true>> {
    let known = this.#paths.get(path);
    if (known === undefined) {
      if (like !== undefined && this.#holds(like.tree.#list(like.path))) known = like.tree.paths(like.path);
      else {
        const out = Object.create(null) as Record<string, true>;
        for (const own of this.#list(path)) out[own.slice(path.length + 1)] = true;
        known = out;
      }
      this.#paths.set(path, known);
    }
    return known;
  }

  /** Whether these are the paths of all nodes below the root, in their order. */
  #holds(list: readonly string[]): boolean {
    if (this.#nodes.size !== list.length + 1) return false;
    const [, ...own] = this.#nodes.keys();
    return own.every((path, i) => path === list[i]);
  }

  #list(path: string): readonly string[] {
    let list = this.#lists.get(path);
    if (list === undefined) {
      const found: string[] = [];
      const root = this.#nodes.get(path);
      if (root !== undefined) this.#below(root, path, (inner) => found.push(inner));
      this.#lists.set(path, (list = found));
    }
    return list;
  }

  #below(node: JsonNode, path: string, visit: (path: string) => void): void {
    const { type, children = [] } = node;
    if (type !== "array" && type !== "object") return;
    children.forEach((child, i) => {
      const value = type === "array" ? child : child.children?.[1];
      const name = type === "array" ? i : escapePointer(this.#named(String(child.children?.[0]?.value), path));
      if (value === undefined) return;
      const inner = `${path}/${name}`;
      visit(inner);
      this.#below(value, inner, visit);
    });
  }

  children(path: string): readonly string[] {
    const node = this.#nodes.get(path);
    if (node?.type === "array") return (node.children ?? []).map((_, i) => `${path}/${i}`);
    if (node?.type !== "object") return [];
    const names = new Set((node.children ?? []).map((p) => this.#named(String(p.children?.[0]?.value), path)));
    return [...names].map((name) => `${path}/${escapePointer(name)}`);
  }
}

function escapePointer(name: string): string {
  if (!name.includes("~") && !name.includes("/")) return name;
  return name.replace(/~/g, "~0").replace(/\//g, "~1");
}

function lastName(path: string): string {
  return path
    .slice(path.lastIndexOf("/") + 1)
    .replace(/~1/g, "/")
    .replace(/~0/g, "~");
}

const isString = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";
const isScalar = (value: unknown): value is string | number | boolean | null =>
  value === null || ["string", "number", "boolean"].includes(typeof value);

function fromSchema(
  tree: Tree,
  error: { instancePath: string; keyword: string; params: Readonly<Record<string, unknown>>; message?: string },
): ManifestProblem | undefined {
  const path = error.instancePath;
  const { params } = error;
  const name = lastName(path) || "the manifest";
  const at = tree.valueAt(path) ?? tree.holder("");
  switch (error.keyword) {
    case "additionalProperties": {
      const field = String(params["additionalProperty"]);
      const inner = `${path}/${escapePointer(field)}`;
      return { kind: "unknown-field", message: `unknown field "${field}"`, path: inner, at: tree.keyAt(inner) ?? at };
    }
    case "required": {
      const field = String(params["missingProperty"]);
      return { kind: "missing-field", message: `"${field}" is missing`, path, at: tree.holder(path) };
    }
    case "type":
      return { kind: "wrong-type", message: `"${name}" is not of type ${String(params["type"])}`, path, at };
    case "enum": {
      const allowed = (params["allowedValues"] as readonly unknown[]).map(String).join(", ");
      return { kind: "not-allowed", message: `"${name}" is none of ${allowed}`, path, at };
    }
    case "const":
      return { kind: "not-allowed", message: `"${name}" is not ${JSON.stringify(params["allowedValue"])}`, path, at };
    case "pattern":
      return { kind: "bad-format", message: FORMATS[name] ?? `"${name}" has the wrong form`, path, at };
    case "minLength":
    case "minimum":
    case "minProperties":
      return { kind: "out-of-range", message: `"${name}" ${error.message ?? "is too small"}`, path, at };
    case "uniqueItems": {
      const { i, j } = params as { i: number; j: number };
      const inner = `${path}/${Math.max(i, j)}`;
      return { kind: "duplicate", message: `"${name}" has an entry twice`, path: inner, at: tree.valueAt(inner) ?? at };
    }
    default:
      return undefined;
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  version: '"version" is no semantic version (major.minor.patch)',
  minimumRedisVersion: '"minimumRedisVersion" is no server version (7.2.0)',
  sha1: '"sha1" is not 40 hexadecimal digits',
  sha256: '"sha256" is not 64 hexadecimal digits',
  file: '"file" is no relative path of a .lua file',
};

/** Where an entry was read from: under a symbol, which those who watch and compare what was read pass by. */
const READ = Symbol("read");

class Entry implements ManifestProgram {
  readonly id: ManifestProgram["id"];
  readonly version: ManifestProgram["version"];
  readonly file: ManifestProgram["file"];
  readonly sha1: ManifestProgram["sha1"];
  readonly sha256: ManifestProgram["sha256"];
  readonly keys: ManifestProgram["keys"];
  readonly keysAt: Span | undefined;
  readonly argv: ManifestProgram["argv"];
  readonly result: ManifestProgram["result"];
  readonly slotRule: ManifestProgram["slotRule"];
  readonly ttl: ManifestProgram["ttl"];
  readonly bounds: ManifestProgram["bounds"];
  readonly minimumRedisVersion: ManifestProgram["minimumRedisVersion"];
  readonly retry: ManifestProgram["retry"];
  readonly certainty: ManifestProgram["certainty"];
  readonly guarantee: ManifestProgram["guarantee"];
  readonly class: ManifestProgram["class"];
  readonly renewal: ManifestProgram["renewal"];
  readonly rotation: ManifestProgram["rotation"];
  readonly commands: ManifestProgram["commands"];
  readonly at: Span;
  readonly [READ]: PathsAsked & { readonly like: PathsAsked | undefined };

  /** `like`: an entry that most likely has the same paths. */
  constructor(tree: Tree, path: string, like?: ManifestProgram) {
    const text = <T extends string>(name: string) =>
      tree.located(`${path}/${name}`, isString) as Located<T> | undefined;
    const number = (name: string) => tree.located(`${path}/${name}`, isNumber);
    const isObject = (name: string): boolean => tree.node(`${path}/${name}`)?.type === "object";
    const resultType = text<NonNullable<ManifestProgram["result"]>["type"]["value"]>("result/type");
    this[READ] = { tree, path, like: like instanceof Entry ? like[READ] : undefined };
    this.id = text("id");
    this.version = text("version");
    this.file = text("file");
    this.sha1 = text("sha1");
    this.sha256 = text("sha256");
    this.keys = tree.children(`${path}/keys`).flatMap((p) => readKey(tree, p) ?? []);
    this.keysAt = tree.valueAt(`${path}/keys`);
    this.argv = tree.children(`${path}/argv`).flatMap((p) => readArgument(tree, p) ?? []);
    this.result =
      resultType === undefined
        ? undefined
        : {
            type: resultType,
            values: readList(tree, `${path}/result/values`, isScalar),
            items: readList(tree, `${path}/result/items`, isString),
            at: tree.valueAt(`${path}/result`)!,
          };
    this.slotRule = text("slotRule");
    this.ttl = tree.children(`${path}/ttl`).flatMap((p) => readTtl(tree, p) ?? []);
    this.bounds = isObject("bounds")
      ? { maxItems: number("bounds/maxItems"), maxBytes: number("bounds/maxBytes") }
      : undefined;
    this.minimumRedisVersion = text("minimumRedisVersion");
    this.retry = text("retry");
    this.certainty = text("certainty");
    this.guarantee = text("guarantee");
    this.class = text("class");
    this.renewal = isObject("renewal")
      ? { maxTotalMs: number("renewal/maxTotalMs"), maxCount: number("renewal/maxCount") }
      : undefined;
    this.rotation = text("rotation");
    this.commands = readList(tree, `${path}/commands`, isString) ?? [];
    this.at = tree.valueAt(path)!;
  }

  get paths(): Readonly<Record<string, true>> {
    const { tree, path, like } = this[READ];
    return tree.paths(path, like);
  }

  /** Asks `paths` of `this`: whoever watches the entry is told which path is looked for. */
  place(field: string, part: "value" | "key" = "value"): Span | undefined {
    if (this.paths[field] === undefined) return undefined;
    const { tree, path } = this[READ];
    return part === "key" ? tree.keyAt(`${path}/${field}`) : tree.valueAt(`${path}/${field}`);
  }
}

function readList<T>(tree: Tree, path: string, is: (value: unknown) => value is T): readonly Located<T>[] | undefined {
  if (tree.node(path)?.type !== "array") return undefined;
  return tree.children(path).flatMap((p) => tree.located(p, is) ?? []);
}

function readKey(tree: Tree, path: string): ManifestKey | undefined {
  const name = tree.located(`${path}/name`, isString);
  const pattern = tree.located(`${path}/pattern`, isString);
  const access = tree.located(`${path}/access`, isString) as Located<Exclude<Access, "">> | undefined;
  const at = tree.valueAt(path)!;
  const missing: Located<string> = { value: "", at };
  return {
    name: name ?? missing,
    pattern: pattern ?? { value: "*", at },
    access: access ?? { value: "RW", at },
    slotTag: tree.located(`${path}/slotTag`, (v): v is string | null => v === null || isString(v)) ?? {
      value: null,
      at,
    },
    anchor: tree.node(`${path}/anchor`)?.value === true,
    at,
  };
}

function readArgument(tree: Tree, path: string): ManifestArgument {
  const at = tree.valueAt(path)!;
  const text = (name: string) => tree.located(`${path}/${name}`, isString);
  return {
    name: text("name") ?? { value: "", at },
    type: (text("type") as ManifestArgument["type"] | undefined) ?? { value: "string", at },
    unit: (text("unit") as ManifestArgument["unit"] | undefined) ?? { value: "none", at },
    at,
  };
}

function readTtl(tree: Tree, path: string): ManifestTtl | undefined {
  const at = tree.valueAt(path);
  const key = tree.keyAt(path);
  if (at === undefined || key === undefined) return undefined;
  return {
    key: { value: lastName(path), at: key },
    durable: tree.node(path)?.value === "durable",
    argv: tree.located(`${path}/argv`, isString),
    unit: tree.located(`${path}/unit`, isString) as ManifestTtl["unit"],
    max: tree.located(`${path}/max`, isNumber),
    fixed: tree.located(`${path}/fixed`, isNumber),
    enforcedBy: tree.node(`${path}/enforcedBy`)?.value === "caller" ? "caller" : "script",
    at,
  };
}

/** What the schema cannot say: names that refer to each other, patterns, tags. */
function crossChecks(tree: Tree, program: ManifestProgram, path: string): ManifestProblem[] {
  const out: ManifestProblem[] = [];
  const twice = (names: readonly Located<string>[], what: string, inner: string): void => {
    const seen = new Set<string>();
    names.forEach((name, i) => {
      if (name.value !== "" && seen.has(name.value)) {
        out.push({
          kind: "duplicate",
          message: `two ${what} are called "${name.value}"`,
          path: `${path}/${inner}/${i}/name`,
          at: name.at,
        });
      }
      seen.add(name.value);
    });
  };
  const keyNames = program.keys.map((k) => k.name);
  const argNames = program.argv.map((a) => a.name);
  twice(keyNames, "keys", "keys");
  twice(argNames, "arguments", "argv");
  program.keys.forEach((key, i) => {
    const inner = `${path}/keys/${i}`;
    if (tree.node(`${inner}/pattern`) === undefined) return;
    const { fault, slot } = readKeyPattern(key.pattern.value);
    if (fault !== undefined && fault !== "empty") {
      const message =
        fault === "empty-tag" ? "an empty hash tag does not fix the slot" : "a brace of the pattern has no partner";
      out.push({ kind: "bad-format", message, path: `${inner}/pattern`, at: key.pattern.at });
    }
    const tag = slot.kind === "tag" ? slot.name : "";
    if (fault === undefined && tree.node(`${inner}/slotTag`) !== undefined && (key.slotTag.value ?? "") !== tag) {
      const message = tag === "" ? "the pattern has no hash tag" : `the hash tag of the pattern is "${tag}"`;
      out.push({ kind: "contradiction", message, path: `${inner}/slotTag`, at: key.slotTag.at });
    }
  });
  const known = new Set(keyNames.map((k) => k.value));
  const args = new Set(argNames.map((a) => a.value));
  for (const ttl of program.ttl) {
    const inner = `${path}/ttl/${escapePointer(ttl.key.value)}`;
    if (!known.has(ttl.key.value)) {
      out.push({ kind: "unknown-name", message: `no key is called "${ttl.key.value}"`, path: inner, at: ttl.key.at });
    }
    if (ttl.argv !== undefined && !args.has(ttl.argv.value)) {
      out.push({
        kind: "unknown-name",
        message: `no argument is called "${ttl.argv.value}"`,
        path: `${inner}/argv`,
        at: ttl.argv.at,
      });
    }
    const object = tree.node(inner)?.type === "object";
    if (object && ttl.max === undefined && ttl.fixed === undefined && tree.node(`${inner}/max`) === undefined) {
      out.push({ kind: "missing-field", message: '"max" or "fixed" is missing', path: inner, at: ttl.key.at });
    }
  }
  return out;
}
