/**
 * `import validate from "…/x.schema.json?validate"`: JSON Schemas become validation code at build time, because compiling
 * one with ajv costs more than the whole start of the program. One function serves esbuild and vitest. So it is with data.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import Ajv from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";

const SUFFIX = "?validate";

export function validatorCode(file) {
  const ajv = new Ajv({
    allErrors: true,
    verbose: false,
    strict: false,
    code: { source: true, esm: true, lines: false },
  });
  return folded(standaloneCode(ajv, ajv.compile(bare(JSON.parse(readFileSync(file, "utf8"))))));
}

const ANNOTATIONS = ["description", "markdownDescription", "examples", "default"];

const isAnyWord = (schema) => JSON.stringify(schema) === '{"type":"string"}';
const isNoOffer = (schema) => schema.enum?.every((word) => typeof word === "string") !== true;

/** A schema without what judges nothing; names of properties stay, whatever they are. */
function bare(schema, named = false) {
  if (schema === null || typeof schema !== "object") return schema;
  if (Array.isArray(schema)) return schema.map((item) => bare(item));
  // words that an editor offers, among all that there may be
  if (!named && schema.anyOf?.some(isAnyWord) && !schema.anyOf.every(isNoOffer))
    return bare(Object.assign({}, schema, { anyOf: schema.anyOf.filter(isNoOffer) }));
  const entries = Object.entries(schema).filter(([key]) => named || !ANNOTATIONS.includes(key));
  return Object.fromEntries(
    entries.map(([key, value]) => [key, bare(value, !named && ["properties", "definitions"].includes(key))]),
  );
}

/** How ajv notes an error, a dozen lines each time; nobody reads the path within the schema. */
const NOTED =
  /const (err\d+) = \{instancePath(?::((?:(?!,schemaPath).)*))?,schemaPath:"[^"]*",keyword:"(\w+)",params:(\{(?:(?!,message:).)*\}),message:((?:(?!\};if\(vErrors|,propertyName:\w+\};).)*)(?:,propertyName:\w+)?\};if\(vErrors === null\)\{vErrors = \[\1\];\}else \{vErrors\.push\(\1\);\}errors\+\+;/g;

/** Validation code that notes its errors by one function: a third less to read at every start. */
function folded(code) {
  const short = code.replace(
    NOTED,
    (_, _error, path = "instancePath", keyword, params, message) =>
      `vErrors = noted(vErrors, ${path}, "${keyword}", ${params}, ${message});errors++;`,
  );
  return `${short}
function noted(errors, instancePath, keyword, params, message) {
  const error = { instancePath, keyword, params, message };
  if (errors === null) return [error];
  errors.push(error);
  return errors;
}`;
}

/** `import data from "…/x.json?data"`: a function that parses the data, which most runs need late or never. */
const DATA = "?data";
const dataText = (file) => JSON.stringify(JSON.parse(readFileSync(file, "utf8")));
const inlineData = (file) => `export default () => JSON.parse(${JSON.stringify(dataText(file))});`;

/** A plugin that makes modules of JSON files whose import ends in a suffix. */
function esbuildJson(name, suffix, contents) {
  return {
    name,
    setup(build) {
      build.onResolve({ filter: new RegExp(`\\.json\\${suffix}$`) }, (args) => ({
        path: resolve(args.resolveDir, args.path.slice(0, -suffix.length)),
        namespace: name,
      }));
      build.onLoad({ filter: /.*/, namespace: name }, (args) => ({
        contents: contents(args.path),
        loader: "js",
        resolveDir: process.cwd(),
        watchFiles: [args.path],
      }));
    },
  };
}

/** The data stand in the bundle. */
export const esbuildData = esbuildJson("data", DATA, inlineData);

/** The data stand in a file of their own beside the bundle, of ASCII, which is read when they are asked for. */
export const esbuildDataFiles = (folder) =>
  esbuildJson("data", DATA, (file) => {
    const name = `data-${basename(file, ".json")}.json`;
    writeFileSync(join(folder, name), asAscii(dataText(file)));
    return readData(name);
  });

/** JSON in which every character beyond ASCII is escaped: it can be read as Latin-1, several times faster than as UTF-8. */
export const asAscii = (json) =>
  json.replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** A module whose default export reads a JSON file beside the bundle. */
export const readData = (name) =>
  `const { readFileSync } = require("node:fs");
   export default () => JSON.parse(readFileSync(__dirname + ${JSON.stringify(`/${name}`)}, "latin1"));`;

export const esbuildValidators = esbuildJson("validator", SUFFIX, validatorCode);

export function viteValidators() {
  return {
    name: "validators",
    enforce: "pre",
    resolveId(id, importer) {
      if (importer === undefined) return undefined;
      const file = (suffix) => resolve(importer, "..", id.slice(0, -suffix.length));
      if (id.endsWith(SUFFIX)) return `\0${file(SUFFIX)}.validator.js`;
      if (id.endsWith(DATA)) return `\0${file(DATA)}.data.js`;
      return undefined;
    },
    load(id) {
      if (id.startsWith("\0") && id.endsWith(".validator.js"))
        return validatorCode(id.slice(1, -".validator.js".length));
      if (id.startsWith("\0") && id.endsWith(".data.js")) return inlineData(id.slice(1, -".data.js".length));
      return undefined;
    },
  };
}
