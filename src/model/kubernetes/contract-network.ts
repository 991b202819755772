/** The network of a contract: its policies and pods, who is known only by policies, and what the contract file declares. */
import type { Path } from "../../document/yaml.js";
import type { Contract } from "../contract.js";
import { push } from "../multimap.js";
import type { Place } from "../place.js";
import type { EdgeConfig } from "../settings.js";
import { asObject, hasToken, type Obj } from "../value.js";
import { DeclaredNetwork } from "./edge-comparison.js";
import { buildNetwork, type NetworkEngine, type NetworkInput } from "./network.js";
import type { Gap } from "./network-gap.js";
import { networkInputFromObjects, type PolicyHandle, type RawObject } from "./network-input.js";
import type { Direction, Policy } from "./network-policy.js";
import { isStandIn, withStandIns } from "./network-standin.js";
import type { KubeObject } from "./object.js";
import { PolicyIndex } from "./policy-index.js";
import { LabelIndex, type Labels, labelsOf, type Selector } from "./selector.js";
import { Workload } from "./workload.js";

interface Owned extends RawObject {
  readonly object: KubeObject;
}

/** Labels that operators and fail-over scripts set on running pods: no file tells who has them. */
const RUN_TIME_KEY = /(?:^|[./-])role$/i;

/** What objects alone decide: the engines. They outlive a contract where another one has the same objects. */
class Engines {
  readonly input: NetworkInput;
  readonly podsOf: ReadonlyMap<string, readonly string[]>;
  readonly #home: ReadonlySet<string>;
  readonly #edges: readonly EdgeConfig[] | undefined;
  #full: NetworkInput | undefined;
  #graph: NetworkEngine | undefined;
  #pods: NetworkEngine | undefined;

  constructor(input: NetworkInput, home: ReadonlySet<string>, edges: readonly EdgeConfig[] | undefined) {
    this.input = input;
    this.#home = home;
    this.#edges = edges;
    const podsOf = new Map<string, string[]>();
    for (const { id, owner } of input.pods) {
      for (const key of new Set([owner, id])) {
        push(podsOf, key, id);
      }
    }
    this.podsOf = podsOf;
  }

  get full(): NetworkInput {
    if (this.#full === undefined) {
      const edges = this.#edges;
      const input = edges === undefined ? this.input : DeclaredNetwork.withNamed(this.input, edges, this.#home);
      const engine = eachAlone(input);
      this.#full = withStandIns(input, { home: this.#home, engine });
      if (this.#full === input) this.#pods = engine;
    }
    return this.#full;
  }

  get graph(): NetworkEngine {
    this.#graph ??= buildNetwork(this.full);
    return this.#graph;
  }

  get pods(): NetworkEngine {
    const { full } = this;
    this.#pods ??= eachAlone(full);
    return this.#pods;
  }
}

/** The network in which every pod is a node. */
function eachAlone({ pods, namespaces, policies }: NetworkInput): NetworkEngine {
  const single = pods.map((pod) => (pod.owner === pod.id ? pod : Object.assign({}, pod, { owner: pod.id })));
  return buildNetwork({ pods: single, namespaces, policies });
}

interface Known {
  readonly objects: readonly KubeObject[];
  readonly edges: readonly EdgeConfig[] | undefined;
  readonly key: string;
  readonly engines: Engines;
}

// A change of a configuration leaves all objects as they are: mutants and editors ask for the same network again.
const known = new WeakMap<KubeObject, Known>();

export class ContractNetwork {
  readonly contract: Contract;
  /** The namespaces whose pods are all in the files. */
  readonly home: ReadonlySet<string>;
  /** Policies of network plugins (Cilium, Calico, AdminNetworkPolicy), which may allow or deny what is not judged here. */
  readonly foreign: readonly KubeObject[];
  readonly #defaultNamespace: string;
  readonly #engines: Engines;
  #declared: { readonly network: DeclaredNetwork | undefined } | undefined;
  #index: PolicyIndex | undefined;
  #nobody: Map<string, Policy[]> | undefined;
  #workloads: ReadonlyMap<string, LabelIndex<Workload>> | undefined;

  constructor(contract: Contract) {
    this.contract = contract;
    this.#defaultNamespace = defaultNamespace(contract);
    this.home = homeOf(contract, (o) => this.namespaceOf(o));
    this.foreign = contract.objects.filter(
      ({ kind, group }) => kind.endsWith("NetworkPolicy") && group !== "networking.k8s.io" && group !== "extensions",
    );
    this.#engines = this.#find();
  }

  #find(): Engines {
    const { contract, edges, home } = this;
    const objects = contract.objects.filter(
      (object) => object instanceof Workload || object.kind === "NetworkPolicy" || object.kind === "Namespace",
    );
    const key = [this.#defaultNamespace, ...home].join(" ");
    // a policy is what a change leaves alone more often than a workload
    const first = objects.find(({ kind }) => kind === "NetworkPolicy") ?? objects[0];
    const before = first === undefined ? undefined : known.get(first);
    const same =
      before?.key === key &&
      before.edges === edges &&
      before.objects.length === objects.length &&
      before.objects.every((object, i) => object === objects[i]);
    if (same) return before.engines;
    const input = networkInputFromObjects(objects.map((object): Owned => ({ value: this.#value(object), object })));
    // of a workload only what the network sees counts: its labels, its ports
    if (
      before?.key === key &&
      before.edges === edges &&
      before.objects.length === objects.length &&
      before.objects.every((o, i) => o === objects[i] || (o instanceof Workload && objects[i] instanceof Workload)) &&
      isSame(before.engines.input.pods, input.pods)
    )
      return before.engines;
    const engines = new Engines(input, home, edges);
    if (first !== undefined) known.set(first, { objects, edges, key, engines });
    return engines;
  }

  /** Where an object lands that names no namespace: the only one of its set (`kubectl apply -n` demands as much). */
  namespaceOf(object: KubeObject): string {
    return object.ownNamespace ?? this.#defaultNamespace;
  }

  #value(object: KubeObject): unknown {
    if (object.ownNamespace !== undefined || this.#defaultNamespace === "default" || object.kind === "Namespace")
      return object.value;
    const metadata = Object.assign({}, asObject(object.value["metadata"]), { namespace: this.#defaultNamespace });
    return Object.assign({}, object.value, { metadata });
  }

  /** The objects of the files only. */
  get input(): NetworkInput {
    return this.#engines.input;
  }

  /** Pods of the files and stand-ins for those that only policies and the contract file name. */
  get full(): NetworkInput {
    return this.#engines.full;
  }

  /** Workloads and stand-ins as nodes. */
  get graph(): NetworkEngine {
    return this.#engines.graph;
  }

  /** Every pod a node of its own: what "some pod of the workload" hides. */
  get pods(): NetworkEngine {
    return this.#engines.pods;
  }

  get edges(): readonly EdgeConfig[] | undefined {
    return this.contract.config.network?.edges;
  }

  /** The edges that the contract file declares against those that the policies make; undefined: none are declared. */
  get declared(): DeclaredNetwork | undefined {
    if (this.#declared === undefined) {
      const { edges } = this;
      this.#declared = { network: edges === undefined ? undefined : new DeclaredNetwork(this, edges) };
    }
    return this.#declared.network;
  }

  /** `namespace/name[Kind]`: the workload as a node of `graph`. */
  idOf(workload: Workload): string {
    return `${this.namespaceOf(workload)}/${workload.name}[${workload.kind}]`;
  }

  /** The pods of a workload as nodes of `pods`. */
  podsOf(workload: Workload): readonly string[] {
    return this.#engines.podsOf.get(this.idOf(workload)) ?? [];
  }

  objectOf(policy: Policy): KubeObject {
    return (policy.info.handle as PolicyHandle<Owned>).object.object;
  }

  at(policy: Policy, ...path: Path): Place {
    return this.objectOf(policy).at(...path);
  }

  key(policy: Policy, ...path: Path): Place {
    return this.objectOf(policy).key(...path);
  }

  has(policy: Policy, ...path: Path): boolean {
    return this.objectOf(policy).has(...path);
  }

  /** Where a policy lists, or should list, the directions that it holds for. */
  types(policy: Policy): Place {
    const object = this.objectOf(policy);
    return object.has("spec", "policyTypes") ? object.at("spec", "policyTypes") : object.missing("spec", "policyTypes");
  }

  /** The place of what a policy lacks: the key that should hold it. */
  open(policy: Policy, path: Path): Place {
    return this.objectOf(policy).missing(...path);
  }

  /** Where a policy would have to let through what it stops. */
  gapPlace({ policy, path, at }: Gap): Place {
    if (at === "types") return this.types(policy);
    return this.has(policy, ...path) ? this.key(policy, ...path) : this.open(policy, path);
  }

  /** The workloads that a policy surely selects. */
  selected(policy: Policy): readonly Workload[] {
    if (this.#workloads === undefined) {
      const lists = new Map<string, Workload[]>();
      for (const workload of this.contract.workloads) {
        const namespace = this.namespaceOf(workload);
        push(lists, namespace, workload);
      }
      this.#workloads = new Map([...lists].map(([name, list]) => [name, new LabelIndex(list, (w) => w.podLabels)]));
    }
    return this.#workloads.get(policy.info.namespace)?.select(policy.selector) ?? [];
  }

  /** Whether a policy surely selects a pod, may do so once labels are set at run time or filled in, or does not. */
  selects(policy: Policy, workload: Workload): boolean | "maybe" {
    if (policy.info.namespace !== this.namespaceOf(workload)) return false;
    const labels = labelsOf(workload.podLabels);
    if (policy.selector.matches(labels)) return true;
    if (isOpaque(this.objectOf(policy).get("spec", "podSelector")) || isOpaque(workload.podLabels)) return "maybe";
    return mayMatchAtRunTime(policy.selector, labels) ? "maybe" : false;
  }

  get index(): PolicyIndex {
    this.#index ??= new PolicyIndex(
      this.pods,
      (policy) =>
        isOpaque(this.objectOf(policy).get("spec", "podSelector")) ||
        (policy.selector.kind === "some" && policy.selector.requirements.some(({ key }) => RUN_TIME_KEY.test(key))),
    );
    return this.#index;
  }

  /** Whether a policy of a direction may select a workload once labels are set at run time or filled in. */
  maySelect(workload: Workload, direction: Direction): boolean {
    const namespace = this.namespaceOf(workload);
    const policies = isOpaque(workload.podLabels) ? this.index.of(namespace) : this.index.uncertain(namespace);
    return policies.some((policy) => policy.affects[direction] && this.selects(policy, workload) === "maybe");
  }

  /** The directions in which a workload is open to all: no policy selects it there. Undecided ones are left out. */
  openDirections(workload: Workload): readonly Direction[] {
    if (this.foreign.length > 0 || workload.podSpec["hostNetwork"] === true) return [];
    const pods = this.podsOf(workload);
    return (["ingress", "egress"] as const).filter(
      (direction) =>
        pods.some((pod) => this.pods.isolating(pod, direction).length === 0) && !this.maySelect(workload, direction),
    );
  }

  /** Namespaces of the contract in which no policy denies a direction for all pods, and where that should stand. */
  undenied(): { readonly namespace: string; readonly directions: readonly Direction[]; readonly at: Place }[] {
    if (this.foreign.length > 0) return [];
    const firstOf = new Map<string, Workload>();
    for (const servers of [true, false]) {
      for (const workload of this.contract.workloads) {
        const namespace = this.namespaceOf(workload);
        if (firstOf.has(namespace) || (servers && this.contract.planesOf(workload).length === 0)) continue;
        firstOf.set(namespace, workload);
      }
    }
    return [...this.home].flatMap((namespace) => {
      const first = firstOf.get(namespace);
      if (first === undefined) return [];
      const own = this.index.of(namespace);
      const undecided = own.some((policy) => {
        const object = this.objectOf(policy);
        return isOpaque(object.get("spec", "podSelector")) || isOpaque(object.get("spec", "policyTypes"));
      });
      const all = own.filter(({ selector }) => selector.kind === "everything");
      const both = all.some(({ affects }) => affects.ingress && affects.egress);
      // one policy for both may hold the rules that all pods need; a policy of one direction denies only without rules
      const directions = (["ingress", "egress"] as const).filter(
        (direction) => !both && !all.some((p) => p.affects[direction] && p[direction].length === 0),
      );
      if (undecided || directions.length === 0) return [];
      const denies = ({ ingress, egress }: Policy): boolean => ingress.length === 0 && egress.length === 0;
      const partial = all.find(denies);
      const narrow = own.find(denies);
      const at =
        partial !== undefined
          ? this.types(partial)
          : narrow !== undefined
            ? this.key(narrow, "spec", "podSelector")
            : (this.contract.ofKind("Namespace").find(({ name }) => name === namespace) ?? first).here;
      return [{ namespace, directions, at }];
    });
  }

  /** Policies that select nobody in the namespace that they name, by a label that they ask for (`""`: they ask for none). */
  get #astray(): ReadonlyMap<string, readonly Policy[]> {
    if (this.#nobody === undefined) {
      this.#nobody = new Map();
      for (const policy of this.pods.policies) {
        if (policy.selector.kind !== "some" || !this.has(policy, "metadata", "namespace")) continue;
        if (!this.pods.selects(policy).every(isStandIn)) continue;
        const asked = policy.selector.requirements.find(({ operator }) => operator === "In");
        for (const label of asked?.values.map((value) => `${asked.key}=${value}`) ?? [""]) {
          push(this.#nobody, label, policy);
        }
      }
    }
    return this.#nobody;
  }

  /** The place that leaves a workload open: a policy that misses it by its namespace or its types, else the workload. */
  isolatorOf(workload: Workload): Place {
    const labels = labelsOf(workload.podLabels);
    const namespace = this.namespaceOf(workload);
    const policy = this.index.first([
      this.index.of(namespace).find(({ selector }) => selector.matches(labels)),
      ...["", ...[...labels].map(([key, value]) => `${key}=${value}`)].map((label) =>
        this.#astray.get(label)?.find(({ info, selector }) => info.namespace !== namespace && selector.matches(labels)),
      ),
    ]);
    if (policy === undefined) return workload.here;
    return policy.info.namespace === namespace ? this.types(policy) : this.at(policy, "metadata", "namespace");
  }

  /** Whether a policy has rules of a direction for a workload and leaves the direction out of its types. */
  hasIgnoredRules(workload: Workload, direction: Direction): boolean {
    return this.index.inert(direction).some((policy) => this.selects(policy, workload) === true);
  }
}

/** Plain values that are alike in every part, down to a depth that pods do not have. */
function isSame(a: unknown, b: unknown, depth = 0): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || depth > 12) return false;
  if (Array.isArray(a) !== Array.isArray(b) || a instanceof Date || b instanceof Date) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((k) => Object.hasOwn(b, k) && isSame((a as Obj)[k], (b as Obj)[k], depth + 1))
  );
}

/** The text of a part of a policy holds a placeholder. */
function isOpaque(value: unknown): boolean {
  return value !== undefined && hasToken(JSON.stringify(value));
}

/** A selector that fails only by labels which are set on running pods. */
export function mayMatchAtRunTime(selector: Selector, labels: Labels): boolean {
  if (selector.kind !== "some") return false;
  let open = false;
  for (const { key, operator, values } of selector.requirements) {
    const value = labels.get(key);
    if (value === undefined && RUN_TIME_KEY.test(key) && (operator === "In" || operator === "Exists")) open = true;
    else if (operator === "In" ? value === undefined || !values.includes(value) : false) return false;
    else if (operator === "Exists" && value === undefined) return false;
    else if (operator === "DoesNotExist" && value !== undefined) return false;
    else if (operator === "NotIn" && value !== undefined && values.includes(value)) return false;
  }
  return open;
}

function defaultNamespace(contract: Contract): string {
  const declared = contract.config.kubernetes?.namespace;
  if (declared !== undefined) return declared;
  const named = new Set<string>();
  for (const object of contract.objects) {
    const counts = object.kind === "NetworkPolicy" || contract.workloads.includes(object as Workload);
    if (counts && object.ownNamespace !== undefined) named.add(object.ownNamespace);
  }
  return named.size === 1 ? [...named][0]! : "default";
}

function homeOf(contract: Contract, namespaceOf: (object: KubeObject) => string): Set<string> {
  const declared = contract.config.kubernetes?.namespace;
  const home = new Set(declared === undefined ? [] : [declared]);
  for (const { workload } of contract.planes) if (workload !== undefined) home.add(namespaceOf(workload));
  if (home.size === 0) for (const workload of contract.workloads) home.add(namespaceOf(workload));
  return home;
}
