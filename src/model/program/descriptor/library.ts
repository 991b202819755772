/** What the standard libraries of Java and JavaScript, and the Redis clients, make of constants. */

import { stripIndent } from "../../../document/java-text.js";
import { bytesOf } from "../../../text/bytes.js";
import { sha1 } from "../sha1.js";
import { type Evaluator, emptyRecord, hint, MAX_TEXT, textOf } from "./evaluate.js";
import { joinPath } from "./modules.js";
import { type Data, type ListData, type Place, type RecordData, stringOf, unknown, type Value } from "./value.js";

function value(data: Data, at: Place): Value {
  return { data, at, origin: at };
}

function list(items: readonly Value[], at: Place, open = false): Value {
  return value({ kind: "list", items: [...items], open }, at);
}

function text(s: string, at: Place): Value {
  return s.length > MAX_TEXT ? unknown("it is too long", at) : value({ kind: "string", value: s }, at);
}

/** A map from keys and values in turn. */
function mapOf(pairs: readonly (readonly [Value | undefined, Value | undefined])[], at: Place): Value {
  const data = emptyRecord(undefined, undefined);
  for (const [key, item] of pairs) put(data, key, item);
  return value(data, at);
}

function put(data: RecordData, key: Value | undefined, item: Value | undefined): void {
  const name = key === undefined ? undefined : (textOf(key.data) ?? nameOf(key.data));
  if (name === undefined || item === undefined) {
    data.open = true;
    return;
  }
  hint(item, name, key!.at, true);
  data.fields.set(name, { value: item, key: key!.at });
}

function nameOf(data: Data): string | undefined {
  return data.kind === "symbol" ? data.name : data.kind === "record" ? data.constant : undefined;
}

function entryOf(item: Value): readonly [Value | undefined, Value | undefined] {
  const { data } = item;
  if (data.kind === "list") return [data.items[0], data.items[1]];
  if (data.kind === "record") return [data.fields.get("key")?.value, data.fields.get("value")?.value];
  return [undefined, undefined];
}

const UNIT_MS: Readonly<Record<string, number>> = {
  millis: 1,
  milliseconds: 1,
  seconds: 1000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
};

const LISTS = /^(List|Set|ImmutableList|ImmutableSet|EnumSet|Stream|Arrays|Lists|Sets|SortedSet|Array)$/;
const MAPS = /^(Map|ImmutableMap|SortedMap)$/;
/** Calls that give back what they are given. */
const SAME =
  /^(freeze|seal|requireNonNull|requireNonNullElse|ofNullable|unmodifiable\w+|synchronized\w+|copyOf|defineScript|defineScripts|structuredClone|deepFreeze|valueOf|checkNotNull)$/;

/** A function of a library by its owner and name; undefined: not one of those known. */
export function callLibrary(
  run: Evaluator,
  owner: string | undefined,
  name: string,
  args: readonly Value[],
  at: Place,
): Value | undefined {
  const [first, second] = args;
  const same = (v: Value): Value => ({ data: v.data, at, origin: v.origin });
  if (owner !== undefined) {
    if (MAPS.test(owner)) {
      if (name === "of") {
        const pairs: [Value | undefined, Value | undefined][] = [];
        for (let i = 0; i < args.length; i += 2) pairs.push([args[i], args[i + 1]]);
        return mapOf(pairs, at);
      }
      if (name === "ofEntries") return mapOf(args.map(entryOf), at);
      if (name === "entry" && second !== undefined) return list([first!, second], at);
    }
    if (LISTS.test(owner) && /^(of|asList|newArrayList|newHashSet|newLinkedHashSet)$/.test(name)) {
      return args.length === 1 && first!.data.kind === "list" ? same(first!) : list(args, at);
    }
    if (owner === "Collections") {
      if (/^(emptyList|emptySet)$/.test(name)) return list([], at);
      if (name === "emptyMap") return mapOf([], at);
      if (/^singleton(List)?$/.test(name)) return list(args, at);
    }
    if (owner === "Object") {
      const data = first?.data;
      if (data?.kind === "record" && /^(entries|keys|values)$/.test(name)) {
        const items = [...data.fields].map(([key, f]) => {
          const k: Value = { data: { kind: "string", value: key }, at: f.key, origin: f.key };
          return name === "keys" ? k : name === "values" ? f.value : list([k, f.value], f.key);
        });
        return list(items, at, data.open);
      }
      if (name === "fromEntries" && data?.kind === "list") {
        const made = mapOf(data.items.map(entryOf), at);
        if (data.open && made.data.kind === "record") made.data.open = true;
        return made;
      }
      if (name === "assign" && data?.kind === "record") {
        for (const a of args.slice(1)) {
          if (a.data.kind === "record") for (const [key, f] of a.data.fields) data.fields.set(key, f);
          if (a.data.kind !== "record" || a.data.open) data.open = true;
        }
        return same(first!);
      }
    }
    if (owner === "Duration" && first?.data.kind === "number") {
      const unit = UNIT_MS[name.replace(/^of/, "").toLowerCase()];
      if (unit !== undefined) return value({ kind: "duration", milliseconds: first.data.value * unit }, at);
    }
    if (owner === "String") {
      if (name === "join" && first?.data.kind === "string") {
        const items = args.length === 2 && second!.data.kind === "list" ? second!.data.items : args.slice(1);
        return join(items, first.data.value, at);
      }
      if (name === "format" && first?.data.kind === "string") return format(first.data.value, args.slice(1), at);
      if (name === "valueOf" && first !== undefined && textOf(first.data) !== undefined)
        return text(textOf(first.data)!, at);
    }
    if (/^(Integer|Long|Number|BigInt)$/.test(owner) && /^(valueOf|parseInt|parseLong)$/.test(name))
      return number(first, at);
    if (/^(path|Path|Paths|posix)$/.test(owner) && /^(join|resolve|of|get)$/.test(name)) return pathOf(args, at);
    if (/^(RedisScript)$/.test(owner) && name === "of") {
      const record = emptyRecord("RedisScript", undefined);
      record.args = args;
      run.made.push({ data: record, at, call: undefined, idle: false });
      return value(record, at);
    }
    if (/^(DigestUtils|Hashing|ScriptUtils)$/.test(owner) && /^sha-?1(Hex|DigestAsHex)?$/i.test(name))
      return digest("sha1", first, at);
    if (name === "sha1hex" || name === "digest") {
      if (/^(LettuceStrings|Base16)$/.test(owner)) return digest("sha1", first, at);
    }
  }
  if (SAME.test(name) && args.length >= 1 && owner !== "String") return same(first!);
  if (owner === undefined && /^(String|Number|BigInt)$/.test(name) && first !== undefined) {
    return name === "String"
      ? textOf(first.data) === undefined
        ? undefined
        : text(textOf(first.data)!, at)
      : number(first, at);
  }
  if (
    /^(readFileSync|readFile|readString|readAllBytes|readTextFile|getResourceAsStream|getResource|toString|require|fileURLToPath)$/.test(
      name,
    )
  ) {
    const path = first?.data.kind === "file" ? first.data.path : stringOf(first);
    if (path !== undefined && /\.lua$/.test(path)) return value({ kind: "file", path }, at);
  }
  if (owner === undefined && /^(join|resolve)$/.test(name)) return pathOf(args, at);
  if (name === "createHash" && first?.data.kind === "string") {
    const algorithm = first.data.value.toLowerCase().replace("-", "");
    if (algorithm === "sha1" || algorithm === "sha256") return value({ kind: "hash", algorithm, of: undefined }, at);
  }
  if (owner === undefined && name === "fromEntries") return callLibrary(run, "Object", name, args, at);
  return undefined;
}

function number(v: Value | undefined, at: Place): Value | undefined {
  if (v?.data.kind === "number") return value(v.data, at);
  if (v?.data.kind === "string" && /^-?\d{1,15}$/.test(v.data.value)) {
    return value({ kind: "number", value: Number(v.data.value) }, at);
  }
  return undefined;
}

/** `join(__dirname, "redis", "x.lua")`: directories that are not known do not change which file is meant. */
function pathOf(args: readonly Value[], at: Place): Value | undefined {
  const parts = args.map((a) => (a.data.kind === "file" ? a.data.path : stringOf(a)));
  const from = parts.lastIndexOf(undefined) + 1;
  const known = parts.slice(from) as string[];
  if (known.length === 0) return undefined;
  const path = joinPath(...known) ?? known.at(-1)!;
  return /\.lua$/.test(path) ? value({ kind: "file", path }, at) : from === 0 ? text(path, at) : undefined;
}

function digest(algorithm: "sha1" | "sha256", of: Value | undefined, at: Place): Value | undefined {
  const known = stringOf(of);
  if (known === undefined || algorithm !== "sha1") return undefined;
  return value({ kind: "string", value: sha1(bytesOf(known)) }, at);
}

function join(items: readonly Value[], separator: string, at: Place): Value {
  const parts: string[] = [];
  let size = 0;
  for (const item of items) {
    const word = textOf(item.data);
    if (word === undefined) return unknown("a part of it is not known", at);
    size += word.length + separator.length;
    if (size > MAX_TEXT) return unknown("it is too long", at);
    parts.push(word);
  }
  return text(parts.join(separator), at);
}

/** `String.format` with the plain conversions. */
function format(pattern: string, args: readonly Value[], at: Place): Value {
  let next = 0;
  let faulty = false;
  const made = pattern.replace(/%(?:(\d+)\$)?([-#+ 0,(\d.]*)([a-zA-Z%])/g, (whole, index, flags, kind) => {
    if (kind === "%") return "%";
    if (kind === "n") return "\n";
    const arg = args[index === undefined ? next++ : Number(index) - 1];
    const word = arg === undefined ? undefined : textOf(arg.data);
    if (word === undefined || flags !== "" || (kind !== "s" && kind !== "d")) {
      faulty = true;
      return whole;
    }
    return word;
  });
  return faulty ? unknown("a part of it is not known", at) : text(made, at);
}

/** A method of a value; undefined: not one of those known. */
export function callMethod(
  run: Evaluator,
  object: Value,
  name: string,
  args: readonly Value[],
  at: Place,
): Value | undefined {
  const { data } = object;
  const self = (): Value => ({ data, at, origin: object.origin });
  switch (data.kind) {
    case "string":
      return ofString(data.value, name, args, at) ?? (name === "toString" ? self() : undefined);
    case "text": {
      if (name === "append") {
        const word = args[0] === undefined ? undefined : textOf(args[0].data);
        if (
          run.doubtful ||
          word === undefined ||
          data.value === undefined ||
          data.value.length + word.length > MAX_TEXT
        ) {
          data.value = undefined;
        } else data.value += word;
        return self();
      }
      if (name === "toString")
        return data.value === undefined ? unknown("a part of it is not known", at) : text(data.value, at);
      data.value = undefined;
      return self();
    }
    case "list":
      return ofList(run, data, object, name, args, at);
    case "record":
      return ofRecord(run, data, object, name, args, at);
    case "file":
      // `.toString()`, `.trim()`, `.getInputStream()`: still what the file holds
      return self();
    case "duration": {
      const divide = /^(?:to|get)(Millis|Seconds|Minutes|Hours|Days)$/.exec(name)?.[1];
      if (divide !== undefined) {
        return value({ kind: "number", value: Math.trunc(data.milliseconds / UNIT_MS[divide.toLowerCase()]!) }, at);
      }
      return undefined;
    }
    case "symbol": {
      // `TimeUnit.MINUTES.toMillis(5)`
      const from = UNIT_MS[data.name.toLowerCase()];
      const to = UNIT_MS[/^to(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ""];
      const [n] = args;
      if (from !== undefined && to !== undefined && n?.data.kind === "number") {
        return value({ kind: "number", value: Math.trunc((n.data.value * from) / to) }, at);
      }
      if (/^(name|toString|getKeyword)$/.test(name)) return value(data, at);
      return undefined;
    }
    case "hash": {
      if (name === "update" && args[0] !== undefined) return value({ ...data, of: args[0] }, at);
      if (name === "digest" && data.of !== undefined) return digest(data.algorithm, data.of, at);
      return undefined;
    }
    case "function":
      if (name === "call" || name === "apply" || name === "bind") return unknown("it is computed", at);
      return undefined;
  }
  return undefined;
}

function ofString(s: string, name: string, args: readonly Value[], at: Place): Value | undefined {
  const [a, b] = args.map((v) => v.data);
  switch (name) {
    case "trim":
    case "strip":
      return text(s.trim(), at);
    case "trimStart":
    case "stripLeading":
      return text(s.trimStart(), at);
    case "trimEnd":
    case "stripTrailing":
      return text(s.trimEnd(), at);
    case "stripIndent":
      return text(stripIndent(s.replace(/\r\n?/g, "\n")), at);
    case "toUpperCase":
      return text(s.toUpperCase(), at);
    case "toLowerCase":
      return text(s.toLowerCase(), at);
    case "concat": {
      const words = args.map((v) => textOf(v.data));
      return words.includes(undefined) ? undefined : text(s + words.join(""), at);
    }
    case "repeat":
      return a?.kind === "number" && a.value >= 0 && a.value * s.length <= MAX_TEXT
        ? text(s.repeat(a.value), at)
        : undefined;
    case "formatted":
      return format(s, args, at);
    case "replace":
    case "replaceAll":
      // a pattern of Java's replaceAll is a regular expression
      if (a?.kind !== "string" || b?.kind !== "string" || a.value === "") return undefined;
      if (at.module.code.language === "java")
        return name === "replace" ? text(s.split(a.value).join(b.value), at) : undefined;
      if (b.value.includes("$")) return undefined;
      return text(name === "replace" ? s.replace(a.value, b.value) : s.split(a.value).join(b.value), at);
    case "split":
      return a?.kind === "string" && at.module.code.language === "typescript"
        ? list(
            s
              .split(a.value)
              .slice(0, 5000)
              .map((w) => text(w, at)),
            at,
          )
        : undefined;
    case "length":
      return value({ kind: "number", value: s.length }, at);
    case "intern":
    case "normalize":
    case "getBytes":
    case "valueOf":
      return text(s, at);
    case "equals":
      return a?.kind === "string" ? value({ kind: "boolean", value: a.value === s }, at) : undefined;
    case "isEmpty":
    case "isBlank":
      return value({ kind: "boolean", value: (name === "isEmpty" ? s : s.trim()) === "" }, at);
  }
  return undefined;
}

function ofList(
  run: Evaluator,
  data: ListData,
  object: Value,
  name: string,
  args: readonly Value[],
  at: Place,
): Value | undefined {
  const [first] = args;
  const self = (): Value => ({ data, at, origin: object.origin });
  const f = first?.data.kind === "function" ? first.data : undefined;
  switch (name) {
    case "add":
    case "push":
    case "addLast":
      if (run.doubtful || args.length === 0 || (name === "add" && args.length !== 1)) data.open = true;
      else if (data.items.length < 5000) data.items.push(...args);
      return self();
    case "addAll":
      if (run.doubtful || first?.data.kind !== "list" || first.data.open) data.open = true;
      if (!run.doubtful && first?.data.kind === "list") data.items.push(...first.data.items.slice(0, 5000));
      return self();
    case "unshift":
    case "splice":
    case "sort":
    case "reverse":
    case "remove":
    case "removeIf":
    case "clear":
    case "pop":
    case "shift":
      data.open = true;
      return self();
    case "concat": {
      const items = args.flatMap((a) => (a.data.kind === "list" ? a.data.items : [a]));
      return list(
        [...data.items, ...items].slice(0, 5000),
        at,
        data.open || args.some((a) => a.data.kind === "unknown"),
      );
    }
    case "join":
      return data.open ? undefined : join(data.items, stringOf(first) ?? ",", at);
    case "map":
    case "flatMap":
    case "forEach": {
      if (f === undefined) return undefined;
      const out: Value[] = [];
      let open = data.open;
      data.items.slice(0, 5000).forEach((item, i) => {
        const index = value({ kind: "number", value: i }, at);
        const made = run.call(f, [item, index], at);
        if (name === "flatMap" && made.data.kind === "list") {
          out.push(...made.data.items);
          open ||= made.data.open;
        } else out.push(made);
      });
      return list(out.slice(0, 5000), at, open);
    }
    case "get":
    case "at":
      if (first?.data.kind === "number" && !data.open) {
        const item = data.items.at(first.data.value);
        if (item !== undefined) return { data: item.data, at, origin: item.origin };
      }
      return undefined;
    case "size":
      return data.open ? undefined : value({ kind: "number", value: data.items.length }, at);
    case "isEmpty":
      return data.open ? undefined : value({ kind: "boolean", value: data.items.length === 0 }, at);
    case "filter":
    case "slice":
      if (name === "slice" && args.length === 0) return list(data.items, at, data.open);
      return list([], at, true);
    case "stream":
    case "toList":
    case "collect":
    case "values":
    case "toArray":
    case "distinct":
    case "sequential":
    case "iterator":
    case "build":
      return self();
  }
  return undefined;
}

function ofRecord(
  run: Evaluator,
  data: RecordData,
  object: Value,
  name: string,
  args: readonly Value[],
  at: Place,
): Value | undefined {
  const [first, second] = args;
  const self = (): Value => ({ data, at, origin: object.origin });
  const isMap = data.type === undefined && data.decl === undefined;
  if (isMap && (name === "put" || name === "set" || name === "putIfAbsent") && args.length === 2) {
    if (run.doubtful) data.open = true;
    put(data, first, second);
    return self();
  }
  if (isMap && /^(build|buildOrThrow|entrySet|clone)$/.test(name)) return self();
  if (isMap && (name === "putAll" || name === "clear" || name === "remove" || name === "delete")) {
    data.open = true;
    if (first?.data.kind === "record") for (const [key, f] of first.data.fields) data.fields.set(key, f);
    return self();
  }
  if ((name === "get" || name === "getOrDefault") && first !== undefined && isMap) {
    const key = textOf(first.data) ?? nameOf(first.data);
    const field = key === undefined ? undefined : data.fields.get(key);
    return field === undefined ? undefined : { data: field.value.data, at, origin: field.value.origin };
  }
  if (isMap && (name === "values" || name === "entries") && args.length === 0) {
    return callLibrary(run, "Object", name, [object], at);
  }
  if (args.length === 0) {
    // an accessor: `name()`, `getName()`
    if (data.constant !== undefined && (name === "name" || name === "toString")) return text(data.constant, at);
    const bare = /^(?:get|is)([A-Z]\w*)$/.exec(name)?.[1];
    const field = data.fields.get(name) ?? (bare && data.fields.get(bare[0]!.toLowerCase() + bare.slice(1)));
    if (field) return { data: field.value.data, at, origin: field.value.origin };
    if (/^(build|create|toDescriptor|end|done|and|get)$/.test(name) || /^build/.test(name)) return self();
  }
  return undefined;
}

/** `new X(…)` of classes that the files do not declare; undefined: a record with these arguments. */
export function makeUndeclared(name: string, args: readonly Value[], at: Place): Value | undefined {
  const [first] = args;
  switch (name) {
    case "StringBuilder":
    case "StringBuffer": {
      const start = first === undefined || first.data.kind === "number" ? "" : stringOf(first);
      return value({ kind: "text", value: start }, at);
    }
    case "String":
      return first;
    case "ArrayList":
    case "LinkedList":
    case "HashSet":
    case "LinkedHashSet":
    case "TreeSet":
    case "CopyOnWriteArrayList":
    case "Set":
    case "Array":
      if (first === undefined || first.data.kind === "number") return list([], at);
      return first.data.kind === "list" ? list(first.data.items, at, first.data.open) : list([], at, true);
    case "HashMap":
    case "LinkedHashMap":
    case "TreeMap":
    case "EnumMap":
    case "ConcurrentHashMap":
    case "Map": {
      if (first?.data.kind === "list") {
        const made = mapOf(first.data.items.map(entryOf), at);
        if (first.data.open && made.data.kind === "record") made.data.open = true;
        return made;
      }
      const made = mapOf([], at);
      if (first?.data.kind === "record" && made.data.kind === "record") {
        for (const [key, f] of first.data.fields) made.data.fields.set(key, f);
        made.data.open = first.data.open;
      } else if (first !== undefined && name === "Map" && made.data.kind === "record") made.data.open = true;
      return made;
    }
    case "ClassPathResource":
    case "FileSystemResource":
    case "UrlResource":
    case "InputStreamResource":
    case "File":
    case "URL": {
      const path = first?.data.kind === "file" ? first.data.path : stringOf(first);
      return path !== undefined && /\.lua$/.test(path) ? value({ kind: "file", path }, at) : undefined;
    }
    case "ResourceScriptSource":
    case "StaticScriptSource":
    case "ByteArrayResource":
    case "EncodedResource":
      return first === undefined ? undefined : { data: first.data, at, origin: first.origin };
  }
  return undefined;
}
