/** The result of a whole run, as surfaces and reporters see it. */
import type { Diagnostic } from "./diagnostic.js";
import type { RuleCrash } from "./lint.js";

/** A file that was seen: what it was read as, by which contract; `ignored` with a reason, or why it could not be read. */
export interface Input {
  readonly file: string;
  readonly kind: string;
  readonly contract: string | undefined;
  readonly reason?: string | undefined;
}

export interface Summary {
  readonly contracts: number;
  readonly files: number;
  readonly documents: number;
  readonly rules: number;
  readonly errors: number;
  readonly warnings: number;
  readonly infos: number;
  readonly suppressed: number;
  readonly baselined: number;
}

/** What `lint()` gives: active findings in `diagnostics`, those that do not count in `suppressed` (each with `.suppressed`). */
export interface LintResult {
  readonly tool: { readonly name: string; readonly version: string };
  readonly summary: Summary;
  readonly inputs: readonly Input[];
  readonly diagnostics: readonly Diagnostic[];
  readonly suppressed: readonly Diagnostic[];
  readonly crashes: readonly RuleCrash[];
}

export function summarize(
  parts: { contracts: number; files: number; documents: number; rules: number },
  diagnostics: readonly Diagnostic[],
  suppressed: readonly Diagnostic[],
): Summary {
  const count = (severity: string): number => diagnostics.filter((d) => d.severity === severity).length;
  const baselined = suppressed.filter((d) => d.suppressed?.kind === "baseline").length;
  return {
    ...parts,
    errors: count("error"),
    warnings: count("warning"),
    infos: count("info"),
    suppressed: suppressed.length - baselined,
    baselined,
  };
}
