/**
 * One defect each of the golden lab, and what a real server did with it in the recordings (five servers, 6.2 to 8.0 and
 * Valkey 9.1, agreed on every row). The static rules stand for these.
 */
import type { Deployment, Outcome } from "./lab.js";
import type { TemplateName, Templates } from "./lab-golden.js";

export interface Experiment extends Deployment {
  readonly id: string;
  /** What is expected; fields left out are not asserted. */
  readonly expect: Partial<Omit<Outcome, "denied">>;
  /** ACL refusals that must be seen, as `plane:user:reason:object`. */
  readonly denied?: readonly string[];
  /** Part of every test run; the others run with `LIVE_ALL=1`. */
  readonly always?: boolean;
}

type Edit = NonNullable<Deployment["edit"]>;
type Expectation = Experiment["expect"];

const WORKS: Expectation = {
  replicasLinked: true,
  sentinelsConverged: true,
  failover: true,
  otherReplicaFollows: true,
  oldPrimaryRejoins: true,
  rolesPersisted: true,
};
/** Everything looks right until the primary is lost. */
const NO_FAILOVER: Expectation = { replicasLinked: true, sentinelsConverged: true, failover: false };
const NO_CONVERGENCE: Expectation = { replicasLinked: true, sentinelsConverged: false, failover: false };
const NO_LINK: Expectation = { replicasLinked: false, sentinelsConverged: false, failover: false };

function change(file: TemplateName, edit: (text: string) => string): Edit {
  return (templates) => {
    const text = edit(templates[file]);
    if (text === templates[file]) throw new Error(`the experiment changes nothing in ${file}`);
    return { ...templates, [file]: text };
  };
}

const both =
  (first: Edit, second: Edit): Edit =>
  (templates: Templates, ordinal: number) =>
    second(first(templates, ordinal), ordinal);

const ACL: Readonly<Record<string, TemplateName>> = {
  replica: "redis-users.acl",
  "sentinel-control": "redis-users.acl",
  "sentinel-peer": "sentinel-users.acl",
};

/** Edits the rules of one user as a list of tokens. */
function rules(user: string, edit: (tokens: readonly string[]) => readonly string[]): Edit {
  const file = ACL[user];
  if (!file) throw new Error(`no ACL known for ${user}`);
  return change(file, (text) =>
    text.replace(new RegExp(`^user ${user} .*$`, "m"), (line) => edit(line.split(" ")).join(" ")),
  );
}

const without = (user: string, ...tokens: string[]): Edit =>
  rules(user, (all) => all.filter((token) => !tokens.includes(token)));
const plus = (user: string, ...tokens: string[]): Edit => rules(user, (all) => [...all, ...tokens]);
const replaced = (user: string, from: string, to: string): Edit =>
  rules(user, (all) => all.map((token) => (token === from ? to : token)));
const withoutUser = (user: string): Edit =>
  change(ACL[user] ?? "redis-users.acl", (text) => text.replace(new RegExp(`^user ${user} .*\n`, "m"), ""));
const line = (file: TemplateName, from: string | RegExp, to: string): Edit =>
  change(file, (text) => text.replace(from, to));

const control = (token: string, expect: Expectation, denied?: string, always = false): Experiment => ({
  id: `sentinel-control without ${token}`,
  edit: without("sentinel-control", token),
  expect,
  ...(denied ? { denied: [`data:sentinel-control:${denied}`] } : {}),
  always,
});

const OPEN_CLIENTS = /^tls-auth-clients yes$/m;

export const experiments: readonly Experiment[] = [
  { id: "none: the golden lab", expect: WORKS },

  // Replica, data plane.
  {
    id: "replica without +psync",
    edit: without("replica", "+psync"),
    expect: NO_LINK,
    denied: ["data:replica:command:psync"],
    always: true,
  },
  { id: "replica without +replconf", edit: without("replica", "+replconf"), expect: NO_CONVERGENCE, always: true },
  { id: "replica without +ping", edit: without("replica", "+ping"), expect: WORKS },
  {
    id: "replica with +sync instead of +psync",
    edit: replaced("replica", "+psync", "+sync"),
    expect: WORKS,
    denied: ["data:replica:command:psync"],
  },
  {
    id: "replica user missing where a replica is promoted",
    edit: (templates, ordinal) => (ordinal === 0 ? templates : withoutUser("replica")(templates, ordinal)),
    expect: { ...WORKS, otherReplicaFollows: false, oldPrimaryRejoins: false, rolesPersisted: true },
  },
  { id: "masteruser missing", edit: line("redis.conf", /^masteruser .*\n/m, ""), expect: NO_LINK },

  // Sentinel to data.
  control("+multi", WORKS, "command:multi"),
  control("+slaveof", NO_FAILOVER, "command:slaveof", true),
  control("+ping", NO_CONVERGENCE, "command:ping"),
  control("+exec", NO_FAILOVER, "command:exec"),
  control("+subscribe", NO_CONVERGENCE, "command:subscribe"),
  control("+config|rewrite", NO_FAILOVER, "command:config|rewrite", true),
  control("+role", WORKS),
  control("+publish", NO_CONVERGENCE, "command:publish"),
  control("+info", NO_CONVERGENCE),
  control("+client|setname", WORKS, "command:client|setname"),
  control("+client|kill", NO_FAILOVER, "command:client|kill"),
  control("+script|kill", WORKS),
  control("&__sentinel__:hello", NO_CONVERGENCE, "channel:__sentinel__:hello", true),
  {
    id: "sentinel-control with allchannels",
    edit: replaced("sentinel-control", "&__sentinel__:hello", "allchannels"),
    expect: WORKS,
  },
  {
    id: "sentinel-control with +replicaof instead of +slaveof",
    edit: replaced("sentinel-control", "+slaveof", "+replicaof"),
    expect: NO_FAILOVER,
    denied: ["data:sentinel-control:command:slaveof"],
  },
  {
    id: "sentinel-control with the measured minimum",
    edit: without("sentinel-control", "+role", "+client|setname", "+script|kill"),
    expect: WORKS,
  },
  {
    id: "sentinel-control without +multi and +exec",
    edit: without("sentinel-control", "+multi", "+exec"),
    expect: WORKS,
    denied: ["data:sentinel-control:command:multi"],
  },
  {
    id: "sentinel-control without +multi, +exec, +config|rewrite and +client|kill",
    edit: without("sentinel-control", "+multi", "+exec", "+config|rewrite", "+client|kill"),
    expect: { ...WORKS, rolesPersisted: false },
    denied: ["data:sentinel-control:command:config|rewrite", "data:sentinel-control:command:client|kill"],
  },
  {
    id: "endless script, sentinel-control with +script|kill",
    edit: change("redis.conf", (text) => `${text}\nbusy-reply-threshold 500\n`),
    busyScript: true,
    expect: { scriptKilled: true, failover: true },
  },
  {
    id: "endless script, sentinel-control without +script|kill",
    edit: both(
      without("sentinel-control", "+script|kill"),
      change("redis.conf", (text) => `${text}\nbusy-reply-threshold 500\n`),
    ),
    busyScript: true,
    expect: { scriptKilled: false, failover: true },
  },
  {
    id: "wrong sentinel auth-pass",
    edit: line("sentinel.conf", /^(sentinel auth-pass redis-lab) .*$/m, "$1 wrong"),
    expect: NO_CONVERGENCE,
  },
  {
    id: "sentinel auth-user missing",
    edit: line("sentinel.conf", /^sentinel auth-user .*\n/m, ""),
    expect: NO_CONVERGENCE,
  },

  // Sentinel to Sentinel.
  {
    id: "sentinel-peer without +sentinel|is-master-down-by-addr",
    edit: without("sentinel-peer", "+sentinel|is-master-down-by-addr"),
    expect: { ...NO_FAILOVER, quorumReported: true },
    denied: ["sentinel:sentinel-peer:command:sentinel|is-master-down-by-addr"],
    always: true,
  },
  {
    id: "sentinel-peer without +ping",
    edit: without("sentinel-peer", "+ping"),
    expect: WORKS,
    denied: ["sentinel:sentinel-peer:command:ping"],
  },
  {
    id: "sentinel-peer with +publish, +client|setname and the hello channel",
    edit: plus("sentinel-peer", "+publish", "+client|setname", "&__sentinel__:hello"),
    expect: WORKS,
  },
  {
    id: "sentinel-peer with the whole +sentinel",
    edit: replaced("sentinel-peer", "+sentinel|is-master-down-by-addr", "+sentinel"),
    expect: WORKS,
  },
  {
    id: "sentinel sentinel-user missing",
    edit: line("sentinel.conf", /^sentinel sentinel-user .*\n/m, ""),
    expect: NO_FAILOVER,
    denied: ["sentinel:default:auth:AUTH"],
    always: true,
  },
  {
    id: "sentinel sentinel-user and sentinel-pass missing",
    edit: line("sentinel.conf", /^sentinel sentinel-(user|pass) .*\n/gm, ""),
    expect: NO_FAILOVER,
  },

  // Links.
  {
    id: "tls-replication no on the data plane",
    edit: line("redis.conf", "tls-replication yes", "tls-replication no"),
    expect: NO_LINK,
    always: true,
  },
  {
    id: "tls-replication no on the Sentinel plane",
    edit: line("sentinel.conf", "tls-replication yes", "tls-replication no"),
    expect: NO_CONVERGENCE,
    always: true,
  },
  { id: "Sentinel does not trust the data authority", sentinelTrusts: ["sentinel", "client"], expect: NO_CONVERGENCE },
  { id: "data does not trust the Sentinel authority", dataTrusts: ["data", "client"], expect: NO_CONVERGENCE },
  {
    id: "data does not trust the Sentinel authority, tls-auth-clients optional",
    edit: line("redis.conf", OPEN_CLIENTS, "tls-auth-clients optional"),
    dataTrusts: ["data", "client"],
    expect: NO_CONVERGENCE,
  },
  {
    id: "data does not trust the Sentinel authority, tls-auth-clients no",
    edit: line("redis.conf", OPEN_CLIENTS, "tls-auth-clients no"),
    dataTrusts: ["data", "client"],
    expect: WORKS,
  },
  { id: "data certificate for server use only", dataLeaf: "data-server-only", expect: NO_LINK },
  {
    id: "data certificate for server use only, tls-auth-clients no",
    edit: line("redis.conf", OPEN_CLIENTS, "tls-auth-clients no"),
    dataLeaf: "data-server-only",
    expect: WORKS,
  },
  { id: "data certificate with another name", dataLeaf: "data-other-name", expect: WORKS },
  { id: "data certificate expired", dataLeaf: "data-expired", expect: NO_LINK },
  { id: "Sentinel certificate of an unknown authority", sentinelLeaf: "sentinel-rogue", expect: NO_CONVERGENCE },

  // Files. No recording has this one: the failover works, and the first restart forgets it.
  { id: "redis.conf mounted read-only", readOnlyConfig: true, expect: { ...WORKS, rolesPersisted: false } },
];
