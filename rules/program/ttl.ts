import { defineRule } from "../../src/engine/rule.js";
import { boundOf, declaredKey, inMs, timeAt, ttlOf } from "../../src/model/program/judge.js";
import { isWindow } from "../../src/model/program/window.js";

export default defineRule({
  severity: "error",
  docs: {
    summary:
      "Every key that a script writes gets a time to live on every path, within the declared bound, unless it is declared durable.",
    why: "A key without a time to live stays for ever: counters and marks pile up until the server evicts what it should keep, or refuses writes.",
    fix: "Set the expiry in the same script as the first write, and clamp what callers pass.",
    bad: "local n = redis.call('INCR', KEYS[1])\n",
    good: "local n = redis.call('INCR', KEYS[1])\nif n == 1 then\n  redis.call('PEXPIRE', KEYS[1], math.min(tonumber(ARGV[1]), 60000))\nend\n",
    source: { title: "Redis: EXPIRE", url: "https://redis.io/docs/latest/commands/expire/" },
    rows: ["C-P10"],
  },
  messages: {
    missing: { text: "{key} is written here and stays without a time to live on some path", once: true },
    unclear: {
      text: "whether {key} gets a time to live here cannot be told from the text",
      severity: "info",
      inferred: "off",
    },
    undeclared: {
      text: "{program} writes {key} and declares neither a bound of its life nor durable",
      inferred: "off",
    },
    unwritten: { text: "{program} declares the life of {key}, which {file} never writes", inferred: "off" },
    durable: { text: "{key} is declared durable and gets a time to live here", inferred: "off" },
    unenforced: {
      text: "the time to live of {key} is whatever the caller passes: nothing keeps it within {max} ms",
      help: 'Clamp it by math.min, refuse more, or declare "enforcedBy": "caller".',
      inferred: "off",
    },
    exceeds: { text: "{key} may live {actual} ms here, and {max} ms are declared", inferred: "off" },
    source: { text: "the time to live of {key} comes from {actual}, and {declared} is declared", inferred: "off" },
    restarts: {
      text: "the expiry of {key} starts anew at every call: under steady traffic the counter never ends",
      help: "Set it only when the counter is new, unless a sliding expiry is meant.",
      severity: "info",
      inferred: "info",
    },
  },
  on: {
    LuaScript(script, { contract, report }) {
      const { effects } = script;
      if (effects === undefined || script.fragment || contract.declared) return;
      for (const m of effects.missingTtl) {
        if (!m.unclear && isWindow(m, effects)) report("missing", { key: nameOf(m.origins[0]?.keys[0]) }, m.call.at);
      }
      for (const t of effects.ttls)
        if (t.restarts) report("restarts", { key: nameOf(t.origins[0]?.keys[0]) }, t.call.at);
    },
    Program({ entry, script, name: program }, { contract, report }) {
      const effects = script?.effects;
      if (entry === undefined || effects === undefined || !contract.declared || entry.place("ttl") === undefined)
        return;
      const undeclared = new Set<string>();
      const written = new Set<string>();
      let any = false;
      for (const use of effects.keys) {
        const key = declaredKey(entry, use.origin);
        // an entry of KEYS that is chosen at run time may be any
        const open = use.origin.kind === "keys" || use.origin.kind === "derived" || use.origin.kind === "unknown";
        if (open && key === undefined && use.access.includes("W")) any = true;
        if (key !== undefined && use.access.includes("W")) written.add(key.name.value);
      }
      for (const m of effects.missingTtl) {
        for (const origin of m.origins) {
          const key = declaredKey(entry, origin);
          if (key === undefined) continue;
          const ttl = ttlOf(entry, key);
          if (ttl?.durable === true) continue;
          const related = [{ at: ttl?.at ?? key.at, message: ttl === undefined ? "the key" : "what is declared" }];
          if (m.unclear) report("unclear", { key: key.name.value }, m.call.at, { related });
          else report("missing", { key: key.name.value }, m.call.at, { related });
          if (ttl === undefined) undeclared.add(key.name.value);
        }
      }
      for (const t of effects.ttls) {
        for (const origin of t.origins) {
          const key = declaredKey(entry, origin);
          if (key === undefined) continue;
          const name = key.name.value;
          const ttl = ttlOf(entry, key);
          const at = timeAt(t);
          if (ttl === undefined) {
            if (!undeclared.has(name)) {
              undeclared.add(name);
              report("undeclared", { program, key: name }, entry.place("ttl", "key") ?? entry.at, {
                related: [{ at: t.call.at, message: "the expiry that the script sets" }],
              });
            }
            continue;
          }
          const related = [{ at: ttl.at, message: "what is declared" }];
          const bound = boundOf(ttl);
          if (ttl.durable) report("durable", { key: name }, t.call.at, { related });
          const named = ttl.argv?.value;
          const sources = t.argv.map((i) => entry.argv[i - 1]?.name.value ?? `ARGV[${i}]`);
          if (named !== undefined && sources.length > 0 && !sources.includes(named)) {
            report("source", { key: name, actual: sources.join(" and "), declared: named }, at, { related });
          }
          if (bound === undefined || inMs(1, t.unit) === undefined) continue;
          const most = t.max === undefined ? undefined : inMs(t.max, t.unit)!;
          if (most === undefined) {
            if (ttl.enforcedBy === "script" && t.argv.length > 0)
              report("unenforced", { key: name, max: bound }, at, { related });
            continue;
          }
          const exact = ttl.fixed !== undefined && ttl.max === undefined && t.time?.kind === "literal";
          if (most > bound || (exact && most !== bound))
            report("exceeds", { key: name, actual: most, max: bound }, at, { related });
        }
      }
      if (any || !effects.commandsComplete) return;
      for (const ttl of entry.ttl) {
        const known = entry.keys.some((k) => k.name.value === ttl.key.value);
        if (known && !written.has(ttl.key.value))
          report("unwritten", { program, key: ttl.key.value, file: script!.name }, ttl.key.at, {
            related: [{ at: script!.head, message: "the script" }],
          });
      }
    },
  },
});

function nameOf(index: number | undefined): string {
  return index === undefined ? "the key" : `KEYS[${index}]`;
}
