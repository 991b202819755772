import { defineRule } from "../../src/engine/rule.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "Every Lua script and every manifest of scripts can be read.",
    why: "SCRIPT LOAD refuses a script that Lua 5.1 cannot compile, and every EVALSHA of it answers NOSCRIPT.",
    fix: "Repair the text at the place shown; Redis runs Lua 5.1.",
    bad: "if redis.call('GET', KEYS[1]) == ARGV[1] do\n",
    good: "if redis.call('GET', KEYS[1]) == ARGV[1] then\n  return 1\nend\n",
    source: {
      title: "Redis: scripting with Lua",
      url: "https://redis.io/docs/latest/develop/programmability/eval-intro/",
    },
    rows: ["C-R18"],
  },
  messages: {
    lua: "{file} is no Lua 5.1: {what}",
    refused: "the server refuses {file}: {what}",
    global: {
      text: "{name} is a global variable: the server ends the script here",
      help: "Declare it with local.",
      inferred: "warning",
    },
    missing: {
      text: "there is no variable {name}: the server ends the script here",
      help: "Declare it with local before it is read.",
      inferred: "off",
    },
    json: { text: "{file} is no JSON: {what}", inferred: "warning" },
    unreadable: {
      text: "{reason}",
      help: "A file is UTF-8 text that the check may read, below its root.",
      inferred: "warning",
    },
  },
  on: {
    File(file, { report }) {
      if (file.fault !== undefined && ["lua", "json", "java", "typescript"].includes(file.kind))
        report("unreadable", { reason: file.fault }, file.source.span(0, 0));
    },
    LuaScript(script, { contract, report }) {
      const { document, effects } = script;
      // a template is rendered before the server sees it
      if (document === undefined || isTemplate(script.input.templated, document.view.text, contract.declared)) return;
      for (const { message, at } of document.problems) report("lua", { file: script.name, what: message }, at);
      if (effects === undefined || script.fragment) return;
      for (const { what, at } of effects.refused) report("refused", { file: script.name, what }, at);
      // a file that calls nothing is put together with others
      if (effects.calls.length === 0) return;
      for (const at of effects.globals) report("global", { name: at.source.slice(at) }, at);
      for (const at of effects.missingGlobals) report("missing", { name: at.source.slice(at) }, at);
    },
    ProgramSet(set, { contract, report }) {
      // the first fault; what the parser says behind it is guessed
      const [fault] = contract.programs.faultsOf(set);
      if (fault !== undefined) report("json", { file: set.input!.file, what: fault.message }, fault.at);
    },
  },
});

const PLACEHOLDER = /\$\{\w|\{\{|<%|%\(\w+\)s|@[A-Z_]{3,}@/;

function isTemplate(templated: boolean, text: string, declared: boolean): boolean {
  return templated || (!declared && PLACEHOLDER.test(text));
}
