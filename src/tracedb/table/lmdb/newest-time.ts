// The newest timestamp ever written to a column family, kept beside the schema. It may be too high, never too low: writers that see a
// lower one do not look whether a newer cell is there.
import type { Database } from 'lmdb';
import type { EntryKey } from './cell-key.js';

const TIME_BYTES = 6;

const newestKey = (family: string): string => `newest:${family}`;

/** Unix milliseconds; infinite for a family of which it is not known. */
export const newestTime = (meta: Database<Buffer, EntryKey>, family: string): number =>
  meta.getBinary(newestKey(family))?.readUIntBE(0, TIME_BYTES) ?? Number.POSITIVE_INFINITY;

/** Set it, inside a write transaction; 0 for a family that has just been made. */
export const putNewestTime = (meta: Database<Buffer, EntryKey>, family: string, timestampMs: number): void => {
  const bytes = Buffer.alloc(TIME_BYTES);
  bytes.writeUIntBE(timestampMs, 0, TIME_BYTES);
  meta.putSync(newestKey(family), bytes);
};
