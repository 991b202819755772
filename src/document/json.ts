/** JSON as a tree with places; syntax faults as data. */
import { type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { TextView } from "../text/source.js";

/** A node of the tree; offsets are those of the view's text. */
export interface JsonNode {
  readonly type: "object" | "array" | "property" | "string" | "number" | "boolean" | "null";
  readonly value?: unknown;
  readonly offset: number;
  readonly length: number;
  readonly children?: readonly JsonNode[];
}

export interface JsonFault {
  readonly message: string;
  readonly offset: number;
  readonly length: number;
}

export interface JsonDocument {
  readonly view: TextView;
  /** undefined: there is no value in the text. */
  readonly root: JsonNode | undefined;
  readonly errors: readonly JsonFault[];
}

/** The parser recurses: deeper texts are refused before they reach it. */
const MAX_DEPTH = 200;

/** Parses strict JSON. Never throws. */
export function parseJson(view: TextView): JsonDocument {
  const deep = tooDeep(view.text);
  if (deep >= 0) return { view, root: undefined, errors: [{ message: "nested too deeply", offset: deep, length: 1 }] };
  const text = view.text.startsWith("\ufeff") ? ` ${view.text.slice(1)}` : view.text;
  const found: ParseError[] = [];
  const root = parseTree(text, found, { disallowComments: true, allowTrailingComma: false });
  const errors = found.map((e) => ({
    message: said(printParseErrorCode(e.error)),
    offset: e.offset,
    length: e.length,
  }));
  return { view, root: root as JsonNode | undefined, errors };
}

/** `CommaExpected` → `comma expected`. */
function said(code: string): string {
  return code.replace(/(?!^)([A-Z])/g, " $1").toLowerCase();
}

/** Where the nesting passes the limit, or -1. */
function tooDeep(text: string): number {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 34) {
      for (i++; i < text.length && text.charCodeAt(i) !== 34 && text.charCodeAt(i) !== 10; i++) {
        if (text.charCodeAt(i) === 92) i++;
      }
    } else if (c === 123 || c === 91) {
      if (++depth > MAX_DEPTH) return i;
    } else if (c === 125 || c === 93) depth--;
  }
  return -1;
}
