import type { ConfArgument } from "../../document/redis-conf.js";
import type { Span } from "../../text/source.js";
import type { Loaded, Loading } from "./conf-load.js";

/** What is said of a line's words whatever its directive. */

/** `wrong`: whatever placeholders stand for; `unknown`: it depends on how many words they make. */
export function arity(loaded: Loaded, wanted: (count: number) => boolean): "right" | "wrong" | "unknown" {
  const { args } = loaded;
  if (wanted(args.length)) return "right";
  const flexible = args.reduce((n, a) => n + (a.splits ? 1 : 0), 0);
  if (flexible === 0) return "wrong";
  for (let n = args.length - flexible; n < args.length + 16; n++) if (wanted(n)) return "unknown";
  return "wrong";
}

/** The words from the first `#` on: what was meant as a comment. */
export function commentOf(args: readonly ConfArgument[], from: number): Span | undefined {
  const index = args.findIndex((a, i) => i >= from && a.value.startsWith("#") && a.at.end > a.at.start);
  if (index < 0) return undefined;
  const first = args[index]!.at;
  const last = args.at(-1)!.at;
  if (first.source.text[first.start] !== "#" || last.source !== first.source) return undefined;
  return { source: first.source, start: first.start, end: Math.max(first.end, last.end) };
}

/** The number of arguments is wrong. */
export function reportArity(loading: Loading, loaded: Loaded, error: string, expected: string): void {
  const { statement } = loaded;
  const comment = commentOf(loaded.args, 0);
  if (comment !== undefined) {
    reportComment(loading, loaded, comment, error);
    return;
  }
  const n = loaded.args.length;
  loading.report(loaded, {
    code: "arity",
    class: "fatal",
    topic: "directive",
    message: `\`${statement.name}\` takes ${expected}, not ${n === 0 ? "none" : n}`,
    server: error,
  });
}

/** `#` and what follows it was meant as a comment. */
export function reportComment(loading: Loading, loaded: Loaded, at: Span, error: string): void {
  loading.report(loaded, {
    code: "trailing-comment",
    class: "fatal",
    topic: "directive",
    message: `\`#\` starts a comment only at the start of a line: here it is read as an argument of \`${loaded.statement.name}\``,
    server: error,
    right: "",
    at,
  });
}
