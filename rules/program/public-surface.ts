import { defineRule } from "../../src/engine/rule.js";
import { inModule, keyBeginnings, leaks } from "../../src/model/program/descriptor/surface.js";
import { list } from "../../src/model/settings.js";

export default defineRule({
  severity: "error",
  docs: {
    summary:
      "Outside the Redis module no code names a client library, a raw command, a raw key or an executor of any script.",
    why: "What the manifest and the ACL say holds only for calls that go through the module. Code beside it can write keys without a bound, or run a text that nobody reviewed.",
    fix: "Give the module a function for what the code needs. The module's own files are declared under boundaries: paths (src/redis/**) or Java packages (com.acme.redis..); the code to look at under sources.",
    bad: 'import Redis from "ioredis";\nexport const seen = (id: string) => new Redis().incr(`app:{shop}:seen:${id}`);\n',
    good: 'import { counters } from "./redis/counters.js";\nexport const seen = (id: string) => counters.seen(id);\n',
    source: {
      title: "ArchUnit: package dependency checks",
      url: "https://www.archunit.org/userguide/html/000_Index.html",
    },
    rows: ["C-P19"],
  },
  messages: {
    import: { text: "{what} is imported outside the Redis module" },
    command: { text: "the raw command {what} is called outside the Redis module" },
    key: { text: "a raw key {what} is named outside the Redis module" },
    executor: { text: "{what} runs any script or command, outside the Redis module" },
  },
  on: {
    ProgramSet({ source, manifest }, { contract, report }) {
      if (source.boundaries.length === 0) return;
      const { programs } = contract;
      const keys = keyBeginnings([
        ...list(source.keys),
        ...(manifest?.programs.flatMap((p) => p.keys.map((k) => k.pattern.value)) ?? []),
      ]);
      const isCommand = (name: string): boolean => programs.table.get(name) !== undefined;
      for (const { input, code } of programs.trees(source.sources) ?? []) {
        if (inModule(input.file, code, source.boundaries)) continue;
        for (const { kind, what, at } of leaks(input.source, code, keys, isCommand)) report(kind, { what }, at);
      }
    },
  },
});
