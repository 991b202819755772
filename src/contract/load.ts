/** From paths to contracts: discovery, reading, grouping. The only part that knows globs and the file system's shape. */
import type { Input } from "../engine/result.js";
import { buildContract } from "../model/build.js";
import type { Contract } from "../model/contract.js";
import { type FileKind, InputFile, isTemplateName } from "../model/input.js";
import { importsOf } from "../model/program/descriptor/imports.js";
import { includeNames, relativePath } from "../model/program/programs.js";
import type { ContractConfig } from "../model/settings.js";
import { Source } from "../text/source.js";
import { classify } from "./classify.js";
import { CONFIG_NAMES, type ConfigFile, type ConfigProblem, NO_SETTING, readConfig } from "./config.js";
import { Glob, normalize } from "./glob.js";
import { basename, dirname, Fence, type Host, HostError, join, LEADS_OUT, relativeTo } from "./host.js";
import { inferContracts, inputEntry } from "./infer.js";

export interface LoadOptions {
  readonly ruleIds: readonly string[];
  readonly today: string;
  /** `--config FILE`, absolute. */
  readonly config?: string | undefined;
  readonly strictDiscovery?: boolean | undefined;
}

/** A group of contracts that share a root (the directory of the contract file, or the scanned path). */
export interface LoadedRoot {
  /** Absolute; diagnostics' files are relative to it. */
  readonly root: string;
  readonly config: ConfigFile | undefined;
  readonly contracts: readonly Contract[];
  readonly inputs: readonly Input[];
  /** Files under the path that look like contract files and belong to no contract (with `--strict-discovery`). */
  readonly unclaimed: readonly InputFile[];
}

export interface Loaded {
  readonly roots: readonly LoadedRoot[];
  /** The user's mistakes, ready to print: exit 2. */
  readonly faults: readonly string[];
  /** Those of the faults that have a place in a contract file, for editors. */
  readonly problems: readonly PlacedProblem[];
  readonly notes: readonly string[];
}

/** A fault in a contract file. `path` is absolute, the place is in its text. */
export interface PlacedProblem extends ConfigProblem {
  readonly path: string;
}

/** Files larger than this are named, not read: what is made of a manifest takes some fifty times its size. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Configurations and ACLs travel in ConfigMaps and Secrets of at most 1 MiB; a larger text is none that a server will get. */
const MAX_REDIS_BYTES = 1024 * 1024;
const MAX_FILES = 200_000;
/** Directories of tools, which hold nothing of a deployment. */
export const SKIPPED: ReadonlySet<string> = new Set([
  ".git",
  "node_modules",
  ".hg",
  ".svn",
  ".terraform",
  ".venv",
  "__pycache__",
]);

export class Reader {
  readonly host: Host;
  readonly root: string;
  readonly #files = new Map<string, InputFile>();
  readonly #walks = new Map<string, readonly string[]>();
  readonly #fence: Fence;
  readonly #links = new Set<string>();

  constructor(host: Host, root: string) {
    this.host = host;
    this.root = root;
    this.#fence = new Fence(host, root);
  }

  /** A file by its path relative to the root; read once. */
  file(relative: string, kind?: FileKind, templated?: boolean): InputFile | undefined {
    const key = `${relative}\n${kind ?? ""}\n${templated ?? ""}`;
    const known = this.#files.get(key);
    if (known !== undefined) return known;
    const path = join(this.root, relative);
    const file = this.leaves(relative)
      ? new InputFile(new Source(relative, ""), kind ?? classify(relative, ""), { fault: LEADS_OUT })
      : readInput(this.host, path, relative, kind, templated);
    if (file !== undefined) this.#files.set(key, file);
    return file;
  }

  /** Whether a symbolic link leads a path out of the root: it is not read. */
  leaves(relative: string): boolean {
    return this.#fence.leaves(join(this.root, relative));
  }

  /** Relative paths that a pattern names. */
  expand(pattern: string): readonly string[] {
    const glob = new Glob(normalize(pattern));
    if (!glob.magic) {
      const path = normalize(pattern);
      return this.host.stat(join(this.root, path)) === "file" && inside(path) ? [path] : [];
    }
    return this.walk(glob.base).filter((f) => glob.matches(f));
  }

  /** Links to directories that walks came by: they may lead in circles and are not followed. */
  get links(): readonly string[] {
    return [...this.#links];
  }

  walk(directory: string): readonly string[] {
    let files = this.#walks.get(directory);
    if (files === undefined) {
      const full = (f: string): string => (directory === "" ? f : `${directory}/${f}`);
      const links: string[] = [];
      files = this.leaves(directory) ? [] : walk(this.host, join(this.root, directory), links).map(full);
      for (const link of links) this.#links.add(full(link));
      this.#walks.set(directory, files);
    }
    return files;
  }
}

function inside(path: string): boolean {
  return !path.split("/").includes("..");
}

/** All files below a directory, sorted; directories of tools are left out. `links`: takes the links to directories. */
export function walk(host: Host, root: string, links: string[] = []): string[] {
  const out: string[] = [];
  const open: string[] = [""];
  while (open.length > 0 && out.length < MAX_FILES) {
    const directory = open.pop()!;
    for (const entry of host.list(join(root, directory)) ?? []) {
      const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
      if (entry.kind === "file") out.push(path);
      else if (entry.kind !== "directory" || SKIPPED.has(entry.name)) continue;
      else if (entry.link === true) links.push(path);
      else open.push(path);
    }
  }
  return out.sort();
}

export function readInput(
  host: Host,
  absolute: string,
  relative: string,
  kind?: FileKind,
  templated?: boolean,
): InputFile | undefined {
  let bytes: Uint8Array | undefined;
  const options = templated === undefined ? {} : { templated };
  try {
    bytes = host.read(absolute);
  } catch (error) {
    const why = error instanceof HostError ? error.message : String(error);
    return new InputFile(new Source(relative, ""), kind ?? "text", {
      ...options,
      fault: `the file cannot be read: ${why}`,
    });
  }
  if (bytes === undefined) return undefined;
  return inputOf(relative, bytes, kind, options);
}

// the same bytes are the same file: editors and mutants load a tree again and again with one file changed
const knownInputs = new WeakMap<Uint8Array, InputFile>();

export function inputOf(
  relative: string,
  bytes: Uint8Array,
  kind: FileKind | undefined,
  options: { templated?: boolean } = {},
): InputFile {
  const known = knownInputs.get(bytes);
  if (
    known !== undefined &&
    known.file === relative &&
    (kind === undefined || known.kind === kind) &&
    (options.templated === undefined || known.templated === options.templated)
  )
    return known;
  const made = makeInput(relative, bytes, kind, options);
  knownInputs.set(bytes, made);
  return made;
}

// making one costs ten times what it takes to read a manifest
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function makeInput(
  relative: string,
  bytes: Uint8Array,
  kind: FileKind | undefined,
  options: { templated?: boolean },
): InputFile {
  const tooLarge = (limit: number, found: FileKind): InputFile => {
    const [size, most] = [bytes.length, limit].map((n) => Math.ceil((n / 1024 / 1024) * 10) / 10);
    const fault = `the file has ${size} MiB; at most ${most} MiB are read`;
    return new InputFile(new Source(relative, ""), found, { ...options, fault });
  };
  if (bytes.length > MAX_BYTES) return tooLarge(MAX_BYTES, kind ?? classify(relative, ""));
  let text: string;
  let fault: string | undefined;
  try {
    text = UTF8.decode(bytes);
  } catch {
    text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    fault = "the file is not valid UTF-8";
  }
  if (fault === undefined && text.includes("\0") && kind !== "acl" && kind !== "conf")
    fault = "the file is binary: it holds NUL bytes";
  const found = kind ?? classify(relative, text);
  if ((found === "conf" || found === "acl") && bytes.length > MAX_REDIS_BYTES) return tooLarge(MAX_REDIS_BYTES, found);
  // a text that is UTF-8 says what its bytes are: holding both would double what a large tree takes
  return new InputFile(new Source(relative, text), found, fault === undefined ? options : { ...options, bytes, fault });
}

/** Loads what a list of paths stands for. `paths` are absolute. */
export function load(host: Host, paths: readonly string[], options: LoadOptions): Loaded {
  const faults: string[] = [];
  const notes: string[] = [];
  // paths of one contract file or one undeclared directory are one load: a hook passes every file of a commit
  const wanted = new Map<string, { readonly found: Found; readonly focuses: string[] }>();
  for (const path of paths) {
    const what = host.stat(path);
    if (what === undefined) {
      faults.push(`there is no file or directory ${path}`);
      continue;
    }
    for (const found of locate(host, path, what, options)) {
      const known = wanted.get(found.key);
      if (known === undefined) wanted.set(found.key, { found, focuses: [found.focus] });
      else known.focuses.push(found.focus);
    }
  }
  const roots: LoadedRoot[] = [];
  const problems: PlacedProblem[] = [];
  for (const { found, focuses } of wanted.values()) {
    const result =
      found.config === undefined
        ? inferRoot(host, found, focuses, options)
        : declaredRoot(host, found.config, focuses, options, found.within);
    if ("faults" in result) {
      faults.push(...result.faults);
      for (const problem of result.problems) problems.push({ path: found.config!, ...problem });
    } else {
      if (result.contracts.length === 0) {
        const more = focuses.length > 1 ? ` and ${focuses.length - 1} more` : "";
        notes.push(`nothing to check in ${found.asked}${more}: no Redis workload, configuration, ACL or program found`);
      }
      roots.push(result);
    }
  }
  return { roots, faults, problems, notes };
}

interface Found {
  readonly key: string;
  /** Absolute path of the contract file. */
  readonly config: string | undefined;
  readonly root: string;
  /** The path that was asked for: only contracts that have a file there are wanted. */
  readonly focus: string;
  /** What the contract file must lie in, links resolved. */
  readonly within: string;
  /** Directories below that have contract files of their own. */
  readonly claimed: readonly string[];
  /** The path as it was given, for notes. */
  readonly asked: string;
}

/** Which contract files and which undeclared tree a path stands for. */
function locate(host: Host, path: string, what: "file" | "directory", options: LoadOptions): Found[] {
  const declared = (config: string, focus: string, within = dirname(config)): Found => ({
    key: config,
    config,
    root: dirname(config),
    within,
    focus,
    claimed: [],
    asked: path,
  });
  if (options.config !== undefined) return [declared(options.config, path)];
  if (what === "file" && CONFIG_NAMES.includes(basename(path))) return [declared(path, dirname(path))];
  const start = what === "file" ? dirname(path) : path;
  const above = configAbove(host, start);
  if (above !== undefined) {
    const config = declared(above, path);
    if (what === "file" || dirname(above) === start)
      return [config, ...(what === "file" ? [] : below(host, start).map((c) => declared(c, dirname(c), start)))];
    const touches = declaredTouches(host, above, path, options);
    if (touches) return [config];
  }
  const undeclared = { key: `infer:${start}`, config: undefined, root: start, within: start, focus: path, asked: path };
  if (what === "file") return [{ ...undeclared, claimed: [] }];
  const configs = below(host, start).map((c) => declared(c, dirname(c), start));
  return [...configs, { ...undeclared, claimed: configs.map((c) => c.root) }];
}

function configAbove(host: Host, start: string): string | undefined {
  for (let at = start; ; at = dirname(at)) {
    for (const name of CONFIG_NAMES) if (host.stat(join(at, name)) === "file") return join(at, name);
    if (at === "/" || host.stat(join(at, ".git")) !== undefined) return undefined;
  }
}

function below(host: Host, start: string): string[] {
  return walk(host, start)
    .filter((f) => f.includes("/") && CONFIG_NAMES.includes(basename(f)))
    .map((f) => join(start, f));
}

function declaredTouches(host: Host, config: string, path: string, options: LoadOptions): boolean {
  const result = declaredRoot(host, config, [path], options);
  return "faults" in result || result.contracts.length > 0;
}

function printProblem(file: string, problem: ConfigProblem): string {
  const { line, column } = problem.at.source.position(problem.at.start);
  return `${file}:${line}:${column}: ${problem.message}`;
}

interface Faulty {
  readonly faults: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

function declaredRoot(
  host: Host,
  path: string,
  focuses: readonly string[],
  options: LoadOptions,
  within = dirname(path),
): LoadedRoot | Faulty {
  const root = dirname(path);
  const name = basename(path);
  // a file that was named is read wherever it lies; one that was found is part of the tree
  const strange = options.config === undefined && new Fence(host, within).leaves(path);
  if (strange)
    return {
      faults: [`${path}: ${LEADS_OUT}`],
      problems: [{ message: LEADS_OUT, at: new Source(name, "").span(0, 0) }],
    };
  const file = readInput(host, path, name, "yaml");
  if (file === undefined) return { faults: [`there is no contract file ${path}`], problems: [] };
  if (file.fault !== undefined)
    return { faults: [`${path}: ${file.fault}`], problems: [{ message: file.fault, at: file.source.span(0, 0) }] };
  const { config, problems } = readConfig(file.source, options.ruleIds);
  if (config === undefined) return { faults: problems.map((p) => printProblem(path, p)), problems };
  const reader = new Reader(host, root);
  const faults: ConfigProblem[] = [];
  const contracts: Contract[] = [];
  const inputs = new Map<string, Input>();
  inputs.set(name, { file: name, kind: "contract", contract: undefined });
  const claimed = new Set<string>();
  const wanted = focuses.map((focus) => relativeTo(root, focus) ?? "");
  const whole = wanted.some((w) => w === "" || w === name);
  for (const [contractName, contract] of config.contracts) {
    const collected = collect(reader, config, contractName, contract, faults);
    for (const f of collected.files) claimed.add(f.file);
    const touches =
      whole || collected.files.some((f) => wanted.some((w) => f.file === w || f.file.startsWith(`${w}/`)));
    if (!touches) continue;
    for (const f of collected.files) inputs.set(f.file, inputEntry(f, contractName));
    contracts.push(
      buildContract({
        name: contractName,
        declared: true,
        config: contract,
        configDocument: config.document,
        configPath: ["contracts", contractName],
        files: collected.files,
        match: collected.match,
        today: options.today,
        setting: config.setting,
      }),
    );
  }
  if (faults.length > 0) return { faults: faults.map((p) => printProblem(path, p)), problems: faults };
  const unclaimed = options.strictDiscovery === true ? findUnclaimed(reader, config, claimed) : [];
  return { root, config, contracts, inputs: [...inputs.values()], unclaimed };
}

function findUnclaimed(reader: Reader, config: ConfigFile, claimed: ReadonlySet<string>): InputFile[] {
  const out: InputFile[] = [];
  for (const path of reader.walk("")) {
    if (claimed.has(path) || CONFIG_NAMES.includes(basename(path)) || config.ignore.some((g) => g.matches(path)))
      continue;
    if (!/\.(ya?ml|json|conf|acl|lua|properties)(\.\w+)?$/i.test(path)) continue;
    const file = reader.file(path);
    if (file === undefined || file.fault !== undefined) continue;
    if (["kubernetes", "conf", "acl", "lua"].includes(file.kind)) out.push(file);
  }
  return out;
}

interface Declared {
  readonly pattern: string;
  readonly path: readonly (string | number)[];
  readonly kind: FileKind | undefined;
}

/** The patterns of a contract with the kind of file that each names. */
function declaredPatterns(contract: ContractConfig): Declared[] {
  const out: Declared[] = [];
  const add = (value: unknown, path: (string | number)[], kind: FileKind | undefined): void => {
    if (typeof value === "string") {
      if (!/^ConfigMap\/[^/]+(#|$)/.test(value)) out.push({ pattern: value, path, kind });
    } else if (Array.isArray(value)) {
      value.forEach((v, i) => {
        add(v, [...path, i], kind);
      });
    } else if (value !== null && typeof value === "object" && "file" in value) add(value.file, [...path, "file"], kind);
    else if (value !== null && typeof value === "object" && "files" in value)
      add(value.files, [...path, "files"], kind);
  };
  add(contract.kubernetes?.manifests, ["kubernetes", "manifests"], "kubernetes");
  for (const role of ["data", "sentinel"] as const) {
    add(contract.planes?.[role]?.config, ["planes", role, "config"], undefined);
    add(contract.planes?.[role]?.acl, ["planes", role, "acl"], undefined);
  }
  add(contract.images?.file, ["images", "file"], "properties");
  (contract.programs ?? []).forEach((program, i) => {
    add(program.manifest, ["programs", i, "manifest"], "json");
    add(program.scripts, ["programs", i, "scripts"], "lua");
    add(program.descriptors, ["programs", i, "descriptors"], undefined);
    add(program.callers, ["programs", i, "callers"], undefined);
    add(program.sources, ["programs", i, "sources"], undefined);
  });
  for (const key of ["readiness", "metrics", "evidence", "sources", "readme"]) {
    add(contract.registries?.[key], ["registries", key], undefined);
  }
  ((contract.registries?.["facts"] ?? []) as unknown[]).forEach((fact, i) => {
    add((fact as { file?: unknown }).file, ["registries", "facts", i, "file"], "text");
  });
  add(contract.application?.files, ["application", "files"], undefined);
  add(contract.workflows?.files, ["workflows", "files"], "yaml");
  for (const key of ["versions", "scripts", "kubeconfig", "cloudInit", "transient"])
    add(contract.lab?.[key], ["lab", key], undefined);
  add(contract.packets, ["packets"], "markdown");
  return out;
}

function collect(
  reader: Reader,
  config: ConfigFile,
  name: string,
  contract: ContractConfig,
  faults: ConfigProblem[],
): { files: InputFile[]; match: (pattern: string) => readonly InputFile[] } {
  const byPath = new Map<string, InputFile>();
  const byPattern = new Map<string, InputFile[]>();
  const templates = contract.templates;
  const globs = Array.isArray(templates) ? templates.map((t: string) => new Glob(t)) : [];
  for (const { pattern, path, kind } of declaredPatterns(contract)) {
    const place = config.document.locate(["contracts", name, ...path]);
    if (normalize(pattern).startsWith("/") || !inside(normalize(pattern))) {
      faults.push({ message: `"${pattern}" leaves the directory of the contract file`, at: place });
      continue;
    }
    const paths = reader.expand(pattern).filter((p) => !config.ignore.some((g) => g.matches(p)));
    if (paths.length === 0) {
      const base = new Glob(normalize(pattern)).base;
      const message = reader.leaves(base)
        ? `"${pattern}" leaves the directory of the contract file: "${base}" is a symbolic link out of it`
        : `"${pattern}" matches no file under ${reader.root}`;
      faults.push({ message, at: place });
    }
    const files: InputFile[] = [];
    for (const p of paths) {
      const templated = templates === true || globs.some((g) => g.matches(p)) || isTemplateName(p);
      const plane = /^planes\/\w+\/(config|acl)/.exec(path.join("/"))?.[1];
      const wanted = plane === "acl" ? planeKind(p, "acl") : plane === "config" ? planeKind(p, "conf") : kind;
      const file = byPath.get(p) ?? reader.file(p, wanted, templated);
      if (file === undefined) continue;
      byPath.set(p, file);
      files.push(file);
    }
    byPattern.set(pattern, [...(byPattern.get(pattern) ?? []), ...files]);
  }
  for (const role of ["data", "sentinel"] as const) {
    const plane = contract.planes?.[role];
    if (plane?.config === undefined || plane.acl !== undefined) continue;
    for (const conf of byPattern.get(plane.config) ?? []) {
      const path = conf.kind === "conf" ? aclFileOf(reader, conf) : undefined;
      if (path === undefined || byPath.has(path)) continue;
      const file = reader.file(
        path,
        "acl",
        templates === true || globs.some((g) => g.matches(path)) || isTemplateName(path),
      );
      if (file !== undefined) byPath.set(path, file);
    }
  }
  addScripts(reader, contract, byPath, byPattern);
  addImports(reader, contract, byPath, byPattern);
  const files = [...byPath.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
  return { files, match: (pattern) => byPattern.get(pattern) ?? [] };
}

const MAX_INCLUDED = 2000;

/** Scripts that a manifest names where no pattern does, and what scripts include. */
function addScripts(
  reader: Reader,
  contract: ContractConfig,
  byPath: Map<string, InputFile>,
  byPattern: ReadonlyMap<string, readonly InputFile[]>,
): void {
  const add = (path: string): InputFile | undefined => {
    const known = byPath.get(path);
    if (known !== undefined) return known;
    const file = inside(path) ? reader.file(path, "lua") : undefined;
    if (file !== undefined) byPath.set(path, file);
    return file;
  };
  for (const { manifest, scripts } of contract.programs ?? []) {
    if (manifest === undefined || scripts !== undefined) continue;
    for (const file of byPattern.get(manifest) ?? []) {
      for (const name of file.source.text.match(/"[^"\\\n]{1,300}\.lua"/g) ?? []) {
        add(relativePath(name.slice(1, -1), file.file));
      }
    }
  }
  const open = [...byPath.values()].filter((f) => f.kind === "lua");
  for (let file = open.pop(), left = MAX_INCLUDED; file !== undefined && left > 0; file = open.pop()) {
    for (const name of includeNames(file.source.text)) {
      left--;
      const wanted = relativePath(name, file.file);
      if (byPath.has(wanted) || byPath.has(`${wanted}.lua`)) continue;
      const found = add(wanted) ?? add(`${wanted}.lua`);
      if (found !== undefined) open.push(found);
    }
  }
}

/** What descriptors import by a relative path: the constants in them count as declared. */
function addImports(
  reader: Reader,
  contract: ContractConfig,
  byPath: Map<string, InputFile>,
  byPattern: ReadonlyMap<string, readonly InputFile[]>,
): void {
  for (const { descriptors } of contract.programs ?? []) {
    for (const d of [descriptors ?? []].flat()) {
      const start = byPattern.get(typeof d === "string" ? d : d.file) ?? [];
      const imported = importsOf(start, (path) => {
        const known = byPath.get(path);
        if (known !== undefined || !inside(path)) return known;
        return reader.host.stat(join(reader.root, path)) === "file" ? reader.file(path, "typescript") : undefined;
      });
      for (const file of imported) byPath.set(file.file, file);
    }
  }
}

/** The file under the root that a configuration's `aclfile` names: the longest path suffix wins, then the nearest. */
function aclFileOf(reader: Reader, conf: InputFile): string | undefined {
  const named = /^[ \t]*aclfile[ \t]+(\S+)/im.exec(conf.source.text)?.[1]?.replace(/^["']|["']$/g, "");
  const wanted = named?.split("/").filter((part) => part !== "" && part !== ".");
  const name = wanted?.at(-1);
  if (wanted === undefined || name === undefined || /[*?[\]{}$<>%@]/.test(name)) return undefined;
  const here = conf.file.slice(0, conf.file.lastIndexOf("/") + 1);
  let best: { path: string; same: number; beside: boolean } | undefined;
  for (const path of [...reader.expand(`**/${name}`), ...reader.expand(`**/${name}.*`)]) {
    const plain = path.replace(/\.(tmpl|tpl|template|j2|in)$/i, "");
    const parts = plain.split("/");
    let same = 0;
    while (same < wanted.length && parts.at(-1 - same) === wanted.at(-1 - same)) same++;
    const beside = path.slice(0, path.lastIndexOf("/") + 1) === here;
    if (same === 0) continue;
    if (best === undefined || same > best.same || (same === best.same && beside && !best.beside))
      best = { path, same, beside };
  }
  return best?.path;
}

/** "… or the YAML file's path when it holds just one": a plane's configuration may live in a manifest. */
function planeKind(path: string, kind: FileKind): FileKind {
  return /\.(ya?ml|json)$/i.test(path) ? "kubernetes" : kind;
}

function inferRoot(host: Host, found: Found, focuses: readonly string[], options: LoadOptions): LoadedRoot {
  const reader = new Reader(host, found.root);
  const claimed = found.claimed.map((c) => relativeTo(found.root, c) ?? "");
  const paths = reader.walk("").filter((p) => !claimed.some((c) => c !== "" && p.startsWith(`${c}/`)));
  const wanted = new Set(focuses.map((focus) => relativeTo(found.root, focus) ?? ""));
  const { contracts, inputs } = inferContracts(reader, paths, { today: options.today, setting: () => NO_SETTING });
  for (const file of reader.links) {
    const reason = reader.leaves(file) ? LEADS_OUT : "a symbolic link to a directory is not followed";
    inputs.push({ file, kind: "ignored", contract: undefined, reason });
  }
  const touched = wanted.has("") ? contracts : contracts.filter((c) => c.files.some((f) => wanted.has(f.file)));
  return { root: found.root, config: undefined, contracts: touched, inputs, unclaimed: [] };
}
