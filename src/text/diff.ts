/**
 * Unified diff of two texts, as `patch` and `git apply` read it. Lines end at `\n` only, so that a `\r` is part of its
 * line and changes of line ends are seen.
 */

export interface DiffOptions {
  /** Names in the header, for example `a/redis.conf` and `b/redis.conf`. */
  readonly from: string;
  readonly to: string;
  /** Unchanged lines around a change (default 3). */
  readonly context?: number;
}

/** Lines `[aStart, aEnd)` of the old text are replaced by `[bStart, bEnd)` of the new one; 0-based. */
export interface Change {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

/** Edits beyond which the shortest script is not searched for: the differing middle is then one change. */
const MAX_EDITS = 2000;

function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines: string[] = [];
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf("\n", at);
    const stop = end < 0 ? text.length : end + 1;
    lines.push(text.slice(at, stop));
    at = stop;
  }
  return lines;
}

/** The changes between two lists of lines, in order (Myers' shortest edit script, bounded). */
export function diffLines(a: readonly string[], b: readonly string[]): Change[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let aEnd = a.length;
  let bEnd = b.length;
  while (aEnd > head && bEnd > head && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd--;
    bEnd--;
  }
  if (head === aEnd && head === bEnd) return [];
  const whole: Change = { aStart: head, aEnd, bStart: head, bEnd };
  if (head === aEnd || head === bEnd) return [whole];
  return shortest(a, b, whole) ?? [whole];
}

/** `rows[d][k + d]` is the furthest x on diagonal k after d edits, -1 where none leads into the box. */
type Trace = Int32Array[];

function reach(trace: Trace, d: number, k: number): number {
  return k < -d || k > d ? -1 : trace[d]![k + d]!;
}

/** The step that leads to diagonal k with the d-th edit: an inserted line (from k + 1) or a deleted one (from k - 1). */
function step(trace: Trace, d: number, k: number): { inserted: boolean; from: number } {
  const down = reach(trace, d - 1, k + 1);
  const right = reach(trace, d - 1, k - 1);
  return right < down ? { inserted: true, from: down } : { inserted: false, from: right };
}

function shortest(a: readonly string[], b: readonly string[], box: Change): Change[] | undefined {
  const n = box.aEnd - box.aStart;
  const m = box.bEnd - box.bStart;
  const limit = Math.min(MAX_EDITS, n + m);
  const trace: Trace = [];
  for (let d = 0; d <= limit; d++) {
    const row = new Int32Array(2 * d + 1).fill(-1);
    trace.push(row);
    for (let k = -d; k <= d; k += 2) {
      let x = 0;
      if (d > 0) {
        const { inserted, from } = step(trace, d, k);
        if (from < 0) continue;
        x = inserted ? from : from + 1;
      }
      let y = x - k;
      if (x > n || y > m) continue;
      while (x < n && y < m && a[box.aStart + x] === b[box.bStart + y]) {
        x++;
        y++;
      }
      row[k + d] = x;
      if (x === n && y === m) return trackBack(trace, d, n, m, box);
    }
  }
  return undefined;
}

function trackBack(trace: Trace, edits: number, n: number, m: number, box: Change): Change[] {
  const steps: Change[] = [];
  let k = n - m;
  for (let d = edits; d > 0; d--) {
    const { inserted, from } = step(trace, d, k);
    k = inserted ? k + 1 : k - 1;
    const aStart = box.aStart + from;
    const bStart = box.bStart + from - k;
    steps.push({ aStart, aEnd: aStart + (inserted ? 0 : 1), bStart, bEnd: bStart + (inserted ? 1 : 0) });
  }
  const changes: Change[] = [];
  for (const next of steps.reverse()) {
    const last = changes[changes.length - 1];
    if (last !== undefined && last.aEnd === next.aStart && last.bEnd === next.bStart) {
      changes[changes.length - 1] = { aStart: last.aStart, aEnd: next.aEnd, bStart: last.bStart, bEnd: next.bEnd };
    } else changes.push(next);
  }
  return changes;
}

/** The unified diff of two texts; an empty string when they are equal. */
export function unifiedDiff(before: string, after: string, options: DiffOptions): string {
  const a = splitLines(before);
  const b = splitLines(after);
  const changes = diffLines(a, b);
  if (changes.length === 0) return "";
  const context = options.context ?? 3;
  const out = [`--- ${headerName(options.from)}\n`, `+++ ${headerName(options.to)}\n`];
  for (let i = 0; i < changes.length; ) {
    let last = i;
    while (last + 1 < changes.length && changes[last + 1]!.aStart - changes[last]!.aEnd <= 2 * context) last++;
    const aStart = Math.max(0, changes[i]!.aStart - context);
    const bStart = changes[i]!.bStart - (changes[i]!.aStart - aStart);
    const aEnd = Math.min(a.length, changes[last]!.aEnd + context);
    const bEnd = changes[last]!.bEnd + (aEnd - changes[last]!.aEnd);
    out.push(`@@ -${rangeText(aStart, aEnd)} +${rangeText(bStart, bEnd)} @@\n`);
    let at = aStart;
    for (const change of changes.slice(i, last + 1)) {
      for (; at < change.aStart; at++) push(" ", a[at]!);
      for (let j = change.aStart; j < change.aEnd; j++) push("-", a[j]!);
      for (let j = change.bStart; j < change.bEnd; j++) push("+", b[j]!);
      at = change.aEnd;
    }
    for (; at < aEnd; at++) push(" ", a[at]!);
    i = last + 1;
  }
  return out.join("");

  function push(mark: string, line: string): void {
    out.push(mark + line);
    if (!line.endsWith("\n")) out.push("\n\\ No newline at end of file\n");
  }
}

/** A tab ends the name where it holds a space, as GNU diff writes it; characters that break lines cannot stand there. */
function headerName(name: string): string {
  const safe = name.replace(/[\u0000-\u001f\u007f]/g, "?");
  return safe.includes(" ") ? `${safe}\t` : safe;
}

function rangeText(start: number, end: number): string {
  const count = end - start;
  const first = count === 0 ? start : start + 1;
  return count === 1 ? String(first) : `${first},${count}`;
}
