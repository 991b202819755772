/** SHA-1 (FIPS 180-4) of a byte string, in lower-case hex: the name that EVALSHA gives a script. */
export function sha1(bytes: string): string {
  const size = bytes.length;
  const words = new Int32Array((((size + 8) >> 6) + 1) * 16);
  for (let i = 0; i < size; i++) words[i >> 2]! |= (bytes.charCodeAt(i) & 0xff) << (24 - (i & 3) * 8);
  words[size >> 2]! |= 0x80 << (24 - (size & 3) * 8);
  words[words.length - 2] = Math.floor(size / 2 ** 29);
  words[words.length - 1] = size << 3;
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  const w = new Int32Array(80);
  for (let block = 0; block < words.length; block += 16) {
    for (let i = 0; i < 80; i++) {
      w[i] = i < 16 ? words[block + i]! : rotate(w[i - 3]! ^ w[i - 8]! ^ w[i - 14]! ^ w[i - 16]!, 1);
    }
    let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
    for (let i = 0; i < 80; i++) {
      const [f, k] =
        i < 20
          ? [(b & c) | (~b & d), 0x5a827999]
          : i < 40
            ? [b ^ c ^ d, 0x6ed9eba1]
            : i < 60
              ? [(b & c) | (b & d) | (c & d), 0x8f1bbcdc]
              : [b ^ c ^ d, 0xca62c1d6];
      const t = (rotate(a, 5) + f + e + k + w[i]!) | 0;
      e = d;
      d = c;
      c = rotate(b, 30);
      b = a;
      a = t;
    }
    state[0]! += a;
    state[1]! += b;
    state[2]! += c;
    state[3]! += d;
    state[4]! += e;
  }
  return [...state].map((v) => (v >>> 0).toString(16).padStart(8, "0")).join("");
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
