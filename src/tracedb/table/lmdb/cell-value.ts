// The bytes of a cell in LMDB: six of the timestamp in milliseconds, big-endian, then the value.

const TIME_BYTES = 6;

/** A cell's entry. */
export const encodeCell = (value: Uint8Array, timestampMs: number): Buffer => {
  const bytes = Buffer.allocUnsafe(TIME_BYTES + value.length);
  bytes.writeUIntBE(timestampMs, 0, TIME_BYTES);
  bytes.set(value, TIME_BYTES);
  return bytes;
};

/** The timestamp of an entry, Unix milliseconds. */
export const cellTime = (bytes: Buffer): number => bytes.readUIntBE(0, TIME_BYTES);

/** The value of an entry: a view on it, not a copy. */
export const cellValue = (bytes: Buffer): Uint8Array => bytes.subarray(TIME_BYTES);
