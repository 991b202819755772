/**
 * Calls that run a script: `redis.eval(TEXT, 2, …)`, `jedis.evalsha(sha, keys, args)`, `client.eval(TEXT, { keys, arguments })`,
 * `template.execute(script, keys, …)`: which program each one runs, and how many KEYS and ARGV it passes. What the files do not
 * decide is left out.
 */

import { bytesOf } from "../../../text/bytes.js";
import type { Span } from "../../../text/source.js";
import type { ContractPrograms, Program, ProgramSet } from "../programs.js";
import { sha1 } from "../sha1.js";
import type { Called } from "./evaluate.js";
import { samePath } from "./spelling.js";
import { stringOf, type Value } from "./value.js";

export interface CallSite {
  readonly program: Program;
  /** As the code writes it: `evalsha`. */
  readonly name: string;
  readonly keys: number;
  readonly keysAt: Span;
  /** undefined: not decided by the files. */
  readonly argv: number | undefined;
  readonly argvAt: Span;
}

const SENDS = /^eval(?:sha)?(?:_?ro|readonly)?$/i;
const RAW = /^(?:call|sendCommand|executeCommand|dispatch|send_command)$/;
const MAX_DEPTH = 4;

/** The calls that the files of a set make of its programs, each place once, in the order of the text. */
export function callSites(set: ProgramSet, programs: ContractPrograms): readonly CallSite[] {
  const out: CallSite[] = [];
  const seen = new Set<string>();
  for (const call of programs.code(set.source)?.calls ?? []) {
    const place = `${call.module.source.file}:${call.code.start}`;
    if (seen.has(place)) continue;
    const site = siteOf(call, set.programs);
    if (site === undefined) continue;
    seen.add(place);
    out.push(site);
  }
  return out;
}

function siteOf(call: Called, programs: readonly Program[]): CallSite | undefined {
  const { name, code } = call;
  let args = call.args;
  // `call("EVALSHA", sha, 1, …)`
  const word = RAW.test(name) ? stringOf(args[0]) : undefined;
  if (word !== undefined && SENDS.test(word)) args = args.slice(1);
  else if (!SENDS.test(name) && name !== "execute") return undefined;
  const skipped = call.args.length - args.length;
  const spread = code.args.slice(skipped).some((a) => a.type === "spread");
  const [script, second, third, ...more] = args;
  if (script === undefined || second === undefined) return undefined;
  const program = programOf(script, programs);
  if (program === undefined) return undefined;
  const at = (v: Value): Span => v.at.module.source.span(v.at.start, v.at.end);
  const whole = call.module.source.span(code.start, code.end);
  const site = (keys: number, keysAt: Span, argv: number | undefined, argvAt: Span = whole): CallSite => ({
    program,
    name: word ?? name,
    keys,
    keysAt,
    argv,
    argvAt,
  });
  const rest = third === undefined ? [] : [third, ...more];
  if (second.data.kind === "number" && name !== "execute") {
    const n = second.data.value;
    if (!Number.isInteger(n) || n < 0) return undefined;
    if (spread) return site(n, at(second), undefined);
    const all = flat(rest);
    // keys that are not known are one word each: what follows them is counted
    const single = rest.slice(0, n).every((k) => k.data.kind !== "list");
    const argv = all === undefined ? (single && rest.length > n ? flat(rest.slice(n)) : undefined) : all - n;
    return site(n, at(second), argv === undefined || argv < 0 ? undefined : argv);
  }
  if (second.data.kind === "record") {
    const { fields, open } = second.data;
    const keys = countOf(fields.get("keys")?.value);
    if (keys === undefined) return undefined;
    const given = fields.get("arguments")?.value;
    const argv = given === undefined ? (open ? undefined : 0) : countOf(given);
    return site(keys, at(fields.get("keys")!.value), argv, given === undefined ? at(second) : at(given));
  }
  // Lettuce says what the script answers before its keys
  if (second.data.kind === "symbol" && second.data.owner === "ScriptOutputType" && third !== undefined) {
    const keys = countOf(third);
    return keys === undefined ? undefined : site(keys, at(third), spread ? undefined : flat(more));
  }
  const keys = countOf(second);
  if (keys === undefined) return undefined;
  const argv = third !== undefined && more.length === 0 && third.data.kind === "list" ? countOf(third) : flat(rest);
  return site(keys, at(second), spread ? undefined : argv, third === undefined ? whole : at(third));
}

/** How many elements a list has; undefined: not known, or no list. */
function countOf(value: Value | undefined): number | undefined {
  return value?.data.kind === "list" && !value.data.open ? value.data.items.length : undefined;
}

/** How many words some arguments are; lists count as their elements. A value that is not known may be a list. */
function flat(args: readonly Value[]): number | undefined {
  let n = 0;
  for (const a of args) {
    if (a.data.kind === "string" || a.data.kind === "number" || a.data.kind === "boolean") n++;
    else {
      const inner = countOf(a);
      if (inner === undefined) return undefined;
      n += inner;
    }
  }
  return n;
}

/** The program whose digest, text or file a value is, or holds. */
function programOf(value: Value, programs: readonly Program[]): Program | undefined {
  const words: string[] = [];
  collect(value, words, 0, new Set());
  for (const word of words) {
    const digest = /^[0-9a-f]{40}$/i.test(word) ? word.toLowerCase() : undefined;
    const isFile = digest === undefined && /^\S+\.lua$/.test(word);
    const text = digest === undefined && !isFile && word.length > 20 ? sha1(bytesOf(word)) : undefined;
    const found = programs.filter(
      ({ entry, script, file }) =>
        [digest, text].some(
          (d) => d !== undefined && (entry?.sha1?.value.toLowerCase() === d || script?.digests.sha1 === d),
        ) ||
        (isFile && file !== undefined && samePath(file.value, word)),
    );
    if (found.length === 1) return found[0];
  }
  return undefined;
}

function collect(value: Value, out: string[], depth: number, seen: Set<unknown>): void {
  const { data } = value;
  if (depth > MAX_DEPTH || out.length > 40 || seen.has(data)) return;
  if (data.kind === "string") out.push(data.value);
  else if (data.kind === "file") out.push(data.path);
  else if (data.kind === "record") {
    seen.add(data);
    for (const f of data.fields.values()) collect(f.value, out, depth + 1, seen);
    for (const a of data.args) collect(a, out, depth + 1, seen);
    for (const c of data.calls) for (const a of c.args) collect(a, out, depth + 1, seen);
  }
}
