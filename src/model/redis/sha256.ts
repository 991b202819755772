/** SHA-256 (FIPS 180-4) of a byte string, in lower-case hex: how servers keep ACL passwords. */

const K = new Int32Array(64);
const INITIAL = new Int32Array(8);
{
  // The constants are the first 32 fractional bits of the roots of the first primes.
  const bits = (root: number): number => ((root % 1) * 2 ** 32) | 0;
  let found = 0;
  for (let candidate = 2; found < 64; candidate++) {
    let prime = true;
    for (let d = 2; d * d <= candidate; d++) if (candidate % d === 0) prime = false;
    if (!prime) continue;
    if (found < 8) INITIAL[found] = bits(Math.sqrt(candidate));
    K[found++] = bits(Math.cbrt(candidate));
  }
}

/** Scratch space: the message schedule and the state of the one digest that is being made. */
const w = new Int32Array(64);
const state = new Int32Array(8);

export function sha256(bytes: string): string {
  const size = bytes.length;
  const blocks = ((size + 8) >> 6) + 1;
  state.set(INITIAL);
  for (let block = 0; block < blocks; block++) {
    const start = block * 64;
    w.fill(0, 0, 16);
    const end = Math.min(size - start, 64);
    for (let i = 0; i < end; i++) w[i >> 2]! |= bytes.charCodeAt(start + i) << (24 - (i & 3) * 8);
    if (end >= 0 && end < 64) w[end >> 2]! |= 0x80 << (24 - (end & 3) * 8);
    if (block === blocks - 1) {
      w[14] = Math.floor(size / 2 ** 29);
      w[15] = size << 3;
    }
    digest();
  }
  let out = "";
  for (let i = 0; i < 8; i++) out += (state[i]! >>> 0).toString(16).padStart(8, "0");
  return out;
}

function digest(): void {
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!;
    const y = w[i - 2]!;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (((w[i - 16]! + s0) | 0) + ((w[i - 7]! + s1) | 0)) | 0;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const choice = (e & f) ^ (~e & g);
    const t1 = (((((h + s1) | 0) + choice) | 0) + ((K[i]! + w[i]!) | 0)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}
