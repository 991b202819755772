/**
 * ACLs judged as the servers judge them: what an ACL file, or the `user` lines of a redis.conf, load to, and why they do not.
 */
import { type AclLine, type AclWord, aclFileLines, confUserLines } from "../../document/redis-acl.js";
import { Source, type Span, TextView } from "../../text/source.js";
import { type Behaviour, behaviourOf } from "./acl-behaviour.js";
import { cString, type Fault, hasSpaces } from "./acl-selector.js";
import { AclUser, type UserSetting, UserState } from "./acl-user.js";
import { resolveServer, type Server, serverNames } from "./servers.js";

export { type Behaviour, behaviourOf } from "./acl-behaviour.js";
export {
  type CallOptions,
  checkScript,
  type DryRun,
  dryRun,
  execute,
  type ScriptRun,
  scriptCall,
} from "./acl-check.js";
export { type CrashDescription, describeUser, listUser, type UserDescription } from "./acl-describe.js";
export { type AclDiff, diffUsers, effectiveDiff, type UserDiff } from "./acl-diff.js";
export {
  type AclPattern,
  AclSelector,
  type Answer,
  type CommandEffect,
  type CommandRule,
  type Decision,
  type KeyLanguage,
} from "./acl-selector.js";
export { AclPassword, AclUser } from "./acl-user.js";

export interface LoadOptions {
  /** A server as `resolveServer` reads it: `7.2`, `redis-7.0-debian`, `valkey-8.0/sentinel` … */
  readonly server: string;
  /** The text is a template: `${NAME}`, `{{ … }}` and the like are opaque values. Without it they are judged literally. */
  readonly placeholders?: boolean | undefined;
  /** `conf`: the text is a redis.conf, of which only the `user` lines are read. */
  readonly origin?: "aclfile" | "conf" | undefined;
  /** `acl-pubsub-default` of the configuration, where it is set. */
  readonly pubsubDefault?: "allchannels" | "resetchannels" | undefined;
  /** Only these lines (1-based) of an ACL file are read. */
  readonly only?: ReadonlySet<number> | undefined;
}

/** One reason why an ACL does not load. */
export interface AclError {
  /** 1-based line as the server counts. */
  readonly line: number;
  /** The server's words without `<file>:<line>: ` and without the full stop at the end. */
  readonly message: string;
  /** The rule at fault, or the line. */
  readonly at: Span;
  /** Offsets of `at` in its file. */
  readonly start: number;
  readonly end: number;
  /** How the server joins it into its one message; without it it is not part of that. */
  readonly kind: "keyword" | "name" | "duplicate" | "parenthesis" | "rule" | "crash";
  readonly fault?: Fault;
  readonly user?: string;
}

interface Loaded {
  /** Users by name; after errors those that could be read, each with the rules that are valid. */
  readonly users: Map<string, AclUser>;
  readonly server: Server;
  /** Said about the verdict: another table than asked for, more errors than listed. */
  readonly notes: readonly string[];
  /** Lines of a template that hold only placeholders: users may come from there, `default` too (then it is not made here). */
  readonly unknownLines: readonly Span[];
}

export type AclLoad =
  | (Loaded & { readonly ok: true })
  | (Loaded & {
      readonly ok: false;
      /** The text crashes the server instead of being refused. */
      readonly crash?: true;
      readonly errors: readonly AclError[];
    });

/** A user line that something else has split already: the keyword, the name, the rules. */
export interface UserLine {
  readonly line: number;
  readonly words: readonly AclWord[];
}

/** The users of a larger file do not keep their state: it is made again from their line when it is asked for. */
const KEPT = 1000;

interface Begun {
  readonly user: AclUser;
  readonly state: UserState;
}

/** After so many errors the rest of the text is not read: it does not load, whatever stands there. */
const LISTED = 1000;

/**
 * Loads an ACL text. The verdict, the lines and the messages are the server's.
 * @throws RangeError for a server name that is no version.
 */
export function load(text: string, options: LoadOptions): AclLoad {
  return loadView(new TextView(new Source("users.acl", text)), options);
}

/** `load` for a text inside a file: all places are those of the file. */
export function loadView(view: TextView, options: LoadOptions): AclLoad {
  const lex = { placeholders: options.placeholders };
  const loading = new Loading(options, view);
  if (options.origin === "conf") {
    loading.conf(confUserLines(view, { ...lex, lenient: loading.behaviour.lenientQuotes }));
  } else loading.file(aclFileLines(view, lex), options.only);
  return loading.result();
}

/** Loads `user` lines of a configuration that was read (with its includes) elsewhere; `view` places the made `default` user. */
export function loadLines(lines: Iterable<UserLine>, view: TextView, options: LoadOptions): AclLoad {
  const loading = new Loading(options, view);
  const whole = (words: readonly AclWord[]): { view: TextView; start: number; end: number } => {
    const first = words[0]!;
    return { view: first.view, start: first.start, end: words.at(-1)!.end };
  };
  const wrapped = [...lines].flatMap(({ line, words }): AclLine[] =>
    words.length === 0 ? [] : [{ line, ...whole(words), statements: [], words: () => words }],
  );
  loading.conf(wrapped);
  return loading.result();
}

/** The server's one message: what it logs at start-up after `Aborting … because of ACL errors: `, or ACL LOAD's error reply. */
export function serverMessage(errors: readonly AclError[], file: string): string {
  let out = "";
  for (const { kind, line, message, user } of errors) {
    if (kind === "keyword") out += `${file}:${line} ${message}. `;
    else if (kind === "name") out += `'${file}:${line}: ${message}. `;
    else if (kind === "duplicate") out += `WARNING: Duplicate user '${user}' found on line ${line}. `;
    else if (kind === "parenthesis") out += `${file}:${line}: ${message}.`;
    else if (kind === "rule") out += `${file}:${line}: ${message}. `;
  }
  return `${out}WARNING: ACL errors detected, no change to the previously active ACL rules was performed`;
}

const MESSAGES: { readonly [F in Fault]: string } = {
  ENOENT: "Unknown command or category name in ACL",
  EINVAL: "Syntax error",
  EEXIST:
    "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. " +
    "Try 'resetkeys' to start with an empty list of patterns",
  EISDIR:
    "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. " +
    "Try 'resetchannels' to start with an empty list of channels",
  ENODEV: "The password you are trying to remove from the user does not exist",
  EBADMSG: "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters",
  ECHILD: "Allowing first-arg of a subcommand is not supported",
  EBUSY:
    "Adding a subcommand of a command already fully added is not allowed. Remove the command to start. " +
    "Example: -DEBUG +DEBUG|DIGEST",
  ERANGE: "The provided database ID is out of range",
};

class Loading {
  readonly #server: Server;
  readonly behaviour: Behaviour;
  readonly #setting: UserSetting;
  readonly #view: TextView;
  readonly #users = new Map<string, AclUser>();
  readonly #errors: AclError[] = [];
  readonly #unknownLines: Span[] = [];
  readonly #crashing: string[] = [];
  /** Where reading stopped. */
  #rest: Span | undefined;
  #crash = false;

  constructor(options: LoadOptions, view: TextView) {
    const server = resolveServer(options.server);
    if (server === undefined) {
      throw new RangeError(`unknown server ${options.server}: one of ${serverNames.join(", ")} is wanted`);
    }
    this.#server = server;
    this.#view = view;
    this.behaviour = behaviourOf(server);
    const allChannels =
      options.pubsubDefault === undefined ? this.behaviour.allChannels : options.pubsubDefault === "allchannels";
    this.#setting = { table: server.table, behaviour: this.behaviour, allChannels };
  }

  /** `ACLLoadFromFile`. */
  file(lines: Iterable<AclLine>, only?: ReadonlySet<number>): void {
    for (const line of lines) {
      if (this.#full) {
        this.#stop(line);
        return;
      }
      if (only?.has(line.line) === false) continue;
      if (this.behaviour.comments && line.view.text[line.start] === "#") continue;
      const words = line.words()[Symbol.iterator]();
      const keyword: AclWord = words.next().value;
      const name: AclWord | undefined = words.next().value;
      if (name === undefined && keyword.mask !== undefined) {
        this.#unknownLines.push(keyword.at);
        continue;
      }
      if (keyword.text !== "user" || name === undefined) {
        if (keyword.mask !== undefined) {
          // A placeholder in place of the keyword: a whole definition may come from there.
          this.#unknownLines.push(keyword.at);
          continue;
        }
        this.#fail(line, "should start with user keyword followed by the username", "keyword");
        continue;
      }
      if (hasSpaces(name.mask ?? name.text)) {
        this.#fail(line, `username '${name.text}' contains invalid characters`, "name", name.at);
        continue;
      }
      const begun = this.#begin(name, line);
      if (begun !== undefined) this.#fileRules(begun, line, words);
    }
  }

  get #full(): boolean {
    return this.#errors.length >= LISTED;
  }

  /** Users may stand in what is not read. */
  #stop({ view, start }: AclLine): void {
    const rest = view.span(start, view.text.length);
    this.#rest ??= rest;
    this.#unknownLines.push(rest);
  }

  /** A new user, unless the server refuses a second one of the name. */
  #begin(name: AclWord, line: AclLine): Begun | undefined {
    const key = name.text;
    const known = this.#users.has(key);
    if (known && this.behaviour.modern) {
      this.#fail(line, `Duplicate user '${key}' found on line ${line.line}`, "duplicate", name.at, key);
      return undefined;
    }
    // Redis 6: a user that exists is reset first, and `default` always exists.
    return this.#define(name, line, !this.behaviour.modern && (known || key === "default"), true);
  }

  /** Registers the user, with a state for its rules. */
  #define(name: AclWord, line: AclLine, reset: boolean, trim: boolean): Begun {
    const start = (): UserState => {
      const state = new UserState(this.#setting);
      if (reset) state.reset(name);
      return state;
    };
    const make = (): UserState => {
      const state = start();
      this.#merge(skip(line.words(), 2), (parts) => void state.apply(parts), trim);
      return state;
    };
    const user = new AclUser(this.#setting, this.#view, make, name, line);
    this.#users.set(user.name, user);
    const state = start();
    if (this.#users.size <= KEPT) user.keep(state);
    return { user, state };
  }

  #fileRules({ user, state }: Begun, line: AclLine, words: Iterator<AclWord>): void {
    let refused = false;
    let before = false;
    const rule = (parts: readonly AclWord[]): void => {
      if (this.#full) {
        this.#rest ??= line.view.span(parts[0]!.start, line.view.text.length);
        return;
      }
      const fault = state.apply(parts);
      before = true;
      if (fault === undefined) return;
      const text = parts.map((w) => w.text).join(" ");
      const at = parts.length === 1 ? parts[0]!.at : { ...parts[0]!.at, end: parts.at(-1)!.at.end };
      if (!this.behaviour.modern) this.#fail(line, MESSAGES[fault], "rule", at, user.name, fault);
      else if (fault === "ENOENT") {
        const message = `Error in applying operation '${cString(text)}': ${MESSAGES.ENOENT}`;
        this.#fail(line, message, "rule", at, user.name, fault);
      } else if (!refused) {
        refused = true;
        this.#fail(line, MESSAGES[fault], "rule", at, user.name, fault);
      }
    };
    const open = this.#merge({ [Symbol.iterator]: () => words }, rule, true);
    if (state.crashes) this.#crashing.push(user.name);
    if (open === undefined) return;
    const at = { ...open[0]!.at, end: line.view.span(line.start, line.end).end };
    const message = "Unmatched parenthesis in selector definition";
    this.#crash ||= before;
    if (!before) this.#fail(line, message, "parenthesis", at, user.name);
    else this.#fail(line, `${message}: after other rules it crashes the server`, "crash", at, user.name);
  }

  /**
   * Joins the words of a selector, from one that starts with `(` to one that ends with `)`, and hands on every rule.
   * Gives back the words of a selector that does not end.
   */
  #merge(words: Iterable<AclWord>, rule: (parts: readonly AclWord[]) => void, trim: boolean): AclWord[] | undefined {
    const { modern, restartsSelector } = this.behaviour;
    let open: AclWord[] | undefined;
    for (const word of words) {
      const lexed = word.mask ?? word.text;
      if (modern && lexed[0] === "(" && !lexed.endsWith(")") && (open === undefined || restartsSelector)) open = [word];
      else if (open !== undefined) {
        open.push(word);
        if (lexed.endsWith(")")) {
          rule(open);
          open = undefined;
        }
      } else rule([trim ? trimmed(word) : word]);
    }
    return open;
  }

  /** `ACLAppendUserForLoading` for each line, then `ACLLoadConfiguredUsers`. */
  conf(lines: Iterable<AclLine>): void {
    const later: (() => void)[] = [];
    for (const line of lines) {
      if (this.#full) {
        this.#stop(line);
        break;
      }
      const words = [...line.words()];
      const name = words[1];
      if (words.length === 0) {
        this.#fail(line, "Unbalanced quotes in configuration line", "rule");
        continue;
      }
      if (name === undefined) {
        // The line that is only `user` is no directive the server knows.
        this.#fail(line, "Bad directive or wrong number of arguments", "rule");
        continue;
      }
      const declare = (index: number, fault: string, at: Span, code?: Fault): void =>
        this.#fail(
          line,
          `Error in user declaration '${words[index]?.text ?? ""}': ${fault}`,
          "rule",
          at,
          name.text,
          code,
        );
      if (this.behaviour.modern && this.#users.has(name.text)) {
        declare(1, "Duplicate user found. A user can only be defined once in config files", name.at);
        continue;
      }
      const reset = this.#users.has(name.text) || name.text === "default";
      const { state } = this.#define(name, line, reset, false);
      if (hasSpaces(name.mask ?? name.text)) {
        if (later.length < LISTED)
          later.push(() => this.#fail(line, "Spaces not allowed in ACL usernames", "name", name.at, name.text));
      }
      let index = 0;
      let refused = false;
      const rule = (parts: readonly AclWord[]): void => {
        if (this.#full) {
          this.#rest ??= parts[0]!.at;
          return;
        }
        const fault = state.apply(parts);
        const position = index++;
        if (fault === undefined) return;
        const text = cString(parts.map((w) => w.text).join(" "));
        const place = parts.length === 1 ? parts[0]!.at : { ...parts[0]!.at, end: parts.at(-1)!.at.end };
        if (fault === "ENOENT") {
          // A module may still add it: reported when all lines are read.
          const message = `Error loading ACL rule '${text}' for the user named '${name.text}': ${MESSAGES.ENOENT}`;
          if (later.length < LISTED) later.push(() => this.#fail(line, message, "rule", place, name.text, fault));
        } else if (!refused) {
          refused = true;
          // Since 7.0 the server names the wrong word: it counts rules but shows words.
          declare(this.behaviour.modern ? position : position + 2, MESSAGES[fault], place, fault);
        }
      };
      const open = this.#merge(words.slice(2), rule, false);
      if (open !== undefined) {
        const fault = this.behaviour.orderedRules ? "Wrong format" : MESSAGES.ENOENT;
        declare(words.slice(2).indexOf(open[0]!), fault, { ...open[0]!.at, end: words.at(-1)!.at.end });
      }
    }
    for (const report of later) report();
  }

  #fail(line: AclLine, message: string, kind: AclError["kind"], at?: Span, user?: string, fault?: Fault): void {
    if (this.#full && kind !== "crash") return;
    const place = at ?? line.view.span(line.start, line.end);
    const error: { -readonly [K in keyof AclError]: AclError[K] } = {
      line: line.line,
      message,
      at: place,
      start: place.start,
      end: place.end,
      kind,
    };
    if (user !== undefined) error.user = user;
    if (fault !== undefined) error.fault = fault;
    this.#errors.push(error);
  }

  result(): AclLoad {
    const notes = this.#server.note === undefined ? [] : [this.#server.note];
    if (this.#rest !== undefined) notes.push(`${LISTED} errors are listed; what follows them is not read`);
    const loaded: Loaded = { users: this.#users, server: this.#server, notes, unknownLines: this.#unknownLines };
    if (this.#errors.length > 0) {
      const failed = { ...loaded, ok: false as const, errors: this.#errors };
      return this.#crash ? { ...failed, crash: true } : failed;
    }
    // A placeholder in place of a line may define it.
    if (!this.#users.has("default") && this.#unknownLines.length === 0) {
      const view = this.#view;
      const make = (): UserState => {
        const state = new UserState(this.#setting);
        state.openToAll(view);
        return state;
      };
      const user = new AclUser(this.#setting, view, make);
      this.#users.set("default", user);
    }
    for (const name of this.#crashing) {
      notes.push(`the user ${name} crashes the server at ACL GETUSER, ACL LIST and ACL SAVE`);
    }
    return { ...loaded, ok: true };
  }
}

function* skip<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const item of items) if (left-- <= 0) yield item;
}

/** The server trims tabs and line ends off each rule of a file; blanks cannot be there. */
function trimmed(word: AclWord): AclWord {
  const { text } = word.view;
  if (!isTrimmed(text.charCodeAt(word.start)) && !isTrimmed(text.charCodeAt(word.end - 1))) return word;
  let before = 0;
  let after = 0;
  const size = word.end - word.start;
  while (before < size && isTrimmed(text.charCodeAt(word.start + before))) before++;
  while (after < size - before && isTrimmed(text.charCodeAt(word.end - 1 - after))) after++;
  return word.trimmed(before, after);
}

const isTrimmed = (c: number): boolean => c === 9 || c === 13 || c === 10;
