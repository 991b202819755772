/** A contract with one file changed: the keys that the change disturbs, and the contract as it is then, built when asked for. */
import { type DuplicateKey, parseSlice, YamlDocument } from "../document/yaml.js";
import { kubeObjects, rebuildContract } from "../model/build.js";
import type { Contract, EntityKind } from "../model/contract.js";
import { InputFile } from "../model/input.js";
import { KubeObject } from "../model/kubernetes/object.js";
import { Container, Workload } from "../model/kubernetes/workload.js";
import { rereadManifests } from "../model/program/programs.js";
import { Source } from "../text/source.js";
import { type Mutant, mutatedText } from "./mutant.js";
import { applyChange, differentKeys, differentParts, touchedKeys } from "./recorder.js";

/** The questions that other objects in a file may answer differently. */
export function disturbedBy(of: Contract, file: InputFile, changed: InputFile, reshaped: boolean): Set<string> {
  if (isOfPrograms(file) && !reshaped) return new Set(["*", "programs"]);
  const out = new Set<string>(["*", "objects"]);
  if (reshaped || !hasDocuments(file)) for (const q of ["planes", "texts", "images"]) out.add(q);
  // a contract file says which files are programs, whatever the others hold
  if (!hasDocuments(file)) out.add("programs");
  if (!hasDocuments(file)) return out;
  const before = new Set(file.yaml.documents);
  const after = new Set(changed.yaml.documents);
  const differ = [
    ...file.yaml.documents.filter((d) => !after.has(d)).flatMap((d) => kubeObjects(file, d, of)),
    ...changed.yaml.documents.filter((d) => !before.has(d)).flatMap((d) => kubeObjects(changed, d, of)),
  ];
  for (const object of differ) {
    out.add(`kind:${object.kind}`);
    if (object instanceof Workload) for (const q of ["workloads", "planes", "texts"]) out.add(q);
    if (object.kind === "ConfigMap") out.add("texts");
  }
  return out;
}

/** The file, and those objects of it that a change makes anew. */
export function* entitiesThatDiffer(of: Contract, file: InputFile, changed: InputFile): Generator<unknown> {
  yield file;
  const kept = new Set(changed.yaml.documents);
  for (const document of file.yaml.documents) if (!kept.has(document)) yield* kubeObjects(file, document, of);
}

/** The documents hold objects of the same kinds as before, in the same order. */
export function sameKinds(file: InputFile, changed: InputFile): boolean {
  const kinds = (f: InputFile): string =>
    f.yaml.documents.map((d) => kubeObjects(f, d).map((o) => `${o.kind} ${o instanceof Workload}`)).join("\n");
  const containers = (f: InputFile): string =>
    f.yaml.documents
      .map((d) => kubeObjects(f, d).map((o) => (o instanceof Workload ? o.containers.length : 0)))
      .join("\n");
  return hasDocuments(file) && kinds(file) === kinds(changed) && containers(file) === containers(changed);
}

export function meets(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const item of a) if (b.has(item)) return true;
  return false;
}

type Lasting = InputFile | KubeObject | Container;

/** Entities that outlive a change of another file; the others are made anew by each build, in the same order. */
export function isLasting(entity: unknown): entity is Lasting {
  return entity instanceof InputFile || entity instanceof KubeObject || entity instanceof Container;
}

/** Fields of a contract that come from its contract file and from the command line, or that all its changes share. */
const LASTING: ReadonlySet<string> = new Set(["name", "declared", "config", "today", "setting", "clean"]);

/** The contract with one file changed; built only when somebody asks for more than an object of it. */
export class Changed {
  readonly base: Contract;
  readonly #file: InputFile;
  readonly #changed: InputFile;
  #contract: Contract | undefined;
  #front: Contract | undefined;

  constructor(base: Contract, file: InputFile, changed: InputFile) {
    this.base = base;
    this.#file = file;
    this.#changed = changed;
  }

  get contract(): Contract {
    this.#contract ??=
      this.#file === this.#changed ? this.base : rebuildContract(this.base, new Map([[this.#file, this.#changed]]));
    return this.#contract;
  }

  /** The contract for those who mostly ask for what no mutant changes: it is built when they ask for more. */
  get front(): Contract {
    if (this.#contract !== undefined || this.#file === this.#changed) return this.contract;
    this.#front ??= new Proxy(this.base, {
      get: (base, key) => {
        if (typeof key === "string" && LASTING.has(key)) return Reflect.get(base, key, base) as unknown;
        const { contract } = this;
        const value: unknown = Reflect.get(contract, key, contract);
        return typeof value === "function" ? (value.bind(contract) as unknown) : value;
      },
    });
    return this.#front;
  }

  /** Whether an entity is one of the same class in the changed contract, which need not be built to know it. */
  isLike(entity: unknown): boolean {
    return isLasting(entity) && this.#lasting(entity)?.constructor === entity.constructor;
  }

  /** What an entity of the unchanged contract has become. */
  counterpart(kind: EntityKind, index: number, entity: unknown): unknown {
    return isLasting(entity) ? this.#lasting(entity) : this.contract.entities(kind)[index];
  }

  #lasting(entity: Lasting): Lasting | undefined {
    if (entity instanceof InputFile) return entity === this.#file ? this.#changed : entity;
    if (entity instanceof KubeObject) return this.#object(entity);
    const { workload } = entity;
    const now = this.#object(workload);
    return now === workload ? entity : (now as Workload).containers[workload.containers.indexOf(entity)];
  }

  #object(object: KubeObject): KubeObject {
    if (object.input !== this.#file) return object;
    const at = this.#file.yaml.documents.indexOf(object.document);
    const nth = kubeObjects(this.#file, object.document, this.base).indexOf(object);
    return kubeObjects(this.#changed, this.#changed.yaml.documents[at]!, this.base)[nth]!;
  }
}

export function hasDocuments(file: InputFile): boolean {
  return (file.kind === "kubernetes" || file.kind === "yaml") && file.fault === undefined;
}

/** Scripts, manifests and code: what is made of them is kept by file, so that no reading of it can be recorded. */
function isOfPrograms(file: InputFile): boolean {
  return ["lua", "json", "java", "typescript"].includes(file.kind);
}

/** Reads of a manifest that decide which programs there are: the list, the files that entries name. */
export const REGROUPS = /\0(?:\0(?:manifest|entries)|entries\0[^\0]*|entries\/\d+(?:\0file|\/file\0value))$/;

/** Which programs a contract has, each with its script. */
export function programShape(contract: Contract): string {
  return contract.programs.sets
    .map(
      (s) =>
        `${s.input?.file}\0${s.manifest === undefined}\0${s.scripts.length}\0${s.programs.map((p) => p.script?.file).join("\0")}`,
    )
    .join("\n");
}

export interface ChangedFile {
  /** Read keys that the change disturbs; undefined: it may disturb all. */
  readonly keys: readonly string[] | undefined;
  readonly make: () => InputFile;
}

/** `programs`: whether somebody looks at programs, so that what is read of manifests has to be compared. */
export function changeFile(mutant: Mutant, file: InputFile, programs = false): ChangedFile | "invalid" {
  const { document: index, change } = mutant;
  const text = (): string => mutatedText(mutant, file.source.text);
  // where the mutator knows what it does to the value, the text parses
  if (file.kind === "json" && change !== undefined && !programs)
    return { keys: [file.file], make: () => file.withText(text()) };
  if (!hasDocuments(file) || index === undefined) {
    const changed = file.withText(text());
    if (hasDocuments(file) && changed.yaml.problems.length > 0) return "invalid";
    if (file.kind === "json" && change === undefined && changed.yaml.problems.length > 0) return "invalid";
    if (hasDocuments(file)) return { keys: undefined, make: () => changed };
    const keys = [file.file];
    if (file.kind === "json" && programs) {
      for (const { name, before, after } of rereadManifests(file, changed, mutant.start, mutant.end))
        for (const key of differentParts(file.file, name, before, after)) keys.push(key);
    }
    return { keys, make: () => changed };
  }
  const before = file.yaml.documents[index]!;
  const end = before.end + mutant.newText.length - (mutant.end - mutant.start);
  if (change !== undefined) {
    const keys = touchedKeys(file.file, index, before.value, change);
    keys.push(file.file);
    return {
      keys,
      make: () => {
        const source = new Source(file.file, text());
        const { duplicates } = before;
        const more: DuplicateKey[] =
          change.kind === "duplicate"
            ? [
                {
                  key: change.key,
                  at: source.span(change.at, change.at + change.key.length),
                  first: source.span(mutant.start, mutant.start),
                },
              ]
            : [];
        const value = applyChange(before.value, change);
        const document = new YamlDocument(
          source,
          before.start,
          end,
          before.meaning,
          value,
          more.length === 0 ? duplicates : [...duplicates, ...more],
        );
        return file.withDocuments(source, file.yaml.documents.with(index, document));
      },
    };
  }
  const source = new Source(file.file, text());
  const parsed = parseSlice(source, before.start, end, before.meaning);
  if (!(parsed instanceof YamlDocument)) return "invalid";
  if (parsed.value === null || parsed.value === undefined)
    return { keys: undefined, make: () => file.withDocuments(source, file.yaml.documents.toSpliced(index, 1)) };
  const keys = differentKeys(file.file, index, before.value, parsed.value);
  keys?.push(file.file);
  if (parsed.duplicates.length !== before.duplicates.length) keys?.push(`${file.file}\0${index}\0#\0duplicates`);
  return { keys, make: () => file.withDocuments(source, file.yaml.documents.with(index, parsed)) };
}

/**
 * What a build makes of texts: which are configurations, ACLs and scripts, which server has which, what the image registry
 * says. Two contracts of the same shape differ for a rule only in what it reads itself.
 */
export function shapeOf(contract: Contract): string {
  const { confs, acls, scripts, planes, imageRegistry } = contract;
  const ref = (text: { input: InputFile; name: string; owner: { ref: string } | undefined }): string =>
    `${text.input.file} ${text.name} ${text.owner?.ref ?? ""}`;
  return JSON.stringify([
    confs.map((c) => [ref(c), c.mode, c.templated]),
    acls.map((a) => [ref(a), a.role, a.templated]),
    scripts.map(ref),
    planes.map((p) => [
      p.role,
      p.workload?.ref,
      p.container?.title,
      p.peer === undefined ? -1 : planes.indexOf(p.peer),
      p.servers.map((s) => [s.conf === undefined ? "" : ref(s.conf), s.acl === undefined ? "" : ref(s.acl)]),
    ]),
    contract.files.map((f) => [f.file, f.kind]),
    imageRegistry === undefined ? null : imageRegistry.properties.map((p) => [p.key, p.value]),
  ]);
}
