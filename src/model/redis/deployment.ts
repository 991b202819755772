/** The Redis side of a contract: what each server makes of its configuration and ACL, and who plays which role. */
import { type ConfArgument, type ConfDocument, parseConf } from "../../document/redis-conf.js";
import type { TextView } from "../../text/source.js";
import type { Contract } from "../contract.js";
import { parseImage, serverOfImage } from "../image.js";
import type { Plane, PlaneRole, Server } from "../plane.js";
import type { AclText, ConfText } from "../texts.js";
import { type AccessList, accessLists, addsUsers, type DefaultUser, defaultUser } from "./access.js";
import { type AclLoad, loadView } from "./acl.js";
import { type ConfEdit, type ConfLoad, loadConf } from "./conf.js";
import type { ConfClass, ConfFinding } from "./conf-finding.js";
import { directiveServers } from "./directives.js";
import { type RoleName, type RoleUser, rolesOf } from "./roles.js";
import { CURRENT, resolveServer } from "./servers.js";

export type { RoleName, RoleUser } from "./roles.js";

// Parsed once per text: contracts are built again and again from the same files.
const documents = new WeakMap<TextView, ConfDocument>();
const acls = new WeakMap<TextView, Map<string, AclLoad>>();
const loads = new WeakMap<TextView, KeptLoad>();

interface KeptLoad extends ServerInputs {
  readonly server: string;
  readonly mode: PlaneRole;
  readonly load: ConfLoad;
}

function sameInputs(a: ServerInputs, b: ServerInputs): boolean {
  return (
    a.edits.length === b.edits.length &&
    a.arguments.length === b.arguments.length &&
    a.edits.every((edit, i) => edit === b.edits[i]) &&
    a.arguments.every((word, i) => {
      const other = b.arguments[i]!;
      if (word === other) return true;
      return (
        word.value === other.value &&
        word.at.source === other.at.source &&
        word.at.start === other.at.start &&
        word.at.end === other.at.end
      );
    })
  );
}

export function confDocument(conf: ConfText): ConfDocument {
  let document = documents.get(conf.view);
  if (document === undefined)
    documents.set(conf.view, (document = parseConf(conf.view, { templates: conf.templated })));
  return document;
}

/** What else shapes a server's values: edits by scripts, the command line. Filled by the contract's builder. */
export interface ServerInputs {
  readonly edits: readonly ConfEdit[];
  readonly arguments: readonly ConfArgument[];
}

/** There are command tables of Redis 6.0, and no directive tables. */
function confServer(id: string): string {
  return directiveServers().some((known) => id.startsWith(known)) ? id : "redis-6.2";
}

export class RedisDeployment {
  readonly #contract: Contract;
  readonly #inputs: (server: Server) => ServerInputs;
  readonly #loads = new Map<Server, ConfLoad | undefined>();
  readonly #commanded = new Map<Plane, Server | undefined>();
  #scripted: boolean | undefined;
  #roles: readonly RoleUser[] | undefined;
  #access: ReadonlyMap<Server, AccessList | undefined> | undefined;
  #lists: readonly AccessList[] | undefined;
  /** Servers by the ACL that they read. */
  #readers: Map<AclText, Server[]> | undefined;
  #version: { readonly id: string; readonly note: string | undefined; readonly asked: string | undefined } | undefined;

  constructor(contract: Contract, inputs: (server: Server) => ServerInputs) {
    this.#contract = contract;
    this.#inputs = inputs;
  }

  /** The table that everything is judged for: the declared minimum, else the server image's version, else Redis 7.2. */
  get version(): { readonly id: string; readonly note: string | undefined; readonly asked: string | undefined } {
    if (this.#version === undefined) {
      const asked = this.#contract.config.redis?.minimumVersion ?? imageVersion(this.#contract);
      const server = asked === undefined ? undefined : resolveServer(String(asked));
      this.#version = {
        id: server?.id ?? "redis-7.2",
        note: server?.note,
        asked: asked === undefined ? undefined : String(asked),
      };
    }
    return this.#version;
  }

  /** What a server makes of its configuration; undefined where the contract has none for it. */
  load(server: Server): ConfLoad | undefined {
    if (!this.#loads.has(server)) {
      const { conf, plane } = server;
      this.#loads.set(server, conf === undefined ? undefined : this.#load(conf, plane.role, this.#inputs(server)));
    }
    return this.#loads.get(server);
  }

  /** The server of a plane that its command line alone configures: no file is named, and none belongs to the plane. */
  commandServer(plane: Plane): Server | undefined {
    if (!this.#commanded.has(plane)) {
      const server: Server = { plane, conf: undefined, acl: undefined };
      const options = plane.container?.entrypoint?.words.some((w) => w.text.startsWith("--")) === true;
      const inputs = options && plane.servers.length === 0 ? this.#inputs(server) : undefined;
      const alone = inputs !== undefined && inputs.arguments[0]?.value.startsWith("--") === true;
      this.#commanded.set(plane, alone ? server : undefined);
      if (alone) {
        const { edits, arguments: args } = inputs;
        const id = confServer(this.version.id);
        this.#loads.set(server, loadConf({ server: id, mode: plane.role, documents: [], edits, arguments: args }));
      }
    }
    return this.#commanded.get(plane);
  }

  #load(conf: ConfText, mode: PlaneRole, inputs: ServerInputs): ConfLoad {
    const server = confServer(this.version.id);
    const kept = loads.get(conf.view);
    if (kept !== undefined && kept.server === server && kept.mode === mode && sameInputs(kept, inputs))
      return kept.load;
    const { edits, arguments: args } = inputs;
    const loadOn = (version: string): ConfLoad =>
      loadConf({ server: version, mode, documents: confDocument(conf), edits, arguments: args });
    const own = loadOn(server);
    const load = this.version.asked === undefined ? agreed(own, () => CURRENT.map(loadOn)) : own;
    loads.set(conf.view, { server, mode, edits, arguments: args, load });
    return load;
  }

  /** An ACL file as the servers of a plane load it. */
  acl(acl: AclText, role: PlaneRole = acl.role ?? "data"): AclLoad {
    return this.#loadAcl(acl, role, this.#aclServer);
  }

  /** Some lines of the same file as the servers of another version would load them. */
  aclFor(acl: AclText, role: PlaneRole, version: string, only: ReadonlySet<number>): AclLoad {
    const server = role === "sentinel" ? `${version}/sentinel` : version;
    const pubsubDefault = this.#pubsubDefault(acl, role);
    return loadView(acl.view, { server, placeholders: acl.templated, pubsubDefault, only });
  }

  /** Whether the servers that read an ACL file have modules, whose commands no table has. */
  modules(acl: AclText): "yes" | "no" | "unknown" {
    const readers = this.readersOf(acl);
    const { asked, id } = this.version;
    let answer: "no" | "unknown" =
      readers.length > 0 && asked !== undefined && !/^redis-(?:[89]|\d\d)/.test(id) ? "no" : "unknown";
    for (const server of readers) {
      const load = this.load(server);
      if (load?.values.all("loadmodule").length || /redis-stack/.test(server.plane.container?.image ?? ""))
        return "yes";
      if (load?.values.complete !== true) answer = "unknown";
    }
    return answer;
  }

  /** The written version where there is one: patches and later releases differ in how they read ACLs. */
  get #aclServer(): string {
    const { asked, id } = this.version;
    return asked !== undefined && resolveServer(asked) !== undefined ? asked : id;
  }

  #loadAcl(acl: AclText, role: PlaneRole, version: string): AclLoad {
    const server = role === "sentinel" ? `${version}/sentinel` : version;
    const pubsubDefault = this.#pubsubDefault(acl, role);
    const key = `${server}\n${acl.templated}\n${pubsubDefault}`;
    let known = acls.get(acl.view);
    if (known === undefined) acls.set(acl.view, (known = new Map()));
    let load = known.get(key);
    if (load === undefined) {
      known.set(key, (load = loadView(acl.view, { server, placeholders: acl.templated, pubsubDefault })));
    }
    return load;
  }

  /** `acl-pubsub-default` of the configuration that names the file, where it is written. */
  #pubsubDefault(acl: AclText, role: PlaneRole): "allchannels" | "resetchannels" | undefined {
    for (const server of this.readersOf(acl)) {
      if (server.plane.role !== role) continue;
      const value = this.load(server)?.values.get("acl-pubsub-default");
      if (value?.state === "known" && (value.value === "allchannels" || value.value === "resetchannels")) {
        return value.from === "default" ? undefined : value.value;
      }
    }
    return undefined;
  }

  /** The servers that read an ACL file. */
  readersOf(acl: AclText): readonly Server[] {
    if (this.#readers === undefined) {
      this.#readers = new Map();
      for (const plane of this.#contract.planes) {
        for (const server of plane.servers) {
          if (server.acl === undefined) continue;
          const servers = this.#readers.get(server.acl);
          if (servers === undefined) this.#readers.set(server.acl, [server]);
          else servers.push(server);
        }
      }
    }
    return this.#readers.get(acl) ?? [];
  }

  /** Whether some script of the contract makes users that no file lists. */
  get scripted(): boolean {
    this.#scripted ??= this.#contract.scripts.some((s) => addsUsers(s.view.text));
    return this.#scripted;
  }

  /** Who may log in at a server; undefined where the files do not say. */
  access(server: Server): AccessList | undefined {
    this.#access ??= accessLists(this.#contract, this);
    return this.#access.get(server);
  }

  /** The access lists of all servers, each once. */
  get accessLists(): readonly AccessList[] {
    this.#access ??= accessLists(this.#contract, this);
    this.#lists ??= [...new Set([...this.#access.values()].filter((a) => a !== undefined))];
    return this.#lists;
  }

  /** What the `default` user of a list is. */
  defaultUser(list: AccessList): DefaultUser {
    return defaultUser(list, this.load(list.servers[0]!)?.values.isSet("requirepass"));
  }

  /** Every user that plays a role, by declaration or by wiring. */
  get roles(): readonly RoleUser[] {
    this.#roles ??= rolesOf(this.#contract, this);
    return this.#roles;
  }

  roleUsers(role: RoleName): readonly RoleUser[] {
    return this.roles.filter((r) => r.role === role);
  }
}

/**
 * Where nothing says which server runs, only what all current ones say of a line is certain: `primaryauth` is no mistake of a
 * Valkey.
 */
function agreed(load: ConfLoad, others: () => readonly ConfLoad[]): ConfLoad {
  if (!load.findings.some((f) => f.certain && f.class !== "note")) return load;
  const key = (f: ConfFinding): string => `${f.class} ${f.directive} ${f.at.source.file} ${f.at.start}`;
  const said = others().map((other) => new Set(other.findings.map(key)));
  const findings = load.findings.map((f) =>
    !f.certain || said.every((known) => known.has(key(f))) ? f : Object.assign({}, f, { certain: false }),
  );
  const still = (kind: ConfClass): boolean => findings.some((f) => f.certain && f.class === kind);
  return Object.assign({}, load, {
    findings,
    loads: load.loads === false && !still("fatal") ? "unknown" : load.loads,
    restarts: load.restarts === false && !still("restart") ? "unknown" : load.restarts,
  });
}

function imageVersion(contract: Contract): string | undefined {
  const minimum = contract.imageRegistry?.minimum?.value;
  const texts = [minimum, ...contract.planes.map((p) => p.container?.image)];
  for (const text of texts) {
    const server = text === undefined ? undefined : serverOfImage(parseImage(text));
    if (server?.version !== undefined) return `${server.flavour}-${server.version}`;
  }
  return undefined;
}
