/** What a word of an ACL rule means on a server, in words: for people who read or write one. */
import { asciiLower, type Command, type CommandTable } from "./commands.js";

/** One sentence, and the commands that the word is about (in table order; empty where it is about something else). */
export interface WordMeaning {
  readonly text: string;
  readonly commands: readonly string[];
}

const KEYWORDS: Readonly<Record<string, string>> = {
  on: "The user is enabled: it may authenticate.",
  off: "The user is disabled: nobody can authenticate as it any more; open connections stay.",
  nopass: "Any password is accepted; passwords that were set before are removed.",
  resetpass: "Removes all passwords and nopass: nobody can authenticate until a password is set.",
  reset: "Starts over: no password, no keys, no channels, -@all, off.",
  allkeys: "All keys, to read and write: the same as `~*`.",
  resetkeys: "Removes all key patterns that stand before it.",
  allchannels: "All Pub/Sub channels: the same as `&*`.",
  resetchannels: "Removes all channel patterns that stand before it.",
  allcommands: "All commands: the same as `+@all`.",
  nocommands: "No command: the same as `-@all`.",
  clearselectors: "Removes all selectors that stand before it.",
  "sanitize-payload": "RESTORE checks what it is given.",
  "skip-sanitize-payload": "RESTORE does not check what it is given.",
};

/** The meaning of a rule's word. `placeholder`: a template token stands in it. undefined for a word that is no rule. */
export function meaningOf(word: string, table: CommandTable, placeholder = false): WordMeaning | undefined {
  const none = (text: string): WordMeaning => ({ text, commands: [] });
  const first = word[0];
  const rest = word.slice(1);
  const lower = asciiLower(word);
  if (Object.hasOwn(KEYWORDS, lower)) return none(KEYWORDS[lower]!);
  if (first === ">") return none(placeholder ? "A password that is filled in later." : "A password in clear text.");
  if (first === "#")
    return none(placeholder ? "A password hash that is filled in later." : "A password as its SHA-256.");
  if (first === "<" || first === "!") return none("Removes this password.");
  if (placeholder && (first === undefined || !"~%&+-(".includes(first)))
    return none("A placeholder: what it grants is unknown until it is filled in.");
  if (first === "~")
    return none(rest === "*" ? "All keys, to read and write." : `Keys that match \`${rest}\`, to read and write.`);
  const access = /^%([RWrw]{1,2})~(.*)$/s.exec(word);
  if (access !== null) {
    const bits = access[1]!.toUpperCase();
    const to = bits === "R" ? "to read only" : bits === "W" ? "to write only" : "to read and write";
    return none(`Keys that match \`${access[2]}\`, ${to}.`);
  }
  if (first === "&") return none(rest === "*" ? "All Pub/Sub channels." : `Pub/Sub channels that match \`${rest}\`.`);
  if (first === "(")
    return none(
      "A selector: a second set of rules; a command is allowed when the user's rules or one selector allow it whole.",
    );
  if (first === "+" || first === "-") return commandWord(first === "+", rest, table);
  return undefined;
}

function commandWord(grants: boolean, name: string, table: CommandTable): WordMeaning {
  const verb = grants ? "Grants" : "Takes away";
  if (name.startsWith("@")) {
    const category = asciiLower(name.slice(1));
    if (category === "all") {
      const text = grants
        ? `Grants all ${table.commands.length} commands of ${table.id}, and those of modules.`
        : "Takes away all commands, and those of later versions and modules.";
      return { text, commands: [] };
    }
    const index = table.categoryIndex(category);
    if (index < 0)
      return { text: `${table.id} has no category \`@${category}\`: the server refuses the rule.`, commands: [] };
    const commands = table.touchedByCategory(index);
    return {
      text: `${verb} the ${commands.length} commands of category \`@${category}\` on ${table.id}.`,
      commands: names(commands),
    };
  }
  const command = table.get(name);
  if (command !== undefined) {
    const of =
      command.categories.length > 0 ? `; categories ${command.categories.map((c) => `\`@${c}\``).join(" ")}` : "";
    const subcommands = [...(command.subcommands?.values() ?? [])];
    const all = subcommands.length > 0 ? ` with all ${subcommands.length} subcommands` : "";
    return { text: `${verb} \`${command.name}\`${all} on ${table.id}${of}.`, commands: names(subcommands) };
  }
  const bar = name.indexOf("|");
  const parent = bar < 0 ? undefined : table.get(name.slice(0, bar));
  if (grants && parent !== undefined && parent.subcommands === undefined)
    return {
      text: `Grants \`${parent.name}\` with the first argument \`${name.slice(bar + 1)}\` on ${table.id}.`,
      commands: [],
    };
  return { text: `${table.id} has no command \`${name}\`: the server refuses the rule.`, commands: [] };
}

function names(commands: readonly Command[]): string[] {
  return commands.map((c) => c.name);
}

const MODULE_CATEGORIES = /^@(?:search|json|timeseries|bloom|cuckoo|cms|topk|tdigest)$/i;

/** `+ft.search`, `-@json`, `+vadd`: what a module brings, and no server without it knows. */
export function isModuleRule(rule: string): boolean {
  const name = rule.replace(/^[+-]/, "");
  return (
    name !== rule &&
    (MODULE_CATEGORIES.test(name) ||
      /^(?:[a-z]\w*\.\w|v(?:add|sim|rem|card|dim|emb|getattr|info|links|randmember|range|setattr|ismember)\b)/i.test(
        name,
      ))
  );
}
