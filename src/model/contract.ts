/**
 * The contract graph: what the files of one deployment mean together. Built once, indexed, never changed; rules only ask.
 */
import type { Path, YamlDocument } from "../document/yaml.js";
import type { BuildInput } from "./build.js";
import { ContainerShell } from "./container-shell.js";
import type { InputFile } from "./input.js";
import { ContractNetwork } from "./kubernetes/contract-network.js";
import type { KubeObject } from "./kubernetes/object.js";
import type { CleanValues } from "./kubernetes/schema-problem.js";
import { LabelIndex } from "./kubernetes/selector.js";
import { type Container, Workload } from "./kubernetes/workload.js";
import { push } from "./multimap.js";
import { Parsers } from "./parsers.js";
import { NodePlace, type Place } from "./place.js";
import type { Plane, PlaneRole, Server } from "./plane.js";
import {
  ContractPrograms,
  type LuaScript,
  type Program,
  type ProgramSet,
  type ProgramSource,
} from "./program/programs.js";
import { RedisDeployment } from "./redis/deployment.js";
import { serverInputs } from "./redis/server-inputs.js";
import type { ImageRegistry } from "./registry.js";
import type { ContractConfig } from "./settings.js";
import type { AclText, ConfText, ScriptText, TextOrigin } from "./texts.js";

/** The kinds of entity that rules subscribe to. */
export interface Entities {
  readonly Contract: Contract;
  readonly File: InputFile;
  readonly Object: KubeObject;
  readonly Workload: Workload;
  readonly Container: Container;
  readonly Service: KubeObject;
  readonly PodDisruptionBudget: KubeObject;
  readonly NetworkPolicy: KubeObject;
  readonly ConfigMap: KubeObject;
  readonly Secret: KubeObject;
  readonly Namespace: KubeObject;
  readonly Plane: Plane;
  readonly Server: Server;
  readonly Conf: ConfText;
  readonly Acl: AclText;
  readonly Script: ScriptText;
  readonly ProgramSet: ProgramSet;
  readonly Program: Program;
  readonly LuaScript: LuaScript;
  readonly ImageRegistry: ImageRegistry;
}
export type EntityKind = keyof Entities;

export interface ContractParts {
  readonly name: string;
  readonly declared: boolean;
  readonly config: ContractConfig;
  /** The contract file and the path of this contract in it. */
  readonly configDocument: YamlDocument | undefined;
  readonly configPath: Path;
  readonly files: readonly InputFile[];
  readonly objects: readonly KubeObject[];
  readonly planes: readonly Plane[];
  readonly confs: readonly ConfText[];
  readonly acls: readonly AclText[];
  readonly scripts: readonly ScriptText[];
  readonly imageRegistry: ImageRegistry | undefined;
  readonly programSources: readonly ProgramSource[];
  readonly today: string;
  readonly setting: (rule: string) => {
    severity: "off" | "info" | "warning" | "error" | undefined;
    options: Readonly<Record<string, unknown>>;
  };
}

/** Objects and planes by what they are asked for. */
class ObjectIndex {
  readonly workloads: readonly Workload[];
  readonly byKind = new Map<string, KubeObject[]>();
  readonly byRef = new Map<string, KubeObject[]>();
  readonly planesOf = new Map<KubeObject, Plane[]>();
  /** The first of each role. */
  readonly planeOf = new Map<PlaneRole, Plane>();
  readonly pods = new Map<string, LabelIndex<Workload>>();

  constructor({ objects, planes }: ContractParts) {
    const workloads: Workload[] = [];
    const namespaces = new Map<string, Workload[]>();
    for (const object of objects) {
      push(this.byKind, object.kind, object);
      push(this.byRef, `${object.kind}\n${object.namespace}\n${object.name}`, object);
      if (object instanceof Workload) {
        workloads.push(object);
        push(namespaces, object.namespace, object);
      }
    }
    this.workloads = workloads;
    for (const plane of planes) {
      if (plane.workload !== undefined) push(this.planesOf, plane.workload, plane);
      if (!this.planeOf.has(plane.role)) this.planeOf.set(plane.role, plane);
    }
    for (const [namespace, own] of namespaces) this.pods.set(namespace, new LabelIndex(own, (w) => w.podLabels));
  }
}

export class Contract {
  readonly name: string;
  /** A declared contract is a promise; an inferred one is a guess that stays careful. */
  readonly declared: boolean;
  readonly config: ContractConfig;
  readonly files: readonly InputFile[];
  readonly objects: readonly KubeObject[];
  readonly workloads: readonly Workload[];
  readonly planes: readonly Plane[];
  readonly confs: readonly ConfText[];
  readonly acls: readonly AclText[];
  readonly scripts: readonly ScriptText[];
  readonly imageRegistry: ImageRegistry | undefined;
  /** `YYYY-MM-DD`: what `until` and `notAfter` are compared with. */
  readonly today: string;
  readonly setting: ContractParts["setting"];
  /** Parsers that a surface makes ready before rules run. */
  readonly parsers: Parsers;
  /** Values of manifests without a problem: shared by what `rebuildContract` makes of a contract, since most stay as they are. */
  clean: CleanValues | undefined;
  /** What it was built from, for those that are built like it. */
  input: BuildInput | undefined;
  readonly #parts: ContractParts;
  readonly #index: ObjectIndex;
  #made: ReadonlySet<string> | undefined;
  #redis: RedisDeployment | undefined;
  #network: ContractNetwork | undefined;
  #shell: ContainerShell | undefined;
  #programs: ContractPrograms | undefined;
  #budgets: ReadonlyMap<Workload, readonly KubeObject[]> | undefined;
  #containers: readonly Container[] | undefined;
  #servers: readonly Server[] | undefined;
  #textsIn: ReadonlyMap<KubeObject, readonly TextOrigin[]> | undefined;

  /** `like`: a contract of the same objects and planes. */
  constructor(parts: ContractParts, parsers = new Parsers(), like?: Contract) {
    this.#parts = parts;
    this.parsers = parsers;
    this.name = parts.name;
    this.declared = parts.declared;
    this.config = parts.config;
    this.files = parts.files;
    this.objects = parts.objects;
    this.planes = parts.planes;
    this.confs = parts.confs;
    this.acls = parts.acls;
    this.scripts = parts.scripts;
    this.imageRegistry = parts.imageRegistry;
    this.today = parts.today;
    this.setting = parts.setting;
    this.#index = like === undefined ? new ObjectIndex(parts) : like.#index;
    this.workloads = this.#index.workloads;
  }

  /** The same contract with other files of programs: what its manifests, configurations and ACLs mean stays as it is known. */
  withPrograms(files: readonly InputFile[], programSources: readonly ProgramSource[]): Contract {
    const parts: ContractParts = Object.assign({}, this.#parts, { files, programSources });
    const made = new Contract(parts, this.parsers, this);
    made.clean = this.clean;
    made.#redis = this.redis;
    made.#network = this.network;
    made.#shell = this.shell;
    made.#made = this.#made;
    made.#budgets = this.#budgets;
    return made;
  }

  get programSources(): readonly ProgramSource[] {
    return this.#parts.programSources;
  }

  ofKind(kind: string): readonly KubeObject[] {
    return this.#index.byKind.get(kind) ?? [];
  }

  /** The object of a kind, namespace and name. */
  find(kind: string, namespace: string, name: string): KubeObject | undefined {
    return this.#index.byRef.get(`${kind}\n${namespace}\n${name}`)?.[0];
  }

  /** Whether the contract says that an object exists at run time although no file holds it (`Secret/x`, `Secret/*`). */
  isProvided(kind: string, name: string): boolean {
    return (this.config.kubernetes?.provided ?? []).some((p) => {
      const slash = p.indexOf("/");
      if (p.slice(0, slash) !== kind) return false;
      const wanted = p.slice(slash + 1);
      return wanted === name || wanted === "*" || (wanted.endsWith("*") && name.startsWith(wanted.slice(0, -1)));
    });
  }

  /** Names of Secrets and ConfigMaps that custom resources (SealedSecret, ExternalSecret, Certificate …) make at run time. */
  get madeByControllers(): ReadonlySet<string> {
    if (this.#made === undefined) {
      const names = new Set<string>();
      for (const o of this.objects) {
        if (!o.group.includes(".") || o.group.endsWith(".k8s.io")) continue;
        for (const name of [o.name, o.get("spec", "target", "name"), o.get("spec", "secretName")])
          if (typeof name === "string") names.add(name);
      }
      this.#made = names;
    }
    return this.#made;
  }

  /** Workloads in a namespace whose pods a `LabelSelector` selects (absent: none; `{}`: all). */
  podsMatching(namespace: string, selector: unknown): readonly Workload[] {
    return this.#index.pods.get(namespace)?.select(selector) ?? [];
  }

  /** Workloads in a namespace whose pods the plain label map of a Service selects. */
  podsMatchingMap(namespace: string, map: unknown): readonly Workload[] {
    return this.#index.pods.get(namespace)?.selectMap(map) ?? [];
  }

  /** Workloads of all namespaces of the contract, or of one. */
  podsIn(namespace: string): readonly Workload[] {
    return this.workloads.filter((w) => w.namespace === namespace);
  }

  /** The PodDisruptionBudgets that select a workload's pods. */
  budgetsOf(workload: Workload): readonly KubeObject[] {
    if (this.#budgets === undefined) {
      const found = new Map<Workload, KubeObject[]>();
      for (const budget of this.ofKind("PodDisruptionBudget")) {
        for (const pod of this.podsMatching(budget.namespace, budget.get("spec", "selector"))) push(found, pod, budget);
      }
      this.#budgets = found;
    }
    return this.#budgets.get(workload) ?? [];
  }

  /** The configurations and scripts that a ConfigMap holds. */
  textsIn(map: KubeObject): readonly TextOrigin[] {
    if (this.#textsIn === undefined) {
      const found = new Map<KubeObject, TextOrigin[]>();
      for (const texts of [this.confs, this.scripts])
        for (const text of texts) if (text.owner !== undefined) push(found, text.owner, text);
      this.#textsIn = found;
    }
    return this.#textsIn.get(map) ?? [];
  }

  /** What the commands of its containers do. */
  get shell(): ContainerShell {
    this.#shell ??= new ContainerShell(this);
    return this.#shell;
  }

  /** The Lua programs: sets, entries, scripts, and who runs them. */
  get programs(): ContractPrograms {
    this.#programs ??= new ContractPrograms(this, this.#parts.programSources);
    return this.#programs;
  }

  /** Whether it has Lua scripts, whose parser a surface must make ready. */
  get hasLua(): boolean {
    return this.#parts.programSources.some((s) => s.scripts.length > 0);
  }

  /** Code that programs are described in, called from, or hidden behind: its parsers a surface must make ready. */
  get codeFiles(): readonly InputFile[] {
    const found = new Set<InputFile>();
    for (const s of this.#parts.programSources) {
      for (const f of [...s.descriptors.map((d) => d.input), ...s.imported, ...s.callers, ...s.sources]) {
        if ((f.kind === "java" || f.kind === "typescript") && f.fault === undefined) found.add(f);
      }
    }
    return [...found];
  }

  /** What servers make of their configurations and ACLs, and who plays which role. */
  get redis(): RedisDeployment {
    this.#redis ??= new RedisDeployment(this, (server) => serverInputs(server, this));
    return this.#redis;
  }

  /** Who may talk to whom under the NetworkPolicies, and what the contract file says about it. */
  get network(): ContractNetwork {
    this.#network ??= new ContractNetwork(this);
    return this.#network;
  }

  /** The quorum of a plane's `sentinel monitor`, where it is known. */
  quorumOf(plane: Plane): number | undefined {
    const sentinel = plane.role === "sentinel" ? plane : plane.peer;
    for (const server of sentinel?.servers ?? []) {
      for (const master of this.redis.load(server)?.sentinel?.masters.values() ?? []) {
        if (master.quorum.number !== undefined) return master.quorum.number;
      }
    }
    return undefined;
  }

  plane(role: PlaneRole): Plane | undefined {
    return this.#index.planeOf.get(role);
  }

  /** The planes whose servers a workload runs (a pod may hold a server and a Sentinel). */
  planesOf(workload: KubeObject): readonly Plane[] {
    return this.#index.planesOf.get(workload) ?? [];
  }

  /** The place of a key of the contract file, for faults of the declaration itself. */
  declaration(...path: Path): Place | undefined {
    const { configDocument, configPath } = this.#parts;
    return configDocument === undefined ? undefined : new NodePlace(configDocument, [...configPath, ...path]);
  }

  /** All entities of a kind, in file order. */
  entities<K extends EntityKind>(kind: K): readonly Entities[K][] {
    return this.#entities(kind) as readonly Entities[K][];
  }

  #entities(kind: EntityKind): readonly unknown[] {
    switch (kind) {
      case "Contract":
        return [this];
      case "File":
        return this.files;
      case "Object":
        return this.objects;
      case "Workload":
        return this.workloads;
      case "Container":
        this.#containers ??= this.workloads.flatMap((w) => w.containers);
        return this.#containers;
      case "Plane":
        return this.planes;
      case "Server":
        this.#servers ??= this.planes.flatMap((p) =>
          p.servers.length > 0 ? p.servers : (this.redis.commandServer(p) ?? []),
        );
        return this.#servers;
      case "Conf":
        return this.confs;
      case "Acl":
        return this.acls;
      case "Script":
        return this.scripts;
      case "ProgramSet":
        return this.programs.sets;
      case "Program":
        return this.programs.programs;
      case "LuaScript":
        return this.programs.scripts;
      case "ImageRegistry":
        return this.imageRegistry === undefined ? [] : [this.imageRegistry];
      default:
        return this.ofKind(kind);
    }
  }

  /** The file of an entity, for the report of a crash. */
  fileOf(entity: unknown): string {
    const e = entity as {
      input?: InputFile;
      file?: unknown;
      workload?: Workload;
      at?: { source?: { file?: string } };
      name?: string;
    };
    const file = typeof e.file === "string" ? e.file : e.at?.source?.file;
    return e.input?.file ?? file ?? e.workload?.input.file ?? e.name ?? this.name;
  }
}
