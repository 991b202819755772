/** What a file holds when a script is done. */
import { type Guard, guardsOf } from "./conditions.js";
import { editsOf, editsPath, type FileEdit } from "./edits.js";
import { type Content, edited, type Segment, UNKNOWN_CONTENT } from "./output.js";
import type { RedirectFact, ShellProgram } from "./program.js";
import { baseName, directoryOf, isPath, sameText, show, type Text } from "./text.js";

/** One possible content of a file. */
export interface Variant {
  readonly content: Content;
  /** The conditions under which it was written. */
  readonly guards: readonly Guard[];
  /** The command that put it there. */
  readonly from: FileEdit;
}

/** What a script makes of a file. */
export interface FileContent {
  /** Possible contents; empty when the script does not write the whole file. */
  readonly variants: readonly Variant[];
  /** Edits of what was there before the script, or of a content that is not known. */
  readonly added: readonly FileEdit[];
  /** false: something else may have been written to it. */
  readonly complete: boolean;
}

const MAX_VARIANTS = 8;
const MAX_SEGMENTS = 2000;

/**
 * What the file at `path` holds when the script is done: follows temporary files through copies and renames. Lines under
 * a condition carry its guards. Unknown is said (`complete`, `content: undefined`), never left out.
 */
export function contentOf(program: ShellProgram, path: string): FileContent {
  const files = new Map<string, { text: Text; variants: Variant[]; added: FileEdit[] }>();
  const keyOf = (text: Text) => (text.known === undefined ? `?${show(text)}` : text.known.replace(/\/+/g, "/"));
  /** `cat tmp more > file`: what the script wrote to a file that it takes again. */
  const taken = (content: Content): Content => {
    if (!content?.some((segment) => segment.kind === "file" && written(segment.path).length > 0)) return content;
    const out: Segment[] = [];
    for (const segment of content) {
      const variants = segment.kind === "file" ? written(segment.path) : [];
      if (variants.length === 0) out.push(segment);
      else if (variants.length > 1 || variants[0]!.content === undefined) return UNKNOWN_CONTENT;
      else {
        const inner = edited(variants[0]!.content, segment.edits)!;
        out.push(...inner.map((one) => ({ ...one, guards: union(one.guards, segment.guards) })));
      }
    }
    return out;
  };
  const written = (text: Text): readonly Variant[] => files.get(keyOf(text))?.variants ?? [];
  const fileAt = (text: Text) => {
    const key = keyOf(text);
    let file = files.get(key);
    if (file === undefined) files.set(key, (file = { text, variants: [], added: [] }));
    return file;
  };
  let complete = program.complete;
  const opened = new Set<RedirectFact>();
  for (const invocation of program.invocations) {
    if (!invocation.reached) continue;
    const guards = guardsOf(invocation).filter((guard) => guard.kind !== "loop");
    for (const edit of editsOf(invocation)) {
      const target = edit.inside !== undefined && isPath(edit.inside, path) === "yes" ? edit.inside : edit.target;
      const open =
        edit.target.known === undefined
          ? editsPath(edit, path) === "maybe" && !sameName(edit.target, path)
          : isPath(edit.target, path) === "maybe";
      if (open) {
        complete = false;
        continue;
      }
      const file = fileAt(target);
      // Commands in a group share its redirection: the second goes on where the first stopped.
      const redirect = invocation.redirects.find((r) => r.target !== undefined && r.target === edit.target);
      const goesOn = redirect !== undefined && opened.has(redirect);
      if (redirect !== undefined) opened.add(redirect);
      const kind = goesOn && edit.kind === "write" ? "append" : edit.kind;
      switch (kind) {
        case "write":
        case "copy":
        case "move":
        case "link":
        case "touch": {
          if (kind === "touch" && file.variants.length > 0) break;
          const source = edit.sources[0] ?? onlyFile(edit.content);
          const known = source === undefined ? [] : written(source);
          const made: Variant[] =
            known.length > 0
              ? known.map((variant) => ({ ...variant, guards: union(variant.guards, guards), from: edit }))
              : [{ content: taken(edit.content), guards, from: edit }];
          const kept = file.variants.filter((variant) => !includes(variant.guards, guards));
          file.variants = [...kept, ...made].slice(-MAX_VARIANTS);
          if (kept.length + made.length > MAX_VARIANTS) complete = false;
          if (kept.length === 0) file.added = [];
          break;
        }
        case "append":
          if (file.variants.length === 0) file.added.push(edit);
          file.variants = file.variants.map((variant) => {
            const extra = taken(edit.content);
            if (variant.content === undefined || extra === undefined || variant.content.length > MAX_SEGMENTS)
              return { ...variant, content: undefined };
            const own = beyond(guards, variant.guards);
            return {
              ...variant,
              content: [...variant.content, ...extra.map((segment) => ({ ...segment, guards: own }))],
            };
          });
          break;
        case "edit":
          if (file.variants.length === 0) file.added.push(edit);
          file.variants = file.variants.map((variant) => {
            if (edit.edits === undefined) return { ...variant, content: undefined };
            const own = beyond(guards, variant.guards);
            const edits = own.length === 0 ? edit.edits : edit.edits.map((one) => ({ ...one, guards: own }));
            return { ...variant, content: edited(variant.content, edits) };
          });
          break;
        case "remove":
          if (includes(file.variants[0]?.guards ?? [], guards)) file.variants = [];
          break;
      }
    }
  }
  const variants: Variant[] = [];
  const added: FileEdit[] = [];
  for (const file of files.values()) {
    const found = isPath(file.text, path);
    if (found === "yes") {
      variants.push(...file.variants);
      added.push(...file.added);
    }
  }
  return { variants, added, complete };
}

/** `cat file > other` is a copy. */
function onlyFile(content: Content): Text | undefined {
  const [first] = content ?? [];
  return content?.length === 1 && first?.kind === "file" && first.edits.length === 0 ? first.path : undefined;
}

/** A text with holes that is used for one file all over a script, and is not `path`: `"$tmp"` of `mktemp`. */
function sameName(text: Text, path: string): boolean {
  const directory = directoryOf(text);
  const hole = text.pieces.length === 1 ? text.pieces[0] : undefined;
  if (typeof hole === "object" && hole.kind === "command" && hole.name === "mktemp") return true;
  return directory !== undefined && !baseName(path).startsWith(String(text.pieces[0]).slice(directory.length + 1));
}

function sameGuard(a: Guard, b: Guard): boolean {
  if (a.kind !== b.kind) return false;
  if (a.kind === "test" && b.kind === "test") return a.holds === b.holds && a.test === b.test;
  if (a.kind === "command" && b.kind === "command") return a.holds === b.holds && a.invocation === b.invocation;
  if (a.kind === "case" && b.kind === "case")
    return (
      a.patterns === b.patterns ||
      (sameText(a.subject, b.subject) &&
        a.patterns.length === b.patterns.length &&
        a.patterns.every((p, i) => sameText(p, b.patterns[i]!)))
    );
  return a.kind === "loop";
}

/** Whether every guard of `inner` is among those of `outer`: whenever `outer` holds, `inner` does. */
function includes(outer: readonly Guard[], inner: readonly Guard[]): boolean {
  return inner.every((guard) => guard.kind !== "unknown" && outer.some((other) => sameGuard(guard, other)));
}

/** Guards that are not among those of the whole. */
function beyond(guards: readonly Guard[], whole: readonly Guard[]): Guard[] {
  return guards.filter((guard) => !whole.some((other) => sameGuard(guard, other)));
}

function union(a: readonly Guard[], b: readonly Guard[]): Guard[] {
  return [...a, ...b.filter((guard) => !a.some((other) => sameGuard(guard, other)))];
}
