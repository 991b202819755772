/** The formats of `--format`. Only what every run needs is loaded with the program. */
import type { LintResult } from "../engine/result.js";
import { json } from "./json.js";
import { pretty } from "./pretty.js";
import type { ReportContext } from "./shared.js";

export const FORMATS = ["pretty", "json", "sarif", "github", "gitlab", "junit", "markdown"] as const;
export type Format = (typeof FORMATS)[number];

export function isFormat(text: string): text is Format {
  return (FORMATS as readonly string[]).includes(text);
}

/** The result in a format; the same text for the same result. */
export async function render(format: Format, result: LintResult, context: ReportContext): Promise<string> {
  switch (format) {
    case "pretty":
      return pretty(result, context);
    case "json":
      return json(result, context);
    case "sarif":
      return (await import("./sarif.js")).sarif(result, context);
    case "github":
      return (await import("./github.js")).github(result, context);
    case "gitlab":
      return (await import("./gitlab.js")).gitlab(result, context);
    case "junit":
      return (await import("./junit.js")).junit(result, context);
    case "markdown":
      return (await import("./markdown.js")).markdown(result, context);
  }
}
