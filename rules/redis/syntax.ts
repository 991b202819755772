import { defineRule } from "../../src/engine/rule.js";
import { findingsOf, weightOf } from "../../src/model/redis/conf-owner.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "Every redis.conf and sentinel.conf can be read.",
    why: "The server exits at the first line that it cannot split into words.",
    fix: "Close the quote, or quote the whole value; store the file as UTF-8 without a byte order mark.",
    bad: 'masterauth "two words\n',
    good: 'masterauth "two words"\n',
    source: {
      title: "Redis: configuration file, arguments and quotes",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/config/",
    },
    rows: ["C-R18"],
  },
  messages: {
    syntax: "{what}",
    unreadable: { text: "{reason}", help: "A file is UTF-8 text that the check may read, below its root." },
  },
  on: {
    File(file, { report }) {
      if (file.kind === "conf" && file.fault !== undefined)
        report("unreadable", { reason: file.fault }, file.source.span(0, 0));
    },
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      if (load === undefined) return;
      for (const f of findingsOf(load, "redis/syntax", contract.declared)) {
        report("syntax", { what: f.message }, f.at, {
          severity: weightOf(f, contract.declared) ?? (f.class === "fatal" ? undefined : "warning"),
        });
      }
    },
  },
});
