/** Which rule says what the judge of configurations found: one fault is one finding. */
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

/** The findings of a load that are a rule's to say. */
export function findingsOf(findings: readonly ConfFinding[], owner: ConfOwner): readonly ConfFinding[] {
  return findings.filter((f) => ownerOf(f) === owner);
}
