/**
 * What a rule reads. A contract is built over proxies of its values, and each part of a run (the build, a handler on an
 * entity) notes the places that it looked at. What no mutant of those places changes cannot change the result.
 */
import { type Path, YamlDocument, type YamlFile, type YamlNode, type YamlPair } from "../document/yaml.js";
import { InputFile } from "../model/input.js";
import { Source, type Span, TextView } from "../text/source.js";
import type { ValueChange } from "./mutant.js";

/**
 * Reads of one part of a run. Keys: `file\0document\0pointer\0key` for a value, the same with `?key` for whether a key is
 * there, `*` for which keys there are, `#` in place of the pointer for facts of the document as text (`duplicates`, `tree`),
 * and the bare file for its text.
 */
export type ReadSet = Set<string>;

/** A place of a document or of something made of a file: its keys as reads name them, made once for all recordings. */
class Node {
  readonly #prefix: string;
  #keys: Map<string, string> | undefined;
  #children: Map<string, Node> | undefined;

  /** `prefix`: `file\0document\0pointer`. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  key(name: string): string {
    this.#keys ??= new Map();
    let key = this.#keys.get(name);
    if (key === undefined) this.#keys.set(name, (key = `${this.#prefix}\0${name}`));
    return key;
  }

  child(name: string): Node {
    this.#children ??= new Map();
    let child = this.#children.get(name);
    if (child === undefined) {
      const below = this.#prefix.endsWith("\0") ? `${this.#prefix}${name}` : `${this.#prefix}/${name}`;
      this.#children.set(name, (child = new Node(below)));
    }
    return child;
  }
}

/** What recordings share: the names of reads, each kept once, however many handlers read the same place. */
export class ReadNames {
  readonly #texts = new Map<string, string>();
  readonly #roots = new Map<string, Node>();

  text(key: string): string {
    let kept = this.#texts.get(key);
    if (kept === undefined) this.#texts.set(key, (kept = key));
    return kept;
  }

  /** The whole of a document, or of what was made of a file. */
  root(prefix: string): Node {
    let root = this.#roots.get(prefix);
    if (root === undefined) this.#roots.set(prefix, (root = new Node(`${prefix}\0`)));
    return root;
  }
}

export class Recorder {
  readonly names: ReadNames;
  #current: ReadSet | undefined;

  constructor(names: ReadNames) {
    this.names = names;
  }

  /** Runs `work` with its reads noted in `into`. */
  during<T>(into: ReadSet | undefined, work: () => T): T {
    const before = this.#current;
    this.#current = into;
    try {
      return work();
    } finally {
      this.#current = before;
    }
  }

  note(key: string): void {
    this.#current?.add(this.names.text(key));
  }

  /** Notes a key of a place. */
  at(node: Node, name: string): void {
    this.#current?.add(node.key(name));
  }

  /** The same file, its reads noted. */
  file(base: InputFile): InputFile {
    return new RecordingInput(base, this);
  }
}

/** The read of the syntax tree of a file that has no documents; its text is read with it. */
export function parsedKey(file: string): string {
  return `${file}\0#\0tree`;
}

export function pointerKey(path: Path): string {
  return path.join("/");
}

function isIndex(key: string): boolean {
  const c = key.charCodeAt(0);
  return c >= 48 && c <= 57;
}

/** Where something stands: a verdict does not compare places. */
function isPlace(value: unknown): boolean {
  return (
    value instanceof Source ||
    value instanceof TextView ||
    (value !== null && typeof value === "object" && (value as { source?: unknown }).source instanceof Source)
  );
}

/** A proxy that notes each key read; refuses writes, because rules share the values. */
function watch(value: object, node: Node, recorder: Recorder): object {
  return new Proxy(value, new Watch(value, node, recorder));
}

class Watch implements ProxyHandler<object> {
  readonly #node: Node;
  readonly #recorder: Recorder;
  readonly #list: boolean;
  #children: Map<string, object> | undefined;

  constructor(value: object, node: Node, recorder: Recorder) {
    this.#node = node;
    this.#recorder = recorder;
    this.#list = Array.isArray(value);
  }

  get(target: object, key: string | symbol, receiver: unknown): unknown {
    const found: unknown = Reflect.get(target, key, receiver);
    if (typeof key === "symbol") return found;
    if (this.#list && !isIndex(key)) {
      if (key === "length") this.#recorder.at(this.#node, "*");
      return found;
    }
    // methods of Object.prototype are no fields of the document; those of a value read it through the proxy
    if (typeof found === "function") return found;
    if (found === null || typeof found !== "object") {
      this.#recorder.at(this.#node, key);
      return found;
    }
    if (isPlace(found)) return found;
    this.#recorder.at(this.#node, key);
    this.#children ??= new Map();
    let child = this.#children.get(key);
    if (child === undefined) this.#children.set(key, (child = watch(found, this.#node.child(key), this.#recorder)));
    return child;
  }

  has(target: object, key: string | symbol): boolean {
    if (typeof key === "string") this.#recorder.at(this.#node, `?${key}`);
    return Reflect.has(target, key);
  }

  getOwnPropertyDescriptor(target: object, key: string | symbol): PropertyDescriptor | undefined {
    if (typeof key === "string") this.#recorder.at(this.#node, `?${key}`);
    return Reflect.getOwnPropertyDescriptor(target, key);
  }

  ownKeys(target: object): (string | symbol)[] {
    this.#recorder.at(this.#node, "*");
    return Reflect.ownKeys(target);
  }

  set(): boolean {
    throw new TypeError("a rule or the model changed a value of a document");
  }

  deleteProperty(): boolean {
    throw new TypeError("a rule or the model changed a value of a document");
  }

  defineProperty(): boolean {
    throw new TypeError("a rule or the model changed a value of a document");
  }
}

function watchedText<T extends Source | TextView>(target: T, note: () => void): T {
  const { text } = target;
  Object.defineProperty(target, "text", {
    get: () => {
      note();
      return text;
    },
    enumerable: true,
  });
  return target;
}

class RecordingDocument extends YamlDocument {
  readonly #base: YamlDocument;
  readonly #recorder: Recorder;
  readonly #prefix: string;
  readonly #views = new Map<string, TextView | undefined>();

  constructor(base: YamlDocument, file: string, index: number, recorder: Recorder) {
    const prefix = `${file}\0${index}`;
    const { value } = base;
    super(
      base.source,
      base.start,
      base.end,
      base.meaning,
      value !== null && typeof value === "object" ? watch(value, recorder.names.root(prefix), recorder) : value,
      base.duplicates,
    );
    this.#base = base;
    this.#recorder = recorder;
    this.#prefix = prefix;
    Object.defineProperty(this, "duplicates", {
      get: () => {
        recorder.note(`${prefix}\0#\0duplicates`);
        return base.duplicates;
      },
    });
  }

  override get root(): YamlNode | undefined {
    this.#recorder.note(`${this.#prefix}\0#\0tree`);
    return this.#base.root;
  }

  // where something stands is asked for findings only, and a verdict does not compare places
  override node(path: Path): YamlNode | undefined {
    return this.#base.node(path);
  }

  override pair(path: Path): YamlPair | undefined {
    return this.#base.pair(path);
  }

  override locate(path: Path, what?: "value" | "key" | "pair"): Span {
    return this.#base.locate(path, what);
  }

  override nearest(path: Path): Span {
    return this.#base.nearest(path);
  }

  override view(path: Path): TextView | undefined {
    const pointer = pointerKey(path);
    if (this.#views.has(pointer)) return this.#views.get(pointer);
    const base = this.#base.view(path);
    const parent = pointerKey(path.slice(0, -1));
    const key = `${this.#prefix}\0${parent}\0${String(path[path.length - 1])}`;
    const view =
      base === undefined
        ? undefined
        : watchedText(new TextView(base.source, base.text, base.segments), () => this.#recorder.note(key));
    this.#views.set(pointer, view);
    return view;
  }
}

class RecordingInput extends InputFile {
  readonly #base: InputFile;
  readonly #recorder: Recorder;
  #documents: YamlFile | undefined;
  #watched: TextView | undefined;
  readonly #made = new Map<string, object>();

  constructor(base: InputFile, recorder: Recorder) {
    const { bytes, fault, file } = base;
    const note = (): void => recorder.note(file);
    const source = watchedText(new Source(file, base.source.text), note);
    super(
      source,
      base.kind,
      fault === undefined ? { templated: base.templated } : { templated: base.templated, fault },
    );
    this.#base = base;
    this.#recorder = recorder;
    Object.defineProperty(this, "bytes", {
      get: () => {
        note();
        return bytes;
      },
    });
  }

  override get identity(): InputFile {
    return this.#base;
  }

  override touch(parsed = false): void {
    this.#recorder.note(this.file);
    if (parsed) this.#recorder.note(parsedKey(this.file));
  }

  override watched<T extends object>(name: string, value: T): T {
    let known = this.#made.get(name);
    if (known === undefined)
      this.#made.set(name, (known = watch(value, this.#recorder.names.root(`${this.file}\0${name}`), this.#recorder)));
    return known as T;
  }

  override get view(): TextView {
    this.#watched ??= watchedText(new TextView(this.source, this.#base.source.text), () =>
      this.#recorder.note(this.file),
    );
    return this.#watched;
  }

  override get yaml(): YamlFile {
    if (this.#documents === undefined) {
      const { documents, problems } = this.#base.yaml;
      this.#documents = {
        source: this.source,
        documents: documents.map((d, i) => new RecordingDocument(d, this.file, i, this.#recorder)),
        problems,
      };
    }
    return this.#documents;
  }
}

/** The read keys that a change of a document's value may disturb. `value` is the document's value before the change. */
export function touchedKeys(file: string, document: number, value: unknown, change: ValueChange): string[] {
  const prefix = `${file}\0${document}\0`;
  const out: string[] = [`${prefix}#\0tree`];
  const touch = (container: Path, ...keys: (string | number)[]): void => {
    const at = `${prefix}${pointerKey(container)}\0`;
    for (const key of keys) out.push(at + String(key));
  };
  const { path } = change;
  const parent = path.slice(0, -1);
  const last = path[path.length - 1]!;
  switch (change.kind) {
    case "set":
      touch(parent, last);
      break;
    case "remove":
    case "rename":
      if (typeof last === "number") touchFrom(last, parent);
      else touch(parent, last, `?${last}`, "*");
      if (change.kind === "rename") touch(parent, change.to, `?${change.to}`);
      break;
    case "insert":
      touchFrom(change.index, path);
      break;
    case "swap":
      touch(path, change.first, change.second);
      break;
    case "duplicate":
      out.push(`${prefix}#\0duplicates`);
      break;
  }
  return out;

  function touchFrom(index: number, list: Path): void {
    const items = list.reduce<unknown>((v, step) => (v as Record<string | number, unknown>)[step], value);
    const length = Array.isArray(items) ? items.length : 0;
    touch(list, "*");
    for (let i = index; i <= length; i++) touch(list, i, `?${i}`);
  }
}

/** The read keys of the places where two values of a document differ; undefined where they have nothing in common. */
export function differentKeys(file: string, document: number, before: unknown, after: unknown): string[] | undefined {
  const prefix = `${file}\0${document}\0`;
  const out: string[] = [`${prefix}#\0tree`];
  const compare = (a: unknown, b: unknown, pointer: string): void => {
    const container = `${prefix}${pointer}\0`;
    const left = a as Record<string, unknown>;
    const right = b as Record<string, unknown>;
    const names = new Set([...Object.keys(left), ...Object.keys(right)]);
    let set = false;
    for (const name of names) {
      const [x, y] = [left[name], right[name]];
      const [inLeft, inRight] = [Object.hasOwn(left, name), Object.hasOwn(right, name)];
      if (inLeft !== inRight) {
        out.push(container + name, `${container}?${name}`);
        set = true;
      } else if (isContainer(x) && isContainer(y) && Array.isArray(x) === Array.isArray(y))
        compare(x, y, pointer === "" ? name : `${pointer}/${name}`);
      else if (!Object.is(x, y)) out.push(container + name);
    }
    if (set) out.push(`${container}*`);
  };
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) return undefined;
  compare(before, after, "");
  return out;
}

/**
 * The read keys of the parts where two things made of a file differ (see `InputFile.watched`), places and functions apart: what is
 * the same object is the same.
 */
export function differentParts(file: string, name: string, before: object, after: object): string[] {
  const found: string[] = [];
  const steps: string[] = [];
  const differ = (...keys: string[]): void => {
    const at = `${file}\0${name}\0${steps.join("/")}\0`;
    for (const key of keys) found.push(at + key);
  };
  /** Whether a part differs itself; otherwise its own parts are compared. */
  const part = (x: unknown, y: unknown, key: string | number): void => {
    if (x === y) return;
    if (isContainer(x) && isContainer(y) && Array.isArray(x) === Array.isArray(y)) {
      if (isPlace(x)) return;
      steps.push(String(key));
      compare(x, y);
      steps.pop();
    } else if (!Object.is(x, y) && typeof x !== "function") differ(String(key));
  };
  const compare = (a: object, b: object): void => {
    if (Array.isArray(a) && Array.isArray(b)) {
      const [short, long] = [Math.min(a.length, b.length), Math.max(a.length, b.length)];
      for (let i = 0; i < short; i++) part(a[i], b[i], i);
      for (let i = short; i < long; i++) differ(String(i), `?${i}`);
      if (short < long) differ("*");
      return;
    }
    const left = a as Record<string, unknown>;
    const right = b as Record<string, unknown>;
    let set = false;
    const gone = (key: string): void => {
      differ(key, `?${key}`);
      set = true;
    };
    for (const key in left) {
      if (key in right) part(left[key], right[key], key);
      else gone(key);
    }
    for (const key in right) if (!(key in left)) gone(key);
    for (const key of foundByClass(left)) part(left[key], right[key], key);
    if (set) differ("*");
  };
  compare(before, after);
  return found;
}

const foundBy = new WeakMap<object, readonly string[]>();

/** The fields that an object's class finds when asked. */
function foundByClass(value: object): readonly string[] {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return [];
  let names = foundBy.get(prototype as object);
  if (names === undefined) {
    const described = Object.entries(Object.getOwnPropertyDescriptors(prototype as object));
    foundBy.set(prototype as object, (names = described.filter(([, { get }]) => get !== undefined).map(([n]) => n)));
  }
  return names;
}

function isContainer(value: unknown): value is object {
  return value !== null && typeof value === "object";
}

/** The value with a change in it; everything beside the path is shared. */
export function applyChange(value: unknown, change: ValueChange): unknown {
  if (change.kind === "duplicate") return value;
  const target = change.kind === "insert" || change.kind === "swap" ? change.path : change.path.slice(0, -1);
  return along(value, target, 0, (container) => {
    if (Array.isArray(container)) {
      const list: unknown[] = container.slice();
      if (change.kind === "set") list[Number(change.path.at(-1))] = change.value;
      else if (change.kind === "remove") list.splice(Number(change.path.at(-1)), 1);
      else if (change.kind === "insert") list.splice(change.index, 0, change.value);
      else if (change.kind === "swap") {
        list[change.first] = container[change.second];
        list[change.second] = container[change.first];
      }
      return list;
    }
    const from = container as Record<string, unknown>;
    const out: Record<string, unknown> = {};
    const key = String(change.path.at(-1));
    for (const name of Object.keys(from)) {
      if (name !== key) put(out, name, from[name]);
      else if (change.kind === "set") put(out, name, change.value);
      else if (change.kind === "rename") put(out, change.to, from[name]);
    }
    return out;
  });
}

function put(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

function along(value: unknown, path: Path, depth: number, change: (container: object) => object): unknown {
  if (depth === path.length) return change(value as object);
  const step = path[depth]!;
  if (Array.isArray(value)) {
    const list: unknown[] = value.slice();
    list[step as number] = along(list[step as number], path, depth + 1, change);
    return list;
  }
  const from = value as Record<string, unknown>;
  const out: Record<string, unknown> = {};
  for (const name of Object.keys(from))
    put(out, name, name === step ? along(from[name], path, depth + 1, change) : from[name]);
  return out;
}
