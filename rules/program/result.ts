import { defineRule } from "../../src/engine/rule.js";
import type { Result } from "../../src/model/program/effects.js";

type Declared = string | number | boolean | null;

export default defineRule({
  severity: "error",
  inferred: "off",
  docs: {
    summary: "What a script answers is among the results that its manifest declares.",
    why: "Callers branch on the declared values: an answer that is none of them falls into the default branch, and a list of another length is read with its parts shifted.",
    fix: "Declare every value that the script can answer, and one item for each part of a list; or change the script.",
    bad: '"result": { "type": "string", "values": ["HELD"] }   and in the script: return "ACQUIRED"\n',
    good: '"result": { "type": "string", "values": ["ACQUIRED", "HELD"] }\n',
    source: {
      title: "Redis: Lua to RESP type conversion",
      url: "https://redis.io/docs/latest/develop/programmability/lua-api/#lua-to-resp2-type-conversion",
    },
    rows: ["C-P01"],
  },
  messages: {
    value: "{program} answers {answer}, which is none of the values that its manifest declares",
    longer: "{program} answers a list of {count}, and its manifest declares {declared} items",
    shorter: "{program} never answers more than {count} items, and its manifest declares {declared}",
  },
  on: {
    Program({ entry, script, name: program }, { report }) {
      const effects = script?.effects;
      const result = entry?.result;
      if (effects === undefined || result === undefined) return;
      const { values, items } = result;
      if (values !== undefined && values.length > 0) {
        const said = new Set<string>();
        for (const path of effects.results) {
          const answer = path.exit === "return" ? plain(path.result) : undefined;
          if (answer === undefined || said.has(String(answer)) || values.some((v) => same(v.value, answer))) continue;
          said.add(String(answer));
          const related = [{ at: result.at, message: "the declared result" }];
          report("value", { program, answer: JSON.stringify(answer) }, path.at, { related });
        }
      }
      // one item may stand for all of a list of any length
      if (items === undefined || items.length < 2) return;
      const lists = effects.results.flatMap(({ result: r, at }) => (r.kind === "list" ? [{ list: r, at }] : []));
      // a list ends for the caller where a nil stands
      const sized = lists.filter(({ list }) => !list.open && !list.items.some(isNil));
      const longer = sized.find(({ list }) => list.items.length > items.length);
      const related = [{ at: result.at, message: "the declared result" }];
      if (longer !== undefined) {
        const count = longer.list.items.length;
        report("longer", { program, count, declared: items.length }, longer.at, { related });
      } else if (sized.length === lists.length && effects.results.every((r) => isClear(r.result)) && lists.length > 0) {
        const count = Math.max(...sized.map(({ list }) => list.items.length));
        if (count < items.length)
          report("shorter", { program, count, declared: items.length }, entry?.place("result/items") ?? result.at);
      }
    },
  },
});

/** The answer as its caller gets it, where the text says it; undefined where it does not, for nothing at all, or for an error. */
function plain(result: Result): string | number | undefined {
  if (result.kind === "status") return result.text;
  if (result.kind !== "literal") return undefined;
  const { value } = result;
  if (value === true) return 1;
  if (value === false || value === null) return undefined;
  return typeof value === "number" ? Math.trunc(value) : value;
}

function same(declared: Declared, answer: string | number): boolean {
  if (typeof declared === "boolean") return answer === Number(declared);
  return String(declared) === String(answer);
}

function isNil(term: { readonly kind: string; readonly value?: unknown }): boolean {
  return term.kind === "literal" && (term.value === null || term.value === false);
}

function isClear(result: Result): boolean {
  return result.kind === "list" || result.kind === "error" || result.kind === "literal";
}
