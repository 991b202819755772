/** Where the secret values of a file stand, so that no report shows them: better one value too many than one too few. */
import {
  parsedYaml,
  parseSlice,
  slices,
  unalias,
  YamlDocument,
  type YamlNode,
  type YamlScalar,
} from "../document/yaml.js";
import type { Source } from "../text/source.js";
import { findConfSecrets, findSecrets, findShellSecrets, isPlaceholder, isSecretName } from "./secrets.js";

/** A half-open range of UTF-16 offsets in a text. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

interface Slice extends Range {
  /** Found when somebody looks at the slice: a file may hold thousands of documents and a report a few of them. */
  secrets: readonly Range[] | undefined;
}

interface Reading {
  /** The documents of a YAML or JSON file; the whole of any other. */
  readonly slices: readonly Slice[];
  readonly hasDocuments: boolean;
  /** Those documents that were parsed already, by their beginning. */
  readonly documents: ReadonlyMap<number, YamlDocument>;
}

const NONE: readonly Range[] = [];

/**
 * What a manifest has that holds a secret behind a name, a kind, an option or in an embedded text; escapes can hide it.
 * Without any of it only what the text itself shows can be one.
 */
const SECRETIVE =
  /pass|secret|token|auth|cred|(?:api|private)[_.-]?key|user[ \t]|:\/\/|(?<![\w-])-a(?![\w-])|gh[pousr]_|glpat-|AKIA|xox[abprs]-|eyJ|AIza|\\/i;

const known = new WeakMap<Source, Reading>();

/** The ranges of secret values that touch `[from, to)`, in order and apart from each other; quotes around them are not in them. */
export function secretSpans(source: Source, from = 0, to = source.text.length): readonly Range[] {
  let reading = known.get(source);
  if (reading === undefined) known.set(source, (reading = read(source)));
  const { slices: all, hasDocuments, documents } = reading;
  const out: Range[] = [];
  for (let i = firstEndingAfter(all, from); i < all.length && all[i]!.start < to; i++) {
    const slice = all[i]!;
    if (slice.secrets === undefined) {
      const text = source.text.slice(slice.start, slice.end);
      const own = inSlice(source.file, text, slice.start);
      if (hasDocuments && SECRETIVE.test(text)) {
        const document = documents.get(slice.start) ?? parseSlice(source, slice.start, slice.end, "kubernetes");
        if (document instanceof YamlDocument) inDocument(document, own);
      }
      slice.secrets = own.length === 0 ? NONE : merged(own);
    }
    for (const range of touching(slice.secrets, from, to)) out.push(range);
  }
  return merged(out);
}

/** The first of ordered ranges that ends behind an offset; their number where none does. */
function firstEndingAfter(ranges: readonly Range[], at: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]!.end <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Those of ordered ranges that share an offset with `[from, to)`, or reach over it. */
function touching(ranges: readonly Range[], from: number, to: number): Range[] {
  const first = firstEndingAfter(ranges, from);
  let end = first;
  while (end < ranges.length && ranges[end]!.start < to) end++;
  return ranges.slice(first, end);
}

function read(source: Source): Reading {
  const { file, text } = source;
  const whole: Slice = { start: 0, end: text.length, secrets: undefined };
  const hasDocuments = !text.includes("\0") && /\.(?:ya?ml|json)(?:\.\w+)?$/i.test(file);
  return {
    slices: hasDocuments ? slices(text).map(([start, end]) => ({ start, end, secrets: undefined })) : [whole],
    hasDocuments,
    documents: new Map(parsedYaml(source)?.documents.map((document) => [document.start, document])),
  };
}

/** What any text shows, of one slice. */
function inSlice(file: string, text: string, start: number): Range[] {
  if (text.includes("\0")) return [];
  const out = inText(text);
  if (/(?:^|[./-])env(?:\.[\w-]+)*$|\.properties(?:\.\w+)?$/i.test(file)) settings(text, out);
  return start === 0 ? out : out.map((range) => ({ start: start + range.start, end: start + range.end }));
}

function merged(ranges: readonly Range[]): Range[] {
  const out: { start: number; end: number }[] = [];
  for (const { start, end } of [...ranges].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = out[out.length - 1];
    if (end <= start) continue;
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else out.push({ start, end });
  }
  return out;
}

// --- any text -----------------------------------------------------------------------------------------------------------

function inText(text: string): Range[] {
  const out: Range[] = [];
  const hit = (start: number, end: number): void => {
    const value = text.slice(start, end);
    const quoted = /^(["'])[\s\S]*\1$/.test(value) && value.length > 1;
    out.push(quoted ? { start: start + 1, end: end - 1 } : { start, end });
  };
  for (const { kind, start, end } of findSecrets(text)) {
    if (kind === "certificate") continue;
    if (kind !== "private-key") {
      hit(start, end);
      continue;
    }
    const close = text.indexOf("-----END ", end);
    out.push({ start: end, end: close < 0 ? text.length : close });
  }
  for (const { start, end } of [...findConfSecrets(text), ...findShellSecrets(text)]) hit(start, end);
  aclPasswords(text, out);
  commandLines(text, out);
  literals(text, out);
  return out;
}

const USER_LINE = /^[ \t]*user[ \t]+\S+[ \t]+(\S[^\r\n]*)$/gim;
const SETUSER = /\bacl["',\s]{1,20}setuser\b([^\r\n]*)/gi;
const PASSWORD_RULE = /(?<![^\s"'(,[])(?:(?<=["'])[><#!]([^"'\r\n]+)|[><#!](\S+?)(?=["'),;]{0,4}(?:\s|$)))/g;

/** Passwords and their hashes in ACL rules: `>hunter2`, `#5e88…`, also inside quotes. */
function aclPasswords(text: string, out: Range[]): void {
  for (const pattern of [USER_LINE, SETUSER]) {
    for (const line of text.matchAll(pattern)) {
      const base = line.index + line[0].length - line[1]!.length;
      for (const m of line[1]!.matchAll(PASSWORD_RULE)) {
        const value = (m[1] ?? m[2])!;
        // a template's expression may hold blanks
        if (isPlaceholder(value) || value.startsWith("{{")) continue;
        const end = base + m.index + m[0].length;
        out.push({ start: end - value.length, end });
      }
    }
  }
}

const CLIENT_LINE = /\b(?:redis|valkey)-(?:cli|benchmark)\b(?:\\\r?\n|[^\r\n])*/g;
const SHORT_OPTION = /(?<=[\s"'[,])-a["']?[\s,]{1,20}["']?([^\s"',\]]+)/g;
const LONG_OPTION =
  /(?<=^|[\s"'[,])--(?:pass|requirepass|masterauth|tls-(?:client-)?key-file-pass)["']?(?:[\s,]{1,20}|=)["']?([^\s"',\]]+)/gm;
const AUTH_LINE = /^[^\r\n]*?\b(?:redis-cli|valkey-cli|printf|echo|nc|ncat)\b[^\r\n]*/gm;
const AUTH = /\bAUTH[ \t]+(?:[^\s"'\\]+[ \t]+(?![|;&>-]))?([^\s"'\\;|&)]+)/gi;

/** `redis-cli -a hunter2`, `redis-server --requirepass hunter2`, `redis-cli AUTH hunter2`. */
function commandLines(text: string, out: Range[]): void {
  const hide = (part: string, base: number, values: RegExp): void => {
    for (const m of part.matchAll(values)) {
      if (isPlaceholder(m[1]!) || m[1]!.startsWith("$") || m[1]!.startsWith("{{")) continue;
      const end = base + m.index + m[0].length;
      out.push({ start: end - m[1]!.length, end });
    }
  };
  hide(text, 0, LONG_OPTION);
  for (const line of text.matchAll(CLIENT_LINE)) hide(line[0], line.index, SHORT_OPTION);
  for (const line of text.matchAll(AUTH_LINE)) hide(line[0], line.index, AUTH);
}

const LITERAL =
  /(?<![\w.-])([A-Za-z_][\w.-]{0,200})["']?[ \t]{0,20}(?:=>?|:|\()[ \t]{0,20}(["'`])([^"'`\r\n]{1,500})\2/g;

/** `password = "hunter2"`, `"apiKey": "…"`, `setPassword('…')` of any language. */
function literals(text: string, out: Range[]): void {
  for (const m of text.matchAll(LITERAL)) {
    if (!isSecretName(m[1]!) || isPlaceholder(m[3]!) || m[3]!.startsWith("$")) continue;
    const end = m.index + m[0].length - 1;
    out.push({ start: end - m[3]!.length, end });
  }
}

/** Lines of `.env` and `.properties` files. */
function settings(text: string, out: Range[]): void {
  for (const m of text.matchAll(/^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*[=:][ \t]*(\S[^\r\n]*)$/gm)) {
    const value = m[2]!.trimEnd();
    if (!isSecretName(m[1]!) || isPlaceholder(value)) continue;
    const start = m.index + m[0].length - m[2]!.length;
    out.push({ start, end: start + value.length });
  }
}

// --- YAML and JSON ------------------------------------------------------------------------------------------------------

const OPTION = /^(?:-a|--pass|--requirepass|--masterauth|--tls-(?:client-)?key-file-pass)$/;

/** Values of Secrets, values under secret names, `name`/`value` pairs, and texts in quoted strings. */
function inDocument(document: YamlDocument, out: Range[]): void {
  type Path = readonly (string | number)[];
  const todo: { node: YamlNode | undefined; path: Path; secret: boolean }[] = [
    { node: document.root, path: [], secret: false },
  ];
  const hide = (scalar: YamlScalar): void => {
    if (typeof scalar.value === "boolean" || scalar.value === null || isPlaceholder(scalar.text)) return;
    if (scalar.contentEnd > scalar.contentStart) out.push({ start: scalar.contentStart, end: scalar.contentEnd });
    else out.push({ start: scalar.start, end: scalar.end });
  };
  for (let item = todo.pop(); item !== undefined; item = todo.pop()) {
    const { path, secret } = item;
    // what an alias stands for is seen where it is written
    if (item.node === undefined || item.node.kind === "alias") continue;
    const { node } = item;
    if (node.kind === "scalar") {
      if (secret) hide(node);
      else if (typeof node.value === "string" && node.value.includes("\n")) {
        const view = document.view(path);
        for (const r of view === undefined ? [] : inText(view.text)) out.push(view!.span(r.start, r.end));
      }
    } else if (node.kind === "seq") {
      node.items.forEach((child, i) => {
        const before = i > 0 ? node.items[i - 1] : undefined;
        const option = before?.kind === "scalar" && OPTION.test(before.text);
        todo.push({ node: child, path: [...path, i], secret: secret || option });
      });
    } else {
      const text = (name: string): string | undefined => {
        const found = unalias(node.pairs.find((p) => p.name === name)?.value);
        return found?.kind === "scalar" ? found.text : undefined;
      };
      const kind = text("kind");
      const name = text("name");
      for (const pair of node.pairs) {
        const own =
          secret ||
          (kind === "Secret" && (pair.name === "data" || pair.name === "stringData")) ||
          (pair.name === "value" && name !== undefined && isSecretName(name)) ||
          (pair.value.kind === "scalar" && isSecretName(pair.name));
        todo.push({ node: pair.value, path: [...path, pair.name], secret: own });
      }
    }
  }
}
