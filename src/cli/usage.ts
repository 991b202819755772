/** A mistake of the user: printed as one line, exit 2. */
export class UsageError extends Error {
  // parts of the command are bundles of their own: the class is told by its name
  override readonly name = "UsageError";
}
