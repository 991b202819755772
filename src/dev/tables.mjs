/**
 * `npm run tables -- commands build|dump|carry …`, `npm run tables -- directives build|carry …`: the tables in `schemas/redis`
 * from recordings, and recordings from running servers. See the two builders for their arguments.
 */
import { createRequire } from "node:module";
import { build } from "esbuild";
import { esbuildData, esbuildValidators } from "./validators.mjs";

const BUILDERS = { commands: ["redis-tables", "redisTables"], directives: ["redis-directives", "redisDirectives"] };

const [what, ...args] = process.argv.slice(2);
const builder = Object.hasOwn(BUILDERS, what ?? "") ? BUILDERS[what] : undefined;
if (builder === undefined) {
  console.error(`usage: npm run tables -- ${Object.keys(BUILDERS).join("|")} ACTION …`);
  process.exit(2);
}
const [file, name] = builder;
const { outputFiles } = await build({
  entryPoints: [`src/dev/${file}.ts`],
  bundle: true,
  write: false,
  format: "cjs",
  platform: "node",
  target: "node20",
  plugins: [esbuildData, esbuildValidators],
});
const module = { exports: {} };
new Function("module", "exports", "require", outputFiles[0].text)(
  module,
  module.exports,
  createRequire(import.meta.url),
);
try {
  await module.exports[name](args);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}
