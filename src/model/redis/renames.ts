/**
 * Commands that must keep their names, or whose new name Sentinel must know. Those of Sentinel are the ones that sentinel.c
 * looks up in `rename-command` before it sends them.
 */
export const SENT_BY_SENTINEL: ReadonlyMap<string, string> = new Map([
  ["auth", "it never logs in"],
  ["ping", "every server counts as down"],
  ["info", "it finds no replica"],
  ["subscribe", "Sentinels do not find each other"],
  ["publish", "Sentinels do not find each other"],
  ["slaveof", "no replica is promoted"],
  ["multi", "a failover runs command by command"],
  ["exec", "a promotion stays queued and never happens"],
  ["config", "the promotion's transaction is aborted: no failover completes"],
  ["client", "the promotion's transaction is aborted: no failover completes"],
  ["script", "a primary that hangs in a script is not freed"],
]);

/** Sent by a replica to its primary; nothing renames them there. */
export const OF_REPLICATION: ReadonlySet<string> = new Set(["psync", "sync", "replconf"]);
