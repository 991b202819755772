// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is edited
/**
 * What each permission was measured to do, as mutants of the golden contract and of the inferred one: an error where the
 * failover dies, a warning where something else is lost, nothing where nothing happens. A declared contract demands the
 * documented sets whatever was measured.
 */
import { describe, expect, it } from "vitest";
import { checkTree, fixtureBase } from "../support.js";

type Change = (line: string) => string;

const FILES = {
  declared: {
    base: "redis-lab",
    data: "infra/redis-lab/config/redis-users.acl.tmpl",
    sentinel: "infra/redis-lab/config/sentinel-users.acl.tmpl",
    redisConf: "infra/redis-lab/config/redis.conf.tmpl",
    sentinelConf: "infra/redis-lab/config/sentinel.conf.tmpl",
  },
  inferred: {
    base: "inferred",
    data: "k8s/redis-data.yaml",
    sentinel: "k8s/redis-sentinel.yaml",
    redisConf: "k8s/redis-data.yaml",
    sentinelConf: "k8s/redis-sentinel.yaml",
  },
} as const;
type Where = Exclude<keyof (typeof FILES)["declared"], "base">;

const without =
  (...words: string[]): Change =>
  (line) =>
    line
      .split(" ")
      .filter((w) => !words.includes(w))
      .join(" ");
const instead =
  (word: string, other: string): Change =>
  (line) =>
    line
      .split(" ")
      .map((w) => (w === word ? other : w))
      .join(" ");
const gone: Change = () => "";

const CONTROL = ["data", "user sentinel-control "] as const;
const REPLICA = ["data", "user replica "] as const;
const PEER = ["sentinel", "user sentinel-peer "] as const;
const DISCOVERY = ["sentinel", "user discovery "] as const;
const control = "acl/sentinel-control-user";
const peer = "acl/sentinel-peer-user";
const discovery = "acl/discovery-user";

/** What, file and line, change, what a declared contract says, what an inferred one says. */
const ROWS: readonly (readonly [string, readonly [Where, string], Change, string, string])[] = [
  ["replica without +psync", REPLICA, without("+psync"), "error acl/replica-user missing", "same"],
  ["replica without +replconf", REPLICA, without("+replconf"), "error acl/replica-user missing", "same"],
  ["replica without +ping", REPLICA, without("+ping"), "error acl/replica-user ping", ""],
  [
    "replica with +sync",
    REPLICA,
    instead("+psync", "+sync"),
    "error acl/replica-user sync",
    "warning acl/replica-user sync",
  ],
  ...["slaveof", "ping", "exec", "subscribe", "config|rewrite", "publish", "info", "client|kill"].map(
    (name) => [`control without +${name}`, CONTROL, without(`+${name}`), `error ${control} missing`, "same"] as const,
  ),
  ...["multi", "role", "client|setname"].map(
    (name) => [`control without +${name}`, CONTROL, without(`+${name}`), `error ${control} documented`, ""] as const,
  ),
  [
    "control without +script|kill",
    CONTROL,
    without("+script|kill"),
    `error ${control} recommended`,
    `warning ${control} recommended`,
  ],
  ["control without its channel", CONTROL, without("&__sentinel__:hello"), `error ${control} channel`, "same"],
  ["control with allchannels", CONTROL, instead("&__sentinel__:hello", "allchannels"), "", ""],
  ["control with +replicaof", CONTROL, instead("+slaveof", "+replicaof"), `error ${control} slaveof`, "same"],
  [
    "control without +multi and +exec",
    CONTROL,
    without("+multi", "+exec"),
    `error ${control} documented, error ${control} recommended`,
    `warning ${control} recommended`,
  ],
  [
    "control with the measured minimum",
    CONTROL,
    without("+role", "+client|setname"),
    `error ${control} documented`,
    "",
  ],
  ["peer without its command", PEER, without("+sentinel|is-master-down-by-addr"), `error ${peer} missing`, "same"],
  ["peer without +ping", PEER, without("+ping"), `error ${peer} ping`, `warning ${peer} ping`],
  ["peer with what is tolerated", PEER, (line) => `${line} &__sentinel__:hello +publish +client|setname`, "", ""],
  [
    "peer with all of SENTINEL",
    PEER,
    instead("+sentinel|is-master-down-by-addr", "+sentinel"),
    `error ${peer} surplus`,
    "",
  ],
  [
    "discovery without the address",
    DISCOVERY,
    without("+sentinel|get-master-addr-by-name"),
    `error ${discovery} missing, error acl/script-access denied`,
    "",
  ],
  ["discovery without the Sentinels", DISCOVERY, without("+sentinel|sentinels"), `error ${discovery} missing`, ""],
  [
    "discovery with replicas instead",
    DISCOVERY,
    instead("+sentinel|sentinels", "+sentinel|replicas"),
    `error ${discovery} missing`,
    "",
  ],
  ["no auth-user", ["sentinelConf", "sentinel auth-user "], gone, "error acl/wiring no-user", "same"],
  ["no auth-pass", ["sentinelConf", "sentinel auth-pass "], gone, "error acl/wiring no-password", "same"],
  ["no sentinel-user", ["sentinelConf", "sentinel sentinel-user "], gone, "error acl/wiring no-user", "same"],
  ["no credentials of peers", ["sentinelConf", "sentinel sentinel-"], gone, "error acl/wiring no-credentials", "same"],
  ["no masteruser", ["redisConf", "masteruser "], gone, "error acl/wiring no-user", "same"],
  ["no replica user", REPLICA, gone, "error acl/wiring unknown-user", "same"],
  [
    "no TLS between data servers",
    ["redisConf", "tls-replication "],
    instead("yes", "no"),
    "error redis/tls-links plain",
    "same",
  ],
  [
    "no TLS from Sentinels",
    ["sentinelConf", "tls-replication "],
    instead("yes", "no"),
    "error redis/tls-links plain",
    "same",
  ],
];

async function said(kind: "declared" | "inferred", where: Where, start: string, change: Change): Promise<string> {
  const files = FILES[kind];
  const tree = new Map(fixtureBase(files.base));
  const text = new TextDecoder().decode(tree.get(files[where]));
  const edited = text
    .split("\n")
    .map((line) => (line.trimStart().startsWith(start) ? change(line) : line))
    .join("\n");
  expect(edited).not.toBe(text);
  tree.set(files[where], new TextEncoder().encode(edited));
  const { result, faults } = await checkTree(tree);
  expect([...faults, ...result.crashes]).toEqual([]);
  return [...new Set(result.diagnostics.map((d) => `${d.severity} ${d.rule} ${d.messageId}`))].sort().join(", ");
}

describe("a permission that was measured", () => {
  it.each(ROWS)("%s", async (_, [where, start], change, declared, inferred) => {
    expect(await said("declared", where, start, change)).toBe(declared);
    expect(await said("inferred", where, start, change)).toBe(inferred === "same" ? declared : inferred);
  });
});
