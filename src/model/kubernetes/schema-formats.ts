/**
 * Syntax of the strings that the Kubernetes API server checks. All functions are linear in the length of their input.
 * Source: `k8s.io/apimachinery/pkg/util/validation`, `pkg/api/resource`, and the API reference.
 */

import { parseV6 } from "./ip.js";

const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** DNS-1123 label: a name inside a pod, a namespace. */
export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && LABEL.test(text);
}

/** DNS-1035 label: a Service. */
export function isDns1035Label(text: string): boolean {
  return text.length <= 63 && LABEL_1035.test(text);
}

/** DNS-1123 subdomain: most objects. */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && text.split(".").every((part) => LABEL.test(part));
}

/** RBAC objects: any segment of a URL path. */
export function isPathSegment(text: string): boolean {
  return text !== "" && text !== "." && text !== ".." && !text.includes("/") && !text.includes("%");
}

/** Label and annotation keys, resource names: `[prefix/]name`. */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf("/");
  const name = text.slice(slash + 1);
  if (slash >= 0 && !isDnsSubdomain(text.slice(0, slash))) return false;
  return name.length <= 63 && QUALIFIED.test(name);
}

export function isLabelValue(text: string): boolean {
  return text === "" || (text.length <= 63 && QUALIFIED.test(text));
}

/** Port names: IANA service names. */
export function isPortName(text: string): boolean {
  return text.length <= 15 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text) && /[a-z]/.test(text);
}

/** Keys of ConfigMaps and Secrets. */
export function isConfigKey(text: string): boolean {
  return text.length <= 253 && /^[-._a-zA-Z0-9]+$/.test(text) && text !== "." && !text.startsWith("..");
}

/** Names of environment variables; from 1.32 every printable ASCII character but `=` is allowed. */
export function isEnvName(text: string, minor: number): boolean {
  if (minor >= 32) return /^[ -<>-~]+$/.test(text);
  return /^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(text) && text !== "." && !text.startsWith("..");
}

export function isPercent(text: string): boolean {
  return /^[0-9]+%$/.test(text);
}

/** The grammar of `resource.Quantity`. */
export function isQuantity(text: string): boolean {
  return /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/.test(text);
}

/** RFC 3339. */
export function isTime(text: string): boolean {
  const match = /^\d{4}-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.exec(text);
  if (match === null) return false;
  const [month, day, hour, minute, second] = match.slice(1).map(Number) as [number, number, number, number, number];
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour <= 23 && minute <= 59 && second <= 59;
}

/** Standard base64 with padding, as Go decodes it: line breaks do not count. */
export function isBase64(text: string): boolean {
  let length = 0;
  let padding = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 10 || c === 13) continue;
    length++;
    if (c === 61) padding++;
    else if (padding > 0) return false;
    else if (!((c >= 65 && c <= 90) || (c >= 97 && c <= 122) || (c >= 47 && c <= 57) || c === 43)) return false;
  }
  return length % 4 === 0 && padding <= 2;
}

/** IPv4 or IPv6. Leading zeros pass: servers of these versions still take them. */
export function isIp(text: string): boolean {
  if (text.includes(":")) return parseV6(text) !== undefined;
  return /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) && text.split(".").every((part) => Number(part) <= 255);
}

export function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  const bits = text.slice(slash + 1);
  if (slash < 0 || !/^\d{1,3}$/.test(bits) || !isIp(text.slice(0, slash))) return false;
  return Number(bits) <= (text.includes(":") ? 128 : 32);
}

/** A relative path that does not climb: `subPath`, `items[].path`. */
export function isLocalPath(text: string): boolean {
  return text !== "" && !text.startsWith("/") && !text.split("/").includes("..");
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const CRON_FIELDS: readonly (readonly [low: number, high: number, names: readonly string[]])[] = [
  [0, 59, []],
  [0, 23, []],
  [1, 31, []],
  [1, 12, MONTHS],
  [0, 6, DAYS],
];

function cronNumber(text: string, low: number, names: readonly string[]): number {
  const name = names.indexOf(text.toLowerCase());
  return name >= 0 ? name + low : /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
}

function isCronField(field: string, [low, high, names]: (typeof CRON_FIELDS)[number]): boolean {
  return field.split(",").every((part) => {
    const [range, step, ...more] = part.split("/");
    if (more.length > 0 || (step !== undefined && !(/^\d{1,5}$/.test(step) && Number(step) > 0))) return false;
    if (range === "*" || range === "?") return true;
    const [from, to, ...rest] = range!.split("-");
    const start = cronNumber(from!, low, names);
    const end = to === undefined ? start : cronNumber(to, low, names);
    return rest.length === 0 && start >= low && end <= high && start <= end;
  });
}

/** The five fields or the descriptor that a CronJob's `schedule` takes. */
export function isSchedule(text: string): boolean {
  if (text.length > 1000) return false;
  const trimmed = text.trim();
  if (/^(?:CRON_)?TZ=/.test(trimmed)) return false;
  if (trimmed.startsWith("@")) {
    return /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly|every (?:\d+(?:\.\d*)?(?:ns|us|\u00b5s|ms|s|m|h))+)$/.test(
      trimmed,
    );
  }
  const fields = trimmed.split(/\s+/);
  return fields.length === 5 && fields.every((field, i) => isCronField(field, CRON_FIELDS[i]!));
}
