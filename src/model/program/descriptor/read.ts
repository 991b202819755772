/** Descriptors in the declared files: which of their objects describe a Lua program, and what they say of it. */
import type { CodeFile } from "../../../document/code.js";
import type { Source, Span } from "../../../text/source.js";
import { push } from "../../multimap.js";
import {
  ABSENT,
  type Descriptor,
  type DescriptorArgument,
  type DescriptorKey,
  type DescriptorResult,
  type Reading,
  type Unresolved,
} from "./descriptor.js";
import { type Called, Evaluator, type Made, reasonOf } from "./evaluate.js";
import { Modules } from "./modules.js";
import { commandOf, normal, type Vocabulary, wordOf } from "./spelling.js";
import { type Place, type RecordData, stringOf, type Value } from "./value.js";

export interface CodeInput {
  readonly source: Source;
  readonly code: CodeFile;
  /** Whether its objects are descriptors; other files only give constants. */
  readonly describes: boolean;
  /** The manifest's field → the code's, `keys.access` for a part of a key. */
  readonly map: Readonly<Record<string, string>>;
}

export interface CodeReading {
  readonly descriptors: readonly Descriptor[];
  readonly unresolved: readonly Unresolved[];
  readonly calls: readonly Called[];
  /** True: the files are too large, or parts of them could not be read; what is missing is unknown. */
  readonly partial: boolean;
}

/** Names that fields go by, in normal form; the first that is there counts. */
const FIELDS = {
  id: ["id", "programid", "scriptid", "identifier"],
  name: ["name", "programname", "scriptname", "commandname"],
  version: ["version", "programversion", "scriptversion", "semver"],
  file: [
    ...["file", "filename", "path", "filepath", "scriptfile", "scriptpath", "resource", "resourcepath", "location"],
    ...["luafile", "luapath", "classpath", "scriptlocation", "sourcefile"],
  ],
  sha1: [
    "sha1",
    "scriptsha1",
    "sha1hex",
    "sha1digest",
    "scriptsha",
    "evalsha",
    "sha",
    "digest",
    "hash",
    "scripthash",
    "checksum",
  ],
  sha256: ["sha256", "sha256hex", "sha256digest", "sourcesha256", "scriptsha256", "digest", "hash", "checksum"],
  text: [
    "lua",
    "script",
    "luascript",
    "scripttext",
    "text",
    "source",
    "content",
    "code",
    "body",
    "luasource",
    "scriptsource",
  ],
  numberOfKeys: ["numberofkeys", "numkeys", "keycount", "nkeys", "numberkeys", "keyscount"],
  keys: ["keys", "keyspecs", "keypatterns", "keydefinitions", "keydescriptors", "keyslots"],
  key: ["key", "withkey", "addkey", "keyspec"],
  argv: ["argv", "args", "arguments", "argspecs", "argumentspecs", "parameters", "params", "argvspecs"],
  arg: ["arg", "witharg", "addarg", "argument", "withargument", "addargument", "parameter", "param"],
  result: ["result", "resulttype", "returns", "returntype", "reply", "replytype", "resultschema", "output"],
  minimumRedisVersion: [
    ...["minimumredisversion", "minredisversion", "minimumredis", "minredis", "redisversion", "minimumversion"],
    ...["minversion", "requiredredisversion", "minimumserverversion"],
  ],
  retry: ["retry", "retryclass", "retrypolicy", "retrysafety", "replay", "replayclass"],
  commands: ["commands", "aclcommands", "rediscommands", "usedcommands", "requiredcommands", "commandset"],
  command: ["command", "withcommand", "addcommand"],
  slotRule: ["slotrule", "slot", "slotpolicy"],
  certainty: ["certainty", "certaintyclass"],
  guarantee: ["guarantee"],
  class: ["class", "programclass", "kind", "category"],
} as const;
type FieldName = keyof typeof FIELDS;

const KEY_PARTS = {
  name: ["name", "id", "key", "label"],
  pattern: ["pattern", "keypattern", "template", "format", "glob", "value"],
  access: ["access", "mode", "accessmode", "permission", "permissions", "usage", "flags"],
};
const ARGUMENT_PARTS = {
  name: ["name", "id", "arg", "label"],
  type: ["type", "argtype", "valuetype", "kind", "datatype"],
  unit: ["unit", "units", "measure"],
};
const RESULT_PARTS = {
  type: ["type", "kind", "resulttype", "shape"],
  values: ["values", "allowed", "allowedvalues", "oneof", "constants"],
  items: ["items", "elements", "itemtypes", "fields"],
};
/** Objects in a descriptor whose fields count as its own. */
const NESTED = [
  "script",
  "source",
  "digest",
  "digests",
  "spec",
  "descriptor",
  "program",
  "meta",
  "metadata",
  "definition",
  "checksums",
];

interface Part {
  readonly value: Value;
  readonly key: Place;
}
type Parts = Map<string, Part[]>;

const MAX_DESCRIPTORS = 5000;

/** Runs the files and reads the descriptors in them. */
export function readCode(inputs: readonly CodeInput[]): CodeReading {
  const run = new Evaluator(new Modules(inputs));
  run.run();
  const describing = new Map(inputs.filter((i) => i.describes).map((i) => [i.source, i.map]));
  const reader = new Reader(describing);
  for (const made of run.made) reader.record(made);
  for (const { name, value } of run.constants()) reader.constant(name, value);
  return {
    descriptors: reader.finish(),
    unresolved: reader.unresolved(),
    calls: run.called,
    partial: run.exhausted || inputs.some((i) => i.code.problems.length > 0),
  };
}

class Reader {
  readonly #maps: ReadonlyMap<Source, Readonly<Record<string, string>>>;
  readonly #found: { readonly descriptor: Descriptor; readonly data: RecordData }[] = [];
  readonly #unresolved: (Unresolved & { readonly data: RecordData })[] = [];
  readonly #inner = new Set<RecordData>();
  readonly #constants: Descriptor[] = [];
  /** Literals that a descriptor uses: a constant that holds one is none of its own. */
  readonly #used = new Set<string>();

  constructor(maps: ReadonlyMap<Source, Readonly<Record<string, string>>>) {
    this.#maps = maps;
  }

  record({ data, at, call }: Made): void {
    if (data.consumed === true || this.#found.length >= MAX_DESCRIPTORS) return;
    // made by a helper of another file for a call in this one
    const whole = call !== undefined && this.#maps.has(call.module.source) ? call : at;
    const map = this.#maps.get(whole.module.source);
    if (map === undefined) return;
    const parts = partsOf(data);
    const spring = springParts(data, parts);
    const descriptor = this.#read(data, parts, map, whole, spring);
    if (descriptor === undefined) return;
    if ("reason" in descriptor) this.#unresolved.push({ ...descriptor, data });
    else this.#found.push({ descriptor, data });
    // what it is made of is no descriptor itself
    for (const [name, f] of data.fields) if (NESTED.includes(normal(name))) this.#mark(f.value, data, 0);
    for (const list of parts.values()) for (const p of list) this.#mark(p.value, data, 0);
  }

  #mark(value: Value, owner: RecordData, depth: number): void {
    const { data } = value;
    if (depth > 6) return;
    if (data.kind === "list") for (const item of data.items) this.#mark(item, owner, depth + 1);
    if (data.kind !== "record" || data === owner || this.#inner.has(data)) return;
    this.#inner.add(data);
    for (const f of data.fields.values()) this.#mark(f.value, owner, depth + 1);
  }

  #read(
    data: RecordData,
    parts: Parts,
    map: Readonly<Record<string, string>>,
    whole: Place,
    spring: boolean,
  ): Descriptor | Unresolved | undefined {
    const get = (field: FieldName): Part | undefined => pick(parts, map, field, data);
    const all = (field: FieldName): Part[] => FIELDS[field].flatMap((n) => parts.get(n) ?? []);
    const open = data.open ? whole : undefined;

    let id = text(get("id"), open);
    const named = get("name");
    const holder = holderOf(data, named);
    const digests = digestsOf(get, parts, data, open);
    const source = sourceOf(get, parts, data, open);
    const numberOfKeys = countOf(get("numberOfKeys"), get("keys"), open);
    const keys = keysOf(get("keys"), all("key"), map, open);
    const argv = argumentsOf(get("argv"), all("arg"), map, open);
    const commands = commandsOf(get("commands"), all("command"), open);
    const version = text(get("version"), open);
    const result = resultOf(get("result"), map, open);
    const words = {
      retry: word("retry", get("retry"), open),
      slotRule: word("slotRule", get("slotRule"), open),
      certainty: word("certainty", get("certainty"), open),
      guarantee: word("guarantee", get("guarantee"), open),
      class: text(get("class"), open),
    };
    const minimumRedisVersion = text(get("minimumRedisVersion"), open);

    const there = (r: Reading<unknown>): boolean =>
      r.state === "known" || (r.state === "unknown" && open === undefined);
    if (get("file") !== undefined && source.file.state === "absent" && isPath(get("file")!)) return undefined;
    const strong =
      there(digests.sha1) || there(digests.sha256) || isScript(source.text) || there(source.file) || spring;
    const soft = [version, keys, argv, result, words.retry, commands, minimumRedisVersion].filter(there).length;
    const tellsKeys = there(numberOfKeys);
    const isId = there(id) || (named !== undefined && stringOf(named.value) !== undefined);
    const isEntry =
      (isId && strong) || (isId && soft >= 2) || soft >= 4 || (strong && soft >= 2) || (strong && tellsKeys);
    const isScriptObject =
      spring || (strong && (isScript(source.text) || source.file.state === "known" || digests.sha1.state === "known"));
    if (!isEntry && !isScriptObject) return undefined;
    // several arguments of a class that is not here: nothing is known but what its values say
    if (id.state === "absent" && named === undefined && data.args.length > 0 && !spring) id = ABSENT;

    const identified =
      id.state === "known" ||
      holder !== undefined ||
      source.file.state === "known" ||
      source.text.state === "known" ||
      digests.sha1.state === "known" ||
      digests.sha256.state === "known";
    const at = span(whole);
    if (!identified) {
      const first = [id, source.file, source.text, digests.sha1].find((r) => r.state === "unknown");
      return { at, reason: first?.state === "unknown" ? first.reason : "nothing says which program it is" };
    }
    for (const r of [digests.sha1, digests.sha256, source.text])
      if (r.state === "known") this.#used.add(keyOf(r.origin));
    const name =
      id.state === "known"
        ? id.value
        : (holder?.name ?? (source.file.state === "known" ? source.file.value : `the ${data.type ?? "script"}`));
    return {
      language: whole.module.code.language,
      shape: isEntry && !spring ? "entry" : "script",
      at,
      name,
      id,
      holder,
      version,
      file: source.file,
      sha1: digests.sha1,
      sha256: digests.sha256,
      text: source.text,
      numberOfKeys,
      keys,
      argv,
      result,
      minimumRedisVersion,
      commands,
      words,
    };
  }

  /** A bare digest or text under a name that says so. */
  constant(name: string, value: Value): void {
    if (!this.#maps.has(value.origin.module.source) || value.data.kind !== "string") return;
    const s = value.data.value;
    const isSha = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(s) && /sha|digest|hash/i.test(name);
    const isText = !isSha && looksLua(s);
    if ((!isSha && !isText) || this.#constants.length >= MAX_DESCRIPTORS) return;
    const bare = name.replace(
      /(?:^|[_\d]|(?<=[a-z]))(?:sha_?(?:1|256)?|digest|hash|script|lua|source|text)(?=$|[_A-Z])/gi,
      " ",
    );
    const at = span(value.origin);
    const known: Reading<string> = { state: "known", value: s, at, origin: at };
    this.#constants.push({
      language: value.origin.module.code.language,
      shape: "constant",
      at,
      name,
      id: ABSENT,
      holder: { name: bare.trim() === "" ? name : bare.trim(), at, strong: false },
      version: ABSENT,
      file: ABSENT,
      sha1: isSha && s.length === 40 ? known : ABSENT,
      sha256: isSha && s.length === 64 ? known : ABSENT,
      text: isText ? known : ABSENT,
      numberOfKeys: ABSENT,
      keys: ABSENT,
      argv: ABSENT,
      result: ABSENT,
      minimumRedisVersion: ABSENT,
      commands: ABSENT,
      words: { retry: ABSENT, slotRule: ABSENT, certainty: ABSENT, guarantee: ABSENT, class: ABSENT },
    });
  }

  finish(): Descriptor[] {
    const out = this.#found.filter((f) => !this.#inner.has(f.data)).map((f) => f.descriptor);
    const seen = new Set<string>();
    for (const c of this.#constants) {
      if (this.#used.has(keyOf(c.at)) || seen.has(keyOf(c.at))) continue;
      seen.add(keyOf(c.at));
      out.push(c);
    }
    return out.sort((a, b) =>
      a.at.source.file < b.at.source.file ? -1 : a.at.source.file > b.at.source.file ? 1 : a.at.start - b.at.start,
    );
  }

  unresolved(): Unresolved[] {
    // the same text, run again with its arguments, says more
    const resolved = new Set(this.#found.map((f) => keyOf(f.descriptor.at)));
    return this.#unresolved
      .filter((u) => !this.#inner.has(u.data) && !resolved.has(keyOf(u.at)))
      .map(({ at, reason }) => ({ at, reason }));
  }
}

function keyOf(at: Span): string {
  return `${at.source.file}:${at.start}`;
}

export function span(place: Place): Span {
  return place.module.source.span(place.start, place.end);
}

function looksLua(s: string): boolean {
  return /\bredis\s*\.\s*p?call\s*\(|\b(?:KEYS|ARGV)\s*\[/.test(s);
}

/** A file of another kind. */
function isPath(part: Part): boolean {
  const s = stringOf(part.value);
  return s !== undefined && /\.\w{1,5}$/.test(s) && !/\.lua$/i.test(s);
}

function isScript(r: Reading<string>): boolean {
  return r.state === "unknown" || (r.state === "known" && looksLua(r.value));
}

/** Fields by their normal form, with those of nested objects, and what calls on a builder gave. */
function partsOf(data: RecordData, into: Parts = new Map(), depth = 0): Parts {
  const add = (name: string, part: Part): void => {
    push(into, name, part);
  };
  for (const [name, field] of data.fields) {
    const { data: inner } = field.value;
    const known = normal(name);
    if (inner.kind === "record" && depth < 2 && NESTED.includes(known) && inner.type !== "RedisScript") {
      partsOf(inner, into, depth + 1);
    } else add(known, { value: field.value, key: field.key });
  }
  for (const c of data.calls) {
    const known = normal(c.name.replace(/^(?:set|with)(?=[A-Z])/, ""));
    const [first] = c.args;
    if (first === undefined) continue;
    const value: Value =
      c.args.length === 1 ? first : { data: { kind: "list", items: [...c.args], open: false }, at: c.at, origin: c.at };
    // a call that a condition decides says nothing certain
    const part: Value = c.sure
      ? value
      : { data: { kind: "unknown", reason: "a condition decides" }, at: c.at, origin: c.at };
    if (!into.has(known) || /^(?:with|add)?(?:key|arg|argument|command|parameter|param)$/.test(known))
      add(known, { value: part, key: c.at });
  }
  return into;
}

/** Spring's script objects: text or file, and the class of the answer. */
function springParts(data: RecordData, parts: Parts): boolean {
  if (data.type === undefined || !/^(?:Default)?RedisScript$/.test(data.type)) return false;
  const set = (name: string, value: Value): void => {
    parts.set(name, [{ value, key: value.at }]);
  };
  for (const a of data.args) {
    if (a.data.kind === "class") set("result", a);
    else set(a.data.kind === "file" ? "file" : "scripttext", a);
  }
  for (const [name, to] of [
    ["location", "file"],
    ["scriptsource", "scripttext"],
  ] as const) {
    const part = parts.get(name)?.[0];
    parts.delete(name);
    if (part !== undefined) set(part.value.data.kind === "file" ? "file" : to, part.value);
  }
  return true;
}

function pick(
  parts: Parts,
  map: Readonly<Record<string, string>>,
  field: FieldName,
  data: RecordData,
): Part | undefined {
  const mapped = map[field];
  const found = mapped === undefined ? undefined : atPath(parts, mapped, data);
  if (found !== undefined) return found;
  // a map beside the manifest may be about the manifest alone
  for (const name of FIELDS[field]) {
    const own = parts.get(name)?.[0];
    if (own !== undefined) return own;
  }
  return undefined;
}

function atPath(parts: Parts, mapped: string, data: RecordData): Part | undefined {
  let at: RecordData = data;
  const path = mapped.split(".");
  for (const [i, name] of path.entries()) {
    const field: Part | undefined =
      at.fields.get(name) ?? (i === path.length - 1 && at === data ? parts.get(normal(name))?.[0] : undefined);
    if (field === undefined) return undefined;
    if (i === path.length - 1) return field;
    if (field.value.data.kind !== "record") return undefined;
    at = field.value.data;
  }
  return undefined;
}

function known<T>(value: T, v: Value): Reading<T> {
  return { state: "known", value, at: span(v.at), origin: span(v.origin) };
}

function notKnown(v: Value): Reading<never> {
  return { state: "unknown", reason: reasonOf(v), at: span(v.at) };
}

function missing(open: Place | undefined): Reading<never> {
  return open === undefined ? ABSENT : { state: "unknown", reason: "it may be there", at: span(open) };
}

function text(part: Part | undefined, open: Place | undefined): Reading<string> {
  if (part === undefined) return missing(open);
  const { value } = part;
  const s = stringOf(value);
  if (s !== undefined) return known(s, value);
  return value.data.kind === "null" ? ABSENT : notKnown(value);
}

/** A word as it is spelled: a string, the name of a constant, a string that an enum's constant carries. */
function spellings(value: Value): { words: string[]; literal: boolean } {
  const { data } = value;
  if (data.kind === "string") return { words: [data.value], literal: true };
  if (data.kind === "symbol") return { words: [data.name], literal: false };
  if (data.kind === "class") return { words: [data.name], literal: false };
  if (data.kind === "record" && data.constant !== undefined) {
    const strings = [...data.fields.values()].map((f) => stringOf(f.value)).filter((s) => s !== undefined);
    return { words: [data.constant, ...strings], literal: false };
  }
  return { words: [], literal: false };
}

/** A word of a vocabulary. What is spelled outside it is known only as a string. */
function word(vocabulary: Vocabulary, part: Part | undefined, open: Place | undefined): Reading<string> {
  if (part === undefined) return missing(open);
  const { value } = part;
  if (value.data.kind === "null") return ABSENT;
  const { words, literal } = spellings(value);
  for (const w of words) {
    const found = wordOf(vocabulary, w);
    if (found !== undefined) return known(found, value);
  }
  return literal ? known(words[0]!, value) : notKnown(value);
}

function holderOf(data: RecordData, named: Part | undefined): Descriptor["holder"] {
  const name = named === undefined ? undefined : stringOf(named.value);
  if (name !== undefined && !/\s/.test(name)) return { name, at: span(named!.value.at), strong: true };
  const { hint } = data;
  return hint === undefined ? undefined : { name: hint.text, at: span(hint.at), strong: hint.strong };
}

const VAGUE = ["digest", "hash", "scripthash", "checksum"];
const HEX40 = /^(?:sha1?[-:])?[0-9a-f]{40}$/i;
const HEX64 = /^(?:sha256[-:])?[0-9a-f]{64}$/i;

function digestsOf(
  get: (field: FieldName) => Part | undefined,
  parts: Parts,
  data: RecordData,
  open: Place | undefined,
): { sha1: Reading<string>; sha256: Reading<string> } {
  let sha1 = text(get("sha1"), open);
  let sha256 = text(get("sha256"), open);
  // a hash may be one of anything
  const given = get("sha1");
  const vague = given !== undefined && VAGUE.some((n) => parts.get(n)?.[0] === given);
  if (vague && sha1.state === "known" && !/^(?:sha\d*[-:])?[0-9a-f]{32,}$/i.test(sha1.value)) sha1 = missing(open);
  // one name for both: the length says which it is
  if (sha1.state === "known" && HEX64.test(sha1.value)) sha1 = missing(open);
  if (sha256.state === "known" && !HEX64.test(sha256.value) && !parts.has("sha256")) sha256 = missing(open);
  if (get("sha1") === get("sha256") && sha1.state === "unknown") sha256 = ABSENT;
  if (sha1.state === "absent" && sha256.state === "absent") {
    // whatever they are called: nothing else looks like a digest
    for (const v of everyValue(parts, data)) {
      const s = stringOf(v);
      if (s === undefined) continue;
      if (HEX40.test(s) && sha1.state === "absent") sha1 = known(s, v);
      else if (HEX64.test(s) && sha256.state === "absent") sha256 = known(s, v);
    }
  }
  const bare = (r: Reading<string>): Reading<string> =>
    r.state === "known" ? { ...r, value: r.value.replace(/^sha\d*[-:]/i, "").toLowerCase() } : r;
  return { sha1: bare(sha1), sha256: bare(sha256) };
}

function everyValue(parts: Parts, data: RecordData): Value[] {
  return [...[...parts.values()].flat().map((p) => p.value), ...data.args];
}

function sourceOf(
  get: (field: FieldName) => Part | undefined,
  parts: Parts,
  data: RecordData,
  open: Place | undefined,
): { file: Reading<string>; text: Reading<string> } {
  const read = (part: Part | undefined): Reading<string> =>
    part?.value.data.kind === "file" ? known(part.value.data.path, part.value) : text(part, open);
  let file = read(get("file"));
  const given = get("text");
  let source =
    given?.value.data.kind === "function" || given?.value.data.kind === "record" ? missing(open) : text(given, open);
  if (file.state === "known" && !/\.lua$/i.test(file.value)) file = looksLua(file.value) ? file : missing(open);
  if (given?.value.data.kind === "file") {
    source = ABSENT;
    if (file.state !== "known") file = read(given);
  } else if (source.state === "known" && /^\S+\.lua$/i.test(source.value)) {
    if (file.state !== "known") file = source;
    source = ABSENT;
  } else if (
    source.state === "known" &&
    !looksLua(source.value) &&
    data.type === undefined &&
    !/\n|return\b/.test(source.value)
  ) {
    // a note, a label
    source = missing(open);
  }
  if (file.state === "absent") {
    const found = everyValue(parts, data).find((v) => v.data.kind === "file" || /^\S+\.lua$/i.test(stringOf(v) ?? ""));
    if (found !== undefined) file = known(found.data.kind === "file" ? found.data.path : stringOf(found)!, found);
  }
  return { file, text: source };
}

function countOf(part: Part | undefined, keys: Part | undefined, open: Place | undefined): Reading<number> {
  const given = part ?? (keys?.value.data.kind === "number" ? keys : undefined);
  if (given === undefined) return missing(open);
  if (given.value.data.kind === "number") return known(given.value.data.value, given.value);
  return given.value.data.kind === "null" ? ABSENT : notKnown(given.value);
}

/** The items of a list: of a field, or of calls that each gave one. */
function items(
  part: Part | undefined,
  calls: readonly Part[],
): { list: Value[]; open: boolean; at: Value } | Value | undefined {
  if (part !== undefined) {
    const { data } = part.value;
    if (data.kind === "list") return { list: data.items, open: data.open, at: part.value };
    if (data.kind === "record" && data.type === undefined && data.decl === undefined) {
      // by name
      const list = [...data.fields].map(([name, f]): Value => {
        const key: Value = { data: { kind: "string", value: name }, at: f.key, origin: f.key };
        return { data: { kind: "list", items: [key, f.value], open: false }, at: f.value.at, origin: f.value.origin };
      });
      return { list, open: data.open, at: part.value };
    }
    return part.value;
  }
  const [first] = calls;
  if (first === undefined) return undefined;
  return { list: calls.map((c) => c.value), open: calls.some((c) => c.value.data.kind === "unknown"), at: first.value };
}

/** Parts of a key or argument: by the names of its fields, by position for a call or a class that is not here. */
function partOf<K extends string>(
  value: Value,
  names: Readonly<Record<K, readonly string[]>>,
  map: Readonly<Record<string, string>>,
  prefix: string,
  order: readonly K[],
): { readonly [P in K]: Part | undefined } & { readonly open: Place | undefined } {
  const { data } = value;
  const out = { open: undefined as Place | undefined } as Record<string, unknown>;
  const positional = (values: readonly Value[]): void => {
    order.forEach((name, i) => {
      const v = values[i];
      out[name] = v === undefined ? undefined : { value: v, key: v.at };
    });
  };
  if (data.kind === "record") {
    const parts = partsOf(data);
    if (data.fields.size === 0 && data.args.length > 0) positional(data.args);
    for (const name of order) {
      const mapped = map[`${prefix}.${name}`];
      const wanted = mapped === undefined ? names[name] : [normal(mapped), ...names[name]];
      const found = wanted.map((n) => parts.get(n)?.[0]).find((p) => p !== undefined);
      if (found !== undefined) out[name] = found;
    }
    if (data.open) out.open = value.at;
  } else if (data.kind === "list") {
    const [key, inner] = data.items;
    if (data.items.length === 2 && inner?.data.kind === "record") {
      Object.assign(out, partOf(inner, names, map, prefix, order));
      out[order[0]!] ??= { value: key, key: key!.at };
    } else positional(data.items);
  }
  return out as never;
}

function keysOf(
  part: Part | undefined,
  calls: readonly Part[],
  map: Readonly<Record<string, string>>,
  open: Place | undefined,
): Reading<readonly DescriptorKey[]> {
  if (part?.value.data.kind === "number") return ABSENT;
  const found = items(part, calls);
  if (found === undefined) return missing(open);
  if (!("list" in found)) return found.data.kind === "null" ? ABSENT : notKnown(found);
  if (found.open) return { state: "unknown", reason: "there may be more of them", at: span(found.at.at) };
  const keys = found.list.map((value): DescriptorKey => {
    const s = stringOf(value);
    const at = span(value.at);
    if (s !== undefined) {
      const isPattern = /[:{*]/.test(s);
      return {
        name: isPattern ? ABSENT : known(s, value),
        pattern: isPattern ? known(s, value) : ABSENT,
        access: ABSENT,
        at,
      };
    }
    if (value.data.kind !== "record" && value.data.kind !== "list") {
      return { name: notKnown(value), pattern: notKnown(value), access: notKnown(value), at };
    }
    const p = partOf(value, KEY_PARTS, map, "keys", ["name", "pattern", "access"]);
    const access = word("access", p.access, p.open) as DescriptorKey["access"];
    return {
      name: text(p.name, p.open),
      pattern: text(p.pattern, p.open),
      access: access.state === "absent" ? flags(value) : access,
      at,
    };
  });
  return known(keys, found.at);
}

/** `{ read: true, write: false }`. */
function flags(value: Value): DescriptorKey["access"] {
  if (value.data.kind !== "record") return ABSENT;
  const flag = (name: string): boolean | undefined => {
    const v = value.data.kind === "record" ? value.data.fields.get(name)?.value.data : undefined;
    return v?.kind === "boolean" ? v.value : undefined;
  };
  const [read, write] = [flag("read") ?? flag("reads"), flag("write") ?? flag("writes")];
  if (read === undefined && write === undefined) return ABSENT;
  const made = `${read ? "R" : ""}${write ? "W" : ""}`;
  return made === "" ? ABSENT : known(made as "R", value);
}

function argumentsOf(
  part: Part | undefined,
  calls: readonly Part[],
  map: Readonly<Record<string, string>>,
  open: Place | undefined,
): Reading<readonly DescriptorArgument[]> {
  const found = items(part, calls);
  if (found === undefined) return missing(open);
  if (!("list" in found)) return found.data.kind === "null" ? ABSENT : notKnown(found);
  if (found.open) return { state: "unknown", reason: "there may be more of them", at: span(found.at.at) };
  const list = found.list.map((value): DescriptorArgument => {
    const s = stringOf(value);
    const at = span(value.at);
    if (s !== undefined) return { name: known(s, value), type: ABSENT, unit: ABSENT, at };
    if (value.data.kind !== "record" && value.data.kind !== "list") {
      return { name: notKnown(value), type: notKnown(value), unit: notKnown(value), at };
    }
    const p = partOf(value, ARGUMENT_PARTS, map, "argv", ["name", "type", "unit"]);
    return { name: text(p.name, p.open), type: word("type", p.type, p.open), unit: word("unit", p.unit, p.open), at };
  });
  return known(list, found.at);
}

function commandsOf(
  part: Part | undefined,
  calls: readonly Part[],
  open: Place | undefined,
): Reading<readonly Reading<string>[]> {
  const found = items(part, calls);
  if (found === undefined) return missing(open);
  if (!("list" in found)) {
    const s = stringOf(found);
    if (s === undefined) return found.data.kind === "null" ? ABSENT : notKnown(found);
    // `"GET SET"`, `"GET, SET"`
    return known(
      s
        .split(/[\s,;]+/)
        .filter((w) => w !== "")
        .map((w) => known(commandOf(w), found)),
      found,
    );
  }
  const list = found.list.flatMap((value): Reading<string>[] => {
    if (value.data.kind === "list" && calls.length > 0) return value.data.items.map((v) => commandWord(v));
    return [commandWord(value)];
  });
  if (found.open) list.push({ state: "unknown", reason: "there may be more of them", at: span(found.at.at) });
  return known(list, found.at);
}

function commandWord(value: Value): Reading<string> {
  const { words, literal } = spellings(value);
  const [name] = words;
  if (name === undefined) return notKnown(value);
  return known(commandOf(literal ? name : name.replace(/_/g, "|")), value);
}

/** Java classes of an answer, and what the client makes them of. */
const CLASSES: Readonly<Record<string, readonly string[]>> = {
  long: ["integer", "boolean"],
  integer: ["integer", "boolean"],
  int: ["integer", "boolean"],
  number: ["integer", "number"],
  bigint: ["integer"],
  boolean: ["boolean", "integer"],
  string: ["string"],
  bytebuffer: ["string"],
  list: ["array", "map"],
  arraylist: ["array", "map"],
  collection: ["array", "map"],
  map: ["map", "array"],
  multi: ["array", "map"],
  status: ["string"],
  value: ["string"],
  array: ["array", "map"],
};

function resultOf(
  part: Part | undefined,
  map: Readonly<Record<string, string>>,
  open: Place | undefined,
): Reading<DescriptorResult> {
  if (part === undefined) return missing(open);
  const { value } = part;
  const { data } = value;
  if (data.kind === "null") return ABSENT;
  const types = (p: Part | undefined): Reading<readonly string[]> => {
    if (p === undefined) return ABSENT;
    if (p.value.data.kind === "class") {
      const found = CLASSES[p.value.data.name.toLowerCase()];
      return found === undefined
        ? { state: "unknown", reason: "a class of its own", at: span(p.value.at) }
        : known(found, p.value);
    }
    const found = word("type", p, undefined);
    return found.state === "known" ? { ...found, value: [found.value] } : found;
  };
  if (data.kind === "record" && data.constant === undefined) {
    const p = partOf(value, RESULT_PARTS, map, "result", ["type", "values", "items"]);
    const list = (q: Part | undefined): Value[] | undefined =>
      q?.value.data.kind === "list" && !q.value.data.open ? q.value.data.items : undefined;
    const values = list(p.values)?.map((v) =>
      "value" in v.data && v.data.kind !== "text" ? v.data.value : v.data.kind === "null" ? null : undefined,
    );
    const itemWords = list(p.items)?.map((v) => word("type", { value: v, key: v.at }, undefined));
    const reading: DescriptorResult = {
      types: types(p.type),
      values:
        p.values === undefined
          ? ABSENT
          : values === undefined || values.includes(undefined)
            ? notKnown(p.values.value)
            : known(values as (string | number | boolean | null)[], p.values.value),
      items:
        p.items === undefined
          ? ABSENT
          : itemWords === undefined || itemWords.some((r) => r.state !== "known")
            ? notKnown(p.items.value)
            : known(
                itemWords.map((r) => (r.state === "known" ? r.value : "")),
                p.items.value,
              ),
    };
    return known(reading, value);
  }
  const own = types(part);
  return own.state === "known" ? known({ types: own, values: ABSENT, items: ABSENT }, value) : notKnown(value);
}
