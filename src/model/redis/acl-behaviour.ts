/**
 * What differs between servers in reading and judging ACLs. Every line of it was recorded (ACL-SEMANTICS) or read in the
 * servers' sources.
 */
import type { Server } from "./servers.js";

export interface Behaviour {
  /** `&` channel rules and `sanitize-payload` (6.2). */
  readonly channels: boolean;
  /** Selectors, `%R~`, subcommands as commands of their own, ACL DRYRUN (7.0). */
  readonly modern: boolean;
  /** Channels of a new user or selector when `acl-pubsub-default` is not set. */
  readonly allChannels: boolean;
  /** 6.0: a subcommand of a command that is fully allowed is an error. */
  readonly subcommandOnce: boolean;
  /** ACL GETUSER keeps the command rules in order (7.2); before, they are derived from the command set. */
  readonly orderedRules: boolean;
  /** A new user has `sanitize-payload` (7.2); else only a rule or `reset` sets it. */
  readonly sanitizes: boolean;
  /** The sanitize flags are printed (not in Valkey 9.1). */
  readonly printsSanitize: boolean;
  /** `db=`, `alldbs`, `resetdbs` (Valkey 9.1). */
  readonly databases: boolean;
  /** Text may follow a closing quote inside a selector (Valkey 9.1). */
  readonly lenientQuotes: boolean;
  /** `%` alone is a pattern without access; it crashes ACL GETUSER (CVE-2024-51741). */
  readonly emptyPercent: boolean;
  /** So is `%~x`. */
  readonly percentTilde: boolean;
  /** A second `(` inside an open selector drops what came before it. */
  readonly restartsSelector: boolean;
  /** Denials name the user (7.2). */
  readonly namesUser: boolean;
  /** Lines of an ACL file that start with `#` are skipped (Redis 8.8). */
  readonly comments: boolean;
  /** ACL LOAD closes every connection of every user but `default`, unchanged or not. */
  readonly loadDisconnects: boolean;
}

export function behaviourOf(server: Server): Behaviour {
  const [major, minor, patch] = server.version;
  const valkey = server.flavour === "valkey";
  const from = (a: number, b: number, c = 0): boolean =>
    major !== a ? major > a : minor !== b ? minor > b : patch >= c;
  const fixed = valkey
    ? from(8, 0, 2) || (major === 7 && patch >= 8)
    : server.debian || from(7, 4, 2) || (major === 7 && minor === 2 && patch >= 7);
  const modern = from(7, 0);
  return {
    channels: from(6, 2),
    modern,
    allChannels: !modern,
    subcommandOnce: !from(6, 2),
    orderedRules: from(7, 2),
    sanitizes: from(7, 2),
    printsSanitize: !(valkey && from(9, 1)),
    databases: valkey && from(9, 1),
    lenientQuotes: valkey && from(9, 1),
    emptyPercent: modern && !fixed,
    percentTilde: modern && !from(7, 2) && !fixed,
    restartsSelector: modern && !from(7, 2),
    namesUser: from(7, 2),
    comments: !valkey && (server.asked[0] > 8 || (server.asked[0] === 8 && server.asked[1] >= 8)),
    loadDisconnects: valkey ? !from(8, 0) : !from(7, 4),
  };
}
