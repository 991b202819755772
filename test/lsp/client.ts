/** A small client of the language server: JSON-RPC over its standard streams, and what an editor keeps of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type {
  CodeAction,
  CompletionItem,
  Diagnostic,
  DocumentLink,
  Hover,
  InitializeResult,
  Position,
  PublishDiagnosticsParams,
  Range,
  TextDocumentEdit,
} from "vscode-languageserver";
import { root } from "../support.js";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface ClientOptions {
  readonly folders?: readonly string[];
  /** The client tells of changed files when it is asked to. */
  readonly watches?: boolean;
  /** What it can do with edits; default: versioned ones without snippets. */
  readonly edits?: { readonly documentChanges?: boolean; readonly snippetEditSupport?: boolean };
}

export class Client {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly ended: Promise<number | null>;
  /** Everything that was published, in order. */
  readonly published: PublishDiagnosticsParams[] = [];
  readonly registered: string[] = [];
  readonly logged: string[] = [];
  initialized: InitializeResult | undefined;
  #buffer = Buffer.alloc(0);
  #next = 1;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #texts = new Map<string, { version: number; text: string }>();
  #changed: () => void = () => {};

  constructor(folder: string) {
    this.folder = folder;
    this.child = spawn(process.execPath, [join(root, "bin/quorumlint.js"), "lsp"], { stdio: ["pipe", "pipe", "pipe"] });
    this.ended = new Promise((resolve) => this.child.once("exit", (code) => resolve(code)));
    this.child.stderr!.on("data", (data: Buffer) => this.logged.push(data.toString("utf8")));
    this.child.stdout!.on("data", (data: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, data]);
      this.#read();
    });
  }

  static async start(folder: string, options: ClientOptions = {}): Promise<Client> {
    const client = new Client(folder);
    const folders = options.folders ?? [folder];
    client.initialized = await client.request<InitializeResult>("initialize", {
      processId: process.pid,
      rootUri: null,
      workspaceFolders: folders.map((f) => ({ uri: pathToFileURL(f).href, name: f })),
      capabilities: {
        textDocument: { publishDiagnostics: { relatedInformation: true, versionSupport: true } },
        workspace: {
          workspaceFolders: true,
          workspaceEdit: options.edits ?? { documentChanges: true },
          ...(options.watches === true ? { didChangeWatchedFiles: { dynamicRegistration: true } } : {}),
        },
      },
    });
    client.notify("initialized", {});
    return client;
  }

  uri(file: string): string {
    return pathToFileURL(file.startsWith("/") ? file : join(this.folder, file)).href;
  }

  request<T>(method: string, params: unknown): Promise<T> {
    return this.send<T>(method, params).result;
  }

  /** A request and its number, for cancelling it. */
  send<T>(method: string, params: unknown): { readonly id: number; readonly result: Promise<T> } {
    const id = this.#next++;
    const result = new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, (message) => {
        if (message.error !== undefined)
          reject(Object.assign(new Error(message.error.message), { code: message.error.code }));
        else resolve(message.result as T);
      });
    });
    this.#write({ id, method, params });
    return { id, result };
  }

  notify(method: string, params: unknown): void {
    this.#write({ method, params });
  }

  /** Opens a file, with the text on the disk unless another one is given. */
  open(file: string, text = readFileSync(join(this.folder, file), "utf8")): void {
    this.#texts.set(file, { version: 1, text });
    this.notify("textDocument/didOpen", {
      textDocument: {
        uri: this.uri(file),
        languageId: file.endsWith(".yaml") ? "yaml" : "plaintext",
        version: 1,
        text,
      },
    });
  }

  text(file: string): string {
    return this.#texts.get(file)!.text;
  }

  /** Replaces the first `from`, as an editor does: the changed range only. */
  type(file: string, from: string, to: string): number {
    const known = this.#texts.get(file)!;
    const at = known.text.indexOf(from);
    if (at < 0) throw new Error(`${file} has no "${from}"`);
    const range = { start: this.at(file, at), end: this.at(file, at + from.length) };
    const next = {
      version: known.version + 1,
      text: known.text.slice(0, at) + to + known.text.slice(at + from.length),
    };
    this.#texts.set(file, next);
    this.notify("textDocument/didChange", {
      textDocument: { uri: this.uri(file), version: next.version },
      contentChanges: [{ range, text: to }],
    });
    return next.version;
  }

  close(file: string): void {
    this.#texts.delete(file);
    this.notify("textDocument/didClose", { textDocument: { uri: this.uri(file) } });
  }

  /** The position of an offset, or of a text (with `into` code units more), in an open file. */
  at(file: string, what: number | string, into = 0): Position {
    const text = this.text(file);
    const offset = typeof what === "number" ? what : text.indexOf(what) + into;
    if (typeof what === "string" && !text.includes(what)) throw new Error(`${file} has no "${what}"`);
    const before = text.slice(0, offset).split("\n");
    return { line: before.length - 1, character: before.at(-1)!.length };
  }

  slice(file: string, range: Range): string {
    const lines = this.text(file).split("\n");
    const offset = ({ line, character }: Position): number =>
      lines.slice(0, line).reduce((sum, l) => sum + l.length + 1, 0) + character;
    return this.text(file).slice(offset(range.start), offset(range.end));
  }

  /** What the editor shows for a file now. */
  shown(file: string): readonly Diagnostic[] {
    return this.published.findLast((p) => p.uri === this.uri(file))?.diagnostics ?? [];
  }

  /** Waits until what is shown for a file fits. */
  async until(
    file: string,
    fits: (shown: readonly Diagnostic[], published: PublishDiagnosticsParams) => boolean,
  ): Promise<readonly Diagnostic[]> {
    const deadline = Date.now() + 15_000;
    while (Date.now() < deadline) {
      const last = this.published.findLast((p) => p.uri === this.uri(file));
      if (last !== undefined && fits(last.diagnostics, last)) return last.diagnostics;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 200);
        this.#changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    throw new Error(
      `${file}: never as expected; shown: ${JSON.stringify(this.shown(file), undefined, 1)} ${this.logged.join("")}`,
    );
  }

  rules(file: string): string[] {
    return this.shown(file).map((d) => String(d.code));
  }

  untilRules(file: string, ...rules: string[]): Promise<readonly Diagnostic[]> {
    return this.until(
      file,
      (shown) => JSON.stringify(shown.map((d) => d.code).sort()) === JSON.stringify([...rules].sort()),
    );
  }

  hover(file: string, what: string, into = 0): Promise<Hover | null> {
    return this.request("textDocument/hover", {
      textDocument: { uri: this.uri(file) },
      position: this.at(file, what, into),
    });
  }

  actions(file: string, range: Range, only?: string[]): Promise<CodeAction[]> {
    return this.request("textDocument/codeAction", {
      textDocument: { uri: this.uri(file) },
      range,
      context: { diagnostics: [], ...(only === undefined ? {} : { only }) },
    });
  }

  links(file: string): Promise<DocumentLink[]> {
    return this.request("textDocument/documentLink", { textDocument: { uri: this.uri(file) } });
  }

  async complete(file: string, what: string, into = what.length): Promise<CompletionItem[]> {
    return this.request("textDocument/completion", {
      textDocument: { uri: this.uri(file) },
      position: this.at(file, what, into),
    });
  }

  /** Applies an action's edits to the open files, versions checked as editors do. */
  apply(action: CodeAction): void {
    const { changes, documentChanges } = action.edit!;
    const plain = Object.entries(changes ?? {}).map(([uri, edits]) => {
      const version = [...this.#texts].find(([file]) => this.uri(file) === uri)?.[1].version ?? null;
      return { textDocument: { uri, version }, edits };
    });
    for (const change of (documentChanges ?? plain) as TextDocumentEdit[]) {
      const file = [...this.#texts.keys()].find((f) => this.uri(f) === change.textDocument.uri);
      if (file === undefined) throw new Error(`${change.textDocument.uri} is not open`);
      const known = this.#texts.get(file)!;
      if (change.textDocument.version !== known.version) throw new Error("the edit is for another version");
      for (const edit of [...change.edits].reverse() as { range: Range; newText: string }[]) {
        const lines = this.text(file).split("\n");
        const offset = ({ line, character }: Position): number =>
          lines.slice(0, line).reduce((sum, l) => sum + l.length + 1, 0) + character;
        const text = this.text(file);
        const next = text.slice(0, offset(edit.range.start)) + edit.newText + text.slice(offset(edit.range.end));
        const version = this.#texts.get(file)!.version + 1;
        this.notify("textDocument/didChange", {
          textDocument: { uri: this.uri(file), version },
          contentChanges: [{ range: edit.range, text: edit.newText }],
        });
        this.#texts.set(file, { version, text: next });
      }
    }
  }

  /** Ends the server as an editor does; its exit code. */
  async stop(): Promise<number | null> {
    await this.request("shutdown", undefined);
    this.notify("exit", undefined);
    return this.ended;
  }

  #write(message: Message): void {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }), "utf8");
    this.child.stdin!.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.child.stdin!.write(body);
  }

  #read(): void {
    for (;;) {
      const head = this.#buffer.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(this.#buffer.toString("latin1", 0, head))![1]);
      if (this.#buffer.length < head + 4 + length) return;
      const message = JSON.parse(this.#buffer.toString("utf8", head + 4, head + 4 + length)) as Message;
      this.#buffer = this.#buffer.subarray(head + 4 + length);
      this.#take(message);
    }
  }

  #take(message: Message): void {
    if (message.method === undefined) {
      this.#waiting.get(message.id!)?.(message);
      this.#waiting.delete(message.id!);
    } else if (message.method === "textDocument/publishDiagnostics") {
      this.published.push(message.params as PublishDiagnosticsParams);
      this.#changed();
    } else if (message.method === "client/registerCapability") {
      for (const r of (message.params as { registrations: { method: string }[] }).registrations)
        this.registered.push(r.method);
      this.#write({ id: message.id!, result: null });
    } else if (message.method === "window/logMessage") this.logged.push(JSON.stringify(message.params));
  }
}
