import { defineRule } from "../../src/engine/rule.js";
import { whereSet } from "../../src/model/redis/conf-place.js";
import { asObject, quantity } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "The data set is bounded below the container's memory, and nothing is evicted.",
    why: "An evicted session, lock or idempotency record is lost without an error; a data set that grows past the container's limit gets the server killed.",
    fix: "Set `maxmemory` well below the memory limit and `maxmemory-policy noeviction`.",
    bad: "maxmemory-policy allkeys-lru\n",
    good: "maxmemory 256mb\nmaxmemory-policy noeviction\n",
    source: {
      title: "Redis: key eviction",
      url: "https://redis.io/docs/latest/develop/reference/eviction/",
    },
    rows: ["C-R16"],
  },
  messages: {
    policy: {
      text: "`maxmemory-policy` is `{value}`: keys are dropped that somebody relies on",
      help: "Set `maxmemory-policy noeviction`.",
      inferred: "off",
    },
    unbounded: {
      text: "`maxmemory` is not set: the data set grows until the container is killed",
      help: "Set `maxmemory` well below the container's memory limit.",
      inferred: "off",
    },
    over: {
      text: "`maxmemory` is {memory} and {container} may use {limit}: the server is killed before it refuses a write",
      help: "Leave room for a fork, replica buffers and clients.",
    },
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      if (load === undefined || server.plane.role !== "data") return;
      const { values } = load;
      const policy = values.get("maxmemory-policy");
      const policyAt = whereSet(server, load, "maxmemory-policy", "maxmemory");
      if (policy.state === "known" && policy.value !== "noeviction" && policyAt !== undefined)
        report("policy", { value: policy.value }, policyAt);
      const memory = values.number("maxmemory");
      const at = whereSet(server, load, "maxmemory", "maxmemory-policy");
      if (memory === undefined || at === undefined) return;
      if (memory === 0) {
        report("unbounded", {}, at);
        return;
      }
      const { container } = server.plane;
      const limit = quantity(asObject(asObject(container?.spec["resources"])["limits"])["memory"]);
      if (container === undefined || limit === undefined || !(memory >= limit)) return;
      const place = container.at("resources", "limits", "memory");
      report("over", { memory: mebibytes(memory), container: container.title, limit: mebibytes(limit) }, at, {
        related: [{ at: place, message: "the container's limit" }],
      });
    },
  },
});

function mebibytes(bytes: number): string {
  return `${Math.round((bytes / 2 ** 20) * 10) / 10} MiB`;
}
