import type { Dialect, Directive, NumberShape } from "./directives.js";

/**
 * Values of directives as the servers parse them, error texts included. Numbers are bigint: bounds reach 2^64-1.
 */

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

const ok = <T>(value: T): Parsed<T> => ({ ok: true, value });
const fail = <T>(error: string): Parsed<T> => ({ ok: false, error });

const U64 = 1n << 64n;
const I63 = 1n << 63n;
const LONG_MAX = I63 - 1n;
const LONG_MIN = -I63;
const ULLONG_MAX = U64 - 1n;

const asSigned = (n: bigint): bigint => BigInt.asIntN(64, n);
const asUnsigned = (n: bigint): bigint => BigInt.asUintN(64, n);

/** `strcasecmp` on ASCII. */
export function sameWord(a: string, b: string): boolean {
  return a.length === b.length && a.toLowerCase() === b.toLowerCase();
}

/** `yes`/`no` without case; undefined: neither. */
export function yesNo(text: string): boolean | undefined {
  if (sameWord(text, "yes")) return true;
  return sameWord(text, "no") ? false : undefined;
}

/** C's `strtol`/`strtoll` in base 8 or 10: clamped value and how many characters were read (0: none). */
export function strtol(text: string, base: 8 | 10 = 10): { value: bigint; read: number; overflow: boolean } {
  let p = 0;
  while (p < text.length && /[ \t\n\v\f\r]/.test(text[p]!)) p++;
  let negative = false;
  if (text[p] === "-" || text[p] === "+") negative = text[p++] === "-";
  const first = p;
  const last = 48 + base;
  while (p < text.length && text.charCodeAt(p) >= 48 && text.charCodeAt(p) < last) p++;
  if (p === first) return { value: 0n, read: 0, overflow: false };
  // More digits than this overflow whatever they are; the conversion stays bounded.
  const digits = text.slice(first, p).replace(/^0+(?=\d)/, "");
  const magnitude = digits.length > 30 ? U64 : BigInt(base === 8 ? "0o" + digits : digits);
  const value = negative ? -magnitude : magnitude;
  if (value > LONG_MAX) return { value: LONG_MAX, read: p, overflow: true };
  if (value < LONG_MIN) return { value: LONG_MIN, read: p, overflow: true };
  return { value, read: p, overflow: false };
}

/** C's `atoi`: what Sentinel reads where it checks nothing. `5s` is 5, `abc` is 0, `99999999999` wraps. */
export function atoi(text: string): number {
  return Number(BigInt.asIntN(32, strtol(text).value));
}

/** The whole text is a number as a person means it. */
export function isPlainInteger(text: string): boolean {
  return /^-?\d{1,18}$/.test(text);
}

/** `string2ll`: no blank, no plus, no leading zero. */
function parseInteger(text: string): bigint | undefined {
  if (!/^(?:0|-?[1-9]\d{0,19})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value > LONG_MAX || value < LONG_MIN ? undefined : value;
}

const UNITS: Record<string, bigint> = {
  "": 1n,
  b: 1n,
  k: 1000n,
  kb: 1024n,
  m: 1000_000n,
  mb: 1n << 20n,
  g: 1000_000_000n,
  gb: 1n << 30n,
};

/** `memtoull` (≥ 7.0): `1gb`, `100k`; an empty number is 0. undefined: not a memory value. */
export function parseMemory(text: string): bigint | undefined {
  const found = /^(\d{0,127})([a-z]{0,2})$/i.exec(text);
  const unit = found && UNITS[found[2]!.toLowerCase()];
  if (found === null || unit === undefined || unit === null) return undefined;
  const digits = found[1]!.replace(/^0+(?=\d)/, "");
  const value = digits === "" ? 0n : digits.length > 25 ? ULLONG_MAX : BigInt(digits);
  return asUnsigned((value > ULLONG_MAX ? ULLONG_MAX : value) * unit);
}

/** `memtoll` (6.2): signed; on an error the server's code goes on with 0. undefined: not a memory value. */
export function parseMemory62(text: string): bigint | undefined {
  const found = /^(-?)(\d{0,126})([a-z]{0,2})$/i.exec(text);
  const unit = found && UNITS[found[3]!.toLowerCase()];
  if (found === null || unit === undefined || unit === null) return undefined;
  // strtoll("-") reads nothing and stops before the sign.
  if (found[1] === "-" && found[2] === "") return undefined;
  const { value } = strtol(found[1]! + (found[2] || "0"));
  return asSigned(value * unit);
}

function checkBounds(shape: NumberShape, value: bigint): string | undefined {
  if (shape.unsigned) {
    const [v, low, high] = [asUnsigned(value), asUnsigned(shape.min), asUnsigned(shape.max)];
    if (v >= low && v <= high) return undefined;
    const show = (n: bigint): string => (shape.octal ? n.toString(8) : n.toString());
    return `argument must be between ${show(low)} and ${show(high)} inclusive`;
  }
  const [low, high] = [asSigned(shape.min), asSigned(shape.max)];
  if (shape.percent && value < 0n) {
    return value < low ? `percentage argument must be less or equal to ${-low}` : undefined;
  }
  return value > high || value < low ? `argument must be between ${low} and ${high} inclusive` : undefined;
}

function readNumber(shape: NumberShape, text: string, dialect: Dialect): Parsed<bigint> {
  if (!dialect.v7) {
    if (shape.memory) {
      const value = parseMemory62(text);
      return value === undefined || value < 0n ? fail("argument must be a memory value") : ok(value);
    }
    const value = parseInteger(text);
    return value === undefined ? fail("argument couldn't be parsed into an integer") : ok(value);
  }
  if (shape.memory) {
    const value = parseMemory(text);
    if (value !== undefined) return ok(asSigned(value));
    if (shape.signedMemory && text.startsWith("-")) {
      const below = parseMemory(text.slice(1));
      if (below !== undefined) return ok(asSigned(-below));
    }
  }
  if (shape.percent && text.length > 1 && text.endsWith("%")) {
    const value = parseInteger(text.slice(0, -1));
    if (value !== undefined && value >= 0n) return ok(-value);
  }
  if (shape.octal) {
    const { value, read, overflow } = strtol(text, 8);
    if (!overflow && read === text.length) return ok(value);
  }
  if (!shape.memory && !shape.percent && !shape.octal) {
    const value = parseInteger(text);
    if (value !== undefined) return ok(value);
  }
  if (shape.memory && shape.percent) return fail("argument must be a memory or percent value");
  if (shape.memory) return fail("argument must be a memory value");
  if (shape.octal) return fail("argument couldn't be parsed as an octal number");
  return fail("argument couldn't be parsed into an integer");
}

/** As `CONFIG GET` prints a number. */
function printNumber(shape: NumberShape, value: bigint): string {
  if (shape.percent && value < 0n) return `${-value}%`;
  if (shape.octal) return asUnsigned(value).toString(8);
  return (shape.memory ? asUnsigned(value) : value).toString();
}

const NO_DEFRAG =
  "Active defragmentation cannot be enabled: it requires a Redis server compiled with a modified Jemalloc like the one shipped by default with the Redis source distribution";

/** One value of an option that takes one argument: as `CONFIG GET` prints it, or the server's error text. */
export function parseValue(directive: Directive, text: string, dialect: Dialect): Parsed<string> {
  switch (directive.kind) {
    case "bool": {
      const value = yesNo(text);
      if (value === true && directive.name === "activedefrag" && dialect.debian) return fail(NO_DEFRAG);
      return value === undefined ? fail("argument must be 'yes' or 'no'") : ok(value ? "yes" : "no");
    }
    case "enum":
      return parseEnum(directive, [text], dialect);
    case "number": {
      const shape = directive.number!;
      const read = readNumber(shape, text, dialect);
      if (!read.ok) return read;
      const error = checkBounds(shape, read.value);
      return error === undefined ? ok(printNumber(shape, read.value)) : fail(error);
    }
    default: {
      const error = checkString(directive.name, text, dialect);
      return error === undefined ? ok(text) : fail(error);
    }
  }
}

/** One word, or several that are combined (`shutdown-on-sigterm nosave now`). */
export function parseEnum(directive: Directive, words: readonly string[], dialect: Dialect): Parsed<string> {
  const named = words.map((word) => directive.values.find((value) => sameWord(value, word)));
  if (words.length === 0 || named.includes(undefined)) {
    const head = dialect.v7 ? "argument(s) must be one of the following: " : "argument must be one of the following: ";
    return fail(head + directive.values.join(", "));
  }
  if (!directive.multi) return ok(named[0]!);
  if (named.includes("save") && named.includes("nosave")) {
    return fail("shutdown options SAVE and NOSAVE can't be used simultaneously");
  }
  // Combined flags are printed in the order of the table; `default` is no flag.
  const set = directive.values.filter((value) => value !== "default" && named.includes(value));
  return ok(set.length === 0 ? "default" : set.join(" "));
}

function isBaseName(text: string): boolean {
  return !text.includes("/") && !text.includes("\\");
}

/** Checks that some string options make beside their type. */
function checkString(name: string, text: string, dialect: Dialect): string | undefined {
  switch (name) {
    case "dbfilename":
      return isBaseName(text) ? undefined : "dbfilename can't be a path, just a filename";
    case "appendfilename":
      if (dialect.v7 && text === "") return "appendfilename can't be empty";
      return isBaseName(text) ? undefined : "appendfilename can't be a path, just a filename";
    case "appenddirname":
      if (text === "") return "appenddirname can't be empty";
      return isBaseName(text) ? undefined : "appenddirname can't be a path, just a dirname";
    case "cluster-config-file":
      return dialect.valkey8 && text === "" ? "cluster-config-file can't be empty" : undefined;
    case "cluster-announce-hostname":
      if (text.length >= 256) return "Hostnames must be less than 256 characters";
      return /^[A-Za-z0-9.-]*$/.test(text)
        ? undefined
        : "Hostnames may only contain alphanumeric characters, hyphens or dots";
    case "cluster-announce-human-nodename":
      return /[!#$%&()*+:;<>?@[\]^{|}~]/.test(text)
        ? "Announced human node name contained invalid character"
        : undefined;
    case "cluster-announce-client-ipv4":
      return text === "" || isIPv4(text) ? undefined : "Invalid IPv4 address";
    case "cluster-announce-client-ipv6":
      return text === "" || parseIPv6(text) !== undefined ? undefined : "Invalid IPv6 address";
    case "proc-title-template":
      return isTitleTemplate(text) ? undefined : "template format is invalid or contains unknown variables";
    default:
      return undefined;
  }
}

const TITLE_VARIABLES = new Set([
  "title",
  "listen-addr",
  "server-mode",
  "port",
  "tls-port",
  "unixsocket",
  "config-file",
]);

function isTitleTemplate(text: string): boolean {
  let known = "";
  for (let p = 0; p < text.length; ) {
    if (text[p] !== "{") {
      known += text[p++];
      continue;
    }
    if (text[p + 1] === "{") {
      known += "{";
      p += 2;
      continue;
    }
    const stop = text.indexOf("}", p);
    if (stop < 0 || !TITLE_VARIABLES.has(text.slice(p + 1, stop))) return false;
    // The title variable is empty while the template is checked; the others print something or nothing.
    if (/^(?:listen-addr|server-mode|port|tls-port)$/.test(text.slice(p + 1, stop))) known += "x";
    p = stop + 1;
  }
  return known.trim() !== "";
}

/** Dotted quad as `inet_pton` takes it. */
function isIPv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((p) => /^(?:0|[1-9]\d{0,2})$/.test(p) && Number(p) <= 255);
}

/** Eight groups, or undefined where the text is no IPv6 address. */
function parseIPv6(text: string): readonly number[] | undefined {
  if (text.length > 45 || !/^[0-9a-fA-F:.]+$/.test(text)) return undefined;
  let body = text;
  const quad = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  if (quad !== null) {
    if (!isIPv4(quad[2]!)) return undefined;
    const [a, b, c, d] = quad[2]!.split(".").map(Number) as [number, number, number, number];
    body = `${quad[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  const halves = body.split("::");
  if (halves.length > 2) return undefined;
  const groups = (part: string): number[] | undefined => {
    if (part === "") return [];
    const words = part.split(":");
    return words.every((w) => /^[0-9a-fA-F]{1,4}$/.test(w)) ? words.map((w) => Number.parseInt(w, 16)) : undefined;
  };
  const head = groups(halves[0]!);
  const tail = halves.length === 2 ? groups(halves[1]!) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  return [...head, ...new Array<number>(missing).fill(0), ...tail];
}

/** As `inet_ntop` prints eight groups. */
function printIPv6(groups: readonly number[]): string {
  let best = { start: 0, length: 0 };
  for (let i = 0; i < 8; i++) {
    let n = 0;
    while (i + n < 8 && groups[i + n] === 0) n++;
    if (n > best.length) best = { start: i, length: n };
  }
  if (best.length < 2) return groups.map((g) => g.toString(16)).join(":");
  const quad = [groups[6]! >> 8, groups[6]! & 255, groups[7]! >> 8, groups[7]! & 255].join(".");
  if (best.start === 0 && best.length === 6) return `::${quad}`;
  if (best.start === 0 && best.length === 5 && groups[5] === 0xffff) return `::ffff:${quad}`;
  const hex = (part: readonly number[]): string => part.map((g) => g.toString(16)).join(":");
  return `${hex(groups.slice(0, best.start))}::${hex(groups.slice(best.start + best.length))}`;
}

/**
 * A host that `getaddrinfo(AI_NUMERICHOST)` takes, as `inet_ntop` prints it; undefined: a name that needs a resolver.
 * IPv4 in every `inet_aton` form (`127.1`, `0x7f000001`), IPv6 without brackets, with or without a numeric scope.
 */
export function numericHost(text: string): string | undefined {
  const scope = text.indexOf("%");
  const six = parseIPv6(scope < 0 ? text : text.slice(0, scope));
  if (six !== undefined && (scope < 0 || /^\d+$/.test(text.slice(scope + 1)))) return printIPv6(six);
  const parts = text.split(".");
  if (parts.length > 4 || text.length > 64) return undefined;
  const numbers: number[] = [];
  for (const part of parts) {
    if (/^0[xX][0-9a-fA-F]+$/.test(part)) numbers.push(Number.parseInt(part, 16));
    else if (/^0[0-7]*$/.test(part)) numbers.push(Number.parseInt(part, 8));
    else if (/^[1-9]\d*$/.test(part)) numbers.push(Number(part));
    else return undefined;
  }
  const last = numbers.pop()!;
  if (numbers.some((n) => n > 255) || last >= 256 ** (4 - numbers.length)) return undefined;
  const value = numbers.reduce((sum, n, i) => sum + n * 256 ** (3 - i), last);
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}
