/**
 * POSIX shell documents. The grammar is tree-sitter-bash (wasm), loaded by the host when the first script needs it; the
 * result is the small tree of `shell-ast.ts`, which a host may keep by content hash. Words, here-documents and nested
 * scripts are read by code of our own (`shell-word.ts`, `shell-scan.ts`), so a script that is only words needs no grammar.
 */

import { contentKey } from "../text/hash.js";
import { type GrammarHost, loadGrammar, NO_CHILDREN } from "./grammar.js";
import { SHELL_AST_VERSION, type ShellAst, type ShellProblem, type Statement, type Word } from "./shell-ast.js";
import { scanShell } from "./shell-scan.js";
import { type Collected, type Concrete, Converter, MAX_DEPTH, type Parsed, scriptArgument } from "./shell-tree.js";
import { lexWord, type WordHost, wordEnd } from "./shell-word.js";

export * from "./shell-ast.js";
export { scriptArgument } from "./shell-tree.js";

export interface ShellParser {
  /** Never throws for any text; what could not be read is in `problems`. */
  parse(text: string): ShellAst;
}

/** Longer scripts are not read (UTF-16 code units). */
export const MAX_SCRIPT_LENGTH = 2 ** 20;
/** The grammar's work on a chain of `|` grows faster than the chain. */
const MAX_PIPES = 1000;

const LIMITS = {
  length: `longer than ${MAX_SCRIPT_LENGTH} characters`,
  depth: "nested too deeply",
  pipes: "a pipeline is too long",
  time: "takes too long to read",
  binary: "not a text",
};

/** Loads the grammar. Rejects when the bytes are no such modules. */
export async function createShellParser(host: GrammarHost): Promise<ShellParser> {
  const read = await loadGrammar<{ -readonly [K in keyof Concrete]: Concrete[K] }>(host, (cursor) => ({
    type: cursor.nodeType,
    start: cursor.startIndex,
    end: cursor.endIndex,
    missing: cursor.nodeIsMissing,
    children: NO_CHILDREN,
  }));
  const parse = (text: string): Parsed => {
    if (text.length > MAX_SCRIPT_LENGTH) return { problem: LIMITS.length };
    if (text.includes("\0")) return { problem: LIMITS.binary };
    const scan = scanShell(text);
    if (scan.depth > MAX_DEPTH) return { problem: LIMITS.depth };
    if (scan.pipes > MAX_PIPES) return { problem: LIMITS.pipes };
    const root = read(scan.masked);
    if (root === "slow") return { problem: LIMITS.time };
    return root === "large" ? { problem: LIMITS.length } : { root, scan };
  };
  return {
    parse(text) {
      const into: Collected = { problems: [], comments: [] };
      const parsed = parse(text);
      if ("problem" in parsed) return problemAst(text, parsed.problem);
      const body = new Converter(text, parsed.scan, { parse }, into).script(parsed.root);
      return ast(body, into.problems, into.comments);
    },
  };
}

function ast(body: readonly Statement[], problems: ShellProblem[], comments: Collected["comments"]): ShellAst {
  problems.sort((a, b) => a.start - b.start || a.end - b.end);
  comments.sort((a, b) => a.start - b.start);
  return { version: SHELL_AST_VERSION, body, problems, comments };
}

function problemAst(text: string, message: string): ShellAst {
  const place = { start: 0, end: Math.min(text.length, 1) };
  return ast([{ type: "opaque", start: 0, end: text.length }], [{ kind: "limit", message, ...place }], []);
}

const RESERVED = new Set(
  "! { } [ [[ if then else elif fi do done case esac while until for in select function time coproc export declare typeset readonly local unset unsetenv trap eval".split(
    " ",
  ),
);

/**
 * The tree of a script that is one simple command, a pipeline or a chain of them, in one line of plain words (it may be continued) — no
 * substitution, redirection, assignment, or compound command: equal to what the grammar gives, without loading it.
 * undefined: the grammar is needed.
 */
export function trivial(text: string): ShellAst | undefined {
  if (text.length > 4096 || /[`<>()#~{}[]|\$[^\w]/.test(text.replace(/\$\{[A-Za-z_]\w*\}/g, "$A"))) return undefined;
  const host: WordHost = {
    text,
    at: (offset) => offset,
    hole: () => undefined,
    substitution: (_, limit) => ({ end: limit, body: [] }),
  };
  interface Simple {
    readonly words: Word[];
    readonly start: number;
    end: number;
  }
  /** Chain of pipelines of commands. */
  const chain: Simple[][] = [[]];
  const ops: ("&&" | "||")[] = [];
  let current: Simple | undefined;
  let i = 0;
  while (i < text.length) {
    const c = text[i]!;
    if (c === " " || c === "\t") i++;
    else if (c === "\\" && text[i + 1] === "\n" && (i === 0 || " \t".includes(text[i - 1]!))) i += 2;
    else if (c === "\n" || c === ";") {
      // Only at the end; a second command is a job for the grammar.
      if (text.slice(i + (c === ";" ? 1 : 0)).trim() !== "" || (c === ";" && current === undefined)) return undefined;
      break;
    } else if (c === "|" || c === "&") {
      const double = text[i + 1] === c;
      if (current === undefined || (c === "&" && !double)) return undefined;
      current = undefined;
      if (double) {
        chain.push([]);
        ops.push(c === "|" ? "||" : "&&");
      }
      i += double ? 2 : 1;
    } else if (/[\r\v\f\u0085\u00a0\u2000-\u200f\u2028-\u202f\u3000\ufeff]/.test(c)) return undefined;
    else {
      const end = wordEnd(text, i, text.length, true);
      const raw = text.slice(i, end);
      if (end <= i || raw.includes("\\\n") || !closed(raw)) return undefined;
      const word = lexWord(host, i, end);
      if (current === undefined) {
        if (RESERVED.has(raw) || !/^[A-Za-z_./$"']/.test(raw) || /^\w+\+?=/.test(raw)) return undefined;
        current = { words: [], start: i, end };
        chain[chain.length - 1]!.push(current);
      }
      current.words.push(word);
      current.end = end;
      i = end;
    }
  }
  if (current === undefined) return text.trim() === "" ? ast([], [], []) : undefined;
  for (const pipeline of chain) {
    for (const { words } of pipeline) if (scriptArgument(words.map((word) => word.text)) >= 0) return undefined;
  }
  const pipelines = chain.map((commands): Statement => {
    const made = commands.map(({ words, start, end }): Statement => ({ type: "command", start, end, words }));
    if (made.length === 1) return made[0]!;
    return { type: "pipeline", start: made[0]!.start, end: made[made.length - 1]!.end, commands: made };
  });
  const first = pipelines[0]!;
  if (pipelines.length === 1) return ast([first], [], []);
  const last = pipelines[pipelines.length - 1]!;
  return ast([{ type: "andor", start: first.start, end: last.end, items: pipelines, ops }], [], []);
}

/** Whether quotes in a word are closed. */
function closed(word: string): boolean {
  let i = 0;
  while (i < word.length) {
    const c = word[i]!;
    if (c === "\\") {
      if (i + 1 >= word.length) return false;
      i += 2;
    } else if (c === "'" || c === '"') {
      i++;
      while (i < word.length && word[i] !== c) i += c === '"' && word[i] === "\\" ? 2 : 1;
      if (i >= word.length) return false;
      i++;
    } else i++;
  }
  return true;
}

/** What a host gives to read many scripts: a cache of trees by content, and the grammar, loaded at most once. */
export interface ShellHost {
  readonly cache?: ShellCache | undefined;
  load(): Promise<ShellParser>;
}

export interface ShellCache {
  /** What was kept for this very text under the key; anything else than a tree is ignored. */
  get(key: string, text: string): unknown;
  set(key: string, text: string, value: ShellAst): void;
}

/** Trees of texts; the grammar is loaded only when a text is neither trivial nor in the cache. */
export async function parseShells(texts: Iterable<string>, host: ShellHost): Promise<ReadonlyMap<string, ShellAst>> {
  const out = new Map<string, ShellAst>();
  let parser: ShellParser | undefined;
  for (const text of texts) {
    if (out.has(text)) continue;
    let tree = trivial(text);
    if (tree === undefined) {
      const key = `shell-${SHELL_AST_VERSION}-${contentKey(text)}`;
      const kept = host.cache?.get(key, text);
      if (isShellAst(kept)) tree = kept;
      else {
        parser ??= await host.load();
        tree = parser.parse(text);
        host.cache?.set(key, text, tree);
      }
    }
    out.set(text, tree);
  }
  return out;
}

function isShellAst(value: unknown): value is ShellAst {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as ShellAst).version === SHELL_AST_VERSION &&
    Array.isArray((value as ShellAst).body)
  );
}
