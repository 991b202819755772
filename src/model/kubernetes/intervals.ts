/**
 * Sets of whole numbers as sorted bounds: `[b0, b1) ∪ [b2, b3) ∪ …`. Half-open bounds need only comparison, so ports,
 * IPv4 (numbers) and IPv6 (bigints) share one algebra, and no operation ever counts members.
 */

/** Strictly increasing, even length. */
export type Bounds<T extends number | bigint> = readonly T[];

export const EMPTY: readonly never[] = [];

/**
 * The set of members `x` with `keep(x ∈ a, x ∈ b)`; `keep(false, false)` must be false. Linear in the number of bounds.
 */
function combine<T extends number | bigint>(
  a: Bounds<T>,
  b: Bounds<T>,
  keep: (inA: boolean, inB: boolean) => boolean,
): Bounds<T> {
  const out: T[] = [];
  let i = 0;
  let j = 0;
  let inside = false;
  while (i < a.length || j < b.length) {
    const x = a[i];
    const y = b[j];
    const at = y === undefined || (x !== undefined && x <= y) ? x! : y;
    if (x === at) i++;
    if (y === at) j++;
    const now = keep((i & 1) === 1, (j & 1) === 1);
    if (now !== inside) {
      out.push(at);
      inside = now;
    }
  }
  return out;
}

export function union<T extends number | bigint>(a: Bounds<T>, b: Bounds<T>): Bounds<T> {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  return combine(a, b, (x, y) => x || y);
}

export function intersect<T extends number | bigint>(a: Bounds<T>, b: Bounds<T>): Bounds<T> {
  if (a.length === 0 || b.length === 0) return EMPTY;
  return combine(a, b, (x, y) => x && y);
}

export function subtract<T extends number | bigint>(a: Bounds<T>, b: Bounds<T>): Bounds<T> {
  if (a.length === 0 || b.length === 0) return a;
  return combine(a, b, (x, y) => x && !y);
}

/** The union of any ranges `[start, end)`, in any order; empty ones are dropped. */
export function unionOf<T extends number | bigint>(ranges: Iterable<readonly [T, T]>): Bounds<T> {
  const sorted = [...ranges]
    .filter(([start, end]) => start < end)
    .sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
  const out: T[] = [];
  for (const [start, end] of sorted) {
    const last = out.at(-1);
    if (last === undefined || last < start) out.push(start, end);
    else if (last < end) out[out.length - 1] = end;
  }
  return out;
}

export function contains<T extends number | bigint>(set: Bounds<T>, member: T): boolean {
  let low = 0;
  let high = set.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (set[middle]! <= member) low = middle + 1;
    else high = middle;
  }
  return (low & 1) === 1;
}

export function equal<T extends number | bigint>(a: Bounds<T>, b: Bounds<T>): boolean {
  return a.length === b.length && a.every((bound, i) => bound === b[i]);
}
