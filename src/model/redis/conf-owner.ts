/** Which rule says what the judge of configurations found: one fault is one finding. */
import type { ConfLoad } from "./conf.js";
import type { ConfCode, ConfFinding } from "./conf-finding.js";

export type ConfOwner =
  | "redis/syntax"
  | "redis/directive"
  | "redis/tls-only"
  | "redis/tls-links"
  | "redis/tls-material"
  | "redis/acl-file"
  | "redis/stable-hostnames"
  | "sentinel/monitor"
  | "acl/default-user"
  | "acl/wiring";

const OWNERS: Partial<Record<ConfCode, ConfOwner>> = {
  "no-listener": "redis/tls-only",
  "same-port": "redis/tls-only",
  "tls-incomplete": "redis/tls-links",
  "tls-no-ca": "redis/tls-links",
  "tls-unused": "redis/tls-links",
  "tls-half-pair": "redis/tls-material",
  "tls-file": "redis/tls-material",
  "acl-and-users": "redis/acl-file",
  "acl-file": "redis/acl-file",
  "password-ignored": "redis/acl-file",
  "open-default-user": "acl/default-user",
  "user-without-password": "acl/wiring",
  "sentinel-user-without-password": "acl/wiring",
  "empty-announce": "redis/stable-hostnames",
  "sentinel-hostname": "redis/stable-hostnames",
  "sentinel-pinned-hostname": "redis/stable-hostnames",
  "sentinel-announce-hostnames": "redis/stable-hostnames",
  "sentinel-unmonitored": "sentinel/monitor",
};

const OF_MONITOR: ReadonlySet<ConfCode> = new Set<ConfCode>([
  "sentinel-value",
  "sentinel-misread",
  "sentinel-arity",
  "sentinel-duplicate",
]);

export function ownerOf({ topic, code, directive }: Pick<ConfFinding, "topic" | "code" | "directive">): ConfOwner {
  if (topic === "syntax") return "redis/syntax";
  if (directive === "sentinel monitor" && OF_MONITOR.has(code)) return "sentinel/monitor";
  return OWNERS[code] ?? "redis/directive";
}

/** The findings of a load that are a rule's to say. What only holds if something unknown does is left to declared contracts. */
export function findingsOf(load: ConfLoad, owner: ConfOwner, declared: boolean): readonly ConfFinding[] {
  return load.findings.filter((f) => ownerOf(f) === owner && (f.certain || declared));
}

/** In a file that no template's name announces, a start script may still fill these in. */
const FILLED_IN = /%[\w-]+%|\$\{?\w|\$\(|\{\{|<[A-Za-z][\w -]*>|__\w+__|@\w+@/;

/** What weakens a finding: a line that may not be there, and without a contract file words that look like placeholders. */
export function weightOf({ certain, at }: ConfFinding, declared: boolean): "info" | undefined {
  return !certain || (!declared && FILLED_IN.test(at.source.slice(at))) ? "info" : undefined;
}
