/** Calls of redis-cli, starts of servers, and secrets on command lines. */
import { type Grep, grepOf, type Test, testOf } from "./conditions.js";
import { inputOf } from "./edits.js";
import type { Arg, EnvironmentFact, Invocation, ShellProgram } from "./program.js";
import { baseName, literal, makeText, runsOf, type Text, variablesOf } from "./text.js";
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

const CLIENT = /^(?:redis|valkey|keydb)-cli$/;
const SERVER = /^(?:redis|valkey|keydb)-(server|sentinel)$/;

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

/** All client calls of a program, with who looks at their output. */
export function redisCallsOf(program: ShellProgram): RedisCall[] {
  const calls = program.invocations.flatMap(redisCalls);
  if (calls.length === 0) return calls;
  const consumers = consumersOf(program, new Set(calls.map((call) => call.invocation)));
  return calls.map((call) => ({ ...call, consumers: consumers.get(call.invocation) ?? [] }));
}

/** The command of an invocation and the command that it has another machine or container run. */
function commandsOf(invocation: Invocation): (readonly Arg[])[] {
  const remote = remoteCommand(invocation.command);
  return remote === undefined ? [invocation.command] : [invocation.command, remote];
}

function isOpen(arg: Arg): boolean {
  return arg.pieces.some((piece) => typeof piece !== "string" && (piece.split === true || piece.kind === "arguments"));
}

function readCall(invocation: Invocation, words: readonly Arg[]): RedisCall {
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

function isAuthVariable(fact: EnvironmentFact): boolean {
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
    const list = out.get(invocation);
    if (list === undefined) out.set(invocation, [consumer]);
    else list.push(consumer);
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

// ---- servers

export interface ServerOverride {
  /** Directive, in lower case, without its dashes. */
  readonly name: string;
  readonly values: readonly Arg[];
  readonly arg: Arg;
}

/** A start of a server, with what its command line says. */
export interface ServerStart {
  readonly invocation: Invocation;
  readonly mode: "server" | "sentinel";
  /** The configuration file; undefined: none is given. */
  readonly config: Arg | undefined;
  /** Directives on the command line; they override the file. https://redis.io/docs/latest/operate/oss_and_stack/management/config/ */
  readonly overrides: readonly ServerOverride[];
  /** Words that are not known stand on the command line. */
  readonly uncertain: boolean;
}

/**
 * The server that an invocation starts. Without a program name (`args: ["--port", "0"]`) the official images' entrypoint
 * puts `redis-server` before options and `*.conf` files. https://github.com/redis/docker-library-redis
 */
export function serverStart(invocation: Invocation, imagePrefix = false): ServerStart | undefined {
  let { command } = invocation;
  const name = invocation.name ?? "";
  let mode: ServerStart["mode"];
  const match = SERVER.exec(name);
  if (match !== null) {
    mode = match[1] as ServerStart["mode"];
    command = command.slice(1);
  } else {
    const behindEntrypoint = invocation.wrappers.some((wrapper) => /entrypoint\.sh$/.test(wrapper.name));
    if (!(imagePrefix || behindEntrypoint) || !(name.startsWith("-") || name.endsWith(".conf"))) return undefined;
    mode = "server";
  }
  let config: Arg | undefined;
  let at = 0;
  let uncertain = false;
  const first = command[0];
  if (first !== undefined && first.known === undefined && isOpen(first)) uncertain = true;
  else if (first !== undefined && !(first.known ?? "x").startsWith("-")) {
    config = first;
    at = 1;
  } else if (first?.known === "-") at = 1;
  const overrides: { name: string; values: Arg[]; arg: Arg }[] = [];
  for (const arg of command.slice(at)) {
    const word = arg.known;
    if (word === undefined && isOpen(arg)) uncertain = true;
    const start = typeof arg.pieces[0] === "string" ? arg.pieces[0] : "";
    if (start.startsWith("--") && start.length > 2) {
      // A value may stand in the same word: `"--port 0"`.
      const [head, ...values] = (word ?? start).slice(2).split(/\s+/);
      if (head === "sentinel" && values.length === 0) {
        mode = "sentinel";
        overrides.push({ name: "sentinel", values: [], arg });
        continue;
      }
      overrides.push({
        name: head!.toLowerCase(),
        values: values.filter((value) => value !== "").map((value) => ({ ...arg, ...literal(value) })),
        arg,
      });
    } else overrides[overrides.length - 1]?.values.push(arg);
  }
  // `--sentinel monitor …` is a directive, `--sentinel` alone the mode.
  const directives = overrides.filter((override) => !(override.name === "sentinel" && override.values.length === 0));
  return { invocation, mode, config, overrides: directives, uncertain };
}

export function serverStarts(program: ShellProgram, imagePrefix = false): ServerStart[] {
  return program.invocations.flatMap((invocation) => serverStart(invocation, imagePrefix) ?? []);
}

// ---- secrets

/** A secret that everybody who lists processes can read. */
export interface ExposedSecret {
  /**
   * `option`: an option or operand that is a secret by its meaning; `inline`: `REDISCLI_AUTH=literal` written in the
   * command; `argument`: a variable whose name says that it is a secret, in an argument of another program.
   */
  readonly form: "option" | "inline" | "argument";
  /** `-a`, `--requirepass`, `AUTH`, `REDISCLI_AUTH`, … */
  readonly what: string;
  readonly value: Text;
  readonly arg: Arg | EnvironmentFact;
  readonly invocation: Invocation;
}

const SERVER_SECRETS = new Set([
  "requirepass",
  "masterauth",
  "primaryauth",
  "tls-key-file-pass",
  "tls-client-key-file-pass",
]);
const SECRET_OPTION =
  /^--?(?:[a-z0-9.-]*[.-])?(?:password|passwd|pass|token|secret|requirepass|masterauth|auth-token|api-key|redis\.password)$/i;
const SECRET_NAME =
  /(?:^|_)(?:PASS|PASSWORD|PASSWD|PASSPHRASE|AUTH|TOKEN|SECRET|PW|APIKEY|CREDENTIALS?)(?:_|$)|PASSWORD|SECRET|TOKEN/i;
const NOT_SECRET =
  /(?:_|^)(?:FILE|PATH|DIR|NAME|USER|USERNAME|ENABLED|ENABLE|TYPE|MODE|METHOD|KEYNAME|HOST|PORT|CLIENTS|LENGTH|LEN|TTL|EXPIRY)$/i;
/** Builtins of the shells: no process, no argument list. */
const BUILTINS = new Set(
  "echo printf [ [[ (( test : true false export local readonly declare typeset read set unset eval shift trap exit return cd umask alias let getopts case".split(
    " ",
  ),
);

/** Whether a variable's name says that it holds a secret (and not its file, user or length). */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !NOT_SECRET.test(name);
}

/**
 * Secrets on the command line of an invocation, in any form: a literal, `$VAR` and `$(VAR)` alike. `-a` counts after
 * redis-cli only. The command of another machine (`kubectl exec … -- redis-cli -a x`) counts too.
 */
export function exposedSecrets(
  invocation: Invocation,
  isSecret: (name: string) => boolean = isSecretName,
): ExposedSecret[] {
  const out: ExposedSecret[] = [];
  const add: Add = (form, what, value, arg) => {
    if (value.known === "" || out.some((other) => other.arg.place === arg.place)) return;
    out.push({ form, what, value, arg, invocation });
  };
  for (const fact of invocation.environment) {
    if (!isAuthVariable(fact) && !isSecret(fact.name)) continue;
    // An assignment before a command is no argument, unless `env` makes it; a literal stands in the script that `sh -c` shows.
    if (fact.value.known !== undefined || invocation.words.some((word) => word.place === fact.place))
      add("inline", fact.name, fact.value, fact);
  }
  for (const words of commandsOf(invocation)) {
    const name = words[0]?.known === undefined ? undefined : baseName(words[0].known);
    if (name === undefined || BUILTINS.has(name)) continue;
    if (CLIENT.test(name)) clientSecrets(invocation, words, add);
    else if (SERVER.test(name) || name.startsWith("--") || name.endsWith(".conf")) serverSecrets(words, name, add);
    else if (name === "curl") curlSecrets(words, add);
    optionSecrets(words, name, add);
    // The script of `sh -c` is judged by its own commands.
    if (invocation.nested === "shell") continue;
    for (const arg of words.slice(1)) {
      const secret = variablesOf(arg).find(isSecret);
      if (secret !== undefined) add("argument", secret, arg, arg);
    }
  }
  // What the kubelet puts into a script is an argument of `sh -c`, whatever the script does with it.
  if (invocation.nested === "shell") return out;
  for (const fact of [...invocation.words, ...invocation.environment, ...invocation.assigns]) {
    const text = "value" in fact ? fact.value : fact;
    const hole = text.pieces.find(
      (piece) => typeof piece !== "string" && piece.kubelet === true && isSecret(piece.name ?? ""),
    );
    if (hole !== undefined && typeof hole !== "string") add("argument", hole.name!, text, fact);
  }
  return out;
}

type Add = (form: ExposedSecret["form"], what: string, value: Text, arg: Arg | EnvironmentFact) => void;

function clientSecrets(invocation: Invocation, words: readonly Arg[], add: Add): void {
  const call = readCall(invocation, words);
  if (call.auth?.arg !== undefined)
    add("option", call.auth.source === "uri" ? "-u" : "-a", call.auth.value, call.auth.arg);
  for (let i = 1; i + 1 < words.length; i++) {
    if (words[i]!.known === "--cluster-from-pass" || words[i]!.known === "--pass" || words[i]!.known === "-a")
      add("option", words[i]!.known!, words[i + 1]!, words[i + 1]!);
  }
  // From arguments only: what stands in a here-document or comes through a pipe is on no command line.
  if (call.input !== "arguments") return;
  for (const command of call.commands ?? []) {
    const upper = command.slice(0, 3).map((word) => word.known?.toUpperCase());
    const last = command[command.length - 1] as Arg;
    if (upper[0] === "AUTH" && command.length > 1) add("option", "AUTH", last, last);
    if (
      upper[0] === "CONFIG" &&
      upper[1] === "SET" &&
      SERVER_SECRETS.has(command[2]?.known?.toLowerCase() ?? "") &&
      command[3] !== undefined
    )
      add("option", `CONFIG SET ${command[2]!.known}`, command[3], command[3] as Arg);
    if (
      upper[0] === "SENTINEL" &&
      upper[1] === "SET" &&
      command.some((word) => word.known?.toLowerCase() === "auth-pass")
    )
      add("option", "SENTINEL SET auth-pass", last, last);
    if (upper[0] === "ACL" && upper[1] === "SETUSER") {
      for (const rule of command.slice(3)) {
        const first = rule.pieces[0];
        if (typeof first === "string" && /^[><]./.test(first + (rule.known === undefined ? "x" : "")))
          add("option", "ACL SETUSER", rule, rule as Arg);
      }
    }
    if (upper[0] === "HELLO") {
      const at = command.findIndex((word) => word.known?.toUpperCase() === "AUTH");
      if (at > 0 && command[at + 2] !== undefined)
        add("option", "HELLO AUTH", command[at + 2]!, command[at + 2] as Arg);
    }
    if (upper[0] === "MIGRATE") {
      const at = command.findIndex((word) => /^AUTH2?$/i.test(word.known ?? ""));
      const secret = command[at + (command[at]?.known?.toUpperCase() === "AUTH2" ? 2 : 1)];
      if (at > 0 && secret !== undefined) add("option", "MIGRATE AUTH", secret, secret as Arg);
    }
  }
}

function serverSecrets(words: readonly Arg[], name: string, add: Add): void {
  const args = SERVER.test(name) ? words.slice(1) : words;
  let directive = "";
  const values: Arg[] = [];
  const flush = (): void => {
    const last = values[values.length - 1];
    if (last === undefined) return;
    if (SERVER_SECRETS.has(directive)) add("option", `--${directive}`, last, last);
    if (directive === "sentinel" && /^(?:auth-pass|sentinel-pass)$/.test(values[0]?.known ?? ""))
      add("option", `--sentinel ${values[0]!.known}`, last, last);
    if (directive === "user")
      for (const value of values)
        if (typeof value.pieces[0] === "string" && value.pieces[0].startsWith(">"))
          add("option", "--user", value, value);
  };
  for (const arg of args) {
    const start = typeof arg.pieces[0] === "string" ? arg.pieces[0] : "";
    if (start.startsWith("--")) {
      flush();
      values.length = 0;
      const head = start.slice(2).split(/[\s=]/)[0]!;
      directive = head.toLowerCase();
      const rest = makeText([start.slice(2 + head.length).replace(/^[\s=]+/, ""), ...arg.pieces.slice(1)]);
      if (rest.known !== "" && SERVER_SECRETS.has(directive)) add("option", `--${directive}`, rest, arg);
    } else values.push(arg);
  }
  flush();
}

function curlSecrets(words: readonly Arg[], add: Add): void {
  for (let i = 1; i + 1 < words.length; i++) {
    const word = words[i]!.known;
    const value = words[i + 1]!;
    if (word === "-u" || word === "--user" || word === "--proxy-user") {
      if (value.known === undefined || value.known.includes(":")) add("option", word, value, value);
    }
    if (word === "-H" || word === "--header") {
      const first = value.pieces[0];
      if (typeof first === "string" && /^(?:proxy-)?authorization\s*:|^x-[a-z-]*(?:token|key)\s*:/i.test(first))
        add("option", word, value, value);
    }
  }
}

function optionSecrets(words: readonly Arg[], name: string, add: Add): void {
  for (let i = 1; i < words.length; i++) {
    const arg = words[i]!;
    const first = arg.pieces[0];
    if (typeof first !== "string" || !first.startsWith("-")) continue;
    const equals = first.indexOf("=");
    const option = equals < 0 ? first : first.slice(0, equals);
    if (option === "--from-literal" && isSecretName(/^[^=]*/.exec(first.slice(equals + 1))?.[0] ?? ""))
      add("option", option, arg, arg);
    if (!option.startsWith("--") && !/^-[a-z]{2,}/.test(option)) continue;
    if (!SECRET_OPTION.test(option) || /^--no-|-file$/i.test(option)) continue;
    if (equals >= 0) add("option", option, makeText([first.slice(equals + 1), ...arg.pieces.slice(1)]), arg);
    else if (arg.known !== undefined && words[i + 1] !== undefined && !(words[i + 1]!.known ?? "").startsWith("-")) {
      if (name === "grep" || name === "egrep") continue;
      add("option", option, words[i + 1]!, words[i + 1]!);
    }
  }
}
