import { defineRule } from "../../src/engine/rule.js";
import { findingsOf } from "../../src/model/redis/conf-owner.js";
import { firstAttemptMs, followMs, secondAttemptMs, seconds } from "../../src/model/redis/failover-time.js";
import { SENTINEL_DEFAULTS } from "../../src/model/redis/sentinel-conf.js";
import { durationMs } from "../../src/model/settings.js";
import { asNumber } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  docs: {
    summary:
      "The Sentinels' periods and the probes' periods fit the times that the contract allows for election and recovery.",
    why: "Sentinel waits down-after-milliseconds before it acts, and after an attempt that failed twice the failover-timeout: with the defaults a second attempt starts more than six minutes after the primary is gone. Election: down-after + 1 s to agree + up to 1 s of random delay + 1 s to see the promotion, and with one failed attempt 2 × failover-timeout + 1 s more. Recovery: that, and 10 s for each round of parallel-syncs replicas that follow the new primary. A probe notices after periodSeconds × failureThreshold + timeoutSeconds.",
    fix: "Choose down-after-milliseconds 5000 and failover-timeout 20000 for an election within 60 s.",
    bad: "sentinel down-after-milliseconds redis-lab 5000\n# failover-timeout: 180000 by default\n",
    good: "sentinel down-after-milliseconds redis-lab 5000\nsentinel failover-timeout redis-lab 20000\n",
    source: {
      title: "Redis Sentinel: other Sentinel options; sentinel.conf on failover-timeout; periods of sentinel.c",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#other-sentinel-options",
    },
    rows: ["C-R15"],
  },
  messages: {
    hasty: {
      text: "`down-after-milliseconds` is {value} ms: a pause of the network or a fork makes a healthy primary fail over",
      help: "The value is in milliseconds; Sentinel pings once a second.",
    },
    detect: {
      text: "a primary counts as down after {down} only: a new one is there after {time} at best, and the contract allows {limit}",
      inferred: "info",
    },
    retry: {
      text: "an attempt that fails is repeated after 2 × {timeout}: a new primary is there after {time}, and the contract allows {limit}",
      help: "Lower `failover-timeout`; a failed attempt should be repeated within the time for an election.",
      inferred: "off",
    },
    recovery: {
      text: "{servers} servers follow the new primary {syncs} at a time: they have recovered after {time}, and the contract allows {limit}",
      help: "Raise `parallel-syncs`, or lower the times before.",
      inferred: "off",
    },
    probe: {
      text: "the {probe} probe of {container} notices after {time}, and the contract allows {limit} for the recovery",
      inferred: "off",
    },
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      const { sentinel } = load ?? {};
      if (load === undefined || sentinel === undefined) return;
      const { election, recovery } = limitsOf(contract.config.policy?.limits);
      // a line that does not load says nothing about its time
      if (
        load.findings.some(
          (f) =>
            f.code === "sentinel-option" || (/^sentinel (?:down|fail|para)/.test(f.directive) && f.class === "fatal"),
        )
      )
        return;
      const misread = new Set(findingsOf(load, "redis/directive", contract.declared).map((f) => f.at.start));
      const replicas = server.plane.peer?.workload?.replicas;
      for (const master of sentinel.masters.values()) {
        const read = (setting: typeof master.downAfter, fallback: number, option: string): number | undefined => {
          if (setting !== undefined) return setting.number;
          return sentinel.complete && !sentinel.unattributed.has(option) ? fallback : undefined;
        };
        const down = read(master.downAfter, SENTINEL_DEFAULTS.downAfter, "down-after-milliseconds");
        const timeout = read(master.failoverTimeout, SENTINEL_DEFAULTS.failoverTimeout, "failover-timeout");
        const syncs = read(master.parallelSyncs, SENTINEL_DEFAULTS.parallelSyncs, "parallel-syncs");
        const downAt = master.downAfter?.at ?? master.at;
        if (down === undefined || down <= 0) continue;
        if (down < 1000 && !misread.has(downAt.start)) report("hasty", { value: down }, downAt);
        const limit = seconds(election);
        if (firstAttemptMs(down) > election) {
          report("detect", { down: seconds(down), time: seconds(firstAttemptMs(down)), limit }, downAt);
          continue;
        }
        if (timeout === undefined || timeout <= 0) continue;
        const elected = secondAttemptMs(down, timeout);
        if (elected > election) {
          report(
            "retry",
            { timeout: seconds(timeout), time: seconds(elected), limit },
            master.failoverTimeout?.at ?? master.at,
          );
          continue;
        }
        if (syncs === undefined || syncs <= 0 || replicas === undefined) continue;
        const recovered = elected + followMs(replicas, syncs);
        if (recovered > recovery)
          report(
            "recovery",
            { servers: replicas - 1, syncs, time: seconds(recovered), limit: seconds(recovery) },
            master.parallelSyncs?.at ?? master.at,
          );
      }
    },
    Plane({ container }, { contract, report }) {
      const { recovery } = limitsOf(contract.config.policy?.limits);
      for (const probe of container?.probes ?? []) {
        const number = (field: string, fallback: number): number => asNumber(probe.spec[field]) ?? fallback;
        // a startup probe that goes on failing is patience, not delay
        const failures = probe.type === "startup" ? 1 : number("failureThreshold", 3);
        const time = (number("periodSeconds", 10) * failures + number("timeoutSeconds", 1)) * 1000;
        if (time > recovery && container !== undefined)
          report(
            "probe",
            { probe: probe.type, container: container.title, time: seconds(time), limit: seconds(recovery) },
            probe.spec["periodSeconds"] === undefined ? probe.place : probe.at("periodSeconds"),
          );
      }
    },
  },
});

function limitsOf(limits: { readonly election?: string | number; readonly recovery?: string | number } | undefined): {
  election: number;
  recovery: number;
} {
  return { election: durationMs(limits?.election) ?? 60_000, recovery: durationMs(limits?.recovery) ?? 90_000 };
}
