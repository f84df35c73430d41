// Unix times in nanoseconds, below 2^64, as a column that is compared and told apart without a bigint.

/** Which half of a 64-bit number stands first in memory depends on the machine. */
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;
const LOW = 1 - HIGH;

export class Times {
  values: BigUint64Array;
  #halves: Uint32Array;

  constructor(count: number) {
    this.values = new BigUint64Array(count);
    this.#halves = new Uint32Array(this.values.buffer);
  }

  high(i: number): number {
    return this.#halves[2 * i + HIGH];
  }

  low(i: number): number {
    return this.#halves[2 * i + LOW];
  }

  set(i: number, high: number, low: number): void {
    this.#halves[2 * i + HIGH] = high;
    this.#halves[2 * i + LOW] = low;
  }

  /** This time `i` less time `j` of `other`; exact up to 2^53, and beyond at least as large as that. */
  minus(i: number, other: Times, j: number): number {
    return (this.high(i) - other.high(j)) * 2 ** 32 + (this.low(i) - other.low(j));
  }

  grow(count: number): void {
    const { values } = this;
    this.values = new BigUint64Array(count);
    this.values.set(values);
    this.#halves = new Uint32Array(this.values.buffer);
  }
}
