import { defineRule } from "../../src/engine/rule.js";
import { crossings } from "../../src/model/program/crossed.js";
import { callSites } from "../../src/model/program/descriptor/callsites.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "A script uses exactly the KEYS and ARGV that its manifest declares.",
    why: "An entry beyond the declared ones is nil at run time, because callers pass what is declared: the script compares with nothing or fails half-way.",
    fix: "Declare what the script uses, in its order; mark a key that only fixes the slot as an anchor.",
    bad: '"keys": [{ "name": "counter", … }]   and in the script: KEYS[2]\n',
    good: '"keys": [{ "name": "counter", … }, { "name": "seen", … }]\n',
    source: { title: "Redis: EVAL", url: "https://redis.io/docs/latest/commands/eval/" },
    rows: ["C-P05"],
  },
  messages: {
    "key-range": {
      text: "{file} uses KEYS[{index}], and {program} declares {count}",
      inferred: "error",
    },
    "argument-range": "{file} uses ARGV[{index}], and {program} declares {count}",
    "key-unused": {
      text: "{program} declares the key {name} (KEYS[{index}]), which {file} never uses",
      inferred: "off",
      severity: "warning",
    },
    crossed: {
      text: "{place} meets the argument {given} (ARGV[{index}]), and {meant} is another argument: the two are swapped",
      inferred: "off",
    },
    "call-keys": {
      text: "{call} passes {actual} keys to {program}, which takes {count}",
      inferred: "error",
    },
    "call-arguments": {
      text: "{call} passes {actual} arguments to {program}, which takes {count}",
      inferred: "off",
    },
    "argument-unused": {
      text: "{program} declares the argument {name} (ARGV[{index}]), which {file} never uses",
      inferred: "off",
      severity: "warning",
    },
  },
  on: {
    ProgramSet(set, { contract, report }) {
      for (const { program, name, keys, keysAt, argv, argvAt } of callSites(set, contract.programs)) {
        const { entry, keyCount } = program;
        const data = { call: name, program: program.name };
        if (keyCount !== undefined && keyCount.value !== keys) {
          const related = [{ at: keyCount.at, message: "the keys that are declared" }];
          report("call-keys", Object.assign({ actual: keys, count: keyCount.value }, data), keysAt, { related });
        } else if (argv !== undefined && entry?.place("argv") !== undefined && entry.argv.length !== argv) {
          const related = [{ at: entry.place("argv")!, message: "the arguments that are declared" }];
          report("call-arguments", Object.assign({ actual: argv, count: entry.argv.length }, data), argvAt, {
            related,
          });
        }
      }
    },
    Program({ entry, keyCount, script, name: program }, { report }) {
      const effects = script?.effects;
      if (script === undefined || effects === undefined) return;
      const file = script.name;
      if (keyCount !== undefined) {
        const count = keyCount.value;
        for (const { index, mentions } of effects.inputs("keys").uses) {
          if (index >= 1 && index <= count) continue;
          const related = [{ at: keyCount.at, message: "the keys that are declared" }];
          report("key-range", { file, index, program, count }, mentions[0]!, { related });
        }
      }
      if (entry === undefined) return;
      const keys = effects.inputs("keys");
      const argv = effects.inputs("argv");
      const declared = entry.place("argv");
      for (const { index, mentions } of argv.uses) {
        if (declared === undefined || (index >= 1 && index <= entry.argv.length)) continue;
        const related = [{ at: declared, message: "the arguments that are declared" }];
        report("argument-range", { file, index, program, count: entry.argv.length }, mentions[0]!, { related });
      }
      for (const { place, given, meant, at } of crossings(entry, effects)) {
        const name = (i: number): string => entry.argv[i - 1]!.name.value;
        const related = [given, meant].map((i) => ({ at: entry.argv[i - 1]!.name.at, message: `ARGV[${i}]` }));
        report("crossed", { place, given: name(given), index: given, meant: name(meant) }, at, { related });
      }
      // an entry that is chosen at run time may be any
      const related = [{ at: script.head, message: "the script" }];
      if (keys.dynamic.length + keys.whole.length === 0) {
        entry.keys.forEach((key, i) => {
          if (key.anchor || keys.uses.some((u) => u.index === i + 1)) return;
          report("key-unused", { program, name: key.name.value, index: i + 1, file }, key.name.at, {
            related,
          });
        });
      }
      if (argv.dynamic.length + argv.whole.length > 0) return;
      entry.argv.forEach((argument, i) => {
        if (argv.uses.some((u) => u.index === i + 1)) return;
        report("argument-unused", { program, name: argument.name.value, index: i + 1, file }, argument.name.at, {
          related,
        });
      });
    },
  },
});
