/** sed: its command line, and scripts of plain substitutions. */
import type { Place } from "../place.js";
import type { Arg } from "./program.js";
import { type SedPattern, sedPattern } from "./sed-pattern.js";
import { literal, makeText, type Piece, type Text } from "./text.js";

/** A command that puts another line in the place of every line that matches. */
export interface WholeLine {
  readonly matches: RegExp;
  /** undefined: the line goes. */
  readonly replacement: Text | undefined;
}

/** One command of a sed script. */
export type SedCommand = {
  // `s|^port .*|port 0|`, `/^port /c port 0`, `/^port /d`
  readonly whole?: WholeLine | undefined;
  /** The word that holds the script. */
  readonly place?: Place | undefined;
} & (
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
  | { readonly kind: "other"; readonly mentions: readonly string[] | undefined }
);

/** A call of sed. */
export interface SedCall {
  readonly inPlace: boolean;
  readonly quiet: boolean;
  readonly files: readonly Arg[];
  readonly commands: readonly SedCommand[];
}

/** Reads the words of a sed command, its name first. */
export function sedCall(command: readonly Arg[]): SedCall {
  const scripts: Text[] = [];
  const operands: Arg[] = [];
  let inPlace = false;
  let quiet = false;
  let unknown = false;
  let extended = false;
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
      if (word === "--regexp-extended") extended = true;
    } else {
      // `-i.bak` ends the cluster; `-ie` is a suffix `e`.
      const cluster = word.slice(1);
      const at = cluster.indexOf("i");
      if (at >= 0) inPlace = true;
      if (/[Er]/.test(cluster.slice(0, at < 0 ? undefined : at))) extended = true;
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
  for (const script of scripts) {
    const place = "place" in script ? (script as Arg).place : undefined;
    for (const made of sedCommands(script, extended)) commands.push({ ...made, place });
  }
  return { inPlace, quiet, files: operands, commands };
}

/** Reads a sed script: `s`, `c` and `d`, alone or with a pattern as their address; everything else is `other`. */
export function sedCommands(script: Text, extended = false): SedCommand[] {
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
  /** Up to the delimiter, which is left behind; undefined: there is none. */
  const part = (delimiter: string): Text | undefined => {
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
  const command = (): SedCommand | undefined => {
    let address: Text | undefined;
    if (units[i] === "/") {
      i++;
      address = part("/");
      if (address === undefined) return undefined;
      while (units[i] === " ") i++;
    }
    const name = units[i];
    if (address !== undefined && name === "d") {
      i++;
      return atEnd() ? addressed(address, undefined, extended) : undefined;
    }
    if (address !== undefined && name === "c") return addressed(address, changeText(), extended);
    const delimiter = units[i + 1];
    if (name !== "s" || typeof delimiter !== "string" || /[\sA-Za-z0-9\\]/.test(delimiter)) return undefined;
    i += 2;
    const pattern = part(delimiter);
    const replacement = part(delimiter);
    if (pattern === undefined || replacement === undefined) return undefined;
    let flags = "";
    while (i < units.length && typeof units[i] === "string" && /[gpiIMm0-9]/.test(units[i] as string))
      flags += units[i++] as string;
    if (!atEnd()) return undefined;
    const line = /^g?$/.test(flags) && !hasReference(replacement) ? plainReplacement(replacement) : undefined;
    if (address !== undefined) {
      const all = sedPattern(pattern.known ?? "", extended);
      return all !== undefined && /^\^?\.\*\$?$/.test(all.expression.source)
        ? addressed(address, line ?? "unknown", extended)
        : { kind: "other", mentions: mentionsOf([address, pattern, replacement]) };
    }
    const found = line === undefined ? undefined : sedPattern(pattern.known ?? "", extended);
    return {
      kind: "substitute",
      pattern,
      literal: plainPattern(pattern),
      replacement: plainReplacement(replacement),
      mentions: mentionsOf([pattern, replacement]),
      whole: found?.wholeLine === true ? wholeLine(found, line) : undefined,
    };
  };
  const atEnd = (): boolean =>
    i >= units.length || units[i] === ";" || units[i] === "\n" || units[i] === " " || units[i] === "}";
  /** `c text`, `c\` and the text on the next line: up to the end of that line. */
  const changeText = (): Text | "unknown" => {
    i++;
    if (units[i] === "\\") i++;
    while (units[i] === " " || units[i] === "\t" || units[i] === "\n") i++;
    const pieces: Piece[] = [];
    while (i < units.length && units[i] !== "\n") pieces.push(units[i++]!);
    return pieces.includes("\\") ? "unknown" : makeText(pieces);
  };
  for (skipBlanks(); i < units.length; skipBlanks()) {
    const from = i;
    const made = command();
    if (made === undefined) {
      out.push({ kind: "other", mentions: mentionsOf([makeText(units.slice(from))]) });
      return out;
    }
    out.push(made);
  }
  return out;
}

function addressed(address: Text, line: Text | "unknown" | undefined, extended: boolean): SedCommand {
  const found = line === "unknown" ? undefined : sedPattern(address.known ?? "", extended);
  return {
    kind: "other",
    mentions: mentionsOf(line === undefined || line === "unknown" ? [address] : [address, line]),
    whole: found === undefined ? undefined : wholeLine(found, line === "unknown" ? undefined : line),
  };
}

/** undefined: it may put its line in the place of a comment. */
function wholeLine(pattern: SedPattern, replacement: Text | undefined): WholeLine | undefined {
  return replacement === undefined || pattern.atName ? { matches: pattern.expression, replacement } : undefined;
}

/** `&`, `\1`: what was found is a part of the replacement. */
function hasReference(text: Text): boolean {
  return text.pieces.some((piece) => typeof piece === "string" && /(?:^|[^\\])(?:\\\\)*(?:&|\\\d)/.test(piece));
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
