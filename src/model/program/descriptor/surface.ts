/**
 * Code outside the Redis module that names what only the module should: a client library, a raw command, a raw key, an
 * executor of any script. The module is declared by its boundaries, as ArchUnit (`com.acme.redis..`) and dependency-cruiser
 * (paths) do.
 */
import type { Code, CodeFile, CodeNode } from "../../../document/code.js";
import type { Source, Span } from "../../../text/source.js";
import { calleeName, firstWords, walkFile } from "./walk.js";

export interface Leak {
  readonly kind: "import" | "command" | "key" | "executor";
  readonly what: string;
  readonly at: Span;
}

const JS_CLIENTS =
  /^(?:ioredis|iovalkey|redis|@redis\/.+|handy-redis|tedis|redis-clustr|@upstash\/redis|@valkey\/.+|redlock|node-redis-.+)$/;
const JAVA_CLIENTS =
  /^(?:io\.lettuce|redis\.clients\.jedis|org\.springframework\.data\.redis|org\.redisson|io\.valkey|glide|io\.vertx\.(?:mutiny\.)?redis(?:\.client)?|io\.quarkus\.redis)(?:\.|$)/;
/** Names that say what went wrong, not what to do. */
const HARMLESS = /(?:Exception|Error)$/;
/** What a variable, field or class that is a client goes by, in lower case. */
const CLIENT =
  /^(?:io)?(?:redis|valkey|jedis|lettuce|redisson)(?:client|connection|conn|commands|asynccommands|template|pool|cluster|pooled)?$|(?:redistemplate|redisclient|redisconnection|jedispooled|rediscommands|valkeyclient)$/;
const EXECUTORS =
  /^(?:eval(?:_?sha)?(?:_?ro|readonly)?|script_?load|definecommand|definescript|defaultredisscript|rediscallback|sessioncallback)$/i;
const GENERIC = /^(?:sendCommand|call|callBuffer|executeCommand|dispatch|executeScript)$/;

/** What keys of these patterns begin with, where that tells them from other texts: `app:{` of `app:{tenant}:*`. */
export function keyBeginnings(patterns: readonly string[]): string[] {
  const out = new Set<string>();
  for (const p of patterns) {
    const end = p.search(/[{*]/);
    const literal = end < 0 ? p : p.slice(0, p[end] === "{" ? end + 1 : end);
    if (literal.length >= 4 && /[:{]/.test(literal)) out.add(literal);
  }
  return [...out];
}

/** `keys`: literal beginnings of keys that belong to programs. `isCommand`: whether a lower-case name is one of Redis. */
export function leaks(
  source: Source,
  file: CodeFile,
  keys: readonly string[],
  isCommand: (name: string) => boolean,
): Leak[] {
  const out: Leak[] = [];
  const add = (kind: Leak["kind"], what: string, at: { readonly start: number; readonly end: number }): void => {
    out.push({ kind, what, at: source.span(at.start, at.end) });
  };
  for (const s of file.body) {
    if (s.type !== "import" || s.typeOnly === true) continue;
    const isClient = file.language === "java" ? JAVA_CLIENTS.test(s.from) : JS_CLIENTS.test(s.from);
    if (!isClient || (s.names.length > 0 && s.names.every((n) => HARMLESS.test(n.name)))) continue;
    const name = file.language === "java" ? [s.from, ...s.names.map((n) => n.name)].join(".") : s.from;
    add("import", name, s);
  }
  const inner = new Set<Code>();
  walkFile(source, file, (code) => {
    if (code.type === "call" || code.type === "new") {
      const found = callOf(code, isCommand);
      if (found !== undefined) add(found.kind, found.what, found.at);
      if (code.type === "call" && /^(?:require|import)$/.test(calleeName(code)) && code.args[0]?.type === "string") {
        if (JS_CLIENTS.test(code.args[0].value)) add("import", code.args[0].value, code);
      }
    }
    // a sum of strings is one text: its head decides
    if (code.type === "binary" && code.op === "+") for (const o of code.operands.slice(1)) inner.add(o);
    const text =
      code.type === "string"
        ? code.value
        : code.type === "template" && typeof code.parts[0] === "string"
          ? code.parts[0]
          : undefined;
    if (text !== undefined && !inner.has(code)) {
      const key = keys.find((k) => text.startsWith(k));
      if (key !== undefined) add("key", `${key}…`, code);
    }
  });
  return out;
}

function callOf(
  code: CodeNode<"call"> | CodeNode<"new">,
  isCommand: (name: string) => boolean,
): { kind: "command" | "executor"; what: string; at: { start: number; end: number } } | undefined {
  const { callee } = code;
  const name = calleeName(code);
  const at = callee.type === "member" ? { start: callee.end - name.length, end: callee.end } : callee;
  if (code.type === "new") return EXECUTORS.test(name) ? { kind: "executor", what: `new ${name}`, at } : undefined;
  if (callee.type === "name")
    return /^define(?:Command|Script)$/.test(name) ? { kind: "executor", what: name, at } : undefined;
  if (callee.type !== "member") return undefined;
  const owner = lastName(callee.object);
  if (owner === "RedisScript" && name === "of") return { kind: "executor", what: "RedisScript.of", at };
  // `x.eval(text, 1, …)`, `x.call("DEL", …)`: only a client takes these words
  const [first] = firstWords(code);
  if (/^eval(?:_?ro)?$/i.test(name) && code.args[1]?.type === "number") return { kind: "executor", what: name, at };
  const sent = code.args[0]?.type === "list" ? code.args[0].items[0] : code.args[0];
  if (
    GENERIC.test(name) &&
    sent?.type === "string" &&
    /^[A-Z]{3,}$/.test(sent.value) &&
    isCommand(sent.value.toLowerCase())
  )
    return { kind: "executor", what: `${name} ${first}`, at };
  const ofClient = owner !== undefined && CLIENT.test(owner.toLowerCase());
  if (EXECUTORS.test(name) && (ofClient || !/^eval$/i.test(name))) return { kind: "executor", what: name, at };
  if (!ofClient) return undefined;
  if (GENERIC.test(name) || (name === "execute" && code.args.length > 0)) {
    return { kind: "executor", what: firstWords(code)[0] === undefined ? name : `${name} ${firstWords(code)[0]}`, at };
  }
  if (/^opsFor[A-Z]/.test(name)) return { kind: "command", what: name, at };
  return isCommand(name.toLowerCase()) ? { kind: "command", what: name.toUpperCase(), at } : undefined;
}

/** `redis` of `this.redis`, `getRedis()`, `deps.redis.client`: what the object is called. */
function lastName(code: Code): string | undefined {
  if (code.type === "name" || code.type === "member") return code.name;
  if (code.type === "call") {
    const name = calleeName(code);
    const bare = /^(?:get|use|create)([A-Z]\w*)$/.exec(name)?.[1];
    if (bare !== undefined) return bare;
    // `redis.sync().get(…)`, `redis.multi().set(…)`
    return code.callee.type === "member" && /^(?:sync|async|reactive|multi|pipeline|duplicate|getResource)$/.test(name)
      ? lastName(code.callee.object)
      : undefined;
  }
  return code.type === "await" ? lastName(code.value) : undefined;
}

/** Whether a file belongs to the module: by a path or glob, or by a Java package (`com.acme.redis`, `com.acme.redis..`, `..redis..`). */
export function inModule(file: string, code: CodeFile, boundaries: readonly string[]): boolean {
  return boundaries.some((b) => {
    const isPackage = code.language === "java" && !b.includes("/") && !/\.java$/.test(b);
    return isPackage ? inPackage(code.package, b) : onPath(file, b);
  });
}

function inPackage(name: string, boundary: string): boolean {
  if (!boundary.includes("..") && !boundary.includes("*")) return name === boundary || name.startsWith(`${boundary}.`);
  const pattern = boundary
    .replace(/\.\./g, ".**.")
    .split(".")
    .filter((p) => p !== "");
  return matches(name.split("."), pattern);
}

function onPath(file: string, boundary: string): boolean {
  const pattern = boundary
    .replace(/^\.\//, "")
    .split("/")
    .filter((p) => p !== "");
  // a folder means what is in it
  return matches(file.split("/"), pattern) || matches(file.split("/"), [...pattern, "**"]);
}

/** Segments against a pattern with `*` in segments and `**` for any number of them. */
function matches(segments: readonly string[], pattern: readonly string[]): boolean {
  let reached = new Set([0]);
  for (const p of pattern) {
    const next = new Set<number>();
    for (const i of reached) {
      if (p === "**") for (let j = i; j <= segments.length; j++) next.add(j);
      else if (i < segments.length && wild(segments[i]!, p)) next.add(i + 1);
    }
    reached = next;
  }
  return reached.has(segments.length);
}

function wild(text: string, pattern: string): boolean {
  const parts = pattern.split("*");
  if (parts.length === 1) return text === pattern;
  const [first, last] = [parts[0]!, parts.at(-1)!];
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}
