import { createRequire } from "node:module";
import { type LuaDocument, type LuaParser, parseLua } from "../../src/document/lua.js";
import type { Guard } from "../../src/model/program/call.js";
import { analyseScript, type ScriptEffects } from "../../src/model/program/effects.js";
import { tableSpecs } from "../../src/model/program/keyspecs.js";
import type { Origin } from "../../src/model/program/origin.js";
import type { Term } from "../../src/model/program/term.js";
import { commandTable } from "../../src/model/redis/servers.js";
import { Source, type Span, TextView } from "../../src/text/source.js";

export const luaparse = createRequire(import.meta.url)("luaparse") as LuaParser;
export const specs = tableSpecs(commandTable("redis-7.2")!);

export function document(text: string, file = "script.lua"): LuaDocument {
  return parseLua(new TextView(new Source(file, text)), luaparse);
}

export function analyse(text: string, includes: Readonly<Record<string, string>> = {}): ScriptEffects {
  return analyseScript(document(text), specs, {
    include: (name) => (includes[name] === undefined ? undefined : document(includes[name], `${name}.lua`)),
  });
}

/** `file:line:column`. */
export function place(span: Span): string {
  const { line, column } = span.source.position(span.start);
  return `${span.source.file}:${line}:${column}`;
}

export function line(span: Span): number {
  return span.source.position(span.start).line;
}

/** A term as text, for expectations. */
export function show(term: Term, depth = 0): string {
  if (depth > 6) return "…";
  const inner = (t: Term) => show(t, depth + 1);
  switch (term.kind) {
    case "literal":
      return JSON.stringify(term.value);
    case "slot":
      return `${term.table === "keys" ? "KEYS" : "ARGV"}[${inner(term.index)}]`;
    case "slots":
      return term.table === "keys" ? "KEYS" : "ARGV";
    case "concat":
      return term.parts.map(inner).join("..");
    case "reply":
      return `reply(${term.call.command ?? "?"})`;
    case "convert":
      return inner(term.of);
    case "item":
      return `${inner(term.of)}[${inner(term.key)}]`;
    case "compute":
      return `${term.name}(${term.args.map(inner).join(",")})`;
    case "choice":
      return `{${term.alternatives.map((a) => inner(a.value)).join("|")}}`;
    case "compare":
      return `${inner(term.left)} ${term.op} ${inner(term.right)}`;
    case "not":
      return `not ${inner(term.of)}`;
    case "and":
    case "or":
      return `(${inner(term.left)} ${term.kind} ${inner(term.right)})`;
    case "length":
      return `#${inner(term.of)}`;
    case "range":
      return `${inner(term.from)}..${inner(term.to)}`;
    case "opaque":
      return `?${term.what}`;
    case "native":
      return term.name;
    case "closure":
      return "function";
    case "table":
      return "table";
  }
}

export function origin(of: Origin): string {
  const parts = of.parts.map((p) =>
    p.kind === "text"
      ? p.text
      : p.kind === "keys" || p.kind === "argv"
        ? `<${p.kind}${p.index ?? "?"}>`
        : `<${p.kind}>`,
  );
  return `${of.kind}:${parts.join("")}`;
}

export function guards(list: readonly Guard[]): string[] {
  return list.map((g) => {
    if (g.right === undefined) return `${g.op} ${show(g.left)}`;
    const sides = [show(g.left), show(g.right)];
    if (g.op === "equal" || g.op === "different") sides.sort();
    return `${sides[0]} ${g.op} ${sides[1]}`;
  });
}

/** Every call as `command word word`, in order. */
export function calls(effects: ScriptEffects): string[] {
  return effects.calls.map((c) =>
    [
      c.command ?? "?",
      ...c.argv.slice(1).map((t) => show(t)),
      ...(c.open === undefined ? [] : [`+${show(c.open)}`]),
    ].join(" "),
  );
}

/** Every key word as `command access origin`. */
export function keys(effects: ScriptEffects): string[] {
  return effects.keys.map((k) => `${k.call.command} ${k.access} ${origin(k.origin)}${k.many ? "*" : ""}`);
}
