/**
 * Source text and the one coordinate system of the house: UTF-16 offsets into the text of a file.
 * Lines and columns are made from them only by reporters.
 */

/** 1-based line and column; a column counts UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A half-open range of UTF-16 offsets in a file. */
export interface Span {
  readonly source: Source;
  readonly start: number;
  readonly end: number;
}

/** Replace the text of `span` by `newText`. Fixes and mutants are both made of these. */
export interface Edit {
  readonly span: Span;
  readonly newText: string;
}

/** One file: its path relative to the contract root (with `/`) and its text. */
export class Source {
  readonly file: string;
  readonly text: string;
  #lines: Uint32Array | undefined;

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
  }

  /** Offsets at which lines start; `\n`, `\r\n` and a lone `\r` end a line. */
  get lineStarts(): Uint32Array {
    this.#lines ??= startsOf(this.text);
    return this.#lines;
  }

  /** A byte order mark has no column: editors and SARIF do not count it. */
  position(offset: number): Position {
    const starts = this.lineStarts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    const column = offset - starts[low]! + 1;
    const marked = low === 0 && column > 1 && this.text.charCodeAt(0) === 0xfeff;
    return { line: low + 1, column: marked ? column - 1 : column };
  }

  span(start: number, end: number): Span {
    return { source: this, start, end };
  }

  slice(span: { start: number; end: number }): string {
    return this.text.slice(span.start, span.end);
  }
}

/** Counted first: a list that grows to ten million entries costs more than the second look. */
function startsOf(text: string): Uint32Array {
  // a search runs over a line faster than a loop
  const next = text.includes("\r") ? behindBreak : behindNewline;
  let count = 1;
  for (let at = next(text, 0); at > 0; at = next(text, at)) count++;
  const starts = new Uint32Array(count);
  for (let at = next(text, 0), line = 1; at > 0; at = next(text, at)) starts[line++] = at;
  return starts;
}

/** Where the line after the one at an offset begins; 0: there is none. */
function behindNewline(text: string, at: number): number {
  return text.indexOf("\n", at) + 1;
}

function behindBreak(text: string, at: number): number {
  for (let i = at; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 10 || (c === 13 && text.charCodeAt(i + 1) !== 10)) return i + 1;
  }
  return 0;
}

/** A run of `length` inner code units that starts at `inner` and stands at `outer … outer + outerLength` in the file. */
export interface Segment {
  readonly inner: number;
  readonly length: number;
  readonly outer: number;
  readonly outerLength: number;
}

/**
 * Text to be parsed, and where each character of it stands in its file: a whole file, or a value inside one (a conf in a
 * ConfigMap's block scalar, a shell script in a JSON string). Parsers work on `text` and make places with `span`.
 */
export class TextView {
  readonly source: Source;
  readonly text: string;
  #segments: readonly Segment[] | (() => readonly Segment[]) | undefined;

  /** `segments` may be made on demand: most texts never have a finding. */
  constructor(source: Source, text: string = source.text, segments?: readonly Segment[] | (() => readonly Segment[])) {
    this.source = source;
    this.text = text;
    this.#segments = segments;
  }

  /** undefined: the view is the file itself. */
  get segments(): readonly Segment[] | undefined {
    if (typeof this.#segments === "function") this.#segments = this.#segments();
    return this.#segments;
  }

  /** The offset in the file of an inner offset; `end` asks for the end of the character before it. */
  outer(offset: number, end = false): number {
    const { segments } = this;
    if (segments === undefined || segments.length === 0) return offset;
    const wanted = end && offset > 0 ? offset - 1 : offset;
    let low = 0;
    let high = segments.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (segments[middle]!.inner <= wanted) low = middle;
      else high = middle - 1;
    }
    const segment = segments[low]!;
    const inside = offset - segment.inner;
    if (segment.length === segment.outerLength) {
      return segment.outer + Math.max(0, Math.min(inside, segment.outerLength));
    }
    // what is made of another text stands where all of that stands
    const begins = inside <= 0 || (!end && inside < segment.length);
    return begins ? segment.outer : segment.outer + segment.outerLength;
  }

  span(start: number, end: number): Span {
    const from = this.outer(start);
    return { source: this.source, start: from, end: Math.max(from, end > start ? this.outer(end, true) : from) };
  }

  /** A view of a part of this view. */
  sub(start: number, end: number): TextView {
    const text = this.text.slice(start, end);
    const { segments } = this;
    if (segments === undefined) {
      return new TextView(this.source, text, [
        { inner: 0, length: end - start, outer: start, outerLength: end - start },
      ]);
    }
    const part: Segment[] = [];
    for (const s of segments) {
      const from = Math.max(s.inner, start);
      const to = Math.min(s.inner + s.length, end);
      if (from >= to) continue;
      const plain = s.length === s.outerLength;
      part.push({
        inner: from - start,
        length: to - from,
        outer: plain ? s.outer + (from - s.inner) : s.outer,
        outerLength: plain ? to - from : s.outerLength,
      });
    }
    // an empty part still has a place
    if (part.length === 0) part.push({ inner: 0, length: 0, outer: this.outer(start), outerLength: 0 });
    return new TextView(this.source, text, part);
  }
}

/** Applies edits of one source to its text; overlapping edits are refused with a RangeError. */
export function applyEdits(source: Source, edits: readonly Edit[]): string {
  const sorted = edits
    .filter((e) => e.span.source.file === source.file)
    .sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
  let out = "";
  let at = 0;
  for (const { span, newText } of sorted) {
    if (span.start < at) throw new RangeError(`overlapping edits in ${source.file} at offset ${span.start}`);
    out += source.text.slice(at, span.start) + newText;
    at = span.end;
  }
  return out + source.text.slice(at);
}
