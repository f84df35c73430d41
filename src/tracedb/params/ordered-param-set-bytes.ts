// The bytes of an ordered param set: a version byte, then keys and values in their order, each with its length before it.
// One set has exactly one form, so that equal hashes mean equal sets; bytes that no writer makes must never be read as a set.
import { TraceDbError } from '../tracedb-error.js';
import { MAX_PARAM_LENGTH } from './param-text.js';

const VERSION = 1;

/** Bytes of a serialised set; what one cell of a table holds. */
export const MAX_ORDERED_PARAM_SET_BYTES = 10 * 1024 * 1024;

/** Keys, and at the same place the values of each. */
export interface OrderedLists {
  readonly keys: readonly string[];
  readonly values: readonly (readonly string[])[];
}

const corrupt = (what: string, options?: ErrorOptions): TraceDbError =>
  new TraceDbError(
    'ERR_SPANLINE_STORE_CORRUPT',
    `ordered param set: ${what}; it was not written by this package, restore it from a backup`,
    options,
  );

const varintLength = (value: number): number => {
  let length = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) length++;
  return length;
};

const textLength = (text: string): number => {
  const bytes = Buffer.byteLength(text);
  return varintLength(bytes) + bytes;
};

const listLength = (list: readonly string[]): number => {
  let length = varintLength(list.length);
  for (const text of list) length += textLength(text);
  return length;
};

/** The bytes of these lists. Throws `ERR_SPANLINE_TABLE_LIMIT` beyond 10 MiB. */
export const writeOrderedLists = ({ keys, values }: OrderedLists): Uint8Array => {
  let size = 1 + varintLength(keys.length);
  for (let k = 0; k < keys.length; k++) size += textLength(keys[k]) + listLength(values[k]);
  if (size > MAX_ORDERED_PARAM_SET_BYTES) {
    throw new TraceDbError(
      'ERR_SPANLINE_TABLE_LIMIT',
      `an ordered param set of ${size} bytes; the limit is ${MAX_ORDERED_PARAM_SET_BYTES}: use smaller tiles, or drop params whose values are unique to a trace`,
    );
  }
  const bytes = Buffer.alloc(size);
  let at = 0;
  const number = (value: number): void => {
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
    bytes[at++] = rest;
  };
  const text = (value: string): void => {
    number(Buffer.byteLength(value));
    at += bytes.write(value, at);
  };
  bytes[at++] = VERSION;
  number(keys.length);
  for (let k = 0; k < keys.length; k++) {
    text(keys[k]);
    number(values[k].length);
    for (const value of values[k]) text(value);
  }
  return bytes;
};

class Reader {
  readonly #bytes: Buffer;
  // A byte order mark at the start of a value belongs to the value.
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.at;
  }

  byte(): number {
    if (this.left === 0) throw corrupt(`ends after ${this.at} bytes, in the middle`);
    return this.#bytes[this.at++];
  }

  number(): number {
    let value = 0;
    // Four groups of 7 bits are more than the longest set can count.
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte > 0x7f) continue;
      if (byte === 0 && shift > 0) break;
      return value;
    }
    throw corrupt(`the number before byte ${this.at} is not in its shortest form`);
  }

  /** A count of things that take at least `bytesEach` bytes: never more than the rest can hold. */
  count(bytesEach: number): number {
    const count = this.number();
    if (count * bytesEach > this.left) throw corrupt(`counts ${count} entries where ${this.left} bytes are left`);
    return count;
  }

  text(): string {
    const length = this.count(1);
    const slice = this.#bytes.subarray(this.at, this.at + length);
    let text: string;
    try {
      text = this.#utf8.decode(slice);
    } catch (cause) {
      throw corrupt(`the text at byte ${this.at} is not UTF-8`, { cause });
    }
    if (text.length > MAX_PARAM_LENGTH) {
      throw corrupt(`the text at byte ${this.at} has ${text.length} characters; the limit is ${MAX_PARAM_LENGTH}`);
    }
    this.at += length;
    return text;
  }
}

/** The lists in `bytes`. Throws `ERR_SPANLINE_STORE_CORRUPT` unless `writeOrderedLists` made them. */
export const readOrderedLists = (bytes: Uint8Array): OrderedLists => {
  if (bytes.byteLength > MAX_ORDERED_PARAM_SET_BYTES) {
    throw corrupt(`${bytes.byteLength} bytes; the limit is ${MAX_ORDERED_PARAM_SET_BYTES}`);
  }
  const reader = new Reader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const version = reader.byte();
  if (version !== VERSION) {
    throw corrupt(`version ${version}, and this release reads version ${VERSION}: use the release that wrote it`);
  }
  const keys: string[] = [];
  const values: string[][] = [];
  // A key has a length, a byte, and a count of values; a value has a length.
  for (let k = reader.count(4); k > 0; k--) {
    const key = reader.text();
    if (key === '') throw corrupt(`an empty key before byte ${reader.at}`);
    const list: string[] = [];
    for (let v = reader.count(1); v > 0; v--) list.push(reader.text());
    if (list.length === 0) throw corrupt(`a key without values before byte ${reader.at}`);
    keys.push(key);
    values.push(list);
  }
  if (reader.left > 0) throw corrupt(`${reader.left} bytes after its end`);
  return { keys, values };
};
