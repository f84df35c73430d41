// The one growing buffer that encoders write into and use again. It must never hold more than its limit: a write beyond it throws WRITER_FULL and
// leaves what was written before. Every writer of the library has this one shape, so that a call on it stays monomorphic.
//
// Variable-length integers are seven bits a byte, low ones first, and the high bit of all but the last byte set: this is the one place that defines
// how long they are, for the reader too.
//
// Below it protobuf's wire format: varints, fixed words, and messages whose length is known only afterwards. Callers make room first; only text makes
// its own. Field numbers and wire types come in as ready tags.

/** Bytes of the longest varint of a safe integer. */
export const MAX_VARINT_BYTES = 8;

/** Bytes that the varint of a safe integer from 0 takes. */
export const varintLength = (value: number): number => {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  if (value < 0x1000_0000) return 4;
  let length = 5;
  for (let rest = value / 2 ** 35; rest >= 1; rest /= 0x80) length++;
  return length;
};

/** Thrown when a write would pass the limit. One object without a stack: it is control flow, once in some megabytes. */
export const WRITER_FULL = Object.freeze(new RangeError('the buffer is at its limit'));

const FIRST_BYTES = 1024;
/** Bytes of the longest varint of 64 bits. */
const MAX_VARINT64_BYTES = 10;
/** Up to this length a loop over characters beats the call into native code. */
const LOOP_CHARACTERS = 40;
/** From this length on the exact size is worth a pass: reserving three bytes a character would waste too much. */
const MEASURED_CHARACTERS = 1024;

const dataOf = ({ buffer, byteOffset, length }: Buffer<ArrayBuffer>): DataView =>
  new DataView(buffer, byteOffset, length);

/** Appends to a buffer that grows. */
export class ByteWriter {
  /** A direct writer makes room with `reserve` first, and reads it anew afterwards. */
  bytes: Buffer<ArrayBuffer>;
  /** The same bytes, for words and doubles. */
  data: DataView;
  /** Bytes written: where the next one goes. */
  length = 0;

  constructor(
    capacity = FIRST_BYTES,
    readonly limit = Number.MAX_SAFE_INTEGER,
  ) {
    this.bytes = Buffer.allocUnsafe(capacity);
    this.data = dataOf(this.bytes);
  }

  /** Go on in another buffer. */
  use(bytes: Buffer<ArrayBuffer>): void {
    this.bytes = bytes;
    this.data = dataOf(bytes);
  }

  /** Make room for `count` more bytes. */
  reserve(count: number): void {
    if (this.length + count > this.bytes.length) this.#grow(this.length + count);
  }

  /** Make room for a text as UTF-8, and for `extra` bytes. */
  reserveText(text: string, extra = 0): void {
    const { length } = text;
    this.reserve((length < MEASURED_CHARACTERS ? length * 3 : Buffer.byteLength(text)) + extra);
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

  /** Little-endian. */
  uint32(value: number): void {
    this.reserve(4);
    this.data.setUint32(this.length, value, true);
    this.length += 4;
  }

  /** Little-endian. */
  double(value: number): void {
    this.reserve(8);
    this.data.setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** A whole number from 0 to 2^53 - 1. */
  varint(value: number): void {
    this.reserve(MAX_VARINT_BYTES);
    const { bytes } = this;
    let at = this.length;
    let rest = value;
    while (rest > 0x7fff_ffff) {
      bytes[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    while (rest > 0x7f) {
      bytes[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[at++] = rest;
    this.length = at;
  }

  /** An unsigned 64-bit number of two words; of each the lower 32 bits are taken. */
  varint64(high: number, low: number): void {
    this.reserve(MAX_VARINT64_BYTES);
    const { bytes } = this;
    let at = this.length;
    let hi = high >>> 0;
    let lo = low >>> 0;
    while (hi !== 0 || lo > 0x7f) {
      bytes[at++] = (lo & 0x7f) | 0x80;
      lo = ((lo >>> 7) | (hi << 25)) >>> 0;
      hi >>>= 7;
    }
    bytes[at++] = lo;
    this.length = at;
  }

  /** A whole number from -(2^52) to 2^52 - 1. */
  zigzag(value: number): void {
    this.varint(value >= 0 ? value * 2 : -value * 2 - 1);
  }

  /** Text as UTF-8 without its length. The room must have been made with `reserveText`. */
  text(text: string): void {
    const { length } = text;
    const { bytes } = this;
    if (length > LOOP_CHARACTERS) {
      this.length += bytes.write(text, this.length);
      return;
    }
    let at = this.length;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) {
        // From the start again: a pair of surrogates must not be cut.
        this.length += bytes.write(text, this.length);
        return;
      }
      bytes[at++] = code;
    }
    this.length = at;
  }

  /** What was written, as a view: valid until the next write. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  /** What was written, as a copy to keep. */
  copy(start = 0, end = this.length): Buffer<ArrayBuffer> {
    const copy = Buffer.allocUnsafeSlow(end - start);
    this.bytes.copy(copy, 0, start, end);
    return copy;
  }

  /** Start over in the same buffer. */
  clear(): void {
    this.length = 0;
  }

  /** Start over, in a buffer of `capacity` bytes where one large write blew this one up beyond `max`. */
  trim(max: number, capacity = FIRST_BYTES): void {
    this.length = 0;
    if (this.bytes.length > max) this.use(Buffer.allocUnsafe(capacity));
  }

  #grow(needed: number): void {
    if (needed > this.limit) throw WRITER_FULL;
    const larger = Buffer.allocUnsafe(Math.min(Math.max(needed, this.bytes.length * 2), this.limit));
    this.bytes.copy(larger, 0, 0, this.length);
    this.use(larger);
  }
}

const TWO_32 = 0x1_0000_0000;
const TWO_16 = 0x1_0000;

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;

/** One byte for fields 1 to 15, a varint beyond. */
export const tag = (field: number, wireType: number): number => (field << 3) | wireType;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
export const isInt64 = (value: bigint): boolean => value >= INT64_MIN && value <= INT64_MAX;

/** The words of a bigint without a division: a store through one view, loads through the other. */
const words = new DataView(new ArrayBuffer(8));

export const writeVarint32 = (writer: ByteWriter, value: number): void => {
  const { bytes } = writer;
  let at = writer.length;
  let rest = value;
  while (rest > 0x7f) {
    bytes[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[at++] = rest;
  writer.length = at;
};

/** A number of 32 bits with a tag of one byte; zero, proto3's default, is left out. Makes its own room. */
export const writeCount = (writer: ByteWriter, fieldTag: number, count: number): void => {
  if (count === 0) return;
  writer.reserve(8);
  writer.bytes[writer.length++] = fieldTag;
  writeVarint32(writer, count);
};

/** A whole number up to 2^53, as int64: negative ones take ten bytes. */
export const writeInteger = (writer: ByteWriter, value: number): void => {
  if (value >= 0 && value < 0x8000_0000) writeVarint32(writer, value);
  else writer.varint64(Math.floor(value / TWO_32), value);
};

/** A bigint for which {@link isInt64} holds. */
export const writeBigInt = (writer: ByteWriter, value: bigint): void => {
  words.setBigInt64(0, value);
  writer.varint64(words.getUint32(0), words.getUint32(4));
};

// Unix time in nanoseconds as two unsigned 32-bit words, exactly, without a bigint. Never through a double as a whole: 2^53 ns are 104 days.

/** Spans of a batch begin and end within few seconds, so the product of the last second is kept. */
let lastSec = 0;
let secHi = 0;
let secLo = 0;

/** The words of the last call. Read them at once. */
export const nanosWords = { hi: 0, lo: 0 };

const multiply = (sec: number): void => {
  // Each half stays under 2^49, where doubles are exact. Right up to the year 2554, where 64 bits end.
  const upper = Math.floor(sec / TWO_16) * 1e9;
  const lower = (sec % TWO_16) * 1e9;
  const low = (upper % TWO_16) * TWO_16 + (lower % TWO_32);
  secHi = Math.floor(upper / TWO_16) + Math.floor(lower / TWO_32) + Math.floor(low / TWO_32);
  secLo = low % TWO_32;
  lastSec = sec;
};

export const toNanosWords = (sec: number, nano: number): void => {
  if (sec !== lastSec) multiply(sec);
  const low = secLo + nano;
  if (low < TWO_32) {
    nanosWords.hi = secHi;
    nanosWords.lo = low;
  } else {
    nanosWords.hi = secHi + 1;
    nanosWords.lo = low - TWO_32;
  }
};

export const writeUnixNanos = (writer: ByteWriter, sec: number, nano: number): void => {
  toNanosWords(sec, nano);
  const { data, length } = writer;
  data.setUint32(length, nanosWords.lo, true);
  data.setUint32(length + 4, nanosWords.hi, true);
  writer.length = length + 8;
};

/** A string field with a tag of one byte. Makes its own room, and 16 bytes for what follows it. */
export const writeString = (writer: ByteWriter, fieldTag: number, value: string): void => {
  writer.reserveText(value, 24);
  writer.bytes[writer.length++] = fieldTag;
  const guess = varintLength(value.length);
  const start = beginMessage(writer, guess);
  writer.text(value);
  endMessage(writer, start, guess);
};

/**
 * Leaves `guess` bytes for a length that is not known yet and gives where the content begins. A wrong guess costs a move
 * of the content in {@link endMessage}, nothing else.
 */
export const beginMessage = (writer: ByteWriter, guess: number): number => {
  writer.length += guess;
  return writer.length;
};

/** Writes the length of what was begun at `start`; gives by how many bytes the content was moved for it. */
export const endMessage = (writer: ByteWriter, start: number, guess: number): number => {
  const end = writer.length;
  const length = end - start;
  const size = varintLength(length);
  if (size !== guess) {
    writer.reserve(size);
    writer.bytes.copyWithin(start - guess + size, start, end);
  }
  writer.length = start - guess;
  writeVarint32(writer, length);
  writer.length += length;
  return size - guess;
};
