/** Mutators of the languages that are lines of words: configurations, ACLs, properties, shell and Lua. */
import { aclMutations } from "./acl.js";
import { confMutations } from "./conf.js";
import { luaMutations } from "./lua.js";
import { propertiesMutations } from "./properties.js";
import { shellMutations } from "./shell.js";

/** A replacement inside a text (offsets in that text, which may stand inside another file). */
export interface TextMutation {
  readonly mutator: string;
  readonly field: string;
  readonly start: number;
  readonly end: number;
  readonly newText: string;
}

export type TextLanguage = "conf" | "acl" | "properties" | "shell" | "lua";

export function textMutations(language: TextLanguage, text: string): Generator<TextMutation> {
  switch (language) {
    case "conf":
      return confMutations(text);
    case "acl":
      return aclMutations(text);
    case "properties":
      return propertiesMutations(text);
    case "shell":
      return shellMutations(text);
    case "lua":
      return luaMutations(text);
  }
}
