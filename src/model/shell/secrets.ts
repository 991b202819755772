/** Secrets on command lines. */
import type { Arg, EnvironmentFact, Invocation } from "./program.js";
import { CLIENT, commandsOf, isAuthVariable, readCall } from "./redis.js";
import { SERVER } from "./servers.js";
import { baseName, makeText, type Text, variablesOf } from "./text.js";

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
      const secret = secretIn(arg, isSecret);
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

/** Programs that print what they are given, more or less. */
const FILTERS = new Set("echo printf cat sed tr cut awk head tail base64 tee".split(" "));

/** The secret in a text: a variable, a file that is called so, or one of them through filters (`$(echo "$PW" | sed …)`). */
function secretIn(text: Text, isSecret: (name: string) => boolean, depth = 0): string | undefined {
  const variable = variablesOf(text).find(isSecret);
  if (variable !== undefined || depth > 4) return variable;
  for (const piece of text.pieces) {
    if (typeof piece === "string") continue;
    const file = piece.file?.known;
    if (file !== undefined && /(?:^|[._-])(?:password|passwd|token|secret)$/i.test(baseName(file))) return file;
    for (const option of piece.options ?? []) {
      const found = secretIn(option, isSecret, depth + 1);
      if (found !== undefined) return found;
    }
    const runs = piece.runs ?? [];
    if (!runs.every((run) => run.name !== undefined && FILTERS.has(run.name))) continue;
    for (const run of runs) {
      for (const arg of run.command.slice(1)) {
        const found = secretIn(arg, isSecret, depth + 1);
        if (found !== undefined) return found;
      }
    }
  }
  return undefined;
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
