/** Handlers run once on the unchanged contract: what each reads of its files, and what it asks of the contract as a whole. */
import type { YamlDocument } from "../document/yaml.js";
import type { Rule } from "../engine/rule.js";
import { isProgramFile, rebuildContract } from "../model/build.js";
import { Contract, type EntityKind } from "../model/contract.js";
import { InputFile } from "../model/input.js";
import { KubeObject } from "../model/kubernetes/object.js";
import { Container } from "../model/kubernetes/workload.js";
import { hasDocuments } from "./changed.js";
import type { Mutant } from "./mutant.js";
import { parsedKey, type ReadNames, type ReadSet, Recorder } from "./recorder.js";

/** One handler on one entity: what it read and said on the unchanged contract. */
export interface Invocation {
  readonly rule: Rule;
  readonly kind: EntityKind;
  readonly index: number;
  /** The entity in the unchanged contract. */
  readonly entity: unknown;
  /** What it asked of the contract as a whole: see `watchContract`. */
  readonly queries: ReadonlySet<string>;
  /** Documents (`file\0index`) of which it reads nearly every field: it guards the form, not a meaning. */
  readonly blanket: ReadonlySet<string>;
  /** How much it reads: what it costs to run it, the same on every machine. */
  readonly weight: number;
  /** It asks the contract for nothing but what all changes of it share. */
  readonly alone: boolean;
}

export interface Recorded {
  readonly invocation: Invocation;
  readonly reads: ReadSet;
}

/** What an entity that a build makes anew stands for. */
export const ENTITY_QUERIES: { readonly [K in EntityKind]?: readonly string[] } = {
  Plane: ["planes"],
  Server: ["planes", "texts"],
  Conf: ["texts"],
  Acl: ["texts"],
  Script: ["texts"],
  ImageRegistry: ["images"],
  ProgramSet: ["programs"],
  Program: ["programs"],
  LuaScript: ["programs"],
};

/** Members of a contract that no mutant changes, or that ask other members for what they say. */
const PASSED: ReadonlySet<string> = new Set([
  "constructor",
  "isProvided",
  "declaration",
  "entities",
  "fileOf",
  "budgetsOf",
  "podsIn",
  "shell",
  "redis",
  "network",
]);
const WORKLOADS: ReadonlySet<string> = new Set(["podsMatching", "podsMatchingMap"]);

const MEMBERS = Object.entries(Object.getOwnPropertyDescriptors(Contract.prototype));

/**
 * Notes what is asked of a contract's graph: `objects`, `kind:K`, `workloads`, `planes`, `texts`, `images`; `*` for a
 * question that is not known here.
 */
function watchContract(contract: Contract, query: (query: string) => void, asked: (member: string) => void): void {
  const note = (text: string): void => {
    asked(text);
    query(text);
  };
  const { objects, workloads, planes, confs, acls, scripts, imageRegistry } = contract;
  const field = (name: string, query: string, value: unknown): void => {
    Object.defineProperty(contract, name, {
      get: () => {
        note(query);
        return value;
      },
    });
  };
  field("objects", "objects", objects);
  field("workloads", "workloads", workloads);
  field("planes", "planes", planes);
  field("confs", "texts", confs);
  field("acls", "texts", acls);
  field("scripts", "texts", scripts);
  field("imageRegistry", "images", imageRegistry);
  for (const [name, { value, get }] of MEMBERS) {
    if (PASSED.has(name)) {
      if (get !== undefined)
        Object.defineProperty(contract, name, {
          get: () => {
            asked(name);
            return get.call(contract) as unknown;
          },
        });
      continue;
    }
    if (typeof value === "function") {
      Object.defineProperty(contract, name, {
        value: (...args: unknown[]): unknown => {
          if (name === "ofKind" || name === "find") note(`kind:${String(args[0])}`);
          else if (WORKLOADS.has(name)) note("workloads");
          else if (name === "plane" || name === "planesOf") note("planes");
          else if (name === "textsIn") note("texts");
          else note("*");
          return (value as (...args: unknown[]) => unknown).apply(contract, args);
        },
      });
    } else if (get !== undefined) {
      Object.defineProperty(contract, name, {
        get: () => {
          note(name === "programs" ? "programs" : "*");
          return get.call(contract) as unknown;
        },
      });
    }
  }
}

export function watchFiles(contract: Contract, recorder: Recorder): Map<InputFile, InputFile> {
  return new Map(contract.files.map((f) => [f, recorder.file(f)]));
}

/** Texts that the build only classifies: a whole file, a value of a ConfigMap, a word of a command. */
export function isText(key: string): boolean {
  const [file, , pointer, name] = key.split("\0");
  if (pointer === undefined || name === undefined) return file !== undefined;
  if (name === "*" || name.startsWith("?")) return false;
  return pointer === "data" || /\/(?:data|command|args)$/.test(pointer);
}

/**
 * Records a rule's handlers, each on one entity. What a handler has read may be kept ready for the next one that asks, in
 * the object or in the contract; so those that share nothing but the contract's files run on one contract, and whoever
 * asked the contract itself runs once more on one of its own.
 */
export function record(
  contract: Contract,
  rule: Rule,
  kind: EntityKind,
  known: ReadNames,
  derived: readonly Derived[],
): Recorded[] {
  const entities = contract.entities(kind);
  if (derived.some((d) => d.name === TABLE) && ENTITY_QUERIES[kind]?.includes("programs") === true) {
    return entities.map((entity, index) => {
      const small = new Recording(contract, known, derived, true);
      const made = small.run(rule, kind, index, entity);
      return small.deep ? new Recording(contract, known, derived).run(rule, kind, index, entity) : made;
    });
  }
  const out: (Recorded | undefined)[] = entities.map(() => undefined);
  for (const group of groupsOf(entities)) {
    const shared = new Recording(contract, known, derived);
    for (const index of group) {
      const made = shared.run(rule, kind, index, entities[index]);
      out[index] =
        group.length === 1 || !shared.asked
          ? made
          : new Recording(contract, known, derived).run(rule, kind, index, entities[index]);
      shared.asked = false;
    }
  }
  return out.filter((i) => i !== undefined);
}

/** Indices of entities that keep nothing in common: objects and files all; containers one of each workload; others none. */
function groupsOf(entities: readonly unknown[]): number[][] {
  const groups: number[][] = [];
  const seen = new Map<unknown, number>();
  entities.forEach((entity, index) => {
    const owner = entity instanceof Container ? entity.workload : entity;
    const lasting = owner instanceof InputFile || owner instanceof KubeObject;
    const nth = seen.get(owner) ?? 0;
    seen.set(owner, nth + 1);
    if (!lasting) groups.push([index]);
    else (groups[nth] ??= []).push(index);
  });
  return groups;
}

/**
 * A question whose answer is nearly always the same after a change of what it is found by: which commands the servers have,
 * what a server makes of its configuration and of its pod. Whoever wants the answer runs again only where it is another one.
 */
interface Derived {
  readonly name: string;
  readonly answer: unknown;
  readonly ask: (contract: Contract) => unknown;
  /** Answers the question on a copy of the contract. */
  readonly settle: (copy: Contract, asked: () => void) => void;
}

/** What finding the answer reads and asks. */
export interface DerivedReads extends Derived {
  readonly reads: ReadSet;
  readonly queries: ReadonlySet<string>;
}

export const TABLE = "=table";

export function derivedOf(contract: Contract, known: ReadNames): readonly DerivedReads[] {
  // an inferred contract is linted again as a whole where its parts change
  if (!contract.declared) return [];
  const out: Derived[] = [];
  const { redis } = contract;
  if (contract.programs.sets.length > 0) {
    const answer = contract.programs.table;
    const settle = (copy: Contract, asked: () => void): void => answerBy(copy.programs, "table", asked, answer);
    out.push({ name: TABLE, answer, ask: (c) => c.programs.table, settle });
  }
  const answer = redis.scripted;
  const settle = (copy: Contract, asked: () => void): void => answerBy(copy.redis, "scripted", asked, answer);
  out.push({ name: "=scripted", answer, ask: (c) => c.redis.scripted, settle });
  contract.planes.forEach((plane, p) => {
    plane.servers.forEach((server, s) => {
      const load = redis.load(server);
      const ask = (c: Contract): unknown => c.redis.load(c.planes[p]!.servers[s]!);
      const settleLoad = (copy: Contract, asked: () => void): void => {
        const own = copy.planes[p]!.servers[s];
        const { redis: before } = copy;
        const { load: other } = before;
        before.load = (wanted) => {
          if (wanted !== own) return other.call(before, wanted);
          asked();
          return load;
        };
      };
      out.push({ name: `=load ${p} ${s}`, answer: load, ask, settle: settleLoad });
    });
  });
  return out.map((d) => {
    const reads: ReadSet = new Set();
    const queries = new Set<string>();
    new Recording(contract, known).during(reads, queries, d.ask);
    return { name: d.name, answer: d.answer, ask: d.ask, settle: d.settle, reads, queries };
  });
}

function answerBy(target: object, name: string, asked: () => void, answer: unknown): void {
  Object.defineProperty(target, name, {
    get: () => {
      asked();
      return answer;
    },
  });
}

class Recording {
  /** Whether the handlers so far asked the contract for anything that it may keep. */
  asked = false;
  /** A handler asked for more than programs. */
  deep = false;
  readonly #base: Contract;
  readonly #copy: Contract;
  readonly #recorder: Recorder;
  #queries: Set<string> | undefined;

  /** `small`: only files of programs are watched, and the reads are all where the run was not `deep`. */
  constructor(base: Contract, known: ReadNames, derived: readonly Derived[] = [], small = false) {
    this.#base = base;
    this.#recorder = new Recorder(known);
    const files = small ? base.files.filter(isProgramFile) : base.files;
    this.#copy = rebuildContract(base, new Map(files.map((f) => [f, this.#recorder.file(f)])));
    for (const { name, settle } of derived) {
      if (small && name !== TABLE) continue;
      settle(this.#copy, () => {
        this.#queries?.add(name);
      });
    }
    watchContract(
      this.#copy,
      (query) => {
        this.#queries?.add(query);
        if (query !== "programs") this.deep = true;
      },
      (member) => {
        this.asked = true;
        if (member !== "programs") this.deep = true;
      },
    );
  }

  during(reads: ReadSet, queries: Set<string>, work: (copy: Contract) => unknown): void {
    this.#queries = queries;
    this.#recorder.during(reads, () => void work(this.#copy));
  }

  run(rule: Rule, kind: EntityKind, index: number, own: unknown): Recorded {
    const entity = this.#copy.entities(kind)[index];
    this.deep = false;
    const reads: ReadSet = new Set();
    const queries = new Set<string>(ENTITY_QUERIES[kind]);
    this.#queries = queries;
    this.asked = false;
    const context = { contract: this.#copy, options: this.#copy.setting(rule.id).options, report: () => undefined };
    const handler = rule.on[kind] as unknown as (entity: unknown, context: unknown) => void;
    this.#recorder.during(reads, () => {
      try {
        handler(entity, context);
      } catch {
        // a crash is found where the unchanged contract is linted
      }
    });
    // finding the next entity is nobody's question
    this.#queries = undefined;
    const blanket = blankets(this.#base, reads);
    const invocation = {
      rule,
      kind,
      index,
      entity: own,
      queries,
      blanket,
      weight: weightOf(this.#base, reads),
      alone: !this.asked,
    };
    return { invocation, reads };
  }
}

/** Characters of a text that weigh as much as one field: where it is searched, and where it is parsed. */
const SEARCHED = 40;
const PARSED = 4;

/** Fields that are read, and whole texts by their length. */
function weightOf(contract: Contract, reads: ReadSet): number {
  let weight = reads.size;
  for (const { file, source } of contract.files) {
    if (reads.has(parsedKey(file))) weight += source.text.length / PARSED;
    else if (reads.has(file)) weight += source.text.length / SEARCHED;
  }
  return weight;
}

/** Part of a document's values that a handler must read to count as one that reads everything. */
const BLANKET = 0.8;
const leavesOf = new WeakMap<YamlDocument, readonly string[]>();

function blankets(contract: Contract, reads: ReadSet): ReadonlySet<string> {
  const out = new Set<string>();
  const touched = new Set<string>();
  for (const key of reads) {
    const second = key.indexOf("\0", key.indexOf("\0") + 1);
    if (second > 0) touched.add(key.slice(0, second));
  }
  for (const file of contract.files) {
    if (!hasDocuments(file)) continue;
    for (const [i, document] of file.yaml.documents.entries()) {
      const prefix = `${file.file}\0${i}`;
      if (!touched.has(prefix)) continue;
      let leaves = leavesOf.get(document);
      if (leaves === undefined) leavesOf.set(document, (leaves = leafKeys(document.value, prefix)));
      let read = 0;
      for (const leaf of leaves) if (reads.has(leaf)) read++;
      if (leaves.length >= 10 && read >= BLANKET * leaves.length) out.add(prefix);
    }
  }
  return out;
}

function leafKeys(value: unknown, prefix: string): string[] {
  const out: string[] = [];
  const walk = (at: unknown, pointer: string): void => {
    if (at === null || typeof at !== "object") return;
    for (const key of Object.keys(at)) {
      const child = (at as Record<string, unknown>)[key];
      if (child !== null && typeof child === "object") walk(child, pointer === "" ? key : `${pointer}/${key}`);
      else out.push(`${prefix}\0${pointer}\0${key}`);
    }
  };
  walk(value, "");
  return out;
}

/** Whether a read says nothing about a field: it looks at the whole text, or at every field alike. */
export function isScan(key: string, file: InputFile, invocation: Invocation, mutant: Mutant): boolean {
  if (invocation.blanket.size > 0 && invocation.blanket.has(`${file.file}\0${mutant.document}`)) return true;
  if (key.includes("\0#\0")) return true;
  return !key.includes("\0") && (hasDocuments(file) || invocation.kind === "File");
}
