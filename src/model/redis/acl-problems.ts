/** Rules of a user that cancel or repeat each other, by effect. */
import type { AclWord } from "../../document/redis-acl.js";
import { push } from "../multimap.js";
import type { AclPattern, AclSelector, AclUser, CommandRule } from "./acl.js";
import { covered } from "./acl-selector.js";
import type { Command } from "./commands.js";

export type GrantProblem =
  /** `words` were given before and are gone after `by`. */
  | { readonly kind: "revoked"; readonly words: readonly AclWord[]; readonly by: AclWord }
  /** A denial that a later rule undoes as a whole. */
  | { readonly kind: "undone"; readonly word: AclWord; readonly by: AclWord }
  /** A denial inside a selector of what the root gives. */
  | { readonly kind: "powerless"; readonly word: AclWord; readonly command: string }
  /** A category that also gives commands which configure the server. */
  | { readonly kind: "configures"; readonly word: AclWord; readonly commands: readonly string[] }
  /** A pattern that another one covers. */
  | { readonly kind: "swallowed"; readonly word: AclWord; readonly by: AclWord }
  | { readonly kind: "empty-password"; readonly word: AclWord }
  /** Commands that need a key or a channel, and no pattern to use them on. */
  | { readonly kind: "no-keys" | "no-channels"; readonly words: readonly AclWord[] }
  /** Enabled, and no command is left. */
  | { readonly kind: "nothing" };

/** Real lines are far below it; the analysis is quadratic in the rules of one selector. */
const MOST_RULES = 400;

/** Of more selectors than anybody writes only the first are looked at one by one. */
export const MOST_SELECTORS = 1000;

/** SHA-256 of the empty text: the hash of a password that was not filled in. */
const EMPTY_HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** Commands that change a server's configuration, its users or its code. */
const CONFIGURING: readonly string[] = ["config|set", "config|rewrite", "acl|setuser", "module|load", "debug"];

/** Meant to give these commands, so nothing is dragged in. */
const MEANT: ReadonlySet<string> = new Set(["admin", "dangerous"]);

/** Problems of a user's line, in the order of their rules. Only what no placeholder hides. */
export function grantProblems(user: AclUser): GrantProblem[] {
  const out: GrantProblem[] = [];
  for (const password of user.passwords) {
    const empty = password.empty || (password.kind === "hash" && password.text === EMPTY_HASH);
    if (empty) out.push({ kind: "empty-password", word: password.word });
  }
  if (!user.certain) return out;
  const found = [
    out,
    cleared(user),
    ...user.permissions
      .slice(0, MOST_SELECTORS)
      .flatMap((selector) => [
        selector.rules.length <= MOST_RULES ? commandProblems(user, selector) : [],
        swallowed(selector.keys, true),
        swallowed(selector.channels, false),
      ]),
  ];
  const merged = mergeRevoked(found.flat());
  if (user.enabled && !merged.some((p) => p.kind === "revoked")) merged.push(...unusable(user));
  if (user.enabled && !merged.some((p) => p.kind === "revoked") && mayNothing(user)) merged.push({ kind: "nothing" });
  return merged;
}

/** Categories whose commands work on keys. */
const KEYED: ReadonlySet<string> = new Set(
  "read write string bitmap hash list set sortedset stream hyperloglog geo".split(" "),
);
const PUBSUB: ReadonlySet<string> = new Set(["subscribe", "psubscribe", "ssubscribe", "publish", "spublish"]);

/** A key stands at a fixed place; not where a number says how many follow, which may be none. */
function needsKey({ specs, legacyKeys }: Command): boolean {
  const fixed = specs.some((s) => !s.notKey && s.begin !== undefined && s.find !== undefined && !("count" in s.find));
  return fixed || legacyKeys[0] > 0;
}

/** Commands granted by name or by what they work on, where no pattern lets them work on anything. */
function unusable(user: AclUser): GrantProblem[] {
  const keyed: AclWord[] = [];
  const heard: AclWord[] = [];
  for (const selector of user.permissions) {
    const keys = selector.allKeys || selector.keys.length > 0;
    const channels = selector.allChannels || selector.channels.length > 0 || !selector.behaviour.channels;
    if (keys && channels) continue;
    for (const rule of selector.rules) {
      if (!rule.allow || (rule.kind !== "category" && rule.kind !== "command" && rule.kind !== "first-arg")) continue;
      const category = rule.kind === "category" ? user.table.categories[rule.category!]! : undefined;
      const command = category === undefined ? rule.command : undefined;
      if (command !== undefined && rule.kind === "command" && !selector.allows(command)) continue;
      // only what certainly has a key in its arguments: scripts may do without
      if (!keys && (category === undefined ? needsKey(command!) : KEYED.has(category))) keyed.push(rule.word);
      if (!channels && (category === "pubsub" || PUBSUB.has(command?.name ?? ""))) heard.push(rule.word);
    }
  }
  const out: GrantProblem[] = [];
  if (keyed.length > 0 && !user.allKeys && user.keys.length === 0) out.push({ kind: "no-keys", words: keyed });
  if (heard.length > 0 && !user.allChannels && user.channels.length === 0) {
    out.push({ kind: "no-channels", words: heard });
  }
  return out;
}

/** What one rule takes away, keys and commands alike, is one problem. */
function mergeRevoked(problems: readonly GrantProblem[]): GrantProblem[] {
  const words = new Map<number, AclWord[]>();
  const out: GrantProblem[] = [];
  for (const problem of problems) {
    const known = problem.kind === "revoked" ? words.get(problem.by.start) : undefined;
    if (problem.kind !== "revoked") out.push(problem);
    else if (known !== undefined) for (const word of problem.words) known.push(word);
    else {
      const list = [...problem.words];
      words.set(problem.by.start, list);
      out.push({ kind: "revoked", words: list, by: problem.by });
    }
  }
  return out;
}

function mayNothing(user: AclUser): boolean {
  return user.permissions.every((s) => {
    if (!s.rules.some((r) => r.allow)) return true;
    const byArgument = new Set(s.rules.filter((r) => r.kind === "first-arg").map((r) => r.command!));
    return (
      ![...byArgument].some((command) => s.firstArguments(command).length > 0) &&
      user.table.commands.every((c) => s.states[c.id] === 2 || c.flags.includes("no_auth"))
    );
  });
}

function commandProblems(user: AclUser, selector: AclSelector): GrantProblem[] {
  const { rules, table } = selector;
  const out: GrantProblem[] = [];
  for (const rule of rules) {
    if (rule.kind !== "category" || !rule.allow || MEANT.has(table.categories[rule.category!]!)) continue;
    const decides = (name: string): boolean => {
      const command = table.get(name) ?? table.get(name.slice(0, Math.max(0, name.indexOf("|"))));
      return command !== undefined && selector.decide(command).rule === rule;
    };
    const commands = CONFIGURING.filter(decides);
    if (commands.some((name) => name.startsWith("config"))) out.push({ kind: "configures", word: rule.word, commands });
  }
  return denies(selector) ? [...out, ...cancelled(user, selector)] : out;
}

/** Some rule takes something away, other than a `-@all` in front of everything: else nothing can be cancelled. */
export function denies({ rules }: AclSelector): boolean {
  const start = rules.findIndex((r) => r.allow || r.kind !== "all");
  return start >= 0 && rules.some((r, i) => i >= start && !r.allow);
}

function cancelled(user: AclUser, selector: AclSelector): GrantProblem[] {
  const out: GrantProblem[] = [];
  const effects = selector.effects();
  const { table } = user;
  const allowed = (name: string): boolean => {
    const command = table.get(name);
    return command !== undefined && selector.states[command.id] === 1;
  };
  const revoked = new Map<AclWord, AclWord[]>();
  effects.forEach(({ rule, changed, standing }, index) => {
    const { word } = rule;
    // a container taken back and a subcommand given again is no mistake: only what is gone as a whole counts
    if (rule.allow && changed.length > 0 && standing.length === 0 && !changed.some(allowed)) {
      const by = effects.slice(index + 1).find((e) => !e.rule.allow && takes(e.rule, rule, e.changed, changed));
      if (by !== undefined) {
        push(revoked, by.rule.word, word);
      }
    }
    if (!rule.allow && rule.kind !== "all" && standing.length === 0) {
      const by = effects.slice(index + 1).find((e) => e.rule.allow && e.rule.kind === "all") ?? undoing(effects, index);
      if (by !== undefined && touchedNames(selector, rule).every(allowed)) {
        out.push({ kind: "undone", word, by: by.rule.word });
      }
    }
    if (!selector.root && !rule.allow && rule.kind === "command" && user.root.states[rule.command!.id] === 1) {
      // a command without keys passes by the root whatever the selector says
      const { specs, legacyKeys, name } = rule.command!;
      const keyless = (specs.length === 0 && legacyKeys[0] === 0) || user.root.allKeys;
      if (keyless) out.push({ kind: "powerless", word, command: name });
    }
  });
  for (const [by, words] of revoked) out.push({ kind: "revoked", words, by });
  return out;
}

/** Whether a denial took what a grant gave: all of it, or the last that was left of it. */
function takes(denial: CommandRule, grant: CommandRule, taken: readonly string[], given: readonly string[]): boolean {
  if (denial.kind === "all") return true;
  if (grant.kind === "first-arg") return denial.kind === "command" && denial.command === grant.command;
  return given.some((name) => taken.includes(name));
}

type Effect = ReturnType<AclSelector["effects"]>[number];

/** The later grant that gives back what a denial names, by a category. */
function undoing(effects: readonly Effect[], index: number): Effect | undefined {
  const { rule } = effects[index]!;
  return effects
    .slice(index + 1)
    .find(
      (e) =>
        e.rule.allow &&
        e.rule.kind === "category" &&
        rule.kind === "command" &&
        e.standing.includes(rule.command!.name),
    );
}

function touchedNames(selector: AclSelector, rule: CommandRule): readonly string[] {
  if (rule.kind === "category") return selector.table.touchedByCategory(rule.category!).map((c) => c.name);
  return rule.kind === "command"
    ? [rule.command!.name, ...[...(rule.command!.subcommands?.values() ?? [])].map((c) => c.name)]
    : [];
}

/** Keys, channels and passwords that a later word of the line drops: the root's words only. */
function cleared(user: AclUser): GrantProblem[] {
  const out: GrantProblem[] = [];
  let keys: AclWord[] = [];
  let channels: AclWord[] = [];
  let passwords: AclWord[] = [];
  let depth = 0;
  if (!user.holds(/reset|nopass/i)) return out;
  const drop = (words: AclWord[], by: AclWord): AclWord[] => {
    if (words.length > 0) out.push({ kind: "revoked", words, by });
    return [];
  };
  for (const word of user.tokens()) {
    const text = word.text.toLowerCase();
    if (user.behaviour.modern && text.startsWith("(")) depth = 1;
    if (depth > 0) {
      if (text.endsWith(")")) depth = 0;
      continue;
    }
    if (/^[~%]/.test(text) || text === "allkeys") keys.push(word);
    else if (text.startsWith("&") || text === "allchannels") channels.push(word);
    else if (text.startsWith(">") || text.startsWith("#")) passwords.push(word);
    else if (text === "resetkeys") keys = drop(keys, word);
    else if (text === "resetchannels") channels = drop(channels, word);
    else if (text === "resetpass" || text === "nopass") passwords = drop(passwords, word);
    else if (text === "reset") {
      drop([...keys, ...channels, ...passwords], word);
      keys = [];
      channels = [];
      passwords = [];
    }
  }
  return out;
}

/** More patterns than this are compared with nothing: inclusion is decided for each pair. */
const MOST_PATTERNS = 60;

function swallowed(patterns: readonly AclPattern[], keys: boolean): GrantProblem[] {
  const out: GrantProblem[] = [];
  if (patterns.length > MOST_PATTERNS) return out;
  patterns.forEach((pattern, index) => {
    // `%R~a %W~a` is one pattern written in two parts; the same part twice is not
    const [first] = pattern.words as [AclWord, ...AclWord[]];
    let given = 0;
    for (const word of pattern.words) {
      if ((given | gives(word, keys)) === given) out.push({ kind: "swallowed", word, by: first });
      given |= gives(word, keys);
    }
    const by = patterns
      .slice(0, index)
      .find((p) => (p.access & pattern.access) === pattern.access && covered([p], pattern.glob) === "yes");
    if (by !== undefined) out.push({ kind: "swallowed", word: first, by: by.words[0]! });
  });
  return out;
}

/** The access bits of one written key rule. */
function gives(word: AclWord, keys: boolean): number {
  const flags = keys ? /^%([rw]+)~/i.exec(word.text)?.[1] : undefined;
  if (flags === undefined) return 3;
  return (/r/i.test(flags) ? 1 : 0) | (/w/i.test(flags) ? 2 : 0);
}
