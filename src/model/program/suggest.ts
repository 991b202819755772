/** The least ACL line of a user that runs programs: what they and the declared client commands need, and nothing more. */
import type { Span } from "../../text/source.js";
import type { Contract } from "../contract.js";
import { behaviourOf } from "../redis/acl.js";
import { type Glob, globIncludes, keyPatternGlob } from "../redis/glob.js";
import { resolveServer } from "../redis/servers.js";
import { list } from "../settings.js";
import type { KeyUse } from "./effects.js";
import type { Access } from "./keyspecs.js";
import { callNeeds, channelNeeds, clientCommands, declaredNeeds, patternsOf } from "./needs.js";
import { patternOf } from "./origin.js";
import type { Program } from "./programs.js";

export interface Suggestion {
  readonly user: string;
  /** `~app:{*}:cfg:*`, `%R~…`, `%W~…`. */
  readonly keys: readonly string[];
  /** `&news`. */
  readonly channels: readonly string[];
  /** `+get`, `+script|load`. */
  readonly commands: readonly string[];
  /** How many programs it runs. */
  readonly programs: number;
  /** What is not known and may need more. */
  readonly open: readonly { readonly what: string; readonly at: Span | undefined }[];
}

/** Users of the role `application`: those that programs name, and those that the contract file declares. */
export function applicationUsers(contract: Contract): readonly string[] {
  const { config, programs, redis } = contract;
  const names = new Set<string>(config.roles?.application === undefined ? [] : list(config.roles.application));
  for (const user of Object.keys(config.policy?.commands ?? {})) {
    if (names.size === 0 || names.has(user)) names.add(user);
  }
  for (const program of programs.programs) {
    const name = runnerOf(contract, program);
    if (name !== undefined) names.add(name);
  }
  if (names.size === 0) for (const { name } of redis.roleUsers("application")) names.add(name);
  return [...names];
}

/** The user that runs a program, whether an access list has it or not. */
function runnerOf(contract: Contract, program: Program): string | undefined {
  const declared = contract.config.roles?.application;
  const single = declared === undefined ? [] : list(declared);
  return (
    program.user?.value ??
    program.set.source.user ??
    contract.programs.runners(program)[0]?.name ??
    (single.length === 1 ? single[0] : undefined)
  );
}

function isDeclared({ origin }: KeyUse, program: Program): boolean {
  if (origin.kind === "argv" || origin.kind === "data" || origin.kind === "unknown") return false;
  return origin.kind === "literal" || patternOf(origin, patternsOf(program)) !== undefined;
}

interface Pattern {
  readonly text: string;
  readonly glob: Glob;
  /** R 1, W 2. */
  readonly bits: number;
}

export function suggestUser(contract: Contract, user: string): Suggestion {
  const { table } = contract.programs;
  const programs = contract.programs.programs.filter((p) => runnerOf(contract, p) === user);
  const clients = clientCommands(contract, user);
  const open: { what: string; at: Span | undefined }[] = [];
  const commands = new Set<string>(clients.map((c) => c.name));
  const keys = new Map<string, number>();
  const channels = new Set<string>();
  const need = (pattern: string, access: Access): void => {
    const bits = (access.includes("R") ? 1 : 0) | (access.includes("W") ? 2 : 0);
    // A command that neither reads nor writes (EXISTS) is content with any pattern; reading is the lesser grant.
    keys.set(pattern, (keys.get(pattern) ?? 0) | (bits === 0 ? 1 : bits));
  };
  for (const client of clients) {
    for (const key of client.keys) need(key.pattern, key.access);
    for (const channel of client.channels) channels.add(client.name === "psubscribe" ? channel : aclPattern(channel));
    if (client.keys.length === 0 && table.get(client.name)?.specs.some((s) => !s.notKey) === true) {
      open.push({ what: `policy.commands names no key for ${client.name.toUpperCase()}`, at: undefined });
    }
  }
  if (programs.length > 0) {
    commands.add("evalsha");
    commands.add("script|load");
  }
  for (const program of programs) {
    const effects = program.script?.effects;
    for (const name of effects?.commands.keys() ?? []) commands.add(name);
    if (effects?.commandsComplete !== true) {
      for (const { value } of program.entry?.commands ?? []) commands.add(value.toLowerCase());
      const at = effects?.unknowns[0]?.at ?? program.at;
      const what = effects === undefined ? "has no script that can be read" : "may send commands that cannot be told";
      open.push({ what: `${program.name} ${what}; its declared commands are taken`, at });
    }
    for (const { pattern, access } of [...declaredNeeds(program), ...callNeeds(program)]) need(pattern, access);
    const unknown = effects?.keys.find((use) => !isDeclared(use, program));
    if (unknown !== undefined)
      open.push({ what: `${program.name} uses a key whose pattern is not declared`, at: unknown.at });
    const published = channelNeeds(program);
    if (published === undefined)
      open.push({ what: `${program.name} publishes to a channel that cannot be told`, at: program.at });
    for (const { pattern } of published ?? []) channels.add(aclPattern(pattern));
  }
  const scripts = new Set(programs.flatMap((p) => [...(p.script?.effects?.commands.keys() ?? [])]));
  for (const name of [...commands]) {
    const known = table.get(name);
    const own = clients.some((c) => c.name === name);
    if (known === undefined) open.push({ what: `${table.id} has no command ${name.toUpperCase()}`, at: undefined });
    if (known === undefined || (!own && scripts.has(name) && known.flags.includes("noscript"))) commands.delete(name);
    // A container that is granted as a whole has its subcommands.
    else if (name.includes("|") && commands.has(name.slice(0, name.indexOf("|")))) commands.delete(name);
  }
  const server = resolveServer(contract.redis.version.id)!;
  const { modern, channels: hasChannels } = behaviourOf(server);
  return {
    user,
    keys: least(keys).map(
      ({ text, bits }) => `${bits === 3 || !modern ? "~" : bits === 1 ? "%R~" : "%W~"}${aclPattern(text)}`,
    ),
    channels: (hasChannels ? [...channels] : []).sort().map((c) => `&${c}`),
    commands: [...commands].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)).map((c) => `+${c}`),
    programs: programs.length,
    open,
  };
}

/** What runs scripts stands first. */
function rank(command: string): number {
  return command === "evalsha" ? 0 : command === "script|load" ? 1 : 2;
}

/** Leaves out what the others cover; in the order of the names, so that the line is stable. */
function least(needs: ReadonlyMap<string, number>): readonly Pattern[] {
  let all = [...needs]
    .map(([text, bits]): Pattern => ({ text, bits, glob: keyPatternGlob(text) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1));
  for (const one of all) {
    const others = all.filter((p) => p !== one && (p.bits & one.bits) === one.bits).map((p) => p.glob);
    if (globIncludes(others, one.glob) === true) all = all.filter((p) => p !== one);
  }
  return all;
}

/** A key pattern as ACLs write it: `{name}` becomes `{*}`, and what ACLs read as a wildcard is escaped. */
export function aclPattern(pattern: string): string {
  return pattern.replace(/\{[^{}]*\}/g, "{*}").replace(/[?[\]\\]/g, "\\$&");
}

/** The line as it stands in an ACL file. */
export function suggestedLine(s: Suggestion, passwords: readonly string[]): string {
  const channels = s.channels.length === 0 ? [] : s.channels;
  return [
    "user",
    s.user,
    "on",
    ...passwords,
    "resetkeys",
    ...s.keys,
    "resetchannels",
    ...channels,
    "-@all",
    ...s.commands,
  ].join(" ");
}
