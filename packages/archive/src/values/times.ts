// Unix times in nanoseconds as bytes: u64, low bytes first. A time that no file can hold must be refused before it is written.
import type { ByteReader, ByteWriter } from 'spanline/internal/base';

/** The latest time of a file. */
export const MAX_TIME = 0xffff_ffff_ffff_ffffn;

/** What a time must be, for messages. */
export const TIME_RULE = 'times are bigints from 0 to 2^64 - 1';

export const isTime = (time: unknown): time is bigint => typeof time === 'bigint' && time >= 0n && time <= MAX_TIME;

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
