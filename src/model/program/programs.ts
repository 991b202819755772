/**
 * The programs of a contract: sets, their entries, their scripts, and the users that run them. Made from what the builder
 * found; scripts are read when somebody asks.
 */
import type { CodeFile } from "../../document/code.js";
import { parseJson } from "../../document/json.js";
import { type LuaDocument, parseLua } from "../../document/lua.js";
import { bytesOf } from "../../text/bytes.js";
import type { Span } from "../../text/source.js";
import type { Contract } from "../contract.js";
import { type InputFile, KeptWith } from "../input.js";
import type { Place } from "../place.js";
import type { AccessList } from "../redis/access.js";
import type { AclUser } from "../redis/acl.js";
import type { CommandTable } from "../redis/commands.js";
import { commandTable } from "../redis/servers.js";
import { sha256 } from "../redis/sha256.js";
import { list, type StringOrStrings } from "../settings.js";
import { catalogEntries, isProgramSet } from "./catalog.js";
import type { Descriptor } from "./descriptor/descriptor.js";
import { type CodeReading, readCode } from "./descriptor/read.js";
import { normal, samePath } from "./descriptor/spelling.js";
import { analyseScript, type ScriptEffects } from "./effects.js";
import { type KeySpecs, tableSpecs } from "./keyspecs.js";
import {
  type FieldMap,
  type Located,
  type ProgramSet as Manifest,
  type ManifestProgram,
  readProgramAgain,
  readProgramSet,
} from "./manifest.js";
import { sha1 } from "./sha1.js";

/** A file that holds descriptors, with how its field names map to the manifest's. */
export interface DescriptorSource {
  readonly input: InputFile;
  readonly map: Readonly<Record<string, string>>;
}

/** What the builder found for one entry of `programs:`, or for one group of inferred files. */
export interface ProgramSource {
  /** Index in `programs:` of the contract file; undefined: inferred. */
  readonly index: number | undefined;
  readonly manifest: InputFile | undefined;
  readonly scripts: readonly InputFile[];
  readonly descriptors: readonly DescriptorSource[];
  /** Files that descriptors import: only their constants count. */
  readonly imported: readonly InputFile[];
  readonly callers: readonly InputFile[];
  readonly sources: readonly InputFile[];
  readonly boundaries: readonly string[];
  readonly user: string | undefined;
  readonly keys: StringOrStrings | undefined;
  /** How the manifest calls our fields. */
  readonly map: FieldMap;
}

/** One program: what a manifest or catalog says of it, and its script. */
export interface Program {
  readonly set: ProgramSet;
  /** The entry of a program set; undefined where a catalog of another shape names the script. */
  readonly entry: ManifestProgram | undefined;
  /** For messages: the id, else the name of the entry. */
  readonly name: string;
  readonly file: Located<string> | undefined;
  /** Every digest that the entry states, with the name of its algorithm. */
  readonly digests: readonly { readonly algorithm: "sha1" | "sha256"; readonly stated: Located<string> }[];
  /** How many KEYS the entry declares. */
  readonly keyCount: Located<number> | undefined;
  /** The user that the entry itself names. */
  readonly user: Located<string> | undefined;
  /** undefined: the contract has no such file. */
  readonly script: LuaScript | undefined;
  /** The whole entry. */
  readonly at: Span;
}

export interface ProgramSet {
  readonly source: ProgramSource;
  readonly input: InputFile | undefined;
  /** undefined where there is no manifest, or one of another shape. */
  readonly manifest: Manifest | undefined;
  readonly programs: readonly Program[];
  /** The scripts that the set's patterns name. */
  readonly scripts: readonly LuaScript[];
  /** For messages: the set's name, else its file. */
  readonly title: string;
}

/** A user that runs programs, in one access list. */
export interface Runner {
  readonly name: string;
  readonly access: AccessList;
  /** undefined: the list lacks it. */
  readonly user: AclUser | undefined;
  /** Where somebody says that this user runs the programs; undefined where it is inferred. */
  readonly named: Place | Span | undefined;
}

// Documents and effects are the same for every contract and every build that holds the file.
const documents = new KeptWith<LuaDocument>();
const digests = new KeptWith<{ readonly sha1: string; readonly sha256: string }>();
const specsOf = new WeakMap<CommandTable, KeySpecs>();
const manifests = new KeptWith<Map<string, ManifestRead>>();
const kept = new KeptWith<Map<CommandTable, KeptEffects>>();
const readings = new KeptWith<KeptReading[]>();

interface KeptReading {
  readonly files: readonly InputFile[];
  readonly maps: string;
  readonly reading: CodeReading;
}
/** Readings kept for a file: it may stand in several sets. */
const MAX_READINGS = 8;

interface ManifestRead {
  readonly manifest: Manifest | undefined;
  readonly entries: readonly Omit<Program, "set" | "script">[];
  readonly faults: readonly { readonly message: string; readonly at: Span }[];
}

/** A program as a manifest lists it; what the manifest says is looked up when somebody asks. */
class ListedProgram implements Program {
  readonly set: ProgramSet;
  readonly script: LuaScript | undefined;
  readonly #read: ManifestRead["entries"][number];

  constructor(set: ProgramSet, script: LuaScript | undefined, read: ManifestRead["entries"][number]) {
    this.set = set;
    this.script = script;
    this.#read = read;
  }

  get entry(): ManifestProgram | undefined {
    return this.#read.entry;
  }

  get name(): string {
    return this.#read.name;
  }

  get file(): Located<string> | undefined {
    return this.#read.file;
  }

  get digests(): Program["digests"] {
    return this.#read.digests;
  }

  get keyCount(): Located<number> | undefined {
    return this.#read.keyCount;
  }

  get user(): Located<string> | undefined {
    return this.#read.user;
  }

  get at(): Span {
    return this.#read.at;
  }
}

/** A set as the contract lists it; what its manifest says is looked up when somebody asks. */
class ListedSet implements ProgramSet {
  readonly source: ProgramSource;
  readonly programs: readonly Program[];
  readonly scripts: readonly LuaScript[];
  readonly #read: ManifestRead | undefined;

  constructor(
    source: ProgramSource,
    programs: readonly Program[],
    scripts: readonly LuaScript[],
    read: ManifestRead | undefined,
  ) {
    this.source = source;
    this.programs = programs;
    this.scripts = scripts;
    this.#read = read;
  }

  get input(): InputFile | undefined {
    return this.source.manifest;
  }

  get manifest(): Manifest | undefined {
    return this.#read?.manifest;
  }

  get title(): string {
    return this.manifest?.name?.value ?? this.input?.file ?? "the scripts";
  }
}

interface KeptEffects {
  readonly effects: ScriptEffects;
  /** The included files that it was made with. */
  readonly includes: readonly { readonly name: string; readonly from: string; readonly input: InputFile | undefined }[];
}

/** A Lua file of the contract that Redis runs, or that such a file includes. */
export class LuaScript {
  readonly input: InputFile;
  readonly programs: Program[] = [];
  readonly #owner: ContractPrograms;
  #effects: ScriptEffects | undefined;

  constructor(input: InputFile, owner: ContractPrograms) {
    this.input = input;
    this.#owner = owner;
  }

  get file(): string {
    return this.input.file;
  }

  /** The name of the file without its folders. */
  get name(): string {
    return this.file.slice(this.file.lastIndexOf("/") + 1);
  }

  /** undefined: nobody loaded the parser, or the file cannot be read. */
  get document(): LuaDocument | undefined {
    return this.#owner.document(this.input);
  }

  /** What it can do; undefined where it cannot be read or does not parse. */
  get effects(): ScriptEffects | undefined {
    this.#effects ??= this.#owner.effects(this.input);
    return this.#effects;
  }

  /** Other scripts include it: it is no program of its own. */
  get fragment(): boolean {
    return this.#owner.included.has(this.input);
  }

  /** Lower-case hexadecimal digests of the file's bytes. */
  get digests(): { readonly sha1: string; readonly sha256: string } {
    this.input.touch();
    const { identity } = this.input;
    let known = digests.get(identity);
    if (known === undefined) {
      const { bytes, source } = identity;
      const raw = bytes === undefined ? bytesOf(source.text) : latin1(bytes);
      digests.set(identity, (known = { sha1: sha1(raw), sha256: sha256(raw) }));
    }
    return known;
  }

  /** The first line of the text, for what concerns the whole file. */
  get head(): Span {
    const { source } = this.input;
    return source.span(0, Math.max(0, source.text.search(/\r?\n|$/)));
  }
}

/** One code unit per byte. */
function latin1(bytes: Uint8Array): string {
  let out = "";
  for (let i = 0; i < bytes.length; i += 8192) out += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return out;
}

export class ContractPrograms {
  readonly #contract: Contract;
  readonly #sources: readonly ProgramSource[];
  readonly #scripts = new Map<InputFile, LuaScript>();
  readonly #byPath = new Map<string, InputFile>();
  readonly #runners = new Map<Program | LuaScript, readonly Runner[]>();
  #sets: readonly ProgramSet[] | undefined;
  #programs: readonly Program[] | undefined;
  #sorted: readonly LuaScript[] | undefined;
  #included: ReadonlySet<InputFile> | undefined;
  #table: CommandTable | undefined;

  constructor(contract: Contract, sources: readonly ProgramSource[]) {
    this.#contract = contract;
    this.#sources = sources;
    for (const file of contract.files) if (file.kind === "lua") this.#byPath.set(file.file, file);
  }

  /** The contract file declares the programs. */
  get declared(): boolean {
    return this.#contract.declared;
  }

  get sets(): readonly ProgramSet[] {
    this.#sets ??= this.#sources.map((source) => this.#set(source));
    return this.#sets;
  }

  get programs(): readonly Program[] {
    this.#programs ??= this.sets.flatMap((s) => s.programs);
    return this.#programs;
  }

  /** Every script of the contract, each once, in file order. */
  get scripts(): readonly LuaScript[] {
    void this.sets;
    this.#sorted ??= [...this.#scripts.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
    return this.#sorted;
  }

  /** The command table that scripts are judged for. */
  get table(): CommandTable {
    this.#table ??= commandTable(this.#contract.redis.version.id)!;
    return this.#table;
  }

  /** Files that scripts of the contract include. */
  get included(): ReadonlySet<InputFile> {
    if (this.#included === undefined) {
      const found = new Set<InputFile>();
      for (const { input } of this.#scripts.values()) {
        for (const { name } of this.document(input)?.includes ?? []) {
          const file = this.#include(name, input.file);
          if (file !== undefined && file !== input) found.add(file);
        }
      }
      this.#included = found;
    }
    return this.#included;
  }

  document(input: InputFile): LuaDocument | undefined {
    if (input.fault !== undefined) return undefined;
    input.touch(true);
    const { identity } = input;
    let document = documents.get(identity);
    if (document === undefined) {
      const parser = this.#contract.parsers.lua;
      if (parser === undefined) return undefined;
      documents.set(identity, (document = parseLua(identity.view, parser)));
    }
    return document;
  }

  effects(input: InputFile): ScriptEffects | undefined {
    const document = this.document(input);
    if (document?.body === undefined) return undefined;
    const { table } = this;
    let ofFile = kept.get(input.identity);
    if (ofFile === undefined) kept.set(input.identity, (ofFile = new Map()));
    const known = ofFile.get(table);
    if (known?.includes.every((i) => this.#lookedAt(i.name, i.from) === i.input)) return known.effects;
    let specs = specsOf.get(table);
    if (specs === undefined) specsOf.set(table, (specs = tableSpecs(table)));
    const includes: { name: string; from: string; input: InputFile | undefined }[] = [];
    const effects = analyseScript(document, specs, {
      include: (name, view) => {
        const from = view.source.file;
        const found = this.#include(name, from);
        includes.push({ name, from, input: found?.identity });
        return found === undefined ? undefined : this.document(found);
      },
    });
    ofFile.set(table, { effects, includes });
    return effects;
  }

  /** The code files among `inputs` with their trees; undefined where there is none, or nobody loaded the parsers. */
  trees(inputs: readonly InputFile[]): readonly { readonly input: InputFile; readonly code: CodeFile }[] | undefined {
    const out: { input: InputFile; code: CodeFile }[] = [];
    for (const input of new Set(inputs)) {
      if ((input.kind !== "java" && input.kind !== "typescript") || input.fault !== undefined) continue;
      const code = this.#contract.parsers.code[input.kind].get(input.source.text);
      if (code === undefined) return undefined;
      out.push({ input, code });
    }
    return out.length === 0 ? undefined : out;
  }

  /** What the code of a set's files says of its programs; undefined as for `trees`. */
  code(source: ProgramSource): CodeReading | undefined {
    const { descriptors } = source;
    const trees = this.trees([
      ...descriptors.map((d) => d.input),
      ...source.imported,
      ...source.callers,
      ...source.sources,
    ]);
    if (trees === undefined) return undefined;
    const files = trees.map((t) => t.input.identity);
    const maps = JSON.stringify(descriptors.map((d) => d.map));
    const list = readings.get(files[0]!) ?? [];
    const known = list.find(
      (k) => k.maps === maps && k.files.length === files.length && k.files.every((f, i) => f === files[i]),
    );
    if (known !== undefined) return known.reading;
    const reading = readCode(
      trees.map(({ input, code }) => {
        const descriptor = descriptors.find((d) => d.input === input);
        return { source: input.identity.source, code, describes: descriptor !== undefined, map: descriptor?.map ?? {} };
      }),
    );
    readings.set(files[0]!, [...list.slice(-MAX_READINGS + 1), { files, maps, reading }]);
    return reading;
  }

  /** The file that an include directive names, looked at by whoever wants the effects of the script that has it. */
  #lookedAt(name: string, from: string): InputFile | undefined {
    const found = this.#include(name, from);
    found?.touch();
    return found?.identity;
  }

  #include(name: string, from: string): InputFile | undefined {
    const wanted = relativePath(name, from);
    return this.#byPath.get(wanted) ?? this.#byPath.get(`${wanted}.lua`);
  }

  #script(input: InputFile): LuaScript {
    let script = this.#scripts.get(input);
    if (script === undefined) this.#scripts.set(input, (script = new LuaScript(input, this)));
    return script;
  }

  #set(source: ProgramSource): ProgramSet {
    const scripts = source.scripts.map((s) => this.#script(s));
    const { manifest: input } = source;
    const read = input === undefined || input.fault !== undefined ? undefined : manifestOf(input, source);
    const programs: Program[] = [];
    const set = new ListedSet(source, programs, scripts, read);
    for (const e of read?.entries ?? []) {
      const script = e.file === undefined ? undefined : this.#named(e.file.value, input!, source.scripts);
      const program = new ListedProgram(set, script, e);
      script?.programs.push(program);
      programs.push(program);
    }
    if (source.index === undefined) programs.push(...this.#ofCode(set));
    if (set.input === undefined) programs.push(...this.#ofNames(set));
    return set;
  }

  /**
   * Scripts whose file name says how many KEYS they take (`addJob-6.lua`), where nothing else does. The last number of a name is
   * that only where most scripts of the set use exactly as many.
   */
  #ofNames(set: ProgramSet): Program[] {
    const named = set.scripts.flatMap((script) => {
      const count = /[^/]-(\d{1,2})\.lua$/.exec(script.file)?.[1];
      return count === undefined ? [] : [{ script, count: Number(count) }];
    });
    if (named.length < 3) return [];
    const fits = named.filter(({ script, count }) => script.effects?.inputs("keys").max === count);
    if (fits.length * 2 <= named.length) return [];
    return named
      .filter(({ script }) => script.programs.length === 0)
      .map(({ script, count }) => {
        const program: Program = {
          set,
          entry: undefined,
          name: script.name,
          file: undefined,
          digests: [],
          keyCount: { value: count, at: script.head },
          user: undefined,
          script,
          at: script.head,
        };
        script.programs.push(program);
        return program;
      });
  }

  /** What code beside the scripts says of them, where no contract file declares it. */
  #ofCode(set: ProgramSet): Program[] {
    if (set.source.descriptors.length === 0) return [];
    const out: Program[] = [];
    for (const d of this.code(set.source)?.descriptors ?? []) {
      const script = scriptOf(d, set.scripts);
      if (script === undefined) continue;
      const stated = (["sha1", "sha256"] as const).flatMap((algorithm) => {
        const r = d[algorithm];
        // a digest that is computed is not written anywhere
        const isLiteral = r.state === "known" && r.origin.source.slice(r.origin).slice(1, -1).toLowerCase() === r.value;
        return isLiteral ? [{ algorithm, stated: { value: r.value, at: r.origin } }] : [];
      });
      if (stated.length === 0) continue;
      const keys = d.numberOfKeys;
      const program: Program = {
        set,
        entry: undefined,
        name: d.name,
        file: d.file.state === "known" ? { value: d.file.value, at: d.file.at } : undefined,
        digests: stated,
        keyCount: keys.state === "known" ? { value: keys.value, at: keys.at } : undefined,
        user: undefined,
        script,
        at: d.at,
      };
      script.programs.push(program);
      out.push(program);
    }
    return out;
  }

  /** The file that an entry names: relative to its manifest, else by its path's end among the set's scripts. */
  #named(name: string, manifest: InputFile, scripts: readonly InputFile[]): LuaScript | undefined {
    const exact = this.#byPath.get(relativePath(name, manifest.file));
    if (exact !== undefined) return this.#script(exact);
    const end = `/${name.replace(/^(?:\.?\/)+/, "")}`;
    const found = scripts.filter((s) => `/${s.file}`.endsWith(end));
    return found.length === 1 ? this.#script(found[0]!) : undefined;
  }

  /** What a JSON file of the contract cannot be read for. */
  faultsOf(set: ProgramSet): readonly { readonly message: string; readonly at: Span }[] {
    return set.input === undefined || set.input.fault !== undefined ? [] : manifestOf(set.input, set.source).faults;
  }

  /**
   * Who runs a program: the user that its entry or the contract file names, the one declared application user, or – inferred –
   * the one user of the access lists that may call scripts. Empty where it is not known.
   */
  runners(of: Program | LuaScript): readonly Runner[] {
    let found = this.#runners.get(of);
    if (found === undefined) this.#runners.set(of, (found = this.#findRunners(of)));
    return found;
  }

  #findRunners(of: Program | LuaScript): Runner[] {
    const contract = this.#contract;
    const lists = contract.redis.accessLists.filter((l) => l.plane.role === "data" && l.load !== undefined);
    const program = of instanceof LuaScript ? undefined : of;
    const source = program?.set.source;
    const own = program?.user;
    let names: string[] = [];
    let named: Place | Span | undefined;
    if (own !== undefined) {
      names = [own.value];
      named = own.at;
    } else if (source?.user !== undefined) {
      names = [source.user];
      named = source.index === undefined ? undefined : contract.declaration("programs", source.index, "user");
    } else if (contract.config.roles?.application !== undefined) {
      names = list(contract.config.roles.application).slice(0, 2);
      if (names.length > 1) names = [];
      named = contract.declaration("roles", "application");
    } else {
      const found = new Set<string>();
      for (const role of contract.redis.roleUsers("application")) {
        const { user } = role;
        if (user?.enabled !== true || !user.certain) continue;
        if (user.may("evalsha") || user.may("eval")) found.add(role.name);
      }
      if (found.size === 1) names = [...found];
    }
    return lists.flatMap((access) =>
      names.map((name) => ({ name, access, user: access.load!.users.get(name), named })),
    );
  }
}

/** The script that a descriptor names by its file; a bare digest, by its own name beside the script. */
function scriptOf(d: Descriptor, scripts: readonly LuaScript[]): LuaScript | undefined {
  const { file, holder } = d;
  const found = scripts.filter((s) =>
    file.state === "known"
      ? samePath(s.file, file.value)
      : d.shape === "constant" &&
        folderOf(s.file) === folderOf(d.at.source.file) &&
        normal(s.name.replace(/\.lua$/, "")) === normal(holder?.name ?? ""),
  );
  return found.length === 1 ? found[0] : undefined;
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function manifestOf(input: InputFile, source: ProgramSource): ManifestRead {
  const { identity } = input;
  let read = manifests.get(identity);
  if (read === undefined) manifests.set(identity, (read = new Map()));
  const declared = source.index !== undefined;
  const name = JSON.stringify([declared, source.map]);
  let known = read.get(name);
  if (known === undefined) read.set(name, (known = readManifest(identity, declared, source.map)));
  return input.watched(name, known);
}

/**
 * Reads the manifests of a file again after one change of its text, from `start` to `end` of the text before; only the entry that
 * holds the change is parsed. Says what was read of the file before and now, by the way of reading it.
 */
export function rereadManifests(
  before: InputFile,
  after: InputFile,
  start: number,
  end: number,
): readonly { readonly name: string; readonly before: object; readonly after: object }[] {
  const out: { name: string; before: object; after: object }[] = [];
  for (const [name, known] of manifests.get(before) ?? []) {
    const [declared, map] = JSON.parse(name) as [boolean, FieldMap];
    const now = readEntryAgain(known, before, after, start, end, map) ?? readManifest(after, declared, map);
    let read = manifests.get(after);
    if (read === undefined) manifests.set(after, (read = new Map()));
    read.set(name, now);
    out.push({ name, before: known, after: now });
  }
  return out;
}

function readEntryAgain(
  known: ManifestRead,
  before: InputFile,
  after: InputFile,
  start: number,
  end: number,
  map: FieldMap,
): ManifestRead | undefined {
  const { manifest } = known;
  if (manifest === undefined || manifest.problems.length > 0 || known.faults.length > 0) return undefined;
  const index = manifest.programs.findIndex(({ at }) => at.start < start && end < at.end);
  if (index < 0) return undefined;
  const program = manifest.programs[index]!;
  const { at } = program;
  const grown = after.source.text.length - before.source.text.length;
  const view = after.view.sub(at.start, at.end + grown);
  const document = parseJson(view);
  if (document.errors.length > 0 || document.root?.type !== "object") return undefined;
  const read = readProgramAgain(view, document.root, index, map, program);
  if (read === undefined) return undefined;
  const entry = entryOf(read.program, index);
  return {
    manifest: {
      view: after.view,
      name: manifest.name,
      programs: manifest.programs.with(index, read.program),
      problems: read.problems,
    },
    entries: known.entries.with(index, entry),
    faults: [],
  };
}

function entryOf(entry: ManifestProgram, index: number): ManifestRead["entries"][number] {
  const stated: { algorithm: "sha1" | "sha256"; stated: Located<string> }[] = [];
  if (entry.sha1 !== undefined) stated.push({ algorithm: "sha1", stated: entry.sha1 });
  if (entry.sha256 !== undefined) stated.push({ algorithm: "sha256", stated: entry.sha256 });
  const { keysAt } = entry;
  return {
    entry,
    name: entry.id?.value ?? entry.file?.value ?? `program ${index + 1}`,
    file: entry.file,
    digests: stated,
    keyCount: keysAt === undefined ? undefined : { value: entry.keys.length, at: keysAt },
    user: undefined,
    at: entry.at,
  };
}

function readManifest(input: InputFile, declared: boolean, map: FieldMap): ManifestRead {
  const document = parseJson(input.view);
  if (declared || isProgramSet(document)) {
    const manifest = readProgramSet(input.view, document.root, document.errors, map);
    const faults = manifest.problems.filter((p) => p.kind === "syntax").map((p) => ({ message: p.message, at: p.at }));
    const entries = manifest.programs.map(entryOf);
    return { manifest, entries, faults };
  }
  const faults = document.errors.map((e) => ({
    message: e.message,
    at: input.view.span(e.offset, e.offset + Math.max(1, e.length)),
  }));
  const entries = catalogEntries(document).map(
    (e): Omit<Program, "set" | "script"> => ({
      entry: undefined,
      name: e.name,
      file: e.file,
      digests: e.digests.map((stated) => ({
        algorithm: /[0-9a-f]{64}$/i.test(stated.value) ? "sha256" : "sha1",
        stated,
      })),
      keyCount: e.numberOfKeys,
      user: e.user,
      at: e.at,
    }),
  );
  return { manifest: undefined, entries, faults };
}

/** `../x` and `x` from the folder of a file, as a clean path. */
export function relativePath(name: string, from: string): string {
  if (/^(?:[^./]|\.+[^./])[^/]*$/.test(name)) return from.slice(0, from.lastIndexOf("/") + 1) + name;
  const parts = name.startsWith("/") ? [] : from.split("/").slice(0, -1);
  for (const part of name.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}

/** Whether a Lua text is a script for Redis: it calls commands or reads KEYS. */
export function isRedisScript(text: string): boolean {
  return /\b(?:redis|server)\s*\.\s*(?:p?call|register_function)\b|\bKEYS\s*\[/.test(text);
}

/** The names in the include directives of a Lua text, before anything parses it. */
export function includeNames(text: string): readonly string[] {
  if (!text.includes("include")) return [];
  const out: string[] = [];
  for (const found of text.matchAll(/^(?:-{2,3}[ \t]*@|#)include[ \t]+["'<]([^"'>\r\n]{1,200})["'>]/gm))
    out.push(found[1]!);
  return out;
}
