import { defineRule } from "../../src/engine/rule.js";
import { driftOf } from "../../src/model/program/descriptor/drift.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "What code says of a program is what its manifest says, field by field.",
    why: "The code sends KEYS and ARGV in its own order and names the script by its own digest: where it differs from the manifest, what was reviewed and granted is not what is called.",
    fix: "Change the end that is wrong. Fields that a team calls otherwise are mapped in the contract file (descriptors: [{ file, map }]).",
    bad: 'export const hit = { id: "rate-hit", file: "rate-hit-v1.lua", keys: [{ name: "mark" }, { name: "count" }] };\n',
    good: 'export const hit = { id: "rate-hit", file: "rate-hit-v1.lua", keys: [{ name: "count" }, { name: "mark" }] };\n',
    source: {
      title: "Redis: Scripting with Lua",
      url: "https://redis.io/docs/latest/develop/programmability/eval-intro/",
    },
    rows: ["C-P03"],
  },
  messages: {
    field: {
      text: "{field} of {program}: the code says {code}, the manifest {manifest}",
    },
    lacking: {
      text: "the descriptor of {program} lacks {field}, which every other one of the file has",
    },
    undescribed: {
      text: "{program} has no descriptor in the {language} files of its set",
      help: "Add one, or take the program out of the manifest.",
    },
    uncatalogued: {
      text: "the code describes {program}, which is in no manifest",
      help: "Add it to the manifest, or take the descriptor away.",
    },
    unresolved: {
      text: "which program this describes is not decided by the declared files: {reason}",
      severity: "info",
      help: "Declare the files that its constants come from under descriptors, callers or sources.",
    },
  },
  on: {
    Contract(contract, { report }) {
      const found = driftOf(contract.programs);
      for (const { field, program, code, manifest, at, origin, manifestAt } of found.drifts) {
        const related = [{ at: manifestAt, message: "the manifest" }];
        if (origin !== undefined) related.push({ at: origin, message: "the constant" });
        report("field", { field, program, code, manifest }, at, { related });
      }
      for (const { program, field, at, manifestAt, sibling } of found.lacking) {
        const related = [
          { at: manifestAt, message: "the manifest" },
          { at: sibling, message: "another one" },
        ];
        report("lacking", { program, field }, at, { related });
      }
      for (const { program, language, file } of found.undescribed) {
        report("undescribed", { program: program.name, language }, program.entry?.id?.at ?? program.at, {
          related: [{ at: file, message: "the code" }],
        });
      }
      for (const { descriptor, set } of found.uncatalogued) {
        const at = descriptor.id.state === "known" ? descriptor.id.at : descriptor.at;
        const related = set.manifest?.name === undefined ? [] : [{ at: set.manifest.name.at, message: "the manifest" }];
        report("uncatalogued", { program: descriptor.name }, at, { related });
      }
      for (const { at, reason } of found.unresolved) report("unresolved", { reason }, at);
    },
  },
});
