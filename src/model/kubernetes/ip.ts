/** IPv4 and IPv6 addresses and CIDR blocks as numbers. Text forms: RFC 4632, RFC 4291, RFC 5952. */

import type { Bounds } from "./intervals.js";

const V4_END = 2 ** 32;
const V6_END = 1n << 128n;
export const ALL_V4: Bounds<number> = [0, V4_END];
export const ALL_V6: Bounds<bigint> = [0n, V6_END];

/** A half-open range of addresses of one family. */
export type AddressRange =
  | { readonly family: 4; readonly start: number; readonly end: number }
  | { readonly family: 6; readonly start: bigint; readonly end: bigint };

/** Dotted IPv4 without leading zeros (ambiguous between octal and decimal, refused by Kubernetes). */
export function parseV4(text: string): number | undefined {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return undefined;
  let value = 0;
  for (const part of text.split(".")) {
    const octet = Number(part);
    if (octet > 255 || (part.length > 1 && part.startsWith("0"))) return undefined;
    value = value * 256 + octet;
  }
  return value;
}

/** IPv6 with `::` and a dotted IPv4 tail; no zone. */
export function parseV6(text: string): bigint | undefined {
  if (text.length > 45 || !/^[0-9A-Fa-f:.]+$/.test(text)) return undefined;
  let body = text;
  const dot = body.indexOf(".");
  if (dot >= 0) {
    const cut = body.lastIndexOf(":") + 1;
    const tail = parseV4(body.slice(cut));
    if (cut === 0 || tail === undefined) return undefined;
    body = `${body.slice(0, cut)}${Math.floor(tail / 65536).toString(16)}:${(tail % 65536).toString(16)}`;
  }
  const halves = body.split("::");
  if (halves.length > 2) return undefined;
  const head = halves[0] === "" ? [] : halves[0]!.split(":");
  const tail = halves[1] === undefined || halves[1] === "" ? [] : halves[1].split(":");
  const zeros = 8 - head.length - tail.length;
  if (halves.length === 1 ? zeros !== 0 : zeros < 1) return undefined;
  let value = 0n;
  for (const group of [...head, ...Array<string>(zeros).fill("0"), ...tail]) {
    if (!/^[0-9A-Fa-f]{1,4}$/.test(group)) return undefined;
    value = (value << 16n) | BigInt(`0x${group}`);
  }
  return value;
}

function formatV4(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

export function formatV6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(112 - 16 * i)) & 0xffffn));
  let best = 0;
  let bestAt = -1;
  for (let i = 0; i < 8; i++) {
    let run = 0;
    while (i + run < 8 && groups[i + run] === 0) run++;
    if (run > best && run > 1) {
      best = run;
      bestAt = i;
    }
  }
  const text = (part: readonly number[]): string => part.map((g) => g.toString(16)).join(":");
  return bestAt < 0 ? text(groups) : `${text(groups.slice(0, bestAt))}::${text(groups.slice(bestAt + best))}`;
}

/** One address as a range of one. */
export function parseAddress(text: string): AddressRange | undefined {
  const v4 = parseV4(text);
  if (v4 !== undefined) return { family: 4, start: v4, end: v4 + 1 };
  const v6 = parseV6(text);
  return v6 === undefined ? undefined : { family: 6, start: v6, end: v6 + 1n };
}

/** `address/length`; host bits are cut off, as the cluster does. undefined: not a CIDR block. */
export function parseCidr(text: string): AddressRange | undefined {
  const slash = text.indexOf("/");
  const digits = text.slice(slash + 1);
  if (slash < 0 || !/^(?:0|[1-9]\d{0,2})$/.test(digits)) return undefined;
  const length = Number(digits);
  const base = parseAddress(text.slice(0, slash));
  if (base === undefined || length > (base.family === 4 ? 32 : 128)) return undefined;
  if (base.family === 4) {
    const size = 2 ** (32 - length);
    const start = base.start - (base.start % size);
    return { family: 4, start, end: start + size };
  }
  const size = 1n << BigInt(128 - length);
  const start = base.start - (base.start % size);
  return { family: 6, start, end: start + size };
}

/** `first-last`, both inclusive; also for one address. */
export function formatRange(range: AddressRange): string {
  return range.family === 4
    ? `${formatV4(range.start)}-${formatV4(range.end - 1)}`
    : `${formatV6(range.start)}-${formatV6(range.end - 1n)}`;
}

/** Reads what `formatRange` writes, a CIDR block or one address. */
export function parseRange(text: string): AddressRange | undefined {
  const dash = text.indexOf("-");
  if (dash < 0) return parseCidr(text) ?? parseAddress(text);
  const first = parseAddress(text.slice(0, dash));
  const last = parseAddress(text.slice(dash + 1));
  if (first?.family === 4 && last?.family === 4 && first.start <= last.start) {
    return { family: 4, start: first.start, end: last.end };
  }
  if (first?.family === 6 && last?.family === 6 && first.start <= last.start) {
    return { family: 6, start: first.start, end: last.end };
  }
  return undefined;
}
