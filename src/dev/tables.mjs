/**
 * `npm run tables -- commands build|dump|carry …`, `npm run tables -- directives build|carry …`: the tables in `schemas/redis`
 * from recordings, and recordings from running servers. See the two builders for their arguments.
 */
import { loadSources } from "./bundle.mjs";

const BUILDERS = { commands: ["redis-tables", "redisTables"], directives: ["redis-directives", "redisDirectives"] };

const [what, ...args] = process.argv.slice(2);
const builder = Object.hasOwn(BUILDERS, what ?? "") ? BUILDERS[what] : undefined;
if (builder === undefined) {
  console.error(`usage: npm run tables -- ${Object.keys(BUILDERS).join("|")} ACTION …`);
  process.exit(2);
}
const [file, name] = builder;
const builders = await loadSources(`export * from "./src/dev/${file}.js";`);
try {
  await builders[name](args);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}
