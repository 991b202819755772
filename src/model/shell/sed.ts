/** sed: its command line, and scripts of plain substitutions. */
import type { Arg } from "./program.js";
import { literal, makeText, type Piece, type Text } from "./text.js";

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
