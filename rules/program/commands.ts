import { defineRule } from "../../src/engine/rule.js";
import { head } from "../../src/model/program/knowledge.js";
import type { ManifestProgram } from "../../src/model/program/manifest.js";
import { commandWords } from "../../src/model/redis/commands.js";

/** What the caller sends, not the script. */
const CALLERS: ReadonlySet<string> = new Set(["evalsha", "script|load"]);

export default defineRule({
  severity: "error",
  fixable: true,
  docs: {
    summary: "The commands that a manifest declares are those that the script can call.",
    why: "The ACL is written after the manifest: a command that is missing there is refused in the middle of the script, a surplus one is a right that nobody needs.",
    fix: "List every command that the script calls, subcommands as CONFIG|GET, and nothing else.",
    bad: '"commands": ["GET"]   and in the script: redis.call("SET", KEYS[1], ARGV[1])\n',
    good: '"commands": ["GET", "SET"]\n',
    source: {
      title: "Redis: scripts and ACLs",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/",
    },
    rows: ["C-P06"],
  },
  messages: {
    undeclared: "{program} calls {command}, which its manifest does not declare",
    unused: "{program} declares {command}, which {file} never calls",
    caller: { text: "{command} is what the caller sends: the commands of {program} are those of the script" },
    unresolved: {
      text: "which command {program} calls here cannot be told from the text",
      help: "Write the command's name as a constant.",
    },
    forbidden: { text: "the server refuses {command} inside a script", inferred: "error" },
    hidden: { text: "{program} may call more than is seen: {what}", severity: "info" },
  },
  on: {
    LuaScript(script, { contract, report }) {
      for (const [name, call] of script.effects?.commands ?? []) {
        // scripts in scripts are a rule of their own
        if (isNested(name) || contract.programs.table.get(name)?.flags.includes("noscript") !== true) continue;
        report("forbidden", { command: commandWords(name) }, call.commandAt);
      }
    },
    Program({ entry, script, name: program }, { contract, report }) {
      const effects = script?.effects;
      if (entry === undefined || script === undefined || effects === undefined) return;
      const declared = new Map(entry.commands.map((c) => [c.value.toLowerCase(), c]));
      const listed = entry.place("commands");
      for (const [name, call] of effects.commands) {
        if (listed === undefined || declared.has(name) || declared.has(head(name)) || isNested(name)) continue;
        // a container whose subcommand is not known is some of those declared
        if (
          contract.programs.table.get(name)?.subcommands !== undefined &&
          [...declared.keys()].some((d) => head(d) === name)
        )
          continue;
        report("undeclared", { program, command: name.toUpperCase() }, call.commandAt, {
          related: [{ at: listed, message: "the commands that are declared" }],
          fix: { description: `Declare ${name.toUpperCase()}.`, edits: added(entry, name.toUpperCase()) },
        });
      }
      for (const [name, { value, at }] of declared) {
        if (CALLERS.has(name)) report("caller", { program, command: value }, at);
        else if (effects.commandsComplete && !called(effects.commands.keys(), name)) {
          const related = [{ at: script.head, message: "the script" }];
          report("unused", { program, command: value, file: script.name }, at, { related });
        }
      }
      for (const { at, origin } of effects.dynamicCommands) {
        // a name from ARGV is a rule of its own
        if (origin.kind !== "argv" && origin.kind !== "keys" && origin.kind !== "derived")
          report("unresolved", { program }, at);
      }
      for (const { kind, what, at } of effects.unknowns) {
        if (!/^(?:callee|include|budget|depth|coroutine|environment)$/.test(kind)) continue;
        const loads = effects.dynamicSources.some((s) => s.at.start >= at.start && s.at.end <= at.end);
        if (!loads) report("hidden", { program, what }, at);
      }
    },
  },
});

function isNested(name: string): boolean {
  return /^(?:eval|evalsha|eval_ro|evalsha_ro|fcall|fcall_ro|script\|load)$/.test(name);
}

function called(names: Iterable<string>, declared: string): boolean {
  for (const name of names) if (name === declared || head(name) === declared || name === head(declared)) return true;
  return false;
}

/** The list with one name more, at its place in the alphabet. */
function added(entry: ManifestProgram, name: string) {
  const next = entry.commands.find((c) => c.value.toUpperCase() > name);
  const last = entry.commands.at(-1);
  if (next !== undefined) {
    const { source, start } = next.at;
    return [{ span: source.span(start, start), newText: `"${name}", ` }];
  }
  if (last !== undefined) {
    const { source, end } = last.at;
    return [{ span: source.span(end, end), newText: `, "${name}"` }];
  }
  const { source, start, end } = entry.place("commands")!;
  return [{ span: source.span(start, end), newText: `["${name}"]` }];
}
