/** A set of small whole numbers, one bit each. */
export class Bitset {
  readonly #words: Uint32Array;

  /** For members below `size`. */
  constructor(size: number) {
    this.#words = new Uint32Array((size + 31) >>> 5);
  }

  add(member: number): void {
    this.#words[member >>> 5]! |= 1 << (member & 31);
  }

  has(member: number): boolean {
    return ((this.#words[member >>> 5] ?? 0) & (1 << (member & 31))) !== 0;
  }

  /** Adds `start … end - 1`. */
  fill(start: number, end: number): void {
    for (let i = start; i < end; ) {
      if ((i & 31) === 0 && i + 32 <= end) {
        this.#words[i >>> 5] = 0xffffffff;
        i += 32;
      } else this.add(i++);
    }
  }

  /** Adds every member of a set that is not larger. */
  addAll(other: Bitset): void {
    const theirs = other.#words;
    for (let i = 0; i < theirs.length; i++) this.#words[i]! |= theirs[i]!;
  }

  get isEmpty(): boolean {
    return this.#words.every((word) => word === 0);
  }

  /** Members, ascending. */
  forEach(visit: (member: number) => void): void {
    for (let w = 0; w < this.#words.length; w++) {
      let word = this.#words[w]!;
      while (word !== 0) {
        const bit = 31 - Math.clz32(word & -word);
        visit(w * 32 + bit);
        word &= word - 1;
      }
    }
  }
}
