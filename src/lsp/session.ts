/**
 * What the server knows: folders, open buffers, and the newest findings of all. A change makes what it touches stale; stale
 * things are checked again after a short pause, or at once when somebody asks. Nothing that was overtaken is published.
 */
import { type CheckOptions, type CheckRun, check } from "../contract/check.js";
import { type Host, relativeTo } from "../contract/host.js";
import type { LoadedRoot } from "../contract/load.js";
import { overlayHost } from "../contract/overlay.js";
import type { ShellAst } from "../document/shell.js";
import type { Diagnostic } from "../engine/diagnostic.js";
import type { Contract } from "../model/contract.js";
import type { InputFile } from "../model/input.js";
import { push } from "../model/multimap.js";
import { Source, type Span } from "../text/source.js";
import { EditorHost } from "./host.js";
import { isBelow } from "./places.js";

export interface SessionOptions {
  readonly disk: Host;
  readonly rules: CheckOptions["rules"];
  readonly version: string;
  /** Makes the parsers of a contract ready; `passing`: its texts are as somebody types them, not to be kept for later runs. */
  readonly prepare: (contract: Contract, passing: boolean) => Promise<void>;
  /** `YYYY-MM-DD`. */
  readonly today: () => string;
  /** Milliseconds, from any origin. */
  readonly now: () => number;
  /** Called with every file whose findings are new; the version is that of its open buffer. */
  readonly publish: (path: string, version: number | undefined, findings: readonly Finding[]) => void;
  readonly log: (message: string) => void;
}

/** A finding, or a fault of a contract file. `path` is absolute. */
export interface Finding {
  readonly path: string;
  readonly at: Span;
  readonly diagnostic: Diagnostic | undefined;
  readonly message: string;
  /** Root of the contract: related files and edits are relative to it. */
  readonly root: string;
}

/** A file as a contract sees it. */
export interface Seen {
  readonly root: LoadedRoot;
  readonly contract: Contract;
  readonly input: InputFile;
}

interface Target {
  readonly path: string;
  run: CheckRun | undefined;
  trees: Map<string, ShellAst>;
  findings: readonly Finding[];
}

/** A run that newer changes have overtaken. */
class Overtaken extends Error {}

/** The pause after a change, in milliseconds: a breath where checks are fast, as long as the last check where they are slow. */
const PAUSE = 5;
const FAST = 30;
const MAX_PAUSE = 1000;

export class Session {
  readonly host: EditorHost;
  readonly #options: SessionOptions;
  readonly #buffers = new Map<string, { version: number; text: string }>();
  #folders: readonly string[] = [];
  #targets = new Map<string, Target>();
  readonly #stale = new Set<string>();
  readonly #published = new Map<string, string>();
  #generation = 0;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> | undefined;
  #lasted = 0;
  #closed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.host = new EditorHost(options.disk);
  }

  /** The text of a path: its buffer, else the file. */
  source(path: string): Source | undefined {
    const buffer = this.#buffers.get(path);
    if (buffer !== undefined) return new Source(path, buffer.text);
    try {
      const bytes = this.host.read(path);
      return bytes === undefined
        ? undefined
        : new Source(path, new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
    } catch {
      return undefined;
    }
  }

  version(path: string): number | undefined {
    return this.#buffers.get(path)?.version;
  }

  get folders(): readonly string[] {
    return this.#folders;
  }

  setFolders(folders: readonly string[]): void {
    this.#folders = [...new Set(folders)];
    this.#retarget();
  }

  setBuffer(path: string, version: number, text: string): void {
    const opened = !this.#buffers.has(path);
    this.#buffers.set(path, { version, text });
    this.host.setBuffer(path, text);
    if (opened) this.#retarget();
    if (opened || this.#matters(path)) this.#touch(path);
  }

  closeBuffer(path: string): void {
    if (!this.#buffers.delete(path)) return;
    this.host.setBuffer(path, undefined);
    this.host.forget(path);
    this.#retarget();
    this.#touch(path);
  }

  /** Files that were created, changed or deleted on the disk. */
  filesChanged(paths: readonly string[]): void {
    for (const path of paths) {
      this.host.forget(path);
      this.#touch(path);
    }
  }

  /** Findings of the newest state; waits until there are some. */
  async findings(path: string): Promise<readonly Finding[]> {
    await this.settled();
    return [...this.#targets.values()].flatMap((t) => t.findings.filter((f) => f.path === path));
  }

  /** The contracts that a file belongs to, in the newest state. */
  async seen(path: string): Promise<readonly Seen[]> {
    await this.settled();
    const out: Seen[] = [];
    for (const { run } of this.#targets.values()) {
      for (const root of run?.roots ?? []) {
        const file = relativeTo(root.root, path);
        if (file === undefined) continue;
        for (const contract of root.contracts) {
          const input = contract.files.find((f) => f.file === file);
          if (input !== undefined) out.push({ root, contract, input });
        }
      }
    }
    return out;
  }

  /** The roots whose contract file is at a path. */
  async declaredBy(path: string): Promise<readonly LoadedRoot[]> {
    await this.settled();
    return [...this.#targets.values()].flatMap((t) =>
      (t.run?.roots ?? []).filter((r) => r.config !== undefined && `${r.root}/${r.config.source.file}` === path),
    );
  }

  /** The findings that other texts of some files would bring; undefined where a contract file is faulty then. Nothing is published. */
  async foresee(texts: ReadonlyMap<string, string>): Promise<readonly Finding[] | undefined> {
    const bytes = new Map([...texts].map(([path, text]) => [path, new TextEncoder().encode(text)]));
    const host = overlayHost(this.host, bytes);
    const targets = new Set([...texts.keys()].flatMap((path) => this.#targetsOf(path)));
    const out: Finding[] = [];
    for (const target of targets) {
      const run = await check(host, [target.path], this.#checkOptions(target, undefined));
      if (run.faults.length > 0) return undefined;
      out.push(...this.#findingsOf(run));
    }
    return out;
  }

  /** Resolves when nothing is stale any more. */
  async settled(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#stale.size > 0 && !this.#closed) await this.#work();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  // ------------------------------------------------------------------------------------------------------------- checking

  #targetsOf(path: string): Target[] {
    return [...this.#targets.values()].filter(
      (t) => isBelow(t.path, path) || t.run?.roots.some((r) => isBelow(r.root, path)) === true,
    );
  }

  /** Every folder is checked as a whole; a buffer outside of all brings the contract that it belongs to. */
  #retarget(): void {
    const wanted = new Set(this.#folders);
    for (const path of this.#buffers.keys()) if (!this.#folders.some((f) => isBelow(f, path))) wanted.add(path);
    const next = new Map<string, Target>();
    for (const path of wanted) {
      const known = this.#targets.get(path);
      next.set(path, known ?? { path, run: undefined, trees: new Map(), findings: [] });
      if (known === undefined) this.#stale.add(path);
    }
    for (const path of this.#stale) if (!next.has(path)) this.#stale.delete(path);
    const gone = [...this.#targets.keys()].some((path) => !next.has(path));
    this.#targets = next;
    this.#generation++;
    if (gone) this.#publish();
    this.#schedule();
  }

  /** Whether a file that the last check could see had a part in it: most files of a large folder have none. */
  #matters(path: string): boolean {
    return [...this.#targets.values()].some(
      ({ path: target, run }) =>
        run === undefined ||
        run.faults.length > 0 ||
        this.#stale.has(target) ||
        run.roots.some((root) => {
          const file = relativeTo(root.root, path);
          return file !== undefined && root.inputs.some((input) => input.file === file);
        }),
    );
  }

  #touch(path: string): void {
    this.#generation++;
    for (const target of this.#targets.values()) {
      // a contract file above a folder is part of it, and one that was faulty left no root behind
      const above = /\/quorumlint\.ya?ml$/.test(path);
      if (above || target.run === undefined || this.#targetsOf(path).includes(target)) this.#stale.add(target.path);
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#closed || this.#stale.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => void this.settled(),
      this.#lasted < FAST ? PAUSE : Math.min(MAX_PAUSE, this.#lasted),
    );
  }

  #work(): Promise<void> {
    this.#working ??= this.#round().finally(() => {
      this.#working = undefined;
    });
    return this.#working;
  }

  async #round(): Promise<void> {
    const generation = this.#generation;
    const began = this.#options.now();
    this.host.begin(began);
    for (const path of [...this.#stale]) {
      const target = this.#targets.get(path);
      if (target === undefined) {
        this.#stale.delete(path);
        continue;
      }
      try {
        const run = await check(this.host, [path], this.#checkOptions(target, generation));
        if (this.#generation !== generation) return;
        target.run = run;
        target.findings = this.#findingsOf(run);
        for (const crash of run.result.crashes)
          this.#options.log(`rule ${crash.rule} crashed on ${crash.file}: ${crash.error.stack ?? crash.error.message}`);
      } catch (error) {
        if (error instanceof Overtaken) return;
        target.findings = [];
        this.#options.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
      }
      this.#stale.delete(path);
    }
    this.#lasted = this.#options.now() - began;
    this.#publish();
  }

  #checkOptions(target: Target, generation: number | undefined): CheckOptions {
    const used = new Map<string, ShellAst>();
    let first = true;
    return {
      rules: this.#options.rules,
      version: this.#options.version,
      today: this.#options.today(),
      prepare: async (contract) => {
        // between contracts, messages are read: a change overtakes this run
        if (!first) await new Promise((resolve) => setImmediate(resolve));
        first = false;
        if (generation !== undefined && generation !== this.#generation) throw new Overtaken();
        const { shell } = contract.parsers;
        for (const { view } of contract.scripts) {
          const tree = target.trees.get(view.text);
          if (tree !== undefined) shell.set(view.text, tree);
        }
        await this.#options.prepare(contract, target.run !== undefined);
        for (const { view } of contract.scripts) {
          const tree = shell.get(view.text);
          if (tree !== undefined) used.set(view.text, tree);
        }
        if (generation !== undefined) target.trees = used;
        if (generation !== undefined && generation !== this.#generation) throw new Overtaken();
      },
    };
  }

  #findingsOf(run: CheckRun): Finding[] {
    const out: Finding[] = [];
    for (const { path, message, at } of run.problems)
      out.push({ path, at, message, diagnostic: undefined, root: path.slice(0, path.lastIndexOf("/")) });
    // a place in a file names it relative to its root; a target has one root, or roots side by side
    for (const diagnostic of run.result.diagnostics) {
      const root = rootOf(run, diagnostic);
      if (root === undefined) continue;
      const { at, message } = diagnostic;
      out.push({ path: `${root.root}/${at.source.file}`, at, message, diagnostic, root: root.root });
    }
    return out;
  }

  // ----------------------------------------------------------------------------------------------------------- publishing

  #publish(): void {
    const byPath = new Map<string, Finding[]>();
    const known = new Set<string>();
    for (const { findings } of this.#targets.values()) {
      for (const f of findings) {
        // a folder inside another finds the same
        const key = `${f.path}\n${f.at.start}\n${f.at.end}\n${f.diagnostic?.rule}\n${f.message}`;
        if (known.has(key)) continue;
        known.add(key);
        push(byPath, f.path, f);
      }
    }
    for (const path of new Set([...byPath.keys(), ...this.#published.keys(), ...this.#buffers.keys()])) {
      const findings = byPath.get(path) ?? [];
      const version = this.version(path);
      const state = JSON.stringify([
        version,
        findings.map((f) => [
          f.at.start,
          f.at.end,
          f.message,
          f.diagnostic?.rule,
          f.diagnostic?.severity,
          f.diagnostic?.related.map((r) => [r.at.source.file, r.at.start, r.at.end, r.message]),
        ]),
      ]);
      if (this.#published.get(path) === state) continue;
      if (findings.length === 0 && version === undefined) this.#published.delete(path);
      else this.#published.set(path, state);
      this.#options.publish(path, version, findings);
    }
  }
}

/** The root that a finding belongs to: where its very text was read. */
function rootOf(run: CheckRun, diagnostic: Diagnostic): LoadedRoot | undefined {
  if (run.roots.length === 1) return run.roots[0];
  const { source } = diagnostic.at;
  return run.roots.find(
    (root) =>
      root.config?.source === source ||
      root.unclaimed.some((f) => f.source === source) ||
      root.contracts.some((c) => c.name === diagnostic.contract && c.files.some((f) => f.source === source)) ||
      root.contracts.some((c) => c.files.some((f) => f.source === source)),
  );
}
