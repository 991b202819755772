import {
  type ConfArgument,
  type ConfProblem,
  type ConfStatement,
  findPlaceholders,
  type PlaceholderKind,
  splitArgs,
} from "../../document/redis-conf.js";
import type { Span } from "../../text/source.js";
import { dialect } from "./directives.js";

/**
 * The command line of `redis-server`: `[file] [--option argument …] [-]`. Options act as lines after the file's own; the
 * rules by which words become options differ between 6.2 and ≥ 7.0 (https://redis.io/docs/latest/operate/oss_and_stack/management/config/).
 */
export interface ServerArguments {
  /** The configuration file: the first word, unless it starts with `-`. */
  readonly file: ConfArgument | undefined;
  /** `-`: the configuration goes on from standard input. */
  readonly stdin: boolean;
  /** `--sentinel` is among the words. */
  readonly sentinel: boolean;
  /** `--help`, `--version` …: no server starts. */
  readonly starts: boolean;
  readonly statements: readonly ConfStatement[];
}

/** A statement that no line of a file holds. */
export class ArgumentStatement implements ConfStatement {
  readonly name: string;
  readonly nameAt: Span;
  readonly namePlaceholder: PlaceholderKind;
  readonly args: readonly ConfArgument[];
  readonly line = 0;
  readonly text: string;
  readonly problem: ConfProblem | undefined;
  readonly conditional: boolean;
  readonly truncated = false;

  constructor(
    name: string,
    nameAt: Span,
    args: readonly ConfArgument[],
    options: { problem?: ConfProblem | undefined; placeholder?: PlaceholderKind; conditional?: boolean } = {},
  ) {
    this.name = name.toLowerCase();
    this.nameAt = nameAt;
    this.namePlaceholder = options.placeholder ?? "none";
    this.args = args;
    this.text = [name, ...args.map((a) => a.value)].join(" ");
    this.problem = options.problem;
    this.conditional = options.conditional ?? false;
  }

  get at(): Span {
    const last = this.args.at(-1)?.at ?? this.nameAt;
    const { nameAt } = this;
    return last.source === nameAt.source && last.end >= nameAt.start
      ? { source: nameAt.source, start: nameAt.start, end: last.end }
      : nameAt;
  }
}

/** A word of a command line. Placeholders are shell and kubelet variables (`$(POD_IP)`, `$PASS`). */
export function commandWord(value: string, at: Span, templates = true): ConfArgument {
  const holes = templates ? findPlaceholders(value) : [];
  const whole = holes.length === 1 && holes[0]!.start === 0 && holes[0]!.end === value.length;
  return { value, at, placeholder: holes.length === 0 ? "none" : whole ? "whole" : "part", splits: false };
}

/** A word whose place is made when somebody asks for it. */
class PlacedWord implements ConfArgument {
  readonly value: string;
  readonly placeholder: PlaceholderKind;
  readonly splits = false;
  readonly #place: { readonly span: Span };

  constructor(value: string, placeholder: PlaceholderKind, place: { readonly span: Span }) {
    this.value = value;
    this.placeholder = placeholder;
    this.#place = place;
  }

  get at(): Span {
    return this.#place.span;
  }
}

/** A word of a command in a manifest. */
export function placedWord(value: string, place: { readonly span: Span }): ConfArgument {
  const holes = findPlaceholders(value);
  const whole = holes.length === 1 && holes[0]!.start === 0 && holes[0]!.end === value.length;
  return new PlacedWord(value, holes.length === 0 ? "none" : whole ? "whole" : "part", place);
}

/** @param words the words after the server's name */
export function parseServerArguments(words: readonly ConfArgument[], server: string): ServerArguments {
  const { v7 } = dialect(server);
  const first = words[0];
  const sentinel = words.some((w) => w.value === "--sentinel");
  const starts = first === undefined || !/^(?:-v|--version|-h|--help|--test-memory|--check-system)$/.test(first.value);
  const file = first !== undefined && !first.value.startsWith("-") ? first : undefined;
  const statements: ConfStatement[] = [];
  let stdin = false;
  let name: ConfArgument | undefined;
  let args: ConfArgument[] = [];
  const flush = (): void => {
    if (name !== undefined) push(statements, name, args);
    name = undefined;
    args = [];
  };
  let mayBeOption = true;
  for (let i = file === undefined ? 0 : 1; i < words.length; i++) {
    const word = words[i]!;
    const last = i === words.length - 1;
    if (word.value === "-" && (i === 0 || last)) {
      stdin = true;
    } else if (word.value.startsWith("--") && (mayBeOption || !v7)) {
      flush();
      name = word;
      if (!v7) continue;
      // From 7.0 on an option takes the next word as its argument whatever it looks like.
      if (splitArgs(word.value).words.length !== 1) continue;
      mayBeOption = false;
      const next = words[i + 1]?.value ?? "";
      const bare = last || next.startsWith("--");
      if (bare && word.value.toLowerCase() === "--save")
        args.push({ value: "", at: word.at, placeholder: "none", splits: false });
      if (bare && !last && /^--(?:save|sentinel)$/i.test(word.value)) mayBeOption = true;
    } else {
      // A word without an option before it starts a line of its own: `redis-server conf port 1` is the line `"port" "1"`.
      if (name === undefined) name = word;
      else args.push(word);
      mayBeOption = true;
    }
  }
  flush();
  return { file, stdin, sentinel, starts, statements };
}

/** One option and its arguments; the option's own word may hold arguments (`--port 6380` in one word). */
function push(statements: ConfStatement[], option: ConfArgument, args: readonly ConfArgument[]): void {
  const text = option.value.startsWith("--") ? option.value.slice(2) : option.value;
  const holes = findPlaceholders(text);
  if (text !== option.value && /[\s"'\\]/.test(text)) {
    for (const line of text.split("\n")) {
      const { words, problem } = splitArgs(line, true);
      const own = words.slice(1).map((w) => ({
        value: w.value,
        at: option.at,
        placeholder: w.placeholder,
        splits: w.placeholder !== "none" && !w.quoted,
      }));
      const found = problem && { code: problem.code, message: "quotes in an option's name", at: option.at };
      if (words[0] === undefined && found === undefined) continue;
      statements.push(new ArgumentStatement(words[0]?.value ?? "", option.at, [...own, ...args], { problem: found }));
    }
    return;
  }
  if (text === "") return;
  statements.push(new ArgumentStatement(text, option.at, args, { placeholder: holes.length === 0 ? "none" : "part" }));
}
