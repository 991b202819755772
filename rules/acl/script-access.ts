import { defineRule } from "../../src/engine/rule.js";
import { commandTitle, isProbe } from "../../src/model/kubernetes/container-parts.js";
import type { Place } from "../../src/model/place.js";
import { dryRun } from "../../src/model/redis/acl.js";
import { type ClientCall, clientCalls, demandsAuth, usersOf } from "../../src/model/redis/clients.js";
import { type RedisCommand, show } from "../../src/model/shell/index.js";
import type { Span } from "../../src/text/source.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "Every command that a probe, hook or script sends is allowed to the user that it authenticates as.",
    why: "A refused command answers NOPERM: a probe then fails for ever, a hook or bootstrap script stops half-way.",
    fix: "Grant the command to that user, or let the script authenticate as one that has it.",
    bad: "redis-cli --user probe info replication   # probe may only PING\n",
    good: "redis-cli --user probe ping\n",
    source: {
      title: "Redis: access control list",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/",
    },
    rows: ["C-K30"],
  },
  messages: {
    denied: "{where} sends {command} as {user}, who may not run it",
    key: "{where} sends {command} as {user}, whose key patterns do not cover {key}",
    unknown: "{where} authenticates as {user}, a user that the {plane} ACL does not have",
    disabled: "{where} authenticates as {user}, who is off in the {plane} ACL",
    anonymous: "{where} sends {command} without a password, and the {plane} servers let nobody in without one",
  },
  on: {
    Container(container, { contract, report }) {
      for (const command of container.commands) {
        const where = commandTitle(command);
        const probe = isProbe(command);
        for (const client of clientCalls(command, contract)) {
          const { call, target, user: name } = client;
          if (target === undefined || name === undefined || call.commands === undefined) continue;
          const plane = target.role;
          const place = call.invocation.place;
          if (client.authenticates === false) {
            // probes that look at the answer are k8s/probe-command's matter
            const silent = probe || call.commands.length === 0 || demandsAuth(target, contract) !== true;
            if (!silent) report("anonymous", { where, command: shown(call.commands[0]!), plane }, place);
            continue;
          }
          for (const { user, complete } of usersOf(target, name, contract)) {
            if (user === undefined) {
              if (complete)
                report(
                  "unknown",
                  { where, user: name, plane },
                  call.user === undefined ? place : (userPlace(client) ?? place),
                );
              continue;
            }
            const related = [{ at: user.namePlace, message: `the user ${name}` }];
            if (!user.enabled && user.certain) report("disabled", { where, user: name, plane }, place, { related });
            else if (user.certain) {
              for (const sent of call.commands) {
                const verdict = judge(user, sent);
                if (verdict === undefined) continue;
                const at =
                  verdict.token === undefined ? related : [{ at: verdict.token, message: "the rule that decides" }];
                if (verdict.key === undefined)
                  report("denied", { where, command: shown(sent), user: name }, place, { related: at });
                else
                  report("key", { where, command: shown(sent), user: name, key: verdict.key }, place, { related: at });
              }
            }
          }
        }
      }
    },
  },
});

type User = NonNullable<ReturnType<typeof usersOf>[number]["user"]>;
type Base = NonNullable<ReturnType<User["table"]["get"]>>;

/** undefined: allowed, or not decided because a word is not known. */
function judge(user: User, command: RedisCommand): { token: Span | undefined; key: string | undefined } | undefined {
  const name = command[0]?.known?.toLowerCase();
  if (name === undefined) return undefined;
  const base = user.table.get(name);
  if (base === undefined) return undefined;
  // a subcommand; of a command without them (before 7.0 of every one) a first argument, which a rule may allow
  const second = command[1];
  const sub = second?.known?.toLowerCase();
  const inner = second !== undefined && sub === undefined;
  if (inner && user.can(name) !== "yes" && mayInside(user, base)) return undefined;
  const full = sub !== undefined && (!base.subcommands || base.subcommands.has(sub)) ? `${name}|${sub}` : name;
  const decision = user.decision(full);
  if (decision.answer === "no" && !base.flags.includes("no_auth"))
    return { token: decision.rule?.word?.at, key: undefined };
  if (command.some((w) => w.known === undefined)) return undefined;
  const argv = command.map((w) => w.known!);
  const run = dryRun(user, argv);
  if (run.allowed || run.unknown === true || run.denied !== "key") return undefined;
  return { token: run.token?.at, key: argv[run.argument ?? 0] ?? "" };
}

/** Some call of the command passes by its subcommand or its first argument. */
function mayInside(user: User, base: Base): boolean {
  return (
    [...(base.subcommands?.values() ?? [])].some((c) => user.can(c.name) !== "no") ||
    user.permissions.some((s) => s.firstArguments(base).length > 0)
  );
}

function shown(command: RedisCommand): string {
  const [name, ...rest] = command.map(show);
  return [(name ?? "").toUpperCase(), ...rest.slice(0, 2)].join(" ");
}

function userPlace(client: ClientCall): Place | undefined {
  const words = client.call.invocation.command;
  const at = words.findIndex((w) => w.known === "--user");
  return at < 0 ? undefined : words[at + 1]?.place;
}
