/**
 * Redis' own glob (`stringmatchlen` of util.c): byte-based, `*` `?` `[…]` `\`, with its corner cases, in bounded time, and
 * language inclusion between globs. The corner cases were recorded from servers (ACL-SEMANTICS §5).
 *
 * Strings here are byte strings (see text/bytes.ts).
 */
import { bytesOf } from "../../text/bytes.js";

const ANY = -1;
const STAR = -2;
/** Elements below this are classes: `CLASS - index`. */
const CLASS = -3;
/** The server gives up on a pattern that nests deeper than this and reports no match. */
const MAX_STARS = 1000;

/** A compiled glob: single-byte elements and stars. */
export class Glob {
  /** Byte value, `-1` any byte, `-2` any bytes, below: a class. */
  readonly elements: readonly number[];
  /** 256 flags per class. */
  readonly classes: readonly Uint8Array[];
  /** false when the server's nesting limit makes the pattern match nothing. */
  readonly usable: boolean;
  #sample: string | false | undefined;

  constructor(elements: readonly number[], classes: readonly Uint8Array[]) {
    this.elements = elements;
    this.classes = classes;
    let stars = 0;
    for (let i = 0; i + 1 < elements.length; i++) if (elements[i] === STAR) stars++;
    this.usable = stars <= MAX_STARS;
  }

  /** Whether element `e` (not a star) takes the byte. */
  takes(e: number, byte: number): boolean {
    if (e >= 0) return e === byte;
    return e === ANY || this.classes[CLASS - e]![byte] === 1;
  }

  /** A string that it matches, with a byte that no key has wherever there is a choice; false: a class takes no byte. */
  get sample(): string | false {
    this.#sample ??= this.#anyText();
    return this.#sample;
  }

  #anyText(): string | false {
    let out = "";
    for (let i = 0; i < this.elements.length; i++) {
      const e = this.elements[i]!;
      const byte = e >= 0 ? e : e === ANY || e === STAR ? 1 : this.classes[CLASS - e]!.indexOf(1);
      if (byte < 0) return false;
      out += String.fromCharCode(byte);
    }
    return out;
  }

  /** The glob matches exactly one string. */
  get literal(): boolean {
    return this.elements.every((e) => e >= 0);
  }
}

/** Compiles a Redis glob; every string is a valid pattern. Linear in the pattern. */
export function compileGlob(pattern: string): Glob {
  const elements: number[] = [];
  const classes: Uint8Array[] = [];
  const known = new Map<string, number>();
  const end = pattern.length;
  let i = 0;
  while (i < end) {
    const c = pattern.charCodeAt(i);
    if (c === 42) {
      if (elements.at(-1) !== STAR) elements.push(STAR);
      i++;
    } else if (c === 63) {
      elements.push(ANY);
      i++;
    } else if (c === 91) {
      const close = classEnd(pattern, i + 1);
      const text = pattern.slice(i + 1, close);
      let index = known.get(text);
      if (index === undefined) {
        index = classes.length;
        known.set(text, index);
        classes.push(classOf(text));
      }
      elements.push(CLASS - index);
      i = close + 1;
    } else if (c === 92 && i + 1 < end) {
      elements.push(pattern.charCodeAt(i + 1));
      i += 2;
    } else {
      elements.push(c);
      i++;
    }
  }
  return new Glob(elements, classes);
}

/** Where the class that starts at `from` (after `[`) ends: at its `]`, or at the end of the pattern. */
function classEnd(pattern: string, from: number): number {
  const end = pattern.length;
  let i = from;
  if (pattern[i] === "^") i++;
  while (i < end) {
    const c = pattern.charCodeAt(i);
    if (c === 92 && end - i >= 2) i += 2;
    else if (c === 93) return i;
    else if (end - i >= 3 && pattern.charCodeAt(i + 1) === 45) i += 3;
    else i++;
  }
  return end;
}

/** The bytes of a class body. Range bounds are compared as signed chars, as the server compiled for x86 does. */
function classOf(body: string): Uint8Array {
  const set = new Uint8Array(256);
  let i = 0;
  const negated = body[0] === "^";
  if (negated) i = 1;
  while (i < body.length) {
    const c = body.charCodeAt(i);
    if (c === 92 && i + 1 < body.length) {
      set[body.charCodeAt(i + 1)] = 1;
      i += 2;
    } else if (i + 2 < body.length && body.charCodeAt(i + 1) === 45) {
      const a = signed(c);
      const b = signed(body.charCodeAt(i + 2));
      for (let v = Math.min(a, b); v <= Math.max(a, b); v++) set[v & 0xff] = 1;
      i += 3;
    } else {
      set[c] = 1;
      i++;
    }
  }
  if (negated) for (let v = 0; v < 256; v++) set[v] = 1 - set[v]!;
  return set;
}

const signed = (byte: number): number => (byte < 128 ? byte : byte - 256);

/** Whether the server's glob matches. The empty string matches only the empty pattern, not `*`. O(pattern × string). */
export function globMatch(glob: Glob, text: string): boolean {
  const { elements, usable } = glob;
  if (text.length === 0) return elements.length === 0;
  if (!usable) return false;
  let i = 0;
  let j = 0;
  let star = -1;
  let resume = 0;
  while (i < text.length) {
    const e = elements[j];
    if (e === STAR) {
      star = j++;
      resume = i;
      if (j === elements.length) return true;
    } else if (e !== undefined && glob.takes(e, text.charCodeAt(i))) {
      i++;
      j++;
    } else if (star >= 0) {
      j = star + 1;
      i = ++resume;
    } else return false;
  }
  while (elements[j] === STAR) j++;
  return j === elements.length;
}

/** A pattern of `text` where every byte is literal. */
export function escapeGlob(text: string): string {
  return text.replace(/[*?[\\]/g, "\\$&");
}

/**
 * The glob of a key pattern as programs declare it: `{name}` is a hash tag with varying content, `*` varies, the rest is
 * literal (shapes: key patterns).
 */
export function keyPatternGlob(pattern: string): Glob {
  const elements: number[] = [];
  const bytes = bytesOf(pattern);
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes.charCodeAt(i);
    if (c === 42) {
      if (elements.at(-1) !== STAR) elements.push(STAR);
    } else if (c === 123) {
      const close = bytes.indexOf("}", i);
      if (close < 0) elements.push(c);
      else {
        elements.push(c, STAR, 125);
        i = close;
      }
    } else elements.push(c);
  }
  return new Glob(elements, []);
}

/** Steps that one inclusion question may take; one step is one state of one subset. */
const BUDGET = 200_000;

/**
 * Whether every non-empty string of `part` matches one of `whole`: language inclusion, decided by exploring `part` against
 * the subsets of states of `whole`. `undefined` when the question is too large for the budget.
 */
export function globIncludes(whole: readonly Glob[], part: Glob): boolean | undefined {
  const candidates = whole.filter((g) => g.usable && !disjointPrefix(g, part));
  if (part.literal) {
    const text = part.sample || "";
    return candidates.some((g) => globMatch(g, text));
  }
  if (candidates.some((g) => g.elements.length === 1 && g.elements[0] === STAR)) return true;
  if (candidates.some((g) => covers(g, part) || sameElements(g, part))) return true;
  if (candidates.length === 0) return !satisfiable(part, 0);
  // most patterns differ in what is written: one string of `part` that nothing matches decides
  const one = part.sample;
  if (one !== false && !candidates.some((g) => globMatch(g, one))) return false;
  return explore(candidates, part);
}

/**
 * Whether `whole` surely includes `part`: it matches the elements of `part` as if they were a text, where only a star
 * takes a star. Most patterns that include one another do so in this way, and it costs no more than a match.
 */
function covers(whole: Glob, part: Glob): boolean {
  const takes = (e: number, f: number): boolean => (e === ANY ? f !== STAR : f >= 0 && whole.takes(e, f));
  let i = 0;
  let j = 0;
  let star = -1;
  let resume = 0;
  while (i < part.elements.length) {
    const e = whole.elements[j];
    if (e === STAR) {
      star = j++;
      resume = i;
    } else if (e !== undefined && takes(e, part.elements[i]!)) {
      i++;
      j++;
    } else if (star >= 0) {
      j = star + 1;
      i = ++resume;
    } else return false;
  }
  while (whole.elements[j] === STAR) j++;
  return j === whole.elements.length;
}

/** Both start with literal bytes and these differ: no common string. */
export function disjointPrefix(a: Glob, b: Glob): boolean {
  for (let i = 0; ; i++) {
    const x = a.elements[i];
    const y = b.elements[i];
    if (x === undefined || y === undefined || x < 0 || y < 0) {
      if (x === STAR || y === STAR) return false;
      if (x === undefined && y === undefined) return false;
      if (x === undefined || y === undefined) return true;
      return false;
    }
    if (x !== y) return true;
  }
}

function sameElements(a: Glob, b: Glob): boolean {
  if (a.elements.length !== b.elements.length) return false;
  return a.elements.every((e, i) => {
    const f = b.elements[i]!;
    if (e > CLASS || f > CLASS) return e === f;
    const x = a.classes[CLASS - e]!;
    const y = b.classes[CLASS - f]!;
    return x.every((v, k) => v === y[k]);
  });
}

/** Some string completes `glob` from element `from`: no class left is empty. */
function satisfiable(glob: Glob, from: number): boolean {
  for (let i = from; i < glob.elements.length; i++) {
    const e = glob.elements[i]!;
    if (e <= CLASS && !glob.classes[CLASS - e]!.includes(1)) return false;
  }
  return true;
}

function explore(whole: readonly Glob[], part: Glob): boolean | undefined {
  if (!satisfiable(part, 0)) return true;
  const alphabet = representatives([...whole, part]);
  // A state of `whole` is one number: the pattern's offset plus the position in it.
  const owner: Glob[] = [];
  const base: number[] = [];
  const accepting = new Set<number>();
  const starts: number[] = [];
  let total = 0;
  for (const g of whole) {
    starts.push(total);
    for (let i = 0; i <= g.elements.length; i++) {
      owner.push(g);
      base.push(total);
    }
    total += g.elements.length + 1;
    accepting.add(total - 1);
    if (total > BUDGET) return undefined;
  }
  const element = (state: number): number | undefined => owner[state]!.elements[state - base[state]!];
  const close = (states: Iterable<number>): number[] => {
    const set = new Set<number>();
    for (let s of states) {
      set.add(s);
      while (element(s) === STAR) set.add(++s);
    }
    return [...set].sort((a, b) => a - b);
  };
  let left = BUDGET;
  const step = (states: readonly number[], byte: number): number[] => {
    left -= states.length + 1;
    const next: number[] = [];
    for (const s of states) {
      const e = element(s);
      if (e === undefined) continue;
      if (e === STAR) next.push(s);
      else if (owner[s]!.takes(e, byte)) next.push(s + 1);
    }
    return close(next);
  };

  // The smaller the subset, the harder to be covered: a pair is skipped when a smaller subset was explored there.
  const explored = new Map<number, number[][]>();
  const queue: { at: number; states: number[]; empty: boolean }[] = [];
  const enter = (at: number, states: number[], empty: boolean): void => {
    for (let i = at; ; i++) {
      const seen = explored.get(i) ?? [];
      if (!seen.some((s) => subset(s, states))) {
        if (!empty) seen.push(states);
        explored.set(i, seen);
        queue.push({ at: i, states, empty });
        left -= seen.length;
      }
      if (part.elements[i] !== STAR) break;
    }
  };
  enter(0, close(starts), true);
  for (let q = 0; q < queue.length; q++) {
    if (left < 0) return undefined;
    const { at, states, empty } = queue[q]!;
    const e = part.elements[at];
    if (e === undefined) {
      if (!empty && !states.some((s) => accepting.has(s))) return false;
      continue;
    }
    for (const byte of alphabet) {
      if (e !== STAR && !part.takes(e, byte)) continue;
      const next = step(states, byte);
      // Only strings that can still be completed count; satisfiable() was asked of the whole pattern.
      if (next.length === 0) return false;
      enter(e === STAR ? at : at + 1, next, false);
    }
  }
  return true;
}

function subset(small: readonly number[], large: readonly number[]): boolean {
  if (small.length > large.length) return false;
  let j = 0;
  for (const s of small) {
    while (j < large.length && large[j]! < s) j++;
    if (large[j] !== s) return false;
  }
  return true;
}

/** One byte of each group that no element of the globs tells apart. */
function representatives(globs: readonly Glob[]): number[] {
  const sets = new Set<Uint8Array>();
  const literals = new Set<number>();
  for (const g of globs) {
    for (const c of g.classes) sets.add(c);
    for (const e of g.elements) if (e >= 0) literals.add(e);
  }
  const out = [...literals];
  const seen = new Set<string>();
  const classes = [...sets];
  for (let byte = 0; byte < 256; byte++) {
    if (literals.has(byte)) continue;
    let key = "";
    for (const c of classes) key += c[byte];
    if (seen.has(key)) continue;
    seen.add(key);
    out.push(byte);
  }
  return out;
}
