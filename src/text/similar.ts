/** The nearest known name to a mistyped one, for every "did you mean". */

/** Longer names are never compared: a suggestion for them would help nobody. */
const MAX_LENGTH = 128;
const MAX_DISTANCE = 4;

/**
 * Damerau-Levenshtein distance (optimal string alignment: insert, delete, replace, swap two neighbours, each 1), or
 * `limit + 1` when it exceeds `limit`.
 */
export function editDistance(a: string, b: string, limit = Number.POSITIVE_INFINITY): number {
  if (a === b) return 0;
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  const width = b.length + 1;
  let older = new Uint32Array(width);
  let old = new Uint32Array(width);
  let row = new Uint32Array(width);
  for (let j = 0; j < width; j++) old[j] = j;
  for (let i = 1; i <= a.length; i++) {
    row[0] = i;
    let best = i;
    const x = a.charCodeAt(i - 1);
    for (let j = 1; j < width; j++) {
      const y = b.charCodeAt(j - 1);
      let cost = Math.min(old[j]! + 1, row[j - 1]! + 1, old[j - 1]! + (x === y ? 0 : 1));
      if (i > 1 && j > 1 && x === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === y) {
        cost = Math.min(cost, older[j - 2]! + 1);
      }
      row[j] = cost;
      if (cost < best) best = cost;
    }
    // a swap may still reach back one row, so one row above the limit decides nothing
    if (best > limit + 1) return limit + 1;
    const spare = older;
    older = old;
    old = row;
    row = spare;
  }
  return Math.min(old[b.length]!, limit + 1);
}

/** How many slips a name of this length may hold and still be recognised: one in three characters, at most four. */
function slips(length: number): number {
  return Math.min(MAX_DISTANCE, Math.floor(length / 3));
}

/** `pack/rule` → `rule`; undefined for a name without a slash. */
function tailOf(name: string): string | undefined {
  const slash = name.lastIndexOf("/");
  return slash < 0 ? undefined : name.slice(slash + 1);
}

/**
 * Up to `max` candidates that `name` may have meant, best first. Case does not count; a name with its `pack/` forgotten
 * or mistaken finds the candidate with the same last part. Equal scores keep the order of `candidates`.
 */
export function similar(name: string, candidates: Iterable<string>, max = 3): string[] {
  if (name.length === 0 || name.length > MAX_LENGTH) return [];
  const wanted = name.toLowerCase();
  const tail = tailOf(wanted) ?? wanted;
  const found: { candidate: string; score: number }[] = [];
  const seen = new Set<string>();
  for (const candidate of candidates) {
    if (candidate === name || candidate.length > MAX_LENGTH || seen.has(candidate)) continue;
    seen.add(candidate);
    const lower = candidate.toLowerCase();
    const limit = slips(Math.max(wanted.length, lower.length));
    let score = editDistance(wanted, lower, limit);
    if (score > limit) score = Number.POSITIVE_INFINITY;
    const end = tailOf(lower);
    if (end !== undefined) {
      const allowed = slips(Math.max(tail.length, end.length)) - 1;
      const distance = tail === end ? 0 : allowed > 0 ? editDistance(tail, end, allowed) : 1;
      if (distance === 0 || distance <= allowed) score = Math.min(score, distance + 1.5);
    }
    if (score !== Number.POSITIVE_INFINITY) found.push({ candidate, score });
  }
  return found
    .sort((a, b) => a.score - b.score)
    .slice(0, max)
    .map((f) => f.candidate);
}

/** The one candidate that `name` most likely meant, or undefined. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  return similar(name, candidates, 1)[0];
}

/** `; did you mean "x"?`, or nothing: to be appended to a message about an unknown name. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const best = nearest(name, candidates);
  return best === undefined ? "" : `; did you mean "${best}"?`;
}
