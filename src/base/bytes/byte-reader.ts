// The one cursor over bytes that others wrote. It must never run past its bytes, trust a length, or accept a number that is not safe: what is
// wrong becomes the error that its owner makes of the reason.
import { varintLength } from './byte-writer.js';

/** The error for bytes that are not what was written; `reason` goes on behind their name: `ends too early`. */
export type ToFault = (reason: string) => Error;

/** Reads what a `ByteWriter` wrote. */
export class ByteReader {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #toFault: ToFault;

  constructor(bytes: Uint8Array, toFault: ToFault) {
    this.#bytes = bytes;
    this.#toFault = toFault;
  }

  get left(): number {
    return this.#bytes.length - this.at;
  }

  byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw this.corrupt('ends too early');
    return byte;
  }

  /** A view of the next bytes. */
  raw(length: number): Uint8Array {
    if (length > this.left) throw this.corrupt('ends too early');
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  /** Little-endian. */
  uint32(): number {
    const { at } = this;
    const bytes = this.#bytes;
    if (at + 4 > bytes.length) throw this.corrupt('ends too early');
    this.at = at + 4;
    return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
  }

  varint(): number {
    const bytes = this.#bytes;
    let { at } = this;
    let value = 0;
    // Nearly all are below 2^28, where bit operations do. A byte that is not there is not below 0x80, and adds nothing.
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bytes[at++];
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.at = at;
        return value;
      }
    }
    for (let scale = 2 ** 28; scale <= 2 ** 49; scale *= 0x80) {
      const byte = bytes[at++];
      if (byte === undefined) throw this.corrupt('ends in the middle of a number');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80 && value <= Number.MAX_SAFE_INTEGER) {
        this.at = at;
        return value;
      }
    }
    throw this.corrupt('has a number beyond 53 bits');
  }

  /** A varint in the one form that a writer gives it: where equal bytes must mean equal things, a longer one is damage. */
  shortestVarint(): number {
    const start = this.at;
    const value = this.varint();
    if (this.at - start !== varintLength(value))
      throw this.corrupt(`has a number at byte ${start} that is not in its shortest form`);
    return value;
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** Throws unless everything was read. */
  end(): void {
    if (this.left !== 0) throw this.corrupt(`has ${this.left} bytes too many`);
  }

  corrupt(reason: string): Error {
    return this.#toFault(reason);
  }
}
