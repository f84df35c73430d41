// The bytes of a cell in LMDB: six of the timestamp in milliseconds, big-endian, then the value.

const TIME_BYTES = 6;

/** A cell's entry. */
export const encodeCell = (value: Uint8Array, timestampMs: number): Buffer => {
  const bytes = Buffer.allocUnsafe(TIME_BYTES + value.length);
  bytes.writeUIntBE(timestampMs, 0, TIME_BYTES);
  bytes.set(value, TIME_BYTES);
  return bytes;
};

/**
 * Encodes the cells of one transaction, in which values do not change. Many are the same, such as the empty cells of an index or
 * the source of a commit's values: those that come again are not encoded again.
 */
export class CellEncoder {
  private bytes: Buffer | undefined;
  private value: Uint8Array | undefined;
  private timestampMs = 0;

  encode(value: Uint8Array, timestampMs: number): Buffer {
    if (this.bytes !== undefined && value === this.value && timestampMs === this.timestampMs) return this.bytes;
    const bytes = encodeCell(value, timestampMs);
    this.bytes = bytes;
    this.value = value;
    this.timestampMs = timestampMs;
    return bytes;
  }
}

/** The timestamp of an entry, Unix milliseconds. */
export const cellTime = (bytes: Buffer): number => bytes.readUIntBE(0, TIME_BYTES);

/** The value of an entry: a view on it, not a copy. */
export const cellValue = (bytes: Buffer): Uint8Array => bytes.subarray(TIME_BYTES);
