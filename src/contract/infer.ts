/**
 * Contracts without a contract file: files that belong together are one. A directory is the unit, joined with others where
 * a file says so (a kustomization, a ConfigMap or Service that lives elsewhere). Never wider: one tree may hold
 * alternatives, backups and examples side by side.
 */
import type { DuplicateKey } from "../document/yaml.js";
import type { RuleSetting } from "../engine/lint.js";
import type { Input } from "../engine/result.js";
import { buildContract, kubeObjects, namesScripts, serverRole, textKind } from "../model/build.js";
import type { Contract } from "../model/contract.js";
import { normalizePath } from "../model/file-path.js";
import type { InputFile } from "../model/input.js";
import type { KubeObject } from "../model/kubernetes/object.js";
import { LabelIndex, parseMapSelector, parseSelector } from "../model/kubernetes/selector.js";
import { Workload } from "../model/kubernetes/workload.js";
import { push } from "../model/multimap.js";
import { includeNames, isRedisScript, relativePath } from "../model/program/programs.js";
import { asArray, asObject } from "../model/value.js";
import { isCandidate, isTemplateSource } from "./classify.js";

/** What the result says of a file of a contract; one that could not be read has its reason. */
export function inputEntry({ file, kind, fault }: InputFile, contract: string): Input {
  return fault === undefined ? { file, kind, contract } : { file, kind, contract, reason: fault };
}

export interface InferReader {
  file(relative: string): InputFile | undefined;
}

const NOT_DEPLOYED = /(?:^|\/)(?:tests?|testdata|__tests__|docs?|examples?-output)\//i;
const MAX_READ = 20_000;

export function inferContracts(
  reader: InferReader,
  paths: readonly string[],
  options: { today: string; setting: (rule: string) => RuleSetting },
): { contracts: Contract[]; inputs: Input[] } {
  const inputs: Input[] = [];
  const groups = new Map<string, InputFile[]>();
  const ignore = (file: string, reason: string): void => {
    inputs.push({ file, kind: "ignored", contract: undefined, reason });
  };
  let read = 0;
  for (const path of paths) {
    if (!isCandidate(path)) continue;
    if (NOT_DEPLOYED.test(path)) {
      ignore(path, "tests and documentation are no deployment unless a contract file declares them");
      continue;
    }
    if (++read > MAX_READ) {
      ignore(path, `more than ${MAX_READ} files; declare the contract's files in quorumlint.yaml`);
      continue;
    }
    const file = reader.file(path);
    if (file === undefined) continue;
    if (/\.(ya?ml)$/i.test(path) && isTemplateSource(file.source.text)) {
      ignore(path, "template source: lint what it renders (helm template … | quorumlint check -)");
      continue;
    }
    if (!isUseful(file)) {
      ignore(path, file.fault ?? "no Kubernetes object, Redis configuration, ACL, script or program");
      continue;
    }
    const slash = path.lastIndexOf("/");
    const directory = slash < 0 ? "" : path.slice(0, slash);
    const group = groups.get(directory);
    if (group === undefined) groups.set(directory, [file]);
    else group.push(file);
  }

  addCode(reader, paths, groups);

  const contracts: Contract[] = [];
  for (const [directory, files] of joinGroups(groups)) {
    if (!files.some(concernsRedis)) {
      for (const f of files) ignore(f.file, f.fault ?? "no Redis workload, configuration, ACL or program in its set");
      continue;
    }
    const name = directory === "" ? "." : directory;
    for (const f of files) inputs.push(inputEntry(f, name));
    contracts.push(
      buildContract({
        name,
        declared: false,
        config: {},
        configDocument: undefined,
        configPath: [],
        files,
        match: () => [],
        today: options.today,
        setting: options.setting,
      }),
    );
  }
  return { contracts, inputs };
}

const MAX_CODE_FILES = 40;
const MAX_CODE_LENGTH = 2 ** 18;

/** Code that stands beside scripts and holds a digest may be their catalog. */
function addCode(reader: InferReader, paths: readonly string[], groups: ReadonlyMap<string, InputFile[]>): void {
  const seen = new Map<string, number>();
  for (const path of paths) {
    if (!/\.(?:java|[mc]?[jt]s)$/.test(path) || /\.(?:d|test|spec)\.[mc]?ts$|\.min\.js$/.test(path)) continue;
    const directory = folderOf(path);
    const group = groups.get(directory);
    if (NOT_DEPLOYED.test(path) || !group?.some((f) => f.kind === "lua" && concernsRedis(f))) continue;
    const count = (seen.get(directory) ?? 0) + 1;
    seen.set(directory, count);
    if (count > MAX_CODE_FILES) continue;
    const file = reader.file(path);
    if (file === undefined || file.fault !== undefined || file.source.text.length > MAX_CODE_LENGTH) continue;
    if (/["'`](?:[0-9a-f]{40}|[0-9a-f]{64})["'`]/i.test(file.source.text)) group.push(file);
  }
}

function isUseful(file: InputFile): boolean {
  if (file.fault !== undefined) return file.kind !== "text";
  if (file.kind === "json") return namesScripts(file);
  if (file.kind === "properties") return /^[ \t]*redis\.\w+\.image/m.test(file.source.text);
  return ["kubernetes", "conf", "acl", "lua", "shell"].includes(file.kind) || isKustomization(file);
}

function isKustomization(file: InputFile): boolean {
  return /(?:^|\/)kustomization\.ya?ml$/i.test(file.file);
}

function objectsOf(file: InputFile): readonly KubeObject[] {
  if (file.kind !== "kubernetes" || file.fault !== undefined) return [];
  return file.yaml.documents.flatMap((d) => kubeObjects(file, d));
}

function concernsRedis(file: InputFile): boolean {
  if (file.kind === "conf" || file.kind === "acl") return true;
  if (file.kind === "lua") return isRedisScript(file.source.text);
  if (file.kind === "json") return /"(?:slotRule|minimumRedisVersion|numberOfKeys)"\s*:/.test(file.source.text);
  return (
    isRunTogether(file) ||
    objectsOf(file).some((o) => {
      if (o instanceof Workload) return o.containers.some((c) => serverRole(c) !== undefined);
      if (o.kind !== "ConfigMap") return false;
      return Object.entries(asObject(o.get("data"))).some(([key, value]) => {
        const kind = typeof value === "string" ? textKind(key, value) : undefined;
        return kind === "data" || kind === "sentinel" || kind === "acl";
      });
    })
  );
}

/** Manifests without `---` between them, which YAML reads as one: of the objects only the last is left, whatever the others were. */
function isRunTogether(file: InputFile): boolean {
  if (file.kind !== "kubernetes" || file.fault !== undefined) return false;
  const { text } = file.source;
  const starts = ({ at }: DuplicateKey): boolean => at.start === 0 || text[at.start - 1] === "\n";
  return (
    file.yaml.documents.some((d) => d.duplicates.some((key) => key.key === "kind" && starts(key))) &&
    /\b(?:redis|valkey)\b/.test(text)
  );
}

/** Where the pod selector of a kind stands; a Service's is a plain map. */
const SELECTOR_FIELD: Readonly<Record<string, string>> = {
  NetworkPolicy: "podSelector",
  PodDisruptionBudget: "selector",
  Service: "selector",
};

/** Policies, budgets and services of a directory without pods of theirs belong to the one directory whose pods they select. */
function tieSelectors(
  groups: ReadonlyMap<string, readonly InputFile[]>,
  join: (directory: string, other: string) => void,
): void {
  if (groups.size < 2) return;
  const pods = new Map<string, { readonly directory: string; readonly workload: Workload }[]>();
  for (const [directory, files] of groups) {
    for (const workload of files.flatMap((file) => objectsOf(file).filter((o) => o instanceof Workload))) {
      push(pods, workload.namespace, { directory, workload });
    }
  }
  const indexes = new Map([...pods].map(([name, list]) => [name, new LabelIndex(list, (p) => p.workload.podLabels)]));
  for (const [directory, files] of groups) {
    for (const o of files.flatMap(objectsOf)) {
      const field = SELECTOR_FIELD[o.kind];
      const index = field === undefined ? undefined : indexes.get(o.namespace);
      if (field === undefined || index === undefined) continue;
      const raw = o.get("spec", field);
      const selector = o.kind === "Service" ? parseMapSelector(raw) : parseSelector(raw);
      if (selector.kind !== "some") continue;
      const homes = new Set(index.select(selector).map((p) => p.directory));
      if (homes.size === 1 && !homes.has(directory)) join(directory, [...homes][0]!);
    }
  }
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Joins directories that a file ties together; a joined group is named after its first directory. */
function joinGroups(groups: ReadonlyMap<string, InputFile[]>): Map<string, InputFile[]> {
  const parent = new Map<string, string>();
  const find = (d: string): string => {
    let at = d;
    while ((parent.get(at) ?? at) !== at) at = parent.get(at)!;
    return at;
  };
  const join = (a: string, b: string): void => {
    if (!groups.has(a) || !groups.has(b)) return;
    const [first, second] = [find(a), find(b)].sort();
    if (first !== second) parent.set(second!, first!);
  };

  // names that exactly one directory defines can be meant by another one
  const owners = new Map<string, Set<string>>();
  for (const [directory, files] of groups) {
    for (const file of files) {
      for (const o of objectsOf(file)) {
        const key = `${o.kind}/${o.namespace}/${o.name}`;
        const set = owners.get(key);
        if (set === undefined) owners.set(key, new Set([directory]));
        else set.add(directory);
      }
    }
  }
  const tie = (directory: string, kind: string, namespace: string, name: string): void => {
    const set = owners.get(`${kind}/${namespace}/${name}`);
    if (set?.size === 1 && !set.has(directory)) join(directory, [...set][0]!);
  };
  for (const [directory, files] of groups) {
    for (const file of files) {
      if (isKustomization(file)) {
        const value = asObject(file.yaml.documents[0]?.value);
        for (const field of ["resources", "bases", "components"]) {
          for (const item of asArray(value[field])) {
            if (typeof item !== "string" || item.includes("://")) continue;
            const target = normalizePath(`${directory}/${item}`);
            join(
              directory,
              /\.(ya?ml|json)$/i.test(target) ? target.slice(0, Math.max(0, target.lastIndexOf("/"))) : target,
            );
          }
        }
      }
      if (file.kind === "lua" && file.fault === undefined) {
        for (const name of includeNames(file.source.text)) join(directory, folderOf(relativePath(name, file.file)));
      }
      if (file.kind === "json" && file.fault === undefined) {
        for (const name of file.source.text.match(/"[^"\\\n]{1,300}\.lua"/g)?.slice(0, 1000) ?? [])
          join(directory, folderOf(relativePath(name.slice(1, -1), file.file)));
      }
      for (const o of objectsOf(file)) {
        if (!(o instanceof Workload)) continue;
        for (const r of o.references) if (r.kind === "ConfigMap") tie(directory, r.kind, o.namespace, r.name);
        const service = o.get("spec", "serviceName");
        if (typeof service === "string") tie(directory, "Service", o.namespace, service);
      }
    }
  }
  tieSelectors(groups, join);
  const out = new Map<string, InputFile[]>();
  for (const [directory, files] of groups) {
    const root = find(directory);
    out.set(root, [...(out.get(root) ?? []), ...files]);
  }
  return out;
}
