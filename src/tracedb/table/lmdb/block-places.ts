// Where the blocks of a row and family are. Those that fit into one block are in the entry `row NUL family NUL`; of others that entry
// says "spread", and each of their blocks is behind it, under one more NUL and the qualifier from which on it holds cells.
import type { Database, Transaction } from 'lmdb';
import type { EntryKey } from './lmdb-env.js';

/** The key of a block behind a spread entry. */
export const blockKey = (head: string, qualifier: string): string => `${head}\0${qualifier}`;

/** The key of the block that holds `qualifier`, if any does: the last one that begins at or before it, else the first. */
export const placeOfBlock = (
  database: Database<Buffer, EntryKey>,
  head: string,
  qualifier: string,
  transaction?: Transaction,
): string | undefined => {
  const before = { start: blockKey(head, qualifier), end: head, reverse: true, limit: 1, transaction };
  for (const key of database.getKeys(before)) if (key !== head) return key as string;
  return nextBlock(database, head, transaction);
};

/** The key of the block behind `key`, or the first one behind the spread entry `key`. */
export const nextBlock = (
  database: Database<Buffer, EntryKey>,
  head: string,
  transaction?: Transaction,
  after: string = head,
): string | undefined => {
  // A qualifier has no NUL, so that nothing else lies between a key and the same with one more.
  const behind = {
    start: after === head ? blockKey(head, '') : `${after}\0`,
    end: `${head}\x01`,
    limit: 1,
    transaction,
  };
  for (const key of database.getKeys(behind)) return key as string;
  return undefined;
};
