/** Texts that a script makes: known characters and holes whose content only a run decides. */
import { normalizePath } from "../file-path.js";
import type { Invocation } from "./program.js";

/**
 * Something that is not known before the script runs.
 * `variable`: a parameter; `command`: the output of a substitution; `arguments`: `"$@"` or an array, any number of words;
 * `glob`: an unquoted pattern (its text in `name`).
 */
export interface Hole {
  readonly kind: "variable" | "command" | "arithmetic" | "arguments" | "glob" | "other";
  /** Of the variable; of the only command of a substitution. */
  readonly name?: string;
  /** `$(NAME)` that the kubelet expands, not the shell. */
  readonly kubelet?: true;
  /** The operator of `${name<op>…}`. */
  readonly op?: string;
  /** `${name:-fallback}`. */
  readonly fallback?: Text;
  /** `$(cat file)`, `$(<file)`. */
  readonly file?: Text;
  /** What the variable may hold, where the script sets it to several known values. */
  readonly options?: readonly Text[];
  /** What a substitution runs, also by way of a variable. */
  readonly runs?: readonly Invocation[];
  /** Unquoted: the content is split into words. */
  readonly split?: true;
  /** It was assigned to a variable, and is read from there: the variable, and what was assigned. */
  readonly held?: { readonly name: string; readonly hole: Hole };
}

export type Piece = string | Hole;

export interface Text {
  readonly pieces: readonly Piece[];
  /** The whole text; undefined when it has a hole. */
  readonly known: string | undefined;
}

export const EMPTY: Text = { pieces: [], known: "" };

/** A script can double a text in every line; what grows beyond these is not followed. */
const MAX_CHARACTERS = 2 ** 16;
const MAX_PIECES = 400;

/** Joins neighbouring characters. */
export function makeText(pieces: readonly Piece[]): Text {
  const out: Piece[] = [];
  let known = true;
  let size = 0;
  for (const piece of pieces) {
    if (typeof piece === "string") size += piece.length;
    if (size > MAX_CHARACTERS || out.length > MAX_PIECES) return { pieces: [{ kind: "other" }], known: undefined };
    const last = out.length - 1;
    if (typeof piece !== "string") {
      known = false;
      out.push(piece);
    } else if (piece === "") continue;
    else if (typeof out[last] === "string") out[last] = (out[last] as string) + piece;
    else out.push(piece);
  }
  return { pieces: out, known: known ? ((out[0] as string | undefined) ?? "") : undefined };
}

export function literal(text: string): Text {
  return text === "" ? EMPTY : { pieces: [text], known: text };
}

/** As a script would write it: `redis-$N.conf`. Holes without a name show as `…`; for messages and for identity. */
export function show(text: Text): string {
  let out = "";
  for (const piece of text.pieces) out += typeof piece === "string" ? piece : showHole(piece);
  return out;
}

function showHole(hole: Hole): string {
  if (hole.kind === "variable") return hole.kubelet ? `$(${hole.name})` : `\${${hole.name}${hole.op ?? ""}}`;
  if (hole.kind === "command") return `$(${hole.name ?? "…"}${hole.file === undefined ? "" : ` ${show(hole.file)}`})`;
  if (hole.kind === "arguments") return hole.name === undefined || hole.name === "@" ? "$@" : `\${${hole.name}[@]}`;
  if (hole.kind === "glob") return hole.name ?? "*";
  return "…";
}

/** Same known characters and the same holes, as far as that can be seen. */
export function sameText(a: Text, b: Text): boolean {
  if (a === b) return true;
  if (a.known !== undefined || b.known !== undefined) return a.known === b.known;
  if (a.pieces.length !== b.pieces.length) return false;
  return a.pieces.every((piece, i) => {
    const other = b.pieces[i]!;
    if (typeof piece === "string" || typeof other === "string") return piece === other;
    return (
      (piece.held?.hole ?? piece) === (other.held?.hole ?? other) ||
      (piece.kind === "variable" && other.kind === "variable" && showHole(piece) === showHole(other))
    );
  });
}

/** A text as the variable that it is assigned to holds it: what a run makes is read from there, and made once. */
export function heldBy(text: Text, name: string): Text {
  if (text.known !== undefined) return text;
  const [only] = text.pieces;
  if (text.pieces.length === 1 && typeof only !== "string" && only !== undefined)
    return isMade(only) ? makeText([{ ...only, held: { name, hole: only.held?.hole ?? only } }]) : text;
  if (
    !text.pieces.some((piece) => typeof piece !== "string" && (piece.held !== undefined || piece.kind === "arithmetic"))
  )
    return text;
  return makeText(
    text.pieces.map((piece) =>
      typeof piece === "string"
        ? piece
        : piece.kind === "arithmetic"
          ? { kind: "arithmetic" }
          : (piece.held?.hole ?? piece),
    ),
  );
}

function isMade(hole: Hole): boolean {
  return hole.kind === "arithmetic" || hole.kind === "command";
}

/** Names of the variables in a text, also those in fallbacks. */
export function variablesOf(text: Text): string[] {
  const out = new Set<string>();
  const visit = (t: Text, depth: number): void => {
    for (const piece of t.pieces) {
      if (typeof piece === "string") continue;
      if (piece.name !== undefined && (piece.kind === "variable" || piece.kind === "arguments")) out.add(piece.name);
      if (piece.fallback !== undefined && depth < 8) visit(piece.fallback, depth + 1);
    }
  };
  visit(text, 0);
  return [...out];
}

/** What substitutions in a text run, also in what a variable may hold. */
export function runsOf(text: Text): Invocation[] {
  const out: Invocation[] = [];
  const visit = (t: Text, depth: number): void => {
    for (const piece of t.pieces) {
      if (typeof piece === "string") continue;
      if (piece.runs !== undefined) out.push(...piece.runs);
      if (depth > 4) continue;
      for (const option of piece.options ?? []) visit(option, depth + 1);
      if (piece.fallback !== undefined) visit(piece.fallback, depth + 1);
    }
  };
  visit(text, 0);
  return out;
}

/** Whether a text can be exactly `wanted`: `yes`, `no`, or `maybe`. Linear in both. */
export function matches(text: Text, wanted: string): "yes" | "no" | "maybe" {
  if (text.known !== undefined) return text.known === wanted ? "yes" : "no";
  const { pieces } = text;
  const first = pieces[0];
  const last = pieces[pieces.length - 1];
  let at = 0;
  let end = wanted.length;
  if (typeof first === "string") {
    if (!wanted.startsWith(first)) return "no";
    at = first.length;
  }
  if (typeof last === "string" && pieces.length > 1) {
    if (end - at < last.length || !wanted.endsWith(last)) return "no";
    end -= last.length;
  }
  for (let i = typeof first === "string" ? 1 : 0; i < pieces.length - (typeof last === "string" ? 1 : 0); i++) {
    const piece = pieces[i]!;
    if (typeof piece !== "string") continue;
    const found = wanted.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return "no";
    at = found + piece.length;
  }
  return "maybe";
}

/** A path without `.`, doubled slashes and a trailing slash; `..` is kept. */
export function cleanPath(path: string): string {
  const absolute = path.startsWith("/");
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  return (absolute ? "/" : "") + steps.join("/");
}

/** Whether it begins as a name that is looked up from the working directory. */
function isRelative(text: Text): boolean {
  const first = text.pieces[0];
  return typeof first === "string" && !first.startsWith("/");
}

/** A file's name as seen from `/`; one that is relative to a directory that is not known stays as it is. */
export function inDirectory<T extends Text>(text: T, directory: string | undefined): T {
  if (directory === undefined || !isRelative(text) || text.known === "-") return text;
  if (text.known !== undefined) return { ...text, ...literal(normalizePath(`${directory}/${text.known}`)) };
  const [first, ...rest] = text.pieces;
  return {
    ...text,
    ...makeText([normalizePath(`${directory}/`), "/", (first as string).replace(/^(?:\.\/)+/, ""), ...rest]),
  };
}

/** Whether a text can name the file `path`, an absolute one. */
export function isPath(text: Text, path: string): "yes" | "no" | "maybe" {
  // which directory a relative name starts from is not known
  if (isRelative(text) && path.startsWith("/")) return endsLike(text, cleanPath(path)) ? "maybe" : "no";
  if (text.known !== undefined) return cleanPath(text.known) === cleanPath(path) ? "yes" : "no";
  return matches(
    makeText(text.pieces.map((piece) => (typeof piece === "string" ? piece.replace(/\/+/g, "/") : piece))),
    cleanPath(path),
  );
}

/** Whether a path can end with a relative name. */
function endsLike(text: Text, path: string): boolean {
  const [first, ...rest] = text.pieces;
  const name = cleanPath(first as string).replace(/^(?:\.\.\/)+/, "");
  const tail = makeText([{ kind: "other" }, `/${name}`, ...rest]);
  return text.known !== "." && text.known !== ".." && matches(tail, path) !== "no";
}

/** The directory of a path text; undefined when even that is unknown. A hole behind the last slash is taken to hold no slash. */
export function directoryOf(text: Text): string | undefined {
  const first = text.pieces[0];
  if (typeof first !== "string") {
    // `$(mktemp /data/x.XXXX)` lies where its template does.
    if (text.pieces.length === 1 && first !== undefined && first.kind === "command" && first.name === "mktemp") {
      const template = first.runs?.[0]?.command.slice(1).find((arg) => arg.known?.includes("/"));
      if (template?.known !== undefined) return directoryOf(literal(template.known));
    }
    return undefined;
  }
  let slash = -1;
  let path = "";
  for (const piece of text.pieces) {
    if (typeof piece !== "string") {
      path += "…";
      continue;
    }
    const found = piece.lastIndexOf("/");
    if (found >= 0) slash = path.length + found;
    path += piece;
  }
  if (slash < 0) return ".";
  const directory = path.slice(0, slash);
  if (directory.includes("…")) return undefined;
  return directory === "" ? "/" : cleanPath(directory);
}

/** The last component of a known path. */
/** Names of the shells that scripts are read for. */
export const SHELL = /^(?:ba|da|a)?sh$/;

export function baseName(path: string): string {
  const clean = path.replace(/\/+$/, "");
  return clean.slice(clean.lastIndexOf("/") + 1);
}

/** A shell pattern against a text, without backtracking beyond the last `*`. */
export function patternMatches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    const c = pattern[p];
    let next = p + 1;
    let ok = false;
    if (c === "*") {
      star = p++;
      mark = t;
      continue;
    }
    if (c === "?") ok = true;
    else if (c === "[") {
      const close = pattern.indexOf("]", p + 2);
      if (close < 0) ok = text[t] === "[";
      else {
        next = close + 1;
        ok = inClass(pattern.slice(p + 1, close), text[t]!);
      }
    } else if (c !== undefined) ok = c === text[t];
    if (ok) {
      p = next;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++mark;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

function inClass(set: string, c: string): boolean {
  const negated = set[0] === "!" || set[0] === "^";
  let found = false;
  for (let i = negated ? 1 : 0; i < set.length; i++) {
    if (set[i + 1] === "-" && i + 2 < set.length) {
      if (set[i]! <= c && c <= set[i + 2]!) found = true;
      i += 2;
    } else if (set[i] === c) found = true;
  }
  return found !== negated;
}
