// How many things each span has: events, links. Read as where those of each span begin.
import type { ByteReader } from '../../../base/bytes/byte-reader.js';
import type { ByteWriter } from '../../../base/bytes/byte-writer.js';

export const writeCounts = (writer: ByteWriter, counts: readonly number[]): void => {
  for (const count of counts) writer.varint(count);
};

/** One more than there are spans; the last is the number of all things. */
export const readCounts = (reader: ByteReader, spans: number): Uint32Array => {
  const firsts = new Uint32Array(spans + 1);
  for (let i = 0; i < spans; i++) {
    const end = firsts[i] + reader.varint();
    // Each takes a byte at least.
    if (end > reader.left) throw reader.corrupt('is too short for what its spans have');
    firsts[i + 1] = end;
  }
  return firsts;
};
