/**
 * `import validate from "…/x.schema.json?validate"`: JSON Schemas become validation code at build time, because compiling
 * one with ajv costs more than the whole start of the program. One function serves esbuild and vitest.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
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
  const schema = JSON.parse(readFileSync(file, "utf8"));
  return standaloneCode(ajv, ajv.compile(schema));
}

/** `import text from "…/x.json?raw"`: data as one string, parsed when first needed (vite knows the suffix by itself). */
export const esbuildRaw = {
  name: "raw",
  setup(build) {
    build.onResolve({ filter: /\?raw$/ }, (args) => ({
      path: resolve(args.resolveDir, args.path.slice(0, -"?raw".length)),
      namespace: "raw",
    }));
    build.onLoad({ filter: /.*/, namespace: "raw" }, (args) => ({
      contents: JSON.stringify(JSON.parse(readFileSync(args.path, "utf8"))),
      loader: "text",
      watchFiles: [args.path],
    }));
  },
};

export const esbuildValidators = {
  name: "validators",
  setup(build) {
    build.onResolve({ filter: /\.json\?validate$/ }, (args) => ({
      path: resolve(args.resolveDir, args.path.slice(0, -SUFFIX.length)),
      namespace: "validator",
    }));
    build.onLoad({ filter: /.*/, namespace: "validator" }, (args) => ({
      contents: validatorCode(args.path),
      loader: "js",
      resolveDir: process.cwd(),
      watchFiles: [args.path],
    }));
  },
};

export function viteValidators() {
  return {
    name: "validators",
    enforce: "pre",
    resolveId(id, importer) {
      if (id.endsWith(SUFFIX) && importer !== undefined)
        return `\0${resolve(importer, "..", id.slice(0, -SUFFIX.length))}.validator.js`;
      return undefined;
    },
    load(id) {
      if (id.startsWith("\0") && id.endsWith(".validator.js"))
        return validatorCode(id.slice(1, -".validator.js".length));
      return undefined;
    },
  };
}
