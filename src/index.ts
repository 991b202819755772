/** quorumlint as a library. */

export type { Diagnostic, Severity } from "./engine/diagnostic.js";
export { lintContract } from "./engine/lint.js";
export type { LintResult } from "./engine/result.js";
