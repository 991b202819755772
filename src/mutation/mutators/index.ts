/** Which mutators a file gets. */
import type { InputFile } from "../../model/input.js";
import type { Mutation } from "../mutant.js";
import { type TextLanguage, textMutations } from "./text.js";
import { yamlMutations } from "./yaml.js";

const LANGUAGES: Readonly<Record<string, TextLanguage>> = {
  conf: "conf",
  acl: "acl",
  properties: "properties",
  env: "properties",
  shell: "shell",
  lua: "lua",
};

/** All mutations of a file, in the order of its text where that is cheap; none for languages without mutators. */
export function* mutationsOf(file: InputFile): Generator<Mutation> {
  if (file.fault !== undefined) return;
  if (file.kind === "kubernetes" || file.kind === "yaml" || file.kind === "json") {
    yield* yamlMutations(file);
    return;
  }
  const language = LANGUAGES[file.kind];
  if (language !== undefined) yield* textMutations(language, file.source.text);
}
