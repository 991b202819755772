/** The single source of truth for images: a properties file. */
import type { Property } from "../document/properties.js";
import type { Span } from "../text/source.js";
import type { InputFile } from "./input.js";

export interface ImageRegistry {
  readonly input: InputFile;
  readonly properties: readonly Property[];
  readonly minimumKey: string;
  readonly approvedKey: string;
  readonly minimum: Property | undefined;
  readonly approved: Property | undefined;
  /** First line of the file: the place of what is missing. */
  readonly head: Span;
}
