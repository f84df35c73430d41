// Where the blocks of a row and family are. Cells that fit into one block are in the head, the entry `row NUL family NUL`. Of others
// the head is a directory that names each block after the qualifier from which on it holds cells; the block lies behind the head,
// under one more NUL and that name. A writer finds blocks by the directory alone, never by a cursor inside its transaction.
//
//   directory := 0xfe name (NUL name)*       names in UTF-8, in the order of their bytes
import { compareBytes } from '../byte-order.js';

const DIRECTORY = 0xfe;
const MARK = Buffer.from([DIRECTORY]);

/** Whether an entry is a directory. */
export const isDirectory = (entry: Buffer): boolean => entry[0] === DIRECTORY;

/** The names of the blocks, at least one. */
export const readDirectory = (entry: Buffer): string[] => entry.toString('utf8', 1).split('\0');

/** The entry of a directory. */
export const directoryEntry = (names: readonly string[]): Buffer =>
  Buffer.concat([MARK, Buffer.from(names.join('\0'))]);

/** The key of a block. */
export const blockKey = (head: string, name: string): string => `${head}\0${name}`;

/** Which block holds `qualifier` if any does: the last one named at or before it, else the first, which has all that sorts before. */
export const blockFor = (names: readonly string[], qualifier: string): number => {
  let low = 0;
  for (let high = names.length; high - low > 1; ) {
    const middle = (low + high) >>> 1;
    if (compareBytes(names[middle] as string, qualifier) <= 0) low = middle;
    else high = middle;
  }
  return low;
};
