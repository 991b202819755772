import { defineRule } from "../../src/engine/rule.js";
import { argumentOf, timeAt } from "../../src/model/program/judge.js";
import { scaledInput } from "../../src/model/program/query.js";
import { unitOfName } from "../../src/model/program/units.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "A time goes to a command that takes its unit.",
    why: "EXPIRE with milliseconds keeps a key a thousand times too long, PEXPIRE with seconds loses it at once; neither is an error for the server.",
    fix: "EX, EXPIRE and SETEX take seconds, PX, PEXPIRE and PSETEX milliseconds.",
    bad: "redis.call('EXPIRE', KEYS[1], windowMs)\n",
    good: "redis.call('PEXPIRE', KEYS[1], windowMs)\n",
    source: { title: "Redis: PEXPIRE", url: "https://redis.io/docs/latest/commands/pexpire/" },
    rows: ["C-P15"],
  },
  messages: {
    argument: "{argument} is declared in {declared}, and {command} takes {wanted}",
    name: "{name} is a time in {declared} by its name, and {command} takes {wanted}",
    manifest: "the life of {key} is declared in {declared}, and its argument {argument} in {other}",
  },
  on: {
    Program({ entry, script }, { report }) {
      const effects = script?.effects;
      if (entry === undefined) return;
      for (const ttl of entry.ttl) {
        const argument = entry.argv.find((a) => a.name.value === ttl.argv?.value);
        const other = argument?.unit.value;
        if (ttl.unit === undefined || (other !== "milliseconds" && other !== "seconds") || other === ttl.unit.value)
          continue;
        const related = [{ at: argument!.unit.at, message: "the unit of the argument" }];
        report(
          "manifest",
          { key: ttl.key.value, declared: ttl.unit.value, argument: argument!.name.value, other },
          ttl.unit.at,
          {
            related,
          },
        );
      }
      for (const t of effects?.ttls ?? []) {
        if (t.time === undefined || (t.unit !== "seconds" && t.unit !== "milliseconds")) continue;
        const scaled = scaledInput(t.time, effects!.terms);
        if (scaled === undefined || scaled.input.table !== "argv") continue;
        const argument = argumentOf(entry, scaled.input.index);
        const declared = argument?.unit.value;
        if (argument === undefined || (declared !== "seconds" && declared !== "milliseconds")) continue;
        // how much of the command's unit one declared unit should become
        const right = declared === t.unit ? 1 : declared === "seconds" ? 1000 : 0.001;
        const off = Math.abs(Math.log10(Math.abs(scaled.factor) / right));
        if (off < 2.5) continue;
        const related = [{ at: argument.unit.at, message: "the unit that is declared" }];
        const command = (t.call.command ?? "").toUpperCase();
        report("argument", { argument: argument.name.value, declared, command, wanted: t.unit }, timeAt(t), {
          related,
        });
      }
    },
    LuaScript(script, { report }) {
      const { effects } = script;
      if (effects === undefined || script.programs.some((p) => p.entry !== undefined)) return;
      for (const t of effects.ttls) {
        const at = timeAt(t);
        const name = at.source.slice(at);
        const declared = unitOfName(name);
        if (declared === undefined || (t.unit !== "seconds" && t.unit !== "milliseconds") || declared === t.unit)
          continue;
        report("name", { name, declared, command: (t.call.command ?? "").toUpperCase(), wanted: t.unit }, at);
      }
    },
  },
});
