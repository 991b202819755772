/** Reading parsed YAML/JSON values without trusting their shape. */
import type { Path } from "../document/yaml.js";

export type Obj = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Obj {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

export function asObject(value: unknown): Obj {
  return isObject(value) ? value : {};
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The value at a path; undefined where a step is not there. */
export function at(value: unknown, path: Path): unknown {
  let current = value;
  for (const step of path) {
    if (current === null || typeof current !== "object" || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current;
}

/** String entries of a map such as `metadata.labels`. */
export function stringMap(value: unknown): Readonly<Record<string, string>> {
  const out: Record<string, string> = {};
  if (isObject(value)) for (const key of Object.keys(value)) if (typeof value[key] === "string") out[key] = value[key];
  return out;
}

const SUFFIX: Readonly<Record<string, number>> = {
  "": 1,
  m: 1e-3,
  u: 1e-6,
  n: 1e-9,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/**
 * A Kubernetes quantity as a number of its unit (bytes, cores).
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
export function quantity(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return undefined;
  const m = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i))?$/.exec(value.trim());
  if (m === null) return undefined;
  const number = Number(m[1]);
  if (m[2] !== undefined) return number * 10 ** Number(m[2]);
  return number * (SUFFIX[m[3] ?? ""] ?? Number.NaN);
}

/** A template token somewhere in a text: its value is not in the repository. */
const TOKEN = /\$\{[^}]*\}|\$\([A-Za-z_]\w*\)|\{\{.*?\}\}|__[A-Z][A-Z0-9_]*__|@[A-Z][A-Z0-9_]*@|%[A-Z][A-Z0-9_]*%/;

export function hasToken(text: string): boolean {
  return TOKEN.test(text);
}
