/**
 * The golden lab on loopback: three data servers and three Sentinels, TLS only, from the golden templates and scripts.
 *
 * What differs from the cluster, and nothing else:
 * - placeholders are replaced by throw-away passwords, certificates are made for the run;
 * - the directories `/data /acl /tls /bootstrap /scripts /shared` lie under one temporary directory per pod;
 * - every pod has a loopback address of its own: `bind` is appended to its configuration and stands for `127.0.0.1` in
 *   its probes, ports stay as they are. The pods' DNS names are kept, in a hosts file that only the lab's processes see
 *   (a mount namespace); where the machine refuses that, the names are replaced by the addresses;
 * - shorter times: `down-after-milliseconds`, `failover-timeout`, `repl-diskless-sync-delay 0`, and Sentinel's own periods
 *   through `SENTINEL DEBUG`;
 * - an observer, `oracle`, is appended to both ACLs; `sync` does nothing.
 */
import { spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Authority, Certificates, Leaf } from "./lab-certificates.js";
import {
  dnsName,
  goldenCommands,
  goldenScript,
  goldenTemplates,
  MASTER,
  ORDINALS,
  type Plane,
  PORTS,
  podName,
  type TemplateName,
  type Templates,
} from "./lab-golden.js";
import {
  Daemon,
  RedisClient,
  type Reply,
  ReplyError,
  removeDirectory,
  type Server,
  sleep,
  temporaryDirectory,
  until,
} from "./util.js";

/** Times of the run, in milliseconds. The contract's own are 5000 and 20000. */
const DOWN_AFTER = 1500;
const FAILOVER_TIMEOUT = 4000;

/** One deployment: the golden one, or the golden one with a defect. */
export interface Deployment {
  /** Edits a template before it is rendered, for one pod. */
  readonly edit?: (templates: Templates, ordinal: number) => Templates;
  readonly dataLeaf?: Leaf;
  readonly sentinelLeaf?: Leaf;
  readonly dataTrusts?: readonly Authority[];
  readonly sentinelTrusts?: readonly Authority[];
  /** A file-mounted, read-only redis.conf instead of one on the pod's volume (needs a mount namespace). */
  readonly readOnlyConfig?: boolean;
  /** Blocks the primary with an endless script before it is killed. */
  readonly busyScript?: boolean;
}

const EVERYONE: readonly Authority[] = ["data", "sentinel", "client"];

/** The password of each placeholder; no blanks, as Sentinel writes them back unquoted. */
export const passwords: Readonly<Record<string, string>> = Object.fromEntries(
  [
    "APP_PASSWORD",
    "REPLICA_PASSWORD",
    "SENTINEL_CONTROL_PASSWORD",
    "SENTINEL_PEER_PASSWORD",
    "DISCOVERY_PASSWORD",
    "DATA_PROBE_PASSWORD",
    "SENTINEL_PROBE_PASSWORD",
    "ORACLE_PASSWORD",
  ].map((name) => [name, `${name.toLowerCase().replaceAll("_", "-")}-${crypto.randomUUID()}`]),
);

/** Replaces `${NAME}`; throws on a placeholder that has no value. */
function fill(template: string): string {
  return template.replace(/\$\{([A-Z_]+)\}/g, (_, name: string) => {
    const value = passwords[name];
    if (value === undefined) throw new Error(`no value for the placeholder ${name}`);
    return value;
  });
}

/** Whether processes of this machine can have a hosts file of their own. */
function canMount(): boolean {
  const directory = temporaryDirectory("mount");
  try {
    const hosts = join(directory, "hosts");
    writeFileSync(hosts, "127.0.0.1 quorumlint-probe\n");
    const script = 'mount --bind "$0" /etc/hosts && grep -q quorumlint-probe /etc/hosts';
    return spawnSync("unshare", ["-m", "sh", "-c", script, hosts]).status === 0;
  } finally {
    removeDirectory(directory);
  }
}

/** True where the pods' DNS names are kept; `LIVE_NAMES=addresses` gives them up on purpose. */
export const namesAreKept = process.platform === "linux" && process.env["LIVE_NAMES"] !== "addresses" && canMount();

/** The answer of a pod, or undefined where it does not answer. */
type Answer = Reply | undefined;

export class Lab {
  readonly directory = temporaryDirectory("lab");
  /** A /24 of loopback of its own; drawn, so that test runs side by side do not meet. */
  private readonly net = `127.${randomInt(64, 192)}.${randomInt(1, 251)}`;
  private readonly daemons = new Map<string, Daemon>();
  private readonly others: Daemon[] = [];
  private readonly denials = new Set<string>();

  constructor(
    private readonly server: Server,
    private readonly certificates: Certificates,
    private readonly deployment: Deployment = {},
  ) {
    this.write("hosts", this.hosts());
    // `sync` would flush the whole machine's disks; without the mount namespace `getent` cannot know the names.
    this.write("bin/sync", "#!/bin/sh\n", 0o755);
    if (!namesAreKept) this.write("bin/getent", "#!/bin/sh\n", 0o755);
    for (const plane of ["data", "sentinel"] as const) for (const ordinal of ORDINALS) this.prepare(plane, ordinal);
  }

  address(plane: Plane, ordinal: number): string {
    return `${this.net}.${plane === "data" ? 1 : 2}${ordinal}`;
  }

  /** The directory that stands for the root of a pod's file system. */
  root(plane: Plane, ordinal: number): string {
    return join(this.directory, podName(plane, ordinal));
  }

  private write(path: string, text: string, mode = 0o600): void {
    const file = join(this.directory, path);
    mkdirSync(join(file, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode });
  }

  private hosts(): string {
    let text = "127.0.0.1 localhost\n";
    for (const plane of ["data", "sentinel"] as const) {
      for (const ordinal of ORDINALS) text += `${this.address(plane, ordinal)} ${dnsName(plane, ordinal)}\n`;
    }
    return text;
  }

  /** Moves a text of the contract to this machine: directories, and names where they cannot be kept. */
  private relocate(text: string, root: string): string {
    const moved = text.replace(/(?<![\w./-])\/(data|acl|tls|bootstrap|scripts|shared)(?=[/\s"']|$)/gm, `${root}/$1`);
    if (namesAreKept) return moved;
    return moved.replace(
      /redis-(data|sentinel)-(\$ordinal|\d)\.redis-\1\.redis-lab\.svc\.cluster\.local/g,
      (_, plane: Plane, ordinal: string) => `${this.net}.${plane === "data" ? 1 : 2}${ordinal}`,
    );
  }

  private prepare(plane: Plane, ordinal: number): void {
    const pod = podName(plane, ordinal);
    const { deployment, certificates } = this;
    const golden = goldenTemplates();
    const templates = deployment.edit?.(golden, ordinal) ?? golden;
    const conf: TemplateName = plane === "data" ? "redis.conf" : "sentinel.conf";
    const acl: TemplateName = plane === "data" ? "redis-users.acl" : "sentinel-users.acl";
    const oracle = "user oracle on >" + "$" + "{ORACLE_PASSWORD} ~* &* +@all\n";
    const faster =
      plane === "data"
        ? "repl-diskless-sync-delay 0\n"
        : `sentinel down-after-milliseconds ${MASTER} ${DOWN_AFTER}\nsentinel failover-timeout ${MASTER} ${FAILOVER_TIMEOUT}\n`;
    const text = templates[conf].replace(/^sentinel (down-after-milliseconds|failover-timeout) .*\n/gm, "");
    const root = this.root(plane, ordinal);
    const address = this.address(plane, ordinal);
    const named = (rendered: string): string =>
      namesAreKept ? rendered : rendered.replace(`__POD_NAME__.redis-${plane}.redis-lab.svc.cluster.local`, address);
    this.write(
      `${pod}/bootstrap/${conf}`,
      named(this.relocate(fill(`${text}\n# of the live test\nbind ${address}\n${faster}`), root)),
    );
    this.write(`${pod}/acl/users.acl`, fill(templates[acl] + oracle));
    this.write(`${pod}/scripts/bootstrap.sh`, this.relocate(goldenScript(`redis-${plane}.yaml`, "bootstrap.sh"), root));
    mkdirSync(join(root, "data"), { mode: 0o700 });

    const leaf = plane === "data" ? (deployment.dataLeaf ?? "data") : (deployment.sentinelLeaf ?? "sentinel");
    const trusts = (plane === "data" ? deployment.dataTrusts : deployment.sentinelTrusts) ?? EVERYONE;
    this.write(`${pod}/tls/${plane}/tls.crt`, certificates.certificate(leaf));
    this.write(`${pod}/tls/${plane}/tls.key`, certificates.key(leaf));
    this.write(`${pod}/tls/trust/${plane}-plane.pem`, certificates.bundle(trusts));
    this.write(`${pod}/tls/probe/tls.crt`, certificates.certificate("probe"));
    this.write(`${pod}/tls/probe/tls.key`, certificates.key("probe"));
  }

  /** A command as the lab's processes run it: with the lab's hosts file, where that can be. */
  private inLab(command: readonly string[], prelude = ""): readonly string[] {
    if (!namesAreKept) return command;
    const script = `mount --bind "$0" /etc/hosts && ${prelude} exec "$@"`;
    return ["unshare", "-m", "sh", "-c", script, join(this.directory, "hosts"), ...command];
  }

  private environment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
    return { ...process.env, ...extra, PATH: join(this.directory, "bin") + delimiter + (process.env["PATH"] ?? "") };
  }

  private run(command: readonly string[], extra: Readonly<Record<string, string>>): Promise<number> {
    const [program = "", ...words] = this.inLab(command);
    return new Promise((resolve, reject) => {
      const child = spawn(program, words, { stdio: "ignore", env: this.environment(extra) });
      child.once("error", reject);
      child.once("exit", (code) => resolve(code ?? -1));
    });
  }

  /** Boots a pod as the kubelet does: the init container's script, then the server. Throws when the script fails. */
  async boot(plane: Plane, ordinal: number): Promise<void> {
    const pod = podName(plane, ordinal);
    const root = this.root(plane, ordinal);
    const status = await this.run(["sh", join(root, "scripts/bootstrap.sh")], { POD_NAME: pod });
    if (status !== 0) throw new Error(`${pod}: bootstrap.sh ended with ${status}`);
    const conf = plane === "data" ? join(root, "data/redis.conf") : join(root, "data/sentinel.conf");
    const flags = plane === "data" ? [] : ["--sentinel"];
    const frozen = plane === "data" && this.deployment.readOnlyConfig;
    const prelude = frozen ? `mount --bind '${conf}' '${conf}' && mount -o remount,ro,bind '${conf}' &&` : "";
    const command = this.inLab([this.server.path, conf, ...flags], prelude);
    this.daemons.set(pod, new Daemon(command, join(this.directory, `${pod}.log`), this.environment()));
  }

  /** Kills a pod's server at once, as a lost node does. */
  async kill(plane: Plane, ordinal: number): Promise<void> {
    await this.daemons.get(podName(plane, ordinal))?.stop("SIGKILL");
  }

  log(plane: Plane, ordinal: number): string {
    return this.daemons.get(podName(plane, ordinal))?.output() ?? "";
  }

  /** Opens a connection as `user`; `""` sends no AUTH. Rejects when TLS or AUTH is refused. */
  async connect(
    plane: Plane,
    ordinal: number,
    user = "oracle",
    password = passwords["ORACLE_PASSWORD"],
  ): Promise<RedisClient> {
    const client = await RedisClient.open({
      host: this.address(plane, ordinal),
      port: PORTS[plane],
      tls: { cert: this.certificates.certificate("client"), key: this.certificates.key("client") },
    });
    if (user !== "") {
      const reply = await client.command(["AUTH", user, password ?? ""]);
      if (reply instanceof ReplyError) {
        client.close();
        throw reply;
      }
    }
    return client;
  }

  /** One command as the observer. */
  async ask(plane: Plane, ordinal: number, ...words: string[]): Promise<Answer> {
    try {
      const client = await this.connect(plane, ordinal);
      try {
        return await client.command(words);
      } finally {
        client.close();
      }
    } catch {
      return undefined;
    }
  }

  /** `INFO replication` of a data server, as fields; empty where it does not answer. */
  async replication(ordinal: number): Promise<ReadonlyMap<string, string>> {
    return fields(await this.ask("data", ordinal, "INFO", "replication"), /\r?\n/, ":");
  }

  /** `SENTINEL MASTER` of a Sentinel, as fields. */
  async master(ordinal: number): Promise<ReadonlyMap<string, string>> {
    const reply = await this.ask("sentinel", ordinal, "SENTINEL", "MASTER", MASTER);
    const result = new Map<string, string>();
    if (Array.isArray(reply)) {
      for (let at = 0; at + 1 < reply.length; at += 2) result.set(String(reply[at]), String(reply[at + 1]));
    }
    return result;
  }

  private linked(ordinal: number): Promise<boolean> {
    return this.replication(ordinal).then((info) => info.get("master_link_status") === "up");
  }

  /** Boots the data servers; true when both replicas' links are up within `limit` milliseconds. */
  async startData(limit = 6000): Promise<boolean> {
    await Promise.all(ORDINALS.map((ordinal) => this.boot("data", ordinal)));
    await until(async () => (await this.replication(0)).size > 0, limit);
    return until(async () => (await this.linked(1)) && (await this.linked(2)), limit);
  }

  /** Boots the Sentinels; true when each sees two replicas, two peers and a healthy primary within `limit` milliseconds, and still after down-after. */
  async startSentinels(limit = 9000): Promise<boolean> {
    await Promise.all(ORDINALS.map((ordinal) => this.boot("sentinel", ordinal)));
    for (const ordinal of ORDINALS) {
      await until(async () => (await this.ask("sentinel", ordinal, "PING")) === "PONG", 5000);
      await this.ask("sentinel", ordinal, "SENTINEL", "DEBUG", "INFO-PERIOD", "1000", "PUBLISH-PERIOD", "500");
    }
    if (!(await until(() => this.converged(), limit))) return false;
    // What was refused shows only once a down-after period is over.
    await sleep(DOWN_AFTER + 1000);
    return this.converged();
  }

  private async converged(): Promise<boolean> {
    for (const ordinal of ORDINALS) {
      const seen = await this.master(ordinal);
      const complete = seen.get("num-slaves") === "2" && seen.get("num-other-sentinels") === "2";
      if (!complete || seen.get("flags") !== "master") return false;
    }
    return true;
  }

  /** What `SENTINEL CKQUORUM` of the first Sentinel says. */
  async quorum(): Promise<boolean> {
    const reply = await this.ask("sentinel", 0, "SENTINEL", "CKQUORUM", MASTER);
    return typeof reply === "string" && reply.startsWith("OK");
  }

  /** The ordinal of the promoted server once a majority of Sentinels announces it; undefined after `limit` milliseconds. */
  async promoted(lost: number, limit = 12_000): Promise<number | undefined> {
    let found: number | undefined;
    await until(async () => {
      const announced = new Map<string, number>();
      for (const ordinal of ORDINALS) {
        const reply = await this.ask("sentinel", ordinal, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER);
        const name = Array.isArray(reply) ? String(reply[0]) : "";
        announced.set(name, (announced.get(name) ?? 0) + 1);
      }
      for (const ordinal of ORDINALS) {
        if (ordinal === lost || (announced.get(this.name("data", ordinal)) ?? 0) < 2) continue;
        if ((await this.replication(ordinal)).get("role") === "master") found = ordinal;
      }
      return found !== undefined;
    }, limit);
    return found;
  }

  /** True when `ordinal` is a replica of `primary` with its link up within `limit` milliseconds. */
  follows(ordinal: number, primary: number, limit: number): Promise<boolean> {
    return until(async () => {
      const info = await this.replication(ordinal);
      const host = info.get("master_host");
      return (
        info.get("role") === "slave" && host === this.name("data", primary) && info.get("master_link_status") === "up"
      );
    }, limit);
  }

  /** The name under which a pod is announced on this machine. */
  name(plane: Plane, ordinal: number): string {
    return namesAreKept ? dnsName(plane, ordinal) : this.address(plane, ordinal);
  }

  /** Everything that the servers' ACLs refused so far, as `plane:user:reason:object`, sorted. */
  async denied(): Promise<readonly string[]> {
    for (const plane of ["data", "sentinel"] as const) {
      for (const ordinal of ORDINALS) {
        const entries = await this.ask(plane, ordinal, "ACL", "LOG", "100");
        if (!Array.isArray(entries)) continue;
        for (const entry of entries) {
          if (!Array.isArray(entry)) continue;
          const field = (name: string): string => String(entry[entry.indexOf(name) + 1]);
          this.denials.add(`${plane}:${field("username")}:${field("reason")}:${field("object")}`);
        }
      }
    }
    return [...this.denials].sort();
  }

  /** Blocks a data server with an endless script; true when somebody kills the script within `limit` milliseconds. */
  async endlessScript(ordinal: number, limit: number): Promise<boolean> {
    const client = await this.connect("data", ordinal);
    try {
      const reply = await client.command(["EVAL", "while true do end", "0"], limit);
      return reply instanceof ReplyError && reply.message.includes("Script killed");
    } catch {
      return false;
    } finally {
      client.close();
    }
  }

  /** Runs a probe of the contract inside a pod with the given password; resolves with its exit status. */
  async probe(plane: Plane, ordinal: number, name: string, password: string): Promise<number> {
    const command = goldenCommands(plane).probes.get(name);
    if (!command) throw new Error(`no ${name} in the ${plane} workload`);
    const root = this.root(plane, ordinal);
    const words = command.map((word) =>
      this.relocate(word, root).replace("-h 127.0.0.1", `-h ${this.address(plane, ordinal)}`),
    );
    return this.run(words, { REDISCLI_AUTH: password });
  }

  /** Starts the two containers of the qualification pod; returns its root directory. */
  startQualification(): string {
    const root = join(this.directory, "redis-qualification");
    mkdirSync(join(root, "shared"), { recursive: true });
    this.write("redis-qualification/tls/client/tls.crt", this.certificates.certificate("client"));
    this.write("redis-qualification/tls/client/tls.key", this.certificates.key("client"));
    this.write("redis-qualification/tls/trust/client.pem", this.certificates.bundle(["data", "sentinel"]));
    for (const [script, placeholder] of [
      ["discover.sh", "DISCOVERY_PASSWORD"],
      ["write.sh", "APP_PASSWORD"],
    ] as const) {
      const text = this.relocate(goldenScript("qualification.yaml", script), root).replaceAll("sleep 5", "sleep 1");
      this.write(`redis-qualification/scripts/${script}`, text);
      const environment = this.environment({ REDISCLI_AUTH: passwords[placeholder] ?? "" });
      const command = this.inLab(["sh", join(root, "scripts", script)]);
      this.others.push(new Daemon(command, join(this.directory, `${script}.log`), environment));
    }
    return root;
  }

  /** Stops every process by its pid and removes the directory; `LIVE_KEEP` names a place for a copy. */
  async stop(): Promise<void> {
    await Promise.all([...this.daemons.values(), ...this.others].map((daemon) => daemon.stop("SIGKILL")));
    const keep = process.env["LIVE_KEEP"];
    if (keep) cpSync(this.directory, join(keep, this.net), { recursive: true });
    removeDirectory(this.directory);
  }

  /** True when the files of the primary and of these replicas say who replicates from whom. */
  rolesPersisted(primary: number, replicas: readonly number[]): Promise<boolean> {
    const line = `replicaof ${this.name("data", primary)} ${PORTS.data}`;
    return until(async () => {
      if (/^replicaof /m.test(this.conf("data", primary))) return false;
      return replicas.every((ordinal) => this.conf("data", ordinal).split("\n").includes(line));
    }, 1500);
  }

  /** The configuration file of a pod as it is now. */
  conf(plane: Plane, ordinal: number): string {
    const path = join(this.root(plane, ordinal), "data", plane === "data" ? "redis.conf" : "sentinel.conf");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }
}

function fields(reply: Answer, separator: RegExp, assign: string): ReadonlyMap<string, string> {
  const result = new Map<string, string>();
  if (typeof reply !== "string") return result;
  for (const line of reply.split(separator)) {
    const at = line.indexOf(assign);
    if (at > 0) result.set(line.slice(0, at), line.slice(at + 1));
  }
  return result;
}

/** What happened to one deployment, in the words of the recordings; null: did not come to that. */
export interface Outcome {
  readonly replicasLinked: boolean;
  readonly sentinelsConverged: boolean;
  readonly quorumReported: boolean;
  readonly failover: boolean;
  readonly otherReplicaFollows: boolean | null;
  readonly oldPrimaryRejoins: boolean | null;
  /** Null where no endless script was run. */
  readonly scriptKilled: boolean | null;
  /** The new roles are in the servers' configuration files: they survive a restart. */
  readonly rolesPersisted: boolean | null;
  readonly denied: readonly string[];
}

/** Plays the whole story on one deployment: start, kill the primary, failover, restart the old primary. */
export async function play(server: Server, certificates: Certificates, deployment: Deployment): Promise<Outcome> {
  const lab = new Lab(server, certificates, deployment);
  try {
    const replicasLinked = await lab.startData();
    const sentinelsConverged = await lab.startSentinels();
    const quorumReported = await lab.quorum();
    await lab.denied();
    const scriptKilled = deployment.busyScript ? await lab.endlessScript(0, 12_000) : null;
    await lab.kill("data", 0);
    const primary = await lab.promoted(0);
    let otherReplicaFollows: boolean | null = null;
    let oldPrimaryRejoins: boolean | null = null;
    let rolesPersisted: boolean | null = null;
    if (primary !== undefined) {
      otherReplicaFollows = await lab.follows(3 - primary, primary, 8000);
      await lab.denied();
      await lab.boot("data", 0);
      oldPrimaryRejoins = await lab.follows(0, primary, 14_000);
      rolesPersisted = await lab.rolesPersisted(primary, oldPrimaryRejoins ? [0, 3 - primary] : [3 - primary]);
    }
    const denied = await lab.denied();
    const failover = primary !== undefined;
    return {
      replicasLinked,
      sentinelsConverged,
      quorumReported,
      failover,
      otherReplicaFollows,
      oldPrimaryRejoins,
      scriptKilled,
      rolesPersisted,
      denied,
    };
  } finally {
    await lab.stop();
  }
}
