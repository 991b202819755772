/** Calls of the golden programs that take them through every command that they have. */
import { type Reply, sleep } from "./util.js";

/** Runs one program; `expected` is what it answers when nothing is denied. */
export type Run = (id: string, keys: readonly string[], args: readonly string[], expected?: unknown) => Promise<Reply>;

/** About 50 calls in a tenth of a second, on an empty database. */
export async function scenario(run: Run): Promise<void> {
  const key = (name: string) => `app:{t1}:${name}`;
  const generation = key("cache:generation:r");
  const entry = [generation, key("cache:revision:e"), key("cache:entry:e")];
  await run("cache-generation-init", [generation], ["100", "60000"], [1, "100"]);
  await run("cache-generation-init", [generation], ["200", "60000"], [0, "100"]);
  const operation = key("cache:operation:o");
  await run("cache-generation-bump", [generation, operation], ["o", "60000", "60000"], [1, "101"]);
  await run("cache-generation-bump", [generation, operation], ["o", "60000", "60000"], [0, "101"]);
  await run("cache-read", entry, [], [0, "101", "", ""]);
  await run("cache-record-if-generation", entry, ["101", "", "v", "60000"], 1);
  await run("cache-read", entry, [], [1, "101", "", "v"]);
  await run("cache-invalidate", entry.slice(1), ["r1", "60000"], 1);

  const record = [key("idempotency:record:a")];
  await run("idempotency-claim", record, ["a", "1", "f", "1000"], ["CLAIMED", ""]);
  await run("idempotency-inspect", record, ["a", "1"], ["CLAIMED", ""]);
  await run("idempotency-start", record, ["a", "1", "1000"], "EXECUTING");
  await run("idempotency-renew", record, ["a", "1", "1000"], "EXECUTING");
  await run("idempotency-complete", record, ["a", "1", "ok", "60000"], "COMPLETED");
  await run("idempotency-claim", record, ["b", "1", "f", "1000"], ["COMPLETED", "ok"]);
  const failed = [key("idempotency:record:b")];
  await run("idempotency-claim", failed, ["a", "1", "f", "1000"], ["CLAIMED", ""]);
  await run("idempotency-start", failed, ["a", "1", "1000"], "EXECUTING");
  await run("idempotency-fail", failed, ["a", "1", "no", "60000"], "FAILED");
  const released = [key("idempotency:record:c")];
  await run("idempotency-claim", released, ["a", "1", "f", "1000"], ["CLAIMED", ""]);
  await run("idempotency-release", released, ["a", "1"], "RELEASED");
  await run("idempotency-release", released, ["a", "1"], "NOT_FOUND");

  const lease = [key("lease:owner:j"), key("lease:hold:j")];
  await run("lease-acquire", lease, ["a", "1", "60000"], "ACQUIRED");
  await run("lease-acquire", lease, ["b", "1", "60000"], "HELD");
  await run("lease-renew", lease, ["a", "1", "60000"], "RENEWED");
  await run("lease-inspect", lease, ["a", "1"]);
  await run("lease-release", lease, ["a", "1"], "RELEASED");

  const fence = [key("fence:lease:x"), key("fence:counter:x"), key("fence:hold:x")];
  await run("fence-acquire", fence, ["a", "1", "60000"], ["ACQUIRED", "1"]);
  await run("fence-acquire", fence, ["a", "1", "60000"], ["ACQUIRED", "1"]);
  await run("fence-acquire", fence, ["b", "1", "60000"], ["HELD", ""]);
  await run("fence-renew", fence, ["a", "1", "1", "60000"], "RENEWED");
  await run("fence-renew", fence, ["b", "1", "1", "60000"], "LOST");
  await run("fence-inspect", fence.slice(0, 2), ["a", "1", "1"]);
  await run("fence-write", [key("fence:resource:x")], ["a", "1", "v"], [1, "1"]);
  await run("fence-release", [fence[0]!, fence[2]!], ["a", "1", "1"], "RELEASED");

  const session = [key("session:state:s"), key("session:tombstone:s")];
  await run("session-open", session, ["u", "60000", "3600000"], "OPENED");
  await run("session-open", session, ["u", "60000", "3600000"], "ACTIVE");
  await run("session-touch", session, ["u", "60000"], "ACTIVE");
  await run("session-revoke", session, ["logout", "60000"], 1);
  await run("session-touch", session, ["u", "60000"], "REVOKED");

  const fixed = [key("rate:fixed:state:u"), key("rate:fixed:dedup:o1")];
  // the third part is what is left of the window, a millisecond less on a busy machine
  await run("rate-fixed-window", fixed, ["o1", "5", "60000"]);
  const sliding = ["state", "dedup", "order"].map((k) => key(`rate:sliding:${k}:u`));
  const bucket = ["state", "dedup", "order"].map((k) => key(`rate:bucket:${k}:u`));
  await run("rate-sliding-counter", sliding, ["o1", "5", "60000"]);
  await run("rate-token-bucket", bucket, ["o1", "5", "1", "1", "60000"], [1, 4]);
  await sleep(30);
  await run("rate-sliding-counter", sliding, ["o2", "5", "20"]);
  await run("rate-token-bucket", bucket, ["o2", "5", "1", "1", "1"]);
}
