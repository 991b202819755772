import { defineRule } from "../../src/engine/rule.js";
import { probabilisticCommands } from "../../src/model/program/judge.js";

/** Classes whose answers somebody relies on. */
const CORRECTNESS: ReadonlySet<string> = new Set(["idempotency", "lease", "fence", "session"]);

export default defineRule({
  severity: "error",
  docs: {
    summary: "The manifest of a program set is complete and holds no unknown field.",
    why: "A field that is misspelled declares nothing: the program runs without the bound, the key or the retry class that its author wrote down.",
    fix: "Write the manifest after schemas/program-set.schema.json.",
    bad: '{ "id": "hit", "version": "1", "file": "hit-v1.lua", "key": ["app:*"] }\n',
    good: '{ "id": "hit", "version": "1.0.0", "file": "hit-v1.lua", "sha1": "…", "sha256": "…", "keys": [{ "name": "counter", "pattern": "app:*", "access": "RW", "slotTag": null }], … }\n',
    source: {
      title: "quorumlint: schema of program sets",
      url: "https://quorumlint.dev/schemas/program-set.schema.json",
    },
    rows: ["C-P01", "C-P18"],
  },
  messages: {
    invalid: { text: "{program}: {what}" },
    unclassified: {
      text: "{program} uses {command}, whose answers are estimates or bits, and declares no class",
      help: "Declare a class that nobody bills or decides by, such as cache.",
    },
    estimate: {
      text: "{program} is of class {class} and uses {command}: an estimate must not decide there",
      help: "Count exactly, or declare another class.",
    },
  },
  on: {
    ProgramSet(set, { report }) {
      for (const problem of set.manifest?.problems ?? []) {
        if (problem.kind === "syntax") continue;
        const index = /^\/programs\/(\d+)/.exec(problem.path)?.[1];
        const program = index === undefined ? set.title : (set.programs[Number(index)]?.name ?? set.title);
        report("invalid", { program, what: problem.message }, { span: problem.at, pointer: problem.path });
      }
    },
    Program({ entry, script, name: program }, { report }) {
      const found = entry === undefined ? undefined : probabilisticCommands(script)[0];
      if (entry === undefined || found === undefined) return;
      const command = found.name.toUpperCase();
      const related = [{ at: found.at, message: "it is called here" }];
      if (entry.class === undefined)
        report("unclassified", { program, command }, entry.id?.at ?? entry.at, { related });
      else if (CORRECTNESS.has(entry.class.value))
        report("estimate", { program, command, class: entry.class.value }, entry.class.at, { related });
    },
  },
});
