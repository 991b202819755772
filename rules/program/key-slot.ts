import { defineRule } from "../../src/engine/rule.js";
import { sameSlot } from "../../src/model/program/keypattern.js";

export default defineRule({
  severity: "error",
  inferred: "info",
  docs: {
    summary: "All keys of one program lie in one cluster slot.",
    why: "A Cluster refuses a script whose KEYS lie in two slots (CROSSSLOT): the program works until the day the data is split.",
    fix: "Give the keys of a resource the same hash tag.",
    bad: '"pattern": "app:state:*" and "pattern": "app:dedup:*"\n',
    good: '"pattern": "app:{tenant}:state:*" and "pattern": "app:{tenant}:dedup:*"\n',
    source: {
      title: "Redis Cluster: hash tags",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags",
    },
    rows: ["C-P07"],
  },
  messages: {
    crossed: "{name} of {program} lies in another slot than {first}: a Cluster answers CROSSSLOT",
    several: {
      text: "{program} declares {count} keys and the slot rule {rule}",
      help: "Declare same-hash-tag where keys share a tag.",
    },
  },
  on: {
    Program({ entry, name: program }, { report }) {
      if (entry === undefined) return;
      const rule = entry.slotRule?.value;
      const [first, ...others] = entry.keys;
      if (first === undefined || others.length === 0) {
        if (
          rule !== undefined &&
          rule !== (first === undefined ? "none" : "single-key") &&
          entry.place("keys") !== undefined
        ) {
          if (first === undefined || rule === "none")
            report("several", { program, count: entry.keys.length, rule }, entry.slotRule!.at);
        }
        return;
      }
      if (rule === "single-key" || rule === "none") {
        report("several", { program, count: entry.keys.length, rule }, entry.slotRule!.at, {
          related: [{ at: others[0]!.at, message: "a second key" }],
        });
      }
      for (const key of others) {
        if (entry.place(`keys/${entry.keys.indexOf(key)}/pattern`) === undefined) continue;
        if (sameSlot(first.pattern.value, key.pattern.value)) continue;
        report("crossed", { name: key.name.value, program, first: first.name.value }, key.pattern.at, {
          related: [{ at: first.pattern.at, message: "the first key" }],
        });
      }
    },
  },
});
