/**
 * YAML and JSON manifests: values with Kubernetes' scalar meaning, and true positions on demand.
 *
 * A file is cut at its document markers (a `---` in column 0 always ends a document), so that a syntax error in one
 * document leaves the others standing. Values are built from parser events in one pass; the tree with positions is built
 * again from the document's slice only when somebody asks for a place, because most documents never have a finding.
 */
import { EVENT_ID, type Event, getScalarValue, parseEvents, type ScalarEvent, YAMLException } from "js-yaml";
import type { Segment, Source, Span } from "../text/source.js";
import { TextView } from "../text/source.js";

export type Path = readonly (string | number)[];
export type ScalarMeaning = "kubernetes" | "core";

/** A fault of the text itself, with its place. */
export interface SyntaxProblem {
  readonly code: "syntax" | "too-deep" | "alias-bomb" | "binary";
  readonly message: string;
  readonly at: Span;
}

export interface DuplicateKey {
  readonly key: string;
  readonly at: Span;
  readonly first: Span;
}

export interface YamlScalar {
  readonly kind: "scalar";
  readonly start: number;
  readonly end: number;
  readonly value: string | number | boolean | null;
  readonly text: string;
  readonly style: number;
  /** Content range (without quotes) and, for block scalars, the column at which content starts. */
  readonly contentStart: number;
  readonly contentEnd: number;
  readonly indent: number;
}
export interface YamlPair {
  readonly key: YamlNode;
  readonly name: string;
  readonly value: YamlNode;
}
export interface YamlMap {
  readonly kind: "map";
  readonly start: number;
  end: number;
  readonly flow: boolean;
  readonly pairs: YamlPair[];
}
export interface YamlSeq {
  readonly kind: "seq";
  readonly start: number;
  end: number;
  readonly flow: boolean;
  readonly items: YamlNode[];
}
export interface YamlAlias {
  readonly kind: "alias";
  readonly start: number;
  readonly end: number;
  readonly target: YamlNode;
}
export type YamlNode = YamlScalar | YamlMap | YamlSeq | YamlAlias;

const MAX_DEPTH = 100;
/** Nodes that a document may stand for once its aliases are expanded; kubectl refuses a ratio, we refuse a size. */
const MAX_EXPANDED = 500_000;
const STYLE_PLAIN = 1;
const STYLE_SINGLE = 2;
const STYLE_DOUBLE = 3;
const STYLE_LITERAL = 4;
const STYLE_FLOW = 2;

const INT = /^[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[1-9][0-9_]*|0)$/;
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const CORE_INT = /^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$/;

/**
 * The value of a plain scalar. "kubernetes" is what sigs.k8s.io/yaml reads (YAML 1.1 booleans, `0644` is 420, no dates,
 * no sexagesimal numbers); "core" is the YAML 1.2 core schema.
 */
export function resolvePlain(text: string, meaning: ScalarMeaning): string | number | boolean | null {
  const first = text.charCodeAt(0);
  if (text.length <= 5) {
    switch (text) {
      case "":
      case "~":
      case "null":
      case "Null":
      case "NULL":
        return null;
      case "true":
      case "True":
      case "TRUE":
        return true;
      case "false":
      case "False":
      case "FALSE":
        return false;
      case "yes":
      case "Yes":
      case "YES":
      case "on":
      case "On":
      case "ON":
      case "y":
      case "Y":
        if (meaning === "kubernetes") return true;
        break;
      case "no":
      case "No":
      case "NO":
      case "off":
      case "Off":
      case "OFF":
      case "n":
      case "N":
        if (meaning === "kubernetes") return false;
        break;
      case ".inf":
      case "+.inf":
      case ".Inf":
      case ".INF":
        return Number.POSITIVE_INFINITY;
      case "-.inf":
        return Number.NEGATIVE_INFINITY;
      case ".nan":
      case ".NaN":
      case ".NAN":
        return Number.NaN;
    }
  }
  const numeric = (first >= 48 && first <= 57) || first === 43 || first === 45 || first === 46;
  if (!numeric) return text;
  if (meaning === "core") {
    if (CORE_INT.test(text)) return Number(text);
    return FLOAT.test(text) ? Number(text) : text;
  }
  if (INT.test(text)) {
    const sign = first === 45 ? -1 : 1;
    const digits = text.replace(/^[-+]/, "").replaceAll("_", "");
    if (/^0[0-7]+$/.test(digits)) return sign * Number.parseInt(digits, 8);
    return sign * Number(digits);
  }
  return FLOAT.test(text) ? Number(text) : text;
}

function scalarValue(text: string, event: ScalarEvent, slice: string, meaning: ScalarMeaning): YamlScalar["value"] {
  if (event.tagStart >= 0) {
    const tag = slice.slice(event.tagStart, event.tagEnd);
    if (tag === "!!str" || tag === "!") return text;
    if (tag === "!!int" || tag === "!!float") {
      const value = resolvePlain(text, meaning);
      return typeof value === "number" ? value : text;
    }
    if (tag === "!!bool" || tag === "!!null") return resolvePlain(text, meaning);
    return text;
  }
  return event.style === STYLE_PLAIN ? resolvePlain(text, meaning) : text;
}

interface Frame {
  map: Record<string, unknown> | undefined;
  seq: unknown[] | undefined;
  key: string | undefined;
  keyEvent: number;
  /** The event that opens it. */
  from: number;
  /** Where each key stands first: known from the second of a name on, since maps without one need none. */
  seen: Map<string, ScalarEvent> | undefined;
  merges: unknown[] | undefined;
  anchor: string | undefined;
  size: number;
}

function put(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}

/** A YAML document of a file: its value, and places by path. */
export class YamlDocument {
  readonly source: Source;
  /** Offsets of the document's slice in the file. */
  readonly start: number;
  readonly end: number;
  readonly meaning: ScalarMeaning;
  readonly value: unknown;
  readonly duplicates: readonly DuplicateKey[];
  #tree: { readonly node: YamlNode | undefined } | undefined;
  #views: Map<string, TextView> | undefined;

  constructor(
    source: Source,
    start: number,
    end: number,
    meaning: ScalarMeaning,
    value: unknown,
    duplicates: readonly DuplicateKey[],
  ) {
    this.source = source;
    this.start = start;
    this.end = end;
    this.meaning = meaning;
    this.value = value;
    this.duplicates = duplicates;
  }

  /** The node tree; positions are offsets in the file. undefined for an empty document. */
  get root(): YamlNode | undefined {
    if (this.#tree === undefined) {
      this.#tree = { node: buildTree(this.source.text.slice(this.start, this.end), this.start, this.meaning) };
      let recent = grown.get(this.source);
      if (recent === undefined) grown.set(this.source, (recent = []));
      recent.push(this);
      const oldest = recent.length > MAX_TREES ? recent.shift() : undefined;
      if (oldest !== undefined) oldest.#tree = undefined;
    }
    return this.#tree?.node;
  }

  /** The node at a path, through aliases and merge keys; undefined where the path does not exist. */
  node(path: Path): YamlNode | undefined {
    let at = this.root;
    for (const step of path) {
      at = child(at, step);
      if (at === undefined) return undefined;
    }
    return at;
  }

  /** The pair that holds a path's last step. */
  pair(path: Path): YamlPair | undefined {
    const parent = unalias(this.node(path.slice(0, -1)));
    const last = path[path.length - 1];
    return parent?.kind === "map" && typeof last === "string" ? pairOf(parent, last) : undefined;
  }

  /** The place of an existing path; throws a RangeError for one that is not there. */
  locate(path: Path, what: "value" | "key" | "pair" = "value"): Span {
    if (what !== "value") {
      const pair = this.pair(path);
      if (pair !== undefined) {
        return this.source.span(pair.key.start, what === "key" ? pair.key.end : Math.max(pair.key.end, pair.value.end));
      }
    }
    const node = this.node(path);
    if (node === undefined) throw new RangeError(`no node at /${path.join("/")} in ${this.source.file}`);
    if (node.end <= node.start) {
      // an empty value has no text of its own: its key is the place a person can see
      const pair = this.pair(path);
      if (pair !== undefined) return this.source.span(pair.key.start, pair.key.end);
    }
    return this.source.span(node.start, node.end);
  }

  /**
   * The place for a thing that is *missing* at `path`: the key of its nearest existing ancestor (for an item of a
   * sequence its `name` entry or first key), or the document's first key.
   */
  nearest(path: Path): Span {
    let depth = path.length;
    while (depth > 0 && this.node(path.slice(0, depth)) === undefined) depth--;
    const existing = path.slice(0, depth);
    const pair = depth > 0 ? this.pair(existing) : undefined;
    if (pair !== undefined) return this.source.span(pair.key.start, pair.key.end);
    const node = unalias(depth > 0 ? this.node(existing) : this.root);
    if (node?.kind === "map" && node.pairs.length > 0) {
      const named = node.pairs.find((p) => p.name === "name") ?? node.pairs[0]!;
      const end = named.name === "name" && named.value.kind === "scalar" ? named.value.end : named.key.end;
      return this.source.span(named.key.start, end);
    }
    if (node !== undefined && node.end > node.start) return this.source.span(node.start, node.end);
    if (depth > 1) return this.nearest(path.slice(0, depth - 1));
    return this.source.span(this.start, this.start);
  }

  has(path: Path): boolean {
    return this.#valueAt(path) !== undefined;
  }

  #valueAt(path: Path): unknown {
    let at: unknown = this.value;
    for (const step of path) {
      if (at === null || typeof at !== "object" || !Object.hasOwn(at, step)) return undefined;
      at = (at as Record<string | number, unknown>)[step];
    }
    return at;
  }

  /**
   * The text of a string scalar as a view, each character at its place in the file. The same view each time, because what
   * is parsed from it is kept by view.
   */
  view(path: Path): TextView | undefined {
    const key = path.join("\0");
    this.#views ??= new Map();
    let view = this.#views.get(key);
    if (view === undefined) {
      const value = this.#valueAt(path);
      if (typeof value !== "string") return undefined;
      view = new TextView(this.source, value, () => {
        const node = unalias(this.node(path));
        return node?.kind === "scalar" ? scalarSegments(this.source.text, node) : [];
      });
      this.#views.set(key, view);
    }
    return view;
  }

  /** Comments of the document, outermost text only: `#` that no scalar contains. */
  comments(): { readonly text: string; readonly at: Span }[] {
    const spans: [number, number][] = [];
    const walk = (node: YamlNode): void => {
      if (node.kind === "scalar") spans.push([node.start, node.end]);
      else if (node.kind === "map") {
        for (const p of node.pairs) {
          walk(p.key);
          walk(p.value);
        }
      } else if (node.kind === "seq") for (const i of node.items) walk(i);
    };
    if (this.root !== undefined) walk(this.root);
    spans.sort((a, b) => a[0] - b[0]);
    const { text } = this.source;
    const out: { text: string; at: Span }[] = [];
    let next = 0;
    for (let i = this.start; i < this.end; i++) {
      while (next < spans.length && spans[next]![1] <= i) next++;
      if (next < spans.length && spans[next]![0] <= i && spans[next]![1] > spans[next]![0]) {
        i = spans[next]![1] - 1;
        continue;
      }
      if (text.charCodeAt(i) !== 35) continue;
      const before = i === this.start ? 10 : text.charCodeAt(i - 1);
      if (before !== 10 && before !== 13 && before !== 32 && before !== 9) continue;
      let stop = i;
      while (stop < this.end && text.charCodeAt(stop) !== 10 && text.charCodeAt(stop) !== 13) stop++;
      out.push({ text: text.slice(i, stop), at: this.source.span(i, stop) });
      i = stop;
    }
    return out;
  }
}

/** Trees kept of one file: they are many times larger than the values, and asked for again soon or not at all. */
const MAX_TREES = 64;
const grown = new WeakMap<Source, YamlDocument[]>();

export function unalias(node: YamlNode | undefined): Exclude<YamlNode, YamlAlias> | undefined {
  let at = node;
  while (at?.kind === "alias") at = at.target;
  return at;
}

function pairOf(map: YamlMap, name: string, depth = 0): YamlPair | undefined {
  for (let i = map.pairs.length - 1; i >= 0; i--) if (map.pairs[i]!.name === name) return map.pairs[i];
  if (depth > MAX_DEPTH) return undefined;
  for (const pair of map.pairs) {
    if (pair.name !== "<<") continue;
    const merged = unalias(pair.value);
    const sources = merged?.kind === "seq" ? merged.items.map(unalias) : [merged];
    for (const from of sources) {
      const found = from?.kind === "map" ? pairOf(from, name, depth + 1) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function child(node: YamlNode | undefined, step: string | number): YamlNode | undefined {
  const at = unalias(node);
  if (at?.kind === "map") return pairOf(at, String(step))?.value;
  if (at?.kind === "seq" && typeof step === "number") return at.items[step];
  return undefined;
}

/** Offsets of the slices of a file's documents, in order. */
export function slices(text: string): [number, number][] {
  const out: [number, number][] = [];
  const marker = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm;
  let start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  let open = false; // the slice so far holds only directives, comments, blanks
  for (let m = marker.exec(text); m !== null; m = marker.exec(text)) {
    if (m[0] === "---") {
      if (
        m.index > start &&
        !(
          open === false &&
          /^(?:[ \t]*(?:#[^\n]*)?\r?\n|%[^\n]*\n)*$/.test(text.slice(start, m.index)) &&
          /^%/m.test(text.slice(start, m.index))
        )
      ) {
        out.push([start, m.index]);
        start = m.index;
      } else if (m.index === start || open) start = Math.min(start, m.index);
      open = false;
    } else {
      let end = m.index + 3;
      while (end < text.length && text.charCodeAt(end) !== 10) end++;
      out.push([start, end]);
      start = Math.min(text.length, end + 1);
    }
  }
  if (start < text.length || out.length === 0) out.push([start, text.length]);
  return out;
}

export interface YamlFile {
  readonly source: Source;
  readonly documents: readonly YamlDocument[];
  readonly problems: readonly SyntaxProblem[];
}

/** Manifests that were parsed: who looks at one again need not parse it again. */
const parsed = new WeakMap<Source, YamlFile>();

/** A source as it was parsed with Kubernetes' meaning; undefined where nobody has. */
export function parsedYaml(source: Source): YamlFile | undefined {
  return parsed.get(source);
}

export function parseYaml(source: Source, meaning: ScalarMeaning = "kubernetes"): YamlFile {
  const file = parseFile(source, meaning);
  if (meaning === "kubernetes") parsed.set(source, file);
  return file;
}

function parseFile(source: Source, meaning: ScalarMeaning): YamlFile {
  const documents: YamlDocument[] = [];
  const problems: SyntaxProblem[] = [];
  if (source.text.includes("\0")) {
    const at = source.text.indexOf("\0");
    problems.push({ code: "binary", message: "the file holds a NUL byte: it is not text", at: source.span(0, 0) });
    return { source, documents, problems: at >= 0 ? problems : [] };
  }
  for (const [start, end] of slices(source.text)) {
    const result = parseSlice(source, start, end, meaning);
    if (result instanceof YamlDocument) {
      if (result.value !== null && result.value !== undefined) documents.push(result);
    } else problems.push(result);
  }
  return { source, documents, problems };
}

/** Parses one slice of a file again, for example after an edit inside it. */
export function parseSlice(
  source: Source,
  start: number,
  end: number,
  meaning: ScalarMeaning,
): YamlDocument | SyntaxProblem {
  const slice = source.text.slice(start, end);
  let events: Event[];
  try {
    events = parseEvents(slice, { maxDepth: MAX_DEPTH });
  } catch (error) {
    return syntaxProblem(error, source, start, end);
  }
  return buildValue(events, slice, source, start, end, meaning);
}

function syntaxProblem(error: unknown, source: Source, start: number, end: number): SyntaxProblem {
  const slice = source.text.slice(start, end);
  const mark =
    error instanceof YAMLException
      ? (error as YAMLException & { mark?: { position?: number; line?: number; column?: number } }).mark
      : undefined;
  const reason = error instanceof YAMLException ? (error.reason ?? String(error.message)) : "the text nests too deeply";
  let at = Math.min(mark?.position ?? 0, slice.length);
  // the parser stops behind the fault: a line break is no place that a person can see
  while (at > 0 && (at >= slice.length || /[\r\n]/.test(slice[at]!))) at--;
  let stop = at;
  while (stop < slice.length && !/[\r\n]/.test(slice[stop]!)) stop++;
  if (stop === at) stop = Math.min(slice.length, at + 1);
  const deep = /depth|nest/i.test(reason);
  return {
    code: deep ? "too-deep" : "syntax",
    message: deep ? `collections nest deeper than ${MAX_DEPTH} levels` : reason,
    at: source.span(start + at, start + stop),
  };
}

function buildValue(
  events: Event[],
  slice: string,
  source: Source,
  start: number,
  end: number,
  meaning: ScalarMeaning,
): YamlDocument | SyntaxProblem {
  const duplicates: DuplicateKey[] = [];
  const anchors = new Map<string, { value: unknown; size: number; node: Frame | undefined }>();
  const stack: Frame[] = [];
  let ends: Int32Array | undefined;
  let root: unknown = null;
  let rootSet = false;
  let total = 0;

  const emit = (value: unknown, size: number): void => {
    total += size;
    const frame = stack[stack.length - 1];
    if (frame === undefined) {
      if (!rootSet) root = value;
      rootSet = true;
      return;
    }
    frame.size += size;
    if (frame.seq !== undefined) frame.seq.push(value);
    else if (frame.key === undefined) {
      // a collection or alias as a key: JSON has no such keys
      frame.key = typeof value === "object" ? "?" : String(value);
    } else {
      if (frame.key === "<<" && frame.keyEvent === STYLE_PLAIN && value !== null && typeof value === "object") {
        (frame.merges ??= []).push(value);
      } else put(frame.map!, frame.key, value);
      frame.key = undefined;
    }
  };

  for (let at = 0; at < events.length; at++) {
    const event = events[at]!;
    switch (event.type) {
      case EVENT_ID.SCALAR: {
        const text = event.valueStart < 0 ? "" : getScalarValue(slice, event);
        const frame = stack[stack.length - 1];
        if (frame?.map !== undefined && frame.key === undefined) {
          frame.key = text;
          frame.keyEvent = event.style;
          if (Object.hasOwn(frame.map, text) || (text === "<<" && frame.merges !== undefined))
            frame.seen ??= keysOf(events, (ends ??= endsOf(events)), frame.from + 1, at, slice);
          const first = frame.seen?.get(text);
          if (first === undefined) frame.seen?.set(text, event);
          else {
            const from = startOf(first);
            const length = text.length + 2 * quote(event);
            duplicates.push({
              key: text,
              at: source.span(
                start + startOf(event),
                start + (event.valueStart < 0 ? 0 : event.valueEnd + quote(event)),
              ),
              first: source.span(start + from, start + from + Math.min(length, text.length + 2)),
            });
          }
          if (event.anchorStart >= 0)
            anchors.set(slice.slice(event.anchorStart, event.anchorEnd), { value: text, size: 1, node: undefined });
          break;
        }
        const value = scalarValue(text, event, slice, meaning);
        if (event.anchorStart >= 0) {
          anchors.set(slice.slice(event.anchorStart, event.anchorEnd), { value, size: 1, node: undefined });
        }
        emit(value, 1);
        break;
      }
      case EVENT_ID.MAPPING:
      case EVENT_ID.SEQUENCE: {
        const isMap = event.type === EVENT_ID.MAPPING;
        const frame: Frame = {
          map: isMap ? {} : undefined,
          seq: isMap ? undefined : [],
          key: undefined,
          keyEvent: 0,
          from: at,
          seen: undefined,
          merges: undefined,
          anchor: event.anchorStart >= 0 ? slice.slice(event.anchorStart, event.anchorEnd) : undefined,
          size: 1,
        };
        if (frame.anchor !== undefined) {
          anchors.set(frame.anchor, { value: frame.map ?? frame.seq, size: 1, node: frame });
        }
        stack.push(frame);
        break;
      }
      case EVENT_ID.ALIAS: {
        const name = slice.slice(event.anchorStart, event.anchorEnd);
        const anchor = anchors.get(name);
        const at = source.span(start + event.anchorStart - 1, start + event.anchorEnd);
        if (anchor === undefined) return { code: "syntax", message: `unidentified alias "${name}"`, at };
        if (anchor.node !== undefined && stack.includes(anchor.node)) {
          return { code: "alias-bomb", message: `the alias "${name}" contains itself`, at };
        }
        if (total + anchor.size > MAX_EXPANDED) {
          return { code: "alias-bomb", message: `aliases expand to more than ${MAX_EXPANDED} nodes`, at };
        }
        emit(anchor.value, anchor.size);
        break;
      }
      case EVENT_ID.POP: {
        const frame = stack.pop();
        if (frame === undefined) break;
        if (frame.merges !== undefined) for (const merged of frame.merges) merge(frame.map!, merged);
        // a list that grew has places for 16 more: too many to keep for each list of a manifest
        const value = frame.map ?? frame.seq!.slice();
        if (frame.anchor !== undefined) anchors.set(frame.anchor, { value, size: frame.size, node: undefined });
        total -= frame.size - 1;
        emit(value, frame.size);
        break;
      }
    }
  }
  return new YamlDocument(source, start, end, meaning, root, duplicates);
}

function merge(target: Record<string, unknown>, from: unknown): void {
  for (const part of Array.isArray(from) ? from : [from]) {
    if (part === null || typeof part !== "object" || Array.isArray(part)) continue;
    for (const key of Object.keys(part)) {
      if (!Object.hasOwn(target, key)) put(target, key, (part as Record<string, unknown>)[key]);
    }
  }
}

/** Where a scalar stands in its slice, with its quotes. */
function startOf(event: ScalarEvent): number {
  return event.valueStart < 0 ? 0 : event.valueStart - quote(event);
}

/** Where each collection of a document ends, by the event that opens it. */
function endsOf(events: readonly Event[]): Int32Array {
  const ends = new Int32Array(events.length);
  const open: number[] = [];
  events.forEach(({ type }, i) => {
    if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) open.push(i);
    else if (type === EVENT_ID.POP) {
      const from = open.pop();
      if (from !== undefined) ends[from] = i;
    }
  });
  return ends;
}

/** The first key of each name between two events of a map; `ends`: what its keys and values have inside is passed over. */
function keysOf(events: readonly Event[], ends: Int32Array, from: number, to: number, slice: string) {
  const keys = new Map<string, ScalarEvent>();
  let isKey = true;
  for (let i = from; i < to; i = (ends[i] || i) + 1) {
    const event = events[i]!;
    if (isKey && event.type === EVENT_ID.SCALAR) {
      const text = event.valueStart < 0 ? "" : getScalarValue(slice, event);
      if (!keys.has(text)) keys.set(text, event);
    }
    isKey = !isKey;
  }
  return keys;
}

function quote(event: ScalarEvent): 0 | 1 {
  return event.style === STYLE_SINGLE || event.style === STYLE_DOUBLE ? 1 : 0;
}

/** The node tree of a slice that parses; offsets are shifted by `shift`. */
function buildTree(slice: string, shift: number, meaning: ScalarMeaning): YamlNode | undefined {
  const events = parseEvents(slice, { maxDepth: MAX_DEPTH });
  const anchors = new Map<string, YamlNode>();
  const stack: { node: YamlMap | YamlSeq; key: YamlNode | undefined }[] = [];
  let root: YamlNode | undefined;
  let last = 0;

  const emit = (node: YamlNode): void => {
    const frame = stack[stack.length - 1];
    if (frame === undefined) root ??= node;
    else if (frame.node.kind === "seq") frame.node.items.push(node);
    else if (frame.key === undefined) frame.key = node;
    else {
      const key = unalias(frame.key)!;
      frame.node.pairs.push({ key: frame.key, name: key.kind === "scalar" ? key.text : "?", value: node });
      frame.key = undefined;
    }
  };

  for (const event of events) {
    switch (event.type) {
      case EVENT_ID.SCALAR: {
        const empty = event.valueStart < 0;
        const text = empty ? "" : getScalarValue(slice, event);
        const from = empty ? last : event.valueStart - quote(event);
        const to = empty ? last : event.valueEnd + quote(event);
        const node: YamlScalar = {
          kind: "scalar",
          start: shift + from,
          end: shift + to,
          value: empty && event.tagStart < 0 ? null : scalarValue(text, event, slice, meaning),
          text,
          style: event.style,
          contentStart: shift + (empty ? last : event.valueStart),
          contentEnd: shift + (empty ? last : event.valueEnd),
          indent: event.indent,
        };
        if (event.anchorStart >= 0) anchors.set(slice.slice(event.anchorStart, event.anchorEnd), node);
        if (!empty) last = to;
        emit(node);
        break;
      }
      case EVENT_ID.MAPPING:
      case EVENT_ID.SEQUENCE: {
        const flow = event.style === STYLE_FLOW;
        const at = shift + event.start;
        const node: YamlMap | YamlSeq =
          event.type === EVENT_ID.MAPPING
            ? { kind: "map", start: at, end: at, flow, pairs: [] }
            : { kind: "seq", start: at, end: at, flow, items: [] };
        if (event.anchorStart >= 0) anchors.set(slice.slice(event.anchorStart, event.anchorEnd), node);
        last = Math.max(last, event.start + (flow ? 1 : 0));
        stack.push({ node, key: undefined });
        break;
      }
      case EVENT_ID.ALIAS: {
        const target = anchors.get(slice.slice(event.anchorStart, event.anchorEnd));
        last = event.anchorEnd;
        if (target === undefined) break;
        emit({ kind: "alias", start: shift + event.anchorStart - 1, end: shift + event.anchorEnd, target });
        break;
      }
      case EVENT_ID.POP: {
        const frame = stack.pop();
        if (frame === undefined) break;
        if (frame.node.flow) last = closing(slice, last);
        frame.node.end = shift + last;
        emit(frame.node);
        break;
      }
    }
  }
  return root;
}

/** The offset behind the bracket that closes a flow collection whose last token ends at `from`. */
function closing(slice: string, from: number): number {
  for (let i = from; i < slice.length; i++) {
    const c = slice.charCodeAt(i);
    if (c === 93 || c === 125) return i + 1;
    if (c === 35) while (i + 1 < slice.length && slice.charCodeAt(i + 1) !== 10) i++;
  }
  return from;
}

/** Where each run of a scalar's text stands in the file. */
function scalarSegments(file: string, node: YamlScalar): Segment[] {
  const { text, contentStart, contentEnd } = node;
  if (file.slice(contentStart, contentEnd) === text) {
    return [{ inner: 0, length: text.length, outer: contentStart, outerLength: text.length }];
  }
  return (node.style === STYLE_LITERAL ? literalSegments(file, node) : undefined) ?? alignedSegments(file, node);
}

function literalSegments(file: string, node: YamlScalar): Segment[] | undefined {
  const { text, indent, contentStart, contentEnd } = node;
  const out: Segment[] = [];
  let inner = 0;
  let outer = contentStart;
  while (inner < text.length && outer < contentEnd) {
    let stop = outer;
    while (stop < contentEnd && file.charCodeAt(stop) !== 10 && file.charCodeAt(stop) !== 13) stop++;
    const from = Math.min(stop, outer + indent);
    const length = stop - from;
    if (!text.startsWith(file.slice(from, stop), inner)) return undefined;
    const crlf = file.charCodeAt(stop) === 13 && file.charCodeAt(stop + 1) === 10;
    const breaks = inner + length < text.length ? 1 : 0;
    if (crlf) {
      if (length > 0) out.push({ inner, length, outer: from, outerLength: length });
      if (breaks > 0) out.push({ inner: inner + length, length: 1, outer: stop, outerLength: 2 });
    } else if (length + breaks > 0) {
      out.push({ inner, length: length + breaks, outer: from, outerLength: length + breaks });
    }
    inner += length + breaks;
    outer = stop + (crlf ? 2 : 1);
  }
  return inner >= text.length ? out : undefined;
}

/** Folded and escaped text: characters that are equal stand at their place, others at the escape or fold that made them. */
function alignedSegments(file: string, node: YamlScalar): Segment[] {
  const { text, contentStart, contentEnd, style } = node;
  const out: Segment[] = [];
  let at = contentStart;
  let i = 0;
  const add = (inner: number, length: number, outer: number, outerLength: number): void => {
    const before = out[out.length - 1];
    if (
      before !== undefined &&
      length === outerLength &&
      before.length === before.outerLength &&
      before.outer + before.length === outer
    ) {
      out[out.length - 1] = {
        inner: before.inner,
        length: before.length + length,
        outer: before.outer,
        outerLength: before.outerLength + length,
      };
    } else out.push({ inner, length, outer, outerLength });
  };
  while (i < text.length && at < contentEnd) {
    const c = file[at]!;
    if (style === STYLE_DOUBLE && c === "\\") {
      const next = file[at + 1]!;
      if (next === "\n" || next === "\r") {
        at += 2;
        while (at < contentEnd && /\s/.test(file[at]!)) at++;
        continue;
      }
      const width = next === "x" ? 4 : next === "u" ? 6 : next === "U" ? 10 : 2;
      const units = next === "U" && text.codePointAt(i)! > 0xffff ? 2 : 1;
      add(i, units, at, width);
      i += units;
      at += width;
    } else if (style === STYLE_SINGLE && c === "'" && file[at + 1] === "'") {
      add(i, 1, at, 2);
      i++;
      at += 2;
    } else if (
      c === text[i] &&
      !(c === " " && /^[ \t]*[\r\n]/.test(file.slice(at, at + 200)) && style !== STYLE_LITERAL)
    ) {
      add(i, 1, at, 1);
      i++;
      at++;
    } else if (/\s/.test(c)) {
      let stop = at;
      while (stop < contentEnd && /\s/.test(file[stop]!)) stop++;
      let units = 0;
      while (i + units < text.length && (text[i + units] === " " || text[i + units] === "\n")) units++;
      if (units > 0) add(i, units, at, Math.max(1, stop - at));
      i += units;
      at = stop;
    } else {
      at++;
    }
  }
  return out.length > 0
    ? out
    : [{ inner: 0, length: text.length, outer: contentStart, outerLength: contentEnd - contentStart }];
}
