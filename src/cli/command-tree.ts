/** The command tree as plain data, for what is made of it: completion scripts, the man page. */
import type { Command, Option } from "commander";
import { rules } from "../../rules/index.js";
import { FORMATS } from "./commands.js";

/** What the value of an option or an argument is: one of some words, or a file. */
export interface ValueShape {
  /** Undefined: any text, and files are offered. */
  readonly choices: readonly string[] | undefined;
}

export interface OptionShape extends ValueShape {
  /** `--format`, and `-V` where there is one. */
  readonly flags: readonly string[];
  /** As it is written in help: `--format <format[=file]>`. */
  readonly title: string;
  readonly description: string;
  readonly takesValue: boolean;
}

export interface CommandShape {
  /** Words after the program's name; empty for the program itself. */
  readonly path: readonly string[];
  readonly usage: string;
  readonly description: string;
  readonly options: readonly OptionShape[];
  readonly argument: ValueShape | undefined;
  readonly commands: readonly CommandShape[];
}

export function shapeOf(command: Command, path: readonly string[] = []): CommandShape {
  const visible = command.createHelp();
  const first = command.registeredArguments[0];
  return {
    path,
    usage: `${["quorumlint", ...path].join(" ")} ${command.usage()}`.trimEnd(),
    description: command.description(),
    options: visible.visibleOptions(command).map((option) => optionShape(option, path)),
    argument:
      first === undefined ? undefined : { choices: path[0] === "explain" ? rules.map((r) => r.id) : first.argChoices },
    commands: command.commands.map((c) => shapeOf(c, [...path, c.name()])),
  };
}

function optionShape(option: Option, path: readonly string[]): OptionShape {
  return {
    flags: [option.long, option.short].filter((flag) => flag !== undefined && flag !== null),
    title: option.flags,
    description: option.description,
    takesValue: option.required || option.optional,
    choices: choicesOf(option, path),
  };
}

function choicesOf(option: Option, path: readonly string[]): readonly string[] | undefined {
  if (option.argChoices !== undefined) return option.argChoices;
  if (option.long === "--rule" || option.long === "--skip") {
    const packs = new Set(rules.map((r) => `${r.id.slice(0, r.id.indexOf("/"))}/*`));
    return [...packs, ...rules.map((r) => r.id)];
  }
  if (option.long === "--format" && path[0] === "check") return FORMATS;
  return undefined;
}

/** A command and all below it, parents first. */
export function flatten(command: CommandShape): readonly CommandShape[] {
  return [command, ...command.commands.flatMap(flatten)];
}
