/** What users lack for the programs that they run, each lack once with all its places. */
import type { Span } from "../../text/source.js";
import { isFaulty } from "../redis/access.js";
import type { AclUser } from "../redis/acl.js";
import { callNeeds, channelNeeds, declaredNeeds } from "./needs.js";
import type { ContractPrograms, LuaScript, Program, Runner } from "./programs.js";

interface Lack {
  /** The first program that needs it. */
  readonly program: string;
  readonly places: readonly Span[];
}

export interface Lacks {
  readonly runner: Runner;
  /** undefined: the access list has no such user. */
  readonly user: AclUser | undefined;
  readonly programs: readonly Program[];
  /** Scripts without an entry. */
  readonly scripts: readonly LuaScript[];
  /** EVALSHA, SCRIPT LOAD: without the first nothing else is judged. */
  readonly calls: readonly ("evalsha" | "script|load")[];
  readonly commands: readonly (Lack & { readonly command: string })[];
  readonly keys: readonly (Lack & { readonly pattern: string })[];
  /** Every declared key is one of `keys`. */
  readonly keyless: boolean;
  /** Keys that no pattern gives to the commands that work on them. */
  readonly inner: readonly (Lack & { readonly pattern: string; readonly commands: readonly string[] })[];
  readonly channels: readonly (Lack & { readonly pattern: string })[];
}

/** One entry for each user that runs programs and whose rights are known. */
export function lacksOf(programs: ContractPrograms): readonly Lacks[] {
  const groups = new Map<string, { runner: Runner; programs: Program[]; scripts: LuaScript[] }>();
  const groupOf = (runner: Runner) => {
    const key = `${runner.access.title}\n${runner.access.acl?.input.file}\n${runner.name}`;
    let group = groups.get(key);
    if (group === undefined) groups.set(key, (group = { runner, programs: [], scripts: [] }));
    return group;
  };
  for (const program of programs.programs) {
    for (const runner of programs.runners(program)) groupOf(runner).programs.push(program);
  }
  if (!programs.declared) {
    for (const script of programs.scripts) {
      if (script.programs.length > 0 || script.fragment) continue;
      for (const runner of programs.runners(script)) groupOf(runner).scripts.push(script);
    }
  }
  const out: Lacks[] = [];
  for (const { runner, programs: own, scripts } of groups.values()) {
    const lacks = judge(runner, own, scripts, programs.declared);
    if (lacks !== undefined) out.push(lacks);
  }
  return out;
}

function judge(
  runner: Runner,
  programs: readonly Program[],
  scripts: readonly LuaScript[],
  declared: boolean,
): Lacks | undefined {
  const { user, access } = runner;
  const none = {
    runner,
    programs,
    scripts,
    calls: [],
    commands: [],
    keys: [],
    keyless: false,
    inner: [],
    channels: [],
  };
  if (user === undefined) return access.complete && programs.length > 0 ? Object.assign(none, { user }) : undefined;
  if (!user.certain || !user.enabled || (access.load !== undefined && isFaulty(access.load, user))) return undefined;
  // who is given EVAL instead runs scripts by it, unless the contract says how they are run
  const byEval = !declared && user.can("eval") !== "no";
  const wanted: readonly ("evalsha" | "script|load")[] = declared ? ["evalsha", "script|load"] : ["evalsha"];
  const calls = wanted.filter((c) => user.can(c) === "no" && !byEval);
  if (calls.includes("evalsha")) return Object.assign(none, { user, calls });

  const commands = new Map<string, { command: string; program: string; places: Span[] }>();
  for (const { name, script } of [...programs, ...scripts.map((s) => ({ name: s.name, script: s }))]) {
    // a script that lacks nothing is not looked into
    if ([...(script?.effects?.commands.keys() ?? [])].every((c) => !isRun(user, c) || user.can(c) !== "no")) continue;
    for (const call of script?.effects?.calls ?? []) {
      const { command } = call;
      if (command === undefined || !isRun(user, command) || user.can(command) !== "no") continue;
      add(commands, command, { command, program: name }, call.commandAt);
    }
  }
  const keys = new Map<string, { pattern: string; program: string; places: Span[] }>();
  const inner = new Map<string, { pattern: string; program: string; commands: string[]; places: Span[] }>();
  const channels = new Map<string, { pattern: string; program: string; places: Span[] }>();
  const patterns = new Set<string>();
  const runs = user.can("evalsha") === "no" ? "eval" : "evalsha";
  for (const program of programs) {
    for (const { pattern, at } of declaredNeeds(program)) {
      patterns.add(pattern);
      if (user.covers({ declared: pattern }, "RW", runs) === "no")
        add(keys, pattern, { pattern, program: program.name }, at!);
    }
  }
  for (const program of programs) {
    for (const { pattern, access: needed, command, at } of callNeeds(program)) {
      if (keys.has(pattern) || commands.has(command)) continue;
      if (user.covers({ declared: pattern }, needed, command) !== "no") continue;
      const found = add(inner, pattern, { pattern, program: program.name, commands: [] as string[] }, at!);
      if (!found.commands.includes(command)) found.commands.push(command);
    }
    for (const { pattern, at } of channelNeeds(program) ?? []) {
      if (user.coversChannel({ declared: pattern }) === "no")
        add(channels, pattern, { pattern, program: program.name }, at);
    }
  }
  return {
    runner,
    user,
    programs,
    scripts,
    calls,
    commands: [...commands.values()],
    keys: [...keys.values()],
    keyless: keys.size > 1 && keys.size === patterns.size,
    inner: [...inner.values()],
    channels: [...channels.values()],
  };
}

function add<T extends object>(
  map: Map<string, T & { places: Span[] }>,
  key: string,
  value: T,
  at: Span,
): T & { places: Span[] } {
  let known = map.get(key);
  if (known === undefined) map.set(key, (known = Object.assign(value, { places: [] })));
  if (!known.places.some((p) => p.source === at.source && p.start === at.start)) known.places.push(at);
  return known;
}

/** The server has the command and lets scripts send it: else it is refused whatever the ACL says. */
function isRun({ table }: AclUser, name: string): boolean {
  return table.get(name)?.flags.includes("noscript") === false;
}
