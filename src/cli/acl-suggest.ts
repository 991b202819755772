/** `quorumlint acl suggest`: the least ACL line of the users that run a contract's programs. */
import { rules } from "../../rules/index.js";
import { load } from "../contract/load.js";
import type { Contract } from "../model/contract.js";
import { applicationUsers, type Suggestion, suggestedLine, suggestUser } from "../model/program/suggest.js";
import { didYouMean } from "../text/similar.js";
import type { Span } from "../text/source.js";
import { absolute } from "./check.js";
import { disk } from "./disk.js";
import { clock, note, print } from "./output.js";
import { prepareParsers } from "./parsers.js";
import { UsageError } from "./usage.js";

export interface SuggestFlags {
  readonly role: string;
  readonly user?: string;
  readonly config?: string;
  readonly format: "pretty" | "json";
}

export async function aclSuggestCommand(path: string, flags: SuggestFlags): Promise<number> {
  if (flags.role !== "application") {
    throw new UsageError(`--role ${flags.role}: only the line of application follows from programs`);
  }
  const config = flags.config === undefined ? undefined : absolute(flags.config);
  const { roots, faults } = load(disk, [absolute(path)], { ruleIds: rules.map((r) => r.id), today: clock(), config });
  if (faults.length > 0) throw new UsageError(faults.join("\nquorumlint: "));
  const found: { contract: Contract; suggestion: Suggestion; line: string }[] = [];
  const known = new Set<string>();
  for (const contract of roots.flatMap((r) => r.contracts)) {
    await prepareParsers(contract);
    for (const user of applicationUsers(contract)) {
      known.add(user);
      if (flags.user !== undefined && flags.user !== user) continue;
      const suggestion = suggestUser(contract, user);
      if (suggestion.commands.length === 0) continue;
      found.push({ contract, suggestion, line: suggestedLine(suggestion, passwordsOf(contract, user)) });
    }
  }
  if (found.length === 0) {
    const who = flags.user === undefined ? "an application user" : flags.user;
    const near = flags.user === undefined ? "" : didYouMean(flags.user, known);
    throw new UsageError(`${path} has no programs and no client commands of ${who}${near}`);
  }
  if (flags.format === "json") {
    const users = found.map(({ contract, suggestion, line }) => ({
      contract: contract.name,
      user: suggestion.user,
      line,
      keys: suggestion.keys,
      channels: suggestion.channels,
      commands: suggestion.commands,
      programs: suggestion.programs,
      open: suggestion.open.map(({ what, at }) => (at === undefined ? { what } : { what, at: place(at) })),
    }));
    print(JSON.stringify({ version: 1, users }, null, 2));
    return 0;
  }
  for (const { suggestion, line } of found) {
    print(line);
    for (const { what, at } of suggestion.open) {
      note(`quorumlint: ${what}${at === undefined ? "" : ` (${place(at)})`}`);
    }
  }
  return 0;
}

/** The passwords that the user has now; they are placeholders in a tracked file. Else one to fill in. */
function passwordsOf(contract: Contract, user: string): readonly string[] {
  for (const access of contract.redis.accessLists) {
    const words = access.load?.users.get(user)?.passwords.map((p) => p.word.text) ?? [];
    if (words.length > 0) return words;
  }
  return [`>\${${user.toUpperCase().replace(/[^A-Z0-9]+/g, "_")}_PASSWORD}`];
}

function place(at: Span): string {
  const { line, column } = at.source.position(at.start);
  return `${at.source.file}:${line}:${column}`;
}
