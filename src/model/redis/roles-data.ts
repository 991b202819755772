/**
 * What the identities of a Sentinel deployment need, as data: the documented set of each role, and for each permission what
 * happened on real servers (Redis 6.2.16 … 8.0.6, Valkey 8.1.1, 9.1.2; three data servers, three Sentinels, TLS) when it alone
 * was taken away. `recording` names the experiment.
 * Documented sets: https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#redis-access-control-list-authentication
 * and https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/#acl-rules-for-sentinel-and-replicas
 */

/**
 * `always`: without it the role fails. `with-multi`: one denied member aborts the transaction, so it is needed where MULTI is
 * granted. `recommended`: needed in a case that not every deployment meets. `harmless`: nothing was seen to break.
 * `coordinated`: only for a coordinated failover.
 */
export type Necessity = "always" | "with-multi" | "recommended" | "harmless" | "coordinated";

export interface Permission {
  /** `psync`, `config|rewrite`. */
  readonly command: string;
  readonly necessity: Necessity;
  /** What is seen without it. */
  readonly effect: string;
  /** What is seen without it where MULTI is not granted either. */
  readonly alone?: string;
  readonly recording?: string;
  /** Servers that know what it is for; without it all. */
  readonly since?: { readonly flavour: "redis" | "valkey"; readonly major: number };
}

export interface RoleSpec {
  readonly commands: readonly Permission[];
  /** Channels that must pass, each with the commands that use it. */
  readonly channels: readonly { readonly name: string; readonly uses: readonly string[]; readonly effect: string }[];
  /** Commands that the servers really send but that nothing depends on: no surplus. */
  readonly tolerated: readonly string[];
}

const noGoodReplica = "Sentinel knows no replica, and every failover ends with -failover-abort-no-good-slave";
const aborted =
  "NOPERM inside MULTI aborts Sentinel's transaction with the SLAVEOF in it: the failover never completes";

export const REPLICA: RoleSpec = {
  commands: [
    {
      command: "psync",
      necessity: "always",
      effect: `the replication link never comes up: ${noGoodReplica}`,
      recording: "replica-without-+psync",
    },
    {
      command: "replconf",
      necessity: "always",
      effect:
        "the first sync succeeds, then port and acknowledgements are refused: the link drops at repl-timeout, Sentinel loses the replicas, no failover",
      recording: "replica-without-+replconf",
    },
    {
      command: "ping",
      necessity: "harmless",
      effect:
        "nothing was seen to break, because the PING of the handshake is sent before AUTH; the documented set has it",
      recording: "replica-without-+ping",
    },
  ],
  channels: [],
  tolerated: [],
};

export const HELLO = "__sentinel__:hello";

export const CONTROL: RoleSpec = {
  commands: [
    {
      command: "slaveof",
      necessity: "always",
      effect: "a leader is elected and the promotion never happens",
      recording: "sentinel-without-+slaveof",
    },
    {
      command: "exec",
      necessity: "with-multi",
      effect: "the transaction stays queued: no promotion",
      alone: "the commands of a promotion run one by one",
      recording: "sentinel-without-+exec",
    },
    {
      command: "config|rewrite",
      necessity: "with-multi",
      effect: aborted,
      alone: "the configuration of the promoted server keeps its replicaof line",
      recording: "sentinel-without-+config|rewrite",
    },
    {
      command: "client|kill",
      necessity: "with-multi",
      effect: aborted,
      alone: "clients of the servers that change their role stay connected",
      recording: "sentinel-without-+client|kill",
    },
    {
      command: "subscribe",
      necessity: "always",
      effect: "Sentinels do not find each other (0 of 2 peers): no failover",
      recording: "sentinel-without-+subscribe",
    },
    {
      command: "publish",
      necessity: "always",
      effect: "Sentinels do not find each other (0 of 2 peers): no quorum",
      recording: "sentinel-without-+publish",
    },
    {
      command: "ping",
      necessity: "always",
      effect: "a healthy primary is taken for down: failovers that never finish",
      recording: "sentinel-without-+ping",
    },
    { command: "info", necessity: "always", effect: noGoodReplica, recording: "sentinel-without-+info" },
    {
      command: "multi",
      necessity: "harmless",
      effect: "the commands of a promotion run one by one instead of in one transaction",
      recording: "sentinel-without-+multi",
    },
    {
      command: "script|kill",
      necessity: "recommended",
      effect: "a script that runs away keeps the primary BUSY and is not killed",
      recording: "busy-script-without-script|kill",
    },
    {
      command: "role",
      necessity: "harmless",
      effect: "nothing was seen to break: no version sends it; the documented set has it",
      recording: "sentinel-without-+role",
    },
    {
      command: "client|setname",
      necessity: "harmless",
      effect: "only noise in the ACL log; the documented set has it",
      recording: "sentinel-without-+client|setname",
    },
    {
      command: "failover",
      necessity: "coordinated",
      effect: "SENTINEL FAILOVER … COORDINATED ends with -failover-abort-slave-timeout",
      recording: "manual-coordinated-official",
      since: { flavour: "valkey", major: 9 },
    },
    {
      command: "client|pause",
      necessity: "coordinated",
      effect: "SENTINEL FAILOVER … COORDINATED ends with -failover-abort-slave-timeout",
      recording: "manual-coordinated-plus-failover",
      since: { flavour: "valkey", major: 9 },
    },
    {
      command: "client|unpause",
      necessity: "coordinated",
      effect:
        "after SENTINEL FAILOVER … COORDINATED the configuration is not rewritten and clients are not disconnected",
      recording: "manual-coordinated-plus-failover-pause",
      since: { flavour: "valkey", major: 9 },
    },
  ],
  channels: [
    {
      name: HELLO,
      uses: ["subscribe", "publish"],
      effect: "Sentinels do not find each other (0 of 2 peers) and the primary shows as disconnected: no failover",
    },
  ],
  tolerated: [],
};

export const PEER: RoleSpec = {
  commands: [
    {
      command: "sentinel|is-master-down-by-addr",
      necessity: "always",
      effect:
        "every Sentinel sees +sdown and none ever +odown: no failover, while convergence and SENTINEL CKQUORUM stay OK, so no health check shows it",
      recording: "peer-without-+sentinel|is-master-down-by-addr",
    },
    {
      command: "ping",
      necessity: "recommended",
      effect: "peers are taken for down and SENTINEL CKQUORUM says NOQUORUM, though a failover still works",
      recording: "peer-without-+ping",
    },
  ],
  channels: [],
  tolerated: ["publish", "client|setname"],
};

/**
 * What a client may ask a Sentinel: the documented set for clients, reading subcommands, and subscribing (on exact channels).
 * AUTH and HELLO always pass.
 */
export const DISCOVERY_ALLOWED: readonly string[] = [
  "ping",
  "role",
  "command",
  "command|count",
  "command|docs",
  "command|getkeys",
  "command|getkeysandflags",
  "command|help",
  "command|info",
  "command|list",
  "client|getname",
  "client|id",
  "client|setinfo",
  "client|setname",
  "subscribe",
  "unsubscribe",
  "psubscribe",
  "punsubscribe",
  "sentinel|ckquorum",
  "sentinel|get-master-addr-by-name",
  "sentinel|get-primary-addr-by-name",
  "sentinel|help",
  "sentinel|info-cache",
  "sentinel|master",
  "sentinel|masters",
  "sentinel|myid",
  "sentinel|pending-scripts",
  "sentinel|primaries",
  "sentinel|primary",
  "sentinel|replicas",
  "sentinel|sentinels",
  "sentinel|slaves",
];

/** What changes a Sentinel, or takes part in its votes. */
export const SENTINEL_CHANGES: readonly string[] = [
  "sentinel|set",
  "sentinel|remove",
  "sentinel|monitor",
  "sentinel|failover",
  "sentinel|reset",
  "sentinel|config",
  "sentinel|flushconfig",
  "sentinel|debug",
  "sentinel|simulate-failure",
];

export interface ClientNeed {
  /** The library, and its options that change what it sends. */
  readonly library: string;
  readonly options: readonly string[];
  readonly commands: readonly string[];
  readonly channels: readonly string[];
}

/** What client libraries send to Sentinels, as recorded; `options` are words behind the library's name in `policy.client`. */
export const CLIENTS: readonly ClientNeed[] = [
  {
    library: "ioredis",
    options: [],
    commands: ["sentinel|get-master-addr-by-name", "sentinel|sentinels"],
    channels: [],
  },
  // `slaves` and `replicas` are two subcommands: ioredis sends the old one
  { library: "ioredis", options: ["role=slave"], commands: ["sentinel|slaves", "sentinel|sentinels"], channels: [] },
  { library: "ioredis", options: ["failoverDetector"], commands: ["subscribe"], channels: ["+switch-master"] },
  {
    library: "node-redis",
    options: [],
    commands: ["sentinel|sentinels", "sentinel|replicas", "sentinel|master"],
    channels: [],
  },
];

/**
 * The needs of `policy.client`: `ioredis`, `ioredis role=slave failoverDetector`, `node-redis`. undefined: no recording of
 * that library.
 */
export function clientNeeds(client: string): readonly ClientNeed[] | undefined {
  const [name = "", ...options] = client
    .trim()
    .toLowerCase()
    .split(/[\s,;()]+/);
  const library = /^(?:node-redis|redis|@redis\/client)$/.test(name) ? "node-redis" : name;
  const own = CLIENTS.filter(({ library: name }) => name === library);
  if (own.length === 0) return undefined;
  const asked = own.filter((c) => c.options.some((o) => options.includes(o.toLowerCase())));
  // an option that reads another role takes the place of the plain one
  const plain = asked.some((c) => c.options.includes("role=slave")) ? [] : own.filter((c) => c.options.length === 0);
  return [...plain, ...asked];
}
