// Numbers of fewer or more bits than a byte has, low bits first. A reader must never run past its bytes: what is missing is damage.
import type { ByteReader, ByteWriter } from 'spanline/internal/base';

/** Appends bits to a `ByteWriter`; `flush` fills the last byte with zeros. */
export class BitWriter {
  readonly #bytes: ByteWriter;
  #pending = 0;
  #pendingBits = 0;

  constructor(bytes: ByteWriter) {
    this.#bytes = bytes;
  }

  /** The low `bits` (0 to 32) of `value`, which has no others. */
  put(value: number, bits: number): void {
    if (bits > 16) {
      this.#putShort(value & 0xffff, 16);
      this.#putShort(value >>> 16, bits - 16);
    } else this.#putShort(value, bits);
  }

  /** `zeros` zeros and a one. */
  unary(zeros: number): void {
    let left = zeros;
    for (; left >= 16; left -= 16) this.#putShort(0, 16);
    this.#putShort(1 << left, left + 1);
  }

  flush(): void {
    if (this.#pendingBits > 0) this.#bytes.byte(this.#pending);
    this.#pending = 0;
    this.#pendingBits = 0;
  }

  // Seven bits wait at most, so sixteen more fit 32.
  #putShort(value: number, bits: number): void {
    this.#pending |= value << this.#pendingBits;
    this.#pendingBits += bits;
    while (this.#pendingBits >= 8) {
      this.#bytes.byte(this.#pending & 0xff);
      this.#pending >>>= 8;
      this.#pendingBits -= 8;
    }
  }
}

/** Reads what a `BitWriter` wrote where `reader` stands; `end` moves `reader` behind it. */
export class BitReader {
  readonly #reader: ByteReader;
  readonly #bytes: Uint8Array;
  readonly #start: number;
  #at = 0;
  #pending = 0;
  #pendingBits = 0;

  constructor(reader: ByteReader) {
    this.#reader = reader;
    this.#start = reader.at;
    this.#bytes = reader.raw(reader.left);
  }

  /** A number of `bits` (0 to 32). */
  take(bits: number): number {
    if (bits <= 16) return this.#takeShort(bits);
    const low = this.#takeShort(16);
    return low + this.#takeShort(bits - 16) * 0x10000;
  }

  /** The zeros before the next one. */
  unary(): number {
    let zeros = 0;
    while (this.#pending === 0) {
      zeros += this.#pendingBits;
      this.#pendingBits = 0;
      this.#more();
    }
    const last = 31 - Math.clz32(this.#pending & -this.#pending);
    this.#pending >>>= last + 1;
    this.#pendingBits -= last + 1;
    return zeros + last;
  }

  end(): void {
    this.#reader.at = this.#start + this.#at;
  }

  #takeShort(bits: number): number {
    while (this.#pendingBits < bits) this.#more();
    const value = this.#pending & ((1 << bits) - 1);
    this.#pending >>>= bits;
    this.#pendingBits -= bits;
    return value;
  }

  #more(): void {
    if (this.#at === this.#bytes.length) throw this.#reader.corrupt('ends in the middle of a number');
    this.#pending |= this.#bytes[this.#at++] << this.#pendingBits;
    this.#pendingBits += 8;
  }
}
