/**
 * Code frames: lines of a file with the exact span marked, aligned for tabs and wide characters, cut to a width. The values
 * of secrets are masked, each by the same few dots.
 */
import { type Range, secretSpans } from "../model/secret-spans.js";
import type { Source, Span } from "../text/source.js";
import { lineText, MASK, visible } from "./shared.js";

/** A line of a frame. `text` is safe to print; the marked cells are `[from, to)` of it, an empty mark has no cells. */
export interface FrameLine {
  /** 1-based line number; undefined: `text` stands for lines that are left out. */
  readonly number: number | undefined;
  readonly text: string;
  readonly mark: { readonly from: number; readonly to: number } | undefined;
}

export interface FrameOptions {
  /** Lines of context before and after. */
  readonly context: number;
  /** Cells that a line may take. */
  readonly width: number;
}

const TAB = 4;
/** Lines of a span that are shown: its first ones, and its last. */
const FIRST_LINES = 2;

// made when a line needs it: its tables cost more than the rest of a clean run
let segmenter: Intl.Segmenter | undefined;
function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}
const ASCII = /^[\u0020-\u007e]*$/;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f|[\u{1f1e6}-\u{1f1ff}]{2}/u;
const COMBINING = /^[\p{M}\u200c\u200d]/u;
// East Asian Wide and Fullwidth, of Unicode's EastAsianWidth.txt
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;

function graphemeWidth(grapheme: string): number {
  if (EMOJI.test(grapheme) || WIDE.test(grapheme)) return 2;
  return COMBINING.test(grapheme) ? 0 : 1;
}

/** Cells that a text without control characters takes in a terminal. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) width += graphemeWidth(segment);
  return width;
}

interface Cell {
  readonly text: string;
  /** Code unit of the line at which the character stands. */
  readonly at: number;
  /** Code units that it stands for. */
  readonly units: number;
  readonly column: number;
  readonly width: number;
}

/** The cells of a part of a line that starts at its code unit `offset`; `secrets` are ranges of the line's code units. */
function cellsOf(text: string, offset: number, secrets: readonly Range[]): Cell[] {
  const cells: Cell[] = [];
  let column = 0;
  const push = (character: string, at: number): void => {
    const tab = character === "\t";
    const shown = tab ? " ".repeat(TAB - (column % TAB)) : visible(character);
    const width = tab ? shown.length : graphemeWidth(shown);
    cells.push({ text: shown, at, units: character.length, column, width });
    column += width;
  };
  const plain = (from: number, to: number): void => {
    const part = text.slice(from, to);
    if (ASCII.test(part)) for (let i = 0; i < part.length; i++) push(part[i]!, offset + from + i);
    else for (const { segment, index } of graphemes(part)) push(segment, offset + from + index);
  };
  let done = 0;
  for (const secret of secrets) {
    const from = Math.max(done, secret.start - offset);
    const to = Math.min(text.length, secret.end - offset);
    if (to <= from) continue;
    plain(done, from);
    cells.push({ text: MASK, at: offset + from, units: to - from, column, width: MASK.length });
    column += MASK.length;
    done = to;
  }
  plain(done, text.length);
  return cells;
}

/** The secrets of a 1-based line, in its code units. */
function secretsOf(source: Source, number: number, length: number): Range[] {
  const start = source.lineStarts[number - 1]!;
  const spans = secretSpans(source);
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]!.end <= start) low = middle + 1;
    else high = middle;
  }
  const out: Range[] = [];
  for (let i = low; i < spans.length && spans[i]!.start < start + length; i++)
    out.push({ start: Math.max(0, spans[i]!.start - start), end: Math.min(length, spans[i]!.end - start) });
  return out;
}

/** One line of the file, cut around its marked code units `[from, to)`. */
function cutLine(
  source: Source,
  number: number,
  line: string,
  from: number,
  to: number,
  marked: boolean,
  width: number,
): FrameLine {
  // no more of an endless line is looked at than can be shown
  const low = Math.max(0, from - 2 * width);
  const cells = cellsOf(line.slice(low, from + 4 * width), low, secretsOf(source, number, line.length));
  const total = cells.length === 0 ? 0 : cells[cells.length - 1]!.column + cells[cells.length - 1]!.width;
  // a place inside a secret is the place of its mask
  const columnOf = (unit: number): number =>
    cells.find((c) => c.at >= unit || (c.text === MASK && c.at + c.units > unit))?.column ?? total;
  const start = columnOf(from);
  const end = Math.max(start, columnOf(to));
  const moreLeft = low > 0;
  const moreRight = from + 4 * width < line.length;
  if (total <= width && !moreLeft && !moreRight) {
    const text = cells
      .map((c) => c.text)
      .join("")
      .trimEnd();
    return { number, text, mark: marked ? { from: start, to: end } : undefined };
  }
  const inner = Math.max(8, width - 2);
  let first = 0;
  if (moreLeft || end > inner) {
    const spare = Math.max(0, inner - (end - start));
    first = Math.max(0, start - Math.min(Math.floor(spare / 2), start));
    if (end - start >= inner) first = Math.max(0, start - 4);
  }
  const shown = cells.filter((c) => c.column >= first && c.column + c.width <= first + inner);
  const left = moreLeft || first > 0 ? "…" : "";
  const shift = left.length - (shown[0]?.column ?? 0);
  const last = shown[shown.length - 1];
  const stop = last === undefined ? first : last.column + last.width;
  const right = moreRight || stop < total ? "…" : "";
  const clip = (column: number): number => Math.max(left.length, Math.min(column, stop) + shift);
  return {
    number,
    text: left + shown.map((c) => c.text).join("") + right,
    mark: marked ? { from: clip(start), to: clip(end) } : undefined,
  };
}

/** The frame of a span; empty where the file has no text to show there (an empty or binary file). */
export function frameOf(span: Span, options: FrameOptions): FrameLine[] {
  const { source } = span;
  const { width, context } = options;
  if (source.text.length === 0 || source.text.slice(0, 8000).includes("\0")) return [];
  const { lineStarts } = source;
  const first = source.position(span.start).line;
  let last = source.position(span.end).line;
  // a span that ends in a line's indentation ends, for the eye, on the line before
  while (last > first && source.text.slice(lineStarts[last - 1]!, span.end).trim() === "") last--;

  const out: FrameLine[] = [];
  const plain = (line: number): void => {
    if (line < 1 || line > lineStarts.length) return;
    const text = lineText(source, line);
    if (text.trim() !== "") out.push(cutLine(source, line, text, 0, 0, false, width));
  };
  for (let line = first - context; line < first; line++) plain(line);
  for (let line = first; line <= last; line++) {
    if (line === first + FIRST_LINES && last > line) {
      const left = last - line;
      out.push({ number: undefined, text: `… ${left} more line${left === 1 ? "" : "s"}`, mark: undefined });
      line = last;
    }
    const text = lineText(source, line);
    const start = lineStarts[line - 1]!;
    const indent = text.length - text.trimStart().length;
    let from = line === first ? span.start - start : indent;
    let to = Math.min(span.end - start, text.length);
    if (line < last) to = Math.max(from, text.trimEnd().length);
    from = Math.min(from, text.length);
    if (line > first && text.trim() === "") continue;
    out.push(cutLine(source, line, text, from, Math.max(from, to), true, width));
  }
  for (let line = last + 1; line <= last + context; line++) plain(line);
  return out;
}

/** The text of a frame's line before, in and behind its mark, for what can mark by other means than a second line. */
export function markedParts({ text, mark }: FrameLine): readonly [before: string, marked: string, after: string] {
  if (mark === undefined) return [text, "", ""];
  const part = (from: number, to: number): string => {
    if (ASCII.test(text)) return text.slice(from, to);
    let out = "";
    let column = 0;
    for (const { segment } of graphemes(text)) {
      if (column >= from && column < to) out += segment;
      column += graphemeWidth(segment);
    }
    return out;
  };
  // an empty mark stands on the next character, or behind the line
  const to = Math.max(mark.to, mark.from + 1);
  return [part(0, mark.from), part(mark.from, to) || " ", part(to, Number.MAX_SAFE_INTEGER)];
}
