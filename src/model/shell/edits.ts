/** What commands do to files: copies, redirections, here-documents, `sed`, `tee`. */
import { options } from "./options.js";
import { type Content, fileSegment, inputOf, NOTHING, outputOf, type TextEdit, UNKNOWN_CONTENT } from "./output.js";
import type { Arg, Invocation, ShellProgram } from "./program.js";
import { sedCall } from "./sed.js";
import { type Hole, inDirectory, isPath, makeText, type Piece, show, type Text } from "./text.js";

/**
 * `write` replaces a file in place, `move` renames over it, `edit` changes it, `touch` creates it empty when it is not
 * there. `link` puts a link in its place.
 */
export type EditKind = "write" | "append" | "copy" | "move" | "link" | "edit" | "touch" | "remove";

export interface FileEdit {
  readonly kind: EditKind;
  readonly target: Text;
  /** The target when `target` is a directory: `cp a/x.conf DIR`. */
  readonly inside: Text | undefined;
  readonly sources: readonly Text[];
  /** `-n`: an existing file stays. */
  readonly noClobber: boolean;
  readonly content: Content;
  /** For `edit`: what is done to the text; undefined: not known. */
  readonly edits: readonly TextEdit[] | undefined;
  readonly invocation: Invocation;
}

/** Whether an edit is one of the file at `path`. */
export function editsPath(edit: FileEdit, path: string): "yes" | "no" | "maybe" {
  const direct = isPath(edit.target, path);
  if (direct === "yes" || edit.inside === undefined) return direct;
  const inside = isPath(edit.inside, path);
  return inside === "yes" ? "yes" : direct === "maybe" || inside === "maybe" ? "maybe" : "no";
}

/** The edits that a command makes, in order. Directories, modes and owners are not edits. */
export function editsOf(invocation: Invocation): FileEdit[] {
  const out: FileEdit[] = [];
  const { directory } = invocation;
  const add = (kind: EditKind, written: Text, more: Partial<FileEdit> = {}): void => {
    if (isDevice(written)) return;
    out.push({
      kind,
      target: inDirectory(written, directory),
      inside: undefined,
      sources: [],
      noClobber: false,
      content: UNKNOWN_CONTENT,
      edits: undefined,
      invocation,
      ...more,
    });
  };
  // after `exec > file` all that follows writes there
  const output = (): Content =>
    invocation.words.length === 1 && invocation.words[0]!.known === "exec" ? UNKNOWN_CONTENT : outputOf(invocation);
  for (const redirect of invocation.redirects) {
    const { target } = redirect;
    if (target === undefined || (redirect.fd !== 1 && !redirect.op.startsWith("&"))) continue;
    if (redirect.op === ">" || redirect.op === ">|" || redirect.op === "&>")
      add("write", target, { content: output() });
    else if (redirect.op === ">>" || redirect.op === "&>>") add("append", target, { content: output() });
  }
  const { command } = invocation;
  switch (invocation.name) {
    case "cp":
    case "mv":
    case "ln":
    case "install":
    case "rsync":
      transfers(invocation, add);
      break;
    case "tee": {
      const { operands, flags } = options(command, "");
      const content = inputOf(invocation, 0);
      for (const operand of operands)
        add(flags.has("a") || flags.has("--append") ? "append" : "write", operand, { content });
      break;
    }
    case "sed": {
      const call = sedCall(command);
      if (call.inPlace) {
        for (const file of call.files) add("edit", file, { edits: call.commands });
      }
      break;
    }
    case "touch": {
      const { operands } = options(command, "drt");
      for (const operand of operands) add("touch", operand, { content: NOTHING });
      break;
    }
    case "truncate": {
      const { operands } = options(command, "sr");
      for (const operand of operands) add("write", operand, { content: NOTHING });
      break;
    }
    case "rm":
    case "unlink":
    case "shred": {
      const { operands } = options(command, "");
      for (const operand of operands) add("remove", operand);
      break;
    }
    case "dd": {
      for (const arg of command) {
        const first = arg.pieces[0];
        if (typeof first === "string" && first.startsWith("of="))
          add("write", makeText([first.slice(3), ...arg.pieces.slice(1)]));
      }
      break;
    }
    case "curl":
    case "wget":
    case "openssl": {
      const flag =
        invocation.name === "curl"
          ? ["-o", "--output"]
          : invocation.name === "wget"
            ? ["-O", "--output-document"]
            : ["-out", "-keyout"];
      command.forEach((arg, i) => {
        const next = command[i + 1];
        if (arg.known !== undefined && flag.includes(arg.known) && next !== undefined) add("write", next);
      });
      break;
    }
    case "yq":
    case "perl":
    case "sponge":
    case "ed":
    case "ex":
    case "crudini": {
      const last = command[command.length - 1];
      const inPlace =
        ["sponge", "ed", "ex", "crudini"].includes(invocation.name) ||
        command.some((arg) => /^-[a-z]*i/.test(arg.known ?? "") || arg.known === "--inplace");
      if (inPlace && last !== undefined && command.length > 1) add("edit", last);
      break;
    }
    case "tar": {
      const { known } = command[1] ?? { known: undefined };
      if (known !== undefined && /^-?-?[a-z]*x|^--extract/.test(known)) {
        const at = command.findIndex((arg) => arg.known === "-C" || arg.known === "--directory");
        const directory = at < 0 ? undefined : command[at + 1];
        add(
          "write",
          makeText(directory === undefined ? [{ kind: "other" }] : [...directory.pieces, "/", { kind: "other" }]),
        );
      }
      break;
    }
    default:
      break;
  }
  return out;
}

/** All edits of a program, in the order of its text. */
export function fileEdits(program: ShellProgram): FileEdit[] {
  return program.invocations.flatMap(editsOf);
}

function isDevice(text: Text): boolean {
  const first = text.pieces[0];
  return (
    text.known === "" ||
    (typeof first === "string" && /^\/(?:dev|proc|sys)\//.test(first)) ||
    /^(?:\d+|-)$/.test(text.known ?? "")
  );
}

/** cp, mv, ln, install, rsync */
function transfers(
  invocation: Invocation,
  add: (kind: EditKind, target: Text, more?: Partial<FileEdit>) => void,
): void {
  const { name, command } = invocation;
  const { operands, flags, values } = options(command, name === "install" ? "mogtS" : "tS");
  if (name === "install" && flags.has("d")) return;
  const directory = values.get("t");
  const sources = directory === undefined ? operands.slice(0, -1) : operands;
  const target = directory ?? operands[operands.length - 1];
  if (target === undefined || sources.length === 0) {
    if (name === "ln" && target !== undefined) add("link", target);
    return;
  }
  const link = name === "ln" || flags.has("s") || flags.has("l");
  const kind: EditKind = link && name !== "install" ? "link" : name === "mv" ? "move" : "copy";
  const noClobber =
    flags.has("n") || flags.has("--no-clobber") || flags.has("--ignore-existing") || (flags.has("u") && name === "cp");
  const split = (source: Arg): boolean =>
    source.pieces.some((piece) => typeof piece !== "string" && (piece.kind === "glob" || piece.kind === "arguments"));
  const isDirectory =
    directory !== undefined ||
    sources.length > 1 ||
    sources.some(split) ||
    (target.known ?? show(target)).endsWith("/");
  for (const source of sources) {
    const from = inDirectory(source, invocation.directory);
    const content: Content = kind === "link" ? UNKNOWN_CONTENT : [fileSegment(from)];
    const more = { sources: [from], noClobber, content };
    const inside =
      flags.has("T") || flags.has("--no-target-directory")
        ? undefined
        : inDirectory(childOf(target, source), invocation.directory);
    if (isDirectory) {
      if (inside !== undefined) add(kind, inside, more);
    } else add(kind, target, { ...more, inside });
    if (name === "mv") add("remove", source);
  }
}

/** `DIR/name` for a source `…/name`. */
function childOf(directory: Text, source: Text): Text {
  const trimmed = directory.pieces.map((piece, i) =>
    typeof piece === "string" && i === directory.pieces.length - 1 ? piece.replace(/\/+$/, "") : piece,
  );
  const tail: Piece[] = [];
  for (let i = source.pieces.length - 1; i >= 0; i--) {
    const piece = source.pieces[i]!;
    if (typeof piece !== "string") {
      tail.unshift(piece.kind === "glob" ? piece : ({ kind: "other" } satisfies Hole));
      continue;
    }
    const text = i === source.pieces.length - 1 ? piece.replace(/\/+$/, "") : piece;
    const slash = text.lastIndexOf("/");
    if (slash >= 0) {
      tail.unshift(text.slice(slash + 1));
      break;
    }
    tail.unshift(text);
  }
  const name = makeText(tail);
  // `cp -r src/. dst` copies whatever is in src.
  const child: readonly Piece[] = name.known === "." || name.known === "" ? [{ kind: "other" }] : name.pieces;
  return makeText([...trimmed, "/", ...child]);
}
