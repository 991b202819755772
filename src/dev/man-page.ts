/** `man/quorumlint.1`, made of the command tree. https://man7.org/linux/man-pages/man7/groff_man.7.html */
import { type CommandShape, flatten, type OptionShape, shapeOf } from "../cli/command-tree.js";
import { commandTree } from "../cli/commands.js";

/** Text for roff: its escape character, hyphens that are minus signs, and lines that would begin with a request. */
function roff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", "...")
    .replace(/^([.'])/gm, "\\&$1");
}

function options(list: readonly OptionShape[]): string[] {
  return list.flatMap((o) => {
    const choices = o.choices === undefined || o.choices.length > 8 ? "" : ` (${o.choices.join(", ")})`;
    const told = o.choices?.every((c) => o.description.includes(c)) === true ? "" : choices;
    return [".TP", `\\fB${roff(o.title)}\\fR`, roff(`${o.description}${told}`)];
  });
}

function section(command: CommandShape): string[] {
  const out = [`.SS "${roff(command.usage)}"`, roff(command.description), ...options(command.options)];
  return out;
}

export function manPage(): string {
  const program = shapeOf(commandTree(() => async () => {}));
  const commands = flatten(program).slice(1);
  return `${[
    `.TH QUORUMLINT 1 "" "quorumlint" "User Commands"`,
    ".SH NAME",
    "quorumlint \\- a static contract linter for Redis\\-with\\-Sentinel deployments on Kubernetes",
    ".SH SYNOPSIS",
    ".B quorumlint",
    "[\\fIcommand\\fR] [\\fIoptions\\fR] [\\fIpath\\fR ...]",
    ".SH DESCRIPTION",
    roff(program.description),
    roff(
      "Without a command it is check. A path is a directory, a file, or - for standard input; a file stands for the whole",
    ),
    roff("contract that it belongs to."),
    ".SH OPTIONS",
    ...options(program.options),
    ".SH COMMANDS",
    ...commands.filter((c) => c.commands.length === 0).flatMap(section),
    ".SH EXIT STATUS",
    ...[
      ["0", "nothing at or above --fail-on"],
      ["1", "findings; a mutant that survives; a command that is denied"],
      ["2", "your mistake: a bad argument, an invalid contract file, a path or glob that matches nothing"],
      ["3", "a bug of quorumlint: a rule crashed; the other findings are still printed"],
    ].flatMap(([code, text]) => [".TP", `.B ${code}`, roff(text!)]),
    ".SH FILES",
    ".TP",
    ".I quorumlint.yaml",
    roff("The contract file, in the path or the nearest directory above. quorumlint init writes a first one."),
    ".SH ENVIRONMENT",
    ".TP",
    ".BR NO_COLOR ,  \\ FORCE_COLOR",
    "Whether colours are used, where neither option says so.",
  ].join("\n")}\n`;
}
