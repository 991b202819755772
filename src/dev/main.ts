/** Second half of `npm run gen`: what needs the rules themselves. */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { contractFilePage } from "./contract-docs.js";
import { manPage } from "./man-page.js";
import { ruleDocuments } from "./rule-docs.js";
import { writeOrCompare } from "./write.mjs";

async function main(checkOnly: boolean): Promise<number> {
  const docs = await ruleDocuments(process.cwd());
  const pages = new Map([
    ...docs,
    ["man/quorumlint.1", manPage()],
    ["docs/contract-file.md", contractFilePage(readFileSync("schemas/contract.schema.json", "utf8"))],
  ]);
  const stale = [...writeOrCompare(pages, checkOnly), ...orphans(docs, checkOnly)];
  if (!checkOnly) return 0;
  for (const file of stale) console.error(`${file} is not what its sources say; run: npm run gen`);
  return stale.length > 0 ? 1 : 0;
}

/** Pages of rules that are gone. */
function orphans(docs: ReadonlyMap<string, string>, checkOnly: boolean): string[] {
  const out: string[] = [];
  if (!existsSync("docs/rules")) return out;
  for (const entry of readdirSync("docs/rules", { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const name = join(entry.parentPath, entry.name).replaceAll("\\", "/");
    if (docs.has(name)) continue;
    out.push(name);
    if (!checkOnly) rmSync(name);
  }
  return out;
}

main(process.argv.includes("--check")).then((code) => {
  process.exitCode = code;
});
