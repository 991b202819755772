/** Places in documents: which node is meant now, where it stands only when somebody reports it. */
import type { Path, YamlDocument } from "../document/yaml.js";
import type { Span } from "../text/source.js";

/** Something with a place in a file. `pointer` is a JSON Pointer and is there only for YAML and JSON. */
export interface Place {
  readonly span: Span;
  readonly pointer?: string | undefined;
}

export type PlaceKind = "value" | "key" | "pair" | "missing";

/** A node of a YAML document by path; the span is made on demand. */
export class NodePlace implements Place {
  readonly document: YamlDocument;
  readonly path: Path;
  readonly kind: PlaceKind;

  constructor(document: YamlDocument, path: Path, kind: PlaceKind = "value") {
    this.document = document;
    this.path = path;
    this.kind = kind;
  }

  get span(): Span {
    const { document, path, kind } = this;
    if (kind === "missing" || document.node(path) === undefined) return document.nearest(path);
    return document.locate(path, kind);
  }

  get pointer(): string {
    let path = this.path;
    while (path.length > 0 && this.document.node(path) === undefined) path = path.slice(0, -1);
    return pointerOf(path);
  }
}

/** A place that is already known as a span. */
export function placeOf(span: Span): Place {
  return { span };
}

export function pointerOf(path: Path): string {
  return path.map((step) => "/" + String(step).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
}
