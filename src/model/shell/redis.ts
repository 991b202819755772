/** Calls of redis-cli: to whom, as whom, what they send, and who looks at the answer. */

import { push } from "../multimap.js";
import { type Grep, grepOf, type Test, testOf } from "./conditions.js";
import { inputOf } from "./output.js";
import type { Arg, EnvironmentFact, Flow, Invocation, ShellProgram } from "./program.js";
import { baseName, literal, makeText, runsOf, type Text } from "./text.js";
import { remoteCommand } from "./wrappers.js";

/** A Redis command, its name first. */
export type RedisCommand = readonly Text[];

export interface RedisAuth {
  /** The secret itself. */
  readonly value: Text;
  /** `argument`: `-a`, `--pass`; `uri`: `-u redis://user:secret@…`; `inline`: `REDISCLI_AUTH=… redis-cli`; `exported`: set earlier in the script. */
  readonly source: "argument" | "uri" | "inline" | "exported";
  readonly arg: Arg | undefined;
}

/** One call of redis-cli (or valkey-cli). Values that are not given are undefined; the client's default holds then. */
export interface RedisCall {
  readonly invocation: Invocation;
  readonly host: Arg | undefined;
  readonly port: Arg | undefined;
  readonly socket: Arg | undefined;
  readonly uri: Arg | undefined;
  /** undefined: words that are not known may say it. */
  readonly tls: boolean | undefined;
  readonly cacert: Arg | undefined;
  readonly cacertdir: Arg | undefined;
  readonly cert: Arg | undefined;
  readonly key: Arg | undefined;
  readonly sni: Arg | undefined;
  readonly insecure: boolean;
  readonly user: Text | undefined;
  /** undefined: none by the script; the container's environment may still have `REDISCLI_AUTH`. */
  readonly auth: RedisAuth | undefined;
  readonly askpass: boolean;
  /** `-e`: an error reply gives a non-zero exit status. */
  readonly exitOnError: boolean;
  /** What it sends; `[]`: nothing (an empty input); undefined: not known. */
  readonly commands: readonly RedisCommand[] | undefined;
  /** Where the commands come from; `interactive`: there are none, and no input is given to it. */
  readonly input: "arguments" | "stdin" | "mode" | "interactive";
  /** `--scan`, `--latency`, `--rdb`, `--pipe`, … */
  readonly mode: string | undefined;
  /** Words that are not known stand among the options: options may be given that are not seen. */
  readonly uncertain: boolean;
  /** Who looks at its output. */
  readonly consumers: readonly Consumer[];
}

export type Consumer =
  | { readonly kind: "grep"; readonly grep: Grep }
  | { readonly kind: "test"; readonly test: Test; readonly invocation: Invocation }
  | { readonly kind: "other"; readonly invocation: Invocation };

export const CLIENT = /^(?:redis|valkey|keydb)-cli$/;

/** Options of redis-cli that take a value (redis-cli.c, parseOptions). */
const VALUED = new Set(
  "-h -p -t -s -r -i -n -a --pass --user -u -X -d -D --lru-test --pattern --count --quoted-pattern --intrinsic-latency --rdb --functions-rdb --pipe-timeout --memkeys-samples --keystats-samples --cursor --top --eval --cluster-replicas --cluster-master-id --cluster-from --cluster-to --cluster-from-user --cluster-from-pass --cluster-slots --cluster-timeout --cluster-pipeline --cluster-threshold --sni --cacert --cacertdir --cert --key --tls-ciphers --tls-ciphersuites --show-pushes".split(
    " ",
  ),
);

/** What a mode sends. */
const MODES: Readonly<Record<string, readonly string[]>> = {
  "--scan": ["SCAN"],
  "--latency": ["PING"],
  "--latency-history": ["PING"],
  "--latency-dist": ["PING"],
  "--stat": ["INFO"],
  "--bigkeys": ["SCAN", "DBSIZE", "TYPE"],
  "--memkeys": ["SCAN", "DBSIZE", "MEMORY"],
  "--hotkeys": ["SCAN", "DBSIZE", "OBJECT"],
  "--replica": ["SYNC"],
  "--slave": ["SYNC"],
  "--rdb": ["SYNC"],
  "--eval": ["EVAL"],
};

/** The client calls of an invocation: the command itself, or the one that it runs elsewhere (`kubectl exec … --`). */
export function redisCalls(invocation: Invocation): RedisCall[] {
  const out: RedisCall[] = [];
  for (const words of commandsOf(invocation)) {
    const name = words[0]?.known;
    if (name !== undefined && CLIENT.test(baseName(name))) out.push(readCall(invocation, words));
  }
  return out;
}

const callsOf = new WeakMap<ShellProgram, readonly RedisCall[]>();

/** All client calls of a program, with who looks at their output. */
export function redisCallsOf(program: ShellProgram): readonly RedisCall[] {
  let calls = callsOf.get(program);
  if (calls === undefined) callsOf.set(program, (calls = findCalls(program)));
  return calls;
}

function findCalls(program: ShellProgram): RedisCall[] {
  const calls = program.invocations.flatMap(redisCalls);
  if (calls.length === 0) return calls;
  const consumers = consumersOf(program, new Set(calls.map((call) => call.invocation)));
  return calls.map((call) => ({ ...call, consumers: consumers.get(call.invocation) ?? [] }));
}

/** The command of an invocation and the command that it has another machine or container run. */
export function commandsOf(invocation: Invocation): (readonly Arg[])[] {
  const remote = remoteCommand(invocation.command);
  return remote === undefined ? [invocation.command] : [invocation.command, remote];
}

export function isOpen(arg: Arg): boolean {
  return arg.pieces.some((piece) => typeof piece !== "string" && (piece.split === true || piece.kind === "arguments"));
}

export function readCall(invocation: Invocation, words: readonly Arg[]): RedisCall {
  const values = new Map<string, Arg>();
  const flags = new Set<string>();
  let uncertain = false;
  let mode: string | undefined;
  let i = 1;
  for (; i < words.length; i++) {
    const arg = words[i]!;
    const word = arg.known;
    if (word === undefined) {
      // `$TLS_ARGS`: any number of options; what follows is still read as options.
      if (!isOpen(arg)) break;
      uncertain = true;
      continue;
    }
    if (!word.startsWith("-")) break;
    const equals = word.startsWith("--") ? word.indexOf("=") : -1;
    if (equals > 0 && VALUED.has(word.slice(0, equals))) {
      values.set(word.slice(0, equals), { ...arg, ...literal(word.slice(equals + 1)) });
      continue;
    }
    if (word === "-h" && i === words.length - 1) break;
    if (VALUED.has(word) && i + 1 < words.length) {
      if (Object.hasOwn(MODES, word)) mode = word;
      values.set(word, words[++i]!);
      continue;
    }
    if (word === "--cluster") {
      mode = word;
      break;
    }
    flags.add(word);
    if (
      Object.hasOwn(MODES, word) ||
      word === "--pipe" ||
      word === "--lru-test" ||
      word === "--version" ||
      word === "-v" ||
      word === "--help"
    )
      mode = word;
  }
  const rest = words.slice(i);
  const uri = values.get("-u");
  const fromUri = uri === undefined ? undefined : readUri(uri);
  const sent = sentCommands(invocation, rest, mode, flags, uncertain);
  const optionUser = values.get("--user");
  return {
    invocation,
    host: values.get("-h") ?? fromUri?.host,
    port: values.get("-p") ?? fromUri?.port,
    socket: values.get("-s"),
    uri,
    tls:
      flags.has("--tls") || fromUri?.tls === true
        ? true
        : uncertain || (uri !== undefined && fromUri?.tls === undefined)
          ? undefined
          : false,
    cacert: values.get("--cacert"),
    cacertdir: values.get("--cacertdir"),
    cert: values.get("--cert"),
    key: values.get("--key"),
    sni: values.get("--sni"),
    insecure: flags.has("--insecure"),
    user: optionUser ?? fromUri?.user,
    auth: authOf(invocation, values, fromUri, uri),
    askpass: flags.has("--askpass"),
    exitOnError: flags.has("-e"),
    commands: sent.commands,
    input: sent.input,
    mode,
    uncertain,
    consumers: [],
  };
}

interface Uri {
  readonly tls: boolean | undefined;
  readonly user: Text | undefined;
  readonly password: Text | undefined;
  readonly host: Arg | undefined;
  readonly port: Arg | undefined;
}

/** `redis[s]://[[user]:password@]host[:port][/db]`, holes allowed anywhere. */
function readUri(uri: Arg): Uri {
  const [first, ...rest] = uri.pieces;
  if (typeof first !== "string")
    return { tls: undefined, user: undefined, password: undefined, host: undefined, port: undefined };
  const scheme = /^(rediss?|valkeys?):\/\//i.exec(first);
  if (scheme === null)
    return { tls: undefined, user: undefined, password: undefined, host: undefined, port: undefined };
  const tls = /^(?:rediss|valkeys)$/i.test(scheme[1]!);
  const pieces = [first.slice(scheme[0].length), ...rest];
  // The last `@` ends the credentials, the first `:` before it the user.
  let at = -1;
  pieces.forEach((piece, i) => {
    if (typeof piece === "string" && piece.includes("@")) at = i;
  });
  let user: Text | undefined;
  let password: Text | undefined;
  let tail: readonly (typeof pieces)[number][] = pieces;
  if (at >= 0) {
    const holder = pieces[at] as string;
    const cut = holder.lastIndexOf("@");
    const head = [...pieces.slice(0, at), holder.slice(0, cut)];
    tail = [holder.slice(cut + 1), ...pieces.slice(at + 1)];
    const colon = head.findIndex((piece) => typeof piece === "string" && piece.includes(":"));
    if (colon < 0) user = makeText(head);
    else {
      const text = head[colon] as string;
      const split = text.indexOf(":");
      const name = makeText([...head.slice(0, colon), text.slice(0, split)]);
      user = name.known === "" ? undefined : name;
      password = makeText([text.slice(split + 1), ...head.slice(colon + 1)]);
    }
  }
  const { known } = makeText(tail);
  const match = known === undefined ? null : /^([^:/?]*)(?::(\d+))?/.exec(known);
  const arg = (text: string | undefined): Arg | undefined =>
    text === undefined || text === "" ? undefined : { ...uri, ...literal(text) };
  return { tls, user, password, host: arg(match?.[1]), port: arg(match?.[2]) };
}

function authOf(
  invocation: Invocation,
  values: ReadonlyMap<string, Arg>,
  uri: Uri | undefined,
  uriArg: Arg | undefined,
): RedisAuth | undefined {
  const argument = values.get("-a") ?? values.get("--pass");
  if (argument !== undefined) return { value: argument, source: "argument", arg: argument };
  if (uri?.password !== undefined) return { value: uri.password, source: "uri", arg: uriArg };
  const inline = invocation.environment.find(isAuthVariable);
  if (inline !== undefined) return { value: inline.value, source: "inline", arg: undefined };
  const exported = invocation.exported.get("REDISCLI_AUTH") ?? invocation.exported.get("VALKEYCLI_AUTH");
  if (exported !== undefined) return { value: exported, source: "exported", arg: undefined };
  return undefined;
}

export function isAuthVariable(fact: EnvironmentFact): boolean {
  return fact.name === "REDISCLI_AUTH" || fact.name === "VALKEYCLI_AUTH";
}

function sentCommands(
  invocation: Invocation,
  rest: readonly Arg[],
  mode: string | undefined,
  flags: ReadonlySet<string>,
  uncertain: boolean,
): { commands: readonly RedisCommand[] | undefined; input: RedisCall["input"] } {
  if (mode !== undefined) {
    const sends = Object.hasOwn(MODES, mode) ? MODES[mode]! : undefined;
    if (mode === "--version" || mode === "-v" || mode === "--help") return { commands: [], input: "mode" };
    return { commands: sends?.map((name) => [literal(name)]), input: "mode" };
  }
  if (rest.length > 0) {
    if (flags.has("-x") || flags.has("-X"))
      return { commands: [[...rest, makeText([{ kind: "other" }])]], input: "arguments" };
    // A word before the command that may be empty or several words hides where the command begins.
    return { commands: [rest], input: "arguments" };
  }
  const piped = invocation.pipedFrom !== undefined || invocation.redirects.some((redirect) => redirect.fd === 0);
  if (!piped) return { commands: uncertain ? undefined : [], input: "interactive" };
  const segments = inputOf(invocation);
  if (segments === undefined || segments.some((segment) => segment.kind === "file" || segment.edits.length > 0))
    return { commands: undefined, input: "stdin" };
  const commands: RedisCommand[] = [];
  for (const segment of segments) {
    if (segment.kind !== "lines") continue;
    for (const line of segment.lines) {
      const words = splitLine(line);
      if (words.length > 0) commands.push(words);
    }
  }
  return { commands, input: "stdin" };
}

/** A line of commands as words: blanks separate, quotes are taken off where nothing unknown is in them. */
function splitLine(line: Text): Text[] {
  const out: Text[] = [];
  let current: Text["pieces"][number][] = [];
  let any = false;
  let quote = "";
  for (const piece of line.pieces) {
    if (typeof piece !== "string") {
      current.push(piece);
      any = true;
      continue;
    }
    for (const c of piece) {
      if (quote !== "") {
        if (c === quote) quote = "";
        else current.push(c);
      } else if (c === '"' || c === "'") {
        quote = c;
        any = true;
      } else if (/\s/.test(c)) {
        if (any) out.push(makeText(current));
        current = [];
        any = false;
      } else {
        current.push(c);
        any = true;
      }
    }
  }
  if (any) out.push(makeText(current));
  return out;
}

/** Who looks at what commands print: the next in the pipeline, and tests of a substitution or variable that holds it. */
function consumersOf(program: ShellProgram, wanted: ReadonlySet<Invocation>): Map<Invocation, Consumer[]> {
  const out = new Map<Invocation, Consumer[]>();
  const add = (invocation: Invocation, consumer: Consumer): void => {
    push(out, invocation, consumer);
  };
  const reader = (invocation: Invocation): Consumer => {
    const grep = grepOf(invocation);
    return grep === undefined ? { kind: "other", invocation } : { kind: "grep", grep };
  };
  for (const invocation of wanted) {
    const seen = new Set<Invocation>([invocation]);
    for (let next = invocation.pipedTo; next !== undefined && !seen.has(next); next = next.pipedTo) {
      seen.add(next);
      add(invocation, reader(next));
    }
    // `… | { read -r reply; … }`: some command of the next part of the pipeline reads it
    for (const { flow, slot } of invocation.frames) {
      if (invocation.pipedTo !== undefined || flow.type !== "pipe" || slot + 1 >= flow.items.length) continue;
      const next = program.invocations.find((other) =>
        other.frames.some((frame) => frame.flow === flow && frame.slot === slot + 1),
      );
      if (next !== undefined) add(invocation, reader(next));
    }
  }
  // `case "$(…)" in`
  const choices = new Set<Flow>();
  for (const other of program.invocations) {
    for (const { flow } of other.frames) {
      if (flow.type !== "case" || choices.has(flow)) continue;
      choices.add(flow);
      for (const invocation of new Set(runsOf(flow.subject)))
        if (wanted.has(invocation)) add(invocation, { kind: "other", invocation: other });
    }
  }
  for (const other of program.invocations) {
    const from = new Set(other.command.flatMap(runsOf).filter((invocation) => wanted.has(invocation)));
    if (from.size === 0) continue;
    const test = testOf(other);
    // `[ "$out" = PONG ]`, or `echo "$out" | grep -q PONG`
    if (test !== undefined) for (const invocation of from) add(invocation, { kind: "test", test, invocation: other });
    else if (other.pipedTo !== undefined) for (const invocation of from) add(invocation, reader(other.pipedTo));
  }
  return out;
}
