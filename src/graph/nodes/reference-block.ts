// The references of a block of nodes: for each list the degrees, then the distances from a node to what it refers to. It knows ordinals
// only, never keys: that is what makes a walk cheap.
import { type ByteReader, ByteWriter } from '../varint.js';

/** References of one list as compressed rows over ordinals. */
export interface ReferenceRows {
  /** One more than there are nodes. */
  readonly offsets: Uint32Array;
  readonly targets: Uint32Array;
}

/** References a single node may have in all its lists; a file that claims more is damaged. */
export const MAX_DEGREE = 2 ** 24;

/** Append the references of nodes `start` to `end`, whose ordinals these are. */
export const writeReferenceBlock = (
  writer: ByteWriter,
  lists: readonly ReferenceRows[],
  start: number,
  end: number,
): void => {
  for (const { offsets, targets } of lists) {
    for (let node = start; node < end; node++) writer.varint(offsets[node + 1] - offsets[node]);
    for (let node = start; node < end; node++) {
      for (let i = offsets[node]; i < offsets[node + 1]; i++) writer.zigzag(targets[i] - node);
    }
  }
};

/** The references of a block; `first` is the ordinal of its first node, targets are below `ordinals`. */
export const readReferenceBlock = (
  reader: ByteReader,
  lists: number,
  first: number,
  count: number,
  ordinals: number,
): ReferenceRows[] => {
  const rows = Array.from({ length: lists }, () => {
    const offsets = new Uint32Array(count + 1);
    let total = 0;
    for (let i = 0; i < count; i++) {
      const degree = reader.varint();
      if (degree > MAX_DEGREE) throw reader.corrupt('has a node with too many references');
      total += degree;
      offsets[i + 1] = total;
    }
    // Every distance takes a byte at least, so a lie is found before memory is taken.
    if (total > reader.left) throw reader.corrupt('is too short for its references');
    const targets = new Uint32Array(total);
    for (let i = 0; i < count; i++) {
      for (let edge = offsets[i]; edge < offsets[i + 1]; edge++) {
        const target = first + i + reader.zigzag();
        if (target < 0 || target >= ordinals) throw reader.corrupt('refers to a node that does not exist');
        targets[edge] = target;
      }
    }
    return { offsets, targets };
  });
  reader.end();
  return rows;
};

/** A writer for one block after the other. */
export const newBlockWriter = (): ByteWriter => new ByteWriter(64 * 1024);
