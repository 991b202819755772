/** The command line: arguments in, exit code out. Output, clock and process live here and nowhere below. */
import { VERSION } from "../version.js";
import { note, print } from "./output.js";
import { PLAIN_CHECK } from "./usage.js";

/** Commands that may still write or run when they have said their exit code. */
const LASTING = ["lsp", "graph", "prove"];

/** Whether nothing is left to do when `run` has ended: what it wrote is written. */
export function isOver(argv: readonly string[]): boolean {
  return !LASTING.includes(argv[0] ?? "");
}

/** Runs the command line; resolves to the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    // printing the version must not cost more than node itself
    if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
      print(VERSION);
      return 0;
    }
    const paths = pathsOfPlainCheck(argv);
    if (paths !== undefined) return await (await import("./check.js")).checkCommand(paths, PLAIN_CHECK);
    return await (await import("./commands.js")).runCommand(argv);
  } catch (error) {
    if (error instanceof Error && (error.name === "UsageError" || error.name === "MissingParser")) {
      note(`quorumlint: ${error.message}`);
      return 2;
    }
    const refused = refusal(error);
    if (refused !== undefined) {
      note(`quorumlint: ${refused}`);
      return 2;
    }
    note(
      `quorumlint: this is a bug of quorumlint: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    return 3;
  }
}

/** Paths of a `check` without options, which needs no parser of options: reading that one takes as long as reading a deployment's YAML. */
function pathsOfPlainCheck(argv: readonly string[]): readonly string[] | undefined {
  const [command, ...paths] = argv;
  if (command !== "check") return undefined;
  return paths.some((path) => path.startsWith("-")) ? undefined : paths;
}

/** What the system says where a file of the user cannot be read or written; undefined for any other error. */
function refusal(error: unknown): string | undefined {
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (syscall === "uv_cwd") return "the current directory is gone";
  const why = REFUSALS[code ?? ""];
  return why === undefined ? undefined : `${path ?? "a file"}: ${why}`;
}

const REFUSALS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left",
  EDQUOT: "no space left for this user",
  EISDIR: "it is a directory",
  ENOTDIR: "a part of the path is no directory",
  EEXIST: "a part of the path is no directory",
  ENAMETOOLONG: "the name is too long",
  ERR_ACCESS_DENIED: "Node's permission model refuses it",
};
