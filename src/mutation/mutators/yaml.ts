/** Mutators of YAML and JSON documents: keys, items, scalars, selectors, whole documents, and the texts embedded in them. */
import {
  type Path,
  resolvePlain,
  type YamlDocument,
  type YamlMap,
  type YamlNode,
  type YamlPair,
  type YamlScalar,
  type YamlSeq,
} from "../../document/yaml.js";
import { textKind } from "../../model/build.js";
import type { InputFile } from "../../model/input.js";
import { asObject, isObject } from "../../model/value.js";
import type { Mutation, ValueChange } from "../mutant.js";
import { changesOf, isChosen } from "./change.js";
import { type TextLanguage, textMutations } from "./text.js";

const PLAIN = 1;
const SINGLE = 2;
const DOUBLE = 3;

/** Lists whose order has a meaning. */
const ORDERED: ReadonlySet<string> = new Set(["command", "args", "initContainers"]);
/** Keys whose mapping selects: emptied, it selects everything. */
const SELECTORS: ReadonlySet<string> = new Set([
  "matchLabels",
  "selector",
  "podSelector",
  "namespaceSelector",
  "labelSelector",
]);

export function* yamlMutations(file: InputFile): Generator<Mutation> {
  const { documents } = file.yaml;
  for (const [index, document] of documents.entries()) {
    const label = labelOf(document, index, documents.length);
    const walk = new Walk(file, document, index, label);
    yield* walk.mutations();
    if (documents.length > 1) yield* documentMutations(file, document, index, label);
  }
}

function labelOf(document: YamlDocument, index: number, count: number): string {
  const value = asObject(document.value);
  const { kind } = value;
  const { name } = asObject(value["metadata"]);
  if (typeof kind === "string" && typeof name === "string") return `${kind}/${name}:`;
  return count > 1 ? `#${index + 1}:` : "";
}

function* documentMutations(
  file: InputFile,
  document: YamlDocument,
  index: number,
  label: string,
): Generator<Mutation> {
  const { text } = file.source;
  const { start, end } = document;
  const slice = text.slice(start, end);
  // a slice begins with its own marker, save perhaps the first
  const marked = slice.startsWith("---");
  const from = marked ? start + 3 : start;
  yield { mutator: "remove-document", field: label, start: from, end, newText: "\n", document: index };
  const copy = marked ? slice : `---\n${slice}`;
  const newline = slice.endsWith("\n") ? "" : "\n";
  yield {
    mutator: "duplicate-document",
    field: label,
    start: end,
    end,
    newText: `${newline}${copy}`,
  };
}

class Walk {
  readonly #text: string;
  readonly #document: YamlDocument;
  readonly #index: number;
  readonly #label: string;
  readonly #kubernetes: boolean;
  /** Anchors, tags and merge keys tie places together: what a change means is then left to the parser. */
  readonly #plain: boolean;

  constructor(file: InputFile, document: YamlDocument, index: number, label: string) {
    this.#text = file.source.text;
    this.#document = document;
    this.#index = index;
    this.#label = label;
    this.#kubernetes = file.kind === "kubernetes";
    const slice = this.#text.slice(document.start, document.end);
    this.#plain = !/(?:^|[\s:,[{-])[&!*][\w!]/.test(slice) && !/<<\s*:/.test(slice);
  }

  *mutations(): Generator<Mutation> {
    const { root } = this.#document;
    if (root !== undefined) yield* this.#node(root, [], "", undefined, false);
  }

  #make(
    mutator: string,
    field: string,
    start: number,
    end: number,
    newText: string,
    change: ValueChange | undefined,
  ): Mutation {
    return {
      mutator,
      field: this.#label + (field === "" ? "/" : field),
      start,
      end,
      newText,
      document: this.#index,
      change: this.#plain ? change : undefined,
    };
  }

  *#node(node: YamlNode, path: Path, field: string, pair: YamlPair | undefined, flow: boolean): Generator<Mutation> {
    if (node.kind === "map") yield* this.#map(node, path, field, pair);
    else if (node.kind === "seq") yield* this.#seq(node, path, field, pair);
    else if (node.kind === "scalar") yield* this.#scalar(node, path, field, flow);
  }

  *#map(map: YamlMap, path: Path, field: string, pair: YamlPair | undefined): Generator<Mutation> {
    const names = new Set(map.pairs.map((p) => p.name));
    // a key with a question mark, or one that stands twice already, is left alone
    const simple =
      names.size === map.pairs.length && map.pairs.every((p) => p.key.kind === "scalar" && this.#isPlainKey(p));
    for (const [i, p] of map.pairs.entries()) {
      const at = `${field}/${p.name}`;
      const own: Path = [...path, p.name];
      if (simple) {
        yield this.#removePair(map, i, own, at, pair);
        const to = `${p.name}x`;
        if (!names.has(to)) {
          const key = this.#text.slice(p.key.start, p.key.end);
          const quoted = /["']$/.test(key);
          yield this.#make(
            "rename-key",
            at,
            quoted ? p.key.end - 1 : p.key.end,
            quoted ? p.key.end - 1 : p.key.end,
            "x",
            { kind: "rename", path: own, to },
          );
        }
        yield this.#duplicatePair(map, p, own, at);
      }
      if (SELECTORS.has(p.name) && p.value.kind === "map" && p.value.pairs.length > 0) {
        const from = this.#afterColon(p);
        yield this.#make("widen-selector", at, from, this.#endOf(p), this.#closed(" {}", this.#endOf(p)), {
          kind: "set",
          path: own,
          value: {},
        });
      }
      yield* this.#node(p.value, own, at, p, map.flow);
    }
  }

  #isPlainKey(p: YamlPair): boolean {
    const before = this.#text.slice(Math.max(0, p.key.start - 2), p.key.start);
    return (
      !/\?\s?$/.test(before) && !this.#text.slice(p.key.start, p.key.end).includes("\n") && p.key.end > p.key.start
    );
  }

  #afterColon(p: YamlPair): number {
    const colon = this.#text.indexOf(":", p.key.end);
    return colon < 0 ? p.key.end : colon + 1;
  }

  /** Where a pair's text ends: behind the colon where the value is empty. */
  #endOf(p: YamlPair): number {
    return Math.max(this.#nodeEnd(p.value), this.#afterColon(p));
  }

  #nodeEnd(node: YamlNode): number {
    if (node.kind === "map" && !node.flow && node.pairs.length > 0) return this.#endOf(node.pairs.at(-1)!);
    if (node.kind === "seq" && !node.flow && node.items.length > 0) {
      const last = node.items.at(-1)!;
      const end = this.#nodeEnd(last);
      // an empty item is its dash
      const dash = last.end <= last.start ? this.#text.indexOf("-", last.start) : -1;
      return dash >= 0 && /^\s*$/.test(this.#text.slice(last.start, dash)) ? dash + 1 : end;
    }
    return node.end;
  }

  /** A replacement of text that took its line end along gives it back. */
  #closed(text: string, end: number): string {
    return this.#text[end - 1] === "\n" ? `${text}\n` : text;
  }

  #removePair(map: YamlMap, i: number, path: Path, field: string, parent: YamlPair | undefined): Mutation {
    const p = map.pairs[i]!;
    const end = this.#endOf(p);
    const change: ValueChange = { kind: "remove", path };
    if (map.pairs.length === 1 && !map.flow) {
      if (parent !== undefined)
        return this.#make("remove-key", field, this.#afterColon(parent), end, this.#closed(" {}", end), change);
      return this.#make("remove-key", field, p.key.start, end, this.#closed("{}", end), change);
    }
    const next = map.pairs[i + 1];
    if (next !== undefined) return this.#make("remove-key", field, p.key.start, next.key.start, "", change);
    const before = map.pairs[i - 1];
    if (before === undefined) return this.#make("remove-key", field, p.key.start, end, "", change);
    // what stands below a block text may become part of it
    const block = hasBlockText(before.value);
    return this.#make(
      "remove-key",
      field,
      this.#endOf(before),
      end,
      this.#text[end - 1] === "\n" ? "\n" : "",
      block ? undefined : change,
    );
  }

  #duplicatePair(map: YamlMap, p: YamlPair, path: Path, field: string): Mutation {
    const end = this.#endOf(p);
    const own = this.#text.slice(p.key.start, end);
    if (map.flow)
      return this.#make("duplicate-key", field, end, end, `, ${own}`, {
        kind: "duplicate",
        path,
        key: p.name,
        at: end + 2,
      });
    const indent = " ".repeat(p.key.start - (this.#text.lastIndexOf("\n", p.key.start - 1) + 1));
    const head = own.endsWith("\n") ? indent : `\n${indent}`;
    const block = hasBlockText(p.value);
    return this.#make(
      "duplicate-key",
      field,
      end,
      end,
      head + own,
      block ? undefined : { kind: "duplicate", path, key: p.name, at: end + head.length },
    );
  }

  *#seq(seq: YamlSeq, path: Path, field: string, pair: YamlPair | undefined): Generator<Mutation> {
    const dashes = seq.flow ? [] : seq.items.map((item) => this.#dash(item));
    const removable = seq.flow || !dashes.includes(-1);
    for (const [i, item] of seq.items.entries()) {
      const at = `${field}[${itemName(item, i)}]`;
      const own: Path = [...path, i];
      const value = valueAt(this.#document.value, own);
      if (removable) {
        yield this.#removeItem(seq, dashes, i, own, at, pair);
        // nobody says a word of a command twice
        if (!ORDERED.has(pair?.name ?? "") || !isWord(item)) yield this.#duplicateItem(seq, dashes, i, path, at, value);
      }
      const next = seq.items[i + 1];
      const name = pair?.name ?? "";
      if (next !== undefined && ORDERED.has(name) && isWord(item) && isWord(next)) {
        const middle = this.#text.slice(item.end, next.start);
        const [a, b] = [this.#text.slice(item.start, item.end), this.#text.slice(next.start, next.end)];
        if (a !== b && !/\n$/.test(a) && !/\n$/.test(b))
          yield this.#make("swap-items", at, item.start, next.end, b + middle + a, {
            kind: "swap",
            path,
            first: i,
            second: i + 1,
          });
      }
      yield* this.#node(item, own, at, undefined, seq.flow);
    }
  }

  /** The offset of a block item's dash; -1 where something else stands before the item. */
  #dash(item: YamlNode): number {
    let at = item.start - 1;
    while (at >= 0 && /\s/.test(this.#text[at]!)) at--;
    return this.#text[at] === "-" ? at : -1;
  }

  #removeItem(
    seq: YamlSeq,
    dashes: readonly number[],
    i: number,
    path: Path,
    field: string,
    parent: YamlPair | undefined,
  ): Mutation {
    const item = seq.items[i]!;
    const end = this.#nodeEnd(item);
    const change: ValueChange = { kind: "remove", path };
    const start = seq.flow ? item.start : dashes[i]!;
    if (seq.items.length === 1 && !seq.flow) {
      const from = parent === undefined ? start : this.#afterColon(parent);
      return this.#make(
        "remove-item",
        field,
        from,
        end,
        this.#closed(parent === undefined ? "[]" : " []", end),
        change,
      );
    }
    const next = seq.items[i + 1];
    if (next !== undefined)
      return this.#make("remove-item", field, start, seq.flow ? next.start : dashes[i + 1]!, "", change);
    const before = seq.items[i - 1];
    if (before === undefined) return this.#make("remove-item", field, start, end, "", change);
    const block = hasBlockText(before);
    return this.#make(
      "remove-item",
      field,
      this.#nodeEnd(before),
      end,
      this.#text[end - 1] === "\n" ? "\n" : "",
      block ? undefined : change,
    );
  }

  #duplicateItem(
    seq: YamlSeq,
    dashes: readonly number[],
    i: number,
    list: Path,
    field: string,
    value: unknown,
  ): Mutation {
    const item = seq.items[i]!;
    const end = this.#nodeEnd(item);
    const change: ValueChange = { kind: "insert", path: list, index: i + 1, value };
    if (seq.flow) {
      const own = this.#text.slice(item.start, end);
      return this.#make("duplicate-item", field, end, end, `, ${own}`, change);
    }
    const dash = dashes[i]!;
    const indent = " ".repeat(dash - (this.#text.lastIndexOf("\n", dash - 1) + 1));
    const own = this.#text.slice(dash, end);
    const head = own.endsWith("\n") ? indent : `\n${indent}`;
    return this.#make("duplicate-item", field, end, end, head + own, hasBlockText(item) ? undefined : change);
  }

  *#scalar(node: YamlScalar, path: Path, field: string, flow: boolean): Generator<Mutation> {
    const raw = this.#text.slice(node.start, node.end);
    const language = this.#embedded(node, path);
    if (language !== undefined) {
      yield* this.#text_(node, path, field, language);
      return;
    }
    if (raw === "" || raw.includes("\n") || node.style > DOUBLE) return;
    const { value } = node;
    for (const [mutator, text] of scalarChanges(node, raw, String(path[path.length - 1]))) {
      const written = this.#write(text, node, typeof value === "string", flow);
      yield this.#make(mutator, field, node.start, node.end, written.text, {
        kind: "set",
        path,
        value: written.value,
      });
    }
    if (value === null) return;
    // the wrong type: a string for a number, a list for a string
    const wrong = typeof value === "string" ? `[${raw}]` : `"${raw}"`;
    yield this.#make("wrong-type", field, node.start, node.end, wrong, {
      kind: "set",
      path,
      value: typeof value === "string" ? [value] : raw,
    });
  }

  #write(text: string, node: YamlScalar, string: boolean, flow: boolean): { text: string; value: unknown } {
    if (!string) return { text, value: resolvePlain(text, this.#document.meaning) };
    if (node.style === SINGLE && !text.includes("'")) return { text: `'${text}'`, value: text };
    if (node.style === PLAIN && (flow ? /^[\w/][\w./@+-]*$/ : /^[\w/][\w./@:+-]*$/).test(text) && !text.endsWith(":")) {
      if (resolvePlain(text, this.#document.meaning) === text) return { text, value: text };
    }
    return { text: JSON.stringify(text), value: text };
  }

  /** The language of a text inside a document: a conf, an ACL or a script in a ConfigMap, the argument of `sh -c`. */
  #embedded(node: YamlScalar, path: Path): TextLanguage | undefined {
    if (!this.#kubernetes || typeof node.value !== "string") return undefined;
    const { value } = this.#document;
    if (path.length === 2 && path[0] === "data" && isObject(value) && value["kind"] === "ConfigMap") {
      const kind = textKind(String(path[1]), node.value);
      return kind === "data" || kind === "sentinel" ? "conf" : kind;
    }
    const last = path[path.length - 1];
    const list = path[path.length - 2];
    if (typeof last !== "number" || (list !== "command" && list !== "args")) return undefined;
    const words = valueAt(value, path.slice(0, -1));
    const before: unknown = Array.isArray(words) ? words[last - 1] : undefined;
    return typeof before === "string" && /^[-+][a-z]*c[a-z]*$/.test(before) && last >= 2 ? "shell" : undefined;
  }

  *#text_(node: YamlScalar, path: Path, field: string, language: TextLanguage): Generator<Mutation> {
    const view = this.#document.view(path);
    if (view === undefined) return;
    const block = node.style > DOUBLE;
    for (const m of textMutations(language, view.text)) {
      const written = this.#text.slice(view.outer(m.start), view.outer(m.end, true));
      // in a quoted text only what stands there as it is can be replaced by what needs no escape
      if (!block && (written !== view.text.slice(m.start, m.end) || !/^[\w./:@*~+ -]*$/.test(m.newText))) continue;
      const start = view.outer(m.start);
      const lines = m.end > m.start && view.text[m.end - 1] === "\n" && m.end < view.text.length;
      const end = Math.max(start, lines ? view.outer(m.end) : m.end > m.start ? view.outer(m.end, true) : start);
      const lineStart = this.#text.lastIndexOf("\n", start - 1) + 1;
      const indent = " ".repeat(Math.max(0, view.outer(view.text.lastIndexOf("\n", m.start - 1) + 1) - lineStart));
      yield this.#make(
        m.mutator,
        `${field} ${m.field}`,
        start,
        end,
        m.newText.replaceAll("\n", `\n${indent}`),
        undefined,
      );
    }
  }
}

function isWord(node: YamlNode): boolean {
  return node.kind === "scalar" && node.style <= DOUBLE;
}

/** Whether a node ends in a block text (`|`, `>`): what follows it may be taken for its continuation. */
function hasBlockText(node: YamlNode): boolean {
  if (node.kind === "scalar") return node.style > DOUBLE;
  if (node.kind === "map") return node.pairs.length > 0 && hasBlockText(node.pairs.at(-1)!.value);
  return node.kind === "seq" && node.items.length > 0 && hasBlockText(node.items.at(-1)!);
}

function itemName(item: YamlNode, index: number): string {
  if (item.kind === "scalar" && /^[\w./:@-]{1,40}$/.test(item.text)) return `${index}`;
  if (item.kind !== "map") return String(index);
  const named = item.pairs.find((p) => p.name === "name")?.value;
  return named?.kind === "scalar" && named.text !== "" ? named.text : String(index);
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const step of path) {
    if (at === null || typeof at !== "object") return undefined;
    at = (at as Record<string | number, unknown>)[step];
  }
  return at;
}

/** Other texts for a scalar, by its meaning. */
function* scalarChanges(node: YamlScalar, raw: string, name: string): Generator<[mutator: string, text: string]> {
  const { value } = node;
  if (typeof value === "boolean") yield ["flip-boolean", String(!value)];
  else if (typeof value === "number") {
    if (/^0[0-7]{2,}$/.test(raw)) yield ["widen-mode", raw.replace(/[0-7]$/, "7")];
    else if (isChosen(name)) {
      if (value !== 0) yield ["zero", "0"];
    } else if (Number.isSafeInteger(value) && /^-?\d+$/.test(raw)) {
      yield ["increment", String(value + 1)];
      if (value > 0) yield ["decrement", String(value - 1)];
    } else if (Number.isFinite(value)) yield ["increment", String(value * 2)];
  } else if (typeof value === "string" && value !== "") for (const c of changesOf(value)) yield [c.mutator, c.text];
}
