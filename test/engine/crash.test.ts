import { expect, it } from "vitest";
import { prepareParsers } from "../../src/cli/parsers.js";
import { check } from "../../src/contract/check.js";
import { memoryHost } from "../../src/contract/memory.js";
import { defineRule, type Rule } from "../../src/engine/rule.js";
import { fixtureBase } from "../support.js";

type EntityKind = Extract<keyof Rule["on"], string>;

const KINDS: readonly EntityKind[] = [
  "Contract",
  "File",
  "Workload",
  "Container",
  "Service",
  "Server",
  "Conf",
  "Script",
];

/** A rule that cannot be right about anything. */
function broken(kind: EntityKind): Rule {
  const rule = defineRule({
    severity: "error",
    docs: {
      summary: "s",
      why: "w",
      fix: "f",
      bad: "",
      good: "",
      source: { title: "t", url: "https://example.org" },
      rows: [],
    },
    messages: { never: "never" },
    on: {
      [kind]: () => {
        throw new TypeError("a fault of the rule");
      },
    },
  });
  return Object.assign({}, rule, { id: `test/${kind.toLowerCase()}` }) as Rule;
}

it.each([...KINDS, "Program", "LuaScript", "ProgramSet", "Plane"] as EntityKind[])(
  "a rule that crashes on a %s is said with a file",
  async (kind) => {
    const host = memoryHost(fixtureBase("redis-lab")!);
    const { result } = await check(host, ["/tree"], {
      rules: [broken(kind)],
      today: "2026-11-29",
      version: "0.0.0",
      prepare: prepareParsers,
    });
    expect(result.crashes.length).toBeGreaterThan(0);
    for (const crash of result.crashes) {
      expect(typeof crash.file).toBe("string");
      expect(crash.file).not.toBe("");
      expect(crash.error.message).toBe("a fault of the rule");
    }
  },
);
