/** Programs from texts, for tests. */
import type { ShellParser } from "../../src/document/shell.js";
import {
  commandProgram,
  type Invocation,
  type ShellOptions,
  type ShellProgram,
  scriptProgram,
  show,
} from "../../src/model/shell/index.js";
import { Source, TextView } from "../../src/text/source.js";
import { loadParser } from "./parser.js";

let parser: ShellParser | undefined;

export async function prepare(): Promise<void> {
  parser = await loadParser();
}

export function program(text: string, options: ShellOptions = {}): ShellProgram {
  const source = new Source("script.sh", text);
  return scriptProgram({ view: new TextView(source), ast: parser!.parse(text) }, options);
}

/** A container's argument vector, each word on a line of its own. */
export function command(words: readonly string[], options: ShellOptions = {}): ShellProgram {
  const source = new Source("pod.yaml", words.join("\n"));
  let at = 0;
  const list = words.map((text) => {
    const start = at;
    at += text.length + 1;
    const view = new TextView(source).sub(start, start + text.length);
    return { text, place: { span: source.span(start, start + text.length) }, view: () => view };
  });
  return commandProgram(list, { read: (view) => parser!.parse(view.text), ...options });
}

/** Scripts by path, for `script` of the options. */
export function scripts(files: Readonly<Record<string, string>>): NonNullable<ShellOptions["script"]> {
  return (path) => {
    const text = files[path];
    return text === undefined ? undefined : { view: new TextView(new Source(path, text)), ast: parser!.parse(text) };
  };
}

/** Commands as they run, wrappers taken off. */
export function commands(made: ShellProgram): string[] {
  return made.invocations.map(commandText);
}

export function commandText(invocation: Invocation): string {
  return invocation.command.map(show).join(" ");
}

/** The source text at an invocation or word. */
export function at(place: {
  readonly span: { readonly source: Source; readonly start: number; readonly end: number };
}): string {
  return place.span.source.text.slice(place.span.start, place.span.end);
}
