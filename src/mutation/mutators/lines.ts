/** Lines and words of a text, by offsets. */

export interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface Line {
  readonly start: number;
  /** Without the line end. */
  readonly end: number;
  readonly text: string;
}

export function* linesOf(text: string): Generator<Line> {
  let start = 0;
  while (start <= text.length) {
    const stop = text.indexOf("\n", start);
    const next = stop < 0 ? text.length : stop;
    const end = next > start && text[next - 1] === "\r" ? next - 1 : next;
    if (start < text.length) yield { start, end, text: text.slice(start, end) };
    if (stop < 0) return;
    start = stop + 1;
  }
}

/** Runs without blanks; a quoted run counts as one word, its quotes included. */
export function wordsOf(line: Line): Word[] {
  const out: Word[] = [];
  for (const m of line.text.matchAll(/"(?:[^"\\]|\\.)*"|'[^']*'|[^\s]+/g))
    out.push({ text: m[0], start: line.start + m.index, end: line.start + m.index + m[0].length });
  return out;
}

/** The range to cut so that a line is gone: with its own line end, or the one before it for the last line. */
export function cutLine(text: string, line: Line): { start: number; end: number } {
  const stop = text.indexOf("\n", line.end);
  if (stop >= 0 && stop + 1 < text.length) return { start: line.start, end: stop + 1 };
  return line.start > 0 ? { start: line.start - 1, end: line.end } : { start: 0, end: line.end };
}

/** A second copy of a line, put below it. */
export function copyLine(line: Line): { start: number; end: number; newText: string } {
  return { start: line.end, end: line.end, newText: `\n${line.text.trimEnd()}` };
}
