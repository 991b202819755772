/** Places in documents: which node is meant now, where it stands only when somebody reports it. */
import type { Path, YamlDocument } from "../document/yaml.js";
import type { Span, TextView } from "../text/source.js";

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

/** A part of an embedded text; the span is made on demand: the file that holds the text is read for places first then. */
export class ViewPlace implements Place {
  readonly #view: TextView;
  readonly #start: number;
  readonly #end: number;

  constructor(view: TextView, start: number, end: number) {
    this.#view = view;
    this.#start = start;
    this.#end = end;
  }

  get span(): Span {
    return this.#view.span(this.#start, this.#end);
  }
}

/** The place of something that finds it when asked. */
export class PlaceOf implements Place {
  readonly #thing: { readonly at: Span };

  constructor(thing: { readonly at: Span }) {
    this.#thing = thing;
  }

  get span(): Span {
    return this.#thing.at;
  }
}

export function pointerOf(path: Path): string {
  return path.map((step) => "/" + String(step).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
}
