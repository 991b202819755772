/** What commands print and read: the lines that end up in files. */
import type { Guard } from "./conditions.js";
import { options } from "./options.js";
import type { Arg, Invocation, Line, RedirectFact } from "./program.js";
import { type SedCommand, sedCall } from "./sed.js";
import { inDirectory, makeText, type Piece, type Text } from "./text.js";

/**
 * What is done to the text of a segment, in order; `envsubst` replaces `$NAME` and `${NAME}`. `guards`: only under these
 * conditions beyond those of the whole.
 */
export type TextEdit = (SedCommand | { readonly kind: "envsubst" }) & { readonly guards?: readonly Guard[] };

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

export const UNKNOWN_CONTENT: Content = undefined;
export const NOTHING: Content = [];

function linesSegment(lines: readonly Line[]): Segment {
  return { kind: "lines", lines, edits: [], guards: [] };
}

/** A file that a command names. */
function operandSegment({ directory }: Invocation, path: Text): Segment {
  return fileSegment(inDirectory(path, directory));
}

export function fileSegment(path: Text): Segment {
  return { kind: "file", path, edits: [], guards: [] };
}

export function edited(content: Content, edits: readonly TextEdit[]): Content {
  return content?.map((segment) => ({ ...segment, edits: [...segment.edits, ...edits] }));
}

const MAX_PIPE = 32;

/** Commands that print nothing when all is well. */
const SILENT = new Set(
  ": true false [ [[ (( test exit return break continue set shift unset export local readonly declare umask trap cd exec sleep sync mkdir rmdir cp mv ln rm chmod chown chgrp touch install wait".split(
    " ",
  ),
);

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
        } else segments.push(operandSegment(invocation, operand));
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
      return edited(
        call.files.length === 0
          ? inputOf(invocation, depth)
          : call.files.map((file) => operandSegment(invocation, file)),
        call.commands,
      );
    }
    case "grep":
      return command.some((arg) => /^-[a-zA-Z]*q/.test(arg.known ?? "")) ? NOTHING : UNKNOWN_CONTENT;
    default:
      return SILENT.has(name ?? "") ? NOTHING : UNKNOWN_CONTENT;
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
