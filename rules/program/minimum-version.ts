import { defineRule } from "../../src/engine/rule.js";
import { head } from "../../src/model/program/knowledge.js";
import { apiSince, optionsSince } from "../../src/model/program/versions.js";
import { commandTable, serverNames } from "../../src/model/redis/servers.js";
import { isBefore } from "../../src/model/version.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Every command and option of a script exists in the oldest server that it is declared for.",
    why: "The server that lacks it ends the script in the middle, with the writes before it done.",
    fix: "Raise minimumRedisVersion, and the servers with it, or use what the older server has.",
    bad: '"minimumRedisVersion": "6.0.0"   and in the script: redis.call("GETDEL", KEYS[1])\n',
    good: '"minimumRedisVersion": "6.2.0"\n',
    source: { title: "Redis: commands, since", url: "https://redis.io/docs/latest/commands/" },
    rows: ["C-P12"],
  },
  messages: {
    command: "{command} came with {since}, and {program} is declared for {version}",
    option: "{option} of {command} came with {since}, and {program} is declared for {version}",
    api: "{name} came with {since}, and {program} is declared for {version}",
    nowhere: { text: "no server has a command {command}: the script ends here", inferred: "error" },
  },
  on: {
    LuaScript(script, { contract, report }) {
      const { effects } = script;
      if (effects === undefined || script.fragment) return;
      for (const [name, call] of effects.commands) {
        if (!isKnown(contract.programs.table.get(name)?.name, name)) {
          report("nowhere", { command: name.toUpperCase() }, call.commandAt);
        }
      }
      const program = script.programs.find((p) => p.entry?.minimumRedisVersion !== undefined);
      const asked = program?.entry?.minimumRedisVersion?.value ?? contract.redis.version.asked;
      if (asked === undefined || /valkey/i.test(asked)) return;
      const title = program?.name ?? script.name;
      const related =
        program === undefined ? [] : [{ at: program.entry!.minimumRedisVersion!.at, message: "what is declared" }];
      const data = { program: title, version: `Redis ${asked.replace(/^redis-/, "")}` };
      for (const [name, call] of effects.commands) {
        const since = (contract.programs.table.get(name) ?? newest(name))?.since;
        if (since === undefined || since === "" || !isBefore(asked, since)) continue;
        report(
          "command",
          Object.assign({ command: name.toUpperCase(), since: `Redis ${since}` }, data),
          call.commandAt,
          { related },
        );
      }
      for (const call of effects.calls) {
        for (const { option, since, index } of optionsSince(call)) {
          if (!isBefore(asked, since)) continue;
          const command = (call.command ?? "").toUpperCase();
          report("option", Object.assign({ option, command, since: `Redis ${since}` }, data), call.wordAt(index), {
            related,
          });
        }
      }
      // before Redis 7 a first line `#!` is a syntax error
      const { shebang } = effects.document;
      if (shebang !== undefined && isBefore(asked, "7.0.0"))
        report("api", Object.assign({ name: "#!lua", since: "Redis 7.0.0" }, data), shebang.at, { related });
      for (const { name, at } of effects.apis) {
        const since = apiSince(name);
        if (since !== undefined && isBefore(asked, since))
          report("api", Object.assign({ name, since: `Redis ${since}` }, data), at, { related });
      }
    },
  },
});

/** A name with a dot is a module's; a container whose subcommand is not known is known by itself. */
function isKnown(own: string | undefined, name: string): boolean {
  return (
    own !== undefined ||
    name.includes(".") ||
    newest(name) !== undefined ||
    (newest(head(name))?.subcommands === undefined && newest(head(name)) !== undefined)
  );
}

/** The command in the first of the newer tables that has it. */
function newest(name: string) {
  for (const id of serverNames) {
    const found = commandTable(id)?.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}
