import { defineRule } from "../../src/engine/rule.js";
import type { Place } from "../../src/model/place.js";
import { clientCalls, demandsAuth } from "../../src/model/redis/clients.js";
import { type Consumer, finds, succeedsOn } from "../../src/model/shell/index.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "A probe sends a command, as somebody who may, and looks at the answer.",
    why: "A probe that cannot succeed keeps every pod out of its Service; one that cannot fail keeps a dead server in it.",
    fix: "Send PING as the probe identity, with its password from REDISCLI_AUTH, and demand PONG.",
    bad: "command: [sh, -c, 'redis-cli | grep PONG']\n",
    good: "command: [sh, -c, 'redis-cli --user probe ping | grep -q PONG']\n",
    source: { title: "Redis: redis-cli", url: "https://redis.io/docs/latest/develop/tools/cli/" },
    rows: ["C-K27"],
  },
  messages: {
    nothing:
      "the {probe} probe of {container} sends no command: redis-cli waits for input, and what it is piped to never sees PONG",
    anonymous: {
      text: "the {probe} probe of {container} gives no password to a server that demands one: the answer is NOAUTH, never PONG",
      help: "Add --user probe and REDISCLI_AUTH from a secretKeyRef.",
    },
    unchecked: {
      once: true,
      text: "the {probe} probe of {container} does not look at the answer: redis-cli exits 0 on NOAUTH and on LOADING as well, so it proves nothing",
      help: "Pipe the answer to grep -q PONG, or use redis-cli -e.",
      severity: "warning",
      inferred: "info",
    },
    contradiction: "the {probe} probe of {container} looks for {wanted}, which PING never answers",
  },
  on: {
    Container(container, { contract, report }) {
      for (const probe of container.probes) {
        if (probe.command === undefined) continue;
        const program = contract.shell.program(probe.command);
        for (const { call, target, authenticates } of clientCalls(probe.command, contract)) {
          const data = { probe: probe.type, container: container.title };
          const place = call.invocation.place;
          if (call.uncertain || call.mode !== undefined) continue;
          const checked = call.consumers.length > 0;
          if (call.commands?.length === 0 && (call.input === "interactive" || checked)) {
            report("nothing", data, place);
            continue;
          }
          const ping =
            call.commands?.length === 1 &&
            call.commands[0]![0]?.known?.toLowerCase() === "ping" &&
            call.commands[0]!.length === 1;
          const auth = target === undefined ? undefined : demandsAuth(target, contract);
          if (auth === true && authenticates === false && checked) report("anonymous", data, place);
          if (!ping) continue;
          const { invocation, exitOnError } = call;
          const looks = call.consumers.flatMap((consumer) => wish(consumer) ?? []);
          if (looks.length > 0 && succeedsOn(program, invocation, "PONG", true) === false)
            report("contradiction", { ...data, wanted: looks[0]!.wanted }, looks[0]!.place);
          else if (auth === true && ERRORS.every((e) => succeedsOn(program, invocation, e, !exitOnError) === true))
            report("unchecked", data, place);
        }
      }
    },
  },
});

/** What servers answer to PING when they do not serve; redis-cli prints it as it prints PONG. */
const ERRORS = ["NOAUTH Authentication required.", "LOADING Redis is loading the dataset in memory", "ERR"];

/** What a command looks for that is not PONG. */
function wish(consumer: Consumer): { readonly wanted: string; readonly place: Place } | undefined {
  if (consumer.kind === "grep") {
    const { grep } = consumer;
    if (finds(grep, "PONG") !== false) return undefined;
    const patterns = grep.patterns.map((pattern) => pattern.known ?? "").join(" or ");
    return { wanted: grep.inverted ? `a line without ${patterns}` : patterns, place: grep.invocation.place };
  }
  if (consumer.kind !== "test" || consumer.test.kind !== "compare" || !/^==?$/.test(consumer.test.op)) return undefined;
  const { left, right, pattern } = consumer.test;
  const wanted = left.known ?? right.known;
  return wanted === undefined || wanted === "PONG" || pattern
    ? undefined
    : { wanted, place: consumer.invocation.place };
}
