/** HTML as text: everything that comes from a file goes through `esc`. */
import { sha256 } from "../../model/redis/sha256.js";
import { visible } from "../shared.js";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A text for an element or a quoted attribute; control characters become their pictures, line breaks stay. */
export function esc(text: string): string {
  return text
    .split("\n")
    .map((line) => visible(line).replace(/[&<>"']/g, (c) => ENTITIES[c]!))
    .join("\n");
}

/** A cell of a table head. */
export function th(text: string, scope: "col" | "row" = "col", more = ""): string {
  return `<th scope="${scope}"${more}>${esc(text)}</th>`;
}

/** The head of a column of numbers. */
export function thNumber(text: string): string {
  return th(text, "col", ' class="num"');
}

/** A table that scrolls by itself where it is wider than the page. */
export function table(label: string, head: readonly string[], rows: readonly string[], name = ""): string {
  const style = name === "" ? "" : ` class="${name}"`;
  return `<div class="scroll" role="region" tabindex="0" aria-label="${esc(label)}"><table${style}><thead><tr>${head.join("")}</tr></thead><tbody>${rows.join("\n")}</tbody></table></div>`;
}

/** A part of the page that can be folded. */
export function details(summary: string, body: string, open = false): string {
  return `<details${open ? " open" : ""}><summary>${summary}</summary>${body}</details>`;
}

/** The source expression that lets a Content Security Policy accept exactly this inline text (of ASCII). */
export function cspHash(text: string): string {
  const hex = sha256(text);
  let bytes = "";
  for (let i = 0; i < hex.length; i += 2) bytes += String.fromCharCode(Number.parseInt(hex.slice(i, i + 2), 16));
  return `'sha256-${btoa(bytes)}'`;
}

/** `only the first 200 of 1,000 users are shown` as a paragraph, where something is left out. */
export function leftOut(shown: number, total: number, what: string): string {
  return total > shown ? `<p class="note">Only the first ${shown} of ${total} ${what} are shown here.</p>` : "";
}
