/** Regular expressions of sed, where they are simple enough to be run here. */

const CLASSES: Readonly<Record<string, string>> = {
  "[:space:]": "\\s",
  "[:blank:]": " \\t",
  "[:digit:]": "0-9",
  "[:alpha:]": "A-Za-z",
  "[:alnum:]": "A-Za-z0-9",
  "[:upper:]": "A-Z",
  "[:lower:]": "a-z",
};

/** A text of a pattern beyond these costs more than it tells. */
const MAX_PATTERN = 200;
const MAX_REPEATS = 6;

const NAMES = String.raw`\(\?:[A-Za-z][^()|]*(?:\|[A-Za-z][^()|]*)*\)`;
const AT_NAME = new RegExp(String.raw`^\^(?:\\s\*|\[[^\]]*\]\*)?(?:${NAMES}(?!\?)|(?:${NAMES}\?)?[A-Za-z](?![*?]))`);

/** A pattern as one of this engine. */
export interface SedPattern {
  readonly expression: RegExp;
  /** It begins with letters at the beginning of the line: a comment does not match it. */
  readonly atName: boolean;
  /** From the beginning of a line to its end. */
  readonly wholeLine: boolean;
}

/**
 * Basic (or extended) regular expressions of POSIX with GNU's `\s`, `\+` and `\|`, without back-references, counts, and
 * repeated groups. undefined: another one. https://pubs.opengroup.org/onlinepubs/9799919799/basedefs/V1_chap09.html
 */
export function sedPattern(pattern: string, extended: boolean): SedPattern | undefined {
  if (pattern === "" || pattern.length > MAX_PATTERN) return undefined;
  let source = "";
  let depth = 0;
  let repeats = 0;
  /** What stands before can be repeated. */
  let atom = false;
  /** A group ends before: it may be left out, not repeated. */
  let closed = false;
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]!;
    const escaped = c === "\\";
    const it = escaped ? pattern[++i] : c;
    if (it === undefined) return undefined;
    const operator = "+?|()".includes(it) ? escaped !== extended : !escaped && it === "*";
    const behind = operator && it === ")";
    if (operator && "*+?".includes(it)) {
      if (!(atom || (closed && it === "?")) || ++repeats > MAX_REPEATS) return undefined;
      source += it;
      atom = false;
    } else if (operator && it === "(") {
      depth++;
      source += "(?:";
      atom = false;
    } else if (operator && it === ")") {
      if (--depth < 0) return undefined;
      source += ")";
      atom = false;
    } else if (operator) {
      // an alternative of the whole is anchored by itself
      if (depth === 0) return undefined;
      source += "|";
      atom = false;
    } else if (!escaped && it === "[") {
      const set = /^\[(\^?)(\]?(?:\[:[a-z]+:\]|[^\]])*)\]/.exec(pattern.slice(i));
      if (set === null) return undefined;
      let inside = "";
      for (const part of set[2]!.match(/\[:[a-z]+:\]|./gs) ?? []) {
        if (part.length > 1 && CLASSES[part] === undefined) return undefined;
        inside += CLASSES[part] ?? (/[\\[\]^]/.test(part) ? `\\${part}` : part);
      }
      if (inside === "" || inside.replace(/0-9|A-Z|a-z/g, "").includes("-")) return undefined;
      source += `[${set[1]}${inside}]`;
      i += set[0].length - 1;
      atom = true;
    } else if (!escaped && it === "^") {
      if (i > 0) return undefined;
      source += "^";
    } else if (!escaped && it === "$") {
      if (i < pattern.length - 1) return undefined;
      source += "$";
    } else if (!escaped && it === ".") {
      source += ".";
      atom = true;
    } else if (escaped && /[sSwW]/.test(it)) {
      source += `\\${it}`;
      atom = true;
    } else if (escaped ? /[A-Za-z0-9<>{}`']/.test(it) : extended && /[{}]/.test(it)) return undefined;
    else {
      source += /[\\^$.*+?()[\]{}|/-]/.test(it) ? `\\${it}` : it;
      atom = true;
    }
    closed = behind;
  }
  if (depth !== 0) return undefined;
  const anchored = source.startsWith("^");
  return {
    expression: new RegExp(source),
    atName: AT_NAME.test(source),
    wholeLine: anchored && /(?:^|[^\\])\.\*\$?$/.test(source),
  };
}
