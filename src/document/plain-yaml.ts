/**
 * The YAML that manifests are mostly written in, read in one pass: block and flow collections, scalars of one line, literal
 * blocks. Whatever else a text holds (anchors, tags, folded text, tabs, faults), it is not read here but by the whole grammar:
 * what is read here means exactly the same there.
 */
import { getScalarValue } from "js-yaml";

export const STYLE_PLAIN = 1;
export const STYLE_SINGLE = 2;
export const STYLE_DOUBLE = 3;
export const STYLE_LITERAL = 4;

/** Makes what is read. Offsets are those of the text; a quoted scalar's are those of its content. */
export interface Maker<T> {
  scalar(text: string, style: number, start: number, end: number, indent: number): T;
  /** A value that is not written. */
  empty(): T;
  map(start: number, flow: boolean): T;
  list(start: number, flow: boolean): T;
  /** undefined: only the whole grammar knows what the key means. */
  key(map: T, text: string, style: number, start: number, end: number): T | undefined;
  entry(map: T, key: T, value: T): void;
  item(list: T, value: T): void;
  /** `end`: behind the bracket of a flow collection. */
  close(collection: T, end: number | undefined): void;
}

/** Reads the document between two offsets of a text; undefined: it needs the whole grammar. */
export function readPlainYaml<T extends NonNullable<unknown> | null>(
  text: string,
  make: Maker<T>,
  start = 0,
  end = text.length,
): T | undefined {
  return SIMPLE.test(text.slice(start, end)) ? new Reader(text, make, start, end).document() : undefined;
}

const SIMPLE = /^[\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/;
/** Far below the depth at which the grammar gives up. */
const MAX_DEPTH = 40;
const CLIP = 1;
const STRIP = 2;
const KEEP = 3;

const NEWLINE = 10;
const SPACE = 32;
const QUOTE = 34;
const HASH = 35;
const APOSTROPHE = 39;
const COMMA = 44;
const DASH = 45;
const DOT = 46;
const COLON = 58;
const BACKSLASH = 92;
const [OPEN_LIST, CLOSE_LIST, BAR, OPEN_MAP, CLOSE_MAP] = [91, 93, 124, 123, 125];

function isFlowIndicator(code: number): boolean {
  return code === COMMA || code === OPEN_LIST || code === CLOSE_LIST || code === OPEN_MAP || code === CLOSE_MAP;
}

/** Methods that read something stand behind it, those that read a node of a block on the next line that holds anything. */
class Reader<T extends NonNullable<unknown> | null> {
  readonly #text: string;
  readonly #make: Maker<T>;
  readonly #until: number;
  #at: number;
  /** Where the line begins, and the column at which its content does; -1: the document ends. */
  #line = 0;
  #column = 0;
  #depth = 0;
  /** The token read last: its content, without quotes. */
  #start = 0;
  #end = 0;
  #style = STYLE_PLAIN;
  #simple = true;

  /** `until`: where the document ends. */
  constructor(text: string, make: Maker<T>, start: number, until: number) {
    this.#text = text;
    this.#make = make;
    this.#at = start;
    this.#until = until;
  }

  document(): T | undefined {
    const marked = this.#text.startsWith("---", this.#at) && this.#isGap(this.#at + 3);
    if (marked) this.#at += 3;
    const begun = marked ? this.#next() : this.#nextLine();
    if (!begun || this.#column !== 0) return undefined;
    const whole = this.#node(0);
    return this.#column < 0 ? whole : undefined;
  }

  // --- lines --------------------------------------------------------------------------------------------------------

  /** A space, the end of a line or of the text. */
  #isGap(at: number): boolean {
    const code = this.#text.charCodeAt(at);
    return code === SPACE || code === NEWLINE || at >= this.#until;
  }

  #spaces(): number {
    while (this.#text.charCodeAt(this.#at) === SPACE) this.#at++;
    return this.#text.charCodeAt(this.#at);
  }

  /** Nothing but a comment is left of the line. */
  #isLineOver(): boolean {
    const from = this.#at;
    const code = this.#spaces();
    if (code === NEWLINE || this.#at >= this.#until) return true;
    if (code !== HASH || this.#at === from) {
      this.#at = from;
      return false;
    }
    this.#skipLine();
    return true;
  }

  #skipLine(): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#until : end;
  }

  /** Goes on to the next line with content; false: something else is left of this one. */
  #next(): boolean {
    if (!this.#isLineOver()) return false;
    this.#at++;
    return this.#nextLine();
  }

  #nextLine(): boolean {
    for (;;) {
      this.#line = this.#at;
      const code = this.#spaces();
      if (this.#at >= this.#until) {
        this.#column = -1;
        return true;
      }
      if (code === HASH) this.#skipLine();
      else if (code !== NEWLINE) break;
      this.#at++;
    }
    this.#column = this.#at - this.#line;
    return this.#column > 0 || !(this.#text.startsWith("---", this.#at) || this.#text.startsWith("...", this.#at));
  }

  // --- blocks -------------------------------------------------------------------------------------------------------

  /** A node at its first character. `limit`: a line at this column or beyond would go on with a plain scalar. */
  #node(limit: number): T | undefined {
    const code = this.#text.charCodeAt(this.#at);
    if (code === DASH && this.#isGap(this.#at + 1)) return this.#list(this.#at - this.#line);
    if (code === OPEN_LIST || code === OPEN_MAP || code === BAR) return this.#inline(limit);
    const column = this.#at - this.#line;
    if (!this.#token(false)) return undefined;
    if (this.#spaces() === COLON && this.#isGap(this.#at + 1)) return this.#map(column);
    return this.#scalar(limit);
  }

  /** The token as a value. */
  #scalar(limit: number): T | undefined {
    const plain = this.#style === STYLE_PLAIN;
    const value = this.#make.scalar(this.#value(), this.#style, this.#start, this.#end, -1);
    return this.#next() && !(plain && this.#column >= limit) ? value : undefined;
  }

  #value(): string {
    if (this.#simple) return this.#text.slice(this.#start, this.#end);
    return this.#scalarText(this.#style, this.#start, this.#end, CLIP, -1);
  }

  #scalarText(style: number, valueStart: number, valueEnd: number, chomping: number, indent: number): string {
    return getScalarValue(this.#text, { style, valueStart, valueEnd, chomping, indent, fast: false } as Parameters<
      typeof getScalarValue
    >[1]);
  }

  /** A mapping whose first key is the token, at its colon. */
  #map(column: number): T | undefined {
    if (this.#depth++ > MAX_DEPTH) return undefined;
    const make = this.#make;
    const map = make.map(this.#line + column, false);
    for (;;) {
      const key = make.key(map, this.#value(), this.#style, this.#start, this.#end);
      if (key === undefined) return undefined;
      this.#at++;
      const value = this.#entry(column);
      if (value === undefined) return undefined;
      make.entry(map, key, value);
      if (this.#column < column) break;
      if (this.#column > column || !this.#token(false)) return undefined;
      if (this.#spaces() !== COLON || !this.#isGap(this.#at + 1)) return undefined;
    }
    this.#depth--;
    make.close(map, undefined);
    return map;
  }

  /** The value behind the colon of a key. */
  #entry(column: number): T | undefined {
    if (!this.#isLineOver()) {
      this.#spaces();
      return this.#inline(column + 1);
    }
    if (!this.#next()) return undefined;
    if (this.#column > column) return this.#node(column + 1);
    const isList = this.#column === column && this.#text.charCodeAt(this.#at) === DASH && this.#isGap(this.#at + 1);
    return isList ? this.#list(column) : this.#make.empty();
  }

  #list(column: number): T | undefined {
    if (this.#depth++ > MAX_DEPTH) return undefined;
    const make = this.#make;
    const list = make.list(this.#at, false);
    do {
      this.#at++;
      let item: T | undefined;
      if (!this.#isLineOver()) {
        this.#spaces();
        item = this.#node(column + 1);
      } else if (!this.#next() || this.#column < 0) return undefined;
      else item = this.#column > column ? this.#node(column + 1) : make.empty();
      if (item === undefined || this.#column > column) return undefined;
      make.item(list, item);
    } while (this.#column === column && this.#text.charCodeAt(this.#at) === DASH && this.#isGap(this.#at + 1));
    this.#depth--;
    make.close(list, undefined);
    return list;
  }

  /** A value that begins in the line of its key: no collection of a block. */
  #inline(limit: number): T | undefined {
    const code = this.#text.charCodeAt(this.#at);
    if (code === BAR) return this.#literal(limit);
    if (code === OPEN_LIST || code === OPEN_MAP) {
      const value = this.#flow(limit);
      return value !== undefined && this.#next() ? value : undefined;
    }
    return this.#token(false) ? this.#scalar(limit) : undefined;
  }

  #literal(limit: number): T | undefined {
    const text = this.#text;
    // a document of its own
    if (limit === 0) return undefined;
    const sign = text.charAt(++this.#at);
    const chomping = sign === "-" ? STRIP : sign === "+" ? KEEP : CLIP;
    if (chomping !== CLIP) this.#at++;
    if (this.#spaces() !== NEWLINE) return undefined;
    const start = ++this.#at;
    let indent = -1;
    let end = start;
    for (this.#line = start; ; ) {
      const code = this.#spaces();
      const column = this.#at - this.#line;
      if (this.#at >= this.#until && column > 0) return undefined;
      // the first line decides the indent
      if (indent < 0 && (code === NEWLINE || column < limit)) return undefined;
      if (indent < 0) indent = column;
      if (this.#at >= this.#until || (code !== NEWLINE && column < indent)) break;
      this.#skipLine();
      end = this.#at = Math.min(this.#until, this.#at + 1);
      this.#line = end;
      if (end === this.#until) break;
    }
    this.#at = this.#line;
    const value = this.#scalarText(STYLE_LITERAL, start, end, chomping, indent);
    const made = this.#make.scalar(value, STYLE_LITERAL, start, end, indent);
    return this.#nextLine() ? made : undefined;
  }

  // --- tokens -------------------------------------------------------------------------------------------------------

  /** A scalar of one line. */
  #token(flow: boolean): boolean {
    const code = this.#text.charCodeAt(this.#at);
    if (code === QUOTE || code === APOSTROPHE) return this.#quoted(code);
    return this.#plain(code, flow);
  }

  #plain(first: number, flow: boolean): boolean {
    const text = this.#text;
    let at = this.#at;
    this.#start = at;
    switch (first) {
      case DASH:
        if (this.#isGap(at + 1) || (flow && isFlowIndicator(text.charCodeAt(at + 1)))) return false;
        break;
      // ! % & * > ? @ ` begin something else, or are rare
      case 33:
      case 37:
      case 38:
      case 42:
      case 62:
      case 63:
      case 64:
      case 96:
      case BAR:
      case HASH:
      case COLON:
      case NEWLINE:
        return false;
      default:
        if (isFlowIndicator(first)) return false;
    }
    let end = at;
    for (; at < this.#until; at++) {
      const code = text.charCodeAt(at);
      if (code === SPACE) continue;
      if (code === NEWLINE || (flow && isFlowIndicator(code))) break;
      if (code === COLON && (this.#isGap(at + 1) || (flow && isFlowIndicator(text.charCodeAt(at + 1))))) break;
      if (code === HASH && text.charCodeAt(at - 1) === SPACE) break;
      end = at + 1;
    }
    this.#end = this.#at = end;
    this.#style = STYLE_PLAIN;
    this.#simple = true;
    return end > this.#start;
  }

  #quoted(quote: number): boolean {
    const text = this.#text;
    let at = this.#at + 1;
    this.#start = at;
    this.#simple = true;
    for (; ; at++) {
      const code = text.charCodeAt(at);
      if (code === quote) {
        if (quote !== APOSTROPHE || text.charCodeAt(at + 1) !== APOSTROPHE) break;
        this.#simple = false;
        at++;
      } else if (code === BACKSLASH && quote === QUOTE) {
        // escapes of one letter
        if (!'"\\/nt'.includes(text.charAt(++at)) || at >= this.#until) return false;
        this.#simple = false;
      } else if (code === NEWLINE || at >= this.#until) return false;
    }
    this.#end = at;
    this.#at = at + 1;
    this.#style = quote === QUOTE ? STYLE_DOUBLE : STYLE_SINGLE;
    return true;
  }

  // --- flow collections ---------------------------------------------------------------------------------------------

  /** Goes on to the next character that is no space, over line breaks; -1: the grammar must say. */
  #flowGap(limit: number): number {
    let code = this.#spaces();
    if (code !== NEWLINE) return code === HASH ? -1 : code;
    while (code === NEWLINE) {
      this.#line = ++this.#at;
      code = this.#spaces();
    }
    const column = this.#at - this.#line;
    return column < limit || code === HASH || (column === 0 && (code === DASH || code === DOT)) ? -1 : code;
  }

  #flowNode(limit: number): T | undefined {
    const code = this.#text.charCodeAt(this.#at);
    if (code === OPEN_LIST || code === OPEN_MAP) return this.#flow(limit);
    if (!this.#token(true)) return undefined;
    return this.#make.scalar(this.#value(), this.#style, this.#start, this.#end, -1);
  }

  #flow(limit: number): T | undefined {
    if (this.#depth++ > MAX_DEPTH) return undefined;
    const make = this.#make;
    const isMap = this.#text.charCodeAt(this.#at) === OPEN_MAP;
    const close = isMap ? CLOSE_MAP : CLOSE_LIST;
    const made = isMap ? make.map(this.#at, true) : make.list(this.#at, true);
    this.#at++;
    let code = this.#flowGap(limit);
    while (code !== close) {
      if (code < 0) return undefined;
      let key: T | undefined;
      if (isMap) {
        if (!this.#token(true)) return undefined;
        key = make.key(made, this.#value(), this.#style, this.#start, this.#end);
        if (key === undefined || this.#flowGap(limit) !== COLON) return undefined;
        this.#at++;
        if (this.#flowGap(limit) < 0) return undefined;
      }
      const value = this.#flowNode(limit);
      if (value === undefined) return undefined;
      if (key === undefined) make.item(made, value);
      else make.entry(made, key, value);
      code = this.#flowGap(limit);
      if (code === COMMA) {
        this.#at++;
        code = this.#flowGap(limit);
      } else if (code !== close) return undefined;
    }
    this.#at++;
    this.#depth--;
    make.close(made, this.#at);
    return made;
  }
}
