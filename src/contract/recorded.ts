/** A host that keeps what it was asked and what it answered: a run is the same as long as the answers are. */
import type { Host } from "./host.js";

/** What was asked (`read`, `stat`, `list`, `real` path), the path, and a short form of the answer. */
export type Question = readonly [kind: "r" | "s" | "l" | "p", path: string, answer: string];

/** A digest of bytes; two contents must not share one. */
export type Digest = (bytes: Uint8Array | string) => string;

export class RecordedHost implements Host {
  readonly #host: Host;
  readonly #digest: Digest;
  /** A directory that is not there for a run: its own. */
  readonly #hidden: string | undefined;
  readonly #asked = new Map<string, Question>();

  constructor(host: Host, digest: Digest, hidden?: string) {
    this.#host = host;
    this.#digest = digest;
    this.#hidden = hidden;
  }

  get questions(): readonly Question[] {
    return [...this.#asked.values()];
  }

  read(path: string): Uint8Array | undefined {
    if (this.#isHidden(path)) return undefined;
    try {
      const bytes = this.#host.read(path);
      this.#keep("r", path, bytes === undefined ? "" : this.#digest(bytes));
      return bytes;
    } catch (error) {
      this.#keep("r", path, `! ${(error as Error).message}`);
      throw error;
    }
  }

  stat(path: string): "file" | "directory" | undefined {
    const what = this.#isHidden(path) ? undefined : this.#host.stat(path);
    this.#keep("s", path, what ?? "");
    return what;
  }

  list(path: string): ReturnType<Host["list"]> {
    const entries = this.#isHidden(path)
      ? undefined
      : this.#host.list(path)?.filter((e) => !this.#isHidden(`${path === "/" ? "" : path}/${e.name}`));
    const text = entries?.map((e) => `${e.kind} ${e.link === true ? "@" : ""}${e.name}`).join("\0");
    this.#keep("l", path, text === undefined ? "" : this.#digest(text));
    return entries;
  }

  real(path: string): string | undefined {
    const real = this.#host.real === undefined ? path : this.#host.real(path);
    this.#keep("p", path, real ?? "");
    return real;
  }

  /** Whether another host would have given the same answers. */
  answers(questions: readonly Question[]): boolean {
    return questions.every(([kind, path, answer]) => {
      try {
        if (kind === "r") this.read(path);
        else if (kind === "s") this.stat(path);
        else if (kind === "p") this.real(path);
        else this.list(path);
      } catch {
        // the answer is kept all the same
      }
      return this.#asked.get(`${kind}${path}`)?.[2] === answer;
    });
  }

  #isHidden(path: string): boolean {
    return this.#hidden !== undefined && (path === this.#hidden || path.startsWith(`${this.#hidden}/`));
  }

  #keep(kind: Question[0], path: string, answer: string): void {
    this.#asked.set(`${kind}${path}`, [kind, path, answer]);
  }
}
