/**
 * A 128-bit key of a text as 32 hex digits, fast and not cryptographic: two texts may share one by design of an attacker, so
 * what is kept under it must carry the text itself. (MurmurHash3's mixing constants, four lanes over UTF-16 code units.)
 */
export function contentKey(text: string): string {
  let a = 0x9368e53c ^ text.length;
  let b = 0x586dcd20;
  let c = 0x2f0e4b1d;
  let d = 0x6c4ab3a7;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0xcc9e2d51);
    b = Math.imul(b ^ unit ^ (a >>> 15), 0x1b873593);
    c = Math.imul(c ^ unit ^ (b >>> 13), 0x85ebca6b);
    d = Math.imul(d ^ unit ^ (c >>> 16), 0xc2b2ae35);
  }
  return [a ^ (d >>> 11), b ^ (a >>> 7), c ^ (b >>> 5), d ^ (c >>> 9)]
    .map((lane) => (Math.imul(lane ^ (lane >>> 16), 0x85ebca6b) >>> 0).toString(16).padStart(8, "0"))
    .join("");
}
