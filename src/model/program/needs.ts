/** What the user that runs programs needs, and who grants it: commands, key patterns with their access, channels. */
import type { Span } from "../../text/source.js";
import type { Contract } from "../contract.js";
import type { AclPattern } from "../redis/acl.js";
import { disjointPrefix, globIncludes, keyPatternGlob } from "../redis/glob.js";
import { type Access, tableSpecs } from "./keyspecs.js";
import { originsOf, patternOf } from "./origin.js";
import type { Program } from "./programs.js";

export interface KeyNeed {
  readonly pattern: string;
  readonly access: Access;
  /** The command that works on it; EVALSHA for an entry of KEYS. */
  readonly command: string;
  /** Where it is needed. */
  readonly at: Span | undefined;
}

/** The patterns of a program's KEYS; undefined where an entry does not say. */
export function patternsOf(program: Program): readonly (string | undefined)[] {
  const { entry } = program;
  if (entry === undefined) return [];
  return entry.keys.map((k, i) => (entry.place(`keys/${i}/pattern`) === undefined ? undefined : k.pattern.value));
}

/** What EVALSHA asks for: read and write on each entry of KEYS, whatever the script does with it. */
export function declaredNeeds(program: Program): readonly KeyNeed[] {
  const { entry } = program;
  if (entry === undefined) return [];
  return entry.keys.flatMap((key, i): KeyNeed[] =>
    entry.place(`keys/${i}/pattern`) === undefined
      ? []
      : [{ pattern: key.pattern.value, access: "RW", command: "evalsha", at: key.pattern.at }],
  );
}

/** What the calls of the script ask for, each key name that is known. */
export function callNeeds(program: Program): readonly KeyNeed[] {
  const effects = program.script?.effects;
  if (effects === undefined) return [];
  const patterns = patternsOf(program);
  const out: KeyNeed[] = [];
  for (const use of effects.keys) {
    const { kind } = use.origin;
    if (kind !== "keys" && kind !== "derived" && kind !== "literal") continue;
    const pattern = patternOf(use.origin, patterns);
    if (pattern !== undefined && pattern !== "") {
      out.push({ pattern, access: use.access, command: use.call.command!, at: use.at });
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

export function clientCommands(contract: Contract, user: string): readonly ClientCommand[] {
  const { table } = contract.programs;
  const specs = tableSpecs(table);
  return (contract.config.policy?.commands?.[user] ?? []).map((text) => {
    const words = text.trim().split(/[\s|]+/);
    const first = (words[0] ?? "").toLowerCase();
    const container = table.get(first)?.subcommands !== undefined && words.length > 1;
    const name = container ? `${first}|${words[1]!.toLowerCase()}` : first;
    const argv = [first, ...words.slice(1)];
    const keys = (specs.keysOf(argv) ?? [])
      .filter((k) => k.index < argv.length)
      .map((k): KeyNeed => ({ pattern: argv[k.index]!, access: k.access, command: name, at: undefined }));
    // a pattern that stands where no key is expected yet (`MGET app:*` has one, `SET app:*` lacks its value)
    const second = argv[1];
    const wants = table.get(name)?.specs.some((s) => !s.notKey) === true;
    if (keys.length === 0 && wants && second !== undefined && !container)
      keys.push({ pattern: second, access: "RW", command: name, at: undefined });
    return { name, keys, channels: TAKES_CHANNELS.test(first) ? words.slice(1) : [] };
  });
}

/** Whether one ACL pattern is needed: it covers something alone, or nothing covers it any more without the pattern. */
export function isUsed(pattern: AclPattern, all: readonly AclPattern[], needs: readonly KeyNeed[]): boolean {
  const reached = needs.flatMap((need) => {
    const bits = (need.access.includes("R") ? 1 : 0) | (need.access.includes("W") ? 2 : 0);
    if (need.command !== "evalsha" && (pattern.access & bits) !== bits) return [];
    if (need.command === "evalsha" && pattern.access !== 3) return [];
    const glob = keyPatternGlob(need.pattern);
    return disjointPrefix(pattern.glob, glob) ? [] : [glob];
  });
  // one pattern against one is quickly decided, and nearly always enough
  if (reached.some((glob) => globIncludes([pattern.glob], glob) !== false)) return true;
  const others = all.filter((p) => p !== pattern).map((p) => p.glob);
  return reached.some(
    (glob) => globIncludes([...others, pattern.glob], glob) !== false && globIncludes(others, glob) === false,
  );
}
