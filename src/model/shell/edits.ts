/** What commands write to files: copies, redirections, here-documents, `sed`, `tee`; and what a file then holds. */
import { type Guard, guardsOf } from "./conditions.js";
import type { Arg, Invocation, Line, RedirectFact, ShellProgram } from "./program.js";
import {
  baseName,
  directoryOf,
  type Hole,
  isPath,
  literal,
  makeText,
  type Piece,
  sameText,
  show,
  type Text,
} from "./text.js";

/** One command of a sed script. */
export type SedCommand =
  | {
      readonly kind: "substitute";
      /** As written. */
      readonly pattern: Text;
      /** The pattern when it is plain characters: text without it is kept as it is. */
      readonly literal: string | undefined;
      readonly replacement: Text;
      /** Words of pattern and replacement, in lower case: lines without them are kept. undefined: any line may change. */
      readonly mentions: readonly string[] | undefined;
    }
  | { readonly kind: "other"; readonly mentions: readonly string[] | undefined };

/** What is done to the text of a segment, in order; `envsubst` replaces `$NAME` and `${NAME}`. */
export type TextEdit = SedCommand | { readonly kind: "envsubst" };

/** A piece of a content: lines that the script writes, or a file that it takes. */
export type Segment = (
  | { readonly kind: "lines"; readonly lines: readonly Line[] }
  | { readonly kind: "file"; readonly path: Text }
) & {
  readonly edits: readonly TextEdit[];
  /** Conditions of this piece beyond those of the whole. */
  readonly guards: readonly Guard[];
};

/** What is written, in order; undefined: not known. */
export type Content = readonly Segment[] | undefined;

/**
 * `write` replaces a file in place, `move` renames over it, `edit` changes it, `touch` creates it empty when it is not
 * there. `link` puts a link in its place.
 */
export type EditKind = "write" | "append" | "copy" | "move" | "link" | "edit" | "touch" | "remove";

export interface FileEdit {
  readonly kind: EditKind;
  readonly target: Text;
  /** The target when `target` is a directory: `cp a/x.conf DIR`. */
  readonly inside: Text | undefined;
  readonly sources: readonly Text[];
  /** `-n`: an existing file stays. */
  readonly noClobber: boolean;
  readonly content: Content;
  /** For `edit`: what is done to the text; undefined: not known. */
  readonly edits: readonly TextEdit[] | undefined;
  readonly invocation: Invocation;
}

const UNKNOWN_CONTENT: Content = undefined;
const NOTHING: Content = [];

function linesSegment(lines: readonly Line[]): Segment {
  return { kind: "lines", lines, edits: [], guards: [] };
}

function fileSegment(path: Text): Segment {
  return { kind: "file", path, edits: [], guards: [] };
}

function edited(content: Content, edits: readonly TextEdit[]): Content {
  return content?.map((segment) => ({ ...segment, edits: [...segment.edits, ...edits] }));
}

const MAX_PIPE = 32;

/** Whether an edit is one of the file at `path`. */
export function editsPath(edit: FileEdit, path: string): "yes" | "no" | "maybe" {
  const direct = isPath(edit.target, path);
  if (direct === "yes" || edit.inside === undefined) return direct;
  const inside = isPath(edit.inside, path);
  return inside === "yes" ? "yes" : direct === "maybe" || inside === "maybe" ? "maybe" : "no";
}

/** The edits that a command makes, in order. Directories, modes and owners are not edits. */
export function editsOf(invocation: Invocation): FileEdit[] {
  const out: FileEdit[] = [];
  const add = (kind: EditKind, target: Text, more: Partial<FileEdit> = {}): void => {
    if (isDevice(target)) return;
    out.push({
      kind,
      target,
      inside: undefined,
      sources: [],
      noClobber: false,
      content: UNKNOWN_CONTENT,
      edits: undefined,
      invocation,
      ...more,
    });
  };
  for (const redirect of invocation.redirects) {
    const { target } = redirect;
    if (target === undefined || (redirect.fd !== 1 && !redirect.op.startsWith("&"))) continue;
    if (redirect.op === ">" || redirect.op === ">|" || redirect.op === "&>")
      add("write", target, { content: outputOf(invocation) });
    else if (redirect.op === ">>" || redirect.op === "&>>") add("append", target, { content: outputOf(invocation) });
  }
  const { command } = invocation;
  switch (invocation.name) {
    case "cp":
    case "mv":
    case "ln":
    case "install":
    case "rsync":
      transfers(invocation, add);
      break;
    case "tee": {
      const { operands, flags } = options(command, "");
      const content = inputOf(invocation, 0);
      for (const operand of operands)
        add(flags.has("a") || flags.has("--append") ? "append" : "write", operand, { content });
      break;
    }
    case "sed": {
      const call = sedCall(command);
      if (call.inPlace) {
        for (const file of call.files) add("edit", file, { edits: call.commands });
      }
      break;
    }
    case "touch": {
      const { operands } = options(command, "drt");
      for (const operand of operands) add("touch", operand, { content: NOTHING });
      break;
    }
    case "truncate": {
      const { operands } = options(command, "sr");
      for (const operand of operands) add("write", operand, { content: NOTHING });
      break;
    }
    case "rm":
    case "unlink":
    case "shred": {
      const { operands } = options(command, "");
      for (const operand of operands) add("remove", operand);
      break;
    }
    case "dd": {
      for (const arg of command) {
        const first = arg.pieces[0];
        if (typeof first === "string" && first.startsWith("of="))
          add("write", makeText([first.slice(3), ...arg.pieces.slice(1)]));
      }
      break;
    }
    case "curl":
    case "wget":
    case "openssl": {
      const flag =
        invocation.name === "curl"
          ? ["-o", "--output"]
          : invocation.name === "wget"
            ? ["-O", "--output-document"]
            : ["-out", "-keyout"];
      command.forEach((arg, i) => {
        const next = command[i + 1];
        if (arg.known !== undefined && flag.includes(arg.known) && next !== undefined) add("write", next);
      });
      break;
    }
    case "yq":
    case "perl":
    case "sponge":
    case "ed":
    case "ex":
    case "crudini": {
      const last = command[command.length - 1];
      const inPlace =
        ["sponge", "ed", "ex", "crudini"].includes(invocation.name) ||
        command.some((arg) => /^-[a-z]*i/.test(arg.known ?? "") || arg.known === "--inplace");
      if (inPlace && last !== undefined && command.length > 1) add("edit", last);
      break;
    }
    case "tar": {
      const { known } = command[1] ?? { known: undefined };
      if (known !== undefined && /^-?-?[a-z]*x|^--extract/.test(known)) {
        const at = command.findIndex((arg) => arg.known === "-C" || arg.known === "--directory");
        const directory = at < 0 ? undefined : command[at + 1];
        add(
          "write",
          makeText(directory === undefined ? [{ kind: "other" }] : [...directory.pieces, "/", { kind: "other" }]),
        );
      }
      break;
    }
    default:
      break;
  }
  return out;
}

/** All edits of a program, in the order of its text. */
export function fileEdits(program: ShellProgram): FileEdit[] {
  return program.invocations.flatMap(editsOf);
}

function isDevice(text: Text): boolean {
  const first = text.pieces[0];
  return (
    text.known === "" ||
    (typeof first === "string" && /^\/(?:dev|proc|sys)\//.test(first)) ||
    /^(?:\d+|-)$/.test(text.known ?? "")
  );
}

interface Options {
  readonly operands: readonly Arg[];
  /** Short options by their letter, long ones by name. */
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, Arg>;
}

/** Splits options from operands; `valued`: short options whose value is the next word. */
function options(command: readonly Arg[], valued: string): Options {
  const operands: Arg[] = [];
  const flags = new Set<string>();
  const values = new Map<string, Arg>();
  let open = true;
  for (let i = 1; i < command.length; i++) {
    const arg = command[i]!;
    const word = arg.known;
    if (!open || word === undefined || !word.startsWith("-") || word === "-") {
      operands.push(arg);
      continue;
    }
    if (word === "--") open = false;
    else if (word.startsWith("--")) flags.add(word.split("=")[0]!);
    else {
      for (const letter of word.slice(1)) flags.add(letter);
      const last = word[word.length - 1]!;
      const next = command[i + 1];
      if (valued.includes(last) && next !== undefined) {
        values.set(last, next);
        i++;
      }
    }
  }
  return { operands, flags, values };
}

/** cp, mv, ln, install, rsync */
function transfers(
  invocation: Invocation,
  add: (kind: EditKind, target: Text, more?: Partial<FileEdit>) => void,
): void {
  const { name, command } = invocation;
  const { operands, flags, values } = options(command, name === "install" ? "mogtS" : "tS");
  if (name === "install" && flags.has("d")) return;
  const directory = values.get("t");
  const sources = directory === undefined ? operands.slice(0, -1) : operands;
  const target = directory ?? operands[operands.length - 1];
  if (target === undefined || sources.length === 0) {
    if (name === "ln" && target !== undefined) add("link", target);
    return;
  }
  const link = name === "ln" || flags.has("s") || flags.has("l");
  const kind: EditKind = link && name !== "install" ? "link" : name === "mv" ? "move" : "copy";
  const noClobber =
    flags.has("n") || flags.has("--no-clobber") || flags.has("--ignore-existing") || (flags.has("u") && name === "cp");
  const split = (source: Arg): boolean =>
    source.pieces.some(
      (piece) =>
        typeof piece !== "string" && (piece.kind === "glob" || piece.kind === "arguments" || piece.split === true),
    );
  const isDirectory =
    directory !== undefined ||
    sources.length > 1 ||
    sources.some(split) ||
    (target.known ?? show(target)).endsWith("/");
  for (const source of sources) {
    const content: Content = kind === "link" ? UNKNOWN_CONTENT : [fileSegment(source)];
    const more = { sources: [source], noClobber, content };
    const inside = flags.has("T") || flags.has("--no-target-directory") ? undefined : childOf(target, source);
    if (isDirectory) {
      if (inside !== undefined) add(kind, inside, more);
    } else add(kind, target, { ...more, inside });
    if (name === "mv") add("remove", source);
  }
}

/** `DIR/name` for a source `…/name`. */
function childOf(directory: Text, source: Text): Text {
  const trimmed = directory.pieces.map((piece, i) =>
    typeof piece === "string" && i === directory.pieces.length - 1 ? piece.replace(/\/+$/, "") : piece,
  );
  const tail: Piece[] = [];
  for (let i = source.pieces.length - 1; i >= 0; i--) {
    const piece = source.pieces[i]!;
    if (typeof piece !== "string") {
      tail.unshift(piece.kind === "glob" ? piece : ({ kind: "other" } satisfies Hole));
      continue;
    }
    const text = i === source.pieces.length - 1 ? piece.replace(/\/+$/, "") : piece;
    const slash = text.lastIndexOf("/");
    if (slash >= 0) {
      tail.unshift(text.slice(slash + 1));
      break;
    }
    tail.unshift(text);
  }
  const name = makeText(tail);
  // `cp -r src/. dst` copies whatever is in src.
  const child: readonly Piece[] = name.known === "." || name.known === "" ? [{ kind: "other" }] : name.pieces;
  return makeText([...trimmed, "/", ...child]);
}

// ---- what commands print

/** What a command writes to its output. */
export function outputOf(invocation: Invocation, depth = 0): Content {
  if (depth > MAX_PIPE) return UNKNOWN_CONTENT;
  const { command, name } = invocation;
  if (command.length === 0) return NOTHING;
  switch (name) {
    case "echo":
      return echo(command);
    case "printf":
      return printf(command);
    case "cat": {
      const { operands } = options(command, "");
      if (operands.length === 0) return inputOf(invocation, depth);
      const segments: Segment[] = [];
      for (const operand of operands) {
        if (operand.known === "-") {
          const input = inputOf(invocation, depth);
          if (input === undefined) return UNKNOWN_CONTENT;
          segments.push(...input);
        } else segments.push(fileSegment(operand));
      }
      return segments;
    }
    case "tee":
      return inputOf(invocation, depth);
    case "envsubst":
      return edited(inputOf(invocation, depth), [{ kind: "envsubst" }]);
    case "sed": {
      const call = sedCall(command);
      if (call.inPlace || call.quiet) return UNKNOWN_CONTENT;
      return edited(call.files.length === 0 ? inputOf(invocation, depth) : call.files.map(fileSegment), call.commands);
    }
    case ":":
    case "true":
    case "false":
      return NOTHING;
    default:
      return UNKNOWN_CONTENT;
  }
}

/** What a command reads from its input. */
export function inputOf(invocation: Invocation, depth = 0): Content {
  let input: RedirectFact | undefined;
  for (const redirect of invocation.redirects) if (redirect.fd === 0) input = redirect;
  if (input?.heredoc !== undefined) return [linesSegment(input.heredoc)];
  if (input?.op === "<<<" && input.target !== undefined) {
    return [linesSegment(linesOf(input.target.pieces, input.target.place))];
  }
  if (input?.op === "<" && input.target !== undefined) return [fileSegment(input.target)];
  if (input !== undefined) return UNKNOWN_CONTENT;
  return invocation.pipedFrom === undefined ? UNKNOWN_CONTENT : outputOf(invocation.pipedFrom, depth + 1);
}

/** Splits text at line ends; a text that ends with one has no empty last line. */
function linesOf(pieces: readonly Piece[], place: Line["place"], open = false): Line[] {
  const lines: Line[] = [];
  let current: Piece[] = [];
  let any = open;
  for (const piece of pieces) {
    if (typeof piece !== "string") {
      current.push(piece);
      any = true;
      continue;
    }
    const parts = piece.split("\n");
    parts.forEach((part, i) => {
      if (i > 0) {
        lines.push({ ...makeText(current), place });
        current = [];
        any = false;
      }
      if (part !== "") {
        current.push(part);
        any = true;
      }
    });
  }
  if (any) lines.push({ ...makeText(current), place });
  return lines;
}

function echo(command: readonly Arg[]): Content {
  let at = 1;
  let escapes = false;
  while (/^-[neE]+$/.test(command[at]?.known ?? "")) {
    if (command[at]!.known!.includes("e")) escapes = true;
    at++;
  }
  const args = command.slice(at);
  const place = args[0]?.place ?? command[0]!.place;
  const pieces = args.flatMap((arg, i): Piece[] => (i === 0 ? [...arg.pieces] : [" ", ...arg.pieces]));
  // Whether echo expands a backslash depends on the shell: bash does not, dash does.
  const backslash = pieces.some((piece) => typeof piece === "string" && /\\[abcefnrtv0\\]/.test(piece));
  if (backslash && !escapes) return UNKNOWN_CONTENT;
  const expanded = escapes ? pieces.map((piece) => (typeof piece === "string" ? expandEscapes(piece) : piece)) : pieces;
  return [linesSegment(linesOf(expanded, place, true))];
}

function expandEscapes(text: string): string {
  const table: Readonly<Record<string, string>> = {
    n: "\n",
    t: "\t",
    r: "\r",
    a: "\x07",
    b: "\b",
    f: "\f",
    v: "\v",
    "\\": "\\",
  };
  return text.replace(/\\([ntrabfv\\])/g, (_, c: string) => table[c]!);
}

function printf(command: readonly Arg[]): Content {
  let at = 1;
  if (command[at]?.known === "--") at++;
  const format = command[at]?.known;
  if (format === undefined) {
    const arg = command[at];
    // `printf "line $X\n"`: the variable stands in the format.
    if (arg === undefined || arg.pieces.some((piece) => typeof piece === "string" && piece.includes("%")))
      return UNKNOWN_CONTENT;
    const pieces = arg.pieces.map((piece) => (typeof piece === "string" ? expandEscapes(piece) : piece));
    return [linesSegment(linesOf(pieces, arg.place))];
  }
  const parts = formatParts(format);
  if (parts === undefined) return UNKNOWN_CONTENT;
  const args = command.slice(at + 1);
  if (
    args.some((arg) =>
      arg.pieces.some((piece) => typeof piece !== "string" && (piece.split || piece.kind === "arguments")),
    )
  )
    return UNKNOWN_CONTENT;
  const slots = parts.filter((part) => part === undefined).length;
  const rounds = slots === 0 ? 1 : Math.max(1, Math.ceil(args.length / slots));
  const lines: Line[] = [];
  let pieces: Piece[] = [];
  let place = command[at]!.place;
  let next = 0;
  const flush = (): void => {
    lines.push(...linesOf(pieces, place));
    pieces = [];
  };
  for (let round = 0; round < rounds; round++) {
    for (const part of parts) {
      if (part === undefined) {
        const arg = args[next++];
        if (arg === undefined) continue;
        if (pieces.length === 0) place = arg.place;
        pieces.push(...arg.pieces);
      } else {
        pieces.push(part);
        if (part.endsWith("\n")) {
          flush();
          place = command[at]!.place;
        }
      }
    }
  }
  flush();
  return [linesSegment(lines)];
}

/** A format as its literal parts, undefined for each `%s`-like slot; undefined for one that formats further. */
function formatParts(format: string): (string | undefined)[] | undefined {
  const out: (string | undefined)[] = [];
  let text = "";
  for (let i = 0; i < format.length; i++) {
    if (format[i] !== "%") {
      text += format[i];
      continue;
    }
    const next = format[++i];
    if (next === "%") text += "%";
    else if (next === "s" || next === "d" || next === "b" || next === "i") {
      if (text !== "") out.push(expandEscapes(text));
      text = "";
      out.push(undefined);
    } else return undefined;
  }
  if (text !== "") out.push(expandEscapes(text));
  return out;
}

// ---- sed

interface SedCall {
  readonly inPlace: boolean;
  readonly quiet: boolean;
  readonly files: readonly Arg[];
  readonly commands: readonly SedCommand[];
}

function sedCall(command: readonly Arg[]): SedCall {
  const scripts: Text[] = [];
  const operands: Arg[] = [];
  let inPlace = false;
  let quiet = false;
  let unknown = false;
  for (let i = 1; i < command.length; i++) {
    const arg = command[i]!;
    const word = arg.known;
    if (word === undefined || !word.startsWith("-") || word === "-") {
      operands.push(arg);
      continue;
    }
    if (word === "-e" || word === "--expression") {
      const script = command[++i];
      if (script !== undefined) scripts.push(script);
    } else if (word === "-f" || word === "--file") {
      i++;
      unknown = true;
      scripts.push(literal(""));
    } else if (word.startsWith("--expression=")) scripts.push(literal(word.slice(13)));
    else if (word.startsWith("--")) {
      if (word.startsWith("--in-place")) inPlace = true;
      if (word === "--quiet" || word === "--silent") quiet = true;
    } else {
      // `-i.bak` ends the cluster; `-ie` is a suffix `e`.
      const cluster = word.slice(1);
      const at = cluster.indexOf("i");
      if (at >= 0) inPlace = true;
      if (cluster.slice(0, at < 0 ? undefined : at).includes("n")) quiet = true;
      if (at < 0 && cluster.endsWith("e")) {
        const script = command[++i];
        if (script !== undefined) scripts.push(script);
      }
      if (word === "-i" && command[i + 1]?.known === "") i++;
    }
  }
  if (scripts.length === 0) {
    const script = operands.shift();
    if (script !== undefined) scripts.push(script);
  }
  const commands: SedCommand[] = unknown ? [{ kind: "other", mentions: undefined }] : [];
  for (const script of scripts) commands.push(...sedCommands(script));
  return { inPlace, quiet, files: operands, commands };
}

/** Reads a sed script: `s` commands without an address; everything else is `other`. */
export function sedCommands(script: Text): SedCommand[] {
  const units: Piece[] = [];
  for (const piece of script.pieces) {
    if (typeof piece === "string") units.push(...piece);
    else units.push(piece);
  }
  const out: SedCommand[] = [];
  let i = 0;
  const skipBlanks = (): void => {
    while (i < units.length && (units[i] === " " || units[i] === "\t" || units[i] === "\n" || units[i] === ";")) i++;
  };
  const rest = (): SedCommand => ({ kind: "other", mentions: mentionsOf([makeText(units.slice(i))]) });
  for (skipBlanks(); i < units.length; skipBlanks()) {
    const delimiter = units[i + 1];
    if (units[i] !== "s" || typeof delimiter !== "string" || /[\sA-Za-z0-9\\]/.test(delimiter)) {
      out.push(rest());
      return out;
    }
    const from = i;
    i += 2;
    const part = (): Text | undefined => {
      const pieces: Piece[] = [];
      for (; i < units.length; i++) {
        const unit = units[i]!;
        if (unit === delimiter) {
          i++;
          return makeText(pieces);
        }
        if (unit === "\\" && i + 1 < units.length) {
          const next = units[++i]!;
          if (next === delimiter) pieces.push(next);
          else pieces.push("\\", next);
        } else pieces.push(unit);
      }
      return undefined;
    };
    const pattern = part();
    const replacement = part();
    if (pattern === undefined || replacement === undefined) {
      i = from;
      out.push(rest());
      return out;
    }
    while (i < units.length && typeof units[i] === "string" && /[gpiIMm0-9]/.test(units[i] as string)) i++;
    if (i < units.length && units[i] !== ";" && units[i] !== "\n" && units[i] !== " " && units[i] !== "}") {
      i = from;
      out.push(rest());
      return out;
    }
    out.push({
      kind: "substitute",
      pattern,
      literal: plainPattern(pattern),
      replacement: plainReplacement(replacement),
      mentions: mentionsOf([pattern, replacement]),
    });
  }
  return out;
}

/** A regular expression without special characters, as the text that it matches; `.` counts as itself. */
function plainPattern(pattern: Text): string | undefined {
  const { known } = pattern;
  if (known === undefined || known === "") return undefined;
  let out = "";
  for (let i = 0; i < known.length; i++) {
    const c = known[i]!;
    if (c === "\\") {
      const next = known[++i];
      if (next === undefined || /[A-Za-z0-9(){}|+?<>]/.test(next)) return undefined;
      out += next;
    } else if (c === "*" || c === "[" || (c === "^" && i === 0) || (c === "$" && i === known.length - 1))
      return undefined;
    else out += c;
  }
  return out;
}

function plainReplacement(text: Text): Text {
  return makeText(
    text.pieces.map((piece) =>
      typeof piece === "string" ? piece.replace(/\\n/g, "\n").replace(/\\([&/\\])/g, "$1") : piece,
    ),
  );
}

function mentionsOf(texts: readonly Text[]): string[] | undefined {
  const words = new Set<string>();
  for (const text of texts) {
    for (const piece of text.pieces) {
      if (typeof piece !== "string") continue;
      for (const word of piece.replace(/\\[a-zA-Z]/g, " ").match(/[A-Za-z][A-Za-z0-9_-]*/g) ?? [])
        words.add(word.toLowerCase());
    }
  }
  return words.size === 0 ? undefined : [...words];
}

// ---- what a file holds after the script

/** One possible content of a file. */
export interface Variant {
  readonly content: Content;
  /** The conditions under which it was written. */
  readonly guards: readonly Guard[];
  /** The command that put it there. */
  readonly from: FileEdit;
}

/** What a script makes of a file. */
export interface FileContent {
  /** Possible contents; empty when the script does not write the whole file. */
  readonly variants: readonly Variant[];
  /** Edits of what was there before the script, or of a content that is not known. */
  readonly added: readonly FileEdit[];
  /** false: something else may have been written to it. */
  readonly complete: boolean;
}

const MAX_VARIANTS = 8;
const MAX_SEGMENTS = 2000;

/**
 * What the file at `path` holds when the script is done: follows temporary files through copies and renames. Lines under
 * a condition carry its guards. Unknown is said (`complete`, `content: undefined`), never left out.
 */
export function contentOf(program: ShellProgram, path: string): FileContent {
  const files = new Map<string, { text: Text; variants: Variant[]; added: FileEdit[] }>();
  const fileAt = (text: Text) => {
    const key = text.known === undefined ? `?${show(text)}` : text.known.replace(/\/+/g, "/");
    let file = files.get(key);
    if (file === undefined) files.set(key, (file = { text, variants: [], added: [] }));
    return file;
  };
  let complete = program.complete;
  const opened = new Set<RedirectFact>();
  for (const invocation of program.invocations) {
    if (!invocation.reached) continue;
    const guards = guardsOf(invocation).filter((guard) => guard.kind !== "loop");
    for (const edit of editsOf(invocation)) {
      const target = edit.inside !== undefined && isPath(edit.inside, path) === "yes" ? edit.inside : edit.target;
      if (edit.target.known === undefined && editsPath(edit, path) === "maybe" && !sameName(edit.target, path)) {
        complete = false;
        continue;
      }
      const file = fileAt(target);
      // Commands in a group share its redirection: the second goes on where the first stopped.
      const redirect = invocation.redirects.find((r) => r.target !== undefined && r.target === edit.target);
      const goesOn = redirect !== undefined && opened.has(redirect);
      if (redirect !== undefined) opened.add(redirect);
      const kind = goesOn && edit.kind === "write" ? "append" : edit.kind;
      switch (kind) {
        case "write":
        case "copy":
        case "move":
        case "link":
        case "touch": {
          if (kind === "touch" && file.variants.length > 0) break;
          const source = edit.sources[0];
          const known =
            source === undefined
              ? undefined
              : files.get(source.known === undefined ? `?${show(source)}` : source.known.replace(/\/+/g, "/"));
          const made: Variant[] =
            known !== undefined && known.variants.length > 0
              ? known.variants.map((variant) => ({ ...variant, guards: union(variant.guards, guards), from: edit }))
              : [{ content: edit.content, guards, from: edit }];
          const kept = file.variants.filter((variant) => !includes(variant.guards, guards));
          file.variants = [...kept, ...made].slice(-MAX_VARIANTS);
          if (kept.length + made.length > MAX_VARIANTS) complete = false;
          if (kept.length === 0) file.added = [];
          break;
        }
        case "append":
          if (file.variants.length === 0) file.added.push(edit);
          file.variants = file.variants.map((variant) => {
            const extra = edit.content;
            if (variant.content === undefined || extra === undefined || variant.content.length > MAX_SEGMENTS)
              return { ...variant, content: undefined };
            const own = guards.filter((guard) => !variant.guards.some((other) => sameGuard(guard, other)));
            return {
              ...variant,
              content: [...variant.content, ...extra.map((segment) => ({ ...segment, guards: own }))],
            };
          });
          break;
        case "edit":
          if (file.variants.length === 0) file.added.push(edit);
          file.variants = file.variants.map((variant) => ({
            ...variant,
            content: edit.edits === undefined ? undefined : edited(variant.content, edit.edits),
          }));
          break;
        case "remove":
          if (includes(file.variants[0]?.guards ?? [], guards)) file.variants = [];
          break;
      }
    }
  }
  const variants: Variant[] = [];
  const added: FileEdit[] = [];
  for (const file of files.values()) {
    const found = isPath(file.text, path);
    if (found === "yes") {
      variants.push(...file.variants);
      added.push(...file.added);
    }
  }
  return { variants, added, complete };
}

/** A text with holes that is used for one file all over a script, and is not `path`: `"$tmp"` of `mktemp`. */
function sameName(text: Text, path: string): boolean {
  const directory = directoryOf(text);
  const hole = text.pieces.length === 1 ? text.pieces[0] : undefined;
  if (typeof hole === "object" && hole.kind === "command" && hole.name === "mktemp") return true;
  return directory !== undefined && !baseName(path).startsWith(String(text.pieces[0]).slice(directory.length + 1));
}

function sameGuard(a: Guard, b: Guard): boolean {
  if (a.kind !== b.kind) return false;
  if (a.kind === "test" && b.kind === "test") return a.holds === b.holds && a.test === b.test;
  if (a.kind === "command" && b.kind === "command") return a.holds === b.holds && a.invocation === b.invocation;
  if (a.kind === "case" && b.kind === "case")
    return (
      a.patterns === b.patterns ||
      (sameText(a.subject, b.subject) &&
        a.patterns.length === b.patterns.length &&
        a.patterns.every((p, i) => sameText(p, b.patterns[i]!)))
    );
  return a.kind === "loop";
}

/** Whether every guard of `inner` is among those of `outer`: whenever `outer` holds, `inner` does. */
function includes(outer: readonly Guard[], inner: readonly Guard[]): boolean {
  return inner.every((guard) => guard.kind !== "unknown" && outer.some((other) => sameGuard(guard, other)));
}

function union(a: readonly Guard[], b: readonly Guard[]): Guard[] {
  return [...a, ...b.filter((guard) => !a.some((other) => sameGuard(guard, other)))];
}
