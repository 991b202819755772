/**
 * Key patterns of a program set (shapes: key patterns): `{name}` is a hash tag with varying content — the braces are part of
 * the key —, `*` varies, the rest is literal.
 */
import { bytesOf } from "../../text/bytes.js";
import { compileGlob, type Glob, globIncludes, keyPatternGlob } from "../redis/glob.js";
import { keySlot } from "./slot.js";

export interface KeyPattern {
  readonly text: string;
  /** What is wrong with it, or undefined. */
  readonly fault: "empty" | "unbalanced-brace" | "empty-tag" | undefined;
  /**
   * What decides the slot: the text in the first braces (a name, or literal text), or the whole key when there is no
   * tag; `whole` without `*` is one key.
   */
  readonly slot: { readonly kind: "tag"; readonly name: string } | { readonly kind: "whole"; readonly varies: boolean };
}

export function readKeyPattern(text: string): KeyPattern {
  const open = text.indexOf("{");
  const close = open < 0 ? -1 : text.indexOf("}", open + 1);
  let fault: KeyPattern["fault"];
  if (text === "") fault = "empty";
  else if (!balanced(text)) fault = "unbalanced-brace";
  else if (text.includes("{}")) fault = "empty-tag";
  if (open >= 0 && close > open + 1) return { text, fault, slot: { kind: "tag", name: text.slice(open + 1, close) } };
  return { text, fault, slot: { kind: "whole", varies: text.includes("*") } };
}

function balanced(text: string): boolean {
  let inside = false;
  for (const c of text) {
    if (c === "{") {
      if (inside) return false;
      inside = true;
    } else if (c === "}") {
      if (!inside) return false;
      inside = false;
    }
  }
  return !inside;
}

/**
 * Whether keys of two patterns, for the same varying contents, share a slot: the same tag, or two whole keys whose computed
 * slots agree. Patterns without a tag that vary do not share one.
 */
export function sameSlot(a: string, b: string): boolean {
  const left = readKeyPattern(a).slot;
  const right = readKeyPattern(b).slot;
  if (left.kind === "tag" && right.kind === "tag") return left.name === right.name;
  if (left.kind === "whole" && right.kind === "whole") {
    if (left.varies || right.varies) return a === b;
    return keySlot(a) === keySlot(b);
  }
  return false;
}

const globs = new WeakMap<readonly string[], readonly Glob[]>();

/**
 * Whether one of the ACL key globs covers every key of the pattern: language inclusion, decided. undefined: the globs
 * are too intricate for the bounded search.
 */
export function aclCovers(acl: readonly string[], pattern: string): boolean | undefined {
  let compiled = globs.get(acl);
  if (compiled === undefined) {
    compiled = acl.map((g) => compileGlob(bytesOf(g)));
    globs.set(acl, compiled);
  }
  return globIncludes(compiled, keyPatternGlob(pattern));
}

/** Whether an ACL glob surely matches keys that none of the patterns has. */
export function aclReaches(patterns: readonly string[], acl: string): boolean {
  const own = compileGlob(bytesOf(acl));
  return globIncludes(patterns.map(keyPatternGlob), own) === false;
}

/** Whether two patterns can name the same key, by comparing literal beginnings and endings; true when in doubt. */
export function mayOverlap(a: string, b: string): boolean {
  const [x, y] = [edges(a), edges(b)];
  const start = Math.min(x.start.length, y.start.length);
  if (x.start.slice(0, start) !== y.start.slice(0, start)) return false;
  const end = Math.min(x.end.length, y.end.length);
  if (end > 0 && x.end.slice(-end) !== y.end.slice(-end)) return false;
  if (x.fixed && y.fixed) return a === b;
  return true;
}

function edges(pattern: string): { start: string; end: string; fixed: boolean } {
  const first = /[*{]/.exec(pattern)?.index;
  if (first === undefined) return { start: pattern, end: pattern, fixed: true };
  const last = Math.max(pattern.lastIndexOf("*"), pattern.lastIndexOf("}"));
  const start = pattern[first] === "{" ? pattern.slice(0, first + 1) : pattern.slice(0, first);
  return { start, end: pattern[last] === "}" ? pattern.slice(last) : pattern.slice(last + 1), fixed: false };
}
