import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyEdits, type Edit, type Segment, Source, TextView } from "../../src/text/source.js";

describe("Source.position", () => {
  it("ends lines at \\n, \\r\\n and a lone \\r", () => {
    const source = new Source("f", "a\nb\r\nc\rd\r\r\n\ne");
    expect([...source.lineStarts]).toEqual([0, 2, 5, 7, 9, 11, 12]);
    expect(source.position(0)).toEqual({ line: 1, column: 1 });
    expect(source.position(1)).toEqual({ line: 1, column: 2 });
    expect(source.position(2)).toEqual({ line: 2, column: 1 });
    expect(source.position(4)).toEqual({ line: 2, column: 3 });
    expect(source.position(5)).toEqual({ line: 3, column: 1 });
    expect(source.position(7)).toEqual({ line: 4, column: 1 });
    expect(source.position(12)).toEqual({ line: 7, column: 1 });
    expect(source.position(13)).toEqual({ line: 7, column: 2 });
  });

  it("counts UTF-16 code units", () => {
    const source = new Source("f", "😀é漢x\n😀");
    expect(source.position(source.text.indexOf("x"))).toEqual({ line: 1, column: 5 });
    expect(source.position(source.text.length)).toEqual({ line: 2, column: 3 });
  });

  it("does not count a byte order mark", () => {
    const source = new Source("f", "\ufeffkind: Pod\nx: 1");
    expect(source.position(0)).toEqual({ line: 1, column: 1 });
    expect(source.position(1)).toEqual({ line: 1, column: 1 });
    expect(source.position(7)).toEqual({ line: 1, column: 7 });
    expect(source.position(11)).toEqual({ line: 2, column: 1 });
  });

  it("has one line in an empty file", () => {
    const source = new Source("f", "");
    expect([...source.lineStarts]).toEqual([0]);
    expect(source.position(0)).toEqual({ line: 1, column: 1 });
  });

  it("agrees with counting by hand at every offset", () => {
    const text = fc.array(fc.constantFrom("a", "\n", "\r", "\r\n", "😀"), { maxLength: 40 }).map((p) => p.join(""));
    fc.assert(
      fc.property(text, (t) => {
        const source = new Source("f", t);
        for (let offset = 0; offset <= t.length; offset++) {
          const before = t.slice(0, offset);
          // a \r whose \n is yet to come does not end its line
          const lines = (t[offset] === "\n" && before.endsWith("\r") ? before.slice(0, -1) : before).split(
            /\r\n|\n|\r/,
          );
          const split = t[offset] === "\n" && before.endsWith("\r");
          const column = lines[lines.length - 1]!.length + 1 + (split ? 1 : 0);
          expect(source.position(offset)).toEqual({ line: lines.length, column });
        }
      }),
    );
  });
});

describe("TextView", () => {
  it("is the file itself without segments", () => {
    const source = new Source("f", "abc");
    const view = new TextView(source);
    expect(view.outer(2)).toBe(2);
    expect(view.span(1, 3)).toEqual({ source, start: 1, end: 3 });
    expect(view.sub(1, 3).text).toBe("bc");
    expect(view.sub(1, 3).span(0, 2)).toEqual({ source, start: 1, end: 3 });
  });

  /** `ab\ncd`, written as a block scalar with an indentation of four. */
  const block = (): { source: Source; view: TextView } => {
    const source = new Source("f", "k: |\n    ab\n    cd\n");
    const segments: Segment[] = [
      { inner: 0, length: 3, outer: 9, outerLength: 3 },
      { inner: 3, length: 3, outer: 16, outerLength: 3 },
    ];
    return { source, view: new TextView(source, "ab\ncd\n", segments) };
  };

  it("finds each character of an indented block", () => {
    const { source, view } = block();
    for (let i = 0; i < view.text.length; i++) {
      expect(source.slice(view.span(i, i + 1))).toBe(view.text[i]);
    }
    expect(source.slice(view.span(3, 5))).toBe("cd");
    // the end is behind the last character, not before the next line's indentation is over
    expect(view.span(0, 3)).toEqual({ source, start: 9, end: 12 });
    expect(view.span(0, 6)).toEqual({ source, start: 9, end: 19 });
    expect(view.span(6, 6)).toEqual({ source, start: 19, end: 19 });
  });

  it("takes an escape as one place", () => {
    // the JSON string "a\u00e9b"
    const source = new Source("f", '"a\\u00e9b"');
    const view = new TextView(source, "aéb", [
      { inner: 0, length: 1, outer: 1, outerLength: 1 },
      { inner: 1, length: 1, outer: 2, outerLength: 6 },
      { inner: 2, length: 1, outer: 8, outerLength: 1 },
    ]);
    expect(source.slice(view.span(1, 2))).toBe("\\u00e9");
    expect(source.slice(view.span(0, 3))).toBe("a\\u00e9b");
    expect(source.slice(view.sub(1, 3).span(1, 2))).toBe("b");
    expect(source.slice(view.sub(1, 3).span(0, 1))).toBe("\\u00e9");
  });

  it("keeps places in parts of parts", () => {
    const { source, view } = block();
    const part = view.sub(1, 5);
    expect(part.text).toBe("b\ncd");
    expect(source.slice(part.span(2, 4))).toBe("cd");
    const inner = part.sub(2, 4);
    expect(inner.text).toBe("cd");
    expect(inner.span(0, 2)).toEqual({ source, start: 16, end: 18 });
  });

  it("gives an empty part its own place", () => {
    const { source, view } = block();
    expect(view.sub(4, 4).span(0, 0)).toEqual({ source, start: 17, end: 17 });
    expect(new TextView(source).sub(7, 7).span(0, 0)).toEqual({ source, start: 7, end: 7 });
  });

  it("keeps text and place equal for every part of every view", () => {
    const { source, view } = block();
    fc.assert(
      fc.property(fc.nat(6), fc.nat(6), fc.nat(6), (a, b, c) => {
        const [from, to] = a < b ? [a, b] : [b, a];
        const part = view.sub(from, to);
        const at = Math.min(c, part.text.length);
        if (at < part.text.length) expect(source.slice(part.span(at, at + 1))).toBe(part.text[at]);
        // the end of a part lies behind its last character, where the whole would go on at the next line's text
        const atEnd = at > 0 && at === part.text.length;
        expect(part.outer(at)).toBe(view.outer(from + at, atEnd));
      }),
    );
  });
});

describe("applyEdits", () => {
  const source = new Source("f", "user default on\r\nuser app on\r\n");
  const edit = (start: number, end: number, newText: string): Edit => ({ span: source.span(start, end), newText });

  it("replaces, inserts and deletes, whatever the order, and leaves other bytes alone", () => {
    expect(applyEdits(source, [edit(22, 25, "web"), edit(13, 15, "off"), edit(30, 30, "# end")])).toBe(
      "user default off\r\nuser web on\r\n# end",
    );
    expect(applyEdits(source, [edit(0, 17, "")])).toBe("user app on\r\n");
    expect(applyEdits(source, [])).toBe(source.text);
  });

  it("takes edits that touch, and insertions at one place in their order", () => {
    expect(applyEdits(source, [edit(0, 4, "a"), edit(4, 5, "-"), edit(4, 4, "1"), edit(4, 4, "2")])).toBe(
      "a12-default on\r\nuser app on\r\n",
    );
  });

  it("ignores edits of other files and refuses overlapping ones", () => {
    const other = new Source("g", "x");
    expect(applyEdits(source, [{ span: other.span(0, 1), newText: "y" }])).toBe(source.text);
    expect(() => applyEdits(source, [edit(0, 5, ""), edit(4, 6, "")])).toThrow(RangeError);
  });
});
