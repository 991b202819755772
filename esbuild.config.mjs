/** Builds dist/: the command's bundle, the library, the lazily loaded parts. `--dev` builds the generators instead. */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { build } from "esbuild";
import { esbuildRaw, esbuildValidators } from "./src/dev/validators.mjs";

const dev = process.argv.includes("--dev");

/** Heavy libraries that most runs never need: bundles of their own, required when first used. */
const LAZY = ["web-tree-sitter", "@dagrejs/dagre", "luaparse", "vscode-languageserver/node.js"].filter((name) =>
  existsSync(
    `node_modules/${name
      .split("/")
      .slice(0, name.startsWith("@") ? 2 : 1)
      .join("/")}`,
  ),
);
const chunk = (name, extension) => `lazy-${name.replace(/^@/, "").replace(/[^a-z]+/gi, "-")}.${extension}`;

const lazy = (extension) => ({
  name: "lazy",
  setup(b) {
    b.onResolve({ filter: /.*/ }, (args) =>
      args.kind === "dynamic-import" && LAZY.includes(args.path)
        ? { path: `./${chunk(args.path, extension)}`, external: true }
        : undefined,
    );
  },
});

const common = {
  bundle: true,
  platform: "node",
  // Node 20 copies objects by spread slowly; everything else of ES2022 it does well
  supported: { "object-rest-spread": false },
  target: "node20",
  external: ["ts-morph"],
  alias: {
    // its main entry is UMD, which cannot be bundled
    "jsonc-parser": "./node_modules/jsonc-parser/lib/esm/main.js",
    // its ES module copies objects by spread in the hot path, which Node 20 does slowly
    "js-yaml": "./node_modules/js-yaml/dist/js-yaml.cjs.js",
  },
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  logLevel: "warning",
  plugins: [esbuildRaw, esbuildValidators, lazy("mjs")],
};
const cjs = {
  ...common,
  format: "cjs",
  // `import()` becomes require: a module loader for one file would cost more than the file
  supported: { ...common.supported, "dynamic-import": false },
  plugins: [esbuildRaw, esbuildValidators, lazy("cjs")],
  define: { "import.meta.dirname": "__dirname" },
};

if (dev) {
  await build({
    ...cjs,
    entryPoints: ["src/dev/main.ts"],
    outfile: "dist/dev.cjs",
    external: [...common.external, "vitest", "esbuild"],
  });
} else {
  mkdirSync("dist", { recursive: true });
  await Promise.all([
    build({ ...cjs, entryPoints: ["src/cli/main.ts"], outfile: "dist/quorumlint.cjs" }),
    build({ ...common, format: "esm", entryPoints: ["src/index.ts"], outfile: "dist/index.js" }),
    ...LAZY.flatMap((name) => [
      build({
        ...cjs,
        plugins: [],
        stdin: { contents: `module.exports = require(${JSON.stringify(name)});`, resolveDir: process.cwd() },
        outfile: `dist/${chunk(name, "cjs")}`,
      }),
      build({
        ...common,
        plugins: [],
        format: "esm",
        stdin: {
          contents: `import * as all from ${JSON.stringify(name)}; export * from ${JSON.stringify(name)}; export default all.default ?? all;`,
          resolveDir: process.cwd(),
        },
        outfile: `dist/${chunk(name, "mjs")}`,
        logLevel: "error",
      }),
    ]),
  ]);
  for (const [from, to] of [
    ["web-tree-sitter/web-tree-sitter.wasm", "web-tree-sitter.wasm"],
    ["tree-sitter-bash/tree-sitter-bash.wasm", "tree-sitter-bash.wasm"],
    ["tree-sitter-java/tree-sitter-java.wasm", "tree-sitter-java.wasm"],
    ["mutation-testing-elements/dist/mutation-test-elements.js", "mutation-test-elements.js"],
  ]) {
    copyFileSync(`node_modules/${from}`, `dist/${to}`);
  }
}
