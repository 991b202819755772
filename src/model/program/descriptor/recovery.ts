/**
 * Whether calls of EVALSHA recover from NOSCRIPT. Script caches are neither replicated nor kept over a restart: after a
 * failover every EVALSHA answers NOSCRIPT until somebody sends the text again.
 */
import type { Code, CodeFile, CodeNode, CodeStatement } from "../../../document/code.js";
import type { Source, Span } from "../../../text/source.js";
import { push } from "../../multimap.js";
import { type CodeFunction, type Context, calleeName, firstWords, walkFile } from "./walk.js";

export interface EvalshaCall {
  readonly at: Span;
  readonly verdict: "recovers" | "missing" | "unawaited" | "unbounded";
  /** What tries again without bound. */
  readonly by: Span | undefined;
}

interface Found {
  readonly code: CodeNode<"call">;
  readonly context: Context;
  readonly source: Source;
  readonly language: CodeFile["language"];
}

const MAX_CALLERS = 6;

export function evalshaCalls(files: readonly { readonly source: Source; readonly code: CodeFile }[]): EvalshaCall[] {
  const functions = new Map<string, CodeFunction[]>();
  const found: Found[] = [];
  const calls = new Map<string, Found[]>();
  for (const { source, code: file } of files) {
    const all = walkFile(source, file, (code, context) => {
      if (code.type !== "call") return;
      const call: Found = { code, context, source, language: file.language };
      if (isEvalsha(code)) found.push(call);
      const name = calleeName(code);
      push(calls, name, call);
    });
    for (const f of all) {
      if (f.name === "") continue;
      push(functions, f.name, f);
    }
  }
  const world: World = { functions, calls, reloading: new Map() };
  return found.filter((f) => !isOwn(f, functions) && !isQueued(f)).map((f) => judge(f, world, 0));
}

interface World {
  readonly functions: ReadonlyMap<string, readonly CodeFunction[]>;
  readonly calls: ReadonlyMap<string, readonly Found[]>;
  readonly reloading: Map<readonly CodeStatement[], boolean>;
}

function isEvalsha(code: CodeNode<"call">): boolean {
  if (code.callee.type !== "member" && code.callee.type !== "name") return false;
  if (/^evalsha(?:_?ro|readonly)?$/i.test(code.callee.name)) return code.args.length > 0;
  return (
    /^(?:call|sendCommand|executeCommand|execute|dispatch|command|send)$/.test(code.callee.name) &&
    /^EVALSHA/.test(firstWords(code)[0] ?? "")
  );
}

/** A call of the team's own function of that name, which is judged where it calls the client. */
function isOwn({ code }: Found, functions: ReadonlyMap<string, readonly CodeFunction[]>): boolean {
  const { callee } = code;
  return (
    functions.has(calleeName(code)) &&
    (callee.type === "name" || (callee.type === "member" && callee.object.type === "this"))
  );
}

/** A call that is sent with others later: its answer comes there, and here nobody can catch it. */
function isQueued({ code, context, language }: Found): boolean {
  if (language === "typescript" && context.dropped && context.calls.length === 0) return true;
  let object = code.callee.type === "member" ? code.callee.object : undefined;
  for (let i = 0; i < 50 && object?.type === "call" && object.callee.type === "member"; i++) {
    if (/^(?:multi|pipeline|pipelined|batch)$/i.test(object.callee.name)) return true;
    object = object.callee.object;
  }
  return (
    (object?.type === "name" || object?.type === "member") &&
    /(?:multi|pipeline|transaction|batch|^tx|^pipe)$/i.test(object.name)
  );
}

function judge({ code, context, source, language }: Found, world: World, depth: number): EvalshaCall {
  const { callee } = code;
  const name = calleeName(code);
  const at =
    callee.type === "member"
      ? source.span(callee.end - name.length, callee.end)
      : source.span(callee.start, callee.end);
  const result = (verdict: EvalshaCall["verdict"], by?: Span): EvalshaCall => ({ at, verdict, by });

  // the second try: its handler has loaded the script
  if (context.handlers.some((h) => reloads(h, world, 0))) return result("recovers");
  // callbacks: of the call itself, `.catch(…)`, `.onErrorResume(…)`, `.then(…, …)`
  for (const c of [code, ...context.calls]) {
    const isAround = c === code || (c.type === "call" && c.callee.type === "member");
    for (const a of isAround ? c.args : []) {
      if (
        (a.type === "function" && !asksOther(a.body) && reloads(a.body, world, 0)) ||
        (a.type !== "function" && isReloader(a, world))
      ) {
        const again = a.type === "function" ? selfCall(a.body, context.function) : undefined;
        return again === undefined ? result("recovers") : result("unbounded", source.span(again.start, again.end));
      }
    }
  }
  // a promise that is given back as it is fails outside of the `try`
  const escapes = language === "typescript" && context.returned && !context.awaited && context.tries.length > 0;
  for (const t of escapes ? [] : [...context.tries].reverse()) {
    const handler = t.handlers.find(
      (h) => mayCatch(h.types) && !asksOther(h.body) && (reloads(h.body, world, 0) || asksOutside(h.body, world)),
    );
    if (handler === undefined) continue;
    const again = selfCall(handler.body, context.function);
    if (again !== undefined) return result("unbounded", source.span(again.start, again.end));
    const loop = context.loops.find((l) => l.start <= t.start && t.end <= l.end && !isBounded(l));
    return loop === undefined
      ? result("recovers")
      : result("unbounded", source.span(loop.start, Math.min(loop.end, loop.start + 5)));
  }
  if (looksFirst(context.function.body, code.start, world)) return result("recovers");
  if (escapes && context.tries.some((t) => t.handlers.some((h) => reloads(h.body, world, 0))))
    return result("unawaited");
  // whoever calls the function may catch it
  const { function: f } = context;
  const callers =
    f.name === "" || depth >= MAX_CALLERS
      ? []
      : (world.calls.get(f.name) ?? []).filter((c) => c.context.function !== f);
  if (callers.length > 0) {
    const verdicts = callers.map((c) => judge(c, world, depth + 1));
    const bad = verdicts.find((v) => v.verdict !== "recovers");
    return bad === undefined ? result("recovers") : result(bad.verdict, bad.by);
  }
  return result("missing");
}

/** Whether code sends a script's text: itself, or a function of the files that it calls. */
function reloads(body: readonly CodeStatement[], world: World, depth: number): boolean {
  const known = world.reloading.get(body);
  if (known !== undefined) return known;
  if (depth > 8) return false;
  world.reloading.set(body, false);
  let found = false;
  eachCall(body, (code) => {
    if (found) return;
    const name = calleeName(code);
    if (isLoad(code)) found = true;
    else if (!/^eval_?sha/i.test(name)) {
      found = (world.functions.get(name) ?? []).some((f) => f.body !== body && reloads(f.body, world, depth + 1));
    }
  });
  world.reloading.set(body, found);
  return found;
}

function isLoad(code: CodeNode<"call"> | CodeNode<"new">): boolean {
  const name = calleeName(code);
  if (/^(?:eval|evalro|eval_ro|evalReadOnly|scriptLoad|script_load|SCRIPT_LOAD)$/i.test(name)) return true;
  const words = firstWords(code);
  if (/^script$/i.test(name) && words[0] === "LOAD") return true;
  return words[0] === "EVAL" || (words[0] === "SCRIPT" && words[1] === "LOAD") || words[0] === "SCRIPT LOAD";
}

/** Exceptions of clients and of Java that certainly are none for NOSCRIPT. */
const OTHER_FAULTS =
  /(?:Busy|Timeout|Connection|Connect|Socket|Interrupted|IO|Json\w*|IllegalArgument|IllegalState|NullPointer|Cluster|Moved|Ask|Loading|ReadOnly|Auth\w*|Cancellation|Cancelled|ClassCast|NumberFormat|Security)(?:Exception|Error)$/;

function mayCatch(types: readonly string[]): boolean {
  return types.length === 0 || types.some((t) => !OTHER_FAULTS.test(t));
}

/** A handler that looks for the code of another error (`startsWith("BUSY")`), and for NOSCRIPT nowhere. */
function asksOther(body: readonly CodeStatement[]): boolean {
  let other = false;
  let own = false;
  eachCode(body, (code) => {
    if ("name" in code && typeof code.name === "string" && /no_?script/i.test(code.name)) own = true;
    if (code.type === "string" && /no_?script|matching script/i.test(code.value)) own = true;
    if (code.type !== "call" || !/^(?:startsWith|includes|contains|indexOf)$/.test(calleeName(code))) return;
    const [word] = code.args;
    if (word?.type === "string" && /^[A-Z]{3,}\b/.test(word.value)) other = true;
  });
  return other && !own;
}

/** A function of the files given by its name: `.catch(this.reload)`. */
function isReloader(code: Code, world: World): boolean {
  if (code.type !== "name" && code.type !== "member") return false;
  return (world.functions.get(code.name) ?? []).some((f) => reloads(f.body, world, 1));
}

/** A handler for NOSCRIPT that calls what the files do not declare, by a name that says so. */
function asksOutside(body: readonly CodeStatement[], world: World): boolean {
  let found = false;
  eachCall(body, (code) => {
    const name = calleeName(code);
    if (/load|register|eval(?!_?sha)|script/i.test(name) && !world.functions.has(name)) found = true;
  });
  return found;
}

/** SCRIPT EXISTS, and loading what is not there, before the call. */
function looksFirst(body: readonly CodeStatement[], before: number, world: World): boolean {
  let asked = false;
  let loaded = false;
  eachCall(body, (code) => {
    if (code.start >= before) return;
    if (/^script_?exists$/i.test(calleeName(code)) || firstWords(code).includes("EXISTS")) asked = true;
    if (isLoad(code) || (world.functions.get(calleeName(code)) ?? []).some((f) => reloads(f.body, world, 1)))
      loaded = true;
  });
  return asked && loaded;
}

/** A call of the function by itself that nothing counts down. */
function selfCall(body: readonly CodeStatement[], f: CodeFunction): Code | undefined {
  if (f.name === "") return undefined;
  const own = new Set(f.params.map((p) => p.name));
  let found: Code | undefined;
  eachCall(body, (code) => {
    const { callee } = code;
    const direct = callee.type === "name" || (callee.type === "member" && callee.object.type === "this");
    if (!direct || calleeName(code) !== f.name || code.args.length > f.params.length) return;
    const same = code.args.every((a) => {
      const inner = a.type === "spread" ? a.value : a;
      return inner.type === "name" && own.has(inner.name);
    });
    if (same) found ??= code;
  });
  return found;
}

/** A loop that ends by a count, or over a list. */
function isBounded(loop: Extract<CodeStatement, { type: "block" }>): boolean {
  if (loop.each !== undefined) return true;
  let counts = false;
  const look = (code: Code): void => {
    if (code.type === "binary" && /^[<>]=?$/.test(code.op)) counts = true;
    if (code.type === "assign" && code.op !== "=") counts = true;
  };
  if (loop.test !== undefined) eachCode(loop.test, look);
  eachCode(loop.body, look);
  return counts;
}

function eachCall(body: readonly CodeStatement[], visit: (code: CodeNode<"call"> | CodeNode<"new">) => void): void {
  eachCode(body, (code) => {
    if (code.type === "call" || code.type === "new") visit(code);
  });
}

/** Every expression in a part of a tree, in no order, without recursion. */
function eachCode(part: unknown, visit: (code: Code) => void): void {
  const stack: unknown[] = [part];
  while (stack.length > 0) {
    const node = stack.pop();
    if (typeof node !== "object" || node === null) continue;
    if (!Array.isArray(node) && typeof (node as Code).type === "string") visit(node as Code);
    for (const value of Array.isArray(node) ? node : Object.values(node))
      if (typeof value === "object") stack.push(value);
  }
}
