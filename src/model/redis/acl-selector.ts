/**
 * One set of ACL permissions: the root of a user, or a selector in parentheses. Command rules are kept as they are written and
 * decided backwards: the last rule that touches a command decides it, which is also the rule to show.
 */
import type { AclWord } from "../../document/redis-acl.js";
import { OPAQUE } from "../../document/redis-acl.js";
import { bytesOf } from "../../text/bytes.js";
import type { Span } from "../../text/source.js";
import type { Behaviour } from "./acl-behaviour.js";
import {
  type AccessBits,
  asciiLower,
  type Command,
  type CommandTable,
  READ,
  strictInteger,
  WRITE,
} from "./commands.js";
import { compileGlob, escapeGlob, type Glob, globIncludes, globMatch, keyPatternGlob } from "./glob.js";

/** Three values: what a placeholder hides is unknown, never absent. */
export type Answer = "yes" | "no" | "unknown";

/** Why the server refuses a rule, by its errno. */
export type Fault = "ENOENT" | "EINVAL" | "EEXIST" | "EISDIR" | "ENODEV" | "EBADMSG" | "ECHILD" | "EBUSY" | "ERANGE";

/** `+get`, `-@admin`, `+@all`, `+select|0`, or a placeholder that stands for such a rule. */
export interface CommandRule {
  readonly kind: "all" | "command" | "category" | "first-arg" | "unknown";
  readonly allow: boolean;
  readonly command?: Command;
  /** Number of the category in the table. */
  readonly category?: number;
  readonly argument?: string;
  readonly word: AclWord;
}

const ALLOWED = 1;
const DENIED = 2;
const UNSURE = 3;

/** What one command rule did to the permissions before it. */
export interface CommandEffect {
  readonly rule: CommandRule;
  /** Names of the commands whose permission it changed. */
  readonly changed: readonly string[];
  /** Names of the commands that it touches and that no later rule touches. */
  readonly standing: readonly string[];
}

/** `~p`, `%R~p`, `&p`: one pattern of keys or channels. */
export class AclPattern {
  access: AccessBits;
  /** The rule that gave it first. */
  readonly word: AclWord;
  /** Length of the rule's prefix: `~`, `%R~`, `&`. */
  readonly #prefix: number;
  #more: AclWord[] | undefined;
  #glob: Glob | undefined;
  #loose: Glob | undefined;

  constructor(word: AclWord, prefix: number, access: AccessBits) {
    this.word = word;
    this.#prefix = prefix;
    this.access = access;
  }

  /** The pattern without its prefix. */
  get text(): string {
    return this.word.text.slice(this.#prefix);
  }

  /** The rules that gave it, in order; two of them when `%R~a` and `%W~a` were merged. */
  get words(): readonly AclWord[] {
    return this.#more ?? [this.word];
  }

  /** The same pattern is given again: its access is added. */
  merge(word: AclWord, access: AccessBits): void {
    this.access = (this.access | access) as AccessBits;
    this.#more ??= [this.word];
    if (this.#more.length < 100) this.#more.push(word);
  }

  get #mask(): string | undefined {
    return this.word.mask?.slice(this.#prefix);
  }

  get at(): Span {
    return this.word.at;
  }

  get read(): boolean {
    return (this.access & READ) !== 0;
  }

  get write(): boolean {
    return (this.access & WRITE) !== 0;
  }

  /** A placeholder is part of the pattern. */
  get placeholder(): boolean {
    return this.#mask?.includes(OPAQUE) === true;
  }

  /** The pattern; a placeholder in it stands for itself. */
  get glob(): Glob {
    this.#glob ??= compileGlob(bytesOf(this.#expanded((part) => escapeGlob(part))));
    return this.#glob;
  }

  /** The pattern with each placeholder as `*`: what it may match at most. */
  get loose(): Glob {
    this.#loose ??= this.placeholder ? compileGlob(bytesOf(this.#expanded(() => "*"))) : this.glob;
    return this.#loose;
  }

  #expanded(placeholder: (text: string) => string): string {
    const mask = this.#mask;
    if (mask === undefined) return this.text;
    let out = "";
    for (let i = 0; i < mask.length; ) {
      let to = i;
      const opaque = mask[i] === OPAQUE;
      while (to < mask.length && (mask[to] === OPAQUE) === opaque) to++;
      const part = this.text.slice(i, to);
      out += opaque ? placeholder(part) : part;
      i = to;
    }
    return out;
  }
}

export interface Decision {
  readonly answer: Answer;
  /** The rule that decides; undefined when no rule touches the command. */
  readonly rule?: CommandRule;
}

const NO: Decision = { answer: "no" };
const UNKNOWN: Decision = { answer: "unknown" };

// Shared until something is added: a file may have a hundred thousand selectors.
const NO_RULES: CommandRule[] = [];
const NO_PATTERNS: AclPattern[] = [];
const NO_NUMBERS: readonly number[] = [];
const NO_WORDS: readonly AclWord[] = [];

/** Of the placeholders that stand for rules so many are named. */
const MOST_UNKNOWN = 1000;

/** The list with the word; a new one for the first, the same one for the next. */
export function named(list: readonly AclWord[], word: AclWord): readonly AclWord[] {
  if (list.length === 0) return [word];
  if (list.length < MOST_UNKNOWN) (list as AclWord[]).push(word);
  return list;
}

/** A selector with more command rules than this forgets those that a later rule of the same name replaces. */
const COMPACT = 20_000;

export class AclSelector {
  /** The words that it is written in; empty for the root. */
  readonly words: readonly AclWord[];
  readonly table: CommandTable;
  readonly behaviour: Behaviour;
  rules: CommandRule[] = NO_RULES;
  keys: AclPattern[] = NO_PATTERNS;
  channels: AclPattern[] = NO_PATTERNS;
  allKeys = false;
  allChannels: boolean;
  allDatabases = true;
  databases: readonly number[] = NO_NUMBERS;
  /** The rule that last gave all keys, all channels. */
  allKeysWord: AclWord | undefined;
  allChannelsWord: AclWord | undefined;
  /** The rule that last set the databases. */
  databasesWord: AclWord | undefined;
  /** Placeholders that stand for whole rules here. */
  unknown: readonly AclWord[] = NO_WORDS;
  /** A first argument holds quotes or blanks: since 7.2 the server may not be able to read its own rules again. */
  oddArgument = false;
  #compactAt = COMPACT;
  #keyIndex: Map<string, AclPattern> | undefined;
  #channelIndex: Map<string, AclPattern> | undefined;
  #states: Uint8Array | undefined;
  #commands: ReadonlySet<string> | undefined;

  constructor(table: CommandTable, behaviour: Behaviour, allChannels: boolean, words: readonly AclWord[]) {
    this.table = table;
    this.behaviour = behaviour;
    this.allChannels = allChannels;
    this.words = words;
  }

  /** The place of the selector; undefined for the root. */
  get at(): Span | undefined {
    const [first] = this.words;
    return first === undefined ? undefined : { ...first.at, end: this.words.at(-1)!.at.end };
  }

  get root(): boolean {
    return this.words.length === 0;
  }

  /** The flag that `+@all` sets and any removal clears. */
  get allCommands(): boolean {
    for (let i = this.rules.length - 1; i >= 0; i--) {
      const { kind, allow } = this.rules[i]!;
      if (kind === "all") return allow;
      if (!allow && this.#touched(this.rules[i]!).length > 0) return false;
    }
    return false;
  }

  /** Commands of modules that are loaded later are allowed: `+@all` was given and not taken back as a whole. */
  get futureCommands(): boolean {
    return this.rules.findLast((r) => r.kind === "all")?.allow === true;
  }

  /** Applies one rule as `ACLSetSelector` does; `text` is the word's. */
  apply(word: AclWord, text = word.text): Fault | undefined {
    if (word.mask !== undefined) return this.#applyTemplate(word, text, word.mask);
    const c = text.charCodeAt(0);
    if (c === 43 || c === 45) return this.#applyCommand(word, cString(text));
    if (c === 126 || c === 37) return cString(text) === "~*" ? this.#everyKey(word) : this.#addKey(word, text);
    if (c === 38) return this.#applyChannel(word, text);
    return this.#applyKeyword(word, asciiLower(cString(text)));
  }

  #applyKeyword(word: AclWord, name: string): Fault | undefined {
    const { channels, databases } = this.behaviour;
    switch (name) {
      case "allkeys":
        return this.#everyKey(word);
      case "resetkeys":
        this.resetKeys();
        return undefined;
      case "allcommands":
      case "nocommands":
        this.#everyCommand(word, name === "allcommands");
        return undefined;
      case "allchannels":
        return channels ? this.#everyChannel(word) : "EINVAL";
      case "resetchannels":
        if (!channels) return "EINVAL";
        this.resetChannels();
        return undefined;
      case "alldbs":
      case "resetdbs":
        if (!databases) return "EINVAL";
        this.resetDatabases(name === "alldbs", word);
        return undefined;
      default:
        return databases && name.startsWith("db=") ? this.#setDatabases(word, name.slice(3)) : "EINVAL";
    }
  }

  resetKeys(): void {
    this.allKeys = false;
    this.allKeysWord = undefined;
    this.keys = NO_PATTERNS;
    this.#keyIndex = undefined;
  }

  resetChannels(): void {
    this.allChannels = false;
    this.allChannelsWord = undefined;
    this.channels = NO_PATTERNS;
    this.#channelIndex = undefined;
  }

  resetDatabases(all: boolean, word?: AclWord): void {
    this.allDatabases = all;
    this.databases = NO_NUMBERS;
    this.databasesWord = word;
  }

  /** `-@all` of a `reset`. */
  resetCommands(word: AclWord): void {
    this.#everyCommand(word, false);
  }

  #everyKey(word: AclWord): undefined {
    this.resetKeys();
    this.allKeys = true;
    this.allKeysWord = word;
  }

  #everyChannel(word: AclWord): undefined {
    this.resetChannels();
    this.allChannels = true;
    this.allChannelsWord = word;
  }

  #everyCommand(word: AclWord, allow: boolean): void {
    this.#push({ kind: "all", allow, word });
  }

  #addKey(word: AclWord, text: string): Fault | undefined {
    const plain = text[0] === "~";
    if ((this.behaviour.modern || plain) && this.allKeys) return "EEXIST";
    let from = 1;
    let access: number = 3;
    if (!plain) {
      const flags = this.#keyFlags(text);
      if (flags === undefined) return "EINVAL";
      [access, from] = flags;
    }
    if (hasSpaces(word.mask ?? text, from)) return "EINVAL";
    if (this.keys === NO_PATTERNS) this.keys = [new AclPattern(word, from, access as AccessBits)];
    else this.#keyIndex = add(this.keys, this.#keyIndex, word, from, access as AccessBits);
    return undefined;
  }

  /** The access that `%…` gives, and where its pattern starts. */
  #keyFlags(text: string): [number, number] | undefined {
    const { modern, emptyPercent, percentTilde } = this.behaviour;
    if (!modern) return undefined;
    let access = 0;
    let i = 1;
    for (; i < text.length; i++) {
      const c = text[i]!;
      if ((c === "R" || c === "r") && (access & READ) === 0) access |= READ;
      else if ((c === "W" || c === "w") && (access & WRITE) === 0) access |= WRITE;
      else if (c === "~" && (access !== 0 || percentTilde)) {
        i++;
        break;
      } else return undefined;
    }
    return access === 0 && !emptyPercent && !percentTilde ? undefined : [access, i];
  }

  #applyChannel(word: AclWord, text: string): Fault | undefined {
    if (!this.behaviour.channels) return "EINVAL";
    if (cString(text) === "&*") return this.#everyChannel(word);
    if (this.allChannels) return "EISDIR";
    if (hasSpaces(word.mask ?? text, 1)) return "EINVAL";
    if (this.channels === NO_PATTERNS) this.channels = [new AclPattern(word, 1, 3)];
    else this.#channelIndex = add(this.channels, this.#channelIndex, word, 1, 3);
    return undefined;
  }

  #setDatabases(word: AclWord, list: string): Fault | undefined {
    const ids = new Set<number>();
    for (const item of list.split(",")) {
      const id = strictInteger(item);
      if (id === undefined) return "EINVAL";
      if (id < 0 || id > 0x7fffffff) return "ERANGE";
      ids.add(id);
    }
    this.resetDatabases(false, word);
    this.databases = [...ids].sort((a, b) => a - b);
    return undefined;
  }

  #applyCommand(word: AclWord, text: string): Fault | undefined {
    const allow = text[0] === "+";
    if (text[1] === "@") {
      const name = asciiLower(text.slice(2));
      if (name === "all") {
        this.#everyCommand(word, allow);
        return undefined;
      }
      const index = this.table.categoryIndex(name);
      if (index < 0) return "ENOENT";
      this.#push({ kind: "category", allow, category: index, word });
      return undefined;
    }
    const name = text.slice(1);
    const { modern } = this.behaviour;
    const bar = modern ? name.lastIndexOf("|") : name.indexOf("|");
    if (!allow || bar < 0) {
      const command = this.#named(name);
      if (command === undefined) return "ENOENT";
      this.#push({ kind: "command", allow, command, word });
      return undefined;
    }
    const base = this.#named(name.slice(0, bar));
    const argument = name.slice(bar + 1);
    if (base === undefined) return "ENOENT";
    if (base.parent !== undefined) return "ECHILD";
    if (argument === "") return "EINVAL";
    if (modern && base.subcommands !== undefined) {
      const command = base.subcommands.get(asciiLower(argument));
      if (command === undefined) return "ENOENT";
      this.#push({ kind: "command", allow, command, word });
      return undefined;
    }
    if (this.behaviour.subcommandOnce && this.decide(base).answer === "yes") return "EBUSY";
    if (/["'\s]/.test(argument)) this.oddArgument = true;
    this.#push({ kind: "first-arg", allow, command: base, argument, word });
    return undefined;
  }

  #push(rule: CommandRule): void {
    if (this.rules === NO_RULES) {
      this.rules = [rule];
      return;
    }
    this.rules.push(rule);
    if (this.rules.length < this.#compactAt) return;
    const seen = new Set<unknown>();
    const kept: CommandRule[] = [];
    for (let i = this.rules.length - 1; i >= 0; i--) {
      const old = this.rules[i]!;
      const id = ruleId(old);
      if (id !== undefined && seen.has(id)) continue;
      seen.add(id);
      kept.push(old);
      if (old.kind === "all") break;
    }
    this.rules = kept.reverse();
    this.#compactAt = Math.max(COMPACT, 2 * kept.length);
  }

  #named(name: string): Command | undefined {
    const command = this.table.get(name);
    return this.behaviour.modern || command?.parent === undefined ? command : undefined;
  }

  /** A rule with a placeholder in it: the known part of it is read, the rest is unknown. */
  #applyTemplate(word: AclWord, text: string, mask: string): Fault | undefined {
    const hidden = mask.indexOf(OPAQUE);
    const first = text[0]!;
    const tilde = text.indexOf("~");
    if (hidden > 0 && (first === "~" || (first === "%" && tilde > 0 && tilde < hidden)))
      return this.#addKey(word, text);
    if (hidden > 0 && first === "&") return this.#applyChannel(word, text);
    if (hidden > 0 && (first === "+" || first === "-")) {
      const bar = text.indexOf("|");
      const command = bar > 0 && bar < hidden ? this.table.get(text.slice(1, bar)) : undefined;
      const known = command === undefined ? {} : { command };
      const rule: CommandRule = { kind: "unknown", allow: first === "+", word, ...known };
      const last = this.rules.at(-1);
      if (last?.kind !== "unknown" || ruleId(last) !== ruleId(rule)) this.#push(rule);
    } else this.addUnknown(word);
    return undefined;
  }

  /** A placeholder that may be any rule. */
  addUnknown(word: AclWord): void {
    this.unknown = named(this.unknown, word);
    // a second one right after it hides nothing more
    const last = this.rules.at(-1);
    if (last?.kind === "unknown" && last.command === undefined && !last.allow) return;
    this.#push({ kind: "unknown", allow: true, word });
    this.#push({ kind: "unknown", allow: false, word });
  }

  /** Whether the command itself is allowed here (not by its first argument), and the rule that says so. */
  decide(command: Command): Decision {
    let granted = false;
    let denied = false;
    for (let i = this.rules.length - 1; i >= 0; i--) {
      const rule = this.rules[i]!;
      if (rule.kind === "first-arg") continue;
      if (rule.kind === "unknown") {
        if (rule.command !== undefined && rule.command !== command && rule.command !== command.parent) continue;
        if (rule.allow) granted = true;
        else denied = true;
      } else if (touches(rule, command)) {
        const sure = rule.allow ? !denied : !granted;
        return { answer: sure ? (rule.allow ? "yes" : "no") : "unknown", rule };
      }
    }
    return granted ? UNKNOWN : NO;
  }

  /** The first arguments that `+cmd|arg` rules allow, unless the whole command is decided later. */
  firstArguments(command: Command): CommandRule[] {
    const out: CommandRule[] = [];
    for (let i = this.rules.length - 1; i >= 0; i--) {
      const rule = this.rules[i]!;
      if (rule.kind === "first-arg") {
        if (rule.command === command) out.push(rule);
      } else if (rule.kind !== "unknown" && touchesItself(rule, command)) break;
    }
    return out.reverse();
  }

  /** Whether a call's command passes, by the command or by its first argument. */
  decideCall(command: Command, argv: readonly string[]): Decision {
    const decision = this.decide(command);
    if (decision.answer === "yes" || argv.length < 2) return decision;
    const wanted = asciiLower(argv[1]!);
    const rule = this.firstArguments(command).find((r) => asciiLower(r.argument!) === wanted);
    if (rule === undefined) return decision;
    return { answer: decision.answer === "no" ? "yes" : decision.answer, rule };
  }

  /** Names of the commands that are surely allowed, containers and subcommands alike. */
  get commands(): ReadonlySet<string> {
    if (this.#commands === undefined) {
      const { states } = this;
      this.#commands = new Set(this.table.commands.filter((c) => states[c.id] === ALLOWED).map((c) => c.name));
    }
    return this.#commands;
  }

  /** Sets the ids of the commands that are surely allowed. A selector is mostly short: it needs no table of its own then. */
  markAllowed(allowed: Uint8Array): void {
    const { rules } = this;
    if (rules.length > 8 || rules.some((r) => r.kind !== "command")) {
      const { states } = this;
      for (let id = 0; id < allowed.length; id++) if (states[id] === ALLOWED) allowed[id] = 1;
      return;
    }
    for (const rule of rules) {
      if (!rule.allow) continue;
      for (const command of this.#touched(rule)) {
        if (allowed[command.id] === 0 && this.decide(command).answer === "yes") allowed[command.id] = 1;
      }
    }
  }

  /** `decide`, surely: a selector is mostly short, and needs no table of its own then. */
  allows(command: Command): boolean {
    return this.rules.length > 8 ? this.states[command.id] === ALLOWED : this.decide(command).answer === "yes";
  }

  /** `decide` for all commands at once: by command id, 1 allowed, 2 denied, 3 unknown. Made once, after loading. */
  get states(): Uint8Array {
    this.#states ??= this.#decideAll();
    return this.#states;
  }

  #decideAll(): Uint8Array {
    const size = this.table.commands.length;
    const states = new Uint8Array(size);
    const doubtful = this.rules.some((r) => r.kind === "unknown");
    const granted = doubtful ? new Uint8Array(size) : states;
    const denied = doubtful ? new Uint8Array(size) : states;
    const seen = new Set<Command | number>();
    let granting = 0;
    let denying = 0;
    const set = (id: number, allow: boolean): void => {
      if (states[id] !== 0) return;
      const sure = allow ? denying === 0 && denied[id] === 0 : granting === 0 && granted[id] === 0;
      states[id] = sure ? (allow ? ALLOWED : DENIED) : UNSURE;
    };
    for (let i = this.rules.length - 1; i >= 0; i--) {
      const rule = this.rules[i]!;
      if (rule.kind === "first-arg") continue;
      if (rule.kind === "unknown") {
        if (rule.command !== undefined) {
          for (const c of [rule.command, ...(rule.command.subcommands?.values() ?? [])]) {
            (rule.allow ? granted : denied)[c.id] = 1;
          }
        } else if (rule.allow) granting = 1;
        else denying = 1;
        continue;
      }
      // What a rule names is decided the first time that it is seen from the end.
      const name = rule.kind === "all" ? -1 : rule.kind === "category" ? rule.category! : rule.command!;
      if (seen.has(name)) continue;
      seen.add(name);
      for (const command of this.#touched(rule)) set(command.id, rule.allow);
      if (name === -1) break;
    }
    for (let id = 0; id < size; id++) set(id, false);
    return states;
  }

  /** What each command rule changed and what of it still stands. */
  effects(): CommandEffect[] {
    const state = new Uint8Array(this.table.commands.length);
    const owner = new Int32Array(state.length).fill(-1);
    const changed = this.rules.map((rule, index) => {
      const names: string[] = [];
      if (rule.kind === "first-arg") {
        const { command } = rule;
        return state[command!.id] === 1 ? [] : [`${command!.name}|${rule.argument}`];
      }
      for (const command of this.#touched(rule)) {
        const value = rule.allow ? 1 : 0;
        if (state[command.id] !== value) names.push(command.name);
        state[command.id] = value;
        owner[command.id] = index;
      }
      return names;
    });
    const standing = this.rules.map((): string[] => []);
    for (const command of this.table.commands) {
      const index = owner[command.id]!;
      if (index >= 0) standing[index]!.push(command.name);
    }
    const byCommand = new Map<Command, ReadonlySet<CommandRule>>();
    this.rules.forEach((rule, index) => {
      if (rule.kind !== "first-arg" || state[rule.command!.id] === 1) return;
      const command = rule.command!;
      let stand = byCommand.get(command);
      if (stand === undefined) byCommand.set(command, (stand = new Set(this.firstArguments(command))));
      if (stand.has(rule)) standing[index]!.push(`${command.name}|${rule.argument}`);
    });
    return this.rules.map((rule, index) => ({ rule, changed: changed[index]!, standing: standing[index]! }));
  }

  #touched(rule: CommandRule): readonly Command[] {
    if (rule.kind === "all") return this.table.commands;
    if (rule.kind === "command") return [rule.command!, ...(rule.command!.subcommands?.values() ?? [])];
    if (rule.kind === "category") return this.table.touchedByCategory(rule.category!);
    return [];
  }

  /** Whether the key passes for the access; the empty access needs any matching pattern. */
  mayKey(key: string, access: AccessBits): Answer {
    if (this.allKeys) return "yes";
    const bytes = bytesOf(key);
    let answer: Answer = this.unknown.length > 0 ? "unknown" : "no";
    for (const pattern of this.keys) {
      if ((pattern.access & access) !== access) continue;
      if (globMatch(pattern.glob, bytes)) return "yes";
      if (pattern.placeholder && globMatch(pattern.loose, bytes)) answer = "unknown";
    }
    return answer;
  }

  /** The patterns that match a key, whatever their access. */
  matching(key: string): AclPattern[] {
    const bytes = bytesOf(key);
    return this.keys.filter((p) => globMatch(p.glob, bytes));
  }

  /** Whether a channel passes; PSUBSCRIBE's patterns are compared literally. */
  mayChannel(channel: string, asPattern = false): Answer {
    if (this.allChannels) return "yes";
    const bytes = bytesOf(channel);
    let answer: Answer = this.unknown.length > 0 ? "unknown" : "no";
    for (const pattern of this.channels) {
      if (asPattern ? bytesOf(pattern.text) === bytes : globMatch(pattern.glob, bytes)) return "yes";
      if (pattern.placeholder && globMatch(pattern.loose, bytes)) answer = "unknown";
    }
    return answer;
  }

  /** Reading or writing every key of the keyspace: SORT's BY and GET need it (`~*`, `%R~*`). */
  everyKey(access: AccessBits): boolean {
    return this.allKeys || this.keys.some((p) => (p.access & access) === access && p.text === "*");
  }

  /** Whether a database passes, for a server with `total` databases. */
  mayDatabase(id: number, total: number): boolean {
    return this.allDatabases || (id >= 0 && id < total && this.databases.includes(id));
  }
}

/** The server's strings end at a NUL for everything but patterns and passwords. */
export function cString(text: string): string {
  const nul = text.indexOf("\0");
  return nul < 0 ? text : text.slice(0, nul);
}

/** Blanks (as `isspace`) or NUL at or after `from`. */
export function hasSpaces(text: string, from = 0): boolean {
  for (let i = from; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 32 || (c >= 9 && c <= 13) || c === 0) {
      return true;
    }
  }
  return false;
}

/** Adds a pattern, or merges its access into the same pattern; returns the index used to find it. */
function add(
  list: AclPattern[],
  index: Map<string, AclPattern> | undefined,
  word: AclWord,
  prefix: number,
  access: AccessBits,
): Map<string, AclPattern> | undefined {
  const text = word.text.slice(prefix);
  let map = index;
  if (map === undefined && list.length >= 16) map = new Map(list.map((p) => [p.text, p]));
  const known = map === undefined ? list.find((p) => p.text === text) : map.get(text);
  if (known === undefined) {
    const pattern = new AclPattern(word, prefix, access);
    map?.set(text, pattern);
    list.push(pattern);
  } else known.merge(word, access);
  return map;
}

/** Rules with the same id touch the same commands. */
function ruleId(rule: CommandRule): unknown {
  if (rule.kind === "command") return rule.command;
  if (rule.kind === "category") return rule.category;
  if (rule.kind === "unknown") return `${rule.allow} ${rule.command?.id}`;
  return rule.kind === "first-arg" ? `${rule.command!.id} ${asciiLower(rule.argument!)}` : undefined;
}

function touches(rule: CommandRule, command: Command): boolean {
  if (rule.kind === "all") return true;
  if (rule.kind === "command") return rule.command === command || rule.command === command.parent;
  const bits = command.parent === undefined ? command.categoryBits : command.categoryBits | command.parent.categoryBits;
  return (bits & (2 ** rule.category!)) !== 0;
}

/** The rule names the command itself, not only its container: it clears the first arguments. */
function touchesItself(rule: CommandRule, command: Command): boolean {
  if (rule.kind === "all") return true;
  return rule.kind === "command" ? rule.command === command : (command.categoryBits & (2 ** rule.category!)) !== 0;
}

/** A key pattern to be covered: a Redis glob as text, a program's declared pattern, or a compiled glob. */
export type KeyLanguage = string | { readonly declared: string } | Glob;

/** Whether the patterns together match every non-empty string of `part`; decided, with bounded cost. */
export function covered(patterns: readonly AclPattern[], part: KeyLanguage): Answer {
  const glob =
    typeof part === "string" ? compileGlob(bytesOf(part)) : "declared" in part ? keyPatternGlob(part.declared) : part;
  const strict = globIncludes(
    patterns.map((p) => p.glob),
    glob,
  );
  if (strict === true) return "yes";
  if (!patterns.some((p) => p.placeholder)) return strict === undefined ? "unknown" : "no";
  const loose = globIncludes(
    patterns.map((p) => p.loose),
    glob,
  );
  return loose === false ? "no" : "unknown";
}
