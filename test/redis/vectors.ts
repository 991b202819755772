/** Recorded ACL and script cases: reading them and comparing the evaluator with what a server did. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { type CarriedCase, ERROR_END, type RecordedCase } from "../../src/dev/redis-tables.js";
import {
  type AclLoad,
  type AclUser,
  describeUser,
  dryRun,
  execute,
  type LoadOptions,
  load,
  scriptCall,
  serverMessage,
} from "../../src/model/redis/acl.js";
import { runScript } from "./lua-run.js";

const lines = (file: URL): string[] => {
  const raw = readFileSync(file);
  const text = file.pathname.endsWith(".gz") ? gunzipSync(raw) : raw;
  return text.toString("utf8").trim().split("\n");
};

/** `acl-vectors.jsonl` as it was recorded. */
export function recordedCases(file: URL): RecordedCase[] {
  return lines(file).map((line) => JSON.parse(line) as RecordedCase);
}

/** `acl-cases.jsonl.gz`, in the shape of the recordings (without the words of denials). */
export function carriedCases(file: URL): RecordedCase[] {
  const [head, ...rest] = lines(file);
  const { servers } = JSON.parse(head!) as { servers: string[] };
  return rest.flatMap((line) => {
    const { id, acl, raw, config, calls, seen } = JSON.parse(line) as CarriedCase;
    return seen.map((s): RecordedCase => {
      const row: RecordedCase = { id, servers: s.on.map((i) => servers[i]!), loads: s.users !== undefined };
      if (acl !== undefined) row.aclfile = acl;
      if (raw !== undefined) row.aclfileB64 = raw;
      if (config !== undefined) row.config = config;
      if (s.error !== undefined) row.error = s.error.replace(/…$/, ERROR_END);
      if (s.crash === 1) row.crash = true;
      if (s.users !== undefined) row.users = s.users;
      row.dryrun = calls.flatMap(([user, ...argv], i) => {
        const run = s.runs?.[i] ?? "-";
        return run === "-" ? [] : [{ user: user!, argv, allowed: run === "?" ? null : run === "1" }];
      });
      return row;
    });
  });
}

/** `redis-7.0.15-debian` → `redis-7.0-debian`. */
export function serverName(recorded: string): string {
  return recorded.replace(/^(\w+-\d+\.\d+)\.\d+/, "$1");
}

/** A file that is not UTF-8 keeps its bytes as lone surrogates. */
function fileText(row: RecordedCase): string {
  if (row.aclfileB64 === undefined) return row.aclfile ?? "";
  const bytes = Buffer.from(row.aclfileB64, "base64");
  const text = bytes.toString("utf8");
  if (Buffer.from(text, "utf8").equals(bytes)) return text;
  return [...bytes].map((b) => String.fromCharCode(b < 0x80 ? b : 0xdc00 | b)).join("");
}

/** Redis ≤ 7.0 prints the commands in the order of a hash table; flags are a set. */
function comparable(user: Record<string, unknown>, ordered: boolean): unknown {
  const copy: Record<string, unknown> = { ...user };
  if (Array.isArray(copy["flags"])) copy["flags"] = [...(copy["flags"] as string[])].sort();
  if (ordered) return copy;
  const words = (value: unknown): unknown => (typeof value === "string" ? value.split(" ").sort() : value);
  copy["commands"] = words(copy["commands"]);
  if (Array.isArray(copy["selectors"])) {
    const selectors = copy["selectors"] as Record<string, unknown>[];
    copy["selectors"] = selectors.map((s) => ({ ...s, commands: words(s["commands"]) }));
  }
  return copy;
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v: unknown) =>
    v !== null && typeof v === "object" && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  );

/** Differences between a case and the evaluator, for one of its servers. */
export function judge(row: RecordedCase, server: string): string[] {
  const options: LoadOptions = { server: serverName(server) };
  const pubsub = row.config?.["acl-pubsub-default"];
  const set = pubsub === "allchannels" || pubsub === "resetchannels";
  const result = load(fileText(row), set ? { ...options, pubsubDefault: pubsub } : options);
  const problems = verdict(row, result);
  if (!result.ok || !row.loads) return problems;
  const ordered = result.users.values().next().value!.behaviour.orderedRules;
  for (const [name, recorded] of Object.entries(row.users ?? {})) {
    const user = result.users.get(name);
    const own = user === undefined ? undefined : canonical(comparable({ ...describeUser(user) }, ordered));
    const theirs = canonical(comparable(recorded, ordered));
    if (own !== theirs) problems.push(`user ${name}: ${own} instead of ${theirs}`);
  }
  if (row.users !== undefined && row.crash !== true) {
    for (const name of result.users.keys()) if (!(name in row.users)) problems.push(`user ${name} is too many`);
  }
  for (const { user, argv, allowed, reason } of row.dryrun ?? []) {
    const run = dryRun(result.users.get(user)!, argv);
    const call = `${user}: ${argv.join(" ")}`;
    if (allowed === null) {
      // No ACL verdict. Redis 6 ran the call: an unknown subcommand passes ACL there and fails later.
      if (run.denied !== "call" && ordered)
        problems.push(`${call}: ${run.allowed} instead of ${reason ?? "no verdict"}`);
    } else if (run.allowed !== allowed) problems.push(`${call}: ${run.allowed} instead of ${allowed}`);
    else if (!allowed && reason !== undefined && run.reason !== reason) {
      problems.push(`${call}: "${run.reason}" instead of "${reason}"`);
    }
  }
  return problems;
}

function verdict(row: RecordedCase, result: AclLoad): string[] {
  if (result.ok !== row.loads) {
    const own = result.ok ? "loads" : serverMessage(result.errors, "<aclfile>");
    return [`${own} instead of ${row.loads ? "loading" : row.error}`];
  }
  if (result.ok) return [];
  const crashes = row.crash === true;
  if ((result.crash === true) !== crashes) return [`crash ${result.crash} instead of ${crashes}`];
  if (crashes) return [];
  const own = serverMessage(result.errors, "<aclfile>");
  return own === row.error ? [] : [`"${own}" instead of "${row.error}"`];
}

/**
 * Cases where the recording is no statement about ACLs. Kept in a file with the reason of each.
 */
export function exceptions(): Map<string, string> {
  const text = readFileSync(new URL("../data/acl-exceptions.json", import.meta.url), "utf8");
  const list = JSON.parse(text) as { server: string; id: string; reason: string }[];
  return new Map(list.map((e) => [`${e.server} ${e.id}`, e.reason]));
}

/** Runs `judge` over cases; gives the differences that no exception explains, and how many comparisons were made. */
export function judgeAll(rows: readonly RecordedCase[]): { problems: string[]; compared: number } {
  const known = exceptions();
  const problems: string[] = [];
  let compared = 0;
  for (const row of rows) {
    for (const server of row.servers) {
      if (known.has(`${server} ${row.id}`)) continue;
      compared += 1 + (row.dryrun?.length ?? 0);
      for (const problem of judge(row, server)) problems.push(`${server} ${row.id}: ${problem}`);
    }
  }
  return { problems, compared };
}

/** A recorded script case: a user, a script, and what each call replied. */
export interface ScriptCase {
  id: string;
  server: string;
  version: string;
  /** Rules of the user `u`, given by ACL SETUSER. */
  rules?: string;
  /** Or a whole ACL file. */
  acl?: string;
  setuserError?: string;
  script?: string;
  results?: { argv: string[]; reply?: unknown; error?: string }[];
}

export function scriptCases(file: URL): ScriptCase[] {
  return lines(file).map((line) => JSON.parse(line) as ScriptCase);
}

/** An error reply that says: not allowed. */
const DENIED =
  /NOPERM|NOAUTH|WRONGPASS|ACL failure|can't run this command|can't access at least one|insufficient ACL|not allowed from script|EXECABORT/;

/** Differences between a script case and the evaluator; undefined where nothing is said about what is allowed. */
export function judgeScript(row: ScriptCase): string[] | undefined {
  if (row.results === undefined && row.setuserError === undefined) return undefined;
  const text = row.acl ?? `user u ${row.rules}`;
  const result = load(text, { server: serverName(`${row.server}-${row.version}`) });
  if (row.setuserError !== undefined) return result.ok ? [`the rules load instead of ${row.setuserError}`] : [];
  if (!result.ok) return [serverMessage(result.errors, "rules")];
  const fallback = result.users.get("default")!;
  let user: AclUser | undefined =
    row.acl === undefined ? result.users.get("u") : fallback.enabled && fallback.nopass ? fallback : undefined;
  let queue: string[][] | undefined;
  let aborted = false;
  const problems: string[] = [];
  const one = (argv: string[]): boolean => {
    const verdict = execute(user!, argv);
    return (
      verdict.allowed &&
      runScript(
        argv,
        user!,
        (call) => scriptCall(user!, call),
        (call) => dryRun(user!, call).allowed,
      )
    );
  };
  for (const { argv, reply, error } of row.results ?? []) {
    const name = argv[0]!.toUpperCase();
    let allowed: boolean;
    if (name === "AUTH") {
      const candidate = result.users.get(argv.length > 2 ? argv[1]! : "default");
      allowed = candidate?.authenticates(argv.at(-1)!) === "yes";
      if (allowed) user = candidate;
    } else if (user === undefined) allowed = false;
    else if (name === "EXEC") {
      allowed = execute(user, argv).allowed && !aborted;
      const replies = Array.isArray(reply) ? (reply as unknown[]) : [];
      replies.forEach((r, i) => {
        const inner = (r as { error?: string } | null)?.error;
        if (one(queue![i]!) === DENIED.test(inner ?? ""))
          problems.push(`${queue![i]!.join(" ")} in MULTI: not ${inner ?? "allowed"}`);
      });
      queue = undefined;
    } else if (queue !== undefined) {
      allowed = execute(user, argv).allowed;
      if (allowed) queue.push(argv);
      else aborted = true;
    } else {
      allowed = one(argv);
      if (name === "MULTI" && allowed) queue = [];
    }
    const wanted = error === undefined || !DENIED.test(error);
    if (allowed !== wanted) problems.push(`${argv.join(" ")}: ${allowed} instead of ${error ?? JSON.stringify(reply)}`);
  }
  return problems;
}
