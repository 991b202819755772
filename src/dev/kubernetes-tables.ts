/**
 * Builds `schemas/kubernetes/tables.json`, the field tables of Kubernetes 1.30 … 1.36 that `k8s/schema` reads.
 *
 * The facts come from npm packages generated from the OpenAPI documents of Kubernetes; nothing is downloaded here. Put
 * them into one directory, each unpacked under its own `name@version` with `/` written as `+`:
 *
 * ```
 * mkdir packages && cd packages
 * for p in @kubernetes/client-node@1.0.0-rc7 @kubernetes/client-node@1.1.3 @kubernetes/client-node@1.3.0 \
 *          @kubernetes/client-node@1.4.0 @kubernetes/client-node@2.0.1 @pulumi/kubernetes@4.18.0 \
 *          @pulumi/kubernetes@4.28.0 cdk8s-plus-31@2.6.43 kubernetes-models@5.1.0; do
 *   mkdir -p "${p//\//+}" && tar xzf "$(npm pack -s "$p")" -C "${p//\//+}" --strip-components=1
 * done
 * ```
 *
 * `@kubernetes/client-node` gives kinds, fields, types, formats and what is required for 1.30, 1.32, 1.33, 1.34 and
 * 1.36. No release of it was made for 1.31 and 1.35: what both neighbours agree on holds there too, where they differ
 * the resource types of `@pulumi/kubernetes` for exactly that version decide, and what they cannot answer is settled by
 * hand below (`SETTLED`), from the Go types of `k8s.io/api`. `kubernetes-models` gives enumerations and which strings
 * are quantities.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The npm packages that the tables are made of. */
export const SOURCES = {
  "1.30": "@kubernetes/client-node@1.0.0-rc7",
  "1.31": "@pulumi/kubernetes@4.18.0",
  "1.32": "@kubernetes/client-node@1.1.3",
  "1.33": "@kubernetes/client-node@1.3.0",
  "1.34": "@kubernetes/client-node@1.4.0",
  "1.35": "@pulumi/kubernetes@4.28.0",
  "1.36": "@kubernetes/client-node@2.0.1",
  "kinds of 1.31": "cdk8s-plus-31@2.6.43",
  enumerations: "kubernetes-models@5.1.0",
} as const;

const VERSIONS = ["1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36"] as const;
type Version = (typeof VERSIONS)[number];

interface Field {
  /** Prefixes `[` (list) and `{` (map), then a scalar letter of `schema-tables.ts` or the name of a type. */
  readonly type: string;
  readonly required: boolean;
}

type Fields = Map<string, Field>;

interface Kind {
  readonly type: string;
  /** `n` namespaced, `c` cluster-wide, `l` list, `v` never stored (reviews, request bodies). */
  readonly scope: string;
}

interface Tables {
  readonly types: Map<string, Fields>;
  readonly kinds: Map<string, Kind>;
}

/** Types that a later package names differently because a new API group brought the same name. */
const RENAMED = new Map([["V1ResourceClaim", "CoreV1ResourceClaim"]]);

/** `any` in client-node that stands for a free-form JSON object. */
const OBJECTS = new Set([
  "V1ManagedFieldsEntry.fieldsV1",
  "V1ControllerRevision.data",
  "V1CustomResourceSubresources.status",
  "V1alpha1StorageVersion.spec",
]);

const OBJECT_FIELDS =
  /^V\d\w*(OpaqueDeviceConfiguration\.parameters|AllocatedDeviceStatus\.data)$|PodGroupPolicy\.basic$|SchedulingPolicy\.basic$/;

/** Quantities in types that `kubernetes-models` does not describe (pre-release API versions). */
const QUANTITY_FIELDS =
  /^V\d\w*(Counter|DeviceCapacity)\.value$|CapacityRequestPolicyRange\.(min|max|step)$|CapacityRequestPolicy\.(default|validValues)$|CapacityRequirements\.requests$|\.consumedCapacity$|BasicDevice\.capacity$|NamedResourcesAttribute\.quantity$|\.allocationMultiplier$/;

/**
 * What no package answers about a version between two others, from the Go types of `k8s.io/api` at its tag.
 * `required`: whose word counts where both neighbours have a field and only one requires it, and the exceptions;
 * `has`: fields that only one neighbour has and that the judge cannot answer for; `own`: fields of this version alone.
 */
const SETTLED: Record<"1.31" | "1.35", Settled> = {
  "1.31": {
    required: "after",
    exceptions: [],
    has: {
      "V1DeleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential": false,
      "V1PodResourceClaim.source": false,
      "V1ResourceAttributes.fieldSelector": true,
      "V1ResourceAttributes.labelSelector": true,
    },
    own: {
      "V1alpha3AllocationResult.controller": "s",
      "V1alpha3DeviceClassSpec.suitableNodes": "V1NodeSelector",
      "V1alpha3ResourceClaimSpec.controller": "s",
      "V1alpha3ResourceClaimStatus.deallocationRequested": "b",
    },
  },
  "1.35": {
    required: "before",
    exceptions: ["V1PodFailurePolicyOnPodConditionsPattern.status"],
    has: Object.fromEntries([
      ["V1ListMeta.shardInfo", false],
      ["V1alpha3DeviceTaintSelector.deviceClassName", false],
      ["V1alpha3DeviceTaintSelector.selectors", false],
      ...["V1", "V1beta1", "V1beta2"].flatMap((version) =>
        ["bools", "ints", "strings", "versions"].map((field) => [`${version}DeviceAttribute.${field}`, false]),
      ),
    ]),
    own: { "V1PodSpec.workloadRef": "V1WorkloadReference" },
  },
};

interface Settled {
  readonly required: "before" | "after";
  readonly exceptions: readonly string[];
  readonly has: Readonly<Record<string, boolean>>;
  readonly own: Readonly<Record<string, string>>;
}

const optional = (types: Readonly<Record<string, string>>): Fields =>
  new Map(Object.entries(types).map(([name, type]) => [name, { type, required: false }]));

/** Alpha kinds that only 1.31 had: accepted, their fields are not judged. */
const UNCHECKED = new Map<string, Fields>([
  ["Unchecked", optional({ apiVersion: "s", kind: "s", metadata: "V1ObjectMeta", spec: "o", status: "o" })],
  ["UncheckedList", optional({ apiVersion: "s", kind: "s", metadata: "V1ListMeta", items: "[Unchecked" })],
]);

/** Values that were added to an enumeration: first version that takes them. */
const ENUM_SINCE: Record<string, Record<string, Version>> = {
  "V1Toleration.operator": { Gt: "1.35", Lt: "1.35" },
  "V1DeviceTaint.effect": { None: "1.35" },
  "V1DeviceToleration.effect": { None: "1.35" },
  "V1ScopedResourceSelectorRequirement.scopeName": { VolumeAttributesClass: "1.33" },
  "V1ResourceQuotaSpec.scopes": { VolumeAttributesClass: "1.33" },
};

const read = (...parts: string[]): string => readFileSync(join(...parts), "utf8");

function scalar(type: string, format: string, owner: string): string {
  switch (type) {
    case "string":
      return format === "byte" ? "y" : QUANTITY_FIELDS.test(owner) ? "q" : "s";
    case "boolean":
      return "b";
    case "number":
      return format === "int32"
        ? "i"
        : format === "int64"
          ? "l"
          : format === "double"
            ? "d"
            : fail(`number of format ${format} at ${owner}`);
    case "IntOrString":
      return "x";
    case "Date":
      return "t";
    case "V1MicroTime":
      return "u";
    case "any":
      return OBJECTS.has(owner) || OBJECT_FIELDS.test(owner) ? "o" : "a";
    default:
      return /^[A-Z]\w*$/.test(type) ? (RENAMED.get(type) ?? type) : fail(`type ${type} at ${owner}`);
  }
}

function fail(message: string): never {
  throw new Error(message);
}

function clientType(type: string, format: string, owner: string): string {
  const list = /^Array<(.*)>$/.exec(type);
  if (list !== null) return `[${clientType(list[1]!, format, owner)}`;
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type);
  if (map !== null) return `{${clientType(map[1]!, format, owner)}`;
  return scalar(type, format, owner);
}

function clientModel(models: string, name: string): Fields {
  const code = read(models, `${name}.js`);
  const map = /attributeTypeMap = (\[[\s\S]*?\n?\]);/.exec(code)?.[1] ?? fail(`no attributeTypeMap in ${name}`);
  const optional = new Map<string, boolean>();
  for (const match of read(models, `${name}.d.ts`).matchAll(/^ {4}'([^']+)'(\??): /gm))
    optional.set(match[1]!, match[2] === "?");
  const fields: Fields = new Map();
  for (const attribute of JSON.parse(map) as { name: string; baseName: string; type: string; format: string }[]) {
    const isOptional = optional.get(attribute.name) ?? fail(`${name}.${attribute.name} is not declared`);
    const type = clientType(attribute.type, attribute.format, `${name}.${attribute.baseName}`);
    fields.set(attribute.baseName, { type, required: !isOptional });
  }
  return fields;
}

/** `V1beta1IPAddress` → `IPAddress`, `EventsV1EventList` → `EventList`. */
const bareName = (type: string): string => type.replace(/^(?:[A-Z][a-z0-9]+)*?V\d+(?:(?:alpha|beta)\d+)?(?=[A-Z])/, "");

const STALE = /OpenAPI spec version: v(\d+\.\d+)\./;

/** Kinds that are served only below another object, by the path of their endpoint. */
const SUBRESOURCES: [RegExp, string][] = [
  [/\/pods\/\{name\}\/eviction$/, "policy/v1"],
  [/\/serviceaccounts\/\{name\}\/token$/, "authentication.k8s.io/v1"],
  [/\/(deployments|replicationcontrollers)\/\{name\}\/scale$/, "autoscaling/v1"],
];

const NEVER_STORED =
  /^(authentication|authorization)\.k8s\.io\/|^v1 (Binding|ComponentStatus)$|^policy\/v1 Eviction$|^autoscaling\/v1 Scale$/;

/** Types of the machinery that have a kind and are not manifests, but may stand in a recorded answer. */
const META = ["APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "DeleteOptions", "Status"];

function readClient(root: string): Tables & { readonly stale: Map<string, string> } {
  const gen = join(root, "dist/gen");
  const models = join(gen, "models");
  const types = new Map<string, Fields>();
  for (const match of read(models, "all.js").matchAll(/\.\.\/models\/(\w+)/g)) {
    const name = match[1]!;
    types.set(RENAMED.get(name) ?? name, clientModel(models, name));
  }
  // A package keeps models of API versions that are gone; their header says which Kubernetes had them last.
  const stale = new Map<string, string>();
  for (const file of readdirSync(models)) {
    const name = /^([A-Z]\w*)\.js$/.exec(file)?.[1];
    if (name === undefined || types.has(RENAMED.get(name) ?? name)) continue;
    const version = STALE.exec(read(models, file))?.[1];
    if (version !== undefined) stale.set(name, version);
  }
  const kinds = new Map<string, Kind>();
  for (const match of read(gen, "types/ObservableAPI.js").matchAll(/apis\/(\w+Api)/g))
    readApi(join(gen, "apis", match[1]!), types, kinds);
  for (const name of META) {
    if (types.has(`V1${name}`)) kinds.set(`v1 ${name}`, { type: `V1${name}`, scope: "v" });
  }
  kinds.set("v1 List", { type: "List", scope: "l" });
  return { types, kinds, stale };
}

function readApi(file: string, types: ReadonlyMap<string, Fields>, kinds: Map<string, Kind>): void {
  const paths = new Map<string, string>();
  for (const match of read(`${file}.js`).matchAll(
    /^ +(?:async )?(\w+)\([^)]*\) \{[^\n]*\n([\s\S]*?)localVarPath = '([^']+)'/gm,
  )) {
    if (!match[2]!.includes("WithHttpInfo(")) paths.set(match[1]!, match[3]!);
  }
  const declarations = read(`${file}.d.ts`);
  for (const match of declarations.matchAll(
    /((?:create|list|read)\w+)WithHttpInfo\(response: ResponseContext\): Promise<HttpInfo<(\w+)>>/g,
  )) {
    const path = paths.get(match[1]!);
    const type = RENAMED.get(match[2]!) ?? match[2]!;
    if (path === undefined || !types.has(type)) continue;
    const parts = /^\/api\/(v\d+)\/|^\/apis\/([^/]+\/[^/]+)\//.exec(path);
    if (parts === null) continue;
    let version = parts[1] ?? parts[2]!;
    if (path.includes("/{name}/")) {
      const own = SUBRESOURCES.find(([pattern]) => pattern.test(path));
      if (own === undefined) continue;
      version = own[1];
    }
    const kind = `${version} ${bareName(type)}`;
    const namespaced = path.includes("/namespaces/{namespace}/") || kinds.get(kind)?.scope === "n";
    const list = types.get(type)!.has("items");
    kinds.set(kind, { type, scope: NEVER_STORED.test(kind) ? "v" : list ? "l" : namespaced ? "n" : "c" });
  }
}

interface Declaration {
  readonly fields: Map<string, { readonly optional: boolean; readonly type: string }>;
}

/** The resource types of `@pulumi/kubernetes`, by `group.version.Name`. */
function readPulumi(root: string): Map<string, Declaration> {
  const found = new Map<string, Declaration>();
  let group = "";
  let version = "";
  let current: Declaration | undefined;
  for (const line of read(root, "types/input.d.ts").split("\n")) {
    let match: RegExpExecArray | null;
    if ((match = /^export declare namespace (\w+) \{/.exec(line)) !== null) group = match[1]!;
    else if ((match = /^ {4}namespace (\w+) \{/.exec(line)) !== null) version = match[1]!;
    else if ((match = /^ {8}interface (\w+) \{/.exec(line)) !== null) {
      current = { fields: new Map() };
      found.set(`${group}.${version}.${match[1]!}`, current);
    } else if ((match = /^ {12}(\$?\w+)(\??): (.*)$/.exec(line)) !== null) {
      current?.fields.set(match[1]!, { optional: match[2] === "?", type: match[3]! });
    }
  }
  return found;
}

/** The kinds of `cdk8s-plus-31`, as `apiVersion Kind`: served by 1.31. */
function readServed(root: string): Set<string> {
  const kinds = new Set<string>();
  for (const match of read(root, "lib/imports/k8s.js").matchAll(/GVK = \{\s*apiVersion: '([^']+)',\s*kind: '([^']+)'/g))
    kinds.add(`${match[1]} ${match[2]}`);
  return kinds;
}

/** `rbac.authorization.k8s.io/v1 Role` → `rbac.v1.Role`. */
function pulumiName(kind: string): string {
  const [apiVersion, name] = kind.split(" ") as [string, string];
  const slash = apiVersion.indexOf("/");
  return slash < 0
    ? `core.${apiVersion}.${name}`
    : `${apiVersion.slice(0, slash).split(".")[0]!}.${apiVersion.slice(slash + 1)}.${name}`;
}

const leaf = (type: string): string => type.replace(/^[[{]+/, "");

/** The tables of a version between two others: see the head of this file. */
function between(
  version: "1.31" | "1.35",
  before: Tables,
  after: Tables,
  isServed: (kind: string, type: string) => boolean,
  extra: Tables,
  judge: ReadonlyMap<string, Declaration>,
): Tables {
  const settled = SETTLED[version];
  const asked = new Set<string>();
  const kinds = new Map<string, Kind>(extra.kinds);
  for (const [name, kind] of [...before.kinds, ...after.kinds]) {
    if ((before.kinds.has(name) && after.kinds.has(name)) || isServed(name, kind.type)) kinds.set(name, kind);
  }

  // The judge has names of its own: walk both from the kinds down.
  const judged = new Map<string, Declaration>();
  const queue: [string, string][] = [];
  for (const [name, kind] of kinds) queue.push([kind.type, pulumiName(name)]);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const declaration = judge.get(next[1]);
    if (declaration === undefined || judged.has(next[0])) continue;
    judged.set(next[0], declaration);
    for (const tables of [before.types, after.types]) {
      for (const [name, field] of tables.get(next[0]) ?? []) {
        const target = /inputs\.(\w+\.\w+\.\w+)/.exec(declaration.fields.get(name)?.type ?? "")?.[1];
        if (target !== undefined && /^[A-Z]/.test(leaf(field.type))) queue.push([leaf(field.type), target]);
      }
    }
  }

  const types = new Map(extra.types);
  for (const type of new Set([...before.types.keys(), ...after.types.keys()])) {
    const old = before.types.get(type);
    const young = after.types.get(type);
    const said = judged.get(type);
    const fields: Fields = new Map();
    for (const name of new Set([...(old?.keys() ?? []), ...(young?.keys() ?? [])])) {
      const a = old?.get(name);
      const b = young?.get(name);
      const owner = `${type}.${name}`;
      const field = (b ?? a)!;
      if (a !== undefined && b !== undefined) {
        if (a.type !== b.type) fail(`${version}: ${owner} is ${a.type} before and ${b.type} after`);
        const wordOf = (settled.required === "before") === settled.exceptions.includes(owner) ? b : a;
        fields.set(name, { type: field.type, required: wordOf.required });
      } else if (young === undefined || (old === undefined && said === undefined)) {
        fields.set(name, field);
      } else if (b !== undefined && said !== undefined) {
        // The judge also knows fields of long ago, so its word counts for new ones only.
        if (said.fields.has(name)) fields.set(name, field);
      } else {
        asked.add(owner);
        if (settled.has[owner] ?? fail(`${version}: no package says whether ${owner} is there: settle it in SETTLED`))
          fields.set(name, field);
      }
    }
    types.set(type, fields);
  }
  for (const [owner, type] of Object.entries(settled.own)) {
    const [name, field] = owner.split(".") as [string, string];
    (types.get(name) ?? fail(`${version}: no type ${name}`)).set(field, { type, required: false });
  }
  const needless = Object.keys(settled.has).filter((owner) => !asked.has(owner));
  if (needless.length > 0) fail(`${version}: settled, but no question: ${needless.join(", ")}`);
  return { types, kinds };
}

/** Enumerations and quantities of `kubernetes-models`, as `Type.field` → values or the mark `quantity`. */
function readModels(root: string, tables: Tables): Map<string, readonly string[] | "quantity"> {
  const declarations = new Map<string, Map<string, string>>();
  const files = new Map<string, string>();
  const groups = readdirSync(root, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith("_"),
  );
  for (const group of groups) {
    const versions =
      group.name === "v1" ? [""] : readdirSync(join(root, group.name)).filter((name) => /^v\d/.test(name));
    for (const version of versions) {
      for (const file of readdirSync(join(root, group.name, version))) {
        const name = /^([A-Z]\w*)\.d\.ts$/.exec(file)?.[1];
        if (name !== undefined)
          files.set(`${join(group.name, version)} ${name}`, join(root, group.name, version, file));
      }
    }
  }
  for (const file of files.values()) {
    const text = readFileSync(file, "utf8");
    const body = /export interface I(\w+)(?: extends TypeMeta)? \{([\s\S]*?\n)\}/.exec(text);
    const long = /IoK8s\w+(?= \};)/.exec(text)?.[0];
    if (body === null || long === undefined) continue;
    const fields = new Map<string, string>();
    for (const match of body[2]!.matchAll(/^ {4}"([^"]+)"\??: (.*(?:\n {8}.*)*(?:\n {4}\}.*)?);$/gm))
      fields.set(match[1]!, match[2]!);
    declarations.set(long, fields);
  }
  const result = new Map<string, readonly string[] | "quantity">();
  const done = new Set<string>();
  const queue: [string, string][] = [];
  for (const [name, kind] of tables.kinds) {
    const file = files.get(name);
    const long = file === undefined ? undefined : /IoK8s\w+(?= \};)/.exec(readFileSync(file, "utf8"))?.[0];
    if (long !== undefined) queue.push([kind.type, long]);
  }
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const [type, long] = next;
    if (done.has(type)) continue;
    done.add(type);
    for (const [name, field] of tables.types.get(type) ?? []) {
      const declared = declarations.get(long)?.get(name);
      if (declared === undefined) continue;
      const target = /IIoK8s\w+/.exec(declared)?.[0].slice(1);
      if (target !== undefined && /^[A-Z]/.test(leaf(field.type))) queue.push([leaf(field.type), target]);
      if (
        leaf(field.type) !== "s" ||
        name === "apiVersion" ||
        (name === "kind" && tables.types.get(type)!.has("apiVersion"))
      )
        continue;
      if (declared.includes("ApiResourceQuantity")) result.set(`${type}.${name}`, "quantity");
      else if (/^(Array<|\{\s*\[key: string\]: )?"/.test(declared)) {
        const values = [...declared.matchAll(/"([^"]*)"/g)].map((match) => match[1]!);
        result.set(`${type}.${name}`, values);
      }
    }
  }
  return result;
}

/** Only what can be reached from a kind is kept. */
function reachable(tables: Tables): Tables {
  const types = new Map<string, Fields>();
  const queue = [...tables.kinds.values()].map((kind) => kind.type);
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const fields = tables.types.get(name);
    if (fields === undefined || types.has(name)) continue;
    types.set(name, fields);
    for (const field of fields.values()) if (/^[A-Z]/.test(leaf(field.type))) queue.push(leaf(field.type));
  }
  return { types, kinds: tables.kinds };
}

function packageDirectory(packages: string, name: string): string {
  const directory = join(packages, name.replace("/", "+"));
  return existsSync(directory)
    ? directory
    : fail(`${name} is not in ${packages}: see the head of src/dev/kubernetes-tables.ts`);
}

/** Runs of version indexes, as the suffix of a token: nothing for "always", `~2-` from 1.32, `~-3` up to 1.33, `~2-3`. */
function range(first: number, last: number): string {
  const from = first === 0 ? "" : String(first);
  const to = last === VERSIONS.length - 1 ? "" : String(last);
  return from === "" && to === "" ? "" : `~${from}-${to}`;
}

/** Merges what each version says of one thing into tokens with ranges. */
function tokens(perVersion: readonly (string | undefined)[]): string[] {
  const result: string[] = [];
  for (let i = 0; i < perVersion.length; ) {
    const said = perVersion[i];
    let j = i;
    while (j + 1 < perVersion.length && perVersion[j + 1] === said) j++;
    if (said !== undefined) result.push(said + range(i, j));
    i = j + 1;
  }
  return result;
}

/**
 * The generated files, by path below the project: the text of `schemas/kubernetes/tables.json`.
 * @param packages directory with the unpacked packages, see the head of this file
 * @throws when a package is missing or says something that this program does not know
 */
export function buildKubernetesTables(packages: string): Map<string, string> {
  const client = (version: Version) => readClient(packageDirectory(packages, SOURCES[version]));
  const v30 = client("1.30");
  const v32 = client("1.32");
  const v33 = client("1.33");
  const v34 = client("1.34");
  const v36 = client("1.36");

  const declared31 = readServed(packageDirectory(packages, SOURCES["kinds of 1.31"]));
  const extra31: Tables = { types: UNCHECKED, kinds: new Map() };
  for (const kind of declared31) {
    if (v30.kinds.has(kind) || v32.kinds.has(kind)) continue;
    const isList = kind.endsWith("List");
    extra31.kinds.set(kind, { type: isList ? "UncheckedList" : "Unchecked", scope: isList ? "l" : "n" });
  }
  const v31 = between(
    "1.31",
    v30,
    v32,
    (kind) => declared31.has(kind.replace(/List$/, "")),
    extra31,
    readPulumi(packageDirectory(packages, SOURCES["1.31"])),
  );

  const models = join(packageDirectory(packages, SOURCES["1.36"]), "dist/gen/models");
  const extra35: Tables = { types: new Map(), kinds: new Map() };
  for (const [name, version] of v36.stale) if (version === "1.35") extra35.types.set(name, clientModel(models, name));
  for (const [name, scope] of [
    ["Workload", "n"],
    ["WorkloadList", "l"],
  ] as const)
    extra35.kinds.set(`scheduling.k8s.io/v1alpha1 ${name}`, { type: `V1alpha1${name}`, scope });
  const pulumi35 = readPulumi(packageDirectory(packages, SOURCES["1.35"]));
  const served35 = (kind: string, type: string) =>
    v36.kinds.has(kind) ? pulumi35.has(pulumiName(kind.replace(/List$/, ""))) : v36.stale.get(type) !== "1.34";
  const v35 = between("1.35", v34, v36, served35, extra35, pulumi35);
  const versions = [v30, v31, v32, v33, v34, v35, v36].map(reachable);

  const enumerations: string[] = [];
  const details = readModels(packageDirectory(packages, SOURCES.enumerations), v36);
  const detailed = (owner: string, type: string, version: Version): string => {
    const detail = details.get(owner);
    if (detail === undefined || leaf(type) !== "s") return type;
    if (detail === "quantity") return type.replace("s", "q");
    const since = ENUM_SINCE[owner] ?? {};
    const values = detail.filter((value) => VERSIONS.indexOf(since[value] ?? "1.30") <= VERSIONS.indexOf(version));
    const text = values.join("|");
    let index = enumerations.indexOf(text);
    if (index < 0) index = enumerations.push(text) - 1;
    return type.replace("s", `e${index}`);
  };

  const names = [...new Set(versions.flatMap((tables) => [...tables.types.keys()]))].sort();
  const indexOf = new Map(names.map((name, index) => [name, index]));
  const encode = (owner: string, field: Field, version: Version): string => {
    const type = detailed(owner, field.type, version);
    const inner = leaf(type);
    const wrap = type.slice(0, type.length - inner.length);
    const text = /^[A-Z]/.test(inner)
      ? String(indexOf.get(inner) ?? fail(`${owner} has the unknown type ${inner}`))
      : inner;
    return `${field.required ? "!" : ":"}${wrap}${text}`;
  };
  const types = names.map((name) => {
    const line = [name];
    const fields = [...new Set(versions.flatMap((tables) => [...(tables.types.get(name)?.keys() ?? [])]))];
    for (const field of fields) {
      const said = versions.map((tables, i) => {
        const is = tables.types.get(name)?.get(field);
        // A version without the type never asks for its fields: no range is needed for it.
        if (tables.types.get(name) === undefined) return undefined;
        return is === undefined ? undefined : encode(`${name}.${field}`, is, VERSIONS[i]!);
      });
      for (const token of tokens(
        fillAbsent(
          said,
          versions.map((tables) => tables.types.has(name)),
        ),
      ))
        line.push(field + token);
    }
    return line.join(" ");
  });

  const kinds: Record<string, string> = {};
  const kindNames = [...new Set(versions.flatMap((tables) => [...tables.kinds.keys()]))].sort();
  for (const kind of kindNames) {
    const said = versions.map((tables) => {
      const is = tables.kinds.get(kind);
      if (is === undefined) return undefined;
      return is.type === "List"
        ? "=l"
        : `=${indexOf.get(is.type) ?? fail(`${kind} has the unknown type ${is.type}`)}${is.scope}`;
    });
    const [apiVersion, name] = kind.split(" ") as [string, string];
    for (const token of tokens(said))
      kinds[apiVersion] = `${kinds[apiVersion] === undefined ? "" : `${kinds[apiVersion]} `}${name}${token}`;
  }

  const lines = (values: readonly string[]): string =>
    values.map((value) => `    ${JSON.stringify(value)}`).join(",\n");
  const text = `{
  "generated": "by src/dev/kubernetes-tables.ts; data of the Kubernetes project, Apache-2.0",
  "sources": ${JSON.stringify(SOURCES)},
  "versions": ${JSON.stringify(VERSIONS)},
  "enumerations": [
${lines(enumerations)}
  ],
  "kinds": {
${Object.entries(kinds)
  .map(([key, value]) => `    ${JSON.stringify(key)}: ${JSON.stringify(value)}`)
  .join(",\n")}
  },
  "types": [
${lines(types)}
  ]
}
`;
  return new Map([["schemas/kubernetes/tables.json", text]]);
}

/** Lets a field that a type always had be written without a range although the type itself came or went. */
function fillAbsent(said: readonly (string | undefined)[], there: readonly boolean[]): (string | undefined)[] {
  const result = [...said];
  const first = there.indexOf(true);
  const last = there.lastIndexOf(true);
  for (let i = 0; i < first; i++) result[i] = said[first];
  for (let i = last + 1; i < result.length; i++) result[i] = said[last];
  return result;
}
