/** The sources as one CommonJS bundle: for the builds, and for tools that run a part of them. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";
import { esbuildData, esbuildValidators } from "./validators.mjs";

const root = join(import.meta.dirname, "../..");

/** Its main entry is UMD, which cannot be bundled; that what nobody uses of it can be left out, it does not say. */
export const jsonc = {
  name: "jsonc",
  setup(b) {
    const folder = join(root, "node_modules/jsonc-parser/lib/esm");
    b.onResolve({ filter: /^jsonc-parser$/ }, () => ({ path: join(folder, "main.js"), sideEffects: false }));
    b.onResolve({ filter: /^\.\/(impl\/)?\w[\w-]*$/ }, (args) =>
      args.importer.startsWith(folder)
        ? { path: `${join(args.resolveDir, args.path)}.js`, sideEffects: false }
        : undefined,
    );
  },
};

/** Options of esbuild for a part of the sources that runs as it is, with the heavy libraries as packages. */
export const sources = {
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  // Node 20 copies objects by spread slowly
  supported: { "object-rest-spread": false },
  external: ["ts-morph", "web-tree-sitter", "luaparse", "@dagrejs/dagre"],
  define: { "import.meta.dirname": "__dirname" },
  plugins: [jsonc, esbuildData, esbuildValidators],
  logLevel: "error",
};

/** What a module of exports of the sources exports, bundled in memory; paths are relative to the root. */
export async function loadSources(contents, options = {}) {
  const { outputFiles } = await build({
    ...sources,
    stdin: { contents, resolveDir: root, loader: "ts" },
    write: false,
    ...options,
  });
  const module = { exports: {} };
  const run = new Function("module", "exports", "require", "__dirname", outputFiles[0].text);
  run(module, module.exports, createRequire(import.meta.url), join(root, "dist"));
  return module.exports;
}
