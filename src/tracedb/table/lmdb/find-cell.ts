// Finds one cell. It must not be asked while a writer holds cells of the row.
import type { Database } from 'lmdb';
import { blockFor, blockKey, isDirectory, readDirectory } from './block-directory.js';
import { BlockCursor, isBlock, oldCellTime, oldCellValue } from './cell-block.js';
import { cellKey, type EntryKey } from './cell-key.js';

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
  const entry = database.getBinary(head);
  if (entry !== undefined && isBlock(entry)) return findIn(entry, qualifier);
  if (entry !== undefined && isDirectory(entry)) {
    const blocks = readDirectory(entry);
    const block = database.getBinary(blockKey(head, blocks[blockFor(blocks, qualifier)] as string));
    return block && findIn(block, qualifier);
  }
  const old = qualifier === '' ? entry : database.getBinary(cellKey(row, family, qualifier));
  return old && { value: oldCellValue(old), timestampMs: oldCellTime(old) };
};
