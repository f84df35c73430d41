// The value of a cell of Gold: the number of a digest as a varint. A number has exactly one form here; a longer one must never be read as
// if it were that.
import { ByteReader } from '../../base/bytes/byte-reader.js';
import { ByteWriter } from '../../base/bytes/byte-writer.js';
import { storeCorrupt } from '../tracedb-error.js';

const writer = new ByteWriter();

/** The bytes of a safe integer from 0. */
export const encodeVarint = (value: number): Uint8Array => {
  writer.clear();
  writer.varint(value);
  return Uint8Array.from(writer.view());
};

/** The number in `bytes`; throws `ERR_SPANLINE_STORE_CORRUPT` for anything `encodeVarint` does not make. `where` is for the message. */
export const decodeVarint = (bytes: Uint8Array, where: () => string): number => {
  const reader = new ByteReader(bytes, () =>
    storeCorrupt(
      `${where()} holds ${Buffer.from(bytes.subarray(0, 16)).toString('hex') || 'no bytes'}, which is no digest id; write it again`,
    ),
  );
  const value = reader.shortestVarint();
  reader.end();
  return value;
};
