import { defineRule } from "../../src/engine/rule.js";
import { clientCalls, demandsAuth } from "../../src/model/redis/clients.js";
import type { Grep } from "../../src/model/shell/index.js";

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
        for (const { call, target, authenticates } of clientCalls(probe.command, contract)) {
          const data = { probe: probe.type, container: container.title };
          const place = call.invocation.place;
          if (call.uncertain || call.mode !== undefined) continue;
          const checked = call.consumers.length > 0;
          if (call.commands?.length === 0 && (call.input === "interactive" || checked)) {
            report("nothing", data, place);
            continue;
          }
          const greps = call.consumers.flatMap((c) => (c.kind === "grep" ? [c.grep] : []));
          const ping =
            call.commands?.length === 1 &&
            call.commands[0]![0]?.known?.toLowerCase() === "ping" &&
            call.commands[0]!.length === 1;
          const auth = target === undefined ? undefined : demandsAuth(target, contract);
          if (auth === true && authenticates === false && checked) report("anonymous", data, place);
          else if (ping && !checked && !call.exitOnError && auth === true) report("unchecked", data, place);
          const odd =
            ping && checked
              ? greps.find(
                  (g) => !g.inverted && g.patterns.length > 0 && !g.patterns.some((p) => matchesPong(p.known, g)),
                )
              : undefined;
          if (odd !== undefined)
            report(
              "contradiction",
              { ...data, wanted: odd.patterns.map((p) => p.known ?? "").join(" or ") },
              odd.invocation.place,
            );
        }
      }
    },
  },
});

/** Whether a plain pattern can match PONG; anything with operators is not decided. */
function matchesPong(pattern: string | undefined, grep: Grep): boolean {
  if (pattern === undefined) return true;
  const plain = pattern.replace(/^\^/, "").replace(/\$$/, "");
  const ignoresCase = grep.invocation.command.some((w) => /^-[A-Za-z]*i|^--ignore-case/.test(w.known ?? ""));
  return /[.[\]*\\|?+(){}]/.test(plain) || "PONG".includes(ignoresCase ? plain.toUpperCase() : plain);
}
