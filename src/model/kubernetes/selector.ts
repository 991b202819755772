/**
 * Label selectors: the one place of their semantics in the house.
 *
 * Source: Kubernetes "Labels and Selectors" and `metav1.LabelSelector`: an absent selector selects nothing, an empty one
 * everything; `matchLabels` and `matchExpressions` are ANDed; `NotIn` and `DoesNotExist` hold when the key is absent.
 * The plain map of a Service or ReplicationController differs: empty or absent selects nothing.
 */
import { push } from "../multimap.js";

/** Labels after normalization: what the API server would hold. */
export type Labels = ReadonlyMap<string, string>;

type Operator = "In" | "NotIn" | "Exists" | "DoesNotExist";

export interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  /** Sorted, without repeats; empty for `Exists` and `DoesNotExist`. */
  readonly values: readonly string[];
}

/** What makes a selector invalid, and where below the selector it stands. */
export interface SelectorProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * A selector made ready for matching. `nothing`: absent; `invalid`: refused by the API server, matches nothing as well;
 * `everything`: no requirement; `some`: all requirements must hold.
 */
export class Selector {
  readonly kind: "nothing" | "invalid" | "everything" | "some";
  readonly requirements: readonly Requirement[];
  readonly problems: readonly SelectorProblem[];
  /** Equal for selectors that always select the same. */
  readonly key: string;

  constructor(
    kind: Selector["kind"],
    requirements: readonly Requirement[] = [],
    problems: readonly SelectorProblem[] = [],
  ) {
    this.kind = kind;
    this.requirements = requirements;
    this.problems = problems;
    this.key = kind === "some" ? requirements.map(requirementKey).sort().join("\u0001") : `\u0000${kind}`;
  }

  /** Whether the selector can select anything at all. */
  get selectsNothing(): boolean {
    return this.kind === "nothing" || this.kind === "invalid";
  }

  matches(labels: Labels): boolean {
    if (this.kind === "everything") return true;
    if (this.kind !== "some") return false;
    for (const requirement of this.requirements) if (!holds(requirement, labels)) return false;
    return true;
  }
}

export const NOTHING = new Selector("nothing");
const EVERYTHING = new Selector("everything");

function requirementKey({ key, operator, values }: Requirement): string {
  return `${key}\u0002${operator}\u0002${values.join("\u0003")}`;
}

function holds({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = labels.get(key);
  switch (operator) {
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
  }
}

/** A scalar as the text that a label would hold; null is the empty text, anything nested is no label value. */
function scalar(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  return typeof value === "number" || typeof value === "boolean" || typeof value === "bigint"
    ? String(value)
    : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads `metadata.labels`. Numbers and booleans (refused by the server, reported elsewhere) count as their text. */
export function labelsOf(raw: unknown): Labels {
  if (raw instanceof Map) return raw as Labels;
  const labels = new Map<string, string>();
  if (!isRecord(raw)) return labels;
  for (const key of Object.keys(raw)) {
    const value = scalar(raw[key]);
    if (value !== undefined) labels.set(key, value);
  }
  return labels;
}

const parsed = new WeakMap<object, Selector>();

/** Reads a `LabelSelector`. Never throws: what the server would refuse is `invalid` with its problems. */
export function parseSelector(raw: unknown): Selector {
  if (raw instanceof Selector) return raw;
  if (raw === undefined || raw === null) return NOTHING;
  if (!isRecord(raw)) return new Selector("invalid", [], [{ path: [], message: "a selector must be a mapping" }]);
  let selector = parsed.get(raw);
  if (selector === undefined) {
    selector = readSelector(raw);
    parsed.set(raw, selector);
  }
  return selector;
}

function readSelector(raw: Record<string, unknown>): Selector {
  const requirements: Requirement[] = [];
  const problems: SelectorProblem[] = [];
  readMap(raw["matchLabels"], ["matchLabels"], requirements, problems);
  const expressions = raw["matchExpressions"];
  if (Array.isArray(expressions)) {
    for (let i = 0; i < expressions.length; i++) readExpression(expressions[i], i, requirements, problems);
  } else if (expressions !== undefined && expressions !== null) {
    problems.push({ path: ["matchExpressions"], message: "matchExpressions must be a list" });
  }
  if (problems.length > 0) return new Selector("invalid", requirements, problems);
  return requirements.length === 0 ? EVERYTHING : new Selector("some", requirements);
}

function readMap(
  map: unknown,
  path: readonly string[],
  requirements: Requirement[],
  problems: SelectorProblem[],
): void {
  if (map === undefined || map === null) return;
  if (!isRecord(map)) {
    problems.push({ path, message: `${path[0] ?? "selector"} must be a mapping` });
    return;
  }
  for (const key of Object.keys(map)) {
    const value = scalar(map[key]);
    if (value === undefined) problems.push({ path: [...path, key], message: `the value of ${key} must be a string` });
    else requirements.push({ key, operator: "In", values: [value] });
  }
}

function readExpression(raw: unknown, index: number, requirements: Requirement[], problems: SelectorProblem[]): void {
  const path = ["matchExpressions", index] as const;
  if (!isRecord(raw)) {
    problems.push({ path, message: "an expression must be a mapping" });
    return;
  }
  const { key, operator } = raw;
  if (typeof key !== "string" || key === "") {
    problems.push({ path: [...path, "key"], message: "an expression needs a key" });
    return;
  }
  const list = raw["values"] ?? [];
  const values = Array.isArray(list) ? list.map(scalar) : [undefined];
  if (values.includes(undefined)) {
    problems.push({ path: [...path, "values"], message: "values must be a list of strings" });
    return;
  }
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) {
        problems.push({ path: [...path, "operator"], message: `${operator} needs at least one value` });
      } else {
        requirements.push({ key, operator, values: [...new Set(values as string[])].sort() });
      }
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        problems.push({ path: [...path, "values"], message: `${operator} takes no values` });
      } else {
        requirements.push({ key, operator, values: [] });
      }
      break;
    default:
      problems.push({
        path: [...path, "operator"],
        message: `unknown operator ${JSON.stringify(scalar(operator) ?? "")} (In, NotIn, Exists, DoesNotExist)`,
      });
  }
}

/** Reads the plain map of `Service.spec.selector`: empty or absent selects nothing. */
export function parseMapSelector(raw: unknown): Selector {
  if (raw === undefined || raw === null) return NOTHING;
  const requirements: Requirement[] = [];
  const problems: SelectorProblem[] = [];
  readMap(raw, [], requirements, problems);
  if (problems.length > 0) return new Selector("invalid", requirements, problems);
  return requirements.length === 0 ? NOTHING : new Selector("some", requirements);
}

/** Whether a `LabelSelector` (raw or read) selects an object with these labels (raw or normalized). */
export function matches(selector: unknown, labels: unknown): boolean {
  return parseSelector(selector).matches(labelsOf(labels));
}

/** Whether the plain selector map of a Service selects an object with these labels. */
export function matchesMap(map: unknown, labels: unknown): boolean {
  return parseMapSelector(map).matches(labelsOf(labels));
}

/** The same text for selectors that always select the same; to index by selector. */
export function selectorKey(selector: unknown): string {
  return parseSelector(selector).key;
}

/** A selector in words: `app=redis and tier in (a, b)`, `everything`, `nothing`. */
export function describeSelector(selector: unknown): string {
  const { kind, requirements, problems } = parseSelector(selector);
  if (kind === "invalid") return `nothing (invalid: ${problems[0]?.message ?? "selector"})`;
  if (kind !== "some") return kind;
  return requirements.map(describeRequirement).join(" and ");
}

function describeRequirement({ key, operator, values }: Requirement): string {
  switch (operator) {
    case "In":
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(", ")})`;
    case "NotIn":
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} not in (${values.join(", ")})`;
    case "Exists":
      return `has ${key}`;
    case "DoesNotExist":
      return `lacks ${key}`;
  }
}

interface Postings {
  readonly all: number[];
  readonly byValue: Map<string, number[]>;
}

/**
 * Finds items by selector through posting lists per key and value, so that a selector costs about what it selects
 * instead of a pass over all items. Results come in the order in which the items were given.
 */
export class LabelIndex<T> {
  readonly #items: readonly T[];
  readonly #labels: Labels[] = [];
  readonly #keys = new Map<string, Postings>();

  constructor(items: readonly T[], labels: (item: T) => unknown) {
    this.#items = items;
    for (let i = 0; i < items.length; i++) {
      const own = labelsOf(labels(items[i]!));
      this.#labels.push(own);
      for (const [key, value] of own) {
        let postings = this.#keys.get(key);
        if (postings === undefined) this.#keys.set(key, (postings = { all: [], byValue: new Map() }));
        postings.all.push(i);
        push(postings.byValue, value, i);
      }
    }
  }

  /** All items that a `LabelSelector` (raw or read) selects. */
  select(selector: unknown): T[] {
    const read = parseSelector(selector);
    if (read.selectsNothing) return [];
    if (read.kind === "everything") return [...this.#items];
    const candidates = this.#candidates(read.requirements);
    const found: T[] = [];
    for (const i of candidates) if (read.matches(this.#labels[i]!)) found.push(this.#items[i]!);
    return found;
  }

  /** All items that the plain map of a Service selects. */
  selectMap(map: unknown): T[] {
    return this.select(parseMapSelector(map));
  }

  /** The shortest posting list that some requirement leaves; all items where every requirement is negative. */
  #candidates(requirements: readonly Requirement[]): Iterable<number> {
    let best: readonly number[] | undefined;
    let parts: readonly (readonly number[])[] = [];
    let size = this.#items.length + 1;
    for (const { key, operator, values } of requirements) {
      if (operator === "NotIn" || operator === "DoesNotExist") continue;
      const postings = this.#keys.get(key);
      if (postings === undefined) return [];
      const lists = operator === "Exists" ? [postings.all] : values.map((value) => postings.byValue.get(value) ?? []);
      const length = lists.reduce((sum, list) => sum + list.length, 0);
      if (length < size) {
        size = length;
        parts = lists;
        best = lists.length === 1 ? lists[0] : undefined;
      }
    }
    if (best !== undefined) return best;
    if (parts.length > 0) return parts.flat().sort((a, b) => a - b);
    return this.#items.keys();
  }
}
