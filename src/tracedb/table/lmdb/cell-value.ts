// The bytes of a cell in LMDB: six of the timestamp in milliseconds, big-endian, then the value.

const TIME_BYTES = 6;
/** Up to here a copy costs less than a view, for which the engine must first make a buffer of its own of bytes kept on the heap. */
const SMALL_BYTES = 64;

/** A cell's entry. */
export const encodeCell = (value: Uint8Array, timestampMs: number): Buffer => {
  const bytes = Buffer.allocUnsafe(TIME_BYTES + value.length);
  bytes.writeUIntBE(timestampMs, 0, TIME_BYTES);
  bytes.set(value, TIME_BYTES);
  return bytes;
};

/** The timestamp of an entry, Unix milliseconds. */
export const cellTime = (bytes: Buffer): number => bytes.readUIntBE(0, TIME_BYTES);

/** The value of an entry: of a long one a view on it, not a copy. */
export const cellValue = (bytes: Buffer): Uint8Array =>
  bytes.length <= SMALL_BYTES ? Uint8Array.prototype.slice.call(bytes, TIME_BYTES) : bytes.subarray(TIME_BYTES);
