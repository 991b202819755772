/** What the user that runs programs needs, and who grants it: commands, key patterns with their access, channels. */
import type { Span } from "../../text/source.js";
import type { Contract } from "../contract.js";
import type { AclPattern, AclUser } from "../redis/acl.js";
import type { CommandTable } from "../redis/commands.js";
import { disjointPrefix, type Glob, globIncludes, keyPatternGlob } from "../redis/glob.js";
import type { ScriptEffects } from "./effects.js";
import { type Access, tableSpecs } from "./keyspecs.js";
import type { ManifestProgram } from "./manifest.js";
import { originsOf, patternOf } from "./origin.js";
import type { Program } from "./programs.js";

export interface KeyNeed {
  readonly pattern: string;
  readonly access: Access;
  /** The command that works on it; EVALSHA for an entry of KEYS. */
  readonly command: string;
  /** Where it is needed. */
  readonly at: Span | undefined;
  /** What an access list is asked: needs with the same text have the same answer. */
  readonly question: string;
}

function need(pattern: string, access: Access, command: string, at: Span | undefined): KeyNeed {
  const question = `${command === "evalsha" ? "E" : ""}${access}\n${pattern}`;
  return { pattern, access, command, at, question };
}

/** The patterns of a program's KEYS; undefined where an entry does not say. */
export function patternsOf(program: Program): readonly (string | undefined)[] {
  const { entry } = program;
  if (entry === undefined) return [];
  return entry.keys.map((k, i) => (entry.place(`keys/${i}/pattern`) === undefined ? undefined : k.pattern.value));
}

interface Kept<T> {
  readonly effects: ScriptEffects;
  readonly value: T;
}

// What an entry and its script ask for is the same in every contract that holds both.
const declared = new WeakMap<ManifestProgram, readonly KeyNeed[]>();
const called = new WeakMap<ManifestProgram, Kept<readonly KeyNeed[]>>();

/** What EVALSHA asks for: read and write on each entry of KEYS, whatever the script does with it. */
export function declaredNeeds({ entry }: Program): readonly KeyNeed[] {
  if (entry === undefined) return [];
  let known = declared.get(entry);
  if (known === undefined) declared.set(entry, (known = ofKeys(entry)));
  return known;
}

function ofKeys(entry: ManifestProgram): readonly KeyNeed[] {
  return entry.keys.flatMap((key, i): KeyNeed[] =>
    entry.place(`keys/${i}/pattern`) === undefined ? [] : [need(key.pattern.value, "RW", "evalsha", key.pattern.at)],
  );
}

/** What the calls of the script ask for, each key name that is known. */
export function callNeeds(program: Program): readonly KeyNeed[] {
  const effects = program.script?.effects;
  if (effects === undefined) return [];
  const { entry } = program;
  const known = entry === undefined ? undefined : called.get(entry);
  if (known?.effects === effects) return known.value;
  const value = ofCalls(effects, patternsOf(program));
  if (entry !== undefined) called.set(entry, { effects, value });
  return value;
}

function ofCalls(effects: ScriptEffects, patterns: readonly (string | undefined)[]): readonly KeyNeed[] {
  const out: KeyNeed[] = [];
  for (const use of effects.keys) {
    const { kind } = use.origin;
    if (kind !== "keys" && kind !== "derived" && kind !== "literal") continue;
    const pattern = patternOf(use.origin, patterns);
    if (pattern !== undefined && pattern !== "") {
      out.push(need(pattern, use.access, use.call.command!, use.at));
    }
  }
  return out;
}

/** Channels that a script publishes to; undefined: some are not known. */
export function channelNeeds(program: Program): readonly { readonly pattern: string; readonly at: Span }[] | undefined {
  const effects = program.script?.effects;
  if (effects === undefined) return [];
  const out: { pattern: string; at: Span }[] = [];
  for (const call of effects.calls) {
    if (call.command !== "publish" && call.command !== "spublish") continue;
    const [, channel] = call.argv;
    const origins = channel === undefined ? [] : originsOf(channel, effects.terms, call.facts);
    if (origins.length === 0) return undefined;
    for (const origin of origins) {
      const pattern = patternOf(origin, patternsOf(program));
      if (pattern === undefined || origin.kind === "unknown" || origin.kind === "argv" || origin.kind === "data")
        return undefined;
      out.push({ pattern, at: call.wordAt(1) });
    }
  }
  return out;
}

/** A command that the contract file declares for a user outside programs: `GET app:{tenant}:cfg:*`. */
export interface ClientCommand {
  /** `get`, `client|setinfo`. */
  readonly name: string;
  readonly keys: readonly KeyNeed[];
  /** Words behind the name of a command that takes channels. */
  readonly channels: readonly string[];
}

const TAKES_CHANNELS = /^(?:s?subscribe|psubscribe|s?publish)$/;

// A contract file is read once, whatever its contract is built of.
const clients = new WeakMap<
  readonly string[],
  { readonly table: CommandTable; readonly commands: readonly ClientCommand[] }
>();

export function clientCommands(contract: Contract, user: string): readonly ClientCommand[] {
  const texts = contract.config.policy?.commands?.[user];
  if (texts === undefined) return [];
  const { table } = contract.programs;
  let known = clients.get(texts);
  if (known?.table !== table) clients.set(texts, (known = { table, commands: readCommands(texts, table) }));
  return known.commands;
}

function readCommands(texts: readonly string[], table: CommandTable): readonly ClientCommand[] {
  const specs = tableSpecs(table);
  return texts.map((text) => {
    const words = text.trim().split(/[\s|]+/);
    const first = (words[0] ?? "").toLowerCase();
    const container = table.get(first)?.subcommands !== undefined && words.length > 1;
    const name = container ? `${first}|${words[1]!.toLowerCase()}` : first;
    const argv = [first, ...words.slice(1)];
    const keys = (specs.keysOf(argv) ?? [])
      .filter((k) => k.index < argv.length)
      .map((k) => need(argv[k.index]!, k.access, name, undefined));
    // a pattern that stands where no key is expected yet (`MGET app:*` has one, `SET app:*` lacks its value)
    const second = argv[1];
    const wants = table.get(name)?.specs.some((s) => !s.notKey) === true;
    if (keys.length === 0 && wants && second !== undefined && !container)
      keys.push(need(second, "RW", name, undefined));
    return { name, keys, channels: TAKES_CHANNELS.test(first) ? words.slice(1) : [] };
  });
}

/** Needs that ask the same of an access list, each once. */
export class KeyNeeds {
  readonly #byText = new Map<string, KeyNeed>();

  add(one: KeyNeed): void {
    if (!this.#byText.has(one.question)) this.#byText.set(one.question, one);
  }

  get size(): number {
    return this.#byText.size;
  }

  /** Whether one key pattern of a user is needed: it covers something alone, or nothing covers it any more without the pattern. */
  use(user: AclUser, pattern: AclPattern): boolean {
    let known = uses.get(pattern);
    if (known === undefined || known.answers.size > MAX_KEPT)
      uses.set(pattern, (known = { answers: new Map(), last: undefined }));
    if (known.last !== undefined && this.#byText.has(known.last)) return true;
    for (const [text, one] of this.#byText) {
      let used = known.answers.get(text);
      if (used === undefined) known.answers.set(text, (used = isUsed(user, pattern, one)));
      if (!used) continue;
      known.last = text;
      return true;
    }
    return false;
  }
}

/** What is known of a pattern: the answer to each question, and the last one that it was needed for. */
interface Use {
  readonly answers: Map<string, boolean>;
  last: string | undefined;
}

// A pattern belongs to one user, and neither changes.
const uses = new WeakMap<AclPattern, Use>();
const MAX_KEPT = 2000;

const globs = new WeakMap<KeyNeed, Glob>();

function globOf(one: KeyNeed): Glob {
  let known = globs.get(one);
  if (known === undefined) globs.set(one, (known = keyPatternGlob(one.pattern)));
  return known;
}

// The same need meets the same pattern in every access list that a contract is given.
const alone = new WeakMap<KeyNeed, Map<string, boolean | undefined>>();

/** Whether a pattern covers a need without the others of its user; undefined: it was too large a question. */
function coversAlone(pattern: AclPattern, one: KeyNeed): boolean | undefined {
  let known = alone.get(one);
  if (known === undefined) alone.set(one, (known = new Map()));
  let covers = known.get(pattern.text);
  if (covers === undefined && !known.has(pattern.text)) {
    if (known.size > MAX_KEPT) known.clear();
    covers = globIncludes([pattern.glob], globOf(one));
    known.set(pattern.text, covers);
  }
  return covers;
}

const settled = new WeakMap<AclUser, Map<KeyNeed, boolean>>();

/** Some pattern of a user surely covers a need alone. */
function isSettled(user: AclUser, one: KeyNeed): boolean {
  let known = settled.get(user);
  if (known === undefined) settled.set(user, (known = new Map()));
  let answer = known.get(one);
  if (answer === undefined) {
    if (known.size > MAX_KEPT) known.clear();
    known.set(one, (answer = user.keys.some((p) => coversAlone(p, one) === true)));
  }
  return answer;
}

function isUsed(user: AclUser, pattern: AclPattern, one: KeyNeed): boolean {
  const bits = (one.access.includes("R") ? 1 : 0) | (one.access.includes("W") ? 2 : 0);
  if (one.command !== "evalsha" && (pattern.access & bits) !== bits) return false;
  if (one.command === "evalsha" && pattern.access !== 3) return false;
  const glob = globOf(one);
  if (disjointPrefix(pattern.glob, glob)) return false;
  if (coversAlone(pattern, one) !== false) return true;
  // what another one covers alone is covered without this one
  if (isSettled(user, one)) return false;
  const others = user.keys.filter((p) => p !== pattern).map((p) => p.glob);
  return globIncludes([...others, pattern.glob], glob) !== false && globIncludes(others, glob) === false;
}
