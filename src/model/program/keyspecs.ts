/** Key positions of a script's calls, from the command tables that the ACL evaluator uses. */
import { type AccessBits, type CommandTable, keysOf } from "../redis/commands.js";
import type { Call } from "./call.js";
import type { Term } from "./term.js";

/** `R`, `W`, `RW` as the server's ACL asks for it; empty: any pattern that matches does. */
export type Access = "" | "R" | "W" | "RW";

export interface KeyAt {
  /** Index in argv; `argv.length` and beyond: the words of an unpacked list. */
  readonly index: number;
  readonly access: Access;
}

export interface KeySpecs {
  /**
   * Key positions of a call whose words may be unknown (undefined); undefined: the command is not in the table, or the
   * positions depend on an unknown word.
   */
  keysOf(argv: readonly (string | undefined)[]): readonly KeyAt[] | undefined;
}

const ACCESS: readonly Access[] = ["", "R", "W", "RW"];
/** Stands for an unknown word: equal to no option. */
const UNKNOWN = "\u0000?";

export function accessOf(bits: AccessBits): Access {
  return ACCESS[bits]!;
}

/** The key specs of one server's command table. */
export function tableSpecs(table: CommandTable): KeySpecs {
  return {
    keysOf(argv) {
      if (argv[0] === undefined) return undefined;
      const words = argv.map((w) => w ?? UNKNOWN);
      const command = table.lookup(words);
      if (command === undefined) return undefined;
      for (const { begin, find, notKey } of command.specs) {
        if (notKey || begin === undefined || find === undefined || !("index" in begin) || !("count" in find)) continue;
        if (argv.length > begin.index + find.count && argv[begin.index + find.count] === undefined) return undefined;
      }
      return keysOf(command, words, table.modern).map((k) => ({ index: k.index, access: accessOf(k.access) }));
    },
  };
}

/** A key word of a call. */
export interface KeyWord {
  readonly term: Term;
  readonly index: number;
  readonly access: Access;
  /** One of the words of an unpacked list: there may be several such keys, and other words among them. */
  readonly many: boolean;
}

/** The key words of a call; undefined when they are not known. */
export function keyWords(call: Call, specs: KeySpecs): readonly KeyWord[] | undefined {
  const { argv, open, command } = call;
  if (command === undefined) return undefined;
  const words: (string | undefined)[] = argv.map((_, i) => call.text(i));
  words[0] = command.split("|")[0];
  if (open === undefined) {
    const found = specs.keysOf(words);
    if (found === undefined) return counted(call, words, specs);
    return found
      .filter((k) => k.index < argv.length)
      .map((k) => ({ term: argv[k.index]!, index: k.index, access: k.access, many: false }));
  }
  const out: KeyWord[] = [];
  let known = false;
  // With one and with two further words: pairs (MSET) show their keys in one of both.
  for (let more = 1; more <= 2; more++) {
    const found = specs.keysOf([...words, ...new Array<undefined>(more).fill(undefined)]);
    if (found === undefined) continue;
    known = true;
    for (const k of found) {
      if (k.index < argv.length) {
        if (!out.some((o) => o.index === k.index)) {
          out.push({ term: argv[k.index]!, index: k.index, access: k.access, many: false });
        }
      } else if (!out.some((o) => o.many)) out.push({ term: open, index: argv.length, access: k.access, many: true });
    }
  }
  return known ? out : counted(call, words, specs);
}

/**
 * `ZUNIONSTORE dest #KEYS …`: the number of keys is not a constant. The words after it are keys as far as they are entries
 * of one unpacked list; else the positions are unknown.
 */
function counted(call: Call, words: readonly (string | undefined)[], specs: KeySpecs): readonly KeyWord[] | undefined {
  const { argv, open } = call;
  for (let at = 1; at < words.length && at <= 3; at++) {
    if (words[at] !== undefined) continue;
    const guess = words.slice();
    guess[at] = "1";
    const one = specs.keysOf(open === undefined ? guess : [...guess, undefined]);
    if (one === undefined || one.length === 0) continue;
    const rest = argv.slice(at + 1);
    if (open === undefined && rest.some((t) => t.kind !== "slot" || t.table !== "keys")) return undefined;
    const out: KeyWord[] = [];
    for (const k of one) {
      if (k.index <= at) out.push({ term: argv[k.index]!, index: k.index, access: k.access, many: false });
    }
    const access = one.find((k) => k.index > at)?.access ?? "R";
    for (let i = 0; i < rest.length; i++) out.push({ term: rest[i]!, index: at + 1 + i, access, many: false });
    if (open !== undefined) out.push({ term: open, index: argv.length, access, many: true });
    return out;
  }
  return undefined;
}
