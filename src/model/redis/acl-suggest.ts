/** What a mistyped ACL rule may have meant. */
import { didYouMean } from "../../text/similar.js";
import type { CommandTable } from "./commands.js";

const KEYWORDS: readonly string[] = [
  "on",
  "off",
  "nopass",
  "resetpass",
  "reset",
  "allkeys",
  "resetkeys",
  "allchannels",
  "resetchannels",
  "allcommands",
  "nocommands",
  "clearselectors",
  "sanitize-payload",
  "skip-sanitize-payload",
];

/** ` (did you mean …?)`, or nothing. */
export function suggestRule(table: CommandTable, rule: string): string {
  const [, sign = "", name = rule] = /^([+-]@?|@)(.*)$/s.exec(rule) ?? [];
  if (sign.includes("@"))
    return shown(didYouMean(name, table.categories.concat("all")), sign.startsWith("@") ? "+@" : sign);
  if (sign !== "")
    return shown(
      didYouMean(
        name,
        table.commands.map((c) => c.name),
      ),
      sign,
    );
  if (table.get(name) !== undefined) return `; +${name} is meant?`;
  return didYouMean(rule, KEYWORDS);
}

function shown(hint: string, sign: string): string {
  return hint.replace(/"([^"]*)"/, `"${sign}$1"`);
}
