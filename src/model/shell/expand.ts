/** Expansion of words: parameters, substitutions, quoting, field splitting (XCU 2.6), as far as the values are known. */
import { type Heredoc, type Part, partsOf, type Statement, type Word } from "../../document/shell.js";
import type { Place } from "../place.js";
import { expandReferences } from "./kubelet.js";
import { assignedInArithmetic } from "./names.js";
import type { Arg, Flow, Invocation, Line, ShellOptions } from "./program.js";
import type { Binding, Scope } from "./scope.js";
import { EMPTY, type Hole, literal, makeText, type Piece, type Text } from "./text.js";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What expansion needs from the walk of the script. `before` collects the substitutions that run first. */
export interface ExpansionHost {
  readonly scope: Scope;
  /** The text went through the kubelet. */
  readonly kubelet: boolean;
  place(start: number, end: number): Place;
  captured(body: readonly Statement[], before: Flow[]): readonly Invocation[];
}

/** Words of an expansion, while they are made. */
class Fields {
  readonly done: { pieces: Piece[]; quoted: boolean }[] = [];
  current: { pieces: Piece[]; quoted: boolean } | undefined;

  add(piece: Piece, quoted = false): void {
    this.current ??= { pieces: [], quoted: false };
    this.current.pieces.push(piece);
    if (quoted) this.current.quoted = true;
  }

  end(): void {
    if (this.current !== undefined) this.done.push(this.current);
    this.current = undefined;
  }

  /** The value of an unquoted expansion. */
  split(text: Text): void {
    for (const piece of text.pieces) {
      if (typeof piece !== "string") {
        this.add({ ...piece, split: true });
        continue;
      }
      const words = piece.split(/[ \t\n]+/);
      words.forEach((word, i) => {
        if (i > 0) this.end();
        if (word !== "") this.add(word);
      });
    }
  }
}

const UNKNOWN_TEXT = (name: string): Text => makeText([{ kind: "variable", name }]);

export class Expander {
  /** Substitutions that the shell around a nested script has made already, by their places. */
  made: Map<string, Text> | undefined;
  readonly #host: ExpansionHost;
  readonly #options: ShellOptions;

  constructor(host: ExpansionHost, options: ShellOptions) {
    this.#host = host;
    this.#options = options;
  }

  /** Lines of a here-document, each with its place. */
  heredoc(heredoc: Heredoc, before: Flow[]): Line[] {
    const lines: Line[] = [];
    let pieces: Piece[] = [];
    let start = heredoc.start;
    let end = heredoc.start;
    const close = (): void => {
      lines.push({ ...makeText(pieces), place: this.#host.place(start, end) });
      pieces = [];
    };
    let open = false;
    for (const part of heredoc.parts) {
      if (part.type !== "text") {
        if (!open) start = part.start;
        open = true;
        pieces.push(...this.#part(part, before).pieces);
        end = part.end;
        continue;
      }
      const { text } = part;
      for (let from = 0; from < text.length; ) {
        const stop = text.indexOf("\n", from);
        const to = stop < 0 ? text.length : stop;
        if (!open) start = part.start + from;
        open = true;
        pieces.push(text.slice(from, to));
        end = part.start + to;
        if (stop < 0) break;
        close();
        open = false;
        from = stop + 1;
      }
    }
    if (open) close();
    return lines;
  }

  args(word: Word, before: Flow[]): Arg[] {
    const place = this.#host.place(word.start, word.end);
    if (word.parts === undefined) return [{ ...literal(word.text ?? ""), place, quoted: false }];
    return this.#fields(word, before, true).map((field) => ({
      ...makeText(field.pieces),
      place,
      quoted: field.quoted,
    }));
  }

  /** A word that is not split: a value, a redirection's target, a pattern. */
  single(word: Word, before: Flow[]): Text {
    if (word.parts === undefined) return literal(word.text ?? "");
    const fields = this.#fields(word, before, false);
    return makeText(fields.flatMap((field) => field.pieces));
  }

  #fields(word: Word, before: Flow[], split: boolean): { pieces: Piece[]; quoted: boolean }[] {
    const fields = new Fields();
    for (const part of word.parts ?? []) {
      if (part.type === "text") {
        fields.add(part.text, part.quote !== undefined);
        continue;
      }
      const quoted = "quote" in part && part.quote !== undefined;
      if (part.type === "param" && split) {
        const list = this.#list(part);
        if (list !== undefined) {
          list.forEach((text, i) => {
            if (i > 0) fields.end();
            if (quoted) {
              fields.add("", true);
              for (const piece of text.pieces) fields.add(piece, true);
            } else fields.split(text);
          });
          continue;
        }
      }
      const text = this.#part(part, before);
      if (split && !quoted && part.type !== "glob") fields.split(text);
      else {
        if (quoted) fields.add("", true);
        for (const piece of text.pieces) fields.add(piece, quoted);
      }
    }
    fields.end();
    return fields.done;
  }

  /** `$@`, `$*` and arrays, as words; undefined: the part is one text, or the list is unknown. */
  #list(part: Extract<Part, { type: "param" }>): readonly Text[] | undefined {
    if ((part.name === "@" || part.name === "*") && part.op === undefined) return this.#host.scope.positional;
    if (part.op === "[@]" || part.op === "[*]") {
      const binding = this.#host.scope.get(part.name);
      return binding?.kind === "array" ? binding.items : binding?.kind === "text" ? [binding.text] : undefined;
    }
    return undefined;
  }

  #part(part: Part, before: Flow[]): Text {
    switch (part.type) {
      case "text":
        return literal(part.text);
      case "param":
        return this.#parameter(part, before);
      case "command":
        return this.#substitution(part, before);
      case "arithmetic": {
        if (part.body !== undefined) this.#host.captured(part.body, before);
        for (const name of assignedInArithmetic(part.text)) this.#host.scope.set(name, { kind: "unknown" });
        const constant = this.#constant(part.text);
        return constant === undefined ? makeText([{ kind: "arithmetic", name: part.text }]) : literal(String(constant));
      }
      case "glob":
        return makeText([{ kind: "glob", name: part.text }]);
      case "process":
        return makeText([{ kind: "other", runs: this.#host.captured(part.body, before) }]);
      case "array":
        return makeText([{ kind: "other" }]);
    }
  }

  /** `$((60 / 5))` and `$((N * 2))` where N is known. */
  #constant(text: string): number | undefined {
    const match = /^\s*(\$?\w+)\s*(?:([-+*/%])\s*(\$?\w+)\s*)?$/.exec(text);
    if (match === null) return undefined;
    const operand = (word: string): number | undefined => {
      if (/^\d+$/.test(word)) return Number(word);
      const { known } = this.variable(word.replace(/^\$/, ""));
      return known !== undefined && /^\d+$/.test(known) ? Number(known) : undefined;
    };
    const a = operand(match[1]!);
    if (a === undefined || match[2] === undefined) return a;
    const b = operand(match[3]!);
    if (b === undefined) return undefined;
    const value = { "+": a + b, "-": a - b, "*": a * b, "/": Math.trunc(a / b), "%": a % b }[match[2]]!;
    return Number.isSafeInteger(value) ? value : undefined;
  }

  readonly start = (name: string): Binding | undefined => {
    const value = this.#options.env?.(name);
    if (value === undefined) return undefined;
    return value === null ? { kind: "unset" } : { kind: "text", text: literal(value) };
  };

  variable(name: string): Text {
    if (/^[1-9]$/.test(name)) {
      const { positional } = this.#host.scope;
      return positional === undefined ? UNKNOWN_TEXT(name) : (positional[Number(name) - 1] ?? EMPTY);
    }
    const binding = this.#host.scope.get(name) ?? this.start(name);
    if (binding === undefined) return UNKNOWN_TEXT(name);
    if (binding.kind === "text") return binding.text;
    if (binding.kind === "unset") return EMPTY;
    if (binding.kind === "array") return binding.items[0] ?? EMPTY;
    const hole: Hole =
      binding.options === undefined ? { kind: "variable", name } : { kind: "variable", name, options: binding.options };
    return makeText([hole]);
  }

  #parameter(part: Extract<Part, { type: "param" }>, before: Flow[]): Text {
    const { name, op } = part;
    if (name === "@" || name === "*" || op === "[@]" || op === "[*]") return makeText([{ kind: "arguments", name }]);
    const argument = (): Text => makeText((part.arg ?? []).flatMap((inner) => this.#part(inner, before).pieces));
    if (op === undefined) return this.variable(name);
    const value = this.variable(name);
    switch (op) {
      case ":-":
      case "-":
      case ":=":
      case "=": {
        const fallback = argument();
        const assigns = op.endsWith("=");
        let result: Text;
        if (value.known !== undefined && (value.known !== "" || this.#isSet(name, op))) result = value;
        else if (value.known === "" && (op.startsWith(":") || this.#isUnset(name))) result = fallback;
        else if (value.known !== undefined) result = makeText([{ kind: "variable", name, fallback }]);
        else if (value.pieces.length === 1 && typeof value.pieces[0] !== "string")
          result = makeText([{ ...value.pieces[0]!, fallback }]);
        else result = value;
        if (assigns) this.#host.scope.set(name, { kind: "text", text: result });
        return result;
      }
      case ":?":
      case "?":
        argument();
        return value;
      case "length":
        return value.known === undefined
          ? makeText([{ kind: "variable", name, op }])
          : literal(String(value.known.length));
      case "#":
      case "##":
      case "%":
      case "%%": {
        const pattern = argument();
        if (value.known === undefined || pattern.known === undefined)
          return makeText([{ kind: "variable", name, op: op + (pattern.known ?? "") }]);
        const trimmed = trimPattern(value.known, op, pattern.known);
        return trimmed === undefined
          ? makeText([{ kind: "variable", name, op: op + pattern.known }])
          : literal(trimmed);
      }
      case ":+":
      case "+": {
        const other = argument();
        if (value.known === "" && this.#isUnset(name)) return EMPTY;
        return value.known !== undefined && value.known !== ""
          ? other
          : makeText([{ kind: "variable", name, op, options: [EMPTY, other] }]);
      }
      default:
        argument();
        return makeText([{ kind: "variable", name, op }]);
    }
  }

  #isSet(name: string, op: string): boolean {
    if (op.startsWith(":")) return false;
    const binding = this.#host.scope.get(name) ?? this.start(name);
    return binding !== undefined && binding.kind !== "unset" && binding.kind !== "unknown";
  }

  #isUnset(name: string): boolean {
    const binding = this.#host.scope.get(name) ?? this.start(name);
    return binding?.kind === "unset";
  }

  #substitution(part: Extract<Part, { type: "command" }>, before: Flow[]): Text {
    const key = `${part.start}:${part.end}`;
    const made = this.made?.get(key);
    if (made !== undefined) return made;
    const text = this.#substituted(part, before);
    this.made?.set(key, text);
    return text;
  }

  #substituted(part: Extract<Part, { type: "command" }>, before: Flow[]): Text {
    const only = part.body.length === 1 && part.body[0]!.type === "command" ? part.body[0]! : undefined;
    const word =
      only?.words.length === 1 && only.assigns === undefined && only.redirects === undefined
        ? only.words[0]!.text
        : undefined;
    if (word !== undefined && /^[A-Za-z_]\w*$/.test(word) && this.#isKubelet(word)) {
      const value = this.#options.env?.(word);
      return typeof value === "string" ? literal(value) : makeText([{ kind: "variable", name: word, kubelet: true }]);
    }
    const invocations = this.#host.captured(part.body, before);
    const last = invocations[invocations.length - 1];
    const hole: Mutable<Hole> = { kind: "command", runs: invocations };
    if (only !== undefined && last !== undefined) {
      if (
        only.words.length === 0 &&
        last.redirects.length === 1 &&
        last.redirects[0]!.op === "<" &&
        last.redirects[0]!.target !== undefined
      ) {
        hole.file = last.redirects[0]!.target;
      }
      if (last.name !== undefined) hole.name = last.name;
      if (last.name === "cat" && last.command.length === 2) hole.file = last.command[1]!;
      // What `echo` and `printf %s` print is known.
      if (last.name === "echo" && last.redirects.length === 0 && !/^-/.test(last.command[1]?.known ?? "")) {
        return makeText(
          last.command.slice(1).flatMap((arg, i): Piece[] => (i === 0 ? [...arg.pieces] : [" ", ...arg.pieces])),
        );
      }
      if (
        last.name === "printf" &&
        last.redirects.length === 0 &&
        last.command.length === 3 &&
        /^%s(?:\\n)?$/.test(last.command[1]!.known ?? "")
      ) {
        return last.command[2]!;
      }
    }
    return makeText([hole]);
  }

  #isKubelet(name: string): boolean {
    if (!this.#host.kubelet) return false;
    return this.#options.kubelet?.(name) ?? /^[A-Z_][A-Z0-9_]*$/.test(name);
  }

  /** An argument of a manifest. https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/ */
  kubeletText(text: string): Text {
    if (!text.includes("$")) return literal(text);
    return makeText(
      expandReferences(text, (name, written) => {
        if (!(this.#options.kubelet?.(name) ?? true)) return written;
        const value = this.#options.env?.(name);
        return typeof value === "string" ? value : { kind: "variable", name, kubelet: true };
      }),
    );
  }
}

/** `${value#pattern}` and its kin, for a pattern of at most one `*` at its end or start. */
function trimPattern(value: string, op: string, pattern: string): string | undefined {
  if (/[?[\\]/.test(pattern) || pattern.replace(/^\*|\*$/, "").includes("*")) return undefined;
  if (op[0] === "#") {
    if (!pattern.includes("*")) return value.startsWith(pattern) ? value.slice(pattern.length) : value;
    if (!pattern.startsWith("*")) return undefined;
    const tail = pattern.slice(1);
    const at = op === "##" ? value.lastIndexOf(tail) : value.indexOf(tail);
    return at < 0 ? value : value.slice(at + tail.length);
  }
  if (!pattern.includes("*")) return value.endsWith(pattern) ? value.slice(0, value.length - pattern.length) : value;
  if (!pattern.endsWith("*")) return undefined;
  const head = pattern.slice(0, -1);
  const at = op === "%%" ? value.indexOf(head) : value.lastIndexOf(head);
  return at < 0 ? value : value.slice(0, at);
}

/** A word whose only part is `*`. */
export function isStar(word: Word): boolean {
  const parts = partsOf(word);
  return parts.length === 1 && parts[0]!.type === "glob" && parts[0]!.text === "*";
}
