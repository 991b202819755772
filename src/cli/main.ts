/** The command line: arguments in, exit code out. Output, clock and process live here and nowhere below. */
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { VERSION } from "../version.js";

/** A mistake of the user: printed as one line, exit 2. */
export class UsageError extends Error {}

export const FORMATS = ["pretty", "json", "sarif", "github", "gitlab", "junit", "markdown"] as const;

function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}

function count(value: string): number {
  const n = Number(value);
  if (!Number.isInteger(n) || n < 0) throw new InvalidArgumentError("it must be a whole number");
  return n;
}

function day(value: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value) || Number.isNaN(Date.parse(value)))
    throw new InvalidArgumentError("it must be a day such as 2026-11-29");
  return value;
}

function colorOptions(command: Command): Command {
  return command.option("--color", "use colours whatever the terminal says").option("--no-color", "use no colours");
}

/** Runs the command line; resolves to the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  // printing the version must not cost more than node itself
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  let code = 0;
  const program = new Command("quorumlint");
  program
    .description("Reads all files of a Redis-with-Sentinel deployment as one contract and says where it is broken.")
    .version(VERSION, "-V, --version")
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({ outputError: (text, write) => write(text) });

  const action =
    <A extends unknown[]>(load: () => Promise<(...args: A) => Promise<number>>) =>
    async (...args: A): Promise<void> => {
      code = await (await load())(...args);
    };

  colorOptions(
    program
      .command("check", { isDefault: true })
      .description("lint the contracts found under PATH (default .)")
      .argument("[paths...]", "directories, files, or - for standard input")
      .option("--config <file>", "the contract file")
      .option(
        "--format <format[=file]>",
        `output: ${FORMATS.join(", ")}; repeatable, "sarif=out.sarif" writes a file`,
        collect,
      )
      .option("--rule <glob>", "run only these rules; repeatable", collect)
      .option("--skip <glob>", "leave these rules out; repeatable", collect)
      .addOption(
        new Option("--fail-on <severity>", "exit 1 at or above this severity")
          .choices(["error", "warning", "info", "never"])
          .default("warning"),
      )
      .option("--max-warnings <n>", "exit 1 with more warnings than this", count)
      .option("--baseline <file>", "known findings that do not count")
      .option("--update-baseline", "write the baseline: create it, or take out what is gone")
      .option("--fix", "repair what has one right answer")
      .option("--fix-dry-run", "print the repairs as a diff")
      .option("--cache", "keep results of unchanged contracts")
      .option("--cache-location <dir>", "where the cache lives")
      .option("--shard <i/n>", "check the I-th of N parts")
      .option("--watch", "check again when a file changes")
      .option("--render", "run helm / kubectl kustomize on charts and kustomizations found")
      .option("--stdin-filename <name>", "name of the file on standard input")
      .option("--today <date>", "the day that expiry dates are compared with", day)
      .option("--quiet", "print errors only")
      .option("--strict-discovery", "a file that looks like a contract file but belongs to none is a finding"),
  ).action(action(async () => (await import("./check.js")).checkCommand));

  colorOptions(
    program
      .command("prove")
      .description("mutate a contract and show which rule kills each mutant")
      .argument("[path]", "the contract", ".")
      .option("--rule <glob>", "prove only these rules; repeatable", collect)
      .option("--format <format>", "pretty or json", "pretty")
      .option("--today <date>", "the day that expiry dates are compared with", day),
  ).action(action(async () => (await import("./prove.js")).proveCommand));

  program
    .command("rules")
    .description("list the rules")
    .addOption(new Option("--format <format>", "output").choices(["pretty", "json", "markdown"]).default("pretty"))
    .action(action(async () => (await import("./rules.js")).rulesCommand));

  colorOptions(
    program.command("explain").description("why, bad, good, fix and source of one rule").argument("<rule>"),
  ).action(action(async () => (await import("./rules.js")).explainCommand));

  try {
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof UsageError) {
      process.stderr.write(`quorumlint: ${error.message}\n`);
      return 2;
    }
    process.stderr.write(
      `quorumlint: this is a bug of quorumlint: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    return 3;
  }
}
