import { defineRule } from "../../src/engine/rule.js";
import type { Program } from "../../src/model/program/programs.js";

export default defineRule({
  severity: "error",
  docs: {
    summary:
      "Every script is in a manifest, every script of a manifest exists, ids are unique, and file names carry the major version.",
    why: "A script without an entry runs without anybody having said what it may touch; two entries of one id hide each other in the registry.",
    fix: "One entry for each script, with an id of its own; hit-v2.lua is version 2.x.y.",
    bad: '{ "id": "hit", "version": "2.0.0", "file": "hit-v1.lua", … }\n',
    good: '{ "id": "hit", "version": "2.0.0", "file": "hit-v2.lua", … }\n',
    source: {
      title: "Redis: scripting with Lua, script cache",
      url: "https://redis.io/docs/latest/develop/programmability/eval-intro/#script-cache",
    },
    rows: ["C-P04"],
  },
  messages: {
    uncatalogued: { text: "{file} is in no manifest", help: "Add an entry for it, or take the file away." },
    missing: { text: "{program} names {file}, which is not there" },
    duplicate: { text: "two programs are called {program}" },
    major: { text: "{file} carries major version {suffix}, and {program} is version {version}" },
  },
  on: {
    Contract({ programs }, { report }) {
      const seen = new Map<string, Program>();
      for (const program of programs.programs) {
        const id = program.entry?.id;
        if (id === undefined) continue;
        const first = seen.get(id.value);
        if (first === undefined) seen.set(id.value, program);
        else {
          const related = [{ at: first.entry!.id!.at, message: `in ${first.set.title}` }];
          report("duplicate", { program: id.value }, id.at, { related });
        }
      }
    },
    Program({ entry, file, script, name: program }, { report }) {
      if (entry === undefined || file === undefined) return;
      if (script === undefined) report("missing", { program, file: file.value }, file.at);
      const suffix = /-v(\d+)\.lua$/.exec(file.value)?.[1];
      const version = entry.version?.value;
      const major = /^(\d+)\./.exec(version ?? "")?.[1];
      if (suffix !== undefined && major !== undefined && suffix !== major) {
        const related = [{ at: entry.version!.at, message: "the version" }];
        report("major", { file: file.value, suffix, program, version: version! }, file.at, { related });
      }
    },
    LuaScript(script, { contract, report }) {
      if (script.programs.length > 0 || script.input.fault !== undefined) return;
      const sets = contract.programs.sets.filter((s) => s.manifest !== undefined && s.scripts.includes(script));
      // a manifest that cannot be read names nothing
      const readable = sets.some((s) => s.manifest!.problems.every((p) => p.kind !== "syntax"));
      // without a contract file only a manifest beside the script speaks for it
      const beside = sets.some((s) => contract.declared || folder(s.input!.file) === folder(script.file));
      if (readable && beside && !script.fragment) report("uncatalogued", { file: script.name }, script.head);
    },
  },
});

function folder(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}
