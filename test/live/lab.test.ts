import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Lab, namesAreKept, type Outcome, passwords, play } from "./lab.js";
import { type Certificates, makeCertificates } from "./lab-certificates.js";
import { type Experiment, experiments } from "./lab-experiments.js";
import { dnsName, goldenCommands, MASTER, ORDINALS, type Plane, PORTS } from "./lab-golden.js";
import { report } from "./lab-report.js";
import { findServer, RedisClient, type Reply, ReplyError, removeDirectory, temporaryDirectory, until } from "./util.js";

const found = findServer();
const openssl = spawnSync("openssl", ["version"]).status === 0;
const missing = typeof found === "string" ? found : openssl ? undefined : "no openssl on this machine";
const everything = process.env["LIVE_ALL"] === "1";

if (typeof found === "string" || missing !== undefined) {
  test("the live lab needs a redis-server", () => {
    console.log(`live lab not run: ${missing}`);
    expect(process.env["CI"], "CI must have redis-server and openssl").toBeUndefined();
  });
} else {
  const server = found;
  const chosen = experiments.filter((experiment) => everything || experiment.always);
  const playable = chosen.filter((experiment) => namesAreKept || !experiment.readOnlyConfig);
  const outcomes = new Map<string, Outcome>();
  let directory = "";
  let certificates: Certificates;

  beforeAll(() => {
    directory = temporaryDirectory("certificates");
    certificates = makeCertificates(directory);
    if (!namesAreKept) console.log("live lab: no mount namespace here, DNS names are replaced by loopback addresses");
  });
  afterAll(() => {
    removeDirectory(directory);
    if (!everything) return;
    const target = new URL("../../docs/live-proof.md", import.meta.url);
    const before = existsSync(target) ? readFileSync(target, "utf8") : "";
    writeFileSync(target, report(before, server.version, outcomes));
  });

  const refused = (reply: Reply, code: string): void => {
    expect(reply).toBeInstanceOf(ReplyError);
    expect((reply as ReplyError).message).toContain(code);
  };

  // Deployments run side by side: most of their time is waiting. A run on a starved machine may miss a limit, so one
  // repetition is allowed; a wrong outcome is wrong twice.
  describe.concurrent(`live lab, redis ${server.version}`, { retry: 1 }, () => {
    test("the golden lab does what its contract says", { timeout: 120_000 }, async () => {
      const lab = new Lab(server, certificates);
      try {
        expect(await lab.startData()).toBe(true);
        expect(await lab.startSentinels()).toBe(true);
        expect(await lab.quorum()).toBe(true);

        await closedToStrangers(lab);
        await probesAnswer(lab);
        await identitiesAreNarrow(lab);

        const qualification = lab.startQualification();
        const written = join(qualification, "shared/written");
        expect(await until(async () => existsSync(written), 8000)).toBe(true);
        const app = await lab.connect("data", 0, "app", passwords["APP_PASSWORD"]);
        expect(await app.command(["SET", "app:{t}:cfg:kept", "value"])).toBe("OK");
        app.close();
        await lab.denied();

        await lab.kill("data", 0);
        expect(await lab.probe("data", 0, "livenessProbe", passwords["DATA_PROBE_PASSWORD"] ?? "")).not.toBe(0);
        const primary = await lab.promoted(0);
        expect(primary, lab.log("sentinel", 0)).toBeDefined();
        if (primary === undefined) return;
        expect(await lab.follows(3 - primary, primary, 8000)).toBe(true);

        const after = await lab.connect("data", primary, "app", passwords["APP_PASSWORD"]);
        expect(await after.command(["GET", "app:{t}:cfg:kept"])).toBe("value");
        expect(
          await until(async () => (await after.command(["SET", "app:{t}:cfg:kept", "again"])) === "OK", 5000),
        ).toBe(true);
        after.close();
        const announced = join(qualification, "shared/primary");
        const moved = Date.now();
        expect(
          await until(async () => readFileSync(announced, "utf8").trim() === lab.name("data", primary), 8000),
        ).toBe(true);
        expect(await until(async () => statSync(written).mtimeMs > moved, 8000)).toBe(true);

        await lab.boot("data", 0);
        expect(await lab.follows(0, primary, 14_000), lab.log("data", 0)).toBe(true);
        expect(await lab.rolesPersisted(primary, [0, 3 - primary])).toBe(true);

        // A Sentinel that boots again keeps what it knew: its file is not copied anew.
        const identity = /^sentinel myid (\w+)$/m.exec(lab.conf("sentinel", 2))?.[1];
        await lab.kill("sentinel", 2);
        await lab.boot("sentinel", 2);
        expect(await until(async () => (await lab.master(2)).get("num-other-sentinels") === "2", 8000)).toBe(true);
        expect((await lab.master(2)).get("ip")).toBe(lab.name("data", primary));
        expect(lab.conf("sentinel", 2)).toContain(`sentinel myid ${identity}`);

        // Noise that a minimal peer user causes, and nothing else; the identity tests' refusals are their own.
        const expected = ["sentinel:sentinel-peer:command:client|setname", "sentinel:sentinel-peer:command:publish"];
        const surplus = (await lab.denied()).filter((entry) => !expected.includes(entry));
        expect(surplus.filter((entry) => !/:(app|discovery|probe|default):/.test(entry))).toEqual([]);
      } finally {
        await lab.stop();
      }
    });

    test.each(playable)("$id", { timeout: 120_000 }, async (experiment: Experiment) => {
      const outcome = await play(server, certificates, experiment);
      outcomes.set(experiment.id, outcome);
      expect(outcome).toMatchObject(experiment.expect);
      for (const refusal of experiment.denied ?? []) expect(outcome.denied).toContain(refusal);
    });
  });

  /** TLS, a client certificate and an identity are all needed, and the certificate carries the pod's name. */
  async function closedToStrangers(lab: Lab): Promise<void> {
    const bundle = certificates.bundle(["data", "sentinel"]);
    const pair = { cert: certificates.certificate("client"), key: certificates.key("client") };
    for (const plane of ["data", "sentinel"] as const) {
      const at = { host: lab.address(plane, 0), port: PORTS[plane] };
      const greet = async (tls?: Parameters<typeof RedisClient.open>[0]["tls"]): Promise<Reply> => {
        const client = await RedisClient.open(tls ? { ...at, tls } : at);
        return client.command(["PING"]).finally(() => client.close());
      };
      await expect(greet(), "plaintext").rejects.toThrow();
      await expect(greet({ ca: bundle }), "no client certificate").rejects.toThrow();
      const stranger = { cert: certificates.certificate("sentinel-rogue"), key: certificates.key("sentinel-rogue") };
      await expect(greet(stranger), "a client of an unknown authority").rejects.toThrow();
      refused(await greet({ ...pair, ca: bundle, verify: true, servername: dnsName(plane, 0) }), "NOAUTH");
      await expect(greet({ ...pair, ca: bundle, verify: true, servername: "redis.example" })).rejects.toThrow();
      await expect(lab.connect(plane, 0, "default", "")).rejects.toThrow("WRONGPASS");
    }
  }

  /** Every probe of the manifests succeeds on every pod as `probe`, and only with its password. */
  async function probesAnswer(lab: Lab): Promise<void> {
    for (const [plane, placeholder] of [
      ["data", "DATA_PROBE_PASSWORD"],
      ["sentinel", "SENTINEL_PROBE_PASSWORD"],
    ] as const) {
      for (const name of goldenCommands(plane).probes.keys()) {
        for (const ordinal of ORDINALS)
          expect(await lab.probe(plane, ordinal, name, passwords[placeholder] ?? "")).toBe(0);
        expect(await lab.probe(plane, 0, name, "wrong"), name).not.toBe(0);
      }
    }
  }

  async function says(lab: Lab, plane: Plane, user: string, placeholder: string, ...words: string[]): Promise<Reply> {
    const client = await lab.connect(plane, 0, user, passwords[placeholder]);
    return client.command(words).finally(() => client.close());
  }

  /** Each identity may do its work and nothing next to it. */
  async function identitiesAreNarrow(lab: Lab): Promise<void> {
    const app = (...words: string[]): Promise<Reply> => says(lab, "data", "app", "APP_PASSWORD", ...words);
    expect(await app("PING")).toBe("PONG");
    expect(await app("SET", "app:{t}:cfg:a", "1")).toBe("OK");
    expect(await app("GET", "app:{t}:cfg:a")).toBe("1");
    expect(await app("DEL", "app:{t}:cfg:a")).toBe(1);
    for (const words of [
      ["GET", "other"],
      ["KEYS", "*"],
      ["CONFIG", "GET", "*"],
      ["FLUSHALL"],
      ["PUBLISH", "c", "m"],
    ]) {
      refused(await app(...words), "NOPERM");
    }

    const probe = (plane: Plane, placeholder: string, ...words: string[]) =>
      says(lab, plane, "probe", placeholder, ...words);
    for (const words of [["INFO"], ["GET", "app:{t}:cfg:a"]])
      refused(await probe("data", "DATA_PROBE_PASSWORD", ...words), "NOPERM");
    refused(await probe("sentinel", "SENTINEL_PROBE_PASSWORD", "SENTINEL", "MASTERS"), "NOPERM");

    const discovery = (...words: string[]): Promise<Reply> =>
      says(lab, "sentinel", "discovery", "DISCOVERY_PASSWORD", ...words);
    for (const words of [
      ["FAILOVER", MASTER],
      ["RESET", "*"],
      ["SET", MASTER, "quorum", "1"],
      ["REMOVE", MASTER],
    ]) {
      refused(await discovery("SENTINEL", ...words), "NOPERM");
    }
    refused(await discovery("SUBSCRIBE", "+sdown"), "NOPERM");

    // What ioredis sends, in its order; without its permission each step is refused.
    const steps = [
      { take: "-sentinel|sentinels", give: "+sentinel|sentinels", words: ["SENTINEL", "sentinels", MASTER] },
      {
        take: "-sentinel|get-master-addr-by-name",
        give: "+sentinel|get-master-addr-by-name",
        words: ["SENTINEL", "get-master-addr-by-name", MASTER],
      },
      { take: "-subscribe", give: "+subscribe", words: ["SUBSCRIBE", "+switch-master"] },
      { take: "resetchannels", give: "&+switch-master", words: ["SUBSCRIBE", "+switch-master"] },
    ];
    for (const { take, give, words } of steps) {
      expect(await discovery(...words)).toBeInstanceOf(Array);
      await lab.ask("sentinel", 0, "ACL", "SETUSER", "discovery", take);
      refused(await discovery(...words), "NOPERM");
      await lab.ask("sentinel", 0, "ACL", "SETUSER", "discovery", give);
    }
    expect(await discovery("SENTINEL", "get-master-addr-by-name", MASTER)).toEqual([
      lab.name("data", 0),
      String(PORTS.data),
    ]);
  }
}
