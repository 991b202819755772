import { type ConfDocument, type ConfLine, parseConf } from "../../document/redis-conf.js";
import { type Segment, TextView } from "../../text/source.js";

/** A file of an include, and those of its lines that the server reads as lines. */
export interface Piece {
  readonly document: ConfDocument;
  /** `glue`: the line runs on into the next file. */
  readonly lines: readonly { readonly line: ConfLine; readonly glue: boolean }[];
}

/** The files that a glob matched are one text to the server: without a line end, a file's last line runs into the next. */
export function glued(documents: readonly ConfDocument[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let inside = false;
  for (const [i, document] of documents.entries()) {
    const { text } = document.view;
    // The first line of this file was read as the end of an earlier one.
    let lines = document.lines.map((line) => ({ line, glue: false })).filter(({ line }) => !inside || line.line > 1);
    const open = text !== "" && !text.endsWith("\n") && i < documents.length - 1;
    if (open && !(inside && !text.includes("\n"))) {
      const start = text.lastIndexOf("\n") + 1;
      let tail = "";
      for (const { view } of documents.slice(i + 1)) {
        const stop = view.text.indexOf("\n");
        tail += stop < 0 ? view.text : view.text.slice(0, stop);
        if (stop >= 0) break;
      }
      const view = joined(document.view, start, text.slice(start), tail);
      const { lines: made } = parseConf(view, { templates: document.templates });
      const glue = tail.trim() !== "";
      lines = [...lines.filter(({ line }) => line.start < start), ...made.map((line) => ({ line, glue }))];
    }
    if (text !== "") inside = open;
    pieces.push({ document, lines });
  }
  return pieces;
}

/** The last line of a file with the next file's first: places in the second part are the end of the first. */
function joined(view: TextView, start: number, head: string, tail: string): TextView {
  const base = view.sub(start, start + head.length);
  const end = view.outer(view.text.length, true);
  const segments: Segment[] = [
    ...(base.segments ?? []),
    { inner: head.length, length: tail.length, outer: end, outerLength: 0 },
  ];
  return new TextView(view.source, head + tail, segments);
}
