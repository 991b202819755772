/** Interned sets of connections, and the rows of them that the connectivity engine is made of. */

import { ConnectionSet } from "./connections.js";

/** Interned sets of connections with remembered unions and intersections. Id 0 is nothing, 1 is everything. */
export class Pool {
  readonly #sets: ConnectionSet[] = [];
  readonly #ids = new Map<string, number>();
  readonly #unions = new Map<number, number>();
  readonly #meets = new Map<number, number>();

  constructor() {
    this.id(ConnectionSet.NONE);
    this.id(ConnectionSet.ALL);
  }

  id(set: ConnectionSet): number {
    const key = `${set.sctp.join()};${set.tcp.join()};${set.udp.join()}`;
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#sets.length;
      this.#sets.push(set);
      this.#ids.set(key, id);
    }
    return id;
  }

  set(id: number): ConnectionSet {
    return this.#sets[id]!;
  }

  union(a: number, b: number): number {
    if (a === b || b === 0 || a === 1) return a;
    if (a === 0 || b === 1) return b;
    const key = a < b ? a * 0x4000000 + b : b * 0x4000000 + a;
    let id = this.#unions.get(key);
    if (id === undefined) this.#unions.set(key, (id = this.id(this.set(a).union(this.set(b)))));
    return id;
  }

  intersect(a: number, b: number): number {
    if (a === b || b === 1 || a === 0) return a;
    if (a === 1 || b === 0) return b;
    const key = a < b ? a * 0x4000000 + b : b * 0x4000000 + a;
    let id = this.#meets.get(key);
    if (id === undefined) this.#meets.set(key, (id = this.id(this.set(a).intersect(this.set(b)))));
    return id;
  }
}

/** One side of one profile: what it lets through per class or outside range (an index), as pool ids. */
export class Row {
  /** What holds for every index that is not named. */
  readonly base: number;
  /** Indexes with something else than `base`. */
  readonly named: readonly number[];
  readonly #dense: Uint32Array | undefined;
  readonly #sparse = new Map<number, number>();

  /** Takes what `work` holds at the touched indexes and leaves it zero. Few stay a map, many become an array. */
  constructor(base: number, touched: readonly number[], work: Uint32Array, pool: Pool) {
    this.base = base;
    const named: number[] = [];
    const dense = touched.length * 8 < work.length ? undefined : new Uint32Array(work.length).fill(base);
    for (const index of touched) {
      const id = pool.union(work[index]!, base);
      work[index] = 0;
      if (id === base) continue;
      named.push(index);
      if (dense === undefined) this.#sparse.set(index, id);
      else dense[index] = id;
    }
    this.named = named;
    this.#dense = dense;
  }

  get(index: number): number {
    return this.#dense !== undefined ? this.#dense[index]! : (this.#sparse.get(index) ?? this.base);
  }
}
