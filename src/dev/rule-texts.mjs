/**
 * Takes what rules say (`docs`, `messages`) out of the command's bundle: a run that finds nothing says nothing, and reading a
 * hundred rules' texts is a tenth of its start. They stand in a file beside the bundle, read when the first is asked for.
 */
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import ts from "typescript";
import { loadSources } from "./bundle.mjs";
import { asAscii, readData } from "./validators.mjs";

const TEXTS = ["docs", "messages"];
const FILE = "rule-texts.json";

/** What every rule says, by id: from the rules themselves. Throws where a text is not plain data. */
async function textsOfRules() {
  const { rules } = await loadSources('export { rules } from "./rules/index.js";');
  const texts = {};
  for (const rule of rules) {
    const own = Object.fromEntries(TEXTS.map((name) => [name, rule[name]]));
    const plain = JSON.parse(JSON.stringify(own));
    if (!isDeepStrictEqual(plain, own)) throw new Error(`rules/${rule.id}.ts: docs and messages must be plain data`);
    texts[rule.id] = plain;
  }
  return texts;
}

/** The source of a rule's file with its texts asked for instead of written. */
export function withoutTexts(id, source) {
  const file = ts.createSourceFile(`${id}.ts`, source, ts.ScriptTarget.Latest);
  const exported = file.statements.find((s) => ts.isExportAssignment(s));
  const spec = exported?.expression.arguments?.[0];
  if (spec === undefined || !ts.isObjectLiteralExpression(spec))
    throw new Error(`rules/${id}.ts exports no defineRule({…})`);
  let text = source;
  for (const property of [...spec.properties].reverse()) {
    const name = property.name?.text;
    if (!TEXTS.includes(name)) continue;
    const getter = `get ${name}(): any { return ruleTexts()[${JSON.stringify(id)}].${name}; }`;
    text = text.slice(0, property.getStart(file)) + getter + text.slice(property.end);
  }
  return `import ruleTexts from "rule-texts";\n${text}`;
}

/** The source of any file: of a rule without its texts. */
export function withoutRuleTexts(path, source) {
  const id = /^([\w-]+\/[a-z][\w-]*)\.ts$/.exec(
    relative(join(process.cwd(), "rules"), path).replaceAll("\\", "/"),
  )?.[1];
  return id === undefined ? source : withoutTexts(id, source);
}

/** Writes what rules say into a folder, and makes `withoutRuleTexts` find it there. */
export function esbuildRuleTexts(folder) {
  let written;
  return {
    name: "rule-texts",
    setup(b) {
      b.onStart(async () => {
        written ??= textsOfRules().then((texts) => writeFileSync(join(folder, FILE), asAscii(JSON.stringify(texts))));
        await written;
      });
      b.onResolve({ filter: /^rule-texts$/ }, () => ({ path: "rule-texts", namespace: "rule-texts" }));
      b.onLoad({ filter: /.*/, namespace: "rule-texts" }, () => ({
        contents: `${readData(FILE).replace("export default", "const read =")}
          let texts;
          export default () => (texts ??= read());`,
        loader: "js",
      }));
    },
  };
}
