/**
 * Path globs: `*`, `?`, `[a-z]`, `{a,b}` inside a segment, `**` for any number of segments. Matching costs at most the
 * product of the lengths: a contract file is input too, and regular expressions made of globs can take forever.
 */

const MAX_ALTERNATIVES = 256;

export class Glob {
  readonly pattern: string;
  readonly #alternatives: readonly (readonly string[])[];

  constructor(pattern: string) {
    this.pattern = pattern;
    this.#alternatives = expandBraces(normalize(pattern)).map((p) => p.split("/"));
  }

  get magic(): boolean {
    return /[*?[\]{}]/.test(this.pattern);
  }

  /** The directory part before the first segment with magic, and whether more than that directory must be listed. */
  get base(): string {
    const segments = normalize(this.pattern).split("/");
    const first = segments.findIndex((s) => /[*?[\]{}]/.test(s));
    return segments.slice(0, first < 0 ? segments.length - 1 : first).join("/");
  }

  matches(path: string): boolean {
    const segments = path.split("/");
    return this.#alternatives.some((alternative) => matchSegments(alternative, segments));
  }
}

export function normalize(path: string): string {
  return path
    .replaceAll("\\", "/")
    .replace(/^(?:\.\/)+/, "")
    .replace(/\/{2,}/g, "/");
}

function expandBraces(pattern: string): string[] {
  let done: string[] = [];
  let open = [pattern];
  while (open.length > 0) {
    const next: string[] = [];
    for (const p of open) {
      const parts = firstBrace(p);
      if (parts === undefined) done.push(p);
      else for (const option of parts.options) next.push(parts.before + option + parts.after);
    }
    if (done.length + next.length > MAX_ALTERNATIVES) {
      done = done.slice(0, MAX_ALTERNATIVES);
      break;
    }
    open = next;
  }
  return done;
}

function firstBrace(pattern: string): { before: string; options: string[]; after: string } | undefined {
  const start = pattern.indexOf("{");
  if (start < 0) return undefined;
  let depth = 0;
  let from = start + 1;
  const options: string[] = [];
  for (let i = start; i < pattern.length; i++) {
    const c = pattern[i];
    if (c === "{") depth++;
    else if (c === "," && depth === 1) {
      options.push(pattern.slice(from, i));
      from = i + 1;
    } else if (c === "}" && --depth === 0) {
      options.push(pattern.slice(from, i));
      // `{x}` without a comma is the key pattern of nobody here: it is literal text
      return options.length > 1 ? { before: pattern.slice(0, start), options, after: pattern.slice(i + 1) } : undefined;
    }
  }
  return undefined;
}

function matchSegments(pattern: readonly string[], path: readonly string[]): boolean {
  // reachable[j]: the pattern so far matches the first j segments
  let reachable = new Uint8Array(path.length + 1);
  reachable[0] = 1;
  for (const segment of pattern) {
    const next = new Uint8Array(path.length + 1);
    if (segment === "**") {
      let seen = 0;
      for (let j = 0; j <= path.length; j++) {
        seen |= reachable[j]!;
        next[j] = seen;
      }
    } else {
      for (let j = 0; j < path.length; j++) if (reachable[j] === 1 && matchSegment(segment, path[j]!)) next[j + 1] = 1;
    }
    reachable = next;
  }
  return reachable[path.length] === 1;
}

function matchSegment(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    const step = p < pattern.length && pattern[p] !== "*" ? one(pattern, p, text[t]!) : 0;
    if (step > 0) {
      p += step;
      t++;
    } else if (p < pattern.length && pattern[p] === "*") {
      star = p++;
      mark = t;
    } else if (star >= 0) {
      p = star + 1;
      t = ++mark;
    } else return false;
  }
  while (p < pattern.length && pattern[p] === "*") p++;
  return p === pattern.length;
}

/** How many pattern characters match one character; 0 for none. */
function one(pattern: string, p: number, c: string): number {
  const first = pattern[p]!;
  if (first === "?") return 1;
  if (first === "[") {
    const end = pattern.indexOf("]", p + 2);
    if (end < 0) return first === c ? 1 : 0;
    const negated = pattern[p + 1] === "!" || pattern[p + 1] === "^";
    const body = pattern.slice(p + (negated ? 2 : 1), end);
    let inside = false;
    for (let i = 0; i < body.length; i++) {
      if (body[i + 1] === "-" && i + 2 < body.length) {
        if (c >= body[i]! && c <= body[i + 2]!) inside = true;
        i += 2;
      } else if (body[i] === c) inside = true;
    }
    return inside !== negated ? end - p + 1 : 0;
  }
  return first === c ? 1 : 0;
}
