/** What shapes a server's values besides its file: the command line of its container, and scripts that edit the file. */
import { type ConfArgument, type ConfStatement, parseConf } from "../../document/redis-conf.js";
import type { Span } from "../../text/source.js";
import { type Segment as TextSegment, TextView } from "../../text/source.js";
import { isSameCommand } from "../container-shell.js";
import type { Contract } from "../contract.js";
import type { Command } from "../kubernetes/container-parts.js";
import type { Place } from "../place.js";
import type { Server } from "../plane.js";
import {
  baseName,
  type Content,
  contentOf,
  type FileEdit,
  guardsOf,
  makeText,
  SHELL,
  type ShellProgram,
  serverStarts,
  show,
  type Text,
  type TextEdit,
} from "../shell/index.js";
import { type ConfEdit, editsOfText } from "./conf.js";
import { placedWord } from "./conf-argv.js";
import { configHome, pathIn } from "./config-home.js";
import type { ServerInputs } from "./deployment.js";

const SERVER = /(?:^|\/)(?:redis|valkey)-(?:server|sentinel)$/;

export function serverInputs(server: Server, contract: Contract): ServerInputs {
  return { edits: scriptEdits(server, contract), arguments: commandArguments(server, contract) };
}

// kept, so that a configuration that is loaded with the same ones need not be loaded again
const argumentsOf = new WeakMap<
  readonly unknown[],
  { readonly command: Command; readonly args: readonly ConfArgument[] }
>();
const editsOf = new WeakMap<ShellProgram, Map<string, readonly ConfEdit[]>>();

function commandArguments(server: Server, contract: Contract): readonly ConfArgument[] {
  const command = server.plane.container?.entrypoint;
  if (command === undefined) return [];
  if (startsInScript(command)) return scriptArguments(contract.shell.program(command));
  const kept = argumentsOf.get(command.lists[0]!);
  if (kept !== undefined && isSameCommand(kept.command, command)) return kept.args;
  const args = readArguments(command);
  argumentsOf.set(command.lists[0]!, { command, args });
  return args;
}

/** No word of the manifest is the server: a script starts it. */
function startsInScript({ explicit, words }: Command): boolean {
  if (words.some((w) => SERVER.test(w.text))) return false;
  const first = words[0]?.text ?? "";
  return explicit || SHELL.test(baseName(first));
}

const scriptedArguments = new WeakMap<ShellProgram, readonly ConfArgument[]>();

/** The words behind the server's name, where the script starts one server and its words are known to be what they are. */
function scriptArguments(program: ShellProgram): readonly ConfArgument[] {
  let args = scriptedArguments.get(program);
  if (args === undefined) scriptedArguments.set(program, (args = readScriptArguments(program)));
  return args;
}

function readScriptArguments(program: ShellProgram): readonly ConfArgument[] {
  const starts = serverStarts(program);
  const [start] = starts;
  if (start === undefined || starts.length > 1 || start.uncertain || !start.invocation.reached) return [];
  const words = start.invocation.command.slice(1);
  // what a substitution prints looks like no placeholder
  const plain = words.every((w) => w.pieces.every((p) => typeof p === "string" || p.kind === "variable"));
  return plain ? words.map((w) => placedWord(show(w), w.place)) : [];
}

/** Options of starts whose words are not read one by one: each may hold or not. */
function openOptions(program: ShellProgram, place: Place): ConfEdit[] {
  if (scriptArguments(program).length > 0) return [];
  const out: ConfEdit[] = [];
  for (const { overrides, uncertain } of serverStarts(program)) {
    if (uncertain) out.push(unknownAt(place));
    else if (overrides.length > 0)
      out.push(unknownAt(place, { directives: overrides.map((o) => o.name), conditional: true }));
  }
  return out;
}

function readArguments(command: Command): ConfArgument[] {
  const { words } = command;
  const at = words.findIndex((w) => SERVER.test(w.text));
  // without an explicit command the image's entrypoint gets the arguments as they are
  if (at < 0 && command.explicit) return [];
  return words.slice(at + 1).map((w) => placedWord(w.text, w.place));
}

/** What the pod's init containers and start script do to the file that the server reads, in the order in which they run. */
function scriptEdits(server: Server, contract: Contract): ConfEdit[] {
  const { container, workload } = server.plane;
  const command = container?.entrypoint;
  if (container === undefined || workload === undefined || command === undefined) return [];
  const program = contract.shell.program(command);
  const home = configHome(server.plane, contract);
  if (home === undefined) {
    // a start that is not understood may write any configuration, and read it from anywhere
    const starts = serverStarts(program, !command.explicit);
    const understood = program.complete && starts.length > 0 && starts.every((s) => s.config === undefined);
    return understood ? [] : [unknownAt(command.place)];
  }
  const out: ConfEdit[] = [];
  if (startsInScript(command)) out.push(...openOptions(program, command.place));
  for (const other of workload.containers) {
    const own = other.entrypoint;
    if (own === undefined || (other.kind !== "init" && other !== container)) continue;
    const path = pathIn(other, container, home.mount, home.path);
    if (path !== undefined) out.push(...editsOfProgram(contract.shell.program(own), path, own.place));
    // written by that name where the server does not see it: what it reads instead is not known
    else if (editsOfProgram(contract.shell.program(own), home.path, own.place).length > 0)
      out.push(unknownAt(own.place));
  }
  return out;
}

/** An edit whose place is made only when somebody reports it: that costs a second parse of the manifest. */
class UnknownEdit {
  readonly kind = "unknown";
  readonly directives: readonly string[] | undefined;
  readonly conditional: boolean | undefined;
  readonly #place: Place;

  constructor(place: Place, directives: readonly string[] | undefined, conditional: boolean | undefined) {
    this.#place = place;
    this.directives = directives;
    this.conditional = conditional;
  }

  get at(): Span {
    return this.#place.span;
  }
}

function unknownAt(
  place: Place,
  more: { readonly directives?: readonly string[] | undefined; readonly conditional?: boolean } = {},
): ConfEdit {
  return new UnknownEdit(place, more.directives, more.conditional);
}

function editsOfProgram(program: ShellProgram, path: string, place: Place): readonly ConfEdit[] {
  let known = editsOf.get(program);
  if (known === undefined) editsOf.set(program, (known = new Map()));
  let edits = known.get(path);
  if (edits === undefined) known.set(path, (edits = readEdits(program, path, place)));
  return edits;
}

function readEdits(program: ShellProgram, path: string, place: Place): ConfEdit[] {
  const file = contentOf(program, path);
  const out: ConfEdit[] = [];
  if (!file.complete) out.push(unknownAt(place));
  for (const variant of file.variants) {
    out.push(...editsOfContent(variant.content, variant.from.invocation.place, file.variants.length > 1));
  }
  for (const edit of file.added) out.push(...editsOfFileEdit(edit));
  return out;
}

function editsOfFileEdit(edit: FileEdit): ConfEdit[] {
  const conditional = guardsOf(edit.invocation).some((g) => g.kind !== "loop");
  const at = edit.invocation.place;
  if (edit.kind === "append") return editsOfContent(edit.content, at, conditional);
  if (edit.kind === "edit" && edit.edits !== undefined) return edit.edits.flatMap((e) => textEdit(e, at, conditional));
  return edit.kind === "touch" || edit.kind === "remove" ? [] : [unknownAt(at, { conditional })];
}

function editsOfContent(content: Content, at: Place, conditional: boolean): ConfEdit[] {
  if (content === undefined) return [unknownAt(at, { conditional })];
  const out: ConfEdit[] = [];
  for (const segment of content) {
    const own = conditional || segment.guards.some((g) => g.kind !== "loop");
    if (segment.kind === "lines") {
      const view = linesView(segment.lines);
      if (view !== undefined) out.push(...editsOfText(view, view.span(0, view.text.length), { conditional: own }));
    }
    for (const edit of segment.edits) out.push(...textEdit(edit, at, own));
  }
  return out;
}

function textEdit(edit: TextEdit, by: Place, conditional: boolean): ConfEdit[] {
  // the placeholders that envsubst fills in are opaque already
  if (edit.kind === "envsubst") return [];
  const at = edit.place ?? by;
  const { whole } = edit;
  if (whole !== undefined) {
    const line = whole.replacement;
    const statements = line === undefined ? [] : statementsOf(line, at);
    return [{ kind: "lines", rewrite: (text) => matching(whole.matches, text, statements), at: at.span, conditional }];
  }
  if (edit.kind === "substitute" && edit.literal !== undefined && /\s/.test(edit.literal)) {
    // it reaches from one word into the next
    const { literal: find, replacement } = edit;
    const rewrite = (text: string): readonly ConfStatement[] | undefined =>
      text.includes(find) ? statementsOf(makeText([text.replaceAll(find, () => show(replacement))]), at) : undefined;
    return [{ kind: "lines", rewrite, at: at.span, conditional }];
  }
  if (edit.kind === "substitute" && edit.literal !== undefined) {
    const value = edit.replacement.known;
    return [
      { kind: "substitute", find: edit.literal, ...(value === undefined ? {} : { value }), at: at.span, conditional },
    ];
  }
  const directives = edit.mentions;
  return [unknownAt(at, { directives, conditional })];
}

/** Longer lines are not matched: the time of a pattern grows faster than its text. */
const MAX_LINE = 4096;

function matching(
  pattern: RegExp,
  line: string,
  statements: readonly ConfStatement[],
): readonly ConfStatement[] | undefined {
  return line.length <= MAX_LINE && pattern.test(line) ? statements : undefined;
}

/** Lines of a configuration that a command at a place writes. */
function statementsOf(text: Text, place: Place): readonly ConfStatement[] {
  const view = linesView([{ ...text, place }]);
  return view === undefined ? [] : parseConf(view, { templates: true }).lines;
}

/** Lines that a script writes as one text; what a run fills in stands as the variable that it comes from. */
function linesView(lines: readonly (Text & { readonly place: Place })[]): TextView | undefined {
  const first = lines[0];
  if (first === undefined) return undefined;
  const segments: TextSegment[] = [];
  let text = "";
  for (const line of lines) {
    const { span } = line.place;
    const shown = `${show(line)}\n`;
    segments.push({ inner: text.length, length: shown.length, outer: span.start, outerLength: span.end - span.start });
    text += shown;
  }
  return new TextView(first.place.span.source, text, segments);
}
