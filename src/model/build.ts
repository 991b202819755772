/** Builds the contract graph from files: the only place where edges between files are resolved. */

import { parseJson } from "../document/json.js";
import { parseProperties } from "../document/properties.js";
import type { Path, YamlDocument } from "../document/yaml.js";
import { TextView } from "../text/source.js";
import { Contract, type ContractParts } from "./contract.js";
import { parseImage, serverOfImage } from "./image.js";
import { type InputFile, KeptWith } from "./input.js";
import type { Command } from "./kubernetes/container-parts.js";
import { KubeObject } from "./kubernetes/object.js";
import { type Container, isWorkloadKind, Workload } from "./kubernetes/workload.js";
import { push } from "./multimap.js";
import { PLANE_PORT, type Plane, type PlaneRole, type Server } from "./plane.js";
import { catalogEntries } from "./program/catalog.js";
import { importsOf } from "./program/descriptor/imports.js";
import { includeNames, isRedisScript, type ProgramSource, relativePath } from "./program/programs.js";
import type { ImageRegistry } from "./registry.js";
import { type ContractConfig, type FileWithMap, list, type PlaneConfig } from "./settings.js";
import type { AclText, ConfText, ScriptText, TextOrigin } from "./texts.js";
import { asArray, asObject, isObject, type Obj } from "./value.js";

export interface BuildInput {
  readonly name: string;
  readonly declared: boolean;
  readonly config: ContractConfig;
  readonly configDocument: YamlDocument | undefined;
  readonly configPath: Path;
  readonly files: readonly InputFile[];
  /** Files of the contract that a path or glob of the contract file names. */
  readonly match: (pattern: string) => readonly InputFile[];
  readonly today: string;
  readonly setting: ContractParts["setting"];
  /** What the contract file's `programs` find, where that is known. */
  readonly programs?: readonly ProgramSource[] | undefined;
}

/** Where an object lands that names no namespace, unless the contract file says where. */
const DEFAULT_NAMESPACE = "default";

// Objects of a document are the same values for every contract of a namespace and every build.
const objectsOf = new KeptWith<Map<YamlDocument, Map<string, readonly KubeObject[]>>>();

/** The same contract with some of its files replaced: what a mutant makes of it. */
export function rebuildContract(contract: Contract, replaced: ReadonlyMap<InputFile, InputFile>): Contract {
  const { input } = contract;
  if (input === undefined) throw new TypeError(`the contract ${contract.name} was not built here`);
  const now = (file: InputFile): InputFile => replaced.get(file) ?? file;
  contract.clean ??= new WeakMap();
  if (contract.declared && [...replaced.keys()].every(isProgramFile)) {
    const made = contract.withPrograms(
      input.files.map(now),
      contract.programSources.map((s) => sourceWith(s, replaced)),
    );
    made.input = Object.assign({}, input, { files: made.files, match: (p: string) => input.match(p).map(now) });
    return made;
  }
  // what a contract file says of its programs is read of their own files
  const touched = (s: ProgramSource): boolean =>
    [s.manifest, ...s.scripts, ...s.descriptors.map((d) => d.input), ...s.imported, ...s.callers, ...s.sources].some(
      (f) => f !== undefined && replaced.has(f),
    );
  const { programSources: known } = contract;
  const made = buildContract({
    programs: contract.declared && !known.some(touched) ? known : undefined,
    name: input.name,
    declared: input.declared,
    config: input.config,
    configDocument: input.configDocument,
    configPath: input.configPath,
    files: input.files.map(now),
    match: (pattern) => input.match(pattern).map(now),
    today: input.today,
    setting: input.setting,
  });
  made.parsers.adopt(contract.parsers);
  made.clean = contract.clean;
  return made;
}

/** Files that say nothing of servers, where a contract file says which they are. */
export function isProgramFile(file: InputFile): boolean {
  return file.kind === "lua" || file.kind === "json";
}

function sourceWith(source: ProgramSource, replaced: ReadonlyMap<InputFile, InputFile>): ProgramSource {
  const { manifest, scripts } = source;
  const own = (f: InputFile | undefined): boolean => f !== undefined && replaced.has(f);
  if (!own(manifest) && !scripts.some(own)) return source;
  return Object.assign({}, source, {
    manifest: manifest === undefined ? undefined : (replaced.get(manifest) ?? manifest),
    scripts: scripts.map((s) => replaced.get(s) ?? s),
  });
}

export function buildContract(input: BuildInput): Contract {
  const objects: KubeObject[] = [];
  for (const file of input.files) {
    if (file.kind !== "kubernetes" || file.fault !== undefined) continue;
    for (const document of file.yaml.documents) objects.push(...kubeObjects(file, document, input));
  }
  const texts = collectTexts(input, objects);
  const planes =
    input.config.planes !== undefined ? declaredPlanes(input, objects, texts) : inferredPlanes(objects, texts);
  const contract = new Contract({
    name: input.name,
    declared: input.declared,
    config: input.config,
    configDocument: input.configDocument,
    configPath: input.configPath,
    files: input.files,
    objects,
    planes,
    confs: texts.confs,
    acls: rolesOfAcls(texts.acls, planes),
    scripts: texts.scripts,
    imageRegistry: imageRegistry(input),
    programSources: input.programs ?? programSources(input),
    today: input.today,
    setting: input.setting,
  });
  contract.input = input;
  return contract;
}

/** The objects of a document of a contract; the items of a `kind: List` are objects of their own. */
export function kubeObjects(
  file: InputFile,
  document: YamlDocument,
  of?: Pick<BuildInput, "config">,
): readonly KubeObject[] {
  // a document that a change of its file left alone keeps its objects, with all that is known of them
  if (file.origin?.yaml.documents.includes(document) === true) return kubeObjects(file.origin, document, of);
  const home = of?.config.kubernetes?.namespace ?? DEFAULT_NAMESPACE;
  let ofFile = objectsOf.get(file);
  if (ofFile === undefined) objectsOf.set(file, (ofFile = new Map()));
  let ofDocument = ofFile.get(document);
  if (ofDocument === undefined) ofFile.set(document, (ofDocument = new Map()));
  const known = ofDocument.get(home);
  if (known !== undefined) return known;
  const out: KubeObject[] = [];
  const add = (value: unknown, base: Path): void => {
    if (!isObject(value) || typeof value["kind"] !== "string") return;
    const items = value["items"];
    if (Array.isArray(items) && value["kind"].endsWith("List")) {
      items.forEach((item, i) => {
        if (base.length < 8) add(item, [...base, "items", i]);
      });
      return;
    }
    out.push(makeObject(file, document, base, value, home));
  };
  add(document.value, []);
  ofDocument.set(home, out);
  return out;
}

function makeObject(file: InputFile, document: YamlDocument, base: Path, value: Obj, home: string): KubeObject {
  const apiVersion = String(value["apiVersion"] ?? "");
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  return isWorkloadKind(String(value["kind"]), group)
    ? new Workload(file, document, base, value, home)
    : new KubeObject(file, document, base, value, home);
}

// ---------------------------------------------------------------------------------------------------------------- texts

interface Texts {
  readonly confs: readonly ConfText[];
  readonly acls: readonly AclText[];
  readonly scripts: readonly ScriptText[];
}

const CONF_DIRECTIVE =
  /^[ \t]*(?:port|tls-port|bind|appendonly|appendfsync|maxmemory(?:-policy)?|masterauth|masteruser|replicaof|slaveof|requirepass|aclfile|min-replicas-to-write|protected-mode|tls-replication|sentinel[ \t]+\S+)[ \t]+\S/im;
/** Directives that no other program has: `port` and `bind` alone say little. */
const OWN_DIRECTIVE =
  /^[ \t]*(?:appendonly|appendfsync|maxmemory(?:-policy)?|masterauth|masteruser|replicaof|slaveof|requirepass|aclfile|min-replicas-to-write|protected-mode|tls-(?:replication|port|cert-file|key-file|ca-cert-file|auth-clients)|cluster-enabled|dbfilename|replica-announce-ip|rename-command|save[ \t]+\d+)[ \t]+\S/im;
/** HAProxy, nginx, supervisord and the like. */
const FOREIGN =
  /^[ \t]*(?:frontend|backend|defaults|listen)(?:[ \t]+[\w.:-]+)?[ \t]*\r?$|[^{]\{[ \t]*\r?$|^\[[\w: -]+\]/m;
const SENTINEL_DIRECTIVE = /^[ \t]*sentinel[ \t]+\S/im;
const ACL_LINE = /^[ \t]*user[ \t]+\S+/m;
/** A user with at least one rule: other programs have files of users by the same name. */
const ACL_RULES =
  /^[\uFEFF \t]*user[ \t]+\S+[ \t]+(?:on|off|nopass|reset\w*|sanitize-payload|skip-sanitize-payload|all(?:keys|commands|channels)|no?commands|[-+~%&<>#!(@].*|.*[${_].*)(?:[ \t]|$)/im;

/** What a text is, by its name and its content; undefined where it is none of ours. */
export function textKind(name: string, text: string): "data" | "sentinel" | "acl" | "shell" | "lua" | undefined {
  const base = name.slice(name.lastIndexOf("/") + 1).replace(/\.(tmpl|tpl|template|j2|in)$/i, "");
  if (/\.acl$/i.test(base) && ACL_RULES.test(text)) return "acl";
  if (/^users?\.conf$/i.test(base) && ACL_LINE.test(text) && !CONF_DIRECTIVE.test(text)) return "acl";
  if (/\.(sh|bash)$/i.test(base) || /^#!.*\b(?:ba|da|a)?sh\b/.test(text)) return "shell";
  if (/\.lua$/i.test(base)) return "lua";
  if (/\.(conf|cfg|config)$/i.test(base) || /^(redis|sentinel|valkey)[\w-]*$/i.test(base)) {
    if (FOREIGN.test(text)) return undefined;
    if (SENTINEL_DIRECTIVE.test(text)) return "sentinel";
    const named = /redis|valkey|keydb|sentinel/i.test(name);
    if ((named ? CONF_DIRECTIVE : OWN_DIRECTIVE).test(text)) return /sentinel/i.test(base) ? "sentinel" : "data";
    if (/^(redis|valkey)[\w.-]*\.conf$/i.test(base)) return "data";
    if (/^sentinel[\w.-]*\.conf$/i.test(base)) return "sentinel";
  }
  return undefined;
}

function collectTexts(input: BuildInput, objects: readonly KubeObject[]): Texts {
  const confs: ConfText[] = [];
  const acls: AclText[] = [];
  const scripts: ScriptText[] = [];
  const add = (origin: TextOrigin, kind: ReturnType<typeof textKind>): void => {
    if (kind === "data" || kind === "sentinel") confs.push(Object.assign(origin, { mode: kind }));
    else if (kind === "acl") acls.push(Object.assign(origin, { role: undefined }));
    else if (kind === "shell") scripts.push(Object.assign(origin, { command: undefined }));
  };
  const named = new Map<InputFile, "data" | "sentinel" | "acl">();
  for (const role of ["data", "sentinel"] as const) {
    const plane = input.config.planes?.[role];
    if (plane?.config !== undefined) for (const f of input.match(plane.config)) named.set(f, role);
    if (plane?.acl !== undefined) for (const f of input.match(plane.acl)) named.set(f, "acl");
  }
  for (const file of input.files) {
    if (file.fault !== undefined || file.kind === "kubernetes") continue;
    const origin: TextOrigin = {
      input: file,
      view: file.view,
      name: file.file,
      templated: file.templated,
      owner: undefined,
      key: undefined,
    };
    const declared = named.get(file);
    if (declared !== undefined) add(origin, declared);
    else if (file.kind === "conf") add(origin, textKind(file.file, file.source.text));
    else if (file.kind === "acl") add(origin, "acl");
    else if (file.kind === "shell") add(origin, "shell");
  }
  for (const object of objects) {
    if (object.kind === "ConfigMap") {
      for (const [key, value] of Object.entries(asObject(object.get("data")))) {
        if (typeof value !== "string") continue;
        // a contract file says that there is nothing else
        const kind = textKind(key, value) ?? (input.declared && key.endsWith(".acl") ? "acl" : undefined);
        if (kind === undefined || kind === "lua") continue;
        const path = [...object.base, "data", key];
        // text in a ConfigMap may be expanded before it is used: placeholders in it are tokens
        const view = (): TextView => object.document.view(path) ?? new TextView(object.input.source, value);
        add(new EmbeddedText(object, key, key, view), kind);
      }
    } else if (object instanceof Workload) {
      for (const container of object.containers) {
        for (const command of container.commands) {
          const script = inlineScript(command);
          if (script !== undefined) scripts.push(script);
        }
      }
    }
  }
  return { confs, acls, scripts };
}

/** A text in a manifest; its view is made when somebody reads it: places cost a second parse, and most builds read none. */
class EmbeddedText implements TextOrigin {
  readonly input: InputFile;
  readonly name: string;
  readonly templated = true;
  readonly owner: KubeObject;
  readonly key: string | undefined;
  readonly #make: () => TextView;
  #view: TextView | undefined;

  constructor(owner: KubeObject, name: string, key: string | undefined, make: () => TextView) {
    this.input = owner.input;
    this.name = name;
    this.owner = owner;
    this.key = key;
    this.#make = make;
  }

  get view(): TextView {
    this.#view ??= this.#make();
    return this.#view;
  }
}

/** The script of `sh -c SCRIPT`. */
function inlineScript(command: Command): ScriptText | undefined {
  const { words } = command;
  const first = words[0]?.text ?? "";
  if (!/(?:^|\/)(?:ba|da|a|k|z)?sh$/.test(first)) return undefined;
  const flag = words.findIndex((w, i) => i > 0 && /^[-+][a-z]*c[a-z]*$/.test(w.text));
  const word = flag < 0 ? undefined : words[flag + 1];
  if (word === undefined || !word.scalar) return undefined;
  const { container, origin } = command;
  const { workload, title } = container;
  const view = (): TextView => word.view() ?? new TextView(workload.input.source, word.text);
  return Object.assign(new EmbeddedText(workload, `${origin} of ${title}`, undefined, view), { command });
}

// --------------------------------------------------------------------------------------------------------------- planes

interface MutablePlane {
  role: PlaneRole;
  workload: Workload | undefined;
  container: Container | undefined;
  servers: Server[];
  peer: Plane | undefined;
}

function makePlane(role: PlaneRole, workload: Workload | undefined, container: Container | undefined): MutablePlane {
  return { role, workload, container, servers: [], peer: undefined };
}

function addServers(
  plane: MutablePlane,
  confs: readonly ConfText[],
  acls: readonly AclText[],
  { everyAcl = false } = {},
): void {
  const mine = confs.map((conf) => ({ plane, conf, acl: aclOf(conf, acls) }));
  const used = new Set(mine.map((s) => s.acl));
  // ACL files that no configuration names: one server each, with the one configuration there is
  const rest = everyAcl || confs.length === 0 ? acls.filter((a) => !used.has(a)) : [];
  const shared = rest.length > 0 && mine.length === 1 && mine[0]!.acl === undefined ? mine[0]!.conf : undefined;
  if (shared === undefined) plane.servers.push(...mine);
  for (const acl of rest) plane.servers.push({ plane, conf: shared, acl });
}

/** The ACL file that a configuration names by `aclfile`: the longest path suffix wins; the only one where it names none. */
function aclOf(conf: ConfText, acls: readonly AclText[]): AclText | undefined {
  if (acls.length <= 1) return acls[0];
  const wanted = /^[ \t]*aclfile[ \t]+(\S+)/im
    .exec(conf.view.text)?.[1]
    ?.replace(/^["']|["']$/g, "")
    .split("/");
  if (wanted === undefined) return undefined;
  let best: AclText | undefined;
  let length = 0;
  for (const acl of acls) {
    const parts = acl.name.replace(/\.(tmpl|tpl|template|j2|in)$/i, "").split("/");
    let same = 0;
    while (
      same < parts.length &&
      same < wanted.length &&
      parts[parts.length - 1 - same] === wanted[wanted.length - 1 - same]
    )
      same++;
    // between files that match equally, the one beside the configuration is meant
    const beside = same > 0 && directory(acl) === directory(conf) ? 0.5 : 0;
    if (same + beside > length) {
      length = same + beside;
      best = acl;
    }
  }
  return best;
}

function directory(text: TextOrigin): string {
  return text.input.file.slice(0, text.input.file.lastIndexOf("/") + 1);
}

function declaredPlanes(input: BuildInput, objects: readonly KubeObject[], texts: Texts): Plane[] {
  const out: MutablePlane[] = [];
  for (const role of ["data", "sentinel"] as const) {
    const config = input.config.planes?.[role];
    if (config === undefined) continue;
    const workload = objects.find((o): o is Workload => o instanceof Workload && o.ref === config.workload);
    const container = workload === undefined ? undefined : serverContainer(workload, role, config);
    const plane = makePlane(role, workload, container);
    const confs = texts.confs
      .filter((c) => isNamed(input, config.config, c))
      .map((c) => (c.mode === role ? c : Object.assign({}, c, { mode: role })));
    const acls = texts.acls.filter((a) =>
      config.acl === undefined ? confs.some((c) => aclOf(c, texts.acls) === a) : isNamed(input, config.acl, a),
    );
    addServers(plane, confs, acls, { everyAcl: true });
    out.push(plane);
  }
  return pair(out);
}

function isNamed(input: BuildInput, pattern: string | undefined, text: TextOrigin): boolean {
  if (pattern === undefined) return false;
  const embedded = /^ConfigMap\/([^#]+)(?:#(.*))?$/.exec(pattern);
  if (embedded !== null)
    return (
      text.owner?.kind === "ConfigMap" &&
      text.owner.name === embedded[1] &&
      (embedded[2] === undefined || embedded[2] === text.key)
    );
  return input.match(pattern).some((file) => file.file === text.input.file);
}

function serverContainer(workload: Workload, role: PlaneRole, config: PlaneConfig): Container | undefined {
  const main = workload.containers.filter((c) => c.kind === "container");
  if (config.container !== undefined) return main.find((c) => c.name === config.container);
  return main.find((c) => serverRole(c) === role) ?? main[0];
}

/** What server a container runs: by its command, else by its image, configuration argument and port. */
export function serverRole(container: Container): PlaneRole | undefined {
  if (container.kind !== "container") return undefined;
  const command = container.entrypoint;
  const text = command?.words.map((w) => w.text).join("\n") ?? "";
  if (/(?:^|[\s/;&|"'])(?:redis|valkey)-sentinel(?:$|[\s;"'])/.test(text)) return "sentinel";
  const server = /(?:^|[\s/;&|"'])(?:redis|valkey)-server(?:$|[\s;"'])/.test(text);
  if (server) return /(?:^|\s)--sentinel(?:\s|$)/.test(text) ? "sentinel" : "data";
  const image = container.image === undefined ? undefined : parseImage(container.image);
  if (image === undefined || serverOfImage(image) === undefined) return undefined;
  if (/-sentinel$/.test(image.name)) return "sentinel";
  if (command === undefined || !command.explicit) {
    if (/sentinel[\w.-]*\.conf(?:$|\s)/.test(text) || /(?:^|\s)--sentinel(?:\s|$)/.test(text)) return "sentinel";
    if (container.ports.some((p) => p.port === PLANE_PORT.data)) return "data";
    const sentinel = container.ports.some((p) => p.port === PLANE_PORT.sentinel);
    // neither a command nor a port tells: the names that people give do
    return sentinel || /sentinel/i.test(`${container.name} ${container.workload.name}`) ? "sentinel" : "data";
  }
  // a start script: the ports that it serves tell
  if (!/\.sh(?:$|\s)/.test(text)) return undefined;
  for (const role of ["sentinel", "data"] as const) {
    if (container.ports.some((p) => p.port === PLANE_PORT[role])) return role;
  }
  return /sentinel/i.test(container.name) ? "sentinel" : "data";
}

function inferredPlanes(objects: readonly KubeObject[], texts: Texts): Plane[] {
  const out: MutablePlane[] = [];
  const taken = new Set<TextOrigin>();
  const confsOf = byOwner(texts.confs);
  const aclsOf = byOwner(texts.acls);
  for (const object of objects) {
    if (!(object instanceof Workload) || object.kind === "Job" || object.kind === "CronJob") continue;
    for (const container of object.containers) {
      const role = serverRole(container);
      if (role === undefined) continue;
      const plane = makePlane(role, object, container);
      const mounted = [...configMapsOf(object)].map((name) => `${object.namespace}\n${name}`);
      const confs = inOrder(mounted.flatMap((key) => confsOf.get(key) ?? [])).filter((c) => c.mode === role);
      const acls = inOrder(mounted.flatMap((key) => aclsOf.get(key) ?? []));
      for (const t of [...confs, ...acls]) taken.add(t);
      addServers(plane, confs, acls);
      out.push(plane);
    }
  }
  for (const role of ["data", "sentinel"] as const) {
    const free = texts.confs.filter((c) => c.mode === role && !taken.has(c));
    const own = out.filter((p) => p.role === role);
    const bare = own.filter((p) => p.servers.length === 0);
    const acls = texts.acls.filter((a) => !taken.has(a) && planeOfAclName(a, free, role, texts, own.length > 0));
    if (free.length === 0 && acls.length === 0) continue;
    // a template outside manifests belongs to the one workload of its plane that has no other
    const plane = bare.length === 1 && own.length === 1 ? bare[0]! : makePlane(role, undefined, undefined);
    if (!out.includes(plane)) out.push(plane);
    addServers(plane, free, acls);
  }
  return pair(out);
}

interface Numbered<T> {
  readonly text: T;
  readonly index: number;
}

/** Texts by the namespace and name of the object that holds them. */
function byOwner<T extends TextOrigin>(texts: readonly T[]): ReadonlyMap<string, readonly Numbered<T>[]> {
  const out = new Map<string, Numbered<T>[]>();
  texts.forEach((text, index) => {
    if (text.owner === undefined) return;
    const key = `${text.owner.namespace}\n${text.owner.name}`;
    push(out, key, { text, index });
  });
  return out;
}

function inOrder<T>(texts: readonly Numbered<T>[]): T[] {
  return [...texts].sort((a, b) => a.index - b.index).map(({ text }) => text);
}

/** The last part of the path that a configuration's `aclfile` names. */
function aclFileName(conf: ConfText): string | undefined {
  const path = /^[ \t]*aclfile[ \t]+(\S+)/im.exec(conf.view.text)?.[1]?.replace(/^["']|["']$/g, "");
  return path?.slice(path.lastIndexOf("/") + 1);
}

/** The name of an ACL text as it is when rendered. */
function plainName(acl: AclText): string {
  return acl.name.slice(acl.name.lastIndexOf("/") + 1).replace(/\.(tmpl|tpl|template|j2|in)$/i, "");
}

function planeOfAclName(
  acl: AclText,
  confs: readonly ConfText[],
  role: PlaneRole,
  texts: Texts,
  hasPlane: boolean,
): boolean {
  // a file that some configuration names exactly is not the one that another name means
  const exact = texts.confs.some((c) => aclFileName(c) === plainName(acl));
  const reads = (c: ConfText): boolean =>
    aclFileName(c) !== undefined && aclOf(c, texts.acls) === acl && (!exact || aclFileName(c) === plainName(acl));
  if (confs.some(reads)) return true;
  const other = texts.confs.some((c) => c.mode !== role && reads(c));
  if (other) return false;
  const named: PlaneRole = /sentinel/i.test(acl.name) ? "sentinel" : "data";
  return named === role && (confs.length > 0 || hasPlane || texts.acls.length > 0);
}

function configMapsOf(workload: Workload): ReadonlySet<string> {
  const out = new Set<string>();
  for (const volume of workload.volumes.values()) {
    if (volume.type === "configMap" && typeof volume.spec["name"] === "string") out.add(volume.spec["name"]);
    if (volume.type === "projected") {
      for (const source of asArray(volume.spec["sources"])) {
        const name = asObject(asObject(source)["configMap"])["name"];
        if (typeof name === "string") out.add(name);
      }
    }
  }
  return out;
}

function pair(planes: MutablePlane[]): Plane[] {
  const data = planes.filter((p) => p.role === "data");
  const sentinels = planes.filter((p) => p.role === "sentinel");
  const byWorkload = (own: readonly MutablePlane[]): ReadonlyMap<Workload, MutablePlane> =>
    new Map(own.flatMap((p) => (p.workload === undefined ? [] : [[p.workload, p] as const])).reverse());
  const workloads = { data: byWorkload(data), sentinel: byWorkload(sentinels) };
  const single = data.length === 1 && sentinels.length === 1;
  for (const plane of planes) {
    const other = plane.role === "data" ? "sentinel" : "data";
    if (single) plane.peer = plane.role === "data" ? sentinels[0] : data[0];
    else plane.peer = plane.workload === undefined ? undefined : workloads[other].get(plane.workload);
  }
  return planes;
}

function rolesOfAcls(acls: readonly AclText[], planes: readonly Plane[]): readonly AclText[] {
  const roles = new Map<AclText, PlaneRole>();
  for (const plane of planes)
    for (const server of plane.servers) if (server.acl !== undefined) roles.set(server.acl, plane.role);
  return acls.map((acl) => {
    const role = roles.get(acl);
    // planes hold the same object: a role is set in place once, before the graph is handed out
    return role === undefined ? acl : Object.assign(acl, { role });
  });
}

// --------------------------------------------------------------------------------------------------------------- images

function imageRegistry(input: BuildInput): ImageRegistry | undefined {
  const { images } = input.config;
  const file =
    images?.file !== undefined
      ? input.match(images.file)[0]
      : input.files.find(
          (f) => f.kind === "properties" && /^[ \t]*redis\.minimum\.image[ \t]*[=:]/m.test(f.source.text),
        );
  if (file === undefined || file.fault !== undefined) return undefined;
  const properties = parseProperties(file.view);
  const minimumKey = images?.key ?? "redis.minimum.image";
  const approvedKey = images?.approvedKey ?? "redis.approved.image";
  const line = file.source.text.search(/\r?\n|$/);
  return {
    input: file,
    properties,
    minimumKey,
    approvedKey,
    minimum: properties.find((p) => p.key === minimumKey),
    approved: properties.find((p) => p.key === approvedKey),
    head: file.source.span(0, Math.max(0, line)),
  };
}

// ------------------------------------------------------------------------------------------------------------- programs

function programSources(input: BuildInput): ProgramSource[] {
  const { programs } = input.config;
  if (programs === undefined) return input.declared ? [] : inferredPrograms(input);
  const all = (patterns: readonly string[]): InputFile[] => [...new Set(patterns.flatMap((p) => input.match(p)))];
  const byPath = new Map(input.files.map((f) => [f.file, f]));
  return programs.map((p, index): ProgramSource => {
    const manifest = p.manifest === undefined ? undefined : input.match(p.manifest)[0];
    const patterns = list(p.scripts);
    const scripts = patterns.length > 0 ? all(patterns) : manifest === undefined ? [] : scriptsNamed(input, manifest);
    const descriptors = [p.descriptors ?? []].flat() as readonly (string | FileWithMap)[];
    const described = descriptors.flatMap((d) => {
      const [file, map] = typeof d === "string" ? [d, {}] : [d.file, d.map ?? {}];
      return input.match(file).map((f) => ({ input: f, map: Object.assign({}, p.map, map) }));
    });
    return {
      index,
      manifest,
      scripts: scripts.filter((f) => f.kind === "lua"),
      descriptors: described,
      imported: importsOf(
        described.map((d) => d.input),
        (path) => byPath.get(path),
      ),
      callers: all(list(p.callers)),
      sources: all(list(p.sources)),
      boundaries: p.boundaries ?? [],
      user: p.user,
      keys: p.keys,
      map: p.map ?? {},
    };
  });
}

/** The files that a manifest names, where the contract file names none. */
function scriptsNamed(input: BuildInput, manifest: InputFile): InputFile[] {
  const names = new Set(catalogEntries(parseJson(manifest.view)).map((e) => relativePath(e.file.value, manifest.file)));
  return input.files.filter((f) => f.kind === "lua" && names.has(f.file));
}

/** Scripts of the group, with each JSON file that names scripts as a set. */
function inferredPrograms(input: BuildInput): ProgramSource[] {
  const lua = input.files.filter((f) => f.kind === "lua" && f.fault === undefined);
  const own = lua.filter((f) => isRedisScript(f.source.text));
  // what a script includes is read with it, and judged for its syntax
  const paths = new Map(lua.map((f) => [f.file, f]));
  const scripts = new Set(own);
  for (const file of scripts) {
    for (const name of includeNames(file.source.text)) {
      const wanted = relativePath(name, file.file);
      const found = paths.get(wanted) ?? paths.get(`${wanted}.lua`);
      if (found !== undefined) scripts.add(found);
    }
  }
  const source = (manifest: InputFile | undefined, code: readonly InputFile[] = []): ProgramSource => ({
    index: undefined,
    manifest,
    scripts: [...scripts],
    descriptors: code.map((f) => ({ input: f, map: {} })),
    imported: [],
    callers: [],
    sources: [],
    boundaries: [],
    map: {},
    user: undefined,
    keys: undefined,
  });
  const manifests = input.files.filter((f) => f.kind === "json" && namesScripts(f));
  const code = input.files.filter((f) => (f.kind === "java" || f.kind === "typescript") && f.fault === undefined);
  const sources = manifests.map((m) => source(m));
  if (scripts.size > 0 && (sources.length === 0 || code.length > 0)) sources.push(source(undefined, code));
  return sources;
}

/** Whether a JSON file looks like a manifest or catalog of Lua scripts. */
export function namesScripts(file: InputFile): boolean {
  const { text } = file.source;
  if (file.fault !== undefined || !/\.lua"/.test(text)) return false;
  return (
    /"(?:programs|sha-?1|sha-?256|sha|hash|digest|numberOfKeys|numKeys|user)"\s*:/i.test(text) ||
    /\.lua"\s*:\s*"[0-9a-f]{40,64}"/i.test(text)
  );
}
