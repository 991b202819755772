import { defineRule } from "../../src/engine/rule.js";
import { type Lacks, lacksOf } from "../../src/model/program/access.js";
import { commandWords } from "../../src/model/redis/commands.js";
import { joined, revoking } from "../../src/model/redis/role-check.js";

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
    keyless: "{user} has none of the keys of its programs: every EVALSHA is refused",
    inner: "{program} sends {command} to {key}, and {user} has no pattern that gives it that",
    channel: "{program} publishes to {channel}, and {user} may not use that channel",
  },
  on: {
    Contract({ programs }, { report }) {
      for (const lacks of lacksOf(programs)) {
        const { runner, user } = lacks;
        const [first] = lacks.programs;
        const name = runner.name;
        if (user === undefined) {
          const related = [{ at: first!.at, message: "a program that it runs" }];
          const data = { program: first!.name, user: name, file: runner.access.title };
          if (runner.named !== undefined) report("no-user", data, runner.named, { related });
          continue;
        }
        const at = (command: string) => revoking(user, command)?.at ?? user.nameAt;
        for (const command of lacks.calls) {
          const related = [{ at: first?.at ?? lacks.scripts[0]!.head, message: "a program that it runs" }];
          report("call", { user: name, command: commandWords(command) }, at(command), { related });
        }
        for (const { command, program, places } of lacks.commands) {
          const related = [{ at: at(command), message: `the user ${name}` }, ...further(places)];
          report("command", { program, command: commandWords(command), user: name }, places[0]!, { related });
        }
        const own = { at: user.nameAt, message: `the user ${name}` };
        if (lacks.keyless) {
          const related = [own, ...further(lacks.keys.flatMap((k) => k.places))];
          report("keyless", { user: name }, lacks.keys[0]!.places[0]!, { related });
        } else {
          for (const { pattern, program, places } of lacks.keys) {
            report("key", { user: name, key: pattern, program }, places[0]!, { related: [own, ...further(places)] });
          }
        }
        for (const { pattern, commands, program, places } of lacks.inner) {
          const data = { program, command: joined(commands.map(commandWords)), key: pattern, user: name };
          report("inner", data, places[0]!, { related: [own, ...further(places)] });
        }
        for (const { pattern, program, places } of lacks.channels) {
          report("channel", { program, channel: pattern, user: name }, places[0]!, {
            related: [own, ...further(places)],
          });
        }
      }
    },
  },
});

function further(places: Lacks["commands"][number]["places"]) {
  return places.slice(1, 20).map((at) => ({ at, message: "and here" }));
}
