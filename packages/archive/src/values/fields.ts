// Ids, Unix times in nanoseconds, kinds and status codes, as files have them: kinds and codes as numbers, ids as bytes of their hexadecimal digits,
// times as u64, low bytes first, and in columns that are compared without a bigint. Ids are lower-case hexadecimal of a fixed length; anything else
// is refused, because it would come back different, and so is a time that no file can hold, before it is written.
import { BadKeyError } from '@spanline/graph';
import { type ByteReader, type ByteWriter, firstIndex } from 'spanline/internal/base';

/** The place of a kind is its number in files. */
export const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
export const STATUS_CODES = ['unset', 'ok', 'error'] as const;

/** Bytes of ids, and of a key: a trace id and a span id. */
export const TRACE_ID_BYTES = 16;
export const SPAN_ID_BYTES = 8;
export const KEY_BYTES = TRACE_ID_BYTES + SPAN_ID_BYTES;

const NIBBLES = new Int8Array(128).fill(-1);
for (let digit = 0; digit < 16; digit++) NIBBLES[digit.toString(16).charCodeAt(0)] = digit;

/** Eight digits as a number, or -1 where they are none. */
const word = (text: string, at: number): number => {
  let value = 0;
  let bad = 0;
  for (let i = at; i < at + 8; i++) {
    const code = text.charCodeAt(i);
    const nibble = code < 128 ? NIBBLES[code] : -1;
    bad |= nibble;
    value = (value << 4) | nibble;
  }
  return bad < 0 ? -1 : value >>> 0;
};

const bad = (text: unknown, what: string, digits: number): BadKeyError =>
  new BadKeyError(`a ${what} has ${digits} hexadecimal digits in lower case, not ${JSON.stringify(text)}`);

/** Write the words of an id into `into` from `at` on. */
export const parseId = (text: string, what: string, words: number, into: Uint32Array, at: number): void => {
  if (typeof text !== 'string' || text.length !== words * 8) throw bad(text, what, words * 8);
  for (let i = 0; i < words; i++) {
    const value = word(text, i * 8);
    if (value < 0) throw bad(text, what, words * 8);
    into[at + i] = value;
  }
};

const traceWords = new Uint32Array(TRACE_ID_BYTES / 4);

/** A trace id as bytes. */
export const traceIdBytes = (text: string): Buffer => {
  parseId(text, 'trace id', traceWords.length, traceWords, 0);
  const bytes = Buffer.allocUnsafe(TRACE_ID_BYTES);
  traceWords.forEach((value, i) => {
    bytes.writeUInt32BE(value, i * 4);
  });
  return bytes;
};

/** The last word of the id of a trace as it is written; by it batches are found that may have the trace. */
export const lastWordOf = (traceId: string): number => Number.parseInt(traceId.slice(24), 16);

/** The latest time of a file. */
export const MAX_TIME = 0xffff_ffff_ffff_ffffn;

/** What a time must be, for messages. */
export const TIME_RULE = 'times are bigints from 0 to 2^64 - 1';

export const isTime = (time: unknown): time is bigint => typeof time === 'bigint' && time >= 0n && time <= MAX_TIME;

/** The order of two numbers or texts: negative when the first comes first. */
export const compare = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Whether a number is among some, which ascend. */
export const hasNumber = (numbers: Uint32Array | Float64Array, number: number): boolean =>
  numbers[firstIndex(0, numbers.length, (i) => numbers[i] >= number)] === number;

const scratch = new Uint8Array(8);
const view = new DataView(scratch.buffer);

/** Append a time, which `isTime`. */
export const writeTime = (writer: ByteWriter, time: bigint): void => {
  view.setBigUint64(0, time, true);
  writer.raw(scratch);
};

export const readTime = (reader: ByteReader): bigint => {
  scratch.set(reader.raw(8));
  return view.getBigUint64(0, true);
};

/** Which half of a 64-bit number stands first in memory depends on the machine. */
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;
const LOW = 1 - HIGH;

/** The same numbers, and room behind them. */
export const longer = <T extends Uint8Array | Int32Array | Uint32Array>(column: T, length: number): T => {
  const larger = new (column.constructor as new (length: number) => T)(length);
  larger.set(column);
  return larger;
};

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
