/** The library of a Redis script, as far as it matters for what the script sends. */
import type { Expr } from "./ir.js";
import { LIBRARY } from "./library.js";
import type { Machine, Multi } from "./machine.js";
import { base, isBoolean, luaText, type Site, type TableState, type Term } from "./term.js";

const SOURCES: ReadonlySet<string> = new Set(["loadstring", "load", "dofile", "loadfile", "require"]);
/** Members that came with a server version; the rule for the minimum version looks them up. */
const VERSIONED: ReadonlySet<string> = new Set([
  "redis.acl_check_cmd",
  "redis.setresp",
  "redis.register_function",
  "redis.REDIS_VERSION",
  "redis.REDIS_VERSION_NUM",
  "redis.replicate_commands",
  "redis.set_repl",
]);

function one(term: Term): Multi {
  return { values: [term], open: undefined };
}
const NOTHING: Multi = { values: [], open: undefined };

/** Runs a library function. */
export function native(m: Machine, name: string, args: Multi, site: Site, exprs: readonly Expr[]): Multi {
  const { terms } = m;
  const at = (i: number): Term => args.values[i] ?? args.open ?? terms.nil;
  const first = at(0);
  switch (name) {
    case "tonumber": {
      const radix = args.values[1];
      if (radix !== undefined && !(radix.kind === "literal" && radix.value === 10)) {
        return one(terms.compute("tonumber", [first, radix]));
      }
      return one(each(m, first, (v) => terms.convert("number", v)));
    }
    case "tostring":
      return one(each(m, first, (v) => terms.convert("string", v)));
    case "type":
      return one(typeName(m, first));
    case "assert": {
      m.assert(first, at(1), site);
      return args;
    }
    case "error":
      m.fail(args, site);
      return NOTHING;
    case "pcall":
    case "xpcall": {
      const skip = name === "pcall" ? 1 : 2;
      return m.protect(first, { values: args.values.slice(skip), open: args.open }, site, exprs);
    }
    case "ipairs":
    case "pairs":
      m.useWhole(first, site);
      return { values: [terms.native(name), first], open: undefined };
    case "next":
      m.useWhole(first, site);
      return {
        values: [terms.compute("next", [first]), m.index(first, terms.compute("key", [first]), site)],
        open: undefined,
      };
    case "unpack":
    case "table.unpack":
      return unpack(m, args, site);
    case "select":
      return select(m, args);
    case "rawget":
      return one(m.raw(first, at(1), site));
    case "rawset":
      m.store(first, at(1), at(2));
      return one(first);
    case "rawequal":
      return one(terms.compare("eq", first, at(1)));
    case "setmetatable":
      if (first.kind === "table") {
        const state = first.cell.value as TableState;
        m.set(first.cell, { items: state.items, fields: state.fields, open: state.open, meta: at(1) });
      }
      return one(first);
    case "table.insert": {
      if (args.values.length >= 3) {
        // An insertion in the middle moves what follows: positions are no longer certain.
        const position = args.values[1]!;
        if (first.kind === "table" && position.kind === "literal") {
          const state = first.cell.value as TableState;
          const n = Number(position.value);
          if (state.open === undefined && n >= 1 && n <= state.items.length) {
            const items = state.items.slice();
            items.splice(n - 1, 0, args.values[2]!);
            m.set(first.cell, { items, fields: state.fields, open: undefined, meta: state.meta });
            return NOTHING;
          }
        }
        m.store(first, terms.length(first), args.values[2]!);
      } else m.append(first, at(1));
      return NOTHING;
    }
    case "table.remove":
    case "table.sort": {
      if (name === "table.sort")
        m.callback(
          args.values[1],
          [terms.opaque("an element", site, [first]), terms.opaque("an element", site, [first])],
          site,
        );
      if (first.kind !== "table") return one(terms.compute(name, [first]));
      const state = first.cell.value as TableState;
      const all = state.open === undefined ? state.items : [...state.items, state.open];
      if (name === "table.remove" && args.values.length === 1 && state.open === undefined && state.items.length > 0) {
        m.set(first.cell, { items: state.items.slice(0, -1), fields: state.fields, open: undefined, meta: state.meta });
        return one(state.items.at(-1)!);
      }
      const any = m.anyOf([...new Set(all)]);
      m.set(first.cell, { items: [], fields: state.fields, open: any, meta: state.meta });
      return one(any ?? terms.nil);
    }
    case "table.concat":
      return one(concat(m, first, args.values[1]));
    case "table.getn":
      return one(terms.length(first));
    case "table.foreach":
    case "table.foreachi":
      m.callback(
        args.values[1],
        [terms.opaque("a key", site, [first]), m.index(first, terms.compute("key", [first]), site)],
        site,
      );
      return NOTHING;
    case "string.format":
      return one(format(m, args));
    case "string.gsub":
      m.callback(args.values[2], [terms.compute("string.match", [first, at(1)])], site);
      return { values: [terms.compute("string.gsub", [first, at(1), at(2)])], open: undefined };
    case "string.gmatch":
    case "string.gfind":
      return { values: [terms.native("gmatch"), terms.compute("string.gmatch", [first, at(1)])], open: undefined };
    case "string.match":
    case "string.find":
    case "struct.unpack":
    case "cmsgpack.unpack": {
      const value = terms.compute(name, name === "struct.unpack" ? [at(1), first] : args.values);
      return { values: [value], open: value };
    }
    case "string.len":
      return one(terms.length(first));
    case "string.lower":
    case "string.upper":
    case "string.reverse":
      return one(each(m, first, (v) => text(m, name, v)));
    case "string.sub":
    case "string.rep":
      return one(each(m, first, (v) => cut(m, name, v, args)));
    case "getmetatable":
      return one(terms.opaque("a metatable", site, [first]));
    case "redis.register_function":
    case "server.register_function":
      m.api("redis.register_function", site);
      register(m, args, site);
      return NOTHING;
    case "redis.log":
    case "server.log":
    case "print":
    case "redis.breakpoint":
    case "redis.debug":
    case "redis.setresp":
    case "redis.set_repl":
    case "math.randomseed":
    case "collectgarbage":
      if (VERSIONED.has(name)) m.api(name, site);
      return NOTHING;
    case "redis.replicate_commands":
      m.api(name, site);
      return one(terms.true);
    case "redis.status_reply":
    case "redis.error_reply":
    case "server.status_reply":
    case "server.error_reply":
      return one(terms.compute(name.slice(name.indexOf(".") + 1), [first]));
    case "getfenv":
    case "setfenv":
      m.unknown("environment", `${name} changes what names mean`, site);
      m.havoc();
      return one(terms.opaque(name, site, args.values));
  }
  if (SOURCES.has(name)) {
    m.source(name, site);
    m.unknown("callee", `code made by ${name}`, site);
    m.havoc();
    return one(terms.opaque(`code made by ${name}`, site, args.values));
  }
  if (name.startsWith("coroutine.")) {
    m.unknown("coroutine", "coroutines are not followed", site);
    m.havoc();
    return { values: [], open: terms.opaque("what a coroutine yields", site, args.values) };
  }
  if (VERSIONED.has(name)) m.api(name, site);
  for (const value of args.values) m.useWhole(value, site);
  if (name.indexOf(".") < 0 && !LIBRARY.has(name)) {
    m.unknown("callee", `a call of ${name}`, site);
    m.havoc();
  }
  const math = arithmetic(name, args.values);
  if (math !== undefined) return one(terms.literal(math));
  return one(terms.compute(name, args.open === undefined ? args.values : [...args.values, args.open]));
}

/** A function that is certain for literals, over the alternatives of a choice. */
function each(m: Machine, term: Term, fn: (value: Term) => Term): Term {
  if (term.kind !== "choice" || term.loop) return fn(term);
  const { alternatives } = term;
  if (alternatives.length > 16 || !alternatives.some((a) => a.value.kind === "literal")) return fn(term);
  return m.terms.choice(alternatives.map((a) => ({ value: fn(a.value), facts: a.facts })));
}

function text(m: Machine, name: string, term: Term): Term {
  if (term.kind === "literal" && term.value !== null && typeof term.value !== "boolean") {
    const t = luaText(term.value);
    if (name === "string.lower") return m.terms.literal(t.toLowerCase());
    if (name === "string.upper") return m.terms.literal(t.toUpperCase());
    return m.terms.literal([...t].reverse().join(""));
  }
  return m.terms.compute(name, [term]);
}

const MAX_REPEATED = 1024;

function cut(m: Machine, name: string, term: Term, args: Multi): Term {
  const rest = args.values.slice(1);
  if (term.kind === "literal" && term.value !== null && rest.every((a) => a.kind === "literal")) {
    const t = luaText(term.value);
    const numbers = rest.map((a) => Number((a as { value?: unknown }).value));
    if (numbers.every(Number.isInteger) && numbers.length > 0) {
      if (name === "string.rep") {
        if (numbers[0]! * t.length <= MAX_REPEATED) return m.terms.literal(t.repeat(Math.max(0, numbers[0]!)));
      } else {
        const [i = 1, j = -1] = numbers;
        const from = i < 0 ? Math.max(0, t.length + i) : Math.max(0, i - 1);
        const to = j < 0 ? t.length + j + 1 : j;
        return m.terms.literal(t.slice(from, Math.max(from, to)));
      }
    }
  }
  return m.terms.compute(name, [term, ...rest]);
}

function arithmetic(name: string, args: readonly Term[]): number | undefined {
  if (args.length === 0 || !name.startsWith("math.")) return undefined;
  const numbers: number[] = [];
  for (const arg of args) {
    if (arg.kind !== "literal" || typeof arg.value !== "number") return undefined;
    numbers.push(arg.value);
  }
  switch (name) {
    case "math.min":
      return Math.min(...numbers);
    case "math.max":
      return Math.max(...numbers);
    case "math.floor":
      return Math.floor(numbers[0]!);
    case "math.ceil":
      return Math.ceil(numbers[0]!);
    case "math.abs":
      return Math.abs(numbers[0]!);
    default:
      return undefined;
  }
}

function typeName(m: Machine, term: Term): Term {
  switch (term.kind) {
    case "literal": {
      const { value } = term;
      return m.terms.literal(value === null ? "nil" : typeof value);
    }
    case "table":
    case "slots":
      return m.terms.literal("table");
    case "closure":
      return m.terms.literal("function");
    case "concat":
      return m.terms.literal("string");
    case "length":
    case "range":
      return m.terms.literal("number");
    case "convert":
      return term.to === "string" ? m.terms.literal("string") : m.terms.compute("type", [term]);
    default:
      return isBoolean(term) ? m.terms.literal("boolean") : m.terms.compute("type", [base(term)]);
  }
}

function unpack(m: Machine, args: Multi, site: Site): Multi {
  const { terms } = m;
  const list = args.values[0];
  if (list === undefined) return { values: [], open: args.open };
  m.useWhole(list, site);
  const from = args.values[1] ?? terms.one;
  const to = args.values[2];
  const start = from.kind === "literal" && typeof from.value === "number" ? from.value : undefined;
  const end = to?.kind === "literal" && typeof to.value === "number" ? to.value : undefined;
  if (list.kind === "table" && start !== undefined && (to === undefined || end !== undefined)) {
    const state = list.cell.value as TableState;
    const values = state.items.slice(start - 1, end);
    const complete = state.open === undefined || (end !== undefined && end <= state.items.length);
    if (complete && end !== undefined) while (values.length < Math.min(end - start + 1, 64)) values.push(terms.nil);
    return { values, open: complete ? undefined : state.open };
  }
  if (start !== undefined && end !== undefined && end - start < 64) {
    const values: Term[] = [];
    for (let i = start; i <= end; i++) values.push(m.index(list, terms.literal(i), site));
    return { values, open: undefined };
  }
  if (list.kind === "table") {
    const state = list.cell.value as TableState;
    const all = state.open === undefined ? state.items : [...state.items, state.open];
    return { values: [], open: m.anyOf([...new Set(all)]) };
  }
  if (list.kind === "choice" || list.kind === "or" || list.kind === "and") {
    const all = terms.alternatives(list);
    const tables = all?.filter((a) => a.value.kind === "table");
    if (tables !== undefined && tables.length === all!.length && tables.length <= 16) {
      const parts = tables.map((a) => unpack(m, { values: [a.value, ...args.values.slice(1)], open: undefined }, site));
      const same = Math.min(...parts.map((p) => p.values.length));
      const values: Term[] = [];
      for (let i = 0; i < same; i++) values.push(m.anyOf([...new Set(parts.map((p) => p.values[i]!))])!);
      const rest = parts.flatMap((p) => [...p.values.slice(same), ...(p.open === undefined ? [] : [p.open])]);
      return { values, open: m.anyOf([...new Set(rest)]) };
    }
  }
  const index = terms.range(from, to ?? terms.length(list), terms.one, 0);
  const open = list.kind === "slots" ? terms.slot(list.table, index) : m.index(list, index, site);
  return { values: [], open, rest: start === undefined ? undefined : { list, from: start } };
}

function select(m: Machine, args: Multi): Multi {
  const n = args.values[0];
  if (n?.kind !== "literal") {
    const rest = m.anyOf(args.open === undefined ? args.values.slice(1) : [...args.values.slice(1), args.open]);
    return { values: [], open: rest };
  }
  if (n.value === "#") {
    if (args.open === undefined) return one(m.terms.literal(args.values.length - 1));
    return one(m.terms.compute("select", [n, args.open]));
  }
  const k = Number(n.value);
  if (!Number.isInteger(k)) return NOTHING;
  return { values: k < 0 ? args.values.slice(1).slice(k) : args.values.slice(k), open: args.open };
}

function concat(m: Machine, list: Term, separator: Term | undefined): Term {
  const { terms } = m;
  if (list.kind === "table") {
    const state = list.cell.value as TableState;
    const parts: Term[] = [];
    for (let i = 0; i < state.items.length; i++) {
      if (i > 0 && separator !== undefined) parts.push(separator);
      parts.push(state.items[i]!);
    }
    if (state.open !== undefined) parts.push(terms.compute("table.concat", [state.open]));
    return terms.concat(parts);
  }
  return terms.compute("table.concat", separator === undefined ? [list] : [list, separator]);
}

/** `%s`, `%d` and `%i` are put in; another directive makes the text a computed value. */
function format(m: Machine, args: Multi): Term {
  const { terms } = m;
  const form = args.values[0];
  if (form?.kind !== "literal" || typeof form.value !== "string") return terms.compute("string.format", args.values);
  const parts: Term[] = [];
  let next = 1;
  const pattern = /%([-+ #0]*\d*(?:\.\d+)?)([a-zA-Z%])/g;
  let at = 0;
  for (let match = pattern.exec(form.value); match !== null; match = pattern.exec(form.value)) {
    parts.push(terms.literal(form.value.slice(at, match.index)));
    at = match.index + match[0].length;
    const kind = match[2]!;
    if (kind === "%") {
      parts.push(terms.literal("%"));
      continue;
    }
    const value = args.values[next++] ?? args.open ?? terms.nil;
    const plain = match[1] === "" && (kind === "s" || kind === "d" || kind === "i");
    parts.push(plain || (match[1] === ".0" && kind === "f") ? value : terms.compute(`%${kind}`, [value]));
  }
  parts.push(terms.literal(form.value.slice(at)));
  return terms.concat(parts);
}

function register(m: Machine, args: Multi, site: Site): void {
  const { terms } = m;
  const first = args.values[0] ?? terms.nil;
  if (first.kind === "table") {
    const { fields } = first.cell.value as TableState;
    const fn = fields?.get("callback");
    if (fn !== undefined) m.registered.push({ name: fields?.get("function_name") ?? terms.nil, fn, site });
    return;
  }
  const fn = args.values[1];
  if (fn !== undefined) m.registered.push({ name: first, fn, site });
}
