// Finds one cell. It must not be asked while a writer holds cells of the row.
import type { Database } from 'lmdb';
import { placeOfBlock } from './block-places.js';
import { BlockCursor, isBlock, isSpread, oldCellTime, oldCellValue } from './cell-block.js';
import { cellKey } from './cell-key.js';
import type { EntryKey } from './lmdb-env.js';

/** What a cell holds. */
export interface FoundCell {
  readonly value: Uint8Array;
  readonly timestampMs: number;
}

const findIn = (block: Buffer, qualifier: string): FoundCell | undefined => {
  for (const cell = new BlockCursor(block, block.length); cell.next(); ) {
    const order = cell.compare(qualifier);
    if (order === 0) return { value: cell.value, timestampMs: cell.timestampMs };
    if (order > 0) return undefined;
  }
  return undefined;
};

/** A cell of a row; undefined when there is none. */
export const findCell = (
  database: Database<Buffer, EntryKey>,
  row: string,
  family: string,
  qualifier: string,
): FoundCell | undefined => {
  const head = cellKey(row, family, '');
  // Copies: the buffer that getBinaryFast lends is longer than the entry, which Node 24's subarray does not hide.
  const entry = database.getBinary(head);
  if (entry !== undefined && isBlock(entry)) return findIn(entry, qualifier);
  if (entry !== undefined && isSpread(entry)) {
    const key = placeOfBlock(database, head, qualifier);
    const block = key === undefined ? undefined : database.getBinary(key);
    return block && findIn(block, qualifier);
  }
  const old = qualifier === '' ? entry : database.getBinary(cellKey(row, family, qualifier));
  return old && { value: oldCellValue(old), timestampMs: oldCellTime(old) };
};
