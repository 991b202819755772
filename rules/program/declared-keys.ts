import { defineRule } from "../../src/engine/rule.js";
import type { ScriptEffects } from "../../src/model/program/effects.js";
import { declaredKey } from "../../src/model/program/judge.js";
import { aclCovers } from "../../src/model/program/keypattern.js";
import { list } from "../../src/model/settings.js";

/** Commands whose words name channels or patterns, which callers may well pass in KEYS. */
const NAMES_OTHERS = /^(?:s?publish|scan|[hsz]scan|object|sort|sort_ro|memory|pubsub)\b/;

export default defineRule({
  severity: "error",
  docs: {
    summary: "Every key that a script touches comes from KEYS, and KEYS holds nothing but keys.",
    why: "A Cluster routes a script by its KEYS and ACLs check them before it runs: a key from elsewhere lies in another slot or is refused half-way, and a value in KEYS demands rights on a key that does not exist.",
    fix: "Pass keys in KEYS and everything else in ARGV; build further names from an entry of KEYS.",
    bad: "redis.call('HGET', 'user:' .. ARGV[1], KEYS[1])\n",
    good: "redis.call('HGET', KEYS[1], ARGV[1])\n",
    source: {
      title: "Redis: script parameterization",
      url: "https://redis.io/docs/latest/develop/programmability/eval-intro/#script-parameterization",
    },
    rows: ["C-P07", "C-P05"],
  },
  messages: {
    argument: {
      text: "{command} works on a key that comes from ARGV, not from KEYS",
      inferred: "info",
      once: true,
    },
    data: { text: "{command} works on a key whose name is built from stored data", inferred: "info", once: true },
    literal: { text: "{command} works on {key}, a key that no caller declares", inferred: "info", once: true },
    unknown: {
      text: "where the key of {command} comes from cannot be told: {what}",
      severity: "info",
      inferred: "off",
    },
    value: {
      text: "KEYS[{index}] is used as a value of {command} and never as a key: ARGV is meant",
      help: "Pass it in ARGV: a caller's KEYS are checked and routed as keys.",
      inferred: "error",
    },
    access: { text: "{program} declares {name} as {declared}, and its script needs {needed}", inferred: "off" },
    outside: {
      text: "the pattern of {name} is not within {keys}, the keys that the contract gives to these programs",
      inferred: "off",
    },
  },
  on: {
    LuaScript(script, { report }) {
      const { effects } = script;
      if (effects === undefined || script.fragment) return;
      for (const { call, origin, at } of effects.keys) {
        const command = (call.command ?? "").toUpperCase();
        if (origin.kind === "argv") report("argument", { command }, at);
        else if (origin.kind === "data") report("data", { command }, at);
        else if (origin.kind === "literal") {
          const text = origin.parts.map((p) => (p.kind === "text" ? p.text : "")).join("");
          // NOKEY-like empty names are no keys
          if (text !== "") report("literal", { command, key: JSON.stringify(text.slice(0, 60)) }, at);
        } else if (origin.kind === "unknown") {
          const part = origin.parts.find((p) => p.kind === "unknown");
          report("unknown", { command, what: part?.kind === "unknown" ? part.what : "it is computed" }, at);
        }
      }
      if (!effects.commandsComplete || effects.unknowns.some((u) => u.kind === "key-positions")) return;
      for (const { index, asKey, asValue, mentions } of effects.inputs("keys").uses) {
        const use = asValue[0];
        if (asKey.length > 0 || use === undefined || !accounted(mentions, asValue)) continue;
        if (asValue.some((v) => NAMES_OTHERS.test(v.call.command ?? ""))) continue;
        report("value", { index, command: (use.call.command ?? "").toUpperCase() }, use.at);
      }
    },
    Program({ entry, script, set, name: program }, { report }) {
      if (entry === undefined) return;
      const namespace = list(set.source.keys).map((k) => k.replace(/\{[^{}]*\}/g, "{*}"));
      entry.keys.forEach((key, i) => {
        if (
          namespace.length > 0 &&
          aclCovers(namespace, key.pattern.value) === false &&
          entry.place(`keys/${i}/pattern`)
        ) {
          report("outside", { name: key.name.value, keys: namespace.join(", ") }, key.pattern.at);
        }
      });
      const { effects } = script ?? {};
      if (effects === undefined || !effects.commandsComplete) return;
      if (effects.unknowns.some((u) => u.kind === "key-positions")) return;
      for (const [i, key] of entry.keys.entries()) {
        const needed = accessOf(effects, entry, i);
        if (needed === undefined || entry.place(`keys/${i}/access`) === undefined || needed === key.access.value)
          continue;
        report("access", { program, name: key.name.value, declared: key.access.value, needed }, key.access.at, {
          related: [{ at: script!.head, message: "the script" }],
        });
      }
    },
  },
});

type Use = ReturnType<ScriptEffects["inputs"]>["uses"][number];

/** Each place that names the entry is one of the words that are values. */
function accounted(mentions: Use["mentions"], values: Use["asValue"]): boolean {
  return mentions.every((m) => values.some((v) => v.at.start <= m.start && m.end <= v.at.end)) || mentions.length === 1;
}

/** What the script does to a declared key; undefined where it is not used, or other keys may be meant. */
function accessOf(effects: ScriptEffects, entry: Parameters<typeof declaredKey>[0], index: number): string | undefined {
  const all = new Set<string>();
  let used = false;
  const inputs = effects.inputs("keys");
  if (inputs.dynamic.length + inputs.whole.length > 0) return undefined;
  for (const use of effects.keys) {
    if (declaredKey(entry, use.origin) !== entry.keys[index]) continue;
    used = true;
    for (const a of use.access) all.add(a);
  }
  if (!used) return undefined;
  return ["R", "W"].filter((a) => all.has(a)).join("") || "R";
}
