/** Files as the model gets them: text, kind, and the documents in them, parsed once. */
import { parseYaml, type ScalarMeaning, type YamlDocument, type YamlFile } from "../document/yaml.js";
import { Source, TextView } from "../text/source.js";

export type FileKind =
  | "kubernetes"
  | "yaml"
  | "conf"
  | "acl"
  | "properties"
  | "env"
  | "lua"
  | "json"
  | "shell"
  | "java"
  | "typescript"
  | "markdown"
  | "text";

/**
 * Something made of a file and kept with it. What a WeakMap holds lives until the next full collection, whether or not its file
 * does: too long for a sweep, a watch or an editor, which make files for a moment.
 */
export class KeptWith<T> {
  get(file: InputFile): T | undefined {
    return file.kept?.get(this) as T | undefined;
  }

  set(file: InputFile, value: T): void {
    file.kept ??= new Map();
    file.kept.set(this, value);
  }
}

/** One file of a contract. `templated`: placeholders in it are tokens (by its name, or by the contract file). */
export class InputFile {
  readonly source: Source;
  readonly kind: FileKind;
  readonly templated: boolean;
  /** The bytes of a file whose text does not say what they are: it is not UTF-8. */
  readonly bytes: Uint8Array | undefined;
  /** Why the text is not usable (not UTF-8, binary, unreadable); such a file is one finding. */
  readonly fault: string | undefined;
  /** See `KeptWith`. */
  kept: Map<KeptWith<unknown>, unknown> | undefined;
  #yaml: YamlFile | undefined;
  #origin: InputFile | undefined;
  #view: TextView | undefined;

  constructor(
    source: Source,
    kind: FileKind,
    options: { bytes?: Uint8Array; templated?: boolean; fault?: string } = {},
  ) {
    this.source = source;
    this.kind = kind;
    this.bytes = options.bytes;
    this.templated = options.templated ?? isTemplateName(source.file);
    this.fault = options.fault;
  }

  get file(): string {
    return this.source.file;
  }

  get view(): TextView {
    this.#view ??= new TextView(this.source);
    return this.#view;
  }

  /** The file that this one stands for: what is made of its content is kept with that one. */
  get identity(): InputFile {
    return this;
  }

  /** Told to whoever watches reads: something that was made of the whole content is looked at; of its syntax tree, if `parsed`. */
  touch(_parsed = false): void {}

  /** The same value, read under watch where somebody watches this file; `name` says what was made of the file. */
  watched<T extends object>(_name: string, value: T): T {
    return value;
  }

  /** The YAML documents; parsed on first use. */
  get yaml(): YamlFile {
    const meaning: ScalarMeaning = this.kind === "kubernetes" ? "kubernetes" : "core";
    this.#yaml ??= parseYaml(this.source, meaning);
    return this.#yaml;
  }

  /** The same file with another text whose documents are known already: those that a change left alone, and its own. */
  withDocuments(source: Source, documents: readonly YamlDocument[]): InputFile {
    const file = new InputFile(source, this.kind, { templated: this.templated });
    file.#yaml = { source, documents, problems: [] };
    file.#origin = this;
    return file;
  }

  /** The file that this one is a change of: documents that they share are the same objects. */
  get origin(): InputFile | undefined {
    return this.#origin;
  }

  /** The same file with another text. */
  withText(text: string): InputFile {
    return new InputFile(new Source(this.file, text), this.kind, { templated: this.templated });
  }
}

/** Files whose name says that placeholders in them are expanded before use. */
export function isTemplateName(file: string): boolean {
  return /\.(tmpl|tpl|template|j2|in)$/i.test(file);
}
