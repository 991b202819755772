/** The sources as code that a code mutant can be switched on in: one bundle of everything but the rules, each rule apart. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { build, transform } from "esbuild";
import { sources } from "../../src/dev/bundle.mjs";

const SHARED = ["src/model", "src/text", "src/document", "src/engine"];

/** Paths of files below a folder that end so, relative to the root, sorted. */
export function filesBelow(root, folder, ending = ".ts") {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile() && e.name.endsWith(ending) && !e.name.endsWith(".d.ts"))
    .map((e) => join(e.parentPath, e.name).slice(root.length + 1))
    .sort();
}

/** Paths of the rules' files. */
export function ruleFiles(root) {
  return filesBelow(root, "rules").filter((f) => f !== "rules/index.ts");
}

/** `rules/k8s/x.ts` -> `k8s/x` */
export const ruleId = (file) => file.replace(/^rules\/|\.ts$/g, "");

/** Everything below the rules: the proof, and by path the modules that a rule can import. */
export async function loadBase(root) {
  const shared = SHARED.flatMap((folder) => filesBelow(root, folder));
  const lines = shared.map((f, i) => `import * as m${i} from "./${f.replace(/ts$/, "js")}";`);
  const outfile = join(root, "dist/stryker/base.cjs");
  mkdirSync(dirname(outfile), { recursive: true });
  await build({
    ...sources,
    stdin: {
      contents: `${lines.join("\n")}
        export * from "./test/stryker/proof.js";
        export const modules = { ${shared.map((f, i) => `${JSON.stringify(f)}: m${i}`).join(",\n")} };`,
      resolveDir: root,
    },
    absWorkingDir: root,
    outfile,
  });
  return evaluateBase(root);
}

/** The bundle that was built last, evaluated anew. */
export function evaluateBase(root) {
  const require = createRequire(import.meta.url);
  const outfile = join(root, "dist/stryker/base.cjs");
  delete require.cache[outfile];
  return require(outfile);
}

/** A rule's file as a function that evaluates it anew: with the mutant that is active then, on the modules of a bundle. */
export async function compileRule(file, text, shared) {
  const { code } = await transform(text, { loader: "ts", format: "cjs", target: "node20" });
  const evaluate = new Function("require", "module", "exports", code);
  return (modules = shared) => {
    const require = (name) => {
      const path = join(dirname(file), name).replace(/js$/, "ts");
      const found = modules[path];
      if (found === undefined) throw new Error(`${file} imports ${path}`);
      return found;
    };
    const module = { exports: {} };
    evaluate(require, module, module.exports);
    return { ...module.exports.default, id: ruleId(file) };
  };
}

export const readText = (root, file) => readFileSync(join(root, file), "utf8");

/** The tree of a base by name. */
export function readBase(root) {
  const known = new Map();
  return (name) => {
    let tree = known.get(name);
    if (tree === undefined) {
      const folder = join(root, "fixtures", name);
      tree = new Map(filesBelow(folder, "", "").map((f) => [f, readFileSync(join(folder, f))]));
      known.set(name, tree);
    }
    return tree;
  };
}
