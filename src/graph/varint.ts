// Variable-length integers: seven bits a byte, low ones first, and zigzag for signed ones. A reader must never run past its bytes, nor
// accept a number that is not safe.
import { CorruptError } from './graph-error.js';

/** Appends to a buffer that grows. */
export class ByteWriter {
  private bytes: Buffer;
  length = 0;

  constructor(capacity = 1024) {
    this.bytes = Buffer.allocUnsafe(capacity);
  }

  /** A whole number from 0 to 2^53 - 1. */
  varint(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest > 0x7fffffff) {
      this.bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    while (rest >= 0x80) {
      this.bytes[this.length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.length++] = rest;
  }

  /** A whole number from -2^52 to 2^52. */
  zigzag(value: number): void {
    this.varint(value >= 0 ? value * 2 : -value * 2 - 1);
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  uint32(value: number): void {
    this.reserve(4);
    this.length = this.bytes.writeUInt32LE(value, this.length);
  }

  /** What was written, as a view: valid until the next write. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  private reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.length + count));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}

/** Reads what a `ByteWriter` wrote. */
export class ByteReader {
  at = 0;

  /** @param what Names the bytes in errors; `section` and `block` say where they are. */
  constructor(
    private readonly bytes: Uint8Array,
    private readonly what: string,
    private readonly section: string,
    private readonly block?: number,
  ) {}

  get left(): number {
    return this.bytes.length - this.at;
  }

  varint(): number {
    // Most numbers are below 128.
    const first = this.bytes[this.at];
    if (first < 0x80) {
      this.at++;
      return first;
    }
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw this.corrupt('ends in the middle of a number');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      scale *= 0x80;
      if (scale > 2 ** 49) throw this.corrupt('has a number beyond 53 bits');
    }
    if (value > Number.MAX_SAFE_INTEGER) throw this.corrupt('has a number beyond 53 bits');
    return value;
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  byte(): number {
    const byte = this.bytes[this.at++];
    if (byte === undefined) throw this.corrupt('ends too early');
    return byte;
  }

  uint32(): number {
    return this.byte() + this.byte() * 0x100 + this.byte() * 0x10000 + this.byte() * 0x1000000;
  }

  raw(length: number): Uint8Array {
    if (length > this.left) throw this.corrupt('ends too early');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  /** Throws unless everything was read. */
  end(): void {
    if (this.left !== 0) throw this.corrupt(`has ${this.left} bytes too many`);
  }

  corrupt(reason: string): CorruptError {
    return new CorruptError(`${this.what} ${reason}`, this.section, this.block);
  }
}
