/** Why an ACL file does not load, as far as it is certain. */
import type { PlaneRole } from "../plane.js";
import type { AclText } from "../texts.js";
import type { AclError } from "./acl.js";
import { isModuleRule } from "./acl-words.js";
import type { RedisDeployment } from "./deployment.js";
import { CURRENT, commandTable } from "./servers.js";

/**
 * The errors of an ACL file as the servers of a plane read it. Where the contract does not say which version runs, only those
 * that all current versions agree on; of a file that no plane loads, only those that both kinds of server agree on.
 */
export function aclErrors(redis: RedisDeployment, acl: AclText, role: PlaneRole | undefined): readonly AclError[] {
  const own = redis.acl(acl, role ?? "data");
  if (own.ok) return [];
  const versions = redis.version.asked === undefined ? CURRENT : [redis.version.id];
  const roles: readonly PlaneRole[] = role === undefined ? ["data", "sentinel"] : [role];
  const lines = new Set(own.errors.map((e) => e.line));
  // what each of them refuses, by place; a second user of a name is one for all that are asked
  const refused = versions.flatMap((version) =>
    roles
      .filter((r) => redis.version.asked === undefined || r !== (role ?? "data"))
      .map((r) => {
        const load = redis.aclFor(acl, r, version, lines);
        return new Set(load.ok ? [] : load.errors.map((e) => `${e.start} ${e.kind}`));
      }),
  );
  const modules = redis.modules(acl);
  const mayBeModule = ({ at, fault }: AclError): boolean =>
    fault === "ENOENT" && (modules === "yes" || (modules === "unknown" && isModuleRule(at.source.slice(at))));
  return own.errors.filter(
    (error) =>
      !mayBeModule(error) &&
      (error.kind === "duplicate" || refused.every((known) => known.has(`${error.start} ${error.kind}`))),
  );
}

export type AclErrorKind =
  | "line"
  | "comment"
  | "rule"
  | "command"
  | "pattern"
  | "hash"
  | "duplicate"
  | "name"
  | "parenthesis"
  | "crash";

/** What an error is about; undefined for one that another error of the same place says better. */
export function errorKind(error: AclError, crash: boolean): AclErrorKind | undefined {
  switch (error.kind) {
    case "keyword":
      return /^\s*#/.test(error.at.source.slice(error.at)) ? "comment" : "line";
    case "parenthesis":
      return crash ? undefined : "parenthesis";
    case "rule":
      break;
    default:
      return error.kind;
  }
  switch (error.fault) {
    case "ENOENT":
      return "command";
    case "EEXIST":
    case "EISDIR":
      return "pattern";
    case "EBADMSG":
      return "hash";
    default:
      return "rule";
  }
}

/** A text of a file in a message. */
export function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** `+get` in a Sentinel's ACL: a command or category that only a data server knows. */
export function isDataRule(redis: RedisDeployment, error: AclError): boolean {
  if (error.fault !== "ENOENT") return false;
  const text = error.at.source.slice(error.at);
  const table = commandTable(redis.version.id);
  const name = text.slice(1);
  if (table === undefined || !/^[+-]/.test(text)) return false;
  return name.startsWith("@") ? table.categoryIndex(name.slice(1)) >= 0 : table.get(name) !== undefined;
}
