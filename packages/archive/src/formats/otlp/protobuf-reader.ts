// Reads the protobuf wire format. It must never read beyond its bytes or the message it is in, nor trust a length.
import { isUtf8 } from 'node:buffer';
import { malformed, type TraceFormatError } from '../trace-format-error.js';

const TWO_49 = 2n ** 49n;
/** What stands for bytes that are not UTF-8, and may be there by itself. */
const REPLACEMENT = '\ufffd';

/** A cursor over one message and the messages in it. */
export class ProtobufReader {
  at = 0;
  /** Where the current message ends. */
  end: number;
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #hasBadText = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.end = bytes.length;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The current message has another field. */
  get hasMore(): boolean {
    return this.at < this.end;
  }

  /** Field number and wire type of the next field, as `tag()` of the writer makes them. */
  tag(): number {
    // Most take one byte.
    const byte = this.at < this.end ? this.#bytes[this.at] : 0;
    if (byte >= 8 && byte < 0x80) {
      this.at++;
      return byte;
    }
    const tag = this.uint32();
    if (tag < 8) throw this.#fault('a field has no number');
    return tag;
  }

  /** An unsigned varint of at most 32 bits; higher bits are cut, as protobuf has it. */
  uint32(): number {
    const value = this.int64();
    return value >= 0 && value < 2 ** 32 ? Number(value) : Number(BigInt.asUintN(32, BigInt(value)));
  }

  /** A varint as a signed 64-bit integer: a number where that is exact. */
  int64(): number | bigint {
    let low = 0;
    for (let i = 0, scale = 1; i < 7; i++, scale *= 0x80) {
      const byte = this.#byte();
      low += (byte & 0x7f) * scale;
      if (byte < 0x80) return low;
    }
    let high = 0;
    for (let i = 0, scale = 1; i < 3; i++, scale *= 0x80) {
      const byte = this.#byte();
      high += (byte & 0x7f) * scale;
      if (byte >= 0x80) continue;
      const value = BigInt.asIntN(64, BigInt(high) * TWO_49 + BigInt(low));
      const number = Number(value);
      return Number.isSafeInteger(number) ? number : value;
    }
    throw this.#fault('a number has more than ten bytes');
  }

  fixed64(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true);
  }

  fixed32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  double(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  /** Text; bytes that are not UTF-8 become replacement characters, and are noted. */
  text(): string {
    const start = this.#advance(this.#length());
    const text = this.#bytes.toString('utf8', start, this.at);
    if (text.includes(REPLACEMENT) && !isUtf8(this.#bytes.subarray(start, this.at))) this.#hasBadText = true;
    return text;
  }

  /** Whether a text since the last call was not UTF-8. */
  takeBadText(): boolean {
    const hasBadText = this.#hasBadText;
    this.#hasBadText = false;
    return hasBadText;
  }

  /** A copy: the request's buffer must not live as long as a span. */
  blob(): Uint8Array {
    const start = this.#advance(this.#length());
    return Uint8Array.from(this.#bytes.subarray(start, this.at));
  }

  /** Bytes as hex digits. Ids of a wrong length need not be kept whole, so that a large one costs nothing. */
  hex(): string {
    const length = this.#length();
    const start = this.#advance(length);
    return this.#bytes.toString('hex', start, Math.min(this.at, start + 17));
  }

  /** The bytes of a message, passed over, as a key to find the same message again. */
  raw(): string {
    const start = this.#advance(this.#length());
    return this.#bytes.toString('latin1', start, this.at);
  }

  /** Go into a message; gives what `leave` needs. */
  enter(): number {
    const length = this.#length();
    const outer = this.end;
    this.end = this.#advance(length) + length;
    this.at = this.end - length;
    return outer;
  }

  /** Go on behind the message. */
  leave(outer: number): void {
    this.at = this.end;
    this.end = outer;
  }

  /** Pass over a field that is not known, or whose wire type is not the known one. */
  skip(tag: number): void {
    switch (tag & 7) {
      case 0:
        this.int64();
        break;
      case 1:
        this.#advance(8);
        break;
      case 2:
        this.#advance(this.#length());
        break;
      case 5:
        this.#advance(4);
        break;
      default:
        // Groups went out of use before OTLP was made.
        throw this.#fault(`a field has the wire type ${tag & 7}`);
    }
  }

  #length(): number {
    const byte = this.at < this.end ? this.#bytes[this.at] : 0x80;
    if (byte < 0x80) {
      this.at++;
      return byte;
    }
    const length = this.int64();
    if (typeof length === 'bigint' || length < 0) throw this.#fault('a length is beyond all bounds');
    return length;
  }

  #byte(): number {
    if (this.at >= this.end) throw this.#fault('a field is cut off');
    return this.#bytes[this.at++];
  }

  /** Where the next `count` bytes start. */
  #advance(count: number): number {
    const start = this.at;
    if (count > this.end - start) throw this.#fault('a field is cut off');
    this.at = start + count;
    return start;
  }

  #fault(what: string): TraceFormatError {
    return malformed(`no valid protobuf: ${what} at byte ${this.at}`);
  }
}
