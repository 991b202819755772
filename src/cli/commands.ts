/** The commands and their options, and what of them the arguments ask for. */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { VERSION } from "../version.js";
import { writeTo } from "./output.js";
import { PLAIN_CHECK } from "./usage.js";

export const FORMATS = ["pretty", "json", "sarif", "github", "gitlab", "junit", "markdown"] as const;

function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}

function count(value: string): number {
  const n = Number(value);
  if (!Number.isInteger(n) || n < 0) throw new InvalidArgumentError("it must be a whole number");
  return n;
}

function percent(value: string): number {
  const n = Number(value);
  if (value.trim() === "" || !(n >= 0 && n <= 100)) throw new InvalidArgumentError("it must be between 0 and 100");
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

/** Makes a command's action of the function that does it, loaded when it is asked for. */
type ActionOf = <A extends unknown[]>(
  load: () => Promise<(...args: A) => Promise<number>>,
) => (...args: A) => Promise<void>;

type Define = (program: Command, action: ActionOf) => void;

/** The commands by name, each with its options. */
const COMMANDS: Readonly<Record<string, Define>> = {
  check(program, action) {
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
            .default(PLAIN_CHECK.failOn),
        )
        .option("--max-warnings <n>", "exit 1 with more warnings than this", count)
        .option("--baseline <file>", "known findings that do not count")
        .option("--update-baseline", "write the baseline: create it, or take out what is gone")
        .option("--fix", "repair what has one right answer")
        .option("--fix-dry-run", "print the repairs as a diff")
        .option("--cache", "print what the same run printed, where no file has changed")
        .option("--cache-location <dir>", "where --cache keeps it (default: quorumlint in the user's cache directory)")
        .option("--shard <i/n>", "check the I-th of N parts only; merge puts their JSON together")
        .option("--watch", "check again when a file changes, until Ctrl-C")
        .option("--stdin-filename <name>", "name of the file on standard input")
        .option("--today <date>", "the day that expiry dates are compared with", day)
        .option("--quiet", "print errors only")
        .option("--strict-discovery", "a file that looks like a contract file but belongs to none is a finding"),
    ).action(action(async () => (await import("./check.js")).checkCommand));
  },
  prove(program, action) {
    colorOptions(
      program
        .command("prove")
        .description("mutate a contract and show which rule kills each mutant")
        .argument("[path]", "the contract", ".")
        .option("--rule <glob>", "prove only these rules; repeatable", collect)
        .option("--sweep", "mutate every field of the contract, and show which fields no rule guards")
        .option("--since <rev>", "sweep only what changed since a git revision")
        .option("--min-score <n>", "sweep: exit 1 below this share of reported mutants, in per cent", percent)
        .option("--baseline <file>", "sweep: known findings that do not count")
        .option("--all-killers", "sweep: let every rule judge every mutant, not only until one reports it")
        .option("--threads <n>", "sweep: worker threads (default: as many as pay)", count)
        .option("--config <file>", "sweep: the contract file")
        .option(
          "--format <format[=file]>",
          'pretty or json; with --sweep also html; "html=out.html" writes a file',
          "pretty",
        )
        .addOption(new Option("--part <i/n>", "sweep: judge every N-th mutant only").hideHelp())
        .option("--today <date>", "the day that expiry dates are compared with", day),
    ).action(action(async () => (await import("./prove.js")).proveCommand));
  },
  graph(program, action) {
    colorOptions(
      program
        .command("graph")
        .description("network edges of a contract, or of any manifests")
        .argument("[path]", "a directory, a file, or - for standard input (default .)")
        .addOption(
          new Option("--format <format>", "output").choices(["text", "json", "dot", "mermaid", "svg"]).default("text"),
        )
        .option("--self", "also edges between pods of one workload")
        .option("--diff <other>", "what changed from OTHER to PATH")
        .option(
          "--explain <ends...>",
          "FROM TO [PORT]: why it may or may not reach it (workloads, planes, dns, addresses)",
        )
        .option("--config <file>", "the contract file")
        .option("--stdin-filename <name>", "name of the file on standard input"),
    ).action(action(async () => (await import("./graph.js")).graphCommand));
  },
  report(program, action) {
    program
      .command("report")
      .description("one self-contained HTML page for people: findings, permissions, network, coverage")
      .argument("[path]", "the contract", ".")
      .option("-o, --output <file>", "write it there (default: standard output)")
      .option("--prove <file>", "also show this result of prove --format json, or of prove --sweep --format json")
      .option("--title <text>", "its title")
      .option("--config <file>", "the contract file")
      .option("--today <date>", "the day that expiry dates are compared with", day)
      .action(action(async () => (await import("./report.js")).reportCommand));
  },
  merge(program, action) {
    program
      .command("merge")
      .description("one JSON result of those of all shards, as if the run had not been split")
      .argument("<files...>", "what check --shard I/N --format json printed, of every I")
      .option("-o, --output <file>", "write it there (default: standard output)")
      .addOption(
        new Option("--fail-on <severity>", "exit 1 at or above this severity")
          .choices(["error", "warning", "info", "never"])
          .default("warning"),
      )
      .action(action(async () => (await import("./merge.js")).mergeCommand));
  },
  acl(program, action) {
    const acl = program.command("acl").description("effective permissions, dry run, difference of ACL files");
    const aclFormat = (): Option =>
      new Option("--format <format>", "output").choices(["pretty", "json"]).default("pretty");
    const serverOption = [
      "--server <version>",
      "server that reads the ACL: 7.2, valkey-8.0, 7.2/sentinel … (default 7.2)",
    ] as const;
    acl
      .command("show")
      .description("what each user can do, as ACL GETUSER prints it")
      .argument("<file>", "an ACL file, a redis.conf with user lines, or - for standard input")
      .option("--user <name>", "only this user")
      .option(...serverOption)
      .addOption(aclFormat())
      .action(action(async () => (await import("./acl.js")).aclShowCommand));
    acl
      .command("can")
      .description("allowed or denied, and the rule that decides: acl can FILE --user U -- GET key")
      .argument("<file>", "an ACL file")
      .argument("<command...>", "the command and its arguments, after --")
      .requiredOption("--user <name>", "the user that sends it")
      .option(...serverOption)
      .addOption(aclFormat())
      .action(action(async () => (await import("./acl.js")).aclCanCommand));
    acl
      .command("diff")
      .description("what two ACLs allow differently, by effect")
      .argument("<before>")
      .argument("<after>")
      .option(...serverOption)
      .addOption(aclFormat())
      .action(action(async () => (await import("./acl.js")).aclDiffCommand));
    acl
      .command("suggest")
      .description("the least line of the users that run a contract's programs")
      .argument("[path]", "the contract", ".")
      .option("--role <role>", "whose line", "application")
      .option("--user <name>", "only this user")
      .option("--config <file>", "the contract file")
      .addOption(aclFormat())
      .action(action(async () => (await import("./acl-suggest.js")).aclSuggestCommand));
  },
  rules(program, action) {
    program
      .command("rules")
      .description("list the rules")
      .addOption(new Option("--format <format>", "output").choices(["pretty", "json", "markdown"]).default("pretty"))
      .action(action(async () => (await import("./rules.js")).rulesCommand));
  },
  explain(program, action) {
    colorOptions(
      program.command("explain").description("why, bad, good, fix and source of one rule").argument("<rule>"),
    ).action(action(async () => (await import("./rules.js")).explainCommand));
  },
  init(program, action) {
    program
      .command("init")
      .description("write quorumlint.yaml from what is found, never over an existing one")
      .argument("[path]", "the directory", ".")
      .option("--stdout", "print it instead")
      .action(action(async () => (await import("./init.js")).initCommand));
  },
  lsp(program, action) {
    program
      .command("lsp")
      .description("language server on standard input and output")
      .option("--stdio", "what it does anyway; many editors say it")
      .action(action(async () => (await import("../lsp/server.js")).lspCommand));
  },
  completion(program, action) {
    program
      .command("completion")
      .description("print the completion script of a shell")
      .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]))
      .action(action(async () => (await import("./completion.js")).completionCommand));
  },
};

/** All commands with their options, or only one of them: what completions and the man page are made of. */
export function commandTree(action: ActionOf, only?: string): Command {
  const program = new Command("quorumlint");
  program
    .description("Reads all files of a Redis-with-Sentinel deployment as one contract and says where it is broken.")
    .version(VERSION, "-V, --version")
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({ writeOut: (text) => writeTo(1, text), writeErr: (text) => writeTo(2, text) });
  for (const [name, define] of Object.entries(COMMANDS))
    if (only === undefined || only === name) define(program, action);
  return program;
}

/** The one command that arguments ask for; undefined where all must be known (help, what stands before a command). */
function askedFor(word: string | undefined): string | undefined {
  if (word === undefined || word.startsWith("-") || word === "help") return undefined;
  return Object.hasOwn(COMMANDS, word) ? word : "check";
}

/** Does what arguments ask for; resolves to the exit code, 2 where they are mistaken, which is said. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  let code = 0;
  const program = commandTree(
    (load) =>
      async (...args) => {
        code = await (await load())(...args);
      },
    askedFor(argv[0]),
  );
  try {
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}
