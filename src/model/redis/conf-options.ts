import { type ConfArgument, splitArgs } from "../../document/redis-conf.js";
import type { Loaded, Loading } from "./conf-load.js";
import {
  type BufferLimit,
  type Misread,
  parseBind,
  parseBufferLimits,
  parseSave,
  parseSpecial,
} from "./conf-special.js";
import { parseEnum, parseValue } from "./conf-types.js";
import type { UnknownWhy } from "./conf-values.js";
import { arity, commentOf, reportArity, reportComment } from "./conf-words.js";
import { type Directive, nearest } from "./directives.js";

/** Options: what the tables of directives describe. Reads their values and writes them into the settings. */
export class OptionReader {
  readonly #loading: Loading;
  readonly #buffers = new Map<string, BufferLimit>();
  readonly #bufferLines = new Map<string, Loaded>();
  readonly #repeats = new Map<string, number>();
  /** The pairs of the `save` lines so far; undefined: the defaults. */
  #saved: string | undefined;
  /** A `save` or `client-output-buffer-limit` line that adds something unknown. */
  readonly #opaque = new Set<string>();

  constructor(loading: Loading) {
    this.#loading = loading;
  }

  /** One line of an option. */
  read(loaded: Loaded, option: Directive): void {
    const v7 = this.#loading.dialect.v7;
    this.#repeat(loaded, option);
    this.#oldName(loaded, option);
    let args = loaded.args;
    const single =
      !option.multi &&
      (v7 ||
        option.kind !== "special" ||
        /^(?:dir|logfile|unixsocketperm|cluster-config-file|notify-keyspace-events)$/.test(option.name));
    if (single) {
      const count = arity(loaded, (n) => n === 1);
      if (count === "wrong") {
        const byHand = !v7 && option.kind === "special";
        const error = byHand ? "Bad directive or wrong number of arguments" : "wrong number of arguments";
        reportArity(this.#loading, loaded, error, "one argument");
        this.#set(loaded, option, undefined, "invalid");
        return;
      }
      if (count === "unknown" || args[0]!.placeholder !== "none") {
        this.#set(loaded, option, undefined, "placeholder");
        return;
      }
    } else {
      if (args.some((a) => a.placeholder !== "none")) {
        this.#opaqueMulti(loaded, option);
        return;
      }
      // One argument is split again: `save "900 1 300 10"`, `--bind "127.0.0.1 ::1"`.
      if (v7 && option.multi && args.length === 1 && args[0]!.value !== "") args = resplit(args[0]!);
    }
    const words = args.map((a) => a.value);
    switch (option.name) {
      case "save":
        this.#save(loaded, option, args, words);
        return;
      case "client-output-buffer-limit":
        this.#bufferLimit(loaded, option, args, words);
        return;
      case "bind":
        this.#bind(loaded, option, args, words);
        return;
    }
    const parsed =
      option.kind === "special"
        ? parseSpecial(option.name, words, this.#loading.dialect)
        : option.kind === "enum" && option.multi
          ? parseEnum(option, words, this.#loading.dialect)
          : parseValue(option, words[0]!, this.#loading.dialect);
    if (!parsed.ok) {
      this.#badValue(loaded, option, args, parsed.error);
      this.#set(loaded, option, undefined, "invalid");
      return;
    }
    const value = typeof parsed.value === "string" ? { value: parsed.value, misread: [] } : parsed.value;
    this.#misread(loaded, option, args, value.misread ?? []);
    this.#set(loaded, option, value.value);
  }

  /** A multi-argument option with placeholders: what is certain about it whatever they are. */
  #opaqueMulti(loaded: Loaded, option: Directive): void {
    const { args } = loaded;
    const comment = commentOf(args, 1);
    if (comment !== undefined && option.name !== "bind") {
      reportComment(this.#loading, loaded, comment, this.#commentError(option));
    }
    if (option.name === "save") this.#saved ??= "";
    this.#opaque.add(option.name);
    this.#set(loaded, option, undefined, "placeholder");
  }

  #commentError(option: Directive): string {
    const probe = ["#", "x"];
    if (option.name === "save") return "Invalid save parameters";
    const read =
      option.kind === "enum"
        ? parseEnum(option, probe, this.#loading.dialect)
        : parseSpecial(option.name, probe, this.#loading.dialect);
    return read.ok ? "wrong number of arguments" : read.error;
  }

  #badValue(loaded: Loaded, option: Directive, args: readonly ConfArgument[], error: string): void {
    const comment = commentOf(args, 0);
    if ((option.multi || option.kind === "special") && comment !== undefined) {
      reportComment(this.#loading, loaded, comment, error);
      return;
    }
    const wrongNumber = /number of arguments/.test(error);
    const one = args.length === 1 ? args[0] : undefined;
    this.#loading.report(loaded, {
      code: wrongNumber ? "arity" : "bad-value",
      class: "fatal",
      topic: wrongNumber ? "directive" : "value",
      message: wrongNumber
        ? `\`${loaded.statement.name}\` has the wrong number of arguments (${args.length})`
        : one === undefined
          ? `\`${loaded.statement.name}\` does not take \`${args.map((a) => a.value).join(" ")}\`: ${error}`
          : `\`${loaded.statement.name}\` does not take \`${one.value}\`: ${error}`,
      server: error,
      right: one === undefined ? undefined : meant(option, one.value),
      at: one?.at,
    });
  }

  #misread(loaded: Loaded, option: Directive, args: readonly ConfArgument[], misread: readonly Misread[]): void {
    for (const { index, message, right } of misread) {
      this.#loading.report(loaded, {
        code: "misread-value",
        class: "silent",
        topic: "value",
        message: `\`${args[index]!.value}\` of \`${option.name}\` ${message}`,
        right,
        at: args[index]!.at,
      });
    }
  }

  #save(loaded: Loaded, option: Directive, args: readonly ConfArgument[], words: readonly string[]): void {
    const parsed = parseSave(words, this.#loading.dialect);
    if (!parsed.ok) {
      this.#badValue(loaded, option, args, parsed.error);
      this.#set(loaded, option, undefined, "invalid");
      return;
    }
    const { reset, pairs, misread } = parsed.value;
    this.#misread(loaded, option, args, misread);
    if (!this.#loading.dialect.v7 && pairs.length === 0 && !reset) {
      this.#loading.report(loaded, {
        code: "ignored-arguments",
        class: "silent",
        topic: "value",
        message:
          words.length === 0
            ? "`save` without arguments switches the default snapshots off"
            : `\`save ${words.join(" ")}\` is no pair of seconds and changes: Redis 6 ignores it, and the default snapshots are off`,
      });
    }
    if (this.#loading.dialect.v7 && words.length === 0 && !reset) {
      this.#loading.report(loaded, {
        code: "ignored-arguments",
        class: "silent",
        topic: "value",
        message: "`save` without arguments adds nothing, and the default snapshots are off",
      });
    }
    // The first line replaces the defaults, the others add to it.
    if (this.#saved === undefined || reset) this.#saved = "";
    if (reset) this.#opaque.delete(option.name);
    if (pairs.length > 0) this.#saved += (this.#saved === "" ? "" : " ") + pairs.join(" ");
    this.#setSum(loaded, option, this.#saved);
  }

  #bufferLimit(loaded: Loaded, option: Directive, args: readonly ConfArgument[], words: readonly string[]): void {
    const parsed = parseBufferLimits(words, this.#loading.dialect);
    if (!parsed.ok) {
      this.#badValue(loaded, option, args, parsed.error);
      this.#set(loaded, option, undefined, "invalid");
      return;
    }
    this.#misread(loaded, option, args, parsed.value.misread);
    for (const limit of parsed.value.limits) {
      const before = this.#bufferLines.get(limit.class);
      if (before !== undefined) this.#repeated(loaded, before, `client-output-buffer-limit ${limit.class}`);
      this.#bufferLines.set(limit.class, loaded);
      this.#buffers.set(limit.class, limit);
    }
    const fallback = /(\S+) (\S+ \S+ \S+)/g;
    const parts: string[] = [];
    for (const [, name, rest] of option.default.matchAll(fallback)) {
      const own = this.#buffers.get(name === "slave" ? "replica" : name!);
      parts.push(`${name} ${own === undefined ? rest : `${own.hard} ${own.soft} ${own.seconds}`}`);
    }
    this.#setSum(loaded, option, parts.join(" "));
  }

  /** A value that several lines make up together: not known as soon as one of them is not. */
  #setSum(loaded: Loaded, option: Directive, value: string): void {
    if (loaded.conditional) this.#opaque.add(option.name);
    if (this.#opaque.has(option.name))
      this.#set(loaded, option, undefined, loaded.conditional ? "conditional" : "placeholder");
    else this.#set(loaded, option, value);
  }

  #bind(loaded: Loaded, option: Directive, args: readonly ConfArgument[], words: readonly string[]): void {
    const parsed = parseBind(words, this.#loading.dialect);
    if (!parsed.ok) {
      this.#badValue(loaded, option, args, parsed.error);
      this.#set(loaded, option, undefined, "invalid");
      return;
    }
    this.#set(loaded, option, parsed.value.join(" "));
  }

  #set(loaded: Loaded, option: Directive, value: string | undefined, why?: UnknownWhy): void {
    const before = this.#loading.settings.get(option.name);
    const { statement, origin } = loaded;
    const same = before !== undefined && before.value !== undefined && before.value === value;
    if (loaded.conditional && !same) {
      this.#loading.settings.set(option.name, { statement, origin, value: undefined, why: "conditional", loaded });
      return;
    }
    this.#loading.settings.set(option.name, { statement, origin, value, why, loaded });
  }

  /** Options of which several lines are meant to be. */
  #repeat(loaded: Loaded, option: Directive): void {
    const before = this.#loading.settings.get(option.name)?.loaded;
    if (before === undefined || option.name === "save" || option.name === "client-output-buffer-limit") return;
    this.#repeated(loaded, before, option.name);
  }

  /** Within one file; a file that overrides what it includes, and a script or an argument that overrides a file, mean it. */
  #repeated(loaded: Loaded, before: Loaded, name: string): void {
    if (loaded.origin !== "file" || before.document !== loaded.document || before.origin !== "file") return;
    if (loaded.conditional || before.conditional) return;
    const count = this.#repeats.get(name) ?? 0;
    this.#repeats.set(name, count + 1);
    if (count >= 8) return;
    const text = (l: Loaded): string => l.args.map((a) => a.value).join("\0");
    const same = text(before) === text(loaded);
    this.#loading.report(loaded, {
      code: "repeated",
      class: "repeat",
      topic: "directive",
      message: same
        ? `\`${name}\` is set twice to the same value`
        : `\`${name}\` is set again: the server keeps the last line only`,
      related: [{ at: before.statement.at, message: "overridden" }],
    });
  }

  #oldName(loaded: Loaded, option: Directive): void {
    const { name } = loaded.statement;
    if (name === option.name || !/slave|ziplist|lua-time-limit|_cpulist/.test(name)) return;
    this.#loading.report(loaded, {
      code: "old-name",
      class: "deprecated",
      topic: "directive",
      message: `\`${name}\` is an old name of \`${option.name}\``,
      right: option.name,
      at: loaded.statement.nameAt,
    });
  }
}

/** The words inside one argument of a multi-argument option. */
function resplit(arg: ConfArgument): readonly ConfArgument[] {
  const { words, problem } = splitArgs(arg.value);
  // Unbalanced quotes inside leave the server with no words at all.
  if (problem !== undefined) return [];
  return words.map((w) => ({ value: w.value, at: arg.at, placeholder: "none", splits: false }));
}

/** What a mistyped value certainly stands for. */
function meant(option: Directive, value: string): string | undefined {
  if (option.kind === "bool") {
    if (/^(?:true|on|1|enable|enabled|y)$/i.test(value)) return "yes";
    if (/^(?:false|off|0|disable|disabled|n)$/i.test(value)) return "no";
    return nearest(value.toLowerCase(), ["yes", "no"]);
  }
  if (option.kind === "enum") return nearest(value.toLowerCase(), option.values);
  return undefined;
}
