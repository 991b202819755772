import { defineRule } from "../../src/engine/rule.js";
import { callNeeds, channelNeeds, declaredNeeds } from "../../src/model/program/needs.js";
import type { Runner } from "../../src/model/program/programs.js";
import { isFaulty } from "../../src/model/redis/access.js";
import type { AclUser } from "../../src/model/redis/acl.js";
import { revoking } from "../../src/model/redis/role-check.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "The user that runs a program may call it, may send every command of it, and has every key pattern of it.",
    why: "The server asks again for every command inside a script: one that is refused ends it half-way, with the writes before it done.",
    fix: "Grant +evalsha and +script|load, each command of the script by name, and ~ for each key pattern of its KEYS.",
    bad: "user app on >${PASSWORD} ~q:* +evalsha +script|load +expire   # the script calls XADD too\n",
    good: "user app on >${PASSWORD} ~q:* +evalsha +script|load +expire +xadd\n",
    source: {
      title: "Redis: access control list",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/",
    },
    rows: ["C-P08", "C-A11"],
  },
  messages: {
    "no-user": "{program} is run by {user}, a user that {file} does not have",
    call: {
      text: "{user} may not send {command}: no program of it can be run",
      help: "EVALSHA runs a script, SCRIPT LOAD brings it back after a restart or a failover.",
    },
    command: "{program} calls {command} here, and {user} may not send it",
    key: "{user} has no pattern that gives read and write on {key}: EVALSHA of {program} is refused",
    inner: "{program} sends {command} to {key}, and {user} has no pattern that gives it that",
    channel: "{program} publishes to {channel}, and {user} may not use that channel",
  },
  on: {
    ProgramSet(set, { contract, report }) {
      const runners = new Map<string, Runner>();
      for (const program of set.programs) {
        for (const r of contract.programs.runners(program)) runners.set(`${r.access.title}\n${r.name}`, r);
      }
      for (const { user, name } of runners.values()) {
        if (!isJudged(user)) continue;
        const eval_ = user.can("eval") !== "no";
        for (const command of ["evalsha", "script|load"] as const) {
          // who is given EVAL instead runs scripts by it, unless the contract says how they are run
          if (user.can(command) !== "no" || (!contract.declared && (eval_ || command === "script|load"))) continue;
          const related = [{ at: set.programs[0]!.at, message: "a program that it runs" }];
          report("call", { user: name, command: command.replace("|", " ").toUpperCase() }, revoking(user, command)?.at ?? user.nameAt, { related });
        }
      }
    },
    Program(program, { contract, report }) {
      for (const { user, name, access, named } of contract.programs.runners(program)) {
        const title = program.name;
        if (user === undefined) {
          if (access.complete && named !== undefined)
            report("no-user", { program: title, user: name, file: access.title }, named, {
              related: [{ at: program.at, message: "the program" }],
            });
          continue;
        }
        if (!isJudged(user) || (access.load !== undefined && isFaulty(access.load, user))) continue;
        const at = (command: string) => [
          { at: revoking(user, command)?.at ?? user.nameAt, message: `the user ${name}` },
        ];
        const denied = new Set<string>();
        for (const call of program.script?.effects?.calls ?? []) {
          const { command } = call;
          if (command === undefined || denied.has(command) || !isKnown(user, command) || user.can(command) !== "no") continue;
          denied.add(command);
          report("command", { program: title, command: shown(command), user: name }, call.commandAt, { related: at(command) });
        }
        const open = new Set<string>();
        const runs = user.can("evalsha") !== "no";
        for (const need of declaredNeeds(program)) {
          if (user.covers({ declared: need.pattern }, "RW", runs ? "evalsha" : undefined) !== "no") continue;
          open.add(need.pattern);
          report("key", { user: name, key: need.pattern, program: title }, need.at!, { related: [{ at: user.nameAt, message: `the user ${name}` }] });
        }
        for (const need of callNeeds(program)) {
          if (open.has(need.pattern) || denied.has(need.command)) continue;
          if (user.covers({ declared: need.pattern }, need.access, need.command) !== "no") continue;
          open.add(need.pattern);
          const data = { program: title, command: shown(need.command), key: need.pattern, user: name };
          report("inner", data, need.at!, { related: at(need.command) });
        }
        for (const { pattern, at: place } of channelNeeds(program) ?? []) {
          if (user.coversChannel({ declared: pattern }) !== "no") continue;
          report("channel", { program: title, channel: pattern, user: name }, place, { related: [{ at: user.nameAt, message: `the user ${name}` }] });
        }
      }
    },
    LuaScript(script, { contract, report }) {
      // without a manifest: the one user that can run scripts is the one that runs these
      if (script.programs.length > 0 || script.fragment || contract.declared) return;
      const { effects } = script;
      for (const { user, name } of effects === undefined ? [] : contract.programs.runners(script)) {
        if (!isJudged(user)) continue;
        for (const [command, call] of effects!.commands) {
          if (!isKnown(user, command) || user.can(command) !== "no") continue;
          report("command", { program: script.name, command: shown(command), user: name }, call.commandAt, {
            related: [{ at: revoking(user, command)?.at ?? user.nameAt, message: `the user ${name}` }],
          });
        }
      }
    },
  },
});

function isJudged(user: AclUser | undefined): user is AclUser {
  return user !== undefined && user.certain && user.enabled;
}

/** The server has the command and lets scripts send it: else it is refused whatever the ACL says. */
function isKnown({ table }: AclUser, name: string): boolean {
  return table.get(name)?.flags.includes("noscript") === false;
}

function shown(command: string): string {
  return command.replace("|", " ").toUpperCase();
}
