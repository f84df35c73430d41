// The bytes of an ordered param set: a version byte, then keys and values in their order, each with its length before it.
// One set has exactly one form, so that equal hashes mean equal sets; bytes that no writer makes must never be read as a set.
import { ByteReader, ByteWriter } from 'spanline/internal/base';
import { storeCorrupt, type TraceDbError, tableLimit } from '../tracedb-error.js';
import { MAX_PARAM_LENGTH } from './param-text.js';

const VERSION = 1;

/** Bytes of a serialised set; what one cell of a table holds. */
const MAX_ORDERED_PARAM_SET_BYTES = 10 * 1024 * 1024;

/** Keys, and at the same place the values of each. */
interface OrderedLists {
  readonly keys: readonly string[];
  readonly values: readonly (readonly string[])[];
}

const corrupt = (what: string, options?: ErrorOptions): TraceDbError =>
  storeCorrupt(`ordered param set: ${what}; it was not written by this package, restore it from a backup`, options);

const writeText = (writer: ByteWriter, text: string): void => {
  writer.varint(Buffer.byteLength(text));
  writer.reserveText(text);
  writer.text(text);
};

/** The bytes of these lists. Throws `ERR_SPANLINE_TABLE_LIMIT` beyond 10 MiB. */
export const writeOrderedLists = ({ keys, values }: OrderedLists): Uint8Array => {
  const writer = new ByteWriter();
  writer.byte(VERSION);
  writer.varint(keys.length);
  for (let k = 0; k < keys.length; k++) {
    writeText(writer, keys[k]);
    writer.varint(values[k].length);
    for (const value of values[k]) writeText(writer, value);
  }
  if (writer.length > MAX_ORDERED_PARAM_SET_BYTES) {
    throw tableLimit(
      `an ordered param set of ${writer.length} bytes; the limit is ${MAX_ORDERED_PARAM_SET_BYTES}: use smaller tiles, or drop params whose values are unique to a trace`,
    );
  }
  return writer.copy();
};

// A byte order mark at the start of a value belongs to the value.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A count of things that take at least `bytesEach` bytes: never more than the rest can hold. */
const readCount = (reader: ByteReader, bytesEach: number): number => {
  const count = reader.shortestVarint();
  if (count * bytesEach > reader.left)
    throw reader.corrupt(`counts ${count} entries where ${reader.left} bytes are left`);
  return count;
};

const readText = (reader: ByteReader): string => {
  const length = readCount(reader, 1);
  const { at } = reader;
  let text: string;
  try {
    text = utf8.decode(reader.raw(length));
  } catch (cause) {
    throw corrupt(`the text at byte ${at} is not UTF-8`, { cause });
  }
  if (text.length > MAX_PARAM_LENGTH) {
    throw corrupt(`the text at byte ${at} has ${text.length} characters; the limit is ${MAX_PARAM_LENGTH}`);
  }
  return text;
};

/** The lists in `bytes`. Throws `ERR_SPANLINE_STORE_CORRUPT` unless `writeOrderedLists` made them. */
export const readOrderedLists = (bytes: Uint8Array): OrderedLists => {
  if (bytes.byteLength > MAX_ORDERED_PARAM_SET_BYTES) {
    throw corrupt(`${bytes.byteLength} bytes; the limit is ${MAX_ORDERED_PARAM_SET_BYTES}`);
  }
  const reader = new ByteReader(bytes, corrupt);
  const version = reader.byte();
  if (version !== VERSION) {
    throw corrupt(`version ${version}, and this release reads version ${VERSION}: use the release that wrote it`);
  }
  const keys: string[] = [];
  const values: string[][] = [];
  // A key has a length, a byte, and a count of values; a value has a length.
  for (let k = readCount(reader, 4); k > 0; k--) {
    const key = readText(reader);
    if (key === '') throw corrupt(`an empty key before byte ${reader.at}`);
    const list: string[] = [];
    for (let v = readCount(reader, 1); v > 0; v--) list.push(readText(reader));
    if (list.length === 0) throw corrupt(`a key without values before byte ${reader.at}`);
    keys.push(key);
    values.push(list);
  }
  reader.end();
  return { keys, values };
};
