import { defineRule } from "../../src/engine/rule.js";

/** Kinds whose rules say it themselves: `yaml/syntax`, `redis/syntax`, `acl/syntax`, `program/syntax`. */
const SAID_ELSEWHERE = new Set(["kubernetes", "yaml", "conf", "acl", "lua", "json", "java", "typescript"]);

export default defineRule({
  severity: "error",
  inferred: "info",
  docs: {
    summary: "Every file of a contract can be read.",
    why: "What a file says that cannot be read is unknown: every check that needs it is blind, and none of them says so.",
    fix: "Store the file as UTF-8 text below the directory of the contract file, readable for whoever checks.",
    bad: "registries/images.properties -> ../../../shared/images.properties\n",
    good: "registries/images.properties\n",
    source: {
      title: "The Unicode standard: UTF-8",
      url: "https://www.unicode.org/faq/utf_bom.html",
    },
    rows: ["C-Q02"],
  },
  messages: {
    unreadable: { text: "{reason}", help: "A file is UTF-8 text that the check may read, below its root." },
  },
  on: {
    File(file, { report }) {
      if (file.fault !== undefined && !SAID_ELSEWHERE.has(file.kind))
        report("unreadable", { reason: file.fault }, file.source.span(0, 0));
    },
  },
});
