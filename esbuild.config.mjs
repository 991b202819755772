/**
 * Builds dist/: the command's bundle and its parts, the library, the lazily loaded libraries. `--dev` builds the generators
 * instead. What starts often (`check`, `acl`) is a part of its own, so that it reads only its own code; parts share no state.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { build } from "esbuild";
import { jsonc } from "./src/dev/bundle.mjs";
import { latePart } from "./src/dev/late-part.mjs";
import { esbuildPlainLoops } from "./src/dev/plain-loops.mjs";
import { esbuildRuleTexts, withoutRuleTexts } from "./src/dev/rule-texts.mjs";
import { esbuildData, esbuildDataFiles, esbuildValidators } from "./src/dev/validators.mjs";

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

/** Modules that are a part of their own of the command's bundle; what else is imported when its command runs is one more. */
const PARTS = { "./commands.js": "commands", "./check.js": "check", "./acl.js": "acl" };
const OTHER = "tools";
const parts = {
  name: "parts",
  setup(b) {
    b.onResolve({ filter: /^\.\.?\// }, (args) =>
      args.kind === "dynamic-import" && /[\\/]cli[\\/](?:main|commands)\.ts$/.test(args.importer)
        ? { path: `./part-${PARTS[args.path] ?? OTHER}.cjs`, external: true }
        : undefined,
    );
  },
};
const otherCommands = () =>
  [...readFileSync("src/cli/commands.ts", "utf8").matchAll(/import\("(\.\.?\/[\w/-]+\.js)"\)/g)]
    .map((m) => m[1])
    .filter((path, i, all) => PARTS[path] === undefined && all.indexOf(path) === i)
    .map((path) => `export * from ${JSON.stringify(path)};`)
    .join("\n");

/** commander loads what starts processes, though only its external sub-commands need it: that is a third of its cost. */
const lateProcesses = {
  name: "late-processes",
  setup(b) {
    b.onResolve({ filter: /^node:child_process$/ }, (args) =>
      args.importer.includes("commander") ? { path: args.path, namespace: "late" } : undefined,
    );
    b.onLoad({ filter: /.*/, namespace: "late" }, () => ({
      contents: 'exports.spawn = (...args) => require("child_process").spawn(...args);',
    }));
  },
};

/** esbuild copies objects property by property; the engine's own `Object.assign` is several times faster. */
const SPREAD =
  /([\w$]+)=\(([\w$]+),([\w$]+)\)=>\{for\(var [\w$]+ in \3\|\|=\{\}\)[^{}]*return \2\},([\w$]+)=\(([\w$]+),([\w$]+)\)=>[\w$]+\(\5,[\w$]+\(\6\)\)/;
const fastCopies = {
  name: "fast-copies",
  setup(b) {
    b.initialOptions.write = false;
    b.onEnd(async ({ outputFiles }) => {
      for (const { path, text } of outputFiles ?? []) {
        await writeFile(path, text.replace(SPREAD, "$1=Object.assign,$4=Object.assign"));
      }
    });
  },
};

const common = {
  bundle: true,
  platform: "node",
  // Node 20 copies objects by spread slowly; everything else of ES2022 it does well
  supported: { "object-rest-spread": false },
  target: "node20",
  external: ["ts-morph"],
  minifySyntax: true,
  minifyWhitespace: true,
  minifyIdentifiers: true,
  // the launcher reads it as Latin-1, which is several times faster than UTF-8
  charset: "ascii",
  legalComments: "none",
  logLevel: "warning",
  plugins: [jsonc, esbuildData, esbuildValidators, lazy("mjs"), fastCopies],
};
const cjs = {
  ...common,
  format: "cjs",
  // `import()` becomes require: a module loader for one file would cost more than the file
  supported: { ...common.supported, "dynamic-import": false },
  plugins: [
    jsonc,
    esbuildPlainLoops(withoutRuleTexts),
    esbuildDataFiles("dist"),
    esbuildRuleTexts("dist"),
    esbuildValidators,
    lazy("cjs"),
    fastCopies,
  ],
  define: { "import.meta.dirname": "__dirname" },
};
/** What bin/quorumlint.js runs: wrapped as it calls it, since wrapping at every start would copy the text once more. */
const launched = {
  ...cjs,
  banner: { js: "(function(exports,require,module,__filename,__dirname){" },
  footer: { js: "})" },
};

/** What analyses programs, which most deployments have none of; the rest of `model/program` says that there are none. */
const EVER =
  "programs|access|catalog|fields|keypattern|keyspecs|knowledge|library|locks|needs|readiness|units|versions";
const EVER_OF_DESCRIPTORS = "drift|imports|recovery|spelling";
const LATE = new RegExp(
  String.raw`^src/(?:model/program/(?!(?:${EVER})\.ts|descriptor/(?:${EVER_OF_DESCRIPTORS})\.ts)|document/(?:java|lua|typescript)\b)`,
);

if (dev) {
  await build({
    ...cjs,
    // it is started without the launcher, which alone can read the wrapped bundles
    minifyIdentifiers: false,
    supported: common.supported,
    plugins: common.plugins,
    entryPoints: ["src/dev/main.ts"],
    outfile: "dist/dev.cjs",
    external: [...common.external, "vitest", "esbuild"],
  });
} else {
  mkdirSync("dist", { recursive: true });
  const analysis = latePart({ entry: "src/cli/check.ts", file: "late-programs.cjs", modules: LATE });
  await Promise.all([
    ...[
      ["part-check", analysis.bundle],
      ["late-programs", analysis.inside],
    ].map(([name, { contents, plugin }]) =>
      build({
        ...launched,
        plugins: [plugin, ...launched.plugins],
        stdin: { contents, resolveDir: process.cwd() },
        outfile: `dist/${name}.cjs`,
      }),
    ),
    build({
      ...launched,
      plugins: [parts, ...launched.plugins],
      entryPoints: ["src/cli/main.ts"],
      outfile: "dist/quorumlint.cjs",
    }),
    ...["commands", "acl"].map((name) =>
      build({
        ...launched,
        plugins: [parts, lateProcesses, ...launched.plugins],
        entryPoints: [`src/cli/${name}.ts`],
        outfile: `dist/part-${name}.cjs`,
      }),
    ),
    build({
      ...launched,
      stdin: { contents: otherCommands(), resolveDir: "src/cli", loader: "ts" },
      outfile: `dist/part-${OTHER}.cjs`,
    }),
    build({
      ...common,
      plugins: [esbuildPlainLoops(), ...common.plugins],
      format: "esm",
      entryPoints: ["src/index.ts"],
      outfile: "dist/index.js",
    }),
    ...LAZY.flatMap((name) => [
      build({
        ...launched,
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
