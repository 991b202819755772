/**
 * A user of an ACL: flags, passwords, permissions, each with the rule that gave it.
 */
import { type AclLine, AclWord, OPAQUE, selectorWords } from "../../document/redis-acl.js";
import { bytesOf } from "../../text/bytes.js";
import type { Span, TextView } from "../../text/source.js";
import { type Place, PlaceOf } from "../place.js";
import type { Behaviour } from "./acl-behaviour.js";
import { type CrashDescription, describeUser, listUser, readsItself, type UserDescription } from "./acl-describe.js";
import {
  type AclPattern,
  AclSelector,
  type Answer,
  covered,
  cString,
  type Decision,
  type Fault,
  type KeyLanguage,
  named,
} from "./acl-selector.js";
import { type AccessBits, asciiLower, type Command, type CommandTable, READ, WRITE } from "./commands.js";
import { sha256 } from "./sha256.js";

/** A password of a user. The server knows its hash only. */
export class AclPassword {
  readonly word: AclWord;
  /** `>clear text` or `#hash`. */
  readonly kind: "plain" | "hash";
  #hash: string | undefined;

  constructor(word: AclWord) {
    this.word = word;
    this.kind = word.text[0] === ">" ? "plain" : "hash";
  }

  /** What follows the `>` or `#`. */
  get text(): string {
    return this.word.text.slice(1);
  }

  get at(): Span {
    return this.word.at;
  }

  /** The place of the secret without its `>` or `#`. */
  get valueAt(): Span {
    return this.word.part(1, this.word.text.length);
  }

  /** A placeholder stands in it, whole or in part. */
  get placeholder(): boolean {
    return this.word.placeholder;
  }

  /** `>` alone: AUTH with an empty password succeeds. */
  get empty(): boolean {
    return this.kind === "plain" && this.text === "";
  }

  /** Lower-case hex SHA-256, or the written hash; of a placeholder it is the hash of its text. */
  get hash(): string {
    this.#hash ??= this.kind === "hash" ? this.text : sha256(bytesOf(this.text));
    return this.#hash;
  }
}

/** What a user's rules start from. */
export interface UserSetting {
  readonly table: CommandTable;
  readonly behaviour: Behaviour;
  /** `acl-pubsub-default` is allchannels. */
  readonly allChannels: boolean;
}

// Shared until something is added.
const NO_PASSWORDS: AclPassword[] = [];
const NO_SELECTORS: AclSelector[] = [];
const NO_WORDS: readonly AclWord[] = [];

/** The state of a user while its rules are applied one by one, as `ACLSetUser` does. */
export class UserState {
  enabled = false;
  enabledWord: AclWord | undefined;
  nopass = false;
  nopassWord: AclWord | undefined;
  sanitize: "on" | "skip" | "unset";
  passwords: AclPassword[] = NO_PASSWORDS;
  readonly root: AclSelector;
  selectors: AclSelector[] = NO_SELECTORS;
  unknown: readonly AclWord[] = NO_WORDS;
  readonly #setting: UserSetting;
  #plain: Set<string> | undefined;
  #hashes: Map<string, AclPassword> | undefined;

  constructor(setting: UserSetting) {
    this.#setting = setting;
    this.sanitize = setting.behaviour.sanitizes ? "on" : "unset";
    this.root = this.#selector([]);
  }

  #selector(words: readonly AclWord[]): AclSelector {
    const { table, behaviour, allChannels } = this.#setting;
    return new AclSelector(table, behaviour, allChannels, words);
  }

  /** The `default` user of a server that no line defines. */
  openToAll(view: TextView): void {
    this.enabled = true;
    this.nopass = true;
    for (const text of ["+@all", "~*", ...(this.#setting.behaviour.channels ? ["&*"] : [])]) {
      this.root.apply(new AclWord(view, 0, 0, text));
    }
  }

  /** See `AclUser.crashes`. */
  get crashes(): boolean {
    const { emptyPercent, percentTilde } = this.#setting.behaviour;
    const crashing = (s: AclSelector): boolean =>
      (s.oddArgument && !readsItself(s)) ||
      ((emptyPercent || percentTilde) && !s.allKeys && s.keys.some((p) => p.access === 0));
    return crashing(this.root) || this.selectors.some(crashing);
  }

  /** Applies one rule as `ACLSetUser` does; a selector comes as all of its words. */
  apply(words: readonly AclWord[]): Fault | undefined {
    const word = words[0]!;
    const { text, mask } = word;
    if (words.length > 1 || (this.#setting.behaviour.modern && text[0] === "(" && text.at(-1) === ")"))
      return this.#addSelector(words);
    if (text === "") return undefined;
    const c = text.charCodeAt(0);
    if (mask !== undefined && this.#hidden(word, mask)) {
      this.unknown = named(this.unknown, word);
      this.root.addUnknown(word);
      return undefined;
    }
    if (c === 62 || c === 35) return this.#addPassword(word, text);
    if (c === 60 || c === 33) return this.#removePassword(word, text);
    if (c > 64 && c < 123 && text.length < 40 && this.#keyword(word, asciiLower(cString(text)))) return undefined;
    return this.root.apply(word, text);
  }

  /** A placeholder that stands where the rule's kind would stand: it may be any rule. */
  #hidden(word: AclWord, mask: string): boolean {
    return mask[0] === OPAQUE || /^[A-Za-z]/.test(word.text);
  }

  #keyword(word: AclWord, name: string): boolean {
    const { channels, modern } = this.#setting.behaviour;
    switch (name) {
      case "on":
      case "off":
        this.enabled = name === "on";
        this.enabledWord = word;
        return true;
      case "nopass":
        this.#clearPasswords();
        this.nopass = true;
        this.nopassWord = word;
        return true;
      case "resetpass":
        this.#clearPasswords();
        return true;
      case "skip-sanitize-payload":
      case "sanitize-payload":
        // Redis 6.0 does not know them: a syntax error.
        if (!channels) return false;
        this.sanitize = name === "sanitize-payload" ? "on" : "skip";
        return true;
      case "clearselectors":
        if (!modern) return false;
        this.selectors = NO_SELECTORS;
        return true;
      case "reset":
        this.reset(word);
        return true;
      default:
        return false;
    }
  }

  reset(word: AclWord): void {
    const { channels } = this.#setting.behaviour;
    this.#clearPasswords();
    this.root.resetKeys();
    if (channels) {
      this.root.resetChannels();
      this.root.allChannels = this.#setting.allChannels;
      this.sanitize = "on";
    }
    this.root.resetDatabases(true);
    this.enabled = false;
    this.enabledWord = word;
    this.selectors = NO_SELECTORS;
    this.root.resetCommands(word);
  }

  #clearPasswords(): void {
    this.nopass = false;
    this.nopassWord = undefined;
    this.passwords = NO_PASSWORDS;
    this.#plain = undefined;
    this.#hashes = undefined;
  }

  #addPassword(word: AclWord, text: string): Fault | undefined {
    const password = new AclPassword(word);
    const value = text.slice(1);
    if (password.kind === "hash" && !password.placeholder && !isHash(value)) return "EBADMSG";
    this.nopass = false;
    this.nopassWord = undefined;
    if (password.kind === "plain") {
      this.#plain ??= new Set();
      if (this.#plain.has(value)) return undefined;
      this.#plain.add(value);
      // Hashing is dear: only needed when a written hash could be the same password.
      if (this.#hashes?.has(password.hash) === true) return undefined;
    } else if (this.#index().has(value)) return undefined;
    this.#hashes?.set(password.hash, password);
    if (this.passwords === NO_PASSWORDS) this.passwords = [];
    this.passwords.push(password);
    return undefined;
  }

  #removePassword(word: AclWord, text: string): Fault | undefined {
    const value = text.slice(1);
    if (word.placeholder) return undefined;
    if (text[0] === "!" && !isHash(value)) return "EBADMSG";
    const hash = text[0] === "!" ? value : sha256(bytesOf(value));
    const known = this.#index().get(hash);
    if (known === undefined) {
      // A placeholder's password may be the one.
      return this.passwords.some((p) => p.placeholder) ? undefined : "ENODEV";
    }
    this.#index().delete(hash);
    this.#plain = undefined;
    this.passwords = this.passwords.filter((p) => p !== known);
    if (this.passwords.some((p) => p.kind === "plain")) {
      this.#plain = new Set(this.passwords.filter((p) => p.kind === "plain").map((p) => p.text));
    }
    return undefined;
  }

  #index(): Map<string, AclPassword> {
    this.#hashes ??= new Map(this.passwords.map((p) => [p.hash, p]));
    return this.#hashes;
  }

  #addSelector(words: readonly AclWord[]): Fault | undefined {
    const selector = this.#selector(words);
    // Unbalanced quotes inside give a selector without rules.
    for (const inner of selectorWords(words, this.#setting.behaviour.lenientQuotes) ?? []) {
      const { mask } = inner;
      if (mask !== undefined && this.#hidden(inner, mask)) {
        this.unknown = named(this.unknown, inner);
        selector.addUnknown(inner);
        continue;
      }
      const fault = selector.apply(inner);
      if (fault !== undefined) return fault;
    }
    if (this.selectors === NO_SELECTORS) this.selectors = [];
    this.selectors.push(selector);
    return undefined;
  }
}

/** Answers about key patterns that a user keeps. */
const MAX_COVERAGE = 2000;

/** A user of a loaded ACL. Its rules are read when they are first asked for: a file may define very many users. */
export class AclUser {
  readonly name: string;
  readonly table: CommandTable;
  readonly behaviour: Behaviour;
  readonly #line: AclLine | undefined;
  readonly #nameWord: AclWord | undefined;
  readonly #view: TextView;
  readonly #make: () => UserState;
  #state: UserState | undefined;
  #permissions: readonly AclSelector[] | undefined;
  #keys: readonly AclPattern[] | undefined;
  readonly #coverage = new Map<string, Answer>();

  /** Without a name and line it is the `default` user that the server makes. `make` gives its state when it is needed. */
  constructor(setting: UserSetting, view: TextView, make: () => UserState, name?: AclWord, line?: AclLine) {
    this.table = setting.table;
    this.behaviour = setting.behaviour;
    this.name = name?.text ?? "default";
    this.#view = view;
    this.#make = make;
    this.#nameWord = name;
    this.#line = line;
  }

  /** Keeps a state that was made while loading, where memory allows. */
  keep(state: UserState): void {
    this.#state = state;
  }

  get #rules(): UserState {
    this.#state ??= this.#make();
    return this.#state;
  }

  /** The line that defines it, as the server counts; 0 for the `default` user that the server makes itself. */
  get line(): number {
    return this.#line?.line ?? 0;
  }

  /** The whole definition; the start of the text for a `default` user that the server made. */
  get at(): Span {
    return this.#line === undefined ? this.#view.span(0, 0) : this.#line.view.span(this.#line.start, this.#line.end);
  }

  get nameAt(): Span {
    return this.#nameWord?.at ?? this.at;
  }

  /** `nameAt`, found when somebody asks. */
  get namePlace(): Place {
    return new PlaceOf(this.#nameWord ?? this);
  }

  /** The server made it because no line defines it: `default` is then on, without password, and may do everything. */
  get implicit(): boolean {
    return this.#line === undefined;
  }

  /** The name holds a placeholder. */
  get namePlaceholder(): boolean {
    return this.#nameWord?.placeholder === true;
  }

  /** Template statements on its line: rules next to them may or may not be there. */
  get statements(): readonly Span[] {
    return this.#line?.statements ?? [];
  }

  get enabled(): boolean {
    return this.#rules.enabled;
  }

  /** The rule that last turned it on or off. */
  get enabledWord(): AclWord | undefined {
    return this.#rules.enabledWord;
  }

  get nopass(): boolean {
    return this.#rules.nopass;
  }

  get nopassWord(): AclWord | undefined {
    return this.#rules.nopassWord;
  }

  get sanitize(): "on" | "skip" | "unset" {
    return this.#rules.sanitize;
  }

  get passwords(): readonly AclPassword[] {
    return this.#rules.passwords;
  }

  get root(): AclSelector {
    return this.#rules.root;
  }

  /** The selectors in parentheses, without the root. */
  get selectors(): readonly AclSelector[] {
    return this.#rules.selectors;
  }

  /** Placeholders that stand for whole rules: anything may be there. */
  get unknown(): readonly AclWord[] {
    return this.#rules.unknown;
  }

  /** What ACL GETUSER prints, or what stands for its crash. */
  describe(): UserDescription | CrashDescription {
    return describeUser(this);
  }

  /** The line of ACL LIST. */
  list(): string {
    return listUser(this);
  }

  /** Every word of the rules (without keyword and name), selectors in their parts. Read anew from the line, one by one. */
  *tokens(): Generator<AclWord> {
    let index = 0;
    for (const word of this.#line?.words() ?? []) if (index++ >= 2 && word.end > word.start) yield word;
  }

  /** Whether the text of its line holds what a pattern finds. */
  holds(pattern: RegExp): boolean {
    const line = this.#line;
    return line !== undefined && pattern.test(line.view.text.slice(line.start, line.end));
  }

  /** The root and the selectors. */
  get permissions(): readonly AclSelector[] {
    const rules = this.#rules;
    if (this.#permissions?.[0] !== rules.root) this.#permissions = [rules.root, ...rules.selectors];
    return this.#permissions!;
  }

  /** Nothing about its rules is hidden by a placeholder. */
  get certain(): boolean {
    return this.unknown.length === 0 && this.statements.length === 0;
  }

  /** The command, subcommand or `command|first argument` that a name means. */
  #named(name: string): { command: Command; argv: string[] } | undefined {
    const bar = name.indexOf("|");
    const whole = this.table.get(name);
    if (whole !== undefined || bar < 0) return whole === undefined ? undefined : { command: whole, argv: [] };
    const base = this.table.get(name.slice(0, bar));
    if (base === undefined || base.subcommands !== undefined) return undefined;
    return { command: base, argv: [base.name, name.slice(bar + 1)] };
  }

  /**
   * Whether the user may send a command at all, on some key: `get`, `config|rewrite`, `select|0`. AUTH, HELLO and QUIT always
   * may; a name that the server does not know never.
   */
  can(name: string): Answer {
    return this.decision(name).answer;
  }

  /** `can` without doubt. */
  may(name: string): boolean {
    return this.can(name) === "yes";
  }

  /** The rule that grants the command, or else the one that last took it away. */
  granting(name: string): AclWord | undefined {
    return this.decision(name).rule?.word;
  }

  decision(name: string): Decision {
    const found = this.#named(name);
    if (found === undefined) return { answer: "no" };
    const { command, argv } = found;
    if (command.flags.includes("no_auth")) return { answer: "yes" };
    let best: Decision | undefined;
    for (const selector of this.permissions) {
      const decision = selector.decideCall(command, argv);
      if (decision.answer === "yes") return decision;
      if (best === undefined || (decision.answer === "unknown" && best.answer === "no")) best = decision;
    }
    if (best!.answer === "no" && !this.certain) return { answer: "unknown" };
    return best!;
  }

  /** Names of all commands that some selector surely allows: `get`, `config`, `config|get` … */
  get commands(): ReadonlySet<string> {
    if (this.selectors.length === 0) return this.root.commands;
    const out = new Set<string>();
    const allowed = new Uint8Array(this.table.commands.length);
    for (const selector of this.permissions) selector.markAllowed(allowed);
    for (const command of this.table.commands) if (allowed[command.id] === 1) out.add(command.name);
    return out;
  }

  /** The selectors that may allow the command; all of them without one. */
  #holders(command: string | undefined): readonly AclSelector[] {
    if (command === undefined) return this.permissions;
    const found = this.#named(command);
    if (found === undefined) return [];
    return this.permissions.filter((s) => s.decideCall(found.command, found.argv).answer !== "no");
  }

  /** Whether the user may touch a key (with `command`: in a selector that allows it). `""` needs any matching pattern. */
  mayKey(key: string, access: "" | "R" | "W" | "RW", command?: string): Answer {
    return this.#best(this.#holders(command).map((s) => s.mayKey(key, accessBits(access))));
  }

  mayChannel(channel: string, asPattern = false, command?: string): Answer {
    return this.#best(this.#holders(command).map((s) => s.mayChannel(channel, asPattern)));
  }

  #best(answers: readonly Answer[]): Answer {
    if (answers.includes("yes")) return "yes";
    return answers.includes("unknown") || !this.certain ? "unknown" : "no";
  }

  /**
   * Whether every key of `keys` is allowed with the access: language inclusion in the user's patterns (with `command`: those of
   * the selectors that allow it). The empty key is left out: only the empty pattern and `~*` match it.
   */
  covers(keys: KeyLanguage, access: "" | "R" | "W" | "RW", command?: string): Answer {
    if (typeof keys === "string" || !("declared" in keys)) return this.#covers(keys, access, command);
    // programs of a contract name the same few patterns again and again
    const question = `${access} ${command ?? ""} ${keys.declared}`;
    let known = this.#coverage.get(question);
    if (known === undefined) {
      if (this.#coverage.size >= MAX_COVERAGE) this.#coverage.clear();
      this.#coverage.set(question, (known = this.#covers(keys, access, command)));
    }
    return known;
  }

  #covers(keys: KeyLanguage, access: "" | "R" | "W" | "RW", command?: string): Answer {
    const holders = this.#holders(command);
    if (holders.some((s) => s.allKeys)) return "yes";
    const bits = accessBits(access);
    const answer = covered(
      holders.flatMap((s) => s.keys.filter((p) => (p.access & bits) === bits)),
      keys,
    );
    return this.#best([answer, ...holders.map((s): Answer => (s.unknown.length > 0 ? "unknown" : "no"))]);
  }

  coversChannel(channels: KeyLanguage, command?: string): Answer {
    const holders = this.#holders(command);
    if (holders.some((s) => s.allChannels)) return "yes";
    return this.#best([
      covered(
        holders.flatMap((s) => s.channels),
        channels,
      ),
    ]);
  }

  /** All key patterns of root and selectors. */
  get keys(): readonly AclPattern[] {
    this.#keys ??= this.permissions.flatMap((s) => s.keys);
    return this.#keys;
  }

  get channels(): readonly AclPattern[] {
    return this.permissions.flatMap((s) => s.channels);
  }

  /** Some selector has `~*` / `allkeys`. */
  get allKeys(): boolean {
    return this.permissions.some((s) => s.allKeys);
  }

  get allChannels(): boolean {
    return this.permissions.some((s) => s.allChannels);
  }

  /**
   * ACL GETUSER, ACL LIST and ACL SAVE crash the server on this user: a pattern without access (`%`), or quotes or blanks in a
   * first argument (`+get|"x`).
   */
  get crashes(): boolean {
    return this.#rules.crashes;
  }

  /** Whether AUTH with this user and password succeeds; a placeholder's password is unknown. */
  authenticates(password: string): Answer {
    if (!this.enabled) return this.certain ? "no" : "unknown";
    if (this.nopass) return "yes";
    const hash = sha256(bytesOf(password));
    if (this.passwords.some((p) => !p.placeholder && p.hash === hash)) return "yes";
    return !this.certain || this.passwords.some((p) => p.placeholder) ? "unknown" : "no";
  }
}

export function accessBits(access: "" | "R" | "W" | "RW"): AccessBits {
  return ((access.includes("R") ? READ : 0) | (access.includes("W") ? WRITE : 0)) as AccessBits;
}

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);
