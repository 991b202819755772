/** `quorumlint lsp`: the protocol on standard input and output; what it says comes from the session and the feature modules. */
import type {
  CodeActionParams,
  DiagnosticSeverity,
  InitializeParams,
  InitializeResult,
  Diagnostic as LspDiagnostic,
} from "vscode-languageserver";
import { TextDocument } from "vscode-languageserver-textdocument";
import { rules } from "../../rules/index.js";
import { disk, expectMuch } from "../cli/disk.js";
import { ruleUrl } from "../cli/links.js";
import { clock } from "../cli/output.js";
import { prepareParsers } from "../cli/parsers.js";
import { CONFIG_NAMES } from "../contract/config.js";
import { basename } from "../contract/host.js";
import type { LoadedRoot } from "../contract/load.js";
import type { Severity } from "../engine/diagnostic.js";
import { VERSION } from "../version.js";
import { codeActions, FIX_ALL } from "./actions.js";
import { completeContract, completeIgnore } from "./completion.js";
import { hoverAt } from "./hover.js";
import { linksOf, linksOfContractFile } from "./links.js";
import { offsetOf, pathOf, rangeOf, uriOf } from "./places.js";
import { type Finding, Session } from "./session.js";

const SEVERITY: Readonly<Record<Severity, DiagnosticSeverity>> = { error: 1, warning: 2, info: 3 };

/** Serves until the client ends it: the process ends with the connection. */
export async function lspCommand(): Promise<number> {
  expectMuch(true);
  const protocol = await import("vscode-languageserver/node.js");
  const connection = protocol.createConnection(process.stdin, process.stdout);
  const documents = new Map<string, TextDocument>();
  /** URIs as the client writes them. */
  const uris = new Map<string, string>();
  const uriFor = (path: string): string => uris.get(path) ?? uriOf(path);
  let relatedInformation = false;
  let watchable = false;
  let folderEvents = false;
  let edits = { versioned: false, snippets: false };
  /** What each contract file declared when it was last valid: completion helps while it is not. */
  const lastValid = new Map<string, readonly LoadedRoot[]>();

  const session = new Session({
    disk,
    rules,
    version: VERSION,
    prepare: prepareParsers,
    today: clock,
    now: () => performance.now(),
    publish: (path, version, findings) => {
      void connection.sendDiagnostics({
        uri: uriFor(path),
        ...(version === undefined ? {} : { version }),
        diagnostics: findings.map(diagnosticOf),
      });
    },
    log: (message) => connection.console.error(message),
  });

  function diagnosticOf(finding: Finding): LspDiagnostic {
    const { diagnostic, at, message, root } = finding;
    const range = rangeOf(at);
    if (diagnostic === undefined) return { range, severity: SEVERITY.error, source: "quorumlint", message };
    const out: LspDiagnostic = {
      range,
      severity: SEVERITY[diagnostic.severity],
      code: diagnostic.rule,
      codeDescription: { href: ruleUrl(diagnostic.rule) },
      source: "quorumlint",
      message: diagnostic.help === undefined ? message : `${message}\n${diagnostic.help}`,
    };
    if (relatedInformation && diagnostic.related.length > 0)
      out.relatedInformation = diagnostic.related.map((r) => ({
        location: { uri: uriFor(`${root}/${r.at.source.file}`), range: rangeOf(r.at) },
        message: r.message,
      }));
    return out;
  }

  connection.onInitialize((params: InitializeParams): InitializeResult => {
    const { textDocument, workspace } = params.capabilities;
    relatedInformation = textDocument?.publishDiagnostics?.relatedInformation === true;
    watchable = workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    folderEvents = workspace?.workspaceFolders === true;
    const able: { documentChanges?: boolean; snippetEditSupport?: boolean } | undefined = workspace?.workspaceEdit;
    edits = { versioned: able?.documentChanges === true, snippets: able?.snippetEditSupport === true };
    const root = params.rootUri ?? (params.rootPath ? uriOf(params.rootPath) : undefined);
    const folders = params.workspaceFolders?.map((f) => f.uri) ?? (root === undefined ? [] : [root]);
    session.setFolders(folders.flatMap((uri) => pathOf(uri) ?? []));
    return {
      serverInfo: { name: "quorumlint", version: VERSION },
      capabilities: {
        positionEncoding: "utf-16",
        textDocumentSync: { openClose: true, change: 2, save: false },
        hoverProvider: true,
        codeActionProvider: { codeActionKinds: ["quickfix", FIX_ALL] },
        documentLinkProvider: { resolveProvider: false },
        completionProvider: { triggerCharacters: ["/", "[", ":", " ", '"'] },
        workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
      },
    };
  });

  connection.onInitialized(async () => {
    if (folderEvents)
      connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
        const gone = new Set(removed.map((f) => pathOf(f.uri)));
        const paths = added.flatMap((f) => pathOf(f.uri) ?? []);
        session.setFolders([...session.folders.filter((f) => !gone.has(f)), ...paths]);
      });
    if (!watchable) return;
    try {
      await connection.client.register(protocol.DidChangeWatchedFilesNotification.type, {
        watchers: [{ globPattern: "**/*" }],
      });
      session.host.watched = true;
    } catch (error) {
      connection.console.warn(`files are not watched: ${error instanceof Error ? error.message : String(error)}`);
    }
  });

  connection.onDidOpenTextDocument(({ textDocument: { uri, languageId, version, text } }) => {
    const path = pathOf(uri);
    if (path === undefined) return;
    documents.set(path, TextDocument.create(uri, languageId, version, text));
    uris.set(path, uri);
    session.setBuffer(path, version, text);
  });

  connection.onDidChangeTextDocument(({ textDocument: { uri, version }, contentChanges }) => {
    const path = pathOf(uri);
    const document = path === undefined ? undefined : documents.get(path);
    if (path === undefined || document === undefined) return;
    const changed = TextDocument.update(document, contentChanges, version);
    documents.set(path, changed);
    session.setBuffer(path, version, changed.getText());
  });

  connection.onDidCloseTextDocument(({ textDocument: { uri } }) => {
    const path = pathOf(uri);
    if (path === undefined) return;
    documents.delete(path);
    session.closeBuffer(path);
    uris.delete(path);
  });

  connection.onDidChangeWatchedFiles(({ changes }) => {
    session.filesChanged(changes.flatMap((c) => pathOf(c.uri) ?? []));
  });

  connection.onHover(async ({ textDocument, position }, token) => {
    const path = pathOf(textDocument.uri);
    if (path === undefined) return null;
    const [findings, seen] = [await session.findings(path), await session.seen(path)];
    const source = session.source(path);
    if (token.isCancellationRequested || source === undefined) return null;
    const offset = offsetOf(source, position);
    return hoverAt({ source, offset, findings, seen, rules, urlOf: ruleUrl }) ?? null;
  });

  connection.onDocumentLinks(async ({ textDocument }, token) => {
    const path = pathOf(textDocument.uri);
    if (path === undefined) return [];
    const declared = await session.declaredBy(path);
    const seen = await session.seen(path);
    if (token.isCancellationRequested) return [];
    return [...declared.flatMap(linksOfContractFile), ...linksOf(seen)];
  });

  connection.onCompletion(async ({ textDocument, position }, token) => {
    const path = pathOf(textDocument.uri);
    if (path === undefined) return [];
    const isContract = CONFIG_NAMES.includes(basename(path));
    const declared = isContract ? await session.declaredBy(path) : [];
    if (declared.length > 0) lastValid.set(path, declared);
    const source = session.source(path);
    if (token.isCancellationRequested || source === undefined) return [];
    const offset = offsetOf(source, position);
    const ids = completeIgnore(source, offset, rules);
    if (ids.length > 0 || !isContract) return ids;
    return completeContract(source, offset, rules, declared.length > 0 ? declared : (lastValid.get(path) ?? []));
  });

  connection.onCodeAction(async ({ textDocument, range, context }: CodeActionParams, token) => {
    const path = pathOf(textDocument.uri);
    if (path === undefined) return [];
    const all = await session.findings(path);
    const source = session.source(path);
    if (token.isCancellationRequested || source === undefined) return [];
    const [from, to] = [offsetOf(source, range.start), offsetOf(source, range.end)];
    return codeActions({
      session,
      path,
      all,
      here: all.filter((f) => f.at.start <= to && from <= f.at.end),
      known: (finding) => (finding.path === path ? diagnosticOf(finding) : undefined),
      uri: uriFor,
      today: clock(),
      wanted: (kind) =>
        context.only === undefined || context.only.some((only) => kind === only || kind.startsWith(`${only}.`)),
      cancelled: () => token.isCancellationRequested,
      edits,
    });
  });

  connection.onShutdown(() => session.close());
  connection.listen();
  // the library ends the process with the exit notification, or when the client is gone
  return new Promise(() => {});
}
