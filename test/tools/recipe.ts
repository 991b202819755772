/** Code blocks of the documentation, so that tests run what people copy. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support.js";

/** The block that follows `<!-- recipe: NAME -->` in a page of `docs/`. */
export function recipe(page: string, name: string): string {
  const text = readFileSync(join(root, "docs", page), "utf8");
  const block = new RegExp(`<!-- recipe: ${name} -->\\n\`\`\`\\w*\\n([\\s\\S]*?)\\n\`\`\`\\n`).exec(text)?.[1];
  if (block === undefined) throw new Error(`docs/${page} has no recipe "${name}"`);
  return `${block}\n`;
}
