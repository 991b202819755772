/**
 * Code actions: the fix of a finding, all fixes of a file, and accepting a finding with a reason. An offer to accept is tried
 * first: it is made only where the finding is gone with it and nothing new is wrong.
 */
import type { CodeAction, Diagnostic as LspDiagnostic, TextEdit, WorkspaceEdit } from "vscode-languageserver";
import type { ConfigFile } from "../contract/config.js";
import type { Diagnostic } from "../engine/diagnostic.js";
import { planFixes } from "../engine/fix.js";
import { SUPPRESSION_RULE } from "../engine/suppression.js";
import type { FileKind } from "../model/input.js";
import { applyEdits, type Edit, type Source } from "../text/source.js";
import { rangeOf } from "./places.js";
import type { Finding, Session } from "./session.js";

export interface ActionQuestion {
  readonly session: Session;
  readonly path: string;
  /** Findings of the file at the place that was asked for. */
  readonly here: readonly Finding[];
  /** All findings of the file. */
  readonly all: readonly Finding[];
  /** How the client knows a finding. */
  readonly known: (finding: Finding) => LspDiagnostic | undefined;
  /** The URI that the client uses for a path. */
  readonly uri: (path: string) => string;
  readonly today: string;
  /** Whether a kind of action is asked for (`quickfix`, `source.fixAll.quorumlint`). */
  readonly wanted: (kind: string) => boolean;
  readonly cancelled: () => boolean;
  /** What the client can do with edits. */
  readonly edits: {
    /** It takes `documentChanges`, edits for a version of a document; else plain `changes`. */
    readonly versioned: boolean;
    /** It puts the cursor into an edit, on the reason that is to be written. */
    readonly snippets: boolean;
  };
}

export const FIX_ALL = "source.fixAll.quorumlint";
/** More offers to accept are not tried: each costs a check. */
const MOST_TRIED = 3;

/** What the user is to replace by the reason. */
const WHY = "say why";

/** How a comment is begun in a kind of file; ACL files and JSON have none. */
const COMMENT: { readonly [K in FileKind]?: string } = {
  kubernetes: "# ",
  yaml: "# ",
  conf: "# ",
  shell: "# ",
  properties: "# ",
  env: "# ",
  lua: "-- ",
  java: "// ",
  typescript: "// ",
};

export async function codeActions(question: ActionQuestion): Promise<CodeAction[]> {
  const out: CodeAction[] = [];
  if (question.wanted("quickfix")) {
    for (const finding of question.here) {
      const action = fixAction(question, finding);
      if (action !== undefined) out.push(action);
    }
    for (const finding of question.here.slice(0, MOST_TRIED)) {
      if (question.cancelled()) return [];
      const action = await acceptAction(question, finding);
      if (action !== undefined) out.push(action);
    }
  }
  if (question.wanted(FIX_ALL)) {
    const root = question.all[0]?.root ?? "";
    const fixable = question.all.flatMap((f) =>
      f.root === root && f.diagnostic?.fix !== undefined ? [f.diagnostic] : [],
    );
    // only what stays in this file: an editor applies these without asking
    const own = fixable.filter((d) => d.fix!.edits.every((e) => e.span.source.file === d.at.source.file));
    const { edits } = planFixes(own);
    if (edits.length > 0)
      out.push({
        title: "Repair everything that quorumlint can repair",
        kind: FIX_ALL,
        edit: workspaceEdit(question, root, edits),
      });
  }
  return out;
}

function fixAction(question: ActionQuestion, finding: Finding): CodeAction | undefined {
  const { diagnostic, root } = finding;
  if (diagnostic?.fix === undefined) return undefined;
  const { edits } = planFixes([diagnostic]);
  if (edits.length === 0) return undefined;
  return {
    title: diagnostic.fix.description,
    kind: "quickfix",
    isPreferred: true,
    edit: workspaceEdit(question, root, edits),
    ...about(question, finding),
  };
}

function about(question: ActionQuestion, finding: Finding): { diagnostics?: LspDiagnostic[] } {
  const known = question.known(finding);
  return known === undefined ? {} : { diagnostics: [known] };
}

/** An edit of LSP 3.18 with places for the cursor, which the library of 3.17 does not know yet. */
interface SnippetEdit {
  readonly range: TextEdit["range"];
  readonly snippet: { readonly kind: "snippet"; readonly value: string };
}

/**
 * Edits in files relative to `root`; open buffers are named with their version, so that a late edit is refused. `fill`: a
 * part of the new text that the user is to replace, where the client can lead there.
 */
function workspaceEdit(question: ActionQuestion, root: string, edits: readonly Edit[], fill?: string): WorkspaceEdit {
  const { versioned, snippets } = question.edits;
  const byPath = new Map<string, TextEdit[]>();
  for (const { span, newText } of edits) {
    const path = `${root}/${span.source.file}`;
    const list = byPath.get(path) ?? [];
    const range = rangeOf(span);
    const at = fill === undefined || !versioned || !snippets ? -1 : newText.indexOf(fill);
    const edit: TextEdit | SnippetEdit =
      at < 0
        ? { range, newText }
        : { range, snippet: { kind: "snippet", value: snippetOf(newText, at, at + fill!.length) } };
    list.push(edit as TextEdit);
    byPath.set(path, list);
  }
  if (!versioned) return { changes: Object.fromEntries([...byPath].map(([path, own]) => [question.uri(path), own])) };
  return {
    documentChanges: [...byPath].map(([path, own]) => ({
      textDocument: { uri: question.uri(path), version: question.session.version(path) ?? null },
      edits: own,
    })),
  };
}

/** A text as a snippet whose one place is selected when it is put in. */
function snippetOf(text: string, from: number, to: number): string {
  const plain = (part: string): string => part.replace(/[\\$}]/g, "\\$&");
  return `${plain(text.slice(0, from))}\${1:${plain(text.slice(from, to))}}${plain(text.slice(to))}`;
}

async function acceptAction(question: ActionQuestion, finding: Finding): Promise<CodeAction | undefined> {
  const { diagnostic, path, root } = finding;
  if (diagnostic === undefined || diagnostic.rule === SUPPRESSION_RULE) return undefined;
  const { session } = question;
  const reason = `accepted ${question.today}: ${WHY}`;
  const seen = (await session.seen(path)).find((s) => s.root.root === root);
  const marker = seen === undefined ? undefined : COMMENT[seen.input.kind];
  const tries: { title: string; edit: Edit }[] = [];
  if (marker !== undefined)
    tries.push({
      title: `Accept ${diagnostic.rule} on this line, with a reason`,
      edit: commentAbove(diagnostic, `${marker}quorumlint: ignore[${diagnostic.rule}] ${reason}`),
    });
  const config = seen?.root.config;
  if (config !== undefined)
    tries.push({
      title: `Accept ${diagnostic.rule} in ${config.source.file}, with a reason`,
      edit: entryIn(
        config,
        `{ rule: ${diagnostic.rule}, file: ${scalar(diagnostic.at.source.file)}, reason: ${scalar(reason)} }`,
      ),
    });
  for (const { title, edit } of tries) {
    const changed = `${root}/${edit.span.source.file}`;
    const after = await session.foresee(new Map([[changed, applyEdits(edit.span.source, [edit])]]));
    if (question.cancelled()) return undefined;
    if (after === undefined || !accepted(after, await session.findings(path), finding)) continue;
    return { title, kind: "quickfix", edit: workspaceEdit(question, root, [edit], WHY), ...about(question, finding) };
  }
  return undefined;
}

/** The finding is gone, and no finding is there that was not before. */
function accepted(after: readonly Finding[], before: readonly Finding[], finding: Finding): boolean {
  const sum = (list: readonly Finding[], rule: string): number =>
    list.filter((f) => f.path === finding.path && f.diagnostic?.rule === rule).length;
  const { rule } = finding.diagnostic!;
  return (
    sum(after, rule) < sum(before, rule) &&
    after.filter((f) => f.diagnostic?.rule === SUPPRESSION_RULE).length <=
      before.filter((f) => f.diagnostic?.rule === SUPPRESSION_RULE).length &&
    after.every((f) => f.diagnostic?.rule.endsWith("/syntax") !== true || sum(before, f.diagnostic.rule) > 0)
  );
}

function commentAbove({ at }: Diagnostic, comment: string): Edit {
  const { source } = at;
  const start = source.lineStarts[source.position(at.start).line - 1]!;
  const indent = /^[ \t]*/.exec(source.text.slice(start, at.start))![0];
  return { span: source.span(start, start), newText: `${indent}${comment}${lineBreak(source)}` };
}

/** A new entry of `suppress:`: after the last one, or at the end of the file. */
function entryIn({ source, document }: ConfigFile, entry: string): Edit {
  const list = document.node(["suppress"]);
  const end = lineBreak(source);
  if (list?.kind === "seq" && list.items.length > 0) {
    const last = list.items.at(-1)!;
    if (source.text[list.start] === "[") return { span: source.span(last.end, last.end), newText: `, ${entry}` };
    const { start } = document.locate(["suppress", list.items.length - 1]);
    const line = source.lineStarts[source.position(start).line - 1]!;
    const dash = source.text.slice(line, start);
    const stop = source.lineStarts[source.position(Math.max(last.start, last.end - 1)).line] ?? source.text.length;
    const before = stop === source.text.length && !/[\r\n]$/.test(source.text) ? end : "";
    return { span: source.span(stop, stop), newText: `${before}${dash}${entry}${end}` };
  }
  const at = source.text.length;
  const before = at === 0 || /[\r\n]$/.test(source.text) ? "" : end;
  return { span: source.span(at, at), newText: `${before}suppress:${end}  - ${entry}${end}` };
}

function lineBreak(source: Source): string {
  const first = source.text.indexOf("\n");
  return first > 0 && source.text[first - 1] === "\r" ? "\r\n" : "\n";
}

function scalar(text: string): string {
  return /^[A-Za-z_][\w./-]*$/.test(text) ? text : JSON.stringify(text);
}
