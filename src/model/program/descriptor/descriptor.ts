/** What code says of one Lua program. Each part is known, unknown (it is there, its value is not decided by the files), or absent. */
import type { Span } from "../../../text/source.js";

export type Reading<T> =
  /** `at`: where the descriptor has it; `origin`: where the constant was written, the same place for a literal. */
  | { readonly state: "known"; readonly value: T; readonly at: Span; readonly origin: Span }
  | { readonly state: "unknown"; readonly reason: string; readonly at: Span }
  | { readonly state: "absent" };

export const ABSENT = { state: "absent" } as const;

export interface DescriptorKey {
  readonly name: Reading<string>;
  readonly pattern: Reading<string>;
  readonly access: Reading<"R" | "W" | "RW">;
  readonly at: Span;
}

export interface DescriptorArgument {
  readonly name: Reading<string>;
  readonly type: Reading<string>;
  readonly unit: Reading<string>;
  readonly at: Span;
}

export interface DescriptorResult {
  /** The manifest's types that it may stand for: a Java class can be more than one. */
  readonly types: Reading<readonly string[]>;
  readonly values: Reading<readonly (string | number | boolean | null)[]>;
  readonly items: Reading<readonly string[]>;
}

/** Words of the manifest that a descriptor repeats, by its field. */
export type WordField = "retry" | "slotRule" | "certainty" | "guarantee" | "class";

export interface Descriptor {
  readonly language: "java" | "typescript";
  /**
   * `entry`: of a catalog, with an id or several of the manifest's fields; `script`: a script object of a client library;
   * `constant`: a bare digest or text under a telling name.
   */
  readonly shape: "entry" | "script" | "constant";
  readonly at: Span;
  /** For messages. */
  readonly name: string;
  readonly id: Reading<string>;
  /** The name under which it is held; `strong`: a key of a catalog or a command's name, not only a variable. */
  readonly holder: { readonly name: string; readonly at: Span; readonly strong: boolean } | undefined;
  readonly version: Reading<string>;
  readonly file: Reading<string>;
  readonly sha1: Reading<string>;
  readonly sha256: Reading<string>;
  /** The script's text, evaluated. */
  readonly text: Reading<string>;
  readonly numberOfKeys: Reading<number>;
  readonly keys: Reading<readonly DescriptorKey[]>;
  readonly argv: Reading<readonly DescriptorArgument[]>;
  readonly result: Reading<DescriptorResult>;
  readonly minimumRedisVersion: Reading<string>;
  readonly commands: Reading<readonly Reading<string>[]>;
  readonly words: Readonly<Record<WordField, Reading<string>>>;
}

/** Something that looks like a descriptor and does not say of which program. */
export interface Unresolved {
  readonly at: Span;
  readonly reason: string;
}
