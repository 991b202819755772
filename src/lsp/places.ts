/** Between the house's places (UTF-16 offsets, absolute paths) and the protocol's (0-based lines and UTF-16 columns, URIs). */
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Position, Range } from "vscode-languageserver";
import type { Source, Span } from "../text/source.js";

export function positionOf(source: Source, offset: number): Position {
  const { line, column } = source.position(offset);
  return { line: line - 1, character: column - 1 };
}

export function rangeOf(span: Span): Range {
  return { start: positionOf(span.source, span.start), end: positionOf(span.source, span.end) };
}

/** The offset of a position; one beyond its line or the text is at the end of it. */
export function offsetOf(source: Source, position: Position): number {
  const starts = source.lineStarts;
  if (position.line >= starts.length) return source.text.length;
  const start = starts[position.line]!;
  // a byte order mark has no column
  const mark = position.line === 0 && source.text.charCodeAt(0) === 0xfeff ? 1 : 0;
  let end = starts[position.line + 1] ?? source.text.length;
  while (end > start && (source.text.charCodeAt(end - 1) === 10 || source.text.charCodeAt(end - 1) === 13)) end--;
  return Math.min(start + mark + position.character, Math.max(end, start + mark));
}

/** The absolute path of a `file:` URI, with `/`; undefined for other schemes. */
export function pathOf(uri: string): string | undefined {
  if (!uri.startsWith("file:")) return undefined;
  try {
    const path = fileURLToPath(uri).replaceAll("\\", "/");
    return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  } catch {
    return undefined;
  }
}

export function uriOf(path: string): string {
  return pathToFileURL(path).href;
}

/** Whether a path is a directory or below it. */
export function isBelow(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}
