/**
 * How long a failover takes at most, from the Sentinel's options. Periods are those of sentinel.c (6.2 … 8.0 and Valkey).
 * https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/
 *
 * | step | time |
 * |---|---|
 * | the primary counts as down | `down-after-milliseconds` without a valid reply |
 * | the others are asked and agree | 1 s: they are asked every second |
 * | the attempt starts | up to 1 s: a random delay keeps the Sentinels apart |
 * | an attempt that failed is repeated | 2 × `failover-timeout` after it started, and again up to 1 s |
 * | the promotion is seen | 1 s: INFO is sent every second meanwhile |
 * | another replica follows the new primary | up to 10 s each, `parallel-syncs` at a time |
 */
const STEP = 1000;
const RECONFIGURE = 10_000;

/** Milliseconds until a new primary is there when the first attempt succeeds. */
export function firstAttemptMs(downAfter: number): number {
  return downAfter + 3 * STEP;
}

/** Milliseconds until a new primary is there when the first attempt fails (a lost vote, a replica that does not answer). */
export function secondAttemptMs(downAfter: number, failoverTimeout: number): number {
  return firstAttemptMs(downAfter) + 2 * failoverTimeout + STEP;
}

/** Milliseconds until the replicas that are left follow the new primary, from its promotion on. */
export function followMs(replicas: number, parallelSyncs: number): number {
  return Math.ceil(Math.max(0, replicas - 2) / Math.max(1, parallelSyncs)) * RECONFIGURE;
}

/** `48 s`, `1.5 s` */
export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
