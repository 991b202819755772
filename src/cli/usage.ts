/** A mistake of the user: printed as one line, exit 2. */
export class UsageError extends Error {
  // parts of the command are bundles of their own: the class is told by its name
  override readonly name = "UsageError";
}

/** What can stand first on the command line instead of a path of `check`. */
export const COMMANDS = [
  "check",
  "prove",
  "graph",
  "report",
  "merge",
  "acl",
  "rules",
  "explain",
  "init",
  "lsp",
  "completion",
] as const;

/** What `check` is given where no option was typed. */
export const PLAIN_CHECK = { failOn: "warning" } as const;
