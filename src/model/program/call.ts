/** One command that a script can send, with what is known about its words and what holds whenever it is sent. */
import type { Span, TextView } from "../../text/source.js";
import { type Expr, Op } from "./ir.js";
import { type Fact, type Facts, Site, type Term } from "./term.js";

/** A condition that holds on every path to a place. */
export interface Guard {
  /**
   * `equal`, `different`, `less` (left < right), `lessOrEqual` (left <= right) compare two terms; `true`, `false` test
   * `left` alone in Lua's sense (nil and false are false; the number 0 is true).
   */
  readonly op: "equal" | "different" | "less" | "lessOrEqual" | "true" | "false";
  readonly left: Term;
  readonly right: Term | undefined;
  /** The comparison or condition in the text. */
  readonly at: Span;
}

/** A loop around a call. `to` is the term that a numeric loop counts to. */
export interface Loop {
  readonly kind: "while" | "repeat" | "number" | "each";
  readonly site: Site;
  readonly from: Term | undefined;
  readonly to: Term | undefined;
}

/** Where the words of a call are written. */
export interface Words {
  readonly view: TextView;
  readonly exprs: readonly Expr[];
  /** How many of the expressions precede the command. */
  readonly skip: number;
  /** How many words they gave. */
  readonly given: number;
}

/** The place of word `index`; undefined when it comes from an unpacked list. */
export function wordSite(words: Words, index: number): Site | undefined {
  const { exprs, skip, given } = words;
  const at = index + skip;
  const e = exprs[at];
  if (e === undefined) return undefined;
  const spread = at === exprs.length - 1 && (e.op === Op.Call || e.op === Op.Method || e.op === Op.Vararg);
  if (spread && given + skip !== exprs.length) return undefined;
  return new Site(words.view, e.range);
}

export interface CallParts {
  readonly order: number;
  readonly site: Site;
  readonly words: Words;
  readonly command: string | undefined;
  readonly argv: readonly Term[];
  readonly open: Term | undefined;
  readonly guarded: boolean;
  readonly facts: Facts | undefined;
  readonly via: readonly Site[];
  readonly loops: readonly Loop[];
}

export class Call {
  /** Position in the order in which the analysis met the calls; on one path a smaller number came before. */
  readonly order: number;
  /**
   * Lower case, with the subcommand of a container (`xgroup|create`); undefined: the name is not known. A container
   * whose subcommand is not known is its bare name.
   */
  readonly command: string | undefined;
  /** The words, argv[0] being the command's name. */
  readonly argv: readonly Term[];
  /** Any number of further words follow, each like this term (`unpack` of a list of unknown length). */
  readonly open: Term | undefined;
  /** Sent by `redis.pcall`, or inside Lua's `pcall`: an error or a denial does not end the script. */
  readonly guarded: boolean;
  /** Helper calls that lead here, outermost first. */
  readonly via: readonly Site[];
  /** Loops around it, outermost first. */
  readonly loops: readonly Loop[];
  readonly site: Site;
  readonly facts: Facts | undefined;
  readonly #words: Words;
  #guards: readonly Guard[] | undefined;

  constructor(parts: CallParts) {
    this.order = parts.order;
    this.site = parts.site;
    this.command = parts.command;
    this.argv = parts.argv;
    this.open = parts.open;
    this.guarded = parts.guarded;
    this.facts = parts.facts;
    this.via = parts.via;
    this.loops = parts.loops;
    this.#words = parts.words;
  }

  /** The whole call expression. */
  get at(): Span {
    return this.site.span;
  }

  /** The word that names the command, or the whole call when it is not written there. */
  get commandAt(): Span {
    return this.wordAt(0);
  }

  /** Where word `index` of argv is written; the whole call when it comes from an unpacked list. */
  wordAt(index: number): Span {
    return (wordSite(this.#words, index) ?? this.site).span;
  }

  /** The literal text of word `index`; undefined when it is absent or not a constant. */
  text(index: number): string | undefined {
    return literalText(this.argv[index]);
  }

  /** Whether one of the literal words from `from` on is `word` (upper case). */
  has(word: string, from = 1): boolean {
    for (let i = from; i < this.argv.length; i++) {
      const text = this.text(i);
      if (text !== undefined && text.length === word.length && text.toUpperCase() === word) return true;
    }
    return false;
  }

  /** Literal words from `from` on, upper-cased: the options that are certainly given. */
  options(from = 1): ReadonlySet<string> {
    const out = new Set<string>();
    for (let i = from; i < this.argv.length; i++) {
      const text = this.text(i);
      if (text !== undefined) out.add(text.toUpperCase());
    }
    return out;
  }

  /** Conditions that hold whenever this call is made, in the order in which they were met. */
  get guards(): readonly Guard[] {
    this.#guards ??= guardsOf(this.facts);
    return this.#guards;
  }
}

export function literalText(term: Term | undefined): string | undefined {
  if (term?.kind !== "literal" || term.value === null || typeof term.value === "boolean") return undefined;
  return String(term.value);
}

/** The fields of a hash that a call sets, each with its value and that value's index in `argv`; none where it sets no hash. */
export function fieldPairs({
  command,
  argv,
}: Call): readonly { readonly field: Term; readonly value: Term; readonly index: number }[] {
  if (command !== "hset" && command !== "hmset" && command !== "hsetnx") return [];
  const out: { field: Term; value: Term; index: number }[] = [];
  for (let i = 2; i + 1 < argv.length; i += 2) out.push({ field: argv[i]!, value: argv[i + 1]!, index: i + 1 });
  return out;
}

export function guardsOf(facts: Facts | undefined): readonly Guard[] {
  const out: Guard[] = [];
  for (let f = facts; f !== undefined; f = f.up) out.push(guard(f.fact));
  return out.reverse();
}

export function guard(fact: Fact): Guard {
  const { term, holds } = fact;
  const at = fact.at.span;
  if (term.kind !== "compare") return { op: holds ? "true" : "false", left: term, right: undefined, at };
  const { left, right } = term;
  if (term.op === "eq") return { op: holds ? "equal" : "different", left, right, at };
  if (holds) return { op: term.op === "lt" ? "less" : "lessOrEqual", left, right, at };
  return { op: term.op === "lt" ? "lessOrEqual" : "less", left: right, right: left, at };
}
