import { defineRule } from "../../src/engine/rule.js";
import { driftOf } from "../../src/model/program/descriptor/drift.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  fixable: true,
  docs: {
    summary: "The digests of a manifest are those of the script's bytes.",
    why: "EVALSHA names a script by the SHA-1 of its bytes: with another digest every call answers NOSCRIPT, and what was reviewed is not what runs.",
    fix: "Take the digest again (quorumlint check --fix), after somebody has looked at what changed in the script.",
    bad: '{ "id": "hit", "file": "hit-v1.lua", "sha1": "0000000000000000000000000000000000000000" }\n',
    good: '{ "id": "hit", "file": "hit-v1.lua", "sha1": "f0e4c575f212a47f6a05898b785b6a9d46baaa55" }\n',
    source: { title: "Redis: EVALSHA", url: "https://redis.io/docs/latest/commands/evalsha/" },
    rows: ["C-P02"],
  },
  messages: {
    drift: {
      text: "the {algorithms} of {program} is not that of {file}: EVALSHA answers NOSCRIPT",
      help: "The bytes of {file} have {digest}.",
    },
    code: {
      text: "the {algorithm} of {program} in the code is not that of {file}: EVALSHA answers NOSCRIPT",
      help: "The bytes of {file} have {digest}.",
    },
  },
  on: {
    Contract(contract, { report }) {
      for (const { program, algorithm, at, manifestAt } of driftOf(contract.programs).stale) {
        const script = program.script!;
        const related = [{ at: script.head, message: "the script" }];
        if (manifestAt !== undefined) related.push({ at: manifestAt, message: "the manifest has the same" });
        const data = { program: program.name, file: script.name, digest: script.digests[algorithm] };
        report("code", Object.assign({ algorithm: TITLE[algorithm] }, data), at, { related });
      }
    },
    Program({ digests, script, name: program }, { report }) {
      if (script === undefined || script.input.fault !== undefined) return;
      const wrong = digests.filter((d) => value(d.stated.value) !== script.digests[d.algorithm]);
      const [first, ...others] = wrong;
      if (first === undefined) return;
      const edits = wrong.map(({ algorithm, stated }) => {
        const { source, end } = stated.at;
        const span = source.span(end - 1 - value(stated.value).length, end - 1);
        return { span, newText: script.digests[algorithm] };
      });
      report(
        "drift",
        {
          algorithms: wrong.map((d) => TITLE[d.algorithm]).join(" and the "),
          program,
          file: script.name,
          digest: script.digests[first.algorithm],
        },
        first.stated.at,
        {
          related: [
            { at: script.head, message: "the script" },
            ...others.map((d) => ({ at: d.stated.at, message: `its ${TITLE[d.algorithm]}` })),
          ],
          fix: { description: `Take the digest of ${script.name} again.`, edits },
        },
      );
    },
  },
});

const TITLE = { sha1: "SHA-1", sha256: "SHA-256" } as const;

/** The digits, lower case, without `sha256:`. */
function value(text: string): string {
  return text.slice(text.search(/[0-9a-f]+$/i)).toLowerCase();
}
