import { defineRule } from "../../src/engine/rule.js";
import { aclReaches, mayOverlap } from "../../src/model/program/keypattern.js";
import { head } from "../../src/model/program/knowledge.js";
import {
  callNeeds,
  channelNeeds,
  clientCommands,
  declaredNeeds,
  type KeyNeed,
  KeyNeeds,
} from "../../src/model/program/needs.js";
import type { Program, Runner } from "../../src/model/program/programs.js";
import { everything, isDangerous } from "../../src/model/redis/privilege.js";
import { grants, showCommands } from "../../src/model/redis/role-check.js";
import { list } from "../../src/model/settings.js";

export default defineRule({
  severity: "error",
  inferred: "off",
  docs: {
    summary:
      "An application user has no command, key pattern or channel that neither a program nor a declared client command needs.",
    why: "What nobody uses is noticed by nobody when somebody else uses it.",
    fix: "Take the grant away, or declare what needs it in policy.commands.",
    bad: "user app on >${PASSWORD} ~app:* ~tmp:* -@all +get +set +lrange\n",
    good: "user app on >${PASSWORD} ~app:* -@all +get +set\n",
    source: {
      title: "Redis: access control list",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/",
    },
    rows: ["C-A11"],
  },
  messages: {
    command: "{user} may send {commands}, which no program and no declared client command sends",
    key: "{user} may use {pattern}, which no program and no declared client command works on",
    beyond: "{user} may use {pattern}, which reaches beyond {keys}, the keys that the contract gives to its programs",
    channel: "{user} may use the channels {pattern}, and no program and no declared client command does",
  },
  on: {
    Contract(contract, { report }) {
      if (!contract.declared || contract.config.programs === undefined) return;
      const users = new Map<NonNullable<Runner["user"]>, { runner: Runner; programs: Program[] }>();
      let complete = true;
      for (const set of contract.programs.sets) {
        // without a manifest nobody says what the set needs
        complete &&= set.manifest !== undefined && contract.programs.faultsOf(set).length === 0;
        for (const program of set.programs) {
          for (const runner of contract.programs.runners(program)) {
            if (runner.user === undefined) continue;
            const known = users.get(runner.user);
            if (known === undefined) users.set(runner.user, { runner, programs: [program] });
            else known.programs.push(program);
          }
        }
      }
      if (!complete) return;
      for (const [user, { runner, programs }] of users) {
        if (!user.certain || !user.enabled) continue;
        const sent = clientCommands(contract, runner.name);
        const needed = new Set(["evalsha", "script|load", "script|exists", ...sent.map((c) => c.name)]);
        const keys = new KeyNeeds();
        for (const need of sent.flatMap((c) => c.keys)) keys.add(need);
        const channels = sent.flatMap((c) => c.channels);
        let unknown = sent.some((c) => /subscribe|publish/.test(c.name) && c.channels.length === 0);
        let open = false;
        for (const program of programs) {
          for (const c of program.entry?.commands ?? []) needed.add(c.value.toLowerCase());
          for (const name of program.script?.effects?.commands.keys() ?? []) needed.add(name);
          open ||= program.script?.effects?.commandsComplete === false;
          for (const need of [...declaredNeeds(program), ...callNeeds(program)]) keys.add(need);
          const published = channelNeeds(program);
          if (published === undefined) unknown = true;
          else channels.push(...published.map((p) => p.pattern));
        }
        const heads = new Set([...needed].map(head));
        const isNeeded = (name: string): boolean =>
          needed.has(name) ||
          needed.has(head(name)) ||
          (heads.has(name) && user.table.get(name)?.subcommands !== undefined);
        // what opens everything, or holds something dangerous, is said by acl/least-privilege
        const all = new Set(everything(user, "application", true).map((e) => e.kind));
        if (!all.has("commands") && !open) {
          for (const { word, commands } of grants(user)) {
            const more = commands.filter((c) => !isNeeded(c));
            if (more.length > 0 && !more.some((c) => isDangerous(user.table, c, true)))
              report("command", { user: runner.name, commands: showCommands(more) }, word.at);
          }
        }
        if (!all.has("keys") && keys.size > 0) {
          const given = namespaceOf(
            programs,
            sent.flatMap((c) => c.keys),
          );
          for (const pattern of user.keys) {
            if (pattern.placeholder) continue;
            const data = { user: runner.name, pattern: pattern.text };
            const at = pattern.words[0]!.at;
            if (!keys.use(user, pattern)) report("key", data, at);
            else if (given !== undefined && aclReaches(given, pattern.text))
              report("beyond", Object.assign({ keys: given.join(", ") }, data), at);
          }
        }
        if (all.has("channels") || unknown) continue;
        for (const pattern of user.channels) {
          // a glob of more than stars may be any of them
          const used = /[?[\\]/.test(pattern.text) || channels.some((c) => mayOverlap(c, pattern.text));
          if (!pattern.placeholder && (channels.length === 0 || !used))
            report("channel", { user: runner.name, pattern: pattern.text }, pattern.words[0]!.at);
        }
      }
    },
  },
});

/** The keys that the contract file gives to the sets of these programs, and those of client commands; undefined where a set has none. */
function namespaceOf(programs: readonly Program[], sent: readonly KeyNeed[]): readonly string[] | undefined {
  const sets = new Set(programs.map((p) => list(p.set.source.keys)));
  const keys = new Set([...sets].flat());
  return [...sets].some((s) => s.length === 0) ? undefined : [...keys, ...sent.map((k) => k.pattern)];
}
