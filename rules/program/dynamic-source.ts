import { defineRule } from "../../src/engine/rule.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "A script runs no source and no command that its caller passes.",
    why: "What is passed decides what runs: reviews, digests and the declared commands say nothing any more.",
    fix: "Name commands as constants; write one script for each thing to be done.",
    bad: "return redis.call(ARGV[1], KEYS[1])\n",
    good: "return redis.call('GET', KEYS[1])\n",
    source: {
      title: "Redis: Lua API, sandbox",
      url: "https://redis.io/docs/latest/develop/programmability/lua-api/#sandbox-context",
    },
    rows: ["C-P11"],
  },
  messages: {
    source: "{name} runs a text as a program",
    nested: { text: "{name} is not allowed from a script", inferred: "error" },
    command: { text: "the name of this command comes from the caller", inferred: "info" },
  },
  on: {
    LuaScript(script, { report }) {
      const { effects } = script;
      if (effects === undefined || script.fragment) return;
      for (const { name, at } of effects.dynamicSources) {
        if (/^(?:eval|fcall|script)/.test(name)) report("nested", { name: name.toUpperCase() }, at);
        else report("source", { name }, at);
      }
      for (const { at, origin } of effects.dynamicCommands) {
        if (origin.kind === "argv" || origin.kind === "keys" || origin.kind === "derived")
          report("command", undefined, at);
      }
    },
  },
});
